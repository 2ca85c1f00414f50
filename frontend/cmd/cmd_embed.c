/* cmd_embed.c - turns texts into vectors: one text, one for each line, or one for each file. Any number of texts; the
 * vectors have the order of the texts.
 *
 * Text    <bos>, the prompt of the use, the text, <eos>. A text that spells a control token stays text. A text that is
 *         longer than the model's context, -c or -ub (it is read in one step) is cut before <eos>; a note on stderr
 *         counts them and says by what, and their rows have "truncated"
 * Faults  a line that is no text gets an "error" in its row, in an array a row of NaN and a note; the others go on
 * Groups  as many texts as fill a micro-batch run at once; a vector does not depend on the other texts of its group
 * Memory  does not grow with the number of texts: one text, and GROUP texts as ids with their vectors
 * Out     standard output, or -o FILE as JSON lines, .npy or .safetensors, float32 [texts, dim]. Rows of a file are
 *         kept in its journal group by group; a killed command goes on behind them, where the input can be read again
 */
#include "frontend/rates/expect.h"
#include "engine/base/clock.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/npy.h"
#include "frontend/common/texts.h"
#include "frontend/jobs/batch_size.h"
#include "frontend/jobs/results.h"
#include "frontend/jobs/embed_rows.h"
#include "frontend/jobs/shares.h"

#include "engine/run/embed.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 64, ROUND = 64, ID_BYTES = 1 << 10, VALUE_BYTES = 20, ROW_MORE = 160 + 6 * MYTH_TEXT_FAULT_BYTES };
enum { LINE_MORE = 56, LINE_VALUE = 14 }; /* about the bytes of a line without its values, and of one of them */

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    myth_share_flags shares;
    const char *prompt, *output;
    uint32_t dim, line_bytes;
    int format, resume;
    bool json, jsonl, files, dry_run;
} embed_opts;

static const myth_option options[] = {
    {"dim", NULL, MYTH_OPT_U32, "N", offsetof(embed_opts, dim), "(all)", 0, 65536,
     "keep only the first N values (512, 256 or 128) and normalise again"},
    {"prompt", NULL, MYTH_OPT_TEXT, "USE", offsetof(embed_opts, prompt), "none", 0, 0,
     "the use that the text is embedded for: none, query, document, code, question, fact, classification, clustering, "
     "similarity, "
     "summary"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, json), NULL, 0, 0,
     "print {\"embedding\":[...]}; of many texts with -o: {\"rows\",\"faults\",\"run_rows\",\"truncated\"} at the end; "
     "with --dry-run: its figures"},
    {"jsonl", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, jsonl), NULL, 0, 0,
     "read a text from each line, a JSON string or {\"text\"[,\"id\"]}, and print a vector on each line"},
    {"files", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, files), NULL, 0, 0,
     "read a path from each line; each file is a text, and its path the id"},
    {"output", "-o", MYTH_OPT_OUT, "FILE", offsetof(embed_opts, output), "(standard output)", 0, 0,
     "write the vectors to FILE"},
    {"format", NULL, MYTH_OPT_CHOICE, "auto|jsonl|npy|safetensors", offsetof(embed_opts, format), "auto", 0, 0,
     "format of -o: JSON lines, or an array float32 [texts, dim] as .npy or .safetensors (\"embeddings\"); auto: by "
     "the "
     "end of FILE's name, else JSON lines"},
    {"resume", NULL, MYTH_OPT_CHOICE, "on|off", offsetof(embed_opts, resume), "on", 0, 0,
     "with -o: go on where the same command was ended, or begin anew"},
    {"dry-run", NULL, MYTH_OPT_FLAG, NULL, offsetof(embed_opts, dry_run), NULL, 0, 0,
     "count tokens, bytes and expected seconds, and run nothing"},
    {"line-bytes", NULL, MYTH_OPT_U32, "N", offsetof(embed_opts, line_bytes), "262144", 64, 1 << 28,
     "longest line when the input is a pipe, which cannot be measured first"},
};
static const myth_option_group groups[] = {MYTH_GROUP("embed", embed_opts, options),
                                           MYTH_GROUP_MODEL(embed_opts, model), MYTH_GROUP_ENGINE(embed_opts, engine),
                                           MYTH_GROUP_SHARES(embed_opts, shares)};

