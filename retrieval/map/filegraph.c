/* filegraph.c - see filegraph.h. Names are compared by 64 bits of their XXH3: among a million names the chance that
 * two are confused is 1 in 10^7. */
#include "filegraph_impl.h"
#include "engine/base/array.h"
#include "engine/base/table.h"
#include "engine/base/text.h"
#include "retrieval/store/buffer.h"
#include "retrieval/rank/rank.h"
#include "retrieval/names/resolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

enum {
    NAME_MIN = 2,
    DEFINITIONS_MAX = 64
}; /* shortest name that counts; a name with more definitions than this is ignored */
static const double damping = 0.85;

static myth_status no_memory(myth_error *err)
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
    *g = (myth_filegraph){0};
}

/* ---- nodes ---- */

static myth_status load_nodes(myth_filegraph *g, myth_store *s, myth_error *err)
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
        return no_memory(err);
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
        d->kinds = myth_file_kinds(d->path, d->flags & MYTH_FILE_TEST, d->flags & MYTH_FILE_GENERATED);
        rc = SQLITE_OK;
    }
    st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

typedef struct {
    int64_t id;
    uint32_t node;
} id_row;

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const id_row *)a)->id, y = ((const id_row *)b)->id;
    return (x > y) - (x < y);
}

/* Indexes of the nodes sorted by id; the caller frees them. */
static id_row *sort_ids(const myth_filegraph *g)
{
    id_row *row = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*row));
    for (uint32_t i = 0; row && i < g->n_node; i++)
        row[i] = (id_row){g->node[i].id, i};
    if (row)
        qsort(row, g->n_node, sizeof(*row), by_id);
    return row;
}

static const id_row *find_id(const id_row *row, uint32_t n, int64_t id)
{
    return bsearch(&(id_row){id, 0}, row, n, sizeof(*row), by_id);
}

/* ---- definitions ---- */

typedef struct {
    uint64_t name;
    uint32_t node, symbol;
    bool is_exported;
} definition;

typedef struct {
    myth_mem *mem;
    definition *row; /* by name, node, exported before not, symbol */
    size_t n, cap;
    uint32_t *slot, n_slot; /* hash table: first row of a name + 1 */
} definitions;

static int by_definition(const void *a, const void *b)
{
    const definition *x = a, *y = b;
    if (x->name != y->name)
        return (x->name > y->name) - (x->name < y->name);
    if (x->node != y->node)
        return (x->node > y->node) - (x->node < y->node);
    if (x->is_exported != y->is_exported)
        return x->is_exported ? -1 : 1;
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static bool is_definition(const void *d, uint32_t idx, const void *name)
{
    return ((const definitions *)d)->row[idx].name == *(const uint64_t *)name;
}

/* Names are hashes already. */
static uint32_t *find_definition(const definitions *d, uint64_t name)
{
    return myth_table_find(d->slot, d->n_slot, name >> 7, is_definition, d, &name);
}

/* Keeps one row for each name and file. */
static myth_status order_definitions(definitions *d, myth_error *err)
{
    size_t n = 0;
    if (d->n)
        qsort(d->row, d->n, sizeof(*d->row), by_definition);
    for (size_t i = 0; i < d->n; i++)
        if (n == 0 || d->row[n - 1].name != d->row[i].name || d->row[n - 1].node != d->row[i].node)
            d->row[n++] = d->row[i];
    d->n = n;
    d->n_slot = myth_table_slots(n);
    d->slot = myth_alloc_n(d->mem, MYTH_MEM_OTHER, "map", d->n_slot, sizeof(*d->slot));
    if (!d->slot)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && d->row[i - 1].name == d->row[i].name)
            continue;
        *find_definition(d, d->row[i].name) = (uint32_t)i + 1;
    }
    return MYTH_OK;
}

