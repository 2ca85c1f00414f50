/* match.c - see match.h. Rows come a word at a time (postings.h), the heaviest words first: they bring rows until no
 * row without them can be among the best, and the others only add to those that are there. Phrases come through MATCH,
 * and all words do where the pages have a form that is not known. Lengths of rows are looked up for what may get in. */
#include "match.h"
#include "match_heap.h"
#include "match_kept.h"
#include "mend.h"
#include "row_filter.h"
#include "retrieval/store/postings.h"
#include "engine/base/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n_text;
    uint32_t group;
    double weight; /* the term's weight, times idf once that is known */
    int64_t df;
    myth_postings_word word;
    uint32_t first_row, n_row; /* its cached rows; n_row 0: not cached */
    bool is_phrase, is_alternative, is_form, is_title, is_code, is_kept;
} term;

/* A term in a row. */
typedef struct {
    uint32_t next, term; /* next: the row's next cell, + 1 */
    uint16_t count[MYTH_FTS_COLUMN_N];
} cell;

typedef struct {
    uint32_t id, first, n_cell; /* first: its newest cell, + 1 */
} found_row;

typedef struct {
    uint32_t term;
    const uint16_t *count;
    double f; /* weighted sum of the counts */
} seen;

enum {
    FILTER_BITS = 18, /* 32 KiB, the size of a first-level cache */
    MENDED_MAX = 8,   /* words of a query: each looks through a letter of the index */
    READ_TERMS = 48
}; /* a term's rows are read together with its df; most terms of a long query are then dropped */

/* ---- a search ---- */

/* The candidate rows, and which terms each of them has. */
typedef struct {
    found_row *row;
    cell *cell;
    uint32_t *slot;   /* open addressing: index + 1 by id  */
    uint64_t *filter; /* one bit per hash: 0 = surely not a candidate */
    uint32_t n_row, cap_row, n_cell, cap_cell, n_slot;
} rows;

typedef struct {
    myth_mem *mem;
    sqlite3 *db;
    myth_postings *postings;
    rows found;
    uint32_t asking;       /* the term whose rows are being read */
    myth_match_kept *kept; /* the connection's cache; may be NULL */
    seen *seen;            /* terms of the current row */
    term *term;            /* the first n_asked are in the order of asking: groups by weight, the heaviest first */
    uint32_t n_term, n_asked, n_group;
    bool is_choosing, takes_all; /* the term brings rows; every term does */
    bool is_full;                /* no row without the terms so far can be among the best */
    double most_rows, n_brought; /* rows of terms: as many may be brought, and were */
    uint32_t n_judged;           /* cells when the candidates were last judged */
    double k1, b, column[MYTH_FTS_COLUMN_N], avg_words;
    double *group_score, (*group_column)[MYTH_FTS_COLUMN_N];
    uint32_t *place; /* a group's place by weight */
    myth_match_heap best;
    int64_t n_row, n_counted;
    const myth_row_filter *only; /* NULL = all rows */
    myth_status st;              /* error in a row that came from MATCH */
    myth_error *err;
} plan;

/* ---- one row ---- */

/* Computes the score for a length norm; writes its parts to row unless that is NULL. */
static double sum_groups(plan *p, uint32_t n_seen, double norm, myth_match_row *row)
{
    double sum = 0;
    for (uint32_t g = 0; g < p->n_group; g++)
        p->group_score[g] = 0;
    for (uint32_t i = 0; i < n_seen; i++) {
        const seen *s = &p->seen[i];
        const term *t = &p->term[s->term];
        double score = t->weight * s->f * (p->k1 + 1) / (s->f + norm);
        if (score <= p->group_score[t->group])
            continue;
        sum += score - p->group_score[t->group];
        p->group_score[t->group] = score;
        for (int c = 0; c < MYTH_FTS_COLUMN_N && row; c++)
            p->group_column[t->group][c] = score * p->column[c] * s->count[c] / s->f;
    }
    for (uint32_t g = 0; g < p->n_group && row; g++) {
        if (p->group_score[g] <= 0)
            continue;
        row->n_group++;
        row->groups |= p->place[g] < MYTH_MATCH_GROUPS ? (uint64_t)1 << p->place[g] : 0;
        for (int c = 0; c < MYTH_FTS_COLUMN_N; c++)
            row->column[c] += p->group_column[g][c];
    }
    return sum;
}

