/* forward.c - runs a batch of tokens of any sequences through the model, in four stages:
 *
 *   1 check      every token and everything that is wanted; record a decode step if its graph is missing
 *   2 reserve    take the pages and rings that the batch needs; until here an error changes nothing
 *   3 compute    micro-batches of at most n_ubatch rows: embedding, rope tables, layers, rows that were wanted
 *   4 reduce     one reduction over the logits of all rows that want them
 *
 * A device that fails in 3 or 4 leaves rows that nobody knows: the sequences give up all that the forward appended, and
 * it can be done again. A cancel between the ops of the layers does the same to the last micro-batch. */
#include "offload.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct {
    myth_engine *e;
    const myth_batch *b;
    myth_part *part;    /* the part whose layers run now */
    uint32_t n_logit;   /* rows gathered into head_x so far */
    uint32_t first;     /* the micro-batch's first row: its token index in the batch, ... */
    uint32_t first_run; /* ... the number of its run ... */
    uint32_t first_at;  /* ... and its place in that run */
    uint32_t n_capture; /* rows of the micro-batch whose residuals are summed */
    bool has_hidden;
    bool is_bad; /* a full row of logits holds something not finite */
} forward_state;

static uint32_t n_tokens(const myth_batch *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->n_run; k++)
        n += b->run[k].n;
    return n;
}

/* What token `at` of run k wants; it is token i of the batch. */
static uint8_t want_of(const myth_batch *b, uint32_t k, uint32_t at, uint32_t i)
{
    const myth_batch_run *run = &b->run[k];
    return (uint8_t)(run->want | (at + 1 == run->n ? run->want_last : 0) | (b->want ? b->want[i] : 0));
}

/* What row r of the micro-batch wants. */
static uint8_t want_of_row(const forward_state *f, uint32_t r)
{
    const myth_step_index *x = &f->e->idx;
    if (x->set)
        return want_of(f->b, 0, r, r);
    const uint32_t k = (uint32_t)x->row_run[r], row0 = (uint32_t)x->runs[(size_t)k * MYTH_RUN_WIDTH + MYTH_RUN_ROW0];
    return want_of(f->b, f->first_run + k, r - row0 + (k == 0 ? f->first_at : 0), f->first + r);
}

/* ---- 1: check ---- */

static myth_status check_ids(const myth_engine *e, const char *what, const int32_t *id, uint64_t n, myth_error *err)
{
    const uint32_t n_vocab = e->model->config.n_vocab;
    for (uint64_t i = 0; i < n; i++)
        if (id[i] < 0 || (uint32_t)id[i] >= n_vocab)
            return myth_fail(err, MYTH_EARG, "%s %d is outside the vocabulary of %u: give ids below that", what, id[i],
                             n_vocab);
    return MYTH_OK;
}

static myth_status check_run(myth_engine *e, const myth_batch *b, uint32_t k, myth_error *err)
{
    myth_status st = MYTH_OK;
    const myth_batch_run *run = &b->run[k];
    myth_seq *s = run->seq;
    const uint32_t n = run->n;
    if (!s || s->e != e || !s->is_open)
        return myth_fail(err, MYTH_EARG, "run %u has no open sequence of this engine", k);
    if (run->n_mass && !myth_batch_is_set(b))
        return myth_fail(err, MYTH_EARG, "n_mass is for sets");
    if (myth_batch_is_set(b) || s->n_extra)
        MYTH_TRY(myth_seq_check_set(s, b, err));
    if (n == 0)
        return myth_fail(err, MYTH_EARG, "run %u of the batch has no tokens", k);
    if (e->model->config.is_bidirectional && (!run->is_ephemeral || s->kv->n_pos || b->is_decode))
        return myth_fail_remedy(err, MYTH_EUNSUPPORTED, MYTH_REMEDY_EMBED_TEXTS, "%s makes embeddings of whole texts",
                                myth_weights_name(e->model->weights));
    if (e->layout.opts.no_cache && (!run->is_ephemeral || b->is_decode))
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "run %u needs a cache: with no_cache all runs are ephemeral, and none is a decode step", k);
    if (run->is_ephemeral) {
        if (n > e->layout.opts.n_ubatch)
            return myth_fail_option(err, MYTH_EFULL, "n_ubatch",
                                    "an ephemeral run of %u tokens does not fit a micro-batch of %u: raise n_ubatch", n,
                                    e->layout.opts.n_ubatch);
        s->has_ephemeral = true;
    } else {
        if (s->n_new)
            return myth_fail(err, MYTH_EARG, "run %u extends a sequence that another run extends too", k);
        s->n_new = n;
    }
    if (s->n_new && s->has_ephemeral)
        return myth_fail(err, MYTH_EARG, "a sequence is extended and branched off in one forward");
    if (b->is_decode && n != 1 && !run->set)
        return myth_fail(err, MYTH_EARG, "a decode step takes one token per sequence, got %u", n);
    if (n > myth_kv_room(&e->kv, s->kv))
        return myth_fail_option(err, MYTH_EFULL, "n_ctx",
                                "context full: %u tokens and %u more, room for %u; raise n_ctx %u", myth_kv_len(s->kv),
                                n, myth_kv_room(&e->kv, s->kv), e->layout.opts.n_ctx);
    MYTH_TRY(check_ids(e, "token", run->token, n, err));
