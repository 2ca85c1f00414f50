#!/bin/sh
# gpu.sh - everything that only a machine with a GPU can say, in three calls of under eight minutes each. Such a machine
# needs a compiler, nvcc and cmake, nothing else of ours; each call builds what it misses, so each may meet a machine
# that the one before never saw.
#
#   bench/gpu.sh 1             build; limits of the device; every device test on cuda:0, and on vulkan:0 when there is
#   one; compute-sanitizer
#                              on the quick set, where the tool exists and accepts the device
#   bench/gpu.sh 2             bench_engine over random: models in the order of MODELS until BUDGET is spent, then
#   vulkan:0 if time is left
#   bench/gpu.sh 3             llama.cpp beside us on one file at a time, written by us: A B B A, fresh processes
#   bench/gpu.sh kit DIR       what a machine without shader compiler and Vulkan headers needs for vulkan:0, from this
#   machine
#   bench/gpu.sh --dry 1|2|3   the same steps on the emulated cuda:0 and the software driver's vulkan:0, tiny shapes,
#   from a build that is there
#
# OUT      folder for what is found (bench/out): stepN.log, limits.csv, engine.csv, peer.csv; at most eight files
# BUILD    the build folder (build-gpu); with --dry one that holds bench_engine and bench_emu_engine
# BUDGET   seconds that a call may take (450); what does not fit any more is named, in the log or as a row
# MODELS   of step 2 and 3, in order of value; the rest of a list can be given to another call
# KIT      folder made by "kit": builds vulkan:0 too
# LLAMA    source folder of llama.cpp; only llama-bench is built, for this GPU alone. LLAMA_BENCH: one that is built
# already
# FILES    folder for step 3's one file (BUILD/file), which is removed again
#
# Exit     0 when nothing failed; a step that had to leave something out says so and exits 0
set -u
cd "$(dirname "$0")/.." || exit 1

is_dry=0
[ "${1:-}" = --dry ] && is_dry=1 && shift
step=${1:-}
OUT=${OUT:-bench/out}
BUILD=${BUILD:-build-gpu}
BUDGET=${BUDGET:-450}
begin=$(date +%s)
n_failed=0
mkdir -p "$OUT" || exit 1
log=$OUT/step$step.log
case $step in 1 | 2 | 3) : >"$log" ;; esac

say() { echo "$*" | tee -a "$log"; }
left() { echo $((BUDGET - ($(date +%s) - begin))); }

# title, most seconds, command ...: output to the log, one line here
try()
{
    title=$1 most=$2
    shift 2
    [ "$most" -gt "$(left)" ] && most=$(left)
    if [ "$most" -le 5 ]; then
        say "left out: $title: no time left"
        return 0
    fi
    start=$(date +%s)
    echo "== $title: $*" >>"$log"
    timeout "$most" "$@" >>"$log" 2>&1
    code=$?
    took="$(($(date +%s) - start)) s"
    if [ $code -eq 0 ]; then
        say "ok       $title ($took)"
    elif [ $code -eq 77 ]; then
        say "skipped  $title ($took)"
    else
        say "FAILED   $title: exit $code ($took)"
        tail -5 "$log"
        n_failed=$((n_failed + 1))
    fi
    return $code
}

has() { command -v "$1" >/dev/null 2>&1; }

# Compute capability of the first GPU as nvcc's name of its architecture: 90a, 89, 80.
architecture()
{
    cc=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '. ')
    case $cc in
    90) echo 90a ;;
    '') echo 90a ;;
    *) echo "$cc" ;;
    esac
}

build()
{
    if [ $is_dry = 1 ]; then
        [ -x "$BUILD/bench_engine" ] && return 0
        say "FAILED   $BUILD holds no bench_engine"
        return 1
    fi
    # Another compiler's warnings are no reason to measure nothing.
    set -- -DMYTH_ENGINE_ONLY=ON -DMYTH_WERROR=OFF -DMYTH_CUDA=ON -DMYTH_CUDA_EMU=OFF \
        -DMYTH_CUDA_ARCHS="$(architecture)" -DMYTH_TESTS="$1"
    if [ -n "${KIT:-}" ]; then
        KIT=$(cd "$KIT" && pwd) || return 1
        set -- "$@" -DMYTH_VULKAN=ON -DMYTH_SPIRV_DIR="$KIT/spirv" -DVOLK_DIR="$KIT" -DVULKAN_HEADERS="$KIT"
    else
        set -- "$@" -DMYTH_VULKAN=OFF
    fi
    has ninja && set -- "$@" -G Ninja
    try configure 60 cmake -S . -B "$BUILD" "$@" || return 1
    try build 400 cmake --build "$BUILD" --parallel "$(nproc)"
}

