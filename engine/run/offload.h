/* offload.h - layers whose weights, or keys and values, are held by the host and brought to the device when it is their
 * turn.
 *
 * Slots    two buffers on the device; layer l uses slot (l - layer0) % 2, so that one can be filled while the other
 *          computes
 * Weights  written through a stream of their own: while layer l - 1 computes, layer l is copied. Of files the mapping
 *          is the source, of random: models a block made once
 * K and V  pages and rings live on the host, whole as on a device; a layer's rows of the step's sequences are brought,
 * and what the step
 *          added goes back, in the order of the part's stream
 * Steps    are issued, not replayed: a recording holds no transfers
 * Errors   in e->first_failure */
#ifndef MYTH_OFFLOAD_H
#define MYTH_OFFLOAD_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slots, host blocks and the stream of a part; nothing where it offloads nothing. */
myth_status myth_offload_open(myth_engine *e, myth_part *p, myth_error *err);
void myth_offload_close(myth_engine *e, myth_part *p); /* takes a half-open part */
/* before_layer of a step (step.h); owner is the part. */
void myth_offload_weights(void *owner, uint32_t l);
void myth_offload_rows(void *owner, uint32_t l);
/* Where an offloaded layer's rows are while it runs. */
struct myth_kv_place myth_offload_place(const myth_engine *e, const myth_part *p, uint32_t l);
/* Whole page (or ring) `to` of the held layers becomes a copy of `from`. */
void myth_offload_copy(myth_engine *e, myth_part *p, bool is_ring, int32_t from, int32_t to);
/* The held layers' bytes of one page or ring; the device has nothing under way with them after a sync. */
unsigned char *myth_offload_held(const myth_part *p, bool is_ring, int32_t number);

#ifdef __cplusplus
}
#endif
#endif
