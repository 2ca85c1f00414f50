/* test_fuse.c - matches and cosines in one number, by hand. */
#include "tests/support/check.h"

#include "retrieval/rank/fuse.h"

#include <math.h>

enum { N = 4 };

static void expect(const double *match, const float *cosine, double share, double from, const double *want,
                   const double *semantic)
{
    myth_rank_chunk chunk[N] = {{0}};
    for (uint32_t i = 0; i < N; i++)
        chunk[i].match = match[i];
    myth_fuse(chunk, N, cosine, share, from);
    for (uint32_t i = 0; i < N; i++)
        if (!(fabs(chunk[i].match - want[i]) < 1e-6) || !(fabs(chunk[i].semantic - semantic[i]) < 1e-6))
            fail_msg("chunk %u: match %g of it %g by meaning, expected %g and %g", i, chunk[i].match, chunk[i].semantic,
                     want[i], semantic[i]);
}

static void nearness_takes_its_share(void **state)
{
    (void)state;
    static const float cosine[N] = {0.2f, 0.8f, NAN, 0.5f};
    expect((double[]){4, 2, 3, 0}, cosine, 0.25, 0, (double[]){3, 2.5, 3, 0.5}, (double[]){0, 1, 0, 0.5});
    expect((double[]){4, 2, 3, 0}, cosine, 0, 0, (double[]){4, 2, 3, 0}, (double[]){0, 0, 0, 0});
    expect((double[]){4, 2, 3, 0}, cosine, 1, 0, (double[]){0, 4, 3, 2}, (double[]){0, 4, 0, 2});
}

static void nearness_begins_at_the_mean(void **state)
{
    (void)state;
    static const float cosine[N] = {0.1f, 0.8f, NAN, 0.6f}; /* their mean is 0.5 */
    expect((double[]){4, 2, 3, 0}, cosine, 0.25, 1, (double[]){3, 2.5, 3, 1. / 3}, (double[]){0, 1, 0, 1. / 3});
    expect((double[]){4, 2, 3, 0}, cosine, 0.25, 0.5, (double[]){3, 2.5, 3, 0.6}, (double[]){0, 1, 0, 0.6});
    static const float far[N] = {-9, 0.8f, 0.4f, 0.2f}; /* their mean is -1.9 */
    expect((double[]){4, 2, 3, 0}, far, 0.25, 1, (double[]){3, 2.5, 2.25 + 2.3 / 2.7, 2.1 / 2.7},
           (double[]){0, 1, 2.3 / 2.7, 2.1 / 2.7});
}

static void where_nothing_tells_them_apart(void **state)
{
    (void)state;
    static const float same[N] = {0.3f, 0.3f, NAN, 0.3f}, none[N] = {NAN, NAN, NAN, NAN};
    expect((double[]){4, 2, 3, 0}, same, 0.5, 0, (double[]){4, 3, 3, 2}, (double[]){2, 2, 0, 2});
    expect((double[]){4, 2, 3, 0}, same, 0.5, 1, (double[]){4, 3, 3, 2}, (double[]){2, 2, 0, 2});
    expect((double[]){4, 2, 3, 0}, none, 0.5, 0, (double[]){4, 2, 3, 0}, (double[]){0, 0, 0, 0});
    expect((double[]){4, 2, 3, 0}, none, 0.5, 1, (double[]){4, 2, 3, 0}, (double[]){0, 0, 0, 0});
    static const float apart[N] = {-1, 1, NAN, 0}; /* no word was found: nearness alone, up to 1 */
    expect((double[]){0, 0, 0, 0}, apart, 0.5, 0, (double[]){0, 0.5, 0, 0.25}, (double[]){0, 0.5, 0, 0.25});
}

static void the_share_is_the_query_kinds(void **state)
{
    (void)state;
    const myth_weights_search w = {.semantic = 0.3}, too_much = {.semantic = 7};
    static const struct {
        myth_query_kind kind;
        double share;
    } row[] = {{MYTH_QUERY_PROSE, 0.3}, {MYTH_QUERY_PHRASE, 0.3}, {MYTH_QUERY_SYMBOL, 0}, {MYTH_QUERY_ISSUE, 0}};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_true(myth_fuse_share(&(myth_query){.kind = row[i].kind}, &w) == row[i].share);
    assert_true(myth_fuse_share(&(myth_query){.kind = MYTH_QUERY_PROSE}, &too_much) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearness_takes_its_share),
        cmocka_unit_test(nearness_begins_at_the_mean),
        cmocka_unit_test(where_nothing_tells_them_apart),
        cmocka_unit_test(the_share_is_the_query_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
