/* test_plan.c - the plan tells the bytes of every class exactly before any of them is taken; the limit is kept; what a
 * refusal proposes fits; a step allocates nothing.
 *
 * Counting  while `counting` is set, malloc, calloc, realloc, posix_memalign, aligned_alloc and mmap of this program
 *           are counted (except under AddressSanitizer, which has its own); myth_mem_n_alloc counts the engine's
 *           allocations in every build. What a GPU's driver takes for itself is not counted */
#define _GNU_SOURCE
#include "engine/make/convert.h"
#include "tests/support/rig.h"

#include "engine/base/asan.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- counting every way to get memory ---- */

static volatile bool counting;
static volatile uint64_t n_taken;

#if !HAS_ASAN && defined(__GLIBC__)
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static bool is_driver(const char *file)
{
    static const char *const name[] = {"/libcuda", "/libnvidia", "/libvulkan", "/libGLX_nvidia"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        is_one = is_one || strstr(file, name[i]);
    return is_one;
}
static void count(const void *caller)
{
    Dl_info at;
    n_taken += counting && !(dladdr(caller, &at) && at.dli_fname && is_driver(at.dli_fname));
}
#define COUNTED __attribute__((visibility("default"))) void *
COUNTED malloc(size_t n)
{
    count(__builtin_return_address(0));
    return __libc_malloc(n);
}
COUNTED calloc(size_t a, size_t b)
{
    count(__builtin_return_address(0));
    return __libc_calloc(a, b);
}
COUNTED realloc(void *p, size_t n)
{
    count(__builtin_return_address(0));
    return __libc_realloc(p, n);
}
COUNTED aligned_alloc(size_t align, size_t n)
{
    count(__builtin_return_address(0));
    return __libc_memalign(align, n);
}
__attribute__((visibility("default"))) int posix_memalign(void **p, size_t align, size_t n)
{
    count(__builtin_return_address(0));
    return (*p = __libc_memalign(align, n)) ? 0 : ENOMEM;
}
COUNTED mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    count(__builtin_return_address(0));
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}
#endif

/* ---- plan = ledger ---- */

static char dir[] = "/tmp/mythos-plan-XXXXXX";

static const char *golden_path(char *dst, size_t cap, const char *name)
{
    char rest[128];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    return check_path(dst, cap, rest);
}

/* Checks that on every ledger the live bytes of every class are those of the plan, and with `peaks` the peaks too.
 * Loading may pass the plan in classes of bytes that are only in transit. */
static void assert_plan_is_ledger(const myth_plan *p, const myth_mem *mem, bool peaks, const char *what)
{
    uint64_t total = 0, live = 0;
    for (uint32_t i = 0; i < p->n_device; i++) {
        const myth_plan_device *d = &p->device[i];
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            myth_mem_count n = myth_mem_get(mem, d->ledger, (myth_mem_class)c);
            if (n.live != d->bytes[c] || (peaks && n.peak != d->bytes[c]))
                fail_msg("%s: %s: class %s: planned %llu, live %llu, peak %llu", what, d->name,
                         myth_mem_class_name((myth_mem_class)c), (unsigned long long)d->bytes[c],
                         (unsigned long long)n.live, (unsigned long long)n.peak);
        }
        assert_int_equal(myth_mem_total(mem, d->ledger).live, d->total_bytes);
        total += d->total_bytes;
    }
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX; i++)
        live += myth_mem_total(mem, i).live;
    assert_int_equal(total, p->total_bytes);
    assert_int_equal(live, p->total_bytes); /* ledgers that the plan does not name have no bytes */
}

static void on_row(void *user, uint32_t tok_idx, const float *row, uint32_t n)
{
    (void)tok_idx, (void)n;
    *(volatile float *)user = row[0];
}
static void on_layer_row(void *user, uint32_t tok_idx, uint32_t layer, const float *row, uint32_t n)
{
    (void)layer;
    on_row(user, tok_idx, row, n);
}

