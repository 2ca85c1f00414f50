/* offload.c - see offload.h. */
#include "offload.h"

#include "engine/base/clock.h"
#include "bind.h"

#include <string.h>

myth_status myth_offload_open(myth_engine *e, myth_part *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_layout_part *layout = p->layout;
    for (uint32_t i = 0; i < layout->n_slot; i++)
        MYTH_TRY(
            myth_buf_open(&p->slot[i], p->dev, myth_layout_slot_class(&e->layout), "slot", layout->slot_bytes[i], err));
    for (int i = 0; i < 2; i++) {
        myth_mem_class cls = myth_layout_held_class(&e->layout, i);
        if (layout->held[i] && !(p->held[i] = myth_host_alloc(p->dev, cls, "held", layout->held[i])))
            return myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes of %s on the host", layout->device,
                             (unsigned long long)layout->held[i], myth_mem_class_name(cls));
    }
    if (layout->n_slot)
        MYTH_TRY(myth_stream_open(&p->copier, p->dev, err));
fail:
    return st;
}

void myth_offload_close(myth_engine *e, myth_part *p)
{
    for (int i = 0; i < 2; i++) {
        myth_buf_close(p->slot[i]);
        myth_host_free(p->dev, myth_layout_held_class(&e->layout, i), p->held[i], p->layout->held[i]);
    }
    myth_stream_close(p->copier);
}

static uint32_t slot_of(const myth_part *p, uint32_t l) { return (l - p->layout->layer0) % 2; }

/* Layer l - 1 was issued: layer l + 1 may have its slot when it is done. Waits until l may have its own; false on a
 * failure. The first layer of a step waits for all of the last step. */
static bool wait_for_slot(myth_part *p, uint32_t l)
{
    const uint64_t mark = myth_stream_mark(p->stream);
    if (l == p->layout->layer0)
        p->slot_mark[0] = p->slot_mark[1] = mark;
    else
        p->slot_mark[slot_of(p, l - 1)] = mark;
    const uint64_t awaited = p->slot_mark[slot_of(p, l)];
    p->is_ahead = awaited < mark;
    return l < p->layout->offload1 && myth_stream_wait(p->stream, awaited, &p->e->first_failure) == MYTH_OK;
}

static void count_in(myth_part *p, uint64_t bytes)
{
    p->moved.in_bytes += bytes;
    p->moved.ahead_bytes += p->is_ahead ? bytes : 0;
}

/* Waits until what was issued to the second stream since `begin` is in the slot. */
static void wait_for_copies(myth_part *p, double begin)
{
    myth_stream_wait(p->copier, myth_stream_mark(p->copier), &p->e->first_failure);
    p->moved.in_s += myth_seconds() - begin;
}

/* ---- weights ---- */

void myth_offload_weights(void *owner, uint32_t l)
{
    myth_part *p = owner;
    if (l > p->layout->offload1 || p->e->first_failure.code != MYTH_OK || !wait_for_slot(p, l))
        return;
    const double begin = myth_seconds();
    myth_bind_offloaded(p->e, p, l);
    count_in(p, p->e->layout.offloaded[l]);
    wait_for_copies(p, begin);
}

/* ---- keys and values ---- */

static bool is_ring(const myth_engine *e, uint32_t l) { return !e->model->config.layer[l].is_global; }

unsigned char *myth_offload_held(const myth_part *p, bool is_ring, int32_t number)
{
    return (unsigned char *)p->held[is_ring] +
           (uint64_t)number * (is_ring ? p->layout->held_ring_bytes : p->layout->held_page_bytes);
}

