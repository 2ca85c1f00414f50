/* test_device.c - the Vulkan device itself: what it books, transfers on every path, streams, recorded steps, the limits
 * of memory. */
#include "vulkan.h"

#ifndef MYTH_HAS_VULKAN
int main(void) { return vulkan_run(NULL); }
#else

#include "engine/base/half.h"
#include "kernels/ops.h"

#include <math.h>

enum { LEDGER = 9, MIB = 1 << 20 };

static const myth_work_shape shape = {
    .n_rows = 64,
    .n_logit_rows = 2,
    .d_model = 1024,
    .d_ff = 2048,
    .n_head = 4,
    .n_head_kv = 2,
    .head_dim = 64,
    .n_vocab = 300000,
    .n_ctx = 1024,
    .top_k = 16,
    .n_record_ops = 8,
    .n_graph = 2,
};

typedef struct {
    myth_mem *mem;
    myth_device *dev;
    myth_stream *s;
    myth_error err;
} bench;

static void bench_open(bench *b)
{
    assert_int_equal(myth_mem_open(&b->mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_device_open(&b->dev, b->mem, &vulkan_opts, &b->err), MYTH_OK);
    assert_int_equal(myth_device_reserve(b->dev, &shape, &b->err), MYTH_OK);
    assert_int_equal(myth_stream_open(&b->s, b->dev, &b->err), MYTH_OK);
}

static void bench_close(bench *b)
{
    myth_stream_close(b->s);
    myth_device_close(b->dev);
    assert_int_equal(myth_mem_close(b->mem), 0);
}

static myth_buf *take(bench *b, uint64_t bytes)
{
    myth_buf *buf;
    if (myth_buf_open(&buf, b->dev, MYTH_MEM_OTHER, "test", bytes, &b->err) != MYTH_OK)
        fail_msg("%s", b->err.msg);
    return buf;
}

static void sync_ok(bench *b)
{
    if (myth_stream_sync(b->s, &b->err) != MYTH_OK)
        fail_msg("%s", b->err.msg);
}

static unsigned char *noise(uint64_t bytes, uint64_t seed)
{
    unsigned char *p = malloc(bytes);
    assert_non_null(p);
    for (uint64_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)((i * 2654435761u + seed) >> 7);
    return p;
}

/* ---- memory ---- */

static void assert_booked(bench *b, const myth_class_bytes *host, const myth_class_bytes *own)
{
    for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
        assert_int_equal(myth_mem_get(b->mem, MYTH_MEM_HOST, (myth_mem_class)c).live, host->bytes[c]);
        assert_int_equal(myth_mem_get(b->mem, LEDGER, (myth_mem_class)c).live, own->bytes[c]);
    }
}