fail:
    return st;
}

/* Checks that the engine and the batch can deliver what token i wants. */
static myth_status check_want(const myth_engine *e, const myth_batch *b, uint8_t want, uint32_t i, myth_error *err)
{
    const myth_engine_opts *o = &e->layout.opts;
    uint8_t hidden = want & (MYTH_WANT_HIDDEN | MYTH_WANT_FINAL), full = want & MYTH_WANT_FULL_LOGITS;
    int32_t label = b->capture_label ? b->capture_label[i] : -1;
    if (want & ~(MYTH_WANT_LOGITS | MYTH_WANT_FULL_LOGITS | MYTH_WANT_HIDDEN | MYTH_WANT_FINAL))
        return myth_fail(err, MYTH_EARG, "token %u wants %u: bits of MYTH_WANT_* expected", i, want);
    if ((full && !o->want_full_logits) || (hidden && !o->want_hidden))
        return myth_fail(err, MYTH_EARG, "token %u wants %s: open the engine with %s", i,
                         full && !o->want_full_logits ? "full logits" : "hidden rows",
                         full && !o->want_full_logits ? "want_full_logits" : "want_hidden");
    if ((full && !b->on_full_logits) || (hidden && !b->on_hidden))
        return myth_fail(err, MYTH_EARG, "token %u wants rows handed over, but %s is NULL", i,
                         full && !b->on_full_logits ? "on_full_logits" : "on_hidden");
    if (e->model->config.is_bidirectional && want & (MYTH_WANT_LOGITS | MYTH_WANT_FULL_LOGITS))
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s makes embeddings: it has no logits",
                         myth_weights_name(e->model->weights));
    if (label < -1 || label >= (int64_t)o->n_capture_label)
        return myth_fail(err, MYTH_EARG, "capture label %d: the engine was opened for %u", label, o->n_capture_label);
    return MYTH_OK;
}

/* Checks the masks, biases and asked ids of n_logit rows. */
static myth_status check_reduction(const myth_engine *e, const myth_batch *b, uint32_t n_logit, myth_error *err)
{
    const myth_engine_opts *o = &e->layout.opts;
    if (n_logit > o->n_logit_rows)
        return myth_fail(err, MYTH_EFULL, "%u rows want logits, room for %u", n_logit, o->n_logit_rows);
    if (b->top_k > o->top_k || b->n_ask > o->n_ask || (b->mask_idx && b->n_masks > o->n_mask))
        return myth_fail(err, MYTH_EFULL, "top_k %u, n_ask %u, masks %u: the engine was opened for %u, %u and %u",
                         b->top_k, b->n_ask, b->mask_idx ? b->n_masks : 0, o->top_k, o->n_ask, o->n_mask);
    if (b->mask_idx && (b->n_masks == 0 || !b->masks))
        return myth_fail(err, MYTH_EARG, "mask_idx is given, but masks is NULL or n_masks is 0");
    for (uint32_t r = 0; b->mask_idx && r < n_logit; r++)
        if (b->mask_idx[r] < -1 || b->mask_idx[r] >= (int64_t)b->n_masks)
            return myth_fail(err, MYTH_EARG, "row %u wants mask %d of %u", r, b->mask_idx[r], b->n_masks);
    for (uint32_t r = 0; b->bias_off && r <= n_logit; r++)
        if (b->bias_off[r] < (r ? b->bias_off[r - 1] : 0) || (r == 0 && b->bias_off[0] != 0))
            return myth_fail(err, MYTH_EARG, "bias_off starts at 0 and never falls; entry %u is %d", r, b->bias_off[r]);
    uint32_t n_bias = b->bias_off ? (uint32_t)b->bias_off[n_logit] : 0;
    if (n_bias > o->n_bias)
        return myth_fail(err, MYTH_EFULL, "%u biases: the engine was opened for %u", n_bias, o->n_bias);
    if ((n_bias && (!b->bias_id || !b->bias)) || (b->n_ask && n_logit && !b->ask_id))
        return myth_fail(err, MYTH_EARG, "%u biases and %u asked ids, but bias_id, bias or ask_id is NULL", n_bias,
                         b->n_ask);
    const myth_status st = check_ids(e, "bias: id", b->bias_id, n_bias, err);
    return st == MYTH_OK ? check_ids(e, "asked id", b->ask_id, (uint64_t)n_logit * b->n_ask, err) : st;
}

/* *wants: what is asked of any token. */
static myth_status check_wants(const myth_engine *e, const myth_batch *b, uint8_t *wants, myth_error *err)
{
    uint32_t n_logit = 0, i = 0;
    *wants = 0;
    if (b->hook >= MYTH_HOOK_N || (b->hook && b->capture_label && e->layout.capture_idx[0] >= 0))
        return myth_fail(err, MYTH_EARG,
                         b->hook >= MYTH_HOOK_N ? "hook %d is none of myth_hook"
                                                : "hook %d has layers from 1 on, and layer 0 is captured",
                         (int)b->hook);
    for (uint32_t k = 0; k < b->n_run; k++)
        for (uint32_t at = 0; at < b->run[k].n; at++, i++) {
            const uint8_t want = want_of(b, k, at, i);
            myth_status st = check_want(e, b, want, i, err);
            if (st != MYTH_OK)
                return st;
            n_logit += want & MYTH_WANT_LOGITS;
            *wants |= want;
        }
    return check_reduction(e, b, n_logit, err);
}

