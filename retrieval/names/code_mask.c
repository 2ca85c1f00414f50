/* code_mask.c - see code_mask.h. One walk over the bytes reads from a copy of the text and blanks in the text, so that
 * a string that turns out to have no end can be put back.
 *
 * Nesting   what a string computes is walked as code, in which strings may stand, up to DEPTH deep
 * Cost      a kind of string or block that did not end before the text's end is not tried again, and none is when
 *           CREDIT times the text was walked in vain, so that hostile texts take little longer than others */
#include "code_mask.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH = 8, FENCE = 20, CREDIT = 4, FAR = 2000 }; /* FAR: bytes of a pattern, and of blanks before it */

bool myth_code_has_sigil(const myth_language *language) { return language->lexis & MYTH_LEX_DOLLAR; }

/* What a string computes, by how it begins. */
typedef enum { NOTHING, BRACE, NAME_BRACE, DOLLAR_BRACE, DOLLAR_NAME, HASH_BRACE, BACK_PAREN } inner;

typedef struct {
    const char *close;
    size_t n_close;
    bool is_long, has_escape, is_doubled; /* may span lines; '\' hides a byte; two closing quotes are one inside */
    inner inner;
} string;

typedef struct {
    const unsigned char *text; /* as it was */
    unsigned char *out;
    size_t n, at;
    unsigned marks, lexis, unclosed; /* unclosed: bits of kinds that have no end any more */
    /* Where the lines of the last quotes ' and " end that nothing closed in theirs, 0 = none: the next line that has
     * such a quote may end a string of several lines, so all of it is code, up to code_to. */
    size_t loose[2], code_to, quoteless[2]; /* quoteless: up to there is no such quote */
    size_t line, line_stop;                 /* a place in a line, and the line's end */
    size_t credit; /* bytes that may yet be walked in vain; 0 = no more strings are looked for */
    myth_language_family family;
    int depth;
} walk;

enum { OF_BLOCK = 1, OF_TRIPLE = 2, OF_BACKTICK = 4, OF_RAW = 8, OF_DOUBLE = 16 };

static bool starts(const walk *w, size_t at, const char *s, size_t n)
{
    return at <= w->n && w->n - at >= n && memcmp(w->text + at, s, n) == 0;
}

static bool is_here(const walk *w, const char *s) { return starts(w, w->at, s, strlen(s)); }

static void blank(walk *w, size_t to)
{
    for (to = to < w->n ? to : w->n; w->at < to; w->at++)
        if (w->out[w->at] != '\n' && w->out[w->at] != '\r')
            w->out[w->at] = ' ';
}

/* The last line that was asked for is kept: a line may have as many quotes as bytes. */
static size_t line_end(walk *w, size_t at)
{
    if (at >= w->line && at <= w->line_stop)
        return w->line_stop;
    const unsigned char *end = at < w->n ? memchr(w->text + at, '\n', w->n - at) : NULL;
    w->line = at;
    w->line_stop = end ? (size_t)(end - w->text) : w->n;
    return w->line_stop;
}

/* ---- comments ---- */

/* Blanks from here to behind `close`; blocks may be in each other where `open` is given. */
static bool blank_block(walk *w, const char *begin, const char *open, const char *close)
{
    const size_t n_open = open ? strlen(open) : 0, n_close = strlen(close);
    size_t at = w->at + strlen(begin);
    if (!is_here(w, begin) || (w->unclosed & OF_BLOCK))
        return false;
    for (int deep = 1; at < w->n; at++) {
        if (starts(w, at, close, n_close)) {
            at += n_close - 1;
            if (--deep == 0) {
                blank(w, at + 1);
                return true;
            }
        } else if (open && starts(w, at, open, n_open)) {
            at += n_open - 1;
            deep++;
        }
    }
    w->unclosed |= OF_BLOCK;
    return false;
}

static bool blank_line(walk *w, const char *open)
{
    if (!is_here(w, open))
        return false;
    size_t end = line_end(w, w->at);
    while (w->family == MYTH_FAMILY_C && end < w->n && end > w->at && w->text[end - 1] == '\\')
        end = line_end(w, end + 1); /* C joins lines before it looks for comments */
    blank(w, end);
    return true;
}

