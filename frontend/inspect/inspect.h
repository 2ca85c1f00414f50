/* inspect.h - the pipeline of an inspection: count tokens, pack code into prompts, generate under the grammar, add the
 * context that the model asks for, verify, and fill the report.
 *
 *   myth_inspect_open    makes parts and prompts and counts their tokens exactly; refuses material that is too long.
 *                        Needs no tensor data
 *   myth_inspect_needs   says which engine options the run needs and how many bytes it will book
 *   myth_inspect_run     generates an answer for each part; the prefix that all parts share (rules, map, task) is
 *                        computed only once
 *
 * Subject  code that findings are wanted about; context is other code that helps to judge a subject
 * Parts    a part is the code of one prompt. Pieces are packed in the material's order, as many as fit. Every line of a
 *          subject is in exactly one part and is not repeated as context. Context comes after its subject, in at most
 *          half of the room for code; at the end, leftover room is filled with context that did not fit. A subject that
 *          is too long for one part is cut where a definition ends (chunk.h), else as split.h cuts. Pieces without room
 *          are counted
 * Limits   each prompt <= max_prompt_tokens, and prompt + output <= context. Without split, material that is longer is
 *          refused; within the limit, but too long for the model (its context, or the prompt length of its training),
 *          it is split in any case
 * Room     rules, map, task and code share max_prompt_tokens. The map gets at most map_tokens (it is cut at the end of
 *          a line) and the task at most task_tokens (a longer one is refused). The code gets all that the others do not
 *          use, at most code_tokens
 * Rounds   when an answer names missing context, on_context adds pieces to the material. They are fed as a further turn
 *          of the same sequence, whose keys and values are kept, and the model answers again about old and new blocks.
 *          The new answer replaces the first; if it was cut off, its findings are added instead. Rounds end when no new
 *          piece comes, or after context_rounds. They book from a ledger of fixed size that is part of the plan
 * Jobs     with n_job > 1 the first answers of several parts are generated at once (inspect_jobs.c). They have the same
 *          bits as one at a time, so the report is the same, and an answer is used when its part's turn comes. What
 *          follows a first answer, a second pass or a round, is generated alone
 * Given    findings that somebody else made (given.h) come first in the report. They are verified as those of an answer
 *          are; an answer's finding about the same lines and rule is left out. With only_given no part is asked.
 *          With explains_given the model writes out issue, why and fix of those that pass, of a part's together; place,
 *          evidence and rule stay as they were given, and a text that is cut off stays that of the giver
 * Order    findings are in the order of the parts, and within a part as generated. With greedy sampling the
 *          same bytes give the same report
 * Kept     with opts.kept an answer that an earlier run generated from the same tokens, under the same grammar and
 *          settings, is not generated again. Every id of it is checked against the grammar, so a file that somebody
 *          changed can give no answer that the grammar forbids. Answers that hold a secret are not kept
 * Summary  with opts.summary the model is asked once more, after the parts: what the change does, in sentences that
 *          cite its new side. One prompt has as much of the change as fits (hunks.h); the report says how much that
 *          is. The summary of a change that the model cannot write, or that was cut off, makes the report incomplete
 * Two passes   the first answer has file, lines, evidence, rule and severity; the same sequence then continues with the
 *              texts of these findings
 * Units    tokens
 * Owner    the caller keeps opts, model and material until close; the report is valid until close
 * Missed   the report lists what was asked for and not inspected, with its reason, and is then not complete: code that
 *          the caller already left out (opts.missed), subjects of a part without a whole answer, and with
 *          is_context_asked also context that no part had room for (README.md, "Complete")
 * Errors   MYTH_EARG: the material has no subject; MYTH_ENOMEM; and what the engine returns. An interrupt is none, also
 *          while code is cut into prompts: the given findings are in the report, and all subjects are missed
 * Threads  one; another may set opts.cancel */
#ifndef MYTH_INSPECT_H
#define MYTH_INSPECT_H

