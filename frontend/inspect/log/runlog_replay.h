/* runlog_replay.h - repeats a run from its record and compares the results.
 *
 * Before    files that were read from disk, the model's files and the baseline must have the hashes of the record, else
 *           the run is not repeated
 * Again     runs the command in a process of its own, in the same folder, with every option that influenced the report
 *           (also from MYTHOS_* variables), but without those that write files (--output, --patch, --update-baseline,
 *           --mem-report); its record goes to a separate file
 * After     compares the two records: prompts by the hash of their ids, answers by their hash, then the report byte by
 *           byte, then the exit code. Only when these differ are the inputs compared, as possible reasons
 * Results   equal; different, with the first difference; or cannot, with every reason
 * Other     another build of the program is only noted, because a replay may be meant to compare builds. A changed
 *           index is a reason only if the reports differ
 * Owner     the caller frees *said
 * Threads   one */
#ifndef MYTH_INSPECT_RUNLOG_REPLAY_H
#define MYTH_INSPECT_RUNLOG_REPLAY_H

#include "frontend/cli/cli.h"
#include "runlog_file.h"

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_REPLAY_EQUAL, MYTH_REPLAY_DIFFERENT, MYTH_REPLAY_CANNOT } myth_replay_result;

/* *said: {"run","result","reasons":[...],"notes":[...],"difference":{"what","recorded","now"}}; free it with
 * json_decref. */
myth_status myth_runlog_replay(myth_replay_result *out, json_t **said, const myth_cli *cli, myth_runlog_file *file,
                               int64_t run, const json_t *record, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
