/* files.c - collects absolute paths first, then finds the root that they share and cuts it off: what was typed decides
 * which files are in, and nothing of it stays in their names. */
#include "files.h"

#include "engine/base/array.h"
#include "engine/base/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GLOBS_MAX = 64 };

typedef struct {
    myth_files *f;
    const myth_files_opts *o;
    uint32_t *slot; /* finds a file by its path */
    uint32_t n_slot;
    const char *first; /* the first file in a repository, for a message */
    bool has_loose;    /* a file is in no repository */
    bool has_stdin;    /* standard input is file stdin_at, under a name */
    uint32_t stdin_at;
} finder;

static myth_status no_memory(myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "the list of files: out of memory");
}

static char *copy_of(myth_mem *mem, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *to = myth_alloc(mem, MYTH_MEM_OTHER, "files", n);
    return to ? memcpy(to, text, n) : NULL;
}

static bool is_file(const void *of, uint32_t idx, const void *key)
{
    const myth_files *f = of;
    return strcmp(f->file[idx].open, key) == 0;
}

/* Makes room in the table for one file more. */
static myth_status grow_table(finder *s, myth_error *err)
{
    myth_files *f = s->f;
    const uint32_t need = myth_table_slots((uint64_t)f->n + 1);
    if (need <= s->n_slot)
        return MYTH_OK;
    uint32_t *slot = myth_alloc_n(f->mem, MYTH_MEM_OTHER, "files", need, sizeof(*slot));
    if (!slot)
        return no_memory(err);
    memset(slot, 0, need * sizeof(*slot));
    for (uint32_t i = 0; i < f->n; i++)
        *myth_table_find(slot, need, myth_hash_bytes(f->file[i].open, strlen(f->file[i].open)), is_file, f,
                         f->file[i].open) = i + 1;
    myth_free(f->mem, s->slot);
    s->slot = slot;
    s->n_slot = need;
    return MYTH_OK;
}

/* Shortens the root until it holds the folder. */
static void share_root(char *root, const char *folder)
{
    size_t n = 0, at = 0;
    for (; root[n] && root[n] == folder[n]; n++)
        at = root[n] == '/' ? n : at;
    if ((!root[n] && (!folder[n] || folder[n] == '/')) || (!folder[n] && root[n] == '/'))
        at = n;
    root[at ? at : 1] = '\0';
}

/* Adds a file, unless it is in already. A test that is named as well is asked for. */
static myth_status add_file(finder *s, const myth_place *place, bool is_named, bool is_test, myth_error *err)
{
    myth_files *f = s->f;
    char whole[2 * PATH_MAX];
    myth_status st = grow_table(s, err);
    if (st != MYTH_OK)
        return st;
    if (!place->root[0] || !strcmp(place->root, "."))
        snprintf(whole, sizeof(whole), "%s", place->path);
    else
        snprintf(whole, sizeof(whole), "%s%s%s", place->root, strcmp(place->root, "/") ? "/" : "", place->path);
    uint32_t *slot = myth_table_find(s->slot, s->n_slot, myth_hash_bytes(whole, strlen(whole)), is_file, f, whole);
    if (*slot) {
        f->file[*slot - 1].is_test &= is_test;
        return MYTH_OK;
    }
    if (!MYTH_ARRAY_ROOM(f->mem, MYTH_MEM_OTHER, "files", &f->file, f->n, &f->cap))
        return no_memory(err);
    char *own = copy_of(f->mem, whole);
    if (!own)
        return no_memory(err);
    f->file[f->n++] = (myth_file){.open = own, .is_named = is_named, .is_test = is_test};
    *slot = f->n;
    if (!place->root[0])
        return MYTH_OK;
    const bool is_new = !f->root[0], had_repository = s->first != NULL;
    if (is_new)
        snprintf(f->root, sizeof(f->root), "%s", place->root);
    if (!is_new && (place->in_repository || had_repository) && strcmp(f->root, place->root) != 0)
        return myth_fail(err, MYTH_EARG,
                         "%.180s and %.180s are not in one repository; inspect each repository by itself",
                         f->file[0].open, own);
    s->has_loose |= !place->in_repository;
    if (place->in_repository && !s->first)
        s->first = own;
    if (!place->in_repository)
        share_root(f->root, place->root);
    return MYTH_OK;
}

static myth_status add_typed(finder *s, const char *typed, myth_error *err)
{
    myth_place place;
    myth_place_find(&place, typed);
    return add_file(s, &place, true, false, err);
}