#include "engine/base/cancel.h"
#include "frontend/inspect/answer/given.h"
#include "frontend/inspect/kept/kept.h"
#include "frontend/inspect/report/marks.h"
#include "frontend/inspect/prompt/hunks.h"
#include "frontend/rates/work.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_INSPECT_PROMPT_TOKENS = 12000,
    MYTH_INSPECT_NEW_TOKENS = 1024,
    MYTH_INSPECT_BRIEF_TOKENS = 512,
    MYTH_INSPECT_PARTS_MAX = 1 << 16,
    MYTH_INSPECT_JOBS_MAX = 64
};
/* Default shares of a prompt: map and task have limits of their own, the code has the rest. A round adds about one
 * screenful of definitions, not a second prompt. */
enum {
    MYTH_INSPECT_MAP_TOKENS = 2000,
    MYTH_INSPECT_TASK_TOKENS = 500,
    MYTH_INSPECT_ROUND_TOKENS = 2000,
    MYTH_INSPECT_ROUNDS = 1,
    MYTH_INSPECT_ROUNDS_MAX = 4
};

typedef enum {
    MYTH_EXCHANGE_FIRST,
    MYTH_EXCHANGE_EXPAND,
    MYTH_EXCHANGE_CONTEXT,
    MYTH_EXCHANGE_SUMMARY
} myth_exchange_kind;
const char *myth_exchange_name(myth_exchange_kind kind); /* "first", "expand", "context", "summary" */

/* One answer, as it was generated. The pointers are valid during the callback. */
typedef struct {
    uint32_t part;
    uint32_t round; /* 0, then 1, 2, ... for each turn with new context */
    myth_exchange_kind kind;
    const int32_t *ids; /* all ids before the answer; in a later exchange of a part they begin with the earlier one's */
    uint32_t n_ids,
        n_kept;       /* ids and its answer; n_kept of the ids were in the sequence already                       */
    const char *text; /* the answer as generated; if it was cut off, its brackets are closed */
    size_t n;
    uint32_t n_new; /* tokens of the answer */
    myth_finish finish;
    double seconds, read_seconds; /* until the answer ended, and until its first token was there */
    bool is_kept;                 /* it was generated by an earlier run (kept.h) */
    bool is_beside;               /* it was generated beside others: the seconds are those that it was waited for */
} myth_exchange;

/* What a summary is made of. */
typedef struct {
    const myth_hunk *place; /* [n_place] */
    uint32_t n_place;
    const char *task;     /* NULL = the style's own */
    const char *why_none; /* why the model is not asked; NULL = it is */
} myth_summary_opts;

typedef struct {
    myth_prompt_style style;
    const char *task, *map; /* texts of the prompt; NULL = the style's own task, no map */
    const char *title;      /* name of the inspection in the report, "symbol parse"; NULL = the first subject's path */
    uint32_t max_prompt_tokens, max_new_tokens;
    uint32_t map_tokens, code_tokens,
        task_tokens;           /* 0 = MYTH_INSPECT_MAP_TOKENS, all that is left, MYTH_INSPECT_TASK_TOKENS */
    uint32_t n_ctx;            /* 0 = as much as the run needs, at most the model's context */
    const myth_missed *missed; /* [n_missed] code that was asked for and is not in the material; kept until close */
    uint32_t n_missed;
    const myth_given *given; /* [n_given] kept until close; those that do not pass are no findings */
    uint32_t n_given;
    const char *judge;     /* the name of another model that judged them; NULL = the inspection's own did */
    bool only_given;       /* the model searches nothing itself */
    bool explains_given;   /* the model is asked for the texts of given findings */
    bool is_context_asked; /* the user asked for the context too, so context that is not shown is missed */
    bool split, two_pass;
    /* The lines of each part are numbered from 1, and parts are cut where names and not sizes say: a line that is added
     * to a definition then changes no prompt but that of its own part, and no part has lines of two files. For a task
     * that names no lines. */
    bool is_local;
    bool is_isolated;              /* start every part with an empty sequence: slower, with the same answers */
    bool no_inline_ignores;        /* mythos:ignore comments have no effect */
    myth_rules_kept_out kept_out;  /* rules that no finding can have, so that no comment about them is idle */
    const myth_baseline *baseline; /* kept until close; NULL = none */
    const char *worker_path;       /* as in myth_chunker_open, to cut at definitions; NULL = cut by the text only */
    myth_sample_params sample;
    uint32_t context_rounds;          /* 0 = none; at most MYTH_INSPECT_ROUNDS_MAX */
    uint32_t n_job;                   /* answers generated at once, at most MYTH_INSPECT_JOBS_MAX; 0 = 1 */
    const myth_summary_opts *summary; /* kept until close; NULL = none is asked for */
    myth_kept *kept;                  /* answers of earlier runs are taken from here, and new ones put; NULL = none */
    const myth_cancel *cancel;
    /* Callbacks; each may be NULL. `user` is passed to all of them. */
    void (*on_progress)(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total);
    void (*on_exchange)(void *user, const myth_exchange *x);
    /* Answers one request of the model, "path::symbol", "config::KEY" or a path. Adds context pieces to m (with .of =
     * of) and returns how many, or returns 0 and writes the most similar names, NUL-terminated, to near. Memory other
     * than m's must have been booked before open. */
    uint32_t (*on_context)(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap);
    /* Whether to keep a finding; the others are dropped and counted as unwanted. */
    bool (*wants)(void *user, const myth_source *src, const myth_finding *f, const myth_citation *c);
    void *user;
} myth_inspect_opts;

