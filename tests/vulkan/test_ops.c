/* test_ops.c - every op case on vulkan:0, exact and fast, under validation and synchronisation checks:
 * tests/kernels/test_ops.c on one device. */
#define main ops_main
int main(void);
#include "tests/kernels/test_ops.c"
#undef main

#include "vulkan.h"

int main(void)
{
    setenv("MYTHOS_TEST_DEVICES", "vulkan:0", 1);
    return vulkan_run(ops_main);
}
