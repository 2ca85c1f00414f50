/* generate.c - feeds the prompt, then chooses and feeds one token at a time until a stop token, a limit or a cancel.
 *
 * Grammar    greedy: the reduction returns the k best ids, and the best one that the grammar allows is chosen. If none
 *            of them is allowed, or an id outside them could be better, the row is reduced again under the grammar's
 *            mask. Sampling reduces under the mask at once. Both are exact.
 * Penalties  a repeat penalty divides positive logits and multiplies negative ones, which a bias cannot express. So the
 *            reduction returns two things: the k best of the ids without a penalty (a large negative bias excludes the
 *            others), and the logits of the penalised ids. They are merged here, exactly, for any penalty and window.
 * Budget     when a thought has n_think tokens, the closing mark is fed in place of the model's choice
 * Run        without a grammar, penalties and a budget, the device chooses the tokens by itself (run.h) */
#include "run.h"

#include <string.h>

enum { PENALTY_TOK = 64, GRAMMAR_K = 8, LIST_MAX = MYTH_TOPK_MAX + 1024 };

/* The bias that excludes penalised ids from the k best: it puts them below every other logit. It is finite, so that no
 * device computes inf - inf when it sums exponentials. */
static const float HIDE = -1e30f;
static bool is_hidden(float logit) { return logit < HIDE / 2; }

typedef struct {
    float logit;
    int32_t id;
} candidate;

typedef struct {
    myth_engine *e;
    myth_seq *s;
    const myth_generate_opts *o;
    uint32_t k, n_ask;
    bool has_budget;
    myth_channel channel;
    int32_t ask[1024], bias_off[2];
    float bias[1024];
    candidate list[LIST_MAX];
} generator;

static uint32_t penalty_window(const myth_sample_params *p)
{
    if (p->repeat_penalty <= 0.0f || p->repeat_penalty == 1.0f)
        return 0;
    uint32_t n = p->repeat_last_n ? p->repeat_last_n : PENALTY_TOK;
    return n < 1024 ? n : 1024;
}

static uint32_t k_for(const myth_sample_params *p, bool has_grammar)
{
    uint32_t k = myth_sample_k(p);
    return has_grammar && k < GRAMMAR_K ? GRAMMAR_K : k;
}

void myth_generate_needs(myth_engine_opts *opts, const myth_sample_params *sample, bool has_grammar)
{
    uint32_t k = k_for(sample, has_grammar), n_penalised = penalty_window(sample);
    if (opts->top_k < k)
        opts->top_k = k;
    if (opts->n_ask < n_penalised)
        opts->n_ask = n_penalised;
    if (opts->n_bias < n_penalised)
        opts->n_bias = n_penalised;
    if (has_grammar && opts->n_mask == 0)
        opts->n_mask = 1;
}

const char *myth_finish_name(myth_finish f)
{
    static const char *const name[] = {"none", "stop", "length", "context", "refused", "cancelled"};
    return name[f];
}

/* Sets the asked ids to the penalised ones: the last tokens of the sequence with those that are fed now, each once. */
static void ask_for_recent(generator *g, const int32_t *fed, uint32_t n_fed)
{
    uint32_t len = myth_seq_len(g->s), window = penalty_window(&g->o->sample), n = 0;
    const int32_t *token = myth_seq_tokens(g->s);
    for (uint32_t i = len + n_fed > window ? len + n_fed - window : 0; i < len + n_fed; i++) {
        int32_t id = i < len ? token[i] : fed[i - len];
        bool is_skipped = (uint32_t)id >= g->e->n_vocab_choice; /* such an id is never chosen */
        for (uint32_t j = 0; j < n && !is_skipped; j++)
            is_skipped = g->ask[j] == id;
        if (is_skipped)
            continue;
        g->bias[n] = HIDE;
        g->ask[n++] = id;
    }
    g->n_ask = n;
    g->bias_off[0] = 0;
    g->bias_off[1] = (int32_t)n;
}

