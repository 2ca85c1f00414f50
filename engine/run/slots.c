/* slots.c - several answers at once: a step decodes one token of each, in one forward, so that the weights are read
 * once for all of them.
 *
 * Joining  the prompts of answers that begin at the same time are fed together, too: a forward takes tokens of one
 *          prompt after the other until it is full. They do not go with the decode rows of the answers under way,
 *          because the kernels of the two kinds of step give other bits */
#include "answer.h"

#include <string.h>

typedef struct {
    myth_answering a;
    myth_generate_opts o;
    bool is_joining; /* n_fed tokens of the prompt are fed, and more are to be */
    uint32_t n_fed;
    uint32_t held; /* tokens of the sequence before the forward under way */
} slot;

struct myth_slots {
    myth_engine *e;
    uint32_t n_slot, n_word; /* n_word: words of a mask */
    uint32_t n_most;         /* rows of a forward at most, 0 = all that fit */
    slot *slot;              /* [n_slot] */
    /* The arrays of a step, by row. */
    uint32_t *slot_of;                    /* [n_slot] */
    myth_batch_run *run;                  /* [n_slot] */
    int32_t *token, *mask_idx, *bias_off; /* [n_slot], [n_slot], [n_slot + 1] */
    uint32_t *mask;                       /* [n_mask, n_word] */
    int32_t *bias_id;                     /* [n_bias] */
    float *bias;                          /* [n_bias] */
    int32_t *ask_id;                      /* [n_slot, n_ask] */
};

/* ---- life ---- */

typedef struct {
    uint64_t slot, slot_of, run, token, bias_off, mask, bias, ask, all;
} sizes;

static sizes sizes_of(const myth_model *m, const myth_engine_opts *o, uint32_t n_slot)
{
    const uint64_t n = n_slot, words = (m->config.n_vocab + 31) / 32;
    sizes z = {
        .slot = n * sizeof(slot),
        .slot_of = n * sizeof(uint32_t),
        .run = n * sizeof(myth_batch_run),
        .token = n * sizeof(int32_t),
        .bias_off = (n + 1) * sizeof(int32_t),
        .mask = o->n_mask * words * sizeof(uint32_t),
        .bias = (uint64_t)o->n_bias * sizeof(float),
        .ask = n * o->n_ask * sizeof(int32_t),
    };
    z.all = sizeof(myth_slots) + z.slot + z.slot_of + z.run + 2 * z.token + z.bias_off + z.mask + 2 * z.bias + z.ask;
    return z;
}

uint64_t myth_slots_bytes(const myth_model *m, const myth_engine_opts *o, uint32_t n_slot)
{
    return sizes_of(m, o, n_slot).all;
}

static void *take(myth_slots *p, uint64_t bytes, bool *is_short)
{
    void *got = bytes ? myth_alloc(p->e->model->mem, MYTH_MEM_STAGING, "slots", bytes) : NULL;
    *is_short |= bytes && !got;
    return got;
}

static void end_all(myth_slots *p)
{
    for (uint32_t i = 0; i < p->n_slot; i++)
        p->slot[i].a.goes_on = p->slot[i].is_joining = false;
}