static myth_status check_batch(myth_engine *e, const myth_batch *b, uint8_t *wants, myth_error *err)
{
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        e->seq[i].n_new = e->seq[i].n_wrote = 0;
        e->seq[i].has_ephemeral = false;
    }
    myth_status st = check_wants(e, b, wants, err);
    for (uint32_t k = 0; k < b->n_run && st == MYTH_OK; k++)
        st = check_run(e, b, k, err);
    return st;
}

/* ---- 2: reserve ---- */

myth_status myth_forward_reserve(myth_engine *e, myth_error *err)
{
    uint32_t pages = 0, rings = 0;
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        myth_seq *s = &e->seq[i];
        s->need = myth_kv_need(&e->kv, s->kv, s->n_new);
        myth_kv_leave(&e->kv, s->kv, &s->need);
        pages += s->need.n_page;
        rings += s->need.n_ring;
    }
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++)
        myth_kv_return(&e->kv, e->seq[i].kv, &e->seq[i].need);
    if (pages > e->kv.n_free_page || rings > e->kv.n_free_ring)
        return myth_fail(err, MYTH_EFULL, "cache full: needs %u pages and %u rings, %u and %u are free", pages, rings,
                         e->kv.n_free_page, e->kv.n_free_ring);
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        myth_seq *s = &e->seq[i];
        myth_kv_copy page, ring;
        if (s->n_new) {
            myth_kv_grow(&e->kv, s->kv, s->n_new, &page, &ring);
            myth_engine_copy_page(e, false, page);
            myth_engine_copy_page(e, true, ring);
            s->is_table_stale = s->is_table_stale || s->need.n_page || s->need.n_ring;
        }
        if (s->is_table_stale && (s->n_new || s->has_ephemeral)) {
            myth_engine_write_table(e, s);
            s->is_table_stale = false;
        }
    }
    return MYTH_OK;
}

/* ---- 3: micro-batches ---- */

_Static_assert((int)MYTH_SEQ_GAPS == (int)MYTH_GAP_MAX, "a run's record holds the gaps of a sequence");
_Static_assert((int)MYTH_RUN_GAPS + (int)MYTH_GAP_WIDTH * (int)MYTH_GAP_MAX <= (int)MYTH_RUN_WIDTH, "and has room");

void myth_forward_put_run(myth_engine *e, const myth_seq *s, const int32_t *token, uint32_t n, bool is_ephemeral)
{
    myth_step_index *x = &e->idx;
    uint32_t pos0 = s->kv->n_pos;
    int32_t *run = x->runs + (size_t)x->n_run * MYTH_RUN_WIDTH;
    memset(run, 0, MYTH_RUN_WIDTH * sizeof *run);
    run[MYTH_RUN_ROW0] = (int32_t)x->n_rows;
    run[MYTH_RUN_N_ROWS] = (int32_t)n;
    run[MYTH_RUN_POS0] = (int32_t)pos0;
    run[MYTH_RUN_SLOT] = (int32_t)s->slot;
    run[MYTH_RUN_FLAGS] = is_ephemeral ? MYTH_RUN_EPHEMERAL : 0;
    run[MYTH_RUN_N_GAP] = (int32_t)s->kv->n_gap;
    for (uint32_t i = 0; i < s->kv->n_gap; i++) {
        int32_t *gap = run + MYTH_RUN_GAPS + i * MYTH_GAP_WIDTH;
        gap[MYTH_GAP_FROM] = (int32_t)s->kv->gap[i].from;
        gap[MYTH_GAP_TO] = (int32_t)s->kv->gap[i].to;
        gap[MYTH_GAP_GONE] = (int32_t)myth_kv_gone(&e->kv, s->kv, i);
    }
    for (uint32_t j = 0; j < n; j++) {
        x->id[x->n_rows + j] = token[j];
        x->pos[x->n_rows + j] = (int32_t)(pos0 + j);
        x->row_run[x->n_rows + j] = (int32_t)x->n_run;
    }
    x->n_rows += n;
    x->n_run++;
}

/* Adds tokens to the micro-batch, from token *at of run *k on, until it is full or the batch ends; *k and *at then name
 * the next token. Returns how many were added. */
static uint32_t add_rows(myth_engine *e, const myth_batch *b, uint32_t *k, uint32_t *at)
{
    const uint32_t n_ubatch = e->layout.opts.n_ubatch, before = e->idx.n_rows;
    while (*k < b->n_run && e->idx.n_rows < n_ubatch) {
        const myth_batch_run *run = &b->run[*k];
        const uint32_t room = n_ubatch - e->idx.n_rows;
        uint32_t n = run->n - *at;
        if (n > room && run->is_ephemeral) /* an ephemeral run is never split */
            break;
        n = n < room ? n : room;
        if (myth_batch_is_set(b))
            myth_forward_put_set(e, run);
        else
            myth_forward_put_run(e, run->seq, run->token + *at, n, run->is_ephemeral);
        *at += n;
        if (*at == run->n) {
            *at = 0;
            ++*k;
        }
    }
    return e->idx.n_rows - before;
}

