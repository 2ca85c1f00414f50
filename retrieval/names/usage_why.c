/* usage_why.c - see usage_why.h: a use judged against a definition, by the names, the imports and the receiver. */
#define _GNU_SOURCE /* strcasestr */
#include "usage_why.h"

#include "engine/base/chars.h"
#include "engine/base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *myth_why_name(myth_why why)
{
    static const char *const name[] = {"name", "only", "package", "export", "import", "qualified", "file"};
    return name[why];
}

/* ---- the name asked for ---- */

/* Whether `path` ends with `end`, at the border of a name. */
static bool is_end(const char *path, size_t n, const char *end, size_t n_end)
{
    return n_end <= n && memcmp(path + n - n_end, end, n_end) == 0 && (n_end == n || path[n - n_end - 1] == '/');
}

/* Without what stands for a module that is not named: utils of crate::utils, nothing of super. */
static void strip_own(const char **text, size_t *n)
{
    static const char *const word[] = {"crate", "self", "super"};
    for (size_t i = 0; i < sizeof(word) / sizeof(*word);) {
        const size_t k = strlen(word[i]);
        const bool is_it = *n >= k && memcmp(*text, word[i], k) == 0,
                   goes_on = is_it && *n > k + 2 && memcmp(*text + k, "::", 2) == 0;
        if (goes_on || (is_it && *n == k)) {
            *text += goes_on ? k + 2 : k;
            *n -= goes_on ? k + 2 : k;
            i = 0; /* super::super:: */
        } else {
            i++;
        }
    }
}

static bool names_path(const char *text, size_t n, const char *path)
{
    strip_own(&text, &n);
    char spelled[1024];
    size_t n_path = strlen(path), n_stem = n_path, at = 0;
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t n_dir = slash ? (size_t)(slash - path) : 0;
    if (dot && dot > path && (!slash || dot > slash + 1))
        n_stem = (size_t)(dot - path);
    if (n == 0 || n >= sizeof(spelled))
        return n == 0;
    if (is_end(path, n_path, text, n) || is_end(path, n_stem, text, n))
        return true;
    for (size_t i = 0; i < n; i++) { /* auth.session, auth::session, auth\session */
        bool is_pair = text[i] == ':' && i + 1 < n && text[i + 1] == ':';
        spelled[at++] = is_pair || text[i] == '.' || text[i] == '\\' || text[i] == '#' ? '/' : text[i];
        i += is_pair;
    }
    return is_end(path, n_path, spelled, at) || is_end(path, n_stem, spelled, at) ||
           (n_dir > 0 && is_end(path, n_dir, spelled, at));
}

size_t myth_usage_mark_before(const char *text, size_t n) /* bytes of the mark that ends text[0 .. n) */
{
    if (n > 1 && ((text[n - 1] == ':' && text[n - 2] == ':') || (text[n - 1] == '>' && text[n - 2] == '-')))
        return 2;
    return n > 0 && (text[n - 1] == '.' || text[n - 1] == '#' || text[n - 1] == '/' || text[n - 1] == '\\');
}

/* Whether qualifier[0 .. n) is where a definition is: its path, its type, or a path and a type. */
bool myth_usage_is_qualified(const char *qualifier, size_t n, const char *path, const char *parent)
{
    size_t n_parent = strlen(parent);
    if (names_path(qualifier, n, path) || (n_parent == n && memcmp(qualifier, parent, n) == 0))
        return true;
    for (size_t i = 0; n_parent && i <= n_parent; i++) { /* the whole of the type's name, or its last part */
        size_t n_end = n_parent - i, mark = n >= n_end ? myth_usage_mark_before(qualifier, n - n_end) : 0;
        bool is_part = i == 0 || myth_usage_mark_before(parent, i);
        if (!is_part || n_end == 0 || n < n_end || memcmp(qualifier + n - n_end, parent + i, n_end) != 0)
            continue;
        if (n == n_end || (mark > 0 && names_path(qualifier, n - n_end - mark, path)))
            return true;
    }
    return false;
}

/* Where the last name of a qualified one begins; 0 = it is not qualified. */
size_t myth_usage_last_part(const char *name, size_t n)
{
    for (size_t i = n; i > 0; i--)
        if (myth_usage_mark_before(name, i) && i < n)
            return i;
    return 0;
}

/* ---- why ---- */

static bool is_self(const char *receiver)
{
    static const char *const word[] = {"self", "this", "cls", "super", "Self", "$this", "static", "parent", NULL};
    for (int i = 0; word[i]; i++)
        if (strcmp(word[i], receiver) == 0)
            return true;
    return false;
}

const char *myth_usage_last_of(const char *name) /* Inner of Outer::Inner, the type of Type<T> too */
{
    size_t n = strlen(name), part = myth_usage_last_part(name, n);
    return name + part;
}

