/* cmd_bench.c - measures tokens per second and compares them with the limit of this machine.
 *
 * Tests      pp512: a prompt of 512 tokens; tg64: 64 generated tokens, one at a time; @d2048: after 2048 other tokens.
 *            A model that makes embeddings has only pp512: a text of 512 tokens with an output row for each token
 * Method     one warm-up, then --repetitions runs of each test; the median is printed
 * Limit      bytes and flops are those of one token. The weights are read once per step (once per micro-batch for
 *            prompts), and so are the keys and values of the earlier positions. limit_tok_s is the smaller of
 *            bandwidth / bytes and peak / flops, both
 *            measured just before (limits.h) */
#include "frontend/cli/json_out.h"
#include "engine/base/clock.h"
#include "frontend/cli/machine_limits.h"
#include "frontend/cli/cli.h"
#include "frontend/rates/expect.h"
#include "engine/run/embed.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT_MAX = 100 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    uint32_t n_prompt, n_gen, n_depth, n_repeat;
    bool json;
} bench_opts;

static const myth_option options[] = {
    {"n-prompt", "-p", MYTH_OPT_U32, "N", offsetof(bench_opts, n_prompt), "512", 0, 1u << 20,
     "tokens in the prompt test; 0 = no such test"},
    {"n-gen", "-n", MYTH_OPT_U32, "N", offsetof(bench_opts, n_gen), "64", 0, 1u << 20,
     "tokens in the generation test; 0 = no such test"},
    {"n-depth", "-d", MYTH_OPT_U32, "N", offsetof(bench_opts, n_depth), "0", 0, 1u << 20,
     "tokens that are already in the cache when a test begins"},
    {"repetitions", "-r", MYTH_OPT_U32, "N", offsetof(bench_opts, n_repeat), "3", 1, REPEAT_MAX, "runs of each test"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(bench_opts, json), NULL, 0, 0,
     "print [{\"test\",\"tok_s\",\"bytes\",\"flops\",\"limit_tok_s\",\"ratio\"}]"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("bench", bench_opts, options),
    MYTH_GROUP_MODEL(bench_opts, model),
    MYTH_GROUP_ENGINE(bench_opts, engine),
};

typedef struct {
    myth_cli *cli;
    const bench_opts *o;
    myth_model model;
    myth_engine *engine;
    myth_engine_opts eo;
    myth_seq *base; /* n_depth tokens, forked for every run */
    int32_t *ids;   /* [depth + prompt] */
    myth_machine_limits limits;
    myth_json_out json;
    myth_pace pace; /* kept for the estimates of other commands */
} run_state;

typedef struct {
    const char *kind; /* "pp", "tg" */
    uint32_t n;
    double tok_s, bytes, flops; /* of one token */
    double in_bytes, ahead;     /* offloaded bytes copied to the device for one token; the share copied ahead */
} result;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_encoder(const run_state *s) { return s->model.config.is_bidirectional; }
static void drop_row(void *user, uint32_t tok, uint32_t layer, const float *row, uint32_t n)
{
    (void)user, (void)tok, (void)layer, (void)row, (void)n;
}

/* The keys (or, with wants_bytes, the bytes of keys and values) that a token at position pos reads in all layers. */
static double keys_read(const myth_config *c, double pos, bool wants_bytes, double row_bytes)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n_layer; i++) {
        const myth_layer_config *l = &c->layer[i];
        double keys = l->is_global || !c->window || pos + 1 < c->window ? pos + 1 : c->window;
        double n_vec = c->layer[l->kv_source].k_is_v ? 1.0 : 2.0; /* keys made from the values are not read */
        sum += keys * (wants_bytes ? n_vec * l->n_head_kv * l->head_dim * row_bytes : 4.0 * c->n_head * l->head_dim);
    }
    return sum;
}

/* Computes the bytes and flops of one token: of all matrices for a generated token, of all but the head in a prompt. */
static void price(result *r, const run_state *s, bool is_prompt)
{
    const myth_config *c = &s->model.config;
    double params = 0, head = (double)c->n_vocab * c->d_model, bytes = 0;
    for (uint32_t i = 0; i < myth_weights_n_tensor(s->model.weights); i++) {
        const myth_tensor *t = myth_weights_at(s->model.weights, i);
        const bool is_rows =
            c->n_ple &&
            t->dim[1] == (uint64_t)c->n_layer * c->n_ple; /* an embedding table: one row per token, almost nothing */
        const double part = t->n_dim == 3 && c->n_expert ? (double)c->n_expert_used / c->n_expert
                                                         : 1.0; /* only the chosen experts are read */
        if (is_rows)
            continue;
        bytes += (double)t->bytes * part;
        if (t->n_dim > 1)
            params += (double)t->dim[0] * (double)t->dim[1] * (double)t->dim[2] * part;
    }
    double pos = s->o->n_depth + (r->n - 1) / 2.0,
           k_bytes = (double)myth_dtype_block_bytes(s->eo.type_k) / myth_dtype_block(s->eo.type_k);
    double step = is_prompt ? (r->n < s->eo.n_ubatch ? r->n : s->eo.n_ubatch) : 1;
    r->flops = 2.0 * (is_prompt ? params - head : params) + keys_read(c, pos, false, 0);
    r->bytes = (is_prompt ? bytes * (params - head) / params : bytes) / step + keys_read(c, pos, true, k_bytes) / step;
}

