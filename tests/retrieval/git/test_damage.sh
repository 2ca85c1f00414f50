#!/bin/sh
# A checkout whose repository is damaged: inspect says so in a note, with the same report but for the commit, also when
# it repeats a run, and index counts it as lost (exit 3). Whole repositories of all kinds are not called damaged. Needs
# git.
set -eu
mythos=$(readlink -f "$MYTHOS_BIN")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MYTHOS_CACHE
# libgit2 1.5 loses the reference of a name whose commit it cannot read: no leaks are looked for here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state" HOME="$dir" GIT_CONFIG_NOSYSTEM=1
fail() { echo "$1" >&2; cat "$dir/err" >&2; exit 1; }
git() { command git -c user.name=n -c user.email=e@e "$@"; }
mkdir "$dir/r" && cd "$dir/r"
git init -q -b main .
for i in 1 2 3; do
    printf 'int f%s(char *p)\n{\n    return *p;\n}\n' $i >f$i.c
    git add -A && git commit -qm $i
done
git gc -q
cd "$dir"
cp -r r clone_from
git clone -q clone_from clone
git clone -q --depth 1 "file://$dir/clone_from" shallow
git clone -q --bare clone_from bare.git
git -C r worktree add -q ../tree 2>/dev/null
git init -q unborn && cp r/f1.c unborn
mkdir none && cp r/f1.c none
git -C clone checkout -q --detach
git init -q --separate-git-dir="$dir/apart.git" apart && cp r/f1.c apart && git -C apart add -A

inspect() { (cd "$1" && "$mythos" inspect . --find candidates --format json --fail-level never) >"$dir/out" \
    2>"$dir/err" || [ $? = 3 ] || fail "$1: inspect"
    sed -i 's/"source":{"commit":"[0-9a-f]*"}/"source":{}/g' "$dir/out"; }
index() { code=0; "$mythos" index --no-embed "$1" --json >"$dir/json" 2>"$dir/err" || code=$?; }

for t in r clone shallow tree unborn none apart r; do
    inspect $t
    grep -q damaged "$dir/err" && fail "$t: called damaged"
    index $t
    [ $code = 0 ] && grep -q '"lost":0' "$dir/json" || fail "$t: index exits with $code"
done

damage() { # name, what is said, command
    cp -r r "bad-$1"
    mkdir "was-$1" && mv "bad-$1" "was-$1/r"
    (cd "was-$1/r" && rm -rf .git/worktrees && inspect . && cp "$dir/out" "$dir/want" && eval "$3")
    for i in 1 2; do
        inspect "was-$1/r"
        cmp "$dir/out" "$dir/want" || { diff "$dir/want" "$dir/out" | cut -c1-2000 >&2; fail "$1: another report"; }
        grep -q "the repository is damaged: .*$2" "$dir/err" || fail "$1: no note"
    done
    index "was-$1/r"
    [ $code = 3 ] && grep -q '"lost":1' "$dir/json" && grep -q '"damaged"' "$dir/json" ||
        fail "$1: index exits with $code: $(cat "$dir/json")"
}
damage head "HEAD is no reference" "printf garbage >.git/HEAD"
damage nohead "HEAD is not there" "rm .git/HEAD"
damage branch "refs/heads/main names no commit" "mkdir -p .git/refs/heads; : >.git/refs/heads/main"
damage index "the index cannot be read" "printf garbage >.git/index"
damage garbage "is not whole" 'for p in .git/objects/pack/*.pack; do chmod u+w $p; printf garbage >$p; done'
damage short "is not whole" 'for p in .git/objects/pack/*.pack; do chmod u+w $p; truncate -s -9 $p; done'
damage gone "is not whole" 'rm -f .git/objects/pack/*.pack'
