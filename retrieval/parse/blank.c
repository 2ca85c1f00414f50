/* blank.c - see blank.h. */
#define _GNU_SOURCE /* memmem */
#include "blank.h"
#include "cut.h"

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

/* A macro alone on its line that is no statement, such as FOO_BEGIN_DECLS: a blank line, a comment or a directive
 * comes before it, and a blank line follows. */
static bool is_lone_macro(const unsigned char *text, uint64_t n, uint64_t at)
{
    uint64_t p = at, before = at;
    while (p < n &&
           ((text[p] >= 'A' && text[p] <= 'Z') || text[p] == '_' || (p > at && text[p] >= '0' && text[p] <= '9')))
        p++;
    if (p - at < 4 || !is_blank_line(text, n, p))
        return false;
    while (p < n && text[p] != '\n')
        p++;
    while (before > 1 && text[before - 2] != '\n')
        before--;
    for (before -= before > 0; before < at && text[before] != '\n' && myth_is_blank(text[before]);)
        before++;
    return is_blank_line(text, n, p + 1) && (before == at || strchr("\n#*/", text[before]));
}

/* ---- macros before a declaration's type or name ---- */

static bool is_name(unsigned char c) { return isalnum(c) || c == '_'; }

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

static void put_blanks(unsigned char *out, word w) { memset(out + w.off, ' ', w.end - w.off); }

/* Where a run of words ends that a declaration may begin with, and the words in it: FOO_API const char *name. */
enum { HEAD_WORDS = 12 };
static uint64_t read_head(word *head, uint32_t *n_head, const unsigned char *text, uint64_t n, uint64_t at)
{
    for (*n_head = 0; at < n && *n_head < HEAD_WORDS;) {
        if (myth_is_blank(text[at]) || text[at] == '*')
            at++;
        else if (is_name(text[at])) {
            word w = {at, at};
            while (w.end < n && is_name(text[w.end]))
                w.end++;
            head[(*n_head)++] = w;
            at = w.end;
        } else
            break;
    }
    return at;
}

/* Blanks the macros of a head whose last word is before text[at]. A declaration keeps a type and its name, so of
 * DWORD FOO_API f( only FOO_API goes, and DWORD x; stays as it is. */