/* A # in the middle of a word or behind a sign of a shell is none: $#, ${#x}, a#b. */
static bool is_hash_comment(const walk *w)
{
    const unsigned char before = w->at > 0 ? w->text[w->at - 1] : '\n',
                        after = w->at + 1 < w->n ? w->text[w->at + 1] : 0;
    if (w->family == MYTH_FAMILY_PHP && after == '[')
        return false; /* an attribute */
    return (w->lexis & MYTH_LEX_HASH_ANYWHERE) || isspace(before) || strchr(";()", before);
}

/* Whether the string that begins or the comment that would begin here may be what a string of several lines ends
 * behind. The rest of such a line is code. */
static bool is_in_doubt(walk *w)
{
    static const char quote[] = "'\"";
    for (int i = 0; i < 2; i++) {
        if (!w->loose[i] || w->at < w->loose[i] || w->at < w->quoteless[i])
            continue;
        const size_t end = line_end(w, w->at);
        if (memchr(w->text + w->at, quote[i], end - w->at)) {
            w->loose[i] = 0;
            w->code_to = end;
        } else
            w->quoteless[i] = end;
    }
    return w->at < w->code_to;
}

static bool blank_comment(walk *w)
{
    const bool is_nested = w->lexis & MYTH_LEX_NESTED, begins_line = w->at == 0 || w->text[w->at - 1] == '\n';
    const unsigned m = w->marks;
    switch (w->text[w->at]) {
    case '/':
        return (m & MYTH_MARK_SLASH) && (blank_line(w, "//") || blank_block(w, "/*", is_nested ? "/*" : NULL, "*/"));
    case '#': return (m & MYTH_MARK_HASH) && is_hash_comment(w) && blank_line(w, "#");
    case '-':
        if ((w->lexis & MYTH_LEX_DASH_BLOCKS) && blank_block(w, "--[[", NULL, "]]"))
            return true;
        return (m & MYTH_MARK_DASH) && blank_line(w, "--");
    case '{': return (w->lexis & MYTH_LEX_DASH_BLOCKS) && (m & MYTH_MARK_DASH) && blank_block(w, "{-", "{-", "-}");
    case ';': return (m & MYTH_MARK_SEMICOLON) && blank_line(w, ";");
    case '%': return (m & MYTH_MARK_PERCENT) && blank_line(w, "%");
    case '<': return (m & MYTH_MARK_ANGLE) && blank_block(w, "<!--", NULL, "-->");
    case '(': return (m & MYTH_MARK_PAREN) && blank_block(w, "(*", "(*", "*)");
    case '=': return (w->lexis & MYTH_LEX_BEGIN_END) && begins_line && blank_block(w, "=begin", NULL, "\n=end");
    default: return false;
    }
}

/* ---- strings ---- */

static void walk_code(walk *w, unsigned char close, size_t stop);

/* Leaves the name at `at` as it is. */
static bool keep_name(walk *w, size_t at)
{
    if (at >= w->n || !myth_is_name(w->text[at]) || isdigit(w->text[at]))
        return false;
    while (at < w->n && myth_is_name(w->text[at]))
        at++;
    w->at = at;
    return true;
}

/* Walks over code in a string up to `close`. False: it is not closed there. */
static bool keep_code(walk *w, size_t n_open, unsigned char close, size_t stop)
{
    if (w->depth == DEPTH || w->credit == 0)
        return false;
    w->at += n_open;
    w->depth++;
    walk_code(w, close, stop);
    w->depth--;
    if (w->at >= stop || w->text[w->at] != close)
        return false;
    w->at++;
    return true;
}

static bool keep_pair(walk *w, unsigned char mark, unsigned char open, unsigned char close, size_t stop,
                      bool *is_closed)
{
    if (w->text[w->at] != mark || w->at + 1 >= stop || w->text[w->at + 1] != open)
        return false;
    *is_closed = keep_code(w, 2, close, stop);
    return true;
}

