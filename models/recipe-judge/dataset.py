#!/usr/bin/env python3
"""dataset.py - WORK/files, WORK/model -> WORK/data/{train,dev,test}.npz and .json: every place with its prompt's ids.

The ids are those that mythos itself asks with (`mythos candidates --judge --judge-prompts judge`), at most --tokens of
them. mythos reads that length from a model file, so a file without worth is written for it: one small layer of zeros.
A prompt that comes more than once, as that of a place that a fix did not touch, is kept once.

With --removed SHARE that share of the pairs is asked about as in a change: the function before the fix as what a change
that takes the fix back left, the one after as what the fix left, each with the lines that its change removed. A judge
that is trained so says it in its file (export.py --removed), and mythos shows it the removed lines of a diff.

  ids, start   uint16, all prompts one after another; [n + 1] first id of each
  prompt       of each place: which prompt, -1 where its lines do not fit
  label, rule  number of the place's file among those of the .json, and of its rule among its rules
  mine         the place is of the rule that the fix of its file names
  gone         of a function before: the fix has made the place disappear
  near         of a function before: the change is near, and the prompt is none of the function after
"""

import argparse
import collections
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from safetensors.torch import save_file

from measure import HERE, is_near

sys.path.insert(1, str(HERE.parent / "recipe"))
import model as M  # noqa: E402

TOKENS = 224


def worthless(folder, tokens, tokenizer, mythos, removed):
    """A model file of the judge's form that holds the vocabulary and the length of its prompts."""
    c = M.Config(
        vocab_size=len(json.loads(tokenizer.read_text())["model"]["vocab"]), hidden_size=64, intermediate_size=64,
        num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, mark_layer=0, look_layer=0,
    )  # fmt: skip
    net = M.Model(c)
    tensors = {f"model.{k}": torch.zeros_like(v) for k, v in net.state_dict().items() if not k.startswith("mark_")}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(c.to_hf()))
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    facts = f"mythos.prompt=judge,mythos.trained_tokens={tokens},mythos.judge_removed={int(removed)}"
    command = [mythos, "convert", "-m", str(folder), "--type", "q8_0", "--kv", facts, "-o", str(folder / "ids.gguf")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "ids.gguf"


def is_change(name, share):
    """Whether a pair is asked about as in a change: the same pairs in every run, whatever their number."""
    return int(pathlib.Path(name).name[:8], 16) < share * 0x1_0000_0000


def changes_of(folder, share):
    """A diff that led to the functions of that share of the pairs."""
    out = []
    for label in map(json.loads, (folder / "labels.jsonl").open()):
        name = label["file"]
        if label["side"] == "clean" or not is_change(name, share):
            continue
        sides = (".before.", ".after.") if label["side"] == "before" else (".after.", ".before.")
        other = name.replace(*sides)
        texts = [(folder / f).read_text(errors="replace").split("\n") for f in (other, name)]
        out += difflib.unified_diff(*texts, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(out) + "\n"


def asked(mythos, file, folder, removed, top):
    """{file: its places, each with prompts} of a folder."""
    command = [mythos, "candidates", "--judge", "--judge-prompts", "judge", "--format", "jsonl", "-q"]
    command += ["-m", str(file)]
    if removed:
        (top / "changes.diff").write_text(changes_of(folder, removed))
        command += ["--diff", str(top / "changes.diff")]
    command += ["."]
    found = collections.defaultdict(list)
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout:
            place = json.loads(line)
            ids = place.pop("prompts")
            place["ids"] = np.array(ids[0], np.uint16).tobytes() if ids else b""
            found["/".join(place["file"].split("/")[-2:])].append(place)
    return found


def key(place):
    return place["rule"], place["row"], place["path"], place["callee"]


def make(folder, found):
    """(arrays, document) of a split."""
    labels = [json.loads(line) for line in (folder / "labels.jsonl").open()]
    rules = sorted({p["rule"] for places in found.values() for p in places})
    number, texts, rows = {}, [], []
    for n, label in enumerate(labels):
        label["lines"] = (folder / label["file"]).read_bytes().count(b"\n")
        after = found.get(label["file"].replace(".before.", ".after."), [])
        keys, prompts = {key(p) for p in after}, {p["ids"] for p in after}
        for place in found.get(label["file"], []):
            ids = place["ids"]
            if ids and ids not in number:
                number[ids] = len(texts)
                texts.append(np.frombuffer(ids, np.uint16))
            is_before = label["side"] == "before"
            is_gone = is_before and key(place) not in keys
            is_new = is_before and ids not in prompts and is_near(place, label["changed"])
            is_mine = place["rule"] in label["rules"]
            rows.append((number.get(ids, -1), n, rules.index(place["rule"]), is_mine, is_gone, is_new))
    columns = list(zip(*rows))
    arrays = {
        "ids": np.concatenate(texts),
        "start": np.cumsum([0] + [len(t) for t in texts]),
        "prompt": np.array(columns[0], np.int32),
        "label": np.array(columns[1], np.int32),
        "rule": np.array(columns[2], np.uint8),
        "mine": np.array(columns[3], bool),
        "gone": np.array(columns[4], bool),
        "near": np.array(columns[5], bool),
    }
    return arrays, {"rules": rules, "labels": labels}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    args.add_argument("--tokens", type=int, default=TOKENS, help="most ids of a prompt")
    args.add_argument("--removed", type=float, default=0.0, help="share of pairs that show what a change removed")
    args.add_argument("splits", nargs="*", default=["dev", "train", "test"])
    a = args.parse_args()
    mythos = str(pathlib.Path(a.mythos).resolve())
    (a.work / "data").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        file = worthless(pathlib.Path(top), a.tokens, a.work / "model" / "tokenizer.json", mythos, a.removed > 0)
        for split in a.splits:
            folder = a.work / "files" / split
            arrays, document = make(folder, asked(mythos, file, folder, a.removed, pathlib.Path(top)))
            np.savez(a.work / "data" / f"{split}.npz", **arrays)
            (a.work / "data" / f"{split}.json").write_text(json.dumps(document))
            n = len(arrays["start"]) - 1
            print(f"{split}: {len(arrays['prompt'])} places, {n} prompts, {len(arrays['ids'])} ids", flush=True)


if __name__ == "__main__":
    main()
