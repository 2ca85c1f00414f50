#!/usr/bin/env python3
"""train.py - WORK/data -> WORK/run/checkpoint.pt, WORK/model/model.safetensors: one command, resumed by the same one.

Groups    what is computed together: the places of a fix's rule in the function before and in the one after. Of a clean
          function some places, of a pair some of other rules, drawn anew in each round through the data. Of fixes also
          the line behind the change, with or without a place (changes.py)
Loss      Yes or No at a prompt's end: before, a place that the fix made disappear is a fault, and one near the change
          counts half as much; every other place is none. Where WORK/teacher.json is there, half of the answer is what
          a bag of words says that was fitted on other repositories: the labels are noisy, and it has seen all of them
          + the worst place before has to be worse than the worst one after
          + next tokens of the prompts at a sample of positions, which is what most of the vocabulary is learned from
Names     in most groups the rarer words change places with each other, the same ones in all prompts of the group, and
          some tokens are masked: else the places are known by their names after one round
Optimiser Muon for the matrices of the layers, AdamW for the rest; the rate falls to nothing over the last 55 % of
          --minutes, the time that all runs together have trained
Workers   processes of one thread each that share every step, each with groups of its own
Best      every --every minutes: pairs of dev in which the function before has the higher score, and what is found of
          dev when 1,000 lines of clean functions give one false place (measures.py); the weights with the highest sum
          are kept
"""

import argparse
import json
import pathlib
import re
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

import measures
import network
from measure import HERE
from network import M

MOST, CLEAN, OTHERS, CHANGES, TAUGHT = 6, 2, 0.5, 1.0, 0.5
COMMON, RENAMED, MASKED, MASK, FIRST, BLANK = 1200, 0.9, 0.1, 4, 494, "\u2581"
SHARE = {"answer": 1.0, "pair": 0.5, "change": 0.8, "next": 0.1}


class Groups:
    """The train split as groups of (prompt, how much it is a fault, weight, is before, is after)."""

    def __init__(self, arrays, document, teacher, changes, seed):
        self.arrays, self.rng, self.teacher = arrays, np.random.default_rng(seed), teacher
        self.n_place = len(arrays["start"]) - 1
        self.changes = [] if changes is None else add_changes(arrays, changes)
        self.pairs, self.clean, self.others = [], [], []
        labels = document["labels"]
        ends = np.searchsorted(arrays["label"], np.arange(len(labels) + 1))
        n = 0
        while n < len(labels):
            places = np.arange(ends[n], ends[n + 1])
            places = places[arrays["prompt"][places] >= 0]
            if labels[n]["side"] == "clean":
                if len(places):
                    self.clean.append(places)
                n += 1
                continue
            after = np.arange(ends[n + 1], ends[n + 2])
            after = after[arrays["prompt"][after] >= 0]
            mine = arrays["mine"]
            if mine[places].any() or mine[after].any():
                self.pairs.append((places[mine[places]], after[mine[after]], 1.0 if labels[n]["sure"] else 0.6))
            rest = np.concatenate([places[~mine[places]], after[~mine[after]]])
            if len(rest):
                self.others.append(rest)
            n += 2

    def wanted(self, place, label):
        """What the answer should be: the label, or the mean of it and of what the words say."""
        return label if self.teacher is None else TAUGHT * float(self.teacher[place]) + (1 - TAUGHT) * label

    def of_pair(self, before, after, share):
        a, rows = self.arrays, {}
        for p in after:
            rows[a["prompt"][p]] = [self.wanted(p, 0.0), share, False, True, 0.5]
        for p in before:
            row = rows.setdefault(a["prompt"][p], [self.wanted(p, 1.0), 0.0, True, False, 0.0])
            row[2] = True
            if not row[3] and (a["gone"][p] or a["near"][p]):
                row[1] = max(row[1], share if a["gone"][p] else share / 2)
                row[4] = 1.0 if a["gone"][p] else 0.8
        rows = sorted(rows.items(), key=lambda r: -r[1][4] - self.rng.random() * 0.7)[:MOST]
        return [(p, *row[:4]) for p, row in rows]

    def single(self, place):
        return [(self.arrays["prompt"][place], self.wanted(place, 0.0), 0.5, False, False)]

    def round(self):
        """All groups once, in random order."""
        out = [self.of_pair(*pair) for pair in self.pairs]
        for places in self.clean:
            out += [self.single(p) for p in self.rng.permutation(places)[:CLEAN]]
        out += [self.single(self.rng.choice(places)) for places in self.others if self.rng.random() < OTHERS]
        out += [group for group in self.changes if self.rng.random() < CHANGES]
        return [out[i] for i in self.rng.permutation(len(out))]

    def batches(self, n_prompt):
        while True:
            batch, n = [], 0
            for group in self.round():
                if n + len(group) > n_prompt and batch:
                    yield batch
                    batch, n = [], 0
                batch.append(group)
                n += len(group)


