#!/usr/bin/env python3
"""Which types llama-quantize gives the tensors of small models: tests/golden/mixes.txt, read by tests/engine/make/test_mix.c.

    PEER=DIR make_mixes.py > tests/golden/mixes.txt     DIR holds build-cpu/bin/llama-quantize; needs numpy and gguf

Line: N_LAYER D FF N_HEAD N_HEAD_KV HEAD_DIM MIX IMATRIX TYPES, where TYPES has one GGUF type code, as a letter from A = 0 on (BF16 = 30 is _),
for the embedding and then for each layer's attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down.
"""

import os
import re
import struct
import subprocess
import tempfile

import gguf
import numpy as np

SHAPES = ((18, 512, 768, 4, 1, 128), (9, 320, 512, 4, 2, 64), (34, 256, 512, 2, 1, 128), (3, 48, 96, 2, 2, 32))
MIXES = (
    "Q8_0",
    "Q4_0",
    "Q4_1",
    "Q5_0",
    "Q5_1",
    "Q2_K",
    "Q3_K_S",
    "Q3_K_M",
    "Q3_K_L",
    "Q4_K_S",
    "Q4_K_M",
    "Q5_K_S",
    "Q5_K_M",
    "Q6_K",
    "IQ4_NL",
    "IQ4_XS",
    "F16",
    "BF16",
)
PARTS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


def sizes(shape, part):
    _, d, ff, h, kv, hd = shape
    return {
        "attn_q": (h * hd, d),
        "attn_k": (kv * hd, d),
        "attn_v": (kv * hd, d),
        "attn_output": (d, h * hd),
        "ffn_gate": (ff, d),
        "ffn_up": (ff, d),
        "ffn_down": (d, ff),
    }[part]


def make(path, shape):
    n, d, ff, h, kv, hd = shape
    w = gguf.GGUFWriter(path, "gemma3")
    w.add_block_count(n), w.add_embedding_length(d), w.add_feed_forward_length(ff), w.add_head_count(
        h
    ), w.add_head_count_kv(kv)
    w.add_key_length(hd), w.add_value_length(hd), w.add_layer_norm_rms_eps(1e-6), w.add_context_length(
        512
    ), w.add_sliding_window(64)
    w.add_file_type(1)
    w.add_tokenizer_model("llama"), w.add_token_list(["<unk>", "<s>", "a", "b"]), w.add_token_scores(
        [0.0] * 4
    ), w.add_token_types([2, 3, 1, 1])
    rng = np.random.default_rng(1)
    w.add_tensor("token_embd.weight", rng.standard_normal((4, d)).astype(np.float16))
    w.add_tensor("output_norm.weight", np.ones(d, np.float32))
    for i in range(n):
        for part in PARTS:
            w.add_tensor(f"blk.{i}.{part}.weight", rng.standard_normal(sizes(shape, part)).astype(np.float16))
        for norm, width in (
            ("attn_norm", d),
            ("ffn_norm", d),
            ("attn_q_norm", hd),
            ("attn_k_norm", hd),
            ("post_attention_norm", d),
            ("post_ffw_norm", d),
        ):
            w.add_tensor(f"blk.{i}.{norm}.weight", np.ones(width, np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def make_imatrix(path, shape):
    with open(path, "wb") as f:
        f.write(struct.pack("<i", shape[0] * len(PARTS)))
        for i in range(shape[0]):
            for part in PARTS:
                name, n = f"blk.{i}.{part}.weight".encode(), sizes(shape, part)[1]
                f.write(struct.pack("<i", len(name)) + name + struct.pack("<ii", 1, n) + np.ones(n, "<f4").tobytes())


def main():
    tool = os.path.join(os.environ["PEER"], "build-cpu/bin/llama-quantize")
    with tempfile.TemporaryDirectory() as at:
        for shape in SHAPES:
            source, out, imatrix = (os.path.join(at, x) for x in ("in.gguf", "out.gguf", "imatrix.dat"))
            make(source, shape), make_imatrix(imatrix, shape)
            for mix in MIXES:
                for has in (0, 1):
                    done = subprocess.run(
                        [tool, "--dry-run"] + (["--imatrix", imatrix] if has else []) + [source, out, mix, "2"],
                        capture_output=True,
                        text=True,
                    )
                    if done.returncode:
                        raise SystemExit(f"{mix}: {done.stdout[-500:]}{done.stderr[-500:]}")
                    code = {}
                    for line in (
                        done.stdout + done.stderr
                    ).splitlines():  # [ 1/ 9] NAME - [SHAPE], type = f16, size = A MiB [-> B MiB (q4_K)]
                        found = re.match(r"\[ *\d+/ *\d+\] +(\S+) .*type = +(\w+),.*?(?:\((\w+)\))?$", line.strip())
                        if found:
                            kind = gguf.GGMLQuantizationType[(found[3] or found[2]).upper()]
                            code[found[1]] = chr(ord("A") + int(kind))
                    names = ["token_embd.weight"] + [f"blk.{i}.{p}.weight" for i in range(shape[0]) for p in PARTS]
                    print(*shape, mix, has, "".join(code[n] for n in names), flush=True)


if __name__ == "__main__":
    main()
