"""measure.py - what the rules of `mythos candidates` find of the faults of a split, without any judge.

recall   pairs in which the function before has a place of the pair's rule
near     and within 12 lines of the change
pairs    pairs in which the function before has more places of the rule than the one after; as many in both counts half
Intervals are 95 %, drawn by repository: pairs of one repository are alike. Of the clean functions it counts places.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess

HERE = pathlib.Path(__file__).parent
NEAR = 12


def places_of(mythos, folder):
    """The candidates of every file below a folder, by the file's path in it."""
    found = collections.defaultdict(list)
    run = subprocess.run(
        [mythos, "candidates", "-q", "--format", "jsonl", "."], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    for line in run.stdout.splitlines():
        place = json.loads(line)
        found[place["file"]].append(place)
    return found


def by_name(found):
    """Names are relative to the top of a repository, which may be above the folder: the last two parts tell."""
    return {"/".join(file.split("/")[-2:]): places for file, places in found.items()}


def is_near(place, changed):
    return any(place["line"] - NEAR <= line <= place["end_line"] + NEAR for line in changed)


def higher(a, b):
    """1 where the first is higher, a half where both are equal."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def interval(rows, value):
    """Mean of a value over rows, with its interval by bootstrap over repositories."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["repository"]].append(row[value])
    parts = [(sum(v), len(v)) for v in groups.values()]
    dice = random.Random(1)
    means = sorted(
        sum(s for s, _ in draw) / sum(n for _, n in draw)
        for draw in ([dice.choice(parts) for _ in parts] for _ in range(2000))
    )
    return sum(s for s, _ in parts) / sum(n for _, n in parts), means[50], means[1949]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build-judge"))
    parser.add_argument("--split", default="test", choices=("test", "dev", "train"))
    parser.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    opts = parser.parse_args()
    folder = opts.work / "files" / opts.split
    found = by_name(places_of(str(pathlib.Path(opts.mythos).resolve()), folder))
    rows, n_clean, n_clean_line, n_line, n_place = [], 0, 0, 0, 0
    for line in (folder / "labels.jsonl").open():
        label = json.loads(line)
        places = found.get(label["file"], [])
        if "side" not in label or label["side"] not in ("before", "after"):
            n_clean += len(places)
            n_clean_line += (folder / label["file"]).read_bytes().count(b"\n")
            continue
        if label["side"] != "before":
            continue
        n_line += (folder / label["file"]).read_bytes().count(b"\n")
        n_place += len(places)
        after = found.get(label["file"].replace(".before.", ".after."), [])
        for rule in label["rules"]:
            mine = [p for p in places if p["rule"] == rule]
            theirs = [p for p in after if p["rule"] == rule]
            rows.append(
                {
                    "rule": rule,
                    "repository": label["repository"],
                    "recall": float(bool(mine)),
                    "near": float(any(is_near(p, label["changed"]) for p in mine)),
                    "pairs": higher(len(mine), len(theirs)),
                }
            )
    with_fault, clean = 100 * n_place / n_line, 100 * n_clean / max(1, n_clean_line)
    print(f"{opts.split}: {len(rows)} rows; places in 100 lines: {with_fault:.2f} of functions with a fault,")
    print(f"{clean:.2f} of {n_clean_line} lines of clean ones")
    print("| rule | pairs | recall | near | candidates alone |\n| --- | --- | --- | --- | --- |")
    rules = collections.Counter(row["rule"] for row in rows)
    for rule, n in [("all", len(rows))] + rules.most_common():
        of = [row for row in rows if rule in ("all", row["rule"])]
        recall, near, pairs = (interval(of, value) for value in ("recall", "near", "pairs"))
        print(f"| {rule} | {n} | {recall[0]:.2f} | {near[0]:.2f} | {pairs[0]:.3f} ({pairs[1]:.3f} to {pairs[2]:.3f}) |")


if __name__ == "__main__":
    main()
