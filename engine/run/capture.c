/* capture.c - sums of residual rows by label, kept on the device: what is added, read out, cleared, and which tokens
 * the usual rules pick.
 *
 * Buffer   of each part i64 [n_capture, n_capture_label, d_model], then i32 [n_capture]: 1 where a value of the layer
 *          could not be added (ops.h, capture_sum). Rows are counted on the host: one count per label, since every
 *          captured layer takes the same rows */
#include "engine_impl.h"

#include "engine/base/hash.h"

#include <string.h>

#define TORN "capture: a forward failed since the last reset: rows of it may be missing in the sums"

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
        return myth_fail(err, MYTH_ELOST, TORN);
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

/* ---- saved sums ----
 *
 * Little endian: "MYTHCAP2", u32 n_layer, n_label, d_model, 0, u64 model; u32 [n_layer] the captured residuals, rising,
 * and a 0 if their number is odd; u64 [n_label] counts; for each residual i64 [n_label, d_model] and i32 bad; the sum
 * of all that (hash.h). The order does not depend on how the layers are divided among devices. */

static const char CAPTURE_MAGIC[8] = {'M', 'Y', 'T', 'H', 'C', 'A', 'P', '2'};
enum { CAPTURE_HEAD = 8 + 4 * 4 + 8 };

static uint64_t head_bytes(const myth_engine *e)
{
    return CAPTURE_HEAD + 8 * (((uint64_t)e->layout.n_capture + 1) / 2) + 8 * (uint64_t)e->layout.opts.n_capture_label;
}

uint64_t myth_capture_state_bytes(const myth_engine *e)
{
    return e->layout.n_capture ? head_bytes(e) + e->layout.n_capture * (sum_bytes(e) + 4) + MYTH_SUM_BYTES : 0;
}

/* All but the sums, which follow. */
static unsigned char *write_head(const myth_engine *e, unsigned char *p)
{
    const uint64_t model = myth_model_hash(e->model);
    const uint32_t head[4] = {e->layout.n_capture, e->layout.opts.n_capture_label, e->model->config.d_model, 0};
    memset(p, 0, head_bytes(e));
    memcpy(p, CAPTURE_MAGIC, 8);
    memcpy(p + 8, head, sizeof head);
    memcpy(p + 24, &model, 8);
    p += CAPTURE_HEAD;
    for (uint32_t l = 0, i = 0; l <= e->model->config.n_layer; l++)
        if (e->layout.capture_idx[l] >= 0)
            memcpy(p + 4 * (size_t)i++, &l, 4);
    p += 8 * (((size_t)e->layout.n_capture + 1) / 2);
    memcpy(p, e->n_captured, 8 * (size_t)e->layout.opts.n_capture_label);
    return p + 8 * (size_t)e->layout.opts.n_capture_label;
}

myth_status myth_capture_save(myth_engine *e, void *dst, uint64_t cap, myth_error *err)
{
    const uint64_t need = myth_capture_state_bytes(e);
    if (!need)
        return myth_fail(err, MYTH_EARG, "capture: the engine was opened without captured layers");
    if (cap < need)
        return myth_fail(err, MYTH_EFULL, "capture: the sums take %llu bytes", (unsigned long long)need);
    if (e->is_capture_torn)
        return myth_fail(err, MYTH_ELOST, TORN);
    unsigned char *p = write_head(e, dst);
    for (uint32_t l = 0; l <= e->model->config.n_layer; l++) {
        const int32_t idx = e->layout.capture_idx[l];
        if (idx < 0)
            continue;
        const myth_part *part = &e->part[myth_layout_part_of_residual(&e->layout, l)];
        myth_stream_read(part->stream, p,
                         myth_part_view(part, MYTH_BUF_capture, (uint64_t)idx * sum_bytes(e), MYTH_I32), sum_bytes(e));
        myth_stream_read(part->stream, p + sum_bytes(e), bad_of(e, part, (uint32_t)idx), 4);
        p += sum_bytes(e) + 4;
    }
    const myth_status st = myth_engine_sync(e, err);
    if (st == MYTH_OK)
        myth_sum_put(dst, (size_t)need);
    return st;
}

/* Compares what stands before the counts with what this engine would write. */
static myth_status check_head(const myth_engine *e, const unsigned char *p, uint64_t bytes, myth_error *err)
{
    uint32_t head[4], at = 0;
    uint64_t model;
    if (bytes < CAPTURE_HEAD || memcmp(p, CAPTURE_MAGIC, 8) != 0)
        return myth_fail(err, MYTH_EFORMAT, "not saved sums");
    memcpy(head, p + 8, sizeof head);
    memcpy(&model, p + 24, 8);
    if (model != myth_model_hash(e->model))
        return myth_fail(err, MYTH_EFORMAT, "sums of another model than %s: begin again",
                         myth_weights_name(e->model->weights));
    if (head[0] != e->layout.n_capture || head[1] != e->layout.opts.n_capture_label ||
        head[2] != e->model->config.d_model || head[3] || bytes != myth_capture_state_bytes(e))
        return myth_fail(err, MYTH_EFORMAT,
                         "saved sums of %u layers and %u labels in %llu bytes; %u, %u and %llu expected", head[0],
                         head[1], (unsigned long long)bytes, e->layout.n_capture, e->layout.opts.n_capture_label,
                         (unsigned long long)myth_capture_state_bytes(e));
    for (uint32_t l = 0, saved; l <= e->model->config.n_layer; l++)
        if (e->layout.capture_idx[l] >= 0) {
            memcpy(&saved, p + CAPTURE_HEAD + 4 * (size_t)at++, 4);
            if (saved != l)
                return myth_fail(err, MYTH_EFORMAT, "saved sums have layer %u where layer %u is expected", saved, l);
        }
    return myth_sum_holds(p, (size_t)bytes) ? MYTH_OK : myth_fail(err, MYTH_EFORMAT, "saved sums that are damaged");
}

