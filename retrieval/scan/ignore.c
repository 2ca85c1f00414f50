/* ignore.c - see ignore.h.
 *
 * Matching walks over pattern and text once, and backtracks to at most two places: the last "*", which may take one
 * more byte of its name, and the last "**", which may take one more name. Earlier stars need no second try, because
 * ending them as early as possible leaves the most text for the later ones. */
#define _GNU_SOURCE
#include "ignore.h"
#include "engine/base/array.h"

#include <ctype.h>
#include <string.h>

/* ---- one pattern ---- */

static unsigned char lower_of(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }
static bool is_lower(unsigned char c) { return c >= 'a' && c <= 'z'; }

/* strncmp, or strncasecmp of the C locale when letters are folded. */
static bool is_same(const char *a, const char *b, size_t n, bool is_folded)
{
    if (!is_folded)
        return memcmp(a, b, n) == 0;
    for (size_t i = 0; i < n; i++)
        if (lower_of(a[i]) != lower_of(b[i]))
            return false;
    return true;
}

static bool is_special(char c) { return c == '*' || c == '?' || c == '[' || c == '\\'; }

/* ASCII only, whatever the locale. */
static bool is_in_class(const char *name, size_t n, unsigned char c)
{
    static const char *const names[] = {
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
    };
    bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9',
         graph = c > 0x20 && c < 0x7f;
    bool alnum = lower || upper || digit, hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    bool is[] = {alnum,
                 lower || upper,
                 c == ' ' || c == '\t',
                 c < 0x20 || c == 0x7f,
                 digit,
                 graph,
                 lower,
                 graph || c == ' ',
                 graph && !alnum,
                 c == ' ' || (c >= '\t' && c <= '\r'),
                 upper,
                 hex};
    for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return is[i];
    return false;
}

static bool is_class_name(const char *name, size_t n)
{
    for (int c = 0; c < 128; c++) /* every known class has a member */
        if (is_in_class(name, n, (unsigned char)c))
            return true;
    return false;
}

/* Parses the class at p (after its '['). Returns its length with both brackets, 0 when it has no end or an unknown
 * name. *fits: c is in it (c is in lower case when letters are folded). */
static size_t class_at(const char *p, size_t n, unsigned char c, bool is_folded, bool *fits)
{
    size_t i = 1;
    bool is_negated = i < n && (p[i] == '!' || p[i] == '^'), is_in = false;
    i += is_negated;
    int before = 0; /* where a range with '-' would begin; 0 = nowhere */
    unsigned char upper = is_folded && is_lower(c) ? c & 0xdf : c;
    for (bool is_first = true;; is_first = false) {
        if (i >= n)
            return 0;
        unsigned char x = (unsigned char)p[i];
        if (x == ']' && !is_first)
            break;
        if (x == '[' && i + 1 < n && p[i + 1] == ':') {
            const char *end = memchr(p + i + 2, ']', n - i - 2);
            if (!end)
                return 0;
            size_t at = i + 2, len = (size_t)(end - p) - at;
            if (len >= 1 && end[-1] == ':') {
                if (!is_class_name(p + at, len - 1))
                    return 0;
                is_in |= is_in_class(p + at, len - 1, c) ||
                         (len == 6 && memcmp(p + at, "upper", 5) == 0 && is_in_class(p + at, 5, upper));
                i = (size_t)(end - p) + 1;
                before = 0;
                continue;
            }
        } else if (x == '-' && before && i + 1 < n && p[i + 1] != ']') {
            i++;
            if (p[i] == '\\' && ++i >= n)
                return 0;
            is_in |= (c >= before && c <= (unsigned char)p[i]) || (upper >= before && upper <= (unsigned char)p[i]);
            before = 0;
            i++;
            continue;
        } else if (x == '\\') {
            if (++i >= n)
                return 0;
            x = (unsigned char)p[i];
        }
        is_in |= c == x;
        before = x;
        i++;
    }
    *fits = is_in != is_negated;
    return i + 1;
}

/* Parses one element that is not a star. Returns its length, 0 when it is invalid; *fits: it matches c. */
static size_t element_at(const char *p, size_t n, unsigned char c, bool is_path, bool is_folded, bool *fits)
{
    size_t len;
    c = is_folded ? lower_of((char)c) : c;
    switch (p[0]) {
    case '?': *fits = !is_path || c != '/'; return 1;
    case '[':
        len = class_at(p, n, c, is_folded, fits);
        *fits = len && *fits && !(is_path && c == '/');
        return len;
    case '\\': *fits = n > 1 && (unsigned char)p[1] == c; return n > 1 ? 2 : 0;
    default: *fits = (is_folded ? lower_of(p[0]) : (unsigned char)p[0]) == c; return 1;
    }
}

/* Steps of matching, counted because some patterns take the square of a name's length, and a hostile repository may
 * have many of both. */
