/* sets.c - see sets.h. A position is chosen from the rows of logits of the set before it, fed as a set, and looked back
 * at by the sets after it. */
#include "sets.h"

#include "answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K_LEAST = 64 };

typedef struct {
    double p;
    int32_t id;
} candidate;

struct myth_sets {
    myth_engine *e;
    myth_sets_opts o;
    candidate *cand;                       /* [n_member * k] */
    myth_set_member *member;               /* [n_max * n_member] */
    uint32_t k;                            /* best ids of a row */
    uint32_t n_member, n_position, newest; /* newest: the first member of the last position */
    uint32_t n_cut_by_context, n_cut_by_window, n_cut_by_most, n_removed;
    uint32_t *gone; /* [n_member * MYTH_SET_PRUNE_MOST]: rows to remove */
};

static uint32_t prune_after(const myth_sets_opts *o)
{
    return !(o->prune > 0.0f) ? 0 : o->prune_after ? o->prune_after : MYTH_SET_PRUNE_AFTER;
}

/* ---- life ---- */

static uint32_t k_of(const myth_sets_opts *o)
{
    const double most = floor(1.0 / (double)o->threshold); /* no more tokens can have that probability */
    return most < K_LEAST ? K_LEAST : most < MYTH_TOPK_MAX ? (uint32_t)most : MYTH_TOPK_MAX;
}

void myth_sets_needs(myth_engine_opts *opts, const myth_model *m, const myth_sets_opts *o, uint32_t n_prompt)
{
    const uint64_t more = (uint64_t)(o->n_member - 1) * o->n_max, all = (uint64_t)n_prompt + o->n_max + more;
    const uint32_t window = m->config.window ? m->config.window : m->config.n_ctx_train, k = k_of(o);
    if (opts->n_logit_rows < o->n_member)
        opts->n_logit_rows = o->n_member;
    if (opts->top_k < k)
        opts->top_k = k;
    if (o->n_member < 2)
        return;
    if (opts->n_set_rows ==
        0) { /* as many again as a window has, where sets could fill them; four full sets at least */
        const uint64_t rows = window > 4 * o->n_member ? window : 4 * o->n_member;
        opts->n_set_rows = (uint32_t)(more < rows ? more : rows);
    }
    if (opts->n_mass < prune_after(o) * o->n_member)
        opts->n_mass = prune_after(o) * o->n_member;
    if (opts->n_ctx == 0 && all > 4096)
        opts->n_ctx = all < m->config.n_ctx_train ? (uint32_t)all : m->config.n_ctx_train;
}

typedef struct {
    uint64_t cand, member, gone, all;
} sizes;

static sizes sizes_of(const myth_sets_opts *o)
{
    sizes z = {
        .cand = (uint64_t)o->n_member * k_of(o) * sizeof(candidate),
        .member = (uint64_t)o->n_max * o->n_member * sizeof(myth_set_member),
        .gone = (uint64_t)o->n_member * MYTH_SET_PRUNE_MOST * sizeof(uint32_t),
    };
    z.all = sizeof(myth_sets) + z.cand + z.member + z.gone;
    return z;
}

uint64_t myth_sets_bytes(const myth_sets_opts *o) { return sizes_of(o).all; }

myth_sets_most myth_sets_at_most(const myth_sets_opts *o, const myth_model *m, const myth_plan *p, uint32_t n_prompt)
{
    const myth_config *c = &m->config;
    const double can = floor(1.0 / (double)o->threshold);
    const uint64_t one_each = (uint64_t)n_prompt + o->n_max, free = p->n_ctx > one_each ? p->n_ctx - one_each : 0;
    myth_sets_most most = {.n_member = can < o->n_member ? (uint32_t)(can < 1 ? 1 : can) : o->n_member};
    most.n_row = (uint64_t)(most.n_member - 1) * o->n_max;
    most.n_row = most.n_row < free ? most.n_row : free;
    for (uint32_t l = 0; l < c->n_layer; l++)
        if (c->layer[l].kv_source == l)
            most.row_bytes += c->layer[l].n_head_kv * (myth_row_bytes(p->type_k, c->layer[l].head_dim) +
                                                       myth_row_bytes(p->type_v, c->layer[l].head_dim));
    return most;
}

