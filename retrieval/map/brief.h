/* brief.h - a function's signature as a short line.
 *
 * Steps    while the line is longer than MYTH_BRIEF bytes: annotations in front go, then types and defaults of
 *          parameters where they follow the name (f(a: int = 1) becomes f(a)), then what follows the parameters, then
 *          parameters of types (f<T>). Names of parameters stay, so the line may stay longer
 * Owner    the caller's line, changed where it lies; it never grows
 * Threads  any */
#ifndef MYTH_BRIEF_H
#define MYTH_BRIEF_H

enum { MYTH_BRIEF = 60 };

/* name: the function's, as it is in the line. */
void myth_brief(char *s, const char *name);
/* Removes Go's receiver: "func (c *Context) Next()" becomes "Next()", for a line that is shown under its type. */
void myth_drop_receiver(char *s);

#endif
