/* generate.c - one answer to its end: begins it (answer.h), then takes and feeds one token at a time. Without a
 * grammar, penalties and a budget, the device chooses the tokens by itself (run.h). */
#include "answer.h"
#include "run.h"

enum { AHEAD = 16 }; /* steps of a lot: on an asynchronous device two lots are under way while the host reads ids */

static bool can_run(const myth_answering *a)
{
    return a->e->n_part == 1 && a->e->layout.opts.offload == MYTH_OFFLOAD_NONE && !a->e->layout.ple_by_host &&
           !a->o->grammar && !a->o->on_top && !a->has_budget && !myth_penalty_window(&a->o->sample) &&
           a->o->n_stop <= MYTH_RUN_STOP_MAX;
}

/* Generates the tokens after the first with run.h, so that the device need not wait for the host between steps. After a
 * cancel the sequence is truncated to the accepted tokens (or fewer, see myth_seq_truncate). */
static myth_status generate_ahead(myth_answering *a, myth_error *err)
{
    const myth_generate_opts *o = a->o;
    bool is_async = myth_device_get_caps(a->e->part->dev)->is_async;
    struct {
        uint64_t mark;
        uint32_t n;
    } lot[2]; /* the lots under way, oldest first */
    uint32_t oldest = 0, n_lot = 0, n_taken = 0;
    myth_run run;
    myth_status issued = MYTH_OK, st = myth_run_begin(&run, a->e,
                                                      &(myth_run_opts){
                                                          .seq = &a->s,
                                                          .n_seq = 1,
                                                          .first = &a->ids[a->n_ids - 1],
                                                          .stop_id = o->stop_ids,
                                                          .n_stop = (uint32_t)o->n_stop,
                                                          .sample = o->sample,
                                                          .seq_number = o->seq_number,
                                                      },
                                                      err);
    if (st != MYTH_OK)
        return st;
    uint32_t n_left = o->n_max - a->n_ids, room = myth_run_room(&run);
    bool is_cut_by_context = room < n_left;
    n_left = is_cut_by_context ? room : n_left;
    while (st == MYTH_OK && (n_lot || (a->goes_on && n_left))) {
        while (a->goes_on && n_left && n_lot < (is_async ? 2u : 1u)) {
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
            if (a->goes_on && id < 0) /* no id is among the best */
                st = myth_engine_bad_logits(a->e, err);
            else if (a->goes_on) {
                n_taken++;
                myth_answer_accept(a, id);
            }
        }
        oldest ^= 1;
        n_lot--;
    }
    myth_run_end(&run);
    if (st != MYTH_OK || issued != MYTH_OK)
        return st != MYTH_OK ? st : issued;
    if (a->why == MYTH_FINISH_CANCELLED && run.n_fed[0] > n_taken) {
        uint32_t at;
        return myth_seq_truncate(a->s, run.len[0] + n_taken, &at, err);
    }
    if (a->goes_on && is_cut_by_context)
        a->why = MYTH_FINISH_CONTEXT;
    a->goes_on = false;
    return MYTH_OK;
}

myth_status myth_generate(myth_engine *e, myth_seq *s, const myth_generate_opts *o, int32_t *ids, uint32_t *n_ids,
                          myth_finish *why, myth_error *err)
{
    myth_answering a;
    myth_status st = myth_answer_begin(&a, e, s, o, ids, err);
    while (st == MYTH_OK && a.goes_on)
        st = can_run(&a) ? generate_ahead(&a, err) : myth_answer_step(&a, err);
    *n_ids = a.n_ids;
    *why = a.why;
    return st;
}
