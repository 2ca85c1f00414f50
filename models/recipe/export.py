#!/usr/bin/env python3
"""export.py - WORK/model (safetensors, tokenizer.json, config.json) -> models/mythos-inspect.gguf by `mythos convert`.

The file says which prompt it was trained for (mythos.prompt, mythos.prompt_hash), how long prompts in training were
(mythos.trained_tokens) and in which languages (mythos.languages), so that a changed layout is noticed, longer files are
split, and a report about another language says so.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import fetch


def prompt_hash(mythos, model):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("int x;\n")
        f.flush()
        command = [mythos, "prompt", "-m", str(model), "--prompt-style", "compact", "--json", f.name]
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)["hash"]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-model")
    args.add_argument("--mythos", default=str(root / "build" / "mythos"))
    args.add_argument("--output", type=pathlib.Path, default=root / "models" / "mythos-inspect.gguf")
    args.add_argument("--trained-tokens", type=int, default=640)
    a = args.parse_args()
    model = a.work / "model"
    facts = (
        f"mythos.prompt=compact,mythos.prompt_hash={prompt_hash(a.mythos, model)},"
        f"mythos.trained_tokens={a.trained_tokens},mythos.languages=c python"
    )
    subprocess.run(
        [a.mythos, "convert", "-m", str(model), "--type", "q8_0", "--kv", facts, "-o", str(a.output)], check=True
    )
    print(f"{a.output}: {a.output.stat().st_size} bytes, {facts}")


if __name__ == "__main__":
    main()