static myth_status check_opts(const myth_sets_opts *o, const myth_engine_opts *e, myth_error *err)
{
    if (o->n_member == 0 || o->n_member > MYTH_SET_MEMBERS || o->n_member > e->n_logit_rows)
        return myth_fail(err, MYTH_EARG, "sets of %u tokens: 1 to %d, and the engine was opened for %u", o->n_member,
                         MYTH_SET_MEMBERS, e->n_logit_rows);
    if (!(o->threshold > 0.0f) || (o->kind != MYTH_SET_ISOLATED && o->kind != MYTH_SET_VISIBLE))
        return myth_fail(err, MYTH_EARG, "sets of tokens of probability %g and more: above 0 expected, and a kind",
                         (double)o->threshold);
    if (!(o->prune >= 0.0f && o->prune <= 1.0f) || prune_after(o) > MYTH_SET_PRUNE_MOST ||
        (o->n_member > 1 && e->n_mass < prune_after(o) * o->n_member && e->n_mass < e->n_ctx))
        return myth_fail(
            err, MYTH_EARG,
            "pruning below %g of the mean after %u positions: 0 to 1, at most %d positions, and the engine "
            "was opened for %u rows that are looked at",
            (double)o->prune, prune_after(o), MYTH_SET_PRUNE_MOST, e->n_mass);
    return MYTH_OK;
}

myth_status myth_sets_open(myth_sets **out, myth_engine *e, const myth_sets_opts *o, myth_error *err)
{
    const sizes z = sizes_of(o);
    myth_status st = check_opts(o, &e->layout.opts, err);
    *out = NULL;
    if (st != MYTH_OK)
        return st;
    myth_sets *x = myth_alloc(e->model->mem, MYTH_MEM_STAGING, "sets", sizeof(*x));
    if (!x)
        return myth_fail(err, MYTH_ENOMEM, "sets: out of memory for %zu bytes", sizeof(*x));
    *x = (myth_sets){
        .e = e,
        .o = *o,
        .k = k_of(o) < e->layout.opts.top_k ? k_of(o) : e->layout.opts.top_k,
        .cand = myth_alloc(e->model->mem, MYTH_MEM_STAGING, "sets", z.cand),
        .member = z.member ? myth_alloc(e->model->mem, MYTH_MEM_STAGING, "sets", z.member) : NULL,
        .gone = myth_alloc(e->model->mem, MYTH_MEM_STAGING, "sets", z.gone),
    };
    if (!x->cand || (z.member && !x->member) || !x->gone) {
        myth_sets_close(x);
        return myth_fail(err, MYTH_ENOMEM, "sets: out of memory for %llu bytes", (unsigned long long)z.all);
    }
    *out = x;
    return MYTH_OK;
}

void myth_sets_close(myth_sets *x)
{
    if (!x)
        return;
    myth_mem *mem = x->e->model->mem;
    myth_free(mem, x->gone);
    myth_free(mem, x->member);
    myth_free(mem, x->cand);
    myth_free(mem, x);
}

/* ---- choice ---- */

