/* regression.c - how many of the defects that a patch brings `inspect-diff` finds. The command reads the changed files
 * as they are after the patch, so it runs in a copy of the repository to which the patch was applied. */
#include "eval.h"
#include "snapshot.h"
#include "retrieval/retrieval.h"

#include <stdio.h>

enum { PATCH_MAX = 16 << 20 };

static myth_status make_copy(const myth_eval *ev, const char *copy, const char *patch, myth_error *err)
{
    unsigned char *text = NULL;
    size_t n;
    myth_status st = myth_eval_copy_tree(ev, copy, err);
    if (st == MYTH_OK)
        st = myth_cli_read(&text, &n, ev->cli->mem, patch, PATCH_MAX, err);
    if (st == MYTH_OK)
        st = myth_snapshot_patch(copy, (const char *)text, n, err);
    myth_free(ev->cli->mem, text);
    return st;
}

myth_status myth_eval_regression(myth_eval *ev, myth_error *err)
{
    char copy[96], patch[MYTH_EVAL_PATH], threads[16], confidence[32];
    const char *args[MYTH_SELF_ARGS] = {"inspect-diff", "--quiet", "--format", "json",   "--fail-level",
                                        "never",        "-C",      copy,       "--diff", patch};
    const myth_plants *p = &ev->changes;
    myth_eval_answers *a = &ev->answers;
    json_t *report = NULL;
    myth_status st = MYTH_OK;
    int code;
    bool *is_found = myth_alloc_n(ev->cli->mem, MYTH_MEM_OTHER, "eval", p->n_defect, sizeof(*is_found));
    myth_eval_find_flags(args, myth_eval_model_flags(args, 10, ev, threads), ev, confidence);
    snprintf(copy, sizeof(copy), "%s/regression", ev->dir);
    if (!is_found || !myth_eval_path(patch, ev->data, "regression.patch")) {
        st = myth_fail(err, MYTH_ENOMEM, "eval: no memory for %u defects", p->n_defect);
        goto fail;
    }
    myth_term_progress(ev->cli->term, "planted regression", 0, 0);
    MYTH_TRY(make_copy(ev, copy, patch, err));
    MYTH_TRY(myth_self_json(&report, &code, &ev->self, args, NULL, 1u << MYTH_EXIT_INCOMPLETE, err));
    MYTH_TRY(myth_eval_not_refused(report, args[0], patch, err));
    a->n_change = p->n_defect;
    a->n_change_found = myth_eval_match(p, 0, p->n_defect, copy, report, is_found);
    a->n_change_finding = (uint32_t)json_array_size(json_object_get(report, "findings"));
    a->was_diffed = true;
fail:
    json_decref(report);
    myth_free(ev->cli->mem, is_found);
    return st;
}
