#!/usr/bin/env python3
"""retrieval_repos.py - issue texts and commit messages to files: how often is a right file among the first k.

  retrieval_repos.py --tasks FILE.jsonl --repos DIR [--mythos BIN] [--weights LIST]...
                     [--ablate] [--perturb KIND] [--every N] [--csv FILE]

Tasks    rows {"id", "repo", "base_commit", "query", "gold": [{"file"}]}; DIR holds a clone of each repository, bare or
         not, as DIR/<owner>+<name>[/repo] or DIR/<name>; the tree of a task is the files of the gold files' languages
         at base_commit
Systems  base    one FTS5 row per chunk (cut at top-level definitions, at most 60 lines; C: 50 lines); identifiers and
                 their parts, porter; columns path 4, names 3, body 1; tests x 0.3; a file's best four chunks by 1, 1/2,
                 1/4, 1/8
         mythos  `mythos search --files --lexical` over the same tree; one more system for each --weights,
                 --ablate adds those of SIGNALS
Perturb  tests     every right file and one of ten others get a test beside them,
                   which repeats their lines and the words of the query
         vendored  every right file's directory and one of ten others lies a second time under third_party,
                   some of its lines changed
         misspelt  a letter of every name in the query is lost, doubled, or changes place with the next
         all from a seed; base sees the same. The rows to compare are those of the same system without it:
         --against KEPT.jsonl of an --out
Prints   per system the share of tasks with a right file among the first 1, 5, 10, 20 and the mean reciprocal rank, with
         95 % bootstrap intervals over tasks, and the paired difference with base, of other weights with mythos; --out
         keeps the rank of every task, --csv the table
Trees    tasks are sorted by repository, and both systems index only what changed since the tree before"""

import argparse, csv, hashlib, json, os, random, re, shutil, sqlite3, subprocess, sys, tempfile

STOP = set(
    """a about after all also an and any are as at be because been before being but by can could did do does doing for
    from get had has have how i if in into is it its just like may me more my no not of on one only or other our out
    over s should so some such t than that the their them then there these they this to up use used using very was we
    were what when where which while who why will with would you your""".split()
)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
PYTHON_DEF = re.compile(r"^(?:async\s+def\b|def\b|class\b|@)")
NAME = re.compile(
    r"^\s*(?:async\s+def|def|class)\s+([A-Za-z_]\w*)|"
    r"^[A-Za-z_][\w\s\*]*?\b([A-Za-z_]\w*)\s*\(|"
    r"^\s*#\s*define\s+(\w+)|"
    r"^(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)"
)
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
    """Yields (names, body) of each chunk, both as words for the index."""
    lines, cut, start = text.split("\n"), [], 0
    limit = 60 if path.endswith(".py") else 50
    for i, line in enumerate(lines):
        if i > start and (
            i - start >= limit or (path.endswith(".py") and PYTHON_DEF.match(line) and not lines[i - 1].startswith("@"))
        ):
            cut.append(lines[start:i])
            start = i
    cut.append(lines[start:])
    for part in cut:
        names = [next(g for g in m.groups() if g) for m in map(NAME.match, part) if m]
        yield " ".join(words(" ".join(names))), " ".join(words("\n".join(part)))


class Base:
    name = "base"

    def __init__(self):
        self.cache, self.repo = {}, None

    def open(self, repo, tree):
        if repo != self.repo:
            self.repo, self.kept, self.files, self.cache = repo, {}, {}, {}
            self.db = sqlite3.connect(":memory:")
            self.db.execute(
                "create virtual table t using fts5(path, names, body, tokenize='porter unicode61 remove_diacritics 0')"
            )
        now, rows = {path: (blob, text) for blob, path, text in tree}, []
        for path in [p for p, (blob, _) in self.kept.items() if p not in now or now[p][0] != blob]:
            self.db.executemany("delete from t where rowid = ?", [(r,) for r in self.kept[path][1]])
            for r in self.kept.pop(path)[1]:
                del self.files[r]
        row = max(self.files, default=0)
        for path, (blob, text) in now.items():
            if path in self.kept:
                continue
            if blob not in self.cache:
                self.cache[blob] = list(chunks(path, text))
            path_words, first = " ".join(words(path)), row + 1
            for names, body in self.cache[blob]:
                row += 1
                rows.append((row, path_words, names, body))
                self.files[row] = path
            self.kept[path] = (blob, range(first, row + 1))
        self.db.executemany("insert into t(rowid, path, names, body) values(?, ?, ?, ?)", rows)

    def rank(self, query, k):
        terms = [w for w in dict.fromkeys(words(query)) if w not in STOP and len(w) > 1]
        if not terms:
            return []
        sums = {}
        found = self.db.execute(
            "select rowid, bm25(t, 4, 3, 1) from t where t match ? order by 2, rowid limit 2000",
            (" OR ".join(f'"{w}"' for w in terms),),
        )
        for row, score in found:
            sums.setdefault(self.files[row], []).append(-score)
        total = {
            f: sum(s / 2**i for i, s in enumerate(sorted(v, reverse=True)[:4])) * (0.3 if TEST.search(f) else 1)
            for f, v in sums.items()
        }
        return sorted(total, key=lambda f: (-total[f], f))[:k]


