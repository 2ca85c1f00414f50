/* test_again.c - forwards that fail in the middle and are done again (tests/engine/run/again.h), on the CUDA launcher:
 * any call of the runtime that has no memory, launches and recordings of steps too. */
#define AGAIN_DEVICE  "cuda:0"
#define AGAIN_LOG     NULL
#define AGAIN_NEXT(n) ((n) + 1 + (n) / 2) /* the emulated device takes seconds a forward */
#include "emu_probe.h"
#include "tests/engine/run/again.h"

static void begin_failing(uint64_t nth) { emu_probe_fault(nth, EMU_PROBE_MEMORY); }

static bool end_failing(void)
{
    const bool has_failed = emu_probe_failed() != NULL;
    emu_probe_fault(0, EMU_PROBE_MEMORY);
    return has_failed;
}

int main(void) { return again_run(); }
