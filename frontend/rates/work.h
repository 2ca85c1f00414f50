/* work.h - how much an inspection will do, in tokens: what a time is expected from.
 *
 * Units    tokens of all parts together, unless a line says otherwise
 * Owner    plain data */
#ifndef MYTH_RATES_WORK_H
#define MYTH_RATES_WORK_H

#include <stdint.h>

typedef struct {
    uint32_t n_part;        /* parts that the model is asked about                          */
    uint32_t n_kept;        /* parts whose answers an earlier run generated: no work at all */
    uint64_t prompt_tokens; /* that are fed; what all parts begin with is fed once */
    double depth;           /* mean position of a fed token          */
    double end;             /* mean length of a prompt: where its answer begins */
    uint64_t turn_most;     /* that rounds of context may feed       */
    uint64_t answer_most;   /* that all answers may have, rounds included */
    uint32_t n_at_once;     /* answers generated together; 0 = one */
} myth_work;

#endif
