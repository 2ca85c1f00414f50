/* cmd_logits.c - writes the logits and hidden states of given ids as .npy files, or prints the k best logits as JSON.
 *
 * Rows     each line of --ids-file, [2,106] or {"ids":[2,106]}, is a sequence of its own; all sequences are computed in
 *          one batch
 * Files    -o out.npy float32 [n_tok, vocab], logits after the final soft cap; --hidden hid.npy float32 [n_layer + 1,
 *          n_tok, d_model]. With --ids-file the row number is put before the suffix: out-000.npy. With --last N, n_tok
 *          is at most N: the earlier tokens are only a prompt
 * Defaults float32 activations and cache in the reference order; --fast computes as generate does */
#include "engine/base/json.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/npy.h"

#include <string.h>

enum { FILE_MAX = 256 << 20, ROW_MAX = 4096 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    const char *ids, *ids_file, *out, *hidden;
    uint32_t top_k, last;
    bool fast, json;
} logits_opts;

static const myth_option options[] = {
    {"ids", NULL, MYTH_OPT_TEXT, "LIST", offsetof(logits_opts, ids), NULL, 0, 0, "token ids: 2,106"},
    {"ids-file", NULL, MYTH_OPT_TEXT, "FILE", offsetof(logits_opts, ids_file), NULL, 0, 0,
     "a file with ids on each line, [2,106] or {\"ids\":[2,106]}; all lines are computed in one batch"},
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(logits_opts, out), NULL, 0, 0,
     "write the logits as .npy, float32 [n_tok, vocab]"},
    {"hidden", NULL, MYTH_OPT_OUT, "FILE", offsetof(logits_opts, hidden), NULL, 0, 0,
     "write the residual stream as .npy, float32 [n_layer+1, n_tok, d]"},
    {"top-k", NULL, MYTH_OPT_U32, "K", offsetof(logits_opts, top_k), NULL, 0, 1024,
     "print the K best logits of every token as JSON"},
    {"last", NULL, MYTH_OPT_U32, "N", offsetof(logits_opts, last), "(all)", 0, 0,
     "only for the last N tokens of each row"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(logits_opts, json), NULL, 0, 0,
     "with --top-k: print [[{\"id\",\"logit\"}...]...], for --ids-file a list of these; with --lora "
     "{\"logits\": these, \"adapters\"}"},
    {"fast", NULL, MYTH_OPT_FLAG, NULL, offsetof(logits_opts, fast), NULL, 0, 0,
     "compute as generate does, not in the reference order"},
};
static const myth_option_group groups[] = {
    MYTH_GROUP("logits", logits_opts, options),
    MYTH_GROUP_MODEL(logits_opts, model),
    MYTH_GROUP_ENGINE(logits_opts, engine),
};

typedef struct {
    uint32_t first, n_tok; /* its tokens in the batch */
    uint32_t n_out;        /* how many of its last tokens have output */
    char *path;            /* names of its two files, one after the other */
    myth_npy logits, hidden;
    myth_seq *seq;
} row;

typedef struct {
    myth_cli *cli;
    const logits_opts *o;
    myth_model model;
    int32_t *ids; /* all rows, one after the other */
    uint32_t n_tok, n_out, n_row, longest;
    row *rows;
    uint32_t *row_of;    /* [n_tok] */
    uint8_t *want;       /* [n_tok] */
    myth_batch_run *run; /* [n_row] */
    myth_engine *engine;
    myth_error failure; /* of a write inside the forward pass */
} run_state;

static void release(run_state *r)
{
    myth_mem *mem = r->cli->mem;
    for (uint32_t i = 0; r->rows && i < r->n_row; i++) {
        row *w = &r->rows[i];
        myth_npy_abandon(&w->logits);
        myth_npy_abandon(&w->hidden);
        myth_free(mem, w->path);
        if (w->seq)
            myth_seq_close(w->seq);
    }
    myth_engine_close(r->engine);
    myth_free(mem, r->run);
    myth_free(mem, r->want);
    myth_free(mem, r->row_of);
    myth_free(mem, r->rows);
    myth_free(mem, r->ids);
    myth_model_close(&r->model);
}

/* ---- input ---- */

