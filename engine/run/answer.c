/* answer.c - one answer: feeds its prompt, and chooses each next token from the logits.
 *
 * Grammar    greedy: the reduction returns the k best ids, and the best one that the grammar allows is chosen. If none
 *            of them is allowed, or an id outside them could be better, the row is reduced again under the grammar's
 *            mask, and the next MASKED rows under it at once: where a model was off the grammar it often is again.
 *            Sampling reduces under the mask at once. All are exact.
 * Penalties  a repeat penalty divides positive logits and multiplies negative ones, which a bias cannot express. So the
 *            reduction returns two things: the k best of the ids without a penalty (a large negative bias excludes the
 *            others), and the logits of the penalised ids. They are merged here, exactly, for any penalty and window.
 * Budget     when a thought has n_think tokens, the closing mark is fed in place of the model's choice */
#include "answer.h"

#include <math.h>

enum { PENALTY_TOK = 64, GRAMMAR_K = 8, MASKED = 8 };

static bool is_hidden(float logit) { return logit < MYTH_HIDDEN_LOGIT / 2; }

uint32_t myth_penalty_window(const myth_sample_params *p)
{
    if (p->repeat_penalty <= 0.0f || p->repeat_penalty == 1.0f)
        return 0;
    uint32_t n = p->repeat_last_n ? p->repeat_last_n : PENALTY_TOK;
    return n < MYTH_PENALTY_MAX ? n : MYTH_PENALTY_MAX;
}

static uint32_t k_for(const myth_sample_params *p, bool has_grammar)
{
    uint32_t k = myth_sample_k(p);
    return has_grammar && k < GRAMMAR_K ? GRAMMAR_K : k;
}

void myth_slots_needs(myth_engine_opts *opts, uint32_t n_slot, const myth_sample_params *sample, bool has_grammar)
{
    uint32_t k = k_for(sample, has_grammar), n_penalised = myth_penalty_window(sample);
    if (opts->top_k < k)
        opts->top_k = k;
    if (opts->n_ask < n_penalised)
        opts->n_ask = n_penalised;
    if (opts->n_bias < n_penalised * n_slot)
        opts->n_bias = n_penalised * n_slot;
    if (has_grammar && opts->n_mask < n_slot)
        opts->n_mask = n_slot;
}

void myth_generate_needs(myth_engine_opts *opts, const myth_sample_params *sample, bool has_grammar)
{
    myth_slots_needs(opts, 1, sample, has_grammar);
}

const char *myth_finish_name(myth_finish f)
{
    static const char *const name[] = {"none",    "stop",      "length",  "context",
                                       "refused", "cancelled", "grammar", "logits"};
    return name[f];
}

/* ---- the next token ---- */

void myth_answer_ask(myth_answering *a, const int32_t *fed, uint32_t n_fed)
{
    uint32_t len = myth_seq_len(a->s), window = myth_penalty_window(&a->o->sample), n = 0;
    const int32_t *token = myth_seq_tokens(a->s);
    for (uint32_t i = len + n_fed > window ? len + n_fed - window : 0; i < len + n_fed; i++) {
        int32_t id = i < len ? token[i] : fed[i - len];
        bool is_skipped = (uint32_t)id >= a->e->n_vocab_choice; /* such an id is never chosen */
        for (uint32_t j = 0; j < n && !is_skipped; j++)
            is_skipped = a->ask[j] == id;
        if (!is_skipped)
            a->ask[n++] = id;
    }
    a->n_ask = n;
}

