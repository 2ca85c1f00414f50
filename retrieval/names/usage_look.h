/* usage_look.h - inside usage: one lookup of a name, which usage.c does with usage_exports.c and usage_mentions.c.
 *
 * Owner    usage.c opens and closes it; strings are the usage's
 * Threads  as usage.h */
#ifndef MYTH_USAGE_LOOK_H
#define MYTH_USAGE_LOOK_H

#include "usage_impl.h"

typedef struct {
    int64_t file_id;
    uint32_t line;
    myth_ref_kind kind;
} myth_look_use;

/* A recorded use that was judged, and the definitions that it belongs to: bit i for definition i, 0 = none. */
typedef struct {
    myth_look_use use;
    uint64_t of;
    uint32_t line0;   /* of the definition around it, as in its place */
    const char *name; /* of that definition */
} myth_look_judged;

typedef struct {
    myth_views views;
    myth_usage *out;
    myth_index *index;
    const myth_cancel *is_cancelled;
    const char *name; /* last part of the requested name */
    uint32_t n_asked; /* definitions that were asked for come first; those after them only share the name */
    myth_look_use *use;
    uint32_t n_use, cap_use;
    myth_look_judged *judged;
    uint32_t n_judged, cap_judged;
    bool is_out_of_memory, with_callees, with_mentions;
    sqlite3_stmt *around, *by_name;
} myth_look;

myth_status myth_usage_no_memory(myth_error *err);
/* The definition around a line: the innermost that runs, else the innermost type. */
myth_status myth_look_around(myth_look *l, myth_usage_place *p, const char **parent, bool *is_test, const myth_view *f,
                             uint32_t line, myth_error *err);
/* Adds the exports of the definitions: those in files whose text has the name, and those in package files around a
 * definition, which may re-export everything. */
myth_status myth_look_exports(myth_look *l, myth_error *err);
myth_status myth_look_packages(myth_look *l, myth_usage_definition *d, myth_error *err);
/* Adds the mentions, and to each caller and test the lines of its uses, after the uses were judged. */
myth_status myth_look_mentions(myth_look *l, myth_error *err);

#endif
