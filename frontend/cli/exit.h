/* exit.h - every exit code of the command; exit.c has the one table that help and the man page print and tests check.
 *
 * Order    when several apply: failure before 1 before 3 before 0. A failure hides findings, findings hide an
 *          incomplete run */
#ifndef MYTH_EXIT_H
#define MYTH_EXIT_H

#include "engine/base/status.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MYTH_EXIT_CLEAN = 0,
    MYTH_EXIT_FINDINGS = 1, /* the answer is no: findings, nothing found, a check that failed */
    MYTH_EXIT_USAGE = 2,
    MYTH_EXIT_INCOMPLETE = 3,   /* a limit was reached, a file skipped, an answer cut */
    MYTH_EXIT_DATA = 65,        /* data malformed or unsupported                  */
    MYTH_EXIT_NOINPUT = 66,     /* missing input or zero files                    */
    MYTH_EXIT_UNAVAILABLE = 69, /* no device or service                           */
    MYTH_EXIT_INTERNAL = 70,
    MYTH_EXIT_MEMORY = 71, /* out of memory, or the plan does not fit         */
    MYTH_EXIT_CANTCREATE = 73,
    MYTH_EXIT_IO = 74,
    MYTH_EXIT_TEMPFAIL = 75,    /* try again: device lost, lock held               */
    MYTH_EXIT_CONFIG = 78,      /* configuration file                              */
    MYTH_EXIT_INTERRUPTED = 130 /* second interrupt, or the first was not enough   */
} myth_exit;

typedef struct {
    int code;
    const char *meaning;
} myth_exit_row;

const myth_exit_row *myth_exit_table(size_t *n);
extern const char myth_exit_order[]; /* which of several applies, for a person */
int myth_exit_of(myth_status st);
/* A status that has this code; MYTH_EIO where none has. */
myth_status myth_exit_status(int code);
/* The code to exit with when both a and b apply, by the order above. */
int myth_exit_worse(int a, int b);

#ifdef __cplusplus
}
#endif
#endif
