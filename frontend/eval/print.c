/* print.c - prints the results of an evaluation: tables for people, or one JSON document for programs. */
#include "eval.h"
#include "frontend/cli/json_out.h"

#include <stdio.h>
#include <string.h>

static const char *group_name(const myth_eval_group *g) { return g->tag ? g->tag : "all"; }
static bool has_questions(const myth_eval *ev) { return ev->flags->part != MYTH_EVAL_ANSWERS; }

/* ---- text ---- */

static void print_configuration(const myth_eval *ev, uint32_t c, const myth_eval_group *group, uint32_t n_group)
{
    char name[MYTH_MEASURE_NAME];
    printf("%s%s%s%s\n", ev->config[c].name, ev->config[c].weights[0] ? " (" : "", ev->config[c].weights,
           ev->config[c].weights[0] ? ")" : "");
    for (uint32_t g = 0; g < n_group; g++) {
        printf("  %s, %u task%s\n", group_name(&group[g]), group[g].n_task, myth_s(group[g].n_task));
        for (uint32_t m = 0; m < ev->n_measure; m++) {
            myth_interval v = myth_eval_mean(ev, &group[g], c, m);
            printf("    %-13s %.4f [%.4f, %.4f]", myth_measure_name(name, &ev->measure[m]), v.mean, v.low, v.high);
            if (c > 0) {
                v = myth_eval_difference(ev, &group[g], c, m);
                printf("   difference %+.4f [%+.4f, %+.4f]", v.mean, v.low, v.high);
            }
            putchar('\n');
        }
    }
}

static void print_metrics(const myth_eval *ev)
{
    myth_eval_metric m[MYTH_EVAL_METRICS];
    uint32_t n = myth_eval_metrics(ev, m);
    const myth_eval_answers *a = &ev->answers;
    if (n)
        puts("metrics");
    for (uint32_t i = 0; i < n; i++) {
        if (!m[i].has_value)
            printf("  %-20s -      %s\n", m[i].name, m[i].why);
        else if (m[i].has_interval)
            printf("  %-20s %.4f [%.4f, %.4f]\n", m[i].name, m[i].value.mean, m[i].value.low, m[i].value.high);
        else
            printf("  %-20s %.4f\n", m[i].name, m[i].value.mean);
    }
    if (a->was_run)
        printf("  %u of %u planted defect%s found in %u file%s, %u finding%s, %u dropped, %u of %u request%s met\n",
               a->n_found, a->n_planted, myth_s(a->n_planted), a->n_file, myth_s(a->n_file), a->n_finding,
               myth_s(a->n_finding), a->n_dropped, a->n_resolved, a->n_request, myth_s(a->n_request));
    if (a->was_diffed)
        printf("  %u of %u defect%s of the regression found, %u finding%s\n", a->n_change_found, a->n_change,
               myth_s(a->n_change), a->n_change_finding, myth_s(a->n_change_finding));
}

void myth_eval_print_text(const myth_eval *ev, const myth_gate *gate)
{
    myth_eval_group group[MYTH_EVAL_GROUPS];
    uint32_t n = myth_eval_groups(ev, group);
    for (uint32_t c = 0; c < ev->n_config && has_questions(ev); c++)
        print_configuration(ev, c, group, n);
    print_metrics(ev);
    for (uint32_t i = 0; i < gate->n_below && i < MYTH_GATE_BELOW; i++)
        printf("below the gate: %s %s is %.4f, the floor %.4f\n", gate->below[i].group, gate->below[i].measure,
               gate->below[i].value, gate->below[i].floor);
    if (gate->was_asked)
        printf("gate: %u floor%s, %u below, %u not measured in this run\n", gate->n_floor, myth_s(gate->n_floor),
               gate->n_below, gate->n_skipped);
}

/* ---- JSON ---- */

static void put_interval(myth_json_out *j, const char *key, myth_interval v)
{
    myth_jout_key(j, key);
    myth_jout_object(j);
    myth_jout_key_f64(j, "mean", v.mean);
    myth_jout_key_f64(j, "low", v.low);
    myth_jout_key_f64(j, "high", v.high);
    myth_jout_end(j);
}

