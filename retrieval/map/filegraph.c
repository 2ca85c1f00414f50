/* filegraph.c - see filegraph.h. Names are compared by 64 bits of their XXH3: among a million names the chance that
 * two are confused is 1 in 10^7. */
#include "filegraph_impl.h"
#include "engine/base/array.h"
#include "engine/base/table.h"
#include "engine/base/text.h"
#include "retrieval/store/buffer.h"
#include "retrieval/rank/rank.h"
#include "retrieval/names/resolve.h"
#include "retrieval/scan/languages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

enum {
    NAME_MIN = 2,           /* shortest name whose uses count */
    DEFINITIONS_MAX = 64,   /* a name with more definitions than this is ignored */
    ALONE_MAX = 3,          /* a member's name with more needs its type (is_plain) */
    USES_MAX = 1000,        /* mentions of one name in one file */
    MENTIONS_MAX = 1 << 17, /* of all names, whatever the file's row of facts says */
};

myth_status myth_filegraph_no_memory(myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "no memory for the graph of the files");
}

void myth_filegraph_close(myth_filegraph *g)
{
    if (!g->mem)
        return;
    myth_free(g->mem, g->node);
    myth_free(g->mem, g->link);
    myth_free(g->mem, g->place);
    myth_free(g->mem, g->names);
    myth_free(g->mem, g->flow);
    myth_free(g->mem, g->first_flow);
    *g = (myth_filegraph){0};
}

/* ---- nodes ---- */

myth_status myth_filegraph_load_nodes(myth_filegraph *g, myth_store *s, myth_error *err)
{
    sqlite3 *db = myth_store_db(s);
    sqlite3_stmt *q = NULL;
    size_t n = 0, n_text = 0, at = 0;
    int rc = sqlite3_prepare_v2(
        db,
        "SELECT count(*), coalesce(sum(coalesce(length(CAST(path AS BLOB)), 0) + coalesce(length(CAST(language AS "
        "BLOB)), 0) + 2), 0) FROM files",
        -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        n = (size_t)sqlite3_column_int64(q, 0);
        n_text = (size_t)sqlite3_column_int64(q, 1);
    }
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    q = NULL;
    if (st != MYTH_OK)
        return st;
    g->node = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", n + 1, sizeof(*g->node));
    g->place = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", n + 1, sizeof(*g->place));
    g->names = myth_alloc(g->mem, MYTH_MEM_OTHER, "map", n_text + 1);
    if (!g->node || !g->place || !g->names || n >= UINT32_MAX)
        return myth_filegraph_no_memory(err);
    rc = sqlite3_prepare_v2(db, "SELECT id, path, language, flags FROM files ORDER BY path", -1, &q, NULL);
    while (rc == SQLITE_OK && g->n_node < n && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        myth_node *d = &g->node[g->n_node++];
        for (int i = 1; i <= 2; i++) {
            const void *text = sqlite3_column_blob(q, i);
            size_t len = (size_t)sqlite3_column_bytes(q, i);
            if (len >= n_text - at) {
                rc = SQLITE_CORRUPT; /* the rows changed since their sizes were added up */
                break;
            }
            *(i == 1 ? &d->path : &d->language) = g->names + at;
            if (len)
                memcpy(g->names + at, text, len);
            at += len;
            g->names[at++] = '\0';
        }
        if (rc == SQLITE_CORRUPT)
            break;
        d->id = sqlite3_column_int64(q, 0);
        d->flags = (uint32_t)sqlite3_column_int64(q, 3);
        d->kinds = myth_filegraph_kinds(d->path, d->language, d->flags);
        rc = SQLITE_OK;
    }
    st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const myth_id_row *)a)->id, y = ((const myth_id_row *)b)->id;
    return (x > y) - (x < y);
}

/* Indexes of the nodes sorted by id; the caller frees them. */
myth_id_row *myth_filegraph_sort_ids(const myth_filegraph *g)
{
    myth_id_row *row = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*row));
    for (uint32_t i = 0; row && i < g->n_node; i++)
        row[i] = (myth_id_row){g->node[i].id, i};
    if (row)
        qsort(row, g->n_node, sizeof(*row), by_id);
    return row;
}

