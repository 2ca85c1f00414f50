/* ladder.c - see ladder.h. */
#define _GNU_SOURCE
#include "ladder.h"
#include "globs.h"
#include "retrieval/git/git.h"
#include "retrieval/git/git_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct myth_ladder_part {
    myth_ignore_frame frame;
    myth_ladder_part *next;
    char *name[MYTH_RUNG_N + 1]; /* names of its lists, for messages; the last is that of the attributes */
};

static const struct {
    const char *name;
    int bit, rung;
} files[] = {
    {".gitignore", MYTH_HAS_GITIGNORE, MYTH_RUNG_GIT},
    {".ignore", MYTH_HAS_IGNORE, MYTH_RUNG_IGNORE},
    {".mythosignore", MYTH_HAS_MYTHOSIGNORE, MYTH_RUNG_MYTHOS},
    {".gitattributes", MYTH_HAS_GITATTRIBUTES, MYTH_RUNG_N},
};
enum { N_FILE = sizeof(files) / sizeof(files[0]) };

int myth_ladder_file(const char *name)
{
    for (int i = 0; name[0] == '.' && i < N_FILE; i++)
        if (strcmp(name, files[i].name) == 0)
            return files[i].bit;
    return 0;
}

/* ---- reading ---- */

/* Reads a small regular file; free *text by myth_free. MYTH_ENOTFOUND: there is none that can be read; MYTH_EIO: a
 * pipe or a device; MYTH_ELIMIT: too large. */
