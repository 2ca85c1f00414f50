/* test_replay.c - decode ops run and recorded several times, on vulkan:0 under validation: tests/kernels/test_replay.c
 * on one device. */
#define main replay_main
int main(void);
#include "tests/kernels/test_replay.c"
#undef main

#include "vulkan.h"

int main(void)
{
    setenv("MYTHOS_TEST_DEVICES", "vulkan:0", 1);
    return vulkan_run(replay_main);
}
