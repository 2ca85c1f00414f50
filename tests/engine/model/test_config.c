/* test_config.c - config.json: both spellings of keys, defaults of the model's class, and values that are refused. */
#include "tests/support/files.h"

#include "engine/model/config.h"

#include <math.h>

static int n_refused;

static myth_status read_text(const char *text, myth_config *out, myth_error *err)
{
    myth_mem *mem;
    myth_weights *w = NULL;
    files_text("m/config.json", text);
    assert_int_equal(myth_mem_open(&mem, 64u << 20, err), MYTH_OK);
    myth_status st =
        myth_weights_open(&w, mem, files_path("m"), &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, err);
    if (st == MYTH_OK)
        st = myth_config_read(out, w, err);
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
    return st;
}

static const myth_config *read_good(const char *text)
{
    static myth_config c;
    myth_error err = {0};
    if (read_text(text, &c, &err) != MYTH_OK)
        fail_msg("%s: %s", text, err.msg);
    return &c;
}

/* ---- read as transformers reads them ---- */

static void refuse(myth_status wanted, const char *text);
static void refuse_key(myth_status wanted, const char *key_value);

static void test_defaults(void **state)
{
    (void)state;
    const myth_config *c = read_good("{\"model_type\":\"gemma\"}");
    assert_int_equal(c->family, MYTH_FAMILY_GEMMA1);
    assert_int_equal(c->n_layer, 28);
    assert_int_equal(c->d_model, 3072);
    assert_int_equal(c->layer[27].n_head_kv, 16);
    assert_true(c->layer[0].is_global && c->layer[27].is_global && c->window == 0);
    assert_true(c->attn_scale == 0.0625f && c->norm_plus_one && !c->has_post_norm && !c->has_qk_norm);

    c = read_good("{\"architectures\":[\"Gemma2ForCausalLM\"]}");
    assert_int_equal(c->family, MYTH_FAMILY_GEMMA2);
    assert_int_equal(c->window, 4096);
    assert_true(!c->layer[0].is_global && c->layer[1].is_global && c->layer[25].is_global);
    assert_true(c->attn_softcap == 50 && c->final_softcap == 30 && c->has_post_norm);
    assert_true(c->rope_base_global == 1e4 && c->rope_base_local == 1e4);

    c = read_good("{\"model_type\":\"gemma3\",\"text_config\":{}}");
    assert_int_equal(c->family, MYTH_FAMILY_GEMMA3);
    assert_int_equal(c->n_vocab, 262208);
    assert_int_equal(c->n_ctx_train, 131072);
    assert_true(!c->layer[4].is_global && c->layer[5].is_global && !c->layer[25].is_global);
    assert_true(c->attn_softcap == 0 && c->final_softcap == 0 && c->has_qk_norm);
    assert_true(c->rope_base_global == 1e6 && c->rope_base_local == 1e4 && c->rope_factor_global == 1);
}

static void same(const myth_config *a, const char *text)
{
    const myth_config keep = *a;
    const myth_config *b = read_good(text);
    assert_memory_equal(&keep, b, sizeof(keep));
}

