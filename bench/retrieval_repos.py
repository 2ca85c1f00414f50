#!/usr/bin/env python3
"""retrieval_repos.py - issue texts and commit messages to files: how often is a right file among the first k.

  retrieval_repos.py --tasks FILE.jsonl --repos DIR [--mythos BIN] [--weights LIST] [--limit N] [--out RANKS.jsonl]

Tasks    rows {"id", "repo", "base_commit", "query", "gold": [{"file"}]}; DIR holds a clone of each repository, bare or not, as
         DIR/<owner>+<name>[/repo] or DIR/<name>; the tree of a task is the files of the gold files' languages at base_commit
Systems  base    one FTS5 row per chunk (cut at top-level definitions, at most 60 lines; C: 50 lines); identifiers and their parts, porter;
                 columns path 4, names 3, body 1; tests x 0.3; a file's best four chunks by 1, 1/2, 1/4, 1/8
         mythos  `mythos search --files --lexical` over the same tree
Prints   per system the share of tasks with a right file among the first 1, 5, 10, 20 and the mean reciprocal rank, with 95 % bootstrap
         intervals over tasks, and the paired difference; --out keeps the rank of every task"""
import argparse, json, os, random, re, shutil, sqlite3, subprocess, sys, tempfile

STOP = set("""a about after all also an and any are as at be because been before being but by can could did do does doing for from get had has have
how i if in into is it its just like may me more my no not of on one only or other our out over s should so some such t than that the their them
then there these they this to up use used using very was we were what when where which while who why will with would you your""".split())
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
PYTHON_DEF = re.compile(r"^(?:async\s+def\b|def\b|class\b|@)")
NAME = re.compile(r"^\s*(?:async\s+def|def|class)\s+([A-Za-z_]\w*)|^[A-Za-z_][\w\s\*]*?\b([A-Za-z_]\w*)\s*\(|^\s*#\s*define\s+(\w+)|^(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)")
TEST = re.compile(r"(^|/)(tests?|testing)(/|$)|(^|/)test_[^/]*$|_test\.[a-z]+$|(^|/)conftest\.py$")


def words(text):
    out = []
    for w in WORD.findall(text):
        out.append(w.lower())
        parts = PART.findall(w)
        if len(parts) > 1:
            out += [p.lower() for p in parts]
    return out


def chunks(path, text):
    """(names, body) per chunk."""
    lines, cut, start = text.split("\n"), [], 0
    limit = 60 if path.endswith(".py") else 50
    for i, line in enumerate(lines):
        if i > start and (i - start >= limit or (path.endswith(".py") and PYTHON_DEF.match(line) and not lines[i - 1].startswith("@"))):
            cut.append(lines[start:i])
            start = i
    cut.append(lines[start:])
    for part in cut:
        names = [next(g for g in m.groups() if g) for m in map(NAME.match, part) if m]
        yield " ".join(words(" ".join(names))), " ".join(words("\n".join(part)))


class Base:
    name = "base"

    def __init__(self):
        self.cache = {}

    def open(self, tree):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create virtual table t using fts5(path, names, body, tokenize='porter unicode61 remove_diacritics 0')")
        self.files, rows = [], []
        for blob, path, text in tree:
            if blob not in self.cache:
                self.cache[blob] = list(chunks(path, text))
            path_words = " ".join(words(path))
            for names, body in self.cache[blob]:
                rows.append((path_words, names, body))
                self.files.append(path)
        self.db.executemany("insert into t(path, names, body) values(?, ?, ?)", rows)

    def rank(self, query, k):
        terms = [w for w in dict.fromkeys(words(query)) if w not in STOP and len(w) > 1]
        if not terms:
            return []
        sums = {}
        found = self.db.execute("select rowid, bm25(t, 4, 3, 1) from t where t match ? order by 2 limit 2000",
                                (" OR ".join(f'"{w}"' for w in terms),))
        for row, score in found:
            sums.setdefault(self.files[row - 1], []).append(-score)
        total = {f: sum(s / 2 ** i for i, s in enumerate(sorted(v, reverse=True)[:4])) * (0.3 if TEST.search(f) else 1) for f, v in sums.items()}
        return sorted(total, key=lambda f: (-total[f], f))[:k]

    def close(self):
        self.db.close()


