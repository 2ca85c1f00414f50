/* usage.h - all that an index knows of a name: where it is defined, who uses it and why that is believed, what it uses,
 * what tests it.
 *
 * Name       as defined (create_session), qualified (Session.open, Session::open, Session#open), or behind a path
 *            (auth/session.py::Session.open, auth.session.open); "()" behind it is left out. Overloads are definitions
 *            of their own
 * Why        a parser sees names, not meanings, so every use says what speaks for it: myth_why, the weakest first. A
 *            use belongs to the definitions that the strongest reason gives; when nothing but the name does, to all of
 *            them
 * Callers    one per definition that uses the name, with its first use. What stands in a test is a test; a test without
 *            a use is found by the name of its file when there is no other. Recursion is not a caller
 * Callees    definitions that the text of this one uses, when more than the name speaks for them
 * Exports    where the name is given on: package files, `export ... from`, `pub use`, headers that declare it
 * Order      definitions: source before tests and copies, then path and line; places: the strongest reason, calls
 *            before types, then path and line
 * Limits     MYTH_USAGE_*: what is more is counted
 * Owner      a myth_usage owns its strings until myth_usage_free, before the index is closed
 * Not found  no definition: MYTH_OK with n_definition 0; myth_usage_nearest says what may have been meant */
#ifndef MYTH_USAGE_H
#define MYTH_USAGE_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"

enum {
    MYTH_USAGE_DEFINITIONS = 64, /* of a name: more are not a name but a convention         */
    MYTH_USAGE_USES = 4096,      /* looked at                                                */
    MYTH_USAGE_PLACES = 256,     /* of a definition, each of callers, tests, callees, exports */
    MYTH_USAGE_WHY = 120
};

typedef enum {
    MYTH_WHY_NAME,      /* the same name, nothing more                              */
    MYTH_WHY_ONLY,      /* there is one definition of it                            */
    MYTH_WHY_PACKAGE,   /* same directory, and the language shares names in it      */
    MYTH_WHY_EXPORT,    /* imports what gives the name on                           */
    MYTH_WHY_IMPORT,    /* imports the file                                         */
    MYTH_WHY_QUALIFIED, /* Type.name                                                */
    MYTH_WHY_FILE       /* same file                                                */
} myth_why;

typedef struct {
    const char *path;
    const char *name, *parent; /* of the definition around the use, or of the callee; "" at the top of a file */
    const char *why;           /* "imports auth.session and calls it"               */
    uint32_t line;             /* of the use; of a callee its own                  */
    uint32_t line0, line1;     /* of that definition; the use's line at the top     */
    uint32_t n_use;
    myth_ref_kind kind; /* of the first use                                  */
    myth_why strength;
    int64_t file_id;
} myth_usage_place;

typedef struct {
    myth_usage_place *place;
    uint32_t n, n_more;
} myth_usage_places;

typedef struct {
    const char *path, *language, *name, *parent; /* parent "" = none */
    const char *signature;                       /* the definition without its body, as written */
    uint32_t line, line0, line1;                 /* of the name; of the whole definition        */
    myth_symbol_kind kind;
    bool is_exported, is_test;
    int64_t file_id;
    myth_usage_places callers, tests, callees, exports;
} myth_usage_definition;

typedef struct {
    myth_usage_definition *definition;
    uint32_t n_definition, n_more;
    uint64_t n_unseen; /* uses beyond MYTH_USAGE_USES */
    myth_mem *mem;
    struct myth_usage_block *block; /* of strings */
} myth_usage;

/* *out is freed by myth_usage_free, also after a failure (then empty). is_cancelled may be NULL. */
myth_status myth_usage_find(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                            myth_error *err);
void myth_usage_free(myth_usage *u);

/* The definition around a line: of functions, methods and tests the innermost, else of types. False: none. Names are
 * valid until the next call. */
typedef struct {
    char name[256], parent[256]; /* cut to fit */
    uint32_t line0, line1;
} myth_usage_around;
myth_status myth_usage_around_line(myth_usage_around *out, bool *is_found, myth_index *x, const char *path,
                                   uint32_t line, myth_error *err);

/* Names that are nearest to an unknown one: by letters changed, left out or swapped, and by the parts of identifiers
 * that both have. */
enum { MYTH_NEAR_MAX = 16 };
typedef struct {
    char name[256], path[512]; /* cut to fit */
    uint32_t line;
    double score; /* 1 = the same but for case and marks */
} myth_near;
/* At most `max` (of MYTH_NEAR_MAX) to `out`, the nearest first; *n 0 when nothing is near. */
myth_status myth_usage_nearest(myth_near *out, uint32_t max, uint32_t *n, myth_index *x, const char *name,
                               myth_error *err);

const char *myth_why_name(myth_why why); /* "import" */

#endif
