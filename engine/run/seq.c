/* seq.c - sequences: tokens on the host, rows in the cache; fork, checkpoint, truncate, evict, save and restore.
 *
 * Saved form, little endian: "MYTHSEQ5", u32 n_tok, n_high, n_gap, page_tok, ring_tok, n_page, type_k, type_v, the gaps
 * (from, to; zeros past n_gap), u64 page_bytes, ring_bytes, the model's number (myth_model_hash), the tokens held
 * (i32), their pages in order, the ring, with save_whole the checkpoints, and the sum of all that (hash.h). It fits an
 * engine with the same model, cache types, page and ring length.
 *
 * A checkpoint's tokens are always the first of its sequence's: what cuts or evicts one of them drops the checkpoint.
 * One that was taken right after a gap holds the tokens before the gap alone, at the position after it: a cut back to
 * the gap closes the gap, so that checkpoint is dropped too. */
#include "offload.h"

#include "engine/base/bytes.h"
#include "engine/base/hash.h"

#include <assert.h>

myth_status myth_seq_open(myth_seq **out, myth_engine *e, myth_error *err)
{
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        myth_seq *s = &e->seq[i];
        if (s->is_open)
            continue;
        s->is_open = true;
        *out = s;
        return MYTH_OK;
    }
    *out = NULL;
    return myth_fail_option(err, MYTH_EFULL, "n_seq", "all %u sequences are in use: raise n_seq", e->layout.opts.n_seq);
}

/* Drops the checkpoints that hold more than n_tok tokens or end past position n_pos. */
static void drop_checkpoints(myth_seq *s, uint32_t n_tok, uint32_t n_pos)
{
    myth_engine *e = s->e;
    for (uint32_t i = 0; i < e->layout.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot == s->slot && (myth_kv_len(cp->kv) > n_tok || cp->kv->n_pos > n_pos)) {
            myth_kv_release(&e->kv, cp->kv);
            cp->slot = UINT32_MAX;
        }
    }
}

void myth_seq_close(myth_seq *s)
{
    if (!s)
        return;
    assert(s->is_open);
    for (uint32_t i = 0; i < s->e->layout.opts.n_checkpoint; i++)
        if (s->e->checkpoint[i].slot == s->slot) {
            myth_kv_release(&s->e->kv, s->e->checkpoint[i].kv);
            s->e->checkpoint[i].slot = UINT32_MAX;
        }
    myth_kv_release(&s->e->kv, s->kv);
    s->is_open = false;
    s->n_extra = 0;
}

uint32_t myth_seq_extra(const myth_seq *s) { return s->n_extra; }
uint32_t myth_seq_len(const myth_seq *s) { return myth_kv_len(s->kv); }
uint32_t myth_seq_pos(const myth_seq *s) { return s->kv->n_pos; }
uint32_t myth_seq_room(const myth_seq *s) { return myth_kv_room(&s->e->kv, s->kv); }

myth_seq_use myth_seq_used(const myth_seq *s)
{
    const myth_kvcache *kv = &s->e->kv;
    const uint32_t ring = s->e->layout.ring_tok, first = s->kv->n_high > ring ? s->kv->n_high - ring : 0;
    myth_seq_use u = {0};
    if (kv->has_pages) {
        u.global_rows = myth_kv_len(s->kv);
        u.global_limit = kv->n_ctx;
    }
    if (kv->has_rings) {
        u.local_rows = s->kv->n_pos > first ? s->kv->n_pos - first : 0;
        u.local_limit = ring;
    }
    return u;
}
const int32_t *myth_seq_tokens(const myth_seq *s) { return s->token; }

myth_status myth_seq_fork(myth_seq **out, myth_seq *s, myth_error *err)
{
    myth_status st = myth_seq_open(out, s->e, err);
    if (st != MYTH_OK)
        return st;
    myth_kv_share(&s->e->kv, (*out)->kv, s->kv);
    memcpy((*out)->token, s->token, (size_t)myth_kv_len(s->kv) * 4);
    if (s->n_extra)
        memcpy((*out)->place, s->place, (size_t)myth_kv_len(s->kv) * 4);
    (*out)->n_extra = s->n_extra;
    (*out)->is_table_stale = true;
    return MYTH_OK;
}

