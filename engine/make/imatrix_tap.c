/* imatrix_tap.c - an observer of the device's ops. A product's matrix is known by its place: the views that binding
 * made. */
#include "imatrix_tap.h"

#include "engine/run/engine_impl.h"
#include "gguf_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const myth_slot *slot;
    uint32_t layer, n_expert;
    uint64_t cols;
    myth_view w;
    double *sum;     /* [n_expert][cols] */
    uint64_t *count; /* [n_expert]       */
} matrix;

struct myth_imatrix_tap {
    myth_engine *e;
    uint32_t n_matrix;
    matrix *m;
    double *sums; /* of all */
    uint64_t *counts;
};

/* ---- sizes ---- */

/* Whether the slot's tensor is a matrix that rows are multiplied with; experts are stacked in a third dimension. */
static bool describe(matrix *out, const myth_model *m, const myth_slot *s, uint32_t layer)
{
    const bool is_there = myth_slot_is_matrix(s) && myth_slot_is_there(&m->config, s, layer);
    const myth_tensor *t = is_there ? myth_slot_find(m->weights, &m->config, s, layer).t : NULL;
    if (!t || t->n_dim < 2)
        return false;
    *out = (matrix){
        .slot = s,
        .layer = layer,
        .n_expert = t->n_dim == 3 ? (uint32_t)t->dim[0] : 1,
        .cols = t->dim[t->n_dim - 1],
    };
    return true;
}

typedef struct {
    uint64_t n_matrix, n_sum, n_count;
} sizes;

static sizes measure(const myth_model *m)
{
    sizes n = {0};
    matrix x;
    for (uint32_t l = 0; l < m->config.n_layer; l++)
        for (const myth_slot *s = myth_family_get(m->config.family)->slots; s->hf; s++)
            if (describe(&x, m, s, l)) {
                n.n_matrix++;
                n.n_sum += x.n_expert * x.cols;
                n.n_count += x.n_expert;
            }
    return n;
}

uint64_t myth_imatrix_tap_bytes(const myth_model *m)
{
    const sizes n = measure(m);
    return sizeof(myth_imatrix_tap) + n.n_matrix * sizeof(matrix) + n.n_sum * sizeof(double) +
           n.n_count * sizeof(uint64_t);
}

uint64_t myth_imatrix_tap_write_bytes(const myth_model *m)
{
    return myth_gguf_bytes((uint32_t)(2 * measure(m).n_matrix));
}

/* ---- what is seen ---- */

static matrix *find(const myth_imatrix_tap *t, myth_view w)
{
    for (uint32_t i = 0; w.buf && i < t->n_matrix; i++)
        if (t->m[i].w.buf == w.buf && t->m[i].w.off == w.off)
            return &t->m[i];
    return NULL;
}

static const float *rows_of(myth_view v)
{
    return (const float *)(const void *)((const unsigned char *)myth_buf_host(v.buf) + v.off);
}

static void add_row(matrix *m, uint32_t expert, const float *x)
{
    double *sum = m->sum + expert * m->cols;
    for (uint64_t c = 0; c < m->cols; c++)
        sum[c] += (double)x[c] * (double)x[c];
    m->count[expert]++;
}

static void add(const myth_imatrix_tap *t, myth_view w, myth_view x, uint32_t n_rows)
{
    matrix *m = find(t, w);
    for (uint32_t r = 0; m && r < n_rows; r++)
        add_row(m, 0, rows_of(x) + r * m->cols);
}

/* Entries by their expert, row entry / per_row of x for each. */
static void add_entries(const myth_imatrix_tap *t, myth_view w, myth_view x, uint32_t per_row, myth_view offset,
                        myth_view order, uint32_t n_expert)
{
    matrix *m = find(t, w);
    const int32_t *from = m ? (const int32_t *)(const void *)rows_of(offset) : NULL,
                  *entry = m ? (const int32_t *)(const void *)rows_of(order) : NULL;
    for (uint32_t e = 0; m && e < n_expert; e++)
        for (int32_t i = from[e]; i < from[e + 1]; i++)
            add_row(m, e, rows_of(x) + (size_t)entry[i] / per_row * m->cols);
}

static void on_op(void *user, int op, const void *args)
{
    const myth_imatrix_tap *t = user;
    if (op == MYTH_OP_proj) {
        const struct myth_proj_args *a = args;
        add(t, a->w, a->x, a->n_rows);
    } else if (op == MYTH_OP_norm_qkv_rope_store) {
        const struct myth_norm_qkv_rope_store_args *a = args;
        add(t, a->w_q, a->xn, a->n_rows);
        add(t, a->w_k, a->xn, a->n_rows);
        add(t, a->w_v, a->xn, a->n_rows);
    } else if (op == MYTH_OP_norm_ffn_geglu) {
        const struct myth_norm_ffn_geglu_args *a = args;
        add(t, a->w_gate, a->xn, a->n_rows);
        add(t, a->w_up, a->xn, a->n_rows);
    } else if (op == MYTH_OP_ple_gate) {
        const struct myth_ple_gate_args *a = args;
        add(t, a->w, a->xn, a->n_rows);
    } else if (op == MYTH_OP_moe_geglu) {
        const struct myth_moe_geglu_args *a = args;
        add_entries(t, a->w_gate, a->x, a->k, a->offset, a->order, a->n_expert);
        if (a->w_up.buf != a->w_gate.buf || a->w_up.off != a->w_gate.off)
            add_entries(t, a->w_up, a->x, a->k, a->offset, a->order, a->n_expert);
    } else if (op == MYTH_OP_moe_down) {
        const struct myth_moe_down_args *a = args;
        add_entries(t, a->w, a->h, 1, a->offset, a->order, a->n_expert);
    }
}

