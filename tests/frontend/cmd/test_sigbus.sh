#!/bin/sh
# A model file that is cut while it is mapped ends the command with 74 and one line, not with a crash.
bin=${MYTHOS_BIN:-./build/mythos}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$bin" convert -m random:gemma3-tiny:f32 -o "$dir/m.gguf" --type f32 || exit 1
"$bin" generate -m "$dir/m.gguf" --ids 2,5 -n 30000 -c 32000 -t 1 > "$dir/out" 2> "$dir/err" &
pid=$!
i=0
while [ ! -s "$dir/out" ] && [ $i -lt 300 ]; do
    sleep 0.1
    i=$((i + 1))
done
if [ ! -s "$dir/out" ]; then
    echo "nothing was generated" >&2
    kill $pid
    exit 1
fi
: > "$dir/m.gguf"
wait $pid
code=$?
cat "$dir/err" >&2
[ $code -eq 74 ] || { echo "exit code $code, expected 74" >&2; exit 1; }
grep -q "became shorter" "$dir/err"