# bench_engine for a device: the emulated one is a program of its own.
bench_of()
{
    if [ $is_dry = 1 ] && [ "$1" = cuda:0 ]; then
        echo "$BUILD/bench_emu_engine"
    else
        echo "$BUILD/bench_engine"
    fi
}

# Devices of this machine: those that are wanted and answer.
devices()
{
    for device in ${DEVICES:-cuda:0 vulkan:0}; do
        program=$(bench_of $device)
        if [ -x "$program" ] && "$program" --device $device --no-limits --no-header >>"$log" 2>&1; then
            echo $device
        else
            echo "$device is not there" >>"$log"
        fi
    done
}

# ---- step 1 ----

# test of the list device_tests (room_name), device: its program
test_of()
{
    if [ $is_dry = 1 ] && [ "$2" = cuda:0 ]; then
        echo "$BUILD/tests/test_emu_${1#*_}"
    else
        echo "$BUILD/tests/test_$1"
    fi
}

quick_ops="rms_norm proj norm_ffn_geglu attn_decode attn_prefill head_topk"
[ $is_dry = 1 ] && quick_ops="rms_norm geglu"

test_device()
{
    MYTHOS_TEST_DEVICES=$1
    export MYTHOS_TEST_DEVICES
    for test in $(cat "$BUILD/device_tests"); do
        program=$(test_of "$test" "$1")
        if [ $is_dry = 0 ]; then
            try "$1 $test" 200 "$program"
        # of the emulated device and the software driver the rest is in the suite
        elif [ "$test" = kernels_ops ]; then
            for op in $quick_ops; do
                try "$1 $test $op" 200 env MYTHOS_TEST_OP="$op" "$program"
            done
        fi
    done
    unset MYTHOS_TEST_DEVICES
}

sanitize()
{
    if ! has compute-sanitizer; then
        say "skipped  compute-sanitizer: not on this machine"
        return
    fi
    for tool in memcheck racecheck synccheck; do
        for op in $quick_ops; do
            title="compute-sanitizer $tool $op"
            [ "$(left)" -le 20 ] && say "left out: $title: no time left" && continue
            echo "== $title" >>"$log"
            MYTHOS_TEST_DEVICES=cuda:0 MYTHOS_TEST_OP=$op timeout 60 compute-sanitizer --tool $tool --error-exitcode 9 \
                "$BUILD/tests/test_kernels_ops" >"$OUT/sanitizer.tmp" 2>&1
            code=$?
            tail -40 "$OUT/sanitizer.tmp" >>"$log"
            if grep -q "Device not supported" "$OUT/sanitizer.tmp"; then
                say "skipped  compute-sanitizer: it does not accept this device"
                rm -f "$OUT/sanitizer.tmp"
                return
            fi
            case $code in
            0) say "ok       $title" ;;
            124) say "left out: $title: it took more than 60 s" ;;
            *)
                say "FAILED   $title: exit $code"
                n_failed=$((n_failed + 1))
                ;;
            esac
        done
    done
    rm -f "$OUT/sanitizer.tmp"
}

step1()
{
    build ON || return
    quick=""
    [ $is_dry = 1 ] && quick=--quick
    found=$(devices)
    say "devices  $(echo $found)"
    [ -n "$found" ] || { say "FAILED   no device answers"; n_failed=$((n_failed + 1)); }
    : >"$OUT/limits.csv"
    header=""
    for device in $found; do
        # shellcheck disable=SC2086
        try "limits of $device" 120 sh -c '"$0" "$@" >>'"'$OUT/limits.csv'" "$(bench_of $device)" --device $device \
            $quick $header
        header=--no-header
    done
    for device in $found; do
        test_device $device
    done
    [ $is_dry = 1 ] || sanitize
    awk '{ sub(/,"[^"]*"/, "") } /limit_/' "$OUT/limits.csv"
}

# ---- step 2 ----

default_models="27b:q4_0 4b:q4_0 1b:q4_0 27b:q8_0 27b:bf16 12b:q4_0 270m:q4_0 4b:q8_0 1b:q8_0 1b:bf16 4b:bf16 12b:q8_0 12b:bf16 270m:q8_0 270m:bf16"

