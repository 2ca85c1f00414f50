/* blank.c - see blank.h. */
#define _GNU_SOURCE /* memmem */
#include "blank.h"
#include "cut.h"

#include "engine/base/chars.h"

#include <ctype.h>
#include <string.h>

static bool is_conditional(const unsigned char *p, const unsigned char *end)
{
    static const char *const words[] = {"if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error", "line"};
    for (p++; p < end && (*p == ' ' || *p == '\t');)
        p++;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) > n && memcmp(p, words[i], n) == 0 && !(p[n] >= 'a' && p[n] <= 'z'))
            return true;
    }
    return false;
}

static bool is_blank_line(const unsigned char *text, uint64_t n, uint64_t at)
{
    while (at < n && text[at] != '\n' && myth_is_blank(text[at]))
        at++;
    return at >= n || text[at] == '\n';
}

/* ---- macros before a declaration's type or name ---- */

typedef struct {
    uint64_t off, end;
} word;

static bool is_word(const unsigned char *text, word w, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == w.end - w.off && memcmp(text + w.off, *list, w.end - w.off) == 0)
            return true;
    return false;
}

/* A name as macros have it: FOO_API, WINAPI. */
static bool is_capitals(const unsigned char *text, word w)
{
    for (uint64_t i = w.off; i < w.end; i++)
        if (islower(text[i]))
            return false;
    return w.end - w.off >= 3 && isupper(text[w.off]);
}

static bool has_lower(const unsigned char *text, word w)
{
    for (uint64_t i = w.off; i < w.end; i++)
        if (islower(text[i]))
            return true;
    return false;
}

/* Line ends stay. */
static void put_blanks(unsigned char *out, word w)
{
    for (uint64_t i = w.off; i < w.end; i++)
        if (out[i] != '\n' && out[i] != '\r')
            out[i] = ' ';
}

/* Where a run of words ends that a declaration may begin with, and the words in it: FOO_API const char *name. */
enum { HEAD_WORDS = 12 };
static uint64_t read_head(word *head, uint32_t *n_head, const unsigned char *text, uint64_t n, uint64_t at)
{
    for (*n_head = 0; at < n && *n_head < HEAD_WORDS;) {
        if (myth_is_blank(text[at]) || text[at] == '*')
            at++;
        else if (myth_is_word(text[at])) {
            word w = {at, at};
            while (w.end < n && myth_is_word(text[w.end]))
                w.end++;
            head[(*n_head)++] = w;
            at = w.end;
        } else
            break;
    }
    return at;
}

/* Where a bracket that opens at `at` is closed; n: not in the text, or only after more than a declaration has. */
static uint64_t closing(const unsigned char *text, uint64_t n, uint64_t at)
{
    enum { FAR = 1 << 10 };
    int depth = 0;
    for (uint64_t i = 0; at < n && i < FAR; at++, i++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0 || strchr("{};", text[at]))
            return depth == 0 ? at : n;
    }
    return n;
}

static uint64_t skip_blanks(const unsigned char *text, uint64_t n, uint64_t at)
{
    while (at < n && myth_is_blank(text[at]))
        at++;
    return at;
}

/* The start of the line that ends at `end`, or of a directive that is continued to it. */
static uint64_t line_start(const unsigned char *text, uint64_t end)
{
    for (;; end--) {
        while (end > 0 && text[end - 1] != '\n')
            end--;
        const uint64_t before = end < 2 ? 0 : end - 2 - (end > 2 && text[end - 2] == '\r');
        if (end < 2 || text[before] != '\\')
            return end;
    }
}

/* The last byte before `at` that is not blank; 0: there is none, or a directive, an empty line or a comment to the end
 * of its line is before it. */
static unsigned char byte_before(const unsigned char *text, uint64_t at)
{
    int n_line = 0;
    for (; at > 0 && n_line < 2 && myth_is_blank(text[at - 1]); at--)
        n_line += text[at - 1] == '\n';
    if (at == 0 || n_line > 1)
        return 0;
    const uint64_t first = skip_blanks(text, at, line_start(text, at));
    const bool is_other = text[first] == '#' || memmem(text + first, at - first, "//", 2);
    return is_other ? 0 : text[at - 1];
}

