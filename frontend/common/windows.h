/* windows.h - cuts texts into consecutive windows of n tokens, for perplexity and imatrix. <bos> replaces the first
 * token of each window.
 *
 * Text     files are encoded one by one as content (text that spells a control token stays text), with <bos> before the
 *          first. Tokens after the last whole window are not used
 * Memory   the ids of all texts and, while a text is encoded, its bytes; class STAGING
 * Errors   those of reading; MYTH_EARG: the text is shorter than one window
 * Threads  one
 * Source   llama.cpp tools/perplexity, so that numbers can be compared */
#ifndef MYTH_WINDOWS_H
#define MYTH_WINDOWS_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_WINDOW_TOKENS = 512, MYTH_WINDOW_LEAST = 4 };

typedef struct {
    int32_t *ids; /* [n_window][n_tok], then the tokens that fill no window */
    uint64_t n_ids;
    uint32_t n_tok, n_window;
} myth_windows;

/* Reads the files of cli->arg into at most n_most windows (0 = all) of n_tok tokens. */
myth_status myth_windows_open(myth_windows *out, myth_cli *cli, const myth_model *m, uint32_t n_tok, uint32_t n_most,
                              myth_error *err);
void myth_windows_close(myth_windows *w, myth_cli *cli); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
