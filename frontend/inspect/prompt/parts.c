/* parts.c - packs pieces into parts. A first walk puts the subjects into parts, each with some of its context; a second
 * one fills the room that is left in each part with more context. */
#include "parts.h"

#include "split.h"
#include "engine/base/array.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const myth_material *m;
    const myth_parts_opts *o;
    myth_parts *p;
    uint32_t used, context_used, n_block; /* about the current part, which is the last one */
    bool has_only_head;                   /* it has the head of a definition that goes on in it, and nothing else yet */
    uint32_t *part_used;                  /* [max_part] */
    uint32_t *border;                     /* the borders of source border_of */
    uint32_t border_of;
    bool *is_shown;               /* [n_piece]: whether a piece of context is in a part */
    uint32_t n_line, n_line_done; /* of the subjects */
    myth_error *err;
} packer;

/* ---- lines that are left of a piece ---- */

static bool is_solid(const myth_source *src, uint32_t first, uint32_t last) { return src->line[first - 1].next < last; }

/* When one of the blocks (or, with beside_subjects, of the subjects) has line n, returns its last line. Otherwise
 * returns 0, and *next is the first line after n where one of them begins. */
static uint32_t held_to(const myth_material *m, const myth_source *src, uint32_t source, bool beside_subjects,
                        const myth_block *shown, uint32_t n_shown, uint32_t n, uint32_t *next)
{
    *next = UINT32_MAX;
    for (uint32_t k = 0; k < n_shown; k++) {
        if (shown[k].src != src)
            continue;
        if (n >= shown[k].first && n <= shown[k].last)
            return shown[k].last;
        if (shown[k].first > n && shown[k].first < *next)
            *next = shown[k].first;
    }
    for (uint32_t k = 0; beside_subjects && k < myth_material_n_piece(m); k++) {
        const myth_piece *s = myth_material_piece(m, k);
        if (!s->is_subject || s->source != source)
            continue;
        if (n >= s->first && n <= s->last)
            return s->last;
        if (s->first > n && s->first < *next)
            *next = s->first;
    }
    return 0;
}

uint32_t myth_parts_rest(myth_block *out, uint32_t cap, const myth_material *m, uint32_t i, bool beside_subjects,
                         const myth_block *shown, uint32_t n_shown)
{
    const myth_piece *piece = myth_material_piece(m, i);
    const myth_source *src = myth_material_of(m, piece->source);
    uint32_t n_out = 0, next;
    for (uint32_t n = piece->first; n <= piece->last;) {
        uint32_t to = held_to(m, src, piece->source, beside_subjects, shown, n_shown, n, &next);
        if (!to) {
            to = next <= piece->last ? next - 1 : piece->last;
            if (is_solid(src, n, to)) {
                if (n_out < cap)
                    out[n_out] =
                        (myth_block){.src = src, .first = n, .last = to, .symbol = piece->symbol, .is_context = true};
                n_out++;
            }
        }
        n = to + 1;
    }
    return n_out;
}

/* ---- parts ---- */

static uint32_t room(const packer *w) { return w->o->soft > w->used ? w->o->soft - w->used : 0; }

static myth_status new_part(packer *w)
{
    if (w->p->n_part == w->o->max_part)
        return myth_fail(w->err, MYTH_ELIMIT, "more than %u parts; inspect less at once", w->o->max_part);
    if (w->p->n_part)
        w->part_used[w->p->n_part - 1] = w->used;
    w->p->n_part++;
    w->used = w->context_used = w->n_block = 0;
    w->has_only_head = false;
    return MYTH_OK;
}

static myth_status put_row(packer *w, uint32_t part, uint32_t piece, const myth_block *b, uint32_t cost)
{
    myth_parts *p = w->p;
    if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_STAGING, "parts", &p->row, p->n_row, &p->cap_row))
        return myth_fail(w->err, MYTH_ENOMEM, "parts: no room for %zu bytes", (size_t)p->n_row * sizeof(*p->row));
    p->row[p->n_row++] = (myth_parts_row){.piece = piece, .part = part, .cost = cost, .block = *b};
    return MYTH_OK;
}

static myth_status look_for_interrupt(packer *w)
{
    const bool is_cancelled = myth_cancelled(w->o->cancel);
    return is_cancelled ? myth_fail(w->err, MYTH_ECANCEL, "interrupted while code was cut into prompts") : MYTH_OK;
}