static bool has_word(const unsigned char *text, word in, const char *name)
{
    const size_t n = strlen(name);
    for (uint64_t i = in.off; i + n <= in.end; i++)
        if (memcmp(text + i, name, n) == 0 && (i == in.off || !myth_is_word(text[i - 1])) &&
            (i + n == in.end || !myth_is_word(text[i + n])))
            return true;
    return false;
}

/* Whether `at` is inside of the list of an enum or of an initializer: what is before it is no whole declaration. */
static bool is_in_list(const unsigned char *text, uint64_t at)
{
    const unsigned char before = byte_before(text, at);
    word line = {0, at};
    if (!before)
        return false;
    while (line.end > 0 && myth_is_blank(text[line.end - 1]))
        line.end--;
    for (line.off = line.end; line.off > 0 && text[line.off - 1] != '\n';)
        line.off--;
    if (before == '{')
        return has_word(text, line, "enum") || memchr(text + line.off, '=', line.end - line.off);
    return before == ',' || myth_is_word(before);
}

/* Whether the braces around `at` are those of an enum or of an initializer. */
static bool is_in_enum(const unsigned char *text, uint64_t at)
{
    enum { FAR = 1 << 12 };
    int depth = 1;
    for (uint64_t n = 0; at > 0 && n < FAR; n++) {
        at--;
        depth += (text[at] == '}') - (text[at] == '{');
        if (depth == 0)
            return is_in_list(text, at + 1);
    }
    return false;
}

/* A macro alone on its line that is no statement: FOO_BEGIN_DECLS, FOO_FIELDS in a struct, FOO_LIST(XX) in an enum.
 * What stands before it, in what is blanked so far, is whole, and behind it something begins: not the name of a
 * function, whose type it would be. */
static bool is_lone_macro(const unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at)
{
    word w = {at, at}, head[HEAD_WORDS];
    uint32_t n_head;
    while (w.end < n && myth_is_word(text[w.end]))
        w.end++;
    if (w.end - w.off < 4 || !(is_capitals(text, w) || text[w.off] == '_') || has_lower(text, w))
        return false;
    const bool is_called = w.end < n && text[w.end] == '(';
    const uint64_t end = is_called ? closing(text, n, w.end) : w.end;
    if (end >= n || !is_blank_line(text, n, end + is_called))
        return false;
    const uint64_t next = skip_blanks(text, n, end + is_called);
    const unsigned char before = byte_before(out, at), after = next < n ? text[next] : 0;
    const bool is_whole = !before || strchr(";}/*", before) || (before == '{' && (is_called || !is_in_list(out, at))) ||
                          (before == ',' && is_called);
    if (!is_whole || (after && !myth_is_word(after) && !strchr("}#/~*", after)) || (!is_called && is_in_enum(out, at)))
        return false;
    const uint64_t stop = read_head(head, &n_head, text, n, next);
    const bool is_type = n_head == 1 && stop < n && text[stop] == '(' && !is_capitals(text, head[0]);
    return !is_type || is_called;
}

/* A macro that is defined inside of a list, for the list: #define X(a) a, in an enum; and what ends it. */
static bool is_of_list(const unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at)
{
    const uint64_t p = skip_blanks(text, n, at + 1);
    const bool is_undef = n - p > 5 && memcmp(text + p, "undef", 5) == 0;
    return is_undef || (n - p > 6 && memcmp(text + p, "define", 6) == 0 && is_in_list(out, at));
}

