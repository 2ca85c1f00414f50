/* first_tokens.h - first-token distributions of a set of prompts, kept to be compared with those of another model: what
 * `logprobs --save-baseline` writes and `--baseline` reads.
 *
 * File     JSON lines: {"mythos_baseline":1,"top_k":K}, then for each prompt in order {"index","prompt","ids",
 *          "logprobs","tail"}: a hash of the prompt's ids, the K best ids of the model with their log-probabilities,
 *          and the mass of all others. A prompt with a fault has "index" alone
 * KL       of the stored distribution p from the present one q, over the stored ids and one class for all others:
 *            sum over stored ids of p_i (log p_i - log q_i)  +  t_p (log t_p - log t_q)
 *          in nats, with every log q at least -100. So an id that is suppressed (logit -inf) costs at most 100 + log
 *          p_i times its mass, and the sum is finite. It is never more than the divergence over the whole vocabulary,
 *          but for that floor, and 0 for equal distributions
 * Rounding the mass of all others is that of their own logits, not 1 less the others' sum, of which nothing right is
 *          left where it is small. Each class of the divergence is added with q - p, which is 0 in sum and makes every
 *          term one that is not negative: it is as precise as the log-probabilities, also where it is small
 * Memory   the longest line, and K ids. Class STAGING
 * Errors   MYTH_EFORMAT "PATH: line N: what"; MYTH_ENOTFOUND, MYTH_EIO
 * Threads  one */
#ifndef MYTH_JOB_FIRST_TOKENS_H
#define MYTH_JOB_FIRST_TOKENS_H

#include "frontend/cli/json_out.h"
#include "frontend/common/lines.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_FIRST_TOKENS_TOP = 1024 };

typedef struct {
    uint32_t n;         /* stored ids; 0 = the prompt has none */
    const int32_t *id;  /* [n] */
    const double *logp; /* [n] */
    double tail;
} myth_first_token;

/* The k best ids of a row of n finite logits, rising, into ids [k]; of equal ones the smaller ids. heap [k] is scratch.
 * Returns how many there are. */
uint32_t myth_first_token_best(const float *row, uint32_t n, uint32_t k, float *heap, int32_t *ids);
/* Log-sum-exp of all logits of a row but those of n_out ids, which it sorts; ids outside the row and the same id again
 * are passed over. -inf when none is left. */
double myth_first_token_rest(const float *row, uint32_t n, int32_t *ids, uint32_t n_out);
/* Log-sum-exp of the logits of n_in ids of the row and of others, of which it is `rest`. */
double myth_first_token_lse(const float *row, const int32_t *ids, uint32_t n_in, double rest);
/* logq [p->n]: the present log-probabilities of the stored ids; log_tail: that of all others together. */
double myth_first_token_kl(const myth_first_token *p, const double *logq, double log_tail);

typedef struct {
    myth_mem *mem;
    myth_lines lines;
    uint32_t top_k;
    int32_t *id;
    double *logp;
    uint64_t index; /* of the last line read, plus one */
} myth_first_tokens;

/* Reads the first line. Closed after a failure. */
myth_status myth_first_tokens_open(myth_first_tokens *b, myth_cli *cli, const char *path, myth_error *err);
void myth_first_tokens_close(myth_first_tokens *b); /* takes a zeroed one */
/* The distribution of a prompt; indices are asked in rising order. MYTH_EFORMAT: the file has other prompts. Lent until
 * the next call. */
myth_status myth_first_tokens_find(myth_first_tokens *b, uint64_t index, uint64_t prompt, myth_first_token *out,
                                   myth_error *err);
/* The hash of a prompt. */
uint64_t myth_first_tokens_prompt(const int32_t *ids, uint32_t n);
/* Writes the members of a line behind the open brace. */
void myth_first_tokens_write(myth_json_out *j, uint64_t index, uint64_t prompt, const myth_first_token *p);

#ifdef __cplusplus
}
#endif
#endif
