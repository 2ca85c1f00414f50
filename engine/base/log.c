/* log.c - formats one line and hands it to the callback. */
#include "log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void myth_logf(const myth_log *log, myth_log_level level, const char *component, const char *fmt, ...)
{
    if (!log || !log->write || level < log->level)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    log->write(log->user, level, component, line);
}
