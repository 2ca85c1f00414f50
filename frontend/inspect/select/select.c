/* select.c - opens the selector, and adds to a material the files, definitions and usages that a selection names. */
#include "select_impl.h"
#include "frontend/inspect/prompt/source.h"

#include <stdio.h>
#include <string.h>

myth_status myth_select_open(myth_select **out, myth_mem *mem, myth_index *index, myth_revision *side,
                             const char *worker_path, const myth_cancel *is_cancelled, myth_error *err)
{
    myth_select *s = *out = myth_alloc(mem, MYTH_MEM_OTHER, "select", sizeof(*s));
    if (!s)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a selection");
    *s = (myth_select){
        .mem = mem,
        .index = index,
        .side = side,
        .is_cancelled = is_cancelled,
        .scope = "",
        .missed = {.mem = mem},
    };
    myth_status st = myth_chunker_open(&s->chunker, mem, worker_path, err);
    if (st != MYTH_OK) {
        myth_select_close(s);
        *out = NULL;
    }
    return st;
}

void myth_select_set_scope(myth_select *s, const char *prefix) { s->scope = prefix; }

void myth_select_set_generated(myth_select *s, bool is_wanted) { s->with_generated = is_wanted; }

bool myth_select_is_below(const myth_select *s, const char *path)
{
    return strncmp(path, s->scope, strlen(s->scope)) == 0;
}

void myth_select_watch(myth_select *s, myth_select_watcher on_search, void *user)
{
    s->on_search = on_search;
    s->on_search_user = user;
}

void myth_select_close(myth_select *s)
{
    if (!s)
        return;
    myth_missed_free(&s->missed);
    myth_chunker_close(s->chunker);
    myth_free(s->mem, s);
}

const myth_missed_list *myth_select_missed(const myth_select *s) { return &s->missed; }

_Static_assert(MYTH_SOURCE_MAX == 4 << 20, "the limit that is said below");

const char *myth_select_unread(myth_status st)
{
    switch (st) {
    case MYTH_ENOTFOUND: return "it is not on the new side";
    case MYTH_ELIMIT: return "it is larger than what is read, 4 MiB";
    case MYTH_EUNSUPPORTED: return "it is a symbolic link or a submodule";
    case MYTH_EIO: return "it cannot be read";
    default: return NULL;
    }
}

/* Lists a piece that cannot be shown as missed, when it was asked for. */
static myth_status add_missed(myth_select *s, const myth_wanted *w, const char *why, myth_error *err)
{
    return (w->is_subject && !w->is_extra) || w->is_asked
             ? myth_missed_add(&s->missed, w->path, w->line0, w->line1, why, err)
             : MYTH_OK;
}

void myth_select_set_rank(myth_select *s, myth_rank_fn rank, void *user)
{
    s->rank = rank;
    s->rank_user = user;
}

static bool find_source(const myth_material *m, uint32_t *source, const char *path)
{
    for (uint32_t i = 0; i < myth_material_n_source(m); i++)
        if (strcmp(myth_material_of(m, i)->path, path) == 0) {
            *source = i;
            return true;
        }
    return false;
}

myth_status myth_select_source(myth_select *s, uint32_t *source, myth_material *m, const char *path, myth_error *err)
{
    unsigned char *bytes = NULL;
    size_t n;
    if (find_source(m, source, path))
        return MYTH_OK;
    myth_status st = myth_revision_read(s->side, &bytes, &n, path, MYTH_SOURCE_MAX, err);
    if (st == MYTH_OK)
        st = myth_material_put(m, source, path, bytes, n, err);
    myth_free(s->mem, bytes);
    return st;
}

/* Finds the definition in the text of this side, because the index knows only the working tree: of those with the same
 * name and parent, the one whose first line is nearest to the index's. *is_there is false when there is none. */
static myth_status relocate(myth_select *s, myth_wanted *w, bool *is_there, const myth_source *src, myth_error *err)
{
    myth_chunks c = {0};
    *is_there = false;
    myth_status st = myth_chunk_file(&c, s->chunker, myth_detect_language(src->path, src->bytes, src->len), src->path,
                                     src->bytes, src->len, err);
    if (st != MYTH_OK)
        return st;
    uint32_t best = UINT32_MAX, line = w->line, line0 = w->line0;
    for (uint32_t i = 0; i < c.n_symbol; i++) {
        const myth_symbol *y = &c.symbol[i];
        if (strcmp(c.names + y->name, w->name) != 0 || strcmp(c.names + y->parent, w->parent) != 0)
            continue;
        uint32_t far = y->line0 > line0 ? y->line0 - line0 : line0 - y->line0;
        if (far >= best)
            continue;
        best = far;
        w->line0 = y->line0;
        w->line1 = y->line1;
        w->line = line - line0 + y->line0 <= y->line1 ? line - line0 + y->line0 : y->line0;
        *is_there = true;
    }
    myth_chunks_free(&c, s->mem);
    return MYTH_OK;
}