def add_changes(arrays, changes):
    """Puts the prompts of changes.npz behind those of the places; returns their groups."""
    first = len(arrays["start"]) - 1
    arrays["start"] = np.concatenate([arrays["start"], changes["start"][1:] + arrays["start"][-1]])
    arrays["ids"] = np.concatenate([arrays["ids"], changes["ids"]])
    groups = []
    for k, sure in enumerate(changes["sure"]):
        share = 0.3 if sure else 0.2
        p = first + 2 * k
        groups.append([(p, 1.0, share, True, False), (p + 1, 0.0, share, False, True)])
    return groups


def teacher_of(path, split):
    """Of every place of train the probability that a bag of words gives it (words.py --teach); None without it."""
    if not path.exists():
        return None
    scores = json.loads(path.read_text())
    flat = [scores.get(label["file"], []) for label in split.labels]
    assert all(len(of) == split.ends[n + 1] - split.ends[n] for n, of in enumerate(flat))
    return 1 / (1 + np.exp(-np.array([s for of in flat for s in of])))


class Names:
    """Renames the words of a group, but for the COMMON most frequent pieces."""

    def __init__(self, arrays, pieces, rng):
        self.rng, self.same = rng, np.arange(len(pieces))
        count = np.bincount(arrays["ids"], minlength=len(pieces))
        common = {p.lstrip(BLANK) for p, i in pieces.items() if i >= FIRST and (count > count[i]).sum() < COMMON}
        plain = {p: i for p, i in pieces.items() if re.fullmatch(r"[A-Za-z_]{2,}", p) and p not in common}
        blank = {p[1:]: i for p, i in pieces.items() if re.fullmatch(BLANK + r"[A-Za-z_]{2,}", p)}
        blank = {p: i for p, i in blank.items() if p not in common}
        kinds = [
            [(i, blank[p]) for p, i in plain.items() if p in blank],  # at a word's begin or not
            [(i,) for p, i in plain.items() if p not in blank],
            [(i,) for p, i in blank.items() if p not in plain],
        ]
        self.kinds = [np.array(ids, np.int64) for ids in kinds if ids]

    def table(self):
        """Where each id goes."""
        if self.rng.random() > RENAMED:
            return self.same
        to = self.same.copy()
        for ids in self.kinds:
            mine = ids[self.rng.random(len(ids)) < RENAMED]
            to[mine] = self.rng.permutation(mine)
        return to

    def change(self, ids, batch):
        first, table = 0, ids.numpy()
        for group in batch:
            rows = table[first : first + len(group)]
            rows[:] = self.table()[rows]
            first += len(group)
        table[(self.rng.random(table.shape) < MASKED) & (table >= FIRST)] = MASK


