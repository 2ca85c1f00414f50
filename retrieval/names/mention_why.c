/* mention_why.c - see mention_why.h. Only languages that are written like C, and Python, are read. */
#include "mention_why.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { FAR = 2000 }; /* bytes before a name in which its bracket is looked for */

const char myth_mention_word[] = "the same word in code";

typedef struct {
    const char *text;
    size_t n, at, end;   /* the name is text[at .. end) */
    size_t before, next; /* 1 + the last byte before it that is not blank, 0 = none; the first behind it */
    myth_language_family family;
} look;

static bool is_read(myth_language_family f)
{
    return f == MYTH_FAMILY_C || f == MYTH_FAMILY_PYTHON || f == MYTH_FAMILY_JS || f == MYTH_FAMILY_JVM ||
           f == MYTH_FAMILY_GO || f == MYTH_FAMILY_NET || f == MYTH_FAMILY_RUST;
}

static size_t skip(const look *l, size_t at, bool with_lines)
{
    while (at < l->n && isspace((unsigned char)l->text[at]) && (with_lines || l->text[at] != '\n'))
        at++;
    return at;
}

static bool is_same_line(const look *l) { return !memchr(l->text + l->before, '\n', l->at - l->before); }

static bool is_at(const look *l, size_t at, const char *s)
{
    const size_t n = strlen(s);
    return at <= l->n && l->n - at >= n && memcmp(l->text + at, s, n) == 0;
}

/* Whether text[0 .. end) ends with a whole word. */
static bool ends(const look *l, size_t end, const char *word)
{
    const size_t n = strlen(word);
    return end >= n && memcmp(l->text + end - n, word, n) == 0 &&
           (end == n || !myth_is_name_or_dollar(l->text[end - n - 1]));
}

/* The innermost round or square bracket that is open before `at`: 1 + its place, 0 = none nearby. */
static size_t bracket_before(const look *l, size_t at)
{
    int deep = 0;
    for (size_t i = at; i > 0 && at - i < FAR; i--) {
        const char c = l->text[i - 1];
        if (c == ')' || c == ']')
            deep++;
        else if ((c == '(' || c == '[') && deep-- == 0)
            return i;
        else if ((c == ';' || c == '{' || c == '}') && deep == 0)
            return 0;
    }
    return 0;
}