/* One text of the current group. */
typedef struct {
    char id[ID_BYTES]; /* JSON, or a path */
    size_t n_id;       /* 0 = none */
    uint32_t n_ids;
    bool is_path, is_cut;
    char fault[MYTH_TEXT_FAULT_BYTES]; /* "" = it has a text */
} slot;

typedef struct {
    myth_cli *cli;
    const embed_opts *o;
    myth_model model;
    myth_engine *engine;
    myth_engine_opts eo;
    myth_pace pace; /* kept for the estimates of plan */
    myth_embedder *embedder;
    myth_texts texts;
    slot *slots;              /* [GROUP] */
    int32_t *ids, *group_ids; /* of one text; [GROUP][n_most] */
    float *vector;            /* [GROUP][dim] */
    char *row;                /* [row_bytes] a line of -o */
    size_t row_bytes;
    myth_embed_form form; /* of -o */
    myth_embed_rows rows;
    myth_batch_size size;
    uint32_t n_most, dim;
    uint64_t n_done, n_cut, longest; /* longest: tokens of the longest text, cut or not */
    /* of this run, from the first text that it computed */
    uint64_t n_run, n_tok, run_from; /* texts; tokens; bytes of the input before it */
    double run_begin, drawn_at;
} run_state;

static const char *const form_name[] = {"jsonl", "npy", "safetensors"}; /* by myth_embed_form */

static myth_embed_form form_of(const embed_opts *o)
{
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    if (o->format > 0)
        return (myth_embed_form)(o->format - 1);
    if (dot && strcmp(dot, ".npy") == 0)
        return MYTH_EMBED_NPY;
    return dot && strcmp(dot, ".safetensors") == 0 ? MYTH_EMBED_SAFETENSORS : MYTH_EMBED_JSONL;
}

static bool is_many(const run_state *r) { return r->o->jsonl || r->o->files; }

/* ---- input ---- */

/* Encodes <bos> text <eos> into dst, at most n_most ids. */
static myth_status encode(run_state *r, int32_t *dst, slot *s, const myth_texts_item *it, myth_error *err)
{
    const myth_special_ids *special = myth_tokenizer_special(r->model.tokenizer);
    size_t n;
    myth_status st = myth_tokenizer_encode(r->model.tokenizer, r->cli->mem, MYTH_TOK_CONTENT, it->text, it->n_text,
                                           r->ids, myth_tokenizer_bound(it->n_text), &n, err);
    if (st != MYTH_OK)
        return st;
    s->is_cut = n + 2 > r->n_most;
    r->longest = n + 2 > r->longest ? n + 2 : r->longest;
    n = s->is_cut ? r->n_most - 2 : n;
    dst[0] = special->bos;
    memcpy(dst + 1, r->ids, n * sizeof(*dst));
    dst[n + 1] = special->eos;
    s->n_ids = (uint32_t)n + 2;
    return MYTH_OK;
}

static void keep_id(const run_state *r, slot *s, const myth_texts_item *it)
{
    const bool fits = it->n_id <= ID_BYTES;
    s->n_id = fits ? it->n_id : 0;
    if (s->n_id)
        memcpy(s->id, it->id, s->n_id);
    s->is_path = it->is_path;
    memcpy(s->fault, it->fault, sizeof(s->fault));
    if (!fits && it->text)
        snprintf(s->fault, sizeof(s->fault), "line %llu: an id of %zu bytes, at most %d",
                 (unsigned long long)r->texts.line_no, it->n_id, ID_BYTES);
}

