/* requests.cpp - values between the quotes of a statement. Marks: see test_examples.c. */

int named(sqlite3 *db, const char *name, sqlite3_stmt **out)
{
    char sql[256];
    snprintf(sql, sizeof(sql), "SELECT id FROM users WHERE name = '%s'", name); // FIRES sql-injection/quoted missing-null-check/argument unchecked-return/dropped
    return sqlite3_prepare_v2(db, sql, -1, out, 0); // FIRES sql-injection/joined
}

int of_repository(sqlite3 *db, const struct repository *from, sqlite3_stmt **out)
{
    char sql[256];
    sqlite3_snprintf(sizeof(sql), sql, "SELECT id FROM users WHERE repo = '%s'", from->repo_id); // FIRES sql-injection/quoted-own missing-null-check/parameter
    return sqlite3_prepare_v2(db, sql, -1, out, 0); // FIRES sql-injection/joined
}

int quiet_sql_injection_bound(sqlite3 *db, const char *name, sqlite3_stmt **out)
{
    int rc = sqlite3_prepare_v2(db, "SELECT id FROM users WHERE name = ?", -1, out, 0);
    if (rc != SQLITE_OK)
        return rc;
    return sqlite3_bind_text(*out, 1, name, -1, SQLITE_TRANSIENT);
}
