/* usage.h - all that an index knows about a name: where it is defined, who uses it and why each match is believed,
 * what the definition uses, what tests it.
 *
 * Name       may be as defined (create_session), qualified (Session.open, Session::open, Session#open), or after a
 *            path (auth/session.py::Session.open, auth.session.open; also with "./" before it, or absolute and below
 *            the index's root); a trailing "()" is ignored. Overloads are separate definitions
 * Renamed    a name without a definition that a re-export gives to another (export { make as create } from, pub use
 *            x::Make as Create, from .x import make as create in an __init__.py) has the definitions of that other name
 *            in the file that the statement means; d->name tells. Not followed: default exports, export * as ns, and
 *            uses by the new name
 * Why        a parser sees names and not what they mean, so every use has its strongest reason, a myth_why. A use
 *            belongs to the definitions for which its reason is strongest, or to all when only the name matches
 * Callers    one place for each definition that uses the name, at its first use. Uses in tests are listed as tests;
 *            if there are none, files whose name says that they test it are. Recursion is not a caller
 * Callees    definitions that the text of this one uses, if more than the name says so
 * Exports    places that re-export the name: package files, `export ... from`, `pub use`, headers that declare it;
 *            from its file, or from such a place
 * Order      definitions: sources before tests and copies, then path and line. Places: strongest reason first,
 *            calls before types, then path and line
 * Mentions   a parser records calls, types, arguments and the like, and no line that assigns, compares or returns a
 *            name, nor a field's. myth_usage_find_all finds these in the text: every line that has the name as a word
 *            in code (code_mask.h), in every language that has code, and that is no line of a definition, of a
 *            recorded use or of an export. So a name without a definition has mentions, too
 * Limits     MYTH_USAGE_*; what exceeds them is counted, or said by has_more_callees and has_more_exports
 * Owner      a myth_usage owns its strings until myth_usage_free; free it before the index is closed
 * Threads    one call at a time per index
 * Errors     MYTH_EFORMAT a damaged index; MYTH_ECANCEL; MYTH_ENOMEM. No definition is not an error: MYTH_OK with
 *            n_definition 0, and myth_usage_nearest suggests names */
#ifndef MYTH_USAGE_H
#define MYTH_USAGE_H

#include "engine/base/cancel.h"
#include "retrieval/index/index.h"

enum {
    MYTH_USAGE_DEFINITIONS = 64, /* definitions of a name; more are a convention, not a name */
    MYTH_USAGE_USES = 4096,      /* uses of a name that are judged */
    MYTH_USAGE_PLACES = 256,     /* of each definition: callers, tests, callees and exports each */
    MYTH_USAGE_MENTIONS = 1024,  /* lines of a name that are mentions */
    MYTH_USAGE_WHY = 120
};

typedef enum {
    MYTH_WHY_NAME,      /* the same name, nothing more                              */
    MYTH_WHY_ONLY,      /* only one definition has this name */
    MYTH_WHY_PACKAGE,   /* same directory, in a language that shares names there */
    MYTH_WHY_EXPORT,    /* imports a file that re-exports the name */
    MYTH_WHY_IMPORT,    /* imports the definition's file */
    MYTH_WHY_QUALIFIED, /* written with its type: Type.name */
    MYTH_WHY_FILE       /* same file                                                */
} myth_why;

typedef struct {
    const char *path;
    const char *name, *parent; /* name of the definition around the use, or of the callee; "" at the top of a file */
    const char *why;           /* "imports auth.session and calls it"               */
    uint32_t line;             /* line of the use; for a callee, of its definition */
    uint32_t line0, line1;     /* lines of that definition; at the top of a file the use's line */
    uint32_t n_use;
    myth_ref_kind kind; /* kind of the first use */
    myth_why strength;
    int64_t file_id;
    /* of a caller or a test with uses in several lines all of them, in order; only by myth_usage_find_all */
    const uint32_t *lines;
    uint32_t n_lines;
    /* of a mention: index of the definition that it may mean, or MYTH_USAGE_ANY; whether `why` says what the line does
     * with it */
    uint32_t of;
    bool is_telling;
} myth_usage_place;

#define MYTH_USAGE_ANY UINT32_MAX

typedef struct {
    myth_usage_place *place;
    uint32_t n, n_more;
} myth_usage_places;

typedef struct {
    const char *path, *language, *name, *parent; /* parent "" = none */
    const char *signature;                       /* the definition without its body, as written, in one line */
    uint32_t line, line0, line1;                 /* line of the name; lines of the whole definition */
    myth_symbol_kind kind;
    bool is_exported, is_test;
    int64_t file_id;
    myth_usage_places callers, tests, callees, exports;
} myth_usage_definition;

typedef struct {
    myth_usage_definition *definition;
    uint32_t n_definition, n_more;
    uint64_t n_unseen; /* uses beyond MYTH_USAGE_USES */
    /* some were not looked for: a definition has more callees than are looked up, the name is in more files than are
     * read for exports */
    bool has_more_callees, has_more_exports;
    /* by myth_usage_find_all: the name as mentions have it, its lines, those that mean other definitions of the name
     * than were asked for, and the files that were not looked into because there are more mentions than kept */
    bool has_mentions;
    const char *word;
    myth_usage_places mentions;
    uint64_t n_elsewhere;
    uint32_t n_unlooked, cap_mention;
    uint32_t *lines; /* of all places */
    myth_mem *mem;
    struct myth_usage_block *block; /* memory of the strings */
} myth_usage;

/* Free *out by myth_usage_free, also after a failure (it is empty then). is_cancelled may be NULL. */
myth_status myth_usage_find(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                            myth_error *err);
/* The same without callees, for which the text of every definition is read. */
myth_status myth_usage_find_uses(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                                 myth_error *err);
/* All that there is: the mentions, too, for which the text of every file that may have the word is read. */
myth_status myth_usage_find_all(myth_usage *out, myth_index *x, const char *name, const myth_cancel *is_cancelled,
                                myth_error *err);
void myth_usage_free(myth_usage *u);

/* The definition around a line: the innermost function, method or test, else the innermost type. *is_found false:
 * none. */
typedef struct {
    char name[256], parent[256]; /* cut to fit */
    uint32_t line0, line1;
} myth_usage_around;
myth_status myth_usage_around_line(myth_usage_around *out, bool *is_found, myth_index *x, const char *path,
                                   uint32_t line, myth_error *err);

/* Names near to an unknown one: few letters changed, left out, added or swapped, or parts of identifiers in common. */
enum { MYTH_NEAR_MAX = 16 };
typedef struct {
    char name[256], path[512]; /* cut to fit */
    uint32_t line;
    double score; /* 1 = equal except for case, '_' and '$' */
} myth_near;
/* Writes at most `max` (up to MYTH_NEAR_MAX) names to `out`, the nearest first; *n is 0 when none is near. */
myth_status myth_usage_nearest(myth_near *out, uint32_t max, uint32_t *n, myth_index *x, const char *name,
                               myth_error *err);

const char *myth_why_name(myth_why why); /* "import" */

#endif
