/* usage_impl.h - inside usage: a file that is looked into, with its lines and what it imports. */
#ifndef MYTH_USAGE_IMPL_H
#define MYTH_USAGE_IMPL_H

#include "module.h"
#include "usage.h"

typedef struct {
    const char *spec;      /* as written                       */
    uint32_t line0, line1; /* of the statement                 */
} myth_view_import;

typedef struct {
    int64_t id;
    const char *path, *language; /* language "" = unknown            */
    uint32_t flags;              /* MYTH_FILE_*                      */
    uint64_t n;                  /* bytes                            */
    bool has_text, has_imports;
    unsigned char *text;
    uint32_t *line; /* offset of each, and the end      */
    uint32_t n_line;
    myth_view_import *import;
    uint32_t n_import, cap_import;
    uint64_t type_known, type_there; /* of definition i bit i: whether the text names its type */
} myth_view;

/* Files by id, each looked into once. Strings are in the usage's blocks. */
typedef struct {
    myth_mem *mem;
    myth_store *store;
    myth_usage *out;
    myth_view **view;
    uint32_t n_view, cap_view;
    uint32_t *slot, n_slot; /* index + 1 by id, 0 = free        */
    sqlite3_stmt *get_file;
} myth_views;

/* A copy of a string that lives as long as the usage; NULL: no memory. */
const char *myth_usage_text(myth_usage *u, const void *text, size_t n);

void myth_usage_free_places(myth_mem *mem, const myth_usage_definition *d);

void myth_views_close(myth_views *v);
/* The file's row; text and imports when they are asked for. */
myth_status myth_view_get(myth_view **out, myth_views *v, int64_t file_id, myth_error *err);
myth_status myth_view_read(myth_views *v, myth_view *f, myth_error *err);
myth_status myth_view_imports(myth_views *v, myth_view *f, myth_error *err);

/* Line from 1, without its end; "" beyond the last. */
const char *myth_view_line(const myth_view *f, uint32_t line, size_t *n);
/* The next place at or behind *pos where `name` stands as a whole word; false when there is none. *pos is left there.
 */
bool myth_word_find(const char *text, size_t n, const char *name, size_t n_name, size_t *pos);
/* Whether the statement names it, or takes everything ("*"). *alias (of n_alias bytes, 0 = none) is what it is called
 * here. */
typedef enum { MYTH_NAMES_NOTHING, MYTH_NAMES_ALL, MYTH_NAMES_IT } myth_import_names;
myth_import_names myth_view_import_names(const myth_view *f, const myth_view_import *i, const char *name, char *alias,
                                         size_t cap_alias);
/* What the statement calls the module itself: sess of "import auth.session as sess"; "" when it only takes names out of
 * it. */
void myth_view_module_name(char *dst, size_t cap, const myth_view *f, const myth_view_import *i);
/* Whether a line is in one of its import statements. */
bool myth_view_is_import(const myth_view *f, uint32_t line);
/* Whether the statement gives on what it imports. */
bool myth_view_is_export(const myth_view *f, const myth_view_import *i);

/* What stands in front of a name at off of a line: 0 nothing, else a mark of access; *receiver is the name in front of
 * it, "" when that is no name. */
bool myth_receiver_of(const char *line, size_t off, char *receiver, size_t cap);

#endif
