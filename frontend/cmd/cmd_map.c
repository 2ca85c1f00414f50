/* cmd_map.c - prints an overview of a directory that fits into a number of tokens, for people and prompts; with --json
 * all that the index knows about its files. */
#include "retrieval/retrieval.h"
#include "frontend/inspect/secrets/redact.h"
#include "frontend/cli/json_out.h"
#include "frontend/common/open_index.h"
#include "frontend/common/summarize.h"

#include <string.h>
#include <time.h>

typedef struct {
    myth_model_flags model;
    myth_engine_flags engine;
    uint32_t tokens, summary_files;
    const char *query, *under;
    bool json, summaries;
} map_opts;

static const myth_option map_options[] = {
    {"tokens", NULL, MYTH_OPT_U32, "N", offsetof(map_opts, tokens), "2000", 1, 10000000,
     "most tokens of the overview, counted with the model's tokenizer"},
    {"for", NULL, MYTH_OPT_TEXT, "QUERY", offsetof(map_opts, query), NULL, 0, 0,
     "show files that answer QUERY, and what they use more than others do, first"},
    {"under", NULL, MYTH_OPT_TEXT, "PATH", offsetof(map_opts, under), NULL, 0, 0,
     "show only files below this folder of DIR"},
    {"summaries", NULL, MYTH_OPT_FLAG, NULL, offsetof(map_opts, summaries), NULL, 0, 0,
     "also show a line that the model wrote about each file; missing lines are made first and kept in the index"},
    {"summary-files", NULL, MYTH_OPT_U32, "N", offsetof(map_opts, summary_files), "200", 0, 10000000,
     "most files that the model summarises in this run, the most important first"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(map_opts, json), NULL, 0, 0,
     "print "
     "{\"tokens\",\"budget\",\"n_files\",\"n_shown\",\"text\",\"files\":[{\"path\",\"language\",\"summary\","
     "\"symbols\",\"imports\",\"exports\","
     "\"risks\",\"tests\",\"rank\",\"shown\"}]}, all files, the most important first"},
};
static const myth_option_group map_groups[] = {MYTH_GROUP("map", map_opts, map_options),
                                               MYTH_GROUP_MODEL(map_opts, model), MYTH_GROUP_ENGINE(map_opts, engine)};

/* ---- counting ---- */

typedef struct {
    myth_cli *cli;
    myth_cli_tokenizer tokenizer;
    int32_t *ids;
    size_t cap;
} counter;

static myth_status count_tokens(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    counter *c = arg;
    size_t need = myth_tokenizer_bound(n), got = 0;
    if (need > c->cap) {
        myth_free(c->cli->mem, c->ids);
        c->cap = 0;
        c->ids = myth_alloc_n(c->cli->mem, MYTH_MEM_STAGING, "ids", need, sizeof(*c->ids));
        if (!c->ids)
            return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu ids", need);
        c->cap = need;
    }
    myth_status st =
        myth_tokenizer_encode(c->tokenizer.t, c->cli->mem, MYTH_TOK_CONTENT, text, n, c->ids, c->cap, &got, err);
    *n_token = got;
    return st;
}

/* ---- JSON ---- */

