/* residual_sums.h - sums of residual rows by label and layer on the host, for rows that are changed before they are
 * summed (cut at a quantile, averaged over a prompt).
 *
 * Bits     those of the engine's own sums (engine.h, capture): each value is rounded to a multiple of 2^-24 and the
 *          sums are integers, so the mean does not depend on order or batch
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

typedef struct {
    uint32_t n_label, n_layer, dim;
    uint64_t *count; /* [n_label]                          */
    int64_t *bad;    /* [n_layer]                          */
    int64_t *sum;    /* [n_label, n_layer, dim]            */
    void *block;     /* all three, n_bytes of state        */
    uint64_t n_bytes;
} myth_residual_sums;

uint64_t myth_residual_sums_bytes(uint32_t n_label, uint32_t n_layer, uint32_t dim);
/* block: n_bytes, 8-aligned, zeroed by the caller or a restored state. */
void myth_residual_sums_at(myth_residual_sums *out, void *block, uint32_t n_label, uint32_t n_layer, uint32_t dim);
/* One row of a label after layer number idx. The rows of a label are counted apart, once for all layers. */
void myth_residual_sums_add(myth_residual_sums *s, uint32_t label, uint32_t idx, const float *row);
/* idx is the layer's place; layer is only named in the message. */
myth_status myth_residual_sums_mean(const myth_residual_sums *s, uint32_t label, uint32_t idx, uint32_t layer,
                                    double *mean, uint64_t *n, myth_error *err);

/* The q-quantile of the magnitudes of row, 0 <= q <= 1: between the two nearest order statistics linearly, at place
 * q * (n - 1), as torch.quantile and numpy.quantile have it. scratch [n] is overwritten. */
float myth_residual_quantile(const float *row, uint32_t n, double q, float *scratch);
/* Cuts every value of row to at most that magnitude, with its sign: the symmetric winsorization of heretic. */
void myth_residual_winsorize(float *row, uint32_t n, double q, float *scratch);

#ifdef __cplusplus
}
#endif
#endif
