/* test_weights.c - the forms of a model's spec, what each level of opening loads and books, the cache of hub ids,
 * random models, and failing allocations. */
#include "tests/support/files.h"

#include "engine/model/config.h"
#include "engine/make/gguf_write.h"
#include "engine/make/quant.h"
#include "frontend/cli/environment.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const specs[] = {"gemma3-sharded", "gemma3-mm", "gemma2-old", "gemma1-mqa"};

static const char *golden_path(const char *name)
{
    static char path[1024], rest[128];
    snprintf(rest, sizeof(rest), "tests/golden/models/%s", name);
    return check_path(path, sizeof(path), rest);
}

static myth_weights *open_ok(myth_mem *mem, const char *spec, myth_weights_level level, bool pread)
{
    myth_weights *w = NULL;
    myth_error err = {0};
    if (myth_weights_open(&w, mem, spec,
                          &(myth_weights_opts){.level = level, .pread = pread, .hub_dir = myth_env_hub_dir()},
                          &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return w;
}

static myth_mem *new_mem(void)
{
    myth_mem *mem;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    return mem;
}

/* ---- levels and the ledger ---- */

static void check_ledger(const char *spec, bool pread)
{
    uint64_t booked[2], mapped[2], sum[2];
    for (int level = MYTH_WEIGHTS_HEADER; level <= MYTH_WEIGHTS_DATA; level++) {
        myth_mem *mem = new_mem();
        myth_weights *w = open_ok(mem, spec, (myth_weights_level)level, pread);
        int i = level - MYTH_WEIGHTS_HEADER;
        bool is_read = pread && level == MYTH_WEIGHTS_DATA;
        booked[i] = myth_weights_booked(w);
        mapped[i] = myth_weights_mapped(w);
        sum[i] = myth_weights_bytes(w);
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).live, booked[i]);
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_OTHER).peak, booked[i]);
        assert_int_equal(myth_mem_get(mem, 0, is_read ? MYTH_MEM_WEIGHTS : MYTH_MEM_WEIGHTS_MAPPED).live, mapped[i]);
        assert_int_equal(myth_weights_is_read(w), pread);
        for (uint32_t t = 0; t < myth_weights_n_tensor(w); t++) {
            const myth_tensor *x = myth_weights_at(w, t);
            assert_ptr_equal(myth_weights_find(w, x->name.text), x);
            assert_int_equal(x->data != NULL, level == MYTH_WEIGHTS_DATA && mapped[i] > 0);
        }
        assert_null(myth_weights_find(w, "no such tensor"));
        assert_int_equal(myth_weights_check(w, NULL), MYTH_OK);
        myth_weights_close(w);
        assert_int_equal(myth_mem_close(mem), 0);
    }
    assert_int_equal(booked[0], booked[1]);
    assert_int_equal(mapped[0], mapped[1]);
    assert_int_equal(sum[0], sum[1]);
}

static void test_ledger(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        check_ledger(golden_path(specs[i]), false);
        check_ledger(golden_path(specs[i]), true);
    }
    check_ledger("random:gemma3-tiny:q8_0", false);
    check_ledger("random:gemma3-27b:bf16", false);
    myth_weights_close(NULL);
}

/* ---- mapped, read, sharded: the same bytes ---- */

