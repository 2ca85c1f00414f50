/* test_inspect.c - the whole pipeline with a random model: every report parses, every citation holds, the ledger shows
 * exactly the planned memory, and any allocation may fail. */
#include "hostile.h"

#include "frontend/inspect/report/outputs.h"
#include "frontend/inspect/inspect.h"
#include "tests/support/rig.h"

#include <jansson.h>

#define SPEC        "random:gemma3-tiny:q8_0"
#define SPEC_FUZZED "random:gemma1-tiny:q8_0" /* the model with the fewest layers, for very many generations */

static void opts_default(myth_inspect_opts *o)
{
    *o = (myth_inspect_opts){
        .style = MYTH_PROMPT_COMPACT,
        .max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS,
        .max_new_tokens = 96,
    };
}

/* An inspection of one whole file, with its material. */
typedef struct {
    myth_material *material;
    myth_inspection *in;
} whole;

/* Findings that no answer has, about lines of `source`. */
static myth_given given[] = {
    {.first = 3,
     .last = 3,
     .rule = 1,
     .candidate = "a",
     .facts = "b=c",
     .evidence = {"return strlen(s) + 1;", 21},
     .why = {"because", 7},
     .probability = 0.9,
     .passes = true},
    {.first = 8,
     .last = 8,
     .rule = 18,
     .candidate = "a",
     .facts = "",
     .evidence = {"return 10 / n;", 14},
     .why = {"because", 7},
     .probability = 0.7,
     .passes = true},
    {.first = 8,
     .last = 8,
     .rule = 18,
     .candidate = "again",
     .facts = "",
     .evidence = {"return 10 / n;", 14},
     .why = {"because", 7},
     .probability = 0.7,
     .passes = true},
};

static myth_status whole_open(whole *w, const myth_model *m, const char *path, const void *bytes, size_t len,
                              const myth_inspect_opts *o, myth_error *err)
{
    *w = (whole){0};
    myth_status st = myth_material_whole(&w->material, m->mem, path, bytes, len, err);
    for (uint32_t i = 0; i < o->n_given && st == MYTH_OK; i++)
        given[i].src = myth_material_of(w->material, 0);
    return st == MYTH_OK ? myth_inspect_open(&w->in, m, w->material, o, err) : st;
}

static void whole_close(whole *w)
{
    myth_inspect_close(w->in);
    myth_material_close(w->material);
}

/* ---- what a report must be, checked with a JSON library and the bytes of the file ---- */

static json_t *render(const myth_report *r, bool lines)
{
    static char text[1 << 18];
    json_error_t err;
    FILE *f = fmemopen(text, sizeof(text), "w");
    assert_non_null(f);
    if (lines)
        myth_render_jsonl(f, r, NULL);
    else
        myth_render_json(f, r, NULL);
    long n = ftell(f);
    fclose(f);
    json_t *v = json_loadb(text, (size_t)n, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &err);
    if (!v)
        fail_msg("%s\n%.*s", err.text, (int)n, text);
    return v;
}

/* Whether the evidence is anywhere in the file as it is shown; lines do not matter here. */
static bool stands_in(const unsigned char *bytes, size_t len, const char *evidence, size_t n)
{
    static char shown[1 << 16];
    size_t m = myth_spell_lossy(shown, sizeof(shown), bytes, len);
    assert_true(m <= sizeof(shown));
    for (size_t i = 0; i + n <= m; i++)
        if (!memcmp(shown + i, evidence, n))
            return true;
    return false;
}

static size_t check_report(const myth_report *r, const unsigned char *bytes, size_t len)
{
    json_t *v = render(r, false);
    const json_t *list = json_object_get(v, "findings");
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        const json_t *f = json_array_get(list, i), *e = json_object_get(f, "evidence"),
                     *l = json_object_get(f, "lines");
        myth_citation c;
        assert_true(stands_in(bytes, len, json_string_value(e), json_string_length(e)));
        assert_int_equal(myth_verify(&c, &r->finding[i], r->block, r->n_block, r->finding, (uint32_t)i), MYTH_CITES);
        assert_true(c.line >= json_integer_value(json_array_get(l, 0)) &&
                    c.line <= json_integer_value(json_array_get(l, 1)));
        assert_true(json_string_length(json_object_get(f, "issue")) > 0);
    }
    assert_true(!r->complete || !strcmp(r->finish_reason, "stop"));
    json_decref(v);
    return n;
}

