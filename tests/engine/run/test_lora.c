/* test_lora.c - an adapter of either format adds scale * B A to the matrices it names and to nothing else; what is no
 * such adapter is refused with its name. */
#include "tests/support/files.h"

#include "engine/make/convert.h"
#include "engine/make/gguf_write.h"
#include "engine/run/lora.h"

#include <math.h>

enum { RANK = 3 };

static myth_mem *mem;
static myth_model base;
static myth_error err;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK &&
                   myth_model_open(&base, mem, "random:gemma3-tiny:f32", NULL, &err) == MYTH_OK
             ? 0
             : -1;
}

static int end(void **state)
{
    (void)state;
    myth_model_close(&base);
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static float value(uint64_t i) { return (float)((int)(i * 37 % 19) - 9) / 16; }

typedef struct {
    char text[2048];
    uint64_t off;
    int n;
} header;

static void add(header *h, const char *name, uint64_t rows, uint64_t cols)
{
    const size_t at = strlen(h->text);
    snprintf(h->text + at, sizeof(h->text) - at,
             "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%llu,%llu],\"data_offsets\":[%llu,%llu]}", h->n ? "," : "{", name,
             (unsigned long long)rows, (unsigned long long)cols, (unsigned long long)h->off,
             (unsigned long long)(h->off + 4 * rows * cols));
    h->off += 4 * rows * cols;
    h->n++;
}

/* Writes the header and as many values as it has; they are numbered over the whole file. */
static void put_safetensors(const char *path, header *h)
{
    bytes b = {NULL, 0, 0};
    strcat(h->text, "}");
    while (strlen(h->text) % 8)
        strcat(h->text, " ");
    bytes_uint(&b, strlen(h->text), 8);
    bytes_text(&b, h->text);
    for (uint64_t i = 0; i < h->off / 4; i++) {
        const float v = value(i);
        bytes_put(&b, &v, sizeof(v));
    }
    files_put(path, b.data, b.len);
    bytes_free(&b);
}

static const myth_tensor *matrix(const myth_model *m, const char *name)
{
    const myth_tensor *t = myth_weights_find(m->weights, name);
    assert_non_null(t);
    return t;
}

#define Q    "base_model.model.model.layers.0.self_attn.q_proj"
#define DOWN "base_model.model.model.language_model.layers.1.mlp.down_proj"

/* A for q_proj of layer 0 and down_proj of layer 1, in this order: A, B, A, B. */
static void make_peft(const char *folder, const char *config)
{
    char path[256];
    header h = {"", 0, 0};
    const myth_tensor *q = matrix(&base, "blk.0.attn_q.weight"), *d = matrix(&base, "blk.1.ffn_down.weight");
    files_mkdir(folder);
    add(&h, Q ".lora_A.weight", RANK, q->dim[1]);
    add(&h, Q ".lora_B.weight", q->dim[0], RANK);
    add(&h, DOWN ".lora_A.default.weight", RANK, d->dim[1]);
    add(&h, DOWN ".lora_B.default.weight", d->dim[0], RANK);
    snprintf(path, sizeof(path), "%s/adapter_model.safetensors", folder);
    put_safetensors(path, &h);
    snprintf(path, sizeof(path), "%s/adapter_config.json", folder);
    files_text(path, config);
}

static void convert(const char *name, myth_lora *const *lora, uint32_t n)
{
    const myth_convert_opts o = {.path = files_path(name), .type = MYTH_F32};
    myth_model m = base;
    for (m.n_lora = 0; m.n_lora < n; m.n_lora++)
        m.lora[m.n_lora] = lora[m.n_lora];
    if (myth_convert(&m, &o, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static void open_file(myth_model *m, const char *name)
{
    if (myth_model_open(m, mem, files_path(name), NULL, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

/* Every tensor of `with` is that of `without`, but for the two matrices, which are as computed here in double. */
static void expect_added(const char *with, const char *without, double scale)
{
    myth_model a, b;
    uint32_t n_other = 0;
    open_file(&a, with);
    open_file(&b, without);
    const myth_tensor *q = matrix(&a, "blk.0.attn_q.weight"), *d = matrix(&a, "blk.1.ffn_down.weight");
    const uint64_t start[2] = {0, RANK * (q->dim[0] + q->dim[1])};
    for (uint32_t i = 0; i < myth_weights_n_tensor(a.weights); i++) {
        const myth_tensor *t = myth_weights_at(a.weights, i), *u = myth_weights_at(b.weights, i);
        assert_int_equal(t->bytes, u->bytes);
        n_other += t != q && t != d;
        if (t != q && t != d)
            assert_memory_equal(t->data, u->data, t->bytes);
    }
    assert_int_equal(n_other + 2, myth_weights_n_tensor(a.weights));
    for (int k = 0; k < 2; k++) {
        const myth_tensor *t = k ? d : q, *u = matrix(&b, k ? "blk.1.ffn_down.weight" : "blk.0.attn_q.weight");
        const float *got = t->data, *was = u->data;
        double worst = 0, most = 0;
        for (uint64_t r = 0; r < t->dim[0]; r++)
            for (uint64_t c = 0; c < t->dim[1]; c++) {
                double sum = 0;
                for (uint64_t j = 0; j < RANK; j++)
                    sum += (double)value(start[k] + RANK * t->dim[1] + r * RANK + j) *
                           (double)value(start[k] + j * t->dim[1] + c);
                const double want = (double)was[r * t->dim[1] + c] + scale * sum;
                worst = fmax(worst, fabs((double)got[r * t->dim[1] + c] - want));
                most = fmax(most, fabs(scale * sum));
            }
        assert_true(most > 0.1);
        assert_true(worst < 1e-5);
    }
    myth_model_close(&b);
    myth_model_close(&a);
}

static void peft_is_added(void **state)
{
    (void)state;
    myth_lora *lora = NULL;
    convert("plain.gguf", NULL, 0);
    make_peft("peft",
              "{\"r\": 3, \"lora_alpha\": 6, \"bias\": \"none\", \"rank_pattern\": {}, \"modules_to_save\": null,"
              "\"target_modules\": [\"q_proj\"], \"use_rslora\": false}");
    if (myth_lora_open(&lora, &base, files_path("peft"), 0.5f, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(myth_lora_n_matrix(lora), 2);
    assert_true(myth_lora_has(lora, "blk.0.attn_q.weight"));
    assert_false(myth_lora_has(lora, "blk.1.attn_q.weight"));
    convert("peft.gguf", &lora, 1);
    myth_lora_close(lora);
    expect_added("peft.gguf", "plain.gguf", 1.0); /* 6 / 3 * 0.5 */
    make_peft("root", "{\"use_rslora\": true, \"lora_alpha\": 6.0, \"r\": 3}");
    char file[1024];
    snprintf(file, sizeof(file), "%s/adapter_model.safetensors", files_path("root"));
    assert_int_equal(myth_lora_open(&lora, &base, file, 1.0f, &err), MYTH_OK);
    convert("root.gguf", &lora, 1);
    myth_lora_close(lora);
    expect_added("root.gguf", "plain.gguf", 6.0 / sqrt(3.0));
}

/* As peft's get_pattern_key: the first key that is the end of a module's name behind a dot, or with ^ all of it. */
static void patterns_of_single_modules_count(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        float q, down; /* what their Bs are multiplied by */
    } row[] = {
        {"{\"r\": 3, \"lora_alpha\": 6, \"rank_pattern\": {\"k_proj\": 9}, \"alpha_pattern\": null}", 2, 2},
        {"{\"r\": 3, \"lora_alpha\": 6, \"alpha_pattern\": {\"q_proj\": 12}}", 4, 2},
        {"{\"alpha_pattern\": {\"proj\": 12, \"1.mlp.down_proj\": 3}, \"r\": 3, \"lora_alpha\": 6}", 2, 1},
        {"{\"r\": 3, \"lora_alpha\": 6, \"alpha_pattern\": {\"layers.1.self_attn.q_proj\": 12, "
         "\"mlp\\\\.down_proj\": 9, \"down_proj\": 3}}",
         2, 3},
        {"{\"r\": 3, \"lora_alpha\": 6, \"alpha_pattern\": {\"^self_attn.q_proj\": 12, "
         "\"^model.layers.0.self_attn.q_proj\": 3}}",
         1, 2},
        {"{\"r\": 5, \"lora_alpha\": 6, \"rank_pattern\": {\"q_proj\": 3, \"down_proj\": 3}}", 2, 2},
        {"{\"r\": 5, \"lora_alpha\": 6, \"use_rslora\": true, \"rank_pattern\": {\"layers.0.self_attn.q_proj\": 3, "
         "\"layers.1.mlp.down_proj\": 3}, \"alpha_pattern\": {\"down_proj\": 12}}",
         3.46410162f, 6.92820323f},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_lora *lora = NULL;
        char folder[16];
        float q, down;
        snprintf(folder, sizeof(folder), "pattern%u", (unsigned)i);
        make_peft(folder, row[i].config);
        if (myth_lora_open(&lora, &base, files_path(folder), 1.0f, &err) != MYTH_OK)
            fail_msg("%s: %s", row[i].config, err.msg);
        const myth_tensor *w = matrix(&base, "blk.0.attn_q.weight");
        const uint64_t b_of_q = RANK * w->dim[1], second = b_of_q + RANK * w->dim[0];
        const uint64_t b_of_down = second + RANK * matrix(&base, "blk.1.ffn_down.weight")->dim[1];
        const uint32_t at_q = value(b_of_q) == 0, at_down = value(b_of_down) == 0; /* the first that is not 0 */
        myth_lora_column_of_b(lora, "blk.0.attn_q.weight", at_q, 0, 1, &q);
        myth_lora_column_of_b(lora, "blk.1.ffn_down.weight", at_down, 0, 1, &down);
        const float was_q = value(b_of_q + at_q), was_down = value(b_of_down + at_down);
        assert_true(was_q != 0 && was_down != 0);
        if (fabsf(q - row[i].q * was_q) > 1e-6f || fabsf(down - row[i].down * was_down) > 1e-6f)
            fail_msg("%s: %g and %g", row[i].config, (double)(q / was_q), (double)(down / was_down));
        myth_lora_close(lora);
    }
}

/* The same pairs as llama.cpp writes them, of alpha 12: 12 / 3 * 0.25. */
static void gguf_is_added(void **state)
{
    (void)state;
    myth_gguf_writer *g = NULL;
    myth_lora *lora = NULL;
    const myth_tensor *q = matrix(&base, "blk.0.attn_q.weight"), *d = matrix(&base, "blk.1.ffn_down.weight");
    const struct {
        const char *name;
        uint64_t dim[2];
    } t[4] = {{"blk.0.attn_q.weight.lora_a", {RANK, q->dim[1]}},
              {"blk.0.attn_q.weight.lora_b", {q->dim[0], RANK}},
              {"blk.1.ffn_down.weight.lora_a", {RANK, d->dim[1]}},
              {"blk.1.ffn_down.weight.lora_b", {d->dim[0], RANK}}};
    assert_int_equal(myth_gguf_open(&g, mem, files_path("adapter.gguf"), 4, &err), MYTH_OK);
    myth_gguf_put_str(g, "general.architecture", (myth_str){"gemma3", 6});
    myth_gguf_put_str(g, "general.type", (myth_str){"adapter", 7});
    myth_gguf_put_str(g, "adapter.type", (myth_str){"lora", 4});
    myth_gguf_put_f32(g, "adapter.lora.alpha", 12);
    for (int i = 0; i < 4; i++)
        myth_gguf_declare(g, (myth_str){t[i].name, strlen(t[i].name)}, MYTH_F32, 2, t[i].dim);
    uint64_t n = 0;
    for (int i = 0; i < 4; i++)
        for (uint64_t k = 0; k < t[i].dim[0] * t[i].dim[1]; k++, n++) {
            const float v = value(n);
            myth_gguf_data(g, &v, sizeof(v));
        }
    assert_int_equal(myth_gguf_close(g, true, &err), MYTH_OK);
    assert_int_equal(myth_lora_open(&lora, &base, files_path("adapter.gguf"), 0.25f, &err), MYTH_OK);
    convert("plain.gguf", NULL, 0);
    convert("added.gguf", &lora, 1);
    expect_added("added.gguf", "plain.gguf", 1.0);
    myth_lora *const two[2] = {lora, lora};
    convert("twice.gguf", two, 2);
    expect_added("twice.gguf", "plain.gguf", 2.0);
    myth_lora_close(lora);
}

static void expect_refused(const char *folder, const char *config, header *h, myth_status code, const char *says)
{
    myth_lora *lora = NULL;
    char path[256];
    make_peft(folder, config);
    snprintf(path, sizeof(path), "%s/adapter_model.safetensors", folder);
    if (h)
        put_safetensors(path, h);
    assert_int_equal(myth_lora_open(&lora, &base, files_path(folder), 1.0f, &err), code);
    assert_null(lora);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
}

static void what_is_more_or_less_is_refused(void **state)
{
    (void)state;
    const char *good = "{\"r\": 3, \"lora_alpha\": 3}";
    const myth_tensor *q = matrix(&base, "blk.0.attn_q.weight");
    expect_refused("r0", "{\"r\": 3, \"lora_alpha\": 3, \"use_dora\": true}", NULL, MYTH_EUNSUPPORTED, "use_dora");
    expect_refused("r1", "{\"r\": 3, \"lora_alpha\": 3, \"bias\": \"all\"}", NULL, MYTH_EUNSUPPORTED, "bias");
    expect_refused("r2", "{\"rank_pattern\": {\"(q|k)_proj\": 8}, \"r\": 3, \"lora_alpha\": 3}", NULL,
                   MYTH_EUNSUPPORTED, "rank_pattern");
    expect_refused("r11", "{\"rank_pattern\": {\"q_proj\": 8}, \"r\": 3, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT,
                   "rank 3, the config says 8");
    expect_refused("r12", "{\"alpha_pattern\": {\"q_proj\": \"8\"}, \"r\": 3, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT,
                   "expected a number");
    expect_refused("r13", "{\"alpha_pattern\": {\"q_proj\": 0}, \"r\": 3, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT,
                   "alpha_pattern: q_proj");
    expect_refused("r14", "{\"alpha_pattern\": [1], \"r\": 3, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT,
                   "expected an object");
    expect_refused("r3", "{\"r\": 4, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT, "rank 3, the config says 4");
    expect_refused("r4", "{\"lora_alpha\": 3}", NULL, MYTH_EFORMAT, "r and lora_alpha");
    expect_refused("r5", "{\"r\": \"3\"}", NULL, MYTH_EFORMAT, "expected a number");
    expect_refused("n0", "{\"r\": 3, \"lora_alpha\": -3}", NULL, MYTH_EFORMAT, "above 0");
    expect_refused("n1", "{\"r\": -3, \"lora_alpha\": 3}", NULL, MYTH_EFORMAT, "above 0");
    expect_refused("n2", "{\"r\": 3, \"lora_alpha\": 1e300}", NULL, MYTH_EFORMAT, "too large");
    expect_refused("n3", "{\"r\": 3, \"lora_alpha\": 3, \"use_rslora\": \"yes\"}", NULL, MYTH_EFORMAT, "use_rslora");
    expect_refused("n4", "{\"r\": 3, \"lora_alpha\": 3} {\"r\": 4}", NULL, MYTH_EFORMAT, "adapter_config.json");
    expect_refused("r6", "[", NULL, MYTH_EFORMAT, "adapter_config.json");
    header half = {"", 0, 0};
    add(&half, Q ".lora_A.weight", RANK, q->dim[1]);
    expect_refused("r7", good, &half, MYTH_EFORMAT, "half of the pair");
    header wide = {"", 0, 0};
    add(&wide, Q ".lora_A.weight", RANK, q->dim[1] + 1);
    add(&wide, Q ".lora_B.weight", q->dim[0], RANK);
    expect_refused("r8", good, &wide, MYTH_EFORMAT, "for a matrix of");
    header other = {"", 0, 0};
    add(&other, Q ".lora_A.weight", RANK, q->dim[1]);
    add(&other, Q ".lora_B.weight", q->dim[0], RANK);
    add(&other, "base_model.model.model.layers.77.self_attn.q_proj.lora_A.weight", RANK, q->dim[1]);
    expect_refused("r9", good, &other, MYTH_EFORMAT, "layers.77");
    header none = {"", 0, 0};
    add(&none, "base_model.model.vision_tower.layers.0.self_attn.q_proj.lora_A.weight", RANK, q->dim[1]);
    expect_refused("r10", good, &none, MYTH_EFORMAT, "it has no pair");
    myth_lora *lora = NULL;
    assert_int_equal(myth_lora_open(&lora, &base, files_path("plain.gguf"), 1.0f, &err), MYTH_EFORMAT);
    assert_non_null(strstr(err.msg, "no adapter"));
    assert_int_equal(myth_lora_open(&lora, &base, files_path("nothing"), 1.0f, &err), MYTH_ENOTFOUND);
}

/* Adapters of other kinds have the same tensors as a plain one. */
static void other_kinds_are_refused(void **state)
{
    (void)state;
#define PLAIN "{\"r\": 3, \"lora_alpha\": 3, "
    static const char *const as_plain[] = {"true", "false", "null", "\"gaussian\"", "\"eva\"", "\"loftq\""};
    static const struct {
        const char *config, *says;
    } other[] = {
        {PLAIN "\"init_lora_weights\": \"pissa\"}", "path_initial_model_for_weight_conversion"},
        {PLAIN "\"init_lora_weights\": \"pissa_niter_16\"}", "init_lora_weights pissa_niter_16"},
        {PLAIN "\"init_lora_weights\": \"olora\"}", "init_lora_weights olora"},
        {PLAIN "\"peft_type\": \"VERA\"}", "peft_type VERA"},
        {PLAIN "\"use_qalora\": true}", "use_qalora"},
        {PLAIN "\"alora_invocation_tokens\": [5]}", "alora_invocation_tokens"},
    };
    for (size_t i = 0; i < sizeof(as_plain) / sizeof(as_plain[0]); i++) {
        char config[256], folder[16];
        myth_lora *lora = NULL;
        snprintf(folder, sizeof(folder), "as%zu", i);
        snprintf(config, sizeof(config), PLAIN "\"peft_type\": \"LORA\", \"init_lora_weights\": %s}", as_plain[i]);
        make_peft(folder, config);
        if (myth_lora_open(&lora, &base, files_path(folder), 1.0f, &err) != MYTH_OK)
            fail_msg("%s: %s", as_plain[i], err.msg);
        myth_lora_close(lora);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        char folder[16];
        snprintf(folder, sizeof(folder), "other%zu", i);
        expect_refused(folder, other[i].config, NULL, MYTH_EUNSUPPORTED, other[i].says);
    }
#undef PLAIN
}

static void an_activated_adapter_is_refused(void **state)
{
    (void)state;
    myth_gguf_writer *g = NULL;
    myth_lora *lora = NULL;
    const myth_tensor *q = matrix(&base, "blk.0.attn_q.weight");
    const uint64_t dim[2][2] = {{RANK, q->dim[1]}, {q->dim[0], RANK}};
    assert_int_equal(myth_gguf_open(&g, mem, files_path("alora.gguf"), 2, &err), MYTH_OK);
    myth_gguf_put_str(g, "general.type", (myth_str){"adapter", 7});
    myth_gguf_put_str(g, "adapter.type", (myth_str){"lora", 4});
    myth_gguf_put_str(g, "adapter.alora.invocation_tokens", (myth_str){"5", 1});
    for (int i = 0; i < 2; i++)
        myth_gguf_declare(g, (myth_str){i ? "blk.0.attn_q.weight.lora_b" : "blk.0.attn_q.weight.lora_a", 26}, MYTH_F32,
                          2, dim[i]);
    for (uint64_t i = 0; i < RANK * (q->dim[0] + q->dim[1]); i++) {
        const float v = value(i);
        myth_gguf_data(g, &v, sizeof(v));
    }
    assert_int_equal(myth_gguf_close(g, true, &err), MYTH_OK);
    assert_int_equal(myth_lora_open(&lora, &base, files_path("alora.gguf"), 1.0f, &err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "adapter.alora.invocation_tokens"));
}

static void pickled_tensors_are_named(void **state)
{
    (void)state;
    myth_lora *lora = NULL;
    files_mkdir("pickled");
    files_text("pickled/adapter_config.json", "{\"r\": 3, \"lora_alpha\": 3}");
    files_text("pickled/adapter_model.bin", "PK\3\4");
    assert_int_equal(myth_lora_open(&lora, &base, files_path("pickled"), 1.0f, &err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "safe_serialization=True"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peft_is_added),
        cmocka_unit_test(gguf_is_added),
        cmocka_unit_test(patterns_of_single_modules_count),
        cmocka_unit_test(what_is_more_or_less_is_refused),
        cmocka_unit_test(other_kinds_are_refused),
        cmocka_unit_test(an_activated_adapter_is_refused),
        cmocka_unit_test(pickled_tensors_are_named),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
