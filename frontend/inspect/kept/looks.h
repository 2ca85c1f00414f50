/* looks.h - what a run looked at besides what it was given, so that a later run can tell whether it would see the same.
 *
 * File     the bytes of a regular file and where its links lead, or that there is none
 * Folder   its names and what each of them is, or that there is none
 * Hash     XXH3, 128 bits, taken when the look is added
 * Form     stored as rows of kind (1 byte), hash (16), length of the path (4, little endian), path
 * Lost     more than MYTH_LOOKS_MAX, or no memory: is_lost, and nothing can be said of a later run
 * Owner    books OTHER in the ledger of open until close
 * Threads  one */
#ifndef MYTH_LOOKS_H
#define MYTH_LOOKS_H

#include "engine/base/mem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_LOOKS_MAX = 1 << 12 };

typedef struct {
    myth_mem *mem; /* NULL = nobody asks: nothing is added */
    unsigned char *row;
    size_t n, cap;
    uint32_t n_look;
    bool is_lost;
} myth_looks;

/* Adds a look at an absolute path, unless it is there. */
void myth_looks_add(myth_looks *l, const char *path, bool is_folder);
/* The same of a file, for a callback; takes NULL. */
void myth_looks_file(void *looks, const char *path);
void myth_looks_close(myth_looks *l); /* takes a zeroed one */
/* Whether every look of rows in the stored form sees now what it saw then. False for damaged rows, too. */
bool myth_looks_hold(const unsigned char *row, size_t n);

#ifdef __cplusplus
}
#endif
#endif