class Index:
    """A folder whose files are changed to those of one tree after the other, and mythos' index of it."""

    def __init__(self, program):
        self.program, self.dir, self.kept = program, tempfile.mkdtemp(prefix="mythos-eval-"), {}
        self.root, self.env = os.path.join(self.dir, "tree"), dict(
            os.environ, XDG_CACHE_HOME=os.path.join(self.dir, "cache")
        )

    def open(self, tree):
        now = {path: (blob, text) for blob, path, text in tree}
        for path in [p for p, blob in self.kept.items() if p not in now]:
            os.remove(os.path.join(self.root, path))
            del self.kept[path]
        for path, (blob, text) in now.items():
            if self.kept.get(path) == blob:
                continue
            at = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, "w", encoding="latin-1", newline="") as f:
                f.write(text)
            self.kept[path] = blob
        r = subprocess.run(
            [self.program, "index", self.root, "--no-embed", "-q"], env=self.env, stdout=subprocess.DEVNULL
        )
        if r.returncode not in (0, 3):  # 3: all are indexed, but some file only as plain text
            raise SystemExit(f"mythos index: exit {r.returncode}")

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Mythos:
    def __init__(self, index, name, weights):
        self.index, self.name, self.weights = index, name, weights

    def rank(self, query, k):
        extra = ["--weights", self.weights] if self.weights else []
        r = subprocess.run(
            [
                self.index.program,
                "search",
                "--files",
                "--lexical",
                "--mode",
                "ranked",
                "-k",
                str(k),
                "--json",
                *extra,
                "--",
                query.replace("\0", " "),
                self.index.root,
            ],
            env=self.index.env,
            capture_output=True,
        )
        if r.returncode not in (0, 1):
            raise SystemExit(f"mythos search: exit {r.returncode}: {r.stderr.decode(errors='replace')}")
        return [h["path"] for h in json.loads(r.stdout or b"[]")]


# ---- --perturb: files and slips that make a task harder ----


def make(path, text):
    return (
        hashlib.sha1(path.encode("utf-8", "surrogateescape") + b"\0" + text.encode("latin-1")).hexdigest(),
        path,
        text,
    )


