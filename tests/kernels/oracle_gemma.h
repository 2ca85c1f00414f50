/* oracle_gemma.h - computes the expected results of the ops of Gemma 3n and 4 in fp64. oracle.h includes it. */
#ifndef MYTH_TESTS_ORACLE_GEMMA_H
#define MYTH_TESTS_ORACLE_GEMMA_H

static inline void ple_merge64(struct oracle *o, const struct myth_ple_merge_args *a)
{
    uint64_t n = a->n_ple, width = n * a->n_layer;
    double *y = expect(o, "p", a->p, a->n_rows, width);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        int64_t id = a->ids.buf ? index_at(a->ids, r) : (int64_t)r;
        uint64_t row = a->ids.buf && (id < 0 || id >= (int64_t)a->n_table) ? 0 : (uint64_t)id;
        for (uint64_t l = 0; l < a->n_layer; l++) {
            double *p = y + r * width + l * n;
            for (uint64_t i = 0; i < n; i++)
                p[i] = (double)a->p_scale * value(a->p, r, width, l * n + i);
            norm64(p, p, a->w, n, (double)a->eps);
            for (uint64_t i = 0; i < n; i++)
                p[i] = (double)a->out_scale * (p[i] + (double)a->table_scale * value(a->table, row, width, l * n + i));
        }
    }
}

static inline void ple_gate64(struct oracle *o, const struct myth_ple_gate_args *a)
{
    double *x = expect(o, "x", a->x, a->n_rows, a->dim), *h = expect(o, "h", a->h, a->n_rows, a->n_ple);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        fold64(x + r * a->dim, a->x, a->pend, a->w_post, r, a->dim, (double)a->eps);
        for (uint64_t i = 0; i < a->n_ple; i++)
            h[r * a->n_ple + i] =
                gelu64(dot64(a->w, i, x + r * a->dim, a->dim)) * value(a->p, 0, 1, r * a->p_stride + i);
    }
}

/* The expert of every entry; the caller frees the array. */
static inline uint32_t *entry_experts(myth_view offset, myth_view order, uint32_t n_expert, uint32_t n_entry)
{
    uint32_t *expert = malloc(n_entry * sizeof(*expert) + 1);
    rig_must(expert != NULL && index_at(offset, n_expert) == (int32_t)n_entry, "entries");
    for (uint32_t e = 0; e < n_expert; e++)
        for (int32_t i = index_at(offset, e); i < index_at(offset, e + 1); i++)
            expert[index_at(order, (uint64_t)i)] = e;
    return expert;
}

/* Chooses the largest logit that is left, k times, which is not how the devices do it. */
static inline void route64(struct oracle *o, const struct myth_moe_route_args *a)
{
    uint32_t n = a->n_rows * a->k, at = 0;
    int32_t *id = expect_i32(o, "id", a->id, n), *offset = expect_i32(o, "offset", a->offset, a->n_expert + 1ull),
            *order = expect_i32(o, "order", a->order, n);
    double *weight = expect(o, "weight", a->weight, a->n_rows, a->k);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        bool is_taken[MYTH_EXPERT_MAX] = {false};
        double total = 0.0, *w = weight + r * a->k;
        for (uint32_t j = 0; j < a->k; j++) {
            int32_t best = -1;
            for (uint32_t e = 0; e < a->n_expert; e++) {
                double z = value(a->logits, r, a->n_expert, e),
                       b = best < 0 ? 0.0 : value(a->logits, r, a->n_expert, (uint64_t)best);
                if (!is_taken[e] && (best < 0 || z > b || (isnan(b) && !isnan(z))))
                    best = (int32_t)e;
            }
            id[r * a->k + j] = best;
            is_taken[best] = true;
            w[j] = exp((double)a->logit_scale * (value(a->logits, r, a->n_expert, (uint64_t)best) -
                                                 value(a->logits, r, a->n_expert, (uint64_t)id[r * a->k])));
            total += w[j];
        }
        for (uint32_t j = 0; j < a->k; j++)
            w[j] *= (a->expert_scale.buf ? value(a->expert_scale, 0, 1, (uint64_t)id[r * a->k + j]) : 1.0) / total;
    }
    for (uint32_t e = 0; e < a->n_expert; e++) {
        offset[e] = (int32_t)at;
        for (uint32_t i = 0; i < n; i++)
            if (id[i] == (int32_t)e)
                order[at++] = (int32_t)i;
    }
    offset[a->n_expert] = (int32_t)at;
}

