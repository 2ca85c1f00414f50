#!/usr/bin/env python3
"""counts.py - tables of WORK/pairs: rule x split, rule x language of one split, clean functions x language"""

import argparse
import collections
import pathlib

import materialise
import pairs
import rules

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ["c", "cpp", "python", "javascript", "typescript", "go", "java"]


def table(title, names, columns, number):
    print(f"| {title} | {' | '.join(columns)} |\n|---{'|--:' * len(columns)}|")
    for name in names:
        print(f"| {name} | {' | '.join(str(number(name, c)) for c in columns)} |")
    print()


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    work = args.parse_args().work
    rows = {s: materialise.rows_of(work / "pairs" / f"{s}.jsonl") for s in pairs.SPLITS}
    of = collections.Counter()
    for split, found in rows.items():
        for row in found:
            language = "typescript" if row["language"] == "tsx" else row["language"]
            of["all", split] += 1
            of["all", split, language] += 1
            of["all", split, "sure"] += row["sure"]
            for rule in row["rules"]:
                of[rule, split] += 1
                of[rule, split, language] += 1
                of[rule, split, "sure"] += row["sure"]
    names = [*rules.RULES, "all"]
    columns = ["train", "train, sure", "dev", "test"]
    table("rule", names, columns, lambda r, c: of[(r, "train", "sure")] if "," in c else of[(r, c)])
    for split in ("test", "train"):
        table(f"rule, {split}", names, LANGUAGES, lambda r, c, split=split: of[(r, split, c)])
    clean = collections.Counter()
    for split in pairs.SPLITS:
        for row in materialise.rows_of(work / "clean" / f"{split}.jsonl"):
            language = "typescript" if row["language"] == "tsx" else row["language"]
            clean[split, language] += 1
            clean[split, "lines"] += row["text"].count("\n") + 1
    table("clean functions", reversed(pairs.SPLITS), [*LANGUAGES, "lines"], lambda s, c: clean[(s, c)])
    print("repositories with pairs:", {s: len({r["repository"] for r in found}) for s, found in rows.items()})


if __name__ == "__main__":
    main()
