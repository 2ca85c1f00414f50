/* test_device.c - device.h on the CPU: levels, plan and ledger, failures that stay in the stream, refused arguments,
 * recording and replay, trace. */
#include "op_case.h"

#include "tests/support/check.h"

static const char *const level_names[] = {"ref", "avx2", "avx512", "amx", "neon"};
enum { LEVEL_NAME_N = sizeof(level_names) / sizeof(level_names[0]) };

static myth_status open_level(myth_device **dev, myth_mem *mem, const char *level, bool is_exact, myth_error *err)
{
    return myth_device_open(
        dev, mem, &(myth_device_opts){.name = "cpu", .n_threads = 2, .is_exact = is_exact, .cpu_level = level}, err);
}

/* The option chooses each level that is present; absent ones are refused by name; exact mode runs ref whatever was
 * chosen. Without the option the environment has no influence. */
static void test_levels(void **state)
{
    (void)state;
    myth_mem *mem;
    myth_error err;
    myth_device *dev;
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    for (int i = 0; i < LEVEL_NAME_N; i++) {
        char quoted[16];
        if (open_level(&dev, mem, level_names[i], false, &err) != MYTH_OK) {
            check_left_out_target(level_names[i], err.msg);
            assert_int_equal(err.code, MYTH_EDEVICE);
            snprintf(quoted, sizeof(quoted), " %s ", level_names[i]);
            assert_non_null(strstr(err.msg, quoted));
            assert_non_null(strstr(err.msg, "absent"));
            assert_true(i > 0);
            continue;
        }
        printf("present: %s\n", myth_device_get_caps(dev)->description);
        assert_string_equal(myth_device_get_caps(dev)->level, level_names[i]);
        myth_device_close(dev);
        assert_int_equal(open_level(&dev, mem, level_names[i], true, &err), MYTH_OK);
        assert_string_equal(myth_device_get_caps(dev)->level, "ref");
        myth_device_close(dev);
    }
    assert_int_equal(open_level(&dev, mem, "sse9", false, &err), MYTH_EDEVICE);
    assert_non_null(strstr(err.msg, "sse9"));
    setenv("MYTHOS_CPU", "sse9", 1);
    assert_int_equal(open_level(&dev, mem, NULL, false, &err), MYTH_OK); /* the best present */
    myth_device_close(dev);
    unsetenv("MYTHOS_CPU");
    assert_int_equal(myth_device_open(&dev, mem, &(myth_device_opts){.name = "abacus:0"}, &err), MYTH_EDEVICE);
    assert_int_equal(myth_device_open(&dev, mem, &(myth_device_opts){.name = "auto", .n_threads = 1}, &err), MYTH_OK);
    assert_string_equal(myth_device_get_caps(dev)->name, "cpu");
    myth_device_close(dev);
    setenv("OMP_NUM_THREADS", "61", 1);
    assert_int_equal(myth_device_open(&dev, mem, &(myth_device_opts){.name = "cpu"}, &err), MYTH_OK);
    assert_int_not_equal(myth_device_get_caps(dev)->n_threads, 61); /* no machine with 61 cores runs this */
    myth_device_close(dev);
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(myth_mem_close(mem), 0);
}

static void test_plan_is_ledger(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 7};
    static const myth_work_shape shapes[] = {
        {
            .n_rows = 1,
            .n_logit_rows = 1,
            .d_model = 64,
            .d_ff = 128,
            .n_head = 2,
            .n_head_kv = 1,
            .head_dim = 32,
            .n_vocab = 100,
            .top_k = 1,
        },
        {
            .n_rows = 512,
            .n_logit_rows = 32,
            .d_model = 1152,
            .d_ff = 6912,
            .n_head = 4,
            .n_head_kv = 1,
            .head_dim = 256,
            .n_vocab = 262144,
            .top_k = 64,
            .n_record_ops = 200,
            .n_graph = 2,
        },
        {
            .n_rows = 33,
            .d_model = 100,
            .d_ff = 70,
            .n_head = 5,
            .n_head_kv = 5,
            .head_dim = 20,
            .n_vocab = 8000,
            .top_k = 1024,
            .n_record_ops = 1,
            .n_graph = 1,
        },
    };
    for (int l = 0; l < LEVEL_NAME_N; l++)
        for (int t = 0; t < 3; t++)
            for (int i = 0; i < 3; i++) {
                myth_mem *mem;
                myth_device *dev;
                myth_class_bytes plan, own;
                myth_device_opts opts = {.name = "cpu", .n_threads = threads[t], .cpu_level = level_names[l]};
                assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
                if (myth_device_open(&dev, mem, &opts, NULL) == MYTH_OK) {
                    myth_device_plan(&plan, &own, &opts, NULL);
                    for (int c = 0; c < MYTH_MEM_CLASS_N; c++)
                        assert_int_equal(myth_mem_get(mem, 0, (myth_mem_class)c).live, plan.bytes[c]);
                    assert_int_equal(myth_device_reserve(dev, &shapes[i], NULL), MYTH_OK);
                    myth_device_plan(&plan, &own, &opts, &shapes[i]);
                    for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
                        assert_int_equal(myth_mem_get(mem, 0, (myth_mem_class)c).live, plan.bytes[c]);
                        assert_int_equal(myth_mem_get(mem, 0, (myth_mem_class)c).peak, plan.bytes[c]);
                    }
                    myth_device_close(dev);
                }
                assert_int_equal(myth_mem_close(mem), 0);
            }
}

