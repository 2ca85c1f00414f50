/* run.c - records one decode step and replays it: the layers, the reduction of the logits, the choice of the next token
 * (decode_next), which also writes the ids and positions that the next step reads. */
#include "run.h"

#include <assert.h>

/* The buffer `run`, in i32: the step counter, the stop ids, then a ring of MYTH_RUN_STEPS rows of chosen ids. */
enum { STEP_AT = 0, STOP_AT = 16, OUT_AT = STOP_AT + MYTH_RUN_STOP_MAX };

static myth_view run_view(const myth_part *p, uint64_t i) { return myth_part_view(p, MYTH_BUF_run, 4 * i, MYTH_I32); }

uint32_t myth_run_room(const myth_run *run)
{
    uint32_t room = UINT32_MAX;
    for (uint32_t r = 0; r < run->o.n_seq; r++) {
        uint32_t own = myth_kv_room(&run->e->kv, run->o.seq[r]->kv);
        room = own < room ? own : room;
    }
    return room;
}

/* Checks that everything in o fits the arrays that the engine has on the host and on the device. */
static myth_status check_opts(const myth_engine *e, const myth_run_opts *o, myth_error *err)
{
    const myth_engine_opts *opts = &e->layout.opts;
    if (e->n_part != 1 || o->n_seq == 0 || o->n_seq > MYTH_RUN_SEQ_MAX || o->n_seq > opts->n_logit_rows ||
        o->n_seq > opts->n_ubatch || o->n_seq > opts->n_seq || o->n_stop > MYTH_RUN_STOP_MAX)
        return myth_fail(err, MYTH_EARG,
                         "a run of %u sequences with %u stop ids: the engine has %u parts, %u rows a step and %u rows "
                         "of logits; at most %d sequences and %d stop ids",
                         o->n_seq, o->n_stop, e->n_part, opts->n_ubatch, opts->n_logit_rows, MYTH_RUN_SEQ_MAX,
                         MYTH_RUN_STOP_MAX);
    for (uint32_t r = 0; r < o->n_seq; r++) {
        if (myth_kv_room(&e->kv, o->seq[r]->kv) == 0)
            return myth_fail_option(err, MYTH_EFULL, "n_ctx", "context full: sequence %u holds %u tokens, n_ctx %u", r,
                                    myth_kv_len(o->seq[r]->kv), opts->n_ctx);
        if (o->seq[r]->n_extra)
            return myth_fail(err, MYTH_EUNSUPPORTED, "sequence %u holds sets of tokens: it is extended by sets alone",
                             r);
        if (o->first[r] < 0 || (uint32_t)o->first[r] >= e->model->config.n_vocab)
            return myth_fail(err, MYTH_EARG, "token %d is outside the vocabulary of %u", o->first[r],
                             e->model->config.n_vocab);
    }
    return MYTH_OK;
}

myth_status myth_run_begin(myth_run *run, myth_engine *e, const myth_run_opts *o, myth_error *err)
{
    static const int32_t zero = 0;
    const myth_part *p = e->part;
    myth_status st = check_opts(e, o, err);
    if (st != MYTH_OK)
        return st;
    *run = (myth_run){.e = e, .o = *o};
    e->n_result = 0;
    e->idx.n_rows = e->idx.n_run = 0;
    e->idx.set = MYTH_SET_NONE;
    for (uint32_t r = 0; r < o->n_seq; r++) {
        run->high[r] = o->seq[r]->kv->n_high;
        run->len[r] = myth_kv_len(o->seq[r]->kv);
        e->idx.rows[r] = (int32_t)r;
        myth_forward_put_run(e, o->seq[r], &o->first[r], 1, false);
        o->seq[r]->token[run->len[r]] = o->first[r];
    }
    myth_forward_write_index(e, p);
    myth_index_write(p, p->index.rows, e->idx.rows, o->n_seq);
    myth_stream_write(p->stream, run_view(p, STEP_AT), &zero, 4);
    if (o->n_stop)
        myth_stream_write(p->stream, run_view(p, STOP_AT), o->stop_id, 4 * (uint64_t)o->n_stop);
    return MYTH_OK;
}