/* Puts a block of a subject. */
static myth_status put_now(packer *w, uint32_t piece, const myth_block *b, uint32_t cost)
{
    w->used += cost;
    w->n_block++;
    w->has_only_head = b->is_again;
    w->n_line_done += b->is_again ? 0 : b->last + 1 - b->first;
    if (w->o->on_progress)
        w->o->on_progress(w->o->progress_user, w->n_line_done, w->n_line);
    return put_row(w, w->p->n_part - 1, piece, b, cost);
}

/* ---- subjects ---- */

static myth_status cost_of(packer *w, const myth_block *b, uint32_t *cost)
{
    return w->o->cost(w->o->user, b, cost, w->err);
}

/* Lowers the most bytes of removed lines of a block until they cost at most half of a part, and the block with them at
 * most `most`. */
static myth_status limit_removed(packer *w, myth_block *b, uint32_t most)
{
    myth_block bare = *b;
    uint32_t none = 0, cost = 0, hidden;
    myth_status st = MYTH_OK;
    bare.removed_most = 0;
    if (!b->removed_most || (!myth_prompt_n_removed(b, &hidden) && !hidden))
        return MYTH_OK;
    MYTH_TRY(cost_of(w, &bare, &none));
    MYTH_TRY(cost_of(w, b, &cost));
    while (b->removed_most && cost > none && (cost > most || cost - none > w->o->soft / 2)) {
        b->removed_most /= 2;
        MYTH_TRY(cost_of(w, b, &cost));
    }
fail:
    return st;
}

/* The most that a block may cost in the part at work, when nothing but a head may be in it. */
static uint32_t most_of(const packer *w, bool is_one_line)
{
    return w->has_only_head ? room(w) : is_one_line ? w->o->hard : w->o->soft;
}

typedef struct {
    packer *w;
    const myth_block *like;
} fit;

static myth_status fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err)
{
    const fit *f = user;
    uint32_t cost = 0;
    myth_block b = *f->like;
    b.first = first;
    b.last = last;
    const uint32_t most = most_of(f->w, first == last);
    myth_status st = f->w->o->cost(f->w->o->user, &b, &cost, err);
    if (st == MYTH_OK && first == last && cost > most && b.removed_most) {
        b.removed_most = 0;
        st = f->w->o->cost(f->w->o->user, &b, &cost, err);
    }
    *does = cost <= most;
    return st;
}

static myth_status load_borders(packer *w, uint32_t source)
{
    if (w->border_of == source)
        return MYTH_OK;
    myth_free(w->p->mem, w->border);
    w->border = NULL;
    w->border_of = source;
    return myth_split_borders(&w->border, w->p->mem, w->o->worker_path, myth_material_of(w->m, source), w->o->is_local,
                              w->err);
}

/* How many of a block's first lines probably fit into a part; at least one. The search for those that do begins here,
 * and costs as much as it is wrong: of a share of the whole block, each part of a long file would count most of what is
 * left of it. */
static uint32_t likely_lines(const packer *w, const myth_block *b)
{
    enum { BYTES_OF_TOKEN = 3 }; /* of code; a table of numbers has fewer */
    const myth_line *line = &b->src->line[b->first - 1];
    uint32_t n = 1;
    while (n <= b->last - b->first &&
           (uint64_t)line[n].off + line[n].len - line->off <= (uint64_t)BYTES_OF_TOKEN * w->o->soft)
        n++;
    return n;
}

/* Cuts a block that is longer than a part: as much of it as fits goes into a part of its own. *b becomes the rest, and
 * *cost what was put. */
static myth_status put_cut(packer *w, uint32_t piece, myth_block *b, uint32_t *cost)
{
    myth_status st;
    uint32_t last = 0;
    myth_block head = *b;
    fit f = {w, b};
    MYTH_TRY(look_for_interrupt(w));
    MYTH_TRY(w->n_block && !w->has_only_head ? new_part(w) : MYTH_OK);
    MYTH_TRY(load_borders(w, myth_material_piece(w->m, piece)->source));
    MYTH_TRY(myth_split_next(&last, b->src, b->first, b->last, likely_lines(w, b), w->border, fits, &f, w->err));
    head.last = last;
    /* fewer lines may show more removed ones, because fewer places share their bytes */
    MYTH_TRY(limit_removed(w, &head, most_of(w, head.first == head.last)));
    MYTH_TRY(cost_of(w, &head, cost));
    MYTH_TRY(put_now(w, piece, &head, *cost));
    b->first = last + 1;
fail:
    return st;
}

