/* line_hash.h - the hash by which GitHub's code scanning tells the alerts of a rule apart, in the results of SARIF
 * `primaryLocationLineHash`. Its upload action computes the hash from the checked-out file and warns of a result that
 * has another one; an upload without the action has to bring it.
 *
 * Hash     of the 100 characters from the line's beginning on, over its end: c0 * 37^99 + ... + c99 modulo 2^64. Blanks
 *          and tabs do not count, "\r" and "\r\n" are "\n", and behind the file's last character come 0xffff and zeros.
 *          A character is a unit of UTF-16; a byte that is not UTF-8 is U+FFFD
 * Text     the hash in hex digits, ":", and how many lines up to this one have the same hash
 * Lines    from 1; "\r" alone ends a line, too
 * Source   github/codeql-action, src/fingerprints.ts
 * Owner    the caller; nothing is allocated
 * Threads  any */
#ifndef MYTH_INSPECT_LINE_HASH_H
#define MYTH_INSPECT_LINE_HASH_H

#include "frontend/inspect/answer/findings.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LINE_HASH_LEN = 28 };

void myth_line_hash(char dst[MYTH_LINE_HASH_LEN + 1], const myth_source *src, uint32_t line);

#ifdef __cplusplus
}
#endif
#endif
