/* resolve.c - see resolve.h. A module's name becomes a path without its suffix (a stem); stems with each suffix are looked up by path and by
 * last name. */
#include "resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { STEM_MAX = 512, DROPS_MAX = 2 };

typedef enum { BY_PATH, BY_NAME, BY_FOLDER } manner;

typedef struct {
    const char *languages, *separator, *suffixes, *index;
    manner manner;
    bool is_beside;             /* a name without dots in front is looked for beside the file first */
} form;

/* BY_PATH: what is written is a path. BY_NAME: names of modules, the last of which may be of something in one. BY_FOLDER: of a folder. */
static const form forms[] = {
    { "c cpp cuda objc glsl hlsl opencl metal", "/", "", "", BY_PATH, true },
    { "python starlark", ".", ".py .pyi .pyx", "__init__", BY_NAME, false },
    { "javascript jsx typescript tsx html", "/", ".ts .tsx .js .jsx .mjs .cjs .mts .cts .d.ts .vue .svelte .json", "index", BY_PATH, false },
    { "java kotlin scala groovy", ".", ".java .kt .scala .groovy", "", BY_NAME, false },
    { "rust", "::", ".rs", "mod", BY_NAME, false },
    { "ruby", "/", ".rb", "", BY_PATH, true },
    { "php", "\\", ".php", "", BY_NAME, false },
    { "lua", ".", ".lua", "init", BY_NAME, false },
    { "bash fish", "/", "", "", BY_PATH, true },
    { "css", "/", ".css .scss .less", "", BY_PATH, true },
    { "go", "/", ".go", "", BY_FOLDER, false },
};

struct myth_resolver {
    myth_mem *mem;
    const myth_resolve_file *file;
    uint32_t n_file, n_slot;
    uint32_t *by_path, *by_name;        /* first of a chain: index + 1                       */
    uint32_t *by_two;                   /* of the last two names: __init__.py is everywhere  */
    uint32_t *by_folder;                /* of Go files                                       */
    uint32_t *next_path, *next_name, *next_two, *next_folder;
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The last folder's name and the file's. */
static const char *two_names(const char *path)
{
    const char *name = name_of(path), *p = name > path ? name - 1 : path;
    while (p > path && p[-1] != '/')
        p--;
    return p;
}

static uint32_t slot_of(const myth_resolver *r, const char *s, size_t n) { return (uint32_t)XXH3_64bits(s, n) & (r->n_slot - 1); }

static size_t folder_bytes(const char *path) { return (size_t)(name_of(path) - path) - (name_of(path) > path); }

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' '))
            return true;
    return false;
}

static const form *form_of(const char *language)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (has_word(forms[i].languages, language))
            return &forms[i];
    return NULL;
}

static void chain(uint32_t *first, uint32_t *next, uint32_t slot, uint32_t i)
{
    next[i] = first[slot];
    first[slot] = i + 1;
}

myth_status myth_resolver_open(myth_resolver **out, myth_mem *mem, const myth_resolve_file *file, uint32_t n_file, myth_error *err)
{
    myth_resolver *r = myth_alloc(mem, MYTH_MEM_OTHER, "map", sizeof(*r));
    *out = r;
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", n_file);
    *r = (myth_resolver){ .mem = mem, .file = file, .n_file = n_file, .n_slot = 64 };
    while (r->n_slot < 2 * n_file)
        r->n_slot *= 2;
    uint32_t **const list[] = { &r->by_path, &r->by_name, &r->by_two, &r->by_folder, &r->next_path, &r->next_name, &r->next_two, &r->next_folder };
    for (int i = 0; i < 8; i++)
        if (!(*list[i] = myth_alloc_n(mem, MYTH_MEM_OTHER, "map", i < 4 ? r->n_slot : n_file + 1, sizeof(uint32_t)))) {
            myth_resolver_close(r);
            *out = NULL;
            return myth_fail(err, MYTH_ENOMEM, "no memory for the names of %u files", n_file);
        }
    for (uint32_t i = n_file; i-- > 0;) {       /* so that chains are in the order of the files */
        const char *path = file[i].path, *name = name_of(path);
        chain(r->by_path, r->next_path, slot_of(r, path, strlen(path)), i);
        chain(r->by_name, r->next_name, slot_of(r, name, strlen(name)), i);
        if (name > path)
            chain(r->by_two, r->next_two, slot_of(r, two_names(path), strlen(two_names(path))), i);
        if (strcmp(file[i].language, "go") == 0)
            chain(r->by_folder, r->next_folder, slot_of(r, path, folder_bytes(path)), i);
    }
    return MYTH_OK;
}

