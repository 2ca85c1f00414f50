/* emu_block.cc - the threads of a block as fibers: who runs next, where they wait, shared memory, tiles, and what is
 * wrong with a kernel.
 *
 * Who runs   a lane of the current warp that can run; when none can, the warp's collectives are completed; when that
 *            frees none, another warp; when no warp can run, the block's barrier. A thread that waits chooses its
 *            successor and switches to it directly
 * Masks      a collective is complete when all lanes of its mask wait at the same place with the same mask
 * Memory     one arena for shared arrays: guard, array, guard, ...; arrays are placed in the order in which threads
 *            first name them */
#include "emu_block.h"
#include "fiber.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#if HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { THREAD_MAX = 1024, WARP_MAX = THREAD_MAX / 32, STACK_BYTES = 128 << 10, GUARD = 64, ARRAY_MAX = 64 };
enum { ARENA_BYTES = (256 << 10) + ARRAY_MAX * (GUARD + 128) };

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace
{

enum state { READY, AT_WARP, AT_BLOCK, DONE };

struct async_copy {
    unsigned char *dst;
    const unsigned char *src;
    int bytes, n_read;
    unsigned group;
};

struct thread {
    fiber f;
    uint3 idx;
    state at;
    emu_site site, caller;
    uint64_t path; /* hash of the helpers' lines on the way here; 0 = the kernel itself */
    unsigned mask;
    emu_race_who who;
    bool has_waited; /* grid_dependency_wait */
    unsigned char deposit[EMU_SLOT_BYTES];
    unsigned deposit_bytes;
    std::vector<async_copy> copies;
    unsigned group; /* cp.async group being filled */
};

struct warp {
    unsigned exists, ready, at_warp, at_block, done;
    unsigned char slot[32][EMU_SLOT_BYTES];
};

struct array {
    const void *key;
    unsigned char *p;
    size_t bytes;
};

struct {
    thread *threads;
    int n_made;
    warp warps[WARP_MAX];
    unsigned n_thread, n_warp;
    thread *cur;
    fiber main;
    const emu_kernel *kernel;
    bool is_given_up;
    alignas(128) unsigned char arena[ARENA_BYTES];
    size_t arena_used; /* 0 = not yet guarded */
    array arrays[ARRAY_MAX];
    int n_array;
    unsigned char *dynamic;
    emu_report_fn report;
    char order[32];
    int order_kind; /* 0 forward, 1 reverse, 2 random */
    uint64_t rng;
    bool is_order_read;
} E;

uint64_t next_random()
{
    uint64_t z = E.rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void read_order()
{
    const char *text = *E.order ? E.order : getenv("MYTHOS_EMU_ORDER");
    E.order_kind = !text || !*text || strcmp(text, "forward") == 0 ? 0 : strcmp(text, "reverse") == 0 ? 1 : 2;
    E.rng = 1;
    if (E.order_kind == 2) {
        if (strncmp(text, "random", 6) != 0) {
            fprintf(stderr, "MYTHOS_EMU_ORDER: \"%s\"; expected forward, reverse or random:SEED\n", text);
            abort();
        }
        E.rng = text[6] == ':' ? strtoull(text + 7, nullptr, 0) : 1;
    }
    E.is_order_read = true;
}

int pick_bit(unsigned bits)
{
    if (E.order_kind == 0)
        return __builtin_ctz(bits);
    if (E.order_kind == 1)
        return 31 - __builtin_clz(bits);
    for (unsigned skip = (unsigned)(next_random() % (unsigned)__builtin_popcount(bits)); skip; skip--)
        bits &= bits - 1;
    return __builtin_ctz(bits);
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "rms_norm.cu:40", or "rms_norm.cu:40 (common.cuh:171)" inside a helper. Four results may be in use. */
const char *place(const thread *t)
{
    static char text[4][160];
    static int which;
    char *s = text[which = (which + 1) % 4];
    if (t->path)
        snprintf(s, sizeof(text[0]), "%s:%u (%s:%u)", base_name(t->caller.file), t->caller.line,
                 base_name(t->site.file), t->site.line);
    else
        snprintf(s, sizeof(text[0]), "%s:%u", base_name(t->site.file), t->site.line);
    return s;
}

bool is_same_place(const thread *a, const thread *b)
{
    return a->site.line == b->site.line && a->path == b->path &&
           (a->site.file == b->site.file || strcmp(a->site.file, b->site.file) == 0);
}

thread *thread_of(unsigned w, int lane) { return &E.threads[w * 32 + (unsigned)lane]; }

void set_current(thread *t)
{
    E.cur = t;
    threadIdx = t->idx;
}

/* ---- completing collectives ---- */

void release(unsigned w, unsigned lanes)
{
    warp *p = &E.warps[w];
    for (unsigned left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        thread *t = thread_of(w, l);
        if (t->deposit_bytes)
            memcpy(p->slot[l], t->deposit, t->deposit_bytes);
        t->at = READY;
    }
    p->at_warp &= ~lanes;
    p->ready |= lanes;
}

/* Completes what is complete in warp w; complains when a lane waits for one that will not come. No lane of the warp can
 * run. */
bool complete_warp(unsigned w)
{
    warp *p = &E.warps[w];
    bool is_any = false;
    for (unsigned left = p->at_warp; left;) {
        int l = __builtin_ctz(left);
        thread *t = thread_of(w, l);
        unsigned group = t->mask & p->exists;
        bool is_complete = (group & ~p->at_warp) == 0;
        for (unsigned m = group; m && is_complete; m &= m - 1) {
            thread *o = thread_of(w, __builtin_ctz(m));
            is_complete = o->mask == t->mask && is_same_place(o, t);
        }
        left &= ~(is_complete ? group : 1u << l);
        if (is_complete) {
            release(w, group);
            is_any = true;
        }
    }
    if (is_any || !p->at_warp)
        return is_any;
    int l = __builtin_ctz(p->at_warp);
    thread *t = thread_of(w, l);
    for (unsigned m = t->mask & p->exists; m; m &= m - 1) {
        int other = __builtin_ctz(m);
        thread *o = thread_of(w, other);
        if (o->at == DONE)
            emu_complain("divergence in block %u: thread %u waits at the warp's collective %s, thread %u of its mask "
                         "has finished",
                         blockIdx.x, t->idx.x, place(t), o->idx.x);
        if (o->at == AT_BLOCK || !is_same_place(o, t) || o->mask != t->mask)
            emu_complain("divergence in block %u: thread %u waits at the warp's collective %s, thread %u at %s %s",
                         blockIdx.x, t->idx.x, place(t), o->idx.x, o->at == AT_BLOCK ? "the barrier" : "the collective",
                         place(o));
    }
    emu_complain("divergence in block %u: thread %u at %s is not in its own mask", blockIdx.x, t->idx.x, place(t));
    return false;
}

/* Every thread waits at a barrier or has finished. True when the barrier opened. */
bool complete_block()
{
    thread *waits = nullptr, *gone = nullptr;
    for (unsigned i = 0; i < E.n_thread; i++) {
        thread *t = &E.threads[i];
        if (t->at == DONE) {
            gone = t;
        } else if (!waits) {
            waits = t;
        } else if (!is_same_place(waits, t)) {
            emu_complain("divergence in block %u: thread %u waits at the barrier %s, thread %u at the barrier %s",
                         blockIdx.x, waits->idx.x, place(waits), t->idx.x, place(t));
        }
    }
    if (!waits)
        return false;
    if (gone)
        emu_complain("divergence in block %u: thread %u waits at the barrier %s, thread %u has finished", blockIdx.x,
                     waits->idx.x, place(waits), gone->idx.x);
    for (unsigned w = 0; w < E.n_warp; w++) {
        E.warps[w].ready = E.warps[w].at_block;
        E.warps[w].at_block = 0;
    }
    for (unsigned i = 0; i < E.n_thread; i++) {
        E.threads[i].at = READY;
        E.threads[i].who.block_epoch++;
    }
    return true;
}

/* The thread that runs next; NULL when the block has finished. */
thread *choose()
{
    unsigned w = E.cur ? (unsigned)(E.cur - E.threads) / 32 : 0;
    for (;;) {
        warp *p = &E.warps[w];
        if (p->ready || (p->at_warp && complete_warp(w)))
            return thread_of(w, pick_bit(p->ready));
        unsigned can = 0;
        for (unsigned i = 0; i < E.n_warp; i++)
            if (E.warps[i].ready || E.warps[i].at_warp)
                can |= 1u << i;
        if (can)
            w = (unsigned)pick_bit(can);
        else if (!complete_block())
            return nullptr;
    }
}

/* The current thread has stopped; somebody else goes on. Returns when it may run again. */
void switch_away()
{
    thread *me = E.cur, *next = choose();
    if (next == me)
        return;
    if (!next) {
        fiber_switch(&me->f, &E.main);
        return;
    }
    set_current(next);
    fiber_switch(&me->f, &next->f);
}

void stop(state at, emu_site site, unsigned mask)
{
    thread *me = E.cur;
    warp *p = &E.warps[(unsigned)(me - E.threads) / 32];
    unsigned bit = 1u << ((unsigned)(me - E.threads) % 32);
    me->at = at;
    me->site = site;
    me->mask = mask;
    p->ready &= ~bit;
    (at == AT_WARP ? p->at_warp : at == AT_BLOCK ? p->at_block : p->done) |= bit;
    switch_away();
}

void finish_copies(thread *t, int n_left)
{
    size_t keep = 0;
    for (size_t i = 0; i < t->copies.size(); i++) {
        const async_copy c = t->copies[i];
        if ((int)(t->group - c.group) <= n_left) { /* group t->group - 1 is the newest committed one */
            t->copies[keep++] = c;
            continue;
        }
        emu_race_touch(c.dst, (size_t)c.bytes, true);
        memset(c.dst, 0, (size_t)c.bytes);
        memcpy(c.dst, c.src, (size_t)c.n_read);
    }
    t->copies.resize(keep);
}

void thread_entry()
{
    fiber_entered();
    for (;;) {
        E.kernel->body();
        thread *t = E.cur;
        if (t->path)
            emu_complain("thread %u left a helper that it did not enter", t->idx.x);
        t->group++;
        finish_copies(t, 0);
        stop(DONE, EMU_SITE, 0);
    }
}

/* ---- blocks ---- */

void begin_shared()
{
    POISON(E.arena, E.arena_used ? E.arena_used : sizeof(E.arena));
    E.arena_used = GUARD;
    E.n_array = 0;
    emu_race_begin(E.arena, sizeof(E.arena));
}

unsigned char *take_shared(size_t bytes)
{
    size_t at = (E.arena_used + 127) & ~(size_t)127, end = at + bytes + GUARD;
    if (end > sizeof(E.arena))
        return nullptr;
    E.arena_used = end;
    UNPOISON(E.arena + at, bytes);
    memset(E.arena + at, 0xff, bytes);
    return E.arena + at;
}

bool make_threads(unsigned n)
{
    if (!E.threads)
        E.threads = new thread[THREAD_MAX]();
    for (; E.n_made < (int)n; E.n_made++)
        if (!fiber_make(&E.threads[E.n_made].f, STACK_BYTES, thread_entry))
            return false;
    return true;
}

/* True when the block finished. */
bool run_block(bool *is_dependency_met)
{
    begin_shared();
    E.dynamic = E.kernel->shared_bytes ? take_shared(E.kernel->shared_bytes) : nullptr;
    if (E.kernel->shared_bytes && !E.dynamic)
        emu_complain("%zu bytes of dynamic shared memory", E.kernel->shared_bytes);
    for (unsigned w = 0; w < E.n_warp; w++) {
        unsigned n = E.n_thread - w * 32, all = n >= 32 ? 0xffffffffu : (1u << n) - 1;
        E.warps[w].exists = E.warps[w].ready = all;
        E.warps[w].at_warp = E.warps[w].at_block = E.warps[w].done = 0;
    }
    for (unsigned i = 0; i < E.n_thread; i++) {
        thread *t = &E.threads[i];
        t->idx = uint3{i, 0, 0};
        t->at = READY;
        t->path = 0;
        t->who = emu_race_who{i, 0, 0};
        t->has_waited = false;
        t->deposit_bytes = 0;
        t->group = 0;
        t->copies.clear();
    }
    E.cur = nullptr;
    thread *first = choose();
    set_current(first);
    fiber_switch(&E.main, &first->f);
    E.cur = nullptr;
    if (E.is_given_up)
        return false;
    unsigned n_waited = 0;
    for (unsigned i = 0; i < E.n_thread; i++)
        n_waited += E.threads[i].has_waited;
    if (E.kernel->is_dependent && n_waited && n_waited != E.n_thread)
        emu_complain("block %u: %u of %u threads called grid_dependency_wait", blockIdx.x, n_waited, E.n_thread);
    *is_dependency_met |= n_waited > 0;
    return true;
}

} // namespace

const emu_race_who *emu_race_me() { return E.cur ? &E.cur->who : nullptr; }

void emu_set_report(emu_report_fn report) { E.report = report; }

void emu_set_order(const char *order)
{
    snprintf(E.order, sizeof(E.order), "%s", order ? order : "");
    E.is_order_read = false;
}

void emu_complain(const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!E.report) {
        fprintf(stderr, "cuda_emu: %s\n", text);
        abort();
    }
    E.report(text);
    E.is_given_up = true;
    if (E.cur) {
        thread *me = E.cur;
        fiber_switch(&me->f, &E.main);
        abort(); /* nobody comes back to a fiber that was given up */
    }
}

bool emu_run(const emu_kernel *k)
{
    uint64_t n_block = (uint64_t)k->grid.x * k->grid.y * k->grid.z;
    bool is_dependency_met = false;
    read_order();
    E.kernel = k;
    E.is_given_up = false;
    E.n_thread = k->block.x;
    E.n_warp = (k->block.x + 31) / 32;
    blockDim = k->block;
    gridDim = k->grid;
    fiber_adopt(&E.main);
    if (!make_threads(E.n_thread)) {
        fprintf(stderr, "cuda_emu: no memory for %u fibers\n", E.n_thread);
        abort();
    }
    uint64_t start = E.order_kind == 2 ? next_random() % n_block : 0, step = 1;
    if (E.order_kind == 2) /* an odd stride without a common factor with n_block visits every block */
        for (step = (next_random() % n_block) | 1; n_block > 1;) {
            uint64_t a = step, b = n_block;
            while (b) {
                uint64_t c = a % b;
                a = b;
                b = c;
            }
            if (a == 1)
                break;
            step += 2;
        }
    for (uint64_t i = 0; i < n_block && !E.is_given_up; i++) {
        uint64_t b = E.order_kind == 0 ? i
                   : E.order_kind == 1 ? n_block - 1 - i
                                       : (start + i % n_block * (step % n_block)) % n_block;
        blockIdx = uint3{(unsigned)(b % k->grid.x), (unsigned)(b / k->grid.x % k->grid.y),
                         (unsigned)(b / k->grid.x / k->grid.y)};
        run_block(&is_dependency_met);
    }
    if (!E.is_given_up && k->is_dependent && !is_dependency_met)
        emu_complain("a dependent launch in which no block called grid_dependency_wait");
    if (E.is_given_up)
        for (int i = 0; i < E.n_made; i++)
            fiber_restart(&E.threads[i].f, thread_entry);
    E.kernel = nullptr;
    return !E.is_given_up;
}

/* ---- what kernels call ---- */

emu_called::emu_called(const char *file, unsigned line) : kept_(E.cur->caller), kept_path_(E.cur->path)
{
    if (!kept_path_)
        E.cur->caller = emu_site{file, line};
    E.cur->path = kept_path_ * 1000003u + line;
}

emu_called::~emu_called()
{
    E.cur->caller = kept_;
    E.cur->path = kept_path_;
}

int emu_lane() { return (int)((unsigned)(E.cur - E.threads) % 32); }

void emu_check_lane(emu_site at, unsigned mask, int src)
{
    warp *p = &E.warps[(unsigned)(E.cur - E.threads) / 32];
    if (!(mask & p->exists & 1u << src)) {
        E.cur->site = at;
        emu_complain("block %u: thread %u shuffles from lane %d at %s, which takes no part", blockIdx.x, E.cur->idx.x,
                     src, place(E.cur));
    }
}

void emu_syncthreads(emu_site at)
{
    E.cur->deposit_bytes = 0;
    stop(AT_BLOCK, at, 0);
}

void emu_syncwarp(emu_site at, unsigned mask)
{
    E.cur->deposit_bytes = 0;
    stop(AT_WARP, at, mask);
    E.cur->who.warp_epoch++;
}

const unsigned char (*emu_exchange(emu_site at, unsigned mask, const void *value, size_t bytes))[EMU_SLOT_BYTES]
{
    thread *me = E.cur;
    memcpy(me->deposit, value, bytes);
    me->deposit_bytes = (unsigned)bytes;
    stop(AT_WARP, at, mask);
    return E.warps[(unsigned)(me - E.threads) / 32].slot;
}

unsigned emu_ballot(emu_site at, unsigned mask, int predicate)
{
    int is_true = predicate != 0;
    const unsigned char(*slot)[EMU_SLOT_BYTES] = emu_exchange(at, mask, &is_true, sizeof(is_true));
    unsigned bits = 0, exists = E.warps[(unsigned)(E.cur - E.threads) / 32].exists;
    for (unsigned left = mask & exists; left; left &= left - 1)
        bits |= slot[__builtin_ctz(left)][0] ? left & -left : 0;
    return bits;
}

void *emu_shared(const void *key, size_t bytes, const char *name, const char *file, unsigned line)
{
    for (int i = 0; i < E.n_array; i++)
        if (E.arrays[i].key == key)
            return E.arrays[i].p;
    size_t total = bytes;
    for (int i = 0; i < E.n_array; i++)
        total += E.arrays[i].bytes;
    unsigned char *p = E.n_array < ARRAY_MAX ? take_shared(bytes) : nullptr;
    if (!p || total > EMU_SHARED_STATIC_MAX || total + E.kernel->shared_bytes > emu_shared_most())
        emu_complain("shared memory: %zu static bytes with %s at %s:%u, and %zu dynamic; at most %d and %zu together",
                     total, name, base_name(file), line, E.kernel->shared_bytes, EMU_SHARED_STATIC_MAX,
                     emu_shared_most());
    E.arrays[E.n_array++] = array{key, p, bytes};
    return p;
}

void *emu_shared_dyn() { return E.dynamic; }

void emu_cp_async(void *shared, const void *global, int bytes, int n_read)
{
    thread *t = E.cur;
    if ((uintptr_t)shared % (unsigned)bytes || (n_read && (uintptr_t)global % (unsigned)bytes))
        emu_complain("block %u: thread %u copies asynchronously from %p to %p: both must be aligned to %d", blockIdx.x,
                     t->idx.x, global, shared, bytes);
    emu_race_touch(shared, (size_t)bytes, true);
    memset(shared, 0xff, (size_t)bytes); /* what is read too early is NaN */
    t->copies.push_back(async_copy{(unsigned char *)shared, (const unsigned char *)global, bytes, n_read, t->group});
}

void emu_cp_async_commit() { E.cur->group++; }
void emu_cp_async_wait(int n_left) { finish_copies(E.cur, n_left); }

void emu_ldmatrix(emu_site at, uint32_t *r, const void *row, int n_matrix, bool is_trans)
{
    const unsigned char(*slot)[EMU_SLOT_BYTES] = emu_exchange(at, 0xffffffffu, &row, sizeof(row));
    int l = emu_lane();
    for (int i = 0; i < n_matrix; i++) {
        uint16_t two[2];
        for (int j = 0; j < 2; j++) {
            int from_row = is_trans ? 2 * (l % 4) + j : l / 4, column = is_trans ? l / 4 : 2 * (l % 4) + j;
            const unsigned char *p;
            memcpy(&p, slot[8 * i + from_row], sizeof(p));
            if ((uintptr_t)p % 16) {
                E.cur->site = at;
                emu_complain("block %u: ldmatrix at %s: row %d of matrix %d is not aligned to 16", blockIdx.x,
                             place(E.cur), from_row, i);
            }
            emu_race_touch(p + 2 * column, 2, false);
            memcpy(&two[j], p + 2 * column, 2);
        }
        r[i] = (uint32_t)two[0] | (uint32_t)two[1] << 16;
    }
}

void emu_dependency_wait() { E.cur->has_waited = true; }

void emu_atomic_touch(const void *p, size_t bytes)
{
    if ((uintptr_t)p % bytes)
        emu_complain("block %u: thread %u: an atomic at %p is not aligned to %zu", blockIdx.x, E.cur->idx.x, p, bytes);
}

void emu_copy(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
