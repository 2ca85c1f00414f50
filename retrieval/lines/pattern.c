/* pattern.c - see pattern.h. One walk over the pattern, which copies it part by part. */
#include "pattern.h"
#include "find.h"

#include "engine/base/array.h"
#include "engine/base/utf8.h"

#include <string.h>

#define WORD MYTH_PATTERN_WORD

enum { LITERAL_MAX = MYTH_PATTERN_LITERAL_MAX };

typedef struct {
    const unsigned char *p, *end;
    myth_mem *mem;
    unsigned char *out;
    size_t n_out, cap_out;
    unsigned char run[LITERAL_MAX], best[LITERAL_MAX];
    size_t n_run, n_best, n_last; /* n_last: bytes of the last character in the run */
    int depth;                    /* nesting of groups */
    bool is_utf, ignore_case, has_text, has_literal, has_failed;
} walk;

static void append_bytes(walk *w, const char *s, size_t n)
{
    if (w->has_failed || !MYTH_ARRAY_MORE(w->mem, MYTH_MEM_OTHER, "regex", &w->out, w->n_out, n, &w->cap_out)) {
        w->has_failed = true;
        return;
    }
    memcpy(w->out + w->n_out, s, n);
    w->n_out += n;
}
static void put_text(walk *w, const char *s) { append_bytes(w, s, strlen(s)); }

/* Keeps the better literal: the longer one. Of single bytes it keeps the rarer, and only one that most lines do not
 * have. */
static void end_run(walk *w)
{
    const unsigned few = 20;
    bool is_better = w->n_run > w->n_best;
    if (w->n_run == 1)
        is_better = w->n_best <= 1 && myth_find_rank(w->run[0]) >= few &&
                    (w->n_best == 0 || myth_find_rank(w->run[0]) > myth_find_rank(w->best[0]));
    if (is_better) {
        memcpy(w->best, w->run, w->n_run);
        w->n_best = w->n_run;
    }
    w->n_run = 0;
}

/* One character of n bytes. When case is ignored, only ASCII letters are compared without it. */
static void add_literal(walk *w, const unsigned char *c, size_t n)
{
    if (w->depth > 0)
        return;
    if (w->n_run + n > LITERAL_MAX || (w->ignore_case && *c >= 0x80))
        end_run(w);
    if (w->ignore_case && *c >= 0x80)
        return;
    memcpy(w->run + w->n_run, c, n);
    w->n_run += n;
    w->n_last = n;
}

static void give_up(walk *w) { w->has_text = w->has_literal = false; }

static bool is_alnum(unsigned char c) { return myth_is_word(c) && c != '_'; }
static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/* Length of a quantifier at p, 0 = none; *may_be_none: it allows zero repetitions. */
static size_t quantifier_at(const unsigned char *p, const unsigned char *end, bool *may_be_none)
{
    size_t n = 1;
    if (p == end)
        return 0;
    *may_be_none = *p == '*' || *p == '?';
    if (*p == '{') {
        const unsigned char *q = p + 1;
        while (q < end && is_digit(*q))
            q++;
        if (q == p + 1)
            return 0;
        for (const unsigned char *d = p + 1; d < q; d++)
            if (*d != '0')
                goto some;
        *may_be_none = true;
    some:
        if (q < end && *q == ',')
            for (q++; q < end && is_digit(*q);)
                q++;
        if (q == end || *q != '}')
            return 0;
        n = (size_t)(q - p) + 1;
    } else if (*p != '*' && *p != '?' && *p != '+') {
        return 0;
    }
    if (p + n < end && (p[n] == '?' || p[n] == '+'))
        n++;
    return n;
}

/* Copies a part of a class. */
static void append_class(walk *w, const unsigned char *p, size_t n)
{
    const unsigned char *end = p + n;
    for (size_t k; p < end; p += k) {
        k = *p == '\\' && p + 1 < end ? 2 : 1;
        if (w->is_utf && k == 2 && p[1] == 'w')
            put_text(w, WORD);
        else
            append_bytes(w, (const char *)p, k);
    }
}

