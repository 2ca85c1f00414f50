/* bind.c - walks the slot tables of the family once. */
#include "bind.h"

#include "base/map.h"
#include "quant.h"

#include <assert.h>

enum { PIECE_BYTES = 4 << 20 };

typedef struct {
    myth_engine *e;
    myth_part *p;
    myth_buf *matrices;                /* of the layer under way, when the part has copies */
    bool is_offloaded;
    unsigned char *held;               /* of an offloaded layer of a random: model */
    uint64_t norm_off, matrix_off, held_off;
} binder;

static myth_status bind_norm(binder *b, myth_view *out, const myth_tensor *t, myth_error *err)
{
    const uint64_t n = t->dim[0];
    const myth_model *m = b->e->model;
    myth_buf *norms = b->p->buf[MYTH_BUF_norms];
    float part[512];
    bool is_random = myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM;
    float plus = m->config.norm_plus_one ? 1.0f : 0.0f;
    *out = myth_view_at(norms, b->norm_off, MYTH_F32);
    for (uint64_t i = 0; i < n; i += 512) {
        uint64_t k = n - i < 512 ? n - i : 512;
        if (is_random) {
            myth_status st = myth_weights_random_fill(m->weights, t, i, k, part, err);
            if (st != MYTH_OK)
                return st;
        } else {
            myth_dequant_row(t->dtype, part, (const unsigned char *)t->data + myth_row_bytes(t->dtype, i), k);
            for (uint64_t j = 0; j < k; j++)
                part[j] += plus;
        }
        myth_stream_write(b->p->stream, myth_view_at(norms, b->norm_off + 4 * i, MYTH_F32), part, 4 * k);
    }
    b->norm_off += 4 * n;
    return MYTH_OK;
}

/* Whole rows at a time, from the file or from the seed. */
static myth_status copy_matrix(binder *b, myth_view dst, const myth_tensor *t, myth_error *err)
{
    const myth_weights *w = b->e->model->weights;
    bool is_random = myth_weights_get_format(w) == MYTH_FORMAT_RANDOM;
    uint64_t row = myth_row_bytes(t->dtype, t->dim[1]), piece = is_random ? b->e->y.host[MYTH_HOST_load] : PIECE_BYTES;
    uint32_t n_total = (uint32_t)t->dim[0], most = (uint32_t)(piece / row);
    most = most ? most : 1;
    for (uint32_t row0 = 0; row0 < n_total; row0 += most) {
        uint32_t n = n_total - row0 < most ? n_total - row0 : most;
        const unsigned char *src = b->e->host[MYTH_HOST_load];
        if (is_random) {
            myth_status st = myth_weights_random_fill(w, t, row0 * t->dim[1], n * t->dim[1], b->e->host[MYTH_HOST_load], err);
            if (st != MYTH_OK)
                return st;
        } else {
            src = (const unsigned char *)t->data + row0 * row;
        }
        myth_weight_write(b->p->stream, dst, src, n_total, row0, n, (uint32_t)t->dim[1]);
        if (!is_random && !myth_weights_is_read(w))
            myth_map_let_go(src, n * row);
    }
    return MYTH_OK;
}

static myth_status bind_matrix(binder *b, myth_view *out, const myth_tensor *t, myth_error *err)
{
    myth_engine *e = b->e;
    if (b->p->y->copies) {
        *out = myth_view_at(b->matrices, b->matrix_off, t->dtype);
        b->matrix_off += myth_arena_cost(t->bytes);
        if (b->held)
            return myth_weights_random_fill(e->model->weights, t, 0, t->dim[0] * t->dim[1], b->held + out->off, err);
        if (b->is_offloaded)
            return MYTH_OK;                                    /* written when the layer runs */
        unsigned char *host = myth_buf_host(b->matrices);
        return host ? myth_weights_random_fill(e->model->weights, t, 0, t->dim[0] * t->dim[1], host + out->off, err)
                    : copy_matrix(b, *out, t, err);
    }
    myth_buf *wrap = b->p->wrapped[t->shard];
    const unsigned char *base = myth_buf_host(wrap);
    *out = myth_view_at(wrap, (uint64_t)((const unsigned char *)t->data - base), t->dtype);
    return MYTH_OK;
}

