/* plain.c - see plain.h. The index is an SQLite database in memory, made anew for each tree. */
#define _GNU_SOURCE
#include "plain.h"
#include "engine/base/array.h"
#include "engine/base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pcre2.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PYTHON_LINES = 60, /* lines of a chunk, at most */
    OTHER_LINES = 50,
    FILE_CHUNKS = 4, /* chunks whose scores make up that of their file */
    ROWS = 2000,     /* chunks of an answer that are looked at */
    DEPTH_MAX = 128, /* folders inside each other */
    PATH_BYTES = 4096,
    WORD_BYTES = 1024 /* of a query; longer words are not searched */
};

typedef struct {
    char *text;
    size_t n, cap;
} buffer;

typedef struct {
    char *path;
    double best[FILE_CHUNKS]; /* scores of its best chunks in the current search, best first */
    double score;
} file_row;

struct myth_plain {
    myth_mem *mem;
    const char *const *suffix;
    sqlite3 *db;
    sqlite3_stmt *insert;
    pcre2_code *name; /* finds the name that a line defines */
    pcre2_match_data *match;
    file_row *file;
    uint32_t n_file, cap_file;
    uint32_t *file_of; /* the file of row r is at r - 1: rowids start at 1 */
    uint32_t n_row, cap_row;
    buffer path_words, names, body, word, text;
};

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "plain: no memory"); }

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_start(char c) { return is_lower(c) || is_upper(c) || c == '_'; }

static myth_status reserve(myth_mem *mem, buffer *b, size_t more, myth_error *err)
{
    return MYTH_ARRAY_MORE(mem, MYTH_MEM_OTHER, "plain", &b->text, b->n, more, &b->cap) ? MYTH_OK : no_memory(err);
}

/* ---- words ---- */

/* The next word of a text, an identifier or a number: *at is moved to its beginning. */
static bool next_word(const char *text, size_t n, size_t *at, size_t *n_word)
{
    size_t i = *at;
    while (i < n && !is_start(text[i]) && !is_digit(text[i]))
        i++;
    *at = i;
    if (i == n)
        return false;
    bool is_number = is_digit(text[i]);
    while (i < n && (is_number ? is_digit(text[i]) : is_start(text[i]) || is_digit(text[i])))
        i++;
    *n_word = i - *at;
    return true;
}

/* The next part of a compound word: HTTPServer has "HTTP" and "Server", parse_json "parse" and "json". */
static bool next_part(const char *w, size_t n, size_t *at, size_t *n_part)
{
    size_t i = *at;
    while (i < n && w[i] == '_')
        i++;
    *at = i;
    if (i == n)
        return false;
    if (is_upper(w[i])) {
        while (i < n && is_upper(w[i]))
            i++;
        if (i < n && is_lower(w[i])) { /* the last of several capitals begins the next part */
            if (i - *at > 1)
                i--;
            else
                while (i < n && is_lower(w[i]))
                    i++;
        }
    } else if (is_lower(w[i])) {
        while (i < n && is_lower(w[i]))
            i++;
    } else {
        while (i < n && is_digit(w[i]))
            i++;
    }
    *n_part = i - *at;
    return true;
}

/* Appends a word in lower case, after a space. */
static myth_status put_word(myth_mem *mem, buffer *b, const char *w, size_t n, myth_error *err)
{
    myth_status st = reserve(mem, b, n + 2, err);
    if (st != MYTH_OK)
        return st;
    if (b->n)
        b->text[b->n++] = ' ';
    for (size_t i = 0; i < n; i++)
        b->text[b->n++] = is_upper(w[i]) ? (char)(w[i] + 'a' - 'A') : w[i];
    b->text[b->n] = '\0';
    return MYTH_OK;
}

/* Appends every word of a text, each followed by its parts if it has several. */
static myth_status put_words(myth_mem *mem, buffer *b, const char *text, size_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t n_word, n_part;
    for (size_t at = 0; next_word(text, n, &at, &n_word); at += n_word) {
        const char *w = text + at;
        size_t first = 0, second;
        MYTH_TRY(put_word(mem, b, w, n_word, err));
        if (!next_part(w, n_word, &first, &n_part))
            continue;
        second = first + n_part;
        if (!next_part(w, n_word, &second, &n_part))
            continue;
        for (size_t p = 0; next_part(w, n_word, &p, &n_part); p += n_part)
            MYTH_TRY(put_word(mem, b, w + p, n_part, err));
    }
fail:
    return st;
}

/* ---- chunks ---- */

static myth_status db_failed(const myth_plain *p, myth_error *err)
{
    return myth_fail(err, MYTH_EIO, "plain: %.160s", sqlite3_errmsg(p->db));
}