static myth_status fail_db(sqlite3 *db, myth_error *err, const char *what)
{
    int rc = sqlite3_errcode(db);
    myth_status code = rc == SQLITE_NOMEM     ? MYTH_ENOMEM
                     : rc == SQLITE_INTERRUPT ? MYTH_ECANCEL
                     : rc == SQLITE_IOERR     ? MYTH_EIO
                                              : MYTH_EFORMAT;
    return myth_fail_remedy(err, code, MYTH_REMEDY_CHECK_INDEX, "search: %s: %s", what, sqlite3_errmsg(db));
}

static myth_status length_of(plan *p, myth_match_kept *k, uint32_t row, uint32_t *n_words, myth_error *err)
{
    if (k && row < k->n && k->length[row]) {
        *n_words = k->length[row];
        return MYTH_OK;
    }
    myth_status st = myth_postings_length(p->postings, row, n_words, err);
    if (st == MYTH_OK && k && row >= k->n && row < MYTH_MATCH_KEPT_LENGTHS) {
        uint32_t n = k->n ? k->n : 1024;
        while (n <= row)
            n *= 2;
        uint32_t *grown = myth_realloc(k->mem, MYTH_MEM_OTHER, "match", k->length, n * sizeof(*grown));
        if (grown) {
            memset(grown + k->n, 0, (n - k->n) * sizeof(*grown));
            k->length = grown;
            k->n = n;
        }
    }
    if (st == MYTH_OK && k && row < k->n)
        k->length[row] = *n_words;
    return st;
}

/* ---- the rows of the terms ---- */

static bool is_row(const void *r, uint32_t idx, const void *id)
{
    return ((const rows *)r)->row[idx].id == *(const uint32_t *)id;
}

static uint32_t *slot_of(const rows *r, uint32_t id)
{
    return myth_table_find(r->slot, r->n_slot, myth_hash_id(id), is_row, r, &id);
}

static myth_status grow_rows(plan *p)
{
    rows *r = &p->found;
    uint32_t cap = r->cap_row ? 2 * r->cap_row : 4096;
    found_row *row = myth_realloc(p->mem, MYTH_MEM_OTHER, "match", r->row, cap * sizeof(*row));
    if (row)
        r->row = row;
    uint32_t *slot = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "match", 2 * (size_t)cap, sizeof(*slot));
    if (!row || !slot) {
        myth_free(p->mem, slot);
        return myth_fail(p->err, MYTH_ENOMEM, "search: no memory for %u rows", cap);
    }
    myth_free(p->mem, r->slot);
    r->slot = slot;
    r->n_slot = 2 * cap;
    r->cap_row = cap;
    for (uint32_t i = 0; i < r->n_row; i++)
        *slot_of(r, r->row[i].id) = i + 1;
    return MYTH_OK;
}

static myth_status grow_cells(plan *p)
{
    rows *r = &p->found;
    uint32_t cap = r->cap_cell ? 2 * r->cap_cell : 4096;
    cell *grown = myth_realloc(p->mem, MYTH_MEM_OTHER, "match", r->cell, cap * sizeof(*grown));
    if (!grown)
        return myth_fail(p->err, MYTH_ENOMEM, "search: no memory for %u words in rows", cap);
    r->cell = grown;
    r->cap_cell = cap;
    return MYTH_OK;
}

