#!/usr/bin/env python3
"""fit_bag.py - WORK/data/*.npz -> WORK/run/bag.pt: words as vectors and their weights, learned as a bag (encoder.py),
resumed by giving it again.

Loss      InfoNCE both ways over large batches with a learned temperature, at 256 and 128 dimensions; rows of one name
          or one sentence are no wrong answers for each other. A step is cheap: no layers, no padding
Weights   begin at the words' rarity (shards.py)
"""

import argparse
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F

import batches
import encoder
import fetch_more
import looks
import pieces
import vocabulary
from shards import open_tokenizer


def worth(shard, n):
    """The shard's rarity; what stands in every text is worth nothing."""
    weight = torch.tensor(shard.rarity[:n], dtype=torch.float32)
    weight[[batches.BOS, batches.EOS, *shard.prompts.values()]] = 0.0
    return weight


def start(work, texts, weight):
    bag, near = encoder.Bag(texts, weight), np.load(work / "data" / "associations.npz")
    bag.lean(*(torch.from_numpy(near[k]) for k in ("text", "code", "strength")))
    return bag


def flat(texts):
    ids = torch.from_numpy(np.concatenate(texts).astype(np.int64))
    at = torch.from_numpy(np.cumsum([0] + [len(t) for t in texts[:-1]]))
    return ids, at


def info_nce(asked, found, scale, clash):
    loss = 0.0
    for dim, share in ((asked.shape[1], 1.0), (asked.shape[1] // 2, 0.3)):
        q, d = F.normalize(asked[:, :dim], dim=-1), F.normalize(found[:, :dim], dim=-1)
        score = (q @ d.T * scale).masked_fill(clash, -1e4)
        target = torch.arange(len(q))
        loss = loss + share * (F.cross_entropy(score, target) + F.cross_entropy(score.T, target)) / 2
    return loss


def open_shards(work, tok):
    prompts = {use: pieces.FIRST_PROMPT + k for k, use in enumerate(pieces.prompts())}
    quotes = np.array(tok.encode('"""\n', add_special_tokens=False).ids, np.uint16)
    return [batches.Shard(work / "data" / f"{name}.npz", prompts, quotes) for name in ("train", "dev")]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch_more.HERE.parents[1] / "build-embed")
    args.add_argument("--steps", type=int, default=2000)
    args.add_argument("--batch", type=int, default=1024)
    args.add_argument("--lr", type=float, default=0.02)
    args.add_argument("--max-ids", type=int, default=192)
    args.add_argument("--every", type=int, default=250)
    args.add_argument("--save", type=int, default=10, help="steps between checkpoints")
    args.add_argument(
        "--questions", type=pathlib.Path, help="folder with corpus.jsonl, queries.jsonl, lex.json to look at on the way"
    )
    args.add_argument("--name", default="bag")
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    tok = open_tokenizer(a.work)
    train, dev = open_shards(a.work, tok)
    train.max_ids = a.max_ids
    texts = vocabulary.texts(a.work)
    bag = start(a.work, texts, worth(train, len(texts)))
    opt = torch.optim.Adam(bag.parameters(), lr=a.lr, betas=(0.9, 0.98))
    path, done = a.work / "run" / f"{a.name}.pt", 0
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        ck = torch.load(path, weights_only=False)
        bag.load_state_dict(ck["bag"])
        opt.load_state_dict(ck["opt"])
        done = ck["done"]
        print(f"resumed at step {done}", flush=True)
    asked = looks.Questions(a.questions, tok, train.prompts) if a.questions else None
    rng = np.random.default_rng(done + 1)
    stream = train.epochs(a.batch, rng)
    mean, t0, cpu = None, time.time(), time.process_time()
    while done < a.steps:
        rows = next(stream)
        for g in opt.param_groups:
            g["lr"] = a.lr * min(1.0, (done + 1) / 50, max(0.02, 1.5 * (1 - done / a.steps)))
        q, d = train.batch(rows, rng)
        table = bag.table()
        loss = info_nce(
            bag.pool(table, *flat(q)),
            bag.pool(table, *flat(d)),
            bag.scale.exp().clamp(max=50),
            torch.from_numpy(train.clashes(rows)),
        )
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        done += 1
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if done % a.save == 0:
            print(
                f"{done:6d}  loss {mean:.3f}  scale {bag.scale.exp().item():.1f}  "
                f"{time.time() - t0:.0f} s, {time.process_time() - cpu:.0f} cpu s",
                flush=True,
            )
        if done % a.every == 0 or done >= a.steps:
            with torch.no_grad():
                table = bag.table()
                encode = lambda part: bag.pool(table, *flat(part))  # noqa: E731
                print(
                    "        dev mrr %.4f %.4f" % tuple(looks.dev_mrr(encode, dev)),
                    looks.summary(asked.look(encode)) if asked else "",
                    flush=True,
                )
        if done % a.save == 0 or done >= a.steps:
            tmp = path.with_suffix(".tmp")
            torch.save({"bag": bag.state_dict(), "opt": opt.state_dict(), "done": done}, tmp)
            tmp.replace(path)


if __name__ == "__main__":
    main()
