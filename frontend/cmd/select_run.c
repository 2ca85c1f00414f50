/* select_run.c - opens index and selector for the inspect commands that select code. */
#include "select_run.h"

#include "engine/base/program.h"
#include "frontend/cli/hints.h"
#include "frontend/inspect/select/setwise.h"

#include <limits.h>
#include <string.h>

const myth_option myth_options_select[MYTH_N_OPTIONS_SELECT] = {
    {"directory", "-C", MYTH_OPT_TEXT, "DIR", offsetof(myth_select_flags, dir), ".", 0, 0,
     "the directory whose code is inspected; context comes from the whole repository around it, whose index is "
     "brought up to date first"},
    {"rerank", NULL, MYTH_OPT_CHOICE, "off|on|setwise", offsetof(myth_select_flags, rerank), "off", 0, 0,
     "when more is found than fits, let the model order it; setwise: then also compare the best pieces side by "
     "side"},
};

static void on_progress(void *user, uint32_t done, uint32_t total) { myth_term_progress(user, "rerank", done, total); }

static myth_status rank(void *user, const char *question, const myth_candidate *c, uint32_t n, uint32_t *order,
                        myth_error *err)
{
    const myth_select_run *r = user;
    myth_rerank *re = NULL;
    myth_engine *e = NULL;
    myth_engine_opts eo;
    const myth_rerank_opts ro = {.cancel = r->cli->cancel, .on_progress = on_progress, .user = r->cli->term};
    myth_status st = MYTH_OK;
    float *score = myth_alloc_n(r->mem, MYTH_MEM_OTHER, "rerank", n, sizeof(*score));
    if (!score)
        return myth_fail(err, MYTH_ENOMEM, "rerank: out of memory for %u scores", n);
    MYTH_TRY(myth_rerank_open(&re, r->model, question, c, n, &ro, err));
    MYTH_TRY(myth_cli_engine_opts(r->cli, &eo, &r->flags->engine, err));
    myth_rerank_needs(re, &eo);
    if (r->is_setwise)
        myth_setwise_needs(r->model, &eo);
    MYTH_TRY(myth_engine_open(&e, (myth_model *)(uintptr_t)r->model, &eo,
                              err)); /* the selector borrows the command's ledger */
    MYTH_TRY(myth_rerank_run(re, e, score, order, err));
    if (r->is_setwise)
        MYTH_TRY(myth_setwise_run(r->model, e, question, c, order, n, &ro, NULL, err));
    myth_runlog_rerank(r->log, question, c, score, order, n);
fail:
    myth_term_progress_end(r->cli->term);
    myth_engine_close(e);
    myth_rerank_close(re);
    myth_free(r->mem, score);
    return st;
}

void myth_select_run_rank(myth_select_run *r, const myth_select_flags *o, const myth_inspect_flags *flags,
                          const myth_model *model)
{
    if (!o->rerank)
        return;
    if (flags->dry_run) { /* a dry run opens only the headers */
        myth_term_note(r->cli->term, "rerank: off, because a dry run does not run the model");
        return;
    }
    r->flags = flags;
    r->model = model;
    r->is_setwise = o->rerank > 1;
    myth_select_set_rank(r->select, rank, r);
}

static void on_search(void *user, const myth_search_opts *asked, const myth_hits *hits, const uint32_t *order,
                      uint32_t n_taken)
{
    const myth_select_run *r = user;
    myth_runlog_search(r->log, r->index, asked, hits, order, n_taken);
}

/* Opens the index. Context comes from it, and subjects that the caller finds without it need none. A tree without files
 * to index, as where a change deleted the last one or brought submodules alone, has no context that could lack. */
static myth_status open_index(myth_select_run *r, myth_error *err)
{
    myth_error why = {0};
    char text[256];
    const myth_status st = myth_cli_index(&r->index, r->cli, r->mem, r->place.root, &r->missed, &why);
    if (st == MYTH_OK)
        return MYTH_OK;
    if (st == MYTH_ENOTFOUND && r->can_lack_index)
        return MYTH_OK;
    if (st != MYTH_ECREATE || !r->can_lack_index)
        return myth_fail_as(err, &why);
    myth_cli_spell(text, sizeof(text), &why);
    myth_term_note(r->cli->term, "no index, so no callers, callees and tests are context: %s", text);
    return MYTH_OK;
}

void myth_select_run_place(myth_select_run *r, const myth_select_flags *o, bool is_any)
{
    myth_place_find_folder(&r->place, o->dir, is_any);
}

