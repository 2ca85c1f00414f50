/* touched.h - finds which pages of memory are read: it takes their access rights away, and a fault notes the page
 * and restores the rights.
 *
 * Memory   any memory that the CPU reads itself: a mapped file, the heap, memory of an emulated device or a
 *          software driver. A real device reads over its bus, which causes no fault
 * Pages    only pages that lie whole in a range; its ends are left alone
 * Threads  call touched_* from one thread. Threads that read must not block the signal, as those of the CPU device
 *          do not
 * Limits   no system call may get watched memory: it would fail with EFAULT */
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
