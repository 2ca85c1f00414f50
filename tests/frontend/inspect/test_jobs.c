/* test_jobs.c - answers of several parts at once: the report, and every exchange in its order, are those of one answer
 * at a time, with kept answers, rounds, second passes and interrupts. */
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/report/outputs.h"
#include "tests/support/files.h"
#include "tests/support/rig.h"

#define SPEC "random:gemma3-tiny:q8_0"
enum { CTX = 8192, N_FILE = 4, CAP = 1 << 19 };

static const char code[] =
    "int f%u(char *s)\n{\n\treturn strlen(s) + %u;\n}\n\nint g%u(int n)\n{\n\treturn %u / n;\n}\n";
static const char extra[] = "struct s {\n    int n;\n};\n\nvoid use(struct s *p)\n{\n    p->n++;\n}\n";

typedef struct {
    rig r;
    uint32_t n_kept, n_beside, n_exchange, stop_at; /* stop_at: the exchange that an interrupt comes in; 0 = never */
    myth_cancel cancel;
    char said[CAP]; /* every exchange */
    size_t n_said;
    char report[CAP];
} bed;

/* The same for the same request, whatever was asked before. */
static uint32_t on_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    uint32_t source, kind = 0;
    char name[32];
    (void)user;
    for (const char *p = request; *p; p++)
        kind = kind * 31 + (unsigned char)*p;
    if (kind % 4 == 0) {
        snprintf(near, near_cap, "a.c::near");
        return 0;
    }
    snprintf(name, sizeof(name), "inc/e%u.h", kind % 4);
    if (myth_material_put(m, &source, name, (const unsigned char *)extra, sizeof(extra) - 1, NULL) != MYTH_OK)
        return 0;
    const myth_piece p = {.source = source, .first = 1 + kind % 5, .last = 3 + kind % 5, .of = of, .symbol = "x"};
    return myth_material_add(m, NULL, &p, NULL) == MYTH_OK;
}

static void on_exchange(void *user, const myth_exchange *x)
{
    bed *b = user;
    uint32_t sum = 0;
    b->n_kept += x->is_kept;
    b->n_beside += x->is_beside;
    if (++b->n_exchange == b->stop_at)
        b->cancel = 1;
    for (uint32_t i = 0; i < x->n_ids; i++)
        sum = sum * 31 + (uint32_t)x->ids[i];
    b->n_said += (size_t)snprintf(b->said + b->n_said, CAP - b->n_said, "%u %u %s %u ids %08x, %u kept, %s: %.*s\n",
                                  x->part, x->round, myth_exchange_name(x->kind), x->n_ids, sum, x->n_kept,
                                  myth_finish_name(x->finish), (int)x->n, x->text);
    assert_true(b->n_said < CAP);
}

static myth_status open_engine(void *user, myth_engine **e, myth_error *err)
{
    (void)err;
    *e = ((bed *)user)->r.engine;
    return MYTH_OK;
}

static void inspect(bed *b, const myth_inspect_opts *opts, uint32_t n_job, myth_kept *kept)
{
    myth_material *m;
    myth_inspection *in;
    myth_inspect_opts o = *opts;
    const myth_term plain = {0};
    const myth_inspect_engine later = {.n_ctx = CTX, .open = open_engine, .user = b};
    b->n_kept = b->n_beside = b->n_exchange = 0;
    b->n_said = 0;
    b->cancel = 0;
    o.n_job = n_job;
    o.kept = kept;
    o.user = b;
    o.cancel = &b->cancel;
    assert_ok(myth_material_open(&m, b->r.mem, NULL, &rig_err));
    for (uint32_t i = 0; i < N_FILE; i++) {
        char name[32], text[256];
        uint32_t source;
        snprintf(name, sizeof(name), "lib/%u.c", i);
        const int n = snprintf(text, sizeof(text), code, i, i, i, i + 10);
        assert_ok(myth_material_put(m, &source, name, (const unsigned char *)text, (size_t)n, &rig_err));
        assert_ok(myth_material_add(
            m, NULL, &(myth_piece){.source = source, .first = 1, .last = UINT32_MAX, .is_subject = true}, &rig_err));
    }
    assert_ok(myth_inspect_open(&in, &b->r.model, m, &o, &rig_err));
    assert_true(myth_inspect_n_part(in) >= N_FILE);
    assert_int_equal(myth_inspect_jobs(in), n_job < myth_inspect_n_part(in) ? n_job : myth_inspect_n_part(in));
    assert_ok(myth_inspect_run_later(in, &later, &rig_err));
    FILE *f = fmemopen(b->report, CAP, "w");
    myth_output_render(f, MYTH_FORM_JSON, myth_inspect_report(in), &plain);
    fclose(f);
    myth_inspect_close(in);
    myth_material_close(m);
}

