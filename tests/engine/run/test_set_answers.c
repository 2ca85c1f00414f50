/* test_set_answers.c - answers of several tokens a position, against a simulation that keeps whole distributions and
 * counts by hand: what is in each set, its probabilities, the attention that members got, when they are taken out, and
 * that nothing is allocated on the way. With one member a set, the answer of myth_generate. */
#include "tests/support/rig.h"
#include "engine/run/sets.h"

#include <math.h>

enum { CTX = 96, PROMPT = 11, N_MAX = 24, MEMBERS = 6, MOST = N_MAX * MEMBERS };

static const char *const spec[] = {
    "random:gemma1-tiny:q8_0", "random:gemma2-tiny:q4_0",   "random:gemma3-tiny:q8_0",    "random:gemma3n-tiny:q8_0",
    "random:gemma4-tiny:q8_0", "random:gemma4-e-tiny:bf16", "random:gemma4-moe-tiny:f32",
};
enum { SPEC_N = sizeof(spec) / sizeof(spec[0]) };

static void open_for(rig *r, const char *model, const char *target, const myth_sets_opts *o, uint32_t n_ctx,
                     uint32_t n_set_rows)
{
    myth_engine_opts eo = {
        .n_threads = 1,
        .n_ctx = n_ctx,
        .n_seq = 2,
        .n_ubatch = 32,
        .page_tok = 8,
        .want_full_logits = true,
        .n_set_rows = n_set_rows,
    };
    rig_at(&eo, target);
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, model, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    myth_sets_needs(&eo, &m, o, PROMPT);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    rig_open(r, model, &eo);
}

/* ---- the simulation ---- */

typedef struct {
    int32_t id;
    double p, weight, mass;
    uint32_t position;
    int32_t removed_at;
    bool is_fed;
} member;

typedef struct {
    rig *r;
    myth_seq *s;
    const myth_sets_opts *o;
    member m[MOST];
    uint32_t n, n_position, after;
    double *dist;       /* [n_vocab], of the next position */
    double *row;        /* [n_vocab] */
    const double *part; /* the weights of the rows of the forward under way */
    uint32_t n_row;
} sim;

static bool held(const member *m) { return m->is_fed && m->removed_at < 0; }

/* Adds a row's softmax, cut to its K best, to the distribution. */
static void on_row(void *user, uint32_t tok, const float *row, uint32_t n_vocab)
{
    sim *x = user;
    double most = -INFINITY, total = 0.0;
    (void)tok;
    const uint32_t i = x->n_row++;
    if (x->o->combine == MYTH_COMBINE_TOP && i > 0)
        return;
    for (uint32_t v = 0; v < n_vocab; v++)
        most = fmax(most, (double)row[v]);
    for (uint32_t v = 0; v < n_vocab; v++)
        total += x->row[v] = exp((double)row[v] - most);
    const double listed = fmax(64.0, floor(1.0 / (double)x->o->threshold)); /* what sets.h counts of a row */
    for (uint32_t n = 0; n < listed && n < n_vocab; n++) {
        uint32_t best = 0;
        for (uint32_t v = 1; v < n_vocab; v++)
            best = x->row[v] > x->row[best] ? v : best;
        x->dist[best] += (x->o->combine == MYTH_COMBINE_TOP ? 1.0 : x->part[i]) * x->row[best] / total;
        x->row[best] = -1.0;
    }
}

static void sim_feed(sim *x, const int32_t *ids, uint32_t n, myth_set_kind kind, const double *weight, uint32_t n_mass,
                     myth_result *out)
{
    const bool is_prompt = kind == MYTH_SET_NONE;
    const uint32_t n_vocab = x->r->model.config.n_vocab;
    x->part = weight;
    x->n_row = 0;
    memset(x->dist, 0, n_vocab * sizeof *x->dist);
    const myth_batch_run run = {
        .seq = x->s,
        .token = ids,
        .n = n,
        .want = is_prompt ? 0 : MYTH_WANT_FULL_LOGITS | MYTH_WANT_LOGITS,
        .want_last = is_prompt ? MYTH_WANT_FULL_LOGITS : 0,
        .set = kind,
        .n_mass = n_mass,
    };
    assert_ok(myth_forward(x->r->engine,
                           &(myth_batch){
                               .run = &run,
                               .n_run = 1,
                               .is_decode = !is_prompt && (n == 1 || kind == MYTH_SET_ISOLATED),
                               .on_full_logits = on_row,
                               .user = x,
                           },
                           out, &rig_err));
}

