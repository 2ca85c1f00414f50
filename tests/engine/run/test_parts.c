/* test_parts.c - a model in parts, on one device or several, and layers whose weights or cached rows are in host
 * memory, give the same answers.
 *
 * Oracle   the same tokens in an engine of one part without offload. Offload issues the same ops on the same bytes, so
 *          every bit is the same. At the border of a part another op adds the pending branch than the prologue of the
 *          next layer. On the CPU's reference that gives the same bits; on other devices, and between devices, the
 *          result is within 1e-4 in exact mode. All of them are within the goldens' tolerance of transformers */
#include "tests/support/rig.h"

#include "engine/run/devices.h"
#include "engine/run/engine_impl.h"
#include "kernels/device_impl.h"

enum { CTX = 64, PLACE_MAX = 64 };
static const float TOLERANCE = 2e-3f, TOLERANCE_SPLIT = 1e-4f;

static const char *const models[] = {"gemma1-mqa",
                                     "gemma2-old",
                                     "gemma3-layers",
                                     "gemma3-sharded",
                                     "random:gemma2-tiny:q4_0",
                                     "random:gemma3-tiny:q8_0",
                                     "random:gemma4-e-tiny:q8_0",
                                     "random:gemma3n-tiny:q8_0"};
enum { MODEL_N = sizeof(models) / sizeof(models[0]) };

typedef struct {
    char device[72];
    bool has_ngl, same_bits; /* same_bits: as with one part on the same device */
    uint32_t ngl, n_offload, n_host_kv;
    float split[3];
    myth_offload offload;
} place;

static char device[RIG_TARGET_MAX][32];
static uint32_t n_device;

static int find_devices(void **state)
{
    (void)state;
    n_device = rig_devices(device);
    return 0;
}

/* The CPU runs every place. A device in software, or a run under sanitizers, runs a sample: one in `of`. */
static bool is_run(const char *name, uint64_t *rng, uint32_t of)
{
    const bool is_whole = check_is_full() || (check_quick() == 1 && strcmp(name, "cpu") == 0);
    return is_whole || check_below(rng, of * check_quick()) == 0;
}

static const char *spec_of(char path[1024], const char *name)
{
    char rest[128];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    return strchr(name, ':') ? name : check_path(path, 1024, rest);
}

static myth_engine_opts opts_at(const place *p)
{
    myth_engine_opts o = {
        .device = p->device,
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = CTX,
        .n_seq = 3,
        .n_checkpoint = 2,
        .n_ubatch = 11,
        .page_tok = 7,
        .want_full_logits = true,
        .want_hidden = true,
        .has_gpu_layers = p->has_ngl,
        .n_gpu_layers = p->ngl,
        .offload = p->offload,
        .n_offload = p->n_offload,
        .n_host_kv = p->n_host_kv,
    };
    memcpy(o.split, p->split, sizeof(p->split));
    return o;
}

static const char *label(const place *p)
{
    static char text[160];
    snprintf(text, sizeof(text), "--device %.71s -ngl %d -ts %g,%g,%g --offload %d %u --n-host-kv %u", p->device,
             p->has_ngl ? (int)p->ngl : -1, (double)p->split[0], (double)p->split[1], (double)p->split[2],
             (int)p->offload, p->n_offload, p->n_host_kv);
    return text;
}