/* Whether the material's pieces together already show every line from first to last. */
static bool is_shown(const myth_material *m, uint32_t source, uint32_t first, uint32_t last)
{
    for (uint32_t line = first; line <= last;) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
            const myth_piece *p = myth_material_piece(m, i);
            if (p->source == source && p->first <= line && p->last >= line)
                next = p->last + 1 > next ? p->last + 1 : next;
        }
        if (next == 0)
            return false;
        line = next;
    }
    return true;
}

myth_status myth_select_add(myth_select *s, uint32_t *index, bool *is_new, myth_material *m, const myth_wanted *wanted,
                            myth_error *err)
{
    myth_wanted w = *wanted;
    myth_error local = {0};
    uint32_t source;
    bool is_there = true;
    char symbol[512];
    *is_new = false;
    myth_status st = myth_select_source(s, &source, m, w.path, &local);
    if (st != MYTH_OK && myth_select_unread(st))
        return add_missed(s, &w, myth_select_unread(st), err);
    if (st != MYTH_OK) {
        if (err)
            *err = local;
        return st;
    }
    const myth_source *src = myth_material_of(m, source);
    if (w.name[0] && !myth_revision_is_worktree(s->side))
        st = relocate(s, &w, &is_there, src, err);
    if (st != MYTH_OK)
        return st;
    if (!is_there)
        return add_missed(s, &w, "this side does not have the definition", err);
    if (!w.name[0] && !w.is_subject) {
        w.line0 = w.line > MYTH_SELECT_TOP ? w.line - MYTH_SELECT_TOP : 1;
        w.line1 = w.line + MYTH_SELECT_TOP > wanted->line1 ? w.line + MYTH_SELECT_TOP : wanted->line1;
    } else if (!w.is_subject && w.line1 - w.line0 >= MYTH_SELECT_WHOLE) {
        uint32_t first = w.line > w.line0 + MYTH_SELECT_AROUND ? w.line - MYTH_SELECT_AROUND : w.line0;
        w.line1 = first + 2 * MYTH_SELECT_AROUND < w.line1 ? first + 2 * MYTH_SELECT_AROUND : w.line1;
        w.line0 = first;
    }
    if (w.line1 > src->n_line)
        w.line1 = src->n_line;
    if (w.line0 == 0 || w.line0 > w.line1)
        return add_missed(s, wanted, "it has fewer lines than when it was indexed", err);
    if (!w.is_subject && is_shown(m, source, w.line0, w.line1))
        return MYTH_OK;
    snprintf(symbol, sizeof(symbol), "%.250s%s%.250s", w.parent, w.parent[0] ? "." : "", w.name);
    myth_piece p = {
        .source = source,
        .first = w.line0,
        .last = w.line1,
        .symbol = w.name[0] ? symbol : NULL,
        .why = w.why,
        .score = w.score,
        .is_subject = w.is_subject,
        .of = w.of,
    };
    uint32_t n = myth_material_n_piece(m);
    st = myth_material_add(m, index, &p, err);
    /* Context counts as new even without a new piece: its lines may have joined a piece that was there. */
    *is_new = st == MYTH_OK && (!w.is_subject || myth_material_n_piece(m) > n);
    return st;
}

/* ---- what the index knows of a definition ---- */

/* Reads the lines of a place from this side. *text is NULL when the file is not there or cannot be shown. */
static myth_status read_place(myth_select *s, unsigned char **bytes, const char **text, size_t *n_text,
                              const myth_usage_place *p, myth_error *err)
{
    myth_error local = {0};
    size_t n, at = 0;
    uint32_t line = 1;
    *text = NULL;
    *n_text = 0;
    myth_status st = myth_revision_read(s->side, bytes, &n, p->path, MYTH_SOURCE_MAX, &local);
    if (st == MYTH_ENOTFOUND || st == MYTH_EUNSUPPORTED || st == MYTH_ELIMIT)
        return MYTH_OK;
    if (st != MYTH_OK) {
        if (err)
            *err = local;
        return st;
    }
    for (; at < n && line < p->line0; at++)
        line += (*bytes)[at] == '\n';
    size_t end = at;
    for (; end < n && line <= p->line1; end++)
        line += (*bytes)[end] == '\n';
    *text = (const char *)*bytes + at;
    *n_text = end - at;
    return MYTH_OK;
}

/* Decides in which order places are added: in their own order, or, when there are more than `most` and there is a
 * ranker, in the ranker's. */
