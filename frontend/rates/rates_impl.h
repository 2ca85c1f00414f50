/* rates_impl.h - what the files of this folder share. */
#ifndef MYTH_RATES_IMPL_H
#define MYTH_RATES_IMPL_H

#include "rates.h"
#include "table.h"

enum { MYTH_RATES_MEMORY = 4 << 20 };

extern const char *const myth_rate_test[MYTH_RATE_N]; /* "pp", "tg" */

/* 16 hex digits of the sizes that decide the speed of a model, whatever its type. */
void myth_rates_shape(char dst[17], const myth_config *c);
/* Parses a number of a row; false for what is none, negative or not finite. */
bool myth_rate_number(double *out, const char *text);
/* Sets the rate at a depth, in the order of depths; ignored when there is no room. */
void myth_rates_put(myth_rates *r, myth_rate_kind kind, double depth, double tok_s, double n_tok);
/* Takes a row of the kept form; false when it is none. */
bool myth_rates_take(myth_rates *r, const myth_rate_row *row);

#endif