const myth_id_row *myth_filegraph_find_id(const myth_id_row *row, uint32_t n, int64_t id)
{
    return bsearch(&(myth_id_row){id, 0}, row, n, sizeof(*row), by_id);
}

/* ---- definitions ---- */

static int by_definition(const void *a, const void *b)
{
    const myth_definition *x = a, *y = b;
    if (x->name != y->name)
        return (x->name > y->name) - (x->name < y->name);
    if (x->node != y->node)
        return (x->node > y->node) - (x->node < y->node);
    if (x->parent != y->parent)
        return (x->parent > y->parent) - (x->parent < y->parent);
    if (x->is_exported != y->is_exported)
        return x->is_exported ? -1 : 1;
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static bool is_definition(const void *d, uint32_t idx, const void *name)
{
    return ((const myth_definitions *)d)->row[idx].name == *(const uint64_t *)name;
}

/* Names are hashes already. */
uint32_t *myth_filegraph_find_definition(const myth_definitions *d, uint64_t name)
{
    return myth_table_find(d->slot, d->n_slot, name >> 7, is_definition, d, &name);
}

/* Keeps one row for each name, file and type that the name needs. */
static myth_status order_definitions(myth_definitions *d, myth_error *err)
{
    size_t n = 0;
    if (d->n)
        qsort(d->row, d->n, sizeof(*d->row), by_definition);
    for (size_t i = 0; i < d->n; i++)
        if (n == 0 || d->row[n - 1].name != d->row[i].name || d->row[n - 1].node != d->row[i].node ||
            d->row[n - 1].parent != d->row[i].parent)
            d->row[n++] = d->row[i];
    d->n = n;
    d->n_slot = myth_table_slots(n);
    d->slot = myth_alloc_n(d->mem, MYTH_MEM_OTHER, "map", d->n_slot, sizeof(*d->slot));
    if (!d->slot)
        return myth_filegraph_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && d->row[i - 1].name == d->row[i].name)
            continue;
        *myth_filegraph_find_definition(d, d->row[i].name) = (uint32_t)i + 1;
    }
    return MYTH_OK;
}

/* Whether a name inside of a type is so plain that types of other libraries have it as well: push, len, get, send. One
 * word is plain; a name of several words is not. */
static bool is_plain(const char *name, size_t n)
{
    bool is_upper = true;
    for (size_t i = 0; i < n; i++)
        is_upper = is_upper && !(name[i] >= 'a' && name[i] <= 'z');
    if (is_upper)
        return false;
    for (size_t i = 1; i < n; i++)
        if (name[i] == '_' || (name[i] >= 'A' && name[i] <= 'Z' && name[i - 1] >= 'a' && name[i - 1] <= 'z'))
            return false;
    return true;
}

static myth_status load_definitions(myth_definitions *d, const myth_filegraph *g, const myth_id_row *ids, myth_store *s,
                                    myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    const myth_id_row *at = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(s), "SELECT id, name, kind, flags, parent FROM symbols ORDER BY id", -1,
                                &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(q, 0), file = id / MYTH_SYMBOL_IDS;
        int kind = sqlite3_column_int(q, 2);
        const char *name = (const char *)sqlite3_column_text(q, 1);
        size_t n = (size_t)sqlite3_column_bytes(q, 1);
        rc = SQLITE_OK;
        if (!at || at->id != file)
            at = myth_filegraph_find_id(ids, g->n_node, file);
        if (!at || n == 0 || kind == MYTH_SYMBOL_TEST || kind == MYTH_SYMBOL_ROUTE ||
            !myth_filegraph_is_code(g->node[at->node].kinds))
            continue;
        if (!MYTH_ARRAY_ROOM(d->mem, MYTH_MEM_OTHER, "map", &d->row, d->n, &d->cap)) {
            st = myth_filegraph_no_memory(err);
            break;
        }
        const char *parent = (const char *)sqlite3_column_text(q, 4);
        size_t n_parent = (size_t)sqlite3_column_bytes(q, 4);
        d->row[d->n++] = (myth_definition){.name = myth_filegraph_name(name, n),
                                           .parent = n_parent ? myth_filegraph_name(parent, n_parent) : 0,
                                           .is_plain = is_plain(name, n),
                                           .node = at->node,
                                           .symbol = (uint32_t)(id % MYTH_SYMBOL_IDS),
                                           .is_exported = (sqlite3_column_int64(q, 3) & MYTH_SYMBOL_EXPORTED) != 0};
    }
    if (st == MYTH_OK)
        st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st == MYTH_OK ? order_definitions(d, err) : st;
}

