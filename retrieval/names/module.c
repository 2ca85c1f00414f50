/* module.c - see module.h. Turns a path as written into names separated by '/', and compares ends of paths. */
#include "module.h"

#include "engine/base/text.h"

#include <stdint.h>
#include <string.h>

bool myth_module_is_shared(const char *language) { return myth_language_get(language)->shares_folder; }

/* ---- a path of names ---- */

static void push(myth_module *p, const char *name, size_t n)
{
    if (n == 0 || (n == 1 && name[0] == '.'))
        return;
    if (n == 2 && name[0] == '.' && name[1] == '.') {
        char *slash = p->n ? strrchr(p->text, '/') : NULL;
        p->is_bad |= p->n == 0;
        p->n = slash ? (size_t)(slash - p->text) : 0;
    } else if (p->n + n + 2 > MYTH_MODULE_PATH) {
        p->is_bad = true;
    } else {
        if (p->n)
            p->text[p->n++] = '/';
        memcpy(p->text + p->n, name, n);
        p->n += n;
    }
    p->text[p->n] = '\0';
}

static void push_path(myth_module *p, const char *path, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = 0;
        while (i + len < n && path[i + len] != '/')
            len++;
        push(p, path + i, len);
        i += len + 1;
    }
}

/* Appends names, with each `mark` between them replaced by '/'. */
static void push_marked(myth_module *p, const char *spec, const char *mark)
{
    for (size_t n_mark = strlen(mark); *spec;) {
        const char *end = strstr(spec, mark);
        size_t n = end ? (size_t)(end - spec) : strlen(spec);
        push(p, spec, n);
        spec += end ? n + n_mark : n;
    }
}

static void read_dots(myth_module *p, const char *from, const char *spec)
{
    size_t n_up = strspn(spec, ".");
    if (n_up > 0) {
        p->is_exact = true;
        push_path(p, from, myth_folder_bytes(from));
        for (size_t i = 1; i < n_up; i++)
            push(p, "..", 2);
    }
    push_marked(p, spec + n_up, ".");
}

static void read_colons(myth_module *p, const char *from, const char *spec)
{
    bool is_self = strncmp(spec, "self::", 6) == 0, is_super = strncmp(spec, "super::", 7) == 0;
    if (is_self || is_super) {
        p->is_exact = true;
        push_path(p, from, myth_folder_bytes(from));
        bool is_dir = myth_module_is_package(from); /* its imports are relative to its own directory */
        if (is_self && !is_dir) {
            const char *base = myth_base_name(from);
            push(p, base, strcspn(base, "."));
        }
        for (spec += is_self ? 6 : 0; strncmp(spec, "super::", 7) == 0; spec += 7, is_dir = true)
            if (is_dir)
                push(p, "..", 2);
    } else if (strncmp(spec, "crate::", 7) == 0) {
        p->is_own = true;
        spec += 7;
    }
    push_marked(p, spec, "::");
}

static void read_files(myth_module *p, const char *from, const char *spec)
{
    bool is_relative = strncmp(spec, "./", 2) == 0 || strncmp(spec, "../", 3) == 0 || strcmp(spec, ".") == 0 ||
                       strcmp(spec, "..") == 0;
    if (is_relative && !p->form->has_load_path) {
        p->is_exact = true;
        push_path(p, from, myth_folder_bytes(from));
    }
    if ((spec[0] == '@' || spec[0] == '~' || spec[0] == '#') && spec[1] == '/') {
        p->is_own = true;
        spec += 2; /* bundlers' name for the root of the sources */
    }
    while (!p->is_exact && (strncmp(spec, "./", 2) == 0 || strncmp(spec, "../", 3) == 0))
        spec += spec[1] == '/' ? 2 : 3;
    size_t n_first = strcspn(spec, "/");
    p->has_host = p->form->imports_folders && !p->is_exact && spec[n_first] && memchr(spec, '.', n_first) != NULL;
    push_path(p, spec, strlen(spec));
}

void myth_module_read(myth_module *out, const char *language, const char *from, const char *spec)
{
    char bare[MYTH_MODULE_PATH];
    const myth_language *f = myth_language_get(language);
    out->form = f;
    out->text[0] = '\0';
    out->n = 0;
    out->is_exact = out->is_own = out->has_host = false;
    out->is_bad = strlen(spec) >= MYTH_MODULE_PATH || strlen(from) >= MYTH_MODULE_PATH;
    if (out->is_bad)
        return;
    spec += strspn(spec, " \t'\"`<");
    size_t n = strcspn(spec, f->spelling == MYTH_BY_FILE ? "\r\n'\"`>" : " \t\r\n{*;,()'\"");
    memcpy(bare, spec, n);
    bare[n] = '\0';
    if (f->spelling == MYTH_BY_DOT && !strchr(bare, '/'))
        read_dots(out, from, bare);
    else if (f->spelling == MYTH_BY_COLON)
        read_colons(out, from, bare);
    else if (f->spelling == MYTH_BY_BACKSLASH && strchr(bare, '\\'))
        push_marked(out, bare, "\\");
    else
        read_files(out, from, bare);
}

