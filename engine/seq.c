/* seq.c - sequences: tokens on the host, rows in the cache; fork, checkpoint, truncate, save and restore.
 *
 * Saved form, little endian: "MYTHSEQ1", u32 n_tok, n_high, page_tok, ring_tok, n_page, type_k, type_v, 0, u64 page_bytes, ring_bytes, the
 * tokens (i32), the pages in order, the ring. It fits an engine with the same model, cache types, page and ring length. */
#include "engine_impl.h"

#include "base/bytes.h"

#include <assert.h>

myth_status myth_seq_open(myth_seq **out, myth_engine *e, myth_error *err)
{
    for (uint32_t i = 0; i < e->y.opts.n_seq; i++) {
        myth_seq *s = &e->seq[i];
        if (s->is_open)
            continue;
        s->is_open = true;
        *out = s;
        return MYTH_OK;
    }
    *out = NULL;
    return myth_fail(err, MYTH_EFULL, "all %u sequences are in use: raise --parallel", e->y.opts.n_seq);
}

static void drop_checkpoints(myth_seq *s, uint32_t above)
{
    myth_engine *e = s->e;
    for (uint32_t i = 0; i < e->y.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot == s->slot && cp->kv->n_tok > above) {
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
    for (uint32_t i = 0; i < s->e->y.opts.n_checkpoint; i++)
        if (s->e->checkpoint[i].slot == s->slot) {
            myth_kv_release(&s->e->kv, s->e->checkpoint[i].kv);
            s->e->checkpoint[i].slot = UINT32_MAX;
        }
    myth_kv_release(&s->e->kv, s->kv);
    s->is_open = false;
}

uint32_t myth_seq_len(const myth_seq *s) { return s->kv->n_tok; }
const int32_t *myth_seq_tokens(const myth_seq *s) { return s->token; }

myth_status myth_seq_fork(myth_seq **out, myth_seq *s, myth_error *err)
{
    myth_status st = myth_seq_open(out, s->e, err);
    if (st != MYTH_OK)
        return st;
    myth_kv_share(&s->e->kv, (*out)->kv, s->kv);
    memcpy((*out)->token, s->token, (size_t)s->kv->n_tok * 4);
    myth_engine_write_table(s->e, *out);
    return MYTH_OK;
}

myth_status myth_seq_checkpoint(myth_seq *s, myth_error *err)
{
    myth_engine *e = s->e;
    for (uint32_t i = 0; i < e->y.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot == s->slot && cp->kv->n_tok == s->kv->n_tok)
            return MYTH_OK;                                       /* this end is remembered already */
    }
    for (uint32_t i = 0; i < e->y.opts.n_checkpoint; i++) {
        myth_checkpoint *cp = &e->checkpoint[i];
        if (cp->slot != UINT32_MAX)
            continue;
        myth_kv_share(&e->kv, cp->kv, s->kv);
        cp->slot = s->slot;
        return MYTH_OK;
    }
    return myth_fail(err, MYTH_EFULL, "all %u checkpoints are in use", e->y.opts.n_checkpoint);
}

/* Position n needs the keys n-W+1 .. n-1; a ring that has seen n_high tokens holds none older than the last ring_tok of them, even
 * when the sequence was cut since. */
static bool ring_reaches_back(const myth_seq *s, uint32_t n)
{
    const myth_layout *y = &s->e->y;
    if (!s->e->kv.has_rings || s->kv->n_high <= y->ring_tok)
        return true;
    uint32_t oldest_held = s->kv->n_high - y->ring_tok;
    uint32_t oldest_needed = n + 1 > y->ring_tok ? n + 1 - y->ring_tok : 0;
    return oldest_held <= oldest_needed;
}

myth_status myth_seq_truncate(myth_seq *s, uint32_t n, uint32_t *at, myth_error *err)
{
    myth_engine *e = s->e;
    uint32_t len = s->kv->n_tok;
    if (n > len)
        return myth_fail(err, MYTH_EARG, "cannot truncate %u tokens to %u", len, n);
    if (n < len) {
        if (n == 0 || ring_reaches_back(s, n)) {
            myth_kv_cut(&e->kv, s->kv, n);
        } else {
            myth_checkpoint *best = NULL;
            for (uint32_t i = 0; i < e->y.opts.n_checkpoint; i++) {
                myth_checkpoint *cp = &e->checkpoint[i];
                if (cp->slot == s->slot && cp->kv->n_tok <= n && (!best || cp->kv->n_tok > best->kv->n_tok))
                    best = cp;
            }
            myth_kv_release(&e->kv, s->kv);
            if (best)
                myth_kv_share(&e->kv, s->kv, best->kv);
        }
        drop_checkpoints(s, s->kv->n_tok);
        myth_engine_write_table(e, s);
    }
    *at = s->kv->n_tok;
    return MYTH_OK;
}

/* ---- saved form ---- */

static const char MAGIC[8] = { 'M', 'Y', 'T', 'H', 'S', 'E', 'Q', '1' };

typedef struct { uint32_t n_tok, n_high, page_tok, ring_tok, n_page, type_k, type_v, zero; uint64_t page_bytes, ring_bytes; } saved_header;

enum { HEADER_BYTES = 8 + sizeof(saved_header) };
_Static_assert(sizeof(saved_header) == 8 * 4 + 2 * 8, "no padding in the saved form");

