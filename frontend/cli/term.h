/* term.h - colours, the progress line and messages on stderr, and escaping of text for terminals.
 *
 * Colour     used on a terminal, unless NO_COLOR is set or TERM=dumb; CLICOLOR_FORCE (not "0") turns it on anywhere
 * Progress   one line that is rewritten in place, only when stderr is a terminal, never under --quiet or CI
 * Text       text from a file or a model must go through one of the last four functions before it reaches a terminal;
 *            the message functions escape their text themselves
 * Threads    one */
#ifndef MYTH_TERM_H
#define MYTH_TERM_H

#include "engine/base/log.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ending of a counted noun: "" for 1, "s" for every other number. */
static inline const char *myth_s(unsigned long long n) { return n == 1 ? "" : "s"; }

typedef enum {
    MYTH_COLOR_NONE,
    MYTH_COLOR_RED,
    MYTH_COLOR_YELLOW,
    MYTH_COLOR_GREEN,
    MYTH_COLOR_BLUE,
    MYTH_COLOR_BOLD,
    MYTH_COLOR_DIM
} myth_color;

typedef struct {
    bool is_quiet, is_verbose, is_json_log;
    bool has_progress; /* progress lines are shown */
    bool has_color_out, has_color_err;
    bool is_terminal_out, is_terminal_err;
    const FILE *as_out; /* a stream that is shown as standard output is; NULL = none */
    /* gets what a progress line has, whether it is shown or not; NULL = nothing does */
    void (*told)(void *arg, const char *what, unsigned long long done, unsigned long long total);
    void *told_arg;
    FILE *notes;    /* gets every note and a zero, also under --quiet; NULL = nothing does */
    bool line_open; /* a progress line is on the screen and must be cleared before other text */
} myth_term;

void myth_term_start(myth_term *t, bool is_quiet, bool is_verbose, bool is_json_log);
/* The escape sequence that switches to the colour (MYTH_COLOR_NONE: back to normal); "" when the stream has no colours.
 */
const char *myth_term_color(const myth_term *t, const FILE *stream, myth_color c);
/* Rewrites the progress line: "prefill 512/12000"; with total 0 "prefill 512". */
void myth_term_progress(myth_term *t, const char *what, unsigned long long done, unsigned long long total);
/* The same with a line of the caller's own. */
void myth_term_progress_line(myth_term *t, const char *line);
void myth_term_progress_end(myth_term *t);
/* Prints the error "mythos: text" on stderr, under --quiet too; as a JSON line under --log-format json. */
void myth_term_error(myth_term *t, const char *text);
/* Prints a line on stderr, except under --quiet. */
void myth_term_note(myth_term *t, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The same about this run alone: who collects notes, to say them again for a run that repeats this one, does not get
 * it. */
void myth_term_note_once(myth_term *t, const char *text);
/* The write callback of a myth_log whose user is the myth_term. */
void myth_term_log(void *user, myth_log_level level, const char *component, const char *line);
/* Writes text and escapes everything that a terminal would act on (engine/base/escape.h), except newlines and tabs. */
void myth_term_safe(FILE *stream, const char *text, size_t len);
/* The same for text that must stay on one line, such as a name or a message: newlines and tabs are escaped too, and so
 * is a line beginning that a CI service would obey as a workflow command. */
void myth_term_line(FILE *stream, const char *text, size_t len);
void myth_term_path(FILE *stream, const char *path);
/* Writes text unchanged to a file or pipe, and escaped to a terminal. stream is stdout or stderr. */
void myth_term_data(const myth_term *t, FILE *stream, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
