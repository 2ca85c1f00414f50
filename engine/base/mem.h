/* mem.h - the one way to get memory: a ledger per object, booked by class, device and owner.
 *
 * Ledger   counts the bytes asked for, per (device, class): live and peak. Device 0 is the host; others are booked by
 *          their drivers with myth_mem_book. The limit counts every class but MYTH_MEM_WEIGHTS_MAPPED (page cache).
 * Blocks   zeroed, aligned to 64 bytes, at least one byte each
 * Pages    the system gives the pages of a large block when they are first written, so less may be resident than is
 *          booked. With myth_mem_reserve a block has all its pages before it is handed out: a group's limit, or a
 *          system that promises more than it has, then ends nothing later
 * Owner    whoever calls myth_alloc frees with myth_free; myth_mem_close asserts that nothing is live (debug) and
 *          returns the bytes that leaked
 * Errors   NULL when the limit, the system or the fault table says no; nothing changed
 * Threads  all functions may be called from any thread (one mutex inside; never taken while decoding)             */
#ifndef MYTH_MEM_H
#define MYTH_MEM_H

#include "status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum {
    MYTH_MEM_WEIGHTS,        /* resident, repacked or converted tensors                       */
    MYTH_MEM_WEIGHTS_MAPPED, /* tensors used in place in a mapped file: shown, never limited  */
    MYTH_MEM_KV_GLOBAL,
    MYTH_MEM_KV_LOCAL,
    MYTH_MEM_ACTIVATIONS,
    MYTH_MEM_ATTN_SCRATCH,
    MYTH_MEM_LOGITS,
    MYTH_MEM_CAPTURE,
    MYTH_MEM_STAGING, /* text, ids and file bytes on their way in or out               */
    MYTH_MEM_GRAPH,   /* recorded streams                                              */
    MYTH_MEM_TOKENIZER,
    MYTH_MEM_FIXED, /* per device context, threads                                   */
    MYTH_MEM_OTHER,
    MYTH_MEM_CLASS_N
} myth_mem_class;

enum { MYTH_MEM_DEVICE_MAX = 17, MYTH_MEM_HOST = 0 };

typedef struct myth_mem myth_mem;

/* Which allocations fail on purpose. Zero everywhere = none. All given conditions must hold for the count to advance.
 */
typedef struct {
    uint64_t fail_nth;   /* 1 = the first matching allocation fails; 0 = off     */
    uint64_t fail_above; /* only allocations larger than this match              */
    uint32_t class_mask; /* bit per class; 0 = every class                       */
    bool forever;        /* every matching allocation from the n-th on fails     */
} myth_fault;

typedef struct {
    uint64_t live, peak;
} myth_mem_count;

/* limit_bytes 0 = none. *out is released by myth_mem_close. The mem object itself is not booked. */
myth_status myth_mem_open(myth_mem **out, uint64_t limit_bytes, myth_error *err);
/* Releases the object; returns the bytes still live (0 = clean). Takes NULL. Live blocks stay valid only in the leak
 * case. */
uint64_t myth_mem_close(myth_mem *mem);

void *myth_alloc(myth_mem *mem, myth_mem_class cls, const char *owner, size_t bytes);
/* count * size with overflow checked; NULL on overflow. */
void *myth_alloc_n(myth_mem *mem, myth_mem_class cls, const char *owner, size_t count, size_t size);
/* New block holds min(old, new) bytes of the old one, the rest zero; on NULL the old block is untouched. p may be NULL.
 */
void *myth_realloc(myth_mem *mem, myth_mem_class cls, const char *owner, void *p, size_t bytes);
void myth_free(myth_mem *mem, void *p); /* takes NULL */

/* How many bytes this process can still take; UINT64_MAX = unknown. */
typedef uint64_t (*myth_mem_left)(void);
/* Blocks allocated from now on are resident as a whole, where `left` (NULL = nobody is asked) says that there is room
 * for that: a page that a control group does not give ends the process instead of failing. NULL from myth_alloc where
 * there is none. For a ledger without threads yet. */
void myth_mem_reserve(myth_mem *mem, myth_mem_left left);
bool myth_mem_reserves(const myth_mem *mem);
/* Bytes off .. off + bytes - 1 of a live block, which nobody needs any more, are undefined, and their whole pages go
 * back to the system until they are written again. Booked they stay. Nothing in a ledger that reserves, for small
 * blocks, and under AddressSanitizer. */
void myth_mem_give_back(myth_mem *mem, void *p, uint64_t off, uint64_t bytes);

/* Book bytes that another allocator holds (a driver, a file mapping). False = limit or fault, nothing booked. */
bool myth_mem_book(myth_mem *mem, int device, myth_mem_class cls, const char *owner, uint64_t bytes);
void myth_mem_unbook(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes);
/* The same where that allocator did not get them from the system: myth_mem_last_refusal says so. */
void myth_mem_unbook_refused(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes);

void myth_mem_set_limit(myth_mem *mem, int device, uint64_t limit_bytes); /* 0 = none */
uint64_t myth_mem_limit(const myth_mem *mem, int device);
void myth_mem_set_fault(myth_mem *mem, const myth_fault *fault); /* restarts the count; NULL = off */
uint64_t myth_mem_n_alloc(const myth_mem *mem);                  /* calls of alloc, realloc, book since open */
myth_mem_count myth_mem_get(const myth_mem *mem, int device, myth_mem_class cls);
/* Sum over the limited classes: live now, and the largest value it ever had. */
myth_mem_count myth_mem_total(const myth_mem *mem, int device);
void myth_mem_reset_peak(myth_mem *mem); /* peaks become the live values */

/* Why the last block that was refused was: the ledger's limit, or a system that has no more (or a fault). */
typedef enum { MYTH_MEM_NONE_REFUSED, MYTH_MEM_OVER_LIMIT, MYTH_MEM_NOT_THERE } myth_mem_refusal;
myth_mem_refusal myth_mem_last_refusal(const myth_mem *mem);
/* The host's bytes with the last block that its limit refused: the least limit that lets the caller go on from there. 0
 * = unknown. */
uint64_t myth_mem_last_need(const myth_mem *mem);

const char *myth_mem_class_name(myth_mem_class cls); /* "kv_global" ... */

/* A bump allocator over one booked block. Sizes come from the plan; running out is an error of the plan. */
typedef struct {
    unsigned char *base;
    size_t cap, used;
    myth_mem *mem;
} myth_arena;

myth_status myth_arena_open(myth_arena *a, myth_mem *mem, myth_mem_class cls, const char *owner, size_t cap,
                            myth_error *err);
void *myth_arena_take(myth_arena *a, size_t bytes); /* 64-byte aligned; NULL when full, arena unchanged */
void myth_arena_close(myth_arena *a);               /* takes a zeroed arena */
/* What one take of `bytes` uses of an arena: the size rounded up to 64. */
static inline size_t myth_arena_cost(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
