/* setwise.h - improves the order of the best pieces of a ranked list: the model sees a few pieces together and names
 * the best of them.
 *
 * Passes   a window of MYTH_SETWISE_SET pieces slides over the first MYTH_SETWISE_LOOK pieces, from their end to the
 *          front; the winner of a window is the last piece of the next one. So each pass brings the best piece to the
 *          front. There are MYTH_SETWISE_PLACES passes; the other pieces keep their order
 * Answer   the letter with the greatest logit; if equal, the piece that was ahead
 * Pieces   the first MYTH_SETWISE_BYTES of each, up to the end of a line; fewer when the context is small
 * Owner    question, candidates and order are the caller's
 * Errors   as in rerank.h; MYTH_ECANCEL: order is unchanged
 * Threads  one
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

/* Sets the engine options that the run needs. */
void myth_setwise_needs(const myth_model *model, myth_engine_opts *opts);
/* Changes order [n], which has indexes into c with the best first; n may be less than two. *n_asked: the number of
 * windows that the model compared; may be NULL. */
myth_status myth_setwise_run(const myth_model *model, myth_engine *e, const char *question, const myth_candidate *c,
                             uint32_t *order, uint32_t n, const myth_rerank_opts *opts, uint32_t *n_asked,
                             myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
