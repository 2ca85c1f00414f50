/* part.c - opens a part of the engine: its device, its buffers, and the views of them that every step uses.
 *
 * Views are made once, at open: a step's arrays keep their places, so that a recorded step can be replayed. */
#include "offload.h"

#include <math.h>

/* Where the rows of a layer are kept on its part's device, or in host memory when they are offloaded. */
static struct myth_kv_place place_of(const myth_engine *e, const myth_part *p, uint32_t layer)
{
    const myth_layout *layout = &e->layout;
    const int buf = myth_layout_kv_buf(p->layout, &e->model->config, layer);
    const bool is_ring = buf == MYTH_BUF_kv_local;
    if (layout->opts.offload == MYTH_OFFLOAD_KV && layer < p->layout->offload1)
        return myth_offload_place(e, p, layer);
    uint64_t rings = 8 * (uint64_t)layout->opts.n_seq * layout->n_entry; /* the ring table follows the page table */
    return (struct myth_kv_place){
        .pool = myth_part_view(p, buf, 0, layout->opts.type_k), /* or none */
        .table = myth_part_view(p, MYTH_BUF_table, is_ring ? rings : 0, MYTH_I32),
        .page_bytes = myth_layout_kv_bytes(p->layout, buf),
        .layer_off = layout->layer_off[layer],
        .page_tok = is_ring ? layout->ring_tok : layout->page_tok,
        .n_entry = is_ring ? 1 : layout->n_entry,
        .is_ring = is_ring,
    };
}

/* The rotations of every position that a context without gaps has, as rope_table makes them. */
static void write_key_table(const myth_engine *e, const myth_part *p)
{
    const myth_config *c = &e->model->config;
    enum { PAIR_MAX = 512, PIECE = 4096 }; /* pairs of one write */
    const uint32_t n_pair = c->rope_pairs_global, n = n_pair ? p->step.n_key_table : 0, most = n ? PIECE / n_pair : 1;
    float pair[2 * PIECE];
    double freq[PAIR_MAX] = {0};
    for (uint32_t i = 0; i < n_pair && n; i++)
        freq[i] = pow(c->rope_base_global, -2.0 * (double)i / c->head_dim_global) / c->rope_factor_global;
    for (uint32_t first = 0, k; first < n; first += k) {
        k = n - first < most ? n - first : most;
        for (uint32_t i = 0; i < k * n_pair; i++) {
            const uint32_t row = first + i / n_pair;
            const double angle = row * freq[i % n_pair];
            pair[2 * i] = (float)cos(angle);
            pair[2 * i + 1] = (float)sin(angle);
        }
        myth_stream_write(p->stream, myth_view_at(p->step.key_table.buf, 8 * (uint64_t)first * n_pair, MYTH_F32), pair,
                          8 * (uint64_t)k * n_pair);
    }
}

/* Places an array of the index buffer; a model or an engine that has no such array gives an empty view. */
static myth_view index_view(const myth_engine *e, const myth_part *p, int array)
{
    const uint64_t *at = e->layout.index_at;
    return at[array] == at[array + 1] ? (myth_view){0} : myth_part_view(p, MYTH_BUF_index, 4 * at[array], MYTH_I32);
}

