/* open_index.c - opens and updates an index, and prints its notes. */
#include "open_index.h"

#include "engine/base/program.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/hints.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes, uint64_t n_file)
{
    (void)n_file;
    myth_term_progress(arg, "index, KiB", done_bytes >> 10, all_bytes >> 10);
}

enum { LISTED_MAX = 5 };

typedef struct {
    myth_cli *cli;
    myth_missed_list *rows; /* may be NULL */
    myth_status st;         /* of making the rows */
    myth_error err;
} listener;

/* An update that finds its index damaged starts again and tells of every place a second time. */
static bool is_listed(const myth_missed_list *rows, const char *path)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (strcmp(rows->row[i].path, path) == 0)
            return true;
    return false;
}

static myth_status list(myth_missed_list *rows, const char *path, const char *why, myth_error *err)
{
    char text[160];
    if (rows->n > MYTH_UNREAD_ROWS || is_listed(rows, path))
        return MYTH_OK;
    if (rows->n == MYTH_UNREAD_ROWS)
        return myth_missed_add(rows, ".", 0, 0, "more could not be read in it; mythos index --json lists all", err);
    snprintf(text, sizeof(text), "it could not be read: %.80s; it may hold what was asked for", why);
    return myth_missed_add(rows, path, 0, 0, text, err);
}

static void on_unread(void *arg, const char *path, myth_scan_reason reason, const char *why)
{
    listener *l = arg;
    myth_error line; /* myth_fail makes the path safe to print, whatever bytes it has */
    if (reason != MYTH_SCAN_UNREADABLE)
        return;
    why = why ? why : "it changed";
    if (l->rows && l->st == MYTH_OK)
        l->st = list(l->rows, path, why, &l->err);
    if (l->cli->n_unread++ >= LISTED_MAX)
        return;
    myth_fail(&line, MYTH_EIO, "%.160s: could not be read: %s", path, why);
    myth_term_note(l->cli->term, "%s", line.msg);
}

int myth_cli_answered(const myth_cli *cli, int code)
{
    return cli->n_unread && (code == MYTH_EXIT_CLEAN || code == MYTH_EXIT_FINDINGS) ? MYTH_EXIT_INCOMPLETE : code;
}

myth_status myth_cli_index_update(myth_index *x, myth_cli *cli, myth_missed_list *unread, myth_error *err)
{
    listener l = {.cli = cli, .rows = unread};
    myth_index_stats stats;
    myth_index_update_opts uo = {
        .progress = cli->term->has_progress || cli->term->told ? on_progress : NULL,
        .progress_arg = cli->term,
        .is_cancelled = cli->cancel,
        .unread = on_unread,
        .unread_arg = &l,
    };
    myth_status st = myth_index_update(x, &uo, &stats, err);
    if (st == MYTH_OK && l.st != MYTH_OK)
        st = myth_fail_as(err, &l.err);
    myth_term_progress_end(cli->term);
    if (cli->n_unread > LISTED_MAX)
        myth_term_note(cli->term, "%llu more could not be read; mythos index --json lists them",
                       (unsigned long long)(cli->n_unread - LISTED_MAX));
    if (st == MYTH_OK && stats.rebuilt[0])
        myth_term_note(cli->term, "the index was rebuilt: %s", stats.rebuilt);
    return st;
}

myth_status myth_cli_index_in(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, const char *cache_dir,
                              myth_missed_list *unread, myth_error *err)
{
    char self[PATH_MAX];
    myth_index_opts io = {
        .root = dir,
        .cache_dir = cache_dir,
        .worker_path = myth_program_start(self, sizeof(self)) ? self : NULL,
        .n_threads = cli->global->n_threads,
    };
    *out = NULL;
    myth_status st = myth_hint_check_dir(dir, err);
    if (st == MYTH_OK)
        st = myth_index_open(out, mem, &io, err);
    if (st == MYTH_OK)
        st = myth_cli_index_update(*out, cli, unread, err);
    if (st != MYTH_OK) {
        myth_index_close(*out);
        *out = NULL;
    }
    return st;
}

myth_status myth_cli_index(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, myth_missed_list *unread,
                           myth_error *err)
{
    return myth_cli_index_in(out, cli, mem, dir, myth_env_cache_dir(), unread, err);
}

bool myth_cli_says_first(const myth_index *x, const char *name)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s.said-%s", myth_index_path(x), name) >= sizeof(path))
        return true;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno != EEXIST;
    close(fd);
    return true;
}

myth_status myth_cli_unparsed(char line[160], uint64_t *n, myth_index *x, myth_error *err)
{
    myth_index_unparsed u;
    myth_error safe; /* myth_fail makes the text safe to print */
    const myth_status st = myth_index_find_unparsed(&u, x, err);
    line[0] = '\0';
    *n = u.n;
    if (st != MYTH_OK || u.n == 0)
        return st;
    if (u.n == 1)
        myth_fail(&safe, MYTH_ELIMIT, "%.50s was not read for definitions (%.80s)", u.path, u.note);
    else
        myth_fail(&safe, MYTH_ELIMIT, "%llu files were not read for definitions, the first %.30s (%.70s)",
                  (unsigned long long)u.n, u.path, u.note);
    snprintf(line, 160, "%.159s", safe.msg);
    return MYTH_OK;
}

myth_status myth_cli_note_unparsed(uint64_t *n, myth_cli *cli, myth_index *x, myth_error *err)
{
    char line[160];
    uint64_t n_file;
    const myth_status st = myth_cli_unparsed(line, &n_file, x, err);
    if (line[0])
        myth_term_note(cli->term, "%s", line);
    if (n)
        *n = n_file;
    return st;
}
