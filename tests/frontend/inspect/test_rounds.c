/* test_rounds.c - inspections of several files, in rounds, with a random model: context that the model asks for is
 * added to the same sequence, every citation holds in its file, and the ledger shows exactly the planned memory, of
 * which nothing is allocated while answers are made. */
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/support/rig.h"

#include <jansson.h>

#define SPEC "random:gemma3-tiny:q8_0"
enum { CTX = 8192 };

static const char *const path[] = {"src/a.c", "src/b \"q\\.c", "lib/c.py"};
static const char *const text[] = {
    "int f(char *s)\n{\n\treturn strlen(s) + 1;\n}\n\nint g(int n)\n{\n\treturn 10 / n;\n}\n",
    "#include \"a.h\"\n\nint call(void)\n{\n\treturn g(0);\n}\n\nint other(int *p)\n{\n\treturn *p;\n}\n",
    "import os\n\ndef run(cmd):\n    os.system(cmd)\n\ndef test_run():\n    run('ls')\n",
};

static void put_all(myth_material *m)
{
    uint32_t source;
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(myth_material_put(m, &source, path[i], (const unsigned char *)text[i], strlen(text[i]), &rig_err));
}

static void add(myth_material *m, uint32_t source, uint32_t first, uint32_t last, const char *symbol, bool is_subject)
{
    assert_ok(myth_material_add(
        m, NULL,
        &(myth_piece){.source = source, .first = first, .last = last, .symbol = symbol, .is_subject = is_subject},
        &rig_err));
}

/* ---- the context that a model asks for ---- */

typedef struct {
    uint64_t rng;
    const myth_mem *mem;
    uint64_t n_alloc; /* allocations in mem when the first answer began */
    bool has_begun;
    uint32_t n_request, n_added, n_exchange, n_context, n_unknown, part, n_ids_before, n_new_before;
    int32_t ids[CTX]; /* the prompt of the exchange before */
} bed;

/* Answers a request at random, whatever it asks for: with nothing, with a similar name, or with lines of a file that is
 * there already or new. */
static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    bed *b = user;
    static const char extra[] = "struct s {\n    int n;\n};\n\nvoid use(struct s *p)\n{\n    p->n++;\n}\n";
    uint32_t source, kind = check_below(&b->rng, 5);
    b->n_request++;
    assert_non_null(strstr(request, "::"));
    assert_true(myth_material_piece(m, of)->is_subject);
    if (kind == 0) {
        b->n_unknown++;
        return 0;
    }
    if (kind == 1) {
        b->n_unknown++;
        snprintf(near, near_cap, "src/a.c::f, </file> src/b.c::%s", request);
        return 0;
    }
    if (kind == 2) {
        char name[32];
        snprintf(name, sizeof(name), "inc/e%u.h", check_below(&b->rng, 3));
        if (myth_material_put(m, &source, name, (const unsigned char *)extra, sizeof(extra) - 1, NULL) != MYTH_OK)
            return 0;
    } else {
        source = check_below(&b->rng, 3);
    }
    uint32_t n_line = myth_material_of(m, source)->n_line, first = 1 + check_below(&b->rng, n_line);
    if (myth_material_add(m, NULL,
                          &(myth_piece){
                              .source = source,
                              .first = first,
                              .last = first + check_below(&b->rng, 8),
                              .of = of,
                              .symbol = "x",
                          },
                          NULL) != MYTH_OK)
        return 0;
    b->n_added++;
    return 1;
}

static void on_exchange(void *user, const myth_exchange *x)
{
    bed *b = user;
    b->n_exchange++;
    if (x->kind == MYTH_EXCHANGE_CONTEXT) { /* the sequence goes on where the answer before it ended */
        b->n_context++;
        assert_int_equal(x->part, b->part);
        assert_true(x->round >= 1 && x->n_ids > x->n_kept);
        assert_int_equal(x->n_kept, b->n_ids_before + b->n_new_before);
        assert_memory_equal(x->ids, b->ids, b->n_ids_before * sizeof(int32_t));
    }
    assert_true(x->n_ids <= CTX && x->n >= 30 && x->seconds >= 0);
    assert_memory_equal(x->text, "{\"findings\":[", 13);
    b->part = x->part;
    b->n_ids_before = x->n_ids;
    b->n_new_before = x->n_new;
    memcpy(b->ids, x->ids, x->n_ids * sizeof(int32_t));
    if (b->has_begun)
        assert_int_equal(myth_mem_n_alloc(b->mem), b->n_alloc);
}

