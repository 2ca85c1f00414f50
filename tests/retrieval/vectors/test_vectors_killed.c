/* test_vectors_killed.c - `mythos index --embed-model` is killed at random times and given again, until it ends: what
 * it had embedded is never embedded again, and index, vectors and answers are those of a run that nobody killed. */
#include "tests/frontend/cli/cli_run.h"
#include "tests/retrieval/index/index_tree.h"
#include "retrieval/vectors/vectors.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <time.h>

#define MODEL "random:embeddinggemma-tiny:f32"

enum { N_FILE = 300, HEAD = 512, KEY = 8, SUM = 8, BATCH = 64 };

static cli_result r;
static myth_mem *mem;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every file is one text of its own; a few are twice there. */
static void make_tree(void)
{
    files_mkdir("t");
    for (int i = 0; i < N_FILE; i++) {
        char name[64], text[300];
        const int number = i % 50 == 49 ? i - 1 : i;
        snprintf(name, sizeof(name), "t/f%d.c", i);
        snprintf(text, sizeof(text),
                 "int %s_%d(int n)\n{\n    return n + %d; /* %s of the %s stands here %d times, with some words to "
                 "read */\n}\n",
                 words[number % N_WORD], number, number, words[number / 7 % N_WORD], words[number / 5 % N_WORD],
                 number);
        files_text(name, text);
    }
}

/* ---- what an index has ---- */

/* The database, below files_dir; false: there is none. */
static bool find_db(char name[PATH_CAP], const char *cache)
{
    char pattern[PATH_CAP];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/mythos/*/index-*.db", files_path(cache));
    const bool has = glob(pattern, 0, NULL, &found) == 0;
    if (has) {
        assert_int_equal(found.gl_pathc, 1);
        snprintf(name, PATH_CAP, "%s", found.gl_pathv[0] + strlen(files_path(cache)) - strlen(cache));
        globfree(&found);
    }
    return has;
}

typedef struct {
    unsigned char *data; /* the records, whole ones only */
    size_t n, bytes;     /* their number; of one */
} kept;

static int rising(const void *a, const void *b) { return memcmp(a, b, KEY); }

static void read_kept(kept *k, const char *cache)
{
    char name[PATH_CAP], path[PATH_CAP];
    uint32_t dim = 0;
    unsigned char head[HEAD];
    *k = (kept){.n = 0};
    if (!find_db(name, cache))
        return;
    snprintf(path, sizeof(path), "%.480s.embeddings", files_path(name));
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    if (fread(head, 1, HEAD, f) == HEAD) {
        memcpy(&dim, head + 12, 4);
        assert_true(dim > 0 && dim < 2000);
        k->bytes = KEY + 2 * (size_t)dim + SUM;
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        k->n = ((size_t)ftell(f) - HEAD) / k->bytes;
        assert_non_null(k->data = malloc(k->n * k->bytes + 1));
        assert_int_equal(fseek(f, HEAD, SEEK_SET), 0);
        assert_int_equal(fread(k->data, k->bytes, k->n, f), k->n);
        qsort(k->data, k->n, k->bytes, rising);
    }
    fclose(f);
}

static size_t n_kept(const char *cache)
{
    kept k;
    read_kept(&k, cache);
    free(k.data);
    return k.n;
}

