#!/bin/sh
# How many places name one thing: a new language, output form, rule, command or op is written in so many, beside the
# files that carry its own name. Comments do not count. What is named in one place more fails here: the row that others
# read is missing a column.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# "PATH:code" of every source, without comments.
find engine kernels shaders retrieval frontend cmake -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o \
    -name '*.cc' -o -name '*.def' -o -name '*.lock' -o -name '*.cmake' -o -name '*.comp' -o -name '*.glsl' \) |
    sort | xargs awk '
        FNR == 1 { in_comment = 0 }
        {
            rest = $0; code = ""
            while (rest != "") {
                if (in_comment) {
                    end = index(rest, "*/")
                    if (!end) break
                    rest = substr(rest, end + 2); in_comment = 0
                    continue
                }
                block = index(rest, "/*"); line = index(rest, "//")
                if (line && (!block || line < block) && substr(rest, 1, line - 1) !~ /"[^"]*$/) {
                    code = code substr(rest, 1, line - 1)
                    break
                }
                if (!block) { code = code rest; break }
                code = code substr(rest, 1, block - 1); rest = substr(rest, block + 2); in_comment = 1
            }
            if (code != "") print FILENAME ":" code
        }' >"$dir/code"

named() # what, word, files of its own as a pattern, the places
{
    what=$1 word=$2 own=$3
    shift 3
    printf '%s\n' "$@" | sort >"$dir/want"
    # a word may be a part of a longer name: pack_q5_1, MYTH_Q5_1
    grep -iE -e "(^|[^[:alnum:]])$word([^[:alnum:]]|\$)" "$dir/code" | cut -d: -f1 | sort -u |
        grep -v -E "$own" >"$dir/got" || :
    if ! cmp -s "$dir/want" "$dir/got"; then
        echo "$what $word is named in other places than expected (- expected, + found):"
        diff "$dir/want" "$dir/got" | sed -n 's/^</-/p; s/^>/+/p'
        bad=1
    fi
}

# The queries of a grammar are in retrieval/parse/queries/<grammar>.scm.
named language lua '\.scm$' retrieval/parse/grammars.lock retrieval/scan/languages.def
named language crystal '\.scm$' retrieval/scan/languages.def
named form rdjsonl '/render_rdjsonl\.c$' frontend/inspect/report/outputs.h
named form codequality '/render_codequality\.c$' frontend/inspect/report/outputs.h
named form checkstyle '/render_checkstyle\.c$' frontend/inspect/report/outputs.h
named rule double-free '^$' frontend/inspect/rules/rules.def
named command perplexity '/cmd_perplexity\.c$' frontend/commands.def
named tool repo_map '/tool_map\.c$' frontend/tools/tools.def
# "languages" alone is also the name of the table that the command lists.
named command '(command\(|cmd_)languages' '/cmd_languages\.c$' frontend/commands.def
# A type in blocks: its row, the decoder of the host, that of the GPUs. Kernels of their own on a level of the CPU make
# some types faster, what writes a type packs it, and a mix names the types it is made of: none of that is needed to
# read one.
some='kernels/cpu/fast/(avx2\.h|gem[mv]_avx2\.c|gemv_(super_)?avx512\.c)'
some="$some|engine/make/(quant_blocks|mix|weights_random)\.c"
for type in q5_1 iq4_nl q3_k tq2_0; do
    named type $type "^($some)\$" engine/base/blocks.h engine/base/types.def kernels/eights.def
done
# A family: its id, its row, and what can be written of it nowhere else: its slots and loop, the keys that it alone has,
# and its sizes for `random:` models. Whatever else the engine has to know of a family is a column of its row.
named family gemma3n '/families/gemma3n\.c$' engine/make/convert.c engine/make/weights_random.c \
    engine/model/config.h engine/model/config_gguf.c engine/model/config_impl.h engine/model/config_json.c \
    engine/model/families.c engine/model/family.h
if grep -nE '^engine/.*family *[!=]= *MYTH_FAMILY_[^N]' "$dir/code"; then
    echo "families are compared, where their rows in engine/model/families.c should differ"
    bad=1
fi
# An op: its row, its argument struct, check and trace; a row for each kind of device that has it, and the kernels; what
# Vulkan's kernel reads, and who launches it. Families call it.
named op laurel_merge '/laurel_merge\.(c|cu|comp)$|^engine/families/' kernels/ops.def kernels/ops.h kernels/op_check.c \
    kernels/op_trace.c kernels/cpu/ref/ref.c shaders/device_vk.c shaders/shared.h shaders/spirv.def \
    shaders/vk_ops_streams.c
[ $bad -eq 0 ] || exit 1
echo "$(grep -c '^named [a-z]' "$0") things are named where they should be"
