#!/usr/bin/env python3
"""write_gguf.py - WORK/run/NAME.pt (of fit_layers.py, or of fit_bag.py with --from-bag) -> WORK/model ->
models/mythos-embed.gguf by `mythos convert`.

--from-bag writes the bag in the same layout: one small layer whose last norms are 0 and which so adds nothing, the
least that a reader takes. Questions take the prompt `code`, functions `document`: what `mythos index` and `search` give
a model that says nothing else.
"""

import argparse
import pathlib
import subprocess

import torch

import encoder
import fetch_more
import vocabulary

CLOSED = encoder.Config(hidden_size=encoder.OUT + 32, intermediate_size=32, num_attention_heads=1, head_dim=32)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = fetch_more.HERE.parents[1]
    args.add_argument("--work", type=pathlib.Path, default=root / "build-embed")
    args.add_argument("--name", default="layers.best")
    args.add_argument("--from-bag", action="store_true")
    args.add_argument("--mythos", default=str(root / "build" / "mythos"))
    args.add_argument("--output", type=pathlib.Path, default=root / "models" / "mythos-embed.gguf")
    a = args.parse_args()
    net = encoder.Encoder(CLOSED if a.from_bag else encoder.Config())
    ck = torch.load(a.work / "run" / f"{a.name}.pt", weights_only=False)
    if a.from_bag:
        n = net.c.vocab_size
        bag = encoder.Bag(vocabulary.texts(a.work), torch.full((n,), 0.5))
        bag.load_state_dict(ck["bag"])
        net.start_from(bag)
        for w in net.layers.parameters():
            w.data.fill_(0.0 if w.ndim == 2 else -1.0)
    else:
        net.load_state_dict(ck["net"])
    encoder.save_hf(net, a.work / "model")
    facts = "general.name=mythos-embed"
    subprocess.run(
        [a.mythos, "convert", "-m", str(a.work / "model"), "--type", "q8_0", "--kv", facts, "-o", str(a.output)],
        check=True,
    )
    print(f"{a.output}: {a.output.stat().st_size} bytes, step {ck['done']}")


if __name__ == "__main__":
    main()
