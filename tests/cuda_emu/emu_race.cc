/* emu_race.cc - the race check: kernels compiled with -fsanitize=thread call these functions at every access instead of
 * a runtime's.
 *
 * Rule      two accesses to one byte of shared memory, one of them a write, by two threads of the block, with neither a
 *           barrier of the block nor (in one warp) a __syncwarp between them
 * Kept      per byte the last write and the last two readers that nothing orders: whoever writes races with one of two
 * Others    global memory: races between blocks show as bits that change with MYTHOS_EMU_ORDER
 * Source    the calls GCC and Clang make: gcc/tsan.cc, llvm ThreadSanitizer.cpp */
#include "emu_block.h"

#if defined(EMU_RACE)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace
{

struct access {
    unsigned tid, block_epoch, warp_epoch;
    const void *pc; /* NULL = none */
};

struct cell {
    access write, read, read_other;
};

struct {
    const unsigned char *base;
    size_t bytes, n_dirty;
    cell *cells;
} S;

bool is_ordered(const access &a, const emu_race_who &me)
{
    return !a.pc || a.tid == me.tid || a.block_epoch != me.block_epoch ||
           (a.tid / 32 == me.tid / 32 && a.warp_epoch != me.warp_epoch);
}

/* "program+0x1234", for addr2line. */
void where(char *dst, size_t cap, const void *pc)
{
    Dl_info info;
    const char *slash = dladdr(pc, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : nullptr;
    if (slash)
        snprintf(dst, cap, "%.60s+0x%zx", slash + 1, (size_t)((const char *)pc - (const char *)info.dli_fbase - 1));
    else
        snprintf(dst, cap, "%p", pc);
}

void complain(const access &a, bool was_write, const emu_race_who &me, bool is_write, size_t off, const void *pc)
{
    char old_name[128], new_name[128];
    where(old_name, sizeof(old_name), a.pc);
    where(new_name, sizeof(new_name), pc);
    emu_complain(
        "race on shared memory in block %u, byte %zu: thread %u %s at %s, thread %u %s at %s, with no barrier between",
        blockIdx.x, off, a.tid, was_write ? "wrote" : "read", old_name, me.tid, is_write ? "writes" : "reads",
        new_name);
}

void touch(const void *p, size_t bytes, bool is_write, const void *pc)
{
    const emu_race_who *me = emu_race_me();
    const unsigned char *at = (const unsigned char *)p;
    if (!me || at < S.base || at >= S.base + S.bytes)
        return;
    size_t first = (size_t)(at - S.base);
    access now = {me->tid, me->block_epoch, me->warp_epoch, pc};
    if (first + bytes > S.n_dirty)
        S.n_dirty = first + bytes;
    for (size_t i = first; i < first + bytes && i < S.bytes; i++) {
        cell *c = &S.cells[i];
        if (!is_ordered(c->write, *me))
            complain(c->write, true, *me, is_write, i, pc);
        if (is_write) {
            if (!is_ordered(c->read, *me))
                complain(c->read, false, *me, true, i, pc);
            if (!is_ordered(c->read_other, *me))
                complain(c->read_other, false, *me, true, i, pc);
            c->write = now;
        } else {
            if (!is_ordered(c->read, *me))
                c->read_other = c->read;
            c->read = now;
        }
    }
}

} // namespace

void emu_race_begin(const unsigned char *base, size_t bytes)
{
    if (!S.cells || S.bytes < bytes) {
        free(S.cells);
        S.cells = (cell *)calloc(bytes, sizeof(cell));
        if (!S.cells)
            abort();
    } else {
        memset((void *)S.cells, 0, S.n_dirty * sizeof(cell));
    }
    S.base = base;
    S.bytes = bytes;
    S.n_dirty = 0;
}

void emu_race_touch(const void *p, size_t bytes, bool is_write)
{
    touch(p, bytes, is_write, __builtin_return_address(0));
}

extern "C" {
#define ACCESS(n)                                                                               \
    void __tsan_read##n(void *p) { touch(p, n, false, __builtin_return_address(0)); }           \
    void __tsan_write##n(void *p) { touch(p, n, true, __builtin_return_address(0)); }           \
    void __tsan_unaligned_read##n(void *p) { touch(p, n, false, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##n(void *p) { touch(p, n, true, __builtin_return_address(0)); } \
    void __tsan_volatile_read##n(void *p) { touch(p, n, false, __builtin_return_address(0)); }  \
    void __tsan_volatile_write##n(void *p) { touch(p, n, true, __builtin_return_address(0)); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *p, size_t n) { touch(p, n, false, __builtin_return_address(0)); }
void __tsan_write_range(void *p, size_t n) { touch(p, n, true, __builtin_return_address(0)); }
void *__tsan_memcpy(void *dst, const void *src, size_t n)
{
    touch(src, n, false, __builtin_return_address(0));
    touch(dst, n, true, __builtin_return_address(0));
    return memcpy(dst, src, n);
}
void *__tsan_memset(void *dst, int value, size_t n)
{
    touch(dst, n, true, __builtin_return_address(0));
    return memset(dst, value, n);
}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
#endif