/* Adds a file that a scan of the folder listed: no link leads there, and no other repository is around it. */
static myth_status add_scanned(finder *s, const myth_place *folder, const char *path, bool is_test, myth_error *err)
{
    myth_place place = *folder;
    char below[2 * PATH_MAX];
    snprintf(below, sizeof(below), "%s%s", folder->path, path);
    if (strlen(below) >= sizeof(place.path))
        return MYTH_OK;
    strcpy(place.path, below);
    return add_file(s, &place, false, is_test, err);
}

/* The globs of a scan: `only` when it is given, else include; and exclude with '!'. text holds those of exclude. */
static myth_status globs_of(const myth_files_opts *o, const char *only, const char *list[GLOBS_MAX + 1],
                            char text[GLOBS_MAX][512], myth_error *err)
{
    uint32_t n = 0;
    if (o->n_include + (uint64_t)o->n_exclude + 1 > GLOBS_MAX)
        return myth_fail(err, MYTH_ELIMIT, "more than %d globs", GLOBS_MAX - 1);
    for (uint32_t i = 0; i < o->n_include && !only; i++)
        list[n++] = o->include[i];
    if (only)
        list[n++] = only;
    for (uint32_t i = 0; i < o->n_exclude; i++) {
        if ((size_t)snprintf(text[i], sizeof(text[i]), "!%s", o->exclude[i]) >= sizeof(text[i]))
            return myth_fail(err, MYTH_ELIMIT, "a glob of more than %zu bytes: %.80s...", sizeof(text[i]) - 2,
                             o->exclude[i]);
        list[n++] = text[i];
    }
    list[n] = NULL;
    return MYTH_OK;
}

/* The path of a file below the folder that a pattern names, "vendor/zip/" of vendor/zip/x?.c; without one, the path. */
static const char *below(const char *path, const char *pattern)
{
    size_t n = pattern ? strcspn(pattern, "*?[{\\") : 0;
    while (n && pattern[n - 1] != '/')
        n--;
    return strncmp(path, pattern ? pattern : "", n) == 0 ? path + n : path;
}

/* Whether a file of a directory, or one that a pattern matches, is inspected without being named: a glob may name it,
 * and so does a pattern that spells its name out. */
static bool is_wanted(finder *s, const myth_scan_file *file, const char *pattern)
{
    const char *name = pattern ? strrchr(pattern, '/') : NULL;
    if (s->o->n_include || (pattern && !strpbrk(name ? name : pattern, "*?[{")))
        return true;
    const bool is_code = !file->is_generated && (pattern || myth_detect_code(file->path)),
               is_copied = is_code && myth_path_is_copied(below(file->path, pattern));
    s->f->left_out.n_generated += file->is_generated;
    s->f->left_out.n_other += !file->is_generated && !is_code;
    s->f->left_out.n_copied += is_copied;
    return is_code && !is_copied;
}

static myth_status lose(finder *s, const char *folder, const myth_scan_file *file, myth_error *err)
{
    char path[2 * PATH_MAX], why[160];
    snprintf(path, sizeof(path), "%s%s%s", strcmp(folder, ".") ? folder : "", strcmp(folder, ".") ? "/" : "",
             file->path);
    snprintf(why, sizeof(why), "%s", file->why ? file->why : myth_scan_reason_name(file->reason));
    return myth_missed_add(&s->f->missed, path, 0, 0, why, err);
}

/* Whether a folder is what git keeps of a repository, and not a tree of files. */
static bool is_bare(const char *folder)
{
    static const char *const part[] = {"HEAD", "objects", "refs"};
    char path[PATH_MAX + 16];
    struct stat sb;
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX, folder, part[i]);
        if (stat(path, &sb) != 0 || (i ? !S_ISDIR(sb.st_mode) : !S_ISREG(sb.st_mode)))
            return false;
    }
    snprintf(path, sizeof(path), "%.*s/.git", PATH_MAX, folder);
    return stat(path, &sb) != 0;
}

/* Nothing that was looked at is not the same as nothing found: a checkout that failed must not pass as clean. */
static myth_status check_files(const finder *s, const char *folder, uint32_t n, myth_error *err)
{
    if (s->o->allow_empty)
        return MYTH_OK;
    if (is_bare(folder))
        return myth_fail(err, MYTH_ENOTFOUND, "%.180s: a bare repository, which has no files; inspect a checkout of it",
                         folder);
    return n ? MYTH_OK
             : myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_EXPLAIN_SCAN, "%.180s: no files to inspect", folder);
}

