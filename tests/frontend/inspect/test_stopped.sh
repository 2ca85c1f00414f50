#!/bin/sh
# A run that a signal stops gives its report, whatever its log needs and whatever it is doing then: while places are
# looked for, while they are judged, while the run is written down.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
[ -f models/mythos-judge.gguf ] || { echo "no judge"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state"
python3 - "$(readlink -f "$MYTHOS_BIN")" "$dir" <<'END'
import json, os, signal, sqlite3, subprocess, sys, time

bin, dir = sys.argv[1:]
N = 150
os.mkdir(f"{dir}/r")
for i in range(N):
    with open(f"{dir}/r/f{i:03}.c", "w") as f:
        for k in range(4):
            f.write(f"#include <stdlib.h>\nint work_{i}_{k}(int n)\n{{\n    char *p = malloc(n + {i});\n"
                    f"    p[0] = {k};\n    free(p);\n    if (n > {i})\n        free(p);\n    return n;\n}}\n")


def started(name):
    out = open(f"{dir}/{name}.json", "wb")
    p = subprocess.Popen([bin, "inspect", ".", "--no-cache", "--format", "json", "--fail-level", "never", "--log",
                          f"{dir}/{name}.db", "--output", f"sarif={dir}/{name}.sarif"], cwd=f"{dir}/r", stdout=out,
                         stderr=subprocess.PIPE, text=True)
    return p


def wait_for(what, p):
    while not what():
        assert p.poll() is None, p.communicate()
        time.sleep(0.02)


def has_row(name):
    def look():
        try:
            with sqlite3.connect(f"file:{dir}/{name}.db?mode=ro", uri=True) as db:
                return db.execute("SELECT count(*) FROM runs").fetchone()[0]
        except sqlite3.Error:
            return False
    return look


def ended(p, name):
    """The report of a run that was stopped, or was just done."""
    err = p.communicate()[1]
    if p.returncode == 3 and "while the directory was scanned" in err:
        return None  # the files are not known yet, and no report could name them
    assert os.path.getsize(f"{dir}/{name}.json"), (p.returncode, err)
    with open(f"{dir}/{name}.json") as f:
        report = json.load(f)
    json.load(open(f"{dir}/{name}.sarif"))
    assert p.returncode == (0 if report["complete"] else 3), (p.returncode, err)
    assert report["complete"] or len(report["not_inspected"]) > 0, err
    [row] = json.loads(subprocess.run([bin, "log", "list", "--json", "--log", f"{dir}/{name}.db"], check=True,
                                      capture_output=True).stdout)
    assert row["exit_code"] == p.returncode, (row, err)
    return report


# At any time.
n_stopped = 0
for i, seconds in enumerate([0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5]):
    p = started(f"t{i}")
    wait_for(has_row(f"t{i}"), p)
    time.sleep(seconds)
    p.send_signal([signal.SIGTERM, signal.SIGINT, signal.SIGHUP][i % 3])
    report = ended(p, f"t{i}")
    if report is None:
        continue
    n_stopped += not report["complete"]
    assert report["complete"] or any("interrupted" in m["why"] for m in report["not_inspected"]), report
assert n_stopped > 0

# The log is held by another process from the signal on until the report is there: the report does not wait for it, and
# then the run is written down.
p = started("held")
wait_for(has_row("held"), p)
time.sleep(0.5)
db = sqlite3.connect(f"{dir}/held.db", isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
p.send_signal(signal.SIGTERM)
while not (os.path.exists(f"{dir}/held.sarif") and os.path.getsize(f"{dir}/held.json")) and p.poll() is None:
    time.sleep(0.02)
db.execute("ROLLBACK")
db.close()
ended(p, "held")
END
