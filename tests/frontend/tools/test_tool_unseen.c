/* test_tool_unseen.c - what an answer about names does not cover is said, and such an answer is not complete. */
#include "tests/frontend/tools/tool_run.h"

#include "frontend/cli/exit.h"

#include <string.h>

static cli_result r;

static bool is_complete(const json_t *j) { return json_is_true(json_object_get(j, "complete")); }

/* A file that no parser can read may define any name: every answer about names says so. */
static void files_without_definitions_are_counted(void **state)
{
    static const char said[] = "deep.c was not read for definitions (parse: nests deeper than 2000)";
    static const struct {
        const char *tool, *args;
        int code;
    } row[] = {
        {"find_symbol", "{\"name\":\"known\"}", 0},
        {"find_symbol", "{\"name\":\"unknown\"}", 3},
        {"references", "{\"name\":\"known\"}", 0},
        {"references", "{\"name\":\"unknown\"}", 3},
        {"repo_map", "{}", 0},
        {"search", "{\"query\":\"known\"}", 0},
    };
    (void)state;
    cli_shell(&r, "mkdir -p $D/t && cd $D/t && printf 'int known(void)\\n{\\n    return 1;\\n}\\nint other(void)\\n{\\n"
                  "    return known();\\n}\\n' >a.c && (head -c 6000 /dev/zero | tr '\\0' '('; echo) >deep.c");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        json_t *j = tool_answer(&r, "t", row[i].tool, row[i].args, row[i].code);
        if (is_complete(j) || !strstr(r.out, said))
            fail_msg("%s %s: %s", row[i].tool, row[i].args, r.out);
        json_decref(j);
    }
    cli_expect(&r, "symbols known $D/t", 0);
    assert_non_null(strstr(r.err, said));
    cli_expect(&r, "symbols unknown $D/t", 3);
    assert_non_null(strstr(r.err, said));
    cli_expect(&r, "search known $D/t", 0);
    assert_non_null(strstr(r.err, said));
    cli_expect(&r, "map $D/t " TINY, 0);
    assert_non_null(strstr(r.err, said));
    cli_expect(&r, "doctor $D/t", 0);
    assert_non_null(strstr(r.out, "1 file incomplete"));
    assert_non_null(strstr(r.out, "mythos index --json says which files"));
    cli_shell(&r, "cp $D/t/deep.c $D/t/deep2.c");
    json_t *j = tool_answer(&r, "t", "find_symbol", "{\"name\":\"known\"}", 0);
    assert_non_null(strstr(r.out, "2 files were not read for definitions, the first deep.c (parse: nests deeper"));
    json_decref(j);
    cli_shell(&r, "rm $D/t/deep.c $D/t/deep2.c");
    j = tool_answer(&r, "t", "find_symbol", "{\"name\":\"unknown\"}", 1);
    assert_true(is_complete(j));
    json_decref(j);
}

/* A file of several MiB is read as long as its parser stays within its steps. */
static void large_files_are_read(void **state)
{
    (void)state;
    cli_shell(
        &r, "mkdir -p $D/large && cd $D/large && { for i in $(seq 1 20); do head -c 120000 /dev/zero | tr '\\0' 'x' | "
            "fold -w 100 | sed 's,^,// ,'; echo; echo \"int f$i(void) { return $i; }\"; done; } >large.c");
    json_t *j = tool_answer(&r, "large", "find_symbol", "{\"name\":\"f20\"}", 0);
    assert_int_equal(tool_size_of(j, "definitions"), 1);
    assert_true(is_complete(j));
    json_decref(j);
}

/* A finding's path is one that the other tools know, also where git tracks nothing of the root. */
static void findings_of_an_untracked_root_have_its_paths(void **state)
{
    static const char *const paths[] = {"p/f.c", "."};
    char args[64];
    (void)state;
    cli_shell(&r, "mkdir -p $D/g/new/p && git -C $D/g init -q && cp tests/corpus/demo.c $D/g/new/p/f.c");
    for (size_t i = 0; i < 2; i++) {
        snprintf(args, sizeof(args), "{\"paths\":[\"%s\"]}", paths[i]);
        json_t *j = tool_answer(&r, "g/new", "inspect", args, 0);
        const json_t *one = json_array_get(json_object_get(j, "findings"), 0);
        assert_string_equal(json_string_value(json_object_get(one, "path")), "p/f.c");
        json_decref(j);
    }
}

