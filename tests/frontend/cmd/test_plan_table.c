/* The table of plans: every cell against what the published hyper-parameters give by the formulas, which are written
 * out here once more. The sums of parameters are those that were published, so the shapes are whole.
 *
 * Source   tables 1.1, 1.4, 3.1, 7.1 and 7.2 of the families' specification; shapes of a step's rows:
 *          engine/run/layout.h */
#include "tests/frontend/cli/cli_run.h"
#include "kernels/ops.h"

static cli_result r;

enum { PLAIN, SHARED_IS_WIDE = 1, VALUES_ARE_KEYS = 2 };
enum { FIRST, SECOND, THIRD, ENCODER, THREE_N, FOURTH };
enum { ROWS = 512, THREADS = 2, PAGE = 64, PLE_ROWS = 262144, KV_BYTES = 2, STEPS = 64, MIB = 1 << 20 };

typedef struct {
    const char *name;
    int family, how;
    uint64_t n_layer, d, n_head, n_kv, head, ff, vocab, window, n_ctx;
    uint64_t period; /* every so many layers a global one; 1 = all are        */
    uint64_t n_kv_global, head_global, n_shared, ple;
    uint64_t n_param; /* as published: 3n with the dead keys and values         */
    uint64_t n_expert, n_used, ff_expert;
} shape;

static const shape shapes[] = {
    {"gemma-2b", FIRST, 0, 18, 2048, 8, 1, 256, 16384, 256000, 0, 8192, 1, 1, 256, 0, 0, 2506172416, 0, 0, 0},
    {"gemma-7b", FIRST, 0, 28, 3072, 16, 16, 256, 24576, 256000, 0, 8192, 1, 16, 256, 0, 0, 8537680896, 0, 0, 0},
    {"gemma2-2b", SECOND, 0, 26, 2304, 8, 4, 256, 9216, 256000, 4096, 8192, 2, 4, 256, 0, 0, 2614341888, 0, 0, 0},
    {"gemma2-9b", SECOND, 0, 42, 3584, 16, 8, 256, 14336, 256000, 4096, 8192, 2, 8, 256, 0, 0, 9241705984, 0, 0, 0},
    {"gemma2-27b", SECOND, 0, 46, 4608, 32, 16, 128, 36864, 256000, 4096, 8192, 2, 16, 128, 0, 0, 27227128320, 0, 0, 0},
    {"gemma3-270m", THIRD, 0, 18, 640, 4, 1, 256, 2048, 262144, 512, 32768, 6, 1, 256, 0, 0, 268098176, 0, 0, 0},
    {"gemma3-1b", THIRD, 0, 26, 1152, 4, 1, 256, 6912, 262144, 512, 32768, 6, 1, 256, 0, 0, 999885952, 0, 0, 0},
    {"gemma3-4b", THIRD, 0, 34, 2560, 8, 4, 256, 10240, 262208, 1024, 131072, 6, 4, 256, 0, 0, 3880263168, 0, 0, 0},
    {"gemma3-12b", THIRD, 0, 48, 3840, 16, 8, 256, 15360, 262208, 1024, 131072, 6, 8, 256, 0, 0, 11766034176, 0, 0, 0},
    {"gemma3-27b", THIRD, 0,  62,  5376, 32, 16,          128, 21504, 262208, 1024,
     131072,       6,     16, 128, 0,    0,  27009346304, 0,   0,     0},
    {"embeddinggemma-300m",
     ENCODER,
     0,
     24,
     768,
     3,
     1,
     256,
     1152,
     262144,
     512,
     2048,
     6,
     1,
     256,
     0,
     0,
     302863104,
     0,
     0,
     0},
    {"gemma3n-e2b", THREE_N, 0, 30, 2048, 8, 2, 256, 8192, 262400, 512, 32768, 5, 2, 256, 10, 256, 4456156768, 0, 0, 0},
    {"gemma3n-e4b", THREE_N, 0, 35,  2048, 8,   2,          256, 16384, 262400, 512,
     32768,         5,       2, 256, 15,   256, 6866696688, 0,   0,     0},
    {"gemma4-e2b", FOURTH, SHARED_IS_WIDE, 35, 1536, 8, 1, 256, 6144, 262144, 512, 131072, 5, 1, 512,
     20,           256,    4628569379,     0,  0,    0},
    {"gemma4-e4b", FOURTH, PLAIN, 42,  2560, 8,   2,          256, 10240, 262144, 512,
     131072,       6,      2,     512, 18,   256, 7463013418, 0,   0,     0},
    {"gemma4-12b",
     FOURTH,
     VALUES_ARE_KEYS,
     48,
     3840,
     16,
     8,
     256,
     15360,
     262144,
     1024,
     262144,
     6,
     1,
     512,
     0,
     0,
     11907350320,
     0,
     0,
     0},
    {"gemma4-26b-a4b",
     FOURTH,
     VALUES_ARE_KEYS,
     30,
     2816,
     16,
     8,
     256,
     2112,
     262144,
     1024,
     262144,
     6,
     2,
     512,
     0,
     0,
     25233141790,
     128,
     8,
     704},
    {"gemma4-31b",
     FOURTH,
     VALUES_ARE_KEYS,
     60,
     5376,
     32,
     16,
     256,
     21504,
     262144,
     1024,
     262144,
     6,
     4,
     512,
     0,
     0,
     30697345340,
     0,
     0,
     0},
};
enum { N_SHAPE = sizeof(shapes) / sizeof(shapes[0]), N_ALTUP = 4, LAUREL = 64 };

