#!/usr/bin/env python3
"""clean.py - functions of the clones' newest commit that are believed to be right -> WORK/clean/{train,dev,test}.jsonl

A sample of what is released, not of what is proven: hand-written files (paths.py), a function of 8 to 150 lines, none
that a mined fix has touched (found by its file and name), none whose text stands in the pairs or twice in the sample,
and none whose file was changed by one of the newest COMMITS commits, since a young function has had no time to be
found wrong. As many functions of every repository, so that no large one speaks for all.
"""

import argparse
import hashlib
import json
import pathlib
import random

import fixes
import functions
import history
import pairs
import paths

HERE = pathlib.Path(__file__).resolve().parent
COMMITS, MIN, MAX, PER_FILE, MAX_BYTES = 200, 8, 150, 3, 400_000


def young_files(clone):
    """Paths that the newest commits changed."""
    out = history.git(clone, "log", "-n", str(COMMITS), "--no-merges", "--name-only", "--format=", "HEAD")
    return set(out.decode("utf-8", "replace").split("\n"))


def released_files(clone):
    """[(object id, path)] of the hand-written files of a repository's newest commit."""
    out = history.git(clone, "ls-tree", "-r", "--format=%(objectname) %(path)", "HEAD").decode("utf-8", "replace")
    rows = [line.split(" ", 1) for line in out.split("\n") if " " in line]
    young = young_files(clone)
    return [(i, p) for i, p in rows if functions.language_of(p) and paths.is_own_code(p) and p not in young]


def sample(clone, repository, touched, seen, n, rng):
    """Yields up to n rows of a repository."""
    names = released_files(clone)
    rng.shuffle(names)
    files, taken = history.Files(clone), 0
    for object_id, path in names[: 6 * n]:
        data = files.read(object_id)
        if taken >= n or data is None or len(data) > MAX_BYTES or b"\0" in data or paths.is_copyleft(data):
            continue
        language = functions.language_of(path, data)
        tree, lines = functions.parse(data, language), data.decode("utf-8", "replace").split("\n")
        found = [f for f in functions.every(tree) if MIN <= f[2] - f[1] + 1 <= MAX and (path, f[0]) not in touched]
        for name, first, last, node in rng.sample(found, min(PER_FILE, len(found))):
            text = "\n".join(lines[first : last + 1])
            key = pairs.digest(pairs.normal(text))
            if key in seen or taken >= n:
                continue
            seen.add(key)
            taken += 1
            yield {
                "path": path, "language": language, "name": name, "text": text, "first": first + 1,
                "callees": functions.signatures(tree, lines, functions.calls_of(node)),
            }  # fmt: skip
    files.close()


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--base", type=pathlib.Path, help="directory of clones (default WORK/clones)")
    args.add_argument("--list", type=pathlib.Path, default=HERE / "repositories.tsv")
    args.add_argument("--each", type=int, default=80, help="functions of every repository")
    args.add_argument("--seed", type=int, default=23)
    args = args.parse_args()
    (args.work / "clean").mkdir(parents=True, exist_ok=True)
    seen = set()
    for split in pairs.SPLITS:
        source = args.work / "pairs" / f"{split}.jsonl"
        for line in open(source) if source.exists() else ():
            row = json.loads(line)
            seen |= {pairs.digest(pairs.normal(row[k])) for k in ("before", "after")}
    rows = sorted(fixes.repositories(args.list), key=lambda r: (pairs.SPLITS.index(r[4]), r[0]))
    files = {s: open(args.work / "clean" / f"{s}.part", "w") for s in pairs.SPLITS}
    for repository, _, _, _, split in rows:
        clone = history.clone_of(args.base or args.work / "clones", repository)
        found = args.work / "found" / (repository.replace("/", "+") + ".jsonl")
        if clone is None or not found.exists():
            continue
        touched = {(r["path"], r["name"]) for r in map(json.loads, open(found))}
        commit = history.head_of(clone)
        for row in sample(clone, repository, touched, seen, args.each, random.Random(f"{args.seed}{repository}")):
            key = hashlib.sha256(f"{repository}{row['path']}{row['name']}{row['first']}".encode()).hexdigest()[:12]
            row = {"id": key, "split": split, "repository": repository, "commit": commit, **row}
            files[split].write(json.dumps(row) + "\n")
    for split, file in files.items():
        file.close()
        (args.work / "clean" / f"{split}.part").rename(args.work / "clean" / f"{split}.jsonl")


if __name__ == "__main__":
    main()
