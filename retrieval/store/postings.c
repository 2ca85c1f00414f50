/* postings.c - see postings.h. Each segment has a cursor over copies of its pages; the cursor with the smallest row
 * comes next.
 *
 * Page       u16 offset of the first row that begins here, after a list that continues from the page before (0:
 *            none); u16 end of the content; the content; then the offsets of the words that begin here, each as the
 *            difference to the one before
 * Content    the first word of a page has its size and all its bytes; a later one the number of bytes shared with
 *            the word before, the size of the rest, and the rest. A word's rows follow it. A list that continues on
 *            the next page begins there with a whole row id
 * Positions  one number each. A 1 and a number say that the positions after it belong to that column; column 0
 *            comes first. Positions may continue at byte 4 of the next page, but a number is never split */
#include "postings.h"
#include "store.h"
#include "engine/base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    AVERAGES_ID = 1,
    STRUCTURE_ID = 10,
    PAGE_HEAD = 4,
    SEGMENT_SHIFT = 37,
    MAIN_INDEX = '0',
    TOKEN_BYTES = 1024,
    NO_END = 1 << 20,
    FORM = 4 /* version of FTS5's format, as its table fts_config says */
};

typedef struct {
    int64_t id;
    uint32_t first, last; /* page numbers */
} segment;

typedef struct {
    const segment *seg;
    unsigned char *page;
    size_t cap, n, n_all; /* the content ends at n, the page at n_all */
    size_t off, end;      /* end: where the next word of this page begins, or the content ends */
    uint32_t page_no;
    bool is_page_new; /* no row of this page was read yet */
    bool is_done;
    int64_t row;
    uint64_t n_pos; /* bytes of positions that begin at off */
} cursor;

typedef struct {
    uint32_t segment, page, off, end;
} start;

struct myth_postings {
    myth_mem *mem;
    sqlite3 *db;
    sqlite3_stmt *get_page, *get_index, *get_size;
    bool has_pages;   /* the pages have version FORM */
    segment *segment; /* segments, the newest first */
    cursor *cursor;
    uint32_t n_segment;
    start *start; /* for all words that were found */
    uint32_t n_start, cap_start;
    myth_postings_total total;
};

/* ---- numbers ---- */

/* Reads SQLite's varint: seven bits a byte, eight in the ninth byte. Returns 0 when it does not end before `end`. */
static size_t get_long_number(const unsigned char *p, const unsigned char *end, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 9 && p + i < end; i++) {
        if (i == 8) {
            *out = v << 8 | p[i];
            return 9;
        }
        v = v << 7 | (p[i] & 0x7f);
        if (!(p[i] & 0x80)) {
            *out = v;
            return i + 1;
        }
    }
    return 0;
}

static inline size_t get_number(const unsigned char *p, const unsigned char *end, uint64_t *out)
{
    if (p >= end || *p & 0x80)
        return get_long_number(p, end, out);
    *out = *p;
    return 1;
}

static myth_status damaged(const char *what, myth_error *err)
{
    return myth_fail_remedy(err, MYTH_EFORMAT, MYTH_REMEDY_REBUILD_INDEX, "search: the full-text index is damaged (%s)",
                            what);
}

static myth_status fail_db(const myth_postings *p, myth_error *err)
{
    int rc = sqlite3_errcode(p->db);
    myth_status code = rc == SQLITE_NOMEM          ? MYTH_ENOMEM
                     : rc == SQLITE_INTERRUPT      ? MYTH_ECANCEL
                     : (rc & 0xff) == SQLITE_IOERR ? MYTH_EIO
                                                   : MYTH_EFORMAT;
    if (sqlite3_extended_errcode(p->db) == SQLITE_IOERR_DATA)
        return damaged("a page and its checksum differ", err);
    return myth_fail_remedy(err, code, MYTH_REMEDY_CHECK_INDEX, "search: reading the full-text index: %s",
                            sqlite3_errmsg(p->db));
}

/* ---- open ---- */

/* Reads one block of fts_data. The statement stays on its row until the caller resets it. */
static myth_status read_block(myth_postings *p, int64_t id, const unsigned char **data, size_t *n, myth_error *err)
{
    sqlite3_bind_int64(p->get_page, 1, id);
    int rc = sqlite3_step(p->get_page);
    if (rc == SQLITE_DONE)
        return damaged("a block is missing", err);
    if (rc != SQLITE_ROW)
        return fail_db(p, err);
    *data = sqlite3_column_blob(p->get_page, 0);
    *n = (size_t)sqlite3_column_bytes(p->get_page, 0);
    return *data || *n == 0 ? MYTH_OK : fail_db(p, err);
}