/* Handles a row that has the current term. */
static myth_status take_row(void *arg, const myth_posting *one)
{
    myth_status st = MYTH_OK;
    plan *p = arg;
    rows *r = &p->found;
    uint32_t bit = one->row & ((1u << FILTER_BITS) - 1);
    const bool is_choosing = p->is_choosing;
    if (p->only && !myth_row_filter_has_chunk(p->only, one->row))
        return MYTH_OK;
    if (!is_choosing && !(r->filter[bit / 64] >> bit % 64 & 1))
        return MYTH_OK;
    if (is_choosing && r->n_row == r->cap_row)
        MYTH_TRY(grow_rows(p));
    uint32_t *slot = slot_of(r, one->row);
    if (!*slot) {
        if (!is_choosing)
            return MYTH_OK;
        r->row[r->n_row] = (found_row){.id = one->row};
        r->filter[bit / 64] |= (uint64_t)1 << bit % 64;
        *slot = ++r->n_row;
    }
    if (r->n_cell == r->cap_cell)
        MYTH_TRY(grow_cells(p));
    found_row *row = &r->row[*slot - 1];
    r->cell[r->n_cell] = (cell){.next = row->first, .term = p->asking};
    memcpy(r->cell[r->n_cell].count, one->count, sizeof(one->count));
    row->first = ++r->n_cell;
    row->n_cell++;
fail:
    return st;
}

/* SQL function myth_phrase(fts, pointer to the plan): called for every row with the phrase. */
static void phrase_function(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n_arg,
                            sqlite3_value **arg)
{
    plan *p = n_arg == 1 ? sqlite3_value_pointer(arg[0], "myth_plan") : NULL;
    Fts5PhraseIter it;
    int col, off;
    if (!p) {
        sqlite3_result_error(ctx, "myth_phrase is for myth_match", -1);
        return;
    }
    const sqlite3_int64 row = api->xRowid(fts);
    myth_posting one = {.row = (uint32_t)row};
    if (row < 1 || row > UINT32_MAX) {
        sqlite3_result_error_code(ctx, SQLITE_CORRUPT);
        return;
    }
    int rc = api->xPhraseFirst(fts, 0, &it, &col, &off);
    for (; rc == SQLITE_OK && col >= 0; api->xPhraseNext(fts, &it, &col, &off))
        one.count[col < MYTH_FTS_COLUMN_N ? col : MYTH_FTS_BODY]++;
    p->n_counted++;
    if (rc == SQLITE_OK && p->n_asked)
        p->st = take_row(p, &one);
    if (rc != SQLITE_OK || p->st != MYTH_OK)
        sqlite3_result_error_code(ctx, rc != SQLITE_OK ? rc : SQLITE_ABORT);
}

myth_status myth_match_register(sqlite3 *db, myth_mem *mem, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    fts5_api *api = NULL;
    if (sqlite3_prepare_v2(db, "SELECT myth_match_kept()", -1, &s, NULL) == SQLITE_OK) { /* registered before */
        sqlite3_finalize(s);
        return MYTH_OK;
    }
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &s, NULL) != SQLITE_OK)
        return myth_fail(err, MYTH_EUNSUPPORTED, "search: this SQLite has no FTS5: %s", sqlite3_errmsg(db));
    sqlite3_bind_pointer(s, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(s);
    sqlite3_finalize(s);
    if (!api || api->iVersion < 2 || api->xCreateFunction(api, "myth_phrase", NULL, phrase_function, NULL) != SQLITE_OK)
        return myth_fail(err, MYTH_EUNSUPPORTED, "search: FTS5 of this SQLite takes no function of ours");
    return myth_match_kept_open(db, mem, err);
}

