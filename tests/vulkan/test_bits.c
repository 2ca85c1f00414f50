/* test_bits.c - what must not change a bit, on vulkan:0 under validation: tests/kernels/test_bits.c on one device. */
#define main bits_main
int main(void);
#include "tests/kernels/test_bits.c"
#undef main

#include "vulkan.h"

int main(void)
{
    setenv("MYTHOS_TEST_DEVICES", "vulkan:0", 1);
    return vulkan_run(bits_main);
}