/* Appends the micro-batch's tokens to their sequences, except ephemeral ones. */
static void append_tokens(const forward_state *f)
{
    const myth_step_index *x = &f->e->idx;
    for (uint32_t i = 0; i < f->e->layout.opts.n_seq; i++)
        f->e->seq[i].n_last = 0;
    for (uint32_t k = 0; k < (x->set ? 1 : x->n_run); k++) {
        const myth_batch_run *run = &f->b->run[f->first_run + k];
        const uint32_t n = x->set ? run->n : (uint32_t)x->runs[(size_t)k * MYTH_RUN_WIDTH + MYTH_RUN_N_ROWS];
        if (run->is_ephemeral)
            continue;
        if (x->set)
            myth_seq_place(run->seq, myth_kv_len(run->seq->kv), n);
        memcpy(run->seq->token + myth_kv_len(run->seq->kv), run->token + (k == 0 ? f->first_at : 0),
               (size_t)n * sizeof *run->token);
        myth_kv_wrote(run->seq->kv, n);
        run->seq->n_wrote += n;
        run->seq->n_last += n;
    }
}

void myth_forward_write_index(const myth_engine *e, const myth_part *p)
{
    const myth_step_index *x = &e->idx;
    myth_index_write(p, p->index.id, x->id, x->n_rows);
    myth_index_write(p, p->index.pos, x->pos, x->n_rows);
    myth_index_write(p, p->index.row_run, x->row_run, x->n_rows);
    myth_index_write(p, p->index.runs, x->runs, (x->n_run + (x->set == MYTH_SET_ISOLATED)) * MYTH_RUN_WIDTH);
    if (x->set)
        myth_index_write(p, p->index.place, x->place, x->n_rows);
}

void myth_forward_run_layers(const myth_engine *e, myth_part *p)
{
    const myth_config *c = &e->model->config;
    myth_step *st = &p->step;
    bool is_first = p == e->part, is_last = p == myth_engine_last(e);
    st->pend = st->w_post = (myth_view){0};
    st->x_scale = 0.0f;
    st->pos = p->index.pos; /* the last step may have been narrowed to its kept rows (step.h) */
    st->row_run = p->index.row_run;
    st->is_set = e->idx.set != MYTH_SET_NONE;
    st->place = st->is_set ? p->index.place : st->pos;
    st->window = st->is_set ? e->idx.window : e->layout.window;
    st->merged = st->runs;
    st->n_merged = st->n_run;
    st->n_mass = st->is_set ? e->idx.n_mass : 0;
    st->mass_first = st->n_mass ? (uint32_t)e->idx.runs[MYTH_RUN_POS0] - st->n_mass : 0;
    if (e->idx.set == MYTH_SET_ISOLATED) { /* attention reads a run for each row; the cache takes them as one */
        st->merged.off += 4 * (uint64_t)st->n_run * MYTH_RUN_WIDTH;
        st->n_merged = 1;
    }
    if (is_first)
        myth_embed_gather(p->stream, &(struct myth_embed_gather_args){
                                         .y = st->x,
                                         .table = e->w->embed,
                                         .ids = st->ids,
                                         .n_rows = st->n_rows,
                                         .dim = c->d_model,
                                         .n_vocab = c->n_vocab,
                                         .scale = e->embed_scale,
                                     });
    myth_step_rope(st);
    if (is_first && c->n_ple)
        myth_step_ple_inputs(st);
    if (is_first)
        myth_step_captured(st, 0);
    myth_family_get(c->family)->layers(st);
    if (st->before_layer)
        st->before_layer(st->owner, st->layer1);
    if (!is_last)
        myth_rms_norm(p->stream, &(struct myth_rms_norm_args){
                                     .y = st->xn,
                                     .x = st->x,
                                     .pend = st->pend,
                                     .w_post = st->w_post,
                                     .x_scale = st->x_scale,
                                     .w = e->w->layer[p->layout->layer1 - 1].attn_norm,
                                     .n_rows = st->n_rows,
                                     .dim = c->d_model,
                                     .eps = c->eps,
                                 });
}

/* Whether the layers run as a recorded graph. Only decode steps do: two of them with the same number of rows have the
 * same arguments. A step that hands rows to the host or moves offloaded layers cannot be recorded. */
static bool is_replayed(const forward_state *f, const myth_part *p, bool has_capture)
{
    return f->b->is_decode && !f->has_hidden && !myth_batch_is_set(f->b) && !(has_capture && p->layout->n_capture) &&
           !p->step.before_layer && myth_device_records(p->dev);
}

static bool has_label(const forward_state *f, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; f->b->capture_label && i < first + n; i++)
        if (f->b->capture_label[i] >= 0)
            return true;
    return false;
}

/* Records a decode step of n rows on every part whose graph has another number of rows. Called before tokens are
 * appended and before anything is issued, so that a failure leaves the sequences as they are. */
