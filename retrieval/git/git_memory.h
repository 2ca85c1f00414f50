/* git_memory.h - what happens when libgit2 gets no memory.
 *
 * Why      libgit2 1.5 follows a null pointer in some places where a small allocation of its own fails. A process
 *          that cannot get a few bytes cannot go on anyway, so its owner ends it with a message before libgit2
 *          crashes
 * Threads  set the callback before libgit2 first starts; it is called in the thread that asked for memory */
#ifndef MYTH_GIT_MEMORY_H
#define MYTH_GIT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MYTH_GIT_SMALL_BYTES = 1 << 20 };

/* Sets the callback for a failed request of less than MYTH_GIT_SMALL_BYTES; it gets the number of bytes and must end
 * the process. NULL, the default: libgit2 is told of the failure. It is always told of a larger one, whose size
 * comes from a file and whose result libgit2 checks. */
void myth_git_on_no_memory(void (*end)(size_t bytes));
/* For tests: lets the nth request from now, and all later ones, fail; 0 = none. Returns the number of requests since
 * the previous call. */
uint64_t myth_git_fail_from(uint64_t nth);

#endif
