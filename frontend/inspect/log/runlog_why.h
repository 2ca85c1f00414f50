/* runlog_why.h - answers seven questions about a run that went wrong, from its record only.
 *
 *   missed        was there evidence that the model was not shown?
 *   absent        was a file missing from the index?
 *   truncated     was something cut off?
 *   noisy         was most of the shown code useless?
 *   hallucinated  did the model cite something that is not in the code?
 *   split         was a definition cut in two?
 *   vendored      did copies, generated files or tests take the place of the real code?
 *
 * Target   a path, optionally with a line, or nothing for the run as a whole
 * Answer   yes, no or unknown; a sentence with numbers; and the places that it is based on
 * Owner    the caller frees the answer
 * Threads  one */
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

/* The paths of the index as the record keeps them, each ended by a NUL; NULL = the run used no index. */
typedef struct {
    const char *path;
    size_t n;
} myth_why_index;

/* [{"question","asks","answer","says","places":[...]}], MYTH_RUNLOG_QUESTION_N of them; NULL = out of memory. */
json_t *myth_runlog_why(const json_t *record, const myth_why_target *target, const myth_why_index *index);
/* Parses a target: "3" for the third finding, the first 8 or more digits of a fingerprint, PATH:LINE or PATH. False: no
 * finding has that number or fingerprint. */
bool myth_runlog_why_target(myth_why_target *out, char *path, size_t cap, const json_t *record, const char *what);

#ifdef __cplusplus
}
#endif
#endif
