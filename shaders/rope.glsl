// rope.glsl - (cos, sin) of a position's angle.
//
// Precision  the phase is an integer, so that whole and quarter turns are taken off exactly. The rest, at most an
//            eighth of a turn, goes through polynomials in f32 with an error of 2 ulp
// Source     Cephes, sinf.c: minimax polynomials
#ifndef MYTH_ROPE_GLSL
#define MYTH_ROPE_GLSL

// (cos, sin) at position pos; turn is the angle of one position in units of 2^-64 turns.
vec2 rope_pair(int pos, uint64_t turn)
{
    const uint64_t phase = uint64_t(int64_t(pos)) * turn, quarter = (phase + (1ul << 61)) >> 62;
    const int64_t rest = int64_t(phase - (quarter << 62));
    const float x = fma(float(int(rest >> 32)), 1.46291807927e-9, float(uint(rest & 0xffffffffl)) * 3.40612158009e-19);
    const float z = x * x;
    const float s = fma(fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1) * z, x, x);
    const float c4 = fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2);
    const float c = fma(c4 * z, z, fma(-0.5, z, 1.0));
    const vec2 pair = (quarter & 1ul) == 0ul ? vec2(c, s) : vec2(-s, c);
    return (quarter & 2ul) == 0ul ? pair : -pair;
}

#endif