/* Blanks the comments of a macro of several lines, from its '#' on: a body ends where a comment begins. */
static bool blank_comments(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at)
{
    const uint64_t p = skip_blanks(text, n, at + 1);
    bool is_changed = false;
    if (n - p <= 6 || memcmp(text + p, "define", 6) != 0)
        return false;
    for (uint64_t i = p; i < n && text[i] != '\n'; i++) {
        if (text[i] == '\\' && i + 1 < n)
            i += 1 + (text[i + 1] == '\r' && i + 2 < n);
        else if (text[i] == '/' && i + 1 < n && text[i + 1] == '*') {
            const unsigned char *stop = memmem(text + i + 2, n - i - 2, "*/", 2);
            const uint64_t end = stop ? (uint64_t)(stop - text) + 2 : n;
            for (uint64_t k = i; k < end; k++) /* the marks of continued lines stay */
                if (out[k] != '\n' && out[k] != '\r' && !(out[k] == '\\' && k + 1 < end && strchr("\r\n", out[k + 1])))
                    out[k] = ' ';
            is_changed = true;
            i = end - 1;
        }
    }
    return is_changed;
}

/* Whether the parameters that begin at `at` are a constructor's: Name(int a) noexcept : a_(a) {} */
static bool is_constructor(const unsigned char *text, uint64_t n, uint64_t at)
{
    if (at >= n || text[at] != '(')
        return false;
    uint64_t end = closing(text, n, at);
    for (end += end < n; end < n && (myth_is_blank(text[end]) || myth_is_word(text[end]));)
        end++;
    return end + 1 < n && text[end] == ':' && text[end + 1] != ':';
}

/* Blanks the macros of a head whose last word is before text[at]. A declaration keeps a type and its name, so of
 * DWORD FOO_API f( only FOO_API goes, and DWORD x; stays as it is. */
static bool blank_head(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at, const word *head,
                       uint32_t n_head)
{
    static const char *const storage[] = {"static",   "extern", "inline",   "const",   "volatile", "typedef",
                                          "register", "friend", "explicit", "virtual", NULL};
    static const char *const tags[] = {"struct", "class", "union", "enum", NULL};
    static const char *const operators[] = {"operator", NULL}, *const templates[] = {"template", NULL};
    static const char *const statements[] = {"return", "else",   "case", "goto",  "throw",  "new",
                                             "delete", "sizeof", "do",   "using", "define", NULL};
    const unsigned char after = at < n ? text[at] : 0;
    const bool is_pointer = after == '(' && at + 1 < n && text[at + 1] == '*'; /* the name is inside: int (*name)( */
    const bool is_body = after == '{' || (after == ':' && !(at + 1 < n && text[at + 1] == ':'));
    bool is_operator = false, is_class = false, is_changed = false;
    for (uint32_t i = 0; i < n_head; i++) {
        is_operator |= is_word(text, head[i], operators);
        is_class |= is_word(text, head[i], tags) || is_word(text, head[i], templates);
    }
    const bool is_whole =
        is_operator || (is_class && after == '<') || after == '~' || (after && strchr("(;=[{:", after));
    uint32_t n_left = 0, n_keep = is_pointer || is_constructor(text, n, at) || (is_class && after == '<') ? 1
                                : after == '~'                                                            ? 0
                                                                                                          : 2;
    if (n_head == 0 || !is_whole || is_word(text, head[0], statements))
        return false;
    for (uint32_t i = 0; i < n_head; i++)
        n_left += !is_word(text, head[i], storage);
    for (uint32_t i = 0; i + (is_pointer || after == '~' ? 0 : 1) < n_head && n_left > n_keep; i++) {
        const bool is_tagged = i > 0 && is_word(text, head[i - 1], tags);
        if (!is_capitals(text, head[i]) || (is_tagged && !is_body && after != '<'))
            continue;
        put_blanks(out, head[i]);
        n_left--;
        is_changed = true;
    }
    return is_changed;
}

/* The calling convention of a pointer: int (WINAPI *name)(int). */
static bool blank_convention(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at)
{
    word head[HEAD_WORDS];
    uint32_t n_head;
    const uint64_t end = at + 1 < n ? read_head(head, &n_head, text, n, at + 1) : n;
    if (end >= n || text[end] != ')' || n_head != 2 || !is_capitals(text, head[0]) ||
        !memchr(text + head[0].end, '*', head[1].off - head[0].end))
        return false;
    uint64_t next = end + 1;
    while (next < n && myth_is_blank(text[next]))
        next++;
    if (next == n || text[next] != '(')
        return false;
    put_blanks(out, head[0]);
    return true;
}

