/* rerank.h - pieces of code put in order by the model itself: for each one prefill and one number, nothing is
 * generated.
 *
 *   myth_rerank_open    prompts and what they have in common; needs no tensor data. Everything the run needs is taken
 *                       here
 *   myth_rerank_needs   what the engine must offer
 *   myth_rerank_run     the common part once, then the pieces as runs that branch off it, as many at a time as fill a
 *                       micro-batch
 *
 * Prompt   instruction and question first, then one piece as a <file> block, then the form of the answer. A piece
 *          longer than n_tok tokens is cut at a line
 * Score    yes or no: logit("Yes") - logit("No") of the answer's first token
 *          scale: expected value of the digits 0 to 9 over their own softmax
 * Order    by score; ties as they were given. A score does not depend on what else is in the call
 * Owner    question and candidates are lent until open returns
 * Errors   MYTH_EUNSUPPORTED a vocabulary in which the answers begin alike; MYTH_ENOMEM, and what the engine returns
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
    uint32_t n_tok;            /* of a piece at most; 0 = MYTH_RERANK_TOKENS */
    const myth_cancel *cancel; /* may be NULL, as on_progress    */
    void (*on_progress)(void *user, uint32_t done, uint32_t total);
    void *user;
} myth_rerank_opts;

typedef struct myth_rerank myth_rerank;

/* At most MYTH_RERANK_MAX candidates: MYTH_ELIMIT. */
myth_status myth_rerank_open(myth_rerank **out, const myth_model *model, const char *question, const myth_candidate *c,
                             uint32_t n, const myth_rerank_opts *opts, myth_error *err);
void myth_rerank_close(myth_rerank *r); /* takes NULL */
/* Tokens of all prompts; the common part counts once. */
uint32_t myth_rerank_tokens(const myth_rerank *r);
void myth_rerank_needs(const myth_rerank *r, myth_engine_opts *opts);
/* score [n] by candidate, order [n]: indexes, the best first. Cancelled: MYTH_ECANCEL, both untouched. */
myth_status myth_rerank_run(myth_rerank *r, myth_engine *e, float *score, uint32_t *order, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