/* Leaves the first line of the block out when it fits no prompt. */
static myth_status skip_line(packer *w, uint32_t piece, myth_block *b, bool *is_skipped)
{
    myth_parts *p = w->p;
    const fit f = {w, b};
    bool does = true;
    *is_skipped = false;
    if (!w->o->may_skip)
        return MYTH_OK;
    myth_status st = fits((void *)&f, b->first, b->first, &does, w->err);
    if (st != MYTH_OK || does)
        return st;
    if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_STAGING, "parts", &p->skip, p->n_skip, &p->cap_skip))
        return myth_fail(w->err, MYTH_ENOMEM, "parts: no room for %zu bytes", p->n_skip * sizeof(*p->skip));
    p->skip[p->n_skip++] = (myth_parts_skip){piece, b->first++};
    *is_skipped = true;
    return MYTH_OK;
}

static bool is_far_too_long(const packer *w, const myth_block *b)
{
    enum { BYTES_OF_TOKEN = 32 }; /* more than text has on average in any vocabulary */
    const myth_line *first = &b->src->line[b->first - 1], *last = &b->src->line[b->last - 1];
    return (uint64_t)last->off + last->len - first->off > (uint64_t)BYTES_OF_TOKEN * w->o->soft;
}

/* Puts a block into as many parts as it needs. One that does not fit is cut in two at its foremost border, and each
 * half is treated alike; so a half is cut without regard to what the other has, and a change in one leaves the other
 * as it was. What has no border in it, such as a long function, is cut by its text. */
static myth_status put_local(packer *w, uint32_t piece, myth_block b, uint32_t depth)
{
    enum { DEPTH_MAX = 64 }; /* names in a random order need a fifth of it for the largest file */
    myth_status st = MYTH_OK;
    uint32_t cost = 0, at;
    MYTH_TRY(load_borders(w, myth_material_piece(w->m, piece)->source));
    bool has_border = w->border && depth < DEPTH_MAX; /* lines without one have none in what is left of them */
    while (b.first <= b.last) {
        bool is_long = is_far_too_long(w, &b), is_skipped = false;
        if (!is_long) {
            MYTH_TRY(w->o->cost(w->o->user, &b, &cost, w->err));
            is_long = cost > w->o->soft && (b.last > b.first || cost > w->o->hard);
        }
        at = is_long && has_border ? myth_split_foremost(w->border, b.src, b.first, b.last) : 0;
        has_border &= !is_long || at;
        if (at) {
            myth_block left = b;
            left.last = at;
            MYTH_TRY(put_local(w, piece, left, depth + 1));
            b.first = at + 1;
        } else if (is_long) {
            MYTH_TRY(skip_line(w, piece, &b, &is_skipped));
            if (!is_skipped)
                MYTH_TRY(put_cut(w, piece, &b, &cost));
        } else {
            MYTH_TRY(w->n_block ? new_part(w) : MYTH_OK);
            return put_now(w, piece, &b, cost);
        }
    }
fail:
    return st;
}

/* Begins a part with the head of the definition that goes on in it with `rest`, unless there is no room for both. */
static myth_status put_head(packer *w, uint32_t i, const myth_block *rest)
{
    const myth_piece *p = myth_material_piece(w->m, i);
    myth_block head = {
        .src = rest->src, .first = p->head_first, .last = p->head_last, .symbol = p->symbol, .is_again = true};
    myth_block next = {.src = rest->src, .first = rest->first, .last = rest->first, .symbol = p->symbol};
    uint32_t cost = 0, cost_next = 0;
    myth_status st = MYTH_OK;
    if (w->o->is_alone || !p->head_first || p->head_last >= rest->first || rest->first == rest->last)
        return MYTH_OK;
    MYTH_TRY(cost_of(w, &head, &cost));
    MYTH_TRY(cost_of(w, &next, &cost_next));
    if (cost <= w->o->soft / 4 && cost_next <= w->o->soft - cost)
        MYTH_TRY(put_now(w, i, &head, cost));
fail:
    return st;
}

static myth_status put_subject(packer *w, uint32_t i)
{
    const myth_piece *piece = myth_material_piece(w->m, i);
    myth_block b = {
        .src = myth_material_of(w->m, piece->source),
        .first = piece->first,
        .last = piece->last,
        .symbol = piece->symbol,
        .removed_most = w->o->removed_most,
    };
    const bool is_empty = b.last < b.first;
    myth_status st = MYTH_OK;
    uint32_t cost = 0, cost_head = 0;
    do {
        if (cost / 2 <= w->o->soft) { /* far too long anyway: the estimate will do */
            MYTH_TRY(limit_removed(w, &b, UINT32_MAX));
            MYTH_TRY(cost_of(w, &b, &cost));
        }
        if (cost > most_of(w, false) && !is_empty && (b.last > b.first || cost > w->o->hard)) {
            if (w->o->is_local)
                return put_local(w, i, b, 0);
            MYTH_TRY(put_cut(w, i, &b, &cost_head));
            cost -= cost_head < cost ? cost_head : cost; /* an estimate of the rest */
            if (b.first <= b.last) {
                MYTH_TRY(new_part(w));
                MYTH_TRY(put_head(w, i, &b));
            }
            continue;
        }
        if (w->n_block && !w->has_only_head && (w->o->is_alone || cost > room(w) || w->n_block == MYTH_BLOCK_MAX))
            MYTH_TRY(new_part(w));
        MYTH_TRY(put_now(w, i, &b, cost));
        break;
    } while (b.first <= b.last);
fail:
    return st;
}

