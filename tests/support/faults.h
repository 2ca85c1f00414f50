/* faults.h - shared by tests that let every call of a driver fail once: the session that makes the calls, and which
 * calls to choose.
 *
 * Session  loads a random tiny model, prefills, decodes by recorded steps, generates; its answer is in
 *          `session_output`
 * Errors   the session returns the first status that is not MYTH_OK, with everything closed */
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
/* Whether the engine found no device: what it says of a driver that fails while it is asked for its devices, whatever
 * the reason. */
bool faults_is_not_found(myth_status st, const myth_error *err);
/* Fails, saying `what`, when any class of any device has bytes. */
void faults_nothing_booked(const myth_mem *mem, const char *what);

#endif
