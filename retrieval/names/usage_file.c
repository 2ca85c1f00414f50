/* usage_file.c - views of files: lines, import statements, and what is written before a name.
 *
 * Statement   an import runs from the line that begins it (import, from, use, #include, ...) to where its brackets
 *             close, at most SPAN lines */
#include "retrieval/limits.h"
#include "usage_impl.h"
#include "engine/base/chars.h"
#include "engine/base/table.h"
#include "engine/base/array.h"

#include <ctype.h>
#include <string.h>

enum { SPAN = 64, BLOCK_BYTES = 16 << 10 };

struct myth_usage_block {
    struct myth_usage_block *next;
    size_t n, cap;
    char text[];
};

const char *myth_usage_text(myth_usage *u, const void *text, size_t n)
{
    struct myth_usage_block *b = u->block;
    if (!b || b->cap - b->n < n + 1) {
        size_t cap = n + 1 > BLOCK_BYTES ? n + 1 : BLOCK_BYTES;
        b = myth_alloc(u->mem, MYTH_MEM_OTHER, "usage", sizeof(*b) + cap);
        if (!b)
            return NULL;
        b->cap = cap;
        b->next = u->block;
        u->block = b;
    }
    char *p = b->text + b->n;
    if (n)
        memcpy(p, text, n);
    p[n] = '\0';
    b->n += n + 1;
    return p;
}

void myth_usage_free_places(myth_mem *mem, const myth_usage_definition *d)
{
    myth_free(mem, d->callers.place);
    myth_free(mem, d->tests.place);
    myth_free(mem, d->callees.place);
    myth_free(mem, d->exports.place);
}

void myth_usage_free(myth_usage *u)
{
    for (uint32_t i = 0; i < u->n_definition; i++)
        myth_usage_free_places(u->mem, &u->definition[i]);
    if (u->mem) {
        myth_free(u->mem, u->definition);
        myth_free(u->mem, u->mentions.place);
        myth_free(u->mem, u->lines);
    }
    for (struct myth_usage_block *b = u->block, *next; b; b = next) {
        next = b->next;
        myth_free(u->mem, b);
    }
    *u = (myth_usage){0};
}

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "symbols: no memory"); }

/* ---- views ---- */

void myth_view_drop(const myth_views *v, myth_view *f)
{
    myth_free(v->mem, f->text);
    myth_free(v->mem, f->line);
    myth_free(v->mem, f->import);
    f->text = NULL;
    f->line = NULL;
    f->import = NULL;
    f->n_import = f->cap_import = 0;
    f->has_text = f->has_imports = false;
}

void myth_views_close(myth_views *v)
{
    for (uint32_t i = 0; i < v->n_view; i++) {
        myth_view_drop(v, v->view[i]);
        myth_free(v->mem, v->view[i]);
    }
    myth_free(v->mem, v->view);
    myth_free(v->mem, v->slot);
    sqlite3_finalize(v->get_file);
    *v = (myth_views){0};
}

static bool is_view(const void *v, uint32_t idx, const void *id)
{
    return ((const myth_views *)v)->view[idx]->id == *(const int64_t *)id;
}

static uint32_t *slot_of(myth_views *v, int64_t id)
{
    return myth_table_find(v->slot, v->n_slot, myth_hash_id((uint64_t)id), is_view, v, &id);
}

static bool grow_slots(myth_views *v)
{
    uint32_t n = v->n_slot ? 2 * v->n_slot : 64;
    uint32_t *slot = myth_alloc_n(v->mem, MYTH_MEM_OTHER, "usage", n, sizeof(*slot));
    if (!slot)
        return false;
    myth_free(v->mem, v->slot);
    v->slot = slot;
    v->n_slot = n;
    for (uint32_t i = 0; i < v->n_view; i++)
        *slot_of(v, v->view[i]->id) = i + 1;
    return true;
}

static const char *column_text(myth_usage *u, sqlite3_stmt *q, int i)
{
    return myth_usage_text(u, sqlite3_column_blob(q, i), (size_t)sqlite3_column_bytes(q, i));
}

