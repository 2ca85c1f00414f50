/* cmd_embed.c - texts to vectors: one text, or a line each.
 *
 * Text    the prompt of the use, then the text by the content entry: control tokens are inert; <bos> in front, <eos> behind. What is longer
 *         than the model (or -c) takes is cut before <eos>, said on stderr, and marked "truncated"
 * Lines   with --jsonl each is a JSON string or an object with "text"; an "id" beside it is given back                          */
#include "main.h"

#include "../engine/base/json.h"
#include "../engine/embed.h"

#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30, GROUP = 64, ROUND = 64 };

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    const char *prompt;
    uint32_t dim;
    bool json, jsonl;
} embed_opts;

static const myth_option options[] = {
    { "dim", NULL, MYTH_OPT_U32, "N", offsetof(embed_opts, dim), "(all)", 0, 65536, "keep the first N values and norm again: 512, 256, 128" },
    { "prompt", NULL, MYTH_OPT_TEXT, "USE", offsetof(embed_opts, prompt), "none", 0, 0,
      "what the text is for: none, query, document, code, question, fact, classification, clustering, similarity, summary" },
    { "json", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, json), NULL, 0, 0, "print {\"embedding\":[...]}" },
    { "jsonl", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, jsonl), NULL, 0, 0, "a text a line, as a JSON string or {\"text\"[,\"id\"]}; a vector a line" },
};
static const myth_option_group groups[] = { MYTH_GROUP("embed", embed_opts, options), MYTH_GROUP_MODEL(embed_opts, model),
                                            MYTH_GROUP_ENGINE(embed_opts, engine) };

typedef struct {
    const char *text, *id;              /* id: as it stands in the line, NULL = none */
    size_t n_text, n_id;
} item;

typedef struct {
    myth_cli *cli;
    const embed_opts *o;
    myth_model model;
    myth_engine *engine;
    myth_embedder *embedder;
    const char *prompt;
    unsigned char *data;                /* the file */
    char *plain;                        /* prompt and text of one item, unescaped */
    int32_t *ids, *group_ids;           /* of one text; [GROUP][n_most] */
    float *vector;                      /* [GROUP][dim] */
    const char *longest;                /* the longest line, or the file */
    size_t n_data, n_longest, n_bound;  /* n_bound: ids that any text may have */
    uint64_t longest_no;
    uint32_t n_most, dim, n_cut;
    uint64_t n_done;
} run_state;

/* ---- input ---- */

/* The next line that is not blank; false at the end. */
static bool next_line(const run_state *r, size_t *at, const char **line, size_t *n, uint64_t *line_no)
{
    while (*at < r->n_data) {
        const char *from = (const char *)r->data + *at, *end = memchr(from, '\n', r->n_data - *at);
        *n = end ? (size_t)(end - from) : r->n_data - *at;
        *at += *n + 1;
        *line = from;
        ++*line_no;
        for (size_t i = 0; i < *n; i++)
            if (from[i] != ' ' && from[i] != '\t' && from[i] != '\r')
                return true;
    }
    return false;
}

static myth_status bad_line(const run_state *r, uint64_t line_no, const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_EFORMAT, "%s: line %llu: %s", r->cli->n_arg ? r->cli->arg[0] : "-", (unsigned long long)line_no, what);
}

