/* unsearched.c - see unsearched.h. */
#include "unsearched.h"

#include "engine/base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    myth_scan_reason reason;
    const char *one, *many; /* said of them */
    bool is_named;          /* with the path of the first */
} row[] = {
    {MYTH_SCAN_BORDER, "repository of its own", "repositories of their own", true},
    {MYTH_SCAN_SKIPPED_DIR, "folder that tools fill", "folders that tools fill", true},
    {MYTH_SCAN_MINIFIED, "minified", "minified", false},
    {MYTH_SCAN_LARGE, "too large", "too large", false},
    {MYTH_SCAN_POINTER, "not fetched by Git LFS", "not fetched by Git LFS", false},
    {MYTH_SCAN_HIDDEN, "hidden", "hidden", false},
    {MYTH_SCAN_IGNORED, "ignored", "ignored", false},
    {MYTH_SCAN_LINK, "link out of the directory", "links out of the directory", false},
    {MYTH_SCAN_BINARY, "binary", "binary", false},
};
enum { N_ROW = sizeof(row) / sizeof(row[0]) };

static bool is_gits_own(const char *path) { return strcmp(myth_base_name(path), ".git") == 0; }

/* Whether a link leads to something outside of the directory; what it has inside is searched under its own name. */
static bool leads_out(const char *root, const char *path)
{
    char link[2 * PATH_MAX], target[PATH_MAX], real[PATH_MAX];
    const int n = snprintf(link, sizeof(link), "%s/%s", root, path);
    if (n >= (int)sizeof(link) || !realpath(root, real) || !realpath(link, target))
        return false;
    const size_t n_real = strcmp(real, "/") == 0 ? 0 : strlen(real);
    return strncmp(target, real, n_real) != 0 || (target[n_real] != '/' && target[n_real] != '\0');
}

myth_status myth_unsearched_add(myth_unsearched *l, myth_cli *cli, const myth_scan_opts *opts, myth_error *err)
{
    myth_scan_list list = {0};
    myth_scan_opts so = *opts;
    so.explain = so.names_only = true;
    const myth_status st = myth_scan(&list, cli->mem, &so, err);
    for (uint32_t i = 0; i < list.n_file; i++) {
        const myth_scan_file *f = &list.file[i];
        if (f->reason == MYTH_SCAN_IN || is_gits_own(f->path) || (f->reason == MYTH_SCAN_IGNORED && opts->globs) ||
            (f->reason == MYTH_SCAN_LINK && !leads_out(opts->root, f->path)))
            continue;
        if (l->n[f->reason]++ == 0)
            snprintf(l->first[f->reason], sizeof(l->first[0]), "%.30s", f->path);
    }
    myth_scan_close(&list, cli->mem);
    return st;
}

void myth_unsearched_say(const myth_unsearched *l, char *text, size_t cap)
{
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < N_ROW && n < cap; i++) {
        if (row[i].reason == MYTH_SCAN_BINARY && n == 0)
            break; /* nobody looks for a line there */
        const uint64_t count = l->n[row[i].reason];
        const char *path = row[i].is_named ? l->first[row[i].reason] : "";
        if (count)
            n += (size_t)snprintf(text + n, cap - n, "%s%llu %s%s%s%s", n ? ", " : "", (unsigned long long)count,
                                  count == 1 ? row[i].one : row[i].many, path[0] ? " (" : "", path, path[0] ? ")" : "");
    }
}
