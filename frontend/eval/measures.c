/* measures.c - see measures.h. */
#include "measures.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *myth_measure_name(char dst[MYTH_MEASURE_NAME], const myth_measure *m)
{
    static const char *const name[] = {"recall", "precision", "acc", "mrr", "ndcg"};
    if (m->kind == MYTH_MRR)
        snprintf(dst, MYTH_MEASURE_NAME, "mrr");
    else
        snprintf(dst, MYTH_MEASURE_NAME, "%s@%u", name[m->kind], m->k);
    return dst;
}

static bool is_first(const uint32_t *item, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (item[k] == item[i])
            return false;
    return true;
}

/* Sums `gain` over the wanted documents among the first k of the list; it gets the document's place, from 1. */
static double sum_documents(const uint32_t *item, uint32_t n_item, uint32_t n_gold, uint32_t k,
                            double (*gain)(uint32_t place), bool only_first)
{
    double sum = 0;
    for (uint32_t i = 0, place = 0; i < n_item && place < k; i++) {
        if (!is_first(item, i))
            continue;
        place++;
        if (item[i] < n_gold) {
            sum += gain(place);
            if (only_first)
                break;
        }
    }
    return sum;
}

static double one(uint32_t place) { return place ? 1 : 0; }
static double reciprocal(uint32_t place) { return 1.0 / place; }
static double discount(uint32_t place) { return 1.0 / log2(place + 1.0); }

double myth_measure_of(const myth_measure *m, const uint32_t *item, uint32_t n_item, uint32_t n_gold)
{
    uint32_t n = m->kind != MYTH_MRR && m->k < n_item ? m->k : n_item, found = 0;
    double best = 0;
    assert(n_gold > 0);
    switch (m->kind) {
    case MYTH_RECALL:
        for (uint32_t i = 0; i < n; i++)
            found += item[i] < n_gold && is_first(item, i);
        return (double)found / n_gold;
    case MYTH_PRECISION:
        for (uint32_t i = 0; i < n; i++)
            found += item[i] < n_gold;
        return n ? (double)found / n : 0;
    case MYTH_ACC: return sum_documents(item, n_item, n_gold, m->k, one, true);
    case MYTH_MRR: return sum_documents(item, n_item, n_gold, UINT32_MAX, reciprocal, true);
    case MYTH_NDCG:
        for (uint32_t place = 1; place <= n_gold && place <= m->k; place++)
            best += discount(place);
        return sum_documents(item, n_item, n_gold, m->k, discount, false) / best;
    }
    return 0;
}

/* ---- intervals ---- */

/* splitmix64, from a fixed state */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The statistic of a sample is sum(a - b) / n, or sum(a) / sum(b). */
typedef struct {
    const double *a, *b; /* b may be NULL: nothing */
    size_t n, stride;
    bool is_ratio;
} sampled;

static double statistic(const sampled *s, double a, double b)
{
    if (!s->is_ratio)
        return (a - b) / (double)s->n;
    return b != 0 ? a / b : 0;
}

static myth_interval bootstrap(const sampled *s, double *room)
{
    uint64_t state = 1;
    double a = 0, b = 0;
    assert(s->n > 0);
    for (size_t i = 0; i < s->n; i++) {
        a += s->a[i * s->stride];
        b += s->b ? s->b[i * s->stride] : 0;
    }
    myth_interval out = {.mean = statistic(s, a, b)};
    for (int round = 0; round < MYTH_BOOTSTRAP_ROUNDS; round++) {
        a = b = 0;
        for (size_t i = 0; i < s->n; i++) {
            size_t at = (size_t)(next_random(&state) % s->n) * s->stride;
            a += s->a[at];
            b += s->b ? s->b[at] : 0;
        }
        room[round] = statistic(s, a, b);
    }
    qsort(room, MYTH_BOOTSTRAP_ROUNDS, sizeof(*room), by_value);
    out.low = room[MYTH_BOOTSTRAP_ROUNDS / 40];
    out.high = room[MYTH_BOOTSTRAP_ROUNDS - 1 - MYTH_BOOTSTRAP_ROUNDS / 40];
    return out;
}

myth_interval myth_bootstrap(const double *v, size_t n, size_t stride, double *room)
{
    return bootstrap(&(sampled){.a = v, .n = n, .stride = stride}, room);
}

myth_interval myth_bootstrap_difference(const double *a, const double *b, size_t n, size_t stride, double *room)
{
    return bootstrap(&(sampled){.a = a, .b = b, .n = n, .stride = stride}, room);
}

myth_interval myth_bootstrap_ratio(const double *a, const double *b, size_t n, double *room)
{
    return bootstrap(&(sampled){.a = a, .b = b, .n = n, .stride = 1, .is_ratio = true}, room);
}
