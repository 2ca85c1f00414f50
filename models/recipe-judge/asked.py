#!/usr/bin/env python3
"""asked.py - how right the judge is on a split when the program asks it: `mythos candidates --judge` over WORK/files.

pairs     how often the faulty function's worst place of the pair's rule is more probable than the mended one's, ties
          counting half: of all pairs, of those with a place of the rule in either, for candidates alone (more places)
recall    faulty functions of which a place of the rule passes, and false places in 1,000 lines of clean functions: at
          the probability where those are one, and at --confidence (default: the judge's own)
Intervals are 95 %, drawn by repository (measure.py). No weights are needed here but those of the model.
"""

import argparse
import json
import pathlib
import subprocess

from measure import HERE, by_name, higher, interval

NONE = -1.0


def judged(mythos, model, folder):
    """The places of every file with their probabilities, and the judge's confidence."""
    command = [mythos, "candidates", "-q", "--judge", "--format", "json"] + (["-m", model] if model else [])
    run = subprocess.run(command + ["."], cwd=folder, stdout=subprocess.PIPE, text=True)
    answer = json.loads(run.stdout)
    found = {}
    for place in answer["candidates"]:
        found.setdefault(place["file"], []).append(place)
    return by_name(found), answer["judged"]["confidence"]


def worst(places, rule):
    return max((p["probability"] for p in places if p["rule"] == rule and p["probability"] is not None), default=NONE)


def show(rows, value):
    return "{:.3f} ({:.3f} to {:.3f})".format(*interval(rows, value)) if rows else "no rows"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build-judge"))
    parser.add_argument("--split", default="test", choices=("test", "dev", "train"))
    parser.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    parser.add_argument("-m", "--model", help="the judge (default: the one that ships)")
    parser.add_argument("--confidence", type=float)
    opts = parser.parse_args()
    folder = opts.work / "files" / opts.split
    model = str(pathlib.Path(opts.model).resolve()) if opts.model else None
    found, confidence = judged(str(pathlib.Path(opts.mythos).resolve()), model, folder)
    confidence = confidence if opts.confidence is None else opts.confidence
    rows, clean, n_clean_line = [], [], 0
    for label in map(json.loads, (folder / "labels.jsonl").open()):
        places = found.get(label["file"], [])
        if label.get("side") not in ("before", "after"):
            clean += [p["probability"] or 0.0 for p in places]
            n_clean_line += (folder / label["file"]).read_bytes().count(b"\n")
        if label.get("side") != "before":
            continue
        after = found.get(label["file"].replace(".before.", ".after."), [])
        for rule in label["rules"]:
            n, m = (sum(p["rule"] == rule for p in of) for of in (places, after))
            mine, theirs = worst(places, rule), worst(after, rule)
            rows.append(
                {
                    "repository": label["repository"], "has": n + m > 0, "worst": mine,
                    "pair": higher(mine, theirs), "alone": higher(n, m),
                }
            )  # fmt: skip
    clean.sort(reverse=True)
    limit = clean[min(len(clean) - 1, n_clean_line // 1000)] if clean else 0.0
    have = [row for row in rows if row["has"]]
    print(f"{opts.split}: {len(rows)} rows, {len(have)} with a place;", end=" ")
    print(f"{len(clean)} places in {n_clean_line} lines of clean functions")
    for name, of in (("all", rows), ("with a place", have)):
        print(f"pairs, {name}: judge {show(of, 'pair')}, candidates alone {show(of, 'alone')}")
    for name, at in (("one false place in 1,000 lines", limit), ("the confidence", confidence)):
        for row in rows:
            row["recall"] = float(row["worst"] > at if at is limit else row["worst"] >= at)
        false = sum(p > at if at is limit else p >= at for p in clean) / max(1, n_clean_line) * 1000
        recall, recall_there = show(rows, "recall"), show(have, "recall")
        print(f"recall at {name} ({at:.3f}; {false:.2f} false): all {recall}, with a place {recall_there}")


if __name__ == "__main__":
    main()