/* Copies the class at w->p so that it cannot match '\n'. */
static void walk_class(walk *w)
{
    const unsigned char *p = w->p + 1, *from = w->p;
    bool is_negated = p < w->end && *p == '^', may_take = false;
    p += is_negated;
    for (bool is_first = true;; is_first = false) {
        if (p >= w->end) {
            give_up(w);
            w->p = w->end;
            return;
        }
        if (*p == ']' && !is_first)
            break;
        if (*p == '[' && p + 1 < w->end && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
            const unsigned char *q = p + 2;
            while (q + 1 < w->end && !(q[0] == p[1] && q[1] == ']') && (myth_is_word(*q) || *q == '^'))
                q++;
            if (q + 1 < w->end && q[0] == p[1] && q[1] == ']') {
                may_take = true; /* some named classes match it */
                p = q + 2;
                continue;
            }
        }
        if (*p == '\\') {
            if (p + 1 >= w->end || p[1] == 'Q' || p[1] == 'E' || p[1] == 'c' || p[1] == 'x' || p[1] == 'o' ||
                p[1] == 'p' || p[1] == 'P' || p[1] == 'N') {
                give_up(w);
                w->p = w->end;
                return;
            }
            may_take |= is_alnum(p[1]) && p[1] != 'd' && p[1] != 'w' && p[1] != 'h';
            p += 2;
            continue;
        }
        may_take |= *p < 0x20 || (*p == '-' && p > from && p[-1] < 0x20);
        p++;
    }
    size_t n = (size_t)(p - from);
    if (is_negated) {
        append_class(w, from, n);
        put_text(w, "\\n]");
    } else if (may_take) {
        put_text(w, "(?:(?!\\n)");
        append_class(w, from, n);
        put_text(w, "])");
    } else {
        append_class(w, from, n + 1);
    }
    end_run(w);
    w->p = p + 1;
}

/* Bytes of the character at p. */
static size_t char_at(const walk *w, const unsigned char *p)
{
    uint32_t code;
    const int n = w->is_utf ? myth_utf8_decode(p, (size_t)(w->end - p), &code) : 1;
    return n > 0 ? (size_t)n : 1;
}

static bool put_word_escape(walk *w, unsigned char c)
{
    switch (c) {
    case 'w': put_text(w, "[" WORD "]"); return true;
    case 'W': put_text(w, "[^\\n" WORD "]"); return true;
    case 'b': put_text(w, "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))"); return true;
    case 'B': put_text(w, "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))"); return true;
    default: return false;
    }
}

static void walk_escape(walk *w)
{
    const unsigned char *p = w->p;
    if (p + 1 >= w->end) {
        give_up(w);
        w->p = w->end;
        return;
    }
    unsigned char c = p[1];
    w->p += 2;
    if (!is_alnum(c)) {
        const size_t n = char_at(w, p + 1);
        w->p = p + 1 + n;
        append_bytes(w, (const char *)p, 1 + n);
        add_literal(w, p + 1, n);
        return;
    }
    end_run(w);
    if (w->is_utf && put_word_escape(w, c))
        return;
    switch (c) {
    case 's': put_text(w, "[^\\S\\n]"); break;
    case 'D': put_text(w, "[^\\d\\n]"); break;
    case 'W': put_text(w, "[^\\w\\n]"); break;
    case 'H': put_text(w, "[^\\h\\n]"); break;
    case 'd':
    case 'w':
    case 'h':
    case 'S':
    case 'b':
    case 'B':
    case 't':
    case 'r':
    case 'f':
    case 'e':
    case 'a': append_bytes(w, (const char *)p, 2); break;
    default:
        if (c >= '1' && c <= '9' && (w->p == w->end || !is_digit(*w->p)))
            append_bytes(w, (const char *)p, 2);
        else
            give_up(w); /* \n, \z, \Q, \x0a, \012, \K, \R ... */
    }
}

