/* index_tree.h - shared by tests of the index: a tree that changes at random, an index of it, and a dump of all
 * that an index holds as one text. */
#ifndef MYTH_TESTS_INDEX_TREE_H
#define MYTH_TESTS_INDEX_TREE_H

#include "tests/support/files.h"
#include "retrieval/index/index.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const words[] = {"parse", "file",    "index",   "count",  "error", "buffer",
                                    "token", "request", "session", "delete", "user",  "cache"};
enum { N_WORD = sizeof(words) / sizeof(words[0]), PATH_CAP = 512, NAMES_MAX = 4096 };

static inline const char *word(uint64_t *rng) { return words[check_below(rng, N_WORD)]; }

static inline void write_file(const char *path, uint64_t *rng)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    size_t len = strlen(path);
    bool is_c = path[len - 1] == 'c', is_py = path[len - 1] == 'y';
    uint32_t n = check_below(rng, 40);
    if (is_c)
        fprintf(f, "/* %s of the %s */\n#include <%s.h>\n\n", word(rng), word(rng), word(rng));
    for (uint32_t i = 0; i < n; i++) {
        const char *a = word(rng), *b = word(rng), *c = word(rng), *d = word(rng);
        unsigned v = check_below(rng, 10000);
        if (is_c)
            fprintf(f,
                    "static int %s_%s%u(int n)\n{\n    if (n > %u)\n        return %s_%s(n - 1);\n    return n;\n}\n\n",
                    a, b, v, v, c, d);
        else if (is_py)
            fprintf(f, "def %s_%s(x):\n    \"\"\"%s the %s.\"\"\"\n    return %s(x, %u)\n\n", a, b, c, d, a, v);
        else
            fprintf(f, "The %s of a %s is its %s, not %s %u.%s", a, b, c, d, v, check_below(rng, 4) ? "\n" : "\n\n");
    }
    if (n % 7 == 3)
        fprintf(f, "tail without an end \xff\xfe%c x", n % 2 ? '\t' : ' ');
    fclose(f);
}

static inline void new_name(char path[PATH_CAP], const char *root, uint64_t *rng)
{
    static const char *const suffix[] = {"c", "py", "txt"};
    char dir[PATH_CAP];
    const char *d = word(rng);
    snprintf(dir, sizeof(dir), "%.200s/%s%s", root, check_below(rng, 2) ? "src_" : "", d);
    mkdir(dir, 0755);
    snprintf(path, PATH_CAP, "%.250s/%s%u.%s", dir, word(rng), check_below(rng, 100), suffix[check_below(rng, 3)]);
}

/* Files below files_path(name): C, Python and text, made from a few words so that names repeat. */
static inline void tree_make(const char *name, uint32_t n_file, uint64_t *rng)
{
    char path[PATH_CAP];
    files_mkdir(name);
    for (uint32_t i = 0; i < n_file; i++) {
        new_name(path, files_path(name), rng);
        write_file(path, rng);
    }
}

typedef struct {
    char path[NAMES_MAX][PATH_CAP];
    uint32_t n;
} tree_names;

static inline int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static inline void list_files(tree_names *l, const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[PATH_CAP];
        struct stat st;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%.250s/%.250s", dir, e->d_name);
        assert_int_equal(lstat(path, &st), 0);
        if (S_ISDIR(st.st_mode))
            list_files(l, path);
        else if (l->n < NAMES_MAX)
            memcpy(l->path[l->n++], path, PATH_CAP);
    }
    closedir(d);
}

/* Edits, removals, renames, new files. */
static inline void tree_change(const char *name, uint32_t n_change, uint64_t *rng)
{
    static tree_names l;
    char path[PATH_CAP];
    for (uint32_t i = 0; i < n_change; i++) {
        l.n = 0;
        list_files(&l, files_path(name));
        qsort(l.path, l.n, PATH_CAP, compare_names);
        const char *old = l.n ? l.path[check_below(rng, l.n)] : NULL;
        new_name(path, files_path(name), rng);
        switch (old ? check_below(rng, 5) : 0) {
        case 0: write_file(path, rng); break;
        case 1:
            if (l.n > 1)
                unlink(old);
            break;
        case 2: rename(old, path); break;
        default: write_file(old, rng); break;
        }
    }
}

/* ---- the index ---- */

/* Removes a database and what lies beside it. */
static inline void index_remove(const char *db)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal", ".lock", ".embeddings", ".vectors.lock"};
    for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", db, suffix[i]);
        unlink(files_path(name));
    }
}

