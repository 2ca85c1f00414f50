// math.glsl - exp, log, tanh in f32 with the same bits on every driver.
//
// Why        Vulkan allows exp an error of 3 + 2|x| ulp, and a tanh derived from it that overflows. So drivers differ
//            by more than the tolerance of exact devices
// Precision  the error of each is below 2 ulp; exp(0) = 1 and tanh(0) = 0 exactly; exp below 2^-126 is 0; exp, tanh
//            and cap of NaN are NaN
// Source     Cephes, expf.c logf.c tanhf.c: range reduction and minimax polynomials
#ifndef MYTH_MATH_GLSL
#define MYTH_MATH_GLSL

#define INF uintBitsToFloat(0x7f800000u)

// Both by the bits: a driver may take every float for a number, and what clamp, min and max make of NaN is undefined.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool is_minus_inf(float x) { return floatBitsToUint(x) == 0xff800000u; }

float exp_f32(float x)
{
    float n = round(clamp(x, -87.3, 88.7) * 1.44269504), r = fma(n, -0.693359375, clamp(x, -87.3, 88.7));
    r = fma(n, 2.12194440e-4, r);
    float p = fma(1.9875691500e-4, r, 1.3981999507e-3);
    p = fma(p, r, 8.3334519073e-3);
    p = fma(p, r, 4.1665795894e-2);
    p = fma(p, r, 1.6666665459e-1);
    p = fma(p, r, 5.0000001201e-1);
    p = fma(p, r * r, r) + 1.0;
    int half_n = int(n) / 2;                    // 2^n as two factors, because 2^128 is past the largest exponent
    p *= intBitsToFloat((half_n + 127) << 23);
    p *= intBitsToFloat((int(n) - half_n + 127) << 23);
    return is_nan(x) ? x : x < -87.3 ? 0.0 : x > 88.7 ? INF : p;
}

// log x for x > 0 that is not subnormal.
float log_f32(float x)
{
    int u = floatBitsToInt(x), e = (u >> 23) - 126;
    float m = intBitsToFloat((u & 0x007fffff) | 0x3f000000);         // [0.5, 1)
    bool is_low = m < 0.707106781;
    float n = float(is_low ? e - 1 : e), t = (is_low ? m + m : m) - 1.0, z = t * t;
    float p = fma(7.0376836292e-2, t, -1.1514610310e-1);
    p = fma(p, t, 1.1676998740e-1);
    p = fma(p, t, -1.2420140846e-1);
    p = fma(p, t, 1.4249322787e-1);
    p = fma(p, t, -1.6668057665e-1);
    p = fma(p, t, 2.0000714765e-1);
    p = fma(p, t, -2.4999993993e-1);
    p = fma(p, t, 3.3333331174e-1);
    float y = t * z * p;
    y = fma(n, -2.12194440e-4, y);
    y = fma(-0.5, z, y);
    return fma(n, 0.693359375, t + y);
}

float tanh_f32(float x)
{
    float a = abs(x), z = x * x;
    float p = fma(-5.70498872745e-3, z, 2.06390887954e-2);
    p = fma(p, z, -5.37397155531e-2);
    p = fma(p, z, 1.33314422036e-1);
    p = fma(p, z, -3.33332819422e-1);
    float low = fma(p * z, x, x), high = 1.0 - 2.0 / (exp_f32(2.0 * min(a, 10.0)) + 1.0);
    return is_nan(x) ? x : a < 0.625 ? low : x < 0.0 ? -high : high;
}

// cap * tanh(v / cap), or v where cap is 0.
float cap_f32(float v, float cap) { return cap > 0.0 ? cap * tanh_f32(v / cap) : v; }

float gelu_f32(float x) { return 0.5 * x * (1.0 + tanh_f32(0.79788456 * fma(0.044715 * x * x, x, x))); }

#endif
