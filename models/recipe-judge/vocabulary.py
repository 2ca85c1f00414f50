#!/usr/bin/env python3
"""vocabulary.py - WORK/files/train -> WORK/model/{tokenizer,config}.json: the judge's 12,288 pieces.

Ids and file are like those of the other model's recipe (../recipe/vocab.py): Gemma 3's first ids, characters, pieces.
Two rounds of learning. The first joins letters within a word and marks within a run of marks, from functions of the
train split in all languages and from what `mythos candidates` says of them. The second joins pieces that often follow
each other, as `if (!` or `is used without a test`, so that a prompt becomes shorter and common phrases are one step;
it never joins over a line's end, and of two words only those of the language and of the sentences are frequent enough.
"Yes" and "No" are pieces. Phrases that begin with a run of blanks are never used: mythos takes such runs first.
"""

import argparse
import collections
import json
import pathlib
import random
import sys

from tokenizers import Tokenizer

from measure import HERE, places_of

sys.path.insert(1, str(HERE.parent / "recipe"))
import vocab  # noqa: E402

N_VOCAB, N_PHRASES, LONGEST = 12288, 1400, 40
MOST = 4_000_000  # characters of one language
EMPTY = ("none", "nothing", "unknown", "no")
ANSWERS = ("Yes", "No")


def head(language, place):
    """The first line of a place's prompt, as mythos writes it."""
    facts = " ".join(f"{k}={v}" for k, v in place["facts"].items() if v not in EMPTY)
    return f"{language} {place['rule']}: {place['why']} ({facts})"


def texts_of(work, mythos, seed=1):
    """(functions, heads) of the train split, the functions with a mark's column in front of each line."""
    folder = work / "files" / "train"
    labels = [json.loads(line) for line in (folder / "labels.jsonl").open()]
    random.Random(seed).shuffle(labels)
    places = places_of(mythos, folder)
    room, functions, heads = collections.Counter(), [], []
    for label in labels:
        if label.get("side") == "after":
            continue
        text = (folder / label["file"]).read_text(errors="replace")
        heads += [head(label["language"], p) for p in places.get(label["file"], [])]
        if room[label["language"]] < MOST:
            room[label["language"]] += len(text)
            functions.append("\n".join(" " + line for line in text.split("\n")))
    return functions, heads


def phrases(tokenizer, lines, n):
    """The n most frequent unions of pieces that follow each other in lines, in the order they are learned."""
    id_of = tokenizer.get_vocab()
    piece = {i: p for p, i in id_of.items()}
    rows = [e.ids for e in tokenizer.encode_batch(lines, add_special_tokens=False)]
    ends = {i for i, p in piece.items() if "\n" in p or p.startswith("<") and p.endswith(">") and len(p) > 2}
    count, where = collections.Counter(), collections.defaultdict(set)
    for r, row in enumerate(rows):
        for pair in zip(row, row[1:]):
            count[pair] += 1
            where[pair].add(r)
    out, next_id = [], max(piece) + 1
    while len(out) < n:
        best = max(count, key=lambda p: (count[p], p), default=None)
        if best is None:
            break
        joined = piece[best[0]] + piece[best[1]]
        if best[0] in ends or best[1] in ends or joined in id_of or len(joined) > LONGEST or joined.isdigit():
            del count[best]
            continue
        out.append(joined)
        piece[next_id], id_of[joined] = joined, next_id
        for r in where.pop(best):
            row, new, i = rows[r], [], 0
            for pair in zip(row, row[1:]):
                if pair in count:
                    count[pair] -= 1
            while i < len(row):
                if tuple(row[i : i + 2]) == best:
                    new.append(next_id)
                    i += 2
                else:
                    new.append(row[i])
                    i += 1
            rows[r] = new
            for pair in zip(new, new[1:]):
                count[pair] += 1
                where[pair].add(r)
        count.pop(best, None)
        next_id += 1
    return out


def document(normal):
    special = vocab.special_pieces()
    ids = {special[i]: i for i in range(vocab.FIRST_NORMAL)}
    for p in normal:
        ids.setdefault(p, len(ids))
    return vocab.document(special, ids, vocab.merges_of(ids, normal))


def build(functions, heads):
    chars = [chr(c) for c in range(33, 127)] + [vocab.SPACE]
    numbers = [str(n) for n in range(10, 100)]
    n_words = N_VOCAB - vocab.FIRST_NORMAL - len(chars) - len(numbers) - N_PHRASES - len(ANSWERS)
    learned = [p for p in vocab.learn(functions + heads, n_words + 200) if p not in ANSWERS][:n_words]
    normal = chars + numbers + learned + list(ANSWERS)
    first = Tokenizer.from_str(json.dumps(document(normal)))
    dice = random.Random(2)
    lines = [line for text in dice.sample(functions, min(1500, len(functions))) for line in text.split("\n")]
    lines = dice.sample(lines, min(20_000, len(lines))) + dice.sample(heads, min(5_000, len(heads)))
    return document(normal + phrases(first, lines, N_PHRASES))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    a = args.parse_args()
    out = a.work / "model"
    out.mkdir(parents=True, exist_ok=True)
    data = build(*texts_of(a.work, str(pathlib.Path(a.mythos).resolve())))
    (out / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    print(f"{out / 'tokenizer.json'}: {len(data['model']['vocab'])} pieces, {len(data['model']['merges'])} merges")


if __name__ == "__main__":
    main()