static myth_status record_parts(forward_state *f, uint32_t first, uint32_t n, myth_error *err)
{
    myth_engine *e = f->e;
    bool has_capture = has_label(f, first, n);
    for (uint32_t i = 0; i < e->n_part; i++) {
        myth_part *p = &e->part[i];
        myth_step *st = &p->step;
        if (!is_replayed(f, p, has_capture) || (p->graph && p->graph_rows == n && !p->graph_is_run))
            continue;
        if (p->graph)
            myth_graph_close(p->graph);
        p->graph = NULL;
        st->n_rows = st->n_run = st->n_keep = n;
        st->is_decode = true;
        st->capture = NULL;
        /* a device that fails to record may fall back to a simpler way, and says so by still being able to record */
        while (!p->graph && myth_device_records(p->dev)) {
            myth_stream_begin_record(p->stream);
            myth_forward_run_layers(e, p);
            myth_status result = myth_stream_end_record(&p->graph, p->stream, err);
            if (result != MYTH_OK)
                return result;
        }
        p->graph_rows = n;
        p->graph_is_run = false;
        p->graph_end.pend = st->pend;
        p->graph_end.w_post = st->w_post;
        p->graph_end.x_scale = st->x_scale;
    }
    return MYTH_OK;
}

static void run_or_replay(const forward_state *f, myth_part *p)
{
    const myth_engine *e = f->e;
    myth_step *st = &p->step;
    if (!p->graph || !is_replayed(f, p, f->n_capture > 0)) { /* no graph: the device refused to record */
        myth_forward_run_layers(e, p);
        return;
    }
    myth_stream_replay(p->stream, p->graph);
    st->pend = p->graph_end.pend;
    st->w_post = p->graph_end.w_post;
    st->x_scale = p->graph_end.x_scale;
}

/* Copies the residual (of 3n all of them) and the per-layer inputs to the next part's device, through host memory. */
static void copy_to_next_part(myth_engine *e, const myth_part *from, const myth_part *to)
{
    const myth_config *c = &e->model->config;
    const uint64_t bytes = 4 * (uint64_t)e->idx.n_rows * c->d_model * (c->n_altup ? c->n_altup : 1),
                   ple = 4 * (uint64_t)e->idx.n_rows * c->n_layer * c->n_ple;
    unsigned char *host = e->host[MYTH_HOST_cross];
    myth_stream_read(from->stream, host, from->step.x, bytes);
    if (ple)
        myth_stream_read(from->stream, host + bytes, from->step.ple, ple);
    if (myth_stream_sync(from->stream, &e->first_failure) != MYTH_OK)
        return;
    myth_stream_write(to->stream, to->step.x, host, bytes);
    if (ple)
        myth_stream_write(to->stream, to->step.ple, host + bytes, ple);
}

/* The token of the micro-batch that row i of the step belongs to. */
static uint32_t token_of_row(const forward_state *f, uint32_t i)
{
    const myth_step *st = &f->part->step;
    return st->n_rows < f->e->idx.n_rows ? (uint32_t)f->e->idx.keep[i] : i; /* fewer rows when it was narrowed */
}

/* Chooses the rows that go through the layers without keys and values of their own: only rows that want something need
 * to. All rows are kept when hidden rows or sums are wanted, and where the option or offloading forbids narrowing. */
static void choose_kept(forward_state *f)
{
    myth_step_index *x = &f->e->idx;
    const myth_part *last = myth_engine_last(f->e);
    x->n_keep = x->n_rows;
    if (!x->keep || f->b->is_decode || x->set || f->has_hidden || f->n_capture || f->e->layout.opts.no_kv_skip ||
        last->step.before_layer)
        return;
    x->n_keep = 0;
    for (uint32_t r = 0; r < x->n_rows; r++)
        if (want_of_row(f, r)) {
            x->keep_pos[x->n_keep] = x->pos[r];
            x->keep_row_run[x->n_keep] = x->row_run[r];
            x->keep[x->n_keep++] = (int32_t)r;
        }
}

static void write_kept(const myth_engine *e, const myth_part *p)
{
    const myth_step_index *x = &e->idx;
    if (x->n_keep == x->n_rows)
        return;
    myth_index_write(p, p->index.keep, x->keep, x->n_keep);
    myth_index_write(p, p->index.keep_pos, x->keep_pos, x->n_keep);
    myth_index_write(p, p->index.keep_row_run, x->keep_row_run, x->n_keep);
}

/* Writes the numbers of the step's rows that want `bit` to the running part's index buffer. Returns how many. */
static uint32_t choose_rows(forward_state *f, uint8_t bit)
{
    myth_engine *e = f->e;
    const myth_part *p = f->part;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->step.n_rows; i++)
        if (want_of_row(f, token_of_row(f, i)) & bit)
            e->idx.rows[n++] = (int32_t)i;
    if (n)
        myth_index_write(p, p->index.rows, e->idx.rows, n);
    return n;
}

