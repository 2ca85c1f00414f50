// altup.glsl - the coefficients of altup_predict and altup_correct (Gemma 3n's residual streams). One workgroup
// computes those of a row.
//
//   c = coef m,  m[k] = tanh(router[k] . (RMS(x) * w_route) / dim)
//
// Precision  f32
// Includer   includes rows.glsl and math.glsl first; defines `a` with w_route router coef dim n_stream eps
#ifndef MYTH_ALTUP_GLSL
#define MYTH_ALTUP_GLSL

const uint STREAM_MAX = 8;
float modality[STREAM_MAX];

// Computes m, for all threads. x is a row; a thread reads only elements that it may have written itself. All threads of
// the workgroup must call it.
void find_modality(uint64_t x)
{
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < a.dim; i += gl_WorkGroupSize.x)
        sum = fma(F32(x).v[i], F32(x).v[i], sum);
    const float scale = norm_scale(group_sum(sum), a.dim, a.eps) / float(a.dim);
    for (uint k = 0; k < a.n_stream; k++) {
        F32 router = F32(a.router + uint64_t(k) * a.dim * 4ul);
        sum = 0.0;
        for (uint i = gl_LocalInvocationID.x; i < a.dim; i += gl_WorkGroupSize.x)
            sum = fma(F32(x).v[i] * F32(a.w_route).v[i], router.v[i], sum);
        modality[k] = tanh_f32(group_sum(sum) * scale);
    }
}

float coefficient(uint row)
{
    float c = 0.0;
    for (uint j = 0; j < a.n_stream; j++)
        c = fma(F32(a.coef).v[row * a.n_stream + j], modality[j], c);
    return c;
}

#endif
