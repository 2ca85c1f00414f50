/* test_run.c - several decode steps in a row on the device choose the tokens that the host would choose, and leave the
 * sequences as if the host had chosen.
 *
 * Oracle   one myth_forward per step, with tokens chosen by myth_sample. Afterwards both sequences are fed the same
 *          tokens and give the same bits. Some lots of steps run past a stop token, rings of 5 to 9 rows wrap around,
 *          and forks share pages */
#include "tests/support/rig.h"

#include "engine/run/run.h"

enum { CTX = 96, N_SEQ = 3, N_STEP = 40 };

static const char *const models[] = {"random:gemma2-tiny:q4_0", "random:gemma3-tiny:q8_0", "random:gemma1-tiny:bf16",
                                     "random:gemma4-tiny:bf16"};

static myth_engine_opts opts_of(void)
{
    myth_engine_opts o = {
        .n_threads = 1,
        .n_ctx = CTX,
        .n_seq = 2 * N_SEQ,
        .n_ubatch = CTX,
        .n_logit_rows = 2 * N_SEQ,
        .top_k = 40,
        .want_full_logits = true,
        .page_tok = 7,
    };
    rig_at(&o, rig_target());
    o.is_exact = false;
    return o;
}

/* The next ids of one step, the host choosing. */
static void step_on_host(rig *r, myth_seq **seq, const int32_t *token, uint32_t n, const myth_sample_params *p,
                         uint32_t seq_number, const uint32_t *row_number, int32_t *id)
{
    uint8_t want[N_SEQ];
    myth_result out;
    memset(want, MYTH_WANT_LOGITS, sizeof(want));
    assert_ok(rig_forward(r->engine,
                          &(rig_tokens){
                              .n_tok = n,
                              .token = token,
                              .seq = seq,
                              .want = want,
                              .is_decode = true,
                              .top_k = myth_sample_k(p),
                          },
                          &out, &rig_err));
    for (uint32_t i = 0; i < n; i++)
        id[i] = out.top_id[i * out.k + myth_sample(p, out.top_logit + i * out.k, out.k, seq_number + row_number[i],
                                                   myth_seq_pos(seq[i]))];
}

static uint32_t n_stopped; /* rows over all comparisons */

static bool is_in(const int32_t *list, uint32_t n, int32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == id)
            return true;
    return false;
}