/* Chooses the set of the next position with room for `room`; the sum of its probabilities. */
static void sim_choose(sim *x, uint32_t room)
{
    const uint32_t first = x->n, n_vocab = x->r->model.config.n_vocab;
    double all = 0.0;
    for (uint32_t n = 0; n < room && n < x->o->n_member; n++) {
        uint32_t best = 0;
        for (uint32_t v = 1; v < n_vocab; v++)
            best = x->dist[v] > x->dist[best] ? v : best;
        if (n > 0 && x->dist[best] < (double)x->o->threshold)
            break;
        x->m[x->n++] = (member){(int32_t)best, x->dist[best], 0.0, 0.0, x->n_position, -1, false};
        all += x->dist[best];
        x->dist[best] = -1.0;
    }
    for (uint32_t i = first; i < x->n; i++)
        x->m[i].weight = x->m[i].p / all;
    x->n_position++;
}

static void sim_remove(sim *x, uint32_t i)
{
    uint32_t row = PROMPT;
    for (uint32_t k = 0; k < i; k++)
        row += held(&x->m[k]);
    assert_ok(myth_seq_remove(x->s, &row, 1, &rig_err));
    x->m[i].removed_at = (int32_t)x->n_position - 1;
}

static uint32_t n_held_at(const sim *x, uint32_t position)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += held(&x->m[i]) && x->m[i].position == position;
    return n;
}

/* Tokens that a set of this position could take if rows were no limit. */
static uint32_t sim_wanted(const sim *x)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < x->r->model.config.n_vocab; v++)
        n += x->dist[v] >= (double)x->o->threshold;
    n = n ? n : 1;
    return n < x->o->n_member ? n : x->o->n_member;
}

static void sim_run(sim *x, const int32_t *prompt)
{
    myth_result out;
    sim_feed(x, prompt, PROMPT, MYTH_SET_NONE, (double[]){1.0}, 0, &out);
    while (x->n_position < N_MAX) {
        const uint32_t p = x->n_position, n_after = p + 2 < N_MAX ? N_MAX - 2 - p : 0, want = sim_wanted(x);
        uint32_t room = want;
        if (p + 1 < N_MAX) {
            while (x->after && p && myth_seq_set_room(x->s, n_after) < want) { /* the least looked at goes */
                uint32_t least = UINT32_MAX;
                for (uint32_t i = 0; i < x->n; i++)
                    if (held(&x->m[i]) && x->m[i].position + x->after >= p && x->m[i].position + 1 < p &&
                        n_held_at(x, x->m[i].position) > 1 && (least == UINT32_MAX || x->m[i].mass < x->m[least].mass))
                        least = i;
                if (least == UINT32_MAX)
                    break;
                sim_remove(x, least);
            }
            room = myth_seq_set_room(x->s, n_after);
            room = room ? room : 1;
        }
        const uint32_t first = x->n;
        sim_choose(x, room);
        if (x->n_position == N_MAX || myth_seq_set_room(x->s, 0) == 0)
            return;
        int32_t ids[MEMBERS];
        double weight[MEMBERS];
        uint32_t n_mass = 0;
        for (uint32_t i = first; i < x->n; i++) {
            ids[i - first] = x->m[i].id;
            weight[i - first] = x->m[i].weight;
        }
        for (uint32_t i = 0; i < first; i++)
            n_mass += held(&x->m[i]) && x->m[i].position + x->after >= p;
        n_mass = x->after && myth_seq_extra(x->s) ? n_mass : 0;
        sim_feed(x, ids, x->n - first, x->o->kind, weight, n_mass, &out);
        for (uint32_t i = 0, t = 0; i < first && n_mass; i++)
            if (held(&x->m[i]) && x->m[i].position + x->after >= p) {
                for (uint32_t r = 0; r < x->n - first; r++)
                    x->m[i].mass += weight[r] * (double)out.mass[r * n_mass + t];
                t++;
            }
        for (uint32_t i = first; i < x->n; i++)
            x->m[i].is_fed = true;
        if (!x->after || p < x->after)
            continue;
        double mean = 0.0, most = -1.0;
        const uint32_t old = p - x->after, n_held = n_held_at(x, old);
        for (uint32_t i = 0; i < x->n; i++)
            if (held(&x->m[i]) && x->m[i].position == old) {
                mean += x->m[i].mass / n_held;
                most = fmax(most, x->m[i].mass);
            }
        for (uint32_t i = x->n; i-- > 0;)
            if (held(&x->m[i]) && x->m[i].position == old && x->m[i].mass < (double)x->o->prune * mean &&
                x->m[i].mass < most)
                sim_remove(x, i);
    }
}

