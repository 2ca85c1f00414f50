/* search.h - ranked search over an index or a corpus: words to chunks and files, with every part of every score.
 *
 * Query     analysed into words, identifiers, phrases and kind (symbol, phrase, prose, issue text); very frequent words are dropped from long ones
 * Score     BM25F over path, names, body (FTS5's bm25 with column weights), then rules: sum of a file's best four chunks (1, 1/2, 1/4, 1/8),
 *           symbol equality, penalties for tests, examples, vendored and generated code, a quota for tests, decay of further chunks of a
 *           file. Weights come from retrieval/weights.def; each rule has an ablation row in bench/results
 * Order     score, then path, then line: the same everywhere
 * Errors    MYTH_EARG an empty query                                                                                            */
#ifndef MYTH_SEARCH_H
#define MYTH_SEARCH_H

#include "index.h"

enum { MYTH_SCORE_PART_N = 12 };

typedef struct {
    const char *name;
    double value;
} myth_score_part;

typedef struct {
    const char *path, *symbol, *text;           /* symbol may be "" */
    uint64_t n_text;
    uint32_t line0, line1;
    myth_chunk_kind kind;
    int64_t chunk_id, file_id;
    double score;
    myth_score_part part[MYTH_SCORE_PART_N];
    uint32_t n_part;
} myth_hit;

typedef struct {
    const char *query;
    uint32_t k;                 /* hits wanted                  */
    bool by_file;               /* best chunk of each file only */
    bool with_text;
    const char *weights;        /* "name=value,..." over the defaults, for ablations; NULL */
} myth_search_opts;

typedef struct {
    myth_hit *hit;
    uint32_t n_hit;
    const char *query_kind;
} myth_hits;

myth_status myth_search(myth_hits *out, myth_index *x, const myth_search_opts *opts, myth_error *err);
void myth_hits_free(myth_hits *hits, myth_index *x);

#endif
