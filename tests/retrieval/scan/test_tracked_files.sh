#!/bin/sh
# A file that git tracks is used, also in a directory with the name of a build's output and where a pattern of
# .gitignore leaves it out: by scan, by a search of lines and by the index. What is left out is counted and has its
# reason. An index that cannot be read leaves such directories out as lost.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
command -v git >/dev/null || { echo "skipped: no git"; exit 77; }
HOME=$dir GIT_CONFIG_NOSYSTEM=1
export HOME GIT_CONFIG_NOSYSTEM
unset XDG_CONFIG_HOME || true

names='build target vendor dist coverage venv'
mkdir "$dir/t"
cd "$dir/t"
git init -q .
for name in $names; do
    mkdir -p "$name/in" "sub/$name"
    echo "int needle_$name;" >"$name/in/a.c"
    echo 'int needle;' >"sub/$name/b.c"
done
mkdir -p ign/deep vendor/node_modules
echo 'int needle_kept;' >ign/deep/kept.c
echo 'int needle;' >ign/deep/other.c
echo 'int needle;' >vendor/node_modules/c.c
echo 'ign/' >.gitignore
echo 'int needle_new;' >new.c
git add $names && git add -f ign/deep/kept.c
git rm -r -q --cached vendor/node_modules

"$MYTHOS_BIN" scan >"$dir/out" 2>"$dir/err" || fail "exit $?"
{ echo ign/deep/kept.c; echo new.c; for name in $names; do echo "$name/in/a.c"; done; } | sort >"$dir/want"
sort "$dir/out" | cmp -s - "$dir/want" || fail "scan: $(cat "$dir/out")"
grep -q '; left out: 1 ignored, 1 hidden, 8 skipped_dir$' "$dir/err" || fail "counts: $(cat "$dir/err")"

"$MYTHOS_BIN" search -q -l -F needle >"$dir/out" || fail "search: exit $?"
sort "$dir/out" | cmp -s - "$dir/want" || fail "search: $(cat "$dir/out")"
"$MYTHOS_BIN" search -q -l --mode symbol needle_vendor >"$dir/out" 2>/dev/null || fail "index: exit $?"
[ "$(cat "$dir/out")" = vendor/in/a.c ] || fail "index: $(cat "$dir/out")"

"$MYTHOS_BIN" scan --explain -q >"$dir/out"
for row in "in	ign/deep/kept.c	c, tracked by git, so pattern 'ign/' in .gitignore:1 does not count" \
    "ignored	ign/deep/other.c	pattern 'ign/' in .gitignore:1" \
    'skipped_dir	sub/build/	.* git tracks nothing in it; ' 'skipped_dir	vendor/node_modules/	.* git tracks nothing'; do
    grep -q "^$row" "$dir/out" || fail "no row '$row': $(cat "$dir/out")"
done

# A linked work tree has an index of its own.
git -c user.name=a -c user.email=a@b commit -q -m one
git worktree add -q "$dir/linked" 2>/dev/null
"$MYTHOS_BIN" scan -q "$dir/linked" | grep -v '^ign' | wc -l >"$dir/out"
[ "$(cat "$dir/out")" -eq 6 ] || fail "a linked work tree: $(cat "$dir/out") files"

printf DIRC >.git/index
code=0
"$MYTHOS_BIN" index >/dev/null 2>"$dir/err" || code=$?
[ $code -eq 3 ] && grep -q "^build: skipped_dir: git's index cannot be read" "$dir/err" ||
    fail "a damaged index: exit $code, $(cat "$dir/err")"