/* Each allocation of open, reserve and a buffer fails once, which gives MYTH_ENOMEM and leaves nothing booked. */
static void test_faults(void **state)
{
    (void)state;
    myth_work_shape shape = case_shape(CASE_TEST);
    for (uint64_t nth = 1; nth < 100; nth++) {
        myth_mem *mem;
        myth_device *dev = NULL;
        myth_buf *buf = NULL;
        myth_error err;
        assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        myth_status st = open_level(&dev, mem, NULL, false, &err);
        if (st == MYTH_OK && (st = myth_device_reserve(dev, &shape, &err)) == MYTH_OK)
            st = myth_buf_open(&buf, dev, MYTH_MEM_OTHER, "b", 100, &err);
        else if (dev) /* the device is as before: reserving again works */
            assert_int_equal(myth_device_reserve(dev, &shape, &err), MYTH_OK);
        assert_true(st == MYTH_OK || st == MYTH_ENOMEM);
        myth_buf_close(buf);
        myth_device_close(dev);
        assert_int_equal(myth_mem_close(mem), 0);
        if (st == MYTH_OK) {
            assert_true(nth > 5);
            return;
        }
    }
    fail_msg("a fault never stopped");
}

static int first_case(myth_op op)
{
    for (int i = 0; i < KERNEL_CASE_N; i++)
        if (kernel_cases[i].op == op && (kernel_cases[i].use & CASE_TEST))
            return i;
    return -1;
}

static void test_sticky(void **state)
{
    (void)state;
    struct rig r;
    myth_error err;
    union op_args bad, good, copy;
    assert_true(rig_open(&r, NULL, 2, CASE_TEST, &err));
    make_case(&r, &kernel_cases[first_case(MYTH_OP_copy)], 3, &copy);
    int proj = first_case(MYTH_OP_proj), norm = first_case(MYTH_OP_rms_norm);
    make_case(&r, &kernel_cases[proj], 1, &bad);
    make_case(&r, &kernel_cases[norm], 2, &good);
    bad.proj.n_rows = 1u << 20;
    issue_op(r.s, MYTH_OP_proj, &bad);
    issue_op(r.s, MYTH_OP_rms_norm, &good); /* dropped */
    issue_op(r.s, MYTH_OP_copy, &copy);     /* dropped */
    float after = 1.0f, sent = 2.0f;
    myth_stream_write(r.s, good.rms_norm.y, &sent, 4); /* dropped */
    myth_stream_read(r.s, &after, good.rms_norm.y, 4); /* dropped */
    assert_true(isnan(*(float *)view_host(good.rms_norm.y)));
    assert_true(isnan(*(float *)view_host(copy.copy.dst)));
    assert_true(after == 1.0f);
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "proj"));
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_OK); /* reported once */
    issue_op(r.s, MYTH_OP_rms_norm, &good);
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_OK);
    assert_false(isnan(*(float *)view_host(good.rms_norm.y)));
    myth_stream_read(r.s, &after, myth_view_at(good.rms_norm.y.buf, myth_buf_bytes(good.rms_norm.y.buf) - 2, MYTH_F32),
                     4);
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_EARG);
    assert_int_equal(rig_close(&r), 0);
}

