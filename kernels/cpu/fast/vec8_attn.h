/* vec8_attn.h - a part of fast_vec8.h: attention of a tile of query rows to one block of keys at a time. fast.h
 * describes the tile and the block. */
#ifndef MYTH_CPU_VEC8_ATTN_H
#define MYTH_CPU_VEC8_ATTN_H

/* The keys [*from, *to) of the block are those that the tile's row `row` sees. */
FAST_INLINE void row_reach(const struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row, int32_t *from,
                           int32_t *to)
{
    const int32_t first = t->first[row], last = t->last[row];
    *from = first > b->j0 ? first - b->j0 : 0;
    *to = last < b->j0 ? 0 : last - b->j0 + 1;
    *from = *from < BLOCK ? *from : BLOCK;
    *to = *to < BLOCK ? *to : BLOCK;
}

/* The keys [*from, *to) of the block are those that exist and that some row of the tile sees. */
static void tile_reach(const struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t *from, uint32_t *to)
{
    int32_t first = BLOCK, end = 0;
    for (uint32_t i = 0; i < t->n_q; i++) {
        int32_t f, e;
        row_reach(t, b, i, &f, &e);
        first = f < first ? f : first;
        end = e > end ? e : end;
    }
    while (first < end && !b->k[first])
        first++;
    while (first < end && !b->k[end - 1])
        end--;
    *from = (uint32_t)first;
    *to = end > first ? (uint32_t)end : (uint32_t)first;
}

/* Turns the row's scores in s into weights e^(score - m), and updates the row's m, l and fade. Weights of keys that the
 * row does not see, or that were evicted, are 0. */
static void weigh(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t row)
{
    float *s = t->s + (size_t)row * BLOCK;
    int32_t from, to;
    row_reach(t, b, row, &from, &to);
    t->fade[row] = 1.0f;
    const uint64_t seen = from < to ? fast_keys((uint32_t)from, (uint32_t)to) & ~b->gone : 0;
    if (!seen) {
        memset(s, 0, BLOCK * sizeof(float));
        return;
    }
    if (t->softcap > 0.0f)
        cap(s, BLOCK, t->softcap);
    float most = t->m[row];
    for (int32_t j = from; j < to; j++)
        if (seen >> j & 1)
            most = s[j] > most ? s[j] : most;
    const v8 m = v8_set1(most);
    v8 sum = v8_zero();
    for (uint32_t j = 0; j < BLOCK; j += 8)
        v8_store(s + j, v8_exp(v8_sub(v8_load(s + j), m)));
    memset(s, 0, (size_t)from * sizeof(float));
    memset(s + to, 0, (size_t)(BLOCK - to) * sizeof(float));
    for (int32_t j = from; b->gone && j < to; j++)
        s[j] = seen >> j & 1 ? s[j] : 0.0f;
    for (uint32_t j = 0; j < BLOCK; j += 8)
        sum = v8_add(sum, v8_load(s + j));
    t->fade[row] = t->m[row] > -INFINITY ? expf(t->m[row] - most) : 0.0f;
    t->l[row] = t->l[row] * t->fade[row] + v8_sum(sum);
    t->m[row] = most;
}

FAST_INLINE void pack_keys(float *panel, const struct fast_attn_block *b, uint32_t hd, const myth_dtype t)
{
    for (uint32_t g = 0; g < BLOCK; g += 8)
        for (uint32_t d = 0; d < hd; d += 8) {
            v8 r[8];
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                r[i] = b->k[g + (uint32_t)i] ? load8(b->k[g + (uint32_t)i], d, t) : v8_zero();
            v8_transpose(r);
            FAST_UNROLL
            for (int i = 0; i < 8; i++)
                v8_store(panel + (size_t)(d + (uint32_t)i) * BLOCK + g, r[i]);
        }
}

FAST_INLINE void pack_values(float *panel, const struct fast_attn_block *b, uint32_t hd, uint32_t from, uint32_t to,
                             const myth_dtype t)
{
    for (uint32_t i = from; i < to; i++)
        for (uint32_t d = 0; d < hd; d += 8)
            v8_store(panel + (size_t)i * hd + d, load8(b->v[i], d, t));
}

