#!/bin/sh
# gpu.sh - tests and measurements that need a GPU, in calls of a few minutes each, for a machine that is lent by the
# minute. The programs are built beforehand, on a machine without a GPU, into a folder that git ignores and that is
# copied to the machine with the checkout. Without that folder the machine builds them itself, for which it needs a
# compiler, nvcc and cmake.
#
#   bench/gpu.sh prebuild      builds bench_engine and the device tests for ARCH, and llama-bench when LLAMA names its
#                              source, into PREBUILT
#   bench/gpu.sh A             150 s: does it work? limits of the device; ops, bits, dequant, replay, goldens, runs; 1B
#                              decode; memcheck on three ops; ncu on one launch of each kernel that takes much time
#   bench/gpu.sh B             8 min: which settings are fastest? values of MYTH_TUNE_* (kernels/cuda/tune.h) on decode
#                              of 1B, 4B and 27B; torch's matrix products and attention at the same shapes, to show
#                              what is possible; racecheck and synccheck
#   bench/gpu.sh C             9 min: is it right? every device test, one a processor at a time
#   bench/gpu.sh D             9 min: how fast beside llama.cpp? both on the same file, one model after the other, in
#                              new processes and in the order ours, theirs, theirs, ours; prompts of 512 and 2,048,
#                              depths 0, 8,192 and 32,768, one and 32 sequences
#   bench/gpu.sh E             bench_engine over random: models in the order of MODELS until BUDGET is spent
#   bench/gpu.sh F             4 min: which of two builds is faster? PREBUILT and OTHER in turn on 1B and 4B; then the
#                              launches of one layer, one by one with their microseconds, in a decode step and a prompt
#   bench/gpu.sh kit DIR       copies into DIR what a machine without shader compiler and Vulkan headers needs to build
#                              vulkan:0
#   bench/gpu.sh models        the models of E by their full names
#   bench/gpu.sh --dry A..F    the same calls without a GPU, to test this script: emulated cuda:0, vulkan:0 of a
#                              software driver, tiny shapes, programs from the build that BUILD names
#
# The first line of a call names commit, driver and clocks; its last 40 lines at most are its table.
#
# OUT       folder for the results (bench/out): callX.log, limits.csv, knobs.csv, engine.csv, peer.csv, ncu.csv,
#           builds.csv, launches.csv
# PREBUILT  the folder with the programs built beforehand (build-gpu-prebuilt)
# OTHER     such a folder of another commit, which F compares with PREBUILT; without it F measures PREBUILT alone
# BUILD     folder to build in (build-gpu); with --dry a build that holds bench_engine and bench_emu_engine
# ARCH      architecture as nvcc names it, for prebuild (90a)
# BUDGET    seconds that a call may take; what is left out for lack of time is named, in the log or as a row
# MODELS    models of B, D, E and F, most important first; those that did not fit can be given to another call
# KIT       folder made by "kit"; with it vulkan:0 is built too
# LLAMA     source folder of llama.cpp, of which only its benchmarks are built, for one GPU
# LLAMA_BENCH  a llama-bench that is built already
# FILES     folder for the model file that D measures (BUILD/file); the file is removed again
#
# Exit      0 when nothing failed, also when something had to be left out
set -u
cd "$(dirname "$0")/.." || exit 1

is_dry=0
[ "${1:-}" = --dry ] && is_dry=1 && shift
call=${1:-}
OUT=${OUT:-bench/out}
BUILD=${BUILD:-build-gpu}
PREBUILT=${PREBUILT:-build-gpu-prebuilt}
case $call in
A) BUDGET=${BUDGET:-150} ;;
C | D) BUDGET=${BUDGET:-540} ;;
F) BUDGET=${BUDGET:-240} ;;
prebuild) BUDGET=${BUDGET:-7200} ;;
*) BUDGET=${BUDGET:-480} ;;
esac
begin=$(date +%s)
n_failed=0
mkdir -p "$OUT" || exit 1
log=$OUT/call$call.log
case $call in A | B | C | D | E | F | prebuild) : >"$log" ;; esac

