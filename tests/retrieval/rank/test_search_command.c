/* test_search_command.c - the command mythos search: its output, its exit codes, its lines against grep's, and
 * batch mode. */
#include "tests/frontend/cli/cli_run.h"

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    setenv("XDG_CACHE_HOME", cli_dir, 1);
    cli_result r;
    cli_shell(&r, "mkdir -p $D/p/src $D/p/tests && cd $D/p && printf 'int open_door(int n)\\n{\\n    return n + "
                  "1;\\n}\\n' >src/door.c && "
                  "printf 'int test_door(void)\\n{\\n    return open_door(1) == 2;\\n}\\n' >tests/test_door.c && "
                  "printf 'a.b\\naxb\\n  int open_door;\\r\\nx\\377y\\n' >src/odd.txt");
    return r.code;
}

static json_t *at(json_t *rows, size_t i, const char *key) { return json_object_get(json_array_get(rows, i), key); }

static void rows_have_every_key(void **state)
{
    (void)state;
    static cli_result r;
    json_t *rows = cli_json(&r, "search open_door $D/p --json --lexical");
    assert_true(json_array_size(rows) >= 2);
    assert_string_equal(json_string_value(at(rows, 0, "path")), "src/door.c");
    assert_int_equal(json_integer_value(at(rows, 0, "start_line")), 1);
    assert_int_equal(json_integer_value(at(rows, 0, "end_line")), 4);
    assert_string_equal(json_string_value(at(rows, 0, "symbol")), "open_door");
    assert_string_equal(json_string_value(at(rows, 0, "kind")), "function");
    assert_true(json_is_number(at(rows, 0, "score")));
    assert_non_null(strstr(json_string_value(at(rows, 0, "text")), "return n + 1;"));
    json_t *parts = at(rows, 0, "parts");
    double score = (cli_number(parts, "file_sum") + cli_number(parts, "symbol") + cli_number(parts, "stem")) *
                   cli_number(parts, "kind") * cli_number(parts, "share") * cli_number(parts, "decay");
    assert_true(score > 0.999 * json_number_value(at(rows, 0, "score")) &&
                score < 1.001 * json_number_value(at(rows, 0, "score")));
    json_decref(rows);
    cli_expect(&r, "search 'open door' $D/p --explain", 0);
    assert_non_null(strstr(r.out, "file_sum"));
    assert_non_null(strstr(r.err, "semantic: off"));
    rows = cli_json(&r, "search open_door $D/p --json --files -k 1");
    assert_int_equal(json_array_size(rows), 1);
    json_decref(rows);
    rows = cli_json(&r, "search open_door $D/p --json --mode symbol");
    assert_int_equal(json_array_size(rows), 1);
    json_decref(rows);
}

static void exit_codes(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r, "search qqqzzz $D/p", 1);
    assert_string_equal(r.out, "");
    cli_expect(&r, "search qqqzzz $D/p --json", 1);
    assert_string_equal(r.out, "[]\n");
    cli_expect(&r, "search -F qqqzzz $D/p --json", 1);
    assert_string_equal(r.out, "[]\n");
    /* what is refused has no answer, not an empty one */
    cli_expect(&r, "search -e '(' $D/p --json", 2);
    assert_string_equal(r.out, "");
    cli_expect(&r, "search -F x $D/p --json -t nothing", 2);
    assert_string_equal(r.out, "");
    cli_expect(&r, "search --mode literal qqqzzz $D/p", 1);
    cli_expect(&r, "search --mode symbol door $D/p", 1);
    cli_expect(&r, "search", 2);
    cli_expect(&r, "search '' $D/p", 2);
    cli_expect(&r, "search --mode regex '(' $D/p", 2);
    cli_expect(&r, "search -e '[a-z--[aeiou]]' $D/p", 2);
    assert_non_null(strstr(r.err, "write (?![Y])[X]"));
    cli_expect(&r, "search --mode ranked '+-+' $D/p", 2);
    assert_non_null(strstr(r.err, "mythos search -F"));
    cli_expect(&r, "search x $D/nothing", 66);
    cli_expect(&r, "search --corpus $D/a.jsonl", 2);
    cli_expect(&r, "search --weights nonsense=1 x $D/p", 2);
}

static const char *text_at(json_t *rows, size_t i, const char *key) { return json_string_value(at(rows, i, key)); }

