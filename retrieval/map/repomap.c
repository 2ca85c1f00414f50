/* repomap.c - see repomap.h. What may be shown is a list of lines in the order of their value. It is made from
 * files as they come by rank, so no more files are read than are shown. The search for the longest prefix of the
 * list that fits begins where the token counts of the single lines put it. */
#include "repomap_impl.h"
#include "headline.h"
#include "engine/base/array.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum {
    FILE_LINE = INT32_MAX,
    RISK_PART = INT32_MAX - 1,
    IMPORT_LINE = INT32_MAX - 2,
    NAME_CAP = 160,
    LIST_CAP = 100,
    LISTED_TESTS = 2
};

typedef struct {
    double value;
    uint32_t entry, row; /* row: FILE_LINE, RISK_PART, IMPORT_LINE, or a symbol's row */
    uint32_t tier;       /* symbols that are not exported come after all files */
} item;

struct myth_repomap {
    myth_mem *mem;
    myth_index *index;
    myth_repomap_opts opts;
    myth_repomap_reader reader;
    myth_pool pool;
    char *under;
    uint32_t n_file;
    bool has_own, has_answer, is_at_end, has_next;
    myth_repomap_entry next; /* the next file, not yet in the heap */
    myth_repomap_entry *entry;
    uint32_t n_entry, cap_entry;
    item *heap, *list; /* list: items taken from the heap, best first */
    size_t n_heap, cap_heap, n_list, cap_list;
    const char **line; /* text of each item of the list; NULL = not yet made */
    bool *is_shown;    /* files shown in the last text */
};

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "no memory for a map"); }

/* ---- open ---- */

static myth_status count_files(myth_repomap *m, myth_error *err)
{
    sqlite3_stmt *q = NULL;
    sqlite3 *db = myth_store_db(m->reader.store);
    size_t n = strlen(m->under);
    const char *sql =
        n ? "SELECT count(*) FROM files WHERE substr(path, 1, ?1 + 1)=CAST(?2 || '/' AS BLOB) OR path=CAST(?2 AS BLOB)"
          : "SELECT count(*) FROM files";
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc == SQLITE_OK && n) {
        sqlite3_bind_int64(q, 1, (sqlite3_int64)n);
        sqlite3_bind_text64(q, 2, m->under, n, SQLITE_STATIC, SQLITE_UTF8);
    }
    if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
        m->n_file = (uint32_t)sqlite3_column_int64(q, 0);
    myth_status st = myth_store_fail(m->reader.store, rc, err);
    sqlite3_finalize(q);
    if (st == MYTH_OK && m->n_file == 0)
        st = n ? myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_EXPLAIN_SCAN, "%.160s: no indexed file below it",
                                  m->under)
               : myth_fail_remedy(err, MYTH_ENOTFOUND, MYTH_REMEDY_MAKE_INDEX, "%.160s: no files",
                                  myth_index_root(m->index));
    return st;
}

myth_status myth_repomap_open(myth_repomap **out, myth_mem *mem, myth_index *x, const myth_repomap_opts *opts,
                              myth_error *err)
{
    static const myth_repomap_opts none;
    myth_status st = MYTH_OK;
    opts = opts ? opts : &none;
    const char *under = opts->under ? opts->under : "";
    while (under[0] == '.' && (under[1] == '/' || under[1] == '\0'))
        under += 1 + (under[1] == '/');
    size_t n = strlen(under);
    while (n > 0 && under[n - 1] == '/')
        n--;
    *out = NULL;
    myth_repomap *m = myth_alloc(mem, MYTH_MEM_OTHER, "map", sizeof(*m));
    if (!m)
        return no_memory(err);
    *m = (myth_repomap){.mem = mem, .index = x, .pool.mem = mem, .opts = *opts};
    if (!(m->under = myth_alloc(mem, MYTH_MEM_OTHER, "map", n + 1))) {
        st = no_memory(err);
        goto fail;
    }
    memcpy(m->under, under, n);
    MYTH_TRY(myth_repomap_make(mem, x, opts, &m->has_own, &m->has_answer, err));
    MYTH_TRY(myth_repomap_reader_open(&m->reader, mem, myth_index_store(x), &m->opts, err));
    MYTH_TRY(count_files(m, err));
    *out = m;
    return MYTH_OK;
fail:
    myth_repomap_close(m);
    return st;
}

