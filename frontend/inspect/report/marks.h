/* marks.h - adds to findings what the model does not know: fingerprints, ignore comments, the baseline, and the secrets
 * of their files.
 *
 * Order    open before the plan is made, because it books all memory; fill when the findings are final
 * Owner    the report's pointers into marks are valid until close; the caller keeps sources and baseline as long
 * Errors   MYTH_ENOMEM, MYTH_ELIMIT
 * Threads  one */
#ifndef MYTH_INSPECT_MARKS_H
#define MYTH_INSPECT_MARKS_H

#include "baseline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem, *later_mem; /* later_mem: ledger of files that are added after reserve */
    myth_redactor redactor;
    myth_mark *mark; /* [cap] */
    uint32_t cap;
    myth_suppression *suppression;
    uint32_t n_suppression, cap_suppression;
    bool use_suppressions;
    const myth_baseline *baseline; /* NULL = none */
} myth_marks;

/* Makes marks for at most cap findings about block[0 .. n_block), and sets the report's pointers to them. */
myth_status myth_marks_open(myth_marks *m, myth_mem *mem, myth_report *r, const myth_block *block, uint32_t n_block,
                            uint32_t cap, bool use_suppressions, const myth_baseline *baseline, myth_error *err);
/* Makes room for files that rounds add: n_file files with n_suppression ignore comments in all. Their secrets are
 * booked in mem, which must outlive m. Updates the report's pointers. */
myth_status myth_marks_reserve(myth_marks *m, myth_report *r, myth_mem *mem, uint32_t n_file, uint32_t n_suppression,
                               myth_error *err);
/* Adds a file of a round. MYTH_EFULL past the reserve, MYTH_ENOMEM: the file must then not be shown. */
myth_status myth_marks_add(myth_marks *m, myth_report *r, const myth_source *src, myth_error *err);
/* Notes a finding that is there and not in the report, because it was not asked for: a comment that would excuse it is
 * not idle. */
void myth_marks_unseen(myth_marks *m, const myth_source *src, const myth_finding *f);
/* Fills the marks of the report's findings. */
void myth_marks_fill(myth_marks *m, myth_report *r);
void myth_marks_close(myth_marks *m); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