static myth_status load_definitions(definitions *d, const myth_filegraph *g, const id_row *ids, myth_store *s,
                                    myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    const id_row *at = NULL;
    int rc =
        sqlite3_prepare_v2(myth_store_db(s), "SELECT id, name, kind, flags FROM symbols ORDER BY id", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(q, 0), file = id / MYTH_SYMBOL_IDS;
        int kind = sqlite3_column_int(q, 2);
        const void *name = sqlite3_column_text(q, 1);
        size_t n = (size_t)sqlite3_column_bytes(q, 1);
        rc = SQLITE_OK;
        if (!at || at->id != file)
            at = find_id(ids, g->n_node, file);
        if (!at || n < NAME_MIN || kind == MYTH_SYMBOL_TEST || kind == MYTH_SYMBOL_ROUTE ||
            !myth_filegraph_defines(&g->node[at->node]))
            continue;
        if (!MYTH_ARRAY_ROOM(d->mem, MYTH_MEM_OTHER, "map", &d->row, d->n, &d->cap)) {
            st = no_memory(err);
            break;
        }
        d->row[d->n++] = (definition){XXH3_64bits(name, n), at->node, (uint32_t)(id % MYTH_SYMBOL_IDS),
                                      (sqlite3_column_int64(q, 3) & MYTH_SYMBOL_EXPORTED) != 0};
    }
    if (st == MYTH_OK)
        st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st == MYTH_OK ? order_definitions(d, err) : st;
}

/* ---- links of one file ---- */

typedef struct {
    myth_filegraph *g;
    const definitions *def;
    const myth_resolver *resolver;
    uint32_t node;
    uint32_t *use; /* for each name that is used its first row */
    size_t n_use, cap_use;
    myth_link *import; /* sorted by target */
    uint32_t n_import, cap_import;
    bool is_out_of_memory;
} linker;

static bool add_import(linker *l, uint32_t target, uint32_t n_definer)
{
    if (!MYTH_ARRAY_ROOM(l->g->mem, MYTH_MEM_OTHER, "map", &l->import, l->n_import, &l->cap_import))
        return false;
    l->import[l->n_import++] = (myth_link){target, 0, 1, n_definer};
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
    uint32_t first = *find_definition(l->def, XXH3_64bits(ref->name, strlen(ref->name)));
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
    return (x->n_definer > y->n_definer) - (x->n_definer < y->n_definer);
}

static bool has_import(const linker *l, uint32_t target)
{
    const uint32_t lo = l->n_import ? myth_first_from(&l->import->target, sizeof(*l->import), l->n_import, target) : 0;
    return lo < l->n_import && l->import[lo].target == target;
}

static bool add_link(myth_filegraph *g, myth_link link)
{
    if (!MYTH_ARRAY_ROOM(g->mem, MYTH_MEM_OTHER, "map", &g->link, g->n_link, &g->cap_link))
        return false;
    g->link[g->n_link++] = link;
    return true;
}

/* Adds the links for one name, whose rows begin at `first`, used n times. */
static bool link_name(linker *l, uint32_t first, uint32_t n_use)
{
    const definitions *d = l->def;
    uint32_t row[DEFINITIONS_MAX], n = 0, n_imported = 0;
    for (size_t i = first; i < d->n && d->row[i].name == d->row[first].name; i++) {
        if (d->row[i].node == l->node || n == DEFINITIONS_MAX)
            return true; /* the file defines it itself, or too many files do */
        if (d->row[i].is_exported)
            row[n++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < n; i++)
        n_imported += has_import(l, d->row[row[i]].node);
    uint32_t n_definer = n_imported ? n_imported : n;
    if (n_definer > MYTH_DEFINERS_MAX)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        const definition *r = &d->row[row[i]];
        if ((!n_imported || has_import(l, r->node)) &&
            !add_link(l->g, (myth_link){r->node, r->symbol + 1, n_use, n_definer}))
            return false;
    }
    return true;
}

