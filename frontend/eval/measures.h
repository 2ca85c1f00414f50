/* measures.h - how good a list of answers is, and how sure one can be of that.
 *
 * List     items, best first, each with the number of its document: below n_gold it is one of those that were wanted. A
 *          document may stand there several times (chunks of a file); what goes by documents counts its first place
 * Measures recall@k     wanted documents among the first k items, of all wanted
 *          precision@k  items of wanted documents among the first k items, of those there are; 0 for an empty list
 *          acc@k        1 when a wanted document is among the first k documents
 *          mrr          1 / place of the first wanted document; 0 without one
 *          ndcg@k       gain 1 of a wanted document, discount log2(place + 1), over that of the best order
 * Interval 95 %, percentile bootstrap: 2,000 samples of the tasks with replacement. The random stream is fixed: the
 * same values give the same
 *          interval. Of a paired difference the tasks are drawn, not the two values apart
 * Source   Efron and Tibshirani, An Introduction to the Bootstrap, 13.3; Jarvelin and Kekalainen, 10.1145/582415.582418
 */
#ifndef MYTH_EVAL_MEASURES_H
#define MYTH_EVAL_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_BOOTSTRAP_ROUNDS = 2000, MYTH_MEASURE_NAME = 24 };

typedef enum { MYTH_RECALL, MYTH_PRECISION, MYTH_ACC, MYTH_MRR, MYTH_NDCG } myth_measure_kind;

typedef struct {
    myth_measure_kind kind;
    uint32_t k; /* 0 for mrr */
} myth_measure;

typedef struct {
    double mean, low, high;
} myth_interval;

/* "recall@12", "mrr". */
const char *myth_measure_name(char dst[MYTH_MEASURE_NAME], const myth_measure *m);
/* n_gold >= 1. */
double myth_measure_of(const myth_measure *m, const uint32_t *item, uint32_t n_item, uint32_t n_gold);

/* Of the values at v[0], v[stride], ...; room holds MYTH_BOOTSTRAP_ROUNDS values. n >= 1. */
myth_interval myth_bootstrap(const double *v, size_t n, size_t stride, double *room);
/* Of a - b, task by task. */
myth_interval myth_bootstrap_difference(const double *a, const double *b, size_t n, size_t stride, double *room);
/* Of sum(a) / sum(b) over the tasks, for shares whose parts are counted per task; 0 where sum(b) is 0. */
myth_interval myth_bootstrap_ratio(const double *a, const double *b, size_t n, double *room);

#ifdef __cplusplus
}
#endif
#endif
