#!/bin/sh
# The version of the search constants that a run log records changes with a name or a value of weights.def and with
# nothing else, and the command was built with the version of this tree.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

hash() # file
{
    cmake -DFILE="$1" -P cmake/weights_hash.cmake 2>&1
}

# Fails unless `sed EXPRESSION` changes the text of weights.def, and its hash as WANTED says: same or other.
expect() # wanted, sed expression
{
    sed "$2" retrieval/rank/weights.def >"$dir/changed.def"
    if cmp -s "$dir/changed.def" retrieval/rank/weights.def; then
        echo "sed '$2' changes nothing: the test is out of date" >&2
        exit 1
    fi
    [ "$(hash "$dir/changed.def")" = "$real" ] && got=same || got=other
    if [ "$got" != "$1" ]; then
        echo "after sed '$2' the hash is the $got one, expected: $1" >&2
        exit 1
    fi
}

real=$(hash retrieval/rank/weights.def)
echo "$real" | grep -Eqx '[0-9a-f]{64}' || { echo "not a hash: $real" >&2; exit 1; }

expect same '1i /* Another comment, with WEIGHT(word, 1.0, in it; */\n'
expect same '/^$/d'
expect same '/^WEIGHT/s/, */,/g'
expect same 's/"\(times\|chunks\)"/"others"/'
expect same 's/"[^"]*")$/"another reason")/'
expect other 's/^WEIGHT(k1, *1\.2/WEIGHT(k1, 1.3/'
expect other 's/^WEIGHT(k1,/WEIGHT(k2,/'
expect other '/^WEIGHT(k1,/d'

# A row that the build cannot read must stop it instead of going out of the hash.
sed 's/^WEIGHT(k1, *1\.2/WEIGHT(k1, (1.2)/' retrieval/rank/weights.def >"$dir/changed.def"
if hash "$dir/changed.def" >"$dir/said"; then
    echo "a row with an unreadable value was accepted: $(cat "$dir/said")" >&2
    exit 1
fi

if ! grep -aq "sha256:$real" "$MYTHOS_BIN"; then
    echo "$MYTHOS_BIN does not hold sha256:$real: build it again, or see where CMakeLists.txt takes the hash from" >&2
    exit 1
fi
