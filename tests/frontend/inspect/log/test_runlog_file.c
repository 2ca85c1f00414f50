/* test_runlog_file.c - the file of the run log: what was written is read back, the bounds hold, several processes can
 * write at once, and a file that is damaged or no run log is refused with a message. */
#include "frontend/inspect/log/runlog_file.h"
#include "tests/support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static myth_mem *mem;
static myth_error err;

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 64 << 20, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static myth_runlog_file *open_log(const char *name, const myth_runlog_file_opts *o)
{
    myth_runlog_file *f = NULL;
    myth_status st = myth_runlog_file_open(&f, mem, files_path(name), o, &err);
    if (st != MYTH_OK)
        print_error("%s: %s\n", name, err.msg);
    assert_int_equal(st, MYTH_OK);
    return f;
}

/* Adds a run with a record and a text of n random bytes, which hardly get smaller by compression. */
static int64_t put_run(myth_runlog_file *f, size_t n, uint64_t seed)
{
    int64_t run = 0;
    int code = (int)(seed % 4);
    char record[64];
    unsigned char *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)check_rand(&seed);
    assert_int_equal(myth_runlog_file_begin(f, &run, 1700000000000, "inspect-file", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "report", text, n, &err), MYTH_OK);
    snprintf(record, sizeof(record), "{\"run\":%lld}", (long long)run);
    assert_int_equal(myth_runlog_file_save(f, run, "a.c", record, strlen(record), &code, &err), MYTH_OK);
    free(text);
    return run;
}

typedef struct {
    int64_t first, last, n;
    uint64_t bytes;
} counts;

static bool count_row(void *user, const myth_runlog_row *r)
{
    counts *c = user;
    c->last = c->n ? c->last : r->id;
    assert_true(c->n == 0 || r->id < c->first); /* the newest first */
    c->first = r->id;
    c->bytes += r->bytes;
    c->n++;
    return true;
}

static counts count(myth_runlog_file *f)
{
    counts c = {0};
    assert_int_equal(myth_runlog_file_list(f, UINT32_MAX, count_row, &c, &err), MYTH_OK);
    return c;
}

