#!/bin/sh
# What the judge was told of a function is kept by its prompts: after a change only the changed function is asked about,
# a run that was killed goes on, other flags ask nothing again; and the report is that of a run without what is kept.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
[ -f models/mythos-judge.gguf ] || { echo "no judge"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MYTHOS_CACHE MYTHOS_CACHE_LIMIT
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state"
python3 - "$(readlink -f "$MYTHOS_BIN")" "$dir" <<'END'
import json, os, re, shutil, signal, sqlite3, subprocess, sys, time

bin, dir = sys.argv[1:]
N = 16


def text(i, n=4):
    out = "#include <stdlib.h>\n"
    for k in range(n):
        out += (f"int work_{i}_{k}(int n)\n{{\n    char *p = malloc(n + {i});\n    p[0] = {k};\n    free(p);\n"
                f"    if (n > {i})\n        free(p);\n    return n;\n}}\n")
    return out


def write(i, t):
    with open(f"{dir}/r/f{i:02}.c", "w") as f:
        f.write(t)


os.mkdir(f"{dir}/r")
for i in range(N):
    write(i, text(i))
args = ["inspect", ".", "--format", "json", "--no-log"]


def run(*flags, command=args):
    """The report, how many places it is about, and how many of them an earlier run was told of."""
    p = subprocess.run([bin, *command, *flags], cwd=f"{dir}/r", capture_output=True, text=True)
    assert p.returncode in (0, 1), p.stderr
    n = re.search(r"of (\d+) places judged", p.stderr)
    kept = re.search(r"(\d+) of them as an earlier run was told", p.stderr)
    return p.stdout, int(n.group(1)) if n else 0, int(kept.group(1)) if kept else 0


def same(out, *flags):
    plain = run("--no-cache", *flags)
    assert plain[2] == 0 and plain[0] == out, "another report than without the cache"


first, n, kept = run()
assert n >= 8 * N and kept == 0, (n, kept)
same(first)

# Other flags, a comment, lines above: nothing is asked again.
out, m, kept = run("--fail-level", "never")
assert (m, kept) == (n, n), (m, kept)
write(3, "/* one */\n\n" + text(3).replace("p[0] = 1;", "p[0] = 1; /* two */"))
out, m, kept = run()
assert (m, kept) == (n, n), (m, kept)
same(out)

# One changed function of a file: that one alone.
each = n // (4 * N)
write(5, text(5).replace("p[0] = 2;", "p[0] = 22;"))
out, m, kept = run()
assert (m, kept) == (n, n - each), (m, kept, n, each)
same(out)

# A damaged row is as good as none.
with sqlite3.connect(f"{dir}/cache/mythos/candidates-1.db") as db:
    for key, body in db.execute("SELECT key, body FROM reports WHERE length(body) < 64").fetchall():
        db.execute("UPDATE reports SET body = ? WHERE key = ?", (bytes(255 - b for b in body), key))
out, m, kept = run("--fail-level", "low")
assert (m, kept) == (n, 0), (m, kept)
same(out, "--fail-level", "low")

# candidates --judge is told the same.
out, _, _ = run(command=["candidates", ".", "--judge", "--format", "json"])
again = run(command=["candidates", ".", "--judge", "--format", "json"])[0]
drop = lambda t: re.sub(r'"(seconds|[a-z_]*_s|from_cache|[a-z_]*tokens[a-z_]*|prompts)":[^,}]*', "", t)
assert drop(again) == drop(out)

# A run that was killed goes on.
shutil.rmtree(f"{dir}/cache")
p = subprocess.Popen([bin, *args], cwd=f"{dir}/r", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def n_score():
    try:
        with sqlite3.connect(f"file:{dir}/cache/mythos/candidates-1.db?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM reports WHERE length(body) < 64").fetchone()[0]
    except sqlite3.Error:
        return 0


while n_score() < 20 and p.poll() is None:
    time.sleep(0.01)
p.send_signal(signal.SIGKILL)
p.wait()
out, m, kept = run()
assert m == n and kept >= 20, (m, kept)
same(out)
END