/* A name is answered by the lines that have it: the definition, then uses with their reason, then chunks by words. */
static void a_name_is_found_exactly(void **state)
{
    (void)state;
    static cli_result r;
    json_t *rows = cli_json(&r, "search open_door $D/p --json --lexical");
    assert_string_equal(text_at(rows, 0, "match"), "definition");
    assert_int_equal(json_integer_value(at(rows, 0, "line")), 1);
    assert_string_equal(text_at(rows, 1, "match"), "use");
    assert_string_equal(text_at(rows, 1, "path"), "tests/test_door.c");
    assert_int_equal(json_integer_value(at(rows, 1, "line")), 3);
    assert_string_equal(text_at(rows, 1, "text"), "    return open_door(1) == 2;");
    assert_non_null(strstr(text_at(rows, 1, "why"), "calls"));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assert_true(json_is_true(at(rows, i, "found")));
        assert_true(i < 2 || strcmp(text_at(rows, i, "match"), "words") == 0);
    }
    json_decref(rows);
    cli_expect(&r, "search 'open_door()' $D/p", 0);
    assert_ptr_equal(strstr(r.out, "src/door.c:1  function open_door  definition, lines 1-4\n"), r.out);
    assert_non_null(strstr(r.out, "\ntests/test_door.c:3  in test_door  "));
    rows = cli_json(&r, "search open_door $D/p --json -k 1");
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(text_at(rows, 0, "match"), "definition");
    json_decref(rows);
    rows = cli_json(&r, "search open_door $D/p --json -g 'tests/*'"); /* its definition is elsewhere */
    assert_string_equal(text_at(rows, 0, "path"), "tests/test_door.c");
    assert_string_equal(text_at(rows, 0, "match"), "use");
    json_decref(rows);
}

/* A name that no code defines is searched for in the lines of all files; one that no file has is not found. */
static void a_name_is_nowhere_else(void **state)
{
    (void)state;
    static cli_result r;
    json_t *rows = cli_json(&r, "search axb $D/p --json");
    assert_string_equal(text_at(rows, 0, "match"), "line");
    assert_int_equal(json_integer_value(at(rows, 0, "start_line")), 2);
    assert_true(json_is_true(at(rows, 0, "found")));
    json_decref(rows);
    cli_expect(&r, "search axb $D/p -k 1", 0); /* a limit is said */
    assert_non_null(strstr(r.err, "mythos search -w axb lists all"));
    cli_shell(&r,
              "mkdir -p $D/alone && printf 'int f(char *a, char *b)\\n{\\n    copy_it(a, b);\\n}\\n' >$D/alone/a.c");
    cli_expect(&r, "search copy_it $D/alone", 0); /* no chunk is left that could follow, so nothing announces one */
    assert_string_equal(r.out, "a.c:3:    copy_it(a, b);\n");
    cli_expect(&r, "search 'zzzq qqqz' $D/alone", 1);
    assert_non_null(strstr(r.err, "zzzq qqqz: not found"));
    cli_expect(&r, "search '\"open_door\"' $D/p", 0); /* one word is a phrase too */
    assert_non_null(strstr(r.out, "src/door.c:1-4  function open_door"));
    cli_expect(&r, "search '\"door_open\"' $D/p", 1);
    cli_expect(&r, "search odd $D/p", 0); /* a file is called so */
    /* the last has no name near to it */
    static const char *const name[] = {"open_doors", "door_open", "opne_door", "Door.open", "open_window()"};
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
        char line[128];
        const bool is_near = i + 1 < sizeof(name) / sizeof(*name);
        const char *begins = is_near ? "not found as a name; the nearest names:\nsrc/door.c:1  open_door\nby words:\n"
                                     : "not found as a name; nearest by words:\nsrc/door.c:1";
        snprintf(line, sizeof(line), "search '%s' $D/p", name[i]);
        cli_expect(&r, line, 1);
        if (strncmp(r.out, begins, strlen(begins)) != 0)
            fail_msg("%s: %s", name[i], r.out);
        snprintf(line, sizeof(line), "search '%s' $D/p --json --lexical", name[i]);
        cli_expect(&r, line, 1);
        rows = json_loads(r.out, 0, NULL);
        assert_true(json_array_size(rows) > 0);
        for (size_t k = 0; k < json_array_size(rows); k++) {
            assert_true(json_is_false(at(rows, k, "found")));
            assert_string_equal(text_at(rows, k, "match"), is_near && k == 0 ? "near" : "words");
        }
        assert_string_equal(text_at(rows, 0, "path"), "src/door.c");
        assert_true(!is_near || !strcmp(text_at(rows, 0, "symbol"), "open_door"));
        json_decref(rows);
        snprintf(line, sizeof(line), "search '%s' $D/p -l", name[i]);
        cli_expect(&r, line, 1);
        assert_non_null(strstr(r.err, "not found as a name; nearest by words:"));
        assert_null(strstr(r.out, "not found"));
    }
    /* of the chunks by words at most three, unless -k says how many */
    cli_shell(
        &r, "mkdir -p $D/many && cd $D/many && for i in 1 2 3 4 5 6; do printf 'int gate_%d(int lock)\\n{\\n    return "
            "lock;\\n}\\n' $i >g$i.c; done");
    cli_expect(&r, "search gate_lock $D/many --json", 1);
    rows = json_loads(r.out, 0, NULL);
    size_t n_words = 0;
    for (size_t k = 0; k < json_array_size(rows); k++)
        n_words += strcmp(text_at(rows, k, "match"), "words") == 0;
    assert_int_equal(n_words, 3);
    json_decref(rows);
    cli_expect(&r, "search gate_lock $D/many --json -k 5", 1);
    rows = json_loads(r.out, 0, NULL);
    n_words = 0;
    for (size_t k = 0; k < json_array_size(rows); k++)
        n_words += strcmp(text_at(rows, k, "match"), "words") == 0;
    assert_int_equal(n_words, 5);
    json_decref(rows);
    /* a name that shares no word with a chunk can be near to one */
    cli_expect(&r, "search opendor $D/p", 1);
    assert_string_equal(r.out, "not found as a name; the nearest names:\nsrc/door.c:1  open_door\n");
    cli_expect(&r, "search opendor $D/p -g 'tests/*'", 1);
    assert_string_equal(r.out, "");
    cli_expect(&r, "search 'open door' $D/p", 0); /* words are not a name */
    assert_null(strstr(r.out, "not found"));
    rows = cli_json(&r, "search no_door $D/p --json --mode ranked");
    assert_true(json_array_size(rows) > 0);
    json_decref(rows);
}