/* The cosines of every chunk and some questions, to the last bit, by place. */
static void dump_vectors(bytes *out, const char *db)
{
    myth_error err = {0};
    myth_vectors *v = NULL;
    sqlite3_stmt *q;
    uint64_t rng = 5;
    myth_index *x = open_index("t", db, mem, true);
    if (myth_vectors_open(&v, x, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    const uint32_t dim = myth_vectors_about(v)->dim;
    float *asked = calloc(dim, sizeof(*asked));
    assert_non_null(asked);
    for (uint32_t d = 0; d < dim; d++)
        asked[d] = (float)check_unit(&rng) - 0.5f;
    assert_int_equal(sqlite3_prepare_v2(myth_store_db(myth_index_store(x)),
                                        "SELECT chunks.id, chunks.hash, path, off FROM chunks JOIN files ON files.id = "
                                        "file_id ORDER BY path, off",
                                        -1, &q, NULL),
                     SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        char line[PATH_CAP];
        uint64_t content;
        float score = 0;
        memcpy(&content, sqlite3_column_blob(q, 1), 8);
        const bool has = myth_vectors_score(v, asked, sqlite3_column_int64(q, 0), content, &score);
        snprintf(line, sizeof(line), "%.*s:%lld %s %a\n", sqlite3_column_bytes(q, 2),
                 (const char *)sqlite3_column_blob(q, 2), (long long)sqlite3_column_int64(q, 3), has ? "has" : "lacks",
                 (double)score);
        bytes_text(out, line);
    }
    sqlite3_finalize(q);
    free(asked);
    myth_vectors_close(v);
    myth_index_close(x);
}

/* What the index says: its rows, without problems; its vectors; answers; the names of its files, without numbers. */
static void dump(bytes *out, const char *cache)
{
    char name[PATH_CAP], line[PATH_CAP * 2];
    kept k;
    assert_true(find_db(name, cache));
    index_dump(out, "t", name, mem);
    dump_vectors(out, name);
    read_kept(&k, cache);
    bytes_put(out, k.data, k.n * k.bytes);
    free(k.data);
    snprintf(
        line, sizeof(line),
        "export XDG_CACHE_HOME='%s'; for q in 'the count of a session' 'how is a request parsed' 'buffer error'; "
        "do $M search \"$q\" '%s' --json || exit 9; done; ls $XDG_CACHE_HOME/mythos/* | sed 's/vectors-.*/vectors/'",
        files_path(cache), files_path("t"));
    cli_shell(&r, line);
    if (r.code)
        fail_msg("%s", r.err);
    bytes_text(out, r.out);
}

/* ---- kills ---- */

/* Runs the command; after some seconds it is killed. Returns whether it was. */
static bool run_and_kill(const char *cache, double after)
{
    char xdg[PATH_CAP], tree[PATH_CAP];
    int st;
    snprintf(xdg, sizeof(xdg), "%s", files_path(cache));
    snprintf(tree, sizeof(tree), "%s", files_path("t"));
    fflush(NULL);
    const pid_t p = fork();
    if (p == 0) {
        const int null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        setenv("XDG_CACHE_HOME", xdg, 1);
        execl(cli_bin(), cli_bin(), "index", tree, "-t", "1", "--embed-model", MODEL, (char *)NULL);
        _exit(127);
    }
    usleep((useconds_t)(1e6 * after));
    kill(p, SIGKILL);
    assert_int_equal(waitpid(p, &st, 0), p);
    if (WIFEXITED(st) && WEXITSTATUS(st) != 0)
        fail_msg("index ended with %d", WEXITSTATUS(st));
    return WIFSIGNALED(st);
}

/* The command to its end; returns how many texts it embedded. */
static size_t run_whole(const char *cache, const char *model)
{
    char line[PATH_CAP * 2];
    snprintf(line, sizeof(line), "XDG_CACHE_HOME='%s' $M index '%s' -t 1 --json -q --embed-model %s", files_path(cache),
             files_path("t"), model);
    cli_shell(&r, line);
    if (r.code)
        fail_msg("exit %d: %s", r.code, r.err);
    json_error_t e;
    json_t *j = json_loads(r.out, 0, &e);
    assert_non_null(j);
    assert_string_equal(json_string_value(json_object_get(j, "semantic")), "on");
    assert_int_equal(cli_number(j, "vectors.missing"), 0);
    const size_t n = (size_t)cli_number(j, "vectors.embedded");
    json_decref(j);
    return n;
}

static void remove_cache(const char *cache)
{
    char line[PATH_CAP];
    snprintf(line, sizeof(line), "rm -rf '%s'", files_path(cache));
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
}

/* An index that can be read has no problem. */
static void check_left(const char *cache)
{
    char name[PATH_CAP];
    myth_error err = {0};
    myth_index *x = NULL;
    uint64_t n_problem = 0;
    if (!find_db(name, cache))
        return;
    const myth_index_opts opts = {.root = files_path("t"), .path = files_path(name), .is_read_only = true};
    const myth_status st = myth_index_open(&x, mem, &opts, &err);
    if (st == MYTH_ENOTFOUND)
        return; /* killed before it had tables */
    if (st != MYTH_OK || myth_index_check(x, fail_line, name, &n_problem, &err) != MYTH_OK)
        fail_msg("after a kill: %s", err.msg);
    myth_index_close(x);
}

static void a_killed_command_goes_on(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    const uint32_t n_kill = check_is_full() ? 200 : check_sample(8);
    uint32_t n_killed = 0, n_partly = 0, n_ended = 0, n_sequence = 0;
    bytes want = {0};
    const double start = seconds();
    const size_t n_text = run_whole("whole", MODEL);
    double whole = seconds() - start;
    assert_true(n_text > 3 * BATCH && n_text < N_FILE && n_kept("whole") == n_text);
    dump(&want, "whole");
    while (n_killed < n_kill || (n_partly == 0 && n_killed < n_kill + 400)) {
        bytes got = {0};
        size_t before = 0;
        bool was_killed = true;
        remove_cache("killed");
        while (was_killed && check_below(&rng, 8) && (n_killed < n_kill || n_partly == 0)) {
            /* what is left to do */
            const double left = whole * (0.1 + 1.0 - (double)before / (double)n_text);
            was_killed = run_and_kill("killed", left * (double)check_unit(&rng));
            const size_t now = n_kept("killed");
            assert_true(now >= before && now <= n_text);
            n_partly += was_killed && now > before && now < n_text;
            n_killed += was_killed;
            n_ended += !was_killed;
            whole *= was_killed ? 1.05 : 0.7; /* how fast the machine is now */
            before = now;
            check_left("killed");
        }
        assert_int_equal(run_whole("killed", MODEL) + before, n_text);
        dump(&got, "killed");
        if (got.len != want.len || memcmp(got.data, want.data, got.len) != 0) {
            size_t k = 0;
            while (k < got.len && k < want.len && got.data[k] == want.data[k])
                k++;
            fail_msg("after %u kills, byte %zu of %zu, of the whole run %zu: %.160s", n_killed, k, got.len, want.len,
                     (char *)got.data + (k > 80 ? k - 80 : 0));
        }
        bytes_free(&got);
        n_sequence++;
    }
    bytes_free(&want);
    print_message("%u kills of %u indexes, %u of them with some new vectors, %u ended before\n", n_killed, n_sequence,
                  n_partly, n_ended);
    assert_true(n_killed >= n_kill && n_partly > 0);
}

/* What a model had embedded when it was killed is not taken for another's. */
static void another_model_begins_anew(void **state)
{
    (void)state;
    static const char other[] = "random:embeddinggemma-tiny:bf16";
    bytes want = {0}, got = {0};
    remove_cache("whole");
    remove_cache("killed");
    const double start = seconds();
    const size_t n_text = run_whole("whole", other);
    double after = 0.5 * (seconds() - start);
    dump(&want, "whole");
    for (int i = 0; i < 20 && (n_kept("killed") == 0 || n_kept("killed") == n_text); i++) {
        if (n_kept("killed") == n_text)
            remove_cache("killed");
        run_and_kill("killed", after);
        after *= n_kept("killed") ? 0.8 : 1.2;
    }
    assert_true(n_kept("killed") > 0);
    assert_int_equal(run_whole("killed", other), n_text);
    dump(&got, "killed");
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, got.len);
    bytes_free(&got);
    bytes_free(&want);
}

static int begin(void **state)
{
    if (cli_begin(state) != 0 || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return -1;
    make_tree();
    return 0;
}

static int end(void **state) { return cli_end(state) == 0 && myth_mem_close(mem) == 0 ? 0 : -1; }

int main(void)
{
    if (!myth_vectors_is_built()) {
        printf("skipped: this build has no FAISS\n");
        return CHECK_SKIP;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_killed_command_goes_on),
                                       cmocka_unit_test(another_model_begins_anew)};
    return cmocka_run_group_tests(tests, begin, end);
}