/* Issues the ops of one whole step. */
static void issue_step(myth_run *run, uint32_t k)
{
    myth_engine *e = run->e;
    myth_part *p = e->part;
    const myth_config *c = &e->model->config;
    const myth_run_opts *o = &run->o;
    myth_step *st = &p->step;
    uint32_t rows = e->layout.opts.n_logit_rows;
    st->n_rows = st->n_run = st->n_keep = o->n_seq;
    st->is_decode = true;
    st->capture = NULL;
    myth_forward_run_layers(e, p);
    myth_view x = myth_part_view(p, MYTH_BUF_head_x, 0, MYTH_F32);
    myth_forward_gather(e, p, x, e->w->output_norm, o->n_seq);
    struct myth_head_topk_args head = {
        .x = x,
        .w = e->w->head,
        .n_rows = o->n_seq,
        .dim = c->d_model,
        .n_vocab = e->n_vocab_choice,
        .n_total = c->n_vocab,
        .k = k,
        .softcap = c->final_softcap,
        .is_decode = true,
        .top_id = myth_part_view(p, MYTH_BUF_top_id, 0, MYTH_I32),
        .top_logit = myth_part_view(p, MYTH_BUF_top_logit, 0, MYTH_F32),
        .lse = myth_part_view(p, MYTH_BUF_row_stat, 0, MYTH_F32),
        .entropy = myth_part_view(p, MYTH_BUF_row_stat, 4 * (uint64_t)rows, MYTH_F32),
    };
    myth_head_topk(p->stream, &head);
    myth_decode_next(p->stream, &(struct myth_decode_next_args){
                                    .top_id = head.top_id,
                                    .top_logit = head.top_logit,
                                    .ids = p->index.id,
                                    .pos = st->pos,
                                    .runs = st->runs,
                                    .out = run_view(p, OUT_AT),
                                    .step = run_view(p, STEP_AT),
                                    .stop_id = o->n_stop ? run_view(p, STOP_AT) : (myth_view){0},
                                    .n_rows = o->n_seq,
                                    .k = k,
                                    .n_out = MYTH_RUN_STEPS,
                                    .n_stop = o->n_stop,
                                    .seq_number = o->seq_number,
                                    .sample = o->sample,
                                });
}

/* Records the step unless the last recording has the same number of rows and the same sampling parameters. A device
 * that cannot record leaves p->graph NULL: its steps are then issued op by op. */
static myth_status record_step(myth_run *run, uint32_t k, myth_error *err)
{
    myth_engine *e = run->e;
    myth_part *p = e->part;
    const myth_run_opts *o = &run->o;
    const myth_sample_params *was = &e->run_key.sample, *is = &o->sample;
    bool same = was->temp == is->temp && was->top_k == is->top_k && was->top_p == is->top_p &&
                was->min_p == is->min_p && was->seed == is->seed && e->run_key.k == k &&
                e->run_key.n_stop == o->n_stop && e->run_key.seq_number == o->seq_number;
    if (p->graph && p->graph_is_run && p->graph_rows == o->n_seq && same)
        return MYTH_OK;
    if (p->graph)
        myth_graph_close(p->graph);
    p->graph = NULL;
    /* a device that fails to record may fall back to a simpler way, and says so by still being able to record */
    while (!p->graph && myth_device_records(p->dev)) {
        myth_stream_begin_record(p->stream);
        issue_step(run, k);
        myth_status result = myth_stream_end_record(&p->graph, p->stream, err);
        if (result != MYTH_OK)
            return result;
    }
    if (!p->graph)
        return MYTH_OK;
    p->graph_rows = o->n_seq;
    p->graph_is_run = true;
    e->run_key.sample = o->sample;
    e->run_key.k = k;
    e->run_key.n_stop = o->n_stop;
    e->run_key.seq_number = o->seq_number;
    return MYTH_OK;
}