def losses(net, arrays, batch, n_place, names, yes, no, lm, rng):
    rows = [row for group in batch for row in group]
    ids, lengths = network.padded(arrays, [row[0] for row in rows])
    names.change(ids, batch)
    wanted, share = (torch.tensor([row[k] for row in rows], dtype=torch.float) for k in (1, 2))
    ask = np.zeros(ids.shape, bool)  # position i tells token i + 1
    ask[:, :-1] = (rng.random(ids[:, 1:].shape) < lm) & (ids[:, 1:].numpy() != 0)
    ask[np.arange(len(rows)), lengths.numpy() - 1] = True
    row, col = (torch.from_numpy(t) for t in np.nonzero(ask))
    h = net(ids, row, col)
    is_end = col == lengths[row] - 1
    score = h[is_end] @ (net.embed_tokens.weight[yes] - net.embed_tokens.weight[no])
    out = {"answer": (F.binary_cross_entropy_with_logits(score, wanted, reduction="none") * share).sum() / share.sum()}
    if (~is_end).any():
        out["next"] = F.cross_entropy(net.logits(h[~is_end]), ids[row[~is_end], col[~is_end] + 1])
    first, worse = 0, {"pair": [], "change": []}
    for group in batch:
        before = [first + i for i, r in enumerate(group) if r[3]]
        after = [first + i for i, r in enumerate(group) if r[4]]
        if before and after and before != after:
            kind = "change" if rows[first][0] >= n_place else "pair"
            worse[kind].append(score[before].max() - score[after].max())
        first += len(group)
    return out | {kind: F.softplus(-torch.stack(gaps)).mean() for kind, gaps in worse.items() if gaps}


def rate(minutes, total, step):
    return min(1.0, (step + 1) / 60) * min(1.0, max(0.01, (total - minutes) / (total * 0.55)))


def save(path, net, opts, state):
    tmp = path.with_suffix(".tmp")
    torch.save({"model": net.state_dict(), "opts": [o.state_dict() for o in opts], "state": state}, tmp)
    tmp.replace(path)


def optimizers(net, lr):
    matrices = [p for p in net.layers.parameters() if p.ndim == 2]
    rest = [p for n, p in net.named_parameters() if not (n.startswith("layers.") and p.ndim == 2)]
    return [
        torch.optim.Muon(matrices, lr=lr, weight_decay=0.05, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=lr, betas=(0.9, 0.98), weight_decay=0.01),
    ]