static myth_status link_file(linker *l, myth_store *s, uint32_t node, myth_error *err)
{
    myth_filegraph *g = l->g;
    l->node = node;
    l->n_use = 0;
    l->n_import = 0;
    g->node[node].first_link = g->n_link;
    myth_status st = myth_store_refs(s, g->node[node].id, take_use, l, err);
    if (st != MYTH_OK)
        return st;
    if (l->n_import)
        qsort(l->import, l->n_import, sizeof(*l->import), by_link);
    if (l->n_use)
        qsort(l->use, l->n_use, sizeof(*l->use), by_number);
    bool ok = !l->is_out_of_memory;
    for (uint32_t i = 0; i < l->n_import && ok; i++)
        ok = (i > 0 && l->import[i - 1].target == l->import[i].target) || add_link(g, l->import[i]);
    for (size_t i = 0, end; i < l->n_use && ok; i = end) {
        for (end = i + 1; end < l->n_use && l->use[end] == l->use[i]; end++)
            ;
        ok = link_name(l, l->use[i], (uint32_t)(end - i));
    }
    if (g->n_link > g->node[node].first_link)
        qsort(g->link + g->node[node].first_link, g->n_link - g->node[node].first_link, sizeof(*g->link), by_link);
    return ok ? MYTH_OK : no_memory(err);
}

myth_status myth_filegraph_make(myth_filegraph *out, myth_mem *mem, myth_store *s, const myth_cancel *is_cancelled,
                                myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_filegraph *g = out;
    *g = (myth_filegraph){.mem = mem};
    id_row *ids = NULL;
    myth_resolve_file *file = NULL;
    myth_resolver *resolver = NULL;
    definitions def = {.mem = mem};
    linker l = {.g = g, .def = &def};
    MYTH_TRY(load_nodes(g, s, err));
    ids = sort_ids(g);
    file = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*file));
    if (!ids || !file) {
        st = no_memory(err);
        goto fail;
    }
    for (uint32_t i = 0; i < g->n_node; i++)
        file[i] = (myth_resolve_file){g->node[i].path, g->node[i].language};
    MYTH_TRY(myth_resolver_open(&resolver, mem, file, g->n_node, err));
    l.resolver = resolver;
    MYTH_TRY(load_definitions(&def, g, ids, s, err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        if (is_cancelled && *is_cancelled) {
            st = myth_fail(err, MYTH_ECANCEL, "stopped; the map was not made");
            goto fail;
        }
        MYTH_TRY(link_file(&l, s, i, err));
    }
    g->node[g->n_node].first_link = g->n_link;
fail:
    myth_resolver_close(resolver);
    myth_free(mem, ids);
    myth_free(mem, file);
    myth_free(mem, def.row);
    myth_free(mem, def.slot);
    myth_free(mem, l.use);
    myth_free(mem, l.import);
    if (st != MYTH_OK)
        myth_filegraph_close(g);
    return st;
}

/* ---- rank ---- */

int myth_filegraph_tier(uint32_t kinds)
{
    bool is_prose = kinds & (1u << MYTH_KIND_DOCUMENT | 1u << MYTH_KIND_DATA);
    return kinds == 1u << MYTH_KIND_SOURCE ? 0 : is_prose ? 2 : 1;
}

typedef struct {
    const myth_node *node;
    uint32_t idx;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int d = myth_filegraph_tier(x->node->kinds) - myth_filegraph_tier(y->node->kinds);
    if (d)
        return d;
    if (x->node->rank != y->node->rank)
        return x->node->rank > y->node->rank ? -1 : 1;
    return (x->idx > y->idx) - (x->idx < y->idx); /* by path */
}

myth_status myth_filegraph_rank(myth_filegraph *g, const double *start, myth_error *err)
{
    uint32_t n = g->n_node;
    double sum = 0;
    double *rank = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)n + 1, 3 * sizeof(*rank)), *next = rank + n,
           *from = next + n;
    double *share = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_link + 1, sizeof(*share));
    placed *order = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)n + 1, sizeof(*order));
    if (!rank || !share || !order) {
        myth_free(g->mem, rank);
        myth_free(g->mem, share);
        myth_free(g->mem, order);
        return no_memory(err);
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
    for (uint32_t i = 0; i < n; i++) {
        g->node[i].rank = rank[i];
        order[i] = (placed){&g->node[i], i};
    }
    if (n)
        qsort(order, n, sizeof(*order), by_place);
    for (uint32_t i = 0; i < n; i++)
        g->place[i] = order[i].idx;
    myth_free(g->mem, rank < next ? rank : next);
    myth_free(g->mem, share);
    myth_free(g->mem, order);
    return MYTH_OK;
}

/* ---- in and out of the store ---- */

typedef struct {
    uint32_t symbol, from;
    double flow;
} flow;

