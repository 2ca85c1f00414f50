#!/bin/sh
# demo.sh MYTHOS [FILE] - what the models that ship say of a file, and of a change that takes a check out. The change is
# made in a repository of its own, which is removed again.
set -eu
mythos=$(readlink -f "$1")
file=${2:-tests/corpus/demo.c}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Exit codes below 4 are reports: 0 without findings, 1 with some, 3 incomplete. 2 is a wrong call.
run() {
    echo "\$ mythos $*"
    code=0
    "$mythos" "$@" || code=$?
    [ $code -lt 4 ] && [ $code -ne 2 ]
}

echo "== Rules find places, and the judge that ships says how probable a fault each is. What it gives 0.34 is a finding: in"
echo "   code that people released more than half of such places are faults. No text is generated."
run inspect-file "$file"
if [ "$file" = tests/corpus/demo.c ]; then
    echo "All of these are faults: line 13 asks for one byte less than 14 writes, and malloc may not have given any; 22 reads"
    echo "and 56 writes a file that may not be open; 31 reads one note too many."
fi

echo
echo "== The other places that rules find, with the probability that each is a fault."
run candidates "$file" --judge --confidence 0.03 --rules off-by-one,format-string,missing-bounds-check,shell-injection
if [ "$file" = tests/corpus/demo.c ]; then
    echo "Line 33 prints a text as a format, 42 prints texts of any length into an array, 43 runs a command made of the"
    echo "environment's text: faults as well, of kinds that are harmless in most code."
fi

echo
echo "== The inspector that ships reads the file and writes findings (--find model). It is a demonstration: most of them are"
echo "   wrong on code that nobody injected faults into."
run inspect-file "$file" --find model

echo
echo "== A change takes a check out, and inspect-diff looks at the function that it changed."
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state"
mkdir "$dir/users"
cat >"$dir/users/user.c" <<'END'
#include <stdlib.h>
#include <string.h>

struct user {
    char *name;
    int age;
};

struct user *new_user(const char *name)
{
    struct user *u = calloc(1, sizeof(*u));
    if (u == NULL)
        return NULL;
    u->name = strdup(name);
    return u;
}
END
repo() { git -C "$dir/users" -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false "$@"; }
repo init -q
repo add user.c
repo commit -q -m "users have an age"
sed '/u == NULL/,/return NULL/d' "$dir/users/user.c" >"$dir/after"
cp "$dir/after" "$dir/users/user.c"
repo --no-pager diff -U0 | grep '^[-+] '
run inspect-diff -C "$dir/users"
echo "The line is old. With the check in front of it the rules found no such place, and the finding says what changed."
echo
echo "How probable a fault is comes from places of real code that were read one by one (models/README.md): which place of a"
echo "kind it is says the judge little better than chance. With -m GEMMA a model that follows instructions judges instead,"
echo "sees the removed lines, and writes why a place is a fault and what would mend it. How well real weights do that was"
echo "not measured here."
