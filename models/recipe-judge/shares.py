#!/usr/bin/env python3
"""shares.py - how often each row of rules is right in real code, by reading -> WORK/model/calibration.txt

A fix's repository says which of two texts is worse; it does not say how often a place of a row is a fault in code as it
is, and what people rarely write fixes for (a secret in the source, SQL put together) has next to no pairs. So places of
whole projects were drawn at random, row by row, and read one by one: verdicts.tsv says of each whether a careful
reviewer would ask for a change (1) or not (0). Places of set A were read by those who wrote the rows, with the same
projects in view, or by others before the rows were changed by what they said, and count half; those of set B
afterwards, by readers who saw rule and reason only, in projects that no row was written for (a part of them had been
given a high probability by an earlier calibration). Those of set C are findings of a calibration in projects that were
chosen after it, read as those of set B, at most four of a row and 16 of a project. Set D are those of them that the
rows, changed by what was read, do not give any more: they count for no row. Set T are findings of the last two
calibrations in projects that these had not seen, by rows that were not changed since.

A row's share is (faults + PRIOR * expected) / (places read + PRIOR), of the places outside of tests. `expected` comes
from how rare the row's places are, and from the other rows of its rule and of its name, by a logistic regression over
all places read: rows that find something everywhere are nearly always wrong, and rows that ask for the same are right
about as often. Rows that do not depend on what callers give (alone.rules, and those about requests) are not expected to
be as the others of their rule. PRIOR is large because places of one project are alike: what ten places of a row say of
one project is less than ten places say. In tests fewer places are worth a change, whatever the row: `tests` is the
logarithm of the factor of their odds, fitted on sets B, C and T beside the rows' shares.

Of what a calibration calls findings in other projects, fewer are right than it says: a row is among them also because
its places that were read happened to be right, and other projects have other ways of being right. By how much is
fitted on set T, each project by the others (`offset_of_findings`), and taken off the odds of all rows: what was learned
from those very findings does not count there, because the next projects have faults of reading of their own.
`--places` are the places of those projects as `mythos candidates --judge --format jsonl` prints them, a file a
project, OWNER_NAME.jsonl; sigmoid(scale * score + offset) is the row's share for a place of the row's mean score. The
scale is fitted on set B: how much more often, within a row, a place of a higher score was a fault. It is far smaller
than on pairs of dev (calibrate.py): which of two versions of a function is the mended one says little about which
place of many is a fault. `confidence` becomes CONFIDENCE, and the mean of the probabilities from there on is printed:
the share of findings that are expected to be right in code like that which was read.

  shares.py --places PLACES.jsonl...   writes the calibration, a word for each row of the rules
  shares.py --places ... --kept FILE --rows GLOB...
                                       makes the words of the rows that match, and of those that FILE, a calibration
                                       made before, does not have; all others stay as FILE has them
  shares.py --table                    prints how many places of each row were read, and how many were faults
"""

import argparse
import collections
import fnmatch
import json
import math
import pathlib
import re

import numpy as np

from measure import HERE

# Of PRIOR 3, 6, 12, HOLD 1, 4 and A's weight 0.1, 0.25, 0.5 among the best for projects of sets B and C held out, in 8
# parts: log likelihood -0.568 a place (-0.573 with a PRIOR of 3).
PRIOR, WEIGHT, HOLD = 6.0, {"A": 0.5, "B": 1.0, "C": 1.0, "T": 1.0}, 4.0
# SAID: what counts as a finding where it is asked how often findings are right.
CONFIDENCE, SAID = 0.34, 0.34
# Rows of what a change took away (rows_of_changes) have no place in code as it is. They have one in 29 of 56 undone
# fixes, in 28 the right one, and in 12 of 897 ordinary commits, of which 9 took away what was not needed. Where one
# change in 75 undoes a fix, this is the share of their places that are right.
TAKEN_AWAY = 0.4
TESTS = re.compile(
    r"(^|/)([^/]*[._-])?(tests?|test_?data|testcases|testsuites?|unittests?|specs?|e2e|__(tests?|mocks|snapshots)__)/|"
    r"(^|/)(test|tests|spec)[_.-][^/]*$|(^|/)conftest\.py$|"
    r"(^|/)(\w*[._-]|\w*[a-z])?(tests?|specs?|Tests?|TestCase)\.\w+$"
)
RULES = HERE.parents[1] / "retrieval" / "candidates" / "rules"
# Rows whose places do not depend on what callers do: what the function alone shows, and what a request sends. That
# other places of their rules are mostly harmless, since callers give no such value, says nothing about them.
ALONE, REQUEST = "alone.rules", "/request"


def rows_of_rules():
    """Every rule/row of the pack, once."""
    words = [line.split()[1] for p in sorted(RULES.glob("*.rules")) for line in p.open() if line.startswith("rule ")]
    return list(dict.fromkeys(words))