/* Runs a phrase by MATCH. The first run counts its rows; a later one hands them to take_row. */
static myth_status run_phrase(plan *p, const term *t, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    char *text = myth_alloc(p->mem, MYTH_MEM_OTHER, "match", 2 * t->n_text + 8);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for a phrase");
    size_t n = myth_fts_quote(text, 2 * t->n_text + 8, t->text, t->n_text);
    p->n_counted = 0;
    if (n == 0) {
        myth_free(p->mem, text);
        return MYTH_OK;
    }
    int rc = sqlite3_prepare_v2(p->db, "SELECT myth_phrase(fts, ?2) FROM fts WHERE fts MATCH ?1", -1, &s, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(s, 1, text, (int)n, SQLITE_STATIC);
        sqlite3_bind_pointer(s, 2, p, "myth_plan", NULL);
        while ((rc = sqlite3_step(s)) == SQLITE_ROW)
            ;
    }
    myth_status st = p->st != MYTH_OK  ? p->st
                   : rc == SQLITE_DONE ? MYTH_OK
                                       : fail_db(p->db, err, "asking the full-text index");
    sqlite3_finalize(s);
    myth_free(p->mem, text);
    return st;
}

/* Looks up every term and counts its rows. */
static myth_status count_terms(plan *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->n_term; i++) {
        term *t = &p->term[i];
        char token[MYTH_WORD_BYTES];
        if (t->is_phrase || !myth_postings_has_pages(p->postings)) {
            MYTH_TRY(run_phrase(p, t, err));
            t->df = p->n_counted;
            continue;
        }
        size_t n = myth_fts_token(token, t->text, t->n_text);
        myth_match_kept_word *w = myth_match_kept_find_word(p->kept, token, n);
        if (w && w->n) {
            t->first_row = w->first;
            t->df = t->n_row = w->n_row;
            continue;
        }
        MYTH_TRY(myth_postings_find(p->postings, token, n, &t->word, err));
        if (!w || p->n_term > READ_TERMS || p->kept->n_row > MYTH_MATCH_KEPT_ROWS) {
            MYTH_TRY(myth_postings_count(p->postings, &t->word, &t->df, err));
            continue;
        }
        const uint32_t first = p->kept->n_row;
        st = myth_postings_walk(p->postings, &t->word, myth_match_kept_add, p->kept, err);
        if (st != MYTH_OK) {
            p->kept->n_row = first;
            return st == MYTH_ENOMEM ? myth_fail(err, st, "search: no memory for the rows of a word") : st;
        }
        t->first_row = first;
        t->df = t->n_row = p->kept->n_row - first;
        *w = (myth_match_kept_word){.n = (unsigned char)n, .first = first, .n_row = t->n_row};
        memcpy(w->token, token, n);
        p->kept->n_word++;
    }
fail:
    return st;
}

/* A compound name with one part replaced by the word that was meant. That word is known by its stem, which may have
 * lost an 'e' or have an 'i' for a 'y'. */
static myth_status mend_whole(plan *p, term *whole, const char *part, size_t n_part, const char *meant, size_t n_meant,
                              double weight, myth_error *err)
{
    enum { AS_IT_IS, WITH_E, WITH_Y, SPELLING_N };
    myth_status st = MYTH_OK;
    char token[MYTH_WORD_BYTES];
    const char *at = whole->df == 0 && whole->n_text > n_part ? strstr(whole->text, part) : NULL;
    if (!at || whole->n_text - n_part + n_meant >= sizeof(token))
        return MYTH_OK;
    size_t before = (size_t)(at - whole->text), behind = whole->n_text - before - n_part;
    for (int how = AS_IT_IS; how < SPELLING_N && whole->df == 0; how++) {
        size_t n = before + n_meant;
        memcpy(token, whole->text, before);
        memcpy(token + before, meant, n_meant);
        if (how == WITH_E)
            token[n++] = 'e';
        if (how == WITH_Y && token[n - 1] != 'i')
            break;
        if (how == WITH_Y)
            token[n - 1] = 'y';
        memcpy(token + n, at + n_part, behind);
        MYTH_TRY(myth_postings_find(p->postings, token, n + behind, &whole->word, err));
        MYTH_TRY(myth_postings_count(p->postings, &whole->word, &whole->df, err));
    }
    whole->weight *= whole->df ? weight : 1;
fail:
    return st;
}