say() { echo "$*" | tee -a "$log"; }
left() { echo $((BUDGET - ($(date +%s) - begin))); }
fail()
{
    say "FAILED   $*"
    n_failed=$((n_failed + 1))
}

# Runs a command with its output in the log, and says in one line how it ended and how long it took.
try() # title, most seconds, command ...
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
        fail "$title: exit $code ($took)"
        tail -5 "$log"
    fi
    return $code
}

summed=0
summary()
{
    summed=1
    say "call $call: $n_failed failed, $(($(date +%s) - begin)) s"
}

has() { command -v "$1" >/dev/null 2>&1; }

# Names the commit, the driver and the clocks, without which no figure below means anything.
name_machine()
{
    commit=$(cat "$PREBUILT/commit" 2>/dev/null || git describe --always --dirty 2>/dev/null || echo unknown)
    gpu=$(nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit \
        --format=csv,noheader 2>/dev/null | head -1)
    say "call $call: commit $commit; ${gpu:-no NVIDIA driver}"
}

# ---- building ----

# The first GPU's architecture as nvcc names it: 80, 89. ARCH decides without a GPU, and for 90, which is also 90a.
architecture()
{
    cc=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '. ')
    case $cc in
    90 | '') echo "${ARCH:-90a}" ;;
    *) echo "$cc" ;;
    esac
}

compile() # tests: ON or OFF
{
    # The machine's compiler may warn of other things than ours: that must not stop a measurement (MYTH_WERROR=OFF).
    set -- -DMYTH_ENGINE_ONLY=ON -DMYTH_WERROR=OFF -DMYTH_CUDA=ON -DMYTH_CUDA_EMU=OFF -DMYTH_TESTS="$1" \
        -DMYTH_CUDA_ARCHS="$(architecture)"
    if [ -n "${KIT:-}" ]; then
        KIT=$(cd "$KIT" && pwd) || return 1
        set -- "$@" -DMYTH_VULKAN=ON -DMYTH_SPIRV_DIR="$KIT/spirv" -DVOLK_DIR="$KIT" -DVULKAN_HEADERS="$KIT"
    else
        set -- "$@" -DMYTH_VULKAN=OFF
    fi
    has ninja && set -- "$@" -G Ninja
    try configure 60 cmake -S . -B "$BUILD" "$@" || return 1
    try build "$BUDGET" cmake --build "$BUILD" --parallel "$(nproc)"
}

compile_peer()
{
    dir=$BUILD/peer
    try "configure llama.cpp" 60 cmake -S "$LLAMA" -B "$dir" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON \
        -DCMAKE_CUDA_ARCHITECTURES="$(architecture | tr -d a)-real" -DGGML_NATIVE=OFF -DBUILD_SHARED_LIBS=OFF \
        -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_EXAMPLES=OFF || return 1
    try "build llama-bench" "$BUDGET" cmake --build "$dir" --parallel "$(nproc)" \
        --target llama-bench llama-batched-bench || return 1
    peer=$(find "$dir" -name llama-bench -type f | head -1)
    [ -n "$peer" ]
}

# Packs only the programs, stripped, into one archive. Little can be copied to the machine: the objects are too large,
# and so are the programs themselves (180 MB), because each holds the same kernels. xz finds the repetition when its
# window is larger than a program, which has 9 MB, and the archive has 4 MB.
prebuild()
{
    has xz || { say "xz is missing" && return 1; }
    compile ON || return
    programs=$BUILD/programs
    rm -rf "$programs" "$PREBUILT/programs.tar.xz"
    mkdir -p "$programs/tests" "$PREBUILT" || return
    git describe --always --dirty >"$PREBUILT/commit" 2>/dev/null
    cp "$BUILD/device_tests" "$BUILD/bench_engine" "$programs/" || return
    while read -r test; do
        [ -x "$BUILD/tests/test_$test" ] && cp "$BUILD/tests/test_$test" "$programs/tests/"
    done <"$BUILD/device_tests"
    if [ -n "${LLAMA:-}" ] && compile_peer; then
        cp "$peer" "$(dirname "$peer")/llama-batched-bench" "$programs/"
    fi
    find "$programs" -type f -perm -u+x -exec strip {} + 2>>"$log"
    tar -C "$programs" -cf "$programs.tar" . && xz -f --lzma2=preset=6,dict=64MiB "$programs.tar" &&
        mv "$programs.tar.xz" "$PREBUILT/" || return
    say "$PREBUILT: $(du -sk "$PREBUILT" | cut -f1) KiB, for $(architecture)"
}

