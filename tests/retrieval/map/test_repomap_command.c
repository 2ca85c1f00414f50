/* test_repomap_command.c - the command mythos map: its text, its JSON fields, its exit codes, its budget as counted
 * by mythos tokenize, and the same bytes in a second run. */
#include "tests/frontend/cli/cli_run.h"

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    setenv("XDG_CACHE_HOME", cli_dir, 1);
    cli_result r;
    cli_shell(&r,
              "mkdir -p $D/p/src $D/p/tests && cd $D/p && printf '/* Doors that open. */\\n#include "
              "\"door.h\"\\n\\nint open_door(int n)\\n{\\n    return system(\"x\") + n;\\n}\\n' "
              ">src/door.c && printf 'typedef struct door { int n; } door;\\nint open_door(int n);\\n' >src/door.h && "
              "printf 'int test_door(void)\\n{\\n    return open_door(1) == 2;\\n}\\n' >tests/test_door.c && "
              "printf 'import os\\n\\nDB_PASSWORD = \"hunter2-is-long\"\\n\\n\\ndef "
              "connect(password=\"correct-horse-9\"):\\n    return os.environ[\"X\"]\\n' >src/db.py && "
              "for i in 1 2 3 4 5 6 7 8 9; do printf \"int number_$i(int a)\\n{\\n    return open_door(a);\\n}\\n\" "
              ">src/n$i.c; done");
    return r.code;
}

static json_t *file_of(json_t *map, const char *path)
{
    size_t i;
    json_t *f;
    json_array_foreach(json_object_get(map, "files"), i,
                       f) if (strcmp(json_string_value(json_object_get(f, "path")), path) == 0) return f;
    fail_msg("no %s", path);
    return NULL;
}

static json_t *first(json_t *f, const char *key) { return json_array_get(json_object_get(f, key), 0); }
static const char *text_of(json_t *o, const char *key) { return json_string_value(json_object_get(o, key)); }

static void says_all_of_a_file(void **state)
{
    (void)state;
    static cli_result r;
    json_t *map = cli_json(&r, "map $D/p --json");
    assert_int_equal(cli_number(map, "n_files"), 13);
    assert_int_equal(json_array_size(json_object_get(map, "files")), 13);
    assert_true(cli_number(map, "tokens") <= cli_number(map, "budget"));
    json_t *f = file_of(map, "src/door.c"), *risk = first(f, "risks"), *symbol = first(f, "symbols");
    assert_string_equal(text_of(f, "language"), "c");
    assert_string_equal(text_of(f, "summary"), "Doors that open");
    assert_string_equal(text_of(symbol, "signature"), "int open_door(int n)");
    assert_string_equal(text_of(symbol, "name"), "open_door");
    assert_string_equal(text_of(symbol, "kind"), "function");
    assert_int_equal(cli_number(symbol, "line"), 4);
    assert_true(json_is_true(json_object_get(symbol, "exported")));
    assert_string_equal(json_string_value(first(f, "exports")), "open_door");
    assert_string_equal(json_string_value(first(f, "imports")), "door.h");
    assert_string_equal(json_string_value(first(f, "tests")), "tests/test_door.c");
    assert_string_equal(text_of(risk, "tag"), "subprocess");
    assert_int_equal(cli_number(risk, "line"), 6);
    assert_string_equal(text_of(risk, "text"), "return system(\"x\") + n;");
    assert_true(json_is_number(json_object_get(f, "rank")) && json_is_true(json_object_get(f, "shown")));
    assert_ptr_equal(first(map, "files"), f); /* all lead to it */
    assert_non_null(strstr(text_of(map, "text"), "  door.c (c) [subprocess:6] Doors that open\n"));
    json_decref(map);
}

/* Neither values nor what looks like a secret. */
static void secrets_are_not_shown(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r, "map $D/p --tokens 100000", 0);
    assert_non_null(strstr(r.out, "DB_PASSWORD"));
    assert_null(strstr(r.out, "hunter2"));
    assert_null(strstr(r.out, "correct-horse"));
    json_t *map = cli_json(&r, "map $D/p --json");
    assert_string_equal(text_of(first(file_of(map, "src/db.py"), "risks"), "tag"), "secrets");
    json_decref(map);
    assert_null(strstr(r.out, "hunter2"));
    assert_null(strstr(r.out, "correct-horse"));
    assert_non_null(strstr(r.out, "[REDACTED:"));
}

/* By the tokenizer's own command; -m may be any model, or a tokenizer alone. */
static void never_over_its_budget(void **state)
{
    (void)state;
    static cli_result r;
    static const int budget[] = {1, 5, 17, 40, 80, 150, 400, 2000};
    static const char *const model[] = {"", "-m random:gemma3-tiny:f32 "};
    for (size_t i = 0; i < sizeof budget / sizeof *budget; i++)
        for (size_t k = 0; k < 2; k++) {
            char line[512];
            snprintf(line, sizeof line,
                     "$M map -q %s$D/p --tokens %d >$D/map.txt; $M tokenize %s$D/map.txt --json | tr , '\\n' | grep -c "
                     "'[0-9]'",
                     model[k], budget[i], model[k]);
            cli_shell(&r, line);
            assert_true(strtol(r.out, NULL, 10) <= budget[i]);
        }
    cli_expect(&r, "map $D/p --tokens 1", 3);
    assert_string_equal(r.out, "");
    cli_expect(&r, "map $D/p --tokens 60", 0);
    assert_non_null(strstr(r.out, " of 13 files)\n"));
}

