#!/bin/sh
# A directory without a file to index ends with 66 and leaves nothing in the cache; an index whose tree is empty for a
# while stays.
set -eu
mythos=$(readlink -f "$MYTHOS_BIN")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" HOME="$dir"
fail() { echo "$1" >&2; exit 1; }
n_index() { ls "$dir/cache/mythos" 2>/dev/null | grep -cE '^[0-9a-f]{32}$' || :; }
run() { # expected exit code, arguments
    want=$1; shift; code=0
    "$mythos" "$@" >/dev/null 2>"$dir/err" || code=$?
    [ $code = "$want" ] || fail "$*: exit $code, expected $want: $(cat "$dir/err")"
}
mkdir "$dir/empty" "$dir/tree"
for i in 1 2; do
    run 66 index --no-embed "$dir/empty"
    [ "$(n_index)" = 0 ] || fail "an index of nothing is left"
done
run 66 search word -C "$dir/empty" --lexical
[ "$(n_index)" = 0 ] || fail "a search left an index of nothing"
echo 'int f(void);' >"$dir/tree/a.c"
run 0 index --no-embed "$dir/tree"
[ "$(n_index)" = 1 ] || fail "there is no index"
rm "$dir/tree/a.c"
run 66 index --no-embed "$dir/tree"
[ "$(n_index)" = 1 ] || fail "the index of a tree that had files is gone"
echo 'int g(void);' >"$dir/tree/b.c"
run 0 index --no-embed "$dir/tree"
run 0 index --no-embed --check "$dir/tree"
echo 'int h(void);' >"$dir/empty/c.c"
run 0 index --no-embed "$dir/empty"
[ "$(n_index)" = 2 ] || fail "a directory that was empty got no index"
