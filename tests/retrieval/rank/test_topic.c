/* test_topic.c - a project with look-alikes is asked: what a question is about comes, what only has its words does not.
 */
#include "tests/support/check.h"
#include "tests/support/files.h"
#include "retrieval/retrieval.h"

static myth_mem *mem;
static myth_index *index_;
static myth_hits hits;
static uint32_t n_taken;

static void put_project(void)
{
    static const char *const dirs[] = {"p", "p/app", "p/app/tests", "p/legacy", "p/src", "p/db", "p/other"};
    char name[64], text[512];
    for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
        files_mkdir(dirs[i]);
    files_text("p/app/tickets.py",
               "\"\"\"Parking tickets: how they are issued and redeemed.\"\"\"\nimport time\n\n\ndef "
               "issue_ticket(store, plate):\n    \"\"\"Issues a parking ticket.\"\"\"\n"
               "    ticket = {'plate': plate, 'at': time.time()}\n    store.put_ticket(ticket)\n    return "
               "ticket\n\n\ndef redeem_ticket(store, ticket):\n"
               "    \"\"\"Redeems a parking ticket that was issued.\"\"\"\n    return store.take_ticket(ticket)\n");
    files_text(
        "p/app/tests/test_tickets.py",
        "from app.tickets import issue_ticket, redeem_ticket\n\n\ndef test_parking_ticket_is_issued(store):\n    "
        "assert issue_ticket(store, 'A')\n\n\n"
        "def test_parking_ticket_is_redeemed(store):\n    assert redeem_ticket(store, issue_ticket(store, 'A'))\n");
    files_text("p/legacy/tickets.py",
               "\"\"\"Parking tickets: how they are issued and redeemed, before.\"\"\"\n\n\ndef "
               "issue_ticket_v1(plate):\n    \"\"\"Issues a parking ticket.\"\"\"\n    return {'plate': plate}\n\n\n"
               "def redeem_ticket_v1(ticket):\n    \"\"\"Redeems a parking ticket that was issued.\"\"\"\n    return "
               "ticket\n");
    files_text("p/app/support.py",
               "\"\"\"Support tickets of customers.\"\"\"\n\n\ndef open_ticket(text):\n    \"\"\"Opens a support "
               "ticket; issues of parking are for somebody else.\"\"\"\n    return {'text': text}\n");
    files_text("p/db/report.py",
               "\"\"\"Reports.\"\"\"\n\n\ndef weekly(cursor, where):\n    \"\"\"A raw SQL statement, put together by "
               "hand.\"\"\"\n    return cursor.execute('SELECT n FROM weeks WHERE ' + where)\n");
    files_text("p/db/schema.py", "\"\"\"The schema is written in SQL.\"\"\"\nTABLES = ['weeks', 'plates']\n\n\ndef "
                                 "tables():\n    return TABLES\n");
    files_text("p/db/bytes.py",
               "\"\"\"Raw bytes of a plate's picture.\"\"\"\n\n\ndef picture(raw):\n    return bytes(raw)\n");
    files_text("p/src/barrier.h", "/* barrier.h - the barrier of a car park: when it is lifted, and when it comes down "
                                  "on its own. */\nint barrier_lift(int gate);\n");
    files_text("p/src/barrier.c", "#include \"barrier.h\"\n\nstatic int motor(int gate, int up)\n{\n    return gate + "
                                  "up;\n}\n\nint barrier_lift(int gate)\n{\n    if (gate < 0)\n        return -1;\n"
                                  "    return motor(gate, 1);\n}\n");
    files_text("p/app/fines.py",
               "\"\"\"Fines of drivers: who may waive one.\"\"\"\nfrom app.waivers import check\nfrom app.printer "
               "import line\n\n\ndef waive_fine(driver, fine):\n"
               "    \"\"\"Waives a fine of a driver.\"\"\"\n    check(driver, 'waive')\n    return line(fine)\n");
    files_text("p/app/waivers.py", "\"\"\"What drivers may have waived.\"\"\"\n\n\ndef check(someone, what):\n    if "
                                   "what not in someone.rights:\n        raise PermissionError(what)\n");
    files_text("p/app/printer.py", "\"\"\"What drivers are told when it is waived.\"\"\"\n\n\ndef line(what):\n    if "
                                   "what:\n        print(what, 'waive')\n    return what\n");
    for (int i = 0; i < 24; i++) {
        snprintf(name, sizeof(name), "p/other/part%d.py", i);
        snprintf(text, sizeof(text),
                 "\"\"\"Part %d of the car park.\"\"\"\n\n\ndef level_%d(cars):\n    \"\"\"Counts the cars of level "
                 "%d; tickets are not its concern.\"\"\"\n    return len(cars) + %d\n",
                 i, i, i, i);
        files_text(name, text);
    }
}

