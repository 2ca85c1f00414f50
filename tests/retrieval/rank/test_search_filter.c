/* test_search_filter.c - a search of some files alone: the filter chooses the candidates, so the one file that passes
 * is found however far below it ranks among all. */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/retrieval.h"

#include <unistd.h>

/* More files than any number of candidates below, of which each has the words more often and in less text. */
enum { N_BETTER = 200 };

static myth_mem *mem;
static myth_index *index_;
static myth_hits hits;

static void put_project(void)
{
    files_mkdir("p");
    files_mkdir("p/better");
    files_mkdir("p/other");
    for (int i = 0; i < N_BETTER; i++) {
        char name[48], text[256];
        snprintf(name, sizeof name, "p/better/f%03d.c", i);
        snprintf(text, sizeof text,
                 "/* lantern lantern lantern harbour harbour */\nint lantern_harbour(int number_%d)\n{\n    return "
                 "lantern(number_%d);\n}\n",
                 i, i);
        files_text(name, text);
    }
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "def weigh(cargo):\n    # the lantern is far from here\n");
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "    cargo.rope_%d = cargo.sail_%d + %d\n", i, i, i);
    files_text("p/other/far.py", text);
    files_text("p/other/name.py", "def lantern_harbour():\n    return 1\n");
    files_text("p/other/rare.py", "def pelican():\n    return 'pelican'\n");
}

static int begin(void **state)
{
    (void)state;
    static char path[512], root[512];
    myth_index_stats stats;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    put_project();
    snprintf(root, sizeof root, "%s", files_path("p"));
    snprintf(path, sizeof path, "%s", files_path("index.db"));
    const myth_index_opts o = {.root = root, .path = path, .worker_path = getenv("MYTHOS_BIN"), .n_threads = 2};
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

static uint32_t n_asked;

static bool is_the_one(void *user, const char *path)
{
    n_asked++;
    return strcmp(path, user) == 0;
}

static bool is_below(void *user, const char *path) { return strncmp(path, user, strlen(user)) == 0; }

static void ask(const char *query, myth_search_mode mode, const char *weights, bool (*wants)(void *, const char *),
                const char *of)
{
    static char user[64];
    myth_error err = {0};
    snprintf(user, sizeof user, "%s", of ? of : "");
    myth_hits_free(&hits);
    const myth_search_opts o = {
        .query = query,
        .mode = mode,
        .k = 2,
        .weights = weights,
        .wants_file = wants,
        .user = user,
    };
    if (myth_search(&hits, index_, &o, &err) != MYTH_OK)
        fail_msg("%s: %s", query, err.msg);
}

static void expect_only(const char *path)
{
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, path);
}

/* Two candidates would be looked at, and 200 files are better. */
static void is_not_crowded_out(void **state)
{
    (void)state;
    ask("lantern of the harbour", MYTH_SEARCH_RANKED, "candidates=1", NULL, NULL);
    assert_int_equal(hits.n_hit, 2);
    for (uint32_t i = 0; i < hits.n_hit; i++)
        assert_string_not_equal(hits.hit[i].path, "other/far.py");
    n_asked = 0;
    ask("lantern of the harbour", MYTH_SEARCH_RANKED, "candidates=1", is_the_one, "other/far.py");
    expect_only("other/far.py");
    assert_int_equal(n_asked, N_BETTER + 3); /* each file of the index once */
}

/* "lantern" is in too many rows to bring candidates beside "pelican"; in the wanted files it does. */
static void a_frequent_word_brings_its_rows(void **state)
{
    (void)state;
    ask("pelican or lantern", MYTH_SEARCH_RANKED, "rows=3", is_the_one, "other/far.py");
    expect_only("other/far.py");
}

/* A name that is defined too often to say anything says it among the wanted files. */
static void a_name_that_all_define(void **state)
{
    (void)state;
    ask("lantern_harbour", MYTH_SEARCH_SYMBOL, NULL, NULL, NULL);
    assert_int_equal(hits.n_hit, 0);
    ask("lantern_harbour", MYTH_SEARCH_SYMBOL, NULL, is_the_one, "other/name.py");
    expect_only("other/name.py");
}

static void a_phrase(void **state)
{
    (void)state;
    ask("\"lantern is far\"", MYTH_SEARCH_PHRASE, "candidates=1", is_the_one, "other/far.py");
    expect_only("other/far.py");
    ask("\"harbour harbour\"", MYTH_SEARCH_PHRASE, NULL, is_the_one, "other/far.py");
    assert_int_equal(hits.n_hit, 0);
}

/* A filter that all files pass changes nothing, and one that none passes finds nothing. */
static void all_and_none(void **state)
{
    (void)state;
    char first[2][512];
    double score[2];
    ask("pelican", MYTH_SEARCH_RANKED, NULL, NULL, NULL);
    assert_int_equal(hits.n_hit, 1);
    for (int i = 0; i < 2; i++) {
        ask("where is the lantern", MYTH_SEARCH_RANKED, NULL, i ? is_below : NULL, "");
        assert_int_equal(hits.n_hit, 2);
        snprintf(first[i], sizeof first[i], "%s", hits.hit[0].path);
        score[i] = hits.hit[0].score;
    }
    assert_string_equal(first[0], first[1]);
    assert_true(score[0] == score[1]);
    ask("lantern", MYTH_SEARCH_RANKED, NULL, is_the_one, "nothing");
    assert_int_equal(hits.n_hit, 0);
}

/* Each allocation fails once. */
static void no_memory(void **state)
{
    (void)state;
    static char user[] = "other/far.py";
    const myth_search_opts o = {.query = "lantern", .k = 2, .wants_file = is_the_one, .user = user};
    myth_status st = MYTH_ENOMEM;
    myth_hits_free(&hits);
    for (uint64_t i = 1; st != MYTH_OK; i++) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = i});
        st = myth_search(&hits, index_, &o, NULL);
        myth_mem_set_fault(mem, NULL);
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
    }
    expect_only("other/far.py");
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, over)
    const struct CMUnitTest tests[] = {
        T(is_not_crowded_out),     T(a_frequent_word_brings_its_rows),
        T(a_name_that_all_define), T(a_phrase),
        T(all_and_none),           T(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