static bool is_better(myth_candidate a, myth_candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/* What the reduction says of one row; the arrays of a result that has only that row. */
static myth_result one_row(const myth_result *r, uint32_t row)
{
    myth_result one = *r;
    one.n_rows = 1;
    one.top_id += (size_t)row * r->k;
    one.top_logit += (size_t)row * r->k;
    one.lse += row;
    one.entropy += row;
    if (r->n_ask)
        one.ask_logit += (size_t)row * r->n_ask;
    return one;
}

/* The i-th best id that has no penalty; id -1 when the reduction returned fewer. */
static myth_candidate candidate_at(const myth_result *r, uint32_t i)
{
    bool is_there = i < r->k && r->top_id[i] >= 0 && !is_hidden(r->top_logit[i]);
    return is_there ? (myth_candidate){r->top_logit[i], r->top_id[i]} : (myth_candidate){MYTH_HIDDEN_LOGIT, -1};
}

/* Fills a->list, best first, with the reduction's candidates and with the penalised ids that the grammar allows.
 * Returns their number. */
static uint32_t list_candidates(myth_answering *a, const myth_result *r)
{
    uint32_t n = 0;
    for (myth_candidate c; n < a->k && (c = candidate_at(r, n)).id >= 0; n++)
        a->list[n] = c;
    for (uint32_t i = 0; i < a->n_ask; i++) {
        float logit = r->ask_logit[i], p = a->o->sample.repeat_penalty;
        const myth_candidate c = {logit > 0 ? logit / p : logit * p, a->ask[i]};
        if (a->o->grammar && !myth_grammar_allows(a->o->grammar, c.id))
            continue;
        uint32_t at = n++;
        for (; at > 0 && is_better(c, a->list[at - 1]); at--)
            a->list[at] = a->list[at - 1];
        a->list[at] = c;
    }
    return n;
}

/* The best id under the grammar's mask that has no penalty. The row's results stay those of the model: who looks at its
 * best ids wants them. */
static myth_status best_masked(const myth_answering *a, uint32_t row, myth_candidate *best, myth_error *err)
{
    myth_engine *e = a->e;
    const size_t at = (size_t)row * e->k_result;
    const int32_t id = e->result_id[at];
    const float logit = e->result_logit[at], lse = e->result_lse[row], entropy = e->result_entropy[row];
    myth_result again;
    const myth_status st = myth_reduce_again(e, row, myth_grammar_mask(a->o->grammar), 1, &again, err);
    if (st != MYTH_OK)
        return st;
    *best = candidate_at(&again, 0);
    e->result_id[at] = id;
    e->result_logit[at] = logit;
    e->result_lse[row] = lse;
    e->result_entropy[row] = entropy;
    return MYTH_OK;
}

/* The best id that the grammar allows, -1 = none. Ids that are not listed are worse than the k-th best candidate. So
 * the first allowed id of the list is the best of all, unless it is worse than that candidate too, which only a
 * penalised id can be. In that case, and when no listed id is allowed, reducing again under the mask finds the best
 * allowed id without a penalty, and the better of the two is chosen. */
static myth_status choose_greedy(myth_answering *a, const myth_result *r, uint32_t row, uint32_t n,
                                 myth_candidate *best, myth_error *err)
{
    const myth_candidate last = candidate_at(r, a->k - 1);
    for (uint32_t i = 0; i < n && best->id < 0; i++)
        if (myth_grammar_allows(a->o->grammar, a->list[i].id))
            *best = a->list[i];
    if (last.id >= 0 && (best->id < 0 || is_better(last, *best))) {
        myth_candidate other;
        a->n_masked = a->o->on_top ? 0 : MASKED; /* a row under the mask says nothing of the model's best ids */
        const myth_status st = best_masked(a, row, &other, err);
        if (st != MYTH_OK)
            return st;
        if (other.id >= 0 && (best->id < 0 || is_better(other, *best)))
            *best = other;
    }
    return MYTH_OK;
}

myth_status myth_engine_bad_logits(const myth_engine *e, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_VERIFY_MODEL, "%s%s: logits are infinite or NaN",
                            myth_weights_path(e->model->weights), e->model->n_lora ? " with its adapters" : "");
}

myth_status myth_engine_check_logits(const myth_engine *e, uint32_t first, uint32_t n, bool may_forbid_all,
                                     myth_error *err)
{
    for (uint32_t i = first; i < first + n; i++)
        if (!isfinite(e->result_lse[i]) && !(may_forbid_all && e->result_lse[i] == -INFINITY))
            return myth_engine_bad_logits(e, err);
    return MYTH_OK;
}

