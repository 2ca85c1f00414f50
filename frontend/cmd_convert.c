/* cmd_convert.c - any model that can be opened, written as GGUF. */
#include "../engine/convert.h"
#include "main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KV_MAX = 16 };

typedef struct {
    myth_model_flags model;
    const char *output, *kv;
    int type;
} convert_opts;

static const myth_dtype type_of[] = { MYTH_F16, MYTH_BF16, MYTH_Q8_0, MYTH_Q4_0, MYTH_F32 };

static const myth_option options[] = {
    { "output", "-o", MYTH_OPT_TEXT, "FILE", offsetof(convert_opts, output), NULL, 0, 0, "the .gguf to write" },
    { "type", NULL, MYTH_OPT_CHOICE, "f16|bf16|q8_0|q4_0|f32", offsetof(convert_opts, type), "q8_0", 0, 0, "of the matrices" },
    { "kv", NULL, MYTH_OPT_TEXT, "LIST", offsetof(convert_opts, kv), NULL, 0, 0, "facts to add: mythos.prompt=compact,mythos.trained_tokens=2048" },
};
static const myth_option_group groups[] = { MYTH_GROUP("convert", convert_opts, options), MYTH_GROUP_MODEL(convert_opts, model) };

/* Cuts "key=value,key=value" in place. Whole numbers are numbers, the rest is text. */
static myth_status parse_facts(myth_convert_kv *kv, uint32_t *n, char *text, myth_error *err)
{
    for (char *save = NULL, *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *value = strchr(item, '='), *end;
        if (!value || value == item || *n == KV_MAX)
            return myth_fail(err, MYTH_EARG, "--kv: got '%s', expected key=value, at most %d of them", item, KV_MAX);
        *value++ = '\0';
        errno = 0;
        unsigned long number = strtoul(value, &end, 10);
        bool is_number = *value >= '0' && *value <= '9' && !*end && !errno && number <= UINT32_MAX;
        kv[(*n)++] = (myth_convert_kv){ .key = item, .text = is_number ? NULL : value, .number = is_number ? (uint32_t)number : 0 };
    }
    return MYTH_OK;
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    myth_cli *cli = user;
    myth_term_progress(cli->term, "convert, MiB", done >> 20, total >> 20);
}

static int run(myth_cli *cli, const void *opts)
{
    const convert_opts *o = opts;
    myth_error err = { 0 };
    myth_status st = MYTH_OK;
    myth_model model = { 0 };
    myth_convert_kv kv[KV_MAX];
    char *facts = NULL;
    myth_convert_opts co = { .path = o->output, .type = type_of[o->type], .kv = kv, .on_progress = on_progress, .user = cli, .cancel = cli->cancel };
    if (!o->output)
        return myth_cli_failf(cli, MYTH_EARG, "convert: -o FILE is missing");
    if (o->kv) {
        facts = myth_alloc(cli->mem, MYTH_MEM_STAGING, "facts", strlen(o->kv) + 1);
        if (!facts)
            return myth_cli_failf(cli, MYTH_ENOMEM, "no room for --kv");
        strcpy(facts, o->kv);
        MYTH_TRY(parse_facts(kv, &co.n_kv, facts, &err));
    }
    MYTH_TRY(myth_cli_model_open(cli, &model, &o->model, MYTH_WEIGHTS_DATA, &err));
    MYTH_TRY(myth_convert(&model, &co, &err));
fail:
    myth_model_close(&model);
    myth_free(cli->mem, facts);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_convert = {
    .name = "convert", .args = "", .help = "write a model as GGUF in f16, bf16, q8_0 or q4_0",
    .group = groups, .n_group = 2, .opts_bytes = sizeof(convert_opts), .run = run
};
