/* job_flags.c - the tables of job_flags.h. */
#include "job_flags.h"

#include "first_tokens.h"
#include "residual_run.h"

#define AT(field) offsetof(myth_prompt_flags, field)
const myth_option myth_options_prompts[MYTH_N_OPTIONS_PROMPTS] = {
    {"chat", NULL, MYTH_OPT_FLAG, NULL, AT(chat), NULL, 0, 0, "a \"text\" is a user's first turn of a chat"},
    {"system-prompt", "-sys", MYTH_OPT_TEXT, "TEXT", AT(system), NULL, 0, 0,
     "system text of chats that begin with none"},
};
#undef AT

#define AT(field) offsetof(myth_residual_flags, field)
const myth_option myth_options_residuals[MYTH_N_OPTIONS_RESIDUALS] = {
    {"layers", NULL, MYTH_OPT_TEXT, "all|LIST", AT(layers), "all", 0, 0,
     "residuals to take, as in 3,7-12: 0 is the scaled embedding, N the residual after layer N"},
    {"hook", NULL, MYTH_OPT_CHOICE, "resid|attn_out|mlp_out|attn_in|mlp_in", AT(hook), "resid", 0, 0,
     "what to take: the residual; what a layer's attention or feed-forward network adds to it, before its post norm; "
     "or what either reads, the residual behind its norm"},
    {"position", NULL, MYTH_OPT_TEXT, "P", AT(position), "-1", 0, 0,
     "token of each prompt: a number, from the end below 0; every: each token is a row; mean: a prompt's row is the "
     "mean over its tokens"},
    {"batch", NULL, MYTH_OPT_U32, "N", AT(batch), "(as many as fit 512 rows)", 1, MYTH_RESIDUAL_BATCH_MAX,
     "prompts at a time; the means do not depend on it"},
    {"winsorize", NULL, MYTH_OPT_F32, "Q", AT(winsorize), "1", 0, 1,
     "first cut each row's values to at most the Q-quantile of their magnitudes (1 = not)"},
    {"stats", NULL, MYTH_OPT_TEXT, "all|LIST", AT(stats), "(means alone)", 0, 0,
     "more of each label and layer, as in norms,variance: norms (mean, least and greatest length of its rows), minmax "
     "(least and greatest of each value), variance (of each value)"},
    {"rows", NULL, MYTH_OPT_TEXT, "DIR", AT(rows), NULL, 0, 0,
     "also write every row: DIR/layer-NNN.npy, and DIR/rows.jsonl with the ids"},
};
#undef AT

#define AT(field) offsetof(myth_logprobs_flags, field)
const myth_option myth_options_logprobs[MYTH_N_OPTIONS_LOGPROBS] = {
    {"top-k", NULL, MYTH_OPT_U32, "K", AT(top_k), "10", 1, MYTH_FIRST_TOKENS_TOP, "best next tokens of each prompt"},
    {"save-baseline", NULL, MYTH_OPT_OUT, "FILE", AT(save_baseline), NULL, 0, 0,
     "also keep these K and the mass of the others, for --baseline"},
    {"baseline", NULL, MYTH_OPT_TEXT, "FILE", AT(baseline), NULL, 0, 0,
     "add the divergence (KL) of this model's next token from the one that was kept for the same prompts"},
    {"special", NULL, MYTH_OPT_FLAG, NULL, AT(special), NULL, 0, 0,
     "read the names of control tokens in a text as control tokens"},
};
#undef AT
