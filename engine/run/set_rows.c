/* set_rows.c - rows of a sequence that share a position: what a set needs to be fed, and what remains when members of
 * it are removed.
 *
 * Rows     a set's rows are neighbours in the cache. A key is turned by its position in the text (`place`) before it is
 *          stored, so where the row lies says nothing about its position, and rows can move
 * Window   a local layer sees the last W positions, which are more than W rows when sets are among them. All rows of a
 *          set are at one position, so one number of rows (myth_step.window) is right for the whole step
 * Isolated each row is a run of its own that begins where the sequence ends: none of them sees another. For the merge
 *          they are one run of n rows
 * Removal  closes the gap at once: pages and rings stay without holes, so that neither a run's record nor a kernel has
 *          to know of members that are gone
 * Visible  the rows are one run, and each has the last row's position in the cache: each sees the whole run */
#include "offload.h"

#include <string.h>

bool myth_batch_is_set(const myth_batch *b)
{
    return b->n_run == 1 && b->run->set && (b->run->n > 1 || b->run->seq->n_extra);
}

uint32_t myth_seq_pos_of(const myth_seq *s, uint32_t i)
{
    return s->n_extra ? (uint32_t)s->place[i] : myth_kv_pos(s->kv, i + 1) - 1;
}

uint32_t myth_seq_first_needed(const myth_seq *s, uint32_t n)
{
    const uint32_t window = s->e->layout.window;
    if (!s->n_extra)
        return n + 1 > window ? n + 1 - window : 0;
    const uint32_t place = n ? (uint32_t)s->place[n - 1] + 1 : 0; /* of the next token */
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if ((uint32_t)s->place[mid] + window > place)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void myth_seq_place(myth_seq *s, uint32_t len, uint32_t n)
{
    if (n == 0) {
        if (s->n_extra)
            s->n_extra = len ? len - (uint32_t)s->place[len - 1] - 1 : 0;
        return;
    }
    for (uint32_t i = 0; i < len && !s->n_extra; i++)
        s->place[i] = (int32_t)i;
    const uint32_t next = len - s->n_extra;
    for (uint32_t i = 0; i < n; i++)
        s->place[len + i] = (int32_t)next;
    s->n_extra += n - 1;
}

/* Rows that the ring can take behind those of s while it keeps what the next token needs. */
static uint32_t ring_room(const myth_seq *s)
{
    const myth_engine *e = s->e;
    const uint32_t n = s->kv->n_pos;
    return e->kv.has_rings ? myth_seq_first_needed(s, n) + e->layout.ring_tok - n : UINT32_MAX;
}

uint32_t myth_seq_set_room(const myth_seq *s, uint32_t n_after)
{
    const uint32_t window = s->e->layout.window, place = myth_seq_next_place(s), room = myth_kv_room(&s->e->kv, s->kv),
                   ring = ring_room(s);
    /* behind a full window each position gives up as many rows as one needs; until then they add up */
    const uint32_t grows = place + 1 < window ? window - place - 1 : 0, kept = grows < n_after ? grows : n_after;
    uint32_t n = room > n_after ? room - n_after : 0;
    if (!s->e->layout.opts.n_set_rows || s->kv->n_gap)
        return n < 1 ? n : 1;
    if (s->e->kv.has_rings)
        n = ring <= kept ? 0 : n < ring - kept ? n : ring - kept;
    return n < s->e->layout.opts.n_ubatch ? n : s->e->layout.opts.n_ubatch;
}

myth_status myth_seq_check_set(const myth_seq *s, const myth_batch *b, myth_error *err)
{
    const myth_batch_run *run = b->run;
    const uint32_t n_ubatch = s->e->layout.opts.n_ubatch;
    if (!myth_batch_is_set(b) || run->is_ephemeral)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "a sequence that holds sets of tokens is extended by a set, alone in its batch");
    if (!s->e->layout.opts.n_set_rows || s->kv->n_gap)
        return s->kv->n_gap ? myth_fail(err, MYTH_EUNSUPPORTED, "a sequence with evicted tokens takes no sets")
                            : myth_fail_option(err, MYTH_EARG, "n_set_rows",
                                               "a set of %u tokens: the engine was opened without sets", run->n);
    if (b->is_decode && run->set == MYTH_SET_VISIBLE && run->n > 1)
        return myth_fail(err, MYTH_EARG, "tokens that see each other are no decode step: is_decode false expected");
    if (run->n > n_ubatch)
        return myth_fail_option(err, MYTH_EFULL, "n_ubatch",
                                "a set of %u tokens does not fit a micro-batch of %u: raise n_ubatch", run->n,
                                n_ubatch);
    if (run->n_mass && (run->n_mass > s->e->layout.opts.n_mass || run->n_mass > myth_kv_len(s->kv) ||
                        run->n > s->e->layout.opts.n_logit_rows || !(run->want & MYTH_WANT_LOGITS)))
        return myth_fail(err, MYTH_EARG,
                         "the attention of %u tokens to %u rows of %u: all want logits, and the engine was opened for "
                         "%u rows of logits and %u that are looked at",
                         run->n, run->n_mass, myth_kv_len(s->kv), s->e->layout.opts.n_logit_rows,
                         s->e->layout.opts.n_mass);
    if (run->n > ring_room(s))
        return myth_fail_option(err, MYTH_EFULL, "n_set_rows",
                                "a set of %u tokens: the window of the local layers has room for %u; raise n_set_rows",
                                run->n, ring_room(s));
    return MYTH_OK;
}

