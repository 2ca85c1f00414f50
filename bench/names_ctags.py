#!/usr/bin/env python3
"""names_ctags.py - which definitions that universal-ctags finds does the index have, and why not the others.

  names_ctags.py [--mythos BIN] [--dump BIN] [--csv FILE] [--sample N] [--seed S] [--reason WORD] [--extra]
                 [--most N] TREE...

Compares  every definition that ctags has in the files that git tracks (in a tree without git, all files) with those of
          the index: the same file, a line at most one away, and the same last part of the name
Kinds     only languages that define names (LANGUAGES), and of those the kinds that the index means to have. What it
          means to leave out has a reason of its own, in the order of reason_of():
            kind_...    fields, parameters, imports, labels: what a definition has inside, or what is defined elsewhere.
                        declared: `mod x;`, whose definition is a file. destructured: `const { x } = f()`
            anonymous   a name that ctags made up
            local       a value inside of a function or a block
            not_read    the file is not in the index, or is read as text (mythos index says which and why)
            ctags_wrong what ctags has is no definition of that kind: its line is none (RIGHT), or it is the macro of a
                        test and not the test
          Everything else is missing_unexplained
Prints    one row for each tree and language. --sample N prints N missing ones, drawn with --seed, of those that are
          unexplained or have the reason --reason; with --extra, of those that the index has and ctags has not
Exit      0; 1 when more than --most definitions are unexplained in all; 77 when ctags is not there"""

import argparse, collections, csv, json, os, random, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build")

Definition = collections.namedtuple("Definition", "line first last kind name")

# language: the kinds that the index does not mean to have
LANGUAGES = {
    "C": ["member", "header", "label"],
    "C++": ["member", "header", "label"],
    "Python": ["module", "unknown", "namespace"],
    "JavaScript": ["property", "field"],
    "TypeScript": ["property", "parameter"],
    "Go": ["member", "anonMember", "package", "packageName", "unknown"],
    "Rust": ["field", "implementation"],
    "Java": ["package"],
    "Kotlin": ["package"],
    "Ruby": ["library"],
    "PHP": ["namespace", "alias"],
    "C#": ["namespace"],
    "Lua": [],
    "Sh": ["script", "heredoc"],
}

FUNCTIONS = {"function", "method", "singletonMethod", "func", "getter", "setter", "generator", "methodSpec"}
VALUES = {"variable", "constant", "var", "const", "member", "field", "property", "enumerator", "local"}

# (languages, kinds, what the line of such a definition has). Where it has not, ctags took something else for it: types,
# parameters, words of an expression. NAME is the name
RIGHT = [
    ("TypeScript JavaScript", "constant variable", r"\b(const|let|var|static|readonly)\b[^=]*(?<![\w$.])NAME\b"),
    ("TypeScript", "constant", r"\bconst\s+([{\[][^=]*)?NAME\b|\bstatic\b|\breadonly\b"),
    ("TypeScript", "alias", r"^\s*(export\s+)?(declare\s+)?type\s+NAME\s*([<=]|$)"),
    ("TypeScript", "class enum interface namespace", r"\b(class|enum|interface|namespace|module)\s+NAME\b"),
    ("TypeScript", "method function", r"^(?!.*\b(if|extends|new|for|while|switch|catch)\s*\()(?!NAME\s)|\bfunction\b"),
    ("TypeScript", "method function", r"(?<![.\w$])(NAME|constructor)\s*[?(<:=]"),
    ("JavaScript", "class", r"\b(class|function)\s+NAME\b|\bNAME\s*=\s*(class|function)\b"),
    ("JavaScript", "function method", r"\bfunction\b|=>|^\s*(static\s+|async\s+|get\s+|set\s+|\*\s*)*NAME\s*[(:=]"),
    ("Rust", "variable", r"(?<!')\b(static|const)\s+(mut\s+)?NAME\b"),
    ("C C++", "function", r"(?<![A-Z0-9_])(?![A-Z0-9_]+\s*\()NAME"),
    ("C C++", "variable", r"(?<!\()(?<!\w)NAME\s*(\[|=|;|,|$|\{|/|__|[A-Z])"),
    ("C#", "field class property", r"^(?!.*\bwhere\b.*\bNAME\b)(?!.*\bNAME\)\s*(=>|\{|:|$))"),
    ("Java", "enumConstant", r"(?<!@)\bNAME\b"),
    ("Java", "field", r"\bNAME\s*([=;,]|$)(?<!true;)(?<!false;)"),
    ("Kotlin", "method", r"\bfun\b.*(?<!\w)NAME"),
    ("Kotlin", "constant variable", r"\bva[lr]\b"),
    ("Ruby", "alias", r"\bNAME(?![?!\w])"),
    ("Ruby", "class module", r"\b(class|module)\b|="),
]