# Unpacks the programs into BUILD, not into OUT, because all of OUT is copied back from the machine.
unpack() # folder with an archive, folder for the programs
{
    rm -rf "$2" && mkdir -p "$2" || return 1
    if has xz; then
        xz -dc "$1/programs.tar.xz"
    else
        python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' \
            "$1/programs.tar.xz"
    fi | tar -C "$2" -xf -
}

# Sets `bin` to the folder with the programs, which are unpacked from PREBUILT, or built now.
programs() # tests: ON or OFF
{
    if [ $is_dry = 1 ]; then
        bin=$BUILD
    elif [ -s "$PREBUILT/programs.tar.xz" ]; then
        bin=$BUILD/programs
        unpack "$PREBUILT" "$bin" || { fail "unpack $PREBUILT/programs.tar.xz" && return 1; }
    else
        compile "$1" || return 1
        bin=$BUILD
    fi
    [ -x "$bin/bench_engine" ] && return 0
    fail "$bin holds no bench_engine"
    return 1
}

# Prints the path of bench_engine for a device. For the emulated device it is a program of its own.
bench_of() # device
{
    if [ $is_dry = 1 ] && [ "$1" = cuda:0 ]; then
        echo "$bin/bench_emu_engine"
    else
        echo "$bin/bench_engine"
    fi
}

# Prints the path of a test's program. A test is a line of BUILD/device_tests: room_name.
test_of() # test, device
{
    if [ $is_dry = 1 ] && [ "$2" = cuda:0 ]; then
        echo "$bin/tests/test_emu_${1#*_}"
    else
        echo "$bin/tests/test_$1"
    fi
}

# Prints the devices, of DEVICES or of all, that work on this machine.
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

find_devices()
{
    found=$(devices)
    say "devices  $(echo $found)"
    [ -n "$found" ] || fail "no device answers"
}

# Sets `device` for the calls that measure one: cuda:0, or vulkan:0 where a dry build has no emulated device.
choose_device()
{
    device=cuda:0
    [ $is_dry = 1 ] && [ ! -x "$BUILD/bench_emu_engine" ] && device=vulkan:0
    return 0
}

# Appends bench_engine's rows to a file, with the header if the file is empty.
measure() # file, device, arguments of bench_engine
{
    file=$1 on=$2 header=--no-header
    shift 2
    [ -s "$file" ] || header=
    # shellcheck disable=SC2086
    timeout "$(left)" "$(bench_of "$on")" --device "$on" $header "$@" >>"$file" 2>>"$log"
}

# ---- A: does it work? ----

quick_ops="proj norm_ffn_geglu attn_decode" quick=
[ $is_dry = 1 ] && quick_ops="rms_norm geglu" quick=--quick # with --quick, so little is moved that no limit shows

measure_limits()
{
    : >"$OUT/limits.csv"
    for device in $found; do
        try "limits of $device" 60 sh -c '"$0" "$@" >>'"'$OUT/limits.csv'" "$(bench_of $device)" --device $device \
            $quick $([ -s "$OUT/limits.csv" ] && echo --no-header)
    done
}

smoke_tests() # device
{
    tests="kernels_ops kernels_bits kernels_dequant kernels_replay engine_model_golden engine_run"
    MYTHOS_TEST_DEVICES=$1 MYTHOS_TEST_QUICK=8 MYTHOS_TEST_SAMPLE=8 MYTHOS_TEST_GOLDENS=1
    export MYTHOS_TEST_DEVICES MYTHOS_TEST_QUICK MYTHOS_TEST_SAMPLE MYTHOS_TEST_GOLDENS
    if [ $is_dry = 1 ]; then # few ops are enough here: other tests run all of these on the same two devices
        for op in $quick_ops; do
            try "$1 kernels_ops $op" 200 env MYTHOS_TEST_OP="$op" "$(test_of kernels_ops "$1")"
        done
    else
        for test in $tests; do
            try "$1 $test" 30 "$(test_of $test "$1")"
        done
    fi
    unset MYTHOS_TEST_DEVICES MYTHOS_TEST_QUICK MYTHOS_TEST_SAMPLE MYTHOS_TEST_GOLDENS
}

