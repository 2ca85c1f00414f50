/* usage_impl.h - inside usage: a view of a file, with its row, its lines and its import statements. */
#ifndef MYTH_USAGE_IMPL_H
#define MYTH_USAGE_IMPL_H

#include "module.h"
#include "usage.h"

typedef struct {
    const char *spec;      /* as written                       */
    uint32_t line0, line1; /* lines of the statement */
} myth_view_import;

typedef struct {
    int64_t id;
    const char *path, *language; /* language "" = unknown            */
    uint32_t flags;              /* MYTH_FILE_*                      */
    uint64_t n;                  /* size in bytes */
    bool has_text, has_imports;
    unsigned char *text;
    uint32_t *line; /* offset of each line, and the end of the text */
    uint32_t n_line;
    myth_view_import *import;
    uint32_t n_import, cap_import;
    /* bit i is for definition i: whether it is known, and whether it is so, that the text names the definition's
     * type */
    uint64_t type_known, type_there;
} myth_view;

/* The files that were looked into, by id. Their strings are in the usage's blocks. */
typedef struct {
    myth_mem *mem;
    myth_store *store;
    myth_usage *out;
    myth_view **view;
    uint32_t n_view, cap_view;
    uint32_t *slot, n_slot; /* hash table by id: index + 1, 0 = free */
    sqlite3_stmt *get_file;
} myth_views;

/* Copies a string into the usage's memory; NULL: no memory. */
const char *myth_usage_text(myth_usage *u, const void *text, size_t n);

void myth_usage_free_places(myth_mem *mem, const myth_usage_definition *d);

void myth_views_close(myth_views *v);
/* get reads the file's row; read also its text; imports also its import statements. */
myth_status myth_view_get(myth_view **out, myth_views *v, int64_t file_id, myth_error *err);
myth_status myth_view_read(myth_views *v, myth_view *f, myth_error *err);
myth_status myth_view_imports(myth_views *v, myth_view *f, myth_error *err);
/* Frees the text and the statements, which may be read again. */
void myth_view_drop(const myth_views *v, myth_view *f);

/* The line, counted from 1, without its end; "" past the last. */
const char *myth_view_line(const myth_view *f, uint32_t line, size_t *n);
/* Finds `name` as a whole word at or after *pos and sets *pos there; false when there is none. */
bool myth_word_find(const char *text, size_t n, const char *name, size_t n_name, size_t *pos);
/* Whether the import statement names `name`, or imports everything ("*"). *alias (room for cap_alias bytes) gets the
 * name it has here, "" = none. */
typedef enum { MYTH_NAMES_NOTHING, MYTH_NAMES_ALL, MYTH_NAMES_IT } myth_import_names;
myth_import_names myth_view_import_names(const myth_view *f, const myth_view_import *i, const char *name, char *alias,
                                         size_t cap_alias);
/* The name that the statement gives the module: sess in "import auth.session as sess"; "" when it only imports names
 * from it. */
void myth_view_module_name(char *dst, size_t cap, const myth_view *f, const myth_view_import *i);
/* Whether a line is inside of an import statement. */
bool myth_view_is_import(const myth_view *f, uint32_t line);
/* Whether the statement re-exports what it imports. */
bool myth_view_is_export(const myth_view *f, const myth_view_import *i);

/* The access mark before a name at offset off of a line, 0 = none. *receiver gets the name before the mark, "" when
 * it is not a name. */
bool myth_receiver_of(const char *line, size_t off, char *receiver, size_t cap);

/* *out: PATH::NAME of the definition that a re-export calls `name` ("export { make as name }"); NULL = none. The
 * statement is found in the first files that have the name, and its module must mean the definition's file. */
myth_status myth_usage_alias(const char **out, myth_views *v, const char *name, myth_error *err);

#endif
