/* mem.c - blocks with a hidden header, a ledger under one mutex.
 *
 * A block    [head, 64 bytes][the caller's bytes], the caller's part aligned to 64
 * Small      from the C library, cleared here
 * Large      an anonymous mapping of its own, so that a free gives the pages back at once and resident memory follows
 *            the ledger. Under AddressSanitizer every block comes from the C library, where its ends are guarded */
#define _GNU_SOURCE
#include "mem.h"

#include "asan.h"
#include "bytes.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 64, MMAP_FROM = 64 << 10 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static const uint32_t MAGIC = 0x6d797468;

typedef struct {
    uint64_t bytes; /* as asked for, and as booked */
    const char *owner;
    uint32_t magic, cls;
    bool is_mapped;
} block_head;

typedef struct {
    myth_mem_count count[MYTH_MEM_CLASS_N];
    myth_mem_count total; /* of the limited classes */
    uint64_t limit;       /* 0 = none */
} device_ledger;

struct myth_mem {
    pthread_mutex_t lock;
    device_ledger device[MYTH_MEM_DEVICE_MAX];
    myth_fault fault;
    uint64_t fault_count; /* matching allocations so far */
    uint64_t n_alloc;
    myth_mem_refusal refusal;
    uint64_t need; /* of the host, with the last block that its limit refused */
    bool reserves;
    myth_mem_left left; /* NULL = unknown */
};

_Static_assert(sizeof(block_head) <= ALIGN, "the head fits in front of an aligned block");

static void lock(const myth_mem *mem) { pthread_mutex_lock((pthread_mutex_t *)&mem->lock); }
static void unlock(const myth_mem *mem) { pthread_mutex_unlock((pthread_mutex_t *)&mem->lock); }

static bool fault_hits(myth_mem *mem, myth_mem_class cls, uint64_t bytes)
{
    const myth_fault *f = &mem->fault;
    if (f->fail_nth == 0 || bytes <= f->fail_above || (f->class_mask && !(f->class_mask >> cls & 1)))
        return false;
    mem->fault_count++;
    return f->forever ? mem->fault_count >= f->fail_nth : mem->fault_count == f->fail_nth;
}

static bool is_limited(myth_mem_class cls) { return cls != MYTH_MEM_WEIGHTS_MAPPED; }

static void count_add(myth_mem_count *c, uint64_t bytes)
{
    c->live += bytes;
    if (c->live > c->peak)
        c->peak = c->live;
}

static bool book(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX && (unsigned)cls < MYTH_MEM_CLASS_N);
    lock(mem);
    device_ledger *d = &mem->device[device];
    uint64_t after = 0;
    mem->n_alloc++;
    bool ok = !fault_hits(mem, cls, bytes) && myth_add_u64(&after, d->count[cls].live, bytes);
    const bool was_ok = ok;
    if (ok && is_limited(cls))
        ok = myth_add_u64(&after, d->total.live, bytes) && (d->limit == 0 || after <= d->limit);
    if (!ok)
        mem->refusal = was_ok ? MYTH_MEM_OVER_LIMIT : MYTH_MEM_NOT_THERE;
    if (!ok && was_ok)
        mem->need = device == MYTH_MEM_HOST ? after : 0;
    if (ok) {
        count_add(&d->count[cls], bytes);
        if (is_limited(cls))
            count_add(&d->total, bytes);
    }
    unlock(mem);
    return ok;
}

static void unbook(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX && (unsigned)cls < MYTH_MEM_CLASS_N);
    lock(mem);
    device_ledger *d = &mem->device[device];
    assert(bytes <= d->count[cls].live);
    d->count[cls].live -= bytes;
    if (is_limited(cls))
        d->total.live -= bytes;
    unlock(mem);
}

myth_status myth_mem_open(myth_mem **out, uint64_t limit_bytes, myth_error *err)
{
    myth_mem *mem = calloc(1, sizeof(*mem));
    if (!mem)
        return myth_fail(err, MYTH_ENOMEM, "ledger: %zu bytes", sizeof(*mem));
    if (pthread_mutex_init(&mem->lock, NULL) != 0) {
        free(mem);
        return myth_fail(err, MYTH_ENOMEM, "ledger: no mutex");
    }
    mem->device[MYTH_MEM_HOST].limit = limit_bytes;
    *out = mem;
    return MYTH_OK;
}

