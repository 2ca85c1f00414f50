/* runlog.h - the record of a run: what was asked, what was shown and why, what was answered, what it came to. Written
 * as the run goes.
 *
 * Record   one JSON document per run (format 1), keys in the order in which things happen: run, began, command, args,
 *          options, cwd, root, binary, weights, model, device, threads; texts by name ("query", "task"); counts by
 *          section; index; candidates (with every part of every score); reranks (pieces with the model's own scores);
 *          files (bytes, SHA-256 of what was read); pieces (lines, symbol, why, score, parts they stand in); prompt
 *          (style, hash, tokens per part); exchanges (one per answer: tokens, hashes, seconds); dropped; stages
 *          (seconds); report; exit_code. The long texts of an exchange - prompt, ids, answer - and the report as it was
 *          printed stand beside it (runlog_file.h)
 * Replay   needs no content of files: the run is made again from the command line and the files, and its record
 *          compared with this one
 * Secrets  every string of the record but paths, the prompts and the answers pass the report's redactor on their way
 *          into the file: what the detectors take for a secret (secrets.h says what that is, and what it is not) is not
 *          in it, and `log` cannot print what it does not have. A secret that they do not know is in it as it is. Ids
 *          of a prompt are kept when naming secrets changed nothing in its text, else only their hash: a replay makes
 *          them again from the files. A command line with a secret in it is kept redacted and cannot be replayed
 * Private  0600. Prompts hold source code: --no-log-prompts keeps prompts and answers as hashes and counts
 * Errors   none: a log that cannot be written says so once on standard error, and the run goes on without it. Every
 *          function takes NULL
 * Memory   a ledger of its own (MYTH_RUNLOG_MEM_BYTES), so that the plan of the run is the run's; jansson and SQLite
 *          take theirs
 * Time     some milliseconds per run and per answer; the model and the binary are hashed once and remembered */
#ifndef MYTH_INSPECT_RUNLOG_H
#define MYTH_INSPECT_RUNLOG_H

#include "frontend/cli/cli.h"
#include "frontend/inspect/inspect.h"
#include "frontend/inspect/report/outputs.h"
#include "frontend/inspect/select/rerank.h"
#include "retrieval/retrieval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MYTH_RUNLOG_FORMAT = 1,
    MYTH_RUNLOG_MEM_BYTES = 32 << 20,
    MYTH_RUNLOG_CANDIDATES = 1000, /* hits of a search: it looks at 300 chunks                         */
    MYTH_RUNLOG_EXCHANGES = 2048   /* answers with their texts; further ones are counted                */
};

/* Flags of every command that is logged. */
typedef struct {
    const char *path; /* NULL = the default place */
    bool is_off, prompts;
} myth_runlog_flags;

extern const myth_option myth_options_runlog[];
enum { MYTH_N_OPTIONS_RUNLOG = 3 };
#define MYTH_GROUP_RUNLOG(type, field)                                               \
    {                                                                                \
        "run log", myth_options_runlog, MYTH_N_OPTIONS_RUNLOG, offsetof(type, field) \
    }

typedef struct myth_runlog myth_runlog;

/* The command line, as parsed, and what runs it. NULL: no log is wanted or none can be written. cli is lent until end.
 */
myth_runlog *myth_runlog_begin(const myth_runlog_flags *f, const myth_cli *cli);
/* Ends the run's record; the log is no more. */
void myth_runlog_end(myth_runlog *log, int exit_code);

/* A text that steered the run: "query", "task", "map". NULL says nothing. */
void myth_runlog_say(myth_runlog *log, const char *name, const char *text);
void myth_runlog_count(myth_runlog *log, const char *section, const char *name, double value);
/* What was done since the stage before, or since begin: "index", "retrieve", "pack", "generate". */
void myth_runlog_stage(myth_runlog *log, const char *name);
/* A file that steers the report beside the inspected ones: "baseline". */
void myth_runlog_input(myth_runlog *log, const char *role, const char *path);
/* A text that was made or read for this run alone and steers it: "diff". Its hash is kept. */
void myth_runlog_input_bytes(myth_runlog *log, const char *role, const void *data, size_t n);
/* spec as the model was opened by. */
void myth_runlog_model(myth_runlog *log, const myth_model *m, const char *spec);
/* The index as it was asked: a hash of its files' paths and hashes, the list of paths, and the model of its vectors. */
void myth_runlog_index(myth_runlog *log, myth_index *x);

/* What a search found, best first; `fate` says what became of it: "subject", "context", "below the cut", ... */
typedef struct {
    const char *path, *symbol, *kind, *fate; /* symbol, kind and fate may be NULL */
    uint32_t first, last;
    double score;
    const myth_score_part *part;
    uint32_t n_part;
} myth_runlog_candidate;
void myth_runlog_found(myth_runlog *log, const myth_runlog_candidate *c);
/* What a ranked search was asked and found: the first n_taken of the hits in `order` (NULL = their own) became pieces,
 * the others stood below the cut; more of those are found by asking once more for MYTH_RUNLOG_BELOW. */
enum { MYTH_RUNLOG_BELOW = 50 };
void myth_runlog_search(myth_runlog *log, myth_index *x, const myth_search_opts *asked, const myth_hits *hits,
                        const uint32_t *order, uint32_t n_taken);

/* What the model itself made of a list: every piece with its score, the best first. */
void myth_runlog_rerank(myth_runlog *log, const char *question, const myth_candidate *c, const float *score,
                        const uint32_t *order, uint32_t n);

/* After myth_inspect_open: what is shown, in which parts. root: of the material's paths, NULL = as given. in, m, io and
 * model are lent until end, which comes before they are closed. */
void myth_runlog_inspection(myth_runlog *log, const myth_inspection *in, const myth_material *m,
                            const myth_inspect_opts *io, const myth_model *model, const char *root);
/* opts.on_exchange. */
void myth_runlog_exchange(myth_runlog *log, const myth_exchange *x);
/* The report, as it goes to standard output in that form. */
void myth_runlog_report(myth_runlog *log, const myth_report *r, myth_form form);

#ifdef __cplusplus
}
#endif
#endif