static inline myth_index *open_index(const char *tree, const char *db, myth_mem *mem, bool is_read_only)
{
    myth_error err = {0};
    myth_index *x = NULL;
    myth_index_opts opts = {
        .root = files_path(tree),
        .path = files_path(db),
        .worker_path = getenv("MYTHOS_BIN"),
        .n_threads = 2,
        .is_read_only = is_read_only,
    };
    if (myth_index_open(&x, mem, &opts, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    return x;
}

/* Opens the index at files_path(db) of the tree; updates it. Fails the test when that fails. */
static inline void index_update(const char *tree, const char *db, myth_mem *mem, myth_index_stats *stats)
{
    myth_error err = {0};
    myth_index *x = open_index(tree, db, mem, false);
    if (myth_index_update(x, NULL, stats, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    myth_index_close(x);
}

static inline void fail_line(void *arg, const char *line) { fail_msg("%s: %s", (const char *)arg, line); }

static inline void put_rows(bytes *out, sqlite3 *db, const char *sql, int64_t id)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    sqlite3_bind_int64(q, 1, id);
    int rc;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            if (i)
                bytes_text(out, "|");
            bytes_put(out, sqlite3_column_blob(q, i), (size_t)sqlite3_column_bytes(q, i));
        }
        bytes_text(out, "\n");
    }
    assert_int_equal(rc, SQLITE_DONE);
    sqlite3_finalize(q);
}

static inline bool put_ref(void *arg, const myth_store_ref *ref)
{
    char line[512];
    snprintf(line, sizeof(line), "use %s in %s at %u, %d\n", ref->name, ref->within, ref->line, (int)ref->kind);
    bytes_text(arg, line);
    return true;
}

/* Checks it and writes what it says, by path and place, without ids and clocks. */
static inline void index_dump(bytes *out, const char *tree, const char *db, myth_mem *mem)
{
    myth_error err = {0};
    uint64_t n_problem = 0;
    myth_index *x = open_index(tree, db, mem, true);
    if (myth_index_check(x, fail_line, (void *)(uintptr_t)db, &n_problem, &err) != MYTH_OK)
        fail_msg("%s: %s", db, err.msg);
    assert_int_equal(n_problem, 0);
    myth_store *s = myth_index_store(x);
    sqlite3 *sql = myth_store_db(s);
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(sql, "SELECT id, path FROM files ORDER BY path", -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(q, 0);
        put_rows(out, sql, "SELECT path, bytes, hash, language, flags, note FROM files WHERE id=?1", id);
        put_rows(out, sql,
                 "SELECT off, bytes, line0, line1, kind, symbol, parent, doc_off, doc_bytes, flags, hash, "
                 "span(file_id, off, bytes) "
                 "FROM chunks WHERE file_id=?1 ORDER BY off",
                 id);
        put_rows(out, sql,
                 "SELECT name, parent, kind, line0, line1, name_line, off, bytes, span(file_id, signature_off, "
                 "signature_bytes), flags "
                 "FROM symbols WHERE file_id=?1 ORDER BY id",
                 id);
        put_rows(out, sql, "SELECT n_commit, last_time FROM history WHERE file_id=?1", id);
        assert_int_equal(myth_store_refs(s, id, put_ref, out, &err), MYTH_OK);
    }
    sqlite3_finalize(q);
    put_rows(out, sql,
             "SELECT key, value FROM meta WHERE key NOT IN ('dictionary', 'history', 'updates') AND key NOT LIKE "
             "'vectors%' ORDER BY key",
             0);
    put_rows(out, sql,
             "SELECT path, chunks.off FROM chunks JOIN files ON files.id=file_id WHERE chunks.id IN "
             "(SELECT rowid FROM fts WHERE fts MATCH '\"parse\" OR names:\"error\"') ORDER BY path, chunks.off",
             0);
    myth_index_close(x);
}

static inline int64_t index_count(myth_index *x, const char *sql, const char *arg)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), sql, -1, &q, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(myth_store_db(myth_index_store(x))));
    if (arg)
        sqlite3_bind_text(q, 1, arg, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

static inline int64_t index_found(myth_index *x, const char *query)
{
    return index_count(x, "SELECT count(*) FROM fts WHERE fts MATCH ?1", query);
}

/* The index equals one made anew. */
static inline void index_equals_fresh(const char *tree, const char *db, myth_mem *mem)
{
    bytes a = {0}, b = {0};
    myth_index_stats stats;
    index_remove("fresh.db");
    index_update(tree, "fresh.db", mem, &stats);
    index_dump(&a, tree, db, mem);
    index_dump(&b, tree, "fresh.db", mem);
    if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0) {
        size_t i = 0;
        while (i < a.len && i < b.len && a.data[i] == b.data[i])
            i++;
        size_t from = i > 80 ? i - 80 : 0;
        fail_msg("%s differs from a fresh index at byte %zu of %zu and %zu:\n%.160s\n---\n%.160s", db, i, a.len, b.len,
                 (char *)a.data + from, (char *)b.data + from);
    }
    bytes_free(&a);
    bytes_free(&b);
}

#endif
