#!/bin/sh
# How files look, held for the whole tree: clang-format changes nothing, no line is past 120 columns, no file past 800
# lines, no folder past 40 files of sources (64 where each op has its file).
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
columns=120 lines=800 files=40 op_files=64
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

find CMakeLists.txt Makefile setup.sh bench cmake engine frontend kernels models retrieval shaders tests \
    \( -path tests/corpus -o -path tests/golden -o -path tests/fuzz/corpus -o -path bench/out -o -name __pycache__ \) \
        -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.comp' -o -name '*.glsl' -o \
    -name '*.def' -o -name '*.cmake' -o -name CMakeLists.txt -o -name Makefile -o -name '*.sh' -o -name '*.py' \) \
    -print | sort >"$dir/sources"
grep -E '\.(c|h|cc|cu|cuh)$' "$dir/sources" >"$dir/code"

if clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
    xargs -n 60 -P 2 clang-format --dry-run <"$dir/code" >"$dir/format" 2>&1 || :
    if [ -s "$dir/format" ]; then
        sed -n 's/:[0-9]*:[0-9]*: warning.*//p' "$dir/format" | sort -u | sed 's/^/not formatted, run make format: /'
        bad=1
    fi
else
    echo "no clang-format 14 here: ./setup.sh test installs it"
fi

# Says what is in a list of "COUNT PATH".
hold() # list, what is wrong
{
    [ ! -s "$1" ] || bad=1
    while read -r count path; do
        echo "$path: $count $2"
    done <"$1"
}
{ LC_ALL=C.UTF-8 xargs grep -cE "^.{$((columns + 1))}" /dev/null <"$dir/sources" || :; } |
    awk -F: '$2 > 0 { print $2, $1 }' >"$dir/wide"
hold "$dir/wide" "lines past $columns columns"
xargs awk 'END { } { n[FILENAME]++ } END { for (f in n) print n[f], f }' <"$dir/code" |
    awk -v most=$lines '$1 > most' >"$dir/long"
hold "$dir/long" "lines, at most $lines"
sed 's|/[^/]*$||' "$dir/sources" | sort | uniq -c |
    awk -v most=$files -v op=$op_files \
        '$1 > ($2 ~ /^(kernels\/(cpu\/ref|cuda)|shaders)$/ ? op : most) { print $1, $2 }' \
    >"$dir/full"
hold "$dir/full" "files in one folder"
[ $bad -eq 0 ] || exit 1
echo "$(wc -l <"$dir/sources") files hold the format"
