/* test_search.c - from a directory to hits: indexes a small project with look-alikes, searches it, and compares
 * each hit with the file. */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/retrieval.h"

#include <math.h>
#include <unistd.h>

static myth_mem *mem;
static myth_index *index_;
static myth_hits hits;

static void put_project(void)
{
    static const char *const dirs[] = {"p", "p/src", "p/tests", "p/vendor", "p/vendor/queue", "p/docs", "p/lib"};
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        files_mkdir(dirs[i]);
    files_text("p/src/queue.c", "#include \"queue.h\"\n\n/* Puts an item at the end of the queue. */\nint "
                                "queue_push(queue *q, item *it)\n{\n    q->tail->next = it;\n"
                                "    q->tail = it;\n    q->n_item++;\n    return 0;\n}\n\n/* Takes the first item "
                                "away. */\nitem *queue_pop(queue *q)\n{\n    item *it = q->head;\n"
                                "    q->head = it->next;\n    q->n_item--;\n    return it;\n}\n");
    files_text("p/src/worker.c", "#include \"queue.h\"\n\nstatic void run_worker(queue *q)\n{\n    item *it;\n    "
                                 "while ((it = queue_pop(q)))\n        handle(it);\n    queue_push(q, it);\n"
                                 "    queue_push(q, it);\n    queue_push(q, it);\n}\n");
    files_text(
        "p/src/socket.c",
        "/* Closes a socket: what is not yet sent is lost. */\nint socket_close(int fd)\n{\n    if (fd < 0)\n        "
        "return fail(\"no such socket\");\n"
        "    return close(fd);\n}\n\nint socket_open(const char *address)\n{\n    return connect_to(address);\n}\n");
    files_text("p/tests/test_queue.c",
               "/* Tests of the queue: push, pop, push, pop. */\nint test_queue_push(void)\n{\n    queue_push(q, a);\n "
               "   queue_push(q, b);\n    queue_push(q, c);\n"
               "    assert(queue_pop(q) == a);\n    return 0;\n}\n");
    files_text("p/vendor/queue/queue.c", "/* queue_push of somebody else: a queue, a queue_push, a queue_pop. */\nint "
                                         "queue_push_slow(queue *q) { return queue_push(q, 0); }\n");
    files_text("p/docs/queue.md", "# Queue\n\nThe queue has queue_push and queue_pop. Push puts an item at the end of "
                                  "the queue, pop takes it away.\n");
    files_text("p/lib/retry.py", "def retry_request(session, url, times=3):\n    \"\"\"Ask again when the server is "
                                 "busy.\"\"\"\n    for attempt in range(times):\n"
                                 "        response = session.get(url)\n        if response.status != 503:\n            "
                                 "return response\n    raise TimeoutError('to be or not to be')\n");
    char line[256] = "";
    for (int i = 0; i < 12; i++) {
        char name[32];
        snprintf(name, sizeof name, "p/lib/many%d.py", i);
        snprintf(line, sizeof line, "def setup_%d():\n    return %d\n\n\ndef common_setup():\n    return setup_%d()\n",
                 i, i, i);
        files_text(name, line);
    }
}

