#!/usr/bin/env python3
"""shards.py - WORK/pairs + WORK/model/tokenizer.json -> WORK/data/train.npz, dev.npz:
token ids of questions and of the parts of a document.

NAME, NAME_at   uint16 ids and [n + 1] starts, for NAME in PARTS: sentence, keywords (two draws each), name, raw; head,
                masked (the head without the function's name), first (sentence of the docstring), rest (of it), body
same_text, same_name   [n] hashes: rows with equal ones do not count as wrong answers for each other
rarity          [n_vocab] log(N / n) / log(N) of a piece that n of the N texts and bodies have
package         [n] number of the package; c [n] number of the language in trees.LANGUAGES
dev             rows of packages that training does not see: DEV
"""

import argparse
import json
import pathlib
import random
import zlib

import numpy as np
from tokenizers import Regex, Tokenizer, pre_tokenizers

import fetch_more
import pieces
import questions

PARTS = ["sentence", "sentence2", "keywords", "keywords2", "name", "raw", "head", "masked", "first", "rest", "body"]
DEV = {
    "babel", "docker", "falcon", "lighttpd", "libonig", "boltons", "arrow",
    "ramda", "luxon", "commander", "fastify", "mobx", "inversify",
    "golang-github-spf13-afero", "golang-github-miekg-dns", "golang-github-gorilla-mux",
    "rust-petgraph", "rust-chrono", "rust-nom",
    "commons-csv", "libcommons-cli-java", "jsoup",
    "ruby-faraday", "ruby-money", "jekyll",
}  # fmt: skip
MAX_IDS = {
    "sentence": 40,
    "sentence2": 40,
    "keywords": 32,
    "keywords2": 32,
    "name": 24,
    "raw": 96,
    "head": 96,
    "masked": 96,
    "first": 48,
    "rest": 160,
    "body": 320,
}


def open_tokenizer(work):
    """Cut into words as it was learned, so that words are looked up once: no piece crosses such a border."""
    tok = Tokenizer.from_file(str(work / "model" / "tokenizer.json"))
    tok.pre_tokenizer = pre_tokenizers.Split(Regex(pieces.WORD), "isolated")
    return tok


def texts_of(row, rng):
    doc, c = row["doc"], row["c"]
    out = dict.fromkeys(PARTS, "")
    out["name"] = questions.name(rng, row["name"], c)
    out["head"], out["masked"], out["body"] = (
        row["head"] + "\n",
        questions.masked(row["head"], row["name"]) + "\n",
        row["body"],
    )
    if doc:
        for k in ("", "2"):
            out["sentence" + k], out["keywords" + k] = questions.sentence(rng, doc, c), questions.keywords(rng, doc, c)
        out["raw"] = questions.raw(doc)
        first = doc.split("\n\n")[0]
        out["first"], out["rest"] = first, doc[len(first) :]
    return out


def number(text):
    return zlib.crc32(text.encode())


class Ragged:
    def __init__(self):
        self.ids, self.at = [], [0]

    def add(self, ids):
        self.ids.append(np.asarray(ids, np.uint16))
        self.at.append(self.at[-1] + len(ids))


def build(work, names, tok):
    columns, facts = {p: Ragged() for p in PARTS}, {k: [] for k in ("same_text", "same_name", "package", "c")}
    for n, package in enumerate(names):
        rng = random.Random(package)
        rows = [json.loads(line) for line in (work / "pairs" / f"{package}.jsonl").read_text().splitlines()]
        texts = [(row, texts_of(row, rng)) for row in rows]
        texts = [(row, t) for row, t in texts if t["sentence"] or t["name"]]
        flat = tok.encode_batch([t[p] for _, t in texts for p in PARTS], add_special_tokens=False)
        for i, (row, t) in enumerate(texts):
            for k, p in enumerate(PARTS):
                columns[p].add(flat[i * len(PARTS) + k].ids[: MAX_IDS[p]])
            last = row["name"].rpartition(".")[2].strip("_").lower()
            facts["same_text"].append(
                number(" ".join(questions.clean(questions.first_sentence(row["doc"]))) or row["name"])
            )
            facts["same_name"].append(number(last))
            facts["package"].append(n)
            facts["c"].append(row["c"])
    data = {}
    for p in PARTS:
        data[p], data[p + "_at"] = np.concatenate(columns[p].ids), np.array(columns[p].at)
    return data | {k: np.array(v, np.int64) for k, v in facts.items()}


def rarity(data):
    count, total = np.zeros(pieces.N_VOCAB), 0
    for part in ("body", "first"):
        ids, at = data[part], data[part + "_at"]
        row = np.repeat(np.arange(len(at) - 1), np.diff(at))
        total += len(at) - 1
        count += np.bincount(np.unique(row * np.int64(pieces.N_VOCAB) + ids) % pieces.N_VOCAB, minlength=pieces.N_VOCAB)
    return np.log(total / (count + 1)) / np.log(total)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch_more.HERE.parents[1] / "build-embed")
    a = args.parse_args()
    tok = open_tokenizer(a.work)
    names = sorted(p.stem for p in (a.work / "pairs").glob("*.jsonl"))
    (a.work / "data").mkdir(exist_ok=True)
    for split, mine in (("dev", [n for n in names if n in DEV]), ("train", [n for n in names if n not in DEV])):
        data = build(a.work, mine, tok)
        np.savez(a.work / "data" / f"{split}.npz", **data, rarity=rarity(data))
        n_ids = sum(len(data[p]) for p in PARTS)
        print(
            f"{split}: {len(data['c'])} rows of {len(mine)} packages, "
            f"{np.count_nonzero(np.diff(data['first_at']))} with a text, {n_ids} ids"
        )


if __name__ == "__main__":
    main()