struct myth_kv_place myth_offload_place(const myth_engine *e, const myth_part *p, uint32_t l)
{
    const myth_layout *layout = &e->layout;
    bool ring = is_ring(e, l);
    uint64_t rings = 8 * (uint64_t)layout->opts.n_seq * layout->n_entry;
    uint32_t source = e->model->config.layer[l].kv_source;
    return (struct myth_kv_place){
        .pool = myth_view_at(p->slot[slot_of(p, l)], 0, layout->opts.type_k),
        .table = myth_part_view(p, MYTH_BUF_table, ring ? rings : 0, MYTH_I32),
        .page_bytes = myth_layout_layer_bytes(layout, &e->model->config, source),
        .page_tok = ring ? layout->ring_tok : layout->page_tok,
        .n_entry = ring ? 1 : layout->n_entry,
        .is_ring = ring,
    };
}

/* Copies one page or ring that layer l reads, its own or another layer's, to l's slot or back. */
static void copy_page(myth_part *p, uint32_t l, int32_t number, bool is_back)
{
    const myth_engine *e = p->e;
    uint64_t bytes = myth_layout_layer_bytes(&e->layout, &e->model->config, l);
    unsigned char *host = myth_offload_held(p, is_ring(e, l), number) + e->layout.layer_off[l];
    myth_view slot = myth_view_at(p->slot[slot_of(p, l)], (uint64_t)number * bytes, MYTH_F32);
    if (is_back) {
        myth_stream_read(p->stream, host, slot, bytes);
        p->moved.out_bytes += bytes;
    } else {
        myth_stream_write(p->copier, slot, host, bytes);
        count_in(p, bytes);
    }
}

/* Before layer l (is_back false): copies in every page, or the ring, of the step's sequences, through the second
 * stream; in host memory their rows are those of the last step. After it: copies back the pages and rings that the step
 * wrote, once the last layer that reads these keys and values is done. */
