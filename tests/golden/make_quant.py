#!/usr/bin/env python3
"""Rows of floats and what gguf-py's quantisers make of them: tests/golden/quant.bin, read by tests/engine/make/test_quant.c.

    make_quant.py OUT.bin          needs numpy and gguf

File, little endian:  u32 n_row, u32 n_col
                      f32 x[n_row][n_col]
                      then for each of F16, BF16, Q8_0, Q4_0, MXFP4: u32 code, u32 bytes, the quantised rows, f32 back[n_row][n_col]
Rows: normal values at many scales, ties (halves, quarters), one large value, zeros, tiny ones, both signs of the largest
value. (A block of -0 alone is left out: gguf-py and ggml give its scale different signs; ours is ggml's.)
"""

import sys

import gguf
import numpy as np

N_COL = 64


def rows():
    rng = np.random.default_rng(7)
    for scale in (1e-7, 1e-4, 0.02, 1.0, 37.0, 6e4):
        for _ in range(4):
            yield rng.standard_normal(N_COL) * scale
    yield np.zeros(N_COL)
    yield np.arange(N_COL) - 32.0  # the largest magnitude is negative, quotients are whole
    yield (np.arange(N_COL) - 32.0) * 127 / 64  # halves on the way to eight bits
    yield np.arange(N_COL) % 17 * 0.5 - 4  # halves on the way to four bits
    yield np.where(np.arange(N_COL) == 40, 1e4, 1e-3)
    yield np.where(np.arange(N_COL) % 2, 3.0, -3.0)  # two of the largest: the first counts
    yield np.full(N_COL, 1e-36)


def main():
    x = np.array(list(rows()), dtype=np.float32)
    with open(sys.argv[1], "wb") as f:
        f.write(np.array(x.shape, dtype="<u4").tobytes() + x.astype("<f4").tobytes())
        for kind in (
            gguf.GGMLQuantizationType.F16,
            gguf.GGMLQuantizationType.BF16,
            gguf.GGMLQuantizationType.Q8_0,
            gguf.GGMLQuantizationType.Q4_0,
            gguf.GGMLQuantizationType.MXFP4,
        ):
            q = gguf.quants.quantize(x, kind)
            back = gguf.quants.dequantize(q, kind).astype("<f4")
            raw = q.tobytes()
            f.write(np.array([kind.value, len(raw)], dtype="<u4").tobytes() + raw + back.tobytes())


if __name__ == "__main__":
    main()