/* Lists the ways to put a model of n_layer layers on the device. */
static uint32_t places_of(place out[PLACE_MAX], const char *name, uint32_t n_layer)
{
    uint32_t n = 0;
    bool is_cpu = strcmp(name, "cpu") == 0;
    place alone = {.same_bits = true}, many = {.same_bits = is_cpu};
    snprintf(alone.device, sizeof(alone.device), "%.31s", name);
    many = alone;
    many.same_bits = is_cpu;
    for (uint32_t k = 0; k <= n_layer + 1; k++) { /* the CPU first */
        out[n] = many;
        out[n].has_ngl = true;
        out[n++].ngl = k;
    }
    for (uint32_t k = 1; k <= 3; k++) { /* two and three parts, some of them empty */
        out[n] = many;
        snprintf(out[n].device, sizeof(out[n].device), k < 3 ? "%.20s,%.20s" : "%.20s,%.20s,%.20s", name, name, name);
        out[n].split[0] = 1.0f;
        out[n].split[1] = (float)(3 - k);
        out[n++].split[2] = k < 3 ? 0.0f : 2.0f;
    }
    for (int what = MYTH_OFFLOAD_WEIGHTS; what <= MYTH_OFFLOAD_KV && !is_cpu; what++)
        for (uint32_t k = 0; k < n_layer; k++) {
            out[n] = alone;
            out[n].offload = (myth_offload)what;
            out[n].n_offload = k;
            if (k == 1) /* also after layers on the CPU */
                out[n].has_ngl = true, out[n].ngl = n_layer - 1, out[n].same_bits = false;
            n++;
        }
    for (uint32_t k = 0; k < 4 && !is_cpu;
         k++) { /* rows of global layers in host memory: one, all, and with the rest */
        out[n] = alone;
        out[n].n_host_kv = k == 0 ? 1 : UINT32_MAX;
        if (k == 2)
            out[n].offload = MYTH_OFFLOAD_WEIGHTS;
        if (k == 3)
            out[n].has_ngl = true, out[n].ngl = n_layer - 1, out[n].same_bits = false;
        n++;
    }
    assert_true(n <= PLACE_MAX);
    return n;
}

static void compare(const rows *got, const rows *want, uint32_t n_tok, bool same_bits, const char *what)
{
    size_t n = (size_t)n_tok * got->n_vocab, n_row = (size_t)n_tok * got->d_model;
    if (same_bits)
        assert_same_bits(got->logits, want->logits, n, what);
    else if (!(share_apart(got->logits, want->logits, n) <= TOLERANCE_SPLIT))
        fail_msg("%s: logits %g apart", what, (double)share_apart(got->logits, want->logits, n));
    for (uint32_t l = 0; got->hidden && l <= got->n_layer; l++) {
        const float *a = got->hidden + (size_t)l * got->n_tok * got->d_model,
                    *b = want->hidden + (size_t)l * got->n_tok * got->d_model;
        if (same_bits)
            assert_same_bits(a, b, n_row, what);
        else if (!(share_apart(a, b, n_row) <= TOLERANCE_SPLIT))
            fail_msg("%s: residual %u %g apart", what, l, (double)share_apart(a, b, n_row));
    }
}

/* Prefill in chunks, decode, a fork that continues alone, a truncation, a saved sequence. */
static void walk(rig *r, const int32_t *ids, rows *w, rows *branch, myth_seq **kept)
{
    uint32_t at;
    rows_clear(w);
    rows_clear(branch);
    myth_seq *s = rig_seq(r), *fork = NULL;
    rig_feed(r, s, ids, 30, 17, w);
    rig_decode(r, s, ids[30], w);
    assert_ok(myth_seq_checkpoint(s, &rig_err));
    assert_ok(myth_seq_fork(&fork, s, &rig_err));
    rig_feed(r, fork, ids + 40, 9, 4, branch);
    rig_decode(r, fork, ids[50], branch);
    myth_seq_close(fork);
    rig_feed(r, s, ids + 31, 6, 0, NULL);
    assert_ok(myth_seq_truncate(s, 31, &at, &rig_err));
    assert_int_equal(at, 31);
    rig_feed(r, s, ids + 31, 5, 0, w);
    *kept = s;
}

