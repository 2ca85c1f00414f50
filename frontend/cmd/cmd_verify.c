/* cmd_verify.c - checks that a model is complete: reads its files to the end, checks every tensor, and runs one forward
 * pass.
 *
 * Checks   the checks of opening (tensor directory, shapes against the config); every value is finite, those of
 *          adapters too; the logits of a short text (an encoder's output rows) are finite. The first tensor that fails
 *          is named, exit 65
 * Sums     SHA-256 of each tensor's bytes as they are in the file, to compare two downloads, or a file and its copy */
#include "frontend/inspect/secrets/sha256.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/cli.h"

#include <math.h>
#include <string.h>

enum { N_TOK = 16, PIECE = 1 << 20 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    bool json;
} verify_opts;

static const myth_option options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(verify_opts, json), NULL, 0, 0,
     "print {\"tensors\":[{\"name\",\"type\",\"shape\",\"bytes\",\"sha256\"}..],\"forward\":{\"rows\"}}; with --lora "
     "also \"adapters\":[{\"path\",\"tensors\"}..]"},
};
static const myth_option_group groups[] = {MYTH_GROUP("verify", verify_opts, options),
                                           MYTH_GROUP_MODEL(verify_opts, model),
                                           MYTH_GROUP_ENGINE_OF_SIZE(verify_opts, engine)};

typedef struct {
    myth_cli *cli;
    const verify_opts *o;
    myth_model model;
    myth_engine *engine;
    myth_seq *seq;
    myth_json_out j;
    uint64_t done, bytes; /* of all tensors, adapters' too */
    uint32_t n_tensor;
    uint32_t n_rows;
    int32_t bad_tok; /* first token whose output is not finite; -1 = none */
} run_state;

/* ---- tensors ---- */

static void sum_of(char hex[65], run_state *r, const myth_tensor *t)
{
    unsigned char digest[MYTH_SHA256_BYTES];
    const unsigned char *p = t->data;
    myth_sha256 s;
    myth_sha256_start(&s);
    for (uint64_t at = 0; at < t->bytes; at += PIECE) {
        const uint64_t n = t->bytes - at < PIECE ? t->bytes - at : PIECE;
        myth_sha256_add(&s, p + at, (size_t)n);
        r->done += n;
        myth_term_progress(r->cli->term, "verify, MiB", r->done >> 20, r->bytes >> 20);
    }
    myth_sha256_end(&s, digest);
    myth_sha256_hex(hex, digest, 64);
    hex[64] = '\0';
}

static void print_tensor(run_state *r, const myth_tensor *t, const char *hex)
{
    char shape[96] = "";
    if (r->o->json) {
        myth_jout_object(&r->j);
        myth_jout_key(&r->j, "name");
        myth_jout_text(&r->j, t->name.text, t->name.len);
        myth_jout_key_str(&r->j, "type", myth_dtype_get(t->dtype)->name);
        myth_jout_key(&r->j, "shape");
        myth_jout_array(&r->j);
        for (uint32_t i = 0; i < t->n_dim; i++)
            myth_jout_u64(&r->j, t->dim[i]);
        myth_jout_end(&r->j);
        myth_jout_key_u64(&r->j, "bytes", t->bytes);
        myth_jout_key_str(&r->j, "sha256", hex);
        myth_jout_end(&r->j);
        return;
    }
    for (uint32_t i = 0; i < t->n_dim; i++)
        snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), i ? " x %llu" : "%llu",
                 (unsigned long long)t->dim[i]);
    myth_term_progress_end(r->cli->term);
    printf("%s  %-6s  %-16s  ", hex ? hex : "-", myth_dtype_get(t->dtype)->name, shape);
    myth_term_line(stdout, t->name.text, t->name.len);
    putchar('\n');
}

static myth_status check_tensors(run_state *r, const myth_weights *w, myth_error *err)
{
    for (uint32_t i = 0; i < myth_weights_n_tensor(w); i++) {
        const myth_tensor *t = myth_weights_at(w, i);
        char hex[65];
        if (myth_cancelled(r->cli->cancel))
            return myth_fail(err, MYTH_ECANCEL, "interrupted after %u of %u tensor%s", i, myth_weights_n_tensor(w),
                             myth_s(myth_weights_n_tensor(w)));
        if (t->data && !myth_tensor_is_finite(t))
            return myth_fail(err, MYTH_EFORMAT,
                             "%s: tensor %.*s has a value that is infinite or NaN; download or convert the file again",
                             myth_weights_path(w), (int)t->name.len, t->name.text);
        if (t->data)
            sum_of(hex, r, t);
        print_tensor(
            r, t, t->data ? hex : NULL); /* a random model's tensors are made from a seed and have no bytes to hash */
    }
    return myth_weights_check(w, err);
}

