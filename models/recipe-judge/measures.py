"""measures.py - how right scores of places are: of pairs, of places, and of what is found beside few false places.

A split's places come from WORK/data (dataset.py), the scores are given a prompt. A function's score for a rule is that
of its worst place of the rule, or lower than any where it has none.
"""

import json

import numpy as np

NONE = -1e9


class Split:
    def __init__(self, work, split):
        self.arrays = dict(np.load(work / "data" / f"{split}.npz"))
        self.document = json.loads((work / "data" / f"{split}.json").read_text())
        self.labels, self.rules = self.document["labels"], self.document["rules"]
        names = json.loads((work / "model" / "tokenizer.json").read_text())["model"]["vocab"]
        self.answers, self.n_vocab = (names["Yes"], names["No"]), len(names)
        self.ends = np.searchsorted(self.arrays["label"], np.arange(len(self.labels) + 1))
        self.side = np.array([label["side"] for label in self.labels])
        self.clean_lines = sum(label["lines"] for label in self.labels if label["side"] == "clean")

    def places(self, n, rule=None):
        """Numbers of the places of file n, of one rule or all."""
        found = np.arange(self.ends[n], self.ends[n + 1])
        return found if rule is None else found[self.arrays["rule"][found] == self.number(rule)]

    def number(self, rule):
        return self.rules.index(rule) if rule in self.rules else -1

    def of_places(self, score):
        """Scores of places from those of prompts."""
        prompt = self.arrays["prompt"]
        return np.where(prompt >= 0, score[prompt], NONE)

    def is_clean(self):
        return self.side[self.arrays["label"]] == "clean"


def needed(split):
    """Prompts that a summary reads: those of a pair's rule and of clean functions."""
    a = split.arrays
    prompt = a["prompt"][a["mine"] | split.is_clean()]
    return np.unique(prompt[prompt >= 0])


def threshold(split, of_place, per_lines=1000):
    """The score that clean functions reach once in so many lines: between the last that passes and the next one."""
    clean = np.sort(of_place[split.is_clean()])[::-1]
    n = max(1, int(split.clean_lines / per_lines))
    return float(clean[n - 1] + clean[n]) / 2 if n < len(clean) else NONE


def pair_rows(split, of_place):
    """A row a pair and rule: the better score before (1, 0.5, 0), by numbers of places alone, and what has a place."""
    rows = []
    for n, label in enumerate(split.labels):
        if label["side"] != "before":
            continue
        for rule in label["rules"]:
            sides = [split.places(n + k, rule) for k in (0, 1)]
            worst = [float(of_place[s].max()) if len(s) else NONE for s in sides]
            size = [len(s) for s in sides]
            gap = worst[0] - worst[1]
            rows.append(
                {
                    "rule": rule, "repository": label["repository"], "has": size != [0, 0], "worst": worst[0],
                    "pair": 0.5 if abs(gap) <= 1e-5 else float(gap > 0),
                    "alone": 0.5 if size[0] == size[1] else float(size[0] > size[1]),
                }
            )  # fmt: skip
    return rows


def auc(positive, negative):
    """How often a positive is above a negative, ties counting half."""
    both = np.concatenate([positive, negative])
    values, inverse, count = np.unique(both, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[inverse]
    n, m = len(positive), len(negative)
    return float((rank[:n].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def summary(split, score):
    of_place = split.of_places(score)
    rows = [r for r in pair_rows(split, of_place) if r["has"]]
    limit = threshold(split, of_place)
    a = split.arrays
    fault = a["mine"] & (a["gone"] | a["near"]) & (a["prompt"] >= 0)
    return {
        "pairs": round(float(np.mean([r["pair"] for r in rows])), 4),
        "recall": round(float(np.mean([r["worst"] >= limit for r in rows])), 4),
        "auc_clean": round(auc(of_place[fault], of_place[split.is_clean() & (a["prompt"] >= 0)]), 4),
        "n": len(rows),
    }
