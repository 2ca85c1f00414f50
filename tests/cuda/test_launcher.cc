/* test_launcher.cc - the emulation itself: collectives and tiles against their definition, orders that change nothing,
 * and planted faults that must be caught: a race (in the build that records accesses), overruns of device and shared
 * memory, divergent barriers and collectives, a stream's work that is not done before it is waited for. */
#include "kernels/cuda/common.cuh"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" { /* cmocka.h does not say so itself */
#include "tests/support/check.h"
}

static const char *const orders[] = {"forward", "reverse", "random:1", "random:2", "random:77"};

/* ---- a device and memory on it ---- */

struct bench {
    myth_mem *mem;
    myth_device *dev;
    myth_stream *s;
};

static bench open_bench()
{
    bench b = {};
    myth_error err = {};
    myth_device_opts opts = {};
    opts.name = "cuda:0";
    assert_int_equal(myth_mem_open(&b.mem, 0, NULL), MYTH_OK);
    if (myth_device_open(&b.dev, b.mem, &opts, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    assert_int_equal(myth_stream_open(&b.s, b.dev, NULL), MYTH_OK);
    return b;
}

static void close_bench(bench *b)
{
    myth_stream_close(b->s);
    myth_device_close(b->dev);
    assert_int_equal(myth_mem_close(b->mem), 0);
    assert_int_equal(emu_n_live(), 0);
}

static myth_view take(bench *b, uint64_t bytes)
{
    myth_buf *buf = NULL;
    assert_int_equal(myth_buf_open(&buf, b->dev, MYTH_MEM_OTHER, "test", bytes, NULL), MYTH_OK);
    return myth_view_at(buf, 0, MYTH_F32);
}

/* ---- kernels that are right ---- */

/* Every collective once; out[block * 256 + thread]. */
static __global__ void all_collectives(float *out, unsigned *counter, float *total)
{
    MYTH_SHARED(float, s32, 32);
    MYTH_SHARED(float, turned, 256);
    int t = (int)threadIdx.x;
    float v = (float)(t * 7 % 31) + (float)blockIdx.x;
    float sum = block_sum(v, s32), most = block_max(v, s32);
    turned[255 - t] = v;
    __syncthreads();
    float other = turned[t];
    unsigned odd = __ballot_sync(0xffffffffu, t % 3 == 0);
    float down = __shfl_down_sync(0xffffffffu, v, 3), from = __shfl_sync(0xffffffffu, v, 5),
          half = __shfl_xor_sync(0xffffffffu, v, 1, 16);
    float pair = 0.0f;
    if (lane() < 16)
        pair = __shfl_xor_sync(0x0000ffffu, v, 8);
    __syncwarp();
    out[blockIdx.x * 256 + threadIdx.x] =
        sum + most * 3.0f + other * 5.0f + (float)(odd % 1024) + down * 0.5f + from + half * 0.25f + pair;
    if (last_block(counter, gridDim.x)) {
        float all = 0.0f;
        for (unsigned i = threadIdx.x; i < gridDim.x * 256; i += 256)
            all += out[i];
        all = block_sum(all, s32);
        if (t == 0)
            total[0] = all;
    }
}

static void test_orders(void **state)
{
    (void)state;
    enum { GRID = 7 };
    std::vector<float> first(GRID * 256 + 1), got(GRID * 256 + 1);
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        emu_set_order(orders[o]);
        bench b = open_bench();
        myth_view out = take(&b, GRID * 256 * 4), total = take(&b, 4), counter = take(&b, 4);
        unsigned zero = 0;
        myth_stream_write(b.s, counter, &zero, 4);
        for (int again = 0; again < 2; again++) { /* the counter is zero again after each */
            MYTH_LAUNCH(all_collectives, GRID, 256, 0, b.s)
            (cuda_ptr<float>(out), cuda_ptr<unsigned>(counter), cuda_ptr<float>(total));
            cuda_check(b.s, "all_collectives");
        }
        myth_stream_read(b.s, got.data(), out, GRID * 256 * 4);
        myth_stream_read(b.s, &got[GRID * 256], total, 4);
        assert_int_equal(myth_stream_sync(b.s, NULL), MYTH_OK);
        if (o == 0)
            first = got;
        assert_memory_equal(first.data(), got.data(), got.size() * 4);
        myth_buf_close(out.buf);
        myth_buf_close(total.buf);
        myth_buf_close(counter.buf);
        close_bench(&b);
    }
    emu_set_order(NULL);
    double v_sum = 0.0;
    for (int t = 0; t < 256; t++)
        v_sum += t * 7 % 31;
    float v0 = 0.0f, v255 = (float)(255 * 7 % 31), v3 = 21.0f, v5 = (float)(35 % 31), v1 = 7.0f, v8 = (float)(56 % 31);
    unsigned votes = 0;
    for (int l = 0; l < 32; l++)
        votes |= (l % 3 == 0 ? 1u : 0u) << l;
    float want =
        (float)v_sum + 30.0f * 3.0f + v255 * 5.0f + (float)(votes % 1024) + v3 * 0.5f + v5 + v1 * 0.25f + v8 + v0;
    assert_true(fabsf(first[0] - want) < 1e-3f);
}

/* c[16 x 8] += a[16 x 32] b[32 x 8] through shared memory, cp.async, ldmatrix and two mma. a row-major, b as [8][32]
 * (columns). */
static __global__ void tile_product(float *c, const uint16_t *a, const uint16_t *b)
{
    MYTH_SHARED(uint16_t, sa, 16 * 40);
    MYTH_SHARED(uint16_t, sb, 8 * 40);
    for (int i = (int)threadIdx.x; i < 16 * 4; i += 32)
        cp_async16(&sa[i / 4 * 40 + i % 4 * 8], a + i / 4 * 32 + i % 4 * 8);
    cp_async_commit();
    for (int i = (int)threadIdx.x; i < 8 * 4; i += 32)
        cp_async16_or_zero(&sb[i / 4 * 40 + i % 4 * 8], b + i / 4 * 32 + i % 4 * 8, true);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 32; k += 16) {
        uint32_t fa[4], fb[2];
        ldmatrix_x4(fa, &sa[(lane() % 16) * 40 + k + lane() / 16 * 8]);
        ldmatrix_x2(fb, &sb[(lane() % 8) * 40 + k + lane() / 8 % 2 * 8]);
        mma_m16n8k16_bf16(acc, fa, fb);
    }
    int g = lane() / 4, t = lane() % 4;
    c[g * 8 + 2 * t] = acc[0];
    c[g * 8 + 2 * t + 1] = acc[1];
    c[(g + 8) * 8 + 2 * t] = acc[2];
    c[(g + 8) * 8 + 2 * t + 1] = acc[3];
}

