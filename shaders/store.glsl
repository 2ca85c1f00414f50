// store.glsl - rounds a row in shared memory to a cache type and stores it.
#ifndef MYTH_STORE_GLSL
#define MYTH_STORE_GLSL

#define HEAD_MAX 1024

shared float store_row[HEAD_MAX];

// The bytes of n elements of a cache type.
uint64_t cache_bytes(uint dtype, uint n)
{
    return dtype == DT_F32 ? n * 4ul : dtype == DT_Q8_0 ? (n / 32) * 34ul : n * 2ul;
}

// The nearest integer, ties away from zero; 0 where q is beyond -127..127 or NaN.
int round_q8(float q)
{
    const float whole = trunc(q), rest = abs(q - whole), y = rest >= 0.5 ? whole + sign(q) : whole;
    return y >= -127.0 && y <= 127.0 ? int(y) : 0;
}

// Stores store_row[0..n) as row `row` of the [.., n] array at dst. The whole workgroup calls it, after a barrier that
// follows the writing of store_row.
void store_cache_row(uint64_t dst, uint dtype, uint64_t row, uint n)
{
    const uint64_t to = dst + row * cache_bytes(dtype, n);
    const uint step = gl_WorkGroupSize.x;
    if (dtype == DT_Q8_0) {
        for (uint b = gl_LocalInvocationID.x; b < n / 32; b += step) {
            float amax = 0.0;
            for (uint i = 0; i < 32; i++)
                amax = max(amax, abs(store_row[b * 32 + i]));
            const float scale = amax / 127.0, inverse = scale != 0.0 ? 1.0 / scale : 0.0;
            const uint64_t block = to + b * 34ul;
            U16(block).v[0] = uint16_t(f32_to_f16(scale));
            for (uint i = 0; i < 32; i++)
                I8(block).v[2 + i] = int8_t(round_q8(store_row[b * 32 + i] * inverse));
        }
        return;
    }
    for (uint i = gl_LocalInvocationID.x; i < n; i += step) {
        if (dtype == DT_F32)
            F32(to).v[i] = store_row[i];
        else
            U16(to).v[i] = uint16_t(dtype == DT_F16 ? f32_to_f16(store_row[i]) : f32_to_bf16(store_row[i]));
    }
}

#endif
