#!/bin/sh
# map --summaries with the shipped model and with one that follows instructions: lines are kept by content, bounded by
# --summary-files, taken up where a run ended, made anew by another model, and what a model writes about nothing in the
# file is not kept.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
model=models/mythos-inspect.gguf
[ -f "$model" ] || { echo "no $model"; exit 77; }
MYTHOS_MODEL=$(readlink -f "$model")
mythos=$(readlink -f "$MYTHOS_BIN")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
HOME=$dir
XDG_CACHE_HOME=$dir/cache
export MYTHOS_MODEL HOME XDG_CACHE_HOME
mkdir -p "$dir/r/src"
cat >"$dir/r/src/queue.c" <<'END'
/* queue.c - items in order, one writer. */
int queue_push(int a) { return a; }
END
cat >"$dir/r/src/ring.c" <<'END'
#include "queue.h"

/* Puts an item into the ring. */
int ring_put(int a) { return queue_push(a); }

/* Takes the oldest item out of the ring. */
int ring_take(int a) { return a; }
END
cat >"$dir/r/src/bare.c" <<'END'
int bare(int a) { return a; }
END
cat >"$dir/r/src/one.py" <<'END'
import os


def one(a):
    """Counts the files of a folder."""
    return len(os.listdir(a))
END
cd "$dir/r"
map() { want=$1; shift; code=0; "$mythos" map --tokens 4000 "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ $code -eq "$want" ] || fail "map $*: exit $code, expected $want: $(cat "$dir/err")"; }
db() { python3 - "$dir/cache" "$@" <<'END'
import glob, pathlib, sqlite3, sys
[path] = [p for p in glob.glob(sys.argv[1] + "/**/*", recursive=True) if p.endswith(".db")]
# read only: another program than ours that closes the index last would move pages into it unsigned
d = sqlite3.connect(pathlib.Path(path).resolve().as_uri() + "?mode=ro", uri=True)
print(*sorted(t for (t,) in d.execute("SELECT text FROM summaries")), sep="\n")
END
}
map 0
cp "$dir/out" "$dir/without"
# two files of four, the others later
map 0 --summaries --summary-files 1
grep -q 'summaries: read 1 of 4 files, .* 3 are left for the next run' "$dir/err" ||
    fail "bounded: $(cat "$dir/err")"
map 0 --summaries --summary-files 2
grep -q 'summaries: read 2 of 3 files' "$dir/err" || fail "taken up: $(cat "$dir/err")"
map 0 --summaries
grep -q 'summaries: read 1 file,' "$dir/err" || fail "the last: $(cat "$dir/err")"
map 0 --summaries
! grep -q 'summaries:' "$dir/err" || fail "nothing is missing: $(cat "$dir/err")"
cp "$dir/out" "$dir/with"
grep -q 'queue.c .*tems in order, one writer' "$dir/with" || fail "the head: $(cat "$dir/with")"
grep -q 'one.py .*Counts the files of a folder' "$dir/with" || fail "the only sentence: $(cat "$dir/with")"
grep -qE 'ring.c .*(Puts an item into|Takes the oldest item out of) the ring' "$dir/with" ||
    fail "a sentence of the file: $(cat "$dir/with")"
grep -q 'bare.c$\|bare.c (c)$' "$dir/with" || fail "a file that says nothing: $(cat "$dir/with")"
[ "$(db | grep -c .)" -eq 4 ] || fail "lines: $(db)"
# the map for prompts, without them, is as it was
map 0
cmp "$dir/out" "$dir/without" || fail "without --summaries the map is another"
# a file that moved keeps its line, one that changed has it made anew
mv src/ring.c src/wheel.c
map 0 --summaries
! grep -q 'summaries:' "$dir/err" || fail "a file that moved was asked again: $(cat "$dir/err")"
grep -qE 'wheel.c .*the ring' "$dir/out" || fail "it lost its line: $(cat "$dir/out")"
echo '/* more */' >>src/bare.c
map 0 --summaries
grep -q 'summaries: read 1 file,' "$dir/err" || fail "a change: $(cat "$dir/err")"
map 0 --summaries --json
python3 -c 'import json, sys
f = {x["path"]: x["summary"] for x in json.load(open(sys.argv[1]))["files"]}
assert "one writer" in f["src/queue.c"] and f["src/bare.c"] == "", f' "$dir/out"
# another model: all anew; one of random weights writes what is about no file, and headlines stay
map 0 --summaries -m random:gemma3-tiny:f32
grep -q 'summaries: read 4 files, 0 with a line, 4 written by' "$dir/err" || fail "random: $(cat "$dir/err")"
map 0 --summaries --json
grep -q 'summaries: read 4 files' "$dir/err" || fail "back again: $(cat "$dir/err")"
# an interrupt leaves what is there, and says that it is not whole
python3 - "$mythos" "$dir/cache" <<'END' || fail "interrupt"
import glob, os, pathlib, signal, sqlite3, subprocess, sys, time
os.makedirs("many")
for i in range(200):
    open(f"many/f{i}.c", "w").write(f"int a{i};\n\n/* Takes {i}. */\nint b{i}(void) {{ return {i}; }}\n" * 20)
subprocess.run([sys.argv[1], "map", "-q"], stdout=subprocess.DEVNULL, check=True)
[path] = [p for p in glob.glob(sys.argv[2] + "/**/*", recursive=True) if p.endswith(".db")]
look = pathlib.Path(path).resolve().as_uri() + "?mode=ro"
count = lambda: sqlite3.connect(look, uri=True).execute("SELECT count(*) FROM summaries").fetchone()[0]
p = subprocess.Popen([sys.argv[1], "map", "--summaries", "-m", "random:gemma3-tiny:f32", "--tokens", "500"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while p.poll() is None and not 4 < count():
    time.sleep(0.02)
p.send_signal(signal.SIGINT)
out, err = p.communicate(timeout=120)
n = count()
assert p.returncode == 3 and "left for the next run" in err and out, (p.returncode, err)
assert 4 < n < 204, n
p = subprocess.run([sys.argv[1], "map", "--summaries", "--summary-files", "1", "-m", "random:gemma3-tiny:f32"],
                   capture_output=True, text=True)
assert p.returncode == 0, (p.returncode, p.stderr)
assert f"read 1 of {204 - n} files" in p.stderr, p.stderr
print("interrupted after", n, "of 204 files")
END
echo ok
