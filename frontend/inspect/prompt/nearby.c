/* nearby.c - answers requests without an index: finds the file of a request's path, if it may be read, and in it the
 * lines of the request's name. */
#include "nearby.h"

#include "frontend/cli/args.h"
#include "retrieval/retrieval.h"

#include "engine/base/chars.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* At most so many files of a folder, and so many definitions of a file, are considered for a similar name. */
enum { ENTRIES_MAX = 1024, NAMES_MAX = 512 };

struct myth_nearby {
    myth_mem *mem;
    char root[PATH_MAX];   /* resolved; only files below it are read. "" = there is none */
    char folder[PATH_MAX]; /* of the inspected file, relative to the root: "" or "src/"  */
    char worker[PATH_MAX];
    void (*on_look)(void *user, const char *path, bool is_folder); /* NULL = nobody asks */
    void *user;
};

/* ---- paths ---- */

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    n -= n == 1; /* "/" already ends in the slash that is looked for after a folder */
    return n < strlen(path) && !strncmp(path, folder, n) && path[n] == '/';
}

myth_status myth_nearby_open(myth_nearby **out, const char *root, const char *path, const char *worker_path,
                             myth_error *err)
{
    myth_mem *mem;
    myth_status st = myth_mem_open(&mem, 0, err);
    if (st != MYTH_OK)
        return st;
    myth_nearby *n = myth_alloc(mem, MYTH_MEM_OTHER, "nearby", sizeof(*n));
    if (!n) {
        myth_mem_close(mem);
        return myth_fail(err, MYTH_ENOMEM, "nearby: no room for %zu bytes", sizeof(*n));
    }
    n->mem = mem;
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    if (len < sizeof(n->folder))
        memcpy(n->folder, path, len);
    if (worker_path)
        snprintf(n->worker, sizeof(n->worker), "%s", worker_path);
    if (!realpath(*root ? root : ".", n->root))
        n->root[0] = '\0';
    *out = n;
    return MYTH_OK;
}

void myth_nearby_close(myth_nearby *n)
{
    if (!n)
        return;
    myth_mem *mem = n->mem;
    myth_free(mem, n);
    myth_mem_close(mem);
}

void myth_nearby_watch(myth_nearby *n, void (*on_look)(void *user, const char *path, bool is_folder), void *user)
{
    n->on_look = on_look;
    n->user = user;
}

/* Says that the answer depends on a path, relative to the root. */
static void say_look(const myth_nearby *n, const char *path, bool is_folder)
{
    char full[2 * PATH_MAX];
    const size_t len = strlen(n->root) - (strlen(n->root) == 1);
    snprintf(full, sizeof(full), "%.*s/%s", (int)len, n->root, path);
    if (n->on_look && n->root[0])
        n->on_look(n->user, full, is_folder);
}

static bool join(char dst[PATH_MAX], const char *folder, const char *name)
{
    int n = snprintf(dst, PATH_MAX, "%s%s", folder, name);
    return n > 0 && n < PATH_MAX;
}

/* Whether a component of the path is ".git": what is in it is git's, and may hold the keys of a remote. */
static bool is_of_git(const char *path)
{
    for (const char *p = path; p; p = (p = strchr(p, '/')) ? p + 1 : NULL)
        if (!strncmp(p, ".git", 4) && (p[4] == '/' || !p[4]))
            return true;
    return false;
}

/* Whether path, relative to the root, is a regular file that requests may see. path becomes the file's own name,
 * without links, so that a file has one name however it was asked for. */
static bool may_read(const myth_nearby *n, char path[PATH_MAX])
{
    char full[PATH_MAX], real[PATH_MAX];
    struct stat st;
    const size_t len = strlen(n->root) - (strlen(n->root) == 1);
    if (!n->root[0] || snprintf(full, sizeof(full), "%.*s/%s", (int)len, n->root, path) >= (int)sizeof(full) ||
        !realpath(full, real) || stat(real, &st) != 0 || !S_ISREG(st.st_mode) || !is_below(real, n->root) ||
        is_of_git(real + len))
        return false;
    snprintf(path, PATH_MAX, "%s", real + len + 1);
    return true;
}

