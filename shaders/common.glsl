// common.glsl - the start of every shader: extensions, arguments by address, elements of stored types.
//
// Arguments  ARGS(name) declares the push constant and reads struct vk_<name>_args of shared.h: `const vk_rms_norm_args
//            a = args.a;`
// Access     F32(addr).v[i] and so on; F32 needs an address aligned to 4 bytes, V4 one aligned to 16
// Constants  specialization constant 0 is the subgroup size; 1 and up are the launch's spec[]

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_GOOGLE_include_directive : require

#include "shared.h"

layout(constant_id = 0) const uint SUBGROUP = 8;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer F32 { float v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer I32 { int v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer U32 { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer U16 { uint16_t v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer U8 { uint8_t v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer I8 { int8_t v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer U64 { uint64_t v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer V2 { vec2 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer V4 { vec4 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer U4 { uvec4 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Words { u64vec2 v[]; };

#define ARGS(name) \
    layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer args_t { vk_##name##_args a; }; \
    layout(push_constant) uniform push_t { args_t args; PUSH_BASES };

// With TEXELS, matrices and rows are readable as texel buffers too. These are the addresses of the buffers' first
// bytes.
#ifdef TEXELS
#define PUSH_BASES uint64_t w_base, x_base;
layout(set = 0, binding = 0) uniform utextureBuffer w_words;
layout(set = 0, binding = 1) uniform utextureBuffer w_pairs;
layout(set = 0, binding = 2) uniform utextureBuffer x_words;
#define chunk_t uvec4
#else
#define PUSH_BASES
#define chunk_t u64vec2
#endif

// ---- lanes ----

// Sum and largest of v over the subgroup, in every lane. They use shuffles, neighbours first, so that the order of
// additions is the same on every driver.
float lanes_sum(float v)
{
    [[unroll]] for (uint o = 1; o < SUBGROUP; o *= 2)
        v += subgroupShuffleXor(v, o);
    return v;
}
float lanes_max(float v)
{
    [[unroll]] for (uint o = 1; o < SUBGROUP; o *= 2)
        v = max(v, subgroupShuffleXor(v, o));
    return v;
}

// ---- stored types ----

// Exact for every value. The hardware's conversion may flush subnormals to zero.
float f16_to_f32(uint h)
{
    uint sign = (h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3ffu;
    if (e == 31u)
        return uintBitsToFloat(sign | 0x7f800000u | (m << 13));
    if (e != 0u)
        return uintBitsToFloat(sign | ((e + 112u) << 23) | (m << 13));
    float f = float(m) * 5.9604644775390625e-8;
    return sign != 0u ? -f : f;
}

// The same for scales, without branches: exact for every value, subnormals included.
float scale_value(uint h)
{
    uint u = (h & 0x7fffu) << 13;
    float f = u < 0x00800000u ? uintBitsToFloat(u + 0x38800000u) - 6.103515625e-5
                              : uintBitsToFloat(u + (u < 0x0f800000u ? 0x38000000u : 0x70000000u));
    return uintBitsToFloat(floatBitsToUint(f) | (h & 0x8000u) << 16);
}

// Rounds to nearest, ties to even, and keeps NaN, as engine/base/half.h does.
uint f32_to_f16(float f)
{
    uint u = floatBitsToUint(f), sign = (u >> 16) & 0x8000u, x = u & 0x7fffffffu;
    if (x > 0x7f800000u)
        return sign | 0x7e00u | ((x >> 13) & 0x3ffu);
    if (x >= 0x477ff000u)
        return sign | 0x7c00u;
    if (x < 0x38800000u)
        return sign | (floatBitsToUint(uintBitsToFloat(x) + 0.5) - 0x3f000000u);
    return sign | ((x - 0x38000000u + 0xfffu + ((x >> 13) & 1u)) >> 13);
}

float bf16_to_f32(uint h) { return uintBitsToFloat(h << 16); }

uint f32_to_bf16(float f)
{
    uint u = floatBitsToUint(f);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (u >> 16) | 0x40u;
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}
