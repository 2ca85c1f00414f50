/* weights.h - the constants of ranked search as one struct, from weights.def, with values given over them for
 * ablations. */
#ifndef MYTH_WEIGHTS_SEARCH_H
#define MYTH_WEIGHTS_SEARCH_H

#include "engine/base/status.h"

typedef struct {
#define WEIGHT(name, value, unit, reason) double name;
#include "weights.def"
#undef WEIGHT
} myth_weights_search;

/* The defaults, and over them "name=value,..." (NULL or "" = none). MYTH_EARG an unknown name, a value that is not a
 * finite number >= 0. */
myth_status myth_weights_search_set(myth_weights_search *out, const char *over, myth_error *err);

#endif