/* Plan and ledger agree class by class, and the driver never holds more than the ledger says. */
static void test_plan_is_ledger(void **state)
{
    (void)state;
    bench b;
    myth_class_bytes host, own;
    myth_buf *buf[40];
    assert_int_equal(myth_mem_open(&b.mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_device_open(&b.dev, b.mem, &vulkan_opts, &b.err), MYTH_OK);
    myth_device_plan(&host, &own, &vulkan_opts, NULL);
    assert_booked(&b, &host, &own);
    assert_int_equal(myth_device_reserve(b.dev, &shape, &b.err), MYTH_OK);
    myth_device_plan(&host, &own, &vulkan_opts, &shape);
    assert_booked(&b, &host, &own);
    assert_int_equal(myth_stream_open(&b.s, b.dev, &b.err), MYTH_OK);
    assert_booked(&b, &host, &own);
    for (uint32_t i = 0; i < 40; i++) {
        uint64_t bytes = i % 3 ? 1 + i * 3001 : MIB + i;
        buf[i] = take(&b, bytes);
        own.bytes[MYTH_MEM_OTHER] += bytes;
        assert_booked(&b, &host, &own);
        uint64_t driver = vk_probe_driver_bytes(b.dev), ledger = myth_mem_total(b.mem, LEDGER).live;
        assert_true(driver <= ledger && ledger - driver <= 16 * MIB);
    }
    for (uint32_t i = 0; i < 40; i++)
        myth_buf_close(buf[i]);
    own.bytes[MYTH_MEM_OTHER] = 0;
    assert_booked(&b, &host, &own);
    bench_close(&b);
}

/* A buffer in host memory: on the host's ledger, seen by the host in the device's form, transfers on both paths, small
 * ones with a block of their own. */
static void test_host_buffers(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {34 * 2 * 3, 34 * 2 * 1000, 34 * 2 * 70000};
    bench b;
    bench_open(&b);
    const uint64_t own = myth_mem_total(b.mem, LEDGER).live, host = myth_mem_total(b.mem, MYTH_MEM_HOST).live;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int is_busy = 0; is_busy < 2; is_busy++) {
            const uint64_t n = sizes[i], n_block = n / 34;
            unsigned char *src = noise(n, i), *got = calloc(1, n);
            myth_buf *buf = NULL, *busy = take(&b, 8);
            uint32_t word;
            assert_non_null(got);
            if (myth_buf_open_host(&buf, b.dev, MYTH_MEM_WEIGHTS, "experts", n, &b.err) != MYTH_OK)
                fail_msg("%s", b.err.msg);
            assert_int_equal(myth_mem_total(b.mem, LEDGER).live, own + 8);
            assert_int_equal(myth_mem_get(b.mem, MYTH_MEM_HOST, MYTH_MEM_WEIGHTS).live, n);
            if (is_busy)
                myth_stream_read(b.s, &word, myth_view_at(busy, 0, MYTH_F32), 4);
            myth_weight_write(b.s, myth_view_at(buf, 0, MYTH_Q8_0), src, (uint32_t)(n_block / 2), 0,
                              (uint32_t)(n_block / 2), 64);
            myth_stream_read(b.s, got, myth_view_at(buf, 0, MYTH_F32), n);
            sync_ok(&b);
            assert_memory_equal(got, myth_buf_host(buf), n);
            for (uint64_t k = 0; k < n_block; k++)
                if (memcmp(got + 32 * k, src + 34 * k + 2, 32) != 0 ||
                    memcmp(got + 32 * n_block + 2 * k, src + 34 * k, 2) != 0)
                    fail_msg("block %llu of %llu", (unsigned long long)k, (unsigned long long)n_block);
            myth_buf_close(buf);
            myth_buf_close(busy);
            free(src);
            free(got);
        }
    myth_buf *none = NULL;
    myth_mem_set_limit(b.mem, MYTH_MEM_HOST, host + 99);
    assert_int_equal(myth_buf_open_host(&none, b.dev, MYTH_MEM_WEIGHTS, "experts", 100, &b.err), MYTH_ENOMEM);
    assert_non_null(strstr(b.err.msg, "host memory"));
    assert_int_equal(myth_mem_total(b.mem, MYTH_MEM_HOST).live, host);
    bench_close(&b);
}

