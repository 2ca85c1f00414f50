/* test_half.c - compares the f16 and bf16 conversions with the compiler's own types and with the definitions, for every
 * f16 and a grid of floats. */
#include "engine/base/half.h"
#include "tests/support/check.h"

#include <math.h>

#if defined(__FLT16_MAX__)
#define HAS_FLOAT16 1
#else
#define HAS_FLOAT16 0
#endif

static void f16_to_f32_every_value(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        float got = myth_f16_to_f32((uint16_t)h);
        uint32_t exp = h >> 10 & 31, man = h & 0x3ff;
        double want = exp == 0 ? ldexp((double)man, -24) : ldexp(1024.0 + man, (int)exp - 25);
        if (exp == 31) {
            assert_true(man ? isnan(got) : isinf(got));
            assert_int_equal(signbit(got) != 0, h >> 15);
            continue;
        }
        assert_true(got == (float)(h & 0x8000 ? -want : want));
        assert_int_equal(signbit(got) != 0, h >> 15);
    }
}

static void f16_comes_back_from_f32(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        bool is_nan = (h & 0x7c00) == 0x7c00 && (h & 0x3ff);
        uint16_t back = myth_f32_to_f16(myth_f16_to_f32((uint16_t)h));
        if (is_nan)
            assert_true((back & 0x7c00) == 0x7c00 && (back & 0x3ff) && (back & 0x8000) == (h & 0x8000));
        else
            assert_int_equal(back, h);
    }
}

/* The f16 nearest to f, ties to the even one, from the table of all finite f16 by bisection: no arithmetic of half.h's
 * kind. */
static uint16_t f16_nearest(float f)
{
    double a = fabs((double)f);
    uint16_t sign = signbit(f) ? 0x8000 : 0, lo = 0, hi = 0x7c00; /* 0x7c00 stands for 65536, the next step */
    while (hi - lo > 1) {
        uint16_t mid = (uint16_t)((lo + hi) / 2);
        if ((double)myth_f16_to_f32(mid) <= a)
            lo = mid;
        else
            hi = mid;
    }
    double below = (double)myth_f16_to_f32(lo), above = hi == 0x7c00 ? 65536.0 : (double)myth_f16_to_f32(hi);
    if (a >= above)
        return sign | 0x7c00;
    bool up = a - below > above - a || (a - below == above - a && (lo & 1));
    return (uint16_t)(sign | (up ? hi : lo));
}

static void check_f16_at(uint32_t bits)
{
    float f = myth_bits_f32(bits);
    if (isnan(f))
        return;
    uint16_t got = myth_f32_to_f16(f), want = f16_nearest(f);
    if (got != want)
        fail_msg("f32 bits %08x: f16 %04x, expected %04x", bits, got, want);
#if HAS_FLOAT16
    __extension__ _Float16 h = (_Float16)f;
    memcpy(&want, &h, 2);
    assert_int_equal(got, want);
#endif
}

static void f32_to_f16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h++) { /* every f16, the midpoint above it, and their neighbours */
        uint32_t a = myth_f32_bits(myth_f16_to_f32((uint16_t)h));
        double next = h == 0x7bff ? 65536.0 : (double)myth_f16_to_f32((uint16_t)(h + 1));
        uint32_t mid = myth_f32_bits((float)(((double)myth_f16_to_f32((uint16_t)h) + next) / 2));
        for (uint32_t d = 0; d < 5; d++) {
            check_f16_at(a + d - (a >= 2 ? 2 : 0));
            check_f16_at(mid + d - 2);
            check_f16_at((mid + d - 2) | 0x80000000u);
        }
    }
    uint64_t rng = check_seed();
    uint64_t n = check_is_full() ? 20000000 : 300000;
    for (uint64_t i = 0; i < n; i++)
        check_f16_at((uint32_t)check_rand(&rng));
    assert_int_equal(myth_f32_to_f16(INFINITY), 0x7c00);
    assert_int_equal(myth_f32_to_f16(-3.4e38f), 0xfc00);
    assert_int_equal(myth_f32_to_f16(-0.0f), 0x8000);
    assert_int_equal(myth_f32_to_f16(1e-45f), 0);
}

static void nan_stays_nan(void **state)
{
    (void)state;
    for (uint32_t man = 1; man < 0x800000;
         man += man < 64 ? 1 : 4099) /* payloads in the bits that are cut off included */
        for (uint32_t sign = 0; sign < 2; sign++) {
            float f = myth_bits_f32(sign << 31 | 0x7f800000u | man);
            assert_true(isnan(myth_f16_to_f32(myth_f32_to_f16(f))));
            assert_true(isnan(myth_bf16_to_f32(myth_f32_to_bf16(f))));
        }
}

static void check_bf16_at(uint32_t bits)
{
    float f = myth_bits_f32(bits);
    if (isnan(f))
        return;
    uint32_t low = bits & 0xffff, want = bits >> 16;
    if (low > 0x8000 || (low == 0x8000 && (want & 1)))
        want++;
    assert_int_equal(myth_f32_to_bf16(f), (uint16_t)want);
}

static void bf16_every_value_and_rounding(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        bool is_nan = (h & 0x7f80) == 0x7f80 && (h & 0x7f);
        assert_int_equal(myth_f32_bits(myth_bf16_to_f32((uint16_t)h)), h << 16);
        if (!is_nan)
            assert_int_equal(myth_f32_to_bf16(myth_bf16_to_f32((uint16_t)h)), h);
        for (uint32_t low = 0x7fff; low <= 0x8001; low++)
            check_bf16_at(h << 16 | low);
    }
    uint64_t rng = check_seed();
    for (int i = 0; i < 300000; i++)
        check_bf16_at((uint32_t)check_rand(&rng));
    assert_true(isinf(myth_bf16_to_f32(myth_f32_to_bf16(3.4e38f)))); /* rounds past the largest bf16 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f16_to_f32_every_value),
        cmocka_unit_test(f16_comes_back_from_f32),
        cmocka_unit_test(f32_to_f16_rounds_to_nearest_even),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(bf16_every_value_and_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
