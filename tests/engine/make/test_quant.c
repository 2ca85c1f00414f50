/* test_quant.c - quant.c gives the bits of gguf-py (tests/golden/make_quant.py), and has the properties that every type
 * should have. */
#include "tests/support/check.h"

#include "engine/base/half.h"
#include "engine/make/quant.h"

#include <math.h>

static void read_exact(void *dst, size_t n, FILE *f) { assert_int_equal(fread(dst, 1, n, f), n); }

static void test_golden(void **state)
{
    (void)state;
    char path[1024];
    uint32_t shape[2], head[2];
    FILE *f = fopen(check_path(path, sizeof(path), "tests/golden/quant.bin"), "rb");
    assert_non_null(f);
    read_exact(shape, sizeof(shape), f);
    const size_t n = (size_t)shape[0] * shape[1];
    float *x = malloc(n * 4), *back = malloc(n * 4), *mine = malloc(n * 4);
    unsigned char *q = malloc(n * 4), *made = malloc(n * 4);
    read_exact(x, n * 4, f);
    for (int t = 0; t < 5; t++) {
        myth_dtype type;
        read_exact(head, sizeof(head), f);
        assert_true(myth_dtype_from_gguf(&type, head[0]));
        assert_int_equal(head[1], shape[0] * myth_row_bytes(type, shape[1]));
        read_exact(q, head[1], f);
        read_exact(back, n * 4, f);
        myth_quant_row(type, made, x, n);
        for (uint32_t i = 0; i < head[1]; i++)
            if (made[i] != q[i])
                fail_msg("%s: byte %u of row %u: got 0x%02x, expected 0x%02x", myth_dtype_get(type)->name, i,
                         i / (head[1] / shape[0]), made[i], q[i]);
        myth_dequant_row(type, mine, q, n);
        assert_memory_equal(mine, back, n * 4);
        printf("%s: %zu values\n", myth_dtype_get(type)->name, n);
    }
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    free(x), free(back), free(mine), free(q), free(made);
}

/* The error stays below half a step and the rounding of the scale; float types keep what they hold. */
static void test_stable(void **state)
{
    (void)state;
    uint64_t seed = check_seed();
    static const myth_dtype types[] = {MYTH_F32, MYTH_F16, MYTH_BF16, MYTH_Q8_0};
    enum { N = 32 };
    float x[N], y[N], z[N];
    unsigned char q[N * 4], again[N * 4];
    for (int round = 0; round < 20000; round++) {
        float scale = ldexpf(1.0f, (int)check_below(&seed, 12) - 4);
        for (int i = 0; i < N; i++)
            x[i] = (check_unit(&seed) - 0.5f) * scale;
        for (int t = 0; t < 4; t++) {
            myth_quant_row(types[t], q, x, N);
            myth_dequant_row(types[t], y, q, N);
            myth_quant_row(types[t], again, y, N);
            myth_dequant_row(types[t], z, again, N);
            float most = 0;
            for (int i = 0; i < N; i++)
                most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
            for (int i = 0; i < N; i++) {
                float step = types[t] == MYTH_Q8_0 ? most * (0.5f / 127 + 0x1p-11f)
                           : types[t] == MYTH_F32  ? 0
                                                   : most * 0x1p-8f;
                if (fabsf(x[i] - y[i]) > step)
                    fail_msg("%s: %g became %g", myth_dtype_get(types[t])->name, (double)x[i], (double)y[i]);
                if (types[t] != MYTH_Q8_0)
                    assert_true(y[i] == z[i]);
            }
        }
    }
}

/* One value of a block is not finite, or too large for a half; the others are 1. The value itself and the others after
 * the way through the type; NOT_FINITE stands for an infinity or a NaN. */
enum { NF_BLOCK = 32, NF_AT = 3 };
#define NOT_FINITE NAN

static void check_back(myth_dtype type, float odd, int i, float got, float want)
{
    const bool is_right = isnan(want) ? !isfinite(got) : got == want;
    if (!is_right)
        fail_msg("%s, a block with %g: value %d is %.9g, expected %.9g", myth_dtype_get(type)->name, (double)odd, i,
                 (double)got, (double)want);
}