/* Computes the scores of n rows with 16 keys: s[n][j0 .. j0 + 16) = q[n][:] panel[:][j0 .. j0 + 16) */
FAST_INLINE void score_tile(struct fast_attn_tile *t, uint32_t row, uint32_t j0, const int n)
{
    v8 f[2 * ROWS_F32];
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        f[i] = v8_zero();
    const float *k = t->panel + j0, *const *q = t->q + row;
    for (uint32_t d = 0; d < t->head_dim; d++, k += BLOCK) {
        v8 k0 = v8_load(k), k1 = v8_load(k + 8);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            v8 x = v8_set1(q[r][d]);
            f[2 * r] = v8_fma(k0, x, f[2 * r]);
            f[2 * r + 1] = v8_fma(k1, x, f[2 * r + 1]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        v8_store(t->s + (row + (size_t)(i / 2)) * BLOCK + j0 + 8 * (uint32_t)(i % 2), f[i]);
}

/* Adds weighted values of n rows and 16 dimensions: o[n][d .. d + 16) = o[n] fade[n] + sum over j in [from, to) of
 * s[n][j] panel[j][d .. d + 16) */
FAST_INLINE void value_tile(struct fast_attn_tile *t, uint32_t row, uint32_t d, uint32_t from, uint32_t to, const int n)
{
    v8 f[2 * ROWS_F32];
    const size_t hd = t->head_dim;
    float *o = t->o + row * hd + d;
    const float *s = t->s + (size_t)row * BLOCK, *v = t->panel + from * hd + d;
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        f[i] = v8_mul(v8_load(o + (size_t)(i / 2) * hd + 8 * (i % 2)), v8_set1(t->fade[row + (uint32_t)(i / 2)]));
    for (uint32_t j = from; j < to; j++, v += hd) {
        v8 x0 = v8_load(v), x1 = v8_load(v + 8);
        FAST_UNROLL
        for (int r = 0; r < n; r++) {
            v8 p = v8_set1(s[(size_t)r * BLOCK + j]);
            f[2 * r] = v8_fma(x0, p, f[2 * r]);
            f[2 * r + 1] = v8_fma(x1, p, f[2 * r + 1]);
        }
    }
    FAST_UNROLL
    for (int i = 0; i < 2 * n; i++)
        v8_store(o + (size_t)(i / 2) * hd + 8 * (i % 2), f[i]);
}

#define SWEEP(TILE)                         \
    do {                                    \
        uint32_t row = 0;                   \
        for (; row + 6 <= t->n_q; row += 6) \
            TILE(6);                        \
        for (; row + 2 <= t->n_q; row += 2) \
            TILE(2);                        \
        if (row < t->n_q)                   \
            TILE(1);                        \
    } while (0)
#define BY_TYPE(type, call)                 \
    switch (type) {                         \
    case MYTH_F32: call(MYTH_F32); break;   \
    case MYTH_F16: call(MYTH_F16); break;   \
    case MYTH_BF16: call(MYTH_BF16); break; \
    default: call(MYTH_Q8_0); break;        \
    }

static void fold_values(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < t->n_q; i++)
        weigh(t, b, i);
#define CALL(type) pack_values(t->panel, b, t->head_dim, from, to, type)
    BY_TYPE(b->v_type, CALL)
#undef CALL
#define TILE(n) value_tile(t, row, d, from, to, n)
    for (uint32_t d = 0; d < t->head_dim; d += 16)
        SWEEP(TILE);
#undef TILE
}

static void attn_block(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    tile_reach(t, b, &from, &to);
    if (from == to)
        return;
#define CALL(type) pack_keys(t->panel, b, t->head_dim, type)
    BY_TYPE(b->k_type, CALL)
#undef CALL
#define TILE(n) score_tile(t, row, j, n)
    for (uint32_t j = 0; j < BLOCK; j += 16)
        SWEEP(TILE);
#undef TILE
    fold_values(t, b, from, to);
}

FAST_INLINE void scores_few(struct fast_attn_tile *t, const struct fast_attn_block *b, uint32_t from, uint32_t to,
                            const myth_dtype type)
{
    const uint32_t hd = t->head_dim;
    for (uint32_t j = from; j < to; j++) {
        for (uint32_t d = 0; d < hd; d += 8) /* each key is converted once, for all rows */
            v8_store(t->panel + d, load8(b->k[j], d, type));
        for (uint32_t i = 0; i < t->n_q; i++) {
            v8 u = v8_zero(), v = u;
            for (uint32_t d = 0; d < hd; d += 16) {
                u = v8_fma(v8_load(t->panel + d), v8_load(t->q[i] + d), u);
                v = v8_fma(v8_load(t->panel + d + 8), v8_load(t->q[i] + d + 8), v);
            }
            t->s[(size_t)i * BLOCK + j] = v8_sum(v8_add(u, v));
        }
    }
}

static void attn_block_few(struct fast_attn_tile *t, const struct fast_attn_block *b)
{
    uint32_t from, to;
    tile_reach(t, b, &from, &to);
    if (from == to)
        return;
    memset(t->s, 0, (size_t)t->n_q * BLOCK * sizeof(float));
#define CALL(type) scores_few(t, b, from, to, type)
    BY_TYPE(b->k_type, CALL)
#undef CALL
    fold_values(t, b, from, to);
}

#endif
