/* residual_sums.c - see residual_sums.h. */
#include "residual_sums.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FRACTION_BITS = 24 };

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

/* ---- the block ---- */

static uint64_t n_pair(const myth_residual_shape *is) { return (uint64_t)is->n_label * is->n_layer; }

static uint64_t norm_bytes(const myth_residual_shape *is)
{
    return is->stats & MYTH_STAT_NORMS ? 3 * 8 * n_pair(is) : 0;
}

static uint64_t edge_bytes(const myth_residual_shape *is)
{
    return is->stats & MYTH_STAT_MINMAX ? 2 * 4 * n_pair(is) * is->dim : 0;
}

static uint64_t square_bytes(const myth_residual_shape *is)
{
    return is->stats & MYTH_STAT_VARIANCE ? 2 * 8 * n_pair(is) * is->dim : 0;
}

uint64_t myth_residual_sums_bytes(const myth_residual_shape *is)
{
    return 8 * ((uint64_t)is->n_label + is->n_layer + n_pair(is) * is->dim) + norm_bytes(is) + edge_bytes(is) +
           square_bytes(is);
}

void myth_residual_sums_at(myth_residual_sums *out, void *block, const myth_residual_shape *is)
{
    *out = (myth_residual_sums){
        .is = *is,
        .block = block,
        .n_bytes = myth_residual_sums_bytes(is),
        .count = block,
    };
    out->bad = (int64_t *)(void *)(out->count + is->n_label);
    out->sum = out->bad + is->n_layer;
    out->norm = (uint64_t *)(void *)(out->sum + n_pair(is) * is->dim);
    out->square = out->norm + norm_bytes(is) / 8;
    out->edge = (uint32_t *)(void *)(out->square + square_bytes(is) / 8);
}

static size_t at(const myth_residual_sums *s, uint32_t label, uint32_t idx)
{
    return (size_t)label * s->is.n_layer + idx;
}

/* ---- rows ---- */

/* A value in units of 2^-24; false if it cannot be summed. */
static bool fixed_of(double value, int64_t *v)
{
    const double scaled = value * (double)(1 << FRACTION_BITS);
    if (!(fabs(scaled) < 0x1p62))
        return false;
    *v = llrint(scaled);
    return true;
}

static bool add_square(uint64_t word[2], int64_t v)
{
    const wide old = (wide)word[1] << 64 | word[0], sum = old + (wide)((signed_wide)v * v);
    word[0] = (uint64_t)sum;
    word[1] = (uint64_t)(sum >> 64);
    return sum >= old && sum >> 127 == 0;
}

/* A number that rises with a finite value, and is above 0. */
static uint32_t key_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 31 ? ~bits : bits | 1u << 31;
}

static float value_of(uint32_t key)
{
    const uint32_t bits = key >> 31 ? key & ~(1u << 31) : ~key;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return key ? value : NAN;
}

static void add_edges(const myth_residual_sums *s, size_t pair, const float *row)
{
    uint32_t *least = s->edge + 2 * pair * s->is.dim, *most = least + s->is.dim;
    for (uint32_t i = 0; i < s->is.dim; i++) {
        const float v = row[i] == 0.0f ? 0.0f : row[i]; /* -0 is 0 */
        const uint32_t up = key_of(v), down = key_of(-v);
        most[i] = up > most[i] ? up : most[i];
        least[i] = down > least[i] ? down : least[i];
    }
}

/* The bits of a length rise with it; those of the least are kept turned over, so that 0 is none. */
static bool add_norm(const myth_residual_sums *s, size_t pair, const float *row)
{
    uint64_t *norm = s->norm + 3 * pair, bits;
    double length = 0.0;
    int64_t v;
    for (uint32_t i = 0; i < s->is.dim; i++)
        length += (double)row[i] * (double)row[i];
    length = sqrt(length);
    memcpy(&bits, &length, sizeof(bits));
    norm[1] = ~bits > norm[1] ? ~bits : norm[1];
    norm[2] = bits > norm[2] ? bits : norm[2];
    return fixed_of(length, &v) && !__builtin_add_overflow(norm[0], (uint64_t)v, &norm[0]);
}

void myth_residual_sums_add(myth_residual_sums *s, uint32_t label, uint32_t idx, const float *row)
{
    const size_t pair = at(s, label, idx);
    int64_t *sum = s->sum + pair * s->is.dim, v = 0;
    const bool has_squares = s->is.stats & MYTH_STAT_VARIANCE;
    bool is_well = true;
    for (uint32_t i = 0; i < s->is.dim; i++) {
        is_well &= fixed_of((double)row[i], &v) && !__builtin_add_overflow(sum[i], v, &sum[i]);
        if (has_squares && is_well)
            is_well = add_square(s->square + 2 * (pair * s->is.dim + i), v);
    }
    if (s->is.stats & MYTH_STAT_MINMAX)
        add_edges(s, pair, row);
    if (s->is.stats & MYTH_STAT_NORMS)
        is_well &= add_norm(s, pair, row);
    if (!is_well)
        s->bad[idx] = 1;
}

