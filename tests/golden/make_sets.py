#!/usr/bin/env python3
"""What transformers computes when several tokens share a position: tests/golden/sets/NAME.bin, for some of the models of
make_models.py.

A file is a walk of one sequence, little endian: u32 magic 0x5445534d, n_step, n_row, n_vocab; for each step u32 kind
(0 = tokens one behind the other, 1 = a set whose tokens do not see each other, 2 = one whose tokens do), n, n_removed;
i32 ids[n]; u32 removed[n_removed], rows to take out after the step, as indices of the rows held then; at the end f32
logits[n_row][n_vocab], a row for each token of each step, in order; then for each step but the first f32 mass[n][m], how
much attention each of its tokens gives the last m rows held before it: m is 5, or all rows where there are fewer, and a
number is the mean over heads, added up over the layers with shares that sum to 1 and rise evenly from the first layer's
to five times that.

Reference: one forward over all tokens that ever were, with the positions and masks that say the same: a token sees the
tokens of earlier positions that were held when it was fed, itself, and in a set of kind 2 the others of its set; a local
layer those less than a window of positions away. The script checks itself: other positions, a mask without the window
and one in which nothing was removed must each move some logit by 1e-2 of the largest; with experts, weights that
are off by 2^-10 must not (a walk that comes near a tie between two experts is not taken).

Usage: make_sets.py [NAME...]      needs what make_models.py needs
"""

import pathlib
import random
import struct
import sys

import torch
from make_models import GLOBAL, LOCAL, MODELS, OUT, load_again

SETS = pathlib.Path(__file__).resolve().parent / "sets"
MAGIC, MASS = 0x5445534D, 5
NAMES = [
    "gemma1-mqa",
    "gemma2-gqa",
    "gemma3-layers",
    "gemma3-gqa-linear",
    "gemma3n",
    "gemma4-unified",
    "gemma4-e",
    "gemma4-shared",
    "gemma4-moe",
]


def walk(rng, n_vocab):
    """Steps (kind, ids, removed), and for every row its position, its set, and the step after which it is gone."""
    steps, rows, held, place = [], [], [], 0
    for number in range(30):
        kind = 0 if number == 0 else rng.choice([0, 1, 1, 2])
        n = 7 if number == 0 else 1 if kind == 0 else rng.randint(1, 4)
        ids = [rng.randrange(2, n_vocab) for _ in range(n)]
        for i, token in enumerate(ids):
            held.append(len(rows))
            rows.append(dict(id=token, place=place + (i if kind == 0 else 0), step=number, kind=kind, gone=None))
        place += n if kind == 0 else 1
        removed = []
        for i in range(len(held)):
            left = [r for k, r in enumerate(held) if rows[r]["place"] == rows[held[i]]["place"] and k not in removed]
            often = 0.3 if rows[held[i]]["step"] + 3 > number else 0.1  # of those past a window some, too
            if len(left) > 1 and rng.random() < often:
                removed.append(i)
                rows[held[i]]["gone"] = number
        held = [r for k, r in enumerate(held) if k not in removed]
        steps.append((kind, ids, removed))
    return steps, rows


def sees(query, key, is_same, window):
    if is_same:
        return True
    if key["step"] == query["step"] and query["kind"] != 0:
        return query["kind"] == 2
    was_held = key["step"] <= query["step"] and (key["gone"] is None or key["gone"] >= query["step"])
    return was_held and key["place"] < query["place"] and (window is None or query["place"] - key["place"] < window)