void myth_repomap_close(myth_repomap *m)
{
    if (!m)
        return;
    myth_repomap_reader_close(&m->reader);
    myth_store_read_end(myth_index_store(m->index));
    if (m->has_own)
        myth_repomap_drop(m->index);
    myth_pool_close(&m->pool);
    myth_free(m->mem, m->under);
    myth_free(m->mem, m->entry);
    myth_free(m->mem, m->heap);
    myth_free(m->mem, m->list);
    myth_free(m->mem, m->line);
    myth_free(m->mem, m->is_shown);
    myth_free(m->mem, m);
}

uint32_t myth_repomap_n_file(const myth_repomap *m) { return m->n_file; }
bool myth_repomap_has_answer(const myth_repomap *m) { return m->has_answer; }

/* ---- lines by their value ---- */

/* Adds the lines of one file: its own, its imports, its symbols. */
static uint32_t order_of(const myth_repomap_entry *e, uint32_t row)
{
    return row == FILE_LINE ? 0 : row == RISK_PART ? 1 : row == IMPORT_LINE ? 2 : e->symbol[row].order + 2;
}

static int compare(const myth_repomap *m, const item *a, const item *b)
{
    const myth_repomap_entry *x = &m->entry[a->entry], *y = &m->entry[b->entry];
    if (a->tier != b->tier)
        return a->tier < b->tier ? -1 : 1;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    uint32_t i = order_of(x, a->row), k = order_of(y, b->row);
    return (i > k) - (i < k);
}

static bool push(myth_repomap *m, item it)
{
    if (!MYTH_ARRAY_ROOM(m->mem, MYTH_MEM_OTHER, "map", &m->heap, m->n_heap, &m->cap_heap))
        return false;
    size_t at = m->n_heap++;
    for (size_t up; at > 0 && compare(m, &it, &m->heap[up = (at - 1) / 2]) < 0; at = up)
        m->heap[at] = m->heap[up];
    m->heap[at] = it;
    return true;
}

static item pop(myth_repomap *m)
{
    item first = m->heap[0], last = m->heap[--m->n_heap];
    size_t at = 0;
    for (size_t k; (k = 2 * at + 1) < m->n_heap; at = k) {
        k += k + 1 < m->n_heap && compare(m, &m->heap[k + 1], &m->heap[k]) < 0;
        if (compare(m, &last, &m->heap[k]) <= 0)
            break;
        m->heap[at] = m->heap[k];
    }
    if (m->n_heap)
        m->heap[at] = last;
    return first;
}

enum { PRIVATE = 3 }; /* added to the tier of what is not for others */

/* Adds the next file's lines to the heap. */
static myth_status push_next(myth_repomap *m, myth_error *err)
{
    if (!MYTH_ARRAY_ROOM(m->mem, MYTH_MEM_OTHER, "map", &m->entry, m->n_entry, &m->cap_entry))
        return no_memory(err);
    uint32_t i = m->n_entry++;
    const double least = 0.001; /* of its rank: imports come when the names are shown */
    const myth_repomap_entry *e = &m->entry[i];
    m->entry[i] = m->next;
    m->has_next = false;
    bool ok = push(m, (item){e->value, i, FILE_LINE, e->tier});
    if (e->n_risk)
        ok = ok && push(m, (item){e->value / 4, i, RISK_PART, e->tier});
    if (e->tier < 2)
        ok = ok && push(m, (item){e->rank * least, i, IMPORT_LINE, e->tier});
    for (uint32_t k = 0; k < e->n_symbol && ok; k++)
        if (e->symbol[k].is_listed)
            ok = push(m, (item){e->symbol[k].value, i, k, e->symbol[k].is_public ? e->tier : PRIVATE + e->tier});
    return ok ? MYTH_OK : no_memory(err);
}

