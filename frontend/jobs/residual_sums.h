/* residual_sums.h - sums of residual rows by label and layer on the host, for rows that are changed before they are
 * summed (cut at a quantile, averaged over a prompt), and for what more than their mean is asked for.
 *
 * Bits     those of the engine's own sums (engine.h, capture): each value is rounded to a multiple of 2^-24 and the
 *          sums are integers, so the mean does not depend on order or batch. No more do the others: squares of the
 *          rounded values are summed in 128 bits, a row's length is rounded as a value is, and of two zeros min and max
 *          know one
 * Variance of the population: the mean square of what lies between a row and the mean
 * State    one block of bytes, saved and restored as it is
 * Owner    the caller: open and close with the same mem
 * Errors   a value that is not finite, or too large to be summed, marks its layer; mean then gives MYTH_EFORMAT
 * Threads  one */
#ifndef MYTH_JOB_RESIDUAL_SUMS_H
#define MYTH_JOB_RESIDUAL_SUMS_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is kept beside the sums, as bits. */
enum { MYTH_STAT_NORMS = 1, MYTH_STAT_MINMAX = 2, MYTH_STAT_VARIANCE = 4, MYTH_STAT_ALL = 7 };

typedef struct {
    uint32_t n_label, n_layer, dim, stats;
} myth_residual_shape;

typedef struct {
    myth_residual_shape is;
    uint64_t *count;  /* [n_label]                                                                        */
    int64_t *bad;     /* [n_layer]                                                                        */
    int64_t *sum;     /* [n_label, n_layer, dim]                                                          */
    uint64_t *norm;   /* norms: [n_label, n_layer, 3] the sum of the lengths, keys of the least, the most */
    uint32_t *edge;   /* minmax: [n_label, n_layer, 2, dim] keys of the least and the most                */
    uint64_t *square; /* variance: [n_label, n_layer, dim, 2] sums of squares, the low word first         */
    void *block;      /* all of them, n_bytes of state                                                    */
    uint64_t n_bytes;
} myth_residual_sums;

uint64_t myth_residual_sums_bytes(const myth_residual_shape *is);
/* block: n_bytes, 8-aligned, zeroed by the caller or a restored state. */
void myth_residual_sums_at(myth_residual_sums *out, void *block, const myth_residual_shape *is);
/* One row of a label after layer number idx. The rows of a label are counted apart, once for all layers. */
void myth_residual_sums_add(myth_residual_sums *s, uint32_t label, uint32_t idx, const float *row);
/* Adds what another run has summed, of the same shape: the bits of one run over the rows of both. */
void myth_residual_sums_merge(myth_residual_sums *s, const myth_residual_sums *more);
/* idx is the layer's place; layer is only named in the message. Of no rows NaN, here and below. */
myth_status myth_residual_sums_mean(const myth_residual_sums *s, uint32_t label, uint32_t idx, uint32_t layer,
                                    double *mean, uint64_t *n, myth_error *err);

/* The mean, the least and the greatest length of the rows. Layers whose mean is refused are not asked for. */
void myth_residual_sums_norms(const myth_residual_sums *s, uint32_t label, uint32_t idx, double norm[3]);
/* The least and the greatest of each value into least and most [dim]. */
void myth_residual_sums_edges(const myth_residual_sums *s, uint32_t label, uint32_t idx, double *least, double *most);
/* The variance of each value into v [dim]. */
void myth_residual_sums_variance(const myth_residual_sums *s, uint32_t label, uint32_t idx, double *v);

/* The q-quantile of the magnitudes of row, 0 <= q <= 1: between the two nearest order statistics linearly, at place
 * q * (n - 1), as torch.quantile and numpy.quantile have it. scratch [n] is overwritten. */
float myth_residual_quantile(const float *row, uint32_t n, double q, float *scratch);
/* Cuts every value of row to at most that magnitude, with its sign: the symmetric winsorization of heretic. */
void myth_residual_winsorize(float *row, uint32_t n, double q, float *scratch);

#ifdef __cplusplus
}
#endif
#endif
