/* open_index.c - see open_index.h. */
#include "open_index.h"

#include <limits.h>

static void on_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes, uint64_t n_file)
{
    (void)n_file;
    myth_term_progress(arg, "index, KiB", done_bytes >> 10, all_bytes >> 10);
}

myth_status myth_cli_index(myth_index **out, myth_cli *cli, myth_mem *mem, const char *dir, myth_error *err)
{
    char self[PATH_MAX];
    myth_index_stats stats;
    myth_index_opts io = {
        .root = dir,
        .worker_path = myth_cli_self(self, sizeof(self)) ? self : NULL,
        .n_threads = cli->global->n_threads,
    };
    myth_index_update_opts uo = {
        .progress = cli->term->has_progress ? on_progress : NULL,
        .progress_arg = cli->term,
        .is_cancelled = cli->cancel,
    };
    *out = NULL;
    myth_status st = myth_index_open(out, mem, &io, err);
    if (st == MYTH_OK)
        st = myth_index_update(*out, &uo, &stats, err);
    myth_term_progress_end(cli->term);
    if (st != MYTH_OK) {
        myth_index_close(*out);
        *out = NULL;
    }
    return st;
}
