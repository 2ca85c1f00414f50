/* test_model_types.c - the tiny models as GGUF: written in float32 they still match transformers; in each smaller type,
 * a run equals the run on the dequantised weights, and the fast levels stay within a stated divergence of the exact run
 * of the same file. So they do on the shipped model in every type that can be written. */
#define _GNU_SOURCE /* memmem */
#include "engine/base/blocks.h"
#include "engine/base/half.h"
#include "engine/make/convert.h"
#include "engine/make/gguf_write.h"
#include "engine/make/mix.h"
#include "engine/make/quant.h"
#include "tests/support/rig.h"

#include <math.h>
#include <unistd.h>

enum { CTX = 128 };                   /* longest text of a run                                                 */
static const float TOLERANCE = 1e-4f; /* of the largest value of each array                                    */

static char dir[] = "/tmp/mythos-types-XXXXXX";

static const char *file_of(char dst[128], const char *name)
{
    snprintf(dst, 128, "%s/%s.gguf", dir, name);
    return dst;
}

/* False: GGUF cannot say what the model is. */
static bool convert(const char *from, const char *to, myth_dtype type)
{
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, from, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    const myth_status st = myth_convert(&m, &(myth_convert_opts){.path = to, .type = type}, &rig_err);
    if (st != MYTH_EUNSUPPORTED)
        assert_ok(st);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    return st == MYTH_OK;
}

static void run(rows *w, const golden *g, const char *path, const char *level, bool keep_hidden)
{
    rig r;
    myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 1,
        .cpu_level = level,
        .is_exact = level == NULL,
        .n_ctx = CTX,
        .n_ubatch = CTX,
        .n_logit_rows = CTX,
        .want_full_logits = true,
        .want_hidden = keep_hidden,
    };
    rig_open(&r, path, &o);
    rows_open(w, &r, g->n_tok, keep_hidden);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, g->ids, g->n_tok, 0, w);
    myth_seq_close(s);
    rig_close(&r);
}

/* The same tokens one decode step at a time, after the first. */
static void run_steps(rows *w, const golden *g, const char *path, const char *level)
{
    rig r;
    myth_engine_opts o = {
        .device = "cpu",
        .n_threads = 2,
        .cpu_level = level,
        .n_ctx = CTX,
        .n_ubatch = CTX,
        .n_logit_rows = CTX,
        .want_full_logits = true,
    };
    rig_open(&r, path, &o);
    rows_open(w, &r, g->n_tok, false);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, g->ids, 1, 0, w);
    for (uint32_t i = 1; i < g->n_tok; i++)
        rig_decode(&r, s, g->ids[i], w);
    myth_seq_close(s);
    rig_close(&r);
}

static float worst_share(const golden *g, const rows *a, const float *logits, const float *hidden)
{
    float worst = share_apart(a->logits, logits, (size_t)g->n_tok * g->n_vocab);
    for (uint32_t l = 0; l <= g->n_layer; l++) {
        size_t n = (size_t)g->n_tok * g->d_model;
        worst = fmaxf(worst, share_apart(a->hidden + l * n, hidden + l * n, n));
    }
    return worst / TOLERANCE;
}

static void float_gguf_matches_transformers(void **state)
{
    (void)state;
    char name[GOLDEN_MAX][64], path[128];
    uint32_t n = golden_list(name), n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        golden g;
        rows w;
        golden_load(&g, name[i]);
        if (!convert(g.path, file_of(path, "f32"), MYTH_F32)) {
            printf("%-18s %s\n", g.name, rig_err.msg);
            n_left++;
            golden_free(&g);
            continue;
        }
        run(&w, &g, path, NULL, true);
        float used = worst_share(&g, &w, g.logits, g.residual);
        printf("%-18s f32 gguf  share of the tolerance %.3f\n", g.name, (double)used);
        assert_true(used <= 1.0f);
        rows_close(&w);
        golden_free(&g);
    }
    assert_int_equal(n_left, 1); /* gemma3n-two: GGUF has no key for a correction that is not scaled */
}

/* ---- the types ---- */

