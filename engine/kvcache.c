/* kvcache.c - two pools with reference counts. */
#include "kvcache.h"

#include <assert.h>

uint64_t myth_kv_host_bytes(const myth_layout *y)
{
    uint64_t holders = (uint64_t)y->opts.n_seq + y->opts.n_checkpoint;
    return 8 * ((uint64_t)y->n_page + y->n_ring) + 4 * holders * y->n_entry;
}

void myth_kv_init(myth_kvcache *kv, const myth_layout *y, void *block, myth_kv_rows *rows, uint32_t n_rows)
{
    int32_t *p = block;
    *kv = (myth_kvcache){ .n_page = y->n_page, .n_ring = y->n_ring, .page_tok = y->page_tok, .n_entry = y->n_entry,
                          .has_pages = y->n_page > 0, .has_rings = y->n_ring > 0 };
    kv->free_page = p;
    kv->page_ref = (uint32_t *)(p += y->n_page);
    kv->free_ring = p += y->n_page;
    kv->ring_ref = (uint32_t *)(p += y->n_ring);
    p += y->n_ring;
    for (uint32_t i = 0; i < n_rows; i++, p += y->n_entry) {
        rows[i] = (myth_kv_rows){ .page = p, .ring = -1 };
        for (uint32_t j = 0; j < y->n_entry; j++)
            p[j] = -1;
    }
    for (uint32_t i = 0; i < kv->n_page; i++)              /* low numbers are taken first */
        kv->free_page[kv->n_free_page++] = (int32_t)(kv->n_page - 1 - i);
    for (uint32_t i = 0; i < kv->n_ring; i++)
        kv->free_ring[kv->n_free_ring++] = (int32_t)(kv->n_ring - 1 - i);
}

static uint32_t n_pages_of(const myth_kvcache *kv, uint32_t n_tok)
{
    return kv->has_pages ? (n_tok + kv->page_tok - 1) / kv->page_tok : 0;
}

static bool last_page_is_shared(const myth_kvcache *kv, const myth_kv_rows *r)
{
    return kv->has_pages && r->n_tok % kv->page_tok && kv->page_ref[r->page[r->n_tok / kv->page_tok]] > 1;
}

static bool ring_is_shared(const myth_kvcache *kv, const myth_kv_rows *r) { return r->ring >= 0 && kv->ring_ref[r->ring] > 1; }

myth_kv_needs myth_kv_need(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t n_new)
{
    myth_kv_needs n = { 0 };
    if (n_new == 0)
        return n;
    n.copies_page = last_page_is_shared(kv, r);
    n.copies_ring = ring_is_shared(kv, r);
    n.n_page = n_pages_of(kv, r->n_tok + n_new) - n_pages_of(kv, r->n_tok) + n.copies_page;
    n.n_ring = kv->has_rings && (r->ring < 0 || n.copies_ring);
    return n;
}

void myth_kv_leave(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need)
{
    if (need->copies_page)
        kv->page_ref[r->page[r->n_tok / kv->page_tok]]--;
    if (need->copies_ring)
        kv->ring_ref[r->ring]--;
}

void myth_kv_return(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need)
{
    if (need->copies_page)
        kv->page_ref[r->page[r->n_tok / kv->page_tok]]++;
    if (need->copies_ring)
        kv->ring_ref[r->ring]++;
}

static int32_t take_page(myth_kvcache *kv)
{
    assert(kv->n_free_page);
    int32_t p = kv->free_page[--kv->n_free_page];
    kv->page_ref[p] = 1;
    return p;
}

static void drop_page(myth_kvcache *kv, int32_t p)
{
    if (--kv->page_ref[p] == 0)
        kv->free_page[kv->n_free_page++] = p;
}

static void drop_ring(myth_kvcache *kv, int32_t ring)
{
    if (ring >= 0 && --kv->ring_ref[ring] == 0)
        kv->free_ring[kv->n_free_ring++] = ring;
}

void myth_kv_grow(myth_kvcache *kv, myth_kv_rows *r, uint32_t n_new, myth_kv_copy *page, myth_kv_copy *ring)
{
    *page = *ring = (myth_kv_copy){ -1, -1 };
    if (n_new == 0)
        return;
    if (last_page_is_shared(kv, r)) {
        int32_t *last = &r->page[r->n_tok / kv->page_tok];
        *page = (myth_kv_copy){ *last, take_page(kv) };
        drop_page(kv, *last);
        *last = page->to;
    }
    for (uint32_t i = n_pages_of(kv, r->n_tok); i < n_pages_of(kv, r->n_tok + n_new); i++)
        r->page[i] = take_page(kv);
    if (kv->has_rings && (r->ring < 0 || ring_is_shared(kv, r))) {
        assert(kv->n_free_ring);
        int32_t to = kv->free_ring[--kv->n_free_ring];
        kv->ring_ref[to] = 1;
        *ring = (myth_kv_copy){ r->ring, to };
        drop_ring(kv, r->ring);
        r->ring = to;
    }
}

void myth_kv_wrote(myth_kv_rows *r, uint32_t n)
{
    r->n_tok += n;
    if (r->n_high < r->n_tok)
        r->n_high = r->n_tok;
}

void myth_kv_share(myth_kvcache *kv, myth_kv_rows *dst, const myth_kv_rows *src)
{
    for (uint32_t i = 0; i < n_pages_of(kv, src->n_tok); i++)
        kv->page_ref[dst->page[i] = src->page[i]]++;
    dst->n_tok = src->n_tok;
    dst->n_high = src->n_high;
    dst->ring = src->ring;
    if (dst->ring >= 0)
        kv->ring_ref[dst->ring]++;
}

void myth_kv_cut(myth_kvcache *kv, myth_kv_rows *r, uint32_t n)
{
    for (uint32_t i = n_pages_of(kv, n); i < n_pages_of(kv, r->n_tok); i++) {
        drop_page(kv, r->page[i]);
        r->page[i] = -1;
    }
    r->n_tok = n;
    if (n == 0) {
        drop_ring(kv, r->ring);
        r->ring = -1;
        r->n_high = 0;
    }
}

void myth_kv_trim(myth_kvcache *kv, myth_kv_rows *r)
{
    for (uint32_t i = n_pages_of(kv, r->n_tok); i < kv->n_entry && r->page[i] >= 0; i++) {
        drop_page(kv, r->page[i]);
        r->page[i] = -1;
    }
}

void myth_kv_release(myth_kvcache *kv, myth_kv_rows *r)
{
    myth_kv_cut(kv, r, 0);
}
