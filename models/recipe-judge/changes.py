#!/usr/bin/env python3
"""changes.py - WORK/pairs/train.jsonl -> WORK/data/changes.npz: prompts about the line behind a change.

Half of the fixes are where no rule of `mythos candidates` finds a place. They still teach what a mended function looks
like: the line behind the first change is asked about as if a place were there, once in the function before and once in
the one after. Both ask about the same line, so that only what the fix did tells them apart. The facts are empty.

  ids, start   as in dataset.py; prompt 2 k is before and 2 k + 1 after
  sure         of each pair
"""

import argparse
import json
import pathlib
import re

import numpy as np
from tokenizers import Tokenizer

import dataset
import materialise
import rules
from measure import HERE


def bare(text):
    """[(number from 1, line)] of a text without comments and without the lines that held nothing else."""
    blank = rules.COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text).split("\n")
    lines = text.split("\n")
    return [(n + 1, b.rstrip()) for n, (b, s) in enumerate(zip(blank, lines)) if b.strip() or not s.strip()]


def prompt(head, lines, at, near):
    first, last = max(0, at - near), min(len(lines), at + near + 1)
    rows = [" " + lines[0][1], "..."] if first > 1 else [" " + lines[0][1]] if first == 1 else []
    rows += [(">" if k == at else " ") + lines[k][1] for k in range(first, last)]
    rows += ["..."] if last < len(lines) else []
    return "<start_of_turn>user\n" + "\n".join([head, *rows, "Fault?<end_of_turn>\n<start_of_turn>model\n"])


def encode(tokenizer, text):
    """Ids as mythos makes them: runs of blanks are pieces of their own before anything is joined."""
    ids = [tokenizer.token_to_id("<bos>")]
    for part in re.split(r"( {2,31})", text):
        is_run = len(part) > 1 and not part.strip(" ")
        run = [tokenizer.token_to_id("\u2581" * len(part))] if is_run else []
        ids += run or tokenizer.encode(part, add_special_tokens=False).ids
    return ids


def ids_of(tokenizer, head, text, number, most):
    """The longest prompt about a line that has at most so many ids, or None."""
    lines = bare(text)
    at = next((k for k, (n, _) in enumerate(lines) if n >= number), None)
    if at is None:
        return None
    low, high, best = 0, len(lines), None
    while low <= high:
        middle = (low + high) // 2
        ids = encode(tokenizer, prompt(head, lines, at, middle))
        if len(ids) <= most:
            low, best = middle + 1, ids
        else:
            high = middle - 1
    return best


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--tokens", type=int, default=dataset.TOKENS)
    a = args.parse_args()
    tokenizer = Tokenizer.from_file(str(a.work / "model" / "tokenizer.json"))
    texts, sure = [], []
    for row in materialise.rows_of(a.work / "pairs" / "train.jsonl"):
        first, n, after_first, after_n = row["hunks"][0]
        behind = [first + max(n, 1) if n else first + 1, after_first + after_n if after_n else after_first + 1]
        language = {"tsx": "typescript"}.get(row["language"], row["language"])
        head = f"{language} {row['rules'][0]}: ()"
        sides = zip(("before", "after"), behind)
        two = [ids_of(tokenizer, head, row[side], number, a.tokens) for side, number in sides]
        if None not in two and two[0] != two[1]:
            texts += [np.array(ids, np.uint16) for ids in two]
            sure.append(row["sure"])
    start = np.cumsum([0] + [len(t) for t in texts])
    np.savez(a.work / "data" / "changes.npz", ids=np.concatenate(texts), start=start, sure=np.array(sure))
    print(f"{len(sure)} pairs, {start[-1]} ids")


if __name__ == "__main__":
    main()
