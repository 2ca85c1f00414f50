/* find.c - see find.h. */
#define _GNU_SOURCE
#include "find.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bytes by their frequency in source code, the most frequent first; bytes not listed are rarer. */
static const char frequent[] =
    " etarnoisl\ncdpu_mf,.()-hg;b0=y\"*1v/x>2k:'TESRw<ACINDOPL{}#+34[]8&5FMU6|7BG9!%Vz\\?HjXWKYqJ@QZ$~`^\t";

unsigned myth_find_rank(unsigned char c)
{
    const char *at = c ? strchr(frequent, c) : NULL;
    return at ? (unsigned)(at - frequent) : sizeof(frequent);
}

void myth_find_open(myth_find *f, const unsigned char *needle, size_t n, bool ignore_case)
{
    *f = (myth_find){.needle = needle, .n = n, .ignore_case = ignore_case};
    for (size_t i = 1; i < n && i < 255; i++)
        if (myth_find_rank(needle[i]) > myth_find_rank(needle[f->at1]))
            f->at1 = i;
    f->at2 = f->at1 == 0 && n > 1;
    for (size_t i = 0; i < n && i < 255; i++)
        if (i != f->at1 && myth_find_rank(needle[i]) > myth_find_rank(needle[f->at2]))
            f->at2 = i;
}

static bool is_at(const myth_find *f, const unsigned char *p)
{
    if (!f->ignore_case)
        return memcmp(p, f->needle, f->n) == 0;
    for (size_t i = 0; i < f->n; i++)
        if (myth_lower(p[i]) != f->needle[i])
            return false;
    return true;
}

#if defined(__SSE2__)
static unsigned char upper(unsigned char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }

/* Searches [*p, end) by vectors, up to a rest that is shorter than one; *p moves there when nothing is found. When
 * case is ignored, each of the two bytes may have two values. */
static const unsigned char *find_sse2(const myth_find *f, const unsigned char **p, const unsigned char *end)
{
    const unsigned char *s = *p;
    __m128i a = _mm_set1_epi8((char)f->needle[f->at1]), b = _mm_set1_epi8((char)f->needle[f->at2]);
    __m128i a2 = _mm_set1_epi8((char)upper(f->needle[f->at1])), b2 = _mm_set1_epi8((char)upper(f->needle[f->at2]));
    for (; (size_t)(end - s) >= f->n + 15; s += 16) {
        __m128i x = _mm_loadu_si128((const void *)(s + f->at1)), y = _mm_loadu_si128((const void *)(s + f->at2));
        __m128i in_x = _mm_cmpeq_epi8(x, a), in_y = _mm_cmpeq_epi8(y, b);
        if (f->ignore_case) {
            in_x = _mm_or_si128(in_x, _mm_cmpeq_epi8(x, a2));
            in_y = _mm_or_si128(in_y, _mm_cmpeq_epi8(y, b2));
        }
        for (unsigned m = (unsigned)_mm_movemask_epi8(_mm_and_si128(in_x, in_y)); m; m &= m - 1)
            if (is_at(f, s + __builtin_ctz(m)))
                return s + __builtin_ctz(m);
    }
    *p = s;
    return NULL;
}

__attribute__((target("avx2"))) static const unsigned char *find_avx2(const myth_find *f, const unsigned char **p,
                                                                      const unsigned char *end)
{
    const unsigned char *s = *p;
    __m256i a = _mm256_set1_epi8((char)f->needle[f->at1]), b = _mm256_set1_epi8((char)f->needle[f->at2]);
    __m256i a2 = _mm256_set1_epi8((char)upper(f->needle[f->at1])),
            b2 = _mm256_set1_epi8((char)upper(f->needle[f->at2]));
    for (; (size_t)(end - s) >= f->n + 31; s += 32) {
        __m256i x = _mm256_loadu_si256((const void *)(s + f->at1)), y = _mm256_loadu_si256((const void *)(s + f->at2));
        __m256i in_x = _mm256_cmpeq_epi8(x, a), in_y = _mm256_cmpeq_epi8(y, b);
        if (f->ignore_case) {
            in_x = _mm256_or_si256(in_x, _mm256_cmpeq_epi8(x, a2));
            in_y = _mm256_or_si256(in_y, _mm256_cmpeq_epi8(y, b2));
        }
        for (unsigned m = (unsigned)_mm256_movemask_epi8(_mm256_and_si256(in_x, in_y)); m; m &= m - 1)
            if (is_at(f, s + __builtin_ctz(m)))
                return s + __builtin_ctz(m);
    }
    *p = s;
    return NULL;
}
#endif

const unsigned char *myth_find_next(const myth_find *f, const unsigned char *p, const unsigned char *end)
{
    if (f->n == 0)
        return p;
    if ((size_t)(end - p) < f->n)
        return NULL;
    if (f->n == 1 && !f->ignore_case)
        return memchr(p, f->needle[0], (size_t)(end - p));
#if defined(__SSE2__)
    const unsigned char *found = __builtin_cpu_supports("avx2") ? find_avx2(f, &p, end) : NULL;
    if (found || (found = find_sse2(f, &p, end)))
        return found;
#else
    if (!f->ignore_case)
        return memmem(p, (size_t)(end - p), f->needle, f->n);
#endif
    for (; (size_t)(end - p) >= f->n; p++)
        if (is_at(f, p))
            return p;
    return NULL;
}

const unsigned char *myth_find_high(const unsigned char *p, const unsigned char *end)
{
#if defined(__SSE2__)
    for (; end - p >= 64; p += 64) {
        const __m128i a = _mm_loadu_si128((const void *)p), b = _mm_loadu_si128((const void *)(p + 16)),
                      c = _mm_loadu_si128((const void *)(p + 32)), d = _mm_loadu_si128((const void *)(p + 48));
        if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))))
            break;
    }
#endif
    while (p < end && *p < 0x80)
        p++;
    return p;
}

uint64_t myth_count_newlines(const unsigned char *p, const unsigned char *end)
{
    uint64_t n = 0;
#if defined(__SSE2__)
    const __m128i nl = _mm_set1_epi8('\n'), zero = _mm_setzero_si128();
    while (end - p >= 16) {
        __m128i sum = zero; /* counters of one byte, so at most 255 rounds at a time */
        for (int i = 0; i < 255 && end - p >= 16; i++, p += 16)
            sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(_mm_loadu_si128((const void *)p), nl));
        sum = _mm_sad_epu8(sum, zero);
        n += (uint64_t)_mm_cvtsi128_si32(sum) + (uint64_t)_mm_extract_epi16(sum, 4);
    }
#endif
    while (p < end)
        n += *p++ == '\n';
    return n;
}
