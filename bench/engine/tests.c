/* tests.c - runs and times one test of one model, and computes the bytes and flops of its tokens. */
#include "bench/engine/bench.h"

#include <stdlib.h>

enum {
    AHEAD = 16,      /* steps that are issued before the host waits for them */
    HEAD_REPEAT = 16 /* runs of the head in one sample, since one takes microseconds */
};

/* ---- prices ---- */

/* The bytes and flops of attention for a token at position pos, added over all layers. */
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

/* The price of one of n decode steps with sequences that had `depth` tokens before the first of these steps. */
static void price_decode(const subject *s, row *r, double depth, uint32_t n)
{
    double bytes, flops;
    price_keys(s, depth + (n - 1) / 2.0, &bytes, &flops);
    r->bytes = s->weight_bytes / r->batch + bytes;
    r->flops = 2.0 * s->params + flops;
    limit_row(s, r);
}

/* The price of a prompt of n tokens. Keys are read once per micro-batch, so each of its rows has a share of them; the
 * head runs for one row of the prompt. */
static void price_prefill(const subject *s, row *r, uint32_t n)
{
    double bytes, flops, step = n < myth_engine_plan(s->e)->n_ubatch ? n : myth_engine_plan(s->e)->n_ubatch;
    price_keys(s, (n - 1) / 2.0, &bytes, &flops);
    r->bytes = (s->weight_bytes - s->head_bytes) / step + s->head_bytes / n + bytes / step;
    r->flops = 2.0 * (s->params - s->head_params) + 2.0 * s->head_params / n + flops;
    limit_row(s, r);
    if (s->b->peak[s->type] == 0.0) /* bandwidth alone does not limit a prompt */
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

/* Runs n steps of the first `batch` sequences. first [batch] has the tokens to feed; afterwards it has those to feed
 * next. */
static myth_status run_steps(subject *s, uint32_t batch, uint32_t n, int32_t *first, double *seconds, myth_error *err)
{
    struct {
        uint64_t mark;
        uint32_t n;
    } lot[2];
    uint32_t oldest = 0, n_lot = 0;
    myth_run run;
    double start = myth_seconds();
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
    *seconds = myth_seconds() - start;
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
    double start = myth_seconds();
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        myth_batch batch = {.on_full_logits = take_row, .user = &sum};
        st = bench_feed(s, s->seq[0], 1, MYTH_WANT_FULL_LOGITS, true, &batch, &out, err);
    }
    *seconds = myth_seconds() - start;
    if (st == MYTH_OK && sum != sum)
        st = myth_fail(err, MYTH_EDEVICE, "logits are not numbers");
    return st;
}

/* Makes sequences 0 .. batch - 1 with `depth` tokens each. Tokens that earlier tests of this depth appended may follow.
 */
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
        MYTH_TRY(bench_feed(s, q, depth, MYTH_WANT_LOGITS, false, &b, &out, err));
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
        if (i == 1) /* the first run was the warm-up */
            for (uint32_t q = 0; q < c->batch; q++)
                depth += (double)myth_seq_len(s->seq[q]) / c->batch;
        st = c->kind == TEST_PEER ? run_peer(s, b->n_gen, &seconds[i], err)
                                  : run_steps(s, c->batch, b->n_gen, first, &seconds[i], err);
    }
    if (st != MYTH_OK)
        return st;
    row r = {.test = bench_test_name(c->kind), .batch = c->batch, .depth = c->depth};
    double fastest = seconds[1], slowest = seconds[1], middle;
    for (uint32_t i = 2; i <= b->n_repeat; i++) {
        fastest = seconds[i] < fastest ? seconds[i] : fastest;
        slowest = seconds[i] > slowest ? seconds[i] : slowest;
    }
    middle = median(seconds + 1, b->n_repeat);
    r.tok_s = (double)c->batch * b->n_gen / middle;
    price_decode(s, &r, depth, b->n_gen * b->n_repeat);
    bench_put_row(b, s, &r, "%u steps, spread %.1f %%", b->n_gen, 100.0 * (slowest - fastest) / middle);
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
        double start = myth_seconds();
        if (st == MYTH_OK)
            st = bench_feed(s, s->seq[0], c->depth, MYTH_WANT_LOGITS, false, &batch, &out, err);
        seconds[i] = myth_seconds() - start;
        bench_close_sequences(s);
    }
    if (st != MYTH_OK)
        return st;
    row r = {.test = "prefill", .batch = 1, .depth = c->depth, .tok_s = c->depth / median(seconds + 1, s->b->n_repeat)};
    price_prefill(s, &r, c->depth);
    bench_put_row(s->b, s, &r, "micro-batch %u", myth_engine_plan(s->e)->n_ubatch);
    return MYTH_OK;
}