/* Of a chunk with several definitions the one that matches is printed, with its lines that match. */
static void a_hit_bears_its_own_name(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r, "mkdir -p $D/own && cd $D/own && printf 'void first(int a)\n{\n    stop(a);\n}\n\n"
                  "int second(int fd)\n{\n    int n = 3;\n    return wheel(fd, n);\n}\n' >a.c");
    static const char *const query[] = {"second --mode symbol", "second", "'which wheel'", "wheel --mode ranked"};
    for (size_t i = 0; i < sizeof(query) / sizeof(*query); i++) {
        char line[128];
        snprintf(line, sizeof(line), "search %s -C $D/own", query[i]);
        cli_expect(&r, line, 0);
        assert_null(strstr(r.out, "first"));
        assert_non_null(strstr(r.out, "  function second  "));
        snprintf(line, sizeof(line), "search %s -C $D/own --json", query[i]);
        json_t *rows = cli_json(&r, line);
        assert_string_equal(text_at(rows, 0, "symbol"), "second");
        assert_int_equal(json_integer_value(at(rows, 0, "start_line")), 6);
        assert_int_equal(json_integer_value(at(rows, 0, "end_line")), 10);
        json_decref(rows);
    }
    cli_expect(&r, "search 'which wheel' -C $D/own", 0);
    assert_non_null(strstr(r.out, "\n        6  int second(int fd)\n  >     9      return wheel(fd, n);\n"));
    json_t *rows = cli_json(&r, "search 'which wheel' --chunks -C $D/own --json");
    assert_int_equal(json_integer_value(at(rows, 0, "start_line")), 1);
    json_decref(rows);
}