/* The tensors of the model, then those of each adapter. */
static myth_status check_files(run_state *r, myth_error *err)
{
    const myth_model *m = &r->model;
    for (uint32_t i = 0; i <= m->n_lora; i++) {
        const myth_weights *w = i ? myth_model_lora_weights(m, i - 1) : m->weights;
        r->bytes += myth_weights_bytes(w);
        r->n_tensor += myth_weights_n_tensor(w);
    }
    if (r->o->json) {
        myth_jout_key(&r->j, "tensors");
        myth_jout_array(&r->j);
    }
    myth_status st = check_tensors(r, m->weights, err);
    if (r->o->json)
        myth_jout_end(&r->j);
    if (r->o->json && m->n_lora) {
        myth_jout_key(&r->j, "adapters");
        myth_jout_array(&r->j);
    }
    for (uint32_t i = 0; i < m->n_lora && st == MYTH_OK; i++) {
        if (r->o->json) {
            myth_jout_object(&r->j);
            myth_jout_key_str(&r->j, "path", myth_model_lora_path(m, i));
            myth_jout_key(&r->j, "tensors");
            myth_jout_array(&r->j);
        }
        st = check_tensors(r, myth_model_lora_weights(m, i), err);
        if (r->o->json) {
            myth_jout_end(&r->j);
            myth_jout_end(&r->j);
        }
    }
    if (r->o->json && m->n_lora)
        myth_jout_end(&r->j);
    return st;
}

/* ---- one forward ---- */

static void on_row(void *user, uint32_t tok, uint32_t layer, const float *row, uint32_t n)
{
    run_state *r = user;
    (void)layer;
    for (uint32_t i = 0; i < n && r->bad_tok < 0; i++)
        if (!isfinite(row[i]))
            r->bad_tok = (int32_t)tok;
    r->n_rows++;
}

static void on_logits(void *user, uint32_t tok, const float *row, uint32_t n_vocab)
{
    on_row(user, tok, 0, row, n_vocab);
}

static myth_status check_forward(run_state *r, myth_error *err)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog. int main(void) { return 0; }";
    myth_cli *cli = r->cli;
    const bool is_encoder = r->model.config.is_bidirectional;
    int32_t ids[sizeof(text) + 1] = {0};
    size_t n = N_TOK - 1;
    myth_engine_opts eo;
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < N_TOK; i++)
        ids[i] = (int32_t)(i % r->model.config.n_vocab); /* a model without a vocabulary runs on ids */
    if (r->model.tokenizer) {
        ids[0] = myth_tokenizer_special(r->model.tokenizer)->bos;
        MYTH_TRY(myth_tokenizer_encode(r->model.tokenizer, cli->mem, MYTH_TOK_CONTENT, text, sizeof(text) - 1, ids + 1,
                                       sizeof(text), &n, err));
    }
    n = n + 1 < N_TOK ? n + 1 : N_TOK;
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &r->o->engine, err));
    eo.n_ctx = eo.n_ubatch = N_TOK;
    eo.want_full_logits = !is_encoder;
    eo.want_hidden = is_encoder;
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, NULL, err));
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &eo, err));
    MYTH_TRY(myth_seq_open(&r->seq, r->engine, err));
    const myth_batch_run run = {
        .seq = r->seq,
        .token = ids,
        .n = (uint32_t)n,
        .want = is_encoder ? MYTH_WANT_FINAL : MYTH_WANT_FULL_LOGITS,
        .is_ephemeral = is_encoder,
    };
    const myth_batch b = {
        .run = &run,
        .n_run = 1,
        .on_full_logits = on_logits,
        .on_hidden = on_row,
        .user = r,
        .cancel = cli->cancel,
    };
    r->bad_tok = -1;
    st = myth_forward(r->engine, &b, NULL, err);
    if (r->bad_tok >= 0 || (st == MYTH_OK && !r->n_rows)) /* it names the token; the engine does not */
        MYTH_TRY(myth_fail(
            err, MYTH_EFORMAT,
            "%s: every tensor is finite, but a forward pass of %zu tokens is not, from token %d on; MYTHOS_TRACE=ops "
            "shows which operation fails",
            myth_weights_path(r->model.weights), n, r->bad_tok));
fail:
    return st;
}

/* ---- the run ---- */

static myth_status verify(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_model_open(r->cli, &r->model, &r->o->model, &r->o->engine, MYTH_WEIGHTS_DATA, err));
    if (r->o->json) {
        myth_jout_start(&r->j, stdout);
        myth_jout_object(&r->j);
    }
    MYTH_TRY(check_files(r, err));
    myth_term_progress_end(r->cli->term);
    MYTH_TRY(check_forward(r, err));
    if (!r->o->json) {
        printf("ok: %u tensor%s, %llu bytes, finite; a forward of %u row%s is finite\n", r->n_tensor,
               myth_s(r->n_tensor), (unsigned long long)r->bytes, r->n_rows, myth_s(r->n_rows));
        return MYTH_OK;
    }
    myth_jout_key(&r->j, "forward");
    myth_jout_object(&r->j);
    myth_jout_key_u64(&r->j, "rows", r->n_rows);
    myth_jout_end(&r->j);
    myth_jout_end(&r->j);
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts};
    myth_status st = verify(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (r.seq)
        myth_seq_close(r.seq);
    myth_engine_close(r.engine);
    myth_model_close(&r.model);
    return code;
}

const myth_command myth_cmd_verify = {
    .name = "verify",
    .args = "",
    .help = "check that a model is complete: every tensor is finite, its shape and SHA-256, one forward pass",
    .detail = "Reads the files to the end. When a check fails, the exit code is 65 and the message names the first "
              "such tensor.",
    .group = groups,
    .n_group = 3,
    .opts_bytes = sizeof(verify_opts),
    .run = run,
};
