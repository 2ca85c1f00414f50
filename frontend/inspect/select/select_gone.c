/* select_gone.c - what a change removed whole: definitions that are nowhere any more, and the places that still use
 * them.
 *
 * Gone      a definition in removed lines whose name neither the file's new text nor the index defines. A name that is
 *           defined elsewhere is not gone, because nobody knows which of both a use means
 * Uses      by name, as the index has them, in languages that can use each other. A name with more uses than
 *           MYTH_SELECT_RANKED is a common word and is left out
 * Shown     of a deleted file first the definitions that are still used, each by itself, so that a long rest of the
 *           file does not hide them; then that rest */
#include "select_impl.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USES = MYTH_SELECT_RANKED, NAMES = 64, HUNKS = 64 };

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "diff: no memory"); }

/* ---- uses of a name ---- */

typedef struct {
    int64_t file_id;
    uint32_t line;
} use;

typedef struct {
    use use[USES];
    uint32_t n;
    bool is_common;
} uses;

static bool add_ref(void *arg, const myth_store_ref *ref)
{
    uses *u = arg;
    if (ref->kind == MYTH_REF_IMPORT)
        return true;
    u->is_common |= u->n == USES;
    if (!u->is_common)
        u->use[u->n++] = (use){ref->file_id, ref->line};
    return !u->is_common;
}

/* Lists the uses of a name that nothing defines any more; none when it is defined or common. */
static myth_status find_uses(const myth_gone *g, uses *u, const char *name, myth_error *err)
{
    myth_store *store = myth_index_store(g->s->index);
    myth_usage now = {0};
    *u = (uses){.n = 0};
    if (++*g->n_lookup > MYTH_SELECT_LOOKUPS) {
        g->counts->n_more++;
        return MYTH_OK;
    }
    myth_status st = myth_usage_find_uses(&now, g->s->index, name, g->s->is_cancelled, err);
    const bool is_defined = now.n_definition > 0;
    myth_usage_free(&now);
    if (st != MYTH_OK || is_defined)
        return st;
    if ((st = myth_store_read_begin(store, err)) != MYTH_OK)
        return st;
    st = myth_store_refs_named(store, name, add_ref, u, err);
    myth_store_read_end(store);
    u->n = u->is_common ? 0 : u->n;
    return st;
}

/* A use that may be shown: its file, and the definition around it. */
typedef struct {
    char path[1024]; /* "" = its language cannot use what is gone */
    bool is_test, is_around;
    myth_usage_around around;
} user;

static myth_status find_user(const myth_gone *g, user *out, const use *u, const char *language, myth_error *err)
{
    myth_store *store = myth_index_store(g->s->index);
    sqlite3_stmt *q = NULL;
    *out = (user){.path = ""};
    int rc =
        sqlite3_prepare_v2(myth_store_db(store), "SELECT path, language, flags FROM files WHERE id=?1", -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, u->file_id);
        if ((rc = sqlite3_step(q)) == SQLITE_ROW) {
            const char *own = (const char *)sqlite3_column_text(q, 1);
            if (own && myth_language_is_kin(own, language) && (size_t)sqlite3_column_bytes(q, 0) < sizeof(out->path))
                snprintf(out->path, sizeof(out->path), "%.*s", sqlite3_column_bytes(q, 0),
                         (const char *)sqlite3_column_blob(q, 0));
            out->is_test = (sqlite3_column_int64(q, 2) & MYTH_FILE_TEST) != 0;
        }
    }
    sqlite3_finalize(q);
    const myth_status st = myth_store_fail(store, rc == SQLITE_ROW ? SQLITE_OK : rc, err);
    return st != MYTH_OK || !out->path[0]
             ? st
             : myth_usage_around_line(&out->around, &out->is_around, g->s->index, out->path, u->line, err);
}

/* ---- pieces ---- */

/* The subject that the pieces belong to; UINT32_MAX = the first one that is added becomes it. */
typedef struct {
    const myth_gone *g;
    const char *path, *language; /* of the file that lost the definition */
    uint32_t host, n_use;
} place;

