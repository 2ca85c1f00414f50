/* test_mix.c - the type that a mix gives to each tensor of a model: the choice of llama-quantize for matrices of many
 * shapes (tests/golden/mixes.txt), and what mix.h says of other tensors. Also the names of mixes. */
#include "tests/support/check.h"

#include "engine/make/mix.h"

static const char *const parts[] = {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
enum { N_PART = sizeof(parts) / sizeof(parts[0]) };

typedef struct {
    unsigned n_layer, d, ff, n_head, n_head_kv, head_dim;
} shape;

static uint64_t cols_of(const shape *s, int part)
{
    return part == 3 ? s->n_head * s->head_dim : part == 6 ? s->ff : s->d;
}

static void test_types(void **state)
{
    (void)state;
    char path[1024], mix[16], types[512];
    shape s;
    unsigned has, n_line = 0;
    FILE *f = fopen(check_path(path, sizeof(path), "tests/golden/mixes.txt"), "r");
    assert_non_null(f);
    while (fscanf(f, "%u %u %u %u %u %u %15s %u %511s", &s.n_layer, &s.d, &s.ff, &s.n_head, &s.n_head_kv, &s.head_dim,
                  mix, &has, types) == 9) {
        const myth_mix *m = myth_mix_find(mix);
        const myth_mix_file file = {
            .n_layer = s.n_layer,
            .n_value = s.n_layer,
            .n_group = s.n_head / s.n_head_kv,
            .has_importance = has,
        };
        assert_non_null(m);
        assert_int_equal(strlen(types), 1 + N_PART * s.n_layer);
        for (unsigned i = 0; i < 1 + N_PART * s.n_layer; i++) {
            char name[64] = "token_embd.weight";
            const unsigned layer = i ? (i - 1) / N_PART : 0;
            const int part = i ? (int)((i - 1) % N_PART) : 0;
            myth_dtype want;
            if (i)
                snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, parts[part]);
            assert_true(myth_dtype_from_gguf(&want, (uint32_t)(types[i] - 'A')));
            const myth_mix_tensor t = {
                .name = name,
                .n_dim = 2,
                .cols = i ? cols_of(&s, part) : s.d,
                .source = MYTH_F16,
                .layer = layer,
                .value_idx = layer,
            };
            const myth_dtype got = myth_mix_type(m, &file, &t);
            if (got != want)
                fail_msg("%s of %u layers, %s: %s, llama-quantize has %s", mix, s.n_layer, name,
                         myth_dtype_get(got)->name, myth_dtype_get(want)->name);
        }
        n_line++;
    }
    assert_true(feof(f) && n_line > 100);
    fclose(f);
    printf("%u mixes\n", n_line);
}

static void test_names(void **state)
{
    (void)state;
    assert_ptr_equal(myth_mix_find("Q4_K"), myth_mix_find("q4_k_m"));
    assert_ptr_equal(myth_mix_of(MYTH_Q5_K), myth_mix_find("Q5_K_M"));
    assert_int_equal(myth_mix_find("Q4_K_M")->file_type, 15);
    assert_null(myth_mix_find("q4"));
    assert_null(myth_mix_of(MYTH_I32));
    char names[512];
    snprintf(names, sizeof(names), "%s", myth_mix_names());
    unsigned n = 0;
    for (char *save = NULL, *name = strtok_r(names, ", ", &save); name; name = strtok_r(NULL, ", ", &save), n++)
        assert_non_null(myth_mix_find(name));
    assert_int_equal(n, MYTH_DTYPE_N - 1 + 8); /* a name for every type but i32, and for 8 mixes of several types */
}

/* Vectors become f32. Small matrices on which much depends (routers, AltUp, Laurel, the projection of per-layer inputs)
 * keep the type of the source. */
static void test_kept(void **state)
{
    (void)state;
    const myth_mix_file file = {.n_layer = 4, .n_value = 4, .n_group = 1};
    static const char *const kept[] = {"blk.0.ffn_gate_inp.weight", "altup_proj.weight", "blk.1.laurel_l.weight",
                                       "per_layer_model_proj.weight"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            myth_mix_type(myth_mix_find("q4_k_m"), &file, &(myth_mix_tensor){kept[i], 2, 512, MYTH_BF16, 0, 0}),
            MYTH_BF16);
    assert_int_equal(myth_mix_type(myth_mix_find("q4_k_m"), &file,
                                   &(myth_mix_tensor){"blk.0.attn_norm.weight", 1, 512, MYTH_BF16, 0, 0}),
                     MYTH_F32);
    assert_int_equal(myth_mix_type(myth_mix_find("q4_k_m"), &file,
                                   &(myth_mix_tensor){"per_layer_token_embd.weight", 2, 512, MYTH_BF16, 0, 0}),
                     MYTH_Q6_K);
    /* These become q8_0. A source that is quantised keeps its type, and rows that are no multiple of 32 become f16. */
    static const char *const ple[] = {"blk.3.inp_gate.weight", "blk.0.proj.weight"};
    static const char *const mixes[] = {"q2_k", "q4_0", "q4_k_m", "q6_k", "q8_0", "mxfp4"};
    for (int i = 0; i < 12; i++) {
        const myth_mix *m = myth_mix_find(mixes[i / 2]);
        assert_int_equal(myth_mix_type(m, &file, &(myth_mix_tensor){ple[i % 2], 2, 512, MYTH_BF16, 0, 0}), MYTH_Q8_0);
        assert_int_equal(myth_mix_type(m, &file, &(myth_mix_tensor){ple[i % 2], 2, 512, MYTH_Q5_1, 0, 0}), MYTH_Q5_1);
        assert_int_equal(myth_mix_type(m, &file, &(myth_mix_tensor){ple[i % 2], 2, 24, MYTH_F32, 0, 0}), MYTH_F16);
    }
    for (int i = 0; i < 2; i++) {
        static const char *const name[] = {"mxfp4", "MXFP4_MOE"};
        const myth_mix *m = myth_mix_find(name[i]);
        assert_int_equal(m->file_type, 38);
        assert_int_equal(
            myth_mix_type(m, &file, &(myth_mix_tensor){"blk.1.ffn_down_exps.weight", 3, 64, MYTH_BF16, 1, 0}),
            MYTH_MXFP4);
        assert_int_equal(
            myth_mix_type(m, &file, &(myth_mix_tensor){"blk.1.ffn_gate_up_exps.weight", 3, 64, MYTH_BF16, 1, 0}),
            MYTH_MXFP4);
        assert_int_equal(myth_mix_type(m, &file, &(myth_mix_tensor){"blk.1.ffn_down.weight", 2, 64, MYTH_BF16, 1, 0}),
                         i ? MYTH_Q8_0 : MYTH_MXFP4);
        assert_int_equal(myth_mix_type(m, &file, &(myth_mix_tensor){"blk.1.attn_v.weight", 2, 64, MYTH_BF16, 1, 0}),
                         i ? MYTH_Q8_0 : MYTH_MXFP4);
    }
    assert_int_equal(myth_mix_type(myth_mix_find("f16"), &file, &(myth_mix_tensor){ple[0], 2, 512, MYTH_BF16, 0, 0}),
                     MYTH_F16);
    assert_int_equal(
        myth_mix_type(myth_mix_find("mxfp4"), &file, &(myth_mix_tensor){"token_embd.weight", 2, 512, MYTH_BF16, 0, 0}),
        MYTH_Q8_0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