static myth_status bind_slot(binder *b, void *into, const myth_slot *s, uint32_t layer, myth_error *err)
{
    const myth_tensor *t = myth_slot_tensor(b->e->model->weights, s, layer);        /* there and of this shape: config_tensors.c checked it */
    assert(t);
    myth_view *view = (myth_view *)((char *)into + s->off);
    return s->cols == MYTH_DIM_ONE ? bind_norm(b, view, t, err) : bind_matrix(b, view, t, err);
}

/* One buffer over each file's tensors, from the first to the last. */
static myth_status wrap_files(const myth_engine *e, myth_part *p, myth_error *err)
{
    const myth_weights *w = e->model->weights;
    for (uint32_t shard = 0; shard < e->y.n_shard; shard++) {
        const unsigned char *lo = NULL, *hi = NULL;
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            const unsigned char *data = t->data;
            if (t->shard != shard || !data)
                continue;
            if (!lo || data < lo) lo = data;
            if (!hi || data + t->bytes > hi) hi = data + t->bytes;
        }
        if (lo) {
            myth_status st = myth_buf_wrap(&p->wrapped[shard], p->dev, lo, (uint64_t)(hi - lo), err);
            if (st != MYTH_OK)
                return st;
        }
    }
    return MYTH_OK;
}

static myth_status bind_part(myth_engine *e, uint32_t i, myth_error *err)
{
    myth_status st = MYTH_OK;
    binder b = { .e = e, .p = &e->part[i] };
    const myth_config *c = &e->model->config;
    const myth_family *f = myth_family_get(c->family);
    bool is_last = i + 1 == e->n_part;
    if (b.p->wrapped)
        MYTH_TRY(wrap_files(e, b.p, err));
    if (i == 0) {
        b.matrices = e->matrix[c->n_layer];
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_EMBED], 0, err));
        e->w->head = e->w->embed;
    }
    if (is_last && i > 0) {
        myth_view embed = e->w->embed;
        b.matrices = e->matrix[c->n_layer + 1];
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_EMBED], 0, err));
        e->w->head = e->w->embed;
        e->w->embed = embed;
    }
    if (is_last)
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_OUTPUT_NORM], 0, err));
    for (uint32_t l = b.p->y->layer0; l < b.p->y->layer1; l++) {
        b.is_offloaded = e->y.offloaded[l] > 0;
        b.matrices = b.is_offloaded ? b.p->slot[(l - b.p->y->layer0) % 2] : e->matrix[l];
        b.held = b.is_offloaded && b.p->held[0] ? (unsigned char *)b.p->held[0] + b.held_off : NULL;
        b.held_off += e->y.offloaded[l];
        b.matrix_off = 0;
        for (const myth_slot *s = f->slots; s->hf; s++)
            MYTH_TRY(bind_slot(&b, &e->w->layer[l], s, l, err));
    }
    MYTH_TRY(myth_stream_sync(b.p->stream, err));
fail:
    return st;
}

myth_status myth_bind(myth_engine *e, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < e->n_part; i++)
        MYTH_TRY(bind_part(e, i, err));
fail:
    return st;
}

void myth_bind_offloaded(myth_engine *e, myth_part *p, uint32_t l)
{
    const myth_family *f = myth_family_get(e->model->config.family);
    uint64_t held = 0;
    for (uint32_t k = p->y->layer0; k < l; k++)
        held += e->y.offloaded[k];
    for (const myth_slot *s = f->slots; s->hf; s++) {
        const myth_tensor *t = myth_slot_tensor(e->model->weights, s, l);
        const myth_view *view = (const myth_view *)((const char *)&e->w->layer[l] + s->off);
        if (s->cols == MYTH_DIM_ONE)
            continue;
        const unsigned char *src = p->held[0] ? (const unsigned char *)p->held[0] + held + view->off : t->data;
        uint64_t row = myth_row_bytes(t->dtype, t->dim[1]);
        uint32_t n_total = (uint32_t)t->dim[0], most = row < PIECE_BYTES ? (uint32_t)(PIECE_BYTES / row) : 1;
        for (uint32_t row0 = 0, n; row0 < n_total; row0 += n) {
            n = n_total - row0 < most ? n_total - row0 : most;
            myth_weight_write(p->copier, *view, src + row0 * row, n_total, row0, n, (uint32_t)t->dim[1]);
        }
    }
}