myth_status myth_slots_open(myth_slots **out, myth_engine *e, uint32_t n_slot, myth_error *err)
{
    const myth_engine_opts *o = &e->layout.opts;
    const sizes z = sizes_of(e->model, o, n_slot);
    bool is_short = false;
    if (n_slot == 0 || n_slot > o->n_logit_rows || n_slot > o->n_seq)
        return myth_fail(err, MYTH_EARG, "%u slots: the engine was opened for %u sequences and %u logits rows", n_slot,
                         o->n_seq, o->n_logit_rows);
    myth_slots *p = myth_alloc(e->model->mem, MYTH_MEM_STAGING, "slots", sizeof(*p));
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "slots: out of memory for %zu bytes", sizeof(*p));
    p->e = e;
    p->n_slot = n_slot;
    p->n_word = (e->model->config.n_vocab + 31) / 32;
    p->slot = take(p, z.slot, &is_short);
    p->slot_of = take(p, z.slot_of, &is_short);
    p->run = take(p, z.run, &is_short);
    p->token = take(p, z.token, &is_short);
    p->mask_idx = take(p, z.token, &is_short);
    p->bias_off = take(p, z.bias_off, &is_short);
    p->mask = take(p, z.mask, &is_short);
    p->bias_id = take(p, z.bias, &is_short);
    p->bias = take(p, z.bias, &is_short);
    p->ask_id = take(p, z.ask, &is_short);
    if (is_short) {
        myth_slots_close(p);
        return myth_fail(err, MYTH_ENOMEM, "slots: out of memory for %llu bytes", (unsigned long long)z.all);
    }
    p->bias_off[0] = 0;
    end_all(p);
    *out = p;
    return MYTH_OK;
}

void myth_slots_close(myth_slots *p)
{
    if (!p)
        return;
    myth_mem *mem = p->e->model->mem;
    myth_free(mem, p->ask_id);
    myth_free(mem, p->bias);
    myth_free(mem, p->bias_id);
    myth_free(mem, p->mask);
    myth_free(mem, p->bias_off);
    myth_free(mem, p->mask_idx);
    myth_free(mem, p->token);
    myth_free(mem, p->run);
    myth_free(mem, p->slot_of);
    myth_free(mem, p->slot);
    myth_free(mem, p);
}

/* ---- answers ---- */

static bool is_busy(const slot *at) { return at->a.goes_on || at->is_joining; }

void myth_slots_limit(myth_slots *p, uint32_t n_rows) { p->n_most = n_rows; }

static bool is_held(const myth_slots *p, const myth_seq *s)
{
    for (uint32_t i = 0; i < p->n_slot; i++)
        if (is_busy(&p->slot[i]) && p->slot[i].a.s == s)
            return true;
    return false;
}

myth_status myth_slots_start(myth_slots *p, uint32_t i, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                             myth_error *err)
{
    if (i >= p->n_slot || is_busy(&p->slot[i]) || is_held(p, s))
        return myth_fail(err, MYTH_EARG, "slot %u of %u: it, or its sequence, is in use", i, p->n_slot);
    slot *at = &p->slot[i];
    at->o = *o;
    at->n_fed = 0;
    const myth_status st = myth_answer_set(&at->a, p->e, s, &at->o, ids, err);
    at->is_joining = st == MYTH_OK && at->a.why == MYTH_FINISH_NONE;
    return st;
}

/* Adds what row `row`, which follows these tokens, wants besides its logits. The biases of all rows stand one after the
 * other. */
static void want(myth_slots *p, myth_batch *b, uint32_t row, myth_answering *a, const int32_t *fed, uint32_t n_fed)
{
    const uint32_t n_bias = (uint32_t)p->bias_off[row];
    p->mask_idx[row] = -1;
    if (myth_answer_wants_mask(a)) {
        memcpy(p->mask + (size_t)b->n_masks * p->n_word, myth_grammar_mask(a->o->grammar),
               p->n_word * sizeof(*p->mask));
        p->mask_idx[row] = (int32_t)b->n_masks++;
    }
    a->n_ask = 0;
    if (myth_penalty_window(&a->o->sample))
        myth_answer_ask(a, fed, n_fed);
    for (uint32_t k = 0; k < a->n_ask; k++) {
        p->bias_id[n_bias + k] = a->ask[k];
        p->bias[n_bias + k] = MYTH_HIDDEN_LOGIT;
    }
    p->bias_off[row + 1] = (int32_t)(n_bias + a->n_ask);
    b->n_ask = b->n_ask < a->n_ask ? a->n_ask : b->n_ask;
    b->top_k = b->top_k < a->k ? a->k : b->top_k;
}

