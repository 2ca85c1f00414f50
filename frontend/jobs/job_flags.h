/* job_flags.h - the flags that decide what a long job takes: of its command and of `plan --for`.
 *
 * Owner    plain data; texts are the command line's */
#ifndef MYTH_JOB_FLAGS_H
#define MYTH_JOB_FLAGS_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How prompts are read. */
typedef struct {
    const char *system;
    bool chat;
} myth_prompt_flags;

typedef struct {
    const char *layers, *position, *rows, *stats;
    uint32_t batch;
    float winsorize;
    int hook;
} myth_residual_flags;

typedef struct {
    const char *baseline, *save_baseline;
    uint32_t top_k;
    bool special;
} myth_logprobs_flags;

enum { MYTH_N_OPTIONS_PROMPTS = 2, MYTH_N_OPTIONS_RESIDUALS = 7, MYTH_N_OPTIONS_LOGPROBS = 4 };
extern const myth_option myth_options_prompts[MYTH_N_OPTIONS_PROMPTS];
extern const myth_option myth_options_residuals[MYTH_N_OPTIONS_RESIDUALS];
extern const myth_option myth_options_logprobs[MYTH_N_OPTIONS_LOGPROBS];

#define MYTH_GROUP_PROMPTS(type, field)                                                \
    {                                                                                  \
        "prompts", myth_options_prompts, MYTH_N_OPTIONS_PROMPTS, offsetof(type, field) \
    }
#define MYTH_GROUP_RESIDUALS(title, type, field)                                       \
    {                                                                                  \
        title, myth_options_residuals, MYTH_N_OPTIONS_RESIDUALS, offsetof(type, field) \
    }
#define MYTH_GROUP_LOGPROBS(title, type, field)                                      \
    {                                                                                \
        title, myth_options_logprobs, MYTH_N_OPTIONS_LOGPROBS, offsetof(type, field) \
    }

#ifdef __cplusplus
}
#endif
#endif