/* ---- open ---- */

void myth_imatrix_tap_close(myth_imatrix_tap *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->e->n_part; i++)
        myth_device_observe(t->e->part[i].dev, NULL, NULL, NULL);
    myth_free(t->e->mem, t->counts);
    myth_free(t->e->mem, t->sums);
    myth_free(t->e->mem, t->m);
    myth_free(t->e->mem, t);
}

static void find_matrices(myth_imatrix_tap *t)
{
    const myth_model *model = t->e->model;
    double *sum = t->sums;
    uint64_t *count = t->counts;
    for (uint32_t l = 0; l < model->config.n_layer; l++)
        for (const myth_slot *s = myth_family_get(model->config.family)->slots; s->hf; s++) {
            matrix *m = &t->m[t->n_matrix];
            if (!describe(m, model, s, l))
                continue;
            m->w = *(const myth_view *)(const void *)((const char *)&t->e->w->layer[l] + s->off);
            m->sum = sum;
            m->count = count;
            sum += m->n_expert * m->cols;
            count += m->n_expert;
            t->n_matrix++;
        }
}

myth_status myth_imatrix_tap_open(myth_imatrix_tap **out, myth_engine *e, myth_error *err)
{
    const sizes n = measure(e->model);
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_imatrix_tap *t = myth_alloc(e->mem, MYTH_MEM_OTHER, "imatrix", sizeof(*t));
    if (!t)
        return myth_fail(err, MYTH_ENOMEM, "no room for an importance matrix");
    t->e = e;
    t->m = myth_alloc_n(e->mem, MYTH_MEM_OTHER, "imatrix", n.n_matrix, sizeof(*t->m));
    t->sums = myth_alloc_n(e->mem, MYTH_MEM_OTHER, "imatrix", n.n_sum, sizeof(*t->sums));
    t->counts = myth_alloc_n(e->mem, MYTH_MEM_OTHER, "imatrix", n.n_count, sizeof(*t->counts));
    if (!t->m || !t->sums || !t->counts)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "no room for an importance matrix of %llu columns",
                           (unsigned long long)n.n_sum));
    find_matrices(t);
    for (uint32_t i = 0; i < e->n_part; i++)
        MYTH_TRY(myth_device_observe(e->part[i].dev, on_op, t, err));
    *out = t;
    return MYTH_OK;
fail:
    myth_imatrix_tap_close(t);
    return st;
}

/* ---- write ---- */

static int name_of(char dst[96], const matrix *m, const char *tail)
{
    return snprintf(dst, 96, "blk.%u.%s%s", m->layer, m->slot->gguf, tail);
}

static myth_status check(const myth_imatrix_tap *t, myth_error *err)
{
    uint64_t n_row = 0;
    for (uint32_t i = 0; i < t->n_matrix; i++) {
        const matrix *m = &t->m[i];
        for (uint64_t c = 0; c < m->n_expert * m->cols; c++)
            if (!(m->sum[c] <= 3e38))
                return myth_fail(err, MYTH_EFORMAT, "blk.%u.%s: what goes into column %llu is not finite", m->layer,
                                 m->slot->gguf, (unsigned long long)c);
        n_row += m->count[0];
    }
    return n_row ? MYTH_OK : myth_fail(err, MYTH_EARG, "importance matrix: nothing was run");
}

static void put_floats(myth_gguf_writer *g, const matrix *m, bool is_count)
{
    const uint64_t n = is_count ? m->n_expert : m->n_expert * m->cols;
    for (uint64_t i = 0; i < n; i++) {
        const float v = is_count ? (float)m->count[i] : (float)m->sum[i];
        myth_gguf_data(g, &v, sizeof(v));
    }
}

myth_status myth_imatrix_tap_write(const myth_imatrix_tap *t, const char *path, uint32_t n_chunk, uint32_t chunk_size,
                                   const char *const *dataset, uint32_t n_dataset, myth_error *err)
{
    myth_gguf_writer *g = NULL;
    char name[96];
    myth_status st = check(t, err);
    if (st == MYTH_OK)
        st = myth_gguf_open(&g, t->e->mem, path, 2 * t->n_matrix, err);
    if (st != MYTH_OK)
        return st;
    myth_gguf_put_str(g, "general.type", (myth_str){"imatrix", 7});
    myth_gguf_put_array(g, "imatrix.datasets", MYTH_GGUF_STRING, n_dataset);
    for (uint32_t i = 0; i < n_dataset; i++)
        myth_gguf_item_str(g, (myth_str){dataset[i], strlen(dataset[i])});
    myth_gguf_put_u32(g, "imatrix.chunk_count", n_chunk);
    myth_gguf_put_u32(g, "imatrix.chunk_size", chunk_size);
    for (uint32_t i = 0; i < 2 * t->n_matrix; i++) {
        const matrix *m = &t->m[i / 2];
        const uint64_t width = i % 2 ? 1 : m->cols, dim[2] = {m->n_expert, width};
        const int len = name_of(name, m, i % 2 ? ".counts" : ".in_sum2");
        const bool is_flat = m->n_expert == 1;
        myth_gguf_declare(g, (myth_str){name, (size_t)len}, MYTH_F32, is_flat ? 1 : 2, is_flat ? dim + 1 : dim);
    }
    for (uint32_t i = 0; i < 2 * t->n_matrix; i++)
        put_floats(g, &t->m[i / 2], i % 2);
    return myth_gguf_close(g, true, err);
}
