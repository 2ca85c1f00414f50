/* log.h - messages go to a callback; the library prints nothing itself.
 * Threads  the callback may be called from any thread that calls into the library */
#ifndef MYTH_LOG_H
#define MYTH_LOG_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum { MYTH_LOG_DEBUG, MYTH_LOG_INFO, MYTH_LOG_WARN, MYTH_LOG_ERROR } myth_log_level;

typedef struct {
    void (*write)(void *user, myth_log_level level, const char *component, const char *line);
    void *user;
    myth_log_level level; /* messages below it are dropped before they are formatted */
} myth_log;

/* log may be NULL. */
void myth_logf(const myth_log *log, myth_log_level level, const char *component, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
