/* inspect.h - the pipeline: count, pack, generate under the grammar, verify, (bring what the model asks for,) report.
 *
 *   myth_inspect_open    parts, prompts and their exact token counts; says whether the material is refused. Needs no
 *                        tensor data
 *   myth_inspect_needs   what the engine must offer and what else will be booked
 *   myth_inspect_run     generates part by part; the prefix that all parts share (rules, map, task) is computed once
 *
 * Parts    pieces in the material's order, as many as fit: every line of a subject in exactly one part; context behind
 *          the subject it belongs to, while packing in at most half of the room for code, then in what is left over;
 *          lines of a subject are not repeated as context. A subject that is too long alone is cut where a definition
 *          ends (chunk.h), else as split.h cuts. What no part has room for is counted
 * Limits   whole prompt <= max_prompt_tokens unless split; prompt + output <= context. Material that the limit allows
 *          but the model cannot read at once (its context, or the prompt length it was trained for) is split without
 *          being asked
 * Room     rules, map, task and code share max_prompt_tokens: the map gets at most map_tokens (cut at a line's end),
 *          the task at most task_tokens (else refused), the code what the others leave: what they do not use of theirs
 *          is lent to it. code_tokens caps that
 * Rounds   when an answer names missing context, on_context adds pieces (in a ledger of fixed size that the plan has),
 *          they are fed as a further turn of the same sequence (keys and values kept), and the answer is generated
 *          again over old and new blocks. It stands in place of the first, unless it is cut off: then what it found is
 *          added. Ends when nothing new comes, or after context_rounds
 * Order    findings in the order of the parts, within a part as generated: greedy, so the same bytes give the same
 *          report
 * Two passes   brief: file, lines, evidence, rule, severity; then the same sequence goes on with the texts of these
 *              findings
 * Units    tokens
 * Owner    opts, model and the material are lent until close; the report until close
 * Missed   what was asked for and not inspected is listed in the report with its reason, and the report is not
 *          complete: what the caller has left out already (opts.missed), subjects of a part without a whole answer,
 *          with is_context_asked also context that no part has room for (README.md, "Complete")
 * Errors   MYTH_EARG a material without a subject; MYTH_ENOMEM; and what the engine returns */
#ifndef MYTH_INSPECT_H
#define MYTH_INSPECT_H

#include "engine/base/cancel.h"
#include "frontend/inspect/report/marks.h"
#include "frontend/inspect/prompt/material.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_INSPECT_PROMPT_TOKENS = 12000,
    MYTH_INSPECT_NEW_TOKENS = 1024,
    MYTH_INSPECT_BRIEF_TOKENS = 512,
    MYTH_INSPECT_PARTS_MAX = 1024
};
/* Y-39: the map and the task have ranges of their own, the code has the rest. A round brings one screenful of
 * definitions, not a second prompt. */
enum {
    MYTH_INSPECT_MAP_TOKENS = 2000,
    MYTH_INSPECT_TASK_TOKENS = 500,
    MYTH_INSPECT_ROUND_TOKENS = 2000,
    MYTH_INSPECT_ROUNDS = 1,
    MYTH_INSPECT_ROUNDS_MAX = 4
};

typedef enum { MYTH_EXCHANGE_FIRST, MYTH_EXCHANGE_EXPAND, MYTH_EXCHANGE_CONTEXT } myth_exchange_kind;
const char *myth_exchange_name(myth_exchange_kind kind); /* "first", "expand", "context" */

/* One answer, as it was generated. Everything is lent for the call. */
typedef struct {
    uint32_t part;
    uint32_t round; /* 0, then 1, 2, ... for each turn with new context */
    myth_exchange_kind kind;
    const int32_t *ids; /* all the answer was generated from: of a later exchange of a part the first ids are those */
    uint32_t n_ids,
        n_kept;       /* of the one before, with its answer; n_kept of them were in the sequence already          */
    const char *text; /* the answer's text as generated, closed where it was cut off */
    size_t n;
    uint32_t n_new; /* tokens of the answer */
    myth_finish finish;
    double seconds;
} myth_exchange;

typedef struct {
    myth_prompt_style style;
    const char *task, *map; /* of the prompt; NULL = the style's own task, no map */
    const char *title;      /* what is inspected, for the report: "symbol parse"; NULL = the first subject's path */
    uint32_t max_prompt_tokens, max_new_tokens;
    uint32_t map_tokens, code_tokens,
        task_tokens;           /* 0 = MYTH_INSPECT_MAP_TOKENS, what the others leave, MYTH_INSPECT_TASK_TOKENS */
    uint32_t n_ctx;            /* 0 = as much as is needed and the model has */
    const myth_missed *missed; /* [n_missed] what was asked for and is not in the material; lent until close */
    uint32_t n_missed;
    bool is_context_asked; /* the context was asked for too: what of it is not shown is missed */
    bool split, two_pass;
    bool is_isolated;              /* every part from an empty sequence: slower, the same answer */
    bool no_inline_ignores;        /* mythos:ignore comments answer nothing */
    const myth_baseline *baseline; /* lent; NULL = none */
    const char *worker_path;       /* as myth_chunker_open: to cut at definitions; NULL = by the text alone */
    myth_sample_params sample;
    uint32_t context_rounds; /* 0 = none; at most MYTH_INSPECT_ROUNDS_MAX */
    const myth_cancel *cancel;
    /* Each may be NULL; user is theirs. */
    void (*on_progress)(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total);
    void (*on_exchange)(void *user, const myth_exchange *x);
    /* Answers one request of the model, "path::symbol", "config::KEY" or a path: adds pieces to m (not as subject; .of
     * = of), or writes the nearest names, NUL-terminated, to near. Returns how many pieces it added. What it books
     * beside m is its own affair, before open. */
    uint32_t (*on_context)(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap);
    /* Whether a finding counts; one that does not is dropped and counted. */
    bool (*wants)(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c);
    void *user;
} myth_inspect_opts;

typedef struct myth_inspection myth_inspection;

/* A refusal is no error: myth_inspect_report()->refusal says so. Rounds add to the material: it is for one inspection.
 */
myth_status myth_inspect_open(myth_inspection **out, const myth_model *model, myth_material *material,
                              const myth_inspect_opts *opts, myth_error *err);
void myth_inspect_close(myth_inspection *in);

uint32_t myth_inspect_n_part(const myth_inspection *in);
/* Blocks and prompt tokens of a part. */
const myth_block *myth_inspect_part(const myth_inspection *in, uint32_t part, uint32_t *n_block, uint32_t *n_tok);
/* The material's piece that a block of the report shows. */
uint32_t myth_inspect_piece_of(const myth_inspection *in, uint32_t block);
/* Sets what the run needs of the engine in *opts; *extra = what open has booked and run will book. */
myth_status myth_inspect_needs(const myth_inspection *in, myth_engine_opts *opts, myth_plan_extra *extra,
                               myth_error *err);
/* Once. Cancelled or cut off is no error: the report says so. */
myth_status myth_inspect_run(myth_inspection *in, myth_engine *e, myth_error *err);
const myth_report *myth_inspect_report(const myth_inspection *in);
/* Says why nothing is run, in place of a report of findings (a plan that does not fit). */
void myth_inspect_refuse(myth_inspection *in, const myth_refusal *why);

/* Tokens of a text as content: for budgets of maps and tasks. Books STAGING for the call. */
myth_status myth_inspect_count(uint32_t *n_tok, const myth_model *model, const char *text, size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
