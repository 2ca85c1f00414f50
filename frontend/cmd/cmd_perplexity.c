/* cmd_perplexity.c - measures how well a model predicts a text, and with --kl how far its predictions are from another
 * model's.
 *
 * Windows  the text is cut into windows of -c tokens (512), each starting with <bos>. Only the second half of a window
 *          is scored, so that every scored token has at least half a window of context
 * Error    standard error of the mean of -log p, multiplied by the perplexity
 * KL       sum over the vocabulary of p log(p / q) in nats, where p is the reference model. KL_ROWS tokens are compared
 *          at a time, because each needs a whole row of logits */
#include "frontend/cli/json_out.h"
#include "frontend/common/windows.h"

#include <math.h>
#include <string.h>

enum { KL_ROWS = 16 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    const char *kl;
    uint32_t n_most;
    bool json;
} perplexity_opts;

static const myth_option options[] = {
    {"kl", NULL, MYTH_OPT_TEXT, "MODEL", offsetof(perplexity_opts, kl), NULL, 0, 0,
     "also print the mean KL divergence from this reference model"},
    {"chunks", NULL, MYTH_OPT_U32, "N", offsetof(perplexity_opts, n_most), "(all)", 0, 0,
     "most windows of the text to run"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(perplexity_opts, json), NULL, 0, 0,
     "print {\"perplexity\",\"error\",\"nll\",\"tokens\",\"windows\",\"window\"[,\"kl\",\"kl_error\",\"same_top\"]}"},
};
static const myth_option_group groups[] = {MYTH_GROUP("perplexity", perplexity_opts, options),
                                           MYTH_GROUP_MODEL(perplexity_opts, model),
                                           MYTH_GROUP_ENGINE(perplexity_opts, engine)};

/* Count, sum and sum of squares. */
typedef struct {
    uint64_t n;
    double sum, squares;
} mean;

typedef struct {
    myth_model model;
    myth_engine *engine;
    myth_seq *seq;
} side;

typedef struct {
    myth_cli *cli;
    const perplexity_opts *o;
    side own, other; /* other: the reference of --kl */
    myth_windows text;
    uint8_t *want;           /* [window] */
    int32_t *next;           /* of each scored row: the token that follows */
    float *rows;             /* [KL_ROWS][n_vocab] logits of the reference */
    uint32_t n_vocab, first; /* of the step's scored tokens */
    mean nll, kl;
    uint64_t n_same;
} run_state;

static void count(mean *m, double v)
{
    m->n++;
    m->sum += v;
    m->squares += v * v;
}

static double mean_of(const mean *m) { return m->sum / (double)m->n; }

/* Standard error of the mean; 0 for a single value. */
static double error_of(const mean *m)
{
    const double v = mean_of(m), spread = m->squares / (double)m->n - v * v;
    return m->n > 1 && spread > 0.0 ? sqrt(spread / (double)(m->n - 1)) : 0.0;
}

/* ---- open ---- */

static myth_status refuse_encoder(const myth_model *m, myth_error *err)
{
    return m->config.is_bidirectional
             ? myth_fail(err, MYTH_EUNSUPPORTED,
                         "%s makes embeddings and cannot predict text; give a model that generates",
                         myth_weights_name(m->weights))
             : MYTH_OK;
}

static void fill_opts(myth_engine_opts *eo, const run_state *r)
{
    const uint32_t n = r->text.n_tok;
    eo->n_ctx = n;
    eo->n_seq = 1;
    eo->n_ask = r->o->kl ? 0 : 1;
    eo->n_logit_rows = r->o->kl ? 1 : n - n / 2;
    eo->want_full_logits = r->o->kl != NULL;
}

