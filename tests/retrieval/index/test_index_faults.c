/* test_index_faults.c - the index when things go wrong: kill -9 at any moment, flipped bytes, a full disk, a
 * directory without write permission.
 *
 * Kill    a child process updates and is killed at one of the calls that change a file, or at a random moment. Then
 *         the index must open undamaged and hold the state before or after the update
 * Flip    a byte of the database is changed: every read must be as before or an error. If all reads are as before,
 *         the check must find the byte, or it must lie where nothing is read */
#include "index_tree.h"
#include "kill_at.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static myth_mem *mem;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wait_s(double s)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)}, NULL);
}

/* In a child: opens and updates, without a word about how. first_bytes: as myth_index_update. */
static myth_status update_quietly(const char *tree, const char *db, uint64_t first_bytes, myth_error *err)
{
    myth_index *x = NULL;
    const myth_index_update_opts how = {.first_bytes = first_bytes};
    myth_index_opts opts = {
        .root = files_path(tree),
        .path = files_path(db),
        .worker_path = getenv("MYTHOS_BIN"),
        .n_threads = 2,
    };
    myth_status st = myth_index_open(&x, mem, &opts, err);
    if (st == MYTH_OK)
        st = myth_index_update(x, &how, NULL, err);
    myth_index_close(x);
    return st;
}

static void check_whole(const char *tree, const char *db)
{
    bytes b = {0};
    index_dump(&b, tree, db, mem);
    bytes_free(&b);
}

/* ---- kill -9 ---- */

static void killed(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    const uint32_t n = check_is_full() ? 200 : 12;
    kill_run run[2];
    kill_tally tally = {0};
    double whole[2];
    myth_index_stats stats;
    tree_make("kill", 60, &rng);
    kill_open();
    for (int k = 0; k < 2; k++) { /* made, updated: how long, and by how many calls */
        if (k)
            tree_change("kill", 30, &rng);
        const double start = now_s();
        kill_begin(0, 0);
        index_update("kill", "k.db", mem, &stats);
        run[k] = kill_run_of();
        whole[k] = now_s() - start;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int k = i % 2;
        const bool by_clock = i / 2 % 4 == 3;
        if (k == 0)
            index_remove("k.db");
        else
            tree_change("kill", 30, &rng);
        kill_begin(by_clock ? 0 : 1 + check_below(&rng, run[k].n + run[k].n / 16), check_below(&rng, 1000));
        pid_t child = fork();
        if (child == 0) {
            update_quietly("kill", "k.db", i / 8 % 2, NULL); /* a first update with a log, and one without */
            _exit(0);
        }
        if (by_clock) {
            wait_s(1.1 * whole[k] * (double)check_unit(&rng));
            kill(child, SIGKILL);
        }
        int st;
        assert_int_equal(waitpid(child, &st, 0), child);
        kill_end();
        kill_note(&tally, WIFSIGNALED(st));
        if (by_clock) /* how fast the machine is now */
            whole[k] *= WIFSIGNALED(st) ? 1.1 : 0.6;
        myth_error err = {0};
        myth_index *x = NULL;
        myth_index_opts opts = {.root = files_path("kill"), .path = files_path("k.db"), .is_read_only = true};
        const myth_status by_reader = myth_index_open(&x, mem, &opts, &err);
        if (by_reader != MYTH_OK && by_reader != MYTH_ENOTFOUND)
            fail_msg("kill %u: a reader: %s", i, err.msg);
        myth_index_close(x);
        opts.is_read_only = false;
        if (myth_index_open(&x, mem, &opts, &err) !=
            MYTH_OK) /* for writing: what a killed first run left may be no index yet */
            fail_msg("kill %u: %s", i, err.msg);
        myth_index_close(x);
        check_whole("kill", "k.db");
        index_update("kill", "k.db", mem, &stats);
        index_equals_fresh("kill", "k.db", mem);
    }
    kill_print(&tally, n);
    kill_close();
    assert_true(tally.n_ended < n / 2 && tally.n[KILL_WAL][KILL_WRITE] > 0);
}

