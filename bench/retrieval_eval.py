#!/usr/bin/env python3
"""How well `mythos search` finds what is right: NDCG@10, MRR, recall@k, acc@k with 95 % bootstrap intervals, and paired
differences between weights. Python's standard library only.

    retrieval_eval.py cosqa DIR [--weights A=1,B=2]...      6,267 functions, 500 questions, batch mode of the command
    retrieval_eval.py descriptions DIR                      the same functions without their docstrings, found by the
                                                            first sentences of 1,500 that answer no question
    retrieval_eval.py score GOLD.jsonl RESULTS.json [...]   {"query","gold":[id,...]} against the JSON of the batch mode
    retrieval_eval.py questions FILE.jsonl --repos DIR      questions to files, or lines of them, in repositories;
                                                            --topic adds what inspect-topic would show

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
import re
import subprocess
import sys
import tempfile

import retrieval_repos

# For --ablate: what is switched off, and the weights that do it. Signals that rank files instead of chunks are measured
# by retrieval_repos.py.
SIGNALS = [
    ("names column", "col_names=1"),
    ("length at b = 0.75", "b=0.75"),
    ("compound names whole", "term_whole=0"),
    ("parts of compound names", "term_part=0"),
    ("what programmers write", "term_alt=0"),
    ("languages set back", "term_language=1"),
    ("rows of all words", "rows=2000"),
    ("misspelt words mended", "mended=0"),
    ("names of files", "stem=0"),
    ("and with other forms of a word", "term_form=1"),
    ("and with the question's own words set back", "term_frame=0.2"),
]

# The same for vectors; compared with words and vectors.
HYBRID = "words and vectors"
VECTOR_SIGNALS = [("nearness from the mean", "semantic_from=0")]


def ranks(ids, gold):
    """The places of the gold ids among the ids that were found, from 1, best first."""
    return sorted(ids.index(g) + 1 for g in set(gold) if g in ids)


def metrics(places, n_gold):
    """The measures of one query, by name. places: as ranks gives them."""
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
    """Prints every measure of every run, and how it differs from that of the first run, or from words and vectors where
    its name begins with them. runs: [(name, [metrics of a query])]. path: where the table is written as CSV, or None.
    """
    table = [["configuration", "metric", "mean", "low", "high", "difference", "difference_low", "difference_high"]]
    for name, rows in runs:
        rng = random.Random(1)
        print(name)
        for m in names:
            mean = interval([r[m] for r in rows], rng)
            line, row = "  %-8s %.4f [%.4f, %.4f]" % (m, *mean), ["%.4f" % x for x in mean]
            if rows is not runs[0][1]:
                base = dict(runs)[HYBRID] if name.startswith(HYBRID + " ") else runs[0][1]
                d = interval([a[m] - b[m] for a, b in zip(rows, base)], rng)
                line += "   difference %+.4f [%+.4f, %+.4f]" % d
                row += ["%+.4f" % x for x in d]
            print(line)
            table.append([name, m, *row])
        sys.stdout.flush()
    if path:
        with open(path, "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerows(table)


def configurations(args):
    """What the flags ask to compare: [(name, weights, with vectors)]."""
    out = [("defaults", args.base, False)]
    for w in args.weights:
        out.append((w, ",".join(x for x in (args.base, w) if x), False))
    if args.ablate:
        out += [
            (("" if name.startswith("and ") else "without ") + name, ",".join(x for x in (args.base, w) if x), False)
            for name, w in SIGNALS
        ]
    if args.embed_model:
        out.append((HYBRID, args.base, True))
        for name, w in VECTOR_SIGNALS if args.ablate else []:
            out.append((HYBRID + " without " + name, ",".join(x for x in (args.base, w) if x), True))
        for share in filter(None, args.shares.split(",")):
            out.append(("share of nearness " + share, ",".join(x for x in (args.base, "semantic=" + share) if x), True))
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
    batch(args, [(i, text) for text, i in code.items()], [(str(i), q["doc"]) for i, q in enumerate(queries)], gold)


DOCSTRING = re.compile(r'(:\s*\n?\s*)[rRuU]*("{3}|\'{3})(.*?)\2', re.S)
FIRST_SENTENCE = re.compile(r"\n\s*\n|\.\s|\.$|:param|@param|\n\s*[:@]")


def descriptions(args):
    code = json.load(open(os.path.join(args.data, "code_idx_map.txt"), encoding="utf-8"))
    queries = json.load(open(os.path.join(args.data, "cosqa-retrieval-dev-500.json"), encoding="utf-8"))
    answers, rows, asked = {q["retrieval_idx"] for q in queries}, [], []
    for text, i in code.items():
        m = DOCSTRING.search(text)
        rows.append((i, text[:m.start()] + m.group(1) + "pass" + text[m.end():] if m else text))
        said = FIRST_SENTENCE.split(m.group(3).strip())[0].split() if m else []
        if 4 <= len(said) <= 15 and i not in answers:
            asked.append((str(i), " ".join(said)))
    random.Random(7).shuffle(asked)
    batch(args, rows, asked[:1500], {i: [int(i)] for i, _ in asked[:1500]})


def batch(args, rows, asked, gold):
    """Asks the batch mode of search under every configuration, and reports. rows, asked: [(id, text)] of the corpus and
    of the queries; gold: id of a query -> [id of a row]."""
    with tempfile.TemporaryDirectory() as d:
        names, runs = [os.path.join(d, "corpus.jsonl"), os.path.join(d, "queries.jsonl")], []
        for name, texts in zip(names, (rows, asked)):
            with open(name, "w", encoding="utf-8") as f:
                f.writelines(json.dumps({"id": i, "text": text}) + "\n" for i, text in texts)
        for name, weights, has_vectors in configurations(args):
            files = ["-k", "100", "--corpus", names[0], "--queries", names[1]]
            answers = run(command(args, weights, has_vectors, files))
            runs.append((name, [metrics(ranks(a["ids"], gold[a["query"]]), 1) for a in answers]))
    report(runs, ["NDCG@10", "MRR", "R@1", "R@10", "R@100"], args.csv)


# ---- questions to places ----

def extract(git, commit, root, to):
    """Writes the files of a commit, or of its folder `root`, below `to`. Files that the clone does not have are left
    out: a partial clone lacks large ones."""
    def run_git(*line, **how):
        return subprocess.run(["git", "--git-dir", git, *line], stdout=subprocess.PIPE, check=True, **how).stdout

    listed = run_git("ls-tree", "-r", "-z", commit, *([root] if root else []))
    rows = [(row.split(b"\t", 1)[0].split(), row.split(b"\t", 1)[1]) for row in listed.split(b"\0")[:-1]]
    rows = [(blob, path) for (mode, kind, blob), path in rows if kind == b"blob" and mode != b"120000"]
    got = run_git("cat-file", "--batch", input=b"".join(blob + b"\n" for blob, _ in rows))
    at = 0
    for _, path in rows:
        end = got.index(b"\n", at)
        head, at = got[at:end].split(), end + 1
        if len(head) == 3:
            name = os.path.join(os.fsencode(to), path)
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as f:
                f.write(got[at:at + int(head[2])])
            at += int(head[2]) + 1


def is_place(target, path, first, last):
    a, b = target["path"], path
    return (a == b or a.endswith("/" + b) or b.endswith("/" + a)) and (
        target["start"] is None or (first <= target["end"] and last >= target["start"]))


def blocks(answer):
    """[(path, first, last)] that inspect-topic would show. A block that was cut into several prompts counts as one."""
    out = []
    for part in answer["parts"] if isinstance(answer["parts"], list) else []:  # a number: nothing was left to show
        for b in part["blocks"]:
            if out and out[-1][0] == b["file"] and out[-1][2] + 1 == b["first"]:
                out[-1] = (b["file"], out[-1][1], b["last"])
            else:
                out.append((b["file"], b["first"], b["last"]))
    return out


def of_question(targets, found):
    """The measures of one question. found: [(path, first, last)], best first. A place that two targets share counts
    once."""
    places = {next((i + 1 for i, f in enumerate(found[:10]) if is_place(t, *f)), 0) for t in targets} - {0}
    out = metrics(sorted(places), len(targets))
    files = {t["path"] for t in targets}
    hit = [any(is_place({"path": p, "start": None}, *f) for p in files) for f in found]
    out["files found"] = sum(any(is_place({"path": p, "start": None}, *f) for f in found) for p in files) / len(files)
    out["precision"] = sum(hit) / len(hit) if hit else 0.0
    return out


def ask(line, env, at):
    p = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=at, check=False)
    if p.returncode not in (0, 1) and b"nothing in the index" not in p.stderr:
        sys.exit("%s: exit code %d: %s" % (" ".join(line), p.returncode, p.stderr.decode(errors="replace")))
    return json.loads(p.stdout or b"[]")


def questions(args):
    args.mythos = os.path.abspath(args.mythos)
    args.embed_model = args.embed_model and os.path.abspath(args.embed_model)
    asked = [json.loads(line) for line in open(args.data, encoding="utf-8")][::args.every]
    asked.sort(key=lambda q: q["repo"])
    configs = configurations(args)
    runs = {name: [] for name, _, _ in configs} | ({"topic": []} if args.topic else {})
    with tempfile.TemporaryDirectory() as d:
        env, at = dict(os.environ, XDG_CACHE_HOME=os.path.join(d, "cache")), None
        for q in asked:
            if at != (q["repo"], q["commit"], q["root"]):
                at = (q["repo"], q["commit"], q["root"])
                top = os.path.join(d, q["repo"].replace("/", "+"))
                root = os.path.join(top, q["root"])
                extract(retrieval_repos.git_dir(args.repos, q["repo"]), q["commit"], q["root"], top)
                vectors = ["--embed-model", args.embed_model] if args.embed_model else ["--no-embed"]
                line = [args.mythos, "index", root, *vectors, "-q"]
                code = subprocess.run(line, env=env, stdout=subprocess.DEVNULL, check=False).returncode
                if code not in (0, 3):          # 3: all are indexed, but some file only as plain text
                    sys.exit("mythos index: exit code %d" % code)
            targets = [t for t in q["targets"] + q["secondary"] if os.path.exists(os.path.join(top, t["path"]))]
            targets = targets or q["targets"]
            for name, weights, has_vectors in configs:
                rows = ask(command(args, weights, has_vectors, ["-k", "10", "--", q["query"]]), env, root)
                runs[name].append(of_question(targets, [(r["path"], r["start_line"], r["end_line"]) for r in rows]))
            if args.topic:
                line = [args.mythos, "inspect-topic", "--findings", "-q", "--dry-run", "--format", "json", "--"]
                line.append(q["query"])
                answer = ask(line, env, root)
                runs["topic"].append(of_question(targets, blocks(answer) if answer else []))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(runs, f)
    report(list(runs.items()), ["NDCG@10", "MRR", "acc@1", "R@10", "files found", "precision"], args.csv)


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
    p.add_argument("what", choices=["cosqa", "descriptions", "score", "questions"])
    p.add_argument("data")
    p.add_argument("results", nargs="*")
    p.add_argument("--mythos", default="build/mythos")
    p.add_argument("--base", default="", help="weights of the first configuration")
    p.add_argument("--weights", action="append", default=[])
    p.add_argument("--ablate", action="store_true")
    p.add_argument("--embed-model", help="a model that makes vectors: words and vectors together beside words alone")
    p.add_argument("--csv", help="the table is written here")
    p.add_argument("--shares", default="", help="with --embed-model: shares of nearness, separated by commas")
    p.add_argument("--repos", help="questions: clones of the repositories, as retrieval_repos.py has them")
    p.add_argument("--topic", action="store_true", help="questions: the blocks of inspect-topic too")
    p.add_argument("--every", type=int, default=1, help="questions: one of so many, evenly")
    p.add_argument("--out", help="questions: the measures of every question, as JSON")
    args = p.parse_args()
    {"cosqa": cosqa, "descriptions": descriptions, "score": score, "questions": questions}[args.what](args)


main()