/* ---- comparison ---- */

typedef struct {
    uint32_t n_several, n_removed, n_cut_by_context, n_cut_by_window, n_run;
} seen;

static void one(const char *model, const char *target, const myth_sets_opts *o, uint32_t n_ctx, uint32_t n_set_rows,
                uint64_t *rng, seen *all)
{
    rig r;
    int32_t prompt[PROMPT];
    myth_sets *sets;
    myth_sets_result got;
    char what[200];
    snprintf(what, sizeof(what), "%s %s threshold %g kind %d combine %d prune %g after %u context %u rows %u", model,
             target, (double)o->threshold, (int)o->kind, (int)o->combine, (double)o->prune, o->prune_after, n_ctx,
             n_set_rows);
    open_for(&r, model, target, o, n_ctx, n_set_rows);
    rig_random_ids(prompt, PROMPT, &r, rng);
    myth_seq *s = rig_seq(&r);
    const uint32_t n_vocab = r.model.config.n_vocab;
    sim x = {.r = &r, .s = rig_seq(&r), .o = o, .after = o->prune > 0.0f ? o->prune_after ? o->prune_after : 4 : 0};
    x.dist = calloc(n_vocab, sizeof *x.dist);
    x.row = calloc(n_vocab, sizeof *x.row);
    const uint64_t before = myth_mem_total(r.mem, MYTH_MEM_HOST).live;
    assert_ok(myth_sets_open(&sets, r.engine, o, &rig_err));
    const myth_mem_count opened = myth_mem_total(r.mem, MYTH_MEM_HOST);
    assert_true(opened.live - before >= myth_sets_bytes(o));
    assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
    assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).peak, opened.peak); /* nothing was taken on the way */
    sim_run(&x, prompt);
    if (got.n_member != x.n || got.n_position != x.n_position)
        fail_msg("%s: %u members in %u positions, by hand %u in %u", what, got.n_member, got.n_position, x.n,
                 x.n_position);
    assert_int_equal(got.why, got.n_position == N_MAX ? MYTH_FINISH_LENGTH : MYTH_FINISH_CONTEXT);
    uint32_t n_row = PROMPT, n_removed = 0;
    for (uint32_t i = 0; i < x.n; i++) {
        const myth_set_member *m = &got.member[i];
        if (m->id != x.m[i].id || m->position != x.m[i].position || m->removed_at != x.m[i].removed_at ||
            m->is_fed != x.m[i].is_fed || fabs((double)m->p - x.m[i].p) > 1e-5 ||
            fabs((double)m->weight - x.m[i].weight) > 1e-5 || fabs((double)m->mass - x.m[i].mass) > 1e-5)
            fail_msg("%s: member %u is %d at %u, p %g weight %g mass %g removed %d; by hand %d at %u, %g %g %g %d",
                     what, i, m->id, m->position, (double)m->p, (double)m->weight, (double)m->mass, m->removed_at,
                     x.m[i].id, x.m[i].position, x.m[i].p, x.m[i].weight, x.m[i].mass, x.m[i].removed_at);
        n_removed += m->removed_at >= 0;
        if (held(&x.m[i])) {
            assert_int_equal(m->row, n_row);
            assert_int_equal(myth_seq_tokens(s)[n_row], m->id);
            n_row++;
        }
        all->n_several += i > 0 && m->position == got.member[i - 1].position;
    }
    assert_int_equal(myth_seq_len(s), n_row);
    assert_int_equal(got.n_removed, n_removed);
    all->n_removed += n_removed;
    all->n_cut_by_context += got.n_cut_by_context;
    all->n_cut_by_window += got.n_cut_by_window;
    all->n_run++;
    myth_sets_close(sets);
    free(x.dist);
    free(x.row);
    myth_seq_close(s);
    myth_seq_close(x.s);
    rig_close(&r);
}

