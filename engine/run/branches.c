/* branches.c - see sets.h. Every step decodes one token of each branch that goes on, in one forward. */
#include "sets.h"

#include "answer.h"

#include <math.h>
#include <string.h>

typedef struct {
    myth_seq *seq; /* NULL = it has ended */
    uint32_t row;  /* of the last forward; a branch that just left another has that one's */
    int32_t next;  /* chosen, to be fed */
} live;

struct myth_branches {
    myth_engine *e;
    myth_sets_opts o;
    myth_branch *branch; /* [n_member] */
    live *live;          /* [n_member] */
    int32_t *ids;        /* [n_member, n_max] */
    myth_batch_run *run; /* [n_member] */
    uint32_t k, n_branch, n_not_followed;
};

/* Best ids of a row: stop ids among them are no branches. */
static uint32_t k_of(const myth_sets_opts *o) { return o->n_member + MYTH_CHAT_STOP_MAX; }

void myth_branches_needs(myth_engine_opts *opts, const myth_sets_opts *o)
{
    if (opts->n_seq < o->n_member)
        opts->n_seq = o->n_member;
    if (opts->n_logit_rows < o->n_member)
        opts->n_logit_rows = o->n_member;
    if (opts->top_k < k_of(o))
        opts->top_k = k_of(o);
}

typedef struct {
    uint64_t branch, live, ids, run, all;
} sizes;

static sizes sizes_of(const myth_sets_opts *o)
{
    sizes z = {
        .branch = o->n_member * sizeof(myth_branch),
        .live = o->n_member * sizeof(live),
        .ids = (uint64_t)o->n_member * o->n_max * sizeof(int32_t),
        .run = o->n_member * sizeof(myth_batch_run),
    };
    z.all = sizeof(myth_branches) + z.branch + z.live + z.ids + z.run;
    return z;
}

uint64_t myth_branches_bytes(const myth_sets_opts *o) { return sizes_of(o).all; }

static void *take(const myth_engine *e, uint64_t bytes, bool *is_short)
{
    void *got = bytes ? myth_alloc(e->model->mem, MYTH_MEM_STAGING, "branches", bytes) : NULL;
    *is_short |= bytes && !got;
    return got;
}

myth_status myth_branches_open(myth_branches **out, myth_engine *e, const myth_sets_opts *o, myth_error *err)
{
    const myth_engine_opts *eo = &e->layout.opts;
    const sizes z = sizes_of(o);
    bool is_short = false;
    *out = NULL;
    if (o->n_member == 0 || o->n_member > MYTH_SET_MEMBERS || o->n_member > eo->n_seq ||
        o->n_member > eo->n_logit_rows || o->n_member > eo->n_ubatch || !(o->threshold > 0.0f))
        return myth_fail(err, MYTH_EARG,
                         "%u branches of probability %g and more: 1 to %d, above 0, and the engine was opened for %u "
                         "sequences, %u rows of logits and %u rows a step",
                         o->n_member, (double)o->threshold, MYTH_SET_MEMBERS, eo->n_seq, eo->n_logit_rows,
                         eo->n_ubatch);
    myth_branches *x = take(e, sizeof(*x), &is_short);
    if (!x)
        return myth_fail(err, MYTH_ENOMEM, "branches: out of memory for %zu bytes", sizeof(*x));
    *x = (myth_branches){
        .e = e,
        .o = *o,
        .branch = take(e, z.branch, &is_short),
        .live = take(e, z.live, &is_short),
        .ids = take(e, z.ids, &is_short),
        .run = take(e, z.run, &is_short),
        .k = k_of(o) < eo->top_k ? k_of(o) : eo->top_k,
    };
    if (is_short) {
        myth_branches_close(x);
        return myth_fail(err, MYTH_ENOMEM, "branches: out of memory for %llu bytes", (unsigned long long)z.all);
    }
    *out = x;
    return MYTH_OK;
}

void myth_branches_close(myth_branches *x)
{
    if (!x)
        return;
    myth_mem *mem = x->e->model->mem;
    myth_free(mem, x->run);
    myth_free(mem, x->ids);
    myth_free(mem, x->live);
    myth_free(mem, x->branch);
    myth_free(mem, x);
}

static int32_t *ids_of(myth_branches *x, uint32_t i) { return x->ids + (size_t)i * x->o.n_max; }

static void end(myth_branches *x, uint32_t i, myth_finish why)
{
    x->branch[i].why = why;
    myth_seq_close(x->live[i].seq);
    x->live[i].seq = NULL;
}

/* Takes a token into a branch, which then goes on or has ended. */
static void accept(myth_branches *x, uint32_t i, int32_t id, double logprob)
{
    myth_branch *b = &x->branch[i];
    b->logprob += logprob;
    if (myth_is_stop(x->o.stop_ids, x->o.n_stop, id)) {
        end(x, i, MYTH_FINISH_STOP);
        return;
    }
    ids_of(x, i)[b->n++] = id;
    x->live[i].next = id;
    if (b->n == x->o.n_max)
        end(x, i, MYTH_FINISH_LENGTH);
    else if (myth_seq_room(x->live[i].seq) == 0)
        end(x, i, MYTH_FINISH_CONTEXT);
}

