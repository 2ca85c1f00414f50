/* test_judge_short.c - models that were trained to judge: the form of their prompts, their scores, what their
 * calibration makes of a score, and which model judges where several could. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/support/rig.h"

#include "frontend/candidates/calibration.h"
#include "frontend/candidates/judge.h"

#include <math.h>

enum { N_IDS = 1 << 14 };

static cli_result out;

/* ---- prompts ---- */

static const char example[] = "int x;\n"
                              "int f(size_t n) /* reviewed */\n"
                              "{\n"
                              "    // cannot fail\n"
                              "    char *p = malloc(n);\n"
                              "    log_it(n);\n"
                              "    if (n > 3) {\n"
                              "        fill(n);\n"
                              "        p[0] =\n"
                              "            1;\n"
                              "        g();\n"
                              "    }\n"
                              "    return 0;\n"
                              "}\n";
static const char names[] = "\0missing-null-check\0f\0the result of malloc in line 5 is used\0"
                            "origin=call tested=no scope=nothing origin_call=malloc";
enum { RULE = 1, FUNCTION = 20, SAY = 22, FACTS = 61 };

/* The prompt about a place in lines 9 and 10 that is about line 5, in at most n_tok tokens; "" = it does not fit. */
typedef struct {
    const myth_model *model;
    char text[N_IDS];
    uint32_t n_prompt, place, n_ids;
} shown;

static myth_status show(void *user, uint32_t place, const int32_t *ids, size_t n, myth_error *err)
{
    shown *s = user;
    (void)err;
    s->text[myth_prompt_text(s->text, sizeof(s->text) - 1, s->model->tokenizer, ids, n)] = '\0';
    s->n_prompt++;
    s->place = place;
    s->n_ids = (uint32_t)n;
    return MYTH_OK;
}

static void prompt_of(shown *s, const myth_model *model, uint32_t n_tok, const char *text, uint32_t shift)
{
    myth_judge *j;
    float score = 0;
    myth_candidate_place place = {
        .line0 = 9 - shift,
        .line1 = 10 - shift,
        .about_line = 5,
        .function_line0 = 2,
        .function_line1 = 14 - shift,
        .rule = RULE,
        .function = FUNCTION,
        .say = SAY,
        .facts = FACTS,
    };
    char other[sizeof(names)];
    memcpy(other, names, sizeof(names));
    if (shift) { /* the line of a comment is not there */
        char *line = strstr(other + SAY, "line 5");
        assert_non_null(line);
        line[5] = (char)('5' - shift);
        place.about_line = 5 - shift;
    }
    const myth_candidates found = {.candidate = &place, .names = other, .n = 1, .n_names = sizeof(names)};
    const myth_judge_job job = {
        .path = "a.c",
        .text = (const unsigned char *)text,
        .n_text = strlen(text),
        .language = "c",
        .found = &found,
    };
    *s = (shown){.model = model};
    assert_ok(myth_judge_open(
        &j, model, &(myth_judge_opts){.is_short = true, .n_tok = n_tok, .is_dry = true, .on_prompt = show, .user = s},
        &rig_err));
    assert_ok(myth_judge_file(j, NULL, &job, &score, &rig_err));
    assert_true(isnan(score));
    myth_judge_close(j);
}

#define BEFORE                                                                      \
    "<bos><start_of_turn>user\nc missing-null-check: the result of malloc in line " \
    "* is used (origin=call origin_call=malloc)\n"
#define AFTER "Fault?<end_of_turn>\n<start_of_turn>model\n"

