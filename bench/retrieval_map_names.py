#!/usr/bin/env python3
"""retrieval_map_names.py - how many of the names that a newcomer needs does `mythos map` show.

  retrieval_map_names.py --repos DIR [--mythos BIN] [--set tune|held] [--only NAME,...] [--bare] [--missing]
                         [--least R1000,R4000] [--csv FILE]

Names    tests/corpus/map-expect/*.txt; its README says how they were chosen. DIR holds a clone of each repository with
         a work tree, as DIR/<owner>+<name>[/repo] or DIR/<name>; one that is not there, or is on another commit, is
         skipped with the reason
Found    a name is found when the map has it as the name of a definition under one of the files of its row
Bare     the same from a copy of the tree without documents (Markdown, reStructuredText, rdoc, folders of documents):
         the expectation is written from them, so a map that reads them must also do well without
Prints   per repository and size of the map the share of names that are found, then the means; --missing lists the
         others
Exit     0; 1 when the mean over all is below --least at one of the sizes; 77 when no repository is there"""

import argparse, csv, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECT = os.path.join(HERE, "..", "tests", "corpus", "map-expect")
DOCUMENT = re.compile(r"\.(md|mdx|rst|rdoc|adoc|txt)$", re.I)
SIZES = (1000, 4000)
CURLY = re.compile(r"\.(c|h|cc|cpp|hpp|java)$")
KEYWORD = re.compile(
    r"(?:^|\s)(?:class|struct|enum|union|trait|interface|@interface|type|module|namespace|def|fn|func|function\*?|"
    r"const|let|var|static|macro_rules!|#define)\s+(?:mut\s+)?([\w$.:?!]+)"
)


def defined(line, path):
    """The names that one signature defines."""
    line = re.sub(r"^(?:@[\w.]+(?:\([^)]*\))?\s+)+", "", line)
    line = re.sub(r"\bfunc \([^)]*\)\s*", "func ", line)
    if CURLY.search(path):
        line = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b[A-Z_]+_EXTERN\b", "", line)
        out = re.findall(r"(?:struct|enum|union|class|@?interface|record)\s+(\w+)", line.split("(")[0])
        m = re.search(r"#define\s+(\w+)", line) or re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", line)
        m = m or re.search(r"(\w+)\s*\(", line) or re.search(r"(\w+)\W*$", line)
        return out + ([m.group(1)] if m else [])
    m = re.match(r"((?:[\w$.]+\s*=\s*)+)(?:async\s+)?function\*?\s*([\w$]*)", line)
    if m:  # req.get = req.header = function header(name)
        return [w.strip().split(".")[-1] for w in m.group(1).split("=") if w.strip()] + [m.group(2)]
    m = KEYWORD.search(line.split("(")[0] + "(") or re.match(r"(?:[a-z]+ )*([\w$.:?!]+)", line)
    return [re.split(r"[.:]", m.group(1).rstrip(":.("))[-1]] if m else []


def shown(text):
    """Yields path and signature of each definition on the map."""
    folder = path = ""
    for line in text.split("\n"):
        n = len(line) - len(line.lstrip())
        if n == 0:
            folder = "" if line == "./" else line.strip('"')
        elif n == 2:
            path = folder + (re.match(r'\s*"([^"]*)"|\s*(\S+)', line).group(1) or line.split()[0])
        elif not line.startswith(("    imports ", "    tests ")):
            yield path, line.strip()


def read(file):
    want = {"name": os.path.basename(file)[:-4], "rows": []}
    for line in open(file):
        f = line.split()
        if f[0] in ("repository", "commit", "set"):
            want[f[0]] = f[1]
        else:
            want["rows"].append((int(f[0]), f[1], f[2].split("|")))
    return want


def tree_of(want, repos):
    """The tree, or "" and the reason."""
    owner = want["repository"].replace("/", "+")
    for at in (os.path.join(repos, owner), os.path.join(repos, owner, "repo"), os.path.join(repos, want["name"])):
        if os.path.exists(os.path.join(at, ".git")):
            got = subprocess.run(["git", "-C", at, "rev-parse", "HEAD"], stdout=subprocess.PIPE).stdout.decode().strip()
            return (at, "") if got == want["commit"] else ("", f"is on {got[:12]}, not {want['commit'][:12]}")
    return "", "is not there"


def bare_copy(tree, to):
    names = subprocess.run(["git", "-C", tree, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    for name in names.decode(errors="surrogateescape").split("\0"):
        from_ = os.path.join(tree, name)
        if not name or DOCUMENT.search(name) or re.search(r"(^|/)docs?/", name) or not os.path.isfile(from_):
            continue
        os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
        shutil.copy(from_, os.path.join(to, name))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--repos", required=True)
    p.add_argument("--mythos", default=os.path.join(HERE, "..", "build", "mythos"))
    p.add_argument("--set")
    p.add_argument("--only", default="")
    p.add_argument("--bare", action="store_true")
    p.add_argument("--missing", action="store_true")
    p.add_argument("--least", default="0,0")
    p.add_argument("--csv")
    a = p.parse_args()
    work = tempfile.TemporaryDirectory()
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(work.name, "cache"))
    rows, only = [], set(filter(None, a.only.split(",")))
    for file in sorted(os.listdir(EXPECT)):
        if not file.endswith(".txt"):
            continue
        want = read(os.path.join(EXPECT, file))
        if (a.set and want["set"] != a.set) or (only and want["name"] not in only):
            continue
        tree, why = tree_of(want, a.repos)
        if not tree:
            print(f"{want['name']}: skipped, {want['repository']} {why}", file=sys.stderr)
            continue
        if a.bare:
            to = os.path.join(work.name, want["name"])
            bare_copy(tree, to)
            tree = to
        got = []
        for size in SIZES:
            r = subprocess.run([a.mythos, "map", "--tokens", str(size), tree], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=env)
            if r.returncode:
                sys.exit(f"{want['name']}: mythos map exits with {r.returncode}: {r.stderr.decode()}")
            names = {(path, name) for path, line in shown(r.stdout.decode()) for name in defined(line, path)}
            need = [w for w in want["rows"] if w[0] <= size]
            found = [w for w in need if any((f, re.split(r"[.:]", w[1])[-1]) in names for f in w[2])]
            got.append(len(found) / len(need))
            if a.missing:
                print(f"{want['name']} {size}: misses", *[w[1] for w in need if w not in found])
        rows.append((want["name"], want["set"], *got))
    if not rows:
        print("no repository is there", file=sys.stderr)
        return 77
    means = {}
    for kind in ("tune", "held", "all"):
        part = [r for r in rows if kind in (r[1], "all")]
        if not part:
            continue
        means[kind] = [sum(r[i] for r in part) / len(part) for i in (2, 3)]
        for r in (part if kind != "all" else []) + [(f"mean of {len(part)}", kind, *means[kind])]:
            print(f"{r[0]:12} {r[1]:5} {r[2]:6.3f} {r[3]:6.3f}")
    if a.csv:
        with open(a.csv, "w", newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow(["repository", "set", "tokens_1000", "tokens_4000"])
            w.writerows([[r[0], r[1], f"{r[2]:.3f}", f"{r[3]:.3f}"] for r in rows])
    return int(any(got < float(least) for got, least in zip(means["all"], a.least.split(","))))


if __name__ == "__main__":
    sys.exit(main())
