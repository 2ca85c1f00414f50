/* nearest.c - finds names of the index that are near to an unknown one.
 *
 * Score    the larger of two: 1 - (letters changed, left out, added or swapped) / (length of the longer name); and
 *          0.95 times the share of identifier parts in common (Dice). Case, '_' and '$' are ignored. A definition
 *          in the place that the qualifier names gets a little more
 * Near     a score of at least MIN_SCORE. A name is listed with its first definition */
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/index/index_impl.h"
#include "usage_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LETTERS = 64, PARTS = 12 };
#define MIN_SCORE       0.5
#define QUALIFIED_BONUS 0.1

typedef struct {
    char letter[LETTERS];
    uint32_t n;
    char part[PARTS][LETTERS];
    uint32_t n_part;
} folded;

static void fold(folded *f, const char *name)
{
    myth_word w;
    size_t pos = 0, n = strlen(name);
    *f = (folded){.n = 0};
    for (size_t i = 0; i < n && f->n < LETTERS; i++)
        if (name[i] != '_' && name[i] != '$' && !isspace((unsigned char)name[i]))
            f->letter[f->n++] = (char)tolower((unsigned char)name[i]);
    while (f->n_part < PARTS && myth_word_next(&w, name, n, &pos))
        for (unsigned i = 0; i < w.n_part && f->n_part < PARTS; i++)
            if (w.part[i].bytes > 1 && w.part[i].bytes < LETTERS) {
                size_t len = myth_word_stem(f->part[f->n_part], w.whole + w.part[i].off, w.part[i].bytes);
                f->part[f->n_part++][len] = '\0';
            }
}

/* Damerau's distance, with swaps of neighbouring letters only; stops when it exceeds `max`. */
static uint32_t distance(const folded *a, const folded *b, uint32_t max)
{
    uint32_t row[3][LETTERS + 1];
    if (a->n > b->n + max || b->n > a->n + max)
        return max + 1;
    for (uint32_t j = 0; j <= b->n; j++)
        row[0][j] = j;
    for (uint32_t i = 1; i <= a->n; i++) {
        uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3], least = i;
        now[0] = i;
        for (uint32_t j = 1; j <= b->n; j++) {
            uint32_t d = up[j - 1] + (a->letter[i - 1] != b->letter[j - 1]);
            d = now[j - 1] + 1 < d ? now[j - 1] + 1 : d;
            d = up[j] + 1 < d ? up[j] + 1 : d;
            if (i > 1 && j > 1 && a->letter[i - 1] == b->letter[j - 2] && a->letter[i - 2] == b->letter[j - 1] &&
                upper[j - 2] + 1 < d)
                d = upper[j - 2] + 1;
            now[j] = d;
            least = d < least ? d : least;
        }
        if (least > max)
            return max + 1;
    }
    return row[a->n % 3][b->n];
}

static double score_of(const folded *a, const folded *b)
{
    uint32_t longer = a->n > b->n ? a->n : b->n, max = longer / 2, both = 0;
    if (longer == 0)
        return 0;
    uint32_t d = distance(a, b, max);
    double by_letters = d > max ? 0 : 1 - (double)d / longer;
    bool is_taken[PARTS] = {false};
    for (uint32_t i = 0; i < a->n_part; i++)
        for (uint32_t j = 0; j < b->n_part; j++)
            if (!is_taken[j] && strcmp(a->part[i], b->part[j]) == 0) {
                is_taken[j] = true;
                both++;
                break;
            }
    double by_parts = both ? 0.95 * 2 * both / (a->n_part + b->n_part) : 0;
    return by_letters > by_parts ? by_letters : by_parts;
}

/* Keeps the best names; of equal ones the earlier comes first. */
static void keep(myth_near *out, uint32_t max, uint32_t *n, const myth_near *near)
{
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp(out[i].name, near->name) == 0) {
            if (near->score <= out[i].score)
                return;
            memmove(&out[i], &out[i + 1], (*n - i - 1) * sizeof(*out));
            --*n;
            break;
        }
    uint32_t at = *n;
    while (at > 0 && out[at - 1].score < near->score)
        at--;
    if (at == max)
        return;
    uint32_t n_move = (*n < max ? *n : max - 1) - at;
    memmove(&out[at + 1], &out[at], n_move * sizeof(*out));
    out[at] = *near;
    *n += *n < max;
}

