/* test_index.c - an updated index equals a new one; what it stores is what the files contain; readers, writers,
 * versions, databases of other programs. */
#include "retrieval/git/git.h"
#include "index_tree.h"
#include "retrieval/store/fts_tokenizer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static myth_mem *mem;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

/* Nothing of any test may be left. */
static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static myth_index *opened(const char *tree, const char *db, bool is_read_only)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_opts opts = {.root = files_path(tree), .path = files_path(db), .is_read_only = is_read_only};
    if (myth_index_open(&x, mem, &opts, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    return x;
}

static myth_status try_open(const char *tree, const char *db, bool is_read_only, myth_error *err)
{
    myth_index *x = NULL;
    myth_index_opts opts = {.root = files_path(tree), .path = files_path(db), .is_read_only = is_read_only};
    myth_status st = myth_index_open(&x, mem, &opts, err);
    myth_index_close(x);
    return st;
}

/* ---- updates ---- */

static void update_equals_rebuild(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    myth_index_stats stats;
    uint32_t n = check_is_full() ? 60 : 6;
    tree_make("tree", 40, &rng);
    index_update("tree", "a.db", mem, &stats);
    assert_true(stats.n_added > 0 && stats.n_file == stats.n_added);
    index_equals_fresh("tree", "a.db", mem);
    for (uint32_t i = 0; i < n; i++) {
        tree_change("tree", 1 + check_below(&rng, 12), &rng);
        index_update("tree", "a.db", mem, &stats);
        index_equals_fresh("tree", "a.db", mem);
        index_update("tree", "a.db", mem, &stats);
        assert_int_equal(stats.n_added + stats.n_changed + stats.n_removed, 0);
    }
}

/* The text of every file is the file's, by blocks and by pieces; larger than a block, too. */
static void text_is_the_files(void **state)
{
    (void)state;
    enum { N = 3 * MYTH_BLOCK_BYTES + 77 };
    uint64_t rng = check_seed();
    unsigned char *want = malloc(N), *got = malloc(N);
    assert_true(want && got);
    for (int i = 0; i < N; i++)
        want[i] = check_below(&rng, 40) ? (unsigned char)(' ' + check_below(&rng, 90)) : '\n';
    files_mkdir("text");
    files_put("text/large.txt", want, N);
    files_put("text/empty.txt", "", 0);
    index_remove("t.db");
    myth_index *x = opened("text", "t.db", false);
    myth_index_stats stats;
    assert_int_equal(myth_index_update(x, NULL, &stats, NULL), MYTH_OK);
    assert_int_equal(stats.n_file, 2);
    assert_int_equal(stats.bytes, N);
    int64_t id = index_count(x, "SELECT id FROM files WHERE path = CAST(?1 AS BLOB)", "large.txt");
    for (int i = 0; i < 200; i++) {
        uint64_t off = check_below(&rng, N), n = check_below(&rng, (uint32_t)(N - off) + 1);
        assert_int_equal(myth_store_text(myth_index_store(x), got, id, off, n, NULL), MYTH_OK);
        assert_memory_equal(got, want + off, n);
    }
    assert_int_equal(myth_store_text(myth_index_store(x), got, id, N - 1, 2, NULL), MYTH_EFORMAT);
    myth_index_close(x);
    free(want);
    free(got);
}

/* A word is found when its file has it and not a moment longer; UTF-16 by its letters; bytes that are no UTF-8 as they
 * are. */
static void words_follow_files(void **state)
{
    (void)state;
    files_mkdir("words");
    files_text("words/a.txt", "zebraword stays\n");
    files_put("words/wide.txt", "\xff\xfeg\0i\0r\0a\0f\0f\0e\0w\0o\0r\0d\0\n\0", 26);
    files_put("words/bytes.txt", "okapi\xffword\n", 11);
    index_remove("w.db");
    myth_index *x = opened("words", "w.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_found(x, "\"zebraword\""), 1);
    assert_int_equal(index_found(x, "\"giraffeword\""), 1);
    assert_int_equal(index_found(x, "\"okapi\xffword\""), 1);
    assert_int_equal(index_found(x, "path:\"bytes\""), 1);
    files_text("words/a.txt", "camelword stays\n"); /* the same size, most likely the same second */
    unlink(files_path("words/wide.txt"));
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_found(x, "\"zebraword\""), 0);
    assert_int_equal(index_found(x, "\"camelword\""), 1);
    assert_int_equal(index_found(x, "\"giraffeword\""), 0);
    assert_int_equal(index_found(x, "\"okapi\xffword\""), 1);
    myth_index_close(x);
}