class Mythos:
    name = "mythos"

    def __init__(self, program, weights):
        self.program, self.weights, self.dir = program, weights, tempfile.mkdtemp(prefix="mythos-eval-")
        self.env = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.dir, "cache"))

    def open(self, tree):
        self.root = os.path.join(self.dir, "tree")
        shutil.rmtree(self.root, ignore_errors=True)
        for _, path, text in tree:
            at = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, "w", encoding="latin-1", newline="") as f:
                f.write(text)
        r = subprocess.run([self.program, "index", self.root, "--no-embed", "-q"], env=self.env, stdout=subprocess.DEVNULL)
        if r.returncode not in (0, 3):          # 3: some file was cut by its text
            raise SystemExit(f"mythos index: exit {r.returncode}")

    def rank(self, query, k):
        extra = ["--weights", self.weights] if self.weights else []
        r = subprocess.run([self.program, "search", "--files", "--lexical", "--mode", "ranked", "-k", str(k), "--json", *extra, "--", query.replace("\0", " "),
                            self.root], env=self.env, capture_output=True)
        if r.returncode not in (0, 1):
            raise SystemExit(f"mythos search: exit {r.returncode}: {r.stderr.decode(errors='replace')}")
        return [h["path"] for h in json.loads(r.stdout or b"[]")]

    def close(self):
        pass

    def end(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def git_dir(repos, name):
    for d in (name.replace("/", "+") + "/repo", name.replace("/", "+"), name.split("/")[1], name.split("/")[1] + "/.git"):
        at = os.path.join(repos, d)
        if os.path.isdir(os.path.join(at, "objects")):
            return at
    raise SystemExit(f"{repos} holds no clone of {name}")


def tree_of(git, commit, suffixes, blobs):
    """(blob, path, text as latin-1) of the tree's files with these suffixes; `blobs` keeps texts between commits."""
    out = subprocess.run(["git", "--git-dir", git, "ls-tree", "-r", "-z", commit], check=True, capture_output=True).stdout
    rows = []
    for row in out.split(b"\0")[:-1]:
        head, path = row.split(b"\t", 1)
        mode, kind, blob = head.decode().split()
        path = path.decode("utf-8", "surrogateescape")
        if kind == "blob" and mode != "120000" and path.endswith(suffixes):
            rows.append((blob, path))
    lacking = sorted({b for b, _ in rows if b not in blobs})
    if lacking:
        got = subprocess.run(["git", "--git-dir", git, "cat-file", "--batch"], input="\n".join(lacking).encode() + b"\n", check=True,
                             capture_output=True).stdout
        at = 0
        for _ in lacking:
            end = got.index(b"\n", at)
            blob, _, size = got[at:end].decode().split()
            blobs[blob] = got[end + 1:end + 1 + int(size)].decode("latin-1")
            at = end + 2 + int(size)
    return [(b, p, blobs[b]) for b, p in rows]


def interval(values, rounds=2000):
    rng, n = random.Random(1), len(values)
    means = sorted(sum(values[rng.randrange(n)] for _ in range(n)) / n for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds) - 1]


def table(ranks):
    measures = [(f"@{k}", lambda r, k=k: 100.0 * (0 < r <= k)) for k in (1, 5, 10, 20)] + [("MRR", lambda r: 1.0 / r if r else 0.0)]
    for system, rank in ranks.items():
        print(f"{system:8}", end="")
        for name, f in measures:
            v = [f(r) for r in rank]
            lo, hi = interval(v)
            print(f"  {name} {sum(v) / len(v):6.3f} [{lo:.3f}, {hi:.3f}]" if name == "MRR" else f"  {name} {sum(v) / len(v):5.1f} [{lo:.1f}, {hi:.1f}]", end="")
        print(f"  n {len(rank)}")
    if len(ranks) == 2:
        a, b = ranks.values()
        print(f"{'paired':8}", end="")
        for name, f in measures:
            v = [f(y) - f(x) for x, y in zip(a, b)]
            lo, hi = interval(v)
            print(f"  {name} {sum(v) / len(v):+.3f} [{lo:+.3f}, {hi:+.3f}]", end="")
        print()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tasks", required=True)
    p.add_argument("--repos", required=True)
    p.add_argument("--mythos")
    p.add_argument("--weights")
    p.add_argument("--limit", type=int)
    p.add_argument("--every", type=int, default=1, help="one task of so many, evenly")
    p.add_argument("--out")
    p.add_argument("--no-base", action="store_true")
    a = p.parse_args()
    tasks = [json.loads(line) for line in open(a.tasks, encoding="utf-8")][::a.every][:a.limit]
    tasks.sort(key=lambda t: t["repo"])
    systems = ([] if a.no_base else [Base()]) + ([Mythos(a.mythos, a.weights)] if a.mythos else [])
    ranks, blobs, kept, repo = {s.name: [] for s in systems}, {}, [], None
    for i, t in enumerate(tasks):
        if t["repo"] != repo:
            blobs, repo = {}, t["repo"]
        suffixes = (".c", ".h") if any(g["file"].endswith((".c", ".h")) for g in t["gold"]) else (".py",)
        tree, gold = tree_of(git_dir(a.repos, repo), t["base_commit"], suffixes, blobs), {g["file"] for g in t["gold"]}
        row = {"id": t["id"], "n_file": len(tree)}
        for s in systems:
            s.open(tree)
            order = s.rank(t["query"], 20)
            s.close()
            row[s.name] = next((n + 1 for n, f in enumerate(order) if f in gold), 0)
            ranks[s.name].append(row[s.name])
        kept.append(row)
        if sys.stderr.isatty():
            print(f"\r{i + 1}/{len(tasks)} {t['repo']}\x1b[K", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in kept)
    for s in systems:
        if hasattr(s, "end"):
            s.end()
    table(ranks)


if __name__ == "__main__":
    main()
