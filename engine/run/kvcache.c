/* kvcache.c - two pools with reference counts. */
#include "kvcache.h"

#include <assert.h>
#include <string.h>

uint64_t myth_kv_host_bytes(const myth_layout *layout)
{
    uint64_t holders = (uint64_t)layout->opts.n_seq + layout->opts.n_checkpoint;
    return 8 * ((uint64_t)layout->n_page + layout->n_ring) + 4 * holders * layout->n_entry;
}

void myth_kv_init(myth_kvcache *kv, const myth_layout *layout, void *block, myth_kv_rows *rows, uint32_t n_rows)
{
    int32_t *p = block;
    *kv = (myth_kvcache){
        .n_page = layout->n_page,
        .n_ring = layout->n_ring,
        .page_tok = layout->page_tok,
        .n_entry = layout->n_entry,
        .n_ctx = layout->opts.n_ctx,
        .has_pages = layout->n_page > 0,
        .has_rings = layout->n_ring > 0,
    };
    kv->free_page = p;
    kv->page_ref = (uint32_t *)(p += layout->n_page);
    kv->free_ring = p += layout->n_page;
    kv->ring_ref = (uint32_t *)(p += layout->n_ring);
    p += layout->n_ring;
    for (uint32_t i = 0; i < n_rows; i++, p += layout->n_entry) {
        rows[i] = (myth_kv_rows){.page = p, .ring = -1};
        for (uint32_t j = 0; j < layout->n_entry; j++)
            p[j] = -1;
    }
    for (uint32_t i = 0; i < kv->n_page; i++) /* low numbers are taken first */
        kv->free_page[kv->n_free_page++] = (int32_t)(kv->n_page - 1 - i);
    for (uint32_t i = 0; i < kv->n_ring; i++)
        kv->free_ring[kv->n_free_ring++] = (int32_t)(kv->n_ring - 1 - i);
}

/* Pages of n rows from the start of one. */
static uint32_t pages_for(const myth_kvcache *kv, uint32_t n) { return n / kv->page_tok + (n % kv->page_tok > 0); }

/* Pages wholly in a gap. The first would be page pages_for(from). */
static uint32_t pages_in(const myth_kvcache *kv, myth_kv_gap gap)
{
    uint32_t first = pages_for(kv, gap.from), end = gap.to / kv->page_tok;
    return end > first ? end - first : 0;
}

uint32_t myth_kv_gone(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k <= i; k++)
        n += pages_in(kv, r->gap[k]);
    return n;
}

/* Pages wholly in the gaps of r. */
static uint32_t n_gone(const myth_kvcache *kv, const myth_kv_rows *r)
{
    return r->n_gap ? myth_kv_gone(kv, r, r->n_gap - 1) : 0;
}

/* Pages with the gaps of r and positions up to n_pos. The page in which the last gap ends counts from its first row
 * after the gap on. */
static uint32_t n_pages_to(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t n_pos)
{
    if (!kv->has_pages)
        return 0;
    const myth_kv_gap last = r->n_gap ? r->gap[r->n_gap - 1] : (myth_kv_gap){0, 0};
    if (n_pos > last.to)
        return pages_for(kv, n_pos) - n_gone(kv, r);
    return pages_for(kv, last.from) - (n_gone(kv, r) - pages_in(kv, last));
}

uint32_t myth_kv_pos(const myth_kv_rows *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->n_gap && r->gap[i].from < n; i++)
        n += r->gap[i].to - r->gap[i].from;
    return n;
}

uint32_t myth_kv_n_page(const myth_kvcache *kv, const myth_kv_rows *r) { return n_pages_to(kv, r, r->n_pos); }

/* The entry that the next row is written to; it may not be there yet. */
static uint32_t next_entry(const myth_kvcache *kv, const myth_kv_rows *r)
{
    return r->n_pos / kv->page_tok - n_gone(kv, r);
}

