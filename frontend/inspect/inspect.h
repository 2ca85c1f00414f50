/* inspect.h - the pipeline: read, count, (split,) generate under the grammar, verify, report.
 *
 *   myth_inspect_open    lines, prompts and their exact token counts; says whether the file is refused. Needs no tensor data
 *   myth_inspect_needs   what the engine must offer and what else will be booked
 *   myth_inspect_run     generates part by part; the prefix that all parts share is computed once
 *
 * Limits   whole prompt <= max_prompt_tokens unless split; prompt + output <= context. A file that the limit allows but the model
 *          cannot read at once (its context, or the prompt length it was trained for) is split without being asked
 * Order    findings in the order of the parts, within a part as generated: greedy, so the same bytes give the same report
 * Two passes   brief: file, lines, evidence, rule, severity; then the same sequence goes on with the texts of these findings
 * Units    tokens
 * Owner    opts, model and the file's bytes are lent until close; the report until close
 * Errors   MYTH_ELIMIT more than MYTH_SOURCE_MAX bytes, MYTH_ENOMEM, and what the engine returns                                         */
#ifndef MYTH_INSPECT_H
#define MYTH_INSPECT_H

#include "marks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_INSPECT_PROMPT_TOKENS = 12000, MYTH_INSPECT_NEW_TOKENS = 1024, MYTH_INSPECT_BRIEF_TOKENS = 512, MYTH_PART_MAX = 1024 };

typedef struct {
    myth_prompt_style style;
    uint32_t max_prompt_tokens, max_new_tokens;
    uint32_t n_ctx;                          /* 0 = as much as is needed and the model has */
    bool split, two_pass;
    bool is_isolated;                        /* every part from an empty sequence: slower, the same answer */
    bool no_inline_ignores;                  /* mythos:ignore comments answer nothing */
    const myth_baseline *baseline;           /* lent; NULL = none */
    myth_sample_params sample;
    const bool *cancel;
    /* may be NULL */
    void (*on_progress)(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total);
    void *user;
} myth_inspect_opts;

typedef struct myth_inspection myth_inspection;

/* path is for the prompt and the report. A refusal is no error: myth_inspect_report()->refusal says so. */
myth_status myth_inspect_open(myth_inspection **out, const myth_model *model, const char *path, const unsigned char *bytes, size_t len,
                              const myth_inspect_opts *opts, myth_error *err);
void myth_inspect_close(myth_inspection *in);

uint32_t myth_inspect_n_part(const myth_inspection *in);
/* Lines and prompt tokens of a part. */
void myth_inspect_part(const myth_inspection *in, uint32_t part, uint32_t *first, uint32_t *last, uint32_t *n_tok);
/* Sets what the run needs of the engine in *opts; *extra = what open has booked and run will book. */
myth_status myth_inspect_needs(const myth_inspection *in, myth_engine_opts *opts, myth_plan_extra *extra, myth_error *err);
/* Once. Cancelled or cut off is no error: the report says so. */
myth_status myth_inspect_run(myth_inspection *in, myth_engine *e, myth_error *err);
const myth_report *myth_inspect_report(const myth_inspection *in);
/* Says why nothing is run, in place of a report of findings (a plan that does not fit). */
void myth_inspect_refuse(myth_inspection *in, const myth_refusal *why);

#ifdef __cplusplus
}
#endif
#endif
