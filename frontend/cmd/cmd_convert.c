/* cmd_convert.c - writes any model that can be opened as GGUF. */
#include "engine/base/text.h"
#include "engine/make/convert.h"
#include "frontend/cli/hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KV_MAX = 16 };

typedef struct {
    myth_model_flags model;
    const char *output, *kv, *type, *imatrix;
    myth_opt_list lora;
} convert_opts;

static const myth_option options[] = {
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(convert_opts, output), NULL, 0, 0, "the .gguf file to write"},
    {"type", NULL, MYTH_OPT_TEXT, "TYPE", offsetof(convert_opts, type), "q8_0", 0, 0,
     "type of the matrices, or a mix of types as llama.cpp names them: f16, bf16, q8_0, q6_k, q5_k_m, q4_k_m, q4_k_s, "
     "q4_0, "
     "mxfp4, ..."},
    {"imatrix", NULL, MYTH_OPT_TEXT, "FILE", offsetof(convert_opts, imatrix), NULL, 0, 0,
     "an importance matrix from mythos imatrix or llama-imatrix; columns that it calls important lose less precision"},
    {"lora", NULL, MYTH_OPT_LIST, "FILE[:SCALE]", offsetof(convert_opts, lora), NULL, 0, 0,
     "add a low-rank adapter to the model's matrices: a folder or .safetensors of peft, or a .gguf of llama.cpp; SCALE "
     "(1) multiplies what is added; may be repeated"},
    {"kv", NULL, MYTH_OPT_TEXT, "LIST", offsetof(convert_opts, kv), NULL, 0, 0,
     "metadata to add: mythos.prompt=compact,mythos.trained_tokens=2048; not what a reader takes the model's shape "
     "from"},
};
static const myth_option_group groups[] = {MYTH_GROUP("convert", convert_opts, options),
                                           MYTH_GROUP_MODEL(convert_opts, model)};

/* Parses "key=value,key=value" in place. A whole number becomes a number, any other value a text. */
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
        kv[(*n)++] = (myth_convert_kv){
            .key = item,
            .text = is_number ? NULL : value,
            .number = is_number ? (uint32_t)number : 0,
        };
    }
    return MYTH_OK;
}

static bool begins(const char **key, const char *head)
{
    const size_t n = strlen(head);
    if (strncmp(*key, head, n) != 0)
        return false;
    *key += n;
    return true;
}

/* Whether a reader of the file takes its shape from the key, so that another value than the model's would make a file
 * that cannot be read, or another model. An id of the vocabulary may be another one, but for that of <bos>. */
static bool is_of_the_model(const myth_convert_kv *kv, const myth_model *m)
{
    static const char *const own[] = {"architecture", "alignment", "file_type", "quantization_version"};
    const char *key = kv->key;
    if (begins(&key, "general.")) {
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (strcmp(key, own[i]) == 0)
                return true;
        return false;
    }
    if (begins(&key, "tokenizer.ggml."))
        return !myth_text_ends(key, "_token_id") || strcmp(key, "bos_token_id") == 0 || kv->text ||
               kv->number >= m->config.n_vocab;
    return begins(&key, "split.") || (begins(&key, myth_config_gguf_name(&m->config)) && *key == '.');
}

static myth_status check_facts(const myth_convert_kv *kv, uint32_t n, const myth_model *m, myth_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_of_the_model(&kv[i], m))
            return myth_fail(err, MYTH_EARG,
                             "--kv: %.60s says what the model is, and is written as the model has it; give keys beside "
                             "those, such as mythos.note or general.name",
                             kv[i].key);
    return MYTH_OK;
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    myth_cli *cli = user;
    myth_term_progress(cli->term, "convert, MiB", done >> 20, total >> 20);
}

static uint32_t threads_of(const myth_cli *cli)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return cli->global->n_threads ? cli->global->n_threads : n > 0 ? (uint32_t)n : 1;
}

static int run(myth_cli *cli, const void *opts)
{
    const convert_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_model model = {0};
    myth_convert_kv kv[KV_MAX];
    char *facts = NULL;
    myth_imatrix *imatrix = NULL;
    myth_convert_opts co = {
        .path = o->output,
        .mix = myth_mix_find(o->type),
        .kv = kv,
        .n_threads = threads_of(cli),
        .on_progress = on_progress,
        .user = cli,
        .cancel = cli->cancel,
    };
    if (!co.mix)
        return myth_cli_failf(cli, MYTH_EARG, "--type: got '%.40s', expected %s", o->type, myth_mix_names());
    if (!o->output)
        return myth_cli_failf(cli, MYTH_EARG, "convert: -o FILE is missing; it is the .gguf file to write");
    if (myth_hint_check_file("-o", o->output, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (o->kv) {
        facts = myth_alloc(cli->mem, MYTH_MEM_STAGING, "facts", strlen(o->kv) + 1);
        if (!facts)
            return myth_cli_failf(cli, MYTH_ENOMEM, "out of memory for --kv");
        strcpy(facts, o->kv);
        MYTH_TRY(parse_facts(kv, &co.n_kv, facts, &err));
    }
    MYTH_TRY(myth_cli_model_open(cli, &model, &o->model, NULL, MYTH_WEIGHTS_DATA, &err));
    MYTH_TRY(check_facts(kv, co.n_kv, &model, &err));
    if (o->imatrix)
        MYTH_TRY(myth_imatrix_open(&imatrix, cli->mem, o->imatrix, &err));
    co.imatrix = imatrix;
    MYTH_TRY(myth_cli_model_adapt(cli, &model, &o->lora, &err));
    MYTH_TRY(myth_convert(&model, &co, &err));
fail:
    myth_imatrix_close(imatrix);
    myth_model_close(&model);
    myth_free(cli->mem, facts);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

const myth_command myth_cmd_convert = {
    .name = "convert",
    .args = "",
    .help = "write a model as GGUF in any type or mix of types",
    .group = groups,
    .n_group = 2,
    .opts_bytes = sizeof(convert_opts),
    .run = run,
};