/* The most tokens that a text can have: for a single text its own tokens, for several the model's context. */
static myth_status measure(run_state *r, uint32_t *n_tok, myth_error *err)
{
    myth_texts_item it;
    size_t n;
    bool has;
    if (is_many(r))
        return MYTH_OK;
    myth_status st = myth_texts_next(&r->texts, &it, &has, err);
    if (st == MYTH_OK)
        st = myth_tokenizer_encode(r->model.tokenizer, r->cli->mem, MYTH_TOK_CONTENT, it.text, it.n_text, r->ids,
                                   myth_tokenizer_bound(it.n_text), &n, err);
    if (st == MYTH_OK)
        *n_tok = n + 2 + ROUND < UINT32_MAX ? (uint32_t)((n + 2 + ROUND - 1) / ROUND * ROUND) : UINT32_MAX;
    myth_texts_rewind(&r->texts);
    return st;
}

/* ---- output ---- */

static size_t list_facts(run_state *r, myth_journal_fact *fact)
{
    myth_prompts_survey input = {.n_item = 0};
    size_t n = 0;
    if (r->o->jsonl)
        memcpy(input.hash, r->texts.lines.hash, sizeof(input.hash));
    else
        memcpy(input.hash, &r->texts.hash, sizeof(r->texts.hash));
    myth_results_facts(fact, &n, r->cli, &r->model, &r->eo, &input);
    myth_results_fact(fact, &n, "--prompt", "%s", r->o->prompt);
    myth_results_fact(fact, &n, "--dim", "%u", r->dim);
    myth_results_fact(fact, &n, "-c", "%u", r->n_most);
    myth_results_fact(fact, &n, "--format", "%s", form_name[r->form]);
    return n;
}

static myth_status open_output(run_state *r, myth_error *err)
{
    myth_journal_fact fact[10];
    if (!r->o->output)
        return MYTH_OK;
    const size_t n = list_facts(r, fact);
    const bool is_stream = r->o->jsonl && !r->texts.lines.is_measured, goes_on = r->o->resume == 0 && !is_stream;
    const myth_status st = myth_embed_rows_open(&r->rows, r->cli, r->o->output, r->form, r->dim, fact, n, goes_on, err);
    r->rows.is_of_stream = is_stream;
    return st;
}

static void print_vector(myth_json_out *j, const float *v, uint32_t dim, const slot *s)
{
    myth_jout_object(j);
    if (s->n_id) {
        myth_jout_key(j, "id");
        (s->is_path ? myth_jout_text : myth_jout_json)(j, s->id, s->n_id);
    }
    if (s->fault[0]) {
        myth_jout_key_str(j, "error", s->fault);
        myth_jout_end(j);
        return;
    }
    myth_jout_key(j, "embedding");
    myth_jout_array(j);
    for (uint32_t i = 0; i < dim; i++)
        myth_jout_f64(j, (double)v[i]);
    myth_jout_end(j);
    myth_jout_key_u64(j, "tokens", s->n_ids);
    myth_jout_key_bool(j, "truncated", s->is_cut);
    myth_jout_end(j);
}

/* To standard output, whose errors main sees, or into the journal. */
static myth_status put_vector(run_state *r, const float *v, const slot *s, uint64_t row, myth_error *err)
{
    myth_jout_block block;
    myth_json_out j;
    size_t n;
    r->rows.n_fault += s->fault[0] != '\0';
    if (!r->o->output && (r->o->json || is_many(r))) {
        myth_jout_start(&j, stdout);
        print_vector(&j, v, r->dim, s);
        return MYTH_OK;
    }
    if (!r->o->output) {
        for (uint32_t i = 0; i < r->dim; i++)
            printf("%s%.9g", i ? " " : "", (double)v[i]);
        putchar('\n');
        return MYTH_OK;
    }
    if (r->form != MYTH_EMBED_JSONL && s->fault[0])
        return myth_embed_rows_fault(&r->rows, row, s->fault, err);
    if (r->form != MYTH_EMBED_JSONL)
        return myth_journal_put(r->rows.journal, row, v, r->dim * sizeof(*v), err);
    print_vector(myth_jout_block_begin(&block, r->row, r->row_bytes), v, r->dim, s);
    const myth_status st = myth_jout_block_end(&block, &n);
    if (st == MYTH_ENOMEM)
        return myth_fail(err, st, "out of memory for a row of %zu bytes", r->row_bytes);
    if (st != MYTH_OK)
        return myth_fail(err, st, "text %llu: its row has more than %zu bytes", (unsigned long long)row, r->row_bytes);
    return myth_journal_put(r->rows.journal, row, r->row, n - 1, err); /* without its newline */
}