myth_status myth_view_get(myth_view **out, myth_views *v, int64_t file_id, myth_error *err)
{
    if (2 * v->n_view >= v->n_slot && !grow_slots(v))
        return no_memory(err);
    uint32_t *slot = slot_of(v, file_id);
    if (*slot) {
        *out = v->view[*slot - 1];
        return MYTH_OK;
    }
    if (!MYTH_ARRAY_ROOM(v->mem, MYTH_MEM_OTHER, "usage", &v->view, v->n_view, &v->cap_view))
        return no_memory(err);
    int rc = SQLITE_OK;
    if (!v->get_file)
        rc = sqlite3_prepare_v2(myth_store_db(v->store), "SELECT path, language, bytes, flags FROM files WHERE id=?1",
                                -1, &v->get_file, NULL);
    if (rc != SQLITE_OK)
        return myth_store_fail(v->store, rc, err);
    sqlite3_bind_int64(v->get_file, 1, file_id);
    rc = sqlite3_step(v->get_file);
    myth_status st = rc == SQLITE_ROW  ? MYTH_OK
                   : rc == SQLITE_DONE ? myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX,
                                                          "a file of the index has no row")
                                       : myth_store_fail(v->store, rc, err);
    myth_view *f = st == MYTH_OK ? myth_alloc(v->mem, MYTH_MEM_OTHER, "usage", sizeof(*f)) : NULL;
    if (f) {
        *f = (myth_view){
            .id = file_id,
            .path = column_text(v->out, v->get_file, 0),
            .language = column_text(v->out, v->get_file, 1),
            .n = (uint64_t)sqlite3_column_int64(v->get_file, 2),
            .flags = (uint32_t)sqlite3_column_int64(v->get_file, 3),
        };
        v->view[v->n_view++] = f;
        *slot = v->n_view;
    }
    sqlite3_reset(v->get_file);
    if (st == MYTH_OK && (!f || !f->path || !f->language))
        st = no_memory(err);
    *out = f;
    return st;
}

myth_status myth_view_read(myth_views *v, myth_view *f, myth_error *err)
{
    if (f->has_text)
        return MYTH_OK;
    if (f->n > MYTH_FILE_BYTES)
        return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "%.160s: its row is damaged", f->path);
    f->text = myth_alloc(v->mem, MYTH_MEM_OTHER, "usage", f->n + 1);
    if (!f->text)
        return no_memory(err);
    myth_status st = myth_store_text(v->store, f->text, f->id, 0, f->n, err);
    if (st != MYTH_OK)
        return st;
    uint32_t n = 1;
    for (uint64_t i = 0; i < f->n; i++)
        n += f->text[i] == '\n';
    f->line = myth_alloc_n(v->mem, MYTH_MEM_OTHER, "usage", n + 1u, sizeof(*f->line));
    if (!f->line)
        return no_memory(err);
    f->n_line = 1;
    for (uint64_t i = 0; i < f->n; i++)
        if (f->text[i] == '\n')
            f->line[f->n_line++] = (uint32_t)i + 1;
    f->line[f->n_line] = (uint32_t)f->n;
    f->has_text = true;
    return MYTH_OK;
}

const char *myth_view_line(const myth_view *f, uint32_t line, size_t *n)
{
    *n = 0;
    if (!f->has_text || line == 0 || line > f->n_line)
        return "";
    uint32_t off = f->line[line - 1], end = f->line[line];
    while (end > off && (f->text[end - 1] == '\n' || f->text[end - 1] == '\r'))
        end--;
    *n = end - off;
    return (const char *)f->text + off;
}

/* ---- import statements ---- */

static bool begins_statement(const char *line, size_t n)
{
    static const char *const word[] = {
        "import",           "from",    "export",       "use",          "pub",     "using", "require",
        "require_relative", "include", "include_once", "require_once", "const",   "let",   "var",
        "source",           "extern",  "load",         "alias",        "package", "local", NULL};
    size_t i = 0, len = 0;
    while (i < n && (line[i] == ' ' || line[i] == '\t' || line[i] == '#' || line[i] == '@'))
        i++;
    while (i + len < n && myth_is_name_or_dollar((unsigned char)line[i + len]))
        len++;
    for (int k = 0; word[k]; k++)
        if (strlen(word[k]) == len && memcmp(word[k], line + i, len) == 0)
            return true;
    return false;
}

