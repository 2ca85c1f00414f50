/* test_rank.c - every rule of rank.h by itself: a made-up list is ordered with the rule, which must change the
 * order, and without it. */
#include "tests/support/check.h"
#include "retrieval/rank/rank.h"
#include "retrieval/scan/scan.h"

#include <math.h>

enum { MAX = 64 };

typedef struct {
    const char *path;
    double match;
    uint32_t line;
    uint64_t content;
    double symbol;
} made;

static myth_mem *mem;
static myth_weights_search w;
static myth_query q;
static myth_rank_file file[MAX];
static myth_rank_chunk chunk[MAX];
static uint32_t n_file, n_chunk, order[MAX], n_order;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static int fresh(void **state)
{
    (void)state;
    q = (myth_query){.mem = mem, .kind = MYTH_QUERY_PROSE};
    return myth_weights_search_set(&w, NULL, NULL) == MYTH_OK ? 0 : -1;
}

static void rank(const made *m, uint32_t n, uint32_t k, bool by_file)
{
    n_file = 0;
    n_chunk = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = 0;
        while (f < n_file && strcmp(file[f].path, m[i].path))
            f++;
        if (f == n_file)
            file[n_file++] = (myth_rank_file){
                .path = m[i].path,
                .kinds = myth_file_kinds(m[i].path, myth_detect_test(m[i].path), false),
            };
        file[f].symbol_share += m[i].symbol;
        chunk[i] = (myth_rank_chunk){
            .id = (int64_t)i + 1,
            .file = f,
            .line = m[i].line,
            .content = m[i].content,
            .match = m[i].match,
            .symbol_share = m[i].symbol,
        };
    }
    assert_int_equal(myth_rank(order, &n_order, file, n_file, chunk, n_chunk, &q, &w, k, by_file, NULL), MYTH_OK);
    for (uint32_t i = 1; i < n_order; i++) /* the list falls, but for a test's own place at its end */
        assert_true(i + 1 == n_order || chunk[order[i - 1]].score >= chunk[order[i]].score);
    for (uint32_t i = 0; i < n_chunk; i++) { /* and every score is what its parts say */
        const myth_rank_file *f = &file[chunk[i].file];
        assert_true(fabs(chunk[i].score - (f->sum + f->symbol + f->stem) * f->kind * chunk[i].share * chunk[i].decay) <
                    1e-12);
    }
}
#define RANK(k, by_file, ...) \
    rank((const made[]){__VA_ARGS__}, sizeof((const made[]){__VA_ARGS__}) / sizeof(made), k, by_file)

/* The i-th hit is the n-th row of the list, from 0. */
static void expect(uint32_t i, uint32_t n)
{
    if (i >= n_order || order[i] != n)
        fail_msg("place %u: row %d, expected %u", i, i < n_order ? (int)order[i] : -1, n);
}

static void best_first_ties_by_path_and_line(void **state)
{
    (void)state;
    RANK(10, false, {"b.c", 2, 1, 0, 0}, {"a.c", 3, 1, 0, 0}, {"c.c", 1, 1, 0, 0});
    expect(0, 1);
    expect(1, 0);
    expect(2, 2);
    RANK(10, true, {"b.c", 2, 1, 0, 0}, {"a.c", 2, 9, 0, 0}, {"a.c", 2, 4, 0, 0});
    expect(0, 2);
    expect(1, 0);
    assert_int_equal(n_order, 2);
    RANK(1, false, {"b.c", 2, 1, 0, 0}, {"a.c", 3, 1, 0, 0});
    assert_int_equal(n_order, 1);
}

static void four_chunks_of_a_file_add_up(void **state)
{
    (void)state;
    RANK(10, true, {"one.c", 3, 1, 0, 0}, {"many.c", 2, 1, 0, 0}, {"many.c", 2, 2, 0, 0}, {"many.c", 2, 3, 0, 0},
         {"many.c", 2, 4, 0, 0}, {"many.c", 2, 5, 0, 0});
    expect(0, 1);
    assert_true(file[1].sum == 2 + 1 + 0.5 + 0.25); /* the fifth is not counted */
    w.file_chunks = 1;
    RANK(10, true, {"one.c", 3, 1, 0, 0}, {"many.c", 2, 1, 0, 0}, {"many.c", 2, 2, 0, 0});
    expect(0, 0);
}

static void the_definition_wins(void **state)
{
    (void)state;
    RANK(10, false, {"user.c", 1.1, 1, 0, 0}, {"home.c", 1, 1, 0, 1});
    expect(0, 1);
    assert_true(fabs(file[1].symbol - w.symbol * 1.1) < 1e-12);
    RANK(10, false, {"user.c", 1.1, 1, 0, 0}, {"home.c", 1, 1, 0, 0.5}); /* two define it */
    expect(0, 0);
    w.symbol = 0;
    RANK(10, false, {"user.c", 1.1, 1, 0, 0}, {"home.c", 1, 1, 0, 1});
    expect(0, 0);
}