/* Past the ledger's limit and past the heap: MYTH_ENOMEM, and everything before is intact. */
static void test_memory_runs_out(void **state)
{
    (void)state;
    bench b;
    myth_buf *buf[64], *kept, *none = NULL;
    uint32_t n = 0, word = 0x1234, back = 0;
    bench_open(&b);
    kept = take(&b, 4096);
    myth_stream_write(b.s, myth_view_at(kept, 64, MYTH_I32), &word, 4);
    sync_ok(&b);
    const uint64_t live = myth_mem_total(b.mem, LEDGER).live, heap = myth_device_get_caps(b.dev)->total_bytes;
    myth_mem_set_limit(b.mem, LEDGER, live + 1000);
    assert_int_equal(myth_buf_open(&none, b.dev, MYTH_MEM_OTHER, "test", 1001, &b.err), MYTH_ENOMEM);
    myth_mem_set_limit(b.mem, LEDGER, 0);
    assert_int_equal(myth_buf_open(&none, b.dev, MYTH_MEM_OTHER, "test", heap + 1, &b.err), MYTH_ENOMEM);
    assert_non_null(strstr(b.err.msg, "holds at most"));
    while (n < 64 && myth_buf_open(&buf[n], b.dev, MYTH_MEM_OTHER, "test", heap / 8, &b.err) == MYTH_OK)
        n++;
    assert_in_range(n, 6, 7); /* eight would leave nothing to the device itself */
    assert_non_null(strstr(b.err.msg, "heap"));
    assert_true(vk_probe_driver_bytes(b.dev) <= heap);
    myth_stream_read(b.s, &back, myth_view_at(kept, 64, MYTH_I32), 4);
    sync_ok(&b);
    assert_int_equal(back, word);
    while (n)
        myth_buf_close(buf[--n]);
    myth_buf_close(kept);
    assert_int_equal(myth_mem_total(b.mem, LEDGER).live, live - 4096);
    bench_close(&b);
}

/* ---- transfers ---- */

static void copy(bench *b, myth_buf *buf, uint64_t to, uint64_t from, uint64_t bytes)
{
    myth_copy(b->s, &(struct myth_copy_args){
                        .dst = myth_view_at(buf, to, MYTH_F32),
                        .src = myth_view_at(buf, from, MYTH_F32),
                        .bytes = bytes,
                    });
}

/* Every size class, with the stream idle and with work under way, so that each path is taken; odd places and lengths.
 */
static void test_transfers(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 5, 4096, 32 << 10, (32 << 10) + 1, 2 * MIB + 3, 9 * MIB + 1};
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int is_busy = 0; is_busy < 2; is_busy++) {
            uint64_t n = sizes[i];
            myth_buf *buf = take(&b, 2 * n + 20);
            unsigned char *src = noise(n, i), *got = calloc(1, n);
            assert_non_null(got);
            if (is_busy)
                copy(&b, buf, 0, 1, 1);
            myth_stream_write(b.s, myth_view_at(buf, 3, MYTH_F32), src, n);
            copy(&b, buf, n + 7, 3, n);
            myth_stream_read(b.s, got, myth_view_at(buf, n + 7, MYTH_F32), n);
            memset(src, 0, 1); /* write took its copy */
            sync_ok(&b);
            src[0] = got[0];
            assert_memory_equal(got, src, n);
            unsigned char *again = noise(n, i);
            assert_int_equal(got[0], again[0]);
            free(again);
            free(src);
            free(got);
            myth_buf_close(buf);
        }
    bench_close(&b);
}

/* A read gives what was there when it was issued, not what came later; more reads than a frame holds. */
static void test_reads_in_order(void **state)
{
    (void)state;
    enum { N = 300 };
    bench b;
    uint32_t got[N];
    bench_open(&b);
    myth_buf *buf = take(&b, 8);
    for (uint32_t i = 0; i < N; i++) {
        myth_stream_write(b.s, myth_view_at(buf, 4, MYTH_I32), &i, 4);
        myth_stream_read(b.s, &got[i], myth_view_at(buf, 4, MYTH_I32), 4);
    }
    sync_ok(&b);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(got[i], i);
    myth_buf_close(buf);
    bench_close(&b);
}

static void test_overlapping_copy(void **state)
{
    (void)state;
    enum { N = 5000 };
    static const int shift[] = {-700, -1, 0, 1, 3, 256, 700};
    bench b;
    bench_open(&b);
    myth_buf *buf = take(&b, 2 * N);
    for (size_t i = 0; i < sizeof(shift) / sizeof(shift[0]); i++) {
        unsigned char *want = noise(2 * N, i), *got = malloc(2 * N);
        uint64_t from = 1001, to = (uint64_t)((int)from + shift[i]);
        assert_non_null(got);
        myth_stream_write(b.s, myth_view_at(buf, 0, MYTH_F32), want, 2 * N);
        copy(&b, buf, to, from, N);
        myth_stream_read(b.s, got, myth_view_at(buf, 0, MYTH_F32), 2 * N);
        sync_ok(&b);
        memmove(want + to, want + from, N);
        assert_memory_equal(got, want, 2 * N);
        free(want);
        free(got);
    }
    myth_buf_close(buf);
    bench_close(&b);
}

