/* setwise.h - a second look at the best of a ranked list: a few pieces side by side, and which of them the model names.
 *
 * Passes   over the first MYTH_SETWISE_LOOK pieces a window of MYTH_SETWISE_SET slides from their end to the front, the
 *          winner of one stands at the end of the next: a pass brings the best to the front, MYTH_SETWISE_PLACES of
 *          them are made. The others keep their order
 * Answer   the letter with the greatest logit; of equals the first, which is the one that stood in front
 * Pieces   the first MYTH_SETWISE_BYTES of each, to a whole line; less when the context is small
 * Owner    question, candidates and order are lent to run
 * Errors   as rerank.h; cancelled: MYTH_ECANCEL, order untouched
 * Source   setwise prompting for zero-shot rankers: Zhuang et al., arXiv 2310.09497 */
#ifndef MYTH_INSPECT_SETWISE_H
#define MYTH_INSPECT_SETWISE_H

#include "rerank.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_SETWISE_LOOK = 8,
    MYTH_SETWISE_SET = 4,
    MYTH_SETWISE_PLACES = 2,
    MYTH_SETWISE_BYTES = 1000,
    MYTH_SETWISE_TOKENS = 2048
};

/* What the engine must offer. */
void myth_setwise_needs(const myth_model *model, myth_engine_opts *opts);
/* order [n] of indexes into c, the best first, is put in the new order; n may be less than two. *n_asked: comparisons;
 * may be NULL. */
myth_status myth_setwise_run(const myth_model *model, myth_engine *e, const char *question, const myth_candidate *c,
                             uint32_t *order, uint32_t n, const myth_rerank_opts *opts, uint32_t *n_asked,
                             myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