static void test_comes_back(void **state)
{
    (void)state;
    char *record, *text;
    size_t n;
    int64_t run, newest;
    int code = 1;
    struct stat info;
    static const char long_text[] = "a text with a NUL \0 in it, and \xff bytes that are not UTF-8";
    myth_runlog_file *f = open_log("back/deep/runs.db", &(myth_runlog_file_opts){0});
    assert_int_equal(stat(files_path("back/deep/runs.db"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(files_path("back/deep"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(myth_runlog_file_newest(f, &newest, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_begin(f, &run, 12345, "inspect-file", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_record(f, run, &record, &n, &err), MYTH_ENOTFOUND); /* begun, nothing known */
    assert_int_equal(myth_runlog_file_put(f, run, "prompt/0", long_text, sizeof(long_text), &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "empty", "", 0, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_save(f, run, "a.c", "{}", 2, NULL, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_save(f, run, "a.c", "{\"a\":1}", 7, &code, &err), MYTH_OK);
    myth_runlog_file_close(f);

    f = open_log("back/deep/runs.db", &(myth_runlog_file_opts){.is_read_only = true});
    assert_int_equal(myth_runlog_file_newest(f, &newest, &err), MYTH_OK);
    assert_int_equal(newest, run);
    assert_int_equal(myth_runlog_file_record(f, run, &record, &n, &err), MYTH_OK);
    assert_string_equal(record, "{\"a\":1}");
    myth_free(mem, record);
    assert_int_equal(myth_runlog_file_text(f, run, "prompt/0", &text, &n, &err), MYTH_OK);
    assert_int_equal(n, sizeof(long_text));
    assert_memory_equal(text, long_text, n);
    myth_free(mem, text);
    assert_int_equal(myth_runlog_file_text(f, run, "empty", &text, &n, &err), MYTH_OK);
    assert_int_equal(n, 0);
    myth_free(mem, text);
    assert_int_equal(myth_runlog_file_text(f, run, "prompt/1", &text, &n, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_record(f, run + 1, &record, &n, &err), MYTH_ENOTFOUND);
    assert_non_null(strstr(err.msg, "it has run 1 alone"));
    myth_runlog_file_close(f);
}

static void test_texts_have_a_limit(void **state)
{
    (void)state;
    myth_runlog_file *f = open_log("limit.db", &(myth_runlog_file_opts){0});
    int64_t run;
    char *big = calloc(1, MYTH_RUNLOG_TEXT_BYTES + 1);
    assert_int_equal(myth_runlog_file_begin(f, &run, 1, "x", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "big", big, MYTH_RUNLOG_TEXT_BYTES, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "bigger", big, MYTH_RUNLOG_TEXT_BYTES + 1, &err), MYTH_ELIMIT);
    free(big);
    myth_runlog_file_close(f);
}

/* The log never has more runs or bytes than its bounds, except one run that alone is larger. The newest run is always
 * kept, and the file does not grow much beyond the bound. */
static void test_bounds(void **state)
{
    (void)state;
    struct stat info;
    myth_runlog_file *f = open_log("runs.db", &(myth_runlog_file_opts){.max_runs = 7, .max_bytes = 1 << 30});
    for (uint64_t i = 0; i < 30; i++) {
        int64_t run = put_run(f, 1000, i);
        counts c = count(f);
        assert_int_equal(c.last, run);
        assert_int_equal(c.n, run < 7 ? run : 7);
        assert_int_equal(c.first, run < 7 ? 1 : run - 6);
    }
    myth_runlog_file_close(f);
    f = open_log("bytes.db", &(myth_runlog_file_opts){.max_runs = 1000, .max_bytes = 200000});
    for (uint64_t i = 0; i < 60; i++) {
        int64_t run = put_run(f, i == 30 ? 300000 : 9000 + 100 * i, i); /* run 30 alone is larger than the bound */
        counts c = count(f);
        assert_int_equal(c.last, run);
        assert_true(c.bytes <= 200000 || c.n == 1);
        assert_true(i < 40 || c.n > 5);
    }
    myth_runlog_file_close(f);
    assert_int_equal(stat(files_path("bytes.db"), &info), 0);
    assert_true(info.st_size < 800000);
}

/* A run that another one overtakes stays until its own end, and then goes as any other; one that began more than a day
 * ago was killed. No text stays without its run. */
static void test_a_run_under_way_stays(void **state)
{
    (void)state;
    const myth_runlog_file_opts one = {.max_runs = 1};
    const int64_t ms = (int64_t)time(NULL) * 1000;
    int64_t killed, slow;
    int code = 0;
    size_t n;
    char *text;
    myth_runlog_file *f = open_log("under_way.db", &one), *other = open_log("under_way.db", &one);
    assert_int_equal(myth_runlog_file_begin(f, &killed, ms - 25 * 3600 * 1000, "killed", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, killed, "prompt/0", "p", 1, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_begin(f, &slow, ms - 23 * 3600 * 1000, "slow", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, slow, "prompt/0", "of the slow one", 15, &err), MYTH_OK);
    const int64_t second = put_run(other, 100, 1), third = put_run(other, 100, 2);
    counts c = count(f);
    assert_int_equal(c.n, 2); /* the slow one and the newest */
    assert_int_equal(c.first, slow);
    assert_int_equal(c.last, third);
    assert_int_equal(myth_runlog_file_text(f, killed, "prompt/0", &text, &n, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_text(f, second, "report", &text, &n, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_save(f, slow, "a.c", "{}", 2, &code, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_text(f, slow, "prompt/0", &text, &n, &err), MYTH_OK);
    assert_string_equal(text, "of the slow one");
    myth_free(mem, text);
    const int64_t fourth = put_run(other, 100, 3);
    c = count(f);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.first, fourth);
    myth_runlog_file_close(f);
    myth_runlog_file_close(other);
}

/* A run whose row another program deleted says so when it writes, and leaves no text behind; nor do texts stay that a
 * deleted run left in the file. */
static void test_a_deleted_run_leaves_nothing(void **state)
{
    (void)state;
    const myth_runlog_prune none = {.max_runs = 0, .max_bytes = UINT64_MAX, .since_ms = INT64_MIN};
    int64_t run;
    uint64_t n_run, n_bytes;
    int code = 0;
    size_t n;
    char *text;
    sqlite3 *db;
    myth_runlog_file *f = open_log("deleted.db", &(myth_runlog_file_opts){0});
    assert_int_equal(myth_runlog_file_begin(f, &run, (int64_t)time(NULL) * 1000, "x", &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "prompt/0", "p", 1, &err), MYTH_OK);
    assert_int_equal(sqlite3_open(files_path("deleted.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM runs", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(myth_runlog_file_put(f, run, "prompt/1", "p", 1, &err), MYTH_ELOST);
    assert_int_equal(myth_runlog_file_save(f, run, "a.c", "{}", 2, &code, &err), MYTH_ELOST);
    assert_non_null(strstr(err.msg, "run 1 was deleted"));
    assert_int_equal(myth_runlog_file_text(f, run, "prompt/1", &text, &n, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_text(f, run, "prompt/0", &text, &n, &err), MYTH_OK);
    myth_free(mem, text);
    assert_int_equal(myth_runlog_file_prune(f, &none, &n_run, &n_bytes, &err), MYTH_OK);
    assert_int_equal(myth_runlog_file_text(f, run, "prompt/0", &text, &n, &err), MYTH_ENOTFOUND);
    myth_runlog_file_close(f);
}

/* When several processes write into one file at once, every run of each is in it afterwards and is whole. */
static void test_many_writers(void **state)
{
    (void)state;
    enum { WRITERS = 6 };
    const int n_run = check_is_full() ? 50 : 8;
    pid_t pid[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) {
            myth_runlog_file *f = NULL;
            myth_mem *own;
            bool ok =
                myth_mem_open(&own, 0, NULL) == MYTH_OK &&
                myth_runlog_file_open(&f, own, files_path("many.db"), &(myth_runlog_file_opts){0}, &err) == MYTH_OK;
            for (int k = 0; ok && k < n_run; k++) {
                int64_t run;
                int code = i;
                char record[64];
                snprintf(record, sizeof(record), "{\"writer\":%d,\"k\":%d}", i, k);
                ok = myth_runlog_file_begin(f, &run, k, "test", &err) == MYTH_OK &&
                     myth_runlog_file_put(f, run, "t", record, strlen(record), &err) == MYTH_OK &&
                     myth_runlog_file_save(f, run, "a.c", record, strlen(record), &code, &err) == MYTH_OK;
            }
            if (!ok)
                fprintf(stderr, "writer %d: %s\n", i, err.msg);
            myth_runlog_file_close(f);
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    myth_runlog_file *f = open_log("many.db", &(myth_runlog_file_opts){.is_read_only = true});
    counts c = count(f);
    assert_int_equal(c.n, WRITERS * n_run);
    for (int64_t run = c.first; run <= c.last; run++) {
        char *record, *text;
        size_t n, n_text;
        assert_int_equal(myth_runlog_file_record(f, run, &record, &n, &err), MYTH_OK);
        assert_int_equal(myth_runlog_file_text(f, run, "t", &text, &n_text, &err), MYTH_OK);
        assert_string_equal(record, text);
        myth_free(mem, record);
        myth_free(mem, text);
    }
    myth_runlog_file_close(f);
}

static unsigned char *slurp(const char *name, size_t *n)
{
    FILE *f = fopen(files_path(name), "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = malloc(*n);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

/* Reads the record and the report of run 1, or returns why they cannot be read. */
static myth_status read_all(const char *name, char **record, char **text, size_t *n_text)
{
    myth_runlog_file *f = NULL;
    size_t n;
    *record = *text = NULL;
    myth_status st =
        myth_runlog_file_open(&f, mem, files_path(name), &(myth_runlog_file_opts){.is_read_only = true}, &err);
    if (st == MYTH_OK)
        st = myth_runlog_file_record(f, 1, record, &n, &err);
    if (st == MYTH_OK)
        st = myth_runlog_file_text(f, 1, "report", text, n_text, &err);
    myth_runlog_file_close(f);
    return st;
}

/* A file with a changed byte, or one that ends early, either gives an error or reads as before: what is read is never
 * wrong. */
static void test_damage(void **state)
{
    (void)state;
    size_t n, n_text, n_good, n_said = 0;
    char *good_record, *good_text, *record, *text;
    myth_runlog_file *f = open_log("good.db", &(myth_runlog_file_opts){0});
    put_run(f, 20000, 5);
    put_run(f, 3000, 6);
    myth_runlog_file_close(f);
    unsigned char *image = slurp("good.db", &n);
    assert_int_equal(read_all("good.db", &good_record, &good_text, &n_good), MYTH_OK);
    uint64_t seed = check_seed();
    const int n_flip = check_is_full() ? 1000 : 150;
    for (int i = 0; i < n_flip; i++) {
        size_t at = check_below(&seed, (uint32_t)n);
        unsigned char bit = (unsigned char)(1 + check_below(&seed, 255));
        image[at] ^= bit;
        files_put("bad.db", image, n);
        myth_status st = read_all("bad.db", &record, &text, &n_text);
        if (st == MYTH_OK) {
            assert_string_equal(record, good_record);
            assert_int_equal(n_text, n_good);
            assert_memory_equal(text, good_text, n_good);
        } else {
            n_said++;
            assert_true(st == MYTH_EFORMAT || st == MYTH_ENOTFOUND || st == MYTH_EIO || st == MYTH_ECREATE ||
                        st == MYTH_ENOMEM);
            assert_true(err.msg[0] && !strchr(err.msg, '\n'));
        }
        myth_free(mem, record);
        myth_free(mem, text);
        image[at] ^= bit;
    }
    assert_true(n_said > (size_t)n_flip / 4); /* run 1's text is most of the file, so many of the bytes are in it */
    for (int i = 0; i < 20; i++) {
        files_put("bad.db", image, check_below(&seed, (uint32_t)n));
        myth_status st = read_all("bad.db", &record, &text, &n_text);
        assert_true(st != MYTH_OK || (n_text == n_good && !memcmp(text, good_text, n_good)));
        myth_free(mem, record);
        myth_free(mem, text);
    }
    myth_free(mem, good_record);
    myth_free(mem, good_text);
    free(image);
}

/* A file that is no run log (another program's database, another version, not a database) is refused with a message and
 * not changed. */
static void test_not_ours(void **state)
{
    (void)state;
    static const char *const sql[] = {"CREATE TABLE t(a)", "PRAGMA application_id=1; CREATE TABLE t(a)",
                                      "PRAGMA application_id=0x6d79746c; PRAGMA user_version=99; CREATE TABLE runs(a)",
                                      "PRAGMA application_id=0x6d79746c; PRAGMA user_version=1; CREATE TABLE runs(a)"};
    for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++) {
        size_t n, n_after;
        sqlite3 *db;
        unlink(files_path("other.db"));
        assert_int_equal(sqlite3_open(files_path("other.db"), &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        unsigned char *before = slurp("other.db", &n);
        for (int read_only = 0; read_only < 2; read_only++) {
            myth_runlog_file *f = NULL;
            assert_int_equal(myth_runlog_file_open(&f, mem, files_path("other.db"),
                                                   &(myth_runlog_file_opts){.is_read_only = read_only}, &err),
                             MYTH_EFORMAT);
            assert_null(f);
            assert_non_null(strstr(err.msg, "other.db"));
        }
        unsigned char *after = slurp("other.db", &n_after);
        assert_int_equal(n, n_after);
        assert_memory_equal(before, after, n);
        free(before);
        free(after);
    }
    myth_runlog_file *f = NULL;
    files_text("text.db", "this is no database, it is a text that is longer than the header of one, so that there is "
                          "something to read of it\n");
    assert_int_equal(myth_runlog_file_open(&f, mem, files_path("text.db"), &(myth_runlog_file_opts){0}, &err),
                     MYTH_EFORMAT);
    assert_int_equal(
        myth_runlog_file_open(&f, mem, files_path("none.db"), &(myth_runlog_file_opts){.is_read_only = true}, &err),
        MYTH_ENOTFOUND);
    files_mkdir("folder");
    assert_true(myth_runlog_file_open(&f, mem, files_path("folder"), &(myth_runlog_file_opts){0}, &err) != MYTH_OK);
    assert_true(myth_runlog_file_open(&f, mem, files_path("text.db/runs.db"), &(myth_runlog_file_opts){0}, &err) !=
                MYTH_OK);
    assert_true(myth_runlog_file_open(&f, mem, "/proc/nowhere/runs.db", &(myth_runlog_file_opts){0}, &err) ==
                MYTH_ECREATE);
    assert_null(f);
}

/* On a disk that is full from some byte on, writing fails with an error, and the runs that were in the file stay. */
static void test_full_disk(void **state)
{
    (void)state;
    for (rlim_t limit = 4096; limit <= 200000; limit += check_is_full() ? 4096 : 28672) {
        unlink(files_path("full.db"));
        unlink(files_path("full.db-wal"));
        unlink(files_path("full.db-shm"));
        myth_runlog_file *f = open_log("full.db", &(myth_runlog_file_opts){0});
        put_run(f, 5000, 1);
        myth_runlog_file_close(f);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            myth_mem *own;
            int64_t run;
            int code = 0;
            unsigned char text[50000];
            uint64_t seed = limit;
            bool ok = myth_mem_open(&own, 0, NULL) == MYTH_OK;
            for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (unsigned char)check_rand(&seed);
            signal(SIGXFSZ, SIG_IGN);
            ok = ok && setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit}) == 0;
            myth_status st = myth_runlog_file_open(&f, own, files_path("full.db"), &(myth_runlog_file_opts){0}, &err);
            if (st == MYTH_OK)
                st = myth_runlog_file_begin(f, &run, 1, "x", &err);
            if (st == MYTH_OK)
                st = myth_runlog_file_put(f, run, "t", text, sizeof(text), &err);
            if (st == MYTH_OK)
                st = myth_runlog_file_save(f, run, "a.c", "{}", 2, &code, &err);
            ok = ok && (st == MYTH_OK ? limit > 50000 : (st == MYTH_EIO || st == MYTH_ECREATE) && limit < 150000);
            if (!ok)
                fprintf(stderr, "limit %llu: %s %s\n", (unsigned long long)limit, myth_status_name(st),
                        st == MYTH_OK ? "" : err.msg);
            _exit(ok ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        char *record, *text;
        size_t n_text;
        assert_int_equal(read_all("full.db", &record, &text, &n_text), MYTH_OK);
        assert_int_equal(n_text, 5000);
        myth_free(mem, record);
        myth_free(mem, text);
    }
}

/* A log can be read in a folder where nobody may write. Root may write everywhere, so the child process becomes another
 * user. */
static void test_read_only_folder(void **state)
{
    (void)state;
    files_mkdir("shut");
    myth_runlog_file *f = open_log("shut/runs.db", &(myth_runlog_file_opts){0});
    put_run(f, 500, 1);
    myth_runlog_file_close(f);
    chmod(files_path("shut/runs.db"), 0444);
    chmod(files_path("shut"), 0555);
    chmod(files_dir(), 0755);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        myth_mem *own;
        char *record = NULL;
        size_t n;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        bool ok = myth_mem_open(&own, 0, NULL) == MYTH_OK &&
                  myth_runlog_file_open(&f, own, files_path("shut/runs.db"),
                                        &(myth_runlog_file_opts){.is_read_only = true}, &err) == MYTH_OK &&
                  myth_runlog_file_record(f, 1, &record, &n, &err) == MYTH_OK;
        if (!ok)
            fprintf(stderr, "%s\n", err.msg);
        myth_runlog_file_close(f);
        f = NULL;
        ok = ok &&
             myth_runlog_file_open(&f, own, files_path("shut/runs.db"), &(myth_runlog_file_opts){0}, &err) ==
                 MYTH_ECREATE &&
             strstr(err.msg, "--log");
        ok = ok &&
             myth_runlog_file_open(&f, own, files_path("shut/new.db"), &(myth_runlog_file_opts){0}, &err) ==
                 MYTH_ECREATE &&
             strstr(err.msg, "--log");
        if (!ok)
            fprintf(stderr, "then: %s\n", err.msg);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    chmod(files_path("shut"), 0755);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Whichever allocation fails, there is an error or a whole result, and nothing is left in the ledger. */
static void test_no_memory(void **state)
{
    (void)state;
    for (uint64_t i = 1; i < 40; i++) {
        myth_runlog_file *f = NULL;
        int64_t run;
        int code = 0;
        char *record = NULL;
        size_t n;
        unlink(files_path("nomem.db"));
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = i});
        myth_status st = myth_runlog_file_open(&f, mem, files_path("nomem.db"), &(myth_runlog_file_opts){0}, &err);
        if (st == MYTH_OK)
            st = myth_runlog_file_begin(f, &run, 1, "x", &err);
        if (st == MYTH_OK)
            st = myth_runlog_file_put(f, run, "t", "text", 4, &err);
        if (st == MYTH_OK)
            st = myth_runlog_file_save(f, run, "a.c", "{}", 2, &code, &err);
        if (st == MYTH_OK)
            st = myth_runlog_file_record(f, run, &record, &n, &err);
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
        myth_mem_set_fault(mem, NULL);
        myth_free(mem, record);
        myth_runlog_file_close(f);
        assert_int_equal(myth_mem_total(mem, MYTH_MEM_HOST).live, 0);
    }
}

static void test_place(void **state)
{
    (void)state;
    char path[256];
    setenv("HOME", "/home/x", 1);
    setenv("XDG_STATE_HOME", "/state", 1);
    assert_int_equal(myth_runlog_file_place(path, sizeof(path), NULL, &err), MYTH_OK);
    assert_string_equal(path, "/state/mythos/runs.db");
    setenv("XDG_STATE_HOME", "relative", 1); /* such a value is to be ignored */
    assert_int_equal(myth_runlog_file_place(path, sizeof(path), NULL, &err), MYTH_OK);
    assert_string_equal(path, "/home/x/.local/state/mythos/runs.db");
    setenv("HOME", "/", 1); /* of a user whom nobody made */
    assert_int_equal(myth_runlog_file_place(path, sizeof(path), NULL, &err), MYTH_OK);
    assert_string_equal(path, "/.local/state/mythos/runs.db");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(myth_runlog_file_place(path, sizeof(path), NULL, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_file_place(path, sizeof(path), "x.db", &err), MYTH_OK);
    assert_string_equal(path, "x.db");
}

/* A file's hash is remembered by its size, time and inode, and changes with the bytes when it is read anew. That of a
 * long file changes with its first and last byte and with the last of its first MiB. */
static void test_hashes(void **state)
{
    (void)state;
    char of_bytes[72];
    myth_runlog_hash a, b;
    struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    myth_runlog_hash_bytes(of_bytes, "abc", 3);
    assert_string_equal(of_bytes, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    myth_runlog_file *f = open_log("hash.db", &(myth_runlog_file_opts){0});
    files_text("h", "one");
    assert_int_equal(utimensat(AT_FDCWD, files_path("h"), old, 0), 0);
    assert_int_equal(myth_runlog_hash_file(&a, files_path("h"), f, &err), MYTH_OK);
    assert_int_equal(strncmp(a.hash, "xxh3:", 5), 0);
    assert_int_equal(strlen(a.hash), 37);
    FILE *h = fopen(files_path("h"), "r+"); /* gets other bytes, but keeps its size, time and inode */
    fputs("two", h);
    fclose(h);
    assert_int_equal(utimensat(AT_FDCWD, files_path("h"), old, 0), 0);
    assert_int_equal(myth_runlog_hash_file(&b, files_path("h"), f, &err), MYTH_OK);
    assert_string_equal(a.hash, b.hash);
    assert_int_equal(myth_runlog_hash_file(&b, files_path("h"), NULL, &err),
                     MYTH_OK); /* without a log nothing is remembered */
    assert_string_not_equal(a.hash, b.hash);
    files_text("h", "six"); /* changed just now, so its hash is neither found nor remembered */
    assert_int_equal(myth_runlog_hash_file(&a, files_path("h"), f, &err), MYTH_OK);
    assert_string_not_equal(a.hash, b.hash);
    assert_int_equal(myth_runlog_hash_file(&a, files_path("not there"), f, &err), MYTH_ENOTFOUND);
    assert_int_equal(myth_runlog_hash_file(&a, files_dir(), f, &err), MYTH_EIO);
    myth_runlog_file_close(f);

    files_sparse("long", "head", 4, (uint64_t)MYTH_RUNLOG_SAMPLE_BYTES + 12345);
    assert_int_equal(myth_runlog_hash_file(&a, files_path("long"), NULL, &err), MYTH_OK);
    assert_int_equal(strncmp(a.hash, "xxh3-sampled:", 13), 0);
    const off_t at[] = {0, (1 << 20) - 1, (off_t)MYTH_RUNLOG_SAMPLE_BYTES + 12344};
    for (size_t i = 0; i < 3; i++) {
        int fd = open(files_path("long"), O_WRONLY);
        assert_int_equal(pwrite(fd, "X", 1, at[i]), 1);
        close(fd);
        assert_int_equal(myth_runlog_hash_file(&b, files_path("long"), NULL, &err), MYTH_OK);
        assert_string_not_equal(a.hash, b.hash);
        a = b;
    }
    unlink(files_path("long"));
}

/* ---- rows that somebody else has written ---- */

static bool any_row(void *user, const myth_runlog_row *r)
{
    *(size_t *)user += strlen(r->command) + strlen(r->subject);
    return true;
}

static void expect(const char *what, myth_status st)
{
    if (st != MYTH_OK && st != MYTH_EFORMAT && st != MYTH_ENOTFOUND)
        fail_msg("%s: status %d: %s", what, (int)st, err.msg);
}

/* Calls everything that reads or writes a log. Each call must succeed or say what is wrong with the file. Returns
 * whether nothing was wrong. */
static bool use_log(const char *what)
{
    myth_runlog_file *f = NULL;
    char *record = NULL, *text = NULL;
    size_t n = 0;
    int64_t run = 0;
    int code = 0;
    bool is_whole = true;
    for (int is_read_only = 1; is_read_only >= 0; is_read_only--) {
        const myth_runlog_file_opts o = {.is_read_only = is_read_only, .max_runs = 2};
        myth_status st = myth_runlog_file_open(&f, mem, files_path("planted/runs.db"), &o, &err);
        expect(what, st);
        is_whole = is_whole && st == MYTH_OK;
        if (st != MYTH_OK)
            continue;
        expect(what, myth_runlog_file_list(f, UINT32_MAX, any_row, &n, &err));
        if (myth_runlog_file_newest(f, &run, &err) == MYTH_OK) {
            expect(what, st = myth_runlog_file_record(f, run, &record, &n, &err));
            myth_free(mem, record);
            is_whole = is_whole && st == MYTH_OK;
            expect(what, st = myth_runlog_file_text(f, run, "report", &text, &n, &err));
            myth_free(mem, text);
            is_whole = is_whole && st == MYTH_OK;
        }
        if (!is_read_only) { /* save adds up the planted sizes, to delete the oldest runs */
            expect(what, myth_runlog_file_begin(f, &run, 1700000000000, "inspect-file", &err));
            expect(what, myth_runlog_file_put(f, run, "report", "x", 1, &err));
            expect(what, myth_runlog_file_save(f, run, "a.c", "{}", 2, &code, &err));
        }
        myth_runlog_file_close(f);
    }
    return is_whole;
}

static void planted(const void *data, size_t n, const char *sql)
{
    sqlite3 *db;
    files_clear("planted");
    files_put("planted/runs.db", data, n);
    assert_int_equal(sqlite3_open(files_path("planted/runs.db"), &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, NULL); /* may fail: some columns refuse some values */
    sqlite3_close(db);
}

static void test_planted_rows(void **state)
{
    (void)state;
    static const char *const column[] = {"runs.id",
                                         "runs.began_ms",
                                         "runs.command",
                                         "runs.subject",
                                         "runs.exit_code",
                                         "runs.bytes",
                                         "runs.record",
                                         "runs.hash",
                                         "texts.run_id",
                                         "texts.name",
                                         "texts.n",
                                         "texts.data",
                                         "hashes.path",
                                         "hashes.bytes",
                                         "hashes.mtime_ns",
                                         "hashes.inode",
                                         "hashes.hash",
                                         "sqlite_sequence.name",
                                         "sqlite_sequence.seq"};
    static const char *const value[] = {"NULL",
                                        "'a text'",
                                        "x'00ff'",
                                        "-1",
                                        "0",
                                        "2147483648",
                                        "9007199254740992",
                                        "9223372036854775807",
                                        "-9223372036854775807-1",
                                        "1e300"};
    static unsigned char whole[1 << 20];
    uint32_t n_refused = 0;
    files_mkdir("planted");
    myth_runlog_file *f = open_log("planted/runs.db", &(myth_runlog_file_opts){0});
    for (uint64_t i = 1; i < 4; i++)
        put_run(f, 100, i);
    myth_runlog_file_close(f);
    FILE *in = fopen(files_path("planted/runs.db"), "rb");
    const size_t n = fread(whole, 1, sizeof(whole), in);
    fclose(in);
    assert_true(n > 0 && n < sizeof(whole));
    planted(whole, n, "INSERT INTO hashes VALUES('a.c', 1, 1, 1, 'x')");
    assert_true(use_log("whole"));
    for (size_t c = 0; c < sizeof(column) / sizeof(column[0]); c++)
        for (size_t v = 0; v < sizeof(value) / sizeof(value[0]); v++) {
            char sql[300];
            const char *dot = strchr(column[c], '.');
            snprintf(sql, sizeof(sql),
                     "INSERT INTO hashes VALUES('a.c', 1, 1, 1, 'x'); UPDATE %.*s SET %s=%s WHERE "
                     "rowid=(SELECT max(rowid) FROM %.*s)",
                     (int)(dot - column[c]), column[c], dot + 1, value[v], (int)(dot - column[c]), column[c]);
            planted(whole, n, sql);
            n_refused += !use_log(sql);
        }
    print_message("%u planted values are refused\n", n_refused);
    assert_true(n_refused > 30);
    static const char *const schema[] = {
        "CREATE TRIGGER sqliteXfoo AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE VIEW sqliteXview AS SELECT 1",
        ("PRAGMA writable_schema=ON; INSERT INTO sqlite_schema VALUES('view', 'sqlite_v', 'sqlite_v', 0, 'CREATE VIEW "
         "sqlite_v AS SELECT 1')"),
    };
    for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++) {
        planted(whole, n, schema[i]);
        if (use_log(schema[i]))
            fail_msg("%s: is believed", schema[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_texts_have_a_limit),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_many_writers),
        cmocka_unit_test(test_a_run_under_way_stays),
        cmocka_unit_test(test_a_deleted_run_leaves_nothing),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_read_only_folder),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_planted_rows),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
