/* patch.h - turns the fixes of a report that are code into patches: finds the code in the model's text and tests it.
 *
 * Code     is read from fences, else from pieces between backticks, else from the whole text. A reading may replace the
 *          evidence, its line, the cited lines, or the lines that it begins and ends with, if it has half of their
 *          names; it gets their indentation. The readings are tried in their order, each at its most similar place
 *          first, until one passes the tests
 * Tested   1. plain: no control characters and no marks that change the direction of text; no secret in it or in the
 *             lines around
 *          2. it applies: a three-way merge, with the inspected bytes as base, into the file as it is on disk now with
 *             the earlier patches
 *          3. it parses: no more syntax errors or missing nodes than before, and as many definitions. A file whose
 *             language has no grammar gets no patch
 * Which    active findings, in their order. A patch that conflicts with an earlier one is left out, so that all patches
 *          of a report apply together
 * Paths    in a diff are relative to the git repository of the file, else to the current folder
 * Files    are read again below root; for a file that is gone the inspected bytes are used. Standard input gets no
 *          patch
 * Memory   a ledger of its own
 * Errors   MYTH_ENOMEM; write: MYTH_ECREATE, MYTH_EIO. A fix that fails a test is not an error and stays text
 * Threads  one */
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
const char *myth_patch_result_text(myth_patch_result r); /* "it is beside a secret", ... */

typedef struct myth_patches myth_patches;

/* root: as in myth_material_open; worker_path: as in myth_chunker_open. The caller keeps r until close. */
myth_status myth_patches_open(myth_patches **out, const myth_report *r, const char *root, const char *worker_path,
                              myth_error *err);
void myth_patches_close(myth_patches *p); /* takes NULL */
/* One patch for each finding of the report, for myth_report.patch. */
const myth_patch *myth_patches_list(const myth_patches *p);
/* Number of active findings with a fix that had this result. */
uint32_t myth_patches_count(const myth_patches *p, myth_patch_result r);
/* Writes how many fixes became a patch, and why the others did not; returns how many fixes there are. */
uint32_t myth_patches_text(const myth_patches *p, char *dst, size_t cap);
/* Writes all patches as one diff against the files on disk, for git apply; an empty file when there are none or p is
 * NULL. */
myth_status myth_patches_write(const myth_patches *p, const char *path, myth_error *err);
/* The same to a stream. */
myth_status myth_patches_print(FILE *f, const myth_patches *p, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