# Runs tools of compute-sanitizer on the test of the quick ops. Not every device lets it run; then all is skipped.
sanitize() # tools
{
    if ! has compute-sanitizer; then
        say "skipped  compute-sanitizer: not on this machine"
        return
    fi
    for tool in "$@"; do
        for op in $quick_ops; do
            title="compute-sanitizer $tool $op"
            [ "$(left)" -le 20 ] && say "left out: $title: no time left" && continue
            echo "== $title" >>"$log"
            MYTHOS_TEST_DEVICES=cuda:0 MYTHOS_TEST_OP=$op timeout 60 compute-sanitizer --tool "$tool" \
                --error-exitcode 9 "$(test_of kernels_ops cuda:0)" >"$OUT/sanitizer.tmp" 2>&1
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
            *) fail "$title: exit $code" ;;
            esac
        done
    done
    rm -f "$OUT/sanitizer.tmp"
}

# What ncu measures, at the clocks that the machine has, as the other figures: a decode step, and a prompt.
ncu="ncu --clock-control none --csv --page raw --log-file $OUT/ncu.tmp"
decode="--depth 0 --batch 1 --prompt none --topk none --gen 4"
prefill="--depth none --batch none --prompt 512 --topk none"

# Measures one launch of a kernel.
profile() # model, kernel, launch to take, arguments of bench_engine
{
    model=$1 kernel=$2 skip=$3
    shift 3
    # shellcheck disable=SC2086
    try "ncu $kernel of $model" 40 $ncu --set detailed --kernel-name "regex:$kernel" --launch-skip "$skip" \
        --launch-count 1 "$bin/bench_engine" --device cuda:0 --no-limits --no-header --repeat 1 "$@" "$model" &&
        cat "$OUT/ncu.tmp" >>"$OUT/ncu.csv"
    rm -f "$OUT/ncu.tmp"
}

profile_all()
{
    if ! has ncu; then
        say "skipped  ncu: not on this machine"
        return
    fi
    : >"$OUT/ncu.csv"
    # shellcheck disable=SC2086
    {
        profile random:gemma3-4b:q4_0 norm_ffn_geglu_k 40 $decode
        profile random:gemma3-4b:q4_0 proj_k 40 $decode
        profile random:gemma3-4b:q4_0 norm_qkv_rope_store_k 40 $decode
        profile random:gemma3-4b:q4_0 attn_decode_k 40 --depth 8192 --batch 1 --prompt none --topk none --gen 4
        profile random:gemma3-4b:q4_0 head_tiles_k 2 $decode
        profile random:gemma3-4b:q4_0 gemm_mma_k 40 $prefill
        profile random:gemma3-4b:bf16 gemm_mma_k 40 $prefill
        profile random:gemma3-4b:q4_0 attn_prefill 20 $prefill
    }
}

callA()
{
    programs ON || return
    find_devices
    measure_limits
    for device in $found; do
        smoke_tests $device
    done
    : >"$OUT/engine.csv"
    shape="--depth 0 --batch 1 --prompt 512 --topk none --gen 64 --repeat 3"
    small="random:gemma3-1b:q4_0 random:gemma3-1b:q4_k"
    if [ $is_dry = 1 ]; then
        shape="--quick --depth 0 --batch 1 --prompt 8 --topk none --gen 4 --repeat 1"
        small="random:gemma3-tiny:q4_0 random:gemma3-super:q4_k"
    fi
    for device in $found; do
        for model in $small; do
            # shellcheck disable=SC2086
            measure "$OUT/engine.csv" $device --no-limits $shape "$model" || fail "$model on $device"
        done
    done
    if [ $is_dry = 0 ]; then
        sanitize memcheck
        profile_all
    fi
    summary
    { table <"$OUT/limits.csv" | grep limit_; table <"$OUT/engine.csv"; } | tail -40 | tee -a "$log"
}

