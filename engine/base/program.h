/* program.h - the file of the program that runs, to start it again.
 *
 * A file that was replaced or removed while its program runs, as by an upgrade, has another program at its place or
 * none: the system's own link (Linux, proc(5)) still leads to this one, with a word behind the path.
 * Errors   false: the system has no such link, or the path does not fit; dst is then "" */
#ifndef MYTH_PROGRAM_H
#define MYTH_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MYTH_PROGRAM_LINK "/proc/self/exe"

/* The path of the program's file, as the system writes it. */
static inline bool myth_program_path(char *dst, size_t cap)
{
    const ssize_t n = readlink(MYTH_PROGRAM_LINK, dst, cap - 1);
    const bool is_whole = n > 0 && (size_t)n < cap - 1;
    dst[is_whole ? n : 0] = '\0';
    return is_whole;
}

/* Whether a path is, or was until its file was replaced or removed, that of this program. */
static inline bool myth_program_is(const char *path)
{
    char own[PATH_MAX];
    const size_t n = strlen(path);
    return myth_program_path(own, sizeof(own)) && strncmp(own, path, n) == 0 &&
           (own[n] == '\0' || strcmp(own + n, " (deleted)") == 0);
}

/* What starts this program: the path of its file, or the system's link where that is another file by now. */
static inline bool myth_program_start(char *dst, size_t cap)
{
    struct stat own, there;
    const bool has_path = myth_program_path(dst, cap);
    if (has_path && !(stat(MYTH_PROGRAM_LINK, &own) == 0 && stat(dst, &there) == 0 && own.st_dev == there.st_dev &&
                      own.st_ino == there.st_ino))
        snprintf(dst, cap, MYTH_PROGRAM_LINK);
    return has_path;
}

#ifdef __cplusplus
}
#endif
#endif
