/* oracle.h - computes the expected results of each op in fp64, directly from the formulas of ops.h. It shares no code
 * with the devices.
 *
 * Order    op_oracle reads the inputs before the op runs (x is updated in place)
 * Owner    oracle_clear frees the arrays */
#ifndef MYTH_TESTS_ORACLE_H
#define MYTH_TESTS_ORACLE_H

#include "op_case.h"

enum { WANT_MAX = 6 };

struct want {
    const char *name;
    myth_view view; /* an output of the op: [n_row, n]                          */
    uint64_t n_row, n;
    double *v; /* NULL: compare with `bytes`                               */
    unsigned char *bytes;
    bool is_sum;     /* the view holds sums of capture_sum, two i32 each         */
    double type_tol; /* rounding error of the output's type / its largest magnitude */
    double
        condition; /* the factor by which the output amplifies the relative error of its input, where it is above 1 */
};

struct oracle {
    struct want want[WANT_MAX];
    int n_want;
    double *logits; /* head_topk: [n_rows, n_vocab] after biases and masks; -inf = forbidden */
};

static inline double *doubles(uint64_t n)
{
    double *p = calloc((size_t)(n ? n : 1), sizeof(double));
    rig_must(p != NULL, "memory");
    return p;
}

static inline void oracle_clear(struct oracle *o)
{
    for (int i = 0; i < o->n_want; i++) {
        free(o->want[i].v);
        free(o->want[i].bytes);
    }
    free(o->logits);
    memset(o, 0, sizeof(*o));
}

static inline double half_value(const unsigned char *p)
{
    unsigned h = p[0] | (unsigned)p[1] << 8, e = h >> 10 & 31, m = h & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1.0 + m / 1024.0, (int)e - 15) : ldexp(m / 1024.0, -14);
    return h & 0x8000 ? -v : v;
}

static inline int nibble_at(const unsigned char *p, unsigned i) { return i < 16 ? p[i] & 15 : p[i - 16] >> 4; }

/* The six bits of scale k (0..7), or of minimum k - 8 (8..15), in q4_k and q5_k. */
static inline int six_at(const unsigned char *s, unsigned k)
{
    unsigned j = k % 8, is_min = k / 8;
    return j < 4 ? s[j + 4 * is_min] & 63 : (s[4 + j] >> 4 * is_min & 15) | s[j - 4 + 4 * is_min] >> 6 << 4;
}

/* Value i of a block as a double, from the layouts in dtype.h. */
static inline double block_value(myth_dtype t, const unsigned char *b, unsigned i)
{
    static const int iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    static const int fp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    const unsigned h = i / 128, j = i % 128 / 32, l = i % 32, k = i / 16, c = i / 32;
    const myth_dtype_info *info = myth_dtype_get(t);
    const double d = half_value(b + info->half_off), m = info->n_half > 1 ? half_value(b + info->half_off + 2) : 0.0;
    int s, q;
    switch (t) {
    case MYTH_Q8_0: return d * (signed char)b[2 + i];
    case MYTH_Q4_0: return d * (nibble_at(b + 2, i) - 8);
    case MYTH_Q4_1: return d * nibble_at(b + 4, i) + m;
    case MYTH_Q5_0: return d * ((nibble_at(b + 6, i) | (b[2 + i / 8] >> i % 8 & 1) << 4) - 16);
    case MYTH_Q5_1: return d * (nibble_at(b + 8, i) | (b[4 + i / 8] >> i % 8 & 1) << 4) + m;
    case MYTH_IQ4_NL: return d * iq4[nibble_at(b + 2, i)];
    case MYTH_MXFP4: return ldexp(fp4[nibble_at(b + 1, i)], b[0] - 128);
    case MYTH_Q2_K: return d * (b[k] & 15) * (b[16 + 32 * h + l] >> 2 * j & 3) - m * (b[k] >> 4);
    case MYTH_Q3_K:
        s = (b[96 + k % 8] >> 4 * (k / 8) & 15) | (b[104 + k % 4] >> 2 * (k / 4) & 3) << 4;
        q = (b[32 + 32 * h + l] >> 2 * j & 3) | (b[l] >> c & 1) << 2;
        return d * (s - 32) * (q - 4);
    case MYTH_Q4_K:
        return d * six_at(b + 4, c) * (b[16 + 32 * (c / 2) + l] >> 4 * (c % 2) & 15) - m * six_at(b + 4, 8 + c);
    case MYTH_Q5_K:
        q = (b[48 + 32 * (c / 2) + l] >> 4 * (c % 2) & 15) | (b[16 + l] >> c & 1) << 4;
        return d * six_at(b + 4, c) * q - m * six_at(b + 4, 8 + c);
    case MYTH_Q6_K:
        q = (b[64 * h + 32 * (j % 2) + l] >> 4 * (j / 2) & 15) | (b[128 + 32 * h + l] >> 2 * j & 3) << 4;
        return d * (signed char)b[192 + k] * (q - 32);
    case MYTH_TQ2_0: return d * ((b[32 * h + l] >> 2 * j & 3) - 1);
    case MYTH_IQ4_XS:
        s = (b[4 + c / 2] >> 4 * (c % 2) & 15) | ((b[2] | b[3] << 8) >> 2 * c & 3) << 4;
        return d * (s - 32) * iq4[nibble_at(b + 8 + 16 * c, l)];
    default: rig_must(false, "a type of blocks without an oracle"); return 0.0;
    }
}