/* Appends the name that a line defines, if any, to `names`. */
static myth_status put_names(myth_plain *p, const char *line, size_t n, myth_error *err)
{
    int rc = pcre2_match(p->name, (PCRE2_SPTR)line, n, 0, PCRE2_ANCHORED, p->match, NULL);
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->match);
    for (int g = 1; g < rc; g++)
        if (at[2 * g] != PCRE2_UNSET)
            return put_words(p->mem, &p->names, line + at[2 * g], at[2 * g + 1] - at[2 * g], err);
    return MYTH_OK;
}

/* Adds a chunk of the file that is read, which is the last of the n_file. */
static myth_status put_row(myth_plain *p, const char *text, size_t n, myth_error *err)
{
    myth_status st = MYTH_OK;
    p->names.n = p->body.n = 0;
    for (size_t at = 0; at <= n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t len = end ? (size_t)(end - text) - at : n - at;
        MYTH_TRY(put_names(p, text + at, len, err));
        at += len + 1;
    }
    MYTH_TRY(put_words(p->mem, &p->body, text, n, err));
    if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_OTHER, "plain", &p->file_of, p->n_row, &p->cap_row))
        return no_memory(err);
    p->file_of[p->n_row++] = p->n_file - 1;
    sqlite3_bind_text(p->insert, 1, p->path_words.text, (int)p->path_words.n, SQLITE_STATIC);
    sqlite3_bind_text(p->insert, 2, p->names.text, (int)p->names.n, SQLITE_STATIC);
    sqlite3_bind_text(p->insert, 3, p->body.text, (int)p->body.n, SQLITE_STATIC);
    if (sqlite3_step(p->insert) != SQLITE_DONE)
        st = db_failed(p, err);
    sqlite3_reset(p->insert);
fail:
    return st;
}

static bool begins(const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && !is_start(line[n]) && !is_digit(line[n]);
}

static bool is_definition(const char *line)
{
    if (begins(line, "async")) {
        line += 5;
        size_t blank = strspn(line, " \t");
        return blank > 0 && begins(line + blank, "def");
    }
    return line[0] == '@' || begins(line, "def") || begins(line, "class");
}

/* Cuts a text, which ends with a NUL, into chunks. A Python chunk also ends before a definition that is not indented,
 * but not between a decorator and what it decorates. */
static myth_status cut_pieces(myth_plain *p, const char *text, size_t n, bool is_python, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t start = 0, last = 0;
    int lines = 0, most = is_python ? PYTHON_LINES : OTHER_LINES;
    for (size_t at = 0; at <= n;) {
        const char *end = memchr(text + at, '\n', n - at);
        if (at > start && (lines >= most || (is_python && is_definition(text + at) && text[last] != '@'))) {
            MYTH_TRY(put_row(p, text + start, at - 1 - start, err));
            start = at;
            lines = 0;
        }
        lines++;
        last = at;
        at = end ? (size_t)(end - text) + 1 : n + 1;
    }
    st = put_row(p, text + start, n - start, err);
fail:
    return st;
}

/* ---- files ---- */

static bool is_wanted(const char *name, const char *const *suffix)
{
    for (; *suffix; suffix++)
        if (myth_text_ends(name, *suffix))
            return true;
    return false;
}

static myth_status put_file(myth_plain *p, const char *path, myth_error *err)
{
    if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_OTHER, "plain", &p->file, p->n_file, &p->cap_file))
        return no_memory(err);
    size_t n = strlen(path) + 1;
    char *copy = myth_alloc(p->mem, MYTH_MEM_OTHER, "plain", n);
    if (!copy)
        return no_memory(err);
    memcpy(copy, path, n);
    p->file[p->n_file++] = (file_row){.path = copy};
    return MYTH_OK;
}

/* Lists the files below the folder `dir` and closes that descriptor. path: the folder's, "" for the root. */
static myth_status list(myth_plain *p, int dir, const char *path, int depth, myth_error *err)
{
    char at[PATH_BYTES];
    struct stat info;
    myth_status st = MYTH_OK;
    DIR *d = depth < DEPTH_MAX ? fdopendir(dir) : NULL;
    if (!d) {
        close(dir);
        return myth_fail(err, MYTH_EIO, "%s: %s", path, depth < DEPTH_MAX ? strerror(errno) : "too deep");
    }
    for (struct dirent *e; st == MYTH_OK && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(dirfd(d), e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if ((size_t)snprintf(at, sizeof(at), "%s%s%s", path, path[0] ? "/" : "", e->d_name) >= sizeof(at))
            st = myth_fail(err, MYTH_ELIMIT, "%.100s...: the path is too long", path);
        else if (S_ISDIR(info.st_mode)) {
            int sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (sub >= 0)
                st = list(p, sub, at, depth + 1, err);
        } else if (S_ISREG(info.st_mode) && is_wanted(e->d_name, p->suffix)) {
            st = put_file(p, at, err);
        }
    }
    closedir(d);
    return st;
}

static myth_status read_text(myth_plain *p, int dir, const char *path, myth_error *err)
{
    myth_status st = MYTH_OK;
    ssize_t got = 1;
    int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return myth_fail(err, MYTH_EIO, "%s: %s", path, strerror(errno));
    for (p->text.n = 0; st == MYTH_OK && got > 0; p->text.n += got > 0 ? (size_t)got : 0) {
        st = reserve(p->mem, &p->text, 65536, err);
        if (st == MYTH_OK && (got = read(fd, p->text.text + p->text.n, p->text.cap - p->text.n - 1)) < 0)
            st = myth_fail(err, MYTH_EIO, "%s: %s", path, strerror(errno));
    }
    close(fd);
    if (st == MYTH_OK)
        p->text.text[p->text.n] = '\0';
    return st;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const file_row *)a)->path, ((const file_row *)b)->path);
}

