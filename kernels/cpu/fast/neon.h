/* neon.h - defines the primitives of fast_vec8.h and vec8_blocks.h on pairs of 128-bit registers, then includes their
 * kernels. Each *_neon.c includes it once.
 *
 * Dot      sdot where the file is compiled for it (dotprod_neon.c), else widening products: smull, uaddlp, addp
 * Limit    16 products of bytes take one instruction with sdot and six without; 4 products of floats take one */
#ifndef MYTH_CPU_NEON_H
#define MYTH_CPU_NEON_H

#include "fast.h"

#include <arm_neon.h>
#include <string.h>

typedef struct {
    float32x4_t a, b;
} v8;
typedef struct {
    int8x16_t a, b;
} w8; /* 32 bytes, or 8 lanes of i32 */

#define PAIR(x, y) ((v8){(x), (y)})
FAST_INLINE v8 v8_set1(float x) { return PAIR(vdupq_n_f32(x), vdupq_n_f32(x)); }
FAST_INLINE v8 v8_two(float a, float b) { return PAIR(vdupq_n_f32(a), vdupq_n_f32(b)); }
FAST_INLINE v8 v8_load(const float *p) { return PAIR(vld1q_f32(p), vld1q_f32(p + 4)); }
FAST_INLINE void v8_store(float *p, v8 v)
{
    vst1q_f32(p, v.a);
    vst1q_f32(p + 4, v.b);
}
FAST_INLINE v8 v8_add(v8 x, v8 y) { return PAIR(vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_sub(v8 x, v8 y) { return PAIR(vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_mul(v8 x, v8 y) { return PAIR(vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_div(v8 x, v8 y) { return PAIR(vdivq_f32(x.a, y.a), vdivq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_fma(v8 x, v8 y, v8 z) { return PAIR(vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b)); }
FAST_INLINE v8 v8_max(v8 x, v8 y) { return PAIR(vmaxq_f32(x.a, y.a), vmaxq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_min(v8 x, v8 y) { return PAIR(vminq_f32(x.a, y.a), vminq_f32(x.b, y.b)); }
FAST_INLINE v8 v8_round(v8 x) { return PAIR(vrndnq_f32(x.a), vrndnq_f32(x.b)); }
FAST_INLINE float32x4_t pow2(float32x4_t n)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127)), 23));
}
FAST_INLINE v8 v8_pow2(v8 n) { return PAIR(pow2(n.a), pow2(n.b)); }
FAST_INLINE v8 v8_lt(v8 p, v8 q, v8 x, v8 y)
{
    return PAIR(vbslq_f32(vcltq_f32(p.a, q.a), x.a, y.a), vbslq_f32(vcltq_f32(p.b, q.b), x.b, y.b));
}
FAST_INLINE float v8_sum(v8 v) { return vaddvq_f32(vaddq_f32(v.a, v.b)); }
FAST_INLINE float v8_most(v8 v) { return vmaxvq_f32(vmaxq_f32(v.a, v.b)); }

FAST_INLINE void transpose4(float32x4_t *r0, float32x4_t *r1, float32x4_t *r2, float32x4_t *r3)
{
    float32x4x2_t x = vtrnq_f32(*r0, *r1), y = vtrnq_f32(*r2, *r3);
    *r0 = vcombine_f32(vget_low_f32(x.val[0]), vget_low_f32(y.val[0]));
    *r1 = vcombine_f32(vget_low_f32(x.val[1]), vget_low_f32(y.val[1]));
    *r2 = vcombine_f32(vget_high_f32(x.val[0]), vget_high_f32(y.val[0]));
    *r3 = vcombine_f32(vget_high_f32(x.val[1]), vget_high_f32(y.val[1]));
}
FAST_INLINE void v8_transpose(v8 r[8])
{
    transpose4(&r[0].a, &r[1].a, &r[2].a, &r[3].a);
    transpose4(&r[0].b, &r[1].b, &r[2].b, &r[3].b);
    transpose4(&r[4].a, &r[5].a, &r[6].a, &r[7].a);
    transpose4(&r[4].b, &r[5].b, &r[6].b, &r[7].b);
    FAST_UNROLL
    for (int i = 0; i < 4; i++) {
        float32x4_t t = r[i].b;
        r[i].b = r[4 + i].a;
        r[4 + i].a = t;
    }
}

FAST_INLINE float v8_half(uint16_t h)
{
    float16_t f;
    memcpy(&f, &h, 2);
    return (float)f;
}
FAST_INLINE v8 v8_f16(const void *p)
{
    float16x8_t h = vreinterpretq_f16_u16(vld1q_u16(p));
    return PAIR(vcvt_f32_f16(vget_low_f16(h)), vcvt_high_f32_f16(h));
}
FAST_INLINE v8 v8_bf16(const void *p)
{
    uint16x8_t h = vld1q_u16(p);
    return PAIR(vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(h), 16)),
                vreinterpretq_f32_u32(vshll_high_n_u16(h, 16)));
}
FAST_INLINE v8 v8_i8(const void *p)
{
    int16x8_t h = vmovl_s8(vld1_s8(p));
    return PAIR(vcvtq_f32_s32(vmovl_s16(vget_low_s16(h))), vcvtq_f32_s32(vmovl_high_s16(h)));
}
FAST_INLINE void v8_to_f16(void *p, v8 v)
{
    vst1q_u16(p, vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(v.a), v.b)));
}
FAST_INLINE void v8_to_i8(void *p, v8 v)
{
    vst1_s8(p, vqmovn_s16(vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(v.a)), vcvtnq_s32_f32(v.b))));
}