static void test_same_bytes(void **state)
{
    (void)state;
    myth_mem *mem = new_mem();
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        myth_weights *a = open_ok(mem, golden_path(specs[i]), MYTH_WEIGHTS_DATA, false);
        myth_weights *b = open_ok(mem, golden_path(specs[i]), MYTH_WEIGHTS_DATA, true);
        assert_int_equal(myth_weights_n_tensor(a), myth_weights_n_tensor(b));
        for (uint32_t t = 0; t < myth_weights_n_tensor(a); t++) {
            const myth_tensor *x = myth_weights_at(a, t), *y = myth_weights_find(b, x->name.text);
            assert_true(y && x->bytes == y->bytes && x->dtype == y->dtype && (uintptr_t)x->data % 4 == 0);
            assert_memory_equal(x->data, y->data, x->bytes);
        }
        myth_weights_close(a);
        myth_weights_close(b);
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

/* ---- every allocation failing once ---- */

/* ---- who watches ---- */

typedef struct {
    uint64_t bytes;
    uint32_t n, stop_at; /* files; 0 = never */
    myth_cancel stop;
} reading;

static void on_read(void *user, uint64_t done, uint64_t total)
{
    reading *r = user;
    assert_int_equal(done, total); /* small files are read in one piece */
    r->bytes += done;
    if (++r->n == r->stop_at)
        myth_cancel_set(&r->stop);
}

static void reading_files_tells_how_far_it_is_and_ends(void **state)
{
    (void)state;
    for (uint32_t stop_at = 0; stop_at < 3; stop_at++)
        for (int pread = 0; pread < 2; pread++) {
            reading r = {.stop_at = stop_at};
            myth_mem *mem = new_mem();
            myth_weights *w = NULL;
            myth_error err = {0};
            const myth_weights_opts opts = {
                .level = MYTH_WEIGHTS_DATA,
                .pread = pread,
                .watch = {.on_progress = on_read, .user = &r, .cancel = &r.stop},
            };
            const myth_status st = myth_weights_open(&w, mem, golden_path("gemma3-sharded"), &opts, &err);
            assert_int_equal(st, pread && stop_at ? MYTH_ECANCEL : MYTH_OK);
            if (st == MYTH_OK)
                assert_true(r.n == (pread ? myth_weights_n_file(w) : 0) &&
                            r.bytes == (pread ? myth_weights_mapped(w) : 0));
            else
                assert_true(r.n == stop_at && strstr(err.msg, ": cancelled at byte "));
            myth_weights_close(w);
            assert_int_equal(myth_mem_close(mem), 0);
        }
}

static void test_faults(void **state)
{
    (void)state;
    static myth_config c;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]) + 1; i++) {
        const char *spec = i < sizeof(specs) / sizeof(specs[0]) ? golden_path(specs[i]) : "random:gemma2-tiny:f32";
        int n = 0;
        for (uint64_t nth = 1;; nth++) {
            myth_mem *mem = new_mem();
            myth_weights *w = NULL;
            myth_error err = {0};
            myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
            myth_status st = myth_weights_open(&w, mem, spec, NULL, &err);
            bool was_hit = myth_mem_n_alloc(mem) >= nth;
            if (st == MYTH_OK) {
                st = myth_config_read(&c, w, &err);
                myth_weights_close(w);
            }
            assert_int_equal(st, was_hit ? MYTH_ENOMEM : MYTH_OK);
            assert_int_equal(myth_mem_close(mem), 0);
            n++;
            if (!was_hit)
                break;
        }
        printf("%s: %d allocations failed\n", spec, n - 1);
    }
}

/* ---- the cache of hub ids ---- */

