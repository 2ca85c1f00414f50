#!/usr/bin/env python3
"""Tiny random Gemma models and what transformers computes with them: tests/golden/models/NAME/.

  config.json, model*.safetensors   the model, in one of the spellings and layouts that uploads use
  golden.bin                        little endian: u32 magic 0x4f47594d, n_tok, n_layer, d_model, n_vocab; i32 ids[n_tok];
                                    f32 logits[n_tok][n_vocab] after the final cap; f32 residual[n_layer + 1][n_tok][d_model],
                                    0 = scaled embedding, i = after the i-th layer, not normed

Reference: transformers, float32 from construction on, eager attention, no cache, weights rounded to the stored type first. Fresh
weights would hide errors (norms at 0, no cap bites), so every tensor is overwritten. The script checks itself: each directory is
loaded again by transformers from its files with the same logits, and for each feature a model has (window, caps, score scale, rope
bases and factor, layer pattern) changing it must move some logit by 1e-2 of the largest.

Usage: make_models.py [NAME...]      needs torch, transformers >= 5.23, safetensors
"""

import copy
import json
import pathlib
import shutil
import struct
import sys

import torch
from safetensors.torch import save_file
from safetensors.torch import load_file
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3Config,
    Gemma3ForCausalLM,
    Gemma3ForConditionalGeneration,
    Gemma3nForCausalLM,
    Gemma3nTextConfig,
    Gemma3TextConfig,
    Gemma4ForCausalLM,
    Gemma4TextConfig,
    Gemma4UnifiedForCausalLM,
    Gemma4UnifiedTextConfig,
    GemmaConfig,
    GemmaForCausalLM,
)

OUT = pathlib.Path(__file__).resolve().parent / "models"
MAGIC = 0x4F47594D
CLASSES = {
    "gemma": (GemmaConfig, GemmaForCausalLM),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM),
    "gemma3_text": (Gemma3TextConfig, Gemma3ForCausalLM),
    "gemma4_text": (Gemma4TextConfig, Gemma4ForCausalLM),
    "gemma3n_text": (Gemma3nTextConfig, Gemma3nForCausalLM),
    "gemma4_unified_text": (Gemma4UnifiedTextConfig, Gemma4UnifiedForCausalLM),
}
ARCHITECTURE = {name: pair[1].__name__ for name, pair in CLASSES.items()}
DTYPE = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
LOCAL, GLOBAL = "sliding_attention", "full_attention"


def alternate(n):
    return [LOCAL if i % 2 == 0 else GLOBAL for i in range(n)]


def period(n, p):
    return [GLOBAL if (i + 1) % p == 0 else LOCAL for i in range(n)]


def shape(d, ff, n_layer, h, kv, hd, vocab):
    return dict(
        hidden_size=d,
        intermediate_size=ff,
        num_hidden_layers=n_layer,
        num_attention_heads=h,
        num_key_value_heads=kv,
        head_dim=hd,
        vocab_size=vocab,
    )


def rope3(base=1e6, local=1e4, factor=None):
    full = (
        {"rope_type": "default", "rope_theta": base}
        if factor is None
        else {"rope_type": "linear", "rope_theta": base, "factor": factor}
    )
    return {GLOBAL: full, LOCAL: {"rope_type": "default", "rope_theta": local}}


def flat(kw):
    return dict(kw, rope_parameters={"rope_type": "default", "rope_theta": 1e4})


LINEAR = {"rope_type": "linear", "rope_theta": 1e2, "factor": 8.0}


def gemma1(*dims, **kw):
    return dict(flat(shape(*dims)), hidden_act="gelu_pytorch_tanh", **kw)


def gemma2(*dims, window, scale, attn_cap, cap):
    return dict(
        flat(shape(*dims)),
        sliding_window=window,
        query_pre_attn_scalar=scale,
        attn_logit_softcapping=attn_cap,
        final_logit_softcapping=cap,
        layer_types=alternate(dims[2]),
    )


def gemma3(*dims, window, scale, rope, layers, **kw):
    return dict(
        shape(*dims), sliding_window=window, query_pre_attn_scalar=scale, rope_parameters=rope, layer_types=layers, **kw
    )


def rope4(part=0.25, base=1e6, local=1e4):
    full = (
        {"rope_type": "proportional", "partial_rotary_factor": part, "rope_theta": base}
        if part
        else {"rope_type": "default", "rope_theta": base}
    )
    return {GLOBAL: full, LOCAL: {"rope_type": "default", "rope_theta": local}}


