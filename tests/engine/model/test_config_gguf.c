/* test_config_gguf.c - the hyper-parameters of a GGUF file: those that its keys give, those that are inferred because a
 * key is missing, and values that are refused. The files have metadata only. */
#include "tests/support/files.h"

#include "engine/make/gguf_write.h"
#include "engine/model/config.h"

#include <math.h>

/* Keys that a case writes after the common ones, instead of those of the same name. */
typedef struct {
    const char *arch;
    uint32_t n_layer;
    void (*more)(myth_gguf_writer *g, const char *arch);
    uint32_t n_head_kv; /* 0: 4 */
} facts;

static void put_u32(myth_gguf_writer *g, const char *arch, const char *key, uint32_t v)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.%s", arch, key);
    myth_gguf_put_u32(g, name, v);
}

static myth_status read_facts(const facts *f, myth_config *out, myth_error *err)
{
    myth_mem *mem;
    myth_weights *w = NULL;
    myth_gguf_writer *g;
    assert_int_equal(myth_mem_open(&mem, 0, err), MYTH_OK);
    assert_int_equal(myth_gguf_open(&g, mem, files_path("m.gguf"), 0, err), MYTH_OK);
    myth_gguf_put_str(g, "general.architecture", (myth_str){f->arch, strlen(f->arch)});
    put_u32(g, f->arch, "block_count", f->n_layer);
    put_u32(g, f->arch, "embedding_length", 512);
    put_u32(g, f->arch, "context_length", 8192);
    put_u32(g, f->arch, "feed_forward_length", 1024);
    put_u32(g, f->arch, "attention.head_count", 8);
    put_u32(g, f->arch, "attention.head_count_kv", f->n_head_kv ? f->n_head_kv : 4);
    put_u32(g, f->arch, "attention.key_length", 128);
    put_u32(g, f->arch, "attention.value_length", 128);
    put_u32(g, f->arch, "vocab_size", 1000);
    if (f->more)
        f->more(g, f->arch);
    if (myth_gguf_close(g, true, err) != MYTH_OK)
        fail_msg("%s", err->msg);
    myth_status st =
        myth_weights_open(&w, mem, files_path("m.gguf"), &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, err);
    if (st == MYTH_OK)
        st = myth_config_read(out, w, err);
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
    return st;
}

static const myth_config *read_good(const facts *f)
{
    static myth_config c;
    myth_error err = {0};
    if (read_facts(f, &c, &err) != MYTH_OK)
        fail_msg("%s of %u layers: %s", f->arch, f->n_layer, err.msg);
    return &c;
}

static void window_1024(myth_gguf_writer *g, const char *arch) { put_u32(g, arch, "attention.sliding_window", 1024); }

/* ---- the scale of the scores ---- */

/* A file does not say it: 1 / sqrt of the head's width, but for the two models that were trained with another. */
static void test_scale(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        uint32_t n_layer, width;
    } row[] = {
        {"gemma", 18, 128},  {"gemma2", 26, 128}, {"gemma2", 46, 144}, {"gemma2", 62, 128},
        {"gemma3", 48, 128}, {"gemma3", 62, 168}, {"gemma3", 46, 128},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const facts f = {row[i].arch, row[i].n_layer, strcmp(row[i].arch, "gemma") ? window_1024 : NULL, 0};
        const float want = (float)(1 / sqrt(row[i].width));
        if (read_good(&f)->attn_scale != want)
            fail_msg("%s of %u layers: %g, expected %g", row[i].arch, row[i].n_layer, (double)read_good(&f)->attn_scale,
                     (double)want);
    }
}

static void scale_of_its_own(myth_gguf_writer *g, const char *arch)
{
    char name[128];
    window_1024(g, arch);
    snprintf(name, sizeof(name), "%s.attention.scale", arch);
    myth_gguf_put_f32(g, name, 0.25f);
}

