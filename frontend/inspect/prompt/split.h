/* split.h - finds where to cut code that is too long for one prompt: after a definition, else at a blank line outside
 * of braces, as late as possible.
 *
 * Part     starts at `first` and has as many lines as `fits` accepts. It is then cut back to the last border in its
 *          last three quarters; the end of a top-level definition is preferred to the end of one inside another.
 *          Without a border it is cut back by at most half, to the best place in the text: where all brackets that were
 *          opened in the part are closed, after a blank line, before a line that is not indented
 * Foremost of the borders inside some lines, the one at which they are cut when parts must not depend on each other. It
 *          is chosen by the name of the definition that ends there and not by sizes: a line added to a definition
 *          moves no border of the lines that do not hold it. The order of names is that of their hashes, so that halves
 *          are of like size
 * Borders  come from the parser of the file's language (chunk.h), which runs in a process of its own; a file that it
 *          cannot parse has none
 * Units    lines from 1
 * Errors   MYTH_ELIMIT: a single line does not fit; the error of `fits` is returned; MYTH_ENOMEM
 * Threads  one */
#ifndef MYTH_INSPECT_SPLIT_H
#define MYTH_INSPECT_SPLIT_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *does to whether lines first..last fit into one prompt. When some lines do not fit, more lines must not
 * either. */
typedef myth_status myth_split_fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err);

/* border[n] >> MYTH_BORDER_KIND, n = 1 .. n_line: what kind of definition ends at line n. The bits below are its rank
 * among the borders of its kind. */
enum { MYTH_BORDER_NONE, MYTH_BORDER_INNER, MYTH_BORDER_OUTER };
enum { MYTH_BORDER_KIND = 30 };

/* *out = the borders [n_line + 1] of src, booked as STAGING, freed by the caller with myth_free; NULL when the file has
 * no parser. by_name: borders with ranks, of definitions alone; a file without a parser has those before lines that are
 * not indented and follow a blank one. worker_path: as in myth_chunker_open. */
myth_status myth_split_borders(uint32_t **out, myth_mem *mem, const char *worker_path, const myth_source *src,
                               bool by_name, myth_error *err);
/* The line after which first..last are cut, so that both halves have lines that are not blank; 0 = they have no such
 * border. */
uint32_t myth_split_foremost(const uint32_t *border, const myth_source *src, uint32_t first, uint32_t last);
/* *last = the last line of the part that begins with `first`, at most `end`. guess: lines that probably fit, >= 1.
 * border may be NULL. */
myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t end, uint32_t guess,
                            const uint32_t *border, myth_split_fits *fits, void *user, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
