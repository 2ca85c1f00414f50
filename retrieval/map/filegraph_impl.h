/* filegraph_impl.h - inside filegraph: nodes and links, the weight of a link, flows, and pairs of a file and its test.
 */
#ifndef MYTH_FILEGRAPH_IMPL_H
#define MYTH_FILEGRAPH_IMPL_H

#include "filegraph.h"
#include "retrieval/names/resolve.h"
#include "retrieval/scan/kinds.h"

#include <math.h>

static inline double myth_filegraph_weight_of(const myth_link *l)
{
    return sqrt((double)l->n_use) / (double)l->n_definer;
}

myth_status myth_filegraph_no_memory(myth_error *err);
myth_status myth_filegraph_load_nodes(myth_filegraph *g, myth_store *s, myth_error *err);
bool myth_filegraph_add_link(myth_filegraph *g, myth_link link); /* false: no memory */

typedef struct {
    int64_t id;
    uint32_t node;
} myth_id_row;

/* Indexes of the nodes sorted by id; the caller frees them. NULL: no memory. */
myth_id_row *myth_filegraph_sort_ids(const myth_filegraph *g);
const myth_id_row *myth_filegraph_find_id(const myth_id_row *row, uint32_t n, int64_t id);

/* ---- definitions ---- */

typedef struct {
    uint64_t name, parent; /* parent: of the type around it, 0 = none */
    uint32_t node, symbol;
    bool is_exported, is_plain, is_given; /* is_given: an entry gives it on (myth_given_list) */
} myth_definition;

typedef struct {
    myth_mem *mem;
    myth_definition *row; /* by name, node, parent, exported before not, symbol */
    size_t n, cap;
    uint32_t *slot, n_slot; /* hash table: first row of a name + 1 */
} myth_definitions;

/* The slot of a name: its first row + 1, 0 = none. */
uint32_t *myth_filegraph_find_definition(const myth_definitions *d, uint64_t name);

/* What the entries of packages give on, as rows of the definitions. An entry is a file that stands for its folder
 * (index.ts, lib.rs, __init__.py), such that none stands for a folder around it in the same package. */
typedef struct {
    myth_mem *mem;
    uint32_t *row;
    size_t *first; /* for each node its first row, and the end */
    size_t n, cap;
} myth_given_list;

/* Also sets is_given of definitions and gives of nodes. The caller frees the list. */
myth_status myth_filegraph_find_given(myth_given_list *out, myth_filegraph *g, myth_definitions *d,
                                      const myth_resolver *r, myth_store *s, myth_error *err);
void myth_filegraph_mark_packages(myth_filegraph *g);
void myth_filegraph_free_given(myth_given_list *l);

/* Finds the flows of the ranks as they are; false: no memory. */
bool myth_filegraph_find_flows(myth_filegraph *g);
/* Sets the places by ranks and flows; false: no memory. */
bool myth_filegraph_place(myth_filegraph *g);

/* The sum of the weights of a file's links; the file's rank is divided among them by weight. */
static inline double myth_filegraph_weight_sum(const myth_filegraph *g, uint32_t node)
{
    double sum = 0;
    for (uint32_t i = g->node[node].first_link; i < g->node[node + 1].first_link; i++)
        sum += myth_filegraph_weight_of(&g->link[i]);
    return sum;
}

typedef struct {
    uint32_t file, test;
    double share; /* share of the test's links that lead to the file, plus 2 when the test is named after it */
} myth_tested;

typedef struct {
    myth_tested *row;
    size_t n, cap;
} myth_tested_list;

/* Finds every pair of a file and a test of it, sorted by file, the best test first; the caller frees t->row. */
myth_status myth_filegraph_find_tests(myth_tested_list *t, const myth_filegraph *g, myth_error *err);

#endif
