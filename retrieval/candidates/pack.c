/* pack.c - see pack.h. Reads the texts once for a grammar; rows of other languages are left out. */
#include "pack.h"

#include "engine/base/array.h"
#include "engine/base/chars.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <string.h>

/* A name and the lists that have it, a bit each. */
struct myth_pack_seen {
    uint64_t hash;
    myth_pack_mask lists;
};

enum { SEEN = 1 << 14 };

static const char *const event_name[MYTH_EVENT_N] = {
    [MYTH_EVENT_DEFINE] = "define", [MYTH_EVENT_USE] = "use",           [MYTH_EVENT_DEREF] = "deref",
    [MYTH_EVENT_INDEX] = "index",   [MYTH_EVENT_TEST] = "test",         [MYTH_EVENT_CALL] = "call",
    [MYTH_EVENT_ARG] = "arg",       [MYTH_EVENT_RETURN] = "return",     [MYTH_EVENT_LEAVE] = "leave",
    [MYTH_EVENT_DIVIDE] = "divide", [MYTH_EVENT_CATCH] = "catch",       [MYTH_EVENT_SWAPPED] = "swapped",
    [MYTH_EVENT_COPIED] = "copied", [MYTH_EVENT_CONTRARY] = "contrary", [MYTH_EVENT_FIELD] = "field",
    [MYTH_EVENT_HABIT] = "habit",   [MYTH_EVENT_LOST] = "lost",
};

static bool word_is(const char *p, size_t n, const char *want) { return strlen(want) == n && memcmp(p, want, n) == 0; }

/* The next word of a line: its bytes, 0 at the end. */
static size_t next_word(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t'))
        ++*p;
    const char *q = *p;
    while (q < end && *q != ' ' && *q != '\t')
        q++;
    return (size_t)(q - *p);
}

/* The next line of a text: *line and *end, without its end. False at the end of the text. */
static bool next_line(const char **at, const char *all_end, const char **line, const char **end)
{
    if (*at >= all_end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(all_end - *at));
    *line = *at;
    *end = stop ? stop : all_end;
    *at = *end + 1;
    return true;
}

static int find_list(const myth_pack *r, const char *name, size_t n)
{
    for (uint32_t i = 0; i < r->n_list; i++)
        if (word_is(name, n, r->list[i].name))
            return (int)i;
    return -1;
}

static bool read_event(myth_pack_row *row, const char *p, size_t n)
{
    for (int i = 0; i < MYTH_EVENT_N; i++)
        if (word_is(p, n, event_name[i])) {
            row->event = (uint8_t)i;
            return true;
        }
    return false;
}

static bool read_condition(myth_pack *r, myth_pack_row *row, const char *p, const char *end, bool is_not)
{
    size_t n = next_word(&p, end);
    myth_pack_condition c = {.is_not = is_not, .list = -1, .fact = MYTH_FACT_N};
    for (int i = 0; i < MYTH_FACT_N; i++)
        if (word_is(p, n, myth_fact_name((myth_fact_kind)i)))
            c.fact = (myth_fact_kind)i;
    if (c.fact == MYTH_FACT_N || row->n_condition == MYTH_PACK_CONDITIONS)
        return false;
    p += n;
    n = next_word(&p, end);
    if (word_is(p, n, "in") && !myth_fact_values(c.fact)) {
        p += n;
        n = next_word(&p, end);
        c.list = find_list(r, p, n);
        if (c.list < 0)
            return false;
    } else
        for (; n > 0; p += n, n = next_word(&p, end)) {
            char name[16];
            int value = 0;
            while (myth_fact_value_name(c.fact, value, name) && !word_is(p, n, name))
                value++;
            if (!myth_fact_value_name(c.fact, value, name))
                return false;
            c.values |= 1u << value;
        }
    if (c.list < 0 && c.values == 0)
        return false;
    row->condition[row->n_condition++] = c;
    return true;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* A bit for each letter or other byte of a text, without regard to case. */
static uint32_t letters_of(const char *text, size_t n)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (uint32_t)1 << (lower(text[i]) & 31);
    return bits;
}

/* Puts the words of a list behind those of the others. */
static bool read_words(myth_pack *r, myth_pack_list *l)
{
    const char *p = l->words, *end = l->words + l->n;
    l->first = r->n_word;
    for (size_t n; p < end; p += n) {
        while (p < end && myth_is_white(*p))
            p++;
        for (n = 0; p + n < end && !myth_is_white(p[n]);)
            n++;
        if (n == 0)
            break;
        if (!MYTH_ARRAY_ROOM(r->mem, MYTH_MEM_OTHER, "rules", &r->word, r->n_word, &r->cap_word))
            return false;
        const size_t head = n > 1 && (p[0] == '*' || p[0] == '.'), tail = n > 1 && p[n - 1] == '*';
        r->word[r->n_word++] = (myth_pack_word){p, (uint32_t)n, letters_of(p + head, n - head - tail)};
    }
    l->n_word = r->n_word - l->first;
    return true;
}