static void move_rows(myth_part *p, uint32_t l, bool is_back)
{
    const myth_engine *e = p->e;
    const myth_config *c = &e->model->config;
    if (is_back && c->layer[c->layer[l].kv_source].kv_last != l)
        return;
    for (uint32_t i = 0; i < e->idx.n_run; i++) {
        const int32_t *run = e->idx.runs + (size_t)i * MYTH_RUN_WIDTH;
        const myth_kv_rows *r = e->seq[run[MYTH_RUN_SLOT]].kv;
        if ((is_back && run[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL) ||
            (i && run[MYTH_RUN_SLOT] == run[MYTH_RUN_SLOT - MYTH_RUN_WIDTH])) /* several runs of one sequence */
            continue;
        if (is_ring(e, l)) {
            if (r->ring >= 0)
                copy_page(p, l, r->ring, is_back);
            continue;
        }
        for (uint32_t k = 0; k < e->layout.n_entry && r->page[k] >= 0; k++)
            if (!is_back || myth_kv_entry_pos(&e->kv, r, k) + e->layout.page_tok > (uint32_t)run[MYTH_RUN_POS0])
                copy_page(p, l, r->page[k], is_back);
    }
}

void myth_offload_rows(void *owner, uint32_t l)
{
    myth_part *p = owner;
    if (l > p->layout->offload1 || p->e->first_failure.code != MYTH_OK)
        return;
    if (l > p->layout->layer0)
        move_rows(p, l - 1, true);
    if (!wait_for_slot(p, l))
        return;
    const double begin = myth_seconds();
    move_rows(p, l, false);
    wait_for_copies(p, begin);
}

void myth_offload_copy(myth_engine *e, myth_part *p, bool is_ring, int32_t from, int32_t to)
{
    uint64_t bytes = is_ring ? p->layout->held_ring_bytes : p->layout->held_page_bytes;
    if (bytes && myth_stream_sync(p->stream, &e->first_failure) == MYTH_OK)
        memcpy(myth_offload_held(p, is_ring, to), myth_offload_held(p, is_ring, from), (size_t)bytes);
}

myth_offload_counts myth_engine_offload_counts(const myth_engine *e)
{
    myth_offload_counts sum = {0};
    for (uint32_t i = 0; i < e->n_part; i++) {
        sum.in_bytes += e->part[i].moved.in_bytes;
        sum.ahead_bytes += e->part[i].moved.ahead_bytes;
        sum.out_bytes += e->part[i].moved.out_bytes;
        sum.in_s += e->part[i].moved.in_s;
    }
    return sum;
}

/* ---- before a run ---- */

typedef struct {
    const myth_layout *layout;
    const myth_config *c;
    uint32_t n_page;                    /* of the sequence, with the token of the step  */
    double compute[MYTH_LAYER_MAX + 1]; /* seconds of each layer, then those of the head */
} step_shape;

static bool is_moved(const step_shape *s, uint32_t part, uint32_t l) { return l < s->layout->part[part].offload1; }

/* Bytes that layer l waits for. */
static uint64_t bytes_in(const step_shape *s, uint32_t l)
{
    if (s->layout->opts.offload == MYTH_OFFLOAD_WEIGHTS)
        return s->layout->offloaded[l];
    return myth_layout_layer_bytes(s->layout, s->c, l) * (s->c->layer[l].is_global ? s->n_page : 1);
}

/* Bytes that go back behind layer l: the last page, or the ring, when no later layer reads it. */
static uint64_t bytes_back(const step_shape *s, uint32_t l)
{
    const bool is_last = s->c->layer[s->c->layer[l].kv_source].kv_last == l;
    return s->layout->opts.offload == MYTH_OFFLOAD_KV && is_last ? myth_layout_layer_bytes(s->layout, s->c, l) : 0;
}

/* Divides the step's seconds by bytes of weights. Layers of the mapped file have none here, and take the mean. */
static void divide(step_shape *s, double step_s)
{
    const myth_layout *layout = s->layout;
    const uint32_t n_layer = s->c->n_layer;
    double sum = 0, known = 0;
    for (uint32_t l = 0; l < n_layer; l++) {
        s->compute[l] = (double)(layout->matrix[l] + layout->offloaded[l] + layout->expert[l]);
        sum += s->compute[l];
        known += s->compute[l] > 0;
    }
    const double mean = known > 0 ? sum / known : 1;
    s->compute[n_layer] = (double)(layout->n_part > 1 || s->c->has_head ? layout->last_bytes : layout->first_bytes);
    sum = mean * n_layer - mean * known + sum + s->compute[n_layer];
    for (uint32_t l = 0; l <= n_layer; l++)
        s->compute[l] = (s->compute[l] > 0 || l == n_layer ? s->compute[l] : mean) / sum * step_s;
}

myth_status myth_offload_expect(myth_offload_step *out, const myth_model *m, const myth_engine_opts *opts,
                                uint32_t n_tok, double step_s, double link_bytes_s, myth_error *err)
{
    myth_layout layout;
    step_shape s = {.layout = &layout, .c = &m->config};
    *out = (myth_offload_step){0};
    const myth_status st = myth_layout_make(&layout, m, opts, err);
    if (st != MYTH_OK)
        return st;
    s.n_page = n_tok / layout.page_tok + 1;
    s.n_page = s.n_page < layout.n_entry ? s.n_page : layout.n_entry;
    divide(&s, step_s);
    double done = 0;
    for (uint32_t k = 0; k < layout.n_part; k++) {
        double copied = done, before = done; /* the last copy; the layer before the last */
        for (uint32_t l = layout.part[k].layer0; l < layout.part[k].layer1; l++) {
            const bool is_in = is_moved(&s, k, l);
            const uint64_t in = is_in ? bytes_in(&s, l) : 0, back = is_in ? bytes_back(&s, l) : 0;
            if (is_in)
                copied = (copied > before ? copied : before) + (double)in / link_bytes_s;
            before = done;
            done = (is_in && copied > done ? copied : done) + s.compute[l] + (double)back / link_bytes_s;
            out->in_bytes += in;
            out->out_bytes += back;
        }
    }
    out->copy_s = (double)out->in_bytes / link_bytes_s;
    out->seconds = done + s.compute[m->config.n_layer];
    return MYTH_OK;
}
