#!/bin/sh
# Every header compiles alone, as C11 and as C++. Left out: the templates that only the files of one CPU level include.
# In one language only: what .cu files share is C++, on the emulated language; what reads volk is C, where this build
# has volk; what reads tree-sitter, where it has that.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
n=0 bad=0
volk=$(sed -n 's/^VOLK_DIR:PATH=\(.*\)$/\1/p' "${MYTHOS_BUILD_DIR:-build}/CMakeCache.txt" 2>/dev/null || :)
[ -f "$volk/volk.h" ] || volk=
parser=$(find "${MYTHOS_BUILD_DIR:-build}/grammars" -path '*/lib/include/tree_sitter/api.h' 2>/dev/null | head -n 1)

alone() # language, header, compiler and flags
{
    language=$1 header=$2
    shift 2
    # one declaration more: a header of macros alone would leave nothing to compile
    echo "extern int something;" | "$@" -I. -fsyntax-only -x "$language" -include "$header" - 2>"$errors" && return
    echo "not alone as $language: $header"
    head -5 "$errors"
    bad=1
}
as_c() { alone c "$@" -std=gnu11 -Wall -Wextra -Wpedantic -Werror; }
as_cxx() { alone c++ "$@" -std=gnu++17 -Wall -Wextra -Wno-missing-field-initializers -Werror; }

# Whether a header, or one of the same room that it includes, needs the other one.
needs() # header, other
{
    grep -q "^#include [<\"]$2[>\"]" "$1" && return 0
    for near in $(sed -n 's/^#include "\([a-z0-9_/]*\.h\)"$/\1/p' "$1"); do
        case $near in
        retrieval/candidates/*) ;; # its rooms include one another
        */*) continue ;;
        *) near=${1%/*}/$near ;;
        esac
        [ ! -f "$near" ] || ! needs "$near" "$2" || return 0
    done
    return 1
}

rooms="engine kernels shaders frontend"
[ ! -d retrieval ] || rooms="$rooms retrieval"
# shellcheck disable=SC2086
for header in $(find $rooms -name '*.h' | grep -v -E '^kernels/cpu/(avx|fast|neon|amx)' | sort); do
    if needs "$header" cuda_emu.h; then
        as_cxx "$header" c++ -Itests/cuda_emu
    elif needs "$header" volk.h; then
        [ -n "$volk" ] || continue
        as_c "$header" cc -isystem "$volk"
    elif needs "$header" tree_sitter/api.h; then
        [ -n "$parser" ] || continue
        as_c "$header" cc -isystem "${parser%/tree_sitter/api.h}"
    else
        as_c "$header" cc
        as_cxx "$header" c++
    fi
    n=$((n + 1))
done
echo "$n headers"
exit $bad
