/* test_index_again.c - what an update does with a file that looks unchanged, what it deletes with a changed one,
 * and what it tries again: a file that had no worker, a database that another process holds. */
#include "index_tree.h"
#include "retrieval/store/page_vfs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

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

static void put_at(const char *name, const char *text, int64_t second)
{
    const struct timespec when[2] = {{.tv_sec = second}, {.tv_sec = second}};
    files_text(name, text);
    assert_int_equal(utimensat(AT_FDCWD, files_path(name), when, 0), 0);
}

/* Another file of the same size and time has taken the place of one: its inode says so. */
static void same_but_for_its_inode(void **state)
{
    (void)state;
    myth_index_stats stats;
    files_mkdir("ino");
    files_mkdir("beside");
    put_at("ino/a.txt", "one word\n", 1000000000);
    index_remove("i.db");
    index_update("ino", "i.db", mem, &stats);
    put_at("beside/a.txt", "two word\n", 1000000000);
    char from[512];
    snprintf(from, sizeof(from), "%s", files_path("beside/a.txt"));
    assert_int_equal(rename(from, files_path("ino/a.txt")), 0);
    index_update("ino", "i.db", mem, &stats);
    assert_int_equal(stats.n_changed, 1);
    index_equals_fresh("ino", "i.db", mem);
}

/* The time of a file's last change of anything, as the system has it. */
static struct timespec ctime_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(files_path(name), &st), 0);
    return st.st_ctim;
}

/* The index takes the row as one that it may trust, as it is when the file has not changed for two seconds. */
static void trust(const char *db_name, int64_t mtime_ns)
{
    char sql[128];
    sqlite3 *db;
    assert_int_equal(myth_page_vfs_register(NULL), MYTH_OK);
    assert_int_equal(sqlite3_open_v2(files_path(db_name), &db, SQLITE_OPEN_READWRITE, MYTH_PAGE_VFS), SQLITE_OK);
    snprintf(sql, sizeof(sql), "UPDATE files SET mtime_ns=%lld", (long long)mtime_ns);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Other bytes of the same size in the same file, whose mtime was put back as cp -p, tar and touch -r do: its ctime
 * says so. */
static void same_but_for_its_ctime(void **state)
{
    (void)state;
    myth_index_stats stats;
    files_mkdir("put");
    put_at("put/a.txt", "one word\n", 1000000000);
    const struct timespec before = ctime_of("put/a.txt");
    index_remove("c.db");
    index_update("put", "c.db", mem, &stats);
    trust("c.db", INT64_C(1000000000000000000));
    index_update("put", "c.db", mem, &stats);
    assert_int_equal(stats.n_changed, 0);
    for (struct timespec now = before; now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec;) {
        put_at("put/a.txt", "two word\n", 1000000000); /* until the clock of the file system has moved on */
        now = ctime_of("put/a.txt");
    }
    index_update("put", "c.db", mem, &stats);
    assert_int_equal(stats.n_changed, 1);
    index_equals_fresh("put", "c.db", mem);
}

/* A file with an old mtime and the ctime of this moment may change once more within the tick of its clock. */
static void a_new_ctime_is_not_trusted(void **state)
{
    (void)state;
    myth_index_stats stats;
    struct timespec begun, over;
    files_mkdir("new");
    do { /* a machine that stood still in between makes the file old */
        clock_gettime(CLOCK_REALTIME, &begun);
        put_at("new/a.txt", "one word\n", 1000000000);
        index_remove("r.db");
        index_update("new", "r.db", mem, &stats);
        clock_gettime(CLOCK_REALTIME, &over);
    } while (over.tv_sec - begun.tv_sec > 1);
    myth_index *x = open_index("new", "r.db", mem, true);
    assert_int_equal(index_count(x, "SELECT mtime_ns FROM files WHERE path = CAST(?1 AS BLOB)", "a.txt"), -1);
    myth_index_close(x);
}

/* A class of several chunks: its name stands in the names of all, in the text of one. */
static void put_class(const char *name, const char *class)
{
    char text[16 << 10];
    size_t n = (size_t)snprintf(text, sizeof(text), "class %s:\n", class);
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n,
                              "    def method_%d(self, value):\n        total = value + %d\n        return "
                              "self.keep(total, 'a text that makes it longer')\n\n",
                              i, i);
    files_put(name, text, n);
}

