/* live.h - what can be asked of a command, and changed, while it runs: its memory, its limit, a pause, its end.
 *
 *   myth_live_open     starts to listen, to watch and to report, as the flags say
 *   myth_live_again    after the command has returned: whether it runs once more, under other limits
 *   myth_live_close    stops, and writes the report's last line
 *
 * Control   --control SOCKET: a Unix socket, mode 0600. Each line is a JSON object and gets one line in answer:
 *             {"cmd":"stats"}                  {"ok":true,"stats":{...}} as a line of the report
 *             {"cmd":"limit","size":"2GiB"}    as --mem-limit takes it, or a number of bytes; devices that it
 *                                              does not name keep theirs;
 *                                              {"ok":true,"seconds":T} when the run is under the new limit;
 *                                              with "waiting":"needs ..." where it does not fit and waits for another,
 *                                              with "paused":true while it is paused, to be planned when it is resumed
 *             {"cmd":"pause"}                  gives back all memory and waits; {"ok":true,"seconds":T} when it does
 *             {"cmd":"resume"}, {"cmd":"cancel"}
 *           what cannot be done gets {"ok":false,"error":"..."}
 * File      --mem-limit @FILE: the file holds what --mem-limit takes, also with blanks, empty lines and "# ..." around
 *           it. It is read again whenever it has changed; one that cannot be read or says something else changes
 *           nothing, and a note says so. A limit that comes while the run cannot be interrupted yet, as when it opens
 *           the model, is taken as soon as it can be
 * Chat      a chat takes both between turns and in the middle of an answer, which is then left behind the token under
 *           way and computed again: it keeps its conversation and the sequence, gives back everything, and goes on
 *           under the new limit. While it is kept, a line has "swapped":{"to":"memory"|"disk","bytes":N}; where it does
 *           not fit, a line of the phase "waiting" has "reason":"needs ...", as that of a job has
 * Acting    a command with a journal (jobs/journal.h) whose input can be read again takes a new limit at any time: it
 *           goes on as it is where the limit has room for its plan and would give it no other one; else it is
 *           interrupted, frees everything, is planned under the new limit and goes on from its journal. At most one
 *           batch, or the answers under way, are done twice; results are the same to the bit. Under a limit that it
 *           does not fit it waits, without memory, for another one. Other commands keep the limit they began with
 * Report    --mem-report FILE.jsonl: a line when the run begins, gets its plan, is refused for it (from then on with
 *           "reason":"needs ..."), is ready, ends, each time a figure has changed by an eighth, and once a second.
 *           Schema 1: {"schema":1,"event":"sample","seconds","phase",
 *           "limit_bytes","planned_bytes","used_bytes","peak_bytes","mode","rss_anon_bytes","machine_bytes",
 *           "machine_used_bytes","level","classes":{name:{"planned","used","peak"}},
 *           "devices":[{"device","limit_bytes",...,"classes"}]}; a line of the event "plan" also has
 *           "sequences", "layers" and "rest" (memreport.h). Used are the bytes taken from the plan; those that are
 *           resident, and all others of the process, are in rss_anon_bytes: in mode "share" it may be less
 * Level     how much of the machine's memory, or of what the control group allows, all processes together use:
 *           "warning" from 85 % on, "critical" from 95 %, back 5 points below. Each crossing is a line of the report
 *           and a note; while it is critical, generate --jsonl begins no answer beside another one
 * Pressure  a job that could be paused pauses by itself ("paused" in the report) when the level has been critical for
 *           a second because other processes took more since the job was planned. It goes on when its memory fits
 *           below the level again, when they have no more than at its plan, or on "resume"
 * Latency   the socket and the file are looked at every 20 ms, what all processes use every 200 ms; on the CPU a
 *           forward pass ends behind the operation under way, on a GPU behind the micro-batch (-ub)
 * Threads   a thread of its own from open to close. It reads the ledger, and sets the cancel flag */
#ifndef MYTH_LIVE_H
#define MYTH_LIVE_H

#include "cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_LEVEL_NORMAL, MYTH_LEVEL_WARNING, MYTH_LEVEL_CRITICAL } myth_memory_level;

/* cli, its ledger and both flags live until close. n_interrupt: signals so far; after one, nothing goes on. NULL in
 * *out, and MYTH_OK, when no flag asks for it. */
myth_status myth_live_open(myth_live **out, myth_cli *cli, myth_cancel *cancel, const myth_cancel *n_interrupt,
                           myth_error *err);
/* Waits while the run is paused or does not fit. True: *limits are those to run under now. code: what the command
 * returned. Takes NULL. */
bool myth_live_again(myth_live *l, int code, myth_mem_limits *limits);
void myth_live_close(myth_live *l); /* takes NULL */
/* The same for a command that was asked by cli->put_off, and has given back its memory: waits while it is paused, and
 * where needs_limit says that it does not fit, for another limit. False: it is to end. l is not NULL. */
bool myth_live_wait(myth_live *l, bool needs_limit, myth_mem_limits *limits);
/* Whether the limit that is asked for has room for these bytes of host memory besides the present plan, so that what is
 * kept while the limit changes may stay in memory. False where a pause is asked for. */
bool myth_live_has_room(myth_live *l, uint64_t bytes);
/* What is kept, and where, for the report; NULL = nothing any more. */
void myth_live_swapped(myth_live *l, const char *to, uint64_t bytes);
/* Whether --mem-report names a stream of lines. */
bool myth_live_is_stream(const char *path);

/* Said by the command's steps; each takes NULL. phase: "model", "plan", "run". */
void myth_live_phase(myth_live *l, const char *phase);
void myth_live_planned(myth_live *l, const myth_plan *plan);
void myth_live_refused(myth_live *l, const char *why); /* the plan does not fit */
void myth_live_ready(myth_live *l);                    /* the engine has taken what the plan lists */
/* The command ends because it was cancelled. True: by what was asked here, so that its end is no error. */
bool myth_live_takes_end(myth_live *l);
myth_memory_level myth_live_level(myth_live *l);

/* For tests: the level when `used` of `all` bytes are in use and it was `was`. */
myth_memory_level myth_memory_level_of(uint64_t used, uint64_t all, myth_memory_level was);

#ifdef __cplusplus
}
#endif
#endif