static bool is_global(const shape *s, uint64_t l) { return (l + 1) % s->period == 0; }
static bool owns(const shape *s, uint64_t l) { return l < s->n_layer - s->n_shared; }
static uint64_t head_of(const shape *s, uint64_t l) { return is_global(s, l) ? s->head_global : s->head; }
static uint64_t kv_of(const shape *s, uint64_t l)
{
    return head_of(s, l) * (is_global(s, l) ? s->n_kv_global : s->n_kv);
}
static uint64_t ff_of(const shape *s, uint64_t l) { return s->ff * (s->how == SHARED_IS_WIDE && !owns(s, l) ? 2 : 1); }
static bool folds(const shape *s, uint64_t l) { return s->how == VALUES_ARE_KEYS && is_global(s, l); }
static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Elements of the tensors: in the type, in f32, single numbers, the table of per-layer embeddings, what no layer reads.
 */
typedef struct {
    uint64_t matrix, vector, scalar, table, dead;
} params;

static params params_of(const shape *s)
{
    params p = {.matrix = s->vocab * s->d, .vector = s->d};
    for (uint64_t l = 0; l < s->n_layer; l++) {
        const uint64_t q = s->n_head * head_of(s, l) * s->d, k = kv_of(s, l) * s->d, keys = k + (folds(s, l) ? 0 : k);
        p.matrix += 2 * q + 3 * s->d * ff_of(s, l);
        p.vector += s->d * (s->family == FIRST ? 2 : 4);
        *(owns(s, l) ? &p.matrix : &p.dead) += keys;
        if (s->family >= THIRD) {
            p.vector += head_of(s, l);
            *(owns(s, l) ? &p.vector : &p.dead) += head_of(s, l);
        }
        if (s->family == THREE_N) {
            p.vector += 3 * s->d + N_ALTUP * s->d + N_ALTUP * N_ALTUP * N_ALTUP +
                        N_ALTUP * N_ALTUP; /* router norm, output scale, Laurel's norm */
            p.matrix += 2 * LAUREL * s->d;
        }
        if (s->ple) {
            p.matrix += 2 * s->ple * s->d;
            p.vector += s->d;
        }
        if (s->n_expert) {
            p.matrix += s->n_expert * 3 * s->ff_expert * s->d;
            p.vector +=
                s->n_expert * s->d + s->d + s->n_expert + 3 * s->d; /* router, its scale, the experts', three norms */
        }
        p.scalar += s->family == FOURTH;
    }
    if (s->ple) {
        p.matrix += s->n_layer * s->ple * s->d;
        p.vector += s->ple;
        p.table = PLE_ROWS * s->n_layer * s->ple;
    }
    if (s->family == THREE_N)
        p.matrix += 2 * (N_ALTUP - 1) * s->d * s->d;
    return p;
}