static myth_status read_total(myth_postings *p, myth_error *err)
{
    const unsigned char *data;
    size_t n, at = 0;
    myth_status st = read_block(p, AVERAGES_ID, &data, &n, err);
    for (int i = 0; st == MYTH_OK && i <= MYTH_FTS_COLUMN_N && at < n; i++) {
        uint64_t v;
        size_t bytes = get_number(data + at, data + n, &v);
        if (!bytes || v > (uint64_t)1 << 48)
            st = damaged("its sums", err);
        else
            *(i == 0 ? &p->total.n_row : &p->total.n_words[i - 1]) = (int64_t)v;
        at += bytes;
    }
    sqlite3_reset(p->get_page);
    return st;
}

/* The structure record: levels, the newest first; within a level the oldest segment first. */
static myth_status read_structure(myth_postings *p, myth_error *err)
{
    const unsigned char *data, *end, *at;
    size_t n;
    uint64_t n_level, n_segment, v, n_own, id, first, last;
    myth_status st = read_block(p, STRUCTURE_ID, &data, &n, err);
    if (st != MYTH_OK)
        goto fail;
    st = damaged("its structure", err);
    if (n < 7)
        goto fail;
    at = data + 4;
    end = data + n;
#define NUMBER(v)                                                 \
    do {                                                          \
        size_t bytes_ = at < end ? get_number(at, end, &(v)) : 0; \
        if (!bytes_)                                              \
            goto fail;                                            \
        at += bytes_;                                             \
    } while (0)
    if (n >= 8 && memcmp(at, "\xff\0\0\1", 4) == 0) {
        p->has_pages = false; /* a record that only versions after 4 write */
        st = MYTH_OK;
        goto fail;
    }
    NUMBER(n_level);
    NUMBER(n_segment);
    NUMBER(v);
    if (n_segment > MYTH_SEGMENT_MAX || n_level > 64)
        goto fail;
    p->segment = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "postings", n_segment + 1, sizeof(*p->segment));
    p->cursor = myth_alloc_n(p->mem, MYTH_MEM_OTHER, "postings", n_segment + 1, sizeof(*p->cursor));
    if (!p->segment || !p->cursor) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u segments", (unsigned)n_segment);
        goto fail;
    }
    for (uint64_t level = 0; level < n_level; level++) {
        uint32_t before = p->n_segment;
        NUMBER(v);
        NUMBER(n_own);
        for (uint64_t i = 0; i < n_own; i++) {
            NUMBER(id);
            NUMBER(first);
            NUMBER(last);
            if (id >= 1 << 16 || first > last || last >= (uint64_t)1 << 31 || p->n_segment >= n_segment)
                goto fail;
            if (first) /* 0: a merge has consumed the whole segment */
                p->segment[p->n_segment++] =
                    (segment){.id = (int64_t)id, .first = (uint32_t)first, .last = (uint32_t)last};
        }
        for (uint32_t a = before, b = p->n_segment; a + 1 < b; a++, b--) {
            segment t = p->segment[a];
            p->segment[a] = p->segment[b - 1];
            p->segment[b - 1] = t;
        }
    }
#undef NUMBER
    if (err)
        *err = (myth_error){0};
    st = MYTH_OK;
fail:
    sqlite3_reset(p->get_page);
    return st;
}

