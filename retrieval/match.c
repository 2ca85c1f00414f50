/* match.c - see match.h. The terms become one MATCH of quoted strings joined by OR; phrase i of FTS5 is term i here. An auxiliary function sees
 * every row once and keeps the best in a heap: no sorting of all rows, and the parts of the score come with them.             */
#include "match.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n_text;
    uint32_t group;
    double weight;                  /* of the term, times idf once that is known */
    int64_t df;
    bool is_alternative, is_kept, is_choosing;
} term;

typedef struct {
    uint32_t term;
    int count[MYTH_FTS_COLUMN_N];
    double f;                       /* weighted sum of the counts */
} seen;

typedef struct {
    seen *seen;                     /* terms of the row at hand */
    term *term;                     /* those asked first: n_choosing, which bring rows, then up to n_asked, which add to them */
    uint32_t n_term, n_choosing, n_asked, n_group;
    double k1, b, column[MYTH_FTS_COLUMN_N], avg_words;
    double *group_score, (*group_column)[MYTH_FTS_COLUMN_N];
    myth_match_row *heap;           /* the worst on top */
    uint32_t n_heap, max;
    uint64_t n_seen;
    int64_t n_row;
} plan;

enum { COUNTED = 4096 };            /* rows of a term that are counted */

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
static int count_phrase(const Fts5ExtensionApi *api, Fts5Context *fts, int i, int count[MYTH_FTS_COLUMN_N])
{
    Fts5PhraseIter it;
    int col, off, any = 0;
    int rc = api->xPhraseFirst(fts, i, &it, &col, &off);
    for (; rc == SQLITE_OK && col >= 0; api->xPhraseNext(fts, &it, &col, &off), any = 1)
        count[col < MYTH_FTS_COLUMN_N ? col : MYTH_FTS_BODY]++;
    return rc == SQLITE_OK ? any : -1;
}

/* The score for a length norm; the parts go to row when it is given. */
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
        for (int c = 0; c < MYTH_FTS_COLUMN_N; c++)
            row->column[c] += p->group_column[g][c];
    }
    return sum;
}