/* A list's words go on to the next line that does not begin with a blank. */
static bool read_list(myth_pack *r, const char *p, const char *end, const char *all_end)
{
    const char *colon = memchr(p, ':', (size_t)(end - p));
    if (!colon || r->n_list == MYTH_PACK_LISTS || (size_t)(colon - p) >= sizeof(r->list[0].name))
        return false;
    if (find_list(r, p, (size_t)(colon - p)) >= 0)
        return false; /* names are those of all files together */
    myth_pack_list *l = &r->list[r->n_list++];
    memcpy(l->name, p, (size_t)(colon - p));
    l->name[colon - p] = '\0';
    l->words = colon + 1;
    while (end < all_end && end + 1 < all_end && (end[1] == ' ' || end[1] == '\t')) {
        const char *next = memchr(end + 1, '\n', (size_t)(all_end - end - 1));
        end = next ? next : all_end;
    }
    l->n = (uint32_t)(end - l->words);
    return read_words(r, l);
}

/* The last row of this rule with a name that is known so far, but for the one that is read. */
static bool read_like(myth_pack *r, myth_pack_row *row, const char *p, size_t n)
{
    for (uint32_t i = r->n_row - 1; i-- > 0;)
        if (strcmp(r->row[i].id, row->id) == 0 && word_is(p, n, r->row[i].name))
            return (row->like = (int)i) >= 0;
    return false;
}

static bool has_word(const char *p, const char *end, const char *word)
{
    for (size_t n; (n = next_word(&p, end)) > 0; p += n)
        if (word_is(p, n, word))
            return true;
    return false;
}

/* Puts the rows of each kind of event together. */
static bool sort_rows(myth_pack *r)
{
    uint16_t n = 0;
    r->order = myth_alloc_n(r->mem, MYTH_MEM_OTHER, "rules", r->n_row, sizeof(*r->order));
    r->seen = myth_alloc_n(r->mem, MYTH_MEM_OTHER, "rules", SEEN, sizeof(*r->seen));
    if (!r->order || !r->seen)
        return false;
    for (int kind = 0; kind < MYTH_EVENT_N; kind++) {
        r->first[kind] = n;
        for (uint32_t i = 0; i < r->n_row; i++)
            if (r->row[i].event == kind)
                r->order[n++] = (uint16_t)i;
    }
    r->first[MYTH_EVENT_N] = n;
    return true;
}

bool myth_pack_open(myth_pack *r, myth_mem *mem, const char *grammar, const char *text, size_t n, uint32_t *wrong)
{
    const char *p = text, *all_end = text + n, *line, *end;
    bool is_mine = false; /* whether the row that is being read is of this grammar */
    bool is_good = true;
    *r = (myth_pack){.mem = mem};
    *wrong = 0;
    for (; is_good && next_line(&p, all_end, &line, &end); (*wrong)++) {
        if (line == end || *line == '#' || *line == ' ' || *line == '\t')
            continue;
        const size_t k = next_word(&line, end);
        const char *rest = line + k;
        const size_t m = next_word(&rest, end);
        myth_pack_row *row = r->n_row ? &r->row[r->n_row - 1] : NULL;
        if (word_is(line, k, "list"))
            is_good = read_list(r, rest, end, all_end);
        else if (word_is(line, k, "rule")) {
            is_good = m > 0 && m < MYTH_PACK_ID &&
                      MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "rules", &r->row, r->n_row, &r->cap_row);
            if (is_good) {
                if (r->n_row && !is_mine)
                    r->n_row--;
                row = &r->row[r->n_row++];
                const char *slash = memchr(rest, '/', m);
                const size_t n_id = slash ? (size_t)(slash - rest) : m;
                *row = (myth_pack_row){.release = -1, .like = -1, .most = MYTH_CANDIDATES_ROW};
                memcpy(row->id, rest, n_id);
                if (slash)
                    memcpy(row->name, slash + 1, m - n_id - 1);
            }
            is_mine = false;
        } else if (!row)
            is_good = false;
        else if (word_is(line, k, "in"))
            is_mine = has_word(rest, end, grammar);
        else if (word_is(line, k, "at"))
            is_good = read_event(row, rest, m);
        else if (word_is(line, k, "most"))
            is_good = m == 1 && (row->most = (uint8_t)(*rest - '0')) > 0 && row->most <= 9;
        else if (word_is(line, k, "like"))
            is_good = !is_mine || read_like(r, row, rest, m);
        else if (word_is(line, k, "once"))
            row->most = row->is_once = true;
        else if (word_is(line, k, "with"))
            is_good = (row->release = find_list(r, rest, m)) >= 0;
        else if (word_is(line, k, "if") || word_is(line, k, "not"))
            is_good = read_condition(r, row, rest, end, word_is(line, k, "not"));
        else if (word_is(line, k, "say")) {
            is_good = end - rest < MYTH_PACK_SAY;
            if (is_good)
                memcpy(row->say, rest, (size_t)(end - rest));
        } else
            is_good = false;
    }
    if (r->n_row && !is_mine)
        r->n_row--;
    return is_good && sort_rows(r);
}

