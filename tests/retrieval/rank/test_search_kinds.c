/* test_search_kinds.c - kinds of files that their paths do not tell: tests by their content, and older versions. */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/retrieval.h"

static myth_mem *mem;
static myth_index *index_;

static void put_project(void)
{
    static const char *const dirs[] = {"p", "p/src", "p/checks", "p/lib", "p/lib/v1"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        files_mkdir(dirs[i]);
    files_text("p/src/door.py",
               "def open_door(key):\n    \"\"\"Opens the door with a key.\"\"\"\n    return key.turn()\n");
    files_text("p/checks/doors.py",
               "def test_open_door_with_a_key():\n    assert open_door(key)\n    assert door.key\n\n\n"
               "def test_open_door_without_a_key():\n    assert not open_door(None)\n    door, key\n");
    files_text("p/src/gate.rs", "#[test]\nfn test_gate_swings() {\n    assert!(gate(swings));\n}\n\n"
                                "#[test]\nfn test_gate_swings_back() {\n    assert!(gate(swings));\n}\n");
    files_text("p/lib/v1/sluice.py", "def sluice_water(level):\n    return sluice(water, level)\n");
    files_text("p/lib/sluice.py",
               "def sluice_water(level):\n    \"\"\"For one level.\"\"\"\n    steps = level\n    return steps\n");
}

static int begin(void **state)
{
    (void)state;
    static char path[512], root[512];
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    put_project();
    snprintf(root, sizeof root, "%s", files_path("p"));
    snprintf(path, sizeof path, "%s", files_path("index.db"));
    myth_index_opts o = {.root = root, .path = path, .worker_path = getenv("MYTHOS_BIN"), .n_threads = 2};
    myth_index_stats stats;
    if (myth_index_open(&index_, mem, &o, NULL) != MYTH_OK)
        return -1;
    return myth_index_update(index_, &(myth_index_update_opts){0}, &stats, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_index_close(index_);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* The kinds of a file among the hits, and whether it is the first. */
static uint32_t kinds_of(const char *query, const char *path, bool is_first)
{
    myth_hits hits = {0};
    myth_error err = {0};
    uint32_t kinds = 0;
    if (myth_search(&hits, index_, &(myth_search_opts){.query = query, .k = 10}, &err) != MYTH_OK)
        fail_msg("%s: %s", query, err.msg);
    for (uint32_t i = 0; i < hits.n_hit && !kinds; i++)
        if (strcmp(hits.hit[i].path, path) == 0) {
            kinds = hits.hit[i].file_kinds;
            if (is_first != (i == 0))
                fail_msg("%s: %s is hit %u", query, path, i);
        }
    myth_hits_free(&hits);
    return kinds;
}

static void a_file_of_tests_is_a_test(void **state)
{
    (void)state;
    assert_int_equal(kinds_of("open the door with a key", "src/door.py", true), 1u << MYTH_KIND_SOURCE);
    assert_int_equal(kinds_of("open the door with a key", "checks/doors.py", false), 1u << MYTH_KIND_TEST);
    /* in Rust, tests are written beside what they test */
    assert_int_equal(kinds_of("how a gate swings", "src/gate.rs", true), 1u << MYTH_KIND_SOURCE);
}

static void an_older_version_is_legacy(void **state)
{
    (void)state;
    assert_int_equal(kinds_of("sluice for water", "lib/sluice.py", true), 1u << MYTH_KIND_SOURCE);
    assert_int_equal(kinds_of("sluice for water", "lib/v1/sluice.py", false), 1u << MYTH_KIND_LEGACY);
    assert_int_equal(kinds_of("sluice for water in v1", "lib/v1/sluice.py", true), 1u << MYTH_KIND_SOURCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_tests_is_a_test),
        cmocka_unit_test(an_older_version_is_legacy),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
