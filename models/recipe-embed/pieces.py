#!/usr/bin/env python3
"""pieces.py - WORK/src -> WORK/model/tokenizer.json: 16,384 pieces for questions and code,
in the form of Gemma 3's file.

Ids      as in ../recipe/vocab.py below 494, but for the prompts of EmbeddingGemma, each a piece of its own from
         FIRST_PROMPT on: a prompt costs one token and shares no word with the text behind it. Then single characters,
         then what was learned
Learning BPE within a part of an identifier: camel case and underscores cut, so that `is_leap_year`, `isLeapYear` and
         `is leap year` have their words in common. Text and code count alike
"""

import argparse
import json
import pathlib
import random
import re
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

import fetch_more

sys.path.insert(0, str(fetch_more.HERE.parent / "recipe"))
import vocab  # noqa: E402

N_VOCAB, S, FIRST_PROMPT = 16384, vocab.SPACE, 199
WORD = f"\n|\t+|{S}{{2,}}|[0-9]|{S}?[A-Z]?[a-z]+|{S}?[A-Z]+(?![a-z])|{S}?_+|{S}?[^A-Za-z0-9_{S}\\s]+|{S}"


def prompts():
    """{use: prompt} of `mythos embed --prompt`."""
    text = (fetch_more.HERE.parents[1] / "engine" / "run" / "embed.c").read_text()
    return {use: prompt for use, prompt in re.findall(r'^ +\{"(\w+)", "(.+)"\},$', text, re.M)}


def learn(texts, n_pieces):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.Replace(" ", S)
    tok.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), "isolated")
    alphabet = [chr(c) for c in range(33, 127)] + [S]
    trainer = trainers.BpeTrainer(
        vocab_size=n_pieces + 1000,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        max_token_length=16,
        show_progress=False,
    )
    tok.train_from_iterator(texts, trainer)
    order = sorted(tok.get_vocab().items(), key=lambda kv: kv[1])
    return [p for p, _ in order if len(p) > 1 and not set(p) <= {S, "\n", "\t"}][:n_pieces]


def build(texts):
    special = vocab.special_pieces()
    for i, prompt in enumerate(prompts().values(), FIRST_PROMPT):
        assert vocab.is_unused(special[i]) and special[i + 1]
        special[i] = prompt
    chars = [chr(c) for c in range(33, 127)] + [S]
    normal = chars + learn(texts, N_VOCAB - vocab.FIRST_NORMAL - len(chars))
    pieces = {special[i]: i for i in range(vocab.FIRST_NORMAL)}
    for piece in normal:
        pieces[piece] = len(pieces)
    assert len(pieces) == N_VOCAB, len(pieces)
    data = vocab.document(special, pieces, vocab.merges_of(pieces, normal))
    return data


def sample(folder, n_bytes, seed=1):
    """Texts of source files, as much of each package; every third in lower case, as questions are."""
    rng, packages = random.Random(seed), sorted(p for p in folder.iterdir() if p.is_dir())
    for package in packages:
        files, room = sorted(package.iterdir()), n_bytes // len(packages)
        rng.shuffle(files)
        for k, path in enumerate(files):
            if room <= 0:
                break
            text = path.read_bytes()[: min(room, 8000)].decode("utf-8", "replace")
            room -= len(text)
            yield text.lower() if k % 3 == 2 else text


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=fetch_more.HERE.parents[1] / "build-embed")
    args.add_argument("--bytes", type=int, default=7_000_000)
    a = args.parse_args()
    out = a.work / "model"
    out.mkdir(parents=True, exist_ok=True)
    data = build(sample(a.work / "src", a.bytes))
    (out / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    print(f"{out / 'tokenizer.json'}: {len(data['model']['vocab'])} pieces, {len(data['model']['merges'])} merges")


if __name__ == "__main__":
    main()
