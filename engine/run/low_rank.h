/* low_rank.h - what adapters add to a model's matrices, as the engine keeps it.
 *
 * Products  of most matrices W only the adapters' own matrices are kept: a product W x is followed by + B (A x), so the
 *           weights stay as they are stored, whatever their type. What several adapters add to one matrix is stacked:
 *           the rows of all A, and the columns of all B, times their scales
 * Sums      a matrix that is kept in f32, or that a fused op without low-rank arguments reads (the gate of per-layer
 *           inputs), becomes W + B A in f32 when it is bound
 * Place     the buffer `adapter` of the part that has the layer; the model's own matrix is on the first part
 * Threads   as in engine.h */
#ifndef MYTH_LOW_RANK_H
#define MYTH_LOW_RANK_H

#include "step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LOW_OPS = 32 }; /* ops that a layer with adapters issues beside its own, at most */

/* MYTH_EUNSUPPORTED: an adapter adds to a table of which single rows are read (MYTH_FORM_ROWS). */
myth_status myth_low_rank_check(const myth_model *m, myth_error *err);
/* Bytes of the buffer `adapter` of a part with these layers. */
uint64_t myth_low_rank_bytes(const myth_model *m, uint32_t layer0, uint32_t layer1);
/* The largest rank that is added to a matrix by products; 0 = none. */
uint32_t myth_low_rank_most(const myth_model *m);
/* The rank of what adapters add to a slot's matrix, all together. */
uint32_t myth_low_rank_of(const myth_model *m, const myth_slot *s, uint32_t layer);
/* Where in myth_layer_low the slot's matrices are; -1 = the adapters are summed into the matrix. */
int myth_low_rank_place(const myth_slot *s);
/* Bytes that a slot with adapters takes of the buffer `adapter`; f32 slots are among the norms and take none. */
uint64_t myth_low_rank_cost(const myth_model *m, const myth_slot *s, uint32_t layer);

#ifdef __cplusplus
}
#endif
#endif