static void parameters_are_those_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPE; i++) {
        const params p = params_of(&shapes[i]);
        assert_true(p.matrix + p.vector + p.scalar + p.table + (shapes[i].family == THREE_N ? p.dead : 0) ==
                    shapes[i].n_param);
    }
}

/* Bits of an element: bf16; blocks of 32 with an f16 scale. */
static uint64_t bytes_of(const char *type, uint64_t n)
{
    return strcmp(type, "bf16") == 0 ? 2 * n : strcmp(type, "q8_0") == 0 ? n / 32 * 34 : n / 32 * 18;
}

/* Keys and values of the layers of a kind that own some. An encoder keeps none. */
static uint64_t kv_bytes(const shape *s, uint64_t n_ctx, bool global)
{
    const uint64_t rows = s->family == ENCODER ? 0 : global ? n_ctx : n_ctx < s->window ? n_ctx : s->window;
    uint64_t sum = 0;
    for (uint64_t l = 0; l < s->n_layer; l++)
        if (is_global(s, l) == global && owns(s, l))
            sum += rows * kv_of(s, l) * KV_BYTES * (folds(s, l) ? 1 : 2);
    return sum;
}

typedef struct {
    uint64_t activations, attn_scratch, logits, capture, staging;
} step_bytes;

/* A step of `rows` rows: what is handed from op to op, and what the device needs beside it. */
static step_bytes step_of(const shape *s, uint64_t n_ctx, uint64_t rows)
{
    uint64_t q = 0, kv = 0, ff = 0, head = 0, n_kv = s->n_kv > s->n_kv_global ? s->n_kv : s->n_kv_global;
    bool has_local = false, has_folded = false;
    for (uint64_t l = 0; l < s->n_layer; l++) {
        q = larger(q, s->n_head * head_of(s, l));
        kv = larger(kv, kv_of(s, l));
        ff = larger(ff, ff_of(s, l));
        head = larger(head, head_of(s, l));
        has_local = has_local || !is_global(s, l);
        has_folded = has_folded || folds(s, l);
    }
    const uint64_t ple = s->n_layer * s->ple, n_used = rows * s->n_used, streams = s->family == THREE_N ? N_ALTUP : 1;
    uint64_t a = (streams + 2) * rows * s->d * 4; /* x, branch, xn          */
    a += s->family == THREE_N ? rows * (3 * s->d + LAUREL) * 4 : 0;
    a += rows * (q + 2 * kv) * 4 + 2 * rows * q * 4 + 2 * rows * ff * 4; /* qkv; q, o; up, h       */
    a += 2 * rows * kv * KV_BYTES *
         (s->n_shared ? 3 : 1); /* new keys and values; those that others read, of both kinds */
    a += has_folded ? n_ctx * (s->head_global / 8) * 8 : 0; /* a quarter of the pairs turns: cosine and sine */
    a += 2 * rows * ple * 4;                                /* of each layer; rows of the table */
    if (s->n_expert)
        a += rows * s->n_expert * 4 + n_used * 4 + 4 * (2 * n_used + s->n_expert + 1) + n_used * s->ff_expert * 4 +
             n_used * s->d * 4 + rows * s->d * 4;
    a += rows * s->head_global * 4 + (has_local ? rows * s->head * 4 : 0); /* rope                   */
    a += 4 * ((s->n_shared ? 7 : 4) * rows + rows * MYTH_RUN_WIDTH);       /* indices                */
    /* the tables of pages and of the ring; the row of the head */
    a += 8 * ((s->family == ENCODER ? 1 : (n_ctx + PAGE - 1) / PAGE) + 1) + s->d * 4;

    const myth_work_shape work = {
        .n_rows = (uint32_t)rows,
        .n_logit_rows = 1,
        .d_model = (uint32_t)s->d,
        .d_ff = (uint32_t)ff,
        .n_head = (uint32_t)s->n_head,
        .n_head_kv = (uint32_t)n_kv,
        .head_dim = (uint32_t)head,
        .n_vocab = (uint32_t)s->vocab,
        .n_ctx = (uint32_t)n_ctx,
        .top_k = 1,
        .folds_keys = has_folded,
    };
    myth_class_bytes host, own;
    myth_device_plan(&host, &own, &(myth_device_opts){.name = "cpu", .n_threads = THREADS}, &work);
    const bool is_encoder = s->family == ENCODER;
    return (step_bytes){
        .activations = a + host.bytes[MYTH_MEM_ACTIVATIONS],
        .attn_scratch = host.bytes[MYTH_MEM_ATTN_SCRATCH],
        .logits = 4 * (2 + 2 + 16 + 16 + STEPS) +
                  host.bytes[MYTH_MEM_LOGITS],       /* best id and logit, lse and entropy, a run of steps */
        .capture = is_encoder ? rows * s->d * 4 : 0, /* final rows             */
        .staging = MIB + 4 * STEPS + 4 * 4 + rows * ple * 4 + (is_encoder ? rows * s->d * 4 : 0),
    };
}

