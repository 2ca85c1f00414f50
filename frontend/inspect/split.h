/* split.h - where to cut a file that is too long for one prompt: at blank lines and outside braces, as late as fits.
 *
 * Part     from `first` on, as many lines as `fits` says yes to; then cut back, at most by half, to the best border: one where braces,
 *          brackets and parentheses opened in the part are closed, after a blank line, before a line that is not indented
 * Units    lines from 1
 * Errors   MYTH_ELIMIT a single line does not fit; whatever fits returns is passed up                                                 */
#ifndef MYTH_INSPECT_SPLIT_H
#define MYTH_INSPECT_SPLIT_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *does when lines first..last fit one prompt. More lines never fit better. */
typedef myth_status myth_split_fits(void *user, uint32_t first, uint32_t last, bool *does, myth_error *err);

/* *last = end of the part that begins with line first (<= n_line). guess: lines that probably fit, >= 1. */
myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t guess, myth_split_fits *fits, void *user,
                            myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