/* An attribute after the parameters, whose bracket is text[at]: int f(int) FOO_ATTR; void f(int) FOO_GUARDED(m) { */
static bool blank_attribute(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at, bool may_call)
{
    word head[HEAD_WORDS];
    uint32_t n_head;
    static const char *const before[] = {"const", "noexcept", "override", "final", NULL};
    uint64_t end = read_head(head, &n_head, text, n, at + 1);
    word *last = &head[n_head > 0 ? n_head - 1 : 0];
    bool is_last = n_head > 0;
    for (uint32_t i = 0; i + 1 < n_head; i++)
        is_last = is_last && is_word(text, head[i], before);
    if (end >= n || !is_last || !is_capitals(text, *last))
        return false;
    if (text[end] == '(') {
        const uint64_t close = closing(text, n, end);
        last->end = close < n ? close + 1 : last->end;
        end = close < n ? skip_blanks(text, n, close + 1) : n;
        if (end >= n || (text[end] != '{' && (text[end] != ';' || !may_call)))
            return false;
    } else if (text[end] != ';')
        return false;
    put_blanks(out, *last);
    return true;
}

static bool is_numbers(const unsigned char *text, word in)
{
    for (uint64_t i = in.off; i < in.end; i++)
        if (!isdigit(text[i]) && text[i] != ',' && text[i] != ' ')
            return false;
    return in.end > in.off;
}

/* FOO_ATTR(1) int f(void): macros with arguments before the rest of a head, whose bracket is text[at]. In lower case,
 * as in void printflike(1, 2) f(const char *, ...), if they stand before a name and have numbers alone. Where the head
 * ends. */
static uint64_t blank_calls(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at, word *head,
                            uint32_t *n_head, bool *is_changed)
{
    static const char *const type_wanted[] = {"typedef", "static", "extern", "const", NULL};
    while (at < n && text[at] == '(' && *n_head > 0) {
        word more[HEAD_WORDS];
        uint32_t n_more, n_keep = *n_head - 1;
        const uint64_t close = closing(text, n, at), next = close < n ? skip_blanks(text, n, close + 1) : n;
        if (!is_capitals(text, head[n_keep]) && (n_keep == 0 || !is_numbers(text, (word){at + 1, close})))
            break;
        if (next >= n || !myth_is_word(text[next]) || isdigit(text[next]))
            break;
        const uint64_t end = read_head(more, &n_more, text, n, next);
        if (end >= n || n_keep + n_more > HEAD_WORDS || !strchr("(;=[{:", text[end]))
            break;
        const bool is_last = n_more == 1 && !(text[end] == '(' && is_capitals(text, more[0]));
        const bool is_type = is_last && (n_keep == 0 || (n_keep == 1 && is_word(text, head[0], type_wanted)));
        put_blanks(out, (word){head[n_keep].off, close + 1});
        if (is_type) /* typedef FOO_TYPE(x) name; */
            memcpy(out + head[n_keep].off, "int", 3);
        memcpy(head + n_keep, more, n_more * sizeof(*more));
        *n_head = n_keep + n_more;
        *is_changed = true;
        at = end;
    }
    return at;
}

static bool blank_heads(unsigned char *out, const unsigned char *text, uint64_t n)
{
    static const char *const conditions[] = {"if", "for", "while", "else", "switch", NULL};
    bool is_changed = false;
    for (uint64_t at = 0; at < n;) {
        word head[HEAD_WORDS];
        uint32_t n_head;
        uint64_t end = read_head(head, &n_head, text, n, at);
        end = blank_calls(out, text, n, end, head, &n_head, &is_changed);
        is_changed |= blank_head(out, text, n, end, head, n_head);
        if (end < n && text[end] == '(')
            is_changed |= blank_convention(out, text, n, end);
        const bool is_condition = n_head > 0 && is_word(text, head[0], conditions);
        const uint64_t first = skip_blanks(text, n, at);
        if (first < n && text[first] == '#')
            is_changed |= blank_comments(out, text, n, first);
        for (; end < n && text[end] != '\n'; end++)
            if (text[end] == '\\' && end + 1 < n && text[end + 1] == '\n')
                end++; /* a directive's next line is no declaration */
            else if (text[end] == ')' && !is_condition)
                is_changed |= blank_attribute(out, text, n, end, n_head > 1);
        at = end + 1;
    }
    return is_changed;
}

