#!/usr/bin/env python3
"""clones.py - the repositories of repositories.tsv with their whole history -> WORK/clones/OWNER+NAME (bare)

`--base` says where from: an address or a directory that owner/name.git or owner/name is appended to. A directory of
clones named OWNER+NAME that is there already needs no copy: give it to the other programs as their --base. What is
cloned stands at the table's commit, so that later histories give the same pairs.
`--describe DIRECTORY` prints rows of the table for such a directory: licence (by the text of the licence file at the
newest commit), commit and languages; the split is left to the reader. A repository whose licence is not one of
LICENCES is printed with a question mark, and not to be used.
"""

import argparse
import collections
import pathlib
import re
import subprocess

import fixes
import functions
import history
import paths

HERE = pathlib.Path(__file__).resolve().parent
LICENCE_FILE = re.compile(r"^(LICEN[CS]E|COPYING|COPYRIGHT|UNLICENSE|NOTICE|README)([.-][\w.-]*)?$", re.I)
COPYLEFT = re.compile(
    r"GNU (LESSER |LIBRARY |AFFERO )?GENERAL PUBLIC|Mozilla Public License|Eclipse Public|Business Source|"
    r"Server Side Public",
    re.I,
)
LICENCES = [
    ("Apache-2.0", r"Apache License,?\s+Version 2\.0|www\.apache\.org/licenses/LICENSE-2\.0"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("ISC", r"Permission to use, copy, modify, and(/or)? distribute this software for any purpose with or without fee"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining"),
    ("BSD", r"Redistributions? (and use )?in source and binary forms|Redistributions of source code must retain"),
    ("zlib", r"altered source versions must be plainly marked"),
    ("Zlib-like", r"Permission is (hereby )?granted to anyone to use this software for any\s+purpose"),
]


def licence_of(clone):
    """The name of the licence of a clone's newest commit; with a question mark where copyleft is spoken of too."""
    names = history.git(clone, "ls-tree", "--name-only", "HEAD").decode("utf-8", "replace").split("\n")
    names = sorted((n for n in names if LICENCE_FILE.match(n)), key=lambda n: (n.upper().startswith("README"), len(n)))
    other = ""
    for name in names:
        text = history.git(clone, "cat-file", "blob", f"HEAD:{name}").decode("utf-8", "replace")
        found = [licence for licence, words in LICENCES if re.search(words.replace(" ", r"\s+"), text, re.I)]
        if found and not COPYLEFT.search(text[:3000]):
            return found[0] + other
        if COPYLEFT.search(text):
            other = "?"
    return "?"


def languages_of(clone):
    """The languages that make up a tenth of a clone's hand-written files, the most frequent first."""
    out = history.git(clone, "ls-tree", "-r", "--name-only", "HEAD").decode("utf-8", "replace").split("\n")
    own = [p for p in out if functions.language_of(p) and paths.is_own_code(p)]
    found = collections.Counter(map(functions.language_of, own))
    total = sum(found.values())
    return ",".join(name for name, n in found.most_common(3) if n * 10 >= total) or "-"


def describe(directory):
    for top in sorted(pathlib.Path(directory).iterdir()):
        repository = top.name.replace("+", "/", 1)
        clone = history.clone_of(directory, repository) if "+" in top.name else None
        if clone:
            row = (repository, licence_of(clone), history.head_of(clone), languages_of(clone), "train")
            print(*row, sep="\t", flush=True)


def bring(base, repository, commit, target):
    """One bare clone whose HEAD is the commit."""
    part = target.with_name(target.name + ".part")
    for name in (f"{repository}.git", repository):
        done = subprocess.run(["git", "clone", "-q", "--bare", "--", f"{base.rstrip('/')}/{name}", part], check=False)
        if done.returncode == 0:
            subprocess.run(["git", f"--git-dir={part}", "update-ref", "--no-deref", "HEAD", commit], check=True)
            part.rename(target)
            return True
    return False


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--base", help="address or directory of the repositories")
    args.add_argument("--list", type=pathlib.Path, default=HERE / "repositories.tsv")
    args.add_argument("--describe", metavar="DIRECTORY", help="print rows for a directory of clones")
    args = args.parse_args()
    if args.describe:
        return describe(args.describe)
    if not args.base:
        raise SystemExit("clones.py: --base is missing: the address or directory that owner/name is appended to")
    (args.work / "clones").mkdir(parents=True, exist_ok=True)
    for repository, _, commit, *_ in fixes.repositories(args.list):
        target = args.work / "clones" / repository.replace("/", "+")
        if not target.exists() and not bring(args.base, repository, commit, target):
            print(f"{repository}: not to be had from {args.base}", flush=True)


if __name__ == "__main__":
    main()