static bool blank_head(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at, const word *head,
                       uint32_t n_head)
{
    static const char *const storage[] = {"static",   "extern", "inline",   "const",   "volatile", "typedef",
                                          "register", "friend", "explicit", "virtual", NULL};
    static const char *const tags[] = {"struct", "class", "union", "enum", NULL};
    static const char *const statements[] = {"return", "else",   "case", "goto",  "throw",  "new",
                                             "delete", "sizeof", "do",   "using", "define", NULL};
    const unsigned char after = at < n ? text[at] : 0;
    const bool is_pointer = after == '(' && at + 1 < n && text[at + 1] == '*'; /* the name is inside: int (*name)( */
    const bool is_body = after == '{' || (after == ':' && !(at + 1 < n && text[at + 1] == ':'));
    uint32_t n_left = 0, n_keep = is_pointer ? 1 : 2;
    bool is_changed = false;
    if (n_head == 0 || !after || !strchr("(;=[{:", after) || is_word(text, head[0], statements))
        return false;
    for (uint32_t i = 0; i < n_head; i++)
        n_left += !is_word(text, head[i], storage);
    for (uint32_t i = 0; i + (is_pointer ? 0 : 1) < n_head && n_left > n_keep; i++) {
        const bool is_tagged = i > 0 && is_word(text, head[i - 1], tags);
        if (!is_capitals(text, head[i]) || (is_tagged && !is_body))
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

/* An attribute after the parameters, whose bracket is text[at]: int f(int) FOO_ATTR; */
static bool blank_attribute(unsigned char *out, const unsigned char *text, uint64_t n, uint64_t at)
{
    word head[HEAD_WORDS];
    uint32_t n_head;
    const uint64_t end = read_head(head, &n_head, text, n, at + 1);
    if (end >= n || text[end] != ';' || n_head != 1 || !is_capitals(text, head[0]))
        return false;
    put_blanks(out, head[0]);
    return true;
}

static bool blank_heads(unsigned char *out, const unsigned char *text, uint64_t n)
{
    static const char *const conditions[] = {"if", "for", "while", "else", "switch", NULL};
    bool is_changed = false;
    for (uint64_t at = 0; at < n;) {
        word head[HEAD_WORDS];
        uint32_t n_head;
        uint64_t end = read_head(head, &n_head, text, n, at);
        is_changed |= blank_head(out, text, n, end, head, n_head);
        if (end < n && text[end] == '(')
            is_changed |= blank_convention(out, text, n, end);
        const bool is_condition = n_head > 0 && is_word(text, head[0], conditions);
        for (; end < n && text[end] != '\n'; end++)
            if (text[end] == '\\' && end + 1 < n && text[end + 1] == '\n')
                end++; /* a directive's next line is no declaration */
            else if (text[end] == ')' && !is_condition)
                is_changed |= blank_attribute(out, text, n, end);
        at = end + 1;
    }
    return is_changed;
}

bool myth_blank(unsigned char *out, const unsigned char *text, uint64_t n, bool with_lines)
{
    bool is_changed = with_lines;
    memcpy(out, text, n);
    for (uint64_t at = 0; with_lines && at < n;) {
        uint64_t p = at, end;
        while (p < n && (text[p] == ' ' || text[p] == '\t'))
            p++;
        bool is_hit = p < n && ((text[p] == '#' && is_conditional(text + p, text + n)) || is_lone_macro(text, n, at));
        for (end = at; end < n && text[end] != '\n'; end++)
            if (is_hit && text[end] == '\\' && end + 1 < n && text[end + 1] == '\n')
                end++;
        for (p = at; is_hit && p < end; p++)
            if (out[p] != '\n' && out[p] != '\r')
                out[p] = ' ';
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

/* is A if b -> c: from the condition to the arrow. */
static bool blank_guard(unsigned char *out, const unsigned char *text, word line)
{
    static const char *const branches[] = {"is ", "!is ", "in ", "!in ", "else if "};
    bool is_branch = false;
    for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
        is_branch |= begins(text, line, branches[i]);
    const unsigned char *condition = is_branch ? find(text, line, " if ") : NULL;
    const uint64_t off = condition ? (uint64_t)(condition - text) : 0;
    const unsigned char *arrow = condition ? find(text, (word){off, line.end}, "->") : NULL;
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

/* A variable of the name `where` gets another name: a constraint (where T : Any) goes on with a name. */
static bool rename_where(unsigned char *out, const unsigned char *text, word line)
{
    bool is_changed = false;
    for (const unsigned char *p; (p = find(text, line, "where")) != NULL;) {
        const uint64_t off = (uint64_t)(p - text);
        bool is_word = off == line.off || !is_name(p[-1]);
        line.off = off + 5;
        is_word = is_word && line.off < line.end && !is_name(text[line.off]);
        while (line.off < line.end && myth_is_blank(text[line.off]))
            line.off++;
        if (!is_word || line.off == line.end || !strchr("?.,)=!:", text[line.off]) || !text[line.off])
            continue;
        out[off] = '_';
        is_changed = true;
    }
    return is_changed;
}

static bool is_accessor(const unsigned char *text, word line)
{
    static const char *const words[] = {"private ", "protected ", "internal ", "public "};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (begins(text, line, words[i]))
            line.off += strlen(words[i]);
    return begins(text, line, "get(") || begins(text, line, "set(");
}

bool myth_blank_kotlin(unsigned char *out, const unsigned char *text, uint64_t n)
{
    bool is_changed = false;
    word last = {0, 0};
    memcpy(out, text, n);
    for (uint64_t at = 0; at < n;) {
        word line = trimmed_line(text, n, at, &at);
        const bool is_mark = last.end > last.off && text[last.off] == '@';
        if (is_mark && is_accessor(text, line)) {
            put_blanks(out, last);
            is_changed = true;
        }
        is_changed |= rename_where(out, text, line);
        is_changed |= blank_guard(out, text, line) || blank_infix(out, text, line);
        last = line;
    }
    return is_changed;
}
