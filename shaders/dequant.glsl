// dequant.glsl - reads eight neighbouring weights of a row whose blocks are as in files: eight bytes with one scale and
// one minimum.
//
//   weight[i] = scale * (q[i] - zero) - least     each step rounded in f32, as in engine/base/blocks.h
//
// Types      all types with blocks except Q8_0 and Q4_0, which are planar (weight.glsl); layouts: engine/base/dtype.h.
//            Where the type is a specialization constant, only one case of the switch remains
// Eight      the first of them is at a multiple of 8 in the row, so all eight have one scale and come from the same
//            half or quarter of their bytes
// Loads      2 bytes at a time, because blocks of 22, 84, 110 and 210 bytes are aligned to no more; blocks of 17 bytes
//            are read byte by byte
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

bool is_block_type(uint dtype) { return dtype >= DT_Q4_1; }

uint64_t block_row_bytes(uint dtype, uint n)
{
    switch (dtype) {
    case DT_Q4_1: return n / 32 * 20;
    case DT_Q5_0: return n / 32 * 22;
    case DT_Q5_1: return n / 32 * 24;
    case DT_IQ4_NL: return n / 32 * 18;
    case DT_MXFP4: return n / 32 * 17;
    case DT_Q2_K: return n / 256 * 84;
    case DT_Q3_K: return n / 256 * 110;
    case DT_Q4_K: return n / 256 * 144;
    case DT_Q5_K: return n / 256 * 176;
    case DT_Q6_K: return n / 256 * 210;
    default: return n / 256 * 136;       // IQ4_XS
    }
}

// ---- pieces of a block ----

uint eight_byte(uint64_t p) { return uint(U8(p).v[0]); }
float eight_half(uint64_t p) { return scale_value(uint(U16(p).v[0])); }

// Eight bit fields: the eight bytes at p, shifted right and masked.
uvec2 eight_fields(uint64_t p, uint shift, uint mask)
{
    U16 h = U16(p);
    const uvec2 w = uvec2(uint(h.v[0]) | uint(h.v[1]) << 16, uint(h.v[2]) | uint(h.v[3]) << 16);
    return w >> shift & mask;
}

const uint ONE_BIT = 0x01010101u, TWO_BITS = 0x03030303u, FOUR_BITS = 0x0f0f0f0fu;

// Nibbles k .. k + 7 of the 32 at p.
uvec2 eight_nibbles(uint64_t p, uint k) { return eight_fields(p + k % 16, k % 32 < 16 ? 0 : 4, FOUR_BITS); }

