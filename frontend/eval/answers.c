/* answers.c - the inspector over the files with planted defects, as `inspect-file` answers, against the list of
 * what was planted.
 *
 * Found     a finding of the file names the rule of the defect, or one that would do, within NEAR lines of it; each
 *           finds one defect at most
 * Recall    of the planted; precision: of the findings; both over files, which the bootstrap draws
 * Grounded  what the verifier let through, of that and what it dropped
 * Context   a request is met when the run served it; where the report does not say so, when the tree has the file and
 *           its text the symbol */
#include "eval.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 5 };

typedef struct {
    double *planted, *found, *finding, *matched; /* [file] */
    bool *is_found;                              /* [defect] */
    uint32_t n_file;
} counts;

static bool does(const myth_planted *d, const char *rule)
{
    size_t i;
    json_t *other;
    if (strcmp(d->rule, rule) == 0)
        return true;
    json_array_foreach((json_t *)d->also, i,
                       other) if (json_is_string(other) && strcmp(json_string_value(other), rule) == 0) return true;
    return false;
}

static bool is_near(const myth_planted *d, const json_t *finding)
{
    const json_t *lines = json_object_get(finding, "lines");
    json_int_t first = json_integer_value(json_array_get(lines, 0)),
               last = json_integer_value(json_array_get(lines, 1));
    return (json_int_t)d->line + NEAR >= first && (json_int_t)d->line <= last + NEAR;
}

/* Returns the defect that a finding is about: the first of [from, to) that fits and was not found yet. */
static bool match(const myth_plants *p, uint32_t from, uint32_t to, const char *tree, const json_t *finding,
                  bool *is_found)
{
    const char *rule = json_string_value(json_object_get(finding, "rule")),
               *file = myth_eval_in_tree(tree, json_string_value(json_object_get(finding, "file")));
    for (uint32_t d = from; d < to && rule && file; d++)
        if (!is_found[d] && strcmp(p->defect[d].path, file) == 0 && does(&p->defect[d], rule) &&
            is_near(&p->defect[d], finding)) {
            is_found[d] = true;
            return true;
        }
    return false;
}

uint32_t myth_eval_match(const myth_plants *p, uint32_t from, uint32_t to, const char *tree, const json_t *report,
                         bool *is_found)
{
    size_t i;
    json_t *row;
    uint32_t n = 0;
    json_array_foreach(json_object_get(report, "findings"), i, row) n += match(p, from, to, tree, row, is_found);
    return n;
}

/* Whether "path::symbol" names something that exists. */
static bool is_resolved(const char *tree, const char *request)
{
    char path[MYTH_EVAL_PATH], name[512], *text = NULL;
    const char *sep = strstr(request, "::");
    bool found = false;
    if (!sep || (size_t)(sep - request) >= sizeof(name) || strstr(request, "..") || request[0] == '/')
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)(sep - request), request);
    if (!myth_eval_path(path, tree, name))
        return false;
    const char *symbol = strrchr(sep + 2, '.') ? strrchr(sep + 2, '.') + 1 : sep + 2;
    FILE *f = fopen(path, "rb");
    size_t cap = 0;
    if (f && getdelim(&text, &cap, '\0', f) > 0)
        found = symbol[0] == '\0' || strstr(text, symbol);
    free(text);
    if (f)
        fclose(f);
    return found;
}

static void take_report(myth_eval *ev, const char *tree, const json_t *report, uint32_t from, uint32_t to, counts *c)
{
    myth_eval_answers *a = &ev->answers;
    size_t i;
    json_t *row;
    uint32_t f = c->n_file++, n_matched = myth_eval_match(&ev->plants, from, to, tree, report, c->is_found);
    uint32_t n_finding = (uint32_t)json_array_size(json_object_get(report, "findings"));
    c->planted[f] = to - from;
    c->found[f] = c->matched[f] = n_matched;
    c->finding[f] = n_finding;
    a->n_file++;
    a->n_planted += to - from;
    a->n_found += n_matched;
    a->n_matched += n_matched;
    a->n_finding += n_finding;
    a->n_dropped += (uint32_t)json_integer_value(json_object_get(report, "dropped_findings"));
    const json_t *asked = json_object_get(report, "context_requests"); /* each with its result, when rounds were run */
    json_array_foreach((json_t *)asked, i, row)
    {
        const char *result = json_string_value(json_object_get(row, "result"));
        a->n_request++;
        a->n_resolved += result && strcmp(result, "served") == 0;
    }
    if (json_array_size(asked))
        return;
    json_array_foreach(json_object_get(report, "missing_context"), i, row) if (json_is_string(row))
    {
        a->n_request++;
        a->n_resolved += is_resolved(tree, json_string_value(row));
    }
}

const char *myth_eval_in_tree(const char *tree, const char *named)
{
    char top[PATH_MAX];
    const char *slash = named ? named + strlen(named) : NULL;
    if (!named || !realpath(tree, top))
        return named;
    const size_t n = strlen(top);
    for (; slash > named; slash--) { /* the longest part of the name that the tree's path ends in */
        const size_t m = (size_t)(slash - named);
        if (*slash == '/' && m < n && top[n - m - 1] == '/' && memcmp(top + n - m, named, m) == 0)
            return slash + 1;
    }
    return named;
}