static void the_window_keeps_what_a_place_is_about(void **state)
{
    (void)state;
    static shown s;
    rig r = {0};
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &rig_err));
    prompt_of(&s, &r.model, 1000, example, 0);
    assert_int_equal(s.n_prompt, 1);
    assert_int_equal(s.place, 0);
    assert_string_equal(s.text, BEFORE " int f(size_t n)\n {\n*    char *p = malloc(n);\n     log_it(n);\n     if (n > "
                                       "3) {\n         fill(n);\n>        p[0] =\n>            1;\n         g();\n     "
                                       "}\n     return 0;\n }\n" AFTER);
    /* This model's tokens are bytes: with each that is missing the window is smaller, or as it was. */
    uint32_t last = s.n_ids, n_form = 0;
    for (uint32_t n = s.n_ids; n-- > 100;) {
        prompt_of(&s, &r.model, n, example, 0);
        if (!s.n_prompt)
            break;
        assert_true(s.n_ids <= n && s.n_ids <= last);
        n_form += s.n_ids < last;
        last = s.n_ids;
        assert_non_null(strstr(s.text, "\n int f(size_t n)\n"));
        assert_non_null(strstr(s.text, "\n*    char *p = malloc(n);\n"));
        assert_non_null(strstr(s.text, "\n>        p[0] =\n>            1;\n"));
    }
    assert_true(n_form >= 3);
    /* the last that fits, which is the place alone */
    prompt_of(&s, &r.model, last, example, 0);
    assert_string_equal(s.text,
                        BEFORE " int f(size_t n)\n...\n*    char *p = malloc(n);\n...\n>        p[0] =\n>        "
                               "    1;\n" AFTER);
    prompt_of(&s, &r.model, last - 1, example, 0);
    assert_int_equal(s.n_prompt, 0);

    /* Comments are not there, and nothing tells that they were. */
    static const char bare[] =
        "int x;\nint f(size_t n)\n{\n    char *p = malloc(n);\n    log_it(n);\n    if (n > 3) {\n  "
        "      fill(n);\n        p[0] =\n            1;\n        g();\n    }\n    return 0;\n}\n";
    static shown without;
    prompt_of(&s, &r.model, 1000, example, 0);
    prompt_of(&without, &r.model, 1000, bare, 1);
    assert_string_equal(s.text, without.text);
    myth_model_close(&r.model);
    assert_int_equal(myth_mem_close(r.mem), 0);
}

/* ---- calibration ---- */

static void a_calibration_is_read(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", " \n", "confidence=0.5", "*=1:0", "confidence=0.62 tests=-1.5 *=1.5:-2.25\nuse-after-free=0.5:1 ",
    };
    static const char *const bad[] = {
        "confidence",
        "confidence=1.1",
        "confidence=x",
        "*=1",
        "=1:2",
        "*=1:2x",
        "*=0:1",
        "*=-1:0",
        "*=nan:0",
        "*=1:inf",
        "*=:",
        "*=1:",
        "a=1 :2",
        "confidence=-1",
        "tests=",
        "tests=inf",
        "tests=0.2x",
        "confidence=0",
        "confidence=0x1p-1",
        "confidence=0.5 confidence=0.5",
        "tests=1 tests=1",
        "*=1:2 *=1:2",
        "a/b=1:2 a=1:2 a/b=1:3",
        "*=0x1p1:0",
        "a_name_that_is_longer_than_any/rule_and_row_that_there_are_in_the_pack_of_rules_that_ships=1:2",
    };
    myth_calibration c;
    myth_error err;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_int_equal(myth_calibration_read(&c, (myth_str){good[i], strlen(good[i])}, &err), MYTH_OK);
    assert_int_equal(c.n, 2);
    assert_true(fabs((double)c.confidence - 0.62) < 1e-6);
    assert_true(fabs(myth_calibration_probability(&c, "use-after-free", "read", -2, false) - 0.5) < 1e-9);
    assert_true(fabs(myth_calibration_probability(&c, "off-by-one", "", 1.5f, false) - 0.5) < 1e-9);
    assert_true(fabs(myth_calibration_probability(&c, "off-by-one", "", 2.5f, true) - 0.5) < 1e-9);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(myth_calibration_read(&c, (myth_str){bad[i], strlen(bad[i])}, &err), MYTH_EFORMAT);
        assert_non_null(strstr(err.msg, "is none of confidence=P, tests=OFFSET, RULE[/ROW]=SCALE:OFFSET"));
    }
    assert_int_equal(myth_calibration_read(&c, (myth_str){"confidence=0.5\0x", 16}, &err), MYTH_EFORMAT);
    myth_calibration_read(&c, (myth_str){NULL, 0}, &err);
    assert_true(fabs(myth_calibration_probability(&c, "any", "", 0, true) - 0.5) < 1e-9);
    /* a row has its own numbers, else its rule's, else those of all others; the order of the words is no matter */
    static const char *const orders[] = {"sql/quoted=1:2 sql=1:-1 *=1:-3", "*=1:-3 sql=1:-1 sql/quoted=1:2"};
    for (int i = 0; i < 2; i++) {
        const struct {
            const char *rule, *row;
            double logit;
        } want[] = {
            {"sql", "quoted", 2}, {"sql", "joined", -1}, {"sql", "", -1}, {"sqlx", "quoted", -3}, {"sq", "l", -3}};
        assert_int_equal(myth_calibration_read(&c, (myth_str){orders[i], strlen(orders[i])}, &err), MYTH_OK);
        assert_int_equal(c.n, 3);
        for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++) {
            const double p = myth_calibration_probability(&c, want[k].rule, want[k].row, 0, false);
            assert_true(fabs(log(p / (1 - p)) - want[k].logit) < 1e-9);
        }
    }
    /* any bytes */
    static const char some[] = "*=:.0123456789- \nabc\x80";
    uint64_t rng = check_seed();
    for (uint32_t i = 0; i < check_sample(100000); i++) {
        char text[200];
        const size_t n = check_below(&rng, sizeof(text));
        for (size_t k = 0; k < n; k++)
            text[k] = some[check_below(&rng, sizeof(some) - 1)];
        myth_calibration_read(&c, (myth_str){text, n}, NULL);
        assert_true(c.n <= MYTH_CALIBRATION_ROWS);
    }
}

