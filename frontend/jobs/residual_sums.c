/* residual_sums.c - see residual_sums.h. */
#include "residual_sums.h"

#include <math.h>
#include <string.h>

enum { FRACTION_BITS = 24 };

uint64_t myth_residual_sums_bytes(uint32_t n_label, uint32_t n_layer, uint32_t dim)
{
    return 8 * ((uint64_t)n_label + n_layer + (uint64_t)n_label * n_layer * dim);
}

void myth_residual_sums_at(myth_residual_sums *out, void *block, uint32_t n_label, uint32_t n_layer, uint32_t dim)
{
    *out = (myth_residual_sums){
        .n_label = n_label,
        .n_layer = n_layer,
        .dim = dim,
        .block = block,
        .n_bytes = myth_residual_sums_bytes(n_label, n_layer, dim),
        .count = block,
    };
    out->bad = (int64_t *)(void *)(out->count + n_label);
    out->sum = out->bad + n_layer;
}

void myth_residual_sums_add(myth_residual_sums *s, uint32_t label, uint32_t idx, const float *row)
{
    int64_t *sum = s->sum + ((size_t)label * s->n_layer + idx) * s->dim;
    for (uint32_t i = 0; i < s->dim; i++) {
        const double v = (double)row[i] * (double)(1 << FRACTION_BITS);
        if (!(fabs(v) < 0x1p62) || __builtin_add_overflow(sum[i], llrint(v), &sum[i]))
            s->bad[idx] = 1;
    }
}

myth_status myth_residual_sums_mean(const myth_residual_sums *s, uint32_t label, uint32_t idx, uint32_t layer,
                                    double *mean, uint64_t *n, myth_error *err)
{
    const int64_t *sum = s->sum + ((size_t)label * s->n_layer + idx) * s->dim;
    if (s->bad[idx])
        return myth_fail(err, MYTH_EFORMAT, "layer %u: a residual was not finite, or too large to be summed (2^38)",
                         layer);
    *n = s->count[label];
    for (uint32_t i = 0; i < s->dim; i++)
        mean[i] = *n ? (double)sum[i] / (double)(1 << FRACTION_BITS) / (double)*n : 0.0;
    return MYTH_OK;
}

/* ---- quantiles ---- */

static void swap(float *a, float *b)
{
    const float t = *a;
    *a = *b;
    *b = t;
}

/* Moves the value of rank k to v[k], with none greater before it and none less behind it. */
static void select_rank(float *v, uint32_t n, uint32_t k)
{
    for (uint32_t low = 0, high = n - 1; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (v[middle] < v[low])
            swap(&v[middle], &v[low]);
        if (v[high] < v[low])
            swap(&v[high], &v[low]);
        if (v[high] < v[middle])
            swap(&v[high], &v[middle]);
        const float pivot = v[middle];
        uint32_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i >= j)
                break;
            swap(&v[i++], &v[j--]);
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
}

float myth_residual_quantile(const float *row, uint32_t n, double q, float *scratch)
{
    for (uint32_t i = 0; i < n; i++) {
        scratch[i] = fabsf(row[i]);
        if (!isfinite(scratch[i])) /* NaN has no rank; an infinity has no line to its neighbour */
            return scratch[i];
    }
    const double place = q * (n - 1);
    const uint32_t k = place < (double)(n - 1) ? (uint32_t)place : n - 1;
    select_rank(scratch, n, k);
    float next = k + 1 < n ? scratch[k + 1] : scratch[k];
    for (uint32_t i = k + 1; i < n; i++)
        next = scratch[i] < next ? scratch[i] : next;
    return (float)((double)scratch[k] + (place - k) * ((double)next - (double)scratch[k]));
}

void myth_residual_winsorize(float *row, uint32_t n, double q, float *scratch)
{
    const float most = myth_residual_quantile(row, n, q, scratch);
    for (uint32_t i = 0; i < n && most == most; i++)
        row[i] = row[i] > most ? most : row[i] < -most ? -most : row[i];
}
