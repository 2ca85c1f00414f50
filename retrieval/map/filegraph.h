/* filegraph.h - links between the files of an index, and a rank for each file by what links to it.
 *
 * Nodes    the files of an index, sorted by path
 * Links    if file A uses a name that n other places define and export, and A does not define it, A gets a link to
 *          each of the n, of weight sqrt(uses) / n. There is none when n exceeds MYTH_DEFINERS_MAX. If A imports
 *          some of the n files, only those count. An import is a link of weight 1 / number of files that it means
 * Types    a plain name of a type's member (push, len, get) may be a member of any type, so it counts only where A
 *          names the type too. Plain is a name of one word that is not in capitals, and a name that more than three
 *          places define
 * Entries  a package's entry (index.ts, lib.rs, __init__.py) leads to each definition that it gives on (given.h), also
 *          through other files. Where several files define a name and the user imports none of them, those that an
 *          entry gives on count alone: of versions of a package beside each other, the one that strangers get
 * Texts    documents use the names that they show as code; a header uses the functions that it declares (mentions.h)
 * Rank     PageRank after MYTH_RANK_ROUNDS rounds. Sums are in the order of the files, so equal
 *          trees get equal bits whatever was indexed before. A file without links leads to every file
 * Places   source files first; then tests, examples, vendored and generated files; then documents and data. Within
 *          these by the rank that comes through one symbol, where that is most (and a little of the whole rank), then
 *          by path
 * Tests    of a file are the test files that link to it or are named after it, those named after it first, then by
 *          the share of their links
 * Stored   links(file_id, data): the number of links, then for each the target's id, the symbol's place in its file
 *          + 1 (0 = import), uses, and 2 n + is_given, as numbers of buffer.h ranks(place, file_id, rank, data):
 *          data has 2 count + has_entry, then for each symbol that others use its place in the file and 2 s +
 *          is_given, where s is the share of the file's rank that comes through it, in units of 1 / 65,535; a count,
 *          then the ids of the tests
 * Owner    the caller closes the graph
 * Threads  one at a time per graph
 * Errors   MYTH_EFORMAT a damaged index; MYTH_ECANCEL; MYTH_ENOMEM
 * Source   Page, Brin et al., The PageRank citation ranking (1998) */
#ifndef MYTH_FILEGRAPH_H
#define MYTH_FILEGRAPH_H

#include "engine/base/cancel.h"
#include "retrieval/store/store.h"

/* The share of a file's rank that a symbol has at least: what nobody uses has a place, too. */
#define MYTH_SHARE_UNUSED 0.02

enum { MYTH_DEFINERS_MAX = 8, MYTH_RANK_ROUNDS = 40, MYTH_TESTS_MAX = 8, MYTH_SHARE_ONE = 65535 };

typedef struct {
    uint32_t target; /* index of the file that it leads to */
    uint32_t symbol; /* place in the file + 1, 0 = an import  */
    uint32_t n_use, n_definer;
    bool is_given; /* from a package's entry to what it gives on */
} myth_link;

typedef struct {
    int64_t id;
    const char *path, *language;
    uint32_t flags, kinds; /* flags as in the store; kinds as in myth_file_kinds */
    uint32_t first_link;   /* first link of the file; its links end where the next file's begin */
    double rank;
    bool has_entry; /* of its package: an entry that gives something is in a folder around the file */
    bool gives;     /* a package's entry that gives on what other files define; false when the graph is loaded */
} myth_node;

typedef struct {
    uint32_t symbol; /* place in its file */
    bool is_given;   /* by a package's entry */
    double share;    /* of its file's rank that comes through it */
} myth_flow;

typedef struct {
    myth_mem *mem;
    myth_node *node; /* n_node + 1 rows: the last one marks the end of the links */
    myth_link *link;
    uint32_t *place; /* indexes of nodes, by place */
    char *names;     /* memory of the nodes' strings */
    uint32_t n_node, n_link, cap_link;
    double damping;               /* of the last rank */
    myth_flow *flow;              /* of the last rank, by file and symbol */
    uint32_t *first_flow, n_flow; /* first_flow: for each node, and the end */
} myth_filegraph;

/* Makes nodes and links from the index. MYTH_ECANCEL when it is stopped. */
myth_status myth_filegraph_make(myth_filegraph *out, myth_mem *mem, myth_store *s, const myth_cancel *is_cancelled,
                                myth_error *err);
/* Reads the stored nodes and links. */
myth_status myth_filegraph_load(myth_filegraph *out, myth_mem *mem, myth_store *s, myth_error *err);
void myth_filegraph_close(myth_filegraph *g); /* takes a zeroed one */

/* How likely a walk goes on at each file: it stays near where it begins. */
#define MYTH_DAMPING_MAP 0.5

/* Computes ranks and places. `start` has a weight per node for the beginning of a random walk; NULL = all equal. */
myth_status myth_filegraph_rank(myth_filegraph *g, const double *start, double damping, myth_error *err);

/* What a query says of one file. */
typedef struct {
    int64_t id;
    uint32_t symbol; /* the definition that answers, its place in its file + 1; 0 = none */
    double weight;   /* above 0 */
} myth_asked;

/* Ranks and places for a query: by how much more often a walk that begins at what answers it comes to a file than the
 * walk of the map without a query, whose ranks are in the table. So what everything uses is not what answers every
 * query. Sorts asked[n]. */
myth_status myth_filegraph_rank_for(myth_filegraph *g, myth_store *s, myth_asked *asked, size_t n, myth_error *err);

/* Weights for the beginning of the walk of a map without a query; the caller frees them. NULL: no memory. */
double *myth_filegraph_starts(const myth_filegraph *g, myth_error *err);

/* The number that stands for a name. */
uint64_t myth_filegraph_name(const char *name, size_t n);

/* The kinds of a file for a map: benchmarks, scripts and tools are examples too, and a language of data
 * makes data. flags as in the store. */
uint32_t myth_filegraph_kinds(const char *path, const char *language, uint32_t flags);
/* Whether its symbols are definitions that code uses: headings of documents and keys of data are not. */
bool myth_filegraph_is_code(uint32_t kinds);

/* The group of a file in the order of places: 0 source; 1 tests, examples, vendored, generated; 2 documents and
 * data. */
int myth_filegraph_tier(uint32_t kinds);

/* Writes the tables ranks and, if with_links, links. The caller has begun a transaction or made temporary tables of
 * these names. */
myth_status myth_filegraph_save(const myth_filegraph *g, myth_store *s, bool with_links, myth_error *err);

#endif
