/* test_focus.c - a hit bears the name and has the lines of the definition that matches, not of the first in its
 * chunk. Every file here is one chunk with several definitions. */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/retrieval.h"

static myth_mem *mem;
static myth_index *index_;
static myth_hits hits;

static int begin(void **state)
{
    (void)state;
    static char path[512], root[512];
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    files_mkdir("p");
    files_text("p/term.c", "void disableRawMode(int fd)\n{\n    restore(fd);\n}\n\n"                      /* 1-4 */
                           "/* Waits for bytes of the keyboard. */\n"                                     /* 6 */
                           "int editorReadKey(int fd)\n{\n    while (!poll(fd)) {}\n    return 7;\n}\n\n" /* 7-11 */
                           "void windowSize(int *rows)\n{\n    *rows = editorReadKey(0);\n}\n");          /* 13-16 */
    files_text("p/client.py", "class Client:\n    headers: dict\n    verify: bool\n\n"                    /* 1-3 */
                              "    def send(self, request):\n        return socket(request)\n\n"          /* 5-6 */
                              "    def close(self):\n        self.pool.drain()\n");                       /* 8-9 */
    files_text("p/main.py", "def one():\n    return 1\n\nprint('launch the rocket')\n\n"
                            "def two():\n    return 2\n");
    snprintf(root, sizeof root, "%s", files_path("p"));
    snprintf(path, sizeof path, "%s", files_path("index.db"));
    myth_index_opts o = {.root = root, .path = path, .worker_path = getenv("MYTHOS_BIN"), .n_threads = 2};
    myth_index_stats stats;
    if (myth_index_open(&index_, mem, &o, NULL) != MYTH_OK)
        return -1;
    return myth_index_update(index_, &(myth_index_update_opts){0}, &stats, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_index_close(index_);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static int over(void **state)
{
    (void)state;
    myth_hits_free(&hits);
    return 0;
}

static void ask(const char *query, myth_search_mode mode, bool narrow)
{
    myth_error err = {0};
    const myth_search_opts o = {.query = query, .mode = mode, .k = 5, .with_text = true, .narrow = narrow};
    myth_hits_free(&hits);
    if (myth_search(&hits, index_, &o, &err) != MYTH_OK)
        fail_msg("%s: %s", query, err.msg);
    if (hits.n_hit == 0)
        fail_msg("%s: nothing", query);
}

/* The best hit is this definition with these lines. */
static void expect(const char *query, myth_search_mode mode, const char *kind, const char *parent, const char *name,
                   uint32_t line0, uint32_t line1)
{
    ask(query, mode, true);
    const myth_hit *h = &hits.hit[0];
    if (strcmp(h->name, name) != 0 || strcmp(h->parent, parent) != 0 || strcmp(h->kind_name, kind) != 0 ||
        h->line0 != line0 || h->line1 != line1)
        fail_msg("%s: %s %s.%s, lines %u-%u of %s", query, h->kind_name, h->parent, h->name, h->line0, h->line1,
                 h->path);
    uint32_t n_line = 0;
    for (uint64_t i = 0; i < h->n_text; i++)
        n_line += h->text[i] == '\n';
    assert_int_equal(n_line, line1 - line0 + 1);
    for (uint32_t i = 0; i < h->n_match; i++)
        assert_true(h->match[i] >= line0 && h->match[i] <= line1 && (i == 0 || h->match[i] > h->match[i - 1]));
}

static void a_hit_is_the_definition_that_matches(void **state)
{
    (void)state;
    expect("editorReadKey", MYTH_SEARCH_AUTO, "function", "", "editorReadKey", 7, 11);
    assert_string_equal(hits.hit[0].symbol, "disableRawMode"); /* the first in the chunk */
    assert_int_equal(hits.hit[0].n_match, 1);
    assert_int_equal(hits.hit[0].match[0], 7);
    expect("editorReadKey", MYTH_SEARCH_SYMBOL, "function", "", "editorReadKey", 7, 11);
    expect("windowSize", MYTH_SEARCH_SYMBOL, "function", "", "windowSize", 13, 16);
    expect("how large is the window", MYTH_SEARCH_AUTO, "function", "", "windowSize", 13, 16);
    expect("where is the pool drained", MYTH_SEARCH_AUTO, "method", "Client", "close", 8, 9);
    expect("Client", MYTH_SEARCH_SYMBOL, "class", "", "Client", 1, 9);
    expect("verify", MYTH_SEARCH_SYMBOL, "variable", "Client", "verify", 3, 3);
    expect("\"socket request\"", MYTH_SEARCH_AUTO, "method", "Client", "send", 5, 6);
}

/* A comment belongs to the definition below it. */
static void a_comment_is_of_its_definition(void **state)
{
    (void)state;
    expect("who waits for the keyboard", MYTH_SEARCH_AUTO, "function", "", "editorReadKey", 6, 11);
    assert_int_equal(hits.hit[0].match[0], 6);
}

/* Lines outside of all definitions bear nobody's name. */
static void a_line_of_no_definition(void **state)
{
    (void)state;
    ask("launch the rocket", MYTH_SEARCH_AUTO, true);
    assert_string_equal(hits.hit[0].path, "main.py");
    assert_string_equal(hits.hit[0].name, "");
    assert_string_equal(hits.hit[0].kind_name, "module");
    assert_int_equal(hits.hit[0].n_match, 1);
    assert_int_equal(hits.hit[0].match[0], 4);
}

/* Without narrow, a hit is its chunk and has the name alone. */
static void a_chunk_keeps_its_lines(void **state)
{
    (void)state;
    ask("editorReadKey", MYTH_SEARCH_AUTO, false);
    const int64_t id = hits.hit[0].chunk_id;
    const double score = hits.hit[0].score;
    assert_string_equal(hits.hit[0].name, "editorReadKey");
    assert_int_equal(hits.hit[0].line0, 1);
    assert_int_equal(hits.hit[0].line1, 16);
    ask("editorReadKey", MYTH_SEARCH_AUTO, true);
    assert_int_equal(hits.hit[0].chunk_id, id);
    assert_true(hits.hit[0].score == score);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_hit_is_the_definition_that_matches, over),
        cmocka_unit_test_teardown(a_comment_is_of_its_definition, over),
        cmocka_unit_test_teardown(a_line_of_no_definition, over),
        cmocka_unit_test_teardown(a_chunk_keeps_its_lines, over),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
