/* cmd_search.c - finds lines by a text or a regular expression, chunks by the words of a question, and for evaluations
 * rows of a corpus. */
#include "frontend/eval/corpus.h"
#include "frontend/common/embedding.h"
#include "frontend/common/unsearched.h"
#include "frontend/common/open_index.h"
#include "frontend/search/files.h"
#include "frontend/search/rows.h"
#include "frontend/search/scopes.h"
#include "engine/base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_AUTO, MODE_LITERAL, MODE_REGEX, MODE_PHRASE, MODE_SYMBOL, MODE_RANKED };
enum { INPUT_MAX = 1 << 30, CHUNKS_MAX = 10000 };

typedef struct {
    const char *corpus, *queries, *weights, *embed_model;
    uint32_t k, before, after, around;
    int mode;
    myth_opt_list regexp, glob, type;
    bool files, paths, lexical, chunks, explain, json, ignore_case, is_word, fixed, count, hidden, no_ignore;
} search_opts;

static const myth_option search_options[] = {
    {"top", "-k", MYTH_OPT_U32, "N", offsetof(search_opts, k), "10", 1, UINT32_MAX,
     "most hits to show, up to 10000 chunks or any number of lines; without it 10 chunks, or all matching lines"},
    {"mode", NULL, MYTH_OPT_CHOICE, "auto|literal|regex|phrase|symbol|ranked", offsetof(search_opts, mode), "auto", 0,
     0,
     "literal, regex: lines that match, found without an index; phrase: chunks with the phrase; symbol: definitions of "
     "the name; ranked: the best chunks first; auto: chosen by the form of QUERY"},
    {"regexp", "-e", MYTH_OPT_LIST, "PATTERN", offsetof(search_opts, regexp), NULL, 0, 0,
     "find lines that match the expression (as of PCRE2), instead of QUERY; if given several times, lines that match "
     "any of them"},
    {"fixed-strings", "-F", MYTH_OPT_FLAG, NULL, offsetof(search_opts, fixed), NULL, 0, 0,
     "find lines that contain QUERY exactly as it is written"},
    {"ignore-case", "-i", MYTH_OPT_FLAG, NULL, offsetof(search_opts, ignore_case), NULL, 0, 0,
     "find lines in upper or lower case"},
    {"word-regexp", "-w", MYTH_OPT_FLAG, NULL, offsetof(search_opts, is_word), NULL, 0, 0,
     "find lines that match as whole words"},
    {"after-context", "-A", MYTH_OPT_U32, "N", offsetof(search_opts, after), NULL, 0, 0,
     "print N lines behind each line that matches, too"},
    {"before-context", "-B", MYTH_OPT_U32, "N", offsetof(search_opts, before), NULL, 0, 0,
     "print N lines in front of each line that matches, too"},
    {"context", NULL, MYTH_OPT_U32, "N", offsetof(search_opts, around), NULL, 0, 0,
     "both; -C N is the same where N is a number (a directory of that name is -C ./N)"},
    {"glob", "-g", MYTH_OPT_LIST, "G", offsetof(search_opts, glob), NULL, 0, 0,
     "search only files that match G, such as *.{c,h}; '!G' leaves them out; may be given several times"},
    {"type", "-t", MYTH_OPT_LIST, "LANG", offsetof(search_opts, type), NULL, 0, 0,
     "search only files of the language (c, cpp, python, ...); may be given several times"},
    {"hidden", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, hidden), NULL, 0, 0,
     "find lines in files and directories whose name begins with a dot, too (git's own are left out)"},
    {"no-ignore", "-u", MYTH_OPT_FLAG, NULL, offsetof(search_opts, no_ignore), NULL, 0, 0,
     "find lines in files that ignore files leave out, too"},
    {"files", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, files), NULL, 0, 0,
     "show only the best hit of each file"},
    {"files-with-matches", "-l", MYTH_OPT_FLAG, NULL, offsetof(search_opts, paths), NULL, 0, 0,
     "print only the paths of files that have a hit"},
    {"count", "-c", MYTH_OPT_FLAG, NULL, offsetof(search_opts, count), NULL, 0, 0,
     "print how many lines match in each file"},
    {"lexical", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, lexical), NULL, 0, 0,
     "search by words only, without vectors"},
    {"embed-model", NULL, MYTH_OPT_TEXT, "M", offsetof(search_opts, embed_model),
     "(that of the index's vectors, or the shipped one)", 0, 0, "the EmbeddingGemma model that embeds the query"},
    {"chunks", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, chunks), NULL, 0, 0,
     "print chunks, whole and ranked: no lines of a name first, no definition alone"},
    {"explain", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, explain), NULL, 0, 0,
     "print every part of every score"},
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(search_opts, json), NULL, 0, 0,
     "print [{\"path\",\"start_line\",\"end_line\",\"symbol\",\"kind\",\"score\",\"parts\",\"text\",\"match\"}], a "
     "chunk that is in several places with its \"copies\"; for a "
     "name "
     "also \"found\""},
};

