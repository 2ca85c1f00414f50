/* left_out.h - the line by which a test says that it did not run a part of itself. No cmocka: programs of the bench
 * include it too.
 *
 * Format   "SKIPPED what: why", alone on a line of standard output; tests/support/summary.py reads it */
#ifndef MYTH_TESTS_LEFT_OUT_H
#define MYTH_TESTS_LEFT_OUT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#define LEFT_OUT_PRINTF(at) __attribute__((format(printf, at, at + 1)))
#else
#define LEFT_OUT_PRINTF(at)
#endif

/* `what` is a case, a level or a device; the test goes on without it. */
static inline LEFT_OUT_PRINTF(2) void check_left_out(const char *what, const char *why, ...)
{
    va_list list;
    va_start(list, why);
    printf("SKIPPED %s: ", what);
    vprintf(why, list);
    printf("\n");
    va_end(list);
}

/* A CPU level or a device that could not be opened; `reason` is the message of myth_device_open. */
static inline void check_left_out_target(const char *target, const char *reason)
{
    char what[64];
    const char *absent = strstr(reason, " is absent: "); /* repeats the level's name */
    snprintf(what, sizeof(what), "%s %s", strchr(target, ':') ? "device" : "level", target);
    check_left_out(what, "%s", absent ? absent + strlen(" is absent: ") : reason);
}

#endif