static void one_place(const char *model, const place *p, const int32_t *ids, const rows *want, const rows *want_branch)
{
    rig r;
    rows got, branch, after, after_want;
    char path[1024];
    myth_seq *s, *again;
    myth_engine_opts o = opts_at(p);
    rig_open(&r, spec_of(path, model), &o);
    rows_open(&got, &r, 36, true);
    rows_open(&branch, &r, 10, false);
    walk(&r, ids, &got, &branch, &s);
    compare(&got, want, 30, p->same_bits, label(p));
    compare(&branch, want_branch, 10, p->same_bits, label(p));

    uint64_t bytes =
        myth_seq_save_bytes(s); /* a sequence that was saved in parts continues in one part, and the other way round */
    unsigned char *saved = malloc(bytes), *back = malloc(bytes);
    assert_true(saved && back);
    assert_ok(myth_seq_save(s, saved, bytes, &rig_err));
    assert_ok(myth_seq_open(&again, r.engine, &rig_err));
    assert_ok(myth_seq_restore(again, saved, bytes, &rig_err));
    assert_ok(myth_seq_save(again, back, bytes, &rig_err));
    assert_memory_equal(saved, back, bytes);
    rows_open(&after, &r, 8, false);
    rows_open(&after_want, &r, 8, false);
    rig_feed(&r, again, ids + 36, 7, 3, &after);
    rig_decode(&r, again, ids[43], &after);
    rig whole;
    place alone = {.same_bits = true};
    const char *comma = strrchr(p->device, ',');
    snprintf(alone.device, sizeof(alone.device), "%.71s", comma ? comma + 1 : p->device);
    myth_engine_opts plain = opts_at(&alone);
    rig_open(&whole, spec_of(path, model), &plain);
    myth_seq *there = rig_seq(&whole);
    assert_ok(myth_seq_restore(there, saved, bytes, &rig_err));
    rig_feed(&whole, there, ids + 36, 7, 3, &after_want);
    rig_decode(&whole, there, ids[43], &after_want);
    compare(&after, &after_want, 8, p->same_bits, label(p));
    myth_seq_close(there);
    rig_close(&whole);
    free(saved);
    free(back);
    rows_close(&after);
    rows_close(&after_want);
    rows_close(&got);
    rows_close(&branch);
    rig_close(&r);
}

static void parts_change_no_answer(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n_run = 0;
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t m = 0; m < MODEL_N; m++) {
            rig r;
            rows want, branch;
            char path[1024];
            int32_t ids[CTX];
            place alone = {.same_bits = true}, at[PLACE_MAX];
            snprintf(alone.device, sizeof(alone.device), "%s", device[d]);
            myth_engine_opts o = opts_at(&alone);
            myth_seq *s;
            rig_open(&r, spec_of(path, models[m]), &o);
            for (int i = 0; i < CTX; i++)
                ids[i] = (int32_t)check_below(&rng, r.model.config.n_vocab);
            rows_open(&want, &r, 36, true);
            rows_open(&branch, &r, 10, false);
            walk(&r, ids, &want, &branch, &s);
            uint32_t n = places_of(at, device[d], r.model.config.n_layer);
            rig_close(&r);
            for (uint32_t i = 0; i < n; i++)
                if (!n_run || is_run(device[d], &rng, 4)) {
                    one_place(models[m], &at[i], ids, &want, &branch);
                    n_run++;
                }
            rows_close(&want);
            rows_close(&branch);
        }
    printf("%u places on %u devices\n", n_run, n_device);
    assert_true(n_run > 0);
}

/* The matrices of one layer at a time: those of all others are zeros. */
typedef struct {
    rig *r;
    myth_buf *zeros;
    myth_layer_weights real[MYTH_LAYER_MAX];
    uint32_t n_zeroed;
} one_layer;

static void zero_matrices(one_layer *o, uint32_t l)
{
    const myth_config *c = &o->r->model.config;
    for (const myth_slot *s = myth_family_get(c->family)->slots; s->hf; s++)
        if (myth_slot_is_matrix(s) && myth_slot_is_there(c, s, l)) {
            myth_view *v = (myth_view *)((char *)&o->r->engine->w->layer[l] + s->off);
            assert_true(v->buf != o->zeros);
            *v = myth_view_at(o->zeros, 0, v->dtype);
            o->n_zeroed++;
        }
}

static void show_layer(void *owner, uint32_t l)
{
    one_layer *o = owner;
    const uint32_t n_layer = o->r->model.config.n_layer;
    if (l > 0)
        zero_matrices(o, l - 1);
    if (l < n_layer)
        o->r->engine->w->layer[l] = o->real[l];
}

/* The matrices of a layer are read after the step says that the layer begins, and before it says so of the next: this
 * is when offloaded ones are on a device. Here the CPU's views show zeros outside that time. */
