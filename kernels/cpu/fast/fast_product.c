/* fast_product.c   the ops around matrix products: proj, norm_qkv_rope_store, norm_ffn_geglu, ple_gate
 *
 * Order      first the rows are normed and converted to the form that the weights need. Then threads take work items
 *            from a counter: in prefill a panel of FAST_PANEL outputs for a share of the rows, in decode a long run of
 *            outputs for all rows, with shorter runs towards the end. Last comes what the op does with its outputs
 * Rows       as many at a time as fit the workspace in converted form; a second pass is rare and changes no bits
 * Work       the workspace `activations` holds the converted rows, then a panel per thread, in decode its turned rows
 * Limit      prefill: the rate of dot products; the weights are unpacked once per share of rows. Decode: memory
 *            bandwidth. A single row is normed and converted on the calling thread, because to start the pool once more
 *            would take longer */
#include "fast.h"

#include <string.h>

enum { UNIT_DECODE = 16, RUN_BYTES = 16384, PANEL_BYTES = FAST_PANEL_BYTES, ROWS_SHARE = 64, ROWS_PAIR = 48 };

struct product {
    const struct fast_mat *mat;
    const struct fast_tiled *tiled;
    const unsigned char *w;
    size_t row_bytes, ldy;
    float *y;
    uint32_t n_out;
};

struct job {
    struct cpu_device *d;
    const struct fast_kernels *f;
    /* xn holds the rows to multiply. When x is set, they are computed from it first (norm_row) */
    float *x, *xn;
    const float *pend, *w_post, *w_norm;
    uint32_t n_rows, n_in;
    float eps, x_scale;
    /* the rows that are converted at present: row0 .. row0 + n_now - 1 */
    const struct fast_form *form;
    unsigned char *rows, *panels;
    size_t row_bytes;
    uint32_t row0, n_now;
    bool is_fresh; /* xn is still to be computed from x */
    /* outputs */
    struct product p[3];
    uint32_t n_product, n_share; /* n_share: number of parts of the rows in prefill */
    bool is_decode, is_pair;     /* is_pair: gelu(p[0]) * p[1] replaces p[0] */
};

static uint32_t at_most(uint32_t a, uint32_t b) { return a < b ? a : b; }

size_t fast_rows_bytes(const myth_work_shape *s)
{
    uint64_t heads = (uint64_t)s->n_head * s->head_dim, width = s->d_model > s->d_ff ? s->d_model : s->d_ff;
    uint32_t n_rows = s->n_rows > s->n_logit_rows ? s->n_rows : s->n_logit_rows;
    width = width > heads ? width : heads;
    /* there must be room for one row of the widest form, and for one of the form with the largest unit */
    uint64_t row = (width + 127) / 128 * 128 * 2, least = (width + 31) / 32 * 128;
    least = least > FAST_UNIT_BYTES ? least : FAST_UNIT_BYTES;
    return (size_t)(n_rows * row > least ? n_rows * row : least);
}

size_t fast_product_bytes(const myth_work_shape *shape, int n_threads)
{
    return fast_rows_bytes(shape) + (size_t)n_threads * PANEL_BYTES;
}

/* ---- rows ---- */

static void make_rows(const struct job *j, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t r = j->row0 + i;
        float *xn = j->xn + (size_t)r * j->n_in;
        if (j->is_fresh && j->x)
            j->f->norm_row(xn, j->x + (size_t)r * j->n_in, j->pend ? j->pend + (size_t)r * j->n_in : NULL, j->w_post,
                           j->x_scale, j->w_norm, j->n_in, j->eps, true);
        j->form->convert(j->rows + i * j->row_bytes, xn, j->n_in);
    }
}

static void rows_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    uint64_t from, to;
    cpu_split(j->n_now, 1, tid, n_threads, &from, &to);
    make_rows(j, (uint32_t)from, (uint32_t)to);
}

/* ---- products ---- */

/* Multiplies the converted rows [r0, r0 + n) with outputs [o, o + n_out) of p. room: in prefill the thread's panel, in
 * decode, where the rows are all rows, its struct fast_rows. */