/* Every view of every op in turn is past its buffer, has no type, is misaligned, or ends one element too far. Then
 * counts are impossible. All of it is refused. */
static void test_bad_arguments(void **state)
{
    (void)state;
    struct rig r;
    myth_error err;
    assert_true(rig_open(&r, NULL, 1, CASE_TEST, &err));
    for (int op = 0; op < MYTH_OP_N; op++) {
        int n_view = 0, idx = first_case((myth_op)op);
        for (int i = idx; i < KERNEL_CASE_N && kernel_cases[i].op == (myth_op)op; i++)
            if ((kernel_cases[i].use & CASE_TEST) && (kernel_cases[i].has_bias || kernel_cases[i].has_post) &&
                !kernel_cases[i].form)
                idx = i; /* the case with most views */
        union op_args a;
        make_case(&r, &kernel_cases[idx], (uint64_t)idx, &a);
        for (size_t at = 0; at + sizeof(myth_view) <= sizeof(a); at += 8) {
            myth_view v;
            int is_ours = 0;
            memcpy(&v, (unsigned char *)&a + at, sizeof(v));
            for (int b = 0; b < r.n_buf; b++)
                is_ours |= v.buf == r.buf[b];
            if (!is_ours)
                continue;
            n_view++;
            for (int how = 0; how < 4; how++) {
                union op_args bad = a;
                myth_view w = v;
                bool is_untyped = op == MYTH_OP_copy ||
                                  ((op == MYTH_OP_attn_prefill || op == MYTH_OP_attn_decode) &&
                                   v.buf == a.attn_prefill.kv.pool.buf) ||
                                  (op == MYTH_OP_attn_mass && v.buf == a.attn_mass.attn.kv.pool.buf) ||
                                  (op == MYTH_OP_kv_merge && v.buf == a.kv_merge.kv.pool.buf);
                bool is_open_ended =
                    v.dtype == MYTH_I32 || (op == MYTH_OP_head_topk && v.buf == a.head_topk.bias.buf) ||
                    (op == MYTH_OP_ple_gate && v.buf == a.ple_gate.p.buf) ||
                    (op == MYTH_OP_gather_norm && (v.buf == a.gather_norm.x.buf || v.buf == a.gather_norm.pend.buf)) ||
                    (op == MYTH_OP_capture_sum && (v.buf == a.capture_sum.x.buf || v.buf == a.capture_sum.pend.buf));
                if ((how > 0 && is_untyped) || (how == 3 && is_open_ended))
                    continue;
                w.off = how == 0 ? myth_buf_bytes(v.buf) + 64 : how == 2 ? v.off + 1 : how == 3 ? v.off + 4 : v.off;
                w.dtype = how == 1 ? (myth_dtype)99 : v.dtype;
                memcpy((unsigned char *)&bad + at, &w, sizeof(w));
                issue_op(r.s, (myth_op)op, &bad);
                if (myth_stream_sync(r.s, &err) != MYTH_EARG || !strstr(err.msg, myth_op_name((myth_op)op)))
                    fail_msg("%s: view at byte %zu broken in way %d: %s", myth_op_name((myth_op)op), at, how,
                             err.code ? err.msg : "accepted");
            }
        }
        assert_true(n_view >= 2);
        rig_clear(&r);
    }
    static const struct {
        myth_op op;
        size_t at;
        uint32_t value;
    } counts[] = {
#define COUNT(name, field, value) {MYTH_OP_##name, offsetof(struct myth_##name##_args, field), value}
        COUNT(embed_gather, n_rows, 5000),
        COUNT(embed_gather, dim, 1u << 30),
        COUNT(rope_table, n_pair, 1000),
        COUNT(rope_table, head_dim, 19),
        COUNT(rms_norm, n_rows, 160),
        COUNT(rms_norm, dim, 0),
        COUNT(proj, n_out, 1u << 31),
        COUNT(proj, n_in, 0x80000000u),
        COUNT(add_low_rank, rank, 1u << 31),
        COUNT(add_low_rank, n_out, 1u << 30),
        COUNT(add_low_rank, n_rows, 161),
        COUNT(norm_qkv_rope_store, n_head_kv, 3),
        COUNT(norm_qkv_rope_store, cap_rows, 0),
        COUNT(norm_qkv_rope_store, head_dim, 0),
        COUNT(qkv_rope_store, head_dim, 33),
        COUNT(attn_prefill, n_head, 1000),
        COUNT(attn_prefill, kv.page_tok, 0),
        COUNT(attn_prefill, kv.n_entry, 0),
        COUNT(attn_prefill, kv.page_tok, 1u << 31),
        COUNT(attn_decode, n_rows, 160),
        COUNT(kv_merge, n_run, 100),
        COUNT(kv_merge, cap_rows, 1u << 31),
        COUNT(norm_ffn_geglu, d_ff, 1u << 30),
        COUNT(geglu, n_rows, 161),
        COUNT(gather_norm, n_gather, 161),
        COUNT(head_topk, k, 0),
        COUNT(head_topk, k, 1025),
        COUNT(head_topk, n_rows, 100),
        COUNT(head_topk, n_vocab, 1u << 31),
        COUNT(head_logits, n_vocab, 1u << 31),
        COUNT(capture_sum, n_gather, 161),
        COUNT(capture_sum, n_label, 0),
        COUNT(capture_sum, n_label, 1u << 31),
        COUNT(capture_sum, dim, 0),
        COUNT(ple_merge, n_layer, 1u << 31),
        COUNT(ple_merge, n_ple, 0),
        COUNT(ple_merge, n_table, 0),
        COUNT(ple_gate, n_ple, 1u << 30),
        COUNT(ple_gate, p_stride, 1),
        COUNT(moe_route, n_expert, MYTH_EXPERT_MAX + 1),
        COUNT(moe_route, k, 0),
        COUNT(moe_route, k, MYTH_EXPERT_USED_MAX + 1),
        COUNT(moe_geglu, n_expert, 0),
        COUNT(moe_geglu, expert_rows, 1u << 31),
        COUNT(moe_geglu, up_row, 1u << 31),
        COUNT(moe_geglu, k, 6),
        COUNT(moe_down, dim, 1u << 30),
        COUNT(moe_down, n_expert, 1024),
        COUNT(altup_predict, n_stream, 1),
        COUNT(altup_predict, n_stream, MYTH_STREAM_MAX + 1),
        COUNT(altup_predict, active, 4),
        COUNT(altup_correct, n_stream, 5),
        COUNT(altup_match, n_u, 0),
        COUNT(altup_match, n_u, MYTH_STREAM_MAX),
        COUNT(laurel_merge, dim, 0),
        COUNT(geglu_sparse, d_ff, 0),
#undef COUNT
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        union op_args a;
        make_case(&r, &kernel_cases[first_case(counts[i].op)], 3, &a);
        memcpy((unsigned char *)&a + counts[i].at, &counts[i].value, 4);
        issue_op(r.s, counts[i].op, &a);
        if (myth_stream_sync(r.s, &err) != MYTH_EARG)
            fail_msg("%s: count %u at byte %zu accepted", myth_op_name(counts[i].op), counts[i].value, counts[i].at);
        rig_clear(&r);
    }
    assert_int_equal(rig_close(&r), 0);
}

