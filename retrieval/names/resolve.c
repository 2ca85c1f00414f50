/* resolve.c - see resolve.h. module.c turns an import into a path, without suffix if the language imports names (a
 * stem). Stems with each possible suffix are looked up by path and by last name. */
#include "resolve.h"

#include "engine/base/text.h"
#include "module.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { DROPS_MAX = 2 };

struct myth_resolver {
    myth_mem *mem;
    const myth_resolve_file *file;
    uint32_t n_file, n_slot;
    uint32_t *by_path, *by_name; /* hash tables; first file of a chain: index + 1 */
    uint32_t *by_two;            /* by the last two names, because __init__.py is everywhere */
    uint32_t *by_folder;         /* folders of Go files */
    uint32_t *next_path, *next_name, *next_two, *next_folder;
};

/* The last two names of a path: folder and file. */
static const char *two_names(const char *path)
{
    const char *name = myth_base_name(path), *p = name > path ? name - 1 : path;
    while (p > path && p[-1] != '/')
        p--;
    return p;
}

static uint32_t slot_of(const myth_resolver *r, const char *s, size_t n)
{
    return (uint32_t)XXH3_64bits(s, n) & (r->n_slot - 1);
}

static size_t folder_bytes(const char *path)
{
    return (size_t)(myth_base_name(path) - path) - (myth_base_name(path) > path);
}

static void chain(uint32_t *first, uint32_t *next, uint32_t slot, uint32_t i)
{
    next[i] = first[slot];
    first[slot] = i + 1;
}

