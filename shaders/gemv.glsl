// gemv.glsl - the products of R_ROWS rows of W with N_BATCH rows of x, by one subgroup.
//
// Order      lane l takes the chunks l, l + S, ... of a row (S lanes) and adds their elements in that order; then the
//            lanes are added, neighbours first. This depends on n_in and S only, not on R_ROWS, N_BATCH or the
//            workgroup
// Blocks     of types that stay in blocks, a lane takes eight values at a time, in the same order
// Scales     where they can be read four at a time, lane l loads four scales per row for the next 128 / CHUNK steps,
//            and lanes get theirs by a shuffle
// Traffic    W once; x once per R_ROWS rows, from a cache or from shared memory
// Limit      DRAM bandwidth. Each lane has R_ROWS 16-byte loads in flight
// Includer   defines R_ROWS; N_BATCH; FLAGS (1: weight rows are wide, 2: rows of x are wide, 4: scales can be read four
//            at a time); vec4 x_vec4(uint b, uint i) for x[b][4 i .. 4 i + 3]; float x_at(uint b, uint i)
#ifndef MYTH_GEMV_GLSL
#define MYTH_GEMV_GLSL

const bool IS_W_WIDE = (FLAGS & 1) != 0;
const bool IS_SCALE_WIDE = (FLAGS & 4) != 0;
const uint STEPS = 128 / CHUNK;

float gemv_y[R_ROWS * N_BATCH];
chunk_t gemv_q[R_ROWS];
float gemv_scale[R_ROWS];

// Adds the products of chunk c of R_ROWS rows, whose quants and scales were loaded before.
void gemv_step(uint c)
{
    [[unroll]] for (uint b = 0; b < N_BATCH; b++) {
        [[unroll]] for (uint i = 0; i < CHUNK / 4; i++)
            chunk_x[i] = x_vec4(b, c * (CHUNK / 4) + i);
        [[unroll]] for (uint r = 0; r < R_ROWS; r++) {
            float part = dot_chunk(gemv_y[r * N_BATCH + b], gemv_q[r]);
            gemv_y[r * N_BATCH + b] = IS_QUANT ? fma(gemv_scale[r], part, gemv_y[r * N_BATCH + b]) : part;
        }
    }
}

void gemv_load(uint64_t w, uint n_in, uint row0, uint n_total, uint c)
{
    [[unroll]] for (uint r = 0; r < R_ROWS; r++)
        gemv_q[r] = weight_chunk(w, n_in, min(row0 + r, n_total - 1), c);
}

// The whole sum, with scales that are read one at a time.
void gemv_narrow_scales(uint64_t w, uint n_in, uint row0, uint n_total)
{
    for (uint c = gl_SubgroupInvocationID; c < n_in / CHUNK; c += gl_SubgroupSize) {
        gemv_load(w, n_in, row0, n_total, c);
        [[unroll]] for (uint r = 0; r < R_ROWS; r++) if (IS_QUANT) gemv_scale[r] =
            scale_value(uint(U16(scale_row(w, n_total, n_in, min(row0 + r, n_total - 1))).v[c * CHUNK / 32]));
        gemv_step(c);
    }
}

void gemv_wide_scales(uint64_t w, uint n_in, uint row0, uint n_total)
{
    uvec2 word[R_ROWS];
    uint lane = gl_SubgroupInvocationID, n_chunk = n_in / CHUNK;
    for (uint base = 0; base < n_chunk; base += STEPS * gl_SubgroupSize) {
        uint at = base / STEPS + lane;
        if (at < n_in / 128)
            [[unroll]] for (uint r = 0; r < R_ROWS; r++)
                word[r] = scale_words(w, n_total, n_in, min(row0 + r, n_total - 1), at);
        for (uint i = 0; i < STEPS && base + i * gl_SubgroupSize < n_chunk; i++) {
            uint c = base + i * gl_SubgroupSize + lane, block = (i * gl_SubgroupSize + lane) * CHUNK / 32;
            [[unroll]] for (uint r = 0; r < R_ROWS; r++) {
                uvec2 two = uvec2(subgroupShuffle(word[r].x, block / 4), subgroupShuffle(word[r].y, block / 4));
                gemv_scale[r] = scale_value(((block & 2) != 0 ? two.y : two.x) >> (block & 1) * 16 & 0xffffu);
            }
            if (c < n_chunk) {
                gemv_load(w, n_in, row0, n_total, c);
                gemv_step(c);
            }
        }
    }
}

