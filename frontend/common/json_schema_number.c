/* json_schema_number.c - numbers of a schema: bounds, and all whole numbers but some. */
#include "json_schema_digits.h"
#include "json_schema_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef myth_schema_writer writer;
typedef myth_schema_part part;

enum { OTHER_NUMBERS = 256 };

/* ---- whole numbers ---- */

/* A bound of an integer, rounded to the whole number inside it; outside of what is written it is none. */
static myth_status get_bound(const writer *w, const part *p, const char *key, bool is_low, bool is_open, int64_t *out)
{
    const json_t *v = json_object_get(p->schema, key);
    const int64_t most = MYTH_DIGITS_MOST + 1;
    int64_t n;
    if (!v)
        return MYTH_OK;
    if (!json_is_number(v))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"%.18s\": expected a number", key);
    if (json_is_integer(v)) {
        n = json_integer_value(v);
        n = n > most ? most : n < -most ? -most : n;
    } else {
        const double x = json_real_value(v), inner = is_low ? ceil(x) : floor(x);
        n = inner >= (double)most ? most : inner <= -(double)most ? -most : (int64_t)inner;
        is_open &= inner == x;
    }
    n += !is_open ? 0 : is_low ? 1 : -1;
    if (is_low ? n > *out : n < *out)
        *out = n;
    return MYTH_OK;
}

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The whole numbers of the list, sorted. */
static myth_status get_others(const writer *w, const part *p, int64_t out[OTHER_NUMBERS], size_t *n)
{
    const json_t *list = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    *n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        const double x = json_number_value(v);
        if (!json_is_number(v) || fabs(x) > (double)MYTH_DIGITS_MOST || x != floor(x))
            continue;
        if (*n == OTHER_NUMBERS)
            return myth_schema_fail(w, p, MYTH_ELIMIT, "\"not\" of more than %d numbers", OTHER_NUMBERS);
        out[(*n)++] = json_is_integer(v) ? (int64_t)json_integer_value(v) : (int64_t)x;
    }
    if (*n)
        qsort(out, *n, sizeof(*out), by_size);
    return MYTH_OK;
}

myth_status myth_schema_put_integer(writer *w, const part *p)
{
    int64_t lo = -MYTH_DIGITS_MOST, hi = MYTH_DIGITS_MOST, other[OTHER_NUMBERS];
    char text[MYTH_DIGITS_TEXT];
    size_t n_other, n = 0;
    myth_status st;
    MYTH_TRY(get_bound(w, p, "minimum", true, false, &lo));
    MYTH_TRY(get_bound(w, p, "exclusiveMinimum", true, true, &lo));
    MYTH_TRY(get_bound(w, p, "maximum", false, false, &hi));
    MYTH_TRY(get_bound(w, p, "exclusiveMaximum", false, true, &hi));
    MYTH_TRY(get_others(w, p, other, &n_other));
    if (lo == -MYTH_DIGITS_MOST && hi == MYTH_DIGITS_MOST && n_other == 0) {
        myth_schema_put(w, "integer");
        return MYTH_OK;
    }
    myth_schema_put(w, "(");
    for (size_t i = 0; i <= n_other; i++) { /* what is before each, and behind the last */
        const int64_t to = i < n_other && other[i] <= hi ? other[i] - 1 : hi;
        if (lo <= to) {
            myth_digits_between(text, lo, to);
            myth_schema_put(w, n++ ? " | " : "");
            myth_schema_put(w, text);
        }
        if (i < n_other && other[i] >= lo)
            lo = other[i] + 1;
    }
    if (n == 0)
        return myth_schema_fail(w, p, MYTH_EFORMAT, "no integer of at most 16 digits is between the bounds");
    myth_schema_put(w, ") space");
fail:
    return st;
}

/* ---- numbers ---- */

static bool is_less(const myth_decimal *a, const myth_decimal *b)
{
    if (a->is_negative != b->is_negative)
        return a->is_negative;
    const int order = a->whole != b->whole ? (a->whole < b->whole ? -1 : 1) : strcmp(a->fraction, b->fraction);
    return a->is_negative ? order > 0 : order < 0;
}

/* A bound, which takes the place of *out where it leaves less. */
static myth_status get_decimal(const writer *w, const part *p, const char *key, bool is_low, bool is_open,
                               myth_decimal *out, bool *has)
{
    const json_t *v = json_object_get(p->schema, key);
    myth_decimal one;
    if (!v)
        return MYTH_OK;
    if (!json_is_number(v))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "\"%.18s\": expected a number", key);
    if (!myth_decimal_of(&one, json_number_value(v), is_open))
        return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                "\"%.18s\" of a number with more than %d digits is not supported", key,
                                MYTH_DECIMAL_DIGITS);
    if (!*has || (is_low ? is_less(out, &one) : is_less(&one, out)))
        *out = one;
    else if (!is_less(out, &one) && !is_less(&one, out))
        out->is_open |= is_open;
    *has = true;
    return MYTH_OK;
}

myth_status myth_schema_put_number(writer *w, const part *p)
{
    const json_t *others = json_object_get(p->schema, MYTH_SCHEMA_OTHERS);
    myth_decimal lo, hi;
    bool has_lo = false, has_hi = false;
    char text[MYTH_DIGITS_TEXT];
    myth_status st;
    for (size_t i = 0; i < json_array_size(others); i++)
        if (json_is_number(json_array_get(others, i)))
            return myth_schema_fail(w, p, MYTH_EUNSUPPORTED,
                                    "\"not\" of a number is not supported; of an integer it is");
    MYTH_TRY(get_decimal(w, p, "minimum", true, false, &lo, &has_lo));
    MYTH_TRY(get_decimal(w, p, "exclusiveMinimum", true, true, &lo, &has_lo));
    MYTH_TRY(get_decimal(w, p, "maximum", false, false, &hi, &has_hi));
    MYTH_TRY(get_decimal(w, p, "exclusiveMaximum", false, true, &hi, &has_hi));
    if (!has_lo && !has_hi) {
        myth_schema_put(w, "number");
        return MYTH_OK;
    }
    if ((has_lo && has_hi && is_less(&hi, &lo)) ||
        !myth_decimals_between(text, has_lo ? &lo : NULL, has_hi ? &hi : NULL))
        return myth_schema_fail(w, p, MYTH_EFORMAT, "no number of at most 15 digits is between the bounds");
    myth_schema_put(w, "(");
    myth_schema_put(w, text);
    myth_schema_put(w, ") space");
fail:
    return st;
}
