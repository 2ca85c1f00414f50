/* bench_engine.c - the engine alone on one device, as CSV: decode, prefill, top-k, first token and memory, beside the
 * limits of the machine.
 *
 *   bench_engine [options] MODEL ...            a MODEL is random:FAMILY-SIZE:TYPE, a .gguf or a directory
 *   bench_engine --cold MODEL                   a fresh process: from its start to the first token
 *   bench_engine --write FILE MODEL             the model as GGUF, to be given to another engine
 *
 * Tests      decode       steps chosen on the device (run.h), the host reads ids behind
 *            decode_peer  one forward a token, a full row of logits read back each time, nothing chosen: llama-bench's
 *                         tg
 *            prefill      a prompt into an empty sequence, the last row's best token: llama-bench's pp
 *            topk         one row of logits reduced to its k best; note: microseconds beyond the product alone
 *            cold_start   model, engine and a prompt of four tokens; of a random: model the weights are made meanwhile
 *            mem_*        bytes by plan, by ledger, by what the driver said was free before and after; ratio: driver
 *                         over plan
 *            limit_*      read and copy bandwidth, tensor peaks, latencies: bytes and flops a second, or note:
 *                         microseconds
 * Lists      --depth, --batch, --prompt, --topk: numbers behind commas, or "none"
 * Depth      tokens held before the first step. Every sequence of a batch has keys and values of its own: one is fed,
 *            saved, and restored into the others
 * Time       one warm-up, then --repeat runs, the median; an engine is opened for as many tests as fit beside each
 *            other
 * Bytes      and flops are those of one token: weights once a step (once a micro-batch for prompts), keys and values of
 *            the positions seen; limit_tok_s is the smaller of bandwidth / bytes and peak / flops, both measured in
 *            this run
 * Budget     --budget SECONDS: what would begin later is a row that says so. What the device has no room for is a row
 *            "does not fit"
 * Exit       1 when a test failed, 2 usage, 75 when the device was lost */
#include "engine/make/convert.h"
#include "engine/run/devices.h"
#include "engine/run/run.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/machine_limits.h"
#include "limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LIST_MAX = 8,
    CELL_MAX = 64,
    REPEAT_MAX = 32,
    AHEAD = 16,
    HEAD_REPEAT = 16,
    PROMPT_COLD = 4,
    DESCRIPTION_MAX = 128
};

typedef struct {
    uint32_t v[LIST_MAX], n;
} list;

typedef enum { TEST_DECODE, TEST_PEER, TEST_PREFILL, TEST_TOPK } test_kind;

typedef struct {
    test_kind kind;
    uint32_t batch, depth; /* of prefill: the prompt; of topk: k     */
    uint32_t n_ctx;        /* what it needs                          */
    bool is_done;
} cell;

typedef struct {
    const char *device, *write_path;
    list depth, batch, prompt, k;
    uint32_t n_gen, n_repeat, n_ubatch;
    double budget;
    bool is_cold, is_quick, has_header, has_limits;
    char name[MYTH_DEVICE_NAME_MAX], description[DESCRIPTION_MAX];
    int ledger;
    myth_mem *mem; /* of the bench itself: prompts, saved sequences */
    double begin;
    double read_bytes, copy_bytes, upload_bytes, peak[MYTH_DTYPE_N]; /* a second; 0 = not known */
    double fill_bytes;                                               /* a second, of the models opened so far */
    bool has_failed;
    myth_device_opts dev; /* the device by name, and what the environment says of it */
} bench;

/* One model on the device. */
typedef struct {
    bench *b;
    char model_name[96], type_name[16];
    myth_dtype type;
    myth_mem *mem;
    myth_model model;
    myth_engine *e;
    uint32_t n_seq, n_ctx;
    double weight_bytes, head_bytes, params, head_params;
    int32_t *ids; /* [n_ctx] */
    myth_seq *seq[MYTH_RUN_SEQ_MAX];
    uint32_t n_open, depth; /* sequences open, and what they held at first */
    void *saved;
    uint64_t saved_bytes;
    uint64_t free_before, free_least;
} subject;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- rows ---- */

typedef struct {
    const char *test;
    uint32_t batch, depth;
    double tok_s, bytes, flops, limit_tok_s, ratio; /* 0 = empty */
} row;

