/* test_tool.c - the tools for other programs: what they find, that an answer never exceeds its budget and counts what
 * it left out, that wrong arguments are refused, and that neither secrets nor files outside of the scan are shown. */
#include "tests/frontend/cli/cli_run.h"

#include "frontend/cli/exit.h"

#include <string.h>
#include <sys/stat.h>

static cli_result r;

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/src/%s", cli_dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

/* A key in lines of which none looks like a secret by itself. */
#define KEY_LINE "MIIEowIBAAKCAQEAwXyZ0123456789abcdefABCDEF"
static const char key_file[] = "#define BEFORE 1\n"
                               "static const char *k =\n"
                               "-----BEGIN RSA PRIVATE KEY-----\n" KEY_LINE "\n"
                               "-----END RSA PRIVATE KEY-----\n"
                               "#define AFTER 1\n";

static void make_files(void)
{
    static char many[1 << 16];
    size_t n = 0;
    for (int i = 1; i <= 300; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, "needle %d \"quoted\" %.*s\n", i, i % 40,
                              "0123456789012345678901234567890123456789");
    put("many.txt", many);
    put("a.c", "int add(int a, int b)\n{\n    return a + b;\n}\n\nint twice(int x)\n{\n    return add(x, x);\n}\n");
    put("key.txt", key_file);
    put("out.o.txt", "needle in an ignored file\n");
    put(".gitignore", "out.o.txt\n");
    put(".hidden", "needle in a hidden file\n");
    put("caf\xff.txt", "a name that is no UTF-8\n");
    put("../outside.txt", "needle outside\n");
}

/* Runs a tool on $D/src with arguments that have no single quote. */
static void tool(const char *name, const char *args)
{
    char line[5000];
    snprintf(line, sizeof(line), "printf '%%s' '%s' | $M tool %s -C $D/src --args -", args, name);
    cli_shell(&r, line);
}

static json_t *answer(const char *name, const char *args, int code)
{
    json_error_t e;
    tool(name, args);
    if (r.code != code)
        fail_msg("%s %s: exit %d, expected %d: %s%s", name, args, r.code, code, r.err, r.out);
    json_t *j = json_loads(r.out, 0, &e);
    if (!j)
        fail_msg("%s %s: no JSON: %s: %.200s", name, args, e.text, r.out);
    return j;
}

static void refused(const char *name, const char *args, int code, const char *said)
{
    tool(name, args);
    if (r.code != code || r.out[0] || !strstr(r.err, said))
        fail_msg("%s %.100s: exit %d, expected %d and '%s': %s%s", name, args, r.code, code, said, r.err, r.out);
}

static size_t size_of(const json_t *j, const char *key) { return json_array_size(json_object_get(j, key)); }
static json_int_t number_of(const json_t *j, const char *key) { return json_integer_value(json_object_get(j, key)); }
static const char *text_at(const json_t *j, const char *list, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(j, list), i), key));
}

static void the_list_has_schemas(void **state)
{
    static const char *const want[] = {"search_text", "search",   "find_symbol",    "references",
                                       "open_file",   "repo_map", "recent_changes", "inspect"};
    size_t i;
    json_t *list = cli_json(&r, "tool --json"), *row;
    (void)state;
    assert_int_equal(json_array_size(list), sizeof(want) / sizeof(want[0]));
    json_array_foreach(list, i, row)
    {
        const json_t *schema = json_object_get(row, "inputSchema"), *properties = json_object_get(schema, "properties");
        const char *key;
        json_t *v;
        assert_string_equal(json_string_value(json_object_get(row, "name")), want[i]);
        assert_string_equal(json_string_value(json_object_get(schema, "type")), "object");
        assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
        assert_non_null(json_object_get(properties, "max_bytes"));
        json_object_foreach((json_t *)(uintptr_t)properties, key, v)
            assert_true(json_string_length(json_object_get(v, "description")) > 0);
        size_t k;
        json_array_foreach(json_object_get(schema, "required"), k, v)
            assert_non_null(json_object_get(properties, json_string_value(v)));
    }
    cli_expect(&r, "tool", 0);
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_non_null(strstr(r.out, want[i]));
    json_decref(list);
}

/* For every budget: the answer is within it, what is shown and what is left out are all there is, in order, and one
 * more item would not have fitted. */
static void budgets_are_exact(void **state)
{
    char args[128];
    (void)state;
    json_t *all = answer("search_text", "{\"pattern\":\"needle\",\"max_bytes\":1048576}", 0);
    const size_t n_all = size_of(all, "matches");
    assert_int_equal(n_all, 300);
    assert_int_equal(number_of(all, "left_out"), 0);
    assert_true(json_is_true(json_object_get(all, "complete")));
    for (size_t budget = 1024; budget < 40000; budget = budget * 5 / 4 + 1) {
        snprintf(args, sizeof(args), "{\"pattern\":\"needle\",\"max_bytes\":%zu}", budget);
        json_t *j = answer("search_text", args, 0);
        const size_t n = size_of(j, "matches"), used = strlen(r.out) - 1;
        assert_true(used <= budget);
        assert_int_equal(n + (size_t)number_of(j, "left_out"), n_all);
        if (n < n_all) {
            char *next = json_dumps(json_array_get(json_object_get(all, "matches"), n), JSON_COMPACT);
            assert_true(json_is_false(json_object_get(j, "complete")));
            assert_true(used + strlen(next) + 1 > budget); /* and a comma */
            free(next);
        }
        for (size_t i = 0; i < n; i++)
            assert_true(json_equal(json_array_get(json_object_get(j, "matches"), i),
                                   json_array_get(json_object_get(all, "matches"), i)));
        json_decref(j);
    }
    json_decref(all);
}