void myth_forward_put_set(myth_engine *e, const myth_batch_run *run)
{
    myth_step_index *x = &e->idx;
    const myth_seq *s = run->seq;
    const uint32_t n = run->n, row = s->kv->n_pos, last = run->set == MYTH_SET_VISIBLE ? row + n - 1 : row;
    x->set = run->set;
    x->n_mass = run->n_mass;
    x->window = last - myth_seq_first_needed(s, row) + 1;
    if (run->set == MYTH_SET_VISIBLE)
        myth_forward_put_run(e, s, run->token, n, false);
    else
        for (uint32_t i = 0; i < n; i++)
            myth_forward_put_run(e, s, run->token + i, 1, false);
    for (uint32_t i = 0; i < n; i++) {
        x->pos[i] = (int32_t)last;
        x->place[i] = (int32_t)myth_seq_next_place(s);
    }
    if (run->set == MYTH_SET_ISOLATED) { /* the run that is merged, behind those of the rows */
        int32_t *whole = x->runs + (size_t)n * MYTH_RUN_WIDTH;
        memcpy(whole, x->runs, MYTH_RUN_WIDTH * sizeof *whole);
        whole[MYTH_RUN_N_ROWS] = (int32_t)n;
    }
}

/* ---- attention ---- */

void myth_forward_clear_mass(myth_engine *e)
{
    const size_t n = (size_t)e->idx.n_rows * e->idx.n_mass;
    memset(e->result_mass, 0, n * sizeof *e->result_mass);
    for (uint32_t i = 0; i < e->n_part; i++)
        myth_stream_write(e->part[i].stream, e->part[i].step.mass, e->result_mass, n * sizeof *e->result_mass);
}

void myth_forward_take_mass(myth_engine *e)
{
    const size_t n = (size_t)e->idx.n_rows * e->idx.n_mass;
    float *one = e->result_mass + (size_t)e->layout.opts.n_logit_rows * e->layout.opts.n_mass;
    for (uint32_t i = 0; i < e->n_part && e->first_failure.code == MYTH_OK; i++) {
        myth_stream_read(e->part[i].stream, one, e->part[i].step.mass, n * sizeof *one);
        if (myth_stream_sync(e->part[i].stream, &e->first_failure) != MYTH_OK)
            return;
        for (size_t k = 0; k < n; k++)
            e->result_mass[k] += one[k];
    }
}

/* ---- removal ---- */

enum { ROW_BYTES_MAX = 4 * 1024 }; /* a head is at most 1,024 values wide (config.c) */

/* Where a page or ring of the cache begins for one layer: on the part's device, or in host memory. */
typedef struct {
    const myth_part *part;
    bool is_ring, is_held;
    int buf;                      /* of the part, where it is not held */
    uint32_t layer, n_head, tok;  /* its K/V heads, and its rows */
    uint64_t k_row, v_row, v_off; /* bytes of a row of one head, and where V begins behind K */
} rows_place;

static rows_place place_of(const myth_part *p, uint32_t layer)
{
    const myth_layout *layout = &p->e->layout;
    const myth_layer_config *lc = &p->e->model->config.layer[layer];
    rows_place at = {
        .part = p,
        .is_ring = !lc->is_global,
        .is_held = layout->opts.offload == MYTH_OFFLOAD_KV && layer < p->layout->offload1,
        .buf = myth_layout_kv_buf(p->layout, &p->e->model->config, layer),
        .layer = layer,
        .n_head = lc->n_head_kv,
        .tok = lc->is_global ? layout->page_tok : layout->ring_tok,
        .k_row = myth_row_bytes(layout->opts.type_k, lc->head_dim),
        .v_row = myth_row_bytes(layout->opts.type_v, lc->head_dim),
    };
    at.v_off = (uint64_t)at.n_head * at.tok * at.k_row;
    return at;
}