static myth_status read_form(myth_postings *p, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(p->db, "SELECT v FROM fts_config WHERE k = 'version'", -1, &q, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        p->has_pages = sqlite3_column_type(q, 0) == SQLITE_INTEGER && sqlite3_column_int64(q, 0) == FORM;
    myth_status st = rc == SQLITE_ROW || rc == SQLITE_DONE ? MYTH_OK : fail_db(p, err);
    sqlite3_finalize(q);
    return st;
}

bool myth_postings_has_pages(const myth_postings *p) { return p->has_pages; }

myth_status myth_postings_open(myth_postings **out, myth_mem *mem, sqlite3 *db, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_postings *p = myth_alloc(mem, MYTH_MEM_OTHER, "postings", sizeof(*p));
    if (!p)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory");
    p->mem = mem;
    p->db = db;
    if (sqlite3_prepare_v2(db, "SELECT block FROM fts_data WHERE id = ?1", -1, &p->get_page, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT sz FROM fts_docsize WHERE id = ?1", -1, &p->get_size, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT pgno FROM fts_idx WHERE segid = ?1 AND term <= ?2 ORDER BY term DESC LIMIT 1",
                           -1, &p->get_index, NULL) != SQLITE_OK) {
        st = fail_db(p, err);
        goto fail;
    }
    MYTH_TRY(read_total(p, err));
    MYTH_TRY(read_form(p, err));
    if (p->has_pages)
        MYTH_TRY(read_structure(p, err));
    *out = p;
    return MYTH_OK;
fail:
    myth_postings_close(p);
    return st;
}

void myth_postings_close(myth_postings *p)
{
    if (!p)
        return;
    sqlite3_finalize(p->get_page);
    sqlite3_finalize(p->get_index);
    sqlite3_finalize(p->get_size);
    for (uint32_t i = 0; i < p->n_segment; i++)
        myth_free(p->mem, p->cursor[i].page);
    myth_free(p->mem, p->cursor);
    myth_free(p->mem, p->start);
    myth_free(p->mem, p->segment);
    myth_free(p->mem, p);
}

const myth_postings_total *myth_postings_total_of(const myth_postings *p) { return &p->total; }

/* ---- pages ---- */

static myth_status load_page(myth_postings *p, cursor *c, uint32_t page_no, myth_error *err)
{
    const unsigned char *data;
    size_t n;
    myth_status st = read_block(p, (c->seg->id << SEGMENT_SHIFT) + page_no, &data, &n, err);
    if (st != MYTH_OK)
        goto fail;
    if (n < PAGE_HEAD) {
        st = damaged("a page is too short", err);
        goto fail;
    }
    if (n > c->cap) {
        unsigned char *grown = myth_realloc(p->mem, MYTH_MEM_OTHER, "postings", c->page, n);
        if (!grown) {
            st = myth_fail(err, MYTH_ENOMEM, "search: no memory for a page");
            goto fail;
        }
        c->page = grown;
        c->cap = n;
    }
    memcpy(c->page, data, n);
    c->n = (size_t)c->page[2] << 8 | c->page[3];
    c->n_all = n;
    c->page_no = page_no;
    c->is_page_new = true;
    c->off = PAGE_HEAD;
    if (c->n < PAGE_HEAD || c->n > n)
        st = damaged("the end of a page is out of range", err);
    uint64_t first;
    c->end = c->n < n && get_number(c->page + c->n, c->page + n, &first) && first < c->n ? (size_t)first : NO_END;
fail:
    sqlite3_reset(p->get_page);
    return st;
}

/* Calls on_word for the words of the cursor's page until it returns false. `at` is the offset after the word, where
 * its rows begin. */
typedef bool (*word_fn)(void *arg, const char *token, size_t n, size_t at, size_t end);
static myth_status page_words(const cursor *c, word_fn on_word, void *arg, myth_error *err)
{
    char token[TOKEN_BYTES];
    size_t n_token = 0, foot = c->n;
    uint64_t off = 0, next, n_shared, n_rest;
    const unsigned char *stop = c->page + c->n;
    bool has_next = foot < c->n_all;
    for (bool is_first = true; has_next; is_first = false) {
        size_t bytes = get_number(c->page + foot, c->page + c->n_all, &next);
        if (!bytes || next > c->n)
            return damaged("the offset of a word is out of range", err);
        foot += bytes;
        off += next;
        size_t at = (size_t)off;
        n_shared = 0;
        if (!is_first) {
            if (off >= c->n || !(bytes = get_number(c->page + at, stop, &n_shared)))
                return damaged("a word", err);
            at += bytes;
        }
        if (at >= c->n || !(bytes = get_number(c->page + at, stop, &n_rest)))
            return damaged("a word", err);
        at += bytes;
        if (n_shared > n_token || n_rest > c->n - at || n_shared + n_rest > sizeof(token))
            return damaged("a word", err);
        memcpy(token + n_shared, c->page + at, n_rest);
        n_token = (size_t)(n_shared + n_rest);
        at += (size_t)n_rest;
        uint64_t ahead;
        has_next = foot < c->n_all;
        size_t end = has_next && get_number(c->page + foot, c->page + c->n_all, &ahead) && ahead <= c->n
                       ? (size_t)(off + ahead)
                       : NO_END;
        if (!on_word(arg, token, n_token, at, end))
            break;
    }
    return MYTH_OK;
}

typedef struct {
    const char *want;
    size_t n_want, at, end;
    bool is_found;
} seek;

static int compare(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int c = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return c ? c : n_a < n_b ? -1 : n_a > n_b;
}

static bool is_sought(void *arg, const char *token, size_t n, size_t at, size_t end)
{
    seek *s = arg;
    int c = compare(token, n, s->want, s->n_want);
    s->is_found = c == 0;
    s->at = at;
    s->end = end;
    return c < 0;
}

/* The page of a segment that has the word, if any page does. */
static myth_status page_of(myth_postings *p, const segment *seg, const char *key, size_t n, uint32_t *page,
                           myth_error *err)
{
    sqlite3_bind_int64(p->get_index, 1, seg->id);
    sqlite3_bind_blob(p->get_index, 2, key, (int)n, SQLITE_STATIC);
    int rc = sqlite3_step(p->get_index);
    int64_t at = rc == SQLITE_ROW ? sqlite3_column_int64(p->get_index, 0) >> 1 : 0;
    sqlite3_reset(p->get_index);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return fail_db(p, err);
    *page = at < seg->first ? seg->first : (uint32_t)at;
    return at > seg->last ? damaged("the directory names a page that is out of range", err) : MYTH_OK;
}

static size_t make_key(char key[TOKEN_BYTES], const char *token, size_t n)
{
    key[0] = MAIN_INDEX;
    memcpy(key + 1, token, n);
    return n + 1;
}

myth_status myth_postings_find(myth_postings *p, const char *token, size_t n, myth_postings_word *word, myth_error *err)
{
    myth_status st = MYTH_OK;
    char key[TOKEN_BYTES];
    *word = (myth_postings_word){.first = p->n_start};
    if (n == 0 || n >= sizeof(key))
        return MYTH_OK;
    size_t n_key = make_key(key, token, n);
    for (uint32_t i = 0; i < p->n_segment; i++) {
        cursor *c = &p->cursor[i];
        uint32_t page;
        c->seg = &p->segment[i];
        MYTH_TRY(page_of(p, c->seg, key, n_key, &page, err));
        MYTH_TRY(load_page(p, c, page, err));
        seek s = {.want = key, .n_want = n_key};
        MYTH_TRY(page_words(c, is_sought, &s, err));
        if (!s.is_found)
            continue;
        if (!MYTH_ARRAY_ROOM(p->mem, MYTH_MEM_OTHER, "postings", &p->start, p->n_start, &p->cap_start))
            return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u words", p->n_start);
        p->start[p->n_start++] = (start){.segment = i, .page = page, .off = (uint32_t)s.at, .end = (uint32_t)s.end};
        word->n_start++;
    }
fail:
    return st;
}

/* ---- rows ---- */

/* Moves to the page where the word's rows continue; the cursor is done when they do not. */
static myth_status turn_page(myth_postings *p, cursor *c, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (;;) {
        if (c->page_no >= c->seg->last) {
            c->is_done = true;
            return MYTH_OK;
        }
        MYTH_TRY(load_page(p, c, c->page_no + 1, err));
        size_t first = (size_t)c->page[0] << 8 | c->page[1];
        if (first) {
            c->off = first;
            return first < c->n ? MYTH_OK : damaged("the first row of a page is out of range", err);
        }
        if (c->end != NO_END) {
            c->is_done = true;
            return MYTH_OK;
        }
    }
fail:
    return st;
}

/* Reads the next row's id and the size of its positions; the cursor is done when the word has no more rows. */
static myth_status next_row(myth_postings *p, cursor *c, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t v;
    if (c->off >= c->n)
        MYTH_TRY(turn_page(p, c, err));
    c->is_done |= c->off >= c->end;
    if (c->is_done)
        return MYTH_OK;
    size_t bytes = get_number(c->page + c->off, c->page + c->n, &v);
    if (!bytes || v > UINT32_MAX)
        return damaged("a row", err);
    c->off += bytes;
    const int64_t row = c->is_page_new ? (int64_t)v : c->row + (int64_t)v;
    bytes = c->off < c->n ? get_number(c->page + c->off, c->page + c->n, &v) : 0;
    if (!bytes || row <= c->row || row > UINT32_MAX)
        return damaged("a row", err);
    c->off += bytes;
    c->row = row;
    /* the lowest bit marks a row that hides an older one; that is handled by the order of segments */
    c->n_pos = v >> 1;
    c->is_page_new = false;
fail:
    return st;
}

static myth_status skip_positions(myth_postings *p, cursor *c, myth_error *err)
{
    myth_status st = MYTH_OK;
    if (c->n_pos <= c->n - c->off) {
        c->off += (size_t)c->n_pos;
        return MYTH_OK;
    }
    MYTH_TRY(turn_page(p, c, err)); /* the next row, if there is one, is on this page */
fail:
    return st;
}

/* After positions that continued over a page: the page's head says where the next row begins, or it is on a later
 * page. */
static myth_status find_row(myth_postings *p, cursor *c, myth_error *err)
{
    size_t first = (size_t)c->page[0] << 8 | c->page[1];
    c->off = first && first < c->n ? first : c->n;
    c->is_done = !first && c->end != NO_END;
    return first || c->is_done ? MYTH_OK : turn_page(p, c, err);
}

static myth_status count_positions(myth_postings *p, cursor *c, uint16_t count[MYTH_FTS_COLUMN_N], myth_error *err)
{
    myth_status st = MYTH_OK;
    uint64_t left = c->n_pos, column = 0, v;
    bool is_column = false;
    for (;;) {
        size_t n = left < c->n - c->off ? (size_t)left : c->n - c->off;
        const unsigned char *at = c->page + c->off, *end = at + n;
        while (at < end) {
            if (!is_column && *at > 1 && *at < 0x80) { /* the common case: a near position in the same column */
                count[column] += count[column] < UINT16_MAX;
                at++;
                continue;
            }
            size_t bytes = get_number(at, end, &v);
            if (!bytes || (is_column && v >= MYTH_FTS_COLUMN_N))
                return damaged("positions", err);
            at += bytes;
            if (is_column)
                column = v;
            else if (v != 1)
                count[column] += count[column] < UINT16_MAX;
            is_column = !is_column && v == 1;
        }
        c->off += n;
        left -= n;
        if (left == 0)
            return c->is_page_new ? find_row(p, c, err) : MYTH_OK;
        if (c->page_no >= c->seg->last)
            return damaged("the positions of a row do not end", err);
        MYTH_TRY(load_page(p, c, c->page_no + 1, err));
    }
fail:
    return st;
}

static myth_status start_cursors(myth_postings *p, const myth_postings_word *word, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < word->n_start; i++) {
        const start *at = &p->start[word->first + i];
        cursor *c = &p->cursor[at->segment];
        c->seg = &p->segment[at->segment];
        if (c->page_no != at->page)
            MYTH_TRY(load_page(p, c, at->page, err));
        c->off = at->off;
        c->end = at->end;
        c->row = 0;
        c->is_page_new = c->is_done = false;
        MYTH_TRY(next_row(p, c, err));
    }
fail:
    return st;
}