/* ---- the commands ---- */

static double number_of(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }

static void a_trained_judge_is_asked_in_its_form(void **state)
{
    (void)state;
    json_t *all = cli_json(&out, "candidates $D/src -m $D/judge.gguf --judge --format json"), *place;
    json_t *list = json_object_get(all, "candidates");
    json_t *prompts = cli_json(&out, "candidates $D/src -m $D/judge.gguf --judge --judge-prompts judge --format json");
    size_t i;
    if (!json_array_size(list)) {
        json_decref(all);
        json_decref(prompts);
        check_skip("no rules in this build");
    }
    assert_true(json_is_true(json_object_get(json_object_get(all, "judged"), "calibrated")));
    assert_true(fabs(number_of(json_object_get(all, "judged"), "confidence") - 0.35) < 1e-6);
    json_array_foreach(list, i, place)
    {
        const json_t *ids = json_object_get(json_array_get(json_object_get(prompts, "candidates"), i), "prompts");
        const bool is_null_check = strcmp(json_string_value(json_object_get(place, "rule")), "missing-null-check") == 0;
        assert_int_equal(json_array_size(ids), json_is_null(json_object_get(place, "score")) ? 0 : 1);
        if (!json_array_size(ids))
            continue;
        assert_true(json_array_size(json_array_get(ids, 0)) <= 500);
        const double score = number_of(place, "score"),
                     want = 1 / (1 + exp(is_null_check ? -(0.5 * score - 1) : -(2 * score + 0.25)));
        assert_true(fabs(number_of(place, "probability") - want) < 1e-6);
    }
    json_decref(all);
    json_decref(prompts);
}

