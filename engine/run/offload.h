/* offload.h - layers whose weights, or keys and values, are in host memory and are copied to the device before the
 * layer runs.
 *
 * Slots    two buffers on the device, each as large as its largest layer; layer l uses slot (l - layer0) % 2, so that
 *          one can be filled while the layer in the other computes
 * Ahead    what layer l needs is copied through a second stream while layer l - 1 computes (a step's first layer waits
 *          for it): the host waits only until the slot is free, which is when layer l - 2 is done
 * Weights  the source is the mapped file, or for random: models a block that was filled once at open
 * K and V  whole pages and rings are in host memory. Before a layer those of the step's sequences are copied in; after
 *          it those that the step wrote are copied back, in the order of the part's stream
 * Graphs   none: a recording cannot hold transfers, so every step is issued op by op
 * Errors   in e->first_failure */
#ifndef MYTH_OFFLOAD_H
#define MYTH_OFFLOAD_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a part's slots, host blocks and second stream; does nothing for a part without offloaded layers. */
myth_status myth_offload_open(myth_engine *e, myth_part *p, myth_error *err);
void myth_offload_close(myth_engine *e, myth_part *p); /* takes a half-open part */
/* before_layer of a step (step.h); owner is the part. */
void myth_offload_weights(void *owner, uint32_t l);
void myth_offload_rows(void *owner, uint32_t l);
/* Where an offloaded layer's cached rows are while it runs. */
struct myth_kv_place myth_offload_place(const myth_engine *e, const myth_part *p, uint32_t l);
/* Copies page (or ring) `from` of the layers in host memory to page `to`. */
void myth_offload_copy(myth_engine *e, myth_part *p, bool is_ring, int32_t from, int32_t to);
/* The bytes of one page or ring of the layers in host memory. Sync the stream before using them. */
unsigned char *myth_offload_held(const myth_part *p, bool is_ring, int32_t number);

#ifdef __cplusplus
}
#endif
#endif