/* Gemma 4: heads of two widths in the old and the new spelling, what is shared, what has no values of its own. */
static void test_gemma4(void **state)
{
    (void)state;
#define HEAD                                                                                                           \
    "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":12,\"hidden_size_per_layer_input\":0,\"attention_k_eq_v\":" \
    "true,"
    const myth_config *c = read_good(HEAD "\"global_head_dim\":64,\"num_global_key_value_heads\":2}");
    assert_int_equal(c->family, MYTH_FAMILY_GEMMA4);
    assert_true(c->layer[5].is_global && c->layer[5].head_dim == 64 && c->layer[5].n_head_kv == 2 &&
                c->layer[5].k_is_v);
    assert_true(!c->layer[6].is_global && c->layer[6].head_dim == 256 && c->layer[6].n_head_kv == 4 &&
                !c->layer[6].k_is_v);
    assert_true(c->rope_pairs_global == 8 && c->head_dim_global == 64 && c->head_dim_local == 256 && c->max_q == 2048 &&
                c->max_kv == 1024);
    assert_true(c->has_v_norm && c->has_qk_norm && !c->norm_plus_one && c->attn_scale == 1 && c->n_ple == 0 &&
                c->first_shared == 12);
    same(c, HEAD "\"per_layer_config\":{\"05\":{\"head_dim\":64,\"num_key_value_heads\":2},\"11\":{\"num_key_value_"
                 "heads\":2,\"head_dim\":64}}}");
    same(c, HEAD "\"per_layer_config\":{\"5\":{\"head_dim\":64,\"num_key_value_heads\":2},\"11\":{\"num_key_value_"
                 "heads\":2,\"head_dim\":64}},"
                 "\"global_head_dim\":32}");
    c = read_good(HEAD "\"per_layer_config\":{}}");
    assert_true(c->layer[5].head_dim == 256 && c->layer[5].n_head_kv == 4);
#undef HEAD
    c = read_good(
        "{\"model_type\":\"gemma4\",\"text_config\":{\"num_kv_shared_layers\":18,\"use_double_wide_mlp\":true}}");
    assert_true(c->layer[5].head_dim == 512 && c->layer[5].n_head_kv == 4 && c->rope_pairs_global == 64 &&
                c->n_ple == 256 && c->n_ple_vocab == 262144);
    assert_true(c->first_shared == 12 && c->layer[29].kv_source == 11 && c->layer[28].kv_source == 10 &&
                c->layer[11].kv_source == 11);
    assert_true(c->layer[11].kv_last == 29 && c->layer[10].kv_last == 28 && c->layer[9].kv_last == 9);
    assert_true(c->layer[11].d_ff == 9216 && c->layer[12].d_ff == 18432 && c->window == 512);
    c = read_good("{\"model_type\":\"gemma4_unified_text\",\"num_hidden_layers\":4,\"layer_types\":[\"full_attention\","
                  "\"sliding_attention\","
                  "\"sliding_attention\",\"sliding_attention\"]}");
    assert_true(c->window == 1024 && c->n_ctx_train == 262144 && c->n_ple == 0 && c->layer[3].is_global &&
                !c->layer[2].is_global);
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma4_text\",\"num_kv_shared_layers\":30}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma4_text\",\"num_kv_shared_layers\":26}"); /* no global layer to read */
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma4_text\",\"enable_moe_block\":true}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma4_text\",\"enable_moe_block\":true,\"num_experts\":8,\"top_k_"
                         "experts\":9,\"moe_intermediate_size\":8}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma4_text\",\"per_layer_config\":{\"03\":{\"head_dim\":0}}}");
    refuse(MYTH_EUNSUPPORTED,
           /* one local layer of many */
           "{\"model_type\":\"gemma4_text\",\"per_layer_config\":{\"03\":{\"head_dim\":64}}}");
    refuse(MYTH_EUNSUPPORTED, "{\"model_type\":\"gemma4_text\",\"use_bidirectional_attention\":\"all\"}");
}