/* Handles what the string computes at this byte. *is_closed false: it has no end. */
static bool keep_inner(walk *w, const string *s, size_t stop, bool *is_closed)
{
    const unsigned char c = w->text[w->at], next = w->at + 1 < stop ? w->text[w->at + 1] : 0;
    switch (s->inner) {
    case BRACE:
        if (c == '{' && next == '{') {
            blank(w, w->at + 2);
            return true;
        }
        if (c == '{')
            *is_closed = keep_code(w, 1, '}', stop);
        return c == '{';
    case NAME_BRACE: {
        const size_t from = w->at;
        if (c != '{' || !keep_name(w, w->at + 1))
            return false;
        if (w->at < stop && (w->text[w->at] == '}' || w->text[w->at] == ':'))
            return true;
        w->at = from;
        return false;
    }
    case DOLLAR_NAME:
        if (c == '$' && keep_name(w, w->at + 1)) {
            if (w->family == MYTH_FAMILY_PHP && is_here(w, "->"))
                keep_name(w, w->at + 2);
            return true;
        }
        if (w->family == MYTH_FAMILY_PHP && keep_pair(w, '{', '$', '}', stop, is_closed))
            return true;
        return keep_pair(w, '$', '(', ')', stop, is_closed) || keep_pair(w, '$', '{', '}', stop, is_closed);
    case DOLLAR_BRACE: return keep_pair(w, '$', '{', '}', stop, is_closed);
    case HASH_BRACE: return keep_pair(w, '#', '{', '}', stop, is_closed);
    case BACK_PAREN: return keep_pair(w, '\\', '(', ')', stop, is_closed);
    case NOTHING: break;
    }
    return false;
}

/* Blanks a string from its first byte inside to its closing quote, which it passes over. False: it does not end in its
 * line, or in the text where it may span lines. */
static bool blank_string(walk *w, const string *s, size_t limit)
{
    size_t stop = s->is_long ? limit : line_end(w, w->at);
    stop = stop < limit ? stop : limit;
    while (w->at < stop) {
        bool is_closed = true;
        if (starts(w, w->at, s->close, s->n_close)) {
            if (s->is_doubled && starts(w, w->at + s->n_close, s->close, s->n_close)) {
                blank(w, w->at + 2 * s->n_close);
                continue;
            }
            w->at += s->n_close;
            return true;
        }
        if (keep_inner(w, s, stop, &is_closed)) {
            if (!is_closed)
                return false;
            continue;
        }
        const bool is_hidden = s->has_escape && w->text[w->at] == '\\';
        const size_t hidden = w->at + 1 + (w->at + 1 < w->n && w->text[w->at + 1] == '\r');
        if (is_hidden && !s->is_long && hidden < limit && w->text[hidden] == '\n') {
            stop = line_end(w, hidden + 1); /* the line is continued */
            stop = stop < limit ? stop : limit;
            blank(w, hidden + 1);
            continue;
        }
        blank(w, w->at + (is_hidden ? 2 : 1));
    }
    return false;
}

/* Tries a string that begins n_open bytes before its content. */
static bool try_string(walk *w, const string *s, size_t n_open, unsigned kind, size_t limit)
{
    const size_t from = w->at;
    if ((w->unclosed & kind) || w->credit == 0)
        return false;
    w->at += n_open;
    if (blank_string(w, s, limit))
        return true;
    const size_t end = w->at < w->n ? w->at : w->n;
    memcpy(w->out + from, w->text + from, end - from);
    w->at = from;
    w->unclosed |= limit == w->n ? kind : 0;
    w->credit -= w->credit < end - from + 1 ? w->credit : end - from + 1;
    return false;
}

/* The letters directly before a quote that say what kind of string it is. */
static size_t prefix_before(const walk *w, const unsigned char **prefix)
{
    const char *letters = w->lexis & MYTH_LEX_FORMAT    ? "rRbBuUfFtT"
                        : w->lexis & MYTH_LEX_RAW_PAREN ? "LuU8R"
                        : w->lexis & MYTH_LEX_VERBATIM  ? "@$"
                                                        : "";
    size_t n = 0;
    while (n < 3 && n < w->at && w->text[w->at - n - 1] && strchr(letters, w->text[w->at - n - 1]))
        n++;
    *prefix = w->text + w->at - n;
    return n < w->at && myth_is_name(w->text[w->at - n - 1]) ? 0 : n;
}

static bool has_letter(const unsigned char *prefix, size_t n, const char *letters)
{
    for (size_t i = 0; i < n; i++)
        if (strchr(letters, prefix[i]))
            return true;
    return false;
}

/* R"x(...)x" */
static bool try_raw_paren(walk *w, const unsigned char *prefix, size_t n, size_t limit)
{
    char close[FENCE + 3] = ")";
    size_t i = w->at + 1, k = 1;
    if (n == 0 || prefix[n - 1] != 'R')
        return false;
    while (i < w->n && k < FENCE && w->text[i] != '(' && !isspace(w->text[i]) && w->text[i] != '"')
        close[k++] = (char)w->text[i++];
    if (i >= w->n || w->text[i] != '(')
        return false;
    close[k++] = '"';
    const string s = {.close = close, .n_close = k, .is_long = true};
    return try_string(w, &s, i + 1 - w->at, OF_RAW, limit);
}

