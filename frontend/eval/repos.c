/* repos.c - which files search finds for an issue text or a commit message, in the tree of the commit that each task
 * names.
 *
 * Tree      only files in the language of the task's right files, as in published comparisons: *.c and *.h if one of
 *           the right files is such a file, else *.py
 * Place     all trees are made at one path, one after the other, so that the index takes each as an update of the last
 * Clones    below --repos DIR a clone is named <owner>+<name> or <name>. Its repository is that folder, or `repo` or
 *           `.git` in it */
#include "eval.h"
#include "plain.h"
#include "snapshot.h"
#include "engine/base/text.h"
#include "retrieval/retrieval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 1000 }; /* files of one answer, and so the most that --top can ask for */

static bool is_clone(const char *dir)
{
    char at[MYTH_EVAL_PATH];
    return myth_eval_path(at, dir, "objects") && access(at, X_OK) == 0;
}

static myth_status find_clone(char dst[MYTH_EVAL_PATH], const char *repos, const char *repo, myth_error *err)
{
    const char *slash = strchr(repo, '/'), *name = slash ? slash + 1 : repo;
    char owner[512];
    snprintf(owner, sizeof(owner), "%s", repo);
    if (slash && (size_t)(slash - repo) < sizeof(owner))
        owner[slash - repo] = '+';
    static const char *const form[] = {"%s/%s/repo", "%s/%s", "%s/%s/.git"};
    for (size_t i = 0; i < 2 * sizeof(form) / sizeof(form[0]); i++) {
        const char *f = form[i / 2];
        int n = f == form[0] ? snprintf(dst, MYTH_EVAL_PATH, "%s/%s/repo", repos, i % 2 ? name : owner)
              : f == form[1] ? snprintf(dst, MYTH_EVAL_PATH, "%s/%s", repos, i % 2 ? name : owner)
                             : snprintf(dst, MYTH_EVAL_PATH, "%s/%s/.git", repos, i % 2 ? name : owner);
        if (n > 0 && n < MYTH_EVAL_PATH && is_clone(dst))
            return MYTH_OK;
    }
    return myth_fail(err, MYTH_ENOTFOUND, "eval: %s holds no clone of %.100s; fetch it there as %s/%.100s", repos, repo,
                     repos, owner);
}

/* Suffixes of the files that a task's tree has. */
static const char *const *suffixes_of(const myth_task *t)
{
    static const char *const c[] = {".c", ".h", NULL}, *const python[] = {".py", NULL};
    for (uint32_t g = 0; g < t->n_gold; g++)
        if (myth_text_ends(t->gold[g].path, ".c") || myth_text_ends(t->gold[g].path, ".h"))
            return c;
    return python;
}

static myth_status make_tree(const myth_eval *ev, const char *tree, const myth_task *t, myth_error *err)
{
    char git_dir[MYTH_EVAL_PATH];
    uint64_t n_file;
    if (!t->repo || !t->commit)
        return myth_fail(err, MYTH_EFORMAT, "%s: expected repo and base_commit", t->id);
    myth_status st = find_clone(git_dir, ev->flags->repos, t->repo, err);
    if (st != MYTH_OK)
        return st;
    myth_tempdir_remove(tree);
    if (mkdir(tree, 0700) != 0)
        return myth_fail(err, MYTH_ECREATE, "%s: %s", tree, strerror(errno));
    const myth_snapshot_opts so = {
        .mem = ev->cli->mem,
        .git_dir = git_dir,
        .commit = t->commit,
        .dir = tree,
        .suffix = suffixes_of(t),
        .is_cancelled = ev->cli->cancel,
    };
    return myth_snapshot(&n_file, &so, err);
}

/* Runs `search --files` on the task and writes its files, best first, as numbers of documents. */
static myth_status ask_search(uint32_t *item, uint32_t *n_item, const myth_eval *ev, const myth_eval_config *c,
                              const myth_task *t, const char *tree, myth_error *err)
{
    char k[16];
    const char *args[MYTH_SELF_ARGS] = {"search", "--json", "--quiet", "--files", "--mode", "ranked", "--top", k};
    const char *seen[FILES_MAX];
    int n = myth_eval_search_flags(args, 8, ev, c), code;
    json_t *rows;
    snprintf(k, sizeof(k), "%u", ev->k);
    args[n++] = "--";
    args[n++] = t->text;
    args[n++] = tree;
    myth_status st = myth_self_json(&rows, &code, &ev->self, args, NULL, 1u << MYTH_EXIT_FINDINGS, err);
    if (st != MYTH_OK)
        return st;
    *n_item = 0;
    for (size_t i = 0; i < json_array_size(rows) && i < FILES_MAX && st == MYTH_OK; i++) {
        const char *path = json_string_value(json_object_get(json_array_get(rows, i), "path"));
        if (!path)
            st = myth_fail(err, MYTH_EFORMAT, "%s: search gave a row without a path", t->id);
        if (st == MYTH_OK) {
            item[*n_item] = myth_eval_document(t, seen, *n_item, path);
            seen[(*n_item)++] = path;
        }
    }
    json_decref(rows);
    return st;
}

/* The same by the plain baseline. */
static myth_status ask_plain(uint32_t *item, uint32_t *n_item, const myth_eval *ev, const myth_task *t,
                             const char *tree, myth_error *err)
{
    const char *seen[FILES_MAX];
    myth_plain *plain = NULL;
    myth_status st = myth_plain_open(&plain, ev->cli->mem, tree, suffixes_of(t), err);
    if (st == MYTH_OK)
        st = myth_plain_search(plain, t->text, ev->k < FILES_MAX ? ev->k : FILES_MAX, seen, n_item, err);
    for (uint32_t i = 0; st == MYTH_OK && i < *n_item; i++)
        item[i] = myth_eval_document(t, seen, i, seen[i]);
    myth_plain_close(plain);
    return st;
}

static myth_status ask_all(myth_eval *ev, uint32_t task, const char *tree, myth_error *err)
{
    const myth_task *t = &ev->tasks.task[task];
    uint32_t item[FILES_MAX], n = 0;
    myth_status st = MYTH_OK;
    for (uint32_t c = 0; c < ev->n_config && st == MYTH_OK; c++) {
        st = ev->config[c].is_plain ? ask_plain(item, &n, ev, t, tree, err)
                                    : ask_search(item, &n, ev, &ev->config[c], t, tree, err);
        if (st == MYTH_OK)
            myth_eval_put(ev, c, task, item, n);
    }
    return st;
}

myth_status myth_eval_repos(myth_eval *ev, myth_error *err)
{
    char tree[96];
    myth_status st = MYTH_OK;
    if (!ev->flags->repos)
        return myth_fail(err, MYTH_EARG, "eval %s: --repos DIR says where clones of its repositories are",
                         myth_eval_set_name(ev->set));
    if (ev->k > FILES_MAX)
        return myth_fail(err, MYTH_EARG, "--top: at most %d files are looked at", FILES_MAX);
    snprintf(tree, sizeof(tree), "%s/tree", ev->dir);
    for (uint32_t t = 0; t < ev->tasks.n_task; t++) {
        myth_term_progress(ev->cli->term, "tasks", t, ev->tasks.n_task);
        MYTH_TRY(make_tree(ev, tree, &ev->tasks.task[t], err));
        MYTH_TRY(myth_eval_index(ev, tree, err));
        MYTH_TRY(ask_all(ev, t, tree, err));
    }
fail:
    return st;
}