/* Flags for evaluations only; the help does not show them (frontend/eval/README.md has them). */
static const myth_option eval_options[] = {
    {"corpus", NULL, MYTH_OPT_TEXT, "FILE", offsetof(search_opts, corpus), NULL, 0, 0,
     "search rows {\"id\",\"text\"[,\"path\",\"names\"]} of a JSONL file instead of a directory"},
    {"queries", NULL, MYTH_OPT_TEXT, "FILE", offsetof(search_opts, queries), NULL, 0, 0,
     "with --corpus: search for each of the rows {\"id\",\"text\"}"},
    {"weights", NULL, MYTH_OPT_TEXT, "LIST", offsetof(search_opts, weights), NULL, 0, 0,
     "replace default weights, name=value,..., for ablations"},
};
static const myth_option_group search_groups[] = {
    MYTH_GROUP("search", search_opts, search_options),
    MYTH_GROUP("", search_opts, eval_options),
};

/* ---- a corpus ---- */

typedef struct {
    myth_cli *cli;
    const search_opts *o;
    myth_corpus *corpus;
    myth_corpus_hit *hit;
    myth_json_out j;
    uint64_t n_row;
} batch;

static myth_status add_row(void *arg, const myth_corpus_row *row, myth_error *err)
{
    batch *b = arg;
    if (myth_cancelled(b->cli->cancel))
        return myth_fail(err, MYTH_ECANCEL, "search: stopped");
    myth_term_progress(b->cli->term, "corpus, rows", ++b->n_row, 0);
    return myth_corpus_add(b->corpus, row, err);
}

/* Opens and starts the embedder of a corpus. With --lexical, or when no model was named and none is found, *out is NULL
 * and a note has the reason. A model that was named must work. */
static myth_status open_embedder(myth_embedding **out, myth_cli *cli, const search_opts *o, uint64_t corpus_bytes,
                                 myth_error *err)
{
    char spec[PATH_MAX];
    myth_error why = {0};
    myth_status st = MYTH_OK;
    *out = NULL;
    if (o->lexical)
        return MYTH_OK;
    if (!myth_vectors_is_built())
        st = myth_fail(&why, MYTH_EUNSUPPORTED, "this build has no FAISS");
    if (st == MYTH_OK)
        st = myth_cli_embedder_spec(o->embed_model, spec, sizeof(spec), &why);
    if (st == MYTH_OK)
        st = myth_embedding_open(out, cli, spec, &why);
    if (st == MYTH_OK)
        st = myth_embedding_start(*out, 16 * corpus_bytes + (16 << 20), &why);
    if (st == MYTH_OK)
        return MYTH_OK;
    myth_embedding_close(*out);
    *out = NULL;
    if (o->embed_model || (st != MYTH_ENOTFOUND && st != MYTH_EUNSUPPORTED))
        return myth_fail_as(err, &why);
    char text[sizeof(why.msg) + 128];
    myth_cli_spell(text, sizeof(text), &why);
    myth_term_note(cli->term, "semantic: off, because %s", text);
    return MYTH_OK;
}

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
    if (myth_cancelled(b->cli->cancel))
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
    myth_error err = {0};
    myth_status st = MYTH_OK;
    batch b = {.cli = cli, .o = o};
    unsigned char *text = NULL;
    myth_embedding *embedder = NULL;
    size_t n;
    if (!o->corpus || !o->queries || cli->n_arg)
        return myth_cli_failf(cli, MYTH_EARG,
                              "search: --corpus FILE and --queries FILE go together, without QUERY and DIR");
    MYTH_TRY(myth_corpus_open(&b.corpus, cli->mem, &err));
    MYTH_TRY(myth_cli_read(&text, &n, cli->mem, o->corpus, INPUT_MAX, &err));
    MYTH_TRY(open_embedder(&embedder, cli, o, n, &err));
    if (embedder)
        MYTH_TRY(myth_corpus_embed(b.corpus, myth_embedding_face(embedder), &err));
    MYTH_TRY(myth_corpus_read(cli->mem, text, n, o->corpus, add_row, &b, &err));
    MYTH_TRY(myth_corpus_finish(b.corpus, &err));
    myth_term_progress_end(cli->term);
    myth_free(cli->mem, text);
    text = NULL;
    if (!(b.hit = myth_alloc_n(cli->mem, MYTH_MEM_OTHER, "hits", o->k, sizeof(*b.hit)))) {
        st = myth_fail(&err, MYTH_ENOMEM, "search: out of memory for %u hits", o->k);
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
    myth_embedding_close(embedder);
    return st == MYTH_OK ? MYTH_EXIT_CLEAN : myth_cli_fail(cli, &err);
}