/* Element i of a tensor, by the definition of its type in dtype.h. */
static float element(const myth_tensor *t, uint64_t i)
{
    const unsigned char *p = t->data;
    uint16_t h;
    float f;
    switch (t->dtype) {
    case MYTH_F32: memcpy(&f, p + 4 * i, 4); return f;
    case MYTH_F16:
    case MYTH_BF16: memcpy(&h, p + 2 * i, 2); return t->dtype == MYTH_F16 ? myth_f16_to_f32(h) : myth_bf16_to_f32(h);
    case MYTH_Q8_0:
        p += i / 32 * 34;
        memcpy(&h, p, 2);
        return (float)(signed char)p[2 + i % 32] * myth_f16_to_f32(h);
    case MYTH_Q4_0:
        p += i / 32 * 18;
        memcpy(&h, p, 2);
        return (float)((i % 32 < 16 ? p[2 + i % 16] & 15 : p[2 + i % 16] >> 4) - 8) * myth_f16_to_f32(h);
    default: fail(); return 0;
    }
}

/* Counts the tensors of `type`, and checks that every tensor of the float file holds the other one's values. */
static uint32_t check_dequantised(const char *typed, const char *floats, myth_dtype type)
{
    myth_mem *mem;
    myth_weights *a = NULL, *b = NULL;
    uint32_t n_typed = 0;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_weights_open(&a, mem, typed, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_weights_open(&b, mem, floats, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_int_equal(myth_weights_n_tensor(a), myth_weights_n_tensor(b));
    for (uint32_t i = 0; i < myth_weights_n_tensor(a); i++) {
        const myth_tensor *t = myth_weights_at(a, i);
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.text);
        const myth_tensor *u = myth_weights_find(b, name);
        assert_non_null(u);
        assert_int_equal(u->dtype, MYTH_F32);
        uint64_t n = t->dim[0] * t->dim[1];
        for (uint64_t e = 0; e < n; e++)
            if (element(t, e) != element(u, e))
                fail_msg("%s[%llu]: %.9g dequantised, %.9g by definition", name, (unsigned long long)e,
                         (double)element(u, e), (double)element(t, e));
        n_typed += t->dtype == type;
    }
    myth_weights_close(a);
    myth_weights_close(b);
    assert_int_equal(myth_mem_close(mem), 0);
    return n_typed;
}

/* Mean over the rows of sum p log(p / q), p from the logits a. */
static double mean_kl(const float *a, const float *b, uint32_t n_rows, uint32_t n)
{
    double sum = 0;
    for (uint32_t r = 0; r < n_rows; r++, a += n, b += n) {
        double za = 0, zb = 0, ma = -INFINITY, mb = -INFINITY;
        for (uint32_t i = 0; i < n; i++) {
            ma = fmax(ma, (double)a[i]);
            mb = fmax(mb, (double)b[i]);
        }
        for (uint32_t i = 0; i < n; i++) {
            za += exp((double)a[i] - ma);
            zb += exp((double)b[i] - mb);
        }
        for (uint32_t i = 0; i < n; i++) {
            double la = (double)a[i] - ma - log(za), lb = (double)b[i] - mb - log(zb);
            sum += exp(la) * (la - lb);
        }
    }
    return sum / n_rows;
}

/* rows in whole blocks of 32 */
static const char *const quantisable[] = {"gemma1-mqa", "codegemma",     "gemma2-gqa",     "gemma2-old",
                                          "gemma3-mqa", "gemma3-layers", "gemma3-sharded", "gemma3-mm"};

/* Mean divergence of a fast run from the exact run of the same file: activations there are f32, bf16 or 8 bit by the
 * weights' type. Rows of 32 average out little; the figures of real widths are smaller. */
static const struct {
    myth_dtype type;
    double kl_max;
} types[] = {
    {MYTH_F16, 1e-5},
    {MYTH_BF16, 5e-4},
    {MYTH_Q8_0, 5e-3},
    {MYTH_Q4_0, 5e-3},
};

static void one_type(const golden *g, myth_dtype type, double kl_max, const char *level[8], uint32_t n_level)
{
    char typed[128], floats[128];
    rows w, dequantised;
    assert_true(convert(g->path, file_of(typed, myth_dtype_get(type)->name), type));
    assert_true(convert(typed, file_of(floats, "dequantised"), MYTH_F32));
    assert_true(check_dequantised(typed, floats, type) >= 7 * g->n_layer);
    run(&w, g, typed, NULL, true);
    run(&dequantised, g, floats, NULL, true);
    float used = worst_share(g, &w, dequantised.logits, dequantised.hidden);
    float moved = share_apart(w.logits, g->logits, (size_t)g->n_tok * g->n_vocab);
    printf("%-16s %-5s share %.3f, moved by %.1e;", g->name, myth_dtype_get(type)->name, (double)used, (double)moved);
    double worst = 0;
    for (uint32_t v = 0; v < n_level; v++) {
        rows fast;
        run(&fast, g, typed, level[v], false);
        double kl = mean_kl(w.logits, fast.logits, g->n_tok, g->n_vocab);
        printf(" %s kl %.1e", level[v], kl);
        worst = fmax(worst, kl);
        rows_close(&fast);
    }
    printf("\n");
    assert_true(used <= 1.0f);
    assert_true(worst <= kl_max);
    if (type == MYTH_Q8_0 || type == MYTH_Q4_0)
        assert_true(moved > TOLERANCE); /* the type did something */
    rows_close(&w);
    rows_close(&dequantised);
}

static void types_match_their_dequantised_weights(void **state)
{
    (void)state;
    const char *level[8];
    uint32_t n_level = rig_levels(level);
    for (size_t i = 0; i < sizeof(quantisable) / sizeof(quantisable[0]); i++) {
        golden g;
        golden_load(&g, quantisable[i]);
        for (uint32_t t = 0; t < 4; t++)
            if (check_is_case((uint32_t)i * 4 + t, 4 * sizeof(quantisable) / sizeof(quantisable[0])))
                one_type(&g, types[t].type, types[t].kl_max, level, n_level);
        golden_free(&g);
    }
}

/* ---- small matrices ---- */

static bool is_router(const myth_tensor *t) { return memmem(t->name.text, t->name.len, ".altup_router.weight", 20); }

/* The file again with its routers in `type`, or with the values that they have in q8_0 when that is float. */
static void copy_with_routers(const char *from, const char *to, myth_dtype type)
{
    myth_mem *mem;
    myth_weights *w = NULL;
    myth_gguf_writer *g = NULL;
    uint32_t n_router = 0;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_weights_open(&w, mem, from, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_gguf_open(&g, mem, to, myth_weights_n_tensor(w), &rig_err));
    for (uint32_t i = 0; i < myth_meta_count(myth_weights_meta(w)); i++)
        myth_gguf_put_value(g, myth_meta_at(myth_weights_meta(w), i));
    for (int is_data = 0; is_data < 2; is_data++)
        for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
            enum { N_MAX = 4096 };
            const myth_tensor *t = myth_weights_at(w, i);
            unsigned char block[N_MAX * 2];
            float value[N_MAX];
            uint64_t n = t->dim[0] * t->dim[1];
            if (!is_data) {
                myth_gguf_declare(g, t->name, is_router(t) ? type : t->dtype, t->n_dim, t->dim);
            } else if (!is_router(t)) {
                myth_gguf_data(g, t->data, t->bytes);
            } else {
                assert_true(t->dtype == MYTH_F32 && n <= N_MAX);
                myth_quant_row(MYTH_Q8_0, block, t->data, n);
                myth_dequant_row(MYTH_Q8_0, value, block, n);
                const void *data = type == MYTH_Q8_0 ? (void *)block : (void *)value;
                myth_gguf_data(g, data, myth_row_bytes(type, n));
                n_router++;
            }
        }
    assert_true(n_router > 0);
    assert_ok(myth_gguf_close(g, true, &rig_err));
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Other writers store every matrix of a model in its type, also those that are kept as floats here. */
static void a_small_matrix_in_blocks_is_read(void **state)
{
    (void)state;
    char all[128], typed[128], floats[128];
    golden g;
    rows in_blocks, in_floats;
    golden_load(&g, "gemma3n");
    assert_true(convert("random:gemma3n-tiny:f32", file_of(all, "all"), MYTH_F32));
    copy_with_routers(all, file_of(typed, "routers-q8_0"), MYTH_Q8_0);
    copy_with_routers(all, file_of(floats, "routers-f32"), MYTH_F32);
    run(&in_blocks, &g, typed, NULL, false);
    run(&in_floats, &g, floats, NULL, false);
    assert_same_bits(in_blocks.logits, in_floats.logits, (size_t)g.n_tok * in_floats.n_vocab, "routers in blocks");
    rows_close(&in_blocks);
    run(&in_blocks, &g, all, NULL, false);
    assert_true(share_apart(in_blocks.logits, in_floats.logits, (size_t)g.n_tok * in_floats.n_vocab) > 0);
    rows_close(&in_blocks);
    rows_close(&in_floats);
    golden_free(&g);
}

/* ---- every quantised type ---- */

enum { N_ID = 40, SUPER_VOCAB = 512 };

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float top_probability(const float *x, float sharp)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < SUPER_VOCAB; i++)
        most = fmax(most, (double)(sharp * x[i]));
    for (uint32_t i = 0; i < SUPER_VOCAB; i++)
        sum += exp((double)(sharp * x[i]) - most);
    return (float)(1.0 / sum);
}