static void put_column(char *dst, size_t cap, sqlite3_stmt *q, int i)
{
    size_t n = (size_t)sqlite3_column_bytes(q, i);
    const void *text = sqlite3_column_blob(q, i);
    n = n < cap - 1 ? n : cap - 1;
    if (n)
        memcpy(dst, text, n);
    dst[n] = '\0';
}

static myth_status scan_names(myth_near *out, uint32_t max, uint32_t *n, myth_store *store, const char *name,
                              size_t n_qualifier, myth_error *err)
{
    /* Names come sorted, so comparing with the last one finds repetitions. */
    static const char sql[] = "SELECT name, parent, name_line, (SELECT path FROM files WHERE id=file_id) FROM symbols "
                              "WHERE name=?1 ORDER BY id";
    sqlite3_stmt *names = NULL, *rows = NULL;
    folded want, type, f;
    char qualifier[LETTERS];
    snprintf(qualifier, sizeof(qualifier), "%.*s", (int)(n_qualifier < LETTERS ? n_qualifier : 0), name);
    const char *last = qualifier;
    for (const char *p = qualifier; *p; p++)
        last = strchr(".:/#", *p) && p[1] ? p + 1 : last;
    fold(&type, last);
    for (uint32_t i = 0; i < type.n; i++)
        type.n = strchr(".:/#", type.letter[i]) ? i : type.n;
    const char *bare = name + n_qualifier;
    bare += strspn(bare, ".:/#>-");
    fold(&want, bare);
    int rc =
        sqlite3_prepare_v2(myth_store_db(store), "SELECT DISTINCT name FROM symbols ORDER BY name", -1, &names, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(myth_store_db(store), sql, -1, &rows, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(names)) == SQLITE_ROW) {
        myth_near near = {.line = 0};
        put_column(near.name, sizeof(near.name), names, 0);
        fold(&f, near.name);
        double score = score_of(&want, &f);
        rc = SQLITE_OK;
        if (score < MIN_SCORE || (*n == max && score + QUALIFIED_BONUS <= out[max - 1].score))
            continue;
        sqlite3_bind_value(rows, 1, sqlite3_column_value(names, 0));
        for (bool is_first = true; (rc = sqlite3_step(rows)) == SQLITE_ROW; is_first = false) {
            char parent[256];
            folded p;
            put_column(parent, sizeof(parent), rows, 1);
            fold(&p, parent);
            bool is_there = type.n > 0 && p.n == type.n && memcmp(p.letter, type.letter, p.n) == 0;
            if (!is_first && !is_there)
                continue;
            near.score = score + (is_there ? QUALIFIED_BONUS : 0);
            near.line = (uint32_t)sqlite3_column_int64(rows, 2);
            put_column(near.path, sizeof(near.path), rows, 3);
            keep(out, max, n, &near);
            if (is_there || type.n == 0)
                break;
        }
        rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
        sqlite3_reset(rows);
    }
    myth_status st = myth_store_fail(store, rc, err);
    sqlite3_finalize(rows);
    sqlite3_finalize(names);
    return st;
}

myth_status myth_usage_nearest(myth_near *out, uint32_t max, uint32_t *n, myth_index *x, const char *name,
                               myth_error *err)
{
    myth_store *store = myth_index_store(x);
    size_t n_qualifier = 0;
    *n = 0;
    max = max < MYTH_NEAR_MAX ? max : MYTH_NEAR_MAX;
    for (size_t i = strlen(name); i > 0 && n_qualifier == 0; i--) /* up to the last access mark before a name */
        if (strchr(".:/#>", name[i - 1]) && name[i])
            n_qualifier = i;
    while (n_qualifier > 0 && strchr(".:/#>-", name[n_qualifier - 1]))
        n_qualifier--;
    myth_status st = max ? myth_store_read_begin(store, err) : MYTH_OK;
    if (st != MYTH_OK || !max)
        return st;
    st = scan_names(out, max, n, store, name, n_qualifier, err);
    myth_store_read_end(store);
    return st;
}
