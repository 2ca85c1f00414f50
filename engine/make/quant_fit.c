/* quant_fit.c - see quant_fit.h.
 *
 * Lanes    integers are kept as floats while they are searched for, and sums in LANES parts: what the compiler's
 *          vectors do side by side on any machine, with the same bits */
#include "quant_fit.h"

#include "engine/base/half.h"

#include <math.h>
#include <string.h>

enum { LANES = 4, STEPS = 4, REFINE = 6 };
static const float STEP
= 0.05f; /* of a linear scale, to either side of the one that just holds the peak */

typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t lanes_i __attribute__((vector_size(4 * LANES)));

static inline lanes load(const float *p)
{
    lanes v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline lanes all(float v) { return (lanes){0} + v; }
static inline lanes choose(lanes_i which, lanes a, lanes b)
{
    return (lanes)((which & (lanes_i)a) | (~which & (lanes_i)b));
}

static double total(lanes part)
{
    double sum = 0.0;
    for (int l = 0; l < LANES; l++)
        sum += (double)part[l];
    return sum;
}

/* ---- values to their places ---- */

/* To nearest, ties to even, for |v| < 2^22. */
static inline float nearest(float v) { return v + 12582912.0f - 12582912.0f; }

/* The whole number in lo..hi that is nearest; NaN becomes lo. */
static inline lanes place_whole(lanes v, float lo, float hi)
{
    v = choose(v > all(lo), v, all(lo));
    v = choose(v < all(hi), v, all(hi));
    return v + 12582912.0f - 12582912.0f;
}

static inline float place_one(float v, float lo, float hi)
{
    v = v > lo ? v : lo;
    return nearest(v < hi ? v : hi);
}

/* The table's value that is nearest: as many steps up as there are middles below v. */
static inline lanes place_in(lanes v, const int8_t *table)
{
    lanes at = all((float)table[0]);
    for (int k = 1; k < MYTH_FIT_TABLE; k++) {
        const lanes_i is_above = v > all(0.5f * (float)(table[k - 1] + table[k]));
        at += (lanes)(is_above & (lanes_i)all((float)(table[k] - table[k - 1])));
    }
    return at;
}

static inline lanes place(lanes v, const myth_fit_form *f)
{
    return f->table ? place_in(v, f->table) : place_whole(v, (float)f->lo, (float)f->hi);
}

static float to_f16(float v) { return myth_f16_to_f32(myth_f32_to_f16(v)); }

/* ---- x ~ d v(q) ---- */

typedef struct {
    double xq, qq; /* sums of w x q, w q q */
} linear_sums;

static linear_sums sum_linear(const myth_fit_form *f, const float *x, const float *w, int n, float inverse)
{
    lanes xq = {0}, qq = {0};
    for (int i = 0; i < n; i += LANES) {
        const lanes v = load(x + i), q = place(v * inverse, f), wq = load(w + i) * q;
        xq += wq * v;
        qq += wq * q;
    }
    return (linear_sums){total(xq), total(qq)};
}

/* What the best scale for these integers takes off the error. */
static double linear_gain(linear_sums s) { return s.qq > 0.0 ? s.xq * s.xq / s.qq : -1.0; }

/* The scale; *weight is how much a change of it costs. */
static float fit_linear(const myth_fit_form *f, const float *x, const float *w, int n, double *weight)
{
    float peak = 0.0f;
    for (int i = 0; i < n; i++)
        peak = fabsf(x[i]) > fabsf(peak) ? x[i] : peak;
    *weight = 0.0;
    if (!(fabsf(peak) > 1e-30f))
        return 0.0f;
    linear_sums best = {0, 0};
    double most = -1.0;
    for (int side = 0; side < 2; side++) {
        const float end = f->table ? (float)f->table[side ? MYTH_FIT_TABLE - 1 : 0] : (float)(side ? f->hi : f->lo);
        for (int t = -STEPS; t <= STEPS; t++) {
            const linear_sums s = sum_linear(f, x, w, n, end * (1.0f + STEP * (float)t) / peak);
            const double gain = linear_gain(s);
            if (gain > most) {
                most = gain;
                best = s;
            }
        }
    }
    for (int t = 0; t < REFINE && best.xq != 0.0; t++) {
        const linear_sums s = sum_linear(f, x, w, n, (float)(best.qq / best.xq));
        const double gain = linear_gain(s);
        if (!(gain > most))
            break;
        most = gain;
        best = s;
    }
    *weight = best.qq;
    return best.qq > 0.0 ? (float)(best.xq / best.qq) : 0.0f;
}

static double linear_error(const myth_fit_form *f, const float *x, const float *w, int n, float scale)
{
    const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    lanes e = {0};
    for (int i = 0; i < n; i += LANES) {
        const lanes r = load(x + i) - scale * place(load(x + i) * inverse, f);
        e += load(w + i) * r * r;
    }
    return total(e);
}

/* ---- x ~ d q - m ---- */

typedef struct {
    double q, qq, xq; /* sums of w q, w q q, w x q */
} affine_sums;

typedef struct {
    double d, m, gain, qq;
} affine_line;

static affine_sums sum_affine(const float *x, const float *w, int n, float inverse, float m, float hi)
{
    lanes sq = {0}, qq = {0}, xq = {0};
    for (int i = 0; i < n; i += LANES) {
        const lanes v = load(x + i), q = place_whole((v + m) * inverse, 0.0f, hi), wq = load(w + i) * q;
        sq += wq;
        qq += wq * q;
        xq += wq * v;
    }
    return (affine_sums){total(sq), total(qq), total(xq)};
}

/* The best line through the integers; a gain of -1 when there is none. */
static affine_line solve_line(affine_sums s, double sw, double sx, bool is_free)
{
    affine_line line = {0, 0, -1.0, s.qq};
    const double det = sw * s.qq - s.q * s.q;
    if (!(det > 1e-9 * sw * s.qq))
        return line;
    line.d = (sw * s.xq - sx * s.q) / det;
    line.m = (s.q * s.xq - s.qq * sx) / det;
    if (line.m < 0.0 && !is_free) {
        line.m = 0.0;
        line.d = s.xq / s.qq;
    }
    if (line.d > 0.0)
        line.gain = line.d * s.xq - line.m * sx;
    return line;
}

/* Scale and offset; *weight is how much a change of the scale costs. */
static void fit_affine(const myth_fit_form *f, const float *x, const float *w, int n, float *d, float *m,
                       double *weight)
{
    const float hi = (float)f->hi;
    float least = f->is_free ? x[0] : 0.0f, most = x[0];
    double sw = 0.0, sx = 0.0;
    for (int i = 0; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        sw += (double)w[i];
        sx += (double)w[i] * (double)x[i];
    }
    *d = 0.0f;
    *m = -least;
    *weight = 0.0;
    if (!(most - least > 1e-30f))
        return;
    affine_line best = {0, 0, -1.0, 0};
    for (int t = -9; t <= 9; t++) {
        const affine_line line =
            solve_line(sum_affine(x, w, n, (hi + 0.1f * (float)t) / (most - least), -least, hi), sw, sx, f->is_free);
        if (line.gain > best.gain)
            best = line;
    }
    for (int t = 0; t < REFINE && best.d > 0.0; t++) {
        const affine_line line =
            solve_line(sum_affine(x, w, n, (float)(1.0 / best.d), (float)best.m, hi), sw, sx, f->is_free);
        if (!(line.gain > best.gain))
            break;
        best = line;
    }
    *d = (float)best.d;
    *m = (float)best.m;
    *weight = best.qq;
}

static double affine_error(const float *x, const float *w, int n, float d, float m, float hi)
{
    const float inverse = d > 0.0f ? 1.0f / d : 0.0f;
    lanes e = {0};
    for (int i = 0; i < n; i += LANES) {
        const lanes v = load(x + i) + m, r = v - d * place_whole(v * inverse, 0.0f, hi);
        e += load(w + i) * r * r;
    }
    return total(e);
}

/* ---- super-blocks ---- */

/* The shared scale of n scales as integers code_lo..code_hi, weighted; and those integers. */
static float fit_codes(int16_t *code, const float *scale, const double *weight, int n, int lo, int hi)
{
    float peak = 0.0f, inverse;
    double best_d = 0.0, most = -1.0;
    for (int i = 0; i < n; i++)
        peak = fabsf(scale[i]) > fabsf(peak) ? scale[i] : peak;
    const float end = lo < 0 ? (float)lo : (float)hi; /* the longer side takes the peak */
    for (int t = -4; t <= 4 + REFINE && fabsf(peak) > 1e-30f; t++) {
        double sq = 0.0, qq = 0.0;
        inverse = t <= 4 ? (end + 0.1f * (float)t) / peak : (float)(1.0 / best_d);
        for (int i = 0; i < n; i++) {
            const double q = (double)place_one(scale[i] * inverse, (float)lo, (float)hi);
            sq += weight[i] * (double)scale[i] * q;
            qq += weight[i] * q * q;
        }
        const double gain = qq > 0.0 ? sq * sq / qq : -1.0;
        if (gain > most && sq != 0.0) {
            most = gain;
            best_d = sq / qq;
        } else if (t > 4 || (t == 4 && best_d == 0.0)) {
            break;
        }
    }
    const float d = to_f16((float)best_d);
    inverse = d != 0.0f ? 1.0f / d : 0.0f;
    for (int i = 0; i < n; i++)
        code[i] = (int16_t)place_one(scale[i] * inverse, (float)lo, (float)hi);
    return d;
}

/* The codes beside the nearest: with the shared scale rounded, another one may fit the values better. */
static void try_codes(myth_fit *r, const myth_fit_form *f, const float *x, const float *w)
{
    const int sub = f->n / f->n_sub;
    for (int j = 0; j < f->n_sub; j++) {
        const int c0 = r->c[j], b0 = r->b[j];
        double least = INFINITY;
        for (int c = c0 - 1; c <= c0 + 1; c++)
            for (int b = f->is_affine ? b0 - 1 : 0; b <= (f->is_affine ? b0 + 1 : 0); b++) {
                if (c < f->code_lo || c > f->code_hi || (f->is_affine && (b < 0 || b > f->code_hi)))
                    continue;
                const double e = f->is_affine ? affine_error(x + j * sub, w + j * sub, sub, r->d * (float)c,
                                                             r->m * (float)b, (float)f->hi)
                                              : linear_error(f, x + j * sub, w + j * sub, sub, r->d * (float)c);
                if (e < least) {
                    least = e;
                    r->c[j] = (int16_t)c;
                    r->b[j] = (int16_t)b;
                }
            }
    }
}

/* Values to integers under the scales of r; the error. */
static double put_integers(myth_fit *r, float *q, const myth_fit_form *f, const float *x, const float *w)
{
    const int sub = f->n / f->n_sub;
    lanes e = {0};
    for (int i = 0; i < f->n; i += LANES) {
        const int k = i / sub;
        const float d = r->d * (float)r->c[k], m = r->m * (float)r->b[k], inverse = d != 0.0f ? 1.0f / d : 0.0f;
        const lanes v = load(x + i) + m, at = place(v * inverse, f), diff = v - d * at;
        memcpy(q + i, &at, sizeof(at));
        e += load(w + i) * diff * diff;
    }
    return total(e);
}

/* d and m that are best for the integers and codes of r, as far as an f16 holds them. */
static void solve_shared(myth_fit *r, const float *q, const myth_fit_form *f, const float *x, const float *w)
{
    const int sub = f->n / f->n_sub;
    double uu = 0.0, uv = 0.0, vv = 0.0, ux = 0.0, vx = 0.0; /* u = c q, v = -b: x ~ d u + m v */
    for (int i = 0; i < f->n; i++) {
        const int k = i / sub;
        const double u = (double)r->c[k] * (double)q[i], v = f->is_affine ? -(double)r->b[k] : 0.0, wi = (double)w[i];
        uu += wi * u * u;
        uv += wi * u * v;
        vv += wi * v * v;
        ux += wi * u * (double)x[i];
        vx += wi * v * (double)x[i];
    }
    const double det = uu * vv - uv * uv;
    if (vv > 0.0 && det > 1e-9 * uu * vv) {
        const double d = (ux * vv - vx * uv) / det, m = (vx * uu - ux * uv) / det;
        if (d > 0.0 && (m > 0.0 || f->is_free)) {
            r->d = to_f16((float)d);
            r->m = to_f16((float)m);
        }
    } else if (uu > 0.0 && vv == 0.0) {
        r->d = to_f16((float)(ux / uu));
    }
}

/* ---- a block ---- */

static void weigh(float *w, const float *x, const float *importance, int n)
{
    double ss = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++)
        ss += (double)x[i] * (double)x[i];
    const float mean = (float)(2.0 * ss / n);
    for (int i = 0; i < n; i++) {
        w[i] = (importance ? importance[i] : 1.0f) * sqrtf(mean + x[i] * x[i]);
        sum += (double)w[i];
    }
    for (int i = 0; i < n && !(sum > 0.0); i++) /* nothing counts: then all alike */
        w[i] = 1.0f;
}