static void multiply(const struct job *j, const struct product *p, uint32_t o, uint32_t n_out, uint32_t r0, uint32_t n,
                     void *room)
{
    const unsigned char *w = p->w + o * p->row_bytes, *x = j->rows + r0 * j->row_bytes;
    float *y = p->y + (size_t)(j->row0 + r0) * p->ldy + o;
    if (j->is_decode) {
        fast_gemv(room, p->mat, p->tiled, y, p->ldy, w, p->row_bytes, n_out);
        return;
    }
    for (uint32_t k0 = 0; k0 < j->n_in; k0 += FAST_KC) {
        uint32_t n_k = at_most(j->n_in - k0, FAST_KC);
        p->mat->pack(room, w, p->row_bytes, n_out, k0, n_k);
        p->mat->gemm(y, p->ldy, n_out, room, x, j->row_bytes, n, j->n_in, k0, n_k);
    }
}

/* Whether a thread's buffer can hold the panels of both products at once, for whole rows. */
static bool fits_pair(const struct job *j)
{
    return (size_t)(j->n_in + 31) / 32 * (j->p[0].mat->panel_bytes + j->p[1].mat->panel_bytes) <= PANEL_BYTES;
}

/* h = gelu(gate) * up for outputs [o, o + n_out). A few rows of both products are computed at a time, so that they are
 * still in L1 when they are multiplied. */
static void multiply_pair(const struct job *j, uint32_t o, uint32_t n_out, uint32_t r0, uint32_t n,
                          unsigned char *panel)
{
    float tile[2][ROWS_PAIR * FAST_PANEL];
    const struct product *p = j->p;
    unsigned char *const panels[2] = {panel, panel + (size_t)(j->n_in + 31) / 32 * p[0].mat->panel_bytes};
    for (int i = 0; i < 2; i++)
        p[i].mat->pack(panels[i], p[i].w + o * p[i].row_bytes, p[i].row_bytes, n_out, 0, j->n_in);
    for (uint32_t r = r0, m; r < r0 + n; r += m) {
        m = at_most(r0 + n - r, ROWS_PAIR);
        for (int i = 0; i < 2; i++)
            p[i].mat->gemm(tile[i], FAST_PANEL, n_out, panels[i], j->rows + r * j->row_bytes, j->row_bytes, m, j->n_in,
                           0, j->n_in);
        for (uint32_t t = 0; t < m; t++)
            j->f->geglu(p->y + (size_t)(j->row0 + r + t) * p->ldy + o, tile[0] + t * FAST_PANEL,
                        tile[1] + t * FAST_PANEL, n_out);
    }
}

/* Computes outputs [o, o + n_out) of product i; in a pair, those of both products and their gelu(p[0]) * p[1]. room: as
 * of multiply. */
static void make_outputs(const struct job *j, uint32_t i, uint32_t o, uint32_t n_out, uint32_t r0, uint32_t n,
                         void *room)
{
    const struct product *p = &j->p[i];
    if (j->is_pair && !j->is_decode && fits_pair(j)) {
        multiply_pair(j, o, n_out, r0, n, room);
        return;
    }
    multiply(j, p, o, n_out, r0, n, room);
    if (!j->is_pair)
        return;
    multiply(j, p + 1, o, n_out, r0, n, room);
    for (uint32_t r = r0; r < r0 + n; r++) {
        size_t off = (size_t)(j->row0 + r) * p->ldy + o;
        j->f->geglu(p->y + off, p->y + off, p[1].y + off, n_out);
    }
}

static const struct fast_form *form_of(const struct job *j, const struct product *p)
{
    return j->is_decode ? p->mat->gemv_form : p->mat->gemm_form;
}

/* The number of items of `size` outputs that product i has, or 0 if it needs rows in another form. */
static uint32_t count_items(const struct job *j, uint32_t i, uint32_t size)
{
    return form_of(j, &j->p[i]) == j->form ? (j->p[i].n_out + size - 1) / size : 0;
}

static void prefill_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    const uint32_t share = (j->n_now + j->n_share - 1) / j->n_share;
    void *panel = j->panels + (size_t)tid * PANEL_BYTES;
    (void)n_threads;
    uint32_t at = 0, i = 0; /* at: number of product i's first item */
    for (uint32_t item = cpu_pool_take(j->d->pool, 1); i < j->n_product;) {
        uint32_t n = count_items(j, i, FAST_PANEL) * j->n_share;
        if (item >= at + n) {
            at += n;
            i++;
            continue;
        }
        uint32_t o = (item - at) / j->n_share * FAST_PANEL, r0 = (item - at) % j->n_share * share;
        if (r0 < j->n_now)
            make_outputs(j, i, o, at_most(j->p[i].n_out - o, FAST_PANEL), r0, at_most(j->n_now - r0, share), panel);
        item = cpu_pool_take(j->d->pool, 1);
    }
}