static void same_bytes(void **state)
{
    (void)state;
    static cli_result a, b;
    static const char *const more[] = {
        "", "--json", "--tokens 70", "--for 'open a door'", "--for 'open a door' --json --tokens 50", "--under src"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char line[256];
        snprintf(line, sizeof line, "map $D/p %s", more[i]);
        cli_expect(&a, line, 0);
        snprintf(line, sizeof line, "map $D/p -t 1 %s", more[i]);
        cli_expect(&b, line, 0);
        assert_string_equal(a.out, b.out);
        snprintf(line, sizeof line, "rm -rf $D/mythos; $M map -q $D/p %s", more[i]);
        cli_shell(&b, line);
        assert_int_equal(b.code, 0);
        assert_string_equal(a.out, b.out);
    }
    cli_expect(&a, "map $D/p --tokens 70", 0);
    cli_expect(&b, "map $D/p --tokens 70 --for number_7", 0);
    assert_null(strstr(a.out, "n7.c"));
    assert_non_null(strstr(b.out, "n7.c"));
    cli_expect(&a, "map $D/p", 0);
    cli_shell(&b, "M=$(readlink -f $M); cd $D/p && $M map -q");
    assert_string_equal(a.out, b.out); /* the current folder */
}

/* A map for a query begins with what answers it, also where that is for its file alone, and not with what every file
 * uses. */
static void a_query_is_answered(void **state)
{
    (void)state;
    static cli_result r;
    cli_shell(&r,
              "mkdir -p $D/q && cd $D/q && printf '#define CHECK(x) check(x, #x)\\nvoid check(int x, const char *text);"
              "\\nvoid *take_memory(int n);\\n' >util.h && printf '#include \"util.h\"\\nvoid check(int x, const char "
              "*text)\\n{\\n    (void)x;\\n}\\nvoid *take_memory(int n)\\n{\\n    return 0;\\n}\\n' >util.c && "
              "for f in invoices ledgers customers parcels drivers harbours tariffs seasons; do "
              "{ printf '#include \"util.h\"\\n\\nstatic int sum_of_%s(int n)\\n{\\n    CHECK(n);\\n    return "
              "n;\\n}\\n\\n' $f; "
              "for i in 1 2 3; do printf 'int %s_step_%s(int n)\\n{\\n    CHECK(n);\\n    check(n, 0);\\n    "
              "take_memory(n);\\n    return sum_of_%s(n);\\n}\\n\\n' $f $i $f; done; } >$f.c; done");
    assert_int_equal(r.code, 0);
    cli_expect(&r, "map $D/q --tokens 90 --for 'the sum of parcels'", 0);
    const char *answer = strstr(r.out, "parcels.c"), *used = strstr(r.out, "util");
    if (!answer || (used && used < answer) || !strstr(r.out, "sum_of_parcels"))
        fail_msg("%s", r.out);
    cli_expect(&r, "map $D/q --tokens 90", 0);
    assert_non_null(strstr(r.out, "util.h"));
    assert_null(strstr(r.out, "sum_of_parcels"));
    cli_expect(&r, "map $D/q --tokens 90 --for zzyzx", 0);
    assert_non_null(strstr(r.err, "nothing in these files answers \"zzyzx\""));
    cli_expect(&r, "tool repo_map -C $D/q --args '{\"query\":\"zzyzx\",\"max_bytes\":2000}'", 0);
    assert_non_null(strstr(r.out, "nothing here answers the query"));
}

static void exit_codes(void **state)
{
    (void)state;
    static cli_result r;
    cli_expect(&r, "map $D/nothing", 66);
    cli_expect(&r, "map $D/p --under nothing", 66);
    assert_non_null(strstr(r.err, "nothing"));
    cli_expect(&r, "map $D/p --tokens 0", 2);
    cli_expect(&r, "map $D/p --for ''", 2);
    cli_expect(&r, "map $D/p --for '+-+'", 2);
    cli_expect(&r, "map $D/p -m $D/none.gguf", 66);
    cli_shell(&r, "mkdir $D/empty; $M map $D/empty");
    assert_int_equal(r.code, 66);
    cli_expect(&r, "map --help", 0);
    assert_non_null(strstr(r.out, "--tokens"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_all_of_a_file),    cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(never_over_its_budget), cmocka_unit_test(same_bytes),
        cmocka_unit_test(a_query_is_answered),   cmocka_unit_test(exit_codes),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