/* Any lines of a file can be read that search_text finds some in, and what follows a long one. */
static void lines_of_large_files_are_read(void **state)
{
    (void)state;
    cli_shell(
        &r,
        "mkdir -p $D/six && cd $D/six && seq -f 'int variable_%.0f; /* a line of some length to fill it */' 120000 "
        ">six.c && "
        "test $(wc -c <six.c) -gt 6000000 && { head -c 30000 /dev/zero | tr '\\0' 'x'; echo; echo second; } >wide.txt");
    json_t *j = tool_answer(&r, "six", "open_file", "{\"path\":\"six.c\",\"first_line\":5,\"last_line\":6}", 0);
    assert_int_equal(tool_size_of(j, "lines"), 2);
    assert_non_null(strstr(r.out, "\"lines_of_file\":120000"));
    assert_non_null(strstr(r.out, "{\"line\":6,\"text\":\"int variable_6; "));
    json_decref(j);
    j = tool_answer(&r, "six", "open_file", "{\"path\":\"six.c\",\"first_line\":119999}", 0);
    assert_int_equal(tool_size_of(j, "lines"), 2);
    assert_true(is_complete(j));
    assert_non_null(strstr(r.out, "{\"line\":120000,\"text\":\"int variable_120000; "));
    json_decref(j);
    j = tool_answer(&r, "six", "open_file", "{\"path\":\"six.c\"}", 0);
    assert_int_equal(tool_size_of(j, "lines") + (size_t)json_integer_value(json_object_get(j, "left_out")), 120000);
    json_decref(j);
    j = tool_answer(&r, "six", "open_file", "{\"path\":\"wide.txt\"}", 0);
    assert_int_equal(tool_size_of(j, "lines"), 2);
    assert_non_null(strstr(r.out, "\"bytes_of_line\":30000},{\"line\":2,\"text\":\"second\"}"));
    json_decref(j);
}

/* What the scan leaves out may have what is not found. A submodule is a repository of its own, wherever it is. */
static void what_the_scan_leaves_out_is_said(void **state)
{
    static const char said[] = "not searched, since the scan leaves it out: 2 repositories of their own (ext/lib), 1 "
                               "folder that tools fill (node_modules), 1 minified, 1 hidden, 1 ignored",
                      of_names[] =
                          "not searched, since the scan leaves it out: 2 repositories of their own (ext/lib), 1 "
                          "folder that tools fill (node_modules), 1 hidden, 1 ignored";
    (void)state;
    cli_shell(&r, "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; g() { git -c user.name=n -c user.email=e "
                  "-c protocol.file.allow=always -c advice.addEmbeddedRepo=false \"$@\"; }; mkdir -p $D/top && cd "
                  "$D/top && g init -q && for d in ext/lib vendor/lib; do g init -q $d && "
                  "echo 'int lib_fn(void) { return 1; }' >$d/lib.c && g -C $d add . && g -C $d commit -qm lib && g add "
                  "$d; done && "
                  "echo 'int main(void) { return lib_fn(); }' >main.c && echo '*.o' >.gitignore && echo >x.o && mkdir "
                  "node_modules && echo lib_fn >node_modules/x.js && echo lib_fn >x.min.js && g add main.c");
    assert_int_equal(r.code, 0);
    json_t *j = tool_answer(&r, "top", "find_symbol", "{\"name\":\"lib_fn\"}", 1);
    if (!strstr(r.out, of_names))
        fail_msg("%s", r.out);
    json_decref(j);
    j = tool_answer(&r, "top", "search_text", "{\"pattern\":\"lib_fn\"}", 0);
    if (!strstr(r.out, said))
        fail_msg("%s", r.out);
    json_decref(j);
    j = tool_answer(&r, "top", "find_symbol", "{\"name\":\"main\"}", 0);
    assert_null(strstr(r.out, "not searched"));
    json_decref(j);
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    setenv("MYTHOS_FIND", "model", 1); /* the model that ships finds more in the example than the judge */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_without_definitions_are_counted),
        cmocka_unit_test(large_files_are_read),
        cmocka_unit_test(what_the_scan_leaves_out_is_said),
        cmocka_unit_test(lines_of_large_files_are_read),
        cmocka_unit_test(findings_of_an_untracked_root_have_its_paths),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
