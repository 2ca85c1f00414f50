/* match.c - see match.h. The terms become one MATCH of quoted strings joined by OR; phrase i of FTS5 is term i here. An auxiliary function sees
 * every row once and keeps the best in a heap: no sorting of all rows, and the parts of the score come with them.             */
#include "match.h"
#include "fts_tokenizer.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n_text;
    uint32_t group;
    double weight;                  /* of the term, times idf once that is known */
    int64_t df;
    bool is_alternative, is_kept;
} term;

typedef struct {
    term *term;                     /* those of the MATCH are the first n_phrase */
    uint32_t n_term, n_phrase, n_group;
    double k1, b, column[MYTH_COL_N], avg_words;
    double *group_score, (*group_column)[MYTH_COL_N];
    myth_match_row *heap;           /* the worst on top */
    uint32_t n_heap, max;
    uint64_t n_seen;
    int64_t n_row;
    int rc;                         /* of a call inside FTS5 that failed */
} plan;

/* ---- the best rows ---- */

static bool is_worse(const myth_match_row *a, const myth_match_row *b) { return a->score < b->score || (a->score == b->score && a->id > b->id); }

static void sift_down(myth_match_row *heap, uint32_t n, uint32_t i)
{
    for (;;) {
        uint32_t worst = i, left = 2 * i + 1;
        for (uint32_t child = left; child < n && child < left + 2; child++)
            if (is_worse(&heap[child], &heap[worst]))
                worst = child;
        if (worst == i)
            return;
        myth_match_row t = heap[i];
        heap[i] = heap[worst];
        heap[worst] = t;
        i = worst;
    }
}

static void heap_push(plan *p, const myth_match_row *row)
{
    if (p->n_heap == p->max) {
        if (!is_worse(&p->heap[0], row))
            return;
        p->heap[0] = *row;
        sift_down(p->heap, p->n_heap, 0);
        return;
    }
    uint32_t i = p->n_heap++;
    p->heap[i] = *row;
    while (i > 0 && is_worse(&p->heap[i], &p->heap[(i - 1) / 2])) {
        myth_match_row t = p->heap[i];
        p->heap[i] = p->heap[(i - 1) / 2];
        p->heap[(i - 1) / 2] = t;
        i = (i - 1) / 2;
    }
}

static void heap_sort(plan *p)
{
    for (uint32_t n = p->n_heap; n > 1; n--) {
        myth_match_row t = p->heap[0];
        p->heap[0] = p->heap[n - 1];
        p->heap[n - 1] = t;
        sift_down(p->heap, n - 1, 0);
    }
}

/* ---- one row ---- */

/* How often phrase i is in each column of the row. */
static int count_phrase(const Fts5ExtensionApi *api, Fts5Context *fts, int i, int count[MYTH_COL_N])
{
    Fts5PhraseIter it;
    int col, off, any = 0;
    int rc = api->xPhraseFirst(fts, i, &it, &col, &off);
    for (; rc == SQLITE_OK && col >= 0; api->xPhraseNext(fts, &it, &col, &off), any = 1)
        count[col < MYTH_COL_N ? col : MYTH_COL_BODY]++;
    return rc == SQLITE_OK ? any : -1;
}

static int score_row(plan *p, const Fts5ExtensionApi *api, Fts5Context *fts, myth_match_row *row)
{
    int n_words = 0, rc = api->xColumnSize(fts, -1, &n_words);
    double norm = p->k1 * (1 - p->b + p->b * n_words / p->avg_words);
    if (rc != SQLITE_OK)
        return rc;
    for (uint32_t g = 0; g < p->n_group; g++)
        p->group_score[g] = 0;
    for (uint32_t i = 0; i < p->n_phrase; i++) {
        int count[MYTH_COL_N] = { 0 }, any = count_phrase(api, fts, (int)i, count);
        if (any < 0)
            return SQLITE_ERROR;
        if (!any)
            continue;
        const term *t = &p->term[i];
        double f = 0;
        for (int c = 0; c < MYTH_COL_N; c++)
            f += p->column[c] * count[c];
        double score = t->weight * f * (p->k1 + 1) / (f + norm);
        if (f <= 0 || score <= p->group_score[t->group])
            continue;
        p->group_score[t->group] = score;
        for (int c = 0; c < MYTH_COL_N; c++)
            p->group_column[t->group][c] = score * p->column[c] * count[c] / f;
    }
    for (uint32_t g = 0; g < p->n_group; g++) {
        if (p->group_score[g] <= 0)
            continue;
        row->n_group++;
        row->score += p->group_score[g];
        for (int c = 0; c < MYTH_COL_N; c++)
            row->column[c] += p->group_column[g][c];
    }
    return SQLITE_OK;
}