uint64_t myth_mem_close(myth_mem *mem)
{
    if (!mem)
        return 0;
    uint64_t leaked = 0;
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++)
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
            leaked += mem->device[d].count[c].live;
    assert(leaked == 0);
    pthread_mutex_destroy(&mem->lock);
    free(mem);
    return leaked;
}

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* Makes a fresh mapping resident. A system that cannot do that at once gets every page written. */
static bool populate(unsigned char *p, size_t bytes)
{
    int st;
    do
        st = madvise(p, bytes, MADV_POPULATE_WRITE);
    while (st != 0 && (errno == EINTR || errno == EAGAIN));
    if (st == 0 || errno != EINVAL)
        return st == 0;
    for (size_t i = 0; i < bytes; i += page_bytes())
        *(volatile unsigned char *)(p + i) = 0;
    return true;
}

/* NULL = the system says no. */
static unsigned char *take_from_system(const myth_mem *mem, uint64_t bytes, bool *is_mapped)
{
    size_t whole = (size_t)bytes + ALIGN;
    *is_mapped = !MYTH_HAS_ASAN && whole >= MMAP_FROM;
    if (mem->reserves && whole >= MMAP_FROM && mem->left && mem->left() < whole)
        return NULL;
    if (*is_mapped) {
        void *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || !mem->reserves || populate(p, whole))
            return p == MAP_FAILED ? NULL : p;
        munmap(p, whole);
        return NULL;
    }
    void *p = NULL;
    if (posix_memalign(&p, ALIGN, whole) != 0)
        return NULL;
    return memset(p, 0, whole);
}

static block_head *head_of(void *p)
{
    block_head *h = (block_head *)((unsigned char *)p - ALIGN);
    assert(h->magic == MAGIC);
    return h;
}

void *myth_alloc(myth_mem *mem, myth_mem_class cls, const char *owner, size_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    if (bytes > PTRDIFF_MAX - ALIGN || !book(mem, MYTH_MEM_HOST, cls, bytes))
        return NULL;
    bool is_mapped;
    unsigned char *base = take_from_system(mem, bytes, &is_mapped);
    if (!base) {
        myth_mem_unbook_refused(mem, MYTH_MEM_HOST, cls, bytes);
        return NULL;
    }
    *(block_head *)base =
        (block_head){.bytes = bytes, .owner = owner, .magic = MAGIC, .cls = (uint32_t)cls, .is_mapped = is_mapped};
    return base + ALIGN;
}

void *myth_alloc_n(myth_mem *mem, myth_mem_class cls, const char *owner, size_t count, size_t size)
{
    uint64_t bytes;
    if (!myth_mul_u64(&bytes, count, size) || bytes > SIZE_MAX)
        return NULL;
    return myth_alloc(mem, cls, owner, (size_t)bytes);
}

void *myth_realloc(myth_mem *mem, myth_mem_class cls, const char *owner, void *p, size_t bytes)
{
    void *fresh = myth_alloc(mem, cls, owner, bytes);
    if (!fresh || !p)
        return fresh;
    uint64_t old = head_of(p)->bytes;
    memcpy(fresh, p, old < bytes ? (size_t)old : bytes);
    myth_free(mem, p);
    return fresh;
}

void myth_free(myth_mem *mem, void *p)
{
    if (!p)
        return;
    block_head *h = head_of(p);
    unbook(mem, MYTH_MEM_HOST, (myth_mem_class)h->cls, h->bytes);
    h->magic = 0;
    if (h->is_mapped)
        munmap(h, (size_t)h->bytes + ALIGN);
    else
        free(h);
}

void myth_mem_reserve(myth_mem *mem, myth_mem_left left)
{
    mem->reserves = true;
    mem->left = left;
}

bool myth_mem_reserves(const myth_mem *mem) { return mem->reserves; }

void myth_mem_give_back(myth_mem *mem, void *p, uint64_t off, uint64_t bytes)
{
    const block_head *h = head_of(p);
    assert(off <= h->bytes && bytes <= h->bytes - off);
    if (mem->reserves || !h->is_mapped)
        return;
    const uint64_t page = page_bytes(), at = (uint64_t)(uintptr_t)p + off, from = (at + page - 1) / page * page,
                   to = (at + bytes) / page * page;
    if (to > from)
        madvise((unsigned char *)p + (from - (uint64_t)(uintptr_t)p), (size_t)(to - from), MADV_DONTNEED);
}

bool myth_mem_book(myth_mem *mem, int device, myth_mem_class cls, const char *owner, uint64_t bytes)
{
    (void)owner;
    return book(mem, device, cls, bytes);
}

