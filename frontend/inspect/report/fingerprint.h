/* fingerprint.h - a name for a finding that stays when unrelated lines change.
 *
 * Of       the rule, the path, the line that holds the evidence, the line that opens the block around it, and which of
 *          the equal lines in that file it is; no line numbers. SHA-256 over these texts, each ended by NUL; 32 hex
 *          digits
 * Equal    lines are compared without white space at the ends and with one space for each run inside: indentation does
 *          not count
 * Around   the nearest line above that is indented less and opens a block: it ends in one of { ( [ : or the next one is
 *          an opening bracket alone, or it begins with a word that opens one (def, function, class ...). A block that
 *          is closed above is not around. Comments and lines of the preprocessor neither open nor close
 * Changes  with the path (a moved file is a new place), the rule, the cited line, its enclosing line, equal lines added
 *          above it */
#ifndef MYTH_INSPECT_FINGERPRINT_H
#define MYTH_INSPECT_FINGERPRINT_H

#include "frontend/inspect/answer/findings.h"
#include "frontend/inspect/answer/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_FINGERPRINT_LEN = 32, MYTH_LINE_HASH_LEN = 28 };

typedef struct {
    char text[MYTH_FINGERPRINT_LEN + 1];
    char line_hash[MYTH_LINE_HASH_LEN + 1]; /* "16 hex digits:which": of the cited line alone, as code hosts want it */
} myth_fingerprint;

/* Of finding i. Two findings of one rule on one line differ by their order. */
void myth_fingerprint_of(myth_fingerprint *out, const myth_block *block, const myth_finding *f, const myth_citation *c,
                         uint32_t i);

/* Index of the line around line idx (both from 0), n_line when there is none. For tests and views. */
uint32_t myth_enclosing_line(const myth_source *src, uint32_t idx);

#ifdef __cplusplus
}
#endif
#endif