static bool has_only_letters(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < 'a' || s[i] > 'z')
            return false;
    return true;
}

/* Whether the index has another form of the group's word. */
static bool has_form(const plan *p, uint32_t group)
{
    for (uint32_t i = 0; i < p->n_term; i++)
        if (p->term[i].group == group && p->term[i].is_form && p->term[i].df)
            return true;
    return false;
}

/* Replaces words of code that no row has by the nearest word that some row has. */
static myth_status mend_terms(plan *p, double weight, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_mended = 0;
    weight = myth_postings_has_pages(p->postings) ? weight : 0;
    for (uint32_t i = 0; i < p->n_term && weight > 0 && n_mended < MENDED_MAX; i++) {
        term *t = &p->term[i];
        char meant[MYTH_WORD_BYTES];
        size_t n;
        if (t->df || t->is_phrase || t->is_alternative || t->is_form || has_form(p, t->group) || !t->is_code ||
            t->n_text < MYTH_MEND_BYTES || !has_only_letters(t->text, t->n_text))
            continue;
        n_mended++;
        MYTH_TRY(myth_mend_word(p->postings, t->text, t->n_text, meant, &n, &t->word, &t->df, err));
        t->weight *= t->df ? weight : 1;
        for (uint32_t k = 0; k < p->n_term && n; k++)
            if (k != i && !p->term[k].is_phrase && !p->term[k].is_alternative)
                MYTH_TRY(mend_whole(p, &p->term[k], t->text, t->n_text, meant, n, weight, err));
    }
fail:
    return st;
}

/* Fills p->seen with the terms of a candidate. */
static uint32_t see_row(plan *p, const found_row *r)
{
    uint32_t n_seen = 0;
    for (uint32_t at = r->first; at; at = p->found.cell[at - 1].next) {
        const cell *one = &p->found.cell[at - 1];
        seen *s = &p->seen[n_seen];
        *s = (seen){.term = one->term, .count = one->count};
        for (int c = 0; c < MYTH_FTS_COLUMN_N; c++)
            s->f += p->column[c] * one->count[c];
        n_seen += s->f > 0;
    }
    return n_seen;
}

static double norm_of(const plan *p, uint32_t n_words) { return p->k1 * (1 - p->b + p->b * n_words / p->avg_words); }

/* Whether as many candidates as are wanted have a score above `most`, by the terms that were asked so far. Of those
 * that look best at any length, which costs no read, each is looked at with its own length, until one has less. */
static myth_status are_above(plan *p, double most, bool *is_so, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->found.n_row; i++) {
        const uint32_t n_seen = see_row(p, &p->found.row[i]);
        const myth_match_row row = {.id = p->found.row[i].id, .score = sum_groups(p, n_seen, norm_of(p, 0), NULL)};
        heap_push(&p->best, &row);
    }
    *is_so = p->best.row[0].score > most;
    for (uint32_t i = 0; i < p->best.n && *is_so; i++) {
        const uint32_t id = (uint32_t)p->best.row[i].id;
        const uint32_t n_seen = see_row(p, &p->found.row[*slot_of(&p->found, id) - 1]);
        uint32_t n_words;
        MYTH_TRY(length_of(p, p->kept, id, &n_words, err));
        *is_so = sum_groups(p, n_seen, norm_of(p, n_words), NULL) > most;
    }
fail:
    p->best.n = 0;
    return st;
}

/* The most that a row can have from the terms [from, to), which are whole groups. */
static double most_of(const plan *p, uint32_t from, uint32_t to)
{
    double most = 0;
    for (uint32_t i = from; i < to;) {
        const uint32_t group = p->term[i].group;
        double heaviest = 0;
        for (; i < to && p->term[i].group == group; i++)
            heaviest = fmax(heaviest, p->term[i].weight);
        most += heaviest * (p->k1 + 1);
    }
    return most;
}

