/* summaries.c - see summaries.h. */
#include "summaries.h"

#include "retrieval/index/index_impl.h"
#include "engine/base/array.h"
#include "engine/base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* DOCS, DOC: most comments that are read, bytes of each. HEAD: bytes of the file's head. WORD: letters of a word
 * that counts. */
enum { WAIT_MS = 5000, DOCS = 32, DOC = 2 << 10, HEAD = 8 << 10, WORD = 4 };

static char *copy(myth_mem *mem, const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = myth_alloc(mem, MYTH_MEM_OTHER, "summaries", n);
    return p ? memcpy(p, s, n) : NULL;
}

/* ---- which ---- */

/* Deletes the summaries of another model. */
static myth_status own_by(myth_index *x, uint64_t maker, myth_error *err)
{
    myth_store *s = myth_index_store(x);
    const int64_t now = (int64_t)(maker & INT64_MAX);
    if (myth_store_number(s, "summaries", 0) == now)
        return MYTH_OK;
    myth_status st = myth_index_lock_writer(x, WAIT_MS, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_store_begin(s, err));
    MYTH_TRY(myth_store_fail(s, sqlite3_exec(myth_store_db(s), "DELETE FROM summaries", NULL, NULL, NULL), err));
    MYTH_TRY(myth_store_set_number(s, "summaries", now, err));
    MYTH_TRY(myth_store_commit(s, err));
fail:
    myth_store_rollback(s);
    myth_index_unlock_writer(x);
    return st;
}

static myth_status add(myth_summary_list *list, sqlite3_stmt *q, myth_error *err)
{
    if (!MYTH_ARRAY_ROOM(list->mem, MYTH_MEM_OTHER, "summaries", &list->file, list->n_file, &list->cap_file))
        return myth_fail(err, MYTH_ENOMEM, "no memory for a list of %u files", list->n_file);
    const char *path = (const char *)sqlite3_column_text(q, 1), *language = (const char *)sqlite3_column_text(q, 2);
    myth_summary_file *f = &list->file[list->n_file++];
    *f = (myth_summary_file){
        .id = sqlite3_column_int64(q, 0),
        .bytes = (uint64_t)sqlite3_column_int64(q, 3),
        .path = copy(list->mem, path ? path : ""),
        .language = copy(list->mem, language ? language : "text"),
    };
    return f->path && f->language ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "no memory for a path");
}

myth_status myth_summaries_missing(myth_summary_list *out, myth_mem *mem, myth_index *x, uint64_t maker, uint32_t most,
                                   myth_error *err)
{
    static const char sql[] =
        "SELECT f.id, CAST(f.path AS TEXT), f.language, f.bytes FROM files f LEFT JOIN ranks r ON r.file_id = f.id "
        "WHERE f.bytes > 0 AND NOT EXISTS (SELECT 1 FROM summaries s WHERE s.hash = f.hash) "
        "ORDER BY r.place IS NULL, r.place, f.path";
    myth_store *s = myth_index_store(x);
    sqlite3_stmt *q = NULL;
    int rc;
    *out = (myth_summary_list){.mem = mem};
    myth_status st = own_by(x, maker, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_store_fail(s, sqlite3_prepare_v2(myth_store_db(s), sql, -1, &q, NULL), err));
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (out->n_missing++ < most)
            MYTH_TRY(add(out, q, err));
    }
    MYTH_TRY(myth_store_fail(s, rc, err));
    sqlite3_finalize(q);
    q = NULL;
    MYTH_TRY(myth_store_fail(
        s, sqlite3_prepare_v2(myth_store_db(s), "SELECT count(*) FROM files WHERE bytes > 0", -1, &q, NULL), err));
    rc = sqlite3_step(q);
    MYTH_TRY(myth_store_fail(s, rc, err));
    out->n_all = (uint32_t)sqlite3_column_int64(q, 0);
fail:
    sqlite3_finalize(q);
    return st;
}

void myth_summaries_free(myth_summary_list *list)
{
    for (uint32_t i = 0; i < list->n_file; i++) {
        myth_free(list->mem, list->file[i].path);
        myth_free(list->mem, list->file[i].language);
    }
    if (list->file)
        myth_free(list->mem, list->file);
    *list = (myth_summary_list){0};
}

/* ---- what they say ---- */

myth_status myth_summary_text(myth_index *x, const myth_summary_file *f, unsigned char *dst, size_t *n, myth_error *err)
{
    *n = *n < f->bytes ? *n : (size_t)f->bytes;
    return myth_store_text(myth_index_store(x), dst, f->id, 0, *n, err);
}

static void offer(char out[MYTH_SUMMARY_OFFERS][MYTH_HEADLINE_CAP], uint32_t *n, const myth_summary_file *f,
                  const unsigned char *text, uint64_t n_text)
{
    if (*n == MYTH_SUMMARY_OFFERS || !myth_headline(out[*n], f->path, f->language, text, n_text))
        return;
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(out[i], out[*n]))
            return;
    ++*n;
}

myth_status myth_summary_offers(char out[MYTH_SUMMARY_OFFERS][MYTH_HEADLINE_CAP], uint32_t *n, bool *has_head,
                                myth_mem *mem, myth_index *x, const myth_summary_file *f, myth_error *err)
{
    myth_store *s = myth_index_store(x);
    sqlite3_stmt *q = NULL;
    size_t n_head = HEAD;
    int rc = SQLITE_DONE;
    *n = 0;
    myth_status st = MYTH_OK;
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "summaries", HEAD);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a file's head");
    MYTH_TRY(myth_summary_text(x, f, text, &n_head, err));
    offer(out, n, f, text, n_head);
    *has_head = *n > 0;
    MYTH_TRY(myth_store_fail(
        s,
        sqlite3_prepare_v2(
            myth_store_db(s),
            "SELECT doc_off, doc_bytes FROM chunks WHERE file_id=?1 AND doc_bytes>0 ORDER BY off LIMIT ?2", -1, &q,
            NULL),
        err));
    sqlite3_bind_int64(q, 1, f->id);
    sqlite3_bind_int(q, 2, DOCS);
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t n_doc = (uint64_t)sqlite3_column_int64(q, 1);
        n_doc = n_doc < DOC ? n_doc : DOC;
        MYTH_TRY(myth_store_text(s, text, f->id, (uint64_t)sqlite3_column_int64(q, 0), n_doc, err));
        offer(out, n, f, text, n_doc);
    }
    MYTH_TRY(myth_store_fail(s, rc, err));
fail:
    sqlite3_finalize(q);
    myth_free(mem, text);
    return st;
}

/* ---- is it about the file ---- */

static bool stands_in(const char *word, size_t len, const char *text, size_t n)
{
    for (size_t i = 0; i + len <= n; i++)
        if (!strncasecmp(text + i, word, len))
            return true;
    return false;
}

bool myth_summary_is_grounded(const char *line, const char *path, const unsigned char *text, size_t n)
{
    uint32_t n_found = 0;
    for (const char *p = line; *p;) {
        size_t len = 0;
        bool is_name = false;
        for (; myth_is_word(p[len]); len++)
            is_name = is_name || p[len] == '_' || isdigit((unsigned char)p[len]) ||
                      (len && isupper((unsigned char)p[len]) && islower((unsigned char)p[len - 1]));
        is_name = (is_name || p[len] == '(') && len > 1;
        if (is_name || len >= WORD) {
            bool is_there = stands_in(p, len, path, strlen(path)) || stands_in(p, len, (const char *)text, n);
            if (is_name && !is_there)
                return false;
            n_found += is_there;
        }
        p += len ? len : 1;
    }
    return n_found >= 2;
}