void myth_resolver_close(myth_resolver *r)
{
    if (!r)
        return;
    uint32_t *const list[] = { r->by_path, r->by_name, r->by_two, r->by_folder, r->next_path, r->next_name, r->next_two, r->next_folder };
    for (int i = 0; i < 8; i++)
        myth_free(r->mem, list[i]);
    myth_free(r->mem, r);
}

/* ---- names to stems ---- */

/* Appends `rest` to the folder of `from` (`up` folders above it), without "." and "..". False: above the root, or too long. */
static bool join(char stem[STEM_MAX], const char *folder, size_t n_folder, const char *rest)
{
    size_t n = n_folder;
    if (n + strlen(rest) + 2 > STEM_MAX)
        return false;
    memcpy(stem, folder, n);
    while (*rest) {
        size_t len = strcspn(rest, "/");
        if (len == 2 && rest[0] == '.' && rest[1] == '.') {
            if (n == 0)
                return false;
            while (n > 0 && stem[n - 1] != '/')
                n--;
            n -= n > 0;
        } else if (len > 0 && !(len == 1 && rest[0] == '.')) {
            if (n)
                stem[n++] = '/';
            memcpy(stem + n, rest, len);
            n += len;
        }
        rest += len + (rest[len] == '/');
    }
    stem[n] = '\0';
    return true;
}

/* What stands before a list, an alias, a star; separators become slashes. */
static void clean(char name[STEM_MAX], const form *f, const char *import)
{
    size_t n = 0, n_sep = strlen(f->separator), len;
    import += strspn(import, " \t'\"`<");
    len = strcspn(import, f->manner == BY_NAME ? " \t\r\n{*;,()'\"" : "\r\n'\"`>");
    for (size_t i = 0; i < len && n + 1 < STEM_MAX;) {
        bool is_sep = f->separator[0] != '/' && len - i >= n_sep && memcmp(import + i, f->separator, n_sep) == 0;
        name[n++] = is_sep ? '/' : import[i];
        i += is_sep ? n_sep : 1;
    }
    name[n] = '\0';
    for (size_t n_dot = strspn(name, "/"); n > n_dot && name[n - 1] == '/';)
        name[--n] = '\0';
}

/* ---- stems to files ---- */