static myth_status feed(run_state *s, myth_seq *q, uint32_t first, uint32_t n, bool is_decode, myth_result *res,
                        myth_error *err)
{
    const myth_batch_run run = {
        .seq = q,
        .token = s->ids + first,
        .n = n,
        .want = is_encoder(s) ? MYTH_WANT_FINAL : 0,
        .want_last = is_encoder(s) ? 0 : MYTH_WANT_LOGITS,
        .is_ephemeral = is_encoder(s),
    };
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .is_decode = is_decode,
        .top_k = is_encoder(s) ? 0 : 1,
        .on_hidden = drop_row,
        .cancel = s->cli->cancel,
    };
    return myth_forward(s->engine, &b, res, err);
}

static myth_status run_once(run_state *s, const result *r, bool is_prompt, double *seconds, myth_error *err)
{
    myth_seq *q = NULL;
    myth_result res;
    myth_status st = s->base ? myth_seq_fork(&q, s->base, err) : myth_seq_open(&q, s->engine, err);
    if (st != MYTH_OK)
        return st;
    if (myth_cancelled(s->cli->cancel))
        st = myth_fail(err, MYTH_ECANCEL, "bench: cancelled");
    double start = myth_seconds();
    if (st == MYTH_OK && is_prompt) {
        st = feed(s, q, s->o->n_depth, r->n, false, &res, err);
    } else {
        s->ids[0] = 1;
        for (uint32_t i = 0; i < r->n && st == MYTH_OK && !myth_cancelled(s->cli->cancel); i++) {
            st = feed(s, q, 0, 1, true, &res, err);
            if (st == MYTH_OK)
                s->ids[0] = res.top_id[0];
        }
    }
    *seconds = myth_seconds() - start;
    myth_seq_close(q);
    return st;
}

static void print_result(run_state *s, const result *r)
{
    char test[48];
    double peak = s->limits.flops > 0 ? s->limits.flops / r->flops : 0, bw = s->limits.read_bytes / r->bytes;
    double limit = peak > 0 && peak < bw ? peak : bw;
    if (s->o->n_depth)
        snprintf(test, sizeof(test), "%s%u@d%u", r->kind, r->n, s->o->n_depth);
    else
        snprintf(test, sizeof(test), "%s%u", r->kind, r->n);
    if (!s->o->json) {
        printf("%-14s %10.1f tok/s  %9.1f MB  %9.2f MFLOP  limit %10.1f  ratio %.2f\n", test, r->tok_s, r->bytes / 1e6,
               r->flops / 1e6, limit, r->tok_s / limit);
        if (r->in_bytes > 0)
            printf("%-14s %10.1f MB copied to the device for a token, %.0f%% while it computed\n", "",
                   r->in_bytes / 1e6, 100 * r->ahead);
        return;
    }
    myth_jout_object(&s->json);
    myth_jout_key_str(&s->json, "test", test);
    myth_jout_key_f64(&s->json, "tok_s", r->tok_s);
    myth_jout_key_f64(&s->json, "bytes", r->bytes);
    myth_jout_key_f64(&s->json, "flops", r->flops);
    myth_jout_key_f64(&s->json, "limit_tok_s", limit);
    myth_jout_key_f64(&s->json, "ratio", r->tok_s / limit);
    myth_jout_key_f64(&s->json, "offload_bytes", r->in_bytes);
    myth_jout_key_f64(&s->json, "offload_ahead", r->ahead);
    myth_jout_end(&s->json);
}

static myth_status run_test(run_state *s, const char *kind, uint32_t n, bool is_prompt, myth_error *err)
{
    double seconds[REPEAT_MAX + 1];
    result r = {.kind = kind, .n = n};
    const myth_offload_counts before = myth_engine_offload_counts(s->engine);
    for (uint32_t i = 0; i <= s->o->n_repeat; i++) {
        myth_term_progress(s->cli->term, kind, i, s->o->n_repeat);
        myth_status st = run_once(s, &r, is_prompt, &seconds[i], err);
        if (st != MYTH_OK)
            return st;
    }
    myth_term_progress_end(s->cli->term);
    qsort(seconds + 1, s->o->n_repeat, sizeof(*seconds), by_value); /* the first run was the warm-up */
    for (uint32_t i = 1; i <= s->o->n_repeat; i++)
        myth_pace_add(&s->pace, is_prompt ? MYTH_PREFILL : MYTH_DECODE, s->o->n_depth, n, seconds[i]);
    r.tok_s = n / seconds[1 + s->o->n_repeat / 2];
    const myth_offload_counts after = myth_engine_offload_counts(s->engine);
    r.in_bytes = (double)(after.in_bytes - before.in_bytes) / ((s->o->n_repeat + 1.0) * n);
    if (after.in_bytes > before.in_bytes)
        r.ahead = (double)(after.ahead_bytes - before.ahead_bytes) / (double)(after.in_bytes - before.in_bytes);
    price(&r, s, is_prompt);
    print_result(s, &r);
    return MYTH_OK;
}

