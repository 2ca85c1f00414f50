#!/bin/sh
# The library neither ends the process, nor prints, nor takes memory behind the ledger's back: read from the symbols its
# objects need. volk opens the Vulkan loader. What others link has the names that the installed headers declare, and no
# other.
set -eu
if grep -q '^MYTH_SANITIZE:BOOL=ON\|^MYTH_FUZZ:BOOL=ON\|^CMAKE_BUILD_TYPE:STRING=Debug' \
    "$MYTHOS_BUILD_DIR/CMakeCache.txt"; then
    echo "skipped: asserts and sanitizers bring symbols of their own"
    exit 77
fi

check() # archive; prints what is not allowed, fails when there is something
{
    nm -A -u "$1" | awk '
        BEGIN {
            n = split("exit _exit abort printf vprintf puts putchar fprintf vfprintf fputs fputc fwrite stdout " \
                      "stderr perror system popen fork execve execvp dlopen malloc calloc realloc free strdup " \
                      "strndup asprintf vasprintf posix_memalign aligned_alloc memalign valloc mmap mmap64 mremap " \
                      "munmap sbrk getline open_memstream", name, " ")
            for (i = 1; i <= n; i++) forbidden[name[i]] = 1
            n = split("mem.c.o:calloc mem.c.o:free mem.c.o:posix_memalign mem.c.o:mmap mem.c.o:munmap " \
                      "map.c.o:mmap map.c.o:munmap volk.c.o:dlopen", name, " ")
            for (i = 1; i <= n; i++) allowed[name[i]] = 1
        }
        {
            split($1, part, ":"); object = part[2]; symbol = $NF
            sub(/^__/, "", symbol); sub(/_chk$/, "", symbol)
            if (forbidden[symbol] && !allowed[object ":" symbol]) { print object " needs " symbol; bad = 1 }
        }
        END { exit bad }'
}

check "$MYTHOS_BUILD_DIR/libmythos_parts.a" || exit 1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cmake --install "$MYTHOS_BUILD_DIR" --component dev --prefix "$dir/prefix" >/dev/null
# Functions are declared from the first column on, or behind the type's line; an inline one is in no library.
find "$dir/prefix/include" -name '*.h' -exec cat {} + |
    awk '/^(static inline|#define|[ \t]*[*]|[ \t]*\/[*])/ { next }
        /^([a-z].*[ *])?myth_[a-z0-9_]+\(/ { sub(/\(.*/, ""); sub(/.*[ *]/, ""); print }
        /^extern .*\[/ { sub(/\[.*/, ""); sub(/.*[ *]/, ""); print }' | sort -u >"$dir/declared"
for library in "$dir/prefix/"lib*/libmythos_engine.* "$dir/prefix/"lib/*/libmythos_engine.*; do
    [ -f "$library" ] || continue
    case $library in
    *.a) nm -g --defined-only "$library" ;;
    *) nm -D --defined-only "$library" ;;
    esac | awk 'NF == 3 { print $3 }' | sort -u >"$dir/defined"
    [ "$(wc -l <"$dir/defined")" -gt 100 ] || { echo "$library: hardly any names" >&2; exit 1; }
    cmp -s "$dir/declared" "$dir/defined" || {
        echo "$library: names that no installed header declares (+), or declared ones that are missing (-):" >&2
        diff "$dir/declared" "$dir/defined" | sed -n 's/^>/+/p; s/^</-/p' >&2
        exit 1
    }
done
[ -s "$dir/defined" ] || { echo "no library is installed" >&2; exit 1; }

for call in 'malloc(3)' '(void *)(long)puts("x")' '(exit(1), (void *)0)'; do
    printf '#include <stdio.h>\n#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return %s; }\n' "$call" \
        >"$dir/planted.c"
    rm -f "$dir/planted.a"
    cc -c "$dir/planted.c" -o "$dir/planted.c.o"
    ar rc "$dir/planted.a" "$dir/planted.c.o"
    if check "$dir/planted.a" >/dev/null; then
        echo "not caught: $call" >&2
        exit 1
    fi
done
echo "nothing ends the process, prints, or allocates outside base/mem.c and base/map.c; planted calls are caught;"
echo "$(wc -l <"$dir/declared") names, those of the installed headers"