models()
{
    if [ $is_dry = 1 ]; then
        echo random:gemma3-tiny:q4_0 random:gemma3-tiny:bf16
        return
    fi
    for model in ${MODELS:-$default_models}; do
        case $model in
        *[0-9]b:* | *m:*) echo "random:gemma3-$model" ;;
        *) echo "$model" ;;
        esac
    done
}

step2()
{
    build OFF || return
    : >"$OUT/engine.csv"
    header=""
    shape=""
    [ $is_dry = 1 ] && shape="--quick --depth 0,40 --batch 1,3 --prompt 8,40 --topk 1,40 --gen 4 --repeat 1"
    found=$(devices)
    say "devices  $(echo $found)"
    [ -n "$found" ] || { say "FAILED   no device answers"; n_failed=$((n_failed + 1)); }
    for device in $found; do
        if [ "$(left)" -lt 45 ]; then
            say "left out: $device: no time left"
            continue
        fi
        # shellcheck disable=SC2046,SC2086
        try "bench_engine on $device" "$BUDGET" sh -c '"$0" "$@" >>'"'$OUT/engine.csv'" "$(bench_of $device)" --device $device $header $shape \
            --budget $(($(left) - 40)) $(models)
        header=--no-header
    done
    awk '{ sub(/,"[^"]*"/, "") } !/limit_/ && !/^device/' "$OUT/engine.csv"
    grep -q '"not a number\|,nan\|,inf' "$OUT/engine.csv" && { say "FAILED   a figure is no number"; n_failed=$((n_failed + 1)); }
}

# ---- step 3 ----

build_peer()
{
    peer=${LLAMA_BENCH:-}
    [ -n "$peer" ] && return 0
    if [ -z "${LLAMA:-}" ]; then
        say "skipped  llama.cpp: LLAMA names no source folder; our side runs alone"
        return 0
    fi
    dir=$BUILD/peer
    try "configure llama.cpp" 60 cmake -S "$LLAMA" -B "$dir" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DGGML_NATIVE=ON \
        -DCMAKE_CUDA_ARCHITECTURES="$(architecture)-real" -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF \
        -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_EXAMPLES=OFF || return 1
    try "build llama-bench" "$BUDGET" cmake --build "$dir" --parallel "$(nproc)" --target llama-bench || return 1
    peer=$(find "$dir" -name llama-bench -type f | head -1)
    [ -n "$peer" ]
}

# Lines of llama-bench's jsonl on standard input as rows of ours: model, type
peer_rows()
{
    awk -v model="$1" -v type="$2" '
        function number(key,   at, text) {
            at = match($0, "\"" key "\": *[0-9.e+-]+")
            if (!at) return ""
            text = substr($0, RSTART, RLENGTH)
            sub(/^[^:]*: */, "", text)
            return text
        }
        /"avg_ts"/ {
            p = number("n_prompt"); depth = number("n_depth") + 0
            printf("llama.cpp,,%s,%s,%s,1,%d,%.2f,,,,,\n", model, type, p + 0 ? "prefill" : "decode_peer", p + 0 ? p : \
                depth, number("avg_ts"))
        }'
}