/* Runs in lots of n_lot steps against the host. stop: ids that end a row. */
static void compare(const char *model, const myth_sample_params *p, uint32_t n_lot, const int32_t *stop,
                    uint32_t n_stop, uint64_t *rng)
{
    rig r;
    myth_engine_opts o = opts_of();
    rig_open(&r, model, &o);
    myth_seq *a[N_SEQ], *b[N_SEQ];
    int32_t first[N_SEQ], prompt[20];
    for (uint32_t i = 0; i < N_SEQ; i++) {
        uint32_t n = 3 + 6 * i;
        for (uint32_t j = 0; j < n; j++)
            prompt[j] = (int32_t)check_below(rng, r.model.config.n_vocab);
        a[i] = rig_seq(&r);
        rig_feed(&r, a[i], prompt, n, 0, NULL);
        assert_ok(myth_seq_fork(&b[i], a[i], &rig_err)); /* shared pages and rings: the first to write copies */
        first[i] = (int32_t)check_below(rng, r.model.config.n_vocab);
    }

    int32_t got[N_STEP][N_SEQ];
    myth_run run;
    assert_ok(myth_run_begin(&run, r.engine,
                             &(myth_run_opts){
                                 .seq = a,
                                 .n_seq = N_SEQ,
                                 .first = first,
                                 .stop_id = stop,
                                 .n_stop = n_stop,
                                 .sample = *p,
                                 .seq_number = 5,
                             },
                             &rig_err));
    uint64_t n_alloc = myth_mem_n_alloc(r.mem);
    for (uint32_t t = 0; t < N_STEP;) {
        uint64_t mark[2];
        uint32_t n[2] = {t + n_lot < N_STEP ? n_lot : N_STEP - t, 0};
        assert_ok(myth_run_issue(&run, n[0], &mark[0], &rig_err));
        n[1] = t + n[0] + n_lot <= N_STEP ? n_lot : 0; /* two lots on their way */
        if (n[1])
            assert_ok(myth_run_issue(&run, n[1], &mark[1], &rig_err));
        for (int lot = 0; lot < 2; lot++) {
            if (n[lot])
                assert_ok(myth_run_wait(&run, mark[lot], &rig_err));
            for (uint32_t i = 0; i < n[lot]; i++)
                memcpy(got[t++], myth_run_next(&run), sizeof(got[0]));
        }
    }
    myth_run_end(&run);
    assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);

    bool is_still[N_SEQ] = {false};
    int32_t feed[N_SEQ];
    memcpy(feed, first, sizeof(feed));
    for (uint32_t t = 0; t < N_STEP; t++) {
        myth_seq *live[N_SEQ];
        int32_t token[N_SEQ], id[N_SEQ];
        uint32_t number[N_SEQ], n = 0;
        for (uint32_t i = 0; i < N_SEQ; i++)
            if (!is_still[i]) {
                live[n] = b[i];
                token[n] = feed[i];
                number[n++] = i;
            } else {
                assert_int_equal(got[t][i], -1);
            }
        if (n)
            step_on_host(&r, live, token, n, p, 5, number, id);
        for (uint32_t j = 0; j < n; j++) {
            uint32_t i = number[j];
            if (got[t][i] != id[j])
                fail_msg("%s lots of %u: step %u of row %u is %d, the host chooses %d", model, n_lot, t, i, got[t][i],
                         id[j]);
            is_still[i] = is_in(stop, n_stop, id[j]);
            n_stopped += is_still[i];
            feed[i] = id[j];
        }
    }

    rows ra, rb;
    rows_open(&ra, &r, 9, false);
    rows_open(&rb, &r, 9, false);
    for (uint32_t i = 0; i < N_SEQ; i++) { /* the states are the same: lists, positions, what the next tokens see */
        assert_int_equal(myth_seq_len(a[i]), myth_seq_len(b[i]));
        assert_int_equal(myth_seq_pos(a[i]), myth_seq_pos(b[i]));
        assert_memory_equal(myth_seq_tokens(a[i]), myth_seq_tokens(b[i]), 4 * myth_seq_len(a[i]));
        for (uint32_t j = 0; j < 9; j++)
            prompt[j] = (int32_t)check_below(rng, r.model.config.n_vocab);
        rows_clear(&ra);
        rows_clear(&rb);
        rig_feed(&r, a[i], prompt, 9, 0, &ra);
        rig_feed(&r, b[i], prompt, 9, 4, &rb);
        assert_same_bits(ra.logits, rb.logits, 9 * (size_t)ra.n_vocab, model);
        myth_seq_close(a[i]);
        myth_seq_close(b[i]);
    }
    rows_close(&ra);
    rows_close(&rb);
    rig_close(&r);
}

static void a_run_chooses_what_the_host_would(void **state)
{
    (void)state;
    static const myth_sample_params way[] = {{.temp = 0.0f},
                                             {.temp = 1.0f, .top_k = 40, .top_p = 0.9f, .min_p = 0.001f, .seed = 77},
                                             {.temp = 1.7f, .top_k = 8, .seed = 3}};
    static const uint32_t lots[] = {1, 16, 7, 32};
    uint64_t rng = check_seed();
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
        for (size_t w = 0; w < sizeof(way) / sizeof(way[0]); w++)
            for (size_t l = 0; l < sizeof(lots) / sizeof(lots[0]); l++)
                if (check_is_kept((uint32_t)(m * 12 + w * 4 + l), 36))
                    compare(models[m], &way[w], lots[l], NULL, 0, &rng);
}

