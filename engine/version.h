/* version.h - the version of the library and of the command; CMake reads it from here.
 *
 * Rule     while MAJOR is 0, a change of MINOR may change the API or a file format; PATCH never does
 * Use      #if MYTH_VERSION_NUMBER >= MYTH_VERSION_MAKE(0, 2, 0)
 *          and once at the start, since the headers and the library may come from two places:
 *          myth_version() / 100 == MYTH_VERSION_NUMBER / 100, which is MAJOR and MINOR */
#ifndef MYTH_VERSION_H
#define MYTH_VERSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define MYTH_VERSION_MAJOR 0
#define MYTH_VERSION_MINOR 2
#define MYTH_VERSION_PATCH 0

#define MYTH_VERSION_MAKE(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

#define MYTH_VERSION_NUMBER MYTH_VERSION_MAKE(MYTH_VERSION_MAJOR, MYTH_VERSION_MINOR, MYTH_VERSION_PATCH)

/* MYTH_VERSION_NUMBER of the library that runs. */
uint32_t myth_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
