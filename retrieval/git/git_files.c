/* git_files.c - see git_files.h. */
#define _GNU_SOURCE
#include "git_files.h"
#include "engine/base/array.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    SETTINGS_BYTES = 1 << 20, /* most bytes of one settings file */
    SETTINGS_FILES = 200,     /* included files, counted each time they are included */
    INCLUDE_DEPTH = 10,       /* libgit2 refuses deeper includes */
    ALTERNATES = 64,          /* object stores, counted each time they are named */
    ALTERNATE_DEPTH = 5,      /* libgit2 reads no deeper alternates */
    LINKED_FOLDERS = 4096,    /* folders entered through links: two links to each other would never end */
    LINK_DEPTH = 2,           /* links on the way to a folder                         */
};

static myth_status no_file(const char *path, myth_error *err)
{
    return myth_fail(err, MYTH_EIO,
                     "%.150s: a pipe or a device where git keeps a file; such a repository is not read, remove it",
                     path);
}

bool myth_git_is_special(const struct stat *s)
{
    const bool is_null = S_ISCHR(s->st_mode) && s->st_rdev == makedev(1, 3);
    return !is_null && (S_ISFIFO(s->st_mode) || S_ISCHR(s->st_mode) || S_ISBLK(s->st_mode));
}

static myth_status check_path(const char *path, myth_error *err)
{
    struct stat info;
    return stat(path, &info) == 0 && myth_git_is_special(&info) ? no_file(path, err) : MYTH_OK;
}

/* Makes in dst the path of `name` relative to the folder of n_folder bytes; false when it is too long. */
static bool join(char dst[PATH_MAX], const char *folder, size_t n_folder, const char *name)
{
    while (n_folder > 1 && folder[n_folder - 1] == '/')
        n_folder--;
    const int n = name[0] == '/' ? snprintf(dst, PATH_MAX, "%s", name)
                                 : snprintf(dst, PATH_MAX, "%.*s/%s", (int)n_folder, folder, name);
    return n > 0 && n < PATH_MAX;
}

/* Reads a small file and adds a zero; *text is NULL when there is none that can be read. Free it by myth_free. */
static myth_status read_small(char **text, myth_mem *mem, const char *path, myth_error *err)
{
    struct stat info;
    myth_status st = MYTH_OK;
    size_t n = 0;
    *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return MYTH_OK;
    if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode))
        goto done;
    if (myth_git_is_special(&info))
        st = no_file(path, err);
    else if (info.st_size > SETTINGS_BYTES)
        st = myth_fail(err, MYTH_ELIMIT, "%.150s: %lld bytes, at most %d are read of git's settings", path,
                       (long long)info.st_size, SETTINGS_BYTES);
    else if (!(*text = myth_alloc(mem, MYTH_MEM_OTHER, "git files", (size_t)info.st_size + 1)))
        st = myth_fail(err, MYTH_ENOMEM, "%.150s: no room for %lld bytes", path, (long long)info.st_size);
    while (st == MYTH_OK && n < (size_t)info.st_size) {
        const ssize_t k = read(fd, *text + n, (size_t)info.st_size - n);
        if (k <= 0 && !(k < 0 && errno == EINTR))
            break;
        n += k > 0 ? (size_t)k : 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!(*text)[i])
            (*text)[i] = '\n'; /* libgit2 reads on after a zero */
done:
    close(fd);
    return st;
}

/* ---- folders that are still to be looked into ---- */

typedef struct {
    myth_mem *mem;
    char *text; /* for each folder the number of links on the way, its path, a zero */
    size_t n, cap;
    uint32_t n_linked;
} folders;

static myth_status push(folders *f, const char *path, unsigned char n_link, myth_error *err)
{
    const size_t n = strlen(path) + 2;
    if (n_link && f->n_linked++ >= LINKED_FOLDERS)
        return myth_fail(err, MYTH_ELIMIT, "%.150s: more than %d folders are reached through links", path,
                         LINKED_FOLDERS);
    if (!MYTH_ARRAY_MORE(f->mem, MYTH_MEM_OTHER, "git files", &f->text, f->n, n, &f->cap))
        return myth_fail(err, MYTH_ENOMEM, "%.150s: no room for the list of its folders", path);
    f->text[f->n] = (char)(n_link + 1); /* never a zero */
    memcpy(f->text + f->n + 1, path, n - 1);
    f->n += n;
    return MYTH_OK;
}