static void put_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void put_number(double v, const char *fmt)
{
    putchar(',');
    if (v > 0.0)
        printf(fmt, v);
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
put_row(const bench *b, const subject *s, const row *r, const char *fmt, ...)
{
    char note[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(note, sizeof(note), fmt, args);
    va_end(args);
    printf("%s,", b->name);
    put_text(b->description);
    printf(",%s,%s,%s,%u,%u", s ? s->model_name : "", s ? s->type_name : "", r->test, r->batch, r->depth);
    put_number(r->tok_s, "%.2f");
    put_number(r->bytes, "%.0f");
    put_number(r->flops, "%.0f");
    put_number(r->limit_tok_s, "%.2f");
    put_number(r->ratio, "%.4f");
    putchar(',');
    if (note[0])
        put_text(note);
    putchar('\n');
    fflush(stdout);
}

static const char *test_name(test_kind kind)
{
    static const char *const name[] = {"decode", "decode_peer", "prefill", "topk"};
    return name[kind];
}

static void put_cell_note(const bench *b, const subject *s, const cell *c, const char *note)
{
    put_row(b, s, &(row){.test = test_name(c->kind), .batch = c->batch, .depth = c->depth}, "%s", note);
}

static bool is_late(const bench *b) { return b->budget > 0.0 && now() - b->begin > b->budget; }

/* ---- limits ---- */

static void put_limit(const bench *b, const char *test, double bytes, double flops, double us)
{
    if (us > 0.0)
        put_row(b, NULL, &(row){.test = test}, "%.3f us", us);
    else if (bytes > 0.0 || flops > 0.0)
        put_row(b, NULL, &(row){.test = test, .bytes = bytes, .flops = flops}, "a second");
}

/* The copy op between two buffers, on any device. */
static myth_status measure_copy(bench *b, double *bytes_s, myth_error *err)
{
    const uint64_t bytes = b->is_quick ? 1u << 20 : 256u << 20;
    const myth_work_shape shape = {
        .n_rows = 1,
        .n_logit_rows = 1,
        .d_model = 32,
        .d_ff = 32,
        .n_head = 1,
        .n_head_kv = 1,
        .head_dim = 32,
        .n_vocab = 32,
        .n_ctx = 32,
        .top_k = 1,
    };
    myth_device *dev = NULL;
    myth_stream *stream = NULL;
    myth_buf *buf[2] = {NULL, NULL};
    unsigned char piece[4096];
    double best = 0.0;
    myth_status st = myth_device_open(&dev, b->mem, &b->dev, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_device_reserve(dev, &shape, err));
    MYTH_TRY(myth_stream_open(&stream, dev, err));
    for (int i = 0; i < 2; i++)
        MYTH_TRY(myth_buf_open(&buf[i], dev, MYTH_MEM_STAGING, "limits", bytes, err));
    for (size_t i = 0; i < sizeof(piece); i++)
        piece[i] = (unsigned char)(i * 2654435761u >> 13);
    for (uint64_t at = 0; at < bytes; at += sizeof(piece))
        myth_stream_write(stream, myth_view_at(buf[0], at, MYTH_I32), piece, sizeof(piece));
    MYTH_TRY(myth_stream_sync(stream, err));
    for (int i = 0; i < (b->is_quick ? 1 : 10); i++) {
        enum { COPIES = 8 };
        double start = now();
        for (int k = 0; k < COPIES; k++)
            myth_copy(stream, &(struct myth_copy_args){
                                  .dst = myth_view_at(buf[1], 0, MYTH_I32),
                                  .src = myth_view_at(buf[0], 0, MYTH_I32),
                                  .bytes = bytes,
                              });
        MYTH_TRY(myth_stream_sync(stream, err));
        double rate = 2.0 * COPIES * (double)bytes / (now() - start);
        best = rate > best ? rate : best;
    }
    *bytes_s = best;
fail:
    for (int i = 0; i < 2; i++)
        if (buf[i])
            myth_buf_close(buf[i]);
    if (stream)
        myth_stream_close(stream);
    myth_device_close(dev);
    return st;
}

static myth_status measure_limits(bench *b, myth_error *err)
{
    static const myth_dtype types[] = {MYTH_F32, MYTH_BF16, MYTH_Q8_0};
#if BENCH_HAS_CUDA
    if (strncmp(b->name, "cuda:", 5) == 0) {
        struct cuda_limits l;
        myth_status st = bench_cuda_limits(&l, b->mem, &b->dev, b->is_quick, err);
        if (st != MYTH_OK)
            return st;
        double peak = l.bf16_wgmma > l.bf16_mma ? l.bf16_wgmma : l.bf16_mma;
        b->read_bytes = l.read_bytes;
        b->copy_bytes = l.copy_bytes;
        b->upload_bytes = l.upload_bytes;
        b->peak[MYTH_F16] = b->peak[MYTH_BF16] = b->peak[MYTH_Q8_0] = b->peak[MYTH_Q4_0] =
            peak; /* prompts are products of bf16 */
        put_limit(b, "limit_read", l.read_bytes, 0, 0);
        put_limit(b, "limit_copy", l.copy_bytes, 0, 0);
        put_limit(b, "limit_upload", l.upload_bytes, 0, 0);
        put_limit(b, "limit_bf16_mma", 0, l.bf16_mma, 0);
        put_limit(b, "limit_bf16_wgmma", 0, l.bf16_wgmma, 0);
        put_limit(b, "limit_int8_mma", 0, l.int8_mma, 0);
        put_limit(b, "limit_graph_node", 0, 0, l.node_us);
        put_limit(b, "limit_dependent_node", 0, 0, l.dependent_us);
        put_limit(b, "limit_grid_barrier", 0, 0, l.barrier_us);
        return MYTH_OK;
    }
#endif
    if (b->ledger != MYTH_MEM_HOST) {
        myth_status st = measure_copy(b, &b->copy_bytes, err);
        b->read_bytes = b->copy_bytes;
        put_limit(b, "limit_copy", b->copy_bytes, 0, 0);
        return st;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        myth_machine_limits l;
        char test[64];
        myth_status st = myth_limits_measure(&l, b->mem, 0, types[i], b->dev.cpu_level, err);
        if (st != MYTH_OK)
            return st;
        b->peak[types[i]] = l.flops;
        if (l.read_bytes > b->read_bytes)
            b->read_bytes = l.read_bytes;
        snprintf(test, sizeof(test), "limit_%s", myth_dtype_get(types[i])->name);
        put_limit(b, test, 0, l.flops, 0);
    }
    b->peak[MYTH_F16] = b->peak[MYTH_F32];
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (myth_dtype_is_quant((myth_dtype)t))
            b->peak[t] = b->peak[MYTH_Q8_0];
    put_limit(b, "limit_read", b->read_bytes, 0, 0);
    return MYTH_OK;
}

/* ---- the model ---- */

/* Names for the rows, from the spec and the tensors. */
static void name_subject(subject *s, const char *spec)
{
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    const myth_weights *w = s->model.weights;
    const char *name = strncmp(spec, "random:", 7) == 0 ? spec + 7 : strrchr(spec, '/') ? strrchr(spec, '/') + 1 : spec;
    snprintf(s->model_name, sizeof(s->model_name), "%.*s",
             (int)(name == spec + 7 ? strcspn(name, ":") : strcspn(name, ",")), name);
    s->type = MYTH_F32;
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        bytes[t->dtype] += t->bytes;
        if (bytes[t->dtype] > bytes[s->type])
            s->type = t->dtype;
        if (t->n_dim == 2)
            s->params += (double)t->dim[0] * (double)t->dim[1];
    }
    snprintf(s->type_name, sizeof(s->type_name), "%s", myth_dtype_get(s->type)->name);
    const myth_tensor *head = myth_weights_slot(w, "embed_tokens.weight", "token_embd.weight");
    s->weight_bytes = (double)myth_weights_bytes(w);
    s->head_bytes = head ? (double)head->bytes : 0.0;
    s->head_params = (double)s->model.config.n_vocab * s->model.config.d_model;
}

static uint64_t free_bytes(const bench *b)
{
    myth_device_caps caps;
    return b->ledger != MYTH_MEM_HOST && myth_device_find(&caps, b->name, &b->dev) ? caps.free_bytes : 0;
}

static void look_at_memory(subject *s)
{
    uint64_t is_free = free_bytes(s->b);
    if (is_free < s->free_least)
        s->free_least = is_free;
}

static myth_engine_opts engine_opts(const bench *b, uint32_t n_seq, uint32_t n_ctx)
{
    uint32_t k = 1;
    for (uint32_t i = 0; i < b->k.n; i++)
        k = b->k.v[i] > k ? b->k.v[i] : k;
    return (myth_engine_opts){
        .device = b->name,
        .n_threads = b->dev.n_threads,
        .cpu_level = b->dev.cpu_level,
        .settings = b->dev.settings,
        .n_ctx = n_ctx,
        .n_seq = n_seq,
        .n_logit_rows = n_seq,
        .n_ubatch = b->n_ubatch,
        .top_k = k,
        .want_full_logits = true,
    };
}

static myth_status feed(subject *s, myth_seq *q, uint32_t n, uint8_t want_last, bool is_decode, const myth_batch *more,
                        myth_result *out, myth_error *err)
{
    const myth_batch_run run = {.seq = q, .token = s->ids, .n = n, .want_last = want_last};
    myth_batch batch = *more;
    batch.run = &run;
    batch.n_run = 1;
    batch.is_decode = is_decode;
    return myth_forward(s->e, &batch, out, err);
}

static myth_status open_engine(subject *s, const char *spec, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_result out;
    myth_batch batch = {.top_k = 1};
    const myth_engine_opts opts = engine_opts(s->b, s->n_seq, s->n_ctx);
    MYTH_TRY(myth_model_open(&s->model, s->mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA, .hub_dir = myth_env_hub_dir()}, err));
    MYTH_TRY(myth_engine_open(&s->e, &s->model, &opts, err));
    const uint32_t n = s->n_ctx;
    s->ids = myth_alloc_n(s->b->mem, MYTH_MEM_STAGING, "ids", n, sizeof(*s->ids));
    if (!s->ids) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for %u tokens", n);
        goto fail;
    }
    for (uint32_t i = 0; i < n; i++)
        s->ids[i] = (int32_t)((i * 2654435761u >> 8) % s->model.config.n_vocab);
    MYTH_TRY(myth_seq_open(&s->seq[0], s->e, err));
    s->n_open = 1;
    MYTH_TRY(feed(s, s->seq[0], PROMPT_COLD, MYTH_WANT_LOGITS, false, &batch, &out, err));
