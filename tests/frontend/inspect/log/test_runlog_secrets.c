/* test_runlog_secrets.c - secrets of the inspected file are nowhere in the run log: not in what `log` prints, not in
 * the bytes of the file, not in the compressed prompts. A record nested deeper than any run writes is refused. */
#define _GNU_SOURCE /* memmem */
#include "runlog_case.h"
#include "frontend/inspect/log/runlog_file.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/frontend/inspect/secrets/fake_secrets.h"

#include <sqlite3.h>

/* Fails when one of the secrets is in this file of the test's folder. */
static void check_absent(const char *name, char secret[][FAKE_MAX], const size_t *len)
{
    size_t n;
    char *text = get_file(name, &n);
    for (size_t i = 0; i < FAKE_KINDS; i++)
        if (memmem(text, n, secret[i], len[i]))
            fail_msg("%s has the %s %s", name, fake_kinds[i].kind, secret[i]);
    free(text);
}

static void test_secrets(void **state)
{
    (void)state;
    static char secret[FAKE_KINDS][FAKE_MAX], code[FAKE_KINDS * 2 * FAKE_MAX];
    static const char *const command[] = {"show last",   "show last --json", "show last --prompts",
                                          "why",         "why --json",       "list",
                                          "list --json", "replay",           "replay --json"};
    size_t len[FAKE_KINDS], n = 0, n_placeholder = 0;
    uint64_t rng = check_seed();
    char line[512];
    new_log();
    for (size_t i = 0; i < FAKE_KINDS; i++) {
        len[i] = fake_make(secret[i], &fake_kinds[i], &rng);
        n += (size_t)snprintf(code + n, sizeof(code) - n, "%s = \"%s\"\n",
                              fake_kinds[i].name ? fake_kinds[i].name : "x", secret[i]);
    }
    put_bytes("s.py", code, n);
    static const char *const run[] = {TINY "-n 100 --format json --max-prompt-tokens 200000 --fail-level never",
                                      SHIPPED "--format json --fail-level never"};
    for (size_t k = 0; k < 2; k++) {
        snprintf(line, sizeof(line), "$M inspect-file $D/s.py " LOG "%s", run[k]);
        int got = run_quietly(line);
        assert_true(got == 0 || got == 3);
        for (size_t i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
            if (strncmp(command[i], "replay", 6) == 0 && !check_is_case((uint32_t)(i + k), 4))
                continue; /* a replay takes as long as the run, so only some are made */
            snprintf(line, sizeof(line), "$M log " LOG "%s >$D/said 2>&1", command[i]);
            got = run_quietly(line);
            if (got != 0) {
                size_t n_why;
                fail_msg("%s: exit %d: %.800s", command[i], got, get_file("said", &n_why));
            }
            check_absent("said", secret, len);
            size_t n_said;
            char *said = get_file("said", &n_said);
            n_placeholder += strstr(said, "[REDACTED:") != NULL;
            free(said);
        }
    }
    assert_true(n_placeholder >= 4); /* the secrets' places were printed, with placeholders for them */
    assert_int_equal(run_quietly("cat $D/runs.db* >$D/whole"), 0);
    check_absent("whole", secret, len);

    /* The prompts are compressed in the file, so the search of its bytes cannot find a secret in them. */
    json_t *j = json_of("$M log show last " LOG "--json", 0);
    const json_t *x;
    size_t i;
    json_array_foreach(json_object_get(j, "exchanges"), i, x)
    {
        const char *prompt = text_of(x, "prompt");
        assert_non_null(strstr(prompt, "[REDACTED:"));
        for (size_t k = 0; k < FAKE_KINDS; k++)
            assert_null(strstr(prompt, secret[k]));
    }
    json_decref(j);
    sqlite3 *db;
    sqlite3_stmt *q;
    char path[256];
    snprintf(path, sizeof(path), "%s/runs.db", cli_dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM texts WHERE name LIKE 'ids/%'", -1, &q, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(q, 0), 0); /* a prompt's ids would spell its secrets */
    sqlite3_finalize(q);
    sqlite3_close(db);
}

/* When a secret of a file contains the file's own name, the path is still shown in every form and in the record, while
 * the secret is hidden. */
static void test_path_in_a_constant(void **state)
{
    static const char value[] = "vault-store99.py-x7Kq2Lm9Tz4";
    char line[1024];
    size_t n;
    (void)state;
    new_log();
    snprintf(line, sizeof(line), "def f(s):\n    api_token = \"%s\"\n    return eval(s)\n", value);
    put_file("vault-store99.py", line);
    n = (size_t)snprintf(line, sizeof(line),
                         "cd $D; $M inspect-file vault-store99.py " TINY LOG "--fail-level never -n 60");
    for (int i = 0; i < MYTH_FORM_N; i++) {
        const char *form = myth_form_name((myth_form)i);
        n += (size_t)snprintf(line + n, sizeof(line) - n, " --output %s=o.%s", form, form);
    }
    run_quietly(line);
    for (int i = 0; i < MYTH_FORM_N; i++) {
        char name[32], *text;
        snprintf(name, sizeof(name), "o.%s", myth_form_name((myth_form)i));
        text = get_file(name, &n);
        if (!strstr(text, "vault-store99.py") || strstr(text, value))
            fail_msg("%s: %.600s", myth_form_name((myth_form)i), text);
        free(text);
    }
    json_t *j = json_of("$M log show " LOG "--json", 0);
    const json_t *report = json_object_get(j, "report");
    assert_string_equal(json_string_value(json_array_get(json_object_get(j, "args"), 0)), "vault-store99.py");
    expect_text(json_array_get(json_object_get(j, "files"), 0), "path", "vault-store99.py");
    expect_text(report, "file", "vault-store99.py");
    expect_text(report, "inspected", "vault-store99.py");
    expect_text(json_array_get(json_object_get(report, "not_inspected"), 0), "path", "vault-store99.py");
    const json_t *x = json_array_get(json_object_get(j, "exchanges"), 0);
    assert_non_null(strstr(text_of(x, "prompt"), "<file path=\"vault-store99.py\""));
    assert_null(strstr(text_of(x, "prompt"), value));
    assert_int_equal(json_array_size(json_object_get(j, "no_replay")), 0);
    json_decref(j);
    assert_int_equal(run_quietly("cd $D; $M log replay " LOG), 0);
}

/* A record that is nested far deeper than any run writes, with a hash that is right, is refused by every command that
 * reads it. */
static void test_deep_record(void **state)
{
    enum { DEPTH = 1000 };
    static char record[16 * DEPTH];
    char path[256];
    myth_mem *mem;
    myth_runlog_file *f;
    myth_error err = {0};
    int64_t run;
    const int code = 0;
    size_t n = (size_t)sprintf(record, "{\"run\":1,\"report\":");
    (void)state;
    for (int i = 0; i < DEPTH; i++)
        n += (size_t)sprintf(record + n, "{\"k\":[");
    n += (size_t)sprintf(record + n, "1");
    for (int i = 0; i < DEPTH; i++)
        n += (size_t)sprintf(record + n, "]}");
    n += (size_t)sprintf(record + n, "}");
    snprintf(path, sizeof(path), "%s/deep.db", cli_dir);
    assert_int_equal(myth_mem_open(&mem, 64 << 20, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_open(&f, mem, path, &(myth_runlog_file_opts){0}, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_begin(f, &run, 1700000000000, "inspect-file", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_save(f, run, "a.c", record, n, &code, &err), MYTH_OK);
    myth_runlog_file_close(f);
    assert_int_equal(myth_mem_close(mem), 0);
    static const char *const verb[] = {"show", "show --json", "show --prompts", "why", "replay"};
    for (size_t i = 0; i < sizeof(verb) / sizeof(verb[0]); i++) {
        char line[128];
        snprintf(line, sizeof(line), "$M log %s --log $D/deep.db", verb[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 65);
        assert_non_null(strstr(r.err, "nested deeper than 32 levels"));
    }
}

/* A record whose every text has a newline, in a log whose hashes are right: none begins a line of list or show that
 * looks like a row of its own. */
static void test_planted_rows(void **state)
{
#define PLANTED "x\\nFAKE  row"
    static const char record[] =
        "{\"run\":1,\"command\":\"" PLANTED "\",\"cwd\":\"" PLANTED "\",\"args\":[\"" PLANTED "\"],"
        "\"options\":[{\"name\":\"" PLANTED "\",\"value\":\"" PLANTED "\",\"from\":\"flag\"}],"
        "\"model\":{\"name\":\"" PLANTED "\",\"files\":[{\"path\":\"" PLANTED "\",\"hash\":\"" PLANTED "\"}]},"
        "\"device\":\"" PLANTED "\",\"weights\":\"" PLANTED "\",\"index\":{\"hash\":\"" PLANTED "\"},"
        "\"binary\":{\"version\":\"" PLANTED "\",\"commit\":\"" PLANTED "\",\"hash\":\"" PLANTED "\"},"
        "\"texts\":{\"" PLANTED "\":\"" PLANTED "\"},"
        "\"candidates\":[{\"path\":\"" PLANTED "\",\"symbol\":\"" PLANTED "\",\"score\":1,"
        "\"parts\":{\"" PLANTED "\":1},\"fate\":\"" PLANTED "\"}],"
        "\"files\":[{\"path\":\"" PLANTED "\",\"hash\":\"" PLANTED "\"}],"
        "\"pieces\":[{\"file\":0,\"symbol\":\"" PLANTED "\",\"why\":\"" PLANTED "\"}],"
        "\"exchanges\":[{\"kind\":\"" PLANTED "\",\"finish\":\"" PLANTED "\"}],"
        "\"dropped\":[{\"path\":\"" PLANTED "\",\"rule\":\"" PLANTED "\",\"why\":\"" PLANTED "\"}],"
        "\"report\":{\"finish_reason\":\"" PLANTED "\",\"findings\":[{\"file\":\"" PLANTED "\","
        "\"rule\":\"" PLANTED "\",\"severity\":\"" PLANTED "\",\"status\":\"" PLANTED "\"}]},"
        "\"stages\":[{\"name\":\"" PLANTED "\",\"seconds\":1}]}";
    static const char *const verb[] = {"list", "show", "why"};
    char path[256];
    myth_mem *mem;
    myth_runlog_file *f;
    myth_error err = {0};
    int64_t run;
    const int code = 0;
    (void)state;
    snprintf(path, sizeof(path), "%s/rows.db", cli_dir);
    assert_int_equal(myth_mem_open(&mem, 64 << 20, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_open(&f, mem, path, &(myth_runlog_file_opts){0}, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_begin(f, &run, 1700000000000, "x\nFAKE  row", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_save(f, run, "x\nFAKE  row", record, sizeof(record) - 1, &code, &err), MYTH_OK);
    myth_runlog_file_close(f);
    assert_int_equal(myth_mem_close(mem), 0);
    for (size_t i = 0; i < sizeof(verb) / sizeof(verb[0]); i++) {
        char line[128];
        snprintf(line, sizeof(line), "$M log %s --log $D/rows.db", verb[i]);
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        if (strstr(r.out, "\nFAKE"))
            fail_msg("log %s: %s", verb[i], r.out);
        assert_true(i == 2 || strstr(r.out, "x\\nFAKE  row"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_path_in_a_constant),
        cmocka_unit_test(test_deep_record),
        cmocka_unit_test(test_planted_rows),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