/* ---- lines: literal and regex ---- */

static myth_search_files files_of(const search_opts *o)
{
    return (myth_search_files){.glob = &o->glob, .type = &o->type, .hidden = o->hidden, .no_ignore = o->no_ignore};
}

/* Which lines are wanted. */
typedef struct {
    const char *text;
    const myth_scopes *scopes;
    bool is_regex, is_word;
    uint64_t max_rows; /* 0 = all */
    uint32_t before, after;
} line_query;

/* The rows of one scope, with its paths as they are shown. */
typedef struct {
    myth_rows *rows;
    const myth_scope *scope;
    uint64_t n_match; /* of all scopes, as are the next two */
    uint64_t n_out[MYTH_SCAN_REASON_N];
    uint32_t n_file;
    bool is_over;
    char path[2 * PATH_MAX];
} scope_rows;

static bool put_row(void *arg, const myth_grep_row *at)
{
    scope_rows *s = arg;
    myth_grep_row row = *at;
    if (myth_scope_path(s->scope, at->path, s->path, sizeof(s->path)))
        row.path = s->path;
    s->n_match += !at->is_context;
    s->is_over = !myth_rows_line(s->rows, &row);
    return !s->is_over;
}

static myth_status search_scope(myth_cli *cli, const search_opts *o, const line_query *q, scope_rows *s,
                                uint64_t *n_unread, myth_error *err)
{
    const myth_search_files wanted = files_of(o);
    myth_status st = MYTH_OK;
    uint64_t n = 0;
    myth_scan_file file = {.path = s->scope->file};
    myth_scan_list list = {0}, one = {.file = &file, .n_file = 1};
    if (!s->scope->file)
        MYTH_TRY(myth_search_files_list(&list, cli, &wanted, s->scope->root, err));
    const myth_scan_list *files = s->scope->file ? &one : &list;
    myth_grep_opts go = {
        .root = s->scope->root,
        .pattern = (const unsigned char *)q->text,
        .n_pattern = strlen(q->text),
        .is_regex = q->is_regex,
        .ignore_case = o->ignore_case,
        .is_word = q->is_word,
        .n_threads = cli->global->n_threads,
        .max_rows = q->max_rows ? q->max_rows - s->n_match : 0,
        .n_before = q->before,
        .n_after = q->after,
        .n_out = s->n_out,
        .is_cancelled = cli->cancel,
    };
    st = myth_grep(cli->mem, files, &go, put_row, s, &n, err);
    if (st == MYTH_EARG && q->is_regex)
        myth_fail(err, st, "%.200s; -F finds the text as it is written", err->msg);
    s->n_file += files->n_file;
    *n_unread += n + list.n_out[MYTH_SCAN_UNREADABLE]; /* counts directories; the scan does not open files */
fail:
    myth_scan_close(&list, cli->mem);
    return st;
}

/* Says what else there is where the text may be that was found nowhere. */
static myth_status note_left_out(myth_cli *cli, const search_opts *o, const line_query *q, const scope_rows *s,
                                 myth_error *err)
{
    char text[200];
    const char *glob[MYTH_OPT_LIST_MAX + 1] = {0};
    myth_unsearched l = {.n = {0}};
    myth_status st = MYTH_OK;
    memcpy(l.n, s->n_out, sizeof(l.n));
    for (int i = 0; i < o->glob.n; i++)
        glob[i] = o->glob.item[i];
    for (uint32_t i = 0; i < q->scopes->n && st == MYTH_OK; i++) {
        const myth_scan_opts so = {
            .root = q->scopes->scope[i].root,
            .globs = o->glob.n ? glob : NULL,
            .hidden = o->hidden,
            .no_ignore = o->no_ignore,
            .n_threads = cli->global->n_threads,
            .is_cancelled = cli->cancel,
        };
        st = q->scopes->scope[i].file ? MYTH_OK : myth_unsearched_add(&l, cli, &so, err);
    }
    myth_unsearched_say(&l, text, sizeof(text));
    if (st == MYTH_OK && text[0])
        myth_term_note(cli->term, "not searched: %s; mythos scan --explain lists them%s", text,
                       l.n[MYTH_SCAN_HIDDEN] || l.n[MYTH_SCAN_IGNORED] ? ", --hidden and -u search more" : "");
    return st;
}