static void test_hub(void **state)
{
    (void)state;
    char source[PATH_MAX], link_path[PATH_MAX];
    static const char *const names[] = {"config.json", "model.safetensors"};
    const char *root = "hub/models--org--my-model_1.5";
    myth_error err;
    setenv("HF_HUB_CACHE", files_path("hub"), 1);
    assert_int_equal(files_try("absent", "org/my-model_1.5", MYTH_WEIGHTS_DATA, &err), MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "hf download org/my-model_1.5"));

    static const char *const folders[] = {"", "/refs", "/blobs", "/snapshots", "/snapshots/0abc"};
    files_mkdir("hub");
    for (int i = 0; i < 5; i++) {
        snprintf(link_path, sizeof(link_path), "%s%s", root, folders[i]);
        files_mkdir(link_path);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(source, sizeof(source), "%s/%s", golden_path("gemma1-mqa"), names[i]);
        FILE *f = fopen(source, "rb");
        assert_non_null(f);
        bytes b = {0};
        for (int ch; (ch = fgetc(f)) != EOF;)
            bytes_uint(&b, (uint64_t)ch, 1);
        fclose(f);
        snprintf(link_path, sizeof(link_path), "%s/blobs/%d", root, i);
        files_put(link_path, b.data, b.len);
        bytes_free(&b);
        snprintf(source, sizeof(source), "../../blobs/%d", i);
        snprintf(link_path, sizeof(link_path), "%s/snapshots/0abc/%s", root, names[i]);
        assert_int_equal(symlink(source, files_path(link_path)), 0);
    }
    assert_int_equal(files_try("no refs", "org/my-model_1.5", MYTH_WEIGHTS_DATA, &err), MYTH_ENOTFOUND);
    snprintf(link_path, sizeof(link_path), "%s/refs/main", root);
    files_text(link_path, "0abc");
    files_expect("by id", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_OK);
    snprintf(source, sizeof(source), "%s/snapshots/0abc", root);
    files_expect("the snapshot as a folder", files_path(source), MYTH_WEIGHTS_DATA, MYTH_OK);
    files_text(link_path, "0abc\n");
    files_expect("by id, a line in refs/main", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_OK);
    files_text(link_path, "../../../../etc");
    files_expect("refs/main with a path", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_ENOTFOUND);
    files_text(link_path, "1abc");
    files_expect("refs/main to nowhere", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_ENOTFOUND);
    files_text(link_path, "0abc");

    /* HF_HOME and XDG_CACHE_HOME, in that order */
    unsetenv("HF_HUB_CACHE");
    setenv("HF_HOME", files_dir(), 1);
    files_expect("by HF_HOME", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_OK);
    unsetenv("HF_HOME");
    setenv("XDG_CACHE_HOME", files_dir(), 1);
    files_expect("not in XDG_CACHE_HOME", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_ENOTFOUND);
    files_mkdir("huggingface");
    assert_int_equal(rename(files_path("hub"), files_path("huggingface/hub")), 0);
    files_expect("in XDG_CACHE_HOME", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_OK);

    myth_mem *mem = new_mem();
    myth_weights *w = NULL; /* without hub_dir an id is a path, whatever the environment says */
    assert_int_equal(
        myth_weights_open(&w, mem, "org/my-model_1.5", &(myth_weights_opts){.level = MYTH_WEIGHTS_CONFIG}, &err),
        MYTH_ENOTFOUND);
    assert_string_equal(err.option, "hub_dir");
    w = open_ok(mem, "org/my-model_1.5", MYTH_WEIGHTS_CONFIG, false);
    assert_string_equal(myth_weights_name(w), "org/my-model_1.5");
    assert_non_null(myth_weights_dir(w));
    myth_weights_close(w);
    myth_mem_close(mem);

    /* a blob of this cache entry, not of another */
    snprintf(link_path, sizeof(link_path), "huggingface/%s/snapshots/0abc/model.safetensors", root);
    unlink(files_path(link_path));
    assert_int_equal(symlink("../../../blobs/1", files_path(link_path)), 0);
    files_mkdir("huggingface/hub/blobs");
    files_text("huggingface/hub/blobs/1", "x");
    files_expect("a link out of the cache entry", "org/my-model_1.5", MYTH_WEIGHTS_DATA, MYTH_EFORMAT);
}

static void test_specs(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        myth_status status;
    } row[] = {
        {"", MYTH_ENOTFOUND},
        {"/no/such/path", MYTH_ENOTFOUND},
        {"a/b/c", MYTH_ENOTFOUND},
        {"../x", MYTH_ENOTFOUND},
        {"random:", MYTH_EARG},
        {"random:gemma3-1b", MYTH_EARG},
        {"random:gemma3-1b:", MYTH_EARG},
        {"random:gemma3-1b:q9", MYTH_EARG},
        {"random:gemma3-1b:i32", MYTH_EARG},
        {"random:gemma3-9b:f32", MYTH_EARG},
        {"random:gemma3-1b:f32:x", MYTH_EARG},
        {"random:gemma3-1b:f32:", MYTH_EARG},
        {"random:gemma3-1b:F32:12", MYTH_OK},
        {"random:gemma2-27b:q4_0", MYTH_OK},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        files_expect(row[i].spec, row[i].spec, MYTH_WEIGHTS_DATA, row[i].status);
    char longer[PATH_MAX + 8];
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = 0;
    files_expect("long path", longer, MYTH_WEIGHTS_DATA, MYTH_EARG);
    files_mkdir("empty");
    files_expect("empty folder", files_path("empty"), MYTH_WEIGHTS_CONFIG, MYTH_ENOTFOUND);
    files_text("text.txt", "hello, this is not a model at all");
    files_expect("some file", files_path("text.txt"), MYTH_WEIGHTS_CONFIG, MYTH_EFORMAT);
    assert_int_equal(mkfifo(files_path("fifo.gguf"), 0600), 0);
    files_expect("FIFO", files_path("fifo.gguf"), MYTH_WEIGHTS_CONFIG, MYTH_EIO);
}

