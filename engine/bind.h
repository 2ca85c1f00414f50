/* bind.h - tensors of the file to views on the device: matrices in place, norms as effective f32 weights.
 *
 * Resident  matrices of files: the mapping itself, wrapped; of random: models: filled from the seed into one buffer;
 *           norms: f32, 1 + w formed here where the file stores w
 * Requires  a config read from the same weights at level HEADER or above: every slot's tensor is there and of its shape
 * Errors    MYTH_ENOMEM, MYTH_EUNSUPPORTED (a random: model on a device without host-visible memory)               */
#ifndef MYTH_BIND_H
#define MYTH_BIND_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills e->w. The buffers `norms` and `matrices` of e exist with the sizes of the layout. */
myth_status myth_bind(myth_engine *e, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