/* The fast path for a word that only one segment has, as all words do until files change. */
static myth_status walk_one(myth_postings *p, cursor *c, myth_status (*on_row)(void *arg, const myth_posting *row),
                            void *arg, int64_t *n_row, myth_error *err)
{
    myth_status st = MYTH_OK;
    while (!c->is_done) {
        myth_posting one = {.row = (uint32_t)c->row};
        const bool is_there = c->n_pos > 0;
        *n_row += is_there;
        MYTH_TRY(on_row && is_there ? count_positions(p, c, one.count, err) : skip_positions(p, c, err));
        if (on_row && is_there)
            MYTH_TRY(on_row(arg, &one));
        if (!c->is_done)
            MYTH_TRY(next_row(p, c, err));
    }
fail:
    return st;
}

/* Calls on_row for every row, or only counts them when on_row is NULL. */
static myth_status walk(myth_postings *p, const myth_postings_word *word,
                        myth_status (*on_row)(void *arg, const myth_posting *row), void *arg, int64_t *n_row,
                        myth_error *err)
{
    myth_status st = MYTH_OK;
    *n_row = 0;
    MYTH_TRY(start_cursors(p, word, err));
    if (word->n_start == 1)
        return walk_one(p, &p->cursor[p->start[word->first].segment], on_row, arg, n_row, err);
    for (;;) {
        cursor *next = NULL; /* several cursors may be at the same row: the newest segment's comes first */
        for (uint32_t i = 0; i < word->n_start; i++) {
            cursor *c = &p->cursor[p->start[word->first + i].segment];
            if (!c->is_done && (!next || c->row < next->row))
                next = c;
        }
        if (!next)
            return MYTH_OK;
        myth_posting one = {.row = (uint32_t)next->row};
        bool is_there = next->n_pos > 0;
        *n_row += is_there;
        for (uint32_t i = 0; i < word->n_start; i++) {
            cursor *c = &p->cursor[p->start[word->first + i].segment];
            if (c->is_done || c->row != one.row)
                continue;
            MYTH_TRY(on_row && is_there && c == next ? count_positions(p, c, one.count, err)
                                                     : skip_positions(p, c, err));
            if (!c->is_done)
                MYTH_TRY(next_row(p, c, err));
        }
        if (on_row && is_there)
            MYTH_TRY(on_row(arg, &one));
    }
fail:
    return st;
}