/* Tokens are counted by the model's tokenizer, over the whole answer. */
static void tokens_are_counted(void **state)
{
    (void)state;
    for (int budget = 256; budget < 6000; budget *= 3) {
        char line[1024];
        json_error_t e;
        snprintf(line, sizeof(line),
                 "$M tool search_text -C $D/src " TINY "--args '{\"pattern\":\"needle\",\"max_bytes\":1000000,"
                 "\"max_tokens\":%d}' | tr -d '\\n' >$D/answer && $M tokenize " TINY "--json <$D/answer",
                 budget);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        json_t *ids = json_loads(r.out, JSON_DECODE_ANY, &e);
        assert_non_null(ids);
        const size_t n = json_array_size(json_is_array(ids) ? ids : json_object_get(ids, "ids"));
        if (n > (size_t)budget || n + 80 < (size_t)budget)
            fail_msg("budget %d: the answer has %zu tokens", budget, n);
        json_decref(ids);
    }
}

static void lines_are_shown(void **state)
{
    (void)state;
    json_t *j = answer("open_file", "{\"path\":\"./a.c\",\"first_line\":2,\"last_line\":3.0}", 0);
    assert_string_equal(json_string_value(json_object_get(j, "path")), "a.c");
    assert_int_equal(number_of(j, "lines_of_file"), 9);
    assert_int_equal(size_of(j, "lines"), 2);
    assert_string_equal(text_at(j, "lines", 1, "text"), "    return a + b;");
    assert_int_equal(number_of(json_array_get(json_object_get(j, "lines"), 1), "line"), 3);
    json_decref(j);
    refused("open_file", "{\"path\":\"a.c\",\"first_line\":10}", MYTH_EXIT_USAGE, "a.c has 9 lines");
    refused("open_file", "{\"path\":\"a.c\",\"first_line\":3,\"last_line\":2}", MYTH_EXIT_USAGE, "before first_line");
    j = answer("open_file", "{\"path\":\"a.c\",\"first_line\":9,\"last_line\":2000000}", 0);
    assert_int_equal(size_of(j, "lines"), 1);
    json_decref(j);
}

static void names_are_found(void **state)
{
    (void)state;
    json_t *j = answer("find_symbol", "{\"name\":\"add\"}", 0);
    assert_int_equal(size_of(j, "definitions"), 1);
    assert_string_equal(text_at(j, "definitions", 0, "signature"), "int add(int a, int b)");
    json_decref(j);
    j = answer("references", "{\"name\":\"add\"}", 0);
    assert_string_equal(text_at(j, "references", 0, "name"), "twice");
    assert_string_equal(text_at(j, "references", 0, "text"), "    return add(x, x);");
    assert_string_equal(text_at(j, "references", 0, "of"), "a.c:1");
    json_decref(j);
    j = answer("references", "{\"name\":\"twice\",\"relation\":\"callee\"}", 0);
    assert_string_equal(text_at(j, "references", 0, "name"), "add");
    json_decref(j);
    j = answer("references", "{\"name\":\"twice\"}", MYTH_EXIT_FINDINGS);
    assert_int_equal(size_of(j, "references"), 0);
    json_decref(j);
    j = answer("find_symbol", "{\"name\":\"twise\"}", MYTH_EXIT_FINDINGS);
    assert_non_null(strstr(r.out, "twice in a.c:6"));
    json_decref(j);
    j = answer("search", "{\"query\":\"add two numbers\"}", 0);
    assert_string_equal(text_at(j, "hits", 0, "path"), "a.c");
    json_decref(j);
    j = answer("search", "{\"query\":\"which one is twice as large\"}", 0); /* not the first in its chunk */
    assert_string_equal(text_at(j, "hits", 0, "symbol"), "twice");
    assert_string_equal(text_at(j, "hits", 0, "kind"), "function");
    assert_memory_equal(text_at(j, "hits", 0, "text"), "int twice(int x)\n", 17);
    json_decref(j);
    j = answer("search", "{\"query\":\"twice\"}", 0);
    assert_null(strstr(r.out, "nearest by its words"));
    json_decref(j);
    j = answer("search", "{\"query\":\"addNothing\"}", 0);
    assert_non_null(strstr(r.out, "no definition and no use of this name is known"));
    json_decref(j);
    j = answer("repo_map", "{\"max_bytes\":1024}", 0);
    assert_true(strlen(r.out) - 1 <= 1024);
    assert_non_null(strstr(json_string_value(json_object_get(j, "map")), "int add(int a, int b)"));
    assert_int_equal(number_of(j, "files"), number_of(j, "files_shown") + number_of(j, "left_out"));
    json_decref(j);
}