myth_status myth_select_run_open(myth_select_run *r, myth_cli *cli, const myth_select_flags *o,
                                 const myth_revision_opts *rev, myth_error *err)
{
    char self[PATH_MAX];
    myth_revision_opts ro = *rev;
    myth_status st;
    r->cli = cli;
    ro.root = r->place.root;
    if ((st = myth_hint_check_dir(o->dir, err)) != MYTH_OK)
        return st;
    MYTH_TRY(myth_mem_open(&r->mem, 0, err));
    r->missed.mem = r->mem;
    MYTH_TRY(myth_revision_open(&r->side, r->mem, &ro, err));
    MYTH_TRY(open_index(r, err));
    r->known = myth_revision_is_worktree(r->side) ? r->index : NULL;
    MYTH_TRY(myth_select_open(&r->select, r->mem, r->index, r->side,
                              myth_program_start(self, sizeof(self)) ? self : NULL, cli->cancel, err));
    myth_select_set_scope(r->select, r->place.path);
    r->log = cli->runlog;
    myth_select_watch(r->select, on_search, r);
    if (r->index)
        myth_runlog_index(r->log, r->index);
    myth_runlog_stage(r->log, "index");
fail:
    return st;
}

void myth_select_run_close(myth_select_run *r)
{
    myth_repomap_page_free(&r->map, r->mem);
    myth_missed_free(&r->missed);
    myth_select_close(r->select);
    myth_index_close(r->index);
    myth_revision_close(r->side);
    myth_mem_close(r->mem);
    *r = (myth_select_run){0};
}

static myth_status count_tokens(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    uint32_t got = 0;
    myth_status st = myth_inspect_count(&got, arg, text, n, err);
    *n_token = got;
    return st;
}

myth_status myth_select_run_map(myth_select_run *r, myth_inspect_opts *io, const myth_model *model, myth_error *err)
{
    myth_repomap *m = NULL;
    const myth_repomap_opts mo = {.is_cancelled = r->cli->cancel};
    const myth_repomap_budget budget = {count_tokens, (void *)(uintptr_t)model,
                                        io->map_tokens ? io->map_tokens : MYTH_INSPECT_MAP_TOKENS};
    if (!r->index || !myth_prompt_is_full(io->style)) /* compact models were trained without a map */
        return MYTH_OK;
    myth_status st = myth_repomap_open(&m, r->mem, r->index, &mo, err);
    if (st == MYTH_OK)
        st = myth_repomap_text(&r->map, m, &budget, err);
    myth_repomap_close(m);
    if (st == MYTH_OK && r->map.n)
        io->map = r->map.text;
    return st;
}

uint32_t myth_select_run_context(void *user, const char *request, myth_material *m, uint32_t of, char *near,
                                 size_t near_cap)
{
    return myth_select_context(((myth_select_run *)user)->select, request, m, of, near, near_cap);
}

/* Adds what the selection missed to what the index could not read. A file is listed once: it stands for its lines. */
static myth_status add_missed(myth_select_run *r, const myth_missed_list *missed, myth_error *err)
{
    const uint32_t n_unread = r->missed.n;
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < missed->n && st == MYTH_OK; i++) {
        const myth_missed *m = &missed->row[i];
        bool is_unread = false;
        for (uint32_t k = 0; k < n_unread && !is_unread; k++)
            is_unread = strcmp(r->missed.row[k].path, m->path) == 0;
        if (!is_unread)
            st = myth_missed_add(&r->missed, m->path, m->first, m->last, m->why, err);
    }
    return st;
}

myth_status myth_select_run_end(myth_select_run *r, myth_inspect_opts *io, const myth_select_counts *counts,
                                myth_error *err)
{
    const char *title = io->title;
    myth_error line = {0}; /* myth_fail makes the text safe to print */
    myth_status st = add_missed(r, myth_select_missed(r->select), err);
    if (st != MYTH_OK)
        return st;
    io->missed = r->missed.row;
    io->n_missed = r->missed.n;
    if (counts->n_more)
        myth_fail(&line, MYTH_OK, "%.120s: %u subject%s, %u piece%s of context; %u more left out", title,
                  counts->n_subject, myth_s(counts->n_subject), counts->n_context, myth_s(counts->n_context),
                  counts->n_more);
    else
        myth_fail(&line, MYTH_OK, "%.120s: %u subject%s, %u piece%s of context", title, counts->n_subject,
                  myth_s(counts->n_subject), counts->n_context, myth_s(counts->n_context));
    myth_term_note(r->cli->term, "%s", line.msg);
    return MYTH_OK;
}
