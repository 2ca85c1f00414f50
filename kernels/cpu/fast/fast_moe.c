/* fast_moe.c   moe_geglu and moe_down: multiplies the entries of each expert with the expert's matrices, with the
 * products of proj
 *
 * Order      first the rows of all entries are converted, in the order of experts, so that the rows of one expert are
 *            side by side. Then threads take items, an item being FAST_PANEL outputs of one expert, from a counter. The
 *            products of ROWS entries at a time go into a tile, and each row of the tile to the place of its entry
 * Passes     a pass takes as many entries as the workspace holds in converted form. An expert whose entries are in two
 *            passes is read twice, which changes no bits
 * Bits       an output of an entry is the same chain of operations as in proj, in the same kind of step
 * Traffic    the matrices of every expert that has entries, once; each row is converted once per expert that it chose
 * Limit      decode: memory bandwidth. Prefill: the rate of dot products; where a panel of all inputs does not fit its
 *            buffer, weights are unpacked again for every ROWS entries */
#include "fast.h"

#include <string.h>

enum { ROWS = 48 };

struct job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    /* The rows to multiply: entry i has row i / share of src. */
    const float *src;
    uint32_t n_in, share;
    const int32_t *offset, *order;
    /* The n_matrix stacks of matrices: row o of expert e is row e * expert_rows + first_row + o. */
    const struct fast_mat *mat;
    const unsigned char *w[2];
    uint64_t first_row[2], expert_rows;
    size_t w_bytes;
    uint32_t n_matrix, n_out;
    float *dst; /* [n_entry, n_out] */
    bool is_decode;
    /* The present pass: entries order[at0] .. order[at1 - 1], and the experts that have any of them. */
    const struct fast_form *form;
    size_t row_bytes;
    uint32_t at0, at1, n_expert;
    uint16_t expert[MYTH_EXPERT_MAX];
};

static uint32_t at_most(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t at_least(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void rows_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    uint64_t from, to;
    cpu_split(j->at1 - j->at0, 1, tid, n_threads, &from, &to);
    for (uint64_t i = from; i < to; i++)
        j->form->convert(j->d->activations + i * j->row_bytes,
                         j->src + (size_t)((uint32_t)j->order[j->at0 + i] / j->share) * j->n_in, j->n_in);
}

static size_t whole_panel(const struct job *j) { return (size_t)(j->n_in + 31) / 32 * j->mat->panel_bytes; }

/* tile[r * FAST_PANEL + o] = the product of row r of x with row o of w, for n rows and n_out outputs. With is_packed,
 * `panel` already contains all inputs of w; else it is scratch. */
static void multiply(const struct job *j, float *tile, const unsigned char *w, const unsigned char *x, uint32_t n,
                     uint32_t n_out, void *panel, bool is_packed)
{
    if (j->is_decode) {
        j->mat->gemv(tile, FAST_PANEL, w, j->w_bytes, n_out, x, j->row_bytes, n, j->n_in);
        return;
    }
    if (is_packed) {
        j->mat->gemm(tile, FAST_PANEL, n_out, panel, x, j->row_bytes, n, j->n_in, 0, j->n_in);
        return;
    }
    for (uint32_t k0 = 0; k0 < j->n_in; k0 += FAST_KC) {
        uint32_t n_k = at_most(j->n_in - k0, FAST_KC);
        j->mat->pack(panel, w, j->w_bytes, n_out, k0, n_k);
        j->mat->gemm(tile, FAST_PANEL, n_out, panel, x, j->row_bytes, n, j->n_in, k0, n_k);
    }
}

/* Computes the outputs o .. o + n_out - 1 of expert e for all of its entries in the pass. */
static void make_outputs(const struct job *j, uint32_t e, uint32_t o, uint32_t n_out, unsigned char *panel)
{
    float tile[2][ROWS * FAST_PANEL];
    const uint32_t from = at_least((uint32_t)j->offset[e], j->at0), to = at_most((uint32_t)j->offset[e + 1], j->at1);
    const unsigned char *w[2];
    bool is_packed = !j->is_decode && j->n_matrix * whole_panel(j) <= FAST_PANEL_BYTES;
    for (uint32_t m = 0; m < j->n_matrix; m++) {
        w[m] = j->w[m] + (e * j->expert_rows + j->first_row[m] + o) * j->w_bytes;
        if (is_packed)
            j->mat->pack(panel + m * whole_panel(j), w[m], j->w_bytes, n_out, 0, j->n_in);
    }
    for (uint32_t at = from, n; at < to; at += n) {
        n = at_most(to - at, ROWS);
        for (uint32_t m = 0; m < j->n_matrix; m++)
            multiply(j, tile[m], w[m], j->d->activations + (at - j->at0) * j->row_bytes, n, n_out,
                     is_packed ? panel + m * whole_panel(j) : panel, is_packed);
        for (uint32_t r = 0; r < n; r++) {
            float *y = j->dst + (size_t)j->order[at + r] * j->n_out + o;
            if (j->n_matrix == 2)
                j->f->geglu(y, tile[0] + r * FAST_PANEL, tile[1] + r * FAST_PANEL, n_out);
            else
                memcpy(y, tile[0] + r * FAST_PANEL, n_out * sizeof(float));
        }
    }
}

static void product_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    unsigned char *panel = j->d->activations + fast_rows_bytes(&j->d->base.shape) + (size_t)tid * FAST_PANEL_BYTES;
    const uint32_t n_panel = (j->n_out + FAST_PANEL - 1) / FAST_PANEL;
    (void)n_threads;
    for (uint32_t item; (item = cpu_pool_take(j->d->pool, 1)) < j->n_expert * n_panel;) {
        uint32_t o = item % n_panel * FAST_PANEL;
        make_outputs(j, j->expert[item / n_panel], o, at_most(j->n_out - o, FAST_PANEL), panel);
    }
}

