/* cancel.h - a flag that asks work to end: set once, by a signal handler or another thread, read between steps.
 *
 * Type     what C lets a handler write while the program reads it: each read is a load from memory, never a value that
 *          a loop has kept. 0 = go on
 * Owner    whoever sets it; the work holds a pointer to const, NULL = nobody asks */
#ifndef MYTH_CANCEL_H
#define MYTH_CANCEL_H

#include <signal.h>

typedef volatile sig_atomic_t myth_cancel;

#endif