static void update(void)
{
    myth_index_stats stats;
    myth_error err = {0};
    if (myth_index_update(index_, &(myth_index_update_opts){0}, &stats, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static int begin(void **state)
{
    (void)state;
    static char path[512], root[512];
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    put_project();
    snprintf(root, sizeof root, "%s", files_path("p"));
    snprintf(path, sizeof path, "%s", files_path("index.db"));
    myth_index_opts o = {.root = root, .path = path, .worker_path = getenv("MYTHOS_BIN"), .n_threads = 2};
    if (myth_index_open(&index_, mem, &o, NULL) != MYTH_OK)
        return -1;
    update();
    return 0;
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

static void ask_opts(const myth_search_opts *o)
{
    myth_error err = {0};
    myth_hits_free(&hits);
    if (myth_search(&hits, index_, o, &err) != MYTH_OK)
        fail_msg("%.60s: %s", o->query, err.msg);
}
static void ask(const char *query) { ask_opts(&(myth_search_opts){.query = query, .k = 10, .with_text = true}); }

static double part(const myth_hit *h, const char *name)
{
    for (uint32_t i = 0; i < h->n_part; i++)
        if (strcmp(h->part[i].name, name) == 0)
            return h->part[i].value;
    fail_msg("no part %s", name);
    return 0;
}

static void expect_first(const char *query, const char *path)
{
    ask(query);
    if (hits.n_hit == 0 || strcmp(hits.hit[0].path, path))
        fail_msg("\"%s\": %s, expected %s", query, hits.n_hit ? hits.hit[0].path : "nothing", path);
}

static void finds_what_is_meant(void **state)
{
    (void)state;
    expect_first("queue_push", "src/queue.c"); /* not the callers, the tests, the copy, the manual */
    expect_first("queue_pop", "src/queue.c");
    expect_first("closing sockets", "src/socket.c");
    expect_first("socketClose", "src/socket.c");
    expect_first("ask the server again when it is busy", "lib/retry.py");
    expect_first("where is an item put at the end of the queue", "src/queue.c");
    expect_first("tests of queue push", "tests/test_queue.c");
    expect_first("documentation of the queue", "docs/queue.md");
    expect_first("run_worker", "src/worker.c");
}

/* Every hit is what the file has there, and its score is what its parts say. */
static void hits_are_true(void **state)
{
    (void)state;
    static const char *const query[] = {"queue",    "socket close",          "setup", "to be or not to be",
                                        "response", "queue_push of a worker"};
    for (size_t i = 0; i < sizeof query / sizeof *query; i++) {
        ask(query[i]);
        assert_true(hits.n_hit > 0);
        for (uint32_t k = 0; k < hits.n_hit; k++) {
            const myth_hit *h = &hits.hit[k];
            static char text[1 << 16], name[512];
            snprintf(name, sizeof name, "p/%s", h->path);
            FILE *f = fopen(files_path(name), "rb");
            assert_non_null(f);
            size_t n = fread(text, 1, sizeof text - 1, f);
            fclose(f);
            text[n] = '\0';
            char *at = text;
            for (uint32_t line = 1; line < h->line0; line++)
                at = strchr(at, '\n') + 1;
            assert_true(strncmp(at, h->text, h->n_text) == 0 && strlen(h->text) == h->n_text);
            uint32_t lines = h->line0 - 1;
            for (uint64_t c = 0; c < h->n_text; c++)
                lines += h->text[c] == '\n' || c + 1 == h->n_text;
            assert_true(h->line1 == lines || h->line1 + 1 == lines);
            assert_true(k == 0 || part(h, "decay") < 1 || h->score <= hits.hit[k - 1].score || strstr(h->path, "test"));
            double want = (part(h, "file_sum") + part(h, "symbol") + part(h, "stem")) * part(h, "kind") *
                          part(h, "share") * part(h, "decay");
            assert_true(fabs(h->score - want) <= 1e-12 * fabs(want));
        }
    }
}

/* Contentless FTS5 ranks only with detail=full: a table made otherwise gives every row the same. */
static void ranking_is_on(void **state)
{
    (void)state;
    ask("queue item");
    assert_true(hits.n_hit >= 3);
    assert_true(part(&hits.hit[0], "body") > 0);
    assert_true(hits.hit[0].score > hits.hit[hits.n_hit - 1].score);
}

static void by_file_is_one_of_each(void **state)
{
    (void)state;
    ask_opts(&(myth_search_opts){.query = "queue push pop setup", .k = 50, .by_file = true});
    for (uint32_t i = 0; i < hits.n_hit; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(hits.hit[i].path, hits.hit[k].path);
    assert_true(hits.n_hit >= 5);
    ask_opts(&(myth_search_opts){.query = "queue push pop setup", .k = 2, .by_file = true});
    assert_int_equal(hits.n_hit, 2);
    assert_int_equal(hits.hit[0].n_text, 0);
}

static void phrases(void **state)
{
    (void)state;
    ask("\"to be or not to be\"");
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, "lib/retry.py");
    ask_opts(&(myth_search_opts){.query = "no such socket", .k = 10, .mode = MYTH_SEARCH_PHRASE});
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, "src/socket.c");
    ask_opts(&(myth_search_opts){.query = "such no socket", .k = 10, .mode = MYTH_SEARCH_PHRASE});
    assert_int_equal(hits.n_hit, 0);
    ask("\"to be and not to be\""); /* the index has neither "or" nor "and": the text decides */
    assert_int_equal(hits.n_hit, 0);
    ask("\"an item at the end of the queue\"");
    assert_int_equal(hits.n_hit, 2);
}

static void definitions_of_a_name(void **state)
{
    (void)state;
    if (!getenv("MYTHOS_BIN")) {
        check_skip("MYTHOS_BIN names no command, so nothing parses");
    }
    ask_opts(&(myth_search_opts){.query = "queue_push", .k = 10, .mode = MYTH_SEARCH_SYMBOL});
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, "src/queue.c");
    assert_true(part(&hits.hit[0], "symbol") > 0);
    ask_opts(&(myth_search_opts){.query = "queue_pus", .k = 10, .mode = MYTH_SEARCH_SYMBOL});
    assert_int_equal(hits.n_hit, 0);
    ask("common_setup of setup_3"); /* twelve files define the one, nobody's; one the other */
    assert_string_equal(hits.hit[0].path, "lib/many3.py");
    for (uint32_t i = 1; i < hits.n_hit; i++)
        assert_true(part(&hits.hit[i], "symbol") == 0 || strcmp(hits.hit[i].path, "lib/many3.py") == 0);
}

static void sees_each_update(void **state)
{
    (void)state;
    files_text("p/src/fresh.c", "int zebra_crossing(void)\n{\n    return 7;\n}\n");
    update();
    expect_first("zebra crossing", "src/fresh.c");
    files_text("p/src/fresh.c", "int giraffe(void)\n{\n    return 8;\n}\n\nint other(void)\n{\n    return 9;\n}\n");
    update();
    ask("zebra");
    assert_int_equal(hits.n_hit, 0);
    expect_first("giraffe", "src/fresh.c");
    unlink(files_path("p/src/fresh.c"));
    update();
    ask("giraffe");
    assert_int_equal(hits.n_hit, 0);
}

/* The original wins over a copy, whatever the copy's path; of two chunks that are one, one is shown. */
static void copies(void **state)
{
    (void)state;
    static const char text[] = "int walrus_count(int ice)\n{\n    return ice * 4;\n}\n";
    files_text("p/src/walrus.c", text);
    files_text("p/vendor/queue/aaa.c", text);
    update();
    ask("walrus count");
    assert_int_equal(hits.n_hit, 1);
    assert_string_equal(hits.hit[0].path, "src/walrus.c");
    unlink(files_path("p/src/walrus.c"));
    unlink(files_path("p/vendor/queue/aaa.c"));
    update();
}

static void hostile_queries(void **state)
{
    (void)state;
    static const char *const query[] = {"queue NEAR push",
                                        "queue AND",
                                        "\"",
                                        "queue*",
                                        "body:queue",
                                        "-queue",
                                        "queue OR OR",
                                        "(queue",
                                        "^queue",
                                        "queue\xff",
                                        "'; DROP TABLE chunks; --",
                                        "\"queue"};
    for (size_t i = 0; i < sizeof query / sizeof *query; i++) {
        myth_status st = myth_search(&hits, index_, &(myth_search_opts){.query = query[i], .k = 5}, NULL);
        assert_true(st == MYTH_OK || st == MYTH_EARG);
        if (strstr(query[i], "queue") && !strchr(query[i], (char)0xff)) /* a byte that is no text is a letter */
            assert_true(hits.n_hit > 0);
        myth_hits_free(&hits);
    }
    ask_opts(&(myth_search_opts){.query = "queue\0\0push", .n_query = 11, .k = 5});
    assert_true(hits.n_hit > 0);
    enum { BIG = 1 << 20 };
    char *big = malloc(BIG);
    assert_non_null(big);
    uint64_t rng = check_seed();
    for (size_t i = 0; i < BIG; i++)
        big[i] = i % 6 == 5 ? ' ' : (char)('a' + check_below(&rng, 26));
    memcpy(big, "queue ", 6);
    ask_opts(&(myth_search_opts){.query = big, .n_query = BIG, .k = 5});
    assert_true(hits.n_hit > 0);
    assert_string_equal(hits.query_kind, "issue");
    free(big);
    myth_hits_free(&hits);
    myth_error err = {0};
    assert_int_equal(myth_search(&hits, index_, &(myth_search_opts){.query = "", .k = 5}, &err), MYTH_EARG);
    assert_int_equal(myth_search(&hits, index_, &(myth_search_opts){.query = "a", .k = 5, .weights = "x=1"}, &err),
                     MYTH_EARG);
}

static void no_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st =
            myth_search(&hits, index_, &(myth_search_opts){.query = "queue_push pop", .k = 5, .with_text = true}, NULL);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK)
            return;
        assert_int_equal(st, MYTH_ENOMEM);
        assert_null(hits.hit);
        assert_true(nth < 1000);
    }
}