void myth_mem_unbook(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes) { unbook(mem, device, cls, bytes); }

void myth_mem_unbook_refused(myth_mem *mem, int device, myth_mem_class cls, uint64_t bytes)
{
    unbook(mem, device, cls, bytes);
    lock(mem);
    mem->refusal = MYTH_MEM_NOT_THERE;
    unlock(mem);
}

void myth_mem_set_limit(myth_mem *mem, int device, uint64_t limit_bytes)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX);
    lock(mem);
    mem->device[device].limit = limit_bytes;
    unlock(mem);
}

uint64_t myth_mem_limit(const myth_mem *mem, int device)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX);
    lock(mem);
    uint64_t limit = mem->device[device].limit;
    unlock(mem);
    return limit;
}

myth_mem_refusal myth_mem_last_refusal(const myth_mem *mem)
{
    lock(mem);
    const myth_mem_refusal why = mem->refusal;
    unlock(mem);
    return why;
}

uint64_t myth_mem_last_need(const myth_mem *mem)
{
    lock(mem);
    const uint64_t need = mem->need;
    unlock(mem);
    return need;
}

void myth_mem_set_fault(myth_mem *mem, const myth_fault *fault)
{
    lock(mem);
    mem->fault = fault ? *fault : (myth_fault){0};
    mem->fault_count = 0;
    unlock(mem);
}

uint64_t myth_mem_n_alloc(const myth_mem *mem)
{
    lock(mem);
    uint64_t n = mem->n_alloc;
    unlock(mem);
    return n;
}

myth_mem_count myth_mem_get(const myth_mem *mem, int device, myth_mem_class cls)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX && (unsigned)cls < MYTH_MEM_CLASS_N);
    lock(mem);
    myth_mem_count c = mem->device[device].count[cls];
    unlock(mem);
    return c;
}

myth_mem_count myth_mem_total(const myth_mem *mem, int device)
{
    assert(device >= 0 && device < MYTH_MEM_DEVICE_MAX);
    lock(mem);
    myth_mem_count c = mem->device[device].total;
    unlock(mem);
    return c;
}

void myth_mem_reset_peak(myth_mem *mem)
{
    lock(mem);
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++) {
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
            mem->device[d].count[c].peak = mem->device[d].count[c].live;
        mem->device[d].total.peak = mem->device[d].total.live;
    }
    unlock(mem);
}

const char *myth_mem_class_name(myth_mem_class cls)
{
    static const char *const name[MYTH_MEM_CLASS_N] = {
        [MYTH_MEM_WEIGHTS] = "weights",
        [MYTH_MEM_WEIGHTS_MAPPED] = "weights_mapped",
        [MYTH_MEM_KV_GLOBAL] = "kv_global",
        [MYTH_MEM_KV_LOCAL] = "kv_local",
        [MYTH_MEM_ACTIVATIONS] = "activations",
        [MYTH_MEM_ATTN_SCRATCH] = "attn_scratch",
        [MYTH_MEM_LOGITS] = "logits",
        [MYTH_MEM_CAPTURE] = "capture",
        [MYTH_MEM_STAGING] = "staging",
        [MYTH_MEM_GRAPH] = "graph",
        [MYTH_MEM_TOKENIZER] = "tokenizer",
        [MYTH_MEM_FIXED] = "fixed",
        [MYTH_MEM_OTHER] = "other",
    };
    assert((unsigned)cls < MYTH_MEM_CLASS_N);
    return name[cls];
}

myth_status myth_arena_open(myth_arena *a, myth_mem *mem, myth_mem_class cls, const char *owner, size_t cap,
                            myth_error *err)
{
    *a = (myth_arena){0};
    a->base = myth_alloc(mem, cls, owner, cap);
    if (!a->base)
        return myth_fail(err, MYTH_ENOMEM, "%s: arena of %zu bytes (%s)", owner, cap, myth_mem_class_name(cls));
    a->cap = cap;
    a->mem = mem;
    return MYTH_OK;
}

void *myth_arena_take(myth_arena *a, size_t bytes)
{
    size_t left = a->cap - a->used, cost = myth_arena_cost(bytes);
    if (cost < bytes || cost > left)
        return NULL;
    void *p = a->base + a->used;
    a->used += cost;
    return p;
}

void myth_arena_close(myth_arena *a)
{
    if (a->mem)
        myth_free(a->mem, a->base);
    *a = (myth_arena){0};
}