/* Whether the terms of the group that is asked next bring rows: not when no row that has only these and later ones can
 * be among the best. The candidates are judged when there are enough, and again when their words have doubled. */
static myth_status choose_group(plan *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    const uint32_t group = p->term[p->asking].group;
    const bool may_be_full = !p->takes_all && !p->is_full && p->asking > 0 && p->found.n_row >= p->best.max &&
                             p->found.n_cell >= 2 * p->n_judged;
    double df = 0, most = may_be_full ? most_of(p, p->asking, p->n_asked) : 0;
    if (may_be_full && most < most_of(p, 0, p->asking)) {
        MYTH_TRY(are_above(p, most, &p->is_full, err));
        p->n_judged = p->found.n_cell;
    }
    for (uint32_t i = p->asking; i < p->n_asked && p->term[i].group == group; i++)
        df += (double)p->term[i].df;
    p->is_choosing = p->takes_all || p->asking == 0 || (!p->is_full && p->n_brought + df <= p->most_rows);
    p->n_brought += p->is_choosing ? df : 0;
fail:
    return st;
}

static myth_status find_rows(plan *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (!(p->found.filter = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "match", (1u << FILTER_BITS) / 64, sizeof(uint64_t))))
        return myth_fail(err, MYTH_ENOMEM, "search: no memory");
    for (p->asking = 0; p->asking < p->n_asked; p->asking++) {
        const term *t = &p->term[p->asking];
        if (p->asking == 0 || t->group != t[-1].group)
            MYTH_TRY(choose_group(p, err));
        for (uint32_t i = 0; i < t->n_row; i++)
            MYTH_TRY(take_row(p, &p->kept->row[t->first_row + i]));
        if (t->n_row == 0)
            MYTH_TRY(t->is_phrase || !myth_postings_has_pages(p->postings)
                         ? run_phrase(p, t, err)
                         : myth_postings_walk(p->postings, &t->word, take_row, p, err));
    }
fail:
    return st;
}

/* Scores the candidates. is_all: only rows that have every term. */
static myth_status score_rows(plan *p, bool is_all, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->found.n_row; i++) {
        const found_row *r = &p->found.row[i];
        uint32_t n_words;
        if (is_all && r->n_cell < p->n_asked)
            continue;
        const uint32_t n_seen = see_row(p, r);
        /* Looking up the length costs a read, so skip a row that could not get in at any length. */
        if (n_seen == 0 ||
            (p->best.n == p->best.max && sum_groups(p, n_seen, norm_of(p, 0), NULL) < p->best.row[0].score))
            continue;
        MYTH_TRY(length_of(p, p->kept, r->id, &n_words, err));
        myth_match_row row = {.id = r->id};
        row.score = sum_groups(p, n_seen, norm_of(p, n_words), &row);
        if (row.score > 0)
            heap_push(&p->best, &row);
    }
fail:
    return st;
}

/* ---- which terms are asked ---- */

static double idf(const plan *p, int64_t df) { return log(1 + ((double)(p->n_row - df) + 0.5) / ((double)df + 0.5)); }

/* Whether group a comes before b: it is heavier, or equal and first in the query. */
static bool is_heavier(const plan *p, uint32_t a, uint32_t b)
{
    return p->group_score[a] > p->group_score[b] || (p->group_score[a] == p->group_score[b] && a < b);
}

/* A long report would outweigh its title by its length alone, so the title's words together get a fixed share of the
 * whole. */
static void raise_title(plan *p, double share)
{
    double title = 0, rest = 0;
    for (uint32_t i = 0; i < p->n_term; i++)
        if (p->term[i].df > 0 && !p->term[i].is_alternative)
            *(p->term[i].is_title ? &title : &rest) += p->term[i].weight;
    if (title <= 0 || share >= 1 || title >= share * (title + rest))
        return;
    for (uint32_t i = 0; i < p->n_term; i++)
        p->term[i].weight *= p->term[i].is_title ? share / (1 - share) * rest / title : 1;
}

