/* nearest.c - finds names of the index that are near to an unknown one.
 *
 * Score    the larger of two: 1 - (letters changed, left out, added or swapped) / (length of the longer name); and
 *          0.95 times the share of identifier parts in common (Dice). Case, '_' and '$' are ignored. A definition
 *          in the place that the qualifier names gets a little more
 * Near     a score of at least MIN_SCORE; of equal scores the name whose length is nearer, then the one that sorts
 *          first. A name is listed with its first definition
 * Cost     one pass over all definitions. Most names are left out by their letters: stems are made only of those that
 *          could share a part with the wanted name */
#define _GNU_SOURCE /* memmem */
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/index/index_impl.h"
#include "usage_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LETTERS = 64, PARTS = 12, NAME = 256 };
#define MIN_SCORE       0.5
#define QUALIFIED_BONUS 0.1

/* A name in lower case without '_', '$' and blanks. */
typedef struct {
    char letter[NAME];
    uint32_t n;
} plain;

typedef struct {
    plain name; /* of its letters the first LETTERS are compared */
    char part[PARTS][LETTERS];
    uint32_t n_part;
} folded;

static void fold_letters(plain *f, const char *name)
{
    f->n = 0;
    for (; *name && f->n < NAME; name++)
        if (*name != '_' && *name != '$' && !isspace((unsigned char)*name))
            f->letter[f->n++] = (char)tolower((unsigned char)*name);
}

static void fold_parts(folded *f, const char *name)
{
    myth_word w;
    size_t pos = 0, n = strlen(name);
    f->n_part = 0;
    while (f->n_part < PARTS && myth_word_next(&w, name, n, &pos))
        for (unsigned i = 0; i < w.n_part && f->n_part < PARTS; i++)
            if (w.part[i].bytes > 1 && w.part[i].bytes < LETTERS) {
                size_t len = myth_word_stem(f->part[f->n_part], w.whole + w.part[i].off, w.part[i].bytes);
                f->part[f->n_part++][len] = '\0';
            }
}

static uint32_t n_compared(const plain *f) { return f->n < LETTERS ? f->n : LETTERS; }