myth_status myth_run_issue(myth_run *run, uint32_t n_step, uint64_t *mark, myth_error *err)
{
    myth_engine *e = run->e;
    myth_part *p = e->part;
    uint32_t n_seq = run->o.n_seq, k = myth_sample_k(&run->o.sample);
    int32_t *host = e->host[MYTH_HOST_run];
    k = k > e->layout.opts.top_k ? e->layout.opts.top_k : k;
    if (n_step > MYTH_RUN_STEPS - (run->n_issued - run->n_known))
        return myth_fail(err, MYTH_EARG, "a run of %u more steps: %u are not read yet, and at most %d may be", n_step,
                         run->n_issued - run->n_known, MYTH_RUN_STEPS);
    if (n_step > myth_run_room(run))
        return myth_fail(err, MYTH_EFULL, "context full: a run of %u more steps, room for %u", n_step,
                         myth_run_room(run));
    for (uint32_t i = 0; i < e->layout.opts.n_seq; i++) {
        e->seq[i].n_new = 0;
        e->seq[i].has_ephemeral = false;
    }
    for (uint32_t r = 0; r < n_seq; r++)
        run->o.seq[r]->n_new = n_step;
    myth_status st = record_step(run, k, err); /* before any page is taken, so that a failure changes nothing */
    if (st == MYTH_OK)
        st = myth_forward_reserve(e, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t r = 0; r < n_seq; r++)
        myth_kv_wrote(run->o.seq[r]->kv, n_step);
    for (uint32_t i = 0; i < n_step; i++)
        if (p->graph)
            myth_stream_replay(p->stream, p->graph);
        else
            issue_step(run, k);
    for (uint32_t done = 0, n; done < n_step; done += n) { /* two reads where the steps wrap around the ring */
        uint32_t at = (run->n_issued + done) % MYTH_RUN_STEPS;
        n = n_step - done < MYTH_RUN_STEPS - at ? n_step - done : MYTH_RUN_STEPS - at;
        myth_stream_read(p->stream, host + (size_t)at * n_seq, run_view(p, OUT_AT + (uint64_t)at * n_seq),
                         4 * (uint64_t)n * n_seq);
    }
    run->n_issued += n_step;
    *mark = myth_stream_mark(p->stream);
    return MYTH_OK;
}

myth_status myth_run_wait(myth_run *run, uint64_t mark, myth_error *err)
{
    return myth_stream_wait(run->e->part->stream, mark, err);
}

const int32_t *myth_run_next(myth_run *run)
{
    uint32_t n_seq = run->o.n_seq;
    const int32_t *id = (const int32_t *)run->e->host[MYTH_HOST_run] + (size_t)(run->n_known % MYTH_RUN_STEPS) * n_seq;
    assert(run->n_known < run->n_issued);
    for (uint32_t r = 0; r < n_seq; r++) {
        myth_seq *s = run->o.seq[r];
        if (run->is_still[r])
            continue;
        uint32_t next = run->len[r] + ++run->n_fed[r];
        run->is_still[r] = id[r] < 0;
        for (uint32_t i = 0; i < run->o.n_stop; i++)
            run->is_still[r] |= id[r] == run->o.stop_id[i];
        if (!run->is_still[r] && next < run->e->layout.opts.n_ctx)
            s->token[next] = id[r]; /* the next step, if there is one, feeds it */
    }
    run->n_known++;
    return id;
}

void myth_run_end(myth_run *run)
{
    myth_engine *e = run->e;
    for (uint32_t r = 0; r < run->o.n_seq; r++) {
        myth_kv_rows *kv = run->o.seq[r]->kv;
        kv->n_pos -= run->n_issued - run->n_fed[r];
        kv->n_high = kv->n_pos > run->high[r] ? kv->n_pos : run->high[r];
        myth_kv_trim(&e->kv, kv);
    }
}
