/* limits.c - measures the limits of the device: bandwidths and peaks of products. */
#include "bench/engine/bench.h"
#include "bench/limits.h"
#include "frontend/cli/machine_limits.h"

#include <stdio.h>
#include <string.h>

static void put_limit(const bench *b, const char *test, double bytes, double flops, double us)
{
    if (us > 0.0)
        bench_put_row(b, NULL, &(row){.test = test}, "%.3f us", us);
    else if (bytes > 0.0 || flops > 0.0)
        bench_put_row(b, NULL, &(row){.test = test, .bytes = bytes, .flops = flops}, "a second");
}

/* Measures the copy op between two buffers, on any device. */
static myth_status measure_copy(bench *b, double *bytes_s, myth_error *err)
{
    const uint64_t bytes = b->is_quick ? 1u << 20 : 256u << 20;
    const myth_work_shape shape = {
        .n_rows = 1,
        .n_logit_rows = 1,
        .d_model = 32,
        .d_ff = 32,
        .n_head = 1,
        .n_head_kv = 1,
        .head_dim = 32,
        .n_vocab = 32,
        .n_ctx = 32,
        .top_k = 1,
    };
    myth_device *dev = NULL;
    myth_stream *stream = NULL;
    myth_buf *buf[2] = {NULL, NULL};
    unsigned char piece[4096];
    double best = 0.0;
    myth_status st = myth_device_open(&dev, b->mem, &b->dev, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_device_reserve(dev, &shape, err));
    MYTH_TRY(myth_stream_open(&stream, dev, err));
    for (int i = 0; i < 2; i++)
        MYTH_TRY(myth_buf_open(&buf[i], dev, MYTH_MEM_STAGING, "limits", bytes, err));
    for (size_t i = 0; i < sizeof(piece); i++)
        piece[i] = (unsigned char)(i * 2654435761u >> 13);
    for (uint64_t at = 0; at < bytes; at += sizeof(piece))
        myth_stream_write(stream, myth_view_at(buf[0], at, MYTH_I32), piece, sizeof(piece));
    MYTH_TRY(myth_stream_sync(stream, err));
    for (int i = 0; i < (b->is_quick ? 1 : 10); i++) {
        enum { COPIES = 8 };
        double start = myth_seconds();
        for (int k = 0; k < COPIES; k++)
            myth_copy(stream, &(struct myth_copy_args){
                                  .dst = myth_view_at(buf[1], 0, MYTH_I32),
                                  .src = myth_view_at(buf[0], 0, MYTH_I32),
                                  .bytes = bytes,
                              });
        MYTH_TRY(myth_stream_sync(stream, err));
        double rate = 2.0 * COPIES * (double)bytes / (myth_seconds() - start);
        best = rate > best ? rate : best;
    }
    *bytes_s = best;
fail:
    for (int i = 0; i < 2; i++)
        if (buf[i])
            myth_buf_close(buf[i]);
    if (stream)
        myth_stream_close(stream);
    myth_device_close(dev);
    return st;
}

myth_status bench_measure_limits(bench *b, myth_error *err)
{
    static const myth_dtype types[] = {MYTH_F32, MYTH_BF16, MYTH_Q8_0};
#if BENCH_HAS_CUDA
    if (strncmp(b->name, "cuda:", 5) == 0) {
        struct cuda_limits l;
        myth_status st = bench_cuda_limits(&l, b->mem, &b->dev, b->is_quick, err);
        if (st != MYTH_OK)
            return st;
        double peak = l.bf16_wgmma > l.bf16_mma ? l.bf16_wgmma : l.bf16_mma;
        b->read_bytes = l.read_bytes;
        b->copy_bytes = l.copy_bytes;
        b->upload_bytes = l.upload_bytes;
        b->peak[MYTH_F16] = b->peak[MYTH_BF16] = b->peak[MYTH_Q8_0] = b->peak[MYTH_Q4_0] =
            peak; /* prompts are products of bf16 */
        put_limit(b, "limit_read", l.read_bytes, 0, 0);
        put_limit(b, "limit_copy", l.copy_bytes, 0, 0);
        put_limit(b, "limit_upload", l.upload_bytes, 0, 0);
        put_limit(b, "limit_bf16_mma", 0, l.bf16_mma, 0);
        put_limit(b, "limit_bf16_wgmma", 0, l.bf16_wgmma, 0);
        put_limit(b, "limit_int8_mma", 0, l.int8_mma, 0);
        put_limit(b, "limit_graph_node", 0, 0, l.node_us);
        put_limit(b, "limit_dependent_node", 0, 0, l.dependent_us);
        put_limit(b, "limit_grid_barrier", 0, 0, l.barrier_us);
        return MYTH_OK;
    }
#endif
    if (b->ledger != MYTH_MEM_HOST) {
        myth_status st = measure_copy(b, &b->copy_bytes, err);
        b->read_bytes = b->copy_bytes;
        put_limit(b, "limit_copy", b->copy_bytes, 0, 0);
        return st;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        myth_machine_limits l;
        char test[64];
        myth_status st = myth_limits_measure(&l, b->mem, 0, types[i], b->dev.cpu_level, err);
        if (st != MYTH_OK)
            return st;
        b->peak[types[i]] = l.flops;
        if (l.read_bytes > b->read_bytes)
            b->read_bytes = l.read_bytes;
        snprintf(test, sizeof(test), "limit_%s", myth_dtype_get(types[i])->name);
        put_limit(b, test, 0, l.flops, 0);
    }
    b->peak[MYTH_F16] = b->peak[MYTH_F32];
    for (int t = 0; t < MYTH_DTYPE_N; t++)
        if (myth_dtype_is_quant((myth_dtype)t))
            b->peak[t] = b->peak[MYTH_Q8_0];
    put_limit(b, "limit_read", b->read_bytes, 0, 0);
    return MYTH_OK;
}