def gemma4(
    *dims,
    window,
    layers,
    wide,
    kv_global=None,
    k_is_v=False,
    rope=None,
    cap=None,
    shared=0,
    double=False,
    ple=0,
    experts=None,
    **kw,
):
    """wide, kv_global: width and number of key heads of global layers; experts: (all, used, width)."""
    out = dict(
        shape(*dims),
        sliding_window=window,
        layer_types=layers,
        rope_parameters=rope or rope4(),
        final_logit_softcapping=cap,
        attention_k_eq_v=k_is_v,
        num_kv_shared_layers=shared,
        use_double_wide_mlp=double,
        global_head_dim=wide,
        hidden_size_per_layer_input=ple,
        vocab_size_per_layer_input=dims[6],
        **kw,
    )
    if kv_global:
        out["num_global_key_value_heads"] = kv_global
    if experts:
        out.update(
            enable_moe_block=True, num_experts=experts[0], top_k_experts=experts[1], moe_intermediate_size=experts[2]
        )
    return out


def gemma3n(
    *dims, window, layers, rank, ple, shared=0, sparse=0, streams=4, cap=None, rope=None, ff=None, ple_rows=None, **kw
):
    """sparse: how many layers from the first on; ff: widths of the layers, where they differ; ple_rows: fewer than there are ids."""
    out = dict(
        shape(*dims),
        sliding_window=window,
        layer_types=layers,
        rope_parameters=rope or rope3(),
        num_kv_shared_layers=shared,
        hidden_size_per_layer_input=ple,
        vocab_size_per_layer_input=ple_rows or dims[6],
        laurel_rank=rank,
        altup_num_inputs=streams,
        activation_sparsity_pattern=[0.95] * sparse + [0.0] * (dims[2] - sparse),
        **kw,
    )
    out.update(dict(intermediate_size=ff) if ff else {}, **(dict(final_logit_softcapping=cap) if cap else {}))
    return out


OLD1 = dict(rope_parameters=None, rope_theta=10000.0)
OLD2 = dict(OLD1, layer_types=None)


def old3(base, local, factor=None, **kw):
    scaling = None if factor is None else {"rope_type": "linear", "factor": factor}
    return dict(
        rope_parameters=None, layer_types=None, rope_theta=base, rope_local_base_freq=local, rope_scaling=scaling, **kw
    )