static void put_symbols(myth_json_out *j, const myth_repomap_file *f)
{
    myth_jout_key(j, "symbols");
    myth_jout_array(j);
    for (uint32_t i = 0; i < f->n_symbol; i++) {
        const myth_repomap_symbol *s = &f->symbol[i];
        myth_jout_object(j);
        myth_jout_key_str(j, "name", s->name);
        myth_jout_key_str(j, "kind", myth_symbol_kind_name(s->kind));
        myth_jout_key_str(j, "parent", s->parent);
        myth_jout_key_u64(j, "line", s->line);
        myth_jout_key_str(j, "signature", s->signature);
        myth_jout_key_bool(j, "exported", s->is_exported);
        myth_jout_key_f64(j, "share", s->share);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void put_list(myth_json_out *j, const char *key, const char *const *list, uint32_t n)
{
    myth_jout_key(j, key);
    myth_jout_array(j);
    for (uint32_t i = 0; i < n; i++)
        myth_jout_str(j, list[i]);
    myth_jout_end(j);
}

static bool put_file(void *arg, const myth_repomap_file *f)
{
    myth_json_out *j = arg;
    myth_jout_object(j);
    myth_jout_key_str(j, "path", f->path);
    myth_jout_key_str(j, "language", f->language);
    myth_jout_key_str(j, "summary", f->summary);
    put_symbols(j, f);
    put_list(j, "imports", f->import, f->n_import);
    myth_jout_key(j, "exports");
    myth_jout_array(j);
    for (uint32_t i = 0; i < f->n_symbol; i++)
        if (f->symbol[i].is_exported)
            myth_jout_str(j, f->symbol[i].name);
    myth_jout_end(j);
    myth_jout_key(j, "risks");
    myth_jout_array(j);
    for (uint32_t i = 0; i < f->n_risk; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "tag", myth_risk_name(f->risk[i].tag));
        myth_jout_key_u64(j, "line", f->risk[i].line);
        myth_jout_key_str(j, "text", f->risk[i].text);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    put_list(j, "tests", f->test, f->n_test);
    myth_jout_key_f64(j, "rank", f->rank);
    myth_jout_key_bool(j, "shown", f->is_shown);
    myth_jout_end(j);
    return true;
}

static myth_status print_json(myth_repomap *m, const myth_repomap_page *page, const map_opts *o, myth_error *err)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_u64(&j, "tokens", page->n_token);
    myth_jout_key_u64(&j, "budget", o->tokens);
    myth_jout_key_u64(&j, "n_files", page->n_file);
    myth_jout_key_u64(&j, "n_shown", page->n_shown);
    myth_jout_key(&j, "text");
    myth_jout_text(&j, page->text, page->n);
    myth_jout_key(&j, "files");
    myth_jout_array(&j);
    myth_status st = myth_repomap_each(m, put_file, &j, err);
    myth_jout_end(&j);
    myth_jout_end(&j);
    return st;
}

/* ---- run ---- */

static void on_map(void *arg, uint64_t done, uint64_t all) { myth_term_progress(arg, "map, files", done, all); }

static double ms_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Makes the missing lines of --summaries, with a map that orders files by importance. x is in a ledger of its own, so
 * that it is not part of the model's plan. */
static myth_status make_summaries(myth_cli *cli, const map_opts *o, myth_index *x, myth_mem *mem, myth_error *err)
{
    myth_repomap *m = NULL;
    myth_summarize_counts n = {0};
    const myth_repomap_opts mo = {.is_cancelled = cli->cancel};
    myth_status st = myth_repomap_open(&m, mem, x, &mo, err);
    myth_repomap_close(m);
    if (st == MYTH_OK)
        st = myth_summarize(&n, cli, &o->model, &o->engine, x, mem, o->summary_files, err);
    if (st != MYTH_OK)
        return st;
    if (n.n_done < n.n_missing)
        myth_term_note(cli->term,
                       "summaries: read %u of %u files, %u have a line; %u are left for the next run (--summary-files)",
                       n.n_done, n.n_missing, n.n_kept, n.n_missing - n.n_done);
    else if (n.n_missing)
        myth_term_note(cli->term, "summaries: read %u file%s, %u with a line, %u written by the model", n.n_done,
                       myth_s(n.n_done), n.n_kept, n.n_asked);
    return MYTH_OK;
}

static int run_map(myth_cli *cli, const void *opts)
{
    const map_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    myth_index *x = NULL;
    myth_repomap *m = NULL;
    myth_repomap_page page = {0};
    counter c = {.cli = cli};
    myth_mem *own = NULL, *mem = cli->mem;
    if (o->query && !o->query[0])
        return myth_cli_failf(cli, MYTH_EARG, "map: --for: the query is empty; ask in words, or leave --for out");
    if (!o->summaries && myth_args_is_flag(cli->parsed, "summary-files"))
        return myth_cli_failf(cli, MYTH_EARG, "map: --summary-files counts what --summaries makes; add --summaries");
    if (o->summaries) {
        MYTH_TRY(myth_mem_open(&own, 0, &err));
        mem = own;
    } else {
        MYTH_TRY(myth_cli_tokenizer_open(&c.tokenizer, cli, &o->model, &err));
    }
    MYTH_TRY(myth_cli_index(&x, cli, mem, myth_cli_dir(cli, 0), NULL, &err));
    if (o->summaries) { /* the summaries' run and its plan must end before the tokenizer is opened for counting */
        MYTH_TRY(make_summaries(cli, o, x, mem, &err));
        MYTH_TRY(myth_cli_tokenizer_open(&c.tokenizer, cli, &o->model, &err));
    }
    double start = ms_of(CLOCK_MONOTONIC), cpu_start = ms_of(CLOCK_PROCESS_CPUTIME_ID);
    myth_repomap_opts mo = {
        .query = o->query,
        .under = o->under,
        .show = myth_redact_line,
        .with_summaries = o->summaries,
        .is_cancelled = o->summaries ? NULL : cli->cancel,
        .progress = cli->term->has_progress ? on_map : NULL,
        .progress_arg = cli->term,
    };
    MYTH_TRY(myth_repomap_open(&m, mem, x, &mo, &err));
    myth_term_progress_end(cli->term);
    if (!myth_repomap_has_answer(m))
        myth_term_note(cli->term, "nothing in these files answers \"%.80s\"; this is the map without --for", o->query);
    MYTH_TRY(myth_cli_note_unparsed(NULL, cli, x, &err));
    MYTH_TRY(myth_repomap_text(&page, m, &(myth_repomap_budget){count_tokens, &c, o->tokens}, &err));
    double took = ms_of(CLOCK_MONOTONIC) - start, cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    if (o->json)
        MYTH_TRY(print_json(m, &page, o, &err));
    else
        myth_term_data(cli->term, stdout, page.text, page.n);
    myth_term_note(cli->term, "%llu of %u token%s used, %u of %u file%s shown%s; %.1f ms wall, %.1f ms CPU",
                   (unsigned long long)page.n_token, o->tokens, myth_s(o->tokens), page.n_shown, page.n_file,
                   myth_s(page.n_file), page.n_shown ? "" : ", since not even one line fits; raise --tokens", took,
                   cpu);
fail:
    myth_term_progress_end(cli->term);
    int code = st != MYTH_OK                                                  ? myth_cli_fail(cli, &err)
             : page.n_shown && !(o->summaries && myth_cancelled(cli->cancel)) ? myth_cli_answered(cli, MYTH_EXIT_CLEAN)
                                                                              : MYTH_EXIT_INCOMPLETE;
    myth_repomap_page_free(&page, mem);
    myth_repomap_close(m);
    myth_index_close(x);
    if (own)
        myth_mem_close(own);
    myth_free(cli->mem, c.ids);
    myth_cli_tokenizer_close(&c.tokenizer);
    return code;
}

const myth_command myth_cmd_map = {
    .name = "map",
    .args = "[DIR]",
    .help = "print an overview of a directory: folders, files, signatures, risks, the most important first",
    .detail = "Names that tests, examples, documents and other files use most are shown first, public ones before "
              "private ones, and never more than --tokens. Long signatures are shortened. The "
              "index is brought up to date first. "
              "The line of a file names its risks with their line numbers, then the comment at its head. Values of "
              "constants and known secrets are not shown. Exits "
              "with 3 when not even one line fits or something could not be read, 66 when there is no file.\n"
              "With --summaries the model writes one line about a file whose own comments say too little. Lines are "
              "kept with the file's content and written again when another model is used. An interrupt (SIGINT) keeps "
              "the finished lines (exit 3), and the next run continues.",
    .group = map_groups,
    .n_group = 3,
    .opts_bytes = sizeof(map_opts),
    .max_arg = 1,
    .run = run_map,
};