/* An op over no rows writes nothing and is no error. */
static void test_no_rows(void **state)
{
    (void)state;
    struct rig r;
    myth_error err;
    union op_args a;
    assert_true(rig_open(&r, NULL, 1, CASE_TEST, &err));
    make_case(&r, &kernel_cases[first_case(MYTH_OP_proj)], 3, &a);
    a.proj.n_rows = 0;
    issue_op(r.s, MYTH_OP_proj, &a);
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_OK);
    assert_true(isnan(*(float *)view_host(a.proj.y)));
    assert_int_equal(rig_close(&r), 0);
}

/* Replaying a layer of fused ops, whose inputs change between replays, gives the bits of issuing the ops again. */
static void test_replay(void **state)
{
    (void)state;
    for (int l = 0; l < LEVEL_NAME_N; l++) {
        struct rig r;
        myth_error err;
        myth_graph *g = NULL;
        union op_args norm, ffn;
        struct kernel_case ffn_case = kernel_cases[first_case(MYTH_OP_norm_ffn_geglu)];
        if (!rig_open(&r, level_names[l], 2, CASE_TEST, &err))
            continue;
        make_case(&r, &kernel_cases[first_case(MYTH_OP_rms_norm)], 5, &norm);
        make_case(&r, &ffn_case, 6, &ffn);
        size_t y_bytes = (size_t)norm.rms_norm.n_rows * norm.rms_norm.dim * 4,
               h_bytes = (size_t)ffn_case.rows * ffn_case.d_ff * 4;
        size_t x_bytes = (size_t)ffn_case.rows * ffn_case.dim * 4;
        float *x = malloc(x_bytes), *h[2] = {malloc(h_bytes), malloc(h_bytes)};
        assert_true(x && h[0] && h[1]);
        memcpy(x, view_host(ffn.norm_ffn_geglu.x), x_bytes);

        uint64_t n_alloc = myth_mem_n_alloc(r.mem);
        myth_stream_begin_record(r.s);
        issue_op(r.s, MYTH_OP_rms_norm, &norm);
        issue_op(r.s, MYTH_OP_norm_ffn_geglu, &ffn);
        assert_int_equal(myth_stream_end_record(&g, r.s, &err), MYTH_OK);
        assert_true(isnan(*(float *)view_host(norm.rms_norm.y))); /* kept, not run */
        for (int step = 0; step < 3; step++) {
            ((float *)view_host(norm.rms_norm.x))[0] = (float)step;
            x[1] = (float)step;
            for (int is_replay = 0; is_replay < 2; is_replay++) {
                memset(view_host(norm.rms_norm.y), 0xff, y_bytes);
                memset(view_host(ffn.norm_ffn_geglu.h), 0xff, h_bytes);
                memcpy(view_host(ffn.norm_ffn_geglu.x), x, x_bytes);
                if (is_replay) {
                    myth_stream_replay(r.s, g);
                } else {
                    issue_op(r.s, MYTH_OP_rms_norm, &norm);
                    issue_op(r.s, MYTH_OP_norm_ffn_geglu, &ffn);
                }
                assert_int_equal(myth_stream_sync(r.s, &err), MYTH_OK);
                assert_false(isnan(*(float *)view_host(norm.rms_norm.y)));
                memcpy(h[is_replay], view_host(ffn.norm_ffn_geglu.h), h_bytes);
            }
            assert_memory_equal(h[0], h[1], h_bytes);
        }
        assert_int_equal(myth_mem_n_alloc(r.mem), n_alloc);
        myth_graph_close(g);
        free(x);
        free(h[0]);
        free(h[1]);
        assert_int_equal(rig_close(&r), 0);
    }
}

