/* unseen.c - says what an answer does not cover although it is below the root. */
#include "unseen.h"

#include <string.h>

myth_status myth_unseen_note_unparsed(myth_reply *a, uint64_t *n, myth_index *x, myth_error *err)
{
    char line[160];
    uint64_t n_file;
    const myth_status st = myth_cli_unparsed(line, &n_file, x, err);
    if (line[0])
        myth_reply_note(a, true, "%s", line);
    if (n)
        *n = n_file;
    return st;
}

static const struct {
    myth_scan_reason reason;
    const char *one, *many; /* said of them */
    bool is_named;          /* with the path of the first */
} left_out[] = {
    {MYTH_SCAN_BORDER, "repository of its own", "repositories of their own", true},
    {MYTH_SCAN_SKIPPED_DIR, "folder that tools fill", "folders that tools fill", true},
    {MYTH_SCAN_HIDDEN, "hidden", "hidden", false},
    {MYTH_SCAN_IGNORED, "ignored", "ignored", false},
};
enum { N_LEFT_OUT = sizeof(left_out) / sizeof(left_out[0]) };

/* Counts what is out for the reason, without git's own folders; *first: the path of the first. */
static uint64_t count_out(const char **first, const myth_scan_list *list, myth_scan_reason reason)
{
    uint64_t n = 0;
    *first = "";
    for (uint32_t i = 0; i < list->n_file; i++) {
        const myth_scan_file *f = &list->file[i];
        const char *slash = strrchr(f->path, '/');
        if (f->reason == reason && strcmp(slash ? slash + 1 : f->path, ".git") != 0 && n++ == 0)
            *first = f->path;
    }
    return n;
}

myth_status myth_unseen_note_scan(myth_reply *a, const myth_tools *t, myth_error *err)
{
    myth_scan_list list = {0};
    char line[MYTH_REPLY_NOTE_BYTES] = "";
    size_t n = 0;
    const myth_scan_opts so = {.root = t->dir,
                               .explain = true,
                               .names_only = true,
                               .n_threads = t->cli->global->n_threads,
                               .is_cancelled = t->cli->cancel};
    const myth_status st = myth_scan(&list, t->cli->mem, &so, err);
    for (int i = 0; st == MYTH_OK && i < N_LEFT_OUT; i++) {
        const char *first, *path;
        const uint64_t count = count_out(&first, &list, left_out[i].reason);
        path = left_out[i].is_named ? first : "";
        if (count && n < sizeof(line))
            n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%llu %s%s%.30s%s", n ? ", " : "",
                                  (unsigned long long)count, count == 1 ? left_out[i].one : left_out[i].many,
                                  path[0] ? " (" : "", path, path[0] ? ")" : "");
    }
    if (line[0])
        myth_reply_note(a, false, "not searched, since the scan leaves it out: %.110s", line);
    myth_scan_close(&list, t->cli->mem);
    return st;
}