/* Element i of row r of a [.., n] view. */
static inline double value(myth_view v, uint64_t r, uint64_t n, uint64_t i)
{
    const unsigned char *row = (const unsigned char *)view_host(v) + r * myth_row_bytes(v.dtype, n);
    float f;
    uint32_t u;
    switch (v.dtype) {
    case MYTH_F16: return half_value(row + 2 * i);
    case MYTH_BF16:
        u = (uint32_t)(row[2 * i] | row[2 * i + 1] << 8) << 16;
        memcpy(&f, &u, 4);
        return (double)f;
    case MYTH_F32: memcpy(&f, row + 4 * i, 4); return (double)f;
    default:
        row += i / myth_dtype_block(v.dtype) * myth_dtype_block_bytes(v.dtype);
        return block_value(v.dtype, row, (unsigned)(i % myth_dtype_block(v.dtype)));
    }
}

static inline int32_t index_at(myth_view v, uint64_t i) { return ((int32_t *)view_host(v))[i]; }

static inline double *expect(struct oracle *o, const char *name, myth_view view, uint64_t n_row, uint64_t n)
{
    static const double rounding[MYTH_DTYPE_N] = {[MYTH_F16] = 0x1p-11, [MYTH_BF16] = 0x1p-8, [MYTH_Q8_0] = 1.0 / 250};
    struct want *w = &o->want[o->n_want++];
    rig_must(o->n_want <= WANT_MAX, "too many outputs");
    *w = (struct want){
        .name = name,
        .view = view,
        .n_row = n_row,
        .n = n,
        .v = doubles(n_row * n),
        .type_tol = rounding[view.dtype],
    };
    return w->v;
}

/* ---- pieces ---- */

static inline void norm64(double *y, const double *x, myth_view w, uint64_t n, double eps)
{
    double ss = 0.0;
    for (uint64_t i = 0; i < n; i++)
        ss += x[i] * x[i];
    for (uint64_t i = 0; i < n; i++)
        y[i] = x[i] / sqrt(ss / (double)n + eps) * (w.buf ? value(w, 0, n, i) : 1.0);
}

/* Row r of x plus its pending branch. */
static inline void fold64(double *y, myth_view x, myth_view pend, myth_view w_post, uint64_t r, uint64_t n, double eps)
{
    double *p = doubles(n);
    for (uint64_t i = 0; i < n && pend.buf; i++)
        p[i] = value(pend, r, n, i);
    if (pend.buf && w_post.buf)
        norm64(p, p, w_post, n, eps);
    for (uint64_t i = 0; i < n; i++)
        y[i] = value(x, r, n, i) + p[i];
    free(p);
}

/* Scales the residual as a whole, if a branch was added to it. */
static inline void scale64(double *y, myth_view pend, float x_scale, uint64_t n)
{
    for (uint64_t i = 0; i < n && pend.buf && x_scale != 0.0f; i++)
        y[i] *= (double)x_scale;
}

static inline double dot64(myth_view w, uint64_t row, const double *x, uint64_t n)
{
    double sum = 0.0;
    for (uint64_t i = 0; i < n; i++)
        sum += value(w, row, n, i) * x[i];
    return sum;
}

