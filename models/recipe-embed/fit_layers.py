#!/usr/bin/env python3
"""fit_layers.py - WORK/run/bag.pt -> WORK/run/layers.pt: the encoder, from the bag's vectors on,
resumed by giving it again.

Optimiser Muon for the matrices of the layers, AdamW for the rest: rows of words slowly, norms and dense layers faster;
          warm-up, linear fall
Batches   texts of like length together, the loss over all of a batch at once
Best      the weights with the best dev score are kept (--name NAME.best.pt) and exported;
          the bag's own counts as step 0
"""

import argparse
import pathlib
import time

import numpy as np
import torch

import encoder
import fetch_more
import fit_bag
import looks
import vocabulary
from shards import open_tokenizer


def optimizers(net, lr):
    matrices = [p for p in net.layers.parameters() if p.ndim == 2]
    norms = [p for p in net.layers.parameters() if p.ndim == 1] + [net.norm.weight]
    groups = [
        {"params": [net.embed_tokens.weight], "share": 0.02 * net.c.hidden_size**-0.5 * 16},
        {"params": norms, "share": 1.0},
        {"params": list(net.dense.parameters()), "share": 0.1},
        {"params": [net.scale], "share": 1.0},
    ]
    return [
        torch.optim.Muon(matrices, lr=lr, weight_decay=0.0, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def encode_grouped(net, texts, n_tok):
    """Vectors of all texts in their order, computed in groups of like length."""
    order = np.argsort([len(t) for t in texts], kind="stable")
    out, k = [], 0
    while k < len(order):
        n = k + 1
        while n < len(order) and (n + 1 - k) * len(texts[order[n]]) <= n_tok:
            n += 1
        out.append(net(encoder.padded([texts[i] for i in order[k:n]])))
        k = n
    return torch.cat(out)[torch.from_numpy(np.argsort(order, kind="stable"))]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch_more.HERE.parents[1] / "build-embed")
    args.add_argument("--steps", type=int, default=400)
    args.add_argument("--batch", type=int, default=384)
    args.add_argument("--max-ids", type=int, default=128)
    args.add_argument("--lr", type=float, default=2e-3)
    args.add_argument("--every", type=int, default=50)
    args.add_argument("--bag", default="bag")
    args.add_argument("--name", default="layers")
    args.add_argument("--questions", type=pathlib.Path)
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    tok = open_tokenizer(a.work)
    train, dev = fit_bag.open_shards(a.work, tok)
    train.max_ids = a.max_ids
    texts = vocabulary.texts(a.work)
    net = encoder.Encoder(encoder.Config())
    opts = optimizers(net, a.lr)
    path, best_path = (a.work / "run" / f"{a.name}{end}.pt" for end in ("", ".best"))
    state = {"done": 0, "best": -1.0}
    if path.exists():
        ck = torch.load(path, weights_only=False)
        net.load_state_dict(ck["net"])
        for o, s in zip(opts, ck["opts"]):
            o.load_state_dict(s)
        state = ck["state"]
        print(f"resumed at step {state['done']}", flush=True)
    else:
        bag = encoder.Bag(texts, torch.full((len(texts),), 0.5))
        bag.load_state_dict(torch.load(a.work / "run" / f"{a.bag}.pt", weights_only=False)["bag"])
        net.start_from(bag)
    asked = looks.Questions(a.questions, tok, train.prompts) if a.questions else None
    rng = np.random.default_rng(state["done"] + 7)
    stream = train.epochs(a.batch, rng)
    mean, t0, cpu, n_ids = None, time.time(), time.process_time(), 0

    def look():
        with torch.no_grad():
            encode = lambda part: net(encoder.padded(part))  # noqa: E731
            mrr = looks.dev_mrr(encode, dev, n=1000)
            print(
                "        dev mrr %.4f %.4f" % tuple(mrr), looks.summary(asked.look(encode)) if asked else "", flush=True
            )
        if sum(mrr) > state["best"]:
            state["best"] = sum(mrr)
            torch.save({"net": net.state_dict(), "done": state["done"]}, best_path)

    if not state["done"]:
        look()
    while state["done"] < a.steps:
        rows = next(stream)
        for o in opts:
            for g in o.param_groups:
                g["lr"] = (
                    a.lr
                    * g.get("share", 1.0)
                    * min(1.0, (state["done"] + 1) / 20, max(0.02, 1.5 * (1 - state["done"] / a.steps)))
                )
        q, d = train.batch(rows, rng)
        n_ids += sum(map(len, q)) + sum(map(len, d))
        loss = fit_bag.info_nce(
            encode_grouped(net, q, 4096),
            encode_grouped(net, d, 4096),
            net.scale.exp().clamp(max=50),
            torch.from_numpy(train.clashes(rows)),
        )
        for o in opts:
            o.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for o in opts:
            o.step()
        state["done"] += 1
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if state["done"] % 5 == 0:
            print(
                f"{state['done']:6d}  loss {mean:.3f}  scale {net.scale.exp().item():.1f}  "
                f"{n_ids / (time.time() - t0):.0f} ids/s  "
                f"{time.time() - t0:.0f} s, {time.process_time() - cpu:.0f} cpu s",
                flush=True,
            )
        if state["done"] % a.every == 0 or state["done"] >= a.steps:
            look()
            tmp = path.with_suffix(".tmp")
            torch.save({"net": net.state_dict(), "opts": [o.state_dict() for o in opts], "state": state}, tmp)
            tmp.replace(path)


if __name__ == "__main__":
    main()
