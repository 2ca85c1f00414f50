/* bind.c - walks the slot tables of the family once. */
#include "bind.h"

#include "engine/base/map.h"
#include "engine/base/blocks.h"
#include "lora.h"
#include "low_rank.h"

#include <assert.h>

enum { PIECE_BYTES = 4 << 20, PIECE_VALUES = 1024 }; /* 1024 values are whole blocks of every type */

/* How far the matrices are that are written. */
typedef struct {
    const myth_watch *watch;
    uint64_t done, total;
} progress;

typedef struct {
    myth_engine *e;
    myth_part *p;
    progress *loading;
    myth_buf *matrices; /* of the layer under way, when the part has copies */
    myth_buf *experts;  /* of its experts, when these are in host memory: NULL = among the matrices */
    bool is_offloaded;
    unsigned char *held; /* of an offloaded layer of a random: model */
    uint64_t norm_off, matrix_off, expert_off, held_off, adapter_off;
} binder;

/* Elements first .. first + n of the slot's matrix, as floats: n is at most PIECE_VALUES. */
static myth_status read_floats(const binder *b, const myth_slot_src *src, uint64_t first, uint64_t n, float *dst,
                               myth_error *err)
{
    const myth_weights *w = b->e->model->weights;
    if (myth_weights_get_format(w) != MYTH_FORMAT_RANDOM) {
        myth_dequant_row(src->t->dtype, dst, src->data + myth_row_bytes(src->t->dtype, first), n);
        return MYTH_OK;
    }
    _Alignas(8) unsigned char raw[4 * PIECE_VALUES]; /* no type takes more bytes than f32 */
    const myth_status st = myth_weights_random_fill(w, src->t, src->first + first, n, raw, err);
    if (st == MYTH_OK)
        myth_dequant_row(src->t->dtype, dst, raw, n);
    return st;
}

/* Adds what adapters add to elements first .. first + n of the slot's matrix. */
static void add_adapters(const myth_model *m, const char *name, uint64_t cols, uint64_t first, uint64_t n, float *x)
{
    for (uint64_t i = 0, k; i < n; i += k) {
        const uint64_t col = (first + i) % cols, row = (first + i) / cols;
        k = cols - col < n - i ? cols - col : n - i;
        for (uint32_t a = 0; a < m->n_lora; a++)
            myth_lora_add_part(m->lora[a], name, row, col, k, x + i);
    }
}

/* Norms, and small matrices that decide much: f32 among the norms. */
static myth_status bind_f32(binder *b, myth_view *out, const myth_slot *s, uint32_t layer, const myth_slot_src *src,
                            myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    const myth_config *c = &b->e->model->config;
    myth_buf *norms = b->p->buf[MYTH_BUF_norms];
    const uint64_t n = src->rows * src->cols;
    const float plus = c->norm_plus_one && s->form == MYTH_FORM_AUTO ? 1.0f : 0.0f,
                clip = s->form == MYTH_FORM_CLIPPED ? c->altup_clip : 0.0f;
    float part[512];
    myth_slot_names(hf, gguf, s, layer);
    *out = myth_view_at(norms, b->norm_off, MYTH_F32);
    for (uint64_t i = 0, k; i < n; i += k) {
        k = n - i < 512 ? n - i : 512;
        myth_status st = read_floats(b, src, i, k, part, err);
        if (st != MYTH_OK)
            return st;
        if (s->cols != MYTH_DIM_ONE)
            add_adapters(b->e->model, gguf, src->cols, i, k, part);
        for (uint64_t j = 0; j < k; j++) {
            part[j] += plus;
            if (clip > 0.0f)
                part[j] = part[j] > clip ? clip : part[j] < -clip ? -clip : part[j];
        }
        myth_stream_write(b->p->stream, myth_view_at(norms, b->norm_off + 4 * i, MYTH_F32), part, 4 * k);
    }
    b->norm_off += 4 * n;
    return MYTH_OK;
}

/* Rows row0 .. row0 + n of a matrix are written; behind the last one the buffer has a gap. */
static myth_status tell(const binder *b, const myth_slot_src *s, uint64_t row0, uint64_t n, myth_error *err)
{
    const uint64_t row = myth_row_bytes(s->t->dtype, s->cols);
    progress *l = b->loading;
    l->done += row0 + n < s->rows ? n * row : myth_arena_cost(s->bytes) - row0 * row;
    if (myth_watch_tell(l->watch, l->done, l->total))
        return MYTH_OK;
    return myth_fail(err, MYTH_ECANCEL, "cancelled at byte %llu of %llu of the weights", (unsigned long long)l->done,
                     (unsigned long long)l->total);
}