fail:
    return st;
}

static void close_sequences(subject *s)
{
    while (s->n_open)
        myth_seq_close(s->seq[--s->n_open]);
    myth_free(s->b->mem, s->saved);
    s->saved = NULL;
    s->saved_bytes = 0;
}

/* What is still booked is a failure of its own. */
static void close_engine(subject *s)
{
    close_sequences(s);
    myth_engine_close(s->e);
    myth_free(s->b->mem, s->ids);
    myth_model_close(&s->model);
    if (myth_mem_close(s->mem)) {
        fprintf(stderr, "bench_engine: bytes are booked after close\n");
        s->b->has_failed = true;
    }
}

/* ---- prices ---- */

/* Sum over layers of what a token at position pos reads or multiplies in attention. */
static void price_keys(const subject *s, double pos, double *bytes, double *flops)
{
    const myth_config *c = &s->model.config;
    const myth_plan *plan = myth_engine_plan(s->e);
    *bytes = *flops = 0.0;
    for (uint32_t i = 0; i < c->n_layer; i++) {
        const myth_layer_config *l = &c->layer[i];
        double keys = l->is_global || !c->window || pos + 1 < c->window ? pos + 1 : c->window;
        *bytes +=
            keys * l->n_head_kv *
            ((double)myth_row_bytes(plan->type_k, l->head_dim) + (double)myth_row_bytes(plan->type_v, l->head_dim));
        *flops += keys * 4.0 * c->n_head * l->head_dim;
    }
}

static void limit_row(const subject *s, row *r)
{
    const bench *b = s->b;
    double peak = b->peak[s->type], bw = b->read_bytes > 0.0 ? b->read_bytes / r->bytes : 0.0,
           arithmetic = peak > 0.0 ? peak / r->flops : 0.0;
    r->limit_tok_s = arithmetic > 0.0 && (bw == 0.0 || arithmetic < bw) ? arithmetic : bw;
    r->ratio = r->limit_tok_s > 0.0 ? r->tok_s / r->limit_tok_s : 0.0;
}

