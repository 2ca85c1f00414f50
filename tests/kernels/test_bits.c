/* test_bits.c - the number of threads, the other rows, chunks, pages and rings must not change a bit. Runs on every CPU
 * level and device present, each compared with itself; between levels and paths only tolerances hold (test_ops). */
#include "op_case.h"

#include "tests/support/check.h"

static bool is_present(const char *level)
{
    struct rig r;
    if (!rig_open(&r, level, 1, CASE_TEST, NULL))
        return false;
    assert_int_equal(rig_close(&r), 0);
    return true;
}

static void sync_ok(struct rig *r)
{
    myth_error err;
    if (rig_sync(r, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

/* ---- outputs of an op, row by row ---- */

/* One output [n_row, n]. Row i of the step has its rows i * per_row..; or, by head, its row h * stride + i. */
struct output {
    myth_view view;
    uint64_t n, per_row, n_head, stride;
    bool is_in_place; /* x, which is an input too, so a single row keeps its place */
    bool is_streams;  /* n_head streams, `stride` rows apart; for a single row one row apart */
};

static int list_outputs(struct output *o, const struct kernel_case *c, const union op_args *u)
{
    uint64_t hd = c->head_dim;
    int n = 0;
#define ROWS(v, width, per) \
    o[n++] = (struct output) { .view = (v), .n = (width), .per_row = (per), .n_head = 1 }
#define IN_PLACE(v, width) \
    o[n++] = (struct output) { .view = (v), .n = (width), .per_row = 1, .n_head = 1, .is_in_place = true }
#define HEADS(v, cap) \
    if ((v).buf)      \
        o[n++] = (struct output) { .view = (v), .n = hd, .per_row = 1, .n_head = c->n_head_kv, .stride = (cap) }
#define STREAMS(v, count)                                                                                \
    o[n++] = (struct output)                                                                             \
    {                                                                                                    \
        .view = (v), .n = c->dim, .per_row = 1, .n_head = (count), .stride = c->rows, .is_streams = true \
    }
    switch (c->op) {
    case MYTH_OP_embed_gather: ROWS(u->embed_gather.y, c->dim, 1); break;
    case MYTH_OP_rope_table: ROWS(u->rope_table.table, hd, 1); break;
    case MYTH_OP_rms_norm:
        ROWS(u->rms_norm.y, c->dim, 1);
        IN_PLACE(u->rms_norm.x, c->dim);
        break;
    case MYTH_OP_proj: ROWS(u->proj.y, c->n_out, 1); break;
    case MYTH_OP_add_low_rank: IN_PLACE(u->add_low_rank.y, c->n_out); break;
    case MYTH_OP_norm_qkv_rope_store:
        IN_PLACE(u->norm_qkv_rope_store.x, c->dim);
        ROWS(u->norm_qkv_rope_store.q, hd, c->n_head);
        HEADS(u->norm_qkv_rope_store.k_new, u->norm_qkv_rope_store.cap_rows);
        HEADS(u->norm_qkv_rope_store.v_new, u->norm_qkv_rope_store.cap_rows);
        break;
    case MYTH_OP_qkv_rope_store:
        ROWS(u->qkv_rope_store.q, hd, c->n_head);
        HEADS(u->qkv_rope_store.k_new, u->qkv_rope_store.cap_rows);
        HEADS(u->qkv_rope_store.v_new, u->qkv_rope_store.cap_rows);
        break;
    case MYTH_OP_attn_prefill:
    case MYTH_OP_attn_decode: ROWS(u->attn_prefill.o, hd, c->n_head); break;
    case MYTH_OP_attn_mass: IN_PLACE(u->attn_mass.mass, c->k); break;
    case MYTH_OP_norm_ffn_geglu:
        IN_PLACE(u->norm_ffn_geglu.x, c->dim);
        ROWS(u->norm_ffn_geglu.h, c->d_ff, 1);
        break;
    case MYTH_OP_geglu: ROWS(u->geglu.h, c->d_ff, 1); break;
    case MYTH_OP_gather_norm: ROWS(u->gather_norm.y, c->dim, 1); break;
    case MYTH_OP_head_topk:
        ROWS(u->head_topk.top_id, c->k, 1);
        ROWS(u->head_topk.top_logit, c->k, 1);
        ROWS(u->head_topk.lse, 1, 1);
        ROWS(u->head_topk.entropy, 1, 1);
        if (c->n_ask)
            ROWS(u->head_topk.ask_logit, c->n_ask, 1);
        break;
    case MYTH_OP_head_logits: ROWS(u->head_logits.y, c->n_vocab, 1); break;
    case MYTH_OP_capture_sum: ROWS(u->capture_sum.sum, 2 * c->dim, 1); break;
    case MYTH_OP_ple_merge: IN_PLACE(u->ple_merge.p, (uint64_t)c->n_layer * c->d_ff); break;
    case MYTH_OP_ple_gate:
        IN_PLACE(u->ple_gate.x, c->dim);
        ROWS(u->ple_gate.h, c->d_ff, 1);
        break;
    case MYTH_OP_moe_route:
        ROWS(u->moe_route.id, c->k, 1);
        ROWS(u->moe_route.weight, c->k, 1);
        break;
    case MYTH_OP_moe_geglu: ROWS(u->moe_geglu.h, c->d_ff, c->k); break;
    case MYTH_OP_moe_down: ROWS(u->moe_down.y, c->dim, 1); break;
    case MYTH_OP_altup_predict:
        STREAMS(u->altup_predict.x, c->n_stream);
        if (u->altup_predict.coef.buf)
            ROWS(u->altup_predict.xn, c->dim, 1);
        break;
    case MYTH_OP_altup_correct:
        STREAMS(u->altup_correct.x, c->n_stream);
        IN_PLACE(u->altup_correct.u, c->dim);
        ROWS(u->altup_correct.gate, c->dim, 1);
        break;
    case MYTH_OP_altup_match:
        STREAMS(u->altup_match.u, c->n_stream - 1);
        if (u->altup_match.y.buf)
            ROWS(u->altup_match.y, c->dim, 1);
        break;
    case MYTH_OP_laurel_merge: ROWS(u->laurel_merge.u, c->dim, 1); break;
    case MYTH_OP_geglu_sparse: ROWS(u->geglu_sparse.h, c->d_ff, 1); break;
    default: break;
    }
#undef ROWS
#undef IN_PLACE
#undef HEADS
#undef STREAMS
    return n;
}

/* Copies the bytes that row `row` has in all outputs to dst and returns their number. dst NULL only counts. */
static size_t take_row(unsigned char *dst, const struct output *o, int n, uint64_t row)
{
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bytes = o[i].per_row * myth_row_bytes(o[i].view.dtype, o[i].n);
        for (uint64_t h = 0; h < o[i].n_head; h++) {
            if (dst)
                memcpy(dst + at, (unsigned char *)view_host(o[i].view) + (h * o[i].stride + row) * bytes, bytes);
            at += bytes;
        }
    }
    return at;
}

static uint64_t count_rows(const struct kernel_case *c)
{
    return c->op == MYTH_OP_gather_norm ? c->n_out
         : c->op == MYTH_OP_head_logits ? 1
         : c->op == MYTH_OP_capture_sum ? c->k
                                        : case_rows(c);
}

/* Runs the case and returns the bytes of all rows; the caller frees them. */
static unsigned char *run_whole(struct rig *r, int case_idx, size_t *row_bytes)
{
    const struct kernel_case *c = &kernel_cases[case_idx];
    union op_args a;
    struct output o[8];
    make_case(r, c, (uint64_t)case_idx, &a);
    rig_push(r);
    issue_op(r->s, c->op, &a);
    sync_ok(r);
    int n = list_outputs(o, c, &a);
    *row_bytes = take_row(NULL, o, n, 0);
    unsigned char *all = malloc(*row_bytes * count_rows(c) + 1);
    assert_non_null(all);
    for (uint64_t i = 0; i < count_rows(c); i++)
        take_row(all + i * *row_bytes, o, n, i);
    rig_clear(r);
    return all;
}

static void fail_case(const char *level, int case_idx, const char *what, uint64_t n)
{
    char name[200];
    case_name(name, sizeof(name), &kernel_cases[case_idx]);
    fail_msg("%s, %s: bits differ with %s %llu", level, name, what, (unsigned long long)n);
}

/* ---- threads ---- */

static void test_threads(void **state)
{
    (void)state;
    static const int counts[] = {2, 5};
    for (int l = 0; l < RIG_TARGET_N; l++) {
        if (!is_present(rig_targets[l]))
            continue;
        struct rig one, many;
        assert_true(rig_open(&one, rig_targets[l], 1, CASE_TEST, NULL));
        int n_count =
            strchr(rig_targets[l], ':') ? 1 : 2; /* devices do not use our threads, so running twice is enough */
        for (int t = 0; t < n_count; t++) {
            assert_true(rig_open(&many, rig_targets[l], counts[t], CASE_TEST, NULL));
            for (int i = 0; i < KERNEL_CASE_N; i++) {
                size_t bytes;
                if (!(kernel_cases[i].use & CASE_TEST) || !check_is_kept((uint32_t)i, KERNEL_CASE_N))
                    continue;
                unsigned char *a = run_whole(&one, i, &bytes), *b = run_whole(&many, i, &bytes);
                if (memcmp(a, b, bytes * count_rows(&kernel_cases[i])) != 0)
                    fail_case(rig_targets[l], i, "threads", (uint64_t)counts[t]);
                free(a);
                free(b);
            }
            assert_int_equal(rig_close(&many), 0);
        }
        assert_int_equal(rig_close(&one), 0);
    }
}

/* ---- a single row ---- */

static void shift(myth_view *v, uint64_t row, uint64_t n)
{
    if (v->buf)
        v->off += row * myth_row_bytes(v->dtype, n);
}

/* Moves row `row` of the n streams of v together, as streams of one row each. */
static void pick_row(myth_view v, uint32_t n, const struct kernel_case *c, uint64_t row)
{
    float *x = view_host(v);
    for (uint32_t i = 0; i < n; i++)
        memmove(x + (size_t)i * c->dim, x + ((size_t)i * c->rows + row) * c->dim, c->dim * sizeof(float));
}

/* Streams are n_rows rows apart; moves those of one row together. The outputs are then one row apart. */
static bool only_row(union op_args *u, const struct kernel_case *c, uint64_t row)
{
    struct myth_altup_predict_args *p = &u->altup_predict;
    struct myth_altup_correct_args *q = &u->altup_correct;
    struct myth_altup_match_args *m = &u->altup_match;
    if (c->op == MYTH_OP_altup_predict) {
        pick_row(p->x, c->n_stream, c, row);
        shift(&p->pend, row, c->dim);
        p->n_rows = 1;
    } else if (c->op == MYTH_OP_altup_correct) {
        pick_row(q->x, c->n_stream, c, row);
        shift(&q->u, row, c->dim);
        shift(&q->pend, row, c->dim);
        q->n_rows = 1;
    } else {
        pick_row(m->u, m->n_u, c, row);
        shift(&m->x, row, c->dim);
        m->n_rows = 1;
    }
    return true;
}

/* Changes the arguments to row `row` alone: its inputs, and the first row of all outputs. False when the op's rows
 * cannot be separated. */
static bool narrow(union op_args *u, const struct kernel_case *c, uint64_t row)
{
    uint64_t hd = c->head_dim;
    switch (c->op) {
    case MYTH_OP_embed_gather:
        shift(&u->embed_gather.ids, row, 1);
        u->embed_gather.n_rows = 1;
        return true;
    case MYTH_OP_rope_table:
        shift(&u->rope_table.pos, row, 1);
        u->rope_table.n_rows = 1;
        return true;
    case MYTH_OP_rms_norm:
        shift(&u->rms_norm.x, row, c->dim);
        shift(&u->rms_norm.pend, row, c->dim);
        u->rms_norm.n_rows = 1;
        return true;
    case MYTH_OP_proj:
        shift(&u->proj.x, row, c->dim);
        u->proj.n_rows = 1;
        return true;
    case MYTH_OP_add_low_rank:
        shift(&u->add_low_rank.y, row, c->n_out);
        shift(&u->add_low_rank.t, row, c->dim);
        u->add_low_rank.n_rows = 1;
        return true;
    case MYTH_OP_norm_qkv_rope_store:
        shift(&u->norm_qkv_rope_store.x, row, c->dim);
        shift(&u->norm_qkv_rope_store.pend, row, c->dim);
        shift(&u->norm_qkv_rope_store.rope, row, hd);
        u->norm_qkv_rope_store.n_rows = 1;
        return true;
    case MYTH_OP_attn_prefill:
    case MYTH_OP_attn_decode:
        shift(&u->attn_prefill.q, row * c->n_head, hd);
        shift(&u->attn_prefill.row_run, row, 1);
        shift(&u->attn_prefill.pos, row, 1);
        u->attn_prefill.n_rows = 1;
        return true;
    case MYTH_OP_attn_mass:
        shift(&u->attn_mass.mass, row, c->k);
        shift(&u->attn_mass.attn.q, row * c->n_head, hd);
        shift(&u->attn_mass.attn.row_run, row, 1);
        shift(&u->attn_mass.attn.pos, row, 1);
        u->attn_mass.attn.n_rows = 1;
        return true;
    case MYTH_OP_norm_ffn_geglu:
        shift(&u->norm_ffn_geglu.x, row, c->dim);
        shift(&u->norm_ffn_geglu.pend, row, c->dim);
        u->norm_ffn_geglu.n_rows = 1;
        return true;
    case MYTH_OP_geglu:
        shift(&u->geglu.g, row, c->d_ff);
        shift(&u->geglu.up, row, c->d_ff);
        u->geglu.n_rows = 1;
        return true;
    case MYTH_OP_gather_norm:
        shift(&u->gather_norm.rows, row, 1);
        u->gather_norm.n_gather = 1;
        return true;
    case MYTH_OP_head_topk:
        shift(&u->head_topk.x, row, c->dim);
        shift(&u->head_topk.mask_idx, row, 1);
        shift(&u->head_topk.bias_off, row, 1);
        shift(&u->head_topk.ask_id, row, c->n_ask);
        u->head_topk.n_rows = 1;
        return true;
    case MYTH_OP_ple_merge:
        shift(&u->ple_merge.p, row, (uint64_t)c->n_layer * c->d_ff);
        shift(&u->ple_merge.ids, row, 1);
        if (!u->ple_merge.ids.buf)
            shift(&u->ple_merge.table, row, (uint64_t)c->n_layer * c->d_ff);
        u->ple_merge.n_rows = 1;
        return true;
    case MYTH_OP_ple_gate:
        shift(&u->ple_gate.x, row, c->dim);
        shift(&u->ple_gate.pend, row, c->dim);
        shift(&u->ple_gate.p, row, u->ple_gate.p_stride);
        u->ple_gate.n_rows = 1;
        return true;
    case MYTH_OP_moe_route:
        shift(&u->moe_route.logits, row, c->n_expert);
        u->moe_route.n_rows = 1;
        return true;
    case MYTH_OP_moe_geglu:
        shift(&u->moe_geglu.x, row, c->dim);
        u->moe_geglu.n_rows = 1;
        put_entries(c, entry_seed(c), (uint32_t)row, 1, view_host(u->moe_geglu.offset), view_host(u->moe_geglu.order));
        return true;
    case MYTH_OP_moe_down:
        shift(&u->moe_down.h, row * c->k, c->d_ff);
        shift(&u->moe_down.weight, row, c->k);
        u->moe_down.n_rows = 1;
        put_entries(c, entry_seed(c), (uint32_t)row, 1, view_host(u->moe_down.offset), view_host(u->moe_down.order));
        return true;
    case MYTH_OP_laurel_merge:
        shift(&u->laurel_merge.x, row, c->dim);
        shift(&u->laurel_merge.xn, row, c->dim);
        shift(&u->laurel_merge.attn, row, c->dim);
        shift(&u->laurel_merge.laurel, row, c->dim);
        u->laurel_merge.n_rows = 1;
        return true;
    case MYTH_OP_geglu_sparse:
        shift(&u->geglu_sparse.g, row, c->d_ff);
        shift(&u->geglu_sparse.up, row, c->d_ff);
        u->geglu_sparse.n_rows = 1;
        return true;
    case MYTH_OP_altup_predict:
    case MYTH_OP_altup_correct:
    case MYTH_OP_altup_match: return only_row(u, c, row);
    default: return false; /* the scratch of qkv_rope_store depends on n_rows; the other ops have one row or none */
    }
}

static void test_row_alone(void **state)
{
    (void)state;
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        if (!is_present(rig_targets[l]))
            continue;
        assert_true(rig_open(&r, rig_targets[l], 2, CASE_TEST, NULL));
        for (int i = 0; i < KERNEL_CASE_N; i++) {
            const struct kernel_case *c = &kernel_cases[i];
            size_t bytes;
            if (!(c->use & CASE_TEST) || count_rows(c) < 2 || !check_is_kept((uint32_t)i, KERNEL_CASE_N))
                continue;
            unsigned char *all = run_whole(&r, i, &bytes), *lone = malloc(bytes + 1);
            assert_non_null(lone);
            uint64_t step = check_is_full() ? 1 : count_rows(c) / 4 + 1;
            for (uint64_t row = 0; row < count_rows(c); row += step) {
                union op_args a;
                struct output o[8];
                make_case(&r, c, (uint64_t)i, &a);
                int n = list_outputs(o, c, &a);
                if (narrow(&a, c, row)) {
                    rig_push(&r);
                    issue_op(r.s, c->op, &a);
                    sync_ok(&r);
                    for (int k = 0; k < n; k++)
                        if (o[k].is_streams)
                            o[k].stride = 1;
                        else if (o[k].is_in_place)
                            shift(&o[k].view, row, o[k].n);
                    take_row(lone, o, n, 0);
                    if (memcmp(lone, all + row * bytes, bytes) != 0)
                        fail_case(rig_targets[l], i, "the row alone,", row);
                }
                rig_clear(&r);
            }
            free(all);
            free(lone);
        }
        assert_int_equal(rig_close(&r), 0);
    }
}

/* ---- chunks, pages, rings ---- */

enum { SEQ_TOK = 150, SEQ_HEAD = 4, SEQ_KV = 2, SEQ_HD = 32 };

typedef struct {
    myth_dtype k, v;
} cache_types;

/* The outputs of attention for a sequence of SEQ_TOK tokens, fed in chunks, each of which is attended and then merged.
 * Keys are stored or folded. Every step begins with a run of another sequence. */
static void run_sequence(struct rig *r, float *out, const cache_types *type, uint32_t chunk, uint32_t page_tok,
                         uint32_t window, bool is_ring, bool is_decode, bool folds)
{
    const struct kernel_case fold = {
        .form = folds ? FORM_FOLDED : FORM_PLAIN,
        .head_dim = SEQ_HD,
        .n_pair = 10,
        .n_table = 100,
        .base = 1e4,
        .factor = 1.0,
    };
    const uint32_t ring = is_ring ? window : page_tok, n_entry = is_ring ? 1 : SEQ_TOK / page_tok + 1,
                   cap_rows = SEQ_TOK + 1;
    struct myth_kv_place kv = {.page_tok = ring, .n_entry = n_entry, .is_ring = is_ring};
    const size_t k_bytes = (size_t)myth_row_bytes(type->k, SEQ_HD), v_bytes = (size_t)myth_row_bytes(type->v, SEQ_HD);
    kv.page_bytes = (uint64_t)SEQ_KV * ring * (v_bytes + (folds ? 0 : k_bytes));
    kv.pool = rig_view(r, MYTH_F32, 1, (2ull * n_entry * kv.page_bytes + 3) / 4);
    kv.table = rig_view(r, MYTH_I32, 2ull * n_entry, 2);
    for (uint32_t i = 0; i < 2 * n_entry; i++) {
        ((int32_t *)view_host(kv.table))[2 * i] =
            (int32_t)((i * 7 + 3) % (2 * n_entry)); /* where 7 divides the number, neighbours are swapped */
        ((int32_t *)view_host(kv.table))[2 * i + 1] = (int32_t)(i % n_entry * ring);
    }
    if (2 * n_entry % 7 == 0)
        for (uint32_t i = 0; i < 2 * n_entry; i++)
            ((int32_t *)view_host(kv.table))[2 * i] = (int32_t)(i ^ 1);
    r->seed = 42;
    myth_view q_all = rig_noise(r, MYTH_F32, (uint64_t)SEQ_TOK * SEQ_HEAD, SEQ_HD, 0.0f, 0.4f);
    myth_view k_new = rig_view(r, type->k, (uint64_t)SEQ_KV * cap_rows, SEQ_HD),
              v_new = rig_view(r, type->v, (uint64_t)SEQ_KV * cap_rows, SEQ_HD);
    myth_view q = rig_noise(r, MYTH_F32, (uint64_t)cap_rows * SEQ_HEAD, SEQ_HD, 0.0f, 0.4f),
              o = rig_view(r, MYTH_F32, (uint64_t)cap_rows * SEQ_HEAD, SEQ_HD);
    myth_view runs = rig_view(r, MYTH_I32, 2, MYTH_RUN_WIDTH), row_run = rig_view(r, MYTH_I32, 1, cap_rows),
              pos = rig_view(r, MYTH_I32, 1, cap_rows);
    const struct myth_key_fold key_fold = make_fold(r, &fold);
    const size_t row_floats = SEQ_HEAD * SEQ_HD;
    for (uint32_t at = 0; at < SEQ_TOK; at += chunk) {
        uint32_t n = SEQ_TOK - at < chunk ? SEQ_TOK - at : chunk;
        int32_t *rec = view_host(runs);
        memset(rec, 0, 2 * MYTH_RUN_WIDTH * 4);
        rec[MYTH_RUN_N_ROWS] = 1;
        rec[MYTH_RUN_FLAGS] = MYTH_RUN_EPHEMERAL;
        rec += MYTH_RUN_WIDTH;
        rec[MYTH_RUN_ROW0] = 1;
        rec[MYTH_RUN_N_ROWS] = (int32_t)n;
        rec[MYTH_RUN_POS0] = (int32_t)at;
        rec[MYTH_RUN_SLOT] = 1;
        for (uint32_t i = 0; i <= n; i++) {
            uint32_t run = i > 0, p = run ? at + i - 1 : 0;
            ((int32_t *)view_host(row_run))[i] = (int32_t)run;
            ((int32_t *)view_host(pos))[i] = (int32_t)p;
            for (uint32_t h = 0; h < SEQ_KV; h++) {
                kv_row((unsigned char *)view_host(k_new) + ((size_t)h * cap_rows + i) * k_bytes, type->k, run, false, h,
                       p, SEQ_HD);
                kv_row((unsigned char *)view_host(v_new) + ((size_t)h * cap_rows + i) * v_bytes, type->v, run, true, h,
                       p, SEQ_HD);
            }
        }
        memcpy((float *)view_host(q) + row_floats, (float *)view_host(q_all) + at * row_floats,
               n * row_floats * sizeof(float));
        struct myth_attn_args a = {
            .o = o,
            .q = q,
            .k_new = folds ? none() : k_new,
            .fold = key_fold,
            .v_new = v_new,
            .runs = runs,
            .row_run = row_run,
            .pos = pos,
            .kv = kv,
            .n_rows = n + 1,
            .cap_rows = cap_rows,
            .n_head = SEQ_HEAD,
            .n_head_kv = SEQ_KV,
            .head_dim = SEQ_HD,
            .window = window,
        };
        rig_push(r);
        if (is_decode)
            myth_attn_decode(r->s, &a);
        else
            myth_attn_prefill(r->s, &a);
        myth_kv_merge(r->s, &(struct myth_kv_merge_args){
                                .k_new = a.k_new,
                                .v_new = v_new,
                                .runs = runs,
                                .kv = kv,
                                .n_run = 2,
                                .cap_rows = cap_rows,
                                .n_head_kv = SEQ_KV,
                                .head_dim = SEQ_HD,
                            });
        sync_ok(r);
        memcpy(out + at * row_floats, (float *)view_host(o) + row_floats, n * row_floats * sizeof(float));
    }
    rig_clear(r);
}

static void test_chunks(void **state)
{
    (void)state;
    static const uint32_t chunks[] = {SEQ_TOK, 64, 33, 7, 1}, pages[] = {64, 1, 3, 16}, windows[] = {0, 33, 64, 0};
    /* Beside rows of q8_0, which have 34 bytes for each 32 values, rows of other types lie at odd addresses. */
    static const cache_types types[] = {{MYTH_F32, MYTH_F32},   {MYTH_F16, MYTH_F16},  {MYTH_BF16, MYTH_BF16},
                                        {MYTH_Q8_0, MYTH_Q8_0}, {MYTH_F16, MYTH_Q8_0}, {MYTH_Q8_0, MYTH_BF16}};
    enum { N_TYPE = sizeof(types) / sizeof(types[0]) };
    enum { N = SEQ_TOK * SEQ_HEAD * SEQ_HD };
    uint64_t random = check_seed();
    float *first = malloc(N * sizeof(float)), *next = malloc(N * sizeof(float));
    assert_true(first && next);
    for (int l = 0; l < RIG_TARGET_N; l++) {
        struct rig r;
        if (!is_present(rig_targets[l]))
            continue;
        assert_true(rig_open(&r, rig_targets[l], 2, CASE_TEST, NULL));
        for (size_t t = 0; t < N_TYPE; t++)
            for (size_t w = 0; w < 4; w++) /* the last one has no window and folded keys */
                for (int is_decode = 0; is_decode < 2; is_decode++)
                    for (int is_ring = 0; is_ring <= (windows[w] > 0); is_ring++)
                        for (size_t p = 0; p < (is_ring ? 1 : 4); p++)
                            for (size_t c = is_decode ? 4 : 0; c < 5; c++) {
                                bool is_first = !is_ring && p == 0 && c == (is_decode ? 4 : 0);
                                if (!is_first && !check_is_full() && check_below(&random, 60) >= check_sample(20))
                                    continue;
                                run_sequence(&r, is_first ? first : next, &types[t], chunks[c], pages[p], windows[w],
                                             is_ring, is_decode, w == 3);
                                if (!is_first && memcmp(first, next, N * sizeof(float)) != 0)
                                    fail_msg("%s %s %s window %u: chunk %u, page %u%s%s%s differ from one chunk in "
                                             "pages of 64",
                                             rig_targets[l], myth_dtype_get(types[t].k)->name,
                                             myth_dtype_get(types[t].v)->name, windows[w], chunks[c], pages[p],
                                             is_ring ? ", ring" : "", is_decode ? ", decode" : "",
                                             w == 3 ? ", keys from values" : "");
                            }
        assert_int_equal(rig_close(&r), 0);
    }
    free(first);
    free(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_row_alone),
                                       cmocka_unit_test(test_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
