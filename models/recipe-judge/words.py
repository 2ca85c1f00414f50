"""words.py - a bag of words as a judge: what a model that knows no order has to be better than.

A place is judged by the words and pairs of words around it (its own lines, six before, eight behind), by what the
function does with the place's path, by the facts of `mythos candidates`, or by both. One weight for each feature and
rule, fitted by logistic regression on the train split: places of a pair's rule in the function before are faults when
they are gone after, or near the change; those of the function after, and of clean functions, are not. A function's
score is that of its worst place of the rule.

Printed: how often the faulty function has the higher score, ties counting half, over all pairs and over those with a
place in one of the two functions; 95 % intervals over repositories, and of the difference to candidates alone.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import zlib

import torch

from measure import HERE, by_name, higher, interval, is_near, places_of

SLOTS = 1 << 18
BEFORE, AFTER, MOST = 6, 8, 200
ROUNDS, BATCH, RATE = 4, 512, 0.05
CLEAN = 3  # places taken of each clean function
WORD = re.compile(r"[A-Za-z_]\w*|->|[<>=!]=|&&|\|\||\d+|[^\s\w]")
NAMES = ("callee", "origin_call")  # facts whose value is a name: its words count


class Split:
    def __init__(self, work, split, mythos):
        self.folder = work / "files" / split
        self.places = by_name(places_of(mythos, self.folder))
        self.labels = [json.loads(line) for line in (self.folder / "labels.jsonl").open()]
        self.texts = {}

    def lines(self, file):
        if file not in self.texts:
            self.texts[file] = (self.folder / file).read_text(errors="replace").split("\n")
        return self.texts[file]

    def of(self, file, rule):
        return [p for p in self.places.get(file, []) if p["rule"] == rule]


def fact_features(place):
    rule = place["rule"]
    for name, value in place["facts"].items():
        if name in NAMES:
            yield from (f"{rule} {name}~{word}" for word in set(re.split(r"\W|_", value.lower())))
        else:
            yield f"{name}={value}"
            yield f"{rule} {name}={value}"


def word_features(lines, place):
    rule, path, first, last = place["rule"], place["path"], place["line"] - 1, place["end_line"]
    short = re.split(r"->|\.", path)[-1] if path else ""
    for part, a, b in (("at", first, last), ("before", max(0, first - BEFORE), first), ("after", last, last + AFTER)):
        words = ["PATH" if w in (path, short) and w else w for w in WORD.findall(" ".join(lines[a:b]))][:MOST]
        yield from (f"{rule} {part} {w}" for w in set(words))
        yield from (f"{rule} {part} {v} {w}" for v, w in set(zip(words, words[1:])))
    if path:
        whole, quoted = "\n".join(lines), re.escape(path)
        asked = {
            "null": quoted + r"\s*(==|!=)\s*(NULL|null|None|nil|0\b)",
            "not": r"!\s*" + quoted,
            "if": r"if\s*\(\s*" + quoted,
            "bound": quoted + r"\s*[<>]",
            "free": r"free\w*\s*\([^)]*" + quoted,
        }
        yield from (f"{rule} {name} {min(3, len(re.findall(form, whole)))}" for name, form in asked.items())
    yield f"{rule} length {min(8, len(lines) // 20)}"


def slots(split, file, place, kind):
    found = [place["rule"], f"{place['rule']}/{place['row']}"]
    if kind in ("facts", "both"):
        found += fact_features(place)
    if kind in ("words", "both"):
        found += word_features(split.lines(file), place)
    return sorted({zlib.crc32(f.encode()) % SLOTS for f in found})


def half_of(label):
    return zlib.crc32(label["repository"].encode()) % 2


def examples(train, kind, half=None):
    """(features, is a fault, weight) of places, of all repositories or of half of them."""
    dice, rows = random.Random(1), []
    for label in train.labels:
        if half is not None and half_of(label) != half:
            continue
        file, side = label["file"], label.get("side")
        if side == "before":
            key = lambda p: (p["rule"], p["row"], p["path"], p["callee"])  # noqa: E731
            left = {key(p) for p in train.places.get(file.replace(".before.", ".after."), [])}
            for place in train.places.get(file, []):
                is_gone = key(place) not in left
                if place["rule"] in label["rules"] and (is_gone or is_near(place, label["changed"])):
                    rows.append((slots(train, file, place, kind), 1.0, 1.0 if is_gone else 0.5))
        elif side == "after":
            for place in train.places.get(file, []):
                if place["rule"] in label["rules"]:
                    rows.append((slots(train, file, place, kind), 0.0, 1.0))
        else:
            places = train.places.get(file, [])
            for place in dice.sample(places, min(CLEAN, len(places))):
                rows.append((slots(train, file, place, kind), 0.0, 0.5))
    return rows


def fit(rows):
    torch.manual_seed(0)
    dice = random.Random(2)
    weight = torch.nn.EmbeddingBag(SLOTS, 1, mode="sum")
    torch.nn.init.zeros_(weight.weight)
    bias = torch.nn.Parameter(torch.tensor(-1.0))
    step = torch.optim.Adagrad([weight.weight, bias], lr=RATE)
    for _ in range(ROUNDS):
        dice.shuffle(rows)
        for i in range(0, len(rows), BATCH):
            batch = rows[i : i + BATCH]
            flat, starts = [], []
            for features, _, _ in batch:
                starts.append(len(flat))
                flat += features
            logits = weight(torch.tensor(flat), torch.tensor(starts)).squeeze(1) + bias
            wanted, share = (torch.tensor([row[k] for row in batch]) for k in (1, 2))
            losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
            step.zero_grad()
            (losses * share).mean().backward()
            step.step()
    return weight.weight.detach().squeeze(1).tolist(), float(bias.detach())


def judge(split, weights, kind):
    rows = []
    for label in split.labels:
        if label.get("side") != "before":
            continue
        files = label["file"], label["file"].replace(".before.", ".after.")
        for rule in label["rules"]:
            places = [split.of(file, rule) for file in files]
            scores = [
                max((sum(weights[s] for s in slots(split, file, p, kind)) for p in of), default=-1e9)
                for file, of in zip(files, places)
            ]
            n = [len(of) for of in places]
            pair = 0.5 if abs(scores[0] - scores[1]) <= 1e-6 else higher(*scores)
            more = pair - higher(*n)
            rows.append({"repository": label["repository"], "pair": pair, "more": more, "has": n != [0, 0]})
    return rows


def every(split, weights, kind):
    """Scores of all places of every file, in the order in which mythos names them."""
    return {
        file: [round(sum(weights[s] for s in slots(split, file, p, kind)), 5) for p in places]
        for file, places in split.places.items()
    }


def teach(train, path, kind="both"):
    """Writes scores of train's places, those of each half of the repositories by words fitted on the other half."""
    side = {label["file"]: half_of(label) for label in train.labels}
    scores = {}
    for half in (0, 1):
        weights, bias = fit(examples(train, kind, 1 - half))
        for file, places in train.places.items():
            if side.get(file) == half:
                of = [sum(weights[s] for s in slots(train, file, p, kind)) for p in places]
                scores[file] = [round(s + bias, 4) for s in of]
        print(f"half {half}: {len(scores)} files", flush=True)
    path.write_text(json.dumps(scores))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build-judge"))
    parser.add_argument("--mythos", default=str(HERE.parents[1] / "build" / "mythos"))
    parser.add_argument("--scores", type=pathlib.Path, help="write the scores of all places of dev and test there")
    parser.add_argument("--teach", type=pathlib.Path, help="write scores of train's places there, and do nothing else")
    opts = parser.parse_args()
    mythos, scores = str(pathlib.Path(opts.mythos).resolve()), {}
    if opts.teach:
        return teach(Split(opts.work, "train", mythos), opts.teach)
    splits = {name: Split(opts.work, name, mythos) for name in ("train", "dev", "test")}
    print("| judged by | split | pairs | higher score | more than candidates alone |\n| --- | --- | --- | --- | --- |")
    for kind in ("facts", "words", "both"):
        weights, _ = fit(examples(splits["train"], kind))
        for name in ("dev", "test"):
            if opts.scores:
                scores.setdefault(name, {})[kind] = every(splits[name], weights, kind)
            rows = judge(splits[name], weights, kind)
            for what, of in (("all", rows), ("with a place", [row for row in rows if row["has"]])):
                pair, more = interval(of, "pair"), interval(of, "more")
                print(
                    f"| {kind} | {name}, {what} | {len(of)} | {pair[0]:.3f} ({pair[1]:.3f} to {pair[2]:.3f}) "
                    f"| {more[0]:+.3f} ({more[1]:+.3f} to {more[2]:+.3f}) |",
                    flush=True,
                )
    if opts.scores:
        opts.scores.write_text(json.dumps(scores))


if __name__ == "__main__":
    main()