/* Files of torch.save, alone and in a folder, say that they are pickled. */
static void test_pickled(void **state)
{
    (void)state;
    static const char *const file[] = {"pytorch_model.bin", "pytorch_model.bin.index.json",
                                       "pytorch_model-00001-of-00002.bin"};
    myth_error err;
    files_mkdir("pickled");
    for (int i = 0; i < 6; i++) {
        char name[96];
        files_clear("pickled");
        snprintf(name, sizeof(name), "pickled/%s", file[i / 2]);
        files_text(name, "PK\3\4");
        if (i % 2)
            files_text("pickled/config.json", "{\"model_type\":\"gemma3_text\"}");
        assert_int_equal(files_try(name, files_path("pickled"), MYTH_WEIGHTS_DATA, &err), MYTH_EUNSUPPORTED);
        assert_non_null(strstr(err.msg, "save_pretrained(safe_serialization=True)"));
    }
    files_text("w.bin", "PK\3\4 and so on");
    assert_int_equal(files_try("w.bin", files_path("w.bin"), MYTH_WEIGHTS_DATA, &err), MYTH_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "pickled weights are not read"));
    files_text("old.bin", "\x80\2\x8a and so on");
    files_expect("a pickle", files_path("old.bin"), MYTH_WEIGHTS_DATA, MYTH_EUNSUPPORTED);
}

/* ---- random models ---- */