/* ---- comparing ---- */

static bool ends_with(const char *path, size_t n, const char *end, size_t n_end)
{
    return n_end > 0 && n >= n_end && memcmp(path + n - n_end, end, n_end) == 0 &&
           (n == n_end || path[n - n_end - 1] == '/');
}

/* Whether one path is the end of the other. The import may have more names than the tree's path only if the path has
 * at least two. */
static bool is_same(const myth_module *want, size_t n_want, const char *path, size_t n)
{
    if (want->is_exact)
        return n == n_want && memcmp(path, want->text, n) == 0;
    if (ends_with(path, n, want->text, n_want))
        return true;
    return (want->has_host || memchr(path, '/', n) != NULL) && ends_with(want->text, n_want, path, n);
}

static size_t without_suffix(const char *path, size_t n)
{
    size_t i = n;
    while (i > 0 && path[i - 1] != '.' && path[i - 1] != '/')
        i--;
    return i > 1 && path[i - 1] == '.' && path[i - 2] != '/' ? i - 1 : n;
}

bool myth_module_is_package(const char *path)
{
    const char *base = myth_base_name(path);
    const myth_language *l;
    for (uint32_t i = 0; (l = myth_language_at(i)); i++) {
        const size_t n = l->index ? strlen(l->index) : 0;
        if (n && strncmp(base, l->index, n) == 0 && base[n] == '.' && myth_text_lists(l->suffixes, base + n))
            return true;
        if (l->packages && myth_text_lists(l->packages, base))
            return true;
    }
    return false;
}

static myth_module_match compare(const myth_module *want, size_t n_want, const char *to, bool has_header)
{
    size_t n = strlen(to), n_dir = myth_folder_bytes(to), n_stem = without_suffix(to, n);
    size_t n_bare = want->n == n_want ? without_suffix(want->text, n_want) : n_want;
    bool is_package = myth_module_is_package(to);
    if (is_same(want, n_want, to, n) || is_same(want, n_want, to, n_stem) ||
        (is_package && is_same(want, n_want, to, n_dir)))
        return MYTH_MODULE_FILE;
    /* "session.js" may stand for session.ts; "queue.h" declares what queue.c has, which need not lie beside it */
    if (n_bare < n_want && is_same(want, n_bare, to, n_stem))
        return MYTH_MODULE_FILE;
    if (has_header && n_bare < n_want) {
        const char *a = want->text, *b = to;
        for (size_t i = 0; i < n_bare; i++)
            a = want->text[i] == '/' ? want->text + i + 1 : a;
        for (size_t i = 0; i < n_stem; i++)
            b = to[i] == '/' ? to + i + 1 : b;
        size_t n_a = (size_t)(want->text + n_bare - a), n_b = (size_t)(to + n_stem - b);
        if (n_a == n_b && memcmp(a, b, n_a) == 0)
            return MYTH_MODULE_FILE;
    }
    return n_dir > 0 && is_same(want, n_want, to, n_dir) ? MYTH_MODULE_PACKAGE : MYTH_MODULE_OTHER;
}

/* Removes the last name, which may be a name inside the file. */
static myth_module_match in_file(const myth_module *want, const char *to)
{
    size_t n_dir = myth_folder_bytes(want->text);
    if (n_dir == 0)
        return want->is_exact && myth_module_is_package(to) && myth_folder_bytes(to) == 0 ? MYTH_MODULE_FILE
                                                                                          : MYTH_MODULE_OTHER;
    myth_module_match m = compare(want, n_dir, to, false);
    return m == MYTH_MODULE_FILE || want->form->has_loose_imports ? m : MYTH_MODULE_OTHER;
}

myth_module_match myth_module_means(const char *language, const char *from, const char *spec, const char *to)
{
    myth_module want;
    if (strlen(to) >= MYTH_MODULE_PATH)
        return MYTH_MODULE_OTHER;
    myth_module_read(&want, language, from, spec);
    if (want.is_bad)
        return MYTH_MODULE_OTHER;
    if (want.n == 0) /* ".": the package that contains the file */
        return want.is_exact && myth_folder_bytes(to) == 0 ? MYTH_MODULE_PACKAGE : MYTH_MODULE_OTHER;
    const myth_language *f = want.form;
    myth_module_match m = compare(&want, want.n, to, f->has_headers);
    if (m == MYTH_MODULE_OTHER && f->imports_end_in_name)
        m = in_file(&want, to);
    /* the name of the crate or application comes before the names in its tree */
    const char *slash = strchr(want.text, '/');
    if (m == MYTH_MODULE_OTHER && slash && !want.is_exact &&
        (f->spelling == MYTH_BY_COLON || f->spelling == MYTH_BY_BACKSLASH)) {
        want.n -= (size_t)(slash + 1 - want.text);
        memmove(want.text, slash + 1, want.n + 1);
        m = compare(&want, want.n, to, false);
        m = m == MYTH_MODULE_OTHER ? in_file(&want, to) : m;
    }
    return m;
}