/* Logits are linear in the output norm's weights: scaling them is scaling that tensor. The least power of 2^(1/4) that
 * makes the median of the rows' best probabilities 0.3 at least. */
static float sharpness(const float *logits)
{
    for (float sharp = 1;; sharp *= 1.18920712f) {
        float top[N_ID];
        for (uint32_t r = 0; r < N_ID; r++)
            top[r] = top_probability(logits + r * SUPER_VOCAB, sharp);
        qsort(top, N_ID, sizeof(top[0]), by_value);
        if (top[N_ID / 2] >= 0.3f)
            return sharp;
    }
}

static void scale(float *x, float by)
{
    for (uint32_t i = 0; i < N_ID * SUPER_VOCAB; i++)
        x[i] *= by;
}

/* A model in the type equals the model on its dequantised weights, and rows as they come and decode steps of the fast
 * levels stay near it. */
static void every_block_type(void **state)
{
    (void)state;
    const char *level[8];
    const uint32_t n_level = rig_levels(level);
    int32_t ids[N_ID];
    for (int i = 0; i < N_ID; i++)
        ids[i] = (i * 37 + 5) % SUPER_VOCAB;
    golden g = {.n_tok = N_ID, .n_vocab = SUPER_VOCAB, .d_model = 256, .n_layer = 4, .ids = ids};
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        char typed[128], floats[128];
        rows w, dequantised;
        if (!myth_dtype_is_quant((myth_dtype)t))
            continue;
        snprintf(typed, sizeof(typed), "random:gemma3-super:%s", myth_dtype_get((myth_dtype)t)->name);
        assert_true(convert(typed, file_of(floats, "dequantised"), MYTH_F32));
        run(&w, &g, typed, NULL, true);
        run(&dequantised, &g, floats, NULL, true);
        const float used = worst_share(&g, &w, dequantised.logits, dequantised.hidden), sharp = sharpness(w.logits);
        printf("%-6s share %.3f, sharpened by %.1f, kl of each level", myth_dtype_get((myth_dtype)t)->name,
               (double)used, (double)sharp);
        scale(w.logits, sharp);
        for (uint32_t v = 0; v < 2 * n_level; v++) {
            rows fast;
            if (!check_is_case((uint32_t)t + v, 2 * n_level))
                continue;
            if (v % 2)
                run_steps(&fast, &g, typed, level[v / 2]);
            else
                run(&fast, &g, typed, level[v / 2], false);
            scale(fast.logits, sharp);
            double kl = mean_kl(w.logits, fast.logits, N_ID, SUPER_VOCAB);
            printf(v % 2 ? ", steps %.1e" : " %.1e", kl);
            assert_true(kl <= 1e-3); /* NaN fails */
            rows_close(&fast);
        }
        printf("\n");
        assert_true(used <= 1.0f);
        rows_close(&w);
        rows_close(&dequantised);
    }
}