/* Neither what the scan leaves out nor what is outside of the root. */
/* A tree of its own: $D/use/src/a.c and b.c. */
static json_t *of_uses(const char *name, const char *more, int code)
{
    char line[600];
    json_error_t e;
    snprintf(line, sizeof(line), "$M tool references -C $D/use --args '{\"name\":\"'%s'\"%s}'", name, more);
    cli_shell(&r, line);
    if (r.code != code)
        fail_msg("%s: exit %d, expected %d: %s%s", name, r.code, code, r.err, r.out);
    json_t *j = json_loads(r.out, 0, &e);
    assert_non_null(j);
    return j;
}

/* The references as "relation:line why" with " | " between. */
static const char *listed(const json_t *j)
{
    static char text[2000];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < size_of(j, "references") && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%lld %s", i ? " | " : "",
                              text_at(j, "references", i, "relation"),
                              (long long)number_of(json_array_get(json_object_get(j, "references"), i), "line"),
                              text_at(j, "references", i, "why"));
    return text;
}

static void make_uses(void)
{
    FILE *f;
    char path[256];
    put("../use/src/a.c",
        "#define MAX_DEPTH 8\nstatic int g_level;\nstruct conf { int limit; };\n"
        "int set(struct conf *c, int n)\n{\n    g_level = n; /* g_level */\n    if (n > MAX_DEPTH)\n"
        "        return MAX_DEPTH;\n    c->limit = n;\n    log_it(g_level);\n    log_it(\"g_level\", g_level);\n"
        "    return g_level;\n}\n");
    put("../use/src/b.c", "static int g_level;\nint get(void)\n{\n    use(g_level);\n    return 0;\n}\n");
    snprintf(path, sizeof(path), "%s/use/src/long.c", cli_dir);
    assert_non_null(f = fopen(path, "wb"));
    fputs("int often;\nvoid f(void)\n{\n", f);
    for (int i = 0; i < 1100; i++)
        fputs("    often = 1;\n", f);
    fputs("}\n", f);
    fclose(f);
}

/* What assigns, compares or returns a name is in the answer, a field's lines are, too, and what is not all is never
 * said to be. */
static void every_line_with_a_name_is_listed(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir -p $D/use/src");
    make_uses();
    json_t *j = of_uses("MAX_DEPTH", "", 0);
    assert_string_equal(listed(j), "mention:7 compares it | mention:8 returns it");
    assert_string_equal(text_at(j, "references", 1, "text"), "        return MAX_DEPTH;");
    assert_string_equal(text_at(j, "references", 1, "name"), "set");
    assert_string_equal(text_at(j, "references", 1, "of"), "src/a.c:1");
    assert_int_equal(number_of(j, "mentions"), 2);
    assert_true(json_is_true(json_object_get(j, "complete")));
    json_decref(j);
    j = of_uses("limit", "", 0);
    assert_string_equal(listed(j), "mention:3 the same word in code | mention:9 assigns it");
    assert_non_null(strstr(r.out, "no such definition"));
    assert_true(json_is_true(json_object_get(j, "complete")));
    assert_null(json_object_get(json_array_get(json_object_get(j, "references"), 0), "of"));
    json_decref(j);
    /* a use with several lines has them all, and what means the other definition is counted alone */
    static const char *const same[] = {"src/a.c::g_level", "./src/a.c::g_level", ".//src/a.c::g_level",
                                       "$D/use/src/a.c::g_level", "$D/use/../use/src/a.c::g_level"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        j = of_uses(same[i], "", 0);
        assert_string_equal(listed(j), "caller:10 refers to g_level in the same file | mention:6 assigns it | "
                                       "mention:12 returns it");
        assert_non_null(strstr(r.out, "\"lines\":[10,11]"));
        assert_non_null(strstr(r.out, "2 lines mean other definitions of the name"));
        json_decref(j);
    }
    j = of_uses("src/a.c::g_level", ",\"relation\":\"mention\"", 0);
    assert_string_equal(listed(j), "mention:6 assigns it | mention:12 returns it");
    json_decref(j);
    j = of_uses("src/a.c::g_level", ",\"relation\":\"caller\"", 0);
    assert_string_equal(listed(j), "caller:10 refers to g_level in the same file");
    assert_non_null(strstr(r.out, "2 more lines of code have the name; relation mention lists them"));
    json_decref(j);
    j = of_uses("often", ",\"max_bytes\":1000000", 0);
    assert_int_equal(size_of(j, "references"), 1024);
    assert_int_equal(number_of(j, "left_out"), 76);
    assert_true(json_is_false(json_object_get(j, "complete")));
    json_decref(j);
    cli_shell(&r, "$M tool find_symbol -C $D/use --args '{\"name\":\"MAX_DEPTH\"}'");
    assert_non_null(strstr(r.out, "2 more lines of code have the name, and references lists them"));
    /* the command says it, too */
    cli_expect(&r, "symbols ./src/a.c::g_level $D/use", 0);
    assert_non_null(strstr(r.out, "  other lines of code with the name\n    src/a.c:6  set  assigns it\n"
                                  "    src/a.c:12  set  returns it\n"));
    cli_expect(&r, "symbols limit $D/use", 1);
    assert_non_null(strstr(r.out, "    src/a.c:9  set  assigns it\n"));
    cli_expect(&r, "symbols get $D/use", 0);
    assert_non_null(strstr(r.out, "  no use is recorded, and no other line of code has the name\n"));
    cli_expect(&r, "symbols --json src/a.c::g_level $D/use", 0);
    assert_non_null(strstr(r.out, "\"mentions\":[{\"path\":\"src/a.c\",\"line\":6,\"why\":\"assigns it\""));
    assert_non_null(strstr(r.out, "\"lines\":[10,11]"));
    /* search finds the name by its words, and says where its lines are */
    cli_shell(&r, "$M tool search -C $D/use --args '{\"query\":\"limit\"}'");
    assert_non_null(strstr(r.out, "references lists all 2 lines of code that have the name"));
}