/* The conditionals around a line. Both branches of one are read, but not where it is inside of an expression, or where
 * the first branch opens or closes a block that the others do, too: there the first is. */
typedef struct {
    bool is_inside[16];
    int n_open, n_open_at[16]; /* blocks that are open here, and at the conditional */
    uint32_t depth, skipped;   /* skipped: depth of the one whose other branches are left out */
} conditionals;

/* Takes the directive at text[at] into account. */
static void see_conditional(conditionals *c, const unsigned char *out, const unsigned char *text, uint64_t n,
                            uint64_t at)
{
    const uint64_t p = skip_blanks(text, n, at + 1);
    const size_t n_left = n - p;
    const uint32_t last = (c->depth - 1) % 16;
    if (n_left > 2 && memcmp(text + p, "if", 2) == 0) {
        const unsigned char before = byte_before(out, at);
        c->n_open_at[c->depth % 16] = c->n_open;
        c->is_inside[c->depth++ % 16] = before && strchr("=(,+-|&?", before);
    } else if (n_left > 5 && memcmp(text + p, "endif", 5) == 0) {
        c->skipped = c->skipped == c->depth ? 0 : c->skipped;
        c->depth -= c->depth > 0;
    } else if (n_left > 2 && memcmp(text + p, "el", 2) == 0 && c->depth > 0 && !c->skipped &&
               (c->is_inside[last] || c->n_open != c->n_open_at[last]))
        c->skipped = c->depth;
}

/* How many blocks more a line opens than it closes. */
static int opens_of(const unsigned char *text, word line)
{
    int n_open = 0;
    char quote = 0;
    for (uint64_t i = line.off; i < line.end; i++) {
        const char c = (char)text[i];
        if (quote) {
            i += c == '\\';
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '/' && i + 1 < line.end && (text[i + 1] == '/' || text[i + 1] == '*'))
            break;
        else
            n_open += (c == '{') - (c == '}');
    }
    return n_open;
}

bool myth_blank(unsigned char *out, const unsigned char *text, uint64_t n, bool with_lines)
{
    bool is_changed = with_lines;
    conditionals c = {0};
    memcpy(out, text, n);
    for (uint64_t at = 0; with_lines && at < n;) {
        uint64_t p = at, end;
        while (p < n && (text[p] == ' ' || text[p] == '\t'))
            p++;
        const bool is_directive = p < n && text[p] == '#';
        if (is_directive)
            see_conditional(&c, out, text, n, p);
        bool is_hit =
            p < n && (c.skipped || (is_directive ? is_conditional(text + p, text + n) || is_of_list(out, text, n, p)
                                                 : is_lone_macro(out, text, n, p)));
        for (end = at; end < n && text[end] != '\n'; end++)
            if ((is_hit || is_directive) && text[end] == '\\' && end + 1 < n && text[end + 1] == '\n')
                end++;
        if (is_hit)
            put_blanks(out, (word){at, end});
        else if (!is_directive)
            c.n_open += opens_of(text, (word){at, end});
        at = end + 1;
    }
    is_changed |= blank_heads(out, text, n);
    return is_changed;
}

/* ---- Kotlin ---- */

static bool begins(const unsigned char *text, word line, const char *with)
{
    const size_t n = strlen(with);
    return line.end - line.off >= n && memcmp(text + line.off, with, n) == 0;
}