/* Each turn takes a run of units of UNIT_DECODE outputs. Its length is a share of what seemed left at the last turn:
 * long runs at first, so that memory is read in long streams, and short ones at last, so that the threads end
 * together. */
static void decode_task(void *arg, int tid, int n_threads)
{
    const struct job *j = arg;
    uint32_t total = 0;
    const struct fast_tiled *tiled = NULL; /* products of one form have tiles of one form */
    for (uint32_t i = 0; i < j->n_product; i++) {
        const uint32_t n_unit = count_items(j, i, UNIT_DECODE);
        total += n_unit;
        tiled = n_unit && j->p[i].tiled ? j->p[i].tiled : tiled;
    }
    struct fast_rows rows = fast_turn_rows(tiled, j->panels + (size_t)tid * PANEL_BYTES, PANEL_BYTES, j->rows,
                                           j->row_bytes, j->n_now, j->n_in);
    const uint32_t least = (uint32_t)(RUN_BYTES / (UNIT_DECODE * j->p[0].row_bytes)) + 1;
    for (uint32_t first = 0, n;; first += n) {
        n = (total - at_most(first, total)) / (2 * (uint32_t)n_threads);
        n = n > least ? n : least;
        first = cpu_pool_take(j->d->pool, n);
        if (first >= total)
            return;
        for (uint32_t i = 0, at = 0; i < j->n_product; i++) {
            uint32_t n_unit = count_items(j, i, UNIT_DECODE), from = first > at ? first - at : 0;
            uint32_t to = first + n > at ? at_most(first + n - at, n_unit) : 0;
            if (from < to)
                make_outputs(j, i, from * UNIT_DECODE, at_most(to * UNIT_DECODE, j->p[i].n_out) - from * UNIT_DECODE, 0,
                             j->n_now, &rows);
            at += n_unit;
        }
    }
}

/* Converts all rows to j->form and multiplies them with every product that needs this form. Both products of a pair
 * always need the same. */
static void run_form(struct job *j)
{
    uint64_t n_panel = 0;
    int n_threads = cpu_pool_n_threads(j->d->pool);
    for (uint32_t i = 0; i < j->n_product; i++)
        n_panel += (j->p[i].n_out + FAST_PANEL - 1) / FAST_PANEL;
    j->row_bytes = j->form->bytes(j->n_in);
    uint32_t fit = (uint32_t)(fast_rows_bytes(&j->d->base.shape) / j->row_bytes);
    for (j->row0 = 0; j->row0 < j->n_rows; j->row0 += j->n_now) {
        j->n_now = at_most(j->n_rows - j->row0, fit);
        if (j->n_now == 1)
            make_rows(j, 0, 1);
        else
            cpu_pool_run(j->d->pool, rows_task, j);
        j->n_share = 1; /* where panels are too few for the threads, split the rows too */
        while (!j->is_decode && n_panel * j->n_share < 4u * (uint32_t)n_threads &&
               j->n_now / (j->n_share + 1) >= ROWS_SHARE)
            j->n_share++;
        cpu_pool_run(j->d->pool, j->is_decode ? decode_task : prefill_task, j);
    }
    j->is_fresh = false;
}

static void run(struct job *j)
{
    j->panels = j->d->activations + fast_rows_bytes(&j->d->base.shape);
    j->rows = j->d->activations;
    j->is_fresh = true;
    for (uint32_t i = 0; i < j->n_product; i++) {
        bool is_done = false; /* an earlier product needed the same form, and run_form did both */
        j->form = form_of(j, &j->p[i]);
        for (uint32_t e = 0; e < i; e++)
            is_done = is_done || form_of(j, &j->p[e]) == j->form;
        if (!is_done)
            run_form(j);
    }
}

