/* test_plan_ways.c - ways to fit: the sizes that a refusal proposes are the largest there are, found by trying all;
 * layers divided by what devices may have; the embedding and the head in host memory, with the bits that they have on
 * the device. And what a plan has for each layer. */
#include "tests/support/rig.h"
#include "kernels/device.h"

#include <string.h>

static void open_header(myth_mem **mem, myth_model *m, const char *spec)
{
    *m = (myth_model){0};
    assert_ok(myth_mem_open(mem, 0, &rig_err));
    assert_ok(myth_model_open(m, *mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
}

static void close_header(myth_mem *mem, myth_model *m)
{
    myth_model_close(m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static bool fits(const myth_model *m, const myth_engine_opts *o, const myth_mem_limits *limits)
{
    myth_plan p;
    return myth_plan_make(&p, m, o, NULL, limits, false, &rig_err) == MYTH_OK && p.fits;
}

/* The three sizes that a refusal may propose smaller: rows of a step, context, sequences. */
enum { UBATCH, CTX, SEQ, SIZE_N };
static const struct {
    const char *flag;
    uint32_t least, step;
    int changes;
} size_of[SIZE_N] = {
    {"-ub", 16, 16, MYTH_CHANGE_UBATCH}, {"-c", 256, 64, MYTH_CHANGE_CTX}, {"--parallel", 1, 1, MYTH_CHANGE_SEQ}};

static uint32_t *size_in(myth_engine_opts *o, int k)
{
    return k == UBATCH ? &o->n_ubatch : k == CTX ? &o->n_ctx : &o->n_seq;
}

/* What plans need with each smaller value of size k, the largest first. */
typedef struct {
    uint32_t value[512];
    uint64_t bytes[512];
    uint32_t n;
} smaller_sizes;

static void plan_smaller(smaller_sizes *s, const myth_model *m, const myth_engine_opts *o, int k)
{
    myth_engine_opts t = *o;
    const uint32_t least = size_of[k].least, step = size_of[k].step, was = *size_in(&t, k);
    s->n = 0;
    for (int64_t v = least + (int64_t)(was - 1 - least) / step * step; v >= (int64_t)least && least < was; v -= step) {
        myth_plan p;
        *size_in(&t, k) = (uint32_t)v;
        assert_ok(myth_plan_make(&p, m, &t, NULL, NULL, false, &rig_err));
        assert_true(s->n < sizeof(s->value) / sizeof(s->value[0]));
        s->value[s->n] = (uint32_t)v;
        s->bytes[s->n++] = p.total_bytes;
    }
}

/* The largest smaller value of size k that fits, by trying all; 0 = none. */
static uint32_t largest_that_fits(const smaller_sizes *s, const myth_model *m, const myth_engine_opts *o, int k,
                                  const myth_mem_limits *limits)
{
    myth_engine_opts t = *o;
    uint32_t i = 0;
    while (i < s->n && s->bytes[i] > limits->bytes[0])
        i++;
    if (i > 0) { /* the border is that of plans with this limit */
        *size_in(&t, k) = s->value[i - 1];
        assert_false(fits(m, &t, limits));
    }
    if (i == s->n)
        return 0;
    *size_in(&t, k) = s->value[i];
    assert_true(fits(m, &t, limits));
    return s->value[i];
}

static void sizes_proposed_are_the_largest(void **state)
{
    (void)state;
    enum { BUDGETS = 20 }; /* of one run, whose smaller sizes are planned once */
    static const char *const spec[] = {"random:gemma3-270m:q8_0", "random:gemma2-2b:q4_0", "random:gemma3-tiny:f32",
                                       "random:gemma4-tiny:bf16"};
    static smaller_sizes all[SIZE_N];
    uint64_t rng = check_seed();
    uint32_t n_seen[SIZE_N] = {0};
    const uint32_t n_budget = check_trials(10000, 40);
    myth_mem *mem[4];
    myth_model model[4];
    for (int i = 0; i < 4; i++)
        open_header(&mem[i], &model[i], spec[i]);
    myth_engine_opts o = {0};
    uint64_t whole = 0;
    for (uint32_t budget = 0; budget < n_budget; budget++) {
        const uint32_t round = n_budget < 4 * BUDGETS ? budget : budget / BUDGETS;
        const myth_model *m = &model[round % 4];
        myth_plan p;
        if (n_budget < 4 * BUDGETS || budget % BUDGETS == 0) {
            o = (myth_engine_opts){
                .device = "cpu",
                .n_threads = 2,
                .n_ctx = 300 + check_below(&rng, m->config.n_ctx_train < 8000 ? m->config.n_ctx_train - 300 : 7700),
                .n_ubatch = 16 + check_below(&rng, 1000),
                .n_seq = 1 + check_below(&rng, 9),
            };
            assert_ok(myth_plan_make(&p, m, &o, NULL, NULL, false, &rig_err));
            whole = p.total_bytes;
            o.n_ctx = p.n_ctx;
            o.n_ubatch = p.n_ubatch;
            for (int k = 0; k < SIZE_N; k++)
                plan_smaller(&all[k], m, &o, k);
        }
        const myth_mem_limits limits = {.bytes = {whole / 1000 * (20 + check_below(&rng, 970))}};
        assert_ok(myth_plan_make(&p, m, &o, NULL, &limits, false, &rig_err));
        assert_false(p.fits);
        for (int k = 0; k < SIZE_N; k++) {
            const uint32_t want = largest_that_fits(&all[k], m, &o, k, &limits);
            uint32_t got = 0;
            for (uint32_t i = 0; i < p.n_suggestion; i++)
                if ((int)p.suggestion[i].changes == size_of[k].changes)
                    got = k == UBATCH ? p.suggestion[i].n_ubatch
                        : k == CTX    ? p.suggestion[i].n_ctx
                                      : p.suggestion[i].n_seq;
            if (got != want)
                fail_msg("%s -c %u -ub %u --parallel %u at %llu bytes: %s %u, by trying all %u", spec[round % 4],
                         o.n_ctx, o.n_ubatch, o.n_seq, (unsigned long long)limits.bytes[0], size_of[k].flag, got, want);
            n_seen[k] += want > 0;
        }
    }
    for (int i = 0; i < 4; i++)
        close_header(mem[i], &model[i]);
    printf("%u budgets; sizes that fit: %u rows, %u contexts, %u numbers of sequences\n", n_budget, n_seen[UBATCH],
           n_seen[CTX], n_seen[SEQ]);
    assert_true(n_budget < 40 || (n_seen[UBATCH] && n_seen[CTX] && n_seen[SEQ])); /* no small sample */
}

static uint64_t bytes_of_context(const void *per_token, uint32_t n_ctx) { return *(const uint64_t *)per_token * n_ctx; }

/* A caller that holds bytes for each token of the context is planned with the context that is chosen, which is the
 * largest; and what is proposed to it fits with its bytes. */
static void what_grows_with_the_context_shrinks_with_it(void **state)
{
    (void)state;
    static const uint64_t per_token = 2000;
    const myth_plan_extra extra = {.bytes[MYTH_MEM_STAGING] = 5000, .of_context = bytes_of_context, .user = &per_token};
    const myth_engine_opts any = {.device = "cpu", .n_threads = 2, .n_ubatch = 16},
                           given = {.device = "cpu", .n_threads = 2, .n_ubatch = 16, .n_ctx = 4096};
    myth_mem *mem;
    myth_model m;
    myth_plan all, p, again;
    uint32_t n_smaller = 0, n_context = 0;
    open_header(&mem, &m, "random:gemma3-tiny:q8_0");
    assert_ok(myth_plan_make(&p, &m, &any, NULL, NULL, false, &rig_err));
    assert_ok(myth_plan_make(&all, &m, &any, &extra, NULL, false, &rig_err));
    assert_int_equal(all.bytes[MYTH_MEM_STAGING], p.bytes[MYTH_MEM_STAGING] + 5000 + 2000 * (uint64_t)all.n_ctx);
    for (uint64_t percent = 20; percent < 100; percent += 7) {
        const myth_mem_limits limits = {.bytes = {all.total_bytes / 100 * percent}};
        assert_ok(myth_plan_make(&p, &m, &any, &extra, &limits, true, &rig_err));
        if (p.fits) {
            myth_engine_opts more = any;
            more.n_ctx = p.n_ctx + 64;
            assert_ok(myth_plan_make(&again, &m, &more, &extra, &limits, false, &rig_err));
            assert_true(p.n_ctx < all.n_ctx && !again.fits);
            n_smaller++;
        }
        assert_ok(myth_plan_make(&p, &m, &given, &extra, &limits, true, &rig_err));
        assert_false(p.fits);
        for (uint32_t i = 0; i < p.n_suggestion; i++) {
            myth_engine_opts t = given;
            myth_mem_limits l = limits;
            myth_suggestion_apply(&p.suggestion[i], &t, &l);
            assert_ok(myth_plan_make(&again, &m, &t, &extra, &l, false, &rig_err));
            assert_true(again.fits && again.total_bytes == p.suggestion[i].total_bytes);
            n_context += p.suggestion[i].changes == MYTH_CHANGE_CTX;
        }
    }
    assert_true(n_smaller > 8 && n_context > 8);
    close_header(mem, &m);
}

/* Two devices of which one may have little: equal shares do not fit, and a division of the layers is proposed that
 * does. Nothing is opened, so the devices need not be there. */
static void layers_are_divided_by_limits(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-1b:q8_0", "random:gemma2-2b:q4_0", "random:gemma4-tiny:bf16"};
    uint32_t n_split = 0, n_short = 0;
    for (uint32_t round = 0; round < 60; round++) {
        myth_mem *mem;
        myth_model m;
        myth_plan all, p;
        open_header(&mem, &m, spec[round % 3]);
        myth_engine_opts o = {.device = "cuda:0,cuda:1", .n_threads = 2, .n_ctx = 1024};
        if (myth_plan_make(&all, &m, &o, NULL, NULL, false, &rig_err) != MYTH_OK) {
            close_header(mem, &m);
            check_skip("no kind of device that two of can be planned for: %s", rig_err.msg);
        }
        const myth_plan_device *a = &all.device[1], *b = &all.device[2];
        const uint64_t both = a->total_bytes + b->total_bytes, share = 10 + round * 80 / 60;
        myth_mem_limits limits = {0};
        limits.bytes[a->ledger] = both / 100 * share;
        limits.bytes[b->ledger] = both / 100 * (108 - share);
        assert_ok(myth_plan_make(&p, &m, &o, NULL, &limits, false, &rig_err));
        bool can = false, is_offered = false;
        for (uint32_t k = 1; k < m.config.n_layer && !can; k++) {
            myth_engine_opts t = o;
            t.split[0] = (float)k;
            t.split[1] = (float)(m.config.n_layer - k);
            can = fits(&m, &t, &limits);
        }
        for (uint32_t i = 0; i < p.n_suggestion; i++) {
            myth_engine_opts t = o;
            myth_mem_limits l = limits;
            myth_suggestion_apply(&p.suggestion[i], &t, &l);
            assert_true(fits(&m, &t, &l));
            is_offered = is_offered || p.suggestion[i].changes == MYTH_CHANGE_SPLIT;
        }
        if (!p.fits && can != is_offered)
            fail_msg("%s at %u and %u %%: a division that fits %s, %s", spec[round % 3], (unsigned)share,
                     (unsigned)(108 - share), can ? "is there" : "is not there",
                     is_offered ? "offered" : "not offered");
        n_split += !p.fits && is_offered;
        n_short += !p.fits;
        close_header(mem, &m);
    }
    printf("%u refusals, %u of them with a division\n", n_short, n_split);
    assert_true(n_split > 0);
}

/* Where only everything at its smallest fits, that is proposed, to the byte; below it the least limit that is enough.
 * */
static void the_smallest_of_all_is_proposed(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_model m;
    myth_plan least, p;
    open_header(&mem, &m, "random:gemma3-270m:q8_0");
    const myth_engine_opts o = {.device = "cpu", .n_threads = 1};
    const myth_engine_opts small = {
        .device = "cpu",
        .n_threads = 1,
        .n_ctx = 256,
        .n_ubatch = 16,
        .has_cache_type = true,
        .type_k = MYTH_Q8_0,
        .type_v = MYTH_Q8_0,
    };
    const uint64_t MiB = 1 << 20;
    assert_ok(myth_plan_make(&least, &m, &small, NULL, NULL, false, &rig_err));
    for (uint64_t below = 0; below < 2; below++) {
        const myth_mem_limits limits = {.bytes = {least.total_bytes - below}};
        uint64_t least_limit = UINT64_MAX;
        assert_ok(myth_plan_make(&p, &m, &o, NULL, &limits, true, &rig_err));
        assert_false(p.fits);
        for (uint32_t i = 0; i < p.n_suggestion; i++) {
            const bool is_higher = (p.suggestion[i].changes & MYTH_CHANGE_LIMIT) != 0;
            const uint64_t limit = is_higher ? p.suggestion[i].limit_bytes : limits.bytes[0];
            least_limit = limit < least_limit ? limit : least_limit;
        }
        assert_int_equal(least_limit, below ? (least.total_bytes + MiB - 1) / MiB * MiB : least.total_bytes);
    }
    close_header(mem, &m);
}

/* A device whose memory is the host's fits only beside what the host itself takes, to the byte; what is proposed where
 * it does not is held to the same. */
static void a_device_in_the_memory_of_the_host(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_model m;
    myth_plan all, p;
    open_header(&mem, &m, "random:gemma3-270m:q8_0");
    const myth_engine_opts o = {.device = "cuda:0", .n_threads = 2, .n_ctx = 1024};
    if (myth_plan_make(&all, &m, &o, NULL, NULL, false, &rig_err) != MYTH_OK) {
        close_header(mem, &m);
        check_skip("no device beside the CPU can be planned for: %s", rig_err.msg);
    }
    const myth_plan_device *host = &all.device[0], *device = &all.device[1];
    myth_mem_limits limits = {.in_host = 1u << device->ledger, .host_and = all.total_bytes};
    assert_true(fits(&m, &o, &limits));
    for (int share = 100; share > 20; share -= 20) {
        limits.host_and = all.total_bytes / 100 * (uint64_t)share - (share == 100);
        assert_ok(myth_plan_make(&p, &m, &o, NULL, &limits, false, &rig_err));
        assert_false(p.fits);
        assert_int_equal(p.device[1].limit_bytes, limits.host_and - host->total_bytes);
        for (uint32_t i = 0; i < p.n_suggestion; i++) {
            myth_engine_opts t = o;
            myth_mem_limits l = limits;
            myth_suggestion_apply(&p.suggestion[i], &t, &l);
            assert_ok(myth_plan_make(&all, &m, &t, NULL, &l, false, &rig_err));
            assert_true(all.total_bytes <= limits.host_and);
        }
        assert_ok(myth_plan_make(&all, &m, &o, NULL, NULL, false, &rig_err));
    }
    close_header(mem, &m);
}

/* ---- the embedding and the head in host memory ---- */

enum { N_TOK = 21 };

static void feed_all(rig *r, rows *w)
{
    int32_t ids[N_TOK];
    for (uint32_t i = 0; i < N_TOK; i++)
        ids[i] = (int32_t)(3 + i * 37 % (r->model.config.n_vocab - 3));
    rows_open(w, r, N_TOK + 1, false);
    myth_seq *s = rig_seq(r);
    rig_feed(r, s, ids, N_TOK, 8, w);
    w->base = N_TOK;
    rig_decode(r, s, 5, w);
    myth_seq_close(s);
}

static void a_head_in_host_memory_changes_no_bit(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma1-tiny:f32",         "random:gemma2-tiny:q4_0",
                                       "random:gemma3-tiny:q8_0",        "random:gemma3-tiny:bf16",
                                       "random:gemma3n-tiny:q8_0",       "random:gemma4-e-tiny:q4_k",
                                       "tests/golden/models/gemma2-old", "tests/golden/models/gemma4-mm"};
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++)
        for (uint32_t v = 0; v < n_target; v++) {
            char path[1024];
            rig r[2];
            rows w[2];
            uint64_t device[2], host[2];
            if ((!strchr(target[v], ':') && v > 0) || !check_is_kept((uint32_t)i, sizeof(spec) / sizeof(spec[0])))
                continue; /* of the CPU one target: nothing moves */
            for (int k = 0; k < 2; k++) {
                myth_engine_opts o = {.n_threads = 1,
                                      .n_ctx = 32,
                                      .n_ubatch = 8,
                                      .n_logit_rows = 8,
                                      .want_full_logits = true,
                                      .host_head = k};
                rig_at(&o, target[v]);
                rig_open(&r[k], strchr(spec[i], ':') ? spec[i] : check_path(path, sizeof(path), spec[i]), &o);
                const myth_plan *p = myth_engine_plan(r[k].engine);
                for (uint32_t d = 0; d < p->n_device; d++) /* what is booked is what was planned */
                    assert_int_equal(myth_mem_get(r[k].mem, p->device[d].ledger, MYTH_MEM_WEIGHTS).live,
                                     p->device[d].bytes[MYTH_MEM_WEIGHTS]);
                host[k] = p->device[0].bytes[MYTH_MEM_WEIGHTS];
                device[k] = p->n_device > 1 ? p->device[1].bytes[MYTH_MEM_WEIGHTS] : 0;
                feed_all(&r[k], &w[k]);
            }
            assert_same_bits(w[1].logits, w[0].logits, (size_t)(N_TOK + 1) * w[0].n_vocab, spec[i]);
            if (strchr(target[v], ':')) {
                const uint64_t moved = device[0] - device[1];
                assert_true(moved > 0 && host[1] - host[0] == moved);
                n++;
            } else {
                assert_int_equal(host[0], host[1]);
            }
            for (int k = 0; k < 2; k++) {
                rows_close(&w[k]);
                rig_close(&r[k]);
            }
        }
    if (!n)
        check_count_skipped("a_head_in_host_memory_changes_no_bit", "no device but the CPU is tested here");
}

/* A 270M model whose embedding alone is 170 MiB, on a device that may have 68 MiB. */
static void a_device_smaller_than_the_embedding_runs(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_model m;
    myth_plan p;
    open_header(&mem, &m, "random:gemma3-270m:q8_0");
    const myth_engine_opts o = {.device = "vulkan:0", .n_threads = 2, .n_ctx = 1024};
    myth_mem_limits limits = {0};
    limits.bytes[myth_device_ledger("vulkan:0")] = 68ull << 20;
    if (myth_plan_make(&p, &m, &o, NULL, &limits, false, &rig_err) != MYTH_OK) {
        close_header(mem, &m);
        check_skip("%s", rig_err.msg);
    }
    assert_false(p.fits);
    bool is_offered = false;
    for (uint32_t i = 0; i < p.n_suggestion; i++)
        is_offered =
            is_offered || (p.suggestion[i].changes & MYTH_CHANGE_HEAD && p.suggestion[i].changes & MYTH_CHANGE_OFFLOAD);
    assert_true(is_offered);
    close_header(mem, &m);
}

/* Every value that no engine can have is refused, and the error's option is the field, which its text spells. */
static void a_wrong_option_is_named(void **state)
{
    (void)state;
    static const uint32_t twice[2] = {1, 1};
    static const struct {
        const char *option;
        myth_engine_opts o;
    } row[] = {
        {"n_ctx", {.n_ctx = UINT32_MAX}},
        {"n_seq", {.n_seq = 4097}},
        {"n_checkpoint", {.n_checkpoint = 4097}},
        {"n_ubatch", {.n_ubatch = 65537}},
        {"top_k", {.top_k = 1025}},
        {"offload", {.offload = (myth_offload)77}},
        {"ple", {.ple = (myth_ple_place)9}},
        {"type_k", {.has_cache_type = true, .type_k = MYTH_Q4_K, .type_v = MYTH_F16}},
        {"type_k", {.has_cache_type = true, .type_k = (myth_dtype)99, .type_v = MYTH_F16}},
        {"type_v", {.has_cache_type = true, .type_k = MYTH_F16, .type_v = (myth_dtype)MYTH_DTYPE_N}},
        {"capture_layer", {.n_capture_layer = 2}},
        {"capture_layer", {.n_capture_layer = 2, .capture_layer = twice}},
        {"n_capture_label", {.n_capture_layer = 1, .capture_layer = twice, .n_capture_label = UINT32_MAX}},
        {"n_set_rows", {.n_set_rows = 4, .no_cache = true}},
    };
    myth_mem *mem;
    myth_model m;
    myth_plan plan;
    open_header(&mem, &m, "random:gemma3-tiny:q8_0");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_engine_opts o = row[i].o;
        o.device = "cpu";
        rig_err = (myth_error){0};
        assert_int_equal(myth_plan_make(&plan, &m, &o, NULL, NULL, false, &rig_err), MYTH_EARG);
        if (!rig_err.option || strcmp(rig_err.option, row[i].option) != 0 || !strstr(rig_err.msg, row[i].option))
            fail_msg("%s: \"%s\" names %s", row[i].option, rig_err.msg, rig_err.option ? rig_err.option : "nothing");
    }
    close_header(mem, &m);

    static const struct {
        const char *option, *device, *level;
    } absent[] = {{"device", "tpu:0", NULL}, {"cpu_level", "cpu", "bogus"}};
    for (size_t i = 0; i < 2; i++) {
        myth_engine *e;
        const myth_engine_opts o = {.device = absent[i].device, .cpu_level = absent[i].level, .n_ctx = 32};
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, "random:gemma3-tiny:q8_0", NULL, &rig_err));
        rig_err = (myth_error){0};
        assert_int_equal(myth_engine_open(&e, &m, &o, &rig_err), MYTH_EDEVICE);
        assert_non_null(rig_err.option);
        assert_string_equal(rig_err.option, absent[i].option);
        assert_non_null(strstr(rig_err.msg, absent[i].option));
        close_header(mem, &m);
    }
}

