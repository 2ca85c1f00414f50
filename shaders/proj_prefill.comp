#version 460
#include "common.glsl"
// proj_prefill   y[r,:] = cap(W x[r,:])
//
// Use        proj in prefill steps, and the head's logits, a stripe of the vocabulary at a time
// Shapes     x f32 [n_rows, n_in], y f32 [n_rows, y_stride]; W planar, any type, [n_total, n_in], of which the rows
//            row0 .. row0 + n_out - 1 are used
// Tile       64 threads compute 8 T_ROWS rows x 64 outputs, T_ROWS x 8 each, from 32 inputs at a time in shared memory.
//            There the place of a row's vec4 is swizzled by the row, so that neither stores nor loads meet in a bank
// Order      a sum runs over the inputs one by one, the same for every tile
// Precision  f32. With IS_PACKED, weights have 16 bits in shared memory, products and sums are f32. BF16 and MXFP4
//            weights are exact as bf16, F16 is exact as f16, and types with f16 scales are rounded to f16
// Lost       rounding those to bf16, or activations too: logits of tiny models moved by more than the tolerance of fast
//            modes
// Traffic    W once per 8 T_ROWS rows, x once per 64 outputs; a weight in shared memory is read once for T_ROWS
//            products, an activation once for 8
// Limit      f32 arithmetic
// Launch     x: tiles of outputs; y: tiles of rows
layout(local_size_x = 64) in;
layout(constant_id = 1) const uint W_TYPE = 0;
layout(constant_id = 2) const uint T_ROWS = 8;
layout(constant_id = 3) const uint FLAGS = 3;
layout(constant_id = 4) const bool IS_PACKED = false;
ARGS(proj)
vk_proj_args a;                 // a copy, because loops would read args.a from memory again

#include "math.glsl"
#include "weight.glsl"

const bool IS_W_WIDE = (FLAGS & 1) != 0;
const bool IS_X_WIDE = (FLAGS & 2) != 0;
const uint K_TILE = 32, N_TILE = 64, M_TILE = 8 * T_ROWS, N_PART = K_TILE / CHUNK;

shared u64vec2 x_tile[M_TILE * 8], w_tile[IS_PACKED ? 1 : N_TILE * 8];
shared uint64_t w_packed[IS_PACKED ? N_TILE * 8 : 1];
float acc[T_ROWS * 8];
vec4 xv[T_ROWS], wv[8];

uint place(uint row, uint word) { return row * 8 + (word ^ (row & 7)); }

const bool IS_BRAIN = W_TYPE == DT_BF16 || W_TYPE == DT_MXFP4;

// Packs four weights into 16 bits each. Only a damaged file has weights beyond the range of f16, or NaN, which stays.
// The lower half of a weight that is exact as bf16 is zero already.
uint64_t pack_four(vec4 v)
{
    if (!IS_BRAIN) {
        v = mix(clamp(v, -65504.0, 65504.0), v, bvec4(is_nan(v.x), is_nan(v.y), is_nan(v.z), is_nan(v.w)));
        return pack64(uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw)));
    }
    uvec4 u = floatBitsToUint(v) >> 16;
    return pack64(uvec2(u.x | u.y << 16, u.z | u.w << 16));
}

vec4 unpack_bf16(uint64_t w)
{
    uvec2 u = unpack32(w);
    return uintBitsToFloat(uvec4(u.x << 16, u.x & 0xffff0000u, u.y << 16, u.y & 0xffff0000u));
}

vec4 unpack_four(uint64_t w)
{
    uvec2 u = unpack32(w);
    return IS_BRAIN ? unpack_bf16(w) : vec4(unpackHalf2x16(u.x), unpackHalf2x16(u.y));
}

u64vec2 to_words(vec4 v)
{
    uvec4 u = floatBitsToUint(v);
    return u64vec2(pack64(u.xy), pack64(u.zw));
}

void put_w(uint row, uint word, vec4 v)
{
    if (IS_PACKED)
        w_packed[place(row, word)] = pack_four(v);
    else
        w_tile[place(row, word)] = to_words(v);
}

// Inputs k .. k + 3 of row r of x, with zeros past the end.
vec4 read_x(uint r, uint k)
{
    const uint n_in = a.n_in;
    uint64_t p = a.x + (uint64_t(min(r, a.n_rows - 1)) * n_in + k) * 4ul;
    if (k + 4 <= n_in)
        return load_vec4(p, IS_X_WIDE);
    vec4 v = vec4(0.0);
    for (uint i = 0; i < 4; i++)
        if (k + i < n_in)
            v[i] = F32(p).v[i];
    return v;
}