/* myth_score(fts, pointer to the plan): called once a row, gives nothing back. */
static void score_function(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n_arg, sqlite3_value **arg)
{
    plan *p = n_arg == 1 ? sqlite3_value_pointer(arg[0], "myth_plan") : NULL;
    if (!p) {
        sqlite3_result_error(ctx, "myth_score is for myth_match", -1);
        return;
    }
    if (p->avg_words <= 0) {
        sqlite3_int64 n_words = 0, n_row = 0;
        if (api->xColumnTotalSize(fts, -1, &n_words) != SQLITE_OK || api->xRowCount(fts, &n_row) != SQLITE_OK) {
            sqlite3_result_error(ctx, "the full-text index has lost its sums", -1);
            return;
        }
        p->avg_words = n_words > 0 && n_row > 0 ? (double)n_words / (double)n_row : 1;
    }
    myth_match_row row = { .id = api->xRowid(fts) };
    int rc = score_row(p, api, fts, &row);
    if (rc != SQLITE_OK) {
        sqlite3_result_error_code(ctx, rc);
        return;
    }
    p->n_seen++;
    if (row.score > 0)
        heap_push(p, &row);
    sqlite3_result_int(ctx, 1);
}

static myth_status fail_db(sqlite3 *db, myth_error *err, const char *what)
{
    int rc = sqlite3_errcode(db);
    myth_status code = rc == SQLITE_NOMEM ? MYTH_ENOMEM : rc == SQLITE_INTERRUPT ? MYTH_ECANCEL : rc == SQLITE_IOERR ? MYTH_EIO : MYTH_EFORMAT;
    return myth_fail(err, code, "search: %s: %s; `mythos index --check` looks at the whole index", what, sqlite3_errmsg(db));
}

myth_status myth_match_register(sqlite3 *db, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    fts5_api *api = NULL;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &s, NULL) != SQLITE_OK)
        return myth_fail(err, MYTH_EUNSUPPORTED, "search: this SQLite has no FTS5: %s", sqlite3_errmsg(db));
    sqlite3_bind_pointer(s, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(s);
    sqlite3_finalize(s);
    if (!api || api->iVersion < 2 || api->xCreateFunction(api, "myth_score", NULL, score_function, NULL) != SQLITE_OK)
        return myth_fail(err, MYTH_EUNSUPPORTED, "search: FTS5 of this SQLite takes no scoring function");
    return MYTH_OK;
}

/* ---- which terms are asked ---- */

static myth_status count_rows(sqlite3 *db, int64_t *out, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    /* The table of sizes has a row for each: counting it reads its keys alone. */
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM fts_docsize", -1, &s, NULL) != SQLITE_OK)
        return fail_db(db, err, "counting rows");
    int rc = sqlite3_step(s);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return rc == SQLITE_ROW ? MYTH_OK : fail_db(db, err, "counting rows");
}

/* Rows with each term, counted up to `most`. */
static myth_status count_terms(sqlite3 *db, plan *p, char *text, int64_t most, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM (SELECT 1 FROM fts WHERE fts MATCH ?1 LIMIT ?2)", -1, &s, NULL) != SQLITE_OK)
        return fail_db(db, err, "counting a word");
    for (uint32_t i = 0; i < p->n_term && st == MYTH_OK; i++) {
        size_t n = myth_fts_quote(text, SIZE_MAX, p->term[i].text, p->term[i].n_text, false);
        p->term[i].df = 0;
        if (n == 0)
            continue;
        sqlite3_bind_text(s, 1, text, (int)n, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, most);
        if (sqlite3_step(s) == SQLITE_ROW)
            p->term[i].df = sqlite3_column_int64(s, 0);
        else
            st = fail_db(db, err, "counting a word");
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return st;
}

static double idf(const plan *p, int64_t df) { return log(1 + ((double)(p->n_row - df) + 0.5) / ((double)df + 0.5)); }

/* Drops what is not there and what says little; keeps the groups that weigh most. */
static void choose_terms(plan *p, const myth_weights_search *w, uint32_t *n_dropped)
{
    bool is_long = p->n_group > w->long_groups;
    int64_t frequent = (int64_t)(w->long_df * (double)p->n_row) + 1, common = (int64_t)(w->alt_df * (double)p->n_row) + 1;
    uint32_t n_asked = 0;
    *n_dropped = 0;
    for (uint32_t i = 0; i < p->n_term; i++) {
        term *t = &p->term[i];
        t->is_kept = t->df > 0 && (t->df <= frequent || !is_long) && (t->df <= common || !t->is_alternative);
    }
    for (uint32_t i = 0; i < p->n_term; i++)                        /* never all */
        n_asked += p->term[i].is_kept;
    for (uint32_t i = 0; i < p->n_term && n_asked == 0; i++)
        p->term[i].is_kept = p->term[i].df > 0;
    for (uint32_t i = 0; i < p->n_term; i++) {
        term *t = &p->term[i];
        double own = idf(p, t->df);
        for (uint32_t k = 0; k < p->n_term && t->is_alternative; k++)           /* a rare abbreviation is no rarer thing */
            if (p->term[k].group == t->group && !p->term[k].is_alternative && p->term[k].df > 0 && idf(p, p->term[k].df) < own)
                own = idf(p, p->term[k].df);
        t->weight *= own;
        p->group_score[t->group] = t->is_kept && t->weight > p->group_score[t->group] ? t->weight : p->group_score[t->group];
    }
    for (uint32_t g = 0, kept = 0; g < p->n_group; g++) {
        uint32_t heavier = 0;
        for (uint32_t k = 0; k < p->n_group; k++)
            heavier += p->group_score[k] > p->group_score[g] || (p->group_score[k] == p->group_score[g] && k < g);
        bool is_out = p->group_score[g] <= 0 || heavier >= (uint32_t)w->max_groups;
        kept += !is_out;
        *n_dropped += is_out;
        for (uint32_t i = 0; i < p->n_term && is_out; i++)
            if (p->term[i].group == g)
                p->term[i].is_kept = false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_term; i++) {                      /* the kept ones first: their place is the phrase's number */
        if (!p->term[i].is_kept)
            continue;
        term t = p->term[i];
        p->term[i] = p->term[n];
        p->term[n++] = t;
    }
    p->n_phrase = n;
}

/* "a" OR "b" OR "c"; the phrases of a phrase query by AND, so that each must be there. */
static size_t write_match(char *text, size_t cap, const plan *p, const char *joint)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_phrase; i++) {
        if (i) {
            memcpy(text + n, joint, strlen(joint));
            n += strlen(joint);
        }
        n += myth_fts_quote(text + n, cap - n, p->term[i].text, p->term[i].n_text, false);
    }
    return n;
}