uint32_t myth_kv_room(const myth_kvcache *kv, const myth_kv_rows *r)
{
    uint64_t room = kv->n_ctx - myth_kv_len(r), left = MYTH_KV_POS_MAX - r->n_pos;
    if (kv->has_pages) {
        uint64_t end = ((uint64_t)kv->n_entry + n_gone(kv, r)) * kv->page_tok,
                 pages = end > r->n_pos ? end - r->n_pos : 0;
        room = room < pages ? room : pages;
    }
    return (uint32_t)(room < left ? room : left);
}

uint32_t myth_kv_entry_pos(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t i)
{
    for (uint32_t k = 0; k < r->n_gap && i >= pages_for(kv, r->gap[k].from); k++)
        i += pages_in(kv, r->gap[k]);
    return i * kv->page_tok;
}

static bool last_page_is_shared(const myth_kvcache *kv, const myth_kv_rows *r)
{
    return kv->has_pages && next_entry(kv, r) < myth_kv_n_page(kv, r) && kv->page_ref[r->page[next_entry(kv, r)]] > 1;
}

static bool ring_is_shared(const myth_kvcache *kv, const myth_kv_rows *r)
{
    return r->ring >= 0 && kv->ring_ref[r->ring] > 1;
}

myth_kv_needs myth_kv_need(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t n_new)
{
    myth_kv_needs n = {0};
    if (n_new == 0)
        return n;
    n.copies_page = last_page_is_shared(kv, r);
    n.copies_ring = ring_is_shared(kv, r);
    n.n_page = n_pages_to(kv, r, r->n_pos + n_new) - myth_kv_n_page(kv, r) + n.copies_page;
    n.n_ring = kv->has_rings && (r->ring < 0 || n.copies_ring);
    return n;
}

void myth_kv_leave(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need)
{
    if (need->copies_page)
        kv->page_ref[r->page[next_entry(kv, r)]]--;
    if (need->copies_ring)
        kv->ring_ref[r->ring]--;
}

void myth_kv_return(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need)
{
    if (need->copies_page)
        kv->page_ref[r->page[next_entry(kv, r)]]++;
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
    if (--kv->page_ref[p] > 0)
        return;
    kv->free_page[kv->n_free_page++] = p;
    if (kv->gave)
        kv->gave(kv->owner, false, p);
}

int32_t myth_kv_new_ring(myth_kvcache *kv)
{
    assert(kv->n_free_ring);
    int32_t ring = kv->free_ring[--kv->n_free_ring];
    kv->ring_ref[ring] = 1;
    return ring;
}

static void drop_ring(myth_kvcache *kv, int32_t ring)
{
    if (ring < 0 || --kv->ring_ref[ring] > 0)
        return;
    kv->free_ring[kv->n_free_ring++] = ring;
    if (kv->gave)
        kv->gave(kv->owner, true, ring);
}

void myth_kv_grow(myth_kvcache *kv, myth_kv_rows *r, uint32_t n_new, myth_kv_copy *page, myth_kv_copy *ring)
{
    *page = *ring = (myth_kv_copy){-1, -1};
    if (n_new == 0)
        return;
    if (last_page_is_shared(kv, r)) {
        int32_t *last = &r->page[next_entry(kv, r)];
        *page = (myth_kv_copy){*last, take_page(kv)};
        drop_page(kv, *last);
        *last = page->to;
    }
    for (uint32_t i = myth_kv_n_page(kv, r); i < n_pages_to(kv, r, r->n_pos + n_new); i++)
        r->page[i] = take_page(kv);
    if (kv->has_rings && (r->ring < 0 || ring_is_shared(kv, r))) {
        int32_t to = myth_kv_new_ring(kv);
        *ring = (myth_kv_copy){r->ring, to};
        drop_ring(kv, r->ring);
        r->ring = to;
    }
}

void myth_kv_wrote(myth_kv_rows *r, uint32_t n)
{
    r->n_pos += n;
    if (r->n_high < r->n_pos)
        r->n_high = r->n_pos;
}

