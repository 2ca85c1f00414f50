/* test_embed.c - compares the vectors of the tiny encoders with transformers (tests/golden/make_embedders.py): all
 * texts at once, each alone, cut to fewer dimensions, on every device; and checks what an encoder refuses. */
#include "tests/support/rig.h"

#include "engine/make/convert.h"
#include "engine/run/embed.h"
#include "tests/support/files.h"

#include <math.h>

enum { TEXT_MAX = 16, DIM_MAX = 64, MAGIC = 0x424d454d };

typedef struct {
    char path[1024];
    unsigned char *bytes;
    uint32_t n_text, dim;
    myth_embed_text text[TEXT_MAX];
    const float *vector[TEXT_MAX];
} vectors;

static uint32_t word_at(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static void vectors_load(vectors *v, const char *name)
{
    char rest[128], file[1152];
    snprintf(rest, sizeof(rest), "tests/golden/embedders/%s", name);
    check_path(v->path, sizeof(v->path), rest);
    snprintf(file, sizeof(file), "%s/golden.bin", v->path);
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t len = (size_t)ftell(f), at = 12;
    rewind(f);
    v->bytes = malloc(len);
    assert_int_equal(fread(v->bytes, 1, len, f), len);
    fclose(f);
    assert_int_equal(word_at(v->bytes), MAGIC);
    v->n_text = word_at(v->bytes + 4);
    v->dim = word_at(v->bytes + 8);
    assert_true(v->n_text <= TEXT_MAX && v->dim <= DIM_MAX);
    for (uint32_t t = 0; t < v->n_text; t++) {
        v->text[t].n = word_at(v->bytes + at);
        v->text[t].ids = (const int32_t *)(const void *)(v->bytes + at + 4);
        v->vector[t] = (const float *)(const void *)(v->bytes + at + 4 + 4 * (size_t)v->text[t].n);
        at += 4 + 4 * ((size_t)v->text[t].n + v->dim);
    }
    assert_int_equal(at, len);
}

static float largest_difference(const float *got, const float *want, uint32_t dim)
{
    float most = 0.0f;
    for (uint32_t i = 0; i < dim; i++)
        most = fmaxf(most, fabsf(got[i] - want[i]));
    return most;
}

/* Share of the tolerance used. */
static float check_model(const char *name, const char *target)
{
    const float tolerance = !rig_is_exact(target) ? 2e-2f : strncmp(target, "exact", 5) == 0 ? 1e-4f : 2e-3f;
    vectors v;
    rig r;
    myth_embedder *x;
    float all[TEXT_MAX * DIM_MAX], one[DIM_MAX], most = 0.0f;
    vectors_load(&v, name);
    myth_engine_opts o = {.n_threads = 2, .n_ctx = 64, .n_ubatch = 64, .want_hidden = true};
    rig_at(&o, target);
    rig_open(&r, v.path, &o);
    assert_ok(myth_embedder_open(&x, r.engine, &rig_err));
    assert_int_equal(myth_embedder_dim(x), v.dim);
    assert_int_equal(myth_embedder_has_dense(x), strcmp(name, "plain") != 0);
    assert_ok(myth_embed(x, v.text, v.n_text, 0, all, NULL, &rig_err));
    for (uint32_t t = 0; t < v.n_text; t++) {
        float scale = 0.0f;
        for (uint32_t i = 0; i < v.dim; i++)
            scale = fmaxf(scale, fabsf(v.vector[t][i]));
        most = fmaxf(most, largest_difference(all + t * v.dim, v.vector[t], v.dim) / (tolerance * scale));
        assert_ok(myth_embed(x, &v.text[t], 1, 0, one, NULL, &rig_err));
        assert_memory_equal(one, all + t * v.dim, v.dim * sizeof(float));
        assert_ok(myth_embed(x, &v.text[t], 1, v.dim / 2, one, NULL, &rig_err)); /* the first half, at length 1 again */
        double ss = 0.0;
        for (uint32_t i = 0; i < v.dim / 2; i++)
            ss += (double)all[t * v.dim + i] * (double)all[t * v.dim + i];
        for (uint32_t i = 0; i < v.dim / 2; i++)
            assert_true(fabs((double)one[i] - (double)all[t * v.dim + i] / sqrt(ss)) < 1e-6);
    }
    myth_embedder_close(x);
    rig_close(&r);
    free(v.bytes);
    printf("%-6s %-15s share of the tolerance of %g: %.3f\n", name, target, (double)tolerance, (double)most);
    return most;
}

static void vectors_equal_transformers(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    uint32_t n = rig_targets(target), n_failed = 0;
    static const char *const name[] = {"dense", "plain", "held"}; /* the tolerances are older than the last */
    for (uint32_t i = 0; i < n; i++)
        for (int m = 0; m < 3; m++)
            n_failed += check_model(name[m], target[i]) > 1.0f;
    assert_int_equal(n_failed, 0);
}

/* Written as GGUF and read back: the same vectors, dense layers or none. */
static void converted_models_give_the_same_vectors(void **state)
{
    (void)state;
    static const char *const name[] = {"dense", "plain"};
    static const myth_dtype type[] = {MYTH_BF16,
                                      MYTH_F32}; /* as stored: products of other types run in another order */
    char path[1024];
    for (int m = 0; m < 2; m++) {
        vectors v;
        rig r;
        myth_embedder *x;
        float want[TEXT_MAX * DIM_MAX], got[TEXT_MAX * DIM_MAX];
        myth_engine_opts o = {.n_threads = 1, .n_ctx = 64, .n_ubatch = 64, .want_hidden = true};
        rig_at(&o, rig_target());
        vectors_load(&v, name[m]);
        snprintf(path, sizeof(path), "%s", files_path("encoder.gguf"));
        for (int is_again = 0; is_again < 2; is_again++) {
            rig_open(&r, is_again ? path : v.path, &o);
            assert_ok(myth_embedder_open(&x, r.engine, &rig_err));
            assert_int_equal(myth_embedder_dim(x), v.dim);
            assert_ok(myth_embed(x, v.text, v.n_text, 0, is_again ? got : want, NULL, &rig_err));
            myth_embedder_close(x);
            if (!is_again)
                assert_ok(myth_convert(&r.model, &(myth_convert_opts){.path = path, .type = type[m]}, &rig_err));
            rig_close(&r);
        }
        assert_memory_equal(got, want, v.n_text * v.dim * sizeof(float));
        remove(path);
        free(v.bytes);
    }
}

static void refusals(void **state)
{
    (void)state;
    vectors v;
    golden g;
    rig r;
    myth_embedder *x;
    float out[DIM_MAX];
    vectors_load(&v, "plain");
    golden_load(&g, "gemma3-mqa");
    myth_engine_opts o = {.n_threads = 1, .n_ctx = 64, .n_ubatch = 16, .want_hidden = true};
    rig_at(&o, rig_target());
    rig_open(&r, g.path, &o);
    assert_int_equal(myth_embedder_open(&x, r.engine, &rig_err), MYTH_EUNSUPPORTED);
    rig_close(&r);

    rig_open(&r, v.path, &o);
    assert_ok(myth_embedder_open(&x, r.engine, &rig_err));
    assert_int_equal(myth_embed(x, &v.text[4], 1, 0, out, NULL, &rig_err),
                     MYTH_ELIMIT); /* 37 tokens, a micro-batch of 16 */
    assert_int_equal(myth_embed(x, &(myth_embed_text){v.text[0].ids, 0}, 1, 0, out, NULL, &rig_err), MYTH_EARG);
    assert_int_equal(myth_embed(x, v.text, 1, v.dim + 1, out, NULL, &rig_err), MYTH_EARG);
    assert_ok(myth_embed(x, v.text, 1, 0, out, NULL, &rig_err));
    myth_embedder_close(x);
    myth_seq *s = rig_seq(&r);
    const int32_t id = 5;
    const uint8_t want = MYTH_WANT_LOGITS, yes = 1;
    rig_tokens b = {.n_tok = 1, .token = &id, .seq = &s};
    assert_int_equal(rig_forward(r.engine, &b, NULL, &rig_err), MYTH_EUNSUPPORTED);
    b.is_ephemeral = &yes;
    b.want = &want;
    assert_int_equal(rig_forward(r.engine, &b, NULL, &rig_err), MYTH_EUNSUPPORTED);
    myth_seq_close(s);
    rig_close(&r);
    free(v.bytes);
    golden_free(&g);
}

/* Links out of a model's folder are refused. */
static void copy_file(const char *to, const char *from)
{
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const size_t len = (size_t)ftell(f);
    unsigned char *data = malloc(len);
    rewind(f);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, len, f), len);
    fclose(f);
    files_put(to, data, len);
    free(data);
}

