/* select.h - what an inspection by symbol, topic or diff shows: pieces of files, found by the index, read from the new
 * side.
 *
 *   myth_select_symbol    definitions of a name = subjects; callers, callees, tests, re-exports = context of their
 *                         definition
 *   myth_select_topic     the chunks that a question is about (topic.h) = subjects, in its order; neighbours of a chunk
 *                         that is a part = context
 *   myth_select_diff      definitions around changed lines = subjects; what stands around them, their callers and tests
 *                         = context
 *   myth_select_context   answers one request of a model: "path::symbol", "Type.method", "config::KEY", a path
 *
 * Side      files are read through a myth_revision: the working tree without following links, git's index, or a commit.
 *           Where that is not the working tree, which the index has, definitions are looked for anew in the text of the
 *           side
 * Pieces    a definition whole; one of context that is longer than MYTH_SELECT_WHOLE lines only around the place that
 *           matters. `why` says what put it there
 * Bounds    MYTH_SELECT_*: of each kind the best; what is left out is counted
 * Missed    what was asked for and cannot be shown (a definition whose file is gone, a changed file that is too large)
 *           is put on a list with its reason and the selection goes on. Asked for are: of a diff the changed lines, of
 *           a topic its chunks, of a symbol its definitions and their callers, callees, tests and re-exports
 * Rank      with a ranker (rerank.h) it says what the best are: of a topic as many as it would have, of
 *           MYTH_TOPIC_CANDIDATES, of callers, callees and tests when there are more than are shown
 * Memory    of its own ledger, so that a run's plan does not change with what was looked up (the material is in the
 *           run's)
 * Owner     index, side and material are the caller's; the selector is closed before them
 * Errors    MYTH_ENOTFOUND nothing of that name, with the nearest; and what index, side and material return */
#ifndef MYTH_INSPECT_SELECT_H
#define MYTH_INSPECT_SELECT_H

#include "engine/base/cancel.h"
#include "diff.h"
#include "frontend/inspect/prompt/material.h"
#include "frontend/inspect/report/missed.h"
#include "rerank.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_SELECT_DEFINITIONS = 8, /* of a name: more are another name's                              */
    MYTH_SELECT_CALLERS = 8,
    MYTH_SELECT_CALLEES = 8,
    MYTH_SELECT_TESTS = 4,
    MYTH_SELECT_EXPORTS = 2,
    MYTH_SELECT_WHOLE = 80,    /* lines: a screen and a half, some 1,000 tokens                   */
    MYTH_SELECT_AROUND = 8,    /* lines on each side of a place in what is longer                 */
    MYTH_SELECT_TOP = 3,       /* lines on each side of a place at the top of a file              */
    MYTH_SELECT_LOOKUPS = 32,  /* changed definitions whose callers are looked up                 */
    MYTH_SELECT_RANKED = 48,   /* callers, or callees, or tests that a ranker looks at            */
    MYTH_TOPIC_CANDIDATES = 30 /* that a ranker chooses from                                      */
};

typedef struct myth_select myth_select;

/* worker_path as myth_chunker_open. */
myth_status myth_select_open(myth_select **out, myth_mem *mem, myth_index *index, myth_revision *side,
                             const char *worker_path, const myth_cancel *is_cancelled, myth_error *err);
void myth_select_close(myth_select *s); /* takes NULL */
/* What the selections so far have missed; until close, and until the next selection. */
const myth_missed_list *myth_select_missed(const myth_select *s);
/* Who is told what a topic's search found, before pieces are made of the first n_taken in `order` (NULL = the hits'
 * own). */
typedef void (*myth_select_watcher)(void *user, const myth_search_opts *asked, const myth_hits *hits,
                                    const uint32_t *order, uint32_t n_taken);
void myth_select_watch(myth_select *s, myth_select_watcher on_search, void *user);

/* Puts n candidates in order: indexes to order[n], the best first. */
typedef myth_status (*myth_rank_fn)(void *user, const char *question, const myth_candidate *c, uint32_t n,
                                    uint32_t *order, myth_error *err);
void myth_select_set_rank(myth_select *s, myth_rank_fn rank, void *user); /* NULL = none */

typedef struct {
    uint32_t n_subject, n_context; /* pieces added                            */
    uint32_t n_more;               /* definitions, callers and so on left out */
} myth_select_counts;

myth_status myth_select_symbol(myth_select *s, myth_material *m, const char *name, myth_select_counts *counts,
                               myth_error *err);

/* What the message of a topic without a chunk begins with: MYTH_ENOTFOUND says other things too. */
#define MYTH_TOPIC_NOTHING "no chunk has a word of it"

/* At most `most` chunks, MYTH_TOPIC_MIN to MYTH_TOPIC_MAX; fewer where fewer are about the question. opts.query, .k and
 * .with_text are set here, the rest is as given. */
myth_status myth_select_topic(myth_select *s, myth_material *m, const char *question, uint32_t most,
                              const myth_search_opts *opts, myth_select_counts *counts, myth_error *err);

/* ---- diff ---- */

/* What of a changed file is shown. */
typedef struct {
    const char *path; /* relative to the root; of the diff                      */
    const myth_diff_file *file;
    const char *skipped;      /* why nothing of it is shown; NULL = it is                */
    char reason[96];          /* what `skipped` may point to                             */
    bool is_missed;           /* it has lines to inspect: it is on the list of what is missed */
    myth_diff_lines *subject; /* shown as changed, in order                              */
    uint32_t n_subject, cap_subject;
} myth_changed_file;

typedef struct {
    myth_changed_file *file;
    uint32_t n_file, n_shown, n_skipped, n_deleted, n_missed;
    uint32_t n_definition;               /* changed                                                 */
    uint32_t lines_added, lines_removed; /* of files that are shown; of deleted ones                */
    uint32_t lines_deleted;
    myth_mem *mem;
} myth_changes;

/* *out is freed by myth_changes_free, also after a failure; the diff is lent until then. prefix stands before every
 * path of the diff; a file that is not below it is skipped. */
myth_status myth_select_diff(myth_changes *out, myth_select *s, myth_material *m, const myth_diff *diff,
                             const char *prefix, myth_select_counts *counts, myth_error *err);
void myth_changes_free(myth_changes *c);

/* Which findings of a diff count: in a changed line; in a changed definition or a line that the diff shows; in a
 * changed file; anywhere. */
typedef enum { MYTH_FILTER_ADDED, MYTH_FILTER_CONTEXT, MYTH_FILTER_FILE, MYTH_FILTER_NONE } myth_filter;
#define MYTH_FILTERS "added|diff_context|file|nofilter"
bool myth_changes_want(const myth_changes *c, myth_filter filter, const char *path, uint32_t first, uint32_t last);

/* What is asked about a diff: risks, which lines are changed, what was removed. Writes at most cap bytes with the final
 * zero; ranges that do not fit are counted. Returns what the whole takes. max_ranges bounds it further. */
size_t myth_changes_task(char *dst, size_t cap, const myth_changes *c, uint32_t max_ranges);

/* ---- requests ---- */

/* As opts.on_context of inspect.h: pieces to m as context of piece `of`, how many; else the nearest names, or what is
 * the matter, to near. */
uint32_t myth_select_context(myth_select *s, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap);

#ifdef __cplusplus
}
#endif
#endif
