/* test_comments.c - what is blanked of a text in each language, and what looks like a comment and is none. A byte that
 * is blanked is written as ~ in what is expected. */
#include "frontend/inspect/prompt/comments.h"
#include "tests/support/check.h"

#include <string.h>

static const struct {
    const char *language, *text, *want;
} row[] = {
    {"c", "a = 1; // no\nb = 2;", "a = 1; ~~~~~\nb = 2;"},
    {"c", "f(\"// yes\", '\"'); /* a\nb */ g();", "f(\"// yes\", '\"'); ~~~~\n~~~~ g();"},
    {"c", "f(\"\\\"/*\"); h(\"*/\");", "f(\"\\\"/*\"); h(\"*/\");"},
    {"python", "x = '# yes'  # no", "x = '# yes'  ~~~~"},
    {"python", "def f():\n    '''no'''\n    g()", "def f():\n    ~~~~~~~~\n    g()"},
    /* a text is documentation where it is a statement, and not where it is an argument or a value */
    {"python", "run(\n    \"\"\"select # a\n    from b\"\"\" + c)  # no",
     "run(\n    \"\"\"select # a\n    from b\"\"\" + c)  ~~~~"},
    {"python", "q = \\\n'''select # a'''", "q = \\\n'''select # a'''"},
    {"java", "run(\n\"\"\"\nselect // a\"\"\"); // no", "run(\n\"\"\"\nselect // a\"\"\"); ~~~~~"},
    {"rust", "fn f<'a>(x: &'a str) -> char { '\"' } // no", "fn f<'a>(x: &'a str) -> char { '\"' } ~~~~~"},
    {"go", "s := `\\`; t := `// yes` // no", "s := `\\`; t := `// yes` ~~~~~"},
    {"javascript", "s = `a\n// yes \\` b`; // no", "s = `a\n// yes \\` b`; ~~~~~"},
    /* patterns */
    {"javascript", "const url = /^[a-z]+:\\/*x/; f(); /* no */", "const url = /^[a-z]+:\\/*x/; f(); ~~~~~~~~"},
    {"javascript", "s.replace(/[/*\"]/g, ''); // no", "s.replace(/[/*\"]/g, ''); ~~~~~"},
    {"typescript", "return /'/.test(s); // no", "return /'/.test(s); ~~~~~"},
    {"typescript", "private r = /\\/*(?:a)?$/;\nf();", "private r = /\\/*(?:a)?$/;\nf();"},
    /* and divisions, and tags */
    {"javascript", "x = a / b; // no / no", "x = a / b; ~~~~~~~~~~"},
    {"javascript", "x = (a) / 2 /* no */ / 3;", "x = (a) / 2 ~~~~~~~~ / 3;"},
    {"javascript", "x = o.in / 2; // no", "x = o.in / 2; ~~~~~"},
    {"tsx", "<a>it's</a> // no", "<a>it's</a> // no"},
    {"tsx", "<b /> // no", "<b /> ~~~~~"},
    {"tsx", "<b>x</b> // no", "<b>x</b> ~~~~~"},
};

static void comments_are_blanked_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char got[256];
        const size_t n = strlen(row[i].text);
        memcpy(got, row[i].text, n + 1);
        const bool has_any = myth_comments_blank((unsigned char *)got, n, myth_language_get(row[i].language));
        for (size_t k = 0; k < n; k++)
            if (got[k] != row[i].text[k])
                got[k] = got[k] == ' ' ? '~' : '!';
        for (size_t k = 0; k < n; k++) /* a blank inside of a comment is blanked, too */
            if (row[i].want[k] == '~' && got[k] == ' ' && row[i].text[k] == ' ')
                got[k] = '~';
        if (strcmp(got, row[i].want) != 0)
            fail_msg("%s: %s\nbecame: %s\nwanted: %s", row[i].language, row[i].text, got, row[i].want);
        assert_int_equal(has_any, strchr(row[i].want, '~') != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comments_are_blanked_and_nothing_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