/* An 8 x 8 matrix turned by ldmatrix_x2_trans. */
static __global__ void turn(uint16_t *out, const uint16_t *in)
{
    MYTH_SHARED(uint16_t, tile, 16 * 8);
    for (int i = lane(); i < 16 * 8; i += 32)
        tile[i] = in[i];
    __syncwarp();
    uint32_t r[2];
    ldmatrix_x2_trans(r, &tile[(lane() % 16) * 8]);
    for (int m = 0; m < 2; m++) {
        out[m * 64 + lane() / 4 * 8 + 2 * (lane() % 4)] = (uint16_t)(r[m] & 0xffff);
        out[m * 64 + lane() / 4 * 8 + 2 * (lane() % 4) + 1] = (uint16_t)(r[m] >> 16);
    }
}

static void test_tiles(void **state)
{
    (void)state;
    uint64_t seed = check_seed();
    uint16_t a[16 * 32], b[8 * 32], turned[128];
    float c[16 * 8];
    for (int i = 0; i < 16 * 32; i++)
        a[i] = myth_f32_to_bf16(check_unit(&seed) - 0.5f);
    for (int i = 0; i < 8 * 32; i++)
        b[i] = myth_f32_to_bf16(check_unit(&seed) - 0.5f);
    bench k = open_bench();
    myth_view va = take(&k, sizeof(a)), vb = take(&k, sizeof(b)), vc = take(&k, sizeof(c)),
              vt = take(&k, sizeof(turned));
    myth_stream_write(k.s, va, a, sizeof(a));
    myth_stream_write(k.s, vb, b, sizeof(b));
    MYTH_LAUNCH(tile_product, 1, 32, 0, k.s)(cuda_ptr<float>(vc), cuda_ptr<uint16_t>(va), cuda_ptr<uint16_t>(vb));
    MYTH_LAUNCH(turn, 1, 32, 0, k.s)(cuda_ptr<uint16_t>(vt), cuda_ptr<uint16_t>(va));
    myth_stream_read(k.s, c, vc, sizeof(c));
    myth_stream_read(k.s, turned, vt, sizeof(turned));
    assert_int_equal(myth_stream_sync(k.s, NULL), MYTH_OK);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            double want = 0.0;
            for (int n = 0; n < 32; n++)
                want += (double)myth_bf16_to_f32(a[i * 32 + n]) * (double)myth_bf16_to_f32(b[j * 32 + n]);
            assert_true(fabs((double)c[i * 8 + j] - want) < 1e-6);
        }
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                assert_int_equal(turned[m * 64 + i * 8 + j], a[m * 64 + j * 8 + i]);
    for (myth_view v : {va, vb, vc, vt})
        myth_buf_close(v.buf);
    close_bench(&k);
}

