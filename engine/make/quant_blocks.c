/* quant_blocks.c - what quant_fit found, in the bytes of each type. Layouts: dtype.h. */
#include "quant.h"

#include "engine/base/blocks.h"
#include "quant_fit.h"

#include <assert.h>
#include <string.h>

/* ---- parts that layouts share ---- */

/* Values 0..31 to 16 bytes: low halves 0..15, high halves 16..31; `lift` makes them 0 and more. */
static void put_nibbles(unsigned char *dst, const int8_t *q, int lift)
{
    for (int i = 0; i < 16; i++)
        dst[i] = (unsigned char)(((q[i] + lift) & 15) | ((q[i + 16] + lift) & 15) << 4);
}

static void put_fifth_bits(unsigned char *dst, const int8_t *q, int lift)
{
    memset(dst, 0, 4);
    for (int i = 0; i < 32; i++)
        dst[i / 8] |= (unsigned char)((((q[i] + lift) >> 4) & 1) << i % 8);
}

/* 64 values to 32 bytes, four times: low halves are the first 32. */
static void put_wide_nibbles(unsigned char *dst, const int8_t *q)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 32; i++)
            dst[32 * j + i] = (unsigned char)((q[64 * j + i] & 15) | (q[64 * j + 32 + i] & 15) << 4);
}

/* Bits `from`, from + 1 of 128 values to 32 bytes, twice: value 32 j + i at bits 2 j of byte i. */
static void put_pairs(unsigned char *dst, const int8_t *q, int lift, int from)
{
    memset(dst, 0, 64);
    for (int i = 0; i < 256; i++)
        dst[i / 128 * 32 + i % 32] |= (unsigned char)(((q[i] + lift) >> from & 3) << i % 128 / 32 * 2);
}

/* Eight pairs of 6 bits in 12 bytes. */
static void put_pairs_of_six(unsigned char *dst, const int16_t *c, const int16_t *b)
{
    for (int k = 0; k < 4; k++) {
        dst[k] = (unsigned char)(c[k] | (c[k + 4] >> 4) << 6);
        dst[k + 4] = (unsigned char)(b[k] | (b[k + 4] >> 4) << 6);
        dst[k + 8] = (unsigned char)((c[k + 4] & 15) | (b[k + 4] & 15) << 4);
    }
}

/* ---- types ---- */

static void pack_q4_0(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    put_nibbles(dst + 2, r->q, 8);
}

static void pack_q4_1(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    myth_put_f16(dst + 2, -r->m);
    put_nibbles(dst + 4, r->q, 0);
}

static void pack_q5_0(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    put_fifth_bits(dst + 2, r->q, 16);
    put_nibbles(dst + 6, r->q, 16);
}

static void pack_q5_1(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    myth_put_f16(dst + 2, -r->m);
    put_fifth_bits(dst + 4, r->q, 0);
    put_nibbles(dst + 8, r->q, 0);
}

static void pack_q2_k(unsigned char *dst, const myth_fit *r)
{
    for (int k = 0; k < 16; k++)
        dst[k] = (unsigned char)(r->c[k] | r->b[k] << 4);
    put_pairs(dst + 16, r->q, 0, 0);
    myth_put_f16(dst + 80, r->d);
    myth_put_f16(dst + 82, r->m);
}

static void pack_tq2_0(unsigned char *dst, const myth_fit *r)
{
    put_pairs(dst, r->q, 1, 0);
    myth_put_f16(dst + 64, r->d);
}

static void pack_q3_k(unsigned char *dst, const myth_fit *r)
{
    memset(dst, 0, 32);
    for (int i = 0; i < 256; i++)
        dst[i % 32] |= (unsigned char)(((r->q[i] + 4) >> 2) << i / 32);
    put_pairs(dst + 32, r->q, 4, 0);
    memset(dst + 96, 0, 12);
    for (int k = 0; k < 16; k++) {
        const int s = r->c[k] + 32;
        dst[96 + k % 8] |= (unsigned char)((s & 15) << k / 8 * 4);
        dst[96 + 8 + k % 4] |= (unsigned char)((s >> 4) << k / 4 * 2);
    }
    myth_put_f16(dst + 108, r->d);
}

static void pack_q4_k(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    myth_put_f16(dst + 2, r->m);
    put_pairs_of_six(dst + 4, r->c, r->b);
    put_wide_nibbles(dst + 16, r->q);
}

