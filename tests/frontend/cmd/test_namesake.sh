#!/bin/sh
# ORG/NAME is a path first. Where the cache has a model of that name too, the command says which one was taken.
bin=${MYTHOS_BIN:-./build/mythos}
bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export HF_HUB_CACHE="$dir/hub"
cache="$HF_HUB_CACHE/models--org--tiny"
mkdir -p "$cache/refs" "$cache/snapshots/0abc" "$dir/here/org/tiny" && cd "$dir/here" || exit 1
printf 0abc >"$cache/refs/main"
"$bin" convert -m random:gemma3-tiny:f32 -o org/tiny/model.gguf --type f32 || exit 1
cp org/tiny/model.gguf "$cache/snapshots/0abc/"
fail() { echo "$*: $(cat "$dir/err")" >&2; exit 1; }
"$bin" info -m org/tiny >"$dir/out" 2>"$dir/err" || fail "info of the path"
said='org/tiny: the path ./org/tiny is used, not the model of that name in the Hugging Face cache'
grep -qF "$said" "$dir/err" || fail "not said"
"$bin" info -m ./org/tiny >"$dir/out" 2>"$dir/err" || fail "info of ./"
[ -s "$dir/err" ] && fail "said without need"
rm -r org
"$bin" info -m org/tiny >"$dir/out" 2>"$dir/err" || fail "info of the cache"
[ -s "$dir/err" ] && fail "said without need"
exit 0
