/* logprobs.c - groups of prompts, or the completions of one, in a forward each; a row from what the reduction says. */
#include "logprobs.h"

#include "batch_size.h"
#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "logprobs_line.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { GROUP = 64, CTX_STEP = 64, FACTS = 20, UBATCH = 512 };

/* A prompt of the group under way, or the one whose completions are scored. */
typedef struct {
    uint64_t index, line, prompt; /* prompt: its hash */
    uint32_t n_prompt, rank;
    char *id; /* [longest_id] of the survey */
    size_t n_id;
    int32_t token; /* -1 = none is asked for */
    float token_logit;
    double lse, tail;  /* of the prompt's row of logits: log-sum-exp; that of all but the best ids, less lse */
    double base_rest;  /* the same of all but the baseline's ids */
    uint32_t token_at; /* place in the batch of the token whose row is looked at */
    uint32_t n_base;   /* stored ids of the baseline */
    double base_tail;
    int32_t *base_id;  /* [n_base_most] */
    double *base_logp; /* [n_base_most] */
} item;

struct myth_logprobs {
    myth_cli *cli;
    myth_model *model;
    const myth_logprobs_opts *o;
    myth_engine_opts eo;
    myth_prompts_opts reading;
    myth_prompts *prompts;
    myth_prompts_survey survey;
    myth_first_tokens baseline;
    myth_results results;
    myth_engine *engine;
    myth_seq *seq;
    /* what the survey found */
    uint32_t n_completion_most, completion_most; /* completions of a line; ids of one */
    uint64_t n_scored, n_scored_most, need;      /* ids of all completions; of one line; of a prompt and a completion */
    bool has_completions;
    double depth;
    /* the group */
    myth_batch_size size;
    item item[GROUP];
    uint32_t n_item, n_id;
    uint32_t first_run, first_id; /* of the forward under way, in the group */
    int32_t *ids;                 /* [n_step] */
    uint8_t *want;                /* [n_step] */
    myth_batch_run *run;          /* [n_step] */
    int32_t *ask;                 /* [n_row, n_ask] */
    uint32_t n_step, n_row, n_ask;
    double *logp;  /* [top_k], and [n_base_most] of the present model */
    int32_t *best; /* [top_k] */
    float *heap;   /* [top_k] of one row of logits, and ids [n_out] that rise */
    int32_t *out;
    uint32_t n_out;
    /* completions of one line */
    int32_t *done;         /* [n_scored_most] ids */
    uint32_t *length;      /* [n_completion_most] */
    float *score;          /* [n_scored_most] log-probability of each id */
    uint32_t from, n_read; /* the completion that is next, and how many of its ids are scored */
    uint64_t at;           /* place of its first in done */
    bool is_past;          /* the sequence holds a part of a completion */
    char *text;            /* of one token */
    uint32_t n_kept;       /* rows put since the last commit */
};

/* ---- what a line says ---- */

static const char *const keys[] = {"token", "completions", NULL};

/* The completions of a line into l->done and l->length; with is_look their lengths alone, into the survey. */
static myth_status read_completions(myth_logprobs *l, const myth_job_prompt *it, bool is_look, uint32_t *n,
                                    bool *is_right, char why[MYTH_PROMPT_FAULT_BYTES], myth_error *err)
{
    const myth_json_node *list = myth_logprobs_member(it, "completions");
    const uint32_t n_most = l->reading.n_most;
    uint64_t all = 0;
    uint32_t longest = 0;
    bool is_larger = false; /* than any that the look found right */
    *n = 0;
    *is_right = true;
    if (!list)
        return MYTH_OK;
    if (list->type != MYTH_JSON_ARRAY || !list->n) {
        *is_right = myth_logprobs_fault(why, "\"completions\": expected texts or lists of ids, none of them empty");
        return MYTH_OK;
    }
    for (const myth_json_node *c = myth_json_tree_first(it->tree, list); c; c = myth_json_tree_next(it->tree, c)) {
        size_t len = 0;
        is_larger |= *n == l->n_completion_most || all >= l->n_scored_most;
        const bool is_kept = !is_look && !is_larger;
        const size_t cap = is_kept ? l->n_scored_most - (size_t)all : 0;
        const myth_status st =
            myth_logprobs_completion(l->model, it, c, is_kept ? l->done + all : NULL, cap, &len, is_right, why, err);
        if (st != MYTH_OK || !*is_right)
            return st;
        if (n_most && it->n_ids - 1 + (uint64_t)len > n_most) {
            snprintf(why, MYTH_PROMPT_FAULT_BYTES, "completion %u has %zu tokens, at most %u fit", *n, len,
                     n_most + 1 - it->n_ids);
            *is_right = false;
            return MYTH_OK;
        }
        is_larger |= len > cap;
        if (is_kept && !is_larger)
            l->length[*n] = (uint32_t)len;
        all += len;
        longest = len > longest ? (uint32_t)len : longest;
        ++*n;
    }
    if (!is_look)
        return is_larger ? myth_lines_changed(myth_prompts_lines(l->prompts), err) : MYTH_OK;
    l->has_completions = true;
    l->n_scored += all;
    l->n_scored_most = all > l->n_scored_most ? all : l->n_scored_most;
    l->n_completion_most = *n > l->n_completion_most ? *n : l->n_completion_most;
    l->completion_most = longest > l->completion_most ? longest : l->completion_most;
    l->need = (uint64_t)it->n_ids + longest > l->need ? (uint64_t)it->n_ids + longest : l->need;
    return MYTH_OK;
}