/* Damerau's distance, with swaps of neighbouring letters only; stops when it exceeds `max`. */
static uint32_t distance(const plain *a, const plain *b, uint32_t max)
{
    const uint32_t n_a = n_compared(a), n_b = n_compared(b);
    uint32_t row[3][LETTERS + 1];
    if (n_a > n_b + max || n_b > n_a + max)
        return max + 1;
    for (uint32_t j = 0; j <= n_b; j++)
        row[0][j] = j;
    for (uint32_t i = 1; i <= n_a; i++) {
        uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3], least = i;
        now[0] = i;
        for (uint32_t j = 1; j <= n_b; j++) {
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
    return row[n_a % 3][n_b];
}

/* Whether a name has the beginning of a part's stem somewhere. A word differs from its stem in the stem's last two
 * letters at most (sensibility, sensibl), so a name without it does not have the part. */
static bool may_have_part(const plain *f, const folded *want)
{
    enum { SURE = 3 };
    for (uint32_t i = 0; i < want->n_part; i++) {
        const size_t len = strlen(want->part[i]), n = len > SURE + 2 ? SURE : len > 3 ? len - 2 : 1;
        if (memmem(f->letter, f->n, want->part[i], n))
            return true;
    }
    return false;
}

/* 0: below `least`. */
static double score_of(const folded *want, const char *name, double least)
{
    folded f;
    fold_letters(&f.name, name);
    const uint32_t n_want = n_compared(&want->name), n = n_compared(&f.name), longer = n > n_want ? n : n_want;
    uint32_t both = 0;
    if (longer == 0)
        return 0;
    const uint32_t max = (uint32_t)((1 - least) * longer + 1e-9), d = distance(&want->name, &f.name, max);
    double score = d > max ? 0 : 1 - (double)d / longer;
    if (!may_have_part(&f.name, want))
        return score;
    bool is_taken[PARTS] = {false};
    fold_parts(&f, name);
    for (uint32_t i = 0; i < want->n_part; i++)
        for (uint32_t j = 0; j < f.n_part; j++)
            if (!is_taken[j] && strcmp(want->part[i], f.part[j]) == 0) {
                is_taken[j] = true;
                both++;
                break;
            }
    const double by_parts = both ? 0.95 * 2 * both / (want->n_part + f.n_part) : 0;
    score = by_parts > score ? by_parts : score;
    return score < least ? 0 : score;
}

/* Of equal scores the name that is as long as the wanted one comes first: request before _request. */
static bool is_before(const myth_near *a, const myth_near *b, size_t n_wanted)
{
    const size_t n_a = strlen(a->name), n_b = strlen(b->name);
    const size_t a_off = n_a > n_wanted ? n_a - n_wanted : n_wanted - n_a;
    const size_t b_off = n_b > n_wanted ? n_b - n_wanted : n_wanted - n_b;
    if (a->score != b->score)
        return a->score > b->score;
    return a_off != b_off ? a_off < b_off : strcmp(a->name, b->name) < 0;
}

/* Keeps the best names, each once: of equal scores its first definition. */
static void keep(myth_near *out, uint32_t max, uint32_t *n, const myth_near *near, size_t n_wanted)
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
    while (at > 0 && is_before(near, &out[at - 1], n_wanted))
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

/* The last word of a qualifier: the type that a name is wanted of. */
static void fold_type(plain *type, const char *name, size_t n_qualifier)
{
    char qualifier[LETTERS];
    snprintf(qualifier, sizeof(qualifier), "%.*s", (int)(n_qualifier < LETTERS ? n_qualifier : 0), name);
    const char *last = qualifier;
    for (const char *p = qualifier; *p; p++)
        last = strchr(".:/#", *p) && p[1] ? p + 1 : last;
    fold_letters(type, last);
    for (uint32_t i = 0; i < type->n; i++)
        type->n = strchr(".:/#", type->letter[i]) ? i : type->n;
}

static bool is_in(sqlite3_stmt *row, const plain *type)
{
    char parent[NAME];
    plain p;
    if (type->n == 0)
        return false;
    put_column(parent, sizeof(parent), row, 1);
    fold_letters(&p, parent);
    return p.n == type->n && memcmp(p.letter, type->letter, p.n) == 0;
}

static myth_status scan_names(myth_near *out, uint32_t max, uint32_t *n, myth_store *store, const char *name,
                              size_t n_qualifier, myth_error *err)
{
    static const char sql[] = "SELECT name, parent, name_line, file_id FROM symbols";
    sqlite3_stmt *rows = NULL, *path = NULL;
    folded want;
    plain type;
    fold_type(&type, name, n_qualifier);
    const char *bare = name + n_qualifier;
    bare += strspn(bare, ".:/#>-");
    fold_letters(&want.name, bare);
    fold_parts(&want, bare);
    const double bonus = type.n > 0 ? QUALIFIED_BONUS : 0;
    int rc = sqlite3_prepare_v2(myth_store_db(store), sql, -1, &rows, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT path FROM files WHERE id=?1", -1, &path, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
        const double last = *n == max ? out[max - 1].score - bonus : 0;
        char found[NAME];
        put_column(found, sizeof(found), rows, 0);
        const double score = score_of(&want, found, last > MIN_SCORE ? last : MIN_SCORE);
        rc = SQLITE_OK;
        if (score == 0)
            continue;
        myth_near near = {.line = (uint32_t)sqlite3_column_int64(rows, 2)};
        memcpy(near.name, found, sizeof(found));
        near.score = score + (is_in(rows, &type) ? bonus : 0);
        sqlite3_bind_int64(path, 1, sqlite3_column_int64(rows, 3));
        rc = sqlite3_step(path);
        if (rc == SQLITE_ROW)
            put_column(near.path, sizeof(near.path), path, 0);
        rc = sqlite3_reset(path);
        keep(out, max, n, &near, strlen(bare));
    }
    rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
    myth_status st = myth_store_fail(store, rc, err);
    sqlite3_finalize(path);
    sqlite3_finalize(rows);
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