# Medians of both sides and their ratio, per test.
ratios()
{
    sort -t, -k1,1 "$OUT/peer.csv" | awk -F, '
        { sub(/"[^"]*"/, "") }
        $5 == "prefill" || $5 == "decode_peer" {
            key = $3 " " $4 " " $5 " " $7; side = $1 == "llama.cpp" ? "theirs" : "ours"
            i = ++n[key, side]; v[key, side, i] = $8; keys[key] = 1
        }
        function middle(key, side,   i, j, m, t, a) {
            m = n[key, side]
            for (i = 1; i <= m; i++) a[i] = v[key, side, i] + 0
            for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
            return m ? (a[int((m + 1) / 2)] + a[int(m / 2) + 1]) / 2 : 0
        }
        END {
            for (key in keys) {
                o = middle(key, "ours"); t = middle(key, "theirs")
                printf("%-40s ours %10.2f  llama.cpp %10.2f  ratio %s\n", key, o, t, o * t ? sprintf("%.2f", o / t) : \
                    "-")
            }
        }' | sort
}

ours() # file, model, type
{
    # A file's rows carry its model's name instead of its own.
    timeout "$(left)" "$(bench_of "$device")" --device "$device" --no-header --no-limits $shape "$1" 2>>"$log" |
        awk -F, -v OFS=, -v file="$(basename "$1")" -v model="$2" '{ sub("," file ",", "," model ","); print }' >>"$OUT/peer.csv"
}

theirs() # file, model, type
{
    [ -n "$peer" ] || return 0
    for tests in "$peer_prompts" "$peer_depth"; do
        # shellcheck disable=SC2086
        timeout "$(left)" "$peer" -m "$1" -ngl 99 -fa 1 $tests -o jsonl 2>>"$log" | tee -a "$log" | peer_rows "$2" "$3" >>"$OUT/peer.csv"
    done
}

step3()
{
    build OFF || return
    build_peer || return
    device=cuda:0
    [ $is_dry = 1 ] && [ ! -x "$BUILD/bench_emu_engine" ] && device=vulkan:0
    shape="--depth 0,8192 --batch 1 --prompt 512,8192 --topk none --repeat 3"
    peer_prompts="-p 512,8192 -n 64 -r 3 -ub 512" peer_depth="-p 0 -n 64 -d 8192 -r 3 -ub 512"
    if [ $is_dry = 1 ]; then
        shape="--quick --depth 0 --batch 1 --prompt 16 --topk none --gen 4 --repeat 1"
        peer_prompts="-p 16 -n 4 -r 1" peer_depth="-p 0 -n 4 -d 8 -r 1"
    fi
    FILES=${FILES:-$BUILD/file}
    mkdir -p "$FILES" || return
    : >"$OUT/peer.csv"
    "$(bench_of $device)" --device $device --no-limits >>"$OUT/peer.csv" 2>>"$log"      # the header
    for spec in $(models); do
        model=$(echo "$spec" | cut -d: -f2) type=$(echo "$spec" | cut -d: -f3) file=$FILES/$model-$type.gguf
        if [ "$(left)" -lt 60 ]; then
            say "left out: $model $type: no time left"
            continue
        fi
        if try "write $model $type" 240 "$BUILD/bench_engine" --write "$file" "$spec"; then
            cat "$file" >/dev/null
            try "first token of $model $type" 120 sh -c '"$0" "$@" >>'"'$OUT/peer.csv'" "$(bench_of $device)" --device $device --no-header \
                --no-limits --cold "$file"
            n_before=$(wc -l <"$OUT/peer.csv")
            ours "$file" "$model"
            theirs "$file" "$model" "$type"
            theirs "$file" "$model" "$type"
            ours "$file" "$model"
            for side in "$device" llama.cpp; do
                n=$(tail -n +$((n_before + 1)) "$OUT/peer.csv" | grep -c "^$side,.*,\(prefill\|decode_peer\),1,[0-9]*,[0-9.]")
                if [ "$n" -gt 0 ]; then
                    say "ok       $model $type: $n figures of $side"
                elif [ $side != llama.cpp ] || [ -n "$peer" ]; then
                    say "FAILED   $model $type: no figure of $side"
                    n_failed=$((n_failed + 1))
                fi
            done
        fi
        rm -f "$file"
        [ $is_dry = 1 ] && break
    done
    rmdir "$FILES" 2>/dev/null
    ratios | tee -a "$log"
}

# ---- kit ----

kit()
{
    dir=$1
    spirv=${SPIRV:-$BUILD/spirv}
    volk=$(find /usr/include /usr/share /usr/local/include -name volk.c 2>/dev/null | head -1)
    if [ -z "$volk" ] || [ ! -d "$spirv" ] || [ ! -d /usr/include/vulkan ]; then
        echo "gpu.sh: needs volk.c, the Vulkan headers and a build with shaders (BUILD=$BUILD)" >&2
        exit 1
    fi
    mkdir -p "$dir/spirv" && cp "$spirv"/*.inc "$dir/spirv/" && cp "$volk" "$(dirname "$volk")/volk.h" "$dir/" || exit 1
    cp -r /usr/include/vulkan "$dir/" && rm -f "$dir"/vulkan/*.hpp "$dir"/vulkan/*.cppm || exit 1
    [ -d /usr/include/vk_video ] && cp -r /usr/include/vk_video "$dir/"
    echo "$dir: $(du -sk "$dir" | cut -f1) KiB"
}

case $step in
1) step1 ;;
2) step2 ;;
3) step3 ;;
kit) kit "${2:?a folder}" ;;
*)
    sed -n '2,/^# Exit/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
[ "$step" = kit ] || say "step $step: $n_failed failed, $(($(date +%s) - begin)) s"
[ $n_failed -eq 0 ]