void myth_part_prepare_step(myth_engine *e, myth_part *p)
{
    const myth_config *c = &e->model->config;
    uint64_t rows = e->layout.opts.n_ubatch, half_k = p->layout->buf[MYTH_BUF_k_new],
             half_v = p->layout->buf[MYTH_BUF_v_new];
    const uint64_t n_used = rows * c->n_expert_used;
    p->index = (myth_index_views){
#define INDEX(name) .name = index_view(e, p, MYTH_INDEX_##name),
        MYTH_INDEX_ARRAYS(INDEX)
#undef INDEX
    };
    p->step = (myth_step){
        .s = p->stream,
        .c = c,
        .w = e->w,
        .low = e->low,
        .is_exact = e->layout.opts.is_exact,
        .cap_rows = (uint32_t)rows,
        .layer0 = p->layout->layer0,
        .layer1 = p->layout->layer1,
        .x = myth_part_view(p, MYTH_BUF_x, 0, MYTH_F32),
        .branch = myth_part_view(p, MYTH_BUF_branch, 0, MYTH_F32),
        .xn = myth_part_view(p, MYTH_BUF_xn, 0, MYTH_F32),
        .qkv = myth_part_view(p, MYTH_BUF_qkv, 0, MYTH_F32),
        .q = myth_part_view(p, MYTH_BUF_q, 0, MYTH_F32),
        .o = myth_part_view(p, MYTH_BUF_o, 0, MYTH_F32),
        .up = myth_part_view(p, MYTH_BUF_up, 0, MYTH_F32),
        .h = myth_part_view(p, MYTH_BUF_h, 0, MYTH_F32),
        .k_new = myth_part_view(p, MYTH_BUF_k_new, 0, e->layout.opts.type_k),
        .v_new = myth_part_view(p, MYTH_BUF_v_new, 0, e->layout.opts.type_v),
        .k_shared = {myth_part_view(p, MYTH_BUF_k_shared, 0, e->layout.opts.type_k),
                     myth_part_view(p, MYTH_BUF_k_shared, half_k, e->layout.opts.type_k)},
        .v_shared = {myth_part_view(p, MYTH_BUF_v_shared, 0, e->layout.opts.type_v),
                     myth_part_view(p, MYTH_BUF_v_shared, half_v, e->layout.opts.type_v)},
        .ple = myth_part_view(p, MYTH_BUF_ple, 0, MYTH_F32),
        .ple_rows = myth_part_view(p, MYTH_BUF_ple_rows, 0, MYTH_F32),
        .altup = myth_part_view(p, MYTH_BUF_altup, 0, MYTH_F32),
        .moe_logits = myth_part_view(p, MYTH_BUF_moe_logits, 0, MYTH_F32),
        .moe_weight = myth_part_view(p, MYTH_BUF_moe_weight, 0, MYTH_F32),
        .moe_id = myth_part_view(p, MYTH_BUF_moe_index, 0, MYTH_I32),
        .moe_order = myth_part_view(p, MYTH_BUF_moe_index, 4 * n_used, MYTH_I32),
        .moe_offset = myth_part_view(p, MYTH_BUF_moe_index, 8 * n_used, MYTH_I32),
        .moe_h = myth_part_view(p, MYTH_BUF_moe_h, 0, MYTH_F32),
        .moe_part = myth_part_view(p, MYTH_BUF_moe_part, 0, MYTH_F32),
        .moe_y = myth_part_view(p, MYTH_BUF_moe_y, 0, MYTH_F32),
        .keep_rows = p->index.keep,
        .keep_pos = p->index.keep_pos,
        .keep_row_run = p->index.keep_row_run,
        .keep = e->idx.keep,
        .ids = p->index.id,
        .key_table = myth_part_view(p, MYTH_BUF_key_table, 0, MYTH_F32),
        .n_key_table = p->layout->buf[MYTH_BUF_key_table] ? e->layout.opts.n_ctx : 0,
        .rope_local = myth_part_view(p, MYTH_BUF_rope_local, 0, MYTH_F32),
        .rope_global = myth_part_view(p, MYTH_BUF_rope_global, 0, MYTH_F32),
        .mass = myth_part_view(p, MYTH_BUF_mass, 0, MYTH_F32),
        .mass_part = myth_part_view(p, MYTH_BUF_mass, 4 * (uint64_t)e->layout.opts.n_logit_rows * e->layout.opts.n_mass,
                                    MYTH_F32),
        .pos = p->index.pos,
        .row_run = p->index.row_run,
        .runs = p->index.runs,
    };
    for (uint32_t l = p->layout->layer0; l < p->layout->layer1; l++) {
        p->step.kv[l] = place_of(e, p, l);
        p->step.folds[l] = myth_layout_folds(&e->layout, c, l);
    }
    write_key_table(e, p);
    if (p->layout->n_slot) {
        p->step.before_layer = e->layout.opts.offload == MYTH_OFFLOAD_KV ? myth_offload_rows : myth_offload_weights;
        p->step.owner = p;
    }
}

myth_status myth_part_open(myth_engine *e, uint32_t i, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_part *p = &e->part[i];
    myth_device_opts dev = myth_layout_device(&e->layout, i);
    MYTH_TRY(myth_device_open(&p->dev, e->mem, &dev, err));
    MYTH_TRY(myth_device_reserve(p->dev, &p->layout->work, err));
    MYTH_TRY(myth_stream_open(&p->stream, p->dev, err));
fail:
    return st;
}

/* The embedding or the head. */
static myth_status open_end(const myth_engine *e, const myth_part *p, myth_buf **out, const char *name, uint64_t bytes,
                            myth_error *err)
{
    return e->layout.opts.host_head && !p->layout->is_host
             ? myth_buf_open_host(out, p->dev, MYTH_MEM_WEIGHTS, name, bytes, err)
             : myth_buf_open(out, p->dev, MYTH_MEM_WEIGHTS, name, bytes, err);
}

