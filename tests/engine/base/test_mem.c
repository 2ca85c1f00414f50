/* test_mem.c - the ledger counts every byte once, keeps its limit, and fails exactly the allocation that a test names.
 */
#include "engine/base/asan.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_mem(void **state)
{
    myth_mem *mem = NULL;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    *state = mem;
    return 0;
}

static int close_mem(void **state) { return myth_mem_close(*state) == 0 ? 0 : -1; }

static void blocks_are_zero_aligned_and_booked(void **state)
{
    myth_mem *mem = *state;
    size_t size[] = {0, 1, 63, 64, 65, 4096, 65535, 65536, 65537, 1 << 20};
    void *block[sizeof(size) / sizeof(size[0])];
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
        unsigned char *p = block[i] = myth_alloc(mem, MYTH_MEM_OTHER, "test", size[i]);
        size_t n = size[i] ? size[i] : 1;
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t b = 0; b < n; b++)
            assert_int_equal(p[b], 0);
        memset(p, 0xa5, n);
        sum += n;
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live, sum);
    }
    assert_int_equal(myth_mem_n_alloc(mem), sizeof(size) / sizeof(size[0]));
    for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
        myth_free(mem, block[i]);
    myth_free(mem, NULL);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live, 0);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).peak, sum);
    assert_int_equal(myth_mem_total(mem, 0).peak, sum);
    myth_mem_reset_peak(mem);
    assert_int_equal(myth_mem_total(mem, 0).peak, 0);
}

static void sizes_that_overflow_are_refused(void **state)
{
    myth_mem *mem = *state;
    assert_null(myth_alloc(mem, MYTH_MEM_OTHER, "test", SIZE_MAX));
    assert_null(myth_alloc(mem, MYTH_MEM_OTHER, "test", SIZE_MAX - 63));
    assert_null(myth_alloc(mem, MYTH_MEM_OTHER, "test", (size_t)PTRDIFF_MAX));
    assert_null(myth_alloc_n(mem, MYTH_MEM_OTHER, "test", SIZE_MAX / 2, 3));
    assert_null(myth_alloc_n(mem, MYTH_MEM_OTHER, "test", (size_t)1 << 32, (size_t)1 << 32));
    assert_int_equal(myth_mem_total(mem, 0).live, 0);
}

static void realloc_keeps_bytes_and_clears_the_rest(void **state)
{
    myth_mem *mem = *state;
    unsigned char *p = myth_realloc(mem, MYTH_MEM_STAGING, "test", NULL, 100);
    assert_non_null(p);
    for (int i = 0; i < 100; i++)
        p[i] = (unsigned char)(i + 1);
    size_t size[] = {100000, 50, 70000, 3};
    size_t kept = 100;
    for (size_t k = 0; k < 4; k++) {
        p = myth_realloc(mem, MYTH_MEM_STAGING, "test", p, size[k]);
        assert_non_null(p);
        for (size_t i = 0; i < size[k]; i++)
            assert_int_equal(p[i], i < kept ? i + 1 : 0);
        kept = size[k] < kept ? size[k] : kept;
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_STAGING).live, size[k]);
    }
    assert_null(myth_realloc(mem, MYTH_MEM_STAGING, "test", p, SIZE_MAX));
    assert_int_equal(p[0], 1);
    myth_free(mem, p);
}

static void limit_counts_every_class_but_mapped_weights(void **state)
{
    myth_mem *mem = *state;
    myth_mem_set_limit(mem, MYTH_MEM_HOST, 1000);
    assert_int_equal(myth_mem_limit(mem, MYTH_MEM_HOST), 1000);
    void *a = myth_alloc(mem, MYTH_MEM_WEIGHTS, "test", 600);
    assert_non_null(a);
    assert_int_equal(myth_mem_last_refusal(mem), MYTH_MEM_NONE_REFUSED);
    assert_null(myth_alloc(mem, MYTH_MEM_LOGITS, "test", 401));
    assert_int_equal(myth_mem_last_refusal(mem), MYTH_MEM_OVER_LIMIT);
    assert_int_equal(myth_mem_last_need(mem), 1001);
    assert_true(myth_mem_book(mem, 0, MYTH_MEM_WEIGHTS_MAPPED, "test", 1 << 30));
    void *b = myth_alloc(mem, MYTH_MEM_LOGITS, "test", 400);
    assert_non_null(b);
    assert_false(myth_mem_book(mem, 0, MYTH_MEM_OTHER, "test", 1));
    assert_true(myth_mem_book(mem, 3, MYTH_MEM_OTHER, "test", 5000)); /* another device has its own limit */
    myth_mem_set_limit(mem, 3, 5001);
    assert_false(myth_mem_book(mem, 3, MYTH_MEM_OTHER, "test", 2));
    assert_int_equal(myth_mem_total(mem, 0).live, 1000);
    assert_int_equal(myth_mem_total(mem, 0).peak, 1000);
    assert_int_equal(myth_mem_total(mem, 3).live, 5000);
    assert_false(myth_mem_book(mem, 0, MYTH_MEM_WEIGHTS_MAPPED, "test", UINT64_MAX)); /* the sum would wrap */
    myth_mem_unbook(mem, 3, MYTH_MEM_OTHER, 5000);
    myth_mem_unbook(mem, 0, MYTH_MEM_WEIGHTS_MAPPED, 1 << 30);
    myth_free(mem, a);
    assert_null(myth_alloc(mem, MYTH_MEM_LOGITS, "test", 601));
    myth_free(mem, b);
    b = myth_alloc(mem, MYTH_MEM_LOGITS, "test", 1000);
    assert_non_null(b);
    myth_free(mem, b);
}

