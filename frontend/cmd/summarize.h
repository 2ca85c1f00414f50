/* summarize.h - one line of each file by a model, kept in the index by the file's content.
 *
 * Full     a model that follows instructions writes the line: ASCII, one line, at most 120 bytes, under a grammar. It
 *          is kept when it is about the file (myth_summary_is_grounded)
 * Compact  a model that was trained for findings alone writes no sentences. What the head of a file says is its line;
 *          where that says nothing the model chooses, under a grammar too, among the first sentences of what its
 *          definitions say. Of a single one there is nothing to ask; where there is none nothing is kept
 * Bounded  by `most` files a run, the most important first, and SHOWN bytes of each. Every line is committed when it is
 *          there: a run that was interrupted is taken up where it ended
 * Plan     myth_cli_plan, as every command that runs a model; the index must be in a ledger of its own
 * Errors   what model, engine and index return. Cancelled is none: counts say how far it came */
#ifndef MYTH_SUMMARIZE_H
#define MYTH_SUMMARIZE_H

#include "retrieval/retrieval.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_file, n_missing; /* files; those without a line before */
    uint32_t n_done, n_kept;    /* looked at in this run; those that have one now */
    uint32_t n_asked;           /* answers of the model */
} myth_summarize_counts;

/* mem: of the index. */
myth_status myth_summarize(myth_summarize_counts *out, myth_cli *cli, const myth_model_flags *model,
                           const myth_engine_flags *engine, myth_index *x, myth_mem *mem, uint32_t most,
                           myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
