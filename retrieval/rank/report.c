/* report.c - see report.h. */
#include "report.h"
#include "retrieval/store/fts_tokenizer.h"

#include <string.h>

enum { SETTINGS_WORDS = 6, INDENT = 3 }; /* what is indented further is code */

static const char *const settings[] = {
    "environment", "environments", "version",      "versions", "platform",      "system",
    "os",          "extensions",   "dependencies", "setup",    "configuration", NULL};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static size_t trim(const char *s, size_t *n)
{
    size_t off = 0;
    while (off < *n && is_blank(s[off]))
        off++;
    while (*n > off && is_blank(s[*n - 1]))
        --*n;
    *n -= off;
    return off;
}

static bool is_rule(const char *s, size_t n)
{
    size_t off = trim(s, &n);
    s += off;
    if (n < 3 || (s[0] != '-' && s[0] != '='))
        return false;
    for (size_t i = 1; i < n; i++)
        if (s[i] != s[0])
            return false;
    return true;
}

static bool is_heading(const char *s, size_t n, const char *below, size_t n_below)
{
    size_t off = trim(s, &n), n_mark = 0;
    s += off;
    if (n == 0 || off > INDENT)
        return false;
    while (n_mark < n && s[n_mark] == '#')
        n_mark++;
    if (n_mark && n_mark <= 6 && n_mark < n && is_blank(s[n_mark]))
        return true;
    size_t n_bold = n - (s[n - 1] == ':');
    if (n_bold > 4 && s[0] == '*' && s[1] == '*' && s[n_bold - 1] == '*' && s[n_bold - 2] == '*' &&
        !memchr(s + 2, '*', n_bold - 4))
        return true;
    return is_rule(below, n_below) && !is_rule(s, n);
}

static bool names_settings(const char *s, size_t n)
{
    myth_word word;
    size_t pos = 0, n_word = 0;
    bool is_one = false;
    for (; myth_word_next(&word, s, n, &pos); n_word++)
        for (unsigned part = 0; part < word.n_part && !is_one; part++)
            for (size_t i = 0; settings[i] && !is_one; i++)
                is_one = strlen(settings[i]) == word.part[part].bytes &&
                         memcmp(settings[i], word.whole + word.part[part].off, word.part[part].bytes) == 0;
    return is_one && n_word <= SETTINGS_WORDS;
}

static bool is_fence(const char *s, size_t n)
{
    size_t off = trim(s, &n);
    return n >= 3 && (memcmp(s + off, "```", 3) == 0 || memcmp(s + off, "~~~", 3) == 0);
}

bool myth_report_next(myth_report *r, const char *text, size_t n)
{
    size_t begin = r->has_line ? r->end + 1 : 0;
    if (begin >= n)
        return false;
    const char *line = text + begin, *stop = memchr(line, '\n', n - begin);
    size_t len = stop ? (size_t)(stop - line) : n - begin, n_below = 0;
    const char *below = stop ? stop + 1 : line + len;
    if (stop) {
        const char *end = memchr(below, '\n', (size_t)(text + n - below));
        n_below = (size_t)((end ? end : text + n) - below);
    }
    bool fences = is_fence(line, len);
    r->is_heading = r->has_line && !fences && !r->in_fence && is_heading(line, len, below, n_below);
    if (r->is_heading)
        r->is_settings = names_settings(line, len);
    r->in_fence ^= fences;
    r->begin = begin;
    r->end = begin + len;
    r->has_line = true;
    return true;
}
