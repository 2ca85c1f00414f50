/* json_schema_digits.c - numbers of one length are parted by their first digit: those of lo's, which must be at least
 * lo behind it, those of hi's, and all others. */
#include "json_schema_digits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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
