/* gate.c - compares measures with the floors that a file sets for them: a measure below its floor is a regression. */
#include "eval.h"

#include <stdio.h>
#include <string.h>

static void check_floor(myth_gate *g, const char *group, const char *measure, double floor, double value)
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
    return myth_fail(err, MYTH_EARG, "%s: a floor for %.60s %.40s, which this evaluation does not measure", path, group,
                     measure);
}

static myth_status judge_metrics(myth_gate *g, const myth_eval *ev, const char *path, json_t *floors, myth_error *err)
{
    myth_eval_metric m[MYTH_EVAL_METRICS];
    uint32_t n = myth_eval_metrics(ev, m), i;
    const char *name;
    json_t *floor;
    json_object_foreach(floors, name, floor)
    {
        for (i = 0; i < n && strcmp(m[i].name, name) != 0; i++)
            ;
        if (i == n || !json_is_number(floor))
            return unknown(path, "metrics", name, err);
        if (m[i].has_value)
            check_floor(g, "metrics", name, json_number_value(floor), m[i].value.mean);
        else
            g->n_skipped++;
    }
    return MYTH_OK;
}

/* c: index of the configuration; UINT32_MAX when this run has none of that name. */
static myth_status judge_group(myth_gate *g, const myth_eval *ev, uint32_t c, const char *path,
                               const myth_eval_group *group, const char *group_name, json_t *floors, myth_error *err)
{
    char at[MYTH_MEASURE_NAME], name_at[sizeof(g->below[0].group)];
    const char *name;
    json_t *floor;
    json_object_foreach(floors, name, floor)
    {
        uint32_t m = 0;
        while (m < ev->n_measure && strcmp(myth_measure_name(at, &ev->measure[m]), name) != 0)
            m++;
        if (m == ev->n_measure || !json_is_number(floor))
            return unknown(path, group_name, name, err);
        if (ev->flags->part == MYTH_EVAL_ANSWERS || c == UINT32_MAX) {
            g->n_skipped++;
            continue;
        }
        snprintf(name_at, sizeof(name_at), "%.20s%s%.20s", c ? ev->config[c].name : "", c ? " " : "", group_name);
        check_floor(g, name_at, name, json_number_value(floor), myth_eval_mean(ev, group, c, m).mean);
    }
    return MYTH_OK;
}

/* The floors of one configuration, by group. */
static myth_status judge_groups(myth_gate *g, const myth_eval *ev, uint32_t c, const char *path, json_t *all,
                                myth_error *err)
{
    myth_eval_group group[MYTH_EVAL_GROUPS];
    uint32_t n = myth_eval_groups(ev, group), i;
    myth_status st = MYTH_OK;
    const char *name;
    json_t *floors;
    json_object_foreach(all, name, floors)
    {
        if (st != MYTH_OK)
            break;
        for (i = 0; i < n && strcmp(group[i].tag ? group[i].tag : "all", name) != 0; i++)
            ;
        if (c == 0 && strcmp(name, "metrics") == 0)
            st = judge_metrics(g, ev, path, floors, err);
        else
            st = i < n ? judge_group(g, ev, c, path, &group[i], name, floors, err) : unknown(path, name, "", err);
    }
    return st;
}

myth_status myth_gate_read(myth_gate *out, const myth_eval *ev, const char *path, myth_error *err)
{
    const char *name;
    json_t *root, *floors;
    *out = (myth_gate){.was_asked = true};
    myth_status st = myth_eval_json(&root, path, err);
    if (st != MYTH_OK)
        return st;
    json_t *all = json_object_get(root, "floors");
    if (!json_is_object(all) || json_object_size(all) == 0)
        st = myth_fail(err, MYTH_EFORMAT, "%s: expected {\"floors\":{\"all\":{\"recall@12\":0.9}}}", path);
    else
        st = judge_groups(out, ev, 0, path, all, err);
    json_object_foreach(json_object_get(root, "against"), name, floors)
    {
        uint32_t c = 1;
        if (st != MYTH_OK)
            break;
        while (c < ev->n_config && strcmp(ev->config[c].name, name) != 0)
            c++;
        st = judge_groups(out, ev, c < ev->n_config ? c : UINT32_MAX, path, floors, err);
    }
    json_decref(root);
    return st;
}
