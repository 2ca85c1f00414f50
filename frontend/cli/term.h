/* term.h - what a person sees on stderr: colour, one progress line, messages. stdout is data only.
 *
 * Colour     on a tty, unless NO_COLOR is set or TERM=dumb; CLICOLOR_FORCE (not "0") turns it on anywhere
 * Progress   one line rewritten in place, only when stderr is a tty, never under --quiet or CI
 * Text       anything from a file or a model goes through one of the last four functions before it reaches a terminal,
 *            and messages do so themselves */
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
    bool line_open; /* a progress line stands on the screen */
} myth_term;

void myth_term_start(myth_term *t, bool is_quiet, bool is_verbose, bool is_json_log);
/* Escape sequence that turns the colour on (or off: MYTH_COLOR_NONE) on that stream; "" when it has none. */
const char *myth_term_color(const myth_term *t, const FILE *stream, myth_color c);
/* Rewrites the progress line: "prefill 512/12000". total 0 = no count. */
void myth_term_progress(myth_term *t, const char *what, unsigned long long done, unsigned long long total);
void myth_term_progress_end(myth_term *t);
/* "mythos: text" on stderr, whatever the quietness: errors. As a JSON line under --log-format json. */
void myth_term_error(myth_term *t, const char *text);
/* A line on stderr unless --quiet. */
void myth_term_note(myth_term *t, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The write callback of a myth_log whose user is the myth_term. */
void myth_term_log(void *user, myth_log_level level, const char *component, const char *line);
/* Writes len bytes of text with what a terminal would act on escaped (engine/base/escape.h); newline and tab stay. */
void myth_term_safe(FILE *stream, const char *text, size_t len);
/* The same where the text must stay on its line, as a name or a message must: newline and tab are escaped too, and a
 * line that a host of workflows would obey. */
void myth_term_line(FILE *stream, const char *text, size_t len);
void myth_term_path(FILE *stream, const char *path);
/* Text that is asked for as it is, to stdout or stderr: escaped on a terminal alone. */
void myth_term_data(const myth_term *t, FILE *stream, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