static _Thread_local uint64_t n_step;
uint64_t myth_ignore_steps(void) { return n_step; }

bool myth_glob_match(const char *p, size_t np, const char *t, size_t nt, bool is_path, bool is_folded)
{
    const size_t none = (size_t)-1;
    size_t i = 0, j = 0;              /* next byte of the text, and of the pattern */
    size_t star_p = none, star_t = 0; /* place after the last '*', and the end of the text that it took */
    size_t deep_p = none, deep_t = 0; /* the same for the last "**" */
    bool is_whole = false;            /* "**" before a slash takes whole names, or nothing */
    for (;; n_step++) {
        bool fits = false;
        if (j < np && p[j] == '*') {
            size_t k = j;
            while (k < np && p[k] == '*')
                k++;
            bool is_end = k == np || p[k] == '/' || (p[k] == '\\' && k + 1 < np && p[k + 1] == '/');
            if (!is_path || (k - j >= 2 && (j == 0 || p[j - 1] == '/') && is_end)) {
                if (k == np)
                    return true;
                is_whole = is_path && p[k] == '/';
                deep_p = j = k + is_whole;
                deep_t = i;
                star_p = none;
            } else {
                star_p = j = k;
                star_t = i;
            }
            continue;
        }
        if (i == nt)
            return j == np; /* taking more with a star would not help */
        if (j < np) {
            size_t len = element_at(p + j, np - j, (unsigned char)t[i], is_path, is_folded, &fits);
            if (len == 0)
                return false; /* a class without an end matches no text */
            if (fits) {
                i++;
                j += len;
                continue;
            }
        }
        if (star_p != none && t[star_t] != '/') {
            i = ++star_t;
            j = star_p;
        } else if (deep_p != none) {
            if (is_whole) {
                const char *slash = memchr(t + deep_t, '/', nt - deep_t);
                if (!slash)
                    return false;
                deep_t = (size_t)(slash - t) + 1;
            } else {
                deep_t++;
            }
            i = deep_t;
            j = deep_p;
            star_p = none;
        } else {
            return false;
        }
    }
}

/* A pattern with an unclosed class, or with '\' at its end, matches no path at all. */
static bool is_malformed(const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool fits;
        size_t len = p[i] == '*' ? 1 : element_at(p + i, n - i, 'a', false, false, &fits);
        if (len == 0)
            return true;
        i += len;
    }
    return false;
}

static bool pattern_matches(const myth_ignore_pattern *q, bool is_folded, const char *path, size_t n_path,
                            const char *name, size_t n_name)
{
    if (q->is_never)
        return false;
    if (q->is_name) {
        if (q->n_plain == q->n_text)
            return q->n_text == n_name && is_same(q->text, name, n_name, is_folded);
        if (q->is_suffix)
            return q->n_text - 1 <= n_name &&
                   is_same(q->text + 1, name + n_name - (q->n_text - 1), q->n_text - 1, is_folded);
        return myth_glob_match(q->text, q->n_text, name, n_name, false, is_folded);
    }
    /* The literal bytes before the first special one are compared first. Like git, the match of the rest does not
     * see them, so a "**" after them begins at the start of a name. */
    if (q->n_plain > n_path || !is_same(q->text, path, q->n_plain, is_folded))
        return false;
    return myth_glob_match(q->text + q->n_plain, q->n_text - q->n_plain, path + q->n_plain, n_path - q->n_plain, true,
                           is_folded);
}

/* ---- a file of patterns ---- */

/* The end of the line without unescaped trailing spaces. */
static size_t without_spaces(const char *s, size_t n)
{
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\') {
            if (++i == n)
                return n;
            end = i + 1;
        } else if (s[i] != ' ') {
            end = i + 1;
        }
    }
    return end;
}

static void set_pattern(myth_ignore_pattern *q, char *line, size_t n, uint32_t line_no)
{
    *q = (myth_ignore_pattern){.line = line, .line_no = line_no};
    if (n && line[0] == '!') {
        q->is_negative = true;
        line++;
        n--;
    }
    if (n && line[n - 1] == '/') {
        q->is_dir_only = true;
        n--;
    }
    q->is_name = memchr(line, '/', n) == NULL;
    q->is_never = n == 0;
    if (n && line[0] == '/') {
        line++;
        n--;
    }
    while (q->n_plain < n && !is_special(line[q->n_plain]))
        q->n_plain++;
    q->text = line;
    q->n_text = (uint32_t)n;
    if (n && line[0] == '*') {
        q->is_suffix = true;
        for (size_t i = 1; i < n; i++)
            q->is_suffix &= !is_special(line[i]);
    }
    q->is_never |= is_malformed(line, n);
}

/* What a line of .gitattributes says about linguist-generated: 1 set, -1 unset, 0 nothing. Cuts the line after its
 * pattern. */
