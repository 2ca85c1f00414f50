/* capture_sum.c   sum[label[i],:] += round(t * 2^24),  t = x[rows[i],:] after the prologue (x itself is unchanged)
 *
 * Precision  t has the bits that this level's gather_norm gives without a norm. t * 2^24 is exact in double and is
 *            rounded once, ties to even
 * Threads    first the prologue: threads divide the rows, REF_TILE rows a thread at a time, and write t into the
 *            workspace `activations`. Then they divide the columns, so no two of them add to the same element
 * Traffic    24 bytes an element: the row, its pending branch, and the sum, which is read and written. The sums of one
 *            label stay in cache */
#include "ref.h"

struct job {
    const struct myth_capture_sum_args *a;
    cpu_fold_row fold;
    struct cpu_pool *pool;
    float *folded; /* [REF_TILE * n_threads, dim] */
};

/* Adds t to the sum. False, with the sum unchanged: t is not finite, is too large, or would carry the sum out of its 64
 * bits. */
static inline bool add(int32_t *at, float t)
{
    double v = (double)t * (double)(1 << MYTH_CAPTURE_FRACTION_BITS);
    if (!(fabs(v) < 0x1p62))
        return false;
    int64_t sum = (int64_t)((uint64_t)(uint32_t)at[1] << 32 | (uint32_t)at[0]);
    if (__builtin_add_overflow(sum, llrint(v), &sum))
        return false;
    at[0] = (int32_t)(uint32_t)(uint64_t)sum;
    at[1] = (int32_t)(uint32_t)((uint64_t)sum >> 32);
    return true;
}

static void fold_rows(const struct job *j, uint64_t first, uint64_t from, uint64_t to)
{
    const struct myth_capture_sum_args *a = j->a;
    for (uint64_t i = from; i < to; i++) {
        uint64_t at = (uint64_t)cpu_i32(a->rows)[first + i] * a->dim;
        if (cpu_i32(a->label)[first + i] >= 0)
            j->fold(j->folded + i * a->dim, cpu_f32(a->x) + at, cpu_f32(a->pend) + at, cpu_f32(a->w_post), a->x_scale,
                    NULL, a->dim, a->eps, false);
    }
}

static void sum_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const struct myth_capture_sum_args *a = j->a;
    const int32_t *rows = cpu_i32(a->rows), *label = cpu_i32(a->label);
    bool is_good = true, is_folded = a->pend.buf;
    uint64_t block = (uint64_t)REF_TILE * (uint64_t)n_threads, from, to, col0, col1;
    cpu_split(a->dim, 16, tid, n_threads, &col0, &col1);
    for (uint64_t first = 0; first < a->n_gather; first += block) {
        uint64_t n = a->n_gather - first < block ? a->n_gather - first : block;
        if (is_folded) {
            cpu_split(n, 1, tid, n_threads, &from, &to);
            fold_rows(j, first, from, to);
            if (n_threads > 1)
                cpu_pool_barrier(j->pool);
        }
        for (uint64_t i = 0; i < n; i++) {
            if (label[first + i] < 0)
                continue;
            const float *t = is_folded ? j->folded + i * a->dim : cpu_f32(a->x) + (uint64_t)rows[first + i] * a->dim;
            int32_t *sum = cpu_i32(a->sum) + 2 * (uint64_t)label[first + i] * a->dim;
            for (uint64_t c = col0; c < col1; c++)
                is_good &= add(sum + 2 * c, t[c]);
        }
        if (is_folded && n_threads > 1)
            cpu_pool_barrier(j->pool); /* before the next rows overwrite these */
    }
    if (!is_good)
        __atomic_store_n(cpu_i32(a->bad), 1, __ATOMIC_RELAXED);
}

void cpu_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a, cpu_fold_row fold)
{
    struct job j = {a, fold, cpu_of(s)->pool, (float *)(void *)cpu_of(s)->activations};
    if (a->n_gather == 1)
        sum_task(&j, 0, 1);
    else
        cpu_pool_run(j.pool, sum_task, &j);
}

static void fold_row(float *y, float *x, const float *pend, const float *w_post, float x_scale, const float *w,
                     uint32_t n, float eps, bool keep)
{
    (void)w, (void)keep;
    ref_fold_row(y, x, pend, w_post, x_scale, n, eps);
}

void cpu_ref_capture_sum(myth_stream *s, const struct myth_capture_sum_args *a) { cpu_capture_sum(s, a, fold_row); }
