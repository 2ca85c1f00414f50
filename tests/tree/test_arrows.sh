#!/bin/sh
# Reads the #include lines of the tree and fails on an arrow that is not drawn:
#
#   all            -> engine/base          (which includes nothing of ours)
#   engine         -> engine, kernels/device.h, kernels/ops.h
#   kernels        -> kernels
#   kernels/cpu, kernels/cuda, shaders -> themselves, kernels
#   retrieval      -> retrieval            (knows nothing of the engine)
#   frontend       -> frontend, the engine's public headers, retrieval/retrieval.h
#   frontend/inspect -> itself, frontend, the engine's public headers, retrieval/retrieval.h
#   tests, bench   -> anything
#
# Then plants forbidden includes in a copy and expects each to be found.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"

# Headers of the engine that only the engine reads.
private='engine/(engine_impl|family|layout|step|bind|kvcache|weights_impl|tokenizer_impl|quant|gguf_write)\.h'

check() # folder of a tree; prints every forbidden arrow, fails when there is one
{
    (cd "$1" && find engine kernels retrieval frontend shaders -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' -o -name '*.def' |
        sort | xargs grep -H -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null) |
    awk -F: -v private="^$private\$" '
        # Folder part and file name of the includer; the target relative to it, or from the root where it names a room.
        function normal(path,   n, part, i, out, top) {
            n = split(path, part, "/"); top = 0
            for (i = 1; i <= n; i++) {
                if (part[i] == "" || part[i] == ".") continue
                if (part[i] == "..") { if (top > 0) top--; continue }
                out[++top] = part[i]
            }
            path = ""
            for (i = 1; i <= top; i++) path = path (i > 1 ? "/" : "") out[i]
            return path
        }
        function starts(s, p) { return substr(s, 1, length(p)) == p }
        {
            from = $1; target = $0
            sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            dir = from; sub(/[^\/]*$/, "", dir)
            to = normal(target ~ /^(engine|kernels|retrieval|frontend|shaders)\// ? target : dir target)
            ok = 0
            if (starts(from, "engine/base/")) ok = starts(to, "engine/base/")
            else if (starts(to, "engine/base/")) ok = 1
            else if (starts(from, "engine/")) ok = starts(to, "engine/") || to == "kernels/device.h" || to == "kernels/ops.h"
            else if (starts(from, "kernels/cpu/")) ok = starts(to, "kernels/cpu/") || to ~ /^kernels\/[^\/]*$/
            else if (starts(from, "kernels/cuda/")) ok = starts(to, "kernels/cuda/") || to ~ /^kernels\/[^\/]*$/
            else if (starts(from, "kernels/")) ok = to ~ /^kernels\/[^\/]*$/
            else if (starts(from, "shaders/")) ok = starts(to, "shaders/") || to ~ /^kernels\/[^\/]*$/
            else if (starts(from, "retrieval/")) ok = starts(to, "retrieval/")
            else if (starts(from, "frontend/"))
                ok = starts(to, "frontend/") || to == "retrieval/retrieval.h" || (to ~ /^engine\/[^\/]*\.h$/ && to !~ private)
            if (!ok) { printf "%s -> %s is not drawn\n", from, to; bad = 1 }
        }
        END { exit bad }'
}

check . || exit 1

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
plant() # file, include line
{
    rm -rf "${copy:?}"/*
    for room in engine/base kernels/cpu retrieval frontend/inspect shaders; do mkdir -p "$copy/$room"; done
    printf '#include %s\n' "$2" >"$copy/$1"
    if check "$copy" >/dev/null; then
        echo "not caught: $1 including $2" >&2
        exit 1
    fi
}
plant engine/base/a.c '"../engine.h"'
plant engine/base/a.h '"engine/model/weights.h"'
plant engine/a.c '"../kernels/device_impl.h"'
plant engine/a.c '"kernels/cpu/cpu.h"'
plant engine/a.c '"../frontend/args.h"'
plant kernels/a.c '"cpu/cpu.h"'
plant kernels/cpu/a.c '"../../engine/engine.h"'
plant retrieval/a.c '"../engine/engine.h"'
plant frontend/a.c '"../kernels/device.h"'
plant frontend/a.c '"../engine/layout.h"'
plant frontend/inspect/a.c '"engine/run/engine_impl.h"'
plant frontend/a.c '"../retrieval/store.h"'

# And that what is drawn is not refused.
rm -rf "${copy:?}"/*
for room in engine/base kernels/cpu retrieval frontend/inspect shaders; do mkdir -p "$copy/$room"; done
echo '#include "../kernels/device.h"' >"$copy/engine/a.c"
echo '#include "../../engine/base/mem.h"' >"$copy/kernels/cpu/a.c"
echo '#include "../main.h"' >"$copy/frontend/inspect/a.c"
echo '#include "engine/engine.h"' >"$copy/frontend/a.c"
check "$copy"
echo "every arrow is drawn; planted ones are caught"
