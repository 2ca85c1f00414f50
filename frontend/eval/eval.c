/* eval.c - opens and closes an evaluation: finds its data, lists the configurations that are compared, and holds the
 * measures. */
#define _GNU_SOURCE
#include "eval.h"

#include "engine/base/program.h"
#include "frontend/cli/tempdir.h"
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    const char *name, *file; /* file: the questions, relative to the data's folder */
    uint32_t k;              /* how many items each question asks for */
    myth_measure measure[MYTH_EVAL_MEASURES];
    uint32_t n_measure;
} eval_set;

/* Recall and precision with k = 0 are measured at the set's own k, or at --top. */
static const eval_set sets[MYTH_EVAL_N] = {
    [MYTH_EVAL_SHOP] =
        {"shop",
         "questions.jsonl",
         12,
         {{MYTH_RECALL, 0}, {MYTH_PRECISION, 0}, {MYTH_MRR, 0}, {MYTH_NDCG, 10}, {MYTH_ACC, 1}, {MYTH_ACC, 5}},
         6},
    [MYTH_EVAL_COSQA] = {"cosqa",
                         "cosqa/cosqa-retrieval-dev-500.json",
                         100,
                         {{MYTH_NDCG, 10}, {MYTH_MRR, 0}, {MYTH_ACC, 1}, {MYTH_RECALL, 10}, {MYTH_RECALL, 100}},
                         5},
    [MYTH_EVAL_SWE] = {"swe-lite",
                       "swe-lite-dev.jsonl",
                       20,
                       {{MYTH_ACC, 1},
                        {MYTH_ACC, 5},
                        {MYTH_ACC, 10},
                        {MYTH_ACC, 20},
                        {MYTH_MRR, 0},
                        {MYTH_NDCG, 10},
                        {MYTH_RECALL, 20}},
                       7},
    [MYTH_EVAL_COMMITS] = {"c-commits",
                           "commits-dev.jsonl",
                           20,
                           {{MYTH_ACC, 1},
                            {MYTH_ACC, 5},
                            {MYTH_ACC, 10},
                            {MYTH_ACC, 20},
                            {MYTH_MRR, 0},
                            {MYTH_NDCG, 10},
                            {MYTH_RECALL, 20}},
                           7},
};

const char *myth_eval_set_name(myth_eval_set set) { return sets[set].name; }

bool myth_eval_set_of(myth_eval_set *out, const char *name)
{
    for (int i = 0; i < MYTH_EVAL_N; i++)
        if (strcmp(name, sets[i].name) == 0) {
            *out = (myth_eval_set)i;
            return true;
        }
    return false;
}

bool myth_eval_path(char dst[MYTH_EVAL_PATH], const char *dir, const char *rest)
{
    return (size_t)snprintf(dst, MYTH_EVAL_PATH, "%s%s%s", dir, rest[0] ? "/" : "", rest) < MYTH_EVAL_PATH;
}

myth_status myth_eval_copy_tree(const myth_eval *ev, const char *to, myth_error *err)
{
    char tree[MYTH_EVAL_PATH];
    if (!myth_eval_path(tree, ev->data, "tree"))
        return myth_fail(err, MYTH_EARG, "--data: the path is too long");
    if (mkdir(to, 0700) != 0)
        return myth_fail(err, MYTH_ECREATE, "%s: %s", to, strerror(errno));
    return myth_snapshot_copy(tree, to, err);
}

/* ---- where the data is ---- */

/* Looks for the shipped repository where the shipped model is looked for, too: in the source tree that holds the build
 * folder, then under share/ of the folder above the program's, then where it was to be installed. */
static bool find_shop(myth_eval *ev)
{
    static const char *const place[] = {"tests/corpus/shop", "share/mythos/eval/shop"};
    char up[MYTH_EVAL_PATH], at[MYTH_EVAL_PATH];
    snprintf(up, sizeof(up), "%s", ev->program);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(up, '/');
        up[slash ? slash - up : 0] = '\0';
    }
    for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
        if (myth_eval_path(ev->data, up, place[i]) && myth_eval_path(at, ev->data, "questions.jsonl") &&
            access(at, R_OK) == 0)
            return true;
    snprintf(ev->data, sizeof(ev->data), "%s", MYTHOS_INSTALL_EVAL "/shop");
    return myth_eval_path(at, ev->data, "questions.jsonl") && access(at, R_OK) == 0;
}

