#!/usr/bin/env python3
"""Random adapters of peft for models of tests/golden/models, and what transformers and peft compute with both:
tests/golden/adapters/NAME/, where NAME is the model's.

  adapter_model.safetensors, adapter_config.json   as save_pretrained writes them; of the config, what decides the values
  golden.bin                                       little endian: u32 magic 0x4f47594d, n_tok, n_vocab; i32 ids[n_tok];
                                                   f32 logits[n_tok][n_vocab] after the final cap

Reference: float32, eager attention, no cache. B is random as well, since the zeros of a fresh one would hide errors. The
script checks itself: without the adapter some logit differs by a tenth of the largest.

Usage: make_adapters.py [NAME...]      needs torch, transformers >= 5.23, peft, safetensors
"""

import json
import pathlib
import struct
import sys

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
MAGIC = 0x4F47594D
KEPT = ("peft_type", "r", "lora_alpha", "use_rslora", "use_dora", "bias", "modules_to_save", "rank_pattern", "alpha_pattern")
# name of the model: rank, alpha, whether the scale is by the root of the rank
ADAPTERS = {
    "gemma2-gqa": (3, 5, False),
    "gemma3-layers": (2, 6, True),
    "gemma3n-active": (2, 3, False),
    "gemma4-e": (2, 3, False),
    "gemma4-moe": (2, 3, False),
}


def make(name, rank, alpha, is_root):
    model = AutoModelForCausalLM.from_pretrained(HERE / "models" / name, dtype=torch.float32, attn_implementation="eager")
    # every linear layer but those of AltUp, of which peft and mythos know different ones
    targets = sorted(
        {
            k.split(".")[-1]
            for k, v in model.named_modules()
            if isinstance(v, torch.nn.Linear) and "layers." in k and "altup" not in k
        }
    )
    torch.manual_seed(len(name))
    both = get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, target_modules=targets, use_rslora=is_root)).eval()
    with torch.no_grad():
        for key, value in both.named_parameters():
            if "lora_B" in key:
                value.copy_(torch.randn_like(value) * 0.1)
        ids = torch.tensor([[2, 5, 9, 14, 33, 7, 21, 40, 11, 3, 2, 19, 8, 30, 25, 6]])
        logits = both(ids, use_cache=False).logits[0]
        with both.disable_adapter():
            moved = (both(ids, use_cache=False).logits[0] - logits).abs().max()
    assert moved > 0.1 * logits.abs().max(), name
    out = HERE / "adapters" / name
    both.save_pretrained(out)
    (out / "README.md").unlink()
    config = json.loads((out / "adapter_config.json").read_text())
    (out / "adapter_config.json").write_text(json.dumps({k: config[k] for k in KEPT}, indent=2) + "\n")
    (out / "adapter_model.safetensors").chmod(0o644)
    with open(out / "golden.bin", "wb") as f:
        f.write(struct.pack("<3I", MAGIC, ids.shape[1], logits.shape[1]))
        f.write(ids.to(torch.int32).numpy().tobytes())
        f.write(logits.numpy().astype("<f4").tobytes())


for name in sys.argv[1:] or ADAPTERS:
    make(name, *ADAPTERS[name])