/* A step of `batch` sequences that held `depth` tokens before the first of n steps. */
static void price_decode(const subject *s, row *r, double depth, uint32_t n)
{
    double bytes, flops;
    price_keys(s, depth + (n - 1) / 2.0, &bytes, &flops);
    r->bytes = s->weight_bytes / r->batch + bytes;
    r->flops = 2.0 * s->params + flops;
    limit_row(s, r);
}

/* Keys are read once a micro-batch, so each of its rows has a share; the head is one row of the prompt's. */
static void price_prefill(const subject *s, row *r, uint32_t n)
{
    double bytes, flops, step = n < myth_engine_plan(s->e)->n_ubatch ? n : myth_engine_plan(s->e)->n_ubatch;
    price_keys(s, (n - 1) / 2.0, &bytes, &flops);
    r->bytes = (s->weight_bytes - s->head_bytes) / step + s->head_bytes / n + bytes / step;
    r->flops = 2.0 * (s->params - s->head_params) + 2.0 * s->head_params / n + flops;
    limit_row(s, r);
    if (s->b->peak[s->type] == 0.0) /* bandwidth says nothing about a prompt */
        r->limit_tok_s = r->ratio = 0.0;
}

/* ---- tests ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, uint32_t n)
{
    qsort(v, n, sizeof(*v), by_value);
    return v[n / 2];
}

/* n steps of the first `batch` sequences; first [batch] goes in and comes out as the tokens to feed next. */
static myth_status run_steps(subject *s, uint32_t batch, uint32_t n, int32_t *first, double *seconds, myth_error *err)
{
    struct {
        uint64_t mark;
        uint32_t n;
    } lot[2];
    uint32_t oldest = 0, n_lot = 0;
    myth_run run;
    double start = now();
    myth_status st = myth_run_begin(&run, s->e, &(myth_run_opts){.seq = s->seq, .n_seq = batch, .first = first}, err);
    if (st != MYTH_OK)
        return st;
    while (st == MYTH_OK && (n || n_lot)) {
        while (st == MYTH_OK && n && n_lot < 2) {
            uint32_t i = (oldest + n_lot) % 2, take = n < AHEAD ? n : AHEAD;
            st = myth_run_issue(&run, take, &lot[i].mark, err);
            if (st == MYTH_OK) {
                lot[i].n = take;
                n -= take;
                n_lot++;
            }
        }
        if (!n_lot)
            break;
        myth_status waited = myth_run_wait(&run, lot[oldest].mark, st == MYTH_OK ? err : NULL);
        for (uint32_t i = 0; i < lot[oldest].n && waited == MYTH_OK; i++) {
            const int32_t *id = myth_run_next(&run);
            for (uint32_t q = 0; q < batch; q++)
                first[q] = id[q];
        }
        st = st == MYTH_OK ? waited : st;
        oldest = 1 - oldest;
        n_lot--;
    }
    myth_run_end(&run);
    *seconds = now() - start;
    for (uint32_t q = 0; q < batch && st == MYTH_OK; q++)
        if (first[q] < 0)
            st = myth_fail(err, MYTH_EDEVICE, "sequence %u chose no token", q);
    return st;
}

static void take_row(void *user, uint32_t tok_idx, const float *logits, uint32_t n_vocab)
{
    (void)tok_idx;
    *(float *)user += logits[n_vocab - 1];
}

static myth_status run_peer(subject *s, uint32_t n, double *seconds, myth_error *err)
{
    float sum = 0.0f;
    myth_status st = MYTH_OK;
    myth_result out;
    double start = now();
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        myth_batch batch = {.on_full_logits = take_row, .user = &sum};
        st = feed(s, s->seq[0], 1, MYTH_WANT_FULL_LOGITS, true, &batch, &out, err);
    }
    *seconds = now() - start;
    if (st == MYTH_OK && sum != sum)
        st = myth_fail(err, MYTH_EDEVICE, "logits are not numbers");
    return st;
}

/* Sequences 0 .. batch - 1 hold `depth` tokens and what earlier tests of this depth appended. */
static myth_status open_sequences(subject *s, uint32_t batch, uint32_t depth, bool is_saved, myth_error *err)
{
    myth_status st = MYTH_OK;
    while (s->n_open < batch) {
        myth_seq *q;
        MYTH_TRY(myth_seq_open(&q, s->e, err));
        s->seq[s->n_open++] = q;
        if (!depth)
            continue;
        if (s->saved) {
            MYTH_TRY(myth_seq_restore(q, s->saved, s->saved_bytes, err));
            continue;
        }
        myth_result out;
        myth_batch b = {.top_k = 1};
        MYTH_TRY(feed(s, q, depth, MYTH_WANT_LOGITS, false, &b, &out, err));
        if (!is_saved)
            continue;
        s->saved_bytes = myth_seq_save_bytes(q);
        s->saved = myth_alloc(s->b->mem, MYTH_MEM_STAGING, "saved", s->saved_bytes);
        if (!s->saved) {
            st = myth_fail(err, MYTH_ENOMEM, "%llu bytes for a saved sequence", (unsigned long long)s->saved_bytes);
            goto fail;
        }
        MYTH_TRY(myth_seq_save(q, s->saved, s->saved_bytes, err));
    }
fail:
    return st;
}

