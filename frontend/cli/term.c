/* term.c - stderr for people. */
#include "term.h"
#include "json_out.h"
#include "engine/base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool env_is_set(const char *name)
{
    const char *v = getenv(name);
    return v && *v;
}

static bool wants_color(int fd)
{
    const char *force = getenv("CLICOLOR_FORCE"), *kind = getenv("TERM");
    if (env_is_set("NO_COLOR") || (kind && strcmp(kind, "dumb") == 0))
        return false;
    return (force && *force && strcmp(force, "0") != 0) || isatty(fd);
}

void myth_term_start(myth_term *t, bool is_quiet, bool is_verbose, bool is_json_log)
{
    const char *kind = getenv("TERM");
    *t = (myth_term){.is_quiet = is_quiet, .is_verbose = is_verbose, .is_json_log = is_json_log};
    t->has_color_out = wants_color(STDOUT_FILENO);
    t->has_color_err = wants_color(STDERR_FILENO) && !is_json_log;
    t->has_progress =
        isatty(STDERR_FILENO) && !is_quiet && !is_json_log && !env_is_set("CI") && !(kind && strcmp(kind, "dumb") == 0);
}

const char *myth_term_color(const myth_term *t, const FILE *stream, myth_color c)
{
    static const char *const code[] = {"\033[0m", "\033[31m", "\033[33m", "\033[32m", "\033[34m", "\033[1m", "\033[2m"};
    bool has = stream == stdout ? t->has_color_out : stream == stderr && t->has_color_err;
    return has ? code[c] : "";
}

void myth_term_progress(myth_term *t, const char *what, unsigned long long done, unsigned long long total)
{
    if (!t->has_progress)
        return;
    if (total)
        fprintf(stderr, "\r%s %llu/%llu\033[K", what, done, total);
    else
        fprintf(stderr, "\r%s %llu\033[K", what, done);
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
    myth_term_safe(stderr, text, strlen(text));
    fputc('\n', stderr);
}

void myth_term_note(myth_term *t, const char *fmt, ...)
{
    if (t->is_quiet)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    myth_term_progress_end(t);
    if (t->is_json_log) {
        write_log_line("info", "mythos", line);
        return;
    }
    myth_term_safe(stderr, line, strlen(line));
    fputc('\n', stderr);
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
    myth_term_safe(stderr, line, strlen(line));
    fputc('\n', stderr);
}

void myth_term_safe(FILE *stream, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t run = i; /* of what stands for itself: lines of a search are a hundred thousand */
        while (run < len && ((s[run] >= 0x20 && s[run] < 0x7f) || s[run] == '\n' || s[run] == '\t'))
            run++;
        if (run > i)
            fwrite(s + i, 1, run - i, stream);
        if ((i = run) == len)
            break;
        int n = myth_utf8_decode(s + i, len - i, &cp);
        if (n == 0)
            fprintf(stream, "\\x%02x", s[i++]);
        else if (cp < 0x80)
            fprintf(stream, "\\x%02x", cp);
        else if (myth_utf8_is_unseen(cp))
            fprintf(stream, "\\u{%04x}", cp);
        else
            fwrite(s + i, 1, (size_t)n, stream);
        i += n ? (size_t)n : 0;
    }
}

void myth_term_path(FILE *stream, const char *path)
{
    for (size_t n; *path; path += n) {
        n = strcspn(path, "\n\t");
        myth_term_safe(stream, path, n);
        if (path[n]) {
            fputs(path[n] == '\n' ? "\\n" : "\\t", stream);
            n++;
        }
    }
}