/* Definitions of one name: the file that is about it comes first, whatever the order of the paths. */
static void the_best_file_comes_first(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r, "mkdir -p $D/best && cd $D/best && "
                  "printf 'class Zebra:\n    def gate(self):\n        return 1\n' >a.py && "
                  "printf '# gate\nclass Gate:\n    \"gate of a gate\"\n    def gate(self):\n"
                  "        return gate_of(self)\n' >gate.py");
    json_t *rows = cli_json(&r, "search gate -C $D/best --json");
    assert_string_equal(text_at(rows, 0, "match"), "definition");
    assert_string_equal(text_at(rows, 0, "path"), "gate.py");
    assert_string_equal(text_at(rows, 1, "match"), "definition");
    assert_string_equal(text_at(rows, 1, "path"), "a.py");
    json_decref(rows);
}

/* Signs have no words: auto looks at the text itself. */
static void signs_fall_back_to_lines(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r, "search '==' $D/p", 0);
    assert_string_equal(r.out, "tests/test_door.c:3:    return open_door(1) == 2;\n");
    cli_shell(&r, "echo 'to be or to be' >$D/p/src/be.txt; $M search -q 'to be or' $D/p; code=$?; rm $D/p/src/be.txt; "
                  "exit $code");
    assert_int_equal(r.code, 0); /* words that no index has */
    assert_string_equal(r.out, "src/be.txt:1:to be or to be\n");
}

static void lines_are_those_of_grep(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *flag, *pattern;
    } row[] = {
        {"literal", "F", "a.b"},       {"regex", "P", "a.b"},
        {"literal", "F", "open_door"}, {"regex", "P", "^\\s*return .*;$"},
        {"regex", "P", "x|y"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static cli_result r, g;
        char line[512];
        snprintf(line, sizeof line,
                 "cd $D/p && LC_ALL=C grep -rna%s -e '%s' src tests | cut -d: -f1,2 | sort -t: -k1,1 -k2,2n",
                 row[i].flag, row[i].pattern);
        cli_shell(&g, line);
        snprintf(line, sizeof line,
                 "$(readlink -f $M) search --mode %s '%s' $D/p | cut -d: -f1,2 | sort -t: -k1,1 -k2,2n", row[i].mode,
                 row[i].pattern);
        cli_shell(&r, line);
        assert_true(g.out[0] != '\0');
        assert_string_equal(r.out, g.out);
    }
    static cli_result r;
    json_t *rows = cli_json(&r, "search --mode literal open_door $D/p --json -k 1");
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(json_string_value(at(rows, 0, "kind")), "line");
    json_decref(rows);
}

static void expect_lines(cli_result *r, const char *flags, const char *lines)
{
    char line[256];
    snprintf(line, sizeof(line), "cd $D/flags && $M search -q %s | LC_ALL=C sort", flags);
    cli_shell(r, line);
    assert_string_equal(r->out, lines);
}

/* The flags that ripgrep's users know, over files whose answers are written here. */
static void flags_of_ripgrep(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r, "mkdir -p $D/flags/sub && cd $D/flags && printf 'int Door = 1;\nint doors = 2;\na.b\naxb\n' >a.c && "
                  "printf 'Door = 3\n' >sub/b.py && printf 'door\n' >note.txt");
    assert_int_equal(r.code, 0);
    expect_lines(&r, "-F 'a.b'", "a.c:3:a.b\n");
    expect_lines(&r, "-e 'a.b'", "a.c:3:a.b\na.c:4:axb\n");
    expect_lines(&r, "-e 'a.b' -F", "a.c:3:a.b\n");
    expect_lines(&r, "-e 'axb' -e '^door$'", "a.c:4:axb\nnote.txt:1:door\n");
    expect_lines(&r, "-F -e 'a.b' -e 'axb'", "a.c:3:a.b\na.c:4:axb\n");
    expect_lines(&r, "-i door", "a.c:1:int Door = 1;\na.c:2:int doors = 2;\nnote.txt:1:door\nsub/b.py:1:Door = 3\n");
    expect_lines(&r, "-w door", "note.txt:1:door\n");
    expect_lines(&r, "-i -w door", "a.c:1:int Door = 1;\nnote.txt:1:door\nsub/b.py:1:Door = 3\n");
    expect_lines(&r, "-i -c door", "a.c:2\nnote.txt:1\nsub/b.py:1\n");
    expect_lines(&r, "-i -F -l door", "a.c\nnote.txt\nsub/b.py\n");
    expect_lines(&r, "-i -F -g '*.py' door", "sub/b.py:1:Door = 3\n");
    expect_lines(&r, "-i -F -g '!*.py' -l door", "a.c\nnote.txt\n");
    expect_lines(&r, "-i -F -g '*.{c,txt}' -l door", "a.c\nnote.txt\n");
    expect_lines(&r, "-i -F -g '!*.{c,txt}' -l door", "sub/b.py\n");
    expect_lines(&r, "-i -F -t c -l door", "a.c\n");
    expect_lines(&r, "-i -F -t c -t python -l door", "a.c\nsub/b.py\n");
    expect_lines(&r, "-l --lexical Door", "a.c\nnote.txt\nsub/b.py\n");
    expect_lines(&r, "-l --lexical -t python Door", "sub/b.py\n");
    expect_lines(&r, "-l --lexical -g '*.c' Door", "a.c\n");
    json_t *rows = cli_json(&r, "search -i -c door -C $D/flags --format json");
    assert_int_equal(json_array_size(rows), 3);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "count")), 2);
    json_decref(rows);
    cli_expect(&r, "search -t nothing x $D/flags", 2);
    cli_expect(&r, "search -F -g '*.{c,h' x $D/flags", 2);
    assert_non_null(strstr(r.err, "'*.{c,h' has a { without its }"));
    cli_expect(&r, "search -c -l x $D/flags", 2);
    cli_expect(&r, "search -c --mode ranked x $D/flags", 2);
    cli_expect(&r, "search -e x y z", 66);
    cli_expect(&r, "search -e x $D/flags -C $D/flags", 2);
    cli_expect(&r, "search x $D/flags -C $D/flags", 2);
    assert_non_null(strstr(r.err, "twice"));
    cli_expect(&r, "search -F zzz $D/flags", 1);
}

