/* select_symbol.c - selects the definitions of a name, each with its callers, callees, tests and re-exports, and with
 * what assigns, compares or returns it where there is room for more callers. */
#include "select_impl.h"

#include <stdio.h>
#include <string.h>

/* Definitions in tests are selected only when there are no others. */
static bool is_wanted(const myth_select *s, const myth_usage *u, const myth_usage_definition *d)
{
    bool has_source = false;
    for (uint32_t i = 0; i < u->n_definition; i++)
        has_source |= myth_select_is_below(s, u->definition[i].path) && !u->definition[i].is_test;
    return myth_select_is_below(s, d->path) && (!d->is_test || !has_source);
}

/* What the wanted definitions are called. */
static void put_called(char dst[MYTH_SELECT_CALLED], const myth_select *s, const myth_usage *u)
{
    const myth_usage_definition *of = NULL;
    bool is_one_type = true;
    for (uint32_t i = 0; i < u->n_definition; i++) {
        const myth_usage_definition *d = &u->definition[i];
        if (!is_wanted(s, u, d))
            continue;
        is_one_type &= !of || strcmp(of->parent, d->parent) == 0;
        of = of ? of : d;
    }
    snprintf(dst, MYTH_SELECT_CALLED, "%.120s%s%.120s", is_one_type && of ? of->parent : "",
             is_one_type && of && of->parent[0] ? "." : "", of ? of->name : "");
}

/* Adds the definitions around lines that do something certain with definition `at`, behind its callers and in their
 * stead. */
static myth_status add_mentions(myth_select *s, myth_material *m, const myth_usage *u, uint32_t at, uint32_t piece,
                                myth_select_counts *counts, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n = u->definition[at].callers.n;
    for (uint32_t i = 0; i < u->mentions.n && n < MYTH_SELECT_CALLERS && st == MYTH_OK; i++) {
        const myth_usage_place *p = &u->mentions.place[i];
        char why[MYTH_USAGE_WHY + 16];
        bool is_new;
        if (!p->is_telling || !p->name[0] || (p->of != at && p->of != MYTH_USAGE_ANY))
            continue;
        snprintf(why, sizeof(why), "user: %s", p->why);
        const myth_wanted w = {
            .path = p->path,
            .name = p->name,
            .parent = p->parent,
            .why = why,
            .line = p->line,
            .line0 = p->line0,
            .line1 = p->line1,
            .of = piece,
        };
        st = myth_select_add(s, NULL, &is_new, m, &w, err);
        n += is_new;
        counts->n_context += is_new;
    }
    return st;
}

static myth_status add_definition(myth_select *s, myth_material *m, const myth_usage *u, uint32_t at,
                                  myth_select_counts *counts, myth_error *err)
{
    const myth_usage_definition *d = &u->definition[at];
    static const myth_select_most most = {MYTH_SELECT_CALLERS, MYTH_SELECT_CALLEES, MYTH_SELECT_TESTS,
                                          MYTH_SELECT_EXPORTS, true};
    uint32_t index;
    bool is_new;
    myth_wanted w = {
        .path = d->path,
        .name = d->name,
        .parent = d->parent,
        .why = "definition",
        .line = d->line,
        .line0 = d->line0,
        .line1 = d->line1,
        .is_subject = true,
    };
    myth_status st = myth_select_add(s, &index, &is_new, m, &w, err);
    if (st != MYTH_OK || !is_new) /* it lies inside a piece that is shown already, or it was listed as missed */
        return st;
    counts->n_subject++;
    st = myth_select_usage(s, m, d, index, &most, counts, err);
    return st == MYTH_OK ? add_mentions(s, m, u, at, index, counts, err) : st;
}

myth_status myth_select_symbol(myth_select *s, myth_material *m, const char *name, char called[MYTH_SELECT_CALLED],
                               myth_select_counts *counts, myth_error *err)
{
    static const char too_many[] = "the name has more definitions than are shown; qualify it: path::Type.name";
    myth_usage u = {0};
    char near[160];
    myth_status st = MYTH_OK;
    *counts = (myth_select_counts){0};
    MYTH_TRY(myth_usage_find_all(&u, s->index, name, s->is_cancelled, err));
    if (u.n_definition == 0) {
        MYTH_TRY(myth_select_nearest(s, near, sizeof(near), name, err));
        MYTH_TRY(myth_fail(err, MYTH_ENOTFOUND, "%.60s: no such definition; %s%s", name,
                           near[0] ? "near are " : "mythos search finds text", near));
    }
    if (called)
        put_called(called, s, &u);
    uint32_t n = 0, n_other = 0;
    for (uint32_t i = 0; i < u.n_definition; i++) {
        const myth_usage_definition *d = &u.definition[i];
        n_other += !myth_select_is_below(s, d->path);
        if (!is_wanted(s, &u, d))
            continue;
        if (n++ < MYTH_SELECT_DEFINITIONS) {
            MYTH_TRY(add_definition(s, m, &u, i, counts, err));
            continue;
        }
        counts->n_more++;
        MYTH_TRY(myth_missed_add(&s->missed, d->path, d->line0, d->line1, too_many, err));
    }
    counts->n_more += u.n_more;
    if (u.n_more)
        MYTH_TRY(myth_missed_add(&s->missed, name, 0, 0, too_many, err));
    if (n_other == u.n_definition)
        st = myth_fail(err, MYTH_ENOTFOUND, "%.60s: not defined below %.100s, but in %.100s", name, s->scope,
                       u.definition[0].path);
    else if (counts->n_subject == 0)
        st = myth_fail(err, MYTH_ENOTFOUND, "%.100s: its file cannot be read any more; the index has it as %.100s",
                       name, u.definition[0].path);
fail:
    myth_usage_free(&u);
    return st;
}