/* ---- flipped bytes ---- */

static unsigned char *slurp(const char *db, size_t *n)
{
    FILE *f = fopen(files_path(db), "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = malloc(*n);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

static void drop_line(void *arg, const char *line)
{
    (void)arg;
    (void)line;
}

/* What queries say: an empty answer for one that fails. */
static myth_status ask(bytes *out, myth_index *x)
{
    static const char *const sql[] = {
        "SELECT id, path, bytes, hash, language FROM files ORDER BY path",
        "SELECT id, off, bytes, line0, kind, symbol, span(file_id, off, bytes) FROM chunks ORDER BY id",
        "SELECT name, file_id, off, kind FROM symbols ORDER BY name, id",
        "SELECT file_id, n, data FROM refs ORDER BY file_id",
        "SELECT rowid, bm25(fts, 1, 4, 3) FROM fts WHERE fts MATCH '\"parse\"' ORDER BY rowid",
        "SELECT rowid, bm25(fts, 1, 4, 3) FROM fts WHERE fts MATCH '\"session\" OR \"delete file\"' ORDER BY rowid",
        "SELECT value FROM meta WHERE key='n_chunk'",
    };
    myth_store *s = myth_index_store(x);
    for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++) {
        sqlite3_stmt *q = NULL;
        int rc = sqlite3_prepare_v2(myth_store_db(s), sql[i], -1, &q, NULL);
        while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
            for (int k = 0; k < sqlite3_column_count(q); k++) {
                bytes_put(out, sqlite3_column_blob(q, k), (size_t)sqlite3_column_bytes(q, k));
                bytes_text(out, "|");
            }
            rc = SQLITE_OK;
        }
        myth_status st = myth_store_fail(s, rc, NULL);
        sqlite3_finalize(q);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

static void flipped(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n = check_is_full() ? 1000 : 20, n_open = 0, n_ask = 0, n_check = 0, n_harmless = 0;
    size_t len;
    bytes want = {0};
    myth_index_stats stats;
    tree_make("flip", 80, &rng);
    index_update("flip", "f.db", mem, &stats);
    unsigned char *db = slurp("f.db", &len);
    myth_index *x = NULL;
    myth_index_opts opts = {.root = files_path("flip"), .path = files_path("f.db"), .is_read_only = true};
    assert_int_equal(myth_index_open(&x, mem, &opts, NULL), MYTH_OK);
    assert_int_equal(ask(&want, x), MYTH_OK);
    myth_index_close(x);
    assert_true(want.len > 1000);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = i < 4 ? check_below(&rng, 100) : (size_t)(check_rand(&rng) % len); /* a few in the header */
        unsigned char bit = (unsigned char)(1u << check_below(&rng, 8));
        index_remove("f.db");
        db[at] ^= bit;
        files_put("f.db", db, len);
        db[at] ^= bit;
        opts.path = files_path("f.db");
        opts.root = files_path("flip");
        myth_error err = {0};
        uint64_t n_problem = 0;
        bytes got = {0};
        myth_status opened = myth_index_open(&x, mem, &opts, &err), asked = MYTH_OK, checked = MYTH_OK;
        if (opened == MYTH_OK) {
            asked = ask(&got, x);
            if (asked == MYTH_OK && (got.len != want.len || memcmp(got.data, want.data, want.len) != 0))
                fail_msg("byte %zu of %zu: bit %u: an answer is another", at, len, bit);
            checked = myth_index_check(x, drop_line, NULL, &n_problem, &err);
            if (asked != MYTH_OK && checked == MYTH_OK && n_problem == 0)
                fail_msg("byte %zu: a query fails, the check does not", at);
            myth_index_close(x);
        }
        n_open += opened != MYTH_OK;
        n_ask += opened == MYTH_OK && asked != MYTH_OK;
        n_check += opened == MYTH_OK && asked == MYTH_OK && (checked != MYTH_OK || n_problem);
        n_harmless += opened == MYTH_OK && asked == MYTH_OK && checked == MYTH_OK && !n_problem;
        bytes_free(&got);
    }
    print_message("%u bytes: %u found at open, %u by a query, %u by the check, %u harmless\n", n, n_open, n_ask,
                  n_check, n_harmless);
    assert_true(n_open + n_ask + n_check > n / 2);
    free(db);
    bytes_free(&want);
}

/* A reader of a damaged index says so and what to do; the next update makes it anew, and says that. */
static void damaged_is_made_anew(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    size_t len;
    myth_error err = {0};
    myth_index_stats stats;
    tree_make("anew", 20, &rng);
    index_update("anew", "d.db", mem, &stats);
    unsigned char *db = slurp("d.db", &len);
    for (size_t at = 4096 + 100; at < len; at += 4096)
        db[at] ^= 1;
    index_remove("d.db");
    files_put("d.db", db, len);
    free(db);
    tree_change("anew", 5, &rng);
    myth_index *x = NULL;
    const myth_index_opts reader = {
        .root = files_path("anew"), .path = files_path("d.db"), .is_read_only = true, .n_threads = 1};
    assert_int_equal(myth_index_open(&x, mem, &reader, &err), MYTH_EFORMAT);
    assert_int_equal(err.remedy, MYTH_REMEDY_REBUILD_INDEX);
    index_update("anew", "d.db", mem, &stats);
    assert_non_null(strstr(stats.rebuilt, "damaged"));
    index_equals_fresh("anew", "d.db", mem);
    index_update("anew", "d.db", mem, &stats);
    assert_string_equal(stats.rebuilt, "");
}

/* ---- no room, no right ---- */

/* Runs in a child with a limit or another user; its status comes back. */
static myth_status in_child(myth_status (*run)(void))
{
    int st;
    pid_t child = fork();
    if (child == 0)
        _exit((int)run());
    assert_int_equal(waitpid(child, &st, 0), child);
    assert_true(WIFEXITED(st));
    return (myth_status)WEXITSTATUS(st);
}

static rlim_t file_limit;

static myth_status limited(void)
{
    myth_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_limit, file_limit});
    myth_status st = update_quietly("full", "full.db", 0, &err);
    if (st != MYTH_OK && !strstr(err.msg, "bytes are free on its disk") && st == MYTH_EIO)
        return MYTH_STATUS_N;
    return st;
}

