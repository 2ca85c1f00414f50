/* op_rig.h - the rows of cases.def, the devices that they run on, and the buffers of a row with their data.
 *
 * Rig      one device with one stream. rig_view takes a view; rig_clear gives all of them back
 * Host     view_host gives the bytes of a view to the test: the buffer itself, or, where the host cannot see the
 *          device's memory, a copy that rig_push sends before an op and rig_sync fetches after it. Weights are copied
 *          in the form of files
 * Data     depends on the case's number only, so it is the same on every level and for every number of threads and page
 *          size. Outputs, and rows of the cache that no position has, are filled with NaN bytes, so that elements that
 *          are not written, or read by mistake, show
 * Asserts  a failing call ends the program: nothing here is expected to fail */
#ifndef MYTH_TESTS_OP_RIG_H
#define MYTH_TESTS_OP_RIG_H

#include "engine/base/half.h"
#include "frontend/cli/environment.h"
#include "kernels/device_impl.h"
#include "tests/support/left_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_VIEW_MAX = 64, CASE_TEST = 1, CASE_BENCH = 2 };

/* What a layer computes of K and V: both; both with V normed; V from K before its norm; only that V, with folded keys;
 * neither. */
enum { FORM_PLAIN, FORM_V_NORMED, FORM_V_IS_K, FORM_FOLDED, FORM_NO_KEYS };

struct kernel_case {
    myth_op op;
    int use;                  /* CASE_TEST or CASE_BENCH */
    double tol_ref, tol_fast; /* allowed error / largest magnitude of each output, for exact mode and for others */
    double tol_tile;          /* the same for fast devices whose tensor cores run the op; 0 = tol_fast    */
    uint32_t rows, dim, n_out, d_ff, n_vocab;
    uint32_t n_head, n_head_kv, head_dim, window, depth, n_run,
        page_tok;                         /* depth: tokens already cached for the first run */
    uint32_t gap0, gap1, n_gap, gap_step; /* gaps of the first run; see case_gaps */
    uint32_t n_after;                     /* for attn_prefill                */
    uint32_t k, n_ask, n_pair;
    uint32_t form, n_table; /* FORM_*; for folded keys, how many positions the table has */
    uint32_t keep;          /* for attn_prefill: one row of `keep` has queries, the others only keys; 0 = all rows */
    uint32_t n_layer, n_expert, n_stream, active; /* op_case_gemma.h */
    float softcap, temp, top_p, min_p, z, x_scale;
    double base, factor;
    myth_dtype type, type_k, type_v;
    bool is_decode, is_ring, has_pend, has_post, has_head_norm, has_mask, has_bias, has_bad, is_split;
};

