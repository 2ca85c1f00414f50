/* test_prompts.c - lines of every form give the ids that the tokenizer and the template give; a line that is none is an
 * item with a fault; passes repeat; memory does not depend on the number of lines. */
#include "tests/support/check.h"
#include "tests/support/files.h"

#include "frontend/jobs/prompts.h"

#include <unistd.h>

static myth_mem *mem;
static myth_model model;
static myth_cancel cancel;
static myth_cli cli;

static int begin(void **state)
{
    (void)state;
    myth_error err = {0};
    if (myth_mem_open(&mem, 0, NULL) != MYTH_OK ||
        myth_model_open(&model, mem, "random:gemma3-tiny:f32", NULL, &err) != MYTH_OK)
        return -1;
    static const myth_option flag[] = {{.name = "system-prompt", .kind = MYTH_OPT_TEXT},
                                       {.name = "reasoning-budget", .kind = MYTH_OPT_TEXT}};
    static const char *text[2];
    static myth_parsed parsed = {.n_slot = 2};
    for (int i = 0; i < 2; i++) /* as if both were given on the command line */
        parsed.slot[i] = (myth_opt_slot){.opt = &flag[i], .field = &text[i], .source = MYTH_FROM_FLAG};
    cli = (myth_cli){.mem = mem, .cancel = &cancel, .parsed = &parsed};
    return 0;
}