static myth_status open_other(run_state *r, myth_engine_opts *eo, myth_plan_extra *extra, myth_error *err)
{
    const myth_model_flags flags = {.model = r->o->kl, .load_mode = r->o->model.load_mode};
    myth_plan plan;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_model_open(r->cli, &r->other.model, &flags, NULL, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(refuse_encoder(&r->other.model, err));
    if (r->other.model.config.n_vocab != r->own.model.config.n_vocab)
        return myth_fail(err, MYTH_EARG,
                         "--kl: %s has a vocabulary of %u tokens, but %s has %u; the models must share one",
                         myth_weights_name(r->other.model.weights), r->other.model.config.n_vocab,
                         myth_weights_name(r->own.model.weights), r->own.model.config.n_vocab);
    MYTH_TRY(myth_plan_make(&plan, &r->other.model, eo, NULL, NULL, false, err));
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
        extra->bytes[c] +=
            c == MYTH_MEM_STAGING
                ? 0
                : plan.device[0].bytes[c]; /* its staging is already counted when the other model is planned */
fail:
    return st;
}

static myth_status open_side(side *s, const myth_engine_opts *eo, myth_error *err)
{
    myth_status st = myth_engine_open(&s->engine, &s->model, eo, err);
    return st == MYTH_OK ? myth_seq_open(&s->seq, s->engine, err) : st;
}

static myth_status open_all(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    myth_plan_extra extra = {0};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_model_open(cli, &r->own.model, &r->o->model, &r->o->engine, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(refuse_encoder(&r->own.model, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &r->o->engine, err));
    const uint32_t most = r->own.model.config.n_ctx_train, wish = eo.n_ctx ? eo.n_ctx : MYTH_WINDOW_TOKENS,
                   n = wish < most ? wish : most;
    if (n < MYTH_WINDOW_LEAST)
        return myth_fail(err, MYTH_EARG, "-c %u: a window has at least %d tokens; give -c %d or more", n,
                         (int)MYTH_WINDOW_LEAST, (int)MYTH_WINDOW_LEAST);
    MYTH_TRY(myth_windows_open(&r->text, cli, &r->own.model, n, r->o->n_most, err));
    fill_opts(&eo, r);
    r->n_vocab = r->own.model.config.n_vocab;
    r->want = myth_alloc(cli->mem, MYTH_MEM_STAGING, "windows", n);
    r->next = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "windows", n, sizeof(*r->next));
    r->rows = r->o->kl
                ? myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "logits", (size_t)KL_ROWS * r->n_vocab, sizeof(*r->rows))
                : NULL;
    if (!r->want || !r->next || (r->o->kl && !r->rows))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a window of %u tokens", n);
    if (r->o->kl) {
        myth_engine_opts other = eo;
        MYTH_TRY(open_other(r, &other, &extra, err));
        MYTH_TRY(open_side(&r->other, &other, err));
    }
    MYTH_TRY(myth_cli_plan(cli, &r->own.model, &eo, &extra, err));
    MYTH_TRY(open_side(&r->own, &eo, err));
fail:
    return st;
}

/* ---- one model ---- */

/* Scores tokens n / 2 + 1 .. n - 1 of the window. */
static myth_status score(run_state *r, const int32_t *ids, myth_error *err)
{
    const uint32_t n = r->text.n_tok, first = n / 2;
    uint32_t at;
    myth_result res;
    myth_status st = myth_seq_truncate(r->own.seq, 0, &at, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t i = 0; i < n; i++)
        r->want[i] = i >= first && i + 1 < n ? MYTH_WANT_LOGITS : 0;
    const myth_batch_run run = {.seq = r->own.seq, .token = ids, .n = n};
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .want = r->want,
        .ask_id = ids + first + 1,
        .n_ask = 1,
        .cancel = r->cli->cancel,
    };
    if ((st = myth_forward(r->own.engine, &b, &res, err)) != MYTH_OK)
        return st;
    for (uint32_t i = 0; i < res.n_rows; i++) {
        const double v = (double)res.lse[i] - (double)res.ask_logit[i];
        if (!isfinite(v))
            return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_VERIFY_MODEL, "%s: logits are infinite or NaN",
                                    myth_weights_path(r->own.model.weights));
        count(&r->nll, v);
    }
    return MYTH_OK;
}

/* ---- two models ---- */

static double log_sum(const float *row, uint32_t n)
{
    float most = row[0];
    double sum = 0.0;
    for (uint32_t i = 1; i < n; i++)
        most = row[i] > most ? row[i] : most;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)expf(row[i] - most);
    return (double)most + log(sum);
}

static uint32_t best_of(const float *row, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        best = row[i] > row[best] ? i : best;
    return best;
}

static void keep_row(void *user, uint32_t tok, const float *row, uint32_t n_vocab)
{
    run_state *r = user;
    memcpy(r->rows + (size_t)tok * n_vocab, row, n_vocab * sizeof(*row));
}

static void compare_row(void *user, uint32_t tok, const float *q, uint32_t n_vocab)
{
    run_state *r = user;
    const float *p = r->rows + (size_t)tok * n_vocab;
    const double lp = log_sum(p, n_vocab), lq = log_sum(q, n_vocab);
    double kl = 0.0;
    for (uint32_t i = 0; i < n_vocab; i++) {
        const double a = (double)p[i] - lp;
        if (a > -60.0) /* smaller terms do not change a sum of doubles */
            kl += exp(a) * (a - ((double)q[i] - lq));
    }
    count(&r->kl, kl);
    count(&r->nll, lq - (double)q[r->next[tok]]);
    r->n_same += best_of(p, n_vocab) == best_of(q, n_vocab);
}