myth_status myth_seq_checkpoint(myth_seq *s, myth_error *err)
{
    myth_engine *e = s->e;
    for (uint32_t i = 0; i < e->layout.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot == s->slot && myth_kv_len(cp->kv) == myth_kv_len(s->kv) && cp->kv->n_pos == s->kv->n_pos)
            return MYTH_OK; /* this end is remembered already */
    }
    for (uint32_t i = 0; i < e->layout.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot != UINT32_MAX)
            continue;
        myth_kv_share(&e->kv, cp->kv, s->kv);
        cp->slot = s->slot;
        return MYTH_OK;
    }
    return myth_fail(err, MYTH_EFULL, "all %u checkpoints are in use", e->layout.opts.n_checkpoint);
}

void myth_seq_forget(myth_seq *s, uint32_t n) { drop_checkpoints(s, n, UINT32_MAX); }

/* Position pos needs the keys of its window; a ring that has seen n_high positions holds none older than the last
 * ring_tok of them, even when the sequence was cut since. */
static bool ring_reaches_back(const myth_seq *s, uint32_t pos)
{
    const myth_layout *layout = &s->e->layout;
    if (!s->e->kv.has_rings || s->kv->n_high <= layout->ring_tok)
        return true;
    return s->kv->n_high - layout->ring_tok <= myth_seq_first_needed(s, pos);
}

/* Of two checkpoints of a sequence: more tokens, or as many at a later position. */
static bool is_newer(const myth_kv_rows *a, const myth_kv_rows *b)
{
    uint32_t n = myth_kv_len(a), m = myth_kv_len(b);
    return n > m || (n == m && a->n_pos > b->n_pos);
}

myth_status myth_seq_truncate(myth_seq *s, uint32_t n, uint32_t *at, myth_error *err)
{
    myth_engine *e = s->e;
    uint32_t len = myth_kv_len(s->kv), pos = myth_kv_pos(s->kv, n);
    if (n > len)
        return myth_fail(err, MYTH_EARG, "cannot truncate %u tokens to %u", len, n);
    if (n < len || n == 0) {
        if (n == 0 || ring_reaches_back(s, pos)) {
            myth_kv_cut(&e->kv, s->kv, n);
        } else {
            myth_checkpoint *best = NULL;
            for (uint32_t i = 0; i < e->layout.opts.n_checkpoint; i++) {
                myth_checkpoint *cp = &e->checkpoint[i];
                if (cp->slot == s->slot && myth_kv_len(cp->kv) <= n && cp->kv->n_pos <= pos &&
                    (!best || is_newer(cp->kv, best->kv)))
                    best = cp;
            }
            myth_kv_release(&e->kv, s->kv);
            if (best)
                myth_kv_share(&e->kv, s->kv, best->kv);
        }
        drop_checkpoints(s, myth_kv_len(s->kv), s->kv->n_pos);
        myth_seq_place(s, myth_kv_len(s->kv), 0);
        s->is_table_stale = true;
    }
    *at = myth_kv_len(s->kv);
    return MYTH_OK;
}

void myth_seq_take_back(myth_seq *s, uint32_t n)
{
    myth_kv_rows *r = s->kv;
    const uint32_t held = myth_kv_len(r) - n;
    const myth_kv_gap *last = r->n_gap ? &r->gap[r->n_gap - 1] : NULL;
    uint32_t at;
    if (last && myth_kv_pos(r, held) == last->from && ring_reaches_back(s, last->to)) {
        r->n_pos = last->to; /* a cut would close the gap */
        myth_kv_trim(&s->e->kv, r);
        s->is_table_stale = true;
    } else {
        myth_seq_truncate(s, held, &at, NULL);
    }
}