/* Whether a path of a request is relative and has no ".." in it. */
static bool is_plain(const char *path)
{
    if (!*path || *path == '/')
        return false;
    for (const char *p = path; p; p = (p = strchr(p, '/')) ? p + 1 : NULL)
        if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2]))
            return false;
    return true;
}

static bool has_stem(const char *name, const char *stem)
{
    size_t n = strlen(stem);
    return !strncmp(name, stem, n) && name[n] == '.';
}

/* The same, said to who watches: the file may be read. */
static bool may_see(const myth_nearby *n, char path[PATH_MAX])
{
    say_look(n, path, false);
    return may_read(n, path);
}

/* Reads the names in the inspected file's folder. When files have the name `stem` and a suffix, found is the path of
 * the first of them by name, because the order in which a folder is read differs between machines. Otherwise near is
 * the most similar name, if there is one. Returns whether found is set. */
static bool look_around(const myth_nearby *n, char found[PATH_MAX], const char *stem, char *near, size_t near_cap)
{
    char(*name)[NAME_MAX + 1] = myth_alloc(n->mem, MYTH_MEM_OTHER, "names", ENTRIES_MAX * sizeof(*name)),
                           best[NAME_MAX + 1] = "", path[PATH_MAX];
    const char *list[ENTRIES_MAX];
    size_t n_name = 0;
    bool has_folder = name && n->root[0] && snprintf(path, sizeof(path), "%s/%s", n->root, n->folder) < PATH_MAX;
    say_look(n, n->folder, true);
    DIR *dir = has_folder ? opendir(path) : NULL;
    for (struct dirent *e; dir && n_name < ENTRIES_MAX && (e = readdir(dir));) {
        if (e->d_name[0] == '.' || !join(path, n->folder, e->d_name) || !may_read(n, path))
            continue;
        if (has_stem(e->d_name, stem) && (!best[0] || strcmp(e->d_name, best) < 0))
            snprintf(best, sizeof(best), "%s", e->d_name);
        snprintf(name[n_name], sizeof(name[0]), "%s", e->d_name);
        list[n_name] = name[n_name];
        n_name++;
    }
    if (dir)
        closedir(dir);
    const char *like = best[0] ? NULL : myth_args_nearest(stem, list, n_name);
    if (like)
        snprintf(near, near_cap, "%s", like);
    myth_free(n->mem, name);
    return best[0] && join(found, n->folder, best) && may_see(n, found);
}

static bool find_file(const myth_nearby *n, char found[PATH_MAX], const char *path, char *near, size_t near_cap)
{
    if (!is_plain(path))
        return false;
    if (join(found, "", path) && may_see(n, found))
        return true;
    if (join(found, n->folder, path) && may_see(n, found))
        return true;
    return !strchr(path, '/') && look_around(n, found, path, near, near_cap);
}

/* ---- names ---- */

static uint32_t add_lines(myth_material *m, uint32_t of, uint32_t source, uint32_t first, uint32_t last,
                          const char *symbol, const char *why)
{
    return myth_material_add(
               m, NULL,
               &(myth_piece){.source = source, .first = first, .last = last, .symbol = symbol, .why = why, .of = of},
               NULL) == MYTH_OK;
}

/* Returns the number of the first line that contains name as a word; 0 when there is none. */
static uint32_t line_with(const myth_source *src, const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; n && i < src->n_line; i++) {
        const unsigned char *p = src->bytes + src->line[i].off;
        for (uint32_t k = 0; k + n <= src->line[i].len; k++)
            if (!memcmp(p + k, name, n) && (!k || !myth_is_name(p[k - 1])) &&
                (k + n == src->line[i].len || !myth_is_name(p[k + n])))
                return i + 1;
    }
    return 0;
}

/* Whether this definition has the wanted name. For "Type.method" the definition around it must also be Type, whose own
 * parents may be left out. */