def groups_of(row, alone):
    """The rows that are right about as often as this one: those of its rule and of its name."""
    rule, name = row.split("/")
    if row in alone:
        return (f"={ALONE}",)
    return (f"/{name}",) if f"/{name}" == REQUEST else (f"{rule}/", f"/{name}")


def rows_alone():
    lines = (RULES / ALONE).read_text().splitlines()
    return {line.split()[1] for line in lines if line.startswith("rule ")}


def rows_of_changes():
    """The rules/rows about what a change took away: those at the event `lost`."""
    texts = [p.read_text() for p in sorted(RULES.glob("*.rules"))]
    return {part.split()[0] for text in texts for part in text.split("\nrule ")[1:] if "\nat lost\n" in part}


def read_verdicts(path, without=()):
    """rule/row -> {set: [faults, places]} of the places that are not in tests, nor in repositories of `without`."""
    found = collections.defaultdict(lambda: {name: [0, 0] for name in WEIGHT})
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, repository, file, _, rule, row, verdict = line.split("\t")[:7]
            if name not in WEIGHT or TESTS.search(file) or repository in without:
                continue
            found[f"{rule}/{row}"][name][0] += int(verdict)
            found[f"{rule}/{row}"][name][1] += 1
    return found


def blind_places(path, by_place):
    """(row, score, verdict) of the places of set B whose score is known."""
    for line in path.read_text().splitlines():
        name, repository, file, number, rule, row, verdict = line.split("\t")[:7] if line[0] != "#" else [""] * 7
        stem, row = repository.replace("/", "_"), f"{rule}/{row}"
        for key in ((stem, file, number, row), (stem, f"{stem}/{file}", number, row)):
            if name == "B" and key in by_place:
                yield row, by_place[key], int(verdict)
                break


def factor_of_tests(path, share):
    """The logarithm of how much lower the odds of places in tests are than those of their rows: the weight that makes
    set B's verdicts most likely, beside one for all places."""
    rows = []
    for line in path.read_text().splitlines():
        name, _, file, _, rule, row, verdict = line.split("\t")[:7] if line[:1] != "#" else [""] * 7
        if name in ("B", "C", "T"):
            rows.append((1.0 if TESTS.search(file) else 0.0, logit(share(f"{rule}/{row}")), 1.0, int(verdict)))
    x, y = np.array(rows)[:, :3], np.array(rows)[:, 3]
    at, bend = fit(x, y, np.ones(len(y)), np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.0, 0.0]))
    error = math.sqrt(np.linalg.inv(bend)[0, 0])
    print(f"tests {at[0]:.2f}, standard error {error:.2f}, of {int(x[:, 0].sum())} places")
    return min(float(at[0]), 0.0)


def places_of_findings(path):
    """(repository, rule/row, verdict) of set T, but for tests."""
    for line in path.read_text().splitlines():
        name, repository, file, _, rule, row, verdict = line.split("\t")[:7] if line[:1] != "#" else [""] * 7
        if name == "T" and not TESTS.search(file):
            yield repository, f"{rule}/{row}", int(verdict)


def offset_of_findings(path, number, parts=8):
    """What is added to the logarithm of the odds of all rows, so that findings in other projects are as often right as
    they are said to be: fitted on set T, each part of their projects with the shares that all others give."""
    places = list(places_of_findings(path))
    repositories = sorted({of for of, _, _ in places})
    rows = []
    for i in range(parts if repositories else 0):
        out = set(repositories[i::parts])
        share = shares_of(read_verdicts(path, out), number)
        rows += [(logit(share(row)), verdict) for of, row, verdict in places if of in out and share(row) >= SAID]
    if len(rows) < 50:
        return 0.0
    said, right = np.array(rows).T
    at = 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-(said + at)))
        at += float(np.clip((right - p).sum() / (p * (1 - p)).sum(), -1, 1))
    print(f"findings {at:.2f}, of {len(rows)} places in {len(repositories)} projects: {right.mean():.2f} are right")
    return min(at, 0.0)


def weighed(counts):
    return tuple(sum(WEIGHT[name] * of[i] for name, of in counts.items()) for i in (0, 1))


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def fit(x, faults, places, at, hold=None):
    """Logistic regression by Newton's method from `at`: the weights, and the curvature where they are best. hold: how
    much each weight is held at 0 (ridge)."""
    hold = np.zeros(len(at)) if hold is None else hold
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ at))
        bend = (x * (places * p * (1 - p))[:, None]).T @ x + np.diag(hold + 1e-6)
        at = at + np.clip(np.linalg.solve(bend, x.T @ (faults - places * p) - hold * at), -1, 1)
    return at, bend


