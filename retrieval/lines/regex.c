/* regex.c - see regex.h. pattern.h makes the literal and the pattern that is safe in a buffer.
 *
 * Codes     `line` and `buffer` are for ASCII. They are made of bytes where that gives the same as UTF, because such
 *           code is smaller: where the pattern is ASCII itself and needs no code point above 255. `utf` is for lines of
 *           valid UTF-8 that are not ASCII, `torn` for lines that are not valid: nothing in the pattern matches a
 *           byte that is part of no character. A pattern that is not valid UTF-8 is one of bytes, for all lines
 * Errors    are reported for the pattern as it was given */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"
#include "class_sets.h"
#include "dialect.h"
#include "find.h"
#include "pattern.h"

#include "engine/base/utf8.h"

#include <pcre2.h>
#include <string.h>

enum { MATCH_LIMIT = 10000000, STACK_BYTES = 8 << 20 };

struct myth_regex {
    myth_mem *mem;
    pcre2_code *line, *buffer; /* buffer NULL: search line by line */
    pcre2_code *utf, *torn;    /* NULL: all lines are bytes */
    unsigned char literal[MYTH_PATTERN_LITERAL_MAX];
    myth_find find; /* n 0 = no literal              */
    bool is_literal_for_all;
};

struct myth_regex_run {
    const myth_regex *r;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    const unsigned char *ascii_end; /* the lines from where the search is up to here are ASCII */
};

/* ---- compiling ---- */

/* What is compiled, and how. */
typedef struct {
    const unsigned char *text, *given; /* given: the expression as it was typed, from which the text was made */
    size_t n, n_given;
    uint32_t options;
    bool is_word;
    myth_mem *mem;
} source;

static myth_status compile(pcre2_code **out, const char *before, const source *s, const char *after, uint32_t options,
                           myth_error *err)
{
    int code;
    PCRE2_SIZE at;
    size_t n_before = strlen(before), n_after = strlen(after);
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    unsigned char *text = myth_alloc(s->mem, MYTH_MEM_OTHER, "regex", n_before + s->n + n_after + 1);
    myth_status st = MYTH_OK;
    if (!context || !text) {
        st = myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %zu bytes", s->n);
        goto done;
    }
    memcpy(text, before, n_before);
    memcpy(text + n_before, s->text, s->n);
    memcpy(text + n_before + s->n, after, n_after);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    *out = pcre2_compile(text, n_before + s->n + n_after, options, &code, &at, context);
    if (!*out) {
        PCRE2_UCHAR why[120];
        pcre2_get_error_message(code, why, sizeof(why));
        st = myth_fail(err, MYTH_EARG, "pattern: byte %zu: %s",
                       myth_dialect_back(s->given, s->n_given, (size_t)at > n_before ? (size_t)at - n_before : 0),
                       (char *)why);
        goto done;
    }
    pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE); /* without JIT, pcre2_match interprets the pattern */
done:
    pcre2_compile_context_free(context);
    myth_free(s->mem, text);
    return st;
}

/* Whether s is valid UTF-8; *is_ascii too. */
static bool is_utf8(const unsigned char *s, size_t n, bool *is_ascii)
{
    const size_t n_ascii = (size_t)(myth_find_high(s, s + n) - s);
    *is_ascii = n_ascii == n;
    return myth_utf8_is_valid(s + n_ascii, n - n_ascii);
}

static myth_status compile_bytes(pcre2_code **out, const source *s, uint32_t more, myth_error *err)
{
    return compile(out, s->is_word ? "(?<!\\w)(?:" : "", s, s->is_word ? ")(?!\\w)" : "",
                   s->options | more | PCRE2_NEVER_UTF, err);
}

/* A whole word has a character that is not of a word, or the line's border, on both sides. A byte that is part of no
 * character is neither, as in ripgrep. */
static myth_status compile_utf(pcre2_code **out, const source *s, uint32_t more, myth_error *err)
{
    static const char before[] = "(?:^|(?<=[^" MYTH_PATTERN_WORD "]))(?:",
                      after[] = ")(?:$|(?=[^" MYTH_PATTERN_WORD "]))";
    return compile(out, s->is_word ? before : "", s, s->is_word ? after : "", s->options | more | PCRE2_UTF | PCRE2_UCP,
                   err);
}

/* The codes for lines that are not ASCII. `text` is that of pattern.h, or NULL. */
static myth_status open_utf(myth_regex *r, const source *s, const myth_pattern *p, bool is_bytes, myth_error *err)
{
    source line = *s;
    if (p->text) {
        line.text = p->text;
        line.n = p->n_text;
    }
    myth_status st = compile_utf(&r->utf, &line, PCRE2_DOLLAR_ENDONLY, err);
    if (st == MYTH_OK)
        st = compile_utf(&r->torn, &line, PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_INVALID_UTF, err);
    if (st == MYTH_EARG && is_bytes) { /* it has parts that are bytes: \C */
        pcre2_code_free(r->utf);
        r->utf = NULL;
        st = MYTH_OK;
    }
    return st;
}

