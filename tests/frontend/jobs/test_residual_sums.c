/* test_residual_sums.c - quantiles of magnitudes against a sorted copy, rows that are cut, sums and stats that do not
 * depend on order, stats against plain loops, values that cannot be summed. */
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
    const myth_residual_shape is = {.n_label = LABEL, .n_layer = LAYER, .dim = DIM};
    assert_int_equal(myth_residual_sums_bytes(&is), sizeof(block[0]));
    for (int i = 0; i < ROWS; i++)
        for (int d = 0; d < DIM; d++)
            row[i][d] = draw(&rng, 0) * 1.7f;
    for (int k = 0; k < 2; k++) {
        myth_residual_sums_at(&s[k], block[k], &is);
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
    assert_int_equal(myth_residual_sums_mean(&s[0], 0, 0, 9, mean[0], &n, NULL), MYTH_OK); /* no rows */
    assert_true(n == 0 && isnan(mean[0][0]));

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

/* Rows of a label: some far from 0 with little between them, some with zeros of both signs, some all the same. */
static void draw_rows(uint64_t *rng, int kind, float *row, uint32_t n, uint32_t dim)
{
    for (uint32_t i = 0; i < dim; i++) {
        const float middle = kind == 0 ? 0.0f : (float)check_below(rng, 2000001) - 1e6f;
        for (uint32_t k = 0; k < n; k++)
            row[k * dim + i] = kind == 2  ? middle
                             : i % 3 == 0 ? (check_below(rng, 2) ? 0.0f : -0.0f)
                                          : middle + draw(rng, 0) * 1.7f;
    }
}

static void stats_are_those_of_plain_loops(void **state)
{
    (void)state;
    enum { LABEL = 3, LAYER = 2, DIM = 7, MOST = 50 };
    static uint64_t block[3][1000];
    static float row[MOST * DIM];
    myth_residual_sums s[3];
    uint64_t rng = check_seed();
    double norm[3], least[DIM], most[DIM], v[DIM];
    for (uint32_t round = 0; round < 200; round++) {
        const myth_residual_shape is = {LABEL, LAYER, DIM, 1 + check_below(&rng, MYTH_STAT_ALL)};
        const uint32_t n = 1 + check_below(&rng, MOST), label = check_below(&rng, LABEL),
                       idx = check_below(&rng, LAYER);
        const uint64_t bytes = myth_residual_sums_bytes(&is);
        assert_true(bytes % 8 == 0 && bytes <= sizeof(block[0]));
        memset(block, 0, sizeof(block));
        draw_rows(&rng, (int)(round % 3), row, n, DIM);
        for (int k = 0; k < 3; k++) /* rising, falling, and half of them after a break */
            myth_residual_sums_at(&s[k], block[k], &is);
        for (uint32_t i = 0; i < n; i++) {
            myth_residual_sums_add(&s[0], label, idx, row + i * DIM);
            myth_residual_sums_add(&s[1], label, idx, row + (n - 1 - i) * DIM);
            if (i == n / 2) {
                memcpy(block[2], block[0], bytes);
                myth_residual_sums_at(&s[2], block[2], &is);
            }
        }
        for (uint32_t i = n; i-- > n / 2 + 1;)
            myth_residual_sums_add(&s[2], label, idx, row + i * DIM);
        for (int k = 0; k < 3; k++) {
            s[k].count[label] = n;
            assert_memory_equal(block[k], block[0], sizeof(block[0]));
            assert_int_equal(s[k].bad[idx], 0);
        }
        if (is.stats & MYTH_STAT_NORMS) {
            double want[3] = {0, INFINITY, 0};
            for (uint32_t k = 0; k < n; k++) {
                double length = 0;
                for (uint32_t i = 0; i < DIM; i++)
                    length += (double)row[k * DIM + i] * (double)row[k * DIM + i];
                length = sqrt(length);
                want[0] += length / n;
                want[1] = fmin(want[1], length);
                want[2] = fmax(want[2], length);
            }
            myth_residual_sums_norms(&s[0], label, idx, norm);
            assert_true(fabs(norm[0] - want[0]) <= 0x1p-24 + 1e-12 * want[0]);
            assert_true(fabs(norm[1] - want[1]) <= 1e-15 * want[1] && fabs(norm[2] - want[2]) <= 1e-15 * want[2]);
        }
        if (is.stats & MYTH_STAT_MINMAX)
            myth_residual_sums_edges(&s[0], label, idx, least, most);
        if (is.stats & MYTH_STAT_VARIANCE)
            myth_residual_sums_variance(&s[0], label, idx, v);
        for (uint32_t i = 0; i < DIM; i++) {
            double mean = 0, want = 0, low = INFINITY, high = -INFINITY, far = 0;
            for (uint32_t k = 0; k < n; k++) {
                mean += (double)row[k * DIM + i] / n;
                low = fmin(low, (double)row[k * DIM + i]);
                high = fmax(high, (double)row[k * DIM + i]);
            }
            for (uint32_t k = 0; k < n; k++) {
                const double off = (double)row[k * DIM + i] - mean;
                want += off * off / n;
                far = fmax(far, fabs(off));
            }
            if (is.stats & MYTH_STAT_MINMAX)
                assert_true(least[i] == low && most[i] == high && !(least[i] == 0 && signbit(least[i])) &&
                            !(most[i] == 0 && signbit(most[i])));
            /* a value is rounded by at most 2^-25, and the loop's mean by some of its last bits */
            if (is.stats & MYTH_STAT_VARIANCE && !(fabs(v[i] - want) <= far * 0x1p-23 + 0x1p-40))
                fail_msg("round %u: variance %.17g, two passes %.17g", round, v[i], want);
            if (is.stats & MYTH_STAT_VARIANCE && round % 3 == 2)
                assert_true(v[i] == 0); /* all the same */
        }
    }
}

static void stats_of_no_rows_are_no_numbers_and_bad_ones_are_told(void **state)
{
    (void)state;
    static uint64_t block[200];
    const myth_residual_shape is = {.n_label = 2, .n_layer = 2, .dim = 2, .stats = MYTH_STAT_ALL};
    myth_residual_sums s;
    double a[3] = {9, 9, 9}, b[2] = {9, 9};
    uint64_t n;
    assert_true(myth_residual_sums_bytes(&is) <= sizeof(block));
    myth_residual_sums_at(&s, block, &is);
    myth_residual_sums_norms(&s, 1, 1, a);
    assert_true(isnan(a[0]) && isnan(a[1]) && isnan(a[2]));
    a[0] = a[1] = 9;
    myth_residual_sums_edges(&s, 1, 1, a, b);
    assert_true(isnan(a[0]) && isnan(a[1]) && isnan(b[0]) && isnan(b[1]));
    a[0] = a[1] = 9;
    myth_residual_sums_variance(&s, 1, 1, a);
    assert_true(isnan(a[0]) && isnan(a[1]));
    /* squares that no longer fit; each of their values does, and so does the sum */
    const myth_residual_shape squares = {.n_label = 2, .n_layer = 2, .dim = 2, .stats = MYTH_STAT_VARIANCE};
    myth_residual_sums_at(&s, block, &squares);
    for (int i = 0; i < 60; i++)
        myth_residual_sums_add(&s, 0, 0, (const float[]){i % 2 ? 0x1p33f : -0x1p33f, 1});
    assert_int_equal(s.bad[0], 0);
    for (int i = 0; i < 60; i++)
        myth_residual_sums_add(&s, 0, 0, (const float[]){i % 2 ? 0x1p37f : -0x1p37f, 1});
    assert_int_equal(myth_residual_sums_mean(&s, 0, 0, 5, b, &n, NULL), MYTH_EFORMAT);
    assert_int_equal(myth_residual_sums_mean(&s, 0, 1, 5, b, &n, NULL), MYTH_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_a_sorted_copy),
        cmocka_unit_test(what_has_no_rank_is_left),
        cmocka_unit_test(sums_do_not_depend_on_order),
        cmocka_unit_test(stats_are_those_of_plain_loops),
        cmocka_unit_test(stats_of_no_rows_are_no_numbers_and_bad_ones_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
