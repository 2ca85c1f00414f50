/* test_experts.c - a step reads only the experts that were chosen, wherever they are, and the answers are the same with
 * the experts in host memory.
 *
 * Counting  before a decode step every page of the experts is made inaccessible, so that the first access to it faults.
 *           The pages that fault must be exactly those of the experts that the routers of the layers chose. On the CPU
 *           they are pages of the mapped file, on an emulated device or a software driver those of myth_buf_open_host.
 *           Reads of a real device make no fault, so these are left out
 * Files     the tiny model with experts that are 32 times as wide, so that one has many pages */
#include "engine/make/convert.h"
#include "engine/run/engine_impl.h"
#include "engine/make/gguf_write.h"
#include "kernels/weight_form.h"
#include "tests/support/files.h"
#include "tests/support/rig.h"
#include "tests/support/touched.h"

enum { CTX = 64, WIDER = 32, TINY_FF = 32, N_PROMPT = 9, LAYER_MAX = 8, TENSOR_MAX = 3 };

/* ---- a file with wide experts ---- */

static bool ends(const myth_tensor *t, const char *tail)
{
    const size_t n = strlen(tail);
    return t->name.len >= n && memcmp(t->name.text + t->name.len - n, tail, n) == 0;
}

static bool is_gate_up(const myth_tensor *t) { return ends(t, ".ffn_gate_up_exps.weight"); }
static bool is_down(const myth_tensor *t) { return ends(t, ".ffn_down_exps.weight"); }

/* Every row of gate, then every row of up WIDER times; every row of down WIDER times as long. */
static void put_wide(myth_gguf_writer *g, const myth_tensor *t)
{
    const uint64_t row = myth_row_bytes(t->dtype, t->dim[2]), n_half = t->dim[0] * (is_down(t) ? t->dim[1] : 2);
    const unsigned char *at = t->data;
    const uint64_t n_byte = is_down(t) ? row : TINY_FF * row;
    for (uint64_t i = 0; i < n_half; i++, at += n_byte)
        for (uint32_t k = 0; k < WIDER; k++)
            myth_gguf_data(g, at, n_byte);
}

/* files_path(name), of the type. */
static void make_wide(const char *name, myth_dtype type)
{
    static const myth_convert_kv width = {"gemma4.expert_feed_forward_length", NULL, WIDER * TINY_FF};
    myth_mem *mem;
    myth_model m = {0};
    myth_weights *w = NULL;
    myth_gguf_writer *g = NULL;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, "random:gemma4-moe-tiny:f32", NULL, &rig_err));
    assert_int_equal(m.config.d_ff_expert, TINY_FF);
    assert_ok(myth_convert(
        &m, &(myth_convert_opts){.path = files_path("tiny.gguf"), .type = type, .kv = &width, .n_kv = 1}, &rig_err));
    myth_model_close(&m);
    assert_ok(myth_weights_open(&w, mem, files_path("tiny.gguf"), &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA},
                                &rig_err));
    assert_ok(myth_gguf_open(&g, mem, files_path(name), myth_weights_n_tensor(w), &rig_err));
    for (uint32_t i = 0; i < myth_meta_count(myth_weights_meta(w)); i++)
        myth_gguf_put_value(g, myth_meta_at(myth_weights_meta(w), i));
    for (int is_data = 0; is_data < 2; is_data++)
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            const myth_tensor *t = myth_weights_at(w, i);
            const uint64_t dim[3] = {t->dim[0], t->dim[1] * (is_gate_up(t) ? WIDER : 1),
                                     t->dim[2] * (is_down(t) ? WIDER : 1)};
            const bool is_wide = is_gate_up(t) || is_down(t);
            if (!is_data)
                myth_gguf_declare(g, t->name, t->dtype, t->n_dim, is_wide ? dim : t->dim);
            else if (is_wide)
                put_wide(g, t);
            else
                myth_gguf_data(g, t->data, t->bytes);
        }
    assert_ok(myth_gguf_close(g, true, &rig_err));
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* ---- what a step chooses and reads ---- */

