/* match.h - a query against an FTS5 table of path, names and body: the best rows, and what each column did for them.
 *
 * Score     BM25F: per term the weighted sum of its count in the columns, saturated once, times idf; over the terms of
 *           a group the best, over the groups the sum. idf = log(1 + (N - df + 1/2) / (df + 1/2)): above 0 also for
 *           what is in most rows
 * Rows      those with one of the weightiest terms, as many terms as have `rows` rows together; what is in half of
 *           everything adds to the score of these rows and brings none of its own. Read a term at a time (postings.h),
 *           which gives its df too; phrases by MATCH
 * Title     the terms of a report's first line are raised to a share of all weights (idf and place in the text
 *           included)
 * Mended    a term of code that is in no row stands for the nearest word that is in some (mend.h)
 * Dropped   terms of no row, alternatives in more than alt_df of the rows, groups beyond max_groups
 * Order     score, then row id: the same everywhere
 * Threads   one call at a time per connection */
#ifndef MYTH_MATCH_H
#define MYTH_MATCH_H

#include "retrieval/store/fts_tokenizer.h"
#include "query.h"

#include <sqlite3.h>

enum { MYTH_MATCH_GROUPS = 64 };

typedef struct {
    int64_t id; /* row of the table                              */
    double score;
    double column[MYTH_FTS_COLUMN_N]; /* parts of the score                            */
    uint32_t n_group;                 /* groups of the query that are in the row       */
    uint64_t groups;                  /* which of the MYTH_MATCH_GROUPS weightiest, as bits: myth_matches.weight */
} myth_match_row;

typedef struct {
    myth_match_row *row;                /* best first                                    */
    uint32_t n_row, n_group, n_dropped; /* groups asked and dropped                      */
    uint64_t n_seen;                    /* rows with one of the terms                    */
    double weight[MYTH_MATCH_GROUPS];   /* of groups, the weightiest first: idf and place in the query; 0 = no more */
} myth_matches;

/* Makes the scoring function known to a connection that has the tokenizer (myth_fts_register). What the connection
 * keeps for later queries, up to 64 MiB of it, is booked in mem until it is closed. */
myth_status myth_match_register(sqlite3 *db, myth_mem *mem, myth_error *err);
/* The max best rows of table `fts`. only_phrases: rows that have all the phrases of the query, or the whole of it as
 * one. */
myth_status myth_match(myth_matches *out, sqlite3 *db, const myth_query *q, const myth_weights_search *w, uint32_t max,
                       bool only_phrases, myth_error *err);
void myth_matches_free(myth_matches *m, const myth_query *q);

#endif
