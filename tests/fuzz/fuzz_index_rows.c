/* fuzz_index_rows.c - an index with correct checksums and any values in any of its rows: everything that reads it
 * answers, finds nothing, or reports damage, and the next update succeeds. fuzz_rows.h has the form of the input. */
#include "fuzz_rows.h"

#include "retrieval/map/repomap.h"
#include "retrieval/map/summaries.h"
#include "retrieval/names/usage.h"
#include "retrieval/rank/topic.h"
#include "retrieval/retrieval.h"
#include "retrieval/store/page_vfs.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITH_UPDATE = 1 }; /* of the input's flags */

static const char *const table[] = {"files",   "chunks",   "definitions", "names",       "refs",      "history",
                                    "commits", "blocks",   "facts",       "links",       "ranks",     "summaries",
                                    "meta",    "fts_data", "fts_idx",     "fts_docsize", "fts_config"};
enum { N_TABLE = sizeof(table) / sizeof(table[0]), FTS_DATA = 13 };

static myth_mem *mem;

static void must(myth_status st, const char *what, const myth_error *err)
{
    if (st != MYTH_OK) {
        fprintf(stderr, "%s: status %d: %s\n", what, (int)st, err->msg);
        abort();
    }
}

/* SQLite's full-text index believes the lengths in its own pages and asks for that much memory. */
static bool is_fts_planted(void) { return (rows_touched >> FTS_DATA & 1) != 0; }

static void expect(myth_status st, const char *what, const myth_error *err)
{
    if (st != MYTH_OK && (st != MYTH_ENOMEM || !is_fts_planted()) && st != MYTH_EFORMAT && st != MYTH_ENOTFOUND)
        must(st, what, err);
    if (st != MYTH_OK && !err->msg[0])
        abort();
}

static myth_status open_it(myth_index **x, bool is_read_only, const char *worker_path, myth_error *err)
{
    return myth_index_open(x, mem,
                           &(myth_index_opts){.root = rows_path("p"),
                                              .path = rows_path("p.db"),
                                              .worker_path = worker_path,
                                              .n_threads = 1,
                                              .is_read_only = is_read_only},
                           err);
}

/* ---- the valid index ---- */

static void make_tree(void)
{
    mkdir(rows_path("p"), 0700);
    rows_text("p/parse.h", "#pragma once\nint parse_buffer(const char *text, int n);\nstruct buffer { int n; };\n");
    rows_text("p/parse.c", "#include \"parse.h\"\n\n/* Parses a buffer. */\nint parse_buffer(const char *text, int n)\n"
                           "{\n    return n > 0 ? text[0] : system(text);\n}\n\nstatic int helper(int a)\n{\n"
                           "    return parse_buffer(\"x\", a);\n}\n");
    rows_text("p/test_parse.c", "#include \"parse.h\"\n\nint test_parse(void)\n{\n    return parse_buffer(\"\", 0) == "
                                "0;\n}\n");
    rows_text("p/tool.py",
              "import os\nimport parse\n\n\ndef main(path):\n    \"\"\"Counts the buffer of a file.\"\"\"\n"
              "    return parse.parse_buffer(os.read(path))\n");
    rows_text("p/README.md", "# Parsing\n\nThe parser reads a buffer of text.\n");
    rows_text("p/changed.txt", "the buffer of the parser\n");
}

static void make_index(void)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_stats stats;
    myth_repomap *m = NULL;
    make_tree();
    must(open_it(&x, false, "/proc/self/exe", &err), "open", &err);
    must(myth_index_update(x, NULL, &stats, &err), "update", &err);
    must(myth_repomap_open(&m, mem, x, NULL, &err), "map", &err);
    myth_repomap_close(m);
    must(myth_repomap_put_summary(x, "tool.py", "counts the buffer of a file", &err), "summary", &err);
    rows_run(rows_query(myth_store_db(myth_index_store(x)), "INSERT INTO history SELECT id, 1, 1 FROM files"));
    myth_index_close(x);
    if (stats.n_symbol < 4 || stats.n_ref < 3) {
        fprintf(stderr, "the index has no symbols and uses to plant into\n");
        abort();
    }
    rows_keep("p.db");
    rows_text("p/changed.txt", "the buffer of the parser, changed\n");
}

