/* json_schema_digits.h - the alternatives of a grammar (gbnf.h) that are the whole numbers from lo to hi.
 *
 * Form     -MYTH_DIGITS_MOST <= lo <= hi <= MYTH_DIGITS_MOST; no leading zeros, no "-0" */
#ifndef MYTH_JSON_SCHEMA_DIGITS_H
#define MYTH_JSON_SCHEMA_DIGITS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MYTH_DIGITS_MOST INT64_C(9999999999999999)
enum { MYTH_DIGITS_TEXT = 8192 };

void myth_digits_between(char dst[MYTH_DIGITS_TEXT], int64_t lo, int64_t hi);

#ifdef __cplusplus
}
#endif
#endif