static void other_files_are_refused(void **state)
{
    char line[256];
    (void)state;
    snprintf(line, sizeof(line), "ln -s $D/outside.txt $D/src/link.txt; ln -s / $D/src/root; printf 'a\\0b' >$D/src/b");
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
    refused("open_file", "{\"path\":\"../outside.txt\"}", MYTH_EXIT_USAGE, "'..' may be outside");
    refused("open_file", "{\"path\":\"a.c/../../outside.txt\"}", MYTH_EXIT_USAGE, "'..' may be outside");
    refused("open_file", "{\"path\":\"/etc/passwd\"}", MYTH_EXIT_USAGE, "expected a path relative to the root");
    refused("open_file", "{\"path\":\"link.txt\"}", MYTH_EXIT_USAGE, "the scan leaves link.txt out");
    refused("open_file", "{\"path\":\"root/etc/passwd\"}", MYTH_EXIT_USAGE, "the scan leaves root out (link");
    refused("open_file", "{\"path\":\"out.o.txt\"}", MYTH_EXIT_USAGE, "pattern 'out.o.txt' in .gitignore:1");
    refused("open_file", "{\"path\":\".hidden\"}", MYTH_EXIT_USAGE, "the scan leaves .hidden out");
    refused("open_file", "{\"path\":\"b\"}", MYTH_EXIT_USAGE, "binary");
    refused("open_file", "{\"path\":\".\"}", MYTH_EXIT_USAGE, "a folder, expected a file");
    refused("open_file", "{\"path\":\"aa.c\"}", MYTH_EXIT_NOINPUT, "no such file; did you mean a.c?");
    refused("repo_map", "{\"under\":\"..\"}", MYTH_EXIT_USAGE, "'..' may be outside");
    json_t *j = answer("search_text", "{\"pattern\":\"outside|ignored|hidden\",\"regex\":true}", MYTH_EXIT_FINDINGS);
    json_decref(j);
}

