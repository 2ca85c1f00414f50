/* kvcache.h - pages and rings of the cache: who holds which, copied on write. Host bookkeeping only; the bytes are device buffers.
 *
 * Layout   a page holds page_tok rows of every global layer, a ring min(n_ctx, window) rows of every local layer, both as
 *          [layer][K|V][kv_head][token][head_dim]; position p of a sequence is row p % page_tok of its page p / page_tok, and row
 *          p % ring_tok of its ring
 * Sharing  forks and checkpoints hold the same pages and ring; the first to write takes a copy of the page it writes into
 * Owner    the engine; a holder returns what it holds with myth_kv_release
 * Errors   MYTH_EFULL: the pool cannot serve the request; nothing changed                                                     */
#ifndef MYTH_KVCACHE_H
#define MYTH_KVCACHE_H

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_page, n_ring, page_tok, n_entry;
    uint32_t n_free_page, n_free_ring;
    int32_t *free_page, *free_ring;        /* stacks */
    uint32_t *page_ref, *ring_ref;
    bool has_pages, has_rings;
} myth_kvcache;

typedef struct {                           /* what a sequence or a checkpoint holds */
    uint32_t n_tok;                        /* rows written                          */
    uint32_t n_high;                       /* the largest n_tok since the ring was empty: it holds n_high - ring_tok .. n_tok - 1 */
    int32_t *page;                         /* [n_entry], -1 = none                  */
    int32_t ring;                          /* -1 = none                             */
} myth_kv_rows;

typedef struct { int32_t from, to; } myth_kv_copy;      /* whole page or ring; from -1 = nothing to copy */

uint64_t myth_kv_host_bytes(const myth_layout *y);
/* Hands out the arrays inside `block` (myth_kv_host_bytes): the cache's own, then the page lists of n_seq + n_checkpoint holders. */
void myth_kv_init(myth_kvcache *kv, const myth_layout *y, void *block, myth_kv_rows *rows, uint32_t n_rows);

typedef struct {
    uint32_t n_page, n_ring;               /* to take, copies included              */
    bool copies_page, copies_ring;         /* the first of them replaces a shared one */
} myth_kv_needs;

/* What appending n_new tokens takes. */
myth_kv_needs myth_kv_need(const myth_kvcache *kv, const myth_kv_rows *r, uint32_t n_new);
/* Between the two calls r counts as having left what it will copy, so that the last of several writers is priced without a copy. */
void myth_kv_leave(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need);
void myth_kv_return(myth_kvcache *kv, const myth_kv_rows *r, const myth_kv_needs *need);
/* Takes them; the caller checked that they are free. *page, *ring say what the device must copy before it writes. */
void myth_kv_grow(myth_kvcache *kv, myth_kv_rows *r, uint32_t n_new, myth_kv_copy *page, myth_kv_copy *ring);
/* n more rows were written. */
void myth_kv_wrote(myth_kv_rows *r, uint32_t n);
/* dst (which holds nothing) shares everything of src. */
void myth_kv_share(myth_kvcache *kv, myth_kv_rows *dst, const myth_kv_rows *src);
/* Gives back the pages past n tokens; with n = 0 the ring too. */
void myth_kv_cut(myth_kvcache *kv, myth_kv_rows *r, uint32_t n);
/* Gives back pages that were taken and hold no row. */
void myth_kv_trim(myth_kvcache *kv, myth_kv_rows *r);
void myth_kv_release(myth_kvcache *kv, myth_kv_rows *r);

#ifdef __cplusplus
}
#endif
#endif
