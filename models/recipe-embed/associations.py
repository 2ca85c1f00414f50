#!/usr/bin/env python3
"""associations.py - WORK/data/train.npz -> WORK/data/associations.npz:
which stems of code stand where which stems of text were said.

text, code, strength   for each stem of a text the MOST stems of heads and bodies with the highest strength:
                       log(n N / (n_text n_code)) above 0, times n / (n + 5); rows are counted once, n at least FEW,
                       a stem is not its own associate
"""

import argparse
import pathlib

import numpy as np

import fetch_more
import pieces
import vocabulary
import words

MOST, FEW, ROWS = 24, 4, 4000


def sets(data, parts, stem):
    """Unique (row, stem) of the parts, by row."""
    keys = []
    for part in parts:
        ids, at = data[part], data[part + "_at"]
        row = np.repeat(np.arange(len(at) - 1), np.diff(at))
        keys.append(row * np.int64(pieces.N_VOCAB) + stem[ids])
    key = np.unique(np.concatenate(keys))
    return key // pieces.N_VOCAB, key % pieces.N_VOCAB


def count(text, code, n_row, n_stem):
    """Rows that have both, as (key = text * n_stem + code, n)."""
    (t_row, t), (c_row, c) = text, code
    bound = np.arange(0, n_row + ROWS, ROWS)
    t_at, c_at = np.searchsorted(t_row, bound), np.searchsorted(c_row, bound)
    all_keys, all_n = [], []
    for k in range(len(bound) - 1):
        tr, cr = t_row[t_at[k] : t_at[k + 1]], c_row[c_at[k] : c_at[k + 1]]
        first, last = np.searchsorted(cr, tr), np.searchsorted(cr, tr, side="right")
        n = last - first
        of = np.repeat(np.arange(len(tr)), n)
        at = np.arange(len(of)) - np.repeat(np.cumsum(n) - n, n) + first[of]
        keys, times = np.unique(
            t[t_at[k] : t_at[k + 1]][of] * np.int64(n_stem) + c[c_at[k] : c_at[k + 1]][at], return_counts=True
        )
        all_keys.append(keys)
        all_n.append(times)
    keys, place = np.unique(np.concatenate(all_keys), return_inverse=True)
    return keys, np.bincount(place, weights=np.concatenate(all_n))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch_more.HERE.parents[1] / "build-embed")
    a = args.parse_args()
    texts = vocabulary.texts(a.work)
    _, (stem, n_stem) = words.tables(texts)
    stem = np.array(stem, np.int64)
    data = np.load(a.work / "data" / "train.npz")
    is_word = np.zeros(n_stem, bool)
    is_word[[s for s, p in zip(stem, texts) if len(words.word_of(p)) > 1 and words.word_of(p).isalpha()]] = True
    text, code = (sets(data, parts, stem) for parts in (("sentence",), ("head", "body")))
    text, code = ((r[is_word[s]], s[is_word[s]]) for r, s in (text, code))
    n_row = len(data["c"])
    keys, n = count(text, code, n_row, n_stem)
    keys, n = keys[n >= FEW], n[n >= FEW]
    t, c = keys // n_stem, keys % n_stem
    n_text, n_code = (np.bincount(s, minlength=n_stem) for _, s in (text, code))
    strength = np.maximum(0, np.log(n * n_row / (n_text[t] * n_code[c]))) * n / (n + 5) * (t != c)
    order = np.lexsort((-strength, t))
    place = np.arange(len(order)) - np.searchsorted(t[order], t[order])
    kept = order[(place < MOST) & (strength[order] > 0)]
    np.savez(
        a.work / "data" / "associations.npz", text=t[kept], code=c[kept], strength=strength[kept].astype(np.float32)
    )
    print(f"{len(kept)} associations of {len(np.unique(t[kept]))} stems")
    name = {s: words.stem_of(words.word_of(p)) for s, p in zip(stem, texts)}
    for word in ("delete", "random", "sort"):
        s = stem[texts.index(pieces.S + word)]
        print(word, " ".join(name[k] for k in c[kept][t[kept] == s][:12]))


if __name__ == "__main__":
    main()