void myth_engine_take_back(myth_engine *e, bool is_last)
{
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        myth_seq *s = &e->seq[i];
        const uint32_t n = is_last ? s->n_last : s->n_wrote;
        if (n)
            myth_seq_take_back(s, n);
        if (s->n_new)
            myth_kv_trim(&e->kv, s->kv);
    }
}

myth_status myth_seq_evict(myth_seq *s, uint32_t from, uint32_t n, myth_error *err)
{
    uint32_t len = myth_kv_len(s->kv);
    if (s->n_extra)
        return myth_fail(err, MYTH_EUNSUPPORTED, "cannot evict from a sequence that holds sets of tokens: truncate it");
    if (from > len || n > len - from)
        return myth_fail(err, MYTH_EARG, "cannot evict tokens %u to %u of %u", from, from + n, len);
    if (!myth_kv_evict(&s->e->kv, s->kv, from, n))
        return myth_fail(err, MYTH_EFULL,
                         "a sequence has at most %d gaps: evicting tokens %u to %u touches none of them, so evict the "
                         "tokens between two gaps too, or truncate",
                         MYTH_SEQ_GAPS, from, from + n);
    if (n) {
        memmove(s->token + from, s->token + from + n, 4 * (size_t)(len - from - n));
        drop_checkpoints(s, from, s->kv->n_pos);
        s->is_table_stale = true;
    }
    return MYTH_OK;
}

/* ---- saved form ---- */

static const char MAGIC[8] = {'M', 'Y', 'T', 'H', 'S', 'E', 'Q', '5'};

typedef struct {
    uint32_t n_tok, n_high, n_gap, page_tok, ring_tok, n_page, type_k, type_v;
    myth_kv_gap gap[MYTH_SEQ_GAPS];
    uint64_t page_bytes, ring_bytes, model;
} saved_header;

/* A checkpoint of a sequence that is saved whole, behind its rows; its ring follows. Its pages are the first of the
 * sequence's. */
typedef struct {
    uint32_t n_tok, n_high, n_gap;
    myth_kv_gap gap[MYTH_SEQ_GAPS];
} saved_checkpoint;

enum { HEADER_BYTES = 8 + sizeof(saved_header) };
_Static_assert(sizeof(saved_header) == 8 * 4 + MYTH_SEQ_GAPS * 8 + 3 * 8, "no padding in the saved form");

/* What an engine of this layout saves of a holder of these rows. */
static saved_header header_of(const myth_engine *e, const myth_kv_rows *r)
{
    const myth_layout *layout = &e->layout;
    saved_header h = {
        .n_tok = myth_kv_len(r),
        .n_high = r->n_high,
        .n_gap = r->n_gap,
        .page_tok = layout->page_tok,
        .ring_tok = layout->ring_tok,
        .n_page = myth_kv_n_page(&e->kv, r),
        .type_k = (uint32_t)layout->opts.type_k,
        .type_v = (uint32_t)layout->opts.type_v,
        .page_bytes = layout->page_bytes,
        .ring_bytes = e->kv.has_rings && r->n_pos ? layout->ring_bytes : 0,
        .model = myth_model_hash(e->model),
    };
    memcpy(h.gap, r->gap, r->n_gap * sizeof(*r->gap));
    return h;
}

/* The rows of n_tok tokens with these gaps. False: no sequence can have such gaps and positions. */
static bool rows_of(myth_kv_rows *r, uint32_t n_tok, uint32_t n_high, const myth_kv_gap *gap, uint32_t n_gap)
{
    uint64_t n_pos = n_tok, least = 0; /* where the next gap may begin */
    if (n_gap > MYTH_SEQ_GAPS)
        return false;
    *r = (myth_kv_rows){.n_high = n_high, .n_gap = n_gap};
    for (uint32_t i = 0; i < n_gap; i++) {
        r->gap[i] = gap[i];
        if (gap[i].from < least || gap[i].from >= gap[i].to || gap[i].from > n_pos)
            return false;
        n_pos += gap[i].to - gap[i].from;
        least = gap[i].to + 1ull;
    }
    r->n_pos = (uint32_t)n_pos;
    return n_pos <= n_high && n_high <= MYTH_KV_POS_MAX;
}