static myth_status step(run_state *r, side *s, const int32_t *ids, uint32_t n, bool is_scored, myth_error *err)
{
    const myth_batch_run run = {.seq = s->seq, .token = ids, .n = n, .want = is_scored ? MYTH_WANT_FULL_LOGITS : 0};
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .on_full_logits = s == &r->own ? compare_row : keep_row,
        .user = r,
        .cancel = r->cli->cancel,
    };
    return myth_forward(s->engine, &b, NULL, err);
}

static myth_status compare(run_state *r, const int32_t *ids, myth_error *err)
{
    const uint32_t n = r->text.n_tok, first = n / 2;
    side *const both[] = {&r->other, &r->own};
    uint32_t at;
    myth_status st = MYTH_OK;
    for (int s = 0; s < 2; s++) {
        MYTH_TRY(myth_seq_truncate(both[s]->seq, 0, &at, err));
        MYTH_TRY(step(r, both[s], ids, first, false, err));
    }
    for (uint32_t i = first, k; i + 1 < n; i += k) {
        k = n - 1 - i < KL_ROWS ? n - 1 - i : KL_ROWS;
        memcpy(r->next, ids + i + 1, k * sizeof(*ids));
        for (int s = 0; s < 2; s++)
            MYTH_TRY(step(r, both[s], ids + i, k, true, err));
    }
    if (!isfinite(r->kl.sum) || !isfinite(r->nll.sum))
        st = myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_VERIFY_MODEL, "logits are infinite or NaN");
fail:
    return st;
}

/* ---- the run ---- */

static void print(const run_state *r, uint32_t n_window)
{
    const double ppl = exp(mean_of(&r->nll)), error = ppl * error_of(&r->nll);
    const double same = r->kl.n ? (double)r->n_same / (double)r->kl.n : 0.0;
    myth_json_out j;
    if (!r->o->json) {
        printf("perplexity %.4f +- %.4f, %u window%s of %u tokens, %llu scored\n", ppl, error, n_window,
               myth_s(n_window), r->text.n_tok, (unsigned long long)r->nll.n);
        if (r->o->kl)
            printf("divergence %.6f +- %.6f from %s, same first choice %.2f %%\n", mean_of(&r->kl), error_of(&r->kl),
                   myth_weights_name(r->other.model.weights), 100.0 * same);
        return;
    }
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_f64(&j, "perplexity", ppl);
    myth_jout_key_f64(&j, "error", error);
    myth_jout_key_f64(&j, "nll", mean_of(&r->nll));
    myth_jout_key_u64(&j, "tokens", r->nll.n);
    myth_jout_key_u64(&j, "windows", n_window);
    myth_jout_key_u64(&j, "window", r->text.n_tok);
    if (r->o->kl) {
        myth_jout_key_f64(&j, "kl", mean_of(&r->kl));
        myth_jout_key_f64(&j, "kl_error", error_of(&r->kl));
        myth_jout_key_f64(&j, "same_top", same);
    }
    myth_jout_end(&j);
}

static myth_status measure(run_state *r, myth_error *err)
{
    uint32_t i = 0;
    myth_status st = MYTH_OK;
    while (i < r->text.n_window && !myth_cancelled(r->cli->cancel)) {
        const int32_t *ids = r->text.ids + (uint64_t)i * r->text.n_tok;
        if ((st = r->o->kl ? compare(r, ids, err) : score(r, ids, err)) != MYTH_OK)
            break;
        myth_term_progress(r->cli->term, "perplexity, windows", ++i, r->text.n_window);
    }
    myth_term_progress_end(r->cli->term);
    if (st != MYTH_OK && st != MYTH_ECANCEL)
        return st;
    if (r->nll.n)
        print(r, i);
    return i < r->text.n_window ? myth_fail(err, MYTH_ECANCEL, "interrupted after %u of %u window%s", i,
                                            r->text.n_window, myth_s(r->text.n_window))
                                : MYTH_OK;
}

static void close_side(side *s)
{
    if (s->seq)
        myth_seq_close(s->seq);
    myth_engine_close(s->engine);
    myth_model_close(&s->model);
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts};
    myth_status st = open_all(&r, &err);
    if (st == MYTH_OK)
        st = measure(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    close_side(&r.own);
    close_side(&r.other);
    myth_free(cli->mem, r.rows);
    myth_free(cli->mem, r.next);
    myth_free(cli->mem, r.want);
    myth_windows_close(&r.text, cli);
    return code;
}

const myth_command myth_cmd_perplexity = {
    .name = "perplexity",
    .args = "FILE...",
    .help = "measure how well a model predicts a text, and with --kl how far it is from another model",
    .detail = "Cuts the text into windows of -c tokens (512), each starting with <bos>, and scores the second half of "
              "each, as "
              "llama-perplexity does.",
    .group = groups,
    .n_group = 3,
    .opts_bytes = sizeof(perplexity_opts),
    .min_arg = 1,
    .max_arg = 256,
    .run = run,
};
