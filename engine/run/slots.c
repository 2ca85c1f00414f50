/* slots.c - several answers at once: a step decodes one token of each, in one forward, so that the weights are read
 * once for all of them. */
#include "answer.h"

#include <string.h>

typedef struct {
    myth_answering a;
    myth_generate_opts o;
} slot;

struct myth_slots {
    myth_engine *e;
    uint32_t n_slot, n_word; /* n_word: words of a mask */
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
    for (uint32_t i = 0; i < n_slot; i++)
        p->slot[i].a.goes_on = false;
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

static bool is_held(const myth_slots *p, const myth_seq *s)
{
    for (uint32_t i = 0; i < p->n_slot; i++)
        if (p->slot[i].a.goes_on && p->slot[i].a.s == s)
            return true;
    return false;
}

myth_status myth_slots_start(myth_slots *p, uint32_t i, myth_seq *s, const myth_generate_opts *o, int32_t *ids,
                             myth_error *err)
{
    if (i >= p->n_slot || p->slot[i].a.goes_on || is_held(p, s))
        return myth_fail(err, MYTH_EARG, "slot %u of %u: it, or its sequence, is in use", i, p->n_slot);
    slot *at = &p->slot[i];
    at->o = *o;
    const myth_status st = myth_answer_begin(&at->a, p->e, s, &at->o, ids, err);
    if (st != MYTH_OK)
        at->a.goes_on = false;
    return st;
}

/* Adds what row `row` wants besides its logits. The biases of all rows stand one after the other. */
static void want(myth_slots *p, myth_batch *b, uint32_t row, myth_answering *a)
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
        myth_answer_ask(a, &a->id, 1);
    for (uint32_t k = 0; k < a->n_ask; k++) {
        p->bias_id[n_bias + k] = a->ask[k];
        p->bias[n_bias + k] = MYTH_HIDDEN_LOGIT;
    }
    p->bias_off[row + 1] = (int32_t)(n_bias + a->n_ask);
    b->n_ask = b->n_ask < a->n_ask ? a->n_ask : b->n_ask;
    b->top_k = b->top_k < a->k ? a->k : b->top_k;
}

myth_status myth_slots_step(myth_slots *p, myth_error *err)
{
    myth_batch b = {.run = p->run, .is_decode = true};
    p->bias_off[0] = 0;
    for (uint32_t i = 0; i < p->n_slot; i++) {
        myth_answering *a = &p->slot[i].a;
        if (!a->goes_on)
            continue;
        want(p, &b, b.n_run, a);
        p->token[b.n_run] = a->id;
        p->slot_of[b.n_run] = i;
        p->run[b.n_run] =
            (myth_batch_run){.seq = a->s, .token = &p->token[b.n_run], .n = 1, .want_last = MYTH_WANT_LOGITS};
        b.n_run++;
    }
    if (b.n_run == 0)
        return MYTH_OK;
    for (uint32_t r = 0; r < b.n_run; r++) { /* every row asks for as many ids; what it did not ask for is not read */
        const myth_answering *a = &p->slot[p->slot_of[r]].a;
        int32_t *ask = p->ask_id + (size_t)r * b.n_ask;
        for (uint32_t k = 0; k < b.n_ask; k++)
            ask[k] = k < a->n_ask ? a->ask[k] : 0;
    }
    if (b.n_masks) {
        b.mask_idx = p->mask_idx;
        b.masks = p->mask;
    }
    if (b.n_ask) {
        b.ask_id = p->ask_id;
        b.bias_off = p->bias_off;
        b.bias_id = p->bias_id;
        b.bias = p->bias;
    }
    myth_result result = {0};
    myth_status st = myth_forward(p->e, &b, &result, err);
    for (uint32_t r = 0; r < b.n_run && st == MYTH_OK; r++)
        st = myth_answer_take(&p->slot[p->slot_of[r]].a, &result, r, err);
    for (uint32_t i = 0; i < p->n_slot && st != MYTH_OK; i++)
        p->slot[i].a.goes_on = false;
    return st;
}

bool myth_slots_get(const myth_slots *p, uint32_t i, uint32_t *n_ids, myth_finish *why)
{
    const myth_answering *a = &p->slot[i].a;
    *n_ids = a->n_ids;
    *why = a->goes_on ? MYTH_FINISH_NONE : a->why;
    return a->goes_on;
}
