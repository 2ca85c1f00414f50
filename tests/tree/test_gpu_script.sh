#!/bin/sh
# bench/gpu.sh without a GPU: every call on the emulated cuda:0 and the software driver's vulkan:0 with
# MYTHOS_TEST_FULL=1, else E on vulkan:0 alone. Then what it made of it: rows of every kind, none of them a failure; the
# first line and the table at the end; and llama-bench's lines, from a stand-in, as ratios.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if [ ! -x "$MYTHOS_BUILD_DIR/bench_engine" ]; then
    echo "skipped: a build without the bench programs"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
BUILD=$MYTHOS_BUILD_DIR OUT=$dir/out FILES=$dir/file BUDGET=3600
export BUILD OUT FILES BUDGET
unset MYTHOS_TEST_DEVICES DEVICES MODELS LLAMA || true

rows() # file, device, test: that many rows with a figure
{
    awk -F, -v device="$2" -v test="$3" '
        { sub(/"[^"]*"/, "") }
        $1 == device && $5 == test && ($8 > 0 || $9 > 0) { n++ }
        END { print n + 0 }' "$1"
}

expect() # file, device, test, number
{
    n=$(rows "$1" "$2" "$3")
    if [ "$n" -lt "$4" ]; then
        echo "$2: $n rows of $3, expected $4" >&2
        cat "$1" >&2
        exit 1
    fi
}

check_engine() # device
{
    for want in decode:8 decode_peer:4 prefill:4 topk:4 cold_start:2 mem_plan:2 mem_ledger:2; do
        expect "$OUT/engine.csv" "$1" "${want%:*}" "${want#*:}"
    done
}

# The first line names what the figures depend on; the last is of the table, after the summary.
check_said() # call
{
    head -1 "$dir/said" | grep -q "^call $1: commit ." && [ "$(grep -c "^call $1: 0 failed" "$dir/said")" = 1 ] &&
        tail -1 "$dir/said" | grep -qv "^call" && return
    echo "what call $1 said:" >&2
    cat "$dir/said" >&2
    exit 1
}

names=$(MODELS="random:gemma4-31b:q4_0 4b:q4_k gemma4-e2b:q4_0 /tmp/a.gguf" bench/gpu.sh models | tr '\n' ' ')
if [ "$names" != "random:gemma4-31b:q4_0 random:gemma3-4b:q4_k random:gemma4-e2b:q4_0 /tmp/a.gguf " ]; then
    echo "models: $names" >&2
    exit 1
fi

# Call C counts a test that fails, by what it says and by its exit code.
mkdir -p "$dir/fake/tests"
printf '#!/bin/sh\nexit 0\n' >"$dir/fake/bench_engine"
printf '#!/bin/sh\necho a wrong sum\nexit 3\n' >"$dir/fake/tests/test_kernels_ops"
chmod +x "$dir/fake/bench_engine" "$dir/fake/tests/test_kernels_ops"
code=0
BUILD=$dir/fake DEVICES=vulkan:0 bench/gpu.sh --dry C >"$dir/said" || code=$?
if [ $code -ne 1 ] || ! grep -q "^FAILED   vulkan:0 kernels_ops: exit 3" "$dir/said" ||
    ! grep -q "^a wrong sum" "$dir/said" || ! grep -q "^call C: 1 failed" "$dir/said"; then
    echo "call C with a test that fails: exit $code" >&2
    cat "$dir/said" >&2
    exit 1
fi

full=${MYTHOS_TEST_FULL:-0}
if [ "$full" != 1 ]; then
    if ! "$BUILD/bench_engine" --device vulkan:0 --no-limits >/dev/null 2>&1; then
        echo "skipped: no vulkan:0 here"
        exit 77
    fi
    DEVICES=vulkan:0 bench/gpu.sh --dry E >"$dir/said"
    check_engine vulkan:0
    check_said E
    exit 0
fi

# A stand-in that answers as llama-bench does.
cat >"$dir/llama-bench" <<'BENCH'
#!/bin/sh
row() # n_prompt, n_gen, n_depth, avg_ts
{
    echo "{\"build_commit\": \"x\", \"n_prompt\": $1, \"n_gen\": $2, \"n_depth\": $3," \
        "\"avg_ns\": 1, \"avg_ts\": $4, \"stddev_ts\": 1.0}"
}
case "$*" in
*"-d 8"*) row 0 4 8 50.5 ;;
*)
    row 16 0 0 1000.25
    row 0 4 0 100.5
    ;;
esac
BENCH
chmod +x "$dir/llama-bench"
found=""
for device in cuda:0 vulkan:0; do
    program=$BUILD/bench_engine
    [ $device = cuda:0 ] && program=$BUILD/bench_emu_engine
    if [ -x "$program" ] && "$program" --device $device --no-limits >/dev/null 2>&1; then
        found="$found $device"
    fi
done
if [ -z "$found" ]; then
    echo "skipped: neither the emulated device nor a Vulkan driver here"
    exit 77
fi
bench/gpu.sh --dry A >"$dir/said"
check_said A
for device in $found; do
    expect "$OUT/limits.csv" "$device" limit_copy 1
    expect "$OUT/engine.csv" "$device" decode 2
done
bench/gpu.sh --dry B >"$dir/said"
check_said B
[ "$(grep -c '^MYTH_TUNE_.*,[0-9.]*$' "$OUT/knobs.csv")" -ge 10 ]
bench/gpu.sh --dry C >"$dir/said"
grep -q "^call C: 0 failed" "$dir/said"
for device in $found; do
    grep -q "^ok       $device kernels_ops" "$dir/said"
done
bench/gpu.sh --dry F >"$dir/said"
check_said F
for build in this other; do
    [ "$(grep -c "^$build,gemma3-tiny,q4_0,\(decode\|prefill\),[0-9]*,[0-9.]*$" "$OUT/builds.csv")" -eq 4 ]
done
bench/gpu.sh --dry E >"$dir/said"
check_said E
for device in $found; do
    check_engine "$device"
done
MODELS="random:gemma3-tiny:q4_0" bench/gpu.sh --dry E >"$dir/said"
grep -q "gemma3-tiny,q4_0" "$OUT/engine.csv"
bench/gpu.sh --dry D | tee "$dir/said"
check_said D
grep -q "skipped  llama.cpp" "$dir/said"
LLAMA_BENCH=$dir/llama-bench bench/gpu.sh --dry D | tee "$dir/beside"
expect "$OUT/peer.csv" llama.cpp prefill 2
expect "$OUT/peer.csv" llama.cpp decode_peer 4
grep -q 'prefill 16 .* llama.cpp *1000.25 *ratio [0-9]' "$dir/beside"
grep -q 'decode_peer 0 .* llama.cpp *100.50 *ratio [0-9]' "$dir/beside"