static void find_statement(const myth_view *f, myth_view_import *i, uint32_t line)
{
    size_t n;
    int depth = 0;
    i->line0 = i->line1 = line;
    if (myth_language_get(f->language)->has_import_blocks) /* a block of imports: each line is one statement */
        return;
    for (uint32_t up = line; up > 0 && line - up < SPAN; up--) {
        const char *text = myth_view_line(f, up, &n);
        if (begins_statement(text, n)) {
            i->line0 = up;
            break;
        }
    }
    for (uint32_t at = i->line0; at <= f->n_line && at - i->line0 < SPAN; at++) {
        const char *text = myth_view_line(f, at, &n);
        for (size_t k = 0; k < n; k++)
            depth += (text[k] == '(' || text[k] == '{') - (text[k] == ')' || text[k] == '}');
        bool goes_on = depth > 0 || (n > 0 && (text[n - 1] == '\\' || text[n - 1] == ','));
        if (at >= line && !goes_on) {
            i->line1 = at;
            break;
        }
    }
}

typedef struct {
    myth_views *views;
    myth_view *file;
    bool is_out_of_memory;
} gather;

static bool add_import(void *arg, const myth_store_ref *ref)
{
    gather *g = arg;
    myth_view *f = g->file;
    if (ref->kind != MYTH_REF_IMPORT)
        return true;
    if (!MYTH_ARRAY_ROOM(g->views->mem, MYTH_MEM_OTHER, "usage", &f->import, f->n_import, &f->cap_import)) {
        g->is_out_of_memory = true;
        return false;
    }
    myth_view_import *i = &f->import[f->n_import];
    i->spec = myth_usage_text(g->views->out, ref->name, strlen(ref->name));
    g->is_out_of_memory |= !i->spec;
    find_statement(f, i, ref->line);
    f->n_import += i->spec != NULL;
    return i->spec != NULL;
}

myth_status myth_view_imports(myth_views *v, myth_view *f, myth_error *err)
{
    gather g = {v, f, false};
    if (f->has_imports)
        return MYTH_OK;
    myth_status st = myth_view_read(v, f, err);
    if (st == MYTH_OK)
        st = myth_store_refs(v->store, f->id, add_import, &g, err);
    if (st == MYTH_OK && g.is_out_of_memory)
        st = no_memory(err);
    f->has_imports = st == MYTH_OK;
    return st;
}

bool myth_word_find(const char *text, size_t n, const char *name, size_t n_name, size_t *pos)
{
    for (size_t i = *pos; n_name > 0 && i + n_name <= n; i++) {
        const char *p = memchr(text + i, name[0], n - n_name - i + 1);
        if (!p)
            return false;
        i = (size_t)(p - text);
        if (memcmp(p, name, n_name) == 0 && (i == 0 || !myth_is_name_or_dollar((unsigned char)text[i - 1])) &&
            (i + n_name == n || !myth_is_name_or_dollar((unsigned char)text[i + n_name]))) {
            *pos = i;
            return true;
        }
    }
    return false;
}

static size_t blanks(const char *text, size_t n, size_t i)
{
    while (i < n && isspace((unsigned char)text[i]))
        i++;
    return i;
}

myth_import_names myth_view_import_names(const myth_view *f, const myth_view_import *i, const char *name, char *alias,
                                         size_t cap_alias)
{
    if (alias)
        alias[0] = '\0';
    if (!f->has_text || i->line0 == 0 || i->line1 > f->n_line)
        return MYTH_NAMES_NOTHING;
    const char *text = (const char *)f->text + f->line[i->line0 - 1];
    size_t n = f->line[i->line1] - f->line[i->line0 - 1], pos = 0, n_name = strlen(name);
    if (!myth_word_find(text, n, name, n_name, &pos))
        return memchr(text, '*', n) ? MYTH_NAMES_ALL : MYTH_NAMES_NOTHING;
    size_t at = blanks(text, n, pos + n_name);
    bool is_as = at + 3 < n && memcmp(text + at, "as", 2) == 0 && isspace((unsigned char)text[at + 2]);
    if (alias && at < n && (is_as || (text[at] == ':' && at + 1 < n && text[at + 1] != ':'))) {
        at = blanks(text, n, at + (is_as ? 2 : 1));
        size_t len = 0;
        while (at + len < n && len + 1 < cap_alias && myth_is_name_or_dollar((unsigned char)text[at + len]))
            len++;
        memcpy(alias, text + at, len);
        alias[len] = '\0';
    }
    return MYTH_NAMES_IT;
}

static void copy_word(char *dst, size_t cap, const char *text, size_t n)
{
    n = n < cap ? n : 0;
    memcpy(dst, text, n);
    dst[n] = '\0';
}

/* The last word before the path and outside of braces: sess in `import * as sess from "./session"` and in `const
 * sess = require(...)`. */
