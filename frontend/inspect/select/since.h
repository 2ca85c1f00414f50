/* since.h - which lines are not as a revision had them: for findings about what was written since.
 *
 * Asked    of every file beside itself: the bytes that were inspected and the revision's file of that name, or of the
 *          name that it had then. A file that the revision does not have is new to the last line
 * Lines    changed or added ones; where lines went away alone, a range counts that holds those on both sides of the
 *          place
 * Side     the revision is the old side, the new one is what is inspected: working tree, index, commit
 * Memory   of its own ledger: a run's plan does not depend on it
 * Errors   what myth_revision_open says. A file that cannot be compared counts as changed: no finding is hidden by a
 *          failure */
#ifndef MYTH_INSPECT_SINCE_H
#define MYTH_INSPECT_SINCE_H

#include "retrieval/retrieval.h"
#include "frontend/inspect/prompt/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_since myth_since;

/* side: as the files that are inspected were opened, NULL root = by path from the current folder; then `path` is one of
 * them. */
myth_status myth_since_open(myth_since **out, const myth_revision_opts *side, const char *path, const char *rev,
                            myth_error *err);
void myth_since_close(myth_since *s); /* takes NULL */
/* src is told from others by its address. */
bool myth_since_touches(myth_since *s, const myth_source *src, uint32_t first, uint32_t last);
/* Files that could not be compared, and the last reason. */
uint32_t myth_since_n_failed(const myth_since *s, const char **why);
/* Hash of the revision's tree. */
const char *myth_since_id(const myth_since *s);

#ifdef __cplusplus
}
#endif
#endif