/* Whole rows at a time, from the seed to host memory. */
static myth_status fill_matrix(const binder *b, unsigned char *dst, const myth_slot_src *s, myth_error *err)
{
    myth_status st = MYTH_OK;
    const uint64_t row = myth_row_bytes(s->t->dtype, s->cols), most = row < PIECE_BYTES ? PIECE_BYTES / row : 1;
    for (uint64_t row0 = 0, n; row0 < s->rows && st == MYTH_OK; row0 += n) {
        n = s->rows - row0 < most ? s->rows - row0 : most;
        st = myth_weights_random_fill(b->e->model->weights, s->t, s->first + row0 * s->cols, n * s->cols,
                                      dst + row0 * row, err);
        if (st == MYTH_OK)
            st = tell(b, s, row0, n, err);
    }
    return st;
}

/* Whole rows at a time, from the file or from the seed. */
static myth_status copy_matrix(const binder *b, myth_view dst, const myth_slot_src *s, myth_error *err)
{
    const myth_weights *w = b->e->model->weights;
    bool is_random = myth_weights_get_format(w) == MYTH_FORMAT_RANDOM;
    uint64_t row = myth_row_bytes(s->t->dtype, s->cols),
             piece = is_random ? b->e->layout.host[MYTH_HOST_load] : PIECE_BYTES;
    uint32_t n_total = (uint32_t)s->rows, most = (uint32_t)(piece / row);
    most = most ? most : 1;
    for (uint32_t row0 = 0; row0 < n_total; row0 += most) {
        uint32_t n = n_total - row0 < most ? n_total - row0 : most;
        const unsigned char *src = b->e->host[MYTH_HOST_load];
        if (is_random) {
            myth_status st = myth_weights_random_fill(w, s->t, s->first + row0 * s->cols, n * s->cols,
                                                      b->e->host[MYTH_HOST_load], err);
            if (st != MYTH_OK)
                return st;
        } else {
            src = s->data + row0 * row;
        }
        myth_weight_write(b->p->stream, dst, src, n_total, row0, n, (uint32_t)s->cols);
        if (!is_random && !myth_weights_is_read(w))
            myth_map_let_go(src, n * row);
        const myth_status st = tell(b, s, row0, n, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static myth_status bind_matrix(binder *b, myth_view *out, const myth_slot *slot, const myth_slot_src *s,
                               myth_error *err)
{
    if (b->experts && myth_slot_is_expert(slot)) {
        *out = myth_view_at(b->experts, b->expert_off, s->t->dtype);
        b->expert_off += myth_arena_cost(s->bytes);
        return copy_matrix(b, *out, s, err);
    }
    if (b->p->layout->copies) {
        *out = myth_view_at(b->matrices, b->matrix_off, s->t->dtype);
        b->matrix_off += myth_arena_cost(s->bytes);
        if (b->held)
            return fill_matrix(b, b->held + out->off, s, err);
        if (b->is_offloaded)
            return MYTH_OK; /* written when the layer runs */
        /* what a GPU reads in host memory has the GPU's form */
        unsigned char *host = b->p->layout->is_host ? myth_buf_host(b->matrices) : NULL;
        return host ? fill_matrix(b, host + out->off, s, err) : copy_matrix(b, *out, s, err);
    }
    myth_buf *wrap = b->p->wrapped[s->t->shard];
    const unsigned char *base = myth_buf_host(wrap);
    *out = myth_view_at(wrap, (uint64_t)(s->data - base), s->t->dtype);
    return MYTH_OK;
}

/* ---- adapters ---- */

static void write_piece(binder *b, const float *x, uint64_t n)
{
    myth_stream_write(b->p->stream, myth_view_at(b->p->buf[MYTH_BUF_adapter], b->adapter_off, MYTH_F32), x, 4 * n);
    b->adapter_off += 4 * n;
}

/* Begins a block of n values in the buffer `adapter`. The caller moves adapter_off to its end. */
static myth_view begin_block(const binder *b, uint64_t n, uint64_t *end)
{
    *end = b->adapter_off + myth_arena_cost(4 * n);
    return myth_view_at(b->p->buf[MYTH_BUF_adapter], b->adapter_off, MYTH_F32);
}

/* The matrix itself becomes W + B A, in f32. */
static myth_status bind_sum(binder *b, myth_view *w, const char *name, const myth_slot_src *src, myth_error *err)
{
    const uint64_t n = src->rows * src->cols;
    float piece[PIECE_VALUES];
    uint64_t end;
    *w = begin_block(b, n, &end);
    for (uint64_t i = 0, k; i < n; i += k) {
        k = n - i < PIECE_VALUES ? n - i : PIECE_VALUES;
        const myth_status st = read_floats(b, src, i, k, piece, err);
        if (st != MYTH_OK)
            return st;
        add_adapters(b->e->model, name, src->cols, i, k, piece);
        write_piece(b, piece, k);
    }
    b->adapter_off = end;
    return MYTH_OK;
}

/* The rows of every A, then the columns of every B. */
static void bind_products(binder *b, struct myth_low_rank *low, const char *name, const myth_slot_src *src)
{
    const myth_model *m = b->e->model;
    float piece[PIECE_VALUES];
    low->t = myth_view_at(b->p->buf[MYTH_BUF_low], 0, MYTH_F32);
    for (int half = 0; half < 2; half++) {
        const uint64_t width = half ? src->rows : src->cols;
        uint64_t end;
        *(half ? &low->b : &low->a) = begin_block(b, low->rank * width, &end);
        for (uint32_t a = 0; a < m->n_lora; a++)
            for (uint32_t k = 0; k < myth_lora_rank(m->lora[a], name); k++)
                for (uint64_t i = 0, n; i < width; i += n) {
                    n = width - i < PIECE_VALUES ? width - i : PIECE_VALUES;
                    if (half)
                        myth_lora_column_of_b(m->lora[a], name, k, i, n, piece);
                    else
                        myth_lora_row_of_a(m->lora[a], name, k, i, n, piece);
                    write_piece(b, piece, n);
                }
        b->adapter_off = end;
    }
}

static myth_status bind_adapters(binder *b, myth_view *w, const myth_slot *s, uint32_t layer, const myth_slot_src *src,
                                 myth_error *err)
{
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
    const myth_engine *e = b->e;
    const uint32_t rank = myth_low_rank_cost(e->model, s, layer) ? myth_low_rank_of(e->model, s, layer) : 0;
    const int place = myth_low_rank_place(s);
    if (!rank)
        return MYTH_OK;
    myth_slot_names(hf, gguf, s, layer);
    if (place < 0)
        return bind_sum(b, w, gguf, src, err);
    struct myth_low_rank *low = &e->low[s->place == MYTH_AT_LAYER ? layer : e->model->config.n_layer].m[place];
    low->rank = rank;
    bind_products(b, low, gguf, src);
    return MYTH_OK;
}

/* ---- slots ---- */

/* The tensor is there and of its shape: config_tensors.c checked it. */
static myth_status bind_slot(binder *b, void *into, const myth_slot *s, uint32_t layer, myth_error *err)
{
    const myth_config *c = &b->e->model->config;
    const myth_slot_src src = myth_slot_find(b->e->model->weights, c, s, layer);
    void *at = (char *)into + s->off;
    if (s->form == MYTH_FORM_SCALAR) {
        *(float *)at = 1.0f;
        return src.t ? read_floats(b, &src, 0, 1, at, err) : MYTH_OK;
    }
    if (!myth_slot_is_there(c, s, layer) || (s->form == MYTH_FORM_ROWS && b->e->layout.ple_by_host))
        return MYTH_OK;
    assert(src.t);
    if (myth_slot_is_f32(s))
        return bind_f32(b, at, s, layer, &src, err);
    const myth_status st = bind_matrix(b, at, s, &src, err);
    return st == MYTH_OK ? bind_adapters(b, at, s, layer, &src, err) : st;
}

/* Slots of the model itself, of one place. */
static myth_status bind_model(binder *b, myth_slot_place place, myth_error *err)
{
    const myth_slot *s = myth_family_get(b->e->model->config.family)->model_slots;
    myth_status st = MYTH_OK;
    for (; s && s->hf; s++)
        if (s->place == place)
            MYTH_TRY(bind_slot(b, b->e->w, s, 0, err));
fail:
    return st;
}

/* One buffer over each file's tensors, from the first to the last. */
static myth_status wrap_files(const myth_engine *e, myth_part *p, myth_error *err)
{
    const myth_weights *w = e->model->weights;
    for (uint32_t shard = 0; shard < e->layout.n_shard; shard++) {
        const unsigned char *lo = NULL, *hi = NULL;
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            const unsigned char *data = t->data;
            if (t->shard != shard || !data)
                continue;
            if (!lo || data < lo)
                lo = data;
            if (!hi || data + t->bytes > hi)
                hi = data + t->bytes;
        }
        if (lo) {
            myth_status st = myth_buf_wrap(&p->wrapped[shard], p->dev, lo, (uint64_t)(hi - lo), err);
            if (st != MYTH_OK)
                return st;
        }
    }
    return MYTH_OK;
}

static myth_status bind_part(myth_engine *e, uint32_t i, progress *loading, myth_error *err)
{
    myth_status st = MYTH_OK;
    binder b = {.e = e, .p = &e->part[i], .loading = loading};
    const myth_config *c = &e->model->config;
    const myth_family *f = myth_family_get(c->family);
    bool is_last = i + 1 == e->n_part;
    if (b.p->wrapped)
        MYTH_TRY(wrap_files(e, b.p, err));
    if (i == 0) {
        b.matrices = e->matrix[c->n_layer];
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_EMBED], 0, err));
        e->w->head = e->w->embed;
        MYTH_TRY(bind_model(&b, MYTH_AT_FIRST, err));
    }
    if (is_last) {
        b.matrices = e->matrix[c->n_layer + 1];
        b.matrix_off = 0;
        if (c->has_head) {
            MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_HEAD], 0, err));
        } else if (i > 0) {
            myth_view embed = e->w->embed;
            MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_EMBED], 0, err));
            e->w->head = e->w->embed;
            e->w->embed = embed;
        }
        MYTH_TRY(bind_model(&b, MYTH_AT_LAST, err));
        MYTH_TRY(bind_slot(&b, e->w, &myth_slots_model[MYTH_SLOT_OUTPUT_NORM], 0, err));
    }
    for (uint32_t l = b.p->layout->layer0; l < b.p->layout->layer1; l++) {
        b.is_offloaded = e->layout.offloaded[l] > 0;
        b.matrices = b.is_offloaded ? b.p->slot[(l - b.p->layout->layer0) % 2] : e->matrix[l];
        b.held = b.is_offloaded && b.p->held[0] ? (unsigned char *)b.p->held[0] + b.held_off : NULL;
        b.held_off += e->layout.offloaded[l];
        b.experts = e->expert ? e->expert[l] : NULL;
        b.matrix_off = b.expert_off = 0;
        for (const myth_slot *s = f->slots; s->hf; s++)
            MYTH_TRY(bind_slot(&b, &e->w->layer[l], s, l, err));
    }
    MYTH_TRY(myth_stream_sync(b.p->stream, err));
