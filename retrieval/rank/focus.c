/* focus.c - see focus.h. */
#include "focus.h"
#include "retrieval/store/store_impl.h"
#include "engine/base/array.h"

#include <stdlib.h>
#include <string.h>

enum { DEFINITIONS = 256, NO_TOKEN = -1, OUTSIDE = DEFINITIONS };

typedef struct {
    char text[MYTH_WORD_BYTES];
    uint32_t n, group;
    int next; /* the next token with this first byte */
} token;

typedef struct {
    char name[256], parent[256]; /* cut to fit */
    uint32_t line0, line1, name_line;
    myth_symbol_kind kind;
    bool is_named;    /* the query has its name */
    bool is_left_out; /* a field of another definition, and not named by the query */
    double weight, name_weight;
    uint32_t n_line; /* lines of its region */
} definition;

typedef struct {
    uint32_t line, group; /* line: from 0, in the chunk */
} found;

struct myth_focus_words {
    myth_mem *mem;
    const myth_query *q;
    token *token;
    int head[256];
    double weight[MYTH_QUERY_TERMS], all;
    definition definition[DEFINITIONS];
    uint32_t n_definition;
    found *found;
    size_t n_found, cap_found;
    struct {
        size_t off, end;
        uint16_t owner; /* a definition, or OUTSIDE */
        double weight;
    } * line;
    size_t n_line, cap_line;
    uint32_t stamp[MYTH_QUERY_TERMS], n_stamp; /* the groups that were counted in this round */
};

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "search: no memory for a hit"); }

void myth_focus_close(myth_focus_words *w)
{
    if (!w)
        return;
    myth_free(w->mem, w->token);
    myth_free(w->mem, w->found);
    myth_free(w->mem, w->line);
    myth_free(w->mem, w);
}

myth_status myth_focus_open(myth_focus_words **out, const myth_query *q, const double group_weight[MYTH_QUERY_TERMS],
                            myth_error *err)
{
    myth_focus_words *w = myth_alloc(q->mem, MYTH_MEM_OTHER, "focus", sizeof(*w));
    *out = w;
    if (!w)
        return no_memory(err);
    memset(w, 0, sizeof(*w));
    w->mem = q->mem;
    w->q = q;
    for (int i = 0; i < 256; i++)
        w->head[i] = NO_TOKEN;
    w->token = myth_alloc_n(q->mem, MYTH_MEM_OTHER, "focus", q->n_term + 1, sizeof(*w->token));
    if (!w->token) {
        myth_focus_close(w);
        *out = NULL;
        return no_memory(err);
    }
    bool is_weighed = false;
    for (uint32_t g = 0; g < q->n_group; g++)
        is_weighed |= group_weight[g] > 0;
    for (uint32_t g = 0; g < q->n_group; g++)
        w->all += w->weight[g] = is_weighed ? group_weight[g] : 1;
    for (uint32_t i = 0; i < q->n_term; i++) {
        token *t = &w->token[i];
        const char *text = q->term[i].text;
        const size_t n = strlen(text);
        t->n = n <= MYTH_WORD_BYTES ? (uint32_t)myth_fts_token(t->text, text, n) : 0;
        t->group = q->term[i].group;
        int *head = &w->head[(unsigned char)t->text[0]];
        t->next = t->n ? *head : NO_TOKEN;
        *head = t->n ? (int)i : *head;
    }
    return MYTH_OK;
}

/* Calls found for the groups that have this word, or a part of it. */
static bool look_up(myth_focus_words *w, const char *text, size_t n, bool (*on_group)(myth_focus_words *, uint32_t))
{
    for (int i = n ? w->head[(unsigned char)text[0]] : NO_TOKEN; i != NO_TOKEN; i = w->token[i].next)
        if (w->token[i].n == n && memcmp(w->token[i].text, text, n) == 0 && !on_group(w, w->token[i].group))
            return false;
    return true;
}

static bool read_words(myth_focus_words *w, const char *text, size_t n, bool (*on_group)(myth_focus_words *, uint32_t))
{
    myth_word word;
    char stem[MYTH_WORD_BYTES];
    for (size_t pos = 0; myth_word_next(&word, text, n, &pos);) {
        if (myth_word_is_compound(&word) && !look_up(w, word.whole, word.n_whole, on_group))
            return false;
        for (unsigned i = 0; i < word.n_part; i++) {
            const size_t n_stem = myth_word_stem(stem, word.whole + word.part[i].off, word.part[i].bytes);
            if (n_stem > 1 && !look_up(w, stem, n_stem, on_group))
                return false;
        }
    }
    return true;
}

/* The groups of one line, each once. */
static bool add_found(myth_focus_words *w, uint32_t group)
{
    if (w->stamp[group] == w->n_stamp)
        return true;
    if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "focus", &w->found, w->n_found, &w->cap_found))
        return false;
    w->stamp[group] = w->n_stamp;
    w->line[w->n_line - 1].weight += w->weight[group];
    w->found[w->n_found++] = (found){(uint32_t)w->n_line - 1, group};
    return true;
}

