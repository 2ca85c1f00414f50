/* test_gone.c - what a change deletes is shown: the lines of a deleted file as removed ones, with the places that still
 * use what it defined, and the users of a definition that is gone from a changed file. Needs git. */
#include "tests/frontend/cli/cli_run.h"

#include <limits.h>

static cli_result r;

/* Runs a line in a new repository r with one commit of the given files, "name|text" each; the change is the line's. */
static void repository(const char *const *file, const char *change)
{
    static char line[2048];
    char path[PATH_MAX];
    cli_shell(&r, "rm -rf $D/r $D/cache && mkdir -p $D/r/src $D/r/tests");
    assert_int_equal(r.code, 0);
    for (; *file; file++) {
        const char *bar = strchr(*file, '|');
        snprintf(path, sizeof(path), "%s/r/%.*s", cli_dir, (int)(bar - *file), *file);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(bar + 1, f);
        fclose(f);
    }
    snprintf(line, sizeof(line),
             "cd $D/r && git init -q && git add -A && git -c user.name=n -c user.email=e@e commit -qm 1 && %s", change);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s", r.err);
}

/* Inspects the change and returns the prompts. */
static const char *prompts(const char *flags, int code)
{
    static char line[1024];
    snprintf(line, sizeof(line),
             "cd $D/r && { $M inspect-diff --no-cache " TINY
             "--map-tokens 1 -n 8 %s >$D/report 2>$D/notes; test $? = %d; }",
             flags, code);
    cli_shell(&r, line);
    if (r.code) {
        cli_shell(&r, "cat $D/notes >&2");
        fail_msg("inspect-diff %s: not exit %d: %s", flags, code, r.err);
    }
    cli_shell(&r, "cat $D/notes >&2; $M log show last --prompts");
    return r.out;
}

static void has(const char *text, const char *want)
{
    if (!strstr(text, want))
        fail_msg("no\n%s\nin\n%s", want, text);
}

static void lacks(const char *text, const char *other)
{
    if (strstr(text, other))
        fail_msg("\n%s\nis in\n%s", other, text);
}

static const char guard[] = "src/guard.py|\"\"\"Checks.\"\"\"\nLIMIT = 10\n\n\ndef check_limit(value):\n"
                            "    if value > LIMIT:\n        raise ValueError(value)\n    return value\n\n\n"
                            "def _inner(value):\n    return value + 1\n";
static const char app[] = "src/app.py|from src.guard import check_limit\n\n\ndef handler(request):\n"
                          "    return check_limit(request.size)\n\n\ndef other():\n    return 1\n";
static const char test[] = "tests/test_app.py|from src.guard import check_limit\n\n\ndef test_limit():\n"
                           "    assert check_limit(3) == 3\n";

static void a_deleted_file_stands_beside_what_uses_it(void **state)
{
    (void)state;
    repository((const char *const[]){guard, app, test, NULL}, "git rm -q src/guard.py");
    const char *p = prompts("", 3);
    has(p, "<file path=\"src/app.py\" lines=\"4-5\" symbol=\"handler\">\n4|def handler(request):\n");
    has(p, "<removed path=\"src/guard.py\">\n-|def check_limit(value):\n-|    if value > LIMIT:\n"
           "-|        raise ValueError(value)\n-|    return value\n</removed>\n");
    has(p, "<removed path=\"src/guard.py\">\n-|\"\"\"Checks.\"\"\"\n-|LIMIT = 10\n");
    has(p, "-|def _inner(value):\n");
    has(p, "<file path=\"tests/test_app.py\" lines=\"4-5\" symbol=\"test_limit\">");
    has(p, "src/guard.py: deleted\n");
    lacks(p, "|def other():");
    has(r.err, "src/guard.py is deleted; its lines are shown as removed, with 2 places that still use it");
    /* what is gone cannot be cited */
    cli_shell(&r, "cd $D/r && $M inspect-diff " TINY "--all-lines -n 300 --format json; true");
    lacks(r.out, "\"file\": \"src/guard.py\"");
    /* a style without removed lines has none of it */
    cli_shell(&r, "cd $D/r && $M inspect-diff " TINY "--prompt-style compact -n 8");
    assert_int_equal(r.code, 0);
    has(r.err, "not shown: src/guard.py: it is deleted");
}

