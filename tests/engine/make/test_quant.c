/* quant.c against gguf-py, bit by bit (tests/golden/make_quant.py), and the properties every type has. */
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

/* Values that are not finite end in some block, without a trap or an undefined conversion. */
static void test_not_finite(void **state)
{
    (void)state;
    float x[32] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 1}, y[32];
    unsigned char q[128];
    for (int t = MYTH_F32; t < MYTH_DTYPE_N; t++) {
        for (int i = 0; myth_quant_has((myth_dtype)t) && i < 32; i++) {
            float keep = x[0];
            x[0] = x[i];
            x[i] = keep;
            myth_quant_row((myth_dtype)t, q, x, 32);
            myth_dequant_row((myth_dtype)t, y, q, 32);
        }
    }
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
