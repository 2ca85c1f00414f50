/* plain.h - the plainest ranking of files that is worth beating: what search is compared with in evaluations, and
 * nothing else.
 *
 * Chunks   Python: cut at definitions without indentation, at most 60 lines; other languages: 50 lines
 * Words    identifiers and numbers in lower case, and the parts of a compound one (parseJson: parsejson parse json);
 *          stop words of the query are left out. FTS5 with porter over path, names, body at 4, 3, 1
 * File     its best four chunks by 1, 1/2, 1/4, 1/8; tests times 0.3
 * Owner    paths that a search gives are lent until close
 * Errors   MYTH_EIO a file that cannot be read; MYTH_ENOMEM */
#ifndef MYTH_PLAIN_H
#define MYTH_PLAIN_H

#include "engine/base/mem.h"

typedef struct myth_plain myth_plain;

/* Reads every file below dir whose name has one of the suffixes. No ignore rules, links are not followed. */
myth_status myth_plain_open(myth_plain **out, myth_mem *mem, const char *dir, const char *const *suffix,
                            myth_error *err);
void myth_plain_close(myth_plain *p);
/* At most k paths, relative to dir, best first. A query without a word has none. */
myth_status myth_plain_search(myth_plain *p, const char *query, uint32_t k, const char **path, uint32_t *n,
                              myth_error *err);

#endif
