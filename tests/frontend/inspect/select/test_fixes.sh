#!/bin/sh
# Fixes of crashes and holes from the histories of other projects (tests/corpus/fixes), taken back: the prompt of
# inspect-diff has the guard that is gone and the definition that it guarded, and no finding is about other lines.
# MYTHOS_HISTORIES is a folder with clones of the projects. All fixes in full runs, else three that the seed chooses.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
[ -d "${MYTHOS_HISTORIES:-}" ] || { echo "skipped: MYTHOS_HISTORIES names no folder with git histories"; exit 77; }
command -v git >/dev/null || { echo "skipped: git is missing"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is missing"; exit 77; }
seed=${MYTHOS_TEST_SEED:-}
[ -n "$seed" ] || seed=$(printf '%d' "0x$(git rev-parse HEAD 2>/dev/null | cut -c1-8)") || seed=0
echo "seed $seed; MYTHOS_TEST_SEED=$seed repeats this run"
set -- --seed "$seed"
[ "${MYTHOS_TEST_FULL:-}" = 1 ] && set -- "$@" --answers 3 || set -- "$@" --answers 1 --rows 3
[ ! -f models/mythos-inspect.gguf ] || set -- "$@" --model models/mythos-inspect.gguf
exec python3 -B tests/corpus/fixes/fixes.py check "$MYTHOS_HISTORIES" "${MYTHOS_BIN:-build/mythos}" "$@"