static void walk_group(walk *w)
{
    static const char *const plain[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    const unsigned char *p = w->p;
    size_t left = (size_t)(w->end - p), n = 1;
    if (left > 1 && p[1] == '*') {
        give_up(w);
    } else if (left > 1 && p[1] == '?') {
        n = 0;
        for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
            if (left >= strlen(plain[i]) && memcmp(p, plain[i], strlen(plain[i])) == 0)
                n = strlen(plain[i]);
        size_t at = left > 2 && p[2] == 'P' ? 3 : 2;
        if (n == 0 && left > at + 1 && p[at] == '<' && (is_alnum(p[at + 1]) || p[at + 1] == '_')) {
            const unsigned char *q = memchr(p, '>', left);
            n = q ? (size_t)(q - p) + 1 : 0;
        }
        if (n == 0) {
            give_up(w); /* options, comments, recursion, conditions */
            n = 1;
        }
    }
    end_run(w);
    append_bytes(w, (const char *)p, n);
    w->depth++;
    w->p += n;
}

static void walk_pattern(walk *w)
{
    bool may_be_none = false, ignored;
    while (w->p < w->end && (w->has_text || w->has_literal)) {
        const unsigned char *p = w->p;
        size_t n = quantifier_at(p, w->end, &may_be_none);
        if (n) {
            if (may_be_none && w->n_run)
                w->n_run -= w->n_last; /* the character that the quantifier repeats */
            end_run(w);
            append_bytes(w, (const char *)p, n);
            w->p += n;
            if (quantifier_at(w->p, w->end, &ignored))
                give_up(w);
            continue;
        }
        switch (*p) {
        case '\\': walk_escape(w); break;
        case '[': walk_class(w); break;
        case '(': walk_group(w); break;
        case ')':
            if (--w->depth < 0)
                give_up(w); /* it closes the group that -w puts around the pattern */
            end_run(w);
            put_text(w, ")");
            w->p++;
            break;
        case '|':
            if (w->depth == 0)
                w->has_literal = false;
            /* fall through */
        case '^':
        case '$':
        case '.':
            end_run(w);
            append_bytes(w, (const char *)p, 1);
            w->p++;
            break;
        default:
            n = char_at(w, p);
            append_bytes(w, (const char *)p, n);
            add_literal(w, p, n);
            w->p += n;
        }
    }
    end_run(w);
}

bool myth_pattern_read(myth_pattern *out, myth_mem *mem, const unsigned char *pattern, size_t n, bool is_utf,
                       bool ignore_case)
{
    walk *w = myth_alloc(mem, MYTH_MEM_OTHER, "regex", sizeof(*w));
    *out = (myth_pattern){0};
    if (!w)
        return false;
    *w = (walk){
        .p = pattern,
        .end = pattern + n,
        .mem = mem,
        .is_utf = is_utf,
        .ignore_case = ignore_case,
        .has_text = true,
        .has_literal = true,
    };
    walk_pattern(w);
    /* An empty pattern has a text too. */
    const bool ok =
        !w->has_failed && (w->out || MYTH_ARRAY_ROOM(mem, MYTH_MEM_OTHER, "regex", &w->out, 0, &w->cap_out));
    if (ok && w->has_literal) {
        out->is_literal_for_all = true;
        for (size_t i = 0; i < w->n_best; i++) {
            const unsigned char c = ignore_case ? myth_lower(w->best[i]) : w->best[i];
            out->literal[i] = c;
            out->is_literal_for_all &= !ignore_case || (c != 'k' && c != 's');
        }
        out->n_literal = w->n_best;
    }
    if (ok && w->has_text) {
        out->text = w->out;
        out->n_text = w->n_out;
    } else {
        myth_free(mem, w->out);
    }
    myth_free(mem, w);
    return ok;
}
