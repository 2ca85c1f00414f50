#!/bin/sh
# retrieval_grep.sh - compares the line search of mythos with ripgrep, alternating: number of rows, median wall time and
# median processor time.
#
#   bench/retrieval_grep.sh [DIR]     default: /usr/include
#
# MYTHOS   the command (build/mythos)
# ROUNDS   pairs of runs for each query (7)
# NICE     prefix of every measured command
#
# Rules    caches are warm, since each query runs once before it counts; output goes to a pipe; the order is A B B A.
#          ripgrep is Debian's package, on the same folder with its own ignore rules. A query with different numbers of
#          rows is marked, because the two did not do the same work
# Output   one CSV line per query: mode, query, rows, rows of ripgrep, ms and processor ms of both, ratios
set -eu
exec python3 - "${1:-/usr/include}" <<'END'
import os, statistics, subprocess, sys, time

root = sys.argv[1]
mythos = os.environ.get("MYTHOS", "build/mythos")
rounds = int(os.environ.get("ROUNDS", "7"))
nice = os.environ.get("NICE", "").split()
queries = [
    ("literal", "static inline"), ("literal", "mutex"), ("literal", "zzzyyyxxx"), ("literal", "return"),
    ("regex", r"static\s+inline\s+\w+"), ("regex", r"\w+_init\("), ("regex", r"^#define\s+[A-Z_]+\s+\d+$"),
    ("regex", r"[A-Z][a-z]+Error"), ("regex", r"foo|bar|baz"), ("regex", r"\bmutex\b"),
    ("regex", r"(\w+)\s*=\s*\w+\s*;"), ("regex", r"\d{4}-\d{2}-\d{2}"), ("regex", r"^\s*(if|for|while)\s*\("),
]


def run(cmd):
    before, start = os.times(), time.perf_counter()
    out = subprocess.run(nice + cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall * 1e3, cpu * 1e3, out.count(b"\n")


print("mode,query,rows,rg_rows,ms,rg_ms,ratio,cpu_ms,rg_cpu_ms,cpu_ratio")
for mode, query in queries:
    a = [mythos, "search", "-q", "--mode", mode, query, root]
    b = ["rg", "--no-config", "--no-heading", "-n"] + (["-F"] if mode == "literal" else []) + ["-e", query, root]
    rows = [run(c)[2] for c in (a, b)]
    took = {0: [], 1: []}
    for i in range(rounds):
        for k in (0, 1) if i % 2 == 0 else (1, 0):
            took[k].append(run((a, b)[k]))
    ms, cpu = ([statistics.median(t[j] for t in took[k]) for k in (0, 1)] for j in (0, 1))
    print(f'{mode},"{query}",{rows[0]},{rows[1]},{ms[0]:.0f},{ms[1]:.0f},{ms[0] / ms[1]:.2f},'
          f'{cpu[0]:.0f},{cpu[1]:.0f},{cpu[0] / cpu[1]:.2f}'
          + ("" if rows[0] == rows[1] else ",rows differ"), flush=True)
END
