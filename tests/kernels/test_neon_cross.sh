#!/bin/sh
# test_neon_cross.sh - the NEON level compiles for AArch64 without a warning, and is in the table; in full runs all of
# the engine's base and kernels do. `make aarch64-read` reads what has no code of its own for that processor.
set -eu
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
if ! command -v "$cc" > /dev/null; then
    echo "skipped: no $cc"
    exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
n=0
files=$(ls kernels/cpu/*/*_neon.c)
[ "${MYTHOS_TEST_FULL:-}" != 1 ] || files=$(ls engine/base/*.c kernels/*.c kernels/cpu/*.c kernels/cpu/*/*.c)
for f in $files; do
    case $f in *_avx2.c | *_avx512.c | *_amx.c) continue ;; esac
    "$cc" -std=gnu11 -O1 -ffp-contract=off -fno-strict-aliasing -Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes \
        -Wvla -Werror -I. \
        -c "$f" -o "$out/$(basename "$f" .c).o"
    n=$((n + 1))
done
"${cc%gcc}nm" "$out/kernels_neon.o" | grep -q ' cpu_level_neon$'
"${cc%gcc}objdump" -d "$out/dotprod_neon.o" | grep -q sdot
if "${cc%gcc}objdump" -d "$out/kernels_neon.o" | grep -q sdot; then
    echo "kernels_neon.c uses sdot, which not every processor has"
    exit 1
fi
echo "$n files compiled"
