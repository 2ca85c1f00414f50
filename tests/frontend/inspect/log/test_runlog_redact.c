/* test_runlog_redact.c - what the run log keeps of an answer: evidence that shares six bytes with a secret of the
 * inspected file is hidden as a whole, other evidence and paths stay byte for byte. */
#include "tests/support/check.h"

#include "frontend/inspect/log/runlog_redact.h"

static const char code[] = "user = \"somebody\"\n"
                           "password = \"tr0ub4dor-and-3\"\n"
                           "query = \"SELECT 1\"\n";

typedef struct {
    myth_mem *mem;
    myth_source src;
    myth_redactor redactor;
} bed;

static void bed_open(bed *b)
{
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_source_open(&b->src, b->mem, "src/tr0ub4dor-and-3.py", (const unsigned char *)code,
                                      sizeof(code) - 1, NULL),
                     MYTH_OK);
    myth_redactor_start(&b->redactor, b->mem);
    assert_int_equal(myth_redactor_add(&b->redactor, &b->src, NULL), MYTH_OK);
    assert_int_equal(myth_redactor_count(&b->redactor), 1);
}

static void bed_close(bed *b)
{
    myth_redactor_close(&b->redactor);
    myth_source_close(&b->src);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

static void evidence_that_is_a_piece_of_a_secret(void **state)
{
    (void)state;
    static const struct {
        const char *evidence;
        bool is_hidden;
    } row[] = {
        {"tr0ub4dor-and-3", true}, /* the whole secret                                     */
        {"ub4dor-a", true},        /* eight bytes from its middle                          */
        {"= \\\"tr0ub4", true},    /* six bytes of it, at the end of the evidence          */
        {"-and-3\\\"\\nq", true},  /* six bytes of it, at the beginning of the evidence    */
        {"xxdor-anx", true},       /* six bytes of it, with other bytes around them        */
        {"d = \\\"tr0ub", false},  /* five bytes of it, at the end of the evidence         */
        {"and-3\\\"\\nqu", false}, /* five bytes of it, at the beginning of the evidence   */
        {"SELECT 1", false},
    };
    bed b;
    bed_open(&b);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char answer[256], want[256];
        myth_redacted out = {.mem = b.mem};
        static const char *const key[] = {"evidence", "quote"}; /* of a finding, of an answer's citation */
        for (int k = 0; k < 2; k++) {
            static const char form[] = "{\"findings\":[{\"first\":2,\"%s\":\"%s\",\"rule\":\"x\"}]}";
            snprintf(answer, sizeof(answer), form, key[k], row[i].evidence);
            snprintf(want, sizeof(want), form, key[k], row[i].is_hidden ? "[REDACTED]" : row[i].evidence);
            myth_redacted_add_answer(&out, &b.redactor, answer, strlen(answer));
            assert_false(out.has_failed);
            assert_string_equal(out.text, want);
            assert_int_equal(out.has_placeholder, row[i].is_hidden);
            myth_redacted_free(&out);
        }
    }
    bed_close(&b);
}

/* The evidence of every finding is checked, not only the first one's, also in an answer that was cut off inside it. */
static void every_evidence_is_looked_at(void **state)
{
    (void)state;
    static const char both[] = "\"evidence\":\"SELECT 1\"},{\"evidence\":\"r0ub4dor\"}",
                      cut[] = "\"evidence\":\"r0ub4dor";
    bed b;
    bed_open(&b);
    myth_redacted out = {.mem = b.mem};
    myth_redacted_add_answer(&out, &b.redactor, both, sizeof(both) - 1);
    assert_string_equal(out.text, "\"evidence\":\"SELECT 1\"},{\"evidence\":\"[REDACTED]\"}");
    myth_redacted_free(&out);
    myth_redacted_add_answer(&out, &b.redactor, cut, sizeof(cut) - 1);
    assert_string_equal(out.text, "\"evidence\":\"[REDACTED]");
    myth_redacted_free(&out);
    myth_redacted_add_answer(&out, NULL, both, sizeof(both) - 1);
    assert_string_equal(out.text, both);
    myth_redacted_free(&out);
    bed_close(&b);
}

/* The path of a file stays even when it contains a secret, because a replay needs it. */
static void paths_stay(void **state)
{
    (void)state;
    static const char answer[] = "{\"file\":\"src/tr0ub4dor-and-3.py\",\"issue\":\"tr0ub4dor-and-3 is in the source\"}";
    bed b;
    bed_open(&b);
    myth_redacted out = {.mem = b.mem};
    myth_redacted_add_answer(&out, &b.redactor, answer, sizeof(answer) - 1);
    assert_memory_equal(out.text, answer, 41);
    assert_null(strstr(out.text + 41, "tr0ub4dor"));
    assert_non_null(strstr(out.text, "[REDACTED:password:"));
    myth_redacted_free(&out);
    bed_close(&b);
}

/* Each of many files is found by its path and by its source, also where two have one path, and no other is. */
static void files_are_found(void **state)
{
    (void)state;
    enum { N = 100 };
    static myth_source src[N];
    static char path[N][16];
    bed b;
    bed_open(&b);
    for (int i = 0; i < N; i++) {
        snprintf(path[i], sizeof(path[i]), "d/f%d.py", i % (N - 1)); /* the last has the path of the first */
        assert_int_equal(myth_source_open(&src[i], b.mem, path[i], (const unsigned char *)code, sizeof(code) - 1, NULL),
                         MYTH_OK);
        assert_false(myth_redacted_is_path(&b.redactor, path[i]) && i < N - 1);
        assert_null(myth_redactor_find(&b.redactor, &src[i]));
        assert_int_equal(myth_redactor_add(&b.redactor, &src[i], NULL), MYTH_OK);
        assert_int_equal(myth_redactor_add(&b.redactor, &src[i], NULL), MYTH_OK); /* once is enough */
        assert_int_equal(b.redactor.n_file, i + 2);
        for (int k = 0; k <= i; k++) {
            assert_true(myth_redacted_is_path(&b.redactor, path[k]));
            assert_ptr_equal(myth_redactor_find(&b.redactor, &src[k])->src, &src[k]);
        }
    }
    assert_ptr_equal(myth_redactor_find_path(&b.redactor, path[0])->src, &src[0]);
    assert_ptr_equal(myth_redactor_find(&b.redactor, &b.src)->src, &b.src);
    assert_false(myth_redacted_is_path(&b.redactor, "d/f99.py"));
    assert_false(myth_redacted_is_path(NULL, path[0]));
    for (int i = 0; i < N; i++)
        myth_source_close(&src[i]);
    bed_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_that_is_a_piece_of_a_secret),
        cmocka_unit_test(every_evidence_is_looked_at),
        cmocka_unit_test(paths_stay),
        cmocka_unit_test(files_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
