/* inspect_jobs.c - first answers of several parts at once. While the current part's answer is awaited, those of the
 * parts after it are generated beside it, and wait for their turn. Everything that follows an answer (verification, the
 * second pass, rounds, the report) stays in the order of the parts, so the report does not depend on the number of
 * jobs.
 *
 * Summary    it is the last part, without the prefix, and is asked for alone
 * Sequences  a job's is a fork of the base, which holds the prefix. With its turn the sequence becomes the current
 *            part's. A job that has ended gives its sequence up when another part needs one; should a question follow
 *            its answer after all, the part is fed again (myth_inspect_catch_up) */
#include "inspect_impl.h"

#include <string.h>

static uint32_t n_window(const myth_inspection *in) { return MYTH_INSPECT_WINDOW * in->n_job; }

/* ---- memory ---- */

static size_t ids_bytes(const myth_inspection *in)
{
    return (size_t)n_window(in) * (in->o.max_new_tokens ? in->o.max_new_tokens : 1) * sizeof(int32_t);
}

uint64_t myth_inspect_job_bytes(const myth_inspection *in)
{
    return myth_inspect_has_jobs(in)
             ? n_window(in) * sizeof(inspect_job) + in->n_job * sizeof(myth_grammar *) + ids_bytes(in)
             : 0;
}

myth_status myth_inspect_take_jobs(myth_inspection *in, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (!myth_inspect_has_jobs(in))
        return MYTH_OK;
    in->job = myth_inspect_take(in, "jobs", n_window(in), sizeof(*in->job));
    in->beside = myth_inspect_take(in, "jobs", in->n_job, sizeof(myth_grammar *));
    int32_t *ids = myth_inspect_take(in, "jobs", ids_bytes(in), 1);
    if (in->job)
        in->job[0].ids = ids;
    if (!in->job || !in->beside || !ids) {
        if (!in->job)
            myth_free(in->mem, ids);
        return myth_inspect_no_room("jobs", (size_t)myth_inspect_job_bytes(in), err);
    }
    for (uint32_t i = 0; i < n_window(in); i++) {
        in->job[i].in = in;
        in->job[i].ids = ids + (size_t)i * in->o.max_new_tokens;
    }
    for (uint32_t i = 0; i < in->n_job && st == MYTH_OK; i++)
        st = myth_grammar_open_second(&in->beside[i], in->grammar, N_CACHED_MASK, err);
    return st;
}

void myth_inspect_end_jobs(myth_inspection *in)
{
    myth_slots_close(in->slots);
    in->slots = NULL;
    for (uint32_t i = 0; in->job && i < n_window(in); i++) {
        myth_seq_close(in->job[i].s);
        in->job[i].s = NULL;
    }
    myth_seq_close(in->base);
    in->base = NULL;
}

void myth_inspect_free_jobs(myth_inspection *in)
{
    for (uint32_t i = 0; in->beside && i < in->n_job; i++)
        myth_grammar_close(in->beside[i]);
    myth_free(in->mem, in->beside);
    if (in->job)
        myth_free(in->mem, in->job[0].ids);
    myth_free(in->mem, in->job);
    in->beside = NULL;
    in->job = NULL;
}

/* ---- jobs ---- */

static bool on_token(void *user, int32_t id)
{
    const inspect_job *j = user;
    myth_inspection *in = j->in;
    (void)id;
    if (in->o.on_progress && j->part == in->now)
        in->o.on_progress(in->o.user, in->what, in->now, in->n_part, ++in->n_new, in->n_new_max);
    return true;
}

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    const inspect_job *j = user;
    if (j->in->o.on_progress)
        j->in->o.on_progress(j->in->o.user, "reading", j->part, j->in->n_part, done, total);
}

static inspect_job *job_of(const myth_inspection *in, uint32_t part)
{
    for (uint32_t i = 0; i < n_window(in); i++)
        if (in->job[i].is_used && in->job[i].part == part)
            return &in->job[i];
    return NULL;
}

static inspect_job *free_job(const myth_inspection *in)
{
    for (uint32_t i = 0; i < n_window(in); i++)
        if (!in->job[i].is_used)
            return &in->job[i];
    return NULL;
}

/* A slot without an answer under way; n_job = there is none. */
static uint32_t free_slot(const myth_inspection *in)
{
    bool is_taken[MYTH_INSPECT_JOBS_MAX] = {false};
    uint32_t slot = 0;
    for (uint32_t i = 0; i < n_window(in); i++)
        if (in->job[i].is_used && !in->job[i].is_done)
            is_taken[in->job[i].slot] = true;
    while (slot < in->n_job && is_taken[slot])
        slot++;
    return slot;
}

