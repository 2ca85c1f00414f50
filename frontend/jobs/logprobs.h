/* logprobs.h - what a model expects behind each prompt: `logprobs`.
 *
 * Rows     {"index","id","prompt_tokens","top":[{"id","text","logprob"}],"entropy","tail"}: the K best next tokens, the
 *          entropy of the whole distribution in nats, and the mass outside the K best. By what the line has:
 *            "token"        an id, or a text of one token: "token":{"id","logprob","rank"}, 1 = the best
 *            "completions"  texts or lists of ids: "completions":[{"tokens","sum","mean","logprobs"}], "best" and
 *                           "best_mean": which has the largest sum, and the largest mean
 *          with a baseline "kl" (first_tokens.h); null where the baseline has no distribution of the prompt
 * Texts    a completion is tokenized by itself and its ids follow the prompt's: nothing is joined across the border
 * Work     prompts are read together, as many as a micro-batch holds, and keep no keys. With completions the prompt is
 *          read once, less its last token, and each completion branches off, in pieces if it is longer than a
 *          micro-batch; consecutive prompts share what they begin with. A row has the same bits for every grouping and
 *          micro-batch
 * Memory   planned before the first prompt; nothing grows with their number
 * Errors   those of the engine, prompts.h, results.h and first_tokens.h; MYTH_EUNSUPPORTED: a model without logits
 * Threads  one */
#ifndef MYTH_JOB_LOGPROBS_H
#define MYTH_JOB_LOGPROBS_H

#include "first_tokens.h"
#include "frontend/rates/work.h"
#include "job_flags.h"
#include "results.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *prompts, *output;
    const char *baseline, *save_baseline; /* NULL = none */
    myth_prompts_opts reading;            /* n_most and is_done are set here */
    uint32_t top_k;                       /* 1 .. MYTH_FIRST_TOKENS_TOP */
    bool goes_on;
} myth_logprobs_opts;

typedef struct myth_logprobs myth_logprobs;

/* MYTH_EUNSUPPORTED: the model has no logits. */
myth_status myth_logprobs_check_model(const myth_model *model, myth_error *err);
/* What the flags ask of the prompts at a path; without outputs. The texts are lent. */
myth_logprobs_opts myth_logprobs_opts_of(const myth_logprobs_flags *what, const myth_prompt_flags *reading,
                                         const char *prompts);
/* As myth_answers_open. */
myth_status myth_logprobs_open(myth_logprobs **out, myth_cli *cli, myth_model *model, const myth_logprobs_opts *o,
                               const myth_engine_opts *eo, myth_error *err);
void myth_logprobs_close(myth_logprobs *l); /* takes NULL */
/* What there is to do; nobody waits for answers. */
myth_work myth_logprobs_work(const myth_logprobs *l);
myth_status myth_logprobs_print_plan(myth_logprobs *l, bool as_json, myth_error *err);
myth_status myth_logprobs_run(myth_logprobs *l, myth_error *err);
/* Rows of the job and those of them that are faults; n_run: rows of this run. */
void myth_logprobs_counts(const myth_logprobs *l, uint64_t *n_row, uint64_t *n_fault, uint64_t *n_run);

#ifdef __cplusplus
}
#endif
#endif
