#!/usr/bin/env python3
"""Tiny random encoders of EmbeddingGemma's shape and their vectors by transformers: tests/golden/embedders/NAME/.

  config.json, model.safetensors, 2_Dense/, 3_Dense/   as sentence-transformers lays them out
  golden.bin    little endian: u32 magic 0x424d454d, n_text, dim; then per text u32 n, i32 ids[n], f32 vector[dim]

Reference: Gemma3TextModel with use_bidirectional_attention, float32, eager; mean over all tokens; dense layers without bias; length 1.
Weights as in make_models.py. The script checks itself: a causal mask, and a window one wider or narrower, move some vector by 1e-2.

Usage: make_embedders.py [NAME...]      needs torch, transformers >= 5.23, safetensors
"""

import json
import pathlib
import shutil
import struct
import sys

import torch
from safetensors.torch import save_file
from transformers import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3TextModel

from make_models import DTYPE, disk_config, gemma3, period, rope3

OUT = pathlib.Path(__file__).resolve().parent / "embedders"
MAGIC = 0x424D454D
LENGTHS = [1, 2, 9, 20, 37, 5, 33]

MODELS = {
    "dense": dict(
        type="gemma3_text",
        store="bf16",
        dense=(48, 96, 40),
        kw=gemma3(48, 64, 7, 3, 1, 16, 160, window=16, scale=16, rope=rope3(), layers=period(7, 6)),
    ),
    "plain": dict(
        type="gemma3_text",
        store="f32",
        dense=None,
        kw=gemma3(32, 48, 4, 4, 2, 16, 140, window=7, scale=11, rope=rope3(1e3, 1e2), layers=period(4, 2)),
    ),
    "held": dict(  # no tolerance was set on it
        type="gemma3_text",
        store="bf16",
        dense=(40, 56, 24),
        lengths=[3, 64, 14, 11, 27, 48],
        kw=gemma3(40, 56, 3, 4, 2, 16, 120, window=11, scale=20, rope=rope3(5e4, 2e3), layers=period(3, 2)),
    ),
}


def build(spec, seed, **change):
    kw = dict(spec["kw"], max_position_embeddings=512, attn_implementation="eager", use_bidirectional_attention=True)
    model = Gemma3TextModel(Gemma3TextConfig(**dict(kw, **change))).eval()
    gen = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            v = (
                torch.rand(p.shape, generator=gen) * 1.4 - 0.6
                if "norm" in name
                else torch.randn(p.shape, generator=gen)
                * (0.35 if "embed_tokens" in name else 1.3 / p.shape[-1] ** 0.5)
            )
            p.copy_(v.to(DTYPE[spec["store"]]).float())
    return model


def vectors(model, dense, texts):
    out = []
    for ids in texts:
        with torch.no_grad():
            v = model(input_ids=torch.tensor([ids]), use_cache=False).last_hidden_state[0].mean(0)
            for w in dense:
                v = w @ v
        out.append(v / v.norm())
    return torch.stack(out)


def main():
    torch.set_num_threads(1)
    for number, (name, spec) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        seed = 2000 + number
        model, gen = build(spec, seed), torch.Generator().manual_seed(seed + 1)
        sizes = spec["dense"] or ()
        dense = [
            (torch.randn(b, a, generator=gen) / a**0.5).to(DTYPE[spec["store"]]).float()
            for a, b in zip(sizes, sizes[1:])
        ]
        texts = [
            ([2] + torch.randint(3, spec["kw"]["vocab_size"] - 1, (n,), generator=gen).tolist() + [1])[:n]
            for n in spec.get("lengths", LENGTHS)
        ]
        want = vectors(model, dense, texts)
        window = spec["kw"]["sliding_window"]
        for what, change in {
            "causal": dict(use_bidirectional_attention=False, sliding_window=window // 2 + 1),
            "wider": dict(sliding_window=window + 2),
            "narrower": dict(sliding_window=window - 2),
        }.items():
            moved = (vectors(build(spec, seed, **change), dense, texts) - want).abs().max().item()
            assert moved > 1e-2, f"{name}: {what} moves the vectors by {moved:.1e} only"
        path = OUT / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        cfg = dict(disk_config(model, spec), architectures=["Gemma3TextModel"], use_bidirectional_attention=True)
        (path / "config.json").write_text(json.dumps(cfg, indent=1) + "\n")
        save_file(
            {n: p.detach().clone().to(DTYPE[spec["store"]]).contiguous() for n, p in model.named_parameters()},
            path / "model.safetensors",
            metadata={"format": "pt"},
        )
        for i, w in enumerate(dense):
            folder = path / f"{i + 2}_Dense"
            folder.mkdir()
            (folder / "config.json").write_text(
                json.dumps(
                    dict(
                        in_features=w.shape[1],
                        out_features=w.shape[0],
                        bias=False,
                        activation_function="torch.nn.modules.linear.Identity",
                    ),
                    indent=1,
                )
                + "\n"
            )
            save_file(
                {"linear.weight": w.to(DTYPE[spec["store"]]).contiguous()},
                folder / "model.safetensors",
                metadata={"format": "pt"},
            )
        data = struct.pack("<3I", MAGIC, len(texts), want.shape[1])
        for ids, v in zip(texts, want):
            data += struct.pack(f"<I{len(ids)}i", len(ids), *ids) + v.numpy().astype("<f4").tobytes()
        (path / "golden.bin").write_bytes(data)
        for f in path.rglob("*"):
            f.chmod(0o755 if f.is_dir() else 0o644)
        print(f"{name:8s} {len(texts)} texts, {want.shape[1]} dimensions")


if __name__ == "__main__":
    main()