static void on_progress(void *user, const char *what, uint32_t part, uint32_t n_part, uint32_t done, uint32_t total)
{
    bed *b = user;
    (void)done, (void)total;
    assert_true(part < n_part);
    if (!b->has_begun && strcmp(what, "reading") != 0 && strncmp(what, "cutting", 7) != 0) {
        b->has_begun = true;
        b->n_alloc = myth_mem_n_alloc(b->mem);
    }
}

/* ---- what a report must be ---- */

static json_t *render(const myth_report *r, myth_form form)
{
    static char out[1 << 19];
    const myth_term plain = {0};
    json_error_t err;
    FILE *f = fmemopen(out, sizeof(out), "w");
    myth_output_render(f, form, r, &plain);
    long n = ftell(f);
    fclose(f);
    assert_true(n > 0 && (size_t)n < sizeof(out));
    json_t *v = json_loadb(out, (size_t)n, JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &err);
    if (!v)
        fail_msg("%s", err.text);
    return v;
}

/* Returns the text of lines of a file, from its bytes. */
static size_t lines_of(char *dst, const myth_source *src, uint32_t first, uint32_t last)
{
    size_t n = 0;
    uint32_t at = 1;
    for (uint32_t i = 0; i < src->len && at <= last; i++) {
        if (at >= first)
            dst[n++] = (char)src->bytes[i];
        at += src->bytes[i] == '\n';
    }
    return n;
}

static uint32_t check_report(const myth_report *r)
{
    static char lines[1 << 14];
    json_t *v = render(r, MYTH_FORM_JSON), *s = render(r, MYTH_FORM_SARIF);
    const json_t *list = json_object_get(v, "findings"), *files = json_object_get(v, "files");
    const json_t *run = json_array_get(json_object_get(s, "runs"), 0), *artifacts = json_object_get(run, "artifacts");
    assert_int_equal(json_array_size(list), r->n_finding);
    assert_int_equal(json_array_size(files), r->n_file);
    assert_int_equal(json_array_size(artifacts), r->n_file);
    for (size_t i = 0; i < r->n_finding; i++) {
        const json_t *f = json_array_get(list, i), *l = json_object_get(f, "lines");
        const myth_finding *w = &r->finding[i];
        const myth_source *src = r->block[w->block].src;
        myth_citation c;
        assert_int_equal(myth_verify(&c, w, r->block, r->n_block, r->finding, (uint32_t)i), MYTH_CITES);
        assert_string_equal(json_string_value(json_object_get(f, "file")), src->path);
        size_t n = lines_of(lines, src, (uint32_t)json_integer_value(json_array_get(l, 0)),
                            (uint32_t)json_integer_value(json_array_get(l, 1)));
        lines[n] = '\0';
        assert_non_null(strstr(lines, json_string_value(json_object_get(f, "evidence"))));
        bool is_shown = false;
        for (uint32_t k = 0; k < r->n_block; k++)
            is_shown |= r->block[k].src == src && w->first >= r->block[k].first && w->last <= r->block[k].last;
        assert_true(is_shown);
        const json_t *where = json_object_get(
            json_array_get(json_object_get(json_array_get(json_object_get(run, "results"), i), "locations"), 0),
            "physicalLocation");
        const json_t *at = json_object_get(where, "artifactLocation");
        const json_t *same = json_object_get(
            json_array_get(artifacts, (size_t)json_integer_value(json_object_get(at, "index"))), "location");
        assert_string_equal(json_string_value(json_object_get(at, "uri")),
                            json_string_value(json_object_get(same, "uri")));
    }
    assert_int_equal(json_integer_value(json_object_get(v, "context_rounds")), r->n_round);
    assert_int_equal(json_array_size(json_object_get(v, "context_requests")), r->n_request);
    json_decref(s);
    json_decref(v);
    return r->n_finding;
}