static void test_scale_that_is_said(void **state)
{
    (void)state;
    assert_true(read_good(&(facts){"gemma3", 62, scale_of_its_own, 0})->attn_scale == 0.25f);
}

/* ---- which layers are local ---- */

static void pattern(myth_gguf_writer *g, const char *arch)
{
    static const bool is_local[] = {true, false, true, true, false, true, true};
    char name[128];
    window_1024(g, arch);
    snprintf(name, sizeof(name), "%s.attention.sliding_window_pattern", arch);
    myth_gguf_put_array(g, name, MYTH_GGUF_BOOL, sizeof(is_local));
    for (size_t i = 0; i < sizeof(is_local); i++)
        myth_gguf_item_bool(g, is_local[i]);
}

static void test_layer_kinds(void **state)
{
    (void)state;
    static const bool is_global[] = {false, true, false, false, true, false, false};
    const myth_config *c = read_good(&(facts){"gemma3", 7, pattern, 0});
    for (uint32_t l = 0; l < 7; l++)
        assert_int_equal(c->layer[l].is_global, is_global[l]);
    assert_int_equal(c->window, 1024);

    c = read_good(&(facts){"gemma3", 12, window_1024, 0}); /* every sixth without a pattern */
    for (uint32_t l = 0; l < 12; l++)
        assert_int_equal(c->layer[l].is_global, l % 6 == 5);

    c = read_good(&(facts){"gemma3", 12, NULL, 0}); /* no window: no local layer */
    for (uint32_t l = 0; l < 12; l++)
        assert_true(c->layer[l].is_global);

    myth_config unused;
    myth_error err = {0};
    assert_int_equal(read_facts(&(facts){"gemma3", 8, pattern, 0}, &unused, &err), MYTH_EFORMAT); /* seven for eight */
    assert_non_null(strstr(err.msg, "sliding_window_pattern"));
}

/* ---- refused ---- */

static void other_values(myth_gguf_writer *g, const char *arch) { put_u32(g, arch, "attention.value_length_mla", 64); }

static void scaled_by_yarn(myth_gguf_writer *g, const char *arch)
{
    char name[128];
    window_1024(g, arch);
    snprintf(name, sizeof(name), "%s.rope.scaling.type", arch);
    myth_gguf_put_str(g, name, (myth_str){"yarn", 4});
}

static void put_f32(myth_gguf_writer *g, const char *arch, const char *key, float v)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.%s", arch, key);
    myth_gguf_put_f32(g, name, v);
}

static void scaled_the_older_way(myth_gguf_writer *g, const char *arch)
{
    window_1024(g, arch);
    put_f32(g, arch, "rope.scale_linear", 4);
}

static void not_scaled_the_older_way(myth_gguf_writer *g, const char *arch)
{
    window_1024(g, arch);
    put_f32(g, arch, "rope.scale_linear", 1);
    put_u32(g, arch, "rope.dimension_count", 128);
    myth_gguf_put_bool(g, "gemma3.attention.causal", true);
}

static void scaled_by_a_factor_alone(myth_gguf_writer *g, const char *arch)
{
    window_1024(g, arch);
    put_f32(g, arch, "rope.scaling.factor", 8);
}

static void half_of_a_head_turns(myth_gguf_writer *g, const char *arch)
{
    window_1024(g, arch);
    put_u32(g, arch, "rope.dimension_count", 64);
}

static void looks_both_ways(myth_gguf_writer *g, const char *arch)
{
    char name[128];
    window_1024(g, arch);
    snprintf(name, sizeof(name), "%s.attention.causal", arch);
    myth_gguf_put_bool(g, name, false);
}

static void looks_back(myth_gguf_writer *g, const char *arch)
{
    char name[128];
    window_1024(g, arch);
    snprintf(name, sizeof(name), "%s.attention.causal", arch);
    myth_gguf_put_bool(g, name, true);
}

