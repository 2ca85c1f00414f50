/* test_looks.c - what a run looked at is compared with what is there: a file that changes, comes or goes, a link that
 * leads elsewhere, a folder with other names. Rows that nobody wrote hold nothing. */
#include "frontend/inspect/kept/looks.h"
#include "tests/support/check.h"
#include "tests/support/files.h"

#include <unistd.h>

static myth_looks looks;

static bool holds(void) { return myth_looks_hold(looks.row, looks.n); }

static void begin(void)
{
    char line[400];
    snprintf(line, sizeof(line), "rm -rf '%s'", files_path("looks"));
    assert_int_equal(system(line), 0);
    files_mkdir("looks");
    files_mkdir("looks/d");
    files_text("looks/a.h", "int a;\n");
    files_text("looks/d/b.h", "int b;\n");
    assert_int_equal(symlink("a.h", files_path("looks/link.h")), 0);
    assert_int_equal(myth_mem_open(&looks.mem, 0, NULL), MYTH_OK);
}

static void end(void)
{
    myth_mem *mem = looks.mem;
    myth_looks_close(&looks);
    myth_mem_close(mem);
}

/* Each row: what is looked at, and what changes it. */
static void changes_are_seen(void **unused)
{
    (void)unused;
    static const struct {
        const char *path;
        bool is_folder;
        const char *change; /* a shell line in the folder */
    } row[] = {
        {"looks/a.h", false, "echo 'int a2;' >a.h"},
        {"looks/a.h", false, "rm a.h"},
        {"looks/none.h", false, "echo 1 >none.h"},
        {"looks/none.h", false, "mkdir none.h"},
        {"looks/link.h", false, "cp a.h c.h; ln -sf c.h link.h"}, /* the same bytes under another name */
        {"looks/link.h", false, "echo more >>a.h"},
        {"looks/d", true, "echo 1 >d/c.h"},
        {"looks/d", true, "rm d/b.h"},
        {"looks/d", true, "rm d/b.h; mkdir d/b.h"},
        {"looks/d", true, "rm -r d"},
        {"looks/e", true, "mkdir e"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[700];
        begin();
        myth_looks_add(&looks, files_path(row[i].path), row[i].is_folder);
        /* another one, which the change does not touch */
        myth_looks_add(&looks, files_path(row[i].is_folder ? "looks/a.h" : "looks/d/b.h"), false);
        myth_looks_add(&looks, files_path(row[i].path), row[i].is_folder); /* it is there already */
        assert_int_equal(looks.n_look, 2);
        assert_true(holds());
        snprintf(line, sizeof(line), "cd '%s' && { %s ; }", files_path("looks"), row[i].change);
        assert_int_equal(system(line), 0);
        if (holds())
            fail_msg("%s: %s was not seen", row[i].path, row[i].change);
        end();
    }
}

static void rows_are_checked(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    assert_true(myth_looks_hold((const unsigned char *)"", 0)); /* a run that looked at nothing */
    begin();
    myth_looks_add(&looks, files_path("looks/a.h"), false);
    myth_looks_add(&looks, files_path("looks/d"), true);
    for (size_t n = 1; n < looks.n; n++) /* the first row alone is whole, too */
        assert_true(!myth_looks_hold(looks.row, n) || n == 21 + strlen(files_path("looks/a.h")));
    for (uint32_t i = 0; i < 2000; i++) {
        unsigned char *at = &looks.row[check_below(&rng, (uint32_t)looks.n)], was = *at;
        *at ^= (unsigned char)(1 + check_below(&rng, 255));
        assert_false(holds());
        *at = was;
    }
    assert_true(holds());
    end();
}

static void too_many_are_lost(void **unused)
{
    (void)unused;
    char path[400];
    myth_looks_add(&looks, "/nobody/asks", false);
    assert_int_equal(looks.n_look, 0);
    begin();
    for (uint32_t i = 0; i <= MYTH_LOOKS_MAX; i++) {
        assert_false(looks.is_lost);
        snprintf(path, sizeof(path), "%s/%u", files_path("looks"), i);
        myth_looks_add(&looks, path, false);
    }
    assert_true(looks.is_lost);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(too_many_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