static void answers_equal_a_simulation(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint64_t rng = check_seed();
    seen all = {0};
    for (uint32_t i = 0; i < SPEC_N; i++)
        for (uint32_t v = 0; v < n_target; v++) {
            if (!check_is_kept(i * n_target + v, SPEC_N * n_target))
                continue;
            static const float threshold[] = {0.004f, 0.01f, 0.03f};
            myth_sets_opts o = {
                .n_max = N_MAX,
                .n_member = 2 + check_below(&rng, MEMBERS - 1),
                .threshold = threshold[check_below(&rng, 3)],
                .kind = check_below(&rng, 2) ? MYTH_SET_ISOLATED : MYTH_SET_VISIBLE,
                .combine = check_below(&rng, 2) ? MYTH_COMBINE_MIXTURE : MYTH_COMBINE_TOP,
            };
            one(spec[i], target[v], &o, CTX, 0, &rng, &all); /* as many rows as sets could take */
            o.prune = 0.5f + 0.5f * check_unit(&rng);
            o.prune_after = check_below(&rng, 4);
            one(spec[i], target[v], &o, CTX, 0, &rng, &all);
            one(spec[i], target[v], &o, PROMPT + N_MAX + check_below(&rng, 30), 1 + check_below(&rng, 12), &rng, &all);
            one(spec[i], target[v], &o, PROMPT + 5 + check_below(&rng, N_MAX - 6), 4, &rng, &all);
        }
    printf("%u answers: %u members beside another, %u removed, %u and %u sets with fewer for lack of rows\n", all.n_run,
           all.n_several, all.n_removed, all.n_cut_by_context, all.n_cut_by_window);
    assert_true(all.n_several);
    assert_true(all.n_run < 60 || (all.n_removed && all.n_cut_by_context && all.n_cut_by_window)); /* no small sample */
}

/* A threshold above 1, or one member at most: the ids of myth_generate, on every target. */
static void one_member_is_greedy(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint64_t rng = check_seed();
    for (uint32_t i = 0; i < SPEC_N; i++)
        for (uint32_t v = 0; v < n_target; v++)
            for (int how = 0; how < 4; how++) {
                if (!check_is_kept(i * n_target + v, SPEC_N * n_target))
                    continue;
                const myth_sets_opts o = {
                    .n_max = N_MAX,
                    .n_member = how % 2 ? 1 : MEMBERS,
                    .threshold = how % 2 ? 0.001f : 1.5f,
                    .kind = how / 2 ? MYTH_SET_VISIBLE : MYTH_SET_ISOLATED,
                    .combine = how / 2 ? MYTH_COMBINE_TOP : MYTH_COMBINE_MIXTURE,
                    .prune = how / 2 ? 0.5f : 0.0f,
                };
                rig r;
                int32_t prompt[PROMPT], ids[N_MAX];
                uint32_t n_ids;
                myth_finish why;
                myth_sets *sets;
                myth_sets_result got;
                open_for(&r, spec[i], target[v], &o, CTX, 0);
                rig_random_ids(prompt, PROMPT, &r, &rng);
                myth_seq *s = rig_seq(&r), *plain = rig_seq(&r);
                assert_ok(myth_generate(r.engine, plain,
                                        &(myth_generate_opts){.prompt = prompt, .n_prompt = PROMPT, .n_max = N_MAX},
                                        ids, &n_ids, &why, &rig_err));
                assert_ok(myth_sets_open(&sets, r.engine, &o, &rig_err));
                assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
                assert_int_equal(got.n_member, n_ids);
                for (uint32_t k = 0; k < n_ids; k++)
                    assert_int_equal(got.member[k].id, ids[k]);
                assert_int_equal(myth_seq_len(s), myth_seq_len(plain));
                assert_int_equal(got.why, why);
                myth_sets_close(sets);
                myth_seq_close(s);
                myth_seq_close(plain);
                rig_close(&r);
            }
}

typedef struct {
    uint32_t n_set, at;
    myth_cancel *cancel;
} watcher;

static void on_set(void *user, const myth_set_member *set, uint32_t n)
{
    watcher *w = user;
    assert_true(n >= 1 && set[0].position == w->n_set);
    if (++w->n_set == w->at)
        *w->cancel = 1;
}

