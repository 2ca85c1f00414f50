#!/bin/sh
# vulkan_newer.sh - the Vulkan tests on a newer software driver than this system's: Debian's Mesa of another release,
# unpacked into a folder of its own. Nothing of it is installed; the tests' programs, built here, are started by that
# release's loader with its libraries first and this system's behind them. The validation layer is that release's too:
# one that is older than the driver reports copies within a sparsely bound buffer as overlapping that are not.
#
#   tests/support/vulkan_newer.sh [TEST ...]      tests as the build's `device_tests` names them (kernels_ops, ...), or
#                                                 vulkan_NAME; none: the ops, bits and device tests
#
# SUITE    the release (sid); trixie is another that has a newer Mesa than bookworm
# ROOT     the folder (build-vulkan-SUITE), made once, about 1 GB; needs root, debootstrap and a Debian mirror
# MIRROR   http://deb.debian.org/debian
# BUILD    the build whose tests run (build)
#
# Exit     0 when every test passed; 77 where debootstrap is missing
set -eu
cd "$(dirname "$0")/../.."
SUITE=${SUITE:-sid}
ROOT=${ROOT:-$PWD/build-vulkan-$SUITE}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
BUILD=${BUILD:-build}
machine=$(uname -m)-linux-gnu
case $(uname -m) in
x86_64) loader=ld-linux-x86-64.so.2 ;;
aarch64) loader=ld-linux-aarch64.so.1 ;;
*)
    echo "vulkan_newer: no name of the loader for $(uname -m)" >&2
    exit 77
    ;;
esac

# The packages of the driver and all that they need, fetched and unpacked; their scripts are not run.
make_root()
{
    if ! command -v debootstrap >/dev/null 2>&1; then
        echo "skipped: debootstrap is not on this machine (apt install debootstrap)"
        exit 77
    fi
    rm -rf "$ROOT.part"
    debootstrap --foreign --variant=minbase --include=mesa-vulkan-drivers,libvulkan1,vulkan-validationlayers \
        "$SUITE" "$ROOT.part" "$MIRROR" >"$ROOT.log" 2>&1 || {
        tail -5 "$ROOT.log" >&2
        exit 1
    }
    for package in "$ROOT.part"/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$ROOT.part"
    done
    rm -rf "$ROOT.part"/var/cache/apt/archives
    mv "$ROOT.part" "$ROOT"
}

[ -d "$ROOT" ] || make_root
libraries=$ROOT/usr/lib/$machine
driver=$libraries/libvulkan_lvp.so
start=$libraries/$loader
layers=$ROOT/usr/share/vulkan/explicit_layer.d
if [ ! -e "$driver" ] || [ ! -e "$start" ] || [ ! -d "$layers" ]; then
    echo "vulkan_newer: $ROOT holds no software driver, loader or validation layer; remove it to fetch it anew" >&2
    exit 1
fi
icd=$ROOT/lvp.json
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.4.0"}}\n' "$driver" >"$icd"
echo "driver: $(dpkg-query --admindir="$ROOT/var/lib/dpkg" -W -f '${Version}' mesa-vulkan-drivers 2>/dev/null ||
    strings "$driver" | grep -o -m 1 '^Mesa [0-9.]*' || echo unknown) of $SUITE"

[ $# -gt 0 ] || set -- kernels_ops kernels_bits kernels_replay vulkan_device
n_failed=0
for test in "$@"; do
    program=$BUILD/tests/test_$test
    if [ ! -x "$program" ]; then
        echo "skipped $test: $program is not built"
        continue
    fi
    code=0
    # The loader of the older system would refuse the newer libraries, so the program is not started directly.
    env VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd" VK_LAYER_PATH="$layers" \
        MYTHOS_TEST_DEVICES=vulkan:0 MYTHOS_BUILD_DIR="$PWD/$BUILD" MYTHOS_SOURCE_DIR="$PWD" \
        "$start" --library-path "$libraries:/usr/lib/$machine:/lib/$machine" "$program" \
        >"$ROOT.$test.log" 2>&1 || code=$?
    case $code in
    0) echo "ok      $test" ;;
    77) echo "skipped $test: $(tail -n 1 "$ROOT.$test.log")" ;;
    *)
        echo "FAILED  $test: exit $code"
        tail -n 20 "$ROOT.$test.log"
        n_failed=$((n_failed + 1))
        ;;
    esac
done
[ $n_failed -eq 0 ]
