/* cmd_generate.c - continues a text or a list of ids. */
#include "json_out.h"
#include "main.h"

#include <string.h>

enum { PROMPT_MAX = 64 << 20 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_sample_flags sample;
    const char *prompt, *file, *ids;
    uint32_t n_predict;
    bool chat, special, ignore_eos, json;
} generate_opts;

static const myth_option options[] = {
    { "prompt", "-p", MYTH_OPT_TEXT, "TEXT", offsetof(generate_opts, prompt), NULL, 0, 0, "text to continue, put behind the beginning-of-sequence id" },
    { "file", "-f", MYTH_OPT_TEXT, "FILE", offsetof(generate_opts, file), NULL, 0, 0, "the text of a file (- = standard input)" },
    { "ids", NULL, MYTH_OPT_TEXT, "LIST", offsetof(generate_opts, ids), NULL, 0, 0, "token ids to continue, as they are: 2,106" },
    { "chat", NULL, MYTH_OPT_FLAG, NULL, offsetof(generate_opts, chat), NULL, 0, 0, "as the first turn of a chat" },
    { "special", NULL, MYTH_OPT_FLAG, NULL, offsetof(generate_opts, special), NULL, 0, 0, "match control tokens in the text" },
    { "n-predict", "-n, --predict", MYTH_OPT_U32, "N", offsetof(generate_opts, n_predict), "128", 0, 1u << 20, "new tokens at most" },
    { "ignore-eos", NULL, MYTH_OPT_FLAG, NULL, offsetof(generate_opts, ignore_eos), NULL, 0, 0, "go on past stop tokens" },
    { "json", NULL, MYTH_OPT_FLAG, NULL, offsetof(generate_opts, json), NULL, 0, 0, "print {\"ids\",\"text\",\"finish_reason\"}: the new ids and their text" },
};
static const myth_option_group groups[] = {
    MYTH_GROUP("generate", generate_opts, options),
    MYTH_GROUP_SAMPLE(generate_opts, sample),
    MYTH_GROUP_MODEL(generate_opts, model),
    MYTH_GROUP_ENGINE(generate_opts, engine),
};

typedef struct {
    myth_cli *cli;
    const generate_opts *o;
    myth_model model;
    int32_t *prompt, *ids;
    size_t n_prompt;
    uint32_t n_ids;
    char *piece;                    /* what one token adds to the text */
    myth_detok detok;
    myth_engine *engine;
    myth_seq *seq;
    myth_finish finish;
} run_state;

static void release(run_state *r)
{
    myth_mem *mem = r->cli->mem;
    if (r->seq)
        myth_seq_close(r->seq);
    myth_engine_close(r->engine);
    myth_free(mem, r->piece);
    myth_free(mem, r->ids);
    myth_free(mem, r->prompt);
    myth_model_close(&r->model);
}

static myth_status encode_text(run_state *r, const char *text, size_t len, myth_error *err)
{
    const generate_opts *o = r->o;
    const myth_tokenizer *t = r->model.tokenizer;
    myth_message msg = { MYTH_ROLE_USER, { text, len } };
    if (!t)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: no tokenizer; give --ids", myth_weights_path(r->model.weights));
    size_t cap = o->chat ? myth_chat_bound(&msg, 1) : myth_tokenizer_bound(len) + 1, first = 0;
    r->prompt = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "prompt", cap, sizeof(*r->prompt));
    if (!r->prompt)
        return myth_fail(err, MYTH_ENOMEM, "no room for %zu prompt ids", cap);
    if (o->chat)
        return myth_chat_encode(t, r->cli->mem, r->model.config.family, &msg, 1, r->prompt, cap, &r->n_prompt, err);
    if ((r->prompt[0] = myth_tokenizer_special(t)->bos) >= 0)
        first = 1;
    myth_status st = myth_tokenizer_encode(t, r->cli->mem, o->special ? MYTH_TOK_SPECIAL : MYTH_TOK_CONTENT, text, len, r->prompt + first,
                                           cap - first, &r->n_prompt, err);
    r->n_prompt += first;
    return st;
}

static myth_status read_prompt(run_state *r, myth_error *err)
{
    const generate_opts *o = r->o;
    if (o->ids)
        return myth_cli_ids(&r->prompt, &r->n_prompt, r->cli->mem, o->ids, err);
    if (o->prompt)
        return encode_text(r, o->prompt, strlen(o->prompt), err);
    unsigned char *text;
    size_t len;
    myth_status st = myth_cli_read(&text, &len, r->cli->mem, o->file, PROMPT_MAX, err);
    if (st != MYTH_OK)
        return st;
    st = encode_text(r, (const char *)text, len, err);
    myth_free(r->cli->mem, text);
    return st;
}

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    run_state *r = user;
    myth_term_progress(r->cli->term, "prompt", done, total);
}

