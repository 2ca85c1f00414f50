/* report.c - see report.h. */
#define _GNU_SOURCE
#include "report.h"
#include "retrieval/store/fts_tokenizer.h"

#include <string.h>

/* Words of the headings that forms for reports have. */
static const char *const heading_words[] = {
    "a",       "about",       "actual",      "additional", "and",           "behavior",  "behaviour",
    "bug",     "checklist",   "code",        "complete",   "configuration", "context",   "copy",
    "current", "describe",    "description", "detailed",   "details",       "did",       "environment",
    "example", "expected",    "feature",     "for",        "happened",      "how",       "i",
    "info",    "information", "is",          "issue",      "log",           "logs",      "mcve",
    "minimal", "motivation",  "observed",    "of",         "output",        "overview",  "pastable",
    "problem", "proposal",    "question",    "relevant",   "report",        "reproduce", "reproduction",
    "result",  "results",     "s",           "sample",     "solution",      "steps",     "summary",
    "system",  "the",         "to",          "verifiable", "version",       "versions",  "what",
    "you",     "your",
};
/* Words that name an issue. */
static const char *const closing_words[] = {
    "bug", "close", "closed", "closes", "fix", "fixed",  "fixes",   "gh",       "issue",
    "pr",  "re",    "ref",    "refs",   "see", "ticket", "resolve", "resolved", "resolves",
};

/* Whether every word of the line is in the list, or a number where those are allowed, and there is one. */
static bool has_only(const char *s, size_t n, const char *const *list, size_t n_list, bool with_numbers)
{
    myth_word w;
    size_t n_word = 0;
    for (size_t pos = 0; myth_word_next(&w, s, n, &pos); n_word++) {
        bool is = with_numbers && w.is_number;
        for (size_t i = 0; i < n_list && !is; i++)
            is = strlen(list[i]) == w.n_whole && memcmp(list[i], w.whole, w.n_whole) == 0;
        if (!is)
            return false;
    }
    return n_word > 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool is_heading(const char *s, size_t n)
{
    const bool is_marked = s[0] == '#' || (n > 4 && s[0] == '*' && s[1] == '*') || s[n - 1] == ':';
    return is_marked && has_only(s, n, heading_words, sizeof(heading_words) / sizeof(heading_words[0]), false);
}

static bool is_form_line(const char *s, size_t n)
{
    while (n && is_space(s[n - 1]))
        n--;
    while (n && is_space(s[0])) {
        s++;
        n--;
    }
    if (n == 0)
        return true;
    if (n >= 5 && (s[0] == '-' || s[0] == '*') && memcmp(s + 1, " [", 2) == 0 && s[4] == ']')
        return true;
    return is_heading(s, n) ||
           (memchr(s, '#', n) && has_only(s, n, closing_words, sizeof(closing_words) / sizeof(closing_words[0]), true));
}

void myth_report_start(myth_report *r, const char *text, size_t n) { *r = (myth_report){.text = text, .n = n}; }

bool myth_report_is_form(myth_report *r, size_t off)
{
    while (off >= r->end && r->end < r->n) {
        const char *s = r->text + r->end, *stop = memchr(s, '\n', r->n - r->end);
        const size_t rest = r->n - r->end, n = stop ? (size_t)(stop - s) : rest;
        const char *open = memmem(s, n, "<!--", 4), *close = memmem(s, n, "-->", 3);
        const bool was_comment = r->is_comment;
        if (open && !memmem(open, (size_t)(s + rest - open), "-->", 3)) /* never closed: no comment */
            open = NULL;
        r->is_comment = was_comment ? !close : open && !(close && close > open);
        r->is_form = was_comment || open || is_form_line(s, n);
        r->end += n + 1;
    }
    return r->is_form;
}