static myth_status finish_output(run_state *r, myth_error *err)
{
    return r->o->output ? myth_embed_rows_finish(&r->rows, r->n_done, err) : MYTH_OK;
}

/* ---- the run ---- */

/* Opens the input, takes what a group needs and plans. */
static myth_status prepare(run_state *r, myth_error *err)
{
    myth_cli *cli = r->cli;
    myth_plan_extra extra = {0};
    const myth_texts_kind kind = r->o->jsonl ? MYTH_TEXTS_LINES : r->o->files ? MYTH_TEXTS_FILES : MYTH_TEXTS_WHOLE;
    uint32_t n_tok = r->model.config.n_ctx_train, all;
    myth_engine_opts *eo = &r->eo;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_embedder_dim_of(&all, &r->model, err));
    r->dim = r->o->dim ? r->o->dim : all;
    if (r->dim > all || r->dim > MYTH_EMBED_DIM_MAX)
        return myth_fail(err, MYTH_EARG,
                         "--dim %u: the model's vectors have %u values; leave --dim out for all of them", r->dim, all);
    MYTH_TRY(myth_texts_open(&r->texts, cli, kind, cli->n_arg ? cli->arg[0] : "-", myth_embed_prompt(r->o->prompt),
                             r->o->line_bytes, err));
    r->ids = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "ids", myth_tokenizer_bound(myth_texts_bound(&r->texts)) + 1,
                          sizeof(*r->ids));
    if (!r->ids)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a text of %zu bytes", myth_texts_bound(&r->texts));
    MYTH_TRY(measure(r, &n_tok, err));
    MYTH_TRY(myth_cli_engine_opts(cli, eo, &r->o->engine, err));
    if (!is_many(r) && !eo->n_ubatch && !eo->n_ctx)
        eo->fixed |= MYTH_CHANGE_UBATCH | MYTH_CHANGE_CTX; /* a refusal proposes nothing that would cut the text */
    myth_embedder_opts(eo, &r->model, n_tok);
    r->slots = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "texts", GROUP, sizeof(*r->slots));
    r->group_ids = myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "ids", (size_t)GROUP * eo->n_ubatch, sizeof(*r->group_ids));
    r->vector =
        myth_alloc_n(cli->mem, MYTH_MEM_STAGING, "vectors", (size_t)GROUP * MYTH_EMBED_DIM_MAX, sizeof(*r->vector));
    if (r->o->output && r->form == MYTH_EMBED_JSONL) {
        r->row_bytes = ROW_MORE + ID_BYTES * 6 + (size_t)(r->o->dim ? r->o->dim : MYTH_EMBED_DIM_MAX) * VALUE_BYTES;
        r->row = myth_alloc(cli->mem, MYTH_MEM_STAGING, "rows", r->row_bytes);
    }
    if (!r->slots || !r->group_ids || !r->vector || (r->row_bytes && !r->row))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %d texts", GROUP);
    MYTH_TRY(myth_texts_see(&r->texts, err));
    MYTH_TRY(myth_embedder_needs(&extra, &r->model, err));
    st = myth_cli_plan(cli, &r->model, eo, &extra, err);
    r->n_most = eo->n_ubatch < eo->n_ctx ? eo->n_ubatch : eo->n_ctx;
    r->n_most = r->n_most < r->model.config.n_ctx_train ? r->n_most : r->model.config.n_ctx_train;
    if ((st == MYTH_OK || st == MYTH_ENOFIT) && r->n_most < 3)
        return myth_fail(err, MYTH_EARG, "-c %u: a text has at least three tokens", r->n_most);
fail:
    return st;
}

static myth_status open_engine(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_cli_engine_open(r->cli, &r->engine, &r->model, &r->eo, err));
    r->size = myth_batch_size_of(myth_engine_plan(r->engine)->n_ubatch);
    st = myth_embedder_open(&r->embedder, r->engine, err);
fail:
    return st;
}

/* ---- the dry run ---- */