FAST_INLINE w8 w8_zero(void) { return (w8){vdupq_n_s8(0), vdupq_n_s8(0)}; }
FAST_INLINE w8 w8_load(const void *p) { return (w8){vld1q_s8(p), vld1q_s8((const int8_t *)p + 16)}; }
FAST_INLINE w8 w8_set1(const void *p)
{
    int32_t v;
    memcpy(&v, p, 4);
    int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(v));
    return (w8){x, x};
}
FAST_INLINE int8x16_t dot16(int8x16_t c, int8x16_t w, int8x16_t x)
{
#if defined(__ARM_FEATURE_DOTPROD)
    return vreinterpretq_s8_s32(vdotq_s32(vreinterpretq_s32_s8(c), w, x));
#else
    int16x8_t lo = vmull_s8(vget_low_s8(w), vget_low_s8(x)), hi = vmull_high_s8(w, x);
    int32x4_t s = vpaddq_s32(vpaddlq_s16(lo), vpaddlq_s16(hi));
    return vreinterpretq_s8_s32(vaddq_s32(vreinterpretq_s32_s8(c), s));
#endif
}
FAST_INLINE w8 w8_dot(w8 c, w8 w, w8 x) { return (w8){dot16(c.a, w.a, x.a), dot16(c.b, w.b, x.b)}; }
FAST_INLINE w8 w8_nibbles(const void *p)
{
    uint8x16_t v = vld1q_u8(p);
    int8x16_t eight = vdupq_n_s8(8);
    return (w8){vsubq_s8(vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15))), eight),
                vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(v, 4)), eight)};
}
FAST_INLINE v8 w8_f32(w8 v)
{
    return PAIR(vcvtq_f32_s32(vreinterpretq_s32_s8(v.a)), vcvtq_f32_s32(vreinterpretq_s32_s8(v.b)));
}
FAST_INLINE v8 w8_as_v8(w8 v) { return PAIR(vreinterpretq_f32_s8(v.a), vreinterpretq_f32_s8(v.b)); }

#include "vec8_blocks.h"

static const struct fast_kernels kernels = {.mat = {VEC8_FLOATS, VEC8_QUANTS}, VEC8_ROWS};

/* The kernels for processors with sdot. Where the compiler cannot make sdot, they are the plain ones once more. */
extern const struct fast_kernels *const neon_dotprod_kernels;

#endif
