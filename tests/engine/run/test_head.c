/* test_head.c - models whose head is a matrix of its own. Its rows are here those of the embedding in another order, so
 * that every logit is one of the tied model's, bit for bit: in one part and in two, on every device, from safetensors
 * and from GGUF. */
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "engine/make/convert.h"

enum { N_TOK = 12 };

static unsigned char *slurp(const char *name, const char *file, size_t *n)
{
    char rest[256], path[1024];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s/%s", name, file);
    FILE *f = fopen(check_path(path, sizeof(path), rest), "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = calloc(*n + 1, 1);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

/* How the head stands in the file, and what the config says. */
typedef struct {
    const char *name, *tied; /* of the tensor, NULL = there is none; "true" or "false" */
    bool is_copy;            /* of the embedding: its rows in their order              */
} form;

/* m/: the golden model `name` with a head behind its tensors. */
static void put_model(const char *name, const myth_tensor *embed, const form *as)
{
    size_t n_config, n_file, n_header;
    char *config = (char *)slurp(name, "config.json", &n_config);
    unsigned char *file = slurp(name, "model.safetensors", &n_file);
    char line[64];
    bytes b = {0}, header = {0};
    files_clear("m");
    snprintf(line, sizeof(line), "\"tie_word_embeddings\": %s", as->tied);
    char *other = text_replace(config, "\"tie_word_embeddings\": true", line);
    files_text("m/config.json", other);
    memcpy(&n_header, file, 8);
    const size_t n_data = n_file - 8 - n_header, n_row = (size_t)embed->dim[0], row = (size_t)embed->bytes / n_row;
    size_t end = 8 + n_header;
    while (file[end - 1] != '}')
        end--;
    bytes_put(&header, file + 8, end - 1 - 8);
    if (as->name) {
        char entry[256];
        snprintf(entry, sizeof(entry), ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
                 as->name, myth_dtype_get(embed->dtype)->safetensors, n_row, (size_t)embed->dim[1], n_data,
                 n_data + (size_t)embed->bytes);
        bytes_text(&header, entry);
    }
    bytes_text(&header, "}");
    while (header.len % 8)
        bytes_text(&header, " ");
    bytes_uint(&b, header.len, 8);
    bytes_put(&b, header.data, header.len);
    bytes_put(&b, file + 8 + n_header, n_data);
    for (size_t i = 0; as->name && i < n_row; i++)
        bytes_put(&b, (const unsigned char *)embed->data + row * (as->is_copy ? i : n_row - 1 - i), row);
    files_put("m/model.safetensors", b.data, b.len);
    bytes_free(&b), bytes_free(&header);
    free(config), free(other), free(file);
}

/* The logits behind N_TOK tokens, by a prefill and by a decode step: 2 rows of n_vocab. */
static float *logits_of(const char *spec, const char *device, bool host_head, uint32_t *n_vocab)
{
    rig r;
    rows w;
    int32_t ids[N_TOK];
    myth_engine_opts o = {.device = device,
                          .host_head = host_head,
                          .n_threads = 1,
                          .is_exact = true,
                          .n_ctx = 32,
                          .n_logit_rows = 1,
                          .want_full_logits = true};
    rig_open(&r, spec, &o);
    const myth_plan *plan = myth_engine_plan(r.engine);
    for (uint32_t i = 0; i < plan->n_device; i++) /* the head is planned, too */
        assert_int_equal(plan->device[i].bytes[MYTH_MEM_WEIGHTS],
                         myth_mem_get(r.mem, plan->device[i].ledger, MYTH_MEM_WEIGHTS).live);
    *n_vocab = r.model.config.n_vocab;
    float *out = malloc(2 * sizeof(*out) * *n_vocab);
    assert_non_null(out);
    for (int32_t i = 0; i < N_TOK; i++)
        ids[i] = 3 + i * 7 % 90;
    rows_open(&w, &r, 1, false);
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, ids, N_TOK - 1, 0, NULL);
    for (int k = 0; k < 2; k++) {
        rows_clear(&w);
        if (k)
            rig_decode(&r, s, ids[N_TOK - 1], &w);
        else
            rig_feed(&r, s, ids + N_TOK - 1, 1, 0, &w);
        memcpy(out + (size_t)k * *n_vocab, w.logits, sizeof(*out) * *n_vocab);
    }
    myth_seq_close(s);
    rows_close(&w);
    rig_close(&r);
    return out;
}

static void convert(const char *spec, const char *to, myth_dtype type)
{
    myth_mem *mem;
    myth_model m;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, spec, NULL, &rig_err));
    assert_ok(myth_convert(&m, &(myth_convert_opts){.path = to, .type = type}, &rig_err));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void assert_reordered(const float *got, const float *want, uint32_t n, bool is_copy, const char *what)
{
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < n; i++)
            if (memcmp(&got[k * n + i], &want[k * n + (is_copy ? i : n - 1 - i)], sizeof(float)) != 0)
                fail_msg("%s: step %u, id %u: %.9g, expected %.9g", what, k, i, (double)got[k * n + i],
                         (double)want[k * n + (is_copy ? i : n - 1 - i)]);
}