static myth_status add_row(run_state *r, size_t n, myth_error *err)
{
    if (r->n_row == ROW_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: more than %d rows", r->o->ids_file, ROW_MAX);
    const uint32_t n_out = r->o->last && r->o->last < n ? r->o->last : (uint32_t)n;
    r->rows[r->n_row++] = (row){.first = r->n_tok, .n_tok = (uint32_t)n, .n_out = n_out};
    r->n_tok += (uint32_t)n;
    r->n_out += n_out;
    if (n > r->longest)
        r->longest = (uint32_t)n;
    return MYTH_OK;
}

/* The array "ids" of a line that is an object, as tokenize and generate print it; any other line unchanged. */
static char *array_of(char *line)
{
    myth_json j;
    myth_json_token t = {.type = MYTH_JSON_NULL};
    myth_json_start(&j, line, strlen(line), "");
    if (line[strspn(line, " \t\r")] != '{')
        return line;
    while (myth_json_next(&j, &t, NULL) == MYTH_OK && t.type != MYTH_JSON_END) {
        if (t.type != MYTH_JSON_KEY || t.depth != 1 || !myth_json_is(&t, "ids"))
            continue;
        if (myth_json_next(&j, &t, NULL) != MYTH_OK || t.type != MYTH_JSON_ARRAY)
            break;
        char *array = line + t.off;
        while (myth_json_next(&j, &t, NULL) == MYTH_OK && t.type == MYTH_JSON_NUMBER)
            ;
        if (t.type != MYTH_JSON_ARRAY_END)
            break;
        line[t.off + 1] = '\0';
        return array;
    }
    return line;
}

/* Reads the ids of every line into one array. */
static myth_status read_lines(run_state *r, char *text, size_t len, myth_error *err)
{
    size_t line_no = 1;
    for (size_t at = 0; at < len; line_no++) {
        char *line = text + at, *end = memchr(line, '\n', len - at);
        at += (end ? (size_t)(end - line) : len - at) + 1;
        if (end)
            *end = '\0';
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        int32_t *ids;
        size_t n;
        myth_error bad = {0};
        myth_status st = myth_cli_ids(&ids, &n, r->cli->mem, array_of(line), &bad);
        if (st != MYTH_OK)
            return myth_fail(err, st == MYTH_EARG ? MYTH_EFORMAT : st, "%s: line %zu: %s", r->o->ids_file, line_no,
                             bad.msg);
        memcpy(r->ids + r->n_tok, ids, n * sizeof(*ids));
        myth_free(r->cli->mem, ids);
        if ((st = add_row(r, n, err)) != MYTH_OK)
            return st;
    }
    return r->n_row ? MYTH_OK
                    : myth_fail(err, MYTH_EFORMAT, "%s: no rows; each line has ids such as [2,106]", r->o->ids_file);
}

static myth_status read_file(run_state *r, myth_error *err)
{
    unsigned char *data = NULL;
    char *text = NULL;
    size_t len = 0;
    myth_mem *mem = r->cli->mem;
    myth_status st = myth_cli_read_given(&data, &len, mem, r->o->ids_file, FILE_MAX, err);
    if (st != MYTH_OK)
        return st;
    text = myth_alloc(mem, MYTH_MEM_STAGING, "rows", len + 1);
    r->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", len / 2 + 1, sizeof(*r->ids));
    if (text && r->ids) {
        memcpy(text, data, len);
        st = read_lines(r, text, len, err);
    } else {
        st = myth_fail(err, MYTH_ENOMEM, "%s: out of memory for its rows", r->o->ids_file);
    }
    myth_free(mem, text);
    myth_free(mem, data);
    return st;
}

static myth_status read_input(run_state *r, myth_error *err)
{
    size_t n;
    r->rows = myth_alloc_n(r->cli->mem, MYTH_MEM_STAGING, "rows", r->o->ids ? 1 : ROW_MAX, sizeof(*r->rows));
    if (!r->rows)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the rows");
    if (!r->o->ids)
        return read_file(r, err);
    myth_status st = myth_cli_ids(&r->ids, &n, r->cli->mem, r->o->ids, err);
    return st == MYTH_OK ? add_row(r, n, err) : st;
}

/* ---- output files ---- */

/* "out.npy" for --ids, "out-007.npy" for the rows of a file. */
static int name_of(char *dst, size_t cap, const char *base, bool is_numbered, uint32_t idx)
{
    const char *dot = strrchr(base, '.'), *slash = strrchr(base, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - base) : (int)strlen(base);
    return is_numbered ? snprintf(dst, cap, "%.*s-%03u%s", stem, base, idx, base + stem)
                       : snprintf(dst, cap, "%s", base);
}

static myth_status create_files(run_state *r, uint32_t idx, myth_error *err)
{
    const logits_opts *o = r->o;
    const myth_config *c = &r->model.config;
    row *w = &r->rows[idx];
    bool numbered = o->ids == NULL;
    myth_status st = MYTH_OK;
    size_t n_out = o->out ? strlen(o->out) + 16 : 0, n_hid = o->hidden ? strlen(o->hidden) + 16 : 0;
    w->path = myth_alloc(r->cli->mem, MYTH_MEM_STAGING, "paths", n_out + n_hid + 1);
    if (!w->path)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the names of the output files");
    if (o->out) {
        name_of(w->path, n_out, o->out, numbered, idx);
        MYTH_TRY(myth_npy_create(&w->logits, w->path, (uint64_t[]){w->n_out, c->n_vocab}, 2, err));
    }
    if (o->hidden) {
        name_of(w->path + n_out, n_hid, o->hidden, numbered, idx);
        MYTH_TRY(
            myth_npy_create(&w->hidden, w->path + n_out, (uint64_t[]){c->n_layer + 1, w->n_out, c->d_model}, 3, err));
    }
fail:
    return st;
}

/* The output row of token `tok` of the batch, counted from the first token of this row that has output. */
static uint32_t out_of(const row *w, uint32_t tok) { return tok - w->first - (w->n_tok - w->n_out); }

static void on_full_logits(void *user, uint32_t tok, const float *data, uint32_t n_vocab)
{
    run_state *r = user;
    row *w = &r->rows[r->row_of[tok]];
    (void)n_vocab;
    if (r->failure.code == MYTH_OK)
        myth_npy_write_row(&w->logits, out_of(w, tok), data, &r->failure);
}

static void on_hidden(void *user, uint32_t tok, uint32_t layer, const float *data, uint32_t d_model)
{
    run_state *r = user;
    row *w = &r->rows[r->row_of[tok]];
    (void)d_model;
    if (r->failure.code == MYTH_OK)
        myth_npy_write_row(&w->hidden, (uint64_t)layer * w->n_out + out_of(w, tok), data, &r->failure);
}

static void print_top_k(const run_state *r, const myth_result *res)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    if (r->model.n_lora) {
        myth_jout_object(&j);
        myth_jout_key(&j, "logits");
    }
    if (!r->o->ids)
        myth_jout_array(&j);
    for (uint32_t i = 0, t = 0; i < r->n_row; i++) {
        myth_jout_array(&j);
        for (const uint32_t end = t + r->rows[i].n_out; t < end; t++) {
            myth_jout_array(&j);
            for (uint32_t k = 0; k < res->k && res->top_id[(size_t)t * res->k + k] >= 0; k++) {
                myth_jout_object(&j);
                myth_jout_key_u64(&j, "id", (uint64_t)res->top_id[(size_t)t * res->k + k]);
                myth_jout_key_f64(&j, "logit", (double)res->top_logit[(size_t)t * res->k + k]);
                myth_jout_end(&j);
            }
            myth_jout_end(&j);
        }
        myth_jout_end(&j);
    }
    if (!r->o->ids)
        myth_jout_end(&j);
    if (r->model.n_lora) {
        myth_cli_print_adapters(&j, &r->model);
        myth_jout_end(&j);
    }
}

