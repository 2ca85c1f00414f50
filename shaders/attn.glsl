// attn.glsl - finds and reads the keys and values of one head of one run: in the cache before the run's first position,
// in the step's scratch from there on. They are read in place, in every cache type.
//
// Fold       folded keys (myth_key_fold) are made from the values when they are read: RoPE(fold_w * v). Angles come
//            from the table; past its end they are computed
// Includer   defines K_TYPE, V_TYPE, HEAD_DIM, FLAGS (1: K rows start at a multiple of four elements, 2: V rows do, 4:
//            keys are folded) and the arguments `a`
#ifndef MYTH_ATTN_GLSL
#define MYTH_ATTN_GLSL

#include "kv.glsl"
#include "math.glsl"
#include "rope.glsl"
#include "store.glsl"

const bool FOLDS = (FLAGS & 4) != 0;

// Bytes of a stored key; 0 where keys are folded.
uint64_t key_bytes() { return FOLDS ? 0ul : cache_bytes(K_TYPE, HEAD_DIM); }

uint64_t run_of(uint row) { return a.runs + uint64_t(I32(a.row_run).v[row]) * RUN_WIDTH * 4ul; }

// The first position that a row at pos sees.
uint first_key(uint pos) { return a.window != 0 && pos + 1 > a.window ? pos + 1 - a.window : 0; }

// The last position that a row at pos sees.
uint last_key(uint64_t run, uint pos)
{
    const uint end = uint(I32(run).v[RUN_POS0]) + uint(I32(run).v[RUN_N_ROWS]) - 1;
    return pos + min(a.n_after, end - pos);
}

// Address of the key (is_v: value) of position pos for kv head `head`. Where keys are folded it is the value's either
// way.
uint64_t cached_row(uint64_t run, uint pos, uint head, bool is_v)
{
    const uint pos0 = uint(I32(run).v[RUN_POS0]);
    is_v = is_v || FOLDS;
    const uint64_t k_bytes = key_bytes(), row_bytes = is_v ? cache_bytes(V_TYPE, HEAD_DIM) : k_bytes;
    if (pos >= pos0)
        return (is_v ? a.v_new : a.k_new) +
               (uint64_t(head) * a.cap_rows + uint(I32(run).v[RUN_ROW0]) + (pos - pos0)) * row_bytes;
    uint row;
    const uint64_t page = kv_page(a.kv, run, pos, row);
    return page + (is_v ? uint64_t(a.n_head_kv) * a.kv.page_tok * k_bytes : 0ul) +
           (uint64_t(head) * a.kv.page_tok + row) * row_bytes;
}

vec4 halves(uvec2 two, bool is_bf16)
{
    return is_bf16 ? uintBitsToFloat(uvec4(two.x << 16, two.x & 0xffff0000u, two.y << 16, two.y & 0xffff0000u))
                   : vec4(unpackHalf2x16(two.x), unpackHalf2x16(two.y));
}

// Elements d .. d + 3 of the row at p. d is a multiple of 4; elements past HEAD_DIM are 0.
vec4 row_vec4(uint64_t p, uint type, bool is_wide, uint d)
{
    if (type == DT_Q8_0) {
        const uint64_t block = p + (d / 32) * 34;
        const uint lo = uint(U16(block).v[1 + d % 32 / 2]), hi = uint(U16(block).v[2 + d % 32 / 2]);
        return scale_value(uint(U16(block).v[0])) * vec4(ivec4(lo << 24, lo << 16, hi << 24, hi << 16) >> 24);
    }
    if (is_wide) {
        if (type != DT_F32)
            return halves(unpack32(U64(p).v[d / 4]), type == DT_BF16);
        const u64vec2 w = Words(p).v[d / 4];
        return uintBitsToFloat(uvec4(unpack32(w.x), unpack32(w.y)));
    }
    vec4 v = vec4(0.0);
    for (uint i = 0; i < 4; i++)
        if (d + i < HEAD_DIM)
            v[i] = type == DT_F32   ? F32(p).v[d + i]
                   : type == DT_F16 ? f16_to_f32(uint(U16(p).v[d + i]))
                                    : bf16_to_f32(uint(U16(p).v[d + i]));
    return v;
}

vec4 value_vec4(uint64_t p, uint d) { return row_vec4(p, V_TYPE, (FLAGS & 2) != 0, d); }

// (cos, sin) of the angle by which RoPE rotates pair i at position pos.
vec2 key_turn(uint pos, uint i)
{
    if (pos >= a.n_table)
        return rope_pair(int(pos), U64(a.fold_turn).v[i]);
    F32 pair = F32(a.fold_table + (uint64_t(pos) * a.n_pair + i) * 8ul);
    return vec2(pair.v[0], pair.v[1]);
}

// Elements d .. d + 3 of the folded key of position pos, whose value is at p.
vec4 folded_vec4(uint64_t p, uint d, uint pos)
{
    const uint n_half = HEAD_DIM / 2;
    const bool is_by_four = HEAD_DIM % 8 == 0;              // the other elements of four pairs are neighbours
    vec4 v = value_vec4(p, d), other = vec4(0.0);
    if (is_by_four && d % n_half < a.n_pair)
        other = value_vec4(p, d < n_half ? d + n_half : d - n_half);
    [[unroll]] for (uint c = 0; c < 4; c++) {
        if (d + c >= HEAD_DIM)
            continue;
        const bool is_low = d + c < n_half;
        const uint i = is_low ? d + c : d + c - n_half, at = is_low ? i + n_half : i;
        const float own = v[c] * F32(a.fold_w).v[d + c];
        v[c] = own;
        if (i < a.n_pair) {
            const float o = (is_by_four ? other[c] : value_vec4(p, at / 4 * 4)[at % 4]) * F32(a.fold_w).v[at];
            const vec2 turn = key_turn(pos, i);
            v[c] = is_low ? own * turn.x - o * turn.y : own * turn.x + o * turn.y;
        }
    }
    return v;
}

// Elements d .. d + 3 of the key of position pos; p is its address, or that of the value where keys are folded.
vec4 key_vec4(uint64_t p, uint d, uint pos)
{
    return FOLDS ? folded_vec4(p, d, pos) : row_vec4(p, K_TYPE, (FLAGS & 1) != 0, d);
}

#endif