static struct product product(const struct fast_kernels *f, myth_view w, uint32_t n_in, float *y, size_t ldy,
                              uint32_t n_out)
{
    struct product p = {
        .mat = &f->mat[w.dtype],
        .tiled = f->tiled[w.dtype],
        .w = cpu_ptr(w),
        .row_bytes = (size_t)myth_row_bytes(w.dtype, n_in),
        .ldy = ldy,
        .y = y,
        .n_out = n_out,
    };
    return p;
}

/* ---- ops ---- */

void fast_proj(myth_stream *s, const struct myth_proj_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .xn = cpu_f32(a->x),
        .n_rows = a->n_rows,
        .n_in = a->n_in,
        .is_decode = a->is_decode,
        .n_product = 1,
    };
    j.p[0] = product(f, a->w, a->n_in, cpu_f32(a->y), a->n_out, a->n_out);
    run(&j);
}

/* The weights of the norm of values, which has none. */
#define ONES_8   1, 1, 1, 1, 1, 1, 1, 1
#define ONES_64  ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8
#define ONES_512 ONES_64, ONES_64, ONES_64, ONES_64, ONES_64, ONES_64, ONES_64, ONES_64
static const float ones[MYTH_V_NORM_MAX] = {ONES_512, ONES_512};

struct store {
    const struct myth_norm_qkv_rope_store_args *a;
    const struct fast_kernels *f;
};

static void store_task(void *arg, int tid, int n_threads)
{
    const struct myth_norm_qkv_rope_store_args *a = ((const struct store *)arg)->a;
    const struct fast_kernels *f = ((const struct store *)arg)->f;
    const size_t hd = a->head_dim;
    const float *q = cpu_f32(a->qkv), *k = q + (size_t)a->n_rows * a->n_head * hd,
                *v = k + (size_t)a->n_rows * a->n_head_kv * hd;
    const float *rope = cpu_f32(a->rope), *n_q = cpu_f32(a->n_q), *n_k = cpu_f32(a->n_k);
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        for (uint32_t h = 0; h < a->n_head; h++) {
            size_t at = (r * a->n_head + h) * hd;
            f->head_rope(cpu_f32(a->q) + at, q + at, n_q, rope + r * hd, a->head_dim, a->eps, a->q_scale);
        }
        for (uint32_t h = 0; a->v_new.buf && h < a->n_head_kv; h++) {
            size_t at = (r * a->n_head_kv + h) * hd;
            uint64_t row = (uint64_t)h * a->cap_rows + r;
            float *head = (float *)(uintptr_t)(k + at),
                  *val = a->w_v.buf ? (float *)(uintptr_t)(v + at) : head; /* the op may overwrite qkv */
            if (a->has_v_norm) {
                float *normed = (float *)(uintptr_t)(v + at);
                f->norm_row(normed, val, NULL, NULL, 0.0f, ones, a->head_dim, a->eps, false);
                val = normed;
            }
            f->row_from_f32((unsigned char *)cpu_ptr(a->v_new) + row * myth_row_bytes(a->v_new.dtype, hd),
                            a->v_new.dtype, val, a->head_dim);
            if (!a->k_new.buf)
                continue; /* attention computes the keys from the values */
            f->head_rope(head, head, n_k, rope + r * hd, a->head_dim, a->eps, 1.0f);
            f->row_from_f32((unsigned char *)cpu_ptr(a->k_new) + row * myth_row_bytes(a->k_new.dtype, hd),
                            a->k_new.dtype, head, a->head_dim);
        }
    }
}

void fast_qkv_rope_store(myth_stream *s, const struct myth_qkv_rope_store_args *a, const struct fast_kernels *f)
{
    const struct myth_norm_qkv_rope_store_args whole = {
        .w_v = a->v_is_k ? (myth_view){0} : a->qkv, /* only whether it is given is asked */
        .n_q = a->n_q,
        .n_k = a->n_k,
        .rope = a->rope,
        .qkv = a->qkv,
        .q = a->q,
        .k_new = a->k_new,
        .v_new = a->v_new,
        .n_rows = a->n_rows,
        .cap_rows = a->cap_rows,
        .n_head = a->n_head,
        .n_head_kv = a->n_head_kv,
        .head_dim = a->head_dim,
        .eps = a->eps,
        .q_scale = a->q_scale,
        .has_v_norm = a->has_v_norm,
    };
    struct store st = {&whole, f};
    fast_over_rows(s, a->n_rows, store_task, &st);
}

