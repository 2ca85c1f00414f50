/* bind.c - walks the slot tables of the family once. */
#include "bind.h"

#include "quant.h"

#include <assert.h>
#include <stdio.h>

typedef struct {
    myth_engine *e;
    uint64_t norm_off, matrix_off;
} binder;

static myth_status bind_norm(binder *b, myth_view *out, const myth_tensor *t, myth_error *err)
{
    const uint64_t n = t->dim[0];
    myth_engine *e = b->e;
    float part[512];
    bool is_random = myth_weights_get_format(e->model->weights) == MYTH_FORMAT_RANDOM;
    float plus = e->model->config.norm_plus_one ? 1.0f : 0.0f;
    *out = myth_view_at(e->buf[MYTH_BUF_norms], b->norm_off, MYTH_F32);
    for (uint64_t i = 0; i < n; i += 512) {
        uint64_t m = n - i < 512 ? n - i : 512;
        if (is_random) {
            myth_status st = myth_weights_random_fill(e->model->weights, t, i, m, part, err);
            if (st != MYTH_OK)
                return st;
        } else {
            myth_dequant_row(t->dtype, part, (const unsigned char *)t->data + myth_row_bytes(t->dtype, i), m);
            for (uint64_t j = 0; j < m; j++)
                part[j] += plus;
        }
        myth_stream_write(e->stream, myth_view_at(e->buf[MYTH_BUF_norms], b->norm_off + 4 * i, MYTH_F32), part, 4 * m);
    }
    b->norm_off += 4 * n;
    return MYTH_OK;
}

static myth_status bind_matrix(binder *b, myth_view *out, const myth_tensor *t, myth_error *err)
{
    myth_engine *e = b->e;
    if (myth_weights_get_format(e->model->weights) == MYTH_FORMAT_RANDOM) {
        *out = myth_view_at(e->buf[MYTH_BUF_matrices], b->matrix_off, t->dtype);
        unsigned char *host = myth_buf_host(e->buf[MYTH_BUF_matrices]);
        if (!host)
            return myth_fail(err, MYTH_EUNSUPPORTED, "random: models need a device with host-visible memory");
        b->matrix_off += myth_arena_cost(t->bytes);
        return myth_weights_random_fill(e->model->weights, t, 0, t->dim[0] * t->dim[1], host + out->off, err);
    }
    myth_buf *wrap = e->wrapped[t->shard];
    const unsigned char *base = myth_buf_host(wrap);
    *out = myth_view_at(wrap, (uint64_t)((const unsigned char *)t->data - base), t->dtype);
    return MYTH_OK;
}

static myth_status bind_slot(binder *b, void *into, const myth_slot *s, uint32_t layer, bool is_layer, myth_error *err)
{
    const myth_model *m = b->e->model;
    char hf[128], gguf[128];
    if (is_layer) {
        snprintf(hf, sizeof hf, "layers.%u.%s", layer, s->hf);
        snprintf(gguf, sizeof gguf, "blk.%u.%s", layer, s->gguf);
    } else {
        snprintf(hf, sizeof hf, "%s", s->hf);
        snprintf(gguf, sizeof gguf, "%s", s->gguf);
    }
    const myth_tensor *t = myth_weights_slot(m->weights, hf, gguf);        /* there and of this shape: config_tensors.c checked it */
    assert(t);
    myth_view *view = (myth_view *)((char *)into + s->off);
    return s->cols == MYTH_DIM_ONE ? bind_norm(b, view, t, err) : bind_matrix(b, view, t, err);
}

/* One buffer over each file's tensors, from the first to the last. */
static myth_status wrap_files(myth_engine *e, myth_error *err)
{
    const myth_weights *w = e->model->weights;
    if (myth_weights_get_format(w) == MYTH_FORMAT_RANDOM)
        return MYTH_OK;
    for (uint32_t shard = 0; shard < e->n_wrapped; shard++) {
        const unsigned char *lo = NULL, *hi = NULL;
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            const unsigned char *p = t->data;
            if (t->shard != shard || !p)
                continue;
            if (!lo || p < lo) lo = p;
            if (!hi || p + t->bytes > hi) hi = p + t->bytes;
        }
        if (lo) {
            myth_status st = myth_buf_wrap(&e->wrapped[shard], e->dev, lo, (uint64_t)(hi - lo), err);
            if (st != MYTH_OK)
                return st;
        }
    }
    return MYTH_OK;
}

myth_status myth_bind(myth_engine *e, myth_error *err)
{
    myth_status st = MYTH_OK;
    binder b = { .e = e };
    const myth_config *c = &e->model->config;
    const myth_family *f = myth_family_get(c->family);
    MYTH_TRY(wrap_files(e, err));
    for (int i = 0; i < 2; i++)
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[i], 0, false, err));
    for (uint32_t l = 0; l < c->n_layer; l++)
        for (const myth_slot *s = f->slots; s->hf; s++)
            MYTH_TRY(bind_slot(&b, &e->w->layer[l], s, l, true, err));
    MYTH_TRY(myth_stream_sync(e->stream, err));
fail:
    return st;
}
