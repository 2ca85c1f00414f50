/* runlog_replay.h - makes a run again from its record and says whether it comes to the same bytes.
 *
 * Before    files that were read from disk, the model's files and the baseline have the hashes of the record; else it
 *           is not begun
 * Again     the command itself, in a process of its own, in the same folder, with every option that shaped the report
 *           as it was (the environment's MYTHOS_* too), without those that write (--output, --patch, --update-baseline,
 *           --mem-report); its own record goes to a file of its own
 * After     the two records are compared: what was read, prompts by the hash of their ids, answers by their hash, the
 *           report byte by byte
 * Results   equal; different, with the first difference; cannot, with every reason: what changed since, or why there is
 *           nothing to repeat
 * Other     another build is no reason, it is noted: that is what a replay can be for. A changed index is one only when
 *           the reports differ
 * Owner     the caller closes what it opened; the result is the caller's to free */
#ifndef MYTH_INSPECT_RUNLOG_REPLAY_H
#define MYTH_INSPECT_RUNLOG_REPLAY_H

#include "frontend/cli/cli.h"
#include "runlog_file.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_REPLAY_EQUAL, MYTH_REPLAY_DIFFERENT, MYTH_REPLAY_CANNOT } myth_replay_result;

/* *said: {"run","result","reasons":[...],"notes":[...],"difference":{"what","recorded","now"}}; json_decref it. */
myth_status myth_runlog_replay(myth_replay_result *out, json_t **said, const myth_cli *cli, myth_runlog_file *file,
                               int64_t run, const json_t *record, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
