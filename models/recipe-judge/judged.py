#!/usr/bin/env python3
"""judged.py - measures the judge on a split, beside candidates alone and, where words.py wrote its scores, the words.

pairs     how often the faulty function's worst place of the rule scores higher than the mended one's, ties counting
          half: of all pairs, and of those with a place of the rule in one of the two functions
places    how often a fault's place is above one that is none (AUC): over all, beside clean functions alone, and beside
          the places of the same rule in mended functions
recall    faulty functions of which a place of the rule passes, where clean functions have one false place in 1,000
          lines; `at confidence`: with dev's limit, and what clean functions then have
calibration  the mean distance of probability and share of faults over 15 bins of as many places
The words are calibrated as the judge is, on dev and a rule at a time: most of what tells places of different rules
apart is how often a rule is right. All intervals are 95 %, drawn by repository.
"""

import argparse
import collections
import json
import pathlib

import numpy as np

import calibrate
import measures
from measure import HERE, interval

BINS, DRAWS = 15, 1000


def of_words(split, path, name, kind):
    """Scores of the split's places by a bag of words, or None."""
    if not path.exists():
        return None
    scores = json.loads(path.read_text()).get(name, {}).get(kind)
    if scores is None:
        return None
    flat = [scores.get(label["file"], []) for label in split.labels]
    if any(len(of) != split.ends[n + 1] - split.ends[n] for n, of in enumerate(flat)):
        return None
    return np.array([s for of in flat for s in of])


def show(mean):
    return f"{mean[0]:.3f} ({mean[1]:.3f} to {mean[2]:.3f})"


def more(mean):
    return f"{mean[0]:+.3f} ({mean[1]:+.3f} to {mean[2]:+.3f})"


def drawn(split, value, draws=DRAWS):
    """A value of places (a function of their numbers) with its interval over repositories."""
    repositories = [label["repository"] for label in split.labels]
    of = collections.defaultdict(list)
    for n, repository in enumerate(repositories):
        of[repository].append(np.arange(split.ends[n], split.ends[n + 1]))
    groups = [np.concatenate(g) for g in of.values()]
    dice = np.random.default_rng(1)
    found = sorted(
        value(np.concatenate([groups[i] for i in dice.integers(0, len(groups), len(groups))])) for _ in range(draws)
    )
    return value(np.arange(split.ends[-1])), found[int(0.025 * draws)], found[int(0.975 * draws)]


def pair_tables(split, judges):
    """Prints pairs by judge, and by rule."""
    rows = {name: measures.pair_rows(split, score) for name, score in judges.items()}
    judge = rows["judge"]
    for n, row in enumerate(judge):
        row["over_alone"] = row["pair"] - row["alone"]
        for name in rows:
            row[f"over {name}"] = row["pair"] - rows[name][n]["pair"]
            row[f"pair {name}"] = rows[name][n]["pair"]
    names = [name for name in rows if name != "judge"]
    print("| pairs | n | judge | candidates alone | more |" + "".join(f" {n} | more |" for n in names))
    print("| --- | --- | --- | --- | --- |" + " --- | --- |" * len(names))
    rules = collections.Counter(r["rule"] for r in judge)
    wanted = [("all", False, judge), ("with a place", True, [r for r in judge if r["has"]])]
    for rule, n in rules.most_common():
        mine = [r for r in judge if r["rule"] == rule and r["has"]]
        if n >= 20 and mine:
            wanted.append((f"{rule}, with a place", True, mine))
    for name, _, of in wanted:
        cells = [interval(of, "pair"), interval(of, "alone"), interval(of, "over_alone")]
        line = f"| {name} | {len(of)} | {show(cells[0])} | {show(cells[1])} | {more(cells[2])} |"
        for other in names:
            line += f" {show(interval(of, f'pair {other}'))} | {more(interval(of, f'over {other}'))} |"
        print(line, flush=True)


def place_table(split, judges):
    a = split.arrays
    fault, clean = calibrate.is_fault(split), split.is_clean()
    side = split.side[a["label"]]
    mended = (side == "after") & a["mine"]
    print("\n| places | " + " | ".join(judges) + " |\n| --- |" + " --- |" * len(judges))
    for name, others in (
        ("AUC, all places", ~fault),
        ("AUC, beside clean functions", clean),
        ("AUC, beside mended functions", mended),
    ):
        cells = []
        for score in judges.values():
            there = score > measures.NONE

            def value(n, score=score, there=there, others=others):
                n = n[there[n]]
                return measures.auc(score[n[fault[n]]], score[n[others[n]]])

            cells.append(show(drawn(split, value)))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def recall_rows(split, score, limit):
    rows = measures.pair_rows(split, score)
    for row in rows:
        row["found"] = float(row["worst"] >= limit)
    return rows


def recall_table(split, judges, confidence):
    print("\n| recall | all pairs | with a place | false places in 1,000 lines |\n| --- | --- | --- | --- |")
    clean = split.is_clean()
    limits = [(name, score, measures.threshold(split, score)) for name, score in judges.items()]
    limits.append(("judge, at confidence", judges["judge"], confidence))
    for name, score, limit in limits:
        rows = recall_rows(split, score, limit)
        has = [r for r in rows if r["has"]]
        false = 1000 * float((score[clean] >= limit).sum()) / split.clean_lines
        print(f"| {name} | {show(interval(rows, 'found'))} | {show(interval(has, 'found'))} | {false:.2f} |")


def calibration_of(probability, fault):
    order = np.argsort(probability)
    parts = np.array_split(order, BINS)
    gaps = [abs(probability[p].mean() - fault[p].mean()) * len(p) for p in parts]
    return sum(gaps) / len(order), [(probability[p].mean(), fault[p].mean(), len(p)) for p in parts]


def calibration_table(split, probability):
    fault, there = calibrate.is_fault(split).astype(float), probability > 0
    error, parts = calibration_of(probability[there], fault[there])
    brier = float(((probability - fault)[there] ** 2).mean())
    share = fault[there].mean()
    print(f"\ncalibration error {error:.4f}; Brier {brier:.4f}, of the share of faults alone {share * (1 - share):.4f}")
    print("| probability | faults | places |\n| --- | --- | --- |")
    for mean, faults, n in parts[-5:]:
        print(f"| {mean:.3f} | {faults:.3f} | {n} |")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    args.add_argument("--split", default="test", choices=("test", "dev"))
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    split = measures.Split(a.work, a.split)
    raw = calibrate.score_split(split, calibrate.load(a.work / "model", split.n_vocab), a.threads)
    calibration = json.loads((a.work / "model" / "calibration.json").read_text())
    probability = calibrate.probability(split, raw, calibration)
    raws = {"judge": raw}
    judges = {"judge": np.where(raw > measures.NONE, probability, measures.NONE)}
    dev = measures.Split(a.work, "dev")
    for kind, name in (("facts", "facts"), ("words", "words"), ("both", "words and facts")):
        fitted = of_words(dev, a.work / "words.json", "dev", kind)
        found = of_words(split, a.work / "words.json", a.split, kind)
        if fitted is not None and found is not None:
            raws[name] = found
            judges[name] = calibrate.probability(split, found, calibrate.calibrate(dev, fitted, 40, 4.0))
    pair_tables(split, raws)
    place_table(split, judges)
    recall_table(split, judges, calibration["confidence"])
    calibration_table(split, probability)


if __name__ == "__main__":
    main()
