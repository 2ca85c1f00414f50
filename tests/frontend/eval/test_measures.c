/* test_measures.c - the measures of the evaluation have the values that were computed by hand, and the intervals have
 * the width that they must have. */
#include "tests/support/check.h"
#include "frontend/eval/measures.h"

#include <math.h>

static double room[MYTH_BOOTSTRAP_ROUNDS];

static void near(double got, double want)
{
    if (fabs(got - want) > 1e-12)
        print_error("got %.15g, expected %.15g\n", got, want);
    assert_true(fabs(got - want) <= 1e-12);
}

static double of(myth_measure_kind kind, uint32_t k, const uint32_t *item, uint32_t n, uint32_t n_gold)
{
    return myth_measure_of(&(myth_measure){kind, k}, item, n, n_gold);
}

/* The answer's chunks are of the documents 5 0 5 1 0 7, so the order of documents is 5 0 1 7. Wanted are 0, 1 and 2. */
static void values_by_hand(void **state)
{
    (void)state;
    static const uint32_t item[] = {5, 0, 5, 1, 0, 7};
    near(of(MYTH_RECALL, 12, item, 6, 3), 2.0 / 3);
    near(of(MYTH_RECALL, 3, item, 6, 3), 1.0 / 3);
    near(of(MYTH_RECALL, 1, item, 6, 3), 0);
    near(of(MYTH_PRECISION, 12, item, 6, 3), 3.0 / 6); /* of the six chunks that there are, not of twelve */
    near(of(MYTH_PRECISION, 4, item, 6, 3), 2.0 / 4);
    near(of(MYTH_MRR, 0, item, 6, 3), 1.0 / 2);
    near(of(MYTH_ACC, 1, item, 6, 3), 0);
    near(of(MYTH_ACC, 2, item, 6, 3), 1);
    near(of(MYTH_NDCG, 10, item, 6, 3), (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3) + 1 / log2(4)));
    near(of(MYTH_NDCG, 2, item, 6, 3), (1 / log2(3)) / (1 + 1 / log2(3)));
}

static void ends_of_the_scale(void **state)
{
    (void)state;
    static const uint32_t best[] = {0, 1}, worst[] = {2, 3};
    for (int kind = MYTH_RECALL; kind <= MYTH_NDCG; kind++) {
        near(of((myth_measure_kind)kind, 10, best, 2, 2), 1);
        near(of((myth_measure_kind)kind, 10, worst, 2, 2), 0);
        near(of((myth_measure_kind)kind, 10, NULL, 0, 2), 0);
    }
}

/* When a document is in the answer several times, only precision changes. */
static void a_document_counts_once(void **state)
{
    (void)state;
    static const uint32_t once[] = {4, 0, 1}, often[] = {4, 4, 4, 0, 0, 1, 0};
    static const myth_measure_kind kind[] = {MYTH_RECALL, MYTH_ACC, MYTH_MRR, MYTH_NDCG};
    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
        near(of(kind[i], 10, often, 7, 2), of(kind[i], 10, once, 3, 2));
    assert_true(of(MYTH_PRECISION, 10, often, 7, 2) < of(MYTH_PRECISION, 10, once, 3, 2));
}

static void names(void **state)
{
    (void)state;
    char name[MYTH_MEASURE_NAME];
    assert_string_equal(myth_measure_name(name, &(myth_measure){MYTH_RECALL, 12}), "recall@12");
    assert_string_equal(myth_measure_name(name, &(myth_measure){MYTH_NDCG, 10}), "ndcg@10");
    assert_string_equal(myth_measure_name(name, &(myth_measure){MYTH_MRR, 0}), "mrr");
}

static void intervals_are_the_same_twice(void **state)
{
    (void)state;
    double v[50];
    uint64_t r = check_seed();
    for (int i = 0; i < 50; i++)
        v[i] = check_unit(&r);
    myth_interval a = myth_bootstrap(v, 50, 1, room), b = myth_bootstrap(v, 50, 1, room);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_true(a.low < a.mean && a.mean < a.high);
}

static void intervals_of_equal_values_are_points(void **state)
{
    (void)state;
    static const double v[] = {0.25, 0.25, 0.25, 0.25};
    myth_interval a = myth_bootstrap(v, 4, 1, room);
    near(a.mean, 0.25);
    near(a.low, 0.25);
    near(a.high, 0.25);
}

/* For n flips of a coin, the interval of the mean reaches about 1.96 sqrt(p q / n) to each side. */
static void interval_has_its_width(void **state)
{
    (void)state;
    enum { N = 400 };
    double v[N];
    for (int i = 0; i < N; i++)
        v[i] = i % 4 == 0;
    myth_interval a = myth_bootstrap(v, N, 1, room);
    double half = 1.96 * sqrt(0.25 * 0.75 / N);
    near(a.mean, 0.25);
    assert_true(fabs(a.high - a.mean - half) < 0.15 * half);
    assert_true(fabs(a.mean - a.low - half) < 0.15 * half);
}

/* When all pairs differ by the same value, the interval of the difference has no width, even though the values of each
 * side vary. */
static void differences_are_paired(void **state)
{
    (void)state;
    double a[60], b[60];
    uint64_t r = check_seed();
    for (int i = 0; i < 60; i++) {
        b[i] = check_unit(&r);
        a[i] = b[i] + 0.125;
    }
    myth_interval d = myth_bootstrap_difference(a, b, 60, 1, room);
    assert_true(fabs(d.mean - 0.125) < 1e-9 && fabs(d.low - 0.125) < 1e-9 && fabs(d.high - 0.125) < 1e-9);
    myth_interval alone = myth_bootstrap(a, 60, 1, room);
    assert_true(alone.high - alone.low > 0.05);
}

static void strides_and_ratios(void **state)
{
    (void)state;
    static const double two[] = {1, 9, 2, 9, 3, 9}, part[] = {1, 0, 3}, whole[] = {2, 5, 3}, none[] = {0, 0, 0};
    near(myth_bootstrap(two, 3, 2, room).mean, 2);
    near(myth_bootstrap_ratio(part, whole, 3, room).mean, 4.0 / 10);
    near(myth_bootstrap_ratio(part, none, 3, room).high, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(ends_of_the_scale),
        cmocka_unit_test(a_document_counts_once),
        cmocka_unit_test(names),
        cmocka_unit_test(intervals_are_the_same_twice),
        cmocka_unit_test(intervals_of_equal_values_are_points),
        cmocka_unit_test(interval_has_its_width),
        cmocka_unit_test(differences_are_paired),
        cmocka_unit_test(strides_and_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
