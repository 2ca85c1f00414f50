#!/bin/sh
# What `make demo` shows is what it says: the places of its file that are faults, and the one that a change brought.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
command -v git >/dev/null || { echo "no git"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mythos=$(readlink -f "${MYTHOS_BIN:-build/mythos}")
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
TMPDIR=$dir/tmp
export XDG_CACHE_HOME XDG_STATE_HOME TMPDIR
mkdir "$TMPDIR"
fail() { echo "$1: $(cat "$dir/out")" >&2; exit 1; }
"$mythos" candidates tests/corpus/demo.c --format jsonl -q >"$dir/out"
[ -s "$dir/out" ] || { echo "no rules in this build"; exit 77; }
sh tests/corpus/demo.sh "$mythos" >"$dir/out" 2>"$dir/err" || fail "exit $?: $(cat "$dir/err")"

sed -n '/^== Rules find/,/^== A change/s/^tests[^:]*:\([0-9]*\): \([a-z-]*\): .*/\1 \2/p' "$dir/out" >"$dir/places"
cat >"$dir/want" <<'END'
13 missing-null-check
14 missing-bounds-check
14 missing-null-check
33 format-string
43 shell-injection
50 missing-null-check
56 missing-null-check
60 double-free
END
cmp -s "$dir/want" "$dir/places" || fail "other places than the text speaks of"
grep -q '^Five of these eight are faults: line 14 ' "$dir/out" || fail "no word about the places"
grep -q '^user.c:13: HIGH .*missing-null-check' "$dir/out" || fail "the place that the change brought is not shown"
grep -qE 'The judge gives the place alone 0\.1[0-9], and what it$' "$dir/out" || fail "no word about the change"
grep -qE '^calls a fault has 0\.20\.' "$dir/out" || fail "no word about the judge's own confidence"
[ -z "$(ls -A "$TMPDIR")" ] || fail "something is left"

# Another file is shown without words about its places.
sh tests/corpus/demo.sh "$mythos" tests/corpus/inspect/10_tty.c >"$dir/out" 2>/dev/null || fail "exit $? for a file"
! grep -q 'of these eight' "$dir/out" || fail "words about another file"
! sh tests/corpus/demo.sh "$mythos" "$dir/none.c" >"$dir/out" 2>/dev/null || fail "a missing file is no failure"
