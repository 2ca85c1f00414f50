/* select_context.c - answers one request of a model with the help of the index: adds a definition, a key of a
 * configuration or a file, or else names what is similar.
 *
 * Order     "config::KEY": definitions that can be keys, then lines that mention the key. Any other request: the
 *           definition of that name; then the file with that path, or whose path ends in it; then, when the path before
 *           "::" is wrong, the name behind it, if only one definition has it
 * Untrusted the request comes from a model: it is only compared with what the index has, never opened as a path */
#include "select_impl.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { REQUEST_BYTES = 400, DEFINITIONS = 2, KEY_HITS = 20, KEY_PLACES = 3, FILE_HEAD = 80 };

typedef struct {
    myth_select *s;
    myth_material *m;
    uint32_t of, n_added;
    bool was_there; /* it was found, but the material shows it already */
} answer;

static myth_status add_piece(answer *a, const myth_wanted *w, myth_error *err)
{
    bool is_new;
    myth_status st = myth_select_add(a->s, NULL, &is_new, a->m, w, err);
    a->n_added += st == MYTH_OK && is_new;
    a->was_there |= st == MYTH_OK && !is_new;
    return st;
}

/* ---- definitions ---- */

static bool is_key_file(const char *language)
{
    static const char *const data[] = {"yaml", "toml", "json", "ini",        "properties", "dotenv",
                                       "xml",  "hcl",  "make", "dockerfile", NULL};
    for (int i = 0; data[i]; i++)
        if (strcmp(data[i], language) == 0)
            return true;
    return false;
}

static myth_status add_definitions(answer *a, const char *name, uint32_t most, bool only_keys, bool only_one,
                                   myth_error *err)
{
    myth_usage u = {0};
    myth_status st = myth_usage_find(&u, a->s->index, name, a->s->is_cancelled, err);
    if (st != MYTH_OK || (only_one && u.n_definition + u.n_more != 1)) {
        myth_usage_free(&u);
        return st;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < u.n_definition && n < most && st == MYTH_OK; i++) {
        const myth_usage_definition *d = &u.definition[i];
        bool is_key = is_key_file(d->language) || d->kind == MYTH_SYMBOL_CONSTANT || d->kind == MYTH_SYMBOL_VARIABLE ||
                      d->kind == MYTH_SYMBOL_MACRO;
        if (only_keys && !is_key)
            continue;
        myth_wanted w = {
            .path = d->path,
            .name = d->name,
            .parent = d->parent,
            .why = "asked for",
            .line = d->line,
            .line0 = d->line0,
            .line1 = d->line1,
            .of = a->of,
        };
        st = add_piece(a, &w, err);
        n++;
    }
    myth_usage_free(&u);
    return st;
}

/* ---- a key without a definition: lines that mention it ---- */

static myth_status add_mentions(answer *a, const char *key, myth_error *err)
{
    myth_hits hits = {0};
    myth_search_opts o = {.query = key, .mode = MYTH_SEARCH_RANKED, .k = KEY_HITS, .with_text = true};
    uint32_t n = 0;
    myth_status st = myth_search(&hits, a->s->index, &o, err);
    if (st == MYTH_EARG) { /* the key has no word that could be searched for */
        if (err)
            *err = (myth_error){0};
        return MYTH_OK;
    }
    for (uint32_t i = 0; st == MYTH_OK && i < hits.n_hit && n < KEY_PLACES; i++) {
        const myth_hit *h = &hits.hit[i];
        uint32_t line = h->line0;
        size_t n_key = strlen(key);
        const char *text = h->text;
        bool is_there = false;
        for (uint64_t k = 0; k + n_key <= h->n_text && !is_there; k++) {
            is_there = memcmp(text + k, key, n_key) == 0;
            line += !is_there && text[k] == '\n';
        }
        myth_wanted w = {
            .path = h->path,
            .name = "",
            .parent = "",
            .why = "mentions what was asked for",
            .line = line,
            .line0 = line,
            .line1 = line,
            .of = a->of,
        };
        if (is_there)
            st = add_piece(a, &w, err);
        n += is_there;
    }
    myth_hits_free(&hits);
    return st;
}

/* ---- files ---- */

/* Finds the file whose path is `asked`, or the only one whose path ends in "/" and `asked`. path is "" when there is
 * none, or when several end so. */
