// moe.glsl - the entries of one expert, N_BATCH rows at a time, for gemv.glsl.
//
// Work       y: an expert each or, where there are fewer entries (is_by_entry), an entry each, of which the first of
//            every expert works for
//            all. Entry i's row is row i / share of x
// Includer   as gemv.glsl's, but for x_vec4 and x_at, which are here; `a` with x offset order n_in n_expert share
//            is_by_entry
#ifndef MYTH_MOE_GLSL
#define MYTH_MOE_GLSL

uint64_t x_row[N_BATCH];

vec4 x_vec4(uint b, uint i) { return load_vec4(x_row[b] + i * 16, (FLAGS & 2) != 0); }
float x_at(uint b, uint i) { return F32(x_row[b]).v[i]; }

// expert, first entry, end; empty where another workgroup has them
uvec3 moe_span(uint y)
{
    I32 offset = I32(a.offset);
    uint e = y;
    if (a.is_by_entry != 0) {                   // the last expert that starts at or before this place
        uint hi = a.n_expert;
        e = 0;
        while (hi - e > 1) {
            const uint mid = (e + hi) / 2;
            if (uint(offset.v[mid]) <= y)
                e = mid;
            else
                hi = mid;
        }
        if (uint(offset.v[e]) != y)
            return uvec3(e, 0, 0);
    }
    return uvec3(e, offset.v[e], offset.v[e + 1]);
}

// The rows of entries order[from..], past the last the last again.
void moe_rows(uint from, uint to)
{
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        x_row[b] = a.x + uint64_t(uint(I32(a.order).v[min(from + b, to - 1)]) / a.share) * a.n_in * 4ul;
}

#endif
