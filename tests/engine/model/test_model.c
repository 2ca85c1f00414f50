/* test_model.c - --check-tensors finds the one value that is not finite, in every type. Each level of opening opens
 * what model.h says. */
#include "engine/make/convert.h"
#include "tests/support/rig.h"

#include <unistd.h>

static char path[] = "/tmp/mythos-model-XXXXXX.gguf";

static void open_at(myth_model *m, myth_mem *mem, const char *spec, myth_weights_level level)
{
    assert_ok(myth_model_open(m, mem, spec, &(myth_weights_opts){.level = level}, &rig_err));
}

static void put_u16(uint64_t off, uint16_t v)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)off, SEEK_SET), 0);
    assert_int_equal(fputc(v & 255, f), v & 255);
    assert_int_equal(fputc(v >> 8, f), v >> 8);
    fclose(f);
}

static myth_status check(myth_mem *mem)
{
    myth_model m = {0};
    open_at(&m, mem, path, MYTH_WEIGHTS_DATA);
    rig_err = (myth_error){0};
    myth_status st = myth_model_check_tensors(&m, &rig_err);
    myth_model_close(&m);
    return st;
}

static void check_tensors_names_the_bad_one(void **state)
{
    (void)state;
    static const struct {
        myth_dtype type;
        uint16_t bad[3], good;
    } row[] = {
        /* top half of an f32; a whole f16, bf16; a scale */
        {MYTH_F32, {0x7fc0, 0x7f80, 0xff80}, 0x7f7f},  {MYTH_F16, {0x7e00, 0x7c00, 0xfc00}, 0x7bff},
        {MYTH_BF16, {0x7fc0, 0x7f80, 0xff80}, 0x7f7f}, {MYTH_Q8_0, {0x7e00, 0x7c00, 0xfc00}, 0x7bff},
        {MYTH_Q4_0, {0x7e00, 0x7c00, 0xfc00}, 0x7bff},
    };
    myth_mem *mem;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        myth_model m = {0};
        char name[128] = "";
        open_at(&m, mem, "random:gemma2-tiny:f32", MYTH_WEIGHTS_DATA);
        assert_ok(myth_convert(&m, &(myth_convert_opts){.path = path, .type = row[i].type}, &rig_err));
        myth_model_close(&m);
        assert_ok(check(mem));
        open_at(&m, mem, path, MYTH_WEIGHTS_HEADER);
        uint64_t off = 0;
        for (uint32_t t = 0; t < myth_weights_n_tensor(m.weights);
             t++) { /* the last value of the last tensor of the type */
            const myth_tensor *x = myth_weights_at(m.weights, t);
            if (x->dtype != row[i].type)
                continue;
            off = x->off + x->bytes - myth_dtype_block_bytes(x->dtype) + (x->dtype == MYTH_F32 ? 2 : 0);
            snprintf(name, sizeof(name), "%.*s", (int)x->name.len, x->name.text);
        }
        myth_model_close(&m);
        assert_true(off > 0);
        for (int k = 0; k < 3; k++) {
            put_u16(off, row[i].bad[k]);
            assert_int_equal(check(mem), MYTH_EFORMAT);
            assert_non_null(strstr(rig_err.msg, name));
        }
        put_u16(off, row[i].good);
        assert_ok(check(mem));
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

static void levels_open_what_they_promise(void **state)
{
    (void)state;
    myth_mem *mem;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    for (int level = MYTH_WEIGHTS_CONFIG; level <= MYTH_WEIGHTS_DATA; level++) {
        myth_model m = {0};
        open_at(&m, mem, path, (myth_weights_level)level);
        assert_int_equal(m.config.family, MYTH_FAMILY_GEMMA2);
        assert_int_equal(m.config.n_vocab, 512);
        assert_non_null(m.tokenizer);
        for (uint32_t t = 0; t < myth_weights_n_tensor(m.weights); t++)
            assert_int_equal(myth_weights_at(m.weights, t)->data != NULL, level == MYTH_WEIGHTS_DATA);
        assert_true(level == MYTH_WEIGHTS_CONFIG || myth_weights_n_tensor(m.weights) == 4 * 11 + 2);
        myth_model_close(&m);
        myth_model_close(&m); /* a closed one is a zeroed one */
        assert_int_equal(myth_mem_total(mem, 0).live, 0);
        assert_int_equal(myth_mem_get(mem, 0, MYTH_MEM_WEIGHTS_MAPPED).live, 0);
    }
    myth_model m = {0};
    const myth_weights_opts data = {.level = MYTH_WEIGHTS_DATA};
    assert_int_equal(myth_model_open(&m, mem, "/nowhere/at/all", &data, &rig_err), MYTH_ENOTFOUND);
    assert_null(m.weights);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

/* Zeroed options are level CONFIG: an engine of such a model has no weights to read, a plan no shapes. */
static void a_model_without_its_bytes_runs_no_engine(void **state)
{
    (void)state;
    myth_mem *mem;
    const char *spec[] = {path, "random:gemma2-tiny:f32"};
    const myth_engine_opts o = {.device = "cpu", .n_threads = 1, .n_ctx = 32};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    for (int i = 0; i < 2; i++)
        for (int level = MYTH_WEIGHTS_CONFIG; level <= MYTH_WEIGHTS_DATA; level++) {
            myth_model m = {0};
            myth_engine *e = NULL;
            myth_plan plan;
            open_at(&m, mem, spec[i], (myth_weights_level)level);
            rig_err = (myth_error){0};
            assert_int_equal(myth_plan_make(&plan, &m, &o, NULL, NULL, false, &rig_err),
                             level == MYTH_WEIGHTS_CONFIG ? MYTH_EARG : MYTH_OK);
            assert_int_equal(myth_engine_open(&e, &m, &o, &rig_err), level == MYTH_WEIGHTS_DATA ? MYTH_OK : MYTH_EARG);
            if (level < MYTH_WEIGHTS_DATA)
                assert_string_equal(rig_err.option, "level");
            myth_engine_close(e);
            myth_model_close(&m);
        }
    assert_int_equal(myth_mem_close(mem), 0);
}

int main(void)
{
    int fd = mkstemps(path, 5);
    if (fd < 0)
        return 1;
    close(fd);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_tensors_names_the_bad_one),
        cmocka_unit_test(levels_open_what_they_promise),
        cmocka_unit_test(a_model_without_its_bytes_runs_no_engine),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