static void a_name_as_the_query_is_its_definition(void **state)
{
    (void)state;
    RANK(10, false, {"user.c", 2, 1, 0, 0}, {"home.c", 0, 1, 0, 1});
    expect(0, 0);
    q.kind = MYTH_QUERY_SYMBOL;
    RANK(10, false, {"user.c", 2, 1, 0, 0}, {"home.c", 0, 1, 0, 1});
    expect(0, 1);
}

static void within_a_file_the_defining_chunk(void **state)
{
    (void)state;
    RANK(10, true, {"a.c", 1.2, 1, 0, 0}, {"a.c", 1, 50, 0, 1});
    expect(0, 1);
}

static void a_test_gets_no_symbol_bonus(void **state)
{
    (void)state;
    RANK(10, true, {"tests/test_a.c", 1, 1, 0, 1});
    assert_true(file[0].symbol == 0);
    q.wants_tests = true;
    RANK(10, true, {"tests/test_a.c", 1, 1, 0, 1});
    assert_true(file[0].symbol > 0);
}

static void kinds_step_back(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t kind;
    } row[] = {
        {"tests/test_parse.py", MYTH_KIND_TEST},
        {"src/parser_test.go", MYTH_KIND_TEST},
        {"examples/server.c", MYTH_KIND_EXAMPLE},
        {"deps/zlib/inflate.c", MYTH_KIND_VENDORED},
        {"third_party/x/y.c", MYTH_KIND_VENDORED},
        {"pkg/_vendor/six/a.py", MYTH_KIND_VENDORED},
        {"src/compat.py", MYTH_KIND_VENDORED},
        {"sqlite-amalgamation.c", MYTH_KIND_VENDORED},
        {"single_include/a/json.hpp", MYTH_KIND_VENDORED},
        {"docs_src/routes/first.py", MYTH_KIND_DOCUMENT},
        {"docs/conf.py", MYTH_KIND_DOCUMENT},
        {"CHANGES.rst", MYTH_KIND_DOCUMENT},
        {"ChangeLog", MYTH_KIND_DOCUMENT},
        {"i18n/de.po", MYTH_KIND_DATA},
        {"Cargo.lock", MYTH_KIND_DATA},
        {"legacy/a.c", MYTH_KIND_LEGACY},
        {"src/api_deprecated/a.c", MYTH_KIND_LEGACY},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!(myth_file_kinds(row[i].path, myth_detect_test(row[i].path), false) >> row[i].kind & 1))
            fail_msg("%s is no %s", row[i].path, myth_file_kind_name((myth_file_kind)row[i].kind));
        RANK(10, true, {row[i].path, 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
        expect(0, 1);
    }
    static const char *const source[] = {"src/parse.c",      "src/history.c",    "lib/news.py",  "contrib/admin.py",
                                         "latest/protest.c", "src/compatible.c", "vendoring.py", "docs.c",
                                         "src/legacy.c",     "threshold/fold.c"};
    for (size_t i = 0; i < sizeof source / sizeof *source; i++)
        if (myth_file_kinds(source[i], myth_detect_test(source[i]), false) != 1u << MYTH_KIND_SOURCE)
            fail_msg("%s is source", source[i]);
    assert_int_equal(myth_file_kinds("a.c", false, true), 1u << MYTH_KIND_GENERATED);
}

