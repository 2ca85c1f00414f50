/* select_impl.h - the selector's struct, and functions that turn a place in a file into a piece. */
#ifndef MYTH_INSPECT_SELECT_IMPL_H
#define MYTH_INSPECT_SELECT_IMPL_H

#include "engine/base/cancel.h"
#include "select.h"

struct myth_select {
    myth_mem *mem;
    myth_index *index;
    myth_revision *side;
    myth_chunker *chunker;
    const myth_cancel *is_cancelled;
    const char *scope; /* what the paths of subjects begin with; "" = all */
    bool with_generated;
    myth_rank_fn rank; /* NULL = none */
    void *rank_user;
    myth_select_watcher on_search; /* NULL = none */
    void *on_search_user;
    myth_missed_list missed;
};

bool myth_select_is_below(const myth_select *s, const char *path);

/* Adds a file of the side to the material; MYTH_ENOTFOUND and MYTH_EUNSUPPORTED as in myth_revision_read. */
myth_status myth_select_source(myth_select *s, uint32_t *source, myth_material *m, const char *path, myth_error *err);

/* A definition of the index, or a place outside of definitions (name ""), that is to become a piece. */
typedef struct {
    const char *path, *name, *parent, *why;
    uint32_t line, line0, line1; /* the relevant line; first and last line of the whole definition */
    double score;
    bool is_subject;
    bool is_asked; /* context that was asked for: like a subject it is listed as missed when it cannot be shown */
    bool is_extra; /* a subject that nobody asked for: it is not listed as missed */
    uint32_t of;
} myth_wanted;

/* Adds w to the material; *index = its piece. *is_new false: it does not exist on this side, cannot be read, or the
 * material had all of it. The first two are listed as missed, for a subject and for context that was asked for. index
 * may be NULL. */
myth_status myth_select_add(myth_select *s, uint32_t *index, bool *is_new, myth_material *m, const myth_wanted *w,
                            myth_error *err);

/* How many of each kind myth_select_usage may add. */
typedef struct {
    uint32_t callers, callees, tests, exports;
    bool is_asked; /* list those past the bounds as missed */
} myth_select_most;
/* Why a file could not be read, in words for the list of missed code. NULL: st is another error. */
const char *myth_select_unread(myth_status st);
myth_status myth_select_usage(myth_select *s, myth_material *m, const myth_usage_definition *d, uint32_t of,
                              const myth_select_most *most, myth_select_counts *counts, myth_error *err);

/* ---- select_gone.c ---- */

/* Definitions that a change removed and nothing else defines, and the places that still use them. */
typedef struct {
    myth_select *s;
    myth_material *m;
    myth_select_counts *counts;
    uint32_t *n_lookup; /* of MYTH_SELECT_LOOKUPS */
    uint32_t n_unused;  /* deleted files shown that nothing uses; at most MYTH_GONE_UNUSED, since they share a place */
} myth_gone;
enum { MYTH_GONE_UNUSED = 8 };

/* A deleted file: adds what still uses its definitions, and puts its lines beside the first of these places, or beside
 * the first subject when there is none. *n_use = places added; *is_shown false: there is no place to put them, or it
 * defines nothing. Counts in g->n_unused. */
myth_status myth_gone_file(myth_gone *g, const myth_diff_file *f, uint32_t *n_use, bool *is_shown, myth_error *err);
/* A changed file: adds what still uses definitions in its removed lines that `now`, its new text, lacks, as context of
 * the subject that the lines were removed from. */
myth_status myth_gone_lines(const myth_gone *g, const myth_diff_file *f, uint32_t source, const myth_chunks *now,
                            myth_error *err);

/* Writes the names most similar to an unknown one, "a (p.c), b (q.c)"; "" when none is similar. */
myth_status myth_select_nearest(myth_select *s, char *dst, size_t cap, const char *name, myth_error *err);

#endif
