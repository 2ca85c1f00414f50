/* test_imatrix.c - importance matrices: those that are measured equal those of transformers (tests/golden/imatrix.txt)
 * on every CPU level; both forms of file are read; convert uses one; wrong files are refused. */
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "engine/make/convert.h"
#include "engine/make/imatrix_tap.h"
#include "engine/make/quant.h"

#include <math.h>

/* ---- gathering ---- */

/* Runs the golden's ids on a level in forwards of `chunk` tokens and writes path. */
static void gather(const char *path, const golden *g, const char *target, uint32_t chunk)
{
    static const char *const dataset[] = {"one", "two"};
    rig r;
    myth_engine_opts o = {.n_ctx = g->n_tok, .n_ubatch = 7};
    myth_imatrix_tap *tap;
    rig_at(&o, target);
    rig_open(&r, g->path, &o);
    const uint64_t before = myth_mem_get(r.mem, 0, MYTH_MEM_OTHER).live;
    assert_ok(myth_imatrix_tap_open(&tap, r.engine, &rig_err));
    assert_int_equal(myth_mem_get(r.mem, 0, MYTH_MEM_OTHER).live, before + myth_imatrix_tap_bytes(&r.model));
    assert_int_equal(myth_imatrix_tap_write(tap, path, 0, 0, NULL, 0, NULL), MYTH_EARG); /* nothing was run */
    myth_seq *s = rig_seq(&r);
    rig_feed(&r, s, g->ids, g->n_tok, chunk, NULL);
    assert_ok(myth_imatrix_tap_write(tap, path, 3, g->n_tok, dataset, 2, &rig_err));
    myth_imatrix_tap_close(tap);
    myth_seq_close(s);
    rig_close(&r);
}

/* The lines of imatrix.txt that are of this model, against the file. */
static void check_sums(const char *path, const char *model, double within)
{
    char golden_path[1024], of[64], name[96];
    unsigned long long n_row, cols;
    double sum, turn;
    uint32_t n = 0;
    myth_imatrix *im;
    myth_mem *mem;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_imatrix_open(&im, mem, path, &rig_err));
    assert_int_equal(myth_imatrix_n_chunk(im), 3);
    FILE *f = fopen(check_path(golden_path, sizeof(golden_path), "tests/golden/imatrix.txt"), "r");
    assert_non_null(f);
    while (fscanf(f, "%63s %95s %llu %llu %lf %lf", of, name, &n_row, &cols, &sum, &turn) == 6) {
        float mean[512];
        bool found;
        double own_sum = 0.0, own_turn = 0.0;
        if (strcmp(of, model) != 0)
            continue;
        assert_true(cols <= 512);
        assert_ok(myth_imatrix_get(im, name, 0, 1, cols, mean, &found, &rig_err));
        assert_true(found);
        for (uint64_t c = 0; c < cols; c++) {
            own_sum += (double)mean[c] * (double)n_row;
            own_turn += (double)mean[c] * (double)n_row * cos((double)c);
        }
        if (!(fabs(own_sum - sum) <= within * sum) || !(fabs(own_turn - turn) <= within * sum))
            fail_msg("%s %s: %g and %g, expected %g and %g", model, name, own_sum, own_turn, sum, turn);
        n++;
    }
    fclose(f);
    assert_int_equal(n, myth_imatrix_n_entry(im));
    assert_true(n > 0);
    myth_imatrix_close(im);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_against_transformers(void **state)
{
    (void)state;
    static const char *const models[] = {"gemma1-mqa", "gemma2-old", "gemma3-sharded"};
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    for (int m = 0; m < 3; m++) {
        golden g;
        golden_load(&g, models[m]);
        for (uint32_t t = 0; t < n_target; t++) {
            if (strstr(target[t], ":"))
                continue; /* its memory cannot be looked at */
            for (uint32_t chunk = 0; chunk <= 5; chunk += 5) {
                gather(files_path("im.gguf"), &g, target[t], chunk);
                check_sums(files_path("im.gguf"), models[m], rig_is_exact(target[t]) ? 1e-5 : 2e-2);
            }
        }
        golden_free(&g);
    }
}

