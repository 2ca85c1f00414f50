/* kv_merge.c   copies the scratch rows of runs that are not ephemeral into their pages or rings. Scratch and cache have
 * the same type, so nothing is rounded. */
#include "ref.h"

#include <string.h>

static void merge_head(const struct myth_kv_merge_args *a, const int32_t *run, uint32_t head, bool is_v)
{
    const int32_t *table = cpu_i32(a->kv.table);
    myth_view src = is_v ? a->v_new : a->k_new;
    uint64_t row_bytes = myth_row_bytes(src.dtype, a->head_dim);
    uint64_t k_bytes = (uint64_t)a->n_head_kv * a->kv.page_tok * cpu_key_bytes(a->k_new, a->head_dim);
    uint32_t n_rows = (uint32_t)run[MYTH_RUN_N_ROWS];
    /* Rows of a ring before this one would be overwritten by later rows of the same run. */
    uint32_t first = a->kv.is_ring && n_rows > a->kv.page_tok ? n_rows - a->kv.page_tok : 0;
    for (uint32_t i = first; i < n_rows; i++) {
        uint32_t row;
        int32_t page = cpu_kv_page(&a->kv, table, run, (uint32_t)run[MYTH_RUN_POS0] + i, &row);
        const unsigned char *from =
            cpu_row(src, (uint64_t)head * a->cap_rows + (uint32_t)run[MYTH_RUN_ROW0] + i, a->head_dim);
        memcpy(cpu_kv_base(&a->kv, page, k_bytes, is_v) + ((uint64_t)head * a->kv.page_tok + row) * row_bytes, from,
               (size_t)row_bytes);
    }
}

static void merge(void *arg, int tid, int n_threads)
{
    const struct myth_kv_merge_args *a = arg;
    uint64_t from, to;
    cpu_split((uint64_t)a->n_run * a->n_head_kv, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++) {
        const int32_t *run = cpu_i32(a->runs) + i / a->n_head_kv * MYTH_RUN_WIDTH;
        if (run[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL)
            continue;
        if (a->k_new.buf)
            merge_head(a, run, (uint32_t)(i % a->n_head_kv), false);
        merge_head(a, run, (uint32_t)(i % a->n_head_kv), true);
    }
}

void cpu_ref_kv_merge(myth_stream *s, const struct myth_kv_merge_args *a)
{
    cpu_pool_run_parts(cpu_of(s)->pool, (uint64_t)a->n_run * a->n_head_kv, merge, (void *)(uintptr_t)a);
}
