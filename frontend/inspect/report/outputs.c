/* outputs.c - forms by name, files by outfile.h. */
#include "outputs.h"

#include "engine/base/outfile.h"

#include <string.h>

void myth_output_render(FILE *f, myth_form form, const myth_report *r, const myth_term *t)
{
    switch (form) {
    case MYTH_FORM_TEXT: myth_render_text(f, r, t); break;
    case MYTH_FORM_JSON: myth_render_json(f, r); break;
    case MYTH_FORM_JSONL: myth_render_jsonl(f, r); break;
    case MYTH_FORM_SARIF: myth_render_sarif(f, r); break;
    case MYTH_FORM_GITHUB: myth_render_github(f, r); break;
    case MYTH_FORM_RDJSONL: myth_render_rdjsonl(f, r); break;
    case MYTH_FORM_HTML: myth_render_html(f, r); break;
    case MYTH_FORM_N: break;
    }
}

/* "sarif=a.sarif" to its form and where its path begins. */
static bool parse(myth_form *form, const char **path, const char *item)
{
    const char *name = MYTH_FORMS, *equal = strchr(item, '=');
    if (!equal || !equal[1])
        return false;
    *path = equal + 1;
    for (int i = 0; i < MYTH_FORM_N; i++) {
        size_t n = strcspn(name, "|");
        if (n == (size_t)(equal - item) && !memcmp(name, item, n)) {
            *form = (myth_form)i;
            return true;
        }
        name += n + (name[n] == '|');
    }
    return false;
}

myth_status myth_outputs_check(const myth_opt_list *list, myth_error *err)
{
    for (int i = 0; i < list->n; i++) {
        myth_form form;
        const char *path, *other;
        if (!parse(&form, &path, list->item[i]))
            return myth_fail(err, MYTH_EARG, "--output: got '%s', expected FORM=PATH with a form of " MYTH_FORMS,
                             list->item[i]);
        for (int k = 0; k < i; k++)
            if (parse(&form, &other, list->item[k]) && !strcmp(path, other) && !myth_out_is_special(path))
                return myth_fail(err, MYTH_EARG, "--output: %s is named twice; give each form a file of its own", path);
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