/* ---- links of one file ---- */

typedef struct {
    myth_filegraph *g;
    const myth_definitions *def;
    const myth_resolver *resolver;
    const myth_given_list *given;
    uint32_t node;
    uint32_t *use; /* for each name that is used its first row */
    size_t n_use, cap_use;
    myth_link *import; /* sorted by target */
    uint32_t n_import, cap_import;
    sqlite3_stmt *facts;
    bool is_out_of_memory;
} linker;

static bool add_import(linker *l, uint32_t target, uint32_t n_definer)
{
    if (!MYTH_ARRAY_ROOM(l->g->mem, MYTH_MEM_OTHER, "map", &l->import, l->n_import, &l->cap_import))
        return false;
    l->import[l->n_import++] = (myth_link){target, 0, 1, n_definer, false};
    return true;
}

static bool take_use(void *arg, const myth_store_ref *ref)
{
    linker *l = arg;
    uint32_t found[MYTH_RESOLVE_MAX];
    if (ref->kind == MYTH_REF_IMPORT) {
        uint32_t n = myth_resolve(l->resolver, l->node, ref->name, found);
        for (uint32_t i = 0; i < n && !l->is_out_of_memory; i++)
            l->is_out_of_memory = !add_import(l, found[i], n);
        return !l->is_out_of_memory;
    }
    const size_t n_name = strlen(ref->name);
    uint32_t first =
        n_name < NAME_MIN ? 0 : *myth_filegraph_find_definition(l->def, myth_filegraph_name(ref->name, n_name));
    if (!first)
        return true;
    l->is_out_of_memory = !MYTH_ARRAY_ROOM(l->g->mem, MYTH_MEM_OTHER, "map", &l->use, l->n_use, &l->cap_use);
    if (!l->is_out_of_memory)
        l->use[l->n_use++] = first - 1;
    return !l->is_out_of_memory;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_link(const void *a, const void *b)
{
    const myth_link *x = a, *y = b;
    if (x->target != y->target)
        return (x->target > y->target) - (x->target < y->target);
    if (x->symbol != y->symbol)
        return (x->symbol > y->symbol) - (x->symbol < y->symbol);
    if (x->n_definer != y->n_definer)
        return (x->n_definer > y->n_definer) - (x->n_definer < y->n_definer);
    return x->is_given - y->is_given;
}

static bool has_import(const linker *l, uint32_t target)
{
    const uint32_t lo = l->n_import ? myth_first_from(&l->import->target, sizeof(*l->import), l->n_import, target) : 0;
    return lo < l->n_import && l->import[lo].target == target;
}

bool myth_filegraph_add_link(myth_filegraph *g, myth_link link)
{
    if (!MYTH_ARRAY_ROOM(g->mem, MYTH_MEM_OTHER, "map", &g->link, g->n_link, &g->cap_link))
        return false;
    g->link[g->n_link++] = link;
    return true;
}

/* Whether the file also names the type that a plain name belongs to: without it, push may be anybody's. */
static bool has_type(const linker *l, const myth_definition *d, bool is_alone)
{
    if (!d->parent || (is_alone && !d->is_plain))
        return true;
    const uint32_t first = *myth_filegraph_find_definition(l->def, d->parent);
    return first && l->n_use && bsearch(&(uint32_t){first - 1}, l->use, l->n_use, sizeof(*l->use), by_number);
}

/* Keeps the rows that an entry gives on, when there is one. */
static uint32_t keep_given(const myth_definitions *d, uint32_t *row, uint32_t n)
{
    uint32_t n_given = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        n_given += d->row[row[i]].is_given;
    for (uint32_t i = 0; i < n && n_given; i++)
        if (d->row[row[i]].is_given)
            row[at++] = row[i];
    return n_given ? n_given : n;
}

/* Adds the links for one name, whose rows begin at `first`, used n times. */
static bool link_name(linker *l, uint32_t first, uint32_t n_use)
{
    const myth_definitions *d = l->def;
    uint32_t row[DEFINITIONS_MAX], n = 0, n_imported = 0;
    const size_t few = first + ALONE_MAX;
    const bool is_alone = few >= d->n || d->row[few].name != d->row[first].name;
    for (size_t i = first; i < d->n && d->row[i].name == d->row[first].name; i++) {
        if (d->row[i].node == l->node || n == DEFINITIONS_MAX)
            return true; /* the file defines it itself, or too many files do */
        if (d->row[i].is_exported && has_type(l, &d->row[i], is_alone))
            row[n++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < n; i++)
        n_imported += has_import(l, d->row[row[i]].node);
    if (!n_imported) /* of several, those that strangers get under this name */
        n = keep_given(d, row, n);
    uint32_t n_definer = n_imported ? n_imported : n;
    if (n_definer > MYTH_DEFINERS_MAX)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        const myth_definition *r = &d->row[row[i]];
        if ((!n_imported || has_import(l, r->node)) &&
            !myth_filegraph_add_link(l->g, (myth_link){r->node, r->symbol + 1, n_use, n_definer, false}))
            return false;
    }
    return true;
}

/* Adds the names that a document or a header mentions, from its facts. */
static myth_status take_mentions(linker *l, myth_store *s, int64_t file_id, myth_error *err)
{
    sqlite3_bind_int64(l->facts, 1, file_id);
    int rc = sqlite3_step(l->facts);
    const unsigned char *p = rc == SQLITE_ROW ? sqlite3_column_blob(l->facts, 0) : NULL;
    myth_bytes b = {p, p ? p + sqlite3_column_bytes(l->facts, 0) : NULL, false};
    myth_status st = myth_store_fail(s, rc, err);
    if (p) {
        myth_bytes_string(&b);
        for (uint64_t n = myth_bytes_number(&b); n > 0 && !b.is_bad; n--) {
            myth_bytes_number(&b);
            myth_bytes_number(&b);
            myth_bytes_string(&b);
        }
    }
    for (uint64_t n = p && b.p < b.end ? myth_bytes_number(&b) : 0; n > 0 && !b.is_bad && st == MYTH_OK; n--) {
        const uint32_t first = *myth_filegraph_find_definition(l->def, myth_bytes_number(&b));
        const uint64_t n_use = myth_bytes_number(&b);
        for (uint64_t i = 0; first && i < n_use && i < USES_MAX && l->n_use < MENTIONS_MAX; i++) {
            if (!MYTH_ARRAY_ROOM(l->g->mem, MYTH_MEM_OTHER, "map", &l->use, l->n_use, &l->cap_use))
                st = myth_filegraph_no_memory(err);
            else
                l->use[l->n_use++] = first - 1;
        }
    }
    sqlite3_reset(l->facts);
    return st;
}

static myth_status link_file(linker *l, myth_store *s, uint32_t node, myth_error *err)
{
    myth_filegraph *g = l->g;
    l->node = node;
    l->n_use = 0;
    l->n_import = 0;
    g->node[node].first_link = g->n_link;
    myth_status st = myth_store_refs(s, g->node[node].id, take_use, l, err);
    if (st == MYTH_OK)
        st = take_mentions(l, s, g->node[node].id, err);
    if (st != MYTH_OK)
        return st;
    if (l->n_import)
        qsort(l->import, l->n_import, sizeof(*l->import), by_link);
    if (l->n_use)
        qsort(l->use, l->n_use, sizeof(*l->use), by_number);
    bool ok = !l->is_out_of_memory;
    for (uint32_t i = 0; i < l->n_import && ok; i++)
        ok = (i > 0 && l->import[i - 1].target == l->import[i].target) || myth_filegraph_add_link(g, l->import[i]);
    for (size_t i = 0, end; i < l->n_use && ok; i = end) {
        for (end = i + 1; end < l->n_use && l->use[end] == l->use[i]; end++)
            ;
        ok = link_name(l, l->use[i], (uint32_t)(end - i));
    }
    for (size_t i = l->given->first[node]; i < l->given->first[node + 1] && ok; i++) {
        const myth_definition *r = &l->def->row[l->given->row[i]];
        ok = myth_filegraph_add_link(g, (myth_link){r->node, r->symbol + 1, 1, 1, true});
    }
    if (g->n_link > g->node[node].first_link)
        qsort(g->link + g->node[node].first_link, g->n_link - g->node[node].first_link, sizeof(*g->link), by_link);
    return ok ? MYTH_OK : myth_filegraph_no_memory(err);
}

myth_status myth_filegraph_make(myth_filegraph *out, myth_mem *mem, myth_store *s, const myth_cancel *is_cancelled,
                                myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_filegraph *g = out;
    *g = (myth_filegraph){.mem = mem};
    myth_id_row *ids = NULL;
    myth_resolve_file *file = NULL;
    myth_resolver *resolver = NULL;
    myth_definitions def = {.mem = mem};
    myth_given_list given = {.mem = mem};
    linker l = {.g = g, .def = &def, .given = &given};
    MYTH_TRY(myth_filegraph_load_nodes(g, s, err));
    ids = myth_filegraph_sort_ids(g);
    file = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*file));
    if (!ids || !file) {
        st = myth_filegraph_no_memory(err);
        goto fail;
    }
    for (uint32_t i = 0; i < g->n_node; i++)
        file[i] = (myth_resolve_file){g->node[i].path, g->node[i].language};
    MYTH_TRY(myth_resolver_open(&resolver, mem, file, g->n_node, err));
    l.resolver = resolver;
    MYTH_TRY(load_definitions(&def, g, ids, s, err));
    MYTH_TRY(myth_store_fail(
        s, sqlite3_prepare_v2(myth_store_db(s), "SELECT data FROM facts WHERE file_id=?1", -1, &l.facts, NULL), err));
    MYTH_TRY(myth_filegraph_find_given(&given, g, &def, resolver, s, err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        if (myth_cancelled(is_cancelled)) {
            st = myth_fail(err, MYTH_ECANCEL, "stopped; the map was not made");
            goto fail;
        }
        MYTH_TRY(link_file(&l, s, i, err));
    }
    g->node[g->n_node].first_link = g->n_link;
fail:
    sqlite3_finalize(l.facts);
    myth_resolver_close(resolver);
    myth_free(mem, ids);
    myth_free(mem, file);
    myth_free(mem, def.row);
    myth_free(mem, def.slot);
    myth_filegraph_free_given(&given);
    myth_free(mem, l.use);
    myth_free(mem, l.import);
    if (st != MYTH_OK)
        myth_filegraph_close(g);
    return st;
}

