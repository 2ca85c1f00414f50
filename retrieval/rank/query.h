/* query.h - what a query asks for: its words, the names in it, its phrases, and what kind of text it is.
 *
 * Kinds     one word or qualified name: symbol; all of it in quotes: phrase; long, of several lines, or a subject that
 *           names its scope ("net,tcp: fix a leak"): issue; else prose
 * Terms     a plain word by its stem; a compound name (parse_json, parseJson) whole and by its parts; what programmers
 *           write for a word (dictionary, dict). A term of the same group is an alternative: the best counts
 * Forms     (prose) the same word in another derivation or spelling, which no stem joins: creation, create; authorise,
 *           authorize. A group's word and its forms are one word, as rare as all of them together
 * Frame     (prose) words that a question says of itself ("which code handles", "how does it work") weigh little
 * Reports   (issues) a word weighs less the later it first comes. All lines are read; there are words enough, so no
 *           alternatives are added
 * Left out  stop words and numbers of one or two digits, unless nothing else is there; a term is there once
 * Names     what is written as code (compound, called, qualified, in backquotes) may be defined somewhere: asked of the
 *           symbol table
 * Bytes     any; a NUL separates words as a space does
 * Owner     the query owns its strings; myth_query_free frees them
 * Errors    MYTH_EARG the query has no word, or is longer than MYTH_QUERY_BYTES */
#ifndef MYTH_QUERY_H
#define MYTH_QUERY_H

#include "engine/base/mem.h"
#include "weights.h"

enum {
    MYTH_QUERY_BYTES = 4 << 20,
    MYTH_QUERY_TERMS = 512, /* more say nothing new: the first are kept */
    MYTH_QUERY_NAMES = 64,
    MYTH_QUERY_PHRASES = 16,
    MYTH_QUERY_PROSE_WORDS = 24 /* a longer text is an issue                */
};

typedef enum { MYTH_QUERY_SYMBOL, MYTH_QUERY_PHRASE, MYTH_QUERY_PROSE, MYTH_QUERY_ISSUE } myth_query_kind;

typedef enum { MYTH_TERM_WORD, MYTH_TERM_WHOLE, MYTH_TERM_PART, MYTH_TERM_ALTERNATIVE, MYTH_TERM_FORM } myth_term_kind;

typedef struct {
    char *text; /* lower case, zero-terminated, as written: the index finds its other forms */
    uint32_t group;
    double weight;
    myth_term_kind kind;
    bool is_title; /* of a report: it stands in its first line               */
    bool is_code;  /* a name, or of one                                      */
} myth_query_term;

typedef struct {
    myth_query_kind kind;
    myth_query_term *term;
    char **name;   /* last part of a qualified name too; case as written */
    char **phrase; /* what stood in double quotes, of two words and more    */
    uint32_t n_term, n_group, n_name, n_phrase;
    bool wants_tests, wants_examples, wants_docs, wants_vendored, wants_legacy;
    myth_mem *mem;
} myth_query;

/* *out is freed by myth_query_free, also after a failure (then empty). */
myth_status myth_query_parse(myth_query *out, myth_mem *mem, const char *text, size_t n, const myth_weights_search *w,
                             myth_error *err);
void myth_query_free(myth_query *q);
const char *myth_query_kind_name(myth_query_kind kind);

#endif
