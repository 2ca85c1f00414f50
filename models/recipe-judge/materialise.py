#!/usr/bin/env python3
"""materialise.py - pairs and clean functions as small files, for programs that read files -> WORK/files/SPLIT

    pairs/ID.before.c  pairs/ID.after.c   one function each, as it stood in its file
    clean/ID.c                            a function believed to be right
    labels.jsonl                          a line per file: file, language, rules, sure, changed (line numbers in it)

`changed` of a before file are the lines that the fix removed or, where it only added, the line it was added in front
of; of an after file the lines added or the line behind what was removed. A finding on a before file is right if it is
on one of these lines or near them; on an after or a clean file there is none to be found.
"""

import argparse
import json
import pathlib
import shutil

import functions
import pairs

HERE = pathlib.Path(__file__).resolve().parent
SUFFIX = {language: suffixes[0] for language, (_, suffixes) in functions.LANGUAGES.items()}


def changed_lines(row, side):
    """Line numbers of one side's text, from 1, that stand for the change."""
    total, found = row[side].count("\n") + 1, set()
    for a, b, c, d in row["hunks"]:
        first, n = (a, b) if side == "before" else (c, d)
        found |= set(range(first, first + n)) if n else {min(first + 1, total)}
    return sorted(x for x in found if 1 <= x <= total)


def rows_of(path):
    return [json.loads(line) for line in open(path)] if path.exists() else []


def write_split(work, split, max_clean):
    """Writes a split's files; returns (pairs, clean functions, lines of the clean functions)."""
    top = work / "files" / split
    if top.exists():
        shutil.rmtree(top)
    (top / "pairs").mkdir(parents=True)
    (top / "clean").mkdir()
    lines, n = 0, 0
    clean = sorted(rows_of(work / "clean" / f"{split}.jsonl"), key=lambda r: r["id"])[:max_clean]
    with open(top / "labels.jsonl", "w") as labels:
        for row in rows_of(work / "pairs" / f"{split}.jsonl"):
            n += 1
            for side in ("before", "after"):
                name = f"pairs/{row['id']}.{side}{SUFFIX[row['language']]}"
                (top / name).write_text(row[side] + "\n")
                head = {k: row[k] for k in ("id", "repository", "commit", "path", "name", "language", "rules", "sure")}
                first = row[f"{side}_first"]
                head |= {"first": first, "changed": changed_lines(row, side)}
                labels.write(json.dumps({"file": name, "side": side, **head}) + "\n")
        for row in clean:
            lines += row["text"].count("\n") + 1
            name = f"clean/{row['id']}{SUFFIX[row['language']]}"
            (top / name).write_text(row["text"] + "\n")
            head = {k: row[k] for k in ("id", "repository", "commit", "path", "name", "language", "first")}
            labels.write(json.dumps({"file": name, "side": "clean", **head, "rules": [], "changed": []}) + "\n")
    return n, len(clean), lines


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--clean", type=int, default=2000, help="clean functions of a split, at most")
    args.add_argument("splits", nargs="*", default=pairs.SPLITS)
    args = args.parse_args()
    for split in args.splits:
        n, clean, lines = write_split(args.work, split, args.clean)
        print(f"{split}: {n} pairs, {clean} clean functions of {lines} lines in {args.work / 'files' / split}")


if __name__ == "__main__":
    main()
