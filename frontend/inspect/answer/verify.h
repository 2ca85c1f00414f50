/* verify.h - checks the citation of a finding against the bytes of the file. It does not use the automaton's tables, so
 * that an error there is found here.
 *
 * Holds    the lines are in the block and not all blank; the evidence is in one of them, without the blanks around the
 *          line, and has at least MYTH_EVIDENCE_MIN bytes or is the whole trimmed line; no earlier finding has the same
 *          file, lines and rule
 * Bytes    U+FFFD in evidence matches itself or one byte that is not UTF-8; the citation has the matching bytes of the
 *          file
 * Units    lines from 1, bytes
 * Owner    the caller; nothing is allocated
 * Threads  any */
#ifndef MYTH_INSPECT_VERIFY_H
#define MYTH_INSPECT_VERIFY_H

#include "findings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_CITES, MYTH_CITES_NO_LINES, MYTH_CITES_NO_EVIDENCE, MYTH_CITES_AGAIN } myth_verdict;

typedef struct {
    uint32_t line, off, len; /* the line of the evidence, and its bytes in the file */
} myth_citation;

/* Checks a quote from lines first..last of block `at`. *out is set for MYTH_CITES. */
myth_verdict myth_verify_quote(myth_citation *out, const myth_block *block, uint32_t n_block, uint32_t at,
                               uint32_t first, uint32_t last, myth_str quote);
/* Checks f; before[0 .. n_before) are the findings that were kept so far. *out is set for MYTH_CITES. */
myth_verdict myth_verify(myth_citation *out, const myth_finding *f, const myth_block *block, uint32_t n_block,
                         const myth_finding *before, uint32_t n_before);
const char *myth_verdict_text(myth_verdict v);

#ifdef __cplusplus
}
#endif
#endif
