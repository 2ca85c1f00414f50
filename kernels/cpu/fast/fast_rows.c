/* fast_rows.c   embed_gather, rms_norm, gather_norm, geglu, add_low_rank: ops that compute each row by itself
 *
 * Threads    divide the rows; for a single row no thread is woken
 * Traffic    the rows, once
 * Precision  that of the level's row kernels (rows_avx512.c, vec8_rows.h) */
#include "fast.h"

struct gather {
    const struct myth_embed_gather_args *a;
    const struct fast_kernels *f;
};

static void gather_task(void *arg, int tid, int n_threads)
{
    const struct myth_embed_gather_args *a = ((const struct gather *)arg)->a;
    const struct fast_kernels *f = ((const struct gather *)arg)->f;
    const int32_t *ids = cpu_i32(a->ids);
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        f->row_to_f32(cpu_f32(a->y) + r * a->dim, cpu_row(a->table, (uint64_t)ids[r], a->dim), a->table.dtype, a->dim,
                      a->scale);
}

void fast_embed_gather(myth_stream *s, const struct myth_embed_gather_args *a, const struct fast_kernels *f)
{
    struct gather g = {a, f};
    fast_over_rows(s, a->n_rows, gather_task, &g);
}

struct norm {
    const struct myth_rms_norm_args *a;
    const struct fast_kernels *f;
};

static void norm_task(void *arg, int tid, int n_threads)
{
    const struct myth_rms_norm_args *a = ((const struct norm *)arg)->a;
    const struct fast_kernels *f = ((const struct norm *)arg)->f;
    const float *pend = cpu_f32(a->pend);
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        size_t at = (size_t)r * a->dim;
        f->norm_row(cpu_f32(a->y) + at, cpu_f32(a->x) + at, pend ? pend + at : NULL, cpu_f32(a->w_post), a->x_scale,
                    cpu_f32(a->w), a->dim, a->eps, true);
    }
}

void fast_rms_norm(myth_stream *s, const struct myth_rms_norm_args *a, const struct fast_kernels *f)
{
    struct norm n = {a, f};
    fast_over_rows(s, a->n_rows, norm_task, &n);
}

struct pick {
    const struct myth_gather_norm_args *a;
    const struct fast_kernels *f;
};

static void pick_task(void *arg, int tid, int n_threads)
{
    const struct myth_gather_norm_args *a = ((const struct pick *)arg)->a;
    const struct fast_kernels *f = ((const struct pick *)arg)->f;
    const int32_t *rows = cpu_i32(a->rows);
    const float *pend = cpu_f32(a->pend);
    uint64_t from, to;
    cpu_split(a->n_gather, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++) {
        size_t at = (size_t)rows[i] * a->dim;
        f->norm_row(cpu_f32(a->y) + i * a->dim, cpu_f32(a->x) + at, pend ? pend + at : NULL, cpu_f32(a->w_post),
                    a->x_scale, cpu_f32(a->w), a->dim, a->eps, false);
    }
}

void fast_gather_norm(myth_stream *s, const struct myth_gather_norm_args *a, const struct fast_kernels *f)
{
    struct pick p = {a, f};
    if (a->n_gather == 1)
        pick_task(&p, 0, 1);
    else
        cpu_pool_run(cpu_of(s)->pool, pick_task, &p);
}

struct gated {
    const struct myth_geglu_args *a;
    const struct fast_kernels *f;
};

static void geglu_task(void *arg, int tid, int n_threads)
{
    const struct myth_geglu_args *a = ((const struct gated *)arg)->a;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        const size_t at = (size_t)r * a->d_ff;
        ((const struct gated *)arg)->f->geglu(cpu_f32(a->h) + at, cpu_f32(a->g) + at, cpu_f32(a->up) + at, a->d_ff);
    }
}

void fast_geglu(myth_stream *s, const struct myth_geglu_args *a, const struct fast_kernels *f)
{
    struct gated g = {a, f};
    fast_over_rows(s, a->n_rows, geglu_task, &g);
}

struct low {
    const struct myth_add_low_rank_args *a;
    const struct fast_kernels *f;
};

static void low_task(void *arg, int tid, int n_threads)
{
    const struct myth_add_low_rank_args *a = ((const struct low *)arg)->a;
    const struct fast_kernels *f = ((const struct low *)arg)->f;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        for (uint32_t k = 0; k < a->rank; k++)
            f->blend(cpu_f32(a->y) + r * a->n_out, cpu_f32(a->b) + (size_t)k * a->n_out, 1.0f,
                     cpu_f32(a->t)[r * a->rank + k], a->n_out);
}

void fast_add_low_rank(myth_stream *s, const struct myth_add_low_rank_args *a, const struct fast_kernels *f)
{
    struct low l = {a, f};
    fast_over_rows(s, a->n_rows, low_task, &l);
}
