#!/bin/sh
# No definition that universal-ctags finds in the files of tests/corpus/chunks is missing in the index without a reason.
# Needs ctags and bench_definitions; bench/names_ctags.py has the reasons.
set -eu
dump=${MYTHOS_BUILD_DIR:-build}/bench_definitions
command -v ctags >/dev/null || { echo "left out: ctags is not on this machine"; exit 77; }
command -v python3 >/dev/null || { echo "left out: python3 is not on this machine"; exit 77; }
ctags --list-features | grep -q json || { echo "left out: this ctags writes no JSON"; exit 77; }
[ -x "$dump" ] || { echo "left out: bench_definitions is not built"; exit 77; }
exec python3 bench/names_ctags.py --mythos "${MYTHOS_BIN:-build/mythos}" --dump "$dump" --sample 20 --most 0 \
    tests/corpus/chunks
