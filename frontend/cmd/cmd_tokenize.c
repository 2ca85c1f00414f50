/* cmd_tokenize.c - the commands tokenize and detokenize. They need only a tokenizer, no config and no tensors. */
#include "frontend/cli/json_out.h"
#include "frontend/cli/cli.h"

#include <string.h>

enum { TEXT_MAX = 256 << 20 };

/* ---- tokenize ---- */

typedef struct {
    myth_model_flags model;
    bool json, special, add_bos;
} tokenize_opts;

static const myth_option tokenize_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(tokenize_opts, json), NULL, 0, 0, "print {\"ids\":[...]}"},
    {"special", NULL, MYTH_OPT_FLAG, NULL, offsetof(tokenize_opts, special), NULL, 0, 0,
     "read the names of control tokens in the text as control tokens"},
    {"add-bos", NULL, MYTH_OPT_FLAG, NULL, offsetof(tokenize_opts, add_bos), NULL, 0, 0,
     "put the beginning-of-sequence id first"},
};
static const myth_option_group tokenize_groups[] = {MYTH_GROUP("tokenize", tokenize_opts, tokenize_options),
                                                    MYTH_GROUP_VOCABULARY(tokenize_opts, model)};

static void print_ids(const tokenize_opts *o, const int32_t *ids, size_t n)
{
    if (o->json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key(&j, "ids");
        myth_jout_ids(&j, ids, n);
        myth_jout_end(&j);
        return;
    }
    for (size_t i = 0; i < n; i++)
        printf("%s%d", i ? "," : "", ids[i]);
    putchar('\n');
}

static int run_tokenize(myth_cli *cli, const void *opts)
{
    const tokenize_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_cli_tokenizer l = {0};
    unsigned char *text = NULL;
    int32_t *ids = NULL;
    size_t len, n = 0;
    MYTH_TRY(myth_cli_tokenizer_open(&l, cli, &o->model, &err));
    MYTH_TRY(myth_cli_read_given(&text, &len, cli->mem, cli->n_arg ? cli->arg[0] : "-", TEXT_MAX, &err));
    size_t cap = myth_tokenizer_bound(len), first = 0;
    ids = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "ids", cap + 1, sizeof(*ids));
    if (!ids) {
        st = myth_fail(&err, MYTH_ENOMEM, "out of memory for %zu ids", cap + 1);
        goto fail;
    }
    if (o->add_bos && (ids[0] = myth_tokenizer_special(l.t)->bos) >= 0)
        first = 1;
    MYTH_TRY(myth_tokenizer_encode(l.t, cli->mem, o->special ? MYTH_TOK_SPECIAL : MYTH_TOK_CONTENT, (const char *)text,
                                   len, ids + first, cap, &n, &err));
    print_ids(o, ids, first + n);
fail:
    myth_free(cli->mem, ids);
    myth_free(cli->mem, text);
    myth_cli_tokenizer_close(&l);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_tokenize = {
    .name = "tokenize",
    .args = "[FILE|-]",
    .help = "turn text into token ids; names of control tokens are plain text unless --special is given",
    .group = tokenize_groups,
    .n_group = 2,
    .opts_bytes = sizeof(tokenize_opts),
    .max_arg = 1,
    .run = run_tokenize,
};

/* ---- detokenize ---- */

typedef struct {
    myth_model_flags model;
    const char *ids;
    bool json;
} detokenize_opts;

static const myth_option detokenize_options[] = {
    {"ids", NULL, MYTH_OPT_TEXT, "LIST", offsetof(detokenize_opts, ids), NULL, 0, 0, "token ids: 2,106"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(detokenize_opts, json), NULL, 0, 0,
     "print {\"text\"}, with U+FFFD for invalid bytes"},
};
static const myth_option_group detokenize_groups[] = {MYTH_GROUP("detokenize", detokenize_opts, detokenize_options),
                                                      MYTH_GROUP_VOCABULARY(detokenize_opts, model)};

/* Decodes all ids to text, booked as STAGING. */
static myth_status decode(char **out, size_t *len, myth_cli *cli, const myth_cli_tokenizer *l, const int32_t *ids,
                          size_t n, myth_error *err)
{
    uint64_t cap = 0;
    for (size_t i = 0; i < n; i++) {
        if ((uint32_t)ids[i] >= myth_tokenizer_n_vocab(l->t))
            return myth_fail(err, MYTH_EARG, "ids: got %d, expected an id less than %u", ids[i],
                             myth_tokenizer_n_vocab(l->t));
        cap += myth_tokenizer_bytes_of(l->t, ids[i], NULL, 0);
    }
    char *text = myth_alloc(cli->mem, MYTH_MEM_STAGING, "text", cap + 1);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %llu bytes of text", (unsigned long long)cap);
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        at += myth_tokenizer_bytes_of(l->t, ids[i], text + at, cap - at);
    *out = text;
    *len = at;
    return MYTH_OK;
}

static int run_detokenize(myth_cli *cli, const void *opts)
{
    const detokenize_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_cli_tokenizer l = {0};
    int32_t *ids = NULL;
    char *text = NULL;
    size_t n, len = 0;
    if (!o->ids)
        return myth_cli_failf(cli, MYTH_EARG, "detokenize: --ids LIST is missing");
    MYTH_TRY(myth_cli_ids(&ids, &n, cli->mem, o->ids, &err));
    MYTH_TRY(myth_cli_tokenizer_open(&l, cli, &o->model, &err));
    MYTH_TRY(decode(&text, &len, cli, &l, ids, n, &err));
    if (o->json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key(&j, "text");
        myth_jout_text(&j, text, len);
        myth_jout_end(&j);
    } else {
        myth_term_data(cli->term, stdout, text, len);
    }
fail:
    myth_free(cli->mem, text);
    myth_free(cli->mem, ids);
    myth_cli_tokenizer_close(&l);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_detokenize = {
    .name = "detokenize",
    .args = "",
    .help = "turn token ids into text, byte for byte",
    .group = detokenize_groups,
    .n_group = 2,
    .opts_bytes = sizeof(detokenize_opts),
    .run = run_detokenize,
};
