/* filegraph_asked.c - the ranks of a map for a query: what answers it, and what these files use more than others do. */
#include "filegraph_impl.h"

#include <stdlib.h>
#include <string.h>

static int by_file(const void *a, const void *b)
{
    const myth_asked *x = a, *y = b;
    if (x->id != y->id)
        return (x->id > y->id) - (x->id < y->id);
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Adds what the query says of symbols to the flows of their files, whose ranks are those of the walk. Like those that
 * the entry of a package gives, they are there for whoever asks. */
static bool add_flows(myth_filegraph *g, const myth_asked *asked, size_t n, const size_t *first, double sum)
{
    myth_flow *all = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", g->n_flow + n + 1, sizeof(*all));
    uint32_t n_all = 0;
    if (!all)
        return false;
    for (uint32_t i = 0; i < g->n_node; i++) {
        const int64_t id = g->node[i].id;
        const uint32_t end = g->first_flow[i + 1];
        uint32_t k = g->first_flow[i];
        g->first_flow[i] = n_all;
        for (size_t at = first[i] ? first[i] - 1 : n; at < n && asked[at].id == id;) {
            const uint32_t symbol = asked[at].symbol;
            double weight = 0, share = 0;
            for (; at < n && asked[at].id == id && asked[at].symbol == symbol; at++)
                weight += asked[at].weight;
            if (!symbol)
                continue;
            while (k < end && g->flow[k].symbol < symbol - 1)
                all[n_all++] = g->flow[k++];
            if (k < end && g->flow[k].symbol == symbol - 1)
                share = g->flow[k++].share;
            share += (1 - g->damping) * weight / sum / g->node[i].rank;
            all[n_all++] = (myth_flow){symbol - 1, true, share < 1 ? share : 1};
        }
        while (k < end)
            all[n_all++] = g->flow[k++];
    }
    g->first_flow[g->n_node] = n_all;
    myth_free(g->mem, g->flow);
    g->flow = all;
    g->n_flow = n_all;
    return true;
}

static myth_status read_usual(double *usual, const myth_filegraph *g, const myth_id_row *ids, myth_store *s,
                              myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(s), "SELECT file_id, rank FROM ranks", -1, &q, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        if ((rc = sqlite3_step(q)) != SQLITE_ROW)
            break;
        const myth_id_row *of = myth_filegraph_find_id(ids, g->n_node, sqlite3_column_int64(q, 0));
        if (of)
            usual[of->node] = sqlite3_column_double(q, 1);
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

myth_status myth_filegraph_rank_for(myth_filegraph *g, myth_store *s, myth_asked *asked, size_t n, myth_error *err)
{
    const double least = 1e-3; /* files that are further from the query than from anything stay in their order */
    myth_status st = MYTH_OK;
    double sum = 0, *start = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, 2 * sizeof(*start)),
           *usual = start ? start + g->n_node : NULL;
    size_t *first = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*first));
    myth_id_row *ids = myth_filegraph_sort_ids(g);
    if (!start || !first || !ids) {
        st = myth_filegraph_no_memory(err);
        goto fail;
    }
    MYTH_TRY(read_usual(usual, g, ids, s, err));
    if (n)
        qsort(asked, n, sizeof(*asked), by_file);
    for (size_t i = n; i-- > 0;) {
        const myth_id_row *of = myth_filegraph_find_id(ids, g->n_node, asked[i].id);
        if (!of)
            continue;
        start[of->node] += asked[i].weight;
        sum += asked[i].weight;
        first[of->node] = i + 1;
    }
    MYTH_TRY(myth_filegraph_rank(g, start, MYTH_DAMPING_MAP, err));
    if (!add_flows(g, asked, n, first, sum)) {
        st = myth_filegraph_no_memory(err);
        goto fail;
    }
    for (uint32_t i = 0; i < g->n_node; i++) {
        double *rank = &g->node[i].rank;
        *rank = *rank > usual[i] ? *rank - usual[i] : least * *rank;
    }
    if (!myth_filegraph_place(g))
        st = myth_filegraph_no_memory(err);
fail:
    myth_free(g->mem, start);
    myth_free(g->mem, first);
    myth_free(g->mem, ids);
    return st;
}
