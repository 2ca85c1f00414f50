/* missed.h - what was asked for and not inspected, each with its reason: the list behind a report's `complete`.
 *
 * Rule     frontend/inspect/README.md, "Complete"
 * Lines    from 1; first = last = 0: all of the file, or a name that no file is known for
 * Owner    a list copies its strings and frees them; a row of a report is lent
 * Errors   MYTH_ENOMEM: the list is as it was */
#ifndef MYTH_INSPECT_MISSED_H
#define MYTH_INSPECT_MISSED_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *path;
    uint32_t first, last;
    const char *why; /* ends the sentence "PATH was not inspected: ..." */
} myth_missed;

typedef struct {
    myth_mem *mem;
    myth_missed *row; /* [n] */
    uint32_t n, cap;
} myth_missed_list;

/* l is zeroed but for its ledger, or a list already. Books OTHER. */
myth_status myth_missed_add(myth_missed_list *l, const char *path, uint32_t first, uint32_t last, const char *why,
                            myth_error *err);
void myth_missed_free(myth_missed_list *l); /* takes a zeroed one; it is empty then and can be used again */

#ifdef __cplusplus
}
#endif
#endif