/* Bytes of an operator that gives a value: = and += and so on, not := that also declares. 0: none is there. */
static size_t assignment(const look *l, size_t at, bool *is_plain)
{
    static const char *const signs[] = {
        "<<=", ">>=", ">>>=", "**=", "//=", "&&=", "||=", "\?\?=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    *is_plain = false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (is_at(l, at, signs[i]))
            return strlen(signs[i]);
    *is_plain = true;
    if (is_at(l, at, "==") || is_at(l, at, "=>") || is_at(l, at, "=~"))
        return 0;
    return is_at(l, at, "=");
}

/* Where the members and elements behind the name end: .b, ->b, ::b, [i] directly behind it. */
static size_t skip_parts(const look *l)
{
    size_t at = l->end;
    for (;;) {
        const size_t mark = is_at(l, at, ".") ? 1 : is_at(l, at, "->") ? 2 : 0;
        size_t end = at + mark;
        while (mark && end < l->n && myth_is_name_or_dollar(l->text[end]))
            end++;
        if (mark && end > at + mark) {
            at = end;
            continue;
        }
        if (!is_at(l, at, "["))
            return at;
        int deep = 0;
        for (end = at; end < l->n && end - at < FAR; end++) {
            deep += (l->text[end] == '[') - (l->text[end] == ']');
            if (deep == 0)
                break;
        }
        if (end >= l->n || deep != 0)
            return at;
        at = end + 1;
    }
}

/* What a statement may follow without a sign between: a word, and in C the mark of a case. Elsewhere a ':' may come
 * before a type. */
static bool is_after_word(const look *l, size_t end)
{
    return ends(l, end, "else") || ends(l, end, "do") || (l->family == MYTH_FAMILY_C && l->text[end - 1] == ':');
}

/* Whether the name begins a statement or is a member of what does, so that = behind it is no default, no named argument
 * and no declaration. */
static bool begins_statement(const look *l)
{
    size_t at = l->at;
    for (;;) { /* back over what it is a member of: a.b->name, this.name */
        const size_t mark = at > 0 && l->text[at - 1] == '.'                           ? 1
                          : at > 1 && l->text[at - 1] == '>' && l->text[at - 2] == '-' ? 2
                                                                                       : 0;
        size_t from = at - mark;
        if (!mark)
            break;
        while (from > 0 && myth_is_name_or_dollar(l->text[from - 1]))
            from--;
        if (from == at - mark)
            return false; /* f().name, a[i].name, .name = of a literal */
        at = from;
    }
    size_t end = at;
    while (end > 0 && isspace((unsigned char)l->text[end - 1]) && l->text[end - 1] != '\n')
        end--;
    if (bracket_before(l, at))
        return false;
    if (end == 0 || strchr("\n;{}", l->text[end - 1])) {
        while (end > 0 && isspace((unsigned char)l->text[end - 1]))
            end--; /* a line may go on with a declaration: static int \n name = 1; */
        const bool ends_in_line =
            l->family == MYTH_FAMILY_PYTHON || l->family == MYTH_FAMILY_GO || l->family == MYTH_FAMILY_JS;
        return end == 0 || (ends_in_line && l->text[end - 1] != ',') || strchr(";{})", l->text[end - 1]) ||
               is_after_word(l, end);
    }
    return l->text[end - 1] == ')' || is_after_word(l, end);
}

static const char *assigned(const look *l)
{
    bool is_plain;
    const size_t parts = skip_parts(l), at = skip(l, parts, false);
    const bool is_part = parts != l->end;
    const bool is_stepped = is_at(l, at, "++") || is_at(l, at, "--");
    const bool is_stepped_first =
        l->before == l->at && l->at > 1 && (is_at(l, l->before - 2, "++") || is_at(l, l->before - 2, "--"));
    const bool may_step = l->family != MYTH_FAMILY_PYTHON && l->family != MYTH_FAMILY_RUST;
    const bool is_given = assignment(l, at, &is_plain) && (!is_plain || begins_statement(l));
    if (is_given || (may_step && (is_stepped || (is_stepped_first && !is_part))))
        return is_part ? "assigns a part of it" : "assigns it";
    return NULL;
}

/* A sign that compares at `at`, or before it. '<' and '>' only with blanks on both sides: they have other meanings. */
static bool is_comparison(const look *l, size_t at)
{
    const bool is_angle = is_at(l, at, "< ") || is_at(l, at, "> ");
    return is_at(l, at, "==") || is_at(l, at, "!=") || is_at(l, at, "<= ") || is_at(l, at, ">= ") ||
           (is_angle && at > 0 && l->text[at - 1] == ' ');
}

static bool is_compared(const look *l)
{
    const size_t e = l->before;
    if (is_comparison(l, l->next))
        return true;
    if (e > 1 && (is_at(l, e - 2, "==") || is_at(l, e - 2, "!=")))
        return true;
    if (e > 2 && l->text[e - 3] == ' ' && (is_at(l, e - 2, "<=") || is_at(l, e - 2, ">=")) && e < l->at)
        return true;
    if (e > 1 && l->text[e - 2] == ' ' && (l->text[e - 1] == '<' || l->text[e - 1] == '>') && e < l->at)
        return true;
    return ends(l, e, "case") && l->family != MYTH_FAMILY_RUST;
}

static bool is_returned(const look *l)
{
    const size_t next = skip(l, l->end, false);
    return ends(l, l->before, "return") && is_same_line(l) && (next == l->n || strchr(";\n}", l->text[next]));
}

/* Whether it is an argument of a call by itself: the bracket follows a name that is called. */
static bool is_passed(const look *l)
{
    static const char *const others[] = {"if",     "while", "for",   "switch", "return", "catch", "sizeof", "elif",
                                         "except", "with",  "match", "when",   "and",    "or",    "not",    "in"};
    static const char *const heads[] = {"def", "func", "function", "fn", "fun", "class", "void", "lambda", "define"};
    const char before = l->before ? l->text[l->before - 1] : 0, next = l->next < l->n ? l->text[l->next] : 0;
    if ((before != '(' && before != ',') || (next != ')' && next != ','))
        return false;
    const size_t open = bracket_before(l, l->at);
    if (!open || l->text[open - 1] != '(' || open < 2 || !myth_is_name_or_dollar(l->text[open - 2]))
        return false;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (ends(l, open - 1, others[i]))
            return false;
    size_t from = open - 1, close = l->end;
    while (from > 0 && (myth_is_name_or_dollar(l->text[from - 1]) || strchr(".:>-", l->text[from - 1])))
        from--;
    while (from > 0 && isspace((unsigned char)l->text[from - 1]) && l->text[from - 1] != '\n')
        from--;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        if (ends(l, from, heads[i]))
            return false;
    for (int deep = 1; close < l->n && close - l->end < FAR; close++) { /* name(a, b) { is a definition */
        deep += (l->text[close] == '(') - (l->text[close] == ')');
        if (deep == 0)
            break;
    }
    close = close < l->n ? skip(l, close + 1, true) : l->n;
    const bool is_after_name =
        from > 0 && (myth_is_name_or_dollar(l->text[from - 1]) || strchr(")*&>]", l->text[from - 1])) &&
        !ends(l, from, "return") && !ends(l, from, "await") && !ends(l, from, "new") && !ends(l, from, "else");
    const bool is_head = close < l->n && (l->text[close] == '{' || is_at(l, close, "=>") ||
                                          (l->family == MYTH_FAMILY_JS && l->text[close] == ':'));
    return !is_after_name && !is_head;
}

const char *myth_mention_why(const char *text, size_t n, size_t at, size_t n_name, const myth_language *language)
{
    look l = {.text = text, .n = n, .at = at, .end = at + n_name, .before = at, .family = language->family};
    if (!is_read(l.family))
        return myth_mention_word;
    while (l.before > 0 && isspace((unsigned char)text[l.before - 1]))
        l.before--;
    l.next = skip(&l, l.end, true);
    const char *why = assigned(&l);
    return why             ? why
         : is_compared(&l) ? "compares it"
         : is_returned(&l) ? "returns it"
         : is_passed(&l)   ? "passes it"
                           : myth_mention_word;
}
