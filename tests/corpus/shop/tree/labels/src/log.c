/* log.c - messages to syslog when run by the system, to stderr when run by a person. */
#include "labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>
#include <time.h>

static bool use_syslog;

void log_open(const char *name, bool to_syslog)
{
    use_syslog = to_syslog;
    if (to_syslog)
        openlog(name, LOG_PID, LOG_DAEMON);
}

void log_line(int level, const char *message)
{
    if (use_syslog) {
        syslog(level, message);
        return;
    }
    char when[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
    fprintf(stderr, "%s <%d> %s\n", when, level, message);
}

void log_printf(int level, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    log_line(level, text);
}