void fast_norm_qkv_rope_store(myth_stream *s, const struct myth_norm_qkv_rope_store_args *a,
                              const struct fast_kernels *f)
{
    const uint32_t n_q = a->n_head * a->head_dim, n_kv = a->n_head_kv * a->head_dim;
    float *q = cpu_f32(a->qkv), *k = q + (size_t)a->n_rows * n_q, *v = k + (size_t)a->n_rows * n_kv;
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .x = cpu_f32(a->x),
        .xn = cpu_f32(a->xn),
        .pend = cpu_f32(a->pend),
        .w_post = cpu_f32(a->w_post),
        .w_norm = cpu_f32(a->w_in),
        .n_rows = a->n_rows,
        .n_in = a->dim,
        .eps = a->eps,
        .x_scale = a->x_scale,
        .is_decode = a->is_decode,
    };
    j.p[j.n_product++] = product(f, a->w_q, a->dim, q, n_q, n_q);
    if (a->w_k.buf)
        j.p[j.n_product++] = product(f, a->w_k, a->dim, k, n_kv, n_kv);
    if (a->w_v.buf)
        j.p[j.n_product++] = product(f, a->w_v, a->dim, v, n_kv, n_kv);
    run(&j);
    struct store st = {a, f};
    fast_over_rows(s, a->n_rows, store_task, &st);
}

void fast_norm_ffn_geglu(myth_stream *s, const struct myth_norm_ffn_geglu_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .x = cpu_f32(a->x),
        .xn = cpu_f32(a->xn),
        .pend = cpu_f32(a->pend),
        .w_post = cpu_f32(a->w_post),
        .w_norm = cpu_f32(a->w),
        .n_rows = a->n_rows,
        .n_in = a->dim,
        .eps = a->eps,
        .x_scale = a->x_scale,
        .is_decode = a->is_decode,
    };
    float *h = cpu_f32(a->h), *up = cpu_f32(a->up);
    j.p[0] = product(f, a->w_gate, a->dim, h, a->d_ff, a->d_ff);
    j.p[1] = product(f, a->w_up, a->dim, up, a->d_ff, a->d_ff);
    j.is_pair = form_of(&j, &j.p[0]) == form_of(&j, &j.p[1]);
    j.n_product = j.is_pair ? 1 : 2;
    run(&j);
    if (!j.is_pair)
        f->geglu(h, h, up, (size_t)a->n_rows * a->d_ff);
}

struct gate {
    const struct myth_ple_gate_args *a;
    const struct fast_kernels *f;
};

static void gate_task(void *arg, int tid, int n_threads)
{
    const struct myth_ple_gate_args *a = ((const struct gate *)arg)->a;
    uint64_t from, to;
    cpu_split(a->n_rows, 1, tid, n_threads, &from, &to);
    for (uint64_t r = from; r < to; r++) {
        float *h = cpu_f32(a->h) + r * a->n_ple;
        ((const struct gate *)arg)->f->geglu(h, h, cpu_f32(a->p) + r * a->p_stride, a->n_ple);
    }
}

void fast_ple_gate(myth_stream *s, const struct myth_ple_gate_args *a, const struct fast_kernels *f)
{
    struct job j = {
        .d = cpu_of(s),
        .f = f,
        .x = a->pend.buf ? cpu_f32(a->x) : NULL,
        .xn = cpu_f32(a->pend.buf ? a->xn : a->x),
        .pend = cpu_f32(a->pend),
        .w_post = cpu_f32(a->w_post),
        .n_rows = a->n_rows,
        .n_in = a->dim,
        .eps = a->eps,
        .is_decode = a->is_decode,
        .n_product = 1,
    };
    j.p[0] = product(f, a->w, a->dim, cpu_f32(a->h), a->n_ple, a->n_ple);
    run(&j);
    struct gate g = {a, f};
    cpu_pool_run_parts(j.d->pool, (uint64_t)a->n_rows * a->n_ple / 4096, gate_task, &g);
}

void fast_work(cpu_work_bytes *out, const myth_work_shape *shape, int n_threads)
{
    out->activations = fast_product_bytes(shape, n_threads);
    out->attn_scratch = fast_attn_bytes(shape, n_threads);
    out->logits = fast_head_bytes(shape, n_threads);
}