static inline void moe_geglu64(struct oracle *o, const struct myth_moe_geglu_args *a)
{
    uint32_t *expert = entry_experts(a->offset, a->order, a->n_expert, a->n_rows * a->k);
    double *h = expect(o, "h", a->h, (uint64_t)a->n_rows * a->k, a->d_ff), *x = doubles(a->dim);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->k; i++) {
        uint64_t first = (uint64_t)expert[i] * a->expert_rows;
        for (uint64_t d = 0; d < a->dim; d++)
            x[d] = value(a->x, i / a->k, a->dim, d);
        for (uint64_t f = 0; f < a->d_ff; f++)
            h[i * a->d_ff + f] =
                gelu64(dot64(a->w_gate, first + f, x, a->dim)) * dot64(a->w_up, first + a->up_row + f, x, a->dim);
    }
    free(expert);
    free(x);
}

static inline void moe_down64(struct oracle *o, const struct myth_moe_down_args *a)
{
    uint32_t *expert = entry_experts(a->offset, a->order, a->n_expert, a->n_rows * a->k);
    double *y = expect(o, "y", a->y, a->n_rows, a->dim), *h = doubles(a->d_ff);
    for (uint64_t i = 0; i < (uint64_t)a->n_rows * a->k; i++) {
        for (uint64_t f = 0; f < a->d_ff; f++)
            h[f] = value(a->h, i, a->d_ff, f);
        for (uint64_t d = 0; d < a->dim; d++)
            y[i / a->k * a->dim + d] +=
                value(a->weight, 0, 1, i) * dot64(a->w, (uint64_t)expert[i] * a->dim + d, h, a->d_ff);
    }
    free(expert);
    free(h);
}

/* coef tanh(router (RMS(x) * w_route) / dim) */
static inline void coef64(double *c, uint32_t n_coef, const double *x, myth_view w_route, myth_view router,
                          myth_view coef, uint32_t n_stream, uint32_t dim, double eps)
{
    double *xn = doubles(dim);
    norm64(xn, x, w_route, dim, eps);
    for (uint32_t i = 0; i < n_coef; i++) {
        c[i] = 0.0;
        for (uint32_t j = 0; j < n_stream; j++)
            c[i] += value(coef, i, n_stream, j) * tanh(dot64(router, j, xn, dim) / dim);
    }
    free(xn);
}

static inline void predict64(struct oracle *o, const struct myth_altup_predict_args *a)
{
    uint64_t n = a->n_stream, step = (uint64_t)a->n_rows * a->dim;
    double *x = expect(o, "x", a->x, n * a->n_rows, a->dim),
           *xn = a->coef.buf ? expect(o, "xn", a->xn, a->n_rows, a->dim) : NULL;
    double *had = doubles(n * step), c[MYTH_STREAM_MAX * MYTH_STREAM_MAX];
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t r = 0; r < a->n_rows; r++) {
            myth_view stream = a->x;
            stream.off += i * step * 4;
            fold64(had + i * step + r * a->dim, stream, i ? a->pend : none(), a->w_post, r, a->dim, (double)a->eps);
        }
    memcpy(x, had, n * step * sizeof(double));
    for (uint64_t r = 0; r < a->n_rows && a->coef.buf; r++) {
        double *active = x + a->active * step + r * a->dim;
        coef64(c, (uint32_t)(n * n), had + a->active * step + r * a->dim, a->w_route, a->router, a->coef, a->n_stream,
               a->dim, (double)a->eps);
        for (uint64_t k = 0; k < n * n * a->dim; k++)
            x[k / a->dim / n * step + r * a->dim + k % a->dim] +=
                c[k / a->dim] * had[k / a->dim % n * step + r * a->dim + k % a->dim];
        norm64(xn + r * a->dim, active, a->w_in, a->dim, (double)a->eps);
    }
    free(had);
}

