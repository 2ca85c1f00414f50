/* test_search_paths.c - mythos search over several paths and with lines around those that match: what ripgrep prints
 * for the same arguments (its output is written here), the same as JSON, and searches of the index limited to paths. */
#include "tests/frontend/cli/cli_run.h"

static cli_result r;

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(
        &r, "mkdir -p $D/p/src/deep $D/p/include $D/p/other && cd $D/p && "
            "printf 'one\\ntwo\\nthree door\\nfour\\nfive\\nsix door\\nseven\\neight\\nnine\\nten door' >src/a.txt && "
            "printf 'int open_door(int n)\\n{\\n    return n;\\n}\\n' >src/deep/door.c && "
            "printf 'int open_door(int n);\\n' >include/door.h && "
            "printf 'int call(void)\\n{\\n    return open_door(1);\\n}\\n' >other/call.c && "
            "printf 'door\\n' >note.txt && printf 'note.txt\\n' >.ignore && mkdir 3 && printf 'door\\n' >3/x.txt");
    return r.code;
}

/* Runs a search in $D/p. */
static void ask(const char *args, int code, const char *out)
{
    char line[512];
    snprintf(line, sizeof(line), "M=$(readlink -f $M); cd $D/p && $M search -q %s", args);
    cli_shell(&r, line);
    if (r.code != code || (out && strcmp(r.out, out) != 0))
        fail_msg("search %s: exit %d, expected %d\n%s%s\nexpected:\n%s", args, r.code, code, r.out, r.err,
                 out ? out : "");
}

static void paths_as_they_are_typed(void **state)
{
    (void)state;
    ask("-F -c door src include", 0, "src/a.txt:3\nsrc/deep/door.c:1\ninclude/door.h:1\n");
    ask("-F -c door ./include/ src/deep/door.c", 0, "include/door.h:1\nsrc/deep/door.c:1\n");
    ask("-e 'door$' -e 'r.*n;' src/a.txt src/deep", 0,
        "src/a.txt:3:three door\nsrc/a.txt:6:six door\nsrc/a.txt:10:ten door\nsrc/deep/door.c:3:    return n;\n");
    ask("-F -l door include . ", 0,
        "include/door.h\n3/x.txt\ninclude/door.h\nother/call.c\nsrc/a.txt\nsrc/deep/door.c\n");
    ask("-F -l door ../p/include src/a.txt", 0, "../p/include/door.h\nsrc/a.txt\n");
    ask("-F -l door $D/p/include src/a.txt", 0, "include/door.h\nsrc/a.txt\n");
    /* one directory: relative to it; a file that is named passes every filter */
    ask("-F -l door src", 0, "a.txt\ndeep/door.c\n");
    ask("-F door note.txt -g '*.c' -t c", 0, "note.txt:1:door\n");
    ask("-F -l door note.txt src -g '*.c'", 0, "note.txt\nsrc/deep/door.c\n");
    ask("-F -k 2 door src include", 0, "src/a.txt:3:three door\nsrc/a.txt:6:six door\n");
    ask("-F -k 4 -c door src include", 0, "src/a.txt:3\nsrc/deep/door.c:1\n");
    ask("-F nothing src include", 1, "");
    ask("-F -w '<door>' src", 1, ""); /* signs, not the borders of a word */
    ask("-c -e '\\<door\\>' src", 0, "a.txt:3\n");
    ask("-F door src none include", 66, "");
    assert_non_null(strstr(r.err, "none: no such file or directory"));
    ask("what is a door", 2, "");
    assert_non_null(strstr(r.err, "in quotes"));
}

/* A search of the index of the current directory, of which only what is below the paths is an answer. */
static void an_index_is_limited(void **state)
{
    (void)state;
    ask("-l --lexical 'the open door' include other", 0, NULL);
    assert_non_null(strstr(r.out, "include/door.h\n"));
    assert_non_null(strstr(r.out, "other/call.c\n"));
    assert_null(strstr(r.out, "src/"));
    ask("-l --lexical open_door src/deep other/call.c", 0, "src/deep/door.c\nother/call.c\n");
    ask("open_door other/call.c", 0, NULL);
    assert_ptr_equal(strstr(r.out, "other/call.c:3  in call  "), r.out);
    assert_null(strstr(r.out, "src/"));
    ask("'the open door' .. src", 2, "");
    assert_non_null(strstr(r.err, ".. is not below the current directory"));
}

