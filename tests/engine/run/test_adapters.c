/* test_adapters.c - a model with adapters answers as peft does and as the model that convert makes of both, in every
 * family, on every device; and all that holds for models without them holds: a row's bits, the plan, the hash. */
#include "tests/support/adapter.h"
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "engine/make/convert.h"
#include "engine/run/engine_impl.h"

enum { CTX = 40, N_TOK = 24, N_DECODE = 4 };

static uint64_t rng;

/* ---- models ---- */

static void open_adapted(rig *r, const char *spec, uint32_t n_adapter, const myth_engine_opts *opts)
{
    static const char *const name[] = {"one.gguf", "two.gguf"};
    static const float scale[] = {1.0f, -0.5f};
    myth_engine_opts o = *opts;
    rig_environment(&o);
    *r = (rig){0};
    assert_ok(myth_mem_open(&r->mem, 0, &rig_err));
    assert_ok(myth_model_open(&r->model, r->mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    for (uint32_t i = 0; i < n_adapter; i++)
        assert_ok(myth_model_adapt(&r->model, files_path(name[i]), scale[i], &rig_err));
    assert_ok(myth_engine_open(&r->engine, &r->model, &o, &rig_err));
}

/* Makes both adapters, and the model that convert makes with them in f32: both.gguf. */
static void make_files(const char *spec)
{
    myth_mem *mem;
    myth_model m;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_model_adapt(&m, adapter_make(files_path("one.gguf"), &m, 3, NULL, &rng), 1.0f, &rig_err));
    assert_ok(myth_model_adapt(&m, adapter_make(files_path("two.gguf"), &m, 5, "attn_", &rng), -0.5f, &rig_err));
    assert_ok(myth_convert(&m, &(myth_convert_opts){.path = files_path("both.gguf"), .type = MYTH_F32}, &rig_err));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static myth_engine_opts opts_at(const char *target)
{
    myth_engine_opts o = {.n_threads = 2, .n_ctx = CTX, .n_seq = 2, .want_full_logits = true};
    rig_at(&o, target);
    myth_generate_needs(&o, &(myth_sample_params){0}, false);
    return o;
}

/* What the router of every layer gave the experts: [LAYER_MAX][N_TOK][EXPERT_MAX]. */
enum { LAYER_MAX = 8, EXPERT_MAX = 16 };
typedef struct {
    const rig *r;
    const rows *at; /* whose base is the first row of the forward at work */
    float score[LAYER_MAX][N_TOK][EXPERT_MAX];
} routes;

/* before_layer: the scores are those of the layer that was issued just now. */
static void note_scores(void *owner, uint32_t l)
{
    routes *c = owner;
    const myth_part *p = c->r->engine->part;
    const uint32_t n = c->r->model.config.n_expert, first = c->at->base, n_row = first ? 1 : N_TOK - N_DECODE;
    float row[N_TOK * EXPERT_MAX];
    if (l == 0)
        return;
    assert_true(l <= LAYER_MAX && n <= EXPERT_MAX && first + n_row <= N_TOK);
    myth_stream_read(p->stream, row, p->step.moe_logits, sizeof(*row) * (uint64_t)n_row * n);
    assert_ok(myth_stream_sync(p->stream, &rig_err));
    for (uint32_t i = 0; i < n_row; i++)
        memcpy(c->score[l - 1][first + i], row + i * n, sizeof(*row) * n);
}

/* Whether expert e is among the k best; of equal ones the first is better. */
static bool is_best(const float *score, uint32_t n, uint32_t k, uint32_t e)
{
    uint32_t n_better = 0;
    for (uint32_t i = 0; i < n; i++)
        n_better += score[i] > score[e] || (score[i] == score[e] && i < e);
    return n_better < k;
}

/* The first of N_TOK rows in which two engines of one model take other experts, N_TOK for none. Experts are taken by
 * rank, so that rounding decides between two with nearly the same score, and all that comes after is another answer:
 * such a row is no fault if those that were swapped have the same score but for `within` of the row's range. */
static uint32_t first_swap(const routes *a, const routes *b, float within, const char *what)
{
    const myth_config *c = &a->r->model.config;
    uint32_t first = N_TOK;
    for (uint32_t l = 0; l < c->n_layer && c->n_expert; l++)
        for (uint32_t row = 0; row < first; row++) {
            const float *x = a->score[l][row], *y = b->score[l][row];
            float in[2] = {INFINITY, -INFINITY}, all[2] = {INFINITY, -INFINITY};
            for (uint32_t e = 0; e < c->n_expert; e++) {
                const bool is_swapped =
                    is_best(x, c->n_expert, c->n_expert_used, e) != is_best(y, c->n_expert, c->n_expert_used, e);
                all[0] = fminf(all[0], x[e]), all[1] = fmaxf(all[1], x[e]);
                if (is_swapped)
                    in[0] = fminf(in[0], x[e]), in[1] = fmaxf(in[1], x[e]);
            }
            if (in[1] < in[0])
                continue;
            if (!(in[1] - in[0] <= within * (all[1] - all[0])))
                fail_msg("%s: layer %u takes other experts of token %u: scores %g and %g, of %g to %g", what, l, row,
                         (double)in[0], (double)in[1], (double)all[0], (double)all[1]);
            first = row;
        }
    return first;
}

/* Logits of a prompt, then of tokens by the decode path. */
static void answer(rig *r, rows *w, uint32_t chunk)
{
    int32_t ids[N_TOK];
    myth_seq *s = rig_seq(r);
    for (uint32_t i = 0; i < N_TOK; i++)
        ids[i] = (int32_t)(i * 29 % r->model.config.n_vocab);
    rows_open(w, r, N_TOK, false);
    rig_feed(r, s, ids, N_TOK - N_DECODE, chunk, w);
    while (w->base < N_TOK)
        rig_decode(r, s, ids[w->base], w);
    w->base = 0;
    myth_seq_close(s);
}

/* The same, with what the routers said. */
static void answer_noting(rig *r, rows *w, routes *to)
{
    *to = (routes){.r = r, .at = w};
    if (r->model.config.n_expert) {
        r->engine->part->step.before_layer = note_scores;
        r->engine->part->step.owner = to;
    }
    answer(r, w, 0);
    r->engine->part->step.before_layer = NULL;
    r->engine->part->step.owner = r->engine->part;
}

/* ---- tests ---- */

static const char *const specs[] = {"random:gemma1-tiny:f32",    "random:gemma2-tiny:f32", "random:gemma3-tiny:f32",
                                    "random:gemma3n-tiny:f32",   "random:gemma4-tiny:f32", "random:gemma4-e-tiny:f32",
                                    "random:gemma4-moe-tiny:f32"};

enum { N_SPEC = sizeof(specs) / sizeof(specs[0]) };

static void products_are_the_sum(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (uint32_t i = 0; i < N_SPEC; i++) {
        if (!check_is_kept(i, N_SPEC))
            continue;
        make_files(specs[i]);
        for (uint32_t t = 0; t < n_target; t++) {
            const myth_engine_opts o = opts_at(target[t]);
            rig plain, sum, low;
            rows a, b, c;
            static routes sum_routes, low_routes;
            open_adapted(&plain, specs[i], 0, &o);
            open_adapted(&sum, files_path("both.gguf"), 0, &o);
            open_adapted(&low, specs[i], 2, &o);
            answer(&plain, &a, 0);
            answer_noting(&sum, &b, &sum_routes);
            answer_noting(&low, &c, &low_routes);
            const float within = rig_is_exact(target[t]) ? 1e-3f : 3e-2f;
            const uint32_t n_row = first_swap(&sum_routes, &low_routes, within, target[t]);
            const size_t n = (size_t)n_row * b.n_vocab;
            const float apart = share_apart(c.logits, b.logits, n), moved = share_apart(a.logits, b.logits, n);
            if (n_row < N_TOK)
                printf("%s %s: rounding chose other experts at token %u\n", specs[i], target[t], n_row);
            if (!(apart <= within) || !(moved > 3 * apart && moved > 1e-2f))
                fail_msg("%s %s: %g from the sum, %g from the model without, in %u tokens", specs[i], target[t],
                         (double)apart, (double)moved, n_row);
            rows_close(&a);
            rows_close(&b);
            rows_close(&c);
            rig_close(&plain);
            rig_close(&sum);
            rig_close(&low);
        }
    }
}

/* Those of peft, with what transformers computes (tests/golden/make_adapters.py). */
static void answers_are_those_of_peft(void **state)
{
    (void)state;
    static const char *const name[] = {"gemma2-gqa", "gemma3-layers", "gemma3n-active", "gemma4-e", "gemma4-moe"};
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (uint32_t i = 0; i < 5; i++) {
        char path[1024], rest[128];
        uint32_t head[3];
        int32_t ids[64];
        snprintf(rest, sizeof(rest), "tests/golden/adapters/%s/golden.bin", name[i]);
        FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
        assert_non_null(f);
        assert_int_equal(fread(head, 4, 3, f), 3);
        assert_true(head[0] == 0x4f47594d && head[1] <= 64);
        const size_t n = (size_t)head[1] * head[2];
        float *want = malloc(n * sizeof(*want));
        assert_non_null(want);
        assert_int_equal(fread(ids, 4, head[1], f), head[1]);
        assert_int_equal(fread(want, sizeof(*want), n, f), n);
        fclose(f);
        for (uint32_t t = 0; t < n_target; t++) {
            const myth_engine_opts o = opts_at(target[t]);
            rig r = {0};
            rows w;
            assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
            snprintf(rest, sizeof(rest), "tests/golden/models/%s", name[i]);
            assert_ok(myth_model_open(&r.model, r.mem, check_path(path, sizeof(path), rest),
                                      &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
            snprintf(rest, sizeof(rest), "tests/golden/adapters/%s", name[i]);
            assert_ok(myth_model_adapt(&r.model, check_path(path, sizeof(path), rest), 1.0f, &rig_err));
            assert_ok(myth_engine_open(&r.engine, &r.model, &o, &rig_err));
            assert_int_equal(r.model.config.n_vocab, head[2]);
            rows_open(&w, &r, head[1], false);
            myth_seq *s = rig_seq(&r);
            rig_feed(&r, s, ids, head[1], 0, &w);
            const float apart = share_apart(w.logits, want, n);
            if (!(apart <= (rig_is_exact(target[t]) ? 2e-4f : 3e-2f)))
                fail_msg("%s %s: %g", name[i], target[t], (double)apart);
            myth_seq_close(s);
            rows_close(&w);
            rig_close(&r);
        }
        free(want);
    }
}

/* The bits do not depend on how a prompt is cut, and a recorded run chooses what single steps choose. */
static void bits_are_a_rows_own(void **state)
{
    (void)state;
    static const char *const base[] = {"random:gemma3-tiny:q8_0", "random:gemma3n-tiny:bf16",
                                       "random:gemma4-e-tiny:q4_0"};
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (uint32_t i = 0; i < 3; i++) {
        if (!check_is_kept(i, 3))
            continue;
        make_files(base[i]);
        for (uint32_t t = 0; t < n_target; t++) {
            const myth_engine_opts o = opts_at(target[t]);
            const int32_t prompt[] = {3, 1, 4, 1, 5};
            enum { N_PROMPT = 5, N_NEW = 8 };
            int32_t ids[N_NEW];
            uint32_t n_ids = 0;
            myth_finish why;
            rig r;
            rows a, b;
            open_adapted(&r, base[i], 2, &o);
            answer(&r, &a, 0);
            answer(&r, &b, 7);
            assert_same_bits(a.logits, b.logits, (size_t)N_TOK * a.n_vocab, target[t]);
            rows_close(&a);
            rows_close(&b);
            myth_seq *s = rig_seq(&r);
            const uint64_t n_before = myth_mem_n_alloc(r.mem);
            assert_ok(myth_generate(r.engine, s,
                                    &(myth_generate_opts){.prompt = prompt, .n_prompt = N_PROMPT, .n_max = N_NEW}, ids,
                                    &n_ids, &why, &rig_err));
            assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
            assert_int_equal(n_ids, N_NEW);
            myth_seq_close(s);
            s = rig_seq(&r);
            rows_open(&a, &r, 1, false);
            rig_feed(&r, s, prompt, N_PROMPT - 1, 0, NULL);
            for (uint32_t k = 0; k < N_NEW; k++) {
                const int32_t fed = k ? ids[k - 1] : prompt[N_PROMPT - 1];
                uint32_t best = 0;
                a.base = 0;
                if (k == 0)
                    rig_feed(&r, s, &fed, 1, 0, &a);
                else
                    rig_decode(&r, s, fed, &a);
                for (uint32_t v = 1; v < a.n_vocab; v++)
                    best = a.logits[v] > a.logits[best] ? v : best;
                assert_int_equal(ids[k], (int32_t)best);
            }
            rows_close(&a);
            myth_seq_close(s);
            rig_close(&r);
        }
    }
}

/* On every ledger the live bytes of every class are the plan's, which was made from headers. */
static void plan_is_ledger(void **state)
{
    (void)state;
    char device[RIG_TARGET_MAX][32];
    const uint32_t n_device = rig_devices(device);
    for (uint32_t i = 0; i < N_SPEC; i++) {
        if (!check_is_kept(i, N_SPEC))
            continue;
        make_files(specs[i]);
        for (uint32_t k = 0; k < 3 * n_device; k++) {
            char split[40];
            const bool is_cpu = strcmp(device[k / 3], "cpu") == 0;
            myth_engine_opts o = {.device = device[k / 3], .n_ctx = CTX, .want_full_logits = true};
            snprintf(split, sizeof(split), "cpu,%s", device[k / 3]);
            if (k % 3 && is_cpu)
                continue;
            if (k % 3 == 1)
                o.device = split;
            o.offload = k % 3 == 2 ? MYTH_OFFLOAD_WEIGHTS : MYTH_OFFLOAD_NONE;
            rig r;
            myth_model header;
            myth_plan p;
            open_adapted(&r, specs[i], 2, &o);
            const myth_mem_count host = myth_mem_total(r.mem, 0);
            assert_ok(myth_model_open(&header, r.mem, specs[i], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER},
                                      &rig_err));
            assert_ok(myth_model_adapt(&header, files_path("one.gguf"), 1.0f, &rig_err));
            assert_ok(myth_model_adapt(&header, files_path("two.gguf"), -0.5f, &rig_err));
            rig_environment(&o);
            assert_ok(myth_plan_make(&p, &header, &o, NULL, NULL, false, &rig_err));
            myth_model_close(&header);
            assert_int_equal(myth_mem_total(r.mem, 0).live, host.live);
            for (uint32_t d = 0; d < p.n_device; d++)
                for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
                    const uint64_t live = myth_mem_get(r.mem, p.device[d].ledger, (myth_mem_class)c).live;
                    if (live != p.device[d].bytes[c])
                        fail_msg("%s on %s: class %s: planned %llu, live %llu", specs[i], o.device,
                                 myth_mem_class_name((myth_mem_class)c), (unsigned long long)p.device[d].bytes[c],
                                 (unsigned long long)live);
                }
            rows w;
            answer(&r, &w, 0);
            rows_close(&w);
            rig_close(&r);
        }
    }
}

/* A saved sequence goes on with the same adapters only; the name says which they are. */
static void the_hash_tells_adapters_apart(void **state)
{
    (void)state;
    static unsigned char saved[1 << 20];
    const myth_engine_opts o = opts_at(rig_target());
    const int32_t ids[] = {1, 2, 3};
    rig one, two, again;
    make_files(specs[2]);
    open_adapted(&one, specs[2], 1, &o);
    open_adapted(&two, specs[2], 2, &o);
    open_adapted(&again, specs[2], 1, &o);
    assert_true(myth_model_hash(&one.model) != myth_model_hash(&two.model));
    assert_true(myth_model_hash(&one.model) == myth_model_hash(&again.model));
    assert_string_equal(strstr(myth_model_name(&two.model), " + "), " + one.gguf + two.gguf:-0.5");
    myth_seq *s = rig_seq(&one), *t = rig_seq(&two), *u = rig_seq(&again);
    rig_feed(&one, s, ids, 3, 0, NULL);
    const uint64_t n = myth_seq_save_bytes(s);
    assert_true(n <= sizeof(saved));
    assert_ok(myth_seq_save(s, saved, sizeof(saved), &rig_err));
    assert_int_equal(myth_seq_restore(t, saved, n, &rig_err), MYTH_EFORMAT);
    assert_int_equal(myth_seq_len(t), 0);
    assert_ok(myth_seq_restore(u, saved, n, &rig_err));
    myth_seq_close(s);
    myth_seq_close(t);
    myth_seq_close(u);
    rig_close(&one);
    rig_close(&two);
    rig_close(&again);
    myth_mem *mem;
    myth_model m;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, specs[2], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    const uint64_t base = myth_model_hash(&m);
    assert_ok(myth_model_adapt(&m, files_path("one.gguf"), 1.0f, &rig_err));
    const uint64_t whole = myth_model_hash(&m);
    myth_model_close(&m);
    assert_ok(myth_model_open(&m, mem, specs[2], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_model_adapt(&m, files_path("one.gguf"), 0.5f, &rig_err));
    assert_true(base != whole && myth_model_hash(&m) != whole && myth_model_hash(&m) != base);
    for (uint32_t i = 1; i < MYTH_MODEL_LORA_MAX; i++)
        assert_ok(myth_model_adapt(&m, files_path("one.gguf"), 0.0f, &rig_err));
    assert_int_equal(myth_model_adapt(&m, files_path("one.gguf"), 1.0f, &rig_err), MYTH_ELIMIT);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    rng = check_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_sum),          cmocka_unit_test(answers_are_those_of_peft),
        cmocka_unit_test(bits_are_a_rows_own),           cmocka_unit_test(plan_is_ledger),
        cmocka_unit_test(the_hash_tells_adapters_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