/* A saved page (or ring) is the parts' pages behind each other, in each the layers in host memory first: layers in
 * order, however they are divided. */
static uint64_t held_of_part(const myth_part *p, bool is_ring)
{
    return is_ring ? p->layout->held_ring_bytes : p->layout->held_page_bytes;
}

static unsigned char *read_rows(myth_engine *e, bool is_ring, int32_t number, unsigned char *dst)
{
    for (uint32_t i = 0; i < e->n_part; i++) {
        const myth_part *p = &e->part[i];
        const uint64_t held = held_of_part(p, is_ring);
        if (held)
            memcpy(dst, myth_offload_held(p, is_ring, number), (size_t)held);
        dst += held;
        for (int k = 0; k < MYTH_KV_BUFS; k++) {
            const int buf = myth_layout_kv_bufs[is_ring][k];
            const uint64_t bytes = myth_layout_kv_bytes(p->layout, buf);
            if (bytes)
                myth_stream_read(p->stream, dst, myth_part_view(p, buf, (uint64_t)number * bytes, MYTH_F32), bytes);
            dst += bytes;
        }
    }
    return dst;
}

static void write_rows(myth_engine *e, bool is_ring, int32_t number, const unsigned char *src)
{
    for (uint32_t i = 0; i < e->n_part; i++) {
        const myth_part *p = &e->part[i];
        const uint64_t held = held_of_part(p, is_ring);
        if (held)
            memcpy(myth_offload_held(p, is_ring, number), src, (size_t)held);
        src += held;
        for (int k = 0; k < MYTH_KV_BUFS; k++) {
            const int buf = myth_layout_kv_bufs[is_ring][k];
            const uint64_t bytes = myth_layout_kv_bytes(p->layout, buf);
            if (bytes)
                myth_stream_write(p->stream, myth_part_view(p, buf, (uint64_t)number * bytes, MYTH_F32), src, bytes);
            src += bytes;
        }
    }
}

myth_status myth_seq_sync(myth_seq *s, const int32_t *ids, uint32_t n, uint32_t *n_fed, myth_error *err)
{
    const uint32_t held = myth_kv_len(s->kv), n_ubatch = s->e->layout.opts.n_ubatch;
    uint32_t same = 0, at = held;
    while (same < held && same < n && s->token[same] == ids[same])
        same++;
    if (n_fed)
        *n_fed = 0;
    myth_status st = same < held ? myth_seq_truncate(s, same, &at, err) : MYTH_OK;
    for (uint32_t i = at, part; i < n && st == MYTH_OK; i += part) {
        part = n - i < n_ubatch ? n - i : n_ubatch;
        const myth_batch_run run = {.seq = s, .token = ids + i, .n = part};
        st = myth_forward(s->e, &(myth_batch){.run = &run, .n_run = 1}, NULL, err);
        if (st == MYTH_OK && n_fed)
            *n_fed += part;
    }
    return st;
}

/* The next checkpoint of s from *at on that holds tokens, all in pages that s has too; NULL = there is none. */
static const myth_kv_rows *next_checkpoint(const myth_seq *s, uint32_t *at)
{
    myth_engine *e = s->e;
    while (*at < e->layout.opts.n_checkpoint) {
        const myth_checkpoint *cp = &e->checkpoint[(*at)++];
        if (cp->slot == s->slot && cp->kv->n_pos && myth_kv_n_page(&e->kv, cp->kv) <= myth_kv_n_page(&e->kv, s->kv))
            return cp->kv;
    }
    return NULL;
}

uint64_t myth_seq_save_bytes(const myth_seq *s)
{
    saved_header h = header_of(s->e, s->kv);
    return HEADER_BYTES + 4 * (uint64_t)h.n_tok + h.n_page * h.page_bytes + h.ring_bytes + MYTH_SUM_BYTES;
}

uint64_t myth_seq_save_whole_bytes(const myth_seq *s)
{
    const uint64_t each = sizeof(saved_checkpoint) + header_of(s->e, s->kv).ring_bytes;
    uint64_t n = myth_seq_save_bytes(s);
    for (uint32_t at = 0; next_checkpoint(s, &at);)
        n += each;
    return n;
}

