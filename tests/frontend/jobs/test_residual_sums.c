/* test_residual_sums.c - quantiles of magnitudes against a sorted copy, rows that are cut, sums that do not depend on
 * order, values that cannot be summed. */
#include "frontend/jobs/residual_sums.h"
#include "tests/support/check.h"

#include <math.h>

enum { N_MOST = 700 };

static int rising(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float draw(uint64_t *rng, int kind)
{
    const float v = (float)check_below(rng, 20001) / 1000.0f - 10.0f;
    return kind == 0 ? v : kind == 1 ? floorf(v) : (float)(check_below(rng, 2) * 2) - 1.0f; /* many equal ones */
}

static void quantiles_are_those_of_a_sorted_copy(void **state)
{
    (void)state;
    static const double q[] = {0, 0.01, 0.25, 0.5, 0.9, 0.975, 1};
    float row[N_MOST], sorted[N_MOST], scratch[N_MOST], cut[N_MOST];
    uint64_t rng = check_seed();
    for (uint32_t round = 0; round < 300; round++) {
        const uint32_t n = 1 + check_below(&rng, round < 100 ? 8 : N_MOST);
        for (uint32_t i = 0; i < n; i++) {
            row[i] = draw(&rng, (int)(round % 3));
            sorted[i] = fabsf(row[i]);
        }
        qsort(sorted, n, sizeof(*sorted), rising);
        for (size_t k = 0; k < sizeof(q) / sizeof(q[0]); k++) {
            const double place = q[k] * (n - 1);
            const uint32_t low = (uint32_t)place, high = low + 1 < n ? low + 1 : low;
            const float want =
                (float)((double)sorted[low] + (place - low) * ((double)sorted[high] - (double)sorted[low]));
            const float got = myth_residual_quantile(row, n, q[k], scratch);
            if (got != want)
                fail_msg("%u values, quantile %g: %.9g, sorted %.9g", n, q[k], (double)got, (double)want);
            memcpy(cut, row, n * sizeof(*cut));
            myth_residual_winsorize(cut, n, q[k], scratch);
            for (uint32_t i = 0; i < n; i++)
                assert_true(cut[i] == (fabsf(row[i]) <= want ? row[i] : copysignf(want, row[i])));
        }
    }
}

static void what_has_no_rank_is_left(void **state)
{
    (void)state;
    float row[3] = {1, NAN, -5}, scratch[3];
    assert_true(isnan(myth_residual_quantile(row, 3, 0.5, scratch)));
    myth_residual_winsorize(row, 3, 0.5, scratch);
    assert_true(row[0] == 1 && isnan(row[1]) && row[2] == -5);
}

static void sums_do_not_depend_on_order(void **state)
{
    (void)state;
    enum { LABEL = 2, LAYER = 3, DIM = 5, ROWS = 40 };
    static uint64_t block[2][LABEL + LAYER + LABEL * LAYER * DIM];
    static float row[ROWS][DIM];
    myth_residual_sums s[2];
    uint64_t rng = check_seed(), n;
    double mean[2][DIM];
    assert_int_equal(myth_residual_sums_bytes(LABEL, LAYER, DIM), sizeof(block[0]));
    for (int i = 0; i < ROWS; i++)
        for (int d = 0; d < DIM; d++)
            row[i][d] = draw(&rng, 0) * 1.7f;
    for (int k = 0; k < 2; k++) {
        myth_residual_sums_at(&s[k], block[k], LABEL, LAYER, DIM);
        for (int i = 0; i < ROWS; i++)
            myth_residual_sums_add(&s[k], 1, 2, row[k ? ROWS - 1 - i : i]);
        s[k].count[1] = ROWS;
        assert_int_equal(myth_residual_sums_mean(&s[k], 1, 2, 9, mean[k], &n, NULL), MYTH_OK);
        assert_int_equal(n, ROWS);
    }
    assert_memory_equal(mean[0], mean[1], sizeof(mean[0]));
    assert_memory_equal(block[0], block[1], sizeof(block[0]));
    for (int d = 0; d < DIM; d++) {
        double want = 0;
        for (int i = 0; i < ROWS; i++)
            want += (double)row[i][d] / ROWS;
        assert_true(fabs(want - mean[0][d]) <= 0x1p-25);
    }
    assert_int_equal(myth_residual_sums_mean(&s[0], 0, 0, 9, mean[0], &n, NULL), MYTH_OK); /* no rows: zeros */
    assert_true(n == 0 && mean[0][0] == 0);

    myth_error err = {0};
    static const float bad[] = {NAN, INFINITY, 3e38f, -0x1p38f};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        row[0][3] = bad[i];
        s[0].bad[2] = 0;
        myth_residual_sums_add(&s[0], 0, 2, row[0]);
        assert_int_equal(myth_residual_sums_mean(&s[0], 1, 2, 17, mean[0], &n, &err), MYTH_EFORMAT);
        assert_non_null(strstr(err.msg, "layer 17"));
        assert_int_equal(myth_residual_sums_mean(&s[0], 1, 1, 9, mean[0], &n, NULL), MYTH_OK); /* the others are well */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_a_sorted_copy),
        cmocka_unit_test(what_has_no_rank_is_left),
        cmocka_unit_test(sums_do_not_depend_on_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