static int by_id(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_p(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->p != y->p ? (x->p < y->p ? 1 : -1) : by_id(a, b);
}

/* The distribution behind the last set: the ids that any of its rows lists, best first. Row r belongs to member
 * `newest` + r; behind the prompt there is one row and no member. */
static uint32_t list_candidates(myth_sets *x, const myth_result *r)
{
    const uint32_t n_row = x->o.combine == MYTH_COMBINE_TOP ? 1 : r->n_rows;
    uint32_t n = 0, n_id = 0;
    for (uint32_t row = 0; row < n_row; row++) {
        const double weight = n_row == 1 ? 1.0 : (double)x->member[x->newest + row].weight;
        for (uint32_t i = 0; i < r->k && r->top_id[(size_t)row * r->k + i] >= 0; i++)
            x->cand[n++] = (candidate){
                weight * exp((double)r->top_logit[(size_t)row * r->k + i] - (double)r->lse[row]),
                r->top_id[(size_t)row * r->k + i],
            };
    }
    qsort(x->cand, n, sizeof(*x->cand), by_id);
    for (uint32_t i = 0; i < n; i++)
        if (n_id && x->cand[n_id - 1].id == x->cand[i].id)
            x->cand[n_id - 1].p += x->cand[i].p;
        else
            x->cand[n_id++] = x->cand[i];
    qsort(x->cand, n_id, sizeof(*x->cand), by_p);
    return n_id;
}

/* How many tokens a set takes where the cache is no limit; they are moved to the front of the list. */
static uint32_t pick(myth_sets *x, uint32_t n_cand)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_cand && (i == 0 || x->cand[i].p >= (double)x->o.threshold); i++)
        if (!myth_is_stop(x->o.stop_ids, x->o.n_stop, x->cand[i].id))
            x->cand[n++] = x->cand[i];
    x->n_cut_by_most += n > x->o.n_member;
    return n < x->o.n_member ? n : x->o.n_member;
}

/* Makes a set of the first n candidates. */
static void add_set(myth_sets *x, uint32_t n)
{
    double all = 0.0;
    for (uint32_t i = 0; i < n; i++)
        all += x->cand[i].p;
    x->newest = x->n_member;
    for (uint32_t i = 0; i < n; i++)
        x->member[x->n_member++] = (myth_set_member){
            .id = x->cand[i].id,
            .position = x->n_position,
            .p = (float)x->cand[i].p,
            .weight = (float)(x->cand[i].p / all),
            .removed_at = -1,
        };
    x->n_position++;
}

/* ---- looking back ---- */

/* The first member that a set at this position looks back at. */
static uint32_t watched_from(const myth_sets *x, uint32_t position)
{
    uint32_t i = x->n_member;
    while (i > 0 && x->member[i - 1].position + prune_after(&x->o) >= position)
        i--;
    return i;
}

static bool is_held(const myth_set_member *m) { return m->is_fed && m->removed_at < 0; }

/* Takes the members that are marked by removed_at == now and still have a row out of the cache. */
static myth_status take_out(myth_sets *x, myth_seq *s, uint32_t from, const uint32_t *marked, uint32_t n,
                            myth_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        x->gone[i] = x->member[marked[i]].row;
    const myth_status st = myth_seq_remove(s, x->gone, n, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t i = from, k = 0; i < x->n_member; i++) {
        myth_set_member *m = &x->member[i];
        if (k < n && marked[k] == i) {
            m->removed_at = (int32_t)x->n_position - 1;
            k++;
        } else if (is_held(m)) {
            m->row -= k;
        }
    }
    x->n_removed += n;
    return MYTH_OK;
}

/* Adds what the last set's rows looked at. result.mass has the last n_mass rows that were held before them. */
static void add_mass(myth_sets *x, const myth_result *r, uint32_t from)
{
    for (uint32_t i = from, t = 0; i < x->newest; i++)
        if (is_held(&x->member[i])) {
            for (uint32_t row = 0; row < r->n_rows; row++)
                x->member[i].mass += x->member[x->newest + row].weight * r->mass[(size_t)row * r->n_mass + t];
            t++;
        }
}