static void lines_around_those_that_match(void **state)
{
    (void)state;
    ask("-e door -A 1 src/a.txt", 0,
        "src/a.txt:3:three door\nsrc/a.txt-4-four\n--\nsrc/a.txt:6:six door\nsrc/a.txt-7-seven\n--\n"
        "src/a.txt:10:ten door\n");
    ask("-e 'six|one' -B 2 src/a.txt", 0,
        "src/a.txt:1:one\n--\nsrc/a.txt-4-four\nsrc/a.txt-5-five\nsrc/a.txt:6:six door\n");
    ask("-F --context 1 open_door src include", 0,
        "src/deep/door.c:1:int open_door(int n)\nsrc/deep/door.c-2-{\n--\ninclude/door.h:1:int open_door(int n);\n");
    static const char all[] = "a.txt-2-two\na.txt:3:three door\na.txt-4-four\na.txt-5-five\na.txt:6:six door\n"
                              "a.txt-7-seven\n--\na.txt-9-nine\na.txt:10:ten door\n";
    ask("-e ' door' --context 1 src", 0, all);
    ask("-e ' door' -C 1 src", 0, all); /* as in ripgrep; a directory of that name is ./1 */
    ask("-F door -C ./3", 0, "x.txt:1:door\n");
    ask("-F door -C 0 ./3", 0, "x.txt:1:door\n");
    ask("-e six -C 2 -A 0 src", 0, "a.txt-4-four\na.txt-5-five\na.txt:6:six door\n");
    ask("-F door -k 1 -C 1 src/a.txt", 0, "src/a.txt-2-two\nsrc/a.txt:3:three door\nsrc/a.txt-4-four\n");
    ask("-e ' door' -A 2 -c src", 0, "a.txt:3\n"); /* counts and lists of files are of matches alone */
    ask("-e ' door' -A 2 -l src", 0, "a.txt\n");
    ask("-e nothing -A 2 src", 1, "");
    ask("door -A 1 src/a.txt", 0, NULL); /* a query with lines around it is a text */
    assert_ptr_equal(strstr(r.out, "src/a.txt:3:three door\nsrc/a.txt-4-four\n--\n"), r.out);
    ask("door -A 1 --mode ranked src", 2, "");
}

static void json_says_which_lines_match(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *match, *text;
    } want[] = {{5, "context", "five"}, {6, "line", "six door"}, {7, "context", "seven"}};
    json_t *row, *rows = cli_json(&r, "search -q --json -e six --context 1 $D/p/src");
    size_t i;
    assert_int_equal(json_array_size(rows), 3);
    json_array_foreach(rows, i, row)
    {
        assert_int_equal(json_integer_value(json_object_get(row, "start_line")), want[i].line);
        assert_string_equal(json_string_value(json_object_get(row, "match")), want[i].match);
        assert_string_equal(json_string_value(json_object_get(row, "text")), want[i].text);
    }
    json_decref(rows);
}

/* A line that ends with \r\n is printed without its end; a \r elsewhere is shown. */
static void ends_of_lines_are_no_text(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/crlf && printf 'int a;\\r\\nint open_gate(int n)\\r\\n{\\r\\n  return n;\\r\\n}\\r\\n' "
                  ">$D/crlf/a.c && "
                  "printf 'x\\ry\\r\\n' >$D/crlf/b.txt");
    cli_expect(&r, "search -q -F open_gate $D/crlf", 0);
    assert_string_equal(r.out, "a.c:2:int open_gate(int n)\n");
    cli_expect(&r, "search -q -F y $D/crlf", 0);
    assert_string_equal(r.out, "b.txt:1:x\\x0dy\n");
    cli_expect(&r, "search -q open_gate $D/crlf", 0);
    assert_non_null(strstr(r.out, "int open_gate(int n)\n"));
    cli_expect(&r, "search -q --lexical --mode ranked 'open gate' $D/crlf", 0);
    assert_non_null(strstr(r.out, "int open_gate(int n)\n"));
    assert_null(strstr(r.out, "x0d"));
}

/* A text that is found nowhere may be in what was not searched: minified by its name or by its lines, hidden, ignored,
 * behind a link that leads out. A link inside, and binary files alone, are nothing to speak of. */
static void what_was_not_searched_is_said(void **state)
{
    static const char said[] = "not searched: 2 minified, 2 hidden, 1 ignored, 1 link out of the directory, 1 binary; "
                               "mythos scan --explain lists them, --hidden and -u search more";
    (void)state;
    cli_shell(
        &r, "mkdir -p $D/left/.ci $D/plain && cd $D/left && echo needle >a.min.js && head -c 9000 /dev/zero | tr "
            "'\\0' ';' >b.js && printf 'needle\\n\\0' >c.bin && cp c.bin ../plain && echo needle >.ci/run.txt && echo "
            "needle >log.txt && echo log.txt >.ignore && echo needle >../far.txt && ln -s ../far.txt far.txt && "
            "echo hay >hay.py && ln -s hay.py near.py && rm -f .git");
    cli_expect(&r, "search -F needle $D/left", 1);
    if (!strstr(r.err, said))
        fail_msg("%s", r.err);
    cli_expect(&r, "search -F needle -g '*.py' $D/left", 1);
    assert_null(strstr(r.err, "ignored"));
    cli_expect(&r, "search -F needle $D/plain", 1);
    assert_null(strstr(r.err, "not searched"));
    cli_expect(&r, "search -F hay $D/left", 0);
    assert_null(strstr(r.err, "not searched"));
    cli_expect(&r, "search --hidden needle $D/left", 0);
    assert_string_equal(r.out, ".ci/run.txt:1:needle\n");
    cli_expect(&r, "search -u needle $D/left", 0);
    assert_string_equal(r.out, "log.txt:1:needle\n");
    cli_expect(&r, "search -u --mode ranked needle $D/left", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_as_they_are_typed),       cmocka_unit_test(an_index_is_limited),
        cmocka_unit_test(lines_around_those_that_match), cmocka_unit_test(json_says_which_lines_match),
        cmocka_unit_test(ends_of_lines_are_no_text),     cmocka_unit_test(what_was_not_searched_is_said),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