/* Issues what reads the sequence; returns the end of what it wrote. */
static unsigned char *put_rows(const myth_seq *s, const saved_header *h, unsigned char *p)
{
    memcpy(p, MAGIC, 8);
    memcpy(p + 8, h, sizeof *h);
    p += HEADER_BYTES;
    memcpy(p, s->token, 4 * (size_t)h->n_tok);
    p += 4 * (size_t)h->n_tok;
    for (uint32_t i = 0; i < h->n_page; i++)
        p = read_rows(s->e, false, s->kv->page[i], p);
    return h->ring_bytes ? read_rows(s->e, true, s->kv->ring, p) : p;
}

static void put_checkpoints(const myth_seq *s, const saved_header *h, unsigned char *p)
{
    const myth_kv_rows *rows;
    for (uint32_t at = 0; (rows = next_checkpoint(s, &at));) {
        saved_checkpoint c = {.n_tok = myth_kv_len(rows), .n_high = rows->n_high, .n_gap = rows->n_gap};
        memcpy(c.gap, rows->gap, rows->n_gap * sizeof(*rows->gap));
        memcpy(p, &c, sizeof c);
        p += sizeof c;
        if (h->ring_bytes)
            p = read_rows(s->e, true, rows->ring, p);
    }
}

static myth_status save(const myth_seq *s, bool is_whole, void *dst, uint64_t cap, myth_error *err)
{
    const saved_header h = header_of(s->e, s->kv);
    const uint64_t bytes = is_whole ? myth_seq_save_whole_bytes(s) : myth_seq_save_bytes(s);
    if (s->n_extra)
        return myth_fail(err, MYTH_EUNSUPPORTED, "cannot save a sequence that holds sets of tokens: truncate it");
    if (cap < bytes)
        return myth_fail(err, MYTH_EFULL, "the sequence takes %llu bytes", (unsigned long long)bytes);
    unsigned char *end = put_rows(s, &h, dst);
    if (is_whole)
        put_checkpoints(s, &h, end);
    const myth_status st = myth_engine_sync(s->e, err);
    if (st == MYTH_OK)
        myth_sum_put(dst, (size_t)bytes);
    return st;
}

myth_status myth_seq_save(const myth_seq *s, void *dst, uint64_t cap, myth_error *err)
{
    return save(s, false, dst, cap, err);
}

myth_status myth_seq_save_whole(const myth_seq *s, void *dst, uint64_t cap, myth_error *err)
{
    return save(s, true, dst, cap, err);
}

/* Whether what is left of a saved sequence is checkpoints of these rows, up to the end. */
static bool are_checkpoints(const myth_engine *e, myth_reader r, const myth_kv_rows *rows, uint64_t ring_bytes)
{
    while (myth_reader_left(&r)) {
        saved_checkpoint c;
        myth_kv_rows own;
        const unsigned char *p = myth_reader_take(&r, sizeof c);
        if (!p || !myth_reader_take(&r, ring_bytes))
            return false;
        memcpy(&c, p, sizeof c);
        if (!rows_of(&own, c.n_tok, c.n_high, c.gap, c.n_gap) || c.n_tok == 0 || c.n_tok > myth_kv_len(rows) ||
            own.n_pos > rows->n_pos || myth_kv_n_page(&e->kv, &own) > myth_kv_n_page(&e->kv, rows))
            return false;
    }
    return true;
}

/* Takes the checkpoints of a restored sequence, as many as are free here. They share its pages, whose rows behind a
 * checkpoint's own it does not read. */
