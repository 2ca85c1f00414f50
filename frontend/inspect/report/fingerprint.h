/* fingerprint.h - the fingerprint of a finding, which does not change when unrelated lines change.
 *
 * Hash     SHA-256 over rule, path, the line with the evidence, the line that opens the block around it, and the number
 *          of equal lines above it in that file, but no line numbers. Each text ends with a NUL; 32 hex digits are kept
 * Equal    lines are compared without white space at the ends and with one space for each run inside: indentation does
 *          not count
 * Second   one that a reformatting leaves as it is: white space counts only between two letters or digits. Its first 16
 *          digits are of the path alone, the other 16 of all else, so that a file that was moved can be told
 * Around   the nearest line above that is indented less and opens a block: it ends with { ( [ or :, or the next line is
 *          only an opening bracket, or it begins with a word such as def, function or class. A block that ends above
 *          the line does not count. Comments and preprocessor lines neither open nor close a block
 * Known    a finding that several places say alike, of one call, has rule and line of the first of them (given.h)
 * Changes  when the path (also by moving the file), the rule, the cited line or its enclosing line changes, or an equal
 *          line is added above it
 * Owner    the caller; nothing is allocated
 * Threads  any */
#ifndef MYTH_INSPECT_FINGERPRINT_H
#define MYTH_INSPECT_FINGERPRINT_H

#include "frontend/inspect/answer/findings.h"
#include "frontend/inspect/answer/verify.h"
#include "line_hash.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_FINGERPRINT_LEN = 32, MYTH_FINGERPRINT_PATH = 16 /* digits of the second that are of the path */ };

typedef struct {
    char text[MYTH_FINGERPRINT_LEN + 1];    /* "mythos/v1" */
    char second[MYTH_FINGERPRINT_LEN + 1];  /* "mythos/v2" */
    char line_hash[MYTH_LINE_HASH_LEN + 1]; /* of the finding's first line (line_hash.h) */
} myth_fingerprint;

/* Computes the fingerprint of finding i of the arrays f and c. Two findings of one rule on one line differ by their
 * order. */
void myth_fingerprint_of(myth_fingerprint *out, const myth_block *block, const myth_finding *f, const myth_citation *c,
                         uint32_t i);

/* Index of the line that opens the block around line idx (both from 0); n_line when there is none. */
uint32_t myth_enclosing_line(const myth_source *src, uint32_t idx);

#ifdef __cplusplus
}
#endif
#endif