/* Keys and values of one layer, counted from its shape: rows of pages (or of a ring) of all holders. */
static uint64_t kv_of_layer(const myth_config *c, uint32_t l, const myth_engine_opts *o, const myth_plan *p)
{
    const myth_layer_config *lc = &c->layer[l];
    const uint32_t window = c->window && c->window < p->n_ctx ? c->window : p->n_ctx;
    const uint64_t n_row = lc->is_global ? (uint64_t)p->n_page * p->page_tok : (o->n_seq + o->n_checkpoint) * window;
    const uint64_t k_row = lc->k_is_v && lc->is_global ? 0 : myth_row_bytes(p->type_k, lc->head_dim);
    return lc->kv_source == l ? n_row * lc->n_head_kv * (k_row + myth_row_bytes(p->type_v, lc->head_dim)) : 0;
}

/* What a plan has for its layers, and for what belongs to none, is all of its weights, keys and values; each layer's
 * keys and values are those of its shape, and a sequence has its share of them. */
static void a_plan_is_divided_by_layer(void **state)
{
    (void)state;
    static const char *const spec[] = {
        "random:gemma1-tiny:q4_0",
        "random:gemma2-tiny:bf16",
        "random:gemma3-tiny:q8_0",
        "random:gemma3n-tiny:q8_0",
        "random:gemma4-tiny:bf16",
        "random:gemma4-e-tiny:q8_0",
        "random:gemma4-moe-tiny:q4_0",
        "random:gemma3-270m:q8_0",
        "random:gemma4-31b:q4_0",
        "gemma4-unified",
        "gemma3-sharded",
        "gemma3n",
    };
    uint64_t rng = check_seed();
    uint32_t n_in_place = 0, n_slot = 0;
    static myth_layers part;
    for (uint32_t round = 0; round < 16 * check_sample(12); round++) {
        static const char *const device[] = {"cpu", "vulkan:0", "cpu,vulkan:0", "vulkan:0,vulkan:1"};
        char path[1024], model_dir[128];
        const char *name = spec[round % 12];
        myth_mem *mem;
        myth_model m;
        myth_plan p;
        snprintf(model_dir, sizeof(model_dir), "tests/golden/models/%s", name);
        open_header(&mem, &m, strchr(name, ':') ? name : check_path(path, sizeof(path), model_dir));
        myth_engine_opts o = {
            .device = device[check_below(&rng, 4)],
            .n_threads = 1,
            .n_ctx = 1 + check_below(&rng, 300),
            .n_seq = 1 + check_below(&rng, 3),
            .n_checkpoint = check_below(&rng, 3),
            .no_cache = check_below(&rng, 8) == 0,
            .host_head = check_below(&rng, 3) == 0,
            .n_cpu_moe = check_below(&rng, 3),
        };
        o.offload = (myth_offload)check_below(&rng, o.no_cache ? 2 : 3);
        o.n_host_kv = o.no_cache || o.offload == MYTH_OFFLOAD_KV ? 0 : check_below(&rng, 3);
        const myth_status st = myth_plan_make(&p, &m, &o, NULL, NULL, false, &rig_err);
        assert_int_equal(myth_plan_layers(&part, &m, &o, &rig_err), st);
        if (st == MYTH_OK) {
            uint64_t weights = 0, kv = 0, owned = 0;
            assert_int_equal(part.n_layer, m.config.n_layer);
            for (uint32_t l = 0; l <= part.n_layer; l++) {
                weights += part.layer[l].weight_bytes;
                kv += part.layer[l].kv_bytes;
                n_in_place += part.layer[l].in_place_bytes > 0;
                if (l == part.n_layer)
                    break;
                owned += part.layer[l].kv_bytes;
                assert_true(part.layer[l].weight_bytes > 0);
                if (part.layer[l].kv_bytes != (o.no_cache ? 0 : kv_of_layer(&m.config, l, &o, &p)))
                    fail_msg("%s --device %s -c %u: layer %u: %llu bytes of keys and values", name, o.device, o.n_ctx,
                             l, (unsigned long long)part.layer[l].kv_bytes);
            }
            n_slot += part.layer[part.n_layer].kv_bytes > 0;
            if (weights != p.bytes[MYTH_MEM_WEIGHTS] || kv != p.bytes[MYTH_MEM_KV_GLOBAL] + p.bytes[MYTH_MEM_KV_LOCAL])
                fail_msg(
                    "%s --device %s --offload %d: %llu bytes of weights, %llu of keys and values in layers, planned "
                    "%llu and %llu",
                    name, o.device, (int)o.offload, (unsigned long long)weights, (unsigned long long)kv,
                    (unsigned long long)p.bytes[MYTH_MEM_WEIGHTS],
                    (unsigned long long)(p.bytes[MYTH_MEM_KV_GLOBAL] + p.bytes[MYTH_MEM_KV_LOCAL]));
            if (o.n_checkpoint == 0)
                assert_int_equal(part.sequence_bytes * o.n_seq, owned);
        }
        close_header(mem, &m);
    }
    assert_true(check_quick() > 1 || (n_in_place && n_slot));
}

