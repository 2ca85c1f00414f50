/* faults.h - what the tests share that fail every call of a driver once: the session whose calls they are, and which of
 * them to take.
 *
 * Session  load a random tiny model, prefill, decode by recorded steps, generate; its answer is in `session_output`
 * Errors   session passes on the first status that is not MYTH_OK, everything closed */
#ifndef MYTH_TESTS_FAULTS_H
#define MYTH_TESTS_FAULTS_H

#include "rig.h"

enum { SESSION_PROMPT_MAX = 32, SESSION_NEW_MAX = 8, FAULT_KIND_MAX = 64 };

typedef struct {
    myth_engine_opts engine;
    uint32_t n_prompt, n_new; /* tokens of the prompt; ids by forward, and as many again by generate */
    uint32_t n_again;         /* of the prompt, fed once more to generate                           */
} session_shape;

typedef struct {
    int32_t id[2 * SESSION_NEW_MAX];
    uint32_t n;
} session_output;

myth_status session_run(myth_mem *mem, const session_shape *shape, session_output *out, myth_error *err);

/* Of each kind among n calls one, chosen at random; call(nth) names them, NULL ends them early. Returns how many kinds
 * there are. */
uint32_t faults_choose(uint64_t at[FAULT_KIND_MAX], uint64_t n, const char *(*call)(uint64_t nth), uint64_t *random);
/* Fails, saying `what`, when any class of any device has bytes. */
void faults_nothing_booked(const myth_mem *mem, const char *what);

#endif
