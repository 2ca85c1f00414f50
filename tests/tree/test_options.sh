#!/bin/sh
# A flag that a command accepts is read: the field of every row of a table of options occurs outside of the tables, in
# the file that has its struct or in one that includes the header that does, itself or by another header. What is set by
# name (.field = x) is no read.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The files that include a header, and those that include a header among these.
includers() # name
{
    awk -v h="$1" '
        { file[NR] = $2; of[NR] = $1 }
        END {
            for (i = 1; i <= NR; i++)
                if (of[i] == h) { print file[i]; n = split(file[i], part, "/"); near[part[n]] = 1 }
            for (i = 1; i <= NR; i++)
                if (of[i] in near && of[i] ~ /\.h$/) print file[i]
        }' "$dir/includes" | sort -u
}

# Lists "FILE: TYPE.FIELD" of each option of a tree that nothing reads.
unread() # tree
{
    (cd "$1" && find frontend -name '*.[ch]' | sort >"$dir/files"
        xargs grep -oE 'offsetof\([a-z_]+, [a-z_.]+\)' /dev/null <"$dir/files" |
            sed -E 's/^([^:]*):offsetof\(([a-z_]+), ([a-z_.]+)\)/\1 \2 \3/' | sort -u >"$dir/rows"
        xargs grep -E '^\} [a-z_]+;' /dev/null <"$dir/files" | sed -E 's/^([^:]*):\} ([a-z_]+);.*/\2 \1/' >"$dir/types"
        xargs grep -E '^#include "' /dev/null <"$dir/files" |
            sed -E 's/^([^:]*):#include "(.*\/)?([^"\/]*)".*/\3 \1/' >"$dir/includes"
        while read -r file type field; do
            where=$(awk -v t="$type" '$1 == t { print $2 }' "$dir/types")
            [ -n "$where" ] && ! grep -qE "#define .*[(, ]$field[,)]" "$file" || continue # a parameter of a macro
            case $where in
            *.h) where="$file $where $(includers "${where##*/}")" ;;
            esac
            # shellcheck disable=SC2086
            sed -E "s/offsetof\\([^)]*\\)//g; s/\\.${field##*.} = //g" $where |
                grep -qE "(->|\\.)${field##*.}([^A-Za-z0-9_(]|\$)" || echo "$file: $type.$field"
        done <"$dir/rows")
}

# What the check finds, and what it leaves alone.
mkdir -p "$dir/t/frontend"
cat >"$dir/t/frontend/x.h" <<'END'
typedef struct {
    int far, gone;
} far_opts;
END
cat >"$dir/t/frontend/y.c" <<'END'
#include "frontend/x.h"
int f(const far_opts *o) { return o->far; }
END
cat >"$dir/t/frontend/x.c" <<'END'
#include "x.h"
typedef struct {
    int used, unused;
} own_opts;
static const myth_option options[] = {{"used", offsetof(own_opts, used)}, {"unused", offsetof(own_opts, unused)},
                                      {"far", offsetof(far_opts, far)}, {"gone", offsetof(far_opts, gone)}};
int g(const own_opts *o) { return h((other){.unused = 1, .gone = o->used}); }
END
unread "$dir/t" >"$dir/got"
printf '%s\n' 'frontend/x.c: far_opts.gone' 'frontend/x.c: own_opts.unused' | diff - "$dir/got"

unread . >"$dir/got"
[ ! -s "$dir/got" ] || { echo "flags that nothing reads:"; cat "$dir/got"; exit 1; }
[ "$(wc -l <"$dir/rows")" -gt 200 ]
