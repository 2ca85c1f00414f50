/* filegraph.h - which file leads to which, and how much of the tree leads to each.
 *
 * Nodes    the files of an index, in order of their paths
 * Links    file A uses a name that is defined and exported in n other files and not in A: one link of weight sqrt(uses)
 *          / n to each; nothing when n is more than MYTH_DEFINERS_MAX. When A imports some of them, only those count.
 *          An import is a link of weight 1 / files that it means
 * Rank     PageRank: damping 0.85, MYTH_RANK_ROUNDS rounds from the start, sums in the order of the files, so that the
 *          same tree has the same bits whatever was indexed before. A file without links leads everywhere
 * Places   source files first, then tests, examples, vendored, generated, documents and data; each by rank, ties by
 *          path
 * Tests    of a file: test files that link to it, or whose name is its name and a word for test; those with the name
 *          first, then by the share of their links
 * Stored   links(file_id, data)  per link: target's id, symbol's place in its file + 1 (0 = import), uses, n, as
 *          numbers of
 *                                                  buffer.h behind their count
 *          ranks(place, file_id, rank, data)  data: count, then per symbol that others use its place in the file and
 *          the share of the file's
 *                                                  rank that comes through it, of 65,535; count, then the ids of its
 *                                                  tests
 * Source   Page, Brin et al., The PageRank citation ranking (1998) */
#ifndef MYTH_FILEGRAPH_H
#define MYTH_FILEGRAPH_H

#include "engine/base/cancel.h"
#include "retrieval/store/store.h"

enum { MYTH_DEFINERS_MAX = 8, MYTH_RANK_ROUNDS = 40, MYTH_TESTS_MAX = 8, MYTH_SHARE_ONE = 65535 };

typedef struct {
    uint32_t target; /* index of the file                     */
    uint32_t symbol; /* place in the file + 1, 0 = an import  */
    uint32_t n_use, n_definer;
} myth_link;

typedef struct {
    int64_t id;
    const char *path, *language;
    uint32_t flags, kinds; /* as the store has them; as myth_file_kinds     */
    uint32_t first_link;   /* of the file; the next one's is its end        */
    double rank;
} myth_node;

typedef struct {
    myth_mem *mem;
    myth_node *node; /* n_node + 1: the last ends the links           */
    myth_link *link;
    uint32_t *place; /* indexes of nodes, first place first           */
    char *names;     /* what the nodes' strings stand in              */
    uint32_t n_node, n_link, cap_link;
} myth_filegraph;

/* Nodes and links, from what the index says of the files. MYTH_ECANCEL. */
myth_status myth_filegraph_make(myth_filegraph *out, myth_mem *mem, myth_store *s, const myth_cancel *is_cancelled,
                                myth_error *err);
/* Nodes and links as they are stored. */
myth_status myth_filegraph_load(myth_filegraph *out, myth_mem *mem, myth_store *s, myth_error *err);
void myth_filegraph_close(myth_filegraph *g); /* takes a zeroed one */

/* Ranks and places. `start` has a weight per node, where a walk begins; NULL = anywhere. */
myth_status myth_filegraph_rank(myth_filegraph *g, const double *start, myth_error *err);

/* Of kinds as myth_file_kinds: 0 source, 1 tests, examples, vendored, generated, 2 documents and data. */
int myth_filegraph_tier(uint32_t kinds);

/* Into the tables links and ranks, whatever they are in: of `links` only when asked. */
myth_status myth_filegraph_save(const myth_filegraph *g, myth_store *s, bool with_links, myth_error *err);

#endif
