/* test_languages.c - what the command languages lists is what the retriever does: a file of each listed name has that
 * language, search takes each name, and definitions are found where a grammar is listed. */
#include "tests/frontend/cli/cli_run.h"

#include "retrieval/retrieval.h"

static cli_result r;

/* The n-th pattern as the name of a file: "*.py" as "x.py", "Makefile" as it is. */
static const char *file_of(const json_t *patterns, size_t n)
{
    static char name[64];
    const char *pattern = json_string_value(json_array_get(patterns, n));
    snprintf(name, sizeof(name), "%s%s", *pattern == '*' ? "x" : "", pattern + (*pattern == '*'));
    return name;
}

static void files_have_the_language(void **state)
{
    size_t i, k, n_pattern = 0;
    json_t *list = cli_json(&r, "languages --json"), *row, *pattern;
    (void)state;
    json_array_foreach(list, i, row)
    {
        const json_t *patterns = json_object_get(row, "patterns");
        const char *name = json_string_value(json_object_get(row, "name"));
        assert_true(json_array_size(patterns) > 0);
        json_array_foreach(patterns, k, pattern)
        {
            assert_string_equal(myth_detect_language(file_of(patterns, k), NULL, 0), name);
            n_pattern++;
        }
        assert_string_equal(myth_detect_language_name((uint32_t)i), name);
    }
    assert_null(myth_detect_language_name((uint32_t)i)); /* none is left out */
    printf("%zu languages, %zu patterns\n", i, n_pattern);
    json_decref(list);
}

/* The text has the same rows, and each name is one that search --type takes. */
static void text_says_the_same(void **state)
{
    size_t i, k;
    json_t *list = cli_json(&r, "languages --json"), *row, *pattern;
    (void)state;
    cli_expect(&r, "languages", 0);
    char *line = strtok(r.out, "\n");
    json_array_foreach(list, i, row)
    {
        char want[1024], got[1024] = "";
        const char *name = json_string_value(json_object_get(row, "name"));
        const bool has_grammar = json_is_string(json_object_get(row, "grammar"));
        size_t n = (size_t)snprintf(want, sizeof(want), "%s %s", name, has_grammar ? "definitions" : "text");
        json_array_foreach(json_object_get(row, "patterns"), k, pattern) n +=
            (size_t)snprintf(want + n, sizeof(want) - n, " %s", json_string_value(pattern));
        assert_non_null(line);
        for (char *p = line, *to = got; *p; p++) /* columns are filled with blanks */
            if (*p != ' ' || p[1] != ' ')
                *to++ = *p;
        assert_string_equal(got, want);
        assert_true(myth_detect_is_language(name)); /* what search --type asks */
        line = strtok(NULL, "\n");
    }
    assert_null(line);
    json_decref(list);
}

/* One definition in four languages: `symbols` finds it where the list says that definitions are read. */
static void definitions_are_found(void **state)
{
    static const struct {
        const char *language, *file, *text;
    } row[] = {
        {"python", "a.py", "def thing_python():\\n    return 1\\n"},
        {"c", "a.c", "int thing_c(void)\\n{\\n    return 1;\\n}\\n"},
        {"crystal", "a.cr", "def thing_crystal\\n  1\\nend\\n"},
        {"json", "a.json", "{\\\"thing_json\\\": {\\\"a\\\": 1}}\\n"},
    };
    char line[512];
    size_t i;
    json_t *list = cli_json(&r, "languages --json"), *language;
    (void)state;
    for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
        bool is_listed = false;
        snprintf(line, sizeof(line), "mkdir -p $D/%s && printf \"%s\" >$D/%s/%s && $M symbols thing_%s -C $D/%s",
                 row[k].language, row[k].text, row[k].language, row[k].file, row[k].language, row[k].language);
        cli_shell(&r, line);
        json_array_foreach(list, i,
                           language) if (!strcmp(json_string_value(json_object_get(language, "name")), row[k].language))
        {
            is_listed = true;
            if ((r.code == 0) != json_is_string(json_object_get(language, "grammar")))
                fail_msg("%s: exit %d: %s%s", row[k].language, r.code, r.out, r.err);
        }
        assert_true(is_listed);
    }
    json_decref(list);
}

static int begin(void **state)
{
    char cache[64];
    if (cli_begin(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", cli_dir);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_the_language),
        cmocka_unit_test(text_says_the_same),
        cmocka_unit_test(definitions_are_found),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
