/* test_mentions.c - which words of a document or a header are names, and which files are read for them. */
#include "tests/support/check.h"

#include "retrieval/map/mentions.h"

#include <string.h>

typedef struct {
    char text[400];
    int left; /* words to take, -1 = all */
} taken;

static bool take(void *arg, const char *word, size_t n)
{
    taken *t = arg;
    const size_t at = strlen(t->text);
    assert_true(at + n + 2 < sizeof(t->text));
    snprintf(t->text + at, sizeof(t->text) - at, "%s%.*s", at ? " " : "", (int)n, word);
    return --t->left != 0;
}

static void expect(myth_mentions_form form, const char *text, const char *wanted)
{
    taken t = {.left = -1};
    myth_mentions(form, text, strlen(text), take, &t);
    if (strcmp(t.text, wanted) != 0)
        fail_msg("of \"%s\": \"%s\", expected \"%s\"", text, t.text, wanted);
}

static void of_a_document(void **state)
{
    (void)state;
    const myth_mentions_form d = MYTH_MENTIONS_DOCUMENT;
    expect(d, "Get the list and send it to a Session.\n", "");
    expect(d, "Use `get` or ``Session.post``, not `a list of them`.\n", "get Session post");
    expect(d, "Call initServer() first; then server.db is there.\n", "initServer server db");
    expect(d, "See [AllowContentType] and [the guide](guide).\n", "AllowContentType");
    expect(d, "Rack::Lint checks, Rack checks nothing.\n", "Rack Lint");
    /* in code a plain word needs a sign of code, a name with a capital or an underscore none */
    expect(d, "```c\nstruct redisServer server;\nstatic list add;\nadd(x_y);\nr->send\n```\nadd it\n",
           "redisServer add x_y send");
    expect(d, "Text:\n\n    app = Flask(name)\n\nadd it\n", "Flask");
    expect(d, ".. autoclass:: Session\n.. c:function:: int uv_run(uv_loop_t* loop)\n.. a comment\n",
           "autoclass Session function int uv_run uv_loop_t loop");
    expect(d, "~~~\nOpen\n", "Open"); /* a block that nobody closes */
    expect(d, "`open", "open");
    expect(d, "", "");
}

static void of_a_header(void **state)
{
    (void)state;
    const myth_mentions_form h = MYTH_MENTIONS_HEADER;
    expect(h, "int uv_run(uv_loop_t *loop);\n/* int no(void); */ // int none(void);\nint yes (int a), also(int b);\n",
           "uv_run also");
    expect(h, "#define MAX(a, b) \\\n  pick(a, b)\nvoid f2(void);\n", "f2");
    expect(h, "/* int open(void);", "");
    expect(h, "x(", "");
}

static void it_stops(void **state)
{
    (void)state;
    taken t = {.left = 1};
    myth_mentions(MYTH_MENTIONS_DOCUMENT, "`one_1` `two_2`", 15, take, &t);
    assert_string_equal(t.text, "one_1");
}

static void which_files(void **state)
{
    (void)state;
    assert_int_equal(myth_mentions_form_of("README", "text", true), MYTH_MENTIONS_DOCUMENT);
    assert_int_equal(myth_mentions_form_of("docs/api.rst", "rst", true), MYTH_MENTIONS_DOCUMENT);
    assert_int_equal(myth_mentions_form_of("CHANGELOG.md", "markdown", true), MYTH_MENTIONS_NONE);
    assert_int_equal(myth_mentions_form_of("data.json", "json", true), MYTH_MENTIONS_NONE);
    assert_int_equal(myth_mentions_form_of("include/uv.h", "c", false), MYTH_MENTIONS_HEADER);
    assert_int_equal(myth_mentions_form_of("src/uv.c", "c", false), MYTH_MENTIONS_NONE);
    assert_true(myth_mentions_is_readme("a/Readme.md") && !myth_mentions_is_readme("a/guide.md"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_document),
        cmocka_unit_test(of_a_header),
        cmocka_unit_test(it_stops),
        cmocka_unit_test(which_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
