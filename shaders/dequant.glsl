// dequant.glsl - reads eight neighbouring weights of a row whose blocks are as in files: eight bytes with one scale and
// one minimum.
//
// Types      all types with blocks except Q8_0 and Q4_0, which are planar (weight.glsl). kernels/eights.def decodes
//            them; here are the pieces of which it makes its decoders. Where the type is a specialization constant,
//            only one case of the switch remains
// Precision  the device may flush MXFP4 scales below 2^-126 to zero
// Not built  16-byte loads where blocks are multiples of 16 bytes (Q4_K, Q5_K), and more than eight values of a block
//            per lane, might be faster. Nothing here was measured on a GPU
#ifndef MYTH_DEQUANT_GLSL
#define MYTH_DEQUANT_GLSL

struct eight_t {
    uvec2 q;                             // bytes 0..255
    int zero;
    float scale, least;
};

// The columns of engine/base/types.def.
#define ROW_BYTES(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, spread, lift) \
    case code: return n / block * bytes;
#define ROW_AT(X, code, NAME, name, gguf, file, block, bytes, half_off, n_half, scales, narrow, spread, lift) \
    case code: eight_##name(e, p + k / block * bytes, k % block); break;

bool is_block_type(uint dtype) { return dtype >= MYTH_FIRST_BLOCK_TYPE; }

uint64_t block_row_bytes(uint dtype, uint n)
{
    switch (dtype) {
    MYTH_BLOCK_TYPES(ROW_BYTES, 0)
    }
    return 0;
}

// ---- pieces of a block, as kernels/eights.def lists them ----

uint eight_byte(uint64_t p) { return uint(U8(p).v[0]); }
int eight_signed(uint64_t p) { return int(I8(p).v[0]); }
uint eight_pair(uint64_t p) { return uint(U16(p).v[0]); }
float eight_half(uint64_t p) { return scale_value(uint(U16(p).v[0])); }
float eight_times(float a, float b) { return a * b; }
float eight_exponent(uint n) { return uintBitsToFloat(n < 2 ? 0x00200000u << n : (n - 1) << 23); }

uvec2 eight_words(uint64_t p)
{
    U16 h = U16(p);
    return uvec2(uint(h.v[0]) | uint(h.v[1]) << 16, uint(h.v[2]) | uint(h.v[3]) << 16);
}
void eight_fields(out uvec2 q, uint64_t p, uint shift, uint mask) { q = eight_words(p) >> shift & mask; }
void eight_more(inout uvec2 q, uint64_t p, uint shift, uint mask, uint up)
{
    q |= (eight_words(p) >> shift & mask) << up;
}

void eight_nibbles(out uvec2 q, uint64_t p, uint k)
{
    eight_fields(q, p + k % 16, k % 32 < 16 ? 0 : 4, 0x0f0f0f0fu);
}
void eight_odd_nibbles(out uvec2 q, uint64_t p, uint k)
{
    U8 b = U8(p + k % 16);
    const uvec2 w = uvec2(uint(b.v[0]) | uint(b.v[1]) << 8 | uint(b.v[2]) << 16 | uint(b.v[3]) << 24,
                          uint(b.v[4]) | uint(b.v[5]) << 8 | uint(b.v[6]) << 16 | uint(b.v[7]) << 24);
    q = w >> (k % 32 < 16 ? 0 : 4) & 0x0f0f0f0fu;
}

void eight_fifths(inout uvec2 q, uint64_t p, uint k)
{
    const uvec2 bits = uvec2(eight_byte(p + k % 32 / 8)) >> uvec2(0, 4);
    q |= (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}

uint lookup_byte(uvec4 table, uint n)
{
    const uint word = (n & 8u) != 0 ? ((n & 4u) != 0 ? table.w : table.z) : ((n & 4u) != 0 ? table.y : table.x);
    return word >> (n & 3u) * 8 & 0xffu;
}
uint lookup_word(uvec4 table, uint w)
{
    return lookup_byte(table, w & 15u) | lookup_byte(table, w >> 8 & 15u) << 8 |
           lookup_byte(table, w >> 16 & 15u) << 16 | lookup_byte(table, w >> 24 & 15u) << 24;
}
void eight_lookup(inout uvec2 q, uint t0, uint t1, uint t2, uint t3)
{
    const uvec4 table = uvec4(t0, t1, t2, t3);
    q = uvec2(lookup_word(table, q.x), lookup_word(table, q.y));
}

#define EIGHT_PART(name) void name(inout eight_t e, uint64_t p, uint k)
#define EIGHT(name)      EIGHT_PART(eight_##name)
#include "../kernels/eights.def"

// ---- a row ----

// Weights k .. k + 7 of the row at address p.
eight_t eight_at(uint dtype, uint64_t p, uint k)
{
    eight_t e = eight_t(uvec2(0), 0, 0.0, 0.0);
    switch (dtype) {
    MYTH_BLOCK_TYPES(ROW_AT, 0)
    }
    return e;
}

// The first or the last four of the eight, as floats. `precise` keeps the product and the subtraction apart.
vec4 eight_four(eight_t e, uint half_idx)
{
    const uint w = half_idx == 0 ? e.q.x : e.q.y;
    const precise vec4 product = e.scale * vec4(ivec4(uvec4(w, w >> 8, w >> 16, w >> 24) & 0xffu) - e.zero);
    const precise vec4 v = product - e.least;
    return v;
}

// Element i of row `row` of the matrix [n_row, n] at w, for any type in the form in which the device keeps it.
float weight_at(uint64_t w, uint dtype, uint64_t n_row, uint n, uint64_t row, uint i)
{
    if (is_block_type(dtype))
        return eight_four(eight_at(dtype, w + row * block_row_bytes(dtype, n), i & ~7u), i / 4 % 2)[i % 4];
    const uint64_t at = row * n + i;
    switch (dtype) {
    case DT_F32: return F32(w + at * 4ul).v[0];
    case DT_F16: return f16_to_f32(uint(U16(w + at * 2ul).v[0]));
    case DT_BF16: return bf16_to_f32(uint(U16(w + at * 2ul).v[0]));
    case DT_Q8_0: return f16_to_f32(uint(U16(w + n_row * n + at / 32ul * 2ul).v[0])) * float(int(I8(w + at).v[0]));
    default: {
        uint b = uint(U8(w + (at / 32ul) * 16ul + uint64_t(i % 16u)).v[0]);
        return f16_to_f32(uint(U16(w + n_row * n / 2ul + at / 32ul * 2ul).v[0])) *
               float(int((i % 32u) < 16u ? b & 15u : b >> 4) - 8);
    }
    }
}

#endif