static void test_spellings(void **state)
{
    (void)state;
    const myth_config *c =
        read_good("{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":6,\"rope_theta\":1e6,"
                  "\"rope_local_base_freq\":10000.0,"
                  "\"rope_scaling\":{\"factor\":8.0,\"rope_type\":\"linear\"},\"sliding_window_pattern\":3}");
    assert_true(c->rope_factor_global == 8 && c->rope_factor_local == 1 && c->layer[2].is_global &&
                c->layer[5].is_global && !c->layer[3].is_global);
    same(c, "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":6,\"rope_parameters\":{"
            "\"full_attention\":{\"factor\":8.0,\"rope_type\":\"linear\",\"rope_theta\":1000000},"
            "\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":10000}},"
            "\"layer_types\":[\"sliding_attention\",\"sliding_attention\",\"full_attention\",\"sliding_attention\","
            "\"sliding_attention\","
            "\"full_attention\"],\"_sliding_window_pattern\":6}");
    same(c, "{\"model_type\":\"gemma3\",\"vision_config\":{\"model_type\":\"siglip\",\"hidden_size\":7},\"text_"
            "config\":{\"model_type\":"
            "\"gemma3_text\",\"num_hidden_layers\":6,\"rope_scaling\":{\"type\":\"linear\",\"factor\":8},\"sliding_"
            "window_pattern\":3}}");

    c = read_good("{\"model_type\":\"gemma2\",\"rope_theta\":12345.0}");
    same(c, "{\"model_type\":\"gemma2\",\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":12345}}");
    c = read_good("{\"model_type\":\"gemma2\",\"attn_logit_softcapping\":null,\"final_logit_softcapping\":null}");
    assert_true(c->attn_softcap == 0 && c->final_softcap == 0);
    c = read_good("{\"model_type\":\"gemma3_text\",\"attn_logit_softcapping\":50.0,\"query_pre_attn_scalar\":168}");
    assert_true(c->attn_softcap == 0 && fabsf(c->attn_scale - 0.0771517f) < 1e-6f);
    c = read_good(
        "{\"model_type\":\"gemma\",\"hidden_act\":\"gelu\",\"hidden_activation\":null,\"rope_scaling\":null}");
    assert_true(c->rope_factor_global == 1);
    c = read_good("{\"model_type\":\"gemma\",\"hidden_size\":2048,\"torch_dtype\":\"bfloat16\"}");
    assert_true(c->embed_scale == 45.25f);
    c = read_good("{\"model_type\":\"gemma\",\"hidden_size\":2048,\"dtype\":\"float32\"}");
    assert_true(c->embed_scale == sqrtf(2048));
}

/* ---- refused ---- */

static void refuse(myth_status wanted, const char *text)
{
    static myth_config c;
    myth_error err = {0};
    myth_status st = read_text(text, &c, &err);
    if (st != wanted)
        fail_msg("%.200s: got %s (%s), expected %s", text, myth_status_name(st), err.msg, myth_status_name(wanted));
    n_refused++;
}

/* One key, in a Gemma 3 that is fine without it. */
static void refuse_key(myth_status wanted, const char *key_value)
{
    char text[512];
    snprintf(text, sizeof(text), "{\"model_type\":\"gemma3_text\",%s}", key_value);
    refuse(wanted, text);
}

static void test_json(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "",
        " ",
        "[]",
        "1",
        "\"x\"",
        "{",
        "{\"model_type\":\"gemma\"",
        "{\"model_type\":\"gemma\"}}",
        "{\"model_type\":\"gemma\"} x",
        "\xef\xbb\xbf{\"model_type\":\"gemma\"}",
        "{\"model_type\":\"gemma\",}",
        "{'model_type':'gemma'}",
        "{\"model_type\":\"gem\xffma\"}",
        "{\"model_type\":\"gemma\",\"model_type\":\"gemma\"}",
        "{\"model_type\":\"gemma\",\"model\\u005ftype\":\"gemma\"}",
        "{\"model_type\":\"gemma\",\"a\":{},\"a\":{}}",
        "{\"model_type\":\"gemma\",\"a\":{\"b\":1,\"b\":2}}",
        "{\"model_type\":\"gemma\",\"a\":\"\\ud800\"}",
        "{\"model_type\":\"gemma\",\"a\":1e999}",
        "{\"model_type\":\"gemma\",\"a\":01}",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        refuse(MYTH_EFORMAT, broken[i]);
}