static myth_status run_match(sqlite3 *db, plan *p, const char *text, size_t n, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT myth_score(fts, ?2) FROM fts WHERE fts MATCH ?1", -1, &s, NULL) != SQLITE_OK)
        return fail_db(db, err, "asking the full-text index");
    sqlite3_bind_text(s, 1, text, (int)n, SQLITE_STATIC);
    sqlite3_bind_pointer(s, 2, p, "myth_plan", NULL);
    int rc;
    while ((rc = sqlite3_step(s)) == SQLITE_ROW)
        ;
    myth_status st = rc == SQLITE_DONE ? MYTH_OK : fail_db(db, err, "asking the full-text index");
    sqlite3_finalize(s);
    return st;
}

/* Terms and phrases of the query. Returns the bytes that their MATCH takes at most. */
static size_t collect(plan *p, const myth_query *q, bool only_phrases)
{
    size_t bytes = 1;
    for (uint32_t i = 0; i < q->n_phrase; i++)
        p->term[p->n_term++] = (term){ .text = q->phrase[i], .group = p->n_group++, .weight = 1 };
    if (!only_phrases) {
        for (uint32_t i = 0; i < q->n_term; i++)
            p->term[p->n_term++] = (term){ .text = q->term[i].text, .group = p->n_group + q->term[i].group, .weight = q->term[i].weight,
                                           .is_alternative = q->term[i].kind == MYTH_TERM_ALTERNATIVE };
        p->n_group += q->n_group;
    }
    for (uint32_t i = 0; i < p->n_term; i++) {
        p->term[i].n_text = strlen(p->term[i].text);
        bytes += 2 * p->term[i].n_text + 8;
    }
    return bytes;
}

myth_status myth_match(myth_matches *out, sqlite3 *db, const myth_query *q, const myth_weights_search *w, uint32_t max, bool only_phrases,
                       myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_matches){ 0 };
    plan p = { .k1 = w->k1, .b = w->b, .column = { w->col_path, w->col_names, w->col_body }, .max = max };
    uint32_t n_term = q->n_term + q->n_phrase, n_group = q->n_group + q->n_phrase;
    char *text = NULL;
    p.term = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_term + 1, sizeof(*p.term));
    p.group_score = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_score));
    p.group_column = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_column));
    p.heap = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", max + 1, sizeof(*p.heap));
    size_t cap = p.term ? collect(&p, q, only_phrases) : 0;
    text = cap ? myth_alloc(q->mem, MYTH_MEM_OTHER, "match", cap) : NULL;
    if (!text || !p.group_score || !p.group_column || !p.heap) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u rows", max);
        goto fail;
    }
    MYTH_TRY(count_rows(db, &p.n_row, err));
    bool is_long = p.n_group > w->long_groups;
    MYTH_TRY(count_terms(db, &p, text, is_long ? (int64_t)(w->long_df * (double)p.n_row) + 2 : p.n_row, err));
    choose_terms(&p, w, &out->n_dropped);
    out->n_group = p.n_group - out->n_dropped;
    if (p.n_phrase && !(only_phrases && out->n_dropped)) {
        size_t n = write_match(text, cap, &p, only_phrases ? " AND " : " OR ");
        MYTH_TRY(run_match(db, &p, text, n, err));
    }
    heap_sort(&p);
    out->row = p.heap;
    out->n_row = p.n_heap;
    out->n_seen = p.n_seen;
    p.heap = NULL;
fail:
    myth_free(q->mem, text);
    myth_free(q->mem, p.heap);
    myth_free(q->mem, p.group_column);
    myth_free(q->mem, p.group_score);
    myth_free(q->mem, p.term);
    return st;
}

void myth_matches_free(myth_matches *m, const myth_query *q)
{
    myth_free(q->mem, m->row);
    *m = (myth_matches){ 0 };
}