static bool pop(folders *f, char path[PATH_MAX], unsigned char *n_link)
{
    if (!f->n)
        return false;
    const char *end = f->n >= 2 ? memrchr(f->text, '\0', f->n - 1) : NULL;
    const size_t at = end ? (size_t)(end - f->text) + 1 : 0;
    *n_link = (unsigned char)(f->text[at] - 1);
    snprintf(path, PATH_MAX, "%s", f->text + at + 1);
    f->n = at;
    return true;
}

/* Whether the name is in `names`, a list that ends with NULL. */
static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* ---- a folder of git's own ---- */

/* Names in .git that libgit2 never reads. */
static const char *const not_read[] = {"hooks", "lfs", "modules", "worktrees", NULL};

static myth_status look_at_entry(folders *f, DIR *d, const struct dirent *e, const char *path, unsigned char n_link,
                                 myth_error *err)
{
    char name[PATH_MAX];
    struct stat info;
    unsigned char type = e->d_type;
    if (type == DT_REG || type == DT_SOCK || !join(name, path, strlen(path), e->d_name))
        return MYTH_OK;
    if (type == DT_DIR)
        return push(f, name, n_link, err);
    if (fstatat(dirfd(d), e->d_name, &info, 0) != 0)
        return MYTH_OK; /* a link to nowhere */
    if (myth_git_is_special(&info))
        return no_file(name, err);
    const bool is_link = type == DT_LNK || (fstatat(dirfd(d), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                                            S_ISLNK(info.st_mode) && fstatat(dirfd(d), e->d_name, &info, 0) == 0);
    if (!S_ISDIR(info.st_mode) || (is_link && n_link == LINK_DEPTH))
        return MYTH_OK;
    return push(f, name, (unsigned char)(n_link + is_link), err);
}

/* Checks everything below the folder `top`, except names in `skipped`. */
static myth_status check_tree(folders *f, const char *top, const char *const *skipped, myth_error *err)
{
    char path[PATH_MAX];
    unsigned char n_link;
    f->n = 0;
    myth_status st = push(f, top, 0, err);
    for (bool is_top = true; st == MYTH_OK && pop(f, path, &n_link); is_top = false) {
        DIR *d = opendir(path);
        for (const struct dirent *e; d && st == MYTH_OK && (e = readdir(d)) != NULL;)
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                !(is_top && is_one_of(e->d_name, skipped)))
                st = look_at_entry(f, d, e, path, n_link, err);
        if (d)
            closedir(d);
    }
    return st;
}

/* Checks the object stores that `objects` names as alternates, and those that they name. */
static myth_status check_alternates(folders *f, const char *objects, int depth, int *n, myth_error *err)
{
    static const char *const none[] = {NULL};
    char path[PATH_MAX], *text = NULL, *rest;
    if (depth > ALTERNATE_DEPTH || !join(path, objects, strlen(objects), "info/alternates"))
        return MYTH_OK;
    myth_status st = read_small(&text, f->mem, path, err);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && st == MYTH_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "\r")] = '\0';
        if (line[0] == '#' || !line[0] || !join(path, objects, strlen(objects), line))
            continue;
        if (++*n > ALTERNATES)
            st = myth_fail(err, MYTH_ELIMIT, "%.150s: more than %d stores of objects are named", objects, ALTERNATES);
        else if ((st = check_tree(f, path, none, err)) == MYTH_OK)
            st = check_alternates(f, path, depth + 1, n, err);
    }
    myth_free(f->mem, text);
    return st;
}

/* ---- settings ---- */

/* Parses a value as git does, with quotes, escapes, comments and continued lines. Returns its end; dst is empty when
 * the value is longer than a path. */
static const char *read_value(char dst[PATH_MAX], const char *s)
{
    size_t n = 0, n_kept = 0; /* n_kept: without unquoted spaces at the end */
    bool is_quoted = false, is_long = false;
    while (*s == ' ' || *s == '\t')
        s++;
    for (; *s && *s != '\n'; s++) {
        char c = *s;
        if (c == '"') {
            is_quoted = !is_quoted;
            n_kept = n;
            continue;
        }
        if (!is_quoted && (c == '#' || c == ';')) {
            s += strcspn(s, "\n");
            break;
        }
        bool is_escaped = false;
        if (c == '\\') {
            if (s[1] == '\r' && s[2] == '\n')
                s++;
            if (s[1] == '\n') {
                s++;
                continue;
            }
            if (!s[1])
                break;
            c = *++s;
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
            is_escaped = true;
        }
        is_long |= n + 1 >= PATH_MAX;
        if (is_long)
            continue;
        dst[n++] = c;
        if (is_quoted || is_escaped || !isspace((unsigned char)c))
            n_kept = n;
    }
    dst[is_long ? 0 : n_kept] = '\0';
    return s;
}