/* Takes the best token of branch i's row into it, and the other likely ones into branches of their own. */
static myth_status choose(myth_branches *x, uint32_t i, const myth_result *r, myth_error *err)
{
    const int32_t *id = r->top_id + (size_t)x->live[i].row * r->k;
    const float *logit = r->top_logit + (size_t)x->live[i].row * r->k, lse = r->lse[x->live[i].row];
    if (id[0] < 0)
        return myth_engine_bad_logits(x->e, err);
    for (uint32_t k = 1; k < r->k && id[k] >= 0; k++) {
        const double logprob = (double)logit[k] - (double)lse;
        if (exp(logprob) < (double)x->o.threshold)
            break;
        if (myth_is_stop(x->o.stop_ids, x->o.n_stop, id[k]))
            continue;
        if (x->n_branch == x->o.n_member) {
            x->n_not_followed++;
            continue;
        }
        const uint32_t to = x->n_branch;
        const myth_status st = myth_seq_fork(&x->live[to].seq, x->live[i].seq, err);
        if (st != MYTH_OK)
            return st;
        x->branch[to] = x->branch[i];
        x->branch[to].ids = ids_of(x, to);
        x->branch[to].parent = i;
        x->branch[to].from = x->branch[i].n;
        memcpy(ids_of(x, to), ids_of(x, i), x->branch[i].n * sizeof(int32_t));
        x->n_branch++;
        accept(x, to, id[k], logprob);
    }
    accept(x, i, id[0], (double)logit[0] - (double)lse);
    return MYTH_OK;
}

/* Asks every branch that goes on, the likeliest first, what follows it. */
static myth_status choose_all(myth_branches *x, const myth_result *r, myth_error *err)
{
    const uint32_t n = x->n_branch;
    bool is_asked[MYTH_SET_MEMBERS] = {false};
    for (;;) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (x->live[i].seq && !is_asked[i] && (best == n || x->branch[i].logprob > x->branch[best].logprob))
                best = i;
        if (best == n)
            return MYTH_OK;
        is_asked[best] = true;
        const myth_status st = choose(x, best, r, err);
        if (st != MYTH_OK)
            return st;
    }
}

/* Decodes one token of each branch that goes on; 0 rows when none does. */
static myth_status step(myth_branches *x, myth_result *r, uint32_t *n_row, myth_error *err)
{
    *n_row = 0;
    for (uint32_t i = 0; i < x->n_branch; i++)
        if (x->live[i].seq) {
            x->live[i].row = *n_row;
            x->run[(*n_row)++] = (myth_batch_run){
                .seq = x->live[i].seq,
                .token = &x->live[i].next,
                .n = 1,
                .want = MYTH_WANT_LOGITS,
            };
        }
    if (*n_row == 0)
        return MYTH_OK;
    return myth_forward(x->e, &(myth_batch){.run = x->run, .n_run = *n_row, .is_decode = true, .top_k = x->k}, r, err);
}

myth_status myth_branches_run(myth_branches *x, const int32_t *prompt, uint32_t n_prompt, myth_branches_result *out,
                              myth_error *err)
{
    myth_result r = {0};
    myth_status st = MYTH_OK;
    uint32_t n_row = 1;
    memset(x->live, 0, x->o.n_member * sizeof(*x->live));
    x->n_branch = 1;
    x->n_not_followed = 0;
    x->branch[0] = (myth_branch){.ids = ids_of(x, 0)};
    *out = (myth_branches_result){.branch = x->branch, .why = MYTH_FINISH_REFUSED};
    if (n_prompt == 0)
        return myth_fail(err, MYTH_EARG, "an empty prompt");
    MYTH_TRY(myth_seq_open(&x->live[0].seq, x->e, err));
    if (n_prompt > myth_seq_room(x->live[0].seq))
        goto fail;
    out->why = MYTH_FINISH_LENGTH;
    MYTH_TRY(myth_sets_feed_prompt(x->e, x->live[0].seq, &x->o, x->k, prompt, n_prompt, &r, err));
    while (n_row && x->o.n_max) {
        MYTH_TRY(choose_all(x, &r, err));
        if (myth_cancelled(x->o.cancel)) {
            out->why = MYTH_FINISH_CANCELLED;
            break;
        }
        MYTH_TRY(step(x, &r, &n_row, err));
    }
    for (uint32_t i = 0; i < x->n_branch; i++) /* those that a cancel left */
        if (x->live[i].seq)
            end(x, i, out->why);
    out->n_branch = x->n_branch;
    out->n_not_followed = x->n_not_followed;
    out->why = out->why == MYTH_FINISH_CANCELLED ? out->why : x->branch[0].why;
fail:
    for (uint32_t i = 0; i < x->o.n_member; i++)
        if (x->live[i].seq)
            myth_seq_close(x->live[i].seq);
    if (st == MYTH_ECANCEL) {
        out->why = MYTH_FINISH_CANCELLED;
        st = MYTH_OK;
    }
    return st;
}