/* Logits with a tap are those without. */
static void test_only_looks(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    const uint32_t n_target = rig_targets(target);
    golden g;
    golden_load(&g, "gemma3-sharded");
    for (uint32_t t = 0; t < n_target; t++) {
        rig r;
        rows a, b;
        myth_imatrix_tap *tap = NULL;
        myth_engine_opts o = {.n_ctx = g.n_tok, .n_seq = 2, .want_full_logits = true};
        rig_at(&o, target[t]);
        rig_open(&r, g.path, &o);
        const myth_status st = myth_imatrix_tap_open(&tap, r.engine, NULL);
        assert_int_equal(st, strstr(target[t], ":") ? MYTH_EDEVICE : MYTH_OK);
        myth_imatrix_tap_close(tap);
        rows_open(&a, &r, g.n_tok, false);
        rows_open(&b, &r, g.n_tok, false);
        myth_seq *s = rig_seq(&r), *u = rig_seq(&r);
        rig_feed(&r, s, g.ids, g.n_tok, 0, &a);
        if (st == MYTH_OK)
            assert_ok(myth_imatrix_tap_open(&tap, r.engine, &rig_err));
        rig_feed(&r, u, g.ids, g.n_tok, 0, &b);
        assert_same_bits(a.logits, b.logits, (size_t)g.n_tok * g.n_vocab, target[t]);
        if (st == MYTH_OK)
            myth_imatrix_tap_close(tap);
        rows_close(&a);
        rows_close(&b);
        myth_seq_close(s);
        myth_seq_close(u);
        rig_close(&r);
    }
    golden_free(&g);
}

/* ---- files ---- */

static void put_f32(bytes *b, float f) { bytes_put(b, &f, 4); }

static void put_old_entry(bytes *b, const char *name, uint32_t n, float first)
{
    bytes_uint(b, strlen(name), 4);
    bytes_text(b, name);
    bytes_uint(b, 1, 4);
    bytes_uint(b, n, 4);
    for (uint32_t i = 0; i < n; i++)
        put_f32(b, first + (float)i);
}

static void expect_open(const char *path, myth_status wanted, const char *word)
{
    myth_mem *mem;
    myth_imatrix *im;
    myth_error err = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    const myth_status st = myth_imatrix_open(&im, mem, path, &err);
    if (st != wanted || (word && !strstr(err.msg, word)))
        fail_msg("%s: %s (%s), expected %s with \"%s\"", path, myth_status_name(st), err.msg, myth_status_name(wanted),
                 word ? word : "");
    if (st == MYTH_OK)
        myth_imatrix_close(im);
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_old_form(void **state)
{
    (void)state;
    bytes b = {0};
    bytes_uint(&b, 2, 4);
    put_old_entry(&b, "blk.0.attn_q.weight", 4, 1.0f);
    put_old_entry(&b, "blk.0.ffn_down.weight", 6, 0.0f);
    const size_t whole = b.len;
    bytes_uint(&b, 9, 4);
    files_put("old.dat", b.data, b.len);
    myth_mem *mem;
    myth_imatrix *im;
    float v[6];
    bool found;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_imatrix_open(&im, mem, files_path("old.dat"), &rig_err));
    assert_int_equal(myth_imatrix_n_entry(im), 2);
    assert_int_equal(myth_imatrix_n_chunk(im), 9);
    assert_ok(myth_imatrix_get(im, "blk.0.ffn_down.weight", 0, 1, 6, v, &found, &rig_err));
    assert_true(found && v[0] == 0.0f && v[5] == 5.0f);
    assert_ok(myth_imatrix_get(im, "blk.0.ffn_up.weight", 0, 1, 6, v, &found, &rig_err));
    assert_false(found);
    assert_int_equal(myth_imatrix_get(im, "blk.0.attn_q.weight", 0, 1, 6, v, &found, &rig_err), MYTH_EFORMAT);
    assert_non_null(strstr(rig_err.msg, "blk.0.attn_q.weight"));
    myth_imatrix_close(im);
    assert_int_equal(myth_mem_close(mem), 0);
    for (size_t n = 0; n < b.len; n++) { /* a file that is cut before the end of its last entry is refused */
        files_put("cut.dat", b.data, n);
        expect_open(files_path("cut.dat"), n >= whole ? MYTH_OK : MYTH_EFORMAT, NULL);
    }
    for (int k = 0; k < 3; k++) {
        static const float odd[] = {-1.0f, NAN, INFINITY};
        memcpy((char *)b.data + 4 + 4 + 19 + 8 + 4, &odd[k], 4);
        files_put("odd.dat", b.data, b.len);
        expect_open(files_path("odd.dat"), MYTH_EFORMAT, "blk.0.attn_q.weight");
    }
    bytes_free(&b);
    expect_open(files_path("none.dat"), MYTH_ENOTFOUND, "none.dat");
}

/* ---- convert ---- */

/* A model of 256 columns whose importance says that only every fourth counts: those are closer to the source than
 * without. */
