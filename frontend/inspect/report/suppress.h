/* suppress.h - findings that a comment in the code answers:   x = 1 / n;   // mythos:ignore[division-by-zero] n was
 * checked by the caller
 *
 * Form     mythos:ignore[rule, rule ...] reason  behind the mark of a comment; [*] stands for every rule; a reason must
 *          be given
 * Place    the comment's line, or the next line with code when it stands alone. A finding is answered when one of its
 *          lines is that line
 * Trust    whoever writes the code writes these too: each is counted and listed, the finding stays in the report,
 *          marked, and --no-inline-ignores turns them off
 * Wrong    a rule that is not known, no closing bracket, no reason: listed with what is wrong, answers nothing
 * Errors   MYTH_ENOMEM */
#ifndef MYTH_INSPECT_SUPPRESS_H
#define MYTH_INSPECT_SUPPRESS_H

#include "frontend/inspect/answer/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const myth_source *src;
    uint32_t line, target;  /* of the comment; of the code it speaks of (0 = none follows) */
    myth_str rules, reason; /* as written; lent from the source */
    const char *wrong;      /* NULL = in order */
    uint32_t n_used;        /* findings answered */
} myth_suppression;

/* Comments of src in order; at most cap are written, returns how many there are. */
uint32_t myth_suppressions_find(myth_suppression *out, uint32_t cap, const myth_source *src);
/* Whether s answers a finding of src. */
bool myth_suppresses(const myth_suppression *s, const myth_source *src, const myth_finding *f);

#ifdef __cplusplus
}
#endif
#endif
