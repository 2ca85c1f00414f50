/* occurrence.c - see occurrence.h. Asks usage.h for definitions and uses, orders them as one list, and reads the text
 * of the rows that are wanted. */
#include "occurrence.h"
#include "retrieval/index/index_impl.h"
#include "retrieval/scan/kinds.h"
#include "usage_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const myth_usage_place *place;
    uint32_t rank;
    bool is_test;
} used;

typedef struct {
    const myth_usage_definition *definition;
    uint32_t kinds, rank, idx; /* idx: place among the definitions of usage.h */
} defined;

static int by_reason(const void *a, const void *b)
{
    const used *x = a, *y = b;
    if (x->place->strength != y->place->strength)
        return x->place->strength > y->place->strength ? -1 : 1;
    if (x->is_test != y->is_test)
        return x->is_test ? 1 : -1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->place->kind != y->place->kind) /* calls first */
        return x->place->kind < y->place->kind ? -1 : 1;
    int c = strcmp(x->place->path, y->place->path);
    return c ? c : (x->place->line > y->place->line) - (x->place->line < y->place->line);
}

static int by_kinds(const void *a, const void *b)
{
    const defined *x = a, *y = b;
    const uint32_t i = x->kinds == y->kinds ? x->rank : x->kinds, k = x->kinds == y->kinds ? y->rank : y->kinds;
    return i != k ? (i > k) - (i < k) : (x->idx > y->idx) - (x->idx < y->idx);
}

static int by_place(const void *a, const void *b)
{
    const used *x = a, *y = b;
    int c = strcmp(x->place->path, y->place->path);
    if (c || x->place->line != y->place->line)
        return c ? c : x->place->line < y->place->line ? -1 : 1;
    return by_reason(a, b);
}

typedef struct {
    bool (*wants_file)(void *user, const char *path);
    void *user;
    const char *const *ranked;
    uint32_t n_ranked;
} filter;

static bool is_wanted(const filter *f, const char *path) { return !f->wants_file || f->wants_file(f->user, path); }

static uint32_t rank_of(const filter *f, const char *path)
{
    uint32_t i = 0;
    while (i < f->n_ranked && strcmp(f->ranked[i], path) != 0)
        i++;
    return i;
}

static uint32_t add_uses(used *to, uint32_t n, const myth_usage_places *p, bool is_test, const filter *f)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (is_wanted(f, p->place[i].path))
            to[n++] = (used){&p->place[i], rank_of(f, p->place[i].path), is_test};
    return n;
}

/* All uses of all definitions, each line once, in the order they are shown. */
static myth_status list_uses(used **out, uint32_t *n_out, const myth_usage *u, const filter *f, myth_error *err)
{
    size_t cap = 1;
    uint32_t n = 0, n_kept = 0;
    for (uint32_t i = 0; i < u->n_definition; i++)
        cap += (size_t)u->definition[i].callers.n + u->definition[i].tests.n;
    used *list = myth_alloc_n(u->mem, MYTH_MEM_OTHER, "usage", cap, sizeof(*list));
    if (!list)
        return myth_fail(err, MYTH_ENOMEM, "symbols: no memory for %zu uses", cap);
    for (uint32_t i = 0; i < u->n_definition; i++) {
        n = add_uses(list, n, &u->definition[i].callers, false, f);
        n = add_uses(list, n, &u->definition[i].tests, true, f);
    }
    qsort(list, n, sizeof(*list), by_place);
    for (uint32_t i = 0; i < n; i++) {
        const myth_usage_place *last = n_kept ? list[n_kept - 1].place : NULL;
        if (!last || last->line != list[i].place->line || strcmp(last->path, list[i].place->path) != 0)
            list[n_kept++] = list[i];
    }
    qsort(list, n_kept, sizeof(*list), by_reason);
    *out = list;
    *n_out = n_kept;
    return MYTH_OK;
}

/* Reads the lines of a row: all of a definition that fit, or the one line of a use. */
static myth_status read_lines(myth_occurrence *r, myth_views *v, int64_t file_id, myth_error *err)
{
    myth_view *f = NULL;
    myth_status st = myth_view_get(&f, v, file_id, err);
    if (st == MYTH_OK)
        st = myth_view_read(v, f, err);
    if (st != MYTH_OK)
        return st;
    size_t n = 0, n_last;
    const char *text = myth_view_line(f, r->is_definition ? r->line0 : r->line, &n);
    for (uint32_t i = r->line0 + 1; r->is_definition && i <= r->line1; i++) {
        const char *line = myth_view_line(f, i, &n_last), *end = line + n_last;
        if (i > f->n_line || (size_t)(end - text) > MYTH_OCCURRENCE_BYTES)
            break;
        n = (size_t)(end - text);
    }
    n = n < MYTH_OCCURRENCE_BYTES ? n : MYTH_OCCURRENCE_BYTES;
    r->text = myth_usage_text(v->out, text, n);
    r->n_text = n;
    return r->text ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "symbols: no memory for a line");
}

