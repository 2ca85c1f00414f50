#!/bin/sh
# Holds the #include lines of the tree to tests/tree/rooms.txt: every arrow is drawn there, none points up, every folder
# of sources has a row. Then plants mistakes in copies, in the tree and in the table, and expects each to be found.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
rooms=$PWD/tests/tree/rooms.txt

check() # folder of a tree, table; prints every mistake, fails when there is one
{
    (cd "$1" && find engine kernels shaders retrieval frontend -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o \
        -name '*.cc' -o -name '*.def' -o -name '*.comp' -o -name '*.glsl' | sort | xargs awk -v table="$2" '
        function dir_of(path) { sub(/\/[^\/]*$/, "", path); return path }
        function node_of(path) { return path in row ? path : dir_of(path) }
        function is_face(node) { return node ~ /\.(h|def)$/ }
        # A path without "." and "..".
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
        function mistake(text) { print text; bad = 1 }
        BEGIN {
            while ((getline line < table) > 0) {
                if (line ~ /^(#|$)/) continue
                if (line !~ /^[a-z0-9_\/.]+:/) { mistake("rooms.txt: not a row: " line); continue }
                node = line; sub(/:.*/, "", node)
                list = line; sub(/^[^:]*:/, "", list)
                n = split(list, part, " ")
                for (i = 1; i <= n; i++) {
                    if (!(part[i] in row))
                        mistake("rooms.txt: " part[i] " is not above " node ", which would include it")
                    may[node, part[i]] = 1
                }
                if (node in row) mistake("rooms.txt: " node " has two rows")
                row[node] = 1
            }
        }
        {
            from = FILENAME
            if (!(dir_of(from) in row)) {
                if (!(dir_of(from) in told)) mistake(dir_of(from) " has no row in rooms.txt")
                told[dir_of(from)] = 1
                next
            }
            if ($0 !~ /^[ \t]*#[ \t]*include[ \t]*"/) next
            target = $0
            sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            to = normal(target ~ /^(engine|kernels|retrieval|frontend|shaders)\// ? target : dir_of(from) "/" target)
            a = node_of(from); b = node_of(to)
            if (a == b || b == "engine/base" || ((a, b) in may)) next
            if (!is_face(a) && dir_of(from) == dir_of(to)) next
            mistake(from " -> " to " is not drawn")
        }
        END { exit bad }')
}

check . "$rooms" || exit 1

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
empty_tree()
{
    rm -rf "${copy:?}"/*
    sed -n 's/^\([a-z_\/]*\):.*/\1/p' "$rooms" | while read -r room; do mkdir -p "$copy/$room"; done
}
plant() # file, include line
{
    empty_tree
    printf '#include %s\n' "$2" >"$copy/$1"
    if check "$copy" "$rooms" >/dev/null; then
        echo "not caught: $1 including $2" >&2
        exit 1
    fi
}
plant engine/base/a.c '"../engine.h"'
plant engine/base/a.h '"engine/model/weights.h"'
plant engine/a.c '"../kernels/device_impl.h"'
plant engine/a.c '"kernels/cpu/cpu.h"'
plant engine/a.c '"../frontend/args.h"'
plant engine/model/a.c '"engine/text/tokenizer.h"'
plant engine/run/a.c '"engine/make/quant.h"'
plant engine/engine.h '"engine/run/layout.h"'
plant kernels/a.c '"cpu/cpu.h"'
plant kernels/cpu/a.c '"../../engine/engine.h"'
plant kernels/cuda/a.cu '"kernels/cpu/cpu.h"'
plant shaders/a.comp '"../kernels/cpu/ref/ref.h"'
plant retrieval/a.c '"../engine/engine.h"'
plant retrieval/scan/a.c '"retrieval/parse/grammars.h"'
plant retrieval/store/a.c '"retrieval/parse/chunk.h"'
plant retrieval/names/a.c '"retrieval/rank/rank.h"'
plant retrieval/retrieval.h '"frontend/eval/corpus.h"'
plant frontend/a.c '"../kernels/device.h"'
plant frontend/cli/a.c '"frontend/inspect/prompt/prompt.h"'
plant frontend/cmd/a.c '"engine/run/layout.h"'
plant frontend/cmd/a.c '"engine/run/run.h"'
plant frontend/cmd/a.c '"engine/run/offload.h"'
plant frontend/cmd/a.c '"engine/text/chat_impl.h"'
plant frontend/cmd/a.c '"engine/model/config_impl.h"'
plant frontend/cmd/a.c '"retrieval/store/store.h"'
plant frontend/inspect/a.c '"engine/run/engine_impl.h"'
plant frontend/inspect/prompt/a.c '"frontend/inspect/answer/findings.h"'

# A folder without a row, and a table that draws an arrow upwards.
empty_tree
mkdir "$copy/engine/attic"
: >"$copy/engine/attic/a.c"
echo '/* a.c */' >"$copy/engine/attic/a.c"
if check "$copy" "$rooms" >/dev/null; then
    echo "not caught: a folder without a row" >&2
    exit 1
fi
empty_tree
echo '/* a.c */' >"$copy/engine/a.c"
sed 's|^engine/model:|engine/model: engine/run|' "$rooms" >"$copy/rooms.txt"
if check "$copy" "$copy/rooms.txt" >/dev/null; then
    echo "not caught: an arrow upwards in the table" >&2
    exit 1
fi

# And that what is drawn is not refused.
empty_tree
echo '#include "../../kernels/device.h"' >"$copy/engine/run/a.c"
echo '#include "../../engine/base/mem.h"' >"$copy/kernels/cpu/a.c"
echo '#include "frontend/cli/cli.h"' >"$copy/frontend/cmd/a.c"
echo '#include "engine/engine.h"' >"$copy/frontend/cli/a.c"
check "$copy" "$rooms"
echo "$(grep -c '^[a-z]' "$rooms") rooms and faces, every arrow is drawn; planted mistakes are caught"
