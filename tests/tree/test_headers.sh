#!/bin/sh
# Every header compiles alone, as C11 and as C++. Left out: the templates that only the files of one CPU level include.
# In one language only: what .cu files share is C++, on the emulated language; what reads volk is C, where this build
# has volk; what reads tree-sitter, where it has that. As C++ those of a folder are read together, and alone where that
# fails or in full runs: what a header needs is the same in both languages.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
volk=$(sed -n 's/^VOLK_DIR:PATH=\(.*\)$/\1/p' "${MYTHOS_BUILD_DIR:-build}/CMakeCache.txt" 2>/dev/null || :)
[ -f "$volk/volk.h" ] || volk=
parser=$(find "${MYTHOS_BUILD_DIR:-build}/grammars" -path '*/lib/include/tree_sitter/api.h' 2>/dev/null | head -n 1)

# one declaration more: a header of macros alone would leave nothing to compile
echo "extern int something;" >"$dir/more.h"
alone() # language, header, compiler and flags
{
    language=$1 header=$2
    shift 2
    "$@" -I. -fsyntax-only -x "$language" -include "$header" "$dir/more.h" 2>"$dir/errors" && return
    echo "not alone as $language: $header"
    head -5 "$dir/errors"
    bad=1
}
c_flags="-std=gnu11 -Wall -Wextra -Wpedantic -Werror"
cxx_flags="-std=gnu++17 -Wall -Wextra -Wno-missing-field-initializers -Werror"
# shellcheck disable=SC2086
as_c() { alone c "$@" $c_flags; }
# shellcheck disable=SC2086
as_cxx() { alone c++ "$@" $cxx_flags; }

rooms="engine kernels shaders frontend"
[ ! -d retrieval ] || rooms="$rooms retrieval"
# shellcheck disable=SC2086
headers=$(find $rooms -name '*.h' | grep -v -E '^kernels/cpu/(avx|fast|neon|amx)' | sort)

# The headers that include one, or a header of the same room that does.
# shellcheck disable=SC2086
needing() # header
{
    found=
    more=$(grep -l "^#include [<\"]$1[>\"]" $headers || :)
    while [ -n "$more" ]; do
        found="$found $more"
        before=
        for header in $more; do
            before="$before $(grep -l "^#include \"${header##*/}\"\$" "${header%/*}"/*.h || :)"
            case $header in
            retrieval/candidates/*) before="$before $(grep -l "^#include \"$header\"\$" $headers || :)" ;; # many rooms
            esac
        done
        more=
        for header in $before; do
            case " $(echo $found) " in *" $header "*) ;; *) more="$more $header" ;; esac
        done
    done
    echo $found | tr ' ' '\n' | sort -u
}
needing cuda_emu.h >"$dir/emulated"
needing volk.h >"$dir/volk"
needing tree_sitter/api.h >"$dir/parser"
echo "$headers" | grep -vxF -f "$dir/emulated" -f "$dir/volk" -f "$dir/parser" >"$dir/plain"
n=$(wc -l <"$dir/plain")
for header in $(cat "$dir/emulated"); do
    as_cxx "$header" c++ -Itests/cuda_emu
    n=$((n + 1))
done
for header in $([ -z "$volk" ] || cat "$dir/volk"); do
    as_c "$header" cc -isystem "$volk"
    n=$((n + 1))
done
for header in $([ -z "$parser" ] || cat "$dir/parser"); do
    as_c "$header" cc -isystem "${parser%/tree_sitter/api.h}"
    n=$((n + 1))
done

# A header that is compiled itself is a source to the compiler, whose constants are to be used.
# shellcheck disable=SC2086
if ! xargs cc -I. -fsyntax-only $c_flags -Wno-unused-const-variable -include "$dir/more.h" -x c <"$dir/plain" \
    2>/dev/null; then
    for header in $(cat "$dir/plain"); do
        as_c "$header" cc
    done
fi
for folder in $(sed 's|/[^/]*$||' "$dir/plain" | sort -u); do
    grep "^$folder/[^/]*\$" "$dir/plain" >"$dir/folder"
    sed 's/.*/#include "&"/' "$dir/folder" >"$dir/folder.cc"
    # shellcheck disable=SC2086
    if [ "${MYTHOS_TEST_FULL:-}" = 1 ] || ! c++ -I. -fsyntax-only $cxx_flags "$dir/folder.cc" 2>/dev/null; then
        for header in $(cat "$dir/folder"); do
            as_cxx "$header" c++
        done
    fi
done
[ "$n" -gt 100 ] || [ ! -d retrieval ] || { echo "only $n headers were found"; bad=1; }
echo "$n headers"
exit $bad