static inline void correct64(struct oracle *o, const struct myth_altup_correct_args *a)
{
    uint64_t n = a->n_stream, step = (uint64_t)a->n_rows * a->dim;
    double *x = expect(o, "x", a->x, n * a->n_rows, a->dim), *u = expect(o, "u", a->u, a->n_rows, a->dim),
           *gate = expect(o, "gate", a->gate, a->n_rows, a->dim), c[MYTH_STREAM_MAX];
    for (uint64_t i = 0; i < n * step; i++)
        x[i] = value(a->x, 0, 1, i);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        uint64_t at = r * a->dim;
        fold64(u + at, a->u, a->pend, a->w_post, r, a->dim, (double)a->eps);
        coef64(c, a->n_stream, u + at, a->w_route, a->router, a->coef, a->n_stream, a->dim, (double)a->eps);
        for (uint64_t k = at; k < at + a->dim; k++) {
            double d = u[k] - x[a->active * step + k];
            for (uint64_t i = 0; i < n; i++)
                x[i * step + k] += (1.0 + c[i]) * d;
            gate[k] = x[a->active * step + k] * (a->w_gate.buf ? value(a->w_gate, 0, 1, k - at) : 1.0);
        }
    }
}

static inline void match64(struct oracle *o, const struct myth_altup_match_args *a)
{
    uint64_t step = (uint64_t)a->n_rows * a->dim;
    double *u = expect(o, "u", a->u, (uint64_t)a->n_u * a->n_rows, a->dim),
           *y = a->y.buf ? expect(o, "y", a->y, a->n_rows, a->dim) : NULL;
    for (uint64_t i = 0; i < a->n_u * step; i++)
        u[i] = value(a->u, 0, 1, i);
    for (uint64_t r = 0; r < a->n_rows; r++) {
        double own = 0.0;
        for (uint64_t k = 0; k < a->dim; k++)
            own += value(a->x, r, a->dim, k) * value(a->x, r, a->dim, k) / a->dim;
        for (uint64_t k = 0; k < a->dim && y; k++)
            y[r * a->dim + k] = value(a->x, r, a->dim, k) / (a->n_u + 1.0);
        for (uint64_t i = 0; i < a->n_u; i++) {
            double *v = u + i * step + r * a->dim, ms = 0.0, scale;
            for (uint64_t k = 0; k < a->dim; k++)
                ms += v[k] * v[k] / a->dim;
            scale = sqrt(own) / sqrt(fmax(ms, 1e-5));
            for (uint64_t k = 0; k < a->dim; k++)
                if (y)
                    y[r * a->dim + k] += v[k] * scale / (a->n_u + 1.0);
                else
                    v[k] *= scale;
        }
    }
}

static inline void laurel64(struct oracle *o, const struct myth_laurel_merge_args *a)
{
    double *u = expect(o, "u", a->u, a->n_rows, a->dim), *t = doubles(a->dim);
    for (uint64_t r = 0; r < a->n_rows; r++)
        for (int b = 0; b < 2; b++) {
            for (uint64_t k = 0; k < a->dim; k++)
                t[k] = value(b ? a->laurel : a->attn, r, a->dim, k);
            norm64(t, t, b ? a->w_laurel : a->w_attn, a->dim, (double)a->eps);
            for (uint64_t k = 0; k < a->dim; k++)
                u[r * a->dim + k] += (t[k] + value(b ? a->xn : a->x, r, a->dim, k)) / sqrt(2.0);
        }
    free(t);
}

static inline void sparse64(struct oracle *o, const struct myth_geglu_sparse_args *a)
{
    double *h = expect(o, "h", a->h, a->n_rows, a->d_ff), n = a->d_ff;
    for (uint64_t r = 0; r < a->n_rows; r++) {
        double mean = 0.0, var = 0.0;
        for (uint64_t i = 0; i < a->d_ff; i++)
            mean += value(a->g, r, a->d_ff, i) / n;
        for (uint64_t i = 0; i < a->d_ff; i++)
            var += (value(a->g, r, a->d_ff, i) - mean) * (value(a->g, r, a->d_ff, i) - mean) / n;
        for (uint64_t i = 0; i < a->d_ff; i++)
            h[r * a->d_ff + i] = gelu64(fmax(value(a->g, r, a->d_ff, i) - mean - (double)a->z * sqrt(var), 0.0)) *
                                 value(a->up, r, a->d_ff, i);
    }
}

#endif
