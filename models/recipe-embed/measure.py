#!/usr/bin/env python3
"""measure.py - the exported file by `mythos embed`: the same vectors as torch's, and NDCG@10 of lexical,
cosine and hybrid with 95 % intervals.

--questions  a folder with corpus.jsonl and queries.jsonl as `mythos search --corpus --queries` takes them, queries with
             "gold", and lex.json, its answer with --lexical --json -k 100
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import torch

import encoder
import fetch_more
import looks
import pieces
from shards import open_tokenizer


def embed(mythos, gguf, texts, prompt):
    """[n, dim] by the command."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for t in texts:
            f.write(json.dumps(t) + "\n")
        f.flush()
        line = [mythos, "embed", "-m", str(gguf), "--jsonl", "--prompt", prompt, "-q", f.name]
        out = subprocess.run(line, stdout=subprocess.PIPE, check=True).stdout
    return torch.tensor(np.array([json.loads(s)["embedding"] for s in out.splitlines()], np.float32))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch_more.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-embed")
    args.add_argument("--questions", type=pathlib.Path, required=True)
    args.add_argument("--mythos", default=str(root / "build" / "mythos"))
    args.add_argument("--gguf", type=pathlib.Path, default=root / "models" / "mythos-embed.gguf")
    args.add_argument("--name", help="checkpoint to compare with")
    args.add_argument("--prompts", default="code,document")
    a = args.parse_args()
    tok = open_tokenizer(a.work)
    prompts = {use: pieces.FIRST_PROMPT + k for k, use in enumerate(pieces.prompts())}
    asked = looks.Questions(a.questions, tok, prompts)
    texts = [
        [json.loads(line)["text"] for line in (a.questions / f"{n}.jsonl").read_text().splitlines()]
        for n in ("queries", "corpus")
    ]
    uses = a.prompts.split(",")
    vectors = [embed(a.mythos, a.gguf, t, use) for t, use in zip(texts, uses)]
    if a.name and a.prompts == "code,document":
        net = encoder.Encoder(encoder.Config())
        net.load_state_dict(torch.load(a.work / "run" / f"{a.name}.pt", weights_only=False)["net"])
        with torch.no_grad():
            mine = looks.encode_all(lambda part: net(encoder.padded(part)), asked.asked)
        cos = (mine * vectors[0]).sum(1)
        print(
            f"cosine of torch's and the command's vectors of {len(cos)} questions: {cos.min():.5f} to {cos.max():.5f}"
        )
    result = asked.measure(*vectors)
    for name, values in result.items():
        low, high = looks.interval([x - y for x, y in zip(values, result["lexical"])])
        mean, (a_low, a_high) = sum(values) / len(values), looks.interval(values)
        print(f"{name:12s} NDCG@10 {mean:.4f} [{a_low:.4f}, {a_high:.4f}]   minus lexical [{low:+.4f}, {high:+.4f}]")


if __name__ == "__main__":
    main()