static int begin(void **state)
{
    (void)state;
    static char path[512], root[512];
    myth_index_stats stats;
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    put_project();
    snprintf(root, sizeof(root), "%s", files_path("p"));
    snprintf(path, sizeof(path), "%s", files_path("index.db"));
    myth_index_opts o = {.root = root, .path = path, .worker_path = getenv("MYTHOS_BIN"), .n_threads = 2};
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

static double part(const myth_hit *h, const char *name)
{
    for (uint32_t i = 0; i < h->n_part; i++)
        if (strcmp(h->part[i].name, name) == 0)
            return h->part[i].value;
    fail_msg("no part %s", name);
    return 0;
}

static void ask(const char *question, uint32_t most)
{
    myth_error err = {0};
    myth_hits_free(&hits);
    if (myth_topic(&hits, &n_taken, index_, &(myth_search_opts){.query = question}, most, &err) != MYTH_OK)
        fail_msg("%.80s: %s", question, err.msg);
    assert_true(n_taken <= most && n_taken <= hits.n_hit && hits.n_hit <= MYTH_TOPIC_KEPT);
    for (uint32_t i = 0; i < hits.n_hit; i++) {
        if (i > 0 && i < n_taken)
            assert_true(hits.hit[i].score <= hits.hit[i - 1].score);
        for (uint32_t k = 0; k < i; k++)
            assert_true(hits.hit[i].chunk_id != hits.hit[k].chunk_id);
        assert_true(part(&hits.hit[i], "cover") <= 1 + 1e-9 && part(&hits.hit[i], "near") <= 1);
    }
}

static uint32_t n_of(const char *path)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_taken; i++)
        n += strcmp(hits.hit[i].path, path) == 0;
    return n;
}

static uint32_t n_files(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_taken; i++) {
        uint32_t k = 0;
        while (strcmp(hits.hit[k].path, hits.hit[i].path) != 0)
            k++;
        n += k == i;
    }
    return n;
}

static void expect(const char *question, const char *first, uint32_t files)
{
    ask(question, MYTH_TOPIC_MAX);
    if (n_taken == 0 || strcmp(hits.hit[0].path, first) != 0 || n_files() > files)
        fail_msg("\"%s\": %u chunks of %u files, first %s; expected %s first of at most %u", question, n_taken,
                 n_files(), n_taken ? hits.hit[0].path : "none", first, files);
}

/* The words of the question are in many files; together they are in one. */
static void one_file_answers(void **state)
{
    (void)state;
    expect("Which code runs raw SQL statements?", "db/report.py", 1);
    expect("where is a raw SQL statement put together", "db/report.py", 1);
    assert_true(n_of("db/schema.py") == 0 && n_of("db/bytes.py") == 0);
    assert_true(n_taken < MYTH_TOPIC_MIN); /* not filled up with what it is not about */
}

static void a_source_and_its_tests(void **state)
{
    (void)state;
    expect("How are parking tickets issued and redeemed?", "app/tickets.py", 3);
    assert_true(n_of("app/tickets.py") > 0 && n_of("app/tests/test_tickets.py") > 0);
    assert_true(n_of("legacy/tickets.py") == 0 && n_of("other/part3.py") == 0);
    expect("tests of issued parking tickets", "app/tests/test_tickets.py", 3);
    ask("How were legacy parking tickets issued and redeemed?", MYTH_TOPIC_MAX);
    assert_true(n_of("legacy/tickets.py") > 0);
}