/* The score of some ids by a forward of all of them. */
static float by_hand(rig *r, const int32_t *ids, size_t n_ids)
{
    int32_t answer[2], some[8];
    size_t n_some;
    myth_result result;
    for (int i = 0; i < 2; i++) {
        assert_ok(myth_tokenizer_encode(r->model.tokenizer, r->mem, MYTH_TOK_CONTENT, i ? "No" : "Yes", i ? 2 : 3, some,
                                        8, &n_some, &rig_err));
        answer[i] = some[0];
    }
    myth_seq *s = rig_seq(r);
    assert_ok(myth_seq_sync(s, ids, (uint32_t)n_ids - 1, NULL, &rig_err));
    const myth_batch_run run = {.seq = s, .token = ids + n_ids - 1, .n = 1, .want_last = MYTH_WANT_LOGITS};
    const myth_batch b = {.run = &run, .n_run = 1, .top_k = 1, .ask_id = answer, .n_ask = 2};
    assert_ok(myth_forward(r->engine, &b, &result, &rig_err));
    const float score = result.ask_logit[0] - result.ask_logit[1];
    myth_seq_close(s);
    return score;
}

static void a_score_is_that_of_the_whole_prompt(void **state)
{
    (void)state;
    char path[PATH_MAX];
    rig r = {0};
    json_t *all = cli_json(&out, "candidates $D/src -m $D/judge.gguf --judge --format json"), *place;
    json_t *list = json_object_get(all, "candidates");
    json_t *prompts = cli_json(&out, "candidates $D/src -m $D/judge.gguf --judge --judge-prompts judge --format json");
    size_t i, k;
    snprintf(path, sizeof(path), "%s/judge.gguf", cli_dir);
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, path, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    const myth_engine_opts eo = {.n_threads = 1, .n_ctx = 1024, .n_ask = 2};
    assert_ok(myth_engine_open(&r.engine, &r.model, &eo, &rig_err));
    json_array_foreach(list, i, place)
    {
        static int32_t ids[N_IDS];
        const json_t *p = json_object_get(json_array_get(json_object_get(prompts, "candidates"), i), "prompts"), *id,
                     *one = json_array_get(p, 0);
        if (!one || i % 5)
            continue;
        json_array_foreach(one, k, id) ids[k] = (int32_t)json_integer_value(id);
        assert_true(fabs((double)by_hand(&r, ids, json_array_size(one)) - number_of(place, "score")) < 1e-6);
    }
    myth_engine_close(r.engine);
    myth_model_close(&r.model);
    assert_int_equal(myth_mem_close(r.mem), 0);
    json_decref(all);
    json_decref(prompts);
}

/* The findings of a report that no answer has, as "line rule probability". */
static size_t given_of(const json_t *report, double least)
{
    const json_t *f;
    size_t i;
    json_array_foreach(json_object_get(report, "findings"), i, f)
        assert_true(number_of(json_object_get(f, "candidate"), "probability") >= least);
    return json_array_size(json_object_get(report, "findings"));
}

static void another_model_judges_than_writes(void **state)
{
    (void)state;
#define BY(judge) "--find candidates --judge-model $D/" judge " --format json --fail-level never"
    static const char *const one[] = {
        /* the shipped model writes findings, so the judge is asked for */
        "inspect $D/src " BY("judge.gguf"),
        "inspect $D/src -m random:gemma3-tiny:q8_0 --no-explain " BY("judge.gguf"),
        /* the same calibration in a file beside the model */
        "inspect $D/src " BY("bare.gguf"),
    };
    json_t *all = cli_json(&out, "candidates $D/src -m $D/judge.gguf --judge --confidence 0.35 --format json");
    const size_t n = json_array_size(json_object_get(all, "candidates"));
    json_decref(all);
    if (!n)
        check_skip("no rules in this build");
    size_t n_first = 0;
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        json_t *report = cli_json(&out, one[i]);
        const size_t n_given = given_of(report, 0.35 - 1e-6);
        assert_null(strstr(out.err, "not calibrated"));
        assert_non_null(strstr(out.err, "with a probability of 0.35 or more"));
        n_first = i ? n_first : n_given;
        assert_true(n_given > 0 && n_given <= n && n_given == n_first);
        json_decref(report);
    }
    /* What the caller says comes before what the model says. A run over what has not changed needs no model, and a
     * changed calibration makes another run. */