# Rows of bench_engine on standard input, without the header and the description in quotes, which is too long here.
table() { awk '{ sub(/,"[^"]*"/, "") } !/^device/'; }

# ---- B: which knobs? ----

# Measures decode of each model with one setting, and appends to knobs.csv: knob=value, model, type, depth, tok/s
turn() # knob=value
{
    for model in $knob_models; do
        if [ "$(left)" -lt 30 ]; then
            say "left out: $1 on $model: no time left"
            continue
        fi
        : >"$OUT/turn.tmp"
        # shellcheck disable=SC2086
        env "$1" timeout "$(left)" "$(bench_of "$device")" --device "$device" --no-limits --no-header $shape "$model" \
            >"$OUT/turn.tmp" 2>>"$log" || fail "$1 on $model"
        awk -v knob="$1" -F, '
            { sub(/"[^"]*"/, "") }
            $5 == "decode" && $8 > 0 { print knob "," $3 "," $4 "," $7 "," $8 }' "$OUT/turn.tmp" >>"$OUT/knobs.csv"
    done
    rm -f "$OUT/turn.tmp"
}

callB()
{
    programs ON || return
    choose_device
    shape="--depth 0,8192 --batch 1 --prompt none --topk none --gen 64 --repeat 3"
    knob_models=$(models "1b:q4_0 4b:q4_0 27b:q4_0")
    if [ $is_dry = 1 ]; then
        shape="--quick --depth 0 --batch 1 --prompt none --topk none --gen 4 --repeat 1"
        knob_models="random:gemma3-tiny:q4_0"
    fi
    echo "knob,model,type,depth,tok_s" >"$OUT/knobs.csv"
    for knob in PDL=1 PDL=0 PREFETCH_KB=0 PREFETCH_KB=192 EVICT_FIRST=0 CARVEOUT=-1 FILL_WARPS=1024 FILL_WARPS=4096 \
        ATTN_MB=4 PDL=1; do # the first one again at the end shows how much two equal measurements differ
        turn "MYTH_TUNE_$knob"
    done
    if [ $is_dry = 0 ]; then
        if python3 -c 'import torch' 2>/dev/null; then
            try "torch's matrix products and attention" 90 python3 bench/gpu_torch.py
        else
            say "skipped  torch: not on this machine"
        fi
        sanitize racecheck synccheck
    fi
    summary
    grep "^torch," "$log"
    tail -40 "$OUT/knobs.csv" | tee -a "$log"
}

# ---- C: is it right? ----

# Runs one test and says in one line how it ended. xargs starts one process of this script for each test, several at a
# time, so that each needs a log of its own.
one_test() # test, device, time in seconds at which the call must end
{
    bin=$TEST_BIN
    start=$(date +%s)
    seconds=$(($3 - start))
    [ $seconds -lt 1 ] && seconds=1
    MYTHOS_TEST_DEVICES=$2 timeout $seconds "$(test_of "$1" "$2")" >"$OUT/test_$1.tmp" 2>&1
    code=$?
    case $code in
    0) echo "ok       $2 $1 ($(($(date +%s) - start)) s)" ;;
    77) echo "skipped  $2 $1" ;;
    124) echo "left out: $2 $1: no time left" ;;
    *)
        echo "FAILED   $2 $1: exit $code"
        tail -5 "$OUT/test_$1.tmp"
        ;;
    esac
}

callC()
{
    programs ON || return
    find_devices
    TEST_BIN=$bin
    export TEST_BIN OUT BUILD PREBUILT
    dry='' list=$bin/device_tests
    if [ $is_dry = 1 ]; then # one test of one op shows that this way works; other tests run them all
        dry=--dry list=$OUT/device_tests.tmp MYTHOS_TEST_OP=rms_norm
        export MYTHOS_TEST_OP
        echo kernels_ops >"$list"
    fi
    for device in $found; do
        xargs -P "$(nproc)" -I{} sh bench/gpu.sh $dry one {} "$device" $((begin + BUDGET)) <"$list" | tee -a "$log"
        cat "$OUT"/test_*.tmp >>"$log" 2>/dev/null
        rm -f "$OUT"/test_*.tmp
        n_failed=$((n_failed + $(grep -c "^FAILED   $device" "$log")))
    done
    rm -f "$OUT/device_tests.tmp"
}