static myth_status fill(myth_plain *p, const char *dir, myth_error *err)
{
    myth_status st = MYTH_OK;
    int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), copy = root >= 0 ? dup(root) : -1;
    if (copy < 0) {
        st = myth_fail(err, MYTH_ENOTFOUND, "%s: %s", dir, strerror(errno));
        goto fail;
    }
    MYTH_TRY(list(p, copy, "", 0, err));
    if (p->n_file)
        qsort(p->file, p->n_file, sizeof(*p->file), by_path);
    uint32_t n_file = p->n_file;
    for (p->n_file = 1; p->n_file <= n_file; p->n_file++) { /* put_row gives a row to the file at n_file - 1 */
        const char *path = p->file[p->n_file - 1].path;
        p->path_words.n = 0;
        st = read_text(p, root, path, err);
        if (st == MYTH_OK)
            st = put_words(p->mem, &p->path_words, path, strlen(path), err);
        if (st == MYTH_OK)
            st = cut_pieces(p, p->text.text, p->text.n, myth_text_ends(path, ".py"), err);
        if (st != MYTH_OK)
            break;
    }
    p->n_file = n_file;
fail:
    if (root >= 0)
        close(root);
    return st;
}

static myth_status prepare(myth_plain *p, myth_error *err)
{
    static const char name[] =
        "\\s*(?:async\\s+def|def|class)\\s+([A-Za-z_]\\w*)|[A-Za-z_][\\w\\s\\*]*?\\b([A-Za-z_]\\w*)\\s*\\(|"
        "\\s*#\\s*define\\s+(\\w+)|(?:typedef\\s+)?(?:struct|enum|union)\\s+(\\w+)";
    int code;
    PCRE2_SIZE at;
    p->name = pcre2_compile((PCRE2_SPTR)name, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &code, &at, NULL);
    p->match = p->name ? pcre2_match_data_create_from_pattern(p->name, NULL) : NULL;
    if (!p->match)
        return no_memory(err);
    if (sqlite3_open(":memory:", &p->db) != SQLITE_OK ||
        sqlite3_exec(p->db,
                     "CREATE VIRTUAL TABLE t USING fts5(path, names, body, tokenize='porter unicode61 "
                     "remove_diacritics 0'); BEGIN",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(p->db, "INSERT INTO t(path, names, body) VALUES(?1, ?2, ?3)", -1, &p->insert, NULL) !=
            SQLITE_OK)
        return db_failed(p, err);
    return MYTH_OK;
}

myth_status myth_plain_open(myth_plain **out, myth_mem *mem, const char *dir, const char *const *suffix,
                            myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_plain *p = myth_alloc(mem, MYTH_MEM_OTHER, "plain", sizeof(*p));
    if (!p)
        return no_memory(err);
    p->mem = mem;
    p->suffix = suffix;
    MYTH_TRY(prepare(p, err));
    MYTH_TRY(fill(p, dir, err));
    if (sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        st = db_failed(p, err);
        goto fail;
    }
    *out = p;
    return MYTH_OK;
fail:
    myth_plain_close(p);
    return st;
}

void myth_plain_close(myth_plain *p)
{
    if (!p)
        return;
    sqlite3_finalize(p->insert);
    sqlite3_close(p->db);
    pcre2_match_data_free(p->match);
    pcre2_code_free(p->name);
    for (uint32_t i = 0; i < p->n_file; i++)
        myth_free(p->mem, p->file[i].path);
    myth_free(p->mem, p->file);
    myth_free(p->mem, p->file_of);
    buffer *const b[] = {&p->path_words, &p->names, &p->body, &p->word, &p->text};
    for (size_t i = 0; i < sizeof(b) / sizeof(b[0]); i++)
        myth_free(p->mem, b[i]->text);
    myth_free(p->mem, p);
}

/* ---- search ---- */

static bool is_stop_word(const char *w, size_t n)
{
    static const char list[] = " a about after all also an and any are as at be because been before being but by can "
                               "could did do does doing for from get had "
                               "has have how i if in into is it its just like may me more my no not of on one only or "
                               "other our out over s should so some "
                               "such t than that the their them then there these they this to up use used using very "
                               "was we were what when where which "
                               "while who why will with would you your ";
    char key[32];
    if (n + 3 > sizeof(key))
        return false;
    snprintf(key, sizeof(key), " %.*s ", (int)n, w);
    return strstr(list, key) != NULL;
}

/* Writes the FTS5 query `"a" OR "b" OR ...` with each word of the query once, without stop words and single letters.
 * Empty when no word is left. */
static myth_status make_match(myth_plain *p, const char *query, buffer *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    char quoted[WORD_BYTES];
    p->word.n = 0;
    MYTH_TRY(put_words(p->mem, &p->word, query, strlen(query), err));
    for (size_t at = 0; at < p->word.n;) {
        const char *w = p->word.text + at;
        size_t n = strcspn(w, " ");
        at += n + 1;
        int len = snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)n, w);
        if (n < 2 || (size_t)len >= sizeof(quoted) || is_stop_word(w, n) ||
            (out->n && memmem(out->text, out->n, quoted, (size_t)len)))
            continue;
        MYTH_TRY(reserve(p->mem, out, (size_t)len + 8, err));
        out->n += (size_t)snprintf(out->text + out->n, out->cap - out->n, "%s%s", out->n ? " OR " : "", quoted);
    }