#define AGAIN "inspect $D/src --cache --find candidates --judge-model $D/bare.gguf --confidence 1 --format json"
    json_t *report = cli_json(&out, AGAIN);
    assert_int_equal(given_of(report, 1), 0);
    json_decref(report);
    cli_expect(&out, AGAIN, 0);
    assert_non_null(strstr(out.err, "nothing has changed"));
    cli_shell(&out, "printf '*=1:0' >$D/bare.gguf.judge");
    cli_expect(&out, AGAIN, 0);
    assert_null(strstr(out.err, "nothing has changed"));
    cli_expect(&out, "inspect $D/src -m $D/judge.gguf", 65);
    assert_non_null(strstr(out.err, "name it with --judge-model"));
    cli_expect(&out, "inspect $D/src --find both --judge-model $D/none.gguf", 66);
    /* What the judge does not know it says nothing about, and the run is not complete. */
    cli_expect(&out, "candidates $D/src --judge -m $D/only_c.gguf --format json", 3);
    assert_non_null(strstr(out.err, "the judge was not trained on their language"));
    assert_non_null(strstr(out.out, "\"probability\":null"));
    cli_expect(&out, "inspect $D/src --find candidates --judge-model $D/only_c.gguf --fail-level never", 3);
    assert_non_null(strstr(out.out, "b.py: the judge was not trained on its language"));
    cli_expect(&out, "inspect $D/src/a.c --find candidates --judge-model $D/only_c.gguf --fail-level never", 0);
    cli_expect(&out, "candidates $D/src --judge -m $D/wrong.gguf", 65);
    assert_non_null(strstr(out.err, "RULE[/ROW]=SCALE:OFFSET"));
    /* What a model says of its training and cannot be. */
    cli_shell(&out, "$M convert -m $D/bare.gguf -o $D/far.gguf --type q8_0 --kv mythos.trained_tokens=1000000 && $M "
                    "convert -m $D/bare.gguf -o $D/long.gguf --type q8_0 --kv mythos.languages=$(printf '%0300d' 0)x");
    assert_int_equal(out.code, 0);
    cli_expect(&out, "candidates $D/src --judge -m $D/far.gguf", 65);
    assert_non_null(strstr(out.err, "far.gguf: mythos.trained_tokens: got 1000000, the model was made for "));
    cli_expect(&out, "candidates $D/src --judge -m $D/long.gguf", 65);
    assert_non_null(strstr(out.err, "long.gguf: mythos.languages: expected at most 255 bytes"));
}

/* The judge that ships says of some places what it said when it was made: its prompts are those of its training. */
static void the_judge_that_ships_knows_its_prompts(void **state)
{
    (void)state;
    static const struct {
        json_int_t line;
        const char *rule;
        double score;
    } row[] = {{13, "unchecked-return", -0.36},
               {14, "missing-bounds-check", 2.07},
               {21, "path-traversal", -6.06},
               {43, "shell-injection", 0.90}};
    json_t *all = cli_json(&out, "candidates tests/corpus/demo.c --judge --format json"), *place;
    const json_t *judged = json_object_get(all, "judged");
    size_t i, n_found = 0;
    assert_string_equal(json_string_value(json_object_get(judged, "model")), "mythos-judge.gguf");
    assert_true(json_is_true(json_object_get(judged, "calibrated")));
    json_array_foreach(json_object_get(all, "candidates"), i, place) for (size_t k = 0; k < 4; k++)
    {
        if (json_integer_value(json_object_get(place, "line")) != row[k].line ||
            strcmp(json_string_value(json_object_get(place, "rule")), row[k].rule) != 0)
            continue;
        n_found++;
        if (fabs(number_of(place, "score") - row[k].score) > 0.1)
            fail_msg("%s: %f", row[k].rule, number_of(place, "score"));
    }
    const size_t n_all = json_array_size(json_object_get(all, "candidates"));
    json_decref(all);
    if (!n_all)
        check_skip("no rules in this build");
    assert_int_equal(n_found, 4);
}