static void test_values(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\"num_hidden_layers\":0",
        "\"num_hidden_layers\":1000000",
        "\"num_hidden_layers\":-1",
        "\"num_hidden_layers\":1.5",
        "\"num_hidden_layers\":\"26\"",
        "\"hidden_size\":0",
        "\"hidden_size\":4294967296",
        "\"num_attention_heads\":0",
        "\"num_key_value_heads\":0",
        "\"num_key_value_heads\":3",
        "\"num_key_value_heads\":16",
        "\"head_dim\":0",
        "\"head_dim\":7",
        "\"intermediate_size\":0",
        "\"vocab_size\":0",
        "\"max_position_embeddings\":0",
        "\"rms_norm_eps\":0",
        "\"rms_norm_eps\":-1e-6",
        "\"rms_norm_eps\":1e38",
        "\"rms_norm_eps\":\"x\"",
        "\"rope_theta\":0",
        "\"rope_theta\":-1",
        "\"rope_local_base_freq\":0",
        "\"sliding_window\":0",
        "\"sliding_window\":-1",
        "\"sliding_window_pattern\":0",
        "\"layer_types\":[\"full_attention\"]",
        "\"layer_types\":\"full_attention\"",
        "\"num_hidden_layers\":1,\"layer_types\":[\"chunked_attention\"]",
        "\"num_hidden_layers\":1,\"layer_types\":[1]",
        "\"query_pre_attn_scalar\":0",
        "\"query_pre_attn_scalar\":-256",
        "\"final_logit_softcapping\":0",
        "\"final_logit_softcapping\":-30",
        "\"attn_logit_softcapping\":0",
        "\"dtype\":5",
        "\"rope_scaling\":{\"rope_type\":\"linear\"}",
        "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":0}",
        "\"rope_scaling\":{\"rope_type\":5,\"factor\":8}",
        "\"rope_scaling\":{\"rope_type\":null,\"factor\":8}",
        "\"rope_scaling\":{\"factor\":8}",
        "\"rope_scaling\":true",
        "\"rope_parameters\":[1,2]",
        "\"attention_bias\":1",
        "\"hidden_activation\":[]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuse_key(MYTH_EFORMAT, bad[i]);
    static const char *const other[] = {
        "\"hidden_activation\":\"silu\"",
        "\"attention_bias\":true",
        "\"use_bidirectional_attention\":true",
        "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8}",
        "\"architectures\":[\"Gemma3TextModel\"]",
        "\"rope_parameters\":{\"full_attention\":{},\"sliding_attention\":{\"rope_type\":\"linear\",\"factor\":2}}",
    };
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        refuse_key(MYTH_EUNSUPPORTED, other[i]);
}

/* What transformers 5.24 makes of both spellings in one file. */
static void test_rope_scaling_beside_parameters(void **state)
{
    (void)state;
#define SETS                                                                                              \
    "{\"model_type\":\"gemma3_text\",\"rope_parameters\":{\"full_attention\":{\"rope_type\":\"default\"," \
    "\"rope_theta\":500000},\"sliding_attention\":{\"rope_type\":\"default\"}},\"rope_local_base_freq\":20000,"
    const myth_config *c = read_good(SETS "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}");
    assert_true(c->rope_factor_global == 8 && c->rope_base_global == 500000 && c->rope_base_local == 20000);
    c = read_good(SETS "\"rope_scaling\":{\"rope_theta\":70000}}");
    assert_true(c->rope_factor_global == 1 && c->rope_base_global == 70000);
    c = read_good(SETS "\"rope_scaling\":{\"type\":\"linear\",\"factor\":8}}"); /* the set's rope_type stays */
    assert_true(c->rope_factor_global == 1);
    c = read_good(SETS "\"rope_scaling\":null}");
    assert_true(c->rope_factor_global == 1 && c->rope_base_global == 500000);
    refuse(MYTH_EUNSUPPORTED, SETS "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":4}}");
    refuse(MYTH_EFORMAT, SETS "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":-1}}");
    /* a family with one set: rope_scaling takes its place */
    c = read_good("{\"model_type\":\"gemma2\",\"rope_theta\":12345,\"rope_parameters\":{\"rope_type\":\"linear\","
                  "\"factor\":8,\"rope_theta\":7},\"rope_scaling\":{\"rope_type\":\"default\"}}");
    assert_true(c->rope_factor_global == 1 && c->rope_base_global == 12345);
    c = read_good("{\"model_type\":\"gemma2\",\"rope_parameters\":{\"rope_type\":\"default\"},"
                  "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}");
    assert_true(c->rope_factor_global == 8 && c->rope_factor_local == 8); /* both kinds of layers turn alike */
#undef SETS
    /* a family with two sets: what stands in neither does not count */
    c = read_good("{\"model_type\":\"gemma3_text\",\"rope_theta\":7000,"
                  "\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":8,\"rope_theta\":500}}");
    assert_true(c->rope_factor_global == 1 && c->rope_base_global == 7000 && c->rope_base_local == 1e4);
}