/* ---- rank ---- */

uint64_t myth_filegraph_name(const char *name, size_t n) { return XXH3_64bits(name, n); }

uint32_t myth_filegraph_kinds(const char *path, const char *language, uint32_t flags)
{
    /* folders of what helps to make a thing, and is none of it */
    static const char helpers[] = "ci script scripts tool tools fuzz contrib hack misc website";
    uint32_t kinds = myth_file_kinds(path, flags & MYTH_FILE_TEST, flags & MYTH_FILE_GENERATED);
    for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1) {
        const size_t n = (size_t)(slash - p);
        if ((n >= 5 && strncasecmp(p, "bench", 5) == 0) || myth_language_lists(helpers, p, n))
            kinds = (kinds & ~(1u << MYTH_KIND_SOURCE)) | 1u << MYTH_KIND_EXAMPLE;
    }
    if (myth_language_get(language)->is_data)
        kinds = (kinds & ~(1u << MYTH_KIND_SOURCE)) | 1u << MYTH_KIND_DATA;
    return kinds;
}

bool myth_filegraph_is_code(uint32_t kinds) { return !(kinds & (1u << MYTH_KIND_DOCUMENT | 1u << MYTH_KIND_DATA)); }

int myth_filegraph_tier(uint32_t kinds)
{
    bool is_prose = kinds & (1u << MYTH_KIND_DOCUMENT | 1u << MYTH_KIND_DATA);
    return kinds == 1u << MYTH_KIND_SOURCE ? 0 : is_prose ? 2 : 1;
}

