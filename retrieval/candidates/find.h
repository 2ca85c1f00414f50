/* find.h - the answer of the parsers' process about candidates: this head, the candidates, then their names. Both
 * sides are the same program, so numbers have the machine's byte order and structs its layout. */
#ifndef MYTH_FIND_H
#define MYTH_FIND_H

#include "candidates.h"

typedef struct {
    uint32_t n, n_names, n_function, cut_line;
} myth_candidates_head;

#endif