/* Counts what a run would do; a plan that does not fit is shown, too. */
static myth_status dry_run(run_state *r, myth_error *err)
{
    myth_texts_item it;
    slot *s = r->slots;
    uint64_t n_text = 0, n_fault = 0, n_tok = 0, id_bytes = 0;
    bool has;
    for (;;) {
        myth_status st = myth_texts_next(&r->texts, &it, &has, err);
        if (st == MYTH_OK && has) {
            keep_id(r, s, &it);
            st = s->fault[0] ? MYTH_OK : encode(r, r->group_ids, s, &it, err);
        }
        if (st == MYTH_OK)
            st = myth_cancelled(r->cli->cancel) ? myth_fail(err, MYTH_ECANCEL, "interrupted while texts were counted")
                                                : MYTH_OK;
        if (st != MYTH_OK)
            return st;
        if (!has)
            break;
        n_text++;
        id_bytes += s->n_id;
        n_fault += s->fault[0] != '\0';
        n_tok += s->fault[0] ? 0 : s->n_ids;
        r->n_cut += !s->fault[0] && s->is_cut;
    }
    const bool is_array = r->form != MYTH_EMBED_JSONL;
    const uint64_t bytes = is_array
                             ? (r->form == MYTH_EMBED_NPY ? MYTH_NPY_HEADER : 0) + n_text * r->dim * sizeof(float)
                             : id_bytes + n_text * (LINE_MORE + (uint64_t)r->dim * LINE_VALUE);
    const myth_results_count count[] = {
        {"texts", "texts", n_text},
        {"faults", "at fault", n_fault},
        {"tokens", "tokens", n_tok},
        {"longest", "longest text", r->longest},
        {"truncated", "cut", r->n_cut},
        {"dim", "values a vector", r->dim},
        {is_array ? "output_bytes" : "output_bytes_about", is_array ? "bytes" : "bytes, about", bytes},
    };
    const myth_work work = {.n_part = n_text - n_fault < UINT32_MAX ? (uint32_t)(n_text - n_fault) : UINT32_MAX,
                            .prompt_tokens = n_tok};
    return myth_results_print_counts(r->cli, &r->model, &r->eo, &work, count, sizeof(count) / sizeof(count[0]),
                                     r->o->json, err);
}

/* ---- groups ---- */

/* Reads the next lines, at most GROUP, and of those that are texts their ids; *has_more is false when these are the
 * last. */
static myth_status read_group(run_state *r, myth_embed_text *text, uint32_t *n_text, uint32_t *n_slot, bool *has_more,
                              myth_error *err)
{
    myth_texts_item it;
    for (*n_text = *n_slot = 0; *n_slot < GROUP;) {
        slot *s = &r->slots[*n_slot];
        int32_t *ids = r->group_ids + (size_t)*n_text * r->n_most;
        myth_status st = myth_texts_next(&r->texts, &it, has_more, err);
        if (st != MYTH_OK || !*has_more)
            return st;
        keep_id(r, s, &it);
        ++*n_slot;
        if (s->fault[0])
            continue;
        if ((st = encode(r, ids, s, &it, err)) != MYTH_OK)
            return st;
        r->n_cut += s->is_cut;
        text[(*n_text)++] = (myth_embed_text){ids, s->n_ids};
    }
    return MYTH_OK;
}

/* Whether the group that begins at text n_done is another process's, or in the journal. A group is committed whole. */
static bool is_passed(const run_state *r)
{
    return !myth_shares_has(r->cli, r->n_done / GROUP) ||
           (r->rows.journal && myth_journal_is_done(r->rows.journal, r->n_done));
}

/* Passes over the texts of a group; *has_more is false when they are the last. */
static myth_status pass_group(run_state *r, bool *has_more, myth_error *err)
{
    myth_texts_item it;
    for (uint32_t i = 0; i < GROUP; i++, r->n_done++) {
        const myth_status st = myth_texts_next(&r->texts, &it, has_more, err);
        if (st != MYTH_OK || !*has_more)
            return st;
    }
    return MYTH_OK;
}