/* ---- the shipped model ---- */

enum { N_TEXT = 96 };
static const char shipped[] = "models/mythos-inspect.gguf";

/* <bos> and the first tokens of a source file, which is what the model is shown. Returns the size of the vocabulary. */
static uint32_t read_source(const char *model, int32_t ids[N_TEXT])
{
    char path[1024], text[4096];
    int32_t all[4096];
    size_t n;
    myth_mem *mem;
    myth_model m = {0};
    FILE *f = fopen(check_path(path, sizeof(path), "tests/corpus/demo.c"), "rb");
    assert_non_null(f);
    const size_t len = fread(text, 1, sizeof(text), f);
    fclose(f);
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, model, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    assert_non_null(m.tokenizer);
    assert_ok(myth_tokenizer_encode(m.tokenizer, mem, MYTH_TOK_CONTENT, text, len, all, 4096, &n, &rig_err));
    assert_true(n >= N_TEXT);
    ids[0] = myth_tokenizer_special(m.tokenizer)->bos;
    memcpy(ids + 1, all, (N_TEXT - 1) * sizeof(ids[0]));
    const uint32_t n_vocab = m.config.n_vocab;
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
    return n_vocab;
}

static bool has_type(const char *path, const char *tensor, myth_dtype type)
{
    myth_mem *mem;
    myth_weights *w = NULL;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_weights_open(&w, mem, path, &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER}, &rig_err));
    const myth_tensor *t = myth_weights_find(w, tensor);
    const bool has = t && t->dtype == type;
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
    return has;
}

