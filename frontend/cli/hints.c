/* hints.c - looks around the place of a mistake for what was meant. */
#include "hints.h"

#include "engine/base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_MAX = 4096 }; /* a folder with more names is not searched to its end */

/* Writes the folder that has the path, "." for a bare name; "" when it does not fit. */
static void folder_of(char dst[PATH_MAX], const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n >= PATH_MAX)
        n = 0;
    else if (n == 0)
        path = ".", n = 1;
    memcpy(dst, path, n);
    dst[n] = '\0';
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The name in `folder` that is most like `name`; false when none is. */
static bool similar_name(char dst[NAME_MAX + 1], const char *folder, const char *name)
{
    DIR *d = opendir(folder);
    bool found = false;
    const struct dirent *e;
    for (int i = 0; d && i < NAMES_MAX && (e = readdir(d)) != NULL; i++) {
        /* The best so far is asked together with the next one, so that the better of the two stays. */
        const char *const pair[] = {e->d_name, dst};
        if (e->d_name[0] == '.' && name[0] != '.')
            continue;
        const char *best = myth_args_nearest(name, pair, found ? 2 : 1);
        if (best && best != dst) {
            snprintf(dst, NAME_MAX + 1, "%s", e->d_name);
            found = true;
        }
    }
    if (d)
        closedir(d);
    return found;
}

void myth_hint_missing(char *dst, size_t cap, const char *path)
{
    char folder[PATH_MAX], like[NAME_MAX + 1];
    struct stat st;
    dst[0] = '\0';
    folder_of(folder, path);
    if (!path[0]) {
        snprintf(dst, cap, "; the name is empty");
    } else if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
        snprintf(dst, cap, "; %.100s is a file, not a folder", folder);
    } else if (!is_folder(folder)) {
        snprintf(dst, cap, "; there is no folder %.100s", folder);
    } else {
        const char *name = path + strlen(path);
        while (name > path && name[-1] != '/')
            name--;
        if (*name && similar_name(like, folder, name))
            snprintf(dst, cap, "; did you mean %.*s%.80s?", (int)(name - path), path, like);
        else if (strcmp(folder, ".") == 0)
            snprintf(dst, cap, "; a path is taken from the current directory, which has no such name");
        else
            snprintf(dst, cap, "; the folder %.100s has no such name", folder);
    }
}

myth_status myth_hint_check_dir(const char *dir, myth_error *err)
{
    char hint[256], folder[PATH_MAX];
    struct stat st;
    if (!dir[0])
        return myth_fail(err, MYTH_EARG, "the directory is an empty text; leave it out for the current directory");
    if (stat(dir, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return MYTH_OK;
        folder_of(folder, dir);
        return myth_fail(err, MYTH_EARG, "%.120s is no directory; name the one it lies in: -C %.80s", dir, folder);
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return myth_fail(err, MYTH_EIO, "%.160s: the directory cannot be opened: %s", dir, strerror(errno));
    myth_hint_missing(hint, sizeof(hint), dir);
    return myth_fail(err, MYTH_ENOTFOUND, "%.120s: no such directory%s", dir, hint);
}

/* Begins the file that the run will begin again, and removes it: only that says whether the system lets it be made (a
 * file system may be read-only or have no such thing as new files, whatever the folder's permissions are). */
static myth_status try_output(const char *flag, const char *path, myth_error *err)
{
    myth_out o;
    myth_error own;
    if (myth_out_open(&o, path, MYTH_OUT_SHARED, &own) != MYTH_OK)
        return myth_fail(err, MYTH_ECREATE, "%s %.200s; name another place", flag, own.msg);
    myth_out_abandon(&o);
    return MYTH_OK;
}

static myth_status check_output(const char *flag, const char *path, bool is_file, myth_error *err)
{
    char folder[PATH_MAX];
    struct stat st;
    if (!path)
        return MYTH_OK;
    if (!path[0])
        return myth_fail(err, MYTH_ECREATE, "%s: the name of the file is empty", flag);
    if (is_file && strcmp(path, "-") == 0)
        return myth_fail(err, MYTH_ECREATE, "%s -: it cannot be standard output; name a file", flag);
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return myth_fail(err, MYTH_ECREATE, "%s %.120s: is a directory; name a file in it", flag, path);
        if (is_file && !S_ISREG(st.st_mode))
            return myth_fail(err, MYTH_ECREATE, "%s %.120s: is no regular file; name one", flag, path);
        if (S_ISREG(st.st_mode))
            return try_output(flag, path, err);
        return access(path, W_OK) == 0
                 ? MYTH_OK
                 : myth_fail(err, MYTH_ECREATE, "%s %.120s: cannot be written: %s", flag, path, strerror(errno));
    }
    folder_of(folder, path);
    if (stat(folder, &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return myth_fail(err, MYTH_ECREATE, "%s %.100s: there is no folder %.80s; make it first", flag, path, folder);
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        return myth_fail(err, MYTH_ECREATE, "%s %.100s: %.80s is a file, not a folder", flag, path, folder);
    if (access(folder, W_OK) != 0)
        return myth_fail(err, MYTH_ECREATE, "%s %.100s: nothing can be made in %.80s: %s", flag, path, folder,
                         strerror(errno));
    return try_output(flag, path, err);
}

myth_status myth_hint_check_output(const char *flag, const char *path, myth_error *err)
{
    return check_output(flag, path, false, err);
}

myth_status myth_hint_check_file(const char *flag, const char *path, myth_error *err)
{
    return check_output(flag, path, true, err);
}

bool myth_hint_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(x.st_mode) && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *myth_hint_command_of(const char *word, size_t len)
{
    for (int i = 0; myth_commands[i]; i++)
        for (size_t g = 0; g < myth_commands[i]->n_group; g++)
            for (size_t k = 0; k < myth_commands[i]->group[g].n_opt; k++)
                if (myth_args_spells(&myth_commands[i]->group[g].opt[k], word, len))
                    return myth_commands[i]->name;
    return NULL;
}

const char *myth_hint_command_like(const char *word)
{
    const char *name[64];
    size_t n = 0;
    for (; n < sizeof(name) / sizeof(name[0]) && myth_commands[n]; n++)
        name[n] = myth_commands[n]->name;
    return myth_args_nearest(word, name, n);
}