/* Judges the set of the position that has been looked at long enough. */
static myth_status judge(myth_sets *x, myth_seq *s, myth_error *err)
{
    const uint32_t after = prune_after(&x->o);
    uint32_t marked[MYTH_SET_MEMBERS], end, n = 0, n_held = 0;
    double mean = 0.0;
    if (x->n_position <= after)
        return MYTH_OK;
    const uint32_t position = x->n_position - 1 - after; /* looked at by the `after` positions behind it */
    const uint32_t first = watched_from(x, x->n_position - 1);
    for (end = first; end < x->n_member && x->member[end].position == position; end++)
        if (is_held(&x->member[end])) {
            mean += (double)x->member[end].mass;
            n_held++;
        }
    mean /= n_held ? n_held : 1; /* the best one is not below it, so one stays */
    for (uint32_t i = first; i < end; i++)
        if (is_held(&x->member[i]) && (double)x->member[i].mass < (double)x->o.prune * mean)
            marked[n++] = i;
    return n ? take_out(x, s, first, marked, n, err) : MYTH_OK;
}

/* Makes room for a set of `want`: takes out the least looked at member of the sets that are still looked back at, but
 * for the newest, again and again until there is room. */
static myth_status make_room(myth_sets *x, myth_seq *s, uint32_t want, uint32_t n_after, myth_error *err)
{
    const uint32_t from = watched_from(x, x->n_position);
    while (prune_after(&x->o) && x->n_position && myth_seq_set_room(s, n_after) < want) {
        uint32_t least = UINT32_MAX;
        for (uint32_t i = from; i < x->newest; i++) {
            uint32_t n_held = 0;
            for (uint32_t k = from; k < x->newest; k++)
                n_held += is_held(&x->member[k]) && x->member[k].position == x->member[i].position;
            if (is_held(&x->member[i]) && n_held > 1 &&
                (least == UINT32_MAX || x->member[i].mass < x->member[least].mass))
                least = i;
        }
        if (least == UINT32_MAX)
            return MYTH_OK;
        const myth_status st = take_out(x, s, from, &least, 1, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* ---- feeding ---- */

myth_status myth_sets_feed_prompt(myth_engine *e, myth_seq *s, const myth_sets_opts *o, uint32_t k,
                                  const int32_t *prompt, uint32_t n, myth_result *r, myth_error *err)
{
    const uint32_t part = myth_answer_part(e);
    for (uint32_t done = 0, m; done < n; done += m) {
        m = n - done < part ? n - done : part;
        const bool wants = done + m == n && o->n_max > 0;
        const myth_batch_run run = {
            .seq = s,
            .token = prompt + done,
            .n = m,
            .want_last = wants ? MYTH_WANT_LOGITS : 0,
        };
        const myth_batch b = {.run = &run, .n_run = 1, .top_k = k, .cancel = o->cancel};
        const myth_status st = myth_forward(e, &b, r, err);
        if (st != MYTH_OK)
            return st;
        if (o->on_prefill)
            o->on_prefill(o->user, done + m, n);
        if (done + m < n && myth_cancelled(o->cancel))
            return myth_fail(err, MYTH_ECANCEL, "cancelled");
    }
    return MYTH_OK;
}

/* Feeds the newest set, and takes out what it shows to be of no use. */
static myth_status feed_set(myth_sets *x, myth_seq *s, myth_result *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    int32_t ids[MYTH_SET_MEMBERS];
    const uint32_t n = x->n_member - x->newest,
                   from = prune_after(&x->o) ? watched_from(x, x->n_position - 1) : x->newest;
    uint32_t n_mass = 0;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = x->member[x->newest + i].id;
        x->member[x->newest + i].row = myth_seq_len(s) + i;
    }
    for (uint32_t i = from; i < x->newest; i++)
        n_mass += is_held(&x->member[i]);
    const myth_batch_run run = {
        .seq = s,
        .token = ids,
        .n = n,
        .want = MYTH_WANT_LOGITS,
        .set = x->o.kind,
        .n_mass = myth_seq_extra(s) ? n_mass : 0, /* with one token a position there is nothing to compare */
    };
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .is_decode = n == 1 || x->o.kind == MYTH_SET_ISOLATED,
        .top_k = x->k,
    };
    MYTH_TRY(myth_forward(x->e, &b, r, err));
    for (uint32_t i = 0; i < n; i++)
        x->member[x->newest + i].is_fed = true;
    if (run.n_mass)
        add_mass(x, r, from);
    if (prune_after(&x->o))
        MYTH_TRY(judge(x, s, err));
fail:
    return st;
}

static uint64_t row_bytes(const myth_engine *e)
{
    const myth_layout *l = &e->layout;
    return (l->page_tok ? l->page_bytes / l->page_tok : 0) + (l->ring_tok ? l->ring_bytes / l->ring_tok : 0);
}

static myth_status answer(myth_sets *x, myth_seq *s, myth_result *r, myth_finish *why, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (*why = MYTH_FINISH_NONE; *why == MYTH_FINISH_NONE;) {
        /* positions behind this one that are fed; the last one of all is not */
        const uint32_t n_after = x->n_position + 2 < x->o.n_max ? x->o.n_max - 2 - x->n_position : 0;
        const uint32_t n_cand = list_candidates(x, r);
        const bool is_last = x->n_position + 1 == x->o.n_max;
        if (n_cand == 0)
            return myth_engine_bad_logits(x->e, err);
        if (myth_is_stop(x->o.stop_ids, x->o.n_stop, x->cand[0].id)) {
            *why = MYTH_FINISH_STOP;
            break;
        }
        uint32_t n = pick(x, n_cand), room = n;
        if (!is_last) {
            MYTH_TRY(make_room(x, s, n, n_after, err));
            room = myth_seq_set_room(s, n_after);
            room = room ? room : 1;
        }
        if (room < n)
            *(myth_seq_room(s) <= room + n_after ? &x->n_cut_by_context : &x->n_cut_by_window) += 1;
        n = n < room ? n : room;
        add_set(x, n);
        if (x->o.on_set)
            x->o.on_set(x->o.user, x->member + x->newest, n);
        if (myth_cancelled(x->o.cancel))
            *why = MYTH_FINISH_CANCELLED;
        else if (is_last)
            *why = MYTH_FINISH_LENGTH;
        else if (myth_seq_set_room(s, 0) == 0)
            *why = MYTH_FINISH_CONTEXT;
        else
            MYTH_TRY(feed_set(x, s, r, err));
    }
fail:
    return st;
}

myth_status myth_sets_run(myth_sets *x, myth_seq *s, const int32_t *prompt, uint32_t n_prompt, myth_sets_result *out,
                          myth_error *err)
{
    myth_result r = {0};
    myth_status st = MYTH_OK;
    x->n_member = x->n_position = x->newest = x->n_cut_by_context = x->n_cut_by_window = x->n_cut_by_most =
        x->n_removed = 0;
    *out = (myth_sets_result){.member = x->member, .row_bytes = row_bytes(x->e), .why = MYTH_FINISH_REFUSED};
    if (n_prompt == 0)
        return myth_fail(err, MYTH_EARG, "an empty prompt");
    if (n_prompt > myth_seq_room(s))
        return MYTH_OK;
    st = myth_sets_feed_prompt(x->e, s, &x->o, x->k, prompt, n_prompt, &r, err);
    if (st == MYTH_OK && x->o.n_max)
        st = answer(x, s, &r, &out->why, err);
    else
        out->why = st == MYTH_ECANCEL ? MYTH_FINISH_CANCELLED : MYTH_FINISH_LENGTH;
    out->n_member = x->n_member;
    out->n_position = x->n_position;
    out->n_cut_by_context = x->n_cut_by_context;
    out->n_cut_by_window = x->n_cut_by_window;
    out->n_cut_by_most = x->n_cut_by_most;
    out->n_removed = x->n_removed;
    return st == MYTH_ECANCEL ? MYTH_OK : st;
}
