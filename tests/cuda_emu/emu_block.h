/* emu_block.h - between the two halves of the emulation: emu_block.cc runs the threads of a block, emu_runtime.cc is
 * the runtime. */
#ifndef MYTH_EMU_BLOCK_H
#define MYTH_EMU_BLOCK_H

#include "cuda_emu.h"

/* What one simulated device offers: the least of the architectures that the kernels are built for. Code for sm_90a runs
 * on nothing that has less than EMU_SHARED_MAX_90A. */
enum {
    EMU_SHARED_STATIC_MAX = 48 << 10,
    EMU_SHARED_MAX = 99 << 10,
    EMU_SHARED_MAX_90A = 227 << 10,
    EMU_SM_COUNT = 4,
    EMU_CC_MAJOR = 9,
    EMU_CC_MINOR = 0
};

struct emu_kernel {
    dim3 grid, block;
    size_t shared_bytes;
    bool is_dependent;
    std::function<void()> body;
};

inline size_t emu_shared_most() { return emu_code_has_wgmma() ? EMU_SHARED_MAX_90A : EMU_SHARED_MAX; }

/* Runs every block; false when a report went to a hook and the launch was given up. */
bool emu_run(const emu_kernel *k);
/* One line to the hook, or to stderr before an abort. Inside a kernel it does not return. */
void emu_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The race check: emu_race.cc in a build with EMU_RACE, else nothing. */
struct emu_race_who {
    unsigned tid;
    unsigned block_epoch, warp_epoch; /* barriers and __syncwarps passed */
};
const emu_race_who *emu_race_me(); /* NULL outside kernels */
#if defined(EMU_RACE)
void emu_race_begin(const unsigned char *base, size_t bytes); /* a block begins: the shared memory is this */
void emu_race_touch(const void *p, size_t bytes, bool is_write);
#else
static inline void emu_race_begin(const unsigned char *, size_t) {}
static inline void emu_race_touch(const void *, size_t, bool) {}
#endif

#endif