static void full_disk(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    bytes before = {0}, after = {0};
    uint32_t n_failed = 0;
    myth_index_stats stats;
    tree_make("full", 20, &rng);
    index_update("full", "full.db", mem, &stats);
    index_dump(&before, "full", "full.db", mem);
    tree_make("full/more", 60, &rng);
    for (file_limit = 0; file_limit < 1 << 20; file_limit = file_limit * 2 + 4096) {
        myth_status st = in_child(limited);
        if (st == MYTH_OK)
            break;
        assert_int_equal(st, MYTH_EIO);
        n_failed++;
        after.len = 0;
        index_dump(&after, "full", "full.db", mem);
        assert_int_equal(after.len, before.len);
        assert_memory_equal(after.data, before.data, before.len);
    }
    assert_true(n_failed > 3);
    index_update("full", "full.db", mem, &stats);
    index_equals_fresh("full", "full.db", mem);
    bytes_free(&before);
    bytes_free(&after);
}

/* Reads for another user, from a folder that user may not write. */
static myth_status read_as_nobody(void)
{
    myth_index *x = NULL;
    myth_error err = {0};
    uint64_t n_problem = 1;
    myth_index_opts opts = {.root = files_path("ro"), .path = files_path("ro/db/ro.db"), .is_read_only = true};
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return MYTH_STATUS_N;
    myth_status st = myth_index_open(&x, mem, &opts, &err);
    if (st == MYTH_OK)
        st = myth_index_check(x, drop_line, NULL, &n_problem, &err);
    myth_index_close(x);
    return st == MYTH_OK && n_problem ? MYTH_EFORMAT : st;
}