static bool takes(myth_mem *mem, myth_mem_class cls, size_t bytes)
{
    void *p = myth_alloc(mem, cls, "test", bytes);
    myth_free(mem, p);
    return p != NULL;
}

static void faults_hit_what_they_name(void **state)
{
    myth_mem *mem = *state;
    for (uint64_t nth = 1; nth <= 5; nth++)
        for (int forever = 0; forever < 2; forever++) {
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth, .forever = forever});
            for (uint64_t i = 1; i <= 6; i++)
                assert_int_equal(takes(mem, MYTH_MEM_OTHER, 8), forever ? i < nth : i != nth);
        }
    myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 2, .class_mask = 1u << MYTH_MEM_LOGITS});
    assert_true(takes(mem, MYTH_MEM_OTHER, 8));
    assert_true(takes(mem, MYTH_MEM_LOGITS, 8));
    assert_true(takes(mem, MYTH_MEM_OTHER, 8));
    assert_false(takes(mem, MYTH_MEM_LOGITS, 8));
    assert_int_equal(myth_mem_last_refusal(mem), MYTH_MEM_NOT_THERE);
    assert_true(takes(mem, MYTH_MEM_LOGITS, 8));
    myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 1, .fail_above = 100, .forever = true});
    assert_true(takes(mem, MYTH_MEM_OTHER, 100));
    assert_false(takes(mem, MYTH_MEM_OTHER, 101));
    assert_false(myth_mem_book(mem, 0, MYTH_MEM_OTHER, "test", 101));
    assert_true(takes(mem, MYTH_MEM_OTHER, 100));
    myth_mem_set_fault(mem, NULL);
    assert_true(takes(mem, MYTH_MEM_OTHER, 101));
    assert_int_equal(myth_mem_total(mem, 0).live, 0);
}

static void realloc_under_a_fault_keeps_the_old_block(void **state)
{
    myth_mem *mem = *state;
    unsigned char *p = myth_alloc(mem, MYTH_MEM_OTHER, "test", 10);
    p[9] = 7;
    myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 1});
    assert_null(myth_realloc(mem, MYTH_MEM_OTHER, "test", p, 20));
    myth_mem_set_fault(mem, NULL);
    assert_int_equal(p[9], 7);
    assert_int_equal(myth_mem_total(mem, 0).live, 10);
    myth_free(mem, p);
}

static void arena_gives_what_it_priced(void **state)
{
    myth_mem *mem = *state;
    myth_arena a;
    size_t size[] = {1, 64, 65, 0, 200}, cost = 0;
    for (int i = 0; i < 5; i++)
        cost += myth_arena_cost(size[i]);
    assert_int_equal(myth_arena_open(&a, mem, MYTH_MEM_STAGING, "test", cost, NULL), MYTH_OK);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_STAGING).live, cost);
    for (int i = 0; i < 5; i++) {
        unsigned char *p = myth_arena_take(&a, size[i]);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0xff, size[i]);
    }
    size_t used = a.used;
    assert_null(myth_arena_take(&a, 1));
    assert_null(myth_arena_take(&a, SIZE_MAX)); /* rounding up wraps */
    assert_int_equal(a.used, used);
    myth_arena_close(&a);
    myth_arena_close(&a);
    assert_int_equal(myth_mem_total(mem, 0).live, 0);
    myth_mem_set_fault(mem, &(myth_fault){.fail_nth = 1});
    assert_int_equal(myth_arena_open(&a, mem, MYTH_MEM_STAGING, "test", 10, NULL), MYTH_ENOMEM);
    myth_arena_close(&a);
}

struct worker {
    pthread_t thread;
    myth_mem *mem;
    uint64_t rng;
};