/* A table past any storage-buffer range, written in parts by both paths, its far rows gathered. */
static void test_large_table(void **state)
{
    (void)state;
    enum { ROWS = 262144, DIM = 640, PART = 4096, PICK = 5, ROW = DIM / 32 * 34 };
    static const int32_t ids[PICK] = {0, 1, ROWS / 2 + 1, ROWS - 2, ROWS - 1};
    bench b;
    bench_open(&b);
    myth_buf *table = take(&b, (uint64_t)ROWS * ROW), *id = take(&b, sizeof(ids)), *y = take(&b, PICK * DIM * 4);
    unsigned char *part = malloc((size_t)PART * ROW);
    float got[PICK * DIM];
    assert_non_null(part);
    for (uint32_t row0 = 0; row0 < ROWS; row0 += PART) {
        for (uint32_t i = 0; i < PART * (uint32_t)DIM / 32;
             i++) { /* block: scale 2^-(block of the row % 4), quants of the row */
            unsigned char *block = part + (size_t)i * 34;
            uint16_t scale = myth_f32_to_f16(ldexpf(1.0f, -(int)(i % (DIM / 32) % 4)));
            memcpy(block, &scale, 2);
            for (uint32_t k = 0; k < 32; k++)
                block[2 + k] = (unsigned char)(signed char)((int)((row0 + i / (DIM / 32)) * 7 + k) % 255 - 127);
        }
        if (row0 / PART % 2) /* so that the stream is not idle */
            myth_stream_read(b.s, got, myth_view_at(y, 0, MYTH_F32), 4);
        myth_weight_write(b.s, myth_view_at(table, 0, MYTH_Q8_0), part, ROWS, row0, PART, DIM);
    }
    myth_stream_write(b.s, myth_view_at(id, 0, MYTH_I32), ids, sizeof(ids));
    myth_embed_gather(b.s, &(struct myth_embed_gather_args){
                               .y = myth_view_at(y, 0, MYTH_F32),
                               .table = myth_view_at(table, 0, MYTH_Q8_0),
                               .ids = myth_view_at(id, 0, MYTH_I32),
                               .n_rows = PICK,
                               .dim = DIM,
                               .n_vocab = ROWS,
                               .scale = 2.0f,
                           });
    myth_stream_read(b.s, got, myth_view_at(y, 0, MYTH_F32), sizeof(got));
    sync_ok(&b);
    for (uint32_t i = 0; i < PICK * DIM; i++) {
        uint32_t row = (uint32_t)ids[i / DIM], at = i % DIM;
        float want = 2.0f * ldexpf((float)((int)(row * 7 + at % 32) % 255 - 127), -(int)(at / 32 % 4));
        if (got[i] != want)
            fail_msg("row %u, value %u: %g, not %g", row, at, (double)got[i], (double)want);
    }
    free(part);
    myth_buf_close(table);
    myth_buf_close(id);
    myth_buf_close(y);
    bench_close(&b);
}