/* Searches the files themselves, not the index, so that no matching line is missed. */
static myth_status search_lines(myth_cli *cli, const search_opts *o, const line_query *q, myth_rows *rows,
                                myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t n_unread = 0;
    const myth_search_files wanted = files_of(o);
    scope_rows s = {.rows = rows};
    for (uint32_t i = 0; i < q->scopes->n && !s.is_over && !(q->max_rows && s.n_match == q->max_rows); i++) {
        s.scope = &q->scopes->scope[i];
        MYTH_TRY(search_scope(cli, o, q, &s, &n_unread, err));
    }
    if (s.n_file == 0)
        myth_search_files_note_none(cli, &wanted);
    MYTH_TRY(myth_rows_end_lines(rows, err));
    if (s.n_match == 0 && rows->n_exact == 0)
        MYTH_TRY(note_left_out(cli, o, q, &s, err));
    if (n_unread && !cli->n_unread)
        myth_term_note(cli->term, "%llu file%s could not be read; mythos index --json lists them",
                       (unsigned long long)n_unread, n_unread == 1 ? " or directory" : "s and directories");
    cli->n_unread += n_unread;
fail:
    return st;
}

/* ---- chunks ---- */

/* The paths that --glob and --type allow, sorted by their bytes for a binary search. */
typedef struct {
    const char **path;
    uint32_t n;
} wanted_files;

static int by_bytes(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool wants_file(void *user, const char *path)
{
    const wanted_files *w = user;
    return bsearch(&path, w->path, w->n, sizeof(*w->path), by_bytes) != NULL;
}

static myth_search_mode mode_of(int mode)
{
    return mode == MODE_PHRASE ? MYTH_SEARCH_PHRASE
         : mode == MODE_SYMBOL ? MYTH_SEARCH_SYMBOL
         : mode == MODE_RANKED ? MYTH_SEARCH_RANKED
                               : MYTH_SEARCH_AUTO;
}

/* NEAR_MAX: similar names that are listed; BY_WORDS: chunks behind them, unless -k says how many. NEAR_SCORE: that
 * of a word and a name of two words of which it is one (nearest.c); less in common is hardly what was meant. */
enum { NEAR_MAX = 5, BY_WORDS = 3 };
#define NEAR_SCORE 0.63

/* What the index answers. It stays open until all is printed: similar names are looked for when no line has the name
 * either. */
typedef struct {
    myth_index *index;
    myth_scan_list list; /* the files that are wanted, with --glob and --type */
    wanted_files wanted; /* their names, path NULL = all files are wanted */
    myth_hits hits;
    myth_occurrences exact;   /* lines of a name */
    myth_near near[NEAR_MAX]; /* similar names, when there is no such line */
    uint32_t n_near;
    bool is_name;  /* the query is one word, and the mode left the choice of the search open */
    char off[256]; /* why vectors are not used, "" = they are */
    bool is_news;  /* no earlier search of this index said so */
} answer;

static void close_answer(answer *a, myth_cli *cli)
{
    myth_hits_free(&a->hits);
    myth_occurrences_free(&a->exact);
    myth_free(cli->mem, a->wanted.path);
    myth_scan_close(&a->list, cli->mem);
    myth_index_close(a->index);
}

/* Finds names that are similar to one that nothing has, in the files that are wanted. */
static myth_status find_near(answer *a, const char *query, myth_error *err)
{
    myth_near near[MYTH_NEAR_MAX];
    uint32_t n;
    const myth_status st = myth_usage_nearest(near, MYTH_NEAR_MAX, &n, a->index, query, err);
    for (uint32_t i = 0; st == MYTH_OK && i < n && a->n_near < NEAR_MAX; i++)
        if (near[i].score >= NEAR_SCORE && (!a->wanted.path || wants_file(&a->wanted, near[i].path)))
            a->near[a->n_near++] = near[i];
    return st;
}

/* Leaves the files of the scopes in the list. */
static void keep_scopes(myth_scan_list *list, const myth_scopes *scopes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n_file; i++)
        if (myth_scopes_has(scopes, list->file[i].path))
            list->file[n++] = list->file[i];
    list->n_file = n;
}

