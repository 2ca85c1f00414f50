#!/usr/bin/env python3
"""What gguf-py makes of 10,000 blocks of each quantised type: tests/golden/blocks.txt, read by tests/engine/base/test_blocks.c.

    make_blocks.py OUT.txt          needs numpy and gguf

Word i of the blocks of type T (GGUF code) is splitmix64 of T << 40 | i, its bytes little endian, in the order of the file. Then the f16
fields of block b are put in shape, so that no value is infinite:  b % 4 = 0: any, bit 14 off where the exponent is full; 1: subnormal, the
exponent off;  2: zero of either sign in the first, the rest as 0;  3: largest, 0x7bff with the sign it had.  mxfp4: e = b % 253.
Line:  code, sum of the raw bytes (of 500 blocks), sum of the f32 bit patterns, for each 500 blocks. A sum is
sum over i of (word_i + 1) * (z ^ z >> 29 | 1) with z = (i + 1) * 0x9E3779B97F4A7C15, mod 2^64: places count.
"""

import sys

import gguf
import numpy as np

N, GROUP = 10000, 500
TYPES = {  # name: offset and number of the f16 fields
    "Q8_0": (0, 1),
    "Q4_0": (0, 1),
    "Q4_1": (0, 2),
    "Q5_0": (0, 1),
    "Q5_1": (0, 2),
    "Q2_K": (80, 2),
    "Q3_K": (108, 1),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208, 1),
    "IQ4_NL": (0, 1),
    "IQ4_XS": (0, 1),
    "MXFP4": None,
    "TQ2_0": (64, 1),
}
STEP = np.uint64(0x9E3779B97F4A7C15)


def splitmix(z):
    z = z + STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def total(words):
    z = np.arange(1, words.size + 1, dtype=np.uint64) * STEP
    return int(
        ((words.astype(np.uint64) + np.uint64(1)) * (z ^ (z >> np.uint64(29)) | np.uint64(1))).sum(dtype=np.uint64)
    )


def blocks(kind, size, halves):
    words = splitmix(np.uint64(kind.value << 40) | np.arange((N * size + 7) // 8, dtype=np.uint64))
    raw = words.astype("<u8").view(np.uint8)[: N * size].reshape(N, size).copy()
    b = np.arange(N)
    if halves is None:
        raw[:, 0] = b % 253
        return raw
    for k in range(halves[1]):
        at = halves[0] + 2 * k
        h = raw[:, at].astype(np.uint16) | raw[:, at + 1].astype(np.uint16) << 8
        finite = np.where((h & 0x7C00) == 0x7C00, h & 0xBFFF, h)
        h = np.select(
            [b % 4 == 1, (b % 4 == 2) & (k == 0), b % 4 == 3], [h & 0x83FF, h & 0x8000, (h & 0x8000) | 0x7BFF], finite
        )
        raw[:, at], raw[:, at + 1] = h & 255, h >> 8
    return raw


def main():
    np.seterr(over="ignore")
    with open(sys.argv[1], "w") as f:
        for name, halves in TYPES.items():
            kind = gguf.GGMLQuantizationType[name]
            raw = blocks(kind, gguf.GGML_QUANT_SIZES[kind][1], halves)
            values = gguf.quants.dequantize(raw, kind).astype(np.float32)
            assert np.isfinite(values).all(), name
            f.write(f"{kind.value}")
            for g in range(0, N, GROUP):
                f.write(
                    f" {total(raw[g:g + GROUP].reshape(-1)):016x} {total(values[g:g + GROUP].reshape(-1).view(np.uint32)):016x}"
                )
            f.write("\n")


if __name__ == "__main__":
    main()