static void a_layer_reads_its_matrices_while_it_runs(void **state)
{
    (void)state;
    static const char *const more[] = {"random:gemma4-moe-tiny:q8_0"};
    static one_layer o;
    for (uint32_t m = 0; m < MODEL_N + 1; m++) {
        const char *name = m < MODEL_N ? models[m] : more[0];
        const place cpu = {.device = "cpu"};
        const myth_engine_opts opts = opts_at(&cpu);
        int32_t ids[CTX];
        char path[1024];
        rig r;
        rows want, got;
        rig_open(&r, spec_of(path, name), &opts);
        const uint32_t n_layer = r.model.config.n_layer;
        for (int32_t i = 0; i < CTX; i++)
            ids[i] = 3 + 5 * i;
        rows_open(&want, &r, 20, true);
        rows_open(&got, &r, 20, true);
        myth_seq *seq = rig_seq(&r), *again = rig_seq(&r);
        rig_feed(&r, seq, ids, 19, 0, &want);
        rig_decode(&r, seq, ids[19], &want);

        void *block = calloc(1, myth_weights_bytes(r.model.weights));
        assert_non_null(block);
        o = (one_layer){.r = &r};
        assert_ok(myth_buf_wrap(&o.zeros, r.engine->part->dev, block, myth_weights_bytes(r.model.weights), &rig_err));
        memcpy(o.real, r.engine->w->layer, n_layer * sizeof(o.real[0]));
        for (uint32_t l = 0; l < n_layer; l++)
            zero_matrices(&o, l);
        r.engine->part->step.before_layer = show_layer;
        r.engine->part->step.owner = &o;
        o.n_zeroed = 0;
        rig_feed(&r, again, ids, 19, 0, &got);
        rig_decode(&r, again, ids[19], &got);
        assert_true(o.n_zeroed >= 2 * 6 * n_layer); /* two steps or more; q, o, gate, up, down and, mostly, k and v */
        compare(&got, &want, 20, true, name);
        r.engine->part->step.before_layer = NULL;
        memcpy(r.engine->w->layer, o.real, n_layer * sizeof(o.real[0]));
        myth_buf_close(o.zeros);
        free(block);
        rows_close(&want);
        rows_close(&got);
        rig_close(&r);
    }
}

/* A model in parts gives the logits of transformers. */
static void parts_equal_transformers(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    static const char *const name[] = {"gemma2-old", "gemma3-layers"};
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t m = 0; m < 2; m++) {
            golden g;
            place at[PLACE_MAX];
            golden_load(&g, name[m]);
            uint32_t n = places_of(at, device[d], g.n_layer);
            for (uint32_t i = 0; i < n; i++) {
                rig r;
                rows w;
                if (!is_run(device[d], &rng, 5))
                    continue;
                myth_engine_opts o = opts_at(&at[i]);
                rig_open(&r, g.path, &o);
                rows_open(&w, &r, g.n_tok, true);
                myth_seq *s = rig_seq(&r);
                rig_feed(&r, s, g.ids, g.n_tok, 0, &w);
                float apart = share_apart(w.logits, g.logits, (size_t)g.n_tok * g.n_vocab);
                for (uint32_t l = 0; l <= g.n_layer; l++) {
                    size_t one = (size_t)g.n_tok * g.d_model;
                    float a = share_apart(w.hidden + l * one, g.residual + l * one, one);
                    apart = a > apart ? a : apart;
                }
                if (!(apart <= TOLERANCE))
                    fail_msg("%s: %s: %g apart", g.name, label(&at[i]), (double)apart);
                myth_seq_close(s);
                rows_close(&w);
                rig_close(&r);
            }
            golden_free(&g);
        }
}

/* ---- what is refused ---- */

static void lists_of_devices_are_checked(void **state)
{
    (void)state;
    rig r = {0};
    assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
    assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                              &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    static const struct {
        const char *device;
        myth_status st;
    } wrong[] = {{"cpu,", MYTH_EDEVICE},     {"gpu:0", MYTH_EDEVICE},
                 {"cuda:8", MYTH_EDEVICE},   {"cpu:0", MYTH_EDEVICE},
                 {"vulkan:x", MYTH_EDEVICE}, {"cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu", MYTH_EARG}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const myth_engine_opts o = {.device = wrong[i].device};
        rig_err = (myth_error){0};
        assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, &rig_err), wrong[i].st);
        assert_null(r.engine);
        assert_true(rig_err.msg[0] != '\0');
    }
    const myth_engine_opts o = {.device = "cpu,cpu", .split = {1.0f, -1.0f}};
    assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, &rig_err), MYTH_EARG);
    rig_close(&r);
}

/* A device's limit is kept to the byte. A model that is too large for it runs with the changes that the refusal
 * proposes. */