# n tokens; store = type in the file; kw = the configuration that transformers takes (d, ff, layers, heads, kv heads,
# head_dim, vocab); disk = keys of config.json that replace (None: drop) those; nesting = prefix of a multimodal
# checkpoint; lm_head = a copy of the embedding
MODELS = {
    # Gemma 1: all layers global, two norms a layer, score scale head_dim^-1/2
    "gemma1-mqa": dict(
        type="gemma",
        n=26,
        store="f32",
        kw=gemma1(32, 64, 3, 4, 1, 16, 160),
        disk=dict(OLD1, hidden_act="gelu", hidden_activation=None),
    ),
    "gemma1-mha": dict(type="gemma", n=33, store="bf16", kw=gemma1(48, 80, 2, 3, 3, 16, 151)),
    "codegemma": dict(
        type="gemma",
        n=29,
        store="f16",
        disk=OLD1,
        lm_head=True,
        kw=gemma1(32, 96, 3, 2, 1, 32, 144, bos_token_id=2, eos_token_id=1),
    ),
    # Gemma 2: alternating from local, both caps, score scale not head_dim^-1/2
    "gemma2-gqa": dict(
        type="gemma2", n=25, store="f32", kw=gemma2(32, 64, 4, 4, 2, 16, 157, window=6, scale=10, attn_cap=2.5, cap=4.0)
    ),
    "gemma2-scale": dict(
        type="gemma2",
        n=29,
        store="bf16",
        shards=3,
        kw=gemma2(48, 96, 5, 6, 2, 16, 170, window=7, scale=8, attn_cap=3.0, cap=3.0),
    ),
    # no layer_types, no pattern key: the family's own alternation
    "gemma2-old": dict(
        type="gemma2",
        n=21,
        store="f16",
        disk=OLD2,
        lm_head=True,
        kw=gemma2(64, 64, 4, 4, 1, 32, 128, window=5, scale=144, attn_cap=1.0, cap=5.0),
    ),
    "gemma2-nocap": dict(
        type="gemma2", n=20, store="f32", kw=gemma2(32, 48, 3, 4, 4, 8, 130, window=9, scale=8, attn_cap=None, cap=None)
    ),
    # Gemma 3: head norms, two rope bases, period 6
    "gemma3-mqa": dict(
        type="gemma3_text",
        n=33,
        store="bf16",
        disk=old3(1e6, 1e4, sliding_window_pattern=6),
        kw=gemma3(32, 64, 7, 4, 1, 16, 160, window=8, scale=16, rope=rope3(), layers=period(7, 6)),
    ),
    "gemma3-gqa-linear": dict(
        type="gemma3_text",
        n=26,
        store="bf16",
        disk=old3(1e3, 1e2, 8.0, sliding_window_pattern=6),
        kw=gemma3(48, 48, 7, 6, 2, 16, 149, window=5, scale=11, rope=rope3(1e3, 1e2, 8.0), layers=period(7, 6)),
    ),
    "gemma3-linear-new": dict(
        type="gemma3_text",
        n=33,
        store="f16",
        kw=gemma3(32, 64, 6, 4, 2, 16, 131, window=8, scale=21, rope=rope3(2e3, 5e1, 8.0), layers=period(6, 3)),
    ),
    # an explicit list wins over the pattern key that transformers writes beside it; the attention cap is ignored, the
    # final one obeyed
    "gemma3-layers": dict(
        type="gemma3_text",
        n=37,
        store="f32",
        disk=dict(_sliding_window_pattern=6, attn_logit_softcapping=0.5),
        kw=gemma3(
            32,
            32,
            4,
            2,
            1,
            32,
            140,
            window=9,
            scale=7,
            rope=rope3(),
            layers=[GLOBAL, LOCAL, LOCAL, GLOBAL],
            final_logit_softcapping=2.0,
        ),
    ),
    # every layer local, one window long; no pattern key: the family's period
    "gemma3-local": dict(
        type="gemma3_text",
        n=9,
        store="f32",
        disk=old3(1e6, 1e4),
        kw=gemma3(48, 64, 3, 4, 4, 16, 129, window=9, scale=16, rope=rope3(), layers=period(3, 6)),
    ),
    "gemma3-sharded": dict(
        type="gemma3_text",
        n=31,
        store="f16",
        shards=4,
        kw=gemma3(64, 64, 3, 4, 2, 32, 200, window=7, scale=12, rope=rope3(1e4, 1e2), layers=period(3, 2)),
    ),
    "gemma3-deep": dict(
        type="gemma3_text",
        n=29,
        store="bf16",
        kw=gemma3(32, 32, 13, 2, 1, 16, 133, window=7, scale=16, rope=rope3(), layers=period(13, 6)),
    ),
    # multimodal checkpoints: text_config, the two nestings of names, vision tensors to be skipped
    "gemma3-mm": dict(
        type="gemma3_text",
        n=29,
        store="bf16",
        nesting="language_model.model.",
        disk=old3(1e3, 1e2, 8.0, sliding_window_pattern=6),
        kw=gemma3(32, 64, 7, 4, 2, 16, 203, window=7, scale=16, rope=rope3(1e3, 1e2, 8.0), layers=period(7, 6)),
    ),
    "gemma3-mm-new": dict(
        type="gemma3_text",
        n=25,
        store="f32",
        nesting="model.language_model.",
        shards=2,
        lm_head=True,
        kw=gemma3(32, 32, 3, 4, 1, 16, 211, window=6, scale=16, rope=rope3(1e3, 1e2, 8.0), layers=period(3, 2)),
    ),
    # Gemma 4: the last layer is global; heads of two widths, part of the wide ones rotated, layer scalars, no 1 + w;
    # disk = None: what transformers writes (per_layer_config); dead: K and V tensors of layers that read another's
    "gemma4-unified": dict(
        type="gemma4_unified_text",
        n=25,
        store="f32",
        kw=gemma4(32, 64, 4, 4, 2, 16, 150, window=6, layers=period(4, 2), wide=32, kv_global=1, k_is_v=True, cap=3.0),
    ),
    "gemma4-dense-new": dict(
        type="gemma4_text",
        n=29,
        store="bf16",
        disk=None,
        kw=gemma4(48, 80, 5, 6, 3, 16, 141, window=7, layers=period(5, 3), wide=32, rope=rope4(0.5, 1e4, 1e2)),
    ),
    "gemma4-mm": dict(
        type="gemma4_text",
        n=27,
        store="f16",
        nesting="model.language_model.",
        shards=2,
        lm_head=True,
        kw=gemma4(32, 48, 6, 4, 2, 16, 137, window=8, layers=period(6, 3), wide=48, kv_global=2, k_is_v=True, cap=4.0),
    ),
    "gemma4-even": dict(
        type="gemma4_unified_text",
        n=22,
        store="f32",
        disk=None,
        kw=gemma4(
            48,
            64,
            4,
            4,
            4,
            16,
            133,
            window=8,
            layers=[GLOBAL, LOCAL, LOCAL, GLOBAL],
            wide=16,
            k_is_v=True,
            rope=rope4(0, 1e4, 1e2),
        ),
    ),
    "gemma4-e": dict(
        type="gemma4_text",
        n=31,
        store="f32",
        dead=True,
        kw=gemma4(
            32, 48, 8, 4, 1, 16, 145, window=6, layers=period(8, 2), wide=32, cap=4.0, shared=4, double=True, ple=8
        ),
    ),
    "gemma4-e-new": dict(
        type="gemma4_text",
        n=26,
        store="bf16",
        disk=None,
        kw=gemma4(32, 64, 9, 4, 2, 16, 139, window=9, layers=period(9, 3), wide=32, shared=3, ple=16),
    ),
    "gemma4-e-mm": dict(
        type="gemma4_text",
        n=24,
        store="bf16",
        nesting="model.language_model.",
        dead=True,
        kw=gemma4(
            32, 32, 6, 2, 1, 16, 151, window=5, layers=period(6, 2), wide=32, cap=3.0, shared=3, double=True, ple=8
        ),
    ),
    "gemma4-shared": dict(
        type="gemma4_unified_text",
        n=28,
        store="f32",
        kw=gemma4(32, 64, 7, 4, 2, 16, 129, window=7, layers=period(7, 3), wide=32, kv_global=1, k_is_v=True, shared=3),
    ),
    "gemma4-ple": dict(
        type="gemma4_text",
        n=21,
        store="f16",
        kw=gemma4(32, 48, 3, 4, 2, 16, 147, window=6, layers=period(3, 3), wide=32, ple=8),
    ),
    "gemma4-moe": dict(
        type="gemma4_text",
        n=27,
        store="f32",
        kw=gemma4(
            32,
            40,
            4,
            4,
            2,
            16,
            143,
            window=6,
            layers=period(4, 2),
            wide=32,
            kv_global=1,
            k_is_v=True,
            cap=3.0,
            experts=(8, 2, 16),
        ),
    ),
    "gemma4-moe-new": dict(
        type="gemma4_text",
        n=23,
        store="bf16",
        disk=None,
        kw=gemma4(32, 32, 3, 4, 2, 16, 131, window=7, layers=period(3, 3), wide=32, experts=(5, 3, 24)),
    ),
    # Gemma 3n: streams, Laurel, per-layer inputs, a sparse gate, layers that read another's keys
    "gemma3n": dict(
        type="gemma3n_text",
        n=27,
        store="bf16",
        disk=None,
        kw=gemma3n(
            32, 192, 6, 4, 2, 16, 150, window=6, layers=period(6, 2), rank=8, ple=8, shared=2, sparse=2, cap=3.0
        ),
    ),
    "gemma3n-old": dict(
        type="gemma3n_text",
        n=25,
        store="bf16",
        disk=dict(rope_parameters=None, rope_theta=1e4, rope_local_base_freq=1e2, rope_scaling=None),
        kw=gemma3n(
            48,
            192,
            5,
            6,
            3,
            16,
            139,
            window=7,
            layers=period(5, 5),
            rank=5,
            ple=16,
            rope=rope3(1e4, 1e2),
            sparse=3,
            ff=[192, 224, 192, 256, 192],
        ),
    ),
    "gemma3n-two": dict(
        type="gemma3n_text",
        n=22,
        store="f32",
        kw=gemma3n(
            32,
            192,
            3,
            4,
            1,
            16,
            133,
            window=8,
            layers=period(3, 3),
            rank=16,
            ple=8,
            streams=2,
            altup_correct_scale=False,
        ),
    ),
    "gemma3n-mm": dict(
        type="gemma3n_text",
        n=24,
        store="f16",
        nesting="model.language_model.",
        shards=2,
        dead=True,
        kw=gemma3n(
            32, 192, 6, 2, 2, 32, 137, window=5, layers=period(6, 3), rank=8, ple=8, shared=3, sparse=1, cap=4.0
        ),
    ),
    "gemma3n-active": dict(
        type="gemma3n_text",
        n=21,
        store="bf16",
        kw=gemma3n(
            32,
            192,
            4,
            4,
            2,
            16,
            131,
            window=6,
            layers=period(4, 2),
            rank=8,
            ple=8,
            streams=3,
            sparse=4,
            altup_active_idx=1,
        ),
    ),
    # ids that the table of per-layer embeddings has no row for take its first
    "gemma3n-pad": dict(
        type="gemma3n_text",
        n=23,
        store="f16",
        kw=gemma3n(
            32, 192, 4, 4, 2, 16, 150, window=6, layers=period(4, 2), rank=8, ple=8, sparse=1, shared=1, ple_rows=100
        ),
    ),
    # sizes that are multiples of nothing
    "gemma3-odd": dict(
        type="gemma3_text",
        n=31,
        store="f32",
        kw=gemma3(38, 54, 4, 2, 1, 10, 127, window=7, scale=9, rope=rope3(1e3, 1e2, 8.0), layers=period(4, 3)),
    ),
    "gemma4-odd": dict(
        type="gemma4_text",
        n=27,
        store="bf16",
        kw=gemma4(
            38,
            54,
            4,
            2,
            2,
            10,
            127,
            window=5,
            layers=period(4, 2),
            wide=14,
            kv_global=1,
            k_is_v=True,
            cap=3.0,
            rope=rope4(0.5),
        ),
    ),
    "gemma3n-odd": dict(
        type="gemma3n_text",
        n=23,
        store="bf16",
        kw=gemma3n(38, 198, 4, 2, 1, 10, 127, window=5, layers=period(4, 2), rank=7, ple=6, shared=1, sparse=2),
    ),
    # switches in the other position: groups of two, one cap of the two, no local layer, one expert and all of them
    "gemma1-gqa": dict(type="gemma", n=20, store="bf16", kw=gemma1(32, 48, 2, 4, 2, 16, 131)),
    "gemma2-attncap": dict(
        type="gemma2",
        n=21,
        store="bf16",
        kw=gemma2(32, 48, 2, 4, 4, 16, 131, window=7, scale=16, attn_cap=1.5, cap=None),
    ),
    "gemma2-finalcap": dict(
        type="gemma2",
        n=21,
        store="bf16",
        kw=gemma2(32, 48, 2, 4, 1, 16, 127, window=6, scale=16, attn_cap=None, cap=3.0),
    ),
    "gemma3-global": dict(
        type="gemma3_text",
        n=22,
        store="bf16",
        kw=gemma3(32, 48, 3, 4, 2, 16, 131, window=6, scale=16, rope=rope3(1e3, 1e2), layers=[GLOBAL] * 3),
    ),
    "gemma4-global": dict(
        type="gemma4_text",
        n=22,
        store="bf16",
        kw=gemma4(32, 48, 3, 4, 2, 16, 127, window=6, layers=[GLOBAL] * 3, wide=32, rope=rope4(0.5, 1e4)),
    ),
    "gemma4-moe-one": dict(
        type="gemma4_text",
        n=24,
        store="bf16",
        kw=gemma4(
            32,
            40,
            2,
            4,
            2,
            16,
            131,
            window=6,
            layers=period(2, 2),
            wide=32,
            kv_global=1,
            k_is_v=True,
            experts=(5, 1, 20),
        ),
    ),
    "gemma4-moe-all": dict(
        type="gemma4_text",
        n=21,
        store="bf16",
        kw=gemma4(32, 24, 2, 4, 2, 16, 127, window=7, layers=period(2, 2), wide=16, cap=4.0, experts=(3, 3, 12)),
    ),
    # families with one set of rope parameters: all layers are scaled, local ones too
    "gemma1-linear": dict(
        type="gemma",
        n=30,
        store="f32",
        disk=dict(rope_parameters=None, rope_theta=1e2, rope_scaling={"type": "linear", "factor": 8.0}),
        kw=dict(gemma1(32, 48, 2, 4, 1, 16, 131), rope_parameters=LINEAR),
    ),
    "gemma2-linear": dict(
        type="gemma2",
        n=30,
        store="bf16",
        kw=dict(
            gemma2(32, 48, 3, 4, 2, 16, 127, window=9, scale=16, attn_cap=3.0, cap=4.0), rope_parameters=LINEAR
        ),
    ),
}
VISION = dict(
    hidden_size=16,
    intermediate_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    image_size=8,
    patch_size=4,
    num_channels=3,
    vision_use_head=False,
)


