"""looks.py - how well vectors find: mean reciprocal rank on the dev shard, NDCG@10 on a set of questions with one right
answer each, alone and joined to the scores of `mythos search --lexical`.

Fusion   candidates: the first TOP of either; score (1 - share) lexical / best lexical + share (cosine - lowest) /
         (highest - lowest), the lowest and the highest among the candidates; no lexical score counts 0
"""

import json
import math
import random

import numpy as np
import torch

from batches import BOS, EOS

TOP = 50


def encode_all(encode, texts, n_tok=16384):
    """encode: padded ids or lists -> vectors; texts of like length together."""
    out, order = [None] * len(texts), sorted(range(len(texts)), key=lambda i: len(texts[i]))
    while order:
        longest = len(texts[order[-1]])
        part = [order.pop() for _ in range(min(len(order), max(1, n_tok // longest)))]
        for i, v in zip(part, encode([texts[i] for i in part])):
            out[i] = v
    return torch.stack(out)


def dev_mrr(encode, shard, n=2000, seed=5):
    """Sentence -> head + body, and name -> text + body with the name masked, among n."""
    rng = np.random.default_rng(seed)
    rows = [i for i in range(len(shard)) if shard.has("sentence", i)]
    rows = rng.permutation(rows)[:n]
    out = []
    for kind, form in (("sentence", ("head", "body")), ("name", ("masked", "first", "rest", "body"))):
        mine = [i for i in rows if shard.has(kind, i)]
        asked = encode_all(encode, [np.concatenate([[BOS], shard.part(kind, i), [EOS]]).astype(np.int64) for i in mine])
        found = encode_all(
            encode, [np.concatenate([[BOS], shard.document(i, form), [EOS]]).astype(np.int64) for i in mine]
        )
        score = asked @ found.T
        rank = (score > score.diagonal()[:, None]).sum(1) + 1
        out.append(float((1 / rank).mean()))
    return out


class Questions:
    """Rows {"id", "text"[, "gold"]} as `mythos search --corpus --queries` takes them, with its lexical answer."""

    def __init__(self, folder, tok, prompts, max_ids=512):
        rows = [
            [json.loads(line) for line in (folder / f"{n}.jsonl").read_text().splitlines()]
            for n in ("corpus", "queries")
        ]
        self.found, self.asked = (
            [
                np.array([BOS, front] + e.ids[:max_ids] + [EOS])
                for e in tok.encode_batch([r["text"] for r in part], add_special_tokens=False)
            ]
            for part, front in zip(rows, (prompts["document"], prompts["code"]))
        )
        at = {r["id"]: k for k, r in enumerate(rows[0])}
        self.gold = [at[q["gold"]] for q in rows[1]]
        lexical = {r["query"]: r for r in json.loads((folder / "lex.json").read_text())}
        self.lexical = [
            [(at[str(i)], s) for i, s in zip(lexical[q["id"]]["ids"], lexical[q["id"]]["scores"])] for q in rows[1]
        ]

    def ndcg(self, order, gold):
        return 1 / math.log2(order.index(gold) + 2) if gold in order[:10] else 0.0

    def fused(self, k, cosine, share):
        lexical = dict(self.lexical[k])
        best = max(lexical.values(), default=1.0)
        near = np.argpartition(-cosine, TOP)[:TOP]
        candidates = sorted({d for d, _ in self.lexical[k][:TOP]} | set(near.tolist()))
        c = cosine[candidates]
        c = (c - c.min()) / max(1e-9, float(c.max() - c.min()))
        score = share * c + (1 - share) * np.array([lexical.get(d, 0.0) / best for d in candidates])
        return [candidates[i] for i in np.argsort(-score, kind="stable")]

    def measure(self, asked, found, shares=(0.2, 0.3, 0.4, 0.5, 0.6)):
        """{name: [ndcg of each question]}; asked, found: vectors."""
        cosine = (asked @ found.T).numpy()
        out = {
            "lexical": [self.ndcg([d for d, _ in self.lexical[k]], g) for k, g in enumerate(self.gold)],
            "cosine": [
                self.ndcg(np.argsort(-cosine[k], kind="stable")[:10].tolist(), g) for k, g in enumerate(self.gold)
            ],
        }
        for s in shares:
            out[f"hybrid {s}"] = [self.ndcg(self.fused(k, cosine[k], s), g) for k, g in enumerate(self.gold)]
        return out

    def look(self, encode, **kw):
        return self.measure(encode_all(encode, self.asked), encode_all(encode, self.found), **kw)


def interval(values, n=2000, seed=1):
    rng, size = random.Random(seed), len(values)
    means = sorted(sum(rng.choices(values, k=size)) / size for _ in range(n))
    return means[int(0.025 * n)], means[int(0.975 * n)]


def summary(result):
    return "  ".join(f"{name} {sum(v) / len(v):.4f}" for name, v in result.items())
