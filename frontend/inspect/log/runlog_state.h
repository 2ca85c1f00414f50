/* runlog_state.h - what became of a run, from its row and its record.
 *
 *   ended     it has an exit code
 *   running   it has none, and a process with its number is there
 *   killed    it has none, and no such process is there; or nothing was recorded
 *   unlogged  its log could not be written further; the run itself went on
 *
 * Threads  any */
#ifndef MYTH_INSPECT_RUNLOG_STATE_H
#define MYTH_INSPECT_RUNLOG_STATE_H

#include <jansson.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_RUN_ENDED, MYTH_RUN_RUNNING, MYTH_RUN_KILLED, MYTH_RUN_UNLOGGED } myth_run_state;

/* doc: the record; NULL = there is none. */
myth_run_state myth_runlog_state(bool has_ended, const json_t *doc);
const char *myth_run_state_name(myth_run_state s); /* "killed" */

#ifdef __cplusplus
}
#endif
#endif