/* Why there are no vectors is said by the first search of an index and by no later one. */
static void no_vectors_is_said_once(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r, "mkdir -p $D/once && echo 'open the door' >$D/once/a.txt");
    cli_expect(&r, "search 'how is the door opened' $D/once", 0);
    assert_non_null(strstr(r.err, "semantic: off"));
    cli_expect(&r, "search 'how is the door opened' $D/once", 0);
    assert_null(strstr(r.err, "semantic: off"));
    cli_expect(&r, "search 'how is the door opened' --explain $D/once", 0);
    assert_non_null(strstr(r.err, "semantic: off"));
}

static void batch(void **state)
{
    (void)state;
    static cli_result r, again;
    cli_shell(&r, "printf '%s\\n' '{\"id\":3,\"text\":\"def close(x): pass\"}' '{\"id\":\"b\",\"text\":\"def "
                  "open_file(path): pass\"}' "
                  "'{\"id\":9,\"text\":\"int zebra;\",\"path\":\"src/open/file.c\"}' >$D/c.jsonl && "
                  "printf '%s\\n' '{\"id\":1,\"text\":\"open a file\"}' '{\"id\":\"q\",\"text\":\"+\"}' >$D/q.jsonl");
    assert_int_equal(r.code, 0);
    json_t *rows = cli_json(&r, "search --corpus $D/c.jsonl --queries $D/q.jsonl -k 100 --lexical --json");
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_integer_value(at(rows, 0, "query")), 1);
    assert_int_equal(json_array_size(at(rows, 0, "ids")), 2);
    assert_int_equal(json_array_size(at(rows, 0, "scores")), 2);
    assert_string_equal(json_string_value(at(rows, 1, "query")), "q");
    assert_int_equal(json_array_size(at(rows, 1, "ids")), 0);
    json_decref(rows);
    cli_run(&again, "search --corpus $D/c.jsonl --queries $D/q.jsonl -k 100 --lexical --json");
    assert_string_equal(again.out, r.out);
    cli_shell(&r, "echo '{\"id\":1}' >$D/bad.jsonl; $M search --corpus $D/bad.jsonl --queries $D/q.jsonl");
    assert_int_equal(r.code, 65);
    assert_non_null(strstr(r.err, "bad.jsonl: line 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_every_key),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(a_name_is_found_exactly),
        cmocka_unit_test(a_name_is_nowhere_else),
        cmocka_unit_test(a_hit_bears_its_own_name),
        cmocka_unit_test(the_best_file_comes_first),
        cmocka_unit_test(signs_fall_back_to_lines),
        cmocka_unit_test(lines_are_those_of_grep),
        cmocka_unit_test(flags_of_ripgrep),
        cmocka_unit_test(no_vectors_is_said_once),
        cmocka_unit_test(batch),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
