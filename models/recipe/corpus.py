#!/usr/bin/env python3
"""corpus.py - 20 of the held-out files for the test suite: 12 with a defect, each of another rule, and 8 without.

Chosen by a seed and by licence alone, before any model was asked about them;
tests/corpus/inspect/NOTICE holds the licences.
"""

import argparse
import json
import pathlib
import random

import fetch

PACKAGES = {"tmux", "jq", "gunicorn", "peewee", "flask", "httpie", "streamlink"}
N_DEFECT, N_CLEAN, MAX_LINES = 12, 8, 30


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-model")
    args.add_argument("--out", type=pathlib.Path, default=root / "tests" / "corpus" / "inspect")
    a = args.parse_args()
    files = [json.loads(line) for line in (a.work / "data" / "test.jsonl").read_text().splitlines()]
    files = [f for f in files if set(f["packages"]) <= PACKAGES and f["code"].count("\n") <= MAX_LINES]
    random.Random(20).shuffle(files)
    chosen, rules, n_clean = [], set(), 0
    for f in files:
        rule = f["findings"][0]["rule"] if f["findings"] else None
        if rule is None and n_clean < N_CLEAN:
            n_clean += 1
        elif rule and rule not in rules and len(rules) < N_DEFECT:
            rules.add(rule)
        else:
            continue
        chosen.append(f)
    a.out.mkdir(parents=True, exist_ok=True)
    lines = [
        "# file, rule of its one defect (- = none), line of the defect; "
        "then what the shipped model has to reach on all of them\n"
    ]
    for n, f in enumerate(chosen, 1):
        name = f"{n:02d}_{pathlib.PurePath(f['path']).name}"
        (a.out / name).write_text(f["code"])
        finding = f["findings"][0] if f["findings"] else {"rule": "-", "lines": [0, 0]}
        lines.append(f"{name} {finding['rule']} {finding['lines'][0]}\n")
        print(name, *f["packages"])
    (a.out / "expected.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