static myth_status test_decode(subject *s, const cell *c, bool is_saved, myth_error *err)
{
    const bench *b = s->b;
    double seconds[REPEAT_MAX + 1], depth = 0.0;
    int32_t first[MYTH_RUN_SEQ_MAX];
    myth_status st = open_sequences(s, c->batch, c->depth, is_saved, err);
    for (uint32_t q = 0; q < c->batch; q++)
        first[q] = (int32_t)(q + 1);
    for (uint32_t i = 0; i <= b->n_repeat && st == MYTH_OK; i++) {
        if (i == 1) /* the first was the warm-up */
            for (uint32_t q = 0; q < c->batch; q++)
                depth += (double)myth_seq_len(s->seq[q]) / c->batch;
        st = c->kind == TEST_PEER ? run_peer(s, b->n_gen, &seconds[i], err)
                                  : run_steps(s, c->batch, b->n_gen, first, &seconds[i], err);
    }
    if (st != MYTH_OK)
        return st;
    row r = {.test = test_name(c->kind), .batch = c->batch, .depth = c->depth};
    double fastest = seconds[1], slowest = seconds[1], middle;
    for (uint32_t i = 2; i <= b->n_repeat; i++) {
        fastest = seconds[i] < fastest ? seconds[i] : fastest;
        slowest = seconds[i] > slowest ? seconds[i] : slowest;
    }
    middle = median(seconds + 1, b->n_repeat);
    r.tok_s = (double)c->batch * b->n_gen / middle;
    price_decode(s, &r, depth, b->n_gen * b->n_repeat);
    put_row(b, s, &r, "%u steps, spread %.1f %%", b->n_gen, 100.0 * (slowest - fastest) / middle);
    return MYTH_OK;
}

static myth_status test_prefill(subject *s, const cell *c, myth_error *err)
{
    double seconds[REPEAT_MAX + 1];
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i <= s->b->n_repeat && st == MYTH_OK; i++) {
        myth_result out;
        myth_batch batch = {.top_k = 1};
        st = open_sequences(s, 1, 0, false, err);
        double start = now();
        if (st == MYTH_OK)
            st = feed(s, s->seq[0], c->depth, MYTH_WANT_LOGITS, false, &batch, &out, err);
        seconds[i] = now() - start;
        close_sequences(s);
    }
    if (st != MYTH_OK)
        return st;
    row r = {.test = "prefill", .batch = 1, .depth = c->depth, .tok_s = c->depth / median(seconds + 1, s->b->n_repeat)};
    price_prefill(s, &r, c->depth);
    put_row(s->b, s, &r, "micro-batch %u", myth_engine_plan(s->e)->n_ubatch);
    return MYTH_OK;
}

/* Seconds of the head on one row: reduced to k, or the product alone (k 0). */
static myth_status time_head(subject *s, uint32_t k, double *seconds, myth_error *err)
{
    myth_engine *e = s->e;
    const myth_part *p = myth_engine_last(e);
    const myth_config *c = &s->model.config;
    double each[REPEAT_MAX + 1];
    const struct myth_head_topk_args topk = {
        .x = myth_part_view(p, MYTH_BUF_head_x, 0, MYTH_F32),
        .w = e->w->head,
        .n_rows = 1,
        .dim = c->d_model,
        .n_vocab = e->n_vocab_choice,
        .k = k,
        .softcap = c->final_softcap,
        .is_decode = true,
        .top_id = myth_part_view(p, MYTH_BUF_top_id, 0, MYTH_I32),
        .top_logit = myth_part_view(p, MYTH_BUF_top_logit, 0, MYTH_F32),
        .lse = myth_part_view(p, MYTH_BUF_row_stat, 0, MYTH_F32),
        .entropy = myth_part_view(p, MYTH_BUF_row_stat, 4 * (uint64_t)e->layout.opts.n_logit_rows, MYTH_F32),
    };
    const struct myth_head_logits_args all = {
        .y = myth_part_view(p, MYTH_BUF_full, 0, MYTH_F32),
        .x = topk.x,
        .w = topk.w,
        .dim = c->d_model,
        .n_vocab = c->n_vocab,
        .softcap = c->final_softcap,
    };
    for (uint32_t i = 0; i <= s->b->n_repeat; i++) {
        double start = now();
        for (int n = 0; n < HEAD_REPEAT; n++)
            if (k)
                myth_head_topk(p->stream, &topk);
            else
                myth_head_logits(p->stream, &all);
        myth_status st = myth_stream_sync(p->stream, err);
        if (st != MYTH_OK)
            return st;
        each[i] = (now() - start) / HEAD_REPEAT;
    }
    *seconds = median(each + 1, s->b->n_repeat);
    return MYTH_OK;
}

static myth_status test_topk(subject *s, const cell *c, myth_error *err)
{
    double alone, seconds;
    myth_status st = open_sequences(s, 1, PROMPT_COLD, false, err); /* so that there is a row */
    if (st == MYTH_OK)
        st = time_head(s, 0, &alone, err);
    if (st == MYTH_OK)
        st = time_head(s, c->depth, &seconds, err);
    close_sequences(s);
    if (st != MYTH_OK)
        return st;
    row r = {
        .test = "topk",
        .batch = 1,
        .depth = c->depth,
        .tok_s = 1.0 / seconds,
        .bytes = s->head_bytes,
        .flops = 2.0 * s->head_params,
    };
    limit_row(s, &r);
    put_row(s->b, s, &r, "k %u of %u: %.2f us a row, %+.2f us beside the product alone", c->depth,
            s->model.config.n_vocab, seconds * 1e6, (seconds - alone) * 1e6);
    return MYTH_OK;
}

/* ---- memory ---- */