static inline double cap64(double v, double cap) { return cap > 0.0 ? cap * tanh(v / cap) : v; }
static inline double gelu64(double x)
{
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

/* The prologue and the norm. The updated x and its normed copy become outputs if they have names. Returns the normed
 * rows.
 */
static inline double *prologue64(struct oracle *o, myth_view x, myth_view pend, myth_view w_post, myth_view w,
                                 myth_view xn, uint64_t n_row, uint64_t n, double eps, float x_scale)
{
    double *want_x = expect(o, "x", x, n_row, n), *want_xn = expect(o, "xn", xn, n_row, n);
    for (uint64_t r = 0; r < n_row; r++) {
        fold64(want_x + r * n, x, pend, w_post, r, n, eps);
        scale64(want_x + r * n, pend, x_scale, n);
        norm64(want_xn + r * n, want_x + r * n, w, n, eps);
    }
    return want_xn;
}

/* The outputs of qkv_rope_store from rows of q, k and v, [n_rows, (n_head + 2 n_head_kv) * hd]. Nothing is expected of
 * what is not stored. */
static inline void store64(struct oracle *o, const struct myth_qkv_rope_store_args *a, const double *qkv)
{
    uint64_t hd = a->head_dim, half = hd / 2, width = (a->n_head + 2ull * a->n_head_kv) * hd;
    double *q = expect(o, "q", a->q, (uint64_t)a->n_rows * a->n_head, hd), *head = doubles(hd);
    const uint64_t n_kv = (uint64_t)a->n_head_kv * a->cap_rows;
    double *k = a->k_new.buf ? expect(o, "k_new", a->k_new, n_kv, hd) : NULL,
           *v = a->v_new.buf ? expect(o, "v_new", a->v_new, n_kv, hd) : NULL;
    for (uint64_t i = 0; i < n_kv * hd; i++) { /* rows past n_rows stay untouched */
        if (k)
            k[i] = NAN;
        if (v)
            v[i] = NAN;
    }
    for (uint64_t r = 0; r < a->n_rows; r++) {
        for (uint64_t h = 0; h < a->n_head + 2ull * a->n_head_kv; h++) {
            bool is_q = h < a->n_head, is_v = h >= a->n_head + (uint64_t)a->n_head_kv;
            uint64_t kv = is_q ? 0 : (h - a->n_head) % a->n_head_kv;
            const double *src = qkv + r * width + (is_v && a->v_is_k ? h - a->n_head_kv : h) * hd;
            if (!is_q && !(is_v ? v : k))
                continue;
            double *dst = is_q ? q + (r * a->n_head + h) * hd : (is_v ? v : k) + (kv * a->cap_rows + r) * hd;
            if (is_v) {
                memcpy(dst, src, hd * sizeof(double));
                if (a->has_v_norm)
                    norm64(dst, dst, (myth_view){0}, hd, (double)a->eps);
                continue;
            }
            memcpy(head, src, hd * sizeof(double));
            if ((is_q ? a->n_q : a->n_k).buf)
                norm64(head, head, is_q ? a->n_q : a->n_k, hd, (double)a->eps);
            for (uint64_t i = 0; i < hd; i++) {
                double c = value(a->rope, r, hd, i % half * 2), s = value(a->rope, r, hd, i % half * 2 + 1);
                double y = i < half ? head[i] * c - head[i + half] * s : head[i] * c + head[i - half] * s;
                dst[i] = is_q ? y * (double)a->q_scale : y;
            }
        }
    }
    free(head);
}

/* Turns the value of position pos into its folded key, in place. */
static inline void fold_key64(double *key, const struct myth_key_fold *f, uint32_t pos, uint64_t hd)
{
    const uint64_t half = hd / 2;
    for (uint64_t i = 0; i < hd; i++)
        key[i] *= value(f->w, 0, hd, i);
    for (uint64_t i = 0; i < f->n_pair; i++) {
        const double angle = pos * (pow(f->base, -2.0 * (double)i / (double)hd) / f->factor), lo = key[i],
                     hi = key[i + half];
        key[i] = lo * cos(angle) - hi * sin(angle);
        key[i + half] = hi * cos(angle) + lo * sin(angle);
    }
}

/* The softmax weights of row and head i over positions 0 .. *last; 0 for those that the row does not see. */
static inline void weights64(double *weight, uint32_t *last, const struct myth_attn_args *a,
                             const struct kernel_case *c, uint64_t i)
{
    const uint64_t hd = a->head_dim, r = i / a->n_head;
    const uint32_t run = (uint32_t)index_at(a->row_run, r), pos = (uint32_t)index_at(a->pos, r),
                   head = (uint32_t)(i % a->n_head / (a->n_head / a->n_head_kv)),
                   first = a->window && pos >= a->window ? pos - a->window + 1 : 0;
    double *key = doubles(hd), most = -INFINITY, total = 0.0;
    unsigned char *bytes = malloc((size_t)hd * 4 + 64);
    rig_must(bytes != NULL, "memory");
    myth_buf lone = {.host = bytes};
    const bool folds = a->fold.w.buf != NULL;
    const myth_dtype type_k = folds ? a->v_new.dtype : a->k_new.dtype;
    struct case_gaps gaps = case_gaps(c, run);
    gaps.n = c->is_ring ? 0 : gaps.n; /* rings ignore gaps */
    *last = pos;
    for (uint64_t next = r + 1;
         next < a->n_rows && (uint32_t)index_at(a->row_run, next) == run && *last - pos < a->n_after; next++)
        ++*last;
    for (uint32_t j = 0; j <= *last; j++) {
        weight[j] = -INFINITY;
        if (j < first || in_gap(&gaps, j, j + 1))
            continue;
        kv_row(bytes, type_k, run, folds, head, j, (uint32_t)hd);
        double dot = 0.0;
        for (uint64_t d = 0; d < hd; d++)
            key[d] = value((myth_view){&lone, 0, type_k}, 0, hd, d);
        if (folds)
            fold_key64(key, &a->fold, j, hd);
        for (uint64_t d = 0; d < hd; d++)
            dot += value(a->q, i, hd, d) * key[d];
        weight[j] = cap64(dot, (double)a->softcap);
        most = fmax(most, weight[j]);
    }
    for (uint32_t j = 0; j <= *last; j++)
        total += weight[j] = exp(weight[j] - most);
    for (uint32_t j = 0; j <= *last; j++)
        weight[j] /= total;
    free(bytes);
    free(key);
}

static inline void attn64(struct oracle *o, const struct myth_attn_args *a, const struct kernel_case *c)
{
    uint64_t hd = a->head_dim;
    double *out = expect(o, "o", a->o, (uint64_t)a->n_rows * a->n_head, hd),
           *weight = doubles(c->depth + c->rows + 1ull);
    unsigned char *bytes = malloc((size_t)hd * 4 + 64);
    rig_must(bytes != NULL, "memory");
    myth_buf lone = {.host = bytes};
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->n_head; i++) {
        const uint32_t run = (uint32_t)index_at(a->row_run, i / a->n_head),
                       head = (uint32_t)(i % a->n_head / (a->n_head / a->n_head_kv));
        uint32_t last;
        weights64(weight, &last, a, c, i);
        for (uint32_t j = 0; j <= last; j++) {
            if (weight[j] == 0.0)
                continue;
            kv_row(bytes, a->v_new.dtype, run, true, head, j, (uint32_t)hd);
            for (uint64_t d = 0; d < hd; d++)
                out[i * hd + d] += weight[j] * value((myth_view){&lone, 0, a->v_new.dtype}, 0, hd, d);
        }
    }
    free(bytes);
    free(weight);
}

