#!/usr/bin/env python3
"""vocab.py - WORK/src -> WORK/model/tokenizer.json: a vocabulary of 8,192 pieces for C and Python,
in the form of Gemma 3's file.

Ids      0 pad, 1 eos, 2 bos, 3 unk, 4 mask, 105 and 106 the turn marks, 107-137 newline runs, 138-167 space runs,
         168-198 tab runs, 238-493 bytes; all other ids below 494 are unused pieces. Then single characters, the numbers
         10-299 (so that a line number is one or two tokens, and copying one is a single step), the pieces learned from
         code, and last the fixed text of an answer.
Learning BPE over words as `tokenizers` does it, within an identifier, within a run of punctuation, digits apart. The
         finished vocabulary has no such cuts: merges alone decide, as in Gemma.
Answer   the pieces of ANSWER stand for whole keys of the answer's JSON. No merge leads to them, so they never come out
         of encode; a model generates them, and the grammar reads their bytes.
"""

import argparse
import json
import pathlib
import random
import re

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

import fetch

N_VOCAB = 8192
SPACE = "\u2581"
FIRST_NORMAL = 494

OPEN = '{"findings":['
CLOSE = '],"missing_context":[]}'
FILE = '{"file":"'
NEXT_FILE = ',{"file":"'
LINES = '","lines":['
EVIDENCE = '],"evidence":"'
RULE = '","rule":"'
TEXTS = '","issue":"","why":"","severity":"'
STATUS = '","status":"'
END = '","fix":"","missing":""}'


def rule_ids():
    """[(id, severity)] of the inspector's closed list, in its order."""
    text = (fetch.HERE.parents[1] / "frontend" / "inspect" / "rules" / "rules.def").read_text()
    return re.findall(r'^RULE\("([a-z-]+)",\s*\d+,\s*([A-Z]+)', text, re.M)


def answer_pieces():
    fixed = [OPEN, CLOSE, FILE, NEXT_FILE, LINES, EVIDENCE, RULE, TEXTS, STATUS, END]
    return (
        fixed
        + ["HIGH", "MEDIUM", "LOW", "INFO", "confirmed", "likely", "speculative"]
        + [rule for rule, _ in rule_ids()]
    )


def special_pieces():
    """Pieces 0..493 as {id: piece}; what is not named is unused."""
    ids = {0: "<pad>", 1: "<eos>", 2: "<bos>", 3: "<unk>", 4: "<mask>", 105: "<start_of_turn>", 106: "<end_of_turn>"}
    for n in range(1, 32):
        ids[106 + n] = "\n" * n
        ids[167 + n] = "\t" * n
        if n > 1:
            ids[136 + n] = SPACE * n
    for b in range(256):
        ids[238 + b] = f"<0x{b:02X}>"
    unused = 0
    for i in range(FIRST_NORMAL):
        if i not in ids:
            ids[i] = f"<unused{unused}>"
            unused += 1
    return ids


def is_byte(i):
    return 238 <= i < 494


def is_unused(piece):
    return piece.startswith("<unused")


def learn(texts, n_pieces):
    """Pieces of two and more characters in the order they were learned."""
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.Replace(" ", SPACE)
    word = f"\n|\t+|{SPACE}{{2,}}|[0-9]|{SPACE}?[A-Za-z_]+|{SPACE}?[^A-Za-z0-9_{SPACE}\\s]+|{SPACE}"
    tok.pre_tokenizer = pre_tokenizers.Split(Regex(word), "isolated")
    alphabet = [chr(c) for c in range(33, 127)] + [SPACE]
    trainer = trainers.BpeTrainer(
        vocab_size=n_pieces + 2000,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        max_token_length=24,
        show_progress=False,
    )
    tok.train_from_iterator(texts, trainer)
    order = sorted(tok.get_vocab().items(), key=lambda kv: kv[1])
    keep = [p for p, _ in order if len(p) > 1 and not set(p) <= {SPACE, "\n", "\t"} and not p.isdigit()]
    return keep[:n_pieces]


def merges_of(vocab, normal):
    """Every way to make a piece of two pieces, runs first and longest first, then by id:
    what Gemma's converter writes."""
    out = []
    for char in ("\n", SPACE, "\t"):
        for a in range(30, 0, -1):
            out += [(char * a, char * b) for b in range(31 - a, 0, -1)]
    for piece in normal:
        out += [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in vocab and piece[i:] in vocab]
    return out


def document(special, vocab, merges):
    """tokenizer.json of pieces and merges, as Gemma 3's has it."""
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": i, "content": p} | plain | {"special": i < 4 or i in (105, 106)}
        for i, p in special.items()
        if not is_byte(i)
    ]
    bos = {"SpecialToken": {"id": "<bos>", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": SPACE},
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [bos, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [bos, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<bos>": {"id": "<bos>", "ids": [2], "tokens": ["<bos>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [list(m) for m in merges],
        },
    }


def build(texts):
    special = special_pieces()
    chars = [chr(c) for c in range(33, 127)] + [SPACE]
    numbers = [str(n) for n in range(10, 300)]
    fixed = answer_pieces()
    learned = [p for p in learn(texts, N_VOCAB) if p not in fixed]
    learned = learned[: N_VOCAB - FIRST_NORMAL - len(chars) - len(numbers) - len(fixed)]
    normal = chars + numbers + learned
    vocab = {special[i]: i for i in range(FIRST_NORMAL)}
    for piece in normal + fixed:
        vocab[piece] = len(vocab)
    assert len(vocab) == N_VOCAB, len(vocab)
    reachable = {p: i for p, i in vocab.items() if p not in fixed}
    return document(special, vocab, merges_of(reachable, normal))


def sample(work, n_bytes, seed=1):
    """Texts of training packages, at most n_bytes of C and as much Python."""
    files = [
        f for _, name, split, _ in fetch.packages() if split == "train" for f in sorted((work / "src" / name).glob("*"))
    ]
    random.Random(seed).shuffle(files)
    room = {".c": n_bytes, ".py": n_bytes}
    for f in files:
        text = f.read_bytes()[:20_000].decode("utf-8", "replace")
        if f.suffix in room and room[f.suffix] > 0:
            room[f.suffix] -= len(text)
            yield text


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch.HERE.parents[1] / "build-model")
    work = args.parse_args().work
    out = work / "model"
    out.mkdir(parents=True, exist_ok=True)
    data = build(list(sample(work, 6_000_000)))
    (out / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    print(f"{out / 'tokenizer.json'}: {len(data['model']['vocab'])} pieces, {len(data['model']['merges'])} merges")


if __name__ == "__main__":
    main()