/* What is left is told by the bytes of the input: a pipe has no end that is known. */
static void show_progress(run_state *r)
{
    const double past = myth_seconds() - r->run_begin, done = (double)(r->texts.done - r->run_from);
    const bool has_end = r->texts.total > 0 && done > 0.0;
    if (r->cli->term->told)
        r->cli->term->told(r->cli->term->told_arg, r->texts.total ? "embed, KiB" : "embed, texts",
                           r->texts.total ? r->texts.done >> 10 : r->n_done, r->texts.total >> 10);
    myth_results_show(r->cli, &r->drawn_at,
                      &(myth_results_far){
                          .what = "texts",
                          .unit = "tok/s",
                          .bound = "",
                          .done = r->n_done,
                          .rate = past > 0.0 ? (double)r->n_tok / past : 0.0,
                          .left = has_end ? (double)(r->texts.total - r->texts.done) / done * past : -1.0,
                      });
}

/* Texts have no positions to speak of: their tokens together are one prompt at depth 0. */
static void add_pace(run_state *r, const myth_embed_text *text, uint32_t n_text, double seconds)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < n_text; t++)
        n += text[t].n;
    r->n_tok += n;
    r->pace.n_tok[MYTH_PREFILL][0] += (double)n;
    r->pace.seconds[MYTH_PREFILL][0] += seconds;
}

/* Embeds texts, as many at a time as a batch has rows. */
static myth_status embed_group(run_state *r, const myth_embed_text *text, uint32_t n_text, myth_error *err)
{
    uint32_t n, n_row;
    for (uint32_t t = 0; t < n_text; t += n) {
        for (n = n_row = 0; t + n < n_text && (n == 0 || n_row + text[t + n].n <= r->size.now); n++)
            n_row += text[t + n].n;
        const myth_status st =
            myth_embed(r->embedder, text + t, n, r->dim, r->vector + (size_t)t * r->dim, r->cli->cancel, err);
        if (st != MYTH_OK && !myth_batch_size_again(&r->size, st, n_row))
            return st;
        if (st != MYTH_OK)
            n = 0; /* these texts again, fewer at a time */
        else
            myth_batch_size_done(&r->size);
        if (st == MYTH_OK && myth_cancelled(r->cli->cancel) && t + n < n_text)
            return myth_fail(err, MYTH_ECANCEL, "cancelled after %u of %u texts", t + n, n_text);
    }
    return MYTH_OK;
}

static myth_status embed_all(run_state *r, myth_error *err)
{
    myth_embed_text text[GROUP];
    uint32_t n_text, n_slot;
    bool has_more = true;
    r->drawn_at = myth_seconds();
    while (has_more) {
        myth_status st = MYTH_OK;
        if (is_passed(r)) {
            if ((st = pass_group(r, &has_more, err)) != MYTH_OK)
                return st;
            continue;
        }
        if (r->n_run == 0) {
            r->run_begin = myth_seconds();
            r->run_from = r->texts.done;
        }
        st = read_group(r, text, &n_text, &n_slot, &has_more, err);
        const float *v = r->vector;
        const double begin = myth_seconds();
        if (st == MYTH_OK && n_text)
            st = embed_group(r, text, n_text, err);
        if (st == MYTH_OK)
            add_pace(r, text, n_text, myth_seconds() - begin);
        if (st == MYTH_OK) /* before a vector of them is kept or printed */
            st = myth_lines_check(&r->texts.lines, err);
        for (uint32_t t = 0; t < n_slot && st == MYTH_OK; t++) {
            st = put_vector(r, v, &r->slots[t], r->n_done + t, err);
            v += r->slots[t].fault[0] ? 0 : r->dim;
        }
        if (st == MYTH_OK && r->rows.journal)
            st = myth_embed_rows_commit(&r->rows, err);
        if (st != MYTH_OK)
            return st;
        r->n_done += n_slot;
        r->n_run += n_slot;
        show_progress(r);
        if (myth_cancelled(r->cli->cancel) && has_more)
            return myth_fail(err, MYTH_ECANCEL, "interrupted after %llu text%s%s", (unsigned long long)r->n_done,
                             myth_s(r->n_done),
                             r->rows.journal && !r->rows.is_of_stream ? "; the same command goes on" : "");
    }
    if (r->n_done == 0 && is_many(r) && !myth_shares_is_part(r->cli))
        return myth_fail(err, MYTH_EFORMAT, "%s: no texts; give %s on each line", r->texts.path,
                         r->o->files ? "a path" : "a JSON string, or an object with \"text\",");
    return MYTH_OK;
}

