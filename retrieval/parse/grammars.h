/* grammars.h - the parsers that are compiled in, each with its queries. */
#ifndef MYTH_GRAMMARS_H
#define MYTH_GRAMMARS_H

#include "retrieval/scan/languages.h"

struct TSLanguage;

typedef struct {
    const char *name;
    const struct TSLanguage *(*language)(void);
    const unsigned char *query;
    uint32_t n_query;
    const myth_language *is; /* the first language with this grammar: its rules for definitions */
} myth_grammar;

extern const int myth_n_grammar;

/* 0 <= i < myth_n_grammar */
myth_grammar myth_grammar_get(int i);
/* Index of the grammar of a language; -1 = none, so the file is cut by its text. */
int myth_grammar_find(const char *language);

#endif