/* A line's text into `plain` behind the prompt. */
static myth_status read_item(run_state *r, item *out, const char *line, size_t n, uint64_t line_no, myth_error *err)
{
    const size_t n_prompt = strlen(r->prompt);
    myth_json j;
    myth_json_token t, id = { 0 };
    bool has_text = false;
    myth_error bad = { 0 };
    *out = (item){ .text = r->plain };
    memcpy(r->plain, r->prompt, n_prompt);
    if (!r->o->jsonl) {
        memcpy(r->plain + n_prompt, line, n);
        out->n_text = n_prompt + n;
        return MYTH_OK;
    }
    myth_json_start(&j, line, n, "");
    if (myth_json_next(&j, &t, &bad) != MYTH_OK)
        return bad_line(r, line_no, bad.msg, err);
    if (t.type == MYTH_JSON_STRING) {
        out->n_text = n_prompt + myth_json_text(r->plain + n_prompt, &t);
        has_text = true;
    } else if (t.type != MYTH_JSON_OBJECT) {
        return bad_line(r, line_no, "expected a JSON string, or an object with \"text\"", err);
    }
    while (myth_json_next(&j, &t, &bad) == MYTH_OK && t.type != MYTH_JSON_END) {
        const bool is_text = t.type == MYTH_JSON_KEY && t.depth == 1 && myth_json_is(&t, "text");
        const bool is_id = t.type == MYTH_JSON_KEY && t.depth == 1 && myth_json_is(&t, "id");
        if (!is_text && !is_id)
            continue;
        if (myth_json_next(&j, &t, &bad) != MYTH_OK)
            break;
        if (is_id && (t.type == MYTH_JSON_STRING || t.type == MYTH_JSON_NUMBER))
            id = t;
        else if (is_text && t.type == MYTH_JSON_STRING && !has_text) {
            out->n_text = n_prompt + myth_json_text(r->plain + n_prompt, &t);
            has_text = true;
        } else {
            return bad_line(r, line_no, is_id ? "\"id\": expected a string or a number" : "\"text\": expected one string", err);
        }
    }
    if (bad.code != MYTH_OK)
        return bad_line(r, line_no, bad.msg, err);
    if (!has_text)
        return bad_line(r, line_no, "no \"text\"", err);
    if (id.type == MYTH_JSON_STRING || id.type == MYTH_JSON_NUMBER) {
        out->id = line + id.off;
        out->n_id = id.len + (id.type == MYTH_JSON_STRING ? 2 : 0);
    }
    return MYTH_OK;
}

/* <bos> text <eos> into dst, at most n_most ids. */
static myth_status encode(run_state *r, int32_t *dst, uint32_t *n_ids, bool *is_cut, const item *it, uint32_t n_most, myth_error *err)
{
    const myth_special_ids *s = myth_tokenizer_special(r->model.tokenizer);
    size_t n;
    myth_status st = myth_tokenizer_encode(r->model.tokenizer, r->cli->mem, MYTH_TOK_CONTENT, it->text, it->n_text, r->ids, r->n_bound, &n,
                                           err);
    if (st != MYTH_OK)
        return st;
    *is_cut = n + 2 > n_most;
    n = *is_cut ? n_most - 2 : n;
    dst[0] = s->bos;
    memcpy(dst + 1, r->ids, n * sizeof(*dst));
    dst[n + 1] = s->eos;
    *n_ids = (uint32_t)n + 2;
    return MYTH_OK;
}

static myth_status read_input(run_state *r, myth_error *err)
{
    myth_mem *mem = r->cli->mem;
    const char *line;
    size_t at = 0, n;
    uint64_t line_no = 0;
    myth_status st = myth_cli_read(&r->data, &r->n_data, mem, r->cli->n_arg ? r->cli->arg[0] : "-", FILE_BYTES_MAX, err);
    if (st != MYTH_OK)
        return st;
    r->longest = (const char *)r->data;
    r->n_longest = r->o->jsonl ? 0 : r->n_data;
    while (r->o->jsonl && next_line(r, &at, &line, &n, &line_no))
        if (n >= r->n_longest) {
            r->longest = line;
            r->n_longest = n;
            r->longest_no = line_no;
        }
    const size_t n_plain = strlen(r->prompt) + r->n_longest;
    r->n_bound = myth_tokenizer_bound(n_plain);
    r->plain = myth_alloc(mem, MYTH_MEM_STAGING, "text", n_plain + 1);
    r->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", r->n_bound, sizeof(*r->ids));
    return r->plain && r->ids ? MYTH_OK : myth_fail(err, MYTH_ENOMEM, "no room for a text of %zu bytes", n_plain);
}