/* ---- context ---- */

/* Adds to the part those lines of context piece i that its blocks `shown` do not have, if they cost at most `most` and
 * the part may have that many blocks more. */
static myth_status put_context(packer *w, uint32_t part, uint32_t i, const myth_block *shown, uint32_t n_shown,
                               uint32_t most, uint32_t *cost)
{
    myth_block rest[MYTH_BLOCK_MAX];
    uint32_t each[MYTH_BLOCK_MAX], n = myth_parts_rest(rest, MYTH_BLOCK_MAX, w->m, i, true, shown, n_shown);
    myth_status st;
    *cost = 0;
    if (!n || n > MYTH_BLOCK_MAX - n_shown)
        return MYTH_OK;
    for (uint32_t k = 0; k < n; k++) {
        if ((st = w->o->cost(w->o->user, &rest[k], &each[k], w->err)) != MYTH_OK)
            return st;
        *cost += each[k];
    }
    if (*cost > most) {
        *cost = 0;
        return MYTH_OK;
    }
    for (uint32_t k = 0; k < n; k++)
        if ((st = put_row(w, part, i, &rest[k], each[k])) != MYTH_OK)
            return st;
    w->is_shown[i] = true;
    return MYTH_OK;
}

/* Lists the blocks of a part among the rows from `from` on. */
static uint32_t blocks_of(const packer *w, uint32_t part, uint32_t from, myth_block shown[MYTH_BLOCK_MAX])
{
    uint32_t n = 0;
    for (uint32_t k = from; k < w->p->n_row && n < MYTH_BLOCK_MAX; k++)
        if (w->p->row[k].part == part)
            shown[n++] = w->p->row[k].block;
    return n;
}

static bool is_context_of(const packer *w, uint32_t i, uint32_t subject)
{
    const myth_piece *p = myth_material_piece(w->m, i);
    return !p->is_subject && p->of == subject;
}

/* Adds the context of a subject to the current part, after the subject. */
static myth_status put_contexts(packer *w, uint32_t subject, uint32_t part_from)
{
    myth_block shown[MYTH_BLOCK_MAX];
    for (uint32_t i = 0; i < myth_material_n_piece(w->m); i++) {
        if (!is_context_of(w, i, subject))
            continue;
        uint32_t half = w->o->soft / 2, left = half > w->context_used ? half - w->context_used : 0, cost;
        uint32_t n = blocks_of(w, w->p->n_part - 1, part_from, shown);
        myth_status st = put_context(w, w->p->n_part - 1, i, shown, n, left < room(w) ? left : room(w), &cost);
        if (st != MYTH_OK)
            return st;
        w->used += cost;
        w->context_used += cost;
        w->n_block = blocks_of(w, w->p->n_part - 1, part_from, shown);
    }
    return MYTH_OK;
}

/* Fills the room that is left in a part with context of its subjects that it does not show yet. */
static myth_status fill_part(packer *w, uint32_t part, uint32_t from, uint32_t to)
{
    myth_block shown[MYTH_BLOCK_MAX];
    uint32_t n_piece = myth_material_n_piece(w->m), n = 0;
    for (uint32_t k = from; k < to && n < MYTH_BLOCK_MAX; k++)
        shown[n++] = w->p->row[k].block;
    for (uint32_t k = from; k < to; k++) {
        uint32_t subject = w->p->row[k].piece;
        if (!myth_material_piece(w->m, subject)->is_subject || (k > from && w->p->row[k - 1].piece == subject))
            continue;
        for (uint32_t i = 0; i < n_piece; i++) {
            uint32_t left = w->o->soft > w->part_used[part] ? w->o->soft - w->part_used[part] : 0, cost,
                     at = w->p->n_row;
            if (!left || n == MYTH_BLOCK_MAX)
                return MYTH_OK;
            if (!is_context_of(w, i, subject))
                continue;
            myth_status st = put_context(w, part, i, shown, n, left, &cost);
            if (st != MYTH_OK)
                return st;
            w->part_used[part] += cost;
            for (; at < w->p->n_row; at++)
                shown[n++] = w->p->row[at].block;
        }
    }
    return MYTH_OK;
}