void myth_kv_share(myth_kvcache *kv, myth_kv_rows *dst, const myth_kv_rows *src)
{
    for (uint32_t i = 0; i < myth_kv_n_page(kv, src); i++)
        kv->page_ref[dst->page[i] = src->page[i]]++;
    int32_t *page = dst->page;
    *dst = *src;
    dst->page = page;
    if (dst->ring >= 0)
        kv->ring_ref[dst->ring]++;
}

myth_kv_needs myth_kv_need_all(const myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_rows *want)
{
    return (myth_kv_needs){.n_page = myth_kv_n_page(kv, want), .n_ring = kv->has_rings && want->n_pos && r->ring < 0};
}

void myth_kv_take_all(myth_kvcache *kv, myth_kv_rows *r, const myth_kv_rows *want)
{
    for (uint32_t i = 0; i < myth_kv_n_page(kv, want); i++)
        r->page[i] = take_page(kv);
    if (kv->has_rings && want->n_pos && r->ring < 0)
        r->ring = myth_kv_new_ring(kv);
    r->n_pos = want->n_pos;
    r->n_high = want->n_high;
    r->n_gap = want->n_gap;
    memcpy(r->gap, want->gap, sizeof(r->gap));
}

/* Whether all rows of page `page` that r had are in gaps. */
static bool is_empty(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t page)
{
    const uint32_t from = page * kv->page_tok, to = r->n_pos - from < kv->page_tok ? r->n_pos : from + kv->page_tok;
    for (uint32_t i = 0; i < r->n_gap; i++)
        if (r->gap[i].from <= from && to <= r->gap[i].to)
            return true;
    return false;
}

bool myth_kv_evict(myth_kvcache *kv, myth_kv_rows *r, uint32_t from, uint32_t n)
{
    if (n == 0)
        return true;
    myth_kv_gap now = {myth_kv_pos(r, from), myth_kv_pos(r, from + n)}; /* from the end of the row before `from` on */
    uint32_t first = 0, end;
    while (first < r->n_gap && r->gap[first].to < now.from)
        first++;
    for (end = first; end < r->n_gap && r->gap[end].from <= now.to; end++) {
        now.from = r->gap[end].from < now.from ? r->gap[end].from : now.from;
        now.to = r->gap[end].to > now.to ? r->gap[end].to : now.to;
    }
    if (first == end && r->n_gap == MYTH_SEQ_GAPS)
        return false;
    const myth_kv_rows before = *r;
    memmove(r->gap + first + 1, r->gap + end, (r->n_gap - end) * sizeof(*r->gap));
    r->gap[first] = now;
    r->n_gap = r->n_gap - (end - first) + 1;
    uint32_t n_page = 0;
    const uint32_t had = myth_kv_n_page(kv, &before);
    for (uint32_t i = 0; i < had; i++) {
        const int32_t page = r->page[i];
        r->page[i] = -1;
        if (is_empty(kv, r, myth_kv_entry_pos(kv, &before, i) / kv->page_tok))
            drop_page(kv, page);
        else
            r->page[n_page++] = page;
    }
    assert(n_page == myth_kv_n_page(kv, r));
    return true;
}

void myth_kv_cut(myth_kvcache *kv, myth_kv_rows *r, uint32_t n)
{
    uint32_t had = myth_kv_n_page(kv, r);
    r->n_pos = myth_kv_pos(r, n);
    while (r->n_gap && r->gap[r->n_gap - 1].from >= r->n_pos)
        r->n_gap--;
    for (uint32_t i = myth_kv_n_page(kv, r); i < had; i++) {
        drop_page(kv, r->page[i]);
        r->page[i] = -1;
    }
    if (n == 0) {
        drop_ring(kv, r->ring);
        r->ring = -1;
        r->n_high = 0;
    }
}

void myth_kv_trim(myth_kvcache *kv, myth_kv_rows *r)
{
    for (uint32_t i = myth_kv_n_page(kv, r); i < kv->n_entry && r->page[i] >= 0; i++) {
        drop_page(kv, r->page[i]);
        r->page[i] = -1;
    }
}

void myth_kv_release(myth_kvcache *kv, myth_kv_rows *r) { myth_kv_cut(kv, r, 0); }
