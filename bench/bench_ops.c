/* bench_ops.c - runs every CASE_BENCH row of tests/kernels/cases.def on the CPU levels and devices present, and prints
 * microseconds, rate and the ratio to the machine's limit.
 *
 *   bench_ops [-t N] [--target T] [OP ...]        T: ref avx2 avx512 amx neon vulkan:0 cuda:0
 *
 * Time     the median of repetitions over half a second. Caches are filled with other bytes before each repetition
 * Limit    the larger of bytes / read bandwidth and flops / peak of the product. Both rates are measured at the start
 *          (frontend/cli/machine_limits.h, CPU only). The ratio is limit / time. Bytes are those that must come from
 *          memory once: weights, cached rows, inputs, outputs */
#include "tests/kernels/op_case.h"
#include "engine/base/clock.h"
#include "frontend/cli/machine_limits.h"

enum { REPEAT_MAX = 400, FLUSH_BYTES = 64 << 20 };

struct cost {
    double bytes, flops;
};

/* How many keys the rows of the case see, added over all rows. *n_cached is how many cached rows are read at least
 * once, for each head and for K or V. */
static double count_keys(const struct kernel_case *c, double *n_cached)
{
    double n = 0.0;
    uint32_t pos0, row0, n_rows, n_run = c->n_run ? c->n_run : 1;
    *n_cached = 0.0;
    for (uint32_t run = 0; run < n_run; run++) {
        case_run(c, run, &pos0, &row0, &n_rows);
        for (uint32_t i = 0; i < n_rows; i++)
            n += c->window && pos0 + i + 1 > c->window ? c->window : pos0 + i + 1;
        *n_cached += (c->window && pos0 > c->window ? c->window : pos0) + n_rows;
    }
    return n;
}

static struct cost op_cost(const struct kernel_case *c)
{
    double rows = c->rows, dim = c->dim, hd = c->head_dim, heads = c->n_head, kv = c->n_head_kv, n_cached, keys;
    double weight = (double)myth_dtype_block_bytes(c->type) / myth_dtype_block(c->type);
    double cell = (c->form == FORM_FOLDED ? 0.0 : (double)myth_row_bytes(c->type_k, c->head_dim)) +
                  (double)myth_row_bytes(c->type_v, c->head_dim);
    switch (c->op) {
    case MYTH_OP_embed_gather: return (struct cost){rows * dim * (weight + 4.0), rows * dim};
    case MYTH_OP_rope_table: return (struct cost){rows * hd * 4.0, 0.0};
    case MYTH_OP_rms_norm: return (struct cost){rows * dim * 4.0 * (3.0 + c->has_pend), rows * dim * 8.0};
    case MYTH_OP_proj:
        return (struct cost){dim * c->n_out * weight + rows * (dim + c->n_out) * 4.0, 2.0 * rows * dim * c->n_out};
    case MYTH_OP_norm_qkv_rope_store:
        return (struct cost){dim * (heads + 2.0 * kv) * hd * weight + rows * (3.0 * dim + heads * hd) * 4.0 +
                                 rows * kv * cell,
                             2.0 * rows * dim * (heads + 2.0 * kv) * hd};
    case MYTH_OP_attn_prefill:
    case MYTH_OP_attn_decode:
        keys = count_keys(c, &n_cached);
        return (struct cost){n_cached * kv * cell + rows * heads * hd * 8.0, 4.0 * keys * heads * hd};
    case MYTH_OP_attn_mass: /* every head reads the keys */
        keys = count_keys(c, &n_cached);
        return (struct cost){n_cached * kv * (cell / 2.0) + rows * heads * hd * 4.0, 2.0 * keys * heads * hd};
    case MYTH_OP_norm_ffn_geglu:
        return (struct cost){2.0 * dim * c->d_ff * weight + rows * (3.0 * dim + c->d_ff) * 4.0,
                             4.0 * rows * dim * c->d_ff};
    case MYTH_OP_add_low_rank:
        return (struct cost){(2 * rows + c->dim) * c->n_out * 4.0, rows * c->n_out * c->dim * 2.0};
    case MYTH_OP_geglu: return (struct cost){rows * c->d_ff * 12.0, rows * c->d_ff * 10.0};
    case MYTH_OP_head_topk:
    case MYTH_OP_head_logits: return (struct cost){dim * c->n_vocab * weight, 2.0 * rows * dim * c->n_vocab};
    case MYTH_OP_capture_sum:
        return (struct cost){c->n_out * dim * 4.0 * (1.0 + c->has_pend) + c->k * dim * 16.0, c->n_out * dim * 8.0};
    case MYTH_OP_ple_gate:
        return (struct cost){dim * c->d_ff * weight + rows * (3.0 * dim + 2.0 * c->d_ff) * 4.0,
                             2.0 * rows * dim * c->d_ff};
    case MYTH_OP_moe_geglu:
    case MYTH_OP_moe_down: { /* every entry has its own expert, until there are no more experts */
        double entries = rows * c->k, read = entries < c->n_expert ? entries : c->n_expert,
               cells = (c->op == MYTH_OP_moe_geglu ? 2.0 : 1.0) * dim * c->d_ff;
        return (struct cost){read * cells * weight + entries * (dim + c->d_ff) * 4.0, 2.0 * entries * cells};
    }
    case MYTH_OP_altup_predict:
    case MYTH_OP_altup_correct:
        return (struct cost){rows * dim * 4.0 * (2.0 * c->n_stream + 2.0),
                             rows * dim * 2.0 * c->n_stream * c->n_stream};
    default: return (struct cost){0.0, 0.0};
    }
}

