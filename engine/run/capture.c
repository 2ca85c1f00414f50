/* capture.c - sums of residual rows by label, kept on the device: what is added, read out, cleared, and which tokens
 * the usual rules pick.
 *
 * Buffer   of each part i64 [n_capture, n_capture_label, d_model], then i32 [n_capture]: 1 where a value of the layer
 *          could not be added (ops.h, capture_sum). Rows are counted on the host: one count per label, since every
 *          captured layer takes the same rows */
#include "engine_impl.h"

#include <string.h>

static uint64_t sum_bytes(const myth_engine *e)
{
    return 8 * (uint64_t)e->layout.opts.n_capture_label * e->model->config.d_model;
}

static myth_view bad_of(const myth_engine *e, const myth_part *p, uint32_t idx)
{
    return myth_part_view(p, MYTH_BUF_capture, p->layout->n_capture * sum_bytes(e) + 4 * (uint64_t)idx, MYTH_I32);
}

uint32_t myth_capture_choose(myth_engine *e, const int32_t *label)
{
    myth_step_index *x = &e->idx;
    uint32_t n = 0;
    for (uint32_t r = 0; r < x->n_rows; r++)
        if (label[r] >= 0) {
            x->capture_rows[n] = (int32_t)r;
            x->capture_label[n++] = label[r];
            e->n_captured[label[r]]++;
        }
    return n;
}

void myth_capture_write_index(const myth_engine *e, const myth_part *p, uint32_t n)
{
    myth_index_write(p, p->index.capture_rows, e->idx.capture_rows, n);
    myth_index_write(p, p->index.capture_label, e->idx.capture_label, n);
}

void myth_capture_add(const myth_engine *e, const myth_part *p, uint32_t layer, uint32_t n)
{
    const myth_config *c = &e->model->config;
    int32_t idx = e->layout.capture_idx[layer];
    if (idx < 0)
        return;
    myth_capture_sum(p->stream, &(struct myth_capture_sum_args){
                                    .sum = myth_part_view(p, MYTH_BUF_capture, (uint64_t)idx * sum_bytes(e), MYTH_I32),
                                    .bad = bad_of(e, p, (uint32_t)idx),
                                    .x = p->step.x,
                                    .pend = p->step.pend,
                                    .w_post = p->step.w_post,
                                    .x_scale = p->step.x_scale,
                                    .rows = p->index.capture_rows,
                                    .label = p->index.capture_label,
                                    .n_gather = n,
                                    .dim = c->d_model,
                                    .n_label = e->layout.opts.n_capture_label,
                                    .eps = c->eps,
                                });
}

myth_status myth_capture_reset(myth_engine *e, myth_error *err)
{
    static const unsigned char zero[4096];
    if (e->layout.n_capture == 0)
        return MYTH_OK;
    for (uint32_t i = 0; i < e->n_part; i++)
        for (uint64_t at = 0, n = e->part[i].layout->buf[MYTH_BUF_capture], part; at < n; at += part) {
            part = n - at < sizeof zero ? n - at : sizeof zero;
            myth_stream_write(e->part[i].stream, myth_part_view(&e->part[i], MYTH_BUF_capture, at, MYTH_I32), zero,
                              part);
        }
    memset(e->n_captured, 0, 8 * (size_t)e->layout.opts.n_capture_label);
    myth_status st = myth_engine_sync(e, err);
    e->is_capture_torn = st != MYTH_OK;
    return st;
}

myth_status myth_capture_read(myth_engine *e, uint32_t label, uint32_t layer, double *mean, uint64_t *n,
                              myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t d = e->model->config.d_model;
    int32_t bad = 0, idx = layer <= e->model->config.n_layer ? e->layout.capture_idx[layer] : -1;
    if (idx < 0 || label >= e->layout.opts.n_capture_label)
        return myth_fail(err, MYTH_EARG, "capture: layer %u, label %u: the engine was not opened for them", layer,
                         label);
    if (e->is_capture_torn)
        return myth_fail(err, MYTH_ELOST,
                         "capture: a forward failed since the last reset: rows of it may be missing in the sums");
    const myth_part *p = &e->part[myth_layout_part_of_residual(&e->layout, layer)];
    myth_stream_read(p->stream, &bad, bad_of(e, p, (uint32_t)idx), sizeof bad);
    MYTH_TRY(myth_stream_sync(p->stream, err));
    if (bad)
        return myth_fail(err, MYTH_EFORMAT,
                         "capture: layer %u: a residual was not finite, or too large to be summed (2^38)", layer);
    uint64_t at = (uint64_t)idx * sum_bytes(e) + 8 * (uint64_t)label * d, count = e->n_captured[label];
    /* a sum is as wide as a mean: read where the mean goes */
    myth_stream_read(p->stream, mean, myth_part_view(p, MYTH_BUF_capture, at, MYTH_I32), 8 * (uint64_t)d);
    MYTH_TRY(myth_stream_sync(p->stream, err));
    for (uint32_t i = 0; i < d; i++) {
        uint32_t word[2];
        memcpy(word, &mean[i], sizeof word);
        double sum = (double)(int64_t)((uint64_t)word[1] << 32 | word[0]);
        mean[i] = count ? sum / (double)(1 << MYTH_CAPTURE_FRACTION_BITS) / (double)count : 0.0;
    }
    *n = count;
fail:
    return st;
}

/* ---- position rules ---- */

static uint32_t label_runs(int32_t *dst, const myth_batch *b, bool is_every, int32_t i, const int32_t *run_label)
{
    uint32_t n_labelled = 0;
    for (uint32_t at = 0, n, run = 0; run < b->n_run; at += n, run++) {
        n = b->run[run].n;
        int64_t one = i < 0 ? (int64_t)n + i : i;
        int32_t label = run_label ? run_label[run] : 0;
        for (uint32_t k = 0; k < n; k++) {
            dst[at + k] = is_every || k == one ? label : -1;
            n_labelled += dst[at + k] >= 0;
        }
    }
    return n_labelled;
}

uint32_t myth_capture_at(int32_t *dst, const myth_batch *b, int32_t i, const int32_t *run_label)
{
    return label_runs(dst, b, false, i, run_label);
}

uint32_t myth_capture_every(int32_t *dst, const myth_batch *b, const int32_t *run_label)
{
    return label_runs(dst, b, true, 0, run_label);
}