void myth_fit_block(myth_fit *out, const myth_fit_form *f, const float *x, const float *importance)
{
    const int sub = f->n / f->n_sub;
    float w[MYTH_FIT_MAX], q[MYTH_FIT_MAX], again[MYTH_FIT_MAX], scale[MYTH_FIT_SUB_MAX] = {0},
                                                                 offset[MYTH_FIT_SUB_MAX] = {0};
    double weight[MYTH_FIT_SUB_MAX] = {0}, sum[MYTH_FIT_SUB_MAX] = {0};
    weigh(w, x, importance, f->n);
    *out = (myth_fit){.m = 0.0f};
    for (int j = 0; j < f->n_sub; j++) {
        sum[j] = 0.0;
        for (int i = 0; i < sub; i++)
            sum[j] += (double)w[j * sub + i];
        if (f->is_affine)
            fit_affine(f, x + j * sub, w + j * sub, sub, &scale[j], &offset[j], &weight[j]);
        else
            scale[j] = fit_linear(f, x + j * sub, w + j * sub, sub, &weight[j]);
        out->c[j] = out->b[j] = 1;
    }
    if (f->n_sub == 1) {
        out->d = to_f16(scale[0]);
        out->m = to_f16(offset[0]);
    } else {
        out->d = fit_codes(out->c, scale, weight, f->n_sub, f->code_lo, f->code_hi);
        if (f->is_affine)
            out->m = fit_codes(out->b, offset, sum, f->n_sub, f->code_lo, f->code_hi);
        try_codes(out, f, x, w);
    }
    const double e = put_integers(out, q, f, x, w);
    myth_fit other = *out;
    solve_shared(&other, q, f, x, w);
    if (put_integers(&other, again, f, x, w) < e) {
        out->d = other.d;
        out->m = other.m;
        memcpy(q, again, sizeof(q));
    }
    for (int i = 0; i < f->n; i++) {
        int at = (int)q[i];
        for (int k = 0; f->table && k < MYTH_FIT_TABLE; k++)
            if (f->table[k] == (int8_t)q[i])
                at = k;
        out->q[i] = (int8_t)at;
    }
}