static void *hammer(void *arg)
{
    struct worker *w = arg;
    myth_mem *mem = w->mem;
    for (int i = 0; i < 5000; i++) {
        void *p =
            myth_alloc(mem, (myth_mem_class)check_below(&w->rng, MYTH_MEM_CLASS_N), "test", check_below(&w->rng, 5000));
        p = myth_realloc(mem, MYTH_MEM_OTHER, "test", p, check_below(&w->rng, 5000));
        myth_free(mem, p);
    }
    return NULL;
}

static void threads_share_a_ledger(void **state)
{
    struct worker worker[4];
    for (uint64_t i = 0; i < 4; i++) {
        worker[i] = (struct worker){.mem = *state, .rng = check_seed() + i};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, hammer, &worker[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(worker[i].thread, NULL);
    assert_int_equal(myth_mem_total(*state, 0).live, 0);
    assert_int_equal(myth_mem_n_alloc(*state), 4 * 2 * 5000);
}

/* ---- files ---- */

static char dir[] = "/tmp/mythos-test-XXXXXX", path[64];

static void put(const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static void maps_and_copies_hold_the_file(void **state)
{
    myth_mem *mem = *state;
    put("sixteen bytes...");
    for (unsigned flags = 0; flags < 4; flags++) {
        myth_map map;
        assert_int_equal(myth_map_open(&map, mem, path, flags, MYTH_MEM_WEIGHTS, NULL), MYTH_OK);
        assert_int_equal(map.size, 16);
        assert_memory_equal(map.base, "sixteen bytes...", 16);
        myth_mem_class cls = flags & MYTH_MAP_READ ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED;
        assert_int_equal(myth_mem_get(mem, 0, cls).live, 16);
        assert_int_equal(myth_map_check(&map, NULL), MYTH_OK);
        myth_map_close(&map);
        myth_map_close(&map);
        assert_int_equal(myth_mem_get(mem, 0, cls).live, 0);
    }
}

static void a_changed_file_is_noticed(void **state)
{
    myth_map map;
    put("sixteen bytes...");
    assert_int_equal(myth_map_open(&map, *state, path, 0, MYTH_MEM_WEIGHTS, NULL), MYTH_OK);
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(myth_map_check(&map, NULL), MYTH_EIO);
    myth_map_close(&map);
}

static void odd_paths_have_their_codes(void **state)
{
    myth_map map = {0};
    char name[128];
    put("");
    assert_int_equal(myth_map_open(&map, *state, path, 0, MYTH_MEM_WEIGHTS, NULL),
                     MYTH_OK); /* an empty file is a file */
    assert_int_equal(map.size, 0);
    myth_map_close(&map);
    snprintf(name, sizeof(name), "%s/none", dir);
    assert_int_equal(myth_map_open(&map, *state, name, 0, MYTH_MEM_WEIGHTS, NULL), MYTH_ENOTFOUND);
    assert_int_equal(myth_map_open(&map, *state, dir, 0, MYTH_MEM_WEIGHTS, NULL), MYTH_EIO);
    snprintf(name, sizeof(name), "%s/fifo", dir);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(myth_map_open(&map, *state, name, 0, MYTH_MEM_WEIGHTS, NULL), MYTH_EIO);
    unlink(name);
    snprintf(name, sizeof(name), "%s/link", dir);
    assert_int_equal(symlink(path, name), 0);
    assert_int_equal(myth_map_open(&map, *state, name, MYTH_MAP_NOFOLLOW, MYTH_MEM_WEIGHTS, NULL), MYTH_EIO);
    assert_int_equal(myth_map_open(&map, *state, name, 0, MYTH_MEM_WEIGHTS, NULL), MYTH_OK);
    myth_map_close(&map);
    unlink(name);
}

static void a_file_survives_every_failed_allocation(void **state)
{
    myth_mem *mem = *state;
    put("text");
    for (unsigned flags = 0; flags < 2; flags++)
        for (uint64_t nth = 1;; nth++) {
            myth_map map = {0};
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
            myth_status st = myth_map_open(&map, mem, path, flags, MYTH_MEM_WEIGHTS, NULL);
            myth_mem_set_fault(mem, NULL);
            myth_map_close(&map);
            assert_int_equal(myth_mem_total(mem, 0).live, 0);
            assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_WEIGHTS_MAPPED).live, 0);
            if (st == MYTH_OK)
                break;
            assert_int_equal(st, MYTH_ENOMEM);
        }
}

static void small_files_are_read_written_and_limited(void **state)
{
    myth_mem *mem = *state;
    unsigned char *data = NULL;
    size_t len = 0;
    assert_int_equal(myth_file_write(path, "abc\0d", 5, NULL), MYTH_OK);
    assert_int_equal(myth_file_read(&data, &len, mem, path, 5, NULL), MYTH_OK);
    assert_int_equal(len, 5);
    assert_memory_equal(data, "abc\0d", 5);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_STAGING).live, 5);
    myth_free(mem, data);
    assert_int_equal(myth_file_read(&data, &len, mem, path, 4, NULL), MYTH_ELIMIT);
    char name[128];
    snprintf(name, sizeof(name), "%s/no/file", dir);
    assert_int_equal(myth_file_write(name, "x", 1, NULL), MYTH_ECREATE);
}

