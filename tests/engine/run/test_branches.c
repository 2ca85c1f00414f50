/* test_branches.c - a tree of answers, against one in which every branch is fed from its beginning in a sequence of its
 * own and chooses from whole rows of logits. */
#include "tests/support/rig.h"
#include "engine/run/sets.h"

#include <math.h>

enum { PROMPT = 9, N_MAX = 14, MEMBERS = 6 };

static const char *const spec[] = {"random:gemma1-tiny:q8_0",  "random:gemma2-tiny:q4_0", "random:gemma3-tiny:q8_0",
                                   "random:gemma3n-tiny:q8_0", "random:gemma4-tiny:q8_0", "random:gemma4-moe-tiny:f32"};
enum { SPEC_N = sizeof(spec) / sizeof(spec[0]) };

typedef struct {
    int32_t ids[N_MAX];
    uint32_t n, parent, from;
    double logprob;
    bool has_ended;
} branch;

typedef struct {
    rig *r;
    const myth_sets_opts *o;
    const int32_t *prompt;
    branch b[MEMBERS];
    uint32_t n;
    double *p; /* [n_vocab] */
} tree;

static void on_row(void *user, uint32_t tok, const float *row, uint32_t n_vocab)
{
    tree *t = user;
    double most = -INFINITY, total = 0.0;
    (void)tok;
    for (uint32_t v = 0; v < n_vocab; v++)
        most = fmax(most, (double)row[v]);
    for (uint32_t v = 0; v < n_vocab; v++)
        total += t->p[v] = exp((double)row[v] - most);
    for (uint32_t v = 0; v < n_vocab; v++)
        t->p[v] /= total;
}

/* The distribution behind these ids, from the prompt on. */
static void distribution(tree *t, const int32_t *ids, uint32_t n)
{
    myth_seq *s = rig_seq(t->r);
    for (uint32_t i = 0; i <= n; i++) {
        const myth_batch_run run = {
            .seq = s,
            .token = i ? &ids[i - 1] : t->prompt,
            .n = i ? 1 : PROMPT,
            .want_last = i == n ? MYTH_WANT_FULL_LOGITS : 0,
        };
        assert_ok(myth_forward(
            t->r->engine,
            &(myth_batch){.run = &run, .n_run = 1, .is_decode = i > 0, .on_full_logits = on_row, .user = t}, NULL,
            &rig_err));
    }
    myth_seq_close(s);
}

static void add(branch *b, const myth_sets_opts *o, int32_t id, double p)
{
    b->logprob += log(p);
    b->has_ended = o->n_stop && id == o->stop_ids[0];
    if (b->has_ended)
        return;
    b->ids[b->n++] = id;
    b->has_ended = b->n == N_MAX;
}

static void grow(tree *t)
{
    t->b[0] = (branch){.n = 0};
    t->n = 1;
    for (uint32_t position = 0; position < N_MAX; position++) {
        const uint32_t n = t->n;
        bool is_done[MEMBERS] = {false};
        const branch before[MEMBERS] = {t->b[0], t->b[1], t->b[2], t->b[3], t->b[4], t->b[5]};
        for (;;) {
            uint32_t at = n;
            for (uint32_t i = 0; i < n; i++)
                if (!before[i].has_ended && !is_done[i] && (at == n || before[i].logprob > before[at].logprob))
                    at = i;
            if (at == n)
                break;
            is_done[at] = true;
            distribution(t, before[at].ids, before[at].n);
            for (uint32_t rank = 0; rank < MEMBERS + 8; rank++) {
                uint32_t best = 0;
                for (uint32_t v = 1; v < t->r->model.config.n_vocab; v++)
                    best = t->p[v] > t->p[best] ? v : best;
                const double p = t->p[best];
                t->p[best] = -1.0;
                if (rank == 0) {
                    add(&t->b[at], t->o, (int32_t)best, p);
                } else if (p < (double)t->o->threshold) {
                    break;
                } else if (t->n < t->o->n_member && !(t->o->n_stop && (int32_t)best == t->o->stop_ids[0])) {
                    branch *b = &t->b[t->n++];
                    *b = before[at];
                    b->parent = at;
                    b->from = before[at].n;
                    add(b, t->o, (int32_t)best, p);
                }
            }
        }
    }
}