typedef struct {
    const myth_node *node;
    double peak; /* rank through the symbol that most comes through */
    uint32_t idx;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int d = myth_filegraph_tier(x->node->kinds) - myth_filegraph_tier(y->node->kinds);
    if (d)
        return d;
    if (x->peak != y->peak)
        return x->peak > y->peak ? -1 : 1;
    return (x->idx > y->idx) - (x->idx < y->idx); /* by path */
}

bool myth_filegraph_place(myth_filegraph *g)
{
    const uint32_t n = g->n_node;
    placed *order = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)n + 1, sizeof(*order));
    if (!order)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        double most = 0;
        for (uint32_t k = g->first_flow[i]; k < g->first_flow[i + 1]; k++)
            most = g->flow[k].share > most ? g->flow[k].share : most;
        order[i] = (placed){&g->node[i], g->node[i].rank * (most + MYTH_SHARE_UNUSED), i};
    }
    if (n)
        qsort(order, n, sizeof(*order), by_place);
    for (uint32_t i = 0; i < n; i++)
        g->place[i] = order[i].idx;
    myth_free(g->mem, order);
    return true;
}

myth_status myth_filegraph_rank(myth_filegraph *g, const double *start, double damping, myth_error *err)
{
    uint32_t n = g->n_node;
    g->damping = damping;
    double sum = 0;
    double *rank = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)n + 1, 3 * sizeof(*rank)), *next = rank + n,
           *from = next + n;
    double *share = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_link + 1, sizeof(*share));
    if (!rank || !share) {
        myth_free(g->mem, rank);
        myth_free(g->mem, share);
        return myth_filegraph_no_memory(err);
    }
    for (uint32_t i = 0; start && i < n; i++)
        sum += start[i];
    for (uint32_t i = 0; i < n; i++) {
        double all = myth_filegraph_weight_sum(g, i);
        rank[i] = from[i] = start && sum > 0 ? start[i] / sum : 1.0 / n;
        for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link; k++)
            share[k] = damping * myth_filegraph_weight_of(&g->link[k]) / all;
    }
    for (int round = 0; round < MYTH_RANK_ROUNDS; round++) {
        double dangling = 0;
        for (uint32_t i = 0; i < n; i++)
            dangling += g->node[i].first_link == g->node[i + 1].first_link ? rank[i] : 0;
        for (uint32_t i = 0; i < n; i++)
            next[i] = (1 - damping + damping * dangling) * from[i];
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link; k++)
                next[g->link[k].target] += share[k] * rank[i];
        double *swap = rank;
        rank = next;
        next = swap;
    }
    for (uint32_t i = 0; i < n; i++)
        g->node[i].rank = rank[i];
    myth_filegraph_mark_packages(g);
    const bool ok = myth_filegraph_find_flows(g) && myth_filegraph_place(g);
    myth_free(g->mem, rank < next ? rank : next);
    myth_free(g->mem, share);
    return ok ? MYTH_OK : myth_filegraph_no_memory(err);
}
