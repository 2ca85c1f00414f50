#!/bin/sh
# retrieval_index.sh - measures how long it takes to make an index, to check an unchanged folder, to update one file and
# to search; beside git status, and beside another build.
#
#   bench/retrieval_index.sh DIR [OTHER]     DIR: a git repository that may be changed; one file gets a line, which is
#                                            removed again. OTHER: another build of mythos, for before and after
#
# MYTHOS   the command (build/mythos)
# ROUNDS   how often each is measured (5)
# HOT      runs in each round of commands that take milliseconds (9)
#
# cold     mythos index of a folder that has none
# same     the same command again
# status   git status
# search   mythos search, nothing changed
# changed  mythos search after one file got a word, which the search asks for and must find
#
# Rules    caches are warm; the builds alternate, A B B A; each has its own index in its own folder. Wall time is that
#          of whole commands; processor time is that of the command and its parsers. What is measured in several rounds
#          is the median of medians
# Output   one CSV line per build and measure: build, what, ms, cpu_ms; then the size of the index beside the source's
set -eu
exec python3 - "$@" <<'END'
import os, shutil, statistics, subprocess, sys, tempfile, time

root = sys.argv[1]
builds = [os.environ.get("MYTHOS", "build/mythos")] + sys.argv[2:3]
rounds, hot = int(os.environ.get("ROUNDS", "5")), int(os.environ.get("HOT", "9"))
top = tempfile.TemporaryDirectory()
took = {}


def run(key, cmd, cache):
    before, start = os.times(), time.perf_counter()
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, XDG_CACHE_HOME=cache))
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    took.setdefault(key, []).append((wall * 1e3, cpu * 1e3))
    return p.stdout


def measure(b, n):
    mythos, cache = builds[b], os.path.join(top.name, str(b))
    shutil.rmtree(cache, ignore_errors=True)
    run((b, "cold"), [mythos, "index", "-q", root], cache)
    query = ["search", "-q", "--lexical", "--json", "buffer of the parser", root]
    for i in range(hot + 1):
        run((b, "same" if i else "first same"), [mythos, "index", "-q", root], cache)
        run((b, "search" if i else "first search"), [mythos, *query], cache)
        run((b, "status" if i else "first status"), ["git", "-C", root, "status", "--porcelain"], cache)
    for i in range(hot):
        word = f"zebraword{n}x{i}x{b}"
        with open(path, "ab") as f:
            f.write(f"/* {word} */\n".encode())
        out = run((b, "changed"), [mythos, "search", "-q", "--lexical", "--json", word, root], cache)
        assert word.encode() in out, "the changed file is not found"


code = sorted(os.path.join(d, n) for d, _, names in os.walk(root) if "/.git" not in d
              for n in names if n.endswith(".c"))
path = code[len(code) // 2]
with open(path, "rb") as f:
    text = f.read()
print(f"load {os.getloadavg()[0]:.1f}, changed file {os.path.relpath(path, root)} of {len(text)} bytes",
      file=sys.stderr, flush=True)
try:
    for n in range(rounds):
        for b in range(len(builds))[:: 1 if n % 2 == 0 else -1]:
            measure(b, n)
            with open(path, "wb") as f:
                f.write(text)
finally:
    with open(path, "wb") as f:
        f.write(text)
print("build,what,ms,cpu_ms")
for b in range(len(builds)):
    for what in ("cold", "same", "status", "search", "changed"):
        wall, cpu = (statistics.median(t[k] for t in took[b, what]) for k in (0, 1))
        print(f"{builds[b]},{what},{wall:.1f},{cpu:.1f}")
source = sum(os.lstat(os.path.join(d, n)).st_size for d, _, names in os.walk(root) if "/.git" not in d for n in names)
for b in range(len(builds)):
    cache = os.path.join(top.name, str(b))
    shutil.rmtree(cache)
    run((b, "size"), [builds[b], "index", "-q", root], cache)
    size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(cache) for n in names
               if n.startswith("index-") and n.endswith(".db"))
    print(f"{builds[b]},size,{size / source:.3f},")
print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
END