/* Moves n rows of one K or V of one head from row `src` of page `from` to row `dst` of page `to`. */
static void move_head(const rows_place *at, uint64_t off, uint64_t row_bytes, int32_t from, uint32_t src, int32_t to,
                      uint32_t dst, uint32_t n)
{
    const myth_part *p = at->part;
    const uint64_t layer_off = p->e->layout.layer_off[at->layer] + off,
                   bytes = myth_layout_kv_bytes(p->layout, at->buf);
    if (at->is_held) {
        memmove(myth_offload_held(p, at->is_ring, to) + layer_off + dst * row_bytes,
                myth_offload_held(p, at->is_ring, from) + layer_off + src * row_bytes, (size_t)(n * row_bytes));
        return;
    }
    myth_copy(
        p->stream,
        &(struct myth_copy_args){
            .dst = myth_part_view(p, at->buf, (uint64_t)(uint32_t)to * bytes + layer_off + dst * row_bytes, MYTH_I32),
            .src = myth_part_view(p, at->buf, (uint64_t)(uint32_t)from * bytes + layer_off + src * row_bytes, MYTH_I32),
            .bytes = n * row_bytes,
        });
}

/* Moves n rows of one layer from row src of the sequence to row dst, dst < src. */
static void move_layer(const rows_place *at, const myth_kv_rows *r, uint32_t src, uint32_t dst, uint32_t n)
{
    for (uint32_t done = 0, part; done < n; done += part) { /* not past the end of either page */
        const uint32_t from = (src + done) % at->tok, to = (dst + done) % at->tok;
        part = n - done;
        part = part < at->tok - from ? part : at->tok - from;
        part = part < at->tok - to ? part : at->tok - to;
        const int32_t from_page = at->is_ring ? r->ring : r->page[(src + done) / at->tok],
                      to_page = at->is_ring ? r->ring : r->page[(dst + done) / at->tok];
        for (uint32_t h = 0; h < at->n_head; h++) {
            move_head(at, h * at->tok * at->k_row, at->k_row, from_page, from, to_page, to, part);
            move_head(at, at->v_off + h * at->tok * at->v_row, at->v_row, from_page, from, to_page, to, part);
        }
    }
}

/* Turns the ring of one K or V of one head by d < tok rows towards its start; off: where its rows begin. */
static void turn_head(const rows_place *at, uint64_t off, uint64_t row_bytes, myth_view scratch, int32_t ring,
                      uint32_t d)
{
    const myth_part *p = at->part;
    const uint32_t tok = at->tok, room = p->step.cap_rows;
    if (at->is_held) {
        unsigned char *row = myth_offload_held(p, true, ring) + p->e->layout.layer_off[at->layer] + off,
                      kept[ROW_BYTES_MAX];
        uint32_t n_moved = 0;
        for (uint32_t first = 0; n_moved < tok; first++) { /* cycle by cycle */
            uint32_t to = first;
            memcpy(kept, row + first * row_bytes, (size_t)row_bytes);
            for (uint32_t from; (from = (to + d) % tok) != first; to = from, n_moved++)
                memcpy(row + to * row_bytes, row + from * row_bytes, (size_t)row_bytes);
            memcpy(row + to * row_bytes, kept, (size_t)row_bytes);
            n_moved++;
        }
        return;
    }
    for (uint32_t n; d; d -= n) { /* as many at a time as the step's scratch has rows */
        n = d < room ? d : room;
        const myth_view begin = myth_part_view(
            p, MYTH_BUF_kv_local,
            (uint64_t)(uint32_t)ring * p->layout->ring_bytes + p->e->layout.layer_off[at->layer] + off, MYTH_I32);
        myth_view rest = begin, end = begin;
        rest.off += n * row_bytes;
        end.off += (tok - n) * row_bytes;
        myth_copy(p->stream, &(struct myth_copy_args){.dst = scratch, .src = begin, .bytes = n * row_bytes});
        myth_copy(p->stream, &(struct myth_copy_args){.dst = begin, .src = rest, .bytes = (tok - n) * row_bytes});
        myth_copy(p->stream, &(struct myth_copy_args){.dst = end, .src = scratch, .bytes = n * row_bytes});
    }
}

