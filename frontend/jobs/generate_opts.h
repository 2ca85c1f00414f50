/* generate_opts.h - the flags of `generate`, for one prompt (cmd_generate.c) and for many (generate_many.c). */
#ifndef MYTH_GENERATE_OPTS_H
#define MYTH_GENERATE_OPTS_H

#include "frontend/common/grammars.h"
#include "shares.h"
#include "token_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_MANY_MOST = 256, MYTH_MANY_TOP = 64 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    myth_grammar_flags grammar;
    myth_token_set_flags sets;
    myth_share_flags shares;
    const char *prompt, *file, *ids, *messages, *system, *budget, *tool_choice, *jsonl, *output;
    uint32_t n_predict, parallel, n_top;
    myth_opt_list stop;
    int resume;
    bool chat, special, ignore_eos, verbose_prompt, json, dry_run;
} myth_generate_flags;

/* Reads --reasoning-budget: whether an answer may think, and for how many tokens (0 = any number). */
myth_status myth_generate_budget(const myth_generate_flags *o, bool *thinks, uint32_t *n_think, myth_error *err);
/* The grammar of the flags for an opened model, NULL = none, and its hash. MYTH_EARG: also, a chat cannot think first
 * under one. */
myth_status myth_generate_grammar(const myth_generate_flags *o, const myth_model *m, bool thinks, myth_gbnf **out,
                                  uint64_t *hash, myth_error *err);
/* MYTH_EARG: a flag needs --jsonl, or is not for it. MYTH_ECREATE: the output cannot be made. */
myth_status myth_generate_check_many(const myth_cli *cli, const myth_generate_flags *o, myth_error *err);
/* MYTH_EARG: flags of sets of tokens without the one that asks for sets, or others that do not go with it. */
myth_status myth_generate_check_sets(const myth_cli *cli, const myth_generate_flags *o, myth_error *err);
/* Answers the prompts of --jsonl. The exit code. */
int myth_generate_many(myth_cli *cli, const myth_generate_flags *o);

#ifdef __cplusplus
}
#endif
#endif