/* The text of the only prompt that a command prints, by a model of bytes. */
static void printed_prompt(char *dst, size_t cap, const char *args)
{
    json_error_t e;
    rig r = {0};
    int32_t ids[2048];
    size_t n = 0, i;
    json_t *id;
    cli_expect(&out, args, 0);
    json_t *all = json_loads(out.out, 0, &e), *list = json_object_get(all, "candidates");
    json_t *prompt = json_array_get(json_object_get(json_array_get(list, 0), "prompts"), 0);
    assert_int_equal(json_array_size(list), 1);
    json_array_foreach(prompt, i, id) if (n < 2048) ids[n++] = (int32_t)json_integer_value(id);
    json_decref(all);
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &rig_err));
    dst[myth_prompt_text(dst, cap - 1, r.model.tokenizer, ids, n)] = '\0';
    myth_model_close(&r.model);
    myth_mem_close(r.mem);
}

/* A judge sees what a change removed where its file says that it was trained so, without its comments. */
static void removed_lines_are_shown_to_those_that_know_them(void **state)
{
    (void)state;
    char got[1 << 13], plain[1 << 13];
    cli_shell(
        &out,
        "mkdir -p $D/r && printf 'int g(int n)\n{\n    char *p = malloc(n);\n    p[0] = 1;\n    free(p);\n    return "
        "0;\n}\n' >$D/r/a.c && printf -- '--- a/r/a.c\n+++ b/r/a.c\n@@ -1,9 +1,7 @@\n int g(int n)\n {\n     char *p "
        "= malloc(n);\n-    if (!p) // always there\n-        return 1;\n     p[0] = 1;\n     free(p);\n     return "
        "0;\n }\n' >$D/r.diff && for m in 0 1; do $M convert -m random:gemma3-tiny:q8_0 -o $D/r$m.gguf --type q8_0 "
        "--kv mythos.prompt=judge,mythos.trained_tokens=500,mythos.judge_removed=$m || exit 1; done");
    assert_int_equal(out.code, 0);
#define PRINT "candidates $D/r/a.c --judge --judge-prompts judge --format json --rules missing-null-check "
    cli_expect(&out, PRINT "-m $D/r1.gguf", 0);
    if (!strstr(out.out, "prompts"))
        check_skip("no rules in this build");
    printed_prompt(plain, sizeof(plain), PRINT "-m $D/r1.gguf");
    assert_null(strstr(plain, "return 1"));
    printed_prompt(got, sizeof(got), PRINT "-m $D/r1.gguf --diff $D/r.diff");
    assert_non_null(strstr(got, "malloc(n);\n-    if (!p)\n-        return 1;\n>    p[0] = 1;\n"));
    printed_prompt(got, sizeof(got), PRINT "-m $D/r0.gguf --diff $D/r.diff");
    assert_string_equal(got, plain);
    cli_expect(&out, "candidates $D/r/a.c --judge -m $D/r1.gguf --diff $D/r.diff", 0);
}

/* A text of a page that looks like the begin of a comment hides the functions behind it; the places in them are judged
 * by what the rules say, and the pattern of the other file hides nothing. */
static void a_function_without_a_line_is_judged(void **state)
{
    (void)state;
    char got[4096];
    cli_shell(&out, "mkdir -p $D/e && printf 'const a = <p>/*</p>;\n\nfunction f(b) {\n  const box = "
                    "document.getElementById(b);\n  return box.clientHeight;\n}\n' >$D/e/a.tsx && printf 'const r = "
                    "/\\/*x/;\n\nfunction f(b) {\n  const box = document.getElementById(b);\n  return "
                    "box.clientHeight;\n}\n' >$D/e/b.ts && $M convert -m $D/bare.gguf -o $D/e.gguf --type q8_0 --kv "
                    "mythos.prompt=judge,mythos.trained_tokens=500");
    assert_int_equal(out.code, 0);
    cli_expect(&out, "candidates $D/e --judge -m $D/e.gguf --format json --rules missing-null-check", 0);
    if (!strstr(out.out, "places"))
        check_skip("no rules in this build");
    assert_non_null(strstr(out.out, "\"probability\""));
    printed_prompt(got, sizeof(got),
                   "candidates $D/e/b.ts -m $D/e.gguf --judge --judge-prompts judge --format json --rules "
                   "missing-null-check");
    assert_non_null(strstr(got, ">  return box.clientHeight;\n"));
}

