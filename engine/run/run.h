/* run.h - decode steps in a row. The device chooses each next token itself, so the host need not answer between steps:
 * it issues steps ahead and reads their ids later.
 *
 * Use      begin with the first token of each sequence; issue steps; wait for them and read their ids in order; end.
 *          Between begin and end no other call may use this engine
 * Stop     a sequence that chose a stop id appends nothing more, however many steps were issued ahead
 * Ids      step t of row r gives the token that it chose, the last time the stop id, and -1 from then on
 * Limits   at most MYTH_RUN_STEPS steps issued and not yet read. No grammar and no penalties; an engine with one part
 *          and without offload
 * Owner    the caller owns myth_run; the sequences and stop ids of its options are lent until end
 * Errors   MYTH_EFULL: no room or no pages for the steps, and nothing was issued; or an error of the device */
#ifndef MYTH_RUN_H
#define MYTH_RUN_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RUN_SEQ_MAX = 64 };

typedef struct {
    myth_seq *const *seq;
    uint32_t n_seq;
    const int32_t *first; /* [n_seq] the token that each is fed in the first step */
    const int32_t *stop_id;
    uint32_t n_stop; /* at most MYTH_RUN_STOP_MAX                       */
    myth_sample_params sample;
    uint32_t seq_number; /* that of row 0; row r has seq_number + r         */
} myth_run_opts;

typedef struct {
    myth_engine *e;
    myth_run_opts o;
    uint32_t n_issued, n_known;       /* steps issued; steps whose ids were read         */
    uint32_t len[MYTH_RUN_SEQ_MAX];   /* tokens that each sequence held before the run   */
    uint32_t high[MYTH_RUN_SEQ_MAX];  /* n_high of its myth_kv_rows before the run       */
    uint32_t n_fed[MYTH_RUN_SEQ_MAX]; /* tokens fed to it in the steps that were read    */
    bool is_still[MYTH_RUN_SEQ_MAX];  /* it has chosen a stop id                         */
} myth_run;

/* How many more steps can be issued before a sequence is full. */
uint32_t myth_run_room(const myth_run *run);
/* Checks the options and writes the inputs of the first step. MYTH_EFULL: a sequence has no room for one more token;
 * MYTH_EARG: more sequences or stop ids than a run can have, or a token outside the vocabulary. After an error nothing
 * has changed, and end must not be called. */
myth_status myth_run_begin(myth_run *run, myth_engine *e, const myth_run_opts *o, myth_error *err);
/* Issues n_step steps: at most myth_run_room, and at most MYTH_RUN_STEPS that are not read yet. Pass *mark to wait. */
myth_status myth_run_issue(myth_run *run, uint32_t n_step, uint64_t *mark, myth_error *err);
/* Returns when all steps issued before the mark are done. */
myth_status myth_run_wait(myth_run *run, uint64_t mark, myth_error *err);
/* The ids of the next step [n_seq], lent until the next issue. The step must have been waited for. */
const int32_t *myth_run_next(myth_run *run);
/* Cuts each sequence to the tokens that it is known to have been fed. Every issued step was waited for, or the stream
 * has failed; steps that were not read are dropped. */
void myth_run_end(myth_run *run);

#ifdef __cplusplus
}
#endif
#endif