typedef struct myth_inspection myth_inspection;

/* A refusal is not an error: it is in myth_inspect_report()->refusal. Rounds add pieces to the material, so that it can
 * be used for one inspection only. */
myth_status myth_inspect_open(myth_inspection **out, const myth_model *model, myth_material *material,
                              const myth_inspect_opts *opts, myth_error *err);
void myth_inspect_close(myth_inspection *in);

/* All parts; that of a summary is the last one. */
uint32_t myth_inspect_n_part(const myth_inspection *in);
/* The first part with a prompt. Where the model searches nothing and writes nothing out, a part is a subject, however
 * long, and has none. */
uint32_t myth_inspect_first_part(const myth_inspection *in);
bool myth_inspect_is_summary(const myth_inspection *in, uint32_t part);
/* The tokens of a part that all parts begin with and that are computed once; a summary shares none. */
uint32_t myth_inspect_prefix(const myth_inspection *in, uint32_t part);
/* Blocks and prompt tokens of a part. */
const myth_block *myth_inspect_part(const myth_inspection *in, uint32_t part, uint32_t *n_block, uint32_t *n_tok);
/* Finds the parts whose answers are all kept, with opts.kept and without an engine; call after needs, before work.
 * Afterwards the inspection can be looked at, but not run. MYTH_ENOMEM: nothing is known of any part. */
myth_status myth_inspect_rehearse(myth_inspection *in, myth_error *err);
bool myth_inspect_is_kept(const myth_inspection *in, uint32_t part);
/* How much the run will do, for an estimate of its time. */
void myth_inspect_work(const myth_inspection *in, myth_work *out);
/* How many answers are generated at once: at most one for each part. set_jobs changes it, before needs. */
uint32_t myth_inspect_jobs(const myth_inspection *in);
/* Whether the model will be asked anything. */
bool myth_inspect_asks(const myth_inspection *in);
void myth_inspect_set_jobs(myth_inspection *in, uint32_t n_job);
/* Sets the engine options that the run needs in *opts, and in *extra the bytes that open has booked and run will book.
 */
myth_status myth_inspect_needs(const myth_inspection *in, myth_engine_opts *opts, myth_plan_extra *extra,
                               myth_error *err);
/* Call once. An interrupt or a cut-off answer is not an error: the report is then incomplete. */
myth_status myth_inspect_run(myth_inspection *in, myth_engine *e, myth_error *err);
/* The same with an engine that is opened when the first answer has to be generated; when all of them are kept, it never
 * is. n_ctx: that of its options. open writes an engine that the caller closes after the run. */
typedef struct {
    uint32_t n_ctx;
    myth_status (*open)(void *user, myth_engine **e, myth_error *err);
    void *user;
} myth_inspect_engine;
myth_status myth_inspect_run_later(myth_inspection *in, const myth_inspect_engine *later, myth_error *err);
const myth_report *myth_inspect_report(const myth_inspection *in);
/* Puts a refusal into the report, for a run whose plan does not fit. */
void myth_inspect_refuse(myth_inspection *in, const myth_refusal *why);

/* Counts the tokens of a text as content, for the budgets of maps and tasks. Books STAGING during the call. */
myth_status myth_inspect_count(uint32_t *n_tok, const myth_model *model, const char *text, size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
