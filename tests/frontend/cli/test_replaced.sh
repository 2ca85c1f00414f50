#!/bin/sh
# A program whose file is replaced while it runs, as an upgrade does under an editor's server, still starts its parser:
# the program that runs, and not what stands at its place.
set -eu
bin=$(readlink -f "${MYTHOS_BIN:-./build/mythos}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1: $(cat "$dir/out" "$dir/err")" >&2; exit 1; }
XDG_CACHE_HOME=$dir/cache
export XDG_CACHE_HOME
cp "$bin" "$dir/mythos"
mkfifo "$dir/in"
"$dir/mythos" candidates - --stdin-filename a.c --no-cache <"$dir/in" >"$dir/out" 2>"$dir/err" &
pid=$!
exec 3>"$dir/in"
while [ "$(readlink "/proc/$pid/exe")" != "$dir/mythos" ]; do
    kill -0 "$pid" 2>/dev/null || fail "it did not start"
    sleep 0.01
done
rm "$dir/mythos"
ln -s /bin/false "$dir/mythos (deleted)"
cat >&3 <<'END'
#include <stdlib.h>
#include <string.h>
void f(const char *s)
{
    char *p = malloc(9);
    strcpy(p, s);
}
END
exec 3>&-
code=0
wait "$pid" || code=$?
[ "$code" -eq 0 ] || fail "exit $code"
grep -q '^a.c:6: missing-null-check' "$dir/out" || fail "nothing was parsed"
