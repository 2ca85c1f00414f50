/* test_tool_search.c - the tool search: a text in several places, a name, whole lines, and what an answer with large
 * hits holds. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/cli/exit.h"

#include <string.h>

static cli_result r;

/* Runs a tool on $D/<dir> with arguments that have no single quote. */
static json_t *answer(const char *dir, const char *name, const char *args, int code)
{
    char line[2000];
    json_error_t e;
    snprintf(line, sizeof(line), "$M tool %s -C $D/%s --args '%s'", name, dir, args);
    cli_shell(&r, line);
    if (r.code != code)
        fail_msg("%s %s: exit %d, expected %d: %s%s", name, args, r.code, code, r.err, r.out);
    json_t *j = json_loads(r.out, 0, &e);
    if (!j)
        fail_msg("%s %s: no JSON: %s: %.200s", name, args, e.text, r.out);
    return j;
}

static const json_t *item(const json_t *j, const char *list, size_t i)
{
    return json_array_get(json_object_get(j, list), i);
}
static const char *text_at(const json_t *j, const char *list, size_t i, const char *key)
{
    return json_string_value(json_object_get(item(j, list, i), key));
}
static json_int_t number_at(const json_t *j, const char *list, size_t i, const char *key)
{
    return json_integer_value(json_object_get(item(j, list, i), key));
}
static size_t size_of(const json_t *j, const char *key) { return json_array_size(json_object_get(j, key)); }

/* One hit for a text in three places names all three; whole files are copies in a list of files. */
static void copies_are_named(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkdir -p $D/c/a $D/c/b $D/c/c && cd $D/c && f='def connect_pool(host):\n    pool = open_pool(host)\n"
              "    return pool\n' && printf \"$f\" >a/net.py && printf \"$f\" >b/net.py && printf \"$f\" >c/net.py");
    json_t *j = answer("c", "search", "{\"query\":\"how is a pool opened\"}", 0);
    assert_int_equal(size_of(j, "hits"), 1);
    const json_t *hit = item(j, "hits", 0);
    assert_string_equal(text_at(j, "hits", 0, "path"), "a/net.py");
    assert_string_equal(text_at(hit, "copies", 0, "path"), "b/net.py");
    assert_int_equal(number_at(hit, "copies", 0, "start_line"), 1);
    assert_string_equal(text_at(hit, "copies", 1, "path"), "c/net.py");
    json_decref(j);
    j = answer("c", "search", "{\"query\":\"how is a pool opened\",\"by_file\":true}", 0);
    assert_string_equal(text_at(item(j, "hits", 0), "copies", 0, "path"), "b/net.py");
    json_decref(j);
    j = cli_json(&r, "search 'how is a pool opened' $D/c --json");
    assert_string_equal(text_at(json_array_get(j, 0), "copies", 0, "path"), "b/net.py");
    json_decref(j);
    cli_expect(&r, "search 'how is a pool opened' $D/c", 0);
    assert_non_null(strstr(r.out, "    the same text: b/net.py:1\n"));
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_named),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
