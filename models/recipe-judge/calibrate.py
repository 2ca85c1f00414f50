#!/usr/bin/env python3
"""calibrate.py - WORK/model, WORK/data/dev -> WORK/model/calibration.{json,txt}: from a judge's score to a probability.

sigmoid(scale * score + offset) is the probability that a place of dev is a fault, over all places of the functions
before and after a fix and of the clean ones, as they come. A rule with at least --least places has a scale and an
offset of its own, drawn towards the shared ones as if by --prior places; the others have the shared ones. `confidence`
is the probability that the places of dev's clean functions reach once in 1,000 lines. The .txt is what mythos reads,
from the key mythos.judge of the model's file or from a file beside it.
"""

import argparse
import json
import pathlib

import numpy as np
import torch
from safetensors.torch import load_file

import measures
import network
from measure import HERE


def load(folder, n_vocab):
    shape = json.loads((folder / "config.json").read_text())
    net = network.Judge(network.config(n_vocab, **{k: shape[k] for k in network.SHAPE}))
    tensors = {k.removeprefix("model."): v for k, v in load_file(folder / "model.safetensors").items()}
    net.load_state_dict(tensors, strict=False)
    return net.eval()


def score_split(split, net, threads=1):
    torch.set_num_threads(threads)
    n = len(split.arrays["start"]) - 1
    return split.of_places(network.scores(net, split.arrays, list(range(n)), *split.answers))


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


def fit(score, wanted, around=(1.0, 0.0), prior=0.0):
    """(scale, offset) by Newton's method; prior: how much the squared distance from `around` counts."""
    at, rows = np.array(around, float), np.stack([score, np.ones_like(score)], 1)
    for _ in range(50):
        p = sigmoid(rows @ at)
        slope = rows.T @ (p - wanted) + prior * (at - around)
        bend = (rows * (p * (1 - p))[:, None]).T @ rows + np.eye(2) * (prior + 1e-6)
        step = np.linalg.solve(bend, slope)
        at = at - np.clip(step, -1, 1)
        at[0] = max(at[0], 0.05)
    return float(at[0]), float(at[1])


def is_fault(split):
    a = split.arrays
    return a["mine"] & (a["gone"] | a["near"])


def probability(split, of_place, calibration):
    """Of every place, 0 where its prompt does not fit."""
    shared = calibration["scale"], calibration["offset"]
    of_rule = [calibration["rules"].get(rule) for rule in split.rules]
    pairs = np.array([(r["scale"], r["offset"]) if r else shared for r in of_rule])[split.arrays["rule"]]
    return np.where(of_place > measures.NONE, sigmoid(pairs[:, 0] * of_place + pairs[:, 1]), 0.0)


def calibrate(split, of_place, least, prior):
    there, fault = of_place > measures.NONE, is_fault(split).astype(float)
    shared = fit(of_place[there], fault[there])
    out = {"scale": shared[0], "offset": shared[1], "confidence": 0.0, "rules": {}}
    for k, rule in enumerate(split.rules):
        mine = there & (split.arrays["rule"] == k)
        if mine.sum() >= least:
            scale, offset = fit(of_place[mine], fault[mine], shared, prior)
            out["rules"][rule] = {"scale": round(scale, 4), "offset": round(offset, 4)}
    out["confidence"] = measures.threshold(split, probability(split, of_place, out))
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in out.items()}


def words(c):
    """The calibration as mythos reads it."""
    rules = {"*": c, **c["rules"]}
    return " ".join([f"confidence={c['confidence']}"] + [f"{k}={r['scale']}:{r['offset']}" for k, r in rules.items()])


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--least", type=int, default=40, help="places of dev for a calibration of a rule's own")
    args.add_argument("--prior", type=float, default=4.0)
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    dev, path = measures.Split(a.work, "dev"), a.work / "model" / "calibration.json"
    of_place = score_split(dev, load(a.work / "model", dev.n_vocab), a.threads)
    np.save(a.work / "data" / "dev.score.npy", of_place)
    out = calibrate(dev, of_place, a.least, a.prior)
    path.write_text(json.dumps(out, indent=1) + "\n")
    path.with_suffix(".txt").write_text(words(out) + "\n")
    print(f"{path}: {len(out['rules'])} rules, confidence {out['confidence']}")


if __name__ == "__main__":
    main()
