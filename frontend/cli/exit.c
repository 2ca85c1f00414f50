/* exit.c - the table of exit codes, and the exit code of each status. */
#include "exit.h"

static const myth_exit_row table[] = {
    {MYTH_EXIT_CLEAN, "done; no findings at or above --fail-level"},
    {MYTH_EXIT_FINDINGS,
     "the answer is no: findings at or above --fail-level; nothing was found; a question that is not "
     "answered; a check, a comparison or a gate that failed"},
    {MYTH_EXIT_USAGE, "usage: unknown command or flag, bad value"},
    {MYTH_EXIT_INCOMPLETE,
     "incomplete: a limit was reached, a file skipped, a place not judged, an answer cut off, or the "
     "model writes none"},
    {MYTH_EXIT_DATA, "input data malformed or unsupported"},
    {MYTH_EXIT_NOINPUT, "input missing, or no file to work on"},
    {MYTH_EXIT_UNAVAILABLE, "no such device or service"},
    {MYTH_EXIT_INTERNAL, "internal error"},
    {MYTH_EXIT_MEMORY, "out of memory, or the plan does not fit the limit"},
    {MYTH_EXIT_CANTCREATE, "output cannot be created"},
    {MYTH_EXIT_IO, "read or write failed"},
    {MYTH_EXIT_TEMPFAIL, "try again: device lost, lock held"},
    {MYTH_EXIT_CONFIG, "the configuration file cannot be read or has an error"},
    {MYTH_EXIT_INTERRUPTED, "ended by a second interrupt"},
};

const char myth_exit_order[] =
    "Where several apply, a failure (65 and above, or 2) comes before 1, and 1 before 3: findings "
    "hide that the run was incomplete, and the report says so.";

const myth_exit_row *myth_exit_table(size_t *n)
{
    *n = sizeof(table) / sizeof(table[0]);
    return table;
}

int myth_exit_of(myth_status st)
{
    static const int code[MYTH_STATUS_N] = {
        [MYTH_OK] = MYTH_EXIT_CLEAN,
        [MYTH_EARG] = MYTH_EXIT_USAGE,
        [MYTH_EIO] = MYTH_EXIT_IO,
        [MYTH_EFORMAT] = MYTH_EXIT_DATA,
        [MYTH_ENOMEM] = MYTH_EXIT_MEMORY,
        [MYTH_EFULL] = MYTH_EXIT_INCOMPLETE,
        [MYTH_EDEVICE] = MYTH_EXIT_UNAVAILABLE,
        [MYTH_ENOTFOUND] = MYTH_EXIT_NOINPUT,
        [MYTH_ECANCEL] = MYTH_EXIT_INCOMPLETE,
        [MYTH_ENOFIT] = MYTH_EXIT_MEMORY,
        [MYTH_ELIMIT] = MYTH_EXIT_INCOMPLETE,
        [MYTH_ELOST] = MYTH_EXIT_TEMPFAIL,
        [MYTH_EUNSUPPORTED] = MYTH_EXIT_DATA,
        [MYTH_ECREATE] = MYTH_EXIT_CANTCREATE,
    };
    return (unsigned)st < MYTH_STATUS_N ? code[st] : MYTH_EXIT_INTERNAL;
}

myth_status myth_exit_status(int code)
{
    for (int st = MYTH_OK + 1; st < MYTH_STATUS_N; st++)
        if (myth_exit_of((myth_status)st) == code)
            return (myth_status)st;
    return MYTH_EIO;
}

static int rank(int code)
{
    return code == MYTH_EXIT_CLEAN ? 0 : code == MYTH_EXIT_INCOMPLETE ? 1 : code == MYTH_EXIT_FINDINGS ? 2 : 3;
}

int myth_exit_worse(int a, int b) { return rank(b) > rank(a) ? b : a; }