static const char *const models[] = {"gemma1-mqa", "gemma2-gqa", "gemma3-layers", "gemma3n", "gemma4-e"};

static void a_head_of_its_own_makes_the_logits(void **state)
{
    (void)state;
    static const form forms[] = {{"lm_head.weight", "false", false},
                                 {"language_model.lm_head.weight", "false", false},
                                 {"lm_head.weight", "false", true}};
    static const myth_dtype type[] = {MYTH_F32, MYTH_Q8_0};
    char place[2 + RIG_TARGET_MAX][32] = {"cpu", "cpu,cpu"};
    const uint32_t n_place = 2 + rig_devices_beside_cpu(place + 2);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        char rest[256], source[1024], tied[256], own[256], spec[256];
        myth_mem *mem;
        myth_model m;
        uint32_t n, n_own;
        snprintf(rest, sizeof(rest), "tests/golden/models/%s", models[i]);
        check_path(source, sizeof(source), rest);
        snprintf(tied, sizeof(tied), "%s/tied.gguf", files_dir());
        snprintf(own, sizeof(own), "%s/own.gguf", files_dir());
        snprintf(spec, sizeof(spec), "%s/m", files_dir());
        float *want = logits_of(source, "cpu", false, &n);
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&m, mem, source, NULL, &rig_err));
        const myth_tensor *embed = myth_weights_slot(m.weights, "embed_tokens.weight", "");
        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
            put_model(models[i], embed, &forms[k]);
            for (uint32_t d = 0; d < 2 * n_place; d++) {
                if (d % 2 && strstr(place[d / 2], "cpu"))
                    continue;
                float *got = logits_of(spec, place[d / 2], d % 2, &n_own);
                float *base = d < 4 ? want : logits_of(source, place[d / 2], d % 2, &n); /* a device's own bits */
                assert_int_equal(n_own, n);
                assert_reordered(got, base, n, forms[k].is_copy, place[d / 2]);
                if (base != want)
                    free(base);
                free(got);
            }
        }
        put_model(models[i], embed, &forms[0]);
        for (int t = 0; t < 2; t++) { /* rows are quantised one by one, so the order changes nothing */
            convert(source, tied, type[t]);
            convert(spec, own, type[t]);
            float *base = logits_of(tied, "cpu", false, &n), *got = logits_of(own, "cpu", false, &n_own);
            assert_int_equal(n_own, n);
            if (n == embed->dim[0])
                assert_reordered(got, base, n, false, own);
            free(base);
            free(got);
        }
        free(want);
        myth_model_close(&m);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

static void what_config_and_tensors_say_agrees(void **state)
{
    (void)state;
    static const struct {
        form as;
        myth_status headers, data;
    } row[] = {
        {{"lm_head.weight", "true", true}, MYTH_OK, MYTH_OK}, /* left out */
        {{"lm_head.weight", "true", false}, MYTH_OK, MYTH_EUNSUPPORTED},
        {{"lm_head.weight", "false", false}, MYTH_OK, MYTH_OK},
        {{NULL, "false", false}, MYTH_EFORMAT, MYTH_EFORMAT},
    };
    char source[1024];
    myth_mem *mem;
    myth_model m;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, check_path(source, sizeof(source), "tests/golden/models/gemma3-layers"), NULL,
                              &rig_err));
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        put_model("gemma3-layers", myth_weights_slot(m.weights, "embed_tokens.weight", ""), &row[i].as);
        files_expect("headers", files_path("m"), MYTH_WEIGHTS_HEADER, row[i].headers);
        files_expect("data", files_path("m"), MYTH_WEIGHTS_DATA, row[i].data);
    }
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    files_mkdir("m");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_of_its_own_makes_the_logits),
        cmocka_unit_test(what_config_and_tensors_say_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
