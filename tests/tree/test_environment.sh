#!/bin/sh
# The libraries read no environment variable: what they need is an option. The command reads variables in one file,
# frontend/cli/environment.c, whose table the man page prints; args.c reads those that the tables of flags name. The
# exceptions are below, each with its reason.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# FILE and the variables that it may read, or "any".
cat >"$dir/allowed" <<'END'
frontend/cli/environment.c any
frontend/cli/args.c any
retrieval/git/git_files.c HOME XDG_CONFIG_HOME
retrieval/scan/ladder.c HOME XDG_CONFIG_HOME
retrieval/parse/chunk_worker.c MYTHOS_CHUNK_FAULT
END
# git_files.c, ladder.c: git's own rule says where git's configuration is. chunk_worker.c: a fault for tests.

# "FILE VARIABLE" of every read in a tree of sources; "?" where the name is no literal.
reads() # tree
{
    (cd "$1" && find engine kernels shaders retrieval frontend -type f \( -name '*.[ch]' -o -name '*.cc' -o \
        -name '*.cu' -o -name '*.cuh' \) -exec grep -HoE '\<(secure_)?getenv *\([^,;)]*' {} +) |
        sed -E 's/^([^:]*):.*\("([A-Z_0-9]+)".*$/\1 \2/; s/^([^:]*):.*\(.*$/\1 ?/' | sort -u
}

check() # tree
{
    reads "$1" | awk -v list="$dir/allowed" '
        BEGIN {
            while ((getline line < list) > 0) {
                n = split(line, w, " ")
                for (i = 2; i <= n; i++) may[w[1], w[i]] = 1
            }
        }
        !may[$1, "any"] && !may[$1, $2] { print $1 " reads " $2 ": make it an option"; bad = 1 }
        END { exit bad }'
}

check . || exit 1

# What the check finds.
mkdir -p "$dir/tree/engine" "$dir/tree/kernels" "$dir/tree/shaders" "$dir/tree/retrieval/scan" "$dir/tree/frontend/cli"
echo 'const char *home = getenv("HOME");' >"$dir/tree/retrieval/scan/ladder.c"
check "$dir/tree"
for line in 'engine/a.c getenv("HOME")' 'kernels/b.cu secure_getenv("HOME")' 'shaders/c.h getenv(name)' \
    'retrieval/scan/ladder.c getenv("TMPDIR")' 'frontend/cli/term.c getenv("TERM")'; do
    file=$dir/tree/${line%% *}
    echo "const char *x = ${line#* };" >"$file"
    ! check "$dir/tree" >"$dir/out" || { echo "not found: $line"; exit 1; }
    rm "$file"
done
echo "$(reads . | wc -l) reads, all of them allowed"