static myth_status find_data(myth_eval *ev, myth_error *err)
{
    const char *dir = ev->flags->data;
    if (!dir && ev->set == MYTH_EVAL_SHOP) {
        if (find_shop(ev))
            return MYTH_OK;
        return myth_fail(
            err, MYTH_ENOTFOUND,
            "eval: the shop repository is neither in the source tree nor installed; --data DIR says where it is");
    }
    if (!dir)
        return myth_fail(err, MYTH_ENOTFOUND, "eval %s: its questions are not shipped; --data DIR says where %s is",
                         sets[ev->set].name, sets[ev->set].file);
    snprintf(ev->data, sizeof(ev->data), "%s", dir);
    if (access(ev->data, R_OK | X_OK) != 0)
        return myth_fail(err, MYTH_ENOTFOUND, "eval: no data in %s: %s; --data DIR says where it is", ev->data,
                         strerror(errno));
    return MYTH_OK;
}

/* ---- configurations ---- */

static bool is_weights(const char *s) { return strchr(s, '=') != NULL; }

bool myth_eval_has_command(const char *name)
{
    for (int i = 0; myth_commands[i]; i++)
        if (strcmp(myth_commands[i]->name, name) == 0)
            return true;
    return false;
}

static myth_status add_config(myth_eval *ev, const char *name, const char *weights, bool lexical, myth_error *err)
{
    myth_eval_config *c = &ev->config[ev->n_config++];
    const char *base = ev->flags->weights ? ev->flags->weights : "";
    *c = (myth_eval_config){
        .name = name,
        .lexical = lexical || !ev->embedder[0],
        .is_plain = strcmp(name, "base") == 0,
        .is_topic = strcmp(name, "topic") == 0,
    };
    int n = snprintf(c->weights, sizeof(c->weights), "%s%s%s", base, base[0] && weights[0] ? "," : "", weights);
    return (size_t)n < sizeof(c->weights)
             ? MYTH_OK
             : myth_fail(err, MYTH_EARG, "eval: weights longer than %zu bytes", sizeof(c->weights) - 1);
}

static myth_status configure(myth_eval *ev, myth_error *err)
{
    const myth_opt_list *l = &ev->flags->against;
    myth_status st = add_config(ev, ev->embedder[0] ? "hybrid" : "lexical", "", false, err);
    for (int i = 0; i < l->n && st == MYTH_OK; i++) {
        const char *s = l->item[i];
        if (strcmp(s, "lexical") == 0)
            st = add_config(ev, s, "", true, err);
        else if (strcmp(s, "base") == 0 && (ev->set == MYTH_EVAL_SWE || ev->set == MYTH_EVAL_COMMITS))
            st = add_config(ev, s, "", true, err);
        else if (strcmp(s, "base") == 0)
            st = myth_fail(err, MYTH_EARG, "--against base: it ranks files of a commit, for swe-lite and c-commits");
        else if (strcmp(s, "topic") == 0 && ev->set == MYTH_EVAL_SHOP && myth_eval_has_command("inspect-topic"))
            st = add_config(ev, s, "", false, err);
        else if (strcmp(s, "topic") == 0)
            st = myth_fail(err, MYTH_EARG, "--against topic: %s",
                           ev->set == MYTH_EVAL_SHOP ? "this build has no inspect-topic"
                                                     : "it answers the questions of shop");
        else if (is_weights(s))
            st = add_config(ev, s, s, false, err);
        else
            st = myth_fail(err, MYTH_EARG,
                           "--against: got \"%s\", expected base, lexical, topic, or weights as name=value,...", s);
    }
    return st;
}

int myth_eval_search_flags(const char **args, int n, const myth_eval *ev, const myth_eval_config *c)
{
    if (c->lexical)
        args[n++] = "--lexical";
    if (!c->lexical) {
        args[n++] = "--embed-model";
        args[n++] = ev->embedder;
    }
    if (c->weights[0]) {
        args[n++] = "--weights";
        args[n++] = c->weights;
    }
    return n;
}

myth_status myth_eval_index(const myth_eval *ev, const char *dir, myth_error *err)
{
    const char *args[MYTH_SELF_ARGS] = {"index", "--quiet", "--json"};
    int n = 3, code;
    char *text;
    size_t n_text;
    if (ev->embedder[0]) {
        args[n++] = "--embed-model";
        args[n++] = ev->embedder;
    } else {
        args[n++] = "--no-embed";
    }
    args[n++] = dir;
    myth_status st = myth_self_run(&text, &n_text, &code, &ev->self, args, NULL, 1u << MYTH_EXIT_INCOMPLETE, err);
    if (st == MYTH_OK)
        myth_free(ev->cli->mem, text);
    return st;
}

/* ---- open, close ---- */

