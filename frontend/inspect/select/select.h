/* select.h - selects the code of an inspection by symbol, topic or diff: finds it with the index, reads it from the
 * version of the files that is inspected, and adds it to a material.
 *
 *   myth_select_symbol    subjects: the definitions of a name; context: their callers, callees, tests, re-exports, and
 *                         what assigns, compares, returns or passes them where there are few callers
 *   myth_select_topic     subjects: the chunks that answer a question (topic.h), in its order; context: the other
 *                         parts of a definition that was cut into chunks
 *   myth_select_diff      subjects: the definitions around changed lines; context: code around them, callers, tests
 *   myth_select_context   answers one request of a model: "path::symbol", "Type.method", "config::KEY", a path
 *
 * Side      the version of the files: the working tree (links are not followed), git's index, or a commit, read through
 *           a myth_revision. The index knows only the working tree; for another side, definitions are found again in
 *           its text
 * Pieces    a definition is shown whole; as context, if it is longer than MYTH_SELECT_WHOLE lines, only around the
 *           relevant place. `why` has the reason of each piece
 * Index     NULL for a diff alone: nothing is known then of callers, callees, tests and of what uses a definition that
 *           is gone, and requests of a model find nothing
 * Bounds    MYTH_SELECT_*: the best of each kind are added, the others are counted
 * Missed    code that was asked for and cannot be shown (a definition whose file is gone, a changed file that is too
 *           large) is listed with its reason, and the selection goes on. Asked for are the changed lines of a diff, the
 *           chunks of a topic, and of a symbol its definitions, callers, callees, tests and re-exports
 * Rank      with a ranker (rerank.h) the model chooses the best: of MYTH_TOPIC_CANDIDATES chunks for a topic, and of
 *           callers, callees and tests when there are more than can be shown
 * Memory    a ledger of its own, so that lookups do not change the run's plan (the material is in the run's ledger)
 * Owner     the caller owns index, side and material, and closes the selector before them
 * Errors    MYTH_ENOTFOUND: the name is unknown, the message has similar names; and what index, side and material
 *          return
 * Threads   one */
#ifndef MYTH_INSPECT_SELECT_H
#define MYTH_INSPECT_SELECT_H

#include "engine/base/cancel.h"
#include "diff.h"
#include "frontend/inspect/prompt/hunks.h"
#include "frontend/inspect/report/missed.h"
#include "rerank.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_SELECT_DEFINITIONS = 8, /* definitions of one name; more probably mean different things    */
    MYTH_SELECT_CALLERS = 8,
    MYTH_SELECT_CALLEES = 8,
    MYTH_SELECT_TESTS = 4,
    MYTH_SELECT_EXPORTS = 2,
    MYTH_SELECT_WHOLE = 80,    /* lines: a screen and a half, some 1,000 tokens                   */
    MYTH_SELECT_AROUND = 8,    /* lines on each side of a place in a longer definition            */
    MYTH_SELECT_TOP = 3,       /* lines on each side of a place outside of definitions            */
    MYTH_SELECT_LOOKUPS = 32,  /* changed definitions whose callers are looked up                 */
    MYTH_SELECT_RANKED = 48,   /* callers, or callees, or tests that a ranker orders              */
    MYTH_TOPIC_CANDIDATES = 30 /* chunks that a ranker chooses from                               */
};

typedef struct myth_select myth_select;

/* worker_path: as in myth_chunker_open. */
myth_status myth_select_open(myth_select **out, myth_mem *mem, myth_index *index, myth_revision *side,
                             const char *worker_path, const myth_cancel *is_cancelled, myth_error *err);
void myth_select_close(myth_select *s); /* takes NULL */
/* The code that the selections so far have missed; valid until the next selection or close. */
const myth_missed_list *myth_select_missed(const myth_select *s);
/* Is called with the hits of a topic's search, before the first n_taken of them in `order` (NULL = their own order)
 * become pieces. For the run log. */
typedef void (*myth_select_watcher)(void *user, const myth_search_opts *asked, const myth_hits *hits,
                                    const uint32_t *order, uint32_t n_taken);
void myth_select_watch(myth_select *s, myth_select_watcher on_search, void *user);

/* Only code whose path begins with `prefix` ("" = all, or "src/lib/") becomes a subject. Context comes from everywhere.
 * The caller keeps the prefix until close. */
void myth_select_set_scope(myth_select *s, const char *prefix);
/* Whether a diff's generated files become subjects: what a tool wrote, lock files, minified ones (scan.h says which).
 * They are skipped otherwise, and are not missed. */
void myth_select_set_generated(myth_select *s, bool is_wanted);

