"""model.py - Gemma 3 (text) in PyTorch, as small as the recipe needs it: forward for training,
and its config in Hugging Face's keys.

Layer    a = h + N2(Attn(N1(h)));  h' = a + N4(MLP(N3(a)));  q and k normed per head, half-split RoPE,
         GeGLU with the tanh form of GELU
Layers   l is global (RoPE base 1e6) when (l + 1) % 6 == 0, else local with a window, base 1e4
Norms    x * rsqrt(mean(x^2) + 1e-6) * (1 + w), in float32
Marks    a second, linear head on the stream after layer `mark_layer`, at the end of each numbered line: which rule that
         line breaks, or none. It exists in training only: it says at once, for every line, what the answer alone would
         teach one line at a time.
Looks    two heads of the layer behind are told where to look: DECIDE from each decision of the answer to the end of the
         line it is about, or to <bos> when there is none (left); COPY from each token of evidence to the token of the
         prompt that comes next
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

DECIDE, COPY = 0, 2  # heads of the look layer; they share no keys


@dataclass
class Config:
    vocab_size: int = 8192
    hidden_size: int = 256
    intermediate_size: int = 768
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    sliding_window: int = 1024
    max_position_embeddings: int = 4096
    mark_layer: int = 3
    look_layer: int = 4
    n_mark: int = 24

    def to_hf(self):
        """config.json of a Gemma 3 text model."""
        keys = asdict(self)
        del keys["mark_layer"], keys["look_layer"], keys["n_mark"]
        return keys | {
            "architectures": ["Gemma3ForCausalLM"],
            "model_type": "gemma3_text",
            "rms_norm_eps": 1e-6,
            "hidden_activation": "gelu_pytorch_tanh",
            "query_pre_attn_scalar": self.head_dim,
            "rope_theta": 1000000.0,
            "rope_local_base_freq": 10000.0,
            "rope_scaling": None,
            "sliding_window_pattern": 6,
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
            "tie_word_embeddings": True,
            "attention_bias": False,
            "bos_token_id": 2,
            "eos_token_id": [1, 106],
            "pad_token_id": 0,
        }


def is_global(layer):
    return (layer + 1) % 6 == 0


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return F.rms_norm(x.float(), (x.shape[-1],), 1.0 + self.weight, 1e-6).to(x.dtype)


def rope_table(n, head_dim, base):
    angle = torch.arange(n)[:, None] * base ** (-torch.arange(0, head_dim, 2) / head_dim)
    return torch.cat([angle, angle], -1)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def causal(n, like):
    """Added to scores. On a CPU two plain products are twice as fast as the fused kernel at these sizes."""
    return torch.full((n, n), -1e9, dtype=like.dtype, device=like.device).triu(1)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden_size, c.num_attention_heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.num_attention_heads * c.head_dim, c.hidden_size, bias=False)
        self.q_norm, self.k_norm = Norm(c.head_dim), Norm(c.head_dim)
        self.score = None  # of the last forward, kept by the look layer alone
        self.is_kept = False

    def forward(self, x, cos, sin):
        b, n, _ = x.shape
        c = self.c
        q = self.q_norm(self.q_proj(x).view(b, n, -1, c.head_dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(b, n, -1, c.head_dim)).transpose(1, 2)
        v = self.v_proj(x).view(b, n, -1, c.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = c.num_attention_heads // c.num_key_value_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        q, k, v = (t.reshape(-1, n, c.head_dim) for t in (q, k, v.to(q.dtype)))
        score = torch.baddbmm(causal(n, q).expand(len(q), n, n), q, k.transpose(1, 2), alpha=c.head_dim**-0.5)
        if self.is_kept:
            self.score = score.view(b, -1, n, n)
        y = torch.bmm(score.softmax(-1), v).view(b, -1, n, c.head_dim)
        return self.o_proj(y.transpose(1, 2).reshape(b, n, -1))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn, self.mlp = Attention(c), MLP(c)
        self.input_layernorm, self.post_attention_layernorm = Norm(c.hidden_size), Norm(c.hidden_size)
        self.pre_feedforward_layernorm, self.post_feedforward_layernorm = Norm(c.hidden_size), Norm(c.hidden_size)

    def forward(self, h, cos, sin):
        h = h + self.post_attention_layernorm(self.self_attn(self.input_layernorm(h), cos, sin))
        return h + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(h)))


class Model(nn.Module):
    """Parameter names, but for the mark head, are those of the safetensors file without its `model.` prefix."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.layers[c.look_layer].self_attn.is_kept = True
        self.norm = Norm(c.hidden_size)
        self.mark_norm, self.mark_head = Norm(c.hidden_size), nn.Linear(c.hidden_size, c.n_mark)
        for name, base in (("local", 1e4), ("global", 1e6)):
            angle = rope_table(c.max_position_embeddings, c.head_dim, base)
            self.register_buffer(f"cos_{name}", angle.cos(), persistent=False)
            self.register_buffer(f"sin_{name}", angle.sin(), persistent=False)
        self.apply(self.init)

    def init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=m.weight.shape[-1] ** -0.5 if isinstance(m, nn.Linear) else 0.02)

    def forward(self, ids):
        """Final hidden rows and the rows the mark head reads, [batch, n, d]. Sequences are padded at the end and at
        most a window long, so that the causal mask is the only one."""
        n = ids.shape[1]
        h = self.embed_tokens(ids) * self.c.hidden_size**0.5
        h = h.to(torch.bfloat16) if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda") else h
        tables = [
            [getattr(self, f"{f}_{kind}")[:n].to(h.dtype) for f in ("cos", "sin")] for kind in ("local", "global")
        ]
        for i, layer in enumerate(self.layers):
            h = layer(h, *tables[is_global(i)])
            if i == self.c.mark_layer:
                marked = h
        return self.norm(h), marked

    def logits(self, rows):
        return F.linear(rows, self.embed_tokens.weight.to(rows.dtype)).float()

    def looks(self, head, row, col):
        """Scores of a head of the look layer, from the given positions to all."""
        return self.layers[self.c.look_layer].self_attn.score[row, head, col].float()

    def marks(self, rows):
        return self.mark_head(self.mark_norm(rows).float())


def save_hf(model, folder):
    """model.safetensors and config.json beside the tokenizer.json that is there already."""
    import json
    from safetensors.torch import save_file

    tensors = {
        "model." + k: v.detach().contiguous().float()
        for k, v in model.state_dict().items()
        if not k.startswith("mark_")
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(model.c.to_hf(), indent=1))
