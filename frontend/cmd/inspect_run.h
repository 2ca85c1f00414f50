/* inspect_run.h - what all inspect commands share: their flags, and everything from the model to the exit code.
 *
 *   begin   before the model is opened: what needs none, so that a file that is not there is said first
 *   fill    with model and tokenizer: pieces for the material, task, map and title within the budget that io holds
 *
 * Then     counts, plan, refusal, generation, outputs, baseline; a material without a subject is a report without
 *          findings, exit 0
 * Owner    texts that fill hands over (io->task, map, title) stay the job's until the command returns */
#ifndef MYTH_INSPECT_RUN_H
#define MYTH_INSPECT_RUN_H

#include "frontend/inspect/inspect.h"
#include "frontend/inspect/prompt/material.h"
#include "frontend/inspect/report/patch.h"
#include "frontend/inspect/log/runlog.h"
#include "frontend/inspect/select/since.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t max_prompt_tokens, max_new_tokens, map_tokens, code_tokens, task_tokens, context_rounds;
    int format, fail_level;
    const char *style, *baseline, *since, *patch;
    myth_opt_list output;
    bool split, two_pass, dry_run, update_baseline, inline_ignores;
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    myth_runlog_flags log;
} myth_inspect_flags;

extern const myth_option myth_options_inspect[];
enum { MYTH_N_OPTIONS_INSPECT = 18 };
/* The rows of a command's groups: { MYTH_GROUPS_INSPECT(my_opts, inspect), MYTH_GROUP("diff", my_opts, options) }. Five
 * of them. */
#define MYTH_GROUPS_INSPECT(type, field)                                                 \
    {"inspection", myth_options_inspect, MYTH_N_OPTIONS_INSPECT, offsetof(type, field)}, \
        MYTH_GROUP_MODEL(type, field.model), MYTH_GROUP_ENGINE(type, field.engine),      \
        MYTH_GROUP_SAMPLE(type, field.sample), MYTH_GROUP_RUNLOG(type, field.log)

typedef struct {
    const char *root;               /* of the material's paths; NULL = as given. Read after begin */
    bool always_split;              /* parts are made without --split */
    const myth_revision_opts *side; /* of the material's files, for --since; NULL = they are the argument's, by path */
    /* Each may be NULL. */
    myth_status (*begin)(void *user, myth_cli *cli, myth_error *err);
    myth_status (*fill)(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err);
    uint32_t (*on_context)(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap);
    bool (*wants)(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c);
    void *user; /* of the callbacks above */
} myth_inspect_job;

/* Runs it; returns the exit code. */
int myth_inspect_command(myth_cli *cli, const myth_inspect_flags *o, const myth_inspect_job *job);

#ifdef __cplusplus
}
#endif
#endif