static void test_record_limits(void **state)
{
    (void)state;
    struct rig r;
    myth_error err;
    myth_graph *g[3] = {NULL, NULL, NULL};
    union op_args a;
    assert_true(rig_open(&r, NULL, 1, CASE_TEST, &err));
    make_case(&r, &kernel_cases[first_case(MYTH_OP_copy)], 5, &a);

    myth_stream_begin_record(r.s);
    for (int i = 0; i < 65; i++) /* 64 are reserved */
        issue_op(r.s, MYTH_OP_copy, &a);
    assert_int_equal(myth_stream_end_record(&g[0], r.s, &err), MYTH_EFULL);
    assert_null(g[0]);

    for (int i = 0; i < 3; i++) { /* 2 are reserved; the refused recording above has given its slot back */
        myth_stream_begin_record(r.s);
        issue_op(r.s, MYTH_OP_copy, &a);
        assert_int_equal(myth_stream_end_record(&g[i], r.s, &err), i < 2 ? MYTH_OK : MYTH_EFULL);
    }
    myth_graph_close(g[0]);
    myth_stream_begin_record(r.s);
    float v = 0.0f;
    myth_stream_write(r.s, a.copy.dst, &v, 4);
    assert_int_equal(myth_stream_end_record(&g[0], r.s, &err), MYTH_EARG);
    assert_int_equal(myth_stream_end_record(&g[0], r.s, &err), MYTH_EARG); /* not recording */
    a.copy.bytes = 1 << 30;
    myth_stream_begin_record(r.s);
    issue_op(r.s, MYTH_OP_copy, &a); /* arguments are checked when recorded */
    assert_int_equal(myth_stream_end_record(&g[0], r.s, &err), MYTH_EARG);
    myth_stream_replay(r.s, NULL);
    assert_int_equal(myth_stream_sync(r.s, &err), MYTH_EARG);
    myth_graph_close(g[1]);
    assert_int_equal(rig_close(&r), 0);
}