static void test_fuzzed_generations(void **unused)
{
    (void)unused;
    enum { FILE_MAX = 500, CTX = 2048 };
    static const char *const path[] = {"a.c", "b \"q\\.py", "\xff.js", "very/long/path/to/a/file/of/some/name.cc"};
    unsigned char bytes[FILE_MAX];
    uint64_t rng = check_seed();
    uint32_t n_run = check_is_full() ? 10000 : check_sample(40);
    size_t n_finding = 0, n_complete = 0, n_inspected = 0;
    rig r;
    rig_open(&r, SPEC_FUZZED,
             &(myth_engine_opts){
                 .n_threads = 1,
                 .n_ctx = CTX,
                 .n_checkpoint = 1,
                 .top_k = 1024,
                 .n_mask = 1,
                 .n_ubatch = 256,
             });
    uint32_t i = 0;
    for (; check_goes_on(i, n_run, n_finding && n_complete); i++) {
        size_t len = hostile_fill(&rng, bytes, FILE_MAX);
        whole w;
        myth_inspect_opts o;
        opts_default(&o);
        o.n_ctx = CTX;
        o.max_new_tokens = 1 + check_below(&rng, check_below(&rng, 4) ? 200 : 600);
        o.two_pass = check_below(&rng, 8) == 0;
        o.split = check_below(&rng, 4) == 0;
        if (o.split)
            o.max_prompt_tokens = 250 + check_below(&rng, 300);
        o.sample.temp = check_below(&rng, 3) ? 1.0f + 40.0f * check_unit(&rng) : 0.0f;
        o.sample.seed = check_rand(&rng);
        assert_int_equal(whole_open(&w, &r.model, path[check_below(&rng, 4)], bytes, len, &o, NULL), MYTH_OK);
        if (!myth_inspect_report(w.in)->refusal) {
            assert_ok(myth_inspect_run(w.in, r.engine, &rig_err));
            n_inspected++;
        }
        n_finding += check_report(myth_inspect_report(w.in), bytes, len);
        n_complete += myth_inspect_report(w.in)->complete;
        whole_close(&w);
    }
    rig_close(&r);
    printf("%u files, %zu inspected, %zu complete, %zu findings, all cited\n", i, n_inspected, n_complete, n_finding);
    assert_true(n_inspected > i / 2 && n_finding > 0 && n_complete > 0);
}

/* ---- order, limits ---- */

static const char source[] = "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n\nint g(int n)\n{\n\treturn 10 / "
                             "n;\n}\n\nint h(void)\n{\n\treturn 0;\n}\n";

static void inspect_text(char *dst, size_t cap, const rig *r, const myth_inspect_opts *o)
{
    whole w;
    assert_ok(whole_open(&w, &r->model, "a.c", source, sizeof(source) - 1, o, &rig_err));
    assert_ok(myth_inspect_run(w.in, r->engine, &rig_err));
    FILE *f = fmemopen(dst, cap, "w");
    myth_render_json(f, myth_inspect_report(w.in), NULL);
    fclose(f);
    whole_close(&w);
}

static void test_same_bytes_twice(void **unused)
{
    (void)unused;
    static char a[16384], b[16384];
    myth_inspect_opts o;
    rig r;
    opts_default(&o);
    o.n_ctx = 1024;
    o.max_new_tokens = 300;
    rig_open(&r, SPEC, &(myth_engine_opts){.n_threads = 1, .n_ctx = 1024, .n_checkpoint = 1, .top_k = 64, .n_mask = 1});
    inspect_text(a, sizeof(a), &r, &o);
    inspect_text(b, sizeof(b), &r, &o);
    assert_string_equal(a, b);
    o.split = true;
    o.max_prompt_tokens = 260;
    inspect_text(a, sizeof(a), &r, &o);
    inspect_text(b, sizeof(b), &r, &o);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "\"parts\":3"));
    rig_close(&r);
}

