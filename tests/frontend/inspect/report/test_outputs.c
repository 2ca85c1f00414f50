/* test_outputs.c - the outputs of inspect-file as its users meet them: several forms at once, files that are whole or
 * not written, baselines, exit codes. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/inspect/report/outputs.h"

#define FILE_WITH_FINDINGS "tests/corpus/inspect/10_tty.c "

static cli_result r;

static void shell(const char *line, int code)
{
    cli_shell(&r, line);
    if (r.code != code)
        print_error("%s\n  exit %d, expected %d\n  %s\n", line, r.code, code, r.err);
    assert_int_equal(r.code, code);
}

/* --output writes the same bytes that --format prints. */
static void test_several_at_once(void **state)
{
    char line[1024] = "$M inspect-file -q " FILE_WITH_FINDINGS "--format json";
    size_t n = strlen(line);
    (void)state;
    setenv("SOURCE_DATE_EPOCH", "86400", 1); /* else two pages differ when a minute ends between them */
    for (int i = 0; i < MYTH_FORM_N; i++) {  /* alternates between --output FORM=PATH and --output=FORM=PATH */
        const char *form = myth_form_name((myth_form)i);
        n += (size_t)snprintf(line + n, sizeof(line) - n, " --output%c%s=$D/o.%s", i % 2 ? '=' : ' ', form, form);
    }
    shell(line, 1);
    char *first = strdup(r.out);
    for (int i = 0; i < MYTH_FORM_N; i++) {
        const char *form = myth_form_name((myth_form)i);
        snprintf(line, sizeof(line),
                 "$M inspect-file -q " FILE_WITH_FINDINGS
                 "--fail-level never --format %s >$D/s.%s && cmp $D/s.%s $D/o.%s && test -s $D/o.%s",
                 form, form, form, form, form);
        shell(line, 0);
    }
    shell("cat $D/o.json", 0);
    assert_string_equal(r.out, first);
    free(first);
    shell("grep -c 'inspected on 1970-01-02 00:00 UTC' $D/o.html", 0);
    unsetenv("SOURCE_DATE_EPOCH");
    shell("ls $D | grep -c tmp", 1);
}

static void test_wrong(void **state)
{
    static const struct {
        const char *flags;
        int code;
        const char *says;
    } row[] = {
        {"--output sarif", 2, "FORM=PATH"},
        {"--output sarif=", 2, "FORM=PATH"},
        {"--output yaml=$D/x", 2, MYTH_FORMS},
        {"--output json=$D/x --output sarif=$D/x", 2, "named twice"},
        {"--output json=/nowhere/x", 73, "/nowhere/x"},
        {"--output json=/dev/full", 74, "/dev/full"},
        {"--format yaml", 2, "sarif"},
        {"--update-baseline", 2, "--baseline FILE"},
        {"--baseline $D/none.json", 66, "none.json"},
        {"--baseline tests/corpus/inspect/10_tty.c", 65, "10_tty.c"},
        {"--baseline /nowhere/b.json --update-baseline", 73, "/nowhere/b.json"},
    };
    char line[1024];
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        snprintf(line, sizeof(line), "$M inspect-file -q " FILE_WITH_FINDINGS "%s >$D/o", row[i].flags);
        shell(line, row[i].code);
        if (!strstr(r.err, row[i].says))
            print_error("%s: %s\n", row[i].flags, r.err);
        assert_non_null(strstr(r.err, row[i].says));
    }
    shell("ls $D | grep -c tmp", 1);
    shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do set -- \"$@\" --output json=$D/$i; done; $M "
          "inspect-file -q " FILE_WITH_FINDINGS "\"$@\"",
          2);
    assert_non_null(strstr(r.err, "given 16 times"));
}

/* An existing file stays as it is when the new one cannot be written. */
static void test_nothing_half(void **state)
{
    (void)state;
    shell("printf old >$D/keep; $M inspect-file -q $D/none.c --output json=$D/keep", 66);
    shell("cat $D/keep; ls $D | grep -c keep", 0);
    assert_string_equal(r.out, "old1\n");
}