int myth_eval_model_flags(const char **args, int n, const myth_eval *ev, char threads[16])
{
    const myth_global *g = ev->cli->global;
    if (ev->model) {
        args[n++] = "--model";
        args[n++] = ev->model;
    }
    if (myth_args_is_given(ev->cli->parsed, "device")) {
        args[n++] = "--device";
        args[n++] = g->device;
    }
    if (g->n_threads) {
        snprintf(threads, 16, "%u", g->n_threads);
        args[n++] = "--threads";
        args[n++] = threads;
    }
    return n;
}

int myth_eval_find_flags(const char **args, int n, const myth_eval *ev, char confidence[32])
{
    const myth_parsed *parsed = ev->cli->parsed;
    const myth_judged_flags *f = &ev->flags->judged;
    if (myth_args_is_given(parsed, "find")) {
        args[n++] = "--find";
        args[n++] = myth_find_name((myth_find)f->find);
    }
    if (myth_args_is_given(parsed, "explain"))
        args[n++] = f->explain ? "--explain" : "--no-explain";
    if (f->model) {
        args[n++] = "--judge-model";
        args[n++] = f->model;
    }
    if (myth_args_is_given(parsed, "confidence")) {
        snprintf(confidence, 32, "%.9g", (double)f->confidence);
        args[n++] = "--confidence";
        args[n++] = confidence;
    }
    return n;
}

myth_status myth_eval_not_refused(const json_t *report, const char *command, const char *what, myth_error *err)
{
    const json_t *refusal = json_object_get(report, "refusal");
    const char *reason = json_string_value(json_object_get(refusal, "reason"));
    return refusal
             ? myth_fail(err, MYTH_ELIMIT, "mythos %s %.80s: refused: %.120s", command, what, reason ? reason : "")
             : MYTH_OK;
}

static myth_status inspect(json_t **report, const myth_eval *ev, const char *tree, const char *path, myth_error *err)
{
    char threads[16], confidence[32];
    const char *args[MYTH_SELF_ARGS] = {"inspect-file", "--quiet", "--format", "json", "--fail-level", "never"};
    int n = myth_eval_find_flags(args, myth_eval_model_flags(args, 6, ev, threads), ev, confidence), code;
    args[n++] = "--";
    args[n++] = path;
    myth_status st = myth_self_json(report, &code, &ev->self, args, tree, 1u << MYTH_EXIT_INCOMPLETE, err);
    if (st == MYTH_OK)
        st = myth_eval_not_refused(*report, args[0], path, err);
    if (st != MYTH_OK) {
        json_decref(*report);
        *report = NULL;
    }
    return st;
}

static void sum_up(myth_eval *ev, const counts *c)
{
    myth_eval_answers *a = &ev->answers;
    double *both = c->planted, *twice = c->found; /* F1 = 2 found / (planted + findings) */
    a->was_run = true;
    a->recall = myth_bootstrap_ratio(c->found, c->planted, c->n_file, ev->room);
    a->precision = myth_bootstrap_ratio(c->matched, c->finding, c->n_file, ev->room);
    for (uint32_t i = 0; i < c->n_file; i++) {
        both[i] += c->finding[i];
        twice[i] *= 2;
    }
    a->f1 = myth_bootstrap_ratio(twice, both, c->n_file, ev->room);
}

myth_status myth_eval_inspect(myth_eval *ev, myth_error *err)
{
    char tree[MYTH_EVAL_PATH];
    const myth_plants *p = &ev->plants;
    myth_mem *mem = ev->cli->mem;
    myth_status st = MYTH_OK;
    double *room = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", 4 * (size_t)p->n_defect + 4, sizeof(*room));
    bool *is_found = myth_alloc_n(mem, MYTH_MEM_OTHER, "eval", p->n_defect + 1, sizeof(*is_found));
    if (!room || !is_found || !myth_eval_path(tree, ev->data, "tree")) {
        st = myth_fail(err, MYTH_ENOMEM, "eval: no memory for %u defects", p->n_defect);
        goto fail;
    }
    counts c = {room, room + p->n_defect, room + 2 * p->n_defect, room + 3 * p->n_defect, is_found, 0};
    ev->answers = (myth_eval_answers){0};
    for (uint32_t from = 0, to; from < p->n_defect; from = to) {
        json_t *report;
        for (to = from + 1; to < p->n_defect && strcmp(p->defect[to].path, p->defect[from].path) == 0;)
            to++;
        myth_term_progress(ev->cli->term, "planted defects", from, p->n_defect);
        MYTH_TRY(inspect(&report, ev, tree, p->defect[from].path, err));
        take_report(ev, tree, report, from, to, &c);
        json_decref(report);
    }
    sum_up(ev, &c);
fail:
    myth_free(mem, room);
    myth_free(mem, is_found);
    return st;
}