def begin_with(net, path):
    """Takes from a checkpoint of the same width what the net has too: words, first layers, the last one as the last."""
    old, c = torch.load(path, weights_only=False)["model"], net.c
    top = max(int(k.split(".")[1]) for k in old if k.startswith("layers."))
    for name, tensor in net.state_dict().items():
        from_name = name.replace(f"layers.{c.num_hidden_layers - 1}.", f"layers.{top}.")
        value = old[from_name]
        if len(value) != len(tensor):  # one head of keys or values for all becomes one for each
            value = value.repeat(len(tensor) // len(value), 1)
        tensor.copy_(value)


def add_up(net, workers):
    """Makes the gradients of all workers their mean."""
    if workers > 1:
        flat = torch.cat([p.grad.view(-1) for p in net.parameters()])
        dist.all_reduce(flat)
        flat /= workers
        at = 0
        for p in net.parameters():
            p.grad.copy_(flat[at : at + p.numel()].view_as(p))
            at += p.numel()


def look(net, dev, rank, workers):
    """Dev's measures, the prompts being shared among the workers."""
    prompts = measures.needed(dev)
    mine = prompts[rank::workers]
    score = torch.zeros(len(dev.arrays["start"]) - 1)
    score[mine] = torch.from_numpy(network.scores(net, dev.arrays, mine.tolist(), *dev.answers))
    if workers > 1:
        dist.all_reduce(score)
    return measures.summary(dev, score.numpy())


def work(rank, a):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if a.workers > 1:
        dist.init_process_group("gloo", init_method=f"file://{a.meeting}", rank=rank, world_size=a.workers)
    train, dev = measures.Split(a.work, "train"), measures.Split(a.work, "dev")
    net = network.Judge(network.config(dev.n_vocab, num_hidden_layers=a.layers))
    opts = optimizers(net, a.lr)
    state = {"minutes": 0.0, "step": 0, "tokens": 0, "best": -1.0}
    path = a.work / "run" / "checkpoint.pt"
    if path.exists():
        ck = torch.load(path, weights_only=False)
        net.load_state_dict(ck["model"])
        state = ck["state"]
        for o, s in zip(opts, ck["opts"]):
            o.load_state_dict(s)
    elif a.start:
        begin_with(net, a.start)
    path_changes = a.work / "data" / "changes.npz"
    changes = np.load(path_changes) if path_changes.exists() else None
    teacher = teacher_of(a.work / "teacher.json", train)
    groups = Groups(train.arrays, train.document, teacher, changes, [state["step"], rank])
    rng = np.random.default_rng([state["step"], rank, 1])
    pieces = json.loads((a.work / "model" / "tokenizer.json").read_text())["model"]["vocab"]
    names = Names(train.arrays, pieces, np.random.default_rng([state["step"], rank, 2]))
    if rank == 0:
        sizes = len(groups.pairs), len(groups.clean), len(groups.others), len(groups.changes)
        print(f"{sizes} groups of pairs, clean, others, changes; at {state['minutes']:.1f} minutes", flush=True)
    mean, begin, done = {}, time.time(), 0
    next_look, spent = state["minutes"] + a.every, state["minutes"]
    batches = groups.batches(a.batch)
    while True:
        clock = torch.tensor([spent + (time.time() - begin) / 60], dtype=torch.float64)
        if a.workers > 1:
            dist.broadcast(clock, 0)
        state["minutes"] = float(clock)
        if state["minutes"] >= next_look or state["minutes"] >= a.minutes:
            next_look += a.every
            paused = time.time()
            found = look(net, dev, rank, a.workers)
            if rank == 0:
                print(f"        dev {json.dumps(found)}", flush=True)
                if found["pairs"] + found["recall"] > state["best"]:
                    state["best"] = found["pairs"] + found["recall"]
                    M.save_hf(net, a.work / "model")
                save(path, net, opts, state)
            begin += time.time() - paused
        if state["minutes"] >= a.minutes:
            return
        for o in opts:
            for g in o.param_groups:
                g["lr"] = a.lr * rate(state["minutes"], a.minutes, state["step"])
        batch = next(batches)
        part = losses(net, train.arrays, batch, groups.n_place, names, *dev.answers, a.lm, rng)
        sum(v * SHARE[k] for k, v in part.items()).backward()
        add_up(net, a.workers)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for o in opts:
            o.step()
            o.zero_grad(set_to_none=True)
        for k, v in part.items():
            mean[k] = 0.98 * mean.get(k, float(v.detach())) + 0.02 * float(v.detach())
        n = sum(int(train.arrays["start"][r[0] + 1] - train.arrays["start"][r[0]]) for g in batch for r in g)
        state["step"] += 1
        state["tokens"] += n * a.workers
        done += n * a.workers
        if rank == 0 and state["step"] % 50 == 0:
            text = "  ".join(f"{k} {v:.3f}" for k, v in mean.items())
            speed = done / 60 / max(1e-6, state["minutes"] - spent)
            print(f"{state['step']:6d} {state['minutes']:5.1f} min {speed:6.0f} tok/s  {text}", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--minutes", type=float, default=60, help="of training, all runs together")
    args.add_argument("--batch", type=int, default=32, help="prompts of a worker's step")
    args.add_argument("--lr", type=float, default=3e-3)
    args.add_argument("--lm", type=float, default=0.05, help="share of positions whose next token is asked for")
    args.add_argument("--every", type=float, default=8, help="minutes between looks at dev")
    args.add_argument("--workers", type=int, default=2)
    args.add_argument("--layers", type=int, default=2)
    args.add_argument("--start", help="a checkpoint of another run to begin with, where there is none of this one")
    a = args.parse_args()
    (a.work / "run").mkdir(parents=True, exist_ok=True)
    if a.workers == 1:
        return work(0, a)
    a.meeting = (a.work / "run" / f"meeting.{time.time_ns()}").resolve()
    torch.multiprocessing.spawn(work, (a,), a.workers)
    a.meeting.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