/* Says how many texts were cut, by what, and what would keep them whole. */
static void note_cuts(const run_state *r)
{
    const uint32_t n_train = r->model.config.n_ctx_train, need = r->longest < n_train ? (uint32_t)r->longest : n_train;
    const bool is_step = r->eo.n_ubatch < r->eo.n_ctx && r->n_most < n_train;
    char next[96] = ", the most that the model takes";
    if (r->n_most < n_train && is_step)
        snprintf(next, sizeof(next), ", the rows of a step (-ub); give -ub %u%s", need,
                 need > r->eo.n_ctx ? " and a -c as large" : "");
    else if (r->n_most < n_train)
        snprintf(next, sizeof(next), " (-c); give -c %u", need);
    if (r->n_cut)
        myth_term_note(r->cli->term, "%llu text%s cut to %u tokens%s; the longest has %llu",
                       (unsigned long long)r->n_cut, r->n_cut == 1 ? " was" : "s were", r->n_most, next,
                       (unsigned long long)r->longest);
}

static void print_summary(const run_state *r)
{
    if (r->o->json && is_many(r))
        printf("{\"rows\":%llu,\"faults\":%llu,\"run_rows\":%llu,\"truncated\":%llu}\n", (unsigned long long)r->n_done,
               (unsigned long long)r->rows.n_fault, (unsigned long long)r->n_run, (unsigned long long)r->n_cut);
}

static myth_status compute(run_state *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model_flags flags = r->o->model;
    char shipped[PATH_MAX];
    if (!flags.model) {
        if (myth_cli_embedder_spec(NULL, shipped, sizeof(shipped), NULL) != MYTH_OK)
            return myth_fail(err, MYTH_ENOTFOUND, "no shipped embedder found; give an EmbeddingGemma model with -m");
        flags.model = shipped;
    }
    MYTH_TRY(myth_cli_model_open(r->cli, &r->model, &flags, &r->o->engine,
                                 r->o->dry_run ? MYTH_WEIGHTS_HEADER : MYTH_WEIGHTS_DATA, err));
    if (!r->model.config.is_bidirectional)
        return myth_fail(err, MYTH_EUNSUPPORTED,
                         "%s generates text; give an EmbeddingGemma model with -m, or leave -m and MYTHOS_MODEL out "
                         "for the shipped embedder",
                         myth_weights_name(r->model.weights));
    if (!r->model.tokenizer)
        return myth_fail(err, MYTH_EUNSUPPORTED, "%s has no tokenizer; give a model with one",
                         myth_weights_path(r->model.weights));
    st = prepare(r, err);
    if (r->o->dry_run && (st == MYTH_OK || st == MYTH_ENOFIT)) {
        st = dry_run(r, err);
        goto fail;
    }
    MYTH_TRY(st);
    MYTH_TRY(open_engine(r, err));
    if (!myth_embedder_has_dense(r->embedder))
        myth_term_note(r->cli->term,
                       "%s lacks the dense layers of the full model: vectors of the two cannot be compared",
                       myth_weights_name(r->model.weights));
    MYTH_TRY(open_output(r, err));
    st = embed_all(r, err);
    myth_term_progress_end(r->cli->term);
    if (st == MYTH_OK)
        myth_expect_keep(r->cli, &r->model, &r->eo, r->engine, &r->pace);
    note_cuts(r);
    if (st == MYTH_OK)
        st = finish_output(r, err);
    if (st == MYTH_OK)
        print_summary(r);
fail:
    return st;
}