def build(spec, seed, kw=None):
    """The reference model, float32 and eager from construction on, every tensor random and rounded to the stored type."""
    cfg_class, model_class = CLASSES[spec["type"]]
    kw = dict(kw or spec["kw"], max_position_embeddings=512, tie_word_embeddings=True, attn_implementation="eager")
    if spec.get("nesting") and spec["type"] == "gemma3_text":
        cfg = Gemma3Config(
            text_config=kw,
            vision_config=VISION,
            mm_tokens_per_image=4,
            image_token_index=kw["vocab_size"] - 1,
            boi_token_index=kw["vocab_size"] - 2,
            eoi_token_index=kw["vocab_size"] - 3,
            attn_implementation="eager",
        )
        model_class = Gemma3ForConditionalGeneration
    else:
        cfg = cfg_class(**kw)
    model = model_class(cfg).eval()
    gen = torch.Generator().manual_seed(seed)
    done, is_plain = set(), spec["type"].startswith(("gemma3n", "gemma4"))  # norms hold w, not w - 1
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            if p.data_ptr() in done:
                continue
            done.add(p.data_ptr())
            if is_plain and ("q_norm" in name or "k_norm" in name):
                v = (
                    torch.rand(p.shape, generator=gen) * 0.5 + 0.3
                )  # the scores are not scaled: wide ones would only show rounding
            elif is_plain and ("norm" in name or name.endswith("scale")):
                v = torch.rand(p.shape, generator=gen) + 0.5
            elif name.endswith("coefs.weight"):
                v = (
                    torch.randn(p.shape, generator=gen) * 0.05
                )  # streams that amplify each other would only show rounding
            elif "modality_router" in name:
                v = torch.randn(p.shape, generator=gen) * 3.0
            elif "norm" in name:
                v = torch.rand(p.shape, generator=gen) * 1.4 - 0.6
            elif "embed_tokens" in name:
                v = torch.randn(p.shape, generator=gen) * 0.35
            else:
                v = torch.randn(p.shape, generator=gen) * 1.3 / p.shape[-1] ** 0.5
            p.copy_(v.to(DTYPE[spec["store"]]).float())
        for name, b in sorted(model.named_buffers()):
            if name.endswith("layer_scalar"):
                b.copy_((torch.rand(b.shape, generator=gen) * 0.7 + 0.5).to(DTYPE[spec["store"]]).float())
    assert all(p.dtype == torch.float32 for p in model.parameters())
    return model