/* Whether a model can be converted to it. */
static bool has_a_file(myth_dtype t) { return myth_dtype_is_quant(t) && myth_mix_of(t); }

/* All types and fast levels in full runs, else a few of them: rows as they come, and decode steps, near the exact run
 * of the same file. */
static void the_shipped_model_in_every_type(void **state)
{
    (void)state;
    char source[1024];
    const char *level[8];
    const uint32_t n_level = rig_levels(level), first = n_level > 1; /* ref has no 8-bit activations */
    uint32_t n_case = 0, one = 0, n_type = 0, n_run = 0;
    int32_t ids[N_TEXT];
    check_path(source, sizeof(source), shipped);
    const uint32_t n_vocab = read_source(source, ids);
    const golden g = {.n_tok = N_TEXT, .n_vocab = n_vocab, .ids = ids};
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        n_case += has_a_file((myth_dtype)t) ? 2 * (n_level - first) : 0;
    for (int t = 0; t < MYTH_DTYPE_N; t++) {
        char typed[128];
        rows w = {0};
        if (!has_a_file((myth_dtype)t))
            continue;
        for (uint32_t v = 0; v < 2 * (n_level - first); v++, one++) {
            rows fast;
            const bool steps = v % 2;
            if (!check_is_full() && !check_is_among(one, n_case, check_sample(4)))
                continue;
            if (!w.logits) {
                assert_true(convert(source, file_of(typed, "shipped"), (myth_dtype)t));
                assert_true(has_type(typed, "blk.0.ffn_gate.weight", (myth_dtype)t));
                run(&w, &g, typed, NULL, false);
                n_type++;
            }
            if (steps)
                run_steps(&fast, &g, typed, level[first + v / 2]);
            else
                run(&fast, &g, typed, level[first + v / 2], false);
            const double kl = mean_kl(w.logits, fast.logits, N_TEXT, n_vocab);
            printf("shipped model as %-6s %-6s %s kl %.1e\n", myth_dtype_get((myth_dtype)t)->name, level[first + v / 2],
                   steps ? "steps" : "rows ", kl);
            assert_true(kl <= 1e-3); /* NaN fails */
            rows_close(&fast);
            n_run++;
        }
        if (w.logits)
            rows_close(&w);
    }
    printf("%u types, %u runs\n", n_type, n_run);
    assert_true(n_run > 0);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_gguf_matches_transformers),  cmocka_unit_test(types_match_their_dequantised_weights),
        cmocka_unit_test(a_small_matrix_in_blocks_is_read), cmocka_unit_test(every_block_type),
        cmocka_unit_test(the_shipped_model_in_every_type),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const name[] = {"f32", "f16", "bf16", "q8_0", "q4_0", "dequantised", "shipped"};
    for (int i = 0; i < 7; i++) {
        char path[128];
        unlink(file_of(path, name[i]));
    }
    rmdir(dir);
    return failed;
}
