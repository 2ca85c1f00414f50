/* bench_definitions.c - prints every definition that the index of a directory has: `bench_definitions DIR`, after
 * `mythos index DIR`.
 *
 * Prints  a line for each file, F, path, language and note, then a line for each of its definitions, D, line of the
 *         name, first line, last line, kind, 1 when it is exported, name and parent; separated by tabs. A tab or a line
 *         end in a name is a blank
 * For     bench/names_ctags.py, which compares them with those of universal-ctags */
#include "frontend/cli/environment.h"
#include "retrieval/index/index.h"

#include <stdio.h>

static void put(const unsigned char *text)
{
    for (; text && *text; text++)
        putchar(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text);
}

static int print_all(sqlite3 *db)
{
    static const char sql[] =
        "SELECT f.id, f.path, f.language, s.name_line, s.line0, s.line1, s.kind, "
        "s.flags, s.name, s.parent, f.note FROM files f LEFT JOIN symbols s ON s.file_id = f.id ORDER BY f.id, s.id";
    sqlite3_stmt *q = NULL;
    sqlite3_int64 file = 0;
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (sqlite3_column_int64(q, 0) != file) {
            file = sqlite3_column_int64(q, 0);
            printf("F\t");
            put(sqlite3_column_text(q, 1));
            putchar('\t');
            put(sqlite3_column_text(q, 2));
            putchar('\t');
            put(sqlite3_column_text(q, 10));
            putchar('\n');
        }
        if (sqlite3_column_type(q, 8) != SQLITE_NULL) {
            printf("D\t%d\t%d\t%d\t%s\t%d\t", sqlite3_column_int(q, 3), sqlite3_column_int(q, 4),
                   sqlite3_column_int(q, 5), myth_symbol_kind_name((myth_symbol_kind)sqlite3_column_int(q, 6)),
                   (sqlite3_column_int(q, 7) & MYTH_SYMBOL_EXPORTED) != 0);
            put(sqlite3_column_text(q, 8));
            putchar('\t');
            put(sqlite3_column_text(q, 9));
            putchar('\n');
        }
        rc = SQLITE_OK;
    }
    sqlite3_finalize(q);
    return rc;
}

int main(int n_arg, char **arg)
{
    myth_error err = {0};
    myth_mem *mem = NULL;
    myth_index *x = NULL;
    if (n_arg != 2) {
        fprintf(stderr, "usage: bench_definitions DIR\n");
        return 2;
    }
    const myth_index_opts opts = {.root = arg[1], .cache_dir = myth_env_cache_dir(), .is_read_only = true};
    if (myth_mem_open(&mem, 0, &err) != MYTH_OK || myth_index_open(&x, mem, &opts, &err) != MYTH_OK) {
        fprintf(stderr, "%s: %s\n", arg[1], err.msg);
        return 1;
    }
    const int rc = print_all(myth_store_db(myth_index_store(x)));
    if (rc != SQLITE_DONE)
        fprintf(stderr, "%s: %s\n", arg[1], sqlite3_errstr(rc));
    myth_index_close(x);
    return myth_mem_close(mem) != 0 || rc != SQLITE_DONE;
}