static myth_status read_data(myth_eval *ev, myth_error *err)
{
    char path[MYTH_EVAL_PATH];
    myth_mem *mem = ev->cli->mem;
    if (!myth_eval_path(path, ev->data, sets[ev->set].file))
        return myth_fail(err, MYTH_EARG, "--data: the path is too long");
    myth_status st = ev->set == MYTH_EVAL_COSQA ? myth_tasks_read_cosqa(&ev->tasks, mem, path, ev->flags->every, err)
                                                : myth_tasks_read(&ev->tasks, mem, path, ev->flags->every, err);
    if (st != MYTH_OK || ev->set != MYTH_EVAL_SHOP)
        return st;
    if (!myth_eval_path(path, ev->data, "regression.jsonl"))
        return myth_fail(err, MYTH_EARG, "--data: the path is too long");
    if (access(path, R_OK) == 0) /* a repository given with --data need not have this file */
        st = myth_plants_read(&ev->changes, mem, path, err);
    if (st == MYTH_OK && myth_eval_path(path, ev->data, "defects.jsonl"))
        st = myth_plants_read(&ev->plants, mem, path, err);
    return st;
}

static myth_status alloc_values(myth_eval *ev, myth_error *err)
{
    myth_mem *mem = ev->cli->mem;
    size_t n = ev->tasks.n_task;
    ev->value = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", n * ev->n_config * ev->n_measure, sizeof(double));
    ev->room = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", MYTH_BOOTSTRAP_ROUNDS + 2 * n, sizeof(double));
    ev->prompt_tokens = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", n, sizeof(double));
    ev->evidence_tokens = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", n, sizeof(double));
    return ev->value && ev->room && ev->prompt_tokens && ev->evidence_tokens
             ? MYTH_OK
             : myth_fail(err, MYTH_ENOMEM, "eval: no memory for the measures of %zu tasks", n);
}

myth_status myth_eval_open(myth_eval *ev, myth_cli *cli, myth_eval_set set, const myth_eval_flags *flags,
                           myth_error *err)
{
    myth_status st = MYTH_OK;
    const eval_set *s = &sets[set];
    *ev = (myth_eval){.cli = cli, .flags = flags, .set = set, .n_measure = s->n_measure};
    myth_program_start(ev->program, sizeof(ev->program));
    ev->k = flags->k ? flags->k : s->k;
    /* The path is made absolute because the inspector runs in another folder. */
    ev->model = flags->model && realpath(flags->model, ev->model_path) ? ev->model_path : flags->model;
    for (uint32_t i = 0; i < s->n_measure; i++) {
        ev->measure[i] = s->measure[i];
        if (ev->measure[i].k == 0 && ev->measure[i].kind != MYTH_MRR)
            ev->measure[i].k = ev->k;
    }
    if (flags->embed || flags->embed_model) /* commands get its name, so they fail when it is missing */
        MYTH_TRY(myth_cli_embedder_spec(flags->embed_model, ev->embedder, sizeof(ev->embedder), err));
    MYTH_TRY(configure(ev, err));
    MYTH_TRY(find_data(ev, err));
    MYTH_TRY(read_data(ev, err));
    MYTH_TRY(alloc_values(ev, err));
    MYTH_TRY(myth_tempdir_make(ev->dir, "eval", err));
    snprintf(ev->cache, sizeof(ev->cache), "%s/cache", ev->dir);
    ev->self = (myth_self){.program = ev->program, .cache = ev->cache, .cancel = cli->cancel, .mem = cli->mem};
fail:
    return st;
}

void myth_eval_close(myth_eval *ev)
{
    if (!ev->cli)
        return;
    myth_mem *mem = ev->cli->mem;
    myth_tempdir_remove(ev->dir);
    myth_tasks_close(&ev->tasks);
    myth_plants_close(&ev->plants);
    myth_plants_close(&ev->changes);
    myth_free(mem, ev->value);
    myth_free(mem, ev->room);
    myth_free(mem, ev->prompt_tokens);
    myth_free(mem, ev->evidence_tokens);
    *ev = (myth_eval){0};
}

/* ---- rows of measures ---- */

double *myth_eval_row(const myth_eval *ev, uint32_t config, uint32_t task)
{
    return ev->value + ((size_t)config * ev->tasks.n_task + task) * ev->n_measure;
}

void myth_eval_put(myth_eval *ev, uint32_t config, uint32_t task, const uint32_t *item, uint32_t n_item)
{
    double *row = myth_eval_row(ev, config, task);
    for (uint32_t m = 0; m < ev->n_measure; m++)
        row[m] = myth_measure_of(&ev->measure[m], item, n_item, ev->tasks.task[task].n_gold);
}

uint32_t myth_eval_document(const myth_task *t, const char *const *seen, uint32_t n_seen, const char *name)
{
    for (uint32_t g = 0; g < t->n_gold; g++)
        if (strcmp(t->gold[g].path, name) == 0)
            return g;
    for (uint32_t i = 0; i < n_seen; i++)
        if (strcmp(seen[i], name) == 0)
            return t->n_gold + i;
    return t->n_gold + n_seen;
}

/* ---- groups ---- */

