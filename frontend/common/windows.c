/* windows.c - encodes files and cuts their tokens into windows. */
#include "windows.h"

#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

void myth_windows_close(myth_windows *w, myth_cli *cli)
{
    myth_free(cli->mem, w->ids);
    *w = (myth_windows){0};
}

static myth_status add_file(myth_windows *w, myth_cli *cli, const myth_model *m, const char *path, myth_error *err)
{
    unsigned char *data = NULL;
    size_t len = 0, n = 0;
    int32_t *ids = NULL;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_read(&data, &len, cli->mem, path, FILE_BYTES_MAX, err));
    const size_t bound = myth_tokenizer_bound(len);
    ids = myth_realloc(cli->mem, MYTH_MEM_STAGING, "ids", w->ids, (w->n_ids + bound) * sizeof(*ids));
    if (!ids)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu tokens", path, bound));
    w->ids = ids;
    MYTH_TRY(myth_tokenizer_encode(m->tokenizer, cli->mem, MYTH_TOK_CONTENT, (const char *)data, len, ids + w->n_ids,
                                   bound, &n, err));
    w->n_ids += n;
fail:
    myth_free(cli->mem, data);
    return st;
}

myth_status myth_windows_open(myth_windows *out, myth_cli *cli, const myth_model *m, uint32_t n_tok, uint32_t n_most,
                              myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_windows){.n_tok = n_tok};
    if (!m->tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a model with one",
                         myth_weights_path(m->weights));
    out->ids = myth_alloc(cli->mem, MYTH_MEM_STAGING, "ids", sizeof(*out->ids));
    if (!out->ids)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for token ids");
    const int32_t bos = myth_tokenizer_special(m->tokenizer)->bos;
    out->ids[out->n_ids++] = bos;
    for (int i = 0; i < cli->n_arg; i++)
        MYTH_TRY(add_file(out, cli, m, cli->arg[i], err));
    const uint64_t n = out->n_ids / n_tok;
    out->n_window = (uint32_t)(n_most && n > n_most ? n_most : n < UINT32_MAX ? n : UINT32_MAX);
    if (!out->n_window && out->n_ids < MYTH_WINDOW_LEAST)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%.120s: the text has %llu token%s, a window at least %d; give more text",
                           cli->arg[0], (unsigned long long)out->n_ids, myth_s(out->n_ids), (int)MYTH_WINDOW_LEAST));
    if (!out->n_window)
        MYTH_TRY(myth_fail(err, MYTH_EARG,
                           "%.120s: the text has %llu tokens, fewer than a window of %u; give more text, or -c %llu",
                           cli->arg[0], (unsigned long long)out->n_ids, n_tok, (unsigned long long)out->n_ids));
    for (uint32_t i = 0; i < out->n_window; i++)
        out->ids[(uint64_t)i * n_tok] = bos;
    return MYTH_OK;
fail:
    myth_windows_close(out, cli);
    return st;
}