static myth_status open_codes(myth_regex *r, const source *s, myth_error *err)
{
    const bool ignores = (s->options & PCRE2_CASELESS) != 0;
    myth_pattern bytes = {0}, utf = {0};
    bool is_ascii, is_valid = is_utf8(s->text, s->n, &is_ascii), is_bytes = true;
    myth_status st = MYTH_EARG;
    if (is_ascii || !is_valid)
        st = compile_bytes(&r->line, s, PCRE2_DOLLAR_ENDONLY, err);
    if (st == MYTH_EARG && is_valid) {
        is_bytes = false;
        st = compile_utf(&r->line, s, PCRE2_DOLLAR_ENDONLY, err);
    }
    if (st != MYTH_OK)
        return st;
    if ((is_valid && !myth_pattern_read(&utf, r->mem, s->text, s->n, true, ignores)) ||
        (is_bytes && !myth_pattern_read(&bytes, r->mem, s->text, s->n, false, ignores)))
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %zu bytes", s->n));
    if (is_valid)
        MYTH_TRY(open_utf(r, s, &utf, is_bytes, err));
    const myth_pattern *p = is_bytes ? &bytes : &utf;
    if (p->n_literal) {
        memcpy(r->literal, p->literal, p->n_literal);
        myth_find_open(&r->find, r->literal, p->n_literal, ignores);
        r->is_literal_for_all = p->is_literal_for_all;
    } else if (p->text) {
        source buffer = *s;
        buffer.text = p->text;
        buffer.n = p->n_text;
        /* Without it the search goes line by line. */
        (is_bytes ? compile_bytes : compile_utf)(&r->buffer, &buffer, PCRE2_MULTILINE, NULL);
    }
fail:
    myth_free(r->mem, bytes.text);
    myth_free(r->mem, utf.text);
    return st;
}

myth_status myth_regex_open(myth_regex **out, myth_mem *mem, const unsigned char *pattern, size_t n, bool ignore_case,
                            bool is_word, myth_error *err)
{
    if (memchr(pattern, '\n', n))
        return myth_fail(err, MYTH_EARG, "pattern: a line break never matches within a line; search for its parts");
    if (myth_class_sets_check(pattern, n, err) != MYTH_OK)
        return MYTH_EARG;
    myth_regex *r = myth_alloc(mem, MYTH_MEM_OTHER, "regex", sizeof(*r));
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "no room for a pattern");
    r->mem = mem;
    myth_dialect d;
    if (!myth_dialect_read(&d, mem, pattern, n)) {
        myth_regex_close(r);
        return myth_fail(err, MYTH_ENOMEM, "no room for a pattern of %zu bytes", n);
    }
    const source s = {
        .text = d.text,
        .n = d.n_text,
        .given = pattern,
        .n_given = n,
        .options = ignore_case ? PCRE2_CASELESS : 0,
        .is_word = is_word,
        .mem = mem,
    };
    const myth_status st = open_codes(r, &s, err);
    myth_free(mem, d.text);
    if (st == MYTH_OK)
        *out = r;
    else
        myth_regex_close(r);
    return st;
}

void myth_regex_close(myth_regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->line);
    pcre2_code_free(r->buffer);
    pcre2_code_free(r->utf);
    pcre2_code_free(r->torn);
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
    const uint32_t options = code == run->r->torn ? 0 : PCRE2_NO_UTF_CHECK;
    int rc = pcre2_match(code, s, n, 0, options, run->data, run->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(code, s, n, 0, options | PCRE2_NO_JIT, run->data, run->context);
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

bool myth_regex_line(myth_regex_run *run, const unsigned char *line, size_t n, size_t *at, size_t *n_at,
                     myth_status *st)
{
    const myth_regex *r = run->r;
    const pcre2_code *code = r->line;
    bool is_ascii;
    *st = MYTH_OK;
    if (r->utf) {
        const bool is_valid = is_utf8(line, n, &is_ascii);
        code = is_ascii ? r->line : is_valid ? r->utf : r->torn;
    }
    return match(run, code, line, n, at, n_at, st);
}

static const unsigned char *line_begin(const unsigned char *from, const unsigned char *p)
{
    while (p > from && p[-1] != '\n')
        p--;
    return p;
}

void myth_regex_begin(myth_regex_run *run) { run->ascii_end = NULL; }

/* The end of the whole lines of ASCII that begin at s; s where its line has another byte. */
static const unsigned char *ascii_end(myth_regex_run *run, const unsigned char *s, const unsigned char *end)
{
    if (run->ascii_end <= s) {
        const unsigned char *high = myth_find_high(s, end);
        run->ascii_end = high < end ? line_begin(s, high) : end;
    }
    return run->ascii_end;
}

bool myth_regex_next(myth_regex_run *run, const unsigned char **p, const unsigned char *end, const unsigned char **line,
                     size_t *n_line, size_t *at, size_t *n_at, myth_status *st)
{
    const myth_regex *r = run->r;
    const unsigned char *s = *p;
    const pcre2_code *buffer = r->buffer;
    *st = MYTH_OK;
    while (s < end) {
        const unsigned char *first = s, *last, *stop = end;
        bool is_found = false;
        if (r->utf && (buffer || r->find.n) && !r->is_literal_for_all)
            stop = ascii_end(run, s, end);
        if (stop > s && r->find.n) {
            const unsigned char *found = myth_find_next(&r->find, s, stop);
            if (!found) {
                s = stop;
                continue;
            }
            first = line_begin(s, found);
        } else if (stop > s && buffer) {
            is_found = match(run, buffer, s, (size_t)(stop - s), at, n_at, st);
            if (*st != MYTH_OK) {
                buffer = NULL; /* the limit was exceeded in the buffer; single lines may still be within it */
                *st = MYTH_OK;
                continue;
            }
            const unsigned char *found = is_found ? s + *at : stop;
            if (!is_found || (found == stop && stop[-1] == '\n')) { /* or an empty match after the last line */
                s = stop;
                continue;
            }
            first = line_begin(s, found);
            *at = (size_t)(found - first);
        }
        last = myth_line_end(first, end);
        if (is_found || myth_regex_line(run, first, (size_t)(last - first), at, n_at, st)) {
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
