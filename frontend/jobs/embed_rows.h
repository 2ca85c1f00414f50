/* embed_rows.h - the rows of embed -o FILE: kept in the journal group by group, and written to the file when all are
 * there.
 *
 * A row    a line of JSON without its newline, or dim floats of an array: .npy, or .safetensors with one tensor
 *          "embeddings" [texts, dim]
 * Faults   a line that is no text has a row too, so that row i is always that of text i: its error in JSON lines, NaN
 *          in an array. The number of such rows is kept; those of an array are named when the file is written
 * Killed   committed rows are in the journal, and the same command goes on after the last of them. The file is the
 *          same, byte for byte
 * Errors   those of journal.h, outfile.h, npy.h and safetensors.h
 * Threads  one */
#ifndef MYTH_JOB_EMBED_ROWS_H
#define MYTH_JOB_EMBED_ROWS_H

#include "frontend/cli/cli.h"
#include "journal.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_EMBED_DIM_MAX = 1 << 12 };

typedef enum { MYTH_EMBED_JSONL, MYTH_EMBED_NPY, MYTH_EMBED_SAFETENSORS } myth_embed_form;

typedef struct {
    myth_cli *cli;
    const char *output;
    myth_journal *journal; /* NULL = closed */
    myth_embed_form form;
    uint32_t dim;      /* of an array, at most MYTH_EMBED_DIM_MAX */
    uint64_t n_fault;  /* counted by the caller, from those of earlier commands on */
    bool is_of_stream; /* set by the caller: the input cannot be read again, so an unfinished journal is removed */
} myth_embed_rows;

myth_status myth_embed_rows_open(myth_embed_rows *v, myth_cli *cli, const char *output, myth_embed_form form,
                                 uint32_t dim, const myth_journal_fact *fact, size_t n_fact, bool goes_on,
                                 myth_error *err);
/* The row of an array for a text with a fault. */
myth_status myth_embed_rows_fault(myth_embed_rows *v, uint64_t row, const char *fault, myth_error *err);
myth_status myth_embed_rows_commit(myth_embed_rows *v, myth_error *err);
/* Leaves the journal to the next command, or removes it. Takes a closed one. */
void myth_embed_rows_close(myth_embed_rows *v);
/* Writes the file from the journal, n rows, and removes the journal. */
myth_status myth_embed_rows_finish(myth_embed_rows *v, uint64_t n, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