/* Rows past the last one of a matrix, because of their first row, their number or both, are refused and not written. */
static void test_weight_rows(void **state)
{
    (void)state;
    enum { ROWS = 10, WIDTH = 64 };
    static const struct {
        uint32_t row0, n_rows;
        myth_status st;
    } part[] = {
        {0, ROWS, MYTH_OK},       {ROWS - 1, 1, MYTH_OK},     {ROWS, 0, MYTH_OK},
        {3, ROWS - 2, MYTH_EARG}, {ROWS, 1, MYTH_EARG},       {0, ROWS + 1, MYTH_EARG},
        {ROWS + 1, 0, MYTH_EARG}, {UINT32_MAX, 2, MYTH_EARG}, {2, UINT32_MAX, MYTH_EARG},
    };
    static float src[2 * ROWS * WIDTH], there[2 * ROWS * WIDTH];
    struct rig r;
    myth_error err;
    myth_buf *buf;
    assert_true(rig_open(&r, NULL, 1, CASE_TEST, &err));
    assert_int_equal(myth_buf_open(&buf, r.dev, MYTH_MEM_OTHER, "rows", sizeof(there), &err), MYTH_OK);
    for (size_t i = 0; i < sizeof(src) / sizeof(src[0]); i++)
        src[i] = 1 + (float)i;
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
        const uint32_t row0 = part[i].row0, n_rows = part[i].n_rows;
        memset(there, 0, sizeof(there));
        myth_stream_write(r.s, myth_view_at(buf, 0, MYTH_F32), there, sizeof(there));
        myth_weight_write(r.s, myth_view_at(buf, 0, MYTH_F32), src, ROWS, row0, n_rows, WIDTH);
        assert_int_equal(myth_stream_sync(r.s, &err), part[i].st);
        myth_stream_read(r.s, there, myth_view_at(buf, 0, MYTH_F32), sizeof(there));
        assert_int_equal(myth_stream_sync(r.s, &err), MYTH_OK);
        for (uint32_t k = 0; k < 2 * ROWS * WIDTH; k++) {
            const bool is_written = part[i].st == MYTH_OK && k / WIDTH >= row0 && k / WIDTH < row0 + n_rows;
            assert_true(there[k] == (is_written ? src[k - row0 * WIDTH] : 0.0f));
        }
    }
    myth_buf_close(buf);
    assert_int_equal(rig_close(&r), 0);
}

/* A graph has addresses of its own device, so another device refuses to replay it. */
static void test_graph_of_another_device(void **state)
{
    (void)state;
    struct rig own, other;
    myth_error err;
    myth_graph *g;
    union op_args a;
    assert_true(rig_open(&own, NULL, 1, CASE_TEST, &err));
    assert_true(rig_open(&other, NULL, 1, CASE_TEST, &err));
    make_case(&other, &kernel_cases[first_case(MYTH_OP_copy)], 5, &a);
    myth_stream_begin_record(other.s);
    issue_op(other.s, MYTH_OP_copy, &a);
    assert_int_equal(myth_stream_end_record(&g, other.s, &err), MYTH_OK);
    myth_stream_replay(own.s, g);
    assert_int_equal(myth_stream_sync(own.s, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "another device"));
    assert_true(isnan(*(float *)view_host(a.copy.dst)));
    myth_stream_replay(other.s, g);
    assert_int_equal(myth_stream_sync(other.s, &err), MYTH_OK);
    assert_false(isnan(*(float *)view_host(a.copy.dst)));
    myth_graph_close(g);
    assert_int_equal(rig_close(&own), 0);
    assert_int_equal(rig_close(&other), 0);
}

