/* filegraph_starts.c - where the walk of a map without a query begins: with those who use the code as strangers do. */
#include "filegraph_impl.h"
#include "mentions.h"

/* A fifth of the walks begins in each group: the sources themselves, tests and examples, documents, the page that a
 * reader opens first, and the entries of packages. What they lead to first is what a newcomer needs first. */
enum { SOURCE, USER, DOCUMENT, README, ENTRY, GROUP_N };

static int group_of(const myth_node *d)
{
    const int tier = myth_filegraph_tier(d->kinds);
    if (d->gives)
        return ENTRY;
    return tier == 0 ? SOURCE : tier == 1 ? USER : myth_mentions_is_readme(d->path) ? README : DOCUMENT;
}

static uint32_t depth_of(const char *path)
{
    uint32_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* A file's weight inside its group. Who leads nowhere, and code of others, begins nothing. */
static double weight_of(const myth_filegraph *g, uint32_t i, int group)
{
    const myth_node *d = &g->node[i];
    const bool is_others = d->kinds & (1u << MYTH_KIND_VENDORED | 1u << MYTH_KIND_GENERATED | 1u << MYTH_KIND_LEGACY);
    const bool has_link = g->node[i + 1].first_link > d->first_link;
    if (is_others || (!has_link && group != SOURCE))
        return 0;
    return group == README ? 1.0 / (1 + depth_of(d->path)) : 1;
}

double *myth_filegraph_starts(const myth_filegraph *g, myth_error *err)
{
    double sum[GROUP_N] = {0};
    double *start = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*start));
    if (!start) {
        myth_fail(err, MYTH_ENOMEM, "no memory for the graph of the files");
        return NULL;
    }
    for (uint32_t i = 0; i < g->n_node; i++) {
        const int group = group_of(&g->node[i]);
        start[i] = weight_of(g, i, group);
        sum[group] += start[i];
    }
    for (uint32_t i = 0; i < g->n_node; i++) {
        const double all = sum[group_of(&g->node[i])];
        start[i] = all > 0 ? start[i] / all : 0;
    }
    return start;
}
