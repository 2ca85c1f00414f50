"""gpu_torch.py - how fast torch is on this GPU at the shapes that our kernels have, to show what is possible there:
matrix products of 512 rows with the five matrices of a layer of a 27B model, and attention of 512 queries over 8,192
keys with heads of 128 and 256.

Prints   torch,WHAT,SHAPE,MEDIAN_US,TFLOPS   one line each, the median of 20 runs, timed by events on the GPU
"""

import statistics

import torch

ROWS, KEYS = 512, 8192
MATRICES = {"q": (5376, 4096), "kv": (5376, 2048), "o": (4096, 5376), "gate_up": (5376, 43008), "down": (21504, 5376)}
HEADS = {128: (32, 16), 256: (16, 8)}


def median_us(run):
    for _ in range(3):
        run()
    times = []
    for _ in range(20):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return statistics.median(times)


def report(what, shape, us, flops):
    print(f"torch,{what},{shape},{us:.1f},{flops / us / 1e6:.1f}", flush=True)


def main():
    for dtype, name in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
        for what, (n_in, n_out) in MATRICES.items():
            x = torch.randn(ROWS, n_in, device="cuda", dtype=dtype)
            w = torch.randn(n_out, n_in, device="cuda", dtype=dtype)
            us = median_us(lambda: torch.nn.functional.linear(x, w))
            report(f"{what}_{name}", f"{ROWS}x{n_in}x{n_out}", us, 2.0 * ROWS * n_in * n_out)
    for head_dim, (n_head, n_head_kv) in HEADS.items():
        q = torch.randn(1, n_head, ROWS, head_dim, device="cuda", dtype=torch.float16)
        k, v = (
            torch.randn(1, n_head_kv, KEYS, head_dim, device="cuda", dtype=torch.float16).repeat_interleave(
                n_head // n_head_kv, dim=1
            )
            for _ in range(2)
        )
        us = median_us(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v))
        report("attention", f"{n_head}x{ROWS}x{KEYS}x{head_dim}", us, 4.0 * n_head * ROWS * KEYS * head_dim)


main()
