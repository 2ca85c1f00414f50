/* material.c - keeps sources and pieces in two tables that only grow. Each source has an allocation of its own, so that
 * pointers to it stay valid. */
#include "material.h"

#include "comments.h"
#include "engine/base/map.h"
#include "engine/base/table.h"
#include "engine/base/text.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    myth_source src;
    myth_mem *mem;
    char *path;
    unsigned char *bytes;
    myth_removed *removed; /* the list, and in the same allocation its texts and what is known of their lines */
    myth_added *added;
    uint32_t last; /* 1 + its last piece; 0 = none */
} entry;

typedef struct {
    myth_piece p;
    myth_mem *mem;
    char *text;      /* symbol and why */
    uint32_t before; /* 1 + the piece of the same source before it; 0 = none */
} record;

struct myth_material {
    myth_mem *own, *mem; /* own: ledger of the tables; mem: ledger of what is added now */
    const char *root;
    entry **entry;
    uint32_t n_entry, cap_entry;
    uint32_t *slot; /* finds a source by its path */
    uint32_t n_slot;
    record *record;
    uint32_t n_record, cap_record;
    uint32_t sealed;                /* new lines never join a piece before this one */
    uint32_t own_record, own_entry; /* pieces and files before the first seal */
    bool is_sealed;
};

static myth_status no_room(const char *what, size_t bytes, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", what, bytes);
}

/* ---- life ---- */

myth_status myth_material_open(myth_material **out, myth_mem *mem, const char *root, myth_error *err)
{
    myth_material *m = myth_alloc(mem, MYTH_MEM_STAGING, "material", sizeof(*m));
    if (!m)
        return no_room("material", sizeof(*m), err);
    m->own = m->mem = mem;
    m->root = root;
    *out = m;
    return MYTH_OK;
}

static void close_entry(entry *e)
{
    myth_mem *mem = e->mem;
    myth_source_close(&e->src);
    myth_free(mem, e->removed);
    myth_free(mem, e->added);
    myth_free(mem, e->bytes);
    myth_free(mem, e->path);
    myth_free(mem, e);
}

void myth_material_close(myth_material *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_entry; i++)
        close_entry(m->entry[i]);
    for (uint32_t i = 0; i < m->n_record; i++)
        myth_free(m->record[i].mem, m->record[i].text);
    myth_free(m->own, m->record);
    myth_free(m->own, m->entry);
    myth_free(m->own, m->slot);
    myth_free(m->own, m);
}

/* Makes room in a table for `extra` more rows. */
static myth_status grow_table(const myth_material *m, void **table, uint32_t n, uint32_t *cap, size_t size,
                              uint32_t extra, myth_error *err)
{
    if (n + extra <= *cap)
        return MYTH_OK;
    if (m->is_sealed)
        return myth_fail(err, MYTH_EFULL,
                         "no room for more files or pieces: at most %d and %d are added while an inspection runs",
                         (int)MYTH_SEALED_SOURCES, (int)MYTH_SEALED_PIECES);
    uint32_t more = n + extra + (extra == 1 ? n + 7 : 0);
    void *to = myth_realloc(m->own, MYTH_MEM_STAGING, "material", *table, more * size);
    if (!to)
        return no_room("material", more * size, err);
    *table = to;
    *cap = more;
    return MYTH_OK;
}

static bool has_path(const void *of, uint32_t idx, const void *key)
{
    return !strcmp(((const myth_material *)of)->entry[idx]->path, key);
}

static uint32_t *slot_of(const myth_material *m, const char *path)
{
    return myth_table_find(m->slot, m->n_slot, myth_hash_bytes(path, strlen(path)), has_path, m, path);
}

static void fill_slots(myth_material *m)
{
    if (m->n_slot)
        memset(m->slot, 0, m->n_slot * sizeof(*m->slot));
    for (uint32_t i = 0; i < m->n_entry; i++)
        *slot_of(m, m->entry[i]->path) = i + 1;
}

/* Makes room in the table of paths for `extra` more sources. */
static myth_status grow_slots(myth_material *m, uint32_t extra, myth_error *err)
{
    const uint32_t need = myth_table_slots((uint64_t)m->n_entry + extra);
    if (need <= m->n_slot)
        return MYTH_OK;
    uint32_t *slot = myth_alloc_n(m->own, MYTH_MEM_STAGING, "material", need, sizeof(*slot));
    if (!slot)
        return no_room("material", need * sizeof(*slot), err);
    myth_free(m->own, m->slot);
    m->slot = slot;
    m->n_slot = need;
    fill_slots(m);
    return MYTH_OK;
}

