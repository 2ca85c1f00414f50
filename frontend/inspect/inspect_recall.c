/* inspect_recall.c - answers that an earlier run generated: finds and keeps them, and brings the engine to where it
 * would be when one has to be generated after all. */
#include "inspect_impl.h"

#include <string.h>

void myth_inspect_begin_part(myth_inspection *in)
{
    in->n_turn = 0;
    in->n_past = myth_min_u32(myth_inspect_prefix(in, in->now), in->cap_past);
    memcpy(in->past, in->part[in->now].ids, in->n_past * sizeof(in->past[0]));
    in->is_fed = false;
    if (myth_inspect_has_jobs(in)) {
        myth_seq_close(in->s);
        in->s = NULL;
    }
}

static void add_past(myth_inspection *in, const int32_t *ids, uint32_t n)
{
    n = myth_min_u32(n, in->cap_past - in->n_past); /* only the last answer can end at the context's end */
    memcpy(in->past + in->n_past, ids, n * sizeof(*ids));
    in->n_past += n;
    in->turn[in->n_turn++] = n;
}

void myth_inspect_add_turn(myth_inspection *in, const int32_t *asked, uint32_t n_asked, const int32_t *answer,
                           uint32_t n_answer)
{
    add_past(in, asked, n_asked);
    add_past(in, answer, n_answer);
}

/* ---- the engine ---- */

static myth_status feed(myth_inspection *in, const int32_t *ids, uint32_t n, myth_finish *why, myth_error *err)
{
    uint32_t n_new = 0;
    const myth_generate_opts o = {.prompt = ids, .n_prompt = n, .cancel = in->o.cancel};
    return n ? myth_generate(in->e, in->s, &o, in->ids, &n_new, why, err) : MYTH_OK;
}

/* Feeds an answer as it was generated, one token a step. */
static myth_status feed_answer(myth_inspection *in, const int32_t *ids, uint32_t n, myth_finish *why, myth_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        const myth_batch_run run = {.seq = in->s, .token = &ids[i], .n = 1};
        const myth_batch b = {.run = &run, .n_run = 1, .is_decode = true};
        myth_result r = {0};
        const myth_status st = myth_forward(in->e, &b, &r, err);
        if (st != MYTH_OK)
            return st;
        if (myth_cancelled(in->o.cancel)) {
            *why = MYTH_FINISH_CANCELLED;
            return MYTH_OK;
        }
    }
    return MYTH_OK;
}

static myth_status open_engine(myth_inspection *in, myth_error *err)
{
    return in->e ? MYTH_OK : in->later->open(in->later->user, &in->e, err);
}

static myth_status open_sequence(myth_inspection *in, myth_error *err)
{
    return in->s ? MYTH_OK : myth_seq_open(&in->s, in->e, err);
}

/* Feeds the prefix that all parts share, which is computed once. With jobs its sequence becomes their base; else it
 * gets a checkpoint: a later truncate returns to it exactly. */
static myth_status feed_prefix(myth_inspection *in, myth_finish *why, myth_error *err)
{
    myth_status st = open_sequence(in, err);
    if (st == MYTH_OK)
        st = feed(in, in->part[0].ids, in->n_prefix, why, err);
    in->has_prefix = st == MYTH_OK;
    if (st != MYTH_OK || *why == MYTH_FINISH_CANCELLED)
        return st;
    if (!myth_inspect_has_jobs(in))
        return in->n_prefix ? myth_seq_checkpoint(in->s, err) : MYTH_OK;
    in->base = in->s;
    in->s = NULL;
    return MYTH_OK;
}

/* Makes the sequence hold the first n_prefix tokens of the current part and nothing else: the prefix, or nothing. */
static myth_status return_to_prefix(myth_inspection *in, uint32_t n_prefix, myth_finish *why, myth_error *err)
{
    uint32_t at = 0;
    myth_status st;
    if (myth_inspect_has_jobs(in)) {
        myth_seq_close(in->s);
        in->s = NULL;
        return n_prefix ? myth_seq_fork(&in->s, in->base, err) : open_sequence(in, err);
    }
    MYTH_TRY(open_sequence(in, err));
    MYTH_TRY(myth_seq_truncate(in->s, myth_min_u32(n_prefix, myth_seq_len(in->s)), &at, err));
    if (at < n_prefix) /* an interrupt came while the prefix was fed, or the rows of it are gone */
        MYTH_TRY(feed(in, in->past + at, n_prefix - at, why, err));
fail:
    return st;
}

