"""network.py - the judge: a Gemma 3 text model of a few layers, computed in the last one only where it is asked.

Its parts and names are those of the other model's recipe (../recipe/model.py), so that it is saved in the same way. All
its layers are local ones with a window longer than any prompt. Of the last layer only the positions that a loss or an
answer needs are computed: keys and values are of all, the rest is of the chosen ones.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

from measure import HERE

sys.path.insert(1, str(HERE.parent / "recipe"))
import model as M  # noqa: E402

SHAPE = dict(
    hidden_size=192, intermediate_size=512, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3,
    sliding_window=512, max_position_embeddings=4096,
)  # fmt: skip


def config(vocab_size, **shape):
    return M.Config(vocab_size=vocab_size, mark_layer=0, look_layer=0, n_mark=1, **(SHAPE | shape))


class Judge(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(M.Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = M.Norm(c.hidden_size)
        angle = M.rope_table(c.max_position_embeddings, c.head_dim, 1e4)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        self.apply(self.init)

    def init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=m.weight.shape[-1] ** -0.5 if isinstance(m, nn.Linear) else 0.02)

    def last(self, layer, h, row, col):
        """The last layer's output at the positions (row, col), [len(row), d]."""
        at, c = layer.self_attn, self.c
        b, n, _ = h.shape
        x = layer.input_layernorm(h)
        k = at.k_norm(at.k_proj(x).view(b, n, c.num_key_value_heads, c.head_dim))
        k = M.rotate(k, self.cos[:n, None], self.sin[:n, None])
        v = at.v_proj(x).view(b, n, c.num_key_value_heads, c.head_dim)
        q = at.q_norm(at.q_proj(x[row, col]).view(len(row), c.num_attention_heads, c.head_dim))
        q = M.rotate(q, self.cos[col][:, None], self.sin[col][:, None])
        # positions are padded to as many a row as the fullest row has
        count = torch.bincount(row, minlength=b)
        place = torch.arange(len(row)) - (count.cumsum(0) - count)[row]
        most, group = int(count.max()), c.num_attention_heads // c.num_key_value_heads
        asked = q.new_zeros(b, most, c.num_attention_heads, c.head_dim)
        asked = asked.index_put((row, place), q).transpose(1, 2)
        cols = torch.zeros(b, most, dtype=torch.long).index_put((row, place), col)
        k, v = (t.transpose(1, 2).repeat_interleave(group, 1) for t in (k, v))
        mask = torch.where(torch.arange(n)[None, None, :] > cols[:, :, None], -1e9, 0.0)
        score = asked @ k.transpose(2, 3) * c.head_dim**-0.5 + mask[:, None]
        y = (score.softmax(-1) @ v).transpose(1, 2)[row, place].reshape(len(row), -1)
        h = h[row, col]
        h = h + layer.post_attention_layernorm(at.o_proj(y))
        return h + layer.post_feedforward_layernorm(layer.mlp(layer.pre_feedforward_layernorm(h)))

    def forward(self, ids, row, col):
        """Final rows at the positions (row, col), which are sorted by row; ids [b, n] are padded at the end."""
        n = ids.shape[1]
        h = self.embed_tokens(ids) * self.c.hidden_size**0.5
        for layer in self.layers[:-1]:
            h = layer(h, self.cos[:n], self.sin[:n])
        return self.norm(self.last(self.layers[-1], h, row, col))

    def logits(self, rows):
        return F.linear(rows, self.embed_tokens.weight)

    def answers(self, ids, lengths, yes, no):
        """Yes minus No at each prompt's end."""
        rows = self(ids, torch.arange(len(ids)), lengths - 1)
        return rows @ (self.embed_tokens.weight[yes] - self.embed_tokens.weight[no])


def padded(arrays, prompts):
    """(ids [b, n], lengths) of prompts."""
    parts = [arrays["ids"][arrays["start"][p] : arrays["start"][p + 1]] for p in prompts]
    lengths = torch.tensor([len(p) for p in parts])
    ids = torch.zeros(len(parts), int(lengths.max()), dtype=torch.long)
    for i, part in enumerate(parts):
        ids[i, : len(part)] = torch.from_numpy(part.astype("int64"))
    return ids, lengths


@torch.no_grad()
def scores(net, arrays, prompts, yes, no, batch=32):
    """Yes minus No of prompts, computed with those of like length together."""
    sizes = arrays["start"][1:] - arrays["start"][:-1]
    order = sorted(range(len(prompts)), key=lambda i: sizes[prompts[i]])
    out = torch.zeros(len(prompts))
    for i in range(0, len(order), batch):
        part = order[i : i + batch]
        out[part] = net.answers(*padded(arrays, [prompts[k] for k in part]), yes, no)
    return out.numpy()