static saved_header header_of(const myth_seq *s)
{
    const myth_layout *y = &s->e->y;
    uint32_t n = s->kv->n_tok;
    return (saved_header){
        .n_tok = n, .n_high = s->kv->n_high, .page_tok = y->page_tok, .ring_tok = y->ring_tok,
        .n_page = s->e->kv.has_pages ? (n + y->page_tok - 1) / y->page_tok : 0,
        .type_k = (uint32_t)y->opts.type_k, .type_v = (uint32_t)y->opts.type_v,
        .page_bytes = y->page_bytes, .ring_bytes = s->kv->ring >= 0 ? y->ring_bytes : 0 };
}

uint64_t myth_seq_save_bytes(const myth_seq *s)
{
    saved_header h = header_of(s);
    return HEADER_BYTES + 4 * (uint64_t)h.n_tok + h.n_page * h.page_bytes + h.ring_bytes;
}

myth_status myth_seq_save(const myth_seq *s, void *dst, uint64_t cap, myth_error *err)
{
    saved_header h = header_of(s);
    myth_engine *e = s->e;
    unsigned char *p = dst;
    if (cap < myth_seq_save_bytes(s))
        return myth_fail(err, MYTH_EFULL, "the sequence takes %llu bytes", (unsigned long long)myth_seq_save_bytes(s));
    memcpy(p, MAGIC, 8);
    memcpy(p + 8, &h, sizeof h);
    p += HEADER_BYTES;
    memcpy(p, s->token, 4 * (size_t)h.n_tok);
    p += 4 * (size_t)h.n_tok;
    for (uint32_t i = 0; i < h.n_page; i++, p += h.page_bytes)
        myth_stream_read(e->stream, p, myth_view_at(e->buf[MYTH_BUF_kv_global], (uint64_t)s->kv->page[i] * h.page_bytes, MYTH_F32), h.page_bytes);
    if (h.ring_bytes)
        myth_stream_read(e->stream, p, myth_view_at(e->buf[MYTH_BUF_kv_local], (uint64_t)s->kv->ring * h.ring_bytes, MYTH_F32), h.ring_bytes);
    return myth_stream_sync(e->stream, err);
}

myth_status myth_seq_restore(myth_seq *s, const void *src, uint64_t bytes, myth_error *err)
{
    myth_engine *e = s->e;
    saved_header h = { 0 }, want;
    myth_reader r = { src, bytes, 0 };
    const unsigned char *p = myth_reader_take(&r, HEADER_BYTES);
    if (!p || memcmp(p, MAGIC, 8) != 0)
        return myth_fail(err, MYTH_EFORMAT, "not a saved sequence");
    memcpy(&h, p + 8, sizeof h);
    if (s->kv->n_tok)
        return myth_fail(err, MYTH_EARG, "restore needs an empty sequence");
    if (h.n_tok > e->y.opts.n_ctx)
        return myth_fail(err, MYTH_EFULL, "saved sequence of %u tokens, context of %u", h.n_tok, e->y.opts.n_ctx);
    myth_kv_copy none;
    myth_kv_needs need = myth_kv_need(&e->kv, s->kv, h.n_tok);
    if (need.n_page > e->kv.n_free_page || need.n_ring > e->kv.n_free_ring)
        return myth_fail(err, MYTH_EFULL, "saved sequence needs %u pages, %u are free", need.n_page, e->kv.n_free_page);
    want = (saved_header){ .n_tok = h.n_tok, .n_high = h.n_high, .page_tok = e->y.page_tok, .ring_tok = e->y.ring_tok, .n_page = need.n_page,
                           .type_k = (uint32_t)e->y.opts.type_k, .type_v = (uint32_t)e->y.opts.type_v,
                           .page_bytes = e->y.page_bytes, .ring_bytes = need.n_ring ? e->y.ring_bytes : 0 };
    uint64_t body = 4 * (uint64_t)h.n_tok + want.n_page * want.page_bytes + want.ring_bytes;
    if (memcmp(&h, &want, sizeof h) != 0 || h.n_high < h.n_tok || h.n_high > e->y.opts.n_ctx || myth_reader_left(&r) != body)
        return myth_fail(err, MYTH_EFORMAT, "saved by an engine of another shape, or cut off");
    for (uint32_t i = 0; i < h.n_tok; i++) {
        uint32_t id;
        if (!myth_reader_u32(&r, &id) || id >= e->model->config.n_vocab)
            return myth_fail(err, MYTH_EFORMAT, "saved token %u is outside the vocabulary", i);
        s->token[i] = (int32_t)id;
    }
    myth_kv_grow(&e->kv, s->kv, h.n_tok, &none, &none);
    s->kv->n_tok = h.n_tok;
    s->kv->n_high = h.n_high;
    for (uint32_t i = 0; i < h.n_page; i++)
        myth_stream_write(e->stream, myth_view_at(e->buf[MYTH_BUF_kv_global], (uint64_t)s->kv->page[i] * h.page_bytes, MYTH_F32),
                          myth_reader_take(&r, h.page_bytes), h.page_bytes);
    if (h.ring_bytes)
        myth_stream_write(e->stream, myth_view_at(e->buf[MYTH_BUF_kv_local], (uint64_t)s->kv->ring * h.ring_bytes, MYTH_F32),
                          myth_reader_take(&r, h.ring_bytes), h.ring_bytes);
    myth_engine_write_table(e, s);
    return myth_stream_sync(e->stream, err);
}