/* ---- order ---- */

static uint32_t owner(const myth_material *m, const myth_parts_row *a)
{
    const myth_piece *p = myth_material_piece(m, a->piece);
    return p->is_subject ? a->piece : p->of;
}

/* Sorts stably by part, subject, role and piece: the lists are short and nearly in order. */
static bool comes_before(const myth_material *m, const myth_parts_row *a, const myth_parts_row *b)
{
    if (a->part != b->part)
        return a->part < b->part;
    if (owner(m, a) != owner(m, b))
        return owner(m, a) < owner(m, b);
    bool subject_a = myth_material_piece(m, a->piece)->is_subject,
         subject_b = myth_material_piece(m, b->piece)->is_subject;
    if (subject_a != subject_b)
        return subject_a;
    return a->piece != b->piece ? a->piece < b->piece : a->block.first < b->block.first;
}

static void sort(const myth_material *m, myth_parts *p)
{
    for (uint32_t i = 1; i < p->n_row; i++) {
        myth_parts_row x = p->row[i];
        uint32_t k = i;
        for (; k > 0 && comes_before(m, &x, &p->row[k - 1]); k--)
            p->row[k] = p->row[k - 1];
        p->row[k] = x;
    }
}

/* ---- the whole ---- */

static myth_status pack(packer *w)
{
    myth_status st = MYTH_OK;
    uint32_t n_piece = myth_material_n_piece(w->m), part_from = 0, n_part = 0;
    for (uint32_t i = 0; i < n_piece; i++) {
        const myth_piece *p = myth_material_piece(w->m, i);
        w->n_line += p->is_subject ? p->last + 1 - p->first : 0;
    }
    for (uint32_t i = 0; i < n_piece; i++) {
        if (!myth_material_piece(w->m, i)->is_subject)
            continue;
        MYTH_TRY(look_for_interrupt(w));
        MYTH_TRY(w->p->n_part ? MYTH_OK : new_part(w));
        MYTH_TRY(put_subject(w, i));
        if (w->p->n_part != n_part) { /* where the part at work begins in the list */
            n_part = w->p->n_part;
            for (part_from = w->p->n_row; part_from && w->p->row[part_from - 1].part == n_part - 1; part_from--) {}
        }
        MYTH_TRY(w->o->is_alone ? MYTH_OK : put_contexts(w, i, part_from));
    }
    if (w->p->n_part)
        w->part_used[w->p->n_part - 1] = w->used;
    uint32_t end = w->p->n_row, from = 0;
    for (uint32_t part = 0; part < w->p->n_part && !w->o->is_alone; part++) {
        uint32_t to = from;
        while (to < end && w->p->row[to].part == part)
            to++;
        MYTH_TRY(fill_part(w, part, from, to));
        from = to;
    }
    sort(w->m, w->p);
    for (uint32_t i = 0; i < n_piece; i++)
        if (!myth_material_piece(w->m, i)->is_subject &&
            (w->is_shown[i] || myth_parts_rest(NULL, 0, w->m, i, true, NULL, 0))) {
            w->p->n_context++;
            w->p->n_left_out += !w->is_shown[i];
        }
fail:
    return st;
}

myth_status myth_parts_make(myth_parts *out, myth_mem *mem, const myth_material *m, const myth_parts_opts *o,
                            myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_piece = myth_material_n_piece(m);
    *out = (myth_parts){.mem = mem};
    packer w = {.m = m, .o = o, .p = out, .border_of = UINT32_MAX, .err = err};
    w.part_used = myth_alloc_n(mem, MYTH_MEM_STAGING, "parts", o->max_part, sizeof(*w.part_used));
    w.is_shown = myth_alloc_n(mem, MYTH_MEM_STAGING, "parts", n_piece ? n_piece : 1, sizeof(*w.is_shown));
    if (!w.part_used || !w.is_shown)
        st = myth_fail(err, MYTH_ENOMEM, "parts: no room for %zu bytes", o->max_part * sizeof(*w.part_used) + n_piece);
    if (st == MYTH_OK)
        st = pack(&w);
    myth_free(mem, w.border);
    myth_free(mem, w.is_shown);
    myth_free(mem, w.part_used);
    if (st != MYTH_OK)
        myth_parts_close(out);
    return st;
}

void myth_parts_close(myth_parts *p)
{
    if (p->mem) {
        myth_free(p->mem, p->row);
        myth_free(p->mem, p->skip);
    }
    memset(p, 0, sizeof(*p));
}