static void sparse(myth_gguf_writer *g, const char *arch, float first)
{
    char name[128];
    window_1024(g, arch);
    put_u32(g, arch, "embedding_length_per_layer_input", 64);
    snprintf(name, sizeof(name), "%s.activation_sparsity_scale", arch);
    myth_gguf_put_array(g, name, MYTH_GGUF_F32, 5);
    for (int l = 0; l < 5; l++)
        myth_gguf_item_f32(g, l ? -INFINITY : first);
}

static void sparse_by_1(myth_gguf_writer *g, const char *arch) { sparse(g, arch, 1); }
static void sparse_by_nan(myth_gguf_writer *g, const char *arch) { sparse(g, arch, NAN); }
static void sparse_by_infinity(myth_gguf_writer *g, const char *arch) { sparse(g, arch, INFINITY); }

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        facts f;
        myth_status st;
        const char *named;
    } row[] = {
        {{"gemma3", 0, window_1024, 0}, MYTH_EFORMAT, "block_count"},
        {{"gemma3", MYTH_LAYER_MAX + 1, window_1024, 0}, MYTH_EFORMAT, "block_count"},
        {{"gemma3", 6, scaled_by_yarn, 0}, MYTH_EUNSUPPORTED, "yarn"},
        {{"gemma3", 6, scaled_the_older_way, 0}, MYTH_EUNSUPPORTED, "scale_linear"},
        {{"gemma", 6, half_of_a_head_turns, 0}, MYTH_EUNSUPPORTED, "rope.dimension_count"},
        {{"gemma3", 6, half_of_a_head_turns, 0}, MYTH_EUNSUPPORTED, "rope.dimension_count"},
        {{"gemma3", 6, looks_both_ways, 0}, MYTH_EUNSUPPORTED, "attention.causal"},
        {{"gemma-embedding", 6, looks_back, 0}, MYTH_EUNSUPPORTED, "attention.causal"},
        {{"gemma3", 6, window_1024, 1025}, MYTH_EFORMAT, "head_count_kv"},
        {{"gemma3n", 5, sparse_by_nan, 0}, MYTH_EFORMAT, "activation_sparsity_scale"},
        {{"gemma3n", 5, sparse_by_infinity, 0}, MYTH_EFORMAT, "activation_sparsity_scale"},
        {{"llama", 6, NULL, 0}, MYTH_EUNSUPPORTED, "llama"},
    };
    myth_config unused;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_error err = {0};
        assert_int_equal(read_facts(&row[i].f, &unused, &err), row[i].st);
        if (!strstr(err.msg, row[i].named))
            fail_msg("\"%s\" does not name %s", err.msg, row[i].named);
    }
    read_good(&(facts){"gemma3", 6, not_scaled_the_older_way, 0}); /* what they say holds anyway */
    read_good(&(facts){"gemma-embedding", 6, looks_both_ways, 0});
    const myth_config *c = read_good(&(facts){"gemma3n", 5, sparse_by_1, 0});
    assert_true(c->layer[0].is_sparse && c->layer[0].gate_z == 1 && !c->layer[1].is_sparse);
    c = read_good(&(facts){"gemma3", 6, scaled_by_a_factor_alone, 0});
    assert_true(c->rope_factor_global == 8 && c->rope_factor_local == 1);
    c = read_good(&(facts){"gemma2", 6, scaled_by_a_factor_alone, 0}); /* both kinds of layers turn alike */
    assert_true(c->rope_factor_global == 8 && c->rope_factor_local == 8);
    assert_int_equal(read_good(&(facts){"gemma3", 6, other_values, 0})->n_layer,
                     6); /* a key of nobody's is passed over */
    assert_int_equal(read_good(&(facts){"gemma3", MYTH_LAYER_MAX, window_1024, 0})->n_layer, MYTH_LAYER_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_scale_that_is_said),
        cmocka_unit_test(test_layer_kinds),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
