/* postings.h - the rows that have a word, read directly from the pages of the full-text index: the result of a
 * MATCH for one word, at a fraction of its cost.
 *
 * Why       a query of ten words needs every row of each word and the word's count in each column. Through MATCH a
 *           row costs a microsecond, here some ten nanoseconds. Phrases are still asked by MATCH
 * Pages     are laid out as SQLite's fts5_index.c describes. The structure record (id 10) lists the segments;
 *           fts_idx gives the page where a word may begin. A leaf page holds words with shared prefixes. Each is
 *           followed by its rows: the difference to the row before, the size of the positions, the positions. At
 *           the page's end are the offsets of its words. A row in a newer segment hides the same row in older ones;
 *           without positions it is a deletion
 * Reads     run inside the caller's transaction, on a connection without unwritten words of its own, from the table
 *           `fts`
 * Versions  pages are read only if the table says version 4 of FTS5's format, the only one known here. For any
 *           other one the totals and lengths still work, and words must be asked by MATCH
 * Owner     the caller closes *out before it closes the connection
 * Threads   one at a time per connection
 * Errors    MYTH_EFORMAT a number does not fit its page: the index is damaged; MYTH_ENOMEM
 * Source    SQLite, ext/fts5/fts5_index.c */
#ifndef MYTH_POSTINGS_H
#define MYTH_POSTINGS_H

#include "engine/base/mem.h"
#include "fts_tokenizer.h"

typedef struct myth_postings myth_postings;

enum { MYTH_SEGMENT_MAX = 256 }; /* most segments that are read; FTS5 merges long before that */

typedef struct {
    uint32_t row;                      /* id                                  */
    uint16_t count[MYTH_FTS_COLUMN_N]; /* how often each column of the row has the word */
} myth_posting;

typedef struct {
    int64_t n_row;                      /* rows of the table */
    int64_t n_words[MYTH_FTS_COLUMN_N]; /* in all rows together                */
} myth_postings_total;

myth_status myth_postings_open(myth_postings **out, myth_mem *mem, sqlite3 *db, myth_error *err);
void myth_postings_close(myth_postings *p); /* takes NULL */
const myth_postings_total *myth_postings_total_of(const myth_postings *p);
/* False: the pages have another version's format. Then only myth_postings_length may be called. */
bool myth_postings_has_pages(const myth_postings *p);

/* Where a word's rows begin, in each segment that has it; valid while p is open. */
typedef struct {
    uint32_t first, n_start;
} myth_postings_word;

/* Finds a word in the form that is indexed (myth_fts_token). n_start 0: no row has it. */
myth_status myth_postings_find(myth_postings *p, const char *token, size_t n, myth_postings_word *word,
                               myth_error *err);
/* Counts the rows that have the word. */
myth_status myth_postings_count(myth_postings *p, const myth_postings_word *word, int64_t *n_row, myth_error *err);
/* Calls on_row for every row in order of their ids. */
myth_status myth_postings_walk(myth_postings *p, const myth_postings_word *word,
                               myth_status (*on_row)(void *arg, const myth_posting *row), void *arg, myth_error *err);
/* Calls on_token for every indexed word with the prefix, segment by segment. A word in several segments comes
 * several times, and a word whose rows were all deleted may come too. */
myth_status myth_postings_tokens(myth_postings *p, const char *prefix, size_t n,
                                 void (*on_token)(void *arg, const char *token, size_t n), void *arg, myth_error *err);
/* The number of words in all columns of a row. */
myth_status myth_postings_length(myth_postings *p, uint32_t row, uint32_t *n_words, myth_error *err);

#endif