/* ---- planted faults ---- */

static std::string said;

static void hear(const char *text) { said = text; }

enum fault { BARRIER_LEFT, BARRIER_TWO, SHUFFLE_LEFT, SHUFFLE_TWO, HELPER_TWO, LANE_ABSENT, NO_WAIT };

static __global__ void diverge(float *out, int kind)
{
    MYTH_SHARED(float, s32, 32);
    float v = (float)threadIdx.x;
    switch (kind) {
    case BARRIER_LEFT:
        if (threadIdx.x == 40)
            return;
        __syncthreads();
        break;
    case BARRIER_TWO:
        if (threadIdx.x < 32)
            __syncthreads();
        else
            __syncthreads();
        break;
    case SHUFFLE_LEFT:
        if (threadIdx.x == 3)
            return;
        v = __shfl_xor_sync(0xffffffffu, v, 1);
        break;
    case SHUFFLE_TWO:
        if (threadIdx.x % 2)
            v = __shfl_xor_sync(0xffffffffu, v, 2);
        else
            v = __shfl_xor_sync(0xffffffffu, v, 2);
        break;
    case HELPER_TWO:
        if (threadIdx.x < 32)
            v = block_sum(v, s32);
        else
            v = block_sum(v, s32);
        break;
    case LANE_ABSENT:
        if (lane() < 16)
            v = __shfl_sync(0x0000ffffu, v, 20);
        break;
    default: break;
    }
    out[threadIdx.x] = v;
}

static void test_divergence(void **state)
{
    (void)state;
    static const struct {
        fault kind;
        const char *words[3];
    } want[] = {
        {BARRIER_LEFT, {"divergence", "thread 40 has finished", "test_launcher.cc"}},
        {BARRIER_TWO, {"divergence", "waits at the barrier", "test_launcher.cc"}},
        {SHUFFLE_LEFT, {"divergence", "thread 3 of its mask has finished", "test_launcher.cc"}},
        {SHUFFLE_TWO, {"divergence", "waits at the warp's collective", "test_launcher.cc"}},
        {HELPER_TWO, {"divergence", "common.cuh", "test_launcher.cc"}},
        {LANE_ABSENT, {"shuffles from lane 20", "takes no part", "test_launcher.cc"}},
        {NO_WAIT, {"dependent launch", "grid_dependency_wait", ""}},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        bench b = open_bench();
        myth_view out = take(&b, 64 * 4);
        myth_error err = {};
        said.clear();
        emu_set_report(hear);
        if (want[i].kind == NO_WAIT)
            MYTH_LAUNCH_DEPENDENT(diverge, 1, 64, 0, b.s)(cuda_ptr<float>(out), (int)NO_WAIT);
        else
            MYTH_LAUNCH(diverge, 1, 64, 0, b.s)(cuda_ptr<float>(out), (int)want[i].kind);
        assert_int_equal(myth_stream_sync(b.s, &err), MYTH_ELOST);
        emu_set_report(NULL);
        printf("caught: %s\n", said.c_str());
        for (const char *word : want[i].words)
            if (said.find(word) == std::string::npos)
                fail_msg("\"%s\" is missing", word);
        emu_reset();
        myth_buf_close(out.buf);
        close_bench(&b);
    }
}

