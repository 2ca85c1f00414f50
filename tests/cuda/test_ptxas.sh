#!/bin/sh
# test_ptxas.sh - what ptxas reports of every kernel, in one table: no spills on any architecture, and registers and
# shared bytes as in tests/cuda/ptxas.csv, which MYTHOS_PTXAS_WRITE=1 writes anew. Under another nvcc than the table's
# only spills are compared. Needs a build with MYTH_CUDA; without, skipped.
set -eu

build=${MYTHOS_BUILD_DIR:?}
table=${MYTHOS_SOURCE_DIR:?}/tests/cuda/ptxas.csv

set -- "$build"/cuda/*.ptxas
if [ ! -e "$1" ]; then
    echo "no kernels compiled by nvcc in $build"
    exit 77
fi

# One line per kernel and architecture: file, kernel, architecture, registers, static shared bytes, stack bytes, spilled
# bytes.
collect()
{
    cat "$build/cuda/nvcc.version"
    echo "file,kernel,arch,registers,shared,stack,spills"
    for report in "$build"/cuda/*.ptxas; do
        awk -v file="$(basename "$report" .ptxas)" '
            /Compiling entry function/ {
                split($0, q, "\047"); kernel = q[2]; arch = q[4]
                sub(/^sm_/, "", arch)
                stack = spills = 0
                next
            }
            /bytes stack frame/ { stack = $1; spills = $5 + $9; next }
            /Used [0-9]+ registers/ && kernel != "" {
                shared = 0
                for (i = 1; i < NF; i++) {
                    if ($i == "Used") registers = $(i + 1)
                    if ($(i + 1) == "bytes" && $(i + 2) ~ /^smem/) shared = $i
                }
                print file "," kernel "," arch "," registers "," shared "," stack "," spills
                kernel = ""
            }' "$report"
    done | LC_ALL=C sort
}

collect >"$build/cuda/ptxas.csv"
n=$(tail -n +3 "$build/cuda/ptxas.csv" | wc -l)
if [ "$n" -eq 0 ]; then
    echo "the reports in $build/cuda name no kernel"
    exit 1
fi
if awk -F, 'NR > 2 && $7 != 0 { print "spills: " $0; bad = 1 } END { exit !bad }' "$build/cuda/ptxas.csv"; then
    exit 1
fi
echo "$n kernels, no spills"
if [ "${MYTHOS_PTXAS_WRITE:-}" = 1 ]; then
    cp "$build/cuda/ptxas.csv" "$table"
fi
if [ "$(head -n 1 "$table")" != "$(head -n 1 "$build/cuda/ptxas.csv")" ]; then
    echo "the table is of another nvcc: $(head -n 1 "$table")"
    exit 0
fi
archs=$(tail -n +3 "$build/cuda/ptxas.csv" | cut -d, -f3 | sort -u | tr '\n' ' ')
if [ "$archs" != "$(tail -n +3 "$table" | cut -d, -f3 | sort -u | tr '\n' ' ')" ]; then
    echo "the build is for $archs only: not compared"
    exit 0
fi
diff -u "$table" "$build/cuda/ptxas.csv"
