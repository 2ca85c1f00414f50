/* files.c - see files.h. */
#include "files.h"
#include "frontend/cli/hints.h"

#include <stdio.h>
#include <string.h>

/* Names the language that was probably meant: one spelled alike, or the one whose files end so ("py", "rs"). */
static myth_status unknown_language(const char *name, myth_error *err)
{
    enum { LANGUAGES_MAX = 256 };
    const char *known[LANGUAGES_MAX];
    char file[80];
    uint32_t n = 0;
    while (n < LANGUAGES_MAX && (known[n] = myth_detect_language_name(n)) != NULL)
        n++;
    snprintf(file, sizeof(file), "file.%.60s", name);
    const char *near = myth_detect_language(file, NULL, 0);
    if (!near[0] || strcmp(near, "text") == 0) /* what no ending tells is text */
        near = myth_args_nearest(name, known, n);
    return near ? myth_fail(err, MYTH_EARG, "--type: unknown language '%.60s'; did you mean %s?", name, near)
                : myth_fail(err, MYTH_EARG, "--type: unknown language '%.60s'; mythos languages lists them", name);
}

void myth_search_files_note_none(const myth_cli *cli, const myth_search_files *f)
{
    if (f->glob->n || f->type->n)
        myth_term_note(cli->term, "no file passes %s%s%s; mythos scan lists the files that there are",
                       f->glob->n ? "--glob" : "", f->glob->n && f->type->n ? " and " : "", f->type->n ? "--type" : "");
}

myth_status myth_search_files_list(myth_scan_list *list, myth_cli *cli, const myth_search_files *f, const char *dir,
                                   myth_error *err)
{
    const char *glob[MYTH_OPT_LIST_MAX + 1] = {0};
    for (int i = 0; i < f->glob->n; i++)
        glob[i] = f->glob->item[i];
    for (int i = 0; i < f->type->n; i++)
        if (!myth_detect_is_language(f->type->item[i]))
            return unknown_language(f->type->item[i], err);
    if (myth_hint_check_dir(dir, err) != MYTH_OK)
        return err->code;
    myth_scan_opts so = {
        .root = dir,
        .globs = f->glob->n ? glob : NULL,
        .no_ignore = f->no_ignore,
        .hidden = f->hidden,
        .names_only = true,
        .n_threads = cli->global->n_threads,
        .is_cancelled = cli->cancel,
    };
    myth_status st = myth_scan(list, cli->mem, &so, err);
    if (st != MYTH_OK || !f->type->n)
        return st;
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n_file; i++) {
        const char *language = myth_detect_language(list->file[i].path, NULL, 0);
        bool is_wanted = false;
        for (int k = 0; k < f->type->n; k++)
            is_wanted = is_wanted || strcmp(f->type->item[k], language) == 0;
        if (is_wanted)
            list->file[n++] = list->file[i];
    }
    list->n_file = n;
    return MYTH_OK;
}