static void take_checkpoints(myth_seq *s, myth_reader *r, uint64_t ring_bytes)
{
    myth_engine *e = s->e;
    for (uint32_t i = 0; i < e->layout.opts.n_checkpoint && myth_reader_left(r); i++) {
        saved_checkpoint c;
        myth_kv_rows own;
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot != UINT32_MAX || (ring_bytes && e->kv.n_free_ring == 0))
            continue;
        memcpy(&c, myth_reader_take(r, sizeof c), sizeof c);
        rows_of(&own, c.n_tok, c.n_high, c.gap, c.n_gap);
        own.ring = -1;
        own.page = s->kv->page;
        myth_kv_share(&e->kv, cp->kv, &own);
        cp->slot = s->slot;
        if (ring_bytes) {
            cp->kv->ring = myth_kv_new_ring(&e->kv);
            write_rows(e, true, cp->kv->ring, myth_reader_take(r, ring_bytes));
        }
    }
}

myth_status myth_seq_restore(myth_seq *s, const void *src, uint64_t bytes, myth_error *err)
{
    myth_engine *e = s->e;
    saved_header h = {0};
    myth_reader r = {src, bytes < MYTH_SUM_BYTES ? 0 : bytes - MYTH_SUM_BYTES, 0};
    const unsigned char *p = myth_reader_take(&r, HEADER_BYTES);
    if (!p || memcmp(p, MAGIC, 8) != 0)
        return myth_fail(err, MYTH_EFORMAT, "not a saved sequence");
    if (!myth_sum_holds(src, (size_t)bytes))
        return myth_fail(err, MYTH_EFORMAT, "a saved sequence that is damaged or cut off: feed the tokens again");
    memcpy(&h, p + 8, sizeof h);
    if (s->kv->n_pos)
        return myth_fail(err, MYTH_EARG, "restore needs an empty sequence");
    if (e->layout.opts.no_cache)
        return myth_fail(err, MYTH_EUNSUPPORTED, "a saved sequence needs a cache, and this engine was opened without");
    myth_kv_rows rows;
    if (!rows_of(&rows, h.n_tok, h.n_high, h.gap, h.n_gap))
        return myth_fail(err, MYTH_EFORMAT, "a saved sequence whose positions contradict each other");
    myth_kv_needs need = myth_kv_need_all(&e->kv, s->kv, &rows);
    if (h.n_tok > e->layout.opts.n_ctx || need.n_page > e->kv.n_entry)
        return myth_fail(err, MYTH_EFULL, "saved sequence of %u tokens, context of %u", h.n_tok, e->layout.opts.n_ctx);
    if (need.n_page > e->kv.n_free_page || need.n_ring > e->kv.n_free_ring)
        return myth_fail(err, MYTH_EFULL, "saved sequence needs %u pages, %u are free", need.n_page, e->kv.n_free_page);
    const saved_header want = header_of(e, &rows);
    if (h.model != want.model)
        return myth_fail(err, MYTH_EFORMAT, "saved with another model than %s: feed the tokens again",
                         myth_weights_name(e->model->weights));
    const uint64_t body = 4 * (uint64_t)h.n_tok + want.n_page * want.page_bytes + want.ring_bytes;
    myth_reader behind = r;
    if (memcmp(&h, &want, sizeof h) != 0 || !myth_reader_take(&behind, body) ||
        !are_checkpoints(e, behind, &rows, want.ring_bytes))
        return myth_fail(err, MYTH_EFORMAT, "saved by an engine of another shape, or cut off");
    for (uint32_t i = 0; i < h.n_tok; i++) {
        uint32_t id;
        if (!myth_reader_u32(&r, &id) || id >= e->model->config.n_vocab)
            return myth_fail(err, MYTH_EFORMAT, "saved token %u is outside the vocabulary of %u: the file is damaged",
                             i, e->model->config.n_vocab);
        s->token[i] = (int32_t)id;
    }
    myth_kv_take_all(&e->kv, s->kv, &rows);
    for (uint32_t i = 0; i < h.n_page; i++)
        write_rows(e, false, s->kv->page[i], myth_reader_take(&r, h.page_bytes));
    if (h.ring_bytes)
        write_rows(e, true, s->kv->ring, myth_reader_take(&r, h.ring_bytes));
    take_checkpoints(s, &r, h.ring_bytes);
    s->is_table_stale = true;
    return myth_engine_sync(e, err);
}