/* Uses every function of a sequence once: what was planned is enough, and nothing more is taken. */
static void use_everything(rig *r, const myth_engine_opts *o)
{
    const myth_plan *p = myth_engine_plan(r->engine);
    uint32_t n = p->n_ctx < 40 ? p->n_ctx - 2 : 40, at;
    int32_t ids[64];
    uint8_t want[64];
    int32_t label[64];
    float sink = 0;
    myth_result out;
    myth_seq *s = rig_seq(r), *seq[64];
    for (uint32_t i = 0; i < 64; i++) {
        ids[i] = (int32_t)(i * 7 % r->model.config.n_vocab);
        want[i] = (uint8_t)((i + 1 == n ? MYTH_WANT_LOGITS : 0) | (o->want_full_logits ? MYTH_WANT_FULL_LOGITS : 0) |
                            (o->want_hidden ? MYTH_WANT_HIDDEN : 0));
        label[i] = o->n_capture_layer ? (int32_t)(i % (o->n_capture_label + 1)) - 1 : -1;
        seq[i] = s;
    }
    rig_tokens b = {
        .n_tok = n,
        .token = ids,
        .seq = seq,
        .want = want,
        .on_full_logits = on_row,
        .on_hidden = on_layer_row,
        .user = &sink,
        .top_k = o->top_k,
        .capture_label = label,
    };
    assert_ok(rig_forward(r->engine, &b, &out, &rig_err));
    for (uint32_t i = 0; i < 2; i++)
        rig_decode(r, s, ids[i], NULL);
    if (o->n_checkpoint)
        assert_ok(myth_seq_checkpoint(s, &rig_err));
    if (p->n_seq > 1) {
        myth_seq *fork = NULL;
        assert_ok(myth_seq_fork(&fork, s, &rig_err));
        assert_ok(myth_seq_truncate(fork, n / 2, &at, &rig_err));
        if (at < p->n_ctx)
            rig_decode(r, fork, ids[3], NULL);
        myth_seq_close(fork);
    }
    myth_seq_close(s);
}