static void a_row_that_stops_stands_still(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    int32_t stop[MYTH_RUN_STOP_MAX];
    myth_sample_params p = {.temp = 2.5f, .top_k = 40, .seed = 9};
    /* a sample goes on until a row has stopped */
    for (uint32_t round = 0; round < check_sample(6) || (n_stopped == 0 && round < 60); round++) {
        for (uint32_t i = 0; i < MYTH_RUN_STOP_MAX; i++)
            stop[i] = (int32_t)check_below(&rng, 128);
        compare(models[round % 3], &p, round % 2 ? 1 : 16, stop, MYTH_RUN_STOP_MAX, &rng);
    }
    assert_true(n_stopped > 0);
}

/* A lot of steps takes pages for all of them; those of steps after a stop go back when the run ends. */
static void pages_of_steps_that_did_not_happen_go_back(void **state)
{
    (void)state;
    static const uint32_t number = 0;
    const myth_sample_params greedy = {0};
    const int32_t first = 3;
    rig r;
    myth_engine_opts o = opts_of();
    rig_open(&r, models[0], &o);
    const myth_kvcache *kv = &r.engine->kv;
    const uint32_t n_free = kv->n_free_page;
    myth_seq *s = rig_seq(&r), *host = rig_seq(&r);
    int32_t stop;
    uint64_t mark;
    myth_run run;
    step_on_host(&r, &host, &first, 1, &greedy, 0, &number, &stop);
    myth_seq_close(host);
    assert_int_equal(kv->n_free_page, n_free);
    assert_ok(myth_run_begin(&run, r.engine,
                             &(myth_run_opts){.seq = &s, .n_seq = 1, .first = &first, .stop_id = &stop, .n_stop = 1},
                             &rig_err));
    assert_ok(myth_run_issue(&run, 30, &mark, &rig_err));
    assert_true(kv->n_free_page < n_free - 1);
    assert_ok(myth_run_wait(&run, mark, &rig_err));
    for (uint32_t i = 0; i < 30; i++)
        assert_int_equal(myth_run_next(&run)[0], i ? -1 : stop);
    myth_run_end(&run);
    assert_int_equal(myth_seq_len(s), 1);
    assert_int_equal(kv->n_free_page, n_free - 1);
    myth_seq_close(s);
    assert_int_equal(kv->n_free_page, n_free);
    rig_close(&r);
}

/* Of a sequence that was cut, a run that ends early still knows which rows of the ring were written before the cut. */
static void a_run_after_a_cut_knows_the_ring(void **state)
{
    (void)state;
    static const int32_t ids[4] = {3, 4, 5, 6};
    rig r;
    uint32_t at;
    uint64_t mark;
    myth_run run;
    myth_engine_opts o = opts_of();
    rig_open(&r, models[1], &o);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, 4, 0, NULL);
    assert_ok(myth_seq_truncate(s, 1, &at, &rig_err));
    assert_int_equal(at, 1);
    assert_int_equal(s->kv->n_high, 4);
    assert_ok(myth_run_begin(&run, r.engine, &(myth_run_opts){.seq = &s, .n_seq = 1, .first = ids}, &rig_err));
    assert_ok(myth_run_issue(&run, 2, &mark, &rig_err));
    assert_ok(myth_run_wait(&run, mark, &rig_err));
    myth_run_next(&run);
    myth_run_next(&run);
    myth_run_end(&run);
    assert_int_equal(myth_seq_len(s), 3);
    assert_int_equal(s->kv->n_high, 4);
    myth_seq_close(s);
    rig_close(&r);
}

/* Replays of another number of rows, another way of choosing, and steps outside a run share the one recorded graph's
 * place. */