static void put_group(myth_json_out *j, const myth_eval *ev, uint32_t c, const myth_eval_group *g)
{
    char name[MYTH_MEASURE_NAME];
    myth_jout_object(j);
    myth_jout_key_str(j, "group", group_name(g));
    myth_jout_key_u64(j, "tasks", g->n_task);
    myth_jout_key(j, "measures");
    myth_jout_object(j);
    for (uint32_t m = 0; m < ev->n_measure; m++)
        put_interval(j, myth_measure_name(name, &ev->measure[m]), myth_eval_mean(ev, g, c, m));
    myth_jout_end(j);
    if (c > 0) {
        myth_jout_key(j, "difference");
        myth_jout_object(j);
        for (uint32_t m = 0; m < ev->n_measure; m++)
            put_interval(j, myth_measure_name(name, &ev->measure[m]), myth_eval_difference(ev, g, c, m));
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void put_configurations(myth_json_out *j, const myth_eval *ev)
{
    myth_eval_group group[MYTH_EVAL_GROUPS];
    uint32_t n = myth_eval_groups(ev, group);
    myth_jout_key(j, "configurations");
    myth_jout_array(j);
    for (uint32_t c = 0; c < ev->n_config && has_questions(ev); c++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "name", ev->config[c].name);
        myth_jout_key_bool(j, "lexical", ev->config[c].lexical);
        myth_jout_key_str(j, "weights", ev->config[c].weights);
        myth_jout_key(j, "groups");
        myth_jout_array(j);
        for (uint32_t g = 0; g < n; g++)
            put_group(j, ev, c, &group[g]);
        myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void put_row(myth_json_out *j, const myth_eval *ev, uint32_t config, uint32_t task)
{
    char name[MYTH_MEASURE_NAME];
    for (uint32_t m = 0; m < ev->n_measure; m++)
        myth_jout_key_f64(j, myth_measure_name(name, &ev->measure[m]), myth_eval_row(ev, config, task)[m]);
}

/* Writes for each task the measures of the first configuration, and under "against" those of the others, in order. */
static void put_tasks(myth_json_out *j, const myth_eval *ev)
{
    myth_jout_key(j, "tasks");
    myth_jout_array(j);
    for (uint32_t t = 0; t < ev->tasks.n_task && has_questions(ev); t++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "id", ev->tasks.task[t].id);
        put_row(j, ev, 0, t);
        if (ev->n_config > 1) {
            myth_jout_key(j, "against");
            myth_jout_array(j);
        }
        for (uint32_t c = 1; c < ev->n_config; c++) {
            myth_jout_object(j);
            put_row(j, ev, c, t);
            myth_jout_end(j);
        }
        if (ev->n_config > 1)
            myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void put_metrics(myth_json_out *j, const myth_eval *ev)
{
    myth_eval_metric m[MYTH_EVAL_METRICS];
    uint32_t n = myth_eval_metrics(ev, m);
    const myth_eval_answers *a = &ev->answers;
    myth_jout_key(j, "metrics");
    myth_jout_object(j);
    for (uint32_t i = 0; i < n; i++) {
        myth_jout_key(j, m[i].name);
        myth_jout_object(j);
        myth_jout_key(j, "value");
        if (m[i].has_value)
            myth_jout_f64(j, m[i].value.mean);
        else
            myth_jout_null(j);
        if (m[i].has_value && m[i].has_interval) {
            myth_jout_key_f64(j, "low", m[i].value.low);
            myth_jout_key_f64(j, "high", m[i].value.high);
        }
        if (!m[i].has_value)
            myth_jout_key_str(j, "because", m[i].why);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (!a->was_run)
        return;
    const struct {
        const char *name;
        uint32_t n;
    } number[] = {
        {"files", a->n_file},
        {"planted", a->n_planted},
        {"found", a->n_found},
        {"findings", a->n_finding},
        {"dropped", a->n_dropped},
        {"requests", a->n_request},
        {"requests_met", a->n_resolved},
        {"changes", a->n_change},
        {"changes_found", a->n_change_found},
        {"changes_findings", a->n_change_finding},
    };
    myth_jout_key(j, "answers");
    myth_jout_object(j);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        myth_jout_key_u64(j, number[i].name, number[i].n);
    myth_jout_end(j);
}

static void put_gate(myth_json_out *j, const myth_gate *gate)
{
    myth_jout_key(j, "gate");
    myth_jout_object(j);
    myth_jout_key_bool(j, "passed", gate->n_below == 0);
    myth_jout_key_u64(j, "floors", gate->n_floor);
    myth_jout_key_u64(j, "not_measured", gate->n_skipped);
    myth_jout_key(j, "below");
    myth_jout_array(j);
    for (uint32_t i = 0; i < gate->n_below && i < MYTH_GATE_BELOW; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "group", gate->below[i].group);
        myth_jout_key_str(j, "measure", gate->below[i].measure);
        myth_jout_key_f64(j, "value", gate->below[i].value);
        myth_jout_key_f64(j, "floor", gate->below[i].floor);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_end(j);
}

void myth_eval_print_json(const myth_eval *ev, const myth_gate *gate)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "eval", myth_eval_set_name(ev->set));
    myth_jout_key_u64(&j, "n", ev->tasks.n_task);
    myth_jout_key_u64(&j, "k", ev->k);
    put_configurations(&j, ev);
    put_tasks(&j, ev);
    put_metrics(&j, ev);
    if (gate->was_asked)
        put_gate(&j, gate);
    myth_jout_end(&j);
}