static int by_flow(const void *a, const void *b)
{
    const flow *x = a, *y = b;
    if (x->symbol != y->symbol)
        return (x->symbol > y->symbol) - (x->symbol < y->symbol);
    return (x->from > y->from) - (x->from < y->from);
}

/* Sorts the symbols' shares by file (counting sort): before, start is zero; after it start[i] is the end of file i's
 * part. */
static void find_flows(flow *out, const myth_filegraph *g, uint32_t *start)
{
    for (uint32_t i = 0; i < g->n_link; i++)
        start[g->link[i].target + 1]++;
    for (uint32_t i = 0; i < g->n_node; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < g->n_node; i++) {
        double all = myth_filegraph_weight_sum(g, i);
        for (uint32_t k = g->node[i].first_link; k < g->node[i + 1].first_link; k++) {
            const myth_link *l = &g->link[k];
            out[start[l->target]++] =
                (flow){l->symbol, i, damping * g->node[i].rank * myth_filegraph_weight_of(l) / all};
        }
    }
}

/* Adds up in the order of the files that use a symbol. */
static void put_flows(myth_buffer *b, flow *f, size_t n, double rank)
{
    size_t n_symbol = 0;
    double sum = 0;
    if (n)
        qsort(f, n, sizeof(*f), by_flow);
    for (size_t i = 0; i < n; i++)
        n_symbol += f[i].symbol && (i + 1 == n || f[i + 1].symbol != f[i].symbol);
    myth_buffer_number(b, n_symbol);
    for (size_t i = 0; i < n; i++) {
        sum += f[i].flow;
        if (i + 1 < n && f[i + 1].symbol == f[i].symbol)
            continue;
        double share = rank > 0 ? sum / rank : 0;
        if (f[i].symbol) {
            myth_buffer_number(b, f[i].symbol - 1);
            myth_buffer_number(b, (uint64_t)((share < 1 ? share : 1) * MYTH_SHARE_ONE + 0.5));
        }
        sum = 0;
    }
}

static myth_status save_row(myth_store *s, sqlite3_stmt *q, const myth_buffer *b, int blob, myth_error *err)
{
    if (b->is_out_of_memory)
        return no_memory(err);
    sqlite3_bind_blob64(q, blob, b->data, b->n, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_reset(q);
    return st;
}

static myth_status save_links(const myth_filegraph *g, myth_store *s, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    myth_buffer b = {.mem = g->mem};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_store_fail(s, sqlite3_exec(myth_store_db(s), "DELETE FROM links", NULL, NULL, NULL), err));
    MYTH_TRY(myth_store_fail(
        s, sqlite3_prepare_v2(myth_store_db(s), "INSERT INTO links(file_id, data) VALUES(?1, ?2)", -1, &q, NULL), err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t first = g->node[i].first_link, end = g->node[i + 1].first_link;
        if (first == end)
            continue;
        b.n = 0;
        myth_buffer_number(&b, end - first);
        for (uint32_t k = first; k < end; k++) {
            const myth_link *l = &g->link[k];
            myth_buffer_number(&b, (uint64_t)g->node[l->target].id);
            myth_buffer_number(&b, l->symbol);
            myth_buffer_number(&b, l->n_use);
            myth_buffer_number(&b, l->n_definer);
        }
        sqlite3_bind_int64(q, 1, g->node[i].id);
        MYTH_TRY(save_row(s, q, &b, 2, err));
    }
fail:
    sqlite3_finalize(q);
    myth_buffer_close(&b);
    return st;
}

myth_status myth_filegraph_save(const myth_filegraph *g, myth_store *s, bool with_links, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_buffer b = {.mem = g->mem};
    myth_tested_list tests = {0};
    sqlite3_stmt *q = NULL;
    flow *flows = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_link + 1, sizeof(*flows));
    uint32_t *end = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 2, sizeof(*end));
    size_t *first_test = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*first_test));
    if (!flows || !end || !first_test) {
        st = no_memory(err);
        goto fail;
    }
    if (with_links)
        MYTH_TRY(save_links(g, s, err));
    MYTH_TRY(myth_filegraph_find_tests(&tests, g, err));
    for (size_t i = tests.n; i-- > 0;)
        first_test[tests.row[i].file] = i + 1;
    find_flows(flows, g, end);
    MYTH_TRY(myth_store_fail(s, sqlite3_exec(myth_store_db(s), "DELETE FROM ranks", NULL, NULL, NULL), err));
    MYTH_TRY(myth_store_fail(s,
                             sqlite3_prepare_v2(myth_store_db(s),
                                                "INSERT INTO ranks(place, file_id, rank, data) VALUES(?1, ?2, ?3, ?4)",
                                                -1, &q, NULL),
                             err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t node = g->place[i], from = node ? end[node - 1] : 0, n = 0;
        uint32_t test[MYTH_TESTS_MAX];
        b.n = 0;
        put_flows(&b, flows + from, end[node] - from, g->node[node].rank);
        for (size_t k = first_test[node]; k && k <= tests.n && tests.row[k - 1].file == node && n < MYTH_TESTS_MAX;
             k++) {
            bool is_new = true; /* a test can be found twice, by its name and by its links */
            for (uint32_t o = 0; o < n; o++)
                is_new &= test[o] != tests.row[k - 1].test;
            if (is_new)
                test[n++] = tests.row[k - 1].test;
        }
        myth_buffer_number(&b, n);
        for (uint32_t k = 0; k < n; k++)
            myth_buffer_number(&b, (uint64_t)g->node[test[k]].id);
        sqlite3_bind_int64(q, 1, i + 1);
        sqlite3_bind_int64(q, 2, g->node[node].id);
        sqlite3_bind_double(q, 3, g->node[node].rank);
        MYTH_TRY(save_row(s, q, &b, 4, err));
    }
fail:
    sqlite3_finalize(q);
    myth_buffer_close(&b);
    myth_free(g->mem, tests.row);
    myth_free(g->mem, flows);
    myth_free(g->mem, end);
    myth_free(g->mem, first_test);
    return st;
}