/* What one text needs, and for lines what the model takes: most tokens of a text. Encodes the longest line once, so that the ledger has seen
 * what encoding takes before the plan is made. */
static myth_status measure(run_state *r, uint32_t *n_tok, myth_error *err)
{
    item it;
    size_t n_ids;
    if (r->o->jsonl && !r->longest_no)
        return MYTH_OK;
    myth_status st = read_item(r, &it, r->longest, r->n_longest, r->longest_no, err);
    if (st == MYTH_OK)
        st = myth_tokenizer_encode(r->model.tokenizer, r->cli->mem, MYTH_TOK_CONTENT, it.text, it.n_text, r->ids, r->n_bound, &n_ids, err);
    if (st == MYTH_OK && !r->o->jsonl)
        *n_tok = n_ids + 2 + ROUND < UINT32_MAX ? (uint32_t)((n_ids + 2 + ROUND - 1) / ROUND * ROUND) : UINT32_MAX;
    return st;
}

/* ---- output ---- */

static void print_vector(const run_state *r, const float *v, const item *it, uint32_t n_ids, bool is_cut)
{
    const bool is_json = r->o->json || r->o->jsonl;
    if (is_json)
        fputc('{', stdout);
    if (it->id)                         /* as it stands in the line: a writer of values has no such thing */
        printf("\"id\":%.*s,", (int)it->n_id, it->id);
    if (is_json)
        fputs("\"embedding\":[", stdout);
    for (uint32_t i = 0; i < r->dim; i++)
        printf("%s%.9g", !i ? "" : is_json ? "," : " ", (double)v[i]);
    if (is_json)
        printf("],\"tokens\":%u,\"truncated\":%s}", n_ids, is_cut ? "true" : "false");
    putchar('\n');
}

/* ---- the run ---- */

static myth_status open_engine(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    myth_engine_opts eo;
    myth_plan_extra extra = { 0 };
    uint32_t n_tok = r->model.config.n_ctx_train;
    myth_status st = MYTH_OK;
    MYTH_TRY(read_input(r, err));
    MYTH_TRY(measure(r, &n_tok, err));
    MYTH_TRY(myth_cli_engine_opts(cli, &eo, &r->o->engine, err));
    myth_embedder_opts(&eo, &r->model, n_tok);
    r->group_ids = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "ids", (size_t)GROUP * eo.n_ubatch, sizeof(*r->group_ids));
    r->vector = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "vectors", (size_t)GROUP * (1 << 12), sizeof(*r->vector));
    if (!r->group_ids || !r->vector)
        return myth_fail(err, MYTH_ENOMEM, "no room for %d texts", GROUP);
    MYTH_TRY(myth_embedder_needs(&extra, &r->model, err));
    MYTH_TRY(myth_cli_plan(cli, &r->model, &eo, &extra, err));
    MYTH_TRY(myth_engine_open(&r->engine, &r->model, &eo, err));
    MYTH_TRY(myth_embedder_open(&r->embedder, r->engine, err));
    r->n_most = eo.n_ubatch < eo.n_ctx ? eo.n_ubatch : eo.n_ctx;
    r->n_most = r->n_most < r->model.config.n_ctx_train ? r->n_most : r->model.config.n_ctx_train;
    r->dim = r->o->dim ? r->o->dim : myth_embedder_dim(r->embedder);
    if (r->dim > myth_embedder_dim(r->embedder) || r->dim > 1 << 12)
        return myth_fail(err, MYTH_EARG, "--dim %u: the model has %u", r->dim, myth_embedder_dim(r->embedder));
    if (r->n_most < 3)
        return myth_fail(err, MYTH_EARG, "-c %u: a text is at least three tokens", r->n_most);
fail:
    return st;
}

