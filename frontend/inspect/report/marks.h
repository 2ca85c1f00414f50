/* marks.h - what is known of findings beside what the model said: fingerprints, comments that answer them, the
 * baseline; and the secrets of the files they are about.
 *
 * Order    open before a plan is made (all memory is booked here), fill once the findings stand
 * Owner    the report's pointers into marks are valid until close; sources and baseline are lent
 * Errors   MYTH_ENOMEM, MYTH_ELIMIT */
#ifndef MYTH_INSPECT_MARKS_H
#define MYTH_INSPECT_MARKS_H

#include "baseline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_mem *mem, *later_mem; /* later_mem: of what is added behind reserve */
    myth_redactor redactor;
    myth_mark *mark; /* [cap] */
    uint32_t cap;
    myth_suppression *suppression;
    uint32_t n_suppression, cap_suppression;
    bool use_suppressions;
    const myth_baseline *baseline; /* NULL = none */
} myth_marks;

/* For at most cap findings about block[0 .. n_block). Sets the report's pointers. */
myth_status myth_marks_open(myth_marks *m, myth_mem *mem, myth_report *r, const myth_block *block, uint32_t n_block,
                            uint32_t cap, bool use_suppressions, const myth_baseline *baseline, myth_error *err);
/* Room for what rounds bring: n_file files with together n_suppression comments; what else they need is booked in mem,
 * which outlives m. Sets the report's pointers anew. */
myth_status myth_marks_reserve(myth_marks *m, myth_report *r, myth_mem *mem, uint32_t n_file, uint32_t n_suppression,
                               myth_error *err);
/* A file that a round brings. MYTH_EFULL past what was reserved, MYTH_ENOMEM: it is not to be shown. */
myth_status myth_marks_add(myth_marks *m, myth_report *r, const myth_source *src, myth_error *err);
/* Marks the report's findings. */
void myth_marks_fill(myth_marks *m, myth_report *r);
void myth_marks_close(myth_marks *m); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
