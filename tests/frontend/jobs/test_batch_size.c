/* test_batch_size.c - a batch that failed for lack of memory is done again once, at half its size, and the size is
 * whole again within ten batches. */
#include "tests/support/check.h"

#include "frontend/jobs/batch_size.h"

static void once_and_smaller(void **state)
{
    (void)state;
    myth_batch_size b = myth_batch_size_of(512);
    assert_int_equal(b.now, 512);
    assert_false(myth_batch_size_again(&b, MYTH_OK, 512));
    assert_false(myth_batch_size_again(&b, MYTH_EDEVICE, 512)); /* smaller batches do not help */
    assert_false(myth_batch_size_again(&b, MYTH_ELOST, 512));
    assert_int_equal(b.now, 512);
    assert_true(myth_batch_size_again(&b, MYTH_ENOMEM, 300)); /* half of what it had, not of what it could have had */
    assert_int_equal(b.now, 150);
    assert_false(myth_batch_size_again(&b, MYTH_ENOMEM, 150)); /* done again already */
    myth_batch_size_done(&b);
    assert_int_equal(b.now, 214);
    assert_true(myth_batch_size_again(&b, MYTH_ENOMEM, 400)); /* a long prompt: it counts as a batch of that size */
    assert_int_equal(b.now, 107);
    assert_int_equal(b.n_again, 2);
    b = myth_batch_size_of(512);
    assert_true(myth_batch_size_again(&b, MYTH_ENOMEM, 1)); /* nothing is smaller */
    assert_int_equal(b.now, 1);
    assert_false(myth_batch_size_again(&b, MYTH_ENOMEM, 1));
}

static void whole_again_within_ten_batches(void **state)
{
    (void)state;
    for (uint32_t whole = 1; whole <= 4096; whole += whole < 70 ? 1 : 61)
        for (uint32_t n = 2; n <= whole; n += n < 9 ? 1 : n / 3) {
            myth_batch_size b = myth_batch_size_of(whole);
            uint32_t n_batch = 0;
            assert_true(myth_batch_size_again(&b, MYTH_ENOMEM, n));
            assert_true(b.now >= 1 && b.now <= n / 2);
            for (; b.now < whole; n_batch++) {
                const uint32_t before = b.now;
                myth_batch_size_done(&b);
                assert_true(b.now > before && b.now <= whole);
            }
            assert_true(n_batch <= 10);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_and_smaller),
                                       cmocka_unit_test(whole_again_within_ten_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
