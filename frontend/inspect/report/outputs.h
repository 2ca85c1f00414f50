/* outputs.h - writes a report in one form to standard output and in others to files, each file whole or not at all.
 *
 *   --format text        --output sarif=report.sarif --output html=report.html
 *
 * Files    written under a temporary name, synced and renamed (outfile.h); a device or a pipe is written directly
 * Errors   MYTH_EARG: not FORM=PATH, an unknown form, a path that is given twice, or "-", which would mix two forms;
 *          MYTH_ECREATE, MYTH_EIO
 * Threads  one */
#ifndef MYTH_INSPECT_OUTPUTS_H
#define MYTH_INSPECT_OUTPUTS_H

#include "frontend/cli/args.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One row for each form: its enumerator, its name for --format and the run log, and whether it shows the summary of a
 * change (report.h). The function myth_render_<name> is in render_<name>.c. A new form is a row here and that file. */
#define MYTH_FORM_ROWS(FIRST, FORM)     \
    FIRST(TEXT, text, true)             \
    FORM(JSON, json, true)              \
    FORM(JSONL, jsonl, true)            \
    FORM(SARIF, sarif, true)            \
    FORM(GITHUB, github, true)          \
    FORM(RDJSONL, rdjsonl, false)       \
    FORM(CHECKSTYLE, checkstyle, false) \
    FORM(CODEQUALITY, codequality, false) FORM(JUNIT, junit, false) FORM(HTML, html, true)

typedef enum {
#define FORM(ID, name, has_summary) MYTH_FORM_##ID,
    MYTH_FORM_ROWS(FORM, FORM)
#undef FORM
        MYTH_FORM_N
} myth_form;

#define MYTH_FORM_FIRST_NAME(ID, name, has_summary) #name
#define MYTH_FORM_NEXT_NAME(ID, name, has_summary)  "|" #name
/* "text|json|..." */
#define MYTH_FORMS                                  MYTH_FORM_ROWS(MYTH_FORM_FIRST_NAME, MYTH_FORM_NEXT_NAME)

/* Prints a report; t has the colours that text is shown in. */
#define FORM(ID, name, has_summary) void myth_render_##name(FILE *f, const myth_report *r, const myth_term *t);
MYTH_FORM_ROWS(FORM, FORM)
#undef FORM

const char *myth_form_name(myth_form form);
bool myth_form_has_summary(myth_form form);
void myth_output_render(FILE *f, myth_form form, const myth_report *r, const myth_term *t);
/* Whether some FORM=PATH of the list has this form. */
bool myth_outputs_have(const myth_opt_list *list, myth_form form);
/* The form of an item FORM=PATH that was checked. */
myth_form myth_outputs_form(const char *item);
/* Checks every FORM=PATH of a list, before anything is inspected. */
myth_status myth_outputs_check(const myth_opt_list *list, myth_error *err);
/* Writes the report to every FORM=PATH of the list; stops at the first failure. */
myth_status myth_outputs_write(const myth_opt_list *list, const myth_report *r, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
