#!/bin/sh
# The shipped model in exact mode says the same, byte for byte, on the CPU and on a Vulkan device: files with findings
# and without.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
export MYTHOS_FIND=model # the findings that the model that ships writes itself
if ! "$MYTHOS_BIN" devices --json 2>/dev/null | grep -q '"vulkan:0"'; then
    echo "skipped: no vulkan:0, built without Vulkan or no driver"
    exit 77
fi
files="17_fdforkpty.c 12_buffers.py"
if [ "${MYTHOS_TEST_FULL:-}" = 1 ]; then
    files="$files 01_format.c 09_windows.py 10_tty.c 14_format.c 15_jv_aux.c 18_tty.c 19_format.c 20_server-client.c"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

inspect() # device, file
{
    "$MYTHOS_BIN" inspect-file --quiet --exact --device "$1" --fail-level never --format json "tests/corpus/inspect/$2"
}
n=0 n_found=0
for file in $files; do
    inspect cpu "$file" >"$dir/cpu"
    inspect vulkan:0 "$file" >"$dir/vulkan"
    if ! cmp -s "$dir/cpu" "$dir/vulkan"; then
        echo "$file: the devices differ"
        diff "$dir/cpu" "$dir/vulkan" || :
        exit 1
    fi
    n=$((n + 1))
    ! grep -q '"findings":\[{' "$dir/cpu" || n_found=$((n_found + 1))
done
echo "$n files, $n_found with findings: the same on cpu and vulkan:0"
[ "$n_found" -gt 0 ] && [ "$n_found" -lt "$n" ]