/* Chooses the next token from its row; id -1 when the grammar allows none. */
static myth_status choose_token(myth_answering *a, const myth_result *all, uint32_t row, myth_candidate *chosen,
                                myth_error *err)
{
    const myth_sample_params *p = &a->o->sample;
    const myth_result r = one_row(all, row);
    float logit[MYTH_TOPK_MAX];
    uint32_t n = list_candidates(a, &r);
    *chosen = (myth_candidate){MYTH_HIDDEN_LOGIT, -1};
    a->n_masked -= a->n_masked > 0;
    if (a->o->grammar && p->temp <= 0.0f)
        return choose_greedy(a, &r, row, n, chosen, err);
    if (n == 0)
        return MYTH_OK;
    if (n > MYTH_TOPK_MAX)
        n = MYTH_TOPK_MAX;
    for (uint32_t i = 0; i < n; i++)
        logit[i] = a->list[i].logit;
    *chosen = a->list[myth_sample(p, logit, n, a->o->seq_number, myth_seq_pos(a->s))];
    return MYTH_OK;
}

/* Hands over what the model says of the row. One that was reduced under the grammar's mask is reduced without it. */
static myth_status tell_top(const myth_answering *a, const myth_result *all, uint32_t row, myth_candidate chosen,
                            myth_error *err)
{
    const uint32_t k = a->k < all->k ? a->k : all->k;
    myth_result one = one_row(all, row);
    const myth_status st = myth_answer_wants_mask(a) ? myth_reduce_again(a->e, row, NULL, k, &one, err) : MYTH_OK;
    if (st == MYTH_OK)
        a->o->on_top(a->o->user, chosen.id, chosen.logit, one.top_id, one.top_logit, k, *one.lse);
    return st;
}

bool myth_is_stop(const int32_t *stop_ids, int n_stop, int32_t id)
{
    for (int i = 0; i < n_stop; i++)
        if (stop_ids[i] == id)
            return true;
    return false;
}

void myth_answer_accept(myth_answering *a, int32_t id)
{
    const myth_generate_opts *o = a->o;
    a->goes_on = false;
    if (myth_is_stop(o->stop_ids, o->n_stop, id)) {
        a->why = MYTH_FINISH_STOP;
        return;
    }
    a->id = id;
    a->ids[a->n_ids++] = id;
    if ((o->on_token && !o->on_token(o->user, id)) || myth_cancelled(o->cancel))
        a->why = MYTH_FINISH_CANCELLED;
    else if (a->n_ids == o->n_max)
        a->why = MYTH_FINISH_LENGTH;
    else
        a->goes_on = true;
}

myth_status myth_answer_take(myth_answering *a, const myth_result *r, uint32_t row, myth_error *err)
{
    const bool is_closed = a->has_budget && a->channel.is_open && a->channel.n_thought >= a->o->n_think;
    myth_candidate chosen = {NAN, is_closed ? a->channel.close : -1}; /* the mark takes the place of a choice */
    myth_status st = is_closed ? MYTH_OK : choose_token(a, r, row, &chosen, err);
    if (st != MYTH_OK)
        return st;
    const int32_t id = chosen.id;
    if (a->o->grammar &&
        !myth_grammar_accept(a->o->grammar, id)) { /* none is allowed: id is -1, or its states are full */
        a->goes_on = false;
        a->why = myth_grammar_may_end(a->o->grammar) ? MYTH_FINISH_STOP : MYTH_FINISH_GRAMMAR;
        return MYTH_OK;
    }
    if (id < 0)
        return myth_engine_bad_logits(a->e, err);
    if (a->has_budget)
        myth_channel_push(&a->channel, id);
    if (a->o->on_top && (st = tell_top(a, r, row, chosen, err)) != MYTH_OK)
        return st;
    myth_answer_accept(a, id);
    if (a->goes_on && myth_seq_room(a->s) == 0) { /* check before the chosen id is stored in the sequence */
        a->goes_on = false;
        a->why = MYTH_FINISH_CONTEXT;
    }
    return MYTH_OK;
}

/* ---- feeding ---- */