myth_status myth_capture_restore(myth_engine *e, const void *src, uint64_t bytes, myth_error *err)
{
    const unsigned char *p = src;
    if (!myth_capture_state_bytes(e))
        return myth_fail(err, MYTH_EARG, "capture: the engine was opened without captured layers");
    myth_status st = check_head(e, p, bytes, err);
    if (st != MYTH_OK)
        return st;
    p += head_bytes(e);
    memcpy(e->n_captured, p - 8 * (size_t)e->layout.opts.n_capture_label, 8 * (size_t)e->layout.opts.n_capture_label);
    for (uint32_t l = 0; l <= e->model->config.n_layer; l++) {
        const int32_t idx = e->layout.capture_idx[l];
        if (idx < 0)
            continue;
        const myth_part *part = &e->part[myth_layout_part_of_residual(&e->layout, l)];
        myth_stream_write(part->stream, myth_part_view(part, MYTH_BUF_capture, (uint64_t)idx * sum_bytes(e), MYTH_I32),
                          p, sum_bytes(e));
        myth_stream_write(part->stream, bad_of(e, part, (uint32_t)idx), p + sum_bytes(e), 4);
        p += sum_bytes(e) + 4;
    }
    st = myth_engine_sync(e, err);
    e->is_capture_torn = st != MYTH_OK;
    return st;
}

/* Whether these are saved sums of as many bytes as their head says. */
static bool is_saved(const unsigned char *p, uint64_t bytes)
{
    uint32_t head[4];
    if (bytes < CAPTURE_HEAD || memcmp(p, CAPTURE_MAGIC, 8) != 0)
        return false;
    memcpy(head, p + 8, sizeof head);
    const uint64_t n_layer = head[0], n_label = head[1], d = head[2];
    if (n_layer > MYTH_LAYER_MAX + 1 || n_label > UINT32_MAX / 8 || d > UINT32_MAX / 8 ||
        n_label * d > (UINT64_MAX >> 16) / (MYTH_LAYER_MAX + 1))
        return false;
    return bytes == CAPTURE_HEAD + 8 * ((n_layer + 1) / 2) + 8 * n_label + n_layer * (8 * n_label * d + 4) + 8 &&
           myth_sum_holds(p, (size_t)bytes);
}

/* a += b, of unaligned integers; false when the sum is past the range. */
static bool add_saved(unsigned char *a, const unsigned char *b)
{
    int64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    const bool is_well = !__builtin_add_overflow(x, y, &x);
    memcpy(a, &x, 8);
    return is_well;
}

myth_status myth_capture_add_saved(void *sums, const void *more, uint64_t bytes, myth_error *err)
{
    unsigned char *a = sums;
    const unsigned char *b = more;
    uint32_t head[4];
    if (!is_saved(a, bytes) || !is_saved(b, bytes))
        return myth_fail(err, MYTH_EFORMAT, "not saved sums of %llu bytes", (unsigned long long)bytes);
    memcpy(head, a + 8, sizeof head);
    const uint64_t n_label = head[1], d = head[2], at = CAPTURE_HEAD + 8 * (((uint64_t)head[0] + 1) / 2);
    if (memcmp(a, b, (size_t)at) != 0)
        return myth_fail(err, MYTH_EFORMAT, "saved sums of another model, other layers or labels cannot be added");
    a += at;
    b += at;
    for (uint64_t i = 0; i < n_label; i++, a += 8, b += 8)
        add_saved(a, b);
    for (uint32_t l = 0; l < head[0]; l++) {
        int32_t bad[2], is_bad = 0;
        for (uint64_t i = 0; i < n_label * d; i++, a += 8, b += 8)
            is_bad |= !add_saved(a, b);
        memcpy(&bad[0], a, 4);
        memcpy(&bad[1], b, 4);
        bad[0] |= bad[1] | is_bad;
        memcpy(a, &bad[0], 4);
        a += 4;
        b += 4;
    }
    myth_sum_put(sums, (size_t)bytes);
    return MYTH_OK;
}

int32_t myth_capture_saved_bad(const void *sums, uint64_t bytes)
{
    const unsigned char *p = sums;
    uint32_t head[4];
    if (!is_saved(p, bytes))
        return -1;
    memcpy(head, p + 8, sizeof head);
    const unsigned char *layer = p + CAPTURE_HEAD;
    const uint64_t each = 8 * (uint64_t)head[1] * head[2] + 4;
    p += CAPTURE_HEAD + 8 * (((uint64_t)head[0] + 1) / 2) + 8 * (uint64_t)head[1];
    for (uint32_t i = 0; i < head[0]; i++) {
        int32_t bad, own;
        memcpy(&bad, p + (i + 1) * each - 4, 4);
        memcpy(&own, layer + 4 * (size_t)i, 4);
        if (bad)
            return own;
    }
    return -1;
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