static myth_status read_small(char **text, size_t *n, myth_mem *mem, int fd, const char *path, bool follow)
{
    struct stat sb;
    int f = openat(fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
    myth_status st = MYTH_ENOTFOUND;
    if (f < 0)
        return st;
    if (fstat(f, &sb) != 0)
        goto done;
    if (!S_ISREG(sb.st_mode)) {
        st = myth_git_is_special(&sb) ? MYTH_EIO : MYTH_ENOTFOUND;
        goto done;
    }
    if (sb.st_size > MYTH_IGNORE_FILE_BYTES) {
        st = MYTH_ELIMIT;
        goto done;
    }
    char *s = myth_alloc(mem, MYTH_MEM_OTHER, "ignore", (size_t)sb.st_size + 1);
    if (!s) {
        st = MYTH_ENOMEM;
        goto done;
    }
    size_t at = 0;
    for (ssize_t got; at < (size_t)sb.st_size && (got = read(f, s + at, (size_t)sb.st_size - at)) != 0;) {
        if (got > 0)
            at += (size_t)got;
        else if (errno != EINTR)
            break;
    }
    *text = s;
    *n = at;
    st = MYTH_OK;
done:
    close(f);
    return st;
}

static myth_ladder_part *add_part(myth_ladder *l, const myth_ignore_frame *parent, size_t n_base)
{
    myth_ladder_part *p = myth_alloc(l->mem, MYTH_MEM_OTHER, "ladder", sizeof(*p));
    if (!p)
        return NULL;
    p->frame.parent = parent;
    p->frame.n_base = (uint32_t)n_base;
    pthread_mutex_lock(&l->lock);
    p->next = l->part;
    l->part = p;
    pthread_mutex_unlock(&l->lock);
    return p;
}

static uint32_t patterns_of(const myth_ignore_frame *f)
{
    uint32_t n = f->attributes ? f->attributes->n_pattern : 0;
    for (int r = 0; r < MYTH_RUNG_N; r++)
        n += f->list[r] ? f->list[r]->n_pattern : 0;
    return n;
}

/* MYTH_ELIMIT: with this list a path would be compared with too many patterns. MYTH_EFULL: all patterns of the scan
 * take too much memory. */
static myth_status check_list(myth_ladder *l, const myth_ladder_part *p, const myth_ignore_list *list, myth_error *err)
{
    uint32_t n = list->n_pattern;
    for (const myth_ignore_frame *f = &p->frame; f; f = f->parent)
        n += patterns_of(f);
    if (n > MYTH_IGNORE_PATTERNS)
        return myth_fail(err, MYTH_ELIMIT, "%s: with it more than %d patterns", list->name, MYTH_IGNORE_PATTERNS);
    pthread_mutex_lock(&l->lock);
    l->n_bytes += list->n_bytes;
    const bool is_full = l->n_bytes > MYTH_IGNORE_TREE_BYTES;
    pthread_mutex_unlock(&l->lock);
    return is_full
             ? myth_fail(err, MYTH_EFULL, "%s: with it the patterns of the tree take more than %d MiB; make it shorter",
                         list->name, MYTH_IGNORE_TREE_BYTES >> 20)
             : MYTH_OK;
}

/* Reads a pattern file into a rung of a frame, if the file exists. shown: its name in messages. */
static myth_status add_list(myth_ladder *l, myth_ladder_part *p, int rung, int fd, const char *path, const char *shown,
                            bool follow, myth_error *err)
{
    char *text = NULL;
    size_t n, n_shown = strlen(shown);
    myth_ignore_list *list = NULL;
    myth_status st = read_small(&text, &n, l->mem, fd, path, follow);
    if (st == MYTH_ENOTFOUND)
        return MYTH_OK;
    if (st == MYTH_EIO && follow)
        return myth_fail(err, st, "%.160s: a pipe or a device where patterns are expected; remove it", shown);
    if (st == MYTH_ELIMIT && follow)
        return myth_fail(err, st, "%.160s: patterns of more than %d bytes", shown, MYTH_IGNORE_FILE_BYTES);
    if (st == MYTH_ELIMIT || st == MYTH_EIO)
        return st;
    if (st == MYTH_OK && (p->name[rung] = myth_alloc(l->mem, MYTH_MEM_OTHER, "ladder", n_shown + 1))) {
        memcpy(p->name[rung], shown, n_shown);
        st = myth_ignore_parse(&list, l->mem, p->name[rung], text, n, rung == MYTH_RUNG_N, err);
        if (list)
            list->is_folded = l->ignore_case;
        if (st == MYTH_OK)
            st = check_list(l, p, list, err);
        if (st != MYTH_OK) {
            myth_ignore_free(list, l->mem);
            list = NULL;
        }
    } else {
        st = myth_fail(err, MYTH_ENOMEM, "%s: no room for its patterns", shown);
    }
    myth_free(l->mem, text);
    if (rung == MYTH_RUNG_N)
        p->frame.attributes = list;
    else
        p->frame.list[rung] = list;
    return st;
}

myth_status myth_ladder_enter(const myth_ignore_frame **out, myth_ladder *l, const myth_ignore_frame *frame, int fd,
                              const char *path, int has, int *not_read, myth_error *err)
{
    char shown[PATH_MAX + 32];
    myth_ladder_part *p = NULL;
    *out = frame;
    *not_read = 0;
    for (int i = 0; i < N_FILE; i++) {
        if (!(has & files[i].bit) || (l->no_ignore && files[i].rung != MYTH_RUNG_N))
            continue;
        if (!p && !(p = add_part(l, frame, strlen(path))))
            return myth_fail(err, MYTH_ENOMEM, "%s: no room for its patterns", path);
        /* Messages name a file above the root by its whole path, and one below by its path in the list of files. */
        size_t n_path = strlen(path);
        if (n_path >= l->n_prefix)
            snprintf(shown, sizeof(shown), "%s%s", path + l->n_prefix, files[i].name);
        else
            snprintf(shown, sizeof(shown), "%s/%s%s", strcmp(l->top, "/") ? l->top : "", path, files[i].name);
        myth_status st = add_list(l, p, files[i].rung, fd, files[i].name, shown, false, err);
        if (st == MYTH_ELIMIT || st == MYTH_EIO)
            *not_read |= files[i].bit;
        else if (st != MYTH_OK)
            return st;
    }
    if (p)
        *out = &p->frame;
    return MYTH_OK;
}

/* ---- the repository ---- */

bool myth_ladder_is_repository(int fd)
{
    struct stat sb;
    char head[8] = "";
    if (fstatat(fd, ".git", &sb, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (S_ISDIR(sb.st_mode))
        return fstatat(fd, ".git/HEAD", &sb, AT_SYMLINK_NOFOLLOW) == 0;
    if (S_ISLNK(sb.st_mode)) /* older versions of git made these for work trees */
        return fstatat(fd, ".git/HEAD", &sb, 0) == 0;
    int f = S_ISREG(sb.st_mode) ? openat(fd, ".git", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool is = f >= 0 && read(f, head, sizeof(head)) == (ssize_t)sizeof(head) && memcmp(head, "gitdir: ", 8) == 0;
    if (f >= 0)
        close(f);
    return is;
}

/* Whether the folder is the .git of top, or below it. */
static bool is_git_of(const char *top, const char *folder)
{
    const size_t n = strlen(top) - (top[1] == '\0');
    return strncmp(folder + n, "/.git", 5) == 0 && (!folder[n + 5] || folder[n + 5] == '/');
}

bool myth_ladder_top(char top[PATH_MAX], const char *real)
{
    snprintf(top, PATH_MAX, "%s", real);
    for (;;) {
        int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        bool is = fd >= 0 && myth_ladder_is_repository(fd);
        if (fd >= 0)
            close(fd);
        if (is)
            return !is_git_of(top, real);
        char *slash = strrchr(top, '/');
        if (!slash || strcmp(top, "/") == 0)
            return false;
        slash[slash == top] = 0;
    }
}

/* Sets top and prefix. */
static void find_top(myth_ladder *l, const char *real)
{
    l->is_repository = myth_ladder_top(l->top, real);
    if (!l->is_repository)
        snprintf(l->top, sizeof(l->top), "%s", real);
    size_t n = strcmp(l->top, "/") == 0 ? 0 : strlen(l->top);
    if (real[n] == '/' && real[n + 1])
        l->n_prefix = (size_t)snprintf(l->prefix, sizeof(l->prefix), "%s/", real + n + 1);
}

/* Copies to dst the path that follows `key` in a file, made absolute with `base`; dst stays as it is when there is
 * none. */
static myth_status read_path(char dst[PATH_MAX], myth_mem *mem, const char *file, const char *key, const char *base,
                             myth_error *err)
{
    char *text = NULL, found[PATH_MAX];
    size_t n, m = strlen(key);
    myth_status st = read_small(&text, &n, mem, AT_FDCWD, file, true);
    if (st == MYTH_EIO)
        return myth_fail(err, st, "%.160s: a pipe or a device where git keeps a file; remove it", file);
    if (st != MYTH_OK)
        return MYTH_OK;
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = 0;
    if (n > m && memcmp(text, key, m) == 0) {
        int len = text[m] == '/' ? snprintf(found, sizeof(found), "%s", text + m)
                                 : snprintf(found, sizeof(found), "%s/%s", base, text + m);
        if (len > 0 && (size_t)len < sizeof(found))
            memcpy(dst, found, (size_t)len + 1);
    }
    myth_free(mem, text);
    return MYTH_OK;
}

/* Finds the directory that git uses for this work tree: .git, or the folder that it names. */
static myth_status git_dir(char dst[PATH_MAX], const myth_ladder *l, myth_error *err)
{
    char path[PATH_MAX + 16];
    struct stat sb;
    snprintf(path, sizeof(path), "%s/.git", l->top);
    snprintf(dst, PATH_MAX, "%.*s", PATH_MAX - 1, path);
    return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) ? read_path(dst, l->mem, path, "gitdir: ", l->top, err)
                                                       : MYTH_OK;
}

/* Finds the directory with info/exclude and config: that of the work tree; for a linked work tree the folder that all
 * work trees share. */
static myth_status common_dir(char dst[PATH_MAX], const myth_ladder *l, myth_error *err)
{
    char path[PATH_MAX + 16], git[PATH_MAX];
    myth_status st = git_dir(git, l, err);
    snprintf(path, sizeof(path), "%.*s/commondir", PATH_MAX - 1, git);
    snprintf(dst, PATH_MAX, "%s", git);
    return st == MYTH_OK ? read_path(dst, l->mem, path, "", git, err) : st;
}

/* Whether a settings file may set core.excludesFile or core.ignorecase, itself or through an include. */
static bool has_settings(const char *path)
{
    static const struct {
        const char *word;
        size_t n;
    } words[] = {{"include", 7}, {"ignorecase", 10}, {"excludesfile", 12}};
    char part[4096 + 16]; /* the end of the previous read: a word may lie across two reads */
    size_t n, kept = 0;
    bool does = false;
    struct stat sb;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *f = fd >= 0 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !f)
        close(fd);
    while (f && !does && (n = fread(part + kept, 1, 4096, f)) > 0) {
        for (size_t i = 0; i < kept + n && !does; i++)
            for (size_t k = 0; k < 3 && !does; k++)
                does = i + words[k].n <= kept + n && strncasecmp(part + i, words[k].word, words[k].n) == 0;
        n += kept;
        kept = n < 11 ? n : 11;
        memmove(part, part + n - kept, kept);
    }
    if (f)
        fclose(f);
    return does;
}

/* libgit2 reads settings as git does, but starting it costs more than scanning a small tree, because it loads TLS
 * certificates. So it is used only where one of git's files may set what we ask for. */
static bool is_libgit2_asked(const char *local)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char path[2][PATH_MAX] = {"", ""};
    if (xdg && *xdg)
        snprintf(path[0], sizeof(path[0]), "%s/git/config", xdg);
    else if (home)
        snprintf(path[0], sizeof(path[0]), "%s/.config/git/config", home);
    if (home)
        snprintf(path[1], sizeof(path[1]), "%s/.gitconfig", home);
    return has_settings("/etc/gitconfig") || has_settings(path[0]) || has_settings(path[1]) || has_settings(local);
}

/* Reads core.ignorecase and core.excludesFile from the system's, the user's and the repository's settings, in git's
 * order; dst gets git's default when none names a file. *has_file false: there is no such file. */
static myth_status read_settings(char dst[PATH_MAX], bool *has_file, bool *ignore_case, myth_mem *mem,
                                 const char *common, myth_error *err)
{
    myth_status st;
    int is_folded = 0;
    git_config *config = NULL;
    git_buf buf = {0};
    char local[PATH_MAX + 16];
    bool has = false, is_asked;
    snprintf(local, sizeof(local), "%s/config", common);
    is_asked = is_libgit2_asked(local);
    if (is_asked && (st = myth_git_check_user(mem, err)) != MYTH_OK)
        return st;
    is_asked = is_asked && myth_git_start(NULL) == MYTH_OK;
    if (is_asked && git_config_new(&config) == 0) {
        const struct {
            int (*find)(git_buf *);
            git_config_level_t level;
        } place[] = {
            {git_config_find_system, GIT_CONFIG_LEVEL_SYSTEM},
            {git_config_find_xdg, GIT_CONFIG_LEVEL_XDG},
            {git_config_find_global, GIT_CONFIG_LEVEL_GLOBAL},
        };
        for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
            if (place[i].find(&buf) == 0)
                git_config_add_file_ondisk(config, buf.ptr, place[i].level, NULL, 0);
            git_buf_dispose(&buf);
        }
        git_config_add_file_ondisk(config, local, GIT_CONFIG_LEVEL_LOCAL, NULL, 0);
        if (git_config_get_path(&buf, config, "core.excludesfile") == 0 && buf.size < PATH_MAX) {
            memcpy(dst, buf.ptr, buf.size + 1);
            has = true;
        }
        *ignore_case = git_config_get_bool(&is_folded, config, "core.ignorecase") == 0 && is_folded;
        git_buf_dispose(&buf);
        git_config_free(config);
    }
    if (is_asked)
        myth_git_stop();
    if (has) {
        *has_file = dst[0] != 0;
        return MYTH_OK;
    }
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = xdg && *xdg ? snprintf(dst, PATH_MAX, "%s/git/ignore", xdg)
          : home        ? snprintf(dst, PATH_MAX, "%s/.config/git/ignore", home)
                        : -1;
    *has_file = n > 0 && n < PATH_MAX;
    return MYTH_OK;
}

