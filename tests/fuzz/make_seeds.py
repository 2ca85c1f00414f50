#!/usr/bin/env python3
"""Seeds of the targets that read model files and database rows: small valid files, from which the fuzzer starts.

make_seeds.py CORPUS_DIR          needs numpy and gguf; CORPUS_DIR/{gguf,safetensors,config,families,imatrix,index_rows,
                                  log_rows} are made
"""

import json
import os
import struct
import sys

import gguf
import numpy as np

D, H, KV, HD, FF, V = 8, 2, 1, 4, 16, 16
HF = {"model.embed_tokens.weight": [V, D], "model.norm.weight": [D]}
HF |= {
    "model.layers.0." + k: s
    for k, s in {
        "input_layernorm.weight": [D],
        "self_attn.q_proj.weight": [H * HD, D],
        "self_attn.k_proj.weight": [KV * HD, D],
        "self_attn.v_proj.weight": [KV * HD, D],
        "self_attn.o_proj.weight": [D, H * HD],
        "post_attention_layernorm.weight": [D],
        "mlp.gate_proj.weight": [FF, D],
        "mlp.up_proj.weight": [FF, D],
        "mlp.down_proj.weight": [D, FF],
    }.items()
}
GG = {
    "token_embd.weight": [V, D],
    "blk.0.attn_norm.weight": [D],
    "blk.0.attn_q.weight": [H * HD, D],
    "blk.0.attn_k.weight": [KV * HD, D],
    "blk.0.attn_v.weight": [KV * HD, D],
    "blk.0.attn_output.weight": [D, H * HD],
    "blk.0.ffn_norm.weight": [D],
    "blk.0.ffn_gate.weight": [FF, D],
    "blk.0.ffn_up.weight": [FF, D],
    "blk.0.ffn_down.weight": [D, FF],
    "output_norm.weight": [D],
}
CONFIG = dict(
    model_type="gemma",
    vocab_size=V,
    hidden_size=D,
    intermediate_size=FF,
    num_hidden_layers=1,
    num_attention_heads=H,
    num_key_value_heads=KV,
    head_dim=HD,
    max_position_embeddings=64,
)


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
WIDE = {
    "token_embd.weight": ([V, 256], "IQ4_XS"),
    "blk.0.attn_norm.weight": ([256], "F32"),
    "blk.0.attn_q.weight": ([32, 256], "Q4_K"),
    "blk.0.attn_k.weight": ([16, 256], "Q6_K"),
    "blk.0.attn_v.weight": ([16, 256], "Q5_K"),
    "blk.0.attn_output.weight": ([256, 32], "Q5_1"),
    "blk.0.ffn_norm.weight": ([256], "F32"),
    "blk.0.ffn_gate.weight": ([32, 256], "Q2_K"),
    "blk.0.ffn_up.weight": ([32, 256], "Q3_K"),
    "blk.0.ffn_down.weight": ([256, 32], "MXFP4"),
    "output_norm.weight": ([256], "F32"),
}


OTHER = dict(zip(WIDE, ("Q8_0", "F32", "Q4_0", "Q4_1", "Q5_0", "IQ4_NL", "F32", "F16", "BF16", "Q4_0", "F32")))


