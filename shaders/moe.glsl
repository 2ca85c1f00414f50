// moe.glsl - gives gemv.glsl the rows of one expert's entries, N_BATCH at a time.
//
// Launch     y of a workgroup is an expert. Where a step has fewer entries than experts (is_by_entry), y is an entry,
//            and the workgroup of an expert's first entry computes all of that expert. Entry i has row i / share of x
// Includer   defines what gemv.glsl needs, except x_vec4 and x_at, which are here; and `a` with x offset order n_in
//            n_expert share is_by_entry
#ifndef MYTH_MOE_GLSL
#define MYTH_MOE_GLSL

uint64_t x_row[N_BATCH];

vec4 x_vec4(uint b, uint i) { return load_vec4(x_row[b] + i * 16, (FLAGS & 2) != 0); }
float x_at(uint b, uint i) { return F32(x_row[b]).v[i]; }

// (expert, first entry, end) for this y; no entries where another workgroup computes them.
uvec3 moe_span(uint y)
{
    I32 offset = I32(a.offset);
    uint e = y;
    if (a.is_by_entry != 0) {                   // find the last expert whose entries start at or before y
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

// Finds the rows of N_BATCH entries from order[from] on. The last entry, order[to - 1], stands in for those past it.
void moe_rows(uint from, uint to)
{
    [[unroll]] for (uint b = 0; b < N_BATCH; b++)
        x_row[b] = a.x + uint64_t(uint(I32(a.order).v[min(from + b, to - 1)]) / a.share) * a.n_in * 4ul;
}

#endif
