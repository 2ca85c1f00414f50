/* kvcache.h - which sequence or checkpoint (a "holder") holds which pages and rings of the cache. Host bookkeeping
 * only: the bytes are in device buffers.
 *
 * Layout   a page holds page_tok rows of every global layer, a ring min(n_ctx, window) rows of every local layer, both
 *          as [layer][K|V][kv_head][token][head_dim]; position p of a sequence is row p % page_tok of its page p /
 *          page_tok, and row p % ring_tok of its ring
 * Gaps     evicted rows leave gaps, at most MYTH_SEQ_GAPS: the pages hold the positions outside them, in the rows that
 *          they had before. Gaps are in order of position, and a held position is between two of them. A page wholly in
 *          a gap is given back, and later entries of the table move up. Rings have no gaps: they hold the last
 *          positions. So the pages limit a holder's rows, and only their type limits its positions
 * Sharing  forks and checkpoints hold the same pages and ring; whoever writes first copies the page that it writes to
 * Owner    the engine; a holder returns what it holds with myth_kv_release
 * Units    n_pos, gaps and n_high in positions; "rows" are those held, n_pos less the positions in gaps
 * Errors   MYTH_EFULL: the pool cannot serve the request; nothing changed */
#ifndef MYTH_KVCACHE_H
#define MYTH_KVCACHE_H

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_page, n_ring, page_tok, n_entry;
    uint32_t n_ctx; /* rows of a holder at most */
    uint32_t n_free_page, n_free_ring;
    int32_t *free_page, *free_ring; /* stacks */
    uint32_t *page_ref, *ring_ref;
    bool has_pages, has_rings;
    /* Called with each page or ring that nobody holds any more; NULL = nobody is told. Set after init. */
    void (*gave)(void *owner, bool is_ring, int32_t number);
    void *owner;
} myth_kvcache;

typedef struct {
    uint32_t from, to; /* the positions from .. to - 1 were evicted */
} myth_kv_gap;

typedef struct {     /* what a sequence or a checkpoint holds */
    uint32_t n_pos;  /* the next token's position             */
    uint32_t n_high; /* the largest n_pos since the ring was empty: it holds n_high - ring_tok .. n_pos - 1 */
    uint32_t n_gap;
    myth_kv_gap gap[MYTH_SEQ_GAPS];
    int32_t *page; /* [n_entry], -1 = none                  */
    int32_t ring;  /* -1 = none                             */
} myth_kv_rows;

enum { MYTH_KV_POS_MAX = INT32_MAX }; /* positions of a sequence at most */

typedef struct {
    int32_t from, to;
} myth_kv_copy; /* whole page or ring; from -1 = nothing to copy */

uint64_t myth_kv_host_bytes(const myth_layout *layout);
/* Hands out the arrays inside `block` (myth_kv_host_bytes): the cache's own, then the page lists of n_seq +
 * n_checkpoint holders. */
void myth_kv_init(myth_kvcache *kv, const myth_layout *layout, void *block, myth_kv_rows *rows, uint32_t n_rows);

static inline uint32_t myth_kv_len(const myth_kv_rows *r)
{
    uint32_t n = r->n_pos;
    for (uint32_t i = 0; i < r->n_gap; i++)
        n -= r->gap[i].to - r->gap[i].from;
    return n;
}
/* The position that the next row would have if only the first n of the rows held were kept. */
uint32_t myth_kv_pos(const myth_kv_rows *r, uint32_t n);
/* Pages that the rows of r lie in: its entries 0 .. n - 1. */
uint32_t myth_kv_n_page(const myth_kvcache *kv, const myth_kv_rows *r);
/* Rows that r can take before it holds n_ctx of them, its table is full (the ends of gaps leave rows of their pages
 * unused) or the positions end. Without gaps n_ctx less the rows held. */
uint32_t myth_kv_room(const myth_kvcache *kv, const myth_kv_rows *r);
/* The position of the first row of entry i. */
uint32_t myth_kv_entry_pos(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t i);
/* Pages that the table lacks before the end of gap i: those wholly in it or in a gap before it. */
uint32_t myth_kv_gone(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t i);

typedef struct {
    uint32_t n_page, n_ring;       /* to take, copies included              */
    bool copies_page, copies_ring; /* the first of them replaces a shared one */
} myth_kv_needs;

/* The pages and rings that appending n_new tokens (at most myth_kv_room) takes. */
myth_kv_needs myth_kv_need(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t n_new);
/* Several holders may append in the same step. Leave gives up r's reference to the page and ring that it will copy, so
 * that myth_kv_need counts no copy for the last holder; return takes the reference back. */
void myth_kv_leave(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need);
void myth_kv_return(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need);
/* Takes these pages and rings; the caller has checked that they are free. *page and *ring say what the device must copy
 * before it writes. */
void myth_kv_grow(myth_kvcache *kv, myth_kv_rows *r, uint32_t n_new, myth_kv_copy *page, myth_kv_copy *ring);
/* n more rows were written. */
void myth_kv_wrote(myth_kv_rows *r, uint32_t n);
/* dst (which holds nothing) shares everything of src. */
void myth_kv_share(myth_kvcache *kv, myth_kv_rows *dst, const myth_kv_rows *src);
/* Need_all: the pages and rings that an empty holder must take to hold as many rows as `want`. Take_all takes them.
 * want->page and want->ring are not read. */
myth_kv_needs myth_kv_need_all(const myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_rows *want);
void myth_kv_take_all(myth_kvcache *kv, myth_kv_rows *r, const myth_kv_rows *want);
/* A ring that nobody holds, for one holder; the caller has checked that one is free. */
int32_t myth_kv_new_ring(myth_kvcache *kv);
/* Rows from .. from + n - 1 of those held become a gap, one with the gaps that they touch or enclose, and pages wholly
 * in it are given back. Nothing is moved. False, and nothing changed: it would be one gap more than MYTH_SEQ_GAPS. */
bool myth_kv_evict(myth_kvcache *kv, myth_kv_rows *r, uint32_t from, uint32_t n);
/* Keeps the first n of the rows held: the next has position myth_kv_pos(r, n), and the gaps from there on are gone too.
 * Gives back the pages past them; with n = 0 the ring too. */
void myth_kv_cut(myth_kvcache *kv, myth_kv_rows *r, uint32_t n);
/* Gives back pages that were taken and hold no row. */
void myth_kv_trim(myth_kvcache *kv, myth_kv_rows *r);
void myth_kv_release(myth_kvcache *kv, myth_kv_rows *r);

#ifdef __cplusplus
}
#endif
#endif