static void put_memory(const subject *s)
{
    const bench *b = s->b;
    const myth_plan *plan = myth_engine_plan(s->e);
    uint64_t planned = 0, above = 0;
    for (uint32_t i = 0; i < plan->n_device; i++)
        for (int k = 0; k < MYTH_MEM_CLASS_N && plan->device[i].ledger == b->ledger; k++) {
            bool is_model = k == MYTH_MEM_WEIGHTS || k == MYTH_MEM_KV_GLOBAL || k == MYTH_MEM_KV_LOCAL;
            if (k == MYTH_MEM_WEIGHTS_MAPPED)
                continue;
            planned += plan->device[i].bytes[k];
            above += is_model ? 0 : plan->device[i].bytes[k];
        }
    put_row(b, s, &(row){.test = "mem_plan", .batch = s->n_seq, .depth = s->n_ctx, .bytes = (double)planned},
            "%llu bytes above weights, keys and values", (unsigned long long)above);
    put_row(b, s,
            &(row){
                .test = "mem_ledger",
                .batch = s->n_seq,
                .depth = s->n_ctx,
                .bytes = (double)myth_mem_total(s->mem, b->ledger).peak,
            },
            "peak");
    if (!s->free_before) {
        put_row(b, s, &(row){.test = "mem_driver", .batch = s->n_seq, .depth = s->n_ctx},
                "the driver does not say what is free");
        return;
    }
    double driver = (double)(s->free_before - s->free_least);
    put_row(b, s,
            &(row){
                .test = "mem_driver",
                .batch = s->n_seq,
                .depth = s->n_ctx,
                .bytes = driver,
                .ratio = planned ? driver / (double)planned : 0,
            },
            driver > 0.0 ? "free before less the least free after" : "what the driver calls free did not change");
}

/* ---- one model ---- */

/* Smallest first, so that a batch's sequences serve the next. */
static int by_shape(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    bool x_is_long = x->kind < TEST_PREFILL, y_is_long = y->kind < TEST_PREFILL;
    if (x_is_long != y_is_long)
        return x_is_long - y_is_long;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static uint32_t list_cells(const bench *b, const myth_config *c, cell cells[CELL_MAX])
{
    uint32_t n = 0, most = c->n_ctx_train;
    uint64_t extra = (uint64_t)(b->batch.n + 1) * (b->n_repeat + 1) * b->n_gen + PROMPT_COLD;
    for (uint32_t d = 0; d < b->depth.n; d++)
        for (uint32_t i = 0; i < b->batch.n; i++) {
            uint64_t need = (b->depth.v[d] + extra + 63) / 64 * 64;
            need = need > most ? most : need;
            cell x = {.kind = TEST_DECODE, .batch = b->batch.v[i], .n_ctx = (uint32_t)need};
            x.depth = need < extra ? 0 : need - extra < b->depth.v[d] ? (uint32_t)(need - extra) : b->depth.v[d];
            cells[n++] = x;
            if (x.batch == 1) {
                x.kind = TEST_PEER;
                cells[n++] = x;
            }
        }
    for (uint32_t i = 0; i < b->prompt.n; i++) {
        uint32_t prompt = b->prompt.v[i] < most ? b->prompt.v[i] : most;
        cells[n++] = (cell){.kind = TEST_PREFILL, .batch = 1, .depth = prompt, .n_ctx = prompt < 64 ? 64 : prompt};
    }
    for (uint32_t i = 0; i < b->k.n; i++)
        if (b->k.v[i] <= c->n_vocab)
            cells[n++] = (cell){.kind = TEST_TOPK, .batch = 1, .depth = b->k.v[i], .n_ctx = 64};
    qsort(cells, n, sizeof(*cells), by_shape);
    return n;
}

static bool is_covered(const cell *c, uint32_t n_seq, uint32_t n_ctx)
{
    return !c->is_done && c->batch <= n_seq && c->n_ctx <= n_ctx;
}

static bool is_fitting(const bench *b, const myth_model *m, uint32_t n_seq, uint32_t n_ctx, char *why, size_t cap)
{
    const myth_engine_opts opts = engine_opts(b, n_seq, n_ctx);
    myth_mem_limits limits;
    myth_plan plan;
    myth_error err = {0};
    if (myth_devices_limits(&limits, m->mem, b->name, &err) != MYTH_OK ||
        myth_plan_make(&plan, m, &opts, NULL, &limits, false, &err) != MYTH_OK) {
        snprintf(why, cap, "%s", err.msg);
        return false;
    }
    char line[400];
    myth_plan_refusal(&plan, line, sizeof(line));
    snprintf(why, cap, "does not fit: %s", line);
    return plan.fits;
}

/* The engine that serves most of the tests left; false when none of them fits. */
static bool choose_shape(const bench *b, const myth_model *m, const cell *cells, uint32_t n, uint32_t *n_seq,
                         uint32_t *n_ctx)
{
    uint32_t most = 0;
    char why[512];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t n_covered = 0;
            if (cells[i].is_done || cells[j].is_done)
                continue;
            for (uint32_t k = 0; k < n; k++)
                n_covered += is_covered(&cells[k], cells[i].batch, cells[j].n_ctx);
            if (n_covered > most && is_fitting(b, m, cells[i].batch, cells[j].n_ctx, why, sizeof(why))) {
                most = n_covered;
                *n_seq = cells[i].batch;
                *n_ctx = cells[j].n_ctx;
            }
        }
    return most > 0;
}

static myth_status run_cells(subject *s, cell *cells, uint32_t n, myth_error *err)
{
    bench *b = s->b;
    for (uint32_t i = 0; i < n; i++) {
        cell *c = &cells[i];
        if (!is_covered(c, s->n_seq, s->n_ctx))
            continue;
        c->is_done = true;
        if (c->kind >= TEST_PREFILL || s->depth != c->depth)
            close_sequences(s);
        s->depth = c->depth;
        if (is_late(b)) {
            put_cell_note(b, s, c, "not run: time budget");
            continue;
        }
        bool is_saved = false;
        for (uint32_t k = i; k < n; k++)
            is_saved |= cells[k].kind == TEST_DECODE && cells[k].depth == c->depth && cells[k].batch > 1 &&
                        cells[k].batch <= s->n_seq && cells[k].n_ctx <= s->n_ctx;
        myth_status st = c->kind == TEST_PREFILL ? test_prefill(s, c, err)
                       : c->kind == TEST_TOPK    ? test_topk(s, c, err)
                                                 : test_decode(s, c, is_saved, err);
        look_at_memory(s);
        if (st == MYTH_OK)
            continue;
        put_cell_note(b, s, c, err->msg);
        b->has_failed = true;
        close_sequences(s);
        if (st == MYTH_ELOST)
            return st;
    }
    return MYTH_OK;
}

