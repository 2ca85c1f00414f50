/* test_link.c - the seconds that myth_offload_expect reckons for a decode step, against those of a simulated slow link.
 *
 * Oracle   virtual time. The calls that the engine makes to its device are followed while they run as ever: an op takes
 *          the time of reading its weights, a copy to a slot and one back that of its bytes over the link, each behind
 *          what its stream was given before and not before the host issued it; a wait moves the host's clock to the
 *          mark. Nothing is measured, so nothing depends on the machine */
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "kernels/device_impl.h"

#include <math.h>
#include <string.h>

enum { CTX = 64, PAGE = 7, N_TOK = 40, MARKS = 256 };

static char device[RIG_TARGET_MAX][32];
static uint32_t n_device;

static int find_devices(void **state)
{
    (void)state;
    n_device = rig_devices_beside_cpu(device);
    return 0;
}

/* ---- virtual time ---- */

typedef struct {
    const myth_stream *stream;
    double free_at; /* when all that it was given is done */
    struct {
        uint64_t mark;
        double at;
    } marks[MARKS];
    uint32_t n_mark;
} clock_of;

static struct {
    const struct myth_device_vtable *real;
    struct myth_device_vtable vt;
    const myth_part *part;
    clock_of compute, copier;
    double host, link, device; /* seconds; bytes a second */
    uint64_t in_bytes;
    bool is_inside; /* a call that the device makes of itself */
} sim;

static clock_of *clock_for(const myth_stream *s) { return s == sim.part->copier ? &sim.copier : &sim.compute; }

static void spend(clock_of *c, double seconds)
{
    c->free_at = (c->free_at > sim.host ? c->free_at : sim.host) + seconds;
}

static void carry(myth_stream *s, uint64_t bytes)
{
    if (s != sim.part->copier || sim.is_inside)
        return;
    spend(&sim.copier, (double)bytes / sim.link);
    sim.in_bytes += bytes;
}

static void sim_write(myth_stream *s, myth_view dst, const void *src, uint64_t bytes)
{
    carry(s, bytes);
    sim.real->write(s, dst, src, bytes);
}

static void sim_weight_write(myth_stream *s, myth_view dst, const void *src, uint32_t n_total, uint32_t row0,
                             uint32_t n_rows, uint32_t n_in)
{
    carry(s, n_rows * myth_row_bytes(dst.dtype, n_in));
    const bool was = sim.is_inside;
    sim.is_inside = true;
    sim.real->weight_write(s, dst, src, n_total, row0, n_rows, n_in);
    sim.is_inside = was;
}

static void sim_read(myth_stream *s, void *dst, myth_view src, uint64_t bytes)
{
    for (int i = 0; i < 2; i++) {
        const unsigned char *held = sim.part->held[i];
        if (held && (unsigned char *)dst >= held && (unsigned char *)dst < held + sim.part->layout->held[i])
            spend(&sim.compute, (double)bytes / sim.link);
    }
    sim.real->read(s, dst, src, bytes);
}

static uint64_t sim_mark(myth_stream *s)
{
    clock_of *c = clock_for(s);
    const uint64_t mark = sim.real->mark(s);
    c->marks[c->n_mark % MARKS].mark = mark;
    c->marks[c->n_mark++ % MARKS].at = c->free_at;
    return mark;
}

static myth_status sim_wait(myth_stream *s, uint64_t mark, myth_error *err)
{
    const clock_of *c = clock_for(s);
    double at = 0;
    for (uint32_t i = 0; i < MARKS && i < c->n_mark; i++)
        if (c->marks[i].mark == mark && c->marks[i].at > at)
            at = c->marks[i].at;
    sim.host = sim.host > at ? sim.host : at;
    return sim.real->wait(s, mark, err);
}

static myth_status sim_sync(myth_stream *s, myth_error *err)
{
    const clock_of *c = clock_for(s);
    sim.host = sim.host > c->free_at ? sim.host : c->free_at;
    return sim.real->sync(s, err);
}