static void run(struct job *j, uint32_t n_expert)
{
    const uint32_t n_entry = (uint32_t)j->offset[n_expert];
    j->form = j->is_decode ? j->mat->gemv_form : j->mat->gemm_form;
    j->row_bytes = j->form->bytes(j->n_in);
    const uint32_t fit = (uint32_t)(fast_rows_bytes(&j->d->base.shape) / j->row_bytes);
    for (j->at0 = 0; j->at0 < n_entry; j->at0 = j->at1) {
        j->at1 = j->at0 + at_most(n_entry - j->at0, fit);
        j->n_expert = 0;
        for (uint32_t e = 0; e < n_expert; e++)
            if (at_least((uint32_t)j->offset[e], j->at0) < at_most((uint32_t)j->offset[e + 1], j->at1))
                j->expert[j->n_expert++] = (uint16_t)e;
        cpu_pool_run_parts(j->d->pool, (uint64_t)(j->at1 - j->at0) * j->n_in / 16384, rows_task, j);
        cpu_pool_run(j->d->pool, product_task, j);
    }
}

void fast_moe_geglu(myth_stream *s, const struct myth_moe_geglu_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .src = cpu_f32(a->x),
        .n_in = a->dim,
        .share = a->k,
        .offset = cpu_i32(a->offset),
        .order = cpu_i32(a->order),
        .mat = &f->mat[a->w_gate.dtype],
        .w = {cpu_ptr(a->w_gate), cpu_ptr(a->w_up)},
        .first_row = {0, a->up_row},
        .expert_rows = a->expert_rows,
        .w_bytes = (size_t)myth_row_bytes(a->w_gate.dtype, a->dim),
        .n_matrix = 2,
        .n_out = a->d_ff,
        .dst = cpu_f32(a->h),
        .is_decode = a->is_decode,
    };
    run(&j, a->n_expert);
    cpu_count_experts(s, a->offset, a->n_expert, 2ull * a->d_ff * j.w_bytes);
}

void fast_moe_down(myth_stream *s, const struct myth_moe_down_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .src = cpu_f32(a->h),
        .n_in = a->d_ff,
        .share = 1,
        .offset = cpu_i32(a->offset),
        .order = cpu_i32(a->order),
        .mat = &f->mat[a->w.dtype],
        .w = {cpu_ptr(a->w)},
        .expert_rows = a->dim,
        .w_bytes = (size_t)myth_row_bytes(a->w.dtype, a->d_ff),
        .n_matrix = 1,
        .n_out = a->dim,
        .dst = cpu_f32(a->part),
        .is_decode = a->is_decode,
    };
    run(&j, a->n_expert);
    cpu_pool_run_parts(j.d->pool, (uint64_t)a->n_rows * a->k * a->dim / 4096, cpu_moe_add, (void *)(uintptr_t)a);
    cpu_count_experts(s, a->offset, a->n_expert, (uint64_t)a->dim * j.w_bytes);
}