// Writes inputs k .. k + CHUNK - 1 of weight row `row` to the words from `word` on of the tile's row n.
void read_w(uint n, uint row, uint k, uint word)
{
    const uint n_in = a.n_in;
    uint64_t p = a.w + uint64_t(row) * weight_row_bytes(n_in);
    if (IS_BLOCK) {                                     // n_in is a multiple of K_TILE here
        const eight_t e = eight_at(W_TYPE, p, k);
        put_w(n, word, eight_four(e, 0));
        put_w(n, word + 1, eight_four(e, 1));
        return;
    }
    if (!IS_W_WIDE || k >= n_in) {
        [[unroll]] for (uint j = 0; j < CHUNK / 4; j++) {
            vec4 v = vec4(0.0);
            for (uint i = 0; i < 4; i++)
                if (!IS_QUANT && k + j * 4 + i < n_in)
                    v[i] = row_value(p, k + j * 4 + i);
            put_w(n, word + j, v);
        }
        return;
    }
    u64vec2 w = Words(p).v[k / CHUNK];
    uvec2 lo = unpack32(w.x), hi = unpack32(w.y);
    uvec4 q = uvec4(lo, hi);
    float scale = IS_QUANT ? scale_value(uint(U16(scale_row(a.w, a.n_total, n_in, row)).v[k / 32])) : 1.0;
    if (W_TYPE == DT_F32) {
        put_w(n, word, uintBitsToFloat(q));
    } else if (W_TYPE == DT_F16) {
        put_w(n, word, vec4(unpackHalf2x16(q.x), unpackHalf2x16(q.y)));
        put_w(n, word + 1, vec4(unpackHalf2x16(q.z), unpackHalf2x16(q.w)));
    } else if (W_TYPE == DT_BF16) {
        put_w(n, word, unpack_bf16(w.x));
        put_w(n, word + 1, unpack_bf16(w.y));
    } else if (W_TYPE == DT_Q8_0) {
        [[unroll]] for (uint j = 0; j < 4; j++)
            put_w(n, word + j, scale * vec4(ivec4(q[j] << 24, q[j] << 16, q[j] << 8, q[j]) >> 24));
    } else {
        [[unroll]] for (uint j = 0; j < 8; j++)
            put_w(n, word + j, scale * vec4(ivec4((uvec4(q[j % 4]) >> (uvec4(0, 8, 16, 24) + j / 4 * 4)) & 15u) - 8));
    }
}

void main()
{
    a = args.a;
    const uint t = gl_LocalInvocationIndex, tx = t % 8, ty = t / 8, n0 = gl_WorkGroupID.x * N_TILE,
               m0 = gl_WorkGroupID.y * M_TILE;
    const uint n_in = a.n_in, n_out = a.n_out, row0 = a.row0;
    [[unroll]] for (uint i = 0; i < T_ROWS * 8; i++)
        acc[i] = 0.0;
    for (uint k = 0; k < n_in; k += K_TILE) {
        barrier();
        [[unroll]] for (uint i = 0; i < T_ROWS; i++) {
            uint e = i * 64 + t;
            x_tile[place(e / 8, e % 8)] = to_words(read_x(m0 + e / 8, k + e % 8 * 4));
        }
        [[unroll]] for (uint i = 0; i < N_PART; i++) {
            uint e = i * 64 + t, n = e / N_PART, part = e % N_PART;
            read_w(n, row0 + min(n0 + n, n_out - 1), k + part * CHUNK, part * (CHUNK / 4));
        }
        barrier();
        for (uint word = 0; word < 8; word++) {
            [[unroll]] for (uint i = 0; i < T_ROWS; i++)
                xv[i] = unpack_words(x_tile[place(i * 8 + ty, word)]);
            [[unroll]] for (uint j = 0; j < 8; j++) wv[j] = IS_PACKED ? unpack_four(w_packed[place(j * 8 + tx, word)])
                                                                      : unpack_words(w_tile[place(j * 8 + tx, word)]);
            [[unroll]] for (uint i = 0; i < T_ROWS; i++)
                [[unroll]] for (uint j = 0; j < 8; j++)
                    [[unroll]] for (uint c = 0; c < 4; c++)
                        acc[i * 8 + j] = fma(xv[i][c], wv[j][c], acc[i * 8 + j]);
        }
    }
    [[unroll]] for (uint i = 0; i < T_ROWS; i++) {
        const uint r = m0 + i * 8 + ty;
        if (r >= a.n_rows)
            break;
        F32 y = F32(a.y + uint64_t(r) * a.y_stride * 4ul);
        [[unroll]] for (uint j = 0; j < 8; j++)
            if (n0 + j * 8 + tx < n_out)
                y.v[n0 + j * 8 + tx] = cap_f32(acc[i * 8 + j], a.softcap);
    }
}
