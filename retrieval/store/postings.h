/* postings.h - the rows of a word, read from the pages of the full-text index themselves: what a MATCH of one word
 * finds, without its machinery.
 *
 * Why       a query of ten words wants every row of each and how often each column has it; through MATCH a row costs a
 *           microsecond, here some ten nanoseconds. Phrases stay with MATCH
 * Pages     as SQLite's fts5_index.c describes them: the structure record (id 10) names the segments, fts_idx the page
 *           where a word may begin; a leaf has words with shared prefixes, each followed by its rows (difference to the
 *           row before, bytes of the positions, positions), and behind them where each word begins. A newer segment's
 *           row hides an older one's; without positions it is a deletion
 * Reads     inside the caller's transaction, of a connection that has no unwritten words of its own; `fts` is the
 *           table's name
 * Damage    every number is checked against its page: MYTH_EFORMAT
 * Versions  pages are read when the table says that it has version 4 of FTS5's format, the only one that is known here.
 *           Of another one the totals and lengths are given, and words are the business of MATCH
 * Threads   one at a time per connection */
#ifndef MYTH_POSTINGS_H
#define MYTH_POSTINGS_H

#include "engine/base/mem.h"
#include "fts_tokenizer.h"

typedef struct myth_postings myth_postings;

enum { MYTH_SEGMENT_MAX = 256 }; /* FTS5 merges long before */

typedef struct {
    uint32_t row;                      /* id                                  */
    uint16_t count[MYTH_FTS_COLUMN_N]; /* of the word in the row's columns    */
} myth_posting;

typedef struct {
    int64_t n_row;                      /* of the table                        */
    int64_t n_words[MYTH_FTS_COLUMN_N]; /* in all rows together                */
} myth_postings_total;

/* *out is closed before the connection is. */
myth_status myth_postings_open(myth_postings **out, myth_mem *mem, sqlite3 *db, myth_error *err);
void myth_postings_close(myth_postings *p); /* takes NULL */
const myth_postings_total *myth_postings_total_of(const myth_postings *p);
/* False: its pages have another form. Then nothing below but myth_postings_length may be called. */
bool myth_postings_has_pages(const myth_postings *p);

/* Where the rows of a word begin, in the segments that have it; valid while p is open. */
typedef struct {
    uint32_t first, n_start;
} myth_postings_word;

/* The word as it stands in the index (myth_fts_token). n_start 0: it is nowhere. */
myth_status myth_postings_find(myth_postings *p, const char *token, size_t n, myth_postings_word *word,
                               myth_error *err);
/* How many rows have it. */
myth_status myth_postings_count(myth_postings *p, const myth_postings_word *word, int64_t *n_row, myth_error *err);
/* Calls on_row for every row in order of their ids. */
myth_status myth_postings_walk(myth_postings *p, const myth_postings_word *word,
                               myth_status (*on_row)(void *arg, const myth_posting *row), void *arg, myth_error *err);
/* Calls on_token for every word of the index that begins so, segment by segment: one that is in several comes several
 * times, a deleted one may. */
myth_status myth_postings_tokens(myth_postings *p, const char *prefix, size_t n,
                                 void (*on_token)(void *arg, const char *token, size_t n), void *arg, myth_error *err);
/* Words in all columns of a row together. */
myth_status myth_postings_length(myth_postings *p, uint32_t row, uint32_t *n_words, myth_error *err);

#endif
