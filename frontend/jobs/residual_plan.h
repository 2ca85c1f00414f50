/* residual_plan.h - what a job of residuals will do and take: its flags, the first pass over the prompts, the rows of a
 * step. `residuals`, its --dry-run and `plan --for residuals` have it from here.
 *
 * Step      --batch N asks for as many rows as the N longest prompts in a row have tokens; without it a step has 512
 *           rows, or what fits
 * Owner     the model, the flags and the path of the prompts are lent until close; a zeroed plan may be closed
 * Memory    class STAGING: the reader of the prompts, and the windows of --batch
 * Base      must have a row; labels of faulty lines count, so that it is not another one because of them
 * Errors    MYTH_EARG a flag; MYTH_ENOFIT: cli->plan has what it would take, unless the message names the largest batch
 * Threads   one */
#ifndef MYTH_JOB_RESIDUAL_PLAN_H
#define MYTH_JOB_RESIDUAL_PLAN_H

#include "job_flags.h"
#include "residual_run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const myth_residual_flags *flags;
    const myth_prompt_flags *prompt;
    const char *prompts; /* path */
    const char *base;    /* NULL = the first label */
} myth_residual_ask;

typedef struct {
    myth_cli *cli;
    const myth_model *model;
    const myth_residual_flags *flags;
    myth_prompts_opts po;
    myth_prompts *prompts; /* at their beginning */
    myth_prompts_survey survey;
    uint32_t layer[MYTH_ROW_FILE_MAX];
    char label[MYTH_LABEL_MAX + 1][MYTH_LABEL_BYTES];
    uint64_t n_of_label[MYTH_LABEL_MAX + 1]; /* prompts that give rows */
    uint32_t base;
    bool has_unlabelled;
    uint64_t n_unlabelled;   /* of them with rows */
    uint64_t *window, *most; /* [batch + 1] tokens up to the last prompts; [batch + 1] of that many in a row, at most */
    uint64_t n_good;         /* prompts that give rows */
    uint32_t n_wanted;       /* rows of a step without a limit; 0 = the flags say how many */
    myth_residual_opts ro;   /* layers and labels point into the plan */
    myth_engine_opts eo;
    char first_fault[MYTH_PROMPT_FAULT_BYTES + 32];
} myth_residual_plan;

/* Reads the flags and all prompts, chooses the rows of a step and plans; the plan is in cli->plan. */
myth_status myth_residual_plan_make(myth_residual_plan *p, myth_cli *cli, const myth_model *model,
                                    const myth_residual_ask *ask, const myth_engine_opts *eo, myth_error *err);
void myth_residual_plan_close(myth_residual_plan *p);
myth_residual_shape myth_residual_plan_shape(const myth_residual_plan *p);
/* The stats in one order, whatever the flag's: "norms,variance", "none". */
void myth_residual_plan_stats(const myth_residual_plan *p, char text[32]);
extern const char *const myth_residual_hook_name[MYTH_HOOK_N]; /* by myth_hook */

#ifdef __cplusplus
}
#endif
#endif
