/* batch_size.h - how many rows the next batch of a job takes. A device that runs out of memory in the middle of a job,
 * because others took it, does not end the job: the batch is done again once, in batches of half as many rows.
 *
 * Use       before a batch ask `now`; after a failure ask again; after a batch that went through say done
 * Once      one batch is done again once, one of a single row as it is. If that fails, the job ends with the error;
 *           what was committed stays
 * Regrown   each batch that goes through adds an eighth of the whole size, so 8 batches later it is whole again
 * Bits      those of a row do not depend on the rows beside it, so no result depends on any of this
 * Threads   one */
#ifndef MYTH_JOB_BATCH_SIZE_H
#define MYTH_JOB_BATCH_SIZE_H

#include "engine/base/status.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t whole, now; /* rows */
    bool is_again;       /* the batch under way has failed once */
    uint64_t n_again;    /* batches that were done again */
} myth_batch_size;

static inline myth_batch_size myth_batch_size_of(uint32_t whole)
{
    return (myth_batch_size){.whole = whole, .now = whole};
}
/* Whether a batch of n rows that ended with st is done again, with at most `now` rows at a time. */
bool myth_batch_size_again(myth_batch_size *b, myth_status st, uint32_t n);
/* The batch went through, at once or again. */
void myth_batch_size_done(myth_batch_size *b);

#ifdef __cplusplus
}
#endif
#endif
