/* patch.h - fixes that are code, as patches: taken out of what a model wrote, tried, and only then handed on.
 *
 * Code     a fence, pieces between backticks, or the whole text: what stands nearest to the cited code, that is, shares
 *          half of its names and more of its bytes than another reading. It takes the place of the evidence, of its
 *          line, of the cited lines, or of the lines that it begins and ends with; it is moved to their indentation
 * Tried    1. plain: no controls, no marks that turn text around; no secret in it or in the lines around
 *          2. it applies: merged three-way over the bytes that were inspected into the file as it is on disk now,
 *          behind the patches before it 3. it parses: not one error or missing node more, as many definitions as
 *          before, where the file's language has a grammar;
 *             others get no patch
 * Which    of active findings, in their order; one that is at odds with one before it is none. So all of a report apply
 *          together
 * Paths    of a diff: those of the git repository that the file is in, else below the current folder
 * Files    under root, read again; one that is not there any more is as it was inspected. Standard input gets none
 * Memory   of its own ledger
 * Errors   MYTH_ENOMEM; of write MYTH_ECREATE, MYTH_EIO. A fix that fails a trial is no error: it stays a text */
#ifndef MYTH_INSPECT_PATCH_H
#define MYTH_INSPECT_PATCH_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_PATCH_MADE,
    MYTH_PATCH_NO_CODE,
    MYTH_PATCH_NOT_PLAIN,
    MYTH_PATCH_SECRET,
    MYTH_PATCH_NO_GRAMMAR,
    MYTH_PATCH_BREAKS,
    MYTH_PATCH_CONFLICT,
    MYTH_PATCH_N
} myth_patch_result;
const char *myth_patch_result_text(myth_patch_result r); /* "it does not parse", ... */

typedef struct myth_patches myth_patches;

/* root as the material's, worker_path as myth_chunker_open. r is lent until close. */
myth_status myth_patches_open(myth_patches **out, const myth_report *r, const char *root, const char *worker_path,
                              myth_error *err);
void myth_patches_close(myth_patches *p); /* takes NULL */
/* [n_finding] of the report, for myth_report.patch. */
const myth_patch *myth_patches_list(const myth_patches *p);
/* Active findings whose fix has words, by what became of it. */
uint32_t myth_patches_count(const myth_patches *p, myth_patch_result r);
/* All of them as one diff of the files as they are on disk, for git apply; an empty file when there are none. p NULL:
 * none. */
myth_status myth_patches_write(const myth_patches *p, const char *path, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
