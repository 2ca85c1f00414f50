/* test_finder.c - the places of many texts: the same with any number of threads, and when a thread has no memory. */
#include "frontend/candidates/finder.h"
#include "tests/support/check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { N_TEXT = 24, N_FILE = 4, FILE_BYTES = 1 << 16 };

static const struct {
    const char *name, *language;
} files[N_FILE] = {{"examples.c", "c"}, {"examples.py", "python"}, {"examples.go", "go"}, {"examples.java", "java"}};
static char bytes[N_FILE][FILE_BYTES];
static myth_mem *mem;
static myth_global global;
static myth_cli cli = {.global = &global};
static myth_finder *finder;

/* Texts of different lengths: the first lines of a file. */
static void set_texts(myth_finder_text *text)
{
    memset(text, 0, N_TEXT * sizeof(*text));
    for (int i = 0; i < N_TEXT; i++) {
        const char *from = bytes[i % N_FILE], *end = strchr(from + strlen(from) * (size_t)(i / N_FILE + 1) / 7, '\n');
        assert_non_null(end);
        text[i] = (myth_finder_text){.language = files[i % N_FILE].language,
                                     .name = files[i % N_FILE].name,
                                     .text = (const unsigned char *)from,
                                     .n_text = (uint64_t)(end + 1 - from)};
    }
}

static void free_texts(myth_finder_text *text)
{
    for (int i = 0; i < N_TEXT; i++)
        myth_candidates_free(&text[i].found, mem);
}

static bool is_same(const myth_finder_text *a, const myth_finder_text *b)
{
    const myth_candidates *x = &a->found, *y = &b->found;
    return a->is_found == b->is_found && x->n == y->n && x->n_names == y->n_names && x->n_function == y->n_function &&
           strcmp(x->note, y->note) == 0 && (!x->n_names || memcmp(x->names, y->names, x->n_names) == 0) &&
           (!x->n || memcmp(x->candidate, y->candidate, x->n * sizeof(*x->candidate)) == 0);
}

/* The places with one thread, which are those of each text alone. */
static void set_wanted(myth_finder_text *want)
{
    myth_chunker *chunker;
    set_texts(want);
    assert_int_equal(myth_finder_chunker(&chunker, finder, NULL), MYTH_OK);
    for (int i = 0; i < N_TEXT; i++) {
        const myth_finder_text *t = &want[i];
        assert_int_equal(
            myth_finder_find(&want[i].found, NULL, finder, chunker, t->language, t->name, t->text, t->n_text, NULL),
            MYTH_OK);
        want[i].is_found = true;
    }
    myth_chunker_close(chunker);
}

static void check_same(const myth_finder_text *got, const myth_finder_text *want)
{
    for (int i = 0; i < N_TEXT; i++)
        if (!is_same(&got[i], &want[i]))
            fail_msg("text %d: %u places, expected %u", i, got[i].found.n, want[i].found.n);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const uint32_t n_threads[] = {1, 2, 3, 16, 100};
    myth_finder_text want[N_TEXT], got[N_TEXT];
    uint32_t n_place = 0;
    set_wanted(want);
    for (int i = 0; i < N_TEXT; i++)
        n_place += want[i].found.n;
    if (!n_place)
        check_skip("no rules in this build");
    for (size_t k = 0; k < sizeof(n_threads) / sizeof(*n_threads); k++) {
        global.n_threads = n_threads[k];
        set_texts(got);
        assert_int_equal(myth_finder_all(finder, got, N_TEXT, NULL, NULL), MYTH_OK);
        check_same(got, want);
        free_texts(got);
    }
    free_texts(want);
    assert_int_equal(myth_finder_threads(&cli, N_TEXT), MYTH_FINDER_THREADS); /* of 100 */
    assert_int_equal(myth_finder_threads(&cli, 3), 3);
    global.n_threads = 0;
    assert_true(myth_finder_threads(&cli, N_TEXT) >= 1);
}

/* What a thread has no memory for, the caller's finds alone. Without memory for that either it is an error. */
static void a_thread_without_memory_is_helped(void **state)
{
    (void)state;
    enum { OWN = 2 }; /* the caller's chunker, before any thread */
    myth_finder_text want[N_TEXT], got[N_TEXT];
    uint64_t rng = check_seed();
    set_wanted(want);
    const uint64_t before = myth_mem_n_alloc(mem);
    global.n_threads = 3;
    set_texts(got);
    assert_int_equal(myth_finder_all(finder, got, N_TEXT, NULL, NULL), MYTH_OK);
    free_texts(got);
    const uint32_t n = (uint32_t)(myth_mem_n_alloc(mem) - before);
    for (uint32_t i = 0; i < check_sample(20); i++) {
        const uint64_t nth = i < OWN + 1 ? i + 1 : 1 + check_below(&rng, n);
        for (int forever = 0; forever < 2; forever++) {
            set_texts(got);
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth, .forever = forever});
            const myth_status st = myth_finder_all(finder, got, N_TEXT, NULL, NULL);
            myth_mem_set_fault(mem, NULL);
            const bool is_right = st == MYTH_OK ? nth > OWN : st == MYTH_ENOMEM && (forever || nth <= OWN);
            if (!is_right)
                fail_msg("allocation %llu fails%s: %d", (unsigned long long)nth, forever ? " for good" : "", (int)st);
            if (st == MYTH_OK)
                check_same(got, want);
            free_texts(got);
        }
    }
    free_texts(want);
}

static void a_cancel_ends_it(void **state)
{
    (void)state;
    const myth_cancel cancel = 1;
    myth_finder_text got[N_TEXT];
    for (global.n_threads = 1; global.n_threads < 4; global.n_threads++) {
        set_texts(got);
        assert_int_equal(myth_finder_all(finder, got, N_TEXT, &cancel, NULL), MYTH_OK);
        for (int i = 0; i < N_TEXT; i++)
            assert_false(got[i].is_found);
    }
}

static int begin(void **state)
{
    (void)state;
    char name[128], path[PATH_MAX];
    for (int i = 0; i < N_FILE; i++) {
        snprintf(name, sizeof(name), "tests/corpus/candidates/%s", files[i].name);
        FILE *f = fopen(check_path(path, sizeof(path), name), "rb");
        if (!f)
            return -1;
        bytes[i][fread(bytes[i], 1, FILE_BYTES - 1, f)] = '\0';
        fclose(f);
    }
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    cli.mem = mem;
    return myth_finder_open(&finder, &cli, false, 0, NULL);
}

static int end(void **state)
{
    (void)state;
    myth_finder_close(finder);
    return myth_mem_close(mem) != 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--chunk-worker") == 0)
        return myth_chunk_worker(&myth_candidates_reader); /* a child: the parsers' process is this program */
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(a_thread_without_memory_is_helped),
                                       cmocka_unit_test(a_cancel_ends_it)};
    return cmocka_run_group_tests(tests, begin, end);
}