/* Brings the index up to date and searches it. */
static myth_status search_index(myth_cli *cli, const search_opts *o, const char *query, const myth_scopes *scopes,
                                answer *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *dir = scopes->is_limited ? "." : scopes->scope[0].root;
    myth_semantic semantic = {0};
    const char **ranked = NULL;
    MYTH_TRY(myth_cli_index(&a->index, cli, cli->mem, dir, NULL, err));
    myth_search_opts so = {
        .query = query,
        .mode = mode_of(o->mode),
        .k = o->k,
        .by_file = o->files || o->paths,
        .with_text = true,
        .narrow = !o->chunks,
        .weights = o->weights,
    };
    if (o->glob.n || o->type.n || scopes->is_limited) {
        const myth_search_files wanted = files_of(o);
        MYTH_TRY(myth_search_files_list(&a->list, cli, &wanted, dir, err));
        keep_scopes(&a->list, scopes);
        if (!(a->wanted.path =
                  myth_alloc_n(cli->mem, MYTH_MEM_OTHER, "files", a->list.n_file + 1, sizeof(*a->wanted.path)))) {
            st = myth_fail(err, MYTH_ENOMEM, "search: out of memory for the names of %u files", a->list.n_file);
            goto fail;
        }
        for (; a->wanted.n < a->list.n_file; a->wanted.n++)
            a->wanted.path[a->wanted.n] = a->list.file[a->wanted.n].path;
        qsort(a->wanted.path, a->wanted.n, sizeof(*a->wanted.path), by_bytes);
        so.wants_file = wants_file;
        so.user = &a->wanted;
    }
    if (o->lexical)
        snprintf(semantic.off, sizeof(semantic.off), "--lexical was given");
    else if (o->mode == MODE_AUTO || o->mode == MODE_RANKED)
        MYTH_TRY(myth_semantic_open(&semantic, cli, a->index, o->embed_model, &so, err));
    snprintf(a->off, sizeof(a->off), "%s", semantic.off);
    a->is_news = a->off[0] && !o->lexical && myth_cli_says_first(a->index, "semantic-off");
    if (a->off[0] && !o->lexical && o->embed_model)
        st = myth_fail(err, MYTH_ENOTFOUND, "semantic: off, because %s", a->off);
    if (st == MYTH_OK)
        st = myth_search(&a->hits, a->index, &so, err);
    a->is_name = st == MYTH_OK && o->mode == MODE_AUTO && !o->chunks && strcmp(a->hits.query_kind, "symbol") == 0;
    if (a->is_name) {
        if (!(ranked = myth_alloc_n(cli->mem, MYTH_MEM_OTHER, "files", a->hits.n_hit + 1, sizeof(*ranked)))) {
            st = myth_fail(err, MYTH_ENOMEM, "search: out of memory for the names of %u files", a->hits.n_hit);
            goto fail;
        }
        for (uint32_t i = 0; i < a->hits.n_hit; i++)
            ranked[i] = a->hits.hit[i].path;
        st = myth_occurrences_find(&a->exact, a->index, query, o->k, so.wants_file, so.user, ranked, a->hits.n_hit,
                                   cli->cancel, err);
    }
fail:
    myth_free(cli->mem, ranked);
    myth_semantic_close(&semantic, cli);
    return st;
}

/* ---- a name ---- */

/* Whether a file is called so, with or without its ending. */
static bool names_file(const char *path, const char *name)
{
    const char *base = myth_base_name(path);
    const char *dot = strchr(base + (base[0] == '.'), '.');
    const size_t n = strlen(name), n_path = strlen(path);
    const bool is_end = n_path >= n && strcmp(path + n_path - n, name) == 0;
    return (is_end && (n_path == n || path[n_path - n - 1] == '/')) ||
           (dot && (size_t)(dot - base) == n && memcmp(base, name, n) == 0);
}

/* Prints the definitions and uses of a name that there is room for. The chunks found by its words get a third of the
 * rows, if so many have none of these lines. */
static void put_exact(myth_rows *rows, const search_opts *o, const myth_occurrences *exact, const char *name)
{
    uint32_t n_other = 0, room = o->k - o->k / 3, n_shown[2] = {0};
    for (uint32_t i = 0; i < exact->n_row; i++)
        myth_rows_mark(rows, exact->row[i].path, exact->row[i].line);
    for (uint32_t i = 0; i < rows->hits->n_hit; i++)
        n_other += !rows->is_shown[i];
    room = o->k > n_other && o->k - n_other > room ? o->k - n_other : room;
    rows->exact = exact;
    rows->n_exact = exact->n_row < room ? exact->n_row : room;
    for (uint32_t i = 0; i < rows->n_exact; i++) {
        n_shown[exact->row[i].is_definition]++;
        myth_rows_exact(rows, &exact->row[i]);
    }
    const uint32_t n_more = exact->n_definition - n_shown[1] + exact->n_use - n_shown[0];
    if (n_more)
        myth_term_note(rows->cli->term, "%u more definition%s and use%s; mythos symbols %.80s lists them", n_more,
                       myth_s(n_more), myth_s(n_more), name);
}

