/* test_residual_faults.c - a prompt whose residuals are infinite or NaN is a fault of its own: the job ends with exit 3
 * and names its line, and means, stats and directions are those of the other prompts, to the bit. */
#include "tests/frontend/cli/bad_model.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

static cli_result r;

enum { N_LINE = 60 };

static bool is_bad(int i) { return i == 4 || i == 5 || i == 31; }

/* $D/good.jsonl: without the three bad prompts, which $D/some.jsonl has in between. */
static int begin(void **state)
{
    char path[128];
    if (cli_begin(state) != 0)
        return -1;
    make_bad_model();
    for (int which = 0; which < 2; which++) {
        snprintf(path, sizeof(path), "%s/%s.jsonl", cli_dir, which ? "some" : "good");
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        for (int i = 0; i < N_LINE; i++)
            if (which || !is_bad(i))
                fprintf(f, "{\"ids\":[%d,%d,%d],\"label\":\"%c\",\"id\":%d}\n", 2 + i % 50,
                        is_bad(i) ? BAD_ID : 90 + i % 9, 100 + i, "ab"[i % 2], i);
        fclose(f);
    }
    return 0;
}

/* The command with these flags over both files; their outputs must be the same bytes. */
static void same_without(const char *flags, const char *more)
{
    char line[512];
    snprintf(line, sizeof(line), "residuals " BAD_MODEL "$D/good.jsonl -o $D/good.st --resume off %s", flags);
    cli_expect(&r, line, 0);
    snprintf(line, sizeof(line), "residuals " BAD_MODEL "$D/some.jsonl -o $D/some.st --resume off %s %s", flags, more);
    cli_expect(&r, line, 3);
    static const char *const said[] = {"60, 3 of them faulty", "line 5: layer ", ": its residual is infinite or NaN",
                                       "line 6: layer ", "line 32: layer "};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        if (!strstr(r.out, said[i]))
            fail_msg("%s: no \"%s\" in\n%s%s", flags, said[i], r.out, r.err);
    cli_shell(&r, "cmp $D/good.st $D/some.st && test ! -e $D/some.st.journal");
    if (r.code)
        fail_msg("%s: %s", flags, r.out);
}

static void the_others_are_summed(void **state)
{
    static const char *const flags[] = {"",
                                        "--position mean",
                                        "--position every",
                                        "--stats all --winsorize 0.9",
                                        "--position every --stats norms --type f64",
                                        "--exact"};
    static const char *const more[] = {"", "-ub 3", "--batch 7"};
    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        same_without(flags[i], more[i % 3]);
}

/* Rows are kept as they came, so that a row has the number that its prompt says. */
static void rows_stay_in_place(void **state)
{
    (void)state;
    same_without("", "--rows $D/rows");
    cli_shell(&r, "wc -l <$D/rows/rows.jsonl; grep -c '\"row\":31,\"n\":1,\"id\":31' $D/rows/rows.jsonl");
    assert_string_equal(r.out, "60\n1\n");
}

/* A folder of rows is one command's at a time, whatever else it writes. */
static void a_folder_has_one_writer(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof(path), "%s/held", cli_dir);
    assert_int_equal(mkdir(path, 0700), 0);
    const int held = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(held >= 0);
    assert_int_equal(flock(held, LOCK_EX), 0);
    cli_expect(&r, "residuals " BAD_MODEL "$D/good.jsonl -o $D/held.st --rows $D/held", 74);
    assert_non_null(strstr(r.err, "/held: another command is writing into it; wait for it, or give another folder"));
    cli_shell(&r, "ls $D/held $D/held.st*");
    assert_null(strstr(r.out, ".st"));
    assert_null(strstr(r.out, "layer"));
    close(held);
    cli_expect(&r, "residuals " BAD_MODEL "$D/good.jsonl -o $D/held.st --rows $D/held", 0);
}

/* A job in shares, and one that is interrupted, name the same faults and have the same bytes. */
static void shares_leave_it_out(void **state)
{
    (void)state;
    cli_expect(&r, "residuals " BAD_MODEL "$D/good.jsonl -o $D/good.st --resume off", 0);
    cli_expect(&r, "residuals " BAD_MODEL "$D/some.jsonl -o $D/s.st --share 1/2", 3);
    cli_expect(&r, "residuals " BAD_MODEL "$D/some.jsonl -o $D/s.st --share 2/2", 3);
    cli_expect(&r, "residuals " BAD_MODEL "$D/some.jsonl -o $D/s.st --share merge/2", 3);
    assert_non_null(strstr(r.out, "line 32: layer 1: "));
    cli_shell(&r, "cmp $D/good.st $D/s.st");
    assert_int_equal(r.code, 0);
}

/* A label whose prompts all are faults has no mean, and is named. */
static void a_label_of_faults_alone(void **state)
{
    (void)state;
    cli_shell(&r, "printf '{\"ids\":[5,77],\"label\":\"x\"}\\n{\"ids\":[5,6],\"label\":\"a\"}\\n' >$D/x.jsonl");
    cli_expect(&r, "residuals " BAD_MODEL "$D/x.jsonl -o $D/x.st", 3);
    assert_non_null(strstr(r.err, "no prompt with the label \"x\" gives a row"));
    cli_expect(&r, "residuals " BAD_MODEL "$D/x.jsonl -o $D/x.st --mem-report $D/mem.json", 3);
    cli_expect_planned("faults");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_others_are_summed),   cmocka_unit_test(rows_stay_in_place),
        cmocka_unit_test(a_folder_has_one_writer), cmocka_unit_test(shares_leave_it_out),
        cmocka_unit_test(a_label_of_faults_alone),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
