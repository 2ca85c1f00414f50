/* test_block_types.c - a tiny model of every quantised type on every device. Its logits and every layer's residual
 * equal those of an exact run on the CPU with the dequantised weights: in chunks, all tokens at once, and token by
 * token on the decode path. test_model_types tests the CPU's fast levels. */
#include "engine/make/convert.h"
#include "tests/support/rig.h"

#include <math.h>
#include <unistd.h>

enum { CTX = 64, N_ID = 40, N_VOCAB = 512 };
/* Of the largest value of each array: the CPU, other devices in exact mode, other devices at their fastest. */
static const float TOLERANCE = 1e-4f, TOLERANCE_DEVICE = 2e-3f, TOLERANCE_FAST = 2e-2f;

static char dir[] = "/tmp/mythos-blocks-XXXXXX";
static int32_t ids[N_ID];

static const char *floats_path(char dst[64])
{
    snprintf(dst, 64, "%s/floats.gguf", dir);
    return dst;
}

static void dequantise(const char *from)
{
    char to[64];
    myth_mem *mem;
    myth_model m = {0};
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, from, &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, &rig_err));
    assert_ok(myth_convert(&m, &(myth_convert_opts){.path = floats_path(to), .type = MYTH_F32}, &rig_err));
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

enum how { ALL, CHUNKS, STEPS, HOW_N };
static const char *const how_name[HOW_N] = {"all at once", "chunks of 7", "steps"};

static void run(rows *w, const char *spec, const char *target, enum how how)
{
    rig r;
    myth_engine_opts o = {
        .n_threads = 2,
        .n_ctx = CTX,
        .n_ubatch = CTX,
        .n_logit_rows = CTX,
        .want_full_logits = true,
        .want_hidden = true,
    };
    rig_at(&o, target);
    rig_open(&r, spec, &o);
    rows_open(w, &r, N_ID, how != STEPS);
    myth_seq *s = rig_seq(&r);
    for (uint32_t i = 0; how == STEPS && i < N_ID; i++)
        rig_decode(&r, s, ids[i], w);
    if (how != STEPS)
        rig_feed(&r, s, ids, N_ID, how == CHUNKS ? 7 : 0, w);
    assert_int_equal(w->n_logits, N_ID);
    myth_seq_close(s);
    rig_close(&r);
}

static float share_used(const rows *w, const rows *want, float tolerance)
{
    const size_t n = (size_t)N_ID * w->d_model;
    float worst = share_apart(w->logits, want->logits, (size_t)N_ID * N_VOCAB);
    for (uint32_t l = 0; w->hidden && tolerance < TOLERANCE_FAST && l <= w->n_layer; l++)
        worst = fmaxf(worst, share_apart(w->hidden + l * n, want->hidden + l * n, n));
    return worst / tolerance;
}

/* The types, of which n are. */
static uint32_t list_types(myth_dtype type[MYTH_DTYPE_N])
{
    uint32_t n = 0;
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (myth_dtype_is_quant((myth_dtype)t))
            type[n++] = (myth_dtype)t;
    return n;
}

static void every_type_equals_its_dequantised_weights(void **state)
{
    (void)state;
    const char *target[RIG_TARGET_MAX];
    myth_dtype type[MYTH_DTYPE_N];
    const uint32_t n_target = rig_targets(target), n_type = list_types(type);
    uint32_t n_failed = 0, n_run = 0;
    for (int i = 0; i < N_ID; i++)
        ids[i] = (i * 37 + 5) % N_VOCAB;
    for (uint32_t t = 0; t < n_type; t++) {
        char spec[64], floats[64];
        rows want;
        if (!check_is_kept(t, n_type))
            continue;
        snprintf(spec, sizeof(spec), "random:gemma3-super:%s", myth_dtype_get(type[t])->name);
        dequantise(spec);
        run(&want, floats_path(floats), "exact", ALL);
        for (uint32_t v = 0; v < n_target; v++) {
            const bool is_cpu = !strchr(target[v], ':');
            const float tolerance = is_cpu ? TOLERANCE : rig_is_exact(target[v]) ? TOLERANCE_DEVICE : TOLERANCE_FAST;
            if (is_cpu && !rig_is_exact(target[v]))
                continue;
            printf("%-6s %-15s share of the tolerance:", myth_dtype_get(type[t])->name, target[v]);
            for (int how = 0; how < HOW_N; how++) {
                rows w;
                run(&w, spec, target[v], (enum how)how);
                const float used = share_used(&w, &want, tolerance);
                printf(" %s %.3f%s", how_name[how], (double)used, how + 1 < HOW_N ? "," : "\n");
                n_failed += !(used <= 1.0f);
                n_run++;
                rows_close(&w);
            }
        }
        rows_close(&want);
    }
    assert_int_equal(n_failed, 0);
    assert_true(n_run > 0);
}

int main(void)
{
    char floats[64];
    if (!mkdtemp(dir))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_equals_its_dequantised_weights)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(floats_path(floats));
    rmdir(dir);
    return failed;
}