def text_part(model):
    return model.model.language_model if hasattr(model.model, "language_model") else model.model


def run(model, ids):
    text, kept, hooks = text_part(model), [], []
    own = getattr(text.config, "altup_active_idx", 0)

    def stream(x, i):  # of 3n's streams: the embedding, then the active one
        return (x[i] if x.dim() == 4 else x).detach().clone()

    def first(_, args, kwargs):
        kept.append(stream(args[0] if args else kwargs["hidden_states"], 0))

    hooks.append(text.layers[0].register_forward_pre_hook(first, with_kwargs=True))
    for layer in text.layers:
        hooks.append(
            layer.register_forward_hook(lambda m, a, o: kept.append(stream(o[0] if isinstance(o, tuple) else o, own)))
        )
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    for h in hooks:
        h.remove()
    residual = torch.stack([k.reshape(len(ids), -1) for k in kept])
    assert residual.shape[0] == len(text.layers) + 1 and logits.dtype == residual.dtype == torch.float32
    return logits, residual


def check_sensitivity(name, spec, seed, ids, logits):
    """Each fact of the configuration that the engine must obey moves the result, so that a golden can fail."""
    kw, scale, variants = spec["kw"], logits.abs().max().item(), {}
    has_local = LOCAL in kw.get("layer_types", [])
    if kw.get("sliding_window") and has_local and len(ids) > kw["sliding_window"]:
        variants["window"] = dict(sliding_window=kw["sliding_window"] + 1)
    for key in ("attn_logit_softcapping", "final_logit_softcapping"):
        if kw.get(key):
            variants[key] = {key: 1e3 if spec["type"] == "gemma3n_text" else None}
    if kw.get("query_pre_attn_scalar"):
        scalar, hd = kw["query_pre_attn_scalar"], kw["head_dim"]
        variants["scale"] = dict(query_pre_attn_scalar=hd if scalar != hd else 2 * hd)
    if kw.get("num_kv_shared_layers") and kw.get("use_double_wide_mlp") is False:
        variants["sharing"] = dict(num_kv_shared_layers=kw["num_kv_shared_layers"] - 1)
    if spec["type"] == "gemma3n_text":
        variants["correction scale"] = dict(altup_correct_scale=not kw.get("altup_correct_scale", True))
        if kw["num_kv_shared_layers"]:
            variants["sharing"] = dict(num_kv_shared_layers=kw["num_kv_shared_layers"] - 1)
        if any(kw["activation_sparsity_pattern"]):
            variants["sparsity"] = dict(
                activation_sparsity_pattern=[0.9 if v else 0.0 for v in kw["activation_sparsity_pattern"]]
            )
    if kw.get("enable_moe_block"):
        variants["experts used"] = dict(top_k_experts=kw["top_k_experts"] - 1 or 2)
    if (
        kw.get("layer_types")
        and has_local
        and len(ids) > kw["sliding_window"]
        and "global_head_dim" not in kw
        and not kw.get("num_kv_shared_layers")
    ):
        variants["pattern"] = dict(
            layer_types=kw["layer_types"][1:] + [GLOBAL if kw["layer_types"][0] == LOCAL else LOCAL]
        )
    rope = kw["rope_parameters"]
    for part in (rope if GLOBAL in rope else [None]):
        if part and part not in kw["layer_types"]:
            continue
        changed = copy.deepcopy(rope)
        (changed[part] if part else changed)["rope_theta"] *= 3
        variants[f"rope {part}"] = dict(rope_parameters=changed)
        if part and "partial_rotary_factor" in rope[part]:
            changed = copy.deepcopy(rope)
            changed[part]["partial_rotary_factor"] *= 2
            variants["rotated part"] = dict(rope_parameters=changed)
        if "factor" in (rope[part] if part else rope):
            changed = copy.deepcopy(rope)
            (changed[part] if part else changed)["factor"] = 4.0
            variants["rope factor"] = dict(rope_parameters=changed)
    moved = {}
    for what, change in variants.items():
        other, _ = run(build(spec, seed, dict(kw, **change)), ids)
        moved[what] = (other - logits).abs().max().item() / scale
    if kw.get("vocab_size_per_layer_input", kw["vocab_size"]) < kw["vocab_size"]:
        model = build(spec, seed, kw)
        with torch.no_grad():
            text_part(model).embed_tokens_per_layer.weight[0].neg_()  # no id is 0
        moved["row of the ids without one"] = (run(model, ids)[0] - logits).abs().max().item() / scale
    for what, m in moved.items():
        assert m > 1e-2, f"{name}: changing {what} moves the logits by {m:.1e} only"
    return min(moved.values())


