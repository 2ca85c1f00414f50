/* rank.h - from rows with a BM25F score to the list a reader gets. Pure arithmetic over what the caller collected; no
 * database.
 *
 * File      sum     its best four chunks: s0 + s1/2 + s2/4 + s3/8
 *           symbol  a name of the query is defined in the file: weight * best sum of all / number of files that define
 *                   the name; nothing when more than eight non-test files do. Tests never get it
 *           kind    factor for tests, examples, vendored, generated, documents, data, legacy; the smallest that
 *                   applies; 1 when the query asks for them
 *           score   (sum + symbol) * kind
 * Chunk     share   its match, with its own symbol bonus, over that of the file's best
 *           decay   1/2 to the number of the file's chunks before it
 *           score   file score * share * decay
 * Copies    of chunks with the same content the best stays, of files likewise: the kind factor lets the original win
 *           over a vendored copy, else the order does. In a list of files only equal files are one
 * Quota     in a list of at least test_quota hits the last place is a test's when none came in by itself
 * Order     score, path, line, id */
#ifndef MYTH_RANK_H
#define MYTH_RANK_H

#include "query.h"
#include "retrieval/scan/kinds.h"

typedef struct {
    const char *path;
    uint32_t kinds;                  /* bits, 1 << myth_file_kind                                   */
    uint64_t content;                /* hash of the content; 0 = not known                          */
    double symbol_share;             /* sum over names defined here of 1 / number of files that do  */
    double sum, symbol, kind, score; /* set by myth_rank            */
} myth_rank_file;

typedef struct {
    int64_t id;
    uint32_t file; /* index                                                       */
    uint32_t line;
    uint64_t content;
    double match;               /* BM25F; 0 for a chunk that is here only for what it defines  */
    double semantic;            /* of it, what nearness gave: fuse.h                           */
    double symbol_share;        /* as the file's, of names defined in this chunk               */
    double share, decay, score; /* set by myth_rank            */
} myth_rank_chunk;

/* Writes to `order` (room for n_chunk) the indexes of at most k chunks, best first. by_file: the best chunk of each
 * file. Fails only for memory. */
myth_status myth_rank(uint32_t *order, uint32_t *n_order, myth_rank_file *file, uint32_t n_file, myth_rank_chunk *chunk,
                      uint32_t n_chunk, const myth_query *q, const myth_weights_search *w, uint32_t k, bool by_file,
                      myth_error *err);

#endif