static void put_cold(const subject *s, const char *spec, double seconds, bool is_fresh)
{
    const bench *b = s->b;
    bool is_random = strncmp(spec, "random:", 7) == 0;
    row r = {.test = "cold_start", .batch = 1, .depth = PROMPT_COLD, .tok_s = 1.0 / seconds, .bytes = s->weight_bytes};
    if (!is_random && b->upload_bytes > 0.0) {
        r.limit_tok_s = b->upload_bytes / s->weight_bytes;
        r.ratio = r.tok_s / r.limit_tok_s;
    }
    put_row(b, s, &r, "%.3f s to the first token%s%s", seconds,
            is_fresh ? " from the start of the process" : ", device already open",
            is_random ? "; weights made from a seed" : "; file as it was cached");
}

/* One engine and its tests. */
static myth_status run_engine(bench *b, const char *spec, cell *cells, uint32_t n, uint32_t n_seq, uint32_t n_ctx,
                              bool is_first, myth_error *err)
{
    subject s = {.b = b, .n_seq = n_seq, .n_ctx = n_ctx};
    myth_status st = myth_mem_open(&s.mem, 0, err);
    if (st != MYTH_OK)
        return st;
    s.free_before = s.free_least = free_bytes(b);
    double start = now();
    st = open_engine(&s, spec, err);
    double seconds = now() - start;
    if (s.model.weights)
        name_subject(&s, spec);
    look_at_memory(&s);
    close_sequences(&s);
    if (st == MYTH_OK) {
        b->fill_bytes = s.weight_bytes / seconds;
        if (is_first)
            put_cold(&s, spec, seconds, false);
        st = run_cells(&s, cells, n, err);
        put_memory(&s);
    } else {
        for (uint32_t i = 0; i < n; i++)
            if (is_covered(&cells[i], n_seq, n_ctx)) {
                cells[i].is_done = true;
                put_cell_note(b, &s, &cells[i], err->msg);
            }
        b->has_failed = true;
    }
    close_engine(&s);
    return st;
}

/* Only a lost device ends the run. */
static myth_status run_model(bench *b, const char *spec)
{
    cell cells[CELL_MAX];
    myth_error err = {0};
    subject s = {.b = b}; /* for planning: headers only */
    myth_status st = myth_mem_open(&s.mem, 0, &err);
    if (st == MYTH_OK)
        st = myth_model_open(&s.model, s.mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_HEADER, .hub_dir = myth_env_hub_dir()}, &err);
    if (st != MYTH_OK) {
        snprintf(s.model_name, sizeof(s.model_name), "%.90s", spec);
        put_row(b, &s, &(row){.test = "open"}, "%s", err.msg);
        b->has_failed = true;
        myth_mem_close(s.mem);
        return st;
    }
    name_subject(&s, spec);
    const uint32_t n = list_cells(b, &s.model.config, cells);
    uint32_t n_seq = 0, n_ctx = 0;
    bool is_first = true;
    while (st != MYTH_ELOST && choose_shape(b, &s.model, cells, n, &n_seq, &n_ctx)) {
        double ready = b->fill_bytes > 0.0 ? now() - b->begin + s.weight_bytes / b->fill_bytes : now() - b->begin;
        if (b->budget > 0.0 && ready > b->budget)
            break;
        st = run_engine(b, spec, cells, n, n_seq, n_ctx, is_first, &err);
        is_first = false;
    }
    for (uint32_t i = 0; i < n && st != MYTH_ELOST; i++) {
        char why[512];
        if (cells[i].is_done)
            continue;
        bool fits = is_fitting(b, &s.model, cells[i].batch, cells[i].n_ctx, why, sizeof(why));
        put_cell_note(b, &s, &cells[i], fits ? "not run: time budget" : why);
    }
    myth_model_close(&s.model);
    if (myth_mem_close(s.mem))
        b->has_failed = true;
    return st;
}

/* ---- the other two uses ---- */

static myth_status run_cold(bench *b, const char *spec, myth_error *err)
{
    subject s = {.b = b, .n_seq = 1, .n_ctx = 512};
    myth_status st = myth_mem_open(&s.mem, 0, err);
    if (st != MYTH_OK)
        return st;
    st = open_engine(&s, spec, err);
    double seconds = now() - b->begin;
    if (st == MYTH_OK) {
        myth_device_caps caps;
        name_subject(&s, spec);
        if (myth_device_find(&caps, b->name, &b->dev))
            memcpy(b->description, caps.description, sizeof(b->description));
        if (b->has_limits)
            st = measure_limits(b, err);
        if (st == MYTH_OK)
            put_cold(&s, spec, seconds, true);
    }
    close_engine(&s);
    return st;
}

static myth_status write_model(bench *b, const char *spec, myth_error *err)
{
    subject s = {.b = b};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_model_open(&s.model, b->mem, spec,
                             &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA, .hub_dir = myth_env_hub_dir()}, err));
    name_subject(&s, spec);
    st = myth_convert(&s.model, &(myth_convert_opts){.path = b->write_path, .type = s.type}, err);
fail:
    myth_model_close(&s.model);
    return st;
}

/* ---- arguments ---- */