void gemv_elements(uint64_t w, uint n_in, uint row0, uint n_total)
{
    for (uint i = gl_SubgroupInvocationID; i < n_in; i += gl_SubgroupSize)
        [[unroll]] for (uint r = 0; r < R_ROWS; r++) {
            float v = row_value(w + uint64_t(min(row0 + r, n_total - 1)) * weight_row_bytes(n_in), i);
            [[unroll]] for (uint b = 0; b < N_BATCH; b++)
                gemv_y[r * N_BATCH + b] = fma(v, x_at(b, i), gemv_y[r * N_BATCH + b]);
        }
}

void gemv_blocks(uint64_t w, uint n_in, uint row0, uint n_total)
{
    for (uint c = gl_SubgroupInvocationID; c < n_in / 8; c += gl_SubgroupSize)
        [[unroll]] for (uint r = 0; r < R_ROWS; r++) {
            const eight_t e =
                eight_at(W_TYPE, w + uint64_t(min(row0 + r, n_total - 1)) * weight_row_bytes(n_in), c * 8);
            [[unroll]] for (uint h = 0; h < 2; h++) {
                const vec4 v = eight_four(e, h);
                [[unroll]] for (uint b = 0; b < N_BATCH; b++) {
                    const vec4 x = x_vec4(b, c * 2 + h);
                    float sum = gemv_y[r * N_BATCH + b];
                    [[unroll]] for (uint i = 0; i < 4; i++)
                        sum = fma(v[i], x[i], sum);
                    gemv_y[r * N_BATCH + b] = sum;
                }
            }
        }
}

// Adds the sums of the lanes. Each step halves the number of values that a lane still has, and doubles the number of
// lanes that were added into each. At the end lane l has row l % R_ROWS (and every S-th row after it). That takes
// R_ROWS - 1 shuffles. The order of the additions is that of lanes_sum.
void gemv_add_lanes(uint b)
{
    uint n = R_ROWS;
    [[unroll]] for (uint o = 1; o < SUBGROUP; o *= 2) {
        const bool is_odd = (gl_SubgroupInvocationID & o) != 0;
        [[unroll]] for (uint i = 0; i < R_ROWS / 2; i++)
            if (i < n / 2) {
                const float even = gemv_y[2 * i * N_BATCH + b], odd = gemv_y[(2 * i + 1) * N_BATCH + b];
                gemv_y[i * N_BATCH + b] = (is_odd ? odd : even) + subgroupShuffleXor(is_odd ? even : odd, o);
            }
        if (n == 1)
            gemv_y[b] += subgroupShuffleXor(gemv_y[b], o);
        n = max(n / 2, 1);
    }
}

// After gemv a lane has N_OWN rows: gemv_y[i * N_BATCH + b] is the result of row gemv_own(i) of W and row b of x. Where
// there are more lanes than rows, only the first R_ROWS lanes have one.
const uint N_OWN = R_ROWS > SUBGROUP ? R_ROWS / SUBGROUP : 1;
uint gemv_own(uint i) { return i * SUBGROUP + (gl_SubgroupInvocationID & (R_ROWS - 1)); }
bool gemv_has_row() { return gl_SubgroupInvocationID < R_ROWS; }

// Computes W[row0 + r] . x[b] for r < R_ROWS. W has n_total rows; the last one stands in for rows past them.
void gemv(uint64_t w, uint n_in, uint row0, uint n_total)
{
    [[unroll]] for (uint i = 0; i < R_ROWS * N_BATCH; i++)
        gemv_y[i] = 0.0;
    if (IS_BLOCK)
        gemv_blocks(w, n_in, row0, n_total);
    else if (!IS_W_WIDE)
        gemv_elements(w, n_in, row0, n_total);
    else if (IS_QUANT && IS_SCALE_WIDE)
        gemv_wide_scales(w, n_in, row0, n_total);
    else
        gemv_narrow_scales(w, n_in, row0, n_total);
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        gemv_add_lanes(b);
}

#endif