/* Keys that transformers reads in other families only, and overrides of single layers. */
static void test_keys_of_other_families(void **state)
{
    (void)state;
    const myth_config *c = read_good("{\"model_type\":\"gemma2\",\"sliding_window_pattern\":3}");
    assert_true(!c->layer[0].is_global && c->layer[1].is_global && !c->layer[2].is_global);
    c = read_good("{\"model_type\":\"gemma3n_text\",\"sliding_window_pattern\":3}");
    assert_true(!c->layer[2].is_global && !c->layer[3].is_global && c->layer[4].is_global);
    c = read_good("{\"model_type\":\"gemma3_text\",\"final_logit_softcapping\":3}");
    assert_true(c->final_softcap == 3);
    c = read_good("{\"model_type\":\"gemma3\",\"text_config\":{\"final_logit_softcapping\":3}}");
    assert_true(c->final_softcap == 0); /* the multimodal class does not look at it */
    c = read_good("{\"model_type\":\"gemma3n\",\"text_config\":{\"final_logit_softcapping\":3}}");
    assert_true(c->final_softcap == 3);
    read_good("{\"model_type\":\"gemma3_text\",\"per_layer_config\":{}}");
    refuse_key(MYTH_EUNSUPPORTED, "\"per_layer_config\":{\"1\":{\"rms_norm_eps\":0.1}}");
    refuse_key(MYTH_EUNSUPPORTED, "\"per_layer_config\":{\"1\":{\"head_dim\":64}}");
    refuse(MYTH_EUNSUPPORTED, "{\"model_type\":\"gemma4_text\",\"per_layer_config\":{\"05\":{\"head_dim\":512,"
                              "\"sliding_window\":7}}}");
    refuse(MYTH_EUNSUPPORTED, "{\"model_type\":\"gemma4\",\"text_config\":{\"per_layer_config\":{\"2\":{\"skip\":"
                              "[\"mlp\"]}}}}");
}

static void test_families(void **state)
{
    (void)state;
    static const char *const names[] = {
        "llama", "gemma3_vision", "gemma4_assistant", "embedding_gemma2", "paligemma", "t5gemma", ""};
    for (int i = 0; i < 6; i++) {
        char text[64];
        snprintf(text, sizeof(text), "{\"model_type\":\"%s\"}", names[i]);
        refuse(MYTH_EUNSUPPORTED, text);
    }
    refuse(MYTH_EFORMAT, "{}");
    refuse(MYTH_EFORMAT, "{\"model_type\":3}");
    refuse(MYTH_EFORMAT, "{\"architectures\":[]}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma3\"}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma3\",\"text_config\":[]}");
    refuse(MYTH_EUNSUPPORTED, "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma4_text\"}}");
    printf("%d texts refused\n", n_refused);
}

static void test_large(void **state)
{
    (void)state;
    bytes b = {0};
    bytes_text(&b, "{\"model_type\":\"gemma\",\"eos_token_id\":[1");
    for (int i = 0; i < 1000000; i++)
        bytes_text(&b, ",1");
    bytes_text(&b, "]}");
    bytes_uint(&b, 0, 1);
    refuse(MYTH_EFORMAT, (char *)b.data); /* a list of 10^6 ids: the file is too large */
    bytes_free(&b);
    bytes_text(&b, "{\"model_type\":\"gemma\",\"a\":[1");
    for (int i = 0; i < 500000; i++)
        bytes_text(&b, ",1");
    bytes_text(&b, "]}");
    bytes_uint(&b, 0, 1);
    refuse(MYTH_EFORMAT, (char *)b.data); /* below the size, but it would take 50 MB */
    bytes_free(&b);
    for (int i = 0; i < 100000; i++)
        bytes_text(&b, "{\"a\":");
    bytes_uint(&b, 0, 1);
    refuse(MYTH_EFORMAT, (char *)b.data);
    bytes_free(&b);

    /* generation_config.json is read too, so it is held to the same rules */
    files_text("m/generation_config.json", "{\"eos_token_id\":[1,106],}");
    refuse(MYTH_EFORMAT, "{\"model_type\":\"gemma\"}");
    files_text("m/generation_config.json", "{\"eos_token_id\":[1,106]}");
    read_good("{\"model_type\":\"gemma\"}");
    remove(files_path("m/generation_config.json"));
}

