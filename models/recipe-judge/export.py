#!/usr/bin/env python3
"""export.py - WORK/model (safetensors, tokenizer, config, calibration) -> models/mythos-judge.gguf by `mythos convert`.

The file says which prompt it was trained for (mythos.prompt), how long the prompts were (mythos.trained_tokens), how
its scores become probabilities (mythos.judge), which languages it read (mythos.languages), and with --removed, which
is that of dataset.py, that it was trained with the lines that a change removed (mythos.judge_removed). With --check
SPLIT the file is asked about some files of a split, and the distance between its scores and those of the weights in
float32 is printed.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import calibrate
import dataset
import measures
import network
from measure import HERE


LANGUAGES = "c cpp python javascript typescript tsx java go"  # of others it says nothing


def check(mythos, output, work, name, n, removed):
    """Prints how far the scores of the file are from those of the weights."""
    split = measures.Split(work, name)
    net = calibrate.load(work / "model", split.n_vocab)
    labels = [k for k in range(len(split.labels)) if len(split.places(k))][:: max(1, len(split.labels) // n)][:n]
    with tempfile.TemporaryDirectory() as top:
        names = {}
        for k in labels:
            file = split.labels[k]["file"]
            target = pathlib.Path(top, file)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes((work / "files" / name / file).read_bytes())
            names[file] = k
        command = [mythos, "candidates", "--judge", "--format", "jsonl", "-q", "-m", str(output), "."]
        if removed:
            diff = pathlib.Path(top, "changes.diff")
            diff.write_text(dataset.changes_of(work / "files" / name, removed))
            command += ["--diff", str(diff)]
        run = subprocess.run(command, cwd=top, stdout=subprocess.PIPE, text=True, check=False)
        theirs = {}
        for line in run.stdout.splitlines():
            place = json.loads(line)
            theirs.setdefault("/".join(place["file"].split("/")[-2:]), []).append(place)
    pairs = []
    for file, k in names.items():
        prompts = split.arrays["prompt"][split.places(k)]
        score = network.scores(net, split.arrays, np.maximum(prompts, 0).tolist(), *split.answers)
        found = [place.get("score") for place in theirs.get(file, [])]
        if len(found) != len(score):
            print(f"{file}: {len(found)} places of the file, {len(score)} of the data")
            continue
        pairs += [(a, b) for a, b, p in zip(score, found, prompts) if p >= 0 and b is not None]
    gap = np.abs(np.diff(np.array(pairs), axis=1)) if pairs else np.zeros(1)
    print(f"{name}: {len(pairs)} places, scores differ by {gap.mean():.4f} in the mean and {gap.max():.4f} at most")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-judge")
    args.add_argument("--mythos", default=str(root / "build" / "mythos"))
    args.add_argument("--output", type=pathlib.Path, default=root / "models" / "mythos-judge.gguf")
    args.add_argument("--tokens", type=int, default=dataset.TOKENS)
    args.add_argument("--removed", type=float, default=0.0, help="as the data were made by dataset.py")
    args.add_argument("--check", metavar="SPLIT")
    args.add_argument("--files", type=int, default=200, help="of the split, to check")
    a = args.parse_args()
    mythos, model = str(pathlib.Path(a.mythos).resolve()), a.work / "model"
    words = (model / "calibration.txt").read_text().strip()
    facts = (
        f"mythos.prompt=judge,mythos.trained_tokens={a.tokens},mythos.languages={LANGUAGES},mythos.judge={words}"
    )
    facts += ",mythos.judge_removed=1" if a.removed else ""
    command = [mythos, "convert", "-m", str(model), "--type", "q8_0", "--kv", facts, "-o", str(a.output)]
    subprocess.run(command, check=True)
    print(f"{a.output}: {a.output.stat().st_size} bytes, {facts}")
    if a.check:
        check(mythos, a.output.resolve(), a.work, a.check, a.files, a.removed)


if __name__ == "__main__":
    main()
