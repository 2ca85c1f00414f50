/* json_schema_digits.c - numbers of one length are parted by their first digit: those of lo's, which must be at least
 * lo behind it, those of hi's, and all others. */
#include "json_schema_digits.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 24 };

typedef struct {
    char *s;
    size_t n;
} writer;

static void putf(writer *w, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void putf(writer *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(w->s + w->n, MYTH_DIGITS_TEXT - w->n, fmt, args);
    va_end(args);
    w->n += n > 0 && (size_t)n < MYTH_DIGITS_TEXT - w->n ? (size_t)n : 0;
}

static bool are_all(const char *s, char c) { return strspn(s, c == '0' ? "0" : "9") == strlen(s); }

/* A digit from a to b, and n digits of any kind. */
static void put_digit(writer *w, char a, char b, size_t n)
{
    if (a == b)
        putf(w, "\"%c\"", a);
    else
        putf(w, "[%c-%c]", a, b);
    if (n)
        putf(w, " [0-9]{%zu}", n);
}

/* Numbers of as many digits as s that are at least s, or at most. */
static void put_side(writer *w, const char *s, bool is_least)
{
    const char d = s[0], end = is_least ? '9' : '0';
    const size_t n = strlen(s + 1);
    if (are_all(s + 1, is_least ? '0' : '9')) {
        put_digit(w, is_least ? d : end, is_least ? end : d, n);
        return;
    }
    putf(w, "(\"%c\" ", d);
    put_side(w, s + 1, is_least);
    if (d != end) {
        putf(w, " | ");
        put_digit(w, is_least ? (char)(d + 1) : end, is_least ? end : (char)(d - 1), n);
    }
    putf(w, ")");
}

/* Numbers from lo to hi, which have as many digits. */
static void put_same(writer *w, const char *lo, const char *hi)
{
    size_t i = 0;
    while (lo[i] && lo[i] == hi[i])
        i++;
    if (i)
        putf(w, "\"%.*s\" ", (int)i, lo);
    if (!lo[i])
        return;
    const bool has_low = !are_all(lo + i + 1, '0'), has_high = !are_all(hi + i + 1, '9');
    const char a = (char)(lo[i] + has_low), b = (char)(hi[i] - has_high);
    putf(w, "(");
    if (has_low) {
        putf(w, "\"%c\" ", lo[i]);
        put_side(w, lo + i + 1, true);
    }
    if (a <= b) {
        putf(w, has_low ? " | " : "");
        put_digit(w, a, b, strlen(lo + i + 1));
    }
    if (has_high) {
        putf(w, has_low || a <= b ? " | \"%c\" " : "\"%c\" ", hi[i]);
        put_side(w, hi + i + 1, false);
    }
    putf(w, ")");
}

/* 0 <= lo <= hi. */
static void put_between(writer *w, int64_t lo, int64_t hi)
{
    char low[DIGITS], high[DIGITS], edge[DIGITS];
    const int n_low = snprintf(low, sizeof(low), "%" PRId64, lo), n_high = snprintf(high, sizeof(high), "%" PRId64, hi);
    if (n_low == n_high) {
        put_same(w, low, high);
        return;
    }
    memset(edge, '9', sizeof(edge));
    edge[n_low] = '\0';
    put_same(w, low, edge);
    if (n_high - n_low > 1)
        putf(w, " | [1-9] [0-9]{%d,%d}", n_low, n_high - 2);
    memset(edge, '0', sizeof(edge));
    edge[0] = '1';
    edge[n_high] = '\0';
    putf(w, " | ");
    put_same(w, edge, high);
}

void myth_digits_between(char dst[MYTH_DIGITS_TEXT], int64_t lo, int64_t hi)
{
    writer w = {dst, 0};
    dst[0] = '\0';
    if (lo < 0) {
        putf(&w, "\"-\" (");
        put_between(&w, hi < 0 ? -hi : 1, -lo);
        putf(&w, ")");
    }
    if (lo < 0 && hi >= 0)
        putf(&w, " | ");
    if (hi >= 0)
        put_between(&w, lo > 0 ? lo : 0, hi);
}

/* ---- decimals ---- */

bool myth_decimal_of(myth_decimal *out, double v, bool is_open)
{
    const double size = fabs(v);
    char text[40];
    *out = (myth_decimal){.is_negative = v < 0, .is_open = is_open};
    if (!(size < 1e15))
        return false;
    for (int n = 0; n <= MYTH_DECIMAL_DIGITS; n++) {
        snprintf(text, sizeof(text), "%.*f", n, size);
        if (strtod(text, NULL) != size)
            continue;
        const char *point = strchr(text, '.');
        out->whole = strtoll(text, NULL, 10);
        snprintf(out->fraction, sizeof(out->fraction), "%.*s", MYTH_DECIMAL_DIGITS, point ? point + 1 : "");
        return n + (out->whole ? (int)strspn(text, "0123456789") : 0) <= MYTH_DECIMAL_DIGITS;
    }
    return false;
}

/* Digits of a fraction that are at least lo and at most hi (NULL = no bound), up to n of them; `must`: one or more.
 * False, and nothing is written: there are none. */
static bool put_fraction(writer *w, const char *lo, bool lo_open, const char *hi, bool hi_open, int n, bool must)
{
    const size_t begin = w->n;
    const char *const lo_next = *lo ? lo + 1 : lo, *const hi_next = hi && *hi ? hi + 1 : hi;
    const bool may_end = !must && !*lo && !lo_open && (!hi || *hi || !hi_open);
    const char a = *lo ? *lo : '0', b = hi ? (*hi ? *hi : '0') : '9' + 1;
    bool has_some = may_end;
    if (!hi && !*lo && !lo_open && n > must) {
        putf(w, "[0-9]{%d,%d}", (int)must, n);
        return true;
    }
    putf(w, may_end ? "(\"\"" : "(");
    if (n > 0) {
        const size_t before = w->n;
        putf(w, has_some ? " | \"%c\" " : "\"%c\" ", a);
        if (put_fraction(w, lo_next, lo_open, a == b ? hi_next : NULL, hi_open, n - 1, false))
            has_some = true;
        else
            w->n = before;
        if (a + 1 < b) {
            putf(w, has_some ? " | " : "");
            put_digit(w, (char)(a + 1), (char)(b - 1), 0);
            putf(w, " [0-9]{0,%d}", n - 1);
            has_some = true;
        }
        const size_t behind = w->n;
        if (hi && a < b) {
            putf(w, has_some ? " | \"%c\" " : "\"%c\" ", b);
            if (put_fraction(w, "", false, hi_next, hi_open, n - 1, false))
                has_some = true;
            else
                w->n = behind;
        }
    }
    if (!has_some) {
        w->n = begin;
        return false;
    }
    putf(w, ")");
    return true;
}

/* A whole number and a fraction between bounds, or none. */
static bool put_whole(writer *w, int64_t whole, const char *lo, bool lo_open, const char *hi, bool hi_open, int n)
{
    const size_t begin = w->n;
    const bool is_one = !*lo && !lo_open && (!hi || *hi || !hi_open); /* without a fraction, too */
    putf(w, is_one ? "\"%" PRId64 "\" (\".\" " : "\"%" PRId64 "\" \".\" ", whole);
    if (put_fraction(w, lo, lo_open, hi, hi_open, n, true)) {
        putf(w, is_one ? ")?" : "");
        return true;
    }
    w->n = begin;
    if (is_one)
        putf(w, "\"%" PRId64 "\"", whole);
    return is_one;
}

/* Digits behind the point of a number whose whole part is no greater. */
static int fraction_digits(int64_t whole)
{
    int n = MYTH_DECIMAL_DIGITS;
    for (; whole; whole /= 10)
        n--;
    return n > 0 ? n : 0;
}

/* Magnitudes; lo is always there. */
static bool put_sizes(writer *w, const myth_decimal *lo, const myth_decimal *hi)
{
    const int n = fraction_digits(hi ? hi->whole : lo->whole);
    if (hi && hi->whole < lo->whole)
        return false;
    if (hi && hi->whole == lo->whole)
        return put_whole(w, lo->whole, lo->fraction, lo->is_open, hi->fraction, hi->is_open, n);
    bool has_some = put_whole(w, lo->whole, lo->fraction, lo->is_open, NULL, false, n);
    if (!hi || hi->whole - lo->whole > 1) {
        const int n_free = hi ? n : MYTH_DECIMAL_DIGITS + 1;
        putf(w, has_some ? " | (" : "(");
        put_between(w, lo->whole + 1, hi ? hi->whole - 1 : MYTH_DIGITS_MOST);
        putf(w, n_free ? ") (\".\" [0-9]{1,%d})?" : ")", n_free);
        has_some = true;
    }
    if (hi) {
        const size_t before = w->n;
        putf(w, has_some ? " | " : "");
        if (put_whole(w, hi->whole, "", false, hi->fraction, hi->is_open, n))
            has_some = true;
        else
            w->n = before;
    }
    return has_some;
}

static bool is_zero(const myth_decimal *d) { return d->whole == 0 && !d->fraction[0]; }

bool myth_decimals_between(char dst[MYTH_DIGITS_TEXT], const myth_decimal *lo, const myth_decimal *hi)
{
    writer w = {dst, 0};
    bool has_some = false;
    if (!lo || lo->is_negative) {
        const myth_decimal zero = {.is_open = hi && is_zero(hi) && hi->is_open};
        putf(&w, "\"-\" (");
        has_some = put_sizes(&w, hi && hi->is_negative ? hi : &zero, lo);
        w.n = has_some ? w.n : 0;
        putf(&w, has_some ? ")" : "");
    }
    if (!hi || !hi->is_negative) {
        const myth_decimal zero = {.whole = 0};
        const size_t before = w.n;
        putf(&w, has_some ? " | " : "");
        if (put_sizes(&w, lo && !lo->is_negative ? lo : &zero, hi))
            has_some = true;
        else
            w.n = before;
    }
    dst[w.n] = '\0';
    return has_some;
}
