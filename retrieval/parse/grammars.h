/* grammars.h - the parsers that are compiled in, and what the cut has to know of their languages beyond their queries.
 */
#ifndef MYTH_GRAMMARS_H
#define MYTH_GRAMMARS_H

#include <stdbool.h>
#include <stdint.h>

struct TSLanguage;

/* What makes a definition visible outside its file. */
typedef enum {
    MYTH_EXPORT_TOP,           /* being at the top of the file                         */
    MYTH_EXPORT_NO_STATIC,     /* no "static" before the name                          */
    MYTH_EXPORT_NO_UNDERSCORE, /* a name that does not begin with '_'                  */
    MYTH_EXPORT_UPPER,         /* a name that begins with a capital                    */
    MYTH_EXPORT_EXPORT,        /* "export" before it                                   */
    MYTH_EXPORT_PUB,           /* "pub" before its name                                */
    MYTH_EXPORT_PUBLIC,        /* "public" or "protected" before its name              */
    MYTH_EXPORT_NO_PRIVATE,    /* neither "private" nor "local" before its name        */
} myth_export_rule;

typedef struct {
    const char *name;
    const struct TSLanguage *(*language)(void);
    const unsigned char *query;
    uint32_t n_query;
    myth_export_rule exports;
    bool is_data;        /* its chunks are configuration                         */
    bool has_directives; /* of C's preprocessor                                  */
    bool has_docstrings;
    bool any_test_name; /* test_... is a test wherever it stands                */
} myth_grammar;

extern const int myth_n_grammar;

/* 0 <= i < myth_n_grammar */
myth_grammar myth_grammar_get(int i);
/* The grammar of a language of languages.def; -1 = cut by its text. */
int myth_grammar_find(const char *language);

#endif