static myth_status check_settings(myth_mem *mem, const char *path, int depth, int *n_file, myth_error *err);

/* Reads the value of `key` in `section` of the file `path`. */
static myth_status check_setting(myth_mem *mem, const char *path, const char *section, const char *key,
                                 const char *value, int depth, int *n_file, myth_error *err)
{
    char home[PATH_MAX], full[PATH_MAX];
    const char *env = getenv("HOME"), *slash = strrchr(path, '/');
    const bool is_include = strncasecmp(section, "include", 7) == 0 && strcasecmp(key, "path") == 0;
    if (!value[0] || (!is_include && strcasecmp(key, "attributesfile") != 0 && strcasecmp(key, "excludesfile") != 0))
        return MYTH_OK;
    if (value[0] == '~' && value[1] == '/' && env) {
        if (!join(home, env, strlen(env), value + 2))
            return MYTH_OK;
        value = home;
    }
    if (!join(full, slash ? path : ".", slash ? (size_t)(slash - path) : 1, value))
        return MYTH_OK;
    return is_include ? check_settings(mem, full, depth + 1, n_file, err) : check_path(full, err);
}

static myth_status check_settings(myth_mem *mem, const char *path, int depth, int *n_file, myth_error *err)
{
    char *text = NULL, section[32] = "", key[32], value[PATH_MAX];
    if (depth > INCLUDE_DEPTH)
        return MYTH_OK;
    if (++*n_file > SETTINGS_FILES)
        return myth_fail(err, MYTH_ELIMIT, "%.150s: more than %d files of git's settings are included", path,
                         SETTINGS_FILES);
    myth_status st = read_small(&text, mem, path, err);
    for (const char *s = text; s && *s && st == MYTH_OK;) {
        s += strspn(s, " \t\r\n\xef\xbb\xbf"); /* skips a byte order mark, which occurs only at the beginning */
        if (*s == '[') {
            const size_t n = strcspn(++s, " \t\".]\n");
            snprintf(section, sizeof(section), "%.*s", n < 31 ? (int)n : 31, s);
            for (bool is_quoted = false; *s && *s != '\n' && (*s != ']' || is_quoted); s++) {
                is_quoted ^= *s == '"';
                s += *s == '\\' && s[1] && s[1] != '\n';
            }
            s += *s == ']';
        } else if (isalpha((unsigned char)*s)) {
            size_t n = 0;
            for (; isalnum((unsigned char)*s) || *s == '-'; s++)
                if (n + 1 < sizeof(key))
                    key[n++] = *s;
            key[n] = '\0';
            s += strspn(s, " \t");
            value[0] = '\0';
            if (*s == '=')
                s = read_value(value, s + 1);
            st = check_setting(mem, path, section, key, value, depth, n_file, err);
        } else {
            s += strcspn(s, "\n");
        }
    }
    myth_free(mem, text);
    return st;
}

myth_status myth_git_check_settings(myth_mem *mem, const char *path, myth_error *err)
{
    int n_file = 0;
    return check_settings(mem, path, 0, &n_file, err);
}

myth_status myth_git_check_user(myth_mem *mem, myth_error *err)
{
    const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
    char path[PATH_MAX];
    myth_status st = myth_git_check_settings(mem, "/etc/gitconfig", err);
    if (st == MYTH_OK && xdg && xdg[0] && join(path, xdg, strlen(xdg), "git/config"))
        st = myth_git_check_settings(mem, path, err);
    if (st == MYTH_OK && home && join(path, home, strlen(home), ".config/git/config"))
        st = myth_git_check_settings(mem, path, err);
    if (st == MYTH_OK && home && join(path, home, strlen(home), ".gitconfig"))
        st = myth_git_check_settings(mem, path, err);
    return st;
}

/* ---- a repository ---- */

