#!/bin/sh
# The recipe of the judge from clones to a file that mythos asks: models/recipe-judge/short.py, on small repositories
# that it makes itself. Takes minutes, and a python that has what the recipe needs, so it runs with MYTHOS_TEST_FULL=1
# only; MYTHOS_RECIPE_PYTHON names that python, else it is python3.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if [ "${MYTHOS_TEST_FULL:-}" != 1 ]; then
    echo "skipped: with MYTHOS_TEST_FULL=1 only"
    exit 77
fi
command -v git >/dev/null || { echo "skipped: no git here"; exit 77; }
python=${MYTHOS_RECIPE_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python here"; exit 77; }
for module in torch numpy tokenizers safetensors tree_sitter tree_sitter_c tree_sitter_python; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mythos=$(readlink -f "${MYTHOS_BIN:-build/mythos}")
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
PYTHONDONTWRITEBYTECODE=1
export XDG_CACHE_HOME XDG_STATE_HOME PYTHONDONTWRITEBYTECODE
"$python" models/recipe-judge/check.py >"$dir/log" 2>&1 || { tail -20 "$dir/log" >&2; exit 1; }
"$mythos" candidates tests/corpus/demo.c --format jsonl -q >"$dir/log"
[ -s "$dir/log" ] || { echo "skipped: no rules in this build"; exit 77; }
"$python" models/recipe-judge/short.py --work "$dir/work" --mythos "$mythos" >"$dir/log" 2>&1 ||
    { tail -40 "$dir/log" >&2; exit 1; }
grep -q '^short.py: all of it works$' "$dir/log" || { tail -40 "$dir/log" >&2; exit 1; }