static void one(const char *model, const char *target, const myth_sets_opts *o, uint64_t *rng, uint32_t *n_several)
{
    rig r;
    int32_t prompt[PROMPT];
    myth_branches *branches;
    myth_branches_result got;
    myth_engine_opts eo = {
        .n_threads = 1, .n_ctx = PROMPT + N_MAX, .n_ubatch = 16, .page_tok = 4, .want_full_logits = true};
    rig_at(&eo, target);
    myth_branches_needs(&eo, o);
    rig_open(&r, model, &eo);
    for (uint32_t i = 0; i < PROMPT; i++)
        prompt[i] = (int32_t)check_below(rng, r.model.config.n_vocab);
    assert_ok(myth_branches_open(&branches, r.engine, o, &rig_err));
    const myth_mem_count opened = myth_mem_total(r.mem, MYTH_MEM_HOST);
    assert_ok(myth_branches_run(branches, prompt, PROMPT, &got, &rig_err));
    assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).peak, opened.peak);
    tree t = {.r = &r, .o = o, .prompt = prompt, .p = calloc(r.model.config.n_vocab, sizeof(double))};
    grow(&t);
    if (got.n_branch != t.n)
        fail_msg("%s %s: %u branches, by hand %u", model, target, got.n_branch, t.n);
    for (uint32_t i = 0; i < t.n; i++) {
        const myth_branch *a = &got.branch[i];
        const branch *b = &t.b[i];
        if (a->n != b->n || memcmp(a->ids, b->ids, a->n * sizeof(int32_t)) != 0 || a->parent != b->parent ||
            a->from != b->from || fabs(a->logprob - b->logprob) > 1e-4)
            fail_msg("%s %s: branch %u of %u tokens left %u at %u, %g; by hand %u, %u, %u, %g", model, target, i, a->n,
                     a->parent, a->from, a->logprob, b->n, b->parent, b->from, b->logprob);
        assert_int_equal(a->why, a->n == N_MAX ? MYTH_FINISH_LENGTH : MYTH_FINISH_STOP);
    }
    *n_several += t.n > 1;
    myth_branches_close(branches);
    free(t.p);
    rig_close(&r); /* all sequences were given back */
}

static void branches_equal_answers_alone(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint64_t rng = check_seed();
    uint32_t n_several = 0, n_run = 0;
    for (uint32_t i = 0; i < SPEC_N; i++)
        for (uint32_t v = 0; v < n_target; v++) {
            if (!check_is_kept(i * n_target + v, SPEC_N * n_target))
                continue;
            const int32_t stop = (int32_t)check_below(&rng, 100);
            const myth_sets_opts o = {
                .n_max = N_MAX,
                .n_member = 2 + check_below(&rng, MEMBERS - 1),
                /* low ones use up the branches at once, high ones while several go on */
                .threshold = (i + v) % 2 ? 0.002f + 0.01f * check_unit(&rng) : 0.02f + 0.04f * check_unit(&rng),
                .stop_ids = &stop,
                .n_stop = (int)check_below(&rng, 2),
            };
            one(spec[i], target[v], &o, &rng, &n_several);
            n_run++;
        }
    assert_true(n_several > 0 || n_run < 8); /* of a small sample none may part */
}

static void what_is_refused(void **state)
{
    (void)state;
    rig r;
    myth_branches *x;
    myth_branches_result got;
    static const int32_t ids[64] = {2, 3};
    const myth_sets_opts o = {.n_max = 4, .n_member = 3, .threshold = 0.1f};
    myth_engine_opts eo = {.n_threads = 1, .n_ctx = 32};
    rig_at(&eo, rig_target());
    myth_branches_needs(&eo, &o);
    rig_open(&r, spec[2], &eo);
    const myth_sets_opts wrong[] = {
        {.n_max = 4, .n_member = 0, .threshold = 0.1f},
        {.n_max = 4, .n_member = 4, .threshold = 0.1f}, /* opened for 3 sequences */
        {.n_max = 4, .n_member = 2, .threshold = 0.0f},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(myth_branches_open(&x, r.engine, &wrong[i], &rig_err), MYTH_EARG);
    assert_ok(myth_branches_open(&x, r.engine, &o, &rig_err));
    assert_ok(myth_branches_run(x, ids, 33, &got, &rig_err));
    assert_int_equal(got.why, MYTH_FINISH_REFUSED);
    assert_int_equal(got.n_branch, 0);
    assert_int_equal(myth_branches_run(x, ids, 0, &got, &rig_err), MYTH_EARG);
    myth_seq *all = rig_seq(&r); /* one of the three is in use: a fork finds none */
    myth_seq *more = rig_seq(&r);
    myth_seq *last = rig_seq(&r);
    assert_int_equal(myth_branches_run(x, ids, 2, &got, &rig_err), MYTH_EFULL);
    myth_seq_close(all);
    myth_seq_close(more);
    myth_seq_close(last);
    assert_ok(myth_branches_run(x, ids, 2, &got, &rig_err)); /* and it can be asked again */
    assert_true(got.n_branch >= 1);
    myth_branches_close(x);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_equal_answers_alone),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