static myth_status load_links(myth_filegraph *g, const id_row *ids, myth_bytes *b, myth_error *err)
{
    uint64_t n = myth_bytes_number(b);
    for (uint64_t i = 0; i < n && !b->is_bad; i++) {
        const id_row *target = find_id(ids, g->n_node, (int64_t)myth_bytes_number(b));
        myth_link l = {.target = target ? target->node : 0};
        l.symbol = (uint32_t)myth_bytes_number(b);
        l.n_use = (uint32_t)myth_bytes_number(b);
        l.n_definer = (uint32_t)myth_bytes_number(b);
        b->is_bad |= !target || l.n_definer == 0;
        if (!b->is_bad && !add_link(g, l))
            return no_memory(err);
    }
    return b->is_bad
             ? myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "the index is damaged (links of a file)")
             : MYTH_OK;
}

myth_status myth_filegraph_load(myth_filegraph *out, myth_mem *mem, myth_store *s, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_filegraph *g = out;
    *g = (myth_filegraph){.mem = mem};
    id_row *ids = NULL;
    sqlite3_stmt *q = NULL;
    MYTH_TRY(load_nodes(g, s, err));
    if (!(ids = sort_ids(g))) {
        st = no_memory(err);
        goto fail;
    }
    MYTH_TRY(myth_store_fail(
        s, sqlite3_prepare_v2(myth_store_db(s), "SELECT data FROM links WHERE file_id=?1", -1, &q, NULL), err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        g->node[i].first_link = g->n_link;
        sqlite3_bind_int64(q, 1, g->node[i].id);
        int rc = sqlite3_step(q);
        MYTH_TRY(myth_store_fail(s, rc, err));
        const unsigned char *p = rc == SQLITE_ROW ? sqlite3_column_blob(q, 0) : NULL;
        if (p)
            MYTH_TRY(load_links(g, ids, &(myth_bytes){p, p + sqlite3_column_bytes(q, 0), false}, err));
        sqlite3_reset(q);
    }
    g->node[g->n_node].first_link = g->n_link;
fail:
    sqlite3_finalize(q);
    myth_free(mem, ids);
    if (st != MYTH_OK)
        myth_filegraph_close(g);
    return st;
}