/* The folder "dense" again, with other configs of its modules: what sentence-transformers would compute by them. */
static void module_configs_count(void **state)
{
    (void)state;
    static const struct {
        const char *pooling, *dense; /* NULL = no such file */
        const char *named;           /* NULL = the vectors that are computed */
    } row[] = {
        {NULL, NULL, NULL},
        {"{\"word_embedding_dimension\": 48, \"pooling_mode_cls_token\": false, \"pooling_mode_mean_tokens\": true, "
         "\"include_prompt\": true}",
         "{\"bias\": false, \"activation_function\": \"torch.nn.modules.linear.Identity\"}", NULL},
        {"{\"embedding_dimension\": 48, \"pooling_mode\": \"mean\"}", "{\"activation_function\": null}", NULL},
        {"{\"pooling_mode\": [\"mean\"]}", NULL, NULL},
        {"{\"pooling_mode_cls_token\": true}", NULL, "pooling_mode_cls_token true"},
        {"{\"pooling_mode_mean_tokens\": true, \"pooling_mode_max_tokens\": true}", NULL, "pooling_mode_max_tokens"},
        {"{\"pooling_mode\": \"lasttoken\"}", NULL, "pooling_mode lasttoken"},
        {"{\"pooling_mode\": [\"mean\", \"max\"]}", NULL, "pooling_mode max"},
        {"{\"include_prompt\": false}", NULL, "include_prompt"},
        {NULL, "{\"activation_function\": \"torch.nn.modules.activation.Tanh\"}", "activation.Tanh"},
        {NULL, "{\"use_residual\": true}", "use_residual"},
        {"[]", NULL, "expected an object"},
    };
    static const char *const copied[] = {"config.json", "model.safetensors", "2_Dense/model.safetensors",
                                         "3_Dense/model.safetensors"};
    char from[1200], name[64];
    vectors v;
    vectors_load(&v, "dense");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char dir[16];
        snprintf(dir, sizeof(dir), "modules%u", (unsigned)i);
        files_mkdir(dir);
        for (int k = 1; k <= 3; k++) {
            snprintf(name, sizeof(name), "%s/%d_%s", dir, k, k == 1 ? "Pooling" : "Dense");
            files_mkdir(name);
        }
        for (size_t k = 0; k < sizeof(copied) / sizeof(copied[0]); k++) {
            snprintf(from, sizeof(from), "%s/%s", v.path, copied[k]);
            snprintf(name, sizeof(name), "%s/%s", dir, copied[k]);
            copy_file(name, from);
        }
        snprintf(name, sizeof(name), "%s/1_Pooling/config.json", dir);
        if (row[i].pooling)
            files_text(name, row[i].pooling);
        snprintf(name, sizeof(name), "%s/3_Dense/config.json", dir);
        if (row[i].dense)
            files_text(name, row[i].dense);
        rig r;
        myth_embedder *x;
        myth_plan_extra extra = {0};
        myth_engine_opts o = {.n_threads = 1, .n_ctx = 64, .n_ubatch = 64, .want_hidden = true};
        rig_at(&o, rig_target());
        rig_open(&r, files_path(dir), &o);
        const myth_status st = myth_embedder_open(&x, r.engine, &rig_err);
        assert_int_equal(st, myth_embedder_needs(&extra, &r.model, &rig_err));
        if (!row[i].named)
            assert_ok(st);
        else if (st == MYTH_OK || !strstr(rig_err.msg, row[i].named))
            fail_msg("%u: \"%s\" does not name %s", (unsigned)i, st == MYTH_OK ? "" : rig_err.msg, row[i].named);
        myth_embedder_close(x);
        rig_close(&r);
    }
    free(v.bytes);
}