/* Moves the best item of the heap to the list, after adding the next file if that may have a better one. */
static myth_status take_item(myth_repomap *m, bool *has, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (;;) {
        if (!m->has_next && !m->is_at_end) {
            MYTH_TRY(myth_repomap_reader_next(&m->reader, &m->pool, m->under, &m->next, &m->has_next, err));
            m->is_at_end = !m->has_next;
        }
        const item *best = m->n_heap ? &m->heap[0] : NULL;
        bool is_behind = m->has_next && (!best || best->tier > m->next.tier ||
                                         (best->tier == m->next.tier && best->value <= m->next.most));
        if (!is_behind)
            break;
        MYTH_TRY(push_next(m, err));
    }
    *has = m->n_heap > 0;
    if (!*has)
        return MYTH_OK;
    if (m->n_list == m->cap_list) {
        size_t cap = 2 * m->cap_list + 256;
        item *list = myth_realloc(m->mem, MYTH_MEM_OTHER, "map", m->list, cap * sizeof(*list));
        m->list = list ? list : m->list;
        const char **line = list ? myth_realloc(m->mem, MYTH_MEM_OTHER, "map", m->line, cap * sizeof(*line)) : NULL;
        m->line = line ? line : m->line;
        if (!list || !line)
            return no_memory(err);
        m->cap_list = cap;
    }
    m->line[m->n_list] = NULL;
    m->list[m->n_list++] = pop(m);
fail:
    return st;
}

/* ---- lines as text ---- */

