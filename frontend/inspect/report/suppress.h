/* suppress.h - ignore comments, which excuse a finding:
 *
 *   x = 1 / n; // mythos:ignore[division-by-zero] n was checked by the caller
 *
 * Form     mythos:ignore[rule, rule ...] reason, at the beginning of a comment; [*] means every rule; the reason is
 *          required
 * Place    applies to the comment's line, or to the next line with code when the comment has its own line. It excuses a
 *          finding that cites that line
 * Trust    whoever writes the code also writes these comments. Therefore each is counted and listed, the finding stays
 *          in the report with a mark, and --no-inline-ignores turns them off
 * Wrong    a comment with an unknown rule, no closing bracket or no reason is listed with its error and has no effect
 * Owner    texts point into the source
 * Errors   none
 * Threads  any */
#ifndef MYTH_INSPECT_SUPPRESS_H
#define MYTH_INSPECT_SUPPRESS_H

#include "frontend/inspect/answer/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const myth_source *src;
    uint32_t line, target;  /* line of the comment; line of the code it applies to (0 = none follows) */
    myth_str rules, reason; /* as written */
    const char *wrong;      /* what is wrong with it; NULL = nothing */
    uint32_t n_used;        /* findings that it excuses */
    bool has_unseen;        /* it would excuse one that was found, but not asked for */
} myth_suppression;

/* Finds the ignore comments of src in order; writes at most cap and returns how many there are. */
uint32_t myth_suppressions_find(myth_suppression *out, uint32_t cap, const myth_source *src);
/* Whether s excuses a finding of src. */
bool myth_suppresses(const myth_suppression *s, const myth_source *src, const myth_finding *f);
/* Whether s has the id of one of the rules that have a bit in `rules`, by their index; whether it has a star. */
bool myth_suppression_names(const myth_suppression *s, uint64_t rules);
bool myth_suppression_is_all(const myth_suppression *s);

#ifdef __cplusplus
}
#endif
#endif
