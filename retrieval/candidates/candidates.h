/* candidates.h - finds candidates: places of a file that a judge should look at. Rules about the flow of each function
 * find them (flow.h, pack.h), and each comes with the facts that speak for and against it. Most candidates are
 * harmless, so they are not findings yet.
 *
 * Place     the bytes and lines of the node that a rule's event is at, and the function around it
 * Facts     "name=value" with blanks between; names and values are those of facts.def
 * Order     by place, then by rule. A row finds at most MYTH_CANDIDATES_ROW places in a function. Of the places that
 *           the rows of one rule find for one path only one is kept: that of the row that comes first in rules/
 * Worker    the rules run in the parsers' process (chunk.h), whose answer is checked like any other
 * Owner     myth_candidates_free with the chunker's ledger
 * Errors    MYTH_ENOMEM. A file without a grammar, a file that is too large, and one whose parser fails have no
 *           candidates, and `note` says why. If a function was too long to be read to its end, `note` says from which
 *           line on (cut_line)
 * Threads   one call at a time per chunker */
#ifndef MYTH_CANDIDATES_H
#define MYTH_CANDIDATES_H

#include "retrieval/parse/chunk.h"

enum { MYTH_CANDIDATES_ROW = 4, MYTH_CANDIDATES_NAME = 40 };

typedef struct {
    uint32_t off, bytes;
    uint32_t line0, line1;
    uint32_t function_line0, function_line1;
    uint32_t about_line; /* the line that a fact is about: of a test, a release, a way out; 0 = none */
    uint32_t from;       /* offset of the call that it is about, or whose result it is about; UINT32_MAX = none */
    uint32_t is_lost;    /* 1 = its row is about what a change took away, at the event `lost`; else 0 */
    /* offsets into names */
    uint32_t rule, row, function, path, callee, say, facts;
} myth_candidate_place;

typedef struct {
    myth_candidate_place *candidate;
    char *names; /* zero-terminated strings, the empty one first */
    uint32_t n, n_names;
    uint32_t n_function; /* functions that were read */
    uint32_t cut_line;   /* the first line of a function that was too long to be read to its end; 0 = none was */
    char note[96];       /* why the file was not read, or not all of it; "" = all of it was read */
} myth_candidates;

/* Whether rules exist for a language of languages.def. */
bool myth_candidates_has(const char *language);

myth_status myth_candidates_find(myth_candidates *out, myth_chunker *c, const char *language, const char *path,
                                 const unsigned char *text, uint64_t n, myth_error *err);
void myth_candidates_free(myth_candidates *k, myth_mem *mem);

/* The answer of the parsers' process. It depends on the text, the language and the program alone, so a caller may keep
 * it. byte is NULL when the file was not read; it is freed with the chunker's ledger. */
typedef struct {
    unsigned char *byte;
    uint64_t n;
} myth_candidates_bytes;

/* As myth_candidates_find, and gives the bytes of the answer too. */
myth_status myth_candidates_ask(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                const char *language, const char *path, const unsigned char *text, uint64_t n,
                                myth_error *err);
/* Finds only the places where a change took something away (rows at the event `lost`): `before` had it, and `text` has
 * not. They are where that was; their sentences name lines of `before`, and about_line is that of what relied on it. */
myth_status myth_candidates_change(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                   const char *language, const char *path, const unsigned char *text, uint64_t n,
                                   const unsigned char *before, uint64_t n_before, myth_error *err);
/* Reads an answer that the caller kept. It is checked like a new one: *is_good is false for bytes that are no answer
 * about a text of this length. */
myth_status myth_candidates_take(myth_candidates *out, bool *is_good, myth_mem *mem, const unsigned char *bytes,
                                 uint64_t n_bytes, const unsigned char *text, uint64_t n, myth_error *err);

/* What myth_chunk_worker does with the tree of a file when it is asked for candidates. */
extern const myth_tree_reader myth_candidates_reader;

/* Writes the ids of all rules, of any language, in the order of rules/, and returns how many; at most `most`. */
uint32_t myth_candidates_rules(char id[][MYTH_CANDIDATES_NAME], uint32_t most);

/* For tests: opens the rules of a grammar and calls `each` with the id and the name of every row. Returns the number of
 * rows, or 0 and in *wrong_line the line that is wrong. */
uint32_t myth_candidates_rows(myth_mem *mem, const char *grammar, uint32_t *wrong_line,
                              void (*each)(void *user, const char *id, const char *row), void *user);

#endif