/* A number of SQLite at *at. */
static uint64_t number(const unsigned char *p, size_t n, size_t *at)
{
    uint64_t v = 0;
    do {
        assert_true(*at < n);
        v = v << 7 | (p[*at] & 0x7f);
    } while (p[(*at)++] & 0x80);
    return v;
}

/* The level on which FTS5 has the segment of these pages; -1 = none. *n: of all segments. */
static int level_of(myth_index *x, uint64_t id, uint64_t last, uint64_t *n)
{
    sqlite3_stmt *q;
    int found = -1;
    size_t at = 4;
    assert_int_equal(
        sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT block FROM fts_data WHERE id=10", -1, &q, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    const unsigned char *p = sqlite3_column_blob(q, 0);
    const size_t n_p = (size_t)sqlite3_column_bytes(q, 0);
    const uint64_t n_level = number(p, n_p, &at);
    *n = number(p, n_p, &at);
    number(p, n_p, &at);
    for (uint64_t level = 0; level < n_level; level++) {
        number(p, n_p, &at);
        for (uint64_t i = number(p, n_p, &at); i > 0; i--) {
            const uint64_t segment = number(p, n_p, &at), first = number(p, n_p, &at), to = number(p, n_p, &at);
            if (segment == id && first == 1 && (last == 0 || to == last))
                found = (int)level;
        }
    }
    assert_int_equal(at, n_p);
    sqlite3_finalize(q);
    return found;
}

/* The words of a whole directory are one segment, above those of small updates: twenty of them leave it as it is, in
 * one process and in several. */
static void words_stay_where_they_are(void **state)
{
    (void)state;
    char text[16 << 10], name[64];
    files_mkdir("many");
    for (int i = 0; i < 40; i++) {
        size_t n = 0;
        for (int k = 0; k < 300; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "the quick name%d_of%d has word%d\n", k, i, i * 300 + k);
        snprintf(name, sizeof(name), "many/f%d.txt", i);
        files_put(name, text, n);
    }
    files_text("many/z.txt", "z0\n");
    for (int is_one_process = 0; is_one_process < 2; is_one_process++) {
        uint64_t n = 0, n_problem = 0;
        index_remove("many.db");
        myth_index *x = opened("many", "many.db", false);
        assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
        const int64_t segment = index_count(x, "SELECT max(id >> 37) FROM fts_data", NULL);
        assert_int_equal(level_of(x, (uint64_t)segment, 0, &n), 1);
        assert_int_equal(n, 1);
        const int64_t n_page =
            index_count(x, "SELECT count(*) FROM fts_data WHERE id >> 37 > 0 AND (id >> 31) & 63 = 0", NULL);
        assert_true(n_page > 30);
        for (int i = 1; i <= 20; i++) {
            if (!is_one_process) {
                myth_index_close(x);
                x = opened("many", "many.db", false);
            }
            snprintf(name, sizeof(name), "changed%d and more%d\n", i, i);
            files_text("many/z.txt", name);
            assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
            snprintf(name, sizeof(name), "\"changed%d\"", i);
            assert_int_equal(index_found(x, name), 1);
            assert_int_equal(level_of(x, (uint64_t)segment, (uint64_t)n_page, &n), 1);
        }
        assert_int_equal(index_found(x, "\"name7_of9\""), 1);
        assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "many.db", &n_problem, NULL), MYTH_OK);
        myth_index_close(x);
    }
}

static off_t log_bytes(const char *db)
{
    struct stat st;
    char name[64];
    snprintf(name, sizeof(name), "%s-wal", db);
    return stat(files_path(name), &st) == 0 ? st.st_size : 0;
}

