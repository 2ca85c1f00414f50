/* usage_why.h - inside usage: how likely a use of a name means a definition, and the sentence that says why.
 *
 * Order    a later myth_why is a stronger reason
 * Owner    texts are lent by the views
 * Threads  as usage.h */
#ifndef MYTH_USAGE_WHY_H
#define MYTH_USAGE_WHY_H

#include "usage_impl.h"

/* MYTH_USAGE_CANNOT: the use cannot mean this definition. */
enum { MYTH_RECEIVER_BYTES = 96, MYTH_USAGE_CANNOT = -1 };

/* How the imports of a use's file relate to a definition. */
typedef struct {
    myth_why why; /* MYTH_WHY_NAME: they do not */
    const char *spec;
    bool names_it, is_header;         /* the statement names it or its type; the statement is an include */
    char alias[MYTH_RECEIVER_BYTES];  /* alias of what it names; "" = none */
    char module[MYTH_RECEIVER_BYTES]; /* name of the module in the file */
} myth_usage_relation;

/* One occurrence of a name in a line, to be judged against a definition. */
typedef struct {
    const myth_view *file;
    const char *receiver;
    bool has_receiver;
    const char *around_parent; /* parent of the definition around the use; "" = none */
    uint32_t n_of_name;        /* number of definitions of the name in related languages */
    bool has_type;             /* the file names the definition's type, or the definition has none */
} myth_usage_place_of_use;

/* Whether qualifier[0 .. n) names the definition's place: its path, its type, or a path and a type. */
bool myth_usage_is_qualified(const char *qualifier, size_t n, const char *path, const char *parent);
/* The path in front of the name at `off` of a line, with the name, when it begins at a module of the same tree:
 * crate::debug::render, self::, super::. False: there is none, or it does not fit. */
bool myth_usage_path_of(const char *line, size_t off, size_t n_name, char *path, size_t cap);
/* Offset of the last name in a qualified one; 0 = it is not qualified. last_of returns this name: Inner of
 * Outer::Inner. */
size_t myth_usage_last_part(const char *name, size_t n);
const char *myth_usage_last_of(const char *name);
/* Length of the access mark at the end of text[0 .. n): "::", "->", "." and so on; 0 = none. */
size_t myth_usage_mark_before(const char *text, size_t n);
/* A file's name without its suffix; bare_stem also removes what marks it as a test. */
void myth_usage_stem_of(char *dst, size_t cap, const char *path);
void myth_usage_bare_stem(char *dst, size_t cap, const char *path);
bool myth_usage_is_header_path(const char *path);
bool myth_usage_is_header_language(const char *language);
/* Whether a definition is called on an object. A function inside a function or a namespace is not. */
bool myth_usage_is_of_object(const myth_usage_definition *d);

/* Fills r for one import of f and the definition d. False: the import does not lead to d. */
bool myth_usage_relate(myth_usage_relation *r, const myth_view *f, const myth_view_import *i,
                       const myth_usage_definition *d);
/* How an import of f gives d on, in words: from d's file, or from one of d's exports; NULL = it does not. */
const char *myth_usage_gives_on(const myth_view *f, const myth_view_import *i, const myth_usage_definition *d);
/* Returns a myth_why or MYTH_USAGE_CANNOT. is_alias: the occurrence is an alias that an import gave the name. */
int myth_usage_judge(const myth_usage_place_of_use *p, const myth_usage_definition *d, const myth_usage_relation *r,
                     bool is_alias);
/* Writes the sentence for a reason. */
void myth_usage_say(char text[MYTH_USAGE_WHY], myth_why why, myth_ref_kind kind, const char *name, const char *parent,
                    const myth_usage_relation *r, bool is_same_file);

/* Adds a place. If it is there already, counts one more use and keeps the better reason. False: no memory. */
bool myth_usage_add_place(myth_mem *mem, myth_usage_places *to, const myth_usage_place *p);
/* sort_places: the strongest reason first. by_worth: compares definitions for qsort, sources before tests and
 * copies. */
void myth_usage_sort_places(myth_usage_places *p);
int myth_usage_by_worth(const void *a, const void *b);

#endif
