/* test_prune.c - index list and index prune, log prune: what may go is named and goes, everything else stays. */
#include "tests/frontend/cli/cli_run.h"

#include <fcntl.h>
#include <sys/file.h>

static cli_result r;

/* A shell line with a cache and a state of this test; it must end with this code. */
static void shell(const char *line, int code)
{
    static char whole[4096];
    snprintf(whole, sizeof(whole), "export XDG_CACHE_HOME=$D/cache XDG_STATE_HOME=$D/state; %s", line);
    cli_shell(&r, whole);
    if (r.code != code)
        fail_msg("%s\n  exit %d, expected %d\n  %s%s", line, r.code, code, r.out, r.err);
}

static void make_trees(void)
{
    shell("rm -rf $D/cache $D/a $D/b; mkdir $D/a $D/b; echo 'int a;' >$D/a/a.c; echo 'int b;' >$D/b/b.c; "
          "$M index -q $D/a >/dev/null && $M index -q $D/b >/dev/null",
          0);
}

static json_t *listed(void)
{
    shell("$M index list --json", 0);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_true(json_is_array(j));
    return j;
}

static void expect_listed(size_t n, size_t n_gone)
{
    json_t *j = listed(), *one;
    size_t i, gone = 0;
    json_array_foreach(j, i, one) gone += json_is_true(json_object_get(one, "gone"));
    if (json_array_size(j) != n || gone != n_gone)
        fail_msg("%zu indexes, %zu gone, expected %zu and %zu: %s", json_array_size(j), gone, n, n_gone, r.out);
    json_decref(j);
}

static void indexes_are_listed_with_tree_and_use(void **state)
{
    (void)state;
    shell("rm -rf $D/cache; $M index list --json", 0); /* no cache yet */
    assert_string_equal(r.out, "[]\n");
    make_trees();
    expect_listed(2, 0);
    shell("touch -d '2001-02-03 12:00' $D/cache/mythos/*/root; $M search -q -C $D/a int >/dev/null; $M index list", 0);
    const char *a = strstr(r.out, "/a\n"), *b = strstr(r.out, "/b\n");
    assert_true(a && b && a < b); /* a search is a use, and the last used one comes first */
    assert_non_null(strstr(r.out, "2001-02-03"));
    shell("mv $D/b $D/c; $M index list", 0);
    assert_non_null(strstr(r.out, "/b (gone)\n"));
}

static void prune_deletes_what_is_gone(void **state)
{
    (void)state;
    make_trees();
    shell("rm -r $D/b; $M index prune --dry-run", 0);
    assert_non_null(strstr(r.out, "/b (its tree is gone)"));
    assert_null(strstr(r.out, "/a"));
    assert_non_null(strstr(r.err, "would be deleted"));
    expect_listed(2, 1);
    shell("$M index prune", 0);
    expect_listed(1, 0);
    shell("ls $D/cache/mythos | wc -l", 0);
    assert_string_equal(r.out, "1\n");
    shell("touch -d '10 days ago' $D/cache/mythos/*/root; $M index prune --older-than 11 && $M index list", 0);
    assert_non_null(strstr(r.out, "/a\n"));
    shell("$M index prune --older-than 9", 0);
    assert_non_null(strstr(r.out, "/a (not used for so long)"));
    expect_listed(0, 0);
}

static void what_is_not_known_stays(void **state)
{
    (void)state;
    make_trees();
    /* A root that the folder is not named after, none at all, and files of others. */
    shell("for d in $D/cache/mythos/*; do printf /nowhere >$d/root; done; $M index prune --json", 0);
    assert_string_equal(r.out, "[]\n");
    shell("rm $D/cache/mythos/*/root; $M index prune --json", 0);
    assert_string_equal(r.out, "[]\n");
    shell("$M index list", 0);
    assert_non_null(strstr(r.out, "tree unknown until its next update"));
    shell("mkdir $D/cache/mythos/other; ln -s $D/a $D/cache/mythos/00000000000000000000000000000000; $M index list", 0);
    assert_null(strstr(r.out, "000000000000000"));
    make_trees();
    shell("rm -r $D/b; for d in $D/cache/mythos/*; do touch $d/mine; done; $M index prune",
          0); /* a folder with another file stays */
    expect_listed(1, 0);
    shell("ls $D/cache/mythos/*/mine | wc -l", 0);
    assert_string_equal(r.out, "2\n");
}

static void an_index_in_use_stays(void **state)
{
    (void)state;
    char path[512];
    make_trees();
    shell("rm -r $D/b; ls -d $D/cache/mythos/*/root | while read f; do grep -q /b$ $f && echo ${f%root}; done | tr -d "
          "'\\n'",
          0);
    snprintf(path, sizeof(path), "%.400sindex-", r.out);
    char find[600];
    snprintf(find, sizeof(find), "ls %s*.db.lock | tr -d '\\n'", path);
    shell(find, 0);
    const int fd = open(r.out, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    shell("$M index prune", 75);
    assert_non_null(strstr(r.err, "try again when it is done"));
    close(fd);
    expect_listed(2, 1);
    shell("$M index prune", 0);
    expect_listed(1, 0);
}

/* Makes a log of four runs. */
static void make_log(void)
{
    shell("rm -rf $D/state; printf 'int f(void)\\n{\\n    return 1;\\n}\\n' >$D/f.c; for i in 1 2 3 4; do "
          "$M inspect-file -q $D/f.c " TINY "-n 8 --fail-level never >/dev/null; done; true",
          0);
}

static void expect_runs(const char *numbers)
{
    char seen[64] = "";
    size_t i;
    json_t *one;
    shell("$M log list --json", 0);
    json_t *j = json_loads(r.out, 0, NULL);
    json_array_foreach(j, i, one) snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%d ",
                                           (int)json_integer_value(json_object_get(one, "run")));
    assert_string_equal(seen, numbers);
    json_decref(j);
}

static void log_prune_deletes_the_oldest(void **state)
{
    (void)state;
    make_log();
    shell("$M log prune --keep 3 --dry-run", 0);
    assert_non_null(strstr(r.out, "1 run of "));
    assert_non_null(strstr(r.out, "would be deleted"));
    expect_runs("4 3 2 1 ");
    shell("$M log prune --older-than 1 --max-size 1G --keep 4", 0);
    expect_runs("4 3 2 1 ");
    shell("$M log prune --keep 3 --json", 0);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_true(cli_number(j, "runs") == 1 && cli_number(j, "bytes") > 0);
    json_decref(j);
    expect_runs("4 3 2 ");
    shell("$M log show 4 >/dev/null && $M log replay 4 >/dev/null", 0); /* what is kept is whole */
    shell("$M log prune --max-size 1", 0);
    expect_runs("");
    shell("$M log prune --keep 1 --log $D/none.db", 66);
    shell("test ! -e $D/none.db", 0);
    shell("$M log prune", 2);
    assert_non_null(strstr(r.err, "--older-than DAYS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_are_listed_with_tree_and_use),
        cmocka_unit_test(prune_deletes_what_is_gone),
        cmocka_unit_test(what_is_not_known_stays),
        cmocka_unit_test(an_index_in_use_stays),
        cmocka_unit_test(log_prune_deletes_the_oldest),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
