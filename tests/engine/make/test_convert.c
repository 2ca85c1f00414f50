/* test_convert.c - files that convert.c writes are read again, in every type; it writes the keys that a reader would
 * infer wrongly; a failure leaves no file. */
#include "tests/support/files.h"

#include "engine/base/map.h"
#include "engine/base/text.h"
#include "engine/make/convert.h"
#include "engine/make/gguf_write.h"
#include "engine/model/family.h"
#include "engine/make/quant.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const sources[] = {
    "tests/golden/models/gemma1-mqa",        "tests/golden/models/gemma2-old",
    "tests/golden/models/gemma2-nocap",      "tests/golden/models/gemma2-scale",
    "tests/golden/models/gemma3-sharded",    "tests/golden/models/gemma3-mm",
    "tests/golden/models/gemma3-layers",     "tests/golden/models/gemma3-local",
    "tests/golden/models/gemma3-linear-new", "tests/golden/models/gemma4-unified",
    "tests/golden/models/gemma4-dense-new",  "tests/golden/models/gemma4-e",
    "tests/golden/models/gemma4-e-new",      "tests/golden/models/gemma4-shared",
    "tests/golden/models/gemma4-moe",        "random:gemma4-e-tiny:f16",
    "random:gemma4-moe-tiny:q8_0",           "tests/golden/models/gemma3n",
    "tests/golden/models/gemma3n-old",       "random:gemma3n-tiny:f16",
};

static myth_mem *new_mem(void)
{
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    return mem;
}