def disk_config(model, spec):
    torch_dtype = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}[spec["store"]]
    if "disk" in spec and spec["disk"] is None:
        return dict(model.config.to_dict(), architectures=[ARCHITECTURE[spec["type"]]], dtype=torch_dtype)
    cfg = dict(spec["kw"])
    for key, value in spec.get("disk", {}).items():
        cfg.pop(key, None)
        if value is not None or key in ("rope_scaling", "hidden_activation"):
            cfg[key] = value
    cfg = dict(
        cfg,
        max_position_embeddings=512,
        rms_norm_eps=1e-6,
        tie_word_embeddings=True,
        attention_bias=False,
        attention_dropout=0.0,
        initializer_range=0.02,
        use_cache=True,
    )
    if "hidden_act" not in cfg:
        cfg["hidden_activation"] = "gelu_pytorch_tanh"
    if not spec.get("nesting"):
        return dict(architectures=[ARCHITECTURE[spec["type"]]], model_type=spec["type"], **cfg, torch_dtype=torch_dtype)
    if spec["type"] != "gemma3_text":
        family = spec["type"].removesuffix("_text")
        return dict(
            architectures=[family.capitalize() + "ForConditionalGeneration"],
            model_type=family,
            text_config=dict(model_type=spec["type"], **cfg),
            vision_config=dict(model_type=family + "_vision"),
            dtype=torch_dtype,
        )
    c = model.config
    return dict(
        architectures=["Gemma3ForConditionalGeneration"],
        model_type="gemma3",
        text_config=dict(model_type="gemma3_text", **cfg),
        vision_config=dict(model_type="siglip_vision_model", **VISION),
        mm_tokens_per_image=4,
        image_token_index=c.image_token_index,
        boi_token_index=c.boi_token_index,
        eoi_token_index=c.eoi_token_index,
        torch_dtype=torch_dtype,
    )