static int8_t attribute_of(char *line, size_t *n)
{
    static const char word[] = "linguist-generated";
    size_t m = sizeof(word) - 1, at = strcspn(line, " \t");
    int8_t said = 0;
    for (char *p = line + at; *p;) {
        p += strspn(p, " \t");
        size_t len = strcspn(p, " \t");
        bool is_minus = *p == '-' || *p == '!';
        const char *w = p + is_minus;
        size_t k = len - is_minus;
        if (k >= m && memcmp(w, word, m) == 0) {
            if (k == m)
                said = is_minus ? -1 : 1;
            else if (w[m] == '=' && !is_minus)
                said = k == m + 6 && memcmp(w + m + 1, "false", 5) == 0 ? -1 : 1;
        }
        p += len;
    }
    line[at] = 0;
    *n = at;
    return said;
}

myth_status myth_ignore_parse(myth_ignore_list **out, myth_mem *mem, const char *name, const char *text, size_t n_text,
                              bool is_attributes, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t line_no = 0, cap = 0;
    myth_ignore_list *l = myth_alloc(mem, MYTH_MEM_OTHER, "ignore", sizeof(*l));
    if (!l)
        goto no_room;
    l->name = name;
    l->text = myth_alloc(mem, MYTH_MEM_OTHER, "ignore", n_text + 1);
    if (!l->text)
        goto no_room;
    if (n_text)
        memcpy(l->text, text, n_text);
    size_t at = n_text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < n_text) {
        char *line = l->text + at, *end = memchr(line, '\n', n_text - at);
        size_t n = end ? (size_t)(end - line) : n_text - at;
        at += n + 1;
        line_no++;
        if (n && line[n - 1] == '\r')
            n--;
        line[n] = 0;
        n = strlen(line); /* a NUL ends a line, as it does for git */
        if (n == 0 || line[0] == '#')
            continue;
        int8_t attribute = 0;
        if (is_attributes) {
            if (line[0] == '!' || (attribute = attribute_of(line, &n)) == 0)
                continue;
        } else {
            n = without_spaces(line, n);
            line[n] = 0;
        }
        if (l->n_pattern == MYTH_IGNORE_PATTERNS) {
            st = myth_fail(err, MYTH_ELIMIT, "%s: more than %d patterns", name, MYTH_IGNORE_PATTERNS);
            goto fail;
        }
        if (!MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "ignore", &l->pattern, l->n_pattern, &cap))
            goto no_room;
        set_pattern(&l->pattern[l->n_pattern], line, n, line_no);
        l->pattern[l->n_pattern++].attribute = attribute;
    }
    if (!l->n_pattern) { /* the file has only comments */
        myth_free(mem, l->text);
        l->text = NULL;
    }
    l->n_bytes = (l->text ? n_text : 0) + cap * sizeof(*l->pattern);
    *out = l;
    return MYTH_OK;
no_room:
    st = myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes of patterns", name, n_text);
fail:
    myth_ignore_free(l, mem);
    return st;
}

void myth_ignore_free(myth_ignore_list *l, myth_mem *mem)
{
    if (!l)
        return;
    myth_free(mem, l->pattern);
    myth_free(mem, l->text);
    myth_free(mem, l);
}

/* ---- questions ---- */

static const char *name_of(const char *path, size_t n)
{
    const char *slash = memrchr(path, '/', n);
    return slash ? slash + 1 : path;
}

const myth_ignore_pattern *myth_ignore_find(const myth_ignore_list *l, const char *path, size_t n_path, bool is_dir)
{
    const char *name = name_of(path, n_path);
    size_t n_name = n_path - (size_t)(name - path);
    for (uint32_t i = l->n_pattern; i-- > 0;) {
        const myth_ignore_pattern *q = &l->pattern[i];
        n_step++;
        if ((is_dir || !q->is_dir_only) && pattern_matches(q, l->is_folded, path, n_path, name, n_name))
            return q;
    }
    return NULL;
}

myth_ignore_answer myth_ignore_ask(const myth_ignore_frame *frame, const char *path, size_t n_path, bool is_dir)
{
    for (int r = MYTH_RUNG_N; r-- > 0;)
        for (const myth_ignore_frame *f = frame; f; f = f->parent) {
            const myth_ignore_list *l = f->list[r];
            const myth_ignore_pattern *q = l ? myth_ignore_find(l, path + f->n_base, n_path - f->n_base, is_dir) : NULL;
            if (q)
                return (myth_ignore_answer){l, q, (myth_rung)r};
        }
    return (myth_ignore_answer){0};
}

int myth_ignore_generated(const myth_ignore_frame *frame, const char *path, size_t n_path)
{
    for (const myth_ignore_frame *f = frame; f; f = f->parent) {
        const myth_ignore_pattern *q =
            f->attributes ? myth_ignore_find(f->attributes, path + f->n_base, n_path - f->n_base, false) : NULL;
        if (q)
            return q->attribute;
    }
    return 0;
}
