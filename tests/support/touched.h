/* touched.h - which pages of given memory are read: they lose their rights, and a fault notes the page and gives the
 * rights back.
 *
 * Memory   whatever this machine's processor reads itself: a mapped file, the heap, what an emulated device or a
 *          software driver calls its own. What a real device reads over its bus makes no fault
 * Pages    of a range those that lie in it whole; its ends are left alone
 * Threads  those that read do not block the signal, as the CPU device's own do: one thread there. All of touched_* on
 *          one
 * Limits   no system call may be given watched memory: it answers EFAULT
 */
#ifndef MYTH_TESTS_TOUCHED_H
#define MYTH_TESTS_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOUCHED_RANGE_MAX = 64 };

size_t touched_page_bytes(void);
/* Forgets what was noted and takes the rights of the ranges' pages away. is_writable: they are given back for writing
 * too. */
void touched_begin(void);
void touched_watch(const void *p, uint64_t bytes, bool is_writable);
/* Everybody has all rights again; what was noted stays until the next begin. */
void touched_end(void);
/* Page i of the range: its address, NULL past the last; whether it was read. */
const unsigned char *touched_page(uint32_t range, size_t i);
bool touched_is_read(uint32_t range, size_t i);

#endif
