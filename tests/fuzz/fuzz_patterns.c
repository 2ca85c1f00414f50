/* fuzz_patterns.c - any bytes as a pattern file and as the head of a file: they are parsed, matched and classified
 * without touching memory outside of the buffer. */
#include "retrieval/scan/ignore.h"
#include "retrieval/scan/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const path[] = {
        "a", "a.c", "src/a.o", "a/b/c/d", " ", "#a", "!a", "x/[a]", "vendor", "a\nb", "deep/er/than/most.min.js"};
    static const char *const name[] = {"a",         "a.h", "a.js", "a.1", "a.m", "a.ts", "x/Dockerfile.dev",
                                       "test_a.py", "a.in"};
    myth_mem *mem;
    char why[64];
    if (size > 4096 || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    for (int k = 0; k < 2; k++) {
        myth_ignore_list *l;
        if (myth_ignore_parse(&l, mem, "fuzz", (const char *)data, size, k, NULL) != MYTH_OK)
            abort();
        l->is_folded = size & 1;
        for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
            const myth_ignore_pattern *q = myth_ignore_find(l, path[i], strlen(path[i]), i & 1);
            if (q && (q->line_no == 0 || q->line_no > size + 1 || (q->is_dir_only && !(i & 1)) || q->is_never))
                abort();
        }
        myth_ignore_free(l, mem);
    }
    /* A pattern with its own bytes as the text, and cut in two. */
    myth_glob_match((const char *)data, size, (const char *)data, size, true, false);
    myth_glob_match((const char *)data, size / 2, (const char *)data + size / 2, size - size / 2, true, true);
    myth_glob_match((const char *)data, size / 2, (const char *)data + size / 2, size - size / 2, false, false);
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        const char *language = myth_detect_language(name[i], data, size);
        if (!language)
            abort();
        myth_detect_minified(name[i], language, data, size);
        const char *said = myth_detect_generated(name[i], data, size, why);
        if (said == why && strlen(why) >= sizeof(why))
            abort();
    }
    myth_detect_binary(data, size);
    myth_detect_media(data, size);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
