/* generate.c - prompt in, ids out: forward, reduce, choose, until a stop token, a limit or a cancel.
 *
 * Grammar    greedy asks for the k best and takes the first that is allowed; when none is that the reduction vouches
 *            for, the row is reduced again under the mask: exact either way. Sampling reduces under the mask at once.
 * Budget     when the thought has its length, the closing mark takes the place of the choice; the answer goes on from
 *            there
 * Run        without any of these, the device chooses and the host reads behind (run.h)
 * Penalties  change logits by sign (divide positive, multiply negative ones), which no bias does. So the reduction
 *            finds the k best of the other ids (a bias hides the penalised ones) and the logits of the penalised ids,
 *            and the two are merged here: exact for every penalty, window and k */
#include "run.h"

#include <string.h>

enum { PENALTY_TOK = 64, GRAMMAR_K = 8, LIST_MAX = MYTH_TOPK_MAX + 1024 };

/* Added to the logits of penalised ids before the reduction: below every logit, so that other ids come first. Not
 * infinite: the devices' sums of exponentials stay finite whatever else a row holds. */
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

/* Which ids are penalised: the last tokens of the sequence and of what is fed to it now, each once. */
static void ask_for_recent(generator *g, const int32_t *fed, uint32_t n_fed)
{
    uint32_t len = myth_seq_len(g->s), window = penalty_window(&g->o->sample), n = 0;
    const int32_t *token = myth_seq_tokens(g->s);
    for (uint32_t i = len + n_fed > window ? len + n_fed - window : 0; i < len + n_fed; i++) {
        int32_t id = i < len ? token[i] : fed[i - len];
        bool is_known = (uint32_t)id >= g->e->n_vocab_choice; /* never chosen */
        for (uint32_t j = 0; j < n && !is_known; j++)
            is_known = g->ask[j] == id;
        if (is_known)
            continue;
        g->bias[n] = HIDE;
        g->ask[n++] = id;
    }
    g->n_ask = n;
    g->bias_off[0] = 0;
    g->bias_off[1] = (int32_t)n;
}

static bool is_better(candidate a, candidate b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); }

/* The reduction's candidate i; id -1 when there are fewer, not counting the penalised ids. */
static candidate candidate_at(const myth_result *r, uint32_t i)
{
    bool is_there = i < r->k && r->top_id[i] >= 0 && !is_hidden(r->top_logit[i]);
    return is_there ? (candidate){r->top_logit[i], r->top_id[i]} : (candidate){HIDE, -1};
}

/* The reduction's candidates, and in their places among them the penalised ids that the grammar allows. Returns how
 * many. */
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

/* The best id that the grammar allows, -1 = none. Ids that the reduction left out are worse than its k-th best, so the
 * first of the listed ids that is allowed is the best of all unless it is worse than that one too: a penalised id. Then
 * the row is reduced again under the mask, which finds the best id that is not penalised. */
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

/* The next token from the last forward's one logit row; -1 when the grammar leaves none. */
static myth_status choose(generator *g, const myth_result *r, int32_t *id, myth_error *err)
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

/* The choice, or the mark that ends a thought which has its length. */
static myth_status next_id(generator *g, const myth_result *r, int32_t *id, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (g->has_budget && g->channel.is_open && g->channel.n_thought >= g->o->n_think)
        *id = g->channel.close;
    else
        st = choose(g, r, id, err);
    if (st == MYTH_OK && g->has_budget && *id >= 0)
        myth_channel_push(&g->channel, *id);
    return st;
}

/* Appends n tokens; the last one wants logits when `want`. */
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

enum { AHEAD = 16 }; /* steps issued at once where the device runs on by itself; two such lots are on their way */

static bool can_run(const generator *g)
{
    return g->e->n_part == 1 && g->e->y.opts.offload == MYTH_OFFLOAD_NONE && !g->e->y.ple_by_host && !g->o->grammar &&
           !g->has_budget && !penalty_window(&g->o->sample) && g->o->n_stop <= MYTH_RUN_STOP_MAX;
}

/* Takes what a step chose. False: the answer ends with *why. */
static bool take(const myth_generate_opts *o, int32_t id, int32_t *ids, uint32_t *n_ids, myth_finish *why)
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

/* From the first token on without the host between the steps. Cancelled, the sequence is cut to what was accepted,
 * where its rings allow. */
static myth_status run_on(generator *g, int32_t *ids, uint32_t *n_ids, myth_finish *why, myth_error *err)
{
    const myth_generate_opts *o = g->o;
    bool is_async = myth_device_get_caps(g->e->part->dev)->is_async, goes_on = true;
    struct {
        uint64_t mark;
        uint32_t n;
    } lot[2]; /* issued, the oldest first */
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
    bool is_short = room < n_left;
    n_left = is_short ? room : n_left;
    while (st == MYTH_OK && (n_lot || (goes_on && n_left))) {
        while (goes_on && n_left && n_lot < (is_async ? 2u : 1u)) {
            uint32_t i = (oldest + n_lot) % 2, most = is_async ? AHEAD : 1, n = n_left < most ? n_left : most;
            issued = myth_run_issue(&run, n, &lot[i].mark, err);
            if (issued != MYTH_OK) {
                n_left = 0; /* what is on its way still counts */
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
                goes_on = take(o, id, ids, n_ids, why);
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
    if (goes_on && is_short)
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
    if (g.k > e->y.opts.top_k)
        g.k = e->y.opts.top_k;
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
        st = next_id(&g, &r, &id, err);
        if (st != MYTH_OK)
            return st;
        if (id < 0)
            return myth_fail(err, MYTH_EARG, "the grammar allows no token");
        if (o->grammar)
            myth_grammar_accept(o->grammar, id);
        if (!take(o, id, ids, n_ids, why))
            return MYTH_OK;
        if (myth_seq_room(s) == 0) { /* before anything stores the id that was chosen */
            *why = MYTH_FINISH_CONTEXT;
            return MYTH_OK;
        }
        if (can_run(&g))
            return run_on(&g, ids, n_ids, why, err);
        st = feed(&g, &id, 1, true, true, &r, err);
    }
}