static void arguments_are_checked(void **state)
{
    static const struct {
        const char *name, *args, *said;
    } row[] = {
        {"search_text", "", "--args: no JSON"},
        {"search_text", "{\"pattern\":\"a\"", "--args: no JSON"},
        {"search_text", "{\"pattern\":\"a\"} {}", "--args: no JSON"},
        {"search_text", "{\"pattern\":\"a\",\"pattern\":\"b\"}", "duplicate object key"},
        {"search_text", "{\"pattern\":\"a\\u0000b\"}", "--args: no JSON"},
        {"search_text", "[]", "expected an object, got an array"},
        {"search_text", "7", "expected an object, got a number"},
        {"search_text", "{}", "the argument pattern is missing"},
        {"search_text", "{\"pattern\":\"\"}", "pattern: the text is empty"},
        {"search_text", "{\"pattern\":null}", "pattern: expected a string, got null"},
        {"search_text", "{\"pattern\":[\"a\"]}", "pattern: expected a string, got an array"},
        {"search_text", "{\"pattern\":\"a\",\"regex\":\"true\"}", "regex: expected true or false, got a string"},
        {"search_text", "{\"pattern\":\"(\",\"regex\":true}", "missing closing parenthesis"},
        {"search_text", "{\"pattern\":\"a\",\"globs\":\"*.c\"}", "globs: expected an array of strings"},
        {"search_text", "{\"pattern\":\"a\",\"globs\":[1]}", "globs: expected a string, got a number"},
        {"search_text", "{\"pattern\":\"a\",\"globs\":[\"[\"]}", "'[' has a [ without its ]"},
        {"search_text", "{\"pattern\":\"a\",\"globs\":[\"*.{c\"]}", "'*.{c' has a { without its }"},
        {"search_text", "{\"patern\":\"a\"}", "unknown argument 'patern'; did you mean pattern?"},
        {"search", "{\"query\":\"{}()\"}", "no word in it; search_text finds signs in lines\n"},
        {"search_text", "{\"pattern\":\"a\",\"globs\":[\"a[b\"]}", "the glob 'a[b' has a [ without its ]"},
        {"search_text", "{\"pattern\":\"a\",\"zzzzzzzz\":1}", "unknown argument 'zzzzzzzz'; there are pattern, "},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":1023}", "max_bytes: expected a whole number from 1024 to"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":1048577}", "to 1048576"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":-1}", "to 1048576"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":1e300}", "to 1048576"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":2000.5}", "to 1048576"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":99999999999999999999}", "too big integer"},
        {"search_text", "{\"pattern\":\"a\",\"max_bytes\":\"2000\"}", "expected a whole number, got a string"},
        {"references", "{\"name\":\"add\",\"relation\":\"friend\"}", "expected caller|test|export|callee"},
        {"search", "{\"query\":\"a\",\"max_hits\":0}", "max_hits: expected a whole number from 1 to 256"},
        {"open_file", "{\"path\":\"a.c\",\"first_line\":4294967297}", "first_line: expected a whole number"},
        {"open_fil", "{}", "unknown tool 'open_fil'; did you mean open_file?"},
    };
    char args[6000], many[200] = "";
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        refused(row[i].name, row[i].args, MYTH_EXIT_USAGE, row[i].said);
    for (int i = 0; i < 17; i++)
        strcat(many, i ? ",\"*.c\"" : "\"*.c\"");
    snprintf(args, sizeof(args), "{\"pattern\":\"a\",\"globs\":[%s]}", many);
    refused("search_text", args, MYTH_EXIT_USAGE, "17 texts are too many");
    const size_t n = (size_t)snprintf(args, sizeof(args), "{\"pattern\":\"");
    memset(args + n, 'a', 4097);
    strcpy(args + n + 4097, "\"}");
    refused("search_text", args, MYTH_EXIT_USAGE, "4097 bytes are too long, the most are 4096");
    args[n + 4096] = '"';
    strcpy(args + n + 4097, "}");
    json_t *j = answer("search_text", args, MYTH_EXIT_FINDINGS);
    json_decref(j);
}

static const char *file_at(const json_t *j, size_t change, size_t i, const char *key)
{
    const json_t *files = json_object_get(json_array_get(json_object_get(j, "changes"), change), "files");
    return json_string_value(json_object_get(json_array_get(files, i), key));
}

/* What is not committed, then the commits, the newest first. Paths are relative to the directory, which may be below
 * the top of the repository. */
