/* query.h - parses a query into its words, the names in it and its phrases, and decides what kind of text it is.
 *
 * Kinds     symbol: one word or qualified name. phrase: the whole query is in quotes. issue: a long text, several
 *           lines, or a subject that names its scope ("net,tcp: fix a leak"). prose: everything else
 * Terms     a plain word gives one term, which the index compares by its stem. A compound name (parse_json, parseJson)
 *           gives the whole name and its parts. A word for which programmers write another (dictionary, dict) gives
 *           that too. Terms of the same group are alternatives, of which the best counts
 * Forms     in prose, the same word in another derivation or spelling that has another stem is a form: creation and
 *           create, authorise and authorize. A word and its forms count as one word, as rare as all of them together
 * Frame     in prose, words that belong to the question and not to its subject ("which code handles", "how does it
 *           work") have little weight
 * Reports   in issues, a word has less weight the later it first occurs. All lines are read but those of the form that
 *           the report was written in (report.h). No alternatives are added, since there are words enough
 * Left out  stop words and numbers of one or two digits, unless the query has nothing else. Each term is there once
 * Names     words written as code (compound, called, qualified, in backquotes) may be defined somewhere, so the search
 *           looks them up in the symbol table
 * Bytes     any bytes; a NUL separates words as a space does
 * Owner     the query owns its strings; myth_query_free frees them
 * Errors    MYTH_EARG the query has no word, or is longer than MYTH_QUERY_BYTES */
#ifndef MYTH_QUERY_H
#define MYTH_QUERY_H

#include "engine/base/mem.h"
#include "weights.h"

enum {
    MYTH_QUERY_BYTES = 4 << 20,
    MYTH_QUERY_TERMS = 512, /* further terms are dropped: they say little more */
    MYTH_QUERY_NAMES = 64,
    MYTH_QUERY_PHRASES = 16,
    MYTH_QUERY_PROSE_WORDS = 24 /* a longer text is an issue                */
};

typedef enum { MYTH_QUERY_SYMBOL, MYTH_QUERY_PHRASE, MYTH_QUERY_PROSE, MYTH_QUERY_ISSUE } myth_query_kind;

typedef enum { MYTH_TERM_WORD, MYTH_TERM_WHOLE, MYTH_TERM_PART, MYTH_TERM_ALTERNATIVE, MYTH_TERM_FORM } myth_term_kind;

typedef struct {
    char *text; /* lower case, zero-terminated, not stemmed: the index stems it */
    uint32_t group;
    double weight;
    myth_term_kind kind;
    bool is_title; /* it occurs in the first line of an issue that is not its form's */
    bool is_code;  /* a name written as code, or a part of one               */
    bool is_scope; /* one of the words before the colon of "net,tcp: fix a leak" */
} myth_query_term;

typedef struct {
    myth_query_kind kind;
    myth_query_term *term;
    char **name;   /* names, with the last part of qualified ones; case as written */
    char **phrase; /* texts in double quotes that have two words or more, or are the whole query */
    uint32_t n_term, n_group, n_name, n_phrase;
    bool wants_tests, wants_examples, wants_docs, wants_vendored, wants_legacy;
    myth_mem *mem;
} myth_query;

/* Parses the query. myth_query_free frees *out, which is empty after a failure. */
myth_status myth_query_parse(myth_query *out, myth_mem *mem, const char *text, size_t n, const myth_weights_search *w,
                             myth_error *err);
void myth_query_free(myth_query *q);
const char *myth_query_kind_name(myth_query_kind kind);

#endif