/* The lines that have the name as a whole word: in comments, in texts, as a key, of something defined elsewhere. */
static myth_status find_name_lines(myth_rows *rows, const search_opts *o, const char *name, const myth_scopes *scopes,
                                   myth_error *err)
{
    char text[4096];
    size_t n = strlen(name);
    if (n > 2 && name[n - 2] == '(' && name[n - 1] == ')')
        n -= 2; /* a call, as it is often written of a function */
    const uint32_t room = rows->is_silent ? 1 : o->k - o->k / 3;
    if (n >= sizeof(text) || rows->n_exact >= room)
        return MYTH_OK;
    memcpy(text, name, n);
    text[n] = '\0';
    rows->most = room - rows->n_exact;
    const line_query q = {.text = text, .scopes = scopes, .is_word = true, .max_rows = room + 1};
    const myth_status st = search_lines(rows->cli, o, &q, rows, err);
    if (st == MYTH_OK && rows->n_row == rows->most && !rows->is_silent)
        myth_term_note(rows->cli->term, "more lines may have it; mythos search -w %.80s lists all", text);
    return st;
}

/* Lists the definitions with similar names, the nearest first. */
static void put_near(myth_rows *rows, const answer *a)
{
    if (!rows->json)
        puts("not found as a name; the nearest names:");
    for (uint32_t i = 0; i < a->n_near; i++)
        myth_rows_near(rows, &a->near[i]);
}

/* Whether a chunk was found of which no line was printed yet. */
static bool has_unshown(const myth_rows *rows)
{
    for (uint32_t i = 0; i < rows->hits->n_hit; i++)
        if (!rows->is_shown[i])
            return true;
    return false;
}

/* Answers a query of one word: first the lines that have it, definitions before uses; then the best chunks by its
 * words. *found: whether it occurs anywhere. */
static myth_status put_name(myth_rows *rows, const search_opts *o, answer *a, const char *name,
                            const myth_scopes *scopes, bool *found, myth_error *err)
{
    myth_status st = MYTH_OK;
    const bool lists_files = o->files || o->paths;
    rows->is_silent = lists_files;
    rows->hits = &a->hits;
    if (!(rows->is_shown =
              myth_alloc_n(rows->cli->mem, MYTH_MEM_OTHER, "hits", a->hits.n_hit + 1, sizeof(*rows->is_shown))))
        return myth_fail(err, MYTH_ENOMEM, "search: out of memory for %u hits", a->hits.n_hit);
    memset(rows->is_shown, 0, (a->hits.n_hit + 1) * sizeof(*rows->is_shown));
    *found = a->exact.n_row > 0;
    if (*found && !lists_files)
        put_exact(rows, o, &a->exact, name);
    if (a->exact.n_use == 0 && !(*found && lists_files))
        MYTH_TRY(find_name_lines(rows, o, name, scopes, err));
    *found = *found || rows->n_row > 0;
    for (uint32_t i = 0; i < a->hits.n_hit && !*found; i++)
        *found = names_file(a->hits.hit[i].path, name);
    uint32_t n_row = lists_files ? 0 : rows->n_exact + (uint32_t)rows->n_row, most = o->k;
    if (!*found && !lists_files) {
        most = myth_args_is_given(rows->cli->parsed, "top") || o->k < BY_WORDS ? o->k : BY_WORDS;
        MYTH_TRY(find_near(a, name, err));
        if (a->n_near)
            put_near(rows, a);
    }
    if (!*found && o->paths)
        myth_term_note(rows->cli->term, "%.200s: not found as a name; nearest by words:", name);
    else if (!*found && !o->json && (lists_files || !a->n_near))
        puts("not found as a name; nearest by words:");
    else if ((!*found || (n_row && n_row < o->k)) && !o->json && has_unshown(rows))
        puts("by words:");
    myth_rows_hits(rows, &a->hits, *found, most - n_row);
fail:
    myth_free(rows->cli->mem, rows->is_shown);
    rows->is_shown = NULL;
    return st;
}

/* What the arguments and flags ask for. */
typedef struct {
    char pattern[4096]; /* the patterns of --regexp as one */
    const char *text;
    myth_scopes scopes;
    int mode;
    bool is_of_lines;
    uint32_t before, after; /* lines around those that match */
} request;

/* The patterns of --regexp as one: expressions as alternatives, fixed strings a line each, as grep takes them. */
static bool join_patterns(request *r, const search_opts *o)
{
    const char *form = o->fixed ? "%s%s" : o->regexp.n > 1 ? "%s(?:%s)" : "%s%s", *between = o->fixed ? "\n" : "|";
    size_t n = 0;
    for (int i = 0; i < o->regexp.n && n < sizeof(r->pattern); i++)
        n += (size_t)snprintf(r->pattern + n, sizeof(r->pattern) - n, form, i ? between : "", o->regexp.item[i]);
    return n < sizeof(r->pattern);
}