def add_tests(rng, tree, gold, query):
    """Adds tests that look like the files they test: each calls the names of its file and repeats some of its lines.
    The tests of right files also cite the query, as the test of a fixed bug may cite its report."""
    out = []
    for _, path, text in tree:
        if TEST.search(path) or (path not in gold and rng.random() > 0.1):
            continue
        stem, suffix = os.path.splitext(os.path.basename(path))
        names = [next(g for g in m.groups() if g) for m in map(NAME.match, text.split("\n")) if m][:40]
        lines = [x.strip() for x in text.split("\n") if len(x.strip()) > 20]
        kept = rng.sample(lines, min(len(lines), 60))
        mark = "#" if suffix == ".py" else "//"
        body = (
            [mark + " " + x for x in query.encode("utf-8", "surrogateescape").decode("latin-1").split("\n")[:20]]
            if path in gold
            else []
        )
        for i, name in enumerate(names):
            part = kept[i * len(kept) // max(len(names), 1) : (i + 1) * len(kept) // max(len(names), 1)]
            if suffix == ".py":
                body += [
                    f"def test_{name}():",
                    *("    " + x for x in part if x[-1] not in ":,([{\\"),
                    f"    assert {name}()",
                    "",
                ]
            else:
                body += [
                    f"void test_{name}(void) {{",
                    *("    " + x for x in part if x.endswith(";")),
                    f"    {name}();",
                    "}",
                    "",
                ]
        out.append(make(f"tests/test_{stem}_{path.count('/')}{suffix}", "\n".join(body) + "\n"))
    return tree + out, query


def add_vendored(rng, tree, gold, query):
    """Adds copies of folders that look like vendored ones: a first line names a release, and one line of fifty is
    missing."""
    dirs = sorted({os.path.dirname(p) for _, p, _ in tree})
    chosen = {os.path.dirname(p) for p in gold} | {d for d in dirs if rng.random() < 0.1}
    out = []
    for _, path, text in tree:
        if os.path.dirname(path) in chosen and not TEST.search(path):
            mark = "#" if path.endswith(".py") else "//"
            lines = [x for x in text.split("\n") if rng.random() > 0.02]
            out.append(
                make(
                    "third_party/upstream/" + path, "\n".join([f"{mark} upstream release 1.{rng.randrange(9)}"] + lines)
                )
            )
    return tree + out, query


CODE_NAME = re.compile(
    r"[A-Za-z_][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z]+[A-Z][A-Za-z0-9]*|"
    r"(?<=`)[A-Za-z]{5,}(?=`)|[A-Za-z]{5,}(?=\()"
)


def misspell(rng, tree, gold, query):
    """Makes one typing error in each name, the same one wherever the name occurs."""
    slips = {}

    def slip(m):
        w = m.group()
        if w not in slips:
            at = [i for i in range(1, len(w) - 1) if w[i].isalpha() and w[i + 1].isalpha()]
            if len(w) < 5 or not at:
                slips[w] = w
            else:
                i, how = rng.choice(at), rng.randrange(3)
                slips[w] = (
                    w[:i] + w[i + 1 :]
                    if how == 0
                    else w[:i] + w[i] + w[i:] if how == 1 else w[:i] + w[i + 1] + w[i] + w[i + 2 :]
                )
        return slips[w]

    return tree, CODE_NAME.sub(slip, query)


PERTURB = {"tests": add_tests, "vendored": add_vendored, "misspelt": misspell}


def git_dir(repos, name):
    for d in (
        name.replace("/", "+") + "/repo",
        name.replace("/", "+"),
        name.split("/")[1],
        name.split("/")[1] + "/.git",
    ):
        at = os.path.join(repos, d)
        if os.path.isdir(os.path.join(at, "objects")):
            return at
    raise SystemExit(f"{repos} holds no clone of {name}")


def tree_of(git, commit, suffixes, blobs):
    """[(blob, path, text as latin-1)] of the commit's files with these suffixes. `blobs` caches texts by blob."""
    out = subprocess.run(
        ["git", "--git-dir", git, "ls-tree", "-r", "-z", commit], check=True, capture_output=True
    ).stdout
    rows = []
    for row in out.split(b"\0")[:-1]:
        head, path = row.split(b"\t", 1)
        mode, kind, blob = head.decode().split()
        path = path.decode("utf-8", "surrogateescape")
        if kind == "blob" and mode != "120000" and path.endswith(suffixes):
            rows.append((blob, path))
    lacking = sorted({b for b, _ in rows if b not in blobs})
    if lacking:
        got = subprocess.run(
            ["git", "--git-dir", git, "cat-file", "--batch"],
            input="\n".join(lacking).encode() + b"\n",
            check=True,
            capture_output=True,
        ).stdout
        at = 0
        for _ in lacking:
            end = got.index(b"\n", at)
            blob, _, size = got[at:end].decode().split()
            blobs[blob] = got[end + 1 : end + 1 + int(size)].decode("latin-1")
            at = end + 2 + int(size)
    return [(b, p, blobs[b]) for b, p in rows]


def interval(values, rounds=2000):
    rng, n = random.Random(1), len(values)
    means = sorted(sum(values[rng.randrange(n)] for _ in range(n)) / n for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds) - 1]


MEASURES = [(f"@{k}", lambda r, k=k: 100.0 * (0 < r <= k)) for k in (1, 5, 10, 20)] + [
    ("MRR", lambda r: 1.0 / r if r else 0.0)
]


def table(ranks, first, label, rows):
    """Prints one row for each system, with the paired difference from the ranks that `first` has for it, and appends
    the same to `rows`."""
    for system, rank in ranks.items():
        print(f"{system:28}", end="")
        for name, f in MEASURES:
            v = [f(r) for r in rank]
            (lo, hi), mean = interval(v), sum(v) / len(v)
            row = [label, system, name, f"{mean:.4g}", f"{lo:.4g}", f"{hi:.4g}"]
            print(
                (
                    f"  {name} {mean:6.3f} [{lo:.3f}, {hi:.3f}]"
                    if name == "MRR"
                    else f"  {name} {mean:5.1f} [{lo:.1f}, {hi:.1f}]"
                ),
                end="",
            )
            if first.get(system) is not rank and len(first.get(system, [])) == len(rank):
                d = [f(y) - f(x) for x, y in zip(first[system], rank)]
                row += [f"{x:+.4g}" for x in (sum(d) / len(d), *interval(d))]
                print(f" {row[6]} [{row[7]}, {row[8]}]", end="")
            rows.append(row)
        print(f"  n {len(rank)}")


