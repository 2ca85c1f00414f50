/* calls.c - reads a call symbol by symbol: first to see whether it is one, then again to write it. */
#include "calls.h"

#include "engine/base/chars.h"

#include <string.h>

/* ---- symbols: bytes of text, and quotes, which are ids ---- */

enum { QUOTE = 256, END };

typedef struct {
    const myth_answer_ids *a;
    uint32_t at, end; /* ids */
    int32_t quote;
    myth_detok detok;
    size_t n, pos;     /* of the piece */
    myth_json_out *to; /* NULL = only to see whether it has the form */
    char keys[MYTH_CALL_KEYS_MAX];
    size_t n_keys; /* bytes of the keys of all objects that are open, each with its NUL */
} reader;

static int peek(reader *r)
{
    while (r->pos == r->n) {
        const bool is_over = r->at == r->end, is_quote = !is_over && r->a->ids[r->at] == r->quote;
        r->pos = 0;
        r->n = is_over || is_quote ? myth_detok_finish(&r->detok, r->a->piece)
                                   : myth_detok_push(&r->detok, r->a->ids[r->at++], r->a->piece);
        if (r->n == 0 && (is_over || is_quote))
            return is_over ? END : QUOTE;
    }
    return (unsigned char)r->a->piece[r->pos];
}

static void step(reader *r)
{
    if (peek(r) == QUOTE)
        r->at++;
    else
        r->pos++;
}

static int peek_ink(reader *r)
{
    while (myth_is_white(peek(r)))
        step(r);
    return peek(r);
}

static bool take(reader *r, int c)
{
    if (peek_ink(r) != c)
        return false;
    step(r);
    return true;
}

/* Bytes up to one of `stops`, a quote or the end, blanks around them left out. False when there are none, or more than
 * a name may have. */
static bool take_bare(reader *r, const char *stops, char out[MYTH_CALL_NAME_MAX], size_t *n)
{
    *n = 0;
    peek_ink(r);
    for (int c; (c = peek(r)) < QUOTE && c != 0 && !strchr(stops, c); step(r)) {
        if (*n + 1 == MYTH_CALL_NAME_MAX)
            return false;
        out[(*n)++] = (char)c;
    }
    while (*n && myth_is_white(out[*n - 1]))
        --*n;
    out[*n] = '\0';
    return *n > 0;
}

/* ---- values ---- */

static const char *digits(const char *s)
{
    const char *from = s;
    while (*s >= '0' && *s <= '9')
        s++;
    return s > from ? s : NULL;
}

/* As JSON has it, and as long as a template writes one. */
static bool is_number(const char *s, size_t n)
{
    const char *end = s + n;
    s += *s == '-';
    s = *s == '0' ? s + 1 : digits(s);
    if (s && *s == '.')
        s = digits(s + 1);
    if (s && (*s == 'e' || *s == 'E')) {
        s += s[1] == '+' || s[1] == '-' ? 2 : 1;
        s = digits(s);
    }
    return s == end && n < 64;
}

static bool read_string(reader *r)
{
    int c;
    step(r);
    if (r->to)
        myth_jout_text_begin(r->to);
    while ((c = peek(r)) < QUOTE) {
        if (r->to)
            myth_jout_text_part(r->to, r->a->piece + r->pos, r->n - r->pos);
        r->pos = r->n;
    }
    if (r->to)
        myth_jout_text_end(r->to);
    step(r);
    return c == QUOTE;
}

static bool read_bare(reader *r)
{
    char word[MYTH_CALL_NAME_MAX];
    size_t n;
    if (!take_bare(r, ",}]", word, &n) || peek(r) == QUOTE)
        return false;
    if (!r->to)
        return true;
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0 || strcmp(word, "null") == 0 || is_number(word, n))
        myth_jout_json(r->to, word, n);
    else if (n >= 2 && word[0] == '"' && strchr(word + 1, '"') == word + n - 1)
        myth_jout_text(r->to, word + 1, n - 2);
    else
        myth_jout_text(r->to, word, n);
    return true;
}

/* A key that the object, whose keys begin at `first`, has not yet. */
static bool read_key(reader *r, size_t first)
{
    char key[MYTH_CALL_NAME_MAX];
    size_t n = 0;
    if (peek_ink(r) != QUOTE) {
        if (!take_bare(r, ":{}[],", key, &n))
            return false;
    } else {
        step(r);
        for (int c; (c = peek(r)) != QUOTE; step(r)) {
            if (c == END || c == 0 || n + 1 == sizeof(key))
                return false;
            key[n++] = (char)c;
        }
        step(r);
    }
    key[n] = '\0';
    if (n + 1 > sizeof(r->keys) - r->n_keys)
        return false;
    for (size_t i = first; i < r->n_keys; i += strlen(r->keys + i) + 1)
        if (strcmp(r->keys + i, key) == 0)
            return false;
    memcpy(r->keys + r->n_keys, key, n + 1);
    r->n_keys += n + 1;
    if (r->to)
        myth_jout_key(r->to, key);
    return true;
}

static bool read_value(reader *r, int depth);

static bool read_members(reader *r, int depth)
{
    const size_t first = r->n_keys;
    if (!take(r, '{'))
        return false;
    if (r->to)
        myth_jout_object(r->to);
    for (bool is_first = true; peek_ink(r) != '}'; is_first = false)
        if ((!is_first && !take(r, ',')) || !read_key(r, first) || !take(r, ':') || !read_value(r, depth + 1))
            return false;
    step(r);
    r->n_keys = first;
    if (r->to)
        myth_jout_end(r->to);
    return true;
}