/* Adds the files below a directory, of `only` those that it matches; *n is how many the globs let in. */
static myth_status add_directory(finder *s, const char *folder, const char *only, uint32_t *n, myth_error *err)
{
    const char *globs[GLOBS_MAX + 1];
    char text[GLOBS_MAX][512];
    myth_place place;
    myth_scan_list list = {0};
    myth_status st = globs_of(s->o, only, globs, text, err);
    if (st != MYTH_OK)
        return st;
    const myth_scan_opts opts = {
        .root = folder, .globs = globs[0] ? globs : NULL, .lost = true, .is_cancelled = s->o->cancel};
    MYTH_TRY(myth_scan(&list, s->f->mem, &opts, err));
    *n = 0;
    const uint32_t n_missed = s->f->missed.n;
    s->f->left_out.n_nested += (uint32_t)list.n_out[MYTH_SCAN_BORDER];
    myth_place_find_folder(&place, folder, true);
    for (uint32_t i = 0; i < list.n_file; i++) {
        const myth_scan_file *file = &list.file[i];
        if (file->is_lost)
            MYTH_TRY(lose(s, folder, file, err));
        if (file->reason != MYTH_SCAN_IN)
            continue;
        ++*n;
        if (is_wanted(s, file, only))
            MYTH_TRY(add_scanned(s, &place, file->path, file->is_test && !only, err));
    }
    if (!only)
        st = check_files(s, folder, *n + s->f->missed.n - n_missed, err);
fail:
    myth_scan_close(&list, s->f->mem);
    return st;
}

myth_status myth_files_stdin(myth_place *out, const char *name, myth_error *err)
{
    if (!*name || !strcmp(name, "-") || !myth_place_find_new(out, name))
        return myth_fail(err, MYTH_EARG,
                         "--stdin-filename: \"%.200s\" is no name of a file; give a path in a folder that is there",
                         name);
    return MYTH_OK;
}

static myth_status add_stdin(finder *s, myth_error *err)
{
    myth_place place;
    const uint32_t n = s->f->n;
    if (!s->o->stdin_name)
        return add_typed(s, "-", err);
    if (s->has_stdin)
        return MYTH_OK;
    myth_status st = myth_files_stdin(&place, s->o->stdin_name, err);
    if (st == MYTH_OK)
        st = add_file(s, &place, true, false, err);
    if (st == MYTH_OK && s->f->n == n)
        st = myth_fail(err, MYTH_EARG, "--stdin-filename: %.200s is named as well; leave one of the two out",
                       s->o->stdin_name);
    s->stdin_at = n;
    s->has_stdin = true;
    return st;
}

static myth_status add_path(finder *s, const char *typed, myth_error *err)
{
    struct stat sb;
    uint32_t n = 0;
    myth_status st = MYTH_OK;
    if (strcmp(typed, "-") == 0)
        return add_stdin(s, err);
    if (stat(typed, &sb) == 0)
        return S_ISDIR(sb.st_mode) ? add_directory(s, typed, NULL, &n, err) : add_typed(s, typed, err);
    const char *brace = strchr(typed, '{');
    if (errno == ENOENT && (strpbrk(typed, "*?[") || (brace && strchr(brace, '}')))) {
        st = add_directory(s, ".", typed + (strncmp(typed, "./", 2) ? 0 : 2), &n, err);
        if (st == MYTH_OK && !n)
            st = myth_fail(err, MYTH_ENOTFOUND, "%.200s: no file below the current directory matches", typed);
        return st;
    }
    return add_typed(s, typed, err); /* whoever opens it says what is wrong */
}

/* Cuts the root off. Standard input has none. */
static myth_status name_files(myth_files *f, myth_error *err)
{
    const size_t n = strlen(f->root) > 1 ? strlen(f->root) + 1 : strlen(f->root);
    for (uint32_t i = 0; i < f->n; i++) {
        const char *whole = f->file[i].open;
        f->file[i].name = copy_of(f->mem, *whole == '/' && strlen(whole) > n ? whole + n : whole);
        if (!f->file[i].name)
            return no_memory(err);
    }
    return MYTH_OK;
}

myth_status myth_files_find(myth_files *out, myth_mem *mem, const myth_files_opts *opts, myth_error *err)
{
    finder s = {.f = out, .o = opts};
    myth_status st = MYTH_OK;
    *out = (myth_files){.mem = mem, .missed = {.mem = mem}};
    for (uint32_t i = 0; i < opts->n_path; i++)
        MYTH_TRY(add_path(&s, opts->path[i], err));
    if (opts->stdin_name && !s.has_stdin)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "--stdin-filename: add -, which is standard input"));
    MYTH_TRY(name_files(out, err));
    if (s.has_stdin) /* from here on it is opened as what it is */
        strcpy(out->file[s.stdin_at].open, "-");
fail:
    myth_free(mem, s.slot);
    return st;
}

void myth_files_close(myth_files *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        myth_free(f->mem, f->file[i].open);
        myth_free(f->mem, f->file[i].name);
    }
    if (f->mem)
        myth_free(f->mem, f->file);
    myth_missed_free(&f->missed);
    memset(f, 0, sizeof(*f));
}
