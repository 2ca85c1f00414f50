/* outputs.c - finds output forms by their names and writes each to its file, which outfile.h replaces as a whole. */
#include "outputs.h"

#include "engine/base/outfile.h"
#include "frontend/cli/hints.h"

#include <string.h>

static const struct {
    const char *name;
    void (*render)(FILE *f, const myth_report *r, const myth_term *t);
    bool has_summary;
} forms[MYTH_FORM_N] = {
#define FORM(ID, name, has_summary) {#name, myth_render_##name, has_summary},
    MYTH_FORM_ROWS(FORM, FORM)
#undef FORM
};

const char *myth_form_name(myth_form form) { return forms[form].name; }

bool myth_form_has_summary(myth_form form) { return forms[form].has_summary; }

void myth_output_render(FILE *f, myth_form form, const myth_report *r, const myth_term *t)
{
    forms[form].render(f, r, t);
}

/* Splits "sarif=a.sarif" into the form and the path. */
static bool parse(myth_form *form, const char **path, const char *item)
{
    const char *equal = strchr(item, '=');
    if (!equal || !equal[1])
        return false;
    *path = equal + 1;
    for (int i = 0; i < MYTH_FORM_N; i++)
        if (strlen(forms[i].name) == (size_t)(equal - item) && !memcmp(forms[i].name, item, (size_t)(equal - item))) {
            *form = (myth_form)i;
            return true;
        }
    return false;
}

myth_form myth_outputs_form(const char *item)
{
    myth_form form = MYTH_FORM_TEXT;
    const char *path;
    parse(&form, &path, item);
    return form;
}

bool myth_outputs_have(const myth_opt_list *list, myth_form form)
{
    for (int i = 0; i < list->n; i++) {
        myth_form its;
        const char *path;
        if (parse(&its, &path, list->item[i]) && its == form)
            return true;
    }
    return false;
}

myth_status myth_outputs_check(const myth_opt_list *list, myth_error *err)
{
    for (int i = 0; i < list->n; i++) {
        myth_form form;
        myth_status st;
        const char *path, *other;
        if (!parse(&form, &path, list->item[i]))
            return myth_fail(err, MYTH_EARG, "--output: got '%s', expected FORM=PATH with a form of " MYTH_FORMS,
                             list->item[i]);
        if (!strcmp(path, "-"))
            return myth_fail(err, MYTH_EARG,
                             "--output %s=-: standard output has the form of --format; give --format %s, or a file",
                             forms[form].name, forms[form].name);
        for (int k = 0; k < i; k++)
            if (parse(&form, &other, list->item[k]) && !strcmp(path, other) && !myth_out_is_special(path))
                return myth_fail(err, MYTH_EARG, "--output: %s is named twice; give each form a file of its own", path);
        if ((st = myth_hint_check_output("--output", path, err)) != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static myth_status write_one(myth_form form, const char *path, const myth_report *r, myth_error *err)
{
    const myth_term plain = {0};
    FILE *f;
    myth_out o;
    myth_status st = myth_out_print_open(&o, &f, path, err);
    if (st != MYTH_OK)
        return st;
    myth_output_render(f, form, r, &plain);
    return myth_out_print_close(&o, f, MYTH_OK, err);
}

myth_status myth_outputs_write(const myth_opt_list *list, const myth_report *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (int i = 0; i < list->n && st == MYTH_OK; i++) {
        myth_form form;
        const char *path;
        if (parse(&form, &path, list->item[i]))
            st = write_one(form, path, r, err);
    }
    return st;
}