/* Writes the name of a file or folder, in quotes if it has blanks or unusual characters. */
static void put_name(myth_buffer *b, const char *name, size_t n)
{
    char line[NAME_CAP];
    bool is_bare = n > 0 && n < sizeof(line);
    for (size_t i = 0; i < n && is_bare; i++) {
        unsigned char c = (unsigned char)name[i];
        is_bare =
            (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("._-+@/~#$,", c) || c >= 0x80;
    }
    size_t len = myth_one_line(line, sizeof(line), name, n);
    is_bare = is_bare && len == n; /* the filter changed nothing */
    if (!is_bare)
        myth_buffer_put(b, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        if (!is_bare && (line[i] == '"' || line[i] == '\\'))
            myth_buffer_put(b, "\\", 1);
        myth_buffer_put(b, line + i, 1);
    }
    if (!is_bare)
        myth_buffer_put(b, "\"", 1);
}

static void put_folder(myth_buffer *b, const char *path)
{
    size_t n = myth_folder_bytes(path);
    if (n)
        put_name(b, path, n);
    else
        myth_buffer_put(b, ".", 1);
    myth_buffer_put(b, "/\n", 2);
}

static void put_risks(myth_buffer *b, const myth_repomap_entry *e)
{
    char text[64];
    for (uint32_t i = 0; i < e->n_risk; i++) {
        snprintf(text, sizeof(text), "%s%s:%u", i ? " " : " [", myth_risk_name(e->risk[i].tag), e->risk[i].line);
        myth_buffer_text(b, text);
    }
    myth_buffer_text(b, e->n_risk ? "]" : "");
}

static void put_file(myth_buffer *b, const myth_repomap_entry *e, const char *last_language, bool has_risks)
{
    size_t n = myth_folder_bytes(e->path);
    char text[64];
    myth_buffer_put(b, "  ", 2);
    put_name(b, e->path + n + (n > 0), strlen(e->path + n + (n > 0)));
    if (strcmp(e->language, last_language) != 0) {
        snprintf(text, sizeof(text), " (%.40s)", e->language);
        myth_buffer_text(b, text);
    }
    if (has_risks)
        put_risks(b, e);
    if (e->summary[0]) {
        myth_buffer_text(b, " ");
        myth_buffer_text(b, e->summary);
    }
    myth_buffer_put(b, "\n", 1);
}

/* "imports a, b; tests c"; "" when there is neither. */
static myth_status make_imports(myth_repomap *m, const myth_repomap_entry *e, const char **out, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_buffer b = {.mem = m->mem};
    const char **name = NULL, *path;
    uint32_t n = 0;
    MYTH_TRY(myth_repomap_imports(&m->reader, &m->pool, e, &name, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        if (i && b.n + strlen(name[i]) > LIST_CAP) {
            myth_buffer_text(&b, ", ...");
            break;
        }
        myth_buffer_text(&b, i ? ", " : "    imports ");
        myth_buffer_text(&b, name[i]);
    }
    for (uint32_t i = 0; i < e->n_test && i < LISTED_TESTS; i++) {
        MYTH_TRY(myth_repomap_path(&m->reader, &m->pool, e->test[i], &path, err));
        myth_buffer_text(&b, i ? ", " : b.n ? "; tests " : "    tests ");
        put_name(&b, path, strlen(path));
    }
    if (b.n)
        myth_buffer_put(&b, "\n", 1);
    *out = myth_pool_text(&m->pool, b.data, b.n);
    if (b.is_out_of_memory || m->pool.is_out_of_memory)
        st = no_memory(err);
fail:
    myth_buffer_close(&b);
    return st;
}

/* Text of the k-th item; a file's without its language, a symbol's without indentation. */
static myth_status make_line(myth_repomap *m, size_t k, myth_error *err)
{
    const item *it = &m->list[k];
    const myth_repomap_entry *e = &m->entry[it->entry];
    if (m->line[k])
        return MYTH_OK;
    if (it->row == IMPORT_LINE)
        return make_imports(m, e, &m->line[k], err);
    if (it->row < IMPORT_LINE)
        return myth_repomap_line(&m->reader, &m->pool, e, &e->symbol[it->row], &m->line[k], err);
    myth_buffer b = {.mem = m->mem};
    if (it->row == RISK_PART)
        put_risks(&b, e);
    else
        put_file(&b, e, e->language, false);
    m->line[k] = myth_pool_text(&m->pool, b.data, b.n);
    bool is_out_of_memory = b.is_out_of_memory || m->pool.is_out_of_memory;
    myth_buffer_close(&b);
    return is_out_of_memory ? no_memory(err) : MYTH_OK;
}

/* ---- the first k items as text ---- */

typedef struct {
    const myth_repomap_entry *e;
    size_t first, n; /* range in `rows`: list indexes of its symbols and imports */
    bool has_risks;
} section;

static int by_folder(const void *a, const void *b)
{
    const char *x = ((const section *)a)->e->path, *y = ((const section *)b)->e->path;
    size_t n = myth_folder_bytes(x), k = myth_folder_bytes(y), least = n < k ? n : k;
    int d = 0;
    for (size_t i = 0; i < least && d == 0; i++) { /* '/' sorts first, as in a scan */
        unsigned char p = (unsigned char)x[i], q = (unsigned char)y[i];
        d = p == q ? 0 : p == '/' ? -1 : q == '/' ? 1 : p < q ? -1 : 1;
    }
    d = d ? d : (n > k) - (n < k);
    return d ? d : strcmp(x + n, y + k);
}

typedef struct {
    uint32_t entry, row, order;
    size_t item;
} shown;

static int by_shown(const void *a, const void *b)
{
    const shown *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Writes symbols in order of their lines, each indented by two more than the symbol around it that is shown. */
static void put_symbols(myth_buffer *b, const myth_repomap *m, const section *s, const shown *row)
{
    const myth_repomap_entry *e = s->e;
    for (size_t i = 0; i < s->n; i++) {
        const char *line = m->line[row[s->first + i].item];
        if (row[s->first + i].row == IMPORT_LINE) {
            myth_buffer_text(b, line);
            continue;
        }
        int depth = 2;
        for (uint32_t up = e->symbol[row[s->first + i].row].up; up; up = e->symbol[up - 1].up)
            for (size_t k = i; k-- > 0;)
                if (row[s->first + k].row == up - 1) {
                    depth++;
                    break;
                }
        myth_buffer_put(b, "                ", (size_t)(2 * depth < 16 ? 2 * depth : 16));
        myth_buffer_text(b, line);
        myth_buffer_put(b, "\n", 1);
    }
}

static myth_status render(myth_repomap *m, size_t k, myth_buffer *b, uint32_t *n_shown, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *language = "";
    char text[64];
    size_t n = 0;
    shown *row = myth_alloc_n(m->mem, MYTH_MEM_OTHER, "map", k + 1, sizeof(*row));
    section *s = myth_alloc_n(m->mem, MYTH_MEM_OTHER, "map", (size_t)m->n_entry + 1, sizeof(*s));
    b->n = 0;
    if (!row || !s) {
        st = no_memory(err);
        goto fail;
    }
    for (size_t i = 0; i < k; i++) {
        MYTH_TRY(make_line(m, i, err));
        row[i] = (shown){m->list[i].entry, m->list[i].row, order_of(&m->entry[m->list[i].entry], m->list[i].row), i};
    }
    if (k)
        qsort(row, k, sizeof(*row), by_shown);
    for (size_t i = 0; i < k; i++) { /* a file's own line comes before its other lines */
        if (row[i].row == FILE_LINE)
            s[n++] = (section){&m->entry[row[i].entry], i + 1, 0, false};
        else if (n && row[i].row == RISK_PART) {
            s[n - 1].has_risks = true;
            s[n - 1].first++;
        } else if (n)
            s[n - 1].n++;
    }
    if (n)
        qsort(s, n, sizeof(*s), by_folder);
    for (size_t i = 0; i < n; i++) {
        size_t len = myth_folder_bytes(s[i].e->path);
        if (i == 0 || myth_folder_bytes(s[i - 1].e->path) != len || memcmp(s[i - 1].e->path, s[i].e->path, len) != 0)
            put_folder(b, s[i].e->path);
        put_file(b, s[i].e, language, s[i].has_risks);
        language = s[i].e->language;
        put_symbols(b, m, &s[i], row);
    }
    if (n > 0 && n < m->n_file) {
        snprintf(text, sizeof(text), "(%zu of %u files)\n", n, m->n_file);
        myth_buffer_text(b, text);
    }
    myth_buffer_put(b, "", 1);
    *n_shown = (uint32_t)n;
    if (b->is_out_of_memory)
        st = no_memory(err);
fail:
    myth_free(m->mem, row);
    myth_free(m->mem, s);
    return st;
}

/* ---- the budget ---- */

enum { FOLDER_BITS = 4096, STEPS_MAX = 8 };

typedef struct {
    myth_repomap *m;
    const myth_repomap_budget *budget;
    myth_buffer text, best; /* the last text that was tried; the longest that fits */
    uint64_t n_token;       /* tokens of the last try */
    uint64_t *sum;          /* sum[k]: tokens of the first k lines, counted line by line */
    size_t n_sum, cap_sum;
    /* folders seen, one bit each by hash: when two share a bit the sum is a few tokens too small */
    uint64_t folder[FOLDER_BITS / 64];
    myth_repomap_page page; /* result for the longest text that fits */
} fitter;

static myth_status count(fitter *f, uint64_t *n, myth_error *err)
{
    uint64_t got = 0;
    if (f->text.is_out_of_memory)
        return no_memory(err);
    myth_status st =
        f->text.n ? f->budget->count(f->budget->arg, (const char *)f->text.data, f->text.n, &got, err) : MYTH_OK;
    *n += got;
    return st;
}

/* Tokens of the k-th line, and of its folder's line if it is the first in the folder. */
static myth_status count_line(fitter *f, size_t k, uint64_t *n, myth_error *err)
{
    myth_repomap *m = f->m;
    const char *path = m->entry[m->list[k].entry].path;
    bool is_symbol = m->list[k].row < IMPORT_LINE;
    myth_status st = make_line(m, k, err);
    if (st != MYTH_OK)
        return st;
    f->text.n = 0;
    myth_buffer_text(&f->text, is_symbol ? "    " : "");
    myth_buffer_text(&f->text, m->line[k]);
    myth_buffer_text(&f->text, is_symbol ? "\n" : "");
    st = count(f, n, err);
    uint32_t bit = (uint32_t)XXH3_64bits(path, myth_folder_bytes(path)) % FOLDER_BITS;
    if (st != MYTH_OK || m->list[k].row != FILE_LINE || (f->folder[bit / 64] >> bit % 64 & 1))
        return st;
    f->folder[bit / 64] |= 1ull << bit % 64;
    f->text.n = 0;
    put_folder(&f->text, path);
    return count(f, n, err);
}

/* Makes sure that sum[k] is known; *has is false when there are fewer lines. */
static myth_status sum_to(fitter *f, size_t k, bool *has, myth_error *err)
{
    myth_repomap *m = f->m;
    myth_status st = MYTH_OK;
    for (*has = true; f->n_sum <= k; f->n_sum++) {
        if (!MYTH_ARRAY_ROOM(m->mem, MYTH_MEM_OTHER, "map", &f->sum, f->n_sum, &f->cap_sum))
            return no_memory(err);
        uint64_t n = 0;
        if (f->n_sum > m->n_list)
            MYTH_TRY(take_item(m, has, err));
        if (!*has)
            return MYTH_OK;
        if (f->n_sum > 0)
            MYTH_TRY(count_line(f, f->n_sum - 1, &n, err));
        f->sum[f->n_sum] = n + (f->n_sum ? f->sum[f->n_sum - 1] : 0);
    }
fail:
    return st;
}

/* Whether the text of the first k lines, counted as a whole, fits the budget; if so it is kept. */
static myth_status fits(fitter *f, size_t k, bool *does, myth_error *err)
{
    uint32_t n_shown = 0;
    myth_status st = render(f->m, k, &f->text, &n_shown, err);
    if (st != MYTH_OK)
        return st;
    size_t n = f->text.n - 1;
    f->n_token = 0;
    f->page.n_counted++;
    if (n)
        st = f->budget->count(f->budget->arg, (const char *)f->text.data, n, &f->n_token, err);
    *does = f->n_token <= f->budget->max_token;
    if (st != MYTH_OK || !*does)
        return st;
    myth_buffer swap = f->best;
    f->best = f->text;
    f->text = swap;
    f->page.n = n;
    f->page.n_token = f->n_token;
    f->page.n_shown = n_shown;
    return MYTH_OK;
}

/* Finds the largest number of lines that fits: *out lines do, one more does not. The next try comes from the sums,
 * corrected by how far the last try was from its sum. If that does not converge soon, it halves the interval. */
static myth_status find_most(fitter *f, size_t *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    size_t lo = 0, hi = SIZE_MAX;
    int64_t more = 0;
    bool does, has;
    MYTH_TRY(fits(f, 0, &does, err)); /* without any line there are no tokens */
    for (int step = 0; hi - lo > 1; step++) {
        size_t k = lo;
        if (step >= STEPS_MAX && hi != SIZE_MAX)
            k = lo + (hi - lo) / 2;
        else
            for (; k + 1 < hi; k++) {
                MYTH_TRY(sum_to(f, k + 1, &has, err));
                if (!has || (int64_t)f->sum[k + 1] + more > (int64_t)f->budget->max_token)
                    break;
            }
        k += k == lo;
        MYTH_TRY(sum_to(f, k, &has, err));
        if (!has)
            break;
        MYTH_TRY(fits(f, k, &does, err));
        *(does ? &lo : &hi) = k;
        more = (int64_t)f->n_token - (int64_t)f->sum[k];
    }
    *out = lo;
fail:
    return st;
}

myth_status myth_repomap_text(myth_repomap_page *out, myth_repomap *m, const myth_repomap_budget *budget,
                              myth_error *err)
{
    fitter f = {.m = m, .budget = budget, .text.mem = m->mem, .best.mem = m->mem, .page.n_file = m->n_file};
    myth_repomap_budget bounded = *budget;
    myth_status st = MYTH_OK;
    size_t k = 0;
    *out = (myth_repomap_page){0};
    if (bounded.max_token > UINT32_MAX)
        bounded.max_token = UINT32_MAX;
    f.budget = &bounded;
    MYTH_TRY(find_most(&f, &k, err));
    myth_free(m->mem, m->is_shown);
    m->is_shown = myth_alloc(m->mem, MYTH_MEM_OTHER, "map", (size_t)m->n_entry + 1);
    if (!m->is_shown) {
        st = no_memory(err);
        goto fail;
    }
    for (size_t i = 0; i < k; i++)
        m->is_shown[m->list[i].entry] = true;
    f.page.text = (char *)f.best.data;
    f.best.data = NULL;
    *out = f.page;
fail:
    myth_buffer_close(&f.text);
    myth_buffer_close(&f.best);
    myth_free(m->mem, f.sum);
    return st;
}

void myth_repomap_page_free(myth_repomap_page *page, myth_mem *mem)
{
    myth_free(mem, page->text);
    *page = (myth_repomap_page){0};
}

/* ---- as data ---- */

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const myth_repomap_entry *)a)->place, y = ((const myth_repomap_entry *)b)->place;
    return (x > y) - (x < y);
}

