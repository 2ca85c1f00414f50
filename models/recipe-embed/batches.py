"""batches.py - training batches out of a shard: a question and a document a row,
as lists of ids without <bos> and <eos>.

A question never stands in its document word for word: where it is the docstring's sentence the document is without it
(or, seldom, it is a few keywords of it); where it is the name the document is without the name.
"""

import numpy as np

from shards import PARTS

BOS, EOS = 2, 1
KINDS = ["sentence", "sentence2", "keywords", "keywords2", "name", "raw"]
KIND_BOUND = np.cumsum([0.28, 0.14, 0.16, 0.10, 0.22])
# What the document is made of, and up to which draw, for questions made of the text, of its keywords and of the name.
FORMS = [("head", "body"), ("masked", "body"), ("head", "rest", "body"), ("masked", "first", "rest", "body")]
FORM_BOUND = {"text": [0.45, 0.65, 1.0], "keywords": [0.35, 0.50, 0.75], "name": [0.0, 0.4, 0.4]}


class Shard:
    def __init__(self, path, prompts, quotes, max_ids=256):
        data = np.load(path)
        self.column = {p: (data[p], data[p + "_at"]) for p in PARTS}
        self.same_text, self.same_name, self.package, self.c = (
            data[k] for k in ("same_text", "same_name", "package", "c")
        )
        self.rarity = data["rarity"]
        self.prompts, self.quotes, self.max_ids = prompts, quotes, max_ids

    def __len__(self):
        return len(self.c)

    def part(self, name, i):
        ids, at = self.column[name]
        return ids[at[i] : at[i + 1]]

    def has(self, name, i):
        _, at = self.column[name]
        return at[i + 1] > at[i]

    def document(self, i, form):
        parts = {p: self.part(p, i) for p in form}
        said = [parts[p] for p in ("first", "rest") if p in parts and len(parts[p])]
        if said:
            said = [self.quotes] + said + [self.quotes]
        head = parts.get("head", parts.get("masked"))
        order = said + [head] if self.c[i] else [head] + said
        return np.concatenate(order + [parts["body"]])[: self.max_ids]

    def row(self, i, draw):
        """A question and a document, without marks; draw: two numbers in 0..1."""
        if self.has("sentence", i):
            kind = KINDS[int(np.searchsorted(KIND_BOUND, draw[0]))]
            kind = kind if self.has(kind, i) else "sentence"
        else:
            kind = "name"
        bound = FORM_BOUND["name" if kind == "name" else "keywords" if kind.startswith("keywords") else "text"]
        return self.part(kind, i), self.document(i, FORMS[int(np.searchsorted(bound, draw[1]))])

    def finish(self, ids, use, draw):
        """<bos> (prompt) ids <eos>; mostly with a prompt, but it must work without."""
        front = [BOS, self.prompts[use]] if draw < 0.75 else [BOS]
        return np.concatenate([front, ids, [EOS]]).astype(np.int64)

    def batch(self, rows, rng):
        draws = rng.random((len(rows), 5)) * (1 - 1e-9)
        out = [self.row(i, d) for i, d in zip(rows, draws)]
        asked = [self.finish(q, "code" if d[2] < 0.7 else "query", d[3]) for (q, _), d in zip(out, draws)]
        found = [self.finish(t, "document", d[4]) for (_, t), d in zip(out, draws)]
        return asked, found

    def clashes(self, rows):
        """[n, n] True where row k is no wrong answer to question i: the same sentence or name; not on the diagonal."""
        t, n = self.same_text[rows], self.same_name[rows]
        same = (t[:, None] == t[None]) | (n[:, None] == n[None])
        np.fill_diagonal(same, False)
        return same

    def epochs(self, n, rng, close=0.5):
        """Endless batches of n rows: half of them from everywhere, half (close) from a few packages each, whose rows
        are harder to tell apart."""
        count = len(self)
        while True:
            everywhere = rng.permutation(count)
            order = np.argsort(self.package[everywhere] + 0.0, kind="stable")
            block = everywhere[order]
            size = max(1, n // 8)
            blocks = [block[i : i + size] for i in range(0, count, size)]
            picked = rng.permutation(len(blocks))
            near = [np.concatenate([blocks[k] for k in picked[i : i + 8]]) for i in range(0, len(picked) - 7, 8)]
            far = [everywhere[i : i + n] for i in range(0, count - n + 1, n)]
            for k in range(len(far)):
                yield near[k % len(near)] if near and rng.random() < close else far[k]
