#!/bin/sh
# The packages: lintian finds no error, both install in a bare Debian 12 root with what they depend on and nothing else,
# and the command inspects and searches there; the archive of the engine alone builds with a compiler and CMake and
# knows its commit. Takes minutes and a package mirror, so it runs with MYTHOS_TEST_FULL=1 only.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if [ "${MYTHOS_TEST_FULL:-}" != 1 ]; then
    echo "skipped: with MYTHOS_TEST_FULL=1 only"
    exit 77
fi
if grep -q '^MYTH_SANITIZE:BOOL=ON\|^MYTH_FUZZ:BOOL=ON' "$MYTHOS_BUILD_DIR/CMakeCache.txt"; then
    echo "skipped: a sanitized build is not for packaging"
    exit 77
fi
for tool in lintian debootstrap cpack git; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done
if [ "$(id -u)" -ne 0 ]; then
    echo "skipped: a root of its own needs root's rights"
    exit 77
fi
dir=$(mktemp -d)
trap 'umount "$dir/root/proc" 2>/dev/null; rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }

cpack --config "$MYTHOS_BUILD_DIR/CPackConfig.cmake" -B "$dir/package" >"$dir/log" 2>&1 ||
    fail "cpack: $(tail -20 "$dir/log")"
lintian --fail-on error "$dir"/package/*.deb || fail "lintian finds errors"
dpkg-deb -f "$dir"/package/libmythos-dev_*.deb Description | head -1 | grep -q '^engine for Gemma models' ||
    fail "the library's synopsis: $(dpkg-deb -f "$dir"/package/libmythos-dev_*.deb Description)"

debootstrap --variant=minbase bookworm "$dir/root" >"$dir/log" 2>&1 || fail "debootstrap: $(tail -5 "$dir/log")"
mount -t proc proc "$dir/root/proc"
cp "$dir"/package/*.deb "$dir/root/tmp/"
inside() { chroot "$dir/root" "$@"; }
cp tests/corpus/demo.c "$dir/root/tmp/"
inside sh -c 'apt-get install -y --no-install-recommends /tmp/mythos_*.deb' >"$dir/log" 2>&1 ||
    fail "mythos does not install: $(tail -20 "$dir/log")"
inside mythos version || fail "mythos version"
code=0
inside mythos inspect-file --format json /tmp/demo.c >"$dir/findings" || code=$?
[ "$code" -le 1 ] || fail "inspect-file: exit $code"
grep -q '"complete":true' "$dir/findings" || fail "inspect-file is not complete"
inside sh -c 'mkdir /tmp/src && mv /tmp/demo.c /tmp/src/ && mythos index --embed /tmp/src &&
    mythos search main /tmp/src' >"$dir/log" 2>&1 ||
    fail "index and search: $(tail -20 "$dir/log")"

inside sh -c 'apt-get install -y --no-install-recommends gcc libc6-dev pkgconf /tmp/libmythos-dev_*.deb' \
    >"$dir/log" 2>&1 ||
    fail "libmythos-dev does not install: $(tail -20 "$dir/log")"
cat >"$dir/root/tmp/main.c" <<'END'
#include <engine/engine.h>
int main(void)
{
    myth_mem *mem;
    return myth_mem_open(&mem, 0, NULL) != MYTH_OK || myth_mem_close(mem) != 0;
}
END
inside sh -c 'cd /tmp && cc main.c -o main $(pkg-config --cflags --libs mythos) && ./main' ||
    fail "a program does not link"

git archive --prefix=engine/ HEAD CMakeLists.txt CMakePresets.json LICENSE cmake engine kernels shaders |
    tar x -C "$dir"
cmake -S "$dir/engine" -B "$dir/build" -G Ninja -DMYTH_CUDA=OFF -DMYTH_VULKAN=OFF \
    -DBUILD_SHARED_LIBS=ON >"$dir/log" 2>&1 || fail "$(tail -20 "$dir/log")"
cmake --build "$dir/build" >"$dir/log" 2>&1 ||
    fail "the engine alone does not build: $(tail -20 "$dir/log")"
cmake --install "$dir/build" --prefix "$dir/prefix" >"$dir/log" 2>&1 || fail "$(tail -20 "$dir/log")"
mkdir "$dir/consumer"
cp "$dir/root/tmp/main.c" "$dir/consumer/"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(consumer C)' 'find_package(mythos 0.2 CONFIG REQUIRED)' \
    'add_executable(consumer main.c)' 'target_link_libraries(consumer PRIVATE mythos::engine)' \
    >"$dir/consumer/CMakeLists.txt"
{ cmake -S "$dir/consumer" -B "$dir/linked" -DCMAKE_PREFIX_PATH="$dir/prefix" && cmake --build "$dir/linked"; } \
    >"$dir/log" 2>&1 || fail "a program does not link the shared library: $(tail -20 "$dir/log")"
"$dir/linked/consumer" || fail "a program with the shared library ends with $?"
cmake -DSOURCE="$dir/engine" -DVERSION=0 -DOUT="$dir/version.h" -P cmake/version.cmake
grep -q "\"$(git rev-parse --short HEAD)" "$dir/version.h" ||
    fail "the archive does not know its commit: $(cat "$dir/version.h")"
echo "packages install, run and link in a bare root; the engine's archive builds"