def dead_tensors(spec):
    """Keys and values of layers that read another's: some uploads hold them, nothing reads them."""
    kw, out = spec["kw"], {}
    for l in range(kw["num_hidden_layers"] - kw["num_kv_shared_layers"], kw["num_hidden_layers"]):
        hd = kw.get("global_head_dim", kw["head_dim"]) if kw["layer_types"][l] == GLOBAL else kw["head_dim"]
        for name, dims in (
            ("k_proj", (kw["num_key_value_heads"] * hd, kw["hidden_size"])),
            ("v_proj", (kw["num_key_value_heads"] * hd, kw["hidden_size"])),
            ("k_norm", (hd,)),
        ):
            out[f"model.layers.{l}.self_attn.{name}.weight"] = torch.full(dims, float("nan"))
    return out


def disk_tensors(model, spec):
    out, is_new = {}, spec["type"].startswith(("gemma3n", "gemma4"))
    named = dict(model.named_parameters())
    named.update({n: b for n, b in model.named_buffers() if n.endswith("layer_scalar")})
    if spec.get("dead"):
        named.update(dead_tensors(spec))
    for name, p in named.items():
        if spec.get("nesting") and is_new:
            name = name.replace("model.", spec["nesting"], 1)
        if spec.get("nesting") == "language_model.model.":
            is_text = name.startswith("model.language_model.")
            name = (
                name.replace("model.language_model.", "language_model.model.")
                if is_text
                else name.removeprefix("model.")
            )
        out[name] = p.detach().clone().to(DTYPE[spec["store"]]).contiguous()
    if spec.get("nesting") and is_new:
        out["model.vision_tower.patch_embedder.input_proj.weight"] = torch.zeros(4, 4)
        out["model.embed_vision.embedding_projection.weight"] = torch.zeros(4, 4)
    out.pop("lm_head.weight", None)
    if spec.get("lm_head"):
        out["lm_head.weight"] = next(t for n, t in out.items() if n.endswith("embed_tokens.weight")).clone()
    return out