/* The parts' answers are the same whether they share the computed prefix of the prompt or each computes its own. */
static void test_shared_prefix_changes_nothing(void **unused)
{
    (void)unused;
    static char shared[65536], alone[65536];
    rig r;
    myth_inspect_opts o;
    opts_default(&o);
    o.n_ctx = 1024;
    o.split = true;
    o.max_prompt_tokens = 260;
    rig_open(&r, SPEC, &(myth_engine_opts){.n_threads = 1, .n_ctx = 1024, .n_checkpoint = 1, .top_k = 64, .n_mask = 1});
    inspect_text(shared, sizeof(shared), &r, &o);
    o.is_isolated = true;
    inspect_text(alone, sizeof(alone), &r, &o);
    assert_string_equal(shared, alone);
    rig_close(&r);
}

static void test_limit_is_exact(void **unused)
{
    (void)unused;
    myth_mem *mem;
    myth_model m;
    myth_inspect_opts o;
    whole w;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_ok(myth_model_open(&m, mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    opts_default(&o);
    assert_ok(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    uint32_t n = myth_inspect_report(w.in)->prompt_tokens;
    assert_null(myth_inspect_report(w.in)->refusal);
    whole_close(&w);

    o.max_prompt_tokens = n;
    assert_ok(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    assert_null(myth_inspect_report(w.in)->refusal);
    whole_close(&w);

    o.max_prompt_tokens = n - 1;
    assert_ok(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    const myth_refusal *why = myth_inspect_report(w.in)->refusal;
    assert_non_null(why);
    assert_int_equal(why->count, n);
    assert_int_equal(why->limit, n - 1);
    assert_true(why->n_remedy >= 3);
    assert_string_equal(myth_inspect_report(w.in)->finish_reason, "refused");
    json_t *v = render(myth_inspect_report(w.in), false);
    assert_true(json_is_object(json_object_get(v, "refusal")));
    assert_true(json_is_false(json_object_get(v, "complete")));
    json_decref(v);
    whole_close(&w);

    o.max_prompt_tokens = MYTH_INSPECT_PROMPT_TOKENS;
    o.n_ctx = n + o.max_new_tokens - 1; /* prompt and output are one token over the context */
    assert_ok(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    assert_non_null(myth_inspect_report(w.in)->refusal);
    whole_close(&w);
    o.n_ctx++;
    assert_ok(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    assert_null(myth_inspect_report(w.in)->refusal);
    whole_close(&w);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_cancel_keeps_what_is_there(void **unused)
{
    (void)unused;
    static const myth_cancel cancel = 1;
    myth_inspect_opts o;
    whole w;
    rig r;
    opts_default(&o);
    o.n_ctx = 1024;
    o.cancel = &cancel;
    rig_open(&r, SPEC, &(myth_engine_opts){.n_threads = 1, .n_ctx = 1024, .n_checkpoint = 1, .top_k = 64, .n_mask = 1});
    assert_ok(whole_open(&w, &r.model, "a.c", source, sizeof(source) - 1, &o, &rig_err));
    assert_ok(myth_inspect_run(w.in, r.engine, &rig_err));
    assert_string_equal(myth_inspect_report(w.in)->finish_reason, "cancelled");
    assert_false(myth_inspect_report(w.in)->complete);
    json_decref(render(myth_inspect_report(w.in), true));
    whole_close(&w);
    rig_close(&r);
}

/* ---- memory ---- */

/* Does a whole inspection with all memory booked in mem. Sets *plan and writes the report to dst. */
static myth_status whole_run(myth_mem *mem, const myth_inspect_opts *o, myth_plan *plan, char *dst, size_t cap,
                             myth_error *err)
{
    myth_model m = {0};
    myth_engine *e = NULL;
    whole w = {0};
    myth_engine_opts eo = {.n_threads = 1, .n_ubatch = 64};
    myth_plan_extra extra;
    myth_status st;
    FILE *f;
    MYTH_TRY(myth_model_open(&m, mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, err));
    MYTH_TRY(whole_open(&w, &m, "a.c", source, sizeof(source) - 1, o, err));
    MYTH_TRY(myth_inspect_needs(w.in, &eo, &extra, err));
    MYTH_TRY(myth_plan_make(plan, &m, &eo, &extra, NULL, false, err));
    MYTH_TRY(myth_engine_open(&e, &m, &eo, err));
    MYTH_TRY(myth_inspect_run(w.in, e, err));
    f = fmemopen(dst, cap, "w");
    myth_render_json(f, myth_inspect_report(w.in), NULL);
    fclose(f);
fail:
    myth_engine_close(e);
    whole_close(&w);
    myth_model_close(&m);
    return st;
}

static void test_plan_is_the_ledger(void **unused)
{
    (void)unused;
    static char text[65536];
    /* 4 and 5 as 2 and 3, with answers beside each other; the others with given findings, the last alone */
    for (int shape = 0; shape < 10; shape++) {
        myth_mem *mem;
        myth_plan plan;
        myth_inspect_opts o;
        opts_default(&o);
        o.max_new_tokens = 40;
        o.two_pass = shape & 1;
        o.split = shape >= 2 && shape < 8;
        o.n_job = shape == 4 || shape == 5 ? 3 : 1;
        o.given = given;
        o.n_given = shape >= 6 ? 3 : 0;
        o.explains_given = true;
        o.only_given = shape == 9;
        if (o.split)
            o.max_prompt_tokens = 260;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        assert_ok(whole_run(mem, &o, &plan, text, sizeof(text), &rig_err));
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            myth_mem_count n = myth_mem_get(mem, MYTH_MEM_HOST, (myth_mem_class)c);
            if (n.peak != plan.bytes[c] || n.live)
                fail_msg("%s: planned %llu, peak %llu, live %llu", myth_mem_class_name((myth_mem_class)c),
                         (unsigned long long)plan.bytes[c], (unsigned long long)n.peak, (unsigned long long)n.live);
        }
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

static void test_every_allocation_may_fail(void **unused)
{
    (void)unused;
    static char good[65536], text[65536];
    myth_mem *mem;
    myth_plan plan;
    myth_inspect_opts o;
    opts_default(&o);
    o.max_new_tokens = 24;
    o.two_pass = o.split = true;
    o.n_job = 2;
    o.max_prompt_tokens = 260;
    o.given = given;
    o.n_given = 3;
    o.explains_given = true;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_ok(whole_run(mem, &o, &plan, good, sizeof(good), &rig_err));
    uint64_t n_alloc = myth_mem_n_alloc(mem), n_failed = 0;
    for (uint64_t nth = 1; nth <= n_alloc; nth += check_is_full() || nth < 12 ? 1 : 1 + n_alloc / check_sample(60)) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = whole_run(mem, &o, &plan, text, sizeof(text), &rig_err);
        myth_mem_set_fault(mem, NULL);
        if (st != MYTH_OK && st != MYTH_ENOMEM)
            fail_msg("allocation %llu: %s %s", (unsigned long long)nth, myth_status_name(st), rig_err.msg);
        if (st == MYTH_OK)
            assert_string_equal(text, good);
        n_failed += st != MYTH_OK;
        assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
    }
    printf("%llu allocations, %llu failures seen\n", (unsigned long long)n_alloc, (unsigned long long)n_failed);
    assert_true(n_failed > 0);
    assert_ok(whole_run(mem, &o, &plan, text, sizeof(text), &rig_err));
    assert_string_equal(text, good);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_same_bytes_twice),
        cmocka_unit_test(test_shared_prefix_changes_nothing),
        cmocka_unit_test(test_cancel_keeps_what_is_there),
        cmocka_unit_test(test_plan_is_the_ledger),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_fuzzed_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