typedef struct {
    const rig *r;
    int32_t id[LAYER_MAX][MYTH_EXPERT_USED_MAX];
    uint32_t n_layer;
} chosen;

/* before_layer: the ids are those of the layer that was issued just now. */
static void note_ids(void *owner, uint32_t l)
{
    chosen *c = owner;
    const myth_part *p = c->r->engine->part;
    if (l == 0)
        return;
    myth_stream_read(p->stream, c->id[l - 1], p->step.moe_id, 4 * (uint64_t)c->r->model.config.n_expert_used);
    assert_ok(myth_stream_sync(p->stream, &rig_err));
    c->n_layer = l;
}

/* One of the experts' matrices, as its device reads it: in one or two planes. */
typedef struct {
    const unsigned char *base[2];
    uint64_t expert_bytes[2];
    uint32_t n_plane, layer;
} experts;

static experts experts_at(const rig *r, myth_view v, uint64_t n_row, uint64_t n_col, uint32_t layer)
{
    const bool is_planar = !myth_device_get_caps(r->engine->part->dev)->is_host_visible;
    const myth_planar p = myth_planar_get(v.dtype, n_row * r->model.config.n_expert, n_col);
    unsigned char *at = myth_buf_host(v.buf);
    assert_non_null(at);
    at += v.off;
    experts x = {.base = {at}, .expert_bytes = {n_row * myth_row_bytes(v.dtype, n_col)}, .n_plane = 1, .layer = layer};
    if (is_planar && p.scale_row) {
        x.base[1] = at + p.scale_off;
        x.expert_bytes[0] = n_row * p.quant_row;
        x.expert_bytes[1] = n_row * p.scale_row;
        x.n_plane = 2;
    }
    return x;
}

static uint32_t list_experts(experts out[LAYER_MAX * TENSOR_MAX], const rig *r)
{
    const myth_config *c = &r->model.config;
    uint32_t n = 0;
    for (uint32_t l = 0; l < c->n_layer; l++) {
        const myth_layer_weights *w = &r->engine->w->layer[l];
        out[n++] = experts_at(r, w->expert_gate_up, 2 * c->d_ff_expert, c->d_model, l);
        out[n++] = experts_at(r, w->expert_down, c->d_model, c->d_ff_expert, l);
    }
    return n;
}

/* Bytes of the page that belong to chosen experts. */
static uint64_t chosen_on_page(const experts *x, uint32_t plane, const chosen *c, uint32_t k, const unsigned char *page)
{
    const uint64_t page_bytes = touched_page_bytes(), one = x->expert_bytes[plane];
    const unsigned char *end = page + page_bytes;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < k; i++) {
        const unsigned char *from = x->base[plane] + (uint64_t)c->id[x->layer][i] * one, *to = from + one;
        from = from < page ? page : from;
        to = to > end ? end : to;
        sum += to > from ? (uint64_t)(to - from) : 0;
    }
    return sum;
}

typedef struct {
    uint64_t pages, read, chosen_bytes, all_bytes;
} tally;

/* Checks the watched range `range`: all pages of the chosen experts were read, and none of the others. */
static void check_range(tally *sum, const experts *x, uint32_t plane, uint32_t range, const chosen *c, uint32_t k,
                        const char *what)
{
    const unsigned char *page;
    for (size_t i = 0; (page = touched_page(range, i)) != NULL; i++) {
        const uint64_t wanted = chosen_on_page(x, plane, c, k, page);
        const bool is_read = touched_is_read(range, i);
        sum->pages++;
        sum->read += is_read;
        if (is_read && wanted == 0)
            fail_msg("%s: layer %u: page %zu of the experts was read, and holds none that was chosen", what, x->layer,
                     i);
        if (!is_read && wanted > 0)
            fail_msg("%s: layer %u: page %zu of the experts was not read, and %llu bytes of it were chosen", what,
                     x->layer, i, (unsigned long long)wanted);
    }
    sum->chosen_bytes += k * x->expert_bytes[plane];
}

