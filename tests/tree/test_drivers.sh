#!/bin/sh
# One binary everywhere: it starts and works where there is no driver and no loader to be found; a build may leave out
# either kind of GPU. With MYTHOS_TEST_FULL=1 every such build is made whole and run.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if grep -q '^MYTH_SANITIZE:BOOL=ON\|^MYTH_FUZZ:BOOL=ON' "$MYTHOS_BUILD_DIR/CMakeCache.txt"; then
    echo "skipped: a sanitized binary lets nothing be loaded before its runtime"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }

# What a machine without GPUs must be able to do; what it answers when one is asked for.
works_on_the_cpu() # what, command and its arguments' prefix
{
    what=$1
    shift
    "$@" devices --json >"$dir/devices" || fail "$what: devices"
    grep -q '"name":"cpu"' "$dir/devices" || fail "$what: no cpu among the devices: $(cat "$dir/devices")"
    ! grep -q '"name":"\(cuda\|vulkan\):' "$dir/devices" ||
        fail "$what: a device where there is none: $(cat "$dir/devices")"
    "$@" plan -m random:gemma3-tiny:q8_0 --json | grep -q '"device":"cpu"' || fail "$what: plan"
    "$@" generate -q -m random:gemma3-tiny:q8_0 --ids 2,7,9 -n 4 --ignore-eos --json >"$dir/answer" ||
        fail "$what: generate"
    if [ -s "$dir/first" ]; then
        cmp -s "$dir/first" "$dir/answer" || fail "$what: another answer: $(cat "$dir/answer")"
    else
        cp "$dir/answer" "$dir/first"
    fi
    for device in vulkan:0 cuda:0; do
        code=0
        "$@" generate -q -m random:gemma3-tiny:q8_0 --ids 2,7,9 -n 4 --device "$device" \
            >"$dir/out" 2>"$dir/err" || code=$?
        [ "$code" -eq 69 ] && [ ! -s "$dir/out" ] && grep -q "$device" "$dir/err" ||
            fail "$what: --device $device: exit $code, $(cat "$dir/err")"
    done
}

# No driver: the loader finds none, the runtime finds no device.
no_driver="env CUDA_VISIBLE_DEVICES= VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent"
works_on_the_cpu "no driver" $no_driver "$MYTHOS_BIN"

# No loader either: opening any library of theirs fails. The hook tells what it was asked for, so that one which was
# never called shows.
cat >"$dir/hide.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (!name || (!strstr(name, "vulkan") && !strstr(name, "libcuda")))
        return real(name, flags);
    FILE *f = fopen(getenv("HIDDEN"), "a");
    if (f) {
        fprintf(f, "%s\n", name);
        fclose(f);
    }
    return real("/nonexistent/library.so", flags);
}
END
cc -shared -fPIC "$dir/hide.c" -o "$dir/hide.so" -ldl
works_on_the_cpu "no loader" env LD_PRELOAD="$dir/hide.so" HIDDEN="$dir/hidden" "$MYTHOS_BIN"
if "$MYTHOS_BIN" devices --json | grep -q '"vulkan:0"'; then
    grep -q vulkan "$dir/hidden" || fail "the loader was not hidden, yet no device was found"
fi

# What stands in where a build has neither, and a build tree without them.
for stub in kernels/cuda/stub_cuda.c shaders/stub_vk.c; do
    cc -std=gnu11 -Wall -Wextra -Wpedantic -Wmissing-prototypes -Werror -I. -c "$stub" -o "$dir/stub.o" || fail "$stub"
done
configure() # name, options
{
    name=$1
    shift
    cmake -S . -B "$dir/$name" -G Ninja -DMYTH_TESTS=OFF -DMYTH_BENCH=OFF -DMYTH_GRAMMARS_OPTIMIZE=-O0 "$@" \
        >"$dir/log" 2>&1 || fail "$name: $(tail -20 "$dir/log")"
}
configure neither -DMYTH_CUDA=OFF -DMYTH_VULKAN=OFF
builds=""
if [ "${MYTHOS_TEST_FULL:-}" = 1 ]; then
    builds=neither
    # without nvcc the build under test is the one without CUDA, and without Vulkan neither is left
    if command -v nvcc >/dev/null; then
        configure no_cuda -DMYTH_CUDA=OFF
        configure no_vulkan -DMYTH_VULKAN=OFF
        builds="neither no_cuda no_vulkan"
    fi
    for name in $builds; do
        cmake --build "$dir/$name" --target mythos >"$dir/log" 2>&1 || fail "$name: $(tail -20 "$dir/log")"
        works_on_the_cpu "$name" $no_driver "$dir/$name/mythos"
    done
fi
echo "works without a driver and without a loader; built without one kind or both: ${builds:-configured only}"
