/* search.h - ranked search over an index: from a query to chunks or files, with every part of each score.
 *
 * Query     is split into words, names and phrases, and its kind is determined (query.h). Very frequent words are
 *           dropped from long queries
 * Score     BM25F over path, names and body (match.h), then the rules of rank.h. Weights are in
 *           retrieval/rank/weights.def; ablations in bench/results/search_cosqa_dev.csv
 * Modes     ranked: as above. phrase: only chunks that have all quoted phrases, or the whole query as one phrase.
 *           symbol: definitions of exactly this name, ranked the same way if there are several. auto: phrase if the
 *           whole query is in quotes, else ranked
 * Vectors   if given, with the query's vector, the nearest chunks become candidates too, and a chunk's match
 *           combines words and nearness (fuse.h). They are not used for phrases and symbols
 * Parts     of a hit's score, in this order: path, names, body and, with vectors, semantic (these add up to its
 *           chunk's match); file_sum, symbol, stem, kind, share, decay. score = (file_sum + symbol + stem) * kind *
 *           share * decay
 * Kinds     of a file come from its path, and two from what the candidates show: a file of which most candidates are
 *           tests is a test, and one that has a newer version of it among them (kinds.h) is legacy, unless the query
 *           names its version
 * Focus     a hit is a chunk. Which definition inside of it is meant is found after the ranking and changes nothing
 *           of it
 * Order     score, then path, then line, so it is the same on every machine
 * Owner     the hits own their strings; free them before the index is closed
 * Threads   one search at a time per index
 * Errors    MYTH_EARG a query without a word, or invalid weights; MYTH_EFORMAT a damaged index; MYTH_ENOMEM */
#ifndef MYTH_SEARCH_H
#define MYTH_SEARCH_H

#include "focus.h"
#include "match.h"
#include "retrieval/vectors/vectors.h"

enum { MYTH_SCORE_PART_N = 12, MYTH_HIT_COPIES = 16 };

typedef enum { MYTH_SEARCH_AUTO, MYTH_SEARCH_PHRASE, MYTH_SEARCH_SYMBOL, MYTH_SEARCH_RANKED } myth_search_mode;

typedef struct {
    const char *name;
    double value;
} myth_score_part;

/* Where the same text is, too. */
typedef struct {
    const char *path;
    uint32_t line0, line1;
} myth_hit_copy;

typedef struct {
    const char *path, *symbol, *text; /* symbol: the first definition of the chunk, "" = none */
    /* The definition inside the chunk that matches best (focus.h), "" = none, and its kind in a word; without a
     * definition, or without with_text, those of the chunk. */
    const char *name, *parent, *kind_name;
    uint32_t match[MYTH_FOCUS_LINES], n_match; /* the lines that match best; none without with_text */
    uint64_t n_text;
    uint32_t line0, line1;
    myth_chunk_kind kind;
    int64_t chunk_id, file_id;
    double score;
    uint32_t file_kinds; /* bits 1 << myth_file_kind */
    uint64_t groups;     /* groups of terms that the chunk has, as bits in the order of myth_hits.weight */
    myth_score_part part[MYTH_SCORE_PART_N];
    uint32_t n_part;
    /* other candidates with equal text, which are no hits of their own; by_file: other files with equal content */
    myth_hit_copy *copy; /* [n_copy], at most MYTH_HIT_COPIES */
    uint32_t n_copy, n_more_copies;
} myth_hit;

typedef struct {
    const char *query;
    uint64_t n_query; /* bytes; 0 = zero-terminated */
    myth_search_mode mode;
    uint32_t k;   /* most hits */
    bool by_file; /* only the best chunk of each file */
    bool with_text;
    bool narrow;         /* with_text: lines and text of a hit are those of its definition, not those of the chunk */
    const char *weights; /* "name=value,..." replaces default weights, for ablations; NULL = defaults */
    /* Whether hits in a file are wanted; called once for each file of the index. NULL = in all. The candidates are
     * chosen from the wanted files alone, so the hits are the same as if the index had no others, but for how rare
     * each word is. */
    bool (*wants_file)(void *user, const char *path);
    void *user;
    const myth_vectors *vectors; /* vectors of this index, and the query's vector; NULL = rank by words alone */
    const float *query_vector;
} myth_search_opts;

typedef struct {
    myth_hit *hit;
    uint32_t n_hit;
    const char *query_kind;
    myth_mem *mem;
    uint32_t n_term, n_dropped;       /* groups of terms that were searched, and that were dropped */
    uint64_t n_seen;                  /* chunks that were candidates */
    double weight[MYTH_MATCH_GROUPS]; /* weights of the groups, the heaviest first; 0 = no more */
    uint32_t n_near, n_without;       /* candidates found by vectors; candidates that have no vector */
} myth_hits;

/* Checks the options. MYTH_EARG: invalid weights. */
myth_status myth_search_check(const myth_search_opts *opts, myth_error *err);
/* Whether vectors are used for this query: not for names, phrases, or weights of 0. */
bool myth_search_wants_vectors(const myth_search_opts *opts, myth_mem *mem);
myth_status myth_search(myth_hits *out, myth_index *x, const myth_search_opts *opts, myth_error *err);
void myth_hits_free(myth_hits *hits); /* before the index is closed */

#endif