static bool add_wide(uint64_t word[2], const uint64_t more[2])
{
    const wide old = (wide)word[1] << 64 | word[0], sum = old + ((wide)more[1] << 64 | more[0]);
    word[0] = (uint64_t)sum;
    word[1] = (uint64_t)(sum >> 64);
    return sum >= old && sum >> 127 == 0;
}

void myth_residual_sums_merge(myth_residual_sums *s, const myth_residual_sums *more)
{
    const size_t n_row = n_pair(&s->is), dim = s->is.dim;
    for (uint32_t i = 0; i < s->is.n_label; i++)
        s->count[i] += more->count[i];
    for (uint32_t i = 0; i < s->is.n_layer; i++)
        s->bad[i] |= more->bad[i];
    for (size_t pair = 0; pair < n_row; pair++) {
        bool is_well = true;
        for (size_t i = pair * dim; i < (pair + 1) * dim; i++) {
            is_well &= !__builtin_add_overflow(s->sum[i], more->sum[i], &s->sum[i]);
            if (s->is.stats & MYTH_STAT_VARIANCE)
                is_well &= add_wide(s->square + 2 * i, more->square + 2 * i);
        }
        for (size_t i = 2 * pair * dim; i < 2 * (pair + 1) * dim && s->is.stats & MYTH_STAT_MINMAX; i++)
            s->edge[i] = more->edge[i] > s->edge[i] ? more->edge[i] : s->edge[i];
        if (s->is.stats & MYTH_STAT_NORMS) {
            uint64_t *norm = s->norm + 3 * pair;
            const uint64_t *other = more->norm + 3 * pair;
            is_well &= !__builtin_add_overflow(norm[0], other[0], &norm[0]);
            norm[1] = other[1] > norm[1] ? other[1] : norm[1];
            norm[2] = other[2] > norm[2] ? other[2] : norm[2];
        }
        if (!is_well)
            s->bad[pair % s->is.n_layer] = 1;
    }
}

/* ---- what they say ---- */

myth_status myth_residual_sums_mean(const myth_residual_sums *s, uint32_t label, uint32_t idx, uint32_t layer,
                                    double *mean, uint64_t *n, myth_error *err)
{
    const int64_t *sum = s->sum + at(s, label, idx) * s->is.dim;
    if (s->bad[idx])
        return myth_fail(err, MYTH_EFORMAT, "layer %u: a residual was not finite, or too large to be summed (2^38)",
                         layer);
    *n = s->count[label];
    for (uint32_t i = 0; i < s->is.dim; i++)
        mean[i] = *n ? (double)sum[i] / (double)(1 << FRACTION_BITS) / (double)*n : (double)NAN;
    return MYTH_OK;
}

void myth_residual_sums_norms(const myth_residual_sums *s, uint32_t label, uint32_t idx, double norm[3])
{
    const uint64_t *own = s->norm + 3 * at(s, label, idx), n = s->count[label], least = ~own[1];
    norm[0] = norm[1] = norm[2] = NAN;
    if (!n)
        return;
    norm[0] = (double)own[0] / (double)(1 << FRACTION_BITS) / (double)n;
    memcpy(&norm[1], &least, sizeof(norm[1]));
    memcpy(&norm[2], &own[2], sizeof(norm[2]));
}

void myth_residual_sums_edges(const myth_residual_sums *s, uint32_t label, uint32_t idx, double *least, double *most)
{
    const uint32_t *key = s->edge + 2 * at(s, label, idx) * s->is.dim;
    for (uint32_t i = 0; i < s->is.dim; i++) {
        least[i] = 0.0 - (double)value_of(key[i]); /* of 0 it is 0, not -0 */
        most[i] = (double)value_of(key[s->is.dim + i]);
    }
}

/* With q near the mean and r what the sum is beyond n * q, both whole: the sum of (v - q)^2 is the sum of v^2 less
 * n * q^2 and 2 * q * r, exactly, and about the mean itself r^2 / n less. */
void myth_residual_sums_variance(const myth_residual_sums *s, uint32_t label, uint32_t idx, double *v)
{
    const size_t pair = at(s, label, idx);
    const int64_t *sum = s->sum + pair * s->is.dim, n = (int64_t)s->count[label];
    const uint64_t *word = s->square + 2 * pair * s->is.dim;
    for (uint32_t i = 0; i < s->is.dim; i++) {
        v[i] = NAN;
        if (!n)
            continue;
        const int64_t q = sum[i] / n, r = sum[i] % n;
        const signed_wide square = (signed_wide)((wide)word[2 * i + 1] << 64 | word[2 * i]),
                          about_q = square - (signed_wide)n * q * q - 2 * (signed_wide)q * r;
        const double about_mean = (double)about_q - (double)r * (double)r / (double)n;
        v[i] = fmax(about_mean, 0.0) / (double)n * 0x1p-48;
    }
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
