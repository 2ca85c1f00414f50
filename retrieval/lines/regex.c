/* regex.c - see regex.h.
 *
 * One walk over the pattern's text makes two things. It gives up either one where it meets syntax that it does not
 * know:
 *
 *   literal   the longest run of bytes outside of groups, alternatives and optional parts. Every match must contain it
 *   buffer    the pattern changed so that no part of it can match '\n': [^a] becomes [^a\n], \s becomes [^\S\n]. For
 *             such a pattern a '\n' in the buffer acts like the end of the subject in a line: nothing matches it,
 *             '^' and '$' match beside it, and it is not a word character. So it finds in the buffer what the
 *             original finds in the lines
 *
 * The original pattern is compiled first; errors are reported from it alone. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"
#include "find.h"

#include <pcre2.h>
#include <string.h>

enum { MATCH_LIMIT = 10000000, STACK_BYTES = 8 << 20, LITERAL_MAX = 200 };

struct myth_regex {
    myth_mem *mem;
    pcre2_code *line, *buffer; /* buffer NULL: search line by line */
    unsigned char literal[LITERAL_MAX];
    myth_find find; /* n 0 = no literal              */
};

struct myth_regex_run {
    const myth_regex *r;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

/* ---- the walk ---- */

typedef struct {
    const unsigned char *p, *end;
    unsigned char *out; /* output, at most six bytes for each byte of the pattern */
    size_t n_out;
    unsigned char run[LITERAL_MAX], best[LITERAL_MAX];
    size_t n_run, n_best;
    int depth; /* nesting of groups */
    bool has_buffer, has_literal;
} walk;

static void append_bytes(walk *w, const char *s, size_t n)
{
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

static void add_literal(walk *w, unsigned char c)
{
    if (w->depth > 0)
        return;
    if (w->n_run == LITERAL_MAX)
        end_run(w);
    w->run[w->n_run++] = c;
}

static void give_up(walk *w) { w->has_buffer = w->has_literal = false; }

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

/* Copies the class at w->p so that it cannot match '
 * '. */
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
        append_bytes(w, (const char *)from, n);
        put_text(w, "\\n]");
    } else if (may_take) {
        put_text(w, "(?:(?!\\n)");
        append_bytes(w, (const char *)from, n);
        put_text(w, "])");
    } else {
        append_bytes(w, (const char *)from, n + 1);
    }
    end_run(w);
    w->p = p + 1;
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
        append_bytes(w, (const char *)p, 2);
        add_literal(w, c);
        return;
    }
    end_run(w);
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
    while (w->p < w->end && (w->has_buffer || w->has_literal)) {
        const unsigned char *p = w->p;
        size_t n = quantifier_at(p, w->end, &may_be_none);
        if (n) {
            if (may_be_none && w->n_run)
                w->n_run--; /* the byte that the quantifier repeats */
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
            append_bytes(w, (const char *)p, 1);
            add_literal(w, *p);
            w->p++;
        }
    }
    end_run(w);
}

/* ---- compiling ---- */

static myth_status compile(pcre2_code **out, const char *before, const unsigned char *pattern, size_t n,
                           const char *after, uint32_t options, myth_mem *mem, myth_error *err)
{
    int code;
    PCRE2_SIZE at;
    size_t n_before = strlen(before), n_after = strlen(after);
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    unsigned char *text = myth_alloc(mem, MYTH_MEM_OTHER, "regex", n_before + n + n_after + 1);
    myth_status st = MYTH_OK;
    if (!context || !text) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %zu bytes", n);
        goto done;
    }
    memcpy(text, before, n_before);
    memcpy(text + n_before, pattern, n);
    memcpy(text + n_before + n, after, n_after);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    *out = pcre2_compile(text, n_before + n + n_after, options, &code, &at, context);
    if (!*out) {
        PCRE2_UCHAR why[120];
        pcre2_get_error_message(code, why, sizeof(why));
        st = myth_fail(err, MYTH_EARG, "pattern: byte %zu: %s", (size_t)at > n_before ? (size_t)at - n_before : 0,
                       (char *)why);
        goto done;
    }
    pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE); /* without JIT, pcre2_match interprets the pattern */
done:
    pcre2_compile_context_free(context);
    myth_free(mem, text);
    return st;
}

