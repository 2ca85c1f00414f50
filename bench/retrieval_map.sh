#!/bin/sh
# retrieval_map.sh - measures mythos map of a folder: the first map, warm ones, one for a query, and one after a file
# has changed.
#
#   bench/retrieval_map.sh DIR     a copy that may be changed: one file gets a line, which is removed again
#
# MYTHOS   the command (build/mythos)
# TOKENS   size of the map (2000)
# ROUNDS   how many warm maps (9)
#
# Times    median wall time and processor time of making the map, as the command's note reports them: the tokenizer is
#          open and the index is up to date by then
# Same     the maps of all rounds are compared byte by byte
# Output   one CSV line each: what, files, lines, tokens, files shown, ms, processor ms
set -eu
exec python3 - "$1" <<'END'
import os, re, statistics, subprocess, sys, tempfile

root = sys.argv[1]
mythos = os.environ.get("MYTHOS", "build/mythos")
tokens = os.environ.get("TOKENS", "2000")
rounds = int(os.environ.get("ROUNDS", "9"))
cache = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = cache.name
note = re.compile(r"(\d+) of \d+ tokens used, (\d+) of (\d+) files shown; ([\d.]+) ms wall, ([\d.]+) ms CPU")


def run(*more):
    p = subprocess.run([mythos, "map", root, "--tokens", tokens, *more], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, check=True)
    return p.stdout, [float(x) for x in note.search(p.stderr.decode()).groups()]


def lines_of(path):
    with open(path, "rb") as f:
        return f.read().count(b"\n")


def show(what, all):
    n = [statistics.median(x) for x in zip(*all)]
    print(f"{what},{n[2]:.0f},{n_line},{n[0]:.0f},{n[1]:.0f},{n[3]:.1f},{n[4]:.1f}", flush=True)


n_line = 0
code = []
for folder, _, names in os.walk(root):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and not os.path.islink(path) and "/.git/" not in path:
            n_line += lines_of(path)
            if name.endswith((".c", ".py")):
                code.append(path)
subprocess.run([mythos, "index", "-q", root], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("what,files,lines,tokens,shown,ms,cpu_ms")
text, first = run()
show("first", [first])
warm = [run() for _ in range(rounds)]
show("warm", [n for _, n in warm])
assert all(t == text for t, _ in warm), "the bytes differ"
asked = [run("--for", "read the configuration") for _ in range(3)]
show("for a query", [n for _, n in asked])
assert all(t == asked[0][0] for t, _ in asked), "the bytes differ"
path = min(code)
with open(path, "rb") as f:
    before = f.read()
try:
    with open(path, "ab") as f:
        f.write(b"\n")
    show("after a change", [run()[1]])
finally:
    with open(path, "wb") as f:
        f.write(before)
assert run()[0] == text, "the bytes differ"
END