static myth_status too_many(const search_opts *o, myth_error *err)
{
    return myth_fail(err, MYTH_EARG,
                     "search: -k (--top): got '%u', at most %d chunks are ranked; --mode literal or regex lists any "
                     "number of lines",
                     o->k, CHUNKS_MAX);
}

/* -C N is ripgrep's --context N; -C names a directory in every other command. */
static void read_context(request *r, myth_cli *cli, const search_opts *o)
{
    const myth_parsed *p = cli->parsed;
    uint32_t around = o->around;
    const char *given = cli->directory;
    if (given && given[0] && given[strspn(given, "0123456789")] == '\0') {
        around = strlen(given) < 10 ? (uint32_t)strtoul(given, NULL, 10) : UINT32_MAX;
        cli->directory = NULL;
    }
    r->before = myth_args_is_given(p, "before-context") ? o->before : around;
    r->after = myth_args_is_given(p, "after-context") ? o->after : around;
}

/* Opens the paths from argument number `first` on. */
static myth_status read_scopes(request *r, const myth_cli *cli, int first, myth_error *err)
{
    const int n = cli->n_arg > first ? cli->n_arg - first : 0;
    if (cli->directory && n)
        return myth_fail(err, MYTH_EARG, "search: the directory is given twice, by -C %.100s and as %.100s",
                         cli->directory, cli->arg[first]);
    const myth_status st = myth_scopes_open(&r->scopes, cli->mem, cli->directory, cli->arg + first, n, err);
    if (st == MYTH_ENOTFOUND && first && n > 1 && r->scopes.n == 0)
        return myth_fail(err, MYTH_EARG,
                         "search: there is no file or directory %.60s; put a QUERY of several words in quotes: \"%.60s "
                         "%.60s ...\"",
                         cli->arg[1], cli->arg[0], cli->arg[1]);
    return st;
}

static myth_status read_request(request *r, myth_cli *cli, const search_opts *o, myth_error *err)
{
    myth_status st;
    read_context(r, cli, o);
    const bool has_line_flag =
        o->fixed || o->ignore_case || o->is_word || o->count || o->hidden || o->no_ignore || r->before || r->after;
    r->mode = o->mode;
    if (o->regexp.n) {
        if (!join_patterns(r, o))
            return myth_fail(err, MYTH_EARG, "search: the expressions of --regexp are longer than %zu bytes",
                             sizeof(r->pattern) - 1);
        st = read_scopes(r, cli, 0, err);
        r->text = r->pattern;
        r->mode = o->fixed ? MODE_LITERAL : MODE_REGEX;
    } else {
        if (cli->n_arg == 0 || cli->arg[0][0] == '\0')
            return myth_fail(err, MYTH_EARG, "search: QUERY is missing; the command is mythos search QUERY [PATH...]");
        st = read_scopes(r, cli, 1, err);
        r->text = cli->arg[0];
        if (r->mode == MODE_AUTO && has_line_flag)
            r->mode = MODE_LITERAL;
    }
    if (st != MYTH_OK)
        return st;
    if (r->mode == MODE_REGEX ? myth_grep_wants_line_end((const unsigned char *)r->text, strlen(r->text))
                              : r->mode == MODE_LITERAL && !o->regexp.n && strchr(r->text, '\n'))
        return myth_fail(err, MYTH_EARG,
                         "search: lines are searched, and none has a line end in it; -F -e A -e B finds "
                         "lines with A or B");
    r->is_of_lines = r->mode == MODE_LITERAL || r->mode == MODE_REGEX;
    if (!r->is_of_lines && has_line_flag)
        return myth_fail(err, MYTH_EARG,
                         "search: --fixed-strings, --ignore-case, --word-regexp, --hidden, --no-ignore, --count and "
                         "--context find lines; "
                         "leave them out, or give --mode literal or regex");
    if (!r->is_of_lines && o->k > CHUNKS_MAX)
        return too_many(o, err);
    if (!r->is_of_lines && myth_scopes_check_below(&r->scopes, err) != MYTH_OK)
        return MYTH_EARG;
    if (o->lexical && o->embed_model)
        return myth_fail(err, MYTH_EARG, "search: --lexical and --embed-model exclude each other; leave one out");
    if (o->count && (o->files || o->paths))
        return myth_fail(err, MYTH_EARG,
                         "search: --count cannot be used with --files or --files-with-matches; leave one of them out");
    return MYTH_OK;
}

