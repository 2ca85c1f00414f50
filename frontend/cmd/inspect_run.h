/* inspect_run.h - what all inspect commands share: their flags, and every step from opening the model to the exit code.
 *
 *   begin   is called before the model is opened and does what needs no model, so that a missing file is an error at
 *           once
 *   fill    is called with model and tokenizer; it adds pieces to the material and sets task, map and title within the
 *           budget of io
 *
 * Then     myth_inspect_command counts, plans, refuses or generates, writes the outputs and updates the baseline. A
 *          material without a subject gives a report without findings, exit 0
 * Owner    the job owns the texts that fill sets (io->task, map, title) and keeps them until the command returns
 * Threads  one */
#ifndef MYTH_INSPECT_RUN_H
#define MYTH_INSPECT_RUN_H

#include "frontend/candidates/judged.h"
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/kept/looks.h"
#include "frontend/inspect/prompt/material.h"
#include "frontend/inspect/report/patch.h"
#include "frontend/inspect/log/runlog.h"
#include "frontend/inspect/select/since.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t max_prompt_tokens, max_new_tokens, map_tokens, code_tokens, task_tokens, context_rounds, jobs, time_limit;
    int format, fail_level, min_severity;
    const char *style, *baseline, *since, *patch, *as, *rules, *skip_rules, *task, *category;
    myth_opt_list output;
    bool split, two_pass, dry_run, update_baseline, inline_ignores, cache, allow_unknown;
    uint64_t cache_limit;
    myth_judged_flags judged;
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    myth_runlog_flags log;
} myth_inspect_flags;

extern const myth_option myth_options_inspect[];
enum { MYTH_N_OPTIONS_INSPECT = 29 };
/* Six rows of a command's table of groups: { MYTH_GROUPS_INSPECT(my_opts, inspect), MYTH_GROUP("diff", my_opts,
 * options) }. */
#define MYTH_GROUPS_INSPECT(type, field)                                                 \
    {"inspection", myth_options_inspect, MYTH_N_OPTIONS_INSPECT, offsetof(type, field)}, \
        MYTH_GROUP_JUDGED(type, field.judged), MYTH_GROUP_MODEL(type, field.model),      \
        MYTH_GROUP_ENGINE(type, field.engine), MYTH_GROUP_SAMPLE(type, field.sample),    \
        MYTH_GROUP_RUNLOG(type, field.log)

/* A row of the options of commands that inspect standard input. */
#define MYTH_OPTION_STDIN(type, field)                                                                         \
    {                                                                                                          \
        "stdin-filename", NULL, MYTH_OPT_TEXT, "FILE", offsetof(type, field), NULL, 0, 0,                      \
            "what - reads from standard input is the text of FILE: its name in findings, baseline and --since" \
    }

typedef struct {
    const char *root; /* directory that the material's paths are relative to; NULL = none. Read after begin */
    const myth_revision_opts
        *side; /* version of the files, for --since; NULL = the file on disk that the argument names */
    /* What the job opened in begin: the index of the files as they are inspected, where judged functions find their
     * context; NULL or a NULL = none. Not with inputs: a run that is repeated would not notice what is there. */
    myth_index *const *index;
    /* Each may be NULL. */
    myth_status (*begin)(void *user, myth_cli *cli, myth_error *err);
    myth_status (*fill)(void *user, myth_cli *cli, const myth_model *model, myth_material *m, myth_inspect_opts *io,
                        myth_error *err);
    uint32_t (*on_context)(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap);
    bool (*wants)(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c);
    /* Whether a report that lacks nothing but code in some languages is whole all the same (exit 0). */
    bool (*may_lack)(const myth_report *r);
    bool is_change;   /* the rules of a change can be reported */
    bool is_question; /* what is asked for is an answer, which a model alone can give */
    /* Adds to the key all that fill puts into the material and says about it; fails where that is not possible. With
     * inputs and looks, a run is repeated from what is kept (repeat.h); on_context adds to looks what it looked at.
     * newest_ns not NULL: adds what stat says of each file in place of its bytes, and writes the latest time of it. */
    myth_status (*inputs)(void *user, myth_cli *cli, myth_kept *key, int64_t *newest_ns, myth_error *err);
    myth_looks *looks;
    const myth_left_out *left_out; /* what directories hold that was not asked for, after begin; NULL = unknown */
    void *user;                    /* of the callbacks above */
    const char *unwanted; /* what findings are that `wants` refuses, and how to see them; NULL = nothing to say */
} myth_inspect_job;

/* Whether all that a report lacks is code in languages without rules, which the flag or the job allows. */
static inline bool myth_inspect_may_lack(const myth_inspect_flags *o, const myth_inspect_job *job, const myth_report *r)
{
    return myth_report_lacks_languages(r) && (o->allow_unknown || (job->may_lack && job->may_lack(r)));
}

/* What the help of each command says about who finds. */
#define MYTH_INSPECT_FINDS                                                                                         \
    "Without -m rules find places in the code, and the judge that ships accepts each or not by one word; with -m " \
    "the model searches, and writes its answer (--find)."

/* Runs the job and returns the exit code. */
int myth_inspect_command(myth_cli *cli, const myth_inspect_flags *given, const myth_inspect_job *job);

#ifdef __cplusplus
}
#endif
#endif
