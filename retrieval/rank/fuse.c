/* fuse.c - see fuse.h. */
#include "fuse.h"

#include <math.h>

double myth_fuse_share(const myth_query *q, const myth_weights_search *w)
{
    if (q->kind == MYTH_QUERY_SYMBOL || q->kind == MYTH_QUERY_ISSUE)
        return 0;
    return w->semantic < 1 ? w->semantic : 1;
}

void myth_fuse(myth_rank_chunk *chunk, uint32_t n, const float *cosine, double share, double from)
{
    double top = 0, least = INFINITY, greatest = -INFINITY, sum = 0;
    uint32_t n_cosine = 0;
    for (uint32_t i = 0; i < n; i++) {
        top = chunk[i].match > top ? chunk[i].match : top;
        if (!isnan(cosine[i])) {
            least = cosine[i] < least ? (double)cosine[i] : least;
            greatest = cosine[i] > greatest ? (double)cosine[i] : greatest;
            sum += (double)cosine[i];
            n_cosine++;
        }
    }
    if (n_cosine == 0)
        return;
    top = top > 0 ? top : 1;
    const double floor = least + from * (sum / n_cosine - least);
    for (uint32_t i = 0; i < n; i++) {
        if (isnan(cosine[i]))
            continue;
        const double near = greatest > floor ? ((double)cosine[i] - floor) / (greatest - floor) : 1;
        chunk[i].semantic = share * top * (near > 0 ? near : 0);
        chunk[i].match = (1 - share) * chunk[i].match + chunk[i].semantic;
    }
}