void myth_forward_gather(const myth_engine *e, const myth_part *p, myth_view y, myth_view w, uint32_t n)
{
    const myth_config *c = &e->model->config;
    myth_gather_norm(p->stream, &(struct myth_gather_norm_args){
                                    .y = y,
                                    .x = p->step.x,
                                    .pend = p->step.pend,
                                    .w_post = p->step.w_post,
                                    .x_scale = p->step.x_scale,
                                    .w = w,
                                    .rows = p->index.rows,
                                    .n_gather = n,
                                    .dim = c->d_model,
                                    .eps = c->eps,
                                });
}

/* Passes the wanted rows of the residual after `layer` to the caller's on_hidden, normed with w unless w is empty.
 * After a failure, which a sync has cleared from its stream, nothing that is computed is a row any more. */
static void hand_over_rows(forward_state *f, uint8_t want, uint32_t layer, myth_view w)
{
    myth_engine *e = f->e;
    if (e->first_failure.code != MYTH_OK)
        return;
    uint32_t d = e->model->config.d_model, n = choose_rows(f, want);
    float *host = e->host[MYTH_HOST_row];
    if (n == 0)
        return;
    myth_view y = myth_part_view(f->part, MYTH_BUF_hidden, 0, MYTH_F32);
    myth_forward_gather(e, f->part, y, w, n);
    myth_stream_read(f->part->stream, host, y, 4 * (uint64_t)n * d);
    if (myth_stream_sync(f->part->stream, &e->first_failure) != MYTH_OK)
        return;
    for (uint32_t i = 0; i < n; i++)
        f->b->on_hidden(f->b->user, f->first + token_of_row(f, (uint32_t)e->idx.rows[i]), layer, host + (size_t)i * d,
                        d);
}

static void capture(void *user, uint32_t layer)
{
    forward_state *f = user;
    if (f->n_capture)
        myth_capture_add(f->e, f->part, layer, f->n_capture);
    if (f->has_hidden)
        hand_over_rows(f, MYTH_WANT_HIDDEN, layer, (myth_view){0});
}

/* Computes full rows of logits one at a time and passes each to the caller. The rows' inputs are kept in xn, which is
 * free after the layers. */
static void hand_over_full(forward_state *f)
{
    myth_engine *e = f->e;
    const myth_part *p = f->part;
    const myth_step *st = &p->step;
    const myth_config *c = &e->model->config;
    const uint32_t n = e->first_failure.code == MYTH_OK ? choose_rows(f, MYTH_WANT_FULL_LOGITS) : 0;
    float *host = e->host[MYTH_HOST_row];
    if (n == 0)
        return;
    myth_forward_gather(e, p, st->xn, e->w->output_norm, n);
    myth_view y = myth_part_view(p, MYTH_BUF_full, 0, MYTH_F32);
    for (uint32_t i = 0; i < n; i++) {
        myth_head_logits(p->stream,
                         &(struct myth_head_logits_args){
                             .y = y,
                             .x = myth_view_at(st->xn.buf, st->xn.off + 4 * (uint64_t)i * c->d_model, MYTH_F32),
                             .w = e->w->head,
                             .dim = c->d_model,
                             .n_vocab = c->n_vocab,
                             .softcap = c->final_softcap,
                         });
        myth_stream_read(p->stream, host, y, 4 * (uint64_t)c->n_vocab);
        if (myth_stream_sync(p->stream, &e->first_failure) != MYTH_OK)
            return;
        f->b->on_full_logits(f->b->user, f->first + token_of_row(f, (uint32_t)e->idx.rows[i]), host, c->n_vocab);
        for (uint32_t v = 0; v < c->n_vocab && !f->is_bad; v++)
            f->is_bad = !isfinite(host[v]);
    }
}

static void micro_batch(forward_state *f)
{
    myth_engine *e = f->e;
    const myth_config *c = &e->model->config;
    f->n_capture =
        f->b->capture_label && e->layout.n_capture ? myth_capture_choose(e, f->b->capture_label + f->first) : 0;
    choose_kept(f);
    if (e->idx.set && e->idx.n_mass)
        myth_forward_clear_mass(e);
    for (uint32_t i = 0; i < e->n_part && e->first_failure.code == MYTH_OK; i++) {
        myth_part *p = f->part = &e->part[i];
        myth_step *st = &p->step;
        st->n_rows = e->idx.n_rows;
        st->n_run = e->idx.n_run;
        st->n_keep = e->idx.n_keep;
        st->is_decode = f->b->is_decode;
        st->capture = f->has_hidden || (f->n_capture && p->layout->n_capture) ? capture : NULL;
        st->user = f;
        st->hook = f->b->hook;
        myth_forward_write_index(e, p);
        if (i + 1 == e->n_part)
            write_kept(e, p);
        if (i == 0)
            myth_ple_bring(e, p);
        if (f->n_capture && p->layout->n_capture)
            myth_capture_write_index(e, p, f->n_capture);
        if (i > 0)
            copy_to_next_part(e, p - 1, p);
        myth_stream_watch(p->stream, f->b->cancel);
        run_or_replay(f, p);
        myth_stream_watch(p->stream, NULL);
    }
    if (e->idx.set && e->idx.n_mass)
        myth_forward_take_mass(e);
    if (e->first_failure.code != MYTH_OK)
        return;
    uint32_t n = choose_rows(f, MYTH_WANT_LOGITS);
    if (n)
        myth_forward_gather(e, f->part,
                            myth_part_view(f->part, MYTH_BUF_head_x, 4 * (uint64_t)f->n_logit * c->d_model, MYTH_F32),
                            e->w->output_norm, n);
    f->n_logit += n;
    hand_over_full(f);
    hand_over_rows(f, MYTH_WANT_FINAL, c->n_layer + 1, e->w->output_norm);
}

