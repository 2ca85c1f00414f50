/* head_stats.h - the statistics of a set of logits from which log-sum-exp and entropy are computed. Those of two sets
 * can be joined into those of their union.
 *
 * Fields   most = max x, sum = sum e^(x - most), sum_x = sum e^(x - most) (x - most); the empty set has most = -inf and
 *          sum = 0. A set with NaN has sum = NaN; its most is that of the others, perhaps -inf
 * Order    joins are in double and not associative, so callers join tiles in index order
 * Result   lse = most + log sum, entropy = log sum - sum_x / sum; for the empty set -inf and 0, for NaN NaN */
#ifndef MYTH_CPU_HEAD_STATS_H
#define MYTH_CPU_HEAD_STATS_H

#include <math.h>

struct cpu_head_stats {
    double sum, sum_x;
    float most;
};

/* Joins p into `into`. */
static inline void cpu_head_join(struct cpu_head_stats *into, struct cpu_head_stats p)
{
    if (p.sum == 0.0)
        return;
    if (into->sum == 0.0) {
        *into = p;
        return;
    }
    float most = fmaxf(into->most, p.most);
    double d0 = (double)into->most - (double)most, d1 = (double)p.most - (double)most, e0 = exp(d0), e1 = exp(d1);
    into->sum_x = e0 * (into->sum_x + into->sum * d0) + e1 * (p.sum_x + p.sum * d1);
    into->sum = e0 * into->sum + e1 * p.sum;
    into->most = most;
}

static inline float cpu_head_lse(struct cpu_head_stats p)
{
    return p.sum == 0.0 ? -INFINITY : (float)((double)p.most + log(p.sum));
}
static inline float cpu_head_entropy(struct cpu_head_stats p)
{
    return p.sum == 0.0 ? 0.0f : (float)(log(p.sum) - p.sum_x / p.sum);
}

#endif
