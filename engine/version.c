/* version.c - see version.h. */
#include "version.h"

uint32_t myth_version(void) { return MYTH_VERSION_NUMBER; }
