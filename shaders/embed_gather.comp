#version 460
#include "common.glsl"
#include "dequant.glsl"
// embed_gather   y[r,:] = scale * table[ids[r],:]
//
// Shapes     y f32 [n_rows, dim]; table of any type [n_vocab, dim], in the device's form (kernels/weight_form.h)
// Precision  the row is dequantised to f32, then scaled in f32
// Traffic    for each row, reads a row of the table and writes 4 * dim bytes
// Launch     one workgroup per row
layout(local_size_x = 256) in;
ARGS(embed_gather)

void main()
{
    const uint r = gl_WorkGroupID.x, dim = args.a.dim;
    const uint64_t row = uint64_t(I32(args.a.ids).v[r]);
    F32 y = F32(args.a.y + uint64_t(r) * dim * 4ul);
    for (uint i = gl_LocalInvocationID.x; i < dim; i += gl_WorkGroupSize.x)
        y.v[i] = weight_at(args.a.table, args.a.dtype, args.a.n_vocab, dim, row, i) * args.a.scale;
}