/* A local layer that looks to neither side: half of a window of 1 is 0 rows. GGUF holds a window of at least 1. */
static void a_window_of_one_is_written(void **state)
{
    (void)state;
    char from[1200], text[4096] = {0};
    vectors v;
    rig r;
    vectors_load(&v, "plain");
    snprintf(from, sizeof(from), "%s/config.json", v.path);
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    assert_in_range(fread(text, 1, sizeof(text) - 1, f), 100, sizeof(text) - 2);
    fclose(f);
    char *changed = text_replace(text, "\"sliding_window\": 7", "\"sliding_window\": 1");
    files_mkdir("narrow");
    files_text("narrow/config.json", changed);
    free(changed);
    snprintf(from, sizeof(from), "%s/model.safetensors", v.path);
    copy_file("narrow/model.safetensors", from);
    myth_engine_opts o = {.n_threads = 1, .n_ctx = 64, .n_ubatch = 64, .want_hidden = true};
    rig_at(&o, rig_target());
    rig_open(&r, files_path("narrow"), &o);
    assert_int_equal(r.model.config.window, 1);
    assert_ok(
        myth_convert(&r.model, &(myth_convert_opts){.path = files_path("narrow.gguf"), .type = MYTH_F32}, &rig_err));
    rig_close(&r);
    rig_open(&r, files_path("narrow.gguf"), &o);
    assert_int_equal(r.model.config.window, 1);
    rig_close(&r);
    free(v.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_equal_transformers),
                                       cmocka_unit_test(converted_models_give_the_same_vectors),
                                       cmocka_unit_test(module_configs_count),
                                       cmocka_unit_test(a_window_of_one_is_written), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