myth_status myth_resolver_open(myth_resolver **out, myth_mem *mem, const myth_resolve_file *file, uint32_t n_file,
                               myth_error *err)
{
    myth_resolver *r = myth_alloc(mem, MYTH_MEM_OTHER, "map", sizeof(*r));
    *out = r;
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", n_file);
    *r = (myth_resolver){.mem = mem, .file = file, .n_file = n_file, .n_slot = 64};
    while (r->n_slot < 2 * n_file)
        r->n_slot *= 2;
    uint32_t **const list[] = {&r->by_path,   &r->by_name,   &r->by_two,   &r->by_folder,
                               &r->next_path, &r->next_name, &r->next_two, &r->next_folder};
    for (int i = 0; i < 8; i++)
        if (!(*list[i] = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", i < 4 ? r->n_slot : n_file + 1, sizeof(uint32_t)))) {
            myth_resolver_close(r);
            *out = NULL;
            return myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", n_file);
        }
    for (uint32_t i = n_file; i-- > 0;) { /* backwards, so that chains are in the order of the files */
        const char *path = file[i].path, *name = myth_base_name(path);
        chain(r->by_path, r->next_path, slot_of(r, path, strlen(path)), i);
        chain(r->by_name, r->next_name, slot_of(r, name, strlen(name)), i);
        if (name > path)
            chain(r->by_two, r->next_two, slot_of(r, two_names(path), strlen(two_names(path))), i);
        if (myth_language_get(file[i].language)->imports_folders)
            chain(r->by_folder, r->next_folder, slot_of(r, path, folder_bytes(path)), i);
    }
    return MYTH_OK;
}

void myth_resolver_close(myth_resolver *r)
{
    if (!r)
        return;
    uint32_t *const list[] = {r->by_path,   r->by_name,   r->by_two,   r->by_folder,
                              r->next_path, r->next_name, r->next_two, r->next_folder};
    for (int i = 0; i < 8; i++)
        myth_free(r->mem, list[i]);
    myth_free(r->mem, r);
}

/* ---- stems to files ---- */

typedef struct {
    const myth_resolver *r;
    uint32_t from, *found, n;
    size_t shared; /* bytes of folders that the found files share with `from` */
} search;

static void find_path(search *s, const char *path)
{
    const myth_resolver *r = s->r;
    for (uint32_t i = r->by_path[slot_of(r, path, strlen(path))]; i && s->n == 0; i = r->next_path[i - 1])
        if (strcmp(r->file[i - 1].path, path) == 0 && i - 1 != s->from)
            s->found[s->n++] = i - 1;
}

static size_t shared_folders(const char *a, const char *b)
{
    size_t n = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            n = i + 1;
    return n;
}

/* A module without folders (os, utils) matches everywhere, so it must be where this file's imports begin. */
static bool is_within_reach(const char *path, size_t n_front, const char *from)
{
    static const char *const roots[] = {"src/", "lib/", "python/", "source/"};
    if (strncmp(path, from, n_front) == 0)
        return true;
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (n_front == strlen(roots[i]) && memcmp(path, roots[i], n_front) == 0)
            return true;
    return false;
}

static void find_ending(search *s, const char *ending, bool is_single)
{
    const myth_resolver *r = s->r;
    const char *name = two_names(ending), *from = r->file[s->from].path;
    size_t n = strlen(ending);
    bool has_two = myth_base_name(ending) > ending;
    const uint32_t *first = has_two ? r->by_two : r->by_name, *next = has_two ? r->next_two : r->next_name;
    for (uint32_t i = first[slot_of(r, name, strlen(name))]; i; i = next[i - 1]) {
        const char *path = r->file[i - 1].path;
        size_t len = strlen(path);
        if (i - 1 == s->from || len < n || memcmp(path + len - n, ending, n) != 0 ||
            (len > n && path[len - n - 1] != '/'))
            continue;
        if (is_single && !is_within_reach(path, len - n, from))
            continue;
        size_t shared = shared_folders(path, from);
        if (s->n && shared < s->shared)
            continue;
        if (shared > s->shared)
            s->n = 0;
        s->shared = shared;
        if (s->n < MYTH_RESOLVE_MAX)
            s->found[s->n++] = i - 1;
    }
}

/* Calls `find` for the stem with every suffix, then for the file that stands for it as a folder, until files are
 * found. */
static void find_stem(search *s, const myth_language *f, const char *stem, bool is_ending, bool is_single)
{
    char path[MYTH_MODULE_PATH + 64];
    if (!*stem && !f->index)
        return;
    for (int pass = 0; pass < (f->index ? 2 : 1) && s->n == 0; pass++) {
        const char *suffix = f->suffixes;
        do {
            int n_suffix = (int)strcspn(suffix, " ");
            snprintf(path, sizeof(path), "%s%s%s%.*s", stem, pass && *stem ? "/" : "", pass ? f->index : "", n_suffix,
                     suffix);
            if (*path && is_ending)
                find_ending(s, path, is_single);
            else if (*path)
                find_path(s, path);
            suffix += n_suffix;
            suffix += *suffix == ' ';
        } while (*suffix && s->n == 0);
    }
}

/* Tries a path as written, and without its suffix: "./queue.js" may mean queue.ts. */
static void find_written(search *s, const myth_language *f, const char *path)
{
    char stem[MYTH_MODULE_PATH];
    const char *dot = strrchr(myth_base_name(path), '.');
    find_path(s, path);
    if (s->n == 0 && *f->suffixes)
        find_stem(s, f, path, false, false);
    if (s->n == 0 && *f->suffixes && dot && dot[1] == 'j') {
        snprintf(stem, sizeof(stem), "%.*s", (int)(dot - path), path);
        find_stem(s, f, stem, false, false);
    }
}

static void resolve_path(search *s, const myth_module *m)
{
    const myth_language *f = m->form;
    const char *from = s->r->file[s->from].path;
    char beside[2 * MYTH_MODULE_PATH];
    if (m->is_exact) {
        find_written(s, f, m->text);
        return;
    }
    if (f->looks_beside && folder_bytes(from) + m->n + 2 < MYTH_MODULE_PATH) {
        snprintf(beside, sizeof(beside), "%.*s%s%s", (int)folder_bytes(from), from, folder_bytes(from) ? "/" : "",
                 m->text);
        find_written(s, f, beside);
    }
    if (s->n || !(m->is_own || f->looks_beside)) /* otherwise it is a package outside of the tree */
        return;
    find_path(s, m->text);
    if (s->n == 0)
        find_ending(s, m->text, false);
    if (s->n == 0 && *f->suffixes)
        find_stem(s, f, m->text, true, false);
}

/* Tries names of modules; the last may be a name inside a module. */
static void resolve_name(search *s, myth_module *m)
{
    const myth_language *f = m->form;
    const uint32_t most = m->is_exact && !f->imports_end_in_name ? 0 : DROPS_MAX;
    if ((f->spelling == MYTH_BY_COLON && !m->is_own && !m->is_exact) || (m->n == 0 && !m->is_exact))
        return;
    find_path(s, m->text); /* a module's name may also be written as a path */
    for (uint32_t i = 0; i <= most && s->n == 0; i++) {
        char *slash = strrchr(m->text, '/');
        find_stem(s, f, m->text, false, false);
        if (s->n == 0 && !m->is_exact)
            find_stem(s, f, m->text, true, !slash && !m->is_own);
        if (s->n || !slash)
            return;
        *slash = '\0';
    }
}

static void find_folder(search *s, const char *folder)
{
    const myth_resolver *r = s->r;
    size_t n = strlen(folder);
    for (uint32_t i = r->by_folder[slot_of(r, folder, n)]; i; i = r->next_folder[i - 1]) {
        const char *path = r->file[i - 1].path;
        bool is_test = strlen(path) > 8 && strcmp(path + strlen(path) - 8, "_test.go") == 0;
        if (folder_bytes(path) == n && memcmp(path, folder, n) == 0 && !is_test && i - 1 != s->from &&
            s->n < MYTH_RESOLVE_MAX)
            s->found[s->n++] = i - 1;
    }
}

/* The longest end of the import that is a folder below the root; its first parts are a host and a repository. */
static void resolve_folder(search *s, const myth_module *m)
{
    if (m->is_exact)
        find_folder(s, m->text);
    for (const char *slash = strchr(m->text, '/'); slash && !m->is_exact && s->n == 0; slash = strchr(slash + 1, '/'))
        find_folder(s, slash + 1);
}

uint32_t myth_resolve(const myth_resolver *r, uint32_t from, const char *import, uint32_t found[MYTH_RESOLVE_MAX])
{
    search s = {.r = r, .from = from, .found = found};
    myth_module m;
    myth_module_read(&m, r->file[from].language, r->file[from].path, import);
    if (m.is_bad || !m.form->suffixes)
        return 0;
    if (m.form->imports_folders)
        resolve_folder(&s, &m);
    else if (m.form->spelling == MYTH_BY_FILE)
        resolve_path(&s, &m);
    else
        resolve_name(&s, &m);
    return s.n;
}