/* Appends n tokens in pieces. The last token gets logits when `want` is true. */
static myth_status feed(myth_answering *a, const int32_t *token, uint32_t n, bool want, bool is_decode, myth_result *r,
                        myth_error *err)
{
    static const int32_t first_mask = 0;
    int32_t bias_off[2] = {0, 0};
    float bias[MYTH_PENALTY_MAX];
    for (uint32_t done = 0; done < n;) {
        const uint32_t part = myth_answer_part(a->e), m = n - done < part ? n - done : part;
        const bool is_last = done + m == n, wants = is_last && want;
        const myth_batch_run run = {
            .seq = a->s,
            .token = token + done,
            .n = m,
            .want_last = wants ? MYTH_WANT_LOGITS : 0,
        };
        myth_batch b = {
            .run = &run,
            .n_run = 1,
            .is_decode = is_decode,
            .top_k = a->k,
            .cancel = is_decode ? NULL : a->o->cancel,
        };
        a->n_ask = 0;
        if (wants && myth_answer_wants_mask(a)) {
            b.mask_idx = &first_mask;
            b.masks = myth_grammar_mask(a->o->grammar);
            b.n_masks = 1;
        }
        if (wants && myth_penalty_window(&a->o->sample)) {
            myth_answer_ask(a, token + done, m);
            for (uint32_t i = 0; i < a->n_ask; i++)
                bias[i] = MYTH_HIDDEN_LOGIT;
            bias_off[1] = (int32_t)a->n_ask;
            b.ask_id = b.bias_id = a->ask;
            b.n_ask = a->n_ask;
            b.bias_off = bias_off;
            b.bias = bias;
        }
        myth_status st = myth_forward(a->e, &b, r, err);
        if (st != MYTH_OK)
            return st;
        done += m;
        if (!is_decode && a->o->on_prefill)
            a->o->on_prefill(a->o->user, done, n);
        if (!is_last && myth_cancelled(a->o->cancel))
            return myth_fail(err, MYTH_ECANCEL, "cancelled");
    }
    return MYTH_OK;
}

static myth_status feed_and_take(myth_answering *a, const int32_t *token, uint32_t n, bool is_decode, myth_error *err)
{
    myth_result r = {0};
    myth_status st = feed(a, token, n, a->o->n_max > 0, is_decode, &r, err);
    a->goes_on = false;
    if (st == MYTH_ECANCEL) {
        a->why = MYTH_FINISH_CANCELLED;
        return MYTH_OK;
    }
    if (st != MYTH_OK)
        return st;
    if (a->n_ids >= a->o->n_max) {
        a->why = MYTH_FINISH_LENGTH;
        return MYTH_OK;
    }
    return myth_answer_take(a, &r, 0, err);
}

myth_status myth_answer_set(myth_answering *a, myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                            myth_error *err)
{
    a->e = e;
    a->s = s;
    a->o = o;
    a->ids = ids;
    a->n_ids = a->n_ask = a->n_masked = 0;
    a->goes_on = false;
    a->has_budget = o->channel && o->n_think && o->channel->close >= 0;
    if (a->has_budget)
        a->channel = *o->channel;
    const uint32_t n_vocab = e->model->config.n_vocab, most = e->layout.opts.top_k, k = myth_sample_k(&o->sample);
    a->k = k_for(&o->sample, o->grammar != NULL);
    if (o->on_top && a->k < o->n_top)
        a->k = o->n_top;
    if (a->k > most)
        a->k = most;
    a->why = MYTH_FINISH_REFUSED;
    if (most < k && most < n_vocab) /* a choice among fewer would be another distribution, at 1 always the best id */
        return myth_fail_option(err, MYTH_EFULL, "top_k",
                                "top_k %u: the sampling parameters choose among the %u best ids; open the engine with "
                                "what myth_generate_needs says",
                                most, k < n_vocab ? k : n_vocab);
    if (o->n_prompt == 0)
        return myth_fail(err, MYTH_EARG, "an empty prompt");
    if (o->n_think && !o->channel)
        return myth_fail_option(err, MYTH_EARG, "n_think", "n_think %u: thoughts are counted with a channel",
                                o->n_think);
    if (o->n_prompt <= myth_seq_room(s))
        a->why = MYTH_FINISH_NONE;
    return MYTH_OK;
}

myth_status myth_answer_begin(myth_answering *a, myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                              myth_error *err)
{
    const myth_status st = myth_answer_set(a, e, s, o, ids, err);
    if (st != MYTH_OK || a->why == MYTH_FINISH_REFUSED)
        return st;
    return feed_and_take(a, o->prompt, o->n_prompt, false, err);
}

myth_status myth_answer_step(myth_answering *a, myth_error *err)
{
    const int32_t id = a->id;
    return feed_and_take(a, &id, 1, true, err);
}
