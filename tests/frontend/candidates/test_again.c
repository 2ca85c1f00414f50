/* test_again.c - mythos candidates over files that it has read before: the same places without reading them again, and
 * never those of another text, whatever happened to what was kept. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/check.h"

#include <string.h>

static cli_result r;

/* Runs the command over the folder and returns its report; *n_kept = files whose places were kept. */
static json_t *look(const char *flags, json_int_t *n_kept)
{
    char line[512];
    json_error_t e;
    snprintf(line, sizeof(line), "XDG_CACHE_HOME=$D/cache \"$M\" candidates $D/src --format json %s", flags);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("exit %d: %s", r.code, r.err);
    json_t *all = json_loads(r.out, 0, &e);
    assert_non_null(all);
    *n_kept = json_integer_value(json_object_get(all, "from_cache"));
    return all;
}

static bool is_same(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "candidates"), json_object_get(b, "candidates")) &&
           json_equal(json_object_get(a, "functions"), json_object_get(b, "functions"));
}

static void files_are_read_once(void **state)
{
    (void)state;
    json_int_t n;
    json_t *first = look("--cache", &n);
    assert_int_equal(n, 0);
    if (!json_array_size(json_object_get(first, "candidates"))) {
        json_decref(first);
        check_skip("no rules in this build");
    }
    json_t *again = look("--cache", &n);
    assert_int_equal(n, 3);
    assert_true(is_same(first, again));
    json_decref(again);
    json_t *anew = look("--no-cache", &n);
    assert_int_equal(n, 0);
    assert_true(is_same(first, anew));
    json_decref(anew);

    /* Another text is read; the same text under another name is not, and its places have that name. */
    cli_shell(&r, "sed -i '3i\\\\' $D/src/a.c && cp $D/src/b.py $D/src/d.py");
    assert_int_equal(r.code, 0);
    again = look("--cache", &n);
    anew = look("--no-cache", &n);
    assert_true(is_same(again, anew));
    assert_false(is_same(again, first));
    assert_non_null(strstr(r.out, "d.py"));
    json_decref(again);
    json_decref(anew);
    again = look("--cache", &n);
    assert_int_equal(n, 4);
    json_decref(again);
    json_decref(first);
}

static void damage_changes_nothing(void **state)
{
    (void)state;
    json_int_t n;
    char path[256];
    uint64_t rng = check_seed();
    json_t *want = look("--no-cache", &n);
    json_decref(look("--cache", &n));
    snprintf(path, sizeof(path), "%s/cache/mythos/candidates-1.db", cli_dir);
    for (uint32_t i = 0; i < check_sample(60); i++) {
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        const long size = ftell(f);
        for (uint32_t k = 0; k < 1 + i % 40; k++) { /* bodies are at the end */
            const long at = i % 2 ? (long)check_below(&rng, (uint32_t)size)
                                  : size - 1 - (long)check_below(&rng, (uint32_t)(size / 2));
            fseek(f, at, SEEK_SET);
            fputc((int)check_below(&rng, 256), f);
        }
        fclose(f);
        json_t *got = look("--cache", &n);
        assert_true(is_same(got, want));
        json_decref(got);
    }
    cli_shell(&r, "head -c 20000 /dev/urandom >$D/cache/mythos/candidates-1.db");
    json_t *got = look("--cache", &n);
    assert_true(is_same(got, want));
    json_decref(got);
    cli_shell(&r, "rm -r $D/cache && : >$D/cache"); /* no place for a file */
    got = look("--cache", &n);
    assert_int_equal(n, 0);
    assert_true(is_same(got, want));
    json_decref(got);
    json_decref(want);
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_shell(&r, "mkdir $D/src && cp \"$MYTHOS_SOURCE_DIR\"/tests/corpus/candidates/examples.c $D/src/a.c && "
                  "cp \"$MYTHOS_SOURCE_DIR\"/tests/corpus/candidates/examples.py $D/src/b.py && "
                  "cp \"$MYTHOS_SOURCE_DIR\"/tests/corpus/candidates/examples.go $D/src/c.go");
    return r.code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_once),
        cmocka_unit_test(damage_changes_nothing),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