myth_status myth_inspect_open_base(myth_inspection *in, myth_finish *why, myth_error *err)
{
    *why = MYTH_FINISH_NONE;
    const myth_status st = open_engine(in, err);
    return st == MYTH_OK && !in->has_prefix ? feed_prefix(in, why, err) : st;
}

myth_status myth_inspect_catch_up(myth_inspection *in, myth_finish *why, myth_error *err)
{
    const uint32_t n_prefix = myth_inspect_prefix(in, in->now);
    uint32_t at = n_prefix;
    myth_status st;
    *why = MYTH_FINISH_NONE;
    MYTH_TRY(open_engine(in, err));
    if (!in->has_prefix && n_prefix)
        MYTH_TRY(feed_prefix(in, why, err));
    if (in->is_fed || *why == MYTH_FINISH_CANCELLED)
        return MYTH_OK;
    MYTH_TRY(return_to_prefix(in, n_prefix, why, err));
    for (uint32_t i = 0; i < in->n_turn && *why != MYTH_FINISH_CANCELLED; at += in->turn[i++])
        MYTH_TRY(i % 2 ? feed_answer(in, in->past + at, in->turn[i], why, err)
                       : feed(in, in->past + at, in->turn[i], why, err));
    in->is_fed = *why != MYTH_FINISH_CANCELLED;
fail:
    return st;
}

/* ---- keys ---- */

static myth_kept_key key_of(myth_inspection *in, const myth_question *q)
{
    const uint32_t which[] = {(uint32_t)q->kind, q->n_max, in->o.sample.temp > 0 ? q->part : 0};
    myth_kept *k = in->o.kept;
    myth_kept_begin(k);
    myth_kept_add(k, which, sizeof(which));
    myth_kept_add(k, q->g->limits, sizeof(*q->g->limits));
    for (uint32_t i = 0; i < q->g->n_block; i++) {
        const myth_block *b = &q->g->block[i];
        const uint32_t lines[] = {myth_block_shown(b, b->first), myth_block_shown(b, b->last)};
        myth_kept_add(k, b->src->path, strlen(b->src->path));
        myth_kept_add(k, lines, sizeof(lines));
        if (b->last >= b->first) {
            const uint32_t from = b->src->line[b->first - 1].off,
                           to = b->src->line[b->last - 1].off + b->src->line[b->last - 1].len;
            myth_kept_add(k, b->src->bytes + from, to - from);
        }
    }
    myth_kept_add(k, in->past, in->n_past * sizeof(in->past[0]));
    myth_kept_add(k, q->ids, q->n_ids * sizeof(q->ids[0]));
    return myth_kept_end(k);
}

/* ---- answers ---- */

/* Whether the grammar would have let the model write this. */
static bool is_allowed(myth_inspection *in, const myth_question *q, uint32_t n, myth_finish why)
{
    myth_automaton a;
    myth_inspect_automaton(in, &a, q->g);
    myth_grammar_start(in->grammar, &a);
    for (uint32_t i = 0; i < n; i++)
        if (in->ids[i] < 0 || (uint32_t)in->ids[i] >= in->model->config.n_vocab ||
            !myth_grammar_accept(in->grammar, in->ids[i]))
            return false;
    return why == MYTH_FINISH_STOP ? myth_grammar_may_end(in->grammar) : n == q->n_max;
}

bool myth_inspect_recall(myth_inspection *in, const myth_question *q, uint32_t *n, myth_finish *why)
{
    if (!in->o.kept)
        return false;
    const myth_kept_key key = key_of(in, q);
    const uint32_t room = in->cap_past - in->n_past;
    if (q->n_ids <= room && myth_kept_get(in->o.kept, &key, in->ids, myth_min_u32(q->n_max, room - q->n_ids), n, why) &&
        is_allowed(in, q, *n, *why)) {
        in->is_fed = false;
        return true;
    }
    *n = 0;
    *why = MYTH_FINISH_NONE;
    return false;
}

static void note_secret(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)text;
    (void)len;
    *(bool *)user |= is_placeholder;
}

void myth_inspect_keep(myth_inspection *in, const myth_question *q, const int32_t *ids, uint32_t n, size_t len,
                       myth_finish why)
{
    bool has_secret = false;
    if (!in->o.kept || (why != MYTH_FINISH_STOP && why != MYTH_FINISH_LENGTH))
        return;
    myth_redact_text(&in->marks.redactor, q->text, len, note_secret, &has_secret);
    if (has_secret)
        return;
    const myth_kept_key key = key_of(in, q);
    myth_kept_put(in->o.kept, &key, ids, n, why);
}