static inline void mass64(struct oracle *o, const struct myth_attn_mass_args *m, const struct kernel_case *c)
{
    const struct myth_attn_args *a = &m->attn;
    double *mass = expect(o, "mass", m->mass, a->n_rows, m->n_key),
           *part = expect(o, "part", m->part, (uint64_t)a->n_rows * a->n_head, m->n_key),
           *weight = doubles(c->depth + c->rows + 1ull);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * m->n_key; i++)
        mass[i] = value(m->mass, 0, (uint64_t)a->n_rows * m->n_key, i);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->n_head; i++) {
        uint32_t last;
        weights64(weight, &last, a, c, i);
        for (uint32_t k = 0; k < m->n_key; k++) {
            part[i * m->n_key + k] = m->first + k <= last ? weight[m->first + k] : 0.0;
            mass[i / a->n_head * m->n_key + k] += (double)m->scale / a->n_head * part[i * m->n_key + k];
        }
    }
    free(weight);
}

/* The whole pool, byte by byte. Rows that no run writes stay as they were. */
static inline void merge64(struct oracle *o, const struct myth_kv_merge_args *a, const struct kernel_case *c)
{
    uint64_t n_byte = a->kv.pool.buf->bytes - a->kv.pool.off;
    struct want *w = &o->want[o->n_want++];
    unsigned char *now = view_host(a->kv.pool), *before = malloc(n_byte);
    *w = (struct want){.name = "pool", .view = a->kv.pool, .n_row = 1, .n = n_byte, .bytes = malloc(n_byte)};
    rig_must(w->bytes && before, "memory");
    memcpy(before, now, n_byte);
    for (uint32_t run = 0; run < a->n_run; run++) { /* written in place, copied out, put back */
        const int32_t *rec = (int32_t *)view_host(a->runs) + run * MYTH_RUN_WIDTH;
        const struct case_gaps gaps = case_gaps(c, run);
        for (int32_t i = 0; i < rec[MYTH_RUN_N_ROWS] && !(rec[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL); i++) {
            for (int is_v = !a->k_new.buf; is_v < 2; is_v++) {
                uint64_t step;
                uint32_t pos = (uint32_t)(rec[MYTH_RUN_POS0] + i);
                unsigned char *at = kv_cached(&a->kv, (uint32_t)rec[MYTH_RUN_SLOT], pos, &gaps, is_v,
                                              a->k_new.buf ? a->k_new.dtype : MYTH_DTYPE_N, a->v_new.dtype,
                                              a->n_head_kv, a->head_dim, &step);
                for (uint32_t h = 0; h < a->n_head_kv; h++)
                    kv_row(at + h * step, is_v ? a->v_new.dtype : a->k_new.dtype, run, is_v, h, pos, a->head_dim);
            }
        }
    }
    memcpy(w->bytes, now, n_byte);
    memcpy(now, before, n_byte);
    free(before);
}

/* The expected bytes of a view: a copy of the present ones, which the caller changes. */
static inline int32_t *expect_i32(struct oracle *o, const char *name, myth_view v, uint64_t n)
{
    struct want *w = &o->want[o->n_want++];
    *w = (struct want){.name = name, .view = v, .n_row = 1, .n = n * 4, .bytes = malloc(n * 4)};
    rig_must(w->bytes != NULL, "memory");
    memcpy(w->bytes, view_host(v), n * 4);
    return (int32_t *)(void *)w->bytes;
}

/* The sampler: computes the weights of the candidates that the filters leave, and chooses the first at which their
 * running share passes the random number. */
static inline uint32_t choose64(const struct myth_decode_next_args *a, uint32_t r)
{
    const float *logit = (float *)view_host(a->top_logit) + r * a->k;
    long double mass = 0.0L, total = 0.0L, before = 0.0L;
    uint32_t n_left = 0;
    if (a->sample.temp <= 0.0f)
        return 0;
    for (uint32_t i = 0; i < a->k; i++)
        total += expl((long double)logit[i]);
    for (uint32_t i = 0; i < a->k; i++) {
        bool in_p = a->sample.top_p <= 0.0f || a->sample.top_p >= 1.0f || mass < (long double)a->sample.top_p * total;
        bool in_min = a->sample.min_p <= 0.0f ||
                      expl((long double)(logit[i] - logit[0])) >= (long double)a->sample.min_p || i == 0;
        mass += expl((long double)logit[i]);
        n_left += in_p && in_min;
    }
    total = 0.0L;
    for (uint32_t i = 0; i < n_left; i++)
        total += expl((long double)logit[i] / (long double)a->sample.temp);
    long double u =
        (long double)myth_random_uniform(a->sample.seed, a->seq_number + r, (uint32_t)index_at(a->pos, r) + 1) * total;
    for (uint32_t i = 0; i + 1 < n_left; i++) {
        before += expl((long double)logit[i] / (long double)a->sample.temp);
        if (u < before)
            return i;
    }
    return n_left - 1;
}

static inline void next64(struct oracle *o, const struct myth_decode_next_args *a)
{
    int32_t *ids = expect_i32(o, "ids", a->ids, a->n_rows), *pos = expect_i32(o, "pos", a->pos, a->n_rows);
    int32_t *runs = expect_i32(o, "runs", a->runs, (uint64_t)a->n_rows * MYTH_RUN_WIDTH);
    int32_t *out = expect_i32(o, "out", a->out, (uint64_t)a->n_out * a->n_rows),
            *step = expect_i32(o, "step", a->step, 1);
    out += (uint32_t)*step % a->n_out * a->n_rows;
    for (uint32_t r = 0; r < a->n_rows; r++) {
        int32_t *run = runs + r * MYTH_RUN_WIDTH, id = index_at(a->top_id, (uint64_t)r * a->k + choose64(a, r));
        bool stops = false;
        for (uint32_t i = 0; i < a->n_stop; i++)
            stops |= id == index_at(a->stop_id, i);
        if (run[MYTH_RUN_FLAGS] & MYTH_RUN_EPHEMERAL) {
            out[r] = -1;
        } else if (out[r] = id, stops) {
            run[MYTH_RUN_FLAGS] |= MYTH_RUN_EPHEMERAL;
        } else {
            ids[r] = id;
            pos[r]++;
            run[MYTH_RUN_POS0]++;
        }
    }
    ++*step;
}

static inline void topk64(struct oracle *o, const struct myth_head_topk_args *a)
{
    uint64_t n = a->n_vocab, n_word = (n + 31) / 32;
    double *lse = expect(o, "lse", a->lse, 1, a->n_rows), *entropy = expect(o, "entropy", a->entropy, 1, a->n_rows),
           *x = doubles(a->dim);
    double *ask = a->n_ask ? expect(o, "ask_logit", a->ask_logit, a->n_rows, a->n_ask) : NULL;
    double largest = 0.0;
    o->logits = doubles(a->n_rows * n);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        double *z = o->logits + r * n, most = -INFINITY, total = 0.0;
        for (uint64_t i = 0; i < a->dim; i++)
            x[i] = value(a->x, r, a->dim, i);
        for (uint64_t v = 0; v < n; v++)
            z[v] = cap64(dot64(a->w, v, x, a->dim), (double)a->softcap);
        for (uint64_t i = 0; i < a->n_ask; i++)
            ask[r * a->n_ask + i] = z[index_at(a->ask_id, r * a->n_ask + i)];
        for (int32_t i = a->bias_off.buf ? index_at(a->bias_off, r) : 0;
             a->bias_off.buf && i < index_at(a->bias_off, r + 1); i++)
            z[index_at(a->bias_id, (uint64_t)i)] += value(a->bias, 0, 1, (uint64_t)i);
        if (a->mask_idx.buf && index_at(a->mask_idx, r) >= 0)
            for (uint64_t v = 0; v < n; v++)
                if (!((uint32_t)index_at(a->masks, (uint64_t)index_at(a->mask_idx, r) * n_word + v / 32) >> v % 32 & 1))
                    z[v] = -INFINITY;
        for (uint64_t v = 0; v < n; v++)
            most = fmax(most, z[v]);
        for (uint64_t v = 0; v < n; v++)
            total += exp(z[v] - most);
        lse[r] = most + log(total);
        for (uint64_t v = 0; v < n; v++) {
            double p = exp(z[v] - lse[r]);
            entropy[r] -= p > 0.0 ? p * (z[v] - lse[r]) : 0.0;
            largest = isfinite(z[v]) ? fmax(largest, fabs(z[v])) : largest;
        }
    }
    for (int i = 0; i < o->n_want; i++) /* |dH| = |sum p (log p + H) dz| <= 2 H max |dz| */
        if (o->want[i].v == entropy)
            o->want[i].condition = 2.0 * largest;
    free(x);
}