static myth_status put_data(myth_repomap *m, myth_repomap_reader *r, myth_pool *pool, const myth_repomap_entry *e,
                            myth_repomap_file *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char **import = NULL;
    *f = (myth_repomap_file){
        .path = e->path,
        .language = e->language,
        .summary = e->summary,
        .rank = e->rank,
        .flags = e->flags,
        .risk = e->risk,
        .n_risk = e->n_risk,
        .n_symbol = e->n_symbol,
        .n_test = e->n_test,
    };
    myth_repomap_symbol *symbol = myth_pool_take(pool, ((size_t)e->n_symbol + 1) * sizeof(*symbol));
    const char **test = myth_pool_take(pool, ((size_t)e->n_test + 1) * sizeof(*test));
    if (!symbol || !test)
        return no_memory(err);
    for (uint32_t i = 0; i < e->n_symbol; i++) {
        const myth_repomap_row *y = &e->symbol[i];
        symbol[i] = (myth_repomap_symbol){y->name, y->parent, "", y->name_line, y->kind, y->is_exported, y->share};
        MYTH_TRY(myth_repomap_signature(r, pool, e, y, &symbol[i].signature, err));
    }
    for (uint32_t i = 0; i < e->n_test; i++)
        MYTH_TRY(myth_repomap_path(r, pool, e->test[i], &test[i], err));
    MYTH_TRY(myth_repomap_imports(r, pool, e, &import, &f->n_import, err));
    f->symbol = symbol;
    f->test = test;
    f->import = import;
    const myth_repomap_entry *known =
        m->n_entry && m->is_shown ? bsearch(e, m->entry, m->n_entry, sizeof(*e), by_place) : NULL;
    f->is_shown = known && m->is_shown[known - m->entry];
    if (pool->is_out_of_memory)
        st = no_memory(err);
fail:
    return st;
}

myth_status myth_repomap_each(myth_repomap *m, bool (*on_file)(void *arg, const myth_repomap_file *f), void *arg,
                              myth_error *err)
{
    myth_repomap_reader r = {0};
    myth_pool pool = {.mem = m->mem};
    myth_repomap_entry e;
    myth_repomap_file f;
    myth_status st = MYTH_OK;
    bool has = true, go_on = true;
    MYTH_TRY(myth_repomap_reader_open(&r, m->mem, m->reader.store, &m->opts, err));
    while (go_on) {
        MYTH_TRY(myth_repomap_reader_next(&r, &pool, m->under, &e, &has, err));
        if (!has)
            break;
        MYTH_TRY(put_data(m, &r, &pool, &e, &f, err));
        go_on = on_file(arg, &f);
        myth_pool_close(&pool);
        pool = (myth_pool){.mem = m->mem};
    }
fail:
    myth_repomap_reader_close(&r);
    myth_pool_close(&pool);
    return st;
}