/* The weight type of the products in the op. */
static myth_dtype product_type(const struct kernel_case *c)
{
    return c->op == MYTH_OP_attn_prefill || c->op == MYTH_OP_attn_decode || c->op == MYTH_OP_attn_mass || !c->dim
             ? MYTH_F32
             : c->type;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_op(struct rig *r, const struct kernel_case *c, const union op_args *a, unsigned char *flush)
{
    static double us[REPEAT_MAX];
    int n = 0;
    double begin = myth_seconds();
    while (n < 3 || (n < REPEAT_MAX && myth_seconds() - begin < 0.5)) {
        memset(flush, n, FLUSH_BYTES);
        double start = myth_seconds();
        issue_op(r->s, c->op, a);
        rig_must(myth_stream_sync(r->s, NULL) == MYTH_OK, "an op failed");
        us[n++] = (myth_seconds() - start) * 1e6;
    }
    qsort(us, (size_t)n, sizeof(us[0]), by_value);
    return us[n / 2];
}

static bool is_wanted(const char *name, char **ops, int n_op)
{
    for (int i = 0; i < n_op; i++)
        if (strcmp(ops[i], name) == 0)
            return true;
    return n_op == 0;
}

static void run_target(const char *target, int n_threads, char **ops, int n_op)
{
    struct rig r;
    myth_error err;
    if (!rig_open(&r, target, n_threads, CASE_BENCH, &err)) {
        printf("# %s\n", err.msg);
        return;
    }
    unsigned char *space = malloc(FLUSH_BYTES);
    rig_must(space != NULL, "memory");
    const myth_device_caps *caps = myth_device_get_caps(r.dev);
    myth_machine_limits limits[MYTH_DTYPE_N] = {{0}};
    for (int t = 0; t < MYTH_DTYPE_N && caps->is_host_visible; t++)
        if (t == MYTH_F32 || t == MYTH_BF16 || t == MYTH_Q8_0)
            rig_must(myth_limits_measure(&limits[t], r.mem, caps->n_threads, (myth_dtype)t, caps->level, NULL) ==
                         MYTH_OK,
                     "limits");
    limits[MYTH_F16] = limits[MYTH_F32];
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (myth_dtype_is_quant((myth_dtype)t))
            limits[t] = limits[MYTH_Q8_0];
    double read_gbs = limits[MYTH_F32].read_bytes * 1e-9;
    printf("# %s: read %.1f GB/s; peak f32 %.0f, bf16 %.0f, int8 %.0f GFLOP/s\n", caps->description, read_gbs,
           limits[MYTH_F32].flops * 1e-9, limits[MYTH_BF16].flops * 1e-9, limits[MYTH_Q8_0].flops * 1e-9);
    for (int i = 0; i < KERNEL_CASE_N; i++) {
        const struct kernel_case *c = &kernel_cases[i];
        union op_args a;
        char name[200];
        if (!(c->use & CASE_BENCH) || !is_wanted(myth_op_name(c->op), ops, n_op))
            continue;
        make_case(&r, c, (uint64_t)i, &a);
        rig_push(&r);
        double us = time_op(&r, c, &a, space), peak = limits[product_type(c)].flops * 1e-9;
        struct cost cost = op_cost(c);
        double limit_us = read_gbs > 0.0 ? cost.bytes / read_gbs * 1e-3 : 0.0,
               flop_us = peak > 0.0 ? cost.flops / peak * 1e-3 : 0.0;
        limit_us = flop_us > limit_us ? flop_us : limit_us;
        case_name(name, sizeof(name), c);
        printf("%-14s %-88s %10.1f us %7.1f GB/s %8.1f GFLOP/s  limit %9.1f us", target, name, us,
               cost.bytes / us * 1e-3, cost.flops / us * 1e-3, limit_us);
        if (limit_us > 0.0)
            printf("  ratio %.2f", limit_us / us);
        printf("\n");
        fflush(stdout);
        rig_clear(&r);
    }
    free(space);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    const char *target = NULL;
    int n_threads = 0, at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-t") == 0)
            n_threads = (int)strtol(argv[at + 1], NULL, 10);
        else if (strcmp(argv[at], "--target") == 0)
            target = argv[at + 1];
        else
            break;
    }
    if (at < argc && argv[at][0] == '-') {
        fprintf(stderr, "usage: bench_ops [-t N] [--target ref|avx2|avx512|amx|neon|vulkan:0|cuda:0] [OP ...]\n");
        return 2;
    }
    for (int i = 0; i < RIG_TARGET_N; i++)
        if (target ? strcmp(target, rig_targets[i]) == 0 : !strstr(rig_targets[i], " exact"))
            run_target(rig_targets[i], n_threads, argv + at, argc - at);
    return 0;
}