static myth_status add_use(place *p, const use *u, const user *in, const char *name, myth_error *err)
{
    char why[160];
    bool is_new;
    uint32_t index = UINT32_MAX;
    if (p->n_use >= MYTH_SELECT_CALLERS || (p->host == UINT32_MAX && !myth_select_is_below(p->g->s, in->path)))
        return MYTH_OK;
    snprintf(why, sizeof(why), "uses %.60s of %.60s, which is gone", name, p->path);
    myth_wanted w = {
        .path = in->path,
        .name = in->is_around ? in->around.name : "",
        .parent = in->is_around ? in->around.parent : "",
        .why = why,
        .line = u->line,
        .line0 = in->is_around ? in->around.line0 : u->line,
        .line1 = in->is_around ? in->around.line1 : u->line,
        .is_subject = p->host == UINT32_MAX,
        .is_extra = true,
        .of = p->host,
    };
    if (w.is_subject && !in->is_around) {
        w.line0 = w.line > MYTH_SELECT_TOP ? w.line - MYTH_SELECT_TOP : 1;
        w.line1 = w.line + MYTH_SELECT_TOP;
    } else if (w.is_subject && w.line1 - w.line0 >= MYTH_SELECT_WHOLE) { /* a part of a long one is enough */
        w.line0 = w.line > w.line0 + MYTH_SELECT_AROUND ? w.line - MYTH_SELECT_AROUND : w.line0;
        w.line1 = w.line + MYTH_SELECT_AROUND < w.line1 ? w.line + MYTH_SELECT_AROUND : w.line1;
    }
    myth_status st = myth_select_add(p->g->s, &index, &is_new, p->g->m, &w, err);
    if (st != MYTH_OK || index == UINT32_MAX)
        return st;
    if (w.is_subject) {
        p->g->counts->n_subject += is_new;
        p->host = index;
    } else {
        p->g->counts->n_context += is_new;
    }
    p->n_use++;
    return MYTH_OK;
}

/* Adds the uses in definitions, those in tests last, one for each definition. A use outside of definitions, such as an
 * import, is added when its file has no other. */
static myth_status add_users(place *p, const uses *u, const char *name, myth_error *err)
{
    enum { IN_CODE, IN_TESTS, OUTSIDE, RANKS };
    myth_status st = MYTH_OK;
    uint32_t line0[USES];
    user *in = myth_alloc_n(p->g->s->mem, MYTH_MEM_OTHER, "diff", u->n ? u->n : 1, sizeof(*in));
    if (!in)
        return no_memory(err);
    for (uint32_t i = 0; i < u->n; i++) {
        MYTH_TRY(find_user(p->g, &in[i], &u->use[i], p->language, err));
        line0[i] = in[i].is_around ? in[i].around.line0 : 0;
    }
    for (int rank = 0; rank < RANKS; rank++)
        for (uint32_t i = 0; i < u->n; i++) {
            bool is_other = !in[i].path[0] || rank != (!line0[i] ? OUTSIDE : in[i].is_test ? IN_TESTS : IN_CODE);
            for (uint32_t k = 0; k < u->n && !is_other; k++)
                is_other = u->use[k].file_id == u->use[i].file_id &&
                           ((k < i && line0[k] == line0[i]) || (!line0[i] && line0[k]));
            if (!is_other)
                MYTH_TRY(add_use(p, &u->use[i], &in[i], name, err));
        }
fail:
    myth_free(p->g->s->mem, in);
    return st;
}

static bool has_symbol(const myth_chunks *c, const char *name)
{
    for (uint32_t i = 0; c && i < c->n_symbol; i++)
        if (strcmp(c->names + c->symbol[i].name, name) == 0)
            return true;
    return false;
}

