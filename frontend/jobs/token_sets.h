/* token_sets.h - the flags of `generate` for several tokens a position (engine/run/sets.h), and how such an answer is
 * shown: as text in which a set is {one|other}, and in JSON with its positions, its rows and what was removed.
 *
 * Owner    plain data; the result that is printed is lent for the call
 * Errors   MYTH_EARG: flags that do not go together */
#ifndef MYTH_TOKEN_SETS_H
#define MYTH_TOKEN_SETS_H

#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "engine/run/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    float threshold; /* 0 = one token a position */
    uint32_t most;
    int mode, combine;
    float prune;
    uint32_t prune_after;
} myth_token_set_flags;

enum { MYTH_N_OPTIONS_TOKEN_SETS = 6, MYTH_COMBINE_APART = 2 }; /* APART: `combine` says branches */
extern const myth_option myth_options_token_sets[MYTH_N_OPTIONS_TOKEN_SETS];
#define MYTH_GROUP_TOKEN_SETS(type, field)                                                           \
    {                                                                                                \
        "parallel tokens", myth_options_token_sets, MYTH_N_OPTIONS_TOKEN_SETS, offsetof(type, field) \
    }

/* MYTH_EARG: flags of sets without --parallel-threshold. */
myth_status myth_token_sets_check(const myth_cli *cli, const myth_token_set_flags *f, myth_error *err);
/* Sets what the flags say; the caller sets the rest. */
void myth_token_sets_opts(myth_sets_opts *out, const myth_token_set_flags *f);
/* What the sets of a plan take at most, behind n_prompt tokens: the key "sets" {"members","rows_per_position","rows",
 * "row_bytes"}, or a line. Rows are those beside one a position, which the plan's keys and values have; local layers
 * keep those of their window. Of branches: {"branches"}. */
void myth_token_sets_plan_json(myth_json_out *j, const myth_sets_opts *o, bool are_branches, const myth_model *m,
                               const myth_plan *p, uint32_t n_prompt);
void myth_token_sets_plan_text(FILE *f, const myth_sets_opts *o, bool are_branches, const myth_model *m,
                               const myth_plan *p, uint32_t n_prompt);
/* Prints a set as text; d is the state behind the best tokens before it, and goes on with this set's best. piece has
 * room for a token's text. */
void myth_token_sets_print(myth_term *term, FILE *out, const myth_set_member *set, uint32_t n, myth_detok *d,
                           char *piece);
/* The keys "sets", "layout" and "limits" of the answer behind n_prompt tokens. t and piece NULL: ids without texts. */
void myth_token_sets_json(myth_json_out *j, const myth_sets_result *r, uint32_t n_prompt, const myth_tokenizer *t,
                          char *piece);
/* Prints each branch in a line of its own, behind its probability. */
void myth_branches_print(myth_term *term, FILE *out, const myth_branches_result *r, const myth_tokenizer *t,
                         char *piece);
/* The keys "branches" and "not_followed". */
void myth_branches_json(myth_json_out *j, const myth_branches_result *r, const myth_tokenizer *t, char *piece);
/* A line about what bounded the sets and what was removed, for stderr; "" when there is nothing to say. */
void myth_token_sets_note(char *dst, size_t cap, const myth_sets_result *r, const myth_token_set_flags *f);

#ifdef __cplusplus
}
#endif
#endif
