/* logprobs_line.h - what a line of `logprobs` has beside its prompt: a token to look for, and completions to score; how
 * their scores are written.
 *
 * Right    is_right false: it is something else, and `why` says what was expected; a fault of the line, not of the job
 * Errors   MYTH_ENOMEM, and those of the tokenizer */
#ifndef MYTH_JOB_LOGPROBS_LINE_H
#define MYTH_JOB_LOGPROBS_LINE_H

#include "frontend/cli/json_out.h"
#include "prompts.h"

#ifdef __cplusplus
extern "C" {
#endif

uint32_t myth_logprobs_n_choice(const myth_model *m); /* ids that a model may choose */
/* A member that is there and not null; NULL = none. */
const myth_json_node *myth_logprobs_member(const myth_job_prompt *it, const char *key);
/* Writes `what` into why; false. */
bool myth_logprobs_fault(char why[MYTH_PROMPT_FAULT_BYTES], const char *what);
/* "token", -1 = the line has none. */
myth_status myth_logprobs_token(const myth_model *m, const myth_job_prompt *it, int32_t *token, bool *is_right,
                                char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err);
/* One of "completions" into dst [cap], dst NULL = its length alone. With *n > cap it does not fit. */
myth_status myth_logprobs_completion(const myth_model *m, const myth_job_prompt *it, const myth_json_node *c,
                                     int32_t *dst, size_t cap, size_t *n, bool *is_right,
                                     char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err);

/* A log-probability behind its key (NULL = in a list); null when it is not finite. */
void myth_logprobs_print(myth_json_out *j, const char *key, double v);
/* "completions" and which of them is the best: length [n], score [all their ids]. */
void myth_logprobs_print_completions(myth_json_out *j, const uint32_t *length, const float *score, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