static void pack_q5_k(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    myth_put_f16(dst + 2, r->m);
    put_pairs_of_six(dst + 4, r->c, r->b);
    memset(dst + 16, 0, 32);
    for (int i = 0; i < 256; i++)
        dst[16 + i % 32] |= (unsigned char)((r->q[i] >> 4) << i / 32);
    put_wide_nibbles(dst + 48, r->q);
}

static void pack_q6_k(unsigned char *dst, const myth_fit *r)
{
    memset(dst, 0, 128);
    for (int i = 0; i < 256; i++) {
        const int j = i % 128 / 32;
        dst[i / 128 * 64 + 32 * (j % 2) + i % 32] |= (unsigned char)(((r->q[i] + 32) & 15) << j / 2 * 4);
    }
    put_pairs(dst + 128, r->q, 32, 4);
    for (int k = 0; k < 16; k++)
        dst[192 + k] = (unsigned char)(int8_t)r->c[k];
    myth_put_f16(dst + 208, r->d);
}

static void pack_iq4_xs(unsigned char *dst, const myth_fit *r)
{
    memset(dst + 2, 0, 6);
    for (int k = 0; k < 8; k++) {
        const int s = r->c[k] + 32;
        dst[2 + k / 4] |= (unsigned char)((s >> 4) << k % 4 * 2);
        dst[4 + k / 2] |= (unsigned char)((s & 15) << k % 2 * 4);
        put_nibbles(dst + 8 + 16 * k, r->q + 32 * k, 0);
    }
    myth_put_f16(dst, r->d);
}

static void pack_iq4_nl(unsigned char *dst, const myth_fit *r)
{
    myth_put_f16(dst, r->d);
    put_nibbles(dst + 2, r->q, 0);
}

static const struct {
    myth_fit_form form;
    void (*pack)(unsigned char *dst, const myth_fit *r);
} table[MYTH_DTYPE_N] = {
    [MYTH_Q4_0] = {{.n = 32, .n_sub = 1, .lo = -8, .hi = 7}, pack_q4_0},
    [MYTH_Q4_1] = {{.n = 32, .n_sub = 1, .hi = 15, .is_affine = true, .is_free = true}, pack_q4_1},
    [MYTH_Q5_0] = {{.n = 32, .n_sub = 1, .lo = -16, .hi = 15}, pack_q5_0},
    [MYTH_Q5_1] = {{.n = 32, .n_sub = 1, .hi = 31, .is_affine = true, .is_free = true}, pack_q5_1},
    [MYTH_Q2_K] = {{.n = 256, .n_sub = 16, .hi = 3, .code_hi = 15, .is_affine = true}, pack_q2_k},
    [MYTH_Q3_K] = {{.n = 256, .n_sub = 16, .lo = -4, .hi = 3, .code_lo = -32, .code_hi = 31}, pack_q3_k},
    [MYTH_Q4_K] = {{.n = 256, .n_sub = 8, .hi = 15, .code_hi = 63, .is_affine = true}, pack_q4_k},
    [MYTH_Q5_K] = {{.n = 256, .n_sub = 8, .hi = 31, .code_hi = 63, .is_affine = true}, pack_q5_k},
    [MYTH_Q6_K] = {{.n = 256, .n_sub = 16, .lo = -32, .hi = 31, .code_lo = -128, .code_hi = 127}, pack_q6_k},
    [MYTH_IQ4_NL] = {{.n = 32, .n_sub = 1, .hi = 15, .table = myth_iq4_value}, pack_iq4_nl},
    [MYTH_IQ4_XS] = {{.n = 256, .n_sub = 8, .hi = 15, .code_lo = -32, .code_hi = 31, .table = myth_iq4_value},
                     pack_iq4_xs},
    [MYTH_TQ2_0] = {{.n = 256, .n_sub = 1, .lo = -1, .hi = 1}, pack_tq2_0},
};

bool myth_quant_is_fitted(myth_dtype type) { return table[type].pack != NULL; }

void myth_quant_fit_row(myth_dtype type, void *dst, const float *src, const float *importance, uint64_t n)
{
    const myth_fit_form *f = &table[type].form;
    unsigned char *to = dst;
    assert(table[type].pack && n % myth_dtype_block(type) == 0);
    for (uint64_t i = 0; i < n; i += (uint64_t)f->n, to += myth_dtype_block_bytes(type)) {
        myth_fit r;
        myth_fit_block(&r, f, src + i, importance ? importance + i : NULL);
        table[type].pack(to, &r);
    }
}