static myth_status visit(void *user, const myth_job_prompt *it, myth_error *err)
{
    myth_logprobs *l = user;
    char why[MYTH_PROMPT_FAULT_BYTES];
    int32_t token;
    uint32_t n;
    bool is_right;
    if (!it->ids)
        return MYTH_OK;
    myth_status st = myth_logprobs_token(l->model, it, &token, &is_right, why, err);
    if (st == MYTH_OK && is_right)
        st = read_completions(l, it, true, &n, &is_right, why, err);
    if (st != MYTH_OK || !is_right) {
        l->survey.n_fault += st == MYTH_OK; /* look adds its own, and has counted the ids */
        l->survey.n_token -= it->n_ids;
        return st;
    }
    l->need = it->n_ids > l->need ? it->n_ids : l->need;
    l->depth += 0.5 * it->n_ids * it->n_ids;
    return MYTH_OK;
}

/* ---- memory ---- */

static size_t text_bytes(const myth_logprobs *l)
{
    return l->model->tokenizer ? myth_tokenizer_max_piece(l->model->tokenizer) + 1 : 1;
}

static size_t row_bytes(const myth_logprobs *l)
{
    const size_t top = (size_t)l->o->top_k * (64 + 6 * text_bytes(l));
    return 512 + top + (l->o->save_baseline ? 128 + (size_t)l->o->top_k * 40 : 0) + (size_t)l->n_scored_most * 24 +
           (size_t)l->n_completion_most * 96;
}

static uint32_t n_base(const myth_logprobs *l) { return l->o->baseline ? l->baseline.top_k : 0; }

static uint64_t own_bytes(const myth_logprobs *l)
{
    return (uint64_t)l->n_step * (sizeof(*l->ids) + sizeof(*l->want) + sizeof(*l->run)) +
           (uint64_t)l->n_row * l->n_ask * sizeof(*l->ask) + (l->o->top_k + n_base(l) + 1) * sizeof(double) +
           l->o->top_k * (sizeof(*l->best) + sizeof(*l->heap)) + l->n_out * sizeof(*l->out) +
           GROUP * (l->survey.longest_id + 1 + n_base(l) * (sizeof(int32_t) + sizeof(double))) +
           l->n_scored_most * (sizeof(*l->done) + sizeof(*l->score)) + l->n_completion_most * sizeof(*l->length) +
           text_bytes(l) + myth_results_bytes(row_bytes(l), l->survey.longest_id);
}

static myth_status plan(myth_logprobs *l, const myth_engine_opts *eo, myth_error *err)
{
    const uint32_t n_train = l->model->config.n_ctx_train;
    myth_plan_extra extra = {0};
    l->eo = *eo;
    l->eo.n_seq = 1;
    const uint64_t need = (l->need + CTX_STEP - 1) / CTX_STEP * CTX_STEP;
    if (!l->eo.n_ctx) {
        /* a group of short prompts has as many rows as a long one */
        l->eo.n_ctx = need < UBATCH ? UBATCH : need < UINT32_MAX ? (uint32_t)need : UINT32_MAX;
        if (n_train && l->eo.n_ctx > n_train)
            l->eo.n_ctx = n_train;
    }
    l->eo.n_ctx_least = need < l->eo.n_ctx ? (uint32_t)need : l->eo.n_ctx; /* less would leave prompts out */
    l->n_step = eo->n_ubatch ? eo->n_ubatch : l->eo.n_ctx < UBATCH ? l->eo.n_ctx : UBATCH;
    l->n_row = l->has_completions ? l->n_step : GROUP < l->n_step ? GROUP : l->n_step;
    l->n_ask = 1 + n_base(l);
    l->n_out = l->o->top_k > n_base(l) ? l->o->top_k : n_base(l);
    l->eo.n_logit_rows = l->n_row;
    l->eo.top_k = l->o->top_k;
    l->eo.n_ask = l->n_ask;
    l->eo.want_full_logits = true;
    l->eo.n_checkpoint = l->completion_most > l->n_step; /* to come back to a prompt from a completion in pieces */
    extra.bytes[MYTH_MEM_STAGING] = myth_cli_staging(l->cli) + own_bytes(l);
    const myth_status st = myth_cli_plan(l->cli, l->model, &l->eo, &extra, err);
    if (st == MYTH_OK && l->eo.n_ubatch < l->n_step)
        l->n_step = l->eo.n_ubatch; /* a limit made it smaller */
    l->n_row = l->n_row < l->n_step ? l->n_row : l->n_step;
    return st;
}