static void one_step(rig *r, myth_seq *s, int32_t id, bool is_writable, const char *what)
{
    const myth_config *c = &r->model.config;
    const uint32_t k = c->n_expert_used;
    myth_part *p = r->engine->part;
    experts x[LAYER_MAX * TENSOR_MAX];
    chosen ids = {.r = r};
    tally sum = {0};
    const uint32_t n = list_experts(x, r);
    const uint64_t before = myth_device_get_counts(p->dev).expert_bytes;
    p->step.before_layer = note_ids;
    p->step.owner = &ids;
    touched_begin();
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t plane = 0; plane < x[i].n_plane; plane++) {
            touched_watch(x[i].base[plane], c->n_expert * x[i].expert_bytes[plane], is_writable);
            sum.all_bytes += c->n_expert * x[i].expert_bytes[plane];
        }
    rig_decode(r, s, id, NULL);
    touched_end();
    p->step.before_layer = NULL;
    p->step.owner = NULL;
    assert_int_equal(ids.n_layer, c->n_layer);
    for (uint32_t i = 0, range = 0; i < n; i++)
        for (uint32_t plane = 0; plane < x[i].n_plane; plane++)
            check_range(&sum, &x[i], plane, range++, &ids, k, what);
    assert_true(sum.read > 0 && 2 * sum.read < sum.pages);
    if (myth_device_get_caps(p->dev)->is_host_visible) /* what the device says of itself is what memory says */
        assert_true(myth_device_get_counts(p->dev).expert_bytes - before == sum.chosen_bytes);
    printf("%s: %u of %u experts a layer: %llu of %llu bytes, %llu of %llu pages read\n", what, k, c->n_expert,
           (unsigned long long)sum.chosen_bytes, (unsigned long long)sum.all_bytes, (unsigned long long)sum.read,
           (unsigned long long)sum.pages);
}

static void a_step_reads_the_chosen_experts(void **state)
{
    (void)state;
    static const myth_dtype type[] = {MYTH_F32, MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0, MYTH_Q5_1, MYTH_MXFP4};
    enum { TYPE_N = sizeof(type) / sizeof(type[0]) };
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (uint32_t t = 0; t < TYPE_N; t++) {
        make_wide("wide.gguf", type[t]);
        for (uint32_t v = 0; v < n_target; v++) {
            rig r;
            char what[96];
            int32_t ids[N_PROMPT];
            myth_engine_opts o = {.n_threads = 1, .n_ctx = CTX, .n_ubatch = 8, .n_cpu_moe = UINT32_MAX}; /* touched.h */
            if (!check_is_case(t + v, TYPE_N * n_target))
                continue;
            rig_at(&o, target[v]);
            rig_open(&r, files_path("wide.gguf"), &o);
            const myth_device_caps *caps = myth_device_get_caps(r.engine->part->dev);
            if (caps->is_gpu) {
                printf("%s: its reads make no faults\n", caps->name);
                rig_close(&r);
                continue;
            }
            snprintf(what, sizeof(what), "%s %s", target[v], myth_dtype_get(type[t])->name);
            myth_seq *s = rig_seq(&r);
            for (int32_t i = 0; i < N_PROMPT; i++)
                ids[i] = 3 + 5 * i;
            rig_feed(&r, s, ids, N_PROMPT, 0, NULL);
            for (int32_t i = 0; i < 2; i++)
                one_step(&r, s, 20 + 31 * i, !caps->is_host_visible, what);
            myth_seq_close(s);
            rig_close(&r);
        }
    }
}

/* ---- the same answers ---- */

typedef struct {
    rows w;
    uint64_t own_weights, host_weights;
} answers;