/* A saved sequence of c->depth tokens into an empty one. The limit is that of a copy: its bytes are read and written
 * (of memory that is read, where no copy was measured). */
static myth_status test_restore(subject *s, const cell *c, myth_error *err)
{
    double seconds[REPEAT_MAX + 1];
    myth_status st = MYTH_OK;
    bench_close_sequences(s);
    MYTH_TRY(open_sequences(s, 1, c->depth, true, err));
    for (uint32_t i = 0; i <= s->b->n_repeat; i++) {
        uint32_t at;
        MYTH_TRY(myth_seq_truncate(s->seq[0], 0, &at, err));
        const double start = myth_seconds();
        MYTH_TRY(myth_seq_restore(s->seq[0], s->saved, s->saved_bytes, err));
        seconds[i] = myth_seconds() - start;
    }
    const double middle = median(seconds + 1, s->b->n_repeat);
    row r = {.test = "restore", .batch = 1, .depth = c->depth, .tok_s = c->depth / middle};
    const double bytes_s = s->b->copy_bytes > 0.0 ? s->b->copy_bytes : s->b->read_bytes;
    if (bytes_s > 0.0) {
        r.limit_tok_s = c->depth * bytes_s / (2.0 * (double)s->saved_bytes);
        r.ratio = r.tok_s / r.limit_tok_s;
    }
    bench_put_row(s->b, s, &r, "%.2f ms for %.1f MB", middle * 1e3, (double)s->saved_bytes * 1e-6);
fail:
    bench_close_sequences(s);
    return st;
}

/* Seconds that the head takes for one row, with the choice of the k best, or with k = 0 the product alone. */
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
        double start = myth_seconds();
        for (int n = 0; n < HEAD_REPEAT; n++)
            if (k)
                myth_head_topk(p->stream, &topk);
            else
                myth_head_logits(p->stream, &all);
        myth_status st = myth_stream_sync(p->stream, err);
        if (st != MYTH_OK)
            return st;
        each[i] = (myth_seconds() - start) / HEAD_REPEAT;
    }
    *seconds = median(each + 1, s->b->n_repeat);
    return MYTH_OK;
}

static myth_status test_topk(subject *s, const cell *c, myth_error *err)
{
    double alone, seconds;
    myth_status st = open_sequences(s, 1, PROMPT_COLD, false, err); /* gives the head a row to work on */
    if (st == MYTH_OK)
        st = time_head(s, 0, &alone, err);
    if (st == MYTH_OK)
        st = time_head(s, c->depth, &seconds, err);
    bench_close_sequences(s);
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
    bench_put_row(s->b, s, &r, "k %u of %u: %.2f us a row, %+.2f us beside the product alone", c->depth,
                  s->model.config.n_vocab, seconds * 1e6, (seconds - alone) * 1e6);
    return MYTH_OK;
}

myth_status bench_run_cell(subject *s, const cell *c, bool is_saved, myth_error *err)
{
    return c->kind == TEST_PREFILL ? test_prefill(s, c, err)
         : c->kind == TEST_RESTORE ? test_restore(s, c, err)
         : c->kind == TEST_TOPK    ? test_topk(s, c, err)
                                   : test_decode(s, c, is_saved, err);
}
