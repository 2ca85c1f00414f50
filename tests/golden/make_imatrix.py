#!/usr/bin/env python3
"""What goes into every matrix of tiny models, by transformers: tests/golden/imatrix.txt, read by tests/engine/make/test_imatrix.c.

    make_imatrix.py > tests/golden/imatrix.txt          needs torch and transformers >= 5.23

Line: MODEL TENSOR ROWS COLS SUM TURN, for the ids of MODEL's golden.bin run in float32; with s[c] the sum over the rows of x[c]^2,
SUM is the sum of s, and TURN that of s[c] * cos(c), which a column at a wrong place changes.
"""

import pathlib
import struct

import torch
from transformers import AutoModelForCausalLM

MODELS = pathlib.Path(__file__).resolve().parent / "models"
NAMES = ("gemma1-mqa", "gemma2-old", "gemma3-sharded")
GGUF = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def main():
    for name in NAMES:
        with open(MODELS / name / "golden.bin", "rb") as f:
            _, n_tok, *_ = struct.unpack("<5I", f.read(20))
            ids = struct.unpack(f"<{n_tok}i", f.read(4 * n_tok))
        model = AutoModelForCausalLM.from_pretrained(
            MODELS / name, dtype=torch.float32, attn_implementation="eager"
        ).eval()
        for i, layer in enumerate(model.model.layers):
            for part, gguf in GGUF.items():

                def seen(_, args, tensor=f"blk.{i}.{gguf}.weight"):
                    x = args[0].detach()[0].double()
                    s = (x * x).sum(0)
                    print(
                        name,
                        tensor,
                        *x.shape,
                        f"{s.sum():.9g} {(s * torch.cos(torch.arange(len(s), dtype=torch.float64))).sum():.9g}",
                    )

                layer.get_submodule(part).register_forward_pre_hook(seen)
        with torch.no_grad():
            model(torch.tensor([ids]), use_cache=False)


if __name__ == "__main__":
    main()