/* Reads the path after `key` in a file of one line and makes it absolute with `base`; false when there is none. */
static myth_status read_path(char dst[PATH_MAX], bool *has, myth_mem *mem, const char *file, const char *key,
                             const char *base, myth_error *err)
{
    char *text = NULL;
    const size_t n_key = strlen(key);
    myth_status st = read_small(&text, mem, file, err);
    *has = text && strncmp(text, key, n_key) == 0;
    if (*has) {
        text[strcspn(text, "\r\n")] = '\0';
        *has = text[n_key] && join(dst, base, strlen(base), text + n_key);
    }
    myth_free(mem, text);
    return st;
}

/* Checks the folder `git`: one that has HEAD, or the one that a linked work tree shares. */
static myth_status check_folder(folders *f, const char *git, myth_error *err)
{
    static const char *const settings[] = {"config", "config.worktree"};
    char path[PATH_MAX];
    int n = 0;
    myth_status st = check_tree(f, git, not_read, err);
    for (int i = 0; i < 2 && st == MYTH_OK; i++)
        if (join(path, git, strlen(git), settings[i]))
            st = myth_git_check_settings(f->mem, path, err);
    if (st == MYTH_OK && join(path, git, strlen(git), "objects"))
        st = check_alternates(f, path, 0, &n, err);
    return st;
}

static myth_status check_git(folders *f, const char *git, myth_error *err)
{
    char path[PATH_MAX], common[PATH_MAX];
    bool has = false;
    myth_status st = check_folder(f, git, err);
    if (st == MYTH_OK && join(path, git, strlen(git), "commondir"))
        st = read_path(common, &has, f->mem, path, "", git, err);
    return st == MYTH_OK && has ? check_folder(f, common, err) : st;
}

/* Checks .git in the folder `dir`: a folder, or a file that names one. */
static myth_status check_dot_git(folders *f, const char *dir, myth_error *err)
{
    char path[PATH_MAX], git[PATH_MAX];
    struct stat info;
    bool has = false;
    if (!join(path, dir, strlen(dir), ".git") || stat(path, &info) != 0)
        return MYTH_OK;
    if (myth_git_is_special(&info))
        return no_file(path, err);
    if (S_ISDIR(info.st_mode))
        return check_git(f, path, err);
    myth_status st = read_path(git, &has, f->mem, path, "gitdir: ", dir, err);
    return st == MYTH_OK && has ? check_git(f, git, err) : st;
}

/* A bare repository is itself what .git is in others. */
static bool is_bare(const char *dir)
{
    static const char *const parts[] = {"HEAD", "objects", "refs"};
    char path[PATH_MAX];
    bool is = true;
    for (int i = 0; i < 3; i++)
        is = is && join(path, dir, strlen(dir), parts[i]) && access(path, F_OK) == 0;
    return is;
}

myth_status myth_git_check(myth_mem *mem, const char *root, myth_error *err)
{
    char dir[PATH_MAX];
    folders f = {.mem = mem};
    myth_status st = myth_git_check_user(mem, err);
    if (st != MYTH_OK || !realpath(root, dir))
        return st; /* libgit2 reports why there is no such folder */
    for (;;) {
        MYTH_TRY(check_dot_git(&f, dir, err));
        if (is_bare(dir))
            MYTH_TRY(check_git(&f, dir, err));
        char *slash = strrchr(dir, '/');
        if (!slash || !slash[1])
            break;
        slash[slash == dir] = '\0';
    }
fail:
    myth_free(mem, f.text);
    return st;
}

myth_status myth_git_check_worktree(myth_mem *mem, const char *top, myth_error *err)
{
    static const char *const read[] = {".gitattributes", ".gitignore", ".gitmodules", NULL};
    char path[PATH_MAX], name[PATH_MAX];
    unsigned char n_link;
    folders f = {.mem = mem};
    myth_status st = push(&f, top, 0, err);
    while (st == MYTH_OK && pop(&f, path, &n_link)) {
        DIR *d = opendir(path);
        for (const struct dirent *e; d && st == MYTH_OK && (e = readdir(d)) != NULL;) {
            const bool is_read = e->d_type != DT_REG && is_one_of(e->d_name, read);
            struct stat info;
            const bool is_folder =
                e->d_type == DT_DIR ||
                (e->d_type == DT_UNKNOWN && fstatat(dirfd(d), e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISDIR(info.st_mode));
            if ((!is_read && !is_folder) || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                strcmp(e->d_name, ".git") == 0 || !join(name, path, strlen(path), e->d_name))
                continue;
            st = is_read ? check_path(name, err) : push(&f, name, 0, err);
        }
        if (d)
            closedir(d);
    }
    myth_free(mem, f.text);
    return st;
}
