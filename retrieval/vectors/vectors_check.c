/* vectors_check.c - checks that the vectors belong to the index: each row is that of an existing chunk, has the
 * hash of the chunk's text, and has the values that the model gave for this text; and the number of chunks without
 * a row is the one that the database records. */
#include "vectors_impl.h"
#include "embeddings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    myth_index *x;
    void (*report)(void *arg, const char *line);
    void *arg;
    uint64_t n_problem;
    const myth_vectors *v;
    myth_embeddings *kept; /* NULL: the embeddings are gone, so values cannot be compared */
    float *stored, *said;  /* [dim] */
} checker;

__attribute__((format(printf, 2, 3))) static void problem(checker *c, const char *fmt, ...)
{
    myth_error line;
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    myth_fail(&line, MYTH_EFORMAT, "vectors: %s", text);
    c->n_problem++;
    if (c->report)
        c->report(c->arg, line.msg);
}

static void check_values(checker *c, uint64_t row)
{
    int64_t id;
    uint64_t content;
    myth_vectors_row(c->v, row, &id, &content, c->stored);
    const int64_t record = c->kept ? myth_embeddings_find(c->kept, content) : -1;
    if (record < 0 || myth_embeddings_get(c->kept, record, c->said, NULL) != MYTH_OK)
        return;
    for (uint32_t i = 0; i < myth_vectors_about(c->v)->dim; i++)
        if (!(fabsf(c->stored[i] - c->said[i]) <= myth_vectors_step(c->v, i))) {
            problem(c, "the vector of chunk %lld is not what the model gave for its text", (long long)id);
            return;
        }
}

/* Walks over chunks and rows together, both sorted by id. */
static myth_status check_rows(checker *c, myth_error *err)
{
    const myth_vectors_info *about = myth_vectors_about(c->v);
    myth_store *s = c->x->store;
    sqlite3_stmt *q = NULL;
    uint64_t row = 0, n_without = 0;
    int rc = sqlite3_prepare_v2(myth_store_db(s), "SELECT id, hash FROM chunks ORDER BY id", -1, &q, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        const int64_t chunk = sqlite3_column_int64(q, 0);
        int64_t id = 0;
        uint64_t content = 0, wanted = 0;
        if (sqlite3_column_bytes(q, 1) == sizeof(wanted))
            memcpy(&wanted, sqlite3_column_blob(q, 1), sizeof(wanted));
        for (; row < about->n_row && (myth_vectors_row(c->v, row, &id, &content, c->stored), id < chunk); row++)
            if (!about->is_behind)
                problem(c, "there is a vector for chunk %lld, which does not exist", (long long)id);
        const bool has_row = row < about->n_row && id == chunk;
        n_without += !has_row;
        if (has_row && content != wanted && !about->is_behind)
            problem(c, "the vector of chunk %lld belongs to another text", (long long)id);
        if (has_row)
            check_values(c, row++);
        rc = SQLITE_OK;
    }
    for (; row < about->n_row && !about->is_behind; row++)
        problem(c, "there is a vector after that of the last chunk");
    const int64_t missing = myth_store_number(s, MYTH_VECTORS_MISSING, 0);
    if (!about->is_behind && (int64_t)n_without != missing)
        problem(c, "%llu chunks have no vector, the database says %lld", (unsigned long long)n_without,
                (long long)missing);
    myth_status st = myth_store_fail(s, rc, err);
    sqlite3_finalize(q);
    return st;
}

static myth_status open_kept(checker *c, myth_error *err)
{
    const myth_vectors_info *about = myth_vectors_about(c->v);
    char path[PATH_MAX];
    myth_embeddings_model m = {.dim = about->dim};
    memcpy(m.model, about->model, sizeof(m.model));
    memcpy(m.prompt, about->prompt, sizeof(m.prompt));
    myth_embeddings_path(path, c->x);
    c->stored = myth_alloc_n(c->x->mem, MYTH_MEM_OTHER, "vectors", about->dim, sizeof(float));
    c->said = myth_alloc_n(c->x->mem, MYTH_MEM_OTHER, "vectors", about->dim, sizeof(float));
    if (!c->stored || !c->said)
        return myth_fail(err, MYTH_ENOMEM, "no memory for a vector");
    myth_status st = myth_embeddings_open(&c->kept, c->x->mem, path, &m, 0, true, err);
    return st == MYTH_ENOMEM ? st : MYTH_OK;
}

/* Runs inside a read transaction. */
static myth_status check_open(checker *c, myth_error *err)
{
    myth_status st = open_kept(c, err);
    if (st == MYTH_OK)
        st = check_rows(c, err);
    myth_embeddings_close(c->kept);
    myth_free(c->x->mem, c->said);
    myth_free(c->x->mem, c->stored);
    return st;
}

myth_status myth_vectors_check(myth_index *x, void (*report)(void *arg, const char *line), void *arg,
                               uint64_t *n_problem, myth_error *err)
{
    enum { TRIES = 3 };
    checker c = {.x = x, .report = report, .arg = arg};
    myth_vectors *v = NULL;
    myth_error why = {0};
    myth_status st = MYTH_ELOST;
    *n_problem = 0;
    for (int i = 0; i < TRIES && st == MYTH_ELOST; i++) { /* an update may be replacing the file */
        myth_store_read_end(x->store);
        st = myth_store_read_begin(x->store, err);
        if (st != MYTH_OK)
            return st;
        st = myth_vectors_open(&v, x, &why);
    }
    if (st == MYTH_OK) {
        c.v = v;
        st = check_open(&c, err);
    } else if (st == MYTH_ENOMEM) {
        st = myth_fail_as(err, &why);
    } else {
        if (st != MYTH_ENOTFOUND)
            problem(&c, "%s", why.msg);
        st = MYTH_OK;
    }
    myth_vectors_close(v);
    myth_store_read_end(x->store);
    *n_problem = c.n_problem;
    return st;
}
