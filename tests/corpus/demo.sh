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

echo "== The inspector that ships reads a file and writes findings (--find model). It is a demonstration: most of them are"
echo "   wrong on code that nobody injected faults into."
run inspect-file "$file" --find model

echo
echo "== Rules find places, and the judge that ships says of each how probable a fault is. No text is generated."
run candidates "$file" --judge --confidence 0.08
if [ "$file" = tests/corpus/demo.c ]; then
    echo "Five of these eight are faults: line 14 copies one byte more than there is room for, to memory that malloc may not"
    echo "have given, 33 prints a text as a format, 43 runs a command made of the environment's text, 56 writes to a file"
    echo "that may not be open. The judge does not set them apart from the other three."
fi

echo
echo "== A change takes a check out, and inspect-diff looks at the function that it changed."
export XDG_CACHE_HOME="$dir/cache" XDG_STATE_HOME="$dir/state"
mkdir "$dir/users"
cat >"$dir/users/user.c" <<'END'
#include <stddef.h>

struct user {
    char *name;
    int age;
};

struct user *find_user(const char *name);

int user_age(const char *name)
{
    struct user *u = find_user(name);
    if (u == NULL)
        return -1;
    return u->age;
}
END
repo() { git -C "$dir/users" -c user.name=demo -c user.email=demo@localhost -c commit.gpgsign=false "$@"; }
places() { "$mythos" candidates "$dir/users/user.c" --judge --rules missing-null-check --format jsonl 2>"$dir/notes"; }
repo init -q
repo add user.c
repo commit -q -m "users have an age"
before=$(places)
sed '/u == NULL/,/return -1/d' "$dir/users/user.c" >"$dir/after"
cp "$dir/after" "$dir/users/user.c"
after=$(places)
repo --no-pager diff -U0 | grep '^[-+] '
run inspect-diff -C "$dir/users"
if [ -n "$after" ] && [ -z "$before" ]; then
    given=$(echo "$after" | sed -n 's/.*"probability": *\([0-9.]*\).*/\1/p' | LC_ALL=C xargs printf %.2f)
    least=$(sed -n 's/.*takes what has at least //p' "$dir/notes")
    echo "With the check the rules found no such place, without it they do. The judge gives the place alone $given, and what it"
    echo "calls a fault has $least. That a change made a place of a line that it did not touch speaks for a fault, and counts."
fi
echo
echo "The judge is small: on fixes that people made it is no better than a bag of words (models/README.md). With -m GEMMA a"
echo "model that follows instructions judges instead, sees the removed lines, and writes why a place is a fault and what"
echo "would mend it. How well real weights do that was not measured here."