/* A word that is only likely to be meant weighs less than one that is asked for. */
static void mended_words_weigh_less(void **state)
{
    (void)state;
    double body[2];
    for (int i = 0; i < 2; i++) {
        ask_opts(&(myth_search_opts){.query = "sesion", .k = 10, .weights = i ? "mended=1" : "mended=0.5"});
        assert_true(hits.n_hit > 0);
        assert_string_equal(hits.hit[0].path, "lib/retry.py");
        body[i] = part(&hits.hit[0], "body");
    }
    assert_true(body[0] > 0 && body[0] > 0.49 * body[1] && body[0] < 0.51 * body[1]);
}

/* The words of a report's first line together have at least their share of all weights, however long the rest is. */
static void a_title_has_its_share(void **state)
{
    (void)state;
    static const char report[] =
        "socket_close loses data\n\nSteps to reproduce: run the worker, then the queue. A test with queue_push and "
        "queue_pop is in tests, and setup is in many files; the server is busy, the response has a status, and the "
        "item at the end of the tail is what handle gets. Next comes the address of the head, an attempt of the "
        "session with its times, the url and the manual of somebody else.\n";
    double share[2];
    for (int i = 0; i < 2; i++) {
        ask_opts(&(myth_search_opts){.query = report, .k = 10, .weights = i ? "title=0.9" : "title=0"});
        double sum = 0, top = 0;
        for (int g = 0; g < MYTH_MATCH_GROUPS; g++) {
            sum += hits.weight[g];
            top += g < 3 ? hits.weight[g] : 0; /* socket_close, and its neighbours of the first line */
        }
        assert_true(sum > 0);
        share[i] = top / sum;
    }
    print_message("share of the weightiest three: %.2f, with a title's share of 0.9 %.2f\n", share[0], share[1]);
    assert_true(share[0] < 0.5 && share[1] > 0.8);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, over)
    const struct CMUnitTest tests[] = {
        T(finds_what_is_meant),     T(hits_are_true),         T(ranking_is_on), T(by_file_is_one_of_each), T(phrases),
        T(definitions_of_a_name),   T(sees_each_update),      T(copies),        T(hostile_queries),        T(no_memory),
        T(mended_words_weigh_less), T(a_title_has_its_share),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
