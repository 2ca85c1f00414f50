/* runlog.h - writes the record of a run while it goes on: the command, the code that was shown and why, the prompts and
 * answers, and the report.
 *
 * Record   one JSON document per run (format 1), keys in the order in which things happen: run, began, command, args,
 *          options, cwd, root, binary, weights, model, device, threads; texts by name ("query", "task"); counts by
 *          section; index; candidates (with every part of every score); reranks (pieces with the model's own scores);
 *          files (bytes, SHA-256 of what was read); pieces (lines, symbol, why, score, parts they stand in); prompt
 *          (style, hash, tokens per part); exchanges (one per answer: tokens, hashes, seconds); dropped; stages
 *          (seconds); report; exit_code. The long texts of an exchange (prompt, ids, answer) and the printed report are
 *          stored separately (runlog_file.h)
 * Replay   runs the command line again on the same files and compares the two records, so that the log needs no copy of
 *          the files
 * Secrets  every string of the record except paths, and every prompt and answer, passes the report's redactor before it
 *          is written. What the detectors recognise as a secret (secrets.h says what they find and what they miss) is
 *          not in the file, so that `log` cannot print it. A secret that they miss is in the file unchanged. The ids of
 *          a prompt are kept only if its text has no placeholder, else their hash; a replay makes them again from the
 *          files. A command line with a secret is kept redacted and cannot be replayed
 * Private  mode 0600. Prompts contain source code; with --no-log-prompts only hashes and counts of prompts and answers
 *          are kept
 * Errors   none: when the log cannot be written, one note on standard error says so and the run goes on. Every function
 *          accepts NULL
 * Memory   a ledger of its own (MYTH_RUNLOG_MEM_BYTES), which is not part of the run's plan; jansson and SQLite
 *          allocate outside it
 * Time     some milliseconds per run and per answer; model and program are hashed once, and the hash is remembered
 * Threads  one */
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
    MYTH_RUNLOG_CANDIDATES = 1000, /* most hits of a search; a search ranks 300 chunks                 */
    MYTH_RUNLOG_EXCHANGES = 2048   /* most answers kept with their texts; further ones are only counted */
};

/* Flags of every command that is logged. */
typedef struct {
    const char *path; /* NULL = the default place */
    bool is_off, prompts;
    uint32_t max_runs;  /* 0 = MYTH_RUNLOG_RUNS  */
    uint64_t max_bytes; /* 0 = MYTH_RUNLOG_BYTES */
} myth_runlog_flags;

extern const myth_option myth_options_runlog[];
enum { MYTH_N_OPTIONS_RUNLOG = 5 };
#define MYTH_GROUP_RUNLOG(type, field)                                               \
    {                                                                                \
        "run log", myth_options_runlog, MYTH_N_OPTIONS_RUNLOG, offsetof(type, field) \
    }

typedef struct myth_runlog myth_runlog;

/* Begins a record with the parsed command line and the program's identity. NULL: no log is wanted, or none can be
 * written. The caller keeps cli until end. */
myth_runlog *myth_runlog_begin(const myth_runlog_flags *f, const myth_cli *cli);
/* Ends the record and frees the log. */
void myth_runlog_end(myth_runlog *log, int exit_code);

/* Where a run stands in the log, for a later run that repeats it. */
typedef struct {
    int64_t run, began_ms; /* run 0 = in no log */
} myth_runlog_place;
myth_runlog_place myth_runlog_here(const myth_runlog *log);
/* Whether the log still has that run, ended; true without a log. */
bool myth_runlog_has(myth_runlog *log, const myth_runlog_place *place);
/* Records that everything this run printed is what that run printed, because nothing has changed: the record of that
 * run says what was read, shown and answered (runlog_repeat.h). */
void myth_runlog_repeats(myth_runlog *log, const myth_runlog_place *place);
/* The same of a run that the log does not have: of what was printed the bytes are recorded, and nothing of what was
 * read and shown. */
void myth_runlog_repeats_lost(myth_runlog *log, myth_form form, const void *printed, size_t n);

/* Records the places that rules found and the model judged, at most MYTH_RUNLOG_CANDIDATES: those that pass first. */
void myth_runlog_given(myth_runlog *log, const myth_given *given, uint32_t n);

/* Records a text that influenced the run: "query", "task", "map". s NULL: records nothing. */
void myth_runlog_say(myth_runlog *log, const char *name, const char *s);
/* Records what the run chose itself for an option that leaves it the choice; a replay is given that. value NULL:
 * records nothing. */
void myth_runlog_chosen(myth_runlog *log, const char *option, const char *value);
void myth_runlog_count(myth_runlog *log, const char *section, const char *name, double value);
/* Records the time since the previous stage, or since begin, under the name of what was done: "index", "retrieve",
 * "pack", "generate". */
void myth_runlog_stage(myth_runlog *log, const char *name);
/* Records a file other than the inspected ones that influences the report: "baseline". */
void myth_runlog_input(myth_runlog *log, const char *role, const char *path);
/* Records the hash of data that was made or read for this run and influences it: "diff". */
void myth_runlog_input_bytes(myth_runlog *log, const char *role, const void *data, size_t n);
/* Records the model; spec is the name it was opened with. */
void myth_runlog_model(myth_runlog *log, const myth_model *m, const char *spec);
/* Records the index: a hash over its files' paths and hashes, the list of paths, and the model of its vectors. */
void myth_runlog_index(myth_runlog *log, myth_index *x);

/* A hit of a search, recorded best first; `fate` is what it was used for: "subject", "context", "below the cut", ... */
typedef struct {
    const char *path, *symbol, *kind, *fate; /* symbol, kind and fate may be NULL */
    uint32_t first, last;
    double score;
    const myth_score_part *part;
    uint32_t n_part;
} myth_runlog_candidate;
void myth_runlog_found(myth_runlog *log, const myth_runlog_candidate *c);
/* Records a ranked search: the first n_taken hits in `order` (NULL = their own order) became pieces, the others were
 * below the cut. Searches once more, to record MYTH_RUNLOG_BELOW hits in all. */
enum { MYTH_RUNLOG_BELOW = 50 };
void myth_runlog_search(myth_runlog *log, myth_index *x, const myth_search_opts *asked, const myth_hits *hits,
                        const uint32_t *order, uint32_t n_taken);

/* Records how the model ordered a list: every piece with its score, the best first. */
void myth_runlog_rerank(myth_runlog *log, const char *question, const myth_candidate *c, const float *score,
                        const uint32_t *order, uint32_t n);

/* Records the pieces and the parts that show them, after an interrupt only at the end; call after myth_inspect_open.
 * root: the directory of the material's paths, NULL = none. The caller closes in, m, io and model after end. */
void myth_runlog_inspection(myth_runlog *log, const myth_inspection *in, const myth_material *m,
                            const myth_inspect_opts *io, const myth_model *model, const char *root);
/* Records an answer; for myth_inspect_opts.on_exchange. */
void myth_runlog_exchange(myth_runlog *log, const myth_exchange *x);
/* Records the report, and its text as printed to standard output in that form. */
void myth_runlog_report(myth_runlog *log, const myth_report *r, myth_form form);

#ifdef __cplusplus
}
#endif
#endif