/* Rows of a term. Forms of one word count together, up to all rows. */
static int64_t forms_df(const plan *p, const term *t)
{
    int64_t df = t->df;
    if (t->is_alternative || t->is_phrase || !has_form(p, t->group))
        return df;
    for (uint32_t k = 0; k < p->n_term; k++) {
        const term *o = &p->term[k];
        df += o != t && o->group == t->group && !o->is_alternative && !o->is_phrase && (o->is_form || t->is_form)
                ? o->df
                : 0;
    }
    return df < p->n_row ? df : p->n_row;
}

/* Drops terms that no row has and groups that weigh little, and puts the others in the order of asking. `heavy`: room
 * for the groups. */
static void choose_terms(plan *p, const myth_weights_search *w, uint32_t *heavy, double weight[MYTH_MATCH_GROUPS],
                         uint32_t *n_dropped)
{
    int64_t common = (int64_t)(w->alt_df * (double)p->n_row) + 1;
    uint32_t n_heavy = 0, n = 0;
    for (uint32_t i = 0; i < p->n_term; i++) {
        term *t = &p->term[i];
        double own = idf(p, forms_df(p, t));
        t->is_kept = t->df > 0 && (t->df <= common || !t->is_alternative);
        /* a rare abbreviation does not make its word rarer */
        for (uint32_t k = 0; k < p->n_term && t->is_alternative; k++)
            if (p->term[k].group == t->group && !p->term[k].is_alternative && p->term[k].df > 0 &&
                idf(p, forms_df(p, &p->term[k])) < own)
                own = idf(p, forms_df(p, &p->term[k]));
        t->weight *= own;
    }
    raise_title(p, w->title);
    for (uint32_t i = 0; i < p->n_term; i++)
        if (p->term[i].is_kept && p->term[i].weight > p->group_score[p->term[i].group])
            p->group_score[p->term[i].group] = p->term[i].weight;
    for (uint32_t g = 0; g < p->n_group; g++) { /* insertion sort: groups are few, and the rarest can be anywhere */
        uint32_t at = n_heavy++;
        for (; at > 0 && is_heavier(p, g, heavy[at - 1]); at--)
            heavy[at] = heavy[at - 1];
        heavy[at] = g;
    }
    *n_dropped = 0;
    for (uint32_t k = 0; k < n_heavy; k++) {
        bool is_out = p->group_score[heavy[k]] <= 0 || k >= (uint32_t)w->max_groups;
        p->place[heavy[k]] = k;
        if (k < MYTH_MATCH_GROUPS)
            weight[k] = is_out ? 0 : p->group_score[heavy[k]];
        *n_dropped += is_out;
        for (uint32_t i = n; i < p->n_term; i++) {
            const term t = p->term[i];
            if (t.group != heavy[k] || !t.is_kept || is_out)
                continue;
            p->term[i] = p->term[n];
            p->term[n++] = t;
        }
    }
    p->n_asked = n;
}

/* ---- the whole ---- */

static void collect(plan *p, const myth_query *q, bool only_phrases)
{
    for (uint32_t i = 0; i < q->n_phrase; i++)
        p->term[p->n_term++] = (term){.text = q->phrase[i], .group = p->n_group++, .weight = 1, .is_phrase = true};
    if (!only_phrases) {
        for (uint32_t i = 0; i < q->n_term; i++)
            p->term[p->n_term++] = (term){
                .text = q->term[i].text,
                .group = p->n_group + q->term[i].group,
                .weight = q->term[i].weight,
                .is_alternative = q->term[i].kind == MYTH_TERM_ALTERNATIVE,
                .is_form = q->term[i].kind == MYTH_TERM_FORM,
                .is_title = q->term[i].is_title,
                .is_code = q->term[i].is_code || q->kind != MYTH_QUERY_ISSUE,
            };
        p->n_group += q->n_group;
    }
    for (uint32_t i = 0; i < p->n_term; i++)
        p->term[i].n_text = strlen(p->term[i].text);
}

