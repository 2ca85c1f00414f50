#!/bin/sh
# bench/gpu.sh without a GPU: every step on the emulated cuda:0 and the software driver's vulkan:0 with
# MYTHOS_TEST_FULL=1, else the second on vulkan:0 alone. Then what it made of it: rows of every kind, none of them a
# failure; and llama-bench's lines, from a stand-in, as ratios.
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
    awk -F, -v device="$2" -v test="$3" '{ sub(/"[^"]*"/, "") } $1 == device && $5 == test && ($8 > 0 || $9 > 0) { n++ } END { print n + 0 }' "$1"
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

full=${MYTHOS_TEST_FULL:-0}
if [ "$full" != 1 ]; then
    if ! "$BUILD/bench_engine" --device vulkan:0 --no-limits >/dev/null 2>&1; then
        echo "skipped: no vulkan:0 here"
        exit 77
    fi
    DEVICES=vulkan:0 bench/gpu.sh --dry 2
    check_engine vulkan:0
    exit 0
fi

# A stand-in that answers as llama-bench does.
cat >"$dir/llama-bench" <<'BENCH'
#!/bin/sh
case "$*" in
*"-d 8"*) echo '{"build_commit": "x", "n_prompt": 0, "n_gen": 4, "n_depth": 8, "avg_ns": 1, "avg_ts": 50.5, "stddev_ts": 1.0}' ;;
*)
    echo '{"build_commit": "x", "n_prompt": 16, "n_gen": 0, "n_depth": 0, "avg_ns": 1, "avg_ts": 1000.25, "stddev_ts": 1.0}'
    echo '{"build_commit": "x", "n_prompt": 0, "n_gen": 4, "n_depth": 0, "avg_ns": 1, "avg_ts": 100.5, "stddev_ts": 1.0}'
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
bench/gpu.sh --dry 1
for device in $found; do
    expect "$OUT/limits.csv" "$device" limit_copy 1
done
bench/gpu.sh --dry 2
for device in $found; do
    check_engine "$device"
done
bench/gpu.sh --dry 3 | tee "$dir/alone"
grep -q "skipped  llama.cpp" "$dir/alone"
LLAMA_BENCH=$dir/llama-bench bench/gpu.sh --dry 3 | tee "$dir/beside"
expect "$OUT/peer.csv" llama.cpp prefill 2
expect "$OUT/peer.csv" llama.cpp decode_peer 4
grep -q 'prefill 16 .* llama.cpp *1000.25 *ratio [0-9]' "$dir/beside"
grep -q 'decode_peer 0 .* llama.cpp *100.50 *ratio [0-9]' "$dir/beside"
