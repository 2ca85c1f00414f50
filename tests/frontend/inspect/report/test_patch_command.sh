#!/bin/sh
# --patch in the command: a file that is always written, whole or empty, that git takes; a refusal and a run without
# findings write it too, a path that cannot be written is exit 73, and a replay writes nothing.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
export MYTHOS_FIND=model # the findings that the model that ships writes itself
model=models/mythos-inspect.gguf
[ -f "$model" ] || { echo "no $model"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
XDG_STATE_HOME=$dir/state
export XDG_STATE_HOME
file=tests/corpus/inspect/10_tty.c
run() { want=$1; shift; code=0; "$MYTHOS_BIN" inspect-file "$@" >"$dir/out" 2>"$dir/err" || code=$?
    [ $code -eq "$want" ] || fail "$*: exit $code, expected $want: $(cat "$dir/err")"; }
for pass in --no-two-pass --two-pass; do
    run 0 $file $pass --fail-level never --format json --patch "$dir/fix.diff"
    python3 - "$dir/out" "$dir/fix.diff" <<'END'
import json, sys
findings, diff = json.load(open(sys.argv[1]))["findings"], open(sys.argv[2]).read()
assert findings, "nothing was found"
patches = [f["patch"] for f in findings if "patch" in f]
assert bool(patches) == bool(diff), (patches, diff)
END
    [ ! -s "$dir/fix.diff" ] || git apply --check "$dir/fix.diff" || fail "git does not take it"
done
echo 'return 1' >"$dir/clean.py"
echo old >"$dir/fix.diff"
run 0 "$dir/clean.py" --patch "$dir/fix.diff"
[ -e "$dir/fix.diff" ] && [ ! -s "$dir/fix.diff" ] || fail "no findings: $(cat "$dir/fix.diff")"
echo old >"$dir/fix.diff"
run 3 $file --max-prompt-tokens 20 --patch "$dir/fix.diff"
[ ! -s "$dir/fix.diff" ] || fail "a refusal left an old patch"
run 73 $file --patch "$dir/none/fix.diff"
run 0 "$dir/clean.py" --patch "$dir/fix.diff"
rm "$dir/fix.diff"
"$MYTHOS_BIN" log replay >"$dir/out" || fail "replay: $(cat "$dir/out")"
[ ! -e "$dir/fix.diff" ] || fail "a replay wrote a patch"