void myth_cli_bench_opts(myth_engine_opts *eo, const myth_model *m, uint32_t n_prompt, uint32_t n_gen, uint32_t n_depth)
{
    enum { STEP = 64 };
    if (m->config.is_bidirectional) {
        myth_embedder_opts(eo, m, n_prompt);
        return;
    }
    uint32_t n = n_depth + (n_prompt > n_gen ? n_prompt : n_gen);
    if (!eo->n_ctx)
        eo->n_ctx = (n + STEP - 1) / STEP
    *STEP;
    eo->n_seq = n_depth ? 2 : 1;
    eo->n_logit_rows = 1;
    eo->top_k = 1;
}

/* The element type of most of the model's bytes. */
static myth_dtype common_type(const myth_model *m)
{
    uint64_t bytes[MYTH_DTYPE_N] = {0};
    myth_dtype best = MYTH_F32;
    for (uint32_t i = 0; i < myth_weights_n_tensor(m->weights); i++) {
        const myth_tensor *t = myth_weights_at(m->weights, i);
        bytes[t->dtype] += t->bytes;
        if (bytes[t->dtype] > bytes[best])
            best = t->dtype;
    }
    return best;
}

static myth_status prepare(run_state *s, myth_error *err)
{
    myth_status st = MYTH_OK;
    const bench_opts *o = s->o;
    myth_mem *mem = s->cli->mem;
    uint32_t n = o->n_depth + o->n_prompt + 1;
    myth_result res;
    MYTH_TRY(myth_cli_model_open(s->cli, &s->model, &o->model, &o->engine, MYTH_WEIGHTS_DATA, err));
    if (is_encoder(s) && (o->n_depth || !o->n_prompt || o->n_prompt > s->model.config.n_ctx_train))
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s makes embeddings; give -p from 1 to %u tokens, and no -d",
                         myth_weights_name(s->model.weights), s->model.config.n_ctx_train);
    MYTH_TRY(myth_cli_engine_opts(s->cli, &s->eo, &o->engine, err));
    MYTH_TRY(myth_limits_measure(&s->limits, mem, (int)s->cli->global->n_threads,
                                 s->cli->global->is_exact ? MYTH_F32 : common_type(&s->model), s->eo.cpu_level, err));
    myth_cli_bench_opts(&s->eo, &s->model, o->n_prompt, o->n_gen, o->n_depth);
    s->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", n, sizeof(*s->ids));
    if (!s->ids) {
        st = myth_fail(err, MYTH_ENOMEM, "out of memory for %u tokens", n);
        goto fail;
    }
    uint32_t n_vocab = s->model.config.n_vocab;
    for (uint32_t i = 0; i < n; i++)
        s->ids[i] = (int32_t)((i * 2654435761u >> 8) % n_vocab);
    MYTH_TRY(myth_cli_plan(s->cli, &s->model, &s->eo, NULL, err));
    MYTH_TRY(myth_cli_engine_open(s->cli, &s->engine, &s->model, &s->eo, err));
    if (o->n_depth) {
        MYTH_TRY(myth_seq_open(&s->base, s->engine, err));
        MYTH_TRY(feed(s, s->base, 0, o->n_depth, false, &res, err));
    }
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    myth_status st = MYTH_OK;
    run_state s = {.cli = cli, .o = opts};
    if (!s.o->n_prompt && !s.o->n_gen)
        return myth_cli_failf(cli, MYTH_EARG,
                              "bench: -p 0 and -n 0 leave no test; give one of them a number of tokens");
    MYTH_TRY(prepare(&s, &err));
    myth_term_note(cli->term, "%s; read %.1f GB/s, %s %.0f Gop/s", myth_engine_device(s.engine),
                   s.limits.read_bytes / 1e9, s.limits.flops_kind, s.limits.flops / 1e9);
    myth_jout_start(&s.json, stdout);
    if (s.o->json)
        myth_jout_array(&s.json);
    if (s.o->n_prompt && st == MYTH_OK)
        st = run_test(&s, "pp", s.o->n_prompt, true, &err);
    if (s.o->n_gen && !is_encoder(&s) && st == MYTH_OK)
        st = run_test(&s, "tg", s.o->n_gen, false, &err);
    if (s.o->json)
        myth_jout_end(&s.json);
    if (st == MYTH_OK)
        myth_expect_keep(cli, &s.model, &s.eo, s.engine, &s.pace);
fail:
    if (s.base)
        myth_seq_close(s.base);
    myth_engine_close(s.engine);
    myth_free(cli->mem, s.ids);
    myth_model_close(&s.model);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_bench = {
    .name = "bench",
    .args = "",
    .help = "measure tokens per second and compare them with this machine's limit",
    .group = groups,
    .n_group = 3,
    .opts_bytes = sizeof(bench_opts),
    .run = run,
};