def run(model, spec, rows):
    """Logits of all rows, and for each layer the mean over heads of the weights [row, row]."""
    masks = {}
    for kind in (GLOBAL, LOCAL):
        window = spec["kw"].get("sliding_window") if kind == LOCAL else None
        mask = torch.full((1, 1, len(rows), len(rows)), torch.finfo(torch.float32).min)
        for i, query in enumerate(rows):
            for j, key in enumerate(rows):
                if sees(query, key, i == j, window):
                    mask[0, 0, i, j] = 0.0
        masks[kind] = mask
    with torch.no_grad():
        out = model(
            input_ids=torch.tensor([[r["id"] for r in rows]]),
            position_ids=torch.tensor([[r["place"] for r in rows]]),
            attention_mask=masks[GLOBAL] if spec["type"] == "gemma" else masks,
            use_cache=False,
            output_attentions=True,
        )
        return out.logits[0], [a[0].mean(dim=0) for a in out.attentions]


def mass_of(weights, steps):
    """For each step but the first the attention of its rows to the last ones held before it."""
    n, total, held, out = len(weights), None, [], []
    share = [0.2 + 0.8 * i / (n - 1) if n > 1 else 1.0 for i in range(n)]
    total = sum(w * (s / sum(share)) for w, s in zip(weights, share))
    first = 0
    for number, (_, ids, removed) in enumerate(steps):
        mine = list(range(first, first + len(ids)))
        if number:
            out.append(total[mine][:, held[-MASS:]])
        held += mine
        held = [r for k, r in enumerate(held) if k not in removed]
        first += len(ids)
    return out


def check_sensitivity(name, model, spec, rows, logits):
    variants = {
        "the positions": [dict(r, place=r["place"] * 2) for r in rows],
        "what was removed": [dict(r, gone=None) for r in rows],
    }
    wide = dict(spec, kw=dict(spec["kw"], sliding_window=None))
    moved = {what: run(model, wide, v)[0] for what, v in variants.items()}
    plain = run(model, wide, rows)[0]
    moved = {what: (v - plain).abs().max() for what, v in moved.items()}
    if spec["type"] != "gemma":
        moved["the window"] = (plain - logits).abs().max()
    for what, most in moved.items():
        assert most > 1e-2 * logits.abs().max(), f"{name}: {what} moves the logits by {most:.1e} only"


def is_steady(model, spec, rows, logits):
    gen, most = torch.Generator().manual_seed(7), 0.0
    kept = {name: p.clone() for name, p in model.named_parameters()}
    with torch.no_grad():
        for _ in range(40):
            for name, p in model.named_parameters():
                p.copy_(kept[name] * (1 + (torch.rand(p.shape, generator=gen) * 2 - 1) * 2.0**-10))
            most = max(most, (run(model, spec, rows)[0] - logits).abs().max().item())
        for name, p in model.named_parameters():
            p.copy_(kept[name])
    return most < 3e-2 * logits.abs().max()


def main():
    torch.set_num_threads(1)
    SETS.mkdir(exist_ok=True)
    for number, name in enumerate(NAMES):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        spec = MODELS[name]
        model = load_again(OUT / name, spec)
        n_vocab = spec["kw"]["vocab_size"]
        for seed in range(number, 1000, len(NAMES)):
            steps, rows = walk(random.Random(seed), n_vocab)
            logits, weights = run(model, spec, rows)
            if not spec["kw"].get("enable_moe_block") or is_steady(model, spec, rows, logits):
                break
            print(f"{name}: walk {seed} comes near a tie")
        assert logits.dtype == torch.float32 and logits.isfinite().all()
        check_sensitivity(name, model, spec, rows, logits)
        out = struct.pack("<4I", MAGIC, len(steps), len(rows), n_vocab)
        for kind, ids, removed in steps:
            out += struct.pack("<3I", kind, len(ids), len(removed))
            out += struct.pack(f"<{len(ids)}i", *ids) + struct.pack(f"<{len(removed)}I", *removed)
        out += logits.numpy().astype("<f4").tobytes()
        for mass in mass_of(weights, steps):
            out += mass.numpy().astype("<f4").tobytes()
        (SETS / f"{name}.bin").write_bytes(out)
        print(f"{name}: {len(steps)} steps, {len(rows)} rows, {sum(len(s[2]) for s in steps)} removed")


if __name__ == "__main__":
    main()