/* Adds the next n tokens of slot i; with wants, the last of them gets logits and is row *n_row. */
static void add_run(myth_slots *p, myth_batch *b, uint32_t i, const int32_t *token, uint32_t n, bool wants,
                    uint32_t *n_row)
{
    myth_answering *a = &p->slot[i].a;
    if (wants) {
        p->slot_of[*n_row] = i;
        want(p, b, (*n_row)++, a, token, n);
    }
    p->run[b->n_run++] =
        (myth_batch_run){.seq = a->s, .token = token, .n = n, .want_last = wants ? MYTH_WANT_LOGITS : 0};
}

static myth_status forward(myth_slots *p, myth_batch *b, uint32_t n_row, myth_result *result, myth_error *err)
{
    for (uint32_t r = 0; r < n_row; r++) { /* every row asks for as many ids; what it did not ask for is not read */
        const myth_answering *a = &p->slot[p->slot_of[r]].a;
        int32_t *ask = p->ask_id + (size_t)r * b->n_ask;
        for (uint32_t k = 0; k < b->n_ask; k++)
            ask[k] = k < a->n_ask ? a->ask[k] : 0;
    }
    if (b->n_masks) {
        b->mask_idx = p->mask_idx;
        b->masks = p->mask;
    }
    if (b->n_ask) {
        b->ask_id = p->ask_id;
        b->bias_off = p->bias_off;
        b->bias_id = p->bias_id;
        b->bias = p->bias;
    }
    for (uint32_t i = 0; i < p->n_slot; i++)
        p->slot[i].held = is_busy(&p->slot[i]) ? myth_seq_len(p->slot[i].a.s) : 0;
    const myth_status st = myth_forward(p->e, b, result, err);
    return st == MYTH_EFORMAT && n_row && result->n_rows == n_row ? MYTH_OK : st; /* take_rows finds whose logits */
}

/* What a failure means for the answers: they can go on where nothing was lost. */
static myth_status fail(myth_slots *p, myth_status st)
{
    bool goes_on = st == MYTH_ENOMEM;
    for (uint32_t i = 0; i < p->n_slot && goes_on; i++)
        goes_on = !is_busy(&p->slot[i]) || myth_seq_len(p->slot[i].a.s) == p->slot[i].held;
    if (!goes_on)
        end_all(p);
    return st;
}

/* Chooses a token from each row; an answer whose row is not finite ends alone. */
static myth_status take_rows(myth_slots *p, const myth_batch *b, const myth_result *result, uint32_t n_row,
                             myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t r = 0; r < n_row && st == MYTH_OK; r++) {
        myth_answering *a = &p->slot[p->slot_of[r]].a;
        st = myth_engine_check_logits(p->e, r, 1, b->mask_idx || b->bias_off, err);
        if (st == MYTH_OK)
            st = myth_answer_take(a, result, r, err);
        if (st == MYTH_EFORMAT) {
            a->goes_on = false;
            a->why = MYTH_FINISH_LOGITS;
            st = MYTH_OK;
        }
    }
    return st;
}

/* The tokens of slot i's prompt that a forward takes which has room for `room`. */
static uint32_t n_joining(const slot *at, uint32_t room)
{
    const uint32_t left = at->is_joining ? at->o.n_prompt - at->n_fed : 0;
    return left < room ? left : room;
}

static void note_fed(slot *at, uint32_t n)
{
    const myth_generate_opts *o = &at->o;
    at->n_fed += n;
    if (o->on_prefill)
        o->on_prefill(o->user, at->n_fed, o->n_prompt);
    at->is_joining = at->n_fed < o->n_prompt;
    if (!at->is_joining && o->n_max == 0)
        at->a.why = MYTH_FINISH_LENGTH;
}

static void cancel(slot *at)
{
    at->is_joining = false;
    at->a.why = MYTH_FINISH_CANCELLED;
}