static bool is_better(candidate a, candidate b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

/* The i-th best id that has no penalty; id -1 when the reduction returned fewer. */
static candidate candidate_at(const myth_result *r, uint32_t i)
{
    bool is_there = i < r->k && r->top_id[i] >= 0 && !is_hidden(r->top_logit[i]);
    return is_there ? (candidate){r->top_logit[i], r->top_id[i]} : (candidate){HIDE, -1};
}

/* Fills g->list, best first, with the reduction's candidates and with the penalised ids that the grammar allows.
 * Returns their number. */
static uint32_t list_candidates(generator *g, const myth_result *r)
{
    uint32_t n = 0;
    for (candidate c; (c = candidate_at(r, n)).id >= 0; n++)
        g->list[n] = c;
    for (uint32_t i = 0; i < g->n_ask; i++) {
        float logit = r->ask_logit[i], p = g->o->sample.repeat_penalty;
        const candidate c = {logit > 0 ? logit / p : logit * p, g->ask[i]};
        if (g->o->grammar && !myth_grammar_allows(g->o->grammar, c.id))
            continue;
        uint32_t at = n++;
        for (; at > 0 && is_better(c, g->list[at - 1]); at--)
            g->list[at] = g->list[at - 1];
        g->list[at] = c;
    }
    return n;
}

/* The best id that the grammar allows, -1 = none. Ids that are not listed are worse than the k-th best candidate. So
 * the first allowed id of the list is the best of all, unless it is worse than that candidate too, which only a
 * penalised id can be. In that case, and when no listed id is allowed, reducing again under the mask finds the best
 * allowed id without a penalty, and the better of the two is chosen. */
static myth_status choose_greedy(generator *g, const myth_result *r, uint32_t n, int32_t *id, myth_error *err)
{
    myth_grammar *gr = g->o->grammar;
    const candidate last = candidate_at(r, r->k - 1);
    candidate best = {HIDE, -1};
    for (uint32_t i = 0; i < n && best.id < 0; i++)
        if (myth_grammar_allows(gr, g->list[i].id))
            best = g->list[i];
    if (last.id >= 0 && (best.id < 0 || is_better(last, best))) {
        myth_result again;
        myth_status st = myth_reduce_again(g->e, 0, myth_grammar_mask(gr), 1, &again, err);
        if (st != MYTH_OK)
            return st;
        const candidate other = candidate_at(&again, 0);
        if (other.id >= 0 && (best.id < 0 || is_better(other, best)))
            best = other;
    }
    *id = best.id;
    return MYTH_OK;
}

/* Chooses the next token from the one logits row of the last forward; -1 when the grammar allows none. */
static myth_status choose_token(generator *g, const myth_result *r, int32_t *id, myth_error *err)
{
    const myth_sample_params *p = &g->o->sample;
    float logit[MYTH_TOPK_MAX];
    uint32_t n = list_candidates(g, r);
    *id = -1;
    if (g->o->grammar && p->temp <= 0.0f)
        return choose_greedy(g, r, n, id, err);
    if (n == 0)
        return MYTH_OK;
    if (n > MYTH_TOPK_MAX)
        n = MYTH_TOPK_MAX;
    for (uint32_t i = 0; i < n; i++)
        logit[i] = g->list[i].logit;
    *id = g->list[myth_sample(p, logit, n, g->o->seq_number, myth_seq_pos(g->s))].id;
    return MYTH_OK;
}

/* The chosen token, or the closing mark once a thought has used up its budget. */
static myth_status next_token(generator *g, const myth_result *r, int32_t *id, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (g->has_budget && g->channel.is_open && g->channel.n_thought >= g->o->n_think)
        *id = g->channel.close;
    else
        st = choose_token(g, r, id, err);
    if (st == MYTH_OK && g->has_budget && *id >= 0)
        myth_channel_push(&g->channel, *id);
    return st;
}

/* Appends n tokens in pieces. The last token gets logits when `want` is true. */
static myth_status feed(generator *g, const int32_t *token, uint32_t n, bool want, bool is_decode, myth_result *r,
                        myth_error *err)
{
    enum { PART = 512 };
    const myth_sample_params *p = &g->o->sample;
    myth_grammar *gr = g->o->grammar;
    static const int32_t first_mask = 0;
    for (uint32_t done = 0; done < n;) {
        const uint32_t m = n - done < PART ? n - done : PART;
        const bool is_last = done + m == n, wants = is_last && want;
        const myth_batch_run run = {
            .seq = g->s,
            .token = token + done,
            .n = m,
            .want_last = wants ? MYTH_WANT_LOGITS : 0,
        };
        myth_batch b = {
            .run = &run,
            .n_run = 1,
            .is_decode = is_decode,
            .top_k = g->k,
            .cancel = is_decode ? NULL : g->o->cancel,
        };
        g->n_ask = 0;
        if (wants && gr && p->temp > 0.0f) {
            b.mask_idx = &first_mask;
            b.masks = myth_grammar_mask(gr);
            b.n_masks = 1;
        }
        if (wants && penalty_window(p)) {
            ask_for_recent(g, token + done, m);
            b.ask_id = b.bias_id = g->ask;
            b.n_ask = g->n_ask;
            b.bias_off = g->bias_off;
            b.bias = g->bias;
        }
        myth_status st = myth_forward(g->e, &b, r, err);
        if (st != MYTH_OK)
            return st;
        done += m;
        if (!is_decode && g->o->on_prefill)
            g->o->on_prefill(g->o->user, done, n);
        if (!is_last && g->o->cancel && *g->o->cancel)
            return myth_fail(err, MYTH_ECANCEL, "cancelled");
    }
    return MYTH_OK;
}

static bool is_stop(const myth_generate_opts *o, int32_t id)
{
    for (int i = 0; i < o->n_stop; i++)
        if (o->stop_ids[i] == id)
            return true;
    return false;
}

enum { AHEAD = 16 }; /* steps of a lot: on an asynchronous device two lots are under way while the host reads ids */

static bool can_run(const generator *g)
{
    return g->e->n_part == 1 && g->e->layout.opts.offload == MYTH_OFFLOAD_NONE && !g->e->layout.ple_by_host &&
           !g->o->grammar && !g->has_budget && !penalty_window(&g->o->sample) && g->o->n_stop <= MYTH_RUN_STOP_MAX;
}

/* Handles the id that a step chose: stores it and calls on_token. False when the answer ends; *why says why. */
static bool accept_id(const myth_generate_opts *o, int32_t id, int32_t *ids, uint32_t *n_ids, myth_finish *why)
{
    if (is_stop(o, id)) {
        *why = MYTH_FINISH_STOP;
        return false;
    }
    ids[(*n_ids)++] = id;
    if ((o->on_token && !o->on_token(o->user, id)) || (o->cancel && *o->cancel)) {
        *why = MYTH_FINISH_CANCELLED;
        return false;
    }
    if (*n_ids == o->n_max)
        *why = MYTH_FINISH_LENGTH;
    return *n_ids < o->n_max;
}

/* Generates the tokens after the first with run.h, so that the device need not wait for the host between steps. After a
 * cancel the sequence is truncated to the accepted tokens (or fewer, see myth_seq_truncate). */
static myth_status generate_ahead(generator *g, int32_t *ids, uint32_t *n_ids, myth_finish *why, myth_error *err)
{
    const myth_generate_opts *o = g->o;
    bool is_async = myth_device_get_caps(g->e->part->dev)->is_async, goes_on = true;
    struct {
        uint64_t mark;
        uint32_t n;
    } lot[2]; /* the lots under way, oldest first */
    uint32_t oldest = 0, n_lot = 0, n_taken = 0;
    myth_run run;
    myth_status issued = MYTH_OK, st = myth_run_begin(&run, g->e,
                                                      &(myth_run_opts){
                                                          .seq = &g->s,
                                                          .n_seq = 1,
                                                          .first = &ids[*n_ids - 1],
                                                          .stop_id = o->stop_ids,
                                                          .n_stop = (uint32_t)o->n_stop,
                                                          .sample = o->sample,
                                                          .seq_number = o->seq_number,
                                                      },
                                                      err);
    if (st != MYTH_OK)
        return st;
    uint32_t n_left = o->n_max - *n_ids, room = myth_run_room(&run);
    bool is_cut_by_context = room < n_left;
    n_left = is_cut_by_context ? room : n_left;
    while (st == MYTH_OK && (n_lot || (goes_on && n_left))) {
        while (goes_on && n_left && n_lot < (is_async ? 2u : 1u)) {
            uint32_t i = (oldest + n_lot) % 2, most = is_async ? AHEAD : 1, n = n_left < most ? n_left : most;
            issued = myth_run_issue(&run, n, &lot[i].mark, err);
            if (issued != MYTH_OK) {
                n_left = 0; /* issue no more; the steps under way still count */
                break;
            }
            lot[i].n = n;
            n_left -= n;
            n_lot++;
        }
        if (!n_lot)
            break;
        st = myth_run_wait(&run, lot[oldest].mark, err);
        for (uint32_t i = 0; i < lot[oldest].n && st == MYTH_OK; i++) {
            int32_t id = myth_run_next(&run)[0];
            if (goes_on) {
                n_taken++;
                goes_on = accept_id(o, id, ids, n_ids, why);
            }
        }
        oldest ^= 1;
        n_lot--;
    }
    myth_run_end(&run);
    if (st != MYTH_OK || issued != MYTH_OK)
        return st != MYTH_OK ? st : issued;
    if (*why == MYTH_FINISH_CANCELLED && run.n_fed[0] > n_taken) {
        uint32_t at;
        return myth_seq_truncate(g->s, run.len[0] + n_taken, &at, err);
    }
    if (goes_on && is_cut_by_context)
        *why = MYTH_FINISH_CONTEXT;
    return MYTH_OK;
}

myth_status myth_generate(myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids, uint32_t *n_ids,
                          myth_finish *why, myth_error *err)
{
    generator g;
    myth_result r = {0};
    g.e = e;
    g.s = s;
    g.o = o;
    g.n_ask = 0;
    g.has_budget = o->channel && o->n_think && o->channel->close >= 0;
    if (g.has_budget)
        g.channel = *o->channel;
    g.k = k_for(&o->sample, o->grammar != NULL);
    if (g.k > e->layout.opts.top_k)
        g.k = e->layout.opts.top_k;
    *n_ids = 0;
    *why = MYTH_FINISH_REFUSED;
    if (o->n_prompt == 0)
        return myth_fail(err, MYTH_EARG, "an empty prompt");
    if (o->n_prompt > myth_seq_room(s))
        return MYTH_OK;

    *why = MYTH_FINISH_NONE;
    myth_status st = feed(&g, o->prompt, o->n_prompt, o->n_max > 0, false, &r, err);
    for (;;) {
        if (st == MYTH_ECANCEL) {
            *why = MYTH_FINISH_CANCELLED;
            return MYTH_OK;
        }
        if (st != MYTH_OK)
            return st;
        if (*n_ids >= o->n_max) {
            *why = MYTH_FINISH_LENGTH;
            return MYTH_OK;
        }
        int32_t id;
        st = next_token(&g, &r, &id, err);
        if (st != MYTH_OK)
            return st;
        if (id < 0)
            return myth_fail(err, MYTH_EARG, "the grammar allows no token");
        if (o->grammar)
            myth_grammar_accept(o->grammar, id);
        if (!accept_id(o, id, ids, n_ids, why))
            return MYTH_OK;
        if (myth_seq_room(s) == 0) { /* check before the chosen id is stored in the sequence */
            *why = MYTH_FINISH_CONTEXT;
            return MYTH_OK;
        }
        if (can_run(&g))
            return generate_ahead(&g, ids, n_ids, why, err);
        st = feed(&g, &id, 1, true, true, &r, err);
    }
}