/* ---- capture_sum, in integers that are wide enough for every sum ---- */

__extension__ typedef __int128 wide;

static inline wide sum_start(myth_view v, uint64_t i)
{
    return (wide)index_at(v, 2 * i + 1) * ((wide)1 << 32) + (uint32_t)index_at(v, 2 * i);
}

static inline double sum_value(myth_view v, uint64_t i)
{
    return ldexp((double)sum_start(v, i), -MYTH_CAPTURE_FRACTION_BITS);
}

/* t below 2^38 in units of 2^-24, computed from its mantissa and exponent; to nearest, ties to even. */
static inline wide fixed_point(double t)
{
    int e;
    wide m = (wide)ldexp(frexp(fabs(t), &e), 53), q; /* |t| = m 2^(e - 53) */
    int shift = 53 - e - MYTH_CAPTURE_FRACTION_BITS;
    if (shift > 60)
        return 0;
    if (shift <= 0) {
        q = m << -shift;
    } else {
        wide half = (wide)1 << (shift - 1), rest = m & (2 * half - 1);
        q = m >> shift;
        q += rest > half || (rest == half && (q & 1));
    }
    return t < 0.0 ? -q : q;
}

static inline void sum64(struct oracle *o, const struct kernel_case *c, const struct myth_capture_sum_args *a)
{
    uint64_t n = (uint64_t)a->n_label * a->dim;
    wide *sum = malloc((size_t)n * sizeof(*sum));
    double *t = doubles(a->dim), *x = expect(o, "x", a->x, c->rows, a->dim);
    int32_t bad = 0;
    rig_must(sum != NULL, "memory");
    for (uint64_t i = 0; i < (uint64_t)c->rows * a->dim; i++)
        x[i] = value(a->x, 0, 1, i); /* unchanged */
    for (uint64_t i = 0; i < n; i++)
        sum[i] = sum_start(a->sum, i);
    for (uint64_t i = 0; i < a->n_gather; i++) {
        if (index_at(a->label, i) < 0)
            continue;
        fold64(t, a->x, a->pend, a->w_post, (uint64_t)index_at(a->rows, i), a->dim, (double)a->eps);
        scale64(t, a->pend, a->x_scale, a->dim);
        for (uint64_t k = 0; k < a->dim; k++) {
            wide *at = &sum[(uint64_t)index_at(a->label, i) * a->dim + k];
            bool is_small = fabs(t[k]) < 0x1p38;
            wide next = *at + (is_small ? fixed_point(t[k]) : 0);
            if (!is_small || next > INT64_MAX || next < INT64_MIN)
                bad = 1;
            else
                *at = next;
        }
    }
    struct want *w = &o->want[o->n_want++];
    *w = (struct want){.name = "sum", .view = a->sum, .n_row = a->n_label, .n = a->dim};
    if (a->pend.buf) { /* the fold is f32: close */
        w->is_sum = true;
        w->v = doubles(n);
        for (uint64_t i = 0; i < n; i++)
            w->v[i] = ldexp((double)sum[i], -MYTH_CAPTURE_FRACTION_BITS);
    } else { /* to the bit */
        w->n = 8 * n;
        w->bytes = malloc((size_t)w->n);
        rig_must(w->bytes != NULL, "memory");
        for (uint64_t i = 0; i < w->n; i++)
            w->bytes[i] = (unsigned char)(sum[i / 8] >> (i % 8 * 8));
    }
    w = &o->want[o->n_want++];
    *w = (struct want){.name = "bad", .view = a->bad, .n_row = 1, .n = 4, .bytes = malloc(4)};
    rig_must(w->bytes != NULL, "memory");
    memcpy(w->bytes, &bad, 4);
    free(sum);
    free(t);
}