static int run_search(myth_cli *cli, const void *opts)
{
    const search_opts *o = opts;
    myth_error err = {0};
    myth_status st = MYTH_OK;
    answer a = {.is_name = false};
    request r = {.scopes = {0}};
    if ((o->corpus || o->queries) && o->k > CHUNKS_MAX)
        st = too_many(o, &err);
    if (o->corpus || o->queries)
        return st == MYTH_OK ? run_corpus(cli, o) : myth_cli_fail(cli, &err);
    if (read_request(&r, cli, o, &err) != MYTH_OK ||
        myth_search_check(&(myth_search_opts){.weights = o->weights}, &err) != MYTH_OK) {
        myth_scopes_close(&r.scopes);
        return myth_cli_fail(cli, &err);
    }
    bool by_lines = r.is_of_lines;
    if (!by_lines) {
        st = search_index(cli, o, r.text, &r.scopes, &a, &err);
        /* The query has no words, or no chunk has them: search the lines of the files for the text itself. */
        by_lines =
            r.mode == MODE_AUTO && (st == MYTH_EARG || (st == MYTH_OK && a.hits.n_hit == 0 && a.exact.n_row == 0));
    }
    bool found = a.hits.n_hit > 0;
    const bool is_list = o->files || o->paths || o->count; /* of files: no lines around others */
    myth_rows rows = {
        .cli = cli,
        .json = o->json,
        .only_files = o->files || o->paths,
        .only_paths = o->paths,
        .counts = o->count,
        .explain = o->explain,
        .is_name = a.is_name,
        .has_context = !is_list && (r.before || r.after),
    };
    if (by_lines) {
        const line_query q = {
            .text = r.text,
            .scopes = &r.scopes,
            .is_regex = r.mode == MODE_REGEX,
            .is_word = o->is_word,
            .before = is_list ? 0 : r.before,
            .after = is_list ? 0 : r.after,
            .max_rows = myth_args_is_given(cli->parsed, "top") ? o->k : 0,
        };
        st = search_lines(cli, o, &q, &rows, &err);
        found = rows.n_row > 0;
        if (st == MYTH_OK && !found && a.is_name && !rows.only_files)
            st = find_near(&a, r.text, &err);
        if (st == MYTH_OK && !found && (a.is_name ? !a.n_near : r.mode == MODE_AUTO))
            myth_term_note(cli->term, "%.200s: not found", r.text);
        else if (st == MYTH_OK && !found && a.is_name)
            put_near(&rows, &a);
    } else if (st == MYTH_OK && a.is_name) {
        st = put_name(&rows, o, &a, r.text, &r.scopes, &found, &err);
        if (st == MYTH_OK)
            st = myth_cli_note_unparsed(NULL, cli, a.index, &err);
    } else if (st == MYTH_OK) {
        myth_rows_hits(&rows, &a.hits, found, o->k);
    }
    myth_rows_close(&rows, st == MYTH_OK);
    /* The reason why vectors are not used is printed once for each index, with --explain, and when nothing was found.
     */
    if (a.off[0] && st == MYTH_OK && (o->explain || a.is_news || (!found && !o->lexical)))
        myth_term_note(cli->term, "semantic: off, because %s", a.off);
    close_answer(&a, cli);
    myth_scopes_close(&r.scopes);
    return st != MYTH_OK ? myth_cli_fail(cli, &err)
                         : myth_cli_answered(cli, found ? MYTH_EXIT_CLEAN : MYTH_EXIT_FINDINGS);
}

const myth_command myth_cmd_search = {
    .name = "search",
    .args = "QUERY [PATH...]",
    .help = "find lines by text or expression, or chunks of code by the words of a question",
    .detail = "A QUERY of one word is taken as a name: first come its definitions, then the lines that use it, those "
              "with the surest reason first, then chunks that have its words. Uses are what the parsers record (calls, "
              "types, arguments); mythos symbols NAME lists the other lines of code that have the name, too. A name "
              "that occurs nowhere is \"not "
              "found\": definitions with similar names follow, then at most three chunks by words (-k N), and the exit "
              "code is 1. Of a chunk the definition that matches is printed, with the lines that match best. "
              "The exit code is 1 when nothing is found, as with grep (a note says what was not searched), and 3 when "
              "a file or a directory could not be "
              "read. Of one DIR the paths are printed relative to it; several paths, or a file, are directories and "
              "files as they are typed, and a file that is named is searched whatever the filters say. With -A, -B or "
              "--context lines that match are printed as PATH:LINE:TEXT and those around them as PATH-LINE-TEXT. The "
              "index is created or brought up to date before the search. When it has vectors "
              "(mythos index --embed), a question is searched by its words and by its meaning; without them by its "
              "words, with a note on standard error. A name or a phrase is always searched by its words.",
    .group = search_groups,
    .n_group = 2,
    .opts_bytes = sizeof(search_opts),
    .max_arg = 4096,
    .run = run_search,
};
