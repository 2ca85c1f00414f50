/* test_containers.c - compares arrays that grow, tables and hashes with plain arrays, at every border and with
 * allocations that fail. */
#include "engine/base/array.h"
#include "engine/base/table.h"
#include "tests/support/check.h"

static myth_mem *open_mem(void)
{
    myth_mem *mem;
    myth_error err;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    return mem;
}

static void an_array_holds_what_was_put(void **state)
{
    (void)state;
    myth_mem *mem = open_mem();
    uint64_t *wide = NULL;
    uint16_t *narrow = NULL;
    size_t cap = 0;
    uint32_t cap32 = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &wide, i, &cap));
        assert_true(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &narrow, i, &cap32));
        wide[i] = i * 0x100000001u;
        narrow[i] = (uint16_t)i;
        assert_true(cap > i && cap <= 3 * (size_t)i + 16 && cap32 > i);
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_true(wide[i] == i * 0x100000001u && narrow[i] == (uint16_t)i);
    myth_free(mem, wide);
    myth_free(mem, narrow);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Texts of every length up to 300, one behind the other: the room is there, and what was put stays. */
static void an_array_takes_several_at_once(void **state)
{
    (void)state;
    myth_mem *mem = open_mem();
    char *text = NULL;
    uint16_t *narrow = NULL;
    size_t cap = 0, n = 0;
    uint32_t cap32 = 0;
    assert_true(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &text, 0, 0, &cap));
    assert_true(!text && cap == 0);
    assert_true(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &narrow, 0, 1000, &cap32));
    assert_true(cap32 == 1000);
    assert_true(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &narrow, 999, 1, &cap32));
    assert_true(cap32 == 1000);
    for (size_t len = 0; len < 300; n += len, len++) {
        assert_true(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &text, n, len, &cap));
        assert_true(cap >= n + len);
        if (len)
            memset(text + n, (int)(len % 251), len);
    }
    n = 0;
    for (size_t len = 0; len < 300; n += len, len++)
        for (size_t i = 0; i < len; i++)
            assert_true((unsigned char)text[n + i] == len % 251);
    myth_free(mem, text);
    myth_free(mem, narrow);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A capacity near its end is refused before anything is multiplied; a failed allocation changes nothing. */
static void what_cannot_grow_is_left_as_it_was(void **state)
{
    (void)state;
    myth_mem *mem = open_mem();
    uint32_t *array = NULL;
    size_t cap = 0;
    assert_true(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &array, 0, &cap));
    uint32_t *before = array;
    size_t huge = SIZE_MAX / 8;
    assert_false(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &array, huge, &huge));
    assert_true(array == before && huge == SIZE_MAX / 8);
    uint32_t most = UINT32_MAX - 1;
    assert_false(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &array, most, &most));
    assert_true(array == before && most == UINT32_MAX - 1);
    /* sums that would wrap around to something small */
    assert_false(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &array, 8, SIZE_MAX - 4, &cap));
    assert_false(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &array, 8, SIZE_MAX / 4, &cap));
    uint32_t few = 16;
    assert_false(MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "test", &array, 8, (size_t)UINT32_MAX - 4, &few));
    assert_true(array == before && cap == 16 && few == 16);
    myth_mem_set_limit(mem, 0, myth_mem_total(mem, 0).live);
    assert_false(MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "test", &array, cap, &cap));
    assert_true(array == before && cap == 16);
    myth_free(mem, array);
    assert_int_equal(myth_mem_close(mem), 0);
}

static bool is_number(const void *of, uint32_t idx, const void *key)
{
    return ((const uint64_t *)of)[idx] == *(const uint64_t *)key;
}

static void a_table_finds_all_and_nothing_else(void **state)
{
    (void)state;
    enum { N = 3000 };
    static uint64_t number[N];
    static uint32_t slot[8192];
    const uint32_t n_slot = myth_table_slots(N);
    assert_int_equal(n_slot, 8192);
    assert_int_equal(myth_table_slots(0), 16);
    assert_int_equal(myth_table_slots(8), 16);
    assert_int_equal(myth_table_slots(9), 32);
    for (uint32_t i = 0; i < N; i++) {
        number[i] = (uint64_t)i * 4096; /* the low bits say nothing */
        uint32_t *at = myth_table_find(slot, n_slot, myth_hash_id(number[i]), is_number, number, &number[i]);
        assert_int_equal(*at, 0);
        *at = i + 1;
    }
    uint64_t longest = 0;
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t hash = myth_hash_id(number[i]), other = number[i] + 1;
        const uint32_t *at = myth_table_find(slot, n_slot, hash, is_number, number, &number[i]);
        assert_int_equal(*at, i + 1);
        const uint64_t way = ((uint64_t)(at - slot) - hash) & (n_slot - 1);
        longest = way > longest ? way : longest;
        assert_int_equal(*myth_table_find(slot, n_slot, myth_hash_id(other), is_number, number, &other), 0);
    }
    assert_true(longest < 64);
}

/* The published values: what is kept between runs depends on them. */
static void fnv1a_is_the_published_one(void **state)
{
    (void)state;
    assert_true(myth_fnv1a(MYTH_FNV1A, "", 0) == 0xcbf29ce484222325u);
    assert_true(myth_fnv1a(MYTH_FNV1A, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(myth_fnv1a(MYTH_FNV1A, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(myth_fnv1a(myth_fnv1a(MYTH_FNV1A, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_holds_what_was_put),        cmocka_unit_test(an_array_takes_several_at_once),
        cmocka_unit_test(what_cannot_grow_is_left_as_it_was), cmocka_unit_test(a_table_finds_all_and_nothing_else),
        cmocka_unit_test(fnv1a_is_the_published_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