def save(path, model, spec, ids, logits, residual):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(disk_config(model, spec), indent=1) + "\n")
    tensors, n = disk_tensors(model, spec), spec.get("shards", 1)
    if n == 1:
        save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
    else:
        names, where = sorted(tensors), {}
        for i in range(n):
            file = f"model-{i + 1:05d}-of-{n:05d}.safetensors"
            part = {t: tensors[t] for t in names[i::n]}
            where.update({t: file for t in part})
            save_file(part, path / file, metadata={"format": "pt"})
        total = sum(t.numel() * t.element_size() for t in tensors.values())
        index = {"metadata": {"total_size": total}, "weight_map": where}
        (path / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")
    for f in path.iterdir():
        f.chmod(0o644)
    head = struct.pack("<5I", MAGIC, len(ids), residual.shape[0] - 1, residual.shape[2], logits.shape[1])
    arrays = logits.numpy().astype("<f4").tobytes() + residual.numpy().astype("<f4").tobytes()
    (path / "golden.bin").write_bytes(head + struct.pack(f"<{len(ids)}i", *ids) + arrays)


def load_again(path, spec):
    """What transformers makes of the files; of a multimodal Gemma 3n or 4 its text part."""
    if not (spec.get("nesting") and spec["type"].startswith(("gemma3n", "gemma4"))):
        loader = AutoModelForImageTextToText if spec.get("nesting") else AutoModelForCausalLM
        return loader.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
    cfg_class, model_class = CLASSES[spec["type"]]
    text = json.loads((path / "config.json").read_text())["text_config"]
    text.pop("model_type")
    model = model_class(cfg_class(**text, attn_implementation="eager")).eval()
    tensors = {}
    for file in sorted(path.glob("*.safetensors")):
        tensors.update(load_file(file))
    mine = {
        n.replace(spec["nesting"], "model.", 1): t.float() for n, t in tensors.items() if n.startswith(spec["nesting"])
    }
    missing = model.load_state_dict(mine, strict=False).missing_keys
    assert set(missing) <= {"lm_head.weight"}, missing
    return model


def main():
    torch.set_num_threads(1)
    total = 0
    for number, (name, spec) in enumerate(MODELS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        seed = 1000 + number
        model = build(spec, seed)
        gen = torch.Generator().manual_seed(seed + 1)
        ids = [2] + torch.randint(3, spec["kw"]["vocab_size"] - 4, (spec["n"] - 1,), generator=gen).tolist()
        logits, residual = run(model, ids)
        least = check_sensitivity(name, spec, seed, ids, logits)
        path = OUT / name
        save(path, model, spec, ids, logits, residual)
        again, _ = run(load_again(path, spec), ids)
        apart = (again - logits).abs().max().item()
        assert apart == 0.0, f"{name}: its files give other logits ({apart:.1e})"
        size = sum(f.stat().st_size for f in path.iterdir())
        total += size
        print(
            f"{name:18s} {spec['n']:3d} tokens  |logit| <= {logits.abs().max():5.2f}  |residual| <= {residual.abs().max():7.2f}  "
            f"least change seen {least:.3f}  {size // 1024} KiB"
        )
    print(f"{total // 1024} KiB")


if __name__ == "__main__":
    main()
