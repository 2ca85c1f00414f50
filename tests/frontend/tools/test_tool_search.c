/* test_tool_search.c - the tool search: a text in several places, a name, whole lines, and what an answer with large
 * hits holds. */
#include "tests/frontend/tools/tool_run.h"

#include "frontend/cli/exit.h"

#include <string.h>

static cli_result r;

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

/* One hit for a text in three places names all three; whole files are copies in a list of files. */
static void copies_are_named(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkdir -p $D/c/a $D/c/b $D/c/c && cd $D/c && f='def connect_pool(host):\n    pool = open_pool(host)\n"
              "    return pool\n' && printf \"$f\" >a/net.py && printf \"$f\" >b/net.py && printf \"$f\" >c/net.py");
    json_t *j = tool_answer(&r, "c", "search", "{\"query\":\"how is a pool opened\"}", 0);
    assert_int_equal(tool_size_of(j, "hits"), 1);
    const json_t *hit = item(j, "hits", 0);
    assert_string_equal(text_at(j, "hits", 0, "path"), "a/net.py");
    assert_string_equal(text_at(hit, "copies", 0, "path"), "b/net.py");
    assert_int_equal(number_at(hit, "copies", 0, "start_line"), 1);
    assert_string_equal(text_at(hit, "copies", 1, "path"), "c/net.py");
    json_decref(j);
    j = tool_answer(&r, "c", "search", "{\"query\":\"how is a pool opened\",\"by_file\":true}", 0);
    assert_string_equal(text_at(item(j, "hits", 0), "copies", 0, "path"), "b/net.py");
    json_decref(j);
    j = cli_json(&r, "search 'how is a pool opened' $D/c --json");
    assert_string_equal(text_at(json_array_get(j, 0), "copies", 0, "path"), "b/net.py");
    json_decref(j);
    cli_expect(&r, "search 'how is a pool opened' $D/c", 0);
    assert_non_null(strstr(r.out, "    the same text: b/net.py:1\n"));
}

/* The definition of a name comes first, also one in a test that a search by words sets back. */
static void a_name_is_found_at_its_definitions(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkdir -p $D/n/src $D/n/tests && cd $D/n && printf 'int timer_callback(int x)\n{\n    return x;\n}\n' "
              ">tests/test_timer.c && for i in 1 2 3 4 5 6 7 8 9 10; do printf '/* the callback of timer %%d */\nint "
              "timer_%%d(int callback)\n{\n    return timer(callback, callback);\n}\n' $i $i >src/t$i.c; done");
    json_t *j = tool_answer(&r, "n", "search", "{\"query\":\"timer_callback\"}", 0);
    assert_string_equal(text_at(j, "hits", 0, "path"), "tests/test_timer.c");
    assert_string_equal(text_at(j, "hits", 0, "match"), "definition");
    assert_string_equal(text_at(j, "hits", 0, "text"), "int timer_callback(int x)\n{\n    return x;\n}\n");
    for (size_t i = 1; i < tool_size_of(j, "hits"); i++) {
        assert_string_equal(text_at(j, "hits", i, "match"), "words");
        assert_string_not_equal(text_at(j, "hits", i, "path"), "tests/test_timer.c");
    }
    json_decref(j);
}

/* A hit has whole lines: what stands at start_line .. end_line of the file. */
static void hits_are_whole_lines(void **state)
{
    (void)state;
    cli_shell(&r,
              "mkdir -p $D/w && { echo 'int dispatch(int kind, int value)'; echo '{'; echo '    if (kind == 0) {'; "
              "for i in $(seq 60); do echo \"        value += step_$i(value, kind);\"; done; for k in 1 2 3 4; do "
              "echo \"    } else if (kind == $k) {\"; for i in $(seq 60); do echo \"        value -= "
              "other_$i(value, $k);\"; done; done; echo '    }'; echo '    return value;'; echo '}'; } >$D/w/long.c");
    json_t *j = tool_answer(&r, "w", "search",
                            "{\"query\":\"other step kind value dispatch else if\",\"max_hits\":50,"
                            "\"max_bytes\":1000000}",
                            0);
    assert_true(tool_size_of(j, "hits") > 3);
    for (size_t i = 0; i < tool_size_of(j, "hits"); i++) {
        char line[200], text[64];
        snprintf(text, sizeof(text), "%s/hit", cli_dir);
        FILE *f = fopen(text, "w");
        fputs(text_at(j, "hits", i, "text"), f);
        fclose(f);
        snprintf(line, sizeof(line), "sed -n %lld,%lldp $D/w/long.c | cmp - $D/hit",
                 (long long)number_at(j, "hits", i, "start_line"), (long long)number_at(j, "hits", i, "end_line"));
        cli_shell(&r, line);
        if (r.code != 0)
            fail_msg("%s: %s", line, text_at(j, "hits", i, "text"));
    }
    json_decref(j);
}