static void newer_versions_of_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *other;
        bool is_older;
    } row[] = {
        {"lib/v3/a.py", "lib/v4/a.py", true},  {"lib/v4/a.py", "lib/v3/a.py", false},
        {"lib/v3/a.py", "lib/v12/a.py", true}, {"lib/v3/a.py", "lib/v4/b.py", false}, /* other files live beside it */
        {"lib/v1/a.py", "lib/a.py", true},     {"lib/a.py", "lib/v1/a.py", false},
        {"lib/v1/x/a.py", "lib/x/a.py", true}, {"lib/v1/a.py", "src/v2/a.py", false},
        {"lib/v1/a.py", "lib/v1/a.py", false}, {"lib/vi/a.py", "lib/a.py", false},
        {"lib/v/a.py", "lib/a.py", false},     {"V1/a.py", "V2/a.py", true},
        {"lib/v1.py", "lib/v2.py", false},     {"lib/v123456/a.py", "lib/a.py", false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (myth_path_is_older(row[i].path, row[i].other) != row[i].is_older)
            fail_msg("%s and %s", row[i].path, row[i].other);
    size_t n = 0;
    const char *path = "a/v12/b/v2/c.py";
    assert_ptr_equal(myth_path_version(path, &n), path + 2);
    assert_int_equal(n, 3);
    assert_null(myth_path_version("a/b.py", &n));
}

static void unless_they_are_asked_for(void **state)
{
    (void)state;
    q.wants_tests = true;
    RANK(10, true, {"tests/test_parse.py", 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
    expect(0, 0);
    q.wants_tests = false;
    q.wants_docs = true;
    RANK(10, true, {"README.md", 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
    expect(0, 0);
    RANK(10, true, {"tests/test_parse.py", 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
    expect(0, 1);
    q.wants_docs = false;
    q.wants_vendored = true;
    RANK(10, true, {"vendor/a.c", 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
    expect(0, 0);
    q.wants_vendored = false;
    q.wants_examples = true;
    RANK(10, true, {"examples/a.c", 1.5, 1, 0, 0}, {"src/main.c", 1, 1, 0, 0});
    expect(0, 0);
}

static void a_vendored_copy_does_not_outrank(void **state)
{
    (void)state;
    RANK(10, false, {"vendor/lib/a.c", 2, 1, 77, 0}, {"src/a.c", 2, 1, 77, 0}, {"src/b.c", 1, 1, 78, 0});
    expect(0, 1);
    expect(1, 2);
    assert_int_equal(n_order, 2);                                  /* the copy is not shown at all */
    RANK(10, false, {"a/x.c", 2, 1, 0, 0}, {"b/x.c", 2, 1, 0, 0}); /* unknown content is no content */
    assert_int_equal(n_order, 2);
}

static void of_equal_files_one_stays(void **state)
{
    (void)state;
    made m[] = {{"lib/a.c", 2, 1, 1, 0}, {"copy/a.c", 2.1, 1, 2, 0}, {"lib/a.c", 1, 9, 3, 0}};
    rank(m, 3, 10, true);
    assert_int_equal(n_order, 2);
    file[0].content = file[1].content = 5;
    assert_int_equal(myth_rank(order, &n_order, file, n_file, chunk, n_chunk, &q, &w, 10, true, NULL), MYTH_OK);
    assert_int_equal(n_order, 1);
}

static void further_chunks_of_a_file_decay(void **state)
{
    (void)state;
    RANK(10, false, {"a.c", 1, 1, 0, 0}, {"a.c", 0.9, 2, 0, 0}, {"b.c", 0.9, 1, 0, 0});
    expect(0, 0);
    expect(1, 2);
    expect(2, 1);
    w.same_file = 1;
    RANK(10, false, {"a.c", 1, 1, 0, 0}, {"a.c", 0.9, 2, 0, 0}, {"b.c", 0.9, 1, 0, 0});
    expect(1, 1);
}

static void a_test_keeps_a_place(void **state)
{
    (void)state;
    made m[12];
    static char path[12][8];
    for (uint32_t i = 0; i < 11; i++) {
        snprintf(path[i], sizeof path[i], "f%02u.c", i);
        m[i] = (made){path[i], 20 - i, 1, 0, 0};
    }
    m[11] = (made){"tests/test_f.c", 5, 1, 0, 0};
    rank(m, 12, 10, false);
    expect(8, 8);
    expect(9, 11);
    rank(m, 12, 10, true); /* a list of files is for finding the place */
    expect(9, 9);
    rank(m, 12, 5, false);
    expect(4, 4);
    w.test_quota = 0;
    rank(m, 12, 10, false);
    expect(9, 9);
}

/* The order of what comes in does not matter. */
static void deterministic(void **state)
{
    (void)state;
    enum { N = 40 };
    uint64_t rng = check_seed();
    static char path[N][16];
    made m[N];
    for (uint32_t i = 0; i < N; i++) {
        snprintf(path[i], sizeof path[i], "d%u/f%u.c", check_below(&rng, 3), check_below(&rng, 4));
        m[i] = (made){path[i], check_below(&rng, 4), i, 1 + check_below(&rng, 30), check_below(&rng, 2)};
    }
    uint32_t first[N], n_first = 0;
    for (int round = 0; round < 200; round++) {
        rank(m, N, 15, false);
        for (uint32_t i = 0; i < n_order && round == 0; i++)
            first[n_first++] = chunk[order[i]].line;
        assert_int_equal(n_order, n_first);
        for (uint32_t i = 0; i < n_order; i++)
            assert_int_equal(chunk[order[i]].line, first[i]);
        for (uint32_t i = N - 1; i > 0; i--) {
            uint32_t k = check_below(&rng, i + 1);
            made t = m[i];
            m[i] = m[k];
            m[k] = t;
        }
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        T(best_first_ties_by_path_and_line),
        T(four_chunks_of_a_file_add_up),
        T(the_definition_wins),
        T(a_name_as_the_query_is_its_definition),
        T(within_a_file_the_defining_chunk),
        T(a_test_gets_no_symbol_bonus),
        T(kinds_step_back),
        T(newer_versions_of_a_file),
        T(unless_they_are_asked_for),
        T(a_vendored_copy_does_not_outrank),
        T(of_equal_files_one_stays),
        T(further_chunks_of_a_file_decay),
        T(a_test_keeps_a_place),
        T(deterministic),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
