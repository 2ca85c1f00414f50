/* test_task.c - what a person asks for with --task: it is in every prompt behind the task that is there anyway, within
 * the task's tokens, part of what an answer is kept under, recorded and repeated; a secret in it is not recorded. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

static void must(const char *line)
{
    cli_shell(&r, line);
    if (r.code != 0)
        fail_msg("%s\n  exit %d: %s", line, r.code, r.err);
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    must("mkdir -p $D/t && cd $D/t && git init -q && printf 'int f(char *p)\\n{\\n    return p[1];\\n}\\n' >a.c && "
         "printf 'int g;\\n' >b.c && git add -A && git -c user.name=n -c user.email=e@e commit -qm 1 && "
         "printf 'int h;\\n' >>b.c");
    return 0;
}

#define RUN   " --cache -n 20 --fail-level never " TINY
#define END   "; test $? -le 3; }"
#define SHOWN "$M log show last --prompts | grep -c '^Also asked for: only about p'"

static void it_is_in_every_prompt(void **state)
{
    (void)state;
    must("{ $M inspect $D/t" RUN "--task 'only about p'" END);
    must(SHOWN);
    assert_int_equal(atoi(r.out), 2); /* one for each file */
    must("$M log show last --prompts | grep -c '^Task: find the defects'");
    assert_int_equal(atoi(r.out), 2); /* behind the task that is there anyway */
    must("{ $M inspect-file $D/t/a.c" RUN "--task 'only about p'" END);
    must(SHOWN);
    must("{ $M inspect-diff -C $D/t" RUN "--task 'only about p'" END);
    must(SHOWN);
    must("$M log show last --prompts | grep '^b.c: changed 2'"); /* the change's own task, with its lines */
}

static void answers_are_of_their_task(void **state)
{
    (void)state;
    must("{ $M inspect-file $D/t/a.c" RUN "--task 'about q'" END);
    assert_null(strstr(r.err, "from earlier runs"));
    must("{ $M inspect-file $D/t/a.c" RUN "--task 'about q'" END);
    assert_non_null(strstr(r.err, "1 of 1 answers from earlier runs"));
    must("{ $M inspect-file $D/t/a.c" RUN "--task 'about r'" END);
    assert_null(strstr(r.err, "from earlier runs"));
    must("$M log replay");
    must("$M log show | grep -F -- '--task=about r'");
}

static void a_secret_in_it_is_not_recorded(void **state)
{
    (void)state;
    must("{ $M inspect-file $D/t/a.c" RUN "--task 'not ghp_0123456789abcdefghijABCDEFGHIJ012345'" END);
    must("test -z \"$($M log show --json | grep ghp_0123456789abcdefghij)\"");
    must("{ $M log replay; test $? = 3; }");
    assert_non_null(strstr(r.out, "a secret stands in the command line"));
}

static void it_is_plain_text(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"$(head -c 2001 /dev/zero | tr '\\0' x)", "--task: 2001 bytes, at most 2000"},
        {"$(printf 'a\\033[2J')", "--task: byte 1 is a control character (0x1b)"},
        {"$(printf 'a\\377')", "--task: the text is not UTF-8"},
        {" ", "--task: the text is empty"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char line[400];
        snprintf(line, sizeof(line), "{ $M inspect-file $D/t/a.c " TINY "--task \"%s\"; test $? = 2; }", row[i][0]);
        must(line);
        if (!strstr(r.err, row[i][1]))
            fail_msg("%s: %s", row[i][0], r.err);
    }
}

static void its_length_is_bounded(void **state)
{
    (void)state;
    must("{ $M inspect-file $D/t/a.c --format json" RUN
         "--task \"$(head -c 900 /dev/zero | tr '\\0' x)\"; test $? = 3; }");
    assert_non_null(strstr(r.out, "the task is too long"));
    assert_non_null(strstr(r.out, "--task-tokens"));
    must("{ $M inspect-file $D/t/a.c --format json --task-tokens 1200" RUN
         "--task \"$(head -c 900 /dev/zero | tr '\\0' x)\"" END);
    assert_null(strstr(r.out, "too long"));
    must("{ $M inspect-file $D/t/a.c --prompt-style compact" RUN "--task 'about p'; test $? = 2; }");
    assert_non_null(strstr(r.err, "knows no other task"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_in_every_prompt),          cmocka_unit_test(answers_are_of_their_task),
        cmocka_unit_test(a_secret_in_it_is_not_recorded), cmocka_unit_test(it_is_plain_text),
        cmocka_unit_test(its_length_is_bounded),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
