/* test_fast_amx.c - the AMX products on machines without AMX. It compiles gemm_amx.c with tiles in plain C that follow
 * the documented semantics, so that packing, tails and strides are tested where the level is absent. Needs AVX-512 with
 * BF16.
 */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(                                                                                 \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")
#endif
#include "kernels/cpu/fast/avx512.h"

#include "engine/base/blocks.h"

static struct {
    unsigned char palette, start_row, reserved[14];
    unsigned short row_bytes[16];
    unsigned char rows[16];
} config;
static unsigned char tiles[8][16][64];

static void emu_loadconfig(const void *p) { memcpy(&config, p, sizeof(config)); }
static void emu_release(void) { memset(&config, 0, sizeof(config)); }
static void emu_loadd(int t, const void *base, size_t stride)
{
    memset(tiles[t], 0, sizeof(tiles[t]));
    for (int r = 0; r < config.rows[t]; r++)
        memcpy(tiles[t][r], (const unsigned char *)base + (size_t)r * stride, config.row_bytes[t]);
}
static void emu_stored(int t, void *base, size_t stride)
{
    for (int r = 0; r < config.rows[t]; r++)
        memcpy((unsigned char *)base + (size_t)r * stride, tiles[t][r], config.row_bytes[t]);
}
static float pair(const unsigned char *p, int i)
{
    uint16_t h;
    memcpy(&h, p + 2 * i, 2);
    return myth_bf16_to_f32(h);
}
static void emu_dpbf16ps(int c, int a, int b)
{
    for (int m = 0; m < config.rows[c]; m++)
        for (int k = 0; k < config.row_bytes[a] / 4; k++)
            for (int n = 0; n < config.row_bytes[c] / 4; n++) {
                float v;
                memcpy(&v, tiles[c][m] + 4 * n, 4);
                v += pair(tiles[a][m], 2 * k) * pair(tiles[b][k], 2 * n);
                v += pair(tiles[a][m], 2 * k + 1) * pair(tiles[b][k], 2 * n + 1);
                memcpy(tiles[c][m] + 4 * n, &v, 4);
            }
}

#undef _tile_loadconfig
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#undef _tile_release
#define _tile_loadconfig emu_loadconfig
#define _tile_loadd      emu_loadd
#define _tile_stored     emu_stored
#define _tile_dpbf16ps   emu_dpbf16ps
#define _tile_release    emu_release
#define amx_gemm_bf16    emulated_gemm_bf16
#define amx_pack_q8      emulated_pack_q8
#define amx_pack_q4      emulated_pack_q4
#define amx_pack_q4_1    emulated_pack_q4_1
#define amx_pack_q5_0    emulated_pack_q5_0
#define amx_pack_q5_1    emulated_pack_q5_1
#define amx_pack_iq4_nl  emulated_pack_iq4_nl
#define amx_pack_mxfp4   emulated_pack_mxfp4
#define amx_pack_q2_k    emulated_pack_q2_k
#define amx_pack_q3_k    emulated_pack_q3_k
#define amx_pack_q4_k    emulated_pack_q4_k
#define amx_pack_q5_k    emulated_pack_q5_k
#define amx_pack_q6_k    emulated_pack_q6_k
#define amx_pack_iq4_xs  emulated_pack_iq4_xs
#include "kernels/cpu/fast/gemm_amx.c"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#include "kernels/cpu/cpu.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)

enum { ROWS_MAX = 70, OUT_MAX = 32, IN_MAX = 512 };

static uint64_t state = 7;
static float uniform(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (float)((double)(state >> 40) / (1 << 23) - 1.0);
}

struct shape {
    uint32_t n_rows, n_out, n_in, k_first;
};

typedef void pack_fn(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k);

static pack_fn *pack_of(myth_dtype t)
{
    switch (t) {
    case MYTH_Q8_0: return emulated_pack_q8;
    case MYTH_Q4_0: return emulated_pack_q4;
#define PACK_OF(name, type, kernel) \
    case MYTH_##type: return amx_pack_##name;
        FAST_BLOCK_TYPES(PACK_OF)
#undef PACK_OF
    default: return avx512_pack_bf16_pair;
    }
}

/* Multiplies rows with one panel of weights, in two parts of k, and compares the result with sums in double of the same
 * rounded values. */
static void check_shape(struct shape s, myth_dtype type)
{
    static unsigned char w[OUT_MAX][2 * IN_MAX];
    static float c[ROWS_MAX][OUT_MAX + 3], alone[OUT_MAX], wide[IN_MAX], x[ROWS_MAX][IN_MAX];
    static _Alignas(64) unsigned char rows[ROWS_MAX][2 * IN_MAX], panel[IN_MAX * 64 + 2048];
    const size_t x_bytes = avx512_form_bf16.bytes(s.n_in);
    memset(rows, 0xff, sizeof(rows));
    for (uint32_t o = 0; o < s.n_out; o++) {
        for (uint32_t k = 0; k < s.n_in; k++)
            wide[k] = uniform();
        const myth_dtype_info *info = myth_dtype_get(type);
        if (!myth_dtype_is_quant(type) || type == MYTH_Q8_0) {
            cpu_row_from_f32(w[o], type, wide, s.n_in);
            continue;
        }
        for (uint32_t b = 0; b < s.n_in / info->block; b++) {
            unsigned char *p = w[o] + b * info->block_bytes;
            for (uint32_t i = 0; i < info->block_bytes; i++)
                p[i] = type == MYTH_MXFP4 && i == 0 ? 122 : (unsigned char)(127.5f + 127.5f * uniform());
            for (uint32_t i = 0; i < info->n_half; i++) {
                uint16_t h = myth_f32_to_f16(0.01f + 0.01f * fabsf(uniform()));
                memcpy(p + info->half_off + 2 * i, &h, 2);
            }
        }
    }
    for (uint32_t r = 0; r < s.n_rows; r++) {
        for (uint32_t k = 0; k < s.n_in; k++)
            x[r][k] = uniform();
        avx512_form_bf16.convert((unsigned char *)rows + r * x_bytes, x[r], s.n_in);
    }
    for (uint32_t k0 = 0, n_k; k0 < s.n_in; k0 += n_k) {
        n_k = k0 ? s.n_in - k0 : s.k_first;
        pack_of(type)(panel, w[0], sizeof(w[0]), s.n_out, k0, n_k);
        emulated_gemm_bf16(c[0], OUT_MAX + 3, s.n_out, panel, (unsigned char *)rows, x_bytes, s.n_rows, s.n_in, k0,
                           n_k);
    }
    for (uint32_t o = 0; o < s.n_out; o++) {
        cpu_row_to_f32(wide, w[o], type, s.n_in);
        for (uint32_t r = 0; r < s.n_rows; r++) {
            double sum = 0.0, size = 0.0;
            for (uint32_t k = 0; k < s.n_in; k++) {
                double t = (double)myth_bf16_to_f32(myth_f32_to_bf16(x[r][k])) *
                           (double)myth_bf16_to_f32(myth_f32_to_bf16(wide[k]));
                sum += t;
                size += fabs(t);
            }
            if (!(fabs(sum - (double)c[r][o]) <= 2e-6 * size))
                fail_msg("%s rows %u out %u in %u: [%u, %u] is %g, expected %g", myth_dtype_get(type)->name, s.n_rows,
                         s.n_out, s.n_in, r, o, (double)c[r][o], sum);
        }
    }
    /* the last row alone gives the same bits */
    const unsigned char *last = (unsigned char *)rows + (s.n_rows - 1) * x_bytes;
    for (uint32_t k0 = 0, n_k; k0 < s.n_in; k0 += n_k) {
        n_k = k0 ? s.n_in - k0 : s.k_first;
        pack_of(type)(panel, w[0], sizeof(w[0]), s.n_out, k0, n_k);
        emulated_gemm_bf16(alone, OUT_MAX, s.n_out, panel, last, x_bytes, 1, s.n_in, k0, n_k);
    }
    assert_memory_equal(alone, c[s.n_rows - 1], s.n_out * sizeof(float));
}

static void test_tiles(void **unused)
{
    (void)unused;
    static const struct shape shapes[] = {{1, 1, 32, 32},    {16, 32, 64, 32}, {17, 31, 96, 64}, {32, 32, 224, 128},
                                          {33, 7, 160, 160}, {70, 32, 64, 64}, {5, 17, 128, 96}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int t = 0; t < MYTH_DTYPE_N; t++) {
            struct shape s = shapes[i];
            if (myth_block_is_super((myth_dtype)t))
                s.n_in = s.k_first == s.n_in ? 256 : 512, s.k_first = 256;
            if (t == MYTH_BF16 || myth_dtype_is_quant((myth_dtype)t))
                check_shape(s, (myth_dtype)t);
        }
    }
    check_shape((struct shape){19, 9, 50, 32}, MYTH_BF16);
    printf("%zu shapes, 3 types\n", sizeof(shapes) / sizeof(shapes[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiles)};
    if (!(cpu_features() & CPU_AVX512_BF16)) {
        printf("skipped: the processor has no avx512_bf16\n");
        return CHECK_SKIP;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    printf("skipped: not an x86-64\n");
    return CHECK_SKIP;
}

#endif