/* r#"..."#, and r"..." without a '#'. */
static bool try_raw_hash(walk *w, size_t limit)
{
    char close[FENCE + 1] = "\"";
    size_t k = 0;
    while (k + 1 < FENCE && k < w->at && w->text[w->at - 1 - k] == '#')
        close[++k] = '#';
    if (k >= w->at || w->text[w->at - 1 - k] != 'r')
        return false;
    const size_t mark = w->at - 1 - k;
    if (mark > 0 && myth_is_name(w->text[mark - 1]) && !(w->text[mark - 1] == 'b' || w->text[mark - 1] == 'c'))
        return false;
    const string s = {.close = close, .n_close = k + 1, .is_long = true, .inner = NAME_BRACE};
    return try_string(w, &s, 1, OF_RAW, limit);
}

static inner inner_of(const walk *w, unsigned char quote, const unsigned char *prefix, size_t n)
{
    const unsigned s = w->lexis;
    if (quote == '`')
        return w->family == MYTH_FAMILY_JS ? DOLLAR_BRACE : NOTHING;
    if (s & MYTH_LEX_FORMAT)
        return has_letter(prefix, n, "fFtT") ? BRACE : NOTHING;
    if (s & MYTH_LEX_VERBATIM)
        return has_letter(prefix, n, "$") ? BRACE : NOTHING;
    if (quote == '\'')
        return NOTHING;
    return s & MYTH_LEX_RAW_HASH ? NAME_BRACE
         : s & MYTH_LEX_DOLLAR   ? DOLLAR_NAME
         : s & MYTH_LEX_HASH_IN  ? HASH_BRACE
         : s & MYTH_LEX_PAREN_IN ? BACK_PAREN
                                 : NOTHING;
}

/* A character in quotes, where a quote may mean something else: 'a', '\n', '\u{1F600}'. */
static bool pass_character(walk *w, size_t limit)
{
    enum { LONGEST = 12 };
    size_t i = w->at + 1;
    if (i < limit && w->text[i] == '\\') {
        for (i += 2; i < limit && i < w->at + LONGEST && w->text[i] != '\'' && w->text[i] != '\n';)
            i++;
    } else {
        for (i++; i < limit && (w->text[i] & 0xc0) == 0x80;)
            i++;
    }
    if (i >= limit || w->text[i] != '\'' || w->text[w->at + 1] == '\n' || w->text[w->at + 1] == '\'')
        return false;
    w->at++;
    blank(w, i);
    w->at = i + 1;
    return true;
}

/* Passes over a string that begins here. False: none does. */
static bool pass_string(walk *w, size_t limit)
{
    const unsigned char quote = w->text[w->at], before = w->at > 0 ? w->text[w->at - 1] : 0;
    const unsigned char *prefix;
    const char close[4] = {(char)quote, (char)quote, (char)quote, '\0'};
    if (quote != '"' && quote != '\'' && !(quote == '`' && (w->marks & MYTH_MARK_BACKTICK)))
        return false;
    if (w->lexis & MYTH_LEX_NO_STRINGS || (quote == '"' && (w->lexis & MYTH_LEX_NO_DOUBLE)))
        return false;
    const size_t n_prefix = prefix_before(w, &prefix);
    if (quote == '\'' && (w->lexis & (MYTH_LEX_RAW_HASH | MYTH_LEX_NO_SINGLE)))
        return pass_character(w, limit);
    if (quote == '\'' && myth_is_name(before) && n_prefix == 0)
        return false; /* 1'000, it's */
    if (quote == '"' && (((w->lexis & MYTH_LEX_RAW_PAREN) && try_raw_paren(w, prefix, n_prefix, limit)) ||
                         ((w->lexis & MYTH_LEX_RAW_HASH) && try_raw_hash(w, limit))))
        return true;
    const bool is_verbatim = (w->lexis & MYTH_LEX_VERBATIM) && has_letter(prefix, n_prefix, "@");
    string s = {
        .close = close,
        .n_close = 1,
        .is_long = quote == '`' || is_verbatim || (quote == '"' && (w->lexis & MYTH_LEX_LONG_DOUBLE)),
        .has_escape = !is_verbatim && !(quote == '`' && w->family == MYTH_FAMILY_GO) && w->family != MYTH_FAMILY_SQL &&
                      !(w->family == MYTH_FAMILY_SHELL && quote == '\''),
        .is_doubled = is_verbatim || w->family == MYTH_FAMILY_SQL,
        .inner = inner_of(w, quote, prefix, n_prefix),
    };
    const bool is_triple = ((w->marks & MYTH_MARK_TRIPLE) || (w->lexis & (MYTH_LEX_VERBATIM | MYTH_LEX_PAREN_IN))) &&
                           quote != '`' && starts(w, w->at, close, 3);
    if (is_triple) {
        s.n_close = 3;
        s.is_long = true;
        return try_string(w, &s, 3, OF_TRIPLE, limit);
    }
    const unsigned kind = !s.is_long ? 0 : quote == '`' ? OF_BACKTICK : OF_DOUBLE;
    if (try_string(w, &s, 1, kind, limit))
        return true;
    if (quote != '`' && w->depth == 0)
        w->loose[quote == '"'] = line_end(w, w->at);
    return false;
}

