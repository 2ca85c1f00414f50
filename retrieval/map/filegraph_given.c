/* filegraph_given.c - which definitions a package offers to strangers under the names of its entry. */
#include "filegraph_impl.h"
#include "engine/base/array.h"
#include "engine/base/text.h"
#include "retrieval/names/module.h"
#include "retrieval/scan/languages.h"
#include "retrieval/store/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 8, PATH_CAP = 4200 };

/* ---- entries ---- */

static bool has_node(const myth_filegraph *g, const char *path)
{
    uint32_t lo = 0, hi = g->n_node; /* nodes are sorted by path */
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const int d = strcmp(g->node[mid].path, path);
        if (d == 0)
            return true;
        *(d < 0 ? &lo : &hi) = d < 0 ? mid + 1 : mid;
    }
    return false;
}

static bool has_one(const myth_filegraph *g, char path[PATH_CAP], size_t n_folder, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(path + n_folder, PATH_CAP - n_folder, "%s", name[i]);
        if (has_node(g, path))
            return true;
    }
    return false;
}

/* Looks through the folders around the file, up to the one with the package's manifest. */
static bool is_entry(const myth_filegraph *g, uint32_t node)
{
    static const char *const manifest[] = {"package.json", "Cargo.toml", "pyproject.toml", "setup.py"};
    static const char *const others[] = {"index.ts", "index.js", "index.mjs", "lib.rs", "__init__.py"};
    const myth_node *d = &g->node[node];
    char path[PATH_CAP];
    if (myth_filegraph_tier(d->kinds) != 0 || !myth_module_is_package(d->path) || strlen(d->path) + 32 > sizeof(path))
        return false;
    size_t n = (size_t)snprintf(path, sizeof(path), "%s", d->path);
    for (bool is_own = true;; is_own = false) {
        while (n > 0 && path[n - 1] != '/')
            n--;
        if (!is_own && has_one(g, path, n, others, sizeof(others) / sizeof(others[0])))
            return false;
        if (n == 0 || has_one(g, path, n, manifest, sizeof(manifest) / sizeof(manifest[0])))
            return true;
        n--; /* the slash */
    }
}

/* ---- what a file gives on ---- */

typedef struct {
    myth_given_list *out;
    myth_filegraph *g;
    myth_definitions *d;
    const myth_resolver *r;
    sqlite3_stmt *facts;
    uint32_t *by_node, *first; /* rows of each node */
    uint32_t *seen, mark;      /* seen: by the file's stars, for the entry whose number is mark */
    bool is_out_of_memory;
} giver;

/* The part of a file's facts that says what it gives on; false: none. The bytes last until the next call. */
static bool read_given(giver *v, uint32_t node, myth_bytes *b, uint64_t *n)
{
    sqlite3_reset(v->facts);
    sqlite3_bind_int64(v->facts, 1, v->g->node[node].id);
    const unsigned char *p = sqlite3_step(v->facts) == SQLITE_ROW ? sqlite3_column_blob(v->facts, 0) : NULL;
    if (!p)
        return false;
    *b = (myth_bytes){p, p + sqlite3_column_bytes(v->facts, 0), false};
    myth_bytes_string(b);
    for (uint64_t k = myth_bytes_number(b); k > 0 && !b->is_bad; k--) {
        myth_bytes_number(b);
        myth_bytes_number(b);
        myth_bytes_string(b);
    }
    for (uint64_t k = b->p < b->end ? myth_bytes_number(b) : 0; k > 0 && !b->is_bad; k--) {
        myth_bytes_number(b);
        myth_bytes_number(b);
    }
    *n = b->p < b->end ? myth_bytes_number(b) : 0;
    return *n > 0 && !b->is_bad;
}

static void give(giver *v, uint32_t row)
{
    if (!MYTH_ARRAY_ROOM(v->out->mem, MYTH_MEM_OTHER, "map", &v->out->row, v->out->n, &v->out->cap)) {
        v->is_out_of_memory = true;
        return;
    }
    v->d->row[row].is_given = true;
    v->out->row[v->out->n++] = row;
}

typedef struct {
    uint64_t name; /* 0 = all */
    bool is_list;  /* the file's own list of what a star means: __all__ */
    uint32_t n_file, file[MYTH_RESOLVE_MAX];
} statement;

/* The file's statements; the caller frees them. NULL: there are none. */
static statement *statements_of(giver *v, uint32_t node, size_t *n)
{
    myth_bytes b;
    uint64_t n_all = 0;
    size_t cap = 0;
    statement *list = NULL;
    char module[MYTH_MODULE_PATH];
    *n = 0;
    for (bool ok = read_given(v, node, &b, &n_all); ok && *n < n_all && !b.is_bad; ++*n) {
        if (!MYTH_ARRAY_ROOM(v->out->mem, MYTH_MEM_OTHER, "map", &list, *n, &cap)) {
            v->is_out_of_memory = true;
            break;
        }
        const char *text = myth_bytes_string(&b);
        statement *s = &list[*n];
        s->name = myth_bytes_number(&b);
        s->is_list = text[0] == '\0';
        s->n_file = s->is_list ? 0 : myth_resolve(v->r, node, text, s->file);
        const bool may_be_beside = myth_language_get(v->g->node[node].language)->spelling == MYTH_BY_COLON;
        if (s->n_file == 0 && !s->is_list && may_be_beside) { /* a module without self:: */
            snprintf(module, sizeof(module), "self::%.900s", text);
            s->n_file = myth_resolve(v->r, node, module, s->file);
        }
    }
    return list;
}

static void give_from(giver *v, uint32_t node, uint64_t name, uint32_t depth);

