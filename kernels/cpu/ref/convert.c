/* convert.c - converts rows between f32 and the stored types. blocks.h and half.h define the values. */
#include "kernels/cpu/cpu.h"

#include "engine/base/blocks.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void f32_to_q8_0(unsigned char *dst, const float *src, uint32_t n)
{
    for (uint32_t b = 0; b < n / 32; b++, dst += 34, src += 32) {
        float amax = 0.0f;
        for (uint32_t i = 0; i < 32; i++)
            amax = fmaxf(amax, fabsf(src[i]));
        float scale = amax / 127.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
        uint16_t half = myth_f32_to_f16(scale);
        memcpy(dst, &half, 2);
        for (uint32_t i = 0; i < 32; i++) {
            float q = roundf(src[i] * inverse);
            /* NaN and overflow have no code: they become 0 */
            dst[2 + i] = (unsigned char)(q >= -127.0f && q <= 127.0f ? (int8_t)q : 0);
        }
    }
}

void cpu_row_to_f32(float *dst, const void *src, myth_dtype t, uint32_t n) { myth_dequant_row(t, dst, src, n); }

void cpu_row_from_f32(void *dst, myth_dtype t, const float *src, uint32_t n)
{
    unsigned char *p = dst;
    uint16_t half;
    switch (t) {
    case MYTH_F32: memcpy(dst, src, (size_t)n * 4); break;
    case MYTH_F16:
        for (uint32_t i = 0; i < n; i++) {
            half = myth_f32_to_f16(src[i]);
            memcpy(p + (size_t)i * 2, &half, 2);
        }
        break;
    case MYTH_BF16:
        for (uint32_t i = 0; i < n; i++) {
            half = myth_f32_to_bf16(src[i]);
            memcpy(p + (size_t)i * 2, &half, 2);
        }
        break;
    case MYTH_Q8_0: f32_to_q8_0(p, src, n); break;
    default: assert(!"op_check.c let a dtype through");
    }
}
