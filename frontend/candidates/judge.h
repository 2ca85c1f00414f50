/* judge.h - asks a model of each place that the rules found in a file whether it is a fault. A function is read once;
 * each of its places then costs a few tokens, and no text is generated.
 *
 *   myth_judge_open    checks the model and finds the two answers; needs no tensor data
 *   myth_judge_needs   says which engine options the questions need
 *   myth_judge_file    scores the places of one file
 *
 * Prompt   judge_text.h: the full form, which asks about all places of a function behind one prefix, or the short form
 *          for models that were trained to judge (mythos.prompt = judge), one prompt a place
 * Window   a function whose prompt has more than n_tok tokens is shown around its places only; where they are too far
 *          apart, in several prompts
 * Score    logit("Yes") - logit("No") of the answer's first token
 * Comments do not speak for a place: where a function has any, each place is asked about twice, with them and without,
 *          and the larger score counts. The prompt without them is, to the byte, that of a function that never had any,
 *          so a comment cannot make a place less probable. The short form is always without
 * Context  in the full form, with a context (context.h): behind the function stand the definitions of what it calls
 *          and the lines that call it, as many as fit in MYTH_JUDGE_CONTEXT_TOKENS and in what the function leaves of
 *          n_tok, which the plan has whole. Their comments do not speak for a place either
 * Removed  lines that a change removed inside of the function stand after it, as in the prompts of inspect-diff and
 *          without numbers; their comments do not speak for a place either. The short form has them where the model
 *          was trained with them (mythos.judge_removed = 1)
 * Place    the prompt numbers a function's lines from 1: where it stands in its file changes nothing
 * Bits     a score depends on the model, the function, its context and its list of places, not on how many are asked
 *          about at once
 * Kept     with `kept`, the scores of a list of places by the ids of its prompts, written as soon as they are there: a
 *          function whose prompts are those of an earlier run is not asked about again, wherever it stands
 * Owner    model, engine and kept outlive the judge
 * Errors   MYTH_EUNSUPPORTED: the model was trained for another kind of prompt, or its vocabulary begins both answers
 *          with one token; MYTH_ENOMEM, MYTH_ECANCEL, and what the engine returns
 * Threads  one
 * Source   pointwise logits, as in rerank.h */
#ifndef MYTH_CANDIDATES_JUDGE_H
#define MYTH_CANDIDATES_JUDGE_H

#include "context.h"
#include "engine/base/cancel.h"
#include "frontend/inspect/kept/kept.h"
#include "frontend/inspect/prompt/prompt.h"
#include "retrieval/retrieval.h"

enum {
    MYTH_JUDGE_TOKENS = 4096,
    MYTH_JUDGE_CONTEXT_TOKENS = 1024,
    MYTH_JUDGE_SHORT_TOKENS = 224,
    MYTH_JUDGE_AT_ONCE = 32
};

typedef struct {
    uint32_t n_tok;            /* most tokens of a prompt; 0 = as the model was trained, at most MYTH_JUDGE_TOKENS */
    uint32_t n_at_once;        /* most questions of a forward pass; 0 = MYTH_JUDGE_AT_ONCE */
    const myth_cancel *cancel; /* may be NULL */
    myth_kept *kept;           /* scores of earlier runs, based on the model (inspect_base.h); NULL = none */
    myth_context *context;     /* the caller's; NULL = functions are shown alone */
    /* Nothing is asked: tokens are counted, as many as may be fed; myth_judge_file takes no engine, and all scores are
     * NAN. */
    bool is_dry;
    bool is_short; /* prompts of the short form (judge_text.h), whatever the model says of its form */
    /* In a dry run: gets the ids of each prompt, and the number of its place among those of the file. NULL = nobody. */
    myth_status (*on_prompt)(void *user, uint32_t place, const int32_t *ids, size_t n, myth_error *err);
    void *user;
} myth_judge_opts;

/* What was done so far. */
typedef struct {
    uint64_t n_prompt, n_place, n_unjudged; /* unjudged: not even the place's own lines fit the prompt */
    uint64_t n_kept;                        /* of n_place, whose scores all came from earlier runs */
    uint64_t n_unknown;                     /* places in a language that the judge does not know */
    uint64_t n_prefix_tok, n_question_tok;
    double prefix_s, question_s;
} myth_judge_counts;

typedef struct {
    const char *path;
    const unsigned char *text;
    uint64_t n_text;
    const char *language;
    const myth_candidates *found;
    const bool *is_wanted;       /* [found->n]; NULL = all. Places that are not wanted are neither shown nor scored */
    const myth_removed *removed; /* [n_removed] lines that a change removed; those of other files are not shown */
    uint32_t n_removed;
} myth_judge_job;

typedef struct myth_judge myth_judge;

myth_status myth_judge_open(myth_judge **out, const myth_model *model, const myth_judge_opts *opts, myth_error *err);
void myth_judge_close(myth_judge *j); /* takes NULL */
void myth_judge_needs(const myth_judge *j, myth_engine_opts *opts);
/* Most STAGING bytes that judging a file of n_file bytes takes, for a plan: of text as it is written by people, with
 * lines of eight bytes and more on average. */
uint64_t myth_judge_staging(const myth_judge *j, uint64_t n_file);
/* score [found->n]: NAN where a place is not wanted or was not judged. */
myth_status myth_judge_file(myth_judge *j, myth_engine *e, const myth_judge_job *job, float *score, myth_error *err);
myth_judge_counts myth_judge_counted(const myth_judge *j);
/* The probability that a place of `found` is a fault, as the model was calibrated for its row of rules (calibration.h);
 * of a model that was not, the one that it gives to Yes among the two answers. NAN of NAN. is_test: the place is in a
 * test that nobody asked for. */
double myth_judge_probability(const myth_judge *j, const myth_candidates *found, const myth_candidate_place *place,
                              float score, bool is_test);
/* *confidence = the probability from which on a place is a finding where nobody says: the calibration's, else 0.5. */
bool myth_judge_is_calibrated(const myth_judge *j, double *confidence);
/* Whether the judge was trained on a language of languages.def, or on the one whose grammar it has (jsx is javascript);
 * a model that says nothing of languages knows all.
 * Places of other languages are not judged. */
bool myth_judge_knows(const myth_judge *j, const char *language);
/* Whether the model answers questions about places at all. */
bool myth_judge_can(const myth_model *model);

/* For tests: the prompt about place `ask` of those of one function, which begin with place `first`; is_bare: without
 * comments. ids has room for `cap`. */
myth_status myth_judge_prompt(myth_judge *j, const myth_judge_job *job, uint32_t first, uint32_t ask, bool is_bare,
                              int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);

#endif
