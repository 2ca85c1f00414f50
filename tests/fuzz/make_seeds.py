#!/usr/bin/env python3
"""Seeds of the targets that read model files: small valid files, from which the fuzzer starts.

    make_seeds.py CORPUS_DIR          needs numpy and gguf; CORPUS_DIR/{gguf,safetensors,config} are made
"""
import json
import os
import struct
import sys

import gguf
import numpy as np

D, H, KV, HD, FF, V = 8, 2, 1, 4, 16, 16
HF = {"model.embed_tokens.weight": [V, D], "model.norm.weight": [D]}
HF |= {"model.layers.0." + k: s for k, s in {
    "input_layernorm.weight": [D], "self_attn.q_proj.weight": [H * HD, D], "self_attn.k_proj.weight": [KV * HD, D],
    "self_attn.v_proj.weight": [KV * HD, D], "self_attn.o_proj.weight": [D, H * HD], "post_attention_layernorm.weight": [D],
    "mlp.gate_proj.weight": [FF, D], "mlp.up_proj.weight": [FF, D], "mlp.down_proj.weight": [D, FF]}.items()}
GG = {"token_embd.weight": [V, D], "blk.0.attn_norm.weight": [D], "blk.0.attn_q.weight": [H * HD, D], "blk.0.attn_k.weight": [KV * HD, D],
      "blk.0.attn_v.weight": [KV * HD, D], "blk.0.attn_output.weight": [D, H * HD], "blk.0.ffn_norm.weight": [D],
      "blk.0.ffn_gate.weight": [FF, D], "blk.0.ffn_up.weight": [FF, D], "blk.0.ffn_down.weight": [D, FF], "output_norm.weight": [D]}
CONFIG = dict(model_type="gemma", vocab_size=V, hidden_size=D, intermediate_size=FF, num_hidden_layers=1, num_attention_heads=H,
              num_key_value_heads=KV, head_dim=HD, max_position_embeddings=64)


def save(folder, name, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def safetensors(dtype, bits, extra=None, metadata=None):
    head, at = ({"__metadata__": metadata} if metadata else {}), 0
    for name, shape in {**HF, **(extra or {})}.items():
        n = int(np.prod(shape)) * bits // 8
        head[name] = dict(dtype=dtype, shape=shape, data_offsets=[at, at + n])
        at += n
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(at)


# Super-blocks and blocks of 32 of several types, all zeros but for the codes.
WIDE = {"token_embd.weight": ([V, 256], "IQ4_XS"), "blk.0.attn_norm.weight": ([256], "F32"), "blk.0.attn_q.weight": ([32, 256], "Q4_K"),
        "blk.0.attn_k.weight": ([16, 256], "Q6_K"), "blk.0.attn_v.weight": ([16, 256], "Q5_K"), "blk.0.attn_output.weight": ([256, 32], "Q5_1"),
        "blk.0.ffn_norm.weight": ([256], "F32"), "blk.0.ffn_gate.weight": ([32, 256], "Q2_K"), "blk.0.ffn_up.weight": ([32, 256], "Q3_K"),
        "blk.0.ffn_down.weight": ([256, 32], "MXFP4"), "output_norm.weight": ([256], "F32")}


def wide_file(path):
    w = gguf.GGUFWriter(path, "gemma")
    w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(256), w.add_feed_forward_length(32)
    w.add_head_count(2), w.add_head_count_kv(1), w.add_key_length(16), w.add_value_length(16), w.add_layer_norm_rms_eps(1e-6)
    for name, (shape, kind) in WIDE.items():
        kind = gguf.GGMLQuantizationType[kind]
        block, size = gguf.GGML_QUANT_SIZES[kind]
        raw = np.zeros(shape[:-1] + [shape[-1] // block * size], dtype=np.uint8)
        w.add_tensor(name, raw, raw_dtype=kind)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def gguf_file(path, with_tokens, pattern):
    w = gguf.GGUFWriter(path, "gemma")
    w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(D), w.add_feed_forward_length(FF)
    w.add_head_count(H), w.add_head_count_kv(KV), w.add_key_length(HD), w.add_value_length(HD), w.add_layer_norm_rms_eps(1e-6)
    if with_tokens:
        w.add_token_list([f"t{i}" for i in range(V)]), w.add_token_scores([0.0] * V), w.add_token_types([1] * V)
    if pattern:
        w.add_array("gemma.attention.sliding_window_pattern", [False])
        w.add_custom_alignment(64)
    for name, shape in GG.items():
        w.add_tensor(name, np.zeros(shape, dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def imatrix_file(path, n_expert):
    w = gguf.GGUFWriter(path, "imatrix")
    w.add_type("imatrix"), w.add_array("imatrix.datasets", ["text"]), w.add_uint32("imatrix.chunk_count", 2), w.add_uint32("imatrix.chunk_size", 64)
    w.add_tensor("a.in_sum2", np.arange(4 * n_expert, dtype=np.float32).reshape(n_expert, 4))
    w.add_tensor("a.counts", np.full((n_expert, 1), 128, dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def main():
    out = sys.argv[1]
    os.makedirs(os.path.join(out, "imatrix"), exist_ok=True)
    imatrix_file(os.path.join(out, "imatrix", "one"), 1)
    imatrix_file(os.path.join(out, "imatrix", "experts"), 2)
    save(os.path.join(out, "imatrix"), "old", struct.pack("<ii1sii4fii4s", 1, 1, b"a", 3, 4, 1, 2, 3, 4, 3, 4, b"text"))
    for name, tokens, pattern in (("plain", False, False), ("tokens", True, False), ("pattern", True, True)):
        os.makedirs(os.path.join(out, "gguf"), exist_ok=True)
        gguf_file(os.path.join(out, "gguf", name), tokens, pattern)
    wide_file(os.path.join(out, "gguf", "types"))
    folder = os.path.join(out, "safetensors")
    save(folder, "f32", safetensors("F32", 32))
    save(folder, "bf16", safetensors("BF16", 16, metadata={"format": "pt"}))
    save(folder, "tower", safetensors("F32", 32, extra={"vision_tower.x": [1, 2, 3], "lm_head.weight": [V, D]}))
    save(folder, "index", json.dumps({"metadata": {"total_size": 4}, "weight_map": {"model.norm.weight": "a.safetensors"}}).encode())
    folder = os.path.join(out, "config")
    save(folder, "gemma1", json.dumps(CONFIG).encode())
    save(folder, "gemma2", json.dumps(dict(CONFIG, model_type="gemma2", attn_logit_softcapping=None, final_logit_softcapping=30.0,
                                           sliding_window=8, query_pre_attn_scalar=144, torch_dtype="bfloat16")).encode())
    rope = dict(full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6), sliding_attention=dict(rope_type="default", rope_theta=1e4))
    text = dict(CONFIG, model_type="gemma3_text", num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"], rope_parameters=rope)
    save(folder, "gemma3", json.dumps(dict(model_type="gemma3", architectures=["Gemma3ForConditionalGeneration"], text_config=text,
                                           vision_config=dict(hidden_size=7), eos_token_id=[1, 106])).encode())
    save(folder, "old", json.dumps(dict(CONFIG, model_type="gemma3_text", rope_theta=1e6, rope_local_base_freq=1e4, sliding_window_pattern=6,
                                        rope_scaling=dict(rope_type="linear", factor=8.0))).encode())


if __name__ == "__main__":
    main()
