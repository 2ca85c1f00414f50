#!/usr/bin/env python3
"""train.py - WORK/data/*.npz -> WORK/run/checkpoint.pt, WORK/model/model.safetensors: one command,
resumed by giving it again.

Loss      answer tokens, weighted as the shard says (decisions most) + at the end of each line its mark (model.py) and
          its own number, which the answer will have to copy from there + where its decisions look (model.py) + a sample
          of next-token loss in prompts
Optimiser Muon for the matrices of the layers, AdamW for embedding, norms and the mark head; warm-up, constant, linear
          fall over the last third of --tokens. With --tokens raised later the rate goes up again and training
          continues.
Best      every --every tokens the dev shard is answered without sampling (dev.py);
          the best weights are kept apart and exported
"""

import argparse
import json
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F

import dev
import fetch
import model as M
import shard
import vocab

SHARE = {"answer": 2.0, "marks": 1.0, "number": 0.5, "look": 0.5, "copy": 0.5}


def optimizers(model, lr):
    matrices = [p for n, p in model.layers.named_parameters() if p.ndim == 2]
    rest = [p for n, p in model.named_parameters() if not (n.startswith("layers.") and p.ndim == 2)]
    return [
        torch.optim.Muon(matrices, lr=lr, weight_decay=0.02, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def rate(done, total, step):
    warm = min(1.0, (step + 1) / 100)
    left = (total - done) / (total / 3)
    return warm * min(1.0, max(0.03, left))


def find(row, part, first, last):
    """Where part stands in row[first:last], -1 when it does not."""
    for i in range(first, last - len(part) + 1):
        if (row[i : i + len(part)] == part).all():
            return i
    return -1


def targets(ids, marks, piece):
    """Where to look, as (head, row, column, column to look at). Decisions: is there a finding,
    on which line, is there another."""
    out = []
    for r, row in enumerate(ids):
        mine = marks[marks[:, 0] == r]
        ends = mine[:, 1]
        broken = np.flatnonzero(mine[:, 2])
        at = [int(ends[k]) for k in broken] + [0]
        n_line = n_end = 0
        for col in np.flatnonzero(np.isin(row, [piece["open"], piece["lines"], piece["end"]])):
            if row[col] == piece["lines"]:
                k, n_line = n_line, n_line + 1
            else:
                k, n_end = n_end, n_end + 1
            out.append((M.DECIDE, r, col, at[min(k, len(at) - 1)]))
        opens, closes = np.flatnonzero(row == piece["evidence"]), np.flatnonzero(row == piece["rule"])
        for k, (a, b) in enumerate(zip(opens, closes)):
            if k >= len(broken) or broken[k] == 0:
                continue
            s = find(row, row[a + 1 : b], ends[broken[k] - 1] + 1, at[k])
            if s >= 0:
                out += [(M.COPY, r, a + i, s + i) for i in range(b - a)]
    return np.array(out, np.int64).reshape(-1, 4)


def losses(model, run, batch, piece, lm_share, rng):
    ids, weight, marks, prompt = batch
    ids = torch.from_numpy(ids)
    with torch.autocast("cpu", torch.bfloat16):
        h, marked = run(ids)
        out = {}
        row, col = np.nonzero(weight)
        if len(row):
            w = torch.from_numpy(weight[row, col])
            logits = model.logits(h[row, col - 1])
            out["answer"] = (F.cross_entropy(logits, ids[row, col], reduction="none") * w).sum() / w.sum()
        if len(marks):
            label = torch.from_numpy(marks[:, 2])
            share = torch.ones(M.Config.n_mark)
            share[0] = 0.3
            rows = marked[marks[:, 0], marks[:, 1]]
            out["marks"] = F.cross_entropy(model.marks(rows), label, weight=share)
            after = np.flatnonzero(marks[1:, 0] == marks[:-1, 0]) + 1  # lines that follow another one of the same file
            number = ids[marks[after, 0], marks[after - 1, 1] + 1]
            look = targets(batch[0], marks, piece)
            for name, head in (("look", M.DECIDE), ("copy", M.COPY)):
                t = look[look[:, 0] == head]
                if len(t):
                    out[name] = F.cross_entropy(model.looks(head, t[:, 1], t[:, 2]), torch.from_numpy(t[:, 3]))
            out["number"] = F.cross_entropy(model.logits(model.mark_norm(rows[after])), number)
        row, col = np.nonzero(prompt & (ids.numpy() != 0) & (rng.random(prompt.shape) < lm_share))
        if len(row):
            out["next"] = F.cross_entropy(model.logits(h[row, col - 1]), ids[row, col])
    return out


def save(path, model, opts, state):
    tmp = path.with_suffix(".tmp")
    torch.save({"model": model.state_dict(), "opts": [o.state_dict() for o in opts], "state": state}, tmp)
    tmp.replace(path)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch.HERE.parents[1] / "build-model")
    args.add_argument("--data", default="train.npz")
    args.add_argument("--tokens", type=float, default=30e6)
    args.add_argument("--batch", type=int, default=2560, help="padded tokens of a step")
    args.add_argument("--max-len", type=int, default=768)
    args.add_argument("--lr", type=float, default=3e-3)
    args.add_argument("--lm", type=float, default=0.1, help="share of prompt tokens whose next-token loss is taken")
    args.add_argument("--lm-weight", type=float, default=0.3)
    args.add_argument("--every", type=float, default=1e6, help="tokens between looks at the dev shard")
    args.add_argument("--threads", type=int, default=1)
    args.add_argument("--compile", action="store_true")
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    run_dir = a.work / "run"
    run_dir.mkdir(parents=True, exist_ok=True)
    net = M.Model(M.Config())
    opts = optimizers(net, a.lr)
    state = {"done": 0, "step": 0, "best": -1.0}
    path = run_dir / "checkpoint.pt"
    if path.exists():
        ck = torch.load(path, weights_only=False)
        net.load_state_dict(ck["model"])
        state = ck["state"]
        for o, s in zip(opts, ck["opts"]):
            o.load_state_dict(s)
        print(f"resumed at {state['done'] / 1e6:.2f} M tokens", flush=True)
    run = torch.compile(net, dynamic=True) if a.compile else net
    names = json.loads((a.work / "model" / "tokenizer.json").read_text())["model"]["vocab"]
    piece = {
        "open": names[vocab.OPEN],
        "lines": names[vocab.LINES],
        "end": names[vocab.END],
        "evidence": names[vocab.EVIDENCE],
        "rule": names[vocab.RULE],
    }
    data = shard.Shard(a.work / "data" / a.data)
    rng = np.random.default_rng(state["step"] + 1)
    batches = data.batches(a.batch, rng, a.max_len)
    mean, since, t0, next_look = {}, 0, time.time(), state["done"] + a.every
    while state["done"] < a.tokens:
        batch = next(batches)
        for o in opts:
            for g in o.param_groups:
                g["lr"] = a.lr * rate(state["done"], a.tokens, state["step"])
        part = losses(net, run, batch, piece, a.lm, rng)
        sum(v * (a.lm_weight if k == "next" else SHARE[k]) for k, v in part.items()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for o in opts:
            o.step()
            o.zero_grad(set_to_none=True)
        for k, v in part.items():
            mean[k] = 0.98 * mean.get(k, float(v.detach())) + 0.02 * float(v.detach())
        n = int((batch[0] != 0).sum())
        state["done"] += n
        state["step"] += 1
        since += n
        if state["step"] % 50 == 0:
            text = "  ".join(f"{k} {v:.3f}" for k, v in mean.items())
            print(
                f"{state['step']:6d}  {state['done'] / 1e6:7.2f} M  {since / (time.time() - t0):6.0f} tok/s  {text}",
                flush=True,
            )
            since, t0 = 0, time.time()
        if state["done"] >= next_look or state["done"] >= a.tokens:
            next_look += a.every
            if (a.work / "data" / "dev.jsonl").exists():
                score = dev.look(net, a.work)
                print(f"        dev {json.dumps(score)}", flush=True)
                if score["macro_f1"] > state["best"]:
                    state["best"] = score["macro_f1"]
                    M.save_hf(net, a.work / "model")
            save(path, net, opts, state)
            t0, since = time.time(), 0


if __name__ == "__main__":
    main()