static bool read_list(list *out, const char *text)
{
    out->n = 0;
    if (strcmp(text, "none") == 0)
        return true;
    while (*text) {
        char *end;
        unsigned long v = strtoul(text, &end, 10);
        if (end == text || v > 1u << 20 || out->n == LIST_MAX || (*end && *end != ','))
            return false;
        out->v[out->n++] = (uint32_t)v;
        text = *end ? end + 1 : end;
    }
    return true;
}

static bool read_u32(uint32_t *out, const char *text, uint32_t lo, uint32_t hi)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *out = (uint32_t)v;
    return end != text && !*end && v >= lo && v <= hi;
}

static bool read_option(bench *b, const char *name, const char *value)
{
    if (strcmp(name, "--device") == 0)
        b->device = value;
    else if (strcmp(name, "--write") == 0)
        b->write_path = value;
    else if (strcmp(name, "--depth") == 0)
        return read_list(&b->depth, value);
    else if (strcmp(name, "--batch") == 0)
        return read_list(&b->batch, value);
    else if (strcmp(name, "--prompt") == 0)
        return read_list(&b->prompt, value);
    else if (strcmp(name, "--topk") == 0)
        return read_list(&b->k, value);
    else if (strcmp(name, "--gen") == 0)
        return read_u32(&b->n_gen, value, 1, 4096);
    else if (strcmp(name, "--repeat") == 0)
        return read_u32(&b->n_repeat, value, 1, REPEAT_MAX);
    else if (strcmp(name, "--ubatch") == 0)
        return read_u32(&b->n_ubatch, value, 1, 1u << 16);
    else if (strcmp(name, "--budget") == 0)
        b->budget = strtod(value, NULL);
    else
        return false;
    return true;
}

static bool are_lists_right(const bench *b)
{
    for (uint32_t i = 0; i < b->batch.n; i++)
        if (b->batch.v[i] < 1 || b->batch.v[i] > MYTH_RUN_SEQ_MAX)
            return false;
    for (uint32_t i = 0; i < b->prompt.n; i++)
        if (b->prompt.v[i] < 1)
            return false;
    for (uint32_t i = 0; i < b->k.n; i++)
        if (b->k.v[i] < 1 || b->k.v[i] > MYTH_TOPK_MAX)
            return false;
    return b->depth.n * (b->batch.n + 1) + b->prompt.n + b->k.n <= CELL_MAX;
}

int main(int argc, char **argv)
{
    bench b = {
        .depth = {{0, 8192, 32768}, 3},
        .batch = {{1, 8, 32}, 3},
        .prompt = {{512, 8192}, 2},
        .k = {{1, 40, 1024}, 3},
        .n_gen = 64,
        .n_repeat = 3,
        .has_header = true,
        .has_limits = true,
        .begin = now(),
    };
    myth_error err = {0};
    myth_status st = MYTH_OK;
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--cold") == 0)
            b.is_cold = true;
        else if (strcmp(argv[at], "--quick") == 0)
            b.is_quick = true;
        else if (strcmp(argv[at], "--no-header") == 0)
            b.has_header = false;
        else if (strcmp(argv[at], "--no-limits") == 0)
            b.has_limits = false;
        else if (at + 1 < argc && read_option(&b, argv[at], argv[at + 1]))
            at++;
        else
            break;
    }
    bool is_single = b.is_cold || b.write_path;
    if ((at < argc && argv[at][0] == '-') || (is_single && argc - at != 1) || !are_lists_right(&b)) {
        fprintf(stderr,
                "usage: bench_engine [--device D] [--depth N,...] [--batch N,...] [--prompt N,...] [--topk N,...] "
                "[--gen N] [--repeat N]\n"
                "                    [--ubatch N] [--budget SECONDS] [--quick] [--no-header] [--no-limits] MODEL ...\n"
                "       bench_engine [--device D] --cold MODEL\n"
                "       bench_engine --write FILE MODEL\n");
        return 2;
    }
    if ((st = myth_mem_open(&b.mem, 0, &err)) != MYTH_OK)
        goto done;
    if (b.write_path) {
        st = write_model(&b, argv[at], &err);
        goto done;
    }
    myth_device_caps caps;
    b.dev.name = b.name;
    if ((st = myth_devices_choose(b.name, b.device, &err)) != MYTH_OK ||
        (st = myth_env_device(&b.dev.cpu_level, &b.dev.n_threads, &b.dev.settings, &err)) != MYTH_OK)
        goto done;
    if (!b.is_cold && !myth_device_find(&caps, b.name, &b.dev)) {
        st = myth_fail(&err, MYTH_EDEVICE, "%s: this build or this machine has no such device", b.name);
        goto done;
    }
    b.ledger = myth_device_ledger(b.name);
    if (!b.is_cold)
        memcpy(b.description, caps.description, sizeof(b.description));
    if (b.has_header)
        printf("device,description,model,type,test,batch,depth,tok_s,bytes,flops,limit_tok_s,ratio,note\n");
    if (b.is_cold) {
        st = run_cold(&b, argv[at], &err);
        goto done;
    }
    if (b.has_limits && (st = measure_limits(&b, &err)) != MYTH_OK)
        goto done;
    for (; at < argc && st != MYTH_ELOST; at++)
        st = run_model(&b, argv[at]);
    st = st == MYTH_ELOST ? st : MYTH_OK; /* others are in the rows */
done:
    if (st != MYTH_OK)
        fprintf(stderr, "bench_engine: %s: %s\n", myth_status_name(st), err.msg);
    if (b.mem && myth_mem_close(b.mem))
        b.has_failed = true;
    return st == MYTH_ELOST ? 75 : st != MYTH_OK || b.has_failed ? 1 : 0;
}
