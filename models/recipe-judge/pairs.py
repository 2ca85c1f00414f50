#!/usr/bin/env python3
"""pairs.py - WORK/found -> WORK/pairs/{train,dev,test}.jsonl: labelled, without doubles, split by repository

A pair gets the rules that its message names and its change has the form of. `sure` tells that the subject line itself
names the rule, for one rule alone, and the change is in one function; test takes only sure pairs (precision before
recall), train and dev take all (recall before precision). A function stands once in all the data: a text that came
before (a branch, a cherry-pick, a copy in another repository) is dropped, and so is the same change of a function of
the same name. Splits are made in the order test, dev, train, so that a copy never takes a row from the held-out set.
"""

import argparse
import hashlib
import json
import pathlib
import re

import fixes
import rules

HERE = pathlib.Path(__file__).resolve().parent
SPLITS = ["test", "dev", "train"]
MOST = {"test": 120, "dev": 200, "train": 900}  # pairs of one repository, so that none speaks for all


def normal(text):
    """A text without comments and white space, for comparing."""
    text = re.sub(r"^\s*#(?!\s*(?:if|el|en|de|un|in|pr)).*$", "", rules.COMMENT.sub("", text), flags=re.M)
    return re.sub(r"\s+", "", text)


def digest(text):
    return hashlib.sha256(text.encode()).digest()[:12]


def is_moved(removed, added):
    """The change is nothing but white space or comments."""
    return normal(removed) == normal(added)


def label(row):
    """The row with its rules, or None."""
    removed, added = fixes.changed_text(row)
    if not re.fullmatch(r"[\w$#~:]+", row["name"]) or is_moved(removed, added) or rules.SKIP.search(row["subject"]):
        return None
    found = rules.rules_of(row["subject"], row["body"], removed, added, row["language"])
    if rules.is_spelling(row["before"], removed, added):
        found = [f for f in found if f[0] != "copied-block"]
    if not found:
        return None
    subject = [r for r, where in found if where == "subject"]
    named = subject or [r for r, _ in found]
    sure = len(named) == 1 and row["functions"] == 1 and bool(subject) and not rules.DOUBTFUL.search(row["subject"])
    return {**row, "rules": named, "where": "subject" if subject else "body", "sure": sure}


def ident(row):
    """A short name that is the same in every run."""
    key = "\0".join([row["repository"], row["commit"], row["path"], row["name"], str(row["before_first"])])
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--list", type=pathlib.Path, default=HERE / "repositories.tsv")
    args = args.parse_args()
    (args.work / "pairs").mkdir(parents=True, exist_ok=True)
    rows = sorted(fixes.repositories(args.list), key=lambda r: (SPLITS.index(r[4]), r[0]))
    seen, numbers = set(), dict.fromkeys(SPLITS, 0)
    files = {s: open(args.work / "pairs" / f"{s}.part", "w") for s in SPLITS}
    for repository, _, _, _, split in rows:
        source = args.work / "found" / (repository.replace("/", "+") + ".jsonl")
        kept = []
        for line in open(source) if source.exists() else ():
            row = json.loads(line)
            changed = "\0".join(fixes.changed_text(row))
            keys = {digest(normal(row["before"])), digest(row["name"] + normal(changed))}
            if keys & seen or normal(row["before"]) == normal(row["after"]):
                continue
            row = label(row)
            if row is None or split == "test" and not row["sure"]:
                continue
            seen |= keys
            kept.append({"id": ident(row), "split": split, **row})
        kept = sorted(kept, key=lambda r: r["id"])[: MOST[split]]
        files[split].writelines(json.dumps(row) + "\n" for row in kept)
        numbers[split] += len(kept)
    for split, file in files.items():
        file.close()
        (args.work / "pairs" / f"{split}.part").rename(args.work / "pairs" / f"{split}.jsonl")
    print(numbers)


if __name__ == "__main__":
    main()
