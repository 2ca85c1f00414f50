#!/usr/bin/env python3
"""How well `mythos search` finds what is right: NDCG@10, MRR, recall@k, acc@k with 95 % bootstrap intervals, and paired differences between
weights. Data: shared/reference/../eval (its README). Python's standard library only.

    retrieval_eval.py cosqa DIR [--weights A=1,B=2]...          6,267 functions, 500 questions, batch mode of the command
    retrieval_eval.py tasks FILE.jsonl --repos DIR [...]        query -> files of a repository at a commit, of the kinds of the gold files (.py, or
                                                                .c and .h); DIR/<owner>+<name> are git repositories; --beside-base compares
                                                                with retrieval_base.py on the same trees
    retrieval_eval.py score GOLD.jsonl RESULTS.json [...]       {"query","gold":[id,...]} against the JSON of the batch mode

The first configuration is the defaults; each --weights adds one, compared with it query by query. --ablate switches every signal off in turn.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from retrieval_base import Base

# A signal and the weights that are without it.
SIGNALS = [
    ("path and names columns", "col_path=1,col_names=1"), ("length at b = 0.75", "b=0.75"), ("compound names whole", "term_whole=0"),
    ("parts of compound names", "term_part=0"), ("two words as one", "term_joined=0"), ("what programmers write", "term_alt=0"),
    ("languages left out", "term_language=1"), ("best four chunks of a file", "file_chunks=1"), ("symbol equality", "symbol=0,symbol_query=0"),
    ("kinds of files", "test=1,example=1,vendored=1,generated=1,document=1,data=1"), ("tests alone", "test=1"),
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
    for k in (1, 3, 5, 10, 20):
        out["acc@%d" % k] = float(len(places) == n_gold and places[-1] <= k)
        out["any@%d" % k] = float(bool(places) and places[0] <= k)
    return out


def interval(values, rng, n=2000):
    """Mean and its 95 % bootstrap interval."""
    size = len(values)
    means = sorted(sum(rng.choices(values, k=size)) / size for _ in range(n))
    return sum(values) / size, means[int(0.025 * n)], means[int(0.975 * n)]


def report(runs, names):
    """runs: [(name, [metrics of a query])]; the first is what the others are compared with."""
    for name, rows in runs:
        rng = random.Random(1)
        print(name)
        for m in names:
            mean, low, high = interval([r[m] for r in rows], rng)
            line = "  %-8s %.4f [%.4f, %.4f]" % (m, mean, low, high)
            if rows is not runs[0][1]:
                d, low, high = interval([a[m] - b[m] for a, b in zip(rows, runs[0][1])], rng)
                line += "   difference %+.4f [%+.4f, %+.4f]" % (d, low, high)
            print(line)
        sys.stdout.flush()


def configurations(args):
    out = [("defaults", args.base)]
    for w in args.weights:
        out.append((w, ",".join(x for x in (args.base, w) if x)))
    if args.ablate:
        out += [("without " + name, ",".join(x for x in (args.base, w) if x)) for name, w in SIGNALS]
    return out


def command(args, weights, rest):
    return [args.mythos, "search", "--lexical", "--json", "-q"] + (["--weights", weights] if weights else []) + rest


def run(line, ok=(0,)):
    p = subprocess.run(line, stdout=subprocess.PIPE, check=False)
    if p.returncode not in ok:
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
        for name, weights in configurations(args):
            answers = run(command(args, weights, ["-k", "100", "--corpus", corpus, "--queries", asked]))
            runs.append((name, [metrics(ranks(a["ids"], gold[a["query"]]), 1) for a in answers]))
    report(runs, ["NDCG@10", "MRR", "R@1", "R@10", "R@100"])


def unpack(repo, commit, suffixes, tree, have):
    """Makes `tree` the commit's files with these suffixes; have: path -> blob of what is there. False: no such commit."""
    git = ["git", "--git-dir", repo]
    listed = subprocess.run(git + ["ls-tree", "-r", "-z", commit], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode:
        return False
    want = {}
    for row in listed.stdout.split(b"\0")[:-1]:
        head, path = row.split(b"\t", 1)
        mode, _, blob = head.decode().split()
        path = os.fsdecode(path)
        if mode.startswith("100") and path.endswith(suffixes):
            want[path] = blob
    for path in [p for p in have if want.get(p) != have[p]]:
        os.unlink(os.path.join(tree, path))
        del have[path]
    lacking = [p for p in want if p not in have]
    data = subprocess.run(git + ["cat-file", "--batch"], input="".join(want[p] + "\n" for p in lacking).encode(), stdout=subprocess.PIPE,
                          check=True).stdout
    at = 0
    for path in lacking:
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        place = os.path.join(tree, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as f:
            f.write(data[end + 1:end + 1 + size])
        have[path] = want[path]
        at = end + size + 2
    return True


def base_ranks(base, tree, have, query, gold):
    files = []
    for path in sorted(have):
        with open(os.path.join(tree, path), encoding="latin-1", newline="") as f:
            files.append((have[path], path, f.read()))
    base.open(files)
    places = ranks(base.rank(query, 20), gold)
    base.close()
    return places


def tasks(args):
    """Each task's tree is unpacked over the one before it in the same repository: a matter of changed files."""
    rows = [json.loads(line) for line in open(args.data, encoding="utf-8")]
    rows = rows[::args.every]
    rows = rows[:args.limit] if args.limit else rows
    base = Base() if args.beside_base else None
    of_base, there = [], {}
    conf = configurations(args)
    found = [(name, []) for name, _ in conf]
    with tempfile.TemporaryDirectory() as d:
        env = dict(os.environ, XDG_CACHE_HOME=os.path.join(d, "cache"))
        os.environ.update(env)
        for n, task in enumerate(rows):
            folder = task["repo"].replace("/", "+")
            repo = os.path.join(args.repos, folder)
            if os.path.isdir(os.path.join(repo, "repo")):
                repo = os.path.join(repo, "repo")
            tree = os.path.join(d, folder)
            os.makedirs(tree, exist_ok=True)
            gold = sorted(set(g["file"] for g in task["gold"]))
            have = there.setdefault(folder, {})
            if not unpack(repo, task["base_commit"], (".c", ".h") if any(g.endswith((".c", ".h")) for g in gold) else (".py",), tree, have):
                print("%s: no tree, left out" % task["id"], file=sys.stderr)
                continue
            if base:
                of_base.append(metrics(base_ranks(base, tree, have, task["query"], gold), len(gold)))
            for (name, weights), (_, out) in zip(conf, found):
                query = task["query"] if not task["query"].startswith("-") else " " + task["query"]
                hits = run(command(args, weights, ["-k", "20", "--files", "--mode", "ranked", "--", query, tree]), ok=(0, 1))
                out.append(metrics(ranks([h["path"] for h in hits], gold), len(gold)))
            if n % 20 == 19:
                print("%d of %d" % (n + 1, len(rows)), file=sys.stderr)
    report(([("base", of_base)] if base else []) + found,
           ["any@1", "any@5", "any@10", "any@20", "acc@1", "acc@5", "acc@10", "acc@20", "MRR"])


def score(args):
    gold = {}
    for line in open(args.data, encoding="utf-8"):
        row = json.loads(line)
        gold[row["query"]] = row["gold"]
    runs = []
    for path in args.results:
        answers = json.load(open(path, encoding="utf-8"))
        runs.append((path, [metrics(ranks(a["ids"], gold[a["query"]]), len(gold[a["query"]])) for a in answers]))
    report(runs, ["NDCG@10", "MRR", "R@1", "R@10", "R@100"])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("what", choices=["cosqa", "tasks", "score"])
    p.add_argument("data")
    p.add_argument("results", nargs="*")
    p.add_argument("--mythos", default="build/mythos")
    p.add_argument("--repos", default=".")
    p.add_argument("--base", default="", help="weights of the first configuration")
    p.add_argument("--weights", action="append", default=[])
    p.add_argument("--ablate", action="store_true")
    p.add_argument("--limit", type=int, default=0)
    p.add_argument("--every", type=int, default=1, help="one task of so many, evenly")
    p.add_argument("--beside-base", action="store_true")
    args = p.parse_args()
    {"cosqa": cosqa, "tasks": tasks, "score": score}[args.what](args)


main()