static myth_status find_file(myth_select *s, char *path, size_t cap, const char *asked, myth_error *err)
{
    myth_store *store = myth_index_store(s->index);
    sqlite3_stmt *q = NULL;
    uint32_t n = 0;
    size_t n_asked = strlen(asked);
    path[0] = '\0';
    int rc = sqlite3_prepare_v2(
        myth_store_db(store),
        "SELECT path FROM files WHERE CAST(substr(path, -?2) AS BLOB)=?1 ORDER BY length(path), path LIMIT 8", -1, &q,
        NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_blob(q, 1, asked, (int)n_asked, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)n_asked);
        while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
            size_t len = (size_t)sqlite3_column_bytes(q, 0);
            const char *p = sqlite3_column_blob(q, 0);
            bool is_whole = len == n_asked;
            if (len >= cap || (!is_whole && (len < n_asked + 1 || p[len - n_asked - 1] != '/')))
                continue;
            n++;
            if (n == 1 || is_whole) {
                memcpy(path, p, len);
                path[len] = '\0';
            }
            if (is_whole) {
                n = 1;
                break;
            }
        }
    }
    sqlite3_finalize(q);
    if (n != 1)
        path[0] = '\0';
    return myth_store_fail(store, rc == SQLITE_ROW ? SQLITE_OK : rc, err);
}

static myth_status add_file(answer *a, const char *asked, myth_error *err)
{
    char path[1024];
    myth_status st = find_file(a->s, path, sizeof(path), asked, err);
    if (st != MYTH_OK || !path[0])
        return st;
    uint32_t n = a->n_added;
    /* without a name, lines around .line are added: these are the first FILE_HEAD lines */
    myth_wanted w = {
        .path = path,
        .name = "",
        .parent = "",
        .why = "asked for",
        .line = 1,
        .line0 = 1,
        .line1 = FILE_HEAD,
        .of = a->of,
    };
    st = add_piece(a, &w, err);
    a->was_there |= a->n_added == n;
    return st;
}

/* ---- the request ---- */

static myth_status resolve(answer *a, const char *request, myth_error *err)
{
    char head[REQUEST_BYTES] = "", tail[REQUEST_BYTES];
    const char *mark = NULL;
    myth_status st = MYTH_OK;
    for (const char *p = strstr(request, "::"); p; p = strstr(p + 2, "::"))
        mark = p;
    snprintf(tail, sizeof(tail), "%s", mark ? mark + 2 : "");
    if (mark)
        snprintf(head, sizeof(head), "%.*s", (int)(mark - request), request);
    bool is_key = strcmp(head, "config") == 0 || strcmp(head, "env") == 0 || strcmp(head, "settings") == 0;
    if (is_key && tail[0]) {
        MYTH_TRY(add_definitions(a, tail, DEFINITIONS, true, false, err));
        if (!a->n_added && !a->was_there)
            MYTH_TRY(add_mentions(a, tail, err));
        return MYTH_OK;
    }
    MYTH_TRY(add_definitions(a, request, DEFINITIONS, false, false, err));
    if (!a->n_added && !a->was_there && !tail[0])
        MYTH_TRY(add_file(a, mark ? head : request, err));
    if (!a->n_added && !a->was_there && tail[0])
        MYTH_TRY(add_definitions(a, tail, 1, false, true, err));
fail:
    return st;
}

uint32_t myth_select_context(myth_select *s, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap)
{
    answer a = {.s = s, .m = m, .of = of};
    myth_error err = {0};
    size_t n = strlen(request);
    if (near_cap)
        near[0] = '\0';
    if (n == 0 || n >= REQUEST_BYTES) {
        snprintf(near, near_cap, "a name of 1 to %d bytes is expected", REQUEST_BYTES - 1);
        return 0;
    }
    if (!s->index) {
        snprintf(near, near_cap, "there is no index here to look it up in");
        return 0;
    }
    myth_status st = resolve(&a, request, &err);
    if (a.n_added)
        return a.n_added;
    if (st == MYTH_OK && a.was_there)
        snprintf(near, near_cap, "it is shown above");
    else if (st == MYTH_OK)
        st = myth_select_nearest(s, near, near_cap, request, &err);
    if (st != MYTH_OK)
        snprintf(near, near_cap, "%.200s", err.msg);
    return 0;
}