/* Why no answer is generated without a cache to save memory: a cache in q8_0 with steps of 16 rows needs less than the
 * rows of all tokens that each step would have, at every size and context from 256 tokens on. */
static void a_cache_needs_less_than_all_rows(void **state)
{
    (void)state;
    static const uint32_t context[] = {256, 512, 1024, 4096, 32768, 65536};
    const char *size;
    uint32_t n = 0;
    for (uint32_t i = 0; (size = myth_weights_random_size(i)) != NULL; i++) {
        char spec[96];
        myth_mem *mem;
        myth_model m;
        snprintf(spec, sizeof(spec), "random:%s:q4_0", size);
        open_header(&mem, &m, spec);
        for (size_t c = 0; c < 6 && !m.config.is_bidirectional && context[c] <= m.config.n_ctx_train; c++)
            for (int t = 0; t < 2; t++) {
                const myth_dtype type = t ? MYTH_F16 : MYTH_Q8_0;
                myth_engine_opts o = {.device = "cpu", .n_threads = 1, .n_ctx = context[c], .has_cache_type = true};
                myth_plan with, without;
                o.type_k = o.type_v = MYTH_Q8_0;
                o.n_ubatch = 16;
                assert_ok(myth_plan_make(&with, &m, &o, NULL, NULL, false, &rig_err));
                o.type_k = o.type_v = type;
                o.n_ubatch = context[c];
                o.no_cache = true;
                assert_ok(myth_plan_make(&without, &m, &o, NULL, NULL, false, &rig_err));
                if (with.total_bytes >= without.total_bytes)
                    fail_msg("%s -c %u: %llu bytes with a cache, %llu without", spec, context[c],
                             (unsigned long long)with.total_bytes, (unsigned long long)without.total_bytes);
                n++;
            }
        close_header(mem, &m);
    }
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_proposed_are_the_largest),
        cmocka_unit_test(what_grows_with_the_context_shrinks_with_it),
        cmocka_unit_test(layers_are_divided_by_limits),
        cmocka_unit_test(the_smallest_of_all_is_proposed),
        cmocka_unit_test(a_device_in_the_memory_of_the_host),
        cmocka_unit_test(a_head_in_host_memory_changes_no_bit),
        cmocka_unit_test(a_device_smaller_than_the_embedding_runs),
        cmocka_unit_test(a_wrong_option_is_named),
        cmocka_unit_test(a_plan_is_divided_by_layer),
        cmocka_unit_test(a_cache_needs_less_than_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