def wide_file(path, kinds={}):
    w = gguf.GGUFWriter(path, "gemma")
    w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(256), w.add_feed_forward_length(32)
    w.add_head_count(2), w.add_head_count_kv(1), w.add_key_length(16), w.add_value_length(16), w.add_layer_norm_rms_eps(
        1e-6
    )
    for name, (shape, kind) in WIDE.items():
        kind = gguf.GGMLQuantizationType[kinds.get(name, kind)]
        block, size = gguf.GGML_QUANT_SIZES[kind]
        raw = np.zeros(shape[:-1] + [shape[-1] // block * size], dtype=np.uint8)
        w.add_tensor(name, raw, raw_dtype=kind)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def gguf_file(path, with_tokens, pattern):
    w = gguf.GGUFWriter(path, "gemma")
    w.add_block_count(1), w.add_context_length(64), w.add_embedding_length(D), w.add_feed_forward_length(FF)
    w.add_head_count(H), w.add_head_count_kv(KV), w.add_key_length(HD), w.add_value_length(
        HD
    ), w.add_layer_norm_rms_eps(1e-6)
    if with_tokens:
        w.add_token_list([f"t{i}" for i in range(V)]), w.add_token_scores([0.0] * V), w.add_token_types([1] * V)
    if pattern:
        w.add_array("gemma.attention.sliding_window_pattern", [False])
        w.add_custom_alignment(64)
    for name, shape in GG.items():
        w.add_tensor(name, np.zeros(shape, dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


# Gemma 3n and 4: (name in safetensors, name in GGUF, shape); layers of a local and then of global kind, the last may
# share keys.
P, E, USED, EF, ALTUP, LAUREL = 4, 3, 2, 4, 3, 2


def layer_tensors(l, n_layer, is_global, owns, ple, experts, k_is_v, is_3n, split):
    hd = HD if not is_global or is_3n else 2 * HD
    rows = [
        ("input_layernorm.weight", "attn_norm.weight", [D]),
        ("self_attn.q_proj.weight", "attn_q.weight", [H * hd, D]),
        ("self_attn.q_norm.weight", "attn_q_norm.weight", [hd]),
        ("self_attn.o_proj.weight", "attn_output.weight", [D, H * hd]),
        ("post_attention_layernorm.weight", "post_attention_norm.weight", [D]),
        ("pre_feedforward_layernorm.weight", "ffn_norm.weight", [D]),
        ("mlp.gate_proj.weight", "ffn_gate.weight", [FF, D]),
        ("mlp.up_proj.weight", "ffn_up.weight", [FF, D]),
        ("mlp.down_proj.weight", "ffn_down.weight", [D, FF]),
        ("post_feedforward_layernorm.weight", "post_ffw_norm.weight", [D]),
    ]
    if owns:
        rows += [
            ("self_attn.k_proj.weight", "attn_k.weight", [KV * hd, D]),
            ("self_attn.k_norm.weight", "attn_k_norm.weight", [hd]),
        ]
        rows += [] if k_is_v and is_global else [("self_attn.v_proj.weight", "attn_v.weight", [KV * hd, D])]
    if ple:
        rows += [
            ("per_layer_input_gate.weight", "inp_gate.weight", [P, D]),
            ("per_layer_projection.weight", "proj.weight", [D, P]),
            ("post_per_layer_input_norm.weight", "post_norm.weight", [D]),
        ]
    if experts:
        rows += [
            ("router.proj.weight", "ffn_gate_inp.weight", [E, D]),
            ("router.scale", "ffn_gate_inp.scale", [D]),
            ("router.per_expert_scale", "ffn_down_exps.scale", [E]),
            ("experts.down_proj", "ffn_down_exps.weight", [E, D, EF]),
            ("pre_feedforward_layernorm_2.weight", "pre_ffw_norm_2.weight", [D]),
            ("post_feedforward_layernorm_1.weight", "post_ffw_norm_1.weight", [D]),
            ("post_feedforward_layernorm_2.weight", "post_ffw_norm_2.weight", [D]),
        ]
        rows += (
            [("", "ffn_gate_exps.weight", [E, EF, D]), ("", "ffn_up_exps.weight", [E, EF, D])]
            if split
            else [("experts.gate_up_proj", "ffn_gate_up_exps.weight", [E, 2 * EF, D])]
        )
    if is_3n:
        rows += [
            ("altup.router_norm.weight", "altup_router_norm.weight", [D]),
            ("altup.modality_router.weight", "altup_router.weight", [ALTUP, D]),
            ("altup.prediction_coefs.weight", "altup_predict_coef.weight", [ALTUP**2, ALTUP]),
            ("altup.correction_coefs.weight", "altup_correct_coef.weight", [ALTUP, ALTUP]),
            ("altup.correct_output_scale", "altup_correct_scale.weight", [D]),
            ("laurel.linear_left.weight", "laurel_l.weight", [LAUREL, D]),
            ("laurel.linear_right.weight", "laurel_r.weight", [D, LAUREL]),
            ("laurel.post_laurel_norm.weight", "laurel_post_norm.weight", [D]),
        ]
    else:
        rows += [("layer_scalar", "layer_output_scale.weight", [1])]
    return [(f"model.layers.{l}.{hf}" if hf else "", f"blk.{l}.{gg}", shape) for hf, gg, shape in rows]


def family_tensors(n_layer, shared=0, ple=False, experts=False, k_is_v=False, is_3n=False, split=False):
    rows = [
        ("model.embed_tokens.weight", "token_embd.weight", [V, D]),
        ("model.norm.weight", "output_norm.weight", [D]),
    ]
    for l in range(n_layer):
        rows += layer_tensors(l, n_layer, l > 0, l < n_layer - shared, ple, experts, k_is_v, is_3n, split)
    if ple:
        rows += [
            ("model.embed_tokens_per_layer.weight", "per_layer_token_embd.weight", [V, n_layer * P]),
            ("model.per_layer_model_projection.weight", "per_layer_model_proj.weight", [n_layer * P, D]),
            ("model.per_layer_projection_norm.weight", "per_layer_proj_norm.weight", [P]),
        ]
    if is_3n:
        rows += [("", "altup_proj.weight", [ALTUP - 1, D, D]), ("", "altup_unembd_proj.weight", [ALTUP - 1, D, D])]
        for i in range(ALTUP - 1):
            rows += [
                (f"model.altup_projections.{i}.weight", "", [D, D]),
                (f"model.altup_unembed_projections.{i}.weight", "", [D, D]),
            ]
    return rows


FAMILIES = {
    "shared": dict(n_layer=3, shared=1, ple=True),
    "experts": dict(n_layer=2, experts=True, k_is_v=True),
    "split": dict(n_layer=2, experts=True, split=True),
    "streams": dict(n_layer=3, shared=1, ple=True, is_3n=True),
}


def family_gguf(path, spec):
    arch, n = "gemma3n" if spec.get("is_3n") else "gemma4", spec["n_layer"]
    w = gguf.GGUFWriter(path, arch)
    wide = HD if spec.get("is_3n") else 2 * HD
    w.add_block_count(n), w.add_context_length(64), w.add_embedding_length(D), w.add_feed_forward_length(
        FF
    ), w.add_head_count(H)
    w.add_head_count_kv(KV), w.add_key_length(wide), w.add_value_length(wide), w.add_layer_norm_rms_eps(
        1e-6
    ), w.add_sliding_window(4)
    w.add_uint32(f"{arch}.vocab_size", V), w.add_array(
        f"{arch}.attention.sliding_window_pattern", [l == 0 for l in range(n)]
    )
    w.add_uint32(f"{arch}.attention.shared_kv_layers", spec.get("shared", 0))
    w.add_uint32(f"{arch}.embedding_length_per_layer_input", P if spec.get("ple") else 0)
    if spec.get("experts"):
        w.add_expert_count(E), w.add_expert_used_count(USED), w.add_uint32(f"{arch}.expert_feed_forward_length", EF)
    if spec.get("is_3n"):
        w.add_uint32("gemma3n.altup.num_inputs", ALTUP), w.add_uint32("gemma3n.altup.active_idx", 1)
        w.add_array("gemma3n.activation_sparsity_scale", [1.6448534, float("-inf"), float("-inf")])
    else:
        w.add_uint32("gemma4.attention.key_length_swa", HD), w.add_uint32("gemma4.attention.value_length_swa", HD)
        w.add_tensor("rope_freqs.weight", np.array([1.0] + [1e30] * (HD - 1), dtype=np.float32))
    for _, name, shape in family_tensors(**spec):
        if name:
            w.add_tensor(name, np.zeros(shape, dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


def family_config(spec):
    n, full = spec["n_layer"], dict(rope_type="default", rope_theta=1e6)
    kinds = ["sliding_attention"] + ["full_attention"] * (n - 1)
    c = dict(
        CONFIG,
        model_type="gemma3n_text" if spec.get("is_3n") else "gemma4_text",
        num_hidden_layers=n,
        layer_types=kinds,
        sliding_window=4,
        num_kv_shared_layers=spec.get("shared", 0),
        hidden_size_per_layer_input=P if spec.get("ple") else 0,
        vocab_size_per_layer_input=V,
        rope_parameters=dict(full_attention=full, sliding_attention=dict(rope_type="default", rope_theta=1e4)),
    )
    if spec.get("is_3n"):
        return dict(
            c,
            altup_num_inputs=ALTUP,
            altup_active_idx=1,
            altup_coef_clip=120.0,
            laurel_rank=LAUREL,
            activation_sparsity_pattern=[0.95, 0.0, 0.0],
        )
    c["rope_parameters"]["full_attention"] = dict(rope_type="proportional", partial_rotary_factor=0.25, rope_theta=1e6)
    c["per_layer_config"] = {str(l): dict(head_dim=2 * HD) for l in range(1, n)}
    if spec.get("experts"):
        c.update(
            enable_moe_block=True,
            num_experts=E,
            top_k_experts=USED,
            moe_intermediate_size=EF,
            attention_k_eq_v=bool(spec.get("k_is_v")),
        )
    return c


def family_safetensors(spec):
    head, at = {}, 0
    for name, _, shape in family_tensors(**spec):
        if name:
            n = 2 * int(np.prod(shape))
            head[name] = dict(dtype="BF16", shape=shape, data_offsets=[at, at + n])
            at += n
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(at)


def imatrix_file(path, n_expert):
    w = gguf.GGUFWriter(path, "imatrix")
    w.add_type("imatrix"), w.add_array("imatrix.datasets", ["text"]), w.add_uint32(
        "imatrix.chunk_count", 2
    ), w.add_uint32("imatrix.chunk_size", 64)
    w.add_tensor("a.in_sum2", np.arange(4 * n_expert, dtype=np.float32).reshape(n_expert, 4))
    w.add_tensor("a.counts", np.full((n_expert, 1), 128, dtype=np.float32))
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


# Database rows, as fuzz_rows.h reads them: each table gets one value of each kind, in a column that moves on.
NULL, INTEGER, BORDER, REAL, TEXT, BLOB, FRAME, EDIT, CUT, DELETE = range(10)
ARGUMENTS = {
    NULL: b"",
    INTEGER: struct.pack("<q", -2),
    BORDER: bytes([63, 0xFF]),
    REAL: struct.pack("<d", 1e300),
    TEXT: struct.pack("<H", 4) + b"a\xff\x1bc",
    BLOB: struct.pack("<H", 3) + b"\0\xff\x7f",
    FRAME: struct.pack("<H", 4) + b"\x01\xff\xff\x7f",
    EDIT: struct.pack("<HH", 1, 2) + b"\xff\x7f",
    CUT: struct.pack("<H", 2),
    DELETE: b"",
}


def row_seeds(folder, n_table):
    for table in range(n_table):
        for kind, argument in ARGUMENTS.items():
            step = bytes([table, table + kind, table + kind, kind]) + argument
            save(folder, f"table{table}_kind{kind}", bytes([kind & 1]) + step)


def terminal_seed(folder):
    """A record whose words have escape sequences, in the newest run."""
    record = dict(
        report=dict(
            findings=[dict(file="a", rule="x\033[2J", severity="h", status="s")],
            finish_reason="e\033",
        ),
        exchanges=[dict(kind="k\033", finish="f\033")],
        dropped=[dict(path="p", rule="r\033")],
    )
    text = json.dumps(record).encode()
    save(folder, "terminal", bytes([0, 0, 2, 6, TEXT]) + struct.pack("<H", len(text)) + text)


def main():
    out = sys.argv[1]
    row_seeds(os.path.join(out, "index_rows"), 17)
    row_seeds(os.path.join(out, "log_rows"), 4)
    terminal_seed(os.path.join(out, "log_rows"))
    os.makedirs(os.path.join(out, "imatrix"), exist_ok=True)
    imatrix_file(os.path.join(out, "imatrix", "one"), 1)
    imatrix_file(os.path.join(out, "imatrix", "experts"), 2)
    save(os.path.join(out, "imatrix"), "old", struct.pack("<ii1sii4fii4s", 1, 1, b"a", 3, 4, 1, 2, 3, 4, 3, 4, b"text"))
    for name, tokens, pattern in (("plain", False, False), ("tokens", True, False), ("pattern", True, True)):
        os.makedirs(os.path.join(out, "gguf"), exist_ok=True)
        gguf_file(os.path.join(out, "gguf", name), tokens, pattern)
    wide_file(os.path.join(out, "gguf", "types"))
    wide_file(os.path.join(out, "gguf", "types2"), OTHER)
    for name, spec in FAMILIES.items():
        family_gguf(os.path.join(out, "gguf", name), spec)
        config = json.dumps(family_config(spec)).encode()
        save(os.path.join(out, "config"), name, config)
        if not spec.get("split"):  # of GGUF alone
            save(os.path.join(out, "families"), name, config + b"\0" + family_safetensors(spec))
    folder = os.path.join(out, "safetensors")
    save(folder, "f32", safetensors("F32", 32))
    save(folder, "bf16", safetensors("BF16", 16, metadata={"format": "pt"}))
    save(folder, "tower", safetensors("F32", 32, extra={"vision_tower.x": [1, 2, 3], "lm_head.weight": [V, D]}))
    save(
        folder,
        "index",
        json.dumps({"metadata": {"total_size": 4}, "weight_map": {"model.norm.weight": "a.safetensors"}}).encode(),
    )
    folder = os.path.join(out, "config")
    save(folder, "gemma1", json.dumps(CONFIG).encode())
    save(
        folder,
        "gemma2",
        json.dumps(
            dict(
                CONFIG,
                model_type="gemma2",
                attn_logit_softcapping=None,
                final_logit_softcapping=30.0,
                sliding_window=8,
                query_pre_attn_scalar=144,
                torch_dtype="bfloat16",
            )
        ).encode(),
    )
    rope = dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6),
        sliding_attention=dict(rope_type="default", rope_theta=1e4),
    )
    text = dict(
        CONFIG,
        model_type="gemma3_text",
        num_hidden_layers=2,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters=rope,
    )
    save(
        folder,
        "gemma3",
        json.dumps(
            dict(
                model_type="gemma3",
                architectures=["Gemma3ForConditionalGeneration"],
                text_config=text,
                vision_config=dict(hidden_size=7),
                eos_token_id=[1, 106],
            )
        ).encode(),
    )
    save(
        folder,
        "old",
        json.dumps(
            dict(
                CONFIG,
                model_type="gemma3_text",
                rope_theta=1e6,
                rope_local_base_freq=1e4,
                sliding_window_pattern=6,
                rope_scaling=dict(rope_type="linear", factor=8.0),
            )
        ).encode(),
    )


if __name__ == "__main__":
    main()
