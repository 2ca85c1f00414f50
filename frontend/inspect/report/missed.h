/* missed.h - the list of code that was asked for and not inspected, with reasons. A report is complete only if it is
 * empty.
 *
 * Rule     frontend/inspect/README.md, "Complete"
 * Lines    from 1; first = last = 0: the whole file, or a name without a known file
 * Owner    a list owns copies of its strings; rows in a report point into a list
 * Errors   MYTH_ENOMEM: the list is unchanged
 * Threads  one */
#ifndef MYTH_INSPECT_MISSED_H
#define MYTH_INSPECT_MISSED_H

#include "engine/base/mem.h"

#include <stdbool.h>

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

/* The reasons that are of a file's language, and of nothing that went wrong: it has no rules, or the judge does not
 * know it. */
#define MYTH_MISSED_NO_RULES "no rules find places in its language; -m MODEL --find both lets a model search"
#define MYTH_MISSED_UNKNOWN  "the judge was not trained on its language"
bool myth_missed_is_language(const myth_missed *m);

/* What directories hold that was not asked for: files that a tool wrote, copies of other projects, documents and data,
 * and repositories of their own, such as submodules, which are not entered. It does not make a report incomplete. */
typedef struct {
    uint32_t n_generated, n_copied, n_other, n_nested;
} myth_left_out;
bool myth_left_out_any(const myth_left_out *l);
/* Says how much, for a person. */
enum { MYTH_LEFT_OUT_CAP = 256 };
void myth_left_out_text(const myth_left_out *l, char dst[MYTH_LEFT_OUT_CAP]);

/* Adds a row; a new list has its ledger set and everything else zero. Books OTHER. */
myth_status myth_missed_add(myth_missed_list *l, const char *path, uint32_t first, uint32_t last, const char *why,
                            myth_error *err);
void myth_missed_free(myth_missed_list *l); /* accepts a zeroed one; the list can be used again */

#ifdef __cplusplus
}
#endif
#endif