/* Bytes of the matrices that an op reads. */
static double read_by(int op, const void *args)
{
    if (op == MYTH_OP_proj) {
        const struct myth_proj_args *a = args;
        return (double)(a->n_out * myth_row_bytes(a->w.dtype, a->n_in));
    }
    if (op == MYTH_OP_norm_qkv_rope_store) {
        const struct myth_norm_qkv_rope_store_args *a = args;
        const uint64_t n_head = a->n_head + (a->w_k.buf ? a->n_head_kv : 0) + (a->w_v.buf ? a->n_head_kv : 0);
        return (double)(n_head * a->head_dim * myth_row_bytes(a->w_q.dtype, a->dim));
    }
    if (op == MYTH_OP_norm_ffn_geglu) {
        const struct myth_norm_ffn_geglu_args *a = args;
        return (double)(2 * a->d_ff * myth_row_bytes(a->w_gate.dtype, a->dim));
    }
    if (op == MYTH_OP_head_topk) {
        const struct myth_head_topk_args *a = args;
        return (double)(myth_head_rows(a) * myth_row_bytes(a->w.dtype, a->dim));
    }
    if (op == MYTH_OP_head_logits) {
        const struct myth_head_logits_args *a = args;
        return (double)(a->n_vocab * myth_row_bytes(a->w.dtype, a->dim));
    }
    return 0;
}

static void sim_op(void *user, int op, const void *args)
{
    (void)user;
    spend(&sim.compute, read_by(op, args) / sim.device);
}

/* The engine's calls are followed from now on. */
static void follow(rig *r)
{
    myth_device *dev = r->engine->part[0].dev;
    memset(&sim.compute, 0, sizeof(sim.compute));
    memset(&sim.copier, 0, sizeof(sim.copier));
    sim.host = 0;
    sim.in_bytes = 0;
    sim.part = &r->engine->part[0];
    sim.real = dev->vt;
    sim.vt = *dev->vt;
    sim.vt.write = sim_write;
    sim.vt.weight_write = sim.real->weight_write ? sim_weight_write : NULL;
    sim.vt.read = sim_read;
    sim.vt.mark = sim_mark;
    sim.vt.wait = sim_wait;
    sim.vt.sync = sim_sync;
    dev->vt = &sim.vt;
    dev->observe = sim_op;
    dev->is_watched = dev->is_eager = true; /* a replay would hide its ops */
}

static void leave(rig *r)
{
    myth_device *dev = r->engine->part[0].dev;
    dev->vt = sim.real;
    dev->observe = NULL;
    dev->is_watched = false;
}

/* ---- steps ---- */

static myth_engine_opts opts_on(const char *name, myth_offload what, uint32_t n_layer)
{
    return (myth_engine_opts){
        .device = name,
        .n_threads = 1,
        .is_exact = true,
        .n_ctx = CTX,
        .n_seq = 1,
        .n_ubatch = 20,
        .page_tok = PAGE,
        .want_full_logits = true,
        .offload = what,
        .n_offload = n_layer,
    };
}

/* An engine with a sequence of N_TOK tokens, whose next steps are followed. */
static myth_seq *begin(rig *r, const myth_engine_opts *o, const char *spec)
{
    int32_t ids[N_TOK];
    rig_open(r, spec, o);
    for (int32_t k = 0; k < N_TOK; k++)
        ids[k] = 3 + 5 * k;
    myth_seq *s = rig_seq(r);
    rig_feed(r, s, ids, N_TOK, 0, NULL);
    rig_decode(r, s, 3, NULL); /* the first step makes what the next ones find */
    return s;
}

/* Virtual seconds of one decode step. */
static double decode(rig *r, myth_seq *s)
{
    follow(r);
    rig_decode(r, s, 3, NULL);
    leave(r);
    return sim.host > sim.compute.free_at ? sim.host : sim.compute.free_at;
}

static double decode_alone(const char *name, const char *spec)
{
    rig r;
    const myth_engine_opts o = opts_on(name, MYTH_OFFLOAD_NONE, 0);
    sim.link = 1;
    const double took = decode(&r, begin(&r, &o, spec));
    assert_int_equal(sim.in_bytes, 0);
    rig_close(&r);
    return took;
}

typedef struct {
    double worst;
    uint32_t n, n_overlapped;
} tally;