static void test_convert(void **state)
{
    (void)state;
    double e[2] = {0.0, 0.0};
    bytes b = {0};
    rig_err = (myth_error){0};
    bytes_uint(&b, 1, 4);
    bytes_uint(&b, 21, 4);
    bytes_text(&b, "blk.2.ffn_down.weight");
    bytes_uint(&b, 1, 4);
    bytes_uint(&b, 128, 4);
    for (int i = 0; i < 128; i++)
        put_f32(&b, i % 4 ? 1e-6f : 1.0f);
    files_put("few.dat", b.data, b.len);
    bytes_free(&b);
    for (int has = 0; has < 2; has++) {
        myth_mem *mem;
        myth_model a, m;
        myth_imatrix *im = NULL;
        float x[128], y[128];
        assert_ok(myth_mem_open(&mem, 0, &rig_err));
        assert_ok(myth_model_open(&a, mem, "random:gemma3-tiny:f32", NULL, &rig_err));
        if (has)
            assert_ok(myth_imatrix_open(&im, mem, files_path("few.dat"), &rig_err));
        assert_ok(myth_convert(
            &a, &(myth_convert_opts){.path = files_path("few.gguf"), .type = MYTH_Q4_1, .imatrix = im}, &rig_err));
        assert_ok(myth_model_open(&m, mem, files_path("few.gguf"), NULL, &rig_err));
        const myth_tensor *from = myth_weights_find(a.weights, "blk.2.ffn_down.weight"),
                          *to = myth_weights_find(m.weights, "blk.2.ffn_down.weight");
        assert_true(from && to && to->dtype == MYTH_Q4_1 && to->dim[1] == 128);
        for (uint64_t r = 0; r < to->dim[0]; r++) {
            assert_ok(myth_weights_random_fill(a.weights, from, 128 * r, 128, x, &rig_err));
            myth_dequant_row(to->dtype, y, (const unsigned char *)to->data + r * myth_row_bytes(to->dtype, 128), 128);
            for (int i = 0; i < 128; i += 4)
                e[has] += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
        }
        assert_int_equal(myth_meta_has(myth_weights_meta(m.weights), "quantize.imatrix.entries_count"), has);
        myth_imatrix_close(im);
        myth_model_close(&m);
        myth_model_close(&a);
        assert_int_equal(myth_mem_close(mem), 0);
    }
    printf("columns that count: %.3f of the error without\n", e[1] / e[0]);
    assert_true(e[1] < 0.75 * e[0]);
}

/* Experts have a stack of matrices, and each of them what went into it: gathered, and asked for by convert. */
static void test_experts(void **state)
{
    (void)state;
    static const char *const stack[] = {"blk.1.ffn_gate_up_exps.weight", "blk.2.ffn_down_exps.weight"};
    int32_t ids[50];
    golden g = {.n_tok = 50, .ids = ids};
    uint64_t rng = check_seed();
    uint32_t n_seen = 0, n_apart = 0;
    snprintf(g.path, sizeof(g.path), "random:gemma4-moe-tiny:f32");
    for (int i = 0; i < 50; i++)
        ids[i] = (int32_t)check_below(&rng, 512);
    gather(files_path("experts.gguf"), &g, "ref", 0);
    myth_mem *mem;
    myth_model a, m;
    myth_imatrix *im;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&a, mem, g.path, NULL, &rig_err));
    assert_ok(myth_imatrix_open(&im, mem, files_path("experts.gguf"), &rig_err));
    assert_ok(myth_convert(&a, &(myth_convert_opts){.path = files_path("moe.gguf"), .type = MYTH_Q4_1, .imatrix = im},
                           &rig_err));
    assert_ok(myth_model_open(&m, mem, files_path("moe.gguf"), NULL, &rig_err));
    for (int k = 0; k < 2; k++) {
        const myth_tensor *from = myth_weights_find(a.weights, stack[k]), *to = myth_weights_find(m.weights, stack[k]);
        assert_true(from && to && to->n_dim == 3 && to->dtype == MYTH_Q4_1 && to->dim[2] <= 64);
        const uint64_t cols = to->dim[2], n_byte = myth_row_bytes(to->dtype, cols);
        for (uint32_t e = 0; e < to->dim[0]; e++) {
            float x[64], importance[64];
            unsigned char made[64], plain[64];
            bool found;
            assert_ok(myth_imatrix_get(im, stack[k], e, (uint32_t)to->dim[0], cols, importance, &found, &rig_err));
            n_seen += found;
            for (uint64_t row = e * to->dim[1]; row < (e + 1) * to->dim[1]; row++) {
                assert_ok(myth_weights_random_fill(a.weights, from, cols * row, cols, x, &rig_err));
                myth_quant_row(MYTH_Q4_1, plain, x, cols);
                if (found)
                    myth_quant_fit_row(MYTH_Q4_1, made, x, importance, cols);
                assert_memory_equal((const unsigned char *)to->data + row * n_byte, found ? made : plain, n_byte);
                n_apart += found && memcmp(made, plain, n_byte) != 0;
            }
        }
    }
    assert_true(n_seen > 2 && n_apart > 0);
    myth_imatrix_close(im);
    myth_model_close(&m);
    myth_model_close(&a);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_transformers),
        cmocka_unit_test(test_only_looks),
        cmocka_unit_test(test_old_form),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
