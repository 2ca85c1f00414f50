/* git_memory.h - what happens when libgit2 gets no memory.
 *
 * Why      libgit2 1.5 follows a null pointer in some places where a small request of its own fails. A process without
 *          memory for a few bytes cannot go on, so its owner ends it in words, before libgit2 crashes
 * Threads  set before the first start of libgit2; `end` is called in the thread that asked */
#ifndef MYTH_GIT_MEMORY_H
#define MYTH_GIT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MYTH_GIT_SMALL_BYTES = 1 << 20 };

/* `end` must end the process when a request of less than MYTH_GIT_SMALL_BYTES fails; it gets the number of bytes. NULL,
 * the default: libgit2 is told, and does what it does. A larger request that fails is always told: its size comes from
 * a file, and libgit2 looks at the answer. */
void myth_git_on_no_memory(void (*end)(size_t bytes));
/* For tests: the request nth from now and all after it fail; 0 = none. Returns how many there were since the call
 * before. */
uint64_t myth_git_fail_from(uint64_t nth);

#endif
