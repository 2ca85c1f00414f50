/* test_stem.c - which names of files a question repeats, and what that does to an order of files. */
#include "tests/support/check.h"

#include "retrieval/rank/rank.h"
#include "retrieval/rank/stem.h"

#include <math.h>

static myth_mem *mem;

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

/* The share of a name in a question whose words all weigh the same. */
static double share(const char *question, const char *path)
{
    double weight[MYTH_QUERY_TERMS];
    myth_weights_search w;
    myth_query q;
    for (size_t i = 0; i < MYTH_QUERY_TERMS; i++)
        weight[i] = 1;
    assert_int_equal(myth_weights_search_set(&w, NULL, NULL), MYTH_OK);
    assert_int_equal(myth_query_parse(&q, mem, question, strlen(question), &w, NULL), MYTH_OK);
    const double s = myth_stem_share(path, &q, weight);
    myth_query_free(&q);
    return s;
}

static void expect(const char *question, const char *path, double want)
{
    const double s = share(question, path);
    if (!(fabs(s - want) < 1e-9))
        fail_msg("%s in \"%s\": %g, expected %g", path, question, s, want);
}

static void a_name_is_matched_by_words_and_stems(void **state)
{
    (void)state;
    expect("router cookie socket kitchen", "src/router.ts", sqrt(1.0 / 4));
    expect("routers cookie socket kitchen", "src/router.ts", sqrt(1.0 / 4));
    expect("router cookie socket kitchen", "src/RouterCookie.java", sqrt(2.0 / 4));
    expect("router cookie socket kitchen", "src/router_window.rb", 0.5 * sqrt(1.0 / 4)); /* half of the name */
    expect("router cookie socket kitchen", "src/window.ts", 0);
    expect("router cookie socket kitchen", "router/window.ts", 0); /* a directory is not the name */
    expect("router cookie socket kitchen", "src/router.spec.ts", sqrt(1.0 / 4));
}

static void words_in_a_row_are_a_name_written_as_one(void **state)
{
    (void)state;
    expect("web socket cookie kitchen", "src/websocket.ts", sqrt(2.0 / 4));
    expect("socket cookie web kitchen", "src/websocket.ts", 0);
    expect("web socket cookie kitchen", "src/websocketed.ts", 0);
}

static void some_files_stand_for_their_directory(void **state)
{
    (void)state;
    expect("router cookie socket kitchen", "src/router/index.ts", sqrt(1.0 / 4));
    expect("router cookie socket kitchen", "router/mod.rs", sqrt(1.0 / 4));
    expect("router cookie socket kitchen", "src/router/__init__.py", sqrt(1.0 / 4));
    expect("router cookie socket kitchen", "index.ts", 0);
}

static void names_without_words(void **state)
{
    (void)state;
    expect("router cookie", "", 0);
    expect("router cookie", "src/", 0);
    expect("router cookie", ".router", sqrt(1.0 / 2));
    expect("router cookie", "src/...", 0);
    expect("router cookie", "/index", 0);
}

static void expect_scope(const char *report, const char *path, double want)
{
    myth_weights_search w;
    myth_query q;
    assert_int_equal(myth_weights_search_set(&w, NULL, NULL), MYTH_OK);
    assert_int_equal(myth_query_parse(&q, mem, report, strlen(report), &w, NULL), MYTH_OK);
    const double s = myth_scope_share(path, &q);
    myth_query_free(&q);
    if (!(fabs(s - want) < 1e-9))
        fail_msg("%s in \"%s\": %g, expected %g", path, report, s, want);
}

static void a_scope_is_the_beginning_of_a_name(void **state)
{
    (void)state;
    expect_scope("mail: fix a leak", "src/mail.c", 1);
    expect_scope("mails: fix a leak", "src/mail.c", 1);
    expect_scope("repo: fix a leak", "src/repository.c", 1);
    expect_scope("mail: fix a leak", "src/mail_queue.c", 0.75); /* half of the name is something else */
    expect_scope("mail,net: fix a leak", "src/net.c", 0.5);     /* half of the scope is something else */
    expect_scope("mail queue: fix a leak", "src/ngx_mail_queue.c", 0.5 + 0.5 * 2 / 3);
    expect_scope("mail: fix a leak", "mail/net.c", 0); /* a directory is not the name */
    expect_scope("mail: fix a leak", "src/leak.c", 0);
    expect_scope("ui: fix a leak", "src/uikit.c", 0); /* too short for a beginning */
    expect_scope("fix a leak in mail: it grows", "src/mail.c", 0);
    expect_scope("mail: fix a leak", "", 0);
}

/* The bonus of the name puts a file first whose chunks match a little less, and a test gets none. */
static void the_named_file_comes_first(void **state)
{
    (void)state;
    myth_weights_search w;
    assert_int_equal(myth_weights_search_set(&w, NULL, NULL), MYTH_OK);
    for (int is_test = 0; is_test < 2; is_test++) {
        myth_query q = {.mem = mem, .kind = MYTH_QUERY_PROSE};
        myth_rank_file file[2] = {
            {.path = "server.ts", .kinds = 1u << MYTH_KIND_SOURCE},
            {.path = "router.ts", .kinds = 1u << (is_test ? MYTH_KIND_TEST : MYTH_KIND_SOURCE), .stem_share = 0.5}};
        myth_rank_chunk chunk[2] = {{.id = 1, .file = 0, .match = 1}, {.id = 2, .file = 1, .match = 0.9}};
        uint32_t order[2], n;
        assert_int_equal(myth_rank(order, &n, file, 2, chunk, 2, &q, &w, 2, false, NULL), MYTH_OK);
        assert_int_equal(order[0], is_test ? 0 : 1);
        assert_true(is_test ? file[1].stem == 0 : fabs(file[1].stem - w.stem * 0.5) < 1e-12);
    }
}

static void the_file_of_the_scope_comes_first(void **state)
{
    (void)state;
    myth_weights_search w;
    assert_int_equal(myth_weights_search_set(&w, NULL, NULL), MYTH_OK);
    for (int is_test = 0; is_test < 2; is_test++) {
        myth_query q = {.mem = mem, .kind = MYTH_QUERY_ISSUE};
        myth_rank_file file[2] = {
            {.path = "net.c", .kinds = 1u << MYTH_KIND_SOURCE},
            {.path = "mail.c", .kinds = 1u << (is_test ? MYTH_KIND_TEST : MYTH_KIND_SOURCE), .scope_share = 1}};
        myth_rank_chunk chunk[2] = {{.id = 1, .file = 0, .match = 1}, {.id = 2, .file = 1, .match = 0.9}};
        uint32_t order[2], n;
        assert_int_equal(myth_rank(order, &n, file, 2, chunk, 2, &q, &w, 2, true, NULL), MYTH_OK);
        assert_int_equal(order[0], is_test ? 0 : 1);
        assert_true(is_test ? file[1].stem == 0 : fabs(file[1].stem - w.scope) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_is_the_beginning_of_a_name),
        cmocka_unit_test(the_file_of_the_scope_comes_first),
        cmocka_unit_test(a_name_is_matched_by_words_and_stems),
        cmocka_unit_test(words_in_a_row_are_a_name_written_as_one),
        cmocka_unit_test(some_files_stand_for_their_directory),
        cmocka_unit_test(names_without_words),
        cmocka_unit_test(the_named_file_comes_first),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
