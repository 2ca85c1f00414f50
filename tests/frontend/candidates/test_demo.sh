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

# lines RULES of what stands between two headings
places() { sed -n "/^== $1/,/^== $2/s/^tests[^:]*:\([0-9]*\): .*\[\([a-z-]*\), CWE.*/\1 \2/p" "$dir/out"; }
places 'Rules find' 'The other places' >"$dir/places"
cat >"$dir/want" <<'END'
13 off-by-one
14 missing-null-check
22 missing-null-check
31 off-by-one
56 missing-null-check
END
cmp -s "$dir/want" "$dir/places" || fail "other findings than the text speaks of"
grep -q '^All of these are faults: line 13 ' "$dir/out" || fail "no word about the findings"
for line in 33 42 43; do
    sed -n '/^== The other places/,/^== The inspector/p' "$dir/out" | grep -q "^tests/corpus/demo.c:$line: " ||
        fail "line $line, of which the text speaks, is not shown"
done
grep -q '^user.c:12: HIGH .*missing-null-check' "$dir/out" || fail "the place that the change brought is not shown"
grep -q 'line 12 before the change asked for it: if (u == NULL)' "$dir/out" || fail "no word about the change"
grep -q 'What it gives 0.34 is a finding' "$dir/out" || fail "no word about the limit"
"$mythos" candidates tests/corpus/demo.c --judge >"$dir/some" 2>"$dir/notes"
grep -q 'takes what has at least 0.34$' "$dir/notes" || fail "another limit than the text says: $(cat "$dir/notes")"
[ -z "$(ls -A "$TMPDIR")" ] || fail "something is left"

# Another file is shown without words about its places.
sh tests/corpus/demo.sh "$mythos" tests/corpus/inspect/10_tty.c >"$dir/out" 2>/dev/null || fail "exit $? for a file"
! grep -q 'All of these are faults' "$dir/out" || fail "words about another file"
! sh tests/corpus/demo.sh "$mythos" "$dir/none.c" >"$dir/out" 2>/dev/null || fail "a missing file is no failure"
