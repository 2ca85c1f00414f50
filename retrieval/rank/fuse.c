/* fuse.c - see fuse.h. */
#include "fuse.h"

#include <math.h>

double myth_fuse_share(const myth_query *q, const myth_weights_search *w)
{
    if (q->kind == MYTH_QUERY_SYMBOL || q->kind == MYTH_QUERY_ISSUE)
        return 0;
    return w->semantic < 1 ? w->semantic : 1;
}

void myth_fuse(myth_rank_chunk *chunk, uint32_t n, const float *cosine, double share)
{
    double top = 0, least = INFINITY, greatest = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        top = chunk[i].match > top ? chunk[i].match : top;
        least = cosine[i] < least ? (double)cosine[i] : least;
        greatest = cosine[i] > greatest ? (double)cosine[i] : greatest;
    }
    top = top > 0 ? top : 1;
    for (uint32_t i = 0; i < n; i++) {
        if (isnan(cosine[i]))
            continue;
        chunk[i].semantic = share * top * (greatest > least ? ((double)cosine[i] - least) / (greatest - least) : 1);
        chunk[i].match = (1 - share) * chunk[i].match + chunk[i].semantic;
    }
}
