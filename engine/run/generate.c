/* generate.c - prompt in, ids out: forward, reduce, choose, until a stop token, a limit or a cancel.
 *
 * Grammar    greedy asks for the k best and takes the first that is allowed; when none is, the row is reduced again
 *            under the mask: exact either way. Sampling reduces under the mask at once.
 * Budget     when the thought has its length, the closing mark takes the place of the choice; the answer goes on from
 *            there
 * Run        without any of these, the device chooses and the host reads behind (run.h)
 * Penalties  change logits by sign (divide positive, multiply negative ones), so the device's k best and the asked
 *            logits of the penalised ids are merged here: exact for every penalty */
#include "run.h"

#include <string.h>

enum { PENALTY_TOK = 64, GRAMMAR_K = 8, LIST_MAX = MYTH_TOPK_MAX + 1024 };

typedef struct {
    myth_engine *e;
    myth_seq *s;
    const myth_generate_opts *o;
    uint32_t k, n_ask;
    bool has_budget;
    myth_channel channel;
    int32_t ask[1024];
    struct {
        float logit;
        int32_t id;
    } list[LIST_MAX];
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
    uint32_t k = myth_sample_k(p) + penalty_window(p);
    if (has_grammar && k < GRAMMAR_K)
        k = GRAMMAR_K;
    return k < MYTH_TOPK_MAX ? k : MYTH_TOPK_MAX;
}

void myth_generate_needs(myth_engine_opts *opts, const myth_sample_params *sample, bool has_grammar)
{
    uint32_t k = k_for(sample, has_grammar), n_ask = penalty_window(sample);
    if (opts->top_k < k)
        opts->top_k = k;
    if (opts->n_ask < n_ask)
        opts->n_ask = n_ask;
    if (has_grammar && opts->n_mask == 0)
        opts->n_mask = 1;
}

const char *myth_finish_name(myth_finish f)
{
    static const char *const name[] = {"none", "stop", "length", "context", "refused", "cancelled"};
    return name[f];
}

/* The last tokens of the sequence and of what is fed to it now, each once. */
static void ask_for_recent(generator *g, const int32_t *fed, uint32_t n_fed)
{
    uint32_t len = myth_seq_len(g->s), window = penalty_window(&g->o->sample), n = 0;
    const int32_t *token = myth_seq_tokens(g->s);
    for (uint32_t i = len + n_fed > window ? len + n_fed - window : 0; i < len + n_fed; i++) {
        int32_t id = i < len ? token[i] : fed[i - len];
        bool seen = false;
        for (uint32_t j = 0; j < n && !seen; j++)
            seen = g->ask[j] == id;
        if (!seen)
            g->ask[n++] = id;
    }
    g->n_ask = n;
}

static bool is_better(float logit, int32_t id, float other, int32_t other_id)
{
    return logit > other || (logit == other && id < other_id);
}

static bool is_asked(const generator *g, int32_t id)
{
    for (uint32_t i = 0; i < g->n_ask; i++)
        if (g->ask[i] == id)
            return true;
    return false;
}

/* The reduction's candidates with the penalised ones replaced, in order again. Returns how many. */
static uint32_t merge_penalised(generator *g, const myth_result *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->k && r->top_id[i] >= 0; i++)
        if (!is_asked(g, r->top_id[i])) {
            g->list[n].logit = r->top_logit[i];
            g->list[n++].id = r->top_id[i];
        }
    for (uint32_t i = 0; i < g->n_ask; i++) {
        float l = r->ask_logit[i], p = g->o->sample.repeat_penalty;
        int32_t id = g->ask[i];
        if (g->o->grammar && !myth_grammar_allows(g->o->grammar, id))
            continue;
        l = l > 0 ? l / p : l * p;
        uint32_t at = n++;
        while (at > 0 && is_better(l, id, g->list[at - 1].logit, g->list[at - 1].id)) {
            g->list[at] = g->list[at - 1];
            at--;
        }
        g->list[at].logit = l;
        g->list[at].id = id;
    }
    return n;
}

static uint32_t copy_candidates(generator *g, const myth_result *r)
{
    uint32_t n = 0;
    for (; n < r->k && r->top_id[n] >= 0; n++) {
        g->list[n].logit = r->top_logit[n];
        g->list[n].id = r->top_id[n];
    }
    return n;
}

/* The next token from the last forward's one logit row; -1 when the grammar leaves none. */
static myth_status choose(generator *g, const myth_result *r, int32_t *id, myth_error *err)
{
    const myth_sample_params *p = &g->o->sample;
    myth_grammar *gr = g->o->grammar;
    float logit[MYTH_TOPK_MAX];
    uint32_t n = g->n_ask ? merge_penalised(g, r) : copy_candidates(g, r);
    *id = -1;
    if (gr && p->temp <= 0.0f) {
        for (uint32_t i = 0; i < n && *id < 0; i++)
            if (myth_grammar_allows(gr, g->list[i].id))
                *id = g->list[i].id;
        if (*id >= 0)
            return MYTH_OK;
        myth_result again;
        myth_status st = myth_reduce_again(g->e, 0, myth_grammar_mask(gr), 1, &again, err);
        if (st == MYTH_OK)
            *id = again.top_id[0];
        return st;
    }
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
    myth_seq *seq[PART];
    uint8_t wants[PART];
    const myth_sample_params *p = &g->o->sample;
    myth_grammar *gr = g->o->grammar;
    static const int32_t first_mask = 0;
    for (uint32_t i = 0; i < PART; i++) {
        seq[i] = g->s;
        wants[i] = 0;
    }
    for (uint32_t done = 0; done < n;) {
        uint32_t m = n - done < PART ? n - done : PART;
        bool is_last = done + m == n;
        myth_batch b = {
            .n_tok = m,
            .token = token + done,
            .seq = seq,
            .want = wants,
            .is_decode = is_decode,
            .top_k = g->k,
            .cancel = is_decode ? NULL : g->o->cancel,
        };
        wants[m - 1] = is_last && want ? MYTH_WANT_LOGITS : 0;
        g->n_ask = 0;
        if (wants[m - 1] && gr && p->temp > 0.0f) {
            b.mask_idx = &first_mask;
            b.masks = myth_grammar_mask(gr);
            b.n_masks = 1;
        }
        if (wants[m - 1] && penalty_window(p)) {
            ask_for_recent(g, token + done, m);
            b.ask_id = g->ask;
            b.n_ask = g->n_ask;
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
