/* self.h - runs another command of this program and gives back what it printed: an evaluation measures what a user
 * gets, and what fails in an inspection (memory, a signal) does not end the server that was asked for it.
 *
 * Apart    a process of its own; standard input is empty. With a folder for its cache and its log it does not see the
 *          MYTHOS_ variables of this one, else its environment is the same
 * Output   all of standard output, up to MYTH_SELF_BYTES; of standard error the first line
 * Orphan   the child is killed when the thread that waits for it ends, also by a signal that nothing can catch
 * Cancel   the child is killed when cancel is set: MYTH_ECANCEL
 * Time     after `seconds` it is interrupted, so that it prints what it has; MYTH_END_SECONDS later it is killed
 * Errors   MYTH_EIO it cannot be started or was killed; an exit code that is not among those expected: the status that
 *          has this code, with the child's own message; MYTH_EFORMAT what should be JSON is not */
#ifndef MYTH_SELF_H
#define MYTH_SELF_H

#include "engine/base/cancel.h"
#include "engine/base/mem.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SELF_ARGS = 64, MYTH_SELF_BYTES = 1 << 28 };

typedef struct {
    const char *program;       /* path of the command              */
    const char *cache;         /* XDG_CACHE_HOME and XDG_STATE_HOME; NULL = those of this process */
    const myth_cancel *cancel; /* may be NULL                      */
    uint32_t seconds;          /* 0 = no limit                     */
    bool *is_late;             /* set when the time is over; may be NULL */
    myth_mem *mem;
} myth_self;

/* args: "search", "--json", ...; NULL-terminated. dir: where it runs, NULL = here. codes: bit n = exit code n is no
 * failure (0 always is). */
myth_status myth_self_run(char **out, size_t *n, int *code, const myth_self *self, const char *const *args,
                          const char *dir, uint32_t codes, myth_error *err);
/* The same, its standard output as one JSON document. */
myth_status myth_self_json(json_t **out, int *code, const myth_self *self, const char *const *args, const char *dir,
                           uint32_t codes, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