/* The parsers' process of the valid index is this program. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc > 1 && strcmp((*argv)[1], "--chunk-worker") == 0)
        _exit(myth_chunk_worker(NULL));
    return 0;
}

/* ---- readers ---- */

static bool go_on(void *arg, const myth_repomap_file *f)
{
    (void)arg;
    return f->path != NULL;
}

static myth_status count_bytes(void *arg, const char *text, size_t n, uint64_t *n_token, myth_error *err)
{
    (void)arg, (void)text, (void)err;
    *n_token = n / 4;
    return MYTH_OK;
}

static void drop_line(void *arg, const char *line) { (void)arg, (void)line; }

static void read_search(myth_index *x, const char *query, myth_search_mode mode)
{
    myth_error err = {0};
    myth_hits hits = {0};
    const myth_search_opts opts = {.query = query, .mode = mode, .k = 10, .with_text = true};
    expect(myth_search(&hits, x, &opts, &err), "search", &err);
    myth_hits_free(&hits);
}

static void read_topic(myth_index *x)
{
    myth_error err = {0};
    myth_hits hits = {0};
    uint32_t n_taken = 0;
    const myth_search_opts opts = {.query = "how does the parser read a buffer"};
    expect(myth_topic(&hits, &n_taken, x, &opts, 5, &err), "topic", &err);
    myth_hits_free(&hits);
}

static void read_names(myth_index *x)
{
    myth_error err = {0};
    myth_usage usage = {0};
    myth_usage_around around;
    myth_near near[4];
    uint32_t n = 0;
    bool is_found;
    expect(myth_usage_find_all(&usage, x, "parse_buffer", NULL, &err), "symbols", &err);
    myth_usage_free(&usage);
    expect(myth_usage_around_line(&around, &is_found, x, "parse.c", 5, &err), "around", &err);
    expect(myth_usage_nearest(near, 4, &n, x, "parse_bufer", &err), "nearest", &err);
}

/* With the summaries. */
static void read_map(myth_index *x, const char *query)
{
    myth_error err = {0};
    myth_repomap *m = NULL;
    myth_repomap_page page = {0};
    const myth_repomap_opts opts = {.query = query, .with_summaries = true};
    const myth_repomap_budget budget = {.count = count_bytes, .max_token = 500};
    myth_status st = myth_repomap_open(&m, mem, x, &opts, &err);
    if (st == MYTH_OK)
        st = myth_repomap_each(m, go_on, NULL, &err);
    if (st == MYTH_OK)
        st = myth_repomap_text(&page, m, &budget, &err);
    expect(st, "map", &err);
    myth_repomap_page_free(&page, mem);
    myth_repomap_close(m);
}

static void read_all(void)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_stats stats;
    uint64_t n_problem;
    const myth_status st = open_it(&x, true, NULL, &err);
    expect(st, "open", &err);
    if (st == MYTH_OK) {
        read_search(x, "parse buffer parser", MYTH_SEARCH_RANKED);
        read_search(x, "\"buffer of the parser\"", MYTH_SEARCH_PHRASE);
        read_search(x, "parse_bufer parsre", MYTH_SEARCH_RANKED);
        read_topic(x);
        read_names(x);
        read_map(x, NULL);
        read_map(x, "buffer");
        expect(myth_index_last(x, &stats, &err), "last", &err);
        expect(myth_index_check(x, drop_line, NULL, &n_problem, &err), "check", &err);
    }
    myth_index_close(x);
}

/* A file has changed since, so that rows are dropped and put. */
static void update_it(void)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_status st = open_it(&x, false, NULL, &err);
    if (st == MYTH_OK)
        st = myth_index_update(x, NULL, NULL, &err);
    if (st != MYTH_ENOMEM || !is_fts_planted())
        must(st, "update", &err);
    myth_index_close(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, size};
    if (size > 4096 || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    if (!rows_n_whole) {
        rows_begin();
        make_index();
    }
    const unsigned flags = (unsigned)take(&in, 1);
    rows_plant("p.db", MYTH_PAGE_VFS, table, N_TABLE, &in);
    read_all();
    if (flags & WITH_UPDATE)
        update_it();
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