/* Chooses random options; fixed is the number of tokens that rules and task have in every part. */
static void opts_of(myth_inspect_opts *o, bed *b, uint64_t *rng, uint32_t fixed)
{
    *o = (myth_inspect_opts){
        .style = MYTH_PROMPT_FULL,
        .max_prompt_tokens = 6000,
        .max_new_tokens = 800,
        .n_ctx = CTX,
        .split = true,
        .context_rounds = 1 + check_below(rng, 3),
        .on_context = on_context,
        .on_exchange = on_exchange,
        .on_progress = on_progress,
        .user = b,
    };
    o->sample.temp = check_below(rng, 8) ? 20.0f + 60.0f * check_unit(rng)
                                         : 0.0f; /* hot, so that bytes that end a text are as likely as others */
    o->sample.seed = check_rand(rng);
    o->two_pass = check_below(rng, 6) == 0;
    if (check_below(rng, 3) == 0)
        o->max_prompt_tokens =
            fixed + 220 + check_below(rng, 300); /* room for about one subject in each part, and for few rounds */
}

static void test_rounds(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    uint32_t fixed = 0, n_run = check_is_full() ? 150 : check_sample(24), n_round = 0, n_finding = 0, n_served = 0,
             n_unknown = 0, n_part = 0, n_split = 0;
    static bed b;
    rig r;
    rig_open(&r, SPEC,
             &(myth_engine_opts){
                 .n_threads = 1,
                 .n_ctx = CTX,
                 .n_checkpoint = 1,
                 .top_k = 1024,
                 .n_mask = 1,
                 .n_ubatch = 256,
             });
    for (uint32_t i = 0; check_goes_on(i, n_run, n_round && n_served && n_unknown && n_finding && n_split); i++) {
        myth_material *m;
        myth_inspection *in;
        myth_inspect_opts o;
        b = (bed){.rng = check_rand(&rng), .mem = r.mem};
        opts_of(&o, &b, &rng, fixed ? fixed : 5000);
        assert_ok(myth_material_open(&m, r.mem, NULL, &rig_err));
        put_all(m);
        add(m, 0, 1, 4, "f", true);
        add(m, 0, 6, 9, "g", true);
        add(m, 1, 3, 6, "call", false);
        add(m, 2, 3, 4, "run", true);
        assert_ok(myth_inspect_open(&in, &r.model, m, &o, &rig_err));
        const myth_report *rep = myth_inspect_report(in);
        assert_null(rep->refusal);
        fixed = rep->budget->rules + rep->budget->task;
        assert_ok(myth_inspect_run(in, r.engine, &rig_err));
        n_finding += check_report(rep);
        n_round += rep->n_round;
        n_part += rep->n_part;
        n_split += rep->n_part > 1;
        assert_int_equal(rep->n_round, b.n_context);
        assert_true(b.n_exchange >= rep->n_part + rep->n_round);
        for (uint32_t k = 0; k < rep->n_request; k++) {
            n_served += rep->request[k].result == MYTH_REQUEST_SERVED;
            n_unknown += rep->request[k].result == MYTH_REQUEST_UNKNOWN;
        }
        assert_true(rep->n_context <= rep->n_request);
        uint32_t n_piece = myth_material_n_piece(m);
        myth_inspect_close(in);
        assert_true(myth_material_n_piece(m) == 4 && n_piece >= 4); /* the pieces that rounds added are removed */
        myth_material_close(m);
    }
    rig_close(&r);
    printf("sample of %u: %u parts, %u rounds, %u requests served, %u unknown, %u findings, all cited\n", n_run, n_part,
           n_round, n_served, n_unknown, n_finding);
    assert_true(n_round > 0 && n_served > 0 && n_unknown > 0 && n_finding > 0 && n_split > 0);
}

/* ---- memory ---- */