static void turn_layer(const rows_place *at, int32_t ring, uint32_t d)
{
    for (uint32_t h = 0; h < at->n_head; h++) {
        turn_head(at, h * at->tok * at->k_row, at->k_row, at->part->step.k_new, ring, d);
        turn_head(at, at->v_off + h * at->tok * at->v_row, at->v_row, at->part->step.v_new, ring, d);
    }
}

/* Takes the rows (ascending) out of one layer. Rows that its ring holds no more only count: those it holds change their
 * places in it by as many. */
static void remove_from_layer(const rows_place *at, const myth_seq *s, const uint32_t *row, uint32_t n, uint32_t n_lost)
{
    const uint32_t len = myth_kv_len(s->kv), first = at->is_ring ? n_lost : 0;
    if (at->is_ring && n_lost % at->tok)
        turn_layer(at, s->kv->ring, n_lost % at->tok);
    for (uint32_t i = first; i < n; i++) {
        const uint32_t from = row[i] + 1 - first, end = (i + 1 < n ? row[i + 1] : len) - first;
        if (end > from)
            move_layer(at, s->kv, from, row[i] - i, end - from);
    }
}

static uint32_t rows_at(const myth_seq *s, int32_t place)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < myth_kv_len(s->kv); i++)
        n += s->place[i] == place;
    return n;
}

static myth_status check_removal(const myth_seq *s, const uint32_t *row, uint32_t n, myth_error *err)
{
    const myth_engine *e = s->e;
    const uint32_t len = myth_kv_len(s->kv);
    for (uint32_t i = 0, left = 0; i < n; i++) {
        if (row[i] >= len || (i && row[i] <= row[i - 1]))
            return myth_fail(err, MYTH_EARG, "rows to remove ascend and are below %u; got %u", len, row[i]);
        if (s->n_extra && (i == 0 || s->place[row[i]] != s->place[row[i - 1]]))
            left = rows_at(s, s->place[row[i]]);
        if (!s->n_extra || --left == 0)
            return myth_fail(err, MYTH_EARG, "cannot remove row %u: its position would have no token", row[i]);
    }
    const uint32_t first = n ? row[0] / e->layout.page_tok : 0;
    bool is_shared = n && s->kv->ring >= 0 && e->kv.ring_ref[s->kv->ring] > 1;
    for (uint32_t i = first; n && e->kv.has_pages && i < myth_kv_n_page(&e->kv, s->kv); i++)
        is_shared = is_shared || e->kv.page_ref[s->kv->page[i]] > 1;
    return is_shared ? myth_fail(err, MYTH_EUNSUPPORTED,
                                 "cannot remove row %u: it is shared with a fork or a checkpoint", row[0])
                     : MYTH_OK;
}

myth_status myth_seq_remove(myth_seq *s, const uint32_t *row, uint32_t n, myth_error *err)
{
    myth_engine *e = s->e;
    const uint32_t len = myth_kv_len(s->kv);
    myth_status st = MYTH_OK;
    MYTH_TRY(check_removal(s, row, n, err));
    if (n == 0)
        return MYTH_OK;
    for (uint32_t i = 0; i < e->n_part && e->layout.opts.offload == MYTH_OFFLOAD_KV; i++)
        MYTH_TRY(myth_stream_sync(e->part[i].stream, err)); /* rows in host memory: the last step's have arrived */
    const myth_config *c = &e->model->config;
    const uint32_t high = s->kv->n_high, ring_tok = e->layout.ring_tok, oldest = high > ring_tok ? high - ring_tok : 0;
    uint32_t n_lost = 0, to = row[0]; /* n_lost: how many of them no ring holds any more */
    while (e->kv.has_rings && n_lost < n && row[n_lost] < oldest)
        n_lost++;
    for (uint32_t i = 0; i < e->n_part; i++)
        for (uint32_t l = e->part[i].layout->layer0; l < e->part[i].layout->layer1; l++) {
            const rows_place at = place_of(&e->part[i], l);
            if (c->layer[l].kv_source == l)
                remove_from_layer(&at, s, row, n, n_lost);
        }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from = row[i] + 1, end = i + 1 < n ? row[i + 1] : len;
        memmove(s->token + to, s->token + from, (size_t)(end - from) * sizeof *s->token);
        memmove(s->place + to, s->place + from, (size_t)(end - from) * sizeof *s->place);
        to += end - from;
    }
    s->kv->n_high -= n_lost;
    myth_kv_cut(&e->kv, s->kv, to);
    s->n_extra -= n;
    s->is_table_stale = true;
fail:
    return st;
}
