/* quant_fit.h - blocks of floats to small integers with a scale, chosen by search: what types do that have no closed
 * form.
 *
 * Linear   x ~ d c v(q)          v(q) = q, lo <= q <= hi, or an entry of a table      Q4_0 Q5_0 Q3_K Q6_K IQ4_NL IQ4_XS
 *                                                                                     TQ2_0
 * Affine   x ~ d c q - m b       0 <= q <= hi, m b >= 0                               Q4_1 Q5_1 Q2_K Q4_K Q5_K
 *          c and b are 1 for a block of its own; in a super-block they are integers, one pair per sub-block, and d and
 *          m are shared
 * Least    sum w (x - x')^2, w = importance * sqrt(mean(x^2) + x^2): the largest values carry the sums they take part
 *          in, and a column whose activations are large counts as they do
 * Search   scales near the one that just holds the largest value; for each the integers, then the best scale for them
 *          in closed form, then back while it gains. In super-blocks the codes beside the nearest are tried against the
 *          rounded d and m, and d and m are solved once more for the integers found
 * Scales   d and m are what an f16 holds
 * Bits     a block's result depends on its values and their importance only
 * Source   llama.cpp ggml-quants.c, make_qx_quants and make_qkx3_quants, for the method */
#ifndef MYTH_QUANT_FIT_H
#define MYTH_QUANT_FIT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_FIT_MAX = 256, MYTH_FIT_SUB_MAX = 16, MYTH_FIT_TABLE = 16 };

typedef struct {
    int n, n_sub;            /* values of a block; sub-blocks, 1 = none */
    int lo, hi;              /* of q; of a table 0..15 */
    int code_lo, code_hi;    /* of c (and of b); not read without sub-blocks */
    const int8_t *table;     /* v, ascending; NULL = q itself */
    bool is_affine, is_free; /* is_free: m may be negative */
} myth_fit_form;

typedef struct {
    float d, m;
    int8_t q[MYTH_FIT_MAX]; /* place in the table, where there is one */
    int16_t c[MYTH_FIT_SUB_MAX], b[MYTH_FIT_SUB_MAX];
} myth_fit;

/* importance [n], none negative, or NULL: all alike. Values that are not finite give some block. */
void myth_fit_block(myth_fit *out, const myth_fit_form *f, const float *x, const float *importance);

#ifdef __cplusplus
}
#endif
#endif
