#!/usr/bin/env python3
"""average.py - the mean of several states of one training, which is often better than each: MODEL... -> WORK/model.

A state is a folder with a model.safetensors or a checkpoint.pt of train.py. Prints dev's measures of the mean; without
--write nothing is written.
"""

import argparse
import json
import pathlib

import torch
from safetensors.torch import load_file

import calibrate
import measures
import network
from measure import HERE
from network import M


def weights_of(path):
    path = pathlib.Path(path)
    if path.is_dir():
        return {k.removeprefix("model."): v for k, v in load_file(path / "model.safetensors").items()}
    return torch.load(path, weights_only=False)["model"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--write", action="store_true")
    args.add_argument("states", nargs="+")
    a = args.parse_args()
    torch.set_num_threads(1)
    dev = measures.Split(a.work, "dev")
    net = network.Judge(network.config(dev.n_vocab))
    all_of = [weights_of(s) for s in a.states]
    net.load_state_dict({k: sum(w[k] for w in all_of) / len(all_of) for k in all_of[0]}, strict=False)
    raw = calibrate.score_split(dev, net)
    probability = calibrate.probability(dev, raw, calibrate.calibrate(dev, raw, 40, 4.0))
    rows = [r for r in measures.pair_rows(dev, raw) if r["has"]]
    fault, there = calibrate.is_fault(dev), raw > measures.NONE
    limit, worst = measures.threshold(dev, probability), measures.pair_rows(dev, probability)
    found = {
        "pairs": sum(r["pair"] for r in rows) / len(rows),
        "recall": sum(r["worst"] >= limit for r in worst if r["has"]) / len(rows),
        "auc": measures.auc(probability[fault & there], probability[~fault & there]),
    }
    print(*a.states, json.dumps({k: round(v, 4) for k, v in found.items()}))
    if a.write:
        M.save_hf(net, a.work / "model")


if __name__ == "__main__":
    main()