def expect(rows, number, hold=HOLD):
    """What a row's share is expected to be: by how rare it is, and by the other rows of its rule and of its name, as
    far as they were read (each has a weight of its own, held at 0). A function of rule/row."""
    total, alone = sum(number.values()), rows_alone()
    groups = sorted({g for row in rows for g in groups_of(row, alone)})
    at_group = {g: 2 + i for i, g in enumerate(groups)}

    def of(row):
        x = np.zeros(2 + len(groups))
        x[0], x[1] = math.log10((number.get(row, 0) + 0.5) / total), 1.0
        for g in groups_of(row, alone):
            if g in at_group:
                x[at_group[g]] = 1.0
        return x

    x = np.array([of(row) for row in rows])
    k, n = (np.array([weighed(rows[row])[i] for row in rows]) for i in (0, 1))
    at, _ = fit(x, k, n, np.zeros(x.shape[1]), np.array([0.0, 0.0] + [hold] * len(groups)))
    return lambda row: sigmoid(float(of(row) @ at))


def shares_of(verdicts, number):
    """A function of rule/row: the row's share."""
    expected = expect(verdicts, number)

    def share(row):
        faults, places = weighed(verdicts[row]) if row in verdicts else (0.0, 0.0)
        return (faults + PRIOR * expected(row)) / (places + PRIOR)

    return share


def scale_of(places, scores, share):
    """The slope of set B's verdicts over the scores of their places, beside the share of their rows."""
    rows = []
    for row, score, verdict in places:
        rows.append((score - sum(scores[row]) / len(scores[row]), logit(share(row)), 1.0, verdict))
    if len(rows) < 50:
        return 0.1
    x, y = np.array(rows)[:, :3], np.array(rows)[:, 3]
    at, bend = fit(x, y, np.ones(len(y)), np.array([0.0, 1.0, 0.0]))
    error = math.sqrt(np.linalg.inv(bend)[0, 0])
    print(f"scale {at[0]:.3f}, standard error {error:.3f}, of {len(rows)} places")
    return float(max(at[0], 0.02))


def logit(p):
    p = min(max(p, 0.002), 0.998)
    return math.log(p / (1 - p))


def show_table(verdicts):
    print("| rule/row | A | B | C | T |\n| --- | --- | --- | --- | --- |")
    for row, counts in sorted(verdicts.items()):
        of = (f"{counts[name][0]} of {counts[name][1]}" if counts[name][1] else "" for name in WEIGHT)
        print(f"| {row} | {' | '.join(of)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-judge")
    parser.add_argument("--verdicts", type=pathlib.Path, default=HERE / "verdicts.tsv")
    parser.add_argument("--places", type=pathlib.Path, nargs="+")
    parser.add_argument("--kept", type=pathlib.Path, help="a calibration made before")
    parser.add_argument("--rows", nargs="*", default=[], help="rule/row patterns that are made anew")
    parser.add_argument("--table", action="store_true")
    opts = parser.parse_args()
    verdicts = read_verdicts(opts.verdicts)
    if opts.table or not opts.places:
        show_table(verdicts)
        return
    scores, number, by_place = collections.defaultdict(list), collections.Counter(), {}
    for path in opts.places:
        for place in map(json.loads, path.open()):
            row = f"{place['rule']}/{place['row']}"
            number[row] += 1
            if place.get("score") is not None:
                scores[row].append(place["score"])
                by_place[path.stem, place["file"], str(place["line"]), row] = place["score"]
    share, less = shares_of(verdicts, number), offset_of_findings(opts.verdicts, number)
    everything = [s for of in scores.values() for s in of]
    kept = dict(word.split("=") for word in opts.kept.read_text().split()) if opts.kept else {}
    k = float(kept["*"].split(":")[0]) if kept else scale_of(blind_places(opts.verdicts, by_place), scores, share)
    rest = kept.get("*", f"{k:.4f}:{logit(0.01) - k * sum(everything) / len(everything):.4f}")
    out = [f"confidence={CONFIDENCE}", f"tests={factor_of_tests(opts.verdicts, share):.3f}", f"*={rest}"]
    passing, of_changes = [], rows_of_changes()
    for row in rows_of_rules():
        of = scores.get(row, everything)
        is_of_change = row in of_changes
        offset = (logit(TAKEN_AWAY) if is_of_change else logit(share(row)) + less) - k * sum(of) / len(of)
        if row in kept and not any(fnmatch.fnmatchcase(row, glob) for glob in opts.rows):
            out.append(f"{row}={kept[row]}")
            offset = float(kept[row].split(":")[1])
        else:
            out.append(f"{row}={k:.4f}:{offset:.4f}")
            n_read = sum(n for _, n in verdicts.get(row, {}).values())
            print(f"{row}: {TAKEN_AWAY if is_of_change else sigmoid(logit(share(row)) + less):.2f} of {n_read} read")
        passing += [p for p in (sigmoid(k * s + offset) for s in scores.get(row, [])) if p >= CONFIDENCE]
    path = opts.work / "model" / "calibration.txt"
    path.write_text(" ".join(out) + "\n")
    print(f"{len(passing)} of {len(everything)} places pass, {sum(passing) / max(1, len(passing)):.2f} expected right")
    print(f"{path}: {len(out) - 3} rows; {sum(v[n][1] for v in verdicts.values() for n in WEIGHT)} places were read")


if __name__ == "__main__":
    main()