/* No log is left beside a closed index: whoever opens it next need not be us. */
static void no_log_is_left(void **state)
{
    (void)state;
    char text[16 << 10], name[64];
    files_mkdir("logged");
    for (int i = 0; i < 40; i++) {
        size_t n = 0;
        for (int k = 0; k < 300; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "the quick name%d_of%d has word%d\n", k, i, i * 300 + k);
        snprintf(name, sizeof(name), "logged/f%d.txt", i);
        files_put(name, text, n);
    }
    files_text("logged/z.txt", "z0\n");
    index_remove("logged.db");
    myth_index *x = opened("logged", "logged.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    myth_index_close(x);
    assert_int_equal(log_bytes("logged.db"), 0);
    for (int i = 1; i <= 30; i++) {
        snprintf(text, sizeof(text), "changed%d\n", i);
        files_text("logged/z.txt", text);
        x = opened("logged", "logged.db", false);
        assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
        myth_index_close(x);
        assert_int_equal(log_bytes("logged.db"), 0);
        x = opened("logged", "logged.db", true);
        snprintf(text, sizeof(text), "\"changed%d\"", i);
        assert_int_equal(index_found(x, text), 1);
        snprintf(text, sizeof(text), "\"changed%d\"", i - 1);
        assert_int_equal(index_found(x, text), 0);
        myth_index_close(x);
    }
}

static void count_line(void *n, const char *line)
{
    (void)line;
    ++*(uint64_t *)n;
}

/* Counts that are other than the rows are found. */
static void counts_are_checked(void **state)
{
    (void)state;
    static const char *const keys[] = {"n_file", "n_chunk", "n_symbol", "n_ref", "bytes", "n_lost"};
    files_mkdir("counted");
    files_text("counted/a.txt", "one two three\n");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uint64_t n_problem = 0, n_line = 0;
        char sql[80];
        index_remove("counted.db");
        myth_index *x = opened("counted", "counted.db", false);
        assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
        assert_int_equal(myth_index_check(x, count_line, &n_line, &n_problem, NULL), MYTH_OK);
        assert_int_equal(n_problem, 0);
        snprintf(sql, sizeof(sql), "UPDATE meta SET value = value + 1 WHERE key = '%s'", keys[i]);
        assert_int_equal(sqlite3_exec(myth_store_db(myth_index_store(x)), sql, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_changes(myth_store_db(myth_index_store(x))), 1);
        assert_int_equal(myth_index_check(x, count_line, &n_line, &n_problem, NULL), MYTH_OK);
        assert_int_equal(n_problem, 1);
        assert_int_equal(n_line, 1);
        myth_index_close(x);
    }
}

/* Of a long line the first words are indexed, and those of the next line; the note says so, the text is whole, and all
 * of it can be taken back. It is a loss where it is not usual: not in data, nor in what a test reads. */
static void deep_in_a_line(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *text = malloc(2 * N + 64);
    unsigned char *got = malloc(2 * N + 64);
    uint64_t n_problem = 1;
    myth_index_stats stats;
    assert_non_null(text);
    assert_non_null(got);
    size_t n = (size_t)sprintf(text, "antelopeword ");
    for (int i = 0; i < 2; i++) {
        for (; n < (size_t)(i + 1) * N; n += 4)
            memcpy(text + n, "123,", 4);
        n += (size_t)sprintf(text + n, i ? "\nbisonword\n" : " camelword ");
    }
    files_mkdir("deep");
    files_put("deep/a.txt", text, n);
    files_put("deep/b.json", text, n);
    files_mkdir("deep/tests");
    files_put("deep/tests/vectors.txt", text, n);
    files_text("deep/c.txt", "dingoword\n");
    index_remove("deep.db");
    myth_index *x = opened("deep", "deep.db", false);
    assert_int_equal(myth_index_update(x, NULL, &stats, NULL), MYTH_OK);
    assert_int_equal(stats.n_lost, 1);
    assert_int_equal(stats.n_unread, 0);
    assert_int_equal(index_found(x, "\"antelopeword\""), 3);
    assert_int_equal(index_found(x, "\"camelword\""), 0);
    assert_int_equal(index_found(x, "\"bisonword\""), 3);
    assert_int_equal(
        index_count(x, "SELECT count(*) FROM files WHERE path = CAST(?1 AS BLOB) AND note LIKE 'words: line 1%'",
                    "b.json"),
        1);
    assert_int_equal(index_found(x, "\"dingoword\""), 1);
    int64_t id = index_count(x,
                             "SELECT id FROM files WHERE path = CAST(?1 AS BLOB) "
                             "AND note LIKE 'words: line 1 is long; past its first 65536 bytes%'",
                             "a.txt");
    assert_true(id > 0);
    assert_int_equal(myth_store_text(myth_index_store(x), got, id, 0, n, NULL), MYTH_OK);
    assert_memory_equal(got, text, n);
    assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "deep.db", &n_problem, NULL), MYTH_OK);
    assert_int_equal(n_problem, 0);
    unlink(files_path("deep/b.json"));
    unlink(files_path("deep/tests/vectors.txt"));
    files_text("deep/a.txt", "elkword\n");
    assert_int_equal(myth_index_update(x, NULL, &stats, NULL), MYTH_OK);
    assert_int_equal(stats.n_lost, 0);
    assert_int_equal(index_found(x, "\"antelopeword\""), 0);
    assert_int_equal(index_found(x, "\"bisonword\""), 0);
    assert_int_equal(index_found(x, "\"elkword\""), 1);
    assert_int_equal(myth_index_check(x, fail_line, (void *)(uintptr_t) "deep.db", &n_problem, NULL), MYTH_OK);
    assert_int_equal(n_problem, 0);
    myth_index_close(x);
    free(text);
    free(got);
}

