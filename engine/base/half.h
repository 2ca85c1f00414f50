/* half.h - float <-> f16 and bf16, round to nearest even, NaN kept NaN.   Source: IEEE 754-2008; bfloat16 definition.
 */
#ifndef MYTH_HALF_H
#define MYTH_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline uint32_t myth_f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline float myth_bits_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline float myth_bf16_to_f32(uint16_t h) { return myth_bits_f32((uint32_t)h << 16); }
static inline uint16_t myth_f32_to_bf16(float f)
{
    uint32_t u = myth_f32_bits(f);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)((u >> 16) | 0x40);
    return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

static inline float myth_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, man = h & 0x3ff;
    if (exp == 31)
        return myth_bits_f32(sign | 0x7f800000u | (man << 13));
    if (exp)
        return myth_bits_f32(sign | ((exp + 112) << 23) | (man << 13));
    float f = (float)man * 5.9604644775390625e-8f; /* subnormal: man * 2^-24, exact */
    return sign ? -f : f;
}
static inline uint16_t myth_f32_to_f16(float f)
{
    uint32_t u = myth_f32_bits(f), sign = (u >> 16) & 0x8000, a = u & 0x7fffffffu;
    if (a > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00 | ((a >> 13) & 0x3ff));
    if (a >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00); /* rounds past 65504 */
    if (a < 0x38800000u) {                /* subnormal: add 0.5, the unit in the last place is 2^-24 */
        uint32_t r = myth_f32_bits(myth_bits_f32(a) + 0.5f) - 0x3f000000u;
        return (uint16_t)(sign | r);
    }
    return (uint16_t)(sign | ((a - 0x38000000u + 0xfff + ((a >> 13) & 1)) >> 13));
}

#ifdef __cplusplus
}
#endif
#endif