static void runs_and_steps_take_turns(void **state)
{
    (void)state;
    rig r;
    myth_engine_opts o = opts_of();
    rig_open(&r, models[1], &o);
    myth_seq *s[2] = {rig_seq(&r), rig_seq(&r)};
    int32_t first[2] = {3, 4}, id[2], on_host[2];
    myth_sample_params greedy = {0};
    const uint32_t number[2] = {0, 1};
    for (uint32_t round = 0; round < 2 * check_sample(4); round++) {
        myth_seq *fork[2];
        uint32_t n = 1 + round % 2;
        uint64_t mark;
        myth_run run;
        for (uint32_t i = 0; i < n; i++)
            assert_ok(myth_seq_fork(&fork[i], s[i], &rig_err));
        step_on_host(&r, fork, first, n, &greedy, 0, number, on_host);
        assert_ok(myth_run_begin(&run, r.engine, &(myth_run_opts){.seq = s, .n_seq = n, .first = first}, &rig_err));
        assert_ok(myth_run_issue(&run, 1, &mark, &rig_err));
        assert_ok(myth_run_wait(&run, mark, &rig_err));
        memcpy(id, myth_run_next(&run), 4 * n);
        myth_run_end(&run);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(id[i], on_host[i]);
            first[i] = id[i];
            myth_seq_close(fork[i]);
        }
    }
    myth_seq_close(s[0]);
    myth_seq_close(s[1]);
    rig_close(&r);
}

/* A step is recorded with all that it draws by: another seed, number, temperature or count of stop ids needs another
 * recording. */
static void a_recorded_step_draws_by_this_runs_options(void **state)
{
    (void)state;
    enum { STEPS = 8 };
    static const struct {
        myth_sample_params p;
        uint32_t seq_number, n_stop;
    } way[] = {
        {{.temp = 2, .top_k = 40, .seed = 1}, 0, 0},
        {{.temp = 2, .top_k = 40, .seed = 2}, 0, 0},
        {{.temp = 2, .top_k = 40, .seed = 2}, 5, 0},
        {{.temp = 2, .top_k = 40, .seed = 2}, 5, 1},
        {{.temp = 1, .top_k = 40, .seed = 2}, 5, 0},
        {{.temp = 1, .top_k = 3, .seed = 2}, 5, 0},
        {{.temp = 1, .top_k = 3, .top_p = 0.4f, .seed = 2}, 5, 0},
        {{.temp = 1, .top_k = 40, .min_p = 0.9f, .seed = 2}, 5, 0},
        {{.temp = 1, .top_k = 40, .seed = 2}, 5, 0},
    };
    static const int32_t first = 3, stop = 100000; /* of no vocabulary */
    static const uint32_t number = 0;
    rig r;
    myth_engine_opts o = opts_of();
    rig_open(&r, models[1], &o);
    myth_seq *s = rig_seq(&r);
    enum { N_WAY = sizeof(way) / sizeof(way[0]) };
    int32_t want[N_WAY][STEPS];
    uint32_t n_other = 0;
    for (size_t w = 0; w < N_WAY;
         w++) { /* all of them first: steps of the host's choosing take the recording's place */
        myth_seq *host;
        assert_ok(myth_seq_fork(&host, s, &rig_err));
        for (uint32_t i = 0; i < STEPS; i++)
            step_on_host(&r, &host, i ? &want[w][i - 1] : &first, 1, &way[w].p, way[w].seq_number, &number,
                         &want[w][i]);
        n_other += w > 0 && memcmp(want[w], want[w - 1], sizeof(want[w])) != 0;
        myth_seq_close(host);
    }
    assert_true(n_other >= 6); /* the ways differ: a stop id that never comes changes nothing */
    for (size_t w = 0; w < N_WAY; w++) {
        myth_seq *device;
        uint64_t mark;
        myth_run run;
        assert_ok(myth_seq_fork(&device, s, &rig_err));
        assert_ok(myth_run_begin(&run, r.engine,
                                 &(myth_run_opts){
                                     .seq = &device,
                                     .n_seq = 1,
                                     .first = &first,
                                     .stop_id = &stop,
                                     .n_stop = way[w].n_stop,
                                     .sample = way[w].p,
                                     .seq_number = way[w].seq_number,
                                 },
                                 &rig_err));
        assert_ok(myth_run_issue(&run, STEPS, &mark, &rig_err));
        assert_ok(myth_run_wait(&run, mark, &rig_err));
        for (uint32_t i = 0; i < STEPS; i++)
            assert_int_equal(myth_run_next(&run)[0], want[w][i]);
        myth_run_end(&run);
        myth_seq_close(device);
    }
    myth_seq_close(s);
    rig_close(&r);
}

