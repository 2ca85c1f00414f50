#!/bin/sh
# inspect_again.sh MYTHOS DIR... - how much longer a second `mythos inspect` takes over an unchanged tree than a scan.
#
# The first run asks a random model for a few tokens a part, so that the cost of answers does not matter; what a second
# run does is the same for every model. Scan and second run alternate, RUNS times each (21); the row has the medians, by
# the wall clock and by processor time, and the load of the machine. The run log is on, as it is for users. WORK names a
# folder that keeps the answers, so that another measurement with the same program begins with the second run.
# Prints CSV: directory,files,first_s,scan_ms,again_ms,more_ms,scan_cpu_ms,again_cpu_ms,more_cpu_ms,load
set -eu
mythos=$(realpath "$1")
shift
if [ -n "${WORK:-}" ]; then
    work=$WORK
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
export XDG_CACHE_HOME="$work/cache" XDG_STATE_HOME="$work/state"
echo "directory,files,first_s,scan_ms,again_ms,more_ms,scan_cpu_ms,again_cpu_ms,more_cpu_ms,load"
for dir in "$@"; do
    python3 - "$mythos" "$dir" "${RUNS:-21}" <<'PY'
import os, resource, statistics, subprocess, sys, time
mythos, folder, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
scan = [mythos, "scan", folder]
again = [mythos, "inspect", folder, "-m", "random:gemma3-tiny:q8_0", "--prompt-style", "compact", "-n", "8",
         "--max-prompt-tokens", "4000", "--fail-level", "never", "--format", "sarif"]

def timed(line):
    began, was = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    now, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return wall, now.ru_utime + now.ru_stime - was.ru_utime - was.ru_stime, done

first_s, _, first = timed(again)
rows = {"scan": [], "again": []}
for _ in range(runs):
    rows["scan"].append(timed(scan)[:2])
    wall, cpu, done = timed(again)
    if done.stdout != first.stdout or b" planned; " in done.stderr:
        sys.exit("the second run was not a repetition: " + done.stderr.decode())
    rows["again"].append((wall, cpu))
files = len(timed(scan)[2].stdout.splitlines())
cells = [os.path.basename(folder), files, f"{first_s:.1f}"]
for i in (0, 1):
    was, now = (1000 * statistics.median(r[i] for r in rows[k]) for k in ("scan", "again"))
    cells += [f"{was:.1f}", f"{now:.1f}", f"{now - was:.1f}"]
print(*cells, f"{os.getloadavg()[0]:.1f}", sep=",")
PY
done