/* A file with half of the best one's evidence is out; where no file has all words of the question, less is enough. */
static void cut_where_evidence_falls_off(void **state)
{
    (void)state;
    ask("How are parking tickets issued?", MYTH_TOPIC_MAX); /* 0.485 of the best, which has all words */
    assert_true(n_of("app/tickets.py") > 0 && n_of("app/support.py") == 0);
    ask("a raw SQL statement and the schema", MYTH_TOPIC_MAX); /* 0.39 of the best, which has three quarters */
    assert_true(n_of("db/schema.py") > 0 && n_of("db/report.py") > 0 && n_of("db/bytes.py") == 0);
    ask("reports of raw bytes", MYTH_TOPIC_MAX); /* 0.47 of the best, which has two thirds */
    assert_true(n_of("db/bytes.py") > 0 && n_of("db/report.py") > 0);
}

/* The header has the words of the question, the source enough of them. */
static void a_header_and_its_source(void **state)
{
    (void)state;
    expect("When is the barrier of a car park lifted?", "src/barrier.h", 2);
    assert_true(n_of("src/barrier.c") > 0);
}

/* What a chosen file imports comes along when its name says so, with less than half of the best file's evidence. What
 * is imported under another name stays out. */
static void what_does_the_work(void **state)
{
    (void)state;
    if (!getenv("MYTHOS_BIN")) {
        check_skip("MYTHOS_BIN names no command, so nothing parses");
    }
    expect("How are fines of drivers waived, and who has waivers?", "app/fines.py", 2);
    assert_true(n_of("app/waivers.py") > 0 && n_of("app/printer.py") == 0);
}

/* A word in other forms, and the question's own words, which are nowhere else. */
static void words_of_a_question(void **state)
{
    (void)state;
    ask("Where is the redemption of a parking ticket handled?", MYTH_TOPIC_MAX);
    assert_true(n_of("app/tickets.py") > 0);
    ask("Which file handles the lifting of the barrier?", MYTH_TOPIC_MAX);
    assert_true(n_of("src/barrier.c") > 0 && n_of("src/barrier.h") > 0);
}

static void no_more_than_is_wanted(void **state)
{
    (void)state;
    for (uint32_t most = MYTH_TOPIC_MIN; most <= MYTH_TOPIC_MAX; most++) {
        ask("tickets and cars of a level", most);
        assert_true(n_taken > 0);
    }
    ask("zzqqyy", MYTH_TOPIC_MAX);
    assert_int_equal(n_taken, 0);
    myth_hits_free(&hits);
    myth_error err = {0};
    assert_int_equal(
        myth_topic(&hits, &n_taken, index_, &(myth_search_opts){.query = "cars", .weights = "nonsense=1"}, 5, &err),
        MYTH_EARG);
    assert_non_null(strstr(err.msg, "nonsense"));
}

static void the_same_twice(void **state)
{
    (void)state;
    static const char *const question[] = {"How are parking tickets issued?", "cars of a level", "issue_ticket",
                                           "\"a support ticket\""};
    for (size_t q = 0; q < sizeof(question) / sizeof(*question); q++) {
        int64_t id[MYTH_TOPIC_KEPT];
        ask(question[q], MYTH_TOPIC_MAX);
        uint32_t n = hits.n_hit, taken = n_taken;
        assert_true(taken > 0);
        for (uint32_t i = 0; i < n; i++)
            id[i] = hits.hit[i].chunk_id;
        ask(question[q], MYTH_TOPIC_MAX);
        assert_true(n == hits.n_hit && taken == n_taken);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(id[i], hits.hit[i].chunk_id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_file_answers, over),
        cmocka_unit_test_teardown(a_source_and_its_tests, over),
        cmocka_unit_test_teardown(cut_where_evidence_falls_off, over),
        cmocka_unit_test_teardown(a_header_and_its_source, over),
        cmocka_unit_test_teardown(what_does_the_work, over),
        cmocka_unit_test_teardown(words_of_a_question, over),
        cmocka_unit_test_teardown(no_more_than_is_wanted, over),
        cmocka_unit_test_teardown(the_same_twice, over),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
