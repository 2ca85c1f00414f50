#!/bin/sh
# The cache of places: a second run over an unchanged tree parses nothing; over a tree that does not fit --cache-limit
# it finds the part again that fits, each time; what was not used for more than a week makes room.
set -eu
mythos=$(readlink -f "$MYTHOS_BIN")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MYTHOS_CACHE MYTHOS_CACHE_LIMIT
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state"
python3 - "$mythos" "$dir" <<'END'
import json, os, sqlite3, subprocess, sys

bin, dir = sys.argv[1:]
N = 60


def tree(name):
    os.mkdir(f"{dir}/{name}")
    for i in range(N):
        with open(f"{dir}/{name}/f{i:02}.c", "w") as f:
            f.write("#include <stdlib.h>\n")
            for k in range(20):
                f.write(f"int {name}_{i}_{k}(int n)\n{{\n    char *p = malloc(n + {i});\n    p[0] = {k};\n"
                        f"    free(p);\n    if (n > {i})\n        free(p);\n    return n;\n}}\n")


def run(name, *flags, command="candidates"):
    p = subprocess.run([bin, command, name, "--format", "json", "--threads", "1", *flags], cwd=dir,
                       capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)["from_cache"], "".join(n for n in p.stderr.splitlines() if "--cache-limit" in n)


def size():
    return os.path.getsize(f"{dir}/cache/mythos/candidates-1.db")


tree("a")
tree("b")
assert run("a") == (0, ""), run("a")
assert run("a") == (N, ""), run("a")
whole = size()
os.remove(f"{dir}/cache/mythos/candidates-1.db")

limit = ("--cache-limit", str(whole // 2))
kept, err = run("a", *limit)
assert kept == 0 and "--cache-limit" in err, (kept, err)
first, err = run("a", *limit)
assert 0 < first < N and "--cache-limit" in err, (first, err)
assert run("a", *limit)[0] == first  # and not one less each time
assert run("b", *limit)[0] == 0 and run("b", *limit)[0] == 0
assert run("a", *limit)[0] == first
assert size() <= whole // 2 + (64 << 10), (size(), whole)

# Eight days later.
with sqlite3.connect(f"{dir}/cache/mythos/candidates-1.db") as db:
    db.execute("UPDATE reports SET used = used - 8 * 86400")
n = run("a", *limit)[0]  # what is used is of today again
assert n == first, n
run("b", *limit)
assert run("a", *limit)[0] == first
with sqlite3.connect(f"{dir}/cache/mythos/candidates-1.db") as db:
    db.execute("UPDATE reports SET used = used - 8 * 86400")
run("b", *limit)
assert 0 < run("b", *limit)[0] < N
assert size() <= whole // 2 + (64 << 10), (size(), whole)
END
