/* comments.c - one walk over the bytes: comments are blanked, strings are passed over. */
#include "comments.h"

#include <string.h>

typedef struct {
    unsigned char *text;
    uint64_t n, at;
    unsigned marks;
    bool is_first; /* only blanks were on this line before */
    bool has_lifetimes, was_any;
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
    const uint64_t end = is_long ? w->n : line_end(w);
    uint64_t i = w->at + 1;
    if (quote == '\'' && w->has_lifetimes && !(i < end && w->text[i] == '\\')) {
        while (i < end && w->text[i] != '\'' && i < w->at + 6)
            i++;
        w->at = i < end && w->text[i] == '\'' ? i + 1 : w->at + 1;
        return;
    }
    while (i < end && w->text[i] != quote)
        i += w->text[i] == '\\' ? 2 : 1;
    w->at = i < end ? i + 1 : end;
}

/* Passes over a string in three quotes, or blanks it where it begins a line. */
static bool pass_triple(walk *w, const char *quotes)
{
    if (!(w->marks & MYTH_MARK_TRIPLE) || !is_here(w, quotes))
        return false;
    const uint64_t end = block_end(w, quotes, quotes);
    if (w->is_first)
        blank(w, end);
    else
        w->at = end;
    return true;
}

bool myth_comments_blank(unsigned char *text, uint64_t n, const myth_language *language)
{
    walk w = {
        .text = text,
        .n = n,
        .marks = language->marks,
        .is_first = true,
        .has_lifetimes = language->family == MYTH_FAMILY_RUST,
    };
    while (w.at < w.n) {
        const unsigned char c = text[w.at];
        if (blank_block(&w, MYTH_MARK_SLASH, "/*", "*/") || blank_line(&w, MYTH_MARK_SLASH, "//") ||
            blank_line(&w, MYTH_MARK_HASH, "#") || blank_line(&w, MYTH_MARK_DASH, "--") ||
            blank_line(&w, MYTH_MARK_SEMICOLON, ";") || blank_line(&w, MYTH_MARK_PERCENT, "%") ||
            blank_block(&w, MYTH_MARK_ANGLE, "<!--", "-->") || blank_block(&w, MYTH_MARK_PAREN, "(*", "*)") ||
            pass_triple(&w, "\"\"\"") || pass_triple(&w, "'''"))
            continue;
        if (c == '"' || c == '\'' || c == '`') {
            pass_string(&w);
            w.is_first = false;
            continue;
        }
        w.is_first = c == '\n' || (w.is_first && (c == ' ' || c == '\t' || c == '\r'));
        w.at++;
    }
    return w.was_any;
}

uint32_t myth_comments_line(const unsigned char *line, uint32_t len)
{
    while (len && (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r'))
        len--;
    return len;
}
