/* scopes.c - see scopes.h. */
#include "scopes.h"
#include "frontend/cli/hints.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *copy_of(myth_mem *mem, const char *text, size_t n)
{
    char *copy = myth_alloc(mem, MYTH_MEM_OTHER, "path", n + 1);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

/* What a path is called: without "./" in front, slashes at its end and the current directory. */
static const char *plain(const char *path, size_t *n)
{
    char here[PATH_MAX];
    const size_t n_here = path[0] == '/' && getcwd(here, sizeof(here)) ? strlen(here) : 0;
    if (n_here > 1 && strncmp(path, here, n_here) == 0 && (path[n_here] == '/' || !path[n_here]))
        path += n_here + strspn(path + n_here, "/");
    while (path[0] == '.' && path[1] == '/')
        path += 1 + strspn(path + 1, "/");
    *n = strlen(path);
    while (*n > 1 && path[*n - 1] == '/')
        --*n;
    if (*n == 1 && path[0] == '.')
        *n = 0;
    return path;
}

static myth_status missing(const char *path, myth_error *err)
{
    char hint[256];
    if (errno != ENOENT && errno != ENOTDIR)
        return myth_fail(err, MYTH_EIO, "%.160s: %s", path, strerror(errno));
    myth_hint_missing(hint, sizeof(hint), path);
    return myth_fail(err, MYTH_ENOTFOUND, "%.120s: no such file or directory%s", path, hint);
}

/* A file is opened from its folder, without links. */
static myth_status set_scope(myth_scopes *s, const char *path, bool is_file, bool is_shown, myth_error *err)
{
    char real[PATH_MAX];
    size_t n = 0;
    myth_scope *one = &s->scope[s->n++];
    const char *shown = is_shown ? plain(path, &n) : "", *open = path;
    if (is_file && !(open = realpath(path, real)))
        return missing(path, err);
    if (!(one->shown = copy_of(s->mem, shown, n)) || !(one->root = copy_of(s->mem, open, strlen(open))))
        return myth_fail(err, MYTH_ENOMEM, "search: out of memory for a path");
    if (is_file) {
        const char *name = strrchr(real, '/') + 1;
        const size_t n_root = name - real > 1 ? (size_t)(name - real) - 1 : 1;
        if (!(one->file = copy_of(s->mem, name, strlen(name))))
            return myth_fail(err, MYTH_ENOMEM, "search: out of memory for a path");
        one->root[n_root] = '\0';
    }
    return MYTH_OK;
}

myth_status myth_scopes_open(myth_scopes *out, myth_mem *mem, const char *directory, char *const *path, int n,
                             myth_error *err)
{
    struct stat st;
    myth_status code = MYTH_OK;
    const bool is_one = n == 0 || (n == 1 && (stat(path[0], &st) != 0 || !S_ISREG(st.st_mode)));
    *out = (myth_scopes){.mem = mem, .is_limited = !is_one};
    if (!(out->scope = myth_alloc_n(mem, MYTH_MEM_OTHER, "paths", n ? (size_t)n : 1, sizeof(*out->scope))))
        return myth_fail(err, MYTH_ENOMEM, "search: out of memory for %d paths", n);
    memset(out->scope, 0, (n ? (size_t)n : 1) * sizeof(*out->scope));
    if (is_one) /* whoever opens it says what is wrong with it */
        return set_scope(out, n ? path[0] : directory ? directory : ".", false, false, err);
    for (int i = 0; i < n && code == MYTH_OK; i++) {
        if (stat(path[i], &st) != 0)
            return missing(path[i], err);
        code = set_scope(out, path[i], !S_ISDIR(st.st_mode), true, err);
    }
    return code;
}

void myth_scopes_close(myth_scopes *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        myth_free(s->mem, s->scope[i].root);
        myth_free(s->mem, s->scope[i].shown);
        myth_free(s->mem, s->scope[i].file);
    }
    if (s->mem)
        myth_free(s->mem, s->scope);
    *s = (myth_scopes){0};
}

/* Whether no part of the path is "..". */
static bool is_below(const char *path)
{
    for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]))
            return false;
    return path[0] != '/';
}

myth_status myth_scopes_check_below(const myth_scopes *s, myth_error *err)
{
    for (uint32_t i = 0; i < s->n && s->is_limited; i++)
        if (!is_below(s->scope[i].shown))
            return myth_fail(err, MYTH_EARG,
                             "search: %.160s is not below the current directory, whose index is searched; -F and -e "
                             "search any paths",
                             s->scope[i].shown);
    return MYTH_OK;
}

bool myth_scopes_has(const myth_scopes *s, const char *path)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const char *shown = s->scope[i].shown;
        const size_t n = strlen(shown);
        if (n == 0 || (strncmp(path, shown, n) == 0 && (path[n] == '/' || !path[n])))
            return true;
    }
    return !s->is_limited;
}

bool myth_scope_path(const myth_scope *s, const char *path, char *dst, size_t cap)
{
    if (s->file)
        return (size_t)snprintf(dst, cap, "%s", s->shown) < cap;
    const char *between = s->shown[0] && strcmp(s->shown, "/") != 0 ? "/" : "";
    return (size_t)snprintf(dst, cap, "%s%s%s", s->shown, between, path) < cap;
}