myth_status myth_ladder_tracks(bool *is_tracked, myth_ladder *l, const char *path, bool is_dir, myth_error *err)
{
    char git[PATH_MAX];
    *is_tracked = false;
    if (!l->is_repository)
        return MYTH_OK;
    pthread_mutex_lock(&l->lock);
    if (!l->was_asked) {
        l->was_asked = true;
        l->untold.code = git_dir(git, l, &l->untold);
        if (l->untold.code == MYTH_OK)
            l->untold.code = myth_tracked_open(&l->tracked, l->mem, git, &l->untold);
    }
    pthread_mutex_unlock(&l->lock);
    if (!l->tracked)
        return myth_fail_as(err, &l->untold);
    /* a submodule is tracked itself, and is a folder */
    *is_tracked = myth_tracked_has(l->tracked, path) || (is_dir && myth_tracked_has_below(l->tracked, path));
    return MYTH_OK;
}

/* Reads git's settings, then the pattern files of every directory from the top to the one above the root. */
static myth_status open_repository(myth_ladder *l, myth_error *err)
{
    char common[PATH_MAX], path[PATH_MAX + 16];
    myth_status st = MYTH_OK;
    myth_ladder_part *p = add_part(l, l->frame, 0);
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for its patterns", l->top);
    l->frame = &p->frame;
    if (!l->no_ignore && l->is_repository) {
        if ((st = common_dir(common, l, err)) != MYTH_OK)
            return st;
        snprintf(path, sizeof(path), "%s/config", common);
        if ((st = myth_git_check_settings(l->mem, path, err)) != MYTH_OK)
            return st;
        bool has_file = false;
        if ((st = read_settings(path, &has_file, &l->ignore_case, l->mem, common, err)) != MYTH_OK)
            return st;
        if (has_file)
            st = add_list(l, p, MYTH_RUNG_GLOBAL, AT_FDCWD, path, path, true, err);
        snprintf(path, sizeof(path), "%s/info/exclude", common);
        if (st == MYTH_OK)
            st = add_list(l, p, MYTH_RUNG_EXCLUDE, AT_FDCWD, path, path, true, err);
        if (st != MYTH_OK)
            return st;
    }
    for (size_t n = 0; n < l->n_prefix; n += strcspn(l->prefix + n, "/") + 1) {
        char above[PATH_MAX];
        int not_read;
        snprintf(above, sizeof(above), "%.*s", (int)n, l->prefix);
        int top = open(l->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
            fd = top >= 0 ? openat(top, n ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        st = fd < 0 ? MYTH_OK : myth_ladder_enter(&l->frame, l, l->frame, fd, above, 15, &not_read, err);
        if (fd >= 0)
            close(fd);
        if (top >= 0)
            close(top);
        if (st == MYTH_OK && fd >= 0 && not_read)
            st = myth_fail(err, MYTH_ELIMIT,
                           "%.150s/%.60s: a file of patterns there is too large, has too many or is no file: not read",
                           l->top, above);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* ---- options ---- */

/* A caller's glob includes, and one with "!" excludes: the opposite of an ignore file, so the parsed patterns are
 * negated. */
static myth_status open_globs(myth_ladder *l, const char *const *globs, myth_error *err)
{
    size_t n = 0;
    char *text = NULL;
    myth_ignore_list *list = NULL;
    myth_ladder_part *p = add_part(l, NULL, l->n_prefix);
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "no room for the globs");
    myth_status st = myth_globs_write(&text, &n, l->mem, globs, err);
    if (st == MYTH_OK)
        st = myth_ignore_parse(&list, l->mem, "the globs", text, n, false, err);
    myth_free(l->mem, text);
    if (st != MYTH_OK)
        return st;
    for (uint32_t i = 0; i < list->n_pattern; i++) {
        l->has_include |= !list->pattern[i].is_negative;
        list->pattern[i].is_negative = !list->pattern[i].is_negative;
    }
    p->frame.list[MYTH_RUNG_OPTION] = l->option = list;
    l->frame = &p->frame;
    return MYTH_OK;
}

bool myth_ladder_is_named(const myth_ladder *l, const char *path)
{
    path += l->n_prefix;
    size_t n = strlen(path);
    for (uint32_t i = 0; l->option && i < l->option->n_pattern; i++) {
        const myth_ignore_pattern *q = &l->option->pattern[i];
        if (q->is_negative && q->n_plain > n && memcmp(q->text, path, n) == 0 && q->text[n] == '/')
            return true;
    }
    return false;
}

myth_status myth_ladder_open(myth_ladder *l, myth_mem *mem, const char *root, const char *const *globs, bool no_ignore,
                             myth_error *err)
{
    char real[PATH_MAX];
    struct stat sb;
    myth_status st = MYTH_OK;
    l->mem = mem;
    l->no_ignore = no_ignore;
    pthread_mutex_init(&l->lock, NULL);
    if (!realpath(root, real) || stat(real, &sb) != 0)
        return myth_fail(err, errno == ENOENT || errno == ENOTDIR ? MYTH_ENOTFOUND : MYTH_EIO, "%.160s: %s", root,
                         strerror(errno));
    if (!S_ISDIR(sb.st_mode))
        return myth_fail(err, MYTH_EARG, "%.160s is no directory; name the one it lies in", root);
    find_top(l, real);
    if (globs && globs[0])
        MYTH_TRY(open_globs(l, globs, err));
    MYTH_TRY(open_repository(l, err));
fail:
    return st;
}

void myth_ladder_close(myth_ladder *l)
{
    if (!l->mem)
        return;
    for (myth_ladder_part *p = l->part, *next; p; p = next) {
        next = p->next;
        for (int i = 0; i < MYTH_RUNG_N; i++)
            myth_ignore_free((myth_ignore_list *)p->frame.list[i], l->mem);
        myth_ignore_free((myth_ignore_list *)p->frame.attributes, l->mem);
        for (int i = 0; i <= MYTH_RUNG_N; i++)
            myth_free(l->mem, p->name[i]);
        myth_free(l->mem, p);
    }
    myth_tracked_close(l->tracked);
    pthread_mutex_destroy(&l->lock);
    *l = (myth_ladder){0};
}
