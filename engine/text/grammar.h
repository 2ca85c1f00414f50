/* grammar.h - constrained generation: only tokens whose bytes an automaton accepts may be chosen.
 *
 * Automaton  given by the caller: a state of fixed size, a start, a step per byte, and whether the text may end here. A
 *            token is allowed when every one of its bytes steps; it may end inside an escape or a code point. Control
 *            tokens, tokens of no bytes and of more than MYTH_GRAMMAR_PIECE_MAX are allowed only where the automaton
 *            takes ids; the stop ids where the text may end, or may end behind them when it takes them by name.
 * Masks      one bit per id of the vocabulary. A state's mask is found by trying the tokens in the order of their
 *            bytes, each from the byte where it differs from the one before. Masks are cached by the state's key
 * Memory     tokens and cache are booked under OTHER at open, sizes from myth_grammar_plan; nothing is allocated later
 * Threads    one user at a time; a grammar and its second may have one each */
#ifndef MYTH_GRAMMAR_H
#define MYTH_GRAMMAR_H

#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_AUTOMATON_STATE_MAX = 512, MYTH_GRAMMAR_PIECE_MAX = 512 };

/* The steps of an automaton whose state is one uint32_t, as far as it has computed them: next[state * n_class +
 * class_of[byte]] is the state behind the byte, MYTH_STEP_NONE where there is none, MYTH_STEP_ASK where step says
 * it. */
enum { MYTH_STEP_ASK, MYTH_STEP_NONE, MYTH_STEP_FIRST_STATE };
typedef struct {
    const uint32_t *next;
    const uint8_t *class_of; /* [256] */
    uint32_t n_class;
} myth_step_table;

typedef struct {
    void *self;
    uint32_t state_bytes; /* <= MYTH_AUTOMATON_STATE_MAX; compared as bytes, so no padding */
    void (*start)(const void *self, void *state);
    bool (*step)(const void *self, void *state, uint8_t byte); /* false: not allowed, state undefined then */
    bool (*may_end)(const void *self, const void *state);
    /* Optional: a bit per byte that step may accept, for skipping; NULL = try all. */
    void (*allowed)(const void *self, const void *state, uint32_t bits[8]);
    /* Optional: a key of state_bytes for the cache. States with equal keys must step alike for all strings of up to
     * horizon bytes (the longest token) and agree on may_end. NULL = the state itself. */
    void (*key)(const void *self, const void *state, uint32_t horizon, void *key);
    /* Optional: called when a token was accepted, the only moment when no state but this one is in use. True: the
     * automaton has changed it to an equal one, and forgotten what other states and keys stood for. */
    bool (*settle)(const void *self, void *state);
    /* Optional: read before step is called; next NULL = there is none. */
    myth_step_table table;
    /* Optional, both or none: ids that may come as they are, whatever their bytes. take: whether id is one; *next (NULL
     * = not asked for) becomes the state behind it, which is also the one that it held, behind the bytes of the id,
     * when has_next. by_name: only when the automaton names this id, not among all others. mark: sets the bits of those
     * below n_id. */
    bool (*take)(const void *self, const void *state, int32_t id, bool by_name, bool has_next, void *next);
    void (*mark)(const void *self, const void *state, uint32_t n_id, uint32_t *mask);
} myth_automaton;

typedef struct myth_grammar myth_grammar;

/* n_vocab: logits of a row (config.n_vocab), which may be more or fewer than the tokenizer's ids; a mask has a bit for
 * each. */
uint64_t myth_grammar_plan(const myth_tokenizer *t, uint32_t n_vocab, uint32_t n_cached_masks);
/* stop_ids: at most 12 are kept. n_cached_masks >= 1. MYTH_ENOMEM. */
myth_status myth_grammar_open(myth_grammar **out, myth_mem *mem, const myth_tokenizer *t, uint32_t n_vocab,
                              const int32_t *stop_ids, int n_stop, uint32_t n_cached_masks, myth_error *err);
void myth_grammar_close(myth_grammar *g); /* takes NULL */
/* A second grammar over the same tokens and stop ids, with an automaton, state and masks of its own: for answers that
 * are generated side by side. `of` must stay open until it is closed. MYTH_ENOMEM. */
uint64_t myth_grammar_plan_second(const myth_tokenizer *t, uint32_t n_vocab, uint32_t n_cached_masks);
myth_status myth_grammar_open_second(myth_grammar **out, const myth_grammar *of, uint32_t n_cached_masks,
                                     myth_error *err);
/* Sets the automaton (what it points to is lent until the next start or close), forgets cached masks, goes to the
 * start. */
void myth_grammar_start(myth_grammar *g, const myth_automaton *a);
bool myth_grammar_allows(const myth_grammar *g, int32_t id);
/* Walks on with an allowed token; false (state unchanged) when it is not allowed. */
bool myth_grammar_accept(myth_grammar *g, int32_t id);
bool myth_grammar_is_done(const myth_grammar *g); /* a stop id was accepted */
bool myth_grammar_may_end(const myth_grammar *g);
/* Mask of the current state: ceil(n_vocab / 32) words, 1 = allowed; lent until the next call. Empty when no token
 * spells what may follow, and where the text can only end but there is no stop id. */
const uint32_t *myth_grammar_mask(myth_grammar *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