static void test_baseline(void **state)
{
    (void)state;
    shell("$M inspect-file -q " FILE_WITH_FINDINGS "--baseline $D/b.json --update-baseline", 0);
    shell("$M inspect-file -q " FILE_WITH_FINDINGS "--baseline $D/b.json", 0);
    assert_non_null(strstr(r.out, " 0 findings, 2 in the baseline"));
    shell("$M inspect-file -q " FILE_WITH_FINDINGS "--format sarif >$D/b.sarif", 1);
    shell("$M inspect-file -q " FILE_WITH_FINDINGS "--baseline $D/b.sarif --format github", 0);
    assert_string_equal(r.out, "");
    shell("sha256sum <$D/b.json; $M inspect-file -q " FILE_WITH_FINDINGS
          "--baseline $D/b.json --update-baseline >$D/x; sha256sum <$D/b.json",
          0);
    assert_memory_equal(r.out, r.out + strlen(r.out) / 2, 64);
    shell("MYTHOS_BASELINE=$D/b.json $M inspect-file -q " FILE_WITH_FINDINGS, 0);
    shell("printf 'int x;\\n' >$D/clean.c; $M inspect-file -q $D/clean.c --baseline $D/b.json --update-baseline >$D/x; "
          "grep -c 10_tty.c $D/b.json",
          0);
    assert_string_equal(r.out, "2\n"); /* the entries of another file stay */
}

/* The memory that outputs take is in the plan. */
static void test_plan_holds(void **state)
{
    (void)state;
    shell("printf 'password = \"hunter2-x9\" # mythos:ignore[*] y\\n%.0s' 1 2 3 4 5 6 7 8 9 >$D/p.py; $M inspect-file "
          "-q $D/p.py " TINY "-n 40 --fail-level never --baseline $D/b2.json --update-baseline --output html=$D/p.html "
          "--mem-report $D/mem.json >$D/x; test $? = 3 -o $? = 0 && cat $D/mem.json",
          0);
    json_t *j = json_loads(r.out, 0, NULL), *c;
    assert_non_null(j);
    const char *name;
    json_object_foreach(json_object_get(j, "classes"), name, c)
    {
        if (cli_number(c, "planned") != cli_number(c, "peak"))
            print_error("%s: planned %.0f, peak %.0f\n", name, cli_number(c, "planned"), cli_number(c, "peak"));
        assert_true(cli_number(c, "planned") == cli_number(c, "peak") && cli_number(c, "live") == 0);
    }
    json_decref(j);
}

static void test_inline_ignores(void **state)
{
    (void)state;
    shell("line=$($M inspect-file -q " FILE_WITH_FINDINGS
          "--format rdjsonl | sed -n '1s/.*\"start\":{\"line\":\\([0-9]*\\).*/\\1/p'); "
          "sed \"${line}i // mythos:ignore[*] known\" " FILE_WITH_FINDINGS
          ">$D/s.c; $M inspect-file -q $D/s.c --format json",
          0);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_int_equal(cli_number(j, "suppressed_findings"), 1);
    json_decref(j);
    shell("$M inspect-file -q $D/s.c --no-inline-ignores --format json", 1);
    j = json_loads(r.out, 0, NULL);
    assert_int_equal(cli_number(j, "suppressed_findings"), 0);
    assert_int_equal(json_array_size(json_object_get(j, "suppressions")), 0);
    json_decref(j);
}

/* The page names the commit; a replay, made at another time, gives the same bytes. */
static void test_page_of_a_commit(void **state)
{
    (void)state;
    shell(
        "mkdir $D/repo && cd $D/repo && git init -q . && printf 'int f(int n)\\n{\\n    return 1 / n;\\n}\\n' >a.c && "
        "git add a.c && GIT_COMMITTER_DATE='2001-02-03T04:05:06Z' git -c user.name=a -c user.email=a@b commit -qm x && "
        "git rev-parse HEAD | cut -c1-12 >../id; cd - >/dev/null; $M inspect-file -q $D/repo/a.c " TINY
        "-n 20 --log $D/page.db --format html >$D/page.html; "
        "grep -o \"commit <code>$(cat $D/id)</code> of 2001-02-03 04:05 UTC &middot; inspected on 20\" $D/page.html "
        ">/dev/null && $M log replay --log $D/page.db",
        0);
    shell("SOURCE_DATE_EPOCH=soon $M inspect-file -q $D/repo/a.c " TINY
          "-n 20 --format html | grep -c 'inspected on 20'",
          0); /* no number: the present day */
    shell("$M inspect-file -q $D/p.py " TINY "-n 20 --format html >$D/page.html; grep -c 'commit <code>' $D/page.html",
          1); /* no repository */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_at_once),  cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_nothing_half),     cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_plan_holds),       cmocka_unit_test(test_inline_ignores),
        cmocka_unit_test(test_page_of_a_commit),
    };
    setenv("MYTHOS_FIND", "model", 1); /* the findings that the model that ships writes itself */
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