static void changes_are_shown(void **state)
{
    static const char script[] =
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; g() { git -C $D/repo -c user.name=n -c user.email=e "
        "\"$@\"; }; mkdir -p $D/repo/sub/deep && g init -q && echo 1 >$D/repo/top.c && echo 1 >$D/repo/sub/one.c && "
        "g add . && GIT_COMMITTER_DATE='1700000000 +0000' g commit -qm first && g rm -q top.c && "
        "echo 1 >$D/repo/sub/deep/two.c && echo 2 >$D/repo/sub/one.c && g add . && "
        "GIT_COMMITTER_DATE='1700000100 +0000' g commit -qm 'second, api_key=\"Zk39fjSl2mQp8xVw71Ha\"' && "
        "printf 'a\\nb\\n' >$D/repo/sub/one.c && echo new >$D/repo/sub/untracked.c";
    char line[512];
    (void)state;
    cli_shell(&r, script);
    if (r.code == 127)
        check_skip("no git");
    assert_int_equal(r.code, 0);
#define CHANGES(dir, args)                                                                   \
    do {                                                                                     \
        snprintf(line, sizeof(line), "$M tool recent_changes $D/%s --args '%s'", dir, args); \
        cli_shell(&r, line);                                                                 \
        assert_int_equal(r.code, 0);                                                         \
        json_decref(j);                                                                      \
        j = json_loads(r.out, 0, NULL);                                                      \
        assert_non_null(j);                                                                  \
    } while (0)
    json_t *j = NULL;
    CHANGES("repo", "{}");
    assert_int_equal(size_of(j, "changes"), 3);
    assert_null(text_at(j, "changes", 0, "commit"));
    assert_string_equal(file_at(j, 0, 0, "path"), "sub/one.c");
    assert_string_equal(file_at(j, 0, 1, "path"), "sub/untracked.c");
    assert_string_equal(file_at(j, 0, 1, "change"), "?");
    assert_null(file_at(j, 0, 2, "path"));
    assert_non_null(strstr(r.out, "\"lines_added\":2,\"lines_removed\":1"));
    assert_string_equal(text_at(j, "changes", 1, "time"), "2023-11-14T22:15:00Z");
    assert_non_null(strstr(text_at(j, "changes", 1, "subject"), "second"));
    assert_null(strstr(r.out, "Zk39fjSl2mQp8xVw71Ha"));
    assert_string_equal(file_at(j, 1, 0, "path"), "sub/deep/two.c");
    assert_string_equal(file_at(j, 1, 0, "change"), "A");
    assert_string_equal(file_at(j, 1, 1, "change"), "M");
    assert_string_equal(file_at(j, 1, 2, "path"), "top.c");
    assert_string_equal(file_at(j, 1, 2, "change"), "D");
    assert_string_equal(text_at(j, "changes", 2, "subject"), "first");
    CHANGES("repo", "{\"path\":\"sub/deep/\"}");
    assert_int_equal(size_of(j, "changes"), 1);
    assert_null(file_at(j, 0, 1, "path"));
    CHANGES("repo", "{\"path\":\"top.c\"}");
    assert_int_equal(size_of(j, "changes"), 2);
    CHANGES("repo", "{\"max_commits\":1}");
    assert_int_equal(size_of(j, "changes"), 2);
    assert_non_null(strstr(r.out, "there are more"));
    CHANGES("repo/sub", "{\"path\":\"one.c\"}");
    assert_int_equal(size_of(j, "changes"), 3);
    assert_string_equal(file_at(j, 0, 0, "path"), "one.c");
    assert_string_equal(file_at(j, 2, 0, "path"), "one.c");
    json_decref(j);
    refused("recent_changes", "{\"path\":\"../x\"}", MYTH_EXIT_USAGE, "'..' may be outside");
    refused("recent_changes", "{}", MYTH_EXIT_NOINPUT, "no git repository");
}

/* A line of a key is hidden by every tool, although the line alone looks like nothing. */
static void secrets_are_replaced(void **state)
{
    json_t *j = answer("open_file", "{\"path\":\"key.txt\"}", 0);
    (void)state;
    assert_null(strstr(r.out, KEY_LINE));
    assert_non_null(strstr(r.out, "[REDACTED:"));
    assert_int_equal(size_of(j, "lines"), 6);
    json_decref(j);
    j = answer("search_text", "{\"pattern\":\"MIIEowIBAAKC\"}", 0);
    assert_int_equal(size_of(j, "matches"), 1);
    assert_null(strstr(r.out, KEY_LINE));
    json_decref(j);
    j = answer("search", "{\"query\":\"MIIEowIBAAKCAQEAwXyZ0123456789abcdefABCDEF BEFORE\"}", 0);
    assert_null(strstr(r.out, KEY_LINE));
    json_decref(j);
}

/* A long line is shown around its match, in whole characters, and a name that is no UTF-8 is valid JSON too. */
static void any_bytes_are_valid_json(void **state)
{
    static char text[9000];
    (void)state;
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    strcpy(text + 4000, "thorn");
    for (size_t i = 4005; i < 8000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    put("long.txt", text);
    json_t *j = answer("search_text", "{\"pattern\":\"thorn\"}", 0);
    const char *shown = text_at(j, "matches", 0, "text");
    assert_non_null(strstr(shown, "thorn"));
    assert_true(strlen(shown) <= 400);
    assert_null(strstr(shown, "\xef\xbf\xbd"));
    assert_int_equal(number_of(json_array_get(json_object_get(j, "matches"), 0), "bytes_of_line"), strlen(text));
    json_decref(j);
    j = answer("search_text", "{\"pattern\":\"no UTF-8\"}", 0);
    assert_string_equal(text_at(j, "matches", 0, "path"), "caf\xef\xbf\xbd.txt");
    json_decref(j);
    /* a path is taken as it is shown, where it is that of one file */
    j = answer("open_file", "{\"path\":\"caf\xef\xbf\xbd.txt\"}", 0);
    assert_string_equal(text_at(j, "lines", 0, "text"), "a name that is no UTF-8");
    json_decref(j);
    json_decref(answer("inspect", "{\"paths\":[\"caf\xef\xbf\xbd.txt\"],\"rules\":\"weak-hash\"}", 1));
    refused("open_file", "{\"path\":\"caf\xef\xbf\xbd.txt.c\"}", MYTH_EXIT_NOINPUT, "no such file");
    put("caf\xfe.txt", "another one\n");
    refused("open_file", "{\"path\":\"caf\xef\xbf\xbd.txt\"}", MYTH_EXIT_NOINPUT, "no such file");
    put("caf\xef\xbf\xbd.txt", "a name with the mark itself\n");
    j = answer("open_file", "{\"path\":\"caf\xef\xbf\xbd.txt\"}", 0);
    assert_string_equal(text_at(j, "lines", 0, "text"), "a name with the mark itself");
    json_decref(j);
}

/* What the command can be told, the tool can be told, and what the command says, the tool says. */
static void an_inspection_is_that_of_the_command(void **state)
{
    static const char code[] = "#include <stdlib.h>\n#include <string.h>\nchar *f(const char *s)\n{\n    char *p = "
                               "malloc(10);\n    strcpy(p, s);\n    return p;\n}\n";
    static const char *const flags[] = {"", "--config c.conf "}, *const args[] = {",\"confidence\":0.001", ""};
    char line[512];
    json_t *j;
    (void)state;
    cli_shell(&r, "mkdir -p $D/src/new && echo 'confidence = 0.001' >$D/c.conf");
    put("new/a.c", code);
    for (int i = 0; i < 2; i++) { /* a path is that from where the tool was started */
        snprintf(line, sizeof(line), "cd $D && $M tool inspect src %s--args '{\"paths\":[\"new\"]%s}'", flags[i],
                 args[i]);
        cli_shell(&r, line);
        j = json_loads(r.out, 0, NULL);
        if (r.code != 0 || size_of(j, "findings") == 0)
            fail_msg("%s: exit %d: %s%s", line, r.code, r.err, r.out);
        const json_t *p = json_object_get(json_array_get(json_object_get(j, "findings"), 0), "probability");
        assert_true(json_is_real(p) && json_real_value(p) > 0 && json_real_value(p) < 1);
        json_decref(j);
    }
    json_decref(answer("inspect", "{\"paths\":[\"new\"],\"confidence\":1,\"find\":\"candidates\"}", 1));
    cli_shell(&r, "git -C $D/src/new init -q && git -C $D/src/new add a.c && git -C $D/src/new -c user.name=n -c "
                  "user.email=e commit -qm m && $M tool inspect $D/src/new --args "
                  "'{\"paths\":[\".\"],\"since\":\"HEAD\",\"confidence\":0.001}'");
    assert_int_equal(r.code, MYTH_EXIT_FINDINGS); /* no line changed */
    put("new/a.c", "int x;\n");
    cli_shell(&r, "rm -rf $D/src/new/.git");
    put("new/x.hs", "main = print 1\n");
    put("new/NOTES.md", "about it\n");
    j = answer("inspect", "{\"paths\":[\"new/NOTES.md\"]}", 1);
    assert_non_null(strstr(r.out, "1 file of documents or data, in which no rules look for code"));
    assert_int_equal(size_of(j, "not_inspected"), 0);
    json_decref(j);
    j = answer("inspect", "{\"paths\":[\"new/x.hs\"]}", MYTH_EXIT_INCOMPLETE);
    assert_string_equal(text_at(j, "not_inspected", 0, "path"), "new/x.hs");
    assert_string_equal(text_at(j, "not_inspected", 0, "why"),
                        "no rules find places in its language; find both lets a model search");
    assert_true(json_is_false(json_object_get(j, "complete")));
    json_decref(j);
    refused("inspect", "{\"paths\":[\"new\"],\"confidence\":1.5}", MYTH_EXIT_USAGE, "expected a number from 0 to 1");
    cli_shell(&r, "rm -rf $D/src/new");
}

/* The time is too short for the inspection, and long enough to begin it: the answer says which limit ended it. */
static void a_limit_of_time_is_named(void **state)
{
    char line[512];
    json_t *j = NULL;
    (void)state;
    cli_shell(&r, "mkdir $D/slow && for i in $(seq 200); do cp tests/corpus/demo.c $D/slow/$i.c; done");
    for (int s = 1; !j && s < 100; s *= 2) {
        snprintf(line, sizeof(line), "$M tool inspect $D/slow " TINY "--args '{\"paths\":[\".\"],\"max_seconds\":%d}'",
                 s);
        cli_shell(&r, line);
        j = json_loads(r.out, 0, NULL);
    }
    assert_int_equal(r.code, MYTH_EXIT_INCOMPLETE);
    assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "max_seconds");
    json_decref(j);
}

/* A directory without a file, as of a project that begins, is no error. */
static void nothing_is_found_in_nothing(void **state)
{
    static const char *const call[][2] = {
        {"search", "{\"query\":\"a\"}"},        {"find_symbol", "{\"name\":\"a\"}"},
        {"references", "{\"name\":\"a\"}"},     {"repo_map", "{}"},
        {"search_text", "{\"pattern\":\"a\"}"},
    };
    char line[256];
    (void)state;
    for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
        snprintf(line, sizeof(line), "mkdir -p $D/none && $M tool %s $D/none --args '%s'", call[i][0], call[i][1]);
        cli_shell(&r, line);
        json_t *j = json_loads(r.out, 0, NULL);
        if (r.code != MYTH_EXIT_FINDINGS || !json_is_true(json_object_get(j, "complete")) || size_of(j, "notes") != 1)
            fail_msg("%s: exit %d: %s%s", line, r.code, r.err, r.out);
        json_decref(j);
    }
}

