/* test_signatures.c - a signature that has several lines is one line in what mythos symbols and map print: without the
 * blanks and the comma that only the line breaks asked for, and otherwise as written. What they say of
 * a renamed one. */
#include "tests/frontend/cli/cli_run.h"

static const struct {
    const char *file, *text, *name, *signature;
} row[] = {
    {"a.rs", "pub fn print_line(\n    &mut self_,\n    text: &str,\n) -> Result<()> {\n    Ok(())\n}\n", "print_line",
     "pub fn print_line(&mut self_, text: &str) -> Result<()>"},
    {"b.rs", "pub fn of_type<\n    T: Clone,\n    U,\n>(\n    t: T,\n    u: [u8; 2],\n) -> Option<T> {\n    None\n}\n",
     "of_type", "pub fn of_type<T: Clone, U>(t: T, u: [u8; 2]) -> Option<T>"},
    {"c.py",
     "def read_all(\n        path,\n        modes=[\n            1,\n            2,\n        ],\n):\n    return path\n",
     "read_all", "def read_all(path, modes=[1, 2]):"},
    {"d.ts", "export function joinAll(\n  first: string,\n  rest: Array<string>\n): string {\n  return first;\n}\n",
     "joinAll", "export function joinAll(first: string, rest: Array<string>): string"},
    {"e.c", "static int add_up(int first,\n                  int second)\n{\n    return first + second;\n}\n", "add_up",
     "static int add_up(int first, int second)"},
    {"f.c", "int with_blanks( int first )\n{\n    return first;\n}\n", "with_blanks", "int with_blanks( int first )"},
    {"g.cc", "template <\n    typename T\n>\nT only_one(\n    T one)\n{\n    return one;\n}\n", "only_one",
     "template <typename T> T only_one(T one)"},
    {"i.ts",
     "export class Box<\n  // any value will do\n  T extends object = any, /* not null */\n  U = 'a//b'\n> {\n}\n",
     "Box", "export class Box<T extends object = any, U = 'a//b'>"},
    {"j.py", "def commented(\n        first,  # the first\n        rest):\n    return first\n", "commented",
     "def commented(first, rest):"},
    {"h.py", "def one_tuple(pair=(1,)):\n    return pair\n", "one_tuple", "def one_tuple(pair=(1,)):"},
};
enum { N_ROW = sizeof(row) / sizeof(row[0]) };

static void in_one_line(void **state)
{
    static cli_result r;
    char line[256];
    (void)state;
    setenv("XDG_CACHE_HOME", cli_dir, 1);
    cli_shell(&r, "mkdir -p $D/s");
    for (int i = 0; i < N_ROW; i++) {
        snprintf(line, sizeof(line), "%s/s/%s", cli_dir, row[i].file);
        FILE *f = fopen(line, "w");
        assert_non_null(f);
        fputs(row[i].text, f);
        fclose(f);
    }
    for (int i = 0; i < N_ROW; i++) {
        snprintf(line, sizeof(line), "symbols %s $D/s --json", row[i].name);
        json_t *rows = cli_json(&r, line);
        const char *signature = json_string_value(json_object_get(json_array_get(rows, 0), "signature"));
        if (!signature || strcmp(signature, row[i].signature) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", row[i].file, signature ? signature : "", row[i].signature);
        json_decref(rows);
    }
    cli_expect(&r, "map $D/s", 0);
    assert_non_null(strstr(r.out, "    pub fn print_line(&mut self_, text: &str) -> Result<()>\n"));
    assert_non_null(strstr(r.out, "    pub fn of_type<T: Clone, U>(t"));
}

/* A name that a re-export gives leads to the definition behind it, and a line says so. */
static void renamed_by_a_reexport(void **state)
{
    static cli_result r;
    (void)state;
    setenv("XDG_CACHE_HOME", cli_dir, 1);
    cli_shell(&r, "mkdir -p $D/n && cd $D/n && printf 'export function make() {\\n}\\n' > x.js && "
                  "printf 'export { make as create } from \"./x\";\\n' > index.js");
    cli_expect(&r, "symbols create $D/n", 0);
    assert_string_equal(r.out, "x.js:1  function make\n    export function make()\n"
                               "  re-exported or declared in\n    index.js:1  re-exports it\n");
    assert_non_null(strstr(r.err, "create: a name that a re-export gives to make"));
    cli_expect(&r, "search create $D/n", 0);
    assert_non_null(strstr(r.out, "x.js:1  function make  definition, lines 1-2\n"));
    cli_expect(&r, "symbols creat $D/n", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_one_line), cmocka_unit_test(renamed_by_a_reexport)};
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
