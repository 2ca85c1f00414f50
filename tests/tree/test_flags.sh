#!/bin/sh
# The libraries spell no flag and no command of the program: a program of another kind may use them. Their errors name
# an option or a remedy (engine/base/status.h), and frontend/cli/cli.c has the words for both. Flags of git are git's.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "FILE:LINE:text" of every string literal in a tree of sources, without those in comments.
literals() # tree
{
    (cd "$1" && find engine kernels shaders retrieval -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' \) |
        sort | xargs awk '
        FNR == 1 { in_comment = 0 }
        /^[ \t]*#[ \t]*include/ { next }
        {
            n = length($0); text = ""; in_text = 0
            for (i = 1; i <= n; i++) {
                two = substr($0, i, 2); c = substr($0, i, 1)
                if (in_comment) {
                    if (two == "*/") { in_comment = 0; i++ }
                } else if (in_text) {
                    if (c == "\\") { text = text two; i++ }
                    else if (c == "\"") { in_text = 0; print FILENAME ":" FNR ":" text }
                    else text = text c
                } else if (two == "//") break
                else if (two == "/*") { in_comment = 1; i++ }
                else if (c == "\"") { in_text = 1; text = "" }
                else if (c == "\047") i += substr($0, i + 1, 1) == "\\" ? 3 : 2
            }
        }')
}

# chunk.c starts a process of its own, whose argument is no flag of a command.
check() # tree
{
    literals "$1" | sed -E 's/git config --(global|system)( --add)?//; s/git fetch --unshallow//; s/diff --git//
        /^retrieval\/parse\/chunk\.c:[0-9]+:--chunk-worker$/d' >"$dir/got"
    ! grep -E "^[^:]*:[0-9]+:(.*[ (\"'\`])?(--[a-z]|-[A-Za-z]{1,2}([ ,;:)]|\$)|mythos( [a-z]| \$))" "$dir/got"
}

# What the check finds, and what it leaves alone.
mkdir -p "$dir/t/engine" "$dir/t/kernels" "$dir/t/shaders" "$dir/t/retrieval"
cat >"$dir/good" <<'END'
/* "raise --flag" */ f("git config --global x", "diff --git", "-wal", "mythos", '"', "mythos/%s"); // "mythos index"
END
cat >"$dir/bad" <<'END'
f("give --flag");
f("--flag");
f("run mythos index");
/* */ f("run mythos "
f("%u tokens, -c %u");
f('"', '\'', "a directory with -C");
END
while IFS= read -r line; do
    cp "$dir/good" "$dir/t/engine/x.c"
    check "$dir/t" >"$dir/said" || { echo "refused without reason: $(cat "$dir/said")"; exit 1; }
    printf '%s\n' "$line" >>"$dir/t/engine/x.c"
    ! check "$dir/t" >"$dir/said" || { echo "not found: $line"; exit 1; }
done <"$dir/bad"

check . || { echo "a library spells a flag or a command: name an option or a remedy"; exit 1; }
echo "$(wc -l <"$dir/got") literals of the libraries spell no flag"
