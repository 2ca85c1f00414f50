#!/bin/sh
# A search of lines finds the rows (file and line) that ripgrep finds, for random literals and expressions drawn from
# the searched texts. Rows may differ only by files that `mythos scan --explain` lists with a reason.
#
# A tree that is made here is searched (UTF-8, UTF-16, bytes, \r\n, NUL, long lines); in full runs this repository, too.
#
# MYTHOS_RG_TREES   these instead of this repository, separated by ':', for example clones with vendored code
# MYTHOS_RG_ROUNDS  literals and as many expressions for each tree: 25; in full runs 100, so 500 of each on five trees
#
# ripgrep   searches everything (--hidden --no-ignore --text), so what is left out here is left out by our rules alone
# Grammar   an expression is one to three parts with or without anchors. A part is a piece of a line's text whose
#           characters are themselves or become: . \w \W \d \D \s \S, a class, a negated class, a range; each with or
#           without ? * + {n} {n,m}; or two such pieces as alternatives. Any may have -i, -w or both
set -eu
command -v rg >/dev/null || { echo "left out: ripgrep (rg) is not on this machine"; exit 77; }
command -v python3 >/dev/null || { echo "left out: python3 is not on this machine"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
HOME=$dir
export HOME
python3 - "$dir" "${MYTHOS_SOURCE_DIR:-.}" <<'PYTHON'
import json, os, random, subprocess, sys

scratch, own = sys.argv[1:]
full = os.environ.get("MYTHOS_TEST_FULL") == "1"
rounds = int(os.environ.get("MYTHOS_RG_ROUNDS") or (100 if full else 25))
seed = int(os.environ.get("MYTHOS_TEST_SEED") or 20261125)
trees = [t for t in os.environ.get("MYTHOS_RG_TREES", "").split(":") if t]
mythos = os.environ["MYTHOS_BIN"]


def make_tree(root):
    rng = random.Random(seed)
    words = ["größe", "Čertík", "straße", "STRASSE", "ß", "ẞ", "İstanbul", "ı", "K", "k", "ſ", "s", "MaSK", "ΣΑΣ",
             "σας", "café", "cafe\u0301", "x²", "½", "٣٤", "日本語", "한국어", "עברית", "😀", "a\u200db", "foo", "foo_bar",
             "bar", "42", "int x = 1;", "(", "-", "\t", "\u00a0", "\u2028", "\u0085", "naïve", "Ǆ", "ǆ", "ﬀ", "_"]
    lines = ["".join(rng.choice(words) + rng.choice(["", " ", " "]) for _ in range(rng.randrange(8)))
             for _ in range(300)]
    text = "\n".join(lines)
    files = {
        "utf8.txt": text.encode(), "end.txt": (text + "\n").encode(), "crlf.c": text.replace("\n", "\r\n").encode(),
        "mark.txt": b"\xef\xbb\xbf" + text.encode(), "le.txt": b"\xff\xfe" + text.encode("utf-16-le"),
        "be.txt": b"\xfe\xff" + text.encode("utf-16-be"), "latin1.txt": text.encode("latin-1", "replace"),
        "empty.txt": b"", "newline.txt": b"\n", "long.txt": ("größe x " * 10000 + "\nfoo bar\n").encode(),
        "mixed.txt": b"\n".join(l.encode() if i % 3 else l.encode("latin-1", "replace") for i, l in enumerate(lines)),
        "late_nul.txt": (text + "\n").encode() * 3 + b"a\0b foo\nfoo\0\n", "ascii.c": b"int foo(void);\nbar k s\n" * 99,
        "early_nul.txt": b"foo\0bar\nfoo\n", "only_mark.txt": b"\xef\xbb\xbf", "cut.txt": "foo größe".encode()[:-2],
    }
    os.makedirs(root)
    for name, data in files.items():
        with open(os.path.join(root, name), "wb") as f:
            f.write(data)


def lines_of(root, rng):
    """Lines of random files, half of them lines that are not ASCII where there are such."""
    names = [os.path.join(d, f) for d, sub, fs in os.walk(root) if ".git" not in d.split(os.sep) for f in fs]
    names = sorted(n for n in names if os.path.isfile(n) and not os.path.islink(n))
    rng.shuffle(names)
    plain, other = [], []
    for name in names[:1500]:
        with open(name, "rb") as f:
            data = f.read(1 << 20)
        found = []
        for line in data.split(b"\n"):
            try:
                line = line.decode()
            except UnicodeDecodeError:
                continue
            if line.strip() and "\0" not in line and "\r" not in line and "\ufeff" not in line:
                found.append(line)
        rng.shuffle(found)
        plain += [l for l in found if l.isascii()][:20]
        other += [l for l in found if not l.isascii()][:20]
    return plain or other, other or plain


def piece(rng, lines, most):
    line = rng.choice(lines)
    n = rng.randrange(1, most)
    i = rng.randrange(len(line))
    if not line.isascii() and rng.random() < 0.7:
        i = max(0, rng.choice([k for k, c in enumerate(line) if ord(c) >= 128]) - rng.randrange(n))
    return line[i:i + n]


def plain_char(c):
    return "\\" + c if c in "\\.+*?()|[]{}^$#&-~" else c


def in_class(c):
    return "\\" + c if c in "\\[]^-&~" else c


def general(rng, c, lines):
    kind = rng.randrange(9)
    if kind < 3:
        if c.isdecimal():
            return rng.choice(["\\d", "\\w"])
        if c.isspace():
            return rng.choice(["\\s", "\\W"])
        return rng.choice(["\\w", "\\S"]) if c.isalnum() or c == "_" else rng.choice(["\\W", "\\D", "\\S"])
    if kind < 5:
        return "."
    others = "".join(in_class(o) for o in piece(rng, lines, 4))
    if kind == 5:
        return "[" + in_class(c) + others + "]"
    if kind == 6:
        return "[^" + others + "]"
    if kind == 7:
        return "[" + rng.choice(["\\w", "\\d", "\\s"]) + in_class(c) + "]"
    low, high = chr(max(33, ord(c) - 3)), chr(ord(c) + 3)
    if any(0xD800 <= ord(x) <= 0xDFFF or x in "\\[]^-&~" for x in (low, high)) or low > high:
        return plain_char(c)
    return "[" + low + "-" + high + "]"


def part(rng, lines):
    out = ""
    for c in piece(rng, lines, 9):
        atom = general(rng, c, lines) if rng.random() < 0.3 else plain_char(c)
        if rng.random() < 0.12:
            atom += rng.choice(["?", "*", "+", "{1}", "{2}", "{1,3}", "{0,2}", "+?", "*?"])
        out += atom
    return out


def expression(rng, lines):
    out = ""
    for _ in range(rng.choice([1, 1, 1, 2])):
        p = part(rng, lines)
        if rng.random() < 0.2:
            p = "(?:" + p + "|" + part(rng, lines) + ")" + rng.choice(["", "", "?", "+"])
        out += (rng.choice(["", ".*", "\\s*", "\\b"]) if out else "") + p
    if rng.random() < 0.1:
        out += "|" + part(rng, lines)
    before = rng.choice(["", "", "", "^", "\\b", "\\B", "^\\s*"])
    return before + out + rng.choice(["", "", "", "$", "\\b", "\\B", "\\s*$"])


def run_rg(root, flags, query):
    cmd = ["rg", "--no-config", "-nH", "--no-heading", "--null", "--text", "--hidden", "--no-ignore", "--no-messages",
           "-g", "!.git", "--color=never"] + flags + ["-e", query, "."]
    done = subprocess.run(cmd, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode > 1:
        return None, done.stderr.decode(errors="replace")
    rows = set()
    data, at = done.stdout, 0
    while at < len(data):  # a line may hold a NUL, so no split
        nul = data.index(b"\0", at)
        colon = data.index(b":", nul)
        end = data.find(b"\n", colon)
        rows.add((os.fsdecode(data[at + 2:nul]), int(data[nul + 1:colon])))
        at = end + 1 if end >= 0 else len(data)
    return rows, ""


def run_mythos(root, flags, query, is_regex):
    way = ["--mode", "regex"] if is_regex else []
    done = subprocess.run([mythos, "search", "-q", "--json"] + way + flags + ["--", query, "."], cwd=root,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode > 1:
        return None, f"exit {done.returncode}: " + done.stderr.decode(errors="replace")
    rows = json.loads(done.stdout.decode(errors="surrogateescape") or "[]")
    return {(r["path"], r["start_line"]) for r in rows}, ""


def left_out(root):
    done = subprocess.run([mythos, "scan", "-q", "--explain", "."], cwd=root, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    rows = [l.split("\t") for l in done.stdout.decode(errors="surrogateescape").split("\n") if "\t" in l]
    return {r[1]: r[0] for r in rows if r[0] != "in"}


def reason_of(path, out):
    at = path
    while at:
        for name in (at, at + "/"):
            if name in out:
                return out[name]
        at = os.path.dirname(at)
    return None


def compare(root, n):
    rng = random.Random(seed)
    plain, other = lines_of(root, rng)
    out = left_out(root)
    bad = n_rows = n_with = n_refused = 0
    reasons = {}
    for i in range(2 * n):
        is_regex = i % 2 == 1
        lines = other if rng.random() < 0.5 else plain
        query = expression(rng, lines) if is_regex else piece(rng, lines, 30)
        flags = (["-i"] if rng.random() < 0.25 else []) + (["-w"] if rng.random() < 0.25 else [])
        flags = flags if is_regex else ["-F"] + flags
        want, why_want = run_rg(root, flags, query)
        got, why = run_mythos(root, flags, query, is_regex)
        if want is None and got is None:
            n_refused += 1
            continue
        if want is None or got is None:
            print(f"{root}: {flags} {query!r}: ripgrep: {why_want or 'rows'}; mythos: {why or 'rows'}")
            bad += 1
            continue
        n_rows += len(got)
        n_with += bool(got)
        for path in {p for p, _ in want - got} | {p for p, _ in got - want}:
            reason = reason_of(path, out)
            if reason and not any(p == path for p, _ in got):
                reasons[reason] = reasons.get(reason, 0) + 1
                continue
            bad += 1
            print(f"{root}: {flags} {query!r}: {path}: "
                  f"only ripgrep {sorted(l for p, l in want - got if p == path)[:5]}, "
                  f"only mythos {sorted(l for p, l in got - want if p == path)[:5]}")
    print(f"{os.path.basename(root)}: {n} literals, {n} expressions, {n_with} with rows, {n_rows} rows, {n_refused} "
          f"refused by both, {bad} differences; files left out, by reason: {reasons}", flush=True)
    return bad


made = os.path.join(scratch, "made")
make_tree(made)
print(f"seed {seed}")
bad = compare(made, rounds)
for tree in trees or ([own] if full else []):
    bad += compare(tree, rounds)
sys.exit(1 if bad else 0)
PYTHON
