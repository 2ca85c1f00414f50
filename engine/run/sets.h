/* sets.h - an answer whose positions may hold several tokens: where the model is undecided, all likely tokens are taken
 * at once, as a set (myth_set_kind of engine.h), and what follows sees all of them.
 *
 * Choice   the tokens of probability `threshold` and more, best first (equal ones by ascending id), at most n_member
 *          and at most as many as the cache has rows for when one is kept for each position to come; at least the best
 *          one. A stop id ends the answer when it is the best; it is never a member
 * Next     the distribution after a set: MIXTURE is sum w_i softmax(z_i) over its members with their weights, in which
 *          a token that is not among the best of a member (64, or 1 / threshold if that is more, at most 1,024) counts
 *          0 for that member; TOP is that of the best member
 * Pruning  after a set has been looked back at for prune_after positions, members that got less than prune x the mean
 *          attention of their set's are taken out of the cache; its best one stays. A member's attention is
 *          myth_result.mass of the tokens behind it, by their weights, added up over these positions. When rows run
 *          short, the least looked at members of sets still under observation go first, the newest set's never
 * One      where every set has one member, ids and logits have the bits of myth_generate without sampling
 * Memory   everything is taken at open: myth_sets_bytes, class STAGING
 * Owner    the set generator before its engine
 * Errors   those of myth_forward; MYTH_EARG: options out of range, an empty prompt
 * Source   positions, masks and rows as in tests/golden/make_sets.py, which has transformers compute the same */
#ifndef MYTH_SETS_H
#define MYTH_SETS_H

#include "engine/base/cancel.h"
#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum { MYTH_COMBINE_MIXTURE, MYTH_COMBINE_TOP } myth_combine;

typedef struct {
    int32_t id;
    uint32_t position;  /* which of the new positions, from 0 */
    float p;            /* probability when the set was chosen */
    float weight;       /* p over the sum of its set's */
    float mass;         /* attention so far; its share of one position's is 1 at most */
    uint32_t row;       /* of the cache, while it is held */
    int32_t removed_at; /* the position after which it was taken out; -1 = it was not */
    bool is_fed;        /* the last position's members are not */
} myth_set_member;

typedef struct {
    uint32_t n_max;    /* new positions at most */
    uint32_t n_member; /* tokens of a set at most, 1 to MYTH_SET_MEMBERS */
    float threshold;   /* above 0; above 1 every set has one member */
    myth_set_kind kind;
    myth_combine combine;
    float prune;          /* 0 = keeps all; else 0 < prune <= 1 */
    uint32_t prune_after; /* 0 = 4 */
    const int32_t *stop_ids;
    int n_stop;
    void (*on_prefill)(void *user, uint32_t done, uint32_t total);
    void (*on_set)(void *user, const myth_set_member *member, uint32_t n); /* chosen just now; may be NULL */
    void *user;
    const myth_cancel *cancel;
} myth_sets_opts;

enum { MYTH_SET_MEMBERS = 64, MYTH_SET_PRUNE_AFTER = 4, MYTH_SET_PRUNE_MOST = 16 };

typedef struct {
    const myth_set_member *member; /* [n_member], by position, best first; lent until the next run or close */
    uint32_t n_member, n_position;
    /* Sets that had fewer members than they could, because the context or the local layers' rings had no more rows, or
     * because of n_member. */
    uint32_t n_cut_by_context, n_cut_by_window, n_cut_by_most;
    uint32_t n_removed;
    uint64_t row_bytes; /* of the cache, that a member takes and a removed one gives back, in all layers */
    myth_finish why;
} myth_sets_result;

typedef struct myth_sets myth_sets;

/* Sets what an engine needs for such an answer behind a prompt of n_prompt tokens: n_logit_rows, top_k, n_set_rows,
 * n_mass, and n_ctx where it is 0. */
void myth_sets_needs(myth_engine_opts *opts, const myth_model *m, const myth_sets_opts *o, uint32_t n_prompt);
uint64_t myth_sets_bytes(const myth_sets_opts *o);
/* What sets take of the cache of a plan at most, before anything is known of the text. */
typedef struct {
    uint32_t n_member;  /* tokens of a position: n_member, and no more than can have the threshold's probability */
    uint64_t n_row;     /* rows in all beside one a position, behind a prompt of n_prompt tokens */
    uint64_t row_bytes; /* of one of them, in all layers */
} myth_sets_most;
myth_sets_most myth_sets_at_most(const myth_sets_opts *o, const myth_model *m, const myth_plan *p, uint32_t n_prompt);
/* o is copied; what it points to is lent until close. */
myth_status myth_sets_open(myth_sets **out, myth_engine *e, const myth_sets_opts *o, myth_error *err);
void myth_sets_close(myth_sets *x); /* takes NULL */
/* Appends the prompt to s, and an answer behind it. A prompt without room gives MYTH_FINISH_REFUSED and changes
 * nothing; a cancel is no error. */
myth_status myth_sets_run(myth_sets *x, myth_seq *s, const int32_t *prompt, uint32_t n_prompt, myth_sets_result *out,
                          myth_error *err);

/* ---- branches: the tokens of a position go on apart ---- */

/* A tree of answers with a shared beginning: where several tokens of a position are likely, each goes on by itself, as
 * a fork of the sequence with the same pages up to there. A branch's ids and logits have the bits of the answer alone.
 */
typedef struct {
    const int32_t *ids; /* [n], from the first new position on; lent until the next run or close */
    uint32_t n;
    double logprob; /* sum over its ids, and over the stop id where it ended at one */
    uint32_t parent,
        from; /* the branch that it left, and the position of its first own id; of the first, itself and 0 */
    myth_finish why;
} myth_branch;

typedef struct {
    const myth_branch *branch; /* [n_branch], in the order in which they came to be */
    uint32_t n_branch;
    uint32_t n_not_followed; /* likely tokens that no branch was left for */
    myth_finish why;         /* of the whole: REFUSED, CANCELLED, else the first branch's */
} myth_branches_result;

typedef struct myth_branches myth_branches;

/* Of the options n_max, n_member (branches at most), threshold, stop_ids, on_prefill, user and cancel are read. A
 * branch that has ended counts. The likeliest branch is asked first for what else may follow it. */
void myth_branches_needs(myth_engine_opts *opts, const myth_sets_opts *o);
uint64_t myth_branches_bytes(const myth_sets_opts *o);
/* MYTH_EARG: options out of range, or fewer sequences or rows of logits than n_member. */
myth_status myth_branches_open(myth_branches **out, myth_engine *e, const myth_sets_opts *o, myth_error *err);
void myth_branches_close(myth_branches *x); /* takes NULL */
/* Takes all of the engine's sequences that it needs, for the call. */
myth_status myth_branches_run(myth_branches *x, const int32_t *prompt, uint32_t n_prompt, myth_branches_result *out,
                              myth_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
