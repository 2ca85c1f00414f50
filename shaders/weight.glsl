// weight.glsl - loads 16 bytes of a weight row and multiplies them with activations, for every type in the form in
// which the device keeps it.
//
// Form       F32, F16, BF16: rows as in files. Q8_0: all quants i8 [n_out][n_in], then all scales f16 [n_out][n_in /
//            32]. Q4_0: nibble bytes [n_out][n_in / 32][16] (low nibbles are values 0..15, high ones 16..31), then the
//            scales. Other types: rows of blocks as in files (dequant.glsl)
// Chunk      the values in 16 bytes: 4 of F32, 8 of F16 and BF16, 16 of Q8_0, 32 of Q4_0; 8 of types in blocks
// Wide       rows that start at a multiple of 16 bytes, as those of Q8_0 and Q4_0 always do. Other rows are read one
//            element at a time
// Loads      two 64-bit words, which are one 16-byte load on a GPU. With TEXELS, for drivers that run on the CPU, a
//            texel fetch: such a driver gathers a fetch for all lanes at once, but runs a load by address as a loop
//            over lanes in which each load waits for a store
// Includer   defines the specialization constant W_TYPE before it
#ifndef MYTH_WEIGHT_GLSL
#define MYTH_WEIGHT_GLSL

#include "dequant.glsl"

const uint CHUNK_MAX = 32;
const uint CHUNK = W_TYPE == DT_F32 ? 4 : W_TYPE == DT_Q8_0 ? 16 : W_TYPE == DT_Q4_0 ? 32 : 8;
const bool IS_QUANT = W_TYPE == DT_Q8_0 || W_TYPE == DT_Q4_0;          // planar: all quants, then all scales
const bool IS_BLOCK = W_TYPE >= MYTH_FIRST_BLOCK_TYPE;

vec4 unpack_words(u64vec2 w)
{
    uvec2 lo = unpack32(w.x), hi = unpack32(w.y);
    return uintBitsToFloat(uvec4(lo, hi));
}

// The four floats at address p, which is a multiple of 16 when is_wide.
vec4 load_vec4(uint64_t p, bool is_wide)
{
    if (is_wide)
        return unpack_words(Words(p).v[0]);
    return vec4(F32(p).v[0], F32(p).v[1], F32(p).v[2], F32(p).v[3]);
}

// The bytes of a row's values, without its scales.
uint64_t weight_row_bytes(uint n_in)
{
    if (IS_BLOCK)
        return block_row_bytes(W_TYPE, n_in);
    return W_TYPE == DT_F32 ? n_in * 4 : W_TYPE == DT_Q8_0 ? n_in : W_TYPE == DT_Q4_0 ? n_in / 2 : n_in * 2;
}

// Address of the scales of row `row`; the matrix has n_total rows.
uint64_t scale_row(uint64_t w, uint n_total, uint n_in, uint row)
{
    return w + uint64_t(n_total) * weight_row_bytes(n_in) + uint64_t(row) * (n_in / 16);
}

// weight_chunk is chunk c of row `row` of the planar matrix at w; the scales function gives four scales of a row, 4 i
// .. 4 i + 3. Texels and plain loads give the same bits.
#ifdef TEXELS
chunk_t weight_chunk(uint64_t w, uint n_in, uint row, uint c)
{
    return texelFetch(w_words, int(uint((w - w_base) >> 4) + row * (uint(weight_row_bytes(n_in)) >> 4) + c));
}
uvec2 scale_words(uint64_t w, uint n_total, uint n_in, uint row, uint i)
{
    return texelFetch(w_pairs, int(uint((scale_row(w, n_total, n_in, row) - w_base) >> 3) + i)).xy;
}
uvec4 chunk_words(chunk_t v) { return v; }
#else
chunk_t weight_chunk(uint64_t w, uint n_in, uint row, uint c)
{
    return Words(w + uint64_t(row) * weight_row_bytes(n_in)).v[c];
}
uvec2 scale_words(uint64_t w, uint n_total, uint n_in, uint row, uint i)
{
    return unpack32(U64(scale_row(w, n_total, n_in, row)).v[i]);
}
uvec4 chunk_words(chunk_t v) { return uvec4(unpack32(v.x), unpack32(v.y)); }
#endif

// The activations of one chunk. They are global because an array of specialized size may not be an argument.
vec4 chunk_x[CHUNK_MAX / 4];

// The sum over the chunk of w x. Types without a scale add it to `sum`; quants start at zero, since their scale is
// applied to the result.
float dot_chunk(float sum, chunk_t w)
{
    uvec4 q = chunk_words(w);
    if (W_TYPE == DT_F32) {
        [[unroll]] for (uint i = 0; i < 4; i++)
            sum = fma(uintBitsToFloat(q[i]), chunk_x[0][i], sum);
    } else if (W_TYPE == DT_F16) {
        [[unroll]] for (uint i = 0; i < 8; i++)
            sum = fma(unpackHalf2x16(q[i / 2])[i % 2], chunk_x[i / 4][i % 4], sum);
    } else if (W_TYPE == DT_BF16) {
        [[unroll]] for (uint i = 0; i < 8; i++) sum =
            fma(uintBitsToFloat(i % 2 == 0 ? q[i / 2] << 16 : q[i / 2] & 0xffff0000u), chunk_x[i / 4][i % 4], sum);
    } else if (W_TYPE == DT_Q8_0) {
        sum = 0.0;
        [[unroll]] for (uint i = 0; i < 16; i++)
            sum = fma(float(int(q[i / 4] << (24 - i % 4 * 8)) >> 24), chunk_x[i / 4][i % 4], sum);
    } else {
        sum = 0.0;
        [[unroll]] for (uint i = 0; i < 32; i++)
            sum = fma(float(int(q[i % 16 / 4] >> (i % 4 * 8 + i / 16 * 4) & 15u) - 8), chunk_x[i / 4][i % 4], sum);
    }
    return sum;
}

// Element i of the row that starts at p, for types without a scale.
float row_value(uint64_t p, uint i)
{
    return W_TYPE == DT_F32 ? F32(p).v[i]
         : W_TYPE == DT_F16 ? f16_to_f32(uint(U16(p).v[i]))
                            : bf16_to_f32(uint(U16(p).v[i]));
}

#endif
