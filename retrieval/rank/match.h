/* match.h - finds the best rows for a query in an FTS5 table of path, names and body, and the score of each column.
 *
 * Score     BM25F: for each term the weighted sum of its counts in the columns, saturated once, times its idf; the
 *           best term of each group; the sum over groups. idf = log(1 + (N - df + 1/2) / (df + 1/2)) is above 0
 *           even for a term that most rows have
 * Rows      the groups are asked by weight, the heaviest first. Their rows are candidates until no row that has only
 *           the groups behind can be among the best, so the answer is that of scoring every row; `rows` of terms are
 *           the most, for an index so large that this takes too long. What comes later only adds to candidates. Terms
 *           are read one at a time (postings.h), which also gives their df; phrases by MATCH
 * Title     the terms of a report's first line are raised to a fixed share of all weights (idf and place included)
 * Mended    a term of code that no row has stands for the nearest word that some row has (mend.h)
 * Dropped   terms that no row has, alternatives that more than alt_df of the rows have, and groups beyond
 *           max_groups
 * Order     score, then row id, so it is the same on every machine
 * Owner     the caller frees the matches
 * Threads   one call at a time per connection
 * Errors    MYTH_EFORMAT a damaged index; MYTH_EUNSUPPORTED this SQLite has no FTS5; MYTH_ENOMEM */
#ifndef MYTH_MATCH_H
#define MYTH_MATCH_H

#include "retrieval/store/fts_tokenizer.h"
#include "query.h"

#include <sqlite3.h>

struct myth_row_filter; /* row_filter.h */

enum { MYTH_MATCH_GROUPS = 64 };

typedef struct {
    int64_t id; /* id of the row */
    double score;
    double column[MYTH_FTS_COLUMN_N]; /* the columns' parts of the score */
    uint32_t n_group;                 /* number of the query's groups that the row has */
    /* which of the MYTH_MATCH_GROUPS heaviest groups the row has, as bits in the order of myth_matches.weight */
    uint64_t groups;
} myth_match_row;

typedef struct {
    myth_match_row *row;                /* rows, best first */
    uint32_t n_row, n_group, n_dropped; /* groups that were searched, and that were dropped */
    uint64_t n_seen;                    /* number of candidates */
    /* weights of groups, the heaviest first (idf times weight in the query); 0 = no more */
    double weight[MYTH_MATCH_GROUPS];
    double group_weight[MYTH_QUERY_TERMS]; /* the same by the query's own groups; 0 = dropped */
} myth_matches;

/* Registers the scoring function on a connection that has the tokenizer (myth_fts_register). What the connection
 * caches for later queries, up to 64 MiB, is booked in mem until it is closed. */
myth_status myth_match_register(sqlite3 *db, myth_mem *mem, myth_error *err);
/* Finds the `max` best rows of table `fts`. only_phrases: only rows that have all phrases of the query, or the whole
 * query as one phrase. only: these chunks alone, of which every one with a term of the query is a candidate, however
 * frequent the term; NULL = all. */
myth_status myth_match(myth_matches *out, sqlite3 *db, const myth_query *q, const myth_weights_search *w, uint32_t max,
                       bool only_phrases, const struct myth_row_filter *only, myth_error *err);
void myth_matches_free(myth_matches *m, const myth_query *q);

#endif