static void without_users_it_stands_beside_the_change(void **state)
{
    (void)state;
    repository((const char *const[]){guard, "src/b.py|def b():\n    return 1\n", NULL},
               "git rm -q src/guard.py && sed -i s/1/2/ src/b.py");
    const char *p = prompts("", 3);
    has(p, "2|    return 2\n</file>\n<removed path=\"src/b.py\" before=\"2\">\n-|    return 1\n</removed>\n"
           "<removed path=\"src/guard.py\">\n-|\"\"\"Checks.\"\"\"\n");
    has(r.err, "with 0 places that still use it");
    repository((const char *const[]){guard, "src/b.py|def b():\n    return 1\n", NULL}, "git rm -q src/guard.py");
    cli_shell(&r, "cd $D/r && $M inspect-diff " TINY "-n 8");
    assert_int_equal(r.code, 0);
    has(r.err, "not shown: src/guard.py: it is deleted");
    has(r.err, "nothing to inspect");
}

/* A definition that another file has, too, is not gone: a use may mean that one. */
static void what_is_defined_elsewhere_is_not_gone(void **state)
{
    (void)state;
    repository((const char *const[]){guard, app, "src/more.py|def check_limit(value):\n    return 0\n", NULL},
               "git rm -q src/guard.py");
    cli_shell(&r, "cd $D/r && $M inspect-diff " TINY "-n 8");
    assert_int_equal(r.code, 0);
    has(r.err, "not shown: src/guard.py: it is deleted");
}

/* However long the deleted file is, the definition that is still used is shown whole. */
static void a_long_file_hides_no_definition(void **state)
{
    static char big[70000];
    size_t n = (size_t)snprintf(big, sizeof(big), "src/guard.c|");
    (void)state;
    for (int i = 0; i < 1500; i++)
        n += (size_t)snprintf(big + n, sizeof(big) - n, "static int f%d(int a) { return a; }\n", i);
    snprintf(big + n, sizeof(big) - n, "int check_limit(int a)\n{\n\treturn a < 10;\n}\n");
    repository((const char *const[]){big, "src/app.c|int run(int a)\n{\n\treturn check_limit(a) ? a : 0;\n}\n", NULL},
               "git rm -q src/guard.c");
    const char *p = prompts("", 3);
    has(p, "<removed path=\"src/guard.c\">\n-|int check_limit(int a)\n-|{\n-|\treturn a < 10;\n-|}\n</removed>\n");
    has(p, " more removed lines are not shown\n");
}

/* Its users are context of the place that a definition was removed from. */
static void a_definition_that_is_gone_has_its_users(void **state)
{
    (void)state;
    repository((const char *const[]){"src/lib.c|int keep(int a)\n{\n\treturn a;\n}\n\nint check_limit(int a)\n{\n"
                                     "\treturn a < 10;\n}\n",
                                     "src/app.c|int run(int a)\n{\n\treturn check_limit(a) ? a : 0;\n}\n\nint idle;\n",
                                     NULL},
               "sed -i '5,$d' src/lib.c");
    const char *p = prompts("", 3);
    has(p, "<removed path=\"src/lib.c\" before=\"5\">\n-|\n-|int check_limit(int a)\n");
    has(p, "<file path=\"src/app.c\" lines=\"1-4\" symbol=\"run\">");
    lacks(p, "int idle;");
    /* and of a version that is not in the work tree */
    cli_shell(&r, "cd $D/r && git -c user.name=n -c user.email=e@e commit -qam 2");
    p = prompts("HEAD~1..HEAD", 3);
    has(p, "<file path=\"src/app.c\" lines=\"1-4\" symbol=\"run\">");
}

static int begin(void **state)
{
    static char home[PATH_MAX], cache[PATH_MAX];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(home, sizeof(home), "%s/state", cli_dir);
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    setenv("XDG_STATE_HOME", home, 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    return 0;
}

int main(void)
{
    if (system("command -v git >/dev/null") != 0) {
        printf("no git\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_file_stands_beside_what_uses_it),
        cmocka_unit_test(without_users_it_stands_beside_the_change),
        cmocka_unit_test(what_is_defined_elsewhere_is_not_gone),
        cmocka_unit_test(a_long_file_hides_no_definition),
        cmocka_unit_test(a_definition_that_is_gone_has_its_users),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