/* ---- 4: reduce ---- */

/* Reduces rows first .. first + n - 1 of head_x. The results of row r go to index r of the device's and the host's
 * arrays. With b, the rows are those of the present batch, under its masks and biases; without, they are rows of the
 * last batch, reduced again under `mask`. */
static void reduce(myth_engine *e, uint32_t first, uint32_t n, uint32_t k, const myth_batch *b, const uint32_t *mask,
                   bool is_decode)
{
    const myth_config *c = &e->model->config;
    const myth_part *p = myth_engine_last(e);
    uint32_t rows = e->layout.opts.n_logit_rows, stride = e->k_result, n_ask = b ? b->n_ask : 0;
    uint32_t words = (e->n_vocab_choice + 31) / 32;
    uint64_t mask_off = 4 * (uint64_t)e->layout.opts.n_mask * e->layout.mask_words;
    struct myth_head_topk_args a = {
        .x = myth_part_view(p, MYTH_BUF_head_x, 4 * (uint64_t)first * c->d_model, MYTH_F32),
        .w = e->w->head,
        .n_rows = n,
        .dim = c->d_model,
        .n_vocab = e->n_vocab_choice,
        .n_total = c->n_vocab,
        .k = k,
        .softcap = c->final_softcap,
        .is_decode = is_decode,
        .top_id = myth_part_view(p, MYTH_BUF_top_id, 4 * (uint64_t)first * stride, MYTH_I32),
        .top_logit = myth_part_view(p, MYTH_BUF_top_logit, 4 * (uint64_t)first * stride, MYTH_F32),
        .lse = myth_part_view(p, MYTH_BUF_row_stat, 4 * (uint64_t)first, MYTH_F32),
        .entropy = myth_part_view(p, MYTH_BUF_row_stat, 4 * ((uint64_t)rows + first), MYTH_F32),
    };
    if (mask || (b && b->mask_idx)) {
        static const int32_t zero = 0;
        a.masks = myth_part_view(p, MYTH_BUF_mask, 0, MYTH_I32);
        a.mask_idx = myth_part_view(p, MYTH_BUF_mask, mask_off, MYTH_I32);
        for (uint32_t i = 0; i < (mask ? 1 : b->n_masks); i++) /* the op's masks are shorter than the batch's */
            myth_stream_write(p->stream, myth_part_view(p, MYTH_BUF_mask, 4 * (uint64_t)words * i, MYTH_I32),
                              mask ? mask : b->masks + (size_t)i * e->layout.mask_words, 4 * (uint64_t)words);
        myth_stream_write(p->stream, a.mask_idx, mask ? &zero : b->mask_idx, 4 * (uint64_t)n);
    }
    if (b)
        e->has_result_bias = b->bias_off && b->bias_off[n];
    if (e->has_result_bias) { /* a row that is reduced again keeps its biases, which are still on the device */
        uint64_t id_off = 4 * ((uint64_t)rows + 1), val_off = id_off + 4 * (uint64_t)e->layout.opts.n_bias;
        a.bias_off = myth_part_view(p, MYTH_BUF_bias, 4 * (uint64_t)first, MYTH_I32);
        a.bias_id = myth_part_view(p, MYTH_BUF_bias, id_off, MYTH_I32);
        a.bias = myth_part_view(p, MYTH_BUF_bias, val_off, MYTH_F32);
        if (b) {
            uint64_t n_bias = (uint64_t)b->bias_off[n];
            myth_stream_write(p->stream, a.bias_off, b->bias_off, 4 * ((uint64_t)n + 1));
            myth_stream_write(p->stream, a.bias_id, b->bias_id, 4 * n_bias);
            myth_stream_write(p->stream, a.bias, b->bias, 4 * n_bias);
        }
    }
    if (n_ask) {
        uint64_t half = 4 * (uint64_t)rows * e->layout.opts.n_ask;
        a.n_ask = n_ask;
        a.ask_id = myth_part_view(p, MYTH_BUF_ask, 0, MYTH_I32);
        a.ask_logit = myth_part_view(p, MYTH_BUF_ask, half, MYTH_F32);
        myth_stream_write(p->stream, a.ask_id, b->ask_id, 4 * (uint64_t)n * n_ask);
    }
    myth_head_topk(p->stream, &a);
    myth_stream_read(p->stream, e->result_id + (size_t)first * stride, a.top_id, 4 * (uint64_t)n * k);
    myth_stream_read(p->stream, e->result_logit + (size_t)first * stride, a.top_logit, 4 * (uint64_t)n * k);
    myth_stream_read(p->stream, e->result_lse + first, a.lse, 4 * (uint64_t)n);
    myth_stream_read(p->stream, e->result_entropy + first, a.entropy, 4 * (uint64_t)n);
    if (n_ask)
        myth_stream_read(p->stream, e->result_ask, a.ask_logit, 4 * (uint64_t)n * n_ask);
}