static void run_all(answers *a, rig *r)
{
    int32_t ids[32], made[8];
    uint32_t n_made;
    myth_finish why;
    myth_seq *s = rig_seq(r);
    for (int32_t i = 0; i < 32; i++)
        ids[i] = 2 + 7 * i % (int32_t)(r->model.config.n_vocab - 2);
    rows_open(&a->w, r, 32, false);
    rig_feed(r, s, ids, 25, 9, &a->w);
    for (int i = 25; i < 28; i++)
        rig_decode(r, s, ids[i], &a->w);
    assert_ok(myth_generate(r->engine, s, &(myth_generate_opts){.prompt = ids, .n_prompt = 2, .n_max = 2}, made,
                            &n_made, &why, &rig_err));
    assert_int_equal(n_made, 2);
    rig_decode(r, s, made[0], &a->w); /* replayed steps leave what issued ones do */
    myth_seq_close(s);
}

/* Live bytes of every class on every ledger are the plan's; returns the weights of the last device's. */
static void check_ledger(answers *a, const rig *r, const char *what)
{
    const myth_plan *p = myth_engine_plan(r->engine);
    for (uint32_t i = 0; i < p->n_device; i++)
        for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
            const myth_mem_count n = myth_mem_get(r->mem, p->device[i].ledger, (myth_mem_class)c);
            if (n.live != p->device[i].bytes[c])
                fail_msg("%s: %s: %s: planned %llu, live %llu", what, p->device[i].name,
                         myth_mem_class_name((myth_mem_class)c), (unsigned long long)p->device[i].bytes[c],
                         (unsigned long long)n.live);
        }
    a->host_weights = p->device[0].bytes[MYTH_MEM_WEIGHTS];
    a->own_weights = p->n_device > 1 ? p->device[1].bytes[MYTH_MEM_WEIGHTS] : 0;
}

/* Bytes of the experts of layers layer0 .. layer1 - 1. */
static uint64_t experts_of(const myth_model *m, uint32_t layer0, uint32_t layer1)
{
    const myth_slot *slots = myth_family_get(m->config.family)->slots;
    uint64_t sum = 0;
    for (uint32_t l = layer0; l < layer1; l++)
        for (const myth_slot *s = slots; s->hf; s++)
            if (myth_slot_is_expert(s) && myth_slot_is_there(&m->config, s, l))
                sum += myth_arena_cost(myth_slot_find(m->weights, &m->config, s, l).bytes);
    return sum;
}