static bool read_items(reader *r, int depth)
{
    step(r);
    if (r->to)
        myth_jout_array(r->to);
    for (bool is_first = true; peek_ink(r) != ']'; is_first = false)
        if ((!is_first && !take(r, ',')) || !read_value(r, depth + 1))
            return false;
    step(r);
    if (r->to)
        myth_jout_end(r->to);
    return true;
}

static bool read_value(reader *r, int depth)
{
    if (depth > MYTH_CALL_DEPTH)
        return false;
    switch (peek_ink(r)) {
    case QUOTE: return read_string(r);
    case '{': return read_members(r, depth);
    case '[': return read_items(r, depth);
    default: return read_bare(r);
    }
}

/* ---- calls ---- */

static void print_id(myth_json_out *j, uint64_t number)
{
    char id[32];
    snprintf(id, sizeof(id), "call_%llu", (unsigned long long)number);
    myth_jout_key_str(j, "id", id);
    myth_jout_key_str(j, "type", "function");
}

/* What stands between the marks, ids from .. to - 1. */
static bool read_call(const myth_answer_ids *a, uint32_t from, uint32_t to, myth_json_out *j, uint64_t number)
{
    static const char begin[] = "call:";
    char name[MYTH_CALL_NAME_MAX];
    size_t n;
    reader r = {.a = a, .at = from, .end = to, .quote = myth_tokenizer_special(a->tok)->tool_quote, .to = j};
    myth_detok_start(&r.detok, a->tok, false);
    peek_ink(&r);
    for (size_t i = 0; i < sizeof(begin) - 1; i++, step(&r))
        if (peek(&r) != begin[i])
            return false;
    if (!take_bare(&r, "{}[],:", name, &n) || peek(&r) != '{')
        return false;
    if (j) {
        myth_jout_object(j);
        print_id(j, number);
        myth_jout_key(j, "function");
        myth_jout_object(j);
        myth_jout_key_str(j, "name", name);
        myth_jout_key(j, "arguments");
    }
    if (!read_members(&r, 1) || peek_ink(&r) != END)
        return false;
    if (j) {
        myth_jout_end(j);
        myth_jout_end(j);
    }
    return true;
}

/* Whether a call begins at id i; *to: the id that ends it. */
static bool is_call(const myth_answer_ids *a, uint32_t i, uint32_t *to)
{
    const myth_special_ids *s = myth_tokenizer_special(a->tok);
    if (s->tool_call < 0 || a->ids[i] != s->tool_call)
        return false;
    for (*to = i + 1; *to < a->n && a->ids[*to] != s->tool_call_end; ++*to)
        if (a->ids[*to] == s->tool_call)
            return false;
    return *to < a->n && read_call(a, i + 1, *to, NULL, 0);
}

/* The next call at or behind *i, whose marks are ids *i and *to; c is where *i stands. */
static bool next_call(const myth_answer_ids *a, myth_channel *c, uint32_t *i, uint32_t *to)
{
    for (; *i < a->n; ++*i)
        if (myth_channel_push(c, a->ids[*i]) == MYTH_SAID_ANSWER && is_call(a, *i, to))
            return true;
    return false;
}

uint32_t myth_calls_count(const myth_answer_ids *a)
{
    uint32_t n = 0;
    myth_channel c = a->channel;
    for (uint32_t i = 0, to; next_call(a, &c, &i, &to); i = to + 1)
        n++;
    return n;
}

void myth_calls_print(const myth_answer_ids *a, myth_json_out *j, uint64_t first)
{
    myth_channel c = a->channel;
    myth_jout_array(j);
    for (uint32_t i = 0, to; next_call(a, &c, &i, &to); i = to + 1)
        read_call(a, i + 1, to, j, first++);
    myth_jout_end(j);
}

const char *myth_calls_finish(uint32_t n_call, myth_finish why)
{
    return n_call && why == MYTH_FINISH_STOP ? "tool_calls" : myth_finish_name(why);
}

void myth_calls_print_finish(const myth_answer_ids *a, myth_json_out *j, myth_finish why)
{
    const uint32_t n = a->tok ? myth_calls_count(a) : 0;
    if (n) {
        myth_jout_key(j, "tool_calls");
        myth_calls_print(a, j, 1);
    }
    myth_jout_key_str(j, "finish_reason", myth_calls_finish(n, why));
}

/* ---- the rest ---- */

typedef struct {
    char *to;
    size_t n, cap;
} sink;

static void put(sink *s, const char *text, size_t n)
{
    n = n < s->cap - s->n ? n : s->cap - s->n;
    memcpy(s->to + s->n, text, n);
    s->n += n;
}

size_t myth_calls_text(const myth_answer_ids *a, char *to, size_t cap)
{
    sink s = {.to = to, .cap = cap};
    myth_channel c = a->channel;
    myth_detok d;
    myth_detok_start(&d, a->tok, false);
    for (uint32_t i = 0, last; i < a->n; i++) {
        const bool is_answer = myth_channel_push(&c, a->ids[i]) == MYTH_SAID_ANSWER;
        if (is_answer && is_call(a, i, &last)) {
            put(&s, a->piece, myth_detok_finish(&d, a->piece));
            i = last;
        } else {
            const size_t n = is_answer ? myth_detok_push(&d, a->ids[i], a->piece) : myth_detok_finish(&d, a->piece);
            put(&s, a->piece, n);
        }
    }
    put(&s, a->piece, myth_detok_finish(&d, a->piece));
    return s.n;
}