static void *take(const myth_logprobs *l, size_t n, size_t size, bool *is_short)
{
    void *got = n ? myth_alloc_n(l->cli->mem, MYTH_MEM_STAGING, "logprobs", n, size) : NULL;
    *is_short |= n && !got;
    return got;
}

static myth_status take_memory(myth_logprobs *l, myth_error *err)
{
    bool is_short = false;
    l->ids = take(l, l->n_step, sizeof(*l->ids), &is_short);
    l->want = take(l, l->n_step, sizeof(*l->want), &is_short);
    l->run = take(l, l->n_step, sizeof(*l->run), &is_short);
    l->ask = take(l, (size_t)l->n_row * l->n_ask, sizeof(*l->ask), &is_short);
    l->logp = take(l, l->o->top_k + n_base(l) + 1, sizeof(*l->logp), &is_short);
    l->best = take(l, l->o->top_k, sizeof(*l->best), &is_short);
    l->heap = take(l, l->o->top_k, sizeof(*l->heap), &is_short);
    l->out = take(l, l->n_out, sizeof(*l->out), &is_short);
    l->done = take(l, (size_t)l->n_scored_most, sizeof(*l->done), &is_short);
    l->score = take(l, (size_t)l->n_scored_most, sizeof(*l->score), &is_short);
    l->length = take(l, l->n_completion_most, sizeof(*l->length), &is_short);
    l->text = take(l, text_bytes(l), 1, &is_short);
    for (int i = 0; i < GROUP; i++) {
        l->item[i].id = take(l, l->survey.longest_id + 1, 1, &is_short);
        l->item[i].base_id = take(l, n_base(l), sizeof(int32_t), &is_short);
        l->item[i].base_logp = take(l, n_base(l), sizeof(double), &is_short);
    }
    return is_short ? myth_fail(err, MYTH_ENOMEM, "out of memory for a group of %d prompts", GROUP) : MYTH_OK;
}

/* ---- open and close ---- */

myth_status myth_logprobs_open(myth_logprobs **out, myth_cli *cli, myth_model *model, const myth_logprobs_opts *o,
                               const myth_engine_opts *eo, myth_error *err)
{
    myth_logprobs *l = *out = myth_alloc(cli->mem, MYTH_MEM_STAGING, "logprobs", sizeof(*l));
    myth_status st;
    if (!l)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*l));
    l->cli = cli;
    l->model = model;
    l->o = o;
    l->reading = o->reading;
    l->reading.keys = keys;
    l->reading.n_most = myth_prompts_most(model, eo);
    if (o->baseline)
        MYTH_TRY(myth_first_tokens_open(&l->baseline, cli, o->baseline, err));
    MYTH_TRY(myth_prompts_open(&l->prompts, cli, model, o->prompts, &l->reading, err));
    MYTH_TRY(myth_prompts_look(l->prompts, &l->survey, visit, l, err));
    st = plan(l, eo, err);
fail:
    if (st != MYTH_OK && st != MYTH_ENOFIT) {
        myth_logprobs_close(l);
        *out = NULL;
    }
    return st;
}

void myth_logprobs_close(myth_logprobs *l)
{
    if (!l)
        return;
    myth_mem *mem = l->cli->mem;
    myth_results_close(&l->results);
    for (int i = 0; i < GROUP; i++) {
        myth_free(mem, l->item[i].base_logp);
        myth_free(mem, l->item[i].base_id);
        myth_free(mem, l->item[i].id);
    }
    myth_free(mem, l->text);
    myth_free(mem, l->length);
    myth_free(mem, l->score);
    myth_free(mem, l->done);
    myth_free(mem, l->out);
    myth_free(mem, l->heap);
    myth_free(mem, l->best);
    myth_free(mem, l->logp);
    myth_free(mem, l->ask);
    myth_free(mem, l->run);
    myth_free(mem, l->want);
    myth_free(mem, l->ids);
    myth_seq_close(l->seq);
    myth_engine_close(l->engine);
    myth_prompts_close(l->prompts);
    myth_first_tokens_close(&l->baseline);
    myth_free(mem, l);
}

