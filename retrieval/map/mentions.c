/* mentions.c - see mentions.h. Forms of documents are alike enough for one reader: Markdown, reStructuredText, rdoc. */
#include "mentions.h"
#include "retrieval/scan/languages.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- which files ---- */

bool myth_mentions_is_readme(const char *path) { return strncasecmp(myth_base_name(path), "readme", 6) == 0; }

myth_mentions_form myth_mentions_form_of(const char *path, const char *language, bool is_document)
{
    /* beginnings of names: what they hold is about other versions, or about no code */
    static const char *const others[] = {"change",      "history",  "news",    "release",  "authors", "contribut",
                                         "maintainers", "copying",  "license", "licence",  "upgrad",  "migrat",
                                         "code_of",     "security", "notice",  "00-releas"};
    const char *name = myth_base_name(path), *dot = strrchr(name, '.');
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncasecmp(name, others[i], strlen(others[i])) == 0)
            return MYTH_MENTIONS_NONE;
    if (myth_language_get(language)->has_headers && dot && (dot[1] == 'h' || dot[1] == 'H'))
        return MYTH_MENTIONS_HEADER;
    if (!is_document)
        return MYTH_MENTIONS_NONE;
    const bool is_text = dot && myth_text_lists("md mdx markdown rst rdoc adoc", dot + 1);
    return is_text || myth_mentions_is_readme(path) ? MYTH_MENTIONS_DOCUMENT : MYTH_MENTIONS_NONE;
}

/* ---- words ---- */

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
typedef struct {
    bool (*on_word)(void *arg, const char *word, size_t n);
    void *arg;
} taker;

/* Takes all words of a line. */
static bool take_all(const taker *t, const char *p, const char *end)
{
    while (p < end) {
        const char *from = p;
        while (p < end && myth_is_word(*p))
            p++;
        if (p - from > 1 && is_letter(*from) && !t->on_word(t->arg, from, (size_t)(p - from)))
            return false;
        p += p == from;
    }
    return true;
}

/* Whether the word at from has a sign of code beside it: called, or joined to another by '.', "::" or "->". */
static bool is_joined(const char *begin, const char *from, const char *p, const char *end)
{
    const char before = from > begin ? from[-1] : ' ', two = from - begin > 1 ? from[-2] : ' ';
    if (p < end && *p == '(')
        return true;
    if ((before == '.' && myth_is_word(two)) || (before == ':' && two == ':') || (before == '>' && two == '-'))
        return true;
    return p + 1 < end && ((*p == '.' && is_letter(p[1])) || (*p == ':' && p[1] == ':'));
}

/* Whether a word cannot be one of prose: it has an underscore, a digit, or a capital behind its first letter. */
static bool is_coined(const char *s, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(s[i] >= 'a' && s[i] <= 'z'))
            return true;
    return false;
}

/* Takes the words of a line that are names: in code (is_code), those that prose cannot have or that begin with a
 * capital, and elsewhere those with a sign of code. */
static bool take_words(const taker *t, const char *p, const char *end, bool is_code)
{
    const char *begin = p;
    while (p < end) {
        const char *from = p;
        while (p < end && myth_is_word(*p))
            p++;
        const size_t n = (size_t)(p - from);
        const bool is_name =
            n > 1 && is_letter(*from) &&
            (is_joined(begin, from, p, end) || (is_code && (is_coined(from, n) || (*from >= 'A' && *from <= 'Z'))));
        if (is_name && !t->on_word(t->arg, from, n))
            return false;
        p += p == from;
    }
    return true;
}

/* Takes from a line of prose what is marked as code: in backticks, alone in brackets, or with a sign of code. */
static bool take_marked(const taker *t, const char *p, const char *end)
{
    while (p < end) {
        const char *mark = p;
        while (mark < end && *mark != '`' && *mark != '[')
            mark++;
        if (!take_words(t, p, mark, false))
            return false;
        p = mark;
        if (p >= end)
            break;
        const char close = *p == '[' ? ']' : '`';
        while (p < end && *p == *mark)
            p++;
        const char *stop = memchr(p, close, (size_t)(end - p)), *word = p;
        stop = stop ? stop : end;
        while (word < stop && myth_is_word(*word))
            word++;
        const bool is_alone = word == stop && word - p > 1 && is_letter(*p);
        if (is_alone ? !t->on_word(t->arg, p, (size_t)(word - p)) : !take_words(t, p, stop, close == '`'))
            return false;
        for (p = stop; p < end && *p == close; p++)
            ;
    }
    return true;
}

static bool is_fence(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '>'))
        p++;
    return end - p >= 3 && (memcmp(p, "```", 3) == 0 || memcmp(p, "~~~", 3) == 0);
}

static void read_document(const taker *t, const char *text, size_t n)
{
    bool is_fenced = false;
    const char *stop = text + n;
    for (const char *p = text, *end; p < stop; p = end + 1) {
        end = memchr(p, '\n', (size_t)(stop - p));
        end = end ? end : stop;
        if (is_fence(p, end)) {
            is_fenced = !is_fenced;
            continue;
        }
        const bool is_indented = end - p > 4 && (*p == '\t' || memcmp(p, "    ", 4) == 0);
        const bool is_directive = end - p > 3 && memcmp(p, ".. ", 3) == 0 && memchr(p, ':', (size_t)(end - p));
        if (is_directive               ? !take_all(t, p, end)
            : is_fenced || is_indented ? !take_words(t, p, end, true)
                                       : !take_marked(t, p, end))
            return;
    }
}

static void read_header(const taker *t, const char *text, size_t n)
{
    const char *p = text, *end = text + n;
    bool is_line_start = true;
    while (p < end) {
        if (*p == '/' && p + 1 < end && p[1] == '*') {
            for (p += 2; p + 1 < end && !(p[0] == '*' && p[1] == '/'); p++)
                ;
            p += 2;
        } else if ((*p == '/' && p + 1 < end && p[1] == '/') || (*p == '#' && is_line_start)) {
            for (bool is_open = true; p < end && is_open; p++)
                is_open = *p != '\n' || p[-1] == '\\';
            is_line_start = true;
        } else if (is_letter(*p)) {
            const char *from = p;
            while (p < end && myth_is_word(*p))
                p++;
            if (p < end && *p == '(' && p - from > 1 && !t->on_word(t->arg, from, (size_t)(p - from)))
                return;
            is_line_start = false;
        } else {
            is_line_start = *p == '\n' || (is_line_start && (*p == ' ' || *p == '\t'));
            p++;
        }
    }
}

void myth_mentions(myth_mentions_form form, const char *text, size_t n,
                   bool (*on_word)(void *arg, const char *word, size_t n), void *arg)
{
    const taker t = {on_word, arg};
    if (form == MYTH_MENTIONS_DOCUMENT)
        read_document(&t, text, n);
    else if (form == MYTH_MENTIONS_HEADER)
        read_header(&t, text, n);
}