static uint64_t number(const json_t *row, const char *path) { return (uint64_t)cli_number(row, path); }

static void expect(const json_t *row, const char *path, uint64_t want)
{
    if (number(row, path) != want)
        fail_msg("%s %s at %llu: %s is %llu, by the formula %llu", json_string_value(json_object_get(row, "model")),
                 json_string_value(json_object_get(row, "type")), (unsigned long long)number(row, "n_ctx"), path,
                 (unsigned long long)number(row, path), (unsigned long long)want);
}

static void check_cell(const json_t *row, const shape *s, const char *type, uint64_t n_ctx)
{
    const params p = params_of(s);
    const uint64_t rows = s->family == ENCODER ? n_ctx : ROWS;
    const step_bytes step = step_of(s, n_ctx, rows);
    assert_string_equal(json_string_value(json_object_get(row, "model")), s->name);
    assert_string_equal(json_string_value(json_object_get(row, "type")), type);
    expect(row, "n_ctx", n_ctx);
    expect(row, "n_ubatch", rows);
    expect(row, "weights_bytes", bytes_of(type, p.matrix) + 4 * p.vector);
    expect(row, "ple_table_bytes", bytes_of(type, p.table));
    expect(row, "kv_global_bytes", kv_bytes(s, n_ctx, true));
    expect(row, "kv_ring_bytes", kv_bytes(s, n_ctx, false));
    expect(row, "classes.activations", step.activations);
    expect(row, "classes.attn_scratch", step.attn_scratch);
    expect(row, "classes.logits", step.logits);
    expect(row, "classes.capture", step.capture);
    expect(row, "classes.staging", step.staging);
    expect(row, "classes.weights_mapped", 0);
    uint64_t rest = 0; /* bookkeeping, by no published figure */
    static const char *const books[] = {"classes.graph", "classes.tokenizer", "classes.fixed", "classes.other"};
    for (int i = 0; i < 4; i++)
        rest += number(row, books[i]);
    assert_true(rest < 32 * MIB);
    expect(row, "scratch_bytes",
           step.activations + step.attn_scratch + step.logits + step.capture + step.staging + rest);
    expect(row, "total_bytes",
           number(row, "weights_bytes") + number(row, "kv_global_bytes") + number(row, "kv_ring_bytes") +
               number(row, "scratch_bytes"));
}

