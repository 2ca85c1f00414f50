#!/bin/sh
# A search of lines lists every matching line, and with -k as many as asked for, also more than the chunks that a ranked
# search may list.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
HOME=$dir
export HOME
mkdir "$dir/t"
seq 1 12000 | sed 's/^/int needle = /' >"$dir/t/a.c"
for flags in '-F' '-F -k 11500' '--mode regex -k 4294967295'; do
    want=12000
    [ "$flags" != '-F -k 11500' ] || want=11500
    "$MYTHOS_BIN" search -q $flags needle "$dir/t" >"$dir/out" || fail "$flags: exit $?"
    [ "$(wc -l <"$dir/out")" -eq $want ] || fail "$flags: $(wc -l <"$dir/out") lines"
done
code=0
"$MYTHOS_BIN" search -q -k 10001 --mode ranked needle "$dir/t" >"$dir/out" 2>"$dir/err" || code=$?
[ $code -eq 2 ] && grep -q 'at most 10000 chunks' "$dir/err" || fail "ranked: exit $code, $(cat "$dir/err")"