static myth_status whole_run(myth_mem *mem, bed *b, myth_plan *plan, uint32_t *n_round, myth_error *err)
{
    myth_model model = {0};
    myth_engine *e = NULL;
    myth_material *m = NULL;
    myth_inspection *in = NULL;
    myth_engine_opts eo = {.n_threads = 1, .n_ubatch = 64};
    myth_plan_extra extra;
    myth_status st;
    uint32_t source;
    const myth_inspect_opts o = {
        .style = MYTH_PROMPT_FULL,
        .max_prompt_tokens = 6000,
        .max_new_tokens = 300,
        .context_rounds = 2,
        .on_context = on_context,
        .user = b,
        .task = "Find what is wrong.",
        .map = "src/\n  a.c f g\n",
        .sample = {.temp = 60.0f, .seed = b->rng},
    };
    *n_round = 0;
    MYTH_TRY(myth_model_open(&model, mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, err));
    MYTH_TRY(myth_material_open(&m, mem, NULL, err));
    for (uint32_t i = 0; i < 3; i++)
        MYTH_TRY(myth_material_put(m, &source, path[i], (const unsigned char *)text[i], strlen(text[i]), err));
    MYTH_TRY(myth_material_add(m, NULL, &(myth_piece){.source = 0, .first = 1, .last = 4, .is_subject = true}, err));
    MYTH_TRY(myth_material_add(m, NULL, &(myth_piece){.source = 1, .first = 3, .last = 6}, err));
    MYTH_TRY(myth_inspect_open(&in, &model, m, &o, err));
    MYTH_TRY(myth_inspect_needs(in, &eo, &extra, err));
    MYTH_TRY(myth_plan_make(plan, &model, &eo, &extra, NULL, false, err));
    MYTH_TRY(myth_engine_open(&e, &model, &eo, err));
    MYTH_TRY(myth_inspect_run(in, e, err));
    *n_round = myth_inspect_report(in)->n_round;
fail:
    myth_engine_close(e);
    myth_inspect_close(in);
    myth_material_close(m);
    myth_model_close(&model);
    return st;
}

static void test_plan_is_the_ledger(void **unused)
{
    (void)unused;
    uint32_t n_with = 0, n_round;
    static bed b;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        myth_mem *mem;
        myth_plan plan;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        b = (bed){.rng = seed, .mem = mem};
        assert_ok(whole_run(mem, &b, &plan, &n_round, &rig_err));
        n_with += n_round > 0;
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            myth_mem_count n = myth_mem_get(mem, MYTH_MEM_HOST, (myth_mem_class)c);
            if (n.peak != plan.bytes[c] || n.live)
                fail_msg("%s: planned %llu, peak %llu, live %llu", myth_mem_class_name((myth_mem_class)c),
                         (unsigned long long)plan.bytes[c], (unsigned long long)n.peak, (unsigned long long)n.live);
        }
        assert_int_equal(myth_mem_close(mem), 0);
    }
    printf("%u of 12 runs had rounds\n", n_with);
    assert_true(n_with > 0);
}