/* The line that begins at `at`, without the blanks around it; its newline is at *next - 1. */
static word trimmed_line(const unsigned char *text, uint64_t n, uint64_t at, uint64_t *next)
{
    word line = {at, at};
    while (line.end < n && text[line.end] != '\n')
        line.end++;
    *next = line.end < n ? line.end + 1 : n;
    while (line.off < line.end && myth_is_blank(text[line.off]))
        line.off++;
    while (line.end > line.off && myth_is_blank(text[line.end - 1]))
        line.end--;
    return line;
}

static const unsigned char *find(const unsigned char *text, word in, const char *what)
{
    return in.end > in.off ? memmem(text + in.off, in.end - in.off, what, strlen(what)) : NULL;
}

/* is A if b -> c: from the condition to the arrow, which may be some lines on. */
static bool blank_guard(unsigned char *out, const unsigned char *text, uint64_t n, word line)
{
    enum { LINES = 6 };
    static const char *const branches[] = {"is ", "!is ", "in ", "!in ", "else if "};
    bool is_branch = false;
    for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
        is_branch |= begins(text, line, branches[i]);
    const unsigned char *condition = is_branch ? find(text, line, " if ") : NULL;
    const uint64_t off = condition ? (uint64_t)(condition - text) : 0;
    const unsigned char *arrow = condition ? find(text, (word){off, line.end}, "->") : NULL;
    for (int i = 0; condition && !arrow && i < LINES; i++) {
        const unsigned char *next = line.end < n ? memchr(text + line.end + 1, '\n', n - line.end - 1) : NULL;
        const uint64_t end = next ? (uint64_t)(next - text) : n;
        if (line.end >= n || memchr(text + line.end, '{', end - line.end))
            break;
        line.end = end;
        arrow = find(text, (word){off, end}, "->");
    }
    if (!arrow || memchr(text + line.off, '{', off - line.off))
        return false;
    put_blanks(out, (word){off, (uint64_t)(arrow - text)});
    return true;
}

/* } get Table.id: to the end of the line, if every bracket there is closed there. */
static bool blank_infix(unsigned char *out, const unsigned char *text, word line)
{
    static const char *const calls[] = {"} get ", ") get ", "} set ", ") set "};
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        const unsigned char *call = find(text, line, calls[i]);
        word rest = {call ? (uint64_t)(call - text) + 1 : line.end, line.end};
        bool is_closed = call != NULL;
        int depth = 0;
        for (uint64_t p = rest.off; p < rest.end && is_closed; p++) {
            depth += (text[p] == '(' || text[p] == '[') - (text[p] == ')' || text[p] == ']');
            is_closed = depth >= 0 && text[p] != '{' && text[p] != '}';
        }
        is_closed = is_closed && depth == 0;
        if (is_closed) {
            put_blanks(out, rest);
            return true;
        }
    }
    return false;
}

/* context(a: A) before a function, and the dollars before a text: $$"...". */
static bool blank_new_marks(unsigned char *out, const unsigned char *text, uint64_t n, word line)
{
    bool is_changed = false;
    const uint64_t open = line.off + strlen("context");
    if (begins(text, line, "context(") && closing(text, n, open) < n) {
        put_blanks(out, (word){line.off, closing(text, n, open) + 1});
        is_changed = true;
    }
    for (const unsigned char *p; (p = find(text, line, "$$")) != NULL;) {
        word mark = {(uint64_t)(p - text), (uint64_t)(p - text)};
        while (mark.end < line.end && text[mark.end] == '$')
            mark.end++;
        line.off = mark.end;
        if (mark.end == line.end || text[mark.end] != '"')
            continue;
        put_blanks(out, mark);
        is_changed = true;
    }
    return is_changed;
}

