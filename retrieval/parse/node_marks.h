/* node_marks.h - nodes of a tree that a query marked, found again by their place.
 *
 * Units    offsets in bytes of the text
 * Owner    whoever holds a myth_node_marks frees `mark` with the ledger of its cut
 * Errors   without memory a mark is left out, and the cut says so
 * Threads  one at a time */
#ifndef MYTH_NODE_MARKS_H
#define MYTH_NODE_MARKS_H

#include "cut.h"

#include <tree_sitter/api.h>

typedef struct {
    uint32_t off, end;
    const void *id;
} myth_node_mark;

typedef struct {
    myth_node_mark *mark;
    uint32_t n, cap;
} myth_node_marks;

/* Adds the node at the end. */
void myth_node_marks_add(myth_cut *c, myth_node_marks *m, TSNode node);
/* Sorts by off, of one off the larger first; what follows needs it. */
void myth_node_marks_sort(myth_node_marks *m);
/* The first mark whose off is not before `off`: an index, n when there is none. */
uint32_t myth_node_marks_from(const myth_node_marks *m, uint32_t off);
/* The mark of this node; NULL when it has none. */
const myth_node_mark *myth_node_marks_find(const myth_node_marks *m, TSNode node);

#endif
