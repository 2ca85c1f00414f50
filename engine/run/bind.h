/* bind.h - binds a file's tensors to views on the devices: matrices in place or copied, norms as effective f32 weights.
 *
 * Resident  CPU: matrices are used in the mapped file; those of random: models are computed from the seed.
 *           Other devices: copies in the device's own form, written piece by piece; the pages of the mapping are let go
 *           after each piece. Experts are copied to host memory where the options say so.
 *           Norms: f32; where the file stores w and the model means 1 + w, the sum is made here
 * Requires  a config read from the same weights at level HEADER or above: every slot's tensor is there and of its shape
 * Errors    MYTH_ENOMEM, MYTH_ELOST, MYTH_ECANCEL, what the device says */
#ifndef MYTH_BIND_H
#define MYTH_BIND_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills e->w. The buffers of e exist with the sizes of the layout. `watch` is told the bytes of the matrices that are
 * written. */
myth_status myth_bind(myth_engine *e, const myth_watch *watch, myth_error *err);

/* Writes the matrices of an offloaded layer into its slot, through the part's copier. */
void myth_bind_offloaded(myth_engine *e, myth_part *p, uint32_t l);

#ifdef __cplusplus
}
#endif
#endif