def last_part(name):
    name = name.strip("`'\" ")
    if name.startswith("operator"):
        return re.sub(r"\s", "", name)
    name = re.sub(r"(?<=\w)=$", "", name)  # a writer of Ruby has the name of what it writes
    return [p for p in re.split(r"::|[.\\#:](?=[\w$])", name) if p][-1] if name else ""


def tracked(tree):
    r = subprocess.run(["git", "-C", tree, "ls-files", "-z"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if r.returncode == 0:
        names = [os.fsdecode(n) for n in r.stdout.split(b"\0") if n]
    else:
        names = [os.path.relpath(os.path.join(d, f), tree) for d, _, fs in os.walk(tree) for f in fs]
    return sorted(n for n in names if os.path.isfile(os.path.join(tree, n)) and "\n" not in n)


def by_ctags(tree):
    """Lists of tags by file."""
    out = collections.defaultdict(list)
    run = subprocess.run(
        ["ctags", "--options=NONE", "--output-format=json", "--fields=+nKlzS", "--languages=" + ",".join(LANGUAGES),
         "--sort=no", "--links=no", "-L", "-", "-f", "-"],
        cwd=tree, input="\n".join(tracked(tree)).encode(errors="surrogateescape"), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=True)
    for line in run.stdout.decode(errors="replace").splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and tag.get("language") in LANGUAGES:
            out[tag["path"]].append(tag)
    return out


def by_index(tree, mythos, dump, env):
    """Language and a list of definitions by file."""
    r = subprocess.run([mythos, "index", "-q", tree], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    if r.returncode not in (0, 3):
        sys.exit(f"{tree}: mythos index exits with {r.returncode}: {r.stderr.decode()}")
    text = subprocess.run([dump, tree], stdout=subprocess.PIPE, env=env, check=True).stdout
    out = {}
    for line in text.decode(errors="replace").split("\n"):
        f = line.split("\t")
        if f[0] == "F":
            now = (f[2], [])
            if not f[3].startswith("parse: "):
                out[f[1]] = now
        elif f[0] == "D":
            now[1].append(Definition(int(f[1]), int(f[2]), int(f[3]), f[4], f[6]))
    return out


def is_inside(line, definitions):
    """Whether a line is inside of the body of a function or a test."""
    return any(d.first <= line <= d.last and d.line < line and d.kind in ("function", "method", "test", "route")
               for d in definitions)


def is_wrong(tag, line):
    for languages, kinds, right in RIGHT:
        if tag["language"] in languages.split() and tag["kind"] in kinds.split():
            if not re.search(right.replace("NAME", re.escape(tag["name"].lstrip("#$"))), line):
                return True
    return False


def is_local(tag, line, definitions):
    """A value inside of a function; in JavaScript and TypeScript also one of a block: what is at the top is in the
    first column, and members have no keyword."""
    if tag["kind"] not in VALUES:
        return False
    is_block = tag["language"] in ("JavaScript", "TypeScript") and re.match(r"\s+(const|let|var)\b|.*\bfor\s*\(", line)
    return bool(is_block) or tag.get("scopeKind") in FUNCTIONS or is_inside(tag["line"], definitions)


def reason_of(tag, line, index):
    """Why the index has not got this definition; "unexplained" if no rule says it."""
    if tag["path"] not in index:
        return "not_read"
    if tag["kind"] in LANGUAGES[tag["language"]]:
        return "kind_" + tag["kind"]
    if re.match(r"__anon|AnonymousFunction|AnonymousClass|anonymous|<", tag["name"]):
        return "anonymous"
    if tag["name"] == "Companion" and re.search(r"\bcompanion\s+object\b(?!\s+\w)", line):
        return "anonymous"
    if is_local(tag, line, index[tag["path"]][1]):
        return "local"
    if tag["language"] == "Rust" and re.search(r"\bmod\s+\w+\s*;", line):
        return "kind_declared"
    if tag["language"] in ("JavaScript", "TypeScript") and re.match(r"(export\s+)?(const|let|var)\s*[{\[]", line):
        return "kind_destructured"
    is_test = any(d.kind == "test" and abs(d.line - tag["line"]) < 2 for d in index[tag["path"]][1])
    return "ctags_wrong" if is_wrong(tag, line) or (is_test and tag["kind"] == "function") else "unexplained"


def compare(tree, a, env):
    tags, index = by_ctags(tree), by_index(tree, a.mythos, a.dump, env)
    rows = collections.defaultdict(collections.Counter)
    missing, extra = [], []
    for path, list_ in sorted(tags.items()):
        with open(os.path.join(tree, path), errors="replace") as f:
            lines = f.read().split("\n")
        have = collections.defaultdict(set)
        for d in index.get(path, ("", []))[1]:
            have[last_part(d.name)].add(d.line)
        seen = collections.defaultdict(set)
        for tag in list_:
            name, row = last_part(tag["name"]), rows[tag["language"]]
            seen[name].add(tag["line"])
            row["ctags"] += 1
            if have[name] & {tag["line"] - 1, tag["line"], tag["line"] + 1}:
                row["both"] += 1
                continue
            text = lines[tag["line"] - 1] if tag["line"] <= len(lines) else ""
            why = reason_of(tag, text, index)
            row[why] += 1
            missing.append((why, tag["language"], tag["kind"], tag["name"], path, tag["line"], text.strip()[:110]))
        for d in index.get(path, ("", []))[1]:
            if d.kind in ("route", "test") and not re.fullmatch(r"[\w.]+", d.name):
                continue
            if not seen[last_part(d.name)] & {d.line - 1, d.line, d.line + 1}:
                language = list_[0]["language"]
                rows[language]["extra"] += 1
                text = lines[d.line - 1] if d.line <= len(lines) else ""
                extra.append(("extra", language, d.kind, d.name, path, d.line, text.strip()[:110]))
    return rows, missing, extra


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tree", nargs="+", metavar="TREE")
    p.add_argument("--mythos", default=os.path.join(BUILD, "mythos"))
    p.add_argument("--dump", default=os.path.join(BUILD, "bench_definitions"))
    p.add_argument("--csv")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--reason", default="unexplained")
    p.add_argument("--extra", action="store_true")
    p.add_argument("--most", type=int)
    a = p.parse_args()
    if not shutil.which("ctags"):
        print("left out: ctags is not on this machine")
        return 77
    work = tempfile.TemporaryDirectory()
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(work.name, "cache"))
    out, all_missing, n_unexplained = [], [], 0
    for tree in a.tree:
        r = subprocess.run(["git", "-C", tree, "rev-parse", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        commit = r.stdout.decode().strip()[:12]
        rows, missing, extra = compare(tree, a, env)
        all_missing += [(tree, *m) for m in (extra if a.extra else missing)]
        for language, row in sorted(rows.items()):
            kinds = sum(n for why, n in row.items() if why.startswith("kind_"))
            out.append([os.path.basename(os.path.realpath(tree)).replace("+", "/"), language, commit, row["ctags"],
                        row["both"], kinds, row["anonymous"], row["local"], row["not_read"], row["ctags_wrong"],
                        row["unexplained"], row["extra"]])
            n_unexplained += row["unexplained"]
    head = ["repository", "language", "commit", "ctags_definitions", "both", "missing_kinds", "missing_anonymous",
            "missing_local", "missing_not_read", "missing_ctags_wrong", "missing_unexplained", "extra"]
    for row in [head] + out:
        print(*row, sep="\t")
    if a.csv:
        with open(a.csv, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([head] + out)
    drawn = [m for m in all_missing if a.extra or m[1] == a.reason]
    if a.sample:
        random.Random(a.seed).shuffle(drawn)
        print(f"{len(drawn)} differences; {min(a.sample, len(drawn))} of them, drawn with seed {a.seed}:")
        for tree, _, language, kind, name, path, line, text in drawn[: a.sample]:
            print(f"{language} {kind} {name}  {os.path.basename(tree)}/{path}:{line}: {text}")
    return int(a.most is not None and n_unexplained > a.most)


if __name__ == "__main__":
    sys.exit(main())