# For --ablate: what is switched off, and the weights that do it. Alternatives of words are added to questions only, so
# retrieval_eval.py measures them.
SIGNALS = [
    ("without what is said first", "early=0"),
    ("without the title's share", "title=0"),
    ("without either of the rules for reports", "early=0,title=0"),
    ("without symbol", "symbol=0"),
    ("symbol at 0.3", "symbol=0.3"),
    ("without the scope's files", "scope=0"),
    ("without mended words", "mended=0"),
    ("without kinds of files", "test=1,example=1,vendored=1,legacy=1,document=1,data=1"),
    ("without file sum", "file_chunks=1"),
    ("without path column", "col_path=1"),
    ("without names column", "col_names=1"),
    ("without compound names whole", "term_whole=0"),
    ("without parts of compound names", "term_part=0"),
]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tasks", required=True)
    p.add_argument("--repos", required=True)
    p.add_argument("--mythos")
    p.add_argument("--weights", action="append", default=[])
    p.add_argument("--ablate", action="store_true")
    p.add_argument("--perturb", choices=sorted(PERTURB))
    p.add_argument("--against", help="ranks of the same tasks, from --out, to compare every system with")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=int)
    p.add_argument("--every", type=int, default=1, help="take one task of every N")
    p.add_argument("--out")
    p.add_argument("--csv", help="the table is appended here")
    p.add_argument("--no-base", action="store_true")
    a = p.parse_args()
    tasks = [json.loads(line) for line in open(a.tasks, encoding="utf-8")][:: a.every][: a.limit]
    tasks.sort(key=lambda t: t["repo"])  # a stable sort keeps the order within a repository
    index = Index(a.mythos) if a.mythos else None
    base = None if a.no_base else Base()
    systems = [base] if base else []
    if index:
        systems += [Mythos(index, "mythos", None)] + [Mythos(index, w, w) for w in a.weights]
        systems += [Mythos(index, name, w) for name, w in SIGNALS] if a.ablate else []
    ranks, blobs, kept, repo = {s.name: [] for s in systems}, {}, [], None
    for i, t in enumerate(tasks):
        if t["repo"] != repo:
            blobs, repo = {}, t["repo"]
        suffixes = (".c", ".h") if any(g["file"].endswith((".c", ".h")) for g in t["gold"]) else (".py",)
        tree, gold, query = (
            tree_of(git_dir(a.repos, repo), t["base_commit"], suffixes, blobs),
            {g["file"] for g in t["gold"]},
            t["query"],
        )
        if a.perturb:
            tree, query = PERTURB[a.perturb](random.Random(f"{a.seed} {t['id']}"), tree, gold, query)
        row = {"id": t["id"], "n_file": len(tree)}
        if base:
            base.open(repo, tree)
        if index:
            index.open(tree)
        for s in systems:
            order = s.rank(query, 20)
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
    if index:
        index.close()
    first = {s: ranks[systems[0].name] for s in ranks} if systems else {}
    if a.ablate or a.weights:  # other weights are compared with the defaults
        first |= {s: ranks["mythos"] for s in ranks if s not in ("base", "mythos")}
    if a.against:
        before = {r["id"]: r for r in map(json.loads, open(a.against, encoding="utf-8"))}
        first |= {
            s: [before[r["id"]][s] for r in kept] for s in ranks if all(s in before.get(r["id"], {}) for r in kept)
        }
    rows = []
    table(ranks, first, os.path.splitext(os.path.basename(a.tasks))[0] + (f" {a.perturb}" if a.perturb else ""), rows)
    if a.csv:
        is_new = not os.path.exists(a.csv)
        with open(a.csv, "a", encoding="utf-8", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            if is_new:
                out.writerow(
                    [
                        "tasks",
                        "system",
                        "metric",
                        "mean",
                        "low",
                        "high",
                        "difference",
                        "difference_low",
                        "difference_high",
                    ]
                )
            out.writerows(rows)


if __name__ == "__main__":
    main()
