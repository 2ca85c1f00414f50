/* cmd_search.c - finds code: lines by a literal or a regular expression, chunks by the words of a question, rows of a corpus for evaluations. */
#include "json_out.h"
#include "main.h"
#include "../retrieval/retrieval.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_AUTO, MODE_LITERAL, MODE_REGEX, MODE_PHRASE, MODE_SYMBOL, MODE_RANKED };
enum { INPUT_MAX = 1 << 30 };

typedef struct {
    const char *corpus, *queries, *weights;
    uint32_t k;
    int mode;
    bool files, lexical, explain, json;
} search_opts;

static const myth_option search_options[] = {
    { "top", "-k", MYTH_OPT_U32, "N", offsetof(search_opts, k), "10", 1, 10000, "hits to show; of lines all are shown unless it is given" },
    { "mode", NULL, MYTH_OPT_CHOICE, "auto|literal|regex|phrase|symbol|ranked", offsetof(search_opts, mode), "auto", 0, 0,
      "lines that have the text or match the expression (scanned, no index), chunks with the phrase, definitions of the name, or best first" },
    { "files", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, files), NULL, 0, 0, "the best place of each file only" },
    { "lexical", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, lexical), NULL, 0, 0, "by words alone, without embeddings" },
    { "explain", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, explain), NULL, 0, 0, "print every part of every score" },
    { "json", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, json), NULL, 0, 0,
      "print [{\"path\",\"start_line\",\"end_line\",\"symbol\",\"kind\",\"score\",\"parts\",\"text\"}]" },
    { "corpus", NULL, MYTH_OPT_TEXT, "FILE", offsetof(search_opts, corpus), NULL, 0, 0,
      "search rows {\"id\",\"text\"[,\"path\",\"names\"]} of a JSONL file instead of a directory" },
    { "queries", NULL, MYTH_OPT_TEXT, "FILE", offsetof(search_opts, queries), NULL, 0, 0, "with --corpus: rows {\"id\",\"text\"}, each is asked" },
    { "weights", NULL, MYTH_OPT_TEXT, "LIST", offsetof(search_opts, weights), NULL, 0, 0, "name=value,... over the defaults, for ablations" },
};
static const myth_option_group search_groups[] = { MYTH_GROUP("search", search_opts, search_options) };

/* ---- a corpus ---- */

typedef struct {
    myth_cli *cli;
    const search_opts *o;
    myth_corpus *corpus;
    myth_corpus_hit *hit;
    myth_json_out j;
} batch;

static myth_status add_row(void *arg, const myth_corpus_row *row, myth_error *err) { return myth_corpus_add(((batch *)arg)->corpus, row, err); }

static void write_id(myth_json_out *j, const char *id, size_t n, bool is_number)
{
    char text[32];
    if (!is_number || n >= sizeof(text)) {
        myth_jout_text(j, id, n);
        return;
    }
    memcpy(text, id, n);
    text[n] = '\0';
    myth_jout_i64(j, strtoll(text, NULL, 10));
}

static myth_status ask_row(void *arg, const myth_corpus_row *row, myth_error *err)
{
    batch *b = arg;
    uint32_t n;
    if (*b->cli->cancel)
        return myth_fail(err, MYTH_ECANCEL, "search: stopped");
    myth_status st = myth_corpus_search(b->corpus, row->text, row->n_text, b->o->weights, b->o->k, b->hit, &n, err);
    if (st != MYTH_OK)
        return st;
    myth_jout_object(&b->j);
    myth_jout_key(&b->j, "query");
    write_id(&b->j, row->id, row->n_id, row->is_number);
    myth_jout_key(&b->j, "ids");
    myth_jout_array(&b->j);
    for (uint32_t i = 0; i < n; i++) {
        size_t n_id;
        bool is_number;
        const char *id = myth_corpus_id(b->corpus, b->hit[i].row, &n_id, &is_number);
        write_id(&b->j, id, n_id, is_number);
    }
    myth_jout_end(&b->j);
    myth_jout_key(&b->j, "scores");
    myth_jout_array(&b->j);
    for (uint32_t i = 0; i < n; i++)
        myth_jout_f64(&b->j, b->hit[i].score);
    myth_jout_end(&b->j);
    myth_jout_end(&b->j);
    return MYTH_OK;
}

static int run_corpus(myth_cli *cli, const search_opts *o)
{
    myth_error err = { 0 };
    myth_status st = MYTH_OK;
    batch b = { .cli = cli, .o = o };
    unsigned char *text = NULL;
    size_t n;
    if (!o->corpus || !o->queries || cli->n_arg)
        return myth_cli_failf(cli, MYTH_EARG, "search: --corpus FILE and --queries FILE go together, without QUERY and DIR");
    MYTH_TRY(myth_corpus_open(&b.corpus, cli->mem, &err));
    MYTH_TRY(myth_cli_read(&text, &n, cli->mem, o->corpus, INPUT_MAX, &err));
    MYTH_TRY(myth_corpus_read(cli->mem, text, n, o->corpus, add_row, &b, &err));
    myth_free(cli->mem, text);
    text = NULL;
    if (!(b.hit = myth_alloc_n(cli->mem, MYTH_MEM_OTHER, "hits", o->k, sizeof(*b.hit)))) {
        st = myth_fail(&err, MYTH_ENOMEM, "search: no memory for %u hits", o->k);
        goto fail;
    }
    MYTH_TRY(myth_cli_read(&text, &n, cli->mem, o->queries, INPUT_MAX, &err));
    myth_jout_start(&b.j, stdout);
    myth_jout_array(&b.j);
    st = myth_corpus_read(cli->mem, text, n, o->queries, ask_row, &b, &err);
    myth_jout_end(&b.j);
fail:
    myth_free(cli->mem, text);
    myth_free(cli->mem, b.hit);
    myth_corpus_close(b.corpus);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

static int run_search(myth_cli *cli, const void *opts)
{
    const search_opts *o = opts;
    if (o->corpus || o->queries)
        return run_corpus(cli, o);
    return myth_cli_failf(cli, MYTH_EARG, "search: QUERY is missing");
}

const myth_command myth_cmd_search = {
    .name = "search", .args = "QUERY [DIR]", .help = "find code: lines by text or expression, chunks by the words of a question",
    .detail = "Exit code 1 when nothing is found, as grep. A directory without an index is indexed first; the index is brought up to date before each "
              "search.",
    .group = search_groups, .n_group = 1, .opts_bytes = sizeof(search_opts), .max_arg = 2, .run = run_search
};