fail:
    return st;
}

/* Inserts a score among the best of a file. */
static void keep_best(file_row *f, double score)
{
    for (int i = 0; i < FILE_CHUNKS; i++)
        if (score > f->best[i]) {
            double old = f->best[i];
            f->best[i] = score;
            score = old;
        }
}

/* Whether a folder of the path or the file's name says that it is a test. */
static bool is_test(const char *path)
{
    const char *name = path, *slash;
    for (; (slash = strchr(name, '/')); name = slash + 1) {
        size_t n = (size_t)(slash - name);
        if ((n == 4 && memcmp(name, "test", 4) == 0) || (n == 5 && memcmp(name, "tests", 5) == 0) ||
            (n == 7 && memcmp(name, "testing", 7) == 0))
            return true;
    }
    const char *dot = strrchr(name, '.');
    return strncmp(name, "test_", 5) == 0 || strcmp(name, "test") == 0 || strcmp(name, "tests") == 0 ||
           strcmp(name, "testing") == 0 || strcmp(name, "conftest.py") == 0 ||
           (dot && dot - name >= 5 && memcmp(dot - 5, "_test", 5) == 0);
}

static int by_score(const void *a, const void *b)
{
    const file_row *x = *(const file_row *const *)a, *y = *(const file_row *const *)b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return strcmp(x->path, y->path);
}

static myth_status collect(myth_plain *p, const char *match, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(p->db, "SELECT rowid, bm25(t, 4, 3, 1) FROM t WHERE t MATCH ?1 ORDER BY 2 LIMIT ?2", -1,
                                &s, NULL);
    if (rc != SQLITE_OK)
        return db_failed(p, err);
    sqlite3_bind_text(s, 1, match, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, ROWS);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        keep_best(&p->file[p->file_of[sqlite3_column_int64(s, 0) - 1]], -sqlite3_column_double(s, 1));
    myth_status st = rc == SQLITE_DONE ? MYTH_OK : db_failed(p, err);
    sqlite3_finalize(s);
    return st;
}

myth_status myth_plain_search(myth_plain *p, const char *query, uint32_t k, const char **path, uint32_t *n,
                              myth_error *err)
{
    buffer match = {0};
    const file_row **order = NULL;
    uint32_t n_order = 0;
    *n = 0;
    myth_status st = make_match(p, query, &match, err);
    if (st != MYTH_OK || match.n == 0 || p->n_file == 0)
        goto fail;
    if (!(order = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "plain", p->n_file, sizeof(*order)))) {
        st = no_memory(err);
        goto fail;
    }
    for (uint32_t i = 0; i < p->n_file; i++)
        memset(p->file[i].best, 0, sizeof(p->file[i].best));
    MYTH_TRY(collect(p, match.text, err));
    for (uint32_t i = 0; i < p->n_file; i++) {
        file_row *f = &p->file[i];
        f->score = 0;
        for (int c = 0; c < FILE_CHUNKS; c++)
            f->score += f->best[c] / (double)(1 << c);
        f->score *= is_test(f->path) ? 0.3 : 1;
        if (f->score > 0)
            order[n_order++] = f;
    }
    qsort(order, n_order, sizeof(*order), by_score);
    for (; *n < n_order && *n < k; ++*n)
        path[*n] = order[*n]->path;
fail:
    myth_free(p->mem, match.text);
    myth_free(p->mem, order);
    return st;
}