// Fifth bits of values k .. k + 7; p has one bit per value.
uvec2 eight_fifths(uint64_t p, uint k)
{
    const uvec2 bits = uvec2(eight_byte(p + k % 32 / 8)) >> uvec2(0, 4);
    return (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}

// Entry n of a table of 16 bytes.
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
uvec2 eight_lookup(uvec4 table, uvec2 q) { return uvec2(lookup_word(table, q.x), lookup_word(table, q.y)); }

// The values of IQ4, and those of 4-bit floats times two; 128 is added to both.
const uvec4 IQ4_TABLE = uvec4(0x3f2d1801u, 0x766a5d4fu, 0xa6998d81u, 0xf1d9c5b5u);
const uvec4 FP4_TABLE = uvec4(0x83828180u, 0x8c888684u, 0x7d7e7f80u, 0x74787a7cu);

// ---- one function per type; for blocks of 256, k is the place in the block ----

eight_t eight_q4_1(uint64_t p, uint k)
{
    return eight_t(eight_nibbles(p + 4, k), 0, eight_half(p), -eight_half(p + 2));
}

eight_t eight_q5_0(uint64_t p, uint k)
{
    return eight_t(eight_nibbles(p + 6, k) | eight_fifths(p + 2, k), 16, eight_half(p), 0.0);
}

eight_t eight_q5_1(uint64_t p, uint k)
{
    return eight_t(eight_nibbles(p + 8, k) | eight_fifths(p + 4, k), 0, eight_half(p), -eight_half(p + 2));
}

eight_t eight_iq4_nl(uint64_t p, uint k)
{
    return eight_t(eight_lookup(IQ4_TABLE, eight_nibbles(p + 2, k)), 128, eight_half(p), 0.0);
}

eight_t eight_mxfp4(uint64_t p, uint k)
{
    const uint e = eight_byte(p), shift = k % 32 < 16 ? 0 : 4;
    U8 b = U8(p + 1 + k % 16);
    const uvec2 w = uvec2(uint(b.v[0]) | uint(b.v[1]) << 8 | uint(b.v[2]) << 16 | uint(b.v[3]) << 24,
                          uint(b.v[4]) | uint(b.v[5]) << 8 | uint(b.v[6]) << 16 | uint(b.v[7]) << 24);
    const float scale = uintBitsToFloat(e < 2 ? 0x00200000u << e : (e - 1) << 23);       // 2^(e - 128)
    return eight_t(eight_lookup(FP4_TABLE, w >> shift & FOUR_BITS), 128, scale, 0.0);
}

eight_t eight_q2_k(uint64_t p, uint k)
{
    const uint both = eight_byte(p + k / 16);
    return eight_t(eight_fields(p + 16 + k / 128 * 32 + k % 32, k % 128 / 32 * 2, TWO_BITS), 0,
                   eight_half(p + 80) * float(both & 15u), eight_half(p + 82) * float(both >> 4));
}

eight_t eight_q3_k(uint64_t p, uint k)
{
    const uint sub = k / 16, low = eight_byte(p + 96 + sub % 8) >> sub / 8 * 4 & 15u,
               high = eight_byte(p + 104 + sub % 4) >> sub / 4 * 2 & 3u;
    const uvec2 q = eight_fields(p + 32 + k / 128 * 32 + k % 32, k % 128 / 32 * 2, TWO_BITS);
    return eight_t(q | eight_fields(p + k % 32, k / 32, ONE_BIT) << 2, 4,
                   eight_half(p + 108) * float(int(low | high << 4) - 32), 0.0);
}

// Scale and minimum of value k in q4_k and q5_k.
vec2 six_bits(uint64_t p, uint k)
{
    const uint i = k / 32, top = eight_byte(p + 8 + i), low = eight_byte(p + 4 + i);
    uint s = low & 63u, m = top & 63u;
    if (i >= 4) {
        s = top & 15u | eight_byte(p + i) >> 6 << 4;
        m = top >> 4 | low >> 6 << 4;
    }
    return vec2(eight_half(p) * float(s), eight_half(p + 2) * float(m));
}

eight_t eight_q4_k(uint64_t p, uint k)
{
    const vec2 s = six_bits(p, k);
    return eight_t(eight_fields(p + 16 + k / 64 * 32 + k % 32, k % 64 / 32 * 4, FOUR_BITS), 0, s.x, s.y);
}

eight_t eight_q5_k(uint64_t p, uint k)
{
    const vec2 s = six_bits(p, k);
    const uvec2 q = eight_fields(p + 48 + k / 64 * 32 + k % 32, k % 64 / 32 * 4, FOUR_BITS);
    return eight_t(q | eight_fields(p + 16 + k % 32, k / 32, ONE_BIT) << 4, 0, s.x, s.y);
}

eight_t eight_q6_k(uint64_t p, uint k)
{
    const uint j = k % 128 / 32, at = k % 32;
    const uvec2 low = eight_fields(p + k / 128 * 64 + j % 2 * 32 + at, j / 2 * 4, FOUR_BITS);
    const uvec2 high = eight_fields(p + 128 + k / 128 * 32 + at, 2 * j, TWO_BITS);
    return eight_t(low | high << 4, 32, eight_half(p + 208) * float(int(I8(p + 192 + k / 16).v[0])), 0.0);
}

eight_t eight_iq4_xs(uint64_t p, uint k)
{
    const uint i = k / 32, low = eight_byte(p + 4 + i / 2) >> i % 2 * 4 & 15u,
               high = uint(U16(p + 2).v[0]) >> 2 * i & 3u;
    return eight_t(eight_lookup(IQ4_TABLE, eight_nibbles(p + 8 + 16 * i, k)), 128,
                   eight_half(p) * float(int(low | high << 4) - 32), 0.0);
}

// ---- a row ----

// Weights k .. k + 7 of the row at address p.
eight_t eight_at(uint dtype, uint64_t p, uint k)
{
    const uint block = k / 32, in_super = k % 256;
    const uint64_t super_block = p + block_row_bytes(dtype, k - in_super);
    switch (dtype) {
    case DT_Q4_1: return eight_q4_1(p + block * 20, k);
    case DT_Q5_0: return eight_q5_0(p + block * 22, k);
    case DT_Q5_1: return eight_q5_1(p + block * 24, k);
    case DT_IQ4_NL: return eight_iq4_nl(p + block * 18, k);
    case DT_MXFP4: return eight_mxfp4(p + block * 17, k);
    case DT_Q2_K: return eight_q2_k(super_block, in_super);
    case DT_Q3_K: return eight_q3_k(super_block, in_super);
    case DT_Q4_K: return eight_q4_k(super_block, in_super);
    case DT_Q5_K: return eight_q5_k(super_block, in_super);
    case DT_Q6_K: return eight_q6_k(super_block, in_super);
    default: return eight_iq4_xs(super_block, in_super);
    }
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
