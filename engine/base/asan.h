/* asan.h - whether AddressSanitizer watches this build: HAS_ASAN, 1 or 0, for #if; MYTH_HAS_ASAN for expressions.
 * Source   the manuals: gcc says so by a macro, clang by a feature */
#ifndef MYTH_ASAN_H
#define MYTH_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

enum { MYTH_HAS_ASAN = HAS_ASAN };

#endif