/* A buffer past the largest allocation, where the driver can bind several to one: written and read across the seam. */
static void test_several_allocations(void **state)
{
    (void)state;
    enum { N = 3 * MIB };
    bench b;
    uint64_t seam;
    bench_open(&b);
    if (!vk_probe_large_block(b.dev, &seam)) {
        bench_close(&b);
        check_skip("the driver binds one allocation to a buffer, of at most %llu bytes", (unsigned long long)seam);
    }
    myth_buf *buf = take(&b, seam + N);
    unsigned char *src = noise(N, 5), *got = calloc(1, N);
    assert_non_null(got);
    myth_stream_write(b.s, myth_view_at(buf, seam - N / 2, MYTH_F32), src, N);
    copy(&b, buf, 0, seam - N / 2, N);
    myth_stream_read(b.s, got, myth_view_at(buf, 0, MYTH_F32), N);
    sync_ok(&b);
    assert_memory_equal(got, src, N);
    free(src);
    free(got);
    myth_buf_close(buf);
    bench_close(&b);
}

/* ---- streams ---- */

typedef struct {
    myth_buf *x, *pend, *w, *y;
    struct myth_rms_norm_args args;
} adder;

/* x += 1 in every run of the op: counts how often and in which order it ran. */
static void adder_open(adder *a, bench *b, uint32_t dim)
{
    float one[1024], zero[1024] = {0};
    for (uint32_t i = 0; i < dim; i++)
        one[i] = 1.0f;
    myth_buf **buf[4] = {&a->x, &a->pend, &a->w, &a->y};
    for (int i = 0; i < 4; i++) {
        *buf[i] = take(b, dim * 4);
        myth_stream_write(b->s, myth_view_at(*buf[i], 0, MYTH_F32), i ? one : zero, dim * 4);
    }
    a->args = (struct myth_rms_norm_args){
        .y = myth_view_at(a->y, 0, MYTH_F32),
        .x = myth_view_at(a->x, 0, MYTH_F32),
        .pend = myth_view_at(a->pend, 0, MYTH_F32),
        .w = myth_view_at(a->w, 0, MYTH_F32),
        .n_rows = 1,
        .dim = dim,
        .eps = 1e-6f,
    };
}

static void adder_close(adder *a)
{
    myth_buf_close(a->x);
    myth_buf_close(a->pend);
    myth_buf_close(a->w);
    myth_buf_close(a->y);
}

static float adder_value(adder *a, bench *b, uint32_t dim)
{
    float x[1024];
    myth_stream_read(b->s, x, myth_view_at(a->x, 0, MYTH_F32), dim * 4);
    sync_ok(b);
    for (uint32_t i = 1; i < dim; i++)
        assert_true(x[i] == x[0]);
    return x[0];
}

/* More ops than all frames hold, without a sync between. */
static void test_many_ops(void **state)
{
    (void)state;
    bench b;
    adder a;
    bench_open(&b);
    adder_open(&a, &b, 300);
    for (int i = 0; i < 1000; i++)
        myth_rms_norm(b.s, &a.args);
    assert_true(adder_value(&a, &b, 300) == 1000.0f);
    adder_close(&a);
    bench_close(&b);
}

static void test_record_and_replay(void **state)
{
    (void)state;
    bench b;
    adder a;
    myth_graph *g[3] = {NULL, NULL, NULL};
    bench_open(&b);
    adder_open(&a, &b, 64);
    for (int i = 0; i < 2; i++) {
        myth_stream_begin_record(b.s);
        for (int k = 0; k <= i; k++)
            myth_rms_norm(b.s, &a.args);
        assert_int_equal(myth_stream_end_record(&g[i], b.s, &b.err), MYTH_OK);
        assert_int_equal(vk_probe_n_dispatch(g[i]), i + 1);
    }
    assert_true(adder_value(&a, &b, 64) == 0.0f); /* recording runs nothing */
    myth_stream_begin_record(b.s);
    assert_int_equal(myth_stream_end_record(&g[2], b.s, &b.err), MYTH_EFULL);
    for (int i = 0; i < 20; i++) {
        myth_stream_replay(b.s, g[0]);
        myth_rms_norm(b.s, &a.args);
        myth_stream_replay(b.s, g[1]);
    }
    assert_true(adder_value(&a, &b, 64) == 80.0f);
    myth_graph_close(g[0]);
    myth_stream_begin_record(b.s); /* its place is free again; more ops than it was reserved for */
    for (int k = 0; k < 1000; k++)
        myth_rms_norm(b.s, &a.args);
    assert_int_equal(myth_stream_end_record(&g[0], b.s, &b.err), MYTH_EFULL);
    myth_stream_replay(b.s, g[1]);
    assert_true(adder_value(&a, &b, 64) == 82.0f);
    myth_graph_close(g[1]);
    adder_close(&a);
    bench_close(&b);
}