myth_status myth_material_seal(myth_material *m, myth_mem *mem, myth_error *err)
{
    myth_status st = MYTH_OK;
    m->sealed = m->n_record;
    if (m->is_sealed)
        return MYTH_OK;
    MYTH_TRY(grow_table(m, (void **)&m->entry, m->n_entry, &m->cap_entry, sizeof(*m->entry), MYTH_SEALED_SOURCES, err));
    MYTH_TRY(
        grow_table(m, (void **)&m->record, m->n_record, &m->cap_record, sizeof(*m->record), MYTH_SEALED_PIECES, err));
    m->cap_entry = m->n_entry + MYTH_SEALED_SOURCES;
    m->cap_record = m->n_record + MYTH_SEALED_PIECES;
    MYTH_TRY(grow_slots(m, MYTH_SEALED_SOURCES, err));
    m->own_record = m->n_record;
    m->own_entry = m->n_entry;
    m->mem = mem;
    m->is_sealed = true;
fail:
    return st;
}

void myth_material_unseal(myth_material *m)
{
    if (!m->is_sealed)
        return;
    for (; m->n_record > m->own_record; m->n_record--) {
        m->entry[m->record[m->n_record - 1].p.source]->last = m->record[m->n_record - 1].before;
        myth_free(m->mem, m->record[m->n_record - 1].text);
    }
    while (m->n_entry > m->own_entry)
        close_entry(m->entry[--m->n_entry]);
    fill_slots(m);
    m->sealed = 0;
    m->mem = m->own;
    m->is_sealed = false;
}

/* ---- sources ---- */

uint32_t myth_material_n_source(const myth_material *m) { return m->n_entry; }
const myth_source *myth_material_of(const myth_material *m, uint32_t source) { return &m->entry[source]->src; }

static bool find_source(const myth_material *m, uint32_t *source, const char *path)
{
    const uint32_t at = m->n_slot ? *slot_of(m, path) : 0;
    if (at)
        *source = at - 1;
    return at != 0;
}

/* Becomes the owner of bytes, which are booked in m->mem, even when it fails. */
static myth_status take_source(myth_material *m, uint32_t *source, const char *path, unsigned char *bytes, size_t len,
                               myth_error *err)
{
    myth_status st = grow_table(m, (void **)&m->entry, m->n_entry, &m->cap_entry, sizeof(*m->entry), 1, err);
    st = st == MYTH_OK ? grow_slots(m, 1, err) : st;
    entry *e = st == MYTH_OK ? myth_alloc(m->mem, MYTH_MEM_STAGING, "material", sizeof(*e)) : NULL;
    if (!e) {
        myth_free(m->mem, bytes);
        return st != MYTH_OK ? st : no_room(path, sizeof(*e), err);
    }
    e->mem = m->mem;
    e->bytes = bytes;
    e->path = myth_text_copy(m->mem, MYTH_MEM_STAGING, "material", path, strlen(path));
    st = e->path ? myth_source_open(&e->src, m->mem, e->path, bytes, len, err) : no_room(path, strlen(path) + 1, err);
    if (st != MYTH_OK) {
        close_entry(e);
        return st;
    }
    *source = m->n_entry;
    m->entry[m->n_entry++] = e;
    *slot_of(m, e->path) = m->n_entry;
    return MYTH_OK;
}