/* Leaves the jobs fewer sequences than there are slots: of those that have ended, the one whose turn is farthest off
 * gives up its own. */
static void free_sequence(myth_inspection *in)
{
    inspect_job *farthest = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_window(in); i++) {
        inspect_job *j = &in->job[i];
        n += j->s != NULL;
        if (j->s && j->is_done && (!farthest || j->part > farthest->part))
            farthest = j;
    }
    if (n < in->n_job || !farthest)
        return;
    myth_seq_close(farthest->s);
    farthest->s = NULL;
}

static myth_status begin_job(myth_inspection *in, inspect_job *j, uint32_t part, uint32_t slot, myth_error *err)
{
    const myth_question q = myth_inspect_first_question(in, part, &j->g);
    free_sequence(in);
    myth_status st = myth_seq_fork(&j->s, in->base, err);
    if (st != MYTH_OK)
        return st;
    j->part = part;
    j->slot = slot;
    j->is_used = true;
    j->is_done = false;
    myth_generate_opts o = myth_inspect_start_answer(in, &q, in->beside[slot], &j->a, j->stop);
    o.on_prefill = on_prefill;
    o.on_token = on_token;
    o.user = j;
    return myth_slots_start(in->slots, slot, j->s, &o, j->ids, err);
}

/* Whether an earlier run's answer will be taken when the part's turn comes. */
static bool is_kept(myth_inspection *in, uint32_t part)
{
    myth_findings_grammar g;
    uint32_t n;
    myth_finish why = MYTH_FINISH_NONE;
    const myth_question q = myth_inspect_first_question(in, part, &g);
    return myth_inspect_recall(in, &q, &n, &why);
}

/* Begins the current part's answer, if that was not done, and as many of later parts as there are slots for. */
static myth_status begin_jobs(myth_inspection *in, myth_error *err)
{
    myth_status st = MYTH_OK;
    while (st == MYTH_OK) {
        const uint32_t slot = free_slot(in);
        inspect_job *j = free_job(in);
        uint32_t part = in->now;
        if (slot == in->n_job || !j)
            break;
        if (job_of(in, part)) {
            in->next = in->next > part ? in->next : part + 1;
            while (in->next < in->n_part && !myth_inspect_is_summary(in, in->next) && is_kept(in, in->next))
                in->next++;
            if (in->next == in->n_part || myth_inspect_is_summary(in, in->next) || myth_cancelled(in->o.cancel))
                break;
            part = in->next++;
        }
        st = begin_job(in, j, part, slot, err);
    }
    return st;
}

/* Notes the answers that have ended, and keeps them for later runs at once. */
static myth_status end_answers(myth_inspection *in, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < n_window(in) && st == MYTH_OK; i++) {
        inspect_job *j = &in->job[i];
        if (!j->is_used || j->is_done || myth_slots_get(in->slots, j->slot, &j->n_ids, &j->finish))
            continue;
        myth_findings_grammar g;
        const myth_question q = myth_inspect_first_question(in, j->part, &g);
        size_t len;
        j->is_done = true;
        if (j->finish == MYTH_FINISH_LOGITS)
            return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_VERIFY_MODEL, "%s: logits are infinite or NaN",
                                    myth_model_name(myth_engine_model(in->e)));
        st = myth_inspect_write_text(in, &q, j->ids, j->n_ids, &len, err);
        if (st == MYTH_OK)
            myth_inspect_keep(in, &q, j->ids, j->n_ids, len, j->finish);
    }
    return st;
}

myth_status myth_inspect_await(myth_inspection *in, uint32_t *n, myth_finish *why, myth_error *err)
{
    myth_status st;
    inspect_job *j;
    MYTH_TRY(myth_inspect_open_base(in, why, err));
    if (*why == MYTH_FINISH_CANCELLED)
        return MYTH_OK;
    if (!in->slots)
        MYTH_TRY(myth_slots_open(&in->slots, in->e, in->n_job, err));
    while (!(j = job_of(in, in->now)) || !j->is_done) {
        MYTH_TRY(begin_jobs(in, err));
        MYTH_TRY(myth_slots_step(in->slots, err));
        MYTH_TRY(end_answers(in, err));
    }
    *n = j->n_ids;
    *why = j->finish;
    memcpy(in->ids, j->ids, j->n_ids * sizeof(j->ids[0]));
    in->s = j->s;
    in->is_fed = j->s != NULL;
    j->s = NULL;
    j->is_used = false;
fail:
    return st;
}
