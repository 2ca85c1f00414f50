/* split.h - where to cut lines that are too long for one prompt: where a definition ends, else at blank lines and
 * outside braces, as late as fits.
 *
 * Part     from `first` on, as many lines as `fits` says yes to; then cut back to the last border in its last three
 *          quarters, the end of a definition that stands alone before that of one inside another; when there is none,
 *          at most by half to the best place of the text: where braces, brackets and parentheses opened in the part are
 *          closed, after a blank line, before a line that is not indented
 * Borders  made by the parser of the file's language (chunk.h), in a process of its own; a file that it cannot cut has
 *          none
 * Units    lines from 1
 * Errors   MYTH_ELIMIT a single line does not fit; whatever fits returns is passed up; MYTH_ENOMEM */
#ifndef MYTH_INSPECT_SPLIT_H
#define MYTH_INSPECT_SPLIT_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *does when lines first..last fit one prompt. More lines never fit better. */
typedef myth_status myth_split_fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err);

/* border[n], n = 1 .. n_line: how good it is to cut behind line n. */
enum { MYTH_BORDER_NONE, MYTH_BORDER_INNER, MYTH_BORDER_OUTER };

/* *out = [n_line + 1] of src, STAGING, myth_free; NULL when its structure is not known. worker_path as
 * myth_chunker_open. */
myth_status myth_split_borders(uint8_t **out, myth_mem *mem, const char *worker_path, const myth_source *src,
                               myth_error *err);
/* *last = end of the part of lines first..end that begins with first. guess: lines that probably fit, >= 1. border may
 * be NULL. */
myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t end, uint32_t guess,
                            const uint8_t *border, myth_split_fits *fits, void *user, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