/* Adds what uses the definitions of `old` that `now` (NULL = nothing) lacks. used[] gets their indexes. */
static myth_status add_uses(place *p, const myth_chunks *old, const myth_chunks *now, uint32_t used[NAMES],
                            uint32_t *n_used, myth_error *err)
{
    uses *u = myth_alloc(p->g->s->mem, MYTH_MEM_OTHER, "diff", sizeof(*u));
    myth_status st = u ? MYTH_OK : no_memory(err);
    *n_used = 0;
    for (uint32_t i = 0; i < old->n_symbol && st == MYTH_OK && *n_used < NAMES; i++) {
        const char *name = old->names + old->symbol[i].name;
        bool is_left_out = old->symbol[i].kind == MYTH_SYMBOL_MODULE || old->symbol[i].kind == MYTH_SYMBOL_TEST;
        is_left_out |= !now && !old->symbol[i].is_exported; /* only its own file could use it */
        for (uint32_t k = 0; k < i && !is_left_out; k++)
            is_left_out = strcmp(name, old->names + old->symbol[k].name) == 0;
        if (is_left_out || !name[0] || has_symbol(now, name))
            continue;
        st = find_uses(p->g, u, name, err);
        const uint32_t n = p->n_use;
        if (st == MYTH_OK)
            st = add_users(p, u, name, err);
        if (p->n_use > n)
            used[(*n_used)++] = i;
    }
    myth_free(p->g->s->mem, u);
    return st;
}

/* ---- a deleted file ---- */

/* The first byte of line n, from 1; of the line after the last one, the end. */
static size_t line_at(const char *text, size_t len, uint32_t n)
{
    size_t at = 0;
    for (uint32_t line = 1; line < n && at < len; line++) {
        const char *end = memchr(text + at, '\n', len - at);
        at = end ? (size_t)(end - text) + 1 : len;
    }
    return at;
}

static int by_before(const void *a, const void *b)
{
    const myth_removed *x = *(const myth_removed *const *)a, *y = *(const myth_removed *const *)b;
    if (!x->path != !y->path)
        return x->path ? 1 : -1; /* the file's own first */
    return x->before != y->before ? (x->before > y->before) - (x->before < y->before) : (x > y) - (x < y);
}

/* Puts more removed lines to those that a source has. */
static myth_status put_removed(const myth_gone *g, uint32_t source, const myth_removed *more, uint32_t n_more,
                               myth_error *err)
{
    const myth_source *src = myth_material_of(g->m, source);
    const uint32_t n = src->n_removed + n_more;
    myth_removed *list = myth_alloc_n(g->s->mem, MYTH_MEM_OTHER, "diff", 2 * (size_t)n, sizeof(*list));
    const myth_removed **order = myth_alloc_n(g->s->mem, MYTH_MEM_OTHER, "diff", n, sizeof(*order));
    myth_status st = list && order ? MYTH_OK : no_memory(err);
    if (st == MYTH_OK) {
        if (src->n_removed)
            memcpy(list, src->removed, src->n_removed * sizeof(*list));
        memcpy(list + src->n_removed, more, n_more * sizeof(*list));
        for (uint32_t i = 0; i < n; i++)
            order[i] = &list[i];
        qsort(order, n, sizeof(*order), by_before);
        for (uint32_t i = 0; i < n; i++)
            list[n + i] = *order[i];
        st = myth_material_removed(g->m, source, list + n, n, err);
    }
    myth_free(g->s->mem, order);
    myth_free(g->s->mem, list);
    return st;
}

/* Writes the file's lines but those of the definitions in `used`, and returns how many bytes; *n_line = lines. */
static size_t put_rest(char *dst, uint32_t *n_line, const myth_diff_file *f, const myth_chunks *c, const uint32_t *used,
                       uint32_t n_used)
{
    size_t n = 0, at = 0;
    *n_line = 0;
    for (uint32_t line = 1; at < f->n_old_text; line++) {
        const char *end = memchr(f->old_text + at, '\n', f->n_old_text - at);
        const size_t next = end ? (size_t)(end - f->old_text) + 1 : f->n_old_text;
        bool is_in = false;
        for (uint32_t k = 0; k < n_used && !is_in; k++)
            is_in = line >= c->symbol[used[k]].line0 && line <= c->symbol[used[k]].line1;
        if (!is_in) {
            memcpy(dst + n, f->old_text + at, next - at);
            n += next - at;
            ++*n_line;
        }
        at = next;
    }
    return n;
}

