/* residual_out.h - what a job of residuals hands over: means, counts and directions as one .safetensors file, and the
 * figures of its summary.
 *
 * Tensors   layers [n] I64: which residuals; then for each label count.LABEL [1] I64 and mean.LABEL [n, d_model]; then
 *           for each label but the base direction.LABEL [n, d_model], the difference of its mean and the base's,
 *           divided by its length, distance.LABEL [n], that length, and cosine.LABEL [n, n], of the directions of every
 *           two layers. A difference of length 0 has a direction of zeros, whose cosines are 0, also with itself. Of a
 *           label without rows all is NaN but its count; the base has some
 * Stats     behind a label's mean, by what was asked for: norm_mean.LABEL, norm_min.LABEL, norm_max.LABEL [n] F64, of
 *           the lengths of its rows; min.LABEL, max.LABEL [n, d_model]; variance.LABEL [n, d_model]
 * Bits      depend on the means, the labels and the layers alone: not on the order of the prompts or their batches
 * Memory    myth_residual_out_bytes, class STAGING, during write
 * Threads   one */
#ifndef MYTH_JOB_RESIDUAL_OUT_H
#define MYTH_JOB_RESIDUAL_OUT_H

#include "residual_sums.h"

#include "frontend/cli/json_out.h"
#include "frontend/cli/safetensors.h"

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LABEL_MAX = 64, MYTH_LABEL_BYTES = 128 };

/* Of one label after one layer. With the stats also the lengths of the rows, the least and the greatest value of any,
 * and the root of the mean square of the rows' distance from their mean. */
typedef struct {
    double norm, distance, cosine_to_base; /* of the mean; beside the base's mean */
    double row_norm, row_norm_min, row_norm_max, min, max, spread;
} myth_residual_figure;

/* The figures in the order of the struct. */
typedef struct {
    const char *key, *column, *plot; /* in JSON; over a column of the page; of its plot, NULL = none */
    uint32_t stat;                   /* which the figure belongs to; 0 = always */
    bool is_beside;                  /* not of the base, as distance and cosine_to_base */
} myth_residual_figure_kind;

enum { MYTH_RESIDUAL_FIGURE_N = 9 };
extern const myth_residual_figure_kind myth_residual_figures[MYTH_RESIDUAL_FIGURE_N];

typedef struct {
    char (*label)[MYTH_LABEL_BYTES]; /* [n_label] */
    const uint32_t *layer;           /* [n_layer] */
    uint32_t n_label, n_layer, dim, stats, base;
    bool is_f64; /* means, directions, stats of values as F64, else F32 */
    myth_status (*mean)(void *user, uint32_t label, uint32_t idx, double *mean, uint64_t *n, myth_error *err);
    const myth_residual_sums *sums; /* with stats */
    void *user;
    uint64_t *count;              /* [n_label], set by write          */
    myth_residual_figure *figure; /* [n_label, n_layer], set by write */
} myth_residual_out;

double myth_residual_figure_at(const myth_residual_figure *g, int kind);
uint64_t myth_residual_out_bytes(const myth_residual_shape *is);
/* The bytes of all tensors. */
uint64_t myth_residual_out_data_bytes(const myth_residual_shape *is, bool is_f64);
myth_status myth_residual_out_write(myth_residual_out *o, myth_mem *mem, const char *path,
                                    const myth_safetensor_meta *meta, size_t n_meta, myth_error *err);
/* A table with a line a layer. */
void myth_residual_out_print_text(FILE *f, const myth_residual_out *o);
/* "labels":[{"label","count"}],"layers":[{"layer","norm":[..],"distance":[..],"cosine_to_base":[..]}], by label; with
 * stats also "row_norm", "row_norm_min", "row_norm_max"; "min", "max"; "spread". */
void myth_residual_out_print_json(myth_json_out *j, const myth_residual_out *o);
/* One page with a plot of the norms, one of the distances, one of the cosines, and of what the stats say; no script,
 * nothing from elsewhere. */
myth_status myth_residual_out_report(const myth_residual_out *o, const char *path, const char *title, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
