#!/bin/sh
# Any thread may set the flag of cancel.h: its functions race with nothing, as ThreadSanitizer sees it, and no source
# reads or writes such a flag in another way.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A flag behind a pointer is named cancel, is_cancelled, or as part of these names.
flag='\*([A-Za-z_][A-Za-z0-9_]*(->|\.))*(is_)?cancel(led)?\b'
by_hand() { # files; prints the places
    grep -nE "[^a-zA-Z0-9_)/] *$flag|^$flag" "$@" |
        grep -vE 'myth_cancel \*|^[^:]*:[0-9]*: *(/\*|\*) |engine/base/cancel\.h:'
}
# shellcheck disable=SC2046
if by_hand $(find engine kernels shaders frontend retrieval -name '*.[ch]'); then
    echo "a flag is read or written by hand: use myth_cancelled, myth_cancel_set, myth_cancel_clear" >&2
    exit 1
fi
for line in '    if (o->cancel && *o->cancel)' '    while (!*l->cli->cancel)' '        *l->cancel = 1;'; do
    echo "$line" >"$dir/planted.c"
    by_hand "$dir/planted.c" /dev/null >"$dir/found" || { echo "not caught: $line" >&2; exit 1; }
done

cat >"$dir/race.c" <<'END'
#include "engine/base/cancel.h"
#include <pthread.h>
static myth_cancel stop;
static void *work(void *n)
{
    while (!myth_cancelled(&stop))
        ++*(unsigned long *)n;
    return n;
}
int main(void)
{
    pthread_t thread[2];
    unsigned long n[2] = {0, 0};
    myth_cancel_clear(&stop);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, &n[i]);
    myth_cancel_set(&stop);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END
cc -std=gnu11 -g -O1 -fsanitize=thread -I. "$dir/race.c" -o "$dir/race" -pthread 2>"$dir/log" || {
    echo "SKIPPED the race: no ThreadSanitizer here"
    exit 0
}
"$dir/race" >"$dir/log" 2>&1 || {
    if grep -q 'unexpected memory mapping' "$dir/log"; then
        echo "SKIPPED the race: ThreadSanitizer does not run here"
        exit 0
    fi
    cat "$dir/log" >&2
    exit 1
}
echo "the flag races with nothing"