/* Resident pages among the n whole ones behind p. */
static uint32_t n_resident(const unsigned char *p, uint32_t n)
{
    unsigned char in[256];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = ((uint64_t)(uintptr_t)p + page - 1) / page * page;
    uint32_t sum = 0;
    assert_true(n <= sizeof(in));
    assert_int_equal(mincore((void *)(uintptr_t)from, n * page, in), 0);
    for (uint32_t i = 0; i < n; i++)
        sum += in[i] & 1;
    return sum;
}

static uint64_t is_left;
static uint64_t left(void) { return is_left; }

static void a_ledger_that_reserves_has_its_pages(void **state)
{
    myth_mem *mem = *state;
    enum { N = 40 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (N + 1) * page;
    unsigned char *shared = myth_alloc(mem, MYTH_MEM_OTHER, "test", bytes);
    assert_non_null(shared);
    myth_mem_reserve(mem, left);
    is_left = bytes / 2;
    assert_null(myth_alloc(mem, MYTH_MEM_OTHER, "test", bytes));
    assert_int_equal(myth_mem_last_refusal(mem), MYTH_MEM_NOT_THERE); /* the system, and not a limit */
    assert_int_equal(myth_mem_total(mem, 0).live, bytes);
    void *small = myth_alloc(mem, MYTH_MEM_OTHER, "test", 100); /* nobody asks for so little */
    assert_non_null(small);
    is_left = 2 * bytes;
    unsigned char *all = myth_alloc(mem, MYTH_MEM_OTHER, "test", bytes);
    assert_non_null(all);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(all[i], 0);
    if (!MYTH_HAS_ASAN) {
        assert_int_equal(n_resident(shared, N), 0);
        assert_int_equal(n_resident(all, N), N);
        myth_mem_give_back(mem, all, 0, bytes);
        assert_int_equal(n_resident(all, N), N);
    }
    myth_free(mem, shared);
    myth_free(mem, small);
    myth_free(mem, all);
}

static void pages_given_back_are_not_resident(void **state)
{
    myth_mem *mem = *state;
    enum { N = 40 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (N + 1) * page;
    unsigned char *p = myth_alloc(mem, MYTH_MEM_OTHER, "test", bytes),
                  *small = myth_alloc(mem, MYTH_MEM_OTHER, "s", page);
    assert_true(p && small);
    memset(p, 7, bytes);
    memset(small, 7, page);
    myth_mem_give_back(mem, small, 0, page);
    assert_true(small[0] == 7 && small[page - 1] == 7);
    myth_mem_give_back(mem, p, 10 * page + 1, page); /* no whole page */
    const size_t at = page - 64;                     /* the first byte of a page of the system, behind the head */
    myth_mem_give_back(mem, p, at + 2 * page - 1, 3 * page + 2);
    assert_int_equal(myth_mem_total(mem, 0).live, bytes + page);
    for (size_t i = 0; i < bytes; i++)
        if (i < at + 2 * page || i >= at + 5 * page)
            assert_int_equal(p[i], 7);
        else if (!MYTH_HAS_ASAN)
            assert_int_equal(p[i], 0);
    memset(p, 9, bytes);
    myth_mem_give_back(mem, p, 0, bytes);
    if (!MYTH_HAS_ASAN)
        assert_int_equal(n_resident(p, N), 0);
    memset(p, 3, bytes);
    assert_int_equal(p[bytes - 1], 3);
    myth_free(mem, p);
    myth_free(mem, small);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/file", dir);
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_mem, close_mem)
    const struct CMUnitTest tests[] = {
        TEST(blocks_are_zero_aligned_and_booked),
        TEST(sizes_that_overflow_are_refused),
        TEST(realloc_keeps_bytes_and_clears_the_rest),
        TEST(limit_counts_every_class_but_mapped_weights),
        TEST(faults_hit_what_they_name),
        TEST(realloc_under_a_fault_keeps_the_old_block),
        TEST(arena_gives_what_it_priced),
        TEST(threads_share_a_ledger),
        TEST(a_ledger_that_reserves_has_its_pages),
        TEST(pages_given_back_are_not_resident),
        TEST(maps_and_copies_hold_the_file),
        TEST(a_changed_file_is_noticed),
        TEST(odd_paths_have_their_codes),
        TEST(a_file_survives_every_failed_allocation),
        TEST(small_files_are_read_written_and_limited),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(dir);
    return failed;
}
