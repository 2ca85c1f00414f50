/* since.h - finds which lines changed since a git revision, so that --since can drop findings about older lines.
 *
 * Compares  the inspected bytes of each file with the revision's file of that name, or of the name that it had then. In
 *           a file that the revision does not have, every line is new
 * Lines     changed and added lines count. Where lines were only removed, a range counts that has the lines on both
 *           sides of the place
 * Side      the revision is the old side; the new side is the inspected version: working tree, index or commit
 * Memory    a ledger of its own, so that the run's plan does not depend on it
 * Errors    those of myth_revision_open. A file that cannot be compared counts as changed, so that a failure hides no
 *           finding
 * Threads   one */
#ifndef MYTH_INSPECT_SINCE_H
#define MYTH_INSPECT_SINCE_H

#include "retrieval/retrieval.h"
#include "frontend/inspect/prompt/material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct myth_since myth_since;

/* side: how the inspected files were opened. With root NULL they are paths from the current folder, and `path` is one
 * of them. */
myth_status myth_since_open(myth_since **out, const myth_revision_opts *side, const char *path, const char *rev,
                            myth_error *err);
void myth_since_close(myth_since *s); /* takes NULL */
/* Whether one of lines first..last of src changed. Results are cached by the address of src. */
bool myth_since_touches(myth_since *s, const myth_source *src, uint32_t first, uint32_t last);
/* Whether some line of the subjects changed; true without a revision (s NULL). */
bool myth_since_has_changed(myth_since *s, const myth_material *m);
/* Files that could not be compared, and the last reason. */
uint32_t myth_since_n_failed(const myth_since *s, const char **why);
/* The hash of the revision's tree, for the run log. */
const char *myth_since_id(const myth_since *s);

#ifdef __cplusplus
}
#endif
#endif