static void one_point(const char *spec, const myth_engine_opts *o, const char *what)
{
    rig r = {0};
    myth_plan plan;
    myth_model header = {0};
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&header, r.mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    uint64_t n_before = myth_mem_n_alloc(r.mem);
    assert_ok(myth_plan_make(&plan, &header, o, NULL, NULL, false, &rig_err));
    assert_int_equal(myth_mem_n_alloc(r.mem), n_before); /* planning allocates nothing */
    myth_model_close(&header);
    assert_int_equal(myth_mem_total(r.mem, 0).live, 0);

    assert_ok(myth_model_open(&r.model, r.mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    myth_mem_reset_peak(r.mem);
    assert_ok(myth_engine_open(&r.engine, &r.model, o, &rig_err));
    assert_plan_is_ledger(&plan, r.mem, true, what);
    assert_int_equal(myth_engine_plan(r.engine)->total_bytes, plan.total_bytes);
    n_before = myth_mem_n_alloc(r.mem);
    use_everything(&r, o);
    assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
    assert_plan_is_ledger(&plan, r.mem, true, what);
    rig_close(&r);
}

static void plan_equals_ledger_on_a_grid(void **state)
{
    (void)state;
    static const char *const name[] = {"gemma1-mqa",
                                       "gemma2-old",
                                       "gemma3-local",
                                       "gemma3-layers",
                                       "gemma3-sharded",
                                       "gemma3-mm-new",
                                       "random:gemma1-tiny:q4_0",
                                       "random:gemma2-tiny:bf16",
                                       "random:gemma3-tiny:q8_0",
                                       "gemma4-unified",
                                       "gemma4-shared",
                                       "random:gemma4-tiny:bf16",
                                       "random:gemma4-e-tiny:q8_0",
                                       "random:gemma4-moe-tiny:q4_0",
                                       "gemma3n",
                                       "gemma3n-two",
                                       "random:gemma3n-tiny:q8_0",
                                       "random:gemma3-super:q4_k",
                                       "random:gemma3-super:mxfp4"};
    static const struct {
        myth_dtype k, v;
    } type[] = {{MYTH_F32, MYTH_F32}, {MYTH_F16, MYTH_F16}, {MYTH_BF16, MYTH_Q8_0}, {MYTH_Q8_0, MYTH_Q8_0}};
    const char *target[RIG_TARGET_MAX];
    uint64_t rng = check_seed();
    uint32_t n_target = rig_targets(target), n_point = 0, share = 720 / check_sample(120);
    for (size_t m = 0; m < sizeof(name) / sizeof(name[0]); m++) {
        char path[1024], what[256];
        const char *spec = strchr(name[m], ':') ? name[m] : golden_path(path, sizeof(path), name[m]);
        myth_mem *mem;
        myth_model model = {0};
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&model, mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        uint32_t window = model.config.window ? model.config.window : 8;
        uint32_t n_max = model.config.n_ctx_train, hd = model.config.layer[0].head_dim;
        myth_model_close(&model);
        assert_int_equal(myth_mem_close(mem), 0);
        const uint32_t ctx[] = {32, window - 1, window, window + 1, n_max < 4096 ? n_max : 4096},
                       ub[] = {1, 7, 32, 512};
        for (int c = 0; c < 5; c++)
            for (int t = 0; t < 4; t++)
                for (int u = 0; u < 4; u++) {
                    if ((hd % 32 && t >= 2) || (!check_is_full() && check_below(&rng, share)))
                        continue;
                    uint32_t odd = check_below(&rng, 128);
                    static const uint32_t layers[] = {0, 2};
                    myth_engine_opts o = {
                        .n_threads = 1 + (int)check_below(&rng, 2),
                        .n_ctx = ctx[c],
                        .n_ubatch = ub[u],
                        .has_cache_type = true,
                        .type_k = type[t].k,
                        .type_v = type[t].v,
                        .n_seq = 1 + check_below(&rng, 3),
                        .n_checkpoint = check_below(&rng, 3),
                        .top_k = 1 + check_below(&rng, 100),
                        .n_logit_rows = 1 + check_below(&rng, 5),
                        .n_mask = odd & 1 ? 3 : 0,
                        .n_bias = odd & 2 ? 17 : 0,
                        .n_ask = odd & 4 ? 5 : 0,
                        .want_hidden = odd & 8,
                        .want_full_logits = odd & 16,
                        .page_tok = odd & 32 ? 5 : 0,
                        .capture_layer = layers,
                        .n_capture_layer = odd & 64 ? 2 : 0,
                        .n_capture_label = odd & 64 ? 3 : 0,
                    };
                    const char *at = target[check_below(&rng, n_target)];
                    char two[80];
                    rig_at(&o, at);
                    if (check_below(&rng, 3) == 0) { /* the same device twice is two parts */
                        snprintf(two, sizeof(two), "%s,%s", o.device, o.device);
                        o.device = two;
                        o.split[0] = 1.0f;
                        o.split[1] = (float)check_below(&rng, 3);
                    }
                    o.has_gpu_layers = check_below(&rng, 3) == 0;
                    o.n_gpu_layers = check_below(&rng, 9);
                    o.offload = (myth_offload)check_below(&rng, 3); /* a CPU has nothing to offload */
                    o.n_offload = check_below(&rng, 4), o.n_cpu_moe = check_below(&rng, 2) * (1 + check_below(&rng, 4));
                    o.n_host_kv = o.offload == MYTH_OFFLOAD_KV ? 0 : check_below(&rng, 3);
                    snprintf(what, sizeof(what),
                             "%s --device %s (%s) -ngl %u --offload %d %u -ncmoe %u --n-host-kv %u -c %u -ub %u "
                             "-ctk %s -ctv %s --parallel %u, options %u",
                             name[m], o.device, at, o.has_gpu_layers ? o.n_gpu_layers : 99, (int)o.offload, o.n_offload,
                             o.n_cpu_moe, o.n_host_kv, o.n_ctx, o.n_ubatch, myth_dtype_get(o.type_k)->name,
                             myth_dtype_get(o.type_v)->name, o.n_seq, odd);
                    one_point(spec, &o, what);
                    n_point++;
                }
    }
    printf("%u points, 0 bytes apart\n", n_point);
}

/* ---- the formula, on real shapes, without weights ---- */

static uint64_t kv_formula(const myth_config *c, uint32_t n_ctx, myth_dtype t)
{
    uint64_t sum = 0;
    for (uint32_t l = 0; l < c->n_layer; l++) {
        uint64_t n = c->layer[l].is_global || n_ctx < c->window ? n_ctx : c->window, n_vec = c->layer[l].k_is_v ? 1 : 2;
        if (c->layer[l].kv_source != l)
            continue; /* the layer reads the keys of another one */
        sum += n_vec * n * c->layer[l].n_head_kv * myth_row_bytes(t, c->layer[l].head_dim);
    }
    return sum;
}

static void kv_bytes_equal_the_formula_on_real_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint32_t n_ctx;
        double mib;
    } want[] = {
        /* f16; the published tables */
        {"random:gemma-2b:bf16", 8192, 144},
        {"random:gemma-7b:bf16", 8192, 3584},
        {"random:gemma2-2b:bf16", 8192, 624},
        {"random:gemma2-9b:bf16", 8192, 2016},
        {"random:gemma2-27b:bf16", 8192, 2208},
        {"random:gemma3-270m:bf16", 4096, 19.5},
        {"random:gemma3-1b:bf16", 4096, 27},
        {"random:gemma3-4b:bf16", 4096, 196},
        {"random:gemma3-12b:bf16", 4096, 576},
        {"random:gemma3-27b:bf16", 4096, 736},
        {"random:gemma3-270m:q8_0", 32768, 103.5},
        {"random:gemma3-1b:q8_0", 32768, 139},
        {"random:gemma3-4b:q4_0", 131072, 2676},
        {"random:gemma3-12b:q4_0", 131072, 8512},
        {"random:gemma3-27b:q4_0", 131072, 10656},
        {"random:gemma4-e2b:bf16", 4096, 30},
        {"random:gemma4-e2b:q8_0", 131072, 774},
        {"random:gemma4-e4b:q4_0", 4096, 84},
        {"random:gemma4-e4b:bf16", 32768, 532},
        {"random:gemma3n-e2b:bf16", 8192, 80},
        {"random:gemma3n-e4b:q8_0", 32768, 272},
        /* K = V: the published sizes of two vectors, less half of the global layers */
        {"random:gemma4-12b:bf16", 8192, 448 - 64},
        {"random:gemma4-26b-a4b:q8_0", 4096, 280 - 40},
        {"random:gemma4-31b:q4_0", 4096, 1120 - 160},
        {"random:gemma4-31b:bf16", 131072, 11040 - 5120},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        myth_mem *mem;
        myth_model m = {0};
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, want[i].spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        uint32_t w = m.config.window ? m.config.window : 1024, n_max = m.config.n_ctx_train;
        const uint32_t ctx[] = {want[i].n_ctx, 32, w - 1, w, w + 1, 4096, n_max};
        static const myth_dtype type[] = {MYTH_F16, MYTH_F32, MYTH_BF16, MYTH_Q8_0};
        for (int c = 0; c < 7; c++)
            for (int t = 0; t < 4; t++) {
                myth_plan p;
                myth_engine_opts o = {
                    .device = "cpu",
                    .n_threads = 1,
                    .n_ctx = ctx[c],
                    .has_cache_type = true,
                    .type_k = type[t],
                    .type_v = type[t],
                };
                assert_ok(myth_plan_make(&p, &m, &o, NULL, NULL, false, &rig_err));
                uint64_t got = p.bytes[MYTH_MEM_KV_GLOBAL] + p.bytes[MYTH_MEM_KV_LOCAL],
                         formula = kv_formula(&m.config, ctx[c], type[t]);
                uint64_t waste = (uint64_t)p.n_page * p.page_tok - ctx[c],
                         limit = waste ? formula / 100 : 0; /* the unused rest of the last page */
                if (got < formula || got - formula > limit || waste >= p.page_tok)
                    fail_msg("%s -c %u %s: %llu bytes of cache, the formula says %llu", want[i].spec, ctx[c],
                             myth_dtype_get(type[t])->name, (unsigned long long)got, (unsigned long long)formula);
                if (c == 0 && t == 0)
                    assert_true((double)got == want[i].mib * 1048576.0);
                if (c == 0 && t == 0 && strstr(want[i].spec, "270m")) /* weights are planned too */
                    assert_true(p.bytes[MYTH_MEM_WEIGHTS] + p.bytes[MYTH_MEM_WEIGHTS_MAPPED] >=
                                myth_weights_bytes(m.weights));
            }
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* ---- the limit ---- */

static void suggestions_fit_when_applied(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-1b:q8_0", "random:gemma2-9b:bf16", "random:gemma3-tiny:q8_0"};
    for (size_t i = 0; i < 3; i++)
        for (uint32_t percent = 1; percent < 100; percent += 7) {
            myth_mem *mem;
            myth_model m = {0};
            myth_plan all, p, again;
            assert_ok(myth_mem_open(&mem, 0, &rig_err));
            assert_ok(myth_model_open(&m, mem, spec[i], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
            myth_engine_opts o = {.device = "cpu", .n_threads = 2, .n_ctx = 8192, .n_seq = 4};
            assert_ok(myth_plan_make(&all, &m, &o, NULL, NULL, false, &rig_err));
            assert_true(all.fits);
            uint64_t limit = all.total_bytes / 100 * percent;
            assert_ok(myth_plan_make(&p, &m, &o, NULL, &(myth_mem_limits){.bytes = {limit}}, false, &rig_err));
            assert_false(p.fits);
            assert_int_equal(p.total_bytes, all.total_bytes);
            if (p.n_suggestion < 3)
                fail_msg("%s at %u %%: %u suggestions", spec[i], percent, p.n_suggestion);
            for (uint32_t k = 0; k < p.n_suggestion; k++) {
                myth_engine_opts changed = o;
                myth_mem_limits as_given = {.bytes = {limit}};
                myth_suggestion_apply(&p.suggestion[k], &changed, &as_given);
                assert_ok(myth_plan_make(&again, &m, &changed, NULL, &as_given, false, &rig_err));
                if (!again.fits || again.total_bytes != p.suggestion[k].total_bytes)
                    fail_msg("%s at %u %%: changes %x promise %llu bytes, plan %llu of %llu", spec[i], percent,
                             p.suggestion[k].changes, (unsigned long long)p.suggestion[k].total_bytes,
                             (unsigned long long)again.total_bytes, (unsigned long long)as_given.bytes[MYTH_MEM_HOST]);
            }
            char line[256];
            myth_plan_refusal(&p, line, sizeof(line));
            assert_non_null(strstr(line, "needs "));
            assert_non_null(strstr(line, "limit "));
            myth_model_close(&m);
            assert_int_equal(myth_mem_close(mem), 0);
        }
}

/* When a device has too little memory, the refusal proposes at least three changes, each of which fits: fewer layers on
 * the device, or their weights or experts in host memory where that helps. */
static void a_short_device_is_told_ways_out(void **state)
{
    (void)state;
    char device[RIG_TARGET_MAX][32];
    static const char *const spec[] = {"random:gemma3-1b:q8_0", "random:gemma4-26b-a4b:q4_0"};
    uint32_t n_device = rig_devices(device), n_ngl = 0, n_offload = 0, n_experts = 0;
    for (uint32_t d = 0; d < 2 * n_device; d++)
        for (uint32_t percent = 1; percent < 100 && strcmp(device[d / 2], "cpu") != 0; percent += 9) {
            myth_mem *mem;
            myth_model m = {0};
            myth_plan all, p, again;
            assert_ok(myth_mem_open(&mem, 0, &rig_err));
            assert_ok(
                myth_model_open(&m, mem, spec[d % 2], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
            myth_engine_opts o = {.device = device[d / 2], .n_threads = 2, .n_ctx = 8192, .n_seq = 4};
            assert_ok(myth_plan_make(&all, &m, &o, NULL, NULL, false, &rig_err));
            myth_mem_limits limits = {0};
            limits.bytes[all.device[1].ledger] = all.device[1].total_bytes / 100 * percent;
            assert_ok(myth_plan_make(&p, &m, &o, NULL, &limits, false, &rig_err));
            assert_false(p.fits);
            if (p.n_suggestion < 3)
                fail_msg("%s on %s at %u %%: %u suggestions", spec[d % 2], device[d / 2], percent, p.n_suggestion);
            for (uint32_t k = 0; k < p.n_suggestion; k++) {
                const uint32_t changes = p.suggestion[k].changes;
                myth_engine_opts changed = o;
                myth_mem_limits as_given = limits;
                myth_suggestion_apply(&p.suggestion[k], &changed, &as_given);
                n_ngl += (changes & MYTH_CHANGE_GPU_LAYERS) != 0;
                n_offload += (changes & MYTH_CHANGE_OFFLOAD) != 0;
                n_experts += (changes & MYTH_CHANGE_CPU_MOE) != 0;
                assert_ok(myth_plan_make(&again, &m, &changed, NULL, &as_given, false, &rig_err));
                if (!again.fits || again.total_bytes != p.suggestion[k].total_bytes)
                    fail_msg("%s on %s at %u %%: changes %x promise %llu bytes, plan %llu", spec[d % 2], device[d / 2],
                             percent, changes, (unsigned long long)p.suggestion[k].total_bytes,
                             (unsigned long long)again.total_bytes);
            }
            myth_model_close(&m);
            assert_int_equal(myth_mem_close(mem), 0);
        }
    assert_true((n_device == 1 && strcmp(device[0], "cpu") == 0) || (n_ngl > 0 && n_offload > 0 && n_experts > 0));
}

static void the_limit_is_exact_and_a_refusal_takes_nothing(void **state)
{
    (void)state;
    rig r = {0};
    myth_plan plan;
    const myth_engine_opts o = {.device = "cpu", .n_threads = 2, .n_ctx = 512, .n_seq = 2, .n_ubatch = 64};
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_plan_make(&plan, &r.model, &o, NULL, NULL, false, &rig_err));
    uint64_t before = myth_mem_total(r.mem, 0).live, n_before = myth_mem_n_alloc(r.mem);
    myth_mem_set_limit(r.mem, MYTH_MEM_HOST, plan.total_bytes - 1);
    assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, &rig_err), MYTH_ENOFIT);
    assert_null(r.engine);
    assert_non_null(strstr(rig_err.msg, "limit "));
    assert_int_equal(myth_mem_total(r.mem, 0).live, before);
    assert_int_equal(myth_mem_n_alloc(r.mem), n_before); /* refused before the first byte */
    myth_mem_set_limit(r.mem, MYTH_MEM_HOST, plan.total_bytes);
    assert_ok(myth_engine_open(&r.engine, &r.model, &o, &rig_err));
    use_everything(&r, &o);
    assert_int_equal(myth_mem_total(r.mem, 0).peak, plan.total_bytes);
    rig_close(&r);
}

static void shrinking_finds_a_plan_that_fits(void **state)
{
    (void)state;
    static const char *const spec[] = {"random:gemma3-1b:q8_0", "random:gemma3-tiny:q8_0"};
    static const myth_engine_opts any = {.device = "cpu"};
    for (size_t i = 0; i < 2; i++) {
        myth_mem *mem;
        myth_model m = {0};
        myth_plan all, p, again;
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, spec[i], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
        assert_ok(myth_plan_make(&all, &m, &any, NULL, NULL, true, &rig_err));
        uint32_t n_shrunk = 0, n_narrow = 0;
        for (uint32_t percent = 100; percent > 0; percent--) {
            uint64_t limit = all.total_bytes / 100 * percent + (percent == 100 ? all.total_bytes % 100 : 0);
            assert_ok(myth_plan_make(&p, &m, &any, NULL, &(myth_mem_limits){.bytes = {limit}}, true, &rig_err));
            if (!p.fits) {
                assert_true(p.total_bytes > limit);
                continue;
            }
            assert_true(p.total_bytes <= limit);
            n_shrunk += p.total_bytes < all.total_bytes;
            myth_engine_opts o = {
                .device = "cpu",
                .n_ctx = p.n_ctx,
                .n_ubatch = p.n_ubatch,
                .n_seq = p.n_seq,
                .page_tok = p.page_tok,
                .has_cache_type = true,
                .type_k = p.type_k,
                .type_v = p.type_v,
            };
            assert_ok(myth_plan_make(&again, &m, &o, NULL, &(myth_mem_limits){.bytes = {limit}}, false,
                                     &rig_err)); /* planning with the chosen options gives the same total */
            assert_true(again.fits);
            assert_int_equal(again.total_bytes, p.total_bytes);
            if (p.n_ctx < all.n_ctx) { /* the largest context, in steps of 64, with the rows that were left */
                n_narrow++;
                o.page_tok = 0;
                for (o.n_ctx = p.n_ctx + 64; o.n_ctx < all.n_ctx && o.n_ctx < p.n_ctx + 512; o.n_ctx += 64) {
                    assert_ok(
                        myth_plan_make(&again, &m, &o, NULL, &(myth_mem_limits){.bytes = {limit}}, false, &rig_err));
                    assert_false(again.fits);
                }
            }
            myth_engine_opts fixed = {
                .device = "cpu",
                .n_ctx = all.n_ctx,
                .n_ubatch = all.n_ubatch,
            }; /* options that the caller has set are not changed */
            assert_ok(myth_plan_make(&again, &m, &fixed, NULL, &(myth_mem_limits){.bytes = {limit}}, true, &rig_err));
            assert_int_equal(again.n_ctx, all.n_ctx);
            assert_int_equal(again.n_ubatch, all.n_ubatch);
        }
        assert_true(n_shrunk > 0 && n_narrow > 0);
        myth_plan_extra extra = {.bytes = {[MYTH_MEM_STAGING] = 12345}};
        assert_ok(myth_plan_make(&p, &m, &any, &extra, NULL, false, &rig_err));
        assert_int_equal(p.total_bytes, all.total_bytes + 12345);
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* ---- planning needs only the headers of files ---- */

static void copy_file(const char *from, const char *to, long n_bytes)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (int c; n_bytes-- > 0 && (c = fgetc(in)) != EOF;)
        fputc(c, out);
    fclose(in);
    fclose(out);
}

static void plan_needs_headers_only(void **state)
{
    (void)state;
    char source[1024], from[1200], whole[128], cut[128], path[192], config[1200];
    myth_mem *mem;
    myth_model m = {0};
    myth_plan a, b;
    golden_path(source, sizeof(source), "gemma3-layers");
    snprintf(whole, sizeof(whole), "%s/whole.gguf", dir);
    snprintf(cut, sizeof(cut), "%s/cut.gguf", dir);
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, source, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_convert(&m, &(myth_convert_opts){.path = whole, .type = MYTH_Q8_0}, &rig_err));
    myth_model_close(&m);
    myth_weights *w = NULL;
    uint64_t data = UINT64_MAX;
    assert_ok(myth_weights_open(&w, mem, whole, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++)
        data = myth_weights_at(w, i)->off < data ? myth_weights_at(w, i)->off : data;
    myth_weights_close(w);
    copy_file(whole, cut, (long)data);

    snprintf(path, sizeof(path), "%s/dir", dir); /* the same for safetensors: 8 bytes, header, no data */
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(from, sizeof(from), "%s/config.json", source);
    snprintf(config, sizeof(config), "%s/config.json", path);
    copy_file(from, config, 1 << 20);
    snprintf(from, sizeof(from), "%s/model.safetensors", source);
    FILE *f = fopen(from, "rb");
    uint64_t header = 0;
    assert_non_null(f);
    assert_int_equal(fread(&header, 8, 1, f), 1);
    fclose(f);
    char tensors[256];
    snprintf(tensors, sizeof(tensors), "%s/model.safetensors", path);
    copy_file(from, tensors, (long)(8 + header));

    const char *pair[2][2] = {{whole, cut}, {source, path}};
    for (int i = 0; i < 2; i++)
        for (int t = 0; t < 4; t++) {
            static const myth_dtype type[] = {MYTH_F32, MYTH_F16, MYTH_BF16, MYTH_Q8_0};
            myth_engine_opts o = {
                .device = "cpu",
                .n_threads = 1,
                .has_cache_type = true,
                .type_k = type[t],
                .type_v = type[t],
            };
            assert_ok(myth_model_open(&m, mem, pair[i][0], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
            assert_ok(myth_plan_make(&a, &m, &o, NULL, NULL, false, &rig_err));
            myth_model_close(&m);
            assert_ok(
                myth_model_open(&m, mem, pair[i][1], &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
            assert_ok(myth_plan_make(&b, &m, &o, NULL, NULL, false, &rig_err));
            myth_model_close(&m);
            for (int c = 0; c < MYTH_MEM_CLASS_N; c++) /* paths differ in length, so the size of their block may too */
                if (c != MYTH_MEM_OTHER)
                    assert_int_equal(a.bytes[c], b.bytes[c]);
            myth_status st =
                myth_model_open(&m, mem, pair[i][1], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err);
            assert_int_equal(st, MYTH_EFORMAT);
        }
    assert_int_equal(myth_mem_close(mem), 0);
    unlink(whole);
    unlink(cut);
    unlink(config);
    unlink(tensors);
    rmdir(path);
}

/* ---- decoding allocates nothing ---- */

static uint64_t taken_after_first;
static uint32_t n_seen;
static bool count_from_second(void *user, int32_t id)
{
    (void)user, (void)id;
    if (++n_seen == 2) { /* the first decode step may record its ops */
        n_taken = 0;
        counting = true;
    }
    return true;
}

static void a_decode_step_takes_no_memory(void **state)
{
    (void)state;
    static const myth_sample_params sample[] = {
        {0}, {.temp = 1.0f, .top_p = 0.9f, .min_p = 0.01f, .repeat_penalty = 1.3f, .seed = 5}};
    for (int lv = 0; lv < 2; lv++)
        for (int k = 0; k < 2; k++) {
            rig r;
            myth_engine_opts o = {
                .device = "cpu",
                .n_threads = 2,
                .is_exact = lv,
                .n_ctx = 400,
                .n_ubatch = 64,
                .n_seq = 3,
            };
            myth_generate_needs(&o, &sample[k], false);
            rig_open(&r, "random:gemma3-tiny:q8_0", &o);
            myth_seq *s = rig_seq(&r);
            int32_t prompt[100], ids[256];
            uint32_t n_ids;
            myth_finish why;
            for (int32_t i = 0; i < 100; i++)
                prompt[i] = 3 + i;
            n_seen = 0;
            myth_generate_opts g = {
                .prompt = prompt,
                .n_prompt = 100,
                .n_max = 256,
                .sample = sample[k],
                .on_token = count_from_second,
            };
            uint64_t n_before = myth_mem_n_alloc(r.mem);
            assert_ok(myth_generate(r.engine, s, &g, ids, &n_ids, &why, &rig_err));
            counting = false;
            taken_after_first = n_taken;
            assert_int_equal(n_ids, 256);
            assert_int_equal(why, MYTH_FINISH_LENGTH);
            assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
            assert_int_equal(taken_after_first, 0);

            rig_decode(&r, s, 7, NULL);          /* the rig takes a block for batches once */
            myth_seq *fork[3] = {s, NULL, NULL}; /* three sequences at once, with the first writes of forks */
            assert_ok(myth_seq_fork(&fork[1], s, &rig_err));
            assert_ok(myth_seq_fork(&fork[2], s, &rig_err));
            myth_result out;
            n_taken = 0;
            counting = true;
            for (int32_t i = 0; i < 20; i++) {
                int32_t three[3] = {i, i + 1, i + 2};
                uint8_t want[3] = {MYTH_WANT_LOGITS, 0, MYTH_WANT_LOGITS};
                rig_tokens b = {.n_tok = 3, .token = three, .seq = fork, .want = want, .is_decode = true, .top_k = 1};
                if (rig_forward(r.engine, &b, &out, &rig_err) != MYTH_OK)
                    break;
            }
            counting = false;
            assert_int_equal(myth_seq_len(s), 356 + 20);
            assert_int_equal(n_taken, 0);
            assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
            for (int i = 0; i < 3; i++)
                myth_seq_close(fork[i]);
            rig_close(&r);
        }
}

/* ---- resident memory, in a process of its own ---- */

static uint64_t rss_anon(void)
{
    char line[256];
    uint64_t kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtoull(line + 8, NULL, 10);
    if (f)
        fclose(f);
    return kib << 10;
}

/* Opens, prefills and decodes. Exits with 0 when anonymous memory was never more than 8 MiB above the ledger. */
static int measure_rss(const char *spec)
{
    rig r;
    myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 2,
        .n_ctx = 4096,
        .n_seq = 4,
        .n_ubatch = 512,
        .want_full_logits = true,
        .want_hidden = true,
    };
    rig_open(&r, spec, &o);
    uint64_t most = rss_anon(), counted = myth_mem_total(r.mem, 0).live;
    for (int i = 0; i < 4; i++) {
        myth_seq *s = rig_seq(&r);
        int32_t ids[4090];
        for (int32_t k = 0; k < 4090; k++)
            ids[k] = k % 500;
        rig_feed(&r, s, ids, i == 0 ? 4090 : 600, 600, NULL);
        rig_decode(&r, s, 7, NULL);
        uint64_t now = rss_anon();
        most = now > most ? now : most;
    }
    printf("%s: anonymous %.1f MiB, counted %.1f MiB\n", spec, (double)most / 1048576, (double)counted / 1048576);
    fflush(stdout);
    return most > counted + (8u << 20) || counted < 8u << 20;
}

static void anonymous_memory_stays_within_the_counted(void **state)
{
    (void)state;
    if (MYTH_HAS_ASAN) {
        check_skip("AddressSanitizer keeps memory of its own");
    }
    static const char *const spec[] = {"random:gemma3-tiny:q8_0", "random:gemma1-tiny:bf16"};
    for (int i = 0; i < 2; i++) {
        char self[1024], mode[64];
        int status = 0;
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        assert_true(n > 0);
        self[n] = '\0';
        snprintf(mode, sizeof(mode), "--rss=%s", spec[i]);
        pid_t pid = fork();
        if (pid == 0) {
            execl(self, self, mode, (char *)NULL);
            _exit(99);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strncmp(argv[1], "--rss=", 6) == 0)
        return measure_rss(argv[1] + 6);
    if (!mkdtemp(dir))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anonymous_memory_stays_within_the_counted),
        cmocka_unit_test(plan_equals_ledger_on_a_grid),
        cmocka_unit_test(kv_bytes_equal_the_formula_on_real_shapes),
        cmocka_unit_test(suggestions_fit_when_applied),
        cmocka_unit_test(a_short_device_is_told_ways_out),
        cmocka_unit_test(the_limit_is_exact_and_a_refusal_takes_nothing),
        cmocka_unit_test(shrinking_finds_a_plan_that_fits),
        cmocka_unit_test(plan_needs_headers_only),
        cmocka_unit_test(a_decode_step_takes_no_memory),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(dir);
    return failed;
}
