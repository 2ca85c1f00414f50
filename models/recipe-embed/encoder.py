"""encoder.py - EmbeddingGemma's layout in PyTorch, as small as the recipe needs it,
and the bag of words it starts from.

Encoder  Gemma 3's layers without a causal mask, final norm, mean over all tokens with <bos> and <eos>,
         two dense layers, length 1
Bag      no layers: unit rows w_t s_t, averaged, then one dense layer. s_t is the sum of a row of the word without its
         case and space, of its stem's, and of the piece's own: "▁Strings" starts where "string" is. In the encoder the
         row of t is [w_t s_t, sqrt(1 - w_t^2) u] in SPARE more dimensions that the first dense layer does not read: all
         rows have one length there, as its norm wants it, and a word still weighs what it is worth
"""

import json
import sys
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

import fetch_more
import words

sys.path.insert(0, str(fetch_more.HERE.parent / "recipe"))
import model  # noqa: E402


@dataclass
class Config:
    vocab_size: int = 16384
    hidden_size: int = 320
    intermediate_size: int = 512
    num_hidden_layers: int = 1
    num_attention_heads: int = 4
    num_key_value_heads: int = 1
    head_dim: int = 64
    sliding_window: int = 512
    max_position_embeddings: int = 1024

    def to_hf(self):
        """config.json of EmbeddingGemma's kind; every layer is local, and sees 256 tokens each way."""
        return asdict(self) | {
            "architectures": ["Gemma3TextModel"],
            "model_type": "gemma3_text",
            "rms_norm_eps": 1e-6,
            "use_bidirectional_attention": True,
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
            "eos_token_id": 1,
            "pad_token_id": 0,
        }


OUT = 256  # of a vector
BETWEEN = 256  # between the two dense layers


# ---- the bag ----


class Bag(nn.Module):
    def __init__(self, pieces, weight):
        """pieces: texts by id; weight: [n] in 0..1, how much a piece is worth to begin with."""
        super().__init__()
        (word, n_word), (stem, n_stem) = words.tables(pieces)
        self.register_buffer("word", torch.tensor(word))
        self.register_buffer("stem", torch.tensor(stem))
        self.of_word, self.of_stem = nn.Parameter(torch.randn(n_word, OUT)), nn.Parameter(
            torch.randn(n_stem, OUT) * 0.7
        )
        self.own = nn.Parameter(torch.randn(len(pieces), OUT) * 0.3)
        w = weight.clamp(0.02, 0.98)
        self.worth = nn.Parameter((w / (1 - w)).log())
        self.dense = nn.Parameter(torch.eye(OUT))
        self.scale = nn.Parameter(torch.tensor(3.0))

    @torch.no_grad()
    def lean(self, text, code, strength, share=0.7):
        """Lets stems of questions lean on those of the code that answers them: as far as `share` of their own length,
        towards the sum of the code's random vectors by strength (associations.py)."""
        towards = torch.zeros_like(self.of_stem).index_add_(0, text, self.of_stem[code] * strength[:, None])
        self.of_stem += F.normalize(towards, dim=-1) * (share * 1.25 * OUT**0.5)

    def rows(self):
        """Directions and weights."""
        s = F.normalize(self.of_word[self.word] + self.of_stem[self.stem] + self.own, dim=-1)
        return s, self.worth.sigmoid()

    def table(self):
        s, w = self.rows()
        return s * w[:, None]

    def pool(self, table, ids, at):
        return F.normalize(F.embedding_bag(ids, table, at, mode="sum") @ self.dense.T, dim=-1)


