/* test_bytes.c - the bounded reader at the ends of its bytes, and sums and products of sizes that do not fit 64 bits.
 */
#include "tests/support/check.h"

#include "engine/base/bytes.h"

static const unsigned char text[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff};

static void what_is_there_is_lent(void **state)
{
    (void)state;
    myth_reader r = {text, sizeof(text), 0};
    assert_ptr_equal(myth_reader_take(&r, 3), text);
    assert_int_equal(myth_reader_left(&r), 7);
    assert_ptr_equal(myth_reader_take(&r, 7), text + 3); /* to the last byte */
    assert_int_equal(myth_reader_left(&r), 0);
    assert_ptr_equal(myth_reader_take(&r, 0), text + 10);
    assert_null(myth_reader_take(&r, 1));
}

/* Lengths that wrap around when a position is added to them are the ones that a hostile file writes. */
static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    static const uint64_t too_long[] = {8, 9, 1u << 31, (uint64_t)1 << 63, UINT64_MAX - 3, UINT64_MAX - 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof(too_long) / sizeof(too_long[0]); i++) {
        myth_reader r = {text, sizeof(text), 3};
        assert_false(myth_reader_need(&r, too_long[i]));
        assert_null(myth_reader_take(&r, too_long[i]));
        assert_int_equal(r.pos, 3);
    }
}

static void numbers_are_little_endian(void **state)
{
    (void)state;
    myth_reader r = {text, sizeof(text), 0};
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    assert_true(myth_reader_u16(&r, &u16) && u16 == 0x0201);
    assert_true(myth_reader_u64(&r, &u64) && u64 == 0xff09080706050403u);
    r.pos = 6;
    assert_true(myth_reader_u32(&r, &u32) && u32 == 0xff090807u);
    r.pos = 9;
    assert_true(myth_reader_u8(&r, &u8) && u8 == 0xff);
    assert_false(myth_reader_u8(&r, &u8));
    for (uint64_t pos = 3; pos <= 10; pos++) { /* a number that is cut off leaves value and place alone */
        r.pos = pos;
        u64 = 77;
        assert_false(myth_reader_u64(&r, &u64));
        assert_true(u64 == 77 && r.pos == pos);
    }
    r.pos = 7;
    assert_false(myth_reader_u32(&r, &u32));
    r.pos = 9;
    assert_false(myth_reader_u16(&r, &u16));
    assert_true(u32 == 0xff090807u && u16 == 0x0201 && r.pos == 9);
}

static void sums_and_products_that_fit(void **state)
{
    (void)state;
    uint64_t v = 5;
    assert_true(myth_mul_u64(&v, (uint64_t)1 << 32, UINT32_MAX) && v == (uint64_t)UINT32_MAX << 32);
    assert_false(myth_mul_u64(&v, (uint64_t)1 << 32, (uint64_t)1 << 32));
    assert_true(myth_add_u64(&v, UINT64_MAX, 0) && v == UINT64_MAX);
    assert_false(myth_add_u64(&v, UINT64_MAX, 1));
    static const struct {
        uint64_t a, align, up;
    } row[] = {{0, 32, 0},   {1, 32, 32}, {31, 32, 32},
               {32, 32, 32}, {33, 1, 33}, {UINT64_MAX - 31, 32, UINT64_MAX - 31}};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        assert_true(myth_align_u64(&v, row[i].a, row[i].align) && v == row[i].up);
    v = 5;
    assert_false(myth_align_u64(&v, UINT64_MAX - 30, 32));
    assert_int_equal(v, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_lent),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(sums_and_products_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
