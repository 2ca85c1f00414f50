#!/bin/sh
# test_ldd.sh - the command needs no Vulkan library to start: the loader is opened at run time.
set -eu
if ! command -v ldd >/dev/null; then
    echo "skipped: no ldd"
    exit 77
fi
if ldd "$MYTHOS_BIN" | grep -i -e vulkan -e libcuda; then
    echo "the command is linked to a driver's library" >&2
    exit 1
fi
