/* hints.c - looks around the place of a mistake for what was meant. */
#include "hints.h"

#include "engine/base/outfile.h"
#include "engine/base/text.h"

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
    char folder[PATH_MAX], like[NAME_MAX + 1], target[PATH_MAX];
    const ssize_t n_target = readlink(path, target, sizeof(target) - 1);
    struct stat st;
    dst[0] = '\0';
    folder_of(folder, path);
    if (!path[0]) {
        snprintf(dst, cap, "; the name is empty");
    } else if (n_target > 0) {
        target[n_target] = '\0';
        snprintf(dst, cap, "; it is a symbolic link to %.120s, which is not there", target);
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

/* ---- what is written, and what is read ---- */

static bool is_same(const struct stat *x, const struct stat *y)
{
    return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

bool myth_hint_is_same_file(const char *a, const char *b)
{
    char of_a[PATH_MAX], of_b[PATH_MAX];
    struct stat x, y;
    const bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a || has_b)
        return has_a && has_b && S_ISREG(x.st_mode) && is_same(&x, &y);
    folder_of(of_a, a);
    folder_of(of_b, b);
    return strcmp(myth_base_name(a), myth_base_name(b)) == 0 &&
           (strcmp(of_a, of_b) == 0 || (stat(of_a, &x) == 0 && stat(of_b, &y) == 0 && is_same(&x, &y)));
}

/* The text number k that an option was given; NULL behind the last. */
static const char *text_of(const myth_opt_slot *s, int k)
{
    const myth_opt_list *list = s->field;
    if (s->opt->kind == MYTH_OPT_LIST)
        return k < list->n ? list->item[k] : NULL;
    return k == 0 && myth_args_is_text(s->opt) ? *(const char **)s->field : NULL;
}

/* The file number k that an option writes; NULL behind the last. */
static const char *written_by(const myth_opt_slot *s, int k)
{
    const char *text = text_of(s, k);
    const bool has_form = s->opt->kind == MYTH_OPT_LIST && s->opt->value && strcmp(s->opt->value, "FORM=PATH") == 0;
    if (text && has_form)
        return strchr(text, '=') ? strchr(text, '=') + 1 : text;
    return s->opt->kind == MYTH_OPT_OUT ? text : NULL;
}

/* The same of the files that it reads. */
static const char *read_by(const myth_opt_slot *s, int k)
{
    const char *value = s->opt->value ? s->opt->value : "";
    const bool is_file = strncmp(value, "FILE", 4) == 0 || strcmp(value, "MODEL") == 0 || strcmp(value, "M") == 0;
    return is_file && s->opt->kind != MYTH_OPT_OUT ? text_of(s, k) : NULL;
}

/* "-o", else "--report". */
static const char *flag_of(char dst[48], const myth_option *o)
{
    const size_t n = o->also ? strcspn(o->also, ", ") : 0;
    if (n && n < 48)
        snprintf(dst, 48, "%.*s", (int)n, o->also);
    else
        snprintf(dst, 48, "--%.40s", o->name);
    return dst;
}

typedef bool same_as(const void *input, const char *output);

static bool is_path(const void *input, const char *output) { return myth_hint_is_same_file(input, output); }

static bool is_file_of(const void *input, const char *output)
{
    struct stat own;
    return stat(output, &own) == 0 && is_same(input, &own);
}

/* Fails for an output that is the input, as `same` has it; name: of the input. */
static myth_status keep_apart(const myth_cli *cli, same_as *same, const void *input, const char *name, myth_error *err)
{
    char flag[48];
    for (int i = 0; cli->parsed && i < cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &cli->parsed->slot[i];
        const char *out;
        for (int k = 0; (out = written_by(s, k)) != NULL; k++)
            if (same(input, out))
                return myth_fail(err, MYTH_EARG, "%s %.120s: would overwrite %.120s, which is read; give another file",
                                 flag_of(flag, s->opt), out, name);
    }
    return MYTH_OK;
}

myth_status myth_hint_check_input(const myth_cli *cli, const char *path, myth_error *err)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? keep_apart(cli, is_path, path, path, err) : MYTH_OK;
}

/* Fails for an output behind number k of slot i that is the same file. */
static myth_status check_others(const myth_cli *cli, int i, int k, myth_error *err)
{
    const myth_opt_slot *s = cli->parsed->slot;
    const myth_option *first = s[i].opt;
    const char *own = written_by(&s[i], k), *out;
    char flag[48], other[48];
    for (int at = k + 1; i < cli->parsed->n_slot; i++, at = 0)
        for (; (out = written_by(&s[i], at)) != NULL; at++)
            if (myth_hint_is_same_file(own, out))
                return s[i].opt == first
                         ? myth_fail(err, MYTH_EARG, "%s: %.160s is named twice; give each a file of its own",
                                     flag_of(flag, first), own)
                         : myth_fail(err, MYTH_EARG, "%s and %s name one file, %.160s; give each a file of its own",
                                     flag_of(flag, first), flag_of(other, s[i].opt), own);
    return MYTH_OK;
}

myth_status myth_hint_check_apart(const myth_cli *cli, myth_error *err)
{
    struct stat in;
    const char *path;
    myth_status st = MYTH_OK;
    for (int i = 0; cli->parsed && i < cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &cli->parsed->slot[i];
        for (int k = 0; (path = written_by(s, k)) != NULL; k++)
            MYTH_TRY(check_others(cli, i, k, err));
        for (int k = 0; (path = read_by(s, k)) != NULL; k++)
            MYTH_TRY(myth_hint_check_input(cli, path, err));
    }
    for (int i = 0; i < cli->n_arg && strncmp(cli->command->args, "QU", 2) != 0; i++) /* a query is no file */
        MYTH_TRY(myth_hint_check_input(cli, cli->arg[i], err));
    if (fstat(STDIN_FILENO, &in) == 0 && S_ISREG(in.st_mode))
        MYTH_TRY(keep_apart(cli, is_file_of, &in, "the standard input", err));
fail:
    return st;
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
    const char *near = myth_args_nearest(word, name, n);
    for (size_t i = 0; i < n && !near; i++) {
        const char *part = strchr(name[i], '-');
        near = part && strcmp(part + 1, word) == 0 ? name[i] : NULL;
    }
    return near;
}