void myth_usage_stem_of(char *dst, size_t cap, const char *path)
{
    const char *base = myth_base_name(path), *dot = strrchr(base, '.');
    snprintf(dst, cap, "%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

bool myth_usage_is_header_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (dot[1] == 'h' || dot[1] == 'H') && strlen(dot) <= 4;
}

bool myth_usage_is_header_language(const char *language) { return myth_language_is_kin(language, "c"); }

/* False: the import does not lead to the definition. */
bool myth_usage_relate(myth_usage_relation *r, const myth_view *f, const myth_view_import *i,
                       const myth_usage_definition *d)
{
    char stem[MYTH_RECEIVER_BYTES], alias[MYTH_RECEIVER_BYTES];
    *r = (myth_usage_relation){.spec = i->spec, .is_header = myth_usage_is_header_language(f->language)};
    myth_module_match m = myth_module_means(f->language, f->path, i->spec, d->path);
    myth_import_names names = myth_view_import_names(f, i, d->name, r->alias, sizeof(r->alias));
    if (names == MYTH_NAMES_NOTHING && d->parent[0])
        names = myth_view_import_names(f, i, myth_usage_last_of(d->parent), r->alias, sizeof(r->alias));
    r->names_it = names != MYTH_NAMES_NOTHING;
    for (uint32_t e = 0; m == MYTH_MODULE_OTHER && (r->names_it || r->is_header) && e < d->exports.n;
         e++) /* follows files that re-export it */
        if (myth_module_means(f->language, f->path, i->spec, d->exports.place[e].path) == MYTH_MODULE_FILE)
            m = MYTH_MODULE_PACKAGE;
    if (m == MYTH_MODULE_OTHER)
        return false;
    myth_usage_stem_of(stem, sizeof(stem), d->path);
    myth_view_module_name(r->module, sizeof(r->module), f, i);
    if (m == MYTH_MODULE_FILE || myth_module_is_shared(f->language)) {
        r->why = MYTH_WHY_IMPORT;
    } else if (!r->names_it && myth_view_import_names(f, i, stem, alias, sizeof(alias)) == MYTH_NAMES_IT) {
        r->why = MYTH_WHY_IMPORT; /* from auth import session */
        snprintf(r->module, sizeof(r->module), "%s", alias[0] ? alias : stem);
    } else {
        r->why = MYTH_WHY_EXPORT; /* from auth import resolve; import auth */
    }
    return true;
}

const char *myth_usage_gives_on(const myth_view *f, const myth_view_import *i, const myth_usage_definition *d)
{
    const char *name = d->parent[0] ? myth_usage_last_of(d->parent) : d->name;
    if (!myth_view_is_export(f, i) || myth_view_import_names(f, i, name, NULL, 0) == MYTH_NAMES_NOTHING)
        return NULL;
    if (myth_module_means(f->language, f->path, i->spec, d->path) == MYTH_MODULE_FILE)
        return "re-exports it";
    for (uint32_t e = 0; e < d->exports.n; e++)
        if (myth_module_means(f->language, f->path, i->spec, d->exports.place[e].path) == MYTH_MODULE_FILE)
            return "re-exports it from a file that does";
    return NULL;
}

static bool is_same_directory(const char *a, const char *b)
{
    const size_t n = myth_folder_bytes(a);
    return n == myth_folder_bytes(b) && memcmp(a, b, n) == 0;
}

/* A function with a parent is inside a function or a namespace, so it is called without an object. */
bool myth_usage_is_of_object(const myth_usage_definition *d)
{
    return d->parent[0] && (d->kind == MYTH_SYMBOL_METHOD || d->kind == MYTH_SYMBOL_TEST);
}

int myth_usage_judge(const myth_usage_place_of_use *p, const myth_usage_definition *d, const myth_usage_relation *r,
                     bool is_alias)
{
    bool is_method = myth_usage_is_of_object(d);
    const char *type = myth_usage_last_of(d->parent);
    bool is_own = p->has_receiver && is_self(p->receiver);
    bool is_bare_method = is_method && !p->has_receiver && !myth_language_get(p->file->language)->has_bare_methods;
    bool is_of_type = type[0] && p->has_receiver && strcmp(p->receiver, type) == 0;
    bool is_hidden = myth_usage_is_header_language(d->language) && !d->is_exported &&
                     !myth_usage_is_header_path(d->path); /* static */
    if ((is_bare_method && !is_alias) || (is_own && !is_method && p->around_parent[0]) ||
        (is_hidden && p->file->id != d->file_id))
        return MYTH_USAGE_CANNOT;
    if (p->file->id == d->file_id) {
        if (!is_method)
            return p->has_receiver && !is_own && !is_of_type ? MYTH_WHY_NAME : MYTH_WHY_FILE;
        bool is_in_type = strcmp(p->around_parent, d->parent) == 0;
        if (is_own || !p->has_receiver)
            return is_in_type ? MYTH_WHY_FILE : MYTH_WHY_NAME;
        return is_of_type ? MYTH_WHY_FILE : MYTH_WHY_PACKAGE; /* an object of this file, maybe of another type */
    }
    if (is_own) /* `self` in another file's type: only inheritance could lead here */
        return r->why >= MYTH_WHY_EXPORT && p->has_type ? (int)r->why : MYTH_WHY_NAME;
    if (is_of_type)
        return MYTH_WHY_QUALIFIED;
    bool is_module = p->has_receiver && r->module[0] && strcmp(p->receiver, r->module) == 0;
    if (is_method && is_module) /* called on the module: some function there, not this method */
        return MYTH_WHY_NAME;
    if (r->why >= MYTH_WHY_EXPORT && p->has_type) {
        if (is_method ? p->has_receiver || myth_language_get(p->file->language)->has_bare_methods : is_module)
            return r->why;
        if (!p->has_receiver && (r->names_it || r->is_header))
            return r->why;
        if (r->is_header && r->why >= MYTH_WHY_EXPORT && d->kind != MYTH_SYMBOL_FUNCTION)
            return r->why;
    }
    if (myth_module_is_shared(p->file->language) && is_same_directory(p->file->path, d->path) &&
        (is_method ? p->has_type : !p->has_receiver))
        return MYTH_WHY_PACKAGE;
    return p->n_of_name == 1 && (is_method || !p->has_receiver || is_module) ? MYTH_WHY_ONLY : MYTH_WHY_NAME;
}

bool myth_usage_path_of(const char *line, size_t off, size_t n_name, char *path, size_t cap)
{
    size_t from = off;
    while (from > 0 && (myth_is_word(line[from - 1]) || line[from - 1] == ':'))
        from--;
    const char *at = line + from;
    size_t n = off > from + 2 ? off - from - 2 : 0;
    path[0] = '\0';
    if (n == 0 || memcmp(line + off - 2, "::", 2) != 0 || off + n_name - from >= cap)
        return false;
    const size_t n_all = n;
    strip_own(&at, &n);
    if (n == n_all)
        return false;
    memcpy(path, line + from, off + n_name - from);
    path[off + n_name - from] = '\0';
    return true;
}

static const char *verb_of(myth_ref_kind kind)
{
    return kind == MYTH_REF_CALL ? "calls" : kind == MYTH_REF_TYPE ? "uses" : "refers to";
}

/* The sentence for a reason. */
void myth_usage_say(char text[MYTH_USAGE_WHY], myth_why why, myth_ref_kind kind, const char *name, const char *parent,
                    const myth_usage_relation *r, bool is_same_file)
{
    const char *verb = verb_of(kind), *call = kind == MYTH_REF_CALL ? "()" : "";
    int n_name = 40;
    switch (why) {
    case MYTH_WHY_FILE: snprintf(text, MYTH_USAGE_WHY, "%s %.*s%s in the same file", verb, n_name, name, call); break;
    case MYTH_WHY_QUALIFIED:
        if (r->spec) {
            snprintf(text, MYTH_USAGE_WHY, "%s %.90s%s", verb, r->spec, call);
            break;
        }
        snprintf(text, MYTH_USAGE_WHY, "%s %.*s.%.*s%s", verb, n_name, myth_usage_last_of(parent), n_name, name, call);
        break;
    case MYTH_WHY_IMPORT:
        snprintf(text, MYTH_USAGE_WHY, "%s %.60s and %s %s", r->is_header ? "includes" : "imports",
                 r->spec ? r->spec : "", verb, kind == MYTH_REF_CALL && parent[0] ? "its method" : "it");
        break;
    case MYTH_WHY_EXPORT:
        snprintf(text, MYTH_USAGE_WHY, "%s %.60s, which %s it, and %s it", r->is_header ? "includes" : "imports",
                 r->spec ? r->spec : "", r->is_header ? "declares" : "re-exports", verb);
        break;
    case MYTH_WHY_PACKAGE:
        snprintf(text, MYTH_USAGE_WHY,
                 is_same_file ? "%s a method of that name in the same file" : "%s it in the same package", verb);
        break;
    case MYTH_WHY_ONLY: snprintf(text, MYTH_USAGE_WHY, "%s the only %.*s there is", verb, n_name, name); break;
    default: snprintf(text, MYTH_USAGE_WHY, "same name only"); break;
    }
}

/* In lower case, without marks and without the words that name a test. */
void myth_usage_bare_stem(char *dst, size_t cap, const char *path)
{
    static const char *const word[] = {"tests", "test", "specs", "spec", NULL};
    char stem[256];
    size_t at = 0;
    myth_usage_stem_of(stem, sizeof(stem), path);
    for (char *p = stem; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    for (const char *p = stem; *p && at + 1 < cap;) {
        size_t skip = strchr("_-.", *p) ? 1 : 0;
        for (int i = 0; word[i] && !skip; i++)
            skip = strncmp(p, word[i], strlen(word[i])) == 0 ? strlen(word[i]) : 0;
        if (!skip)
            dst[at++] = *p;
        p += skip ? skip : 1;
    }
    dst[at] = '\0';
}
