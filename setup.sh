#!/bin/sh
# setup.sh build|test|full - installs the Debian packages that a build (the tests, the full tests) need. Does nothing
# when they are there.
set -eu

build="cmake g++ gcc glslc libc6-dev libedit-dev libfaiss-dev libgit2-dev libjansson-dev libpcre2-dev libsqlite3-dev \
libvulkan-dev libvulkan-volk-dev libxxhash-dev libyaml-dev libzstd-dev ninja-build pkg-config python3-pip spirv-tools"
test="$build clang clang-format gcc-aarch64-linux-gnu git libc6-dev-arm64-cross libclang-rt-14-dev libcmocka-dev \
mesa-vulkan-drivers ripgrep universal-ctags vulkan-validationlayers xz-utils"
full="$test chromium clang-tidy debootstrap dpkg-dev lintian python3-jsonschema"

case "${1:-}" in
build) set_of_packages=$build ;;
test) set_of_packages=$test ;;
full) set_of_packages=$full ;;
*)
    echo "usage: setup.sh build|test|full" >&2
    exit 2
    ;;
esac

missing=""
for package in $set_of_packages; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed'; then
        missing="$missing $package"
    fi
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" -ne 0 ]; then
    echo "setup.sh: packages are missing; run as root:" >&2
    echo "apt-get update && $install" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
$install