/* ---- the run ---- */

static myth_status alloc_arrays(run_state *r, myth_error *err)
{
    const logits_opts *o = r->o;
    myth_mem *mem = r->cli->mem;
    r->row_of = myth_alloc_n(mem, MYTH_MEM_STAGING, "rows", r->n_tok, sizeof(*r->row_of));
    r->want = myth_alloc(mem, MYTH_MEM_STAGING, "wants", r->n_tok);
    r->run = myth_alloc_n(mem, MYTH_MEM_STAGING, "runs", r->n_row, sizeof(*r->run));
    if (!r->row_of || !r->want || !r->run)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %u tokens", r->n_tok);
    for (uint32_t i = 0; i < r->n_row; i++)
        for (uint32_t t = r->rows[i].first; t < r->rows[i].first + r->rows[i].n_tok; t++)
            r->row_of[t] = i;
    memset(r->want, 0, r->n_tok);
    for (uint32_t i = 0; i < r->n_row; i++)
        memset(r->want + r->rows[i].first + r->rows[i].n_tok - r->rows[i].n_out,
               (o->out ? MYTH_WANT_FULL_LOGITS : 0) | (o->hidden ? MYTH_WANT_HIDDEN : 0) |
                   (o->top_k ? MYTH_WANT_LOGITS : 0),
               r->rows[i].n_out);
    return MYTH_OK;
}

