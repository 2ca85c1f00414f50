/* emu_probe.h - the emulation's knobs for tests written in C: calls that fail, memory that another process takes, what
 * is left. */
#ifndef MYTH_EMU_PROBE_H
#define MYTH_EMU_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    EMU_PROBE_MEMORY,
    EMU_PROBE_LOST,
    EMU_PROBE_RESOURCES,
    EMU_PROBE_NOT_READY,
    EMU_PROBE_FAILURE_N
} emu_probe_failure;

/* From now on the n-th call of the runtime fails once (0 = none); forgets earlier failures and starts counting and
 * listing calls anew. */
void emu_probe_fault(uint64_t nth, emu_probe_failure f);
const char *emu_probe_failed(void); /* name of the call that failed; NULL = none did */
uint64_t emu_probe_n_call(void);
const char *emu_probe_call(uint64_t nth); /* name of the n-th call since; NULL past the last */
uint64_t emu_probe_n_live(void);          /* allocations, streams, events, graphs not given back */
uint64_t emu_probe_n_launch(void);
/* Calls that fail from now on, until told otherwise; or'd, 0 = none. */
enum {
    EMU_PROBE_REFUSE_BEGIN = 1,       /* of a recording */
    EMU_PROBE_REFUSE_END = 2,         /* of a recording */
    EMU_PROBE_REFUSE_INSTANTIATE = 4, /* a recording that ended well */
    EMU_PROBE_REFUSE_EARLY = 8,       /* a launch in a recording that may start before the one in front of it ends */
};
void emu_probe_refuse(unsigned what);
/* Since emu_probe_fault: launches that may start early, those of kernels without a preferred carve-out, recorded steps
 * that were launched, and the most lines that one kernel asked the L2 cache for. */
uint64_t emu_probe_n_early(void);
uint64_t emu_probe_n_without_carveout(void);
uint64_t emu_probe_n_replay(void);
uint64_t emu_probe_most_lines(void);
void emu_probe_hog(uint64_t bytes); /* device memory that is another's */
uint64_t emu_probe_used(void);      /* device memory that is ours */

#ifdef __cplusplus
}
#endif
#endif