# ---- E: models ----

default_models="27b:q4_0 27b:q4_k 4b:q4_k 1b:q4_0 gemma4-e2b:q4_0 gemma4-31b:q4_0 gemma4-26b-a4b:q4_0
    embeddinggemma-300m:bf16 4b:q4_0 4b:q6_k 1b:q4_k 27b:q8_0 27b:bf16 12b:q4_0 12b:q4_k 270m:q4_0 4b:q8_0 1b:q8_0
    1b:bf16 4b:bf16 12b:q8_0 gemma4-26b-a4b:q4_k gemma4-e4b:q4_k gemma3n-e2b:q4_0 270m:q8_0 270m:bf16"
peer_models="27b:q4_0 27b:q4_k 4b:q4_k gemma4-e2b:q4_0 1b:q4_0"

# Prints the name of a model as bench_engine takes it. SIZE:TYPE is a random Gemma 3, FAMILY-SIZE:TYPE a random model of
# that family. Names that begin with random:, files and folders stay as they are.
full_name()
{
    case $1 in
    random:*) echo "$1" ;;
    */* | *.gguf) echo "$1" ;;
    *-*:*) echo "random:$1" ;;
    [0-9]*:*) echo "random:gemma3-$1" ;;
    *) echo "$1" ;;
    esac
}

models() # the default list
{
    if [ $is_dry = 1 ] && [ -z "${MODELS:-}" ]; then
        echo random:gemma3-tiny:q4_0 random:gemma3-tiny:bf16
        return
    fi
    for model in ${MODELS:-$1}; do
        full_name "$model"
    done
}

callE()
{
    programs OFF || return
    : >"$OUT/engine.csv"
    shape=
    [ $is_dry = 1 ] && shape="--quick --depth 0,40 --batch 1,3 --prompt 8,40 --topk 1,40 --gen 4 --repeat 1"
    find_devices
    for device in $found; do
        if [ "$(left)" -lt 45 ]; then
            say "left out: $device: no time left"
            continue
        fi
        # shellcheck disable=SC2046,SC2086
        try "bench_engine on $device" "$BUDGET" sh -c '"$0" "$@" >>'"'$OUT/engine.csv'" "$(bench_of $device)" \
            --device $device $([ -s "$OUT/engine.csv" ] && echo --no-header) $shape --budget $(($(left) - 40)) \
            $(models "$default_models")
    done
    grep -q '"not a number\|,nan\|,inf' "$OUT/engine.csv" && fail "a figure is no number"
    summary
    table <"$OUT/engine.csv" | grep -v limit_ | tail -40
}

# ---- F: which build, and where does the time go? ----

# Measures one build and appends to builds.csv: build,model,type,test,depth,tok/s
turn_of_build() # name, bench_engine, model
{
    # shellcheck disable=SC2086
    timeout "$(left)" "$2" --device "$device" --no-limits --no-header $shape "$3" 2>>"$log" |
        awk -v build="$1" -F, '
            { sub(/"[^"]*"/, "") }
            ($5 == "decode" || $5 == "prefill") && $8 > 0 { print build "," $3 "," $4 "," $5 "," $7 "," $8 }' \
            >>"$OUT/builds.csv"
}

# Appends 26 launches in a row, which is more than a layer has, to launches.csv: model,step,order,kernel,us
launches() # model, step, launches before them, arguments of bench_engine
{
    model=$1 step=$2 skip=$3
    shift 3
    # shellcheck disable=SC2086
    try "launches of $step of $model" 40 $ncu --cache-control none --metrics gpu__time_duration.sum \
        --launch-skip "$skip" --launch-count 26 "$bin/bench_engine" --device cuda:0 --no-limits --no-header \
        --repeat 1 "$@" "$model" &&
        python3 bench/gpu_launches.py "$OUT/ncu.tmp" "$model" "$step" >>"$OUT/launches.csv"
    rm -f "$OUT/ncu.tmp"
}

callF()
{
    programs ON || return
    choose_device
    shape="--depth 0,8192 --batch 1 --prompt 4,512,2048 --topk none --gen 64 --repeat 3"
    build_models=$(models "1b:q4_0 4b:q4_0 4b:q4_k")
    other=
    if [ $is_dry = 1 ]; then
        shape="--quick --depth 0 --batch 1 --prompt 8 --topk none --gen 4 --repeat 1"
        build_models="random:gemma3-tiny:q4_0"
        other=$(bench_of "$device")
    elif [ -n "${OTHER:-}" ]; then
        unpack "$OTHER" "$BUILD/other" || { fail "unpack $OTHER/programs.tar.xz" && return 1; }
        other=$BUILD/other/bench_engine
        say "other: $(cat "$OTHER/commit" 2>/dev/null || echo unknown)"
    fi
    echo "build,model,type,test,depth,tok_s" >"$OUT/builds.csv"
    for model in $build_models; do
        for turn in 1 2; do
            turn_of_build this "$(bench_of "$device")" "$model"
            [ -n "$other" ] && turn_of_build other "$other" "$model"
        done
    done
    if [ $is_dry = 0 ] && has ncu; then
        echo "model,step,order,kernel,us" >"$OUT/launches.csv"
        # shellcheck disable=SC2086
        {
            launches random:gemma3-1b:q4_0 decode 700 $decode # behind the prompt of 4 tokens, in the second step
            launches random:gemma3-4b:q4_0 decode 900 $decode
            launches random:gemma3-4b:q4_0 prefill 1200 $prefill # in the second pass over the prompt
            launches random:gemma3-4b:q4_k prefill 1500 $prefill
        }
    fi
    summary
    sort "$OUT/builds.csv" | tail -40 | tee -a "$log"
}

# ---- D: how fast, beside llama.cpp? ----

find_peer()
{
    peer=${LLAMA_BENCH:-}
    [ -n "$peer" ] && return 0
    if [ -x "$bin/llama-bench" ] && [ $is_dry = 0 ]; then
        peer=$bin/llama-bench
    elif [ -n "${LLAMA:-}" ]; then
        compile_peer || return 1
    else
        say "skipped  llama.cpp: neither one in $bin nor LLAMA; our side runs alone"
    fi
    return 0
}

# Turns the JSON lines of llama-bench or llama-batched-bench on standard input into rows as bench_engine prints them.
peer_rows() # model, type
{
    awk -v model="$1" -v type="$2" '
        function number(key,   at, text) {
            at = match($0, "\"" key "\": *[0-9.e+-]+")
            if (!at) return ""
            text = substr($0, RSTART, RLENGTH)
            sub(/^[^:]*: */, "", text)
            return text
        }
        function row(test, batch, depth, speed) {
            printf("llama.cpp,,%s,%s,%s,%d,%d,%.2f,,,,,\n", model, type, test, batch, depth, speed)
        }
        /"avg_ts"/ {
            p = number("n_prompt") + 0
            row(p ? "prefill" : "decode_peer", 1, p ? p : number("n_depth"), number("avg_ts"))
        }
        /"speed_tg"/ { row("decode_peer", number("pl"), number("pp"), number("speed_tg")) }'
}

