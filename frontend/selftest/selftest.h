/* selftest.h - what the checks of a self-test share: a folder, a small model in it, and commands of this program.
 *
 * Process  each command runs in a process of its own, with a cache and a log of its own (cli/self.h)
 * Owner    the folder is removed at the end; JSON documents are the caller's to release
 * Errors   a check that cannot run has failed: say gets the reason
 * Threads  one */
#ifndef MYTH_SELFTEST_H
#define MYTH_SELFTEST_H

#include "frontend/cli/cli.h"
#include "frontend/cli/self.h"
#include "frontend/cli/tempdir.h"

#include <limits.h>

enum { MYTH_SELFTEST_SAY = 200, MYTH_SELFTEST_WORDS = 40 };

typedef struct {
    myth_cli *cli;
    char dir[MYTH_TEMPDIR_BYTES], program[PATH_MAX];
    myth_self self;
    char say[MYTH_SELFTEST_SAY]; /* what a check found */
} myth_selftest;

typedef struct {
    const char *flag, *promise;
    bool (*holds)(myth_selftest *t);
} myth_selftest_check;

extern const myth_selftest_check myth_selftest_memory[];
extern const size_t myth_selftest_n_memory;

/* Writes what a check found, and returns is. */
bool myth_selftest_say(myth_selftest *t, bool is, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Runs a command whose words are parted by blanks; "~" stands for the folder. Returns its exit code. *out: its standard
 * output where it is JSON, else NULL; out NULL = not wanted. */
int myth_selftest_run(myth_selftest *t, json_t **out, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* Reads a JSON file of the folder; NULL: it is not there, or is none. */
json_t *myth_selftest_file(const myth_selftest *t, const char *name);
/* A job is paused and gets another limit (control.c). */
bool myth_selftest_control(myth_selftest *t);

#endif
