"""score.py - findings against known defects.

Hit       same rule, and the labelled line within one line of the cited ones. Every other finding is a false alarm of
          its rule, every defect without a hit a miss.
Macro-F1  the mean over the rules that the labels hold of 2 hits / (2 hits + false alarms + misses)
Interval  2.5 % to 97.5 % of macro-F1 over files drawn again with replacement
"""

import random

NEAR = 1


def counts(files, found):
    """Per file {rule: (hits, false alarms, misses)}."""
    out = []
    for f, answer in zip(files, found):
        row, left = {}, [(x["lines"][0], x["rule"]) for x in f["findings"]]
        for line, rule in answer:
            hit = next((x for x in left if x[1] == rule and abs(x[0] - line) <= NEAR), None)
            h, a, m = row.get(rule, (0, 0, 0))
            row[rule] = (h + 1, a, m) if hit else (h, a + 1, m)
            if hit:
                left.remove(hit)
        for _, rule in left:
            h, a, m = row.get(rule, (0, 0, 0))
            row[rule] = (h, a, m + 1)
        out.append(row)
    return out


def per_rule(rows, rules):
    total = {r: [0, 0, 0] for r in rules}
    for row in rows:
        for rule, c in row.items():
            if rule in total:
                total[rule] = [a + b for a, b in zip(total[rule], c)]
    return total


def f1(c):
    return 2 * c[0] / (2 * c[0] + c[1] + c[2]) if c[0] else 0.0


def macro(rows, rules):
    return sum(f1(c) for c in per_rule(rows, rules).values()) / len(rules)


def rules_of(files):
    return sorted({x["rule"] for f in files for x in f["findings"]})


def summary(files, found):
    rules, rows = rules_of(files), counts(files, found)
    clean = [not f["findings"] for f in files]
    quiet = sum(not a for a, c in zip(found, clean) if c)
    return {
        "macro_f1": round(macro(rows, rules), 4),
        "clean_left_alone": round(quiet / max(1, sum(clean)), 3),
        "f1": {r: round(f1(c), 2) for r, c in per_rule(rows, rules).items()},
    }


def bootstrap(files, tables, n=2000, seed=1):
    """tables: {name: found}. {name: (macro-F1, low, high)} and, per other name, the interval of (first - other)
    on the same draws."""
    rng, rules = random.Random(seed), rules_of(files)
    rows = {k: counts(files, v) for k, v in tables.items()}
    draws = {k: [] for k in rows}
    for _ in range(n):
        pick = rng.choices(range(len(files)), k=len(files))
        for k, r in rows.items():
            draws[k].append(macro([r[i] for i in pick], rules))
    first = next(iter(tables))

    def ends(v):
        v = sorted(v)
        return round(v[int(0.025 * len(v))], 4), round(v[int(0.975 * len(v)) - 1], 4)

    return (
        {k: (round(macro(rows[k], rules), 4), *ends(draws[k])) for k in rows},
        {k: ends([a - b for a, b in zip(draws[first], draws[k])]) for k in rows if k != first},
    )