#include "oracle_gemma.h"

/* ---- every op ---- */

static inline void op_oracle(struct oracle *o, const struct kernel_case *c, const union op_args *u)
{
    double *y, *xn, *row = doubles(most_u32(most_u32(c->dim, c->d_ff), 1));
    memset(o, 0, sizeof(*o));
    switch (c->op) {
    case MYTH_OP_embed_gather: {
        const struct myth_embed_gather_args *a = &u->embed_gather;
        y = expect(o, "y", a->y, a->n_rows, a->dim);
        for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->dim; i++)
            y[i] = (double)a->scale * value(a->table, (uint64_t)index_at(a->ids, i / a->dim), a->dim, i % a->dim);
        break;
    }
    case MYTH_OP_rope_table: {
        const struct myth_rope_table_args *a = &u->rope_table;
        y = expect(o, "table", a->table, a->n_rows, a->head_dim);
        for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->head_dim; i++) {
            uint64_t pair = i % a->head_dim / 2;
            long double angle = (long double)index_at(a->pos, i / a->head_dim) *
                                powl(a->base, -2.0L * (long double)pair / a->head_dim) / (long double)a->factor;
            angle = pair < a->n_pair ? angle : 0.0L;
            y[i] = (double)(i % 2 ? sinl(angle) : cosl(angle));
        }
        break;
    }
    case MYTH_OP_rms_norm: {
        const struct myth_rms_norm_args *a = &u->rms_norm;
        prologue64(o, a->x, a->pend, a->w_post, a->w, a->y, a->n_rows, a->dim, (double)a->eps, a->x_scale);
        break;
    }
    case MYTH_OP_proj: {
        const struct myth_proj_args *a = &u->proj;
        y = expect(o, "y", a->y, a->n_rows, a->n_out);
        for (uint64_t r = 0; r < a->n_rows; r++) {
            for (uint64_t i = 0; i < a->n_in; i++)
                row[i] = value(a->x, r, a->n_in, i);
            for (uint64_t i = 0; i < a->n_out; i++)
                y[r * a->n_out + i] = dot64(a->w, i, row, a->n_in);
        }
        break;
    }
    case MYTH_OP_norm_qkv_rope_store: {
        const struct myth_norm_qkv_rope_store_args *a = &u->norm_qkv_rope_store;
        uint64_t hd = a->head_dim, n_q = a->n_head * hd, n_kv = a->n_head_kv * hd, width = n_q + 2 * n_kv;
        struct myth_qkv_rope_store_args half = {
            .n_q = a->n_q,
            .n_k = a->n_k,
            .rope = a->rope,
            .q = a->q,
            .k_new = a->k_new,
            .v_new = a->v_new,
            .n_rows = a->n_rows,
            .cap_rows = a->cap_rows,
            .n_head = a->n_head,
            .n_head_kv = a->n_head_kv,
            .head_dim = a->head_dim,
            .eps = a->eps,
            .q_scale = a->q_scale,
            .v_is_k = a->w_k.buf && !a->w_v.buf,
            .has_v_norm = a->has_v_norm,
        };
        double *qkv = doubles(a->n_rows * width);
        xn = prologue64(o, a->x, a->pend, a->w_post, a->w_in, a->xn, a->n_rows, a->dim, (double)a->eps, a->x_scale);
        for (uint64_t r = 0; r < a->n_rows; r++)
            for (uint64_t i = 0; i < width; i++)
                if (i < n_q || (i < n_q + n_kv ? a->w_k : a->w_v).buf)
                    qkv[r * width + i] = i < n_q        ? dot64(a->w_q, i, xn + r * a->dim, a->dim)
                                       : i < n_q + n_kv ? dot64(a->w_k, i - n_q, xn + r * a->dim, a->dim)
                                                        : dot64(a->w_v, i - n_q - n_kv, xn + r * a->dim, a->dim);
        store64(o, &half, qkv);
        o->want[1].name = NULL; /* xn is scratch */
        free(qkv);
        break;
    }
    case MYTH_OP_qkv_rope_store: {
        const struct myth_qkv_rope_store_args *a = &u->qkv_rope_store;
        uint64_t hd = a->head_dim, n_q = a->n_head * hd, n_kv = a->n_head_kv * hd, width = n_q + 2 * n_kv,
                 n_row = a->n_rows;
        double *qkv = doubles(n_row * width);
        for (uint64_t r = 0; r < n_row; r++)
            for (uint64_t i = 0; i < width; i++) {
                uint64_t at = i < n_q        ? r * n_q + i
                            : i < n_q + n_kv ? n_row * n_q + r * n_kv + i - n_q
                                             : n_row * (n_q + n_kv) + r * n_kv + i - n_q - n_kv;
                qkv[r * width + i] = value(a->qkv, 0, n_row * width, at);
            }
        store64(o, a, qkv);
        free(qkv);
        break;
    }
    case MYTH_OP_attn_prefill:
    case MYTH_OP_attn_decode: attn64(o, &u->attn_prefill, c); break;
    case MYTH_OP_attn_mass: mass64(o, &u->attn_mass, c); break;
    case MYTH_OP_kv_merge: merge64(o, &u->kv_merge, c); break;
    case MYTH_OP_norm_ffn_geglu: {
        const struct myth_norm_ffn_geglu_args *a = &u->norm_ffn_geglu;
        xn = prologue64(o, a->x, a->pend, a->w_post, a->w, a->xn, a->n_rows, a->dim, (double)a->eps, a->x_scale);
        y = expect(o, "h", a->h, a->n_rows, a->d_ff);
        for (uint64_t r = 0; r < a->n_rows; r++)
            for (uint64_t i = 0; i < a->d_ff; i++)
                y[r * a->d_ff + i] =
                    gelu64(dot64(a->w_gate, i, xn + r * a->dim, a->dim)) * dot64(a->w_up, i, xn + r * a->dim, a->dim);
        o->want[1].name = NULL;
        break;
    }
    case MYTH_OP_add_low_rank: {
        const struct myth_add_low_rank_args *a = &u->add_low_rank;
        y = expect(o, "y", a->y, a->n_rows, a->n_out);
        for (uint64_t r = 0; r < a->n_rows; r++)
            for (uint64_t i = 0; i < a->n_out; i++) {
                double sum = value(a->y, r, a->n_out, i);
                for (uint64_t k = 0; k < a->rank; k++)
                    sum += value(a->b, k, a->n_out, i) * value(a->t, r, a->rank, k);
                y[r * a->n_out + i] = sum;
            }
        break;
    }
    case MYTH_OP_geglu: {
        const struct myth_geglu_args *a = &u->geglu;
        y = expect(o, "h", a->h, a->n_rows, a->d_ff);
        for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->d_ff; i++)
            y[i] = gelu64(value(a->g, 0, 1, i)) * value(a->up, 0, 1, i);
        break;
    }
    case MYTH_OP_gather_norm: {
        const struct myth_gather_norm_args *a = &u->gather_norm;
        y = expect(o, "y", a->y, a->n_gather, a->dim);
        for (uint64_t i = 0; i < a->n_gather; i++) {
            fold64(y + i * a->dim, a->x, a->pend, a->w_post, (uint64_t)index_at(a->rows, i), a->dim, (double)a->eps);
            scale64(y + i * a->dim, a->pend, a->x_scale, a->dim);
            if (a->w.buf)
                norm64(y + i * a->dim, y + i * a->dim, a->w, a->dim, (double)a->eps);
        }
        y = expect(o, "x", a->x, c->rows, a->dim); /* unchanged */
        for (uint64_t i = 0; i < (uint64_t)c->rows * a->dim; i++)
            y[i] = value(a->x, 0, 1, i);
        break;
    }
    case MYTH_OP_head_topk: topk64(o, &u->head_topk); break;
    case MYTH_OP_head_logits: {
        const struct myth_head_logits_args *a = &u->head_logits;
        y = expect(o, "y", a->y, 1, a->n_vocab);
        for (uint64_t i = 0; i < a->dim; i++)
            row[i] = value(a->x, 0, a->dim, i);
        for (uint64_t i = 0; i < a->n_vocab; i++)
            y[i] = cap64(dot64(a->w, i, row, a->dim), (double)a->softcap);
        break;
    }
    case MYTH_OP_decode_next: next64(o, &u->decode_next); break;
    case MYTH_OP_copy:
        y = expect(o, "dst", u->copy.dst, 1, u->copy.bytes / 4);
        for (uint64_t i = 0; i < u->copy.bytes / 4; i++)
            y[i] = value(u->copy.src, 0, 1, i);
        break;
    case MYTH_OP_capture_sum: sum64(o, c, &u->capture_sum); break;
    case MYTH_OP_ple_merge: ple_merge64(o, &u->ple_merge); break;
    case MYTH_OP_ple_gate: ple_gate64(o, &u->ple_gate); break;
    case MYTH_OP_moe_route: route64(o, &u->moe_route); break;
    case MYTH_OP_moe_geglu: moe_geglu64(o, &u->moe_geglu); break;
    case MYTH_OP_moe_down: moe_down64(o, &u->moe_down); break;
    case MYTH_OP_altup_predict: predict64(o, &u->altup_predict); break;
    case MYTH_OP_altup_correct: correct64(o, &u->altup_correct); break;
    case MYTH_OP_altup_match: match64(o, &u->altup_match); break;
    case MYTH_OP_laurel_merge: laurel64(o, &u->laurel_merge); break;
    case MYTH_OP_geglu_sparse: sparse64(o, &u->geglu_sparse); break;
    default: rig_must(false, "an op without an oracle");
    }
    free(row);
}

#endif
