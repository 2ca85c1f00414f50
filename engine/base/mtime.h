/* mtime.h - when a file was changed last, as one number: its bytes (mtime, which programs may set to any time), and
 * its bytes, name or rights (ctime, which the system alone sets).
 *
 * Units    nanoseconds since 1970; a time that an int64 cannot hold (before 1677, after 2262) is the nearest that it
 *          can
 * Threads  any */
#ifndef MYTH_MTIME_H
#define MYTH_MTIME_H

#include <stdint.h>
#include <sys/stat.h>

static inline int64_t myth_time_ns(struct timespec t)
{
    int64_t ns;
    if (__builtin_mul_overflow((int64_t)t.tv_sec, (int64_t)1000000000, &ns) ||
        __builtin_add_overflow(ns, (int64_t)t.tv_nsec, &ns))
        return t.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}
static inline int64_t myth_mtime_ns(const struct stat *st) { return myth_time_ns(st->st_mtim); }
static inline int64_t myth_ctime_ns(const struct stat *st) { return myth_time_ns(st->st_ctim); }

#endif