static int score_row(plan *p, const Fts5ExtensionApi *api, Fts5Context *fts, myth_match_row *row)
{
    uint32_t n_seen = 0;
    for (uint32_t i = 0; i < p->n_asked; i++) {
        seen *s = &p->seen[n_seen];
        *s = (seen){ .term = i };
        /* Choosing terms stand in the MATCH twice when others do too: see write_match. */
        int phrase = (int)(i < p->n_choosing || p->n_asked == p->n_choosing ? i : i + p->n_choosing), any = count_phrase(api, fts, phrase, s->count);
        if (any < 0)
            return SQLITE_ERROR;
        for (int c = 0; c < MYTH_FTS_COLUMN_N; c++)
            s->f += p->column[c] * s->count[c];
        n_seen += any && s->f > 0;
    }
    /* The length is a look-up of its own: not for a row that no length would bring in. */
    if (n_seen == 0 || (p->n_heap == p->max && sum_groups(p, n_seen, p->k1 * (1 - p->b), NULL) < p->heap[0].score))
        return SQLITE_OK;
    int n_words = 0, rc = api->xColumnSize(fts, -1, &n_words);
    row->score = sum_groups(p, n_seen, p->k1 * (1 - p->b + p->b * n_words / p->avg_words), row);
    return rc;
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

/* Rows of the table, and the last one's id. FTS5 keeps the number in the first varint of its record of averages; counting would read them all. */
static myth_status count_rows(sqlite3 *db, int64_t *out, int64_t *last, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT (SELECT block FROM fts_data WHERE id = 1), (SELECT max(id) FROM fts_docsize)", -1, &s, NULL) != SQLITE_OK)
        return fail_db(db, err, "counting rows");
    int rc = sqlite3_step(s);
    *out = *last = 0;
    if (rc == SQLITE_ROW) {
        const unsigned char *block = sqlite3_column_blob(s, 0);
        for (int i = 0, n = sqlite3_column_bytes(s, 0); i < n && i < 8; i++) {
            *out = *out << 7 | (block[i] & 0x7f);
            if (!(block[i] & 0x80))
                break;
        }
        *last = sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    return rc == SQLITE_ROW ? MYTH_OK : fail_db(db, err, "counting rows");
}

/* Rows with each term. Beyond COUNTED of them, as many more as the rows behind the last one counted are of all. */
static myth_status count_terms(sqlite3 *db, plan *p, char *text, int64_t last_row, myth_error *err)
{
    myth_status st = MYTH_OK;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT count(*), max(rowid) FROM (SELECT rowid FROM fts WHERE fts MATCH ?1 LIMIT ?2)", -1, &s, NULL) != SQLITE_OK)
        return fail_db(db, err, "counting a word");
    for (uint32_t i = 0; i < p->n_term && st == MYTH_OK; i++) {
        size_t n = myth_fts_quote(text, SIZE_MAX, p->term[i].text, p->term[i].n_text, false);
        p->term[i].df = 0;
        if (n == 0)
            continue;
        sqlite3_bind_text(s, 1, text, (int)n, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, COUNTED);
        if (sqlite3_step(s) == SQLITE_ROW) {
            int64_t df = sqlite3_column_int64(s, 0), reached = sqlite3_column_int64(s, 1);
            if (df == COUNTED && reached > 0 && reached < last_row)
                df = (int64_t)((double)df * (double)last_row / (double)reached);
            p->term[i].df = df < p->n_row ? df : p->n_row;
        } else {
            st = fail_db(db, err, "counting a word");
        }
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return st;
}

static double idf(const plan *p, int64_t df) { return log(1 + ((double)(p->n_row - df) + 0.5) / ((double)df + 0.5)); }

/* Whether group a weighs more than b; of equal ones the first. */
static bool is_heavier(const plan *p, uint32_t a, uint32_t b)
{
    return p->group_score[a] > p->group_score[b] || (p->group_score[a] == p->group_score[b] && a < b);
}

/* Drops what is not there and what says little; the weightiest of the rest choose the rows. `heavy`: room for the groups. */
static void choose_terms(plan *p, const myth_weights_search *w, uint32_t *heavy, uint32_t *n_dropped)
{
    int64_t common = (int64_t)(w->alt_df * (double)p->n_row) + 1, n_row = 0;
    uint32_t n_heavy = 0, n = 0;
    for (uint32_t i = 0; i < p->n_term; i++) {
        term *t = &p->term[i];
        double own = idf(p, t->df);
        t->is_kept = t->df > 0 && (t->df <= common || !t->is_alternative);
        for (uint32_t k = 0; k < p->n_term && t->is_alternative; k++)           /* a rare abbreviation is no rarer thing */
            if (p->term[k].group == t->group && !p->term[k].is_alternative && p->term[k].df > 0 && idf(p, p->term[k].df) < own)
                own = idf(p, p->term[k].df);
        t->weight *= own;
        if (t->is_kept && t->weight > p->group_score[t->group])
            p->group_score[t->group] = t->weight;
    }
    for (uint32_t g = 0; g < p->n_group; g++) {                     /* by insertion: few, and in a long query the rarest come anywhere */
        uint32_t at = n_heavy++;
        for (; at > 0 && is_heavier(p, g, heavy[at - 1]); at--)
            heavy[at] = heavy[at - 1];
        heavy[at] = g;
    }
    *n_dropped = 0;
    for (uint32_t k = 0; k < n_heavy; k++) {
        bool is_out = p->group_score[heavy[k]] <= 0 || k >= (uint32_t)w->max_groups;
        int64_t df = 0;
        for (uint32_t i = 0; i < p->n_term; i++)
            df += p->term[i].group == heavy[k] && p->term[i].is_kept ? p->term[i].df : 0;
        bool is_choosing = k == 0 || (double)(n_row + df) <= w->rows;
        n_row += is_choosing ? df : 0;
        *n_dropped += is_out;
        for (uint32_t i = 0; i < p->n_term; i++) {
            term *t = &p->term[i];
            if (t->group != heavy[k])
                continue;
            t->is_kept = t->is_kept && !is_out;
            t->is_choosing = t->is_kept && is_choosing;
        }
    }
    for (int pass = 0; pass < 2; pass++) {                          /* choosing ones first, then those that add */
        for (uint32_t i = n; i < p->n_term; i++) {
            if (!p->term[i].is_kept || (pass == 0 && !p->term[i].is_choosing))
                continue;
            term t = p->term[i];
            p->term[i] = p->term[n];
            p->term[n++] = t;
        }
        p->n_choosing = pass == 0 ? n : p->n_choosing;
    }
    p->n_asked = n;
}

static size_t write_terms(char *text, size_t cap, const plan *p, uint32_t first, uint32_t end, const char *joint)
{
    size_t n = 0;
    text[n++] = '(';
    for (uint32_t i = first; i < end; i++) {
        if (i > first) {
            memcpy(text + n, joint, strlen(joint));
            n += strlen(joint);
        }
        n += myth_fts_quote(text + n, cap - n, p->term[i].text, p->term[i].n_text, false);
    }
    text[n++] = ')';
    return n;
}

/* (a OR b): with others that only add (a OR b) OR ((a OR b) AND (c OR d)), the same rows, so that c and d are looked up in them alone. The
 * phrases of a phrase query by AND: each must be there. */
static size_t write_match(char *text, size_t cap, const plan *p, bool is_all)
{
    if (is_all)
        return write_terms(text, cap, p, 0, p->n_asked, " AND ");
    size_t n = write_terms(text, cap, p, 0, p->n_choosing, " OR ");
    if (p->n_asked == p->n_choosing)
        return n;
    memcpy(text + n, " OR (", 5);
    n += 5;
    n += write_terms(text + n, cap - n, p, 0, p->n_choosing, " OR ");
    memcpy(text + n, " AND ", 5);
    n += 5;
    n += write_terms(text + n, cap - n, p, p->n_choosing, p->n_asked, " OR ");
    text[n++] = ')';
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
    size_t bytes = 64;
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
        bytes += 2 * (2 * p->term[i].n_text + 8);
    }
    return bytes;
}

myth_status myth_match(myth_matches *out, sqlite3 *db, const myth_query *q, const myth_weights_search *w, uint32_t max, bool only_phrases,
                       myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_matches){ 0 };
    plan p = { .k1 = w->k1, .b = w->b, .max = max,
               .column = { [MYTH_FTS_BODY] = w->col_body, [MYTH_FTS_PATH] = w->col_path, [MYTH_FTS_NAMES] = w->col_names } };
    uint32_t n_term = q->n_term + q->n_phrase, n_group = q->n_group + q->n_phrase;
    char *text = NULL;
    bool is_missing = false;
    uint32_t *heavy = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*heavy));
    p.seen = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_term + 1, sizeof(*p.seen));
    p.term = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_term + 1, sizeof(*p.term));
    p.group_score = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_score));
    p.group_column = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", n_group + 1, sizeof(*p.group_column));
    p.heap = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "match", max + 1, sizeof(*p.heap));
    size_t cap = p.term ? collect(&p, q, only_phrases) : 0;
    text = cap ? myth_alloc(q->mem, MYTH_MEM_OTHER, "match", cap) : NULL;
    if (!text || !heavy || !p.seen || !p.group_score || !p.group_column || !p.heap) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u rows", max);
        goto fail;
    }
    int64_t last_row;
    MYTH_TRY(count_rows(db, &p.n_row, &last_row, err));
    MYTH_TRY(count_terms(db, &p, text, last_row, err));
    if (only_phrases)
        for (uint32_t i = 0; i < p.n_term; i++)
            is_missing |= p.term[i].df == 0;
    choose_terms(&p, w, heavy, &out->n_dropped);
    if (only_phrases)
        p.n_choosing = p.n_asked;
    out->n_group = p.n_group - out->n_dropped;
    if (p.n_asked && !is_missing) {
        size_t n = write_match(text, cap, &p, only_phrases);
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
    myth_free(q->mem, p.seen);
    myth_free(q->mem, heavy);
    return st;
}

void myth_matches_free(myth_matches *m, const myth_query *q)
{
    myth_free(q->mem, m->row);
    *m = (myth_matches){ 0 };
}
