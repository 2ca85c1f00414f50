/* usage_why.h - inside usage: how strongly a use of a name is believed to be of a definition, and the sentence that
 * says why.
 *
 * Order    of myth_why: what is later is stronger
 * Owner    texts are lent */
#ifndef MYTH_USAGE_WHY_H
#define MYTH_USAGE_WHY_H

#include "usage_impl.h"

/* MYTH_USAGE_CANNOT: whatever the name means there, it is not this definition. */
enum { MYTH_RECEIVER_BYTES = 96, MYTH_USAGE_CANNOT = -1 };

/* What the file of a use imports, as far as it concerns a definition. */
typedef struct {
    myth_why why; /* NAME: nothing                                        */
    const char *spec;
    bool names_it, is_header;         /* the statement names it or its type; an include       */
    char alias[MYTH_RECEIVER_BYTES];  /* of what it names; "" = none                          */
    char module[MYTH_RECEIVER_BYTES]; /* what the module is called in the file                */
} myth_usage_relation;

/* The use of a name at one place of a line, against one definition. */
typedef struct {
    const myth_view *file;
    const char *receiver;
    bool has_receiver;
    const char *around_parent; /* of the definition around the use; "" = none */
    uint32_t n_of_name;        /* definitions of the name in kin languages     */
    bool has_type;             /* the file names the definition's type, or it has none */
} myth_usage_place_of_use;

/* Whether qualifier[0 .. n) is where a definition is: its path, its type, or a path and a type. */
bool myth_usage_is_qualified(const char *qualifier, size_t n, const char *path, const char *parent);
/* Where the last name of a qualified one begins; 0 = it is not qualified. last_of is that name: Inner of Outer::Inner.
 */
size_t myth_usage_last_part(const char *name, size_t n);
const char *myth_usage_last_of(const char *name);
/* Bytes of the mark of access that ends text[0 .. n): "::", "->", ".", ...; 0 = none. */
size_t myth_usage_mark_before(const char *text, size_t n);
/* A file's name without suffix; bare: without what makes it a test's, too. */
void myth_usage_stem_of(char *dst, size_t cap, const char *path);
void myth_usage_bare_stem(char *dst, size_t cap, const char *path);
bool myth_usage_is_header_path(const char *path);
bool myth_usage_is_header_language(const char *language);
/* Whether a definition is called on an object: a function inside another function or a namespace is not. */
bool myth_usage_is_of_object(const myth_usage_definition *d);

/* What one import of f has to do with d. False: it does not lead to the definition. */
bool myth_usage_relate(myth_usage_relation *r, const myth_view *f, const myth_view_import *i,
                       const myth_usage_definition *d);
/* A myth_why, or MYTH_USAGE_CANNOT. is_alias: the name is one that an import gave it. */
int myth_usage_judge(const myth_usage_place_of_use *p, const myth_usage_definition *d, const myth_usage_relation *r,
                     bool is_alias);
/* The sentence for a reason. */
void myth_usage_say(char text[MYTH_USAGE_WHY], myth_why why, myth_ref_kind kind, const char *name, const char *parent,
                    const myth_usage_relation *r, bool is_same_file);

/* Adds a place, or counts one use more at a place that is there, whose better reason stays. False: no memory. */
bool myth_usage_add_place(myth_mem *mem, myth_usage_places *to, const myth_usage_place *p);
/* The strongest first; of definitions (for qsort) sources before tests and copies. */
void myth_usage_sort_places(myth_usage_places *p);
int myth_usage_by_worth(const void *a, const void *b);

#endif