myth_status myth_postings_count(myth_postings *p, const myth_postings_word *word, int64_t *n_row, myth_error *err)
{
    return walk(p, word, NULL, NULL, n_row, err);
}

myth_status myth_postings_walk(myth_postings *p, const myth_postings_word *word,
                               myth_status (*on_row)(void *arg, const myth_posting *row), void *arg, myth_error *err)
{
    int64_t n;
    return walk(p, word, on_row, arg, &n, err);
}

myth_status myth_postings_length(myth_postings *p, uint32_t row, uint32_t *n_words, myth_error *err)
{
    sqlite3_bind_int64(p->get_size, 1, row);
    int rc = sqlite3_step(p->get_size);
    myth_status st = rc == SQLITE_ROW  ? MYTH_OK
                   : rc == SQLITE_DONE ? damaged("a row has no length", err)
                                       : fail_db(p, err);
    uint64_t sum = 0, v;
    if (st == MYTH_OK) {
        const unsigned char *data = sqlite3_column_blob(p->get_size, 0),
                            *end = data ? data + sqlite3_column_bytes(p->get_size, 0) : NULL;
        for (size_t bytes; data < end && (bytes = get_number(data, end, &v)); data += bytes)
            sum += v < UINT32_MAX ? v : UINT32_MAX;
        *n_words = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    }
    sqlite3_reset(p->get_size);
    return st;
}