fail:
    return st;
}

/* What the matrices of part i take where they are written: an offloaded one of a file stays there. */
static uint64_t written_bytes(const myth_engine *e, uint32_t i)
{
    const myth_part *p = &e->part[i];
    uint64_t sum = (i == 0 ? e->layout.first_bytes : 0) + (i + 1 == e->n_part ? e->layout.last_bytes : 0);
    for (uint32_t l = p->layout->layer0; l < p->layout->layer1; l++)
        sum += e->layout.matrix[l] + e->layout.expert[l] + (p->held[0] ? e->layout.offloaded[l] : 0);
    return sum;
}

myth_status myth_bind(myth_engine *e, const myth_watch *watch, myth_error *err)
{
    myth_status st = MYTH_OK;
    progress l = {.watch = watch};
    for (uint32_t i = 0; i < e->n_part; i++)
        l.total += written_bytes(e, i);
    for (uint32_t i = 0; i < e->n_part; i++)
        MYTH_TRY(bind_part(e, i, &l, err));
fail:
    return st;
}

void myth_bind_offloaded(myth_engine *e, myth_part *p, uint32_t l)
{
    const myth_family *f = myth_family_get(e->model->config.family);
    uint64_t held = 0;
    for (uint32_t k = p->layout->layer0; k < l; k++)
        held += e->layout.offloaded[k];
    for (const myth_slot *s = f->slots; s->hf; s++) {
        if (!myth_slot_is_matrix(s) || !myth_slot_is_there(&e->model->config, s, l) ||
            (e->layout.expert[l] && myth_slot_is_expert(s)))
            continue;
        const myth_slot_src from = myth_slot_find(e->model->weights, &e->model->config, s, l);
        const myth_view *view = (const myth_view *)((const char *)&e->w->layer[l] + s->off);
        if (view->buf == p->buf[MYTH_BUF_adapter]) /* a sum, which stays */
            continue;
        const unsigned char *src = p->held[0] ? (const unsigned char *)p->held[0] + held + view->off : from.data;
        uint64_t row = myth_row_bytes(from.t->dtype, from.cols);
        uint32_t n_total = (uint32_t)from.rows, most = row < PIECE_BYTES ? (uint32_t)(PIECE_BYTES / row) : 1;
        for (uint32_t row0 = 0, n; row0 < n_total; row0 += n) {
            n = n_total - row0 < most ? n_total - row0 : most;
            myth_weight_write(p->copier, *view, src + row0 * row, n_total, row0, n, (uint32_t)from.cols);
        }
    }
}
