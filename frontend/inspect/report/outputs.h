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

#define MYTH_FORMS "text|json|jsonl|sarif|github|rdjsonl|html"
typedef enum {
    MYTH_FORM_TEXT,
    MYTH_FORM_JSON,
    MYTH_FORM_JSONL,
    MYTH_FORM_SARIF,
    MYTH_FORM_GITHUB,
    MYTH_FORM_RDJSONL,
    MYTH_FORM_HTML,
    MYTH_FORM_N
} myth_form;

void myth_output_render(FILE *f, myth_form form, const myth_report *r, const myth_term *t);
/* Checks every form=path of a list, before anything is inspected. */
myth_status myth_outputs_check(const myth_opt_list *list, myth_error *err);
/* Writes them all; ends at the first that fails. */
myth_status myth_outputs_write(const myth_opt_list *list, const myth_report *r, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