static void test_random(void **state)
{
    (void)state;
    myth_mem *mem = new_mem();
    myth_error err = {0};
    static const char *const types[] = {"f32", "f16", "bf16", "q8_0", "q4_0"};
    myth_weights *f = open_ok(mem, "random:gemma3-tiny:f32", MYTH_WEIGHTS_DATA, false);
    const myth_tensor *x = myth_weights_find(f, "blk.1.ffn_down.weight");
    const uint64_t n = x->dim[0] * x->dim[1];
    float *value = malloc(n * 4), *piece = malloc(n * 4);
    unsigned char *whole = malloc(n * 4), *parts = malloc(n * 4), *made = malloc(n * 4);
    assert_int_equal(myth_weights_random_fill(f, x, 0, n, value, &err), MYTH_OK);

    /* Values of the rule in weights_random.c, computed apart from it (numpy). */
    static const float first[] = {0x1.80e058p-4f, 0x1.d4f67ap-5f, 0x1.d06612p-4f, -0x1.ae8e38p-4f};
    assert_memory_equal(value, first, sizeof(first));
    double sum = 0, square = 0;
    for (uint64_t i = 0; i < n; i++) {
        sum += (double)value[i];
        square += (double)value[i] * (double)value[i];
    }
    assert_true(sum / (double)n < 0.01 && sum / (double)n > -0.01);
    assert_true(square / (double)n * (double)x->dim[1] > 0.9 && square / (double)n * (double)x->dim[1] < 1.1);

    for (int t = 0; t < 5; t++) {
        char spec[64];
        snprintf(spec, sizeof(spec), "random:gemma3-tiny:%s", types[t]);
        myth_weights *w = open_ok(mem, spec, MYTH_WEIGHTS_DATA, false);
        const myth_tensor *y = myth_weights_find(w, "blk.1.ffn_down.weight");
        assert_int_equal(myth_weights_random_fill(w, y, 0, n, whole, &err), MYTH_OK);
        myth_quant_row(y->dtype, made, value, n);
        assert_memory_equal(whole, made, y->bytes); /* quantised values of the same floats */
        for (uint64_t at = 0; at < n;) {            /* any split gives the same bytes      */
            uint64_t k = 32 * (1 + at / 32 % 11);
            k = k < n - at ? k : n - at;
            assert_int_equal(myth_weights_random_fill(w, y, at, k, parts + myth_row_bytes(y->dtype, at), &err),
                             MYTH_OK);
            at += k;
        }
        assert_memory_equal(whole, parts, y->bytes);
        if (myth_dtype_block(y->dtype) > 1)
            assert_int_equal(myth_weights_random_fill(w, y, 1, 32, parts, &err), MYTH_EARG);
        myth_weights_close(w);
    }
    myth_weights *other = open_ok(mem, "random:gemma3-tiny:f32:2", MYTH_WEIGHTS_DATA, false);
    assert_int_equal(
        myth_weights_random_fill(other, myth_weights_find(other, "blk.1.ffn_down.weight"), 0, n, piece, &err), MYTH_OK);
    assert_memory_not_equal(piece, value, n * 4);
    const myth_tensor *norm = myth_weights_find(f, "blk.0.attn_norm.weight");
    assert_int_equal(norm->dtype, MYTH_F32);
    assert_int_equal(myth_weights_random_fill(f, norm, 0, norm->dim[0], piece, &err), MYTH_OK);
    assert_true(piece[0] == 0x1.efe0dep-1f && piece[1] == 0x1.90ed98p-1f);
    for (uint64_t i = 0; i < norm->dim[0]; i++)
        assert_true(piece[i] > 0.5f && piece[i] < 1.5f);
    free(value), free(piece), free(whole), free(parts), free(made);
    myth_weights_close(f);
    myth_weights_close(other);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* A span that several threads fill is the same as its pieces, each too small for that. */
static void test_random_large(void **state)
{
    (void)state;
    enum { PIECE = 1 << 14, FIRST = 96 };
    static const char *const large[] = {"random:gemma3-270m:q4_0", "random:gemma3-270m:bf16"};
    for (int i = 0; i < 2; i++) {
        myth_mem *mem = new_mem();
        myth_error err = {0};
        myth_weights *w = open_ok(mem, large[i], MYTH_WEIGHTS_DATA, false);
        const myth_tensor *t = myth_weights_find(w, "blk.3.ffn_up.weight");
        const uint64_t n = t->dim[0] * t->dim[1] - FIRST;
        unsigned char *whole = malloc(t->bytes), *parts = malloc(t->bytes);
        assert_true(n > 16 * PIECE);
        assert_int_equal(myth_weights_random_fill(w, t, FIRST, n, whole, &err), MYTH_OK);
        for (uint64_t at = 0; at < n; at += PIECE)
            assert_int_equal(myth_weights_random_fill(w, t, FIRST + at, n - at < PIECE ? n - at : PIECE,
                                                      parts + myth_row_bytes(t->dtype, at), &err),
                             MYTH_OK);
        assert_memory_equal(whole, parts, myth_row_bytes(t->dtype, n));
        free(whole), free(parts);
        myth_weights_close(w);
        assert_int_equal(myth_mem_close(mem), 0);
    }
}

/* ---- GGUF facts ---- */

static void test_gguf_strings(void **state)
{
    (void)state;
    enum { N = 20000 };
    myth_mem *mem = new_mem();
    myth_error err = {0};
    myth_gguf_writer *g;
    char text[32];
    assert_int_equal(myth_gguf_open(&g, mem, files_path("s.gguf"), 0, &err), MYTH_OK);
    myth_gguf_put_str(g, "general.architecture", (myth_str){"gemma", 5});
    for (int k = 0; k < 2; k++) {
        myth_gguf_put_array(g, k ? "other" : "tokenizer.ggml.tokens", MYTH_GGUF_STRING, N);
        for (int i = 0; i < N; i++) {
            int n = snprintf(text, sizeof(text), "%.*s%d", i % 7, "pieces.", i);
            myth_gguf_item_str(g, (myth_str){text, (size_t)n});
        }
    }
    assert_int_equal(myth_gguf_close(g, true, &err), MYTH_OK);
    myth_weights *w = open_ok(mem, files_path("s.gguf"), MYTH_WEIGHTS_CONFIG, false);
    for (int k = 0; k < 2; k++) {
        const myth_meta_value *a = myth_meta_find(myth_weights_meta(w), k ? "other" : "tokenizer.ggml.tokens");
        uint64_t pos = 0;
        myth_str s, q;
        assert_true(a && a->count == N && (a->str_off != NULL) == (k == 0));
        for (int i = 0; i < N; i++) {
            int n = snprintf(text, sizeof(text), "%.*s%d", i % 7, "pieces.", i);
            assert_true(myth_meta_next_str(&s, a, &pos) && s.len == (size_t)n && memcmp(s.text, text, s.len) == 0);
            if (k == 0 || i % 1000 == 0)
                assert_true(myth_meta_item_str(&q, a, (uint64_t)i) && q.text == s.text && q.len == s.len);
        }
        assert_true(!myth_meta_next_str(&s, a, &pos) && !myth_meta_item_str(&s, a, N));
    }
    myth_weights_close(w);
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_random),
        cmocka_unit_test(reading_files_tells_how_far_it_is_and_ends),
        cmocka_unit_test(test_gguf_strings),
        cmocka_unit_test(test_random_large),
        cmocka_unit_test(test_pickled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