static bool is_named(const myth_chunks *c, const myth_symbol *s, const char *wanted)
{
    const char *dot = strrchr(wanted, '.'), *parent = c->names + s->parent;
    if (!dot)
        return !strcmp(c->names + s->name, wanted);
    size_t n = (size_t)(dot - wanted), len = strlen(parent);
    return !strcmp(c->names + s->name, dot + 1) && len >= n && !strncmp(parent + len - n, wanted, n) &&
           (len == n || parent[len - n - 1] == '.');
}

/* Adds the definitions with the wanted name and returns how many. When there are none, near is the most similar name of
 * a definition, if there is one. */
static uint32_t add_definitions(const myth_chunks *c, const char *wanted, myth_material *m, uint32_t of,
                                uint32_t source, char *near, size_t near_cap)
{
    const char *list[NAMES_MAX];
    uint32_t n_added = 0, n_name = 0;
    for (uint32_t i = 0; i < c->n_symbol && n_added < MYTH_NEARBY_MATCHES; i++) {
        const myth_symbol *s = &c->symbol[i];
        if (is_named(c, s, wanted))
            n_added +=
                add_lines(m, of, source, s->line0, s->line1, c->names + s->name, "definition that was asked for");
        else if (n_name < NAMES_MAX)
            list[n_name++] = c->names + s->name;
    }
    const char *dot = strrchr(wanted, '.'),
               *like = n_added ? NULL : myth_args_nearest(dot ? dot + 1 : wanted, list, n_name);
    if (like)
        snprintf(near, near_cap, "%s::%s", myth_material_of(m, source)->path, like);
    return n_added;
}

/* The same; without a definition, it adds the lines around the first one that contains the name as a word. */
static uint32_t add_symbol(myth_nearby *n, const char *wanted, myth_material *m, uint32_t of, uint32_t source,
                           char *near, size_t near_cap)
{
    const myth_source *src = myth_material_of(m, source);
    const char *dot = strrchr(wanted, '.'), *language = myth_detect_language(src->path, src->bytes, src->len);
    uint32_t n_added = 0, line;
    myth_chunker *chunker = NULL;
    myth_chunks chunks = {0};
    if (language && myth_chunker_open(&chunker, n->mem, n->worker[0] ? n->worker : NULL, NULL) == MYTH_OK &&
        myth_chunk_file(&chunks, chunker, language, src->path, src->bytes, src->len, NULL) == MYTH_OK)
        n_added = add_definitions(&chunks, wanted, m, of, source, near, near_cap);
    myth_chunks_free(&chunks, n->mem);
    myth_chunker_close(chunker);
    if (!n_added && (line = line_with(src, dot ? dot + 1 : wanted)) != 0)
        n_added = add_lines(m, of, source, line > MYTH_NEARBY_AROUND ? line - MYTH_NEARBY_AROUND : 1,
                            line + MYTH_NEARBY_AROUND, NULL, "holds the name that was asked for");
    return n_added;
}

uint32_t myth_nearby_context(myth_nearby *n, const char *request, myth_material *m, uint32_t of, char *near,
                             size_t near_cap)
{
    char path[PATH_MAX], found[PATH_MAX];
    const char *mark = strstr(request, "::");
    uint32_t source;
    int len = snprintf(path, sizeof(path), "%.*s", mark ? (int)(mark - request) : (int)strlen(request), request);
    if (len < 0 || (size_t)len >= sizeof(path) || !find_file(n, found, path, near, near_cap))
        return 0;
    if (myth_material_source(m, &source, found, NULL) != MYTH_OK)
        return 0;
    const myth_source *src = myth_material_of(m, source);
    if (myth_detect_binary(src->bytes, src->len < 8192 ? src->len : 8192))
        return 0;
    if (mark && mark[2])
        return add_symbol(n, mark + 2, m, of, source, near, near_cap);
    return src->n_line ? add_lines(m, of, source, 1, src->n_line, NULL, "file that was asked for") : 0;
}