/* A variable whose name is a modifier (final = true), or begins a constraint (where T : Any), gets another name. */
static bool rename_variable(unsigned char *out, const unsigned char *text, word line)
{
    static const char *const names[] = {"where",  "final",    "open",     "abstract", "sealed", "override", "inline",
                                        "infix",  "operator", "external", "internal", "inner",  "data",     "suspend",
                                        "actual", "expect",   "private",  "public",   "const",  "vararg",   NULL};
    bool is_changed = false;
    while (line.off < line.end) {
        word w = {line.off, line.off};
        while (w.end < line.end && myth_is_word(text[w.end]))
            w.end++;
        line.off = w.end > w.off ? w.end : w.off + 1;
        uint64_t after = w.end;
        while (after < line.end && myth_is_blank(text[after]))
            after++;
        const bool is_used = after < line.end && text[after] && strchr("?.,)=!:", text[after]);
        if (w.end == w.off || !is_used || !is_word(text, w, names))
            continue;
        out[w.off] = '_';
        is_changed = true;
    }
    return is_changed;
}

/* The modifiers of a constructor that begins a line: class A, and below internal constructor(val a: Int). */
static bool blank_modifiers(unsigned char *out, const unsigned char *text, word line)
{
    static const char *const names[] = {"public", "protected", "internal", "private", "actual", "expect", NULL};
    const unsigned char *call = find(text, line, "constructor(");
    const word before = {line.off, call ? (uint64_t)(call - text) : line.off};
    for (uint64_t i = before.off; i < before.end;) {
        word w = {i + (text[i] == '@'), i + (text[i] == '@')};
        while (w.end < before.end && myth_is_word(text[w.end]))
            w.end++;
        if (w.end == w.off || (text[i] != '@' && !is_word(text, w, names)))
            return false;
        for (i = w.end; i < before.end && text[i] == ' ';)
            i++;
    }
    put_blanks(out, before);
    return before.end > before.off;
}

/* Whether a line looks like an accessor of the property above it. */
static bool is_accessor(const unsigned char *text, word line)
{
    static const char *const words[] = {"private ", "protected ", "internal ", "public "};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (begins(text, line, words[i]))
            line.off += strlen(words[i]);
    const bool is_bare = line.end - line.off == 3;
    return (begins(text, line, "get") || begins(text, line, "set")) && (is_bare || text[line.off + 3] == '(');
}

/* A call of get or set that begins a line gets another name: get("/path") {, set("a", b). An accessor has no argument,
 * or one name. */
static bool rename_call(unsigned char *out, const unsigned char *text, word line)
{
    if (!begins(text, line, "get(") && !begins(text, line, "set("))
        return false;
    word in = {line.off + 4, line.off + 4};
    while (in.end < line.end && (myth_is_word(text[in.end]) || strchr(" :<>?*.", text[in.end])))
        in.end++;
    const bool is_one_name = in.end < line.end && text[in.end] == ')' && (text[line.off] == 's' || in.end == in.off);
    if (is_one_name)
        return false;
    out[line.off] = '_';
    return true;
}

/* The annotation that ends where `line` ends, which may have begun some lines before: @Deprecated(...). */
static bool blank_annotation(unsigned char *out, const unsigned char *text, word line)
{
    enum { FAR = 1 << 10 };
    uint64_t at = line.end;
    int depth = 0;
    if (at > line.off && text[at - 1] == ')')
        for (uint64_t n = 0; at > 0 && n < FAR; n++) {
            at--;
            depth += (text[at] == ')') - (text[at] == '(');
            if (depth == 0)
                break;
        }
    while (depth == 0 && at > 0 && (myth_is_word(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == ':'))
        at--;
    if (depth != 0 || at == 0 || text[at - 1] != '@')
        return false;
    put_blanks(out, (word){at - 1, line.end});
    return true;
}

bool myth_blank_kotlin(unsigned char *out, const unsigned char *text, uint64_t n)
{
    bool is_changed = false;
    word last = {0, 0};
    memcpy(out, text, n);
    for (uint64_t at = 0; at < n;) {
        word line = trimmed_line(text, n, at, &at);
        if (is_accessor(text, line))
            is_changed |= blank_annotation(out, text, last);
        is_changed |= rename_call(out, text, line);
        is_changed |= rename_variable(out, text, line);
        is_changed |= blank_modifiers(out, text, line);
        is_changed |= blank_new_marks(out, text, n, line);
        is_changed |= blank_guard(out, text, n, line) || blank_infix(out, text, line);
        last = line;
    }
    return is_changed;
}