/* Steps over links of all speeds. */
static void compare(tally *t, const char *name, const char *spec, const myth_engine_opts *o, double alone)
{
    static const double ratio[] = {0.02, 0.3, 1, 3, 50}; /* of the link's speed to the device's */
    rig r;
    myth_offload_step expected;
    myth_seq *s = begin(&r, o, spec);
    for (size_t i = 0; i < sizeof(ratio) / sizeof(ratio[0]); i++) {
        sim.link = sim.device * ratio[i];
        assert_ok(myth_offload_expect(&expected, &r.model, o, myth_seq_len(s), alone, sim.link, &rig_err));
        const double took = decode(&r, s), apart = fabs(expected.seconds / took - 1);
        assert_int_equal(sim.in_bytes, expected.in_bytes);
        t->worst = apart > t->worst ? apart : t->worst;
        t->n++;
        t->n_overlapped += took < 0.95 * (alone + expected.copy_s);
        if (!(apart <= 0.15))
            fail_msg("%s on %s, %s of %u layers, link %g: %g s expected, %g s simulated; %g s alone, %g s to copy",
                     spec, name, o->offload == MYTH_OFFLOAD_KV ? "rows" : "weights", o->n_offload, ratio[i],
                     expected.seconds, took, alone, expected.copy_s);
    }
    rig_close(&r);
}

static void what_is_reckoned_is_what_a_slow_link_takes(void **state)
{
    (void)state;
    static const char *const model[] = {"random:gemma3-tiny:q8_0", "random:gemma2-tiny:q4_0", "random:gemma4-tiny:q8_0",
                                        "random:gemma4-e-tiny:q8_0"};
    static const uint32_t n_layer[] = {0, 1, 2, 3}; /* 0 = all */
    enum { MODEL_N = sizeof(model) / sizeof(model[0]), WAY_N = 2 * sizeof(n_layer) / sizeof(n_layer[0]) };
    const uint32_t n_case = n_device * MODEL_N * WAY_N;
    double alone = 0;
    tally t = {0};
    sim.device = 1e9;
    for (uint32_t i = 0; i < n_case; i++) {
        const char *name = device[i / (MODEL_N * WAY_N)], *spec = model[i / WAY_N % MODEL_N];
        const uint32_t way = i % WAY_N;
        if (way == 0)
            alone = 0;
        if (!check_is_kept(i, n_case))
            continue;
        alone = alone > 0 ? alone : decode_alone(name, spec);
        const myth_engine_opts o = opts_on(name, way % 2 ? MYTH_OFFLOAD_KV : MYTH_OFFLOAD_WEIGHTS, n_layer[way / 2]);
        compare(&t, name, spec, &o, alone);
    }
    if (t.n)
        printf("%u steps, in %u of them copying and computing overlap; at most %.2f %% apart\n", t.n, t.n_overlapped,
               100 * t.worst);
    assert_true(t.n < 5 * n_case || n_case == 0 || t.n_overlapped > t.n / 8);
}

/* Without the seconds of the step it is the least that the link allows. */
static void without_a_rate_the_link_is_the_bound(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < n_device; d++) {
        rig r;
        myth_offload_step bound, with;
        const myth_engine_opts o = opts_on(device[d], MYTH_OFFLOAD_WEIGHTS, 0);
        rig_open(&r, "random:gemma3-tiny:q8_0", &o);
        assert_ok(myth_offload_expect(&bound, &r.model, &o, 1, 0, 1e9, &rig_err));
        assert_ok(myth_offload_expect(&with, &r.model, &o, 1, 1e-9, 1e9, &rig_err));
        assert_true(bound.in_bytes > 0);
        assert_true(fabs(bound.seconds - (double)bound.in_bytes / 1e9) < 1e-12);
        assert_true(bound.seconds == bound.copy_s || fabs(bound.seconds / bound.copy_s - 1) < 1e-9);
        assert_true(with.seconds > bound.seconds);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_reckoned_is_what_a_slow_link_takes),
        cmocka_unit_test(without_a_rate_the_link_is_the_bound),
    };
    return cmocka_run_group_tests(tests, find_devices, NULL);
}
