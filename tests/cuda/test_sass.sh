#!/bin/sh
# test_sass.sh - the machine code of the kernels against tests/cuda/sass.csv: widths of loads, no local memory, products
# back to back, nothing but prefetches before the wait of a dependent launch, instructions per weight. Needs a build
# with MYTH_CUDA, and cuobjdump with nvdisasm: of the toolkit, or of the wheels nvidia-cuda-cuobjdump and
# nvidia-cuda-nvdisasm. Without either, skipped; under another nvcc than the table's, whose loops differ, too.
set -eu

build=${MYTHOS_BUILD_DIR:?}
here=${MYTHOS_SOURCE_DIR:?}/tests/cuda

set -- "$build"/cuda/*.o
if [ ! -e "$1" ]; then
    echo "skipped: no kernels compiled by nvcc in $build"
    exit 77
fi
if [ "$(cat "$build/cuda/nvcc.version")" != "$(head -n 1 "$here/ptxas.csv")" ]; then
    echo "skipped: the budgets are of another nvcc: $(head -n 1 "$here/ptxas.csv")"
    exit 77
fi

# A folder that has both programs, which find each other by PATH.
find_tools()
{
    sites=$(python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages())' 2>/dev/null || true)
    for dir in "$(dirname "$(command -v cuobjdump || echo /nowhere/x)")" "${CUDA_HOME:-/usr/local/cuda}/bin" \
        $(for site in $sites; do echo "$site/nvidia/cu13/bin"; done); do
        [ -x "$dir/cuobjdump" ] && [ -x "$dir/nvdisasm" ] && echo "$dir" && return
    done
    return 0 # none: the caller says so
}
tools=${MYTHOS_CUDA_TOOLS:-$(find_tools)}
if [ -z "$tools" ]; then
    echo "skipped: no cuobjdump and nvdisasm here; pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm, or set" \
        "MYTHOS_CUDA_TOOLS to their folder"
    exit 77
fi
PATH=$tools:$PATH
export PATH

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: >"$dir/found"
for object in "$@"; do
    for arch in 90a; do
        cuobjdump -sass -arch "sm_$arch" "$object" >"$dir/sass" 2>/dev/null || continue
        awk -v arch=$arch -v file="$(basename "$object" .o)" -f "$here/sass.awk" "$here/sass.csv" "$dir/sass" \
            >>"$dir/found"
    done
done
if [ ! -s "$dir/found" ]; then
    echo "skipped: the build has no code for sm_90a"
    exit 77
fi

# A line per rule: kernels it speaks of, the range of what was found.
code=0
grep -v '^#\|^name,' "$here/sass.csv" | cut -d, -f1 >"$dir/names"
while read -r name; do
    awk -F, -v name="$name" '
        $1 == name {
            n++
            if (n == 1 || $5 < least) least = $5
            if (n == 1 || $5 > most) most = $5
            bad += $8 != "ok"
        }
        END {
            verdict = bad ? ", BROKEN" : n ? "" : ", of no kernel"
            printf("%-45s %4d kernels, %g to %g%s\n", name, n, least, most, verdict)
            exit !n || bad > 0
        }' "$dir/found" || code=1
done <"$dir/names"
grep ',BROKEN$' "$dir/found" | head -20 || true
exit $code
