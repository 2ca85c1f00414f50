/* gate.c - floors for what was measured, from a file: below one of them is a regression. */
#include "eval.h"

#include <stdio.h>
#include <string.h>

static void judge(myth_gate *g, const char *group, const char *measure, double floor, double value)
{
    g->n_floor++;
    if (value >= floor)
        return;
    if (g->n_below < MYTH_GATE_BELOW) {
        myth_gate_row *r = &g->below[g->n_below];
        snprintf(r->group, sizeof(r->group), "%s", group);
        snprintf(r->measure, sizeof(r->measure), "%s", measure);
        r->floor = floor;
        r->value = value;
    }
    g->n_below++;
}

static myth_status unknown(const char *path, const char *group, const char *measure, myth_error *err)
{
    return myth_fail(err, MYTH_EARG, "%s: a floor for %.60s %.40s, which this evaluation does not measure", path, group, measure);
}

static myth_status judge_metrics(myth_gate *g, const myth_eval *ev, const char *path, json_t *floors, myth_error *err)
{
    myth_eval_metric m[MYTH_EVAL_METRICS];
    uint32_t n = myth_eval_metrics(ev, m), i;
    const char *name;
    json_t *floor;
    json_object_foreach(floors, name, floor) {
        for (i = 0; i < n && strcmp(m[i].name, name) != 0; i++)
            ;
        if (i == n || !json_is_number(floor))
            return unknown(path, "metrics", name, err);
        if (m[i].has_value)
            judge(g, "metrics", name, json_number_value(floor), m[i].value.mean);
        else
            g->n_skipped++;
    }
    return MYTH_OK;
}

static myth_status judge_group(myth_gate *g, const myth_eval *ev, const char *path, const myth_eval_group *group, const char *group_name, json_t *floors,
                               myth_error *err)
{
    char at[MYTH_MEASURE_NAME];
    const char *name;
    json_t *floor;
    json_object_foreach(floors, name, floor) {
        uint32_t m = 0;
        while (m < ev->n_measure && strcmp(myth_measure_name(at, &ev->measure[m]), name) != 0)
            m++;
        if (m == ev->n_measure || !json_is_number(floor))
            return unknown(path, group_name, name, err);
        if (ev->flags->part == MYTH_EVAL_ANSWERS)
            g->n_skipped++;
        else
            judge(g, group_name, name, json_number_value(floor), myth_eval_mean(ev, group, 0, m).mean);
    }
    return MYTH_OK;
}

myth_status myth_gate_read(myth_gate *out, const myth_eval *ev, const char *path, myth_error *err)
{
    myth_eval_group group[MYTH_EVAL_GROUPS];
    uint32_t n = myth_eval_groups(ev, group), i;
    const char *name;
    json_t *root, *floors;
    *out = (myth_gate){ .was_asked = true };
    myth_status st = myth_eval_json(&root, path, err);
    if (st != MYTH_OK)
        return st;
    json_t *all = json_object_get(root, "floors");
    if (!json_is_object(all) || json_object_size(all) == 0)
        st = myth_fail(err, MYTH_EFORMAT, "%s: expected {\"floors\":{\"all\":{\"recall@12\":0.9}}}", path);
    json_object_foreach(all, name, floors) {
        if (st != MYTH_OK)
            break;
        for (i = 0; i < n && strcmp(group[i].tag ? group[i].tag : "all", name) != 0; i++)
            ;
        if (strcmp(name, "metrics") == 0)
            st = judge_metrics(out, ev, path, floors, err);
        else
            st = i < n ? judge_group(out, ev, path, &group[i], name, floors, err) : unknown(path, name, "", err);
    }
    json_decref(root);
    return st;
}
