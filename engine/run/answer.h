/* answer.h - one answer while it is generated: what its next token is, and when it ends. generate.c advances one
 * answer, slots.c several at once.
 *
 * Use      begin feeds the prompt; then take the next token from a logits row of the last forward, and feed it by a
 *          decode step that has what `wants` says, until the answer has ended
 * Rows     a forward may have rows of several answers. A row's result does not depend on the others, so neither does
 *          the answer
 * Owner    the caller owns myth_answering; options, sequence and ids are lent until the answer has ended
 * Errors   those of myth_forward; MYTH_EARG: an empty prompt */
#ifndef MYTH_ANSWER_RUN_H
#define MYTH_ANSWER_RUN_H

#include "engine_impl.h"
#include "sets.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_PENALTY_MAX = 1024, MYTH_CANDIDATE_MAX = MYTH_TOPK_MAX + MYTH_PENALTY_MAX };

/* The bias of penalised ids, which puts them below every other logit. It is finite, so that no device computes
 * inf - inf when it sums exponentials. */
#define MYTH_HIDDEN_LOGIT (-1e30f)

typedef struct {
    float logit;
    int32_t id;
} myth_candidate;

typedef struct {
    myth_engine *e;
    myth_seq *s;
    const myth_generate_opts *o;
    int32_t *ids; /* [o->n_max] */
    uint32_t n_ids;
    int32_t id; /* the token to feed next */
    myth_finish why;
    bool goes_on;      /* id is to be fed; false: why says how it ended */
    uint32_t k;        /* best ids that a logits row must have */
    uint32_t n_masked; /* greedy tokens that are chosen under the mask at once, from now on */
    bool has_budget;
    myth_channel channel;
    uint32_t n_ask;
    int32_t ask[MYTH_PENALTY_MAX]; /* ids with a penalty, of the row that is wanted next */
    myth_candidate list[MYTH_CANDIDATE_MAX];
} myth_answering;

/* The most ids with a penalty that a row can have; 0 = there is no penalty. */
uint32_t myth_penalty_window(const myth_sample_params *p);
/* Whether the row is reduced under the grammar's mask. */
static inline bool myth_answer_wants_mask(const myth_answering *a)
{
    return a->o->grammar && (a->o->sample.temp > 0.0f || a->n_masked);
}
/* Sets a->ask for a forward that feeds these tokens to the sequence. */
void myth_answer_ask(myth_answering *a, const int32_t *fed, uint32_t n_fed);
enum { MYTH_ANSWER_PART = 512 };
/* Tokens of a prompt that a forward feeds, if there are so many: a whole micro-batch, and not so few that a small one
 * costs a wait for the device each time. */
static inline uint32_t myth_answer_part(const myth_engine *e)
{
    const uint32_t n = e->layout.opts.n_ubatch;
    return n > MYTH_ANSWER_PART ? n : (uint32_t)MYTH_ANSWER_PART;
}

bool myth_is_stop(const int32_t *stop_ids, int n_stop, int32_t id); /* whether id is one of stop_ids [n_stop] */
/* Appends the prompt of an answer of sets.h to s, part by part; with n_max above 0, r then has the k best ids behind
 * its last token. MYTH_ECANCEL: o->cancel was set before the last part was fed. */
myth_status myth_sets_feed_prompt(myth_engine *e, myth_seq *s, const myth_sets_opts *o, uint32_t k,
                                  const int32_t *prompt, uint32_t n, myth_result *r, myth_error *err);

/* Sets up an answer whose prompt is not fed yet: with why NONE it is to be fed. A prompt without room in the sequence
 * ends as REFUSED. */
myth_status myth_answer_set(myth_answering *a, myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                            myth_error *err);
/* As set, then feeds the prompt and takes the first token. A refused prompt changes nothing; a cancel is no error. */
myth_status myth_answer_begin(myth_answering *a, myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                              myth_error *err);
/* Chooses the next token from this row of the last forward, r: stores it and calls on_token, or ends the answer. */
myth_status myth_answer_take(myth_answering *a, const myth_result *r, uint32_t row, myth_error *err);
/* Feeds a->id in a step of its own, and takes the token after it. */
myth_status myth_answer_step(myth_answering *a, myth_error *err);
/* Handles an id that was chosen for the answer, by this file or by a device. */
void myth_answer_accept(myth_answering *a, int32_t id);

#ifdef __cplusplus
}
#endif
#endif
