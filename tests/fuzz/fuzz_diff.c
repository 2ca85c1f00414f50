/* fuzz_diff.c - any bytes as a diff: refused, or a list of files whose lines are in order, whose counts agree and whose
 * paths stay below the root. */
#include "frontend/inspect/select/diff.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const myth_diff_file *f)
{
    uint64_t n = 0, next = 1, removed = 0, before = 0;
    if (!f->path || !f->old_path || (!f->skipped && myth_diff_path_refused(f->path)))
        abort();
    for (uint32_t i = 0; i < f->n_added; i++) {
        if (f->added[i].first < next || f->added[i].last < f->added[i].first)
            abort();
        next = (uint64_t)f->added[i].last + 2;
        n += f->added[i].last - f->added[i].first + 1;
    }
    for (uint32_t i = 0; i < f->n_removed; i++) {
        if (f->removed[i].n == 0 || f->removed[i].before <= before)
            abort();
        before = f->removed[i].before;
        removed += f->removed[i].n;
    }
    if (n != f->lines_added || removed != f->lines_removed)
        abort();
    myth_diff_touches(f, 1, UINT32_MAX - 1);
    myth_diff_shows(f, 0, UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    myth_mem *mem;
    myth_diff d;
    if (size > 1 << 16 || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    if (myth_diff_parse(&d, mem, (const char *)data, size, NULL) == MYTH_OK)
        for (uint32_t i = 0; i < d.n_file; i++)
            check_file(&d.file[i]);
    myth_diff_free(&d);
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
