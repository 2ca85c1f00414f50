/* comments.c - one walk over the bytes: comments are blanked, strings are passed over. */
#include "comments.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    unsigned char *text;
    uint64_t n, at;
    unsigned marks;
    bool is_first;   /* only blanks were on this line before */
    int depth;       /* of brackets */
    uint64_t before; /* 1 + the last byte that is no blank and in no comment; 0 = none */
    myth_language_family family;
    bool was_any;
} walk;

static bool is_here(const walk *w, const char *s)
{
    const size_t n = strlen(s);
    return w->n - w->at >= n && memcmp(w->text + w->at, s, n) == 0;
}

static void blank(walk *w, uint64_t to)
{
    for (; w->at < to; w->at++)
        if (w->text[w->at] != '\n' && w->text[w->at] != '\r')
            w->text[w->at] = ' ';
    w->was_any = true;
}

static uint64_t line_end(const walk *w)
{
    const unsigned char *end = memchr(w->text + w->at, '\n', w->n - w->at);
    return end ? (uint64_t)(end - w->text) : w->n;
}

/* Where the text behind `open` ends with `close`; the end of all when it never does. */
static uint64_t block_end(const walk *w, const char *open, const char *close)
{
    const size_t n = strlen(close);
    for (uint64_t i = w->at + strlen(open); i + n <= w->n; i++) {
        if (w->text[i] == '\\' && *close != '*' && *close != '-')
            i++;
        else if (memcmp(w->text + i, close, n) == 0)
            return i + n;
    }
    return w->n;
}

static bool blank_block(walk *w, unsigned mark, const char *open, const char *close)
{
    if (!(w->marks & mark) || !is_here(w, open))
        return false;
    blank(w, block_end(w, open, close));
    return true;
}

static bool blank_line(walk *w, unsigned mark, const char *open)
{
    if (!(w->marks & mark) || !is_here(w, open))
        return false;
    blank(w, line_end(w));
    return true;
}

/* Passes over a string or a character. In Rust a quote may begin a lifetime, which has no end. */
static void pass_string(walk *w)
{
    const unsigned char quote = w->text[w->at];
    const bool is_long = quote == '`' && (w->marks & MYTH_MARK_BACKTICK);
    const bool is_raw = is_long && w->family == MYTH_FAMILY_GO; /* a backslash is one */
    const uint64_t end = is_long ? w->n : line_end(w);
    uint64_t i = w->at + 1;
    if (quote == '\'' && w->family == MYTH_FAMILY_RUST && !(i < end && w->text[i] == '\\')) {
        while (i < end && w->text[i] != '\'' && i < w->at + 6)
            i++;
        w->at = i < end && w->text[i] == '\'' ? i + 1 : w->at + 1;
        return;
    }
    while (i < end && w->text[i] != quote)
        i += w->text[i] == '\\' && !is_raw ? 2 : 1;
    w->at = i < end ? i + 1 : end;
}

/* Whether what stands before a slash of JavaScript says that a pattern begins there: an operator, an opening bracket, a
 * word that a value follows. Behind a value it divides. */
static bool is_before_value(const walk *w)
{
    static const char *const words[] = {"return", "typeof", "case", "in",    "of",    "delete", "void",
                                        "throw",  "new",    "else", "yield", "await", "do",     "instanceof"};
    const uint64_t end = w->before;
    uint64_t from = end;
    const unsigned char next = w->at + 1 < w->n ? w->text[w->at + 1] : '\n';
    if (next == '>' || (end > 0 && w->text[end - 1] == '<' && isalpha(next)))
        return false; /* a tag: <a />, </a> */
    if (end == 0 || strchr("(,=:[!&|?{};+-*%<>~^", w->text[end - 1]))
        return true;
    while (from > 0 && (myth_is_word(w->text[from - 1]) || w->text[from - 1] == '$'))
        from--;
    if (from > 0 && w->text[from - 1] == '.')
        return false; /* a member */
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i]) == end - from && memcmp(w->text + from, words[i], end - from) == 0)
            return true;
    return false;
}

/* Passes over a pattern, which may hold the marks of comments and quotes. */
static bool pass_pattern(walk *w)
{
    if (w->family != MYTH_FAMILY_JS || w->text[w->at] != '/' || is_here(w, "//") || is_here(w, "/*") ||
        !is_before_value(w))
        return false;
    const uint64_t end = line_end(w);
    bool is_set = false;
    for (uint64_t i = w->at + 1; i < end; i++) {
        if (w->text[i] == '\\')
            i++;
        else if (w->text[i] == '[' || w->text[i] == ']')
            is_set = w->text[i] == '[';
        else if (w->text[i] == '/' && !is_set) {
            w->at = i + 1;
            return true;
        }
    }
    return false; /* it divides */
}

/* Passes over a string in three quotes, or blanks it where it is a statement of Python. */
static bool pass_triple(walk *w, const char *quotes)
{
    if (!(w->marks & MYTH_MARK_TRIPLE) || !is_here(w, quotes))
        return false;
    const uint64_t end = block_end(w, quotes, quotes);
    const unsigned char last = w->before ? w->text[w->before - 1] : '\n';
    if (w->is_first && w->family == MYTH_FAMILY_PYTHON && w->depth <= 0 && last != '=' && last != '\\')
        blank(w, end);
    else {
        w->at = end;
        w->before = end;
        w->is_first = false;
    }
    return true;
}

bool myth_comments_blank(unsigned char *text, uint64_t n, const myth_language *language)
{
    walk w = {
        .text = text,
        .n = n,
        .marks = language->marks,
        .is_first = true,
        .family = language->family,
    };
    while (w.at < w.n) {
        const unsigned char c = text[w.at];
        if (blank_block(&w, MYTH_MARK_SLASH, "/*", "*/") || blank_line(&w, MYTH_MARK_SLASH, "//") ||
            blank_line(&w, MYTH_MARK_HASH, "#") || blank_line(&w, MYTH_MARK_DASH, "--") ||
            blank_line(&w, MYTH_MARK_SEMICOLON, ";") || blank_line(&w, MYTH_MARK_PERCENT, "%") ||
            blank_block(&w, MYTH_MARK_ANGLE, "<!--", "-->") || blank_block(&w, MYTH_MARK_PAREN, "(*", "*)") ||
            pass_triple(&w, "\"\"\"") || pass_triple(&w, "'''"))
            continue;
        if (c == '"' || c == '\'' || c == '`')
            pass_string(&w);
        else if (!pass_pattern(&w))
            w.at++;
        const bool is_blank = isspace(c) != 0;
        w.is_first = c == '\n' || (w.is_first && is_blank);
        w.before = is_blank ? w.before : w.at;
        w.depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
    return w.was_any;
}

uint32_t myth_comments_line(const unsigned char *line, uint32_t len)
{
    while (len && (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r'))
        len--;
    return len;
}
