#!/usr/bin/env python3
"""fixes.py - short fixes in the histories of the clones -> WORK/found/OWNER+NAME.jsonl

Of every commit that is no merge: the message has to name a fault in the widest sense (rules.py), one or two files of
hand-written code are changed, 12 lines of code at most, in one or two functions that exist before and after. A row is
one function with both texts and the whole message, so that rules.py can be made stricter without mining again. What is
already in WORK/found for the same commit of the clone is not made again; `--again` makes it.
"""

import argparse
import json
import os
import pathlib
import time

import functions
import history
import paths
import rules

HERE = pathlib.Path(__file__).resolve().parent
MAX_CHANGED, MAX_FILES, MAX_FUNCTIONS, MAX_BYTES = 12, 2, 2, 600_000


def repositories(path=HERE / "repositories.tsv"):
    """(repository, licence, commit, languages, split) of every row."""
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            yield tuple(line.split("\t"))


def code_files(changes):
    """Paths of a commit's hand-written code, or [] where the commit is no short fix."""
    own = [(s, p) for s, p in changes if functions.language_of(p) and paths.is_own_code(p)]
    if not 1 <= len(own) <= MAX_FILES or any(s != "M" for s, _ in own) or len(changes) > 12:
        return []
    return [p for _, p in own]


def inside(hunks, first, last, side):
    """The hunks (of a file, rows from 1) that lie in a function of rows first..last (from 0)."""
    found = []
    for hunk in hunks:
        row, n = hunk[0 if side == "before" else 2], hunk[1 if side == "before" else 3]
        row, end = (row, row + n - 1) if n else (row + 0.5, row + 0.5)
        if row >= first + 1 and end <= last + 1:
            found.append(hunk)
    return found


def pairs_of_file(before, after, hunks, language):
    """Functions that a change of one file touches, as dictionaries; None if one cannot be told."""
    old, new = functions.parse(before, language), functions.parse(after, language)
    old_lines = before.decode("utf-8", "replace").split("\n")
    new_lines = after.decode("utf-8", "replace").split("\n")
    found, seen = [], set()
    for a, b, c, d in hunks:
        texts = old_lines[a - 1 : a - 1 + b] if b else []
        if not rules.code_lines(texts + new_lines[c - 1 : c - 1 + d]):
            continue  # comments
        left = functions.around(old, a - 1 if b else min(a, len(old_lines) - 1))
        left = left or functions.around(old, max(a - 1, 0))
        right = functions.around(new, c - 1 if d else min(c, len(new_lines) - 1))
        right = right or functions.around(new, max(c - 1, 0))
        if not left and not right:
            continue  # a declaration, a table: the function is what is judged
        if not left or not right or left[0] != right[0]:
            return None
        if (left[1], right[1]) in seen:
            continue
        seen.add((left[1], right[1]))
        mine = [h for h in inside(hunks, left[1], left[2], "before") if h in inside(hunks, right[1], right[2], "after")]
        if not mine:
            return None
        found.append(
            {
                "name": left[0],
                "before": "\n".join(old_lines[left[1] : left[2] + 1]),
                "before_first": left[1] + 1,
                "after": "\n".join(new_lines[right[1] : right[2] + 1]),
                "after_first": right[1] + 1,
                # of the function, from 1: [before first, before lines, after first, after lines]
                "hunks": [[a - left[1], b, c - right[1], d] for a, b, c, d in mine],
                "callees": functions.signatures(old, old_lines, functions.calls_of(left[3])),
            }
        )
    return found


def changed_text(row):
    """(removed, added) of a pair."""
    before, after = row["before"].split("\n"), row["after"].split("\n")
    removed = [s for a, b, _, _ in row["hunks"] for s in before[a - 1 : a - 1 + b]]
    added = [s for _, _, c, d in row["hunks"] for s in after[c - 1 : c - 1 + d]]
    return "\n".join(removed), "\n".join(added)


def mine(clone, repository, out):
    """Writes a repository's rows; returns (commits, asked, rows)."""
    wanted, n = {}, 0
    for commit, subject, body in history.messages(clone):
        n += 1
        if rules.may_be_fix(subject, body):
            wanted[commit] = (subject, body)
    short = {c: p for c, changes in history.touched(clone, wanted).items() if (p := code_files(changes))}
    files, rows = history.Files(clone), 0
    for commit, changes in history.diffs(clone, short) if short else ():
        changes = [f for f in changes if f[0] in short[commit] and f[3]]
        lines = sum(max(b, d) for f in changes for _, b, _, d in f[3])
        if not changes or lines > MAX_CHANGED * 2:
            continue
        found = []
        for path, old, new, hunks in changes:
            before, after = files.read(old), files.read(new)
            if before is None or after is None or max(len(before), len(after)) > MAX_BYTES:
                break
            if paths.is_copyleft(before) or paths.is_copyleft(after):
                break
            language = functions.language_of(path, before)
            pairs = pairs_of_file(before, after, hunks, language)
            if pairs is None:
                break
            found += [{"path": path, "language": language, **p} for p in pairs]
        else:
            texts = [changed_text(p) for p in found]
            size = sum(max(*(len(rules.code_lines(t.split("\n"))) for t in pair)) for pair in texts)
            if not 1 <= len(found) <= MAX_FUNCTIONS or not 1 <= size <= MAX_CHANGED:
                continue
            subject, body = wanted[commit]
            for row in found:
                head = {"repository": repository, "commit": commit, "subject": subject[:300], "body": body[:2000]}
                out.write(json.dumps({**head, "functions": len(found), **row}) + "\n")
                rows += 1
    files.close()
    return n, len(wanted), rows


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--base", type=pathlib.Path, help="directory of clones (default WORK/clones)")
    args.add_argument("--list", type=pathlib.Path, default=HERE / "repositories.tsv")
    args.add_argument("--again", action="store_true", help="mine also what is there")
    args = args.parse_args()
    (args.work / "found").mkdir(parents=True, exist_ok=True)
    for repository, *_ in repositories(args.list):
        clone = history.clone_of(args.base or args.work / "clones", repository)
        target = args.work / "found" / (repository.replace("/", "+") + ".jsonl")
        if clone is None or target.exists() and not args.again:
            continue
        start, part = time.time(), target.with_suffix(f".part{os.getpid()}")
        with open(part, "w") as out:
            n, asked, rows = mine(clone, repository, out)
        if n == 0:
            part.unlink()
            print(f"{repository}: git gave no commits; run this again, or bring the clone again", flush=True)
            continue
        part.rename(target)
        print(f"{repository}\t{n} commits\t{asked} named\t{rows} functions\t{time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