/* The first failure; a cancel is none where a device has failed. */
static myth_status finish(myth_engine *e, myth_error *err)
{
    myth_error late = {.code = MYTH_OK};
    const myth_status st = myth_engine_sync(e, &late);
    if (e->first_failure.code == MYTH_OK ||
        (e->first_failure.code == MYTH_ECANCEL && st != MYTH_OK && st != MYTH_ECANCEL)) {
        if (st != MYTH_OK && err)
            *err = late;
        return st;
    }
    if (err)
        *err = e->first_failure;
    return e->first_failure.code;
}

myth_status myth_forward(myth_engine *e, const myth_batch *b, myth_result *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    forward_state f = {.e = e, .b = b};
    uint32_t n_ubatch = e->layout.opts.n_ubatch;
    bool is_cancelled = false, is_recorded = true;
    if (out)
        *out = (myth_result){0};
    e->first_failure = (myth_error){.code = MYTH_OK};
    e->n_result = 0;
    e->idx.set = MYTH_SET_NONE;
    uint8_t wants;
    MYTH_TRY(check_batch(e, b, &wants, err));
    f.has_hidden = wants & MYTH_WANT_HIDDEN;
    const uint32_t n_tok = n_tokens(b);
    MYTH_TRY(record_parts(&f, 0, n_tok < n_ubatch ? n_tok : n_ubatch, err));
    MYTH_TRY(myth_forward_reserve(e, err));

    for (uint32_t i = 0, k = 0, at = 0; k < b->n_run && !is_cancelled;) {
        e->idx.n_rows = e->idx.n_run = 0;
        e->idx.set = MYTH_SET_NONE;
        f.first = i;
        f.first_run = k;
        f.first_at = at;
        i += add_rows(e, b, &k, &at);
        is_recorded = record_parts(&f, f.first, i - f.first, &e->first_failure) == MYTH_OK;
        if (!is_recorded) /* the last, smaller micro-batch of a wide decode step; those before it stay appended */
            break;
        append_tokens(&f);
        micro_batch(&f);
        if (e->first_failure.code != MYTH_OK)
            break;
        is_cancelled = myth_engine_is_cut(e) || (myth_cancelled(b->cancel) && i < n_tok);
    }
    if (is_cancelled || !is_recorded)
        for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) /* give back pages that were reserved but not written */
            myth_kv_trim(&e->kv, e->seq[i].kv);
    if (f.n_logit && !is_cancelled && e->first_failure.code == MYTH_OK) {
        e->n_result = f.n_logit;
        e->k_result = b->top_k ? b->top_k : 1;
        reduce(e, 0, f.n_logit, e->k_result, b, NULL, b->is_decode);
    }
    st = finish(e, err);
    e->is_capture_torn = e->is_capture_torn || (st != MYTH_OK && (st != MYTH_ECANCEL || f.n_capture));
    if (st == MYTH_ENOMEM || st == MYTH_EDEVICE || st == MYTH_ECANCEL)
        myth_engine_take_back(e,
                              st == MYTH_ECANCEL); /* of a lost device the tokens are what is left to feed to another */
    if (st != MYTH_OK)
        goto fail;
    if (is_cancelled)
        return myth_fail(err, MYTH_ECANCEL, "cancelled");
    if (out && e->n_result)
        *out = (myth_result){
            .n_rows = e->n_result,
            .k = e->k_result,
            .n_ask = b->n_ask,
            .top_id = e->result_id,
            .top_logit = e->result_logit,
            .lse = e->result_lse,
            .entropy = e->result_entropy,
            .ask_logit = e->result_ask,
            .n_mass = e->idx.set ? e->idx.n_mass : 0,
            .mass = e->idx.set && e->idx.n_mass ? e->result_mass : NULL,
        };
    st = f.is_bad ? myth_engine_bad_logits(e, err)
                  : myth_engine_check_logits(e, 0, e->n_result, b->mask_idx || b->bias_off, err);
fail:
    return st;
}

myth_status myth_reduce_again(myth_engine *e, uint32_t row, const uint32_t *mask, uint32_t k, myth_result *out,
                              myth_error *err)
{
    if (row >= e->n_result || k == 0 || k > e->k_result || (mask && e->layout.opts.n_mask == 0))
        return myth_fail(err, MYTH_EARG,
                         "cannot reduce row %u again with k %u: the last forward had %u logits rows and top_k %u, and "
                         "the engine was opened for %u masks",
                         row, k, e->n_result, e->k_result, e->layout.opts.n_mask);
    e->first_failure = (myth_error){.code = MYTH_OK};
    reduce(e, row, 1, k, NULL, mask, myth_engine_last(e)->step.is_decode);
    size_t at = (size_t)row * e->k_result;
    *out = (myth_result){
        .n_rows = 1,
        .k = k,
        .top_id = e->result_id + at,
        .top_logit = e->result_logit + at,
        .lse = e->result_lse + row,
        .entropy = e->result_entropy + row,
    };
    const myth_status st = finish(e, err);
    return st == MYTH_OK ? myth_engine_check_logits(e, row, 1, mask || e->has_result_bias, err) : st;
}