static myth_status read_lines(myth_focus_words *w, const char *text, uint64_t n_text, uint32_t most, myth_error *err)
{
    w->n_line = w->n_found = 0;
    for (uint64_t at = 0; at < n_text && w->n_line < most;) {
        const char *stop = memchr(text + at, '\n', n_text - at);
        const uint64_t end = stop ? (uint64_t)(stop - text) : n_text;
        if (!MYTH_ARRAY_ROOM(w->mem, MYTH_MEM_OTHER, "focus", &w->line, w->n_line, &w->cap_line))
            return no_memory(err);
        w->line[w->n_line].off = at;
        w->line[w->n_line].end = end;
        w->line[w->n_line].owner = OUTSIDE;
        w->line[w->n_line++].weight = 0;
        w->n_stamp++;
        if (!read_words(w, text + at, end - at, add_found))
            return no_memory(err);
        at = end + 1;
    }
    return MYTH_OK;
}

static bool is_field(const definition *d) { return d->kind == MYTH_SYMBOL_VARIABLE || d->kind == MYTH_SYMBOL_CONSTANT; }

/* Whether b holds all lines of a and is not the same. */
static bool is_around(const definition *b, const definition *a)
{
    return b->line0 <= a->line0 && b->line1 >= a->line1 && b->line1 - b->line0 > a->line1 - a->line0;
}

static void copy_text(char dst[256], sqlite3_stmt *s, int column)
{
    const int n = sqlite3_column_bytes(s, column), n_kept = n < 255 ? n : 255;
    if (n_kept)
        memcpy(dst, sqlite3_column_blob(s, column), (size_t)n_kept);
    dst[n_kept] = '\0';
}

/* Reads the definitions that have lines of the chunk, without the fields that belong to another. */
static myth_status read_definitions(myth_focus_words *w, myth_store *store, int64_t file_id, uint32_t line0,
                                    uint32_t line1, myth_error *err)
{
    sqlite3_stmt *s = myth_store_statement(store, MYTH_SQL_SYMBOLS_IN, err);
    int rc = SQLITE_DONE;
    if (!s)
        return err ? err->code : MYTH_EFORMAT;
    w->n_definition = 0;
    sqlite3_bind_int64(s, 1, file_id * MYTH_SYMBOL_IDS);
    sqlite3_bind_int64(s, 2, file_id * MYTH_SYMBOL_IDS + MYTH_SYMBOL_IDS - 1);
    sqlite3_bind_int64(s, 3, line0);
    sqlite3_bind_int64(s, 4, line1);
    while (w->n_definition < DEFINITIONS && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        definition *d = &w->definition[w->n_definition];
        memset(d, 0, sizeof(*d));
        copy_text(d->name, s, 0);
        copy_text(d->parent, s, 1);
        d->kind = (myth_symbol_kind)sqlite3_column_int(s, 2);
        d->line0 = (uint32_t)sqlite3_column_int64(s, 3);
        d->line1 = (uint32_t)sqlite3_column_int64(s, 4);
        d->name_line = (uint32_t)sqlite3_column_int64(s, 5);
        for (uint32_t i = 0; i < w->q->n_name; i++)
            d->is_named |= strcmp(w->q->name[i], d->name) == 0;
        /* a module begins where its name is; elsewhere its lines are outside of definitions */
        const bool is_far = d->kind == MYTH_SYMBOL_MODULE && (d->name_line < line0 || d->name_line > line1);
        w->n_definition += !is_far && d->kind < MYTH_SYMBOL_KIND_N && d->line0 <= d->line1;
    }
    sqlite3_reset(s);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return myth_store_fail(store, rc, err);
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_definition; i++) {
        bool is_inside = false;
        for (uint32_t k = 0; k < w->n_definition && is_field(&w->definition[i]); k++)
            is_inside |= w->definition[k].kind != MYTH_SYMBOL_MODULE && !is_field(&w->definition[k]) &&
                         is_around(&w->definition[k], &w->definition[i]);
        w->definition[i].is_left_out = is_inside && !w->definition[i].is_named;
    }
    for (uint32_t i = 0; i < w->n_definition; i++)
        if (!w->definition[i].is_left_out)
            w->definition[n++] = w->definition[i];
    w->n_definition = n;
    return MYTH_OK;
}

/* Whether a line directly above a definition is its comment, decorator or attribute, in any language. */
static bool is_heading(const char *text, size_t off, size_t end)
{
    while (off < end && (text[off] == ' ' || text[off] == '\t'))
        off++;
    return off < end && text[off] != '\r' && strchr("#/*@[-\"'%;", text[off]) != NULL;
}

