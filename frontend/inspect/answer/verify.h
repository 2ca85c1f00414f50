/* verify.h - does a finding hold? Asked of the bytes that were read, without the tables the automaton used.
 *
 * Holds    lines lie in the block and are not all blank; evidence stands in one of them, within the trimmed line, of at
 *          least MYTH_EVIDENCE_MIN bytes as shown or the whole of it; no finding before it has the same file, lines and
 *          rule
 * Bytes    U+FFFD in evidence stands for itself or for one byte that is not UTF-8; the citation says which bytes of the
 *          file they are
 * Units    lines from 1, bytes */
#ifndef MYTH_INSPECT_VERIFY_H
#define MYTH_INSPECT_VERIFY_H

#include "findings.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_CITES, MYTH_CITES_NO_LINES, MYTH_CITES_NO_EVIDENCE, MYTH_CITES_AGAIN } myth_verdict;

typedef struct {
    uint32_t line, off, len; /* of the evidence: its line, its bytes in the file */
} myth_citation;

/* Judges f; before[0 .. n_before) are the findings already kept. *out is set for MYTH_CITES. */
myth_verdict myth_verify(myth_citation *out, const myth_finding *f, const myth_block *block, uint32_t n_block,
                         const myth_finding *before, uint32_t n_before);
const char *myth_verdict_text(myth_verdict v);

#ifdef __cplusplus
}
#endif
#endif
