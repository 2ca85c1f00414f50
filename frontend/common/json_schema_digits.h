/* json_schema_digits.h - the alternatives of a grammar (gbnf.h) that are the numbers between two bounds.
 *
 * Whole    -MYTH_DIGITS_MOST <= lo <= hi <= MYTH_DIGITS_MOST; no leading zeros, no "-0"
 * Decimal  no exponent; near a bound at most as many digits as a double tells apart (MYTH_DECIMAL_DIGITS), so that who
 *          reads the number as a double finds it between the bounds, too; else 16 on either side of the point */
#ifndef MYTH_JSON_SCHEMA_DIGITS_H
#define MYTH_JSON_SCHEMA_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MYTH_DIGITS_MOST INT64_C(9999999999999999)
enum { MYTH_DIGITS_TEXT = 8192 };

void myth_digits_between(char dst[MYTH_DIGITS_TEXT], int64_t lo, int64_t hi);

enum { MYTH_DECIMAL_DIGITS = 15 };

typedef struct {
    bool is_negative, is_open;              /* open: the bound itself is not between */
    int64_t whole;                          /* of the magnitude */
    char fraction[MYTH_DECIMAL_DIGITS + 1]; /* digits without zeros at the end */
} myth_decimal;

/* v in decimal; false when it has more than MYTH_DECIMAL_DIGITS. */
bool myth_decimal_of(myth_decimal *out, double v, bool is_open);
/* NULL = no bound; false: there are no numbers between. */
bool myth_decimals_between(char dst[MYTH_DIGITS_TEXT], const myth_decimal *lo, const myth_decimal *hi);

#ifdef __cplusplus
}
#endif
#endif