/* ---- patterns of JavaScript ---- */

/* Whether what stands before a slash says that a pattern begins there: an operator, an opening bracket, a word that a
 * value follows. Behind a value it divides. */
static bool is_before_value(const walk *w)
{
    static const char *const words[] = {"return", "typeof", "case", "in",    "of",    "delete", "void",
                                        "throw",  "new",    "else", "yield", "await", "do",     "instanceof"};
    size_t end = w->at, from;
    const unsigned char next = w->at + 1 < w->n ? w->text[w->at + 1] : '\n';
    while (end > 0 && w->at - end < FAR && isspace(w->out[end - 1]))
        end--;
    if (w->at - end == FAR)
        return false;
    if (next == '>' || (end > 0 && w->out[end - 1] == '<' && isalpha(next)))
        return false; /* a tag: <a />, </a> */
    if (end == 0 || strchr("(,=:[!&|?{};+-*%<>~^", w->out[end - 1]))
        return true;
    for (from = end; from > 0 && end - from < FAR && myth_is_name(w->out[from - 1]);)
        from--;
    if (from > 0 && w->out[from - 1] == '.')
        return false; /* a member */
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == end - from && memcmp(w->out + from, words[i], end - from) == 0)
            return true;
    return false;
}

static bool pass_pattern(walk *w, size_t limit)
{
    if (w->family != MYTH_FAMILY_JS || (w->lexis & MYTH_LEX_NO_STRINGS) || w->text[w->at] != '/' || !is_before_value(w))
        return false;
    size_t end = line_end(w, w->at);
    bool is_set = false;
    end = end < limit ? end : limit;
    end = end - w->at < FAR ? end : w->at + FAR;
    for (size_t i = w->at + 1; i < end; i++) {
        if (w->text[i] == '\\')
            i++;
        else if (w->text[i] == '[' || w->text[i] == ']')
            is_set = w->text[i] == '[';
        else if (w->text[i] == '/' && !is_set) {
            w->at++;
            blank(w, i);
            w->at = i + 1;
            return true;
        }
    }
    return false; /* it divides */
}

/* ---- code ---- */

/* Walks over code up to `stop`, or to the bracket `close` that closes none opened here; 0 = to `stop`. */
static void walk_code(walk *w, unsigned char close, size_t stop)
{
    const unsigned char open = close == '}' ? '{' : '(';
    int deep = 0;
    while (w->at < stop) {
        const unsigned char c = w->text[w->at];
        if (close && c == close && deep-- == 0)
            return;
        const bool is_mark = memchr("\"'`/#-{;%<(=", c, 12) != NULL;
        if (is_mark && !is_in_doubt(w) && (blank_comment(w) || pass_string(w, stop) || pass_pattern(w, stop)))
            continue;
        deep += close && c == open;
        w->at++;
    }
}

bool myth_code_mask(unsigned char *text, size_t n, myth_mem *mem, const myth_language *language)
{
    if (n == 0 || language->marks == 0)
        return true;
    unsigned char *copy = myth_alloc(mem, MYTH_MEM_OTHER, "usage", n);
    if (!copy)
        return false;
    memcpy(copy, text, n);
    walk w = {
        .text = copy,
        .out = text,
        .n = n,
        .credit = CREDIT * n + CREDIT,
        .line = 1, /* no line was asked for */
        .marks = language->marks,
        .lexis = language->lexis,
        .family = language->family,
    };
    walk_code(&w, 0, n);
    myth_free(mem, copy);
    return true;
}