# Prints the median of both sides for each test, and ours divided by theirs.
ratios()
{
    sort -t, -k1,1 "$OUT/peer.csv" | awk -F, '
        { sub(/"[^"]*"/, "") }
        $5 == "prefill" || $5 == "decode_peer" {
            key = $3 " " $4 " " $5 " " $7 ($6 > 1 ? " x " $6 : ""); side = $1 == "llama.cpp" ? "theirs" : "ours"
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
                ratio = o * t ? sprintf("%.2f", o / t) : "-"
                printf("%-40s ours %10.2f  llama.cpp %10.2f  ratio %s\n", key, o, t, ratio)
            }
        }' | sort
}

ours() # file, model, type
{
    # bench_engine names the file in its rows; the model's name there lets rows of both sides be compared.
    for tests in "$shape" "$shape_many"; do
        [ -n "$tests" ] || continue
        # shellcheck disable=SC2086
        timeout "$(left)" "$(bench_of "$device")" --device "$device" --no-header --no-limits $tests "$1" 2>>"$log" |
            awk -F, -v OFS=, -v file="$(basename "$1")" -v model="$2" '{ sub("," file ",", "," model ","); print }' \
                >>"$OUT/peer.csv"
    done
}

theirs() # file, model, type
{
    [ -n "$peer" ] || return 0
    for tests in "$peer_prompts" "$peer_depth"; do
        # shellcheck disable=SC2086
        timeout "$(left)" "$peer" -m "$1" -ngl 99 -fa 1 $tests -o jsonl 2>>"$log" | tee -a "$log" |
            peer_rows "$2" "$3" >>"$OUT/peer.csv"
    done
    many=$(dirname "$peer")/llama-batched-bench
    if [ -x "$many" ] && [ -n "$peer_many" ]; then
        # shellcheck disable=SC2086
        timeout "$(left)" "$many" -m "$1" -ngl 99 -fa 1 $peer_many --output-format jsonl 2>>"$log" |
            tee -a "$log" | peer_rows "$2" "$3" >>"$OUT/peer.csv"
    fi
}

