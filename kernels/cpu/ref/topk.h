/* topk.h - keeps the k best of a stream of (logit, id): larger logits are better, and of equal ones the smaller id is.
 * That is a total order, so the result does not depend on the order of arrival. -inf and NaN are never kept.
 *
 * Heap     n <= k entries, the worst of them at index 0 */
#ifndef MYTH_CPU_TOPK_H
#define MYTH_CPU_TOPK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    float logit;
    int32_t id;
} cpu_candidate;

static inline bool cpu_candidate_before(cpu_candidate a, cpu_candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static inline void cpu_topk_sink(cpu_candidate *heap, uint32_t n, cpu_candidate c)
{
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && cpu_candidate_before(heap[child], heap[child + 1]))
            child++;
        if (!cpu_candidate_before(c, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = c;
}

static inline void cpu_topk_push(cpu_candidate *heap, uint32_t *n, uint32_t k, float logit, int32_t id)
{
    cpu_candidate c = {logit, id};
    if (!(logit > -INFINITY))
        return;
    if (*n == k) {
        if (cpu_candidate_before(c, heap[0]))
            cpu_topk_sink(heap, k, c);
        return;
    }
    uint32_t at = (*n)++;
    for (; at && cpu_candidate_before(heap[(at - 1) / 2], c); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = c;
}

/* Turns the heap into an array, best first. */
static inline void cpu_topk_sort(cpu_candidate *heap, uint32_t n)
{
    while (n > 1) {
        cpu_candidate worst = heap[0];
        n--;
        cpu_topk_sink(heap, n, heap[n]);
        heap[n] = worst;
    }
}

#endif
