// kv.glsl - finds the cached keys and values of a position (struct myth_kv_place of kernels/ops.h).
#ifndef MYTH_KV_GLSL
#define MYTH_KV_GLSL

// How many gaps a run has. Layers with a ring have none (kernels/ops.h).
uint n_gap_of(vk_kv_place kv, uint64_t run) { return kv.is_ring != 0 ? 0 : uint(I32(run).v[RUN_N_GAP]); }

uint gap_at(uint64_t run, uint i, uint field) { return uint(I32(run).v[RUN_GAPS + i * GAP_WIDTH + field]); }

// Whether position pos is in one of the run's n gaps.
bool is_gone(uint64_t run, uint n, uint pos)
{
    for (uint i = 0; i < n; i++)
        if (pos < gap_at(run, i, GAP_TO))
            return pos >= gap_at(run, i, GAP_FROM);
    return false;
}

// Of the blocks of `size` positions from block `first` on, those wholly in one of the run's n gaps do not count. The
// number of the i-th block that counts.
uint block_at(uint64_t run, uint n, uint first, uint size, uint i)
{
    uint block = first + i;
    for (uint k = 0; k < n; k++) {
        const uint from = gap_at(run, k, GAP_FROM), past = gap_at(run, k, GAP_TO) / size;
        const uint hole = max(from / size + (from % size > 0 ? 1 : 0), first);
        block += past > hole && block >= hole ? past - hole : 0;
    }
    return block;
}

// How many of the blocks first .. last count. No gap may reach past block `last`.
uint n_blocks(uint64_t run, uint n, uint first, uint last, uint size)
{
    const uint all = last - first + 1;
    return all - (block_at(run, n, first, size, all) - (first + all));
}

// Address of the layer's K in the page (or ring) that holds position pos; `row` is the position's row in it. `run` is
// the address of the run's record.
uint64_t kv_page(vk_kv_place kv, uint64_t run, uint pos, out uint row)
{
    uint entry = kv.is_ring != 0 ? 0 : pos / kv.page_tok;
    uint gone = 0;
    for (uint i = 0, n = n_gap_of(kv, run); i < n && pos >= gap_at(run, i, GAP_TO); i++)
        gone = gap_at(run, i, GAP_GONE);
    entry -= gone;
    row = pos % kv.page_tok;
    const uint64_t at = uint64_t(I32(run).v[RUN_SLOT]) * kv.n_entry + entry;
    return kv.pool + uint64_t(I32(kv.table + at * 8ul).v[0]) * kv.page_bytes + kv.layer_off;
}

#endif