static int end(void **state)
{
    (void)state;
    myth_model_close(&model);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static myth_prompts *open_text(const char *text, const myth_prompts_opts *o)
{
    myth_error err = {0};
    myth_prompts *p = NULL;
    files_text("prompts.jsonl", text);
    if (myth_prompts_open(&p, &cli, &model, files_path("prompts.jsonl"), o, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return p;
}

static myth_job_prompt next_of(myth_prompts *p)
{
    myth_error err = {0};
    myth_job_prompt it = {0};
    bool has = false;
    if (myth_prompts_next(p, &it, &has, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_true(has);
    return it;
}

static void expect_end(myth_prompts *p)
{
    myth_error err = {0};
    myth_job_prompt it;
    bool has = true;
    assert_int_equal(myth_prompts_next(p, &it, &has, &err), MYTH_OK);
    assert_false(has);
    myth_prompts_close(p);
}

/* The ids of <bos> and a text. */
static size_t ids_of(const char *text, int32_t *ids, size_t cap)
{
    myth_error err = {0};
    size_t n = 0;
    ids[0] = myth_tokenizer_special(model.tokenizer)->bos;
    assert_int_equal(
        myth_tokenizer_encode(model.tokenizer, mem, MYTH_TOK_CONTENT, text, strlen(text), ids + 1, cap - 1, &n, &err),
        MYTH_OK);
    return n + 1;
}

static size_t ids_of_chat(const myth_message *msg, size_t n_msg, int32_t *ids, size_t cap)
{
    myth_error err = {0};
    size_t n = 0;
    assert_int_equal(myth_chat_encode(model.tokenizer, mem, myth_chat_form_of(&model.config, model.tokenizer), msg,
                                      n_msg, ids, cap, &n, &err),
                     MYTH_OK);
    return n;
}

static void expect_ids(const myth_job_prompt *it, const int32_t *ids, size_t n)
{
    assert_string_equal(it->fault, "");
    assert_int_equal(it->n_ids, n);
    assert_memory_equal(it->ids, ids, n * sizeof(*ids));
}

static void every_form_gives_its_ids(void **state)
{
    (void)state;
    int32_t ids[256];
    const myth_prompts_opts o = {.label_most = 64};
    myth_prompts *p = open_text("\"int x;\"\n\n"
                                "{\"text\": \"int x;\", \"id\": \"a\\u0062\", \"label\": \"g\\u006fod\"}\n"
                                "  \t\r\n"
                                "{\"ids\": [2, 0, 5], \"id\": 7}\n"
                                "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"label\": null}",
                                &o);
    const size_t n = ids_of("int x;", ids, 256);
    myth_job_prompt it = next_of(p);
    expect_ids(&it, ids, n);
    assert_null(it.id);
    assert_null(it.label.text);
    assert_null(it.object);
    it = next_of(p);
    expect_ids(&it, ids, n);
    assert_int_equal(it.index, 1);
    assert_int_equal(it.line, 3);
    assert_int_equal(it.n_id, 9);
    assert_memory_equal(it.id, "\"a\\u0062\"", 9);
    assert_true(myth_str_is(it.label, "good"));
    it = next_of(p);
    expect_ids(&it, (const int32_t[]){2, 0, 5}, 3);
    assert_memory_equal(it.id, "7", it.n_id);
    it = next_of(p);
    const myth_message hi = {MYTH_ROLE_USER, {"hi", 2}};
    expect_ids(&it, ids, ids_of_chat(&hi, 1, ids, 256));
    assert_null(it.label.text);
    assert_int_equal(it.line, 6);
    expect_end(p);
}

static void a_chat_gets_the_system_text_of_the_options(void **state)
{
    (void)state;
    int32_t ids[256];
    const myth_prompts_opts o = {.is_chat = true, .system = "be short"};
    const myth_message with[3] = {{MYTH_ROLE_SYSTEM, {"be short", 8}}, {MYTH_ROLE_USER, {"hi", 2}}},
                       own[2] = {{MYTH_ROLE_SYSTEM, {"be long", 7}}, {MYTH_ROLE_USER, {"hi", 2}}};
    myth_prompts *p = open_text("\"hi\"\n"
                                "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}\n"
                                "{\"messages\": [{\"role\": \"system\", \"content\": \"be long\"},"
                                "{\"role\": \"user\", \"content\": \"hi\"}]}\n",
                                &o);
    const size_t n = ids_of_chat(with, 2, ids, 256);
    myth_job_prompt it = next_of(p);
    expect_ids(&it, ids, n);
    it = next_of(p);
    expect_ids(&it, ids, n);
    it = next_of(p);
    expect_ids(&it, ids, ids_of_chat(own, 2, ids, 256));
    expect_end(p);
}

/* What the options say of chats is not passed over in silence. */
static void options_of_chats_need_one(void **state)
{
    (void)state;
    static const char *const text[] = {"\"hi\"\n{\"ids\":[1]}\n", "\"hi\"\n{\"messages\":[]}\n"};
    const myth_prompts_opts o[] = {
        {.system = "be short"}, {.thinks = true}, {.system = "be short", .is_chat = true}, {0}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            myth_error err = {0};
            myth_prompts_survey all;
            myth_prompts *p = open_text(text[i], &o[k]);
            assert_int_equal(myth_prompts_look(p, &all, NULL, NULL, &err), i == 0 && k < 2 ? MYTH_EARG : MYTH_OK);
            if (err.code)
                assert_non_null(strstr(err.msg, k ? "--reasoning-budget" : "--system-prompt"));
            myth_prompts_close(p);
        }
}

static void a_bad_line_is_an_item_with_a_fault(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } bad[] = {
        {"{\"text\": \"x\"", "end"},
        {"\"\xff\"", "UTF-8"},
        {"[1]", "expected an object"},
        {"{}", "expected one of"},
        {"{\"text\": \"a\", \"ids\": [1]}", "expected one of"},
        {"{\"text\": 1}", "\"text\": expected a string"},
        {"{\"ids\": []}", "list of token ids"},
        {"{\"ids\": [1, -1]}", "-1 is no token id"},
        {"{\"ids\": [1.0]}", "1.0 is no token id"},
        {"{\"ids\": [99999999999]}", "99999999999 is no token id"},
        {"{\"ids\": [4294967296]}", "4294967296 is no token id"},
        {"{\"ids\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", "9 tokens, at most 8 fit"},
        {"{\"text\": \"a\", \"id\": []}", "\"id\": expected"},
        {"{\"text\": \"a\", \"label\": [3]}", "\"label\": expected a string, a number, true or false"},
        {"{\"text\": \"a\", \"label\": \"\"}", "\"label\": 0 bytes"},
        {"{\"messages\": [{\"role\": \"cook\"}]}", "role"},
        {"{\"messages\": 3}", "messages"},
    };
    const myth_prompts_opts o = {.n_most = 8, .label_most = 8};
    char text[4096] = "";
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n{\"ids\": [3]}\n", bad[i].line);
    myth_prompts *p = open_text(text, &o);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        myth_job_prompt it = next_of(p);
        assert_null(it.ids);
        assert_int_equal(it.n_ids, 0);
        assert_int_equal(it.line, 2 * i + 1);
        if (!strstr(it.fault, bad[i].says))
            fail_msg("%s: says '%s', not '%s'", bad[i].line, it.fault, bad[i].says);
        it = next_of(p);
        expect_ids(&it, (const int32_t[]){3}, 1);
    }
    expect_end(p);
}

/* The label of a set of classes is a number there; to a job without labels it says nothing. */
static void a_label_is_what_it_spells(void **state)
{
    static const char *const label[] = {"0", "-1.5", "true", "a", NULL};
    static const char text[] =
        "{\"ids\":[3],\"label\":0}\n{\"ids\":[3],\"label\": -1.5 }\n{\"ids\":[3],\"label\":true}\n"
        "{\"ids\":[3],\"label\":\"a\"}\n{\"ids\":[3],\"label\":null}\n";
    (void)state;
    for (uint32_t most = 0; most <= 8; most += 8) {
        const myth_prompts_opts o = {.label_most = most};
        myth_prompts *p = open_text(text, &o);
        for (int i = 0; i < 5; i++) {
            const myth_job_prompt it = next_of(p);
            expect_ids(&it, (const int32_t[]){3}, 1);
            assert_int_equal(it.label.text != NULL, most && label[i]);
            if (it.label.text)
                assert_true(strlen(label[i]) == it.label.len && memcmp(it.label.text, label[i], it.label.len) == 0);
        }
        expect_end(p);
    }
}

static bool is_even(void *user, uint64_t index)
{
    (void)user;
    return index % 2 == 0;
}

static void a_survey_counts_all_and_begins_again(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_prompts_opts o = {.is_done = is_even};
    myth_prompts_survey all, again;
    myth_prompts *p = open_text("{\"ids\": [1, 2]}\n{\"ids\": [1, 2, 3]}\n{]\n{\"ids\": [4]}\n", &o);
    assert_int_equal(myth_prompts_look(p, &all, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(all.n_item, 4);
    assert_int_equal(all.n_fault, 1);
    assert_int_equal(all.n_token, 6);
    assert_int_equal(all.longest, 3);
    myth_job_prompt it = next_of(p);
    assert_int_equal(it.index, 1);
    assert_int_equal(myth_prompts_look(p, &again, NULL, NULL, &err), MYTH_OK);
    assert_memory_equal(&all, &again, sizeof(all));
    it = next_of(p);
    expect_ids(&it, (const int32_t[]){1, 2, 3}, 3);
    it = next_of(p);
    assert_int_equal(it.index, 3);
    expect_end(p);
    p = open_text("{\"ids\": [1, 2]}\n{\"ids\": [1, 2, 4]}\n{]\n{\"ids\": [4]}\n", &o);
    assert_int_equal(myth_prompts_look(p, &again, NULL, NULL, &err), MYTH_OK);
    assert_memory_not_equal(all.hash, again.hash, sizeof(all.hash));
    myth_prompts_close(p);
}

/* The ledger's peak of reading n lines of the same length. */
static uint64_t peak_of(int n)
{
    static char text[200000];
    myth_error err = {0};
    myth_prompts_survey all;
    const myth_prompts_opts o = {.is_chat = true};
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "{\"text\": \"prompt %06d\", \"label\": \"%d\"}\n", i,
                               i % 2);
    myth_mem_reset_peak(mem);
    myth_prompts *p = open_text(text, &o);
    assert_int_equal(myth_prompts_look(p, &all, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(all.n_item, n);
    const uint64_t peak = myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).peak;
    for (int i = 0; i < n; i++)
        next_of(p);
    assert_int_equal(myth_mem_get(mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).peak, peak);
    expect_end(p);
    return peak;
}

static void memory_does_not_grow_with_the_lines(void **state)
{
    (void)state;
    assert_int_equal(peak_of(400), peak_of(4000));
}

static void a_pipe_is_read_twice(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_prompts_opts o = {.n_most = 0};
    myth_prompts_survey all;
    myth_prompts *p = NULL;
    int ends[2];
    const int kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "{\"ids\": [1]}\n{\"ids\": [2, 3]}", 28), 28);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    assert_int_equal(myth_prompts_open(&p, &cli, &model, "-", &o, &err), MYTH_OK);
    assert_int_equal(myth_prompts_look(p, &all, NULL, NULL, &err), MYTH_OK);
    assert_int_equal(all.n_token, 3);
    myth_job_prompt it = next_of(p);
    expect_ids(&it, (const int32_t[]){1}, 1);
    it = next_of(p);
    expect_ids(&it, (const int32_t[]){2, 3}, 2);
    expect_end(p);
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(ends[0]);
}

/* Programs of Windows begin a file with the mark; inside a file it is a character. */
static void a_byte_order_mark_is_no_part_of_a_line(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_prompts_opts o = {.n_most = 0};
    myth_prompts *p = open_text("\xef\xbb\xbf{\"ids\":[1]}\n\xef\xbb\xbf{\"ids\":[2]}\n", &o);
    for (int pass = 0; pass < 2; pass++) {
        myth_job_prompt it = next_of(p);
        expect_ids(&it, (const int32_t[]){1}, 1);
        it = next_of(p);
        assert_null(it.ids);
        assert_int_equal(myth_prompts_rewind(p, &err), MYTH_OK);
    }
    myth_prompts_close(p);
    p = open_text("\xef\xbb\xbf\n{\"ids\":[3]}", &o); /* a first line that is blank */
    const myth_job_prompt it = next_of(p);
    expect_ids(&it, (const int32_t[]){3}, 1);
    expect_end(p);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    myth_error err = {0};
    const myth_prompts_opts o = {.n_most = 0};
    myth_prompts *p = NULL;
    assert_int_equal(myth_prompts_open(&p, &cli, &model, "/nowhere/p.jsonl", &o, &err), MYTH_ENOTFOUND);
    assert_null(p);
    assert_int_equal(myth_prompts_open(&p, &cli, &model, "/", &o, &err), MYTH_EIO);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_its_ids),
        cmocka_unit_test(a_chat_gets_the_system_text_of_the_options),
        cmocka_unit_test(options_of_chats_need_one),
        cmocka_unit_test(a_label_is_what_it_spells),
        cmocka_unit_test(a_bad_line_is_an_item_with_a_fault),
        cmocka_unit_test(a_survey_counts_all_and_begins_again),
        cmocka_unit_test(memory_does_not_grow_with_the_lines),
        cmocka_unit_test(a_pipe_is_read_twice),
        cmocka_unit_test(a_byte_order_mark_is_no_part_of_a_line),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