myth_status myth_regex_open(myth_regex **out, myth_mem *mem, const unsigned char *pattern, size_t n, bool ignore_case,
                            bool is_word, myth_error *err)
{
    const char *before = is_word ? "(?<!\\w)(?:" : "", *after = is_word ? ")(?!\\w)" : "";
    uint32_t options = ignore_case ? PCRE2_CASELESS : 0;
    myth_status st = MYTH_OK;
    walk *w = NULL;
    if (memchr(pattern, '\n', n))
        return myth_fail(err, MYTH_EARG, "pattern: a line break never matches within a line; search for its parts");
    myth_regex *r = myth_alloc(mem, MYTH_MEM_OTHER, "regex", sizeof(*r));
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no room for a pattern");
    r->mem = mem;
    MYTH_TRY(compile(&r->line, before, pattern, n, after, options | PCRE2_DOLLAR_ENDONLY, mem, err));
    w = myth_alloc(mem, MYTH_MEM_OTHER, "regex", sizeof(*w));
    unsigned char *text = myth_alloc_n(mem, MYTH_MEM_OTHER, "regex", n + 4, 16);
    if (!w || !text) {
        myth_free(mem, text);
        st = myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %zu bytes", n);
        goto fail;
    }
    *w = (walk){.p = pattern, .end = pattern + n, .out = text, .has_buffer = true, .has_literal = true};
    walk_pattern(w);
    if (w->has_literal && w->n_best) {
        for (size_t i = 0; i < w->n_best; i++)
            r->literal[i] = ignore_case ? myth_lower(w->best[i]) : w->best[i];
        myth_find_open(&r->find, r->literal, w->n_best, ignore_case);
    } else if (w->has_buffer) {
        compile(&r->buffer, before, text, w->n_out, after, options | PCRE2_MULTILINE, mem,
                NULL); /* without it the search goes line by line */
    }
    myth_free(mem, text);
    myth_free(mem, w);
    *out = r;
    return MYTH_OK;
fail:
    myth_free(mem, w);
    myth_regex_close(r);
    return st;
}

void myth_regex_close(myth_regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->line);
    pcre2_code_free(r->buffer);
    myth_free(r->mem, r);
}

const char *myth_regex_way(const myth_regex *r) { return r->find.n ? "literal" : r->buffer ? "buffer" : "lines"; }

myth_status myth_regex_run_open(myth_regex_run **out, const myth_regex *r, myth_error *err)
{
    myth_regex_run *run = myth_alloc(r->mem, MYTH_MEM_OTHER, "regex", sizeof(*run));
    if (!run)
        goto no_room;
    run->r = r;
    run->data = pcre2_match_data_create(1, NULL);
    run->context = pcre2_match_context_create(NULL);
    run->stack = pcre2_jit_stack_create(32 << 10, STACK_BYTES, NULL);
    if (!run->data || !run->context || !run->stack)
        goto no_room;
    pcre2_set_match_limit(run->context, MATCH_LIMIT);
    pcre2_jit_stack_assign(run->context, NULL, run->stack);
    *out = run;
    return MYTH_OK;
no_room:
    myth_regex_run_close(run);
    return myth_fail(err, MYTH_ENOMEM, "no room for matching");
}

void myth_regex_run_close(myth_regex_run *run)
{
    if (!run)
        return;
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->context);
    pcre2_jit_stack_free(run->stack);
    myth_free(run->r->mem, run);
}

/* ---- matching ---- */

static bool match(myth_regex_run *run, const pcre2_code *code, const unsigned char *s, size_t n, size_t *at,
                  size_t *n_at, myth_status *st)
{
    int rc = pcre2_match(code, s, n, 0, PCRE2_NO_UTF_CHECK, run->data, run->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(code, s, n, 0, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, run->data, run->context);
    if (rc == PCRE2_ERROR_NOMATCH)
        return false;
    if (rc < 0) {
        *st = rc == PCRE2_ERROR_NOMEMORY ? MYTH_ENOMEM : MYTH_ELIMIT;
        return false;
    }
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(run->data);
    *at = v[0];
    *n_at = v[1] > v[0] ? v[1] - v[0] : 0; /* \K may put the start after the end */
    return true;
}

static const unsigned char *line_end(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *nl = memchr(p, '\n', (size_t)(end - p));
    return nl ? nl : end;
}

static const unsigned char *line_begin(const unsigned char *from, const unsigned char *p)
{
    while (p > from && p[-1] != '\n')
        p--;
    return p;
}

bool myth_regex_next(myth_regex_run *run, const unsigned char **p, const unsigned char *end, const unsigned char **line,
                     size_t *n_line, size_t *at, size_t *n_at, myth_status *st)
{
    const myth_regex *r = run->r;
    const unsigned char *s = *p;
    const pcre2_code *buffer = r->buffer;
    *st = MYTH_OK;
    while (s < end) {
        const unsigned char *first = s, *last;
        if (r->find.n) {
            const unsigned char *found = myth_find_next(&r->find, s, end);
            if (!found)
                return false;
            first = line_begin(s, found);
        } else if (buffer) {
            if (!match(run, buffer, s, (size_t)(end - s), at, n_at, st)) {
                if (*st == MYTH_OK)
                    return false;
                buffer = NULL; /* the limit was exceeded in the buffer; single lines may still be within it */
                *st = MYTH_OK;
                continue;
            }
            const unsigned char *found = s + *at;
            if (found == end && end[-1] == '\n')
                return false; /* an empty match after the last line */
            first = line_begin(s, found);
            *at = (size_t)(found - first);
        }
        last = line_end(first, end);
        if (buffer || match(run, r->line, first, (size_t)(last - first), at, n_at, st)) {
            *line = first;
            *n_line = (size_t)(last - first);
            *p = last < end ? last + 1 : end;
            return true;
        }
        if (*st != MYTH_OK)
            return false;
        s = last < end ? last + 1 : end;
    }
    return false;
}