void myth_cli_logits_opts(myth_engine_opts *eo, uint32_t n_row, uint32_t n_out, uint32_t longest, bool fast, bool full,
                          bool hidden, uint32_t top_k)
{
    eo->is_exact = eo->is_exact || !fast;
    eo->n_seq = n_row;
    eo->n_ctx = eo->n_ctx ? eo->n_ctx : longest;
    eo->want_full_logits = full;
    eo->want_hidden = hidden;
    eo->top_k = top_k;
    eo->n_logit_rows = top_k ? n_out : 0;
}

static myth_status compute(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    const logits_opts *o = r->o;
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    myth_result res;
    MYTH_TRY(myth_cli_model_open(cli, &r->model, &o->model, &o->engine, MYTH_WEIGHTS_DATA, err));
    MYTH_TRY(read_input(r, err));
    MYTH_TRY(alloc_arrays(r, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &o->engine, err));
    myth_cli_logits_opts(&eo, r->n_row, r->n_out, r->longest, o->fast, o->out != NULL, o->hidden != NULL, o->top_k);
    for (uint32_t i = 0; i < r->n_row; i++)
        MYTH_TRY(create_files(r, i, err));
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, NULL, err));
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &eo, err));
    for (uint32_t i = 0; i < r->n_row; i++) {
        MYTH_TRY(myth_seq_open(&r->rows[i].seq, r->engine, err));
        r->run[i] = (myth_batch_run){
            .seq = r->rows[i].seq,
            .token = r->ids + r->rows[i].first,
            .n = r->rows[i].n_tok,
        };
    }
    myth_batch b = {
        .run = r->run,
        .n_run = r->n_row,
        .want = r->want,
        .top_k = o->top_k,
        .on_full_logits = on_full_logits,
        .on_hidden = on_hidden,
        .user = r,
        .cancel = cli->cancel,
    };
    MYTH_TRY(myth_forward(r->engine, &b, &res, err));
    if (r->failure.code != MYTH_OK) {
        *err = r->failure;
        st = r->failure.code;
        goto fail;
    }
    for (uint32_t i = 0; i < r->n_row; i++) {
        if (o->out)
            MYTH_TRY(myth_npy_finish(&r->rows[i].logits, err));
        if (o->hidden)
            MYTH_TRY(myth_npy_finish(&r->rows[i].hidden, err));
    }
    if (o->top_k)
        print_top_k(r, &res);
fail:
    return st;
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts};
    if ((r.o->ids != NULL) == (r.o->ids_file != NULL))
        return myth_cli_failf(cli, MYTH_EARG, "logits: give one of --ids LIST and --ids-file FILE");
    if (!r.o->out && !r.o->hidden && !r.o->top_k)
        return myth_cli_failf(cli, MYTH_EARG,
                              "logits: no output is asked for; give -o FILE, --hidden FILE or --top-k K");
    if (r.o->json && !r.o->top_k)
        return myth_cli_failf(cli, MYTH_EARG, "logits: --json prints the best logits; say how many with --top-k K");
    if (r.o->fast && cli->global->is_exact)
        return myth_cli_failf(cli, MYTH_EARG, "logits: --fast and --exact exclude each other; --exact is the default");
    if (myth_hint_check_output("-o", r.o->out, &err) != MYTH_OK ||
        myth_hint_check_output("--hidden", r.o->hidden, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    myth_status st = compute(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    release(&r);
    return code;
}

const myth_command myth_cmd_logits = {
    .name = "logits",
    .args = "",
    .help = "write logits and hidden states of token ids as .npy, or print the best logits as JSON",
    .detail = "Computed in float32 with a float32 cache in the reference order, as "
              "with --exact; --fast computes as generate does.",
    .group = groups,
    .n_group = 3,
    .opts_bytes = sizeof(logits_opts),
    .run = run,
};