/* Orders n candidates: writes their indexes to order[n], the best first. */
typedef myth_status (*myth_rank_fn)(void *user, const char *question, const myth_candidate *c, uint32_t n,
                                    uint32_t *order, myth_error *err);
void myth_select_set_rank(myth_select *s, myth_rank_fn rank, void *user); /* NULL = none */

typedef struct {
    uint32_t n_subject, n_context; /* pieces added                            */
    uint32_t n_more;               /* definitions, callers and so on left out */
} myth_select_counts;

/* called, unless NULL, gets what the definitions are called in the tree, whatever spelling was asked for: "Type.name",
 * or "name" when they are of several types. */
enum { MYTH_SELECT_CALLED = 256 };
myth_status myth_select_symbol(myth_select *s, myth_material *m, const char *name, char called[MYTH_SELECT_CALLED],
                               myth_select_counts *counts, myth_error *err);

/* The beginning of the message when no chunk answers a topic, to tell it from other MYTH_ENOTFOUND. */
#define MYTH_TOPIC_NOTHING "no chunk has a word of it"

/* Adds at most `most` chunks (MYTH_TOPIC_MIN to MYTH_TOPIC_MAX), fewer when fewer answer the question. Sets query, k
 * and with_text itself; the other fields of opts are used as given. */
myth_status myth_select_topic(myth_select *s, myth_material *m, const char *question, uint32_t most,
                              const myth_search_opts *opts, myth_select_counts *counts, myth_error *err);

/* ---- diff ---- */

/* A changed file, and which of its lines are shown. */
typedef struct {
    const char *path; /* relative to the root; the diff's string                */
    const myth_diff_file *file;
    const char *skipped;      /* why it is not shown; NULL = it is                       */
    char reason[96];          /* text that `skipped` may point to                        */
    bool is_gone;             /* it is deleted, and its lines are shown as removed */
    uint32_t n_gone_use;      /* places shown that still use what it defined */
    bool is_missed;           /* it is not shown though it has lines to inspect: it is in the list of missed code */
    myth_diff_lines *subject; /* ranges shown as subject, in order                       */
    uint32_t n_subject, cap_subject;
} myth_changed_file;

typedef struct {
    myth_changed_file *file;
    uint32_t n_file, n_shown, n_skipped, n_deleted, n_missed, n_gone;
    uint32_t n_definition;               /* changed definitions                                     */
    uint32_t lines_added, lines_removed; /* in files that are shown; lines_deleted: in deleted ones */
    uint32_t lines_deleted;
    myth_hunk *place; /* [n_place] of myth_changes_places */
    uint32_t n_place, cap_place;
    myth_mem *mem;
} myth_changes;

/* Adds the changed code of a diff, whose paths are relative to the root of the index. with_gone: the prompt can show
 * removed lines, so what still uses a definition that is gone is added, too: with the lines of a deleted file beside
 * its first use as a subject, and all others as context. Free *out with myth_changes_free, after a failure too, and
 * keep the diff until then. */
myth_status myth_select_diff(myth_changes *out, myth_select *s, myth_material *m, const myth_diff *diff, bool with_gone,
                             myth_select_counts *counts, myth_error *err);
void myth_changes_free(myth_changes *c);

/* Which findings of a diff are kept: in changed lines, or in a line next to removed ones, and those of a rule of a
 * change anywhere, because what relied on the change is seldom in the lines that changed; in changed lines only; in
 * changed definitions or lines that the diff shows; in changed files; all. */
typedef enum {
    MYTH_FILTER_CHANGED,
    MYTH_FILTER_ADDED,
    MYTH_FILTER_CONTEXT,
    MYTH_FILTER_FILE,
    MYTH_FILTER_NONE
} myth_filter;
#define MYTH_FILTERS "changed|added|diff_context|file|nofilter"
bool myth_changes_want(const myth_changes *c, myth_filter filter, bool is_of_change, const char *path, uint32_t first,
                       uint32_t last);

/* Writes the task for a diff: look for risks, which lines are changed, what was removed; with is_summary: say what it
 * does. At most max_ranges ranges, and at most cap bytes with the final zero; ranges that do not fit are counted.
 * Returns the bytes that all of it needs. */
size_t myth_changes_task(char *dst, size_t cap, const myth_changes *c, bool is_summary, uint32_t max_ranges);

/* Lists in c the places that a summary is made of: the changed lines of each subject of m, and where lines were removed
 * in it. */
myth_status myth_changes_places(myth_changes *c, const myth_material *m, myth_error *err);

/* ---- requests ---- */

/* Answers a request, as on_context of myth_inspect_opts: adds pieces to m as context of piece `of` and returns how
 * many; or returns 0 and writes the most similar names, or the error, to near. */
uint32_t myth_select_context(myth_select *s, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap);

#ifdef __cplusplus
}
#endif
#endif