static void a_device_has_a_limit_of_its_own(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < n_device; d++) {
        rig r = {0};
        myth_plan plan;
        const myth_engine_opts o = {
            .device = device[d],
            .n_threads = 1,
            .n_ctx = 512,
            .n_ubatch = 64,
            .is_exact = true,
        };
        if (strcmp(device[d], "cpu") == 0)
            continue;
        assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
        assert_ok(myth_model_open(&r.model, r.mem, "random:gemma3-tiny:q8_0",
                                  &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
        assert_ok(myth_plan_make(&plan, &r.model, &o, NULL, NULL, false, &rig_err));
        assert_int_equal(plan.n_device, 2);
        const myth_plan_device *own = &plan.device[1];
        assert_string_equal(own->name, device[d]);
        assert_true(own->bytes[MYTH_MEM_WEIGHTS] >= myth_weights_bytes(r.model.weights) / 2);
        uint64_t n_before = myth_mem_n_alloc(r.mem);
        myth_mem_set_limit(r.mem, own->ledger, own->total_bytes - 1);
        assert_int_equal(myth_engine_open(&r.engine, &r.model, &o, &rig_err), MYTH_ENOFIT);
        assert_int_equal(myth_mem_n_alloc(r.mem), n_before);
        assert_non_null(strstr(rig_err.msg, device[d]));
        int32_t ids[40];
        for (int32_t i = 0; i < 40; i++)
            ids[i] = 3 + i;
        uint32_t changes = 0;
        myth_plan refused;
        myth_mem_limits limits = {0};
        limits.bytes[own->ledger] = own->total_bytes - 1;
        assert_ok(myth_plan_make(&refused, &r.model, &o, NULL, &limits, false, &rig_err));
        assert_true(!refused.fits && refused.n_suggestion >= 3);
        for (uint32_t i = 0; i < refused.n_suggestion; i++) {
            myth_engine_opts changed = o;
            changes |= refused.suggestion[i].changes;
            myth_suggestion_apply(&refused.suggestion[i], &changed, NULL);
            assert_ok(myth_engine_open(&r.engine, &r.model, &changed, &rig_err));
            rig_feed(&r, rig_seq(&r), ids, 40, 0, NULL);
            assert_true(myth_mem_total(r.mem, own->ledger).peak < own->total_bytes);
            myth_engine_close(r.engine);
        }
        assert_true(changes & MYTH_CHANGE_GPU_LAYERS); /* what no other device has to offer */
        myth_mem_set_limit(r.mem, own->ledger, own->total_bytes);
        assert_ok(myth_engine_open(&r.engine, &r.model, &o, &rig_err));
        rig_feed(&r, rig_seq(&r), ids, 40, 0, NULL);
        assert_int_equal(myth_mem_total(r.mem, own->ledger).peak, own->total_bytes);
        rig_close(&r);
    }
}

/* Opening leaves no setting on a device's ledger. Two models share a limit that the caller has set. */
static void two_models_share_a_ledger(void **state)
{
    (void)state;
    enum { LEDGER = 9 }; /* vulkan:0, which need not be present: the caller's limit is used */
    myth_mem *mem;
    myth_mem_limits limits;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    myth_mem_set_limit(mem, LEDGER, 1000);
    assert_ok(myth_devices_limits(&limits, mem, "vulkan:0", &rig_err));
    assert_int_equal(limits.bytes[LEDGER], 1000);
    assert_true(myth_mem_book(mem, LEDGER, MYTH_MEM_WEIGHTS, "another model", 400));
    assert_ok(myth_devices_limits(&limits, mem, "vulkan:0", &rig_err));
    assert_int_equal(limits.bytes[LEDGER], 600);
    assert_true(myth_mem_book(mem, LEDGER, MYTH_MEM_WEIGHTS, "another model", 600));
    assert_ok(myth_devices_limits(&limits, mem, "vulkan:0", &rig_err));
    assert_int_equal(limits.bytes[LEDGER], 1); /* nothing is left; 1, because 0 means no limit */
    myth_mem_unbook(mem, LEDGER, MYTH_MEM_WEIGHTS, 1000);
    assert_int_equal(myth_mem_close(mem), 0);

    for (uint32_t d = 0; d < n_device; d++) {
        const myth_engine_opts o = {.device = device[d], .n_threads = 1, .n_ctx = 64, .is_exact = true};
        int32_t ids[8] = {3, 4, 5, 6, 7, 8, 9, 10};
        if (strcmp(device[d], "cpu") == 0)
            continue;
        rig r, second;
        rig_open(&r, "random:gemma3-tiny:q8_0", &o);
        const myth_plan_device own = myth_engine_plan(r.engine)->device[1];
        assert_int_equal(myth_mem_limit(r.mem, own.ledger), 0);
        second = r;
        myth_mem_set_limit(r.mem, own.ledger, 2 * own.total_bytes - 1);
        assert_int_equal(myth_engine_open(&second.engine, &r.model, &o, &rig_err),
                         MYTH_ENOFIT); /* refused before anything is taken */
        assert_int_equal(myth_mem_limit(r.mem, own.ledger), 2 * own.total_bytes - 1);
        myth_mem_set_limit(r.mem, own.ledger, 2 * own.total_bytes);
        assert_ok(myth_engine_open(&second.engine, &r.model, &o, &rig_err));
        assert_int_equal(myth_mem_limit(r.mem, own.ledger), 2 * own.total_bytes);
        rig_feed(&r, rig_seq(&r), ids, 8, 0, NULL);
        rig_feed(&second, rig_seq(&second), ids, 8, 0, NULL);
        myth_engine_close(second.engine);
        rig_close(&r);
    }
}

/* ---- what fails ---- */

/* Somebody else takes memory of a ledger when a device has said that it is open: after the plan, before the buffers. */
typedef struct {
    myth_mem *mem;
    int ledger;
    uint64_t bytes;
    uint32_t n_taken;
} somebody;

static void take_at_open(void *user, myth_log_level level, const char *tag, const char *msg)
{
    somebody *by = user;
    (void)level, (void)msg;
    if (strcmp(tag, "device") == 0 && by->n_taken++ == 0)
        assert_true(myth_mem_book(by->mem, by->ledger, MYTH_MEM_OTHER, "somebody else", by->bytes));
}

/* Between plan and open, another process takes memory of the device: one byte, or so much that an eighth of the rows
 * fits. Open tries once more with as many rows per step as fit, and the answers are the same. */
static void a_device_that_refuses_gets_fewer_rows(void **state)
{
    (void)state;
    enum { N_TOK = 50, N_UBATCH = 48 };
    for (uint32_t d = 0; d < n_device; d++)
        for (uint32_t part = 1; part <= 8; part *= 8) {
            rig r = {0};
            rows want, got;
            int32_t ids[N_TOK];
            myth_plan plan, small;
            myth_engine_opts o =
                                 {
                                     .device = device[d],
                                     .n_threads = 1,
                                     .is_exact = true,
                                     .n_ctx = CTX,
                                     .n_ubatch = N_UBATCH,
                                     .want_full_logits = true,
                                 },
                             fewer = o;
            bool is_cpu = strcmp(device[d], "cpu") == 0;
            fewer.n_ubatch = N_UBATCH / part;
            for (int32_t i = 0; i < N_TOK; i++)
                ids[i] = 3 + 7 * i;
            rig_open(&r, "random:gemma2-tiny:q8_0", &o);
            rows_open(&want, &r, N_TOK, false);
            rig_feed(&r, rig_seq(&r), ids, N_TOK, 0, &want);
            rig_close(&r);

            assert_ok(myth_mem_open(&r.mem, 0, &rig_err));
            assert_ok(myth_model_open(&r.model, r.mem, "random:gemma2-tiny:q8_0",
                                      &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
            assert_ok(myth_plan_make(&plan, &r.model, &o, NULL, NULL, false, &rig_err));
            assert_ok(myth_plan_make(&small, &r.model, &fewer, NULL, NULL, false, &rig_err));
            const myth_plan_device *last = &plan.device[plan.n_device - 1];
            uint64_t model_bytes = is_cpu ? myth_mem_total(r.mem, MYTH_MEM_HOST).live : 0;
            uint64_t taken = part == 1 ? 1 : last->total_bytes - small.device[small.n_device - 1].total_bytes;
            myth_mem_set_limit(r.mem, last->ledger, last->total_bytes);
            somebody by = {.mem = r.mem, .ledger = last->ledger, .bytes = taken};
            const myth_log log = {.write = take_at_open, .user = &by, .level = MYTH_LOG_DEBUG};
            o.log = &log;
            myth_status st = myth_engine_open(&r.engine, &r.model, &o, &rig_err);
            assert_int_equal(by.n_taken, is_cpu ? 1 : 2); /* a second attempt, but not with the host's memory */
            if (is_cpu) {
                assert_int_equal(st, MYTH_ENOMEM);
                assert_null(r.engine);
                assert_int_equal(myth_mem_total(r.mem, MYTH_MEM_HOST).live, model_bytes + taken);
            } else {
                assert_ok(st);
                const myth_plan *p = myth_engine_plan(r.engine);
                assert_true(part == 1 ? p->n_ubatch > 0 && p->n_ubatch < N_UBATCH : p->n_ubatch == N_UBATCH / part);
                assert_int_equal(myth_mem_total(r.mem, last->ledger).live, p->device[1].total_bytes + taken);
                rows_open(&got, &r, N_TOK, false);
                rig_feed(&r, rig_seq(&r), ids, N_TOK, 0, &got);
                assert_same_bits(got.logits, want.logits, N_TOK * (size_t)got.n_vocab, "fewer rows");
                rows_close(&got);
                printf("%s: %u rows a step instead of %u\n", device[d], p->n_ubatch, N_UBATCH);
            }
            myth_mem_unbook(r.mem, last->ledger, MYTH_MEM_OTHER, taken);
            rig_close(&r);
            rows_close(&want);
        }
}

typedef struct {
    rig *r;
    int ledger;
    uint64_t taken;
    uint32_t n_tok;
} hog;

/* At the third token, takes everything that is left of the device's limit. */
static bool take_the_rest(void *user, int32_t id)
{
    hog *h = user;
    (void)id;
    if (++h->n_tok == 3) {
        h->taken = myth_mem_limit(h->r->mem, h->ledger) - myth_mem_total(h->r->mem, h->ledger).live;
        assert_true(h->taken > 0 && myth_mem_book(h->r->mem, h->ledger, MYTH_MEM_OTHER, "hog", h->taken));
    }
    return true;
}

/* A run allocates nothing, so it does not notice that the memory is gone. */
static void memory_that_goes_in_mid_run_is_not_missed(void **state)
{
    (void)state;
    enum { N_NEW = 24 };
    for (uint32_t d = 0; d < n_device; d++) {
        const myth_engine_opts o = {.device = device[d], .n_threads = 1, .is_exact = true, .n_ctx = CTX, .n_ubatch = 8};
        int32_t prompt[20], ids[2][N_NEW];
        uint32_t n_ids;
        myth_finish why;
        for (int32_t i = 0; i < 20; i++)
            prompt[i] = 3 + 5 * i;
        for (int is_taken = 0; is_taken < 2; is_taken++) {
            rig r;
            rig_open(&r, "random:gemma3-tiny:q8_0", &o);
            hog h = {.r = &r, .ledger = myth_device_get_caps(r.engine->part[0].dev)->ledger};
            myth_seq *s = rig_seq(&r);
            if (is_taken)
                myth_mem_set_limit(r.mem, h.ledger, myth_mem_total(r.mem, h.ledger).live + (64 << 20));
            assert_ok(myth_generate(r.engine, s,
                                    &(myth_generate_opts){
                                        .prompt = prompt,
                                        .n_prompt = 20,
                                        .n_max = N_NEW,
                                        .on_token = is_taken ? take_the_rest : NULL,
                                        .user = &h,
                                    },
                                    ids[is_taken], &n_ids, &why, &rig_err));
            assert_int_equal(n_ids, N_NEW);
            if (is_taken)
                myth_mem_unbook(r.mem, h.ledger, MYTH_MEM_OTHER, h.taken);
            myth_seq_close(s);
            rig_close(&r);
        }
        assert_memory_equal(ids[0], ids[1], sizeof(ids[0]));
    }
}

static struct myth_device_vtable broken;
static const struct myth_device_vtable *whole;
static uint32_t n_until_lost;

static bool is_lost(myth_error *err)
{
    if (n_until_lost > 0 && --n_until_lost > 0)
        return false;
    myth_fail(err, MYTH_ELOST, "lost");
    return true;
}
static myth_status lost_sync(myth_stream *s, myth_error *err)
{
    return is_lost(err) ? MYTH_ELOST : whole->sync(s, err);
}
static myth_status lost_wait(myth_stream *s, uint64_t mark, myth_error *err)
{
    return is_lost(err) ? MYTH_ELOST : whole->wait(s, mark, err);
}

/* A device is lost at its n-th synchronisation, for every n. The status says so, everything can be closed, and the
 * tokens that the host has rebuild the sequence on a new engine, which continues as the undisturbed one did. */
static void a_lost_device_is_rebuilt_from_the_tokens(void **state)
{
    (void)state;
    enum { N_PROMPT = 20, N_NEW = 24 };
    int32_t prompt[N_PROMPT], want[N_NEW], ids[N_NEW], kept[CTX];
    for (int32_t i = 0; i < N_PROMPT; i++)
        prompt[i] = 3 + 5 * i;
    for (uint32_t d = 0; d < n_device; d++) {
        uint32_t n_ids = 0, n_lost = 0;
        myth_finish why;
        const myth_engine_opts o = {.device = device[d], .n_threads = 1, .is_exact = true, .n_ctx = CTX, .n_ubatch = 8};
        for (uint32_t nth = 0; nth < 30; nth += nth < 4 ? 1 : 5) {
            rig r;
            rig_open(&r, "random:gemma3-tiny:q8_0", &o);
            myth_seq *s = rig_seq(&r);
            myth_generate_opts g = {.prompt = prompt, .n_prompt = N_PROMPT, .n_max = N_NEW};
            myth_device *dev = r.engine->part[0].dev;
            whole = dev->vt;
            if (nth) {
                broken = *whole;
                broken.sync = lost_sync;
                broken.wait = whole->wait ? lost_wait : NULL;
                n_until_lost = nth;
                dev->vt = &broken;
            }
            rig_err = (myth_error){0};
            myth_status st = myth_generate(r.engine, s, &g, nth ? ids : want, &n_ids, &why, &rig_err);
            dev->vt = whole;
            if (nth == 0) {
                assert_int_equal(st, MYTH_OK);
                assert_int_equal(n_ids, N_NEW);
                rig_close(&r);
                continue;
            }
            if (st == MYTH_OK) { /* there are fewer than n synchronisations */
                assert_memory_equal(ids, want, sizeof(want));
                rig_close(&r);
                continue;
            }
            assert_int_equal(st, MYTH_ELOST);
            assert_memory_equal(ids, want, 4 * n_ids);
            n_lost++;
            uint32_t n_kept = N_PROMPT + n_ids; /* the tokens that the host has: the prompt and the ids that it got */
            memcpy(kept, prompt, sizeof(prompt));
            memcpy(kept + N_PROMPT, ids, 4 * n_ids);
            uint32_t len = myth_seq_len(s) < n_kept ? myth_seq_len(s) : n_kept;
            assert_memory_equal(myth_seq_tokens(s), kept, 4 * len);
            rig_close(&r);
            rig_open(&r, "random:gemma3-tiny:q8_0", &o);
            s = rig_seq(&r);
            g = (myth_generate_opts){.prompt = kept, .n_prompt = n_kept, .n_max = N_NEW - n_ids};
            uint32_t n_more = 0;
            assert_ok(myth_generate(r.engine, s, &g, ids, &n_more, &why, &rig_err));
            assert_int_equal(n_more, N_NEW - n_ids);
            assert_memory_equal(ids, want + n_ids, 4 * n_more);
            rig_close(&r);
        }
        assert_true(n_lost > 0);
        printf("%s: lost %u times\n", device[d], n_lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_change_no_answer),
        cmocka_unit_test(a_layer_reads_its_matrices_while_it_runs),
        cmocka_unit_test(parts_equal_transformers),
        cmocka_unit_test(lists_of_devices_are_checked),
        cmocka_unit_test(a_device_has_a_limit_of_its_own),
        cmocka_unit_test(two_models_share_a_ledger),
        cmocka_unit_test(a_device_that_refuses_gets_fewer_rows),
        cmocka_unit_test(memory_that_goes_in_mid_run_is_not_missed),
        cmocka_unit_test(a_lost_device_is_rebuilt_from_the_tokens),
    };
    return cmocka_run_group_tests(tests, find_devices, NULL);
}