static void test_handles_run_out(void **state)
{
    (void)state;
    struct rig r;
    myth_error err;
    myth_buf *b[1281] = {NULL};
    myth_stream *s[9] = {NULL};
    static const float constant[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    assert_true(rig_open(&r, NULL, 1, CASE_TEST, &err));
    for (int i = 0; i < 1281; i++)
        assert_int_equal(myth_buf_wrap(&b[i], r.dev, constant, sizeof(constant), &err),
                         i < 1280 ? MYTH_OK : MYTH_EFULL);
    assert_ptr_equal(myth_buf_host(b[7]), constant);
    assert_int_equal(myth_buf_bytes(b[7]), sizeof(constant));
    for (int i = 0; i < 1280; i++)
        myth_buf_close(b[i]);
    for (int i = 0; i < 8; i++) /* the rig holds one */
        assert_int_equal(myth_stream_open(&s[i], r.dev, &err), i < 7 ? MYTH_OK : MYTH_EFULL);
    for (int i = 0; i < 7; i++)
        myth_stream_close(s[i]);
    assert_int_equal(myth_buf_open(&b[0], r.dev, MYTH_MEM_OTHER, "empty", 0, &err), MYTH_EARG);
    assert_int_equal(myth_buf_open_host(&b[0], r.dev, MYTH_MEM_OTHER, "empty", 0, &err), MYTH_EARG);
    assert_int_equal(myth_buf_open_host(&b[0], r.dev, MYTH_MEM_OTHER, "of the host", 100, &err),
                     MYTH_OK); /* as every buffer here */
    assert_non_null(myth_buf_host(b[0]));
    assert_int_equal(myth_mem_get(r.mem, MYTH_MEM_HOST, MYTH_MEM_OTHER).live, 100);
    myth_buf_close(b[0]);
    assert_int_equal(rig_close(&r), 0);
}

struct lines {
    int n;
    char text[8][512];
};

static void keep_line(void *user, myth_log_level level, const char *component, const char *line)
{
    struct lines *l = user;
    (void)level;
    if (strcmp(component, "ops") == 0 && l->n < 8)
        snprintf(l->text[l->n++], sizeof(l->text[0]), "%s", line);
}

static void test_trace(void **state)
{
    (void)state;
    struct rig r;
    struct lines lines = {0, {""}};
    myth_log log = {keep_line, &lines, MYTH_LOG_ERROR};
    union op_args a;
    myth_work_shape shape = case_shape(CASE_TEST);
    memset(&r, 0, sizeof(r));
    assert_int_equal(myth_mem_open(&r.mem, 0, NULL), MYTH_OK);
    myth_device_opts opts = {
        .name = "cpu", .n_threads = 1, .cpu_level = "ref", .log = &log, .settings.trace_ops = true};
    assert_int_equal(myth_device_open(&r.dev, r.mem, &opts, NULL), MYTH_OK);
    assert_int_equal(myth_device_reserve(r.dev, &shape, NULL), MYTH_OK);
    assert_int_equal(myth_stream_open(&r.s, r.dev, NULL), MYTH_OK);
    make_case(&r, &kernel_cases[first_case(MYTH_OP_copy)], 5, &a);
    for (uint64_t i = 0; i < a.copy.bytes / 4; i++)
        ((float *)view_host(a.copy.src))[i] = i % 2 ? 3.0f : -1.0f;
    struct myth_geglu_args none_of = {.h = a.copy.dst, .g = a.copy.src, .up = a.copy.src, .n_rows = 1, .d_ff = 4};
    myth_geglu(r.s, &none_of);
    myth_geglu(r.s, &none_of);
    assert_int_equal(myth_stream_sync(r.s, NULL), MYTH_OK);
    assert_int_equal(lines.n, 2);
    assert_non_null(strstr(lines.text[0], "geglu"));
    assert_non_null(strstr(lines.text[0], "rows=1 d_ff=4"));
    assert_non_null(strstr(lines.text[0], " us "));
    const char *tail[2] = {strstr(lines.text[0], "mean"), strstr(lines.text[1], "mean")};
    assert_true(tail[0] && tail[1]);
    assert_string_equal(tail[0], tail[1]); /* the same input gives the same fingerprint */
    double mean, rms, most;
    assert_int_equal(sscanf(tail[0], "mean %lf rms %lf max %lf", &mean, &rms, &most), 3);
    const float *h = view_host(a.copy.dst); /* gelu(-1) * -1 = 0.158808, gelu(3) * 3 = 8.98909 */
    assert_true(fabs(mean - (double)(h[0] + h[1]) / 2.0) < 1e-5);
    assert_true(fabs(most - (double)h[1]) < 1e-4 && fabs(most - 8.98909) < 1e-3);
    assert_true(fabs(rms - sqrt((double)(h[0] * h[0] + h[1] * h[1]) / 2.0)) < 1e-4);
    assert_int_equal(rig_close(&r), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),          cmocka_unit_test(test_plan_is_ledger),
        cmocka_unit_test(test_faults),          cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_bad_arguments),   cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_replay),          cmocka_unit_test(test_record_limits),
        cmocka_unit_test(test_handles_run_out), cmocka_unit_test(test_trace),
        cmocka_unit_test(test_weight_rows),     cmocka_unit_test(test_graph_of_another_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
