/* self.h - runs another command of this program and gives back what it printed: an evaluation measures what a user
 * gets.
 *
 * Apart    a process of its own, without the MYTHOS_ variables of this one, with a folder that is given for its cache
 *          and its log; standard input is empty
 * Output   all of standard output, up to MYTH_SELF_BYTES; of standard error the first line
 * Cancel   the child is ended when *cancel becomes true: MYTH_ECANCEL
 * Errors   MYTH_EIO it cannot be started or was killed; an exit code that is not among those expected: the status that
 *          has this code, with the child's own message; MYTH_EFORMAT what should be JSON is not */
#ifndef MYTH_EVAL_SELF_H
#define MYTH_EVAL_SELF_H

#include "engine/base/cancel.h"
#include "engine/base/mem.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SELF_ARGS = 32, MYTH_SELF_BYTES = 1 << 28 };

typedef struct {
    const char *program;       /* path of the command              */
    const char *cache;         /* XDG_CACHE_HOME and XDG_STATE_HOME */
    const myth_cancel *cancel; /* may be NULL                      */
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
