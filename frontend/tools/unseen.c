/* unseen.c - says what an answer does not cover although it is below the root. */
#include "unseen.h"
#include "frontend/common/unsearched.h"

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

myth_status myth_unseen_note_scan(myth_reply *a, const myth_tools *t, const char *const *globs, const uint64_t *n_out,
                                  myth_error *err)
{
    char line[200];
    myth_unsearched l = {.n = {0}};
    const myth_scan_opts so = {
        .root = t->dir,
        .globs = globs,
        .n_threads = t->cli->global->n_threads,
        .is_cancelled = t->cli->cancel,
    };
    const myth_status st = myth_unsearched_add(&l, t->cli, &so, err);
    for (int i = 0; i < MYTH_SCAN_REASON_N && n_out; i++)
        l.n[i] += n_out[i];
    myth_unsearched_say(&l, line, sizeof(line));
    if (line[0] && st == MYTH_OK)
        myth_reply_note(a, false, "not searched, since the scan leaves it out: %s", line);
    return st;
}