/* Gives a name of a file, or what the file itself gives on under it. */
static void give_name(giver *v, uint32_t node, uint64_t name, uint32_t depth)
{
    const uint32_t first = *myth_filegraph_find_definition(v->d, name);
    bool has = false;
    for (size_t i = first ? first - 1 : v->d->n; i < v->d->n && v->d->row[i].name == name; i++)
        if (v->d->row[i].node == node && v->d->row[i].is_exported && !v->d->row[i].parent) {
            give(v, (uint32_t)i);
            has = true;
        }
    if (!has)
        give_from(v, node, name, depth);
}

/* Gives what a star of a file means: the names of its list, else all that it exports and gives on. */
static void give_all(giver *v, uint32_t node, uint32_t depth)
{
    size_t n;
    bool has_list = false;
    statement *list = statements_of(v, node, &n);
    for (size_t i = 0; i < n; i++) {
        has_list |= list[i].is_list;
        if (list[i].is_list)
            give_name(v, node, list[i].name, depth);
    }
    myth_free(v->out->mem, list);
    for (uint32_t j = v->first[node]; j < v->first[node + 1] && !has_list; j++)
        if (v->d->row[v->by_node[j]].is_exported && !v->d->row[v->by_node[j]].parent)
            give(v, v->by_node[j]);
    if (!has_list)
        give_from(v, node, 0, depth);
}

/* Gives what the file's statements give on: the name, 0 = all. */
static void give_from(giver *v, uint32_t node, uint64_t name, uint32_t depth)
{
    size_t n;
    if (depth == CHAIN_MAX || v->is_out_of_memory)
        return;
    statement *list = statements_of(v, node, &n);
    for (size_t i = 0; i < n; i++) {
        const statement *s = &list[i];
        for (uint32_t k = 0; k < s->n_file; k++) {
            const uint32_t to = s->file[k];
            if (s->name && (!name || name == s->name))
                give_name(v, to, s->name, depth + 1);
            else if (!s->name && name)
                give_name(v, to, name, depth + 1);
            else if (!s->name && v->seen[to] != v->mark) {
                v->seen[to] = v->mark;
                give_all(v, to, depth + 1);
            }
        }
    }
    myth_free(v->out->mem, list);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Keeps each row of an entry once. */
static void order_rows(myth_given_list *l, size_t from)
{
    size_t n = from;
    if (l->n > from)
        qsort(l->row + from, l->n - from, sizeof(*l->row), by_number);
    for (size_t i = from; i < l->n; i++)
        if (n == from || l->row[n - 1] != l->row[i])
            l->row[n++] = l->row[i];
    l->n = n;
}

static void sort_by_node(giver *v)
{
    for (size_t i = 0; i < v->d->n; i++)
        v->first[v->d->row[i].node + 1]++;
    for (uint32_t i = 0; i < v->g->n_node; i++)
        v->first[i + 1] += v->first[i];
    for (size_t i = v->d->n; i-- > 0;)
        v->by_node[--v->first[v->d->row[i].node + 1]] = (uint32_t)i;
    memmove(v->first, v->first + 1, v->g->n_node * sizeof(*v->first));
    v->first[v->g->n_node] = (uint32_t)v->d->n;
}

myth_status myth_filegraph_find_given(myth_given_list *out, myth_filegraph *g, myth_definitions *d,
                                      const myth_resolver *r, myth_store *s, myth_error *err)
{
    giver v = {.out = out, .g = g, .d = d, .r = r};
    myth_mem *mem = out->mem;
    myth_status st = myth_store_fail(
        s, sqlite3_prepare_v2(myth_store_db(s), "SELECT data FROM facts WHERE file_id=?1", -1, &v.facts, NULL), err);
    out->first = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*out->first));
    v.first = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 2, sizeof(*v.first));
    v.seen = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*v.seen));
    v.by_node = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", d->n + 1, sizeof(*v.by_node));
    if (st == MYTH_OK && (!out->first || !v.first || !v.seen || !v.by_node))
        st = myth_filegraph_no_memory(err);
    if (st == MYTH_OK)
        sort_by_node(&v);
    for (uint32_t i = 0; i < g->n_node && st == MYTH_OK; i++) {
        out->first[i] = out->n;
        if (!is_entry(g, i))
            continue;
        v.mark = i + 1;
        v.seen[i] = v.mark;
        give_from(&v, i, 0, 0);
        order_rows(out, out->first[i]);
        g->node[i].gives = out->n > out->first[i];
        if (v.is_out_of_memory)
            st = myth_filegraph_no_memory(err);
    }
    if (st == MYTH_OK)
        out->first[g->n_node] = out->n;
    sqlite3_finalize(v.facts);
    myth_free(mem, v.first);
    myth_free(mem, v.seen);
    myth_free(mem, v.by_node);
    return st;
}

void myth_filegraph_mark_packages(myth_filegraph *g)
{
    for (uint32_t i = 0; i < g->n_node; i++) {
        bool gives = false;
        for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link; k++)
            gives |= g->link[k].is_given;
        if (!gives)
            continue;
        const char *path = g->node[i].path, *slash = strrchr(path, '/');
        const size_t n = slash ? (size_t)(slash - path) + 1 : 0;
        for (uint32_t k = i; k < g->n_node && strncmp(g->node[k].path, path, n) == 0; k++)
            g->node[k].has_entry = true;
        for (uint32_t k = i; k-- > 0 && strncmp(g->node[k].path, path, n) == 0;)
            g->node[k].has_entry = true;
    }
}

void myth_filegraph_free_given(myth_given_list *l)
{
    myth_free(l->mem, l->row);
    myth_free(l->mem, l->first);
}