myth_status myth_material_put(myth_material *m, uint32_t *source, const char *path, const unsigned char *bytes,
                              size_t len, myth_error *err)
{
    if (find_source(m, source, path))
        return MYTH_OK;
    if (len > MYTH_SOURCE_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: %zu bytes, at most %d are read", path, len, (int)MYTH_SOURCE_MAX);
    unsigned char *copy = myth_alloc(m->mem, MYTH_MEM_STAGING, "material", len ? len : 1);
    if (!copy)
        return no_room(path, len, err);
    if (len)
        memcpy(copy, bytes, len);
    return take_source(m, source, path, copy, len, err);
}

/* Finds the file that path names below root. A path that leads out of root, or might, counts as not found. */
static myth_status locate(const myth_material *m, char full[PATH_MAX], const char *path, myth_error *err)
{
    char joined[PATH_MAX], root[PATH_MAX];
    int n = snprintf(joined, sizeof(joined), "%s%s%s", m->root ? m->root : "", m->root ? "/" : "", path);
    if (n < 0 || (size_t)n >= sizeof(joined))
        return myth_fail(err, MYTH_ENOTFOUND, "%.80s...: a path longer than %d bytes", path, PATH_MAX - 1);
    if (!m->root) {
        memcpy(full, joined, (size_t)n + 1);
        return MYTH_OK;
    }
    if (!realpath(m->root, root) || !realpath(joined, full))
        return myth_fail(err, MYTH_ENOTFOUND, "%s: no such file below %s", path, m->root);
    size_t len = strlen(root);
    len -= len == 1; /* "/" */
    if (path[0] == '/' || strncmp(full, root, len) != 0 || full[len] != '/')
        return myth_fail(err, MYTH_ENOTFOUND, "%s: not below %s", path, m->root);
    return MYTH_OK;
}

myth_status myth_material_source(myth_material *m, uint32_t *source, const char *path, myth_error *err)
{
    char full[PATH_MAX];
    unsigned char *bytes = NULL;
    size_t len = 0;
    if (find_source(m, source, path))
        return MYTH_OK;
    myth_status st = locate(m, full, path, err);
    if (st == MYTH_OK)
        st = myth_file_read(&bytes, &len, m->mem, full, MYTH_SOURCE_MAX, err);
    return st == MYTH_OK ? take_source(m, source, path, bytes, len, err) : st;
}

/* Gives r copies of its text and of what is known of its lines, at text and has_code. In between the copy is without
 * comments: a line that then has a byte left holds code. */
static void own_text(myth_removed *r, char *text, bool *has_code, const char *language)
{
    const char *from = r->text;
    size_t at = 0;
    r->text = text;
    r->has_code = has_code;
    r->n_code = 0;
    if (!r->len)
        return;
    memcpy(text, from, r->len);
    myth_comments_blank((unsigned char *)text, r->len, myth_language_get(language));
    for (uint32_t k = 0; k < r->n_line && at < r->len; k++) {
        const char *end = memchr(text + at, '\n', r->len - at);
        const size_t len = end ? (size_t)(end - text) - at : r->len - at, all = len + (end != NULL);
        has_code[k] = myth_comments_line((const unsigned char *)text + at, (uint32_t)len) > 0;
        r->n_code += has_code[k] ? all : 0;
        at += all;
    }
    memcpy(text, from, r->len);
}

myth_status myth_material_removed(myth_material *m, uint32_t source, const myth_removed *removed, uint32_t n,
                                  myth_error *err)
{
    entry *e = m->entry[source];
    size_t bytes = n * sizeof(*removed);
    for (uint32_t i = 0; i < n; i++)
        bytes += removed[i].len + removed[i].n_line + (removed[i].path ? strlen(removed[i].path) + 1 : 0);
    myth_removed *list = bytes ? myth_alloc(e->mem, MYTH_MEM_STAGING, "material", bytes) : NULL;
    if (bytes && !list)
        return no_room(e->path, bytes, err);
    const char *own = n ? myth_detect_language(e->path, e->src.bytes, e->src.len) : NULL;
    char *to = list ? (char *)(list + n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        list[i] = removed[i];
        own_text(&list[i], to, (bool *)to + removed[i].len,
                 removed[i].path ? myth_detect_language(removed[i].path, NULL, 0) : own);
        to += removed[i].len + removed[i].n_line;
        if (removed[i].path) {
            list[i].path = strcpy(to, removed[i].path);
            to += strlen(to) + 1;
        }
    }
    myth_free(e->mem, e->removed);
    e->removed = list;
    e->src.removed = list;
    e->src.n_removed = n;
    return MYTH_OK;
}

myth_status myth_material_added(myth_material *m, uint32_t source, const myth_added *added, uint32_t n, myth_error *err)
{
    entry *e = m->entry[source];
    const size_t bytes = n * sizeof(*added);
    myth_added *list = bytes ? myth_alloc(e->mem, MYTH_MEM_STAGING, "material", bytes) : NULL;
    if (bytes && !list)
        return no_room(e->path, bytes, err);
    if (bytes)
        memcpy(list, added, bytes);
    myth_free(e->mem, e->added);
    e->added = list;
    e->src.added = list;
    e->src.n_added = n;
    return MYTH_OK;
}

void myth_material_is_test(myth_material *m, uint32_t source) { m->entry[source]->src.is_test = true; }

/* ---- pieces ---- */

uint32_t myth_material_n_piece(const myth_material *m) { return m->n_record; }
const myth_piece *myth_material_piece(const myth_material *m, uint32_t i) { return &m->record[i].p; }

bool myth_material_has_subject(const myth_material *m)
{
    for (uint32_t i = 0; i < myth_material_n_piece(m); i++)
        if (myth_material_piece(m, i)->is_subject)
            return true;
    return false;
}

static bool same_role(const myth_piece *a, const myth_piece *b)
{
    return a->source == b->source && a->is_subject == b->is_subject && (a->is_subject || a->of == b->of);
}

static bool same_symbol(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static myth_status new_piece(myth_material *m, uint32_t *index, const myth_piece *piece, uint32_t first, uint32_t last,
                             myth_error *err)
{
    size_t n_symbol = piece->symbol ? strlen(piece->symbol) + 1 : 0, n_why = piece->why ? strlen(piece->why) + 1 : 0;
    if (m->n_record == MYTH_PIECE_MAX)
        return myth_fail(err, MYTH_ELIMIT, "more than %d pieces; inspect less at once", (int)MYTH_PIECE_MAX);
    myth_status st = grow_table(m, (void **)&m->record, m->n_record, &m->cap_record, sizeof(*m->record), 1, err);
    if (st != MYTH_OK)
        return st;
    record r = {.p = *piece, .mem = m->mem};
    r.p.first = first;
    r.p.last = last;
    r.text = n_symbol + n_why ? myth_alloc(m->mem, MYTH_MEM_STAGING, "material", n_symbol + n_why) : NULL;
    if (n_symbol + n_why && !r.text)
        return no_room("material", n_symbol + n_why, err);
    r.p.symbol = n_symbol ? memcpy(r.text, piece->symbol, n_symbol) : NULL;
    r.p.why = n_why ? memcpy(r.text + n_symbol, piece->why, n_why) : NULL;
    r.before = m->entry[piece->source]->last;
    *index = m->n_record;
    m->record[m->n_record++] = r;
    m->entry[piece->source]->last = m->n_record;
    return MYTH_OK;
}

/* Returns the piece of the same file and role that has line n. NULL when there is none; then *next is the first line of
 * the nearest such piece after n. */
static record *holder(const myth_material *m, const myth_piece *like, uint32_t n, uint32_t *next)
{
    *next = UINT32_MAX;
    record *found = NULL;
    for (uint32_t i = m->entry[like->source]->last; i > m->sealed; i = m->record[i - 1].before) {
        record *r = &m->record[i - 1];
        if (!same_role(&r->p, like))
            continue;
        if (n >= r->p.first && n <= r->p.last)
            found = r;
        else if (r->p.first > n && r->p.first < *next)
            *next = r->p.first;
    }
    return found;
}

/* Adds lines first..last, which no piece has yet. They extend the piece next to them when the new piece overlaps it or
 * belongs to the same definition; otherwise they become a piece. */
static myth_status fill_gap(myth_material *m, const myth_piece *piece, uint32_t a, uint32_t b, uint32_t first,
                            uint32_t last, myth_error *err)
{
    uint32_t unused;
    record *before = first > 1 ? holder(m, piece, first - 1, &unused) : NULL,
           *behind = last < UINT32_MAX ? holder(m, piece, last + 1, &unused) : NULL;
    if (before && (first > a || same_symbol(before->p.symbol, piece->symbol))) {
        before->p.last = last;
        return MYTH_OK;
    }
    if (behind && (last < b || same_symbol(behind->p.symbol, piece->symbol))) {
        behind->p.first = first;
        return MYTH_OK;
    }
    return new_piece(m, &unused, piece, first, last, err);
}

myth_status myth_material_add(myth_material *m, uint32_t *index, const myth_piece *piece, myth_error *err)
{
    const myth_source *src = &m->entry[piece->source]->src;
    uint32_t first = piece->first, last = piece->last < src->n_line ? piece->last : src->n_line, next, found;
    myth_status st = MYTH_OK;
    if (!src->n_line) { /* a file without lines: one empty piece of a role */
        for (found = m->sealed; found < m->n_record && !same_role(&m->record[found].p, piece); found++) {}
        if (found == m->n_record)
            st = new_piece(m, &found, piece, 1, 0, err);
        if (index)
            *index = found;
        return st;
    }
    if (!first || first > last)
        return myth_fail(err, MYTH_EARG, "%s: lines %u-%u, the file has %u", src->path, piece->first, piece->last,
                         src->n_line);
    for (uint32_t n = first; n <= last;) {
        const record *r = holder(m, piece, n, &next);
        if (r) {
            n = r->p.last + 1;
            continue;
        }
        uint32_t end = next <= last ? next - 1 : last;
        MYTH_TRY(fill_gap(m, piece, first, last, n, end, err));
        n = end + 1;
    }
    record *at = holder(m, piece, first, &next);
    assert(at);
    at->p.score = piece->score > at->p.score ? piece->score : at->p.score;
    if (index)
        *index = (uint32_t)(at - m->record);
fail:
    return st;
}

myth_status myth_material_whole(myth_material **out, myth_mem *mem, const char *path, const unsigned char *bytes,
                                size_t len, myth_error *err)
{
    myth_material *m = NULL;
    uint32_t source;
    myth_status st;
    MYTH_TRY(myth_material_open(&m, mem, NULL, err));
    MYTH_TRY(myth_material_put(m, &source, path, bytes, len, err));
    MYTH_TRY(myth_material_add(
        m, NULL, &(myth_piece){.source = source, .first = 1, .last = m->entry[source]->src.n_line, .is_subject = true},
        err));
    *out = m;
    return MYTH_OK;
fail:
    myth_material_close(m);
    return st;
}
