/* rank.h - orders chunks with BM25F scores into the list that a reader gets. Pure arithmetic, without a database.
 *
 * File      sum     its four best chunks: s0 + s1/2 + s2/4 + s3/8
 *           symbol  the file defines a name of the query: weight * best sum of all files / number of files that
 *           define the
 *                   name. None for tests, and none when more than eight files that are not tests define it
 *           stem    for questions: weight * best sum of all files * stem_share; for reports the same with scope and
 *                   scope_share. None for tests
 *           kind    factor for tests, examples, vendored, documents, data, legacy; the smallest that
 *                   applies, or 1 when the query asks for that kind
 *           score   (sum + symbol + stem) * kind
 * Chunk     share   its match, with its own symbol bonus, divided by that of the file's best chunk
 *           decay   1/2 to the power of the number of chunks of the file that come before it
 *           score   file score * share * decay
 * Copies    of chunks with equal content only the best stays, and of equal files too (search.h lists the others). The
 *           kind factor makes the original win over a vendored copy, else the order decides. In a list of files
 *           only copies of whole files are removed
 * Quota     in a list of at least test_quota hits without a test, the last place goes to the best test
 * Order     score, path, line, id
 * Owner     the caller's arrays are sorted in place; nothing is kept
 * Threads   any
 * Errors    MYTH_ENOMEM */
#ifndef MYTH_RANK_H
#define MYTH_RANK_H

#include "query.h"
#include "retrieval/scan/kinds.h"

typedef struct {
    const char *path;
    uint32_t kinds;      /* bits 1 << myth_file_kind */
    uint64_t content;    /* hash of the content; 0 = unknown */
    double symbol_share; /* sum over the query's names defined here: 1 / number of files that define the name */
    double stem_share;   /* how much of the question its name repeats (stem.h) */
    double scope_share;  /* how much of a report's scope its name repeats (stem.h) */
    double sum, symbol, stem, kind, score; /* set by myth_rank      */
} myth_rank_file;

typedef struct {
    int64_t id;
    uint32_t file; /* index                                                       */
    uint32_t line;
    uint64_t content;
    double match;               /* BM25F; 0 for a chunk that is a candidate only by its definition or its vector */
    double semantic;            /* the part of `match` that comes from nearness (fuse.h) */
    double symbol_share;        /* as the file's, for names defined in this chunk */
    double share, decay, score; /* set by myth_rank            */
} myth_rank_chunk;

/* Writes the indexes of at most k chunks to `order` (room for n_chunk), best first. by_file: only the best chunk of
 * each file. The only error is MYTH_ENOMEM. */
myth_status myth_rank(uint32_t *order, uint32_t *n_order, myth_rank_file *file, uint32_t n_file, myth_rank_chunk *chunk,
                      uint32_t n_chunk, const myth_query *q, const myth_weights_search *w, uint32_t k, bool by_file,
                      myth_error *err);

#endif