/* ---- words ---- */

typedef struct {
    const char *prefix;
    size_t n_prefix;
    void (*on_token)(void *arg, const char *token, size_t n);
    void *arg;
    bool is_past;
} range;

static bool in_range(void *arg, const char *token, size_t n, size_t at, size_t end)
{
    range *r = arg;
    (void)at;
    (void)end;
    int c = memcmp(token, r->prefix, n < r->n_prefix ? n : r->n_prefix);
    r->is_past = c > 0;
    if (c == 0 && n >= r->n_prefix)
        r->on_token(r->arg, token + 1, n - 1);
    return !r->is_past;
}

myth_status myth_postings_tokens(myth_postings *p, const char *prefix, size_t n,
                                 void (*on_token)(void *arg, const char *token, size_t n), void *arg, myth_error *err)
{
    myth_status st = MYTH_OK;
    char key[TOKEN_BYTES];
    if (n >= sizeof(key))
        return MYTH_OK;
    size_t n_key = make_key(key, prefix, n);
    for (uint32_t i = 0; i < p->n_segment; i++) {
        cursor *c = &p->cursor[i];
        uint32_t page;
        range r = {.prefix = key, .n_prefix = n_key, .on_token = on_token, .arg = arg};
        c->seg = &p->segment[i];
        MYTH_TRY(page_of(p, c->seg, key, n_key, &page, err));
        for (; page <= c->seg->last && !r.is_past; page++) {
            MYTH_TRY(load_page(p, c, page, err));
            MYTH_TRY(page_words(c, in_range, &r, err));
        }
    }
fail:
    return st;
}
