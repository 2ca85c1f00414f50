/* bind.h - tensors of the file to views on the device: matrices in place, norms as effective f32 weights.
 *
 * Resident  CPU: matrices of files are the mapping itself, wrapped; those of random: models are filled from the seed.
 *           Other devices: copies in the device's own form, in pieces, the mapping's pages let go behind them; of
 *           experts, where the options say so, in host memory
 *           Norms: f32, 1 + w formed here where the file stores w
 * Requires  a config read from the same weights at level HEADER or above: every slot's tensor is there and of its shape
 * Errors    MYTH_ENOMEM, MYTH_ELOST, what the device says                                                            */
#ifndef MYTH_BIND_H
#define MYTH_BIND_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills e->w. The buffers of e exist with the sizes of the layout. */
myth_status myth_bind(myth_engine *e, myth_error *err);

/* Writes the matrices of an offloaded layer into its slot, through the part's copier. */
void myth_bind_offloaded(myth_engine *e, myth_part *p, uint32_t l);

#ifdef __cplusplus
}
#endif
#endif
