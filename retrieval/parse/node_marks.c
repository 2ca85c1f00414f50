/* node_marks.c - see node_marks.h. */
#include "node_marks.h"
#include "engine/base/text.h"

#include <stdlib.h>

void myth_node_marks_add(myth_cut *c, myth_node_marks *m, TSNode node)
{
    if (myth_cut_grow(c, &m->mark, &m->cap, m->n, sizeof(*m->mark)))
        m->mark[m->n++] = (myth_node_mark){ts_node_start_byte(node), ts_node_end_byte(node), node.id};
}

static int by_place(const void *a, const void *b)
{
    const myth_node_mark *x = a, *y = b;
    return x->off != y->off ? (x->off > y->off) - (x->off < y->off) : (x->end < y->end) - (x->end > y->end);
}

void myth_node_marks_sort(myth_node_marks *m)
{
    if (m->n)
        qsort(m->mark, m->n, sizeof(*m->mark), by_place);
}

uint32_t myth_node_marks_from(const myth_node_marks *m, uint32_t off)
{
    return m->n ? myth_first_from(&m->mark->off, sizeof(*m->mark), m->n, off) : 0;
}

const myth_node_mark *myth_node_marks_find(const myth_node_marks *m, TSNode node)
{
    uint32_t off = ts_node_start_byte(node), end = ts_node_end_byte(node);
    for (uint32_t i = myth_node_marks_from(m, off); i < m->n && m->mark[i].off == off; i++)
        if (m->mark[i].id == node.id && m->mark[i].end == end)
            return &m->mark[i];
    return NULL;
}
