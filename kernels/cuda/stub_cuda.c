/* stub_cuda.c - the CUDA kind in a build without CUDA: it lists no device, and open says that the build lacks it. */
#include "kernels/device_impl.h"

static myth_status refuse(myth_device **out, myth_mem *mem, const myth_device_opts *opts, myth_error *err)
{
    (void)out, (void)mem;
    return myth_fail(err, MYTH_EDEVICE, "%s: built without CUDA", opts->name);
}

static void plan_nothing(myth_class_bytes *host, myth_class_bytes *own, const myth_device_opts *opts,
                         const myth_work_shape *shape)
{
    (void)host, (void)own, (void)opts, (void)shape;
}

const myth_device_kind myth_device_kind_cuda = {
    .prefix = "cuda",
    .ledger = 1,
    .n_max = 8,
    .open = refuse,
    .plan = plan_nothing,
};
