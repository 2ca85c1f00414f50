/* test_database.c - what every database of the project is opened with: statements of a planted schema do not run, a
 * number is read, names with signs of a URI are opened, and no log outlives its database. */
#include "retrieval/store/database.h"
#include "tests/support/files.h"

#include <sys/stat.h>

static void make(const char *name, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(files_path(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static sqlite3 *open_it(const char *name)
{
    sqlite3 *db = NULL;
    assert_int_equal(myth_database_open(&db, files_path(name), SQLITE_OPEN_READWRITE, NULL, 0), SQLITE_OK);
    return db;
}

static void planted_statements_do_not_run(void **state)
{
    int64_t n = -1;
    (void)state;
    make("planted.db", "CREATE TABLE t(x); CREATE TABLE log(x); CREATE VIEW v AS SELECT 7 AS x;"
                       "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES(1); END");
    sqlite3 *db = open_it("planted.db");
    assert_int_equal(sqlite3_exec(db, "INSERT INTO t VALUES(1)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(myth_database_number(db, &n, "SELECT count(*) FROM log"), SQLITE_ROW);
    assert_int_equal(n, 0);
    assert_int_equal(myth_database_number(db, &n, "SELECT x FROM v") & 0xff, SQLITE_ERROR);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE TABLE t(y)' WHERE "
                                  "name='t'",
                                  NULL, NULL, NULL) &
                         0xff,
                     SQLITE_ERROR); /* defensive */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void numbers(void **state)
{
    int64_t n = 5;
    (void)state;
    make("n.db", "CREATE TABLE t(x); INSERT INTO t VALUES(3), (4)");
    sqlite3 *db = open_it("n.db");
    assert_int_equal(myth_database_number(db, &n, "SELECT x FROM t WHERE x > 9"), SQLITE_DONE);
    assert_int_equal(n, 5);
    assert_int_equal(myth_database_number(db, &n, "SELECT x FROM t ORDER BY x DESC"), SQLITE_ROW);
    assert_int_equal(n, 4);
    assert_int_equal(myth_database_number(db, &n, "SELECT y FROM t") & 0xff, SQLITE_ERROR);
    assert_int_equal(sqlite3_close(db), SQLITE_OK); /* no statement is left open */
}

static void names_with_signs_of_a_uri(void **state)
{
    static const char name[] = "a?b#c%41.db";
    char uri[3 * 4096 + 32];
    sqlite3 *db = NULL;
    int64_t n = 0;
    (void)state;
    make(name, "CREATE TABLE t(x); INSERT INTO t VALUES(11)");
    const char *path = files_path(name);
    myth_database_immutable(uri, path);
    assert_true(strlen(uri) + 1 <= myth_database_uri_bound(strlen(path)));
    assert_int_equal(myth_database_open(&db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, 0), SQLITE_OK);
    assert_int_equal(myth_database_number(db, &n, "SELECT x FROM t"), SQLITE_ROW);
    assert_int_equal(n, 11);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void no_log_outlives_its_database(void **state)
{
    static const char *const name[] = {"gone.db", "gone.db-wal", "gone.db-shm", "gone.db-journal"};
    struct stat sb;
    (void)state;
    for (int i = 0; i < 4; i++)
        make(name[i], "CREATE TABLE t(x)");
    myth_database_remove(files_path(name[0]));
    for (int i = 0; i < 4; i++)
        assert_int_not_equal(stat(files_path(name[i]), &sb), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_statements_do_not_run),
        cmocka_unit_test(numbers),
        cmocka_unit_test(names_with_signs_of_a_uri),
        cmocka_unit_test(no_log_outlives_its_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
