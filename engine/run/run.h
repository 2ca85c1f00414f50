/* run.h - decode steps in a row, the next token chosen on the device: the host reads ids behind and never stops the
 * stream.
 *
 * Course   begin with the token that each sequence is fed first; issue steps; wait for them and take their ids in
 *          order; end. A sequence that chose a stop id stands still: however far the device ran ahead, its cache holds
 *          what was fed before the stop
 * Ids      step t of row r gives the token after the one that it fed, or the stop id, then -1
 * Limits   at most MYTH_RUN_STEPS steps issued and not yet waited for; no grammar, no penalties; an engine of one part
 *          that offloads nothing
 * Errors   MYTH_EFULL: no room or no pages for the steps, nothing was issued; device errors as the stream's. Between
 *          begin and end no other call with this engine */
#ifndef MYTH_RUN_H
#define MYTH_RUN_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RUN_SEQ_MAX = 64 };

typedef struct {
    myth_seq *const *seq;
    uint32_t n_seq;       /* one token a step for each; lent until end      */
    const int32_t *first; /* [n_seq] fed in the first step                   */
    const int32_t *stop_id;
    uint32_t n_stop; /* at most MYTH_RUN_STOP_MAX                       */
    myth_sample_params sample;
    uint32_t seq_number; /* of row 0                                        */
} myth_run_opts;

typedef struct {
    myth_engine *e;
    myth_run_opts o;
    uint32_t n_issued, n_known;       /* steps                                           */
    uint32_t len[MYTH_RUN_SEQ_MAX];   /* of each sequence, before the run                 */
    uint32_t high[MYTH_RUN_SEQ_MAX];  /* n_high of myth_kv_rows, likewise                 */
    uint32_t n_fed[MYTH_RUN_SEQ_MAX]; /* tokens known to be fed                           */
    bool is_still[MYTH_RUN_SEQ_MAX];  /* it stopped                                      */
} myth_run;

/* Rows that a run of these sequences can still take: steps at most. */
uint32_t myth_run_room(const myth_run *run);
/* Checks the request and writes what the first step reads. MYTH_EFULL: a sequence has no room for one more token;
 * MYTH_EARG: more sequences or stop ids than a run can have, or a token outside the vocabulary. After an error nothing
 * has changed, and the run has no end to be called. */
myth_status myth_run_begin(myth_run *run, myth_engine *e, const myth_run_opts *o, myth_error *err);
/* At most myth_run_room steps, and at most MYTH_RUN_STEPS that were not read yet. *mark is for wait. */
myth_status myth_run_issue(myth_run *run, uint32_t n_step, uint64_t *mark, myth_error *err);
/* Until the steps before the mark are done. */
myth_status myth_run_wait(myth_run *run, uint64_t mark, myth_error *err);
/* The ids of the next step, [n_seq], lent until the next issue; the step was waited for. */
const int32_t *myth_run_next(myth_run *run);
/* The sequences are what they were fed. Every step issued was waited for, or the stream failed: then what is not known
 * is given up. */
void myth_run_end(myth_run *run);

#ifdef __cplusplus
}
#endif
#endif