/* In memory, the first token of the next sequence comes right after the tokens of a full sequence. */
static void a_full_sequence_begins_no_run(void **state)
{
    (void)state;
    rig r;
    myth_engine_opts o = opts_of();
    o.n_ctx = 24;
    o.n_seq = 2;
    o.n_logit_rows = 2;
    rig_open(&r, models[0], &o);
    myth_seq *s[2] = {rig_seq(&r), rig_seq(&r)};
    int32_t ids[24], first[2] = {5, 6};
    uint64_t mark, rng = check_seed();
    myth_run run;
    for (uint32_t i = 0; i < 24; i++)
        ids[i] = 7 + (int32_t)check_below(&rng, 100);
    rig_feed(&r, s[1], ids, 3, 0, NULL);
    rig_feed(&r, s[0], ids, 24, 0, NULL);
    const myth_run_opts both = {.seq = s, .n_seq = 2, .first = first};
    assert_int_equal(myth_run_begin(&run, r.engine, &both, &rig_err), MYTH_EFULL);
    assert_memory_equal(myth_seq_tokens(s[0]), ids, sizeof(ids));
    assert_memory_equal(myth_seq_tokens(s[1]), ids, 12);

    const myth_run_opts second = {.seq = &s[1], .n_seq = 1, .first = first};
    assert_ok(myth_run_begin(&run, r.engine, &second, &rig_err));
    assert_int_equal(myth_run_issue(&run, 22, &mark, &rig_err), MYTH_EFULL); /* 3 of 24 are held */
    assert_int_equal(myth_run_issue(&run, MYTH_RUN_STEPS + 1, &mark, &rig_err), MYTH_EARG);
    assert_ok(myth_run_issue(&run, 21, &mark, &rig_err));
    assert_ok(myth_run_wait(&run, mark, &rig_err));
    for (uint32_t i = 0; i < 21; i++)
        assert_true(myth_run_next(&run)[0] >= 0);
    myth_run_end(&run);
    assert_int_equal(myth_seq_len(s[1]), 24);
    assert_memory_equal(myth_seq_tokens(s[1]), ids, 12);
    assert_memory_equal(myth_seq_tokens(s[0]), ids, sizeof(ids));
    myth_seq_close(s[0]);
    myth_seq_close(s[1]);
    rig_close(&r);
}

static void a_run_past_its_limits_is_refused(void **state)
{
    (void)state;
    rig r;
    myth_engine_opts o = opts_of();
    rig_open(&r, models[0], &o);
    myth_seq *s = rig_seq(&r);
    const int32_t first = 5, outside = (int32_t)r.model.config.n_vocab, stop[MYTH_RUN_STOP_MAX + 1] = {0};
    const myth_run_opts bad[] = {
        {.seq = &s, .n_seq = 0, .first = &first},
        {.seq = &s, .n_seq = o.n_logit_rows + 1, .first = &first},
        {.seq = &s, .n_seq = 1, .first = &first, .stop_id = stop, .n_stop = MYTH_RUN_STOP_MAX + 1},
        {.seq = &s, .n_seq = 1, .first = &outside},
    };
    myth_run run;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(myth_run_begin(&run, r.engine, &bad[i], &rig_err), MYTH_EARG);
    assert_int_equal(myth_seq_len(s), 0);
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_chooses_what_the_host_would),
        cmocka_unit_test(a_recorded_step_draws_by_this_runs_options),
        cmocka_unit_test(pages_of_steps_that_did_not_happen_go_back),
        cmocka_unit_test(a_run_after_a_cut_knows_the_ring),
        cmocka_unit_test(a_row_that_stops_stands_still),
        cmocka_unit_test(a_full_sequence_begins_no_run),
        cmocka_unit_test(a_run_past_its_limits_is_refused),
        cmocka_unit_test(runs_and_steps_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
