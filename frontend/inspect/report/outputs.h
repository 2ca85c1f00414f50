/* outputs.h - where a report goes: one form to standard output, others to files, each whole or not at all.
 *
 *   --format text        --output sarif=report.sarif --output html=report.html
 *
 * Files    written beside their names, synced, renamed (outfile.h); a device or a pipe in place
 * Errors   MYTH_EARG no form=path, an unknown form, a path that is named twice; MYTH_ECREATE, MYTH_EIO */
#ifndef MYTH_INSPECT_OUTPUTS_H
#define MYTH_INSPECT_OUTPUTS_H

#include "frontend/cli/args.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The forms, one row each: its enumerator and its name, which is what --format takes, what the run log keeps, and what
 * its function is called: myth_render_<name> in render_<name>.c. A form is added by its row and that file. */
#define MYTH_FORM_ROWS(FIRST, FORM) \
    FIRST(TEXT, text)               \
    FORM(JSON, json)                \
    FORM(JSONL, jsonl) FORM(SARIF, sarif) FORM(GITHUB, github) FORM(RDJSONL, rdjsonl) FORM(HTML, html)

typedef enum {
#define FORM(ID, name) MYTH_FORM_##ID,
    MYTH_FORM_ROWS(FORM, FORM)
#undef FORM
        MYTH_FORM_N
} myth_form;

#define MYTH_FORM_FIRST_NAME(ID, name) #name
#define MYTH_FORM_NEXT_NAME(ID, name)  "|" #name
#define MYTH_FORMS                     MYTH_FORM_ROWS(MYTH_FORM_FIRST_NAME, MYTH_FORM_NEXT_NAME) /* "text|json|..." */

/* Prints a report; t says how wide and in which colours text is shown. */
#define FORM(ID, name) void myth_render_##name(FILE *f, const myth_report *r, const myth_term *t);
MYTH_FORM_ROWS(FORM, FORM)
#undef FORM

const char *myth_form_name(myth_form form);
void myth_output_render(FILE *f, myth_form form, const myth_report *r, const myth_term *t);
/* Checks every form=path of a list, before anything is inspected. */
myth_status myth_outputs_check(const myth_opt_list *list, myth_error *err);
/* Writes them all; ends at the first that fails. */
myth_status myth_outputs_write(const myth_opt_list *list, const myth_report *r, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