static void read_total(plan *p)
{
    const myth_postings_total *all = myth_postings_total_of(p->postings);
    double n_words = 0;
    for (int c = 0; c < MYTH_FTS_COLUMN_N; c++)
        n_words += (double)all->n_words[c];
    p->n_row = all->n_row;
    p->avg_words = n_words > 0 && p->n_row > 0 ? n_words / (double)p->n_row : 1;
}

myth_status myth_match(myth_matches *out, sqlite3 *db, const myth_query *q, const myth_weights_search *w, uint32_t max,
                       bool only_phrases, const myth_row_filter *only, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_matches){0};
    plan p = {
        .mem = q->mem,
        .db = db,
        .only = only,
        .k1 = w->k1,
        .b = w->b,
        .best.max = max,
        .takes_all = only_phrases || only,
        .most_rows = w->rows,
        .err = err,
        .column = {[MYTH_FTS_BODY] = w->col_body, [MYTH_FTS_PATH] = w->col_path, [MYTH_FTS_NAMES] = w->col_names},
    };
    uint32_t n_term = q->n_term + q->n_phrase, n_group = q->n_group + q->n_phrase;
    bool is_missing = false;
    uint32_t *heavy = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*heavy));
    p.seen = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_term + 1, sizeof(*p.seen));
    p.term = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_term + 1, sizeof(*p.term));
    p.group_score = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_score));
    p.place = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.place));
    p.group_column = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_column));
    p.best.row = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", max + 1, sizeof(*p.best.row));
    if (!heavy || !p.seen || !p.term || !p.group_score || !p.place || !p.group_column || !p.best.row) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u rows", max);
        goto fail;
    }
    MYTH_TRY(myth_postings_open(&p.postings, q->mem, db, err));
    p.kept = myth_match_kept_of(db);
    read_total(&p);
    collect(&p, q, only_phrases);
    MYTH_TRY(count_terms(&p, err));
    MYTH_TRY(mend_terms(&p, w->mended, err));
    if (only_phrases)
        for (uint32_t i = 0; i < p.n_term; i++)
            is_missing |= p.term[i].df == 0;
    choose_terms(&p, w, heavy, out->weight, &out->n_dropped);
    for (uint32_t g = 0; g < q->n_group && !only_phrases; g++) {
        const uint32_t place = p.place[g + q->n_phrase];
        out->group_weight[g] = place < MYTH_MATCH_GROUPS ? out->weight[place] : 0;
    }
    out->n_group = p.n_group - out->n_dropped;
    if (p.n_asked && !is_missing) {
        MYTH_TRY(find_rows(&p, err));
        MYTH_TRY(score_rows(&p, only_phrases, err));
    }
    heap_sort(&p.best);
    out->row = p.best.row;
    out->n_row = p.best.n;
    out->n_seen = p.found.n_row;
    p.best.row = NULL;
fail:
    myth_postings_close(p.postings);
    myth_free(q->mem, p.found.row);
    myth_free(q->mem, p.found.cell);
    myth_free(q->mem, p.found.slot);
    myth_free(q->mem, p.found.filter);
    myth_free(q->mem, p.best.row);
    myth_free(q->mem, p.group_column);
    myth_free(q->mem, p.place);
    myth_free(q->mem, p.group_score);
    myth_free(q->mem, p.term);
    myth_free(q->mem, p.seen);
    myth_free(q->mem, heavy);
    return st;
}

void myth_matches_free(myth_matches *m, const myth_query *q)
{
    myth_free(q->mem, m->row);
    *m = (myth_matches){0};
}
