/* languages.h - what the retriever knows about a language. Each is one row of languages.def: how its files are
 * named and parsed, how imports and comments are written.
 *
 * Owner    constant data; a row stays valid for ever
 * Threads  any */
#ifndef MYTH_LANGUAGES_H
#define MYTH_LANGUAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Families of languages that are written alike. Languages of one of the first four families (C, Python, JS, JVM) can
 * call one another's definitions. */
typedef enum {
    MYTH_FAMILY_NONE, /* prose, and data that configures nothing */
    MYTH_FAMILY_C,
    MYTH_FAMILY_PYTHON,
    MYTH_FAMILY_JS,
    MYTH_FAMILY_JVM,
    MYTH_FAMILY_GO,
    MYTH_FAMILY_NET,
    MYTH_FAMILY_RUBY,
    MYTH_FAMILY_PHP,
    MYTH_FAMILY_RUST,
    MYTH_FAMILY_SHELL,
    MYTH_FAMILY_SQL,
    MYTH_FAMILY_OTHER, /* code of any other language */
    MYTH_FAMILY_CONFIG /* data that configures */
} myth_language_family;

/* How comments and long strings begin. */
enum {
    MYTH_MARK_SLASH = 1,      /* two slashes, slash and star */
    MYTH_MARK_HASH = 2,       /* # */
    MYTH_MARK_DASH = 4,       /* -- */
    MYTH_MARK_TRIPLE = 8,     /* strings in three quotes */
    MYTH_MARK_BACKTICK = 16,  /* strings in backticks */
    MYTH_MARK_SEMICOLON = 32, /* ; */
    MYTH_MARK_PERCENT = 64,   /* % */
    MYTH_MARK_ANGLE = 128,    /* <!-- */
    MYTH_MARK_PAREN = 256     /* parenthesis and star */
};

/* How comments and strings are written beside that; what a string computes is code. */
enum {
    MYTH_LEX_LONG_DOUBLE = 1,      /* "..." may span lines */
    MYTH_LEX_NESTED = 2,           /* blocks of comments in each other */
    MYTH_LEX_RAW_PAREN = 4,        /* R"x(...)x", and 1'000 is a number */
    MYTH_LEX_RAW_HASH = 8,         /* r#"..."#, 'a before a lifetime, "{name}" */
    MYTH_LEX_VERBATIM = 16,        /* @"...", $"{code}" */
    MYTH_LEX_DOLLAR = 32,          /* "$name ${code}"; a '$' is no part of a name */
    MYTH_LEX_HASH_IN = 64,         /* "#{code}" */
    MYTH_LEX_PAREN_IN = 128,       /* "\(code)" */
    MYTH_LEX_FORMAT = 256,         /* f"{code}" */
    MYTH_LEX_NO_SINGLE = 512,      /* a ' begins a character or nothing */
    MYTH_LEX_NO_DOUBLE = 1024,     /* what stands in "..." is a name */
    MYTH_LEX_NO_STRINGS = 2048,    /* pages: quotes are of prose */
    MYTH_LEX_HASH_ANYWHERE = 4096, /* a comment begins at any #, not only where a word ends */
    MYTH_LEX_BEGIN_END = 8192,     /* =begin ... =end */
    MYTH_LEX_DASH_BLOCKS = 16384   /* --[[ ... ]], {- ... -} */
};

/* What makes a definition visible outside its file. */
typedef enum {
    MYTH_EXPORT_TOP,           /* being at the top of the file                         */
    MYTH_EXPORT_NO_STATIC,     /* no "static" before the name                          */
    MYTH_EXPORT_NO_UNDERSCORE, /* a name that does not begin with '_'                  */
    MYTH_EXPORT_UPPER,         /* a name that begins with a capital                    */
    MYTH_EXPORT_EXPORT,        /* "export" before it                                   */
    MYTH_EXPORT_PUB,           /* "pub" before its name                                */
    MYTH_EXPORT_PUBLIC,        /* "public" or "protected" before its name              */
    MYTH_EXPORT_NO_PRIVATE     /* neither "private" nor "local" before its name        */
} myth_export_rule;

/* How an import names a module: a file's path, or names with ".", "::" or "\\" between them. */
typedef enum { MYTH_BY_FILE, MYTH_BY_DOT, MYTH_BY_COLON, MYTH_BY_BACKSLASH } myth_spelling;

/* Tools that write files of the language in one line. */
typedef enum { MYTH_MINIFIED_NEVER, MYTH_MINIFIED_SCRIPT, MYTH_MINIFIED_STYLE } myth_minified;

typedef struct {
    const char *name;     /* id of the row */
    const char *patterns; /* patterns of file names */
    const char *grammar;  /* "" = none */
    const char *programs; /* programs in a "#!" line, without version, separated by spaces; NULL = none */
    const char *modes;    /* names in editors' mode lines, separated the same way */

    myth_language_family family;
    uint16_t marks; /* MYTH_MARK_* */
    uint16_t lexis; /* MYTH_LEX_* */
    myth_minified minified;

    /* definitions */
    myth_export_rule exports;
    bool is_data;        /* its chunks are configuration */
    bool has_no_code;    /* documents, data and styles: no statements of a program */
    bool has_directives; /* has C's preprocessor */
    bool has_docstrings;
    bool any_test_name;    /* test_... is a test in any file */
    bool has_class_files;  /* a file is a class, so a comment about the file is about the class */
    bool has_bare_methods; /* methods are written without the name of their class */

    /* imports */
    const char
        *import_calls;    /* functions that import what their first argument names, separated by spaces; NULL = none */
    const char *definers; /* functions that define what their first argument names; NULL = none */
    const char *list_definers; /* the same for each of their arguments */
    myth_spelling spelling;
    /* suffixes of the files that an import may mean, in order; "" = the path as written, NULL = imports are not
     * paths */
    const char *suffixes;
    const char *index;    /* the file that an import of a folder means, without suffix; NULL = none */
    const char *packages; /* other files that re-export the names of their folder, separated by spaces; NULL = none */
    bool shares_folder;   /* files of one folder see each other's names without an import */
    bool imports_folders; /* an import means all files of a folder */
    bool imports_end_in_name; /* the last part of a path may be a name inside a file */
    bool has_loose_imports;   /* that file may have any name in the folder: a package's functions */
    bool looks_beside;        /* a path that does not begin with dots is first looked up beside the file */
    bool has_load_path;       /* a path that begins with dots need not be relative to the file */
    bool has_headers;         /* an include means the header and the source file of the same stem */
    bool has_import_blocks;   /* imports may be in a block, one a line, with the alias before the path */
    bool reexports_with_pub;  /* "pub" before an import re-exports its names */
} myth_language;

/* Row i, NULL past the last. */
const myth_language *myth_language_at(uint32_t i);
/* The row with this name; an empty row when there is none. */
const myth_language *myth_language_get(const char *name);
/* Whether code in one language may use definitions in the other: they are equal, or of one family that calls one
 * another. */
bool myth_language_is_kin(const char *a, const char *b);
/* Whether the word of n bytes is in a field with words separated by spaces, ignoring case. list may be NULL. */
bool myth_language_lists(const char *list, const char *word, size_t n);

#endif