/* What stands behind a word at the begin of a line; NULL = another word. */
static const char *behind(const char *line, const char *end, const char *word)
{
    const size_t n = next_word(&line, end);
    return word_is(line, n, word) ? line + n : NULL;
}

bool myth_pack_is_for(const char *text, size_t n, const char *grammar)
{
    const char *p = text, *line, *end;
    while (next_line(&p, text + n, &line, &end)) {
        const char *grammars = behind(line, end, "in");
        if (grammars && has_word(grammars, end, grammar))
            return true;
    }
    return false;
}

uint32_t myth_pack_ids(const char *text, size_t n, char id[][MYTH_PACK_ID], uint32_t most)
{
    const char *p = text, *line, *end;
    uint32_t n_id = 0;
    while (n_id < most && next_line(&p, text + n, &line, &end)) {
        const char *name = behind(line, end, "rule");
        size_t m = name ? next_word(&name, end) : 0;
        const char *slash = m ? memchr(name, '/', m) : NULL;
        m = slash ? (size_t)(slash - name) : m;
        bool is_new = m > 0 && m < MYTH_PACK_ID;
        for (uint32_t i = 0; i < n_id && is_new; i++)
            is_new = !word_is(name, m, id[i]);
        if (!is_new)
            continue;
        memcpy(id[n_id], name, m);
        id[n_id++][m] = '\0';
    }
    return n_id;
}

void myth_pack_close(myth_pack *r)
{
    myth_free(r->mem, r->row);
    myth_free(r->mem, r->order);
    myth_free(r->mem, r->seen);
    myth_free(r->mem, r->word);
    *r = (myth_pack){0};
}

static bool ends_with(const char *name, size_t n, const char *tail, size_t m)
{
    return n >= m && memcmp(name + n - m, tail, m) == 0;
}

/* Whether a text has the word, in any case. */
static bool holds(const char *name, const char *word, size_t n)
{
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && lower(name[i]) == lower(word[i]) && name[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static bool is_word(const myth_pack_word *w, const char *name, size_t n)
{
    const char *p = w->text;
    const size_t m = w->n;
    const bool is_open = p[0] == '*' && m > 1, is_open_end = p[m - 1] == '*' && m > 1;
    if (is_open && is_open_end)
        return holds(name, p + 1, m - 2);
    if (is_open)
        return ends_with(name, n, p + 1, m - 1);
    if (is_open_end)
        return n >= m - 1 && memcmp(name, p, m - 1) == 0;
    if (p[0] == '.') {
        const char before = n >= m ? name[n - m] : '\0'; /* a dot, or the end of an arrow */
        return ends_with(name, n, p + 1, m - 1) && (before == '.' || before == '>');
    }
    if (n == m && memcmp(name, p, m) == 0)
        return true;
    return n > m && ends_with(name, n, p, m) && (name[n - m - 1] == ':' || memchr(p, '.', m)) &&
           (name[n - m - 1] == ':' || name[n - m - 1] == '.');
}

static bool has_name(const myth_pack *r, const myth_pack_list *l, const char *name, size_t n, uint32_t letters)
{
    for (uint32_t i = l->first; n > 0 && i < l->first + l->n_word; i++)
        if ((r->word[i].letters & ~letters) == 0 && is_word(&r->word[i], name, n))
            return true;
    return false;
}

int myth_pack_list_number(const myth_pack *r, const char *name) { return find_list(r, name, strlen(name)); }

bool myth_pack_lists_text(const myth_pack *r, int i, const char *text)
{
    const size_t n = strlen(text);
    return has_name(r, &r->list[i], text, n, letters_of(text, n));
}

myth_pack_mask myth_pack_lists_of(const myth_pack *r, const char *name)
{
    if (name[0] == '\0')
        return (myth_pack_mask){0};
    const size_t n = strlen(name);
    const uint64_t hash = myth_hash_bytes(name, n) | 1;
    struct myth_pack_seen *s = &r->seen[hash / 2 % SEEN];
    if (s->hash != hash) {
        const uint32_t letters = letters_of(name, n);
        *s = (struct myth_pack_seen){.hash = hash};
        for (uint32_t l = 0; l < r->n_list; l++)
            if (has_name(r, &r->list[l], name, n, letters))
                s->lists.bits[l / 64] |= (uint64_t)1 << l % 64;
    }
    return s->lists;
}
