/* summarize.h - lets a model write one line about each file and keeps the line in the index, by the file's content.
 *
 * Full     a model that follows instructions writes the line itself: one line of ASCII, at most 120 bytes, under a
 *          grammar. The line is kept only if it is about the file (myth_summary_is_grounded)
 * Compact  a model that was trained only for findings cannot write sentences. The line is the comment at the head of
 *          the file. If there is none, the model chooses among the first sentences of its definitions' comments, under
 *          a grammar; a single sentence is taken without asking, and without any sentence no line is kept
 * Bounds   at most `most` files in a run, the most important first, and SHOWN bytes of each. Every line is committed at
 *          once, so that a later run continues after an interrupted one
 * Plan     myth_cli_plan makes it; the index must be in a ledger of its own
 * Errors   those of model, engine and index. An interrupt is no error: the counts have how far the run came
 * Threads  one */
#ifndef MYTH_SUMMARIZE_H
#define MYTH_SUMMARIZE_H

#include "retrieval/retrieval.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_file, n_missing; /* all files; files that had no line before this run */
    uint32_t n_done, n_kept;    /* files that this run worked on; those of them that now have a line */
    uint32_t n_asked;           /* files for which the model was asked */
} myth_summarize_counts;

/* Summarizes at most `most` files. mem: the index's ledger. */
myth_status myth_summarize(myth_summarize_counts *out, myth_cli *cli, const myth_model_flags *model,
                           const myth_engine_flags *engine, myth_index *x, myth_mem *mem, uint32_t most,
                           myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