/* Puts the file's lines beside the host: the used definitions, then the rest. */
static myth_status put_file(const place *p, const myth_diff_file *f, const myth_chunks *c, const uint32_t *used,
                            uint32_t n_used, myth_error *err)
{
    const myth_piece *host = myth_material_piece(p->g->m, p->host);
    myth_removed list[NAMES + 1];
    uint32_t n = 0;
    char *rest = myth_alloc(p->g->s->mem, MYTH_MEM_OTHER, "diff", f->n_old_text + 1);
    if (!rest)
        return no_memory(err);
    for (uint32_t k = 0; k < n_used; k++) {
        const myth_symbol *y = &c->symbol[used[k]];
        bool is_inside = false; /* of another one that is used, which shows it */
        for (uint32_t i = 0; i < n_used && !is_inside; i++)
            is_inside = i != k && c->symbol[used[i]].line0 <= y->line0 && c->symbol[used[i]].line1 >= y->line1;
        const size_t from = line_at(f->old_text, f->n_old_text, y->line0),
                     to = line_at(f->old_text, f->n_old_text, y->line1 + 1);
        if (!is_inside && to > from)
            list[n++] = (myth_removed){.before = host->first,
                                       .n_line = y->line1 - y->line0 + 1,
                                       .text = f->old_text + from,
                                       .len = to - from,
                                       .path = f->path};
    }
    myth_removed all = {.before = host->first, .text = rest, .path = f->path};
    all.len = put_rest(rest, &all.n_line, f, c, used, n_used);
    if (all.len)
        list[n++] = all;
    myth_status st = put_removed(p->g, host->source, list, n, err);
    myth_free(p->g->s->mem, rest);
    return st;
}

static uint32_t first_subject(const myth_material *m)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++)
        if (myth_material_piece(m, i)->is_subject && myth_material_piece(m, i)->first)
            return i;
    return UINT32_MAX;
}

myth_status myth_gone_file(myth_gone *g, const myth_diff_file *f, uint32_t *n_use, bool *is_shown, myth_error *err)
{
    const unsigned char *bytes = (const unsigned char *)f->old_text;
    const char *language = myth_detect_language(f->path, bytes, f->n_old_text);
    place p = {.g = g, .path = f->path, .language = language, .host = UINT32_MAX};
    uint32_t used[NAMES], n_used = 0;
    myth_chunks c = {0};
    myth_status st;
    *n_use = 0;
    *is_shown = false;
    if (!f->n_old_text || f->n_old_text > MYTH_SOURCE_MAX || f->is_link || f->is_module)
        return MYTH_OK;
    MYTH_TRY(myth_chunk_file(&c, g->s->chunker, language, f->path, bytes, f->n_old_text, err));
    if (!c.n_symbol)
        goto fail;
    MYTH_TRY(add_uses(&p, &c, NULL, used, &n_used, err));
    *n_use = p.n_use;
    if (p.host == UINT32_MAX && g->n_unused < MYTH_GONE_UNUSED) {
        p.host = first_subject(g->m);
        g->n_unused++;
    }
    if (p.host == UINT32_MAX)
        goto fail;
    MYTH_TRY(put_file(&p, f, &c, used, n_used, err));
    *is_shown = true;
fail:
    myth_chunks_free(&c, g->s->mem);
    return st;
}

/* ---- a changed file ---- */

/* The subject that lines were removed from. */
static uint32_t subject_at(const myth_material *m, uint32_t source, uint32_t before)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (p->is_subject && p->source == source && before >= p->first && before <= p->last + 1)
            return i;
    }
    return UINT32_MAX;
}

myth_status myth_gone_lines(const myth_gone *g, const myth_diff_file *f, uint32_t source, const myth_chunks *now,
                            myth_error *err)
{
    const char *path = myth_material_of(g->m, source)->path;
    const unsigned char *new_bytes = myth_material_of(g->m, source)->bytes;
    const char *language = myth_detect_language(path, new_bytes, myth_material_of(g->m, source)->len);
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < f->n_removed && i < HUNKS && st == MYTH_OK; i++) {
        const myth_diff_removed *r = &f->removed[i];
        const unsigned char *text = (const unsigned char *)f->old_text + r->off;
        place p = {.g = g, .path = path, .language = language, .host = subject_at(g->m, source, r->before)};
        uint32_t used[NAMES], n_used;
        myth_chunks c = {0};
        if (p.host == UINT32_MAX)
            continue;
        st = myth_chunk_file(&c, g->s->chunker, language, path, text, r->len, err);
        if (st == MYTH_OK)
            st = add_uses(&p, &c, now, used, &n_used, err);
        myth_chunks_free(&c, g->s->mem);
    }
    return st;
}