/* A layer's matrices are one buffer: no device need hold all weights in one piece. */
myth_status myth_part_open_buffers(myth_engine *e, uint32_t i, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_part *p = &e->part[i];
    uint32_t n_layer = e->model->config.n_layer;
    for (int b = 0; b < MYTH_BUF_N; b++)
        if (p->layout->buf[b])
            MYTH_TRY((b == MYTH_BUF_kv_host ? myth_buf_open_host : myth_buf_open)(
                &p->buf[b], p->dev, myth_buf_class[b], myth_buf_name[b], p->layout->buf[b], err));
    for (uint32_t l = p->layout->layer0; l < p->layout->layer1; l++) {
        if (e->layout.matrix[l])
            MYTH_TRY(myth_buf_open(&e->matrix[l], p->dev, MYTH_MEM_WEIGHTS, "layer", e->layout.matrix[l], err));
        if (e->layout.expert[l])
            MYTH_TRY(myth_buf_open_host(&e->expert[l], p->dev, MYTH_MEM_WEIGHTS, "experts", e->layout.expert[l], err));
    }
    MYTH_TRY(myth_offload_open(e, p, err));
    if (e->layout.first_bytes && i == 0)
        MYTH_TRY(open_end(e, p, &e->matrix[n_layer], "embedding", e->layout.first_bytes, err));
    if (e->layout.last_bytes && i + 1 == e->n_part)
        MYTH_TRY(open_end(e, p, &e->matrix[n_layer + 1], "head", e->layout.last_bytes, err));
fail:
    return st;
}

void myth_part_close(myth_engine *e, myth_part *p)
{
    myth_graph_close(p->graph);
    myth_offload_close(e, p);
    for (int b = 0; b < MYTH_BUF_N; b++)
        myth_buf_close(p->buf[b]);
    myth_stream_close(p->stream);
    myth_device_close(p->dev);
}

myth_status myth_engine_sync(myth_engine *e, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < e->n_part; i++) {
        myth_status late = myth_stream_sync(e->part[i].stream, st == MYTH_OK || st == MYTH_ECANCEL ? err : NULL);
        st = st == MYTH_OK || (st == MYTH_ECANCEL && late != MYTH_OK) ? late : st;
    }
    return st;
}

void myth_engine_copy_page(myth_engine *e, bool is_ring, myth_kv_copy c)
{
    for (uint32_t i = 0; i < e->n_part && c.from >= 0; i++) {
        myth_part *p = &e->part[i];
        myth_offload_copy(e, p, is_ring, c.from, c.to);
        for (int k = 0; k < MYTH_KV_BUFS; k++) {
            const int buf = myth_layout_kv_bufs[is_ring][k];
            const uint64_t bytes = myth_layout_kv_bytes(p->layout, buf);
            if (bytes)
                myth_copy(p->stream, &(struct myth_copy_args){
                                         .dst = myth_part_view(p, buf, (uint64_t)c.to * bytes, MYTH_I32),
                                         .src = myth_part_view(p, buf, (uint64_t)c.from * bytes, MYTH_I32),
                                         .bytes = bytes,
                                     });
        }
    }
}

bool myth_engine_is_cut(const myth_engine *e)
{
    bool is = e->first_failure.code == MYTH_ECANCEL;
    for (uint32_t i = 0; i < e->n_part; i++)
        is |= myth_stream_is_cut(e->part[i].stream);
    return is;
}

void myth_engine_write_table(myth_engine *e, const myth_seq *s)
{
    uint32_t n_entry = e->layout.n_entry;
    uint64_t row = 8 * (uint64_t)s->slot * n_entry, ring = 8 * ((uint64_t)e->layout.opts.n_seq * n_entry + s->slot);
    for (uint32_t k = 0; k < e->n_part; k++) {
        myth_part *p = &e->part[k];
        int32_t entry[64][2];
        for (uint32_t i = 0, n; i < n_entry && s->kv->page[i] >= 0;
             i += n) { /* many at a time: a transfer costs more than its bytes */
            for (n = 0; n < 64 && i + n < n_entry && s->kv->page[i + n] >= 0; n++) {
                entry[n][0] = s->kv->page[i + n];
                entry[n][1] = (int32_t)myth_kv_entry_pos(&e->kv, s->kv, i + n);
            }
            myth_stream_write(p->stream, myth_view_at(p->buf[MYTH_BUF_table], row + 8 * (uint64_t)i, MYTH_I32), entry,
                              8 * (uint64_t)n);
        }
        entry[0][0] = s->kv->ring;
        entry[0][1] = 0;
        myth_stream_write(p->stream, myth_view_at(p->buf[MYTH_BUF_table], ring, MYTH_I32), entry, 8);
    }
}