static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        myth_dtype type;
        float odd, want_odd, want_rest;
    } row[] = {
        {MYTH_F32, NAN, NOT_FINITE, 1},
        {MYTH_F32, -INFINITY, -INFINITY, 1},
        {MYTH_F32, 1e38f, 1e38f, 1},
        {MYTH_F16, NAN, NOT_FINITE, 1},
        {MYTH_F16, -INFINITY, -INFINITY, 1},
        {MYTH_F16, 1e38f, INFINITY, 1},
        {MYTH_F16, 65519.0f, 65504.0f, 1},
        {MYTH_F16, 65520.0f, INFINITY, 1},
        {MYTH_BF16, NAN, NOT_FINITE, 1},
        {MYTH_BF16, -INFINITY, -INFINITY, 1},
        {MYTH_BF16, -1e38f, -0x1.2cp126f, 1},
        {MYTH_BF16, 3.4e38f, INFINITY, 1}, /* past the middle of the largest bf16 and 2^128 */
        /* A NaN takes no part in the scale, 1 / 127 here, which the half rounds. */
        {MYTH_Q8_0, NAN, 0, 127 * 0x1.02p-7f},
        /* An infinite scale: weights are refused for it, no value of the block may look like a number. */
        {MYTH_Q8_0, INFINITY, NOT_FINITE, NOT_FINITE},
        {MYTH_Q8_0, -INFINITY, NOT_FINITE, NOT_FINITE},
        {MYTH_Q8_0, 1e38f, INFINITY, NOT_FINITE},
        {MYTH_Q8_0, -1e38f, -INFINITY, NOT_FINITE},
        {MYTH_Q4_0, NAN, -0.875f, 1}, /* the last code, of which ggml makes 7 d */
        {MYTH_Q4_0, INFINITY, NOT_FINITE, NOT_FINITE},
        {MYTH_Q4_0, -INFINITY, NOT_FINITE, NOT_FINITE},
        {MYTH_Q4_0, 1e38f, INFINITY, NOT_FINITE},
        {MYTH_Q4_0, -1e38f, -INFINITY, NOT_FINITE},
        {MYTH_MXFP4, NAN, 0, 1}, /* has no infinity */
        {MYTH_MXFP4, INFINITY, 0, 0},
        {MYTH_MXFP4, -INFINITY, 0, 0},
        {MYTH_MXFP4, 1e38f, 0x1p126f, 0},
        {MYTH_MXFP4, -1e38f, -0x1p126f, 0},
    };
    bool is_tested[MYTH_DTYPE_N] = {false};
    for (size_t r = 0; r < sizeof(row) / sizeof(row[0]); r++) {
        float x[NF_BLOCK], y[NF_BLOCK];
        unsigned char q[4 * NF_BLOCK];
        for (int i = 0; i < NF_BLOCK; i++)
            x[i] = i == NF_AT ? row[r].odd : 1;
        myth_quant_row(row[r].type, q, x, NF_BLOCK);
        myth_dequant_row(row[r].type, y, q, NF_BLOCK);
        for (int i = 0; i < NF_BLOCK; i++)
            check_back(row[r].type, row[r].odd, i, y[i], i == NF_AT ? row[r].want_odd : row[r].want_rest);
        is_tested[row[r].type] = true;
    }
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        assert_true(is_tested[t] == myth_quant_has((myth_dtype)t)); /* no type without a row */
}

/* Every half there is, to float and back. */
static void test_halves(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        uint16_t in = (uint16_t)h, out;
        float f;
        myth_dequant_row(MYTH_F16, &f, &in, 1);
        myth_quant_row(MYTH_F16, &out, &f, 1);
        assert_true(isnan(f) ? (out & 0x7c00) == 0x7c00 && (out & 0x3ff) : out == in);
        myth_dequant_row(MYTH_BF16, &f, &in, 1);
        myth_quant_row(MYTH_BF16, &out, &f, 1);
        assert_true(isnan(f) ? (out & 0x7f80) == 0x7f80 && (out & 0x7f) : out == in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_stable),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