/* Gives each line to its region. Definitions come by rising first line, so an inner one takes over from an outer. */
static void share_lines(myth_focus_words *w, const char *text, uint32_t line0)
{
    for (uint32_t i = 0; i < w->n_definition; i++) {
        const definition *d = &w->definition[i];
        const uint32_t first = d->line0 > line0 ? d->line0 - line0 : 0, last = d->line1 - line0;
        for (uint32_t k = first; k <= last && k < w->n_line; k++) {
            const uint16_t own = w->line[k].owner;
            if (own == OUTSIDE || is_around(&w->definition[own], d))
                w->line[k].owner = (uint16_t)i;
        }
    }
    for (uint32_t i = 0; i < w->n_definition; i++) {
        const definition *d = &w->definition[i];
        if (d->line0 <= line0 || d->line0 - line0 > w->n_line)
            continue;
        for (uint32_t k = d->line0 - line0; k > 0; k--) {
            const uint16_t own = w->line[k - 1].owner;
            if ((own != OUTSIDE && !is_around(&w->definition[own], d)) ||
                !is_heading(text, w->line[k - 1].off, w->line[k - 1].end))
                break;
            w->line[k - 1].owner = (uint16_t)i;
        }
    }
    for (uint32_t k = 0; k < w->n_line; k++)
        if (w->line[k].owner != OUTSIDE)
            w->definition[w->line[k].owner].n_line++;
}

/* The weight of the groups that a region's lines have. */
static double weigh(myth_focus_words *w, uint16_t owner)
{
    double sum = 0;
    w->n_stamp++;
    for (size_t i = 0; i < w->n_found; i++) {
        const found *f = &w->found[i];
        if (w->line[f->line].owner != owner || w->stamp[f->group] == w->n_stamp)
            continue;
        w->stamp[f->group] = w->n_stamp;
        sum += w->weight[f->group];
    }
    return sum;
}

static bool stamp_group(myth_focus_words *w, uint32_t group)
{
    w->stamp[group] = w->n_stamp;
    return true;
}

static double weigh_name(myth_focus_words *w, const char *name)
{
    double sum = 0;
    w->n_stamp++;
    read_words(w, name, strlen(name), stamp_group);
    for (uint32_t g = 0; g < w->q->n_group; g++)
        sum += w->stamp[g] == w->n_stamp ? w->weight[g] : 0;
    return sum;
}

/* Picks the heaviest lines of a region and puts them in their order. */
static void pick_lines(myth_focus *out, const myth_focus_words *w, uint16_t owner, uint32_t line0)
{
    uint32_t best[MYTH_FOCUS_LINES], n = 0;
    for (uint32_t k = 0; k < w->n_line; k++) {
        if (w->line[k].weight <= 0 || w->line[k].owner != owner)
            continue;
        uint32_t at = n < MYTH_FOCUS_LINES ? n++ : MYTH_FOCUS_LINES;
        for (; at > 0 && w->line[best[at - 1]].weight < w->line[k].weight; at--)
            if (at < MYTH_FOCUS_LINES)
                best[at] = best[at - 1];
        if (at < MYTH_FOCUS_LINES)
            best[at] = k;
    }
    out->n_line = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && out->line[at - 1] > line0 + best[i]; at--)
            out->line[at] = out->line[at - 1];
        out->line[at] = line0 + best[i];
    }
}

static bool is_better(const definition *a, const definition *b)
{
    if (a->weight != b->weight)
        return a->weight > b->weight;
    if (a->weight > 0)
        return false;
    return a->name_weight != b->name_weight ? a->name_weight > b->name_weight : a->n_line > b->n_line;
}

myth_status myth_focus_find(myth_focus *out, myth_focus_words *w, myth_store *store, int64_t file_id, const char *text,
                            uint64_t n_text, uint32_t line0, uint32_t line1, myth_error *err)
{
    *out = (myth_focus){.name = "", .parent = "", .line0 = line0, .line1 = line1};
    myth_status st = read_lines(w, text, n_text, line1 - line0 + 1, err);
    if (st == MYTH_OK)
        st = read_definitions(w, store, file_id, line0, line1, err);
    if (st != MYTH_OK)
        return st;
    share_lines(w, text, line0);
    uint16_t best = OUTSIDE;
    const double outside = weigh(w, OUTSIDE);
    for (uint32_t i = 0; i < w->n_definition; i++) {
        definition *d = &w->definition[i];
        const bool has_name = d->name_line >= line0 && d->name_line <= line1;
        d->name_weight = d->n_line ? weigh_name(w, d->name) : 0;
        d->weight = d->n_line ? weigh(w, (uint16_t)i) + (has_name ? d->name_weight : 0) : 0;
        d->weight += d->is_named && has_name ? 2 * w->all : 0;
        if (best == OUTSIDE || is_better(d, &w->definition[best]))
            best = (uint16_t)i;
    }
    if (best != OUTSIDE && outside > w->definition[best].weight)
        best = OUTSIDE;
    pick_lines(out, w, best, line0);
    if (best == OUTSIDE)
        return MYTH_OK;
    const definition *d = &w->definition[best];
    out->is_definition = true;
    out->name = d->name;
    out->parent = d->parent;
    out->kind = d->kind;
    if (d->weight > 0) {
        out->is_narrow = true;
        out->line0 = d->line0 > line0 ? d->line0 : line0;
        out->line1 = d->line1 < line1 ? d->line1 : line1;
        if (out->n_line && out->line[0] < out->line0)
            out->line0 = out->line[0]; /* in the comment above it */
    }
    return MYTH_OK;
}
