/* expect.h - the seconds that a run is expected to take, from kept or named rates, and how they are printed.
 *
 * Answers  nobody knows how long an answer will be. The range goes from the mean length of the answers that were
 *          measured for this model (without one: no answer at all) to the limit of every answer and every round
 * At once  answers that are generated together have a rate of their own, measured with as many; without it the seconds
 *          are those of one after the other, and the output says so
 * Unknown  without a rate there is no figure, only what to do to get one. The rates of other flags (--head host, -nkvo,
 *          --cpu-moe, ...) are none: the message names the flags
 * Owner    plain data
 * Threads  one */
#ifndef MYTH_RATES_EXPECT_H
#define MYTH_RATES_EXPECT_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "rates.h"
#include "work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A decoded token where layers are brought to their device (--offload): engine.h, myth_offload_expect. */
typedef struct {
    bool is_offloaded; /* else nothing here is set */
    uint32_t n_tok;    /* that the sequence holds */
    double link_gb_s;  /* host to device; 0 = unknown */
    bool has_rate;     /* the seconds of the same step without --offload are known; else the link alone is the bound */
    const char *source;
    myth_offload_step step;
} myth_offload_expectation;

typedef struct {
    myth_rates rates;
    myth_offload_expectation offload;
    bool is_known;
    uint32_t n_at_once;    /* answers of the work that are generated together; 0 = one */
    bool is_one_by_one;    /* but only the rate of one is known: together they take less */
    char source[256];      /* "measured on this machine (AMD EPYC, 2 threads)"; why, when they are not known */
    double mean;           /* tokens of an answer; -1 = unknown */
    double prefill, turns; /* seconds */
    double from, to;
} myth_expectation;

/* Finds the rates for a model and options: of the machine `as`, or with as NULL of this one, and computes the seconds
 * of the work; work NULL = the rates alone. MYTH_ENOTFOUND, MYTH_EFORMAT: `as` names no rates. */
myth_status myth_expect(myth_expectation *out, myth_cli *cli, const myth_model *model, const myth_engine_opts *opts,
                        const char *as, const myth_work *work, myth_error *err);
/* Adds what a token at position n_tok takes with --offload. link_gb_s: of the link; 0 = what was measured and kept on
 * this machine, which `as` has none of. */
myth_status myth_expect_offload(myth_expectation *out, myth_cli *cli, const myth_model *model,
                                const myth_engine_opts *opts, const char *as, uint32_t n_tok, double link_gb_s,
                                myth_error *err);
/* Limits the devices of the options to the memory that the machine `as` has of their kind, where neither --mem-limit
 * nor an open model says otherwise, so that a device can be planned that is not here. Such a device is named in a
 * note, because what its driver takes cannot be planned. What this machine's host has left is then no limit. */
void myth_expect_limits(myth_cli *cli, const myth_engine_opts *opts, const char *as);
/* Lines in the form of plan's and --dry-run's: a word, then what it says. */
void myth_expect_print_text(FILE *f, const myth_expectation *e, const myth_work *work);
/* {"known","source","prefill_tokens","prefill_tok_s","decode_tok_s","prefill_seconds","answers_measured",
 * "answer_tokens_mean","answer_tokens_most","seconds_from","seconds_to"}; without work the rates alone; unknown:
 * {"known":false,"why"}. Of answers at once also "answers_at_once" and "is_one_by_one". With --offload also
 * "offload":{"position","in_bytes","out_bytes"}, and where the link is known
 * "link_gb_s","copy_seconds","is_bound","decode_tok_s" in it. */
void myth_expect_print_json(myth_json_out *j, const myth_expectation *e, const myth_work *work);

/* "0.42 s", "12.3 s", "3 min 20 s", "2 h 05 min" */
const char *myth_seconds_text(char dst[32], double s);
/* Keeps the rate of n answers at once: tokens of all together, and the seconds of the steps that had as many. */
void myth_expect_keep_at_once(myth_cli *cli, const myth_model *model, const myth_engine_opts *opts,
                              const myth_engine *engine, uint32_t n, double n_tok, double seconds);
/* Keeps what a run measured: its rates, unless it was of fewer than MYTH_RATES_FEW tokens, and the speed of the link,
 * if the engine moved as many megabytes. A failure is said with --verbose only: the run itself did not fail. */
void myth_expect_keep(myth_cli *cli, const myth_model *model, const myth_engine_opts *opts, const myth_engine *engine,
                      const myth_pace *pace);

#ifdef __cplusplus
}
#endif
#endif
