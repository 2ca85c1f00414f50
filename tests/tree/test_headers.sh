#!/bin/sh
# Every header compiles alone, as C11 and as C++. Left out: the templates that only the files of one CPU level include.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
n=0 bad=0
alone() # language, header, compiler and flags
{
    language=$1 header=$2
    shift 2
    "$@" -I. -fsyntax-only -x "$language" -include "$header" /dev/null 2>"$errors" && return
    echo "not alone as $language: $header"
    head -5 "$errors"
    bad=1
}
for header in $(find engine kernels retrieval frontend -name '*.h' | grep -v -E '^kernels/cpu/(avx|fast|neon|amx)' | sort); do
    alone c "$header" cc -std=gnu11 -Wall -Wextra -Wpedantic -Werror
    alone c++ "$header" c++ -std=gnu++17 -Wall -Wextra -Wno-missing-field-initializers -Werror
    n=$((n + 1))
done
echo "$n headers"
exit $bad