static void open_model(myth_model *m, myth_mem *mem, const char *spec)
{
    myth_error err = {0};
    char path[1024];
    if (strncmp(spec, "tests/", 6) == 0)
        spec = check_path(path, sizeof(path), spec);
    if (myth_model_open(m, mem, spec, NULL, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

/* How many unfinished files of this name are in the folder. */
static int n_unfinished(const char *name)
{
    int n = 0;
    DIR *d = opendir(files_dir());
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += strncmp(e->d_name, name, strlen(name)) == 0 && myth_text_ends(e->d_name, ".tmp");
    closedir(d);
    return n;
}

/* Converts m to out.gguf; the ledger must agree with what was said before. */
static void convert(const myth_model *m, myth_dtype type, const myth_convert_kv *kv, uint32_t n_kv)
{
    myth_error err = {0};
    myth_convert_opts opts = {.path = files_path("out.gguf"), .type = type, .kv = kv, .n_kv = n_kv};
    myth_mem_reset_peak(m->mem);
    const uint64_t before = myth_mem_get(m->mem, 0, MYTH_MEM_STAGING).live;
    if (myth_convert(m, &opts, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(myth_mem_get(m->mem, 0, MYTH_MEM_STAGING).peak, before + myth_convert_bytes(m));
    assert_int_equal(myth_mem_get(m->mem, 0, MYTH_MEM_STAGING).live, before);
    assert_int_equal(n_unfinished("out.gguf"), 0);
}

static void check_config(const myth_config *a, const myth_config *b)
{
    static myth_config x;
    x = *a;
    x.norm_plus_one = false;        /* added */
    x.n_vocab = b->n_vocab;         /* may be cut */
    x.embed_scale = b->embed_scale; /* not rounded any more */
    x.is_rounded = false;
    assert_true(a->embed_scale / b->embed_scale > 0.99f && a->embed_scale / b->embed_scale < 1.01f);
    assert_memory_equal(&x, b, sizeof(x));
}

static void stem(char dst[128], const char *head, int layer, const char *name)
{
    if (layer < 0)
        snprintf(dst, 128, "%s", name);
    else
        snprintf(dst, 128, "%s.%d.%s", head, layer, name);
}

/* What the mix named after the type makes of a tensor (against llama-quantize: test_mix.c). */
static myth_dtype type_of(const myth_config *c, myth_dtype type, const char *name, uint32_t layer,
                          const myth_slot_src *s)
{
    const myth_mix_file file = {
        .n_layer = c->n_layer,
        .n_value = c->n_layer,
        .n_group = c->n_head / c->layer[0].n_head_kv,
    };
    return myth_mix_type(myth_mix_of(type), &file, &(myth_mix_tensor){name, 2, s->cols, s->t->dtype, layer, layer});
}

static void values_of(const myth_model *m, const myth_slot_src *s, float *value, uint64_t n)
{
    if (s->data) {
        myth_dequant_row(s->t->dtype, value, s->data, n);
        return;
    }
    unsigned char *made = malloc(n * 4);
    assert_int_equal(myth_weights_random_fill(m->weights, s->t, s->first, n, made, NULL), MYTH_OK);
    myth_dequant_row(s->t->dtype, value, made, n);
    free(made);
}

/* Slot by slot: the new file holds what quantising (source + 1 for norms) gives, in the type that the slot is kept in.
 */
static void check_tensors(const myth_model *a, const myth_model *b, myth_dtype type)
{
    uint32_t n = 0;
    for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, &a->config);) {
        const myth_slot *s = it.slot;
        const myth_slot_src x = myth_slot_find(a->weights, &a->config, s, it.layer),
                            y = myth_slot_find(b->weights, &b->config, s, it.layer);
        const bool is_vector = s->cols == MYTH_DIM_ONE;
        if (!x.t) {
            assert_int_equal(s->when, MYTH_WHEN_GIVEN);
            continue;
        }
        assert_true(y.t && y.rows <= x.rows && x.cols == y.cols);
        n += !s->is_part || s->part == 0;
        const uint64_t count = y.rows * y.cols;
        char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX];
        myth_slot_names(hf, gguf, s, it.layer);
        const myth_dtype want =
            is_vector || myth_slot_is_f32(s) ? MYTH_F32 : type_of(&a->config, type, gguf, it.layer, &x);
        assert_int_equal(y.t->dtype, want);
        float *value = malloc(count * 4);
        unsigned char *made = malloc(count * 4);
        values_of(a, &x, value, count);
        for (uint64_t i = 0; is_vector && a->config.norm_plus_one && i < count; i++)
            value[i] += 1.0f;
        myth_quant_row(want, made, value, count);
        if (x.t->dtype == want && x.data && !is_vector)
            memcpy(made, x.data, y.bytes);
        assert_memory_equal(made, y.data, y.bytes);
        assert_int_equal((uintptr_t)y.t->data % 32, 0);
        free(value);
        free(made);
    }
    const myth_tensor *freqs = myth_config_rope_freqs(&b->config, b->weights);
    assert_int_equal(myth_weights_n_tensor(b->weights), n + (freqs != NULL));
    assert_true(!freqs == (a->config.family != MYTH_FAMILY_GEMMA4));
    for (uint64_t i = 0; freqs && i < freqs->dim[0]; i++)
        assert_true(((const float *)freqs->data)[i] == (i < a->config.rope_pairs_global ? 1.0f : 1e30f));
}

static void test_all_types(void **state)
{
    (void)state;
    static const myth_dtype types[] = {MYTH_F32, MYTH_F16, MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0};
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        for (int t = 0; t < 5; t++) {
            myth_mem *mem = new_mem();
            myth_model a, b;
            open_model(&a, mem, sources[i]);
            convert(&a, types[t], NULL, 0);
            open_model(&b, mem, files_path("out.gguf"));
            assert_int_equal(myth_weights_get_format(b.weights), MYTH_FORMAT_GGUF);
            check_config(&a.config, &b.config);
            check_tensors(&a, &b, types[t]);
            myth_model_close(&a);
            myth_model_close(&b);
            assert_int_equal(myth_mem_close(mem), 0);
        }
    }
}

/* From GGUF the facts are copied, so a second conversion to the same type is the same file. */
static void test_twice(void **state)
{
    (void)state;
    static const myth_convert_kv kv[] = {
        {"mythos.prompt", "compact", 0},
        {"mythos.prompt_hash", "0123abcd", 0},
        {"mythos.trained_tokens", NULL, 12345},
        {"general.name", "a name", 0},
    };
    myth_mem *mem = new_mem();
    myth_model a, b, c;
    myth_str s;
    uint32_t u;
    open_model(&a, mem, "random:gemma3-tiny:f32");
    convert(&a, MYTH_BF16, kv, 4);
    assert_int_equal(rename(files_path("out.gguf"), files_path("one.gguf")), 0);
    open_model(&b, mem, files_path("one.gguf"));
    check_config(&a.config, &b.config);
    check_tensors(&a, &b, MYTH_BF16);
    const myth_meta *m = myth_weights_meta(b.weights);
    assert_true(myth_meta_str(&s, m, "mythos.prompt") && myth_str_is(s, "compact"));
    assert_true(myth_meta_str(&s, m, "general.name") && myth_str_is(s, "a name"));
    assert_true(myth_meta_u32(&u, m, "mythos.trained_tokens") && u == 12345);
    assert_true(myth_meta_u32(&u, m, "general.file_type") && u == 32);
    assert_non_null(b.tokenizer);
    assert_int_equal(myth_tokenizer_n_vocab(b.tokenizer), myth_tokenizer_n_vocab(a.tokenizer));

    convert(&b, MYTH_BF16, NULL, 0);
    open_model(&c, mem, files_path("out.gguf"));
    check_tensors(&b, &c, MYTH_BF16);
    assert_int_equal(myth_meta_count(m), myth_meta_count(myth_weights_meta(c.weights)));
    for (uint32_t i = 0; i < myth_meta_count(m); i++) {
        const myth_meta_value *x = myth_meta_at(m, i);
        char key[256];
        snprintf(key, sizeof(key), "%.*s", (int)x->key.len, x->key.text);
        const myth_meta_value *y = myth_meta_find(myth_weights_meta(c.weights), key);
        assert_true(y && x->type == y->type && x->raw_type == y->raw_type && x->count == y->count &&
                    x->raw_bytes == y->raw_bytes);
        if (x->raw)
            assert_memory_equal(x->raw, y->raw, x->raw_bytes);
        else if (x->type == MYTH_META_STRING)
            assert_true(x->v.s.len == y->v.s.len && memcmp(x->v.s.text, y->v.s.text, x->v.s.len) == 0);
        else
            assert_memory_equal(&x->v, &y->v, x->type == MYTH_META_BOOL ? 1 : 8);
    }
    myth_model_close(&c);

    /* a fact of the caller's replaces the copied one */
    static const myth_convert_kv other = {"mythos.prompt", "full", 0};
    convert(&b, MYTH_Q4_0, &other, 1);
    open_model(&c, mem, files_path("out.gguf"));
    assert_true(myth_meta_str(&s, myth_weights_meta(c.weights), "mythos.prompt") && myth_str_is(s, "full"));
    check_tensors(&b, &c, MYTH_Q4_0);
    myth_model_close(&a);
    myth_model_close(&b);
    myth_model_close(&c);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* The tokenizer that is written gives the ids of the one that was read. */
static void test_tokenizer(void **state)
{
    (void)state;
    static const char *const specs[] = {"random:gemma3-tiny:q8_0", "random:gemma2-tiny:q8_0",
                                        "random:gemma1-tiny:q8_0"};
    static const char text[] = "int main(void)\n{\n\treturn  0; /* \xc3\xa9\xff <start_of_turn> <unused5> */\n}\n";
    for (int i = 0; i < 3; i++) {
        myth_mem *mem = new_mem();
        myth_model a, b;
        int32_t x[512], y[512];
        size_t nx, ny;
        open_model(&a, mem, specs[i]);
        convert(&a, MYTH_Q8_0, NULL, 0);
        open_model(&b, mem, files_path("out.gguf"));
        assert_non_null(b.tokenizer);
        for (uint32_t id = 0; id < myth_tokenizer_n_vocab(a.tokenizer); id++) {
            assert_int_equal(myth_tokenizer_type(a.tokenizer, (int32_t)id),
                             myth_tokenizer_type(b.tokenizer, (int32_t)id));
            char p[128], q[128];
            size_t n = myth_tokenizer_bytes_of(a.tokenizer, (int32_t)id, p, sizeof(p));
            assert_int_equal(myth_tokenizer_bytes_of(b.tokenizer, (int32_t)id, q, sizeof(q)), n);
            assert_memory_equal(p, q, n);
        }
        for (int entry = MYTH_TOK_CONTENT; entry <= MYTH_TOK_SPECIAL; entry++) {
            const myth_tok_entry e = (myth_tok_entry)entry;
            assert_int_equal(myth_tokenizer_encode(a.tokenizer, mem, e, text, sizeof(text) - 1, x, 512, &nx, NULL),
                             MYTH_OK);
            assert_int_equal(myth_tokenizer_encode(b.tokenizer, mem, e, text, sizeof(text) - 1, y, 512, &ny, NULL),
                             MYTH_OK);
            assert_int_equal(nx, ny);
            assert_memory_equal(x, y, nx * sizeof(*x));
        }
        myth_model_close(&a);
        myth_model_close(&b);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* What a reader infers without being told is not written; what it would infer wrongly is. */
static void test_inferred(void **state)
{
    (void)state;
    static const struct {
        const char *source, *key;
        bool is_there;
    } row[] = {
        {"tests/golden/models/gemma1-mqa", "gemma.attention.scale", false},
        {"tests/golden/models/gemma2-scale", "gemma2.attention.scale", true},
        {"tests/golden/models/gemma3-layers", "gemma3.attention.sliding_window_pattern", true},
        {"random:gemma3-tiny:f32", "gemma3.attention.sliding_window_pattern", false},
        {"random:gemma3-tiny:f32", "gemma3.attention.scale", false},
        {"random:gemma3-tiny:f32", "gemma3.rope.scaling.factor", true},
        {"random:gemma2-tiny:f32", "gemma2.rope.scaling.factor", false},
        {"random:gemma2-tiny:f32", "gemma2.attn_logit_softcapping", true},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_mem *mem = new_mem();
        myth_model a, b;
        open_model(&a, mem, row[i].source);
        convert(&a, MYTH_F32, NULL, 0);
        open_model(&b, mem, files_path("out.gguf"));
        if (myth_meta_has(myth_weights_meta(b.weights), row[i].key) != row[i].is_there)
            fail_msg("%s: %s", row[i].source, row[i].key);
        myth_model_close(&a);
        myth_model_close(&b);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* ---- vocabulary and embedding of different sizes ---- */

static void copy_file(const char *to, const char *from)
{
    char path[1024];
    bytes b = {0};
    FILE *f = fopen(check_path(path, sizeof(path), from), "rb");
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        bytes_uint(&b, (uint64_t)c, 1);
    fclose(f);
    files_put(to, b.data, b.len);
    bytes_free(&b);
}

/* A folder v/ with a model of n_layer layers, `rows` rows and width d, and a tokenizer of 272 pieces. */
static void put_folder(myth_family_id family, uint32_t rows, uint32_t n_layer, uint32_t d, float (*value)(uint64_t i))
{
    static myth_config c;
    bytes head = {0}, data = {0}, file = {0};
    char line[256], config[512];
    c = (myth_config){
        .d_model = d,
        .n_head = 2,
        .n_vocab = rows,
        .layer[0] = {.n_head_kv = 1, .head_dim = 32, .d_ff = d},
    };
    if (access(files_path("v"), F_OK) != 0)
        files_mkdir("v");
    snprintf(
        config, sizeof(config),
        "{\"model_type\":\"%s\",\"vocab_size\":%u,\"hidden_size\":%u,\"intermediate_size\":%u,\"num_hidden_layers\":%u,"
        "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"head_dim\":32}",
        family == MYTH_FAMILY_GEMMA3 ? "gemma3_text" : "gemma2", rows, d, d, n_layer);
    files_text("v/config.json", config);
    copy_file("v/tokenizer.json", "tests/fuzz/corpus/tokenizer_json/seed-new");
    for (int layer = -1; layer < (int)n_layer; layer++) {
        const myth_slot *s = layer < 0 ? myth_slots_model : myth_family_get(family)->slots;
        for (; layer < 0 ? s < myth_slots_model + 2 : s->hf != NULL; s++) {
            uint64_t r = myth_slot_size(&c, 0, s->rows), k = myth_slot_size(&c, 0, s->cols);
            char name[128], shape[64];
            stem(name, "layers", layer, s->hf);
            snprintf(shape, sizeof(shape), s->cols == MYTH_DIM_ONE ? "%llu" : "%llu,%llu", (unsigned long long)r,
                     (unsigned long long)k);
            snprintf(line, sizeof(line), "%s\"model.%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                     head.len ? "," : "{", name, shape, data.len, data.len + (size_t)(r * k * 4));
            bytes_text(&head, line);
            for (uint64_t i = 0; i < r * k; i++) {
                float f = value(i);
                bytes_put(&data, &f, 4);
            }
        }
    }
    bytes_text(&head, "}");
    while (head.len % 8)
        bytes_text(&head, " ");
    bytes_uint(&file, head.len, 8);
    bytes_put(&file, head.data, head.len);
    bytes_put(&file, data.data, data.len);
    files_put("v/model.safetensors", file.data, file.len);
    bytes_free(&head), bytes_free(&data), bytes_free(&file);
}

static float count_up(uint64_t i) { return (float)i; }

/* About normal, another one at each place. */
static float random_value(uint64_t i)
{
    uint64_t s = i;
    float v = -2.0f;
    for (int k = 0; k < 4; k++)
        v += check_unit(&s);
    return 0.1f * v;
}

/* Searched types and mixes of them, from safetensors and from GGUF: 256 columns, but those of attn_output. */
static void test_mixes(void **state)
{
    (void)state;
    static const myth_dtype kind[] = {MYTH_Q4_1, MYTH_Q5_0, MYTH_Q5_1, MYTH_Q2_K,   MYTH_Q3_K,
                                      MYTH_Q4_K, MYTH_Q5_K, MYTH_Q6_K, MYTH_IQ4_NL, MYTH_IQ4_XS};
    put_folder(MYTH_FAMILY_GEMMA3, 272, 3, 256, random_value);
    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
        myth_mem *mem = new_mem();
        myth_model a, b, c;
        uint32_t file_type;
        open_model(&a, mem, files_path("v"));
        convert(&a, kind[i], NULL, 0);
        open_model(&b, mem, files_path("out.gguf"));
        check_tensors(&a, &b, kind[i]);
        assert_true(myth_meta_u32(&file_type, myth_weights_meta(b.weights), "general.file_type"));
        assert_int_equal(file_type, myth_mix_of(kind[i])->file_type);
        assert_true(myth_meta_has(myth_weights_meta(b.weights), "general.quantization_version"));
        if (i == 0) { /* and a file of that type as the source of another */
            assert_int_equal(rename(files_path("out.gguf"), files_path("first.gguf")), 0);
            myth_model_close(&b);
            open_model(&b, mem, files_path("first.gguf"));
            convert(&b, MYTH_F32, NULL, 0);
            open_model(&c, mem, files_path("out.gguf"));
            check_tensors(&b, &c, MYTH_F32);
            myth_model_close(&c);
        }
        myth_model_close(&a);
        myth_model_close(&b);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* The same bytes for any number of threads. */
static void test_threads(void **state)
{
    (void)state;
    myth_mem *mem = new_mem();
    myth_model a;
    unsigned char *one = NULL;
    size_t n_one = 0;
    put_folder(MYTH_FAMILY_GEMMA3, 272, 1, 256, random_value);
    open_model(&a, mem, files_path("v"));
    for (uint32_t n = 1; n <= 64; n = n * 3 + 1) {
        unsigned char *data;
        size_t len;
        myth_error err = {0};
        if (myth_convert(&a, &(myth_convert_opts){.path = files_path("t.gguf"), .type = MYTH_Q4_K, .n_threads = n},
                         &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        assert_int_equal(myth_file_read(&data, &len, mem, files_path("t.gguf"), 1 << 26, NULL), MYTH_OK);
        if (one) {
            assert_int_equal(len, n_one);
            assert_memory_equal(one, data, len);
            myth_free(mem, data);
        } else {
            one = data;
            n_one = len;
        }
    }
    myth_free(mem, one);
    myth_model_close(&a);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Gemma 3 is cut to the tokenizer, other families get pieces that no text becomes; a larger tokenizer is cut to the
 * embedding. */
static void test_vocabulary(void **state)
{
    (void)state;
    static const struct {
        myth_family_id family;
        uint32_t rows, rows_after;
    } row[] = {
        {MYTH_FAMILY_GEMMA3, 300, 272},
        {MYTH_FAMILY_GEMMA2, 300, 300},
        {MYTH_FAMILY_GEMMA3, 272, 272},
        {MYTH_FAMILY_GEMMA3, 270, 270},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_mem *mem = new_mem();
        myth_model a, b;
        put_folder(row[i].family, row[i].rows, 1, 32, count_up);
        open_model(&a, mem, files_path("v"));
        assert_int_equal(myth_tokenizer_n_vocab(a.tokenizer), 272);
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_WEIGHTS_MAPPED).peak, /* what the plan says */
                         myth_weights_mapped(a.weights) + myth_tokenizer_file_bytes(a.tokenizer));
        convert(&a, MYTH_F32, NULL, 0);
        open_model(&b, mem, files_path("out.gguf"));
        assert_int_equal(b.config.n_vocab, row[i].rows_after);
        assert_int_equal(myth_tokenizer_n_vocab(b.tokenizer), row[i].rows_after);
        check_tensors(&a, &b, MYTH_F32);
        for (uint32_t id = 0; id < row[i].rows_after; id++) {
            myth_piece_type type = myth_tokenizer_type(b.tokenizer, (int32_t)id);
            assert_int_equal(type, id < 272 ? myth_tokenizer_type(a.tokenizer, (int32_t)id) : MYTH_PIECE_UNUSED);
        }
        myth_model_close(&a);
        myth_model_close(&b);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* What ends a text by the source's files ends it by the new file's, too; marks known by name leave their keys to it. */
static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t eos, eot, eom; /* facts of the new file; -1 = absent */
        myth_status status;
    } row[] = {
        {"{}", 1, -1, -1, MYTH_OK}, /* this vocabulary has no end of turn */
        {"{\"eos_token_id\":1}", 1, -1, -1, MYTH_OK},
        {"{\"eos_token_id\":14}", 14, -1, -1, MYTH_OK},
        {"{\"eos_token_id\":[1,14]}", 1, 14, -1, MYTH_OK},
        {"{\"eos_token_id\":[14,1,15]}", 1, 14, 15, MYTH_OK},
        {"{\"eos_token_id\":[1,14,15,16]}", 0, 0, 0, MYTH_EUNSUPPORTED},
    };
    static const char *const key[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                      "tokenizer.ggml.eom_token_id"};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const int64_t want[] = {row[i].eos, row[i].eot, row[i].eom};
        int32_t x[MYTH_CHAT_STOP_MAX], y[MYTH_CHAT_STOP_MAX];
        myth_mem *mem = new_mem();
        myth_model a, b;
        myth_error err = {0};
        put_folder(MYTH_FAMILY_GEMMA3, 272, 1, 32, count_up);
        files_text("v/generation_config.json", row[i].json);
        open_model(&a, mem, files_path("v"));
        const myth_convert_opts opts = {.path = files_path("ends.gguf"), .type = MYTH_F32};
        assert_int_equal(myth_convert(&a, &opts, &err), row[i].status);
        const int n = myth_chat_stop_ids(a.tokenizer, x);
        if (row[i].status == MYTH_OK) {
            open_model(&b, mem, files_path("ends.gguf"));
            for (int k = 0; k < 3; k++) {
                uint32_t id = 0;
                assert_int_equal(myth_meta_u32(&id, myth_weights_meta(b.weights), key[k]), want[k] >= 0);
                assert_true(want[k] < 0 || id == want[k]);
            }
            assert_int_equal(myth_chat_stop_ids(b.tokenizer, y), n);
            assert_memory_equal(x, y, (size_t)n * sizeof(*x));
            myth_model_close(&b);
        }
        myth_model_close(&a);
        assert_int_equal(myth_mem_close(mem), 0);
    }
    unlink(files_path("v/generation_config.json"));
}

/* ---- failures ---- */

static void expect_failure(const myth_model *m, const char *path, const myth_cancel *cancel, myth_status wanted)
{
    myth_error err = {0};
    myth_convert_opts opts = {.path = path, .type = MYTH_Q8_0, .cancel = cancel};
    const uint64_t before = myth_mem_get(m->mem, 0, MYTH_MEM_STAGING).live;
    myth_status st = myth_convert(m, &opts, &err);
    if (st != wanted)
        fail_msg("%s: got %s (%s), expected %s", path, myth_status_name(st), err.msg, myth_status_name(wanted));
    assert_true(err.msg[0] != 0);
    assert_int_equal(n_unfinished(strrchr(path, '/') + 1), 0);
    assert_int_equal(myth_mem_get(m->mem, 0, MYTH_MEM_STAGING).live, before);
}

static void test_failures(void **state)
{
    (void)state;
    myth_mem *mem = new_mem();
    myth_model m;
    myth_cancel cancel = 1;
    struct stat info;
    open_model(&m, mem, "random:gemma3-tiny:f32");
    expect_failure(&m, files_path("no/such/folder/x.gguf"), NULL, MYTH_ECREATE);
    files_mkdir("dir.gguf");
    expect_failure(&m, files_path("dir.gguf"), NULL, MYTH_ECREATE);
    files_text("old.gguf", "old");
    expect_failure(&m, files_path("old.gguf"), &cancel, MYTH_ECANCEL);
    assert_int_equal(stat(files_path("old.gguf"), &info), 0);
    assert_int_equal(info.st_size, 3); /* a failed conversion leaves the old file alone */
    for (uint64_t nth = 1;; nth++) {
        myth_error err = {0};
        myth_convert_opts opts = {.path = files_path("old.gguf"), .type = MYTH_Q8_0};
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = myth_convert(&m, &opts, &err);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK)
            break;
        assert_int_equal(st, MYTH_ENOMEM);
        assert_int_equal(stat(files_path("old.gguf"), &info), 0);
        assert_int_equal(info.st_size, 3);
        assert_true(nth < 50);
    }
    struct rlimit was, few;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    few = (struct rlimit){.rlim_cur = 20000, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0); /* a write in the middle fails */
    expect_failure(&m, files_path("full.gguf"), NULL, MYTH_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_not_equal(access(files_path("full.gguf"), F_OK), 0);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A model that GGUF cannot describe is not written. */
static void test_no_key(void **state)
{
    (void)state;
    myth_mem *mem = new_mem();
    myth_model m = {0};
    myth_error err = {0};
    myth_convert_opts opts = {.path = files_path("none.gguf"), .type = MYTH_F32};
    open_model(&m, mem, "tests/golden/models/gemma3n-two");
    assert_int_equal(myth_convert(&m, &opts, &err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "altup_correct_scale"));
    assert_int_not_equal(access(opts.path, F_OK), 0);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A value that is not finite must not vanish into blocks, nor one that the type cannot hold become infinity. */
static void test_values_that_cannot_be_held(void **state)
{
    (void)state;
    static const struct {
        float value; /* of the first matrix, in the source */
        myth_dtype type;
        myth_status status;
    } row[] = {
        {NAN, MYTH_Q8_0, MYTH_EFORMAT},
        {NAN, MYTH_Q4_K, MYTH_EFORMAT},
        {NAN, MYTH_MXFP4, MYTH_EFORMAT},
        {INFINITY, MYTH_BF16, MYTH_EFORMAT},
        {INFINITY, MYTH_F32, MYTH_EFORMAT},
        {3e5f, MYTH_F16, MYTH_EUNSUPPORTED},
        {1e9f, MYTH_Q8_0, MYTH_EUNSUPPORTED},
        {1e9f, MYTH_Q4_0, MYTH_EUNSUPPORTED},
        {1e9f, MYTH_IQ4_NL, MYTH_EUNSUPPORTED},
        {1e9f, MYTH_Q2_K, MYTH_EUNSUPPORTED},
        {1e9f, MYTH_BF16, MYTH_OK},
        {3e5f, MYTH_Q8_0, MYTH_OK},
    };
    myth_mem *mem = new_mem();
    myth_model m = {0};
    myth_error err = {0};
    myth_convert_opts opts = {.path = files_path("finite.gguf"), .type = MYTH_F32};
    open_model(&m, mem, "random:gemma2-tiny:f32");
    assert_int_equal(myth_convert(&m, &opts, &err), MYTH_OK);
    myth_model_close(&m);
    open_model(&m, mem, opts.path);
    const myth_tensor *t = myth_weights_find(m.weights, "blk.0.ffn_up.weight");
    assert_non_null(t);
    const uint64_t off = t->off;
    myth_model_close(&m);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        FILE *f = fopen(files_path("finite.gguf"), "r+b");
        assert_non_null(f);
        assert_int_equal(fseek(f, (long)off, SEEK_SET), 0);
        assert_int_equal(fwrite(&row[i].value, sizeof row[i].value, 1, f), 1);
        fclose(f);
        open_model(&m, mem, files_path("finite.gguf"));
        opts = (myth_convert_opts){.path = files_path("held.gguf"), .type = row[i].type};
        err = (myth_error){0};
        assert_int_equal(myth_convert(&m, &opts, &err), row[i].status);
        assert_true(row[i].status == MYTH_OK || strstr(err.msg, "blk.0.ffn_up.weight"));
        assert_int_equal(access(opts.path, F_OK) == 0, row[i].status == MYTH_OK);
        unlink(opts.path);
        myth_model_close(&m);
    }
    const myth_weights_opts header = {.level = MYTH_WEIGHTS_HEADER};
    assert_int_equal(myth_model_open(&m, mem, files_path("finite.gguf"), &header, &err), MYTH_OK);
    assert_int_equal(myth_convert(&m, &opts, &err), MYTH_EARG);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_types),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_tokenizer),
        cmocka_unit_test(test_inferred),
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_mixes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_key),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_values_that_cannot_be_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
