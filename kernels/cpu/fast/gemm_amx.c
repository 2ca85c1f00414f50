/* gemm_amx.c   prefill on AMX: c[r, o] = sum_k x[r, k] w[o, k] in bf16 tiles, for bf16 and all quantised weights
 *
 * Shapes     panel and rows have the bf16 form of gemm_avx512.c, [k/2][32][2]. A tile of B is 16 pairs x 16 outputs
 *            with a stride of 128 bytes; a tile of A is 16 rows x 32 inputs, read where the rows are
 * Precision  products of bf16, sums in f32 over pairs of k (tdpbf16ps). Quantised weights are dequantised and rounded
 *            to bf16, as activations are, which is less error than activations in int8 have
 * Order      an output is one chain over k, whatever rows share its tile
 * Limit      four tdpbf16ps for every four tile loads
 * Lost       int8 tiles for quantised weights, by calculation: the scale of every block of 32 inputs costs a pass over
 *            32 x 32 sums, which takes about as long as the whole product with vpdpbusd
 * Source     Intel Architecture Instruction Set Extensions Programming Reference, chapter AMX */
#include "amx.h"

#include "engine/base/blocks.h"

enum { TILE = 16, STEP_BYTES = 2048 };

/* Names of tile registers. They are macros because the intrinsics paste the number into the instruction. */
#define C0 0
#define C1 1
#define C2 2
#define C3 3
#define A0 4
#define A1 5
#define B0 6
#define B1 7

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

/* Sets the shapes of the tile registers for n rows of x, 1..32. */
static void configure(uint32_t n)
{
    const uint8_t first = (uint8_t)(n < TILE ? n : TILE), second = (uint8_t)(n > TILE ? n - TILE : 1);
    struct tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++)
        c.row_bytes[i] = 64;
    c.rows[C0] = c.rows[C1] = c.rows[A0] = first;
    c.rows[C2] = c.rows[C3] = c.rows[A1] = second;
    c.rows[B0] = c.rows[B1] = TILE;
    _tile_loadconfig(&c);
}

/* sums[32][32] += the product of the rows at x with the panel, over n_step steps of 32 inputs. is_tall: there are more
 * than 16 rows. */
static void product(float *sums, const unsigned char *panel, const unsigned char *x, size_t x_bytes, uint32_t n_step,
                    bool is_tall)
{
    const size_t row = FAST_PANEL * sizeof(float);
    _tile_loadd(C0, sums, row);
    _tile_loadd(C1, sums + TILE, row);
    if (!is_tall) {
        for (uint32_t i = 0; i < n_step; i++, panel += STEP_BYTES, x += 64) {
            _tile_loadd(A0, x, x_bytes);
            _tile_loadd(B0, panel, 128);
            _tile_loadd(B1, panel + 64, 128);
            _tile_dpbf16ps(C0, A0, B0);
            _tile_dpbf16ps(C1, A0, B1);
        }
    } else {
        const unsigned char *y = x + TILE * x_bytes;
        _tile_loadd(C2, sums + TILE * FAST_PANEL, row);
        _tile_loadd(C3, sums + TILE * FAST_PANEL + TILE, row);
        for (uint32_t i = 0; i < n_step; i++, panel += STEP_BYTES, x += 64, y += 64) {
            _tile_loadd(A0, x, x_bytes);
            _tile_loadd(A1, y, x_bytes);
            _tile_loadd(B0, panel, 128);
            _tile_loadd(B1, panel + 64, 128);
            _tile_dpbf16ps(C0, A0, B0);
            _tile_dpbf16ps(C1, A0, B1);
            _tile_dpbf16ps(C2, A1, B0);
            _tile_dpbf16ps(C3, A1, B1);
        }
        _tile_stored(C2, sums + TILE * FAST_PANEL, row);
        _tile_stored(C3, sums + TILE * FAST_PANEL + TILE, row);
    }
    _tile_stored(C0, sums, row);
    _tile_stored(C1, sums + TILE, row);
}