static bool is_in(const myth_task *t, const char *tag)
{
    bool found = tag == NULL;
    for (uint32_t i = 0; i < t->n_tag && !found; i++)
        found = strcmp(t->tag[i], tag) == 0;
    return found;
}

uint32_t myth_eval_groups(const myth_eval *ev, myth_eval_group out[MYTH_EVAL_GROUPS])
{
    uint32_t n = 1;
    out[0] = (myth_eval_group){NULL, ev->tasks.n_task};
    for (uint32_t t = 0; t < ev->tasks.n_task; t++)
        for (uint32_t i = 0; i < ev->tasks.task[t].n_tag; i++) {
            const char *tag = ev->tasks.task[t].tag[i];
            uint32_t g = 1;
            while (g < n && strcmp(out[g].tag, tag) != 0)
                g++;
            if (g == n && n < MYTH_EVAL_GROUPS)
                out[n++] = (myth_eval_group){tag, 0};
            if (g < n)
                out[g].n_task++;
        }
    return n;
}

/* Copies the values of one measure, for the tasks of the group only, to dst. */
static const double *gather(const myth_eval *ev, const myth_eval_group *g, uint32_t config, uint32_t measure,
                            double *dst)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < ev->tasks.n_task; t++)
        if (is_in(&ev->tasks.task[t], g->tag))
            dst[n++] = myth_eval_row(ev, config, t)[measure];
    return dst;
}

myth_interval myth_eval_mean(const myth_eval *ev, const myth_eval_group *g, uint32_t config, uint32_t measure)
{
    const double *v = gather(ev, g, config, measure, ev->room + MYTH_BOOTSTRAP_ROUNDS);
    return myth_bootstrap(v, g->n_task, 1, ev->room);
}

myth_interval myth_eval_difference(const myth_eval *ev, const myth_eval_group *g, uint32_t config, uint32_t measure)
{
    double *room = ev->room + MYTH_BOOTSTRAP_ROUNDS;
    const double *a = gather(ev, g, config, measure, room), *b = gather(ev, g, 0, measure, room + ev->tasks.n_task);
    return myth_bootstrap_difference(a, b, g->n_task, 1, ev->room);
}

/* ---- metrics by name ---- */

static myth_eval_metric metric(const char *name, bool has_value, myth_interval value, const char *why)
{
    return (myth_eval_metric){
        .name = name,
        .has_value = has_value,
        .has_interval = has_value,
        .value = value,
        .why = has_value ? NULL : why,
    };
}

static myth_eval_metric share(const char *name, bool was_run, uint32_t part, uint32_t whole, const char *none)
{
    double v = whole ? (double)part / whole : 0;
    return (myth_eval_metric){
        .name = name,
        .has_value = was_run && whole > 0,
        .value = {v, v, v},
        .why = was_run ? none : "no model was run",
    };
}

uint32_t myth_eval_metrics(const myth_eval *ev, myth_eval_metric out[MYTH_EVAL_METRICS])
{
    const myth_eval_answers *a = &ev->answers;
    const myth_eval_group all = {NULL, ev->tasks.n_task};
    bool asked = ev->flags->part != MYTH_EVAL_ANSWERS;
    uint32_t n = 0;
    myth_interval none = {0};
    if (ev->set != MYTH_EVAL_SHOP)
        return 0;
    out[n++] =
        metric("retrieval_recall", asked, asked ? myth_eval_mean(ev, &all, 0, 0) : none, "no question was asked");
    out[n++] =
        metric("retrieval_precision", asked, asked ? myth_eval_mean(ev, &all, 0, 1) : none, "no question was asked");
    out[n++] = metric("prompt_efficiency", asked && ev->has_tokens,
                      asked && ev->has_tokens
                          ? myth_bootstrap_ratio(ev->evidence_tokens, ev->prompt_tokens, ev->tasks.n_task, ev->room)
                          : none,
                      asked ? "no model to count tokens with" : "no question was asked");
    out[n++] = share("grounding", a->was_run, a->n_finding, a->n_finding + a->n_dropped, "the model found nothing");
    out[n++] = share("missing_context", a->was_run, a->n_resolved, a->n_request, "the model asked for nothing");
    out[n++] = metric("diagnosis_recall", a->was_run, a->recall, "no model was run");
    out[n++] = metric("diagnosis_precision", a->was_run && a->n_finding, a->precision,
                      a->was_run ? "the model found nothing" : "no model was run");
    out[n++] = metric("diagnosis_f1", a->was_run, a->f1, "no model was run");
    if (a->was_diffed) {
        out[n++] = share("regression_recall", true, a->n_change_found, a->n_change, "nothing is planted");
        out[n++] =
            share("regression_precision", true, a->n_change_found, a->n_change_finding, "the model found nothing");
    }
    return n;
}