callD()
{
    programs OFF || return
    find_peer || return
    choose_device
    shape="--depth 0,8192,32768 --batch 1 --prompt 512,2048 --topk none --gen 64 --repeat 3"
    shape_many="--depth 512 --batch 32 --prompt none --topk none --gen 64 --repeat 3"
    peer_prompts="-p 512,2048 -n 64 -r 3 -ub 512" peer_depth="-p 0 -n 64 -d 8192,32768 -r 3 -ub 512"
    peer_many="-c 20480 -b 2048 -ub 512 -npp 512 -ntg 64 -npl 32"
    if [ $is_dry = 1 ]; then
        shape="--quick --depth 0 --batch 1 --prompt 16 --topk none --gen 4 --repeat 1" shape_many=
        peer_prompts="-p 16 -n 4 -r 1" peer_depth="-p 0 -n 4 -d 8 -r 1" peer_many=
    fi
    FILES=${FILES:-$BUILD/file}
    mkdir -p "$FILES" || return
    : >"$OUT/peer.csv"
    "$(bench_of $device)" --device $device --no-limits >>"$OUT/peer.csv" 2>>"$log" # the header
    for spec in $(models "$peer_models"); do
        model=$(echo "$spec" | cut -d: -f2) type=$(echo "$spec" | cut -d: -f3) file=$FILES/$model-$type.gguf
        if [ "$(left)" -lt 60 ]; then
            say "left out: $model $type: no time left"
            continue
        fi
        if try "write $model $type" 240 "$bin/bench_engine" --write "$file" "$spec"; then
            cat "$file" >/dev/null
            try "first token of $model $type" 120 sh -c '"$0" "$@" >>'"'$OUT/peer.csv'" "$(bench_of $device)" \
                --device $device --no-header --no-limits --cold "$file"
            n_before=$(wc -l <"$OUT/peer.csv")
            ours "$file" "$model"
            theirs "$file" "$model" "$type"
            theirs "$file" "$model" "$type"
            ours "$file" "$model"
            for side in "$device" llama.cpp; do
                n=$(tail -n +$((n_before + 1)) "$OUT/peer.csv" |
                    grep -c "^$side,.*,\(prefill\|decode_peer\),[0-9]*,[0-9]*,[0-9.]")
                if [ "$n" -gt 0 ]; then
                    say "ok       $model $type: $n figures of $side"
                elif [ $side != llama.cpp ] || [ -n "$peer" ]; then
                    fail "$model $type: no figure of $side"
                fi
            done
        fi
        rm -f "$file"
        [ $is_dry = 1 ] && break
    done
    rmdir "$FILES" 2>/dev/null
    summary
    ratios | tail -40 | tee -a "$log"
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

case $call in
A | B | C | D | E | F)
    name_machine
    "call$call"
    [ $summed = 1 ] || summary
    ;;
prebuild)
    prebuild || fail "prebuild"
    ;;
one) one_test "$2" "$3" "$4" ;;
models) models "$default_models" ;;
kit) kit "${2:?a folder}" ;;
*)
    sed -n '2,/^# Exit/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
[ $n_failed -eq 0 ]