/* A hit that is too large for the budget is cut, and hides no other. */
static void a_large_hit_is_cut(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/l && cd $D/l && { echo 'int expire_keys(int n)'; echo '{'; for i in $(seq 40); do echo "
                  "\"    n += expire_$i(n); // keys\"; done; echo '    return n;'; "
                  "echo '}'; } >large.c && printf 'int keys_small(int n)\n{\n    return expire(n);\n}\n' >small.c");
    json_t *j = tool_answer(&r, "l", "search", "{\"query\":\"where do keys expire\",\"max_bytes\":1024}", 0);
    assert_int_equal(tool_size_of(j, "hits"), 2);
    assert_string_equal(text_at(j, "hits", 0, "path"), "large.c");
    assert_string_equal(text_at(j, "hits", 0, "text"), "int expire_keys(int n)\n{\n    n += expire_1(n); // keys\n");
    assert_int_equal(number_at(j, "hits", 0, "last_line_of_text"), 3);
    assert_string_equal(text_at(j, "hits", 1, "path"), "small.c");
    assert_null(json_object_get(item(j, "hits", 1), "last_line_of_text"));
    json_decref(j);
}

/* What one answer left out the next one shows; folders, files and lines around a match can be asked for. */
static void answers_go_on(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/p/a $D/p/b && cd $D/p && seq -f 'needle %.0f' 300 >a/many.txt && printf 'one\\ntwo "
                  "needle\\nthree\\n' >b/few.txt && for d in a b; do printf 'int same(void)\\n{\\n    return "
                  "1;\\n}\\n/* %s */\\n' $d >$d/f.c; done");
    size_t n = 0;
    for (int i = 0; i < 20; i++) {
        char args[100], want[32];
        snprintf(args, sizeof(args), "{\"pattern\":\"needle\",\"max_bytes\":2048,\"skip\":%zu}", n);
        json_t *j = tool_answer(&r, "p", "search_text", args, 0);
        snprintf(want, sizeof(want), "needle %zu", n + 1);
        if (n < 300)
            assert_string_equal(text_at(j, "matches", 0, "text"), want);
        n += tool_size_of(j, "matches");
        assert_int_equal(n + (size_t)json_integer_value(json_object_get(j, "left_out")), 301);
        json_decref(j);
    }
    assert_int_equal(n, 301);
    json_t *j = tool_answer(&r, "p", "search_text", "{\"pattern\":\"needle\",\"files\":true}", 0);
    assert_int_equal(tool_size_of(j, "matches"), 2);
    assert_string_equal(text_at(j, "matches", 0, "path"), "a/many.txt");
    assert_int_equal(number_at(j, "matches", 0, "lines"), 300);
    assert_int_equal(number_at(j, "matches", 1, "lines"), 1);
    json_decref(j);
    j = tool_answer(&r, "p", "search_text", "{\"pattern\":\"two\",\"context\":1}", 0);
    assert_int_equal(tool_size_of(j, "matches"), 3);
    assert_string_equal(text_at(j, "matches", 0, "text"), "one");
    assert_true(json_is_true(json_object_get(item(j, "matches", 0), "context")));
    assert_null(json_object_get(item(j, "matches", 1), "context"));
    json_decref(j);
    j = tool_answer(&r, "p", "find_symbol", "{\"name\":\"same\",\"under\":\"b\"}", 0);
    assert_int_equal(tool_size_of(j, "definitions"), 1);
    assert_string_equal(text_at(j, "definitions", 0, "path"), "b/f.c");
    json_decref(j);
    j = tool_answer(&r, "p", "search", "{\"query\":\"same\",\"under\":\"b/\"}", 0);
    assert_int_equal(tool_size_of(j, "hits"), 1);
    assert_string_equal(text_at(j, "hits", 0, "path"), "b/f.c");
    json_decref(j);
    j = tool_answer(&r, "p", "search", "{\"query\":\"same\",\"skip\":1,\"max_hits\":1}", 0);
    assert_string_equal(text_at(j, "hits", 0, "path"), "b/f.c");
    json_decref(j);
}