/* Feeds prompts until a forward is full; *is_done: nothing was left to feed. */
static myth_status join_some(myth_slots *p, bool *is_done, myth_error *err)
{
    const uint32_t most = p->n_most ? p->n_most : myth_answer_part(p->e);
    myth_batch b = {.run = p->run};
    myth_result result = {0};
    uint32_t n_row = 0, room = most, n;
    bool is_common = true;
    for (uint32_t i = 0; i < p->n_slot; i++) {
        const slot *at = &p->slot[i];
        if ((n = n_joining(at, room)) == 0)
            continue;
        is_common = is_common && (b.n_run == 0 || b.cancel == at->o.cancel);
        b.cancel = at->o.cancel;
        add_run(p, &b, i, at->o.prompt + at->n_fed, n, n == at->o.n_prompt - at->n_fed && at->o.n_max, &n_row);
        room -= n;
    }
    *is_done = b.n_run == 0;
    if (*is_done)
        return MYTH_OK;
    if (!is_common) /* looked at when the forward is done */
        b.cancel = NULL;
    myth_status st = forward(p, &b, n_row, &result, err);
    if (st != MYTH_OK && st != MYTH_ECANCEL)
        return st;
    room = most;
    for (uint32_t i = 0; i < p->n_slot; i++) {
        slot *at = &p->slot[i];
        if ((n = n_joining(at, room)) == 0)
            continue;
        room -= n;
        if (st == MYTH_OK)
            note_fed(at, n);
        else
            cancel(at);
    }
    for (uint32_t i = 0; i < p->n_slot; i++) { /* what is not fed to its end */
        slot *at = &p->slot[i];
        if (at->is_joining && myth_cancelled(at->o.cancel))
            cancel(at);
    }
    return st == MYTH_OK ? take_rows(p, &b, &result, n_row, err) : MYTH_OK;
}

myth_status myth_slots_join(myth_slots *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (bool is_done = false; !is_done && st == MYTH_OK;)
        st = join_some(p, &is_done, err);
    return st == MYTH_OK ? st : fail(p, st);
}

/* Decodes a token of the answers from slot *from on, until the forward is full; *from is then the slot behind them. */
static myth_status step_some(myth_slots *p, uint32_t *from, myth_error *err)
{
    myth_batch b = {.run = p->run, .is_decode = true};
    myth_result result = {0};
    uint32_t n_row = 0;
    bool is_common = true;
    for (; *from < p->n_slot && (!p->n_most || n_row < p->n_most); ++*from) {
        const myth_answering *a = &p->slot[*from].a;
        if (!a->goes_on)
            continue;
        is_common = is_common && (b.n_run == 0 || b.cancel == p->slot[*from].o.cancel);
        b.cancel = p->slot[*from].o.cancel;
        p->token[n_row] = a->id;
        add_run(p, &b, *from, &p->token[n_row], 1, true, &n_row);
    }
    if (b.n_run == 0)
        return MYTH_OK;
    if (!is_common) /* looked at with the next tokens */
        b.cancel = NULL;
    const myth_status st = forward(p, &b, n_row, &result, err);
    for (uint32_t r = 0; r < n_row && st == MYTH_ECANCEL; r++) {
        cancel(&p->slot[p->slot_of[r]]);
        p->slot[p->slot_of[r]].a.goes_on = false;
    }
    return st == MYTH_OK ? take_rows(p, &b, &result, n_row, err) : st == MYTH_ECANCEL ? MYTH_OK : st;
}

myth_status myth_slots_step(myth_slots *p, myth_error *err)
{
    myth_status st = myth_slots_join(p, err);
    for (uint32_t from = 0; from < p->n_slot && st == MYTH_OK;)
        if ((st = step_some(p, &from, err)) != MYTH_OK)
            return fail(p, st);
    return st;
}

bool myth_slots_get(const myth_slots *p, uint32_t i, uint32_t *n_ids, myth_finish *why)
{
    const myth_answering *a = &p->slot[i].a;
    *n_ids = a->n_ids;
    *why = is_busy(&p->slot[i]) ? MYTH_FINISH_NONE : a->why;
    return is_busy(&p->slot[i]);
}