static void name_before(char *dst, size_t cap, const char *text, size_t n, const char *spec)
{
    static const char *const word[] = {"import", "export", "const", "let",    "var", "require",
                                       "from",   "as",     "type",  "typeof", NULL};
    size_t pos = 0, n_spec = strlen(spec), depth = 0;
    while (n_spec && pos + n_spec <= n && memcmp(text + pos, spec, n_spec) != 0)
        pos++;
    n = pos;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        for (len = 0; i + len < n && myth_is_name_or_dollar((unsigned char)text[i + len]); len++)
            ;
        depth += len == 0 && text[i] == '{';
        depth -= len == 0 && text[i] == '}' && depth > 0;
        bool is_key = len == 0 || depth > 0;
        for (int k = 0; word[k] && !is_key; k++)
            is_key = strlen(word[k]) == len && memcmp(word[k], text + i, len) == 0;
        if (!is_key)
            copy_word(dst, cap, text + i, len);
    }
}

void myth_view_module_name(char *dst, size_t cap, const myth_view *f, const myth_view_import *i)
{
    char last[128], alias[128];
    size_t n, at;
    const char *line = myth_view_line(f, i->line0, &n), *base = i->spec;
    dst[0] = '\0';
    at = blanks(line, n, 0);
    for (const char *p = i->spec; *p; p++)
        if (strchr("/.:\\", *p) && p[1] && !strchr("/.:\\", p[1]))
            base = p + 1;
    copy_word(last, sizeof(last), base, strlen(base));
    if (myth_language_is_kin(f->language, "javascript")) {
        name_before(dst, cap, (const char *)f->text + f->line[i->line0 - 1], f->line[i->line1] - f->line[i->line0 - 1],
                    i->spec);
        return;
    }
    if (myth_language_get(f->language)->has_import_blocks) { /* sess "example.com/auth" */
        size_t len = 0;
        at += n - at > 7 && memcmp(line + at, "import ", 7) == 0 ? 7 : 0;
        while (at + len < n && myth_is_name_or_dollar((unsigned char)line[at + len]))
            len++;
        if (len)
            copy_word(dst, cap, line + at, len);
        else
            copy_word(dst, cap, last, strlen(last));
        return;
    }
    bool takes_names = n - at > 5 && memcmp(line + at, "from ", 5) == 0;
    if (takes_names || myth_language_is_kin(f->language, "c") || strchr(last, '{') || strchr(last, '*'))
        return;
    bool is_named = myth_view_import_names(f, i, last, alias, sizeof(alias)) == MYTH_NAMES_IT && alias[0];
    copy_word(dst, cap, is_named ? alias : last, strlen(is_named ? alias : last));
}

bool myth_view_is_import(const myth_view *f, uint32_t line)
{
    for (uint32_t i = 0; i < f->n_import; i++)
        if (line >= f->import[i].line0 && line <= f->import[i].line1)
            return true;
    return false;
}

bool myth_view_is_export(const myth_view *f, const myth_view_import *i)
{
    size_t n, at;
    const char *line = myth_view_line(f, i->line0, &n);
    at = blanks(line, n, 0);
    bool is_pub = n - at > 3 && memcmp(line + at, "pub", 3) == 0;
    if (myth_language_get(f->language)->reexports_with_pub)
        return is_pub;
    return myth_module_is_package(f->path) || (n - at > 6 && memcmp(line + at, "export", 6) == 0);
}

/* ---- in front of a name ---- */

bool myth_receiver_of(const char *line, size_t off, char *receiver, size_t cap)
{
    size_t i = off;
    receiver[0] = '\0';
    while (i > 0 && isspace((unsigned char)line[i - 1]))
        i--;
    if (i == 0)
        return false;
    char c = line[i - 1];
    bool is_arrow = i > 1 && ((c == '>' && line[i - 2] == '-') || (c == ':' && line[i - 2] == ':'));
    if (c != '.' && c != '\\' && c != '@' && !is_arrow)
        return false;
    i -= is_arrow ? 2 : 1;
    if (c == '@') {
        memcpy(receiver, cap > 4 ? "self" : "", cap > 4 ? 5 : 1);
        return true;
    }
    while (i > 0 && (line[i - 1] == '?' || line[i - 1] == '!' || isspace((unsigned char)line[i - 1])))
        i--;
    size_t end = i;
    while (i > 0 && myth_is_name_or_dollar((unsigned char)line[i - 1]))
        i--;
    size_t n = end - i < cap ? end - i : 0;
    memcpy(receiver, line + i, n);
    receiver[n] = '\0';
    return true;
}