static void test_every_allocation_may_fail(void **unused)
{
    (void)unused;
    static bed b;
    myth_mem *mem;
    myth_plan plan;
    uint32_t n_round;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    b = (bed){.rng = 3, .mem = mem};
    assert_ok(whole_run(mem, &b, &plan, &n_round, &rig_err));
    uint64_t n_alloc = myth_mem_n_alloc(mem), n_failed = 0;
    for (uint64_t nth = 1; nth <= n_alloc; nth += check_is_full() ? 1 : 1 + n_alloc / check_sample(40)) {
        b = (bed){.rng = 3, .mem = mem};
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = whole_run(mem, &b, &plan, &n_round, &rig_err);
        myth_mem_set_fault(mem, NULL);
        if (st != MYTH_OK && st != MYTH_ENOMEM)
            fail_msg("allocation %llu: %s %s", (unsigned long long)nth, myth_status_name(st), rig_err.msg);
        n_failed += st != MYTH_OK;
        assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
    }
    assert_true(n_failed > 0);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* ---- the budget ---- */

typedef struct {
    rig r;
    myth_material *m;
    myth_inspection *in;
    const myth_report *rep;
} counted;

static void count(counted *c, const myth_inspect_opts *o)
{
    myth_inspect_close(c->in);
    c->in = NULL;
    assert_ok(myth_inspect_open(&c->in, &c->r.model, c->m, o, &rig_err));
    c->rep = myth_inspect_report(c->in);
}

static void test_budget(void **unused)
{
    (void)unused;
    static char map[4096];
    counted c = {0};
    for (int i = 0; i < 60; i++)
        snprintf(map + strlen(map), sizeof(map) - strlen(map), "src/file%d.c: int name%d(void)\n", i, i);
    assert_int_equal(myth_mem_open(&c.r.mem, 0, NULL), MYTH_OK);
    assert_ok(myth_model_open(&c.r.model, c.r.mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    assert_ok(myth_material_open(&c.m, c.r.mem, NULL, &rig_err));
    put_all(c.m);
    add(c.m, 0, 1, 9, NULL, true);
    add(c.m, 1, 1, 11, NULL, true);
    myth_inspect_opts o = {.style = MYTH_PROMPT_FULL, .max_prompt_tokens = 12000, .max_new_tokens = 100};
    count(&c, &o);
    const myth_budget *b = c.rep->budget;
    uint32_t bare = c.rep->prompt_tokens, code = b->code;
    assert_true(!c.rep->refusal && b->rules > 300 && b->map == 0 && b->task > 0 && code > 100);
    assert_int_equal(b->rules + b->task + code, bare);
    assert_int_equal(b->code_room, 12000 - b->rules - b->task); /* the code may use all that the others do not */
    assert_int_equal(b->code_lent, b->code_room - (12000 - 1000 - MYTH_INSPECT_MAP_TOKENS - MYTH_INSPECT_TASK_TOKENS));

    o.map = map; /* fits in the map's room */
    o.task = "Where is the defect?";
    count(&c, &o);
    b = c.rep->budget;
    assert_true(b->map > 1000 && b->map <= b->map_room && !b->is_map_cut && b->task > 5);
    assert_int_equal(b->rules + b->map + b->task + b->code, c.rep->prompt_tokens);

    for (o.map_tokens = 1; o.map_tokens < 1200;
         o.map_tokens += check_is_full() ? 7 : 97) { /* a map that does not fit is cut to its room */
        count(&c, &o);
        b = c.rep->budget;
        assert_true(b->map <= o.map_tokens && b->is_map_cut);
        assert_int_equal(b->rules + b->map + b->task + b->code, c.rep->prompt_tokens);
        assert_int_equal(b->code_room, 12000 - b->rules - b->map - b->task);
    }
    o.map = NULL;
    o.task_tokens = 5; /* a task that does not fit is refused */
    count(&c, &o);
    assert_non_null(c.rep->refusal);
    assert_non_null(strstr(c.rep->refusal->reason, "the task is too long"));
    o.task_tokens = 0;
    o.task = NULL;
    o.code_tokens = code - 1; /* code that does not fit is refused, or split with --split */
    count(&c, &o);
    assert_non_null(c.rep->refusal);
    assert_int_equal(c.rep->refusal->count, code);
    o.split = true;
    count(&c, &o);
    assert_null(c.rep->refusal);
    assert_true(c.rep->n_part == 2 && c.rep->budget->code_most <= o.code_tokens);
    o.code_tokens = code;
    count(&c, &o);
    assert_true(c.rep->n_part == 1 && c.rep->budget->code_most == code);
    myth_inspect_close(c.in);
    myth_material_close(c.m);
    myth_model_close(&c.r.model);
    assert_int_equal(myth_mem_close(c.r.mem), 0);
}

/* When rules and task alone leave no room for code, the inspection is refused. The refusal has the tokens that every
 * part needs without code, and the limit of a part. */
static void test_no_room_for_code(void **unused)
{
    (void)unused;
    counted c = {0};
    assert_int_equal(myth_mem_open(&c.r.mem, 0, NULL), MYTH_OK);
    assert_ok(myth_model_open(&c.r.model, c.r.mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    assert_ok(myth_material_open(&c.m, c.r.mem, NULL, &rig_err));
    put_all(c.m);
    add(c.m, 0, 1, 9, NULL, true);
    myth_inspect_opts o = {.style = MYTH_PROMPT_FULL, .max_prompt_tokens = 300, .max_new_tokens = 100, .split = true};
    count(&c, &o);
    assert_non_null(c.rep->refusal);
    assert_non_null(strstr(c.rep->refusal->reason, "rules, map and task leave no room for code: "));
    assert_true(c.rep->refusal->count >= c.rep->budget->rules + c.rep->budget->task);
    assert_true(c.rep->refusal->count < c.rep->prompt_tokens); /* the count is without code */
    assert_int_equal(c.rep->refusal->limit, 300);
    assert_non_null(strstr(c.rep->refusal->remedy[0], "--prompt-style compact"));
    o.max_prompt_tokens = (uint32_t)c.rep->refusal->count + 200;
    count(&c, &o);
    assert_null(c.rep->refusal);
    myth_inspect_close(c.in);
    myth_material_close(c.m);
    myth_model_close(&c.r.model);
    assert_int_equal(myth_mem_close(c.r.mem), 0);
}

/* Memory is reserved for rounds only as far as the prompt's limit leaves tokens for them. */
static void test_rounds_reserve_what_they_can_use(void **unused)
{
    (void)unused;
    static bed b;
    static const uint32_t rooms[] = {0, 200, 1900, 5000};
    counted c = {0};
    uint32_t bare = 0;
    uint64_t none = 0;
    assert_int_equal(myth_mem_open(&c.r.mem, 0, NULL), MYTH_OK);
    assert_ok(myth_model_open(&c.r.model, c.r.mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    for (int i = -1; i < 4; i++) { /* -1 = without rounds, then with each of the rooms */
        const uint32_t room = i < 0 ? 0 : rooms[i],
                       turns = room < 2 * MYTH_INSPECT_ROUND_TOKENS ? room : 2 * MYTH_INSPECT_ROUND_TOKENS;
        const myth_inspect_opts o = {
            .style = MYTH_PROMPT_FULL,
            .max_prompt_tokens = i < 0 ? 12000 : bare + room,
            .max_new_tokens = 100,
            .context_rounds = 2,
            .on_context = i < 0 ? NULL : on_context,
            .user = &b,
        };
        myth_engine_opts eo = {.n_threads = 1};
        myth_plan_extra extra;
        assert_ok(myth_material_open(&c.m, c.r.mem, NULL, &rig_err));
        put_all(c.m);
        add(c.m, 0, 1, 9, NULL, true);
        count(&c, &o);
        assert_null(c.rep->refusal);
        assert_ok(myth_inspect_needs(c.in, &eo, &extra, &rig_err));
        const uint64_t want = c.rep->prompt_tokens + 100 + (turns ? turns + 200 : 0),
                       staging = extra.bytes[MYTH_MEM_STAGING];
        if (eo.n_ctx < want || eo.n_ctx >= want + 64)
            fail_msg("%u tokens left for turns: a context of %u, expected %llu", room, eo.n_ctx,
                     (unsigned long long)want);
        bare = c.rep->prompt_tokens;
        none = i < 0 ? staging : none;
        assert_true(room ? staging > none + (4u << 20) && staging < none + (8u << 20) : staging < none + (1u << 20));
        myth_inspect_close(c.in);
        c.in = NULL;
        myth_material_close(c.m);
    }
    myth_model_close(&c.r.model);
    assert_int_equal(myth_mem_close(c.r.mem), 0);
}

/* No part of a random material has more tokens than the limit, as the model's tokenizer counts them. */
static void test_no_part_over_the_limit(void **unused)
{
    (void)unused;
    uint64_t rng = check_seed();
    counted c = {0};
    uint32_t n_part = 0, n_run = check_is_full() ? 1000 : check_sample(30);
    assert_int_equal(myth_mem_open(&c.r.mem, 0, NULL), MYTH_OK);
    assert_ok(myth_model_open(&c.r.model, c.r.mem, SPEC, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    for (uint32_t i = 0; i < n_run; i++) {
        myth_inspect_opts o = {
            .style = MYTH_PROMPT_COMPACT,
            .max_prompt_tokens = 300 + check_below(&rng, 400),
            .max_new_tokens = 100,
            .split = true,
        };
        assert_ok(myth_material_open(&c.m, c.r.mem, NULL, &rig_err));
        put_all(c.m);
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t source = check_below(&rng, 3), first = 1 + check_below(&rng, 7);
            add(c.m, source, first, first + check_below(&rng, 5), check_below(&rng, 2) ? "f" : NULL,
                k == 0 || check_below(&rng, 2));
        }
        count(&c, &o);
        if (!c.rep->refusal)
            for (uint32_t k = 0; k < myth_inspect_n_part(c.in); k++, n_part++) {
                uint32_t n_block, n_tok;
                myth_inspect_part(c.in, k, &n_block, &n_tok);
                assert_true(n_block >= 1 && n_tok <= o.max_prompt_tokens);
            }
        myth_inspect_close(c.in);
        c.in = NULL;
        myth_material_close(c.m);
    }
    printf("%u materials, %u parts\n", n_run, n_part);
    assert_true(n_part > n_run);
    myth_model_close(&c.r.model);
    assert_int_equal(myth_mem_close(c.r.mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_no_part_over_the_limit),
        cmocka_unit_test(test_plan_is_the_ledger),
        cmocka_unit_test(test_no_room_for_code),
        cmocka_unit_test(test_rounds_reserve_what_they_can_use),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
