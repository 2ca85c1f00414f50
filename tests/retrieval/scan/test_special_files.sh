#!/bin/sh
# Pipes and devices where git keeps files: no command waits for one, and each is named. One repository a place; every
# command ends before its alarm, with the documented code.
bin=${MYTHOS_BIN:-./build/mythos}
bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")
command -v git >/dev/null || { echo "skipped: git is missing"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" XDG_CACHE_HOME="$dir/cache" GIT_CONFIG_NOSYSTEM=1
unset XDG_CONFIG_HOME
mkdir -p "$HOME" "$dir/base/src"
failed=0
fail() { echo "$*" >&2; failed=1; }

cd "$dir/base" || exit 1
git init -q . && git config user.name a && git config user.email a@b || exit 1
printf 'int main(void)\n{\n    return 0;\n}\n' >src/main.c
echo '*.o' >.gitignore
git add . && git commit -q -m first || exit 1
echo 'int more;' >>src/main.c

# run CODE COMMAND...: in the repository, with an alarm of its own (124 when it rings).
run()
{
    expected=$1
    shift
    timeout -k 1 60 "$bin" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    code=$?
    [ $code -eq "$expected" ] || fail "$place: mythos $*: exit $code, expected $expected: $(head -3 "$dir/err")"
}
said() { grep -q "$1" "$dir/err" || fail "$place: not named: $1: $(cat "$dir/err")"; }

# all SCAN OTHERS TEXT: the exit codes of a scan and of the commands that open the repository. Those refuse it and name
# the cause; a scan does so only when it reads the file itself.
all()
{
    run "$1" scan .
    [ "$1" -eq 0 ] || said "$3"
    for command in "index ." "inspect-diff --dry-run"; do
        run "$2" $command
        [ "$2" -eq 0 ] || said "$3"
    done
}

new()
{
    place=$1
    rm -rf "$dir/r" "$dir/cache" # an index that has the newest commit does not open the repository again
    cp -a "$dir/base" "$dir/r"
    cd "$dir/r" || exit 1
}

new none
run 0 inspect-diff --dry-run
objects=$(ls -d .git/objects/??/* | head -1)
branch=$(git symbolic-ref HEAD)
for at in .git/index .git/HEAD ".git/$branch" .git/packed-refs .git/shallow .git/info/attributes \
    .git/objects/info/alternates "$objects" \
          .git/refs/heads/x/y .git/logs/HEAD .git/objects/info/commit-graph .git/objects/pack/multi-pack-index; do
    new "$at"
    rm -rf "$at" && mkdir -p "$(dirname "$at")" && mkfifo "$at"
    all 0 74 "r/$at: a pipe or a device"
done

# What a scan reads itself is refused there too.
new .git/commondir # of a linked work tree
mkfifo .git/commondir
all 74 74 "r/.git/commondir: a pipe or a device"
new .git/config
rm .git/config && mkfifo .git/config
all 74 74 ".git/config: a pipe or a device"
new .git/info/exclude
rm -f .git/info/exclude && mkdir -p .git/info && mkfifo .git/info/exclude
all 74 74 ".git/info/exclude: a pipe or a device"

# Settings that name one.
for how in '[include]\n\tpath = ../pipe\n' '[includeIf "gitdir:**"] path = "../pi\\\npe" ; why\n' \
    '[core]\n\tattributesFile = pipe\n'; do
    new "settings $how"
    mkfifo pipe .git/pipe
    printf "$how" >>.git/config
    all 74 74 "pipe: a pipe or a device"
done
new "an include of an include"
mkfifo .git/pipe
printf '[include]\n\tpath = more\n' >>.git/config
printf '\000\n[Include]\n\tPATH = ~/deep\n' >.git/more
printf '[include]path=%s/r/.git/pipe\n' "$dir" >"$HOME/deep"
all 74 74 ".git/pipe: a pipe or a device"
new "the user's settings include one"
mkfifo .git/pipe
printf '[include]\n\tpath = %s/r/.git/pipe\n' "$dir" >"$HOME/.gitconfig"
all 74 74 ".git/pipe: a pipe or a device"
new "the user's settings are one"
rm "$HOME/.gitconfig" && mkfifo "$HOME/.gitconfig"
all 0 74 ".gitconfig: a pipe or a device" # a scan does not open what is no file
rm "$HOME/.gitconfig"
new "includes without end"
for i in 1 2 3 4 5 6 7 8 9; do
    for k in 1 2 3 4 5 6 7 8 9 10; do
        printf '[include]\n\tpath = c%d\n' $((i + 1))
    done >".git/c$i"
done
printf '[include]\n\tpath = c1\n' >>.git/config
all 3 3 "more than 200 files of git's settings"
new "alternates that name each other"
mkdir -p "$dir/r/o/info"
for i in 1 2 3 4; do echo "$dir/r/o"; done >"$dir/r/o/info/alternates"
echo "$dir/r/o" >.git/objects/info/alternates
all 0 3 "stores of objects"
new "a pipe in a store that is named"
mkdir -p "$dir/r/o/pack" && mkfifo "$dir/r/o/pack/pack-1.idx"
echo "../../o" >.git/objects/info/alternates
all 0 74 "pack-1.idx: a pipe or a device"

# Files of the work tree that libgit2 reads by their names; a scan lists them.
for at in .gitattributes .gitignore .gitmodules src/.gitattributes src/.gitignore src/none/.gitattributes; do
    new "$at"
    rm -rf "$at" && mkdir -p "$(dirname "$at")" && mkfifo "$at"
    case $at in *.gitmodules) wanted=0 ;; *) wanted=3 ;; esac
    run 0 scan --explain .
    [ $wanted -eq 0 ] || grep -q "^special	$at	a pipe or a device" "$dir/out" ||
        fail "$place: not listed: $(grep git "$dir/out")"
    run $wanted index .
    run 74 inspect-diff --dry-run
    said "r/$at: a pipe or a device"
done
new "a link to a device"
rm .git/index && ln -s /dev/tty .git/index
run 74 inspect-diff --dry-run
new "a link to /dev/null"
printf '[core]\n\tattributesFile = /dev/null\n\texcludesFile = /dev/null\n' >>.git/config
all 0 0 ""
new "a tracked file that became a pipe"
rm src/main.c && mkfifo src/main.c && cp .gitignore other.md
run 3 index .
run 0 inspect-diff --dry-run
new "links in a ring"
ln -s . .git/refs/heads/a && ln -s .. .git/refs/heads/b
run 0 index .
run 0 inspect-diff --dry-run
new "a socket, as git's watcher of files has one"
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(".git/watch.ipc")' 2>/dev/null &&
    run 0 inspect-diff --dry-run
exit $failed