/* Threads of two warps, no barrier between the write and the read. */
static __global__ void race(float *out, int has_barrier)
{
    MYTH_SHARED(float, box, 64);
    box[threadIdx.x] = (float)threadIdx.x;
    if (has_barrier)
        __syncthreads();
    out[threadIdx.x] = box[63 - threadIdx.x];
}

/* Two lanes of one warp: __syncwarp orders them, a shuffle does not. */
static __global__ void race_in_warp(float *out, int has_sync)
{
    MYTH_SHARED(float, box, 32);
    box[threadIdx.x] = (float)threadIdx.x;
    if (has_sync)
        __syncwarp();
    out[threadIdx.x] = box[31 - threadIdx.x];
}

/* A ring of copies with one slot too few: the next copy goes where others still read. */
static __global__ void race_of_copies(float *out, const float *in, int has_barrier)
{
    MYTH_SHARED(float, box, 64 * 4);
    float sum = 0.0f;
    for (int i = 0; i < 3; i++) {
        cp_async16(&box[threadIdx.x * 4], in + (i * 64 + (int)threadIdx.x) * 4);
        cp_async_commit();
        cp_async_wait<0>();
        __syncthreads();
        sum += box[(63 - threadIdx.x) * 4];
        if (has_barrier)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

static void test_race(void **state)
{
    (void)state;
#if defined(EMU_RACE)
    for (int is_right = 0; is_right < 2; is_right++)
        for (int kind = 0; kind < 3; kind++) {
            bench b = open_bench();
            myth_view out = take(&b, 64 * 4), in = take(&b, 3 * 64 * 16);
            said.clear();
            emu_set_report(hear);
            if (kind == 0)
                MYTH_LAUNCH(race, 1, 64, 0, b.s)(cuda_ptr<float>(out), is_right);
            else if (kind == 1)
                MYTH_LAUNCH(race_in_warp, 1, 32, 0, b.s)(cuda_ptr<float>(out), is_right);
            else
                MYTH_LAUNCH(race_of_copies, 1, 64, 0, b.s)(cuda_ptr<float>(out), cuda_ptr<float>(in), is_right);
            assert_int_equal(myth_stream_sync(b.s, NULL), is_right ? MYTH_OK : MYTH_ELOST);
            emu_set_report(NULL);
            if (!is_right)
                printf("caught: %s\n", said.c_str());
            assert_true(is_right ? said.empty() : said.find("race on shared memory") != std::string::npos);
            emu_reset();
            myth_buf_close(out.buf);
            myth_buf_close(in.buf);
            close_bench(&b);
        }
#else
    (void)race, (void)race_in_warp, (void)race_of_copies;
    check_skip("accesses are recorded in the build cuda_race");
#endif
}

static __global__ void overrun(float *out, int n, int where)
{
    MYTH_SHARED(float, box, 32);
    MYTH_SHARED_DYN(float, dynamic);
    box[threadIdx.x] = dynamic[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x == 31) {
        float *p = where == 0 ? out : where == 1 ? box : dynamic;
        p[n] = 1.0f;
    }
    __syncthreads();
    out[threadIdx.x] = box[threadIdx.x];
}

/* The child's standard error; whether it ended well. */
static std::string run_child(int where, int n, bool *is_ok)
{
    int ends[2], status = 0;
    std::string text;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        bench b = open_bench();
        myth_view out = take(&b, 32 * 4);
        MYTH_LAUNCH(overrun, 1, 32, 32 * 4, b.s)(cuda_ptr<float>(out), n, where);
        bool ran = myth_stream_sync(b.s, NULL) == MYTH_OK;
        _exit(ran ? 0 : 9);
    }
    close(ends[1]);
    char piece[4096];
    for (ssize_t got; (got = read(ends[0], piece, sizeof(piece))) > 0;)
        text.append(piece, (size_t)got);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *is_ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return text;
}

static void test_overrun(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    static const char *const what[] = {"device memory", "a shared array", "dynamic shared memory"};
    for (int where = 0; where < 3; where++) {
        bool is_ok;
        std::string text = run_child(where, 31, &is_ok);
        if (!is_ok)
            fail_msg("%s, in bounds: %s", what[where], text.c_str());
        for (int n : {32, -1}) {
            text = run_child(where, n, &is_ok);
            assert_false(is_ok);
            if (text.find("AddressSanitizer") == std::string::npos || text.find("overrun") == std::string::npos)
                fail_msg("%s, element %d: no report that names the kernel: %s", what[where], n, text.c_str());
            printf("caught: element %d of 32 of %s\n", n, what[where]);
        }
    }
#else
    (void)run_child, (void)overrun;
    check_skip("AddressSanitizer is in the build cuda_emu");
#endif
}

/* ---- the stream ---- */

static __global__ void add_one(float *x) { x[threadIdx.x] += 1.0f; }

static void test_stream(void **state)
{
    (void)state;
    bench b = open_bench();
    float src[32], got[32] = {0.0f}, pinned_got = 0.0f;
    for (int i = 0; i < 32; i++)
        src[i] = (float)i;
    myth_view x = take(&b, sizeof(src));
    float *pinned = (float *)myth_host_alloc(b.dev, MYTH_MEM_STAGING, "test", sizeof(src));
    assert_non_null(pinned);
    myth_stream_write(b.s, x, src, sizeof(src));
    src[3] = 1000.0f; /* write has copied */
    MYTH_LAUNCH(add_one, 1, 32, 0, b.s)(cuda_ptr<float>(x));
    myth_stream_read(b.s, got, x, sizeof(got));
    uint64_t mark = myth_stream_mark(b.s);
    MYTH_LAUNCH(add_one, 1, 32, 0, b.s)(cuda_ptr<float>(x));
    myth_stream_read(b.s, pinned, x, sizeof(src));
    assert_true(got[3] == 0.0f && pinned[3] == 0.0f); /* nothing is done yet */
    assert_int_equal(myth_stream_wait(b.s, mark, NULL), MYTH_OK);
    pinned_got = pinned[3];
    assert_true(got[3] == 4.0f && pinned_got == 0.0f); /* the mark's part is */
    assert_int_equal(myth_stream_sync(b.s, NULL), MYTH_OK);
    assert_true(pinned[3] == 5.0f && pinned[31] == 33.0f);
    myth_host_free(b.dev, MYTH_MEM_STAGING, pinned, sizeof(src));
    myth_buf_close(x.buf);
    close_bench(&b);
}

/* Transfers larger than the ring, in both directions, and many small ones without a sync. */
static void test_ring(void **state)
{
    (void)state;
    enum { BIG = 9 << 20, SMALL_N = 500 };
    uint64_t seed = check_seed();
    bench b = open_bench();
    std::vector<unsigned char> src(BIG + 3), got(BIG + 3);
    for (unsigned char &c : src)
        c = (unsigned char)check_rand(&seed);
    myth_view x = take(&b, BIG + 3);
    myth_stream_write(b.s, x, src.data(), BIG + 3);
    myth_stream_read(b.s, got.data(), x, BIG + 3);
    assert_int_equal(myth_stream_sync(b.s, NULL), MYTH_OK);
    assert_memory_equal(src.data(), got.data(), BIG + 3);
    std::fill(got.begin(), got.end(), 0);
    for (int i = 0; i < SMALL_N; i++) {
        myth_view at = x;
        at.off = (uint64_t)i * 17003;
        myth_stream_write(b.s, at, &src[(size_t)(SMALL_N - i) * 17003], 16384);
        myth_stream_read(b.s, &got[(size_t)i * 16384], at, 16384);
    }
    assert_int_equal(myth_stream_sync(b.s, NULL), MYTH_OK);
    for (int i = 0; i < SMALL_N; i++)
        assert_memory_equal(&got[(size_t)i * 16384], &src[(size_t)(SMALL_N - i) * 17003], 16384);
    myth_buf_close(x.buf);
    close_bench(&b);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders), cmocka_unit_test(test_tiles),   cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_race),   cmocka_unit_test(test_overrun), cmocka_unit_test(test_stream),
        cmocka_unit_test(test_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
