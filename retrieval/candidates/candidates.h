/* candidates.h - places of a file that are worth a judgement: found by rules about the flow of each function
 * (flow.h, pack.h), with the facts that speak for and against them. They are no findings: most are harmless.
 *
 * Place     the bytes and lines of the node that a rule's event is at, and the function around it
 * Facts     "name=value" with blanks between; names and values are those of facts.def
 * Order     by place, then by rule; of one row at most MYTH_CANDIDATES_ROW in a function, one of a
 *           rule for a path: that of the row that stands first in rules/
 * Worker    the rules run in the parsers' process (chunk.h), whose answer is checked like any other
 * Owner     myth_candidates_free with the chunker's ledger
 * Errors    MYTH_ENOMEM; a file without a grammar, too large or with a parser that fails has no candidates, and `note`
 *           says why; of one with a function that is too long it says from which line on (cut_line)
 * Threads   one call at a time per chunker */
#ifndef MYTH_CANDIDATES_H
#define MYTH_CANDIDATES_H

#include "retrieval/parse/chunk.h"

enum { MYTH_CANDIDATES_ROW = 4, MYTH_CANDIDATES_NAME = 40 };

typedef struct {
    uint32_t off, bytes;
    uint32_t line0, line1;
    uint32_t function_line0, function_line1;
    uint32_t about_line; /* of what a fact is about: a test, a release, a way out; 0 = none */
    uint32_t from;       /* offset of the call that it is about, or whose result; UINT32_MAX = none */
    /* offsets into names */
    uint32_t rule, row, function, path, callee, say, facts;
} myth_candidate_place;

typedef struct {
    myth_candidate_place *candidate;
    char *names; /* zero-terminated strings, the empty one first */
    uint32_t n, n_names;
    uint32_t n_function; /* functions that were read */
    uint32_t cut_line;   /* from which on a function was too long to be read, as `note` says; 0 = none was */
    char note[96];       /* why the file was not read, or not all of it; "" = it was */
} myth_candidates;

/* Whether rules exist for a language of languages.def. */
bool myth_candidates_has(const char *language);

myth_status myth_candidates_find(myth_candidates *out, myth_chunker *c, const char *language, const char *path,
                                 const unsigned char *text, uint64_t n, myth_error *err);
void myth_candidates_free(myth_candidates *k, myth_mem *mem);

/* What the parsers' process answered. For the same text, language and program it means the same, so a caller may keep
 * it. NULL: the file was not read. Freed with the chunker's ledger. */
typedef struct {
    unsigned char *byte;
    uint64_t n;
} myth_candidates_bytes;

/* As myth_candidates_find, and gives the bytes of the answer too. */
myth_status myth_candidates_ask(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                const char *language, const char *path, const unsigned char *text, uint64_t n,
                                myth_error *err);
/* The places of a change alone, whose rows are at the event `lost`: what the text had before it, n_before bytes, and
 * has not. Their sentences name lines of that text, about_line is 0. */
myth_status myth_candidates_change(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                   const char *language, const char *path, const unsigned char *text, uint64_t n,
                                   const unsigned char *before, uint64_t n_before, myth_error *err);
/* Reads an answer that was kept, which is checked like a new one. *is_good: it is an answer about such a text. */
myth_status myth_candidates_take(myth_candidates *out, bool *is_good, myth_mem *mem, const unsigned char *bytes,
                                 uint64_t n_bytes, const unsigned char *text, uint64_t n, myth_error *err);

/* For myth_chunk_worker: what it does with a tree. */
extern const myth_tree_reader myth_candidates_reader;

/* Writes the ids of all rules, of any language, in the order of rules/, and returns how many; at most `most`. */
uint32_t myth_candidates_rules(char id[][MYTH_CANDIDATES_NAME], uint32_t most);

/* For tests: opens the rules of a grammar; the number of rows, or 0 with *wrong_line. */
uint32_t myth_candidates_rows(myth_mem *mem, const char *grammar, uint32_t *wrong_line);
/* The i-th row's id and name, "" past the last. */
void myth_candidates_row(myth_mem *mem, const char *grammar, uint32_t i, char id[MYTH_CANDIDATES_NAME],
                         char row[MYTH_CANDIDATES_NAME]);

#endif
