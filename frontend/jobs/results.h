/* results.h - the rows of a job: one JSON object for each prompt, kept in the journal as it is finished, and written to
 * the output in the order of the prompts when all are there.
 *
 * Use      open; for each prompt that is not done begin, write the members, end; finish writes the output
 * A row    "index" of the prompt, "answer" where its line has "n", and the prompt's "id" if it has one, then what the
 *          job writes. A fault has "error" alone
 * Killed   what was ended is in the journal; the same command goes on with the prompts that are not done. The output is
 *          the same file, byte for byte
 * Memory   one row, class STAGING, of the size given at open
 * Errors   those of journal.h and outfile.h; MYTH_ELIMIT: a row does not fit its size
 * Threads  one */
#ifndef MYTH_JOB_RESULTS_H
#define MYTH_JOB_RESULTS_H

#include "frontend/cli/json_out.h"
#include "frontend/rates/work.h"
#include "journal.h"
#include "prompts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_cli *cli;
    const char *output, *second; /* second: where the second lines of rows go; NULL = there are none */
    char second_head[64];        /* what that file begins with */
    myth_lines *input[2];        /* what rows are made of: a change of it is found before rows become durable */
    myth_journal *journal;       /* NULL = closed */
    char *buffer;                /* [cap] */
    size_t cap;
    myth_jout_block row;                       /* in buffer, while one is written */
    uint64_t n_item, n_before, n_put, n_fault; /* before: done by earlier commands; put: by this one; fault: by all */
    uint64_t n_token;                          /* the job's own count, for the rate */
    const char *unit;                          /* of n_token: "tok/s" */
    double begin, drawn_at;                    /* begin: of the work, which the job may set later than open */
} myth_results;

/* Bytes of STAGING that open takes; row_bytes: of the longest row without its id, n_id: of the longest id. */
size_t myth_results_bytes(size_t row_bytes, size_t n_id);
/* Opens or goes on with the output's journal. */
myth_status myth_results_open(myth_results *r, myth_cli *cli, const char *output, const myth_journal_fact *fact,
                              size_t n_fact, bool goes_on, uint64_t n_item, size_t row_bytes, size_t n_id,
                              myth_error *err);
/* Closes what is open and leaves the journal, with all that was put, to the next command. Takes a closed one. */
void myth_results_close(myth_results *r);
/* For myth_prompts_opts; user is the myth_results. */
bool myth_results_is_done(void *user, uint64_t index);

/* Begins a row; id: the JSON value [n_id], n_id 0 = none. */
myth_json_out *myth_results_begin(myth_results *r, uint64_t index, const char *id, size_t n_id);
/* Begins the row of an answer of a line that has "n". */
myth_json_out *myth_results_begin_answer(myth_results *r, uint64_t prompt, uint32_t answer, const char *id,
                                         size_t n_id);
/* Ends the row's line and begins its second one, an object for the file `second`. */
myth_json_out *myth_results_second(myth_results *r);
myth_status myth_results_end(myth_results *r, uint64_t index, myth_error *err);
/* The row of a prompt with a fault; why NULL = the prompt's. */
myth_status myth_results_fault(myth_results *r, const myth_job_prompt *it, const char *why, myth_error *err);
/* What a row's error says where logits of its prompt are infinite or NaN, which tell nothing. */
#define MYTH_RESULTS_BAD_LOGITS "the model's logits are infinite or NaN; mythos verify finds the cause"
/* Drops a row that was begun, whose prompt turned out to have a fault. Nothing of it is kept. */
void myth_results_drop(myth_results *r);
/* Makes durable what was put. MYTH_ELIMIT: an input changed, and what was put is lost. */
myth_status myth_results_commit(myth_results *r, myth_error *err);
/* Rows that are there, of this run and those before it; faults are among them. */
static inline uint64_t myth_results_done(const myth_results *r) { return r->n_before + r->n_put; }
/* Which part of all items this run has to do. */
double myth_results_share(const myth_results *r);
/* What is left, in seconds: tokens of each kind at the rate at which this run did that kind; < 0 = not known yet. */
typedef struct {
    double done, left, seconds; /* seconds: that `done` tokens took */
} myth_results_work;
double myth_results_left(const myth_results_work *kind, size_t n);
/* How far a job is. */
typedef struct {
    const char *what, *unit, *bound; /* "answers", "tok/s"; "at most " or "" */
    uint64_t done, all;              /* all: 0 = not known */
    double rate, left;               /* units a second, <= 0 = not known; seconds, < 0 = not known */
} myth_results_far;
/* A line about it when one is due, which moves *drawn_at to the present: "answers 12/64, 210 tok/s, at most 3 min 20 s
 * left". */
void myth_results_show(myth_cli *cli, double *drawn_at, const myth_results_far *far);
/* The same of a job's rows. */
void myth_results_progress(myth_results *r, const char *what, const char *bound, double left);
/* Keeps the rate at which this run read n_token tokens, for the estimates of the next; of a job that writes none. */
void myth_results_keep_rate(const myth_results *r, const myth_model *model, const myth_engine_opts *eo,
                            const myth_engine *engine);
/* Commits; when every item is there, writes the output and removes the journal. MYTH_ECANCEL otherwise: the message
 * says how many there are, and that the same command goes on. */
myth_status myth_results_finish(myth_results *r, myth_error *err);

/* A fact whose value is printed. */
void myth_results_fact(myth_journal_fact *dst, size_t *n, const char *name, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;
/* A number as a person would write it, with as many digits as it needs. */
void myth_results_fact_f32(myth_journal_fact *dst, size_t *n, const char *name, float v);
/* The facts of every job: the command, the model, the prompts, and what of the machine decides bits. */
void myth_results_facts(myth_journal_fact *dst, size_t *n, const myth_cli *cli, const myth_model *model,
                        const myth_engine_opts *eo, const myth_prompts_survey *prompts);
/* What --dry-run prints: counts, the plan of this run, and the seconds of the work. */
typedef struct {
    const char *key, *label;
    uint64_t n;
} myth_results_count;
myth_status myth_results_print_counts(myth_cli *cli, const myth_model *model, const myth_engine_opts *eo,
                                      const myth_work *work, const myth_results_count *count, size_t n_count,
                                      bool as_json, myth_error *err);
/* The same: the survey of prompts, then the job's own counts. */
myth_status myth_results_print_plan(myth_cli *cli, const myth_model *model, const myth_engine_opts *eo,
                                    const myth_prompts_survey *s, const myth_work *work, const myth_results_count *more,
                                    size_t n_more, bool as_json, myth_error *err);
/* A number of a line, from 0 up to most; as the next. */
bool myth_results_real(const myth_job_prompt *it, const char *key, double most, float *out,
                       char why[MYTH_PROMPT_FAULT_BYTES]);
/* A whole number of a line, up to most; *out stays when the line has none. False: it is something else, and why says
 * so. */
bool myth_results_number(const myth_job_prompt *it, const char *key, uint64_t most, uint64_t *out,
                         char why[MYTH_PROMPT_FAULT_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
