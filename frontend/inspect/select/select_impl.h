/* select_impl.h - inside the selector: a place in a file made a piece. */
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
    myth_rank_fn rank; /* NULL = none */
    void *rank_user;
    myth_select_watcher on_search; /* NULL = none */
    void *on_search_user;
    myth_missed_list missed;
};

/* A file of the side, in the material; MYTH_ENOTFOUND and MYTH_EUNSUPPORTED as myth_revision_read. */
myth_status myth_select_source(myth_select *s, uint32_t *source, myth_material *m, const char *path, myth_error *err);

/* A definition of the index, or a place at the top of a file (name ""), wanted as a piece. */
typedef struct {
    const char *path, *name, *parent, *why;
    uint32_t line, line0, line1; /* the place that matters, the whole definition */
    double score;
    bool is_subject;
    bool is_asked; /* it is context that was asked for: missed when it cannot be shown, as a subject is */
    uint32_t of;
} myth_wanted;

/* *index = the piece; *is_new false: it is not on this side, cannot be read, or all of it was there. Of a subject, and
 * of context that was asked for, the first two are missed. index may be NULL. */
myth_status myth_select_add(myth_select *s, uint32_t *index, bool *is_new, myth_material *m, const myth_wanted *w,
                            myth_error *err);

/* Context of subject piece `of` from what the index knows of its definition. */
typedef struct {
    uint32_t callers, callees, tests, exports;
    bool is_asked; /* those past the bounds are missed */
} myth_select_most;
/* In words, for a list of what is missed: why a file could not be read. NULL: st is no such reason. */
const char *myth_select_unread(myth_status st);
myth_status myth_select_usage(myth_select *s, myth_material *m, const myth_usage_definition *d, uint32_t of,
                              const myth_select_most *most, myth_select_counts *counts, myth_error *err);

/* "a (p.c), b (q.c)", the nearest names to one that is not there; "" when none is near. */
myth_status myth_select_nearest(myth_select *s, char *dst, size_t cap, const char *name, myth_error *err);

#endif
