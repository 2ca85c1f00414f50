/* search.h - ranked search over an index or a corpus: words to chunks and files, with every part of every score.
 *
 * Query     analysed into words, identifiers, phrases and kind (query.h); very frequent words are dropped from long
 *           ones
 * Score     BM25F over path, names, body (match.h), then the rules of rank.h. Weights come from
 *           retrieval/rank/weights.def; ablations are in bench/results/search_cosqa_dev.csv
 * Modes     ranked: all of that. phrase: only chunks that have all the quoted phrases, or the whole query as one.
 *           symbol: definitions of exactly that name, of several by the same score. auto: what the query is: phrase
 *           when it is all in quotes, else ranked
 * Vectors   given with the query's own, their nearest chunks are candidates too, and a chunk's match is words and
 *           nearness (fuse.h); of phrases and definitions they say nothing
 * Parts     of a hit, in this order: path, names, body and, with vectors, semantic (they add up to its chunk's match),
 *           file_sum, symbol, kind, share, decay: score = (file_sum + symbol) * kind * share * decay
 * Order     score, then path, then line: the same everywhere
 * Errors    MYTH_EARG a query without a word, or weights that are not                                          */
#ifndef MYTH_SEARCH_H
#define MYTH_SEARCH_H

#include "match.h"
#include "retrieval/vectors/vectors.h"

enum { MYTH_SCORE_PART_N = 12 };

typedef enum { MYTH_SEARCH_AUTO, MYTH_SEARCH_PHRASE, MYTH_SEARCH_SYMBOL, MYTH_SEARCH_RANKED } myth_search_mode;

typedef struct {
    const char *name;
    double value;
} myth_score_part;

typedef struct {
    const char *path, *symbol, *text; /* symbol may be "" */
    uint64_t n_text;
    uint32_t line0, line1;
    myth_chunk_kind kind;
    int64_t chunk_id, file_id;
    double score;
    uint32_t file_kinds; /* bits, 1 << myth_file_kind     */
    uint64_t groups;     /* of the query's terms that are in the chunk: myth_hits.weight */
    myth_score_part part[MYTH_SCORE_PART_N];
    uint32_t n_part;
} myth_hit;

typedef struct {
    const char *query;
    uint64_t n_query; /* bytes; 0 = up to the zero    */
    myth_search_mode mode;
    uint32_t k;   /* hits wanted                  */
    bool by_file; /* best chunk of each file only */
    bool with_text;
    const char *weights; /* "name=value,..." over the defaults, for ablations; NULL */
    /* Whether hits of a file are wanted, asked once for a candidate; NULL = of all. Many more candidates are then
     * taken, so that those of the wanted files are among them. */
    bool (*wants_file)(void *user, const char *path);
    void *user;
    const myth_vectors *vectors; /* of this index, and the query's vector; NULL = words alone */
    const float *query_vector;
} myth_search_opts;

typedef struct {
    myth_hit *hit;
    uint32_t n_hit;
    const char *query_kind;
    myth_mem *mem;
    uint32_t n_term, n_dropped;       /* groups of terms asked, and dropped as saying little */
    uint64_t n_seen;                  /* chunks with one of them                              */
    double weight[MYTH_MATCH_GROUPS]; /* of the groups of terms, the weightiest first; 0 = no more */
    uint32_t n_near, n_without;       /* candidates that vectors brought; candidates without one */
} myth_hits;

/* MYTH_EARG weights that are not. */
myth_status myth_search_check(const myth_search_opts *opts, myth_error *err);
/* Whether vectors would count for this query: not for names, phrases and weights of 0. */
bool myth_search_wants_vectors(const myth_search_opts *opts, myth_mem *mem);
myth_status myth_search(myth_hits *out, myth_index *x, const myth_search_opts *opts, myth_error *err);
void myth_hits_free(myth_hits *hits); /* before the index is closed */

#endif