/* A language with the grammar of one that the judge was trained on is judged as that one; places of others have no
 * probability, and are left out where one is asked for. */
static void a_language_is_judged_as_its_grammar(void **state)
{
    (void)state;
    char got[4096];
    cli_shell(&out, "mkdir -p $D/l && printf 'function f(b) {\n  const box = document.getElementById(b);\n  return "
                    "box.clientHeight;\n}\n' >$D/l/a.jsx && $M convert -m $D/bare.gguf -o $D/l.gguf --type q8_0 --kv "
                    "'mythos.prompt=judge,mythos.trained_tokens=500,mythos.languages=c javascript'");
    assert_int_equal(out.code, 0);
#define ASK "candidates $D/l/a.jsx --judge --format json --rules missing-null-check "
    cli_expect(&out, ASK "-m $D/l.gguf", 0);
    if (!strstr(out.out, "places"))
        check_skip("no rules in this build");
    printed_prompt(got, sizeof(got), ASK "-m $D/l.gguf --judge-prompts judge");
    assert_non_null(strstr(got, "javascript missing-null-check: "));
    assert_null(strstr(got, "jsx"));
    cli_expect(&out, ASK "-m $D/only_c.gguf", 3);
    assert_non_null(strstr(out.out, "\"probability\":null"));
    cli_expect(&out, ASK "-m $D/only_c.gguf --confidence 0.0001", 3);
    assert_null(strstr(out.out, "\"probability\""));
    assert_non_null(strstr(out.err, "1 not judged: the judge was not trained on their language"));
    assert_null(strstr(out.err, "less probable"));
}

static int begin(void **state)
{
    if (cli_begin(state) != 0)
        return -1;
    cli_own_home();
    cli_shell(&out, "mkdir -p $D/src && head -60 tests/corpus/candidates/examples.py >$D/src/b.py && head -60 "
                    "tests/corpus/candidates/examples.c >$D/src/a.c && $M convert -m random:gemma3-tiny:q8_0 -o "
                    "$D/judge.gguf --type q8_0 --kv 'mythos.prompt=judge,mythos.trained_tokens=500,mythos.judge="
                    "confidence=0.35 missing-null-check=0.5:-1 *=2:0.25' && $M convert -m random:gemma3-tiny:q8_0 -o "
                    "$D/bare.gguf --type q8_0 --kv mythos.prompt=judge,mythos.trained_tokens=500 && printf "
                    "'confidence=0.35 missing-null-check=0.5:-1\\n*=2:0.25\\n' >$D/bare.gguf.judge && cp $D/bare.gguf "
                    "$D/wrong.gguf && $M convert -m $D/bare.gguf -o $D/only_c.gguf --type q8_0 --kv "
                    "'mythos.prompt=judge,mythos.trained_tokens=500,mythos.languages=cpp c java' && printf "
                    "'missing-null-check=1' >$D/wrong.gguf.judge");
    return out.code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_window_keeps_what_a_place_is_about),
        cmocka_unit_test(a_calibration_is_read),
        cmocka_unit_test(a_trained_judge_is_asked_in_its_form),
        cmocka_unit_test(a_score_is_that_of_the_whole_prompt),
        cmocka_unit_test(another_model_judges_than_writes),
        cmocka_unit_test(removed_lines_are_shown_to_those_that_know_them),
        cmocka_unit_test(a_function_without_a_line_is_judged),
        cmocka_unit_test(a_language_is_judged_as_its_grammar),
        cmocka_unit_test(the_judge_that_ships_knows_its_prompts),
    };
    return cmocka_run_group_tests(tests, begin, cli_end);
}
