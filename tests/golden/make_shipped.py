#!/usr/bin/env python3
"""What transformers computes with the two models that ship: tests/golden/shipped/.

  generate.jsonl   {"prompt", "ids", "sure"}: the greedy continuation of "prompt" by models/mythos-inspect.gguf. "sure"
                   is the number of first ids whose logit is ahead of the second best by SURE of the largest or more;
                   where the lead is smaller, a run that rounds may choose otherwise
  embed.jsonl      {"text", "vector"}: the vector of "text" by models/mythos-embed.gguf

Reference: Gemma3ForCausalLM and Gemma3TextModel with the file's weights dequantised to float32 by gguf-py, eager, no
cache. No tolerance of a test was set on these models, weights or texts: tests/frontend/cmd/test_shipped.c holds the
commands to them with the tolerances that the models of make_models.py and make_embedders.py have. Texts become ids by
`mythos tokenize`, which tests/golden/tokenizer has its own values for.

To be run again when a model that ships is trained again.

Usage: make_shipped.py MYTHOS      the program; needs torch, transformers >= 5.23, gguf
"""

import json
import pathlib
import subprocess
import sys

import torch
from gguf import GGUFReader, dequantize
from transformers import Gemma3ForCausalLM, Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3TextModel

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "golden" / "shipped"
SURE, N_NEW = 0.04, 32
LOCAL, GLOBAL = "sliding_attention", "full_attention"

TEXTS = [
    "",
    "x",
    "static size_t ring_room(const ring *r)\n{\n    return r->cap - (r->head - r->tail);\n}\n",
    "def parse_duration(text):\n    unit = {'s': 1, 'm': 60, 'h': 3600}[text[-1]]\n"
    "    return int(text[:-1]) * unit\n",
    "where are stale locks of a crashed worker removed?",
    "func (q *Queue) Pop() (Job, bool) {\n\tq.mu.Lock()\n\tdefer q.mu.Unlock()\n",
    "Größe der Datei in Bytes, auf 4096 aufgerundet — ωραία",
    "for (int i = 0; i < n; i++) sum += weight[i] * value[n - 1 - i];\n" * 12,
]
PROMPTS = [
    "static int count_words(const char *s)\n{\n    int n = 0;\n    while (*s",
    "def read_config(path):\n    with open(path) as f:\n        return",
    "    free(node->name);\n    free(node);\n    node->next",
    "import hashlib\nimport os\n\n\ndef digest(data):\n    return hashlib.",
    "int main(int argc, char **argv)\n{\n    char line[256];\n    if (argc <",
    "class Cache:\n    def __init__(self, size):\n        self.size = size\n        self.items = {}\n\n    def get(self,",
]


def ids_of(mythos, model, text):
    line = [mythos, "tokenize", "-m", str(model), "--json", "-q"]
    return json.loads(subprocess.run(line, input=text.encode(), capture_output=True, check=True).stdout)["ids"]


def field(reader, name):
    return reader.fields[name].contents() if name in reader.fields else None


NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}


def name_of(name):
    """The name that transformers has for a tensor of the file."""
    part = name.removesuffix(".weight").split(".")
    if part[0] == "blk":
        return f"layers.{part[1]}.{NAMES[part[2]]}.weight"
    return {"token_embd": "embed_tokens.weight", "output_norm": "norm.weight"}.get(part[0], part[0])


def load(path):
    """The configuration, and the tensors in float32. The file stores the factor of a norm, transformers one less."""
    r = GGUFReader(path)
    arch = field(r, "general.architecture")
    n_layer = field(r, f"{arch}.block_count")
    tensors = {}
    for t in r.tensors:
        w = torch.tensor(dequantize(t.data, t.tensor_type).copy()).float()
        tensors[name_of(t.name)] = w - 1.0 if "norm" in t.name else w
    base = {"rope_type": "default", "rope_theta": field(r, f"{arch}.rope.freq_base")}
    config = Gemma3TextConfig(
        vocab_size=tensors["embed_tokens.weight"].shape[0],
        hidden_size=field(r, f"{arch}.embedding_length"),
        intermediate_size=field(r, f"{arch}.feed_forward_length"),
        num_hidden_layers=n_layer,
        num_attention_heads=field(r, f"{arch}.attention.head_count"),
        num_key_value_heads=field(r, f"{arch}.attention.head_count_kv"),
        head_dim=field(r, f"{arch}.attention.key_length"),
        query_pre_attn_scalar=field(r, f"{arch}.attention.key_length"),
        sliding_window=field(r, f"{arch}.attention.sliding_window"),
        rms_norm_eps=field(r, f"{arch}.attention.layer_norm_rms_epsilon"),
        max_position_embeddings=field(r, f"{arch}.context_length"),
        rope_parameters={GLOBAL: base, LOCAL: {"rope_type": "default", "rope_theta": 1e4}},
        layer_types=[GLOBAL if (i + 1) % 6 == 0 else LOCAL for i in range(n_layer)],
        use_bidirectional_attention=arch == "gemma-embedding",
        attn_implementation="eager",
    )
    return config, tensors


def generate(mythos):
    path = ROOT / "models" / "mythos-inspect.gguf"
    config, tensors = load(path)
    model = Gemma3ForCausalLM(config).eval()
    missing, unexpected = model.load_state_dict({"model." + n: t for n, t in tensors.items()}, strict=False)
    assert set(missing) <= {"lm_head.weight"} and not unexpected, (missing, unexpected)
    model.tie_weights()
    for prompt in PROMPTS:
        ids, new, sure, is_sure = [2] + ids_of(mythos, path, prompt), [], 0, True
        for _ in range(N_NEW):
            with torch.no_grad():
                row = model(input_ids=torch.tensor([ids + new]), use_cache=False).logits[0, -1]
            best = row.topk(2).values
            is_sure = is_sure and (best[0] - best[1] >= SURE * row.abs().max()).item()
            sure += is_sure
            new.append(row.argmax().item())
        yield {"prompt": prompt, "ids": new, "sure": sure}


def embed(mythos):
    path = ROOT / "models" / "mythos-embed.gguf"
    config, tensors = load(path)
    dense = [tensors.pop("dense_2"), tensors.pop("dense_3")]
    model = Gemma3TextModel(config).eval()
    model.load_state_dict(tensors)
    for text in TEXTS:
        ids = [2] + ids_of(mythos, path, text) + [1]
        with torch.no_grad():
            v = model(input_ids=torch.tensor([ids]), use_cache=False).last_hidden_state[0].mean(0)
        for w in dense:
            v = w @ v
        yield {"text": text, "vector": [float(f"{x:.7g}") for x in (v / v.norm()).tolist()]}


def main():
    torch.set_num_threads(1)
    OUT.mkdir(exist_ok=True)
    for name, rows in (("generate", generate(sys.argv[1])), ("embed", embed(sys.argv[1]))):
        with open(OUT / f"{name}.jsonl", "w", encoding="utf-8") as f:
            for row in rows:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")
                print(name, len(row.get("ids", row.get("vector"))), row.get("sure", ""))


if __name__ == "__main__":
    main()
