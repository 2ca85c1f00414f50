/* split.h - finds where to cut code that is too long for one prompt: after a definition, else at a blank line outside
 * of braces, as late as possible.
 *
 * Part     starts at `first` and has as many lines as `fits` accepts. It is then cut back to the last border in its
 *          last three quarters; the end of a top-level definition is preferred to the end of one inside another.
 *          Without a border it is cut back by at most half, to the best place in the text: where all brackets that were
 *          opened in the part are closed, after a blank line, before a line that is not indented
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

/* border[n], n = 1 .. n_line: what kind of definition ends at line n. */
enum { MYTH_BORDER_NONE, MYTH_BORDER_INNER, MYTH_BORDER_OUTER };

/* *out = the borders [n_line + 1] of src, booked as STAGING, freed by the caller with myth_free; NULL when the file has
 * no parser. worker_path: as in myth_chunker_open. */
myth_status myth_split_borders(uint8_t **out, myth_mem *mem, const char *worker_path, const myth_source *src,
                               myth_error *err);
/* *last = the last line of the part that begins with `first`, at most `end`. guess: lines that probably fit, >= 1.
 * border may be NULL. */
myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t end, uint32_t guess,
                            const uint8_t *border, myth_split_fits *fits, void *user, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