static void release(run_state *r)
{
    myth_mem *mem = r->cli->mem;
    myth_embed_rows_close(&r->rows);
    myth_free(mem, r->row);
    myth_embedder_close(r->embedder);
    myth_engine_close(r->engine);
    myth_free(mem, r->vector);
    myth_free(mem, r->group_ids);
    myth_free(mem, r->slots);
    myth_free(mem, r->ids);
    myth_texts_close(&r->texts);
    myth_model_close(&r->model);
}

static int run(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    run_state r = {.cli = cli, .o = opts};
    if (!myth_embed_prompt(r.o->prompt))
        return myth_cli_failf(cli, MYTH_EARG, "--prompt: got '%.40s', expected one of %s", r.o->prompt,
                              myth_embed_prompt_names());
    const bool is_summary = r.o->json && (r.o->output || r.o->dry_run); /* else it is the form of one text */
    if ((r.o->json && !is_summary) + r.o->jsonl + r.o->files > 1)
        return myth_cli_failf(cli, MYTH_EARG,
                              "embed: --json without -o reads one text, --jsonl a text on each line, --files a path on "
                              "each line; give one of "
                              "them");
    r.form = form_of(r.o);
    if (r.form != MYTH_EMBED_JSONL && !r.o->output && !r.o->dry_run)
        return myth_cli_failf(cli, MYTH_EARG, "embed: --format %s needs -o FILE", form_name[r.form]);
    struct stat info;
    const char *input = cli->n_arg ? cli->arg[0] : "-";
    if (stat(input, &info) == 0 && S_ISDIR(info.st_mode))
        return myth_cli_failf(
            cli, MYTH_EIO,
            "%.100s: a directory where a file is expected; for its files: find %.100s -type f | mythos "
            "embed --files -",
            input, input);
    if (!r.o->jsonl && myth_args_is_flag(cli->parsed, "line-bytes"))
        return myth_cli_failf(cli, MYTH_EARG, "embed: --line-bytes is about the lines of --jsonl; add it");
    if (!r.o->output && myth_args_is_flag(cli->parsed, "resume"))
        return myth_cli_failf(cli, MYTH_EARG, "embed: --resume is about a file that is written; add -o FILE");
    if (!r.o->dry_run && myth_hint_check_output("-o", r.o->output, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    const char *divides = myth_shares_flag(&r.o->shares);
    if (divides && !is_many(&r))
        return myth_cli_failf(cli, MYTH_EARG, "embed: %s divides many texts; add --jsonl or --files", divides);
    if (myth_shares_begin(cli, &r.o->shares, input, r.o->output, r.o->resume == 0 || cli->goes_on, r.o->dry_run,
                          &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    myth_status st = compute(&r, &err);
    int code = st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
    if (st == MYTH_OK && r.rows.n_fault) {
        code = MYTH_EXIT_INCOMPLETE;
        if (r.form == MYTH_EMBED_JSONL)
            myth_term_note(cli->term, "%llu line%s no text: \"error\" in its row says why",
                           (unsigned long long)r.rows.n_fault, r.rows.n_fault == 1 ? " is" : "s are");
    }
    release(&r);
    return code;
}

const myth_command myth_cmd_embed = {
    .name = "embed",
    .args = "[FILE|-]",
    .help = "turn a text, the lines of a file, or a list of files into vectors of length 1",
    .detail = "Needs an EmbeddingGemma model; without -m it is the shipped embedder. Prompt and text are embedded "
              "between <bos> and <eos>; a text that is longer "
              "than the model, -c or -ub (a text is read in one step) "
              "allows is cut, and marked: \"truncated\" in its row, and a note counts them. Vectors of a model with "
              "dense layers cannot be compared with those of one "
              "without. "
              "Any number of lines or "
              "files is read in the memory of the plan, and the vectors have the order of the texts. With -o the rows "
              "so far are "
              "kept in FILE.journal: a command that was ended goes on there when it is given again. A line that is no "
              "text (not JSON, no \"text\", longer than --line-bytes) has \"error\" in its row, in an array a row "
              "of NaN and a note, and the others go on (exit 3).",
    .group = groups,
    .n_group = sizeof(groups) / sizeof(groups[0]),
    .opts_bytes = sizeof(embed_opts),
    .max_arg = 1,
    .run = run,
};
