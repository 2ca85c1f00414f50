/* filegraph_flows.c - through which symbols a file gets its rank. */
#include "filegraph_impl.h"

#include <stdlib.h>

typedef struct {
    uint32_t symbol, from;
    bool is_given;
    double flow;
} part;

static int by_symbol(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->symbol != y->symbol)
        return (x->symbol > y->symbol) - (x->symbol < y->symbol);
    return (x->from > y->from) - (x->from < y->from);
}

/* Sorts what each link carries by the file that it leads to (counting sort): before, end is zero; after it end[i] is
 * the end of file i's part. */
static void sort_parts(part *out, const myth_filegraph *g, uint32_t *end)
{
    for (uint32_t i = 0; i < g->n_link; i++)
        end[g->link[i].target + 1]++;
    for (uint32_t i = 0; i < g->n_node; i++)
        end[i + 1] += end[i];
    for (uint32_t i = 0; i < g->n_node; i++) {
        double all = myth_filegraph_weight_sum(g, i);
        for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link; k++) {
            const myth_link *l = &g->link[k];
            out[end[l->target]++] =
                (part){l->symbol, i, l->is_given, g->damping * g->node[i].rank * myth_filegraph_weight_of(l) / all};
        }
    }
}

/* Adds up in the order of the files that use a symbol. */
static void add_up(myth_filegraph *g, uint32_t node, part *p, size_t n)
{
    double sum = 0;
    bool is_given = false;
    if (n)
        qsort(p, n, sizeof(*p), by_symbol);
    g->first_flow[node] = g->n_flow;
    for (size_t i = 0; i < n; i++) {
        sum += p[i].flow;
        is_given |= p[i].is_given;
        if (i + 1 < n && p[i + 1].symbol == p[i].symbol)
            continue;
        const double share = g->node[node].rank > 0 ? sum / g->node[node].rank : 0;
        if (p[i].symbol)
            g->flow[g->n_flow++] = (myth_flow){p[i].symbol - 1, is_given, share < 1 ? share : 1};
        sum = 0;
        is_given = false;
    }
}

bool myth_filegraph_find_flows(myth_filegraph *g)
{
    part *p = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_link + 1, sizeof(*p));
    uint32_t *end = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 2, sizeof(*end));
    myth_free(g->mem, g->flow);
    myth_free(g->mem, g->first_flow);
    g->flow = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_link + 1, sizeof(*g->flow));
    g->first_flow = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*g->first_flow));
    g->n_flow = 0;
    const bool ok = p && end && g->flow && g->first_flow;
    if (ok) {
        sort_parts(p, g, end);
        for (uint32_t i = 0; i < g->n_node; i++) {
            const uint32_t from = i ? end[i - 1] : 0;
            add_up(g, i, p + from, end[i] - from);
        }
        g->first_flow[g->n_node] = g->n_flow;
    }
    myth_free(g->mem, p);
    myth_free(g->mem, end);
    return ok;
}
