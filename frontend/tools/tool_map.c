/* tool_map.c - repo_map shows the directory on a page: folders, files and signatures, the most important first. */
#include "shown.h"
#include "unseen.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const myth_tools *tools;
    const myth_reply *a;
    uint32_t n_file;
} page_form;

static void put_head(myth_reply *a, const char *text, size_t n, uint32_t n_shown, uint32_t n_file)
{
    myth_json_out *j = myth_reply_head(a);
    myth_jout_key_u64(j, "files", n_file);
    myth_jout_key_u64(j, "files_shown", n_shown);
    myth_jout_key(j, "map");
    myth_jout_text(j, text, n);
    myth_reply_head_end(a);
}

/* Counts the whole answer that would show this text. A number that is not known yet is taken as its largest. */
static myth_status count_answer(void *arg, const char *text, size_t n, uint64_t *count, myth_error *err)
{
    const page_form *p = arg;
    const myth_budget *b = &p->a->budget;
    myth_reply one;
    char *whole = NULL;
    size_t n_whole = 0;
    bool is_found, holds = false;
    const myth_budget any = {.max_bytes = UINT64_MAX};
    myth_status st = myth_reply_open(&one, p->a->mem, NULL, &any, err);
    if (st == MYTH_OK) {
        put_head(&one, text, n, p->n_file, p->n_file);
        one.left_out = p->n_file;
        one.n_note = p->a->n_note;
        memcpy(one.note, p->a->note, sizeof(one.note));
        myth_tools_note_unread(p->tools, &one);
        st = myth_reply_finish(&one, &whole, &n_whole, &is_found, err);
    }
    myth_reply_close(&one);
    if (st == MYTH_OK && b->max_tokens)
        st = myth_budget_holds(&holds, &(myth_budget){.max_bytes = b->max_bytes}, whole, n_whole, err);
    if (st == MYTH_OK && b->max_tokens)
        st = b->count(b->arg, whole, n_whole, count, err);
    else
        *count = n_whole;
    if (b->max_tokens && !holds)
        *count = b->max_tokens + 1;
    free(whole);
    return st;
}

static myth_status run_repo_map(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_index *x;
    myth_repomap *m = NULL;
    myth_repomap_page page = {0};
    page_form form = {.tools = t, .a = a};
    char under[MYTH_TOOL_TEXT_MAX + 1] = "";
    if (myth_tool_text(args, "under"))
        MYTH_TRY(myth_tools_path(under, sizeof(under), myth_tool_text(args, "under"), err));
    st = myth_tools_index(&x, t, err);
    if (st != MYTH_OK && t->is_empty)
        put_head(a, "", 0, 0, 0);
    MYTH_TRY(st);
    const myth_repomap_opts mo = {
        .query = myth_tool_text(args, "query"),
        .under = under[0] ? under : NULL,
        .show = myth_redact_line,
        .is_cancelled = t->cli->cancel,
    };
    MYTH_TRY(myth_repomap_open(&m, t->cli->mem, x, &mo, err));
    if (!myth_repomap_has_answer(m))
        myth_reply_note(a, false, "nothing here answers the query; this is the map without it");
    MYTH_TRY(myth_unseen_note_unparsed(a, NULL, x, err));
    form.n_file = myth_repomap_n_file(m);
    const myth_repomap_budget budget = {count_answer, &form,
                                        a->budget.max_tokens ? a->budget.max_tokens : a->budget.max_bytes};
    MYTH_TRY(myth_repomap_text(&page, m, &budget, err));
    put_head(a, page.text, page.n, page.n_shown, page.n_file);
    a->left_out = page.n_file - page.n_shown;
    a->is_found = page.n_shown > 0;
fail:
    myth_repomap_page_free(&page, t->cli->mem);
    myth_repomap_close(m);
    return st;
}

static const myth_tool_arg repo_map_args[] = {
    {.name = "query",
     .kind = MYTH_TOOL_TEXT,
     .help = "show files that answer this, and what they use more than others do, first"},
    {.name = "under", .kind = MYTH_TOOL_TEXT, .help = "only files below this folder, relative to the root"},
};

const myth_tool myth_tool_repo_map = {
    .name = "repo_map",
    .title = "Map of the directory",
    .help = "Show the directory on one page: folders, files and signatures, the most important first, as many as the "
            "budget holds.",
    .items = NULL,
    .arg = repo_map_args,
    .n_arg = sizeof(repo_map_args) / sizeof(repo_map_args[0]),
    .run = run_repo_map,
};