static void every_cell_is_what_the_formula_says(void **state)
{
    (void)state;
    static const char *const types[] = {"bf16", "q8_0", "q4_0"};
    static const uint64_t contexts[] = {1024, 8192, 32768, 131072};
    char path[256];
    size_t at = 0;
    cli_shell(&r, "\"$M\" plan --table --json --device cpu -t 2 >\"$D/table.json\"");
    assert_int_equal(r.code, 0);
    snprintf(path, sizeof(path), "%s/table.json", cli_dir);
    json_t *j = json_load_file(path, 0, NULL), *list = json_object_get(j, "rows");
    assert_non_null(j);
    for (size_t i = 0; i < N_SHAPE; i++)
        for (size_t t = 0; t < 3; t++)
            for (uint64_t k = 0, n_ctx = 0; k < 4 && n_ctx < shapes[i].n_ctx; k++) {
                n_ctx = contexts[k] < shapes[i].n_ctx ? contexts[k] : shapes[i].n_ctx;
                const json_t *row = json_array_get(list, at++);
                if (!row)
                    fail_msg("%s %s at %llu: no row", shapes[i].name, types[t], (unsigned long long)n_ctx);
                check_cell(row, &shapes[i], types[t], n_ctx);
            }
    assert_int_equal(json_array_size(list), at);
    printf("%zu cells\n", at);
    json_decref(j);
}

/* For people the same rows, one a line; -c leaves one context, flags of the engine count. */
static void lines_and_flags(void **state)
{
    (void)state;
    cli_expect(&r, "plan --table --device cpu -c 2048", 0);
    size_t n = 0;
    for (const char *at = r.out; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    assert_int_equal(n, 1 + 3 * N_SHAPE);
    assert_non_null(strstr(r.out, "\ngemma4-31b           q4_0     2048 "));
    cli_shell(&r, "for f in '' '-ctk q8_0' '-ctk f32' '--ple device'; do \"$M\" plan --table --json --device cpu -c "
                  "1024 $f >\"$D/$f.json\" || exit 9; done");
    assert_int_equal(r.code, 0);
    static const char *const flags[] = {"", "-ctk q8_0", "-ctk f32", "--ple device"};
    json_t *j[4];
    for (int i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s.json", cli_dir, flags[i]);
        assert_non_null(j[i] = json_load_file(path, 0, NULL));
        assert_int_equal(json_array_size(json_object_get(j[i], "rows")), 3 * N_SHAPE);
    }
    for (size_t i = 0; i < 3 * N_SHAPE; i++) {
        const json_t *row[4];
        for (int k = 0; k < 4; k++)
            row[k] = json_array_get(json_object_get(j[k], "rows"), i);
        const uint64_t kv = number(row[0], "kv_ring_bytes") + number(row[0], "kv_global_bytes"),
                       table = number(row[0], "ple_table_bytes");
        const bool is_encoder = strncmp(json_string_value(json_object_get(row[0], "model")), "embedding", 9) == 0;
        assert_true((kv > 0) == !is_encoder);
        assert_true(number(row[2], "kv_ring_bytes") + number(row[2], "kv_global_bytes") == 2 * kv);
        assert_true((number(row[1], "kv_ring_bytes") + number(row[1], "kv_global_bytes")) * 32 == kv / 2 * 34);
        assert_int_equal(number(row[3], "ple_table_bytes"), 0);
        assert_true(number(row[3], "weights_bytes") == number(row[0], "weights_bytes") + table);
    }
    for (int i = 0; i < 4; i++)
        json_decref(j[i]);
    cli_expect(&r, "plan --table README.md", 2);
    cli_expect(&r, "plan --table --for inspect-file", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_published),
        cmocka_unit_test(every_cell_is_what_the_formula_says),
        cmocka_unit_test(lines_and_flags),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
