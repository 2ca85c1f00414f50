#!/bin/sh
# setup.sh does nothing when the packages are there, updates the lists only when one is missing, and without root prints
# the line to run.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

stub() # name, body
{
    printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1"
    chmod +x "$dir/$1"
}
stub apt-get "echo apt-get \"\$@\" >>'$dir/calls'"
fail() { echo "$1" >&2; exit 1; }

stub dpkg-query 'printf "install ok installed"'
stub id 'echo 0'
PATH="$dir:$PATH" ./setup.sh test
[ ! -e "$dir/calls" ] || fail "apt-get was called with nothing missing"

stub dpkg-query 'for last; do :; done; [ "$last" != ninja-build ] || exit 1; printf "install ok installed"'
PATH="$dir:$PATH" ./setup.sh build
[ "$(cat "$dir/calls")" = "apt-get update -q
apt-get install -y --no-install-recommends ninja-build" ] || fail "one package was missing: $(cat "$dir/calls")"

rm "$dir/calls"
stub id 'echo 1000'
if PATH="$dir:$PATH" ./setup.sh build 2>"$dir/err"; then
    fail "without root and with a package missing it did not fail"
fi
grep -q '^apt-get update && apt-get install -y --no-install-recommends ninja-build$' "$dir/err" ||
    fail "no line to run: $(cat "$dir/err")"
[ ! -e "$dir/calls" ] || fail "apt-get was called without root"
if ./setup.sh nothing 2>/dev/null; then
    fail "an unknown set was accepted"
fi
echo "idempotent, quiet, and says what to run"
