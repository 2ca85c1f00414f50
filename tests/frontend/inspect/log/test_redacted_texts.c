/* test_redacted_texts.c - answers, prompts and documents about a file with secrets are kept without them, and paths are
 * kept as they are. */
#include "frontend/inspect/log/runlog_redact.h"
#include "tests/support/check.h"

static const char code[] = "key = \"AKIAQ7ZMXKT4WB2N9PLE\"\n" /* a secret by the mark AKIA */
                           "name = \"ann\"\n"
                           "pw = \"tiger-42-lily-99\"\n" /* a secret by the name before it */
                           "return key\n";

static myth_mem *mem;
static myth_source src;
static myth_redactor redactor;

static int begin(void **state)
{
    (void)state;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(
        myth_source_open(&src, mem, "d/tiger-42-lily.py", (const unsigned char *)code, sizeof(code) - 1, NULL),
        MYTH_OK);
    myth_redactor_start(&redactor, mem);
    assert_int_equal(myth_redactor_add(&redactor, &src, NULL), MYTH_OK);
    return myth_redactor_count(&redactor) == 2 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_redactor_close(&redactor);
    myth_source_close(&src);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static void expect_answer(const char *answer, const char *want)
{
    myth_redacted b = {.mem = mem};
    myth_redacted_add_answer(&b, &redactor, answer, strlen(answer));
    assert_false(b.has_failed);
    assert_string_equal(b.n ? b.text : "", want);
    myth_redacted_free(&b);
}

/* The detectors do not know a piece of a secret, and evidence may have as few as eight bytes. Evidence is therefore
 * hidden as a whole when it shares six bytes with a secret, wherever they are in either of them. */
static void evidence_that_shares_a_run(void **state)
{
    static const char key[] = "AKIAQ7ZMXKT4WB2N9PLE", pw[] = "tiger-42-lily-99";
    char answer[256], piece[32];
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        const char *secret = s ? pw : key;
        for (size_t from = 0; from < strlen(secret); from++)
            for (size_t n = 1; from + n <= strlen(secret); n++) {
                snprintf(piece, sizeof(piece), "%.*s", (int)n, secret + from);
                snprintf(answer, sizeof(answer), "{\"findings\":[{\"evidence\":\"x(%s)\",\"rule\":\"other\"}]}", piece);
                if (n >= 6)
                    expect_answer(answer, "{\"findings\":[{\"evidence\":\"[REDACTED]\",\"rule\":\"other\"}]}");
                else
                    expect_answer(answer, answer);
            }
    }
    expect_answer("{\"evidence\":\"return key\"}", "{\"evidence\":\"return key\"}");
    expect_answer("{\"evidence\":\"a \\\"tiger-4\\\" b\"}",
                  "{\"evidence\":\"[REDACTED]\"}");                               /* an escaped quote does not end it */
    expect_answer("{\"evidence\":\"tiger-42-lily", "{\"evidence\":\"[REDACTED]"); /* an answer that was cut off */
    expect_answer("{\"evidence\":\"tiger-42\"},{\"evidence\":\"name = ann\"},{\"evidence\":\"ZMXKT4\"}",
                  "{\"evidence\":\"[REDACTED]\"},{\"evidence\":\"name = ann\"},{\"evidence\":\"[REDACTED]\"}");
    expect_answer("{\"file\":\"d/tiger-42-lily.py\",\"evidence\":\"name\"}",
                  "{\"file\":\"d/tiger-42-lily.py\",\"evidence\":\"name\"}"); /* a path is not evidence */
}

static void prompts_and_documents(void **state)
{
    const myth_block block = {.src = &src, .first = 1, .last = 4};
    static const char prompt[] = "Inspect.\n<file path=\"d/tiger-42-lily.py\" lines=\"1-4\">\n"
                                 "1|key = \"AKIAQ7ZMXKT4WB2N9PLE\"\n2|name = \"ann\"\n3|pw = \"tiger-42-lily-99\"\n"
                                 "4|return key\n</file>\n";
    myth_redacted b = {.mem = mem};
    bool changed = false;
    (void)state;
    myth_redacted_add_prompt(&b, &redactor, prompt, sizeof(prompt) - 1, &block, 1);
    assert_false(b.has_failed);
    assert_true(b.has_placeholder);
    assert_non_null(strstr(b.text, "<file path=\"d/tiger-42-lily.py\" lines=\"1-4\">\n1|key = \"[REDACTED:aws-key:"));
    assert_non_null(strstr(b.text, "\n2|name = \"ann\"\n3|pw = \"[REDACTED:password:"));
    assert_null(strstr(b.text, "lily-99"));
    myth_redacted_free(&b);

    json_t *j =
        json_pack("{s:s, s:s, s:[s, s], s:{s:s}}", "path", "d/tiger-42-lily.py", "note", "it is tiger-42-lily-99 here",
                  "args", "d/tiger-42-lily.py", "AKIAQ7ZMXKT4WB2N9PLE", "in", "file", "tiger-42-lily-99.c");
    json_t *out = myth_redacted_json(j, &redactor, mem, &changed);
    assert_true(changed);
    assert_string_equal(json_string_value(json_object_get(out, "path")), "d/tiger-42-lily.py");
    assert_null(strstr(json_string_value(json_object_get(out, "note")), "tiger"));
    assert_string_equal(json_string_value(json_array_get(json_object_get(out, "args"), 0)), "d/tiger-42-lily.py");
    assert_null(strstr(json_string_value(json_array_get(json_object_get(out, "args"), 1)), "AKIA"));
    assert_string_equal(json_string_value(json_object_get(json_object_get(out, "in"), "file")), "tiger-42-lily-99.c");
    json_decref(out);
    json_decref(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_that_shares_a_run),
        cmocka_unit_test(prompts_and_documents),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
