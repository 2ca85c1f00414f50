/* find.h - the bytes in which the parsers' process answers a question for candidates: this head, the candidates
 * (myth_candidate_place), then their names. Both processes run the same program, so numbers and structs are in the
 * machine's own form. */
#ifndef MYTH_FIND_H
#define MYTH_FIND_H

#include "candidates.h"

typedef struct {
    uint32_t n, n_names, n_function, cut_line;
} myth_candidates_head;

#endif