static void host_experts_change_no_answer(void **state)
{
    (void)state;
    static const char *const name[] = {"gemma4-moe", "random:gemma4-moe-tiny:q8_0", "random:gemma4-moe-tiny:bf16"};
    static const struct {
        uint32_t n_cpu_moe, ngl_less, n_offload;
        myth_offload offload;
    } how[] = {{UINT32_MAX, 0, 0, MYTH_OFFLOAD_NONE}, {1, 0, 0, MYTH_OFFLOAD_NONE},
               {2, 1, 0, MYTH_OFFLOAD_NONE},          {UINT32_MAX, 0, 0, MYTH_OFFLOAD_WEIGHTS},
               {2, 0, 3, MYTH_OFFLOAD_WEIGHTS},       {UINT32_MAX, 0, 0, MYTH_OFFLOAD_KV}};
    enum { NAME_N = sizeof(name) / sizeof(name[0]), HOW_N = sizeof(how) / sizeof(how[0]) };
    char device[RIG_TARGET_MAX][32];
    const uint32_t n_device = rig_devices(device);
    for (uint32_t i = 0; i < n_device * NAME_N * HOW_N; i++) {
        const uint32_t h = i % HOW_N, m = i / HOW_N % NAME_N, d = i / HOW_N / NAME_N;
        const bool is_cpu = strcmp(device[d], "cpu") == 0;
        answers a[2];
        char path[1024], rest[128], what[256];
        uint64_t moved = 0;
        if (!check_is_kept(i, n_device * NAME_N * HOW_N))
            continue;
        snprintf(rest, sizeof(rest), "tests/golden/models/%s", name[m]);
        const char *spec = strchr(name[m], ':') ? name[m] : check_path(path, sizeof(path), rest);
        snprintf(what, sizeof(what), "%s %s -ncmoe %u --offload %d %u", device[d], name[m], how[h].n_cpu_moe,
                 (int)how[h].offload, how[h].n_offload);
        for (int on = 0; on < 2; on++) {
            rig r;
            myth_engine_opts o = {
                .device = device[d],
                .n_threads = 2,
                .n_ctx = CTX,
                .n_ubatch = 16,
                .want_full_logits = true,
                .offload = how[h].offload,
                .n_offload = how[h].n_offload,
                .has_gpu_layers = how[h].ngl_less > 0,
                .n_cpu_moe = on ? how[h].n_cpu_moe : 0,
            };
            myth_model header = {0};
            myth_mem *mem;
            assert_ok(myth_mem_open(&mem, 0, &rig_err));
            assert_ok(
                myth_model_open(&header, mem, spec, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
            const uint32_t n_layer = header.config.n_layer,
                           most = how[h].n_cpu_moe < n_layer ? how[h].n_cpu_moe : n_layer;
            o.n_gpu_layers = n_layer - how[h].ngl_less;
            moved = is_cpu || most < how[h].ngl_less ? 0 : experts_of(&header, how[h].ngl_less, most);
            myth_model_close(&header);
            assert_int_equal(myth_mem_close(mem), 0);
            rig_open(&r, spec, &o);
            run_all(&a[on], &r);
            check_ledger(&a[on], &r, what);
            assert_true(myth_engine_plan(r.engine)->expert_bytes == (on ? moved : 0));
            rig_close(&r);
        }
        assert_same_bits(a[0].w.logits, a[1].w.logits, (size_t)a[0].w.n_tok * a[0].w.n_vocab, what);
        if (how[h].offload != MYTH_OFFLOAD_WEIGHTS && a[1].host_weights - a[0].host_weights != moved)
            fail_msg("%s: the host holds %llu bytes more, its experts are %llu", what,
                     (unsigned long long)(a[1].host_weights - a[0].host_weights), (unsigned long long)moved);
        if (how[h].offload != MYTH_OFFLOAD_WEIGHTS && a[0].own_weights - a[1].own_weights != moved)
            fail_msg("%s: the device holds %llu bytes less, its experts are %llu", what,
                     (unsigned long long)(a[0].own_weights - a[1].own_weights), (unsigned long long)moved);
        for (int on = 0; on < 2; on++)
            rows_close(&a[on].w);
    }
}

/* Logits of N_PROMPT tokens, the last by the decode path. */
static void short_run(rows *w, const char *spec, const char *target)
{
    rig r;
    int32_t ids[N_PROMPT];
    myth_engine_opts o = {.n_threads = 2, .n_ctx = CTX, .n_ubatch = 4, .want_full_logits = true};
    for (int32_t i = 0; i < N_PROMPT; i++)
        ids[i] = 9 + 4 * i;
    rig_at(&o, target);
    rig_open(&r, spec, &o);
    rows_open(w, &r, N_PROMPT, false);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, N_PROMPT - 1, 0, w);
    rig_decode(&r, s, ids[N_PROMPT - 1], w);
    myth_seq_close(s);
    rig_close(&r);
}

/* Experts may be wider than everything else in their model. The file has the tiny experts many times side by side, and
 * the norm after them takes the factor out again, so that the answers are the same up to its epsilon. */
static void wide_experts_are_the_narrow_ones(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    make_wide("wide.gguf", MYTH_F32);
    for (uint32_t v = 0; v < n_target; v++) {
        rows wide, tiny;
        short_run(&wide, files_path("wide.gguf"), target[v]);
        short_run(&tiny, "random:gemma4-moe-tiny:f32", target[v]);
        const float apart = share_apart(wide.logits, tiny.logits, (size_t)N_PROMPT * wide.n_vocab);
        printf("%s: %g apart\n", target[v], (double)apart);
        assert_true(rig_is_exact(target[v])
                        ? apart <= 1e-4f
                        : apart < 1e30f); /* fast paths round, and may choose another expert: finite */
        rows_close(&wide);
        rows_close(&tiny);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_reads_the_chosen_experts),
                                       cmocka_unit_test(host_experts_change_no_answer),
                                       cmocka_unit_test(wide_experts_are_the_narrow_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
