/* attn_mass.c   part[r,h,i] = softmax_j(cap(q[r,h,:] . k[j,:])) at j = first + i;
 *               mass[r,i] += scale * mean_h part[r,h,i]
 *
 * Keys       those that attn_prefill shows to the row
 * Order      a row's maximum and sum go through its keys by position; the sum over heads is in the order of heads
 * Precision  f32; keys are converted from the cache type
 * Threads    each takes pairs (row, head) from a counter; then rows */
#include "ref.h"

struct keys {
    const struct myth_attn_args *a;
    const int32_t *run;
    struct cpu_gaps gaps;
    uint32_t from, last, head; /* the positions that the row sees, but for gaps; the kv head */
    const float *q;
};

static bool is_seen(const struct keys *k, uint32_t pos)
{
    return pos >= k->from && pos <= k->last && !cpu_is_gone(k->gaps, pos);
}

static float score(const struct keys *k, uint32_t pos, float *row)
{
    const struct myth_attn_args *a = k->a;
    const uint64_t row_bytes = myth_row_bytes(a->k_new.dtype, a->head_dim);
    const uint32_t pos0 = (uint32_t)k->run[MYTH_RUN_POS0];
    uint32_t at = (uint32_t)k->run[MYTH_RUN_ROW0] + (pos - pos0);
    const unsigned char *from =
        (const unsigned char *)cpu_ptr(a->k_new) + ((uint64_t)k->head * a->cap_rows + at) * row_bytes;
    if (pos < pos0) {
        const int32_t page = cpu_kv_page(&a->kv, cpu_i32(a->kv.table), k->run, pos, &at);
        from = cpu_kv_base(&a->kv, page, 0, false) + ((uint64_t)k->head * a->kv.page_tok + at) * row_bytes;
    }
    cpu_row_to_f32(row, from, a->k_new.dtype, a->head_dim);
    float dot = 0.0f;
    for (uint32_t d = 0; d < a->head_dim; d++)
        dot += k->q[d] * row[d];
    return ref_cap(dot, a->softcap);
}

static void weigh(const struct keys *k, const struct myth_attn_mass_args *m, float *part, float *row)
{
    float most = -INFINITY, total = 0.0f;
    for (uint32_t j = k->from; j <= k->last; j++) {
        if (!is_seen(k, j))
            continue;
        const float s = score(k, j, row);
        if (s > most) {
            total *= expf(most - s); /* 0 at the first key */
            most = s;
        }
        total += expf(s - most);
    }
    for (uint32_t i = 0; i < m->n_key; i++)
        part[i] = is_seen(k, m->first + i) ? expf(score(k, m->first + i, row) - most) / total : 0.0f;
}

struct job {
    struct cpu_device *d;
    const struct myth_attn_mass_args *m;
};

static void weigh_heads(void *arg, int tid, int n_threads)
{
    const struct job *job = arg;
    const struct myth_attn_args *a = &job->m->attn;
    const int32_t *runs = cpu_i32(a->runs), *row_run = cpu_i32(a->row_run), *at = cpu_i32(a->pos);
    float *row = (float *)(void *)job->d->attn_scratch + (uint64_t)tid * (2ull * a->head_dim + CPU_ATTN_BLOCK);
    (void)n_threads;
    for (uint32_t i; (i = cpu_pool_take(job->d->pool, 1)) < a->n_rows * a->n_head;) {
        const uint32_t r = i / a->n_head, h = i % a->n_head, pos = (uint32_t)at[r];
        const int32_t *run = runs + (int64_t)row_run[r] * MYTH_RUN_WIDTH;
        const struct keys k = {
            .a = a,
            .run = run,
            .gaps = cpu_run_gaps(&a->kv, run),
            .from = a->window && pos + 1 > a->window ? pos + 1 - a->window : 0,
            .last = cpu_run_last(run, pos, a->n_after),
            .head = h / (a->n_head / a->n_head_kv),
            .q = cpu_f32(a->q) + (uint64_t)i * a->head_dim,
        };
        weigh(&k, job->m, cpu_f32(job->m->part) + (uint64_t)i * job->m->n_key, row);
    }
}

static void add_heads(void *arg, int tid, int n_threads)
{
    const struct job *job = arg;
    const struct myth_attn_mass_args *m = job->m;
    uint64_t from, to;
    cpu_split(m->attn.n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++)
        for (uint32_t i = 0; i < m->n_key; i++) {
            const float *part = cpu_f32(m->part) + r * m->attn.n_head * m->n_key + i;
            float sum = 0.0f;
            for (uint32_t h = 0; h < m->attn.n_head; h++)
                sum += part[(uint64_t)h * m->n_key];
            cpu_f32(m->mass)[r * m->n_key + i] += m->scale / (float)m->attn.n_head * sum;
        }
}

void cpu_ref_attn_mass(myth_stream *s, const struct myth_attn_mass_args *m)
{
    struct job job = {cpu_of(s), m};
    cpu_pool_run(job.d->pool, weigh_heads, &job);
    cpu_pool_run_parts(job.d->pool, m->attn.n_rows, add_heads, &job);
}