static myth_kept *open_kept(uint64_t base)
{
    myth_kept *k;
    assert_ok(myth_kept_open(&k, files_path("kept"), &base, sizeof(base), &rig_err));
    return k;
}

static void open_bed(bed *b)
{
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = CTX, .n_seq = N_FILE + 2, .n_checkpoint = 1};
    myth_slots_needs(&eo, N_FILE, &(myth_sample_params){.temp = 1}, true);
    rig_open(&b->r, SPEC, &eo);
}

static void reports_and_exchanges_do_not_differ(void **state)
{
    (void)state;
    static bed b;
    static char report[CAP], said[CAP];
    uint64_t rng = check_seed();
    uint32_t n_round = 0, n_pass = 0, n_some = 0;
    const uint32_t n_run = check_is_full() ? 100 : check_sample(5);
    open_bed(&b);
    for (uint32_t i = 0; check_goes_on(i, n_run, n_round && n_pass && n_some); i++) {
        const uint64_t seed = check_rand(&rng);
        /* With two, an answer that waits for its turn gives up its sequence, and the question after it has to feed it
         * again. */
        const uint32_t n_job = i % 2 ? 2 + check_below(&rng, N_FILE + 2) : 2;
        const myth_inspect_opts o = {
            .style = i % 4 == 2 ? MYTH_PROMPT_QUESTION : MYTH_PROMPT_FULL,
            .task = "What divides?",
            .max_prompt_tokens = 6000,
            .max_new_tokens = 200,
            .n_ctx = CTX,
            .split = true,
            .is_local = true,
            .is_isolated = i % 5 == 4,
            .context_rounds = 1 + check_below(&rng, 2),
            .on_context = on_context,
            .on_exchange = on_exchange,
            .sample = {.temp = i % 5 == 3 ? 0.0f : 20.0f + 60.0f * check_unit(&rng), .seed = seed},
            .two_pass = i % 4 == 1,
        };
        b.stop_at = 0;
        inspect(&b, &o, 1, NULL);
        assert_int_equal(b.n_beside, 0);
        const uint32_t n_exchange = b.n_exchange;
        n_round += strstr(b.said, " context ") != NULL;
        n_pass += strstr(b.said, " expand ") != NULL;
        memcpy(report, b.report, CAP);
        memcpy(said, b.said, CAP);
        inspect(&b, &o, n_job, NULL);
        assert_string_equal(b.said, said);
        assert_string_equal(b.report, report);
        assert_int_equal(b.n_beside, N_FILE);

        /* An interrupt at any exchange: what was answered until then is the same, and another run goes on from it. */
        myth_kept *k = open_kept(seed);
        b.stop_at = 1 + check_below(&rng, n_exchange);
        inspect(&b, &o, n_job, k);
        assert_true(b.n_exchange <= n_exchange);
        if (b.stop_at < n_exchange && !strstr(b.report, "\"complete\":false"))
            fail_msg("interrupted at %u of %u: %s", b.stop_at, n_exchange, b.report);
        b.stop_at = 0;
        inspect(&b, &o, 2 + check_below(&rng, 3), k);
        assert_string_equal(b.said, said);
        assert_string_equal(b.report, report);
        n_some += b.n_kept > 0 && b.n_kept < n_exchange;
        inspect(&b, &o, 1, k); /* what jobs kept, a run without them takes */
        assert_string_equal(b.said, said);
        assert_string_equal(b.report, report);
        myth_kept_close(k);
    }
    rig_close(&b.r);
    printf("%u runs with rounds, %u with two passes, %u went on from some answers\n", n_round, n_pass, n_some);
    assert_true(n_round && n_pass && n_some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reports_and_exchanges_do_not_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
