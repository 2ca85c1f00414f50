/* usage_alias.c - a name that only a re-export gives: export { make as create } from "./x", pub use x::Make as Create,
 * from .x import make as create in an __init__.py. */
#include "usage_impl.h"
#include "retrieval/store/fts_tokenizer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { ALIAS_FILES = 64, ORIGINAL_CAP = 128 };

static bool is_export_statement(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n && isspace((unsigned char)text[at]))
        at++;
    return n - at > 6 && memcmp(text + at, "export", 6) == 0;
}

/* The name that the statement calls `name`: what stands before "as NAME". False: there is none. */
static bool original_of(char original[ORIGINAL_CAP], const myth_view *f, const myth_view_import *i, const char *name)
{
    if (!f->has_text || i->line0 == 0 || i->line1 > f->n_line)
        return false;
    const char *text = (const char *)f->text + f->line[i->line0 - 1];
    const size_t n = f->line[i->line1] - f->line[i->line0 - 1], n_name = strlen(name);
    if (myth_language_get(f->language)->family == MYTH_FAMILY_JS && !is_export_statement(text, n))
        return false; /* import { make as own } in an index.ts */
    for (size_t pos = 0; myth_word_find(text, n, name, n_name, &pos); pos++) {
        size_t at = pos, end;
        while (at > 0 && isspace((unsigned char)text[at - 1]))
            at--;
        if (at == pos || at < 3 || memcmp(text + at - 2, "as", 2) != 0 || !isspace((unsigned char)text[at - 3]))
            continue;
        for (at -= 2; at > 0 && isspace((unsigned char)text[at - 1]); at--)
            ;
        for (end = at; at > 0 && myth_is_name_or_dollar(text[at - 1]); at--)
            ;
        if (end == at || end - at >= ORIGINAL_CAP)
            continue;
        snprintf(original, ORIGINAL_CAP, "%.*s", (int)(end - at), text + at);
        return true;
    }
    return false;
}

/* A definition of the original in a file that the statement's module means, as PATH::NAME. */
static myth_status find_origin(const char **out, myth_views *v, const myth_view *f, const myth_view_import *i,
                               const char *original, myth_error *err)
{
    static const char sql[] = "SELECT DISTINCT f.path FROM symbols s JOIN files f ON f.id=s.file_id WHERE s.name=?1 "
                              "ORDER BY f.path LIMIT 256";
    sqlite3_stmt *q = NULL;
    char origin[MYTH_MODULE_PATH + ORIGINAL_CAP + 8];
    int rc = sqlite3_prepare_v2(myth_store_db(v->store), sql, -1, &q, NULL);
    if (rc == SQLITE_OK)
        sqlite3_bind_text(q, 1, original, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && !*out && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        char path[MYTH_MODULE_PATH];
        snprintf(path, sizeof(path), "%.*s", sqlite3_column_bytes(q, 0), (const char *)sqlite3_column_blob(q, 0));
        rc = SQLITE_OK;
        if (myth_module_means(f->language, f->path, i->spec, path) != MYTH_MODULE_FILE)
            continue;
        snprintf(origin, sizeof(origin), "%.1020s::%.120s", path, original);
        *out = myth_usage_text(v->out, origin, strlen(origin));
        rc = *out ? SQLITE_OK : SQLITE_NOMEM;
    }
    const myth_status st = myth_store_fail(v->store, rc, err);
    sqlite3_finalize(q);
    return st;
}

myth_status myth_usage_alias(const char **out, myth_views *v, const char *name, myth_error *err)
{
    char match[512], original[ORIGINAL_CAP];
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    const size_t n_query = myth_fts_quote(NULL, 0, name, strlen(name));
    *out = NULL;
    if (n_query == 0 || n_query + 16 > sizeof(match))
        return MYTH_OK;
    memcpy(match, "body:", 5);
    myth_fts_quote(match + 5, n_query + 1, name, strlen(name));
    int rc = sqlite3_prepare_v2(myth_store_db(v->store),
                                "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT rowid FROM fts WHERE fts "
                                "MATCH ?1) ORDER BY file_id LIMIT ?2",
                                -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(q, 1, match, -1, SQLITE_STATIC);
        sqlite3_bind_int(q, 2, ALIAS_FILES);
    }
    while (st == MYTH_OK && rc == SQLITE_OK && !*out && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        myth_view *f;
        st = myth_view_get(&f, v, sqlite3_column_int64(q, 0), err);
        if (st == MYTH_OK)
            st = myth_view_imports(v, f, err);
        for (uint32_t i = 0; st == MYTH_OK && i < f->n_import && !*out; i++)
            if (myth_view_is_export(f, &f->import[i]) && original_of(original, f, &f->import[i], name))
                st = find_origin(out, v, f, &f->import[i], original, err);
        rc = SQLITE_OK;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(v->store, rc, err);
    sqlite3_finalize(q);
    return st;
}