/* Both files are told apart by their folder: by which of several models an error is, and what to open. */
static void test_errors_name_the_file(void **state)
{
    static const struct {
        const char *config, *generation, *says;
    } row[] = {
        {"{\"model_type\":\"gemma\"", "{}", "/m/config.json: offset 21: "},                /* in the pass that counts */
        {"{\"a\":1,\"a\":2}", "{}", "/m/config.json: offset 11: key \"a\" appears twice"}, /* in the one that fills */
        {"{\"model_type\":\"gemma\"}", "{\"a\" 1}", "/m/generation_config.json: offset 5: "},
        {"{\"model_type\":\"gemma\"}", "{\"a\":1,\"a\":2}", "/m/generation_config.json: offset 11: key"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_config c;
        myth_error err = {0};
        char whole[sizeof(err.msg)];
        files_text("m/generation_config.json", row[i].generation);
        assert_int_equal(read_text(row[i].config, &c, &err), MYTH_EFORMAT);
        snprintf(whole, sizeof(whole), "%s%s", files_dir(), row[i].says);
        if (strncmp(err.msg, whole, strlen(whole)) != 0)
            fail_msg("%s\nexpected %s", err.msg, whole);
    }
    remove(files_path("m/generation_config.json"));
}

/* ---- what the readers of metadata promise ---- */

static void test_meta(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_error err = {0};
    myth_weights *w;
    files_text("m/config.json", "{\"model_type\":\"gemma\",\"n\":null,"
                                "\"a\":{\"b\":{\"c\":-3,\"d\":[1,2.5,\"x\"],\"e\":[true,false],\"f\":[[1],[2]]}},"
                                "\"s\":\"\\u00e9\\n\",\"l\":[\"p\",\"q\"],\"u\":18446744073709551615}");
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    assert_int_equal(
        myth_weights_open(&w, mem, files_path("m"), &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &err), MYTH_OK);
    const myth_meta *m = myth_weights_meta(w);
    double f;
    uint32_t u;
    bool b;
    int64_t i;
    uint64_t pos = 0;
    myth_str s;
    assert_true(myth_meta_f64(&f, m, "a.b.c") && f == -3 && !myth_meta_u32(&u, m, "a.b.c"));
    const myth_meta_value *v = myth_meta_find(m, "a.b.d");
    assert_true(v && v->count == 3 && v->elem == MYTH_META_NULL);
    assert_true(myth_meta_item_f64(&f, v, 1) && f == 2.5 && myth_meta_item_i64(&i, v, 0) && i == 1 &&
                !myth_meta_item_i64(&i, v, 2));
    v = myth_meta_find(m, "a.b.e");
    assert_true(v && myth_meta_item_bool(&b, v, 0) && b && myth_meta_item_bool(&b, v, 1) && !b &&
                !myth_meta_item_bool(&b, v, 2));
    v = myth_meta_find(m, "a.b.f");
    assert_true(v && v->count == 2 && !myth_meta_item_i64(&i, v, 0));
    assert_true(!myth_meta_find(m, "n") && myth_meta_has(m, "n") && !myth_meta_has(m, "o"));
    assert_true(myth_meta_str(&s, m, "s") && s.len == 3 && memcmp(s.text, "\xc3\xa9\n", 3) == 0);
    v = myth_meta_find(m, "l");
    assert_true(v && myth_meta_next_str(&s, v, &pos) && myth_str_is(s, "p") && myth_meta_next_str(&s, v, &pos) &&
                myth_str_is(s, "q"));
    assert_true(!myth_meta_next_str(&s, v, &pos) && myth_meta_item_str(&s, v, 1) && myth_str_is(s, "q"));
    v = myth_meta_find(m, "u");
    assert_true(v && v->type == MYTH_META_UINT && v->v.u == UINT64_MAX);
    v = myth_meta_find(m, "a");
    assert_true(v && v->type == MYTH_META_OBJECT);
    assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live, myth_weights_booked(w));
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_rope_scaling_beside_parameters),
        cmocka_unit_test(test_keys_of_other_families),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_gemma4),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_errors_name_the_file),
        cmocka_unit_test(test_meta),
    };
    files_mkdir("m");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