static void test_names_and_handles(void **state)
{
    (void)state;
    bench b;
    myth_device *none;
    myth_stream *s[9];
    uint32_t n = 0;
    bench_open(&b);
    assert_int_equal(myth_device_open(&none, b.mem, &(myth_device_opts){.name = "vulkan:7"}, &b.err), MYTH_EDEVICE);
    const myth_device_caps *caps = myth_device_get_caps(b.dev);
    assert_string_equal(caps->name, "vulkan:0");
    assert_int_equal(caps->ledger, LEDGER);
    assert_false(caps->is_host_visible);
    assert_true(caps->total_bytes > 0 && caps->free_bytes <= caps->total_bytes &&
                caps->budget_bytes <= caps->total_bytes);
    while (n < 9 && myth_stream_open(&s[n], b.dev, &b.err) == MYTH_OK)
        n++;
    assert_int_equal(n, 7); /* eight with the one that is open */
    while (n)
        myth_stream_close(s[--n]);
    bench_close(&b);
}

static void test_code_size(void **state)
{
    (void)state;
    printf("SPIR-V: %llu bytes\n", (unsigned long long)vk_probe_spirv_bytes());
    assert_in_range(vk_probe_spirv_bytes(), 1, 3 * MIB / 2);
}

/* The layer is awake: a mistake made on purpose, by this program run again with an argument, is counted. */
static int plant(void)
{
    bench b;
    bench_open(&b);
    myth_buf *buf = take(&b, 64);
    vk_probe_plant(b.s, myth_view_at(buf, 0, MYTH_F32));
    (void)myth_stream_sync(b.s, &b.err);
    myth_buf_close(buf);
    bench_close(&b);
    return vk_probe_n_message() == 0;
}

/* The words that started this program, each quoted for a shell: the name alone would not do where a loader was named
 * before it (tests/support/vulkan_newer.sh). */
static void own_command(char *line, size_t cap)
{
    char words[2048];
    size_t n = 0;
    FILE *f = fopen("/proc/self/cmdline", "rb");
    assert_non_null(f);
    const size_t len = fread(words, 1, sizeof(words), f);
    fclose(f);
    assert_in_range(len, 2, sizeof(words) - 1);
    for (const char *word = words; word < words + len; word += strlen(word) + 1) {
        assert_null(strchr(word, '\''));
        n += (size_t)snprintf(line + n, cap - n, "'%s' ", word);
        assert_in_range(n, 1, cap - 1);
    }
}

static void test_planted_mistake(void **state)
{
    (void)state;
    char own[4096], line[sizeof(own) + 32];
    own_command(own, sizeof(own));
    snprintf(line, sizeof(line), "%splant >/dev/null", own);
    assert_int_equal(system(line), 0);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_is_ledger),      cmocka_unit_test(test_host_buffers),
        cmocka_unit_test(test_memory_runs_out),     cmocka_unit_test(test_transfers),
        cmocka_unit_test(test_reads_in_order),      cmocka_unit_test(test_overlapping_copy),
        cmocka_unit_test(test_large_table),         cmocka_unit_test(test_many_ops),
        cmocka_unit_test(test_record_and_replay),   cmocka_unit_test(test_names_and_handles),
        cmocka_unit_test(test_code_size),           cmocka_unit_test(test_planted_mistake),
        cmocka_unit_test(test_several_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? plant() : vulkan_run(run);
}
#endif
