/* usage_exports.c - what gives a name on: headers that declare it, statements that re-export it, package files. */
#include "retrieval/store/fts_tokenizer.h"
#include "usage_look.h"
#include "usage_why.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { EXPORT_FILES = 512 };

/* The line where a header declares the name; 0 = none. can_be_static: it may be a member of a class, for which static
 * says something else; a static function of a header is each file's own. */
static uint32_t declared_in(const myth_view *f, const char *name, bool can_be_static)
{
    size_t n_name = strlen(name);
    for (uint32_t i = 1; i <= f->n_line; i++) {
        size_t n, pos = 0, start = 0, is_static = 0;
        const char *line = myth_view_line(f, i, &n);
        while (start < n && isspace((unsigned char)line[start]))
            start++;
        if (start == n || line[start] == '*' || line[start] == '/' || !myth_word_find(line, n, name, n_name, &pos))
            continue;
        if (!can_be_static && myth_word_find(line, pos, "static", strlen("static"), &is_static))
            continue;
        size_t after = pos + n_name;
        while (after < n && line[after] == ' ')
            after++;
        if (after < n && (line[after] == '(' || line[after] == ';' || line[after] == '[') && pos > start)
            return i;
    }
    return 0;
}

static bool is_header(const myth_view *f)
{
    return myth_usage_is_header_language(f->language) && myth_usage_is_header_path(f->path);
}

static myth_status look_for_export(myth_look *l, myth_usage_definition *d, myth_view *f, myth_error *err)
{
    if (f->id == d->file_id || (f->flags & MYTH_FILE_TEST) || !myth_language_is_kin(f->language, d->language))
        return MYTH_OK;
    const bool declares = is_header(f);
    if (myth_usage_is_header_language(f->language) && (!declares || !d->is_exported))
        return MYTH_OK;
    myth_status st = myth_view_imports(&l->views, f, err);
    uint32_t line =
        st == MYTH_OK && declares && d->kind != MYTH_SYMBOL_MACRO ? declared_in(f, d->name, d->parent[0] != '\0') : 0;
    const char *why = "declares it";
    for (uint32_t i = 0; st == MYTH_OK && line == 0 && !declares && i < f->n_import; i++) {
        const char *how = myth_usage_gives_on(f, &f->import[i], d);
        if (how) {
            line = f->import[i].line0;
            why = how;
        }
    }
    if (line == 0 || st != MYTH_OK)
        return st;
    myth_usage_place p = {
        .path = f->path,
        .name = "",
        .parent = "",
        .why = why,
        .line = line,
        .line0 = line,
        .line1 = line,
        .strength = MYTH_WHY_EXPORT,
        .file_id = f->id,
    };
    return myth_usage_add_place(l->out->mem, &d->exports, &p) ? MYTH_OK : myth_usage_no_memory(err);
}

/* Of several definitions those whose files include the header, as a bit each; all when none does. */
static myth_status means_of_header(uint64_t *mask, myth_look *l, const myth_view *header, myth_error *err)
{
    const myth_usage *u = l->out;
    myth_status st = MYTH_OK;
    *mask = 0;
    for (uint32_t i = 0; u->n_definition > 1 && is_header(header) && i < u->n_definition; i++) {
        const myth_usage_definition *d = &u->definition[i];
        myth_view *f = NULL;
        MYTH_TRY(myth_view_get(&f, &l->views, d->file_id, err));
        MYTH_TRY(myth_view_imports(&l->views, f, err));
        for (uint32_t k = 0; k < f->n_import && !(*mask >> i & 1); k++)
            if (myth_module_means(f->language, f->path, f->import[k].spec, header->path) == MYTH_MODULE_FILE)
                *mask |= (uint64_t)1 << i;
    }
fail:
    *mask = *mask ? *mask : UINT64_MAX;
    return st;
}

/* Looks at files whose text has the name, then at package files around the definition, which may re-export
 * everything. */
myth_status myth_look_exports(myth_look *l, myth_error *err)
{
    myth_usage *u = l->out;
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    size_t n = strlen(l->name), n_query = myth_fts_quote(NULL, 0, l->name, n);
    char *match = myth_alloc(u->mem, MYTH_MEM_OTHER, "usage", n_query + 8);
    if (!match)
        return myth_usage_no_memory(err);
    memcpy(match, "body:", 5);
    myth_fts_quote(match + 5, n_query + 1, l->name, n);
    int rc = sqlite3_prepare_v2(myth_store_db(l->views.store),
                                "SELECT DISTINCT file_id FROM chunks WHERE id IN (SELECT rowid FROM fts WHERE fts "
                                "MATCH ?1) ORDER BY file_id LIMIT ?2",
                                -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(q, 1, match, -1, SQLITE_STATIC);
        sqlite3_bind_int(q, 2, EXPORT_FILES + 1);
    }
    for (uint32_t k = 0; n_query > 0 && st == MYTH_OK && rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW; k++) {
        myth_view *f;
        if (k == EXPORT_FILES) {
            u->has_more_exports = true;
            break;
        }
        st = myth_view_get(&f, &l->views, sqlite3_column_int64(q, 0), err);
        uint64_t mask = 0;
        if (st == MYTH_OK)
            st = means_of_header(&mask, l, f, err);
        for (uint32_t i = 0; i < u->n_definition && st == MYTH_OK; i++)
            if (mask >> i & 1)
                st = look_for_export(l, &u->definition[i], f, err);
        rc = SQLITE_OK;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(l->views.store, rc, err);
    sqlite3_finalize(q);
    myth_free(u->mem, match);
    return st;
}

myth_status myth_look_packages(myth_look *l, myth_usage_definition *d, myth_error *err)
{
    static const char *const base[] = {"__init__.py", "index.ts",  "index.js", "index.tsx",
                                       "index.jsx",   "index.mjs", "mod.rs",   "lib.rs"};
    sqlite3_stmt *q = NULL;
    myth_status st = MYTH_OK;
    int rc = sqlite3_prepare_v2(myth_store_db(l->views.store), "SELECT id FROM files WHERE path=?1", -1, &q, NULL);
    size_t n_dir = strrchr(d->path, '/') ? (size_t)(strrchr(d->path, '/') - d->path) : 0;
    while (rc == SQLITE_OK && st == MYTH_OK) {
        for (size_t i = 0; i < sizeof(base) / sizeof(base[0]) && st == MYTH_OK && rc == SQLITE_OK; i++) {
            char path[1024];
            int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)n_dir, d->path, n_dir ? "/" : "", base[i]);
            if (n >= (int)sizeof(path))
                continue;
            sqlite3_bind_blob(q, 1, path, n, SQLITE_TRANSIENT);
            rc = sqlite3_step(q);
            int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
            sqlite3_reset(q);
            myth_view *f;
            if (rc == SQLITE_ROW && (st = myth_view_get(&f, &l->views, id, err)) == MYTH_OK)
                st = look_for_export(l, d, f, err);
            rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
        }
        if (n_dir == 0)
            break;
        while (n_dir > 0 && d->path[n_dir - 1] != '/')
            n_dir--;
        n_dir -= n_dir > 0;
    }
    if (st == MYTH_OK)
        st = myth_store_fail(l->views.store, rc, err);
    sqlite3_finalize(q);
    return st;
}