static myth_status write_as_nobody(void)
{
    myth_index *x = NULL;
    myth_error err = {0};
    myth_index_opts opts = {.root = files_path("ro"), .path = files_path("ro/db/ro.db")};
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return MYTH_STATUS_N;
    myth_status st = myth_index_open(&x, mem, &opts, &err);
    myth_index_close(x);
    if (st != MYTH_ECREATE || !strstr(err.msg, "cache_dir"))
        return MYTH_STATUS_N;
    opts.path = files_path("ro/db/none/ro.db"); /* the folder cannot be made: why, and not that it is not there */
    st = myth_index_open(&x, mem, &opts, &err);
    return st == MYTH_ECREATE && strstr(err.msg, "ro/db/none: Permission denied; cache_dir") ? st : MYTH_STATUS_N;
}

static void read_only_folder(void **state)
{
    (void)state;
    myth_index_stats stats;
    files_mkdir("ro");
    files_mkdir("ro/db");
    files_text("ro/a.txt", "a word\n");
    index_update("ro", "ro/db/ro.db", mem, &stats);
    assert_int_equal(chmod(files_path("ro/db/ro.db"), 0444), 0);
    assert_int_equal(chmod(files_path("ro/db/ro.db.lock"), 0444), 0);
    assert_int_equal(chmod(files_path("ro/db"), 0555), 0);
    assert_int_equal(chmod(files_path("ro"), 0755), 0);
    assert_int_equal(chmod(files_dir(), 0755), 0);
    assert_int_equal(in_child(read_as_nobody), MYTH_OK);
    assert_int_equal(in_child(write_as_nobody), MYTH_ECREATE);
    assert_int_equal(chmod(files_path("ro/db"), 0755), 0);
}

/* ---- no memory ---- */

/* The Nth allocation of an update fails, for many N: an error or success, nothing left, the index whole. */
static void no_memory(void **state)
{
    (void)state;
    uint64_t rng = check_seed();
    uint32_t n = 0, n_failed = 0;
    myth_mem *own;
    tree_make("mem", 6, &rng);
    assert_int_equal(myth_mem_open(&own, 0, NULL), MYTH_OK);
    for (uint64_t nth = 1;; nth += check_is_full() ? 1 : 1 + check_below(&rng, 9)) {
        myth_error err = {0};
        myth_index *x = NULL;
        index_remove("mem.db");
        myth_index_opts opts = {.root = files_path("mem"), .path = files_path("mem.db"), .n_threads = 1};
        myth_mem_set_fault(own, &(myth_fault){.fail_nth = nth});
        uint64_t before = myth_mem_n_alloc(own);
        myth_status st = myth_index_open(&x, own, &opts, &err);
        if (st == MYTH_OK)
            st = myth_index_update(x, NULL, NULL, &err);
        myth_index_close(x);
        bool is_past = myth_mem_n_alloc(own) - before < nth;
        myth_mem_set_fault(own, NULL);
        if (st != MYTH_OK && st != MYTH_ENOMEM)
            fail_msg("allocation %llu: %s: %s", (unsigned long long)nth, myth_status_name(st), err.msg);
        assert_int_equal(myth_mem_total(own, MYTH_MEM_HOST).live, 0);
        n_failed += st == MYTH_ENOMEM;
        n++;
        if (is_past)
            break;
    }
    print_message("%u of %u runs ran out of memory\n", n_failed, n);
    assert_true(n_failed > n / 2);
    assert_int_equal(myth_mem_close(own), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),    cmocka_unit_test(flipped),          cmocka_unit_test(damaged_is_made_anew),
        cmocka_unit_test(full_disk), cmocka_unit_test(read_only_folder), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
