/* emu_probe.cc - see emu_probe.h. */
#include "emu_probe.h"

#include "cuda_emu.h"

static_assert((int)EMU_PROBE_REFUSE_BEGIN == (int)EMU_REFUSE_BEGIN &&
                  (int)EMU_PROBE_REFUSE_END == (int)EMU_REFUSE_END &&
                  (int)EMU_PROBE_REFUSE_INSTANTIATE == (int)EMU_REFUSE_INSTANTIATE &&
                  (int)EMU_PROBE_REFUSE_EARLY == (int)EMU_REFUSE_EARLY,
              "the two lists are one");

void emu_probe_fault(uint64_t nth, emu_probe_failure f)
{
    static const cudaError_t error[EMU_PROBE_FAILURE_N] = {cudaErrorMemoryAllocation, cudaErrorIllegalAddress,
                                                           cudaErrorLaunchOutOfResources, cudaErrorNotReady};
    emu_reset();
    emu_set_fault(nth, error[f]);
}

const char *emu_probe_failed(void) { return emu_call_name(); }
uint64_t emu_probe_n_call(void) { return emu_n_call(); }
const char *emu_probe_call(uint64_t nth) { return emu_call(nth); }
uint64_t emu_probe_n_live(void) { return emu_n_live(); }
uint64_t emu_probe_n_launch(void) { return emu_n_launch(); }
void emu_probe_refuse(unsigned what) { emu_refuse(what); }
uint64_t emu_probe_n_early(void) { return emu_n_dependent(); }
uint64_t emu_probe_n_without_carveout(void) { return emu_n_without_carveout(); }
uint64_t emu_probe_n_replay(void) { return emu_n_replay(); }
uint64_t emu_probe_most_lines(void) { return emu_most_lines(); }
void emu_probe_hog(uint64_t bytes) { emu_hog(bytes); }
uint64_t emu_probe_used(void) { return emu_memory_used(); }
