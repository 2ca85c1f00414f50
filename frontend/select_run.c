/* select_run.c - see select_run.h. */
#include "select_run.h"

#include <limits.h>

static void on_search(void *user, const myth_search_opts *asked, const myth_hits *hits, const uint32_t *order, uint32_t n_taken)
{
    const myth_select_run *r = user;
    myth_runlog_search(r->log, r->index, asked, hits, order, n_taken);
}

myth_status myth_select_run_open(myth_select_run *r, myth_cli *cli, const char *dir, const myth_revision_opts *rev, myth_error *err)
{
    char self[PATH_MAX];
    myth_revision_opts ro = *rev;
    myth_status st;
    ro.root = dir;
    MYTH_TRY(myth_mem_open(&r->mem, 0, err));
    MYTH_TRY(myth_revision_open(&r->side, r->mem, &ro, err));
    MYTH_TRY(myth_cli_index(&r->index, cli, r->mem, dir, err));
    MYTH_TRY(myth_select_open(&r->select, r->mem, r->index, r->side, myth_cli_self(self, sizeof(self)) ? self : NULL, cli->cancel, err));
    r->log = cli->runlog;
    myth_select_watch(r->select, on_search, r);
    myth_runlog_index(r->log, r->index);
    myth_runlog_stage(r->log, "index");
fail:
    return st;
}

void myth_select_run_close(myth_select_run *r)
{
    myth_select_close(r->select);
    myth_index_close(r->index);
    myth_revision_close(r->side);
    myth_mem_close(r->mem);
    *r = (myth_select_run){ 0 };
}

uint32_t myth_select_run_context(void *user, const char *request, myth_material *m, uint32_t of, char *near, size_t near_cap)
{
    return myth_select_context(((myth_select_run *)user)->select, request, m, of, near, near_cap);
}

void myth_select_run_note(const myth_cli *cli, const char *title, const myth_select_counts *counts)
{
    myth_error line = { 0 };                    /* for its way with control bytes */
    if (counts->n_more)
        myth_fail(&line, MYTH_OK, "%.120s: %u subjects, %u pieces of context, %u more of both left out", title, counts->n_subject, counts->n_context,
                  counts->n_more);
    else
        myth_fail(&line, MYTH_OK, "%.120s: %u subjects, %u pieces of context", title, counts->n_subject, counts->n_context);
    myth_term_note(cli->term, "%s", line.msg);
}