/* Names of a file that was parsed leave the index with it, also those that no text of their chunk has. */
static void names_leave_with_their_file(void **state)
{
    (void)state;
    myth_index_stats stats;
    files_mkdir("names");
    put_class("names/a.py", "okapi_keeper");
    index_remove("n.db");
    index_update("names", "n.db", mem, &stats);
    myth_index *x = open_index("names", "n.db", mem, true);
    assert_true(index_found(x, "names:\"okapi_keeper\"") > 1);
    assert_int_equal(index_found(x, "body:\"okapi_keeper\""), 1);
    myth_index_close(x);
    put_class("names/a.py", "zebra_keeper");
    index_update("names", "n.db", mem, &stats);
    x = open_index("names", "n.db", mem, true);
    assert_int_equal(index_found(x, "\"okapi_keeper\""), 0);
    assert_true(index_found(x, "names:\"zebra_keeper\"") > 1);
    myth_index_close(x);
    index_equals_fresh("names", "n.db", mem);
}

/* A file that was cut by its text because no worker could be started is cut anew, however often that happened. */
static void no_worker_at_first(void **state)
{
    (void)state;
    myth_index *x = NULL;
    myth_index_stats stats;
    files_mkdir("late");
    files_text("late/a.c", "int later(void)\n{\n    return 1;\n}\n");
    index_remove("late.db");
    for (int i = 0; i < 3; i++) {
        const myth_index_opts opts = {
            .root = files_path("late"), .path = files_path("late.db"), .worker_path = "/nonexistent/mythos"};
        assert_int_equal(myth_index_open(&x, mem, &opts, NULL), MYTH_OK);
        assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
        assert_int_equal(index_count(x, "SELECT coalesce(sum(n), 0) FROM definitions", NULL), 0);
        myth_index_close(x);
    }
    index_update("late", "late.db", mem, &stats);
    x = open_index("late", "late.db", mem, true);
    assert_int_equal(index_count(x, "SELECT sum(n) FROM definitions", NULL), 1);
    assert_int_equal(index_count(x, "SELECT count(*) FROM files WHERE flags & 16 OR note IS NOT NULL", NULL), 0);
    myth_index_close(x);
}

/* The same bytes in the index when every file takes long. */
static void slow_clock(void **state)
{
    (void)state;
    myth_index_stats stats;
    files_mkdir("slow");
    files_text("slow/bad.c", "int slow(int n)\n{\n    return n;\n}\n");
    files_text("slow/also_bad.py", "def slow(n):\n    return n\n");
    index_remove("s.db");
    setenv("MYTHOS_CHUNK_FAULT", "slow:bad", 1);
    index_update("slow", "s.db", mem, &stats);
    unsetenv("MYTHOS_CHUNK_FAULT");
    assert_int_equal(stats.n_unstructured, 0);
    index_equals_fresh("slow", "s.db", mem);
}

/* Another program holds the database: that is a reason to try again, not an end of what there is to say. */
static void held_by_another(void **state)
{
    (void)state;
    myth_error err = {0};
    sqlite3 *d;
    files_mkdir("held");
    files_text("held/a.txt", "a word\n");
    index_remove("b.db");
    myth_index *x = open_index("held", "b.db", mem, false);
    assert_int_equal(myth_index_update(x, NULL, NULL, NULL), MYTH_OK);
    assert_int_equal(sqlite3_open_v2(files_path("b.db"), &d, SQLITE_OPEN_READWRITE, MYTH_PAGE_VFS), SQLITE_OK);
    assert_int_equal(sqlite3_exec(d, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    files_text("held/a.txt", "another word\n");
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_ELOST);
    assert_non_null(strstr(err.msg, "try again"));
    sqlite3_close(d);
    assert_int_equal(myth_index_update(x, NULL, NULL, &err), MYTH_OK);
    myth_index_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_but_for_its_inode),
        cmocka_unit_test(same_but_for_its_ctime),
        cmocka_unit_test(a_new_ctime_is_not_trusted),
        cmocka_unit_test(names_leave_with_their_file),
        cmocka_unit_test(no_worker_at_first),
        cmocka_unit_test(slow_clock),
        cmocka_unit_test(held_by_another),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
