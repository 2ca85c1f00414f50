#!/usr/bin/env python3
"""How well `mythos search` finds what is right: NDCG@10, MRR, recall@k, acc@k with 95 % bootstrap intervals, and paired
differences between weights. Data: shared/reference/../eval (its README). Python's standard library only.

    retrieval_eval.py cosqa DIR [--weights A=1,B=2]...      6,267 functions, 500 questions, batch mode of the command
    retrieval_eval.py score GOLD.jsonl RESULTS.json [...]   {"query","gold":[id,...]} against the JSON of the batch mode

The first configuration is the defaults; each --weights adds one, compared with it query by query. --ablate switches
every signal off in turn. --embed-model M adds words and vectors together beside words alone, --shares 0.1,0.2 with
these shares of nearness: the best of them, and the lower end of its difference, say what `semantic` of
retrieval/rank/weights.def is to be. --csv FILE writes the table.
"""

import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

# A signal and the weights that are without it. Those of files are measured on repositories: retrieval_repos.py
# --weights.
SIGNALS = [
    ("names column", "col_names=1"),
    ("length at b = 0.75", "b=0.75"),
    ("compound names whole", "term_whole=0"),
    ("parts of compound names", "term_part=0"),
    ("what programmers write", "term_alt=0"),
    ("languages set back", "term_language=1"),
    ("rows of the rarest terms", "rows=1000000"),
    ("and with two words as one", "term_joined=0.5"),
    ("and with other forms of a word", "term_form=1"),
    ("and with the question's own words set back", "term_frame=0.2"),
]


def ranks(ids, gold):
    """1-based places of the gold ids."""
    return sorted(ids.index(g) + 1 for g in set(gold) if g in ids)


def metrics(places, n_gold):
    """Of one query: a dict of name -> value."""
    out = {}
    ideal = sum(1 / math.log2(i + 2) for i in range(min(n_gold, 10)))
    out["NDCG@10"] = sum(1 / math.log2(p + 1) for p in places if p <= 10) / ideal
    out["MRR"] = 1 / places[0] if places else 0.0
    for k in (1, 5, 10, 20, 100):
        out["R@%d" % k] = sum(p <= k for p in places) / n_gold
    for k in (1, 5, 10):
        out["acc@%d" % k] = float(any(p <= k for p in places))
    return out


def interval(values, rng, n=2000):
    """Mean and its 95 % bootstrap interval."""
    size = len(values)
    means = sorted(sum(rng.choices(values, k=size)) / size for _ in range(n))
    return sum(values) / size, means[int(0.025 * n)], means[int(0.975 * n)]


def report(runs, names, path):
    """runs: [(name, [metrics of a query])]; the first is what the others are compared with. path: of the table,
    or None."""
    table = [["configuration", "metric", "mean", "low", "high", "difference", "difference_low", "difference_high"]]
    for name, rows in runs:
        rng = random.Random(1)
        print(name)
        for m in names:
            mean = interval([r[m] for r in rows], rng)
            line, row = "  %-8s %.4f [%.4f, %.4f]" % (m, *mean), ["%.4f" % x for x in mean]
            if rows is not runs[0][1]:
                d = interval([a[m] - b[m] for a, b in zip(rows, runs[0][1])], rng)
                line += "   difference %+.4f [%+.4f, %+.4f]" % d
                row += ["%+.4f" % x for x in d]
            print(line)
            table.append([name, m, *row])
        sys.stdout.flush()
    if path:
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerows(table)


def configurations(args):
    """[(name, weights, with vectors)]"""
    out = [("defaults", args.base, False)]
    for w in args.weights:
        out.append((w, ",".join(x for x in (args.base, w) if x), False))
    if args.ablate:
        out += [
            (("" if name.startswith("and ") else "without ") + name, ",".join(x for x in (args.base, w) if x), False)
            for name, w in SIGNALS
        ]
    if args.embed_model:
        out.append(("words and vectors", args.base, True))
        for share in filter(None, args.shares.split(",")):
            w = ",".join("%s=%s" % (kind, share) for kind in ("semantic", "semantic_issue", "semantic_symbol"))
            out.append(("share of nearness " + share, ",".join(x for x in (args.base, w) if x), True))
    return out


def command(args, weights, has_vectors, rest):
    how = ["--embed-model", args.embed_model] if has_vectors else ["--lexical"]
    return [args.mythos, "search", *how, "--json", "-q"] + (["--weights", weights] if weights else []) + rest


def run(line):
    p = subprocess.run(line, stdout=subprocess.PIPE, check=False)
    if p.returncode:
        sys.exit("%s: exit code %d" % (" ".join(line), p.returncode))
    return json.loads(p.stdout)


def cosqa(args):
    code = json.load(open(os.path.join(args.data, "code_idx_map.txt"), encoding="utf-8"))
    queries = json.load(open(os.path.join(args.data, "cosqa-retrieval-dev-500.json"), encoding="utf-8"))
    gold = {str(i): [q["retrieval_idx"]] for i, q in enumerate(queries)}
    with tempfile.TemporaryDirectory() as d:
        corpus, asked = os.path.join(d, "corpus.jsonl"), os.path.join(d, "queries.jsonl")
        with open(corpus, "w", encoding="utf-8") as f:
            for text, i in code.items():
                print(json.dumps({"id": i, "text": text}), file=f)
        with open(asked, "w", encoding="utf-8") as f:
            for i, q in enumerate(queries):
                print(json.dumps({"id": str(i), "text": q["doc"]}), file=f)
        runs = []
        for name, weights, has_vectors in configurations(args):
            answers = run(command(args, weights, has_vectors, ["-k", "100", "--corpus", corpus, "--queries", asked]))
            runs.append((name, [metrics(ranks(a["ids"], gold[a["query"]]), 1) for a in answers]))
    report(runs, ["NDCG@10", "MRR", "R@1", "R@10", "R@100"], args.csv)


def score(args):
    gold = {}
    for line in open(args.data, encoding="utf-8"):
        row = json.loads(line)
        gold[row["query"]] = row["gold"]
    runs = []
    for path in args.results:
        answers = json.load(open(path, encoding="utf-8"))
        runs.append((path, [metrics(ranks(a["ids"], gold[a["query"]]), len(gold[a["query"]])) for a in answers]))
    report(runs, ["NDCG@10", "MRR", "R@1", "R@10", "R@100"], args.csv)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("what", choices=["cosqa", "score"])
    p.add_argument("data")
    p.add_argument("results", nargs="*")
    p.add_argument("--mythos", default="build/mythos")
    p.add_argument("--base", default="", help="weights of the first configuration")
    p.add_argument("--weights", action="append", default=[])
    p.add_argument("--ablate", action="store_true")
    p.add_argument("--embed-model", help="a model that makes vectors: words and vectors together beside words alone")
    p.add_argument("--csv", help="the table is written here")
    p.add_argument("--shares", default="", help="with --embed-model: shares of nearness, behind commas")
    args = p.parse_args()
    {"cosqa": cosqa, "score": score}[args.what](args)


main()
