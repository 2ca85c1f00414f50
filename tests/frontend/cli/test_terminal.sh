#!/bin/sh
# What a file name or a vocabulary holds begins no line of its own, gives no order to a workflow, and reaches a terminal
# escaped; where the output is a file or a pipe, data stays as it is.
bin=${MYTHOS_BIN:-./build/mythos}
bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME="$dir/cache" HOME="$dir"
failed=0
fail() { echo "$*" >&2; failed=1; }
esc=$(printf '\033')

# Names on stderr and on stdout.
mkdir "$dir/t" && cd "$dir/t" || exit 1
echo 'int a;' >a.c
line=$(printf 'x\n::stop-commands::y\nmythos: all is well %s[31m.c' "$esc")
mkfifo "$line" "::error::z.c"
"$bin" index . >"$dir/out" 2>"$dir/err"
[ $? -eq 3 ] || fail "index: $(cat "$dir/err")"
grep -q 'x\\n::stop-commands::y\\nmythos: all is well \\x1b\[31m.c: special' "$dir/err" ||
    fail "the name is not escaped: $(cat "$dir/err")"
grep -q '^\\x3a:error::z.c: special' "$dir/err" || fail "a name gives an order: $(cat "$dir/err")"
"$bin" scan --explain . >>"$dir/err"
"$bin" index no-such-folder/"$line" 2>>"$dir/err"
"$bin" "$line" 2>>"$dir/err"
grep -q '^[[:blank:]]*::\|^mythos: all is well\|'"$esc" "$dir/err" && fail "raw: $(cat "$dir/err")"

# Text that is asked for: as it is in a file, escaped on a terminal.
ids=$(printf 'a\033[31mb' | "$bin" tokenize - | tr -d '\n')
"$bin" detokenize --ids "$ids" >"$dir/out" || fail "detokenize: $ids"
grep -q "a$esc\[31mb" "$dir/out" || fail "a file gets: $(cat -v "$dir/out")"
"$bin" generate --ids "$ids" -n 1 --verbose-prompt >/dev/null 2>"$dir/err"
grep -q "$esc\[31m" "$dir/err" || fail "a file of stderr gets: $(cat -v "$dir/err")"
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    export TERM=dumb NO_COLOR=1
    script -qec "'$bin' detokenize --ids $ids" /dev/null </dev/null >"$dir/out"
    grep -q 'a\\x1b\[31mb' "$dir/out" && ! grep -q "$esc" "$dir/out" || fail "a terminal gets: $(cat -v "$dir/out")"
    script -qec "'$bin' generate --ids $ids -n 1 --verbose-prompt" /dev/null </dev/null >"$dir/out"
    grep -q 'a\\x1b\[31mb' "$dir/out" && ! grep -q "$esc" "$dir/out" || fail "a terminal gets: $(cat -v "$dir/out")"
fi
exit $failed