static const struct kernel_case kernel_cases[] = {
#define CASE(name, use_, tol_ref_, tol_fast_, ...) \
    {.op = MYTH_OP_##name, .use = use_, .tol_ref = tol_ref_, .tol_fast = tol_fast_, __VA_ARGS__},
#include "cases.def"
#undef CASE
};
enum { KERNEL_CASE_N = sizeof(kernel_cases) / sizeof(kernel_cases[0]) };

union op_args {
#define OP(name) struct myth_##name##_args name;
#include "kernels/ops.def"
#undef OP
};

/* The targets of the tests: CPU levels, then devices; "exact" means exact mode. */
static const char *const rig_targets[] = {"ref",      "avx2",         "avx512", "amx", "neon", "vulkan:0 exact",
                                          "vulkan:0", "cuda:0 exact", "cuda:0"};
enum { RIG_TARGET_N = sizeof(rig_targets) / sizeof(rig_targets[0]) };

/* MYTHOS_TEST_DEVICES names the devices to test, separated by commas ("cpu" for every level); unset = all that are
 * present. */
static inline bool is_target_wanted(const char *target)
{
    const char *list = getenv("MYTHOS_TEST_DEVICES"), *name = strchr(target, ':') ? target : "cpu";
    for (size_t len = strcspn(name, " "); list && *list; list += strcspn(list, ",") + (strchr(list, ',') != NULL))
        if (strcspn(list, ",") == len && strncmp(list, name, len) == 0)
            return true;
    return !list || !*getenv("MYTHOS_TEST_DEVICES");
}

static inline bool is_exact_target(const char *target)
{
    return strcmp(target, "ref") == 0 || strstr(target, " exact");
}

struct rig_copy { /* the host's copy of a buffer */
    const myth_buf *buf;
    unsigned char *bytes;
    uint64_t n_row, n; /* shape of a weight; n_row 0 = plain bytes */
    myth_view view;
};

struct rig {
    myth_mem *mem;
    myth_device *dev;
    myth_stream *s;
    myth_buf *buf[RIG_VIEW_MAX];
    struct rig_copy copy[RIG_VIEW_MAX];
    int n_buf;
    uint64_t seed;
};

static inline void rig_must(bool is_ok, const char *what)
{
    if (is_ok)
        return;
    fprintf(stderr, "op_case: %s\n", what);
    abort();
}

static inline uint32_t most_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* The largest shape over all cases of the use, with at least 160 rows for tests that have their own steps. */
static inline myth_work_shape case_shape(int use)
{
    myth_work_shape w = {
        .n_rows = 160,
        .n_logit_rows = 1,
        .d_model = 1,
        .d_ff = 1,
        .n_head = 1,
        .n_head_kv = 1,
        .head_dim = 2,
        .n_vocab = 1,
        .n_ctx = 1,
        .top_k = 1,
    };
    for (int i = 0; i < KERNEL_CASE_N; i++) {
        const struct kernel_case *c = &kernel_cases[i];
        if (!(c->use & use))
            continue;
        w.n_rows = most_u32(w.n_rows, c->rows);
        w.d_model = most_u32(w.d_model, c->dim);
        w.d_ff = most_u32(w.d_ff, c->d_ff);
        w.n_head = most_u32(w.n_head, c->n_head);
        w.n_head_kv = most_u32(w.n_head_kv, c->n_head_kv);
        w.head_dim = most_u32(w.head_dim, c->head_dim);
        w.n_vocab = most_u32(w.n_vocab, c->n_vocab);
        w.n_ctx = most_u32(w.n_ctx, c->depth + c->rows);
        w.top_k = most_u32(w.top_k, c->k);
        w.block_values = 1 << 20; /* enough for a row of any case, but not for every whole matrix */
        w.folds_keys = w.folds_keys || (c->form == FORM_FOLDED && c->op != MYTH_OP_kv_merge);
        if (c->op == MYTH_OP_head_topk)
            w.n_logit_rows = most_u32(w.n_logit_rows, c->rows);
    }
    w.n_record_ops = 64;
    w.n_graph = 2;
    return w;
}

/* Opens a row of rig_targets; target NULL means the CPU's best level. False, with the reason in err, when it is absent
 * here; the test then prints that it runs without it. */
static inline bool rig_open(struct rig *r, const char *target, int n_threads, int use, myth_error *err)
{
    char name[32];
    bool is_gpu = target && strchr(target, ':');
    memset(r, 0, sizeof(*r));
    if (target && !is_target_wanted(target)) {
        myth_fail(err, MYTH_EDEVICE, "not among MYTHOS_TEST_DEVICES");
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", is_gpu ? (int)strcspn(target, " ") : 3, is_gpu ? target : "cpu");
    myth_device_opts opts = {
        .name = name,
        .n_threads = n_threads,
        .cpu_level = is_gpu ? NULL : target,
        .is_exact = is_gpu && is_exact_target(target),
    };
    myth_work_shape shape = case_shape(use);
    myth_error absent;
    rig_must(myth_env_device(&opts.cpu_level, &opts.n_threads, &opts.settings, NULL) == MYTH_OK, "environment");
    rig_must(myth_mem_open(&r->mem, 0, NULL) == MYTH_OK, "mem");
    if (myth_device_open(&r->dev, r->mem, &opts, &absent) != MYTH_OK) {
        if (use == CASE_TEST)
            check_left_out_target(is_gpu ? name : target ? target : "cpu", absent.msg);
        myth_fail(err, absent.code, "%s", absent.msg);
        myth_mem_close(r->mem);
        return false;
    }
    rig_must(myth_device_reserve(r->dev, &shape, NULL) == MYTH_OK, "reserve");
    rig_must(myth_stream_open(&r->s, r->dev, NULL) == MYTH_OK, "stream");
    return true;
}

/* All copies, which are found by their buffer, of all rigs. */
static struct rig_copy *rig_copies[4 * RIG_VIEW_MAX];

static inline struct rig_copy **find_copy(const myth_buf *buf)
{
    for (size_t i = 0; i < sizeof(rig_copies) / sizeof(rig_copies[0]); i++)
        if (buf ? rig_copies[i] && rig_copies[i]->buf == buf : !rig_copies[i])
            return &rig_copies[i];
    return NULL;
}

static inline void rig_clear(struct rig *r)
{
    while (r->n_buf) {
        struct rig_copy *copy = &r->copy[--r->n_buf], **slot = copy->buf ? find_copy(copy->buf) : NULL;
        if (slot)
            *slot = NULL;
        free(copy->bytes);
        *copy = (struct rig_copy){0};
        myth_buf_close(r->buf[r->n_buf]);
    }
}

static inline uint64_t rig_close(struct rig *r)
{
    rig_clear(r);
    myth_stream_close(r->s);
    myth_device_close(r->dev);
    return myth_mem_close(r->mem);
}

static inline void *view_host(myth_view v)
{
    unsigned char *at = myth_buf_host(v.buf);
    if (!at) {
        struct rig_copy **copy = find_copy(v.buf);
        rig_must(copy != NULL, "a view without a copy");
        at = (*copy)->bytes;
    }
    return at + v.off;
}

static inline myth_view rig_take(struct rig *r, myth_dtype t, uint64_t n_row, uint64_t n, bool is_weight)
{
    bool is_visible = myth_device_get_caps(r->dev)->is_host_visible;
    uint64_t bytes = n_row * myth_row_bytes(t, n), off = is_visible ? 4 : 64;
    int i = r->n_buf;
    rig_must(i < RIG_VIEW_MAX, "too many views");
    rig_must(myth_buf_open(&r->buf[i], r->dev, MYTH_MEM_OTHER, "view", bytes + off, NULL) == MYTH_OK, "view");
    myth_view v = myth_view_at(r->buf[i], off, t);
    if (!is_visible) {
        struct rig_copy **slot = find_copy(NULL);
        r->copy[i] = (struct rig_copy){
            .buf = r->buf[i],
            .bytes = malloc(bytes + off),
            .n_row = is_weight ? n_row : 0,
            .n = n,
            .view = v,
        };
        rig_must(slot && r->copy[i].bytes, "memory");
        *slot = &r->copy[i];
    }
    r->n_buf++;
    memset(view_host(v), 0xff, bytes);
    return v;
}

/* Takes a view of [n_row, n] of the type, filled with 0xff, which is NaN in every float type. Where the host can see
 * it, it is at an odd multiple of the alignment. */
static inline myth_view rig_view(struct rig *r, myth_dtype t, uint64_t n_row, uint64_t n)
{
    return rig_take(r, t, n_row, n, false);
}

/* Sends the host's copies to the device. */
static inline void rig_push(struct rig *r)
{
    for (int i = 0; i < r->n_buf; i++) {
        const struct rig_copy *c = &r->copy[i];
        if (c->n_row)
            myth_weight_write(r->s, c->view, c->bytes + c->view.off, (uint32_t)c->n_row, 0, (uint32_t)c->n_row,
                              (uint32_t)c->n);
        else if (c->bytes)
            myth_stream_write(r->s, c->view, c->bytes + c->view.off, myth_buf_bytes(c->buf) - c->view.off);
    }
}

/* Waits for the stream and updates the host's copies, except those of weights. */
static inline myth_status rig_sync(struct rig *r, myth_error *err)
{
    for (int i = 0; i < r->n_buf; i++)
        if (r->copy[i].bytes && !r->copy[i].n_row)
            myth_stream_read(r->s, r->copy[i].bytes + r->copy[i].view.off, r->copy[i].view,
                             myth_buf_bytes(r->buf[i]) - r->copy[i].view.off);
    return myth_stream_sync(r->s, err);
}

/* ---- data ---- */

static inline uint64_t mix64(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* A roughly normal number with mean 0 and deviation 1. */
static inline float noise(uint64_t key)
{
    uint64_t a = mix64(key), b = mix64(a);
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum += (double)((a >> (16 * i)) & 0xffff) / 65536.0 + (double)((b >> (16 * i)) & 0xffff) / 65536.0;
    return (float)((sum - 4.0) * 1.2247449);
}

static inline void put_u16(unsigned char *p, uint16_t v) { memcpy(p, &v, 2); }

/* Makes a block of a type that only files have: random quants and sub-scales, with outer scales that make the values
 * about as large as those of src. */
static inline void make_block(unsigned char *dst, myth_dtype t, const float *src)
{
    static const double size[MYTH_DTYPE_N][2] = {
        /* deviation of the values with an outer scale of 1; the outer minimum divided by the scale */
        [MYTH_Q4_1] = {4.6, -7.5},   [MYTH_Q5_0] = {9.3, 0.0},      [MYTH_Q5_1] = {9.2, -15.5},
        [MYTH_IQ4_NL] = {68.0, 0.0}, [MYTH_MXFP4] = {5.9, 0.0},     [MYTH_Q2_K] = {16.0, 1.5},
        [MYTH_Q3_K] = {43.0, 0.0},   [MYTH_Q4_K] = {300.0, 7.5},    [MYTH_Q5_K] = {600.0, 15.5},
        [MYTH_Q6_K] = {1365.0, 0.0}, [MYTH_IQ4_XS] = {1250.0, 0.0}, [MYTH_TQ2_0] = {1.1, 0.0},
    };
    const myth_dtype_info *info = myth_dtype_get(t);
    rig_must(size[t][0] > 0.0, "a type of blocks whose values' size is not known");
    double squares = 0.0;
    for (uint32_t i = 0; i < info->block; i++)
        squares += (double)src[i] * (double)src[i];
    const double d = sqrt(squares / info->block) / size[t][0];
    for (uint32_t i = 0; i < info->block_bytes; i++) {
        uint32_t bits;
        memcpy(&bits, &src[i % info->block], 4);
        dst[i] = (unsigned char)(mix64(bits + (uint64_t)i * 0x100000001b3u) >> 24);
    }
    for (uint32_t i = 0; i < info->n_half; i++)
        put_u16(dst + info->half_off + 2 * i, myth_f32_to_f16((float)(i ? d * size[t][1] : d)));
    if (t == MYTH_MXFP4)
        dst[0] = (unsigned char)(128 + (d > 0.0 ? lrint(log2(d)) : -20));
}

/* Encodes a row of n f32 values as the type. It is written for the tests and shares no code with the devices. */
static inline void encode_row(unsigned char *dst, myth_dtype t, const float *src, uint32_t n)
{
    uint32_t block = myth_dtype_block(t);
    for (uint32_t at = 0; at < n; at += block, src += block, dst += myth_dtype_block_bytes(t)) {
        float amax = 0.0f;
        for (uint32_t i = 0; i < block; i++)
            amax = fabsf(src[i]) > amax ? fabsf(src[i]) : amax;
        switch (t) {
        case MYTH_F16: put_u16(dst, myth_f32_to_f16(src[0])); break;
        case MYTH_BF16: put_u16(dst, myth_f32_to_bf16(src[0])); break;
        case MYTH_Q8_0:
            put_u16(dst, myth_f32_to_f16(amax / 127.0f));
            for (uint32_t i = 0; i < 32; i++)
                dst[2 + i] = (unsigned char)(int8_t)lrintf(amax > 0.0f ? src[i] * 127.0f / amax : 0.0f);
            break;
        case MYTH_Q4_0:
            put_u16(dst, myth_f32_to_f16(amax / 7.0f));
            for (uint32_t i = 0; i < 16; i++) {
                long lo = lrintf(amax > 0.0f ? src[i] * 7.0f / amax : 0.0f),
                     hi = lrintf(amax > 0.0f ? src[16 + i] * 7.0f / amax : 0.0f);
                dst[2 + i] = (unsigned char)((lo + 8) | (hi + 8) << 4);
            }
            break;
        case MYTH_F32: memcpy(dst, src, 4); break;
        default: make_block(dst, t, src);
        }
    }
}

/* Fills rows with noise. Past 16 M elements, which only benches have, the first 1,024 rows repeat. */
static inline myth_view rig_fill(struct rig *r, myth_view v, uint64_t n_row, uint64_t n, float mean, float scale)
{
    myth_dtype t = v.dtype;
    float *row = malloc((size_t)n * sizeof(float));
    uint64_t key = r->seed = mix64(r->seed);
    rig_must(row != NULL, "memory");
    for (uint64_t i = 0; i < n_row; i++) {
        unsigned char *at = (unsigned char *)view_host(v) + i * myth_row_bytes(t, n);
        if (i >= 1024 && n_row * n > 1u << 24) {
            memcpy(at, at - 1024 * myth_row_bytes(t, n), (size_t)myth_row_bytes(t, n));
            continue;
        }
        for (uint64_t k = 0; k < n; k++)
            row[k] = mean + scale * noise(key + i * n + k);
        encode_row(at, t, row, (uint32_t)n);
    }
    free(row);
    return v;
}

static inline myth_view rig_noise(struct rig *r, myth_dtype t, uint64_t n_row, uint64_t n, float mean, float scale)
{
    return rig_fill(r, rig_take(r, t, n_row, n, false), n_row, n, mean, scale);
}

/* Noise as a weight, which a device may keep in its own form. */
static inline myth_view rig_weight(struct rig *r, myth_dtype t, uint64_t n_row, uint64_t n, float mean, float scale)
{
    return rig_fill(r, rig_take(r, t, n_row, n, true), n_row, n, mean, scale);
}

static inline myth_view rig_ids(struct rig *r, uint64_t n, uint32_t below)
{
    myth_view v = rig_view(r, MYTH_I32, 1, n);
    r->seed = mix64(r->seed);
    for (uint64_t i = 0; i < n; i++)
        ((int32_t *)view_host(v))[i] = (int32_t)(mix64(r->seed + i) % below);
    return v;
}
#endif