static myth_status order_places(myth_select *s, uint32_t order[MYTH_USAGE_PLACES], const myth_usage_places *places,
                                uint32_t most, const char *name, const char *what, myth_error *err)
{
    uint32_t n = places->n < MYTH_SELECT_RANKED ? places->n : MYTH_SELECT_RANKED, rank[MYTH_SELECT_RANKED];
    unsigned char *bytes[MYTH_SELECT_RANKED] = {NULL};
    myth_candidate c[MYTH_SELECT_RANKED];
    char question[320];
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < places->n; i++)
        order[i] = i;
    if (!s->rank || places->n <= most)
        return MYTH_OK;
    snprintf(question, sizeof(question), "Which %s of %.200s matters most for whether it is right and safe?", what,
             name);
    for (uint32_t i = 0; i < n; i++) {
        const myth_usage_place *p = &places->place[i];
        const char *text;
        size_t n_text;
        MYTH_TRY(read_place(s, &bytes[i], &text, &n_text, p, err));
        c[i] = (myth_candidate){
            .path = p->path,
            .symbol = p->name,
            .text = text ? text : "",
            .n_text = n_text,
            .line = p->line0,
        };
    }
    MYTH_TRY(s->rank(s->rank_user, question, c, n, rank, err));
    memcpy(order, rank, n * sizeof(*order));
fail:
    for (uint32_t i = 0; i < n; i++)
        myth_free(s->mem, bytes[i]);
    return st;
}

/* Lists as missed the places in `order` from index `from` on, and in one entry those that the lookup only counted. */
static myth_status miss_places(myth_select *s, const myth_usage_places *places, const uint32_t *order, uint32_t from,
                               const char *name, const char *what, uint32_t most, myth_error *err)
{
    char why[160];
    myth_status st = MYTH_OK;
    snprintf(why, sizeof(why), "it is a %s of %.60s past the %u that are shown", what, name, most);
    for (uint32_t i = from; i < places->n && st == MYTH_OK; i++) {
        const myth_usage_place *p = &places->place[order[i]];
        st = myth_missed_add(&s->missed, p->path, p->line0, p->line1, why, err);
    }
    if (places->n_more && st == MYTH_OK) {
        snprintf(why, sizeof(why), "it has %u more places that are a %s", places->n_more, what);
        st = myth_missed_add(&s->missed, name, 0, 0, why, err);
    }
    return st;
}

static myth_status add_places(myth_select *s, myth_material *m, const myth_usage_places *places, const char *name,
                              const char *what, uint32_t of, uint32_t most, bool is_asked, myth_select_counts *counts,
                              myth_error *err)
{
    uint32_t n = 0, i, order[MYTH_USAGE_PLACES];
    myth_status st = most ? order_places(s, order, places, most, name, what, err) : MYTH_OK;
    if (st != MYTH_OK || !most)
        return st;
    for (i = 0; i < places->n && n < most; i++) {
        const myth_usage_place *p = &places->place[order[i]];
        char why[MYTH_USAGE_WHY + 16];
        bool is_new;
        snprintf(why, sizeof(why), "%s: %s", what, p->why);
        myth_wanted w = {
            .path = p->path,
            .name = p->name,
            .parent = p->parent,
            .why = why,
            .line = p->line,
            .line0 = p->line0,
            .line1 = p->line1,
            .score = p->strength,
            .is_asked = is_asked,
            .of = of,
        };
        st = myth_select_add(s, NULL, &is_new, m, &w, err);
        if (st != MYTH_OK)
            return st;
        n += is_new;
        counts->n_context += is_new;
    }
    counts->n_more += places->n - i + places->n_more;
    return is_asked ? miss_places(s, places, order, i, name, what, most, err) : MYTH_OK;
}

myth_status myth_select_usage(myth_select *s, myth_material *m, const myth_usage_definition *d, uint32_t of,
                              const myth_select_most *most, myth_select_counts *counts, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(add_places(s, m, &d->callers, d->name, "caller", of, most->callers, most->is_asked, counts, err));
    MYTH_TRY(add_places(s, m, &d->callees, d->name, "callee", of, most->callees, most->is_asked, counts, err));
    MYTH_TRY(add_places(s, m, &d->tests, d->name, "test", of, most->tests, most->is_asked, counts, err));
    MYTH_TRY(add_places(s, m, &d->exports, d->name, "export", of, most->exports, most->is_asked, counts, err));
fail:
    return st;
}

myth_status myth_select_nearest(myth_select *s, char *dst, size_t cap, const char *name, myth_error *err)
{
    enum { SHOWN = 5 };
    myth_near near[SHOWN];
    uint32_t n;
    size_t at = 0;
    dst[0] = '\0';
    myth_status st = myth_usage_nearest(near, SHOWN, &n, s->index, name, err);
    for (uint32_t i = 0; st == MYTH_OK && i < n; i++) {
        char one[400];
        int len = snprintf(one, sizeof(one), "%s%.120s (%.200s)", i ? ", " : "", near[i].name, near[i].path);
        if (len < 0 || at + (size_t)len >= cap)
            break;
        memcpy(dst + at, one, (size_t)len + 1);
        at += (size_t)len;
    }
    return st;
}