/* An edit in the tick of the clock in which the file was indexed has its size and its time: it is found all the same.
 */
static void same_size_same_time(void **state)
{
    (void)state;
    struct stat st;
    files_mkdir("racy");
    files_text("racy/a.txt", "first\n");
    assert_int_equal(stat(files_path("racy/a.txt"), &st), 0);
    index_remove("r.db");
    myth_index *x = opened("racy", "r.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    int fd = open(files_path("racy/a.txt"), O_WRONLY);
    assert_int_equal(pwrite(fd, "other\n", 6, 0), 6);
    struct timespec t[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(futimens(fd, t), 0);
    close(fd);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_found(x, "\"other\""), 1);
    assert_int_equal(index_found(x, "\"first\""), 0);
    myth_index_close(x);
}

static void no_files(void **state)
{
    (void)state;
    myth_error err = {0};
    files_mkdir("none");
    index_remove("n.db");
    myth_index *x = opened("none", "n.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "no files"));
    myth_index_close(x);
    assert_int_equal(try_open("missing", "m.db", false, &err), MYTH_ENOTFOUND);
    assert_int_equal(try_open("none", "m.db", true, &err), MYTH_ENOTFOUND);
    assert_int_not_equal(access(files_path("m.db"), F_OK), 0);
}

/* ---- readers and writers ---- */

static void reader_sees_one_update(void **state)
{
    (void)state;
    files_mkdir("snap");
    files_text("snap/a.txt", "beforeword\n");
    index_remove("s.db");
    myth_index *w = opened("snap", "s.db", false);
    assert_int_equal(myth_index_update(w, NULL, NULL, NULL), MYTH_OK);
    myth_index *r = opened("snap", "s.db", true);
    assert_int_equal(myth_store_read_begin(myth_index_store(r), NULL), MYTH_OK);
    files_text("snap/a.txt", "afterword, longer\n");
    assert_int_equal(myth_index_update(w, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_found(r, "\"beforeword\""), 1);
    assert_int_equal(index_found(r, "\"afterword\""), 0);
    assert_int_equal(index_count(r, "SELECT length(span(file_id, off, bytes)) FROM chunks", NULL), 11);
    myth_store_read_end(myth_index_store(r));
    assert_int_equal(index_found(r, "\"beforeword\""), 0);
    assert_int_equal(index_found(r, "\"afterword\""), 1);
    assert_int_equal(index_count(r, "SELECT length(span(file_id, off, bytes)) FROM chunks", NULL), 18);
    assert_int_equal(myth_index_update(r, NULL, NULL, NULL), MYTH_EARG);
    myth_index_close(r);
    myth_index_close(w);
}

static void second_writer_waits(void **state)
{
    (void)state;
    myth_error err = {0};
    char who[32];
    files_mkdir("lock");
    files_text("lock/a.txt", "a word\n");
    index_remove("l.db");
    myth_index *x = opened("lock", "l.db", false);
    int fd = open(files_path("l.db.lock"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    assert_int_equal(pwrite(fd, "4711\n", 5, 0), 5);
    assert_int_equal(myth_index_update(x, &(myth_index_update_opts){.wait_ms = 60}, NULL, &err), MYTH_ELOST);
    snprintf(who, sizeof(who), "process %d ", 4711);
    assert_non_null(strstr(err.msg, who));
    close(fd);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    myth_index_close(x);
}

/* Two processes at once: both end well, and the index is whole. */
static void two_processes(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    pid_t child[2];
    tree_make("two", 30, &rng);
    index_remove("2.db");
    for (int i = 0; i < 2; i++)
        if ((child[i] = fork()) == 0) {
            myth_index *x = NULL;
            myth_index_opts opts = {
                .root = files_path("two"),
                .path = files_path("2.db"),
                .n_threads = 1,
                .worker_path = getenv("MYTHOS_BIN"),
            };
            myth_status st = myth_index_open(&x, mem, &opts, NULL);
            if (st == MYTH_OK)
                st = myth_index_update(x, NULL, NULL, NULL);
            myth_index_close(x);
            _exit((int)st);
        }
    for (int i = 0; i < 2; i++) {
        int st;
        assert_int_equal(waitpid(child[i], &st, 0), child[i]);
        assert_true(WIFEXITED(st));
        assert_int_equal(WEXITSTATUS(st), MYTH_OK);
    }
    myth_index_stats stats;
    index_update("two", "2.db", mem, &stats);
    index_equals_fresh("two", "2.db", mem);
}

static void cancelled(void **state)
{
    (void)state;
    myth_cancel stop = 1;
    uint64_t rng = check_seed();
    tree_make("stop", 10, &rng);
    index_remove("c.db");
    myth_index *x = opened("stop", "c.db", false);
    assert_int_equal(myth_index_update(x, &(myth_index_update_opts){.is_cancelled = &stop}, NULL, NULL), MYTH_ECANCEL);
    assert_int_equal(index_count(x, "SELECT count(*) FROM files", NULL), 0);
    myth_index_close(x);
}

/* ---- other databases ---- */

static void run_sql(const char *db, const char *sql)
{
    sqlite3 *d;
    char *text = NULL;
    assert_int_equal(sqlite3_open_v2(files_path(db), &d, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "mythos-pages"),
                     SQLITE_OK);
    if (sqlite3_exec(d, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
    sqlite3_close(d);
}

static void other_versions(void **state)
{
    (void)state;
    myth_error err = {0};
    files_mkdir("ver");
    files_text("ver/a.txt", "a word\n");
    index_remove("v.db");
    myth_index *x = opened("ver", "v.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    myth_index_close(x);
    run_sql("v.db", "PRAGMA user_version=999");
    assert_int_equal(try_open("ver", "v.db", true, &err), MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "another version"));
    x = opened("ver", "v.db", false);
    assert_int_equal(index_count(x, "SELECT count(*) FROM files", NULL), 0);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_count(x, "SELECT count(*) FROM files", NULL), 1);
    myth_index_close(x);
}

/* A planted trigger: refused, and an update makes the index anew. Another program's database, a text file: refused,
 * and left as they are. */
static void not_an_index(void **state)
{
    (void)state;
    myth_error err = {0};
    files_mkdir("not");
    files_text("not/a.txt", "a word\n");
    index_remove("x.db");
    assert_int_equal(try_open("not", "x.db", false, &err), MYTH_OK);
    run_sql("x.db", "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END");
    for (int ro = 1; ro >= 0; ro--) { /* who writes makes it anew */
        assert_int_equal(try_open("not", "x.db", ro, &err), ro ? MYTH_EFORMAT : MYTH_OK);
        if (ro)
            assert_int_equal(err.remedy, MYTH_REMEDY_REBUILD_INDEX);
    }
    index_remove("x.db");
    files_text("x.db", "this is a text of more than one hundred bytes, and it was here before anybody wanted an index: "
                       "it must not be lost, whatever is asked.\n");
    assert_int_equal(try_open("not", "x.db", false, &err), MYTH_EFORMAT);
    struct stat st;
    assert_int_equal(stat(files_path("x.db"), &st), 0);
    assert_true(st.st_size > 100);
    index_remove("x.db");
    sqlite3 *d;
    assert_int_equal(sqlite3_open(files_path("x.db"), &d), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d, "CREATE TABLE precious(a); INSERT INTO precious VALUES(1)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(d);
    assert_int_equal(try_open("not", "x.db", false, &err), MYTH_EFORMAT);
    assert_int_equal(sqlite3_open(files_path("x.db"), &d), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d, "SELECT * FROM precious", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(d);
}

/* ---- history ---- */

static git_oid commit_files(git_repository *repo, int64_t when, const char *const *names, const git_oid *parent)
{
    git_index *index;
    git_tree *tree;
    git_signature *who;
    git_oid id, tree_id;
    git_commit *before = NULL;
    assert_int_equal(git_repository_index(&index, repo), 0);
    for (; *names; names++)
        assert_int_equal(git_index_add_bypath(index, *names), 0);
    assert_int_equal(git_index_write(index), 0);
    assert_int_equal(git_index_write_tree(&tree_id, index), 0);
    assert_int_equal(git_tree_lookup(&tree, repo, &tree_id), 0);
    assert_int_equal(git_signature_new(&who, "a", "a@b.c", when, 0), 0);
    if (parent)
        assert_int_equal(git_commit_lookup(&before, repo, parent), 0);
    const git_commit *parents[] = {before};
    assert_int_equal(git_commit_create(&id, repo, "HEAD", who, who, NULL, "message", tree, parent ? 1 : 0, parents), 0);
    git_commit_free(before);
    git_signature_free(who);
    git_tree_free(tree);
    git_index_free(index);
    return id;
}

/* Commits and the last one's time, by file; counted again when HEAD moves; also below the repository's root; gone when
 * the repository is. */
static void history(void **state)
{
    (void)state;
    git_repository *repo;
    char line[128];
    assert_int_equal(myth_git_start(NULL), MYTH_OK);
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    files_mkdir("git");
    files_mkdir("git/sub");
    files_text("git/a.txt", "one\n");
    files_text("git/sub/b.txt", "one\n");
    assert_int_equal(git_repository_init(&repo, files_path("git"), 0), 0);
    git_oid id = commit_files(repo, 1000, (const char *const[]){"a.txt", "sub/b.txt", NULL}, NULL);
    files_text("git/sub/b.txt", "two\n");
    id = commit_files(repo, 2000, (const char *const[]){"sub/b.txt", NULL}, &id);
    index_remove("h.db");
    index_remove("hs.db");
    myth_index *x = opened("git", "h.db", false), *sub = opened("git/sub", "hs.db", false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(myth_index_update(sub, NULL, NULL, NULL), MYTH_OK);
    static const char get[] =
        "SELECT n_commit * 10000 + last_time FROM history JOIN files ON files.id=file_id WHERE path=CAST(?1 AS BLOB)";
    assert_int_equal(index_count(x, get, "a.txt"), 11000);
    assert_int_equal(index_count(x, get, "sub/b.txt"), 22000);
    assert_int_equal(index_count(sub, get, "b.txt"), 22000);
    files_text("git/a.txt", "three\n");
    files_text("git/new.txt", "new\n");
    id = commit_files(repo, 3000, (const char *const[]){"a.txt", "new.txt", NULL}, &id);
    files_text("git/later.txt", "no commit has it\n");
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_count(x, get, "a.txt"), 23000);
    assert_int_equal(index_count(x, get, "sub/b.txt"), 22000);
    assert_int_equal(index_count(x, get, "new.txt"), 13000);
    assert_int_equal(index_count(x, "SELECT count(*) FROM history", NULL), 3);
    git_repository_free(repo);
    snprintf(line, sizeof(line), "rm -rf '%s'", files_path("git/.git"));
    assert_int_equal(system(line), 0);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(index_count(x, "SELECT count(*) FROM history", NULL), 0);
    myth_index_close(sub);
    myth_index_close(x);
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    myth_git_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_equals_rebuild),
        cmocka_unit_test(text_is_the_files),
        cmocka_unit_test(words_follow_files),
        cmocka_unit_test(deep_in_a_line),
        cmocka_unit_test(words_stay_where_they_are),
        cmocka_unit_test(no_log_is_left),
        cmocka_unit_test(counts_are_checked),
        cmocka_unit_test(same_size_same_time),
        cmocka_unit_test(no_files),
        cmocka_unit_test(reader_sees_one_update),
        cmocka_unit_test(second_writer_waits),
        cmocka_unit_test(two_processes),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(not_an_index),
        cmocka_unit_test(history),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