static myth_status put_definition(myth_occurrences *o, myth_views *v, const myth_usage_definition *d, myth_error *err)
{
    myth_occurrence *r = &o->row[o->n_row++];
    *r = (myth_occurrence){
        .path = d->path,
        .name = d->name,
        .parent = d->parent,
        .kind = myth_symbol_kind_name(d->kind),
        .why = "",
        .line = d->line,
        .line0 = d->line0,
        .line1 = d->line1,
        .is_definition = true,
    };
    return read_lines(r, v, d->file_id, err);
}

static myth_status put_use(myth_occurrences *o, myth_views *v, const myth_usage_place *p, myth_error *err)
{
    myth_occurrence *r = &o->row[o->n_row++];
    *r = (myth_occurrence){
        .path = p->path,
        .name = p->name,
        .parent = p->parent,
        .kind = myth_ref_kind_name(p->kind),
        .why = p->why,
        .line = p->line,
        .line0 = p->line,
        .line1 = p->line,
        .n_use = p->n_use,
    };
    return read_lines(r, v, p->file_id, err);
}

/* Definitions leave a third of the rows to uses, if there are as many. */
static uint32_t share_of_definitions(uint32_t n_definition, uint32_t n_use, uint32_t max)
{
    const uint32_t least = max / 3 < n_use ? max / 3 : n_use;
    return n_definition < max - least ? n_definition : max - least;
}

/* The definitions that are wanted, in the order they are shown. */
static myth_status list_definitions(defined **out, uint32_t *n_out, const myth_usage *u, const filter *f,
                                    myth_error *err)
{
    defined *list = myth_alloc_n(u->mem, MYTH_MEM_OTHER, "usage", (size_t)u->n_definition + 1, sizeof(*list));
    uint32_t n = 0;
    if (!list)
        return myth_fail(err, MYTH_ENOMEM, "symbols: no memory for %u definitions", u->n_definition);
    for (uint32_t i = 0; i < u->n_definition; i++) {
        const myth_usage_definition *d = &u->definition[i];
        if (is_wanted(f, d->path))
            list[n++] = (defined){d, myth_file_kinds(d->path, d->is_test, false), rank_of(f, d->path), i};
    }
    qsort(list, n, sizeof(*list), by_kinds);
    *out = list;
    *n_out = n;
    return MYTH_OK;
}

static myth_status find_rows(myth_occurrences *o, myth_index *x, uint32_t max, const filter *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_usage *u = &o->usage;
    myth_views v = {.mem = u->mem, .store = myth_index_store(x), .out = u};
    used *use = NULL;
    defined *definition = NULL;
    MYTH_TRY(list_uses(&use, &o->n_use, u, f, err));
    MYTH_TRY(list_definitions(&definition, &o->n_definition, u, f, err));
    const uint32_t share = share_of_definitions(o->n_definition, o->n_use, max);
    if (!(o->row = myth_alloc_n(u->mem, MYTH_MEM_OTHER, "usage", (size_t)max + 1, sizeof(*o->row)))) {
        st = myth_fail(err, MYTH_ENOMEM, "symbols: no memory for %u lines", max);
        goto fail;
    }
    for (uint32_t i = 0; i < o->n_definition && o->n_row < share; i++)
        MYTH_TRY(put_definition(o, &v, definition[i].definition, err));
    for (uint32_t i = 0; i < o->n_use && o->n_row < max; i++)
        MYTH_TRY(put_use(o, &v, use[i].place, err));
    o->n_definition += u->n_more;
fail:
    myth_views_close(&v);
    myth_free(u->mem, use);
    myth_free(u->mem, definition);
    return st;
}

myth_status myth_occurrences_find(myth_occurrences *out, myth_index *x, const char *name, uint32_t max,
                                  bool (*wants_file)(void *user, const char *path), void *user,
                                  const char *const *ranked, uint32_t n_ranked, const myth_cancel *is_cancelled,
                                  myth_error *err)
{
    const filter f = {wants_file, user, ranked, n_ranked};
    *out = (myth_occurrences){.n_row = 0};
    myth_status st = myth_usage_find_uses(&out->usage, x, name, is_cancelled, err);
    if (st != MYTH_OK || out->usage.n_definition == 0)
        return st;
    myth_store *store = myth_index_store(x);
    if ((st = myth_store_read_begin(store, err)) == MYTH_OK) {
        st = find_rows(out, x, max, &f, err);
        myth_store_read_end(store);
    }
    if (st != MYTH_OK)
        myth_occurrences_free(out);
    return st;
}

void myth_occurrences_free(myth_occurrences *o)
{
    if (o->usage.mem)
        myth_free(o->usage.mem, o->row);
    myth_usage_free(&o->usage);
    *o = (myth_occurrences){.n_row = 0};
}