/* Where no folder for indexes can be made, an answer takes longer, and nothing stays behind. */
static void no_folder_is_needed(void **state)
{
    (void)state;
    cli_shell(&r, "mkdir $D/tmp && XDG_CACHE_HOME=/dev/null/x TMPDIR=$D/tmp $M tool find_symbol $D/src --args "
                  "'{\"name\":\"twice\"}' && rmdir $D/tmp");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "a.c"));
    assert_non_null(strstr(r.err, "no folder for the index"));
}

/* The findings are those of the command, under the directory's paths: outside of a repository, where the report
 * names files below the folder that they have in common, and inside of one, where it names them as git does. */
static void code_is_inspected(void **state)
{
    static const char *const roots[] = {"$D/i", "$D/r/i"};
    static const struct {
        const char *paths, *first, *last;
        size_t n; /* findings in so many copies of one file */
    } row[] = {
        {"\"deep/x/demo.c\"", "deep/x/demo.c", "deep/x/demo.c", 1}, {"\"deep\"", "deep/x/demo.c", "deep/y/demo.c", 2},
        {"\"./deep//x/\"", "deep/x/demo.c", "deep/x/demo.c", 1},    {"\".\"", "deep/x/demo.c", "demo.c", 3},
        {"\"demo.c\",\"deep/y\"", "demo.c", "deep/y/demo.c", 2},
    };
    char line[1024];
    (void)state;
    setenv("MYTHOS_FIND", "model", 1); /* the model that ships finds more in this file than the judge */
    cli_shell(&r,
              "for d in $D/i $D/r/i; do mkdir -p $d/deep/x $d/deep/y && for p in demo.c deep/x/demo.c deep/y/demo.c; "
              "do cp tests/corpus/demo.c $d/$p; done; done; git -C $D/r init -q && git -C $D/r add -A && "
              "$M inspect-file $D/i/demo.c --format json -q --fail-level never --no-log");
    assert_int_equal(r.code, 0);
    json_t *alone = json_loads(r.out, 0, NULL);
    const size_t n_one = size_of(alone, "findings");
    assert_true(n_one > 0);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
            snprintf(line, sizeof(line), "$M tool inspect %s --args '{\"paths\":[%s]}'", roots[k], row[i].paths);
            cli_shell(&r, line);
            if (r.code != 0)
                fail_msg("%s: exit %d: %s", line, r.code, r.err);
            json_t *j = json_loads(r.out, 0, NULL);
            const size_t n = size_of(j, "findings");
            assert_int_equal(n, n_one * row[i].n);
            assert_true(json_is_true(json_object_get(j, "complete")));
            assert_string_equal(text_at(j, "findings", 0, "path"), row[i].first);
            assert_string_equal(text_at(j, "findings", n - 1, "path"), row[i].last);
            assert_string_equal(text_at(j, "findings", 0, "evidence"), text_at(alone, "findings", 0, "evidence"));
            json_decref(j);
        }
    json_decref(alone);
    cli_shell(&r, "$M tool inspect $D/i --args '{\"paths\":[\".\"],\"rules\":\"weak-hash\",\"max_bytes\":1024}'");
    assert_int_equal(r.code, 1); /* nothing of this rule */
    cli_shell(&r, "echo demo.c >$D/i/.gitignore; ln -s demo.c $D/i/link.c");
    static const char *const refusals[][2] = {
        {"\"../x\"", "'..' may be outside"},
        {"\"/etc/passwd\"", "expected a path relative to the root"},
        {"", "no path is given"},
        {"\"none.c\"", "no such file"},
        {"\"demo.c\"", "because the scan leaves"},
        {"\"deep/x\"", "has no file in it"},
        {"\"link.c\"", "because the scan leaves"},
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        snprintf(line, sizeof(line), "$M tool inspect $D/i --args '{\"paths\":[%s]}'", refusals[i][0]);
        cli_shell(&r, line);
        if ((r.code != MYTH_EXIT_USAGE && r.code != MYTH_EXIT_NOINPUT) || r.out[0] || !strstr(r.err, refusals[i][1]))
            fail_msg("%s: exit %d: %s%s", line, r.code, r.err, r.out);
    }
    cli_shell(&r, "$M tool inspect $D/r --args '{\"paths\":[\"i\"],\"rules\":\"none\"}'");
    assert_int_equal(r.code, MYTH_EXIT_USAGE);
    assert_non_null(strstr(r.err, "no rule 'none'"));
    static const char *const flags[] = {"--help", "-h", "--show-config", "--"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) { /* as values they are no flags */
        snprintf(line, sizeof(line), "$M tool inspect $D/r --args '{\"paths\":[\"i\"],\"rules\":\"%s\"}'", flags[i]);
        cli_shell(&r, line);
        if (r.code != MYTH_EXIT_USAGE || !strstr(r.err, "no rule '-"))
            fail_msg("%s: exit %d: %s%s", line, r.code, r.err, r.out);
    }
    unsetenv("MYTHOS_FIND");
}

static int begin(void **state)
{
    char path[64];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/cache", cli_dir);
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(path, sizeof(path), "%s/src", cli_dir);
    if (mkdir(path, 0700) != 0)
        return -1;
    make_files();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_schemas),
        cmocka_unit_test(budgets_are_exact),
        cmocka_unit_test(tokens_are_counted),
        cmocka_unit_test(lines_are_shown),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(changes_are_shown),
        cmocka_unit_test(secrets_are_replaced),
        cmocka_unit_test(any_bytes_are_valid_json),
        cmocka_unit_test(code_is_inspected),
        cmocka_unit_test(every_line_with_a_name_is_listed),
        cmocka_unit_test(nothing_is_found_in_nothing),
        cmocka_unit_test(no_folder_is_needed),
        cmocka_unit_test(an_inspection_is_that_of_the_command),
        cmocka_unit_test(a_limit_of_time_is_named),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
