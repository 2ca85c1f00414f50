/* windows.h - texts as windows of n tokens, one behind the other, each with <bos> in place of its first token: what
 * perplexity and imatrix run.
 *
 * Text     files are encoded one by one as content (control tokens inert), <bos> in front of the first; what is left
 *          behind the last whole window is not used
 * Memory   the ids of all texts and, while one is encoded, its bytes; class STAGING
 * Errors   those of reading; MYTH_EARG less text than a window
 * Source   llama.cpp tools/perplexity, so that numbers can be compared */
#ifndef MYTH_WINDOWS_H
#define MYTH_WINDOWS_H

#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_WINDOW_TOKENS = 512 };

typedef struct {
    int32_t *ids; /* [n_window][n_tok] and the rest */
    uint64_t n_ids;
    uint32_t n_tok, n_window;
} myth_windows;

/* At most n_most windows (0 = all) of n_tok tokens. Files of cli->arg. */
myth_status myth_windows_open(myth_windows *out, myth_cli *cli, const myth_model *m, uint32_t n_tok, uint32_t n_most,
                              myth_error *err);
void myth_windows_close(myth_windows *w, myth_cli *cli); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