/* A stop id ends an answer where it is the best; elsewhere it is no member. A cancel, a prompt without room, options
 * that do not go together. */
static void how_answers_end(void **state)
{
    (void)state;
    rig r;
    myth_cancel cancel = 0;
    watcher w = {0, 5, &cancel};
    int32_t prompt[PROMPT] = {2, 9, 8, 7, 6, 5, 4, 3, 2, 11, 12}, stop;
    myth_sets_opts o = {
        .n_max = N_MAX,
        .n_member = MEMBERS,
        .threshold = 0.004f,
        .kind = MYTH_SET_ISOLATED,
        .on_set = on_set,
        .user = &w,
        .cancel = &cancel,
    };
    myth_sets *sets;
    myth_sets_result got;
    uint32_t at;
    open_for(&r, spec[2], rig_target(), &o, CTX, 0);
    myth_seq *s = rig_seq(&r);
    assert_ok(myth_sets_open(&sets, r.engine, &o, &rig_err));
    assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
    assert_int_equal(got.why, MYTH_FINISH_CANCELLED);
    assert_int_equal(got.n_position, 5);
    myth_sets_close(sets);

    cancel = 0;
    w = (watcher){0, 0, &cancel};
    assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    assert_ok(myth_sets_open(&sets, r.engine, &o, &rig_err));
    assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
    assert_int_equal(got.why, MYTH_FINISH_LENGTH);
    assert_true(got.n_member > 1 && got.member[1].position == 0);
    stop = got.member[1].id; /* second best of the first set: left out, and its weight goes to the others */
    myth_sets_close(sets);
    o.stop_ids = &stop;
    o.n_stop = 1;
    w.n_set = 0;
    assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    assert_ok(myth_sets_open(&sets, r.engine, &o, &rig_err));
    assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
    assert_true(got.n_position >= 1);
    float all = 0.0f;
    for (uint32_t i = 0; i < got.n_member; i++) {
        assert_int_not_equal(got.member[i].id, stop);
        all += got.member[i].position == 0 ? got.member[i].weight : 0.0f;
    }
    assert_true(fabsf(all - 1.0f) < 1e-5f);
    stop = got.member[0].id;
    myth_sets_close(sets);
    w.n_set = 0;
    assert_ok(myth_seq_truncate(s, 0, &at, &rig_err));
    assert_ok(myth_sets_open(&sets, r.engine, &o, &rig_err));
    assert_ok(myth_sets_run(sets, s, prompt, PROMPT, &got, &rig_err));
    assert_int_equal(got.why, MYTH_FINISH_STOP); /* the best of the first position */
    assert_int_equal(got.n_member, 0);
    static int32_t far[CTX + 1];
    assert_ok(myth_sets_run(sets, s, far, CTX + 1, &got, &rig_err));
    assert_int_equal(got.why, MYTH_FINISH_REFUSED);
    assert_int_equal(myth_seq_len(s), PROMPT);
    assert_int_equal(myth_sets_run(sets, s, far, 0, &got, &rig_err), MYTH_EARG);
    myth_sets_close(sets);

    const myth_sets_opts wrong[] = {
        {.n_max = 2, .n_member = 0, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED},
        {.n_max = 2, .n_member = 65, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED},
        {.n_max = 2, .n_member = MEMBERS + 1, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED},
        {.n_max = 2, .n_member = 2, .threshold = 0.0f, .kind = MYTH_SET_ISOLATED},
        {.n_max = 2, .n_member = 2, .threshold = NAN, .kind = MYTH_SET_ISOLATED},
        {.n_max = 2, .n_member = 2, .threshold = 0.1f, .kind = MYTH_SET_NONE},
        {.n_max = 2, .n_member = 2, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED, .prune = 1.5f},
        {.n_max = 2, .n_member = 2, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED, .prune = 0.5f, .prune_after = 17},
        {.n_max = 2, .n_member = 2, .threshold = 0.1f, .kind = MYTH_SET_ISOLATED, .prune = 0.5f}, /* opened without */
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(myth_sets_open(&sets, r.engine, &wrong[i], &rig_err), MYTH_EARG);
        assert_null(sets);
    }
    myth_seq_close(s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_a_simulation),
        cmocka_unit_test(one_member_is_greedy),
        cmocka_unit_test(how_answers_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
