/* residual_run.h - runs prompts through the layers in batches and adds up their residuals; what `mythos residuals` does
 * between its plan and its output.
 *
 * Batches   prompts in the order of the file, as many as fit the rows of a step, at most opts.batch. The sums do not
 *           depend on them
 * Paths     the plain case adds on the device (engine.h, capture). What changes a row before it is summed (position
 *           mean, winsorize), keeps it (rows) or wants more of it than its sum (stats) hands each row to the host, one
 *           at a time
 * Faults    a prompt of which a value is infinite, NaN or too large to be summed is left out of the sums and named in
 *           the journal; to find it, the prompts of its batch are done again one by one
 * Progress  committed to the journal together with the sums, batch by batch: what a killed run loses is the batch that
 *           it was in. The files of rows must be synced before; where that is slow, batches are committed together, so
 *           that it takes at most one part in MYTH_RESIDUAL_SYNC_SHARE of the time
 * Memory    class STAGING, myth_residual_run_bytes of it, all taken by open
 * Threads   one */
#ifndef MYTH_JOB_RESIDUAL_RUN_H
#define MYTH_JOB_RESIDUAL_RUN_H

#include "journal.h"
#include "prompts.h"
#include "residual_out.h"
#include "residual_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RESIDUAL_SYNC_SHARE = 20, MYTH_RESIDUAL_BATCH_MAX = 4096 };

/* Which tokens of a prompt give a row: the one at `at` (< 0 counts from the end), every one, or all of them one row,
 * their mean. */
typedef enum { MYTH_POSITION_AT, MYTH_POSITION_EVERY, MYTH_POSITION_MEAN } myth_position;

typedef struct {
    const uint32_t *layer; /* [n_layer], rising */
    uint32_t n_layer;
    char (*label)[MYTH_LABEL_BYTES]; /* [n_label] */
    uint32_t n_label, unlabelled;    /* unlabelled: that of a prompt without one */
    myth_position position;
    int32_t at;
    myth_hook hook;   /* of what the rows are */
    double winsorize; /* a quantile; >= 1: nothing is cut */
    uint32_t batch;   /* prompts at a time; 0 = as many as fit */
    uint32_t stats;   /* MYTH_STAT_.. */
    const char *rows; /* folder of the rows; NULL = none */
    const char *job;  /* path of the journal, for that folder */
    uint64_t n_row;   /* that this process writes there */
    bool adds_shares; /* the journal has the sums of shares (shares.h) */
} myth_residual_opts;

/* What is kept between runs, before the sums. */
typedef struct {
    uint64_t next; /* index of the first item that is not done */
    uint64_t n_done, n_fault, n_token, row, index_at;
} myth_residual_state;

typedef struct myth_residual_run myth_residual_run;

/* Whether rows come to the host: the engine then needs want_hidden, else capture_layer. */
bool myth_residual_on_host(const myth_residual_opts *o);
/* The options of an engine for the job: no cache, and what is captured. */
void myth_residual_needs(myth_engine_opts *eo, const myth_residual_opts *o);
/* Whether a prompt of n ids has a token at the position that is wanted; if not, fault says so. */
bool myth_residual_has_row(const myth_residual_opts *o, uint32_t n, char fault[MYTH_PROMPT_FAULT_BYTES]);
uint64_t myth_residual_run_bytes(const myth_residual_opts *o, const myth_config *c, uint32_t n_ubatch);

/* n_item and n_token of the survey. Goes on from the journal's state. The engine, prompts, journal and options are lent
 * until close. */
myth_status myth_residual_run_open(myth_residual_run **out, myth_cli *cli, myth_engine *e, myth_prompts *p,
                                   myth_journal *j, const myth_residual_opts *o, const myth_prompts_survey *survey,
                                   myth_error *err);
void myth_residual_run_close(myth_residual_run *r); /* takes NULL */
const myth_residual_state *myth_residual_run_state(const myth_residual_run *r);
/* One batch; *has_more is false after the last. *n_tok is the tokens that ran, and *seconds what that took. */
myth_status myth_residual_run_step(myth_residual_run *r, bool *has_more, uint32_t *n_tok, double *seconds,
                                   myth_error *err);
/* Commits what is done. */
myth_status myth_residual_run_commit(myth_residual_run *r, myth_error *err);
/* Gives the files of rows their names; after the last batch. Where the journal has shares it puts their rows together
 * and removes their folders. */
myth_status myth_residual_run_finish(myth_residual_run *r, myth_error *err);
/* For myth_residual_out; user is the run. Of no rows NaN. With stats their sums are read after the last batch. */
myth_status myth_residual_run_mean(void *user, uint32_t label, uint32_t idx, double *mean, uint64_t *n,
                                   myth_error *err);
const myth_residual_sums *myth_residual_run_sums(const myth_residual_run *r);

#ifdef __cplusplus
}
#endif
#endif