# ---- the encoder ----


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden_size, c.num_attention_heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.num_attention_heads * c.head_dim, c.hidden_size, bias=False)
        self.q_norm, self.k_norm = model.Norm(c.head_dim), model.Norm(c.head_dim)

    def forward(self, x, cos, sin, mask):
        b, n, _ = x.shape
        c = self.c
        q = self.q_norm(self.q_proj(x).view(b, n, -1, c.head_dim)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(b, n, -1, c.head_dim)).transpose(1, 2)
        v = self.v_proj(x).view(b, n, -1, c.head_dim).transpose(1, 2)
        q, k = model.rotate(q, cos, sin), model.rotate(k, cos, sin)
        group = c.num_attention_heads // c.num_key_value_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=c.head_dim**-0.5)
        return self.o_proj(y.transpose(1, 2).reshape(b, n, -1))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn, self.mlp = Attention(c), model.MLP(c)
        self.input_layernorm, self.post_attention_layernorm = model.Norm(c.hidden_size), model.Norm(c.hidden_size)
        self.pre_feedforward_layernorm, self.post_feedforward_layernorm = model.Norm(c.hidden_size), model.Norm(
            c.hidden_size
        )

    def forward(self, h, cos, sin, mask):
        h = h + self.post_attention_layernorm(self.self_attn(self.input_layernorm(h), cos, sin, mask))
        return h + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(h)))


class Encoder(nn.Module):
    """Parameter names are those of the safetensors files, but for dense.0 and dense.1: 2_Dense and 3_Dense."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = model.Norm(c.hidden_size)
        self.dense = nn.ModuleList([nn.Linear(c.hidden_size, BETWEEN, bias=False), nn.Linear(BETWEEN, OUT, bias=False)])
        self.scale = nn.Parameter(torch.tensor(3.0))
        angle = model.rope_table(c.max_position_embeddings, c.head_dim, 1e4)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, std=m.weight.shape[-1] ** -0.5)

    @torch.no_grad()
    def start_from(self, bag):
        """The same vectors as the bag's: the last norm of what a layer adds is turned down to nothing,
        and learns to open."""
        s, w = bag.rows()
        spare = self.c.hidden_size - OUT
        rest = (1 - w * w).sqrt()[:, None] * torch.full((1, spare), spare**-0.5)
        self.embed_tokens.weight.copy_(torch.cat([s * w[:, None], rest], 1) * self.c.hidden_size**-0.5)
        self.dense[0].weight.zero_()
        self.dense[0].weight[:, :OUT] = bag.dense
        self.dense[1].weight.copy_(torch.eye(OUT, BETWEEN))
        self.scale.copy_(bag.scale)
        for layer in self.layers:
            layer.post_attention_layernorm.weight.fill_(-1.0)
            layer.post_feedforward_layernorm.weight.fill_(-1.0)

    def forward(self, ids):
        """[n, OUT] of padded rows; 0 is the padding, which no text has."""
        is_token = ids != 0
        n = ids.shape[1]
        h = self.embed_tokens(ids) * self.c.hidden_size**0.5
        place = torch.arange(n)
        near = (place[:, None] - place[None]).abs() <= self.c.sliding_window // 2
        mask = is_token[:, None, None] & near | torch.eye(
            n, dtype=torch.bool
        )  # padding sees itself, or its softmax is empty
        for layer in self.layers:
            h = layer(h, self.cos[:n], self.sin[:n], mask)
        h = self.norm(h) * is_token[..., None]
        x = h.sum(1) / is_token.sum(1, keepdim=True)
        return F.normalize(self.dense[1](self.dense[0](x)), dim=-1)


def padded(texts, to=8):
    n = -(-max(len(t) for t in texts) // to) * to
    out = torch.zeros(len(texts), n, dtype=torch.long)
    for r, t in enumerate(texts):
        out[r, : len(t)] = torch.as_tensor(t)
    return out


def save_hf(net, folder):
    """As sentence-transformers lays it out, beside the tokenizer.json that is there already."""
    from safetensors.torch import save_file

    own = {k: v.detach().contiguous().float() for k, v in net.state_dict().items()}
    save_file(
        {k: v for k, v in own.items() if not k.startswith(("dense.", "scale"))},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    (folder / "config.json").write_text(json.dumps(net.c.to_hf(), indent=1))
    for i in range(2):
        w = own[f"dense.{i}.weight"]
        (folder / f"{i + 2}_Dense").mkdir(exist_ok=True)
        save_file({"linear.weight": w}, folder / f"{i + 2}_Dense" / "model.safetensors", metadata={"format": "pt"})
        (folder / f"{i + 2}_Dense" / "config.json").write_text(
            json.dumps(
                {
                    "in_features": w.shape[1],
                    "out_features": w.shape[0],
                    "bias": False,
                    "activation_function": "torch.nn.modules.linear.Identity",
                }
            )
        )
