/* runlog_why.h - seven questions about a run that went wrong, each answered from its record alone.
 *
 *   missed        was there evidence that the model was not shown?
 *   absent        was a file not there to be found?
 *   truncated     was something cut off?
 *   noisy         was most of what was shown of no use?
 *   hallucinated  did the model say what does not hold?
 *   split         was a definition cut in two?
 *   vendored      did copies, generated files or tests stand in the way?
 *
 * Target   a path, with a line or without, or nothing: then of the run as a whole
 * Answer   yes, no or unknown, a sentence with its numbers, and the places it stands on
 * Owner    the caller's */
#ifndef MYTH_INSPECT_RUNLOG_WHY_H
#define MYTH_INSPECT_RUNLOG_WHY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_RUNLOG_QUESTION_N = 7 };

typedef struct {
    const char *path; /* NULL = the run as a whole */
    uint32_t line;    /* 0 = the whole file        */
    int finding;      /* index, -1 = none          */
} myth_why_target;

/* The index's paths, each ended by a NUL, as the record keeps them; NULL = no index was asked. */
typedef struct {
    const char *path;
    size_t n;
} myth_why_index;

/* [{"question","asks","answer","says","places":[...]}], MYTH_RUNLOG_QUESTION_N of them; NULL when there is no memory.
 */
json_t *myth_runlog_why(const json_t *record, const myth_why_target *target, const myth_why_index *index);
/* "3" the third finding, a fingerprint's first digits (8 and more), PATH:LINE or PATH. False: no finding of that number
 * or fingerprint. */
bool myth_runlog_why_target(myth_why_target *out, char *path, size_t cap, const json_t *record, const char *what);

#ifdef __cplusplus
}
#endif
#endif
