/* test_plain.c - the plain baseline of the evaluation: how it ranks files, in trees so small that the right order is
 * known. */
#include "tests/support/files.h"
#include "frontend/eval/plain.h"

static const char *const python[] = {".py", NULL};

static int clean(void **state)
{
    static bool is_made;
    (void)state;
    if (!is_made)
        files_mkdir("p");
    is_made = true;
    files_clear("p");
    return 0;
}

/* Searches and returns the paths of the answer with blanks between them. */
static const char *ask(const char *query, uint32_t k)
{
    static char text[1024];
    const char *path[16];
    uint32_t n = 0;
    myth_mem *mem;
    myth_plain *p;
    myth_error err = {0};
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    if (myth_plain_open(&p, mem, files_path("p"), python, &err) != MYTH_OK)
        print_error("%s\n", err.msg);
    assert_non_null(p);
    assert_int_equal(myth_plain_search(p, query, k, path, &n, &err), MYTH_OK);
    text[0] = '\0';
    for (uint32_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", path[i]);
    myth_plain_close(p);
    assert_int_equal(myth_mem_close(mem), 0);
    return text;
}

/* Writes n other files, so that the words of the file that a test looks for are rare. */
static void others(int n)
{
    for (int i = 0; i < n; i++) {
        char name[32], text[96];
        snprintf(name, sizeof(name), "p/other%d.py", i);
        snprintf(text, sizeof(text), "def nothing_%d(value):\n    return value + %d\n", i, i);
        files_text(name, text);
    }
}

static void parts_of_names_are_words(void **state)
{
    (void)state;
    others(6);
    files_text("p/a.py", "def parseHTTPHeader(line):\n    return line\n");
    assert_string_equal(ask("header of http", 5), "a.py");
    assert_string_equal(ask("PARSEHTTPHEADER", 5), "a.py");
    assert_string_equal(ask("parsing", 5), "a.py");  /* endings do not matter: the Porter stemmer */
    assert_string_equal(ask("where is the", 5), ""); /* there are only stop words */
    assert_string_equal(ask("", 5), "");
    assert_string_equal(ask("\" OR * NEAR(", 5), ""); /* signs of FTS5's query language are only text */
}

static void tests_are_set_back(void **state)
{
    (void)state;
    others(6);
    files_mkdir("p/tests");
    files_text("p/tests/test_lamp.py", "def lamp():\n    lamp = lamp\n    return lamp\n");
    files_text("p/lamp.py", "def light():\n    return lamp\n");
    assert_string_equal(ask("lamp", 5), "lamp.py tests/test_lamp.py");
    assert_string_equal(ask("lamp", 1), "lamp.py");
}

static void path_and_names_count_more(void **state)
{
    (void)state;
    others(6);
    files_text("p/a_body.py", "def other():\n    return tulip\n");
    files_text("p/b_name.py", "def tulip():\n    return other\n");
    assert_string_equal(ask("tulip", 5), "b_name.py a_body.py");
    files_text("p/a_crocus.py", "def third():\n    return iris\n");
    files_text("p/b_iris.py", "def fourth():\n    return other\n");
    assert_string_equal(ask("iris", 5), "b_iris.py a_crocus.py");
}

/* Five chunks that match lose to none less than four: the fifth adds nothing. */
static void four_chunks_add_up(void **state)
{
    (void)state;
    char four[4096] = "", five[4096] = "";
    others(20);
    for (int i = 0; i < 5; i++) {
        char one[96];
        snprintf(one, sizeof(one), "def f%d():\n    return rose\n\n\n", i);
        strcat(five, one);
        if (i < 4)
            strcat(four, one);
    }
    strcat(four, "def f4():\n    return none\n\n\n");
    files_text("p/a.py", four);
    files_text("p/b.py", five);
    files_text("p/c.py", "def f0():\n    return rose\n");
    assert_string_equal(ask("rose", 5), "a.py b.py c.py");
}

static void only_the_files_that_are_asked_for(void **state)
{
    (void)state;
    others(3);
    files_text("p/x.c", "int orchid;\n");
    files_text("p/empty.py", "");
    assert_string_equal(ask("orchid", 5), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(parts_of_names_are_words, clean),
        cmocka_unit_test_setup(tests_are_set_back, clean),
        cmocka_unit_test_setup(path_and_names_count_more, clean),
        cmocka_unit_test_setup(four_chunks_add_up, clean),
        cmocka_unit_test_setup(only_the_files_that_are_asked_for, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
