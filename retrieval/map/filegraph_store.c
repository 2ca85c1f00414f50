/* filegraph_store.c - the graph of the files in and out of the store. */
#include "filegraph_impl.h"
#include "retrieval/store/buffer.h"

static void put_flows(myth_buffer *b, const myth_filegraph *g, uint32_t node)
{
    const uint32_t first = g->first_flow[node], end = g->first_flow[node + 1];
    myth_buffer_number(b, 2 * (uint64_t)(end - first) + g->node[node].has_entry);
    for (uint32_t i = first; i < end; i++) {
        myth_buffer_number(b, g->flow[i].symbol);
        myth_buffer_number(b, 2 * (uint64_t)(g->flow[i].share * MYTH_SHARE_ONE + 0.5) + g->flow[i].is_given);
    }
}

static myth_status save_row(myth_store *s, sqlite3_stmt *q, const myth_buffer *b, int blob, myth_error *err)
{
    if (b->is_out_of_memory)
        return myth_filegraph_no_memory(err);
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
            myth_buffer_number(&b, 2 * (uint64_t)l->n_definer + l->is_given);
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
    size_t *first_test = myth_alloc_n(g->mem, MYTH_MEM_OTHER, "map", (size_t)g->n_node + 1, sizeof(*first_test));
    if (!first_test) {
        st = myth_filegraph_no_memory(err);
        goto fail;
    }
    if (with_links)
        MYTH_TRY(save_links(g, s, err));
    MYTH_TRY(myth_filegraph_find_tests(&tests, g, err));
    for (size_t i = tests.n; i-- > 0;)
        first_test[tests.row[i].file] = i + 1;
    MYTH_TRY(myth_store_fail(s, sqlite3_exec(myth_store_db(s), "DELETE FROM ranks", NULL, NULL, NULL), err));
    MYTH_TRY(myth_store_fail(s,
                             sqlite3_prepare_v2(myth_store_db(s),
                                                "INSERT INTO ranks(place, file_id, rank, data) VALUES(?1, ?2, ?3, ?4)",
                                                -1, &q, NULL),
                             err));
    for (uint32_t i = 0; i < g->n_node; i++) {
        uint32_t node = g->place[i], n = 0;
        uint32_t test[MYTH_TESTS_MAX];
        b.n = 0;
        put_flows(&b, g, node);
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
    myth_free(g->mem, first_test);
    return st;
}

static myth_status load_links(myth_filegraph *g, const myth_id_row *ids, myth_bytes *b, myth_error *err)
{
    uint64_t n = myth_bytes_number(b);
    for (uint64_t i = 0; i < n && !b->is_bad; i++) {
        const myth_id_row *target = myth_filegraph_find_id(ids, g->n_node, (int64_t)myth_bytes_number(b));
        myth_link l = {.target = target ? target->node : 0};
        l.symbol = (uint32_t)myth_bytes_number(b);
        l.n_use = (uint32_t)myth_bytes_number(b);
        const uint64_t last = myth_bytes_number(b);
        l.n_definer = (uint32_t)(last / 2);
        l.is_given = last & 1;
        b->is_bad |= !target || l.n_definer == 0;
        if (!b->is_bad && !myth_filegraph_add_link(g, l))
            return myth_filegraph_no_memory(err);
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
    myth_id_row *ids = NULL;
    sqlite3_stmt *q = NULL;
    MYTH_TRY(myth_filegraph_load_nodes(g, s, err));
    if (!(ids = myth_filegraph_sort_ids(g))) {
        st = myth_filegraph_no_memory(err);
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
