// kv.glsl - finds the cached keys and values of a position (struct myth_kv_place of kernels/ops.h).
#ifndef MYTH_KV_GLSL
#define MYTH_KV_GLSL

// How many aligned units of `unit` positions are wholly in the gap g0..g1-1.
uint gap_units(uint g0, uint g1, uint unit)
{
    const uint first = g0 / unit + (g0 % unit > 0 ? 1 : 0);
    return g1 / unit > first ? g1 / unit - first : 0;
}

// Address of the layer's K in the page (or ring) that holds position pos; `row` is the position's row in it. `run` is
// the address of the run's record.
uint64_t kv_page(vk_kv_place kv, uint64_t run, uint pos, out uint row)
{
    uint entry = kv.is_ring != 0 ? 0 : pos / kv.page_tok;
    const uint g0 = uint(I32(run).v[RUN_GAP0]), g1 = uint(I32(run).v[RUN_GAP1]);
    if (kv.is_ring == 0 && g0 != g1 && pos >= g1)
        entry -= gap_units(g0, g1, kv.page_tok);
    row = pos % kv.page_tok;
    const uint64_t at = uint64_t(I32(run).v[RUN_SLOT]) * kv.n_entry + entry;
    return kv.pool + uint64_t(I32(kv.table + at * 8ul).v[0]) * kv.page_bytes + kv.layer_off;
}

#endif
