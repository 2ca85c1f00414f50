/* match_heap.h - the best rows of a search so far, as a heap with the worst of them on top. Of equal scores the row
 * with the smaller id is the better one. */
#ifndef MYTH_MATCH_HEAP_H
#define MYTH_MATCH_HEAP_H

#include "match.h"

typedef struct {
    myth_match_row *row; /* room for max rows */
    uint32_t n, max;
} myth_match_heap;

static inline bool is_worse(const myth_match_row *a, const myth_match_row *b)
{
    return a->score < b->score || (a->score == b->score && a->id > b->id);
}

static inline void sift_down(myth_match_row *heap, uint32_t n, uint32_t i)
{
    for (;;) {
        uint32_t worst = i, left = 2 * i + 1;
        for (uint32_t child = left; child < n && child < left + 2; child++)
            if (is_worse(&heap[child], &heap[worst]))
                worst = child;
        if (worst == i)
            return;
        myth_match_row t = heap[i];
        heap[i] = heap[worst];
        heap[worst] = t;
        i = worst;
    }
}

static inline void heap_push(myth_match_heap *h, const myth_match_row *row)
{
    if (h->n == h->max) {
        if (!is_worse(&h->row[0], row))
            return;
        h->row[0] = *row;
        sift_down(h->row, h->n, 0);
        return;
    }
    uint32_t i = h->n++;
    h->row[i] = *row;
    while (i > 0 && is_worse(&h->row[i], &h->row[(i - 1) / 2])) {
        myth_match_row t = h->row[i];
        h->row[i] = h->row[(i - 1) / 2];
        h->row[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
}

static inline void heap_sort(myth_match_heap *h)
{
    for (uint32_t n = h->n; n > 1; n--) {
        myth_match_row t = h->row[0];
        h->row[0] = h->row[n - 1];
        h->row[n - 1] = t;
        sift_down(h->row, n - 1, 0);
    }
}

#endif
