/* cmd_imatrix.c - measures how much each input column of each matrix matters for a text, for convert --imatrix. */
#include "engine/make/imatrix_tap.h"
#include "frontend/cli/hints.h"
#include "frontend/common/windows.h"

#include <string.h>

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    const char *output;
    uint32_t n_most;
} imatrix_opts;

static const myth_option options[] = {
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(imatrix_opts, output), "imatrix.gguf", 0, 0,
     "the importance matrix to write"},
    {"chunks", NULL, MYTH_OPT_U32, "N", offsetof(imatrix_opts, n_most), "(all)", 0, 0,
     "most windows of the text to run"},
};
static const myth_option_group groups[] = {MYTH_GROUP("imatrix", imatrix_opts, options),
                                           MYTH_GROUP_MODEL(imatrix_opts, model),
                                           MYTH_GROUP_ENGINE(imatrix_opts, engine)};

typedef struct {
    myth_cli *cli;
    const imatrix_opts *o;
    myth_model model;
    myth_windows text;
    myth_engine *engine;
    myth_imatrix_tap *tap;
    myth_seq *seq;
} run_state;

static void ignore_row(void *user, uint32_t tok, uint32_t layer, const float *row, uint32_t d)
{
    (void)user, (void)tok, (void)layer, (void)row, (void)d;
}

/* Books and unbooks the bytes that writing the file will need, so that the plan has them. */
static myth_status measure_writer(run_state *r, myth_error *err)
{
    const uint64_t bytes = myth_imatrix_tap_write_bytes(&r->model);
    if (!myth_mem_book(r->cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, "imatrix", bytes))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a file of %llu bytes", (unsigned long long)bytes);
    myth_mem_unbook(r->cli->mem, MYTH_MEM_HOST, MYTH_MEM_STAGING, bytes);
    return MYTH_OK;
}

static myth_status open_all(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    myth_plan_extra extra = {0};
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_model_open(cli, &r->model, &r->o->model, &r->o->engine, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &r->o->engine, err));
    if (strcmp(cli->global->device, "auto") == 0)
        eo.device = "cpu"; /* only the CPU device lets us see the inputs of its matrix products */
    const uint32_t most = r->model.config.n_ctx_train, wish = eo.n_ctx ? eo.n_ctx : MYTH_WINDOW_TOKENS,
                   n = wish < most ? wish : most;
    const bool is_encoder = r->model.config.is_bidirectional;
    MYTH_TRY(myth_windows_open(&r->text, cli, &r->model, n, r->o->n_most, err));
    eo.n_ctx = n;
    if (is_encoder) {
        eo.want_hidden = true;
        eo.n_ubatch = n;
    }
    extra.bytes[MYTH_MEM_OTHER] = myth_imatrix_tap_bytes(&r->model);
    MYTH_TRY(measure_writer(r, err));
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, &extra, err));
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &eo, err));
    MYTH_TRY(myth_imatrix_tap_open(&r->tap, r->engine, err));
    MYTH_TRY(myth_seq_open(&r->seq, r->engine, err));
fail:
    return st;
}

static myth_status gather(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    const uint32_t n = r->text.n_tok;
    uint32_t i = 0, at;
    myth_status st = MYTH_OK;
    for (; i < r->text.n_window && !myth_cancelled(cli->cancel); i++) {
        const bool is_encoder = r->model.config.is_bidirectional;
        const myth_batch_run run = {
            .seq = r->seq,
            .token = r->text.ids + (uint64_t)i * n,
            .n = n,
            .want = is_encoder ? MYTH_WANT_FINAL : 0,
            .is_ephemeral = is_encoder,
        };
        const myth_batch b = {.run = &run, .n_run = 1, .on_hidden = ignore_row};
        MYTH_TRY(myth_seq_truncate(r->seq, 0, &at, err));
        MYTH_TRY(myth_forward(r->engine, &b, NULL, err));
        myth_term_progress(cli->term, "imatrix, windows", i + 1, r->text.n_window);
    }
    myth_term_progress_end(cli->term);
    if (!i)
        return myth_fail(err, MYTH_ECANCEL, "interrupted before the first window");
    MYTH_TRY(
        myth_imatrix_tap_write(r->tap, r->o->output, i, n, (const char *const *)cli->arg, (uint32_t)cli->n_arg, err));
    myth_term_note(cli->term, "%s: %u window%s of %u tokens", r->o->output, i, myth_s(i), n);
    if (i < r->text.n_window)
        return myth_fail(err, MYTH_ECANCEL, "interrupted after %u of %u window%s; %s has the sums of these", i,
                         r->text.n_window, myth_s(r->text.n_window), r->o->output);
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts};
    if (myth_hint_check_file("-o", r.o->output, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    myth_status st = open_all(&r, &err);
    if (st == MYTH_OK)
        st = gather(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (r.seq)
        myth_seq_close(r.seq);
    myth_imatrix_tap_close(r.tap);
    myth_engine_close(r.engine);
    myth_windows_close(&r.text, cli);
    myth_model_close(&r.model);
    return code;
}

const myth_command myth_cmd_imatrix = {
    .name = "imatrix",
    .args = "FILE...",
    .help = "measure how much each column of each matrix matters for a text, for convert --imatrix",
    .detail = "Runs the text in windows of -c tokens (512) on the CPU and sums the squares of the inputs of every "
              "matrix. The file has the form of "
              "llama-imatrix; llama-quantize reads it too.",
    .group = groups,
    .n_group = 3,
    .opts_bytes = sizeof(imatrix_opts),
    .min_arg = 1,
    .max_arg = 256,
    .run = run,
};
