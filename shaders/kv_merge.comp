#version 460
layout(local_size_x = 64) in;
#include "common.glsl"
#include "store.glsl"
#include "kv.glsl"
// kv_merge   copies the scratch rows of runs that are not ephemeral into their pages or rings; scratch and cache have
//            the same type, so nothing is rounded
//
// Traffic    the rows of the step are read and written once
// Launch     x: K heads, then V heads, or V heads only. y: runs. z: workgroups that share a run's rows, since only the
//            device knows how many there are
ARGS(kv_merge)

void main()
{
    const uint64_t run = args.a.runs + uint64_t(gl_WorkGroupID.y) * RUN_WIDTH * 4ul;
    if ((I32(run).v[RUN_FLAGS] & RUN_EPHEMERAL) != 0)
        return;
    const uint n_kv = args.a.n_head_kv, head = gl_WorkGroupID.x % n_kv, hd = args.a.head_dim,
               page_tok = args.a.kv.page_tok;
    const bool has_k = args.a.k_new != 0ul, is_v = !has_k || gl_WorkGroupID.x >= n_kv;
    const uint64_t row_bytes = cache_bytes(is_v ? args.a.type_v : args.a.type_k, hd);
    const uint64_t skip = is_v && has_k ? uint64_t(n_kv) * page_tok * cache_bytes(args.a.type_k, hd) : 0ul;
    const uint n_rows = uint(I32(run).v[RUN_N_ROWS]);
    // Rows of a ring before this one would be overwritten by later rows of the same run.
    const uint first = args.a.kv.is_ring != 0 && n_rows > page_tok ? n_rows - page_tok : 0;
    for (uint i = first + gl_WorkGroupID.z; i < n_rows; i += gl_NumWorkGroups.z) {
        uint row;
        const uint64_t page = kv_page(args.a.kv, run, uint(I32(run).v[RUN_POS0]) + i, row);
        const uint64_t to = page + skip + (uint64_t(head) * page_tok + row) * row_bytes;
        const uint64_t at = uint64_t(head) * args.a.cap_rows + uint(I32(run).v[RUN_ROW0]) + i;
        const uint64_t from = (is_v ? args.a.v_new : args.a.k_new) + at * row_bytes;
        if (((to | from | row_bytes) & 3ul) == 0ul) {
            for (uint k = gl_LocalInvocationID.x; k < uint(row_bytes) / 4; k += gl_WorkGroupSize.x)
                U32(to).v[k] = U32(from).v[k];
        } else {
            for (uint k = gl_LocalInvocationID.x; k < uint(row_bytes) / 2; k += gl_WorkGroupSize.x)
                U16(to).v[k] = U16(from).v[k];
        }
    }
}
