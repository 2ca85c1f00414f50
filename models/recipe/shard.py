"""shard.py - training samples on disk: WORK/data/NAME.npz.

ids       uint16, all samples one after another: prompt, then answer with its <end_of_turn>
start     [n + 1] first id of each sample
n_prompt  [n] ids of the prompt (a sample without an answer has n_prompt = its length)
weight    uint8 per id: 16 = 1.0; how much the loss of predicting this id counts (0 in prompts)
mark_at   place in ids of the last token of each numbered line; mark_of: the rule that the line breaks + 1, 0 = none
mark_start [n + 1] first mark of each sample
"""

import numpy as np


class Writer:
    def __init__(self):
        self.ids, self.weight, self.start, self.n_prompt = [], [], [0], []
        self.mark_at, self.mark_of, self.mark_start = [], [], [0]

    def add(self, prompt, answer, weight, marks):
        """answer and weight (floats) have the same length; marks: [(place in prompt, label)]."""
        at = self.start[-1]
        self.ids += [np.asarray(prompt, np.uint16), np.asarray(answer, np.uint16)]
        self.weight += [
            np.zeros(len(prompt), np.uint8),
            np.asarray([min(255, round(16 * w)) for w in weight], np.uint8),
        ]
        self.start.append(at + len(prompt) + len(answer))
        self.n_prompt.append(len(prompt))
        self.mark_at += [at + p for p, _ in marks]
        self.mark_of += [m for _, m in marks]
        self.mark_start.append(len(self.mark_at))

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            path,
            ids=np.concatenate(self.ids),
            weight=np.concatenate(self.weight),
            start=np.array(self.start),
            n_prompt=np.array(self.n_prompt),
            mark_at=np.array(self.mark_at, np.int64),
            mark_of=np.array(self.mark_of, np.uint8),
            mark_start=np.array(self.mark_start),
        )


class Shard:
    def __init__(self, path):
        data = np.load(path)
        for key in data.files:
            setattr(self, key, data[key])

    def __len__(self):
        return len(self.n_prompt)

    def length(self, i):
        return int(self.start[i + 1] - self.start[i])

    def batches(self, n_tok, rng, max_len, bucket=64):
        """Endless batches of about n_tok padded tokens, samples of like length together, in random order."""
        lengths = np.diff(self.start)
        while True:
            order = rng.permutation(np.flatnonzero(lengths <= max_len))
            for part in np.array_split(order, max(1, len(order) // 4096)):
                part = part[np.argsort(lengths[part], kind="stable")]
                out, i = [], 0
                while i < len(part):
                    k = i
                    while k < len(part) and (k - i + 1) * (-(-int(lengths[part[k]]) // bucket) * bucket) <= n_tok:
                        k += 1
                    k = max(k, i + 1)
                    out.append(part[i:k])
                    i = k
                for j in rng.permutation(len(out)):
                    yield self.gather(out[j], bucket)

    def gather(self, samples, bucket=64):
        """ids [b, n] padded with 0; weight [b, n] of predicting ids[:, i]; marks (row, column, label);
        is_prompt [b, n]."""
        n = max(self.length(i) for i in samples)
        n = -(-n // bucket) * bucket
        ids = np.zeros((len(samples), n), np.int64)
        weight = np.zeros((len(samples), n), np.float32)
        prompt = np.zeros((len(samples), n), bool)
        marks = []
        for r, i in enumerate(samples):
            a, b = self.start[i], self.start[i + 1]
            ids[r, : b - a] = self.ids[a:b]
            weight[r, : b - a] = self.weight[a:b] / 16.0
            prompt[r, 1 : self.n_prompt[i]] = True
            ma, mb = self.mark_start[i], self.mark_start[i + 1]
            marks.append(np.stack([np.full(mb - ma, r), self.mark_at[ma:mb] - a, self.mark_of[ma:mb]], 1))
        return ids, weight, np.concatenate(marks), prompt