static bool on_token(void *user, int32_t id)
{
    run_state *r = user;
    myth_term_progress_end(r->cli->term);
    if (r->piece && !r->o->json) {
        fwrite(r->piece, 1, myth_detok_push(&r->detok, id, r->piece), stdout);
        fflush(stdout);
    }
    return true;
}

static void print_json(run_state *r)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key(&j, "ids");
    myth_jout_ids(&j, r->ids, r->n_ids);
    myth_jout_key(&j, "text");
    myth_jout_text_begin(&j);
    for (uint32_t i = 0; r->piece && i < r->n_ids; i++)
        myth_jout_text_part(&j, r->piece, myth_detok_push(&r->detok, r->ids[i], r->piece));
    if (r->piece)
        myth_jout_text_part(&j, r->piece, myth_detok_finish(&r->detok, r->piece));
    myth_jout_text_end(&j);
    myth_jout_key_str(&j, "finish_reason", myth_finish_name(r->finish));
    myth_jout_key_u64(&j, "prompt_tokens", r->n_prompt);
    myth_jout_end(&j);
}

static void print_rest(run_state *r)
{
    if (!r->piece)
        for (uint32_t i = 0; i < r->n_ids; i++)
            printf("%s%d", i ? "," : "", r->ids[i]);
    else
        fwrite(r->piece, 1, myth_detok_finish(&r->detok, r->piece), stdout);
    putchar('\n');
}

static int exit_of_finish(const run_state *r)
{
    switch (r->finish) {
    case MYTH_FINISH_STOP:
    case MYTH_FINISH_LENGTH: return MYTH_EXIT_CLEAN;
    default: return MYTH_EXIT_INCOMPLETE;
    }
}

static myth_status generate(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    const generate_opts *o = r->o;
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    int32_t stop[8];
    MYTH_TRY(myth_cli_model_open(cli, &r->model, &o->model, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(read_prompt(r, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    myth_generate_opts g = { .prompt = r->prompt, .n_prompt = (uint32_t)r->n_prompt, .n_max = o->n_predict, .stop_ids = stop,
                             .on_prefill = on_prefill, .on_token = on_token, .user = r, .cancel = cli->cancel };
    myth_cli_sample_params(&g.sample, &o->sample);
    myth_generate_needs(&eo, &g.sample, false);
    if (r->model.tokenizer && !o->ignore_eos)
        g.n_stop = myth_chat_stop_ids(r->model.tokenizer, r->model.config.family, stop);
    r->ids = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "ids", o->n_predict, sizeof(*r->ids));
    if (r->model.tokenizer)
        r->piece = myth_alloc(cli->mem, MYTH_MEM_STAGING, "piece", 3 * (myth_tokenizer_max_piece(r->model.tokenizer) + 4));
    if (!r->ids || (r->model.tokenizer && !r->piece)) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for %u new ids", o->n_predict);
        goto fail;
    }
    if (r->model.tokenizer)
        myth_detok_start(&r->detok, r->model.tokenizer, !o->json);
    if (!eo.n_ctx)
        eo.n_ctx = myth_cli_context(&r->model, r->n_prompt + o->n_predict);
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, NULL, err));
    MYTH_TRY(myth_engine_open(&r->engine, &r->model, &eo, err));
    MYTH_TRY(myth_seq_open(&r->seq, r->engine, err));
    MYTH_TRY(myth_generate(r->engine, r->seq, &g, r->ids, &r->n_ids, &r->finish, err));
    if (r->finish == MYTH_FINISH_REFUSED)
        st = myth_fail(err, MYTH_ELIMIT, "the prompt has %zu tokens, the context %u: shorten it or raise -c", r->n_prompt, eo.n_ctx);
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = { 0 };
    run_state r = { .cli = cli, .o = opts };
    int given = (r.o->prompt != NULL) + (r.o->file != NULL) + (r.o->ids != NULL);
    if (given != 1)
        return myth_cli_failf(cli, MYTH_EARG, "generate: give one of -p TEXT, -f FILE, --ids LIST");
    myth_status st = generate(&r, &err);
    int code = st == MYTH_OK ? exit_of_finish(&r) : myth_cli_fail(cli, &err);
    if (st == MYTH_ENOFIT)
        r.finish = MYTH_FINISH_REFUSED;
    if (r.o->json && (st == MYTH_OK || r.finish == MYTH_FINISH_REFUSED))
        print_json(&r);
    else if (st == MYTH_OK)
        print_rest(&r);
    release(&r);
    return code;
}

const myth_command myth_cmd_generate = {
    .name = "generate", .args = "", .help = "continue a text, a chat turn or a list of ids",
    .group = groups, .n_group = 4, .opts_bytes = sizeof(generate_opts), .run = run
};