/* ---- rows ---- */

/* What row `row` of a forward says of the next token. Sets l->logp to the log-probabilities of the best ids, and
 * returns how many there are. */
static uint32_t print_head(myth_logprobs *l, myth_json_out *j, const item *t, const myth_result *r, uint32_t row)
{
    const double lse = t->lse;
    const int32_t *id = r->top_id + (size_t)row * r->k;
    uint32_t n = 0;
    myth_jout_key_u64(j, "prompt_tokens", t->n_prompt);
    myth_jout_key(j, "top");
    myth_jout_array(j);
    for (; n < l->o->top_k && n < r->k && id[n] >= 0; n++) {
        l->logp[n] = fmin((double)r->top_logit[(size_t)row * r->k + n] - lse, 0.0); /* above it only by rounding */
        myth_jout_object(j);
        myth_jout_key_u64(j, "id", (uint64_t)id[n]);
        if (l->model->tokenizer) {
            myth_jout_key(j, "text");
            myth_jout_text(j, l->text, myth_tokenizer_bytes_of(l->model->tokenizer, id[n], l->text, text_bytes(l)));
        }
        myth_logprobs_print(j, "logprob", l->logp[n]);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key_f64(j, "entropy", (double)r->entropy[row]);
    myth_jout_key_f64(j, "tail", exp(t->tail));
    if (t->token >= 0) {
        myth_jout_key(j, "token");
        myth_jout_object(j);
        myth_jout_key_u64(j, "id", (uint64_t)t->token);
        myth_logprobs_print(j, "logprob", (double)t->token_logit - lse);
        myth_jout_key_u64(j, "rank", t->rank);
        myth_jout_end(j);
    }
    if (l->o->baseline) {
        const myth_first_token p = {t->n_base, t->base_id, t->base_logp, t->base_tail};
        double *logq = l->logp + l->o->top_k;
        for (uint32_t i = 0; i < t->n_base; i++)
            logq[i] = (double)r->ask_logit[(size_t)row * r->n_ask + 1 + i] - lse;
        myth_logprobs_print(j, "kl", t->n_base ? myth_first_token_kl(&p, logq, t->base_rest) : NAN);
    }
    return n;
}

/* Ends the row of a prompt; n_top of l->logp, and ids, are its distribution. */
static myth_status end_row(myth_logprobs *l, const item *t, const int32_t *top_id, uint32_t n_top, myth_error *err)
{
    const myth_first_token p = {n_top, top_id, l->logp, exp(t->tail)};
    if (l->o->save_baseline)
        myth_first_tokens_write(myth_results_second(&l->results), t->index, t->prompt, &p);
    l->results.n_token += t->n_prompt;
    l->n_kept++;
    return myth_results_end(&l->results, t->index, err);
}

static myth_status put_fault(myth_logprobs *l, const myth_job_prompt *it, const char *why, myth_error *err)
{
    l->n_kept++;
    return myth_results_fault(&l->results, it, why, err);
}

/* The row of an item whose logits are infinite or NaN. */
static myth_status put_bad_logits(myth_logprobs *l, const item *t, myth_error *err)
{
    const myth_job_prompt it = {.index = t->index, .prompt = t->index, .line = t->line, .id = t->id, .n_id = t->n_id};
    l->results.n_token += t->n_prompt;
    return put_fault(l, &it, MYTH_RESULTS_BAD_LOGITS, err);
}

/* ---- forwards ---- */

/* The sums of a row of logits: of all, of all but the best, of all but the baseline's ids. */
static void take_sums(myth_logprobs *l, item *t, const float *row, uint32_t n)
{
    const uint32_t n_best = myth_first_token_best(row, n, l->o->top_k, l->heap, l->out);
    const double rest = myth_first_token_rest(row, n, l->out, n_best);
    t->lse = myth_first_token_lse(row, l->out, n_best, rest);
    t->tail = fmin(rest - t->lse, 0.0); /* above it only by rounding */
    if (!t->n_base)
        return;
    memcpy(l->out, t->base_id, t->n_base * sizeof(*l->out));
    t->base_rest = fmin(myth_first_token_rest(row, n, l->out, t->n_base) - t->lse, 0.0);
}

static void on_full_logits(void *user, uint32_t tok_idx, const float *row, uint32_t n_vocab)
{
    myth_logprobs *l = user;
    const uint32_t most = myth_logprobs_n_choice(l->model), n = n_vocab < most ? n_vocab : most;
    for (uint32_t k = 0; k < l->n_item; k++) {
        item *t = &l->item[k];
        if (t->token_at != l->first_id + tok_idx)
            continue;
        take_sums(l, t, row, n);
        if (t->token < 0)
            continue;
        t->token_logit = row[t->token];
        t->rank = 1;
        for (uint32_t v = 0; v < n; v++)
            t->rank += row[v] > t->token_logit || (row[v] == t->token_logit && (int32_t)v < t->token);
    }
}

/* What the row of an item asks for: the next id (0 = none), and the baseline's. */
static void ask_row(myth_logprobs *l, uint32_t row, int32_t next, const item *t)
{
    int32_t *ask = l->ask + (size_t)row * l->n_ask;
    ask[0] = next;
    for (uint32_t i = 1; i < l->n_ask; i++)
        ask[i] = t && i <= t->n_base ? t->base_id[i - 1] : 0;
}

static myth_status forward(myth_logprobs *l, uint32_t n_run, myth_result *r, myth_error *err)
{
    const myth_batch b = {
        .run = l->run + l->first_run,
        .n_run = n_run,
        .want = l->want + l->first_id,
        .top_k = l->o->top_k,
        .ask_id = l->ask + (size_t)l->first_run * l->n_ask,
        .n_ask = l->n_ask,
        .on_full_logits = on_full_logits,
        .user = l,
        .cancel = l->cli->cancel,
    };
    return myth_forward(l->engine, &b, r, err);
}

static myth_status empty_seq(myth_logprobs *l, myth_error *err)
{
    uint32_t at;
    return myth_seq_len(l->seq) ? myth_seq_truncate(l->seq, 0, &at, err) : MYTH_OK;
}

/* Reads *n prompts of the group, from first_run on: as many as have `now` tokens, at most `most`, but at least one. */
static myth_status read_prompts(myth_logprobs *l, uint32_t most, uint32_t *n, myth_result *r, myth_error *err)
{
    const item *t = &l->item[l->first_run];
    uint32_t n_id = 0;
    *n = 0;
    do
        n_id += t[(*n)++].n_prompt;
    while (*n < most && l->first_run + *n < l->n_item && n_id + t[*n].n_prompt <= l->size.now);
    l->first_id = t->token_at + 1 - t->n_prompt;
    const myth_status st = forward(l, *n, r, err);
    if (!myth_batch_size_again(&l->size, st, n_id))
        return st;
    *n = 0; /* these once more */
    return MYTH_OK;
}

static myth_status put_prompt(myth_logprobs *l, const item *t, const myth_result *r, uint32_t row, myth_error *err)
{
    if (!isfinite(r->lse[row]))
        return put_bad_logits(l, t, err);
    myth_json_out *j = myth_results_begin(&l->results, t->index, t->id, t->n_id);
    const uint32_t n_top = print_head(l, j, t, r, row);
    return end_row(l, t, r->top_id + (size_t)row * r->k, n_top, err);
}

/* Reads the group's prompts in one forward, or in more where memory is short, and puts their rows. A forward that fails
 * because of one prompt's logits does not say of which: it is done again with half of them, down to the one. */
static myth_status end_group(myth_logprobs *l, myth_error *err)
{
    myth_result r = {0};
    myth_status st;
    uint32_t n, most = GROUP;
    if (l->n_item == 0)
        return MYTH_OK;
    MYTH_TRY(empty_seq(l, err));
    for (l->first_run = 0; l->first_run < l->n_item; l->first_run += n) {
        st = read_prompts(l, most, &n, &r, err);
        most = st == MYTH_EFORMAT && n > 1 ? n / 2 : GROUP;
        if (st == MYTH_EFORMAT && n == 1)
            st = put_bad_logits(l, &l->item[l->first_run], err);
        else if (st == MYTH_EFORMAT)
            n = 0, st = MYTH_OK;
        else
            for (uint32_t k = 0; k < n && st == MYTH_OK; k++)
                st = put_prompt(l, &l->item[l->first_run + k], &r, k, err);
        MYTH_TRY(st);
    }
    myth_batch_size_done(&l->size);
    l->n_item = l->n_id = 0;
fail:
    l->first_run = l->first_id = 0;
    return st;
}

static void name_item(item *t, const myth_job_prompt *it, int32_t token)
{
    t->index = it->index;
    t->line = it->line;
    t->prompt = myth_first_tokens_prompt(it->ids, it->n_ids);
    t->n_prompt = it->n_ids;
    t->n_id = it->n_id;
    t->token = token;
    t->rank = 0;
    if (it->n_id)
        memcpy(t->id, it->id, it->n_id);
}

static myth_status find_base(myth_logprobs *l, item *t, myth_error *err)
{
    myth_first_token p = {0};
    t->n_base = 0;
    if (!l->o->baseline)
        return MYTH_OK;
    const myth_status st = myth_first_tokens_find(&l->baseline, t->index, t->prompt, &p, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t i = 0; i < p.n; i++) {
        t->base_id[i] = p.id[i];
        t->base_logp[i] = p.logp[i];
    }
    t->n_base = p.n;
    t->base_tail = p.tail;
    return MYTH_OK;
}

/* Adds a prompt to the group; one that does not fit any more begins the next. */
static myth_status add_to_group(myth_logprobs *l, const myth_job_prompt *it, int32_t token, myth_error *err)
{
    myth_status st;
    if (l->n_item == l->n_row || l->n_item == GROUP || l->n_id + it->n_ids > l->size.now)
        MYTH_TRY(end_group(l, err));
    item *t = &l->item[l->n_item];
    name_item(t, it, token);
    MYTH_TRY(find_base(l, t, err));
    memcpy(l->ids + l->n_id, it->ids, it->n_ids * sizeof(*it->ids));
    memset(l->want + l->n_id, 0, it->n_ids);
    t->token_at = l->n_id + it->n_ids - 1;
    l->want[t->token_at] = MYTH_WANT_LOGITS | MYTH_WANT_FULL_LOGITS;
    l->run[l->n_item] =
        (myth_batch_run){.seq = l->seq, .token = l->ids + l->n_id, .n = it->n_ids, .is_ephemeral = true};
    ask_row(l, l->n_item, 0, t);
    l->n_item++;
    l->n_id += it->n_ids;
fail:
    return st;
}

/* Makes the sequence hold all of a prompt but its last token. */
static myth_status feed(myth_logprobs *l, const myth_job_prompt *it, myth_error *err)
{
    const uint32_t n = it->n_ids - 1;
    uint32_t at = 0;
    do {
        const uint32_t most = l->size.now < l->size.whole ? l->size.now : n, to = n - at < most ? n : at + most;
        const myth_status st = myth_seq_sync(l->seq, it->ids, to, NULL, err);
        if (st != MYTH_OK && !myth_batch_size_again(&l->size, st, n))
            return st;
        at = st == MYTH_OK ? to : at;
    } while (at < n);
    return MYTH_OK;
}

/* Adds a run of ids i .. i + n - 1 of the completion at `at` to the forward, each behind the one before it, the first
 * behind the prompt's last. One that is not its end stays in the sequence. */
static void add_run(myth_logprobs *l, uint32_t n_run, int32_t last, uint64_t at, uint32_t i, uint32_t n, bool is_end)
{
    l->run[n_run] = (myth_batch_run){.seq = l->seq, .token = l->ids + l->n_id, .n = n, .is_ephemeral = is_end};
    for (const uint32_t to = i + n; i < to; i++, l->n_id++) {
        l->ids[l->n_id] = i ? l->done[at + i - 1] : last;
        l->want[l->n_id] = MYTH_WANT_LOGITS;
        ask_row(l, l->n_id, l->done[at + i], NULL);
    }
}

/* Fills a forward with what comes next: as many of the completions as it holds, each of them behind the prompt's last
 * token, or the next piece of one that it does not hold. Returns the runs. */
static uint32_t fill_runs(myth_logprobs *l, const item *t, int32_t last, uint32_t n)
{
    const uint32_t left = l->length[l->from] - l->n_read, now = l->size.now;
    uint32_t k = l->from;
    uint64_t at = l->at;
    l->n_id = 0;
    if (l->n_read || left > now)
        add_run(l, k++ - l->from, last, at, l->n_read, left < now ? left : now, left <= now);
    else
        for (; k < n && l->n_id + l->length[k] <= now; at += l->length[k++])
            add_run(l, k - l->from, last, at, 0, l->length[k], true);
    if (l->at == 0 && l->n_read == 0) {
        ask_row(l, 0, l->done[0], t);
        l->want[0] |= MYTH_WANT_FULL_LOGITS;
    }
    return k - l->from;
}

/* The scores of n_row ids that a forward of n_run runs had, and what comes behind them. */
static void take_scores(myth_logprobs *l, const myth_result *r, uint32_t n_run)
{
    for (uint32_t row = 0; row < r->n_rows; row++)
        l->score[l->at + l->n_read + row] = r->ask_logit[(size_t)row * r->n_ask] - r->lse[row];
    l->results.n_token += r->n_rows;
    l->n_read += n_run == 1 ? r->n_rows : 0;
    if (n_run == 1 && l->n_read < l->length[l->from]) {
        l->is_past = true;
        return;
    }
    for (uint32_t k = 0; k < n_run; k++)
        l->at += l->length[l->from++];
    l->n_read = 0;
}

/* Makes the sequence hold the prompt again, less its last token, where it holds more or has lost some of it; and keeps
 * that state for a completion that is read in pieces. */
static myth_status hold_prompt(myth_logprobs *l, const myth_job_prompt *it, uint32_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (l->n_read)
        return MYTH_OK;
    if (l->is_past)
        MYTH_TRY(feed(l, it, err));
    l->is_past = false;
    if (l->eo.n_checkpoint && l->from < n && l->length[l->from] > l->size.now && it->n_ids > 1) {
        myth_seq_forget(l->seq, 0);
        MYTH_TRY(myth_seq_checkpoint(l->seq, err));
    }
fail:
    return st;
}

/* The next forward of a prompt with n completions, or with none: of the prompt's last token alone. n_run: its runs. */
static uint32_t fill(myth_logprobs *l, const item *t, int32_t last, uint32_t n)
{
    if (n)
        return fill_runs(l, t, last, n);
    l->ids[0] = last;
    l->want[0] = MYTH_WANT_LOGITS | MYTH_WANT_FULL_LOGITS;
    l->run[0] = (myth_batch_run){.seq = l->seq, .token = l->ids, .n = 1, .is_ephemeral = true};
    ask_row(l, 0, 0, t);
    l->n_id = 1;
    return 1;
}

static bool are_finite(const myth_result *r)
{
    bool are = true;
    for (uint32_t row = 0; row < r->n_rows; row++)
        are = are && isfinite(r->lse[row]);
    return are;
}

/* A prompt with completions, or one that is longer than a micro-batch (n = 0): all but its last token are appended to
 * the sequence, the rest branches off. */
static myth_status score(myth_logprobs *l, const myth_job_prompt *it, int32_t token, uint32_t n, myth_error *err)
{
    myth_status st;
    myth_result r = {0};
    item *t = &l->item[0];
    myth_json_out *j = NULL; /* begun with the first forward */
    uint32_t n_top = 0;
    MYTH_TRY(end_group(l, err));
    name_item(t, it, token);
    t->token_at = 0;
    MYTH_TRY(find_base(l, t, err));
    l->n_item = 1; /* for on_full_logits */
    l->from = l->n_read = 0;
    l->at = 0;
    l->is_past = true;
    const int32_t last = it->ids[it->n_ids - 1];
    while (l->from < n || !j) {
        MYTH_TRY(hold_prompt(l, it, n, err));
        const uint32_t n_run = fill(l, t, last, n);
        st = forward(l, n_run, &r, err);
        if (myth_batch_size_again(&l->size, st, l->n_id)) {
            l->is_past = true; /* the completion from its beginning: the sequence may have lost some of it */
            l->n_read = 0;
            continue;
        }
        if (st == MYTH_EFORMAT || (st == MYTH_OK && !are_finite(&r))) {
            myth_results_drop(&l->results);
            st = put_bad_logits(l, t, err);
            goto fail;
        }
        MYTH_TRY(st);
        if (!j) {
            j = myth_results_begin(&l->results, t->index, t->id, t->n_id);
            n_top = print_head(l, j, t, &r, 0);
            memcpy(l->best, r.top_id, n_top * sizeof(*l->best));
        }
        if (n)
            take_scores(l, &r, n_run);
    }
    if (n)
        myth_logprobs_print_completions(j, l->length, l->score, n);
    myth_batch_size_done(&l->size);
    st = end_row(l, t, l->best, n_top, err);
fail:
    l->n_item = l->n_id = 0;
    return st;
}

/* ---- the run ---- */

static myth_status one_prompt(myth_logprobs *l, const myth_job_prompt *it, myth_error *err)
{
    char why[MYTH_PROMPT_FAULT_BYTES];
    int32_t token;
    uint32_t n = 0;
    bool is_right;
    if (!it->ids)
        return put_fault(l, it, NULL, err);
    myth_status st = myth_logprobs_token(l->model, it, &token, &is_right, why, err);
    if (st == MYTH_OK && is_right)
        st = read_completions(l, it, false, &n, &is_right, why, err);
    if (st != MYTH_OK)
        return st;
    if (!is_right)
        return put_fault(l, it, why, err);
    return n || it->n_ids > l->n_step ? score(l, it, token, n, err) : add_to_group(l, it, token, err);
}

static myth_status open_results(myth_logprobs *l, myth_error *err)
{
    myth_journal_fact fact[FACTS];
    const myth_prompts_opts *p = &l->o->reading;
    const unsigned char *hash = l->baseline.lines.hash;
    const uint64_t base = l->o->baseline ? myth_fnv1a(MYTH_FNV1A, hash, sizeof(l->baseline.lines.hash)) : 0;
    size_t n = 0;
    myth_results_facts(fact, &n, l->cli, l->model, &l->eo, &l->survey);
    myth_results_fact(fact, &n, "--top-k", "%u", l->o->top_k);
    myth_results_fact(fact, &n, "--chat", "%s", p->is_chat ? "on" : "off");
    myth_results_fact(fact, &n, "--special", "%s", p->is_special ? "on" : "off");
    myth_results_fact(fact, &n, "--system-prompt", "%016" PRIx64,
                      p->system ? myth_fnv1a(MYTH_FNV1A, p->system, strlen(p->system)) : 0);
    myth_results_fact(fact, &n, "--baseline", "%016" PRIx64, base);
    myth_results_fact(fact, &n, "--save-baseline", "%s", l->o->save_baseline ? "on" : "off");
    myth_results_fact(fact, &n, "--ctx-size", "%u", l->eo.n_ctx);
    const myth_status st = myth_results_open(&l->results, l->cli, l->o->output, fact, n, l->o->goes_on,
                                             l->survey.n_item, row_bytes(l), l->survey.longest_id, err);
    l->results.input[0] = myth_prompts_lines(l->prompts);
    l->results.input[1] = l->o->baseline ? &l->baseline.lines : NULL;
    l->results.second = l->o->save_baseline;
    snprintf(l->results.second_head, sizeof(l->results.second_head), "{\"mythos_baseline\":1,\"top_k\":%u}\n",
             l->o->top_k);
    return st;
}

static double seconds_left(const myth_logprobs *l)
{
    const double all = myth_results_share(&l->results) * (double)(l->survey.n_token + l->n_scored),
                 done = (double)l->results.n_token;
    return myth_results_left(&(myth_results_work){done, all - done, myth_seconds() - l->results.begin}, 1);
}

myth_status myth_logprobs_run(myth_logprobs *l, myth_error *err)
{
    myth_status st;
    bool has = true;
    l->reading.is_done = myth_results_is_done;
    l->reading.user = &l->results;
    MYTH_TRY(open_results(l, err));
    MYTH_TRY(take_memory(l, err));
    MYTH_TRY(myth_cli_engine_open(l->cli, &l->engine, l->model, &l->eo, err));
    MYTH_TRY(myth_seq_open(&l->seq, l->engine, err));
    l->size = myth_batch_size_of(l->n_step);
    l->results.begin = myth_seconds();
    while (!myth_cancelled(l->cli->cancel)) {
        myth_job_prompt it;
        MYTH_TRY(myth_prompts_next(l->prompts, &it, &has, err));
        if (!has)
            break;
        st = one_prompt(l, &it, err);
        if (st != MYTH_OK)
            break;
        if (l->n_kept)
            MYTH_TRY(myth_results_commit(&l->results, err));
        l->n_kept = 0;
        myth_results_progress(&l->results, "prompts", "", seconds_left(l));
    }
    if (st == MYTH_OK && !myth_cancelled(l->cli->cancel))
        st = end_group(l, err);
    if (st == MYTH_OK || st == MYTH_ECANCEL)
        st = myth_results_finish(&l->results, err);
    if (st == MYTH_OK)
        myth_results_keep_rate(&l->results, l->model, &l->eo, l->engine);
fail:
    myth_term_progress_end(l->cli->term);
    return st;
}

void myth_logprobs_counts(const myth_logprobs *l, uint64_t *n_row, uint64_t *n_fault, uint64_t *n_run)
{
    *n_run = l->results.n_put;
    *n_row = myth_results_done(&l->results);
    *n_fault = l->results.n_fault;
}

myth_work myth_logprobs_work(const myth_logprobs *l)
{
    const uint64_t n = l->survey.n_token;
    return (myth_work){.n_part = (uint32_t)(l->survey.n_item - l->survey.n_fault),
                       .prompt_tokens = n + l->n_scored,
                       .depth = n ? l->depth / (double)n : 0};
}

myth_status myth_logprobs_print_plan(myth_logprobs *l, bool as_json, myth_error *err)
{
    const myth_work work = myth_logprobs_work(l);
    const myth_results_count more[] = {{"completion_tokens", "completion tokens", l->n_scored}};
    return myth_results_print_plan(l->cli, l->model, &l->eo, &l->survey, &work, more, 1, as_json, err);
}