void amx_gemm_bf16(float *c, size_t ldc, uint32_t n_out, const void *panel, const unsigned char *x, size_t x_bytes,
                   uint32_t n_rows, uint32_t n_in, uint32_t k0, uint32_t n_k)
{
    _Alignas(64) float sums[FAST_PANEL * 2 * TILE];
    uint32_t configured = 0;
    (void)n_in;
    for (uint32_t r = 0, n; r < n_rows; r += n) {
        n = n_rows - r < 2 * TILE ? n_rows - r : 2 * TILE;
        if (n != configured)
            configure(configured = n);
        memset(sums, 0, sizeof(sums));
        for (uint32_t i = 0; i < n && k0 > 0; i++)
            memcpy(sums + i * FAST_PANEL, c + (r + i) * ldc, n_out * sizeof(float));
        product(sums, panel, x + r * x_bytes + 2 * (size_t)k0, x_bytes, (n_k + 31) / 32, n > TILE);
        for (uint32_t i = 0; i < n; i++)
            memcpy(c + (r + i) * ldc, sums + i * FAST_PANEL, n_out * sizeof(float));
    }
    _tile_release();
}

/* ---- packing of quantised rows ---- */

static void widen_block(unsigned char *dst, const unsigned char *p, bool is_q4)
{
    uint16_t h;
    memcpy(&h, p, 2);
    __m512 scale = _mm512_set1_ps(_cvtsh_ss(h)), a, b;
    __m128i v = _mm_loadu_si128((const void *)(p + 2));
    if (is_q4) {
        __m128i low = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
        a = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_sub_epi8(_mm_and_si128(v, low), eight)));
        b = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(v, 4), low), eight)));
    } else {
        a = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(v));
        b = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(p + 18))));
    }
    _mm512_storeu_si512(dst, (__m512i)_mm512_cvtne2ps_pbh(_mm512_mul_ps(b, scale), _mm512_mul_ps(a, scale)));
}

static void pack(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                 uint32_t n_k, bool is_q4)
{
    const size_t block = is_q4 ? 18 : 34;
    unsigned char wide[FAST_PANEL * 64];
    w += k0 / 32 * block;
    fast_ask_rows(w, row_bytes, n_out, FAST_AHEAD);
    for (uint32_t b = 0; b < n_k / 32; b++, panel += STEP_BYTES, w += block) {
        fast_ask_rows(w + FAST_AHEAD, row_bytes, n_out, block);
        for (uint32_t o = 0; o < n_out; o++)
            widen_block(wide + 64 * o, w + o * row_bytes, is_q4);
        avx512_pair_bf16(panel, wide, 64, n_out, 32);
    }
}

/* Packs types with other blocks: dequantises 256 inputs of the panel's rows at a time to f32 and rounds them to bf16.
 */
static void pack_blocks(unsigned char *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0,
                        uint32_t n_k, avx512_unpack *unpack, myth_dtype t)
{
    enum { CHUNK = MYTH_BLOCK_MAX };
    _Alignas(64) unsigned char wide[FAST_PANEL][2 * CHUNK];
    const size_t chunk = (size_t)myth_row_bytes(t, CHUNK);
    w += myth_row_bytes(t, k0);
    fast_ask_rows(w, row_bytes, n_out, chunk);
    for (uint32_t k = 0; k < n_k; k += CHUNK, w += chunk) {
        fast_ask_rows(w + chunk, row_bytes, n_out, chunk);
        const uint32_t n = n_k - k < CHUNK ? n_k - k : CHUNK;
        for (uint32_t o = 0; o < n_out; o++) {
            int8_t q[CHUNK];
            float scale[MYTH_BLOCK_SUBS], min[MYTH_BLOCK_SUBS];
            unpack(q, scale, min, w + o * row_bytes, n);
            for (uint32_t b = 0; b < n / 16; b++) {
                __m512 v = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(q + 16 * b))));
                v = _mm512_sub_ps(_mm512_mul_ps(v, _mm512_set1_ps(scale[b])), _mm512_set1_ps(min[b]));
                _mm256_storeu_si256((void *)(wide[o] + 32 * b), (__m256i)_mm512_cvtneps_pbh(v));
            }
        }
        avx512_pair_bf16(panel, wide[0], sizeof(wide[0]), n_out, n);
        panel += n / 32 * STEP_BYTES;
    }
}

#define AMX_PACK(name, type, kernel)                                                                         \
    void amx_pack_##name(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, \
                         uint32_t n_k)                                                                       \
    {                                                                                                        \
        pack_blocks(panel, w, row_bytes, n_out, k0, n_k, avx512_unpack_##name, MYTH_##type);                 \
    }
FAST_BLOCK_TYPES(AMX_PACK)

void amx_pack_q8(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k)
{
    pack(panel, w, row_bytes, n_out, k0, n_k, false);
}

void amx_pack_q4(void *panel, const unsigned char *w, size_t row_bytes, uint32_t n_out, uint32_t k0, uint32_t n_k)
{
    pack(panel, w, row_bytes, n_out, k0, n_k, true);
}
