/* term.c - see term.h. */
#include "term.h"
#include "environment.h"
#include "json_out.h"
#include "engine/base/escape.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool env_is_set(const char *name)
{
    const char *v = myth_env_get(name);
    return v && *v;
}

static bool wants_color(int fd)
{
    const char *force = myth_env_get("CLICOLOR_FORCE"), *kind = myth_env_get("TERM");
    if (env_is_set("NO_COLOR") || (kind && strcmp(kind, "dumb") == 0))
        return false;
    return (force && *force && strcmp(force, "0") != 0) || isatty(fd);
}

void myth_term_start(myth_term *t, bool is_quiet, bool is_verbose, bool is_json_log)
{
    const char *kind = myth_env_get("TERM");
    *t = (myth_term){.is_quiet = is_quiet, .is_verbose = is_verbose, .is_json_log = is_json_log};
    t->is_terminal_out = isatty(STDOUT_FILENO);
    t->is_terminal_err = isatty(STDERR_FILENO);
    t->has_color_out = wants_color(STDOUT_FILENO);
    t->has_color_err = wants_color(STDERR_FILENO) && !is_json_log;
    t->has_progress =
        isatty(STDERR_FILENO) && !is_quiet && !is_json_log && !env_is_set("CI") && !(kind && strcmp(kind, "dumb") == 0);
}

const char *myth_term_color(const myth_term *t, const FILE *stream, myth_color c)
{
    static const char *const code[] = {"\033[0m", "\033[31m", "\033[33m", "\033[32m", "\033[34m", "\033[1m", "\033[2m"};
    const bool is_out = stream == stdout || (t->as_out && stream == t->as_out);
    bool has = is_out ? t->has_color_out : stream == stderr && t->has_color_err;
    return has ? code[c] : "";
}

void myth_term_progress(myth_term *t, const char *what, unsigned long long done, unsigned long long total)
{
    if (t->told)
        t->told(t->told_arg, what, done, total);
    if (!t->has_progress)
        return;
    if (total)
        fprintf(stderr, "\r%s %llu/%llu\033[K", what, done, total);
    else
        fprintf(stderr, "\r%s %llu\033[K", what, done);
    fflush(stderr);
    t->line_open = true;
}

void myth_term_progress_line(myth_term *t, const char *line)
{
    if (!t->has_progress)
        return;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    t->line_open = true;
}

void myth_term_progress_end(myth_term *t)
{
    if (t->line_open)
        fputs("\r\033[K", stderr);
    t->line_open = false;
}

static void write_log_line(const char *level, const char *component, const char *text)
{
    struct timespec now;
    struct tm utc;
    char ts[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(ts, sizeof(ts), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(ts + n, sizeof(ts) - n, ".%03ldZ", now.tv_nsec / 1000000);
    myth_json_out j;
    myth_jout_start(&j, stderr);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "ts", ts);
    myth_jout_key_str(&j, "level", level);
    myth_jout_key_str(&j, "component", component);
    myth_jout_key_str(&j, "msg", text);
    myth_jout_end(&j);
}

void myth_term_error(myth_term *t, const char *text)
{
    myth_term_progress_end(t);
    if (t->is_json_log) {
        write_log_line("error", "mythos", text);
        return;
    }
    fprintf(stderr, "%smythos:%s ", myth_term_color(t, stderr, MYTH_COLOR_RED),
            myth_term_color(t, stderr, MYTH_COLOR_NONE));
    myth_term_line(stderr, text, strlen(text));
    fputc('\n', stderr);
}

void myth_term_note(myth_term *t, const char *fmt, ...)
{
    if (t->is_quiet && !t->notes)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    if (t->notes)
        fwrite(line, 1, strlen(line) + 1, t->notes);
    if (t->is_quiet)
        return;
    myth_term_progress_end(t);
    if (t->is_json_log) {
        write_log_line("info", "mythos", line);
        return;
    }
    myth_term_line(stderr, line, strlen(line));
    fputc('\n', stderr);
}

void myth_term_note_once(myth_term *t, const char *text)
{
    FILE *notes = t->notes;
    t->notes = NULL;
    myth_term_note(t, "%s", text);
    t->notes = notes;
}

void myth_term_log(void *user, myth_log_level level, const char *component, const char *line)
{
    static const char *const name[] = {"debug", "info", "warn", "error"};
    myth_term *t = user;
    myth_term_progress_end(t);
    if (t->is_json_log) {
        write_log_line(name[level], component, line);
        return;
    }
    fprintf(stderr, "%s %s: ", name[level], component);
    myth_term_line(stderr, line, strlen(line));
    fputc('\n', stderr);
}

/* Writes text and escapes what a terminal would act on. keeps_lines: newlines and tabs are not escaped. is_whole: the
 * text is a whole line, so that a workflow command at its beginning is escaped too. */
static void write_escaped(FILE *stream, const char *text, size_t len, bool keeps_lines, bool is_whole)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0, used; i < len; i += used) {
        char shown[MYTH_ESCAPED_MAX];
        size_t run = i; /* write plain bytes in one piece: a search can print 100,000 lines */
        while (run < len &&
               ((s[run] >= 0x20 && s[run] < 0x7f) || (keeps_lines && (s[run] == '\n' || s[run] == '\t'))) &&
               !(is_whole && myth_escape_is_command(text, len, run)))
            run++;
        if (run > i)
            fwrite(s + i, 1, run - i, stream);
        if ((i = run) == len)
            break;
        if (is_whole && myth_escape_is_command(text, len, i)) {
            fprintf(stream, "\\x%02x", s[i]);
            used = 1;
        } else {
            const size_t n = myth_escape(shown, text + i, len - i, &used);
            fwrite(shown, 1, n, stream);
        }
    }
}

void myth_term_safe(FILE *stream, const char *text, size_t len) { write_escaped(stream, text, len, true, false); }
void myth_term_line(FILE *stream, const char *text, size_t len) { write_escaped(stream, text, len, false, true); }
void myth_term_path(FILE *stream, const char *path) { myth_term_line(stream, path, strlen(path)); }

void myth_term_data(const myth_term *t, FILE *stream, const char *text, size_t len)
{
    if (stream == stdout ? t->is_terminal_out : t->is_terminal_err)
        myth_term_safe(stream, text, len);
    else
        fwrite(text, 1, len, stream);
}