typedef struct {
    const myth_resolver *r;
    uint32_t from, *found, n;
    size_t shared;              /* bytes of folders that those found share with `from` */
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

/* A module without folders is met everywhere (os, utils): it must lie where imports of this file begin. */
static bool is_within_reach(const char *path, size_t n_front, const char *from)
{
    static const char *const roots[] = { "src/", "lib/", "python/", "source/" };
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
    bool has_two = name_of(ending) > ending;
    const uint32_t *first = has_two ? r->by_two : r->by_name, *next = has_two ? r->next_two : r->next_name;
    for (uint32_t i = first[slot_of(r, name, strlen(name))]; i; i = next[i - 1]) {
        const char *path = r->file[i - 1].path;
        size_t len = strlen(path);
        if (i - 1 == s->from || len < n || memcmp(path + len - n, ending, n) != 0 || (len > n && path[len - n - 1] != '/'))
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

/* Calls `find` for the stem with every suffix, then for the file that stands for it as a folder, until something is found. */
static void find_stem(search *s, const form *f, const char *stem, bool is_ending, bool is_single)
{
    char path[STEM_MAX + 64];
    if (!*stem && !*f->index)
        return;
    for (int pass = 0; pass < (*f->index ? 2 : 1) && s->n == 0; pass++) {
        const char *suffix = f->suffixes;
        do {
            int n_suffix = (int)strcspn(suffix, " ");
            snprintf(path, sizeof(path), "%s%s%s%.*s", stem, pass && *stem ? "/" : "", pass ? f->index : "", n_suffix, suffix);
            if (*path && is_ending)
                find_ending(s, path, is_single);
            else if (*path)
                find_path(s, path);
            suffix += n_suffix;
            suffix += *suffix == ' ';
        } while (*suffix && s->n == 0);
    }
}

/* "./queue.js" is written of queue.ts, too. */
static void find_written(search *s, const form *f, char *stem)
{
    find_path(s, stem);
    if (s->n == 0 && *f->suffixes)
        find_stem(s, f, stem, false, false);
    char *dot = strrchr(name_of(stem), '.');
    if (s->n == 0 && *f->suffixes && dot && dot[1] == 'j') {
        *dot = '\0';
        find_stem(s, f, stem, false, false);
    }
}

static void resolve_path(search *s, const form *f, char *name)
{
    const char *from = s->r->file[s->from].path;
    char stem[STEM_MAX];
    bool is_dotted = strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if ((is_dotted || f->is_beside) && join(stem, from, folder_bytes(from), name))
        find_written(s, f, stem);
    if (s->n || is_dotted)
        return;
    if ((name[0] == '@' || name[0] == '~') && name[1] == '/')       /* the root of the sources, as bundlers are told */
        name += 2;
    else if (!f->is_beside)
        return;
    if (join(stem, "", 0, name)) {
        find_path(s, stem);
        if (s->n == 0)
            find_ending(s, stem, false);
        if (s->n == 0 && *f->suffixes)
            find_stem(s, f, stem, true, false);
    }
}

static void resolve_name(search *s, const form *f, char *name)
{
    static const char *const heads[] = { "crate", "self", "super" };
    const char *from = s->r->file[s->from].path, *rest = name;
    char stem[STEM_MAX];
    size_t up = strspn(name, "/");
    bool is_relative = f->separator[0] == '.' && up > 0, is_own = false;
    if (is_relative) {                          /* of Python: one dot is the folder itself */
        size_t n = folder_bytes(from);
        for (size_t i = 1; i < up; i++) {
            while (n > 0 && from[n - 1] != '/')
                n--;
            n -= n > 0;
        }
        if (join(stem, from, n, name + up))
            find_stem(s, f, stem, false, false);
        return;
    }
    rest += up;
    for (size_t i = 0; i < 3;) {
        size_t n = strlen(heads[i]);
        bool is_head = f->separator[0] == ':' && strncmp(rest, heads[i], n) == 0 && (rest[n] == '/' || rest[n] == '\0');
        rest += is_head ? n + (rest[n] == '/') : 0;
        is_own |= is_head;
        i = is_head ? 0 : i + 1;
    }
    if (!join(stem, "", 0, rest) || !*stem || (f->separator[0] == ':' && !is_own))
        return;
    for (int i = 0; i <= DROPS_MAX && s->n == 0; i++) {
        char *slash = strrchr(stem, '/');
        find_stem(s, f, stem, false, false);
        if (s->n == 0)
            find_stem(s, f, stem, true, !slash && !is_own);
        if (s->n || !slash)
            return;
        *slash = '\0';
    }
}

/* The longest end of the import that is a folder from the root; its first names are those of a host and a repository. */
static void resolve_folder(search *s, const char *name)
{
    const myth_resolver *r = s->r;
    for (const char *slash = strchr(name, '/'); slash && s->n == 0; slash = strchr(slash + 1, '/')) {
        size_t n = strlen(slash + 1);
        for (uint32_t i = r->by_folder[slot_of(r, slash + 1, n)]; i; i = r->next_folder[i - 1]) {
            const char *path = r->file[i - 1].path;
            bool is_test = strlen(path) > 8 && strcmp(path + strlen(path) - 8, "_test.go") == 0;
            if (folder_bytes(path) == n && memcmp(path, slash + 1, n) == 0 && !is_test && i - 1 != s->from && s->n < MYTH_RESOLVE_MAX)
                s->found[s->n++] = i - 1;
        }
    }
}

uint32_t myth_resolve(const myth_resolver *r, uint32_t from, const char *import, uint32_t found[MYTH_RESOLVE_MAX])
{
    const form *f = form_of(r->file[from].language);
    char name[STEM_MAX];
    search s = { .r = r, .from = from, .found = found };
    if (!f)
        return 0;
    clean(name, f, import);
    if (!*name)
        return 0;
    if (f->manner == BY_PATH)
        resolve_path(&s, f, name);
    else if (f->manner == BY_NAME)
        resolve_name(&s, f, name);
    else
        resolve_folder(&s, name);
    return s.n;
}