static myth_status embed_all(run_state *r, myth_error *err)
{
    myth_embed_text text[GROUP];
    item it[GROUP];
    bool is_cut[GROUP];
    const char *line = (const char *)r->data;
    size_t at = 0, n = r->n_data;
    uint64_t line_no = 0;
    bool has_more = true;
    while (has_more) {
        uint32_t n_text = 0;
        while (n_text < GROUP && (has_more = r->o->jsonl ? next_line(r, &at, &line, &n, &line_no) : n_text == 0)) {
            int32_t *ids = r->group_ids + (size_t)n_text * r->n_most;
            myth_status st = read_item(r, &it[n_text], line, n, line_no, err);
            if (st == MYTH_OK)
                st = encode(r, ids, &text[n_text].n, &is_cut[n_text], &it[n_text], r->n_most, err);
            if (st != MYTH_OK)
                return st;
            text[n_text].ids = ids;
            r->n_cut += is_cut[n_text++];
        }
        myth_status st = myth_embed(r->embedder, text, n_text, r->dim, r->vector, r->cli->cancel, err);
        if (st != MYTH_OK)
            return st;
        for (uint32_t t = 0; t < n_text; t++)
            print_vector(r, r->vector + (size_t)t * r->dim, &it[t], text[t].n, is_cut[t]);
        r->n_done += n_text;
        myth_term_progress(r->cli->term, "embed, KiB", r->o->jsonl ? (at < r->n_data ? at : r->n_data) >> 10 : r->n_data >> 10, r->n_data >> 10);
        has_more = has_more && r->o->jsonl;
        if (*r->cli->cancel && has_more)
            return myth_fail(err, MYTH_ECANCEL, "stopped after %llu texts", (unsigned long long)r->n_done);
    }
    return MYTH_OK;
}

static myth_status compute(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_model_open(r->cli, &r->model, &r->o->model, MYTH_WEIGHTS_DATA, err));
    if (!r->model.config.is_bidirectional)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s generates text; give an EmbeddingGemma model with -m", myth_weights_name(r->model.weights));
    if (!r->model.tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s: no tokenizer", myth_weights_path(r->model.weights));
    MYTH_TRY(open_engine(r, err));
    if (!myth_embedder_has_dense(r->embedder))
        myth_term_note(r->cli->term, "%s has no dense layers: its vectors do not mix with those of the whole model", myth_weights_name(r->model.weights));
    st = embed_all(r, err);
    myth_term_progress_end(r->cli->term);
    if (r->n_cut)
        myth_term_note(r->cli->term, "%u texts were cut to %u tokens", r->n_cut, r->n_most);
fail:
    return st;
}

static void release(run_state *r)
{
    myth_mem *mem = r->cli->mem;
    myth_embedder_close(r->embedder);
    myth_engine_close(r->engine);
    myth_free(mem, r->vector);
    myth_free(mem, r->group_ids);
    myth_free(mem, r->ids);
    myth_free(mem, r->plain);
    myth_free(mem, r->data);
    myth_model_close(&r->model);
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = { 0 };
    run_state r = { .cli = cli, .o = opts };
    r.prompt = myth_embed_prompt(r.o->prompt);
    if (!r.prompt)
        return myth_cli_failf(cli, MYTH_EARG, "--prompt %s: known uses: %s", r.o->prompt, myth_embed_prompt_names());
    if (r.o->json && r.o->jsonl)
        return myth_cli_failf(cli, MYTH_EARG, "embed: --json is one text, --jsonl a text a line; give one of them");
    myth_status st = compute(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    release(&r);
    return code;
}

const myth_command myth_cmd_embed = {
    .name = "embed", .args = "[FILE|-]", .help = "a text, or a text a line, to vectors of length 1",
    .detail = "Needs an EmbeddingGemma model. A text is prompt and content between <bos> and <eos>; one that is longer than the model or -c\n"
              "takes is cut, and marked. Vectors of a model with dense layers do not mix with those of one without.",
    .group = groups, .n_group = 3, .opts_bytes = sizeof(embed_opts), .max_arg = 1, .run = run
};