/* A header declares what the file that includes it defines, and a static function of a header nothing. */
static void headers_declare_what_includes_them_defines(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/h/src $D/h/deps $D/h/lib && cd $D/h && printf '#include \"dict.h\"\\nint dictAdd(int "
                  "d)\\n{\\n    return d;\\n}\\n' >src/dict.c && "
                  "echo 'int dictAdd(int d);' >src/dict.h && echo 'static int dictAdd(int d);' >deps/own.h && "
                  "printf '#include \"other.h\"\\nint dictAdd(int d)\\n{\\n    return d + 1;\\n}\\n' >lib/other.c && "
                  "echo 'int dictAdd(int d);' >lib/other.h");
    json_t *j = tool_answer(&r, "h", "references", "{\"name\":\"dictAdd\",\"relation\":\"export\"}", 0);
    assert_int_equal(tool_size_of(j, "references"), 2);
    for (size_t i = 0; i < 2; i++) {
        const bool is_lib = strncmp(text_at(j, "references", i, "path"), "lib/", 4) == 0;
        assert_string_equal(text_at(j, "references", i, "path"), is_lib ? "lib/other.h" : "src/dict.h");
        assert_string_equal(text_at(j, "references", i, "of"), is_lib ? "lib/other.c:2" : "src/dict.c:2");
    }
    json_decref(j);
}

/* A text of several lines is found as it is; no line has a line end in it. */
static void several_lines_are_found_together(void **state)
{
    static const char *const refused[] = {
        "{\"pattern\":\"release\\\\(\\\\n\",\"regex\":true}",
        "{\"pattern\":\"a\\nb\",\"word\":true}",
        "{\"pattern\":\"\\n\\n\"}",
    };
    (void)state;
    cli_shell(
        &r,
        "mkdir -p $D/s && cd $D/s && printf 'struct a {\\n};\\n\\nvoid release(int d)\\n{\\n    x();\\n}\\n' >a.c && "
        "printf 'void release(int d);\\n' >a.h && printf 'void release(int d)\\r\\n{\\r\\n}\\r\\n' >dos.c");
    cli_shell(
        &r, "printf '%s' '{\"pattern\":\"void release(int d)\\n{\"}' >$D/q && $M tool search_text $D/s --args - <$D/q");
    assert_int_equal(r.code, 0);
    json_t *j = json_loads(r.out, 0, NULL);
    assert_int_equal(tool_size_of(j, "matches"), 2);
    assert_string_equal(text_at(j, "matches", 0, "path"), "a.c");
    assert_int_equal(number_at(j, "matches", 0, "line"), 4);
    assert_int_equal(number_at(j, "matches", 0, "end_line"), 5);
    assert_string_equal(text_at(j, "matches", 0, "text"), "void release(int d)\n{");
    assert_string_equal(text_at(j, "matches", 1, "path"), "dos.c");
    json_decref(j);
    /* a line end before it: where a line begins, also the first */
    j = tool_answer(&r, "s", "search_text", "{\"pattern\":\"\\nvoid release(int d)\\n{\"}", 0);
    assert_int_equal(tool_size_of(j, "matches"), 2);
    assert_int_equal(number_at(j, "matches", 0, "line"), 4);
    assert_string_equal(text_at(j, "matches", 0, "text"), "void release(int d)\n{");
    assert_int_equal(number_at(j, "matches", 1, "line"), 1);
    json_decref(j);
    j = tool_answer(&r, "s", "search_text", "{\"pattern\":\"\\nrelease(int d)\\n{\"}", MYTH_EXIT_FINDINGS);
    json_decref(j);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char line[300];
        snprintf(line, sizeof(line), "$M tool search_text $D/s --args '%s'", refused[i]);
        cli_shell(&r, line);
        if (r.code != MYTH_EXIT_USAGE)
            fail_msg("%s: exit %d: %s%s", refused[i], r.code, r.out, r.err);
    }
    j = tool_answer(&r, "s", "search_text", "{\"pattern\":\"release\\\\([^\\\\n]*;\",\"regex\":true}", 0);
    assert_int_equal(tool_size_of(j, "matches"), 1);
    json_decref(j);
    cli_expect(&r, "search -F \"$(printf 'a\\nb')\" $D/s", MYTH_EXIT_USAGE);
    cli_expect(&r, "search -F -e release -e struct $D/s", 0);
    cli_expect(&r, "search -e 'a\\n' $D/s", MYTH_EXIT_USAGE);
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
        cmocka_unit_test(a_name_is_found_at_its_definitions),
        cmocka_unit_test(hits_are_whole_lines),
        cmocka_unit_test(a_large_hit_is_cut),
        cmocka_unit_test(answers_go_on),
        cmocka_unit_test(several_lines_are_found_together),
        cmocka_unit_test(headers_declare_what_includes_them_defines),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
