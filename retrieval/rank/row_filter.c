/* row_filter.c - see row_filter.h. The names of all files are read, and the chunks of the wanted ones alone, so that a
 * narrow filter costs little. */
#include "row_filter.h"
#include "retrieval/store/store_impl.h"
#include "engine/base/array.h"
#include "engine/base/table.h"

#include <string.h>

static myth_status push(myth_row_filter *w, myth_filter_row **list, uint32_t *n, uint32_t *cap, myth_filter_row one,
                        myth_error *err)
{
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "search", list, *n, cap))
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u rows of a filter", *n + 1);
    (*list)[(*n)++] = one;
    return MYTH_OK;
}

static bool is_id(const void *list, uint32_t idx, const void *id)
{
    return ((const myth_filter_row *)list)[idx].id == *(const int64_t *)id;
}

static myth_status make_slots(myth_row_filter *w, uint32_t **slot, uint32_t *n_slot, const myth_filter_row *list,
                              uint32_t n, myth_error *err)
{
    *n_slot = myth_table_slots(n);
    if (!(*slot = myth_alloc_n(w->mem, MYTH_MEM_OTHER, "search", *n_slot, sizeof(**slot))))
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u rows of a filter", n);
    for (uint32_t i = 0; i < n; i++)
        *myth_table_find(*slot, *n_slot, myth_hash_id((uint64_t)list[i].id), is_id, list, &list[i].id) = i + 1;
    return MYTH_OK;
}

static bool has(const uint32_t *slot, uint32_t n_slot, const myth_filter_row *list, int64_t id)
{
    return *myth_table_find((uint32_t *)(uintptr_t)slot, n_slot, myth_hash_id((uint64_t)id), is_id, list, &id) != 0;
}

bool myth_row_filter_has_chunk(const myth_row_filter *w, int64_t id)
{
    return has(w->chunk_slot, w->n_chunk_slot, w->chunk, id);
}

bool myth_row_filter_has_file(const myth_row_filter *w, int64_t id)
{
    return has(w->file_slot, w->n_file_slot, w->file, id);
}

static myth_status read_files(myth_row_filter *w, myth_store *store, bool (*wants)(void *, const char *), void *user,
                              myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT id, path FROM files ORDER BY id", -1, &s, NULL);
    while (rc == SQLITE_OK && st == MYTH_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const char *path = (const char *)sqlite3_column_text(s, 1);
        if (path && wants(user, path))
            st = push(w, &w->file, &w->n_file, &w->cap_file, (myth_filter_row){.id = sqlite3_column_int64(s, 0)}, err);
        rc = SQLITE_OK;
    }
    if (st == MYTH_OK && rc != SQLITE_DONE)
        st = myth_store_fail(store, rc, err);
    sqlite3_finalize(s);
    return st;
}

static myth_status read_chunks(myth_row_filter *w, myth_store *store, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT id, hash FROM chunks WHERE file_id=?1 ORDER BY id", -1,
                                &s, NULL);
    if (rc != SQLITE_OK)
        st = myth_store_fail(store, rc, err);
    for (uint32_t i = 0; i < w->n_file && st == MYTH_OK; i++) {
        sqlite3_bind_int64(s, 1, w->file[i].id);
        while (st == MYTH_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
            myth_filter_row one = {.id = sqlite3_column_int64(s, 0)};
            if (sqlite3_column_bytes(s, 1) >= 8)
                memcpy(&one.content, sqlite3_column_blob(s, 1), 8);
            st = push(w, &w->chunk, &w->n_chunk, &w->cap_chunk, one, err);
        }
        if (st == MYTH_OK && rc != SQLITE_DONE)
            st = myth_store_fail(store, rc, err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return st;
}

myth_status myth_row_filter_open(myth_row_filter *out, myth_store *store, myth_mem *mem,
                                 bool (*wants)(void *user, const char *path), void *user, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_row_filter){.mem = mem};
    MYTH_TRY(read_files(out, store, wants, user, err));
    MYTH_TRY(read_chunks(out, store, err));
    MYTH_TRY(make_slots(out, &out->file_slot, &out->n_file_slot, out->file, out->n_file, err));
    MYTH_TRY(make_slots(out, &out->chunk_slot, &out->n_chunk_slot, out->chunk, out->n_chunk, err));
    return MYTH_OK;
fail:
    myth_row_filter_close(out);
    return st;
}

void myth_row_filter_close(myth_row_filter *w)
{
    if (!w->mem)
        return;
    myth_free(w->mem, w->chunk);
    myth_free(w->mem, w->file);
    myth_free(w->mem, w->chunk_slot);
    myth_free(w->mem, w->file_slot);
    *w = (myth_row_filter){0};
}
