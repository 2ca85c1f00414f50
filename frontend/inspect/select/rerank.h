/* rerank.h - lets the model order pieces of code by their relevance to a question. Each piece takes one prefill and
 * gives one score; no text is generated.
 *
 *   myth_rerank_open    builds the prompts and finds their common prefix; needs no tensor data. Allocates everything
 *                       that the run needs
 *   myth_rerank_needs   says which engine options the run needs
 *   myth_rerank_run     computes the common prefix once, then the pieces as branches of it, as many at a time as fill a
 *                       micro-batch
 *
 * Prompt   instruction and question, then one piece as a <file> block, then the form of the answer. A piece longer than
 *          n_tok tokens is cut after a line
 * Score    yes or no: logit("Yes") - logit("No") of the answer's first token
 *          scale: expected value of the digits 0 to 9 under the softmax of their logits
 * Order    by score; equal scores keep their order. A score does not depend on the other pieces of the call
 * Owner    question and candidates are needed only until open returns
 * Errors   MYTH_EUNSUPPORTED: the vocabulary begins both answers with the same token; MYTH_ENOMEM, and what the engine
 *          returns
 * Threads  one
 * Source   pointwise logits: the model cards of Qwen3-Reranker and bge-reranker-v2-gemma; the scale: arXiv 2505.19334
 */
#ifndef MYTH_INSPECT_RERANK_H
#define MYTH_INSPECT_RERANK_H

#include "engine/base/cancel.h"
#include "frontend/inspect/prompt/prompt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RERANK_TOKENS = 512, MYTH_RERANK_MAX = 1024 };

typedef enum { MYTH_RERANK_YES_NO, MYTH_RERANK_SCALE } myth_rerank_form;

typedef struct {
    const char *path, *symbol; /* symbol may be NULL or ""       */
    const char *text;
    size_t n_text;
    uint32_t line; /* number of its first line, from 1 */
} myth_candidate;

typedef struct {
    myth_rerank_form form;
    uint32_t n_tok;            /* most tokens of a piece; 0 = MYTH_RERANK_TOKENS */
    const myth_cancel *cancel; /* may be NULL, as on_progress    */
    void (*on_progress)(void *user, uint32_t done, uint32_t total);
    void *user;
} myth_rerank_opts;

typedef struct myth_rerank myth_rerank;

/* id [n]: the first token of each possible answer. MYTH_EUNSUPPORTED: two answers begin with the same one. */
myth_status myth_rerank_answers(int32_t *id, const myth_model *model, const char *const *answer, uint32_t n,
                                myth_error *err);

/* MYTH_ELIMIT: more than MYTH_RERANK_MAX candidates. */
myth_status myth_rerank_open(myth_rerank **out, const myth_model *model, const char *question, const myth_candidate *c,
                             uint32_t n, const myth_rerank_opts *opts, myth_error *err);
void myth_rerank_close(myth_rerank *r); /* takes NULL */
/* Tokens of all prompts, with the common prefix counted once. */
uint32_t myth_rerank_tokens(const myth_rerank *r);
void myth_rerank_needs(const myth_rerank *r, myth_engine_opts *opts);
/* score [n]: one for each candidate; order [n]: their indexes, the best first. MYTH_ECANCEL: both are unchanged. */
myth_status myth_rerank_run(myth_rerank *r, myth_engine *e, float *score, uint32_t *order, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
